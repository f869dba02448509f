"""A set of motifs: from a list, from a file, and as state of a kernel."""

from dataclasses import dataclass, field, replace

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.core.public_files import local_path
from seqkern.core.text_files import open_lines
from seqkern.kernels.motifs.matrices import Matrix
from seqkern.kernels.motifs.matrix_files import matrix_reader, read_matrices
from seqkern.kernels.motifs.pattern_files import read_patterns
from seqkern.kernels.motifs.patterns import Pattern, parse_pattern
from seqkern.sequences.record_ids import unique_ids

LONGEST_NAME = 80


@dataclass(frozen=True)
class MotifSet:
    """Motifs, all Patterns or all Matrices, with names that differ.

    Attributes
    ----------
    motifs : list of Pattern or Matrix
    counts : dict of str to int
        What was left out of a file.
    """

    motifs: list
    counts: dict = field(default_factory=dict)

    def __len__(self):
        return len(self.motifs)

    @property
    def names(self):
        """List of str."""
        return [motif.name for motif in self.motifs]

    @property
    def of_patterns(self):
        """Whether they are Patterns."""
        return isinstance(self.motifs[0], Pattern)

    @classmethod
    def named(cls, motifs, counts=None):
        """Return the set with names that can be shown: printable, not too long, repeated ones numbered."""
        names = ["".join(c if c.isprintable() else " " for c in motif.name)[:LONGEST_NAME] for motif in motifs]
        names, _ = unique_ids(names, "suffix")
        return cls([replace(motif, name=name) for motif, name in zip(motifs, names, strict=True)], counts or {})

    @classmethod
    def from_list(cls, texts):
        """Return the set of patterns in a list, named by their texts; ParameterError for one that cannot be read."""
        return cls.named([parse_pattern(text) for text in texts])

    @classmethod
    def from_file(cls, path):
        """Read a file of any of the formats; which one, its content tells.

        Parameters
        ----------
        path : str
            Or ``public:NAME``, for a file of the project's registry.

        Raises
        ------
        FileError, ParameterError
            If the file cannot be had or read, or holds no motif.
        """
        local = local_path(path)
        with open_lines(local) as (lines, _):
            lines = [line.rstrip("\n") for line in lines]
        reader = matrix_reader(lines)
        try:
            motifs, counts = read_patterns(lines) if reader is None else (read_matrices(lines, reader), {})
        except ParameterError as error:
            raise ParameterError(error.problem, file=local, remedy=error.remedy) from error
        if not motifs:
            raise ParameterError("holds no motif", file=local, remedy="check how the file was made")
        return cls.named(motifs, counts)

    def state(self):
        """Return (JSON dict, dict of arrays), from which `from_state` makes the set again."""
        header = {"names": self.names, "counts": self.counts}
        if self.of_patterns:
            return header | {"patterns": [motif.text for motif in self.motifs]}, {}
        arrays = {
            "columns": np.array([len(motif.counts) for motif in self.motifs], dtype=np.int64),
            "letter_counts": np.concatenate([motif.counts.ravel() for motif in self.motifs]),
            "background": np.concatenate([motif.background for motif in self.motifs]),
        }
        return header | {"letters": [motif.letters for motif in self.motifs]}, arrays

    @classmethod
    def from_state(cls, header, arrays):
        """Return the set whose `state` this was."""
        names = header["names"]
        if "patterns" in header:
            motifs = [parse_pattern(text, name) for text, name in zip(header["patterns"], names, strict=True)]
            return cls(motifs, header["counts"])
        motifs, place, shares = [], 0, 0
        for name, letters, columns in zip(names, header["letters"], arrays["columns"].tolist(), strict=True):
            counts = arrays["letter_counts"][place : place + columns * len(letters)].reshape(columns, len(letters))
            motifs.append(Matrix(name, counts, letters, arrays["background"][shares : shares + len(letters)]))
            place, shares = place + columns * len(letters), shares + len(letters)
        return cls(motifs, header["counts"])
