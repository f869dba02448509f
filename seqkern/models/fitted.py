"""A method fitted to a training set: it classifies other samples of the data, and can be turned into a Model."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.evaluation.calibration import IsotonicCalibration, SigmoidCalibration
from seqkern.evaluation.halving import Rung
from seqkern.evaluation.held_out import neighbours
from seqkern.evaluation.selection import Choice
from seqkern.kernels.explicit import name_features
from seqkern.kernels.kernel import Kernel
from seqkern.layers import Layers
from seqkern.layers.chain import as_decisions
from seqkern.models.afterwards import Afterwards
from seqkern.models.data import Data
from seqkern.models.decisions import Decisions, check_predicts, codes_of_decisions, find_probabilities
from seqkern.models.exemplar_rows import exemplar_rows
from seqkern.models.feature_model import FeatureModel
from seqkern.models.labelled_samples import labelled_record
from seqkern.models.model import MEANS_KEY, Model
from seqkern.models.parts import Part
from seqkern.models.residue_model import ResidueModel
from seqkern.models.search import Search
from seqkern.models.sources import Source, Units
from seqkern.models.table_model import smaller
from seqkern.models.training_record import class_names, search_record, versions
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers.base import Solver
from seqkern.solvers.kinds import ClassSolver
from seqkern.solvers.thresholds import Threshold


@dataclass(frozen=True)
class InnerFits:
    """The fits of the inner loop: for the choice, and for held-out decision values.

    Attributes
    ----------
    n : int
        Their number.
    not_converged : int
        How many of these, and of nested fits, did not converge.
    weights_not_converged : int
        How often kernel weights did not converge.

    Examples
    --------
    >>> InnerFits(10, 2).not_converged
    2
    """

    n: int = 0
    not_converged: int = 0
    weights_not_converged: int = 0


@dataclass(frozen=True, eq=False)
class FittedMethod:
    """The result of `Method.fit`: everything chosen and fitted, with the data.

    Attributes
    ----------
    search : Search
        The fitted method.
    data : Data
        The data for fitting and classification.
    rows : ndarray of int64
        The training set.
    labels : Labels
        Labels of the training set.
    y : ndarray or None
        The labels in the form for the solver.
    choice : Choice
        The choice of the inner loop.
    part : Part
        The input of the solver, for fitting and for the rows `ahead`.
    ahead : ndarray of int64 or None
        Samples known at the time of fitting.
    solver : Solver
        Fitted.
    afterwards : Afterwards
        Calibration and threshold, fitted to held-out decision values.
    layers : Layers or None
        Fitted.
    inner : InnerFits
        The fits before the final one.
    kernel_converged : bool
        Whether kernel weights converged on the training set.
    rungs : sequence of Rung
        The comparisons of kernels by successive halving; empty without.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.models.method import Method
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["ACAC", "AACA", "GGTG", "TGGT", "CAAC", "GTTG"], "dna")
    >>> method = Method(SpectrumKernel(2), "csvc:C=1")
    >>> fitted = method.fit(method.data(X, make_labels(X.ids, ["a", "a", "b", "b", "a", "b"])), np.arange(4))
    >>> fitted.decide(np.array([4, 5])).decisions.round(2)
    array([-1.  ,  0.65])
    >>> fitted.choice.spec["C"], fitted.inner.n
    (1, 0)
    """

    search: Search
    data: Data
    rows: npt.NDArray[np.int64]
    labels: Labels
    y: npt.NDArray[Any] | None
    choice: Choice
    part: Part
    ahead: npt.NDArray[np.int64] | None
    solver: Solver
    afterwards: Afterwards = field(default_factory=Afterwards)
    layers: Layers | None = None
    inner: InnerFits = InnerFits()
    kernel_converged: bool = True
    rungs: Sequence[Rung] = ()

    @property
    def calibration(self) -> SigmoidCalibration | IsotonicCalibration | None:
        """The calibration of decision values."""
        return self.afterwards.calibration

    @property
    def threshold(self) -> Threshold | None:
        """The threshold of the positive class; None if there is none."""
        return self.afterwards.threshold

    @property
    def source(self) -> Source:
        """The source of the chosen kernel's values."""
        return self.data.source(self.choice.kernel)

    @property
    def inner_not_converged(self) -> int:
        """Number of fits that did not converge: in the inner loop, of kernel weights, and within the solver."""
        own = self.solver.report_.get("inner_not_converged", 0)
        return self.inner.not_converged + self.inner.weights_not_converged + own

    def exemplars(self) -> list[dict[str, Any]]:
        """Return the typical training samples of each class, as from `exemplar_rows`."""
        if self.labels.kind in ("real", "none"):
            return []
        return exemplar_rows(self.solver, self.labels.ids, class_names(self.labels, self.solver))

    def decide(self, rows: npt.NDArray[np.int64]) -> Decisions:
        """Return the decisions about some samples of the data.

        Layers with neighbours see the decision values of whole chains, also for residues without known states.

        Parameters
        ----------
        rows : ndarray of int64, shape (n,)
            Disjoint from the training set.

        Returns
        -------
        Decisions

        Raises
        ------
        ModelError
            If the solver projects, and does not predict.
        """
        check_predicts(self.solver)
        kind = self.labels.kind
        seen = rows_seen(self.layers, self.data, self.rows, rows)
        K = self.values(seen)
        decisions = self.solver.decision_function(K)
        if self.layers is not None:
            chains = None if self.data.residues is None else self.data.residues.take(seen)
            decided = _after_layers(self.layers, decisions, chains, kind)
            return decided.take(np.searchsorted(seen, rows))
        predicted = codes_of_decisions(kind, decisions, self.afterwards.cut)
        if kind == "multiclass":  # a training set may lack a class
            predicted = cast(ClassSolver, self.solver).classes_[predicted]
        variances = self.solver.variances(K, self._diagonal(rows)) if self.solver.gives_variances else None
        probabilities = find_probabilities(self.solver, self.calibration, decisions, variances)
        return Decisions(decisions, predicted, probabilities, variances)

    def _diagonal(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return K(x, x) of some samples after the transforms; what was computed ahead is reused."""
        known = self.ahead is not None and np.array_equal(rows, self.ahead)
        found = self.part if known else self.source.part(self.rows, rows, self.y)
        assert found.test_diagonal is not None
        return found.test_diagonal

    def values(self, rows: npt.NDArray[np.int64]) -> Any:
        """Return the solver's input for some samples; what was computed ahead is reused.

        Parameters
        ----------
        rows : ndarray of int64
            Samples of the data.

        Returns
        -------
        ndarray, csr_array, FeatureBlocks or Implicit
            In the form that the source provides.
        """
        if self.ahead is not None and np.array_equal(rows, self.ahead):
            return self.part.test
        return self.source.beside(self.rows, rows, self.y)

    def model(
        self,
        policies: Mapping[str, str] | None = None,
        notes: Mapping[str, Any] | None = None,
        keep_support: bool = False,
    ) -> Model | ResidueModel:
        """Return the model for new samples, reduced to what prediction needs.

        Parameters
        ----------
        policies : mapping, optional
            Policies for reading the sequences, applied to new ones as well.
        notes : mapping, optional
            JSON for the record.
        keep_support : bool
            Whether a model trained by products keeps its support sequences where sums over their k-mers are smaller.

        Returns
        -------
        Model or ResidueModel
            For a solver on features, a FeatureModel; for residues, a ResidueModel. Trained by products, a TableModel if
            that is smaller.

        Raises
        ------
        ParameterError
            If the source has only kernel values, without kernel and samples, or there are layers but the
            samples are not residues: only residue models have layers.
        """
        if self.layers is not None and self.data.residues is None:
            raise ParameterError(
                "a model with layers predicts residues, but these samples are not residues", remedy="remove the layers"
            )
        kernel, joined = self.part.kernel, self.part.joined
        if kernel is None and joined is None:
            kernel = self.source.fitted_kernel(self.rows, self.y)
        X = self.source.units(self.rows)
        if kernel is None:  # weights learned from matrices need not be learned again
            kernel = joined.fit_parts(X, self.y)
        about: dict[str, Any] = {
            "kind": self.labels.kind,
            "classes": class_names(self.labels, self.solver),
            "policies": dict(policies or {}),
            "record": self._record(X, notes or {}),
        }
        if self.source.gives == "features":
            made: Model = self._of_features(kernel, X, about)
        else:
            made = self._of_units(kernel, X, about)
            # variances need the support sequences
            if self.source.gives == "operator" and not keep_support and not self.solver.gives_variances:
                scale = self.part.train.scale if kernel.normalize else None  # known, but costly to compute again
                made = smaller(made, None if scale is None else scale[self._required_rows()])
        residues = self.data.residues
        return made if residues is None else ResidueModel(made, residues.window, self.layers)

    def state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return (JSON dict, dict of arrays): the content of the model file."""
        return self.model().state()

    def _record(self, X: Units, notes: Mapping[str, Any]) -> dict[str, Any]:
        """Return how a model was trained, as JSON: versions, sizes, candidates and choice, convergence."""
        labels, search = self.labels, self.search
        unlabelled = int(np.count_nonzero(~labels.used()))
        recognised, means = {}, {}
        if labels.kind == "real" and self.solver.gives_variances:
            fitted = self.solver.decision_function(self.part.train)
            means = {MEANS_KEY: {"least": float(fitted.min()), "greatest": float(fitted.max())}}
        if labels.kind not in ("real", "none"):
            right = cast(ClassSolver, self.solver).predict(self.part.train) == self.y
            recognised = labels.take(right).class_counts()
        return {
            "versions": versions(),
            "seed": search.seed,
            "n": len(X),
            "classes": labels.class_counts(),
            **({"unlabelled": unlabelled} if unlabelled else {}),
            "training_digest": X.digest(),
            **({} if self.data.residues is not None else labelled_record(X, labels)),
            "counts": X.counts,
            "kernel_counts": self.part.counts,
            "kernel": self.choice.kernel,
            "solver": self.choice.spec,
            **({"rungs": [asdict(rung) for rung in self.rungs]} if self.rungs else {}),
            "search": search_record(self.choice, search.metric, search.folds, labels.kind, search.rule),
            "report": self.solver.report_,
            "inner_not_converged": self.inner_not_converged,
            "recognised": recognised,
            **means,
            **({"exemplars": exemplars} if (exemplars := self.exemplars()) else {}),
            **self.afterwards.record(),
            **notes,
        }

    def _of_units(self, kernel: Kernel, X: Units, about: Mapping[str, Any]) -> Model:
        """Return the model that compares new samples with those of its support."""
        rows = self._required_rows()
        return Model(
            kernel=kernel.restrict(rows),
            transforms=[transform.restrict(rows) for transform in self.part.transforms],
            solver=self.solver.restrict(rows),
            support=_alone(X.take(rows)),
            diagonal=self.part.diagonal[rows],
            **about,
        )

    def _of_features(self, kernel: Kernel, X: Units, about: Mapping[str, Any]) -> FeatureModel:
        """Return the model on features of new samples, which needs no training samples."""
        columns = self._required_rows()
        return FeatureModel(
            kernel=kernel,
            transforms=[],
            solver=self.solver.restrict(columns),
            support=_alone(X.take(slice(0, 0))),
            diagonal=self.part.diagonal,
            features=columns,
            names=tuple(name_features(kernel, X, columns)),
            **about,
        )

    def _required_rows(self) -> npt.NDArray[np.int64]:
        """Return the training samples, or features, that prediction needs, sorted; at least one."""
        rows = self.solver.support_ if len(self.solver.support_) else np.zeros(1, dtype=np.int64)
        for transform in reversed(self.part.transforms):
            rows = transform.required_rows(rows)
        return np.unique(rows)


def rows_seen(
    layers: Layers | None, data: Data, train: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the samples that the solver must classify for the layers: whole chains if required.

    Parameters
    ----------
    layers : Layers or None
        The layers after the solver.
    data : Data
        The data to classify.
    train : ndarray of int64
        The training set, disjoint from these samples.
    rows : ndarray of int64
        The samples to classify.

    Returns
    -------
    ndarray of int64
        Sorted, including neighbours.
    """
    if layers is None or data.residues is None or not layers.needs_chains():
        return rows
    return np.union1d(rows, neighbours(data.residues, rows, train, rows))


def _after_layers(layers: Layers, decisions: npt.NDArray[np.float64], chains: Any, kind: str) -> Decisions:
    """Return the decisions of layers from a solver's decision values."""
    decided = layers.decide(decisions, chains)
    probabilities = decided.probabilities
    if probabilities is not None and kind == "binary":
        probabilities = probabilities[:, 1]
    return Decisions(as_decisions(decided.scores, kind), decided.predicted, probabilities)


def _alone(X: Any) -> Any:
    """Return samples as a compact set, without the data they were cut from."""
    return X.compact() if isinstance(X, SequenceSet) else X
