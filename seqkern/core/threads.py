"""BLAS on one thread: with several, the order of its sums, and so the last bits, depend on their number."""

import functools

from threadpoolctl import ThreadpoolController


def one_thread():
    """Return a context in which BLAS and LAPACK compute on one thread."""
    return _libraries().limit(limits=1)


@functools.cache
def _libraries():
    """Return the handle of the loaded BLAS libraries; finding them takes longer than a small fit."""
    return ThreadpoolController()
