"""The stored Gram matrices of a study, shared by kernels that differ only in transforms and repair."""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

from seqkern.core.archive import canonical_json
from seqkern.core.errors import ParameterError
from seqkern.core.types import PathLike
from seqkern.kernels.kernel import Kernel
from seqkern.study.dataset import Dataset
from seqkern.study.kernel_entries import AnyKernel, KernelEntry, local_files


@dataclass(frozen=True, eq=False)
class GramHome:
    """A stored Gram matrix.

    Attributes
    ----------
    name : str
        Name of its file.
    spec : mapping
        Spec of its kernel, as configured if possible.
    kernel : Kernel
        The kernel of the matrix.

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
        """Return the local files that the kernel uses."""
        return local_files([self.kernel])


def gram_homes(kernels: Mapping[str, AnyKernel]) -> dict[str, list[GramHome]]:
    """Return for each entry name the stored Gram matrices that it needs (see `StoredForm.kernels`).

    Entries may share a matrix. Its name is the first entry's that is this kernel itself, preferably without
    transforms; else of the first entry that needs no other matrix, else of the first that needs it, with ``.part`` and
    a number. Unknown kernels have none.

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
    """Raise ParameterError if the samples of a data set are residues.

    Residues have no common Gram matrix; `file` is named in the message.
    """
    if dataset.residues is not None:
        count = len(dataset.residues)
        raise ParameterError(
            f"its {count} samples are residues, for which no Gram matrix over all samples is computed",
            file=file,
            remedy="run seqkern evaluate, which computes one for each training set (limit it by folds: "
            "{method: grouped, train_size: …}), or none for solvers such as primal_svc",
        )


def _free(name: str, taken: Container[str]) -> str:
    """Return an unused name: the given name, with underscores appended if necessary."""
    while name in taken:
        name += "_"
    return name
