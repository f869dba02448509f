"""A method fitted to a training set: it classifies other samples of the data, and can be turned into a Model."""

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import distribution, version
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from seqkern import __version__
from seqkern.core.errors import ParameterError, SeqkernError
from seqkern.core.package_files import build_digest
from seqkern.core.types import Array, Floats, Ints
from seqkern.evaluation.calibration import VARIANCE, VarianceCalibration
from seqkern.evaluation.held_out import (
    check_postprocessing,
    fit_postprocessing,
    held_out_decisions,
    held_out_residuals,
    neighbours,
)
from seqkern.evaluation.selection import AUTO, Choice, Search, ends, number_paths, unequal
from seqkern.kernels.kernel import Kernel
from seqkern.methods.model import (
    MEANS_KEY,
    Decisions,
    Model,
    Postprocessing,
    check_predicts,
    codes_of_decisions,
    find_probabilities,
)
from seqkern.methods.novelty import VALUES, labelled_record, ranges_record
from seqkern.methods.sources import Block, FitData, Samples, Source
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers.contract import ClassSolver, Solver
from seqkern.solvers.thresholds import PLAIN, SCORES, Threshold

if TYPE_CHECKING:
    from seqkern.methods.residue_model import ResidueModel
    from seqkern.solvers.layers.chain import Layers

# Records of how a model was trained.


def class_names(labels: Labels, solver: Solver) -> tuple[str, ...]:
    """Return the names of the classes, or components, in the order of the solver's decision values."""
    if labels.kind == "multiclass":
        return tuple(labels.classes[int(code)] for code in cast(ClassSolver, solver).classes_)
    if not hasattr(solver, "predict"):
        return tuple(str(number) for number in range(1, solver.report_["components"] + 1))
    return labels.classes


def search_record(choice: Choice, search: Search, kind: str) -> dict[str, Any] | None:
    """Return the candidates and their scores as JSON, or None if there was nothing to choose."""
    if math.isnan(choice.score):
        return None
    return {
        "metric": AUTO[kind] if search.metric == "auto" else search.metric,
        "folds": search.folds,
        "rule": search.rule,
        "kernels": [kernel for kernel, _ in choice.candidates],
        "specs": [spec for _, spec in choice.candidates],
        "scores": choice.scores.tolist(),
        "score": choice.score,
        "ends": grid_ends(choice, kind),
    }


def grid_ends(choice: Choice, kind: str) -> dict[str, str]:
    """Return the parameters whose best value is at an end of the grid, so that a better one may lie beyond.

    Each maps to ``"smallest"`` or ``"largest"``.
    """
    if choice.place not in choice.tied or (kind != "real" and choice.score >= 1 - 1e-9):
        return {}
    tied = [choice.candidates[c] for c in choice.tied]
    return ends((choice.kernel, choice.spec), tied, choice.candidates, number_paths(choice.spec))


