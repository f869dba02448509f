"""Sources of profiles, as given in a study or on the command line.

``{files: PATH, format: psiblast}`` names files; ``{search: FASTA, iterations: 3, inclusion: 0.001}`` searches a FASTA
file; ``{search: all, transductive: true}`` searches the sequences themselves, including test sequences, without
labels.
"""

import hashlib
import io
import lzma
import tarfile
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import canonical_json, load_archive, save_archive
from seqkern.core.checks import check_choice, check_integer, check_real
from seqkern.core.errors import ConfigError, FileError, SequenceError
from seqkern.core.progress import progress_bar
from seqkern.core.public_files import cache_dir, is_public, local_path
from seqkern.core.text_files import PACKED, file_sha256, open_text
from seqkern.core.threads import available_threads
from seqkern.core.types import Floats, PathLike
from seqkern.formats.hmmer import looks_like_hmmer, of_hmm, parse_hmmer
from seqkern.formats.profiles import (
    Profile,
    add_profiles,
    from_scores,
    looks_like_psiblast,
    parse_psiblast,
    protein_only,
    to_scores,
)
from seqkern.sequences.alphabets import PROTEIN, to_bytes
from seqkern.sequences.fasta import read_fasta
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from pyhmmer.easel import AA, DigitalMSA, DigitalSequence, DigitalSequenceBlock


# Profiles from a file, a folder of files, or a tar archive, which is read without unpacking.
#
# A record is matched to its profile by id, which is the file name (with or without its extension) or the name in the
# HMM; otherwise by its residues. Ids are only compared with existing names, and never become paths.

FORMATS = ("psiblast", "hmmer")
MOST_LETTERS = 1 << 28  # characters of one file: a PSSM of titin has 10 million

# residues, scores, probabilities (None if derived from the scores), file name for messages
_Entry = tuple[str, npt.NDArray[np.float32], npt.NDArray[np.float32] | None, str]


class ProfileFiles:
    """The profiles in a file, a folder or a tar archive."""

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
        """Return sequences with the tracks ``pssm`` and ``profile`` added."""
        protein_only(X)
        return add_profiles(X, (self.find(X, i) for i in range(len(X))))

    def find(self, X: SequenceSet, i: int) -> Profile:
        """Return the profile of record i: by its id, otherwise by its residues."""
        record = X.ids[i]
        entry = self._named(record)
        if entry is None:
            for name in list(self._unread):
                self._read(name)
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
        """Return the remedy for a missing profile: how to add it to this source."""
        if self.source.is_dir() or _is_tar(self.source):
            return "add a file named after the id, ending in .pssm or .hmm"
        return "add a model whose NAME is the id (HMMER), or give a folder or tar archive of files"

    def _named(self, record: str) -> _Entry | None:
        """Return the entry named after a record, or None; in a folder, only the file of that name is read."""
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
                remedy="remove other files from the folder, or create it with psiblast -out_ascii_pssm",
            )
        found: list[tuple[list[str], str, _Entry]] = []  # names in the file, residues, entry
        if wanted == "psiblast":
            letters, pssm = parse_psiblast(text)
            found.append(([], letters, (letters, pssm, None, shown)))
        else:
            # An HMM does not contain the residues of the query, only the most likely ones.
            for hmm, consensus, pssm, profile in parse_hmmer(text):
                found.append(([hmm], consensus, ("X" * len(pssm), pssm, profile, shown)))
        names = [name, _stem(name)] if len(found) == 1 else []
        for own, letters, entry in found:
            for key in (*own, *names):
                self._by_name.setdefault(key, entry)
            self._by_letters.setdefault(PROTEIN.decode(PROTEIN.encode(to_bytes(letters))), entry)


def folder_files(folder: PathLike) -> list[Path]:
    """Return the files of a folder, sorted, without hidden files and subfolders."""
    return sorted(path for path in Path(folder).iterdir() if path.is_file() and not path.name.startswith("."))


def _format_of(text: str) -> str | None:
    """Return the profile format recognised from the beginning of a text, or None."""
    if looks_like_psiblast(text):
        return "psiblast"
    return "hmmer" if looks_like_hmmer(text) else None


def _stem(name: str) -> str:
    """Return a file name without its extension and compression suffix."""
    path = PurePosixPath(name)
    if path.suffix in PACKED:
        path = PurePosixPath(path.stem)
    return path.stem


