"""Which Gram matrices over all units a study keeps: one for kernels that differ in transforms and repair only."""

from .archive import canonical_json
from .kernels import build_kernel
from .methods import split_transforms


def gram_homes(config):
    """Return, for each plain kernel entry of a study that has one, its stored Gram matrix.

    Parameters
    ----------
    config : dict
        As `seqkern.config.check_config` returns it.

    Returns
    -------
    dict of str to (str, dict)
        For the name of an entry the name under which its matrix is kept, and the spec of the kernel that it is of (see
        `Kernel.stored_form`). Several entries may have one matrix; it is kept under the name of the first that is this
        kernel itself, without transforms if there is one; or else of the first.
    """
    found = []
    for name, entry in config["kernels"].items():
        if "choose" not in entry:
            spec, transforms = split_transforms(entry)
            form = build_kernel(spec).stored_form()
            if form is not None:
                order = bool(form[1]), bool(transforms)
                found.append((order, name, form[0].spec() if form[1] else spec, form[0]))
    kept, homes = {}, {}
    for _, name, spec, kernel in sorted(found, key=lambda item: item[0]):
        kept[name] = homes.setdefault(canonical_json(kernel.spec()), (name, spec))
    return kept
