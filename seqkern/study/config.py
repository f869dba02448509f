"""A study's configuration: read, checked against the schema, completed with its defaults."""

import contextlib
from pathlib import Path

from seqkern.core.errors import ConfigError, SeqkernError, unknown_name
from seqkern.core.memory import parse_bytes
from seqkern.datasets import (
    check_entry_profiles,
    check_entry_residues,
    check_files,
    check_options,
    entry_kind,
    entry_window,
    is_residue_entry,
)
from seqkern.evaluation.held_out import check_afterwards
from seqkern.folds.methods import options_of
from seqkern.gram.transforms import build_transform
from seqkern.kernels import build_kernel, check_kind
from seqkern.layers import build_layers
from seqkern.sequences.tracks import PROFILE_TRACKS
from seqkern.solvers import build_solver, common_input, expand_grid
from seqkern.solvers.explainable import check_solver
from seqkern.study.config_schema import check_schema, hint, read_schema, with_defaults
from seqkern.study.methods import dataset_methods, kernel_candidates, needs_residues, split_layers, split_transforms


def load_config(path):
    """Read and check a study's YAML file.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    dict
        The configuration with every default filled in.

    Raises
    ------
    ConfigError
        If the file is missing, no YAML, or does not fit the schema; the message names the key.
    """
    import yaml

    try:
        config = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", file=path, remedy="check the path") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"is not YAML: {error}", file=path, remedy="mend the line named") from error
    return check_config(config, file=path)


def check_config(config, file=None):
    """Check a configuration and return it with every default filled in.

    Parameters
    ----------
    config : dict
    file : path-like, optional
        Named in messages.

    Raises
    ------
    ConfigError
        For a key or value that does not fit, with the nearest known key.
    """
    schema = read_schema()
    if not isinstance(config, dict):
        raise ConfigError("holds no keys", file=file, remedy="see config/config.yaml for an example")
    check_schema(config, schema, file)
    config = with_defaults(config, schema)
    with _place("memory_limit", file):
        parse_bytes(config["memory_limit"])
    with _place("inner", file):
        check_afterwards(config["inner"]["calibration"], config["inner"]["threshold"])
    _check_draws(config["inner"], schema["properties"]["inner"]["properties"]["draws"]["default"], file)
    kernels, solvers = _built_kernels(config, file), _built_solvers(config, file)
    for name, entry in config["datasets"].items():
        _check_entry(name, entry, file)
        _check_choices(name, entry, config, kernels, file)
        _check_importance(name, entry.get("importance"), config, kernels, solvers, file)
    return config


def check_study_files(config, file=None):
    """Raise ConfigError unless all local files that the data sets of a study name are there.

    Snakemake itself would not tell: where what was made of another file is there already, it takes that.

    Parameters
    ----------
    config : dict
        As `check_config` returns it.
    file : path-like, optional
        Named in messages.
    """
    for name, entry in config["datasets"].items():
        with _place(f"datasets.{name}", file, joint="."):
            check_files(entry)


def check_entry(name, entry, file=None):
    """Check a data set's entry by itself, as `check_config` checks those of a study.

    Parameters
    ----------
    name : str
    entry : dict
    file : path-like, optional
        Named in messages.

    Raises
    ------
    ConfigError
        For a name, key or value that does not fit, with the nearest known key.
    """
    schema = read_schema()
    part = {"properties": {"datasets": schema["properties"]["datasets"]}, "$defs": schema["$defs"]}
    check_schema({"datasets": {name: entry}}, part, file)
    _check_entry(name, entry, file)


@contextlib.contextmanager
def _place(place, file, joint=": "):
    """Make any error that a user can mend a ConfigError about one place of the configuration."""
    try:
        yield
    except SeqkernError as error:
        raise ConfigError(f"{place}{joint}{error.problem}", file=file, remedy=error.remedy) from error


def _check_draws(inner, default, file):
    """Raise ConfigError for a number of draws where nothing is drawn; the default stands in every completed study."""
    if inner["search"] != "random" and inner["draws"] != default:
        raise ConfigError(
            f"inner.draws: {inner['draws']} is without effect, since every candidate of a grid is tried",
            file=file,
            remedy="add search: random, or leave draws out",
        )


def _check_entry(name, entry, file):
    """Raise ConfigError unless a data set has one source, and known sources of labels and fold methods."""
    with _place(f"datasets.{name}", file):
        entry_kind(entry)
        entry_window(entry)
        if "track" in entry and not is_residue_entry(entry):
            remedy = "add residues: {window: 15}, or leave out track"
            raise ConfigError("track names the chain whose residues the report draws", remedy=remedy)
    with _place(f"datasets.{name}.profiles", file):
        check_entry_profiles(entry)
    with _place(f"datasets.{name}.residues", file):
        check_entry_residues(entry)
    with _place(f"datasets.{name}.labels", file):
        check_options(entry.get("labels", {}))
    with _place(f"datasets.{name}.folds", file):
        folds = dict(entry.get("folds", {"method": "stratified"}))
        method = folds.pop("method")
        known = options_of(method)
        for option in folds:
            if option not in known:
                raise unknown_name(f"option of fold method {method!r}", option, known)


def _built_kernels(config, file):
    """Return the kernels behind each name, built once: a wrong name or value is found before any work."""
    plain = {name: spec for name, spec in config["kernels"].items() if "choose" not in spec}
    built = {}
    for name, spec in plain.items():
        with _place(f"kernels.{name}", file):
            kernel_spec, transforms = split_transforms(spec)
            built[name] = build_kernel(kernel_spec)
            built[name].check_files()
            for transform in transforms:
                build_transform(transform)
    for name, spec in config["kernels"].items():
        for part, known in (("choose", plain), ("solvers", config["solvers"])):
            for choice in spec.get(part, ()):
                if choice not in known:
                    raise _not_defined(f"kernels.{name}.{part}", choice, known, file)
    return {name: [built[choice] for choice in kernel_candidates(config, name)] for name in config["kernels"]}


