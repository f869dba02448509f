"""Convergence warnings within a piece of work, collected for a summary instead of one warning for each fit.

The warning is scikit-learn's, so that filters for it apply. It is imported only to warn: importing scikit-learn takes
a second, and prediction, Gram matrices and most evaluations do not need it. If it is not loaded, there was no
warning.
"""

import contextlib
import sys
import warnings
from collections.abc import Iterator
from typing import Any


def convergence_warning() -> type[Warning]:
    """Return `sklearn.exceptions.ConvergenceWarning`."""
    from sklearn.exceptions import ConvergenceWarning  # imported here for fast start-up

    return ConvergenceWarning


class _Loaded(type):
    """A metaclass that lets a class stand for `ConvergenceWarning` without importing it."""

    def __subclasscheck__(cls, other: type) -> bool:
        module = sys.modules.get("sklearn.exceptions")
        return module is not None and issubclass(other, module.ConvergenceWarning)


class _Unconverged(Warning, metaclass=_Loaded):
    """A stand-in for `ConvergenceWarning` in warning filters, which check the class of a warning."""


def warn_unconverged(text: str, stacklevel: int = 1) -> None:
    """Issue a `ConvergenceWarning`.

    >>> with unconverged() as failed:
    ...     warn_unconverged("no convergence after 1000 iterations; raise max_iter")
    >>> [str(warning) for warning in failed]
    ['no convergence after 1000 iterations; raise max_iter']
    """
    warnings.warn(text, convergence_warning(), stacklevel=stacklevel + 1)


@contextlib.contextmanager
def ignoring_unconverged() -> Iterator[None]:
    """Suppress every `ConvergenceWarning`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", _Unconverged)
        yield


@contextlib.contextmanager
def unconverged() -> Iterator[list[Warning]]:
    """Collect every `ConvergenceWarning` in the yielded list; other warnings are shown as usual."""
    kept: list[Warning] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", _Unconverged)
        show = warnings.showwarning

        def _keep(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, _Unconverged):
                kept.append(message)
            else:
                show(message, category, *place, **more)

        warnings.showwarning = _keep
        yield kept
