"""The number of threads, sharing work among them, and BLAS restricted to one thread.

With several BLAS threads the order of summation, and so the last bits of a result, would depend on their number.
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
from seqkern.core.memory import control_groups, slurm_threads
from seqkern.core.progress import progress_bar

SPANS = 4  # for each thread: the others need not wait long for the last one
GIVEN_THREADS: ContextVar[int | None] = ContextVar("given_threads", default=None)
Result = TypeVar("Result")


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS and LAPACK use one thread."""
    return _libraries().limit(limits=1)


@functools.cache
def _libraries() -> ThreadpoolController:
    """Return the controller of the loaded BLAS libraries, cached since finding them takes longer than a small fit."""
    return ThreadpoolController()


@contextmanager
def given_threads(n_threads: int | None) -> Iterator[None]:
    """Set the number of threads for every `fill` inside the context, including base kernels.

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
    """Return the number of threads to use (default: the cores available to this process).

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
    """Return the CPU limits of the control groups of this process, in whole cores, rounded up.

    The result is cached, since reading the limits takes longer than computing a small matrix.
    """
    return tuple(_quotas())


def _quotas() -> Iterator[int]:
    """Yield the CPU limit of each control group that has one, in whole cores, rounded up."""
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
    """Call functions without arguments in threads, and return their results in order; exceptions are raised here.

    >>> in_threads([lambda: 1, lambda: 2], 2)
    [1, 2]
    """
    tasks, threads = list(tasks), available_threads(n_threads or GIVEN_THREADS.get())
    if threads == 1 or len(tasks) < 2:  # a pool would cost more than a small task
        return _collected((task() for task in tasks), tasks, description)
    with ThreadPoolExecutor(threads) as pool:
        return _collected(pool.map(_alone, tasks), tasks, description)


def _alone(task: Callable[[], Result]) -> Result:
    """Call a function with one thread for itself, since the other threads have tasks of their own."""
    with given_threads(1):
        return task()


def _collected(results: Iterator[Result], tasks: list[Callable[..., Result]], description: str | None) -> list[Result]:
    """Return the results of tasks as a list, with a progress bar if there is a description."""
    if description is None:
        return list(results)
    return [next(results) for _ in progress_bar(tasks, description)]


def in_spans(work: Callable[[int, int], object], n: int, least: int) -> None:
    """Call ``work(start, stop)`` for independent parts of ``range(n)``, in threads if n is at least twice `least`.

    >>> done = []
    >>> in_spans(lambda start, stop: done.append(range(start, stop)), 5, least=3)
    >>> done
    [range(0, 5)]
    """
    threads = available_threads(GIVEN_THREADS.get()) if n >= 2 * least else 1
    parts = max(1, min(n // least, SPANS * threads)) if threads > 1 else 1
    cuts = [n * part // parts for part in range(parts + 1)]
    in_threads([functools.partial(work, start, stop) for start, stop in itertools.pairwise(cuts)], threads)
