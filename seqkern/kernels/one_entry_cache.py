"""A cache for the latest result derived from a set of sequences."""

import weakref
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Result = TypeVar("Result")


class OneEntryCache:
    """The latest result derived from a set of sequences.

    Sequences are explained one by one, or in pieces, against the same support set. The result is kept until the set is
    deleted or another set is used.
    """

    def __init__(self) -> None:
        self._kept: tuple[weakref.ref[Any], Hashable, Any] | None = None

    def get(self, X: Any, key: Hashable, make: Callable[[], Result]) -> Result:
        """Return a result derived from a set, computed unless it is the latest one.

        Parameters
        ----------
        X : SequenceSet
            The set, compared by identity.
        key : hashable
            Other inputs of the result.
        make : callable
            ``make()`` computes the result.

        Returns
        -------
        object
            The current or previous result of ``make()``.
        """
        kept = self._kept
        if kept is not None and kept[0]() is X and kept[1] == key:
            return kept[2]
        value = make()
        self._kept = weakref.ref(X, self._drop), key, value
        return value

    def _drop(self, reference: weakref.ref[Any]) -> None:
        """Drop the result of a deleted set."""
        kept = self._kept
        if kept is not None and kept[0] is reference:
            self._kept = None
