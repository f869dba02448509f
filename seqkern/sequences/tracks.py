"""Tracks read from files: one annotation letter for each residue, matched by sequence id."""

import itertools

import numpy as np

from seqkern.core.errors import SequenceError, naming
from seqkern.core.text_files import open_lines
from seqkern.core.tsv import check_columns, read_cells
from seqkern.core.types import PathLike
from seqkern.sequences.formats import fasta_records
from seqkern.sequences.sequence_set import SequenceSet

PROFILE_TRACKS = ("pssm", "profile")


def track_option(name: str) -> str:
    """Return the command-line option for a track."""
    if name in PROFILE_TRACKS:
        return "--profiles PATH; in a study the data set's profiles"
    return f"--track {name}=FILE"


class Track:
    """A track of annotation letters, read from FASTA or from a table with a column ``id``."""

    def __init__(self, name: str, source: PathLike) -> None:
        self.name, self.file = name, str(source)
        self._letters: dict[str, bytes] = {}
        for record, letters in self._records(source):
            with naming(self.file, record):
                if record in self._letters:
                    raise SequenceError("duplicate id", remedy="remove one of them")
                if not letters.isascii():
                    raise SequenceError("has annotation letters outside ASCII", remedy="use ASCII letters only")
            self._letters[record] = letters.encode("ascii")

    def _records(self, source: PathLike) -> list[tuple[str, str]]:
        """Return (id, letters) of each record or row."""
        with open_lines(source) as (lines, _):
            first = next(lines)
            if first.startswith(">"):
                records = fasta_records(itertools.chain([first], lines))
                return [(header.split(None, 1)[0] if header.strip() else "", letters) for header, letters in records]
        header, *rows = read_cells(source)
        check_columns(header, self.file)
        for column in ("id", self.name):
            if column not in header:
                raise SequenceError(
                    f"is neither FASTA nor a table with the column {column!r}",
                    file=self.file,
                    remedy=f"give FASTA with annotation letters, or a table with the columns id and {self.name}",
                )
        place, value = header.index("id"), header.index(self.name)
        return [(row[place], row[value]) for row in rows]

    def add_to(self, X: SequenceSet) -> SequenceSet:
        """Return sequences with this track added."""
        codes = np.zeros(len(X.codes), dtype=np.uint8)
        for record, start, stop in zip(X.ids, X.starts, X.stops, strict=True):
            letters = self._letters.get(record)
            with naming(self.file, record):
                if letters is None:
                    problem = f"has no annotation in the track {self.name!r}"
                    raise SequenceError(problem, remedy="add it under the id of the sequence")
                if len(letters) != stop - start:
                    problem = f"has {len(letters)} annotation letters, but the sequence has length {stop - start}"
                    raise SequenceError(problem, remedy="give one annotation letter for each residue")
            codes[start:stop] = np.frombuffer(letters, dtype=np.uint8)
        return X.replace(tracks={**X.tracks, self.name: codes})
