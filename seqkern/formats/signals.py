"""Writing of values along chromosomes as bigWig or bedGraph."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from seqkern.core.archive import atomic_write
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.tsv import optional_library
from seqkern.core.types import Array, Floats, Ints, PathLike

AT_ONCE = 1 << 16
FORMATS = {".bw": "bigwig", ".bigwig": "bigwig", ".bedgraph": "bedgraph", ".bg": "bedgraph"}
ENTRY = np.dtype([("start", np.int64), ("value", np.float64)])


def track_format(path: PathLike) -> str:
    """Return the format of a track file, according to its extension.

    >>> track_format("contributions.bw")
    'bigwig'
    """
    form = FORMATS.get(Path(path).suffix.lower())
    if form is None:
        raise ParameterError(f"{str(path)!r} is neither bigWig nor bedGraph", remedy="end the name in .bw or .bedgraph")
    return form


class Track(AbstractContextManager["Track"]):
    """Values along chromosomes, kept in a temporary file until all are known.

    A bigWig file lists its chromosomes in the order of their names, with their lengths, before all values; both
    are known only at the end.
    """

    def __init__(self) -> None:
        self._file: Any = tempfile.TemporaryFile()  # noqa: SIM115 - closed by the with statement around the track
        self._parts: dict[str, list[tuple[int, int]]] = {}
        self._ends: dict[str, int] = {}
        self._unsorted: set[str] = set()

    def add(self, chromosome: str, starts: Ints, values: Floats) -> None:
        """Add values of bases, counted from 0; of a base with several values, the mean is written."""
        if not len(starts):
            return
        entries = np.empty(len(starts), dtype=ENTRY)
        entries["start"], entries["value"] = starts, values
        if (np.diff(starts) <= 0).any() or starts[0] <= self._ends.get(chromosome, -1):
            self._unsorted.add(chromosome)
        self._ends[chromosome] = max(int(np.max(starts)), self._ends.get(chromosome, -1))
        self._parts.setdefault(chromosome, []).append((self._file.tell(), len(entries)))
        self._file.write(entries.tobytes())

    def write(self, path: PathLike, lengths: Mapping[str, int] | None = None) -> None:
        """Write the values to a file, whose extension chooses the format."""
        if lengths is not None:
            self._check(lengths)
        if track_format(path) == "bigwig":
            assert lengths is not None
            self._write_big_wig(path, lengths)
            return
        with atomic_write(path, "w") as file:
            for chromosome, starts, values in self._blocks():
                name = chromosome.replace("\t", " ")
                pairs = zip(starts.tolist(), values.tolist(), strict=True)
                file.writelines(f"{name}\t{start}\t{start + 1}\t{value:.10g}\n" for start, value in pairs)

    def save(self, path: PathLike) -> list[tuple[str, int]]:
        """Write the values in the order they were added, and return the data that `load` needs beside the file."""
        parts = sorted((place, name, n) for name, parts in self._parts.items() for place, n in parts)
        self._file.seek(0)
        with atomic_write(path) as file:
            shutil.copyfileobj(self._file, file)
        return [(name, n) for _, name, n in parts]

    def load(self, path: PathLike, parts: Sequence[tuple[str, int]]) -> None:
        """Add the values of another track that `save` wrote; `parts` is the value that `save` returned."""
        with open(path, "rb") as file:
            for name, n in parts:
                entries = np.frombuffer(file.read(n * ENTRY.itemsize), dtype=ENTRY)
                self.add(name, entries["start"], entries["value"])

    def _check(self, lengths: Mapping[str, int]) -> None:
        """Raise SequenceError for values beyond chromosome ends or on unknown chromosomes."""
        for chromosome, end in self._ends.items():
            if chromosome not in lengths:
                raise SequenceError(
                    f"the genome has no chromosome {chromosome!r}",
                    remedy=f"give the genome of these sequences; it has {', '.join(list(lengths)[:3])}",
                )
            if end >= lengths[chromosome]:
                raise SequenceError(
                    f"position {end + 1} is beyond the end of {chromosome}, which has {lengths[chromosome]} bases",
                    remedy="give the genome of these sequences",
                )

    def _write_big_wig(self, path: PathLike, lengths: Mapping[str, int]) -> None:
        """Write a bigWig file; the library requires a separate path."""
        library = optional_library("pyBigWig", "genome")
        with tempfile.TemporaryDirectory() as folder:
            own = str(Path(folder) / "track.bw")
            file = library.open(own, "w")
            file.addHeader(sorted((name, length) for name, length in lengths.items()))
            for chromosome, starts, values in self._blocks():
                file.addEntries(chromosome, starts.tolist(), values=values.tolist(), span=1)
            file.close()
            with atomic_write(path) as out, open(own, "rb") as written:
                shutil.copyfileobj(written, out)

    def _blocks(self) -> Iterator[tuple[str, Ints, Floats]]:
        """Yield the values in order, in blocks.

        The values of a chromosome that were not added in order are yielded in one block.
        """
        for chromosome in sorted(self._parts):
            parts = self._parts[chromosome]
            if chromosome in self._unsorted:
                yield chromosome, *_means(np.concatenate([self._read(*part) for part in parts]))
                continue
            # so many at once however they were added: bigWig stores the values of a call as blocks of their own
            waiting = np.empty(0, dtype=ENTRY)
            for offset, n in parts:
                for first in range(0, n, AT_ONCE):
                    more = self._read(offset + first * ENTRY.itemsize, min(AT_ONCE, n - first))
                    waiting = np.concatenate([waiting, more])
                    if len(waiting) >= AT_ONCE:
                        yield chromosome, waiting["start"][:AT_ONCE], waiting["value"][:AT_ONCE]
                        waiting = waiting[AT_ONCE:]
            if len(waiting):
                yield chromosome, waiting["start"], waiting["value"]

    def _read(self, offset: int, n: int) -> Array:
        """Return entries of the temporary file."""
        self._file.seek(offset)
        return np.frombuffer(self._file.read(n * ENTRY.itemsize), dtype=ENTRY)

    def close(self) -> None:
        """Remove the temporary file."""
        self._file.close()

    def __exit__(self, *error: object) -> None:
        self.close()


def _means(entries: Array) -> tuple[Ints, Floats]:
    """Return the bases in order, with the mean of the values of each."""
    entries = entries[np.argsort(entries["start"], kind="stable")]
    starts, first, counts = np.unique(entries["start"], return_index=True, return_counts=True)
    return starts, np.add.reduceat(entries["value"], first) / counts
