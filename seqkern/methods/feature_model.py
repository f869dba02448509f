"""A trained model of a solver on features, which needs the features of new samples but no training samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, cast

import numpy as np

from seqkern.core.errors import ModelError, ParameterError
from seqkern.core.threads import given_threads
from seqkern.core.tsv import write_tsv
from seqkern.core.types import Array, Floats, Ints
from seqkern.evaluation.fold_tables import SIGNIFICANCE_COLUMNS
from seqkern.kernels.capabilities import required
from seqkern.methods.model import Model
from seqkern.solvers.contract import ClassSolver

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel
    from seqkern.methods.sources import Samples
    from seqkern.solvers.contract import Solver
    from seqkern.solvers.psvm.path import SignificanceTest


# Tables of the features that a fitted solver selected, and of the coefficients of all features.

MOST_LISTED = 2000
"""Maximum number of features listed for a solver that does not select, if they have names."""


def chosen_features(
    solver: "Solver",
    kernel: "Kernel",
    X: "Samples",
    classes: Sequence[str] = (),
    significance: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Return the features that a fitted solver selected, as rows of a table, see `feature_rows`.

    For a solver that does not select, these are all features if they are not too many and have weights and names.
    """
    columns, weights = ranked_features(solver)
    names = None
    if not solver.traits.selects:
        if not 0 < len(columns) <= MOST_LISTED or weights[0] is None:
            return []
        names = kernel.features.known_names(X)
        if names is None:
            return []
    names = kernel.features.named(X, columns) if names is None else [names[j] for j in columns]
    several = solver.selection().by_class is not None
    return feature_rows(
        solver,
        names,
        columns,
        [classes[int(code)] for code in cast(ClassSolver, solver).classes_] if several else (),
        significance,
    )


def significance_record(
    test: "SignificanceTest", solver: "Solver", K: Any, y: Array | None, seed: int
) -> dict[str, Any]:
    """Return the p-values of the features that a fitted P-SVM selected, as JSON.

    ``columns`` counts from 0; ``p_corrected`` is corrected for all tested features by the maximum statistic.
    """
    # imported here: models without the test do not need it
    from seqkern.solvers.psvm.path import psvm_significance

    how: dict[str, Any] = {"statistic": test.statistic, "n_permutations": test.permutations, "seed": seed}
    found = psvm_significance(cast(Any, solver), K, cast(Any, y), **how)
    lists = {"columns": found.columns.tolist(), "p": found.p.tolist(), "p_corrected": found.max_statistic.tolist()}
    return {**test.to_dict(), "n_tested": found.n_tested, **lists}


def interval_rows(solver: "Solver", kernel: "Kernel", X: "Samples", classes: Sequence[str]) -> list[dict[str, Any]]:
    """Return a fitted solver's confidence intervals for the feature coefficients, as rows of a table.

    ``low`` and ``high`` treat the selection as known beforehand; ``full_low`` and ``full_high`` use all features.
    There are no rows for a solver without intervals.
    """
    found = solver.selection().intervals
    if found is None:
        return []
    names = kernel.features.named(X, np.arange(found.shape[1]))
    owners = classes[1:] if len(found) == 1 else [classes[int(code)] for code in cast(ClassSolver, solver).classes_]
    keys = ("weight", "low", "high", "full_weight", "full_low", "full_high")
    return [
        {"class": owner, "feature": name, "column": column, "selected": int(np.isfinite(own[0]))}
        | {key: None if np.isnan(value) else value for key, value in zip(keys, own.tolist(), strict=True)}
        for owner, rows in zip(owners, found, strict=True)
        for column, (name, own) in enumerate(zip(names, rows, strict=True), start=1)
    ]


