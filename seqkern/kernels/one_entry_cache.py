"""What follows from one set of sequences alone, made once as long as the same set comes again."""

import weakref


class Latest:
    """The latest result that was made from a set of sequences.

    Sequences are explained one after the other, or piece by piece, against the same support set. The result is kept
    as long as the set is, or until there is another.
    """

    def __init__(self):
        self._kept = None

    def get(self, X, key, make):
        """Return ``make()``, or what it returned when last called, if that was for the same object `X` and `key`."""
        kept = self._kept
        if kept is not None and kept[0]() is X and kept[1] == key:
            return kept[2]
        value = make()
        self._kept = weakref.ref(X, self._drop), key, value
        return value

    def _drop(self, reference):
        """Forget the result of a set that is gone."""
        kept = self._kept
        if kept is not None and kept[0] is reference:
            self._kept = None
