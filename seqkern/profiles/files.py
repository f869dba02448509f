"""Profiles from files: one file, a folder of them, or a tar archive, which is read without unpacking it to disk.

A record finds its profile by its id, which is the name of the file (with or without the ending), or the name in the
HMM; else by its letters. Ids are compared with names that were found, and never become paths.
"""

import io
import lzma
import tarfile
import zlib
from pathlib import Path, PurePosixPath

import numpy as np

from seqkern.core.checks import check_choice
from seqkern.core.errors import FileError, SequenceError
from seqkern.core.text_files import open_text
from seqkern.profiles.hmmer import parse_hmmer
from seqkern.profiles.hmmer_files import looks_like_hmmer
from seqkern.profiles.profile import Profile, add_profiles, from_scores, protein_only
from seqkern.profiles.psiblast import looks_like_psiblast, parse_psiblast
from seqkern.sequences.alphabets import PROTEIN, to_bytes

FORMATS = ("psiblast", "hmmer")
MOST_LETTERS = 1 << 28  # characters of one file: a PSSM of titin has 10 million


class ProfileFiles:
    """The profiles in a file, a folder or a tar archive.

    Parameters
    ----------
    source : path-like
    format : {None, "psiblast", "hmmer"}
        By default told by the first line of each file.

    Raises
    ------
    FileError
        If something cannot be read, or is of another format.
    """

    def __init__(self, source, format=None):
        check_choice("format", format, (None, *FORMATS))
        self.source, self.format = Path(source), format
        self._by_name, self._by_letters = {}, {}
        self._unread = {}
        if self.source.is_dir():
            # A folder may hold many more profiles than are wanted: files are read when their record asks for them.
            self._unread = {path.name: path for path in folder_files(self.source)}
            self._stems = {}
            for name in self._unread:
                self._stems.setdefault(_stem(name), name)
        elif _is_tar(self.source):
            self._read_tar()
        else:
            with open_text(self.source) as (text, name):
                self._add(self.source.name, text.read(MOST_LETTERS), name)
        if not self._by_name and not self._unread:
            raise FileError("holds no profiles", file=self.source, remedy="check the path")

    def add_to(self, X):
        """Return a SequenceSet with the tracks ``pssm`` and ``profile`` besides its own.

        Raises
        ------
        SequenceError
            If a record has no profile, or its profile other letters or another length.
        """
        protein_only(X)
        return add_profiles(X, (self.find(X, i) for i in range(len(X))))

    def find(self, X, i):
        """Return the Profile of record i; SequenceError if there is none."""
        record = X.ids[i]
        entry = self._named(record)
        if entry is None:
            self._read_all()
            entry = self._by_name.get(record) or self._by_letters.get(X.string(i))
        if entry is None:
            raise SequenceError(
                f"has no profile: none of {len(self._by_letters)} is named after it, or has its letters",
                file=self.source,
                record=record,
                remedy=self._remedy(),
            )
        letters, pssm, profile, file = entry
        return Profile(letters, pssm, from_scores(pssm) if profile is None else profile, file)

    def _remedy(self):
        """Return how a profile is added to what this source is."""
        if self.source.is_dir() or _is_tar(self.source):
            return "add a file whose name is the id and an ending, as .pssm or .hmm"
        return "add a model whose NAME is the id, if it is a file of HMMER, or give a folder or a tar archive of files"

    def _named(self, record):
        """Return what is named after a record, or None; of a folder no other file is read."""
        if self._unread:
            name = record if record in self._unread else self._stems.get(record)
            if name in self._unread:
                self._read(name)
        return self._by_name.get(record)

    def _read(self, name):
        """Read one file of a folder."""
        path = self._unread.pop(name)
        with open_text(path) as (text, shown):
            self._add(name, text.read(MOST_LETTERS), shown)

    def _read_all(self):
        """Read what is left of a folder."""
        for name in list(self._unread):
            self._read(name)

    def _read_tar(self):
        """Read all files of a tar archive."""
        try:
            with tarfile.open(self.source) as archive:
                for member in archive:
                    name = PurePosixPath(member.name).name
                    if member.isfile() and not name.startswith("."):
                        packed = io.BytesIO(archive.extractfile(member).read(MOST_LETTERS))
                        packed.name = f"{self.source}: {member.name}"
                        with open_text(packed) as (text, shown):
                            self._add(name, text.read(MOST_LETTERS), shown)
        except FileError:
            raise
        except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError) as error:
            raise FileError(f"is damaged: {error}", file=self.source, remedy="copy or download it again") from error

    def _add(self, name, text, shown):
        """Enter the profiles of one file."""
        wanted = self.format or _format_of(text)
        if wanted is None:
            raise FileError(
                "is neither a PSSM that PSI-BLAST wrote in ASCII nor a file of HMMER 3",
                file=shown,
                remedy="leave other files out of the folder, or make it with psiblast -out_ascii_pssm",
            )
        if wanted == "psiblast":
            letters, pssm = parse_psiblast(text, shown)
            names, found = (name, _stem(name)), [((), letters, (letters, pssm, None, shown))]
        else:
            # Which letters the query had an HMM does not say, only which are the likeliest.
            names, found = (), []
            for hmm, consensus, pssm, profile in parse_hmmer(text, shown):
                found.append(((hmm,), consensus, ("X" * len(pssm), pssm, profile, shown)))
            if len(found) == 1:
                names = name, _stem(name)
        for own, letters, entry in found:
            for key in (*own, *names):
                self._by_name.setdefault(key, entry)
            self._by_letters.setdefault(_as_record(letters), entry)


def folder_files(folder):
    """Return the paths of a folder's files, sorted, without hidden ones and folders."""
    return sorted(path for path in Path(folder).iterdir() if path.is_file() and not path.name.startswith("."))


def _format_of(text):
    """Return the format that a text begins like, or None."""
    if looks_like_psiblast(text):
        return "psiblast"
    return "hmmer" if looks_like_hmmer(text) else None


def _stem(name):
    """Return a file's name without its ending, and that of a compressed one."""
    path = PurePosixPath(name)
    if path.suffix in (".gz", ".bz2", ".xz"):
        path = PurePosixPath(path.stem)
    return path.stem


def _as_record(letters):
    """Return letters as `SequenceSet.string` shows them, masked ones as ``*``."""
    shown = np.full(256, ord("*"), dtype=np.uint8)
    shown[: PROTEIN.size] = np.frombuffer(PROTEIN.letters.encode(), dtype=np.uint8)
    return shown[PROTEIN.encode(to_bytes(letters))].tobytes().decode()


def _is_tar(path):
    """Tell whether a file is a tar archive, compressed or not."""
    try:
        return path.is_file() and tarfile.is_tarfile(path)
    except OSError:
        return False
