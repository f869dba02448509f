"""A trained classifier for new sequences, and its file.

The file is one archive of JSON and arrays (archive.py), without pickled objects: the states of kernel,
transforms and solver, reduced to the training samples required for prediction, these samples, and a record
of the training::

    decision(X) ─▶ kernel of X with the support samples ─▶ transforms ─▶ solver.decision_function

If the decision value is a weighted sum of kernel values (affine.py), and the kernel can fold such a sum
into weights of its features, the weights are used instead of the kernel matrix.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeVar

import numpy as np

from seqkern.core.archive import nest, save_archive
from seqkern.core.errors import ModelError, ParameterError, PolicyError
from seqkern.core.file_kinds import MODEL
from seqkern.core.types import Array, Floats, Ints
from seqkern.evaluation.calibration import Calibration, VarianceCalibration, calibration_from_record
from seqkern.gram.transforms.gram_transform import GramTransform, naming_rows
from seqkern.kernels.blocks import fill
from seqkern.kernels.decisions import attributions, fold, kmer_weights, over_root
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_specs import kernel_words
from seqkern.kernels.occurrences import KmerWeights
from seqkern.kernels.prepared import Prepared
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.joining import check_widths
from seqkern.sequences.labels import what_it_learns
from seqkern.sequences.sequence_set import SequenceSet, as_sequences, sequence_views
from seqkern.sequences.tables import FeatureTable, as_features
from seqkern.sequences.views import Segments
from seqkern.sequences.windows import Window, as_window
from seqkern.solvers.capabilities import Variances
from seqkern.solvers.solver_specs import solver_words
from seqkern.solvers.thresholds import Threshold

if TYPE_CHECKING:
    from seqkern.solvers.contract import Solver


# Decisions of a model about samples, and the predictions and probabilities derived from decision values.

BY_PROBABILITY = "probability"
"""Rule in the record of a model whose predictions follow its probabilities."""


@dataclass(frozen=True)
class Postprocessing:
    """Calibration and threshold, fitted to held-out decisions, and the rule that makes a decision positive.

    The rule is a threshold, a probability above 0.5, or a decision above 0.

    >>> Postprocessing().codes(np.array([-0.5, 2.0])), Postprocessing().words
    (array([0, 1]), 'decision values above zero')
    """

    calibration: Calibration | None = None  # The calibration of decision values
    threshold: Threshold | None = None  # The threshold of the positive class; None: see `by_probability`, else 0
    by_probability: bool = False  # Whether the positive class is predicted where its probability is above 0.5
    unset: str | None = None  # Why the threshold is 0 where it would be fitted by default
    n_fits: int = 0  # Number of additional fits
    not_converged: int = 0  # How many of these did not converge
    widths: VarianceCalibration | None = None  # The factor of predicted standard deviations of numbers

    def widened(self, variances: Variances) -> Variances:
        """Return calibrated variances; without a factor the given ones."""
        return variances if self.widths is None else variances.widened(self.widths.factor, self.widths.tail)

    def codes(self, decisions: Floats) -> Ints:
        """Return 1 for positive decisions, else 0."""
        if self.threshold is None and self.by_probability and self.calibration is not None:
            return (self.calibration.probabilities(decisions) > 0.5).astype(np.int64)
        return (decisions > (0.0 if self.threshold is None else self.threshold.value)).astype(np.int64)

    @property
    def words(self) -> str:
        """The rule in words, for messages."""
        if self.threshold is not None:
            return f"decision values above {self.threshold.value:.10g}, the model's threshold for {self.threshold.rule}"
        return "probabilities above 0.5" if self.by_probability else "decision values above zero"

    def record(self) -> dict[str, Any]:
        """Return the entries of a model's record."""
        fits = {"calibration": self.calibration, "threshold": self.threshold, "widths": self.widths}
        found: dict[str, Any] = {name: asdict(fit) for name, fit in fits.items() if fit is not None}
        if self.by_probability:
            found["predicted_by"] = BY_PROBABILITY
        return found if self.unset is None else found | {"threshold_unset": self.unset}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> "Postprocessing":
        """Return what a model's record says."""
        calibration, threshold, widths = (record.get(name) for name in ("calibration", "threshold", "widths"))
        return cls(
            None if calibration is None else calibration_from_record(calibration),
            None if threshold is None else Threshold(**threshold),
            record.get("predicted_by") == BY_PROBABILITY,
            widths=None if widths is None else VarianceCalibration(**widths),
        )


