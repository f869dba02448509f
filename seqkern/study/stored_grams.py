"""Which Gram matrices over all units a study keeps: one for kernels that differ in transforms and repair only."""

from seqkern.core.archive import canonical_json
from seqkern.core.errors import ParameterError
from seqkern.kernels import build_kernel
from seqkern.study.methods import split_transforms


def gram_homes(config):
    """Return, for each plain kernel entry of a study that has one, its stored Gram matrix.

    Parameters
    ----------
    config : dict
        As `seqkern.study.config.check_config` returns it.

    Returns
    -------
    dict of str to list of (str, dict)
        For the name of an entry, each matrix that it needs (see `StoredForm.kernels`): the name under which it is kept,
        and the spec of the kernel that it is of. Several entries may have one matrix; it is kept under the name of the
        first that is this kernel itself, without transforms if there is one; or else of the first that needs no other
        matrix, or else of the first that needs it, with ``.part`` and a number.
    """
    found = []
    for name, entry in config["kernels"].items():
        if "choose" not in entry:
            spec, transforms = split_transforms(entry)
            form = build_kernel(spec).stored_form()
            kernels = [] if form is None else form.kernels
            for number, kernel in enumerate(kernels, start=1):
                own = name if len(kernels) == 1 else _free(f"{name}.part{number}", config["kernels"])
                order = len(kernels) > 1, form.learns, bool(transforms)
                found.append((order, name, number, own, kernel.spec() if form.learns else spec, kernel))
    kept, homes = {}, {}
    for _, name, number, own, spec, kernel in sorted(found, key=lambda item: item[0]):
        kept[name, number] = homes.setdefault(canonical_json(kernel.spec()), (own, spec))
    return {name: [kept[key] for key in sorted(kept) if key[0] == name] for name in dict.fromkeys(n for n, _ in kept)}


def check_stored(dataset, file):
    """Raise ParameterError where the units of a data set are residues: it has no Gram matrix of all its units.

    Parameters
    ----------
    dataset : Dataset
    file : path-like
        Named in the message.
    """
    if dataset.residues is not None:
        raise ParameterError(
            f"its {len(dataset.X)} units are residues, and data sets of residues have no Gram matrix of all residues",
            file=file,
            remedy="leave it out: seqkern evaluate computes that of each training part (train_size of the folds keeps "
            "it small), and for solvers of features, such as primal_svc, none",
        )


def _free(name, taken):
    """Return a name that is not taken: itself, or with lines behind it."""
    while name in taken:
        name += "_"
    return name
