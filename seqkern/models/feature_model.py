"""A trained model of a solver on features: it needs features of new samples, and no training samples."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ModelError, ParameterError
from seqkern.core.threads import given_threads
from seqkern.core.tsv import write_tsv
from seqkern.evaluation.fold_tables import SIGNIFICANCE_COLUMNS
from seqkern.kernels.explicit import feature_vectors
from seqkern.models.model import Model
from seqkern.models.selected_features import feature_rows, ranked_features

if TYPE_CHECKING:
    from seqkern.models.sources import Units

CHUNK_ROWS = 1024


@dataclass(frozen=True, eq=False)
class FeatureModel(Model):
    """A trained classifier on explicit features of a kernel; `support` contains no samples, only their kind.

    Attributes
    ----------
    features : ndarray of int64, shape (m,)
        The features used by the solver, counted from 0 among those of the kernel.
    names : tuple of str, length m
        Their names.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.models.training import train_model
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["CAGGTAAG", "TCGGTAAT", "CAGGCATG", "TCGCTAAT"], "dna")
    >>> labels = make_labels(X.ids, ["donor", "donor", "decoy", "decoy"], positive="donor")
    >>> model = train_model(X, labels, SpectrumKernel(2), "lp_machine:C=10")
    >>> type(model).__name__, model.names
    ('FeatureModel', ('AG', 'CA', 'GC'))
    >>> model.predict(["AAGGTAAC", "AAGCTAAC"])
    array(['donor', 'decoy'], dtype='<U5')
    """

    own_name: ClassVar[str] = "features"

    features: npt.NDArray[np.int64]
    names: tuple[str, ...]

    def _decisions(self, X: Any, n_threads: int | None) -> npt.NDArray[np.float64]:
        """Return the decision values of new samples, not checked."""
        shape = () if self.kind != "multiclass" else (len(self.classes),)
        out = np.empty((len(X), *shape))
        with given_threads(n_threads):
            for start in range(0, len(X), CHUNK_ROWS):
                rows = slice(start, start + CHUNK_ROWS)
                out[rows] = self.solver.decision_function(self._vectors(X.take(rows)))
        return out

    def _vectors(self, X: "Units") -> Any:
        """Return the solver's features of some samples; as FeatureBlocks if it uses all in this form."""
        if self.solver.accepts_blocks:
            blocks = self.kernel.feature_blocks(X)
            if blocks.sparse is None and np.array_equal(self.features, np.arange(blocks.shape[1])):
                return blocks
            vectors = blocks.block(0, len(blocks)) if blocks.sparse is None else blocks.sparse
        else:
            vectors = feature_vectors(self.kernel, X)
        if vectors.shape[1] <= self.features.max():
            raise ModelError(f"the kernel has {vectors.shape[1]} features, which differ from those of the model")
        vectors = vectors[:, self.features]
        return vectors.toarray() if hasattr(vectors, "toarray") else np.ascontiguousarray(vectors)

    def form(self) -> NoReturn:
        """Raise ParameterError: the decision is not a sum over training samples."""
        weights = "" if self.solver.selected_weights() is None else " and their weights"
        raise ParameterError(
            "the model uses features, not kernel values with training sequences",
            remedy=f"see the features{weights}: seqkern train --features FILE",
        )

    @property
    def n_columns(self) -> int:
        """The number of features used by the solver."""
        return len(self.features)

    def write_features(self, path: str | Path) -> None:
        """Write the selected features as a table; see `feature_rows`.

        Parameters
        ----------
        path : path-like
            The file.

        Raises
        ------
        FileError
            If the file cannot be written.
        """
        columns = ranked_features(self.solver)[0]
        tested = self.record.get("significance")
        names = [self.names[j] for j in columns]
        rows = feature_rows(self.solver, names, self.features[columns], self.classes, tested)
        more = () if tested is None else SIGNIFICANCE_COLUMNS
        write_tsv(path, ("feature", "column", "rank", "weight", "class", *more), rows)

    def own_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return (JSON dict, dict of arrays) in addition to those of a Model."""
        return {"names": list(self.names)}, {"columns": self.features}

    def check_own(self) -> None:
        """Raise ValueError unless the features are columns, each with a name."""
        columns = self.features
        good = columns.ndim == 1 and columns.dtype == np.int64 and len(columns) == len(self.names) > 0
        if not good or columns.min() < 0 or len(self.support) or self.transforms:
            raise ValueError("inconsistent features")
        self.kernel.check_features()