class Decisions(NamedTuple):
    """Decisions about n samples, shape (n,), or (n, classes) for several classes.

    Two classes: higher for the positive class; real labels: the predicted number. Probabilities are those of
    the positive class, or of each class, and None without calibration unless the solver gives them; `predicted`
    has class codes.

    >>> found = Decisions(np.array([-0.5, 2.0]), np.array([0, 1]), None)
    >>> found.predicted
    array([0, 1])
    """

    decisions: Floats  # shape (n,): Binary: higher for the positive class. Real: the predicted number
    predicted: Array  # shape (n,): Class codes, int64; for real labels the numbers
    # shape (n,): Of the positive class, or of each class; None without calibration, unless the solver gives them
    probabilities: Floats | None
    variances: "Variances | None" = None  # Of the decisions; None unless the solver gives them

    @property
    def deviations(self) -> Floats | None:
        """The predicted standard deviations of observations, float64 (n,); None without variances."""
        return None if self.variances is None else np.sqrt(self.variances.observed)

    @property
    def tail(self) -> float:
        """The tail of observations, 0 where they are normal."""
        return 0.0 if self.variances is None else self.variances.tail

    def take(self, rows: Ints) -> "Decisions":
        """Return the decisions about the given rows."""
        probabilities = None if self.probabilities is None else self.probabilities[rows]
        variances = None if self.variances is None else self.variances.take(rows)
        return Decisions(self.decisions[rows], self.predicted[rows], probabilities, variances)


def check_finite(decisions: Floats, ids: Sequence[str] | Array) -> None:
    """Raise ModelError for the first sample whose decision is not a finite number."""
    if np.isfinite(decisions).all():
        return
    values = decisions.reshape(len(decisions), -1)
    row, column = np.unravel_index(int(np.argmin(np.isfinite(values))), values.shape)
    raise ModelError(
        f"the decision is {values[row, column]:g}: the model's weights, or the values of the record, are too large",
        record=str(ids[int(row)]),
        remedy="train the model again, or remove the record",
    )


def codes_of_decisions(kind: str, decisions: Floats, rule: Postprocessing | None = None) -> Array:
    """Return the class codes predicted from decision values, int64 (n,); the values themselves for real labels.

    >>> codes_of_decisions("binary", np.array([-0.5, 2.0]))
    array([0, 1])
    """
    if kind == "real":
        return decisions
    return np.argmax(decisions, axis=1) if kind == "multiclass" else (rule or Postprocessing()).codes(decisions)


def find_probabilities(
    solver: "Solver",
    calibration: Calibration | None,
    decisions: Floats,
    variances: "Variances | None",
) -> Floats | None:
    """Return the probabilities of a calibration, else of a solver with variances, else None."""
    if calibration is not None:
        return calibration.probabilities(decisions)
    if variances is None:
        return None
    own = solver.probabilities(decisions, variances)
    return None if own is None else np.ascontiguousarray(own[:, 1])


def check_predicts(solver: "Solver") -> None:
    """Raise ModelError for a solver that projects on components and does not predict."""
    if not hasattr(solver, "predict"):
        raise ModelError("projects on components and does not predict", remedy="use its decision values")


# The decision value of an SVM as one weighted sum of kernel values, with Gram transforms merged into the weights.
#
# f(x) = Σ_j c_j K(x, z_j) / r(x) + b, where K is the kernel before all transforms, z_j are the model's
# samples, and r(x) is √K(x, x) if ``normalise`` is among the transforms, else 1.