def _built_solvers(config, file):
    """Return the solvers of the grid behind each name, built once, as the kernels."""
    built = {}
    for name, spec in config["solvers"].items():
        with _place(f"solvers.{name}", file):
            grid = expand_grid(split_layers(spec)[0], ends=config["inner"]["search"] == "random")
            common_input(grid)
            built[name] = [build_solver(one) for one in grid]
        with _place(f"solvers.{name}.layers", file):
            build_layers(split_layers(spec)[1])
    return built


def _not_defined(place, name, known, file):
    """Return a ConfigError for a name that the configuration does not define."""
    remedy = f"{hint(name, known)}defined: {', '.join(known)}"
    return ConfigError(f"{place}: {name!r} is not defined", file=file, remedy=remedy)


def _check_choices(name, entry, config, kernels, file):
    """Raise ConfigError unless a data set names known kernels and solvers, and a kernel takes its kind of data."""
    for part in ("kernels", "solvers"):
        for choice in entry.get(part, ()):
            if choice not in config[part]:
                raise _not_defined(f"datasets.{name}.{part}", choice, config[part], file)
    kind = entry_kind(entry)
    for choice in entry.get("kernels", ()):
        with _place(f"datasets.{name}.kernels.{choice}", file):
            for kernel in kernels[choice]:
                check_kind(kernel, kind)
    if not any(all(kind.endswith(kernel.accepts) for kernel in behind) for behind in kernels.values()):
        raise ConfigError(
            f"datasets.{name}: none of the kernels takes {kind}",
            file=file,
            remedy="add one; seqkern kernels lists what each takes",
        )
    _check_methods(name, entry, config, kernels, kind, file)


def _check_profiles(name, entry, config, names, kernels, file):
    """Raise ConfigError if a kernel that runs on a data set needs profiles, and the data set has none.

    Of residues the data set itself must have them: a kernel that searches is given windows, too short to find any.
    """
    for kernel in names:
        searching = any(getattr(behind, "search", None) == "training" for behind in kernels[kernel])
        if searching and is_residue_entry(entry):
            problem = f"kernel {kernel!r} would search with windows around residues, not with chains"
            remedy = "leave out search: training, and add profiles: to the data set"
        elif "profiles" not in entry and any(set(PROFILE_TRACKS) & set(behind.tracks) for behind in kernels[kernel]):
            problem = f"kernel {kernel!r} needs profiles"
            remedy = "add profiles: to the data set, search: training to the kernel, or list the data set's kernels"
            if is_residue_entry(entry):
                remedy = "add profiles: to the data set, or list the data set's kernels"
        else:
            continue
        raise ConfigError(f"datasets.{name}: {problem}", file=file, remedy=remedy)


def _check_methods(name, entry, config, kernels, kind, file):
    """Raise ConfigError if a kernel or solver that a data set names would never run, or nothing would."""
    _check_layers(name, entry, config, file)
    methods = dataset_methods(config, name, kind)
    _check_profiles(name, entry, config, dict.fromkeys(kernel for kernel, _ in methods), kernels, file)
    idle = [kernel for kernel in entry.get("kernels", ()) if kernel not in {kernel for kernel, _ in methods}]
    idle += [solver for solver in entry.get("solvers", ()) if solver not in {solver for _, solver in methods}]
    if idle or not methods:
        raise ConfigError(
            f"datasets.{name}: {idle[0] if idle else 'any kernel'} would never run: a kernel runs with the solvers "
            "that it names, a solver without a Gram matrix on kernels that give what it takes, without transforms",
            file=file,
            remedy="add a solver such as csvc, or a kernel such as spectrum",
        )


def _check_layers(name, entry, config, file):
    """Raise ConfigError if a data set without residues names a solver with layers."""
    if is_residue_entry(entry):
        return
    for solver in entry.get("solvers", ()):
        if needs_residues(config["solvers"][solver]):
            raise ConfigError(
                f"datasets.{name}.solvers: {solver!r} has layers that look at neighbours, which only residues have",
                file=file,
                remedy="name a solver without layers, or add residues: {window: 15} to the data set",
            )


def _check_importance(name, wanted, config, kernels, solvers, file):
    """Raise ConfigError unless what is to be trained for the importance of positions is one known method."""
    if wanted is None:
        return
    place, kind = f"datasets.{name}.importance", entry_kind(config["datasets"][name])
    for part in ("kernel", "solver"):
        if wanted[part] not in config[f"{part}s"]:
            raise _not_defined(f"{place}.{part}", wanted[part], config[f"{part}s"], file)
    if len(kernels[wanted["kernel"]]) > 1:
        remedy = f"name one of {', '.join(kernel_candidates(config, wanted['kernel']))}"
        raise ConfigError(f"{place}.kernel: {wanted['kernel']!r} is a choice of kernels", file=file, remedy=remedy)
    if kind != "sequences" or "tasks" in config["datasets"][name]:
        raise ConfigError(f"{place}: only sequences with a single task have it", file=file, remedy="leave it out")
    section = wanted.get("section", [0, 0])
    if section[0] > section[1]:
        raise ConfigError(f"{place}.section: {section} is empty", file=file, remedy="give first and last position")
    with _place(f"{place}.kernel", file):
        check_kind(kernels[wanted["kernel"]][0], kind)
    with _place(f"{place}.solver", file):
        for solver in solvers[wanted["solver"]]:
            check_solver(solver)
            if solver.input == "implicit":
                kernels[wanted["kernel"]][0].check_implicit()
