"""Compute a Gram matrix: at once, tile by tile, in memory or on disk."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.core.checkpoint import note_reused
from seqkern.core.errors import GramError
from seqkern.core.types import PathLike
from seqkern.gram.job import GramJob
from seqkern.gram.matrix import GramMatrix
from seqkern.gram.tile_values import Progress
from seqkern.gram.tiles import tile_grid

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel


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
        and the files have the same bytes as those of an undisturbed run. A finished matrix of the same kernel,
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
        `seqkern.core.cost.Clock`.
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
        note_reused()
        job.tiles.clear()
        return gram
    job.check_memory(memory_limit, job.share())
    job.check_place()
    with job.tiles.in_use():
        job.tiles.clear_litter()
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
