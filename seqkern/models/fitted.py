"""A method that was fitted to a training part: it decides about other samples of the data, and becomes a Model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.evaluation.calibration import IsotonicCalibration, SigmoidCalibration
from seqkern.evaluation.held_out import neighbours
from seqkern.evaluation.selection import Choice
from seqkern.kernels.explicit import name_features
from seqkern.kernels.kernel import Kernel
from seqkern.layers import Layers
from seqkern.layers.chain import as_decisions
from seqkern.models.data import Data
from seqkern.models.decisions import Decisions, check_predicts, codes_of_decisions
from seqkern.models.feature_model import FeatureModel
from seqkern.models.model import Model
from seqkern.models.parts import Part
from seqkern.models.residue_model import ResidueModel
from seqkern.models.search import Search
from seqkern.models.sources import Source, Units
from seqkern.models.training_record import class_names, search_record, versions
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers.base import Solver
from seqkern.solvers.kinds import ClassSolver
from seqkern.solvers.thresholds import Threshold


@dataclass(frozen=True)
class InnerFits:
    """The fits of the inner loop and of what follows it: the choice, and decisions about held-out folds.

    Attributes
    ----------
    n : int
        How many there were.
    not_converged : int
        How many of these, and of the fits within them, did not converge.
    weights_not_converged : int
        How often the weights of kernels inside a kernel did not converge.

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
    """What `Method.fit` returns: all that was chosen and fitted, with the data that it was fitted to.

    Attributes
    ----------
    search : Search
        How it was chosen.
    data : Data
        What it was fitted on, and decides about.
    rows : ndarray of int64
        The training part.
    labels : Labels
        Of the training part.
    y : ndarray or None
        The labels as the solver takes them.
    choice : Choice
        What the inner loop chose.
    part : Part
        What the solver was fitted on, and what it needs to decide about the rows `ahead`.
    ahead : ndarray of int64 or None
        Samples that were known when it was fitted.
    solver : Solver
        Fitted.
    calibration : SigmoidCalibration, IsotonicCalibration or None
        What turns decisions into probabilities.
    threshold : Threshold or None
        Above which a decision means the positive class; None: 0.
    layers : Layers or None
        Fitted.
    inner : InnerFits
        How the fits before the solver's own went.
    kernel_converged : bool
        Whether the weights of kernels inside the kernel converged on the training part.

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
    calibration: SigmoidCalibration | IsotonicCalibration | None = None
    threshold: Threshold | None = None
    layers: Layers | None = None
    inner: InnerFits = InnerFits()
    kernel_converged: bool = True

    @property
    def source(self) -> Source:
        """Where the values of the chosen kernel come from."""
        return self.data.source(self.choice.kernel)

    @property
    def inner_not_converged(self) -> int:
        """How many fits did not converge: of the inner loop, of weights within it, and within the solver's own fit."""
        own = self.solver.report_.get("inner_not_converged", 0)
        return self.inner.not_converged + self.inner.weights_not_converged + own

    def decide(self, rows: npt.NDArray[np.int64]) -> Decisions:
        """Return what is decided about some samples of the data.

        Layers that look at neighbours are shown the decisions about whole chains, also where no label is known.

        Parameters
        ----------
        rows : ndarray of int64, shape (n,)
            Not of the training part.

        Returns
        -------
        Decisions

        Raises
        ------
        ModelError
            If the solver projects, and predicts nothing.
        """
        check_predicts(self.solver)
        kind = self.labels.kind
        seen = rows_seen(self.layers, self.data, self.rows, rows)
        decisions = self.solver.decision_function(self.values(seen))
        if self.layers is not None:
            chains = None if self.data.residues is None else self.data.residues.take(seen)
            decided = _after_layers(self.layers, decisions, chains, kind)
            return decided.take(np.searchsorted(seen, rows))
        above = 0.0 if self.threshold is None else self.threshold.value
        predicted = codes_of_decisions(kind, decisions, above)
        if kind == "multiclass":  # a training part may lack a class
            predicted = cast(ClassSolver, self.solver).classes_[predicted]
        probabilities = None if self.calibration is None else self.calibration.probabilities(decisions)
        return Decisions(decisions, predicted, probabilities)

    def values(self, rows: npt.NDArray[np.int64]) -> Any:
        """Return what the solver takes of some samples; what was computed ahead is there already.

        Parameters
        ----------
        rows : ndarray of int64
            Samples of the data.

        Returns
        -------
        ndarray, csr_array, FeatureBlocks or Implicit
            As the source gives it.
        """
        if self.ahead is not None and np.array_equal(rows, self.ahead):
            return self.part.test
        return self.source.beside(self.rows, rows, self.y)

    def model(
        self, policies: Mapping[str, str] | None = None, notes: Mapping[str, Any] | None = None
    ) -> Model | ResidueModel:
        """Return the model of new samples, cut down to what their prediction needs.

        Parameters
        ----------
        policies : mapping, optional
            How the sequences were read, for new ones to be read likewise.
        notes : mapping, optional
            JSON that goes into the record.

        Returns
        -------
        Model or ResidueModel
            For a solver that takes features, a FeatureModel; of residues, a ResidueModel.

        Raises
        ------
        ParameterError
            If the source knows kernel values alone, without kernel and samples, or layers follow the solver and the
            samples are not residues: only a predictor of residues has layers.
        """
        if self.layers is not None and self.data.residues is None:
            raise ParameterError(
                "a model with layers predicts residues, and these units are none", remedy="leave out the layers"
            )
        kernel = self.source.fitted_kernel(self.rows, self.y) if self.part.kernel is None else self.part.kernel
        X = self.source.units(self.rows)
        about: dict[str, Any] = {
            "kind": self.labels.kind,
            "classes": class_names(self.labels, self.solver),
            "policies": dict(policies or {}),
            "record": self._record(X, notes or {}),
        }
        make = self._of_features if self.source.gives == "features" else self._of_units
        made = make(kernel, X, about)
        residues = self.data.residues
        return made if residues is None else ResidueModel(made, residues.window, self.layers)

    def state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return (JSON dict, dict of arrays): what the file of the model holds."""
        return self.model().state()

    def _record(self, X: Units, notes: Mapping[str, Any]) -> dict[str, Any]:
        """Return how a model was made, as JSON: versions, sizes, what was compared and chosen, how the fits went."""
        labels, search = self.labels, self.search
        recognised = {}
        if labels.kind not in ("real", "none"):
            right = cast(ClassSolver, self.solver).predict(self.part.train) == self.y
            recognised = labels.take(right).class_counts()
        afterwards = {"calibration": self.calibration, "threshold": self.threshold}
        return {
            "versions": versions(),
            "seed": search.seed,
            "n": len(X),
            "classes": labels.class_counts(),
            "training_digest": X.digest(),
            "counts": X.counts,
            "kernel_counts": self.part.counts,
            "solver": self.choice.spec,
            "search": search_record(self.choice, search.metric, search.folds, labels.kind, search.rule),
            "report": self.solver.report_,
            "inner_not_converged": self.inner_not_converged,
            "recognised": recognised,
            **{name: fit.record() for name, fit in afterwards.items() if fit is not None},
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
        """Return the model that looks at features of new samples, and needs no others."""
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
        """Return the training samples, or features, that prediction needs, sorted; one at least."""
        rows = self.solver.support_ if len(self.solver.support_) else np.zeros(1, dtype=np.int64)
        for transform in reversed(self.part.transforms):
            rows = transform.required_rows(rows)
        return np.unique(rows)


def rows_seen(
    layers: Layers | None, data: Data, train: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the samples that a solver decides about, for layers to decide about some: whole chains where needed.

    Parameters
    ----------
    layers : Layers or None
        What follows the solver.
    data : Data
        What it decides about.
    train : ndarray of int64
        The training part, of which no sample is among them.
    rows : ndarray of int64
        The samples to be decided about.

    Returns
    -------
    ndarray of int64
        Sorted, where neighbours are among them.
    """
    if layers is None or data.residues is None or not layers.needs_chains():
        return rows
    return np.union1d(rows, neighbours(data.residues, rows, train, rows))


def _after_layers(layers: Layers, decisions: npt.NDArray[np.float64], chains: Any, kind: str) -> Decisions:
    """Return what layers make of a solver's decisions, as a solver of this kind gives it."""
    decided = layers.decide(decisions, chains)
    probabilities = decided.probabilities
    if probabilities is not None and kind == "binary":
        probabilities = probabilities[:, 1]
    return Decisions(as_decisions(decided.scores, kind), decided.predicted, probabilities)


def _alone(X: Any) -> Any:
    """Return samples without what else their set was cut from."""
    return X.compact() if isinstance(X, SequenceSet) else X
