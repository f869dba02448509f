"""The computation of one Gram matrix: its identity, memory, tiles, and the work on them.

Until the matrix is complete, its tiles are in ``gram.npy.tiles/<digest>/``. The digest covers kernel, data, dtype
and build, so that tiles of anything else are never used. ``manifest.json`` beside them is the future
side file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from seqkern import __version__
from seqkern.core.archive import atomic_write, canonical_json, check_writable
from seqkern.core.build import build_digest
from seqkern.core.checkpoint import note_kept
from seqkern.core.errors import FileError, GramError, ParameterError, TooLargeError
from seqkern.core.locks import FolderLock
from seqkern.core.memory import (
    available_memory,
    default_limit_words,
    format_bytes,
    more_memory,
    parse_bytes,
)
from seqkern.core.memory_limits import free_addresses
from seqkern.core.threads import available_threads, given_threads
from seqkern.core.types import PathLike
from seqkern.gram.digests import content_digest
from seqkern.gram.extension import Extension, Range, open_extension, record_digests
from seqkern.gram.matrix import (
    FORMAT,
    GramMatrix,
    data_digests,
    npy_path,
    open_gram,
    open_unverified,
    side_path,
    spectrum_path,
    tiles_root,
)
from seqkern.gram.replacing import replacing, writing
from seqkern.gram.tile_costs import TileCosts
from seqkern.gram.tiles import ASSEMBLY_BYTES, TileGrid
from seqkern.kernels import _blocks
from seqkern.kernels.blocks import BLOCK_BYTES, fill
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel
    from seqkern.kernels.prepared import Prepared

Progress: TypeAlias = Callable[[int, int], object]
"""Called with (entries done, all entries)."""

THREAD_ADDRESSES = 256 << 20
"""What stacks and heaps of threads reserve of the addresses, beside the matrix; hardly any of it is used."""


class GramJob:
    """The computation of one matrix.

    Parameters
    ----------
    kernel, X, Y, path, dtype, n_threads, progress, extend
        As for `seqkern.gram.compute_gram`.
    cpu_start : float, optional
        As for `seqkern.gram.compute_tile`.

    Attributes
    ----------
    grid : TileGrid
        Division of the matrix into tiles.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from seqkern.kernels import SpectrumKernel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     job = GramJob(SpectrumKernel(k=1), ["ACGT"] * 600, None, Path(folder) / "gram.npy", "float64", 1, None)
    ...     job.compute([0])
    ...     print(len(job.grid), job.missing())
    2 [1]
    """

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
        kernel.check_fitted()
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
        self._done = self._total = 0
        self._buffer = ASSEMBLY_BYTES
        self._lock = threading.Lock()

    @cached_property
    def _use(self) -> FolderLock:
        """The use of the folder of the tiles by this process."""
        return FolderLock(self.folder)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything that the numbers and files depend on."""
        identity = self.kernel.identity()
        row_digest, col_digest = data_digests(self.X, self.Y)
        return {
            "format": FORMAT,
            "kernel": json.loads(identity)[0],
            "identity": identity,
            "rows": self.grid.rows,
            "cols": self.grid.cols,
            "dtype": self.grid.dtype.name,
            "symmetric": self.grid.symmetric,
            "row_digest": row_digest,
            "col_digest": col_digest,
            "seqkern": __version__,
            "build": build_digest(),
        }

    @cached_property
    def folder(self) -> Path:
        """Folder of the tiles."""
        text = canonical_json([self.identity, self.grid.spans])
        return tiles_root(self._file) / hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    @cached_property
    def costs(self) -> TileCosts:
        """What the tiles have cost, here and elsewhere."""
        return TileCosts(self.folder, self._cpu_start)

    @property
    def _file(self) -> Path:
        """Path of a matrix on disk."""
        return cast(Path, self.path)

    @cached_property
    def prepared(self) -> tuple[Prepared, Prepared]:
        """The rows and columns, prepared by the kernel; the same object for a symmetric matrix."""
        with given_threads(self.n_threads):
            cols = self.kernel.prepare(self.X if self.Y is None else self.Y)
            return (cols if self.Y is None else self.kernel.prepare(self.X, like=cols)), cols

    @cached_property
    def extension(self) -> Extension | None:
        """The finished matrix from which entries are copied, if one was given."""
        return None if self.extend is None else open_extension(self.extend, self.identity, self.X, self.Y)

    # ---- before the work ---------------------------------------------------------------------------------

    def check_memory(self, limit: int | str | None) -> None:
        """Check that the matrix (in memory) or one tile (on disk) fits.

        Parameters
        ----------
        limit : int, str or None
            Bytes, or text such as ``"2GB"``; None is half of the available memory.

        Raises
        ------
        GramError
            If it does not fit.
        ParameterError
            As for `seqkern.kernels.kernel.Plan.check`.
        """
        allowed = available_memory() // 2 if limit is None else parse_bytes(limit)
        work = self.kernel.plan(self.X, self.Y).check().bytes
        if self.grid.dtype == np.float32:
            work += BLOCK_BYTES * available_threads(self.n_threads or self.kernel.n_threads)
        shape = f"{self.grid.rows} × {self.grid.cols} {self.grid.dtype}"
        if self.path is None:
            need = self.grid.matrix_bytes + work
            more = more_memory(limit)
            if need > allowed:
                raise TooLargeError(
                    f"a matrix of {shape} needs {format_bytes(need)} of memory, but the limit is "
                    f"{format_bytes(allowed)}{default_limit_words(limit)}",
                    remedy=f"{more}, write it to a file (path), or train without a matrix: solver linear_svc or "
                    "primal_svc with a kernel such as gapped_kmer, spectrum or mismatch",
                    more=more,
                )
            return
        need = max(self.grid.tile_bytes + work, self.grid.assembly_bytes)
        self._buffer = min(ASSEMBLY_BYTES, max(0, allowed - self.grid.tile_bytes))
        if need > allowed:
            enough = limit is not None and need <= available_memory()
            raise GramError(
                f"one tile of a matrix of {shape} needs {format_bytes(need)} of memory, but the limit is "
                f"{format_bytes(allowed)}{default_limit_words(limit)}",
                file=self.path,
                remedy=f"set the limit (--memory, memory_limit in a study) to {format_bytes(need)} or more"
                if enough
                else more_memory(),
            )
        self._check_addresses()

    def _check_addresses(self) -> None:
        """Raise GramError unless the finished file can be mapped: ``ulimit -v`` counts mapped files like memory."""
        need, free = self.grid.matrix_bytes + THREAD_ADDRESSES, free_addresses()
        if free is not None and need > free:
            raise GramError(
                f"mapping a matrix of {format_bytes(self.grid.matrix_bytes)} takes {format_bytes(need)} of memory "
                f"addresses, but {format_bytes(free)} are left by ulimit -v",
                file=self.path,
                remedy="raise the limit of the shell (ulimit -v)",
            )

    def check_place(self) -> None:
        """Raise FileError if the matrix or its side file cannot be written at their paths."""
        check_writable(self._file)
        check_writable(side_path(self._file))

    def check_disk(self) -> None:
        """Raise GramError if the disk has not enough space for the missing tiles and the matrix."""
        entries = sum(self.grid.entries(index) for index in self.missing())
        need = entries * self.grid.dtype.itemsize + self.grid.matrix_bytes
        self.check_place()
        free = shutil.disk_usage(next(folder for folder in self._file.absolute().parents if folder.exists())).free
        if need > free:
            raise GramError(
                f"the matrix and its tiles need {format_bytes(need)}, but the disk has {format_bytes(free)} left",
                file=self.path,
                remedy="free disk space or choose another path",
            )

    # ---- other processes ---------------------------------------------------------------------------------

    @contextlib.contextmanager
    def using_tiles(self) -> Iterator[None]:
        """Hold the folder of the tiles, so that no other process takes it for litter."""
        with writing(self._file):
            self._use.acquire(shared=True)
        try:
            yield
        finally:
            self._use.release()
            with contextlib.suppress(OSError):
                tiles_root(self._file).rmdir()

    def clear_litter(self) -> None:
        """Remove incomplete files of killed runs, and tiles of other matrices for this path, that no process uses."""
        self._clear_others()
        if self._use.is_alone():
            for file in (*self.folder.glob(".*.tmp"), *self.folder.glob("matrix-*.npy")):
                file.unlink(missing_ok=True)
        with writing(self._file):
            self._use.share()

    def clear(self) -> None:
        """Remove all tiles but those that other processes use."""
        root = tiles_root(self._file)
        if not root.exists():
            return
        self._clear_others()
        with contextlib.suppress(OSError):  # a folder that cannot be written
            if self.folder.exists():
                self._use.share()
                if self._use.is_alone() is not False:
                    self._use.remove()
                self._use.release()
            root.rmdir()

    def _clear_others(self) -> None:
        """Remove the tiles of other matrices that no process uses."""
        with contextlib.suppress(OSError):
            for other in tiles_root(self._file).iterdir():
                lock = FolderLock(other)
                if other != self.folder and other.is_dir() and lock.try_alone():
                    lock.remove()
                    lock.release()

    # ---- the work ----------------------------------------------------------------------------------------

    def finished(self, *, verify: bool = True) -> GramMatrix | None:
        """Return the matrix if it already exists at its path, complete and undamaged.

        Parameters
        ----------
        verify : bool
            Whether to compare its values with their digests.

        Returns
        -------
        GramMatrix or None
        """
        try:
            gram = (open_gram if verify else open_unverified)(self._file)
        except (GramError, FileError):
            return None
        return gram if {key: gram.meta.get(key) for key in self.identity} == self.identity else None

    def missing(self, wanted: Iterable[int] | None = None) -> list[int]:
        """Return the tiles still to be computed.

        Parameters
        ----------
        wanted : iterable of int, optional
            Indices of the tiles to check; default: all.

        Returns
        -------
        list of int
        """
        wanted = range(len(self.grid)) if wanted is None else wanted
        return [index for index in wanted if not self.grid.is_done(self.folder, index)]

    def in_memory(self) -> GramMatrix:
        """Return the GramMatrix, computed tile by tile in place, with the same bits as one on disk."""
        values = np.empty((self.grid.rows, self.grid.cols), dtype=self.grid.dtype)
        self._total = sum(map(self.grid.entries, range(len(self.grid))))
        for index, (start, stop) in enumerate(self.grid.spans):
            self._fill(index, values[start:stop, self.grid.first_column(index) :])
        if self.grid.symmetric:
            with ThreadPoolExecutor(available_threads(self.n_threads or self.kernel.n_threads)) as pool:
                list(pool.map(lambda span: _blocks.mirror(values, *span), self.grid.spans))
        rows, cols = self.prepared
        return GramMatrix(values, rows.diagonal, cols.diagonal, self.meta())

    def compute(self, tiles: Sequence[int]) -> None:
        """Compute tiles and write each to its file.

        Parameters
        ----------
        tiles : list of int
            Their indices.

        Raises
        ------
        FileError
            If a tile cannot be written.
        """
        self._total = sum(map(self.grid.entries, tiles))
        # Allocating memory for each tile would cost more than copying it to disk.
        room = np.empty(max(map(self.grid.entries, tiles), default=0), dtype=self.grid.dtype)
        for index in tiles:
            tile = room[: self.grid.entries(index)].reshape(self.grid.shape(index))
            self._fill(index, tile)
            if not self._manifest.exists():
                self._write_json(self._manifest, self.stored_meta())
            self.grid.write(self.folder, index, tile)
            note_kept()
            self.costs.write()

    def assemble(self) -> GramMatrix:
        """Create the matrix and its side file from the tiles, and open it; the tiles are removed."""
        meta = self.stored_meta()
        self.__dict__.pop("prepared", None)  # its memory is needed now
        whole = self.folder / f"matrix-{uuid.uuid4().hex}.npy"  # incomplete ones are removed by clear_litter
        try:
            meta["value_digests"] = self.grid.assemble(self.folder, whole, self.progress, self._buffer)
            meta["digest"] = content_digest(meta)
            with replacing(self._file):
                side = side_path(self._file)
                for old in (side, spectrum_path(self._file)):
                    old.unlink(missing_ok=True)  # must not be mistaken for that of the new matrix
                whole.replace(self._file)
                self._write_json(side, meta)
                gram = open_unverified(self._file)
        finally:
            with contextlib.suppress(OSError):
                whole.unlink()
        self.clear()
        return gram

    def meta(self) -> dict[str, Any]:
        """Return the content of the side file."""
        rows, cols = self.prepared
        records: dict[str, Any] = {"row_diagonal": rows.diagonal.tolist(), "row_records": record_digests(self.X)}
        if self.Y is not None:
            records |= {"col_diagonal": cols.diagonal.tolist(), "col_records": record_digests(self.Y)}
        counts = dict(rows.counts)
        if not self.grid.symmetric:
            for what, count in cols.counts.items():
                counts[what] = counts.get(what, 0) + count
        return {**self.identity, **records, "counts": counts}

    def stored_meta(self) -> dict[str, Any]:
        """Return the content of the side file written with the first tile; else create it."""
        try:
            return json.loads(self._manifest.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return self.meta()

    @property
    def _manifest(self) -> Path:
        """Path of the future side file."""
        return self.folder / "manifest.json"

    @staticmethod
    def _write_json(path: Path, content: dict[str, Any]) -> None:
        """Write a JSON file."""
        with atomic_write(path, "w") as file:
            file.write(canonical_json(content) + "\n")

    def _fill(self, index: int, out: npt.NDArray[np.floating[Any]]) -> None:
        """Write the entries of tile `index` to `out`."""
        rows, cols = self.prepared
        start, stop = self.grid.spans[index]
        left = self.grid.first_column(index)
        if self.extension is not None and self._extend(self.extension, index, out):
            return
        # In the progress a row counts with all its columns, even if half of a square is mirrored.
        progress = None if self.progress is None else lambda done: self._count(done * (len(cols) - left))
        fill(
            self.kernel,
            rows.rows(start, stop),
            cols.rows(left, len(cols)),
            out,
            leading=self.grid.symmetric,
            n_threads=self.n_threads,
            progress=progress,
        )

    def _extend(self, known: Extension, index: int, out: npt.NDArray[np.floating[Any]]) -> bool:
        """Write the entries of tile `index` to `out`, the known ones copied; False if all of its rows are new."""
        start, stop = self.grid.spans[index]
        left = self.grid.first_column(index)
        new_rows = known.new_rows(start, stop)
        if new_rows == [Range(start, stop)]:
            return False
        rows, cols = self.prepared
        with _reading(self.extend):
            known.copy(start, left, out)
        for first, last in known.new_cols(left):
            part = cols.rows(first, last)
            fill(
                self.kernel, rows.rows(start, stop), part, out[:, first - left : last - left], n_threads=self.n_threads
            )
        for first, last in new_rows:
            part, target = cols.rows(left, len(cols)), out[first - start : last - start]
            fill(self.kernel, rows.rows(first, last), part, target, n_threads=self.n_threads)
        if self.progress is not None:
            self._count(self.grid.entries(index))
        return True

    def _count(self, entries: int) -> None:
        """Report `entries` more as done; called from several threads."""
        with self._lock:
            self._done += entries
            cast(Progress, self.progress)(self._done, self._total)


@contextlib.contextmanager
def _reading(path: PathLike | None) -> Iterator[None]:
    """Convert an OSError of the body to a FileError about `path`."""
    try:
        yield
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise FileError(problem, file=path, remedy="compute it again, or leave --extend out") from error


def tile_grid(rows: int, cols: int, dtype: npt.DTypeLike, symmetric: bool) -> TileGrid:
    """Return the division of a matrix into tiles.

    Parameters
    ----------
    rows, cols : int
        Shape of the matrix.
    dtype : {"float64", "float32"}
        Data type of its entries.
    symmetric : bool
        Whether only one half is computed.

    Returns
    -------
    TileGrid

    Raises
    ------
    ParameterError
        For another dtype.

    Examples
    --------
    >>> tile_grid(1000, 1000, "float32", symmetric=True).spans
    [(0, 512), (512, 1000)]
    """
    if str(dtype) not in ("float64", "float32") and dtype not in (np.float64, np.float32):
        raise ParameterError(f"invalid dtype {dtype!r} for a Gram matrix", remedy="choose float64 or float32")
    return TileGrid(rows, cols, np.dtype(dtype), symmetric)
