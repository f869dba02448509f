"""Computation of a Gram matrix: at once or tile by tile, in memory or on disk."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import sys
import time
import uuid
from collections.abc import Iterable, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import atomic_write, canonical_json, check_writable
from seqkern.core.checkpoint import note_kept
from seqkern.core.errors import FileError, GramError, TooLargeError
from seqkern.core.exclusive_files import log_replaced, sign
from seqkern.core.file_kinds import ANY, GRAM
from seqkern.core.memory import (
    available_memory,
    default_limit_text,
    format_bytes,
    free_addresses,
    more_memory,
    parse_bytes,
)
from seqkern.core.package_files import build_digest
from seqkern.core.progress import peak_mb
from seqkern.core.threads import available_threads
from seqkern.core.types import PathLike
from seqkern.gram.matrix import GramMatrix
from seqkern.gram.stored_matrix import (
    content_digest,
    data_digests,
    npy_path,
    open_gram,
    open_unverified,
    replacing,
    side_path,
    spectrum_path,
    write_meta,
)
from seqkern.gram.tiles import (
    Extension,
    Progress,
    TileFolder,
    TileGrid,
    TileValues,
    buffer_bytes,
    join_tiles,
    open_extension,
    record_digests,
    tile_grid,
)
from seqkern.kernels import _blocks
from seqkern.kernels.blocks import BLOCK_BYTES
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel


# Checks, before any work, that a Gram matrix fits into memory, into a process's address space, and on the disk.

THREAD_ADDRESSES = 256 << 20
"""Address space in bytes reserved for stacks and heaps of threads, beside the matrix; little of it is used."""


def allowed_memory(limit: int | str | None) -> int:
    """Return the number of bytes that a matrix, or the work on it, may use.

    >>> allowed_memory("2GB")
    2000000000
    """
    return available_memory() // 2 if limit is None else parse_bytes(limit)


def check_matrix_fits(grid: TileGrid, work: int, limit: int | str | None) -> None:
    """Raise TooLargeError unless a whole matrix, with `work` bytes beside it, fits into memory."""
    allowed, need, more = allowed_memory(limit), grid.matrix_bytes + work, more_memory(limit)
    if need > allowed:
        raise TooLargeError(
            f"a matrix of {_shape(grid)} needs {format_bytes(need)} of memory{_of_work(work, need)}, but the limit is "
            f"{format_bytes(allowed)}{default_limit_text(limit)}",
            remedy=f"{more}, or write it to a file (path)",
            more=more,
        )


def _of_work(work: int, need: int) -> str:
    """Return the share of the kernel's working memory as text, where it is most of the need."""
    return f" ({format_bytes(work)} of it to compute the kernel)" if 2 * work > need else ""


def check_tile_fits(grid: TileGrid, work: int, limit: int | str | None, path: Path) -> None:
    """Raise GramError unless one tile of a matrix on disk fits into memory.

    The finished file must also fit into the address space.
    """
    allowed, need = allowed_memory(limit), max(grid.tile_bytes + work, grid.assembly_bytes)
    if need > allowed:
        enough = limit is not None and need <= available_memory()
        raise GramError(
            f"one tile of a matrix of {_shape(grid)} needs {format_bytes(need)} of memory{_of_work(work, need)}, but "
            f"the limit is {format_bytes(allowed)}{default_limit_text(limit)}",
            file=path,
            remedy=f"set the limit (--memory, memory_limit in a study) to {format_bytes(need)} or more"
            if enough
            else more_memory(),
        )
    _check_addresses(grid, path)


def _check_addresses(grid: TileGrid, path: Path) -> None:
    """Raise GramError unless the finished file can be mapped: ``ulimit -v`` counts mapped files like memory."""
    need, free = grid.matrix_bytes + THREAD_ADDRESSES, free_addresses()
    if free is not None and need > free:
        raise GramError(
            f"mapping a matrix of {format_bytes(grid.matrix_bytes)} takes {format_bytes(need)} of memory "
            f"addresses, but {format_bytes(free)} are left by ulimit -v",
            file=path,
            remedy="raise the limit of the shell (ulimit -v)",
        )


