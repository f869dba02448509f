"""What did not converge within a piece of work: told to whoever counts it, instead of once for each fit."""

import contextlib
import warnings

from sklearn.exceptions import ConvergenceWarning


@contextlib.contextmanager
def unconverged():
    """Keep back each `ConvergenceWarning`, and yield the list that they go to; other warnings are shown as ever.

    Yields
    ------
    list of Warning
    """
    kept = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", ConvergenceWarning)
        show = warnings.showwarning

        def keep(message, category, *place, **more):
            if issubclass(category, ConvergenceWarning):
                kept.append(message)
            else:
                show(message, category, *place, **more)

        warnings.showwarning = keep
        yield kept


def telling(function, told):
    """Return a function that does the same, and whose warnings of what did not converge go to the list `told`."""

    def told_of(*arguments):
        with unconverged() as failed:
            found = function(*arguments)
        told.extend(failed)
        return found

    return told_of
