"""Threads: their number, work shared among them, and BLAS on a single thread.

With several threads the order of BLAS's sums, and so the last bits, would depend on the number of threads.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from seqkern.core.checks import check_integer
from seqkern.core.control_groups import control_groups
from seqkern.core.progress import progress_bar
from seqkern.core.slurm import slurm_threads

SPANS = 4  # for each thread: the others need not wait long for the last one
GIVEN_THREADS: ContextVar[int | None] = ContextVar("given_threads", default=None)
Result = TypeVar("Result")


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS and LAPACK use one thread."""
    return _libraries().limit(limits=1)


@functools.cache
def _libraries() -> ThreadpoolController:
    """Return the handle of the loaded BLAS libraries, cached: finding them takes longer than a small fit."""
    return ThreadpoolController()


@contextmanager
def given_threads(n_threads: int | None) -> Iterator[None]:
    """Set the number of threads for every `fill` inside the context, including base kernels.

    Parameters
    ----------
    n_threads : int or None
        At least 1; None changes nothing.

    Examples
    --------
    >>> with given_threads(2):
    ...     GIVEN_THREADS.get()
    2
    """
    token = GIVEN_THREADS.set(n_threads or GIVEN_THREADS.get())
    try:
        yield
    finally:
        GIVEN_THREADS.reset(token)


def available_threads(n_threads: int | None = None) -> int:
    """Return the number of threads to use.

    Parameters
    ----------
    n_threads : int, optional
        Default: the number of cores available to this process, which containers, batch systems and ``taskset``
        limit.

    Returns
    -------
    int

    Raises
    ------
    ParameterError
        If it is not an integer of at least 1.

    Examples
    --------
    >>> available_threads(4)
    4
    """
    if n_threads is not None:
        check_integer("n_threads", n_threads, 1)
        return n_threads
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limits = [*quotas(), slurm_threads() or cores]
    return max(1, min(cores, *limits))


@functools.cache
def quotas() -> tuple[int, ...]:
    """Return the cores whose time the control groups around this process may use, rounded up: more would only wait.

    Cached, as the groups are: reading them takes longer than a small matrix.
    """
    return tuple(_quotas())


def _quotas() -> Iterator[int]:
    """Yield the cores of each control group that has a limit."""
    for group in control_groups("cpu"):
        if group.version == 2:
            quota, _, period = group.text("cpu.max").partition(" ")
        else:
            quota, period = group.text("cpu.cfs_quota_us"), group.text("cpu.cfs_period_us")
        with contextlib.suppress(ValueError, ZeroDivisionError):  # "max": no limit
            cores = -(-int(quota) // int(period))
            if cores > 0:  # -1: no limit
                yield cores


def in_threads(
    tasks: Iterable[Callable[..., Result]], n_threads: int | None = None, description: str | None = None
) -> list[Result]:
    """Call functions in threads.

    Parameters
    ----------
    tasks : iterable of callable
        Without arguments; their exceptions are raised here.
    n_threads : int, optional
        Default: `given_threads`, or all cores.
    description : str, optional
        What they do, to show progress.

    Returns
    -------
    list
        The results, in order.

    Examples
    --------
    >>> in_threads([lambda: 1, lambda: 2], 2)
    [1, 2]
    """
    tasks, threads = list(tasks), available_threads(n_threads or GIVEN_THREADS.get())
    if threads == 1 or len(tasks) < 2:  # a pool would cost more than a small task
        return _collected((task() for task in tasks), tasks, description)
    with ThreadPoolExecutor(threads) as pool:
        return _collected(pool.map(_alone, tasks), tasks, description)


def _alone(task: Callable[[], Result]) -> Result:
    """Call a function that may use no other threads: those there are have tasks of their own."""
    with given_threads(1):
        return task()


def _collected(results: Iterator[Result], tasks: list[Callable[..., Result]], description: str | None) -> list[Result]:
    """Return the results of tasks as a list, with a progress bar if there is a description."""
    if description is None:
        return list(results)
    return [next(results) for _ in progress_bar(tasks, description)]


def in_spans(work: Callable[[int, int], object], n: int, least: int) -> None:
    """Call ``work(start, stop)`` for consecutive parts of ``range(n)``, in threads if there are enough items.

    Parameters
    ----------
    work : callable
        Its parts do not depend on each other.
    n : int
        Number of items.
    least : int
        Items of a part: fewer would take no longer than a thread to start.

    Examples
    --------
    >>> done = []
    >>> in_spans(lambda start, stop: done.append(range(start, stop)), 5, least=3)
    >>> done
    [range(0, 5)]
    """
    threads = available_threads(GIVEN_THREADS.get()) if n >= 2 * least else 1
    parts = max(1, min(n // least, SPANS * threads)) if threads > 1 else 1
    cuts = [n * part // parts for part in range(parts + 1)]
    in_threads([functools.partial(work, start, stop) for start, stop in itertools.pairwise(cuts)], threads)
