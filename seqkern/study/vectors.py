"""Views of a data set, and vectors from files, such as embeddings."""

import contextlib
import mmap
import os
import struct
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import DENSEST, read_entry
from seqkern.core.checks import check_name
from seqkern.core.declarations import Parameter
from seqkern.core.errors import ConfigError, FileError, SeqkernError, SequenceError, check_known, near_file, unreadable
from seqkern.core.parameters import text
from seqkern.core.text_files import PACKED
from seqkern.core.tsv import optional_library
from seqkern.core.types import PathLike
from seqkern.formats.residues import STATES
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tracks import PROFILE_TRACKS
from seqkern.study.schema import PATH
from seqkern.study.several_sequences import SequenceView
from seqkern.study.tables import read_features

# Vectors from a Parquet file: a column of ids, and one column of lists or several columns of numbers.

ID = "id"
INDEX = "__index_level_"  # of pandas


def parquet_vectors(name: str, parquet: Any) -> tuple[list[str], npt.NDArray[Any]]:
    """Return the ids and vectors, shape (n, width), of a Parquet file."""
    table = parquet.read_table(name)
    if ID not in table.column_names:
        raise SequenceError(
            f"has no column {ID!r}", file=name, remedy=f"name the column of ids {ID}; columns: {_some(table)}"
        )
    ids = table.column(ID).to_pylist()
    if None in ids:
        raise SequenceError(f"row {ids.index(None) + 1} has no id", file=name, remedy="add one")
    ids = [str(item) for item in ids]
    if not ids:
        return ids, np.zeros((0, 0))
    others = [column for column in table.column_names if column != ID and not column.startswith(INDEX)]
    lists = [column for column in others if _is_list(table.schema.field(column).type)]
    if len(lists) > 1:
        raise SequenceError(
            f"has {len(lists)} columns of lists: {', '.join(lists)}", file=name, remedy="keep one of them"
        )
    if lists:
        return ids, _array_of_lists(table.column(lists[0]), ids, name)
    if not others:
        raise SequenceError("has no column of numbers", file=name, remedy="add the vectors")
    columns = [_numbers(table.column(column), column, name) for column in others]
    return ids, np.stack(columns, axis=1)


def _is_list(kind: Any) -> bool:
    """Return whether a column's type is a list."""
    return str(kind).startswith(("list", "large_list", "fixed_size_list"))


def _array_of_lists(column: Any, ids: list[str], name: str) -> npt.NDArray[Any]:
    """Return the lists of a column as rows of an array."""
    rows = column.to_numpy()
    lengths = [-1 if row is None else len(row) for row in rows]
    for record, length in zip(ids, lengths, strict=True):
        if length != lengths[0] or length < 0:
            problem = "has no vector" if length < 0 else f"has {length} numbers, the first vector has {lengths[0]}"
            raise SequenceError(problem, file=name, record=record, remedy="give vectors of one length")
    table = np.stack(rows) if len(rows) else np.zeros((0, 0))
    if table.dtype.kind not in "fiu":
        raise SequenceError(
            "its lists do not consist of numbers", file=name, remedy="give one list of numbers for each id"
        )
    return table


def _numbers(column: Any, title: str, name: str) -> npt.NDArray[Any]:
    """Return a numeric column with missing values as NaN."""
    values = column.to_numpy()
    if values.dtype.kind not in "fiu":
        raise SequenceError(
            f"its column {title!r} does not consist of numbers", file=name, remedy="remove it, or give numbers"
        )
    return values


def _some(table: Any) -> str:
    """Return a few column names for a message."""
    return ", ".join(table.column_names[:8])


# A check of the heaps of HDF5 files, which hold variable-length text: libhdf5 hangs on some damaged ones.
#
# A heap is a chain of blocks, each with its number (0: free) and size. A size that leads to a free block of size 0
# makes libhdf5 read that block forever, so the chains are walked here first. HDF5 file format specification, version 3,
# III.E.

SIGNATURE = b"GCOL\x01\x00\x00\x00"
HEADER = 16
ALIGNED = 8


