"""The computation of one Gram matrix: its identity, its tiles, and the work on them.

Until the matrix is complete, its tiles are in ``gram.npy.tiles/<digest>/``. The digest covers kernel, data, dtype
and build, so that tiles of anything else are never used. ``manifest.json`` beside them is the future
side file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
import time
import uuid
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import canonical_json, check_writable
from seqkern.core.build import build_digest
from seqkern.core.checkpoint import note_kept
from seqkern.core.errors import FileError, GramError
from seqkern.core.file_kinds import GRAM
from seqkern.core.meanwhile import sign, tell_replaced
from seqkern.core.threads import available_threads
from seqkern.core.types import PathLike
from seqkern.gram.assembly import assemble, buffer_bytes
from seqkern.gram.digests import content_digest, data_digests
from seqkern.gram.extension import Extension, open_extension, record_digests
from seqkern.gram.limits import allowed_memory, check_disk, check_matrix_fits, check_tile_fits
from seqkern.gram.matrix import GramMatrix
from seqkern.gram.opening import open_gram, open_unverified
from seqkern.gram.paths import npy_path, side_path, spectrum_path
from seqkern.gram.replacing import replacing
from seqkern.gram.side_file import write_meta
from seqkern.gram.tile_costs import TileCosts
from seqkern.gram.tile_folder import TileFolder
from seqkern.gram.tile_values import Progress, TileValues
from seqkern.gram.tiles import tile_grid
from seqkern.kernels import _blocks
from seqkern.kernels.blocks import BLOCK_BYTES
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel


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
        self._buffer = buffer_bytes(self.grid)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything that the numbers depend on."""
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
        """Where the tiles are, of a matrix on disk."""
        text = canonical_json([self.identity, self.grid.spans])
        return TileFolder(self._file, hashlib.blake2b(text.encode(), digest_size=8).hexdigest())

    @property
    def folder(self) -> Path:
        """Folder of the tiles."""
        return self.tiles.path

    @cached_property
    def costs(self) -> TileCosts:
        """What the tiles have cost, here and elsewhere."""
        return TileCosts(self.folder, self._cpu_start)

    @property
    def _file(self) -> Path:
        """Path of a matrix on disk."""
        return cast(Path, self.path)

    @cached_property
    def values(self) -> TileValues:
        """The entries of tiles; the data are prepared here."""
        return TileValues(self.kernel, self.X, self.Y, self.grid, self.n_threads, self.progress)

    @cached_property
    def extension(self) -> Extension | None:
        """The finished matrix from which entries are copied, if one was given."""
        return None if self.extend is None else open_extension(self.extend, self.identity, self.X, self.Y)

    # ---- before the work ---------------------------------------------------------------------------------

    def check_memory(self, limit: int | str | None, share: float = 1.0) -> None:
        """Check that the matrix (in memory) or one tile (on disk) fits, and that the work is feasible.

        Parameters
        ----------
        limit : int, str or None
            Bytes, or text such as ``"2GB"``; None is half of the available memory.
        share : float
            Of the entries: those to be computed now.

        Raises
        ------
        GramError
            If it does not fit.
        ParameterError
            As for `seqkern.kernels.kernel.Plan.check`.
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
        """Return the share of the entries that is missing among some tiles.

        Parameters
        ----------
        wanted : iterable of int, optional
            As for `missing`.

        Returns
        -------
        float
        """
        whole = sum(map(self.grid.entries, range(len(self.grid))))
        return sum(map(self.grid.entries, self.missing(wanted))) / max(1, whole)

    def check_place(self) -> None:
        """Raise FileError if the matrix or its side file cannot be written at their paths."""
        check_writable(self._file)
        check_writable(side_path(self._file))

    def check_disk(self) -> None:
        """Raise GramError if the disk has not enough space for the missing tiles and the matrix."""
        entries = sum(self.grid.entries(index) for index in self.missing())
        self.check_place()
        check_disk(entries * self.grid.dtype.itemsize + self.grid.matrix_bytes, self._file)

    # ---- the work ----------------------------------------------------------------------------------------

    def finished(self, *, verify: bool = True) -> GramMatrix | None:
        """Return the matrix if it already exists at its path, complete and undamaged; say if it is damaged.

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
        except GramError as error:
            if verify and side_path(self._file).exists():  # else it is unfinished
                print(f"seqkern: {error.file}: {error.problem}; it is computed again", file=sys.stderr, flush=True)
            return None
        except FileError:
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
        """Return the GramMatrix, computed in place, with the same bits as one on disk."""
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
        """Create the matrix and its side file from the tiles, and open it; the tiles are removed."""
        meta = self.stored_meta()
        self.__dict__.pop("values", None)  # its memory is needed now
        whole = self.folder / f"matrix-{uuid.uuid4().hex}.npy"  # incomplete ones are removed by clear_litter
        try:
            threads = available_threads(self.n_threads or self.kernel.n_threads)
            meta["value_digests"] = assemble(self.grid, self.folder, whole, self.progress, self._buffer, threads)
            meta["digest"] = content_digest(meta)
            with replacing(self._file):
                tell_replaced(self._file, sign(self._file))
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
        """Return the content of the side file written with the first tile; else create it."""
        try:
            return json.loads(self._manifest.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return self.meta()

    @property
    def _manifest(self) -> Path:
        """Path of the future side file."""
        return self.folder / "manifest.json"

    def _fill(self, index: int, out: npt.NDArray[np.floating[Any]]) -> None:
        """Write the entries of tile `index` to `out`."""
        self.values.write(index, out, self.extension)
