"""The methods of a study: which kernel, with which transforms, runs with which solver on a data set."""

from seqkern.core.errors import ConfigError, SeqkernError
from seqkern.datasets import entry_kind, is_residue_entry
from seqkern.gram.transforms import repair_transforms
from seqkern.kernels import build_kernel
from seqkern.layers import Layers
from seqkern.solvers import common_input, expand_grid


def split_transforms(spec, more=(), repair=None):
    """Return a config's kernel entry as (kernel spec, list of Gram transforms, the repair last).

    The transforms `more` are added to the entry's, and `repair`, if given, takes the place of the entry's. What is
    repaired is the matrix that the solver is to get: before it is centred and normalised its negative eigenvalues may
    mean nothing (−D²/2 of points in space has some), and neither makes any new.
    """
    spec = {key: value for key, value in spec.items() if key != "solvers"}
    transforms = spec.pop("transforms", [])
    if not isinstance(transforms, list):
        raise ConfigError(f"transforms={transforms!r} is not possible", remedy="give a list, such as [centre]")
    own = spec.pop("repair", None)
    return spec, [*transforms, *more, *repair_transforms(own if repair is None else repair)]


def split_layers(spec):
    """Return a config's solver entry as (solver spec, list of the layers that follow it)."""
    if not isinstance(spec, dict):
        return spec, []
    layers = spec.get("layers") or []
    return {key: value for key, value in spec.items() if key != "layers"}, layers


def needs_residues(spec):
    """Tell whether the layers of a solver entry look at neighbours; True where a layer is not known here."""
    try:
        return Layers(split_layers(spec)[1]).needs_chains()
    except SeqkernError:
        return True


def kernel_candidates(config, name):
    """Return the names of the kernels that a config's kernel entry chooses among; of a plain kernel, its own."""
    return config["kernels"][name].get("choose", [name])


def split_choice(spec):
    """Return {name: kernel entry} of a kernel entry, or of one that lists those to choose among, each with its name.

    Parameters
    ----------
    spec : dict
        ``{"kernel": "spectrum", "k": 3}`` or ``{"choose": [{"name": "three", "kernel": "spectrum", "k": 3}, …]}``.

    Raises
    ------
    ConfigError
        If a kernel to choose has no name of its own.
    """
    if "choose" not in spec:
        return {str(spec.get("kernel")): spec}
    found = {}
    for item in spec["choose"] if isinstance(spec["choose"], list) else [None]:
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(name, str) or name in found:
            raise ConfigError(f"choose={spec['choose']!r} is not possible", remedy="list kernels, each with its name")
        found[name] = {key: value for key, value in item.items() if key != "name"}
    return found


def dataset_methods(config, name, kind=None):
    """Return what runs on a data set of a study.

    Parameters
    ----------
    config : dict
        As `check_config` returns it.
    name : str
        The data set.
    kind : str, optional
        Its kind of data; by default what its entry says. With ``""``, not known, every kernel runs.

    Returns
    -------
    list of (kernel name, solver name)
        The kernels and solvers that its entry lists; by default all kernels that take its kind of data, all solvers. A
        kernel that names its own solvers runs with these only, one that chooses among kernels with those that all of
        them allow. A solver that takes no Gram matrix runs on kernels that give what it takes, without transforms; one
        with layers that look at neighbours on data sets of residues.

    Raises
    ------
    ConfigError, ParameterError
        If the entry does not say which kind of data it gives.
    """
    entry = config["datasets"][name]
    kernels = entry.get("kernels")
    if not kernels:
        kind = entry_kind(entry) if kind is None else kind
        kernels = [
            kernel
            for kernel in config["kernels"]
            if all(_takes(config["kernels"][part], kind) for part in kernel_candidates(config, kernel))
        ]
    solvers = entry.get("solvers") or config["solvers"]
    if not is_residue_entry(entry):
        solvers = [solver for solver in solvers if not needs_residues(config["solvers"][solver])]
    wanted = {solver: _input(config["solvers"][solver]) for solver in solvers}
    able = {(kernel, what): _gives(config, kernel, what) for kernel in kernels for what in set(wanted.values())}
    return [
        (kernel, solver)
        for kernel in kernels
        for solver in solvers
        if _allows(config, kernel, solver) and able[kernel, wanted[solver]]
    ]


def _allows(config, kernel, solver):
    """Tell whether a kernel, and each that it chooses among, names this solver or none."""
    names = {kernel, *kernel_candidates(config, kernel)}
    return all(solver in config["kernels"][name].get("solvers", [solver]) for name in names)


def needs_gram(spec):
    """Tell whether the solver of a config's entry takes a Gram matrix; True for one that is not known here."""
    return _input(spec) == "gram"


def _input(spec):
    """Return what the solver of a config's entry takes of a kernel; a Gram matrix where it is not known here."""
    try:
        return common_input(expand_grid(split_layers(spec)[0], ends=True))
    except SeqkernError:
        return "gram"


def _gives(config, kernel, wanted):
    """Tell whether all kernels behind a name give what a solver takes."""
    if wanted == "gram":
        return True
    for part in kernel_candidates(config, kernel):
        spec, transforms = split_transforms(config["kernels"][part])
        try:
            built = build_kernel(spec)
            built.check_features() if wanted == "features" else built.check_implicit()
        except SeqkernError:
            return False
        if transforms:
            return False
    return True


def _takes(spec, kind):
    """Tell whether a kernel takes a kind of data; True where the kind or the kernel is not known here."""
    try:
        # dissimilarities are taken by the kernels that accept similarities
        return not kind or kind.endswith(build_kernel(split_transforms(spec)[0]).accepts)
    except SeqkernError:
        return True