def _is_tar(path: Path) -> bool:
    """Return whether a file is a tar archive, compressed or not."""
    try:
        return path.is_file() and tarfile.is_tarfile(path)
    except OSError:
        return False


# Cached profiles: in memory, and on disk under the digest of everything they depend on.
#
# The folder is ``profiles`` in the cache of seqkern (``seqkern`` in XDG_CACHE_HOME, by default in ``~/.cache``). It may
# be deleted at any time; missing or corrupted profiles are built again.

MOST_BYTES = 1 << 26

Found = tuple[npt.NDArray[np.float32], int]
"""Probabilities, float32 (residues, 20), and the number of homologs behind them."""


class Memory:
    """The most recently used profiles, up to `MOST_BYTES` bytes."""

    def __init__(self) -> None:
        self._found: OrderedDict[str, Found] = OrderedDict()
        self._bytes, self._lock = 0, Lock()

    def get(self, key: str) -> Found | None:
        """Return the profile under a key and its number of homologs; None if the key is unknown."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def put(self, key: str, found: Found) -> None:
        """Store a profile, and drop the least recently used ones."""
        with self._lock:
            if key not in self._found:
                self._found[key] = found
                self._bytes += found[0].nbytes
            while self._bytes > MOST_BYTES:
                self._bytes -= self._found.popitem(last=False)[1][0].nbytes

    def clear(self) -> None:
        """Remove all profiles."""
        with self._lock:
            self._found.clear()
            self._bytes = 0


MEMORY = Memory()


class ProfileCache:
    """Profiles on disk: probabilities, float32 (residues, 20), and numbers of homologs, by key."""

    def __init__(self, folder: PathLike | None = None) -> None:
        self.folder = cache_dir() / "profiles" if folder is None else Path(folder)
        self.writable = True

    def get(self, key: str, length: int) -> Found | None:
        """Return the profile of a sequence and its number of homologs; None if there is no usable one."""
        known = MEMORY.get(key)
        if known is not None:
            return known
        try:
            header, arrays = load_archive(self._path(key))
        except FileError:
            return None
        profile = arrays.get("profile")
        if not isinstance(header, dict) or profile is None or profile.shape != (length, 20):
            return None
        found = profile, int(header.get("relatives", 0))
        MEMORY.put(key, found)
        return found

    def put(self, key: str, found: Found) -> None:
        """Store a profile; do nothing if the folder is not writable."""
        MEMORY.put(key, found)
        if self.writable:
            try:
                save_archive(self._path(key), {"relatives": found[1]}, {"profile": found[0]})
            except FileError:
                self.writable = False

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.npz"


# Profiles built by iterated search, as jackhmmer does (Johnson, Eddy, Portugaly: BMC Bioinformatics 11, 2010).
#
# A profile HMM of the query (BLOSUM62 around each residue) is searched against a database; the query and its hits give
# the next HMM, and so on. Its match states are the residues of the query; their emissions, with HMMER's mixture
# Dirichlet priors, are the profile. Sequences identical to the query are left out, so it does not matter whether the
# query is in the database.
#
# Every query has its own pipeline and seed, so that a profile depends only on the query, the database in its order, and
# the options: never on threads or on other queries. Most of the time goes into the effective number of sequences of
# each new HMM, found by bisection. Threads run in parallel, since pyhmmer releases the interpreter's lock.

FORMAT = 1  # of the cache
FEWEST = 10  # simulated sequences for an HMM not used for a search
LONGEST = 6000  # residues of a query or hit; memory grows with the product of their lengths
SECONDS_PER_QUERY, SECONDS_PER_CELL = 0.03, 1.5e-10  # of one iteration; a cell is a residue of each of two sequences


class ProfileSearch:
    """Profiles of sequences, built from their homologs in a database."""

    def __init__(self, database: SequenceSet, *, iterations: int = 3, inclusion: float = 0.001) -> None:
        import pyhmmer  # imported here for fast start-up

        check_integer("iterations", iterations, 1)
        check_real("inclusion", inclusion, 0, open_low=True)
        protein_only(database)
        self.iterations, self.inclusion = iterations, float(inclusion)
        strings = _strings(database)
        self._strings = [string for string in strings if 0 < len(string) <= LONGEST]
        self.too_long = sum(len(string) > LONGEST for string in strings)
        self._sequences: DigitalSequenceBlock[AA] | None = None
        options = {"iterations": iterations, "inclusion": self.inclusion, "longest": LONGEST, "seed": 42}
        digest = hashlib.blake2b(digest_size=16)
        digest.update(canonical_json([FORMAT, pyhmmer.__version__, options]).encode())
        for string in self._strings:
            digest.update(len(string).to_bytes(8, "little") + string)
        self.digest = digest.hexdigest()

    def seconds(self, X: SequenceSet) -> float:
        """Return the estimated CPU seconds for building profiles, assuming an empty cache."""
        cells = float(X.lengths.sum()) * sum(map(len, self._strings))
        return self.iterations * (SECONDS_PER_QUERY * len(X) + SECONDS_PER_CELL * cells)

    def add_to(
        self, X: SequenceSet, *, n_threads: int | None = None, cache: "ProfileCache | None" = None
    ) -> SequenceSet:
        """Return sequences with the tracks ``pssm`` and ``profile`` added.

        Cached profiles are not built again, and new ones are cached one by one, so that interrupted work resumes
        where it
        stopped. Sequences that are too long get profiles from themselves only, and do not contribute to others.
        """
        protein_only(X)
        cache = ProfileCache() if cache is None else cache
        queries = _strings(X)
        background = _background()
        found = dict(self._found(dict.fromkeys(queries), n_threads, cache))
        profiles = (Profile(X.string(i), to_scores(found[q], background), found[q]) for i, q in enumerate(queries))
        long = sum(len(query) > LONGEST for query in queries)
        counts = {
            "sequences too long to search with": long,
            "sequences too long to search for": self.too_long,
        }
        counts = X.counts | {what: count for what, count in counts.items() if count}
        return add_profiles(X, profiles).replace(counts=counts)

    def _found(
        self, queries: Iterable[bytes], n_threads: int | None, cache: "ProfileCache"
    ) -> Iterator[tuple[bytes, npt.NDArray[np.float32]]]:
        """Yield (query, probabilities) of distinct queries, from the cache or built in threads."""
        missing = []
        for query in queries:
            known = cache.get(self._key(query), len(query))
            if known is None:
                missing.append(query)
            else:
                yield query, known[0]
        if not missing:
            return
        self._load()
        with ThreadPoolExecutor(available_threads(n_threads)) as pool:
            waiting = [pool.submit(self.build, query) for query in missing]
            try:
                for query, future in zip(progress_bar(missing, "profiles"), waiting, strict=True):
                    built = future.result()
                    cache.put(self._key(query), built)
                    yield query, built[0]
            except BaseException:  # also Ctrl-C: finished profiles are in the cache
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _key(self, query: bytes) -> str:
        """Return the key of a query's profile in the cache."""
        return hashlib.blake2b(self.digest.encode() + query, digest_size=16).hexdigest()

    def _load(self) -> "DigitalSequenceBlock[AA]":
        """Return the database as pyhmmer's sequences, created once."""
        from pyhmmer.easel import Alphabet, DigitalSequenceBlock  # imported here for fast start-up

        if self._sequences is None:
            named = [_digital(str(i), string) for i, string in enumerate(self._strings)]
            self._sequences = DigitalSequenceBlock(Alphabet.amino(), named)
        return self._sequences

    def build(self, query: bytes) -> tuple[npt.NDArray[np.float32], int]:
        """Search with one query, and return its profile and the number of database sequences used."""
        # imported here for fast start-up
        from pyhmmer.easel import Alphabet
        from pyhmmer.plan7 import Background, Builder, Pipeline, Trace

        if not query:
            return np.zeros((0, PROTEIN.size), dtype=np.float32), 0
        sequences = self._load()
        alphabet, sequence = Alphabet.amino(), _digital("query", query)
        background = Background(alphabet)
        searching = Builder(alphabet, architecture="hand")
        last = Builder(alphabet, architecture="hand", EmN=FEWEST, EvN=FEWEST, EfN=FEWEST)
        if len(query) > LONGEST or not self._strings:
            return of_hmm(last.build(sequence, background)[0])[1], 0
        hmm, _, optimised = searching.build(sequence, background)
        same = {i for i, string in enumerate(self._strings) if string == query}
        relatives: set[int] = set()
        for iteration in range(self.iterations):
            pipeline = Pipeline(alphabet, incE=self.inclusion, incdomE=self.inclusion)
            hits = pipeline.search_hmm(optimised, sequences)
            for hit in hits:
                if int(hit.name) in same:
                    hit.included = False
            found = {int(hit.name) for hit in hits if hit.included}
            if found <= relatives:
                break
            relatives |= found
            traces = [Trace.from_sequence(sequence)]
            msa = hits.to_msa(alphabet, [sequence], traces, digitize=True, all_consensus_cols=True)
            aligned = cast("DigitalMSA[AA]", msa)
            aligned.name = "query"
            builder = last if iteration + 1 == self.iterations else searching
            hmm, _, optimised = builder.build_msa(aligned, background)
        profile = of_hmm(hmm)[1]
        if len(profile) != len(query):
            raise SequenceError(
                f"its HMM has {len(profile)} match states for {len(query)} residues",
                record=PROTEIN.decode(query, "X"),
                remedy="remove the sequence, or give its profile in a file",
            )
        return profile, len(relatives)