def check_heaps(path: Path) -> None:
    """Raise ValueError with the position of the block if a heap of an HDF5 file is damaged."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        start = content.find(SIGNATURE)
        while start >= 0:
            _walk(content, start)
            start = content.find(SIGNATURE, start + 1)


def _walk(content: mmap.mmap, start: int) -> None:
    """Raise ValueError unless the blocks of a heap fill it exactly."""
    (size,) = struct.unpack_from("<Q", content, start + ALIGNED) if start + HEADER <= len(content) else (0,)
    stop, place = start + size, start + HEADER
    if not HEADER <= size <= len(content) - start:
        raise ValueError(f"the heap at byte {start} has {size} bytes")
    while place + HEADER <= stop:
        number, _, _, size = struct.unpack_from("<HHIQ", content, place)
        needed = HEADER + -(-size // ALIGNED) * ALIGNED if number else size
        if not HEADER <= needed <= stop - place:
            raise ValueError(f"the block at byte {place} of a heap has {size} bytes")
        place += needed


# Files of vectors, such as embeddings, by record id: `.npy`, `.npz`, HDF5, Parquet and tab-separated text.
#
# The format is recognised by the first bytes. Nothing is unpickled, and HDF5 data are read only from the file itself:
# links to other files are ignored, and data stored in other files are refused.

IDS, VALUES = "ids", "values"
INSTEAD = "store the vectors as .npz"
IDS_BESIDE = (".ids", ".ids.txt")


@dataclass(frozen=True)
class VectorFile:
    """A file of numeric arrays, looked up by record id: one vector, or one row for each residue."""

    file: str  # For messages
    keys: Mapping[str, Any]  # Where the array of each id is
    get: Callable[[Any], npt.NDArray[Any]]  # Returns the array at such a place: one vector, or one row for each residue

    def array(self, record: str) -> npt.NDArray[Any]:
        """Return the array of a record."""
        with _readable(self.file):
            array = np.asarray(self.get(self.keys[record]))
        if array.dtype.kind not in "fiu":
            raise SequenceError(
                f"has values of type {array.dtype}", file=self.file, record=record, remedy="store them as numbers"
            )
        return array


def open_vectors(path: PathLike, ids: PathLike | None = None) -> "VectorFile":
    """Open a file of vectors.

    ``.npy`` holds a table with one row per id, ids in the file `ids` (default: beside it, ending in ``.ids`` or
    ``.ids.txt``). ``.npz`` and HDF5 hold one array per id, or the arrays ``ids`` and ``values``. Parquet has a column
    ``id`` and one column of lists, or columns of numbers. Anything else is a tab-separated feature table.
    """
    name, head = str(path), _first_bytes(path)
    if ids is not None and not head.startswith(b"\x93NUMPY"):
        raise FileError("holds its own ids", file=name, remedy="remove the file of ids, which is for .npy only")
    with _readable(name):
        if head.startswith(b"\x93NUMPY"):
            found = _npy_file(Path(path), ids)
        elif head.startswith(b"PK"):
            found = _npz_file(name)
        elif head.startswith(b"\x89HDF"):
            found = _hdf5_file(name)
        elif head.startswith(b"PAR1"):
            pyarrow = optional_library("pyarrow.parquet", "embeddings", name, instead=INSTEAD)
            found = _table_file(name, *parquet_vectors(name, pyarrow))
        else:
            table, _ = read_features(path, ())
            found = _table_file(name, table.ids, table.values)
    if not found.keys:
        raise SequenceError("contains no vectors", file=name, remedy="check how the file was created")
    return found


def ids_beside(path: PathLike) -> Path | None:
    """Return the file of ids beside a ``.npy`` table; None if there is none, or for other formats."""
    files = [Path(path).with_suffix(ending) for ending in IDS_BESIDE if Path(path).suffix == ".npy"]
    return next((file for file in files if file.is_file()), None)


def _first_bytes(path: PathLike) -> bytes:
    """Return the first bytes of a file; raise FileError if it is unreadable, SequenceError if it is empty."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(8)
    except OSError as error:
        raise unreadable(path, error) from error
    if not head:
        raise SequenceError("is empty", file=path, remedy="check how the file was created")
    return head