def check_disk(need: int, path: Path) -> None:
    """Raise GramError unless the disk has space for `need` bytes: the missing tiles and the matrix."""
    free = shutil.disk_usage(next(folder for folder in path.absolute().parents if folder.exists())).free
    if need > free:
        raise GramError(
            f"the matrix and its tiles need {format_bytes(need)}, but the disk has {format_bytes(free)} left",
            file=path,
            remedy="free disk space or choose another path",
        )


def _shape(grid: TileGrid) -> str:
    """Return rows, columns and data type for a message."""
    return f"{grid.rows} × {grid.cols} {grid.dtype}"


# The cost of computing the tiles of a matrix: one file for each process, summed by the last process.
#
# The file is rewritten with every tile, so that for a killed job only the work after its last tile is not counted.


class TileCosts:
    """The cost of this process, and the costs recorded by other processes."""

    def __init__(self, folder: str | Path, cpu_start: float) -> None:
        self._folder, self._cpu_start = Path(folder), cpu_start
        self._own = self._folder / f"cost-{uuid.uuid4().hex}.json"

    def write(self) -> None:
        """Write the cost of this process so far to its file."""
        with atomic_write(self._own, "w") as file:
            json.dump({"cpu_seconds": time.process_time() - self._cpu_start, "peak_mb": peak_mb()}, file)

    def others(self) -> list[dict[str, Any]]:
        """Return one `Clock` lap with the CPU seconds of all other processes; none if there were no others."""
        others = [path for path in self._folder.glob("cost-*.json") if path != self._own]
        found = [cost for cost in map(_cost, others) if cost is not None]
        if not found:
            return []
        cpu_seconds = sum(one["cpu_seconds"] for one in found)
        return [{"stage": "tiles", "cpu_seconds": cpu_seconds, "peak_mb": max(one["peak_mb"] for one in found)}]


def _cost(path: Path) -> dict[str, float] | None:
    """Return the recorded cost of a process, or None for a damaged file, since costs must never make a matrix fail."""
    try:
        cost = ANY.load_json(path)
    except FileError:
        return None
    good = isinstance(cost, dict) and all(type(cost.get(key)) in (int, float) for key in ("cpu_seconds", "peak_mb"))
    return cost if good else None


# The computation of one Gram matrix: its identity, its tiles, and the work on them.
#
# Until the matrix is complete, its tiles are in ``gram.npy.tiles/<digest>/``. The digest covers kernel, data, dtype
# and build, so that tiles of anything else are never used. ``manifest.json`` in the same folder will become the side
# file.