@dataclass(frozen=True)
class AffineForm:
    """The decision function of an SVM, or another solver with a single decision value, as a weighted sum.

    `dividing` are the transforms up to the last one that divides rows; it is often empty.
    """

    kernel: Kernel  # Fitted, if it learns from data
    support: SequenceSet | FeatureTable  # The z_j
    coefficients: Floats  # shape (m,): c_j
    constant: float  # b, the bias
    dividing: Sequence[GramTransform]  # The transforms up to the last that divides rows, in order; often none

    def fold(self, columns: Prepared) -> Callable[[Prepared], Floats] | None:
        """Return the function from prepared rows to decision values, or None if it requires the kernel matrix."""
        folded = fold(self.kernel, columns, self.coefficients)
        if folded is None:
            return None
        return lambda rows: self.divided(folded(rows), rows.diagonal) + self.constant

    def attributions(self, X: SequenceSet) -> Floats:
        """Return the contribution of each residue to f(x) − b, record by record, shape (residues,)."""
        shares = attributions(self.kernel, X, self.support, self.coefficients)
        if not self.dividing:
            return shares
        diagonal = self.kernel.prepare(X, like=self.kernel.prepare(self.support)).diagonal
        factors = self.divided(np.ones(len(X)), diagonal)
        return shares * np.repeat(factors, X.lengths)

    def kmer_weights(self, X: SequenceSet) -> KmerWeights:
        """Return the contribution of one occurrence of each k-mer of `X` or the z_j to the decision value.

        See `seqkern.kernels.decisions.kmer_weights`.
        """
        return kmer_weights(self.kernel, X, self.support, self.coefficients)

    def kmer_tables(self) -> list[tuple[int, Floats]] | None:
        """Return the weights of all k-mers in f(x) − b, before normalisation; None if there are no such weights."""
        if self.dividing or not isinstance(self.support, SequenceSet):
            return None
        coefficients = self.coefficients
        if self.kernel.normalize:
            coefficients = over_root(coefficients, self.kernel.prepare(self.support).raw_diagonal)
        return self.kernel.tables.weights(self.support, coefficients)

    def divided(self, values: Floats, diagonal: Floats) -> Floats:
        """Return values / r(x), and 0 where r(x) is 0, for the diagonal K(x, x) before all transforms."""
        for transform in self.dividing:
            root, diagonal = transform.divide_rows(diagonal)
            if root is not None:
                values = np.divide(values, root, out=np.zeros_like(values), where=root > 0)
        return values


def affine_form(
    kernel: Kernel, support: SequenceSet | FeatureTable, solver: Any, transforms: Sequence[GramTransform]
) -> "AffineForm":
    """Return the AffineForm of a fitted solver after fitted transforms; raise ParameterError if there is none."""
    linear = solver.linear()
    if linear is None:
        raise ParameterError(
            f"the decisions of solver {solver.name!r} are not weighted sums of kernel values",
            remedy="choose a solver such as csvc or psvc",
        )
    coefficients, constant = linear
    dividing = [number for number, transform in enumerate(transforms) if transform.divides]
    before = transforms[: dividing[-1] + 1] if dividing else []
    if any(transform.needs_all() for transform in before):
        raise ParameterError(
            f"the transform {before[-1].name!r} divides by a value that depends on all columns, so the decision is "
            "not a weighted sum of kernel values",
            remedy="normalise first, or in the kernel (normalize=true), and use an empirical map with normalize=false",
        )
    for transform in reversed(transforms):
        coefficients, more = transform.pull_back(coefficients)
        constant += more
    return AffineForm(kernel, support, coefficients, float(constant), before)


Result = TypeVar("Result")

