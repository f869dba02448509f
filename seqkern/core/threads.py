"""Threads: how many there are, work shared among them, and BLAS on one.

With several threads the order of BLAS's sums, and so the last bits, depend on their number.
"""

import functools
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar

from threadpoolctl import ThreadpoolController

from seqkern.core.checks import check_integer

GIVEN_THREADS = ContextVar("given_threads", default=None)


def one_thread():
    """Return a context in which BLAS and LAPACK compute on one thread."""
    return _libraries().limit(limits=1)


@functools.cache
def _libraries():
    """Return the handle of the loaded BLAS libraries; finding them takes longer than a small fit."""
    return ThreadpoolController()


@contextmanager
def given_threads(n_threads):
    """Let every `fill` inside, that of a kernel in a kernel too, use `n_threads`; None changes nothing."""
    token = GIVEN_THREADS.set(n_threads or GIVEN_THREADS.get())
    try:
        yield
    finally:
        GIVEN_THREADS.reset(token)


def available_threads(n_threads=None):
    """Return `n_threads`, or the number of cores this process may use."""
    if n_threads is not None:
        check_integer("n_threads", n_threads, 1)
        return n_threads
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def in_threads(tasks, n_threads=None):
    """Call functions without arguments in threads, and return a list of what they return, in order.

    Parameters
    ----------
    tasks : list of callable
    n_threads : int, optional
        By default those of `given_threads`, or all cores.
    """
    with ThreadPoolExecutor(available_threads(n_threads or GIVEN_THREADS.get())) as pool:
        return list(pool.map(lambda task: task(), tasks))