class GramJob:
    """The computation of one matrix."""

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        Y: Any,
        path: PathLike | None,
        dtype: npt.DTypeLike,
        n_threads: int | None,
        progress: Progress | None,
        cpu_start: float | None = None,
        extend: PathLike | None = None,
    ) -> None:
        kernel._check_fitted()
        self.kernel = kernel
        if isinstance(X, list) and isinstance(Y, list):
            X, Y = kernel._coerce_pair(X, Y)
        self.X = kernel.coerce(X)
        self.Y = None if Y is None else kernel.coerce(Y)
        if isinstance(self.X, SequenceSet) and self.Y is not None and self.X.alphabet != self.Y.alphabet:
            raise GramError(
                f"the rows have the alphabet {self.X.alphabet.name}, but the columns have {self.Y.alphabet.name}",
                remedy="use one alphabet for both",
            )
        self.grid = tile_grid(len(self.X), len(self.X if self.Y is None else self.Y), dtype, self.Y is None)
        self.path = None if path is None else npy_path(path)
        self.n_threads = n_threads
        self.progress = progress
        self._cpu_start = time.process_time() if cpu_start is None else cpu_start
        self.extend = extend
        self._buffer = buffer_bytes(self.grid)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """The text that identifies everything that the values of the matrix depend on."""
        identity = self.kernel.identity()
        row_digest, col_digest = data_digests(self.X, self.Y)
        return {
            "kernel": json.loads(identity)[0],
            "identity": identity,
            "rows": self.grid.rows,
            "cols": self.grid.cols,
            "dtype": self.grid.dtype.name,
            "symmetric": self.grid.symmetric,
            "row_digest": row_digest,
            "col_digest": col_digest,
            "build": build_digest(),
        }

    @cached_property
    def tiles(self) -> TileFolder:
        """The folder manager of the tiles of a matrix on disk."""
        text = canonical_json([self.identity, self.grid.spans])
        return TileFolder(self._file, hashlib.blake2b(text.encode(), digest_size=8).hexdigest())

    @property
    def folder(self) -> Path:
        """The folder of the tiles."""
        return self.tiles.path

    @cached_property
    def costs(self) -> TileCosts:
        """The cost of the tiles, in this process and others."""
        return TileCosts(self.folder, self._cpu_start)

    @property
    def _file(self) -> Path:
        """The path of a matrix on disk."""
        return cast(Path, self.path)

    @cached_property
    def values(self) -> TileValues:
        """The source of the tiles' entries, which prepares the data."""
        return TileValues(self.kernel, self.X, self.Y, self.grid, self.n_threads, self.progress)

    @cached_property
    def extension(self) -> Extension | None:
        """The finished matrix to copy entries from, if one was given."""
        return None if self.extend is None else open_extension(self.extend, self.identity, self.X, self.Y)

    # ---- before the work ---------------------------------------------------------------------------------

    def check_memory(self, limit: int | str | None, share: float = 1.0) -> None:
        """Raise an error unless the work is feasible and its memory suffices: for the matrix, or for one tile on
        disk.
        """
        work = self.kernel.plan(self.X, self.Y).check(share).bytes
        if self.grid.dtype == np.float32:
            work += BLOCK_BYTES * available_threads(self.n_threads or self.kernel.n_threads)
        if self.path is None:
            check_matrix_fits(self.grid, work, limit)
            return
        check_tile_fits(self.grid, work, limit, self.path)
        self._buffer = buffer_bytes(self.grid, allowed_memory(limit))

    def share(self, wanted: Iterable[int] | None = None) -> float:
        """Return the share of all entries that still has to be computed in the wanted tiles."""
        whole = sum(map(self.grid.entries, range(len(self.grid))))
        return sum(map(self.grid.entries, self.missing(wanted))) / max(1, whole)

    def check_place(self) -> None:
        """Raise FileError if the matrix or its side file cannot be written at their paths."""
        check_writable(self._file)
        check_writable(side_path(self._file))

    def check_disk(self) -> None:
        """Raise GramError if the disk lacks space for the missing tiles and the matrix."""
        entries = sum(self.grid.entries(index) for index in self.missing())
        self.check_place()
        check_disk(entries * self.grid.dtype.itemsize + self.grid.matrix_bytes, self._file)

    # ---- the work ----------------------------------------------------------------------------------------

    def finished(self, *, verify: bool = True) -> GramMatrix | None:
        """Return the matrix if it already exists at its path, complete and undamaged; otherwise None.

        A damaged matrix is reported.
        """
        try:
            gram = (open_gram if verify else open_unverified)(self._file)
        except GramError as error:
            if verify and side_path(self._file).exists():  # else it is unfinished
                print(f"seqkern: {error.file}: {error.problem}; it is computed again", file=sys.stderr, flush=True)
            return None
        except FileError:
            return None
        return gram if {key: gram.meta.get(key) for key in self.identity} == self.identity else None

    def missing(self, wanted: Iterable[int] | None = None) -> list[int]:
        """Return the indices of the tiles still to be computed."""
        wanted = range(len(self.grid)) if wanted is None else wanted
        return [index for index in wanted if not self.grid.is_done(self.folder, index)]

    def in_memory(self) -> GramMatrix:
        """Return the GramMatrix, computed in memory with the same bits as one on disk."""
        values = np.empty((self.grid.rows, self.grid.cols), dtype=self.grid.dtype)
        if self.extension is None:
            self.values.write_all(values)
            return GramMatrix(values, self.values.rows.diagonal, self.values.cols.diagonal, self.meta())
        self.values.expect(sum(map(self.grid.entries, range(len(self.grid)))))
        for index, (start, stop) in enumerate(self.grid.spans):
            self._fill(index, values[start:stop, self.grid.first_column(index) :])
        if self.grid.symmetric:
            with ThreadPoolExecutor(available_threads(self.n_threads or self.kernel.n_threads)) as pool:
                list(pool.map(lambda span: _blocks.mirror(values, *span), self.grid.spans))
        return GramMatrix(values, self.values.rows.diagonal, self.values.cols.diagonal, self.meta())

    def compute(self, tiles: Sequence[int]) -> None:
        """Compute some tiles and write each to its file."""
        self.values.expect(sum(map(self.grid.entries, tiles)))
        # Allocating memory for each tile would cost more than copying it to disk.
        room = np.empty(max(map(self.grid.entries, tiles), default=0), dtype=self.grid.dtype)
        for index in tiles:
            tile = room[: self.grid.entries(index)].reshape(self.grid.shape(index))
            self._fill(index, tile)
            if not self._manifest.exists():
                write_meta(self._manifest, self.stored_meta())
            self.grid.write(self.folder, index, tile)
            note_kept()
            self.costs.write()

    def assemble(self) -> GramMatrix:
        """Create the matrix and its side file from the tiles, remove the tiles, and return the opened matrix."""
        meta = self.stored_meta()
        self.__dict__.pop("values", None)  # its memory is needed now
        whole = self.folder / f"matrix-{uuid.uuid4().hex}.npy"  # incomplete ones are removed by clear_litter
        try:
            threads = available_threads(self.n_threads or self.kernel.n_threads)
            meta["value_digests"] = join_tiles(self.grid, self.folder, whole, self.progress, self._buffer, threads)
            meta["digest"] = content_digest(meta)
            with replacing(self._file):
                log_replaced(self._file, sign(self._file))
                side = side_path(self._file)
                for old in (side, spectrum_path(self._file)):
                    old.unlink(missing_ok=True)  # must not be mistaken for that of the new matrix
                whole.replace(self._file)
                write_meta(side, meta)
                gram = open_unverified(self._file)
        finally:
            with contextlib.suppress(OSError):
                whole.unlink()
        self.tiles.clear()
        return gram

    def meta(self) -> dict[str, Any]:
        """Return the content of the side file."""
        rows, cols = self.values.rows, self.values.cols
        records: dict[str, Any] = {"row_diagonal": rows.diagonal.tolist(), "row_records": record_digests(self.X)}
        if self.Y is not None:
            records |= {"col_diagonal": cols.diagonal.tolist(), "col_records": record_digests(self.Y)}
        counts = dict(rows.counts)
        if not self.grid.symmetric:
            for what, count in cols.counts.items():
                counts[what] = counts.get(what, 0) + count
        return {**GRAM.stamp(), **self.identity, **records, "counts": counts}

    def stored_meta(self) -> dict[str, Any]:
        """Return the side-file content written with the first tile; create it if it is missing."""
        try:
            return json.loads(self._manifest.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return self.meta()

    @property
    def _manifest(self) -> Path:
        """The path of the future side file."""
        return self.folder / "manifest.json"

    def _fill(self, index: int, out: npt.NDArray[np.floating[Any]]) -> None:
        """Write the entries of tile `index` to `out`."""
        self.values.write(index, out, self.extension)


def compute_gram(
    kernel: Kernel,
    X: Any,
    Y: Any = None,
    *,
    path: PathLike | None = None,
    memory_limit: int | str | None = None,
    dtype: npt.DTypeLike = "float64",
    n_threads: int | None = None,
    progress: Progress | None = None,
    laps: list[dict[str, Any]] | None = None,
    extend: PathLike | None = None,
) -> GramMatrix:
    """Compute a kernel matrix, in memory or on disk.

    Parameters
    ----------
    kernel : Kernel
        Fitted, if it needs fitting.
    X : SequenceSet, FeatureTable, SimilarityTable or list of str, n records
        The rows.
    Y : the same, m records, optional
        The columns; default: `X`, for a symmetric matrix.
    path : path-like, optional
        A ``.npy`` to write. A killed run can be repeated: it computes only the missing tiles,
        and the files have the same bytes as after an undisturbed run. A finished matrix of the same kernel,
        data and build is not computed again.
    memory_limit : int or str, optional
        Bytes, or text such as ``"2GB"``; default: half of the available memory.
    dtype : {"float64", "float32"}
        Data type of the stored matrix.
    n_threads : int, optional
        Default: the kernel's own `n_threads`, or all cores. Never changes the result.
    progress : callable, optional
        Called with (entries done, all entries).
    laps : list of dict, optional
        Extended by what other processes have spent on tiles of a new matrix on disk, in the form of
        `seqkern.core.progress.Clock`.
    extend : path-like, optional
        The ``.npy`` of a finished matrix of this kernel. Entries between records that both matrices have, by id and
        content, are copied from it, and only the others are computed. The files get the same bytes as without it.

    Returns
    -------
    GramMatrix
        Memory-mapped if a path was given.

    Raises
    ------
    GramError
        Before any work, if the matrix, or on disk one tile of it, does not fit into memory, or the tiles
        and the matrix do not fit on the disk, or if the matrix to extend is of another kernel, build or data.
    ParameterError
        If the kernel needs fitting and is not fitted.
    FileError
        If a file cannot be written.
    SequenceError
        If the kernel rejects the data.

    Examples
    --------
    >>> from seqkern.gram import compute_gram
    >>> from seqkern.kernels import SpectrumKernel
    >>> gram = compute_gram(SpectrumKernel(k=2), ["GATTACA", "ATTAC", "CCGG"])
    >>> gram.values.round(2)
    array([[1.  , 0.82, 0.  ],
           [0.82, 1.  , 0.  ],
           [0.  , 0.  , 1.  ]])
    >>> gram.meta["kernel"]["kernel"], gram.shape
    ('spectrum', (3, 3))
    """
    job = GramJob(kernel, X, Y, path, dtype, n_threads, progress, extend=extend)
    if path is None:
        job.check_memory(memory_limit)
        return job.in_memory()
    gram = job.finished()
    if gram is not None:
        note_kept()
        job.tiles.clear()
        return gram
    job.check_memory(memory_limit, job.share())
    job.check_place()
    with job.tiles.in_use():
        job.tiles.clear_stale_files()
        job.check_disk()
        job.compute(job.missing())
        if laps is not None:
            laps += job.costs.others()
        return job.assemble()


def compute_tile(
    kernel: Kernel,
    X: Any,
    Y: Any,
    tile_index: int | Sequence[int],
    *,
    path: PathLike,
    memory_limit: int | str | None = None,
    dtype: npt.DTypeLike = "float64",
    n_threads: int | None = None,
    progress: Progress | None = None,
    cpu_start: float | None = None,
    extend: PathLike | None = None,
) -> None:
    """Compute tiles of the matrix that `compute_gram` would write to `path`, unless they exist.

    Several processes, on several computers with a shared disk, can compute tiles of one matrix at the same
    time; `compute_gram` or `assemble` then creates the matrix.

    Parameters
    ----------
    kernel : Kernel
        Fitted, if it needs fitting.
    X : SequenceSet, FeatureTable, SimilarityTable or list of str, n records
        The rows.
    Y : the same, m records, or None
        The columns; None: `X`.
    tile_index : int or list of int
        Indices among the `count_tiles` tiles, from 0; the data are prepared once for all of them.
    path : path-like
        The ``.npy`` of the matrix.
    memory_limit : int or str, optional
        Bytes, or text such as ``"2GB"``; default: half of the available memory.
    dtype : {"float64", "float32"}
        Data type of the stored matrix.
    n_threads : int, optional
        Default: the kernel's own `n_threads`, or all cores. Never changes the result.
    progress : callable, optional
        Called with (entries done, all entries).
    cpu_start : float, optional
        CPU seconds of this process before the job, for its cost, which `compute_gram` adds up; default: until now.
    extend : path-like, optional
        A finished matrix to copy from, as for `compute_gram`.

    Raises
    ------
    GramError
        If there is no such tile, or it does not fit into memory.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from seqkern.gram import assemble, compute_tile, count_tiles
    >>> from seqkern.kernels import SpectrumKernel
    >>> kernel, X = SpectrumKernel(k=1, normalize=False), ["GATTACA", "ATTAC", "CCGG"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "gram.npy"
    ...     for index in range(count_tiles(X)):
    ...         compute_tile(kernel, X, None, index, path=path)
    ...     print(assemble(kernel, X, path=path).values)
    [[15. 11.  4.]
     [11.  9.  2.]
     [ 4.  2.  8.]]
    """
    job = GramJob(kernel, X, Y, path, dtype, n_threads, progress, extend=extend, cpu_start=cpu_start)
    wanted = np.atleast_1d(tile_index).tolist()
    for index in wanted:
        if not 0 <= index < len(job.grid):
            raise GramError(f"no such tile: {index}", file=path, remedy=f"choose a tile from 0 to {len(job.grid) - 1}")
    if job.finished(verify=False) is not None:
        return
    job.check_memory(memory_limit, job.share(wanted))
    job.check_place()
    with job.tiles.in_use():
        job.compute(job.missing(wanted))
        job.costs.write()


def count_tiles(X: Sized, Y: Sized | None = None, dtype: npt.DTypeLike = "float64") -> int:
    """Return the number of tiles of the matrix of `X` against `Y`.

    Parameters
    ----------
    X : SequenceSet, FeatureTable, SimilarityTable or list of str, n records
        The rows.
    Y : the same, m records, optional
        The columns; default: `X`, for a symmetric matrix.
    dtype : {"float64", "float32"}
        Data type of the stored matrix.

    Returns
    -------
    int

    Examples
    --------
    A tile has at most 512 rows, and 64 MB:

    >>> from seqkern.gram import count_tiles
    >>> count_tiles(["ACGT"] * 1200), count_tiles(["ACGT"] * 1200, ["GATTACA"] * 50_000, dtype="float32")
    (3, 4)
    """
    return len(tile_grid(len(X), len(X if Y is None else Y), dtype, Y is None))


def assemble(
    kernel: Kernel,
    X: Any,
    Y: Any = None,
    *,
    path: PathLike,
    dtype: npt.DTypeLike = "float64",
    progress: Progress | None = None,
) -> GramMatrix:
    """Create the matrix at `path` from the tiles of `compute_tile`, remove these, and open the matrix.

    Parameters
    ----------
    kernel : Kernel
        The kernel of the tiles.
    X : SequenceSet, FeatureTable, SimilarityTable or list of str, n records
        The rows.
    Y : the same, m records, optional
        The columns; default: `X`, for a symmetric matrix.
    path : path-like
        The ``.npy`` to write.
    dtype : {"float64", "float32"}
        Data type of the tiles.
    progress : callable, optional
        Called with (entries written, all entries).

    Returns
    -------
    GramMatrix
        Memory-mapped.

    Raises
    ------
    GramError
        If tiles are missing, or there is not enough disk space.
    FileError
        If the matrix cannot be written.

    Examples
    --------
    >>> from seqkern.gram import assemble
    >>> from seqkern.kernels import SpectrumKernel
    >>> assemble(SpectrumKernel(k=1), ["GATTACA", "ATTAC"], path="gram.npy")
    Traceback (most recent call last):
    seqkern.core.errors.GramError: gram.npy: 1 of 1 tiles are missing, starting with tile 0; compute them first
    """
    job = GramJob(kernel, X, Y, path, dtype, None, progress)
    gram = job.finished()
    if gram is not None:
        job.tiles.clear()
        return gram
    missing = job.missing()
    if missing:
        raise GramError(
            f"{len(missing)} of {len(job.grid)} tiles are missing, starting with tile {missing[0]}",
            file=path,
            remedy="compute them first",
        )
    job.check_disk()
    with job.tiles.in_use():
        return job.assemble()
