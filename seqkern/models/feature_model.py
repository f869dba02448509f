"""A trained model of a solver that takes features: it needs the kernel's features of new samples, no training samples."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from seqkern.core.errors import ModelError, ParameterError
from seqkern.core.threads import given_threads
from seqkern.core.tsv import write_tsv
from seqkern.kernels.explicit import feature_vectors
from seqkern.models.model import Model
from seqkern.models.selected_features import feature_rows, ranked_features

if TYPE_CHECKING:
    from seqkern.models.sources import Units

CHUNK_ROWS = 1024


@dataclass(frozen=True, eq=False)
class FeatureModel(Model):
    """A trained classifier on explicit features of a kernel; `support` has no samples, only their kind.

    Attributes
    ----------
    features : ndarray of int64, shape (m,)
        The features that the solver takes, counted from 0 among those of the kernel.
    names : tuple of str, length m
        What they are called.
    """

    features: np.ndarray
    names: tuple[str, ...]

    def decision(self, X: Any, *, n_threads: int | None = None) -> np.ndarray:
        """Return the decision values of new samples; see `Model.decision`."""
        X = self._coerced(X)
        shape = () if self.kind != "multiclass" else (len(self.classes),)
        out = np.empty((len(X), *shape))
        with given_threads(n_threads):
            for start in range(0, len(X), CHUNK_ROWS):
                rows = slice(start, start + CHUNK_ROWS)
                out[rows] = self.solver.decision_function(self._vectors(X.take(rows)))
        return out

    def _vectors(self, X: "Units") -> Any:
        """Return the features of some samples that the solver takes; FeatureBlocks where it takes all of them so."""
        if self.solver.accepts_blocks:
            blocks = self.kernel.feature_blocks(X)
            if blocks.sparse is None and np.array_equal(self.features, np.arange(blocks.shape[1])):
                return blocks
            vectors = blocks.block(0, len(blocks)) if blocks.sparse is None else blocks.sparse
        else:
            vectors = feature_vectors(self.kernel, X)
        if vectors.shape[1] <= self.features.max():
            raise ModelError(f"the kernel has {vectors.shape[1]} features, the model's are others")
        vectors = vectors[:, self.features]
        return vectors.toarray() if hasattr(vectors, "toarray") else np.ascontiguousarray(vectors)

    def form(self) -> NoReturn:
        """Raise ParameterError: no sum over training samples decides."""
        weights = "" if self.solver.selected_weights() is None else " and their weights"
        raise ParameterError(
            "the model decides by features, not by kernel values with training sequences",
            remedy=f"see the features{weights}: seqkern train --features FILE",
        )

    @property
    def n_columns(self) -> int:
        """The number of features that the solver takes."""
        return len(self.features)

    def write_features(self, path: str | Path) -> None:
        """Write the selected features as a table; see `feature_rows`.

        Raises
        ------
        FileError
            If the file cannot be written.
        """
        columns = ranked_features(self.solver)[0]
        rows = feature_rows(self.solver, [self.names[j] for j in columns], self.features[columns], self.classes)
        write_tsv(path, ("feature", "column", "rank", "weight", "class"), rows)

    def own_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return (JSON dict, dict of arrays) of what it has besides a Model's."""
        return {"names": list(self.names)}, {"columns": self.features}

    def check_own(self) -> None:
        """Raise ValueError if the features are no columns, each with a name."""
        columns = self.features
        good = columns.ndim == 1 and columns.dtype == np.int64 and len(columns) == len(self.names) > 0
        if not good or columns.min() < 0 or len(self.support) or self.transforms:
            raise ValueError("its features do not fit together")
        self.kernel.check_features()
