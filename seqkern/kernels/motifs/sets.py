"""Sets of motifs: from a list, from a file, and as state of a kernel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self, TypeAlias

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.core.public_files import local_path
from seqkern.core.text_files import open_lines
from seqkern.core.types import Arrays, Header
from seqkern.kernels.motifs.matrices import Matrix
from seqkern.kernels.motifs.matrix_files import matrix_reader, read_matrices
from seqkern.kernels.motifs.pattern_files import read_patterns
from seqkern.kernels.motifs.patterns import Pattern, parse_pattern
from seqkern.sequences.record_ids import unique_ids

LONGEST_NAME = 80

Motif: TypeAlias = Pattern | Matrix


@dataclass(frozen=True)
class MotifSet:
    """Motifs, all patterns or all weight matrices, with distinct names.

    Attributes
    ----------
    motifs : list of Pattern or Matrix
        At least one.
    counts : dict of str to int
        Number of skipped entries of a file.

    Examples
    --------
    >>> motifs = MotifSet.from_list(["TATAWAW", "N-{P}-[ST]"])
    >>> motifs.names, motifs.of_patterns
    (['TATAWAW', 'N-{P}-[ST]'], True)
    """

    motifs: Sequence[Motif]
    counts: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.motifs)

    @property
    def names(self) -> list[str]:
        """Names of the motifs."""
        return [motif.name for motif in self.motifs]

    @property
    def of_patterns(self) -> bool:
        """Whether they are patterns."""
        return isinstance(self.motifs[0], Pattern)

    @property
    def patterns(self) -> list[Pattern]:
        """The motifs that are patterns: all or none."""
        return [motif for motif in self.motifs if isinstance(motif, Pattern)]

    @property
    def matrices(self) -> list[Matrix]:
        """The motifs that are weight matrices: all or none."""
        return [motif for motif in self.motifs if isinstance(motif, Matrix)]

    @classmethod
    def named(cls, motifs: Sequence[Motif], counts: dict[str, int] | None = None) -> Self:
        """Return the set with displayable names: printable, not too long, numbered if repeated.

        Parameters
        ----------
        motifs : list of Pattern or Matrix
            With names of any kind.
        counts : dict of str to int, optional
            Number of skipped entries of a file.

        Returns
        -------
        MotifSet
        """
        names = ["".join(c if c.isprintable() else " " for c in motif.name)[:LONGEST_NAME] for motif in motifs]
        names, _ = unique_ids(names, "suffix")
        return cls([replace(motif, name=name) for motif, name in zip(motifs, names, strict=True)], counts or {})

    @classmethod
    def from_list(cls, texts: Iterable[str]) -> Self:
        """Return the set of patterns in a list, named by their texts.

        Parameters
        ----------
        texts : list of str
            As `parse_pattern` reads them.

        Returns
        -------
        MotifSet

        Raises
        ------
        ParameterError
            If one cannot be read.
        """
        return cls.named([parse_pattern(text) for text in texts])

    @classmethod
    def from_file(cls, path: str) -> Self:
        """Read a file; the format is detected from its content.

        Parameters
        ----------
        path : str
            Or ``public:NAME``, for a file in the project's registry.

        Returns
        -------
        MotifSet

        Raises
        ------
        FileError, ParameterError
            If the file cannot be obtained or read, or contains no motif.
        """
        local = local_path(path)
        with open_lines(local) as (read, _):
            lines = [line.rstrip("\n") for line in read]
        reader = matrix_reader(lines)
        motifs: Sequence[Motif]
        counts: dict[str, int]
        try:
            motifs, counts = read_patterns(lines) if reader is None else (read_matrices(lines, reader), {})
        except ParameterError as error:
            raise ParameterError(error.problem, file=local, remedy=error.remedy) from error
        if not motifs:
            raise ParameterError("contains no motif", file=local, remedy="check the format of the file")
        return cls.named(motifs, counts)

    def state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays), from which `from_state` makes the set again."""
        header: Header = {"names": self.names, "counts": self.counts}
        if self.of_patterns:
            return header | {"patterns": [pattern.text for pattern in self.patterns]}, {}
        matrices = self.matrices
        arrays: Arrays = {
            "columns": np.array([len(matrix.counts) for matrix in matrices], dtype=np.int64),
            "letter_counts": np.concatenate([matrix.counts.ravel() for matrix in matrices]),
            "background": np.concatenate([matrix.background for matrix in matrices]),
        }
        return header | {"letters": [matrix.letters for matrix in matrices]}, arrays

    @classmethod
    def from_state(cls, header: Header, arrays: Arrays) -> Self:
        """Return the set whose `state` this was.

        Parameters
        ----------
        header : dict
            Its JSON part.
        arrays : dict of str to ndarray
            Its arrays.

        Returns
        -------
        MotifSet
        """
        names = header["names"]
        if "patterns" in header:
            patterns = [parse_pattern(text, name) for text, name in zip(header["patterns"], names, strict=True)]
            return cls(patterns, header["counts"])
        matrices: list[Matrix] = []
        place = shares = 0
        for name, letters, columns in zip(names, header["letters"], arrays["columns"].tolist(), strict=True):
            counts = arrays["letter_counts"][place : place + columns * len(letters)].reshape(columns, len(letters))
            matrices.append(Matrix(name, counts, letters, arrays["background"][shares : shares + len(letters)]))
            place, shares = place + columns * len(letters), shares + len(letters)
        return cls(matrices, header["counts"])
