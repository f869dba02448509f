"""Profiles from a file, a folder of files, or a tar archive, which is read without unpacking.

A record is matched to its profile by id, which is the name of the file (with or without the ending) or the name in
the HMM; else by its residues. Ids are only compared with existing names, and never become paths.
"""

import io
import lzma
import tarfile
import zlib
from pathlib import Path, PurePosixPath

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_choice
from seqkern.core.errors import FileError, SequenceError
from seqkern.core.text_files import open_text
from seqkern.core.types import PathLike
from seqkern.profiles.hmmer import parse_hmmer
from seqkern.profiles.hmmer_files import looks_like_hmmer
from seqkern.profiles.profile import Profile, add_profiles, from_scores, protein_only
from seqkern.profiles.psiblast import looks_like_psiblast, parse_psiblast
from seqkern.sequences.alphabets import PROTEIN, to_bytes
from seqkern.sequences.sequence_set import SequenceSet

FORMATS = ("psiblast", "hmmer")
MOST_LETTERS = 1 << 28  # characters of one file: a PSSM of titin has 10 million

# residues, scores, probabilities (None if derived from the scores), file name for messages
_Entry = tuple[str, npt.NDArray[np.float32], npt.NDArray[np.float32] | None, str]


class ProfileFiles:
    r"""The profiles in a file, a folder or a tar archive.

    Parameters
    ----------
    source : path-like
        The file, plain or compressed, the folder, or the archive.
    format : {None, "psiblast", "hmmer"}
        Detected from the first line of each file by default.

    Raises
    ------
    FileError
        If something cannot be read, or has another format.

    Examples
    --------
    >>> import tempfile
    >>> from seqkern import SequenceSet
    >>> title = "Last position-specific scoring matrix computed"
    >>> columns = " " * 11 + "  ".join("ARNDCQEGHILKMFPSTWYV")
    >>> rows = [f"{i:5d} {letter}  " + "  1" * 20 for i, letter in enumerate("MKV", start=1)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     length = (Path(folder) / "1abc.pssm").write_text("\n".join(["", title, columns, *rows, ""]))
    ...     profile = ProfileFiles(folder).find(SequenceSet.from_strings(["MKV"], "protein", ids=["1abc"]), 0)
    >>> profile.letters, profile.pssm.shape
    ('MKV', (3, 20))
    """

    def __init__(self, source: PathLike, format: str | None = None) -> None:
        check_choice("format", format, (None, *FORMATS))
        self.source, self.format = Path(source), format
        self._by_name: dict[str, _Entry] = {}
        self._by_letters: dict[str, _Entry] = {}
        self._unread: dict[str, Path] = {}
        self._stems: dict[str, str] = {}
        if self.source.is_dir():
            # A folder may contain many unneeded profiles: a file is read when its record is looked up.
            self._unread = {path.name: path for path in folder_files(self.source)}
            for name in self._unread:
                self._stems.setdefault(_stem(name), name)
        elif _is_tar(self.source):
            self._read_tar()
        else:
            with open_text(self.source) as (text, name):
                self._add(self.source.name, text.read(MOST_LETTERS), name)
        if not self._by_name and not self._unread:
            raise FileError("contains no profiles", file=self.source, remedy="check the path")

    def add_to(self, X: SequenceSet) -> SequenceSet:
        """Return sequences with the tracks ``pssm`` and ``profile`` added.

        Parameters
        ----------
        X : SequenceSet
            Proteins.

        Returns
        -------
        SequenceSet

        Raises
        ------
        SequenceError
            If a record has no profile, or the residues or length of its profile differ.
        """
        protein_only(X)
        return add_profiles(X, (self.find(X, i) for i in range(len(X))))

    def find(self, X: SequenceSet, i: int) -> Profile:
        """Return the profile of one record: by its id, else by its residues.

        Parameters
        ----------
        X : SequenceSet
            Proteins.
        i : int
            The record, from 0.

        Returns
        -------
        Profile

        Raises
        ------
        SequenceError
            If there is no profile.
        """
        record = X.ids[i]
        entry = self._named(record)
        if entry is None:
            self._read_all()
            entry = self._by_name.get(record) or self._by_letters.get(X.string(i))
        if entry is None:
            raise SequenceError(
                f"has no profile: none of {len(self._by_letters)} matches its id or its residues",
                file=self.source,
                record=record,
                remedy=self._remedy(),
            )
        letters, pssm, profile, file = entry
        return Profile(letters, pssm, from_scores(pssm) if profile is None else profile, file)

    def _remedy(self) -> str:
        """Return how to add a profile to this source."""
        if self.source.is_dir() or _is_tar(self.source):
            return "add a file named after the id, ending in .pssm or .hmm"
        return "add a model whose NAME is the id (HMMER), or give a folder or tar archive of files"

    def _named(self, record: str) -> _Entry | None:
        """Return the entry named after a record, or None; in a folder only that file is read."""
        if self._unread:
            name = record if record in self._unread else self._stems.get(record, record)
            if name in self._unread:
                self._read(name)
        return self._by_name.get(record)

    def _read(self, name: str) -> None:
        """Read one file of a folder."""
        path = self._unread.pop(name)
        with open_text(path) as (text, shown):
            self._add(name, text.read(MOST_LETTERS), shown)

    def _read_all(self) -> None:
        """Read the remaining files of a folder."""
        for name in list(self._unread):
            self._read(name)

    def _read_tar(self) -> None:
        """Read all files of a tar archive."""
        try:
            with tarfile.open(self.source) as archive:
                for member in archive:
                    name = PurePosixPath(member.name).name
                    file = archive.extractfile(member) if member.isfile() and not name.startswith(".") else None
                    if file is not None:
                        packed = io.BytesIO(file.read(MOST_LETTERS))
                        packed.name = f"{self.source}: {member.name}"
                        with open_text(packed) as (text, shown):
                            self._add(name, text.read(MOST_LETTERS), shown)
        except FileError:
            raise
        except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError) as error:
            raise FileError(f"is corrupted: {error}", file=self.source, remedy="copy or download it again") from error

    def _add(self, name: str, text: str, shown: str) -> None:
        """Add the profiles of one file."""
        wanted = self.format or _format_of(text)
        if wanted is None:
            raise FileError(
                "is neither an ASCII PSSM from PSI-BLAST nor a HMMER 3 file",
                file=shown,
                remedy="remove other files from the folder, or create it with psiblast -out_ascii_pssm",
            )
        found: list[tuple[list[str], str, _Entry]] = []  # names in the file, residues, entry
        if wanted == "psiblast":
            letters, pssm = parse_psiblast(text, shown)
            found.append(([], letters, (letters, pssm, None, shown)))
        else:
            # An HMM does not contain the residues of the query, only the most likely ones.
            for hmm, consensus, pssm, profile in parse_hmmer(text, shown):
                found.append(([hmm], consensus, ("X" * len(pssm), pssm, profile, shown)))
        names = [name, _stem(name)] if len(found) == 1 else []
        for own, letters, entry in found:
            for key in (*own, *names):
                self._by_name.setdefault(key, entry)
            self._by_letters.setdefault(_as_record(letters), entry)


