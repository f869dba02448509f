"""Where the profiles of a set of sequences come from, as a study or the command line says it.

``{files: PATH, format: psiblast}`` names files; ``{search: FASTA, iterations: 3, inclusion: 0.001}`` searches a FASTA
file; ``{search: all, transductive: true}`` searches the sequences themselves, test sequences too, without labels.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seqkern.core.archive import canonical_json
from seqkern.core.checks import check_choice
from seqkern.core.errors import ConfigError
from seqkern.core.public_files import is_public, local_path
from seqkern.core.text_files import file_sha256
from seqkern.core.types import PathLike
from seqkern.profiles.files import FORMATS, ProfileFiles, folder_files
from seqkern.profiles.profile import protein_only
from seqkern.profiles.search import ProfileSearch
from seqkern.sequences.fasta import read_fasta
from seqkern.sequences.sequence_set import SequenceSet

KEYS = {"files": ("format",), "search": ("iterations", "inclusion", "transductive")}
ALL = "all"


class ProfileSource:
    """Where profiles come from.

    Parameters
    ----------
    entry : dict
        The entry ``profiles`` of a data set: ``files`` or ``search``, with their options.
    base_dir : path-like
        Where relative paths start.
    data_dir : path-like, optional
        Folder with local copies of public files.

    Raises
    ------
    ConfigError, ParameterError
        If the entry is not possible.

    Examples
    --------
    >>> ProfileSource({"search": "all", "transductive": True, "iterations": 2}).note()
    {'search': 'all', 'transductive': True, 'iterations': 2}
    """

    def __init__(self, entry: Mapping[str, Any], base_dir: PathLike = ".", data_dir: PathLike | None = None) -> None:
        check_profiles(entry)
        self.entry, self.base_dir, self.data_dir = dict(entry), Path(base_dir), data_dir
        self._files: ProfileFiles | None = None
        self._database: ProfileSearch | None = None

    def add_to(self, X: SequenceSet, *, n_threads: int | None = None) -> SequenceSet:
        """Return a set of sequences with the tracks ``pssm`` and ``profile`` besides its own.

        Parameters
        ----------
        X : SequenceSet
            Proteins.
        n_threads : int, optional
            For searches; by default all cores.

        Returns
        -------
        SequenceSet

        Raises
        ------
        FileError, SequenceError
            If a file cannot be read, or a profile does not fit its sequence.
        """
        protein_only(X)
        if "files" in self.entry:
            self._files = self._files or ProfileFiles(self._path("files"), self.entry.get("format"))
            return self._files.add_to(X)
        return self._search(X).add_to(X, n_threads=n_threads)

    def _search(self, X: SequenceSet) -> ProfileSearch:
        """Return the ProfileSearch for `X`; that of a file is made once."""
        options = {key: self.entry[key] for key in ("iterations", "inclusion") if key in self.entry}
        if self.entry["search"] == ALL:
            return ProfileSearch(X, **options)
        if self._database is None:
            database = read_fasta(self._path("search"), "protein", unknown="mask", ids="number", empty="skip")
            self._database = ProfileSearch(database, **options)
        return self._database

    def _path(self, key: str) -> Path:
        """Return the path that the entry names."""
        given = str(self.entry[key])
        return local_path(given, self.data_dir) if is_public(given) else self.base_dir / given

    def note(self) -> dict[str, Any]:
        """Return what a data set records of its profiles: the entry, with the SHA-256 of its file.

        Of a folder it is that of the names and SHA-256s of its files.
        """
        note = dict(self.entry)
        if note.get("search") == ALL:
            return note
        path = self._path("files" if "files" in note else "search")
        if path.is_dir():
            listed = canonical_json([[file.name, file_sha256(file)] for file in folder_files(path)])
            return note | {"sha256": hashlib.sha256(listed.encode("utf-8", "surrogateescape")).hexdigest()}
        return note | ({"sha256": file_sha256(path)} if path.is_file() else {})


def check_profiles(entry: Mapping[str, Any]) -> None:
    """Check the entry ``profiles`` of a data set.

    Parameters
    ----------
    entry : dict
        As for `ProfileSource`.

    Raises
    ------
    ConfigError, ParameterError
        If the entry is not possible.
    """
    given = [key for key in KEYS if key in entry]
    if len(given) != 1:
        raise ConfigError(
            f"profiles need exactly one source, these have {len(given)}",
            remedy="give files: PATH, or search: FASTA, or search: all with transductive: true",
        )
    for key in entry:
        if key not in (given[0], *KEYS[given[0]]):
            raise ConfigError(f"{key!r} does not go with {given[0]}", remedy=f"known: {', '.join(KEYS[given[0]])}")
    check_choice("format", entry.get("format"), (None, *FORMATS))
    if (entry.get("search") == ALL) != bool(entry.get("transductive", False)):
        raise ConfigError(
            "profiles from all sequences know the test sequences",
            remedy="say so: search: all with transductive: true; or search a FASTA file, or let the kernel search its "
            "training part (search: training)",
        )


def profile_files(entry: Mapping[str, Any]) -> list[str]:
    """Return the paths of the local files that the entry ``profiles`` of a data set names.

    Parameters
    ----------
    entry : dict
        As for `ProfileSource`.

    Returns
    -------
    list of str
        As the entry names them. The files in a folder take its place, since a folder does not change where one of
        them does.
    """
    named = [entry[key] for key in KEYS if key in entry and entry[key] != ALL]
    local = [path for path in named if not is_public(path)]
    return [file for path in local for file in (map(str, folder_files(path)) if Path(path).is_dir() else [path])]


def differs(note: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether profiles were made differently: by a search of another database or with other options, or not.

    Two sources of files never differ in this sense: other sequences have other files.

    Parameters
    ----------
    note, other : dict
        As `ProfileSource.note` returns them.

    Returns
    -------
    bool
    """
    if ("files" in note) != ("files" in other):
        return True
    compared = {"sha256": None, "iterations": 3, "inclusion": 0.001}
    return "search" in note and any(note.get(key, usual) != other.get(key, usual) for key, usual in compared.items())


def describe(note: Mapping[str, Any]) -> str:
    """Return one sentence about where profiles come from.

    Parameters
    ----------
    note : dict
        As `ProfileSource.note` returns it.

    Returns
    -------
    str

    Examples
    --------
    >>> from seqkern.profiles.sources import describe
    >>> describe({"files": "pssm/", "format": "psiblast"})
    "read from files: PSI-BLAST's PSSMs, pssm/"
    """
    if "files" in note:
        kind = {"psiblast": "PSI-BLAST's PSSMs, ", "hmmer": "HMMER's models, "}.get(note.get("format", ""), "")
        return f"read from files: {kind}{note['files']}"
    how = f"built by iterated search, up to {note.get('iterations', 3)} times, E-value {note.get('inclusion', 0.001)}"
    if note["search"] == ALL:
        return (
            f"{how}, of each sequence against all sequences of this data set. This is transductive: profiles of "
            "training sequences know the test sequences, though not their labels"
        )
    return f"{how}, of each sequence against {note['search']}"