CHUNK_BYTES = 1 << 25
FOLDED_ROWS = 1 << 14  # of a decision without the matrix, whatever the support
MEANS_KEY = (
    "training_means"  # in the record: the least and the greatest mean of a Gaussian process at its training samples
)
DATA: dict[str, type[SequenceSet] | type[FeatureTable]] = {"sequences": SequenceSet, "features": FeatureTable}


@dataclass(frozen=True, eq=False)
class Model:
    """A trained classifier.

    Attributes
    ----------
    kernel : Kernel
        Fitted, if it learns from data.
    transforms : list of GramTransform
        Fitted, for the columns `support`.
    solver : Solver
        Fitted, for the columns `support`.
    support : SequenceSet or FeatureTable
        The training samples that prediction needs.
    diagonal : ndarray of float64, shape (len(support),)
        K(z, z) of each of them.
    kind : {"binary", "multiclass", "real", "none"}
        The kind of labels that it was trained on.
    classes : tuple of str
        (negative, positive), or one for each column of the decisions; empty for real labels. For a model that
        projects, the numbers of the components.
    policies : dict
        The policies for reading the training sequences: ``unknown``, ``ids``, ``empty``.
    record : dict
        Record of the training: versions, seed, sizes, candidates and choice, the solver's report; if present,
        the window around sites and the calibration.

    Examples
    --------
    >>> from seqkern.kernels import MismatchKernel
    >>> from seqkern.methods.training import train_model
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["CAGGTAAG", "AAGGTGAG", "CAGGCATG", "TCGCTAAT"], "dna")
    >>> labels = make_labels(X.ids, ["donor", "donor", "decoy", "decoy"], positive="donor")
    >>> model = train_model(X, labels, MismatchKernel(3, 1), "csvc:C=10")
    >>> model.predict(["TAGGTAAG", "TCGCAAAT"])
    array(['donor', 'decoy'], dtype='<U5')
    >>> model.decision(["TAGGTAAG"]).round(2)
    array([1.17])

    It is stored as one file:

    >>> import tempfile
    >>> from seqkern.methods.loading import load_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/donors.model")
    ...     read = load_model(f"{folder}/donors.model")
    >>> bool(np.all(read.decision(X) == model.decision(X)))
    True
    """

    own_name: ClassVar[str] = "own"

    kernel: Kernel
    transforms: list[GramTransform]
    solver: Any  # a Solver; `predict` and `classes_` depend on its kind
    support: SequenceSet | FeatureTable
    diagonal: Floats
    kind: str
    classes: tuple[str, ...]
    policies: dict[str, str]
    record: dict[str, Any]

    def decision(self, X: Any, *, n_threads: int | None = None) -> Floats:
        """Return the decision values of new samples.

        Parameters
        ----------
        X : SequenceSet, list of str, FeatureTable or 2-D array, n samples
            New samples of the same kind as in training.
        n_threads : int, optional
            Default: the number of cores.

        Returns
        -------
        ndarray of float64, shape (n,), or (n, classes) for several classes or components
            Binary: larger for the positive class, see `cut`. Real: the predicted number. A sample's values do not
            depend on the other samples.

        Raises
        ------
        ModelError
            If the alphabet or the features differ from those in training, or a decision is not a finite number.
        SequenceError
            If the kernel rejects a sample, or the vectors of a view have another length than in training.
        """
        X = self._coerced(X)
        decisions = self._decisions(X, n_threads)
        check_finite(decisions, X.ids)
        return decisions

    def _decisions(self, X: Any, n_threads: int | None) -> Floats:
        """Return the decision values of new samples, not checked."""
        if self.stages is not None:
            first = self.stages[0].decision(X, n_threads=n_threads)
            some = X.take(np.flatnonzero(first >= 0))
            second = self.stages[1].decision(some, n_threads=n_threads) if len(some) else np.empty(0)
            return self.solver.joined(first, second)
        shape = (len(self.classes),) if self.kind == "multiclass" or self.projects else ()
        out = np.empty((len(X), *shape))
        decide = self._folded or (lambda rows: self.by_matrix(rows, n_threads))
        for part, values in self._in_chunks(X, decide, self._step if self._folded is None else FOLDED_ROWS):
            out[part] = values
        return out

    @property
    def _step(self) -> int:
        """Number of new samples per block of the kernel matrix with the support samples."""
        return max(1, CHUNK_BYTES // (8 * len(self.columns)))

    def _in_chunks(self, X: Any, work: Callable[[Prepared], Result], step: int) -> Iterator[tuple[slice, Result]]:
        """Yield consecutive slices of new samples, with the result of `work` on each, prepared by the kernel."""
        for start in range(0, len(X), step):
            part = slice(start, start + step)
            with remedy_after_training():
                rows = self.kernel.prepare(X.take(part), like=self.columns)
            with naming_rows(X.ids[part]):
                yield part, work(rows)

    def decision_and_variances(self, X: Any, *, n_threads: int | None = None) -> tuple[Floats, Variances | None]:
        """Return the decision values of new samples, and their variances if the solver gives them.

        Parameters
        ----------
        X : SequenceSet, list of str, FeatureTable or 2-D array, n samples
            New samples of the same kind as in training.
        n_threads : int, optional
            Default: the number of cores.

        Returns
        -------
        decisions : ndarray of float64
            Decision values as from `decision`.
        variances : Variances or None
            None unless the solver `gives_variances`.

        Raises
        ------
        ModelError, SequenceError
            As for `decision`.
        """
        if not self.solver.traits.variances:
            return self.decision(X, n_threads=n_threads), None
        X = self._coerced(X)

        def _both(rows: Prepared) -> tuple[Floats, Variances]:
            K, diagonal = self._transformed(self._kernel_values(rows, n_threads), rows.diagonal)
            return self.solver.decision_function(K), self.solver.variances(K, diagonal)

        found = [both for _, both in self._in_chunks(X, _both, self._step)]
        decisions = np.concatenate([np.empty(0), *(decided for decided, _ in found)])
        return decisions, self.cut.widened(Variances.joined([variances for _, variances in found]))

    @cached_property
    def stages(self) -> "tuple[Model, Model] | None":
        """Models of both stages of the solver, each with its own support samples; None if it has no stages."""
        found = self.solver.stages()
        if found is None or self.transforms:
            return None
        first, second = (self._stage(stage) for stage in found)
        return first, second

    def _stage(self, solver: Any) -> "Model":
        """Return the model of a single stage, with its solver."""
        rows = solver.support_ if len(solver.support_) else np.zeros(1, dtype=np.int64)
        support = self.support.take(rows)
        return Model(
            kernel=self.kernel,
            transforms=[],
            solver=solver.restrict(rows),
            support=support.compact() if isinstance(support, SequenceSet) else support,
            diagonal=self.diagonal[rows],
            kind=self.kind,
            classes=self.classes,
            policies=self.policies,
            record={},
        )

    @property
    def projects(self) -> bool:
        """Whether decision values are coordinates, as in kernel PCA, without predictions."""
        return not hasattr(self.solver, "predict")

    def by_matrix(self, rows: Prepared, n_threads: int | None = None) -> Floats:
        """Return the decision values of prepared rows from their kernel with the support samples.

        Parameters
        ----------
        rows : Prepared
            New samples, as the kernel prepares them for `columns`.
        n_threads : int, optional
            Default: the number of cores.

        Returns
        -------
        ndarray of float64
            As from `decision`.
        """
        return self.by_values(self._kernel_values(rows, n_threads), rows.diagonal)

    def _kernel_values(self, rows: Prepared, n_threads: int | None) -> Floats:
        """Return the kernel matrix of prepared rows with the support samples."""
        K = np.empty((len(rows), len(self.columns)))
        fill(self.kernel, rows, self.columns, K, n_threads=n_threads)
        return K

    def by_values(self, K: Floats, diagonal: Floats | None) -> Floats:
        """Return the decision values of samples from their kernel values with the support samples.

        Parameters
        ----------
        K : ndarray of float64, shape (n, support samples)
            May be overwritten.
        diagonal : ndarray of float64, shape (n,), or None
            Kernel values of the samples with themselves.

        Returns
        -------
        ndarray of float64
            As from `decision`.
        """
        return self.solver.decision_function(self._transformed(K, diagonal)[0])

    def _transformed(self, K: Floats, diagonal: Floats | None) -> tuple[Floats, Floats | None]:
        """Return kernel values of samples, and their diagonal K(x, x), after the transforms."""
        for transform in self.transforms:
            K, diagonal = transform.transform(K, diagonal)
        return K, diagonal

    @cached_property
    def _folded(self) -> Callable[[Prepared], Floats] | None:
        """A decision function without the kernel matrix, see `AffineForm.fold`; None if there is none."""
        try:
            form = self.form()
        except ParameterError:
            return None
        return form.fold(self.columns)

    def form(self) -> AffineForm:
        """Return the AffineForm of the decision; ParameterError if it is not a weighted sum of kernel values."""
        return affine_form(self.kernel, self.support, self.solver, self.transforms)

    @property
    def n_columns(self) -> int:
        """The number of the solver's columns."""
        return len(self.columns)

    def own_state(self) -> tuple[dict[str, Any], dict[str, Array]] | None:
        """Return the additional (JSON dict, dict of arrays) of a kind of model; None for a plain one."""
        return None

    def check_own(self) -> None:
        """Raise ValueError unless there are samples and diagonal values for all columns."""
        good = len(self.support) > 0 and self.diagonal.shape == (len(self.support),)
        if not good or self.diagonal.dtype != np.float64:
            raise ValueError("inconsistent parts")

    def predict(self, X: Any, *, n_threads: int | None = None) -> Array:
        """Return the predictions for new samples."""
        check_predicts(self.solver)
        return self.classify(self.decision(X, n_threads=n_threads))

    def decide(self, X: Any, *, n_threads: int | None = None) -> Decisions:
        """Return the decisions about new samples: decision values, codes into `classes`, probabilities, variances.

        Parameters
        ----------
        X : SequenceSet, list of str, FeatureTable or 2-D array, n samples
            New samples of the same kind as in training.
        n_threads : int, optional
            Default: the number of cores.

        Returns
        -------
        Decisions

        Raises
        ------
        ModelError, SequenceError
            As for `predict` and `decision`.
        """
        check_predicts(self.solver)
        decisions, variances = self.decision_and_variances(X, n_threads=n_threads)
        probabilities = find_probabilities(self.solver, self.calibration, decisions, variances)
        return Decisions(decisions, self._codes(decisions), probabilities, variances)

    def classify(self, decisions: Floats) -> Array:
        """Return the predictions for decision values.

        Parameters
        ----------
        decisions : ndarray of float64, shape (n,) or (n, classes)
            Decision values as from `decision`.

        Returns
        -------
        ndarray, shape (n,)
            As from `predict`.
        """
        codes = self._codes(decisions)
        return codes if self.kind == "real" else np.array(self.classes)[codes]

    def _codes(self, decisions: Floats) -> Array:
        """Return the class codes for decision values; for real labels, the decision values."""
        return codes_of_decisions(self.kind, decisions, self.cut)

    def save(self, path: str | Path) -> None:
        """Write the model to one file.

        Parameters
        ----------
        path : path-like
            The file.

        Raises
        ------
        FileError
            If the file cannot be written.
        """
        save_archive(path, *self.state())

    def state(self, **more: tuple[dict[str, Any], dict[str, Array]]) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return the content of the model file."""
        parts = [
            *more.items(),
            ("kernel", self.kernel.state()),
            ("solver", self.solver.state()),
            ("support", self.support.state()),
        ]
        parts += [(f"transform{i}", transform.state()) for i, transform in enumerate(self.transforms)]
        header: dict[str, Any] = {
            **MODEL.stamp(),
            "data": next(name for name, cls in DATA.items() if isinstance(self.support, cls)),
            "kind": self.kind,
            "classes": list(self.classes),
            "policies": self.policies,
            "record": self.record,
            "n_transforms": len(self.transforms),
        }
        arrays = {"diagonal": self.diagonal}
        if self.own_state() is not None:
            parts.append((self.own_name, self.own_state()))
        for name, (json_part, array_part) in parts:
            header[name] = json_part
            arrays.update(nest(name, array_part))
        return header, arrays

    @cached_property
    def cut(self) -> Postprocessing:
        """The calibration, the threshold, and the rule that makes a decision about two classes positive."""
        return Postprocessing.of_record(self.record)

    @property
    def calibration(self) -> Calibration | None:
        """The calibration of decision values to `probabilities`; None without."""
        return self.cut.calibration

    @property
    def threshold(self) -> Threshold | None:
        """The Threshold above which the positive class is predicted; None if there is none, see `cut`."""
        return self.cut.threshold

    @property
    def window(self) -> Window | None:
        """The Window around sites that the model was trained on; None if there is none."""
        stored = self.record.get("window")
        return None if stored is None else as_window(stored)

    @property
    def alphabet(self) -> Alphabet | None:
        """The Alphabet of the sequences, or None for features."""
        return getattr(self.support, "alphabet", None)

    @property
    def sequence_views(self) -> dict[str, Segments]:
        """The sequences of each training sample by name, if it had several; else empty."""
        return sequence_views(self.support) if isinstance(self.support, SequenceSet) else {}

    @cached_property
    def columns(self) -> Prepared:
        """The support samples prepared for the kernel, verified with the diagonal stored at training."""
        columns = self.kernel.prepare(self.support)
        if not np.allclose(columns.diagonal, self.diagonal, rtol=1e-9, atol=0):
            raise ModelError(
                "this version of seqkern computes different kernel values than the version that trained the model"
            )
        return columns

    def _coerced(self, X: Any) -> SequenceSet | FeatureTable:
        """Return new samples as the kind of data used in training."""
        if isinstance(self.support, SequenceSet):
            X = X if isinstance(X, SequenceSet) else as_sequences(X, self.support.alphabet)
            if X.alphabet.letters != self.support.alphabet.letters:
                raise ModelError(
                    f"the model was trained on {self.support.alphabet.name}, but these sequences are {X.alphabet.name}",
                    remedy="use the model's alphabet",
                )
            check_widths(X, self.support, self.kernel.traits.views)
            return X
        names = self.support.columns
        named = isinstance(X, FeatureTable)
        missing: Literal["error", "keep"] = "keep" if self.kernel.traits.accepts_missing else "error"
        X = as_features(X, missing)
        if len(X.columns) != len(names) or (named and X.columns != names):
            raise ModelError(
                f"the features differ from those of the model ({len(names)} in the model, {len(X.columns)} here)",
                remedy="give the same columns in the same order",
            )
        return X if named else FeatureTable(X.values, X.ids, names, missing=missing)


@contextlib.contextmanager
def remedy_after_training() -> Iterator[None]:
    """Replace the remedy of a PolicyError raised inside the context by one that is possible after training."""
    try:
        yield
    except PolicyError as error:
        error.remedy = f"remove it, or train again with {error.policy}=zero"
        raise


def model_words(model: Model, unit: str) -> tuple[str, str, str]:
    """Return what a model has learned from samples of some unit, its kernel and its solver, in words."""
    record, kernel = model.record, kernel_words(model.kernel)
    if "solver" not in record:
        return "a model of LS-GKM", kernel, f"C-SVM with {len(model.support):,} support sequences"
    learned = what_it_learns(model.kind, record["classes"], record["n"], unit)
    return learned, kernel, solver_words(record["solver"])