@contextlib.contextmanager
def _readable(name: str) -> Iterator[None]:
    """Convert any exception that a library raises for a corrupted file into a one-line error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except SeqkernError:
        raise
    except Exception as error:  # damaged or hostile files raise almost anything
        pickled = "allow_pickle" in str(error) or "Python objects" in str(error)
        reason = "" if " at 0x" in str(error) else f": {error}"  # such as Python's name of an object
        raise FileError(
            "contains Python objects, which are not read" if pickled else f"cannot be read{reason}",
            file=name,
            remedy="store numbers, and ids as text" if pickled else "create the file again",
        ) from error


def _npy_file(path: Path, ids: PathLike | None) -> "VectorFile":
    """Return the rows of a memory-mapped ``.npy`` table, with the ids of a text file."""
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        if "empty" in str(error):  # it cannot be mapped
            raise SequenceError("contains no vectors", file=path, remedy="check how the file was created") from error
        raise
    found = ids_beside(path) if ids is None else Path(ids)
    if found is None:
        name = path.with_suffix(IDS_BESIDE[0]).name
        raise FileError(
            "has no ids", file=path, remedy=f"write the id of each row to {name}, one in each line, or name their file"
        )
    if not found.is_file():
        raise FileError("no such file", file=found, remedy=near_file(found))
    lines = found.read_text(encoding="utf-8", errors="backslashreplace").splitlines()
    return _table_file(str(path), [line.strip() for line in lines if line.strip()], values, str(found))


def _npz_file(name: str) -> "VectorFile":
    """Return the arrays of a ``.npz`` archive."""
    archive = zipfile.ZipFile(name)
    names = [entry.removesuffix(".npy") for entry in archive.namelist()]
    if {IDS, VALUES} <= set(names):
        return _table_file(name, _texts(read_entry(archive, IDS), name), read_entry(archive, VALUES))
    return VectorFile(name, {key: key for key in names}, lambda key: read_entry(archive, key))


def _hdf5_file(name: str) -> "VectorFile":
    """Return the arrays of an HDF5 file; ids are their names, or their attribute ``original_id``."""
    h5py = optional_library("h5py", "embeddings", name, instead=INSTEAD)
    check_heaps(Path(name))
    file, found = h5py.File(name, "r"), {}

    def see(path: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            found[path] = item

    file.visititems(see)  # hard links only
    for path, item in found.items():
        if item.external or item.is_virtual:
            raise SequenceError(
                "is stored in another file", file=name, record=path, remedy="copy the data into the file"
            )
        if item.size * item.dtype.itemsize > DENSEST * os.path.getsize(name):
            raise ValueError(f"{path!r} is larger than compression allows")
    if {IDS, VALUES} <= set(found):
        return _table_file(name, _texts(found[IDS][...], name), found[VALUES][...])
    ids = [_text(item.attrs.get("original_id", path)) for path, item in found.items()]
    _check_ids(ids, name)
    return VectorFile(name, dict(zip(ids, found.values(), strict=True)), lambda item: item[...])


def _table_file(name: str, ids: Sequence[str], values: npt.NDArray[Any], ids_file: str | None = None) -> "VectorFile":
    """Return the rows of a table with their ids."""
    if values.ndim != 2:
        shape = " × ".join(map(str, values.shape)) or "a single number"
        raise SequenceError(f"has the shape {shape}", file=name, remedy="give a table with one row for each id")
    if len(ids) != len(values):
        raise SequenceError(
            f"has {len(values)} rows, but there are {len(ids)} ids" + (f" in {ids_file}" if ids_file else ""),
            file=name,
            remedy="give one id for each row",
        )
    _check_ids(ids, name if ids_file is None else ids_file)
    return VectorFile(name, {record: row for row, record in enumerate(ids)}, lambda row: values[row])


def _check_ids(ids: Sequence[str], name: str) -> None:
    """Raise SequenceError for a repeated or empty id."""
    if len(set(ids)) < len(ids):
        twice = Counter(ids).most_common(1)[0][0]
        raise SequenceError("has two vectors", file=name, record=twice, remedy="remove one of them")
    if "" in ids:
        raise SequenceError(f"row {list(ids).index('') + 1} has no id", file=name, remedy="add one")


def _texts(ids: npt.NDArray[Any], name: str) -> list[str]:
    """Return an array of ids as text."""
    if ids.ndim != 1:
        raise SequenceError(f"its ids have {ids.ndim} dimensions", file=name, remedy="give one id for each row")
    return [_text(item) for item in ids.tolist()]


def _text(item: Any) -> str:
    """Return an id, which may be bytes, as text."""
    return item.decode("utf-8", "backslashreplace") if isinstance(item, bytes) else str(item)


# Views of a data set: further sequences, and vectors such as embeddings from files, matched by id.

KEYS: dict[str, Parameter] = {"file": PATH, "ids": PATH, "alphabet": text()}
SEQUENCE_ENDINGS = (
    *(".fa", ".fasta", ".fas", ".faa", ".fna", ".ffn", ".fq", ".fastq"),
    *(".gb", ".gbk", ".embl", ".sto", ".stockholm", ".aln"),
)
"""Endings of sequence files, before the ending of a compression; views of other files hold vectors."""


@dataclass(frozen=True)
class ViewOptions:
    """A view of vectors in a data set's entry: its name, file, and file of ids.

    >>> ViewOptions.parse("esm", "esm2.h5")
    ViewOptions(name='esm', file='esm2.h5', ids=None)
    """

    name: str  # As kernels call it: ``view=esm``
    file: str  # The file of vectors, as written in the entry
    ids: str | None = None  # The file of ids, for ``.npy``

    @classmethod
    def parse(cls, name: str, given: str | Mapping[str, str]) -> "ViewOptions":
        """Return the view of an entry."""
        check_name("view", name)
        if name in (*PROFILE_TRACKS, STATES):
            raise ConfigError(f"{name!r} is the name of a track", remedy="give the view another name, such as esm")
        if not isinstance(given, Mapping):
            return cls(name, str(given))
        check_known(f"key of the view {name!r}", given, KEYS)
        if "file" not in given:
            raise ConfigError(f"the view {name!r} has no file", remedy="add file: …")
        return cls(name, **{key: str(value) for key, value in given.items() if key != "alphabet"})

    def files(self) -> list[str]:
        """Return the files as written in the entry, with the file of ids beside a table, if any."""
        ids = ids_beside(self.file) if self.ids is None else self.ids
        return [self.file] if ids is None else [self.file, str(ids)]


class View:
    """Vectors from a file, to be added to sequences."""

    def __init__(self, options: "ViewOptions", base_dir: PathLike = ".") -> None:
        self.name = options.name
        ids = None if options.ids is None else Path(base_dir) / options.ids
        self._vectors: VectorFile = open_vectors(Path(base_dir) / options.file, ids)

    def unused(self, ids: Iterable[str]) -> int:
        """Return the number of vectors whose id is none of these records."""
        return len(self._vectors.keys.keys() - set(ids))

    def add_to(self, X: SequenceSet) -> SequenceSet:
        """Return sequences with this view added: the vector of each sequence, or the mean over its residues.

        Half and single precision are stored as float32, all others as float64.
        """
        self._check_ids(X)
        vectors: list[npt.NDArray[Any]] = []
        for record, length in zip(X.ids, X.lengths.tolist(), strict=True):
            array = self._vectors.array(record)
            if array.ndim == 2:
                array = array[0] if len(array) == 1 else self._of_residues(array, record, length)
                array = array.mean(axis=0, dtype=np.float64).astype(_stored(array)) if array.ndim == 2 else array
            elif array.ndim != 1:
                raise self._error(f"has {array.ndim} dimensions", record, "give one vector, or one for each residue")
            vectors.append(self._checked(array, record, vectors[0].shape[-1] if vectors else None))
        table = np.stack(vectors) if vectors else np.zeros((0, 0), dtype=np.float32)
        return X.replace(views={**X.views, self.name: table})

    def add_to_residues(self, X: SequenceSet) -> SequenceSet:
        """Return chains with this view as a track: one vector for each residue, float32 (positions, width)."""
        self._check_ids(X)
        track: npt.NDArray[np.float32] | None = None
        for record, start, stop in zip(X.ids, X.starts.tolist(), X.stops.tolist(), strict=True):
            array = self._vectors.array(record)
            if array.ndim != 2:
                what = "one vector" if array.ndim == 1 else f"{array.ndim} dimensions"
                problem = f"has {what} in the view {self.name!r}, but residues are the samples"
                raise self._error(problem, record, "give one row for each residue")
            array = self._of_residues(array, record, stop - start)
            array = self._checked(array, record, None if track is None else track.shape[1])
            if track is None:
                track = np.zeros((len(X.codes), array.shape[1]), dtype=np.float32)
            track[start:stop] = array
        return X if track is None else X.replace(tracks={**X.tracks, self.name: track})

    def _check_ids(self, X: SequenceSet) -> None:
        """Raise SequenceError unless all records have vectors."""
        missing = [record for record in X.ids if record not in self._vectors.keys]
        if missing:
            raise self._error(
                f"has no vector in the view {self.name!r} ({len(missing)} of {len(X)} sequences have none)",
                missing[0],
                "compute vectors for all sequences, under their ids (the first word of the header)",
            )

    def _of_residues(self, array: npt.NDArray[Any], record: str, length: int) -> npt.NDArray[Any]:
        """Return an array with one row for each residue, checked."""
        if len(array) != length:
            raise self._error(
                f"has {len(array)} rows in the view {self.name!r}, but the sequence has length {length}",
                record,
                "give one row for each residue, without those of start and end tokens",
            )
        return array

    def _checked(self, array: npt.NDArray[Any], record: str, width: int | None) -> npt.NDArray[Any]:
        """Return a vector or rows of vectors in the stored precision, checked for finite numbers and `width`."""
        own = array.shape[-1]
        if own == 0 or (width is not None and own != width):
            problem = "has an empty vector" if own == 0 else f"has {own} numbers, the first vector has {width}"
            raise self._error(f"{problem} in the view {self.name!r}", record, "give vectors of one length")
        stored = array.astype(_stored(array))
        if not np.isfinite(stored).all():
            problem = f"has a value that is not a finite number (NaN or inf) in the view {self.name!r}"
            raise self._error(problem, record, "compute the vector again, or remove the sequence")
        return stored

    def _error(self, problem: str, record: str, remedy: str) -> SequenceError:
        """Return an error about a vector."""
        return SequenceError(problem, file=self._vectors.file, record=record, remedy=remedy)


def holds_sequences(given: str | Mapping[str, Any]) -> bool:
    """Return whether a view consists of sequences, judged by its file name or its alphabet.

    >>> holds_sequences("heavy.fa.gz"), holds_sequences("esm2.h5")
    (True, False)
    """
    if isinstance(given, Mapping):
        return "alphabet" in given or holds_sequences(str(given.get("file")))
    path = Path(given)
    path = path.with_suffix("") if path.suffix.lower() in PACKED else path
    return path.suffix.lower() in SEQUENCE_ENDINGS


def parse_sequence_views(given: Mapping[str, Any]) -> tuple[SequenceView, ...]:
    """Return the views of a data set's entry that are sequences."""
    found = []
    for name, value in given.items():
        if holds_sequences(value):
            options = ViewOptions.parse(str(name), value)
            if options.ids is not None:
                raise ConfigError(f"the view {name!r} of sequences has ids of its own", remedy="remove ids")
            alphabet = value.get("alphabet") if isinstance(value, Mapping) else None
            found.append(SequenceView(options.name, options.file, alphabet))
    return tuple(found)


def parse_views(given: Mapping[str, Any]) -> "tuple[ViewOptions, ...]":
    """Return the views of a data set's entry that are vectors."""
    return tuple(ViewOptions.parse(str(name), value) for name, value in given.items() if not holds_sequences(value))


def _stored(array: npt.NDArray[Any]) -> type[np.floating[Any]]:
    """Return the precision in which numbers are stored."""
    return np.float32 if array.dtype in (np.float16, np.float32) else np.float64