def folder_files(folder: PathLike) -> list[Path]:
    """Return the files of a folder.

    Parameters
    ----------
    folder : path-like
        An existing folder.

    Returns
    -------
    list of Path
        Sorted, without hidden files and folders.
    """
    return sorted(path for path in Path(folder).iterdir() if path.is_file() and not path.name.startswith("."))


def _format_of(text: str) -> str | None:
    """Return the format that a text starts like, or None."""
    if looks_like_psiblast(text):
        return "psiblast"
    return "hmmer" if looks_like_hmmer(text) else None


def _stem(name: str) -> str:
    """Return a file name without its ending and compression suffix."""
    path = PurePosixPath(name)
    if path.suffix in (".gz", ".bz2", ".xz"):
        path = PurePosixPath(path.stem)
    return path.stem


def _as_record(letters: str) -> str:
    """Return letters in the form of `SequenceSet.string`, masked ones as ``*``."""
    shown = np.full(256, ord("*"), dtype=np.uint8)
    shown[: PROTEIN.size] = np.frombuffer(PROTEIN.letters.encode(), dtype=np.uint8)
    return shown[PROTEIN.encode(to_bytes(letters))].tobytes().decode()


def _is_tar(path: Path) -> bool:
    """Return whether a file is a tar archive, compressed or not."""
    try:
        return path.is_file() and tarfile.is_tarfile(path)
    except OSError:
        return False