def versions() -> dict[str, str]:
    """Return the versions of the software that trained the model."""
    return {
        "seqkern": __version__,
        "build": build_digest(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": _version("scipy"),
        "scikit-learn": _version("scikit-learn"),
    }


def _version(package: str) -> str:
    """Return the version of an installed package without parsing its long description, which takes milliseconds."""
    head = (distribution(package).read_text("METADATA") or "").partition("\n\n")[0]
    found = [line.partition(": ")[2] for line in head.splitlines() if line.startswith("Version: ")]
    return found[0] if found else version(package)


# The typical training samples of a fitted solver as rows of a table.


def exemplar_rows(solver: "Solver", ids: Sequence[str], classes: Sequence[str]) -> list[dict[str, Any]]:
    """Return the typical training samples of a fitted solver, by class, prototype and rank.

    The list is empty for a solver without prototypes.
    """
    return [
        {
            "class": classes[one.code],
            "prototype": one.prototype,
            "members": one.members,
            "rank": one.rank,
            "id": str(ids[one.row]),
            "distance": one.distance,
        }
        for one in solver.exemplars()
    ]


# Probabilities and the threshold of the positive class, fitted to held-out decisions after the choice of a solver.
#
# The rule for predicting the positive class is defined here once:
#
# 1. If a threshold rule was requested, decisions above the threshold are positive.
# 2. Otherwise, with probabilities, a probability above 0.5 is positive.
# 3. Otherwise, after a search, or for classes of unequal size, the threshold of best balanced accuracy is fitted;
#    or of best accuracy or MCC, if the hyperparameters were chosen by one of these. A search has held-out decisions
#    anyway, and the solver it chooses by ranking may have all decisions on one side of 0.
# 4. Otherwise a decision above 0 is positive; also with the rule ``none``, for a solver that sets its own threshold,
#    and if there are too few samples to hold some out.


def default_rule(labels: Labels, choice: Choice, solver: "Solver", metric: str = "auto") -> str | None:
    """Return the threshold rule used if none was requested; None for a threshold of 0."""
    searched = choice.scores.shape[1] > 0
    costs_given = isinstance(choice.spec.get("class_weight"), Mapping)
    if costs_given or solver.traits.own_threshold or not (searched or unequal(labels)):
        return None
    return metric if metric in SCORES else SCORES[0]


def fit_after_choice(
    data: FitData,
    choice: Choice,
    solver: "Solver",
    search: Search,
    *,
    calibration: str | None = None,
    threshold: str | None = None,
) -> Postprocessing:
    """Return what held-out decisions fit: calibration and threshold, or for numbers the scale of the variances.

    The decisions are those of the inner loop, if it keeps them.

    Errors are raised only if something was requested: a default threshold is never an error.
    """
    check_postprocessing(calibration, threshold)
    labels, how = data.labels, {"folds": search.folds, "seed": search.seed}
    if calibration == VARIANCE:
        if labels.kind == "real" and solver.traits.variances:
            residuals, n_folds, failed = held_out_residuals(data, choice.kernel, solver, **how)
            widths = VarianceCalibration.fit(residuals, n_folds)
            return Postprocessing(widths=widths, n_fits=n_folds, not_converged=failed)
        calibration = None  # a study may have labels and solvers of several kinds
    if labels.kind != "binary":
        return Postprocessing()
    asked = calibration is not None or threshold not in (None, PLAIN)
    unset = threshold is None and calibration is None
    rule = default_rule(labels, choice, solver, search.metric) if unset else threshold
    if calibration is None and rule in (None, PLAIN):
        return Postprocessing()
    by_probability = calibration is not None and threshold is None
    decisions, n_folds, n_fits, failed = choice.decisions, choice.n_folds, 0, 0
    try:
        if decisions is None:
            decisions, n_folds, failed = held_out_decisions(data, choice.kernel, solver, **how)
            n_fits = n_folds
        fits = fit_postprocessing(decisions, labels.signs() > 0, n_folds, calibration=calibration, threshold=rule)
    except SeqkernError as error:
        if asked:
            raise
        return Postprocessing(unset=error.problem)
    return Postprocessing(*fits, by_probability, n_fits=n_fits, not_converged=failed)


@dataclass(frozen=True)
class InnerFits:
    """The number of fits in the inner loop and for held-out decision values, and of those that did not converge.

    `not_converged` includes nested fits.

    >>> InnerFits(10, 2).not_converged
    2
    """

    n: int = 0  # Their number
    not_converged: int = 0  # How many of these, and of nested fits, did not converge
    weights_not_converged: int = 0  # How often kernel weights did not converge


@dataclass(frozen=True, eq=False)
class FittedMethod:
    """The result of `Method.fit`: everything chosen and fitted, with the data."""

    search: Search  # The fitted method
    data: FitData  # The data for fitting and classification
    rows: Ints  # The training set
    labels: Labels  # Labels of the training set
    y: Array | None  # The labels in the form for the solver
    choice: Choice  # The choice of the inner loop
    block: Block  # The input of the solver, for fitting and for the rows `ahead`
    ahead: Ints | None  # Samples known at the time of fitting
    solver: Solver  # Fitted
    # Calibration and threshold, fitted to held-out decision values
    postprocessing: Postprocessing = field(default_factory=Postprocessing)
    layers: "Layers | None" = None  # Fitted
    inner: InnerFits = InnerFits()  # The fits before the final one
    kernel_converged: bool = True  # Whether kernel weights converged on the training set

    @property
    def threshold(self) -> Threshold | None:
        """The threshold of the positive class; None if there is none."""
        return self.postprocessing.threshold

    @property
    def source(self) -> Source:
        """The source of the chosen kernel's values."""
        return self.data.sources[self.choice.kernel]

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

    def decide(self, rows: Ints) -> Decisions:
        """Return the decisions about samples that are not in the training set.

        Layers with neighbours use the decision values of whole chains, including residues without known states.
        """
        check_predicts(self.solver)
        kind = self.labels.kind
        seen = rows_seen(self.layers, self.data, self.rows, rows)
        block = self.block_of(seen)
        decisions = self.solver.decision_function(block.test)
        if self.layers is not None:
            chains = None if self.data.residues is None else self.data.residues.take(seen)
            decided = _after_layers(self.layers, decisions, chains, kind)
            return decided.take(np.searchsorted(seen, rows))
        predicted = codes_of_decisions(kind, decisions, self.postprocessing)
        if kind == "multiclass":  # a training set may lack a class
            predicted = cast(ClassSolver, self.solver).classes_[predicted]
        variances = None
        if self.solver.traits.variances and block.test_diagonal is not None:
            variances = self.solver.variances(block.test, block.test_diagonal)
            variances = None if variances is None else self.postprocessing.widened(variances)
        probabilities = find_probabilities(self.solver, self.postprocessing.calibration, decisions, variances)
        return Decisions(decisions, predicted, probabilities, variances)

    def block_of(self, rows: Ints) -> Block:
        """Return the solver's input for samples, reusing values computed ahead."""
        if self.ahead is not None and np.array_equal(rows, self.ahead):
            return self.block
        if not self.source.repeatable:
            raise ParameterError(
                f"feature vectors of kernel {self.kernel.name!r} that are not stored belong to one training set "
                "and the rows computed with it",
                remedy="give these rows (ahead) when fitting the method",
            )
        return self.data.at(self.choice.kernel, rows, like=self.rows)

    def column_names(self, columns: Ints) -> list[str]:
        """Return the names of columns of the solver's input: features, or training samples of a Gram matrix."""
        if self.source.gives == "features":
            return self.kernel.features.named(self.source.X, columns)
        return [str(self.labels.ids[j]) for j in columns]

    @property
    def kernel(self) -> Kernel:
        """The kernel, fitted on the training set."""
        if self.block.kernel is not None:
            return self.block.kernel
        if self.block.joined is None:
            return self.source.fitted_kernel(self.data.in_sources(self.rows), self.y)
        fitted: Kernel = self.block.joined.fit_parts(self._samples(), self.y)  # its weights are known
        return fitted

    def _samples(self) -> Samples:
        """Return the training samples."""
        return self.source.units(self.data.in_sources(self.rows))

    def model(
        self,
        policies: Mapping[str, str] | None = None,
        notes: Mapping[str, Any] | None = None,
        keep_support: bool = False,
    ) -> "Model | ResidueModel":
        """Return the model for new samples, reduced to the data required for prediction.

        It is a FeatureModel for a solver on features, and a ResidueModel for residues. A model trained by products
        with sums over k-mers smaller than its support is a TableModel, unless `keep_support`.
        """
        if self.layers is not None and self.data.residues is None:
            raise ParameterError(
                "a model with layers predicts residues, but these samples are not residues", remedy="remove the layers"
            )
        kernel, X = self.kernel, self._samples()
        about: dict[str, Any] = {
            "kind": self.labels.kind,
            "classes": class_names(self.labels, self.solver),
            "policies": dict(policies or {}),
            "record": self._record(X, notes or {}),
        }
        rows, gives = self._required_rows(), self.source.gives
        if gives == "features":  # needs no training samples
            from seqkern.methods.feature_model import FeatureModel  # imported here for fast start-up

            empty, names = _alone(X.take(slice(0, 0))), tuple(kernel.features.named(X, rows))
            made: Model = FeatureModel(
                kernel, [], self.solver.restrict(rows), empty, self.block.diagonal, **about, features=rows, names=names
            )
        else:
            transforms = [transform.restrict(rows) for transform in self.block.transforms]
            support, diagonal = _alone(X.take(rows)), self.block.diagonal[rows]
            made = Model(kernel, transforms, self.solver.restrict(rows), support, diagonal, **about)
        # variances need the support sequences
        if gives == "operator" and not keep_support and not self.solver.traits.variances:
            from seqkern.methods.table_model import smaller  # imported here for fast start-up

            scale = self.block.train.scale if kernel.normalize else None  # known, but costly to compute again
            tally = getattr(getattr(self.solver, "_vectors", None), "tally", None)  # of a fit without a support
            made = smaller(made, None if scale is None else scale[rows], tally)
        if self.data.residues is None:
            return made
        from seqkern.methods.residue_model import ResidueModel  # imported here for fast start-up

        return ResidueModel(made, self.data.residues.window, self.layers)

    def _record(self, X: Samples, notes: Mapping[str, Any]) -> dict[str, Any]:
        """Return a record of the training as JSON: versions, sizes, candidates and choice, convergence."""
        labels, search = self.labels, self.search
        unlabelled = int(np.count_nonzero(~labels.used()))
        recognised, means = {}, dict[str, Any]()
        if labels.kind == "real":
            means[VALUES] = [float(np.nanmin(labels.y)), float(np.nanmax(labels.y))]
        if labels.kind == "real" and self.solver.traits.variances:
            fitted = self.solver.decision_function(self.block.train)
            means[MEANS_KEY] = {"least": float(fitted.min()), "greatest": float(fitted.max())}
        if labels.kind not in ("real", "none"):
            right = cast(ClassSolver, self.solver).predict(self.block.train) == self.y
            recognised = labels.take(right).class_counts()
        return {
            "versions": versions(),
            "seed": search.seed,
            "n": len(X),
            "classes": labels.class_counts(),
            **({"unlabelled": unlabelled} if unlabelled else {}),
            "training_digest": X.digest(),
            **({} if self.data.residues is not None else labelled_record(X, labels) | ranges_record(X)),
            "counts": X.counts,
            "kernel_counts": self.block.counts,
            "kernel": self.choice.kernel,
            "solver": self.choice.spec,
            **({"rungs": [asdict(rung) for rung in self.choice.rungs]} if self.choice.rungs else {}),
            "search": search_record(self.choice, search, labels.kind),
            "report": self.solver.report_,
            "inner_not_converged": self.inner_not_converged,
            "recognised": recognised,
            **means,
            **({"exemplars": exemplars} if (exemplars := self.exemplars()) else {}),
            **self.postprocessing.record(),
            **notes,
        }

    def _required_rows(self) -> Ints:
        """Return the training samples, or features, that prediction needs, sorted; at least one."""
        rows = self.solver.support_ if len(self.solver.support_) else np.zeros(1, dtype=np.int64)
        for transform in reversed(self.block.transforms):
            rows = transform.required_rows(rows)
        return np.unique(rows)


def rows_seen(layers: "Layers | None", data: FitData, train: Ints, rows: Ints) -> Ints:
    """Return the samples that the solver must classify for the layers: whole chains if required."""
    if layers is None or data.residues is None or not layers.needs_chains():
        return rows
    return np.union1d(rows, neighbours(data.residues, rows, train, rows))


def _after_layers(layers: "Layers", decisions: Floats, chains: Any, kind: str) -> Decisions:
    """Return the decisions of layers from a solver's decision values."""
    from seqkern.solvers.layers.chain import as_decisions  # imported here: most methods have no layers

    decided = layers.decide(decisions, chains)
    probabilities = decided.probabilities
    if probabilities is not None and kind == "binary":
        probabilities = probabilities[:, 1]
    return Decisions(as_decisions(decided.scores, kind), decided.predicted, probabilities)


def _alone(X: Any) -> Any:
    """Return samples as a compact set, without the data they were cut from."""
    return X.compact() if isinstance(X, SequenceSet) else X
