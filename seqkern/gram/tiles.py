"""Row-block tiles of a Gram matrix: the division of the matrix, and the tiles' files.

A tile contains some rows of the matrix; for a symmetric matrix only the columns from its first row on, which halves
the work. The division depends only on the shape of the matrix, so that all jobs use the same tiles.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import xxhash

from seqkern.core.archive import atomic_write
from seqkern.core.errors import FileError, GramError, ParameterError, reading
from seqkern.core.exclusive_files import LOCK, FolderLock
from seqkern.core.memory import check_mappable
from seqkern.core.threads import given_threads, in_threads
from seqkern.core.types import Array, Ints, PathLike
from seqkern.gram.matrix import GramMatrix, open_mapped
from seqkern.gram.stored_matrix import RowDigests, npy_path, open_gram, tiles_root, writing
from seqkern.kernels import _blocks
from seqkern.kernels.blocks import fill
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import Data, FeatureTable

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel


TILE_BYTES = 1 << 26
TILE_ROWS = 512
PIECE_BYTES = 1 << 18
"""Bytes written at a time: Linux takes larger pages for larger writes, and contiguous memory is scarce."""
DIGEST_BYTES = 16
"""Bytes of the digest at the end of a tile's file, after the values."""


@dataclass(frozen=True)
class TileGrid:
    """The division of a matrix into tiles.

    >>> grid = TileGrid(1000, 1000, np.dtype("float64"), symmetric=True)
    >>> [grid.shape(index) for index in range(len(grid))]
    [(512, 1000), (488, 488)]
    """

    rows: int  # Shape of the whole matrix
    cols: int  # Shape of the whole matrix
    dtype: np.dtype[Any]  # Data type of its entries
    symmetric: bool  # Whether a tile begins at the diagonal

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """The (first row, last row + 1) of each tile."""
        step = max(1, min(TILE_ROWS, TILE_BYTES // max(self.dtype.itemsize * self.cols, 1)))
        return [(start, min(start + step, self.rows)) for start in range(0, self.rows, step)]

    def __len__(self) -> int:
        return len(self.spans)

    def first_column(self, index: int) -> int:
        """Return the first column of a tile."""
        return self.spans[index][0] if self.symmetric else 0

    def shape(self, index: int) -> tuple[int, int]:
        """Return (rows, columns) of a tile."""
        start, stop = self.spans[index]
        return stop - start, self.cols - self.first_column(index)

    def entries(self, index: int) -> int:
        """Return the number of entries of a tile."""
        return int(np.prod(self.shape(index)))

    @property
    def matrix_bytes(self) -> int:
        """The size of the whole matrix in bytes."""
        return self.rows * self.cols * self.dtype.itemsize

    @property
    def tile_bytes(self) -> int:
        """The size in bytes of the largest tile, which is the first."""
        return self.entries(0) * self.dtype.itemsize if self.spans else 0

    @property
    def height(self) -> int:
        """The number of rows of a tile (the last may have fewer)."""
        return self.spans[0][1] if self.spans else 0

    @property
    def assembly_bytes(self) -> int:
        """The minimum memory for the assembly in bytes: the rows of one tile, and a tile being read."""
        return self.height * self.cols * self.dtype.itemsize + self.tile_bytes

    def file_name(self, index: int) -> str:
        """Return the file name of a tile."""
        start, stop = self.spans[index]
        return f"rows-{start:06d}-{stop:06d}.npy"

    def is_done(self, folder: Path, index: int) -> bool:
        """Return whether the complete file of a tile exists."""
        path = folder / self.file_name(index)
        try:
            tile = np.load(path, mmap_mode="r", allow_pickle=False)
            whole = path.stat().st_size == tile.offset + tile.nbytes + DIGEST_BYTES
        except (OSError, ValueError, EOFError) as error:
            check_mappable(path, error)
            return False
        return whole and tile.shape == self.shape(index) and tile.dtype == self.dtype and tile.flags.c_contiguous

    def write(self, folder: Path, index: int, tile: npt.NDArray[np.floating[Any]]) -> None:
        """Write a tile to its file, with a digest at its end."""
        with atomic_write(folder / self.file_name(index)) as file:
            write_header(file, tile.shape, tile.dtype)
            digest = xxhash.xxh3_128()
            for piece in pieces(np.ascontiguousarray(tile)):
                digest.update(piece)
                file.write(piece)
            file.write(digest.digest())


def tile_grid(rows: int, cols: int, dtype: npt.DTypeLike, symmetric: bool) -> TileGrid:
    """Return the division of a matrix of a given shape into tiles.

    >>> tile_grid(1000, 1000, "float32", symmetric=True).spans
    [(0, 512), (512, 1000)]
    """
    if str(dtype) not in ("float64", "float32") and dtype not in (np.float64, np.float32):
        raise ParameterError(f"invalid dtype {dtype!r} for a Gram matrix", remedy="choose float64 or float32")
    return TileGrid(rows, cols, np.dtype(dtype), symmetric)


def pieces(values: Array) -> Iterator[memoryview]:
    """Yield the bytes of an array in pieces small enough to stay in the cache while they are digested and written."""
    view = values.data.cast("B") if values.size else memoryview(b"")
    for start in range(0, len(view), PIECE_BYTES):
        yield view[start : start + PIECE_BYTES]


def write_header(file: IO[bytes], shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Write the header of a C-ordered ``.npy``."""
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)


# The folder of a matrix's tiles, beside those of other matrices for the same path: its users and its clean-up.


class TileFolder:
    """A folder of the tiles of one matrix."""

    def __init__(self, matrix: Path, name: str) -> None:
        self.matrix = matrix
        self.root = tiles_root(matrix)
        self.path = self.root / name
        self._use = FolderLock(self.path)

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Mark the folder as used, so that no other process removes it."""
        with writing(self.matrix):
            self._use.acquire(shared=True)
        try:
            yield
        finally:
            self._use.release()
            with contextlib.suppress(OSError):
                self.root.rmdir()

    def clear_stale_files(self) -> None:
        """Remove incomplete files of killed runs, and unused tiles of other matrices for this path."""
        self._clear_others()
        if self._use.is_exclusive():
            for file in (*self.path.glob(".*.tmp"), *self.path.glob("matrix-*.npy")):
                file.unlink(missing_ok=True)
        with writing(self.matrix):
            self._use.share()

    def clear(self) -> None:
        """Remove all tiles except those in use by other processes."""
        if not self.root.exists():
            return
        self._clear_others()
        with contextlib.suppress(OSError):  # a folder that cannot be written
            if self.path.exists():
                self._use.share()
                if self._use.is_exclusive() is not False:
                    self._use.remove()
                self._use.release()
            whole = FolderLock(self.root)  # a run that was killed while it replaced the matrix has left its lock there
            if whole.try_exclusive():
                whole.release()
            elif not whole.folder.joinpath(LOCK).exists():
                self.root.rmdir()

    def _clear_others(self) -> None:
        """Remove the unused tiles of other matrices."""
        with contextlib.suppress(OSError):
            for other in self.root.iterdir():
                lock = FolderLock(other)
                if other != self.path and other.is_dir() and lock.try_exclusive():
                    lock.remove()
                    lock.release()


# Assembly of the tiles of a Gram matrix into one file, with buffers of bounded size.

ASSEMBLY_BYTES = 2 * TILE_BYTES
MOST_THREADS = 4
"""Maximum number of threads: more would wait for the disk, and each needs memory."""
Buffers: TypeAlias = "SimpleQueue[npt.NDArray[np.floating[Any]]]"


def buffer_bytes(grid: TileGrid, allowed: int | None = None) -> int:
    """Return the number of bytes of rows to write at a time."""
    return ASSEMBLY_BYTES if allowed is None else min(ASSEMBLY_BYTES, max(0, allowed - grid.tile_bytes))


def join_tiles(
    grid: TileGrid,
    folder: Path,
    path: Path,
    progress: Callable[[int, int], object] | None = None,
    buffer: int = ASSEMBLY_BYTES,
    n_threads: int = 1,
) -> list[str]:
    """Write the matrix to `path` from the tiles in `folder`, and return the digests of its row blocks."""
    per_group = max(1, buffer // max(grid.dtype.itemsize * grid.cols * grid.height, 1))
    # Allocating memory for each group would cost more than copying.
    rows = np.empty(min(grid.rows, per_group * grid.height) * grid.cols, dtype=grid.dtype)
    threads = min(n_threads, MOST_THREADS)
    mirrored: Buffers = SimpleQueue()
    for _ in range(threads):
        mirrored.put(np.empty(grid.height * min(grid.rows, per_group * grid.height), dtype=grid.dtype))
    digests = RowDigests(grid.cols * grid.dtype.itemsize)
    with atomic_write(path) as file:
        write_header(file, (grid.rows, grid.cols), grid.dtype)
        for first in range(0, len(grid), per_group):
            group = _group(grid, folder, first, min(first + per_group, len(grid)), rows, mirrored, threads)
            for piece in pieces(group):
                digests.add(piece)
                file.write(piece)
            if progress is not None:
                last = grid.spans[min(first + per_group, len(grid)) - 1][1]
                progress(last * grid.cols, grid.rows * grid.cols)
    return digests.finish()


def _group(
    grid: TileGrid,
    folder: Path,
    first: int,
    last: int,
    rows: npt.NDArray[np.floating[Any]],
    mirrored: Buffers,
    threads: int,
) -> npt.NDArray[np.floating[Any]]:
    """Return all columns of the rows of tiles `first` to `last`; `rows` and `mirrored` are work space."""
    top, bottom = grid.spans[first][0], grid.spans[last - 1][1]
    out = _cut(rows, (bottom - top, grid.cols))

    def own(index: int) -> None:
        start, stop = grid.spans[index]
        left = grid.first_column(index)
        _read(grid, folder, index, left, out[start - top : stop - top, left:])

    def turned(index: int) -> None:
        start, stop = grid.spans[index]
        below = max(stop, top)
        room = mirrored.get()
        try:
            above = _cut(room, (stop - start, bottom - below))
            _read(grid, folder, index, below, above)
            _blocks.turn(above, out[below - top :, start:stop])
        finally:
            mirrored.put(room)  # others wait for it

    tasks = [partial(own, index) for index in range(first, last)]
    tasks += [partial(turned, index) for index in range(last if grid.symmetric else 0)]
    in_threads(tasks, threads)
    return out


def _read(grid: TileGrid, folder: Path, index: int, column: int, out: npt.NDArray[np.floating[Any]]) -> None:
    """Read columns of tile `index` from `column` on, as many as fit into `out`; a whole tile is verified.

    The file is read, not mapped: mapped pages would count as used memory, and each costs a page fault.
    """
    path, (rows, width) = folder / grid.file_name(index), grid.shape(index)
    digest = xxhash.xxh3_128() if out.shape == (rows, width) else None
    try:
        with reading(path, "check the disk, and repeat the command"), open(path, "rb", buffering=0) as file:
            # after the header
            start = file.seek(0, os.SEEK_END) - DIGEST_BYTES - rows * width * grid.dtype.itemsize
            if start < 0:
                raise _damaged(path)
            for i in range(rows):
                file.seek(start + (i * width + column - grid.first_column(index)) * grid.dtype.itemsize)
                if file.readinto(out[i]) != out[i].nbytes:
                    raise _damaged(path)
                if digest is not None:
                    digest.update(out[i])
            if digest is not None and file.read(DIGEST_BYTES) != digest.digest():
                raise _damaged(path)
    except FileError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise FileError("has been removed by another process", file=path, remedy="repeat the command") from error
        raise


def _damaged(path: Path) -> FileError:
    """Remove a damaged tile, and return the error for it."""
    path.unlink(missing_ok=True)
    return FileError("is damaged, and has been removed", file=path, remedy="repeat the command to compute it again")


def _cut(buffer: npt.NDArray[np.floating[Any]], shape: tuple[int, int]) -> npt.NDArray[np.floating[Any]]:
    """Return the start of a flat array as a view of the given shape."""
    return buffer[: shape[0] * shape[1]].reshape(shape)


# Reuse of a finished matrix for a larger one: added records cost only their own rows.
#
# Records are recognised by id and content: the side file has the `record_digests` of the rows, and of the columns of a
# rectangle. The two matrices may share any records, in any order. A matrix without these digests is recognised only
# as a whole, by the digest of its data, if its records come first.

DIGEST_LETTERS = 16
GAP = 64
"""Number of known records between new ones up to which they are computed anew: one range of columns is cheaper."""

SAME = {
    "identity": ("another kernel", "give the kernel of that matrix"),
    "dtype": ("another data type", "give the --dtype of that matrix"),
    "symmetric": ("another shape", "give --against for both matrices, or for neither"),
    "build": ("another build of seqkern", "compute the matrix without --extend"),
}
"""Properties that two matrices must share, with the name and the remedy of a difference."""


class Range(NamedTuple):
    """The records `start` to `stop` − 1."""

    start: int
    stop: int


@dataclass(frozen=True)
class Extension:
    """A finished matrix, and the places of its rows and columns in a new one."""

    # shape (rows, columns): The finished matrix, C-ordered. It is read from its file, since mapped pages would count as
    # used memory
    values: Any
    # shape (n,): For each row and column of the new matrix, that of the finished one; −1 if it is new
    rows: Ints
    # shape (n,): For each row and column of the new matrix, that of the finished one; −1 if it is new
    cols: Ints
    path: PathLike | None = None  # The finished matrix as the user names it, for messages

    def copy(self, start: int, left: int, out: npt.NDArray[np.floating[Any]]) -> None:
        """Copy the known entries of a tile to `out`, and leave the new ones unchanged."""
        new = np.flatnonzero(self.cols[left:] >= 0)
        if not len(new):
            return
        old = self.cols[left:][new]
        first, last = int(old.min()), int(old.max()) + 1
        span = np.empty(last - first, dtype=out.dtype)
        here, there = _as_slice(new), _as_slice(old - first)
        with reading(self.path, "compute it again, or leave --extend out"), open_mapped(self.values) as file:
            for i, row in enumerate(self.rows[start : start + len(out)].tolist()):
                if row < 0:
                    continue
                file.seek(self.values.offset + (row * self.values.shape[1] + first) * out.itemsize)
                if file.readinto(span.data) != span.nbytes:  # type: ignore[attr-defined]
                    raise OSError(errno.EIO, f"{self.values.filename} is truncated")
                out[i, here] = span[there]

    def new_rows(self, start: int, stop: int) -> list[Range]:
        """Return the new rows among the rows `start` to `stop` − 1, as ranges."""
        return _new(self.rows, start, stop)

    def new_cols(self, left: int) -> list[Range]:
        """Return the new columns from `left` on, as ranges; nearby ones are joined."""
        return _new(self.cols, left, len(self.cols))


def open_extension(path: PathLike, identity: dict[str, Any], X: Data, Y: Data | None) -> Extension:
    """Open a finished matrix to extend it; raise GramError if it is of no use for the new one."""
    gram = open_gram(path)
    for key, (problem, remedy) in SAME.items():
        if gram.meta.get(key) != identity[key]:
            raise GramError(f"cannot be extended: it is of {problem}", file=npy_path(path), remedy=remedy)
    rows = _places(gram, "row", X)
    cols = rows if Y is None else _places(gram, "col", Y)
    if not ((rows >= 0).any() and (cols >= 0).any()):
        raise GramError(
            "cannot be extended: it has no record of the new matrix",
            file=npy_path(path),
            remedy="give the sequences of that matrix and the new ones, or leave --extend out",
        )
    return Extension(gram.values, rows, cols, path)


def record_digests(X: Data) -> str | None:
    """Return hexadecimal digests of id and content of each record, `DIGEST_LETTERS` each, in one string."""
    if isinstance(X, SequenceSet):
        return "".join(_sequence_digests(X))
    if isinstance(X, FeatureTable):
        header = repr(X.columns).encode()
        rows = zip(X.ids, np.ascontiguousarray(X.values), strict=True)
        return "".join(_digest(header, name.encode(), row.tobytes()) for name, row in rows)
    return None


def _sequence_digests(X: SequenceSet) -> Iterator[str]:
    """Yield the digest of each sequence, including its tracks and views."""
    tracks, views = sorted(X.tracks), sorted(X.views)
    header = repr((X.alphabet.letters, tracks, [name + X.views[name].letters for name in views])).encode()
    arrays = [X.codes, *(X.tracks[name] for name in tracks)]
    vectors = [X.views[name].rows() for name in views]
    for i, (name, start, stop) in enumerate(zip(X.ids, X.starts.tolist(), X.stops.tolist(), strict=True)):
        parts = [array[start:stop].tobytes() for array in arrays]
        yield _digest(header, name.encode(), *parts, *(vector[i].tobytes() for vector in vectors))


def _digest(*parts: bytes) -> str:
    """Return the digest of some parts, including their lengths."""
    lengths = repr([len(part) for part in parts]).encode()
    return hashlib.blake2b(lengths + b"".join(parts), digest_size=DIGEST_LETTERS // 2).hexdigest()


def _places(gram: GramMatrix, axis: str, X: Data) -> Ints:
    """Return the place of each record of `X` on an axis ("row" or "col") of a finished matrix, −1 if absent."""
    places = np.full(len(X), -1, dtype=np.int64)
    digests, wanted = gram.meta.get(f"{axis}_records"), record_digests(X)
    if digests is not None and wanted is not None:
        place = {digest: i for i, digest in enumerate(_split(digests))}
        places[:] = [place.get(digest, -1) for digest in _split(wanted)]
        return places
    n = gram.shape[0] if axis == "row" else gram.shape[1]
    if n <= len(X) and X.take(np.arange(n)).digest() == gram.meta[f"{axis}_digest"]:
        places[:n] = np.arange(n)
    return places


def _split(digests: str) -> list[str]:
    """Return the list of the digests of single records."""
    return [digests[i : i + DIGEST_LETTERS] for i in range(0, len(digests), DIGEST_LETTERS)]


def _as_slice(places: Ints) -> slice | Ints:
    """Return places as a slice if they are consecutive."""
    first, last = int(places[0]), int(places[-1]) + 1
    return slice(first, last) if np.array_equal(places, np.arange(first, last)) else places


def _new(places: Ints, start: int, stop: int) -> list[Range]:
    """Return the new records from `start` to `stop` − 1 as ranges, joined across fewer than `GAP` known ones."""
    new = np.flatnonzero(places[start:stop] < 0) + start
    edges = itertools.pairwise([0, *(np.flatnonzero(np.diff(new) > GAP) + 1).tolist(), len(new)])
    return [Range(int(new[a]), int(new[b - 1]) + 1) for a, b in edges if a < b]


# The entries of the tiles of a Gram matrix: computed by the kernel, or copied from a finished matrix.

Progress: TypeAlias = Callable[[int, int], object]
"""A function called with (entries done, all entries)."""


class TileValues:
    """The entries of a matrix's tiles, with the data prepared by the kernel."""

    def __init__(
        self,
        kernel: Kernel,
        X: Data,
        Y: Data | None,
        grid: TileGrid,
        n_threads: int | None,
        progress: Progress | None = None,
    ) -> None:
        self.kernel = kernel
        self.grid = grid
        self.n_threads = n_threads
        self.progress = progress
        with given_threads(n_threads):
            self.cols = kernel.prepare(X if Y is None else Y)
            self.rows = self.cols if Y is None else kernel.prepare(X, like=self.cols)
        self._done = self._total = 0
        self._lock = threading.Lock()

    def expect(self, entries: int) -> None:
        """Set the total number of entries that will be written, for the progress display."""
        self._total = entries

    def write(self, index: int, out: npt.NDArray[np.floating[Any]], known: Extension | None = None) -> None:
        """Write the entries of a tile to `out`, copying those that a finished matrix already has."""
        if known is not None and self._extend(known, index, out):
            return
        start, stop = self.grid.spans[index]
        left = self.grid.first_column(index)
        # In the progress a row counts with all its columns, even if half of a square is mirrored.
        width = len(self.cols) - left
        fill(
            self.kernel,
            self.rows.rows(start, stop),
            self.cols.rows(left, len(self.cols)),
            out,
            leading=self.grid.symmetric,
            n_threads=self.n_threads,
            progress=None if self.progress is None else lambda done: self._count(done * width),
        )

    def write_all(self, out: npt.NDArray[np.floating[Any]]) -> None:
        """Write the whole matrix to `out` at once."""
        self.expect(out.size)
        progress = None if self.progress is None else lambda done: self._count(done * len(self.cols))
        fill(self.kernel, self.rows, self.cols, out, n_threads=self.n_threads, progress=progress)

    def _extend(self, known: Extension, index: int, out: npt.NDArray[np.floating[Any]]) -> bool:
        """Write the entries of tile `index` to `out`, copying known ones; return False if all of its rows are new."""
        start, stop = self.grid.spans[index]
        left = self.grid.first_column(index)
        new_rows = known.new_rows(start, stop)
        if new_rows == [Range(start, stop)]:
            return False
        rows, cols = self.rows, self.cols
        known.copy(start, left, out)
        for first, last in known.new_cols(left):
            part, target = cols.rows(first, last), out[:, first - left : last - left]
            fill(self.kernel, rows.rows(start, stop), part, target, n_threads=self.n_threads)
        for first, last in new_rows:
            part, target = cols.rows(left, len(cols)), out[first - start : last - start]
            fill(self.kernel, rows.rows(first, last), part, target, n_threads=self.n_threads)
        self._count(self.grid.entries(index))
        return True

    def _count(self, entries: int) -> None:
        """Report `entries` more entries as done; called from several threads."""
        if self.progress is not None:
            with self._lock:
                self._done += entries
                self.progress(self._done, self._total)
