"""What did not converge within a piece of work: told to whoever counts it, instead of once for each fit.

The warning is scikit-learn's, so that its users' filters hold. It is looked up when there is something to warn of:
importing scikit-learn costs a second, and prediction, a Gram matrix, or most evaluations need none of it. Where nothing
has loaded it, nothing has warned.
"""

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any


def convergence_warning() -> type[Warning]:
    """Return `sklearn.exceptions.ConvergenceWarning`."""
    from sklearn.exceptions import ConvergenceWarning  # only here: scikit-learn costs start-up

    return ConvergenceWarning


class _Loaded(type):
    """What makes a class stand for `ConvergenceWarning` without importing it."""

    def __subclasscheck__(cls, other: type) -> bool:
        module = sys.modules.get("sklearn.exceptions")
        return module is not None and issubclass(other, module.ConvergenceWarning)


class _Unconverged(Warning, metaclass=_Loaded):
    """Stands for `ConvergenceWarning` in filters of warnings, which ask whether a warning is of its kind."""


def warn_unconverged(text: str, stacklevel: int = 1) -> None:
    """Warn with a `ConvergenceWarning`.

    Parameters
    ----------
    text : str
        What did not converge, and what to do about it.
    stacklevel : int
        Whose line the warning names, counted from the caller of this function as for `warnings.warn`.

    Examples
    --------
    >>> with unconverged() as failed:
    ...     warn_unconverged("no convergence after 1000 iterations; raise max_iter")
    >>> [str(warning) for warning in failed]
    ['no convergence after 1000 iterations; raise max_iter']
    """
    warnings.warn(text, convergence_warning(), stacklevel=stacklevel + 1)


@contextlib.contextmanager
def ignoring_unconverged() -> Iterator[None]:
    """Show no `ConvergenceWarning`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", _Unconverged)
        yield


@contextlib.contextmanager
def unconverged() -> Iterator[list[Warning]]:
    """Keep back each `ConvergenceWarning`, and yield the list that they go to; other warnings are shown as ever.

    Yields
    ------
    list of Warning
        Filled until the context ends.
    """
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


def telling(function: Callable[..., Any], told: list[Warning]) -> Callable[..., Any]:
    """Wrap a function so that its warnings of what did not converge go to a list.

    Parameters
    ----------
    function : callable
        A piece of work, called with positional arguments.
    told : list of Warning
        What the warnings are added to.

    Returns
    -------
    callable
        Returns what `function` does.

    Examples
    --------
    >>> told = []
    >>> telling(warn_unconverged, told)("no convergence")
    >>> len(told)
    1
    """

    def _told_of(*arguments: Any) -> Any:
        with unconverged() as failed:
            found = function(*arguments)
        told.extend(failed)
        return found

    return _told_of
