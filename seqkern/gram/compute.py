"""Compute a Gram matrix: in one go, tile by tile, in memory or on disk."""

import numpy as np

from seqkern.core.errors import GramError
from seqkern.gram.job import GramJob, tile_grid
from seqkern.gram.matrix import open_gram


def compute_gram(kernel, X, Y=None, *, path=None, memory_limit=None, dtype="float64", n_threads=None, progress=None):
    """Compute a kernel matrix, in memory or on disk.

    Parameters
    ----------
    kernel : Kernel
        Fitted, if it learns from data.
    X : SequenceSet, FeatureTable, SimilarityTable or list of str, n records
        The rows.
    Y : the same, m records, optional
        The columns; by default `X`, and the matrix is symmetric.
    path : path-like, optional
        A ``.npy`` to write. A killed run can be started again: it computes only the tiles that are missing,
        and the files have the same bytes as those of an undisturbed run. A finished matrix of this kernel,
        data and build is not computed again.
    memory_limit : int or str, optional
        Bytes, or text such as ``"2GB"``; by default half of the memory available.
    dtype : {"float64", "float32"}
    n_threads : int, optional
    progress : callable, optional
        Called with (entries done, all entries).

    Returns
    -------
    GramMatrix
        Memory-mapped if a path was given.

    Raises
    ------
    GramError
        Before any work, if the matrix, or on disk one tile of it, does not fit into the memory, or the tiles
        and the matrix do not fit on the disk.
    ParameterError
        If the kernel learns from data and is not fitted.
    FileError
        If a file cannot be written.
    SequenceError
        If the kernel cannot take the data.
    """
    job = GramJob(kernel, X, Y, path, dtype, n_threads, progress)
    if path is None:
        job.check_memory(memory_limit)
        return job.in_memory()
    if not job.is_finished():
        job.clear_litter()
        job.check_memory(memory_limit)
        job.check_disk()
        job.compute(job.missing())
        job.assemble()
    job.clear()
    return open_gram(path)


def compute_tile(kernel, X, Y, tile_index, *, path, memory_limit=None, dtype="float64", n_threads=None, progress=None):
    """Compute tiles of the matrix that `compute_gram` would write to `path`, unless they are there already.

    Several processes, on several machines with a common disk, can compute tiles of one matrix at the same
    time; `compute_gram` or `assemble` then makes the matrix.

    Parameters
    ----------
    kernel, X, Y, path, memory_limit, dtype, n_threads, progress
        As in `compute_gram`.
    tile_index : int or list of int
        Which of the `count_tiles` tiles, from 0; the data is prepared once for all of them.

    Raises
    ------
    GramError
        If there is no such tile, or it does not fit into the memory.
    """
    job = GramJob(kernel, X, Y, path, dtype, n_threads, progress)
    wanted = np.atleast_1d(tile_index).tolist()
    for index in wanted:
        if not 0 <= index < len(job.grid):
            raise GramError(f"there is no tile {index}", file=path, remedy=f"choose from 0 to {len(job.grid) - 1}")
    if job.is_finished():
        return
    job.check_memory(memory_limit)
    job.check_place()
    job.compute(job.missing(wanted))


def count_tiles(X, Y=None, dtype="float64"):
    """Return the number of tiles of the matrix of `X` against `Y`."""
    return len(tile_grid(len(X), len(X if Y is None else Y), dtype, Y is None))


def assemble(kernel, X, Y=None, *, path, dtype="float64", progress=None):
    """Make the matrix at `path` from the tiles that `compute_tile` made, remove them, and open the matrix.

    Raises
    ------
    GramError
        If tiles are missing.
    """
    job = GramJob(kernel, X, Y, path, dtype, None, progress)
    if not job.is_finished():
        missing = job.missing()
        if missing:
            raise GramError(
                f"{len(missing)} of {len(job.grid)} tiles are missing, the first is tile {missing[0]}",
                file=path,
                remedy="compute them first",
            )
        job.check_disk()
        job.assemble()
    job.clear()
    return open_gram(path)
