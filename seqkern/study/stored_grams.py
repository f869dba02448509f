"""Which Gram matrices over all samples a study keeps: one for kernels that differ in transforms and repair only."""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

from seqkern.core.archive import canonical_json
from seqkern.core.errors import ParameterError
from seqkern.core.types import PathLike
from seqkern.datasets import Dataset
from seqkern.kernels.kernel import Kernel
from seqkern.study.kernel_entries import AnyKernel, KernelEntry, local_files


@dataclass(frozen=True, eq=False)
class GramHome:
    """A stored Gram matrix.

    Attributes
    ----------
    name : str
        Under which it is kept.
    spec : mapping
        That of its kernel, as it is configured where it is.
    kernel : Kernel
        The one that the matrix is of.

    Examples
    --------
    >>> entry = KernelEntry.parse("spectrum:k=3", "three")
    >>> gram_homes({"three": entry})["three"][0].name
    'three'
    """

    name: str
    spec: Mapping[str, Any]
    kernel: Kernel

    def files(self) -> list[str]:
        """Return the local files that the kernel names."""
        return local_files([self.kernel])


def gram_homes(kernels: Mapping[str, AnyKernel]) -> dict[str, list[GramHome]]:
    """Return, for each kernel of a study that has one, its stored Gram matrix.

    Parameters
    ----------
    kernels : mapping of str to KernelEntry or KernelChoice
        Of a study.

    Returns
    -------
    dict of str to list of GramHome
        For the name of an entry, each matrix that it needs (see `StoredForm.kernels`). Several entries may have one
        matrix; it is kept under the name of the first that is this kernel itself, without transforms if there is one;
        or else of the first that needs no other matrix, or else of the first that needs it, with ``.part`` and a
        number. There is none for kernels that are not known here.

    Examples
    --------
    >>> plain, map_of_it = KernelEntry.parse("spectrum:k=3"), KernelEntry.parse("pairwise:base=(spectrum:k=3)")
    >>> homes = gram_homes({"map": map_of_it, "plain": plain})
    >>> [home.name for home in homes["map"]]
    ['plain']
    """
    found = []
    entries = [(name, entry) for name, entry in kernels.items() if isinstance(entry, KernelEntry) and entry.known]
    for name, entry in entries:
        form = entry.kernel.stored_form()
        if form is None:
            continue
        needed: list[Kernel] = form.kernels
        for number, kernel in enumerate(needed, start=1):
            own = name if len(needed) == 1 else _free(f"{name}.part{number}", kernels)
            home = GramHome(own, kernel.spec() if form.learns else entry.spec, kernel)
            found.append(((len(needed) > 1, form.learns, bool(entry.transform_specs)), name, number, home))
    kept: dict[tuple[str, int], GramHome] = {}
    homes: dict[str, GramHome] = {}
    for _, name, number, home in sorted(found, key=lambda item: item[0]):
        kept[name, number] = homes.setdefault(canonical_json(home.kernel.spec()), home)
    return {name: [kept[key] for key in sorted(kept) if key[0] == name] for name in dict.fromkeys(n for n, _ in kept)}


def check_stored(dataset: Dataset, file: PathLike) -> None:
    """Raise ParameterError where the samples of a data set are residues: it has no Gram matrix of all of them.

    Parameters
    ----------
    dataset : Dataset
        Whose samples are sequences, tables or residues.
    file : path-like
        Named in the message.
    """
    if dataset.residues is not None:
        count = len(dataset.residues)
        raise ParameterError(
            f"its {count} units are residues, and data sets of residues have no Gram matrix of all residues",
            file=file,
            remedy="leave it out: seqkern evaluate computes that of each training part (train_size of the folds keeps "
            "it small), and for solvers of features, such as primal_svc, none",
        )


def _free(name: str, taken: Container[str]) -> str:
    """Return a name that is not taken: itself, or with lines behind it."""
    while name in taken:
        name += "_"
    return name
