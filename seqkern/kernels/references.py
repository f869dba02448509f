"""The training samples of a kernel, and new samples read in the same way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, TypeAlias

from seqkern.core.errors import LetterError, SequenceError
from seqkern.sequences.sequence_set import SequenceSet, as_sequences
from seqkern.sequences.tables import FeatureTable, SimilarityTable

Samples: TypeAlias = SequenceSet | FeatureTable | SimilarityTable


@dataclass(frozen=True)
class References:
    """The training set of a kernel, shared by all its copies and never changed.

    Attributes
    ----------
    samples : SequenceSet, FeatureTable or SimilarityTable
        The training set.

    Examples
    --------
    >>> references = References(SequenceSet.from_strings(["MKV", "GKV"]))
    >>> references.read(["ACT"]).alphabet.name  # DNA, if nothing else were known
    'protein'
    """

    samples: Samples

    def __deepcopy__(self, memo: dict) -> Self:
        return self

    def __reduce__(self) -> tuple:
        # A view of a genome is stored as its windows only.
        samples = self.samples.packed() if isinstance(self.samples, SequenceSet) else self.samples
        return type(self), (samples,)

    def read(self, X: Any) -> Any:
        """Return new samples prepared for comparison with these: text is encoded with their alphabet.

        Parameters
        ----------
        X : SequenceSet, list of str, or table
            The new samples.

        Returns
        -------
        SequenceSet, FeatureTable or SimilarityTable
            For sequences, always a SequenceSet.

        Raises
        ------
        SequenceError
            If residues of `X`, or its alphabet, do not match, or `X` is empty.
        """
        if not isinstance(self.samples, SequenceSet):
            return X
        alphabet = self.samples.alphabet
        try:
            X = as_sequences(X, None if isinstance(X, SequenceSet) else alphabet)
        except LetterError as error:
            raise LetterError(
                f"{error.problem} of the training sequences",
                record=error.record,
                remedy="set the alphabet of the kernel, such as alphabet='protein', or correct the letter",
            ) from error
        if X.alphabet != alphabet:
            raise SequenceError(
                f"the sequences have the alphabet {X.alphabet.name}, the training sequences have {alphabet.name}",
                remedy="read both with the same alphabet",
            )
        return X
