"""A reference genome: a FASTA file with an index, plain or compressed by bgzip."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from seqkern.core.errors import FileError
from seqkern.core.types import PathLike
from seqkern.genome.fasta_index import fasta_index
from seqkern.genome.libraries import pysam


class Genome:
    r"""Chromosomes by name, read in parts; positions count from 0, stops are exclusive.

    Parameters
    ----------
    path : path-like
        FASTA, plain or compressed by bgzip. A missing index (``.fai``) is written beside it, or to the cache folder
        if that place cannot be written.

    Attributes
    ----------
    path : str
        As given.
    lengths : dict of str to int
        Bases of each chromosome, in the order of the file.

    Raises
    ------
    FileError
        If the file, or its index, cannot be read or written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "genome.fa"
    ...     _ = path.write_text(">chr1\nACGTNNacgt\n>chr2\nGATTACA\n")
    ...     with Genome(path) as genome:
    ...         genome.lengths, genome.fetch("chr1", 2, 8)
    ({'chr1': 10, 'chr2': 7}, 'GTNNac')
    """

    def __init__(self, path: PathLike) -> None:
        self.path = str(path)
        library = pysam()
        library.set_verbosity(0)  # errors are raised, too
        fai, gzi = fasta_index(path)
        more = {} if gzi is None else {"filepath_index_compressed": str(gzi)}
        try:
            self._file: Any = library.FastaFile(self.path, filepath_index=str(fai), **more)
        except (OSError, ValueError) as error:
            raise FileError(
                "cannot be read with its index", file=self.path, remedy=f"delete {fai}; it is made again"
            ) from error
        self.lengths = dict(zip(self._file.references, self._file.lengths, strict=True))

    def fetch(self, chromosome: str, start: int, stop: int) -> str:
        """Return the bases of a region, in the case of the file: lower case means repeats (soft-masked).

        Parameters
        ----------
        chromosome : str
            Its name; must be in `lengths`.
        start, stop : int
            0 ≤ start ≤ stop ≤ its length.

        Returns
        -------
        str

        Raises
        ------
        FileError
            If the file is damaged there, or its index belongs to another one.
        """
        try:
            return str(self._file.fetch(chromosome, start, stop))
        except (OSError, ValueError) as error:  # among them bytes that are not text
            raise FileError(
                "cannot be read", file=self.path, record=chromosome, remedy="check the file, and delete its index .fai"
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
