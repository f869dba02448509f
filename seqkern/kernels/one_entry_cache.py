"""What follows from one set of sequences alone, made once as long as the same set comes again."""

import weakref
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Result = TypeVar("Result")


class OneEntryCache:
    """The latest result that was made from a set of sequences.

    Sequences are explained one after the other, or piece by piece, against the same support set. The result is kept
    until the set is deleted or another set is used.
    """

    def __init__(self) -> None:
        self._kept: tuple[weakref.ref[Any], Hashable, Any] | None = None

    def get(self, X: Any, key: Hashable, make: Callable[[], Result]) -> Result:
        """Return what follows from a set, computed only if it was not the latest that was asked for.

        Parameters
        ----------
        X : SequenceSet
            The set: the same object, not only an equal one.
        key : hashable
            What else the result depends on.
        make : callable
            ``make()`` computes the result.

        Returns
        -------
        object
            What ``make()`` returns, or returned when last called.
        """
        kept = self._kept
        if kept is not None and kept[0]() is X and kept[1] == key:
            return kept[2]
        value = make()
        self._kept = weakref.ref(X, self._drop), key, value
        return value

    def _drop(self, reference: weakref.ref[Any]) -> None:
        """Forget the result of a set that is gone."""
        kept = self._kept
        if kept is not None and kept[0] is reference:
            self._kept = None
