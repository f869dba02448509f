"""A trained classifier for new sequences, and its file.

The file is one archive of JSON and arrays (archive.py), nothing pickled: the state of kernel, transforms and
solver, reduced to the training samples that prediction needs, these samples, and a record of the training.
`seqkern.models.training.train_model` creates a Model. The calls::

    decision(X) ─▶ kernel of X with the support samples ─▶ transforms ─▶ solver.decision_function

If the decision value is a weighted sum of kernel values (affine.py) and the kernel can fold such a sum into weights
of its features, these are used instead of the kernel of X with the support samples.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, save_archive
from seqkern.core.errors import ModelError, ParameterError, PolicyError
from seqkern.core.file_kinds import MODEL
from seqkern.evaluation.calibration import IsotonicCalibration, SigmoidCalibration, calibration_from_record
from seqkern.gram.transforms import naming_rows
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.blocks import fill
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.prepared import Prepared
from seqkern.models.affine import AffineForm, affine_form
from seqkern.models.decisions import (
    Cut,
    Decisions,
    check_finite,
    check_predicts,
    codes_of_decisions,
    cut_of_record,
    find_probabilities,
)
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet, as_sequences
from seqkern.sequences.tables import FeatureTable, as_features
from seqkern.sequences.views import Segments, check_widths, sequence_views
from seqkern.sequences.windows import Window, as_window
from seqkern.solvers.thresholds import Threshold
from seqkern.solvers.variances import Variances

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
        How the model was trained: versions, seed, sizes, candidates and choice, the solver's report; if present,
        the window around sites and the calibration.

    Examples
    --------
    >>> from seqkern.kernels import MismatchKernel
    >>> from seqkern.models.training import train_model
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
    >>> from seqkern.models.loading import load_model
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
    diagonal: npt.NDArray[np.float64]
    kind: str
    classes: tuple[str, ...]
    policies: dict[str, str]
    record: dict[str, Any]

    def decision(self, X: Any, *, n_threads: int | None = None) -> npt.NDArray[np.float64]:
        """Return the decision values of new samples.

        Parameters
        ----------
        X : SequenceSet, list of str, FeatureTable or 2-D array, n samples
            Of the same kind as in training.
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

    def _decisions(self, X: Any, n_threads: int | None) -> npt.NDArray[np.float64]:
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
        """Number of samples of which a kernel matrix with the support samples is computed at a time."""
        return max(1, CHUNK_BYTES // (8 * len(self.columns)))

    def _in_chunks(self, X: Any, work: Callable[[Prepared], Result], step: int) -> Iterator[tuple[slice, Result]]:
        """Yield consecutive parts of new samples, with what `work` returns for each, as the kernel prepares it."""
        for start in range(0, len(X), step):
            part = slice(start, start + step)
            with remedy_after_training():
                rows = self.kernel.prepare(X.take(part), like=self.columns)
            with naming_rows(X.ids[part]):
                yield part, work(rows)

    def decision_and_variances(
        self, X: Any, *, n_threads: int | None = None
    ) -> tuple[npt.NDArray[np.float64], Variances | None]:
        """Return the decision values of new samples, and their variances if the solver gives them.

        Parameters
        ----------
        X : SequenceSet, list of str, FeatureTable or 2-D array, n samples
            Of the same kind as in training.
        n_threads : int, optional
            Default: the number of cores.

        Returns
        -------
        decisions : ndarray of float64
            As from `decision`.
        variances : Variances or None
            None unless the solver `gives_variances`.

        Raises
        ------
        ModelError, SequenceError
            As for `decision`.
        """
        if not self.solver.gives_variances:
            return self.decision(X, n_threads=n_threads), None
        X = self._coerced(X)

        def _both(rows: Prepared) -> tuple[npt.NDArray[np.float64], Variances]:
            K, diagonal = self._transformed(self._kernel_values(rows, n_threads), rows.diagonal)
            return self.solver.decision_function(K), self.solver.variances(K, diagonal)

        found = [both for _, both in self._in_chunks(X, _both, self._step)]
        decisions = np.concatenate([np.empty(0), *(decided for decided, _ in found)])
        return decisions, Variances.joined([variances for _, variances in found])

    @cached_property
    def stages(self) -> "tuple[Model, Model] | None":
        """Models of both stages of the solver, each with its own support samples; None if it has no stages."""
        found = self.solver.stages()
        if found is None or self.transforms:
            return None
        first, second = (self._stage(stage) for stage in found)
        return first, second

    def _stage(self, solver: Any) -> "Model":
        """Return the model of one stage."""
        rows = solver.support_ if len(solver.support_) else np.zeros(1, dtype=np.int64)
        support = self.support.take(rows)
        return Model(
            kernel=self.kernel.restrict(rows),
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

    def by_matrix(self, rows: Prepared, n_threads: int | None = None) -> npt.NDArray[np.float64]:
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

    def _kernel_values(self, rows: Prepared, n_threads: int | None) -> npt.NDArray[np.float64]:
        """Return the kernel of prepared rows with the support samples."""
        K = np.empty((len(rows), len(self.columns)))
        fill(self.kernel, rows, self.columns, K, n_threads=n_threads)
        return K

    def by_values(
        self, K: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64] | None
    ) -> npt.NDArray[np.float64]:
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

    def _transformed(
        self, K: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64] | None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64] | None]:
        """Return kernel values of samples, and those with themselves, after the transforms."""
        for transform in self.transforms:
            K, diagonal = transform.transform(K, diagonal)
        return K, diagonal

    @cached_property
    def _folded(self) -> Callable[[Prepared], npt.NDArray[np.float64]] | None:
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

    def own_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]] | None:
        """Return the additional (JSON dict, dict of arrays) of a kind of model; None for a plain one."""
        return None

    def check_own(self) -> None:
        """Raise ValueError unless there are samples and diagonal values for all columns."""
        good = len(self.support) > 0 and self.diagonal.shape == (len(self.support),)
        if not good or self.diagonal.dtype != np.float64:
            raise ValueError("inconsistent parts")

    def predict(self, X: Any, *, n_threads: int | None = None) -> npt.NDArray[Any]:
        """Return the predictions for new samples.

        Parameters
        ----------
        X : SequenceSet, list of str, FeatureTable or 2-D array, n samples
            Of the same kind as in training.
        n_threads : int, optional
            Default: the number of cores.

        Returns
        -------
        ndarray, shape (n,)
            The class name of each, or for real labels the number.

        Raises
        ------
        ModelError, SequenceError
            As for `decision`, and if the model projects.
        """
        check_predicts(self.solver)
        return self.classify(self.decision(X, n_threads=n_threads))

    def decide(self, X: Any, *, n_threads: int | None = None) -> Decisions:
        """Return the decisions about new samples: decision values, codes into `classes`, probabilities, variances.

        Parameters
        ----------
        X : SequenceSet, list of str, FeatureTable or 2-D array, n samples
            Of the same kind as in training.
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

    def classify(self, decisions: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        """Return the predictions for decision values.

        Parameters
        ----------
        decisions : ndarray of float64, shape (n,) or (n, classes)
            As from `decision`.

        Returns
        -------
        ndarray, shape (n,)
            As from `predict`.
        """
        codes = self._codes(decisions)
        return codes if self.kind == "real" else np.array(self.classes)[codes]

    def _codes(self, decisions: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        """Return the class codes for decision values; for real labels the numbers."""
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

    def state(
        self, **more: tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]
    ) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return the content of the model file.

        Parameters
        ----------
        **more : (JSON, dict of arrays)
            Parts of derived models, by name.

        Returns
        -------
        header : dict
            The JSON part.
        arrays : dict of str to ndarray
            By name in the file.
        """
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
    def calibration(self) -> SigmoidCalibration | IsotonicCalibration | None:
        """The calibration of decision values to `probabilities`; None without."""
        stored = self.record.get("calibration")
        return None if stored is None else calibration_from_record(stored)

    @cached_property
    def threshold(self) -> Threshold | None:
        """The Threshold above which the positive class is predicted; None if there is none, see `cut`."""
        stored = self.record.get("threshold")
        return None if stored is None else Threshold(**stored)

    @property
    def cut(self) -> Cut:
        """What makes a decision about two classes positive."""
        return cut_of_record(self.record, self.threshold, self.calibration)

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
            check_widths(X, self.support, self.kernel.views)
            return X
        names = self.support.columns
        named = isinstance(X, FeatureTable)
        missing: Literal["error", "keep"] = "keep" if self.kernel.accepts_missing else "error"
        X = as_features(X, missing)
        if len(X.columns) != len(names) or (named and X.columns != names):
            raise ModelError(
                f"the features differ from those of the model ({len(names)} in the model, {len(X.columns)} here)",
                remedy="give the same columns in the same order",
            )
        return X if named else FeatureTable(X.values, X.ids, names, missing=missing)


@contextlib.contextmanager
def remedy_after_training() -> Iterator[None]:
    """Give a remedy that works after training for samples rejected by the kernel's policies.

    Raises
    ------
    PolicyError
        With this remedy.
    """
    try:
        yield
    except PolicyError as error:
        error.remedy = f"remove it, or train again with {error.policy}=zero"
        raise
