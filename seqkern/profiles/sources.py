"""The source of profiles, as given in a study or on the command line.

``{files: PATH, format: psiblast}`` names files; ``{search: FASTA, iterations: 3, inclusion: 0.001}`` searches a FASTA
file; ``{search: all, transductive: true}`` searches the sequences themselves, including test sequences, without labels.
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
    """The source of profiles.

    Parameters
    ----------
    entry : dict
        The data-set entry ``profiles``: ``files`` or ``search``, with their options.
    base_dir : path-like
        Base of relative paths.
    data_dir : path-like, optional
        Folder with local copies of public files.

    Raises
    ------
    ConfigError, ParameterError
        If the entry is invalid.

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
        """Return sequences with the tracks ``pssm`` and ``profile`` added.

        Parameters
        ----------
        X : SequenceSet
            Proteins.
        n_threads : int, optional
            For searches; default: all cores.

        Returns
        -------
        SequenceSet

        Raises
        ------
        FileError, SequenceError
            If a file cannot be read, or a profile does not match its sequence.
        """
        protein_only(X)
        if "files" in self.entry:
            self._files = self._files or ProfileFiles(self._path("files"), self.entry.get("format"))
            return self._files.add_to(X)
        return self._search(X).add_to(X, n_threads=n_threads)

    def _search(self, X: SequenceSet) -> ProfileSearch:
        """Return the ProfileSearch for `X`; for a file it is created once."""
        options = {key: self.entry[key] for key in ("iterations", "inclusion") if key in self.entry}
        if self.entry["search"] == ALL:
            return ProfileSearch(X, **options)
        if self._database is None:
            database = read_fasta(self._path("search"), "protein", unknown="mask_all", ids="number", empty="skip")
            self._database = ProfileSearch(database, **options)
        return self._database

    def _path(self, key: str) -> Path:
        """Return the path in the entry."""
        given = str(self.entry[key])
        return local_path(given, self.data_dir) if is_public(given) else self.base_dir / given

    def note(self) -> dict[str, Any]:
        """Return what a data set records about its profiles: the entry, with the SHA-256 of its file.

        For a folder, this is the digest of the names and SHA-256s of its files.
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
    """Check the data-set entry ``profiles``.

    Parameters
    ----------
    entry : dict
        As for `ProfileSource`.

    Raises
    ------
    ConfigError, ParameterError
        If the entry is invalid.
    """
    given = [key for key in KEYS if key in entry]
    if len(given) != 1:
        raise ConfigError(
            f"profiles need exactly one source, but {len(given)} are given",
            remedy="give files: PATH, or search: FASTA, or search: all with transductive: true",
        )
    for key in entry:
        if key not in (given[0], *KEYS[given[0]]):
            keys = ", ".join(KEYS[given[0]])
            raise ConfigError(f"{key!r} does not work with {given[0]}", remedy=f"choose from: {keys}")
    check_choice("format", entry.get("format"), (None, *FORMATS))
    if (entry.get("search") == ALL) != bool(entry.get("transductive", False)):
        raise ConfigError(
            "profiles built from all sequences use the test sequences",
            remedy="confirm this with search: all and transductive: true; or search a FASTA file, or let the kernel "
            "search its training set (search: training)",
        )


def profile_files(entry: Mapping[str, Any]) -> list[str]:
    """Return the paths of the local files in the data-set entry ``profiles``.

    Parameters
    ----------
    entry : dict
        As for `ProfileSource`.

    Returns
    -------
    list of str
        As written in the entry. A folder is replaced by its files, since it does not change when one of
        them does.
    """
    named = [entry[key] for key in KEYS if key in entry and entry[key] != ALL]
    local = [path for path in named if not is_public(path)]
    return [file for path in local for file in (map(str, folder_files(path)) if Path(path).is_dir() else [path])]


def differs(note: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether profiles were made differently: by search with another database or options, or from files.

    Two sources of files never differ in this sense: other sequences have other files.

    Parameters
    ----------
    note, other : dict
        From `ProfileSource.note`.

    Returns
    -------
    bool
    """
    if ("files" in note) != ("files" in other):
        return True
    compared = {"sha256": None, "iterations": 3, "inclusion": 0.001}
    return "search" in note and any(note.get(key, usual) != other.get(key, usual) for key, usual in compared.items())


def describe(note: Mapping[str, Any]) -> str:
    """Return one sentence about the source of profiles.

    Parameters
    ----------
    note : dict
        From `ProfileSource.note`.

    Returns
    -------
    str

    Examples
    --------
    >>> from seqkern.profiles.sources import describe
    >>> describe({"files": "pssm/", "format": "psiblast"})
    'read from files: PSSMs from PSI-BLAST, pssm/'
    """
    if "files" in note:
        kind = {"psiblast": "PSSMs from PSI-BLAST, ", "hmmer": "HMMER models, "}.get(note.get("format", ""), "")
        return f"read from files: {kind}{note['files']}"
    how = f"built by iterated search, up to {note.get('iterations', 3)} times, E-value {note.get('inclusion', 0.001)}"
    if note["search"] == ALL:
        return (
            f"{how}, of each sequence against all sequences of this data set. This is transductive: profiles of "
            "training sequences depend on the test sequences, though not their labels"
        )
    return f"{how}, of each sequence against {note['search']}"
