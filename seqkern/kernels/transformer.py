"""Scikit-learn's transformer protocol for kernels, from samples to rows of a Gram matrix.

``fit`` keeps the training samples, ``transform`` compares new samples with them. So a kernel can be a
pipeline step before a solver that takes a Gram matrix, a grid search can choose its parameters, and it
learns from the training set of each fold only. scikit-learn is imported on demand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np

from seqkern.core.checks import check_choice
from seqkern.core.errors import LetterError, SequenceError
from seqkern.sequences.sequence_set import SequenceSet, as_sequences
from seqkern.sequences.tables import FeatureTable, SimilarityTable

if TYPE_CHECKING:
    from sklearn.utils import Tags


# The training samples of a kernel, and the preparation of new samples for comparison with them.

Samples: TypeAlias = SequenceSet | FeatureTable | SimilarityTable


@dataclass(frozen=True)
class References:
    """The training set of a kernel, shared by all its copies and never changed.

    >>> references = References(SequenceSet.from_strings(["MKV", "GKV"]))
    >>> references.read(["ACT"]).alphabet.name  # DNA, if nothing else were known
    'protein'
    """

    samples: Samples  # The training set

    def __deepcopy__(self, memo: dict) -> Self:
        return self

    def __reduce__(self) -> tuple:
        # A view of a genome is stored as its windows only.
        samples = self.samples.packed() if isinstance(self.samples, SequenceSet) else self.samples
        return type(self), (samples,)

    def read(self, X: Any) -> Any:
        """Return new samples prepared for comparison with the training set; text is encoded with its alphabet."""
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


class GramTransformer:
    """Mixin of `Kernel`: scikit-learn's transformer protocol.

    The training samples are not part of a kernel's parameters, identity, state or model file; a pickled kernel contains
    them.
    """

    _references: References | None = None

    if TYPE_CHECKING:  # members of a kernel
        traits: ClassVar[Any]

        def fit(self, X: Any, y: Any = None) -> Self:
            """Learn from training data."""

        def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
            """Return the kernel matrix of `X` and `Y` (default: `X`), shape (n, m)."""

    def _remember(self, X: Samples) -> None:
        """Keep a view of the training samples for `transform`."""
        self._references = References(X)

    def forget(self) -> Self:
        """Drop the training samples, but keep the learned values, and return self.

        `transform` is no longer possible afterwards.
        """
        self._references = None
        return self

    def transform(self, X: Any) -> Any:
        """Return the kernel matrix of new samples (rows) and the training samples (columns).

        >>> from seqkern.kernels import SpectrumKernel
        >>> SpectrumKernel(k=1, normalize=False).fit(["AAC", "GG"]).transform(["ACG", "TTT", "GGG"])
        array([[3., 2.],
               [0., 0.],
               [0., 6.]])
        """
        references = self._known_references()
        return self._contained(self(references.read(X), references.samples))

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and return the kernel matrix of the training samples, exactly symmetric.

        >>> from seqkern.kernels import SpectrumKernel
        >>> SpectrumKernel(k=1, normalize=False).fit_transform(["AAC", "GG"])
        array([[5., 0.],
               [0., 4.]])
        """
        self.fit(X, y)
        return self._contained(self(self._known_references().samples))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the column names of `transform`: the ids of the training samples.

        >>> from seqkern.kernels import SpectrumKernel
        >>> SpectrumKernel(k=1).fit(["AAC", "GG"]).get_feature_names_out()
        array(['1', '2'], dtype=object)
        """
        return np.array(self._known_references().samples.ids, dtype=object)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose the output container of `transform` and `fit_transform`, and return self.

        >>> from seqkern.kernels import SpectrumKernel
        >>> SpectrumKernel(k=1, normalize=False).set_output(transform="pandas").fit_transform(["AAC", "GG"])
             1    2
        0  5.0  0.0
        1  0.0  4.0
        """
        if transform is not None:
            check_choice("transform", transform, ("default", "pandas", "polars"))
            self._sklearn_output_config = {"transform": transform}  # the name that `clone` copies
        return self

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the training table; only for kernels of feature tables, after `fit`."""
        if self._references is None or self.traits.accepts != "features":
            raise AttributeError(f"{type(self).__name__} has no n_features_in_")
        return self._references.samples.shape[1]

    def _known_references(self) -> References:
        """Return the training samples; raise NotFittedError if there are none."""
        if self._references is None:
            # Imported here: slows start-up.
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"this {type(self).__name__} is not fitted; call fit on the training samples first")
        return self._references

    def _contained(self, K: np.ndarray) -> Any:
        """Return a matrix in the container of `set_output` or scikit-learn's configuration."""
        # Imported here: pipelines have loaded scikit-learn already.
        from sklearn.preprocessing import FunctionTransformer

        chosen = getattr(self, "_sklearn_output_config", {}).get("transform")
        same = FunctionTransformer(feature_names_out=lambda _, names: self.get_feature_names_out())
        return (same if chosen is None else same.set_output(transform=chosen)).fit_transform(K)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the kernel has training samples."""
        return self._references is not None

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags: input is a list of texts, or a table of numbers."""
        # Imported here: scikit-learn, the caller, has loaded it already.
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        texts = self.traits.accepts == "sequences"
        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(one_d_array=texts, two_d_array=not texts, string=texts),
        )