def feature_rows(
    solver: "Solver",
    names: Sequence[str],
    columns: Ints,
    classes: Sequence[str] = (),
    significance: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Return the features that a fitted solver selected, as rows of a table, best first.

    They are ordered by absolute weight, or as a solver that ranks features itself ranks them. With weights by class
    there
    is one row for each class in turn.
    """
    weights = ranked_features(solver)[1]
    tested = {}
    if significance is not None:
        lists = (significance[key] for key in ("columns", *SIGNIFICANCE_COLUMNS))
        tested = {column: dict(zip(SIGNIFICANCE_COLUMNS, p, strict=True)) for column, *p in zip(*lists, strict=True)}
    return [
        {"feature": name, "column": column, "rank": rank, "weight": weight, "class": label} | tested.get(column - 1, {})
        for rank, (name, column, own) in enumerate(zip(names, (columns + 1).tolist(), weights, strict=True), start=1)
        for label, weight in (zip(classes, own, strict=True) if isinstance(own, list) else [(None, own)])
    ]


def ranked_features(solver: "Solver") -> tuple[Ints, list[Any]]:
    """Return the columns (from 0) that a fitted solver selected, best first, and their weights."""
    found = solver.selection()
    columns, weights, by_class = found.columns, found.weights, found.by_class
    if by_class is not None:
        order = np.argsort(-np.abs(by_class).max(axis=0), kind="stable")
        return columns[order], by_class[:, order].T.tolist()
    if weights is None:
        return columns, [None] * len(columns)
    if solver.linear() is None:  # its own ranking precedes the weights
        return columns, weights.tolist()
    order = np.argsort(-np.abs(weights), kind="stable")
    return columns[order], weights[order].tolist()


CHUNK_ROWS = 1024


@dataclass(frozen=True, eq=False)
class FeatureModel(Model):
    """A trained classifier on explicit features of a kernel; `support` has no samples, only their kind.

    `features` are the indices of the features used by the solver, `names` their names.
    """

    own_name: ClassVar[str] = "features"

    # shape (m,): The features used by the solver, counted from 0 among those of the kernel
    features: Ints
    names: tuple[str, ...]  # length m: Their names

    def _decisions(self, X: Any, n_threads: int | None) -> Floats:
        """Return the decision values of new samples, not checked."""
        shape = () if self.kind != "multiclass" else (len(self.classes),)
        out = np.empty((len(X), *shape))
        with given_threads(n_threads):
            for start in range(0, len(X), CHUNK_ROWS):
                rows = slice(start, start + CHUNK_ROWS)
                out[rows] = self.solver.decision_function(self._vectors(X.take(rows)))
        return out

    def _vectors(self, X: "Samples") -> Any:
        """Return the features of samples used by the solver; as FeatureBlocks if it uses all in this form."""
        if self.solver.traits.blocks:
            blocks = self.kernel.features.blocks(X)
            if blocks.sparse is None and np.array_equal(self.features, np.arange(blocks.shape[1])):
                return blocks
            vectors = blocks.block(0, len(blocks)) if blocks.sparse is None else blocks.sparse
        else:
            vectors = self.kernel.features.normalised(X)
        if vectors.shape[1] <= self.features.max():
            raise ModelError(f"the kernel has {vectors.shape[1]} features, which differ from those of the model")
        vectors = vectors[:, self.features]
        return vectors.toarray() if hasattr(vectors, "toarray") else np.ascontiguousarray(vectors)

    def form(self) -> NoReturn:
        """Raise ParameterError: the decision is not a sum over training samples."""
        weights = "" if self.solver.selection().weights is None else " and their weights"
        raise ParameterError(
            "the model uses features, not kernel values with training sequences",
            remedy=f"see the features{weights}: seqkern train --features FILE",
        )

    @property
    def n_columns(self) -> int:
        """The number of features used by the solver."""
        return len(self.features)

    def write_features(self, path: str | Path) -> None:
        """Write the selected features as a table; see `feature_rows`."""
        columns = ranked_features(self.solver)[0]
        tested = self.record.get("significance")
        names = [self.names[j] for j in columns]
        rows = feature_rows(self.solver, names, self.features[columns], self.classes, tested)
        more = () if tested is None else SIGNIFICANCE_COLUMNS
        write_tsv(path, ("feature", "column", "rank", "weight", "class", *more), rows)

    def own_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return (JSON dict, dict of arrays) of the state beyond a Model's."""
        return {"names": list(self.names)}, {"columns": self.features}

    def check_own(self) -> None:
        """Raise ValueError unless the features are columns, each with a name."""
        columns = self.features
        good = columns.ndim == 1 and columns.dtype == np.int64 and len(columns) == len(self.names) > 0
        if not good or columns.min() < 0 or len(self.support) or self.transforms:
            raise ValueError("inconsistent features")
        required(self.kernel, "features")
