"""Files of vectors, such as embeddings, by the ids of records: `.npy`, `.npz`, HDF5, Parquet and tab-separated text.

The format is recognised by the first bytes. Nothing is unpickled, and HDF5 is read from the file itself only: links to
other files are ignored, data stored in other files is refused.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.archive_entries import DENSEST, read_entry
from seqkern.core.damaged import unreadable
from seqkern.core.errors import FileError, SeqkernError, SequenceError
from seqkern.core.types import PathLike
from seqkern.datasets.hdf5_heaps import check_heaps
from seqkern.datasets.parquet_vectors import parquet_vectors
from seqkern.datasets.table_files import read_features

IDS, VALUES = "ids", "values"
IDS_BESIDE = (".ids", ".ids.txt")


@dataclass(frozen=True)
class VectorFile:
    """Arrays of numbers by the ids of records.

    Attributes
    ----------
    file : str
        For messages.
    keys : mapping of str to object
        Where the array of each id is.
    get : callable
        Returns the array at such a place: one vector, or one row for each residue.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "esm.npz"
    ...     np.savez(file, P68871=[0.5, 1], P69905=[[2, 0], [1, 1]])
    ...     vectors = open_vectors(file)
    ...     list(vectors.keys), vectors.array("P69905").tolist()
    (['P68871', 'P69905'], [[2, 0], [1, 1]])
    """

    file: str
    keys: Mapping[str, Any]
    get: Callable[[Any], npt.NDArray[Any]]

    def array(self, record: str) -> npt.NDArray[Any]:
        """Return the array of a record.

        Parameters
        ----------
        record : str
            One of the ids.

        Returns
        -------
        ndarray of numbers
            Of any shape.

        Raises
        ------
        FileError
            If it cannot be read.
        SequenceError
            If it does not consist of numbers.
        """
        with _readable(self.file):
            array = np.asarray(self.get(self.keys[record]))
        if array.dtype.kind not in "fiu":
            raise SequenceError(
                f"has values of type {array.dtype}", file=self.file, record=record, remedy="store them as numbers"
            )
        return array


def open_vectors(path: PathLike, ids: PathLike | None = None) -> VectorFile:
    """Open a file of vectors.

    Parameters
    ----------
    path : path-like
        ``.npy``: a table, one row for each id. ``.npz`` and HDF5: one array for each id, or the arrays ``ids`` and
        ``values``. Parquet: a column ``id``, and one column of lists or columns of numbers. Otherwise a tab-separated
        table as `seqkern.datasets.table_files.read_features` reads it.
    ids : path-like, optional
        For ``.npy``: text with one id in each line. Default: the file beside it whose name ends in ``.ids`` or
        ``.ids.txt`` instead of ``.npy``.

    Returns
    -------
    VectorFile

    Raises
    ------
    FileError
        If a file is missing or corrupted, or the library for its format is not installed.
    SequenceError
        If there are no vectors, ids are missing or repeated, or numbers of ids and rows differ.
    """
    name, head = str(path), _first_bytes(path)
    if ids is not None and not head.startswith(b"\x93NUMPY"):
        raise FileError("holds its own ids", file=name, remedy="remove the file of ids, which is for .npy only")
    with _readable(name):
        if head.startswith(b"\x93NUMPY"):
            found = _of_npy(Path(path), ids)
        elif head.startswith(b"PK"):
            found = _of_npz(name)
        elif head.startswith(b"\x89HDF"):
            found = _of_hdf5(name)
        elif head.startswith(b"PAR1"):
            found = _of_table(name, *parquet_vectors(name, _library("pyarrow.parquet", name)))
        else:
            table, _ = read_features(path, ())
            found = _of_table(name, table.ids, table.values)
    if not found.keys:
        raise SequenceError("contains no vectors", file=name, remedy="check how the file was created")
    return found


def ids_beside(path: PathLike) -> Path | None:
    """Return the file of ids beside a table ``.npy``.

    Parameters
    ----------
    path : path-like
        The table; of other files None is returned.

    Returns
    -------
    Path or None
        None if there is no such file.
    """
    files = [Path(path).with_suffix(ending) for ending in IDS_BESIDE if Path(path).suffix == ".npy"]
    return next((file for file in files if file.is_file()), None)


def _first_bytes(path: PathLike) -> bytes:
    """Return the first bytes of a file; FileError if it cannot be read, SequenceError if it is empty."""
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
    """Turn what libraries raise about a corrupted file into one line."""
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


def _library(module: str, name: str) -> Any:
    """Return an optional library; FileError with the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise FileError(
            f"needs the package {package}", file=name, remedy=f"pip install {package}, or store the vectors as .npz"
        ) from error


def _of_npy(path: Path, ids: PathLike | None) -> VectorFile:
    """Return the rows of a table, mapped into memory, with the ids of a text file."""
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
        raise FileError("no such file", file=found, remedy="check the path")
    lines = found.read_text(encoding="utf-8", errors="backslashreplace").splitlines()
    return _of_table(str(path), [line.strip() for line in lines if line.strip()], values, str(found))


def _of_npz(name: str) -> VectorFile:
    """Return the arrays of an archive."""
    archive = zipfile.ZipFile(name)
    names = [entry.removesuffix(".npy") for entry in archive.namelist()]
    if {IDS, VALUES} <= set(names):
        return _of_table(name, _texts(read_entry(archive, IDS), name), read_entry(archive, VALUES))
    return VectorFile(name, {key: key for key in names}, lambda key: read_entry(archive, key))


def _of_hdf5(name: str) -> VectorFile:
    """Return the data sets of a file; ids are their names, or their attribute ``original_id``."""
    h5py = _library("h5py", name)
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
        return _of_table(name, _texts(found[IDS][...], name), found[VALUES][...])
    ids = [_text(item.attrs.get("original_id", path)) for path, item in found.items()]
    _check_ids(ids, name)
    return VectorFile(name, dict(zip(ids, found.values(), strict=True)), lambda item: item[...])


def _of_table(name: str, ids: Sequence[str], values: npt.NDArray[Any], ids_file: str | None = None) -> VectorFile:
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