def _strings(X: SequenceSet) -> list[bytes]:
    """Return the codes of each sequence as bytes."""
    return [X.codes[start:stop].tobytes() for start, stop in zip(X.starts, X.stops, strict=True)]


def _digital(name: str, codes: bytes) -> "DigitalSequence[AA]":
    """Return codes as a pyhmmer sequence, with X for masked residues."""
    from pyhmmer.easel import Alphabet, TextSequence  # imported here for fast start-up

    return TextSequence(name=name, sequence=PROTEIN.decode(codes, "X")).digitize(Alphabet.amino())


def _background() -> Floats:
    """Return the background frequencies of HMMER's log-odds scores, float64 (20,)."""
    # imported here for fast start-up
    from pyhmmer.easel import Alphabet
    from pyhmmer.plan7 import Background

    return np.asarray(Background(Alphabet.amino()).residue_frequencies, dtype=np.float64)


KEYS = {"files": ("format",), "search": ("iterations", "inclusion", "transductive")}
ALL = "all"


class ProfileSource:
    """A source of profiles: files or a search, as given in the data-set entry ``profiles``.

    >>> ProfileSource({"search": "all", "transductive": True, "iterations": 2}).note()
    {'search': 'all', 'transductive': True, 'iterations': 2}
    """

    def __init__(self, entry: Mapping[str, Any], base_dir: PathLike = ".", data_dir: PathLike | None = None) -> None:
        check_profiles(entry)
        self.entry, self.base_dir, self.data_dir = dict(entry), Path(base_dir), data_dir
        self._files: ProfileFiles | None = None
        self._database: ProfileSearch | None = None

    def add_to(self, X: SequenceSet, *, n_threads: int | None = None) -> SequenceSet:
        """Return sequences with the tracks ``pssm`` and ``profile`` added."""
        protein_only(X)
        if "files" in self.entry:
            self._files = self._files or ProfileFiles(self._path("files"), self.entry.get("format"))
            return self._files.add_to(X)
        return self._search(X).add_to(X, n_threads=n_threads)

    def _search(self, X: SequenceSet) -> ProfileSearch:
        """Return the ProfileSearch for `X`; for a FASTA file it is created only once."""
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
        """Return the record of a data set's profiles: the entry, with the SHA-256 of its file.

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
    """Raise ConfigError or ParameterError if the data-set entry ``profiles`` is invalid."""
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
    """Return the paths of the local files in the data-set entry ``profiles``, as written there.

    A folder is replaced by its files, since it does not change when one of them does.
    """
    named = [entry[key] for key in KEYS if key in entry and entry[key] != ALL]
    local = [path for path in named if not is_public(path)]
    return [file for path in local for file in (map(str, folder_files(path)) if Path(path).is_dir() else [path])]


def differs(note: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether profiles were made differently: by search with another database or options, or from files.

    Two sources of files never differ in this sense: other sequences have other files.
    """
    if ("files" in note) != ("files" in other):
        return True
    compared = {"sha256": None, "iterations": 3, "inclusion": 0.001}
    return "search" in note and any(note.get(key, usual) != other.get(key, usual) for key, usual in compared.items())


def describe(note: Mapping[str, Any]) -> str:
    """Return one sentence about the source of profiles.

    >>> from seqkern.formats.profile_sources import describe
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
