"""A trained classifier that can be applied to new sequences, and its file.

The file is one archive of JSON and arrays (archive.py), nothing pickled: the state of kernel, transforms and
solver, cut down to the training samples that prediction needs, those samples, and a record of how it was made.
`seqkern.models.training.train_model` makes a Model. Who calls whom::

    decision(X) ─▶ kernel of X with the support samples ─▶ transforms ─▶ solver.decision_function

Where the decision is a weighted sum of kernel values (affine.py) and the kernel can fold such a sum into weights of its
features, it is taken from those, without the kernel of X with the support samples.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, save_archive
from seqkern.core.errors import ModelError, ParameterError, PolicyError
from seqkern.evaluation.calibration import IsotonicCalibration, SigmoidCalibration, calibration_from_record
from seqkern.gram.transforms import naming_rows
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.blocks import fill
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.prepared import Prepared
from seqkern.models.affine import AffineForm, affine_form
from seqkern.models.decisions import Decisions, check_predicts, codes_of_decisions
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet, as_sequences
from seqkern.sequences.tables import FeatureTable, as_features
from seqkern.sequences.windows import Window, as_window
from seqkern.solvers.thresholds import Threshold

FORMAT = "seqkern model"
VERSION = 1
CHUNK_BYTES = 1 << 25
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
        Of the labels that it was trained on.
    classes : tuple of str
        (negative, positive), or one for each column of the decisions; empty for real labels. Of a model that
        projects, the numbers of the components.
    policies : dict
        The policies under which the training sequences were read: ``unknown``, ``ids``, ``empty``.
    record : dict
        How the model was made: versions, seed, sizes, what was compared and chosen, the solver's report; where there
        are any, the window around sites and the calibration.

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

    It is kept as one file:

    >>> import tempfile
    >>> from seqkern.models.loading import load_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/donors.model")
    ...     read = load_model(f"{folder}/donors.model")
    >>> bool(np.all(read.decision(X) == model.decision(X)))
    True
    """

    kernel: Kernel
    transforms: list[GramTransform]
    solver: Any  # a Solver; what it has besides, `predict` and `classes_`, depends on its kind
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
            Of the kind that the model was trained on.
        n_threads : int, optional
            By default as many as there are cores.

        Returns
        -------
        ndarray of float64, shape (n,), or (n, classes) for several classes or components
            Binary: above zero for the positive class. Real: the predicted number. A sample's values do not
            depend on the samples beside it.

        Raises
        ------
        ModelError
            If the samples have another alphabet or other features than the training ones.
        SequenceError
            If the kernel cannot take a sample.
        """
        X = self._coerced(X)
        columns = self.columns
        step = max(1, CHUNK_BYTES // (8 * len(columns)))
        shape = (len(self.classes),) if self.kind == "multiclass" or self.projects else ()
        out = np.empty((len(X), *shape))
        for start in range(0, len(X), step):
            with _remedy_after_training():
                rows = self.kernel.prepare(X.take(slice(start, start + step)), like=columns)
            with naming_rows(X.ids[start : start + step]):
                values = self._by_matrix(rows, n_threads) if self._folded is None else self._folded(rows)
            out[start : start + step] = values
        return out

    @property
    def projects(self) -> bool:
        """Whether decisions are coordinates, as those of kernel PCA, from which no prediction follows."""
        return not hasattr(self.solver, "predict")

    def _by_matrix(self, rows: Prepared, n_threads: int | None = None) -> npt.NDArray[np.float64]:
        """Return the decisions of Prepared rows by their kernel with the support samples."""
        K = np.empty((len(rows), len(self.columns)))
        diagonal: npt.NDArray[np.float64] | None = rows.diagonal
        fill(self.kernel, rows, self.columns, K, n_threads=n_threads)
        for transform in self.transforms:
            K, diagonal = transform.transform(K, diagonal)
        return self.solver.decision_function(K)

    @cached_property
    def _folded(self) -> Callable[[Prepared], npt.NDArray[np.float64]] | None:
        """What decides without the kernel matrix, see `AffineForm.fold`; None if there is no such thing."""
        try:
            form = self.form()
        except ParameterError:
            return None
        return form.fold(self.columns)

    def form(self) -> AffineForm:
        """Return the AffineForm of the decision; ParameterError if it is no weighted sum of kernel values."""
        return affine_form(self.kernel, self.support, self.solver, self.transforms)

    @property
    def n_columns(self) -> int:
        """The number of columns that the solver takes."""
        return len(self.columns)

    def own_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]] | None:
        """Return (JSON dict, dict of arrays) of what a kind of model has besides; None for a plain one."""
        return None

    def check_own(self) -> None:
        """Raise ValueError unless there are samples, and their diagonal, for the columns."""
        good = len(self.support) > 0 and self.diagonal.shape == (len(self.support),)
        if not good or self.diagonal.dtype != np.float64:
            raise ValueError("its parts do not fit together")

    def predict(self, X: Any, *, n_threads: int | None = None) -> npt.NDArray[Any]:
        """Return what is predicted of new samples.

        Parameters
        ----------
        X : SequenceSet, list of str, FeatureTable or 2-D array, n samples
            Of the kind that the model was trained on.
        n_threads : int, optional
            By default as many as there are cores.

        Returns
        -------
        ndarray, shape (n,)
            The name of the class of each, or for real labels the number.

        Raises
        ------
        ModelError, SequenceError
            As `decision`, and if the model projects.
        """
        check_predicts(self.solver)
        return self.classify(self.decision(X, n_threads=n_threads))

    def decide(self, X: Any, *, n_threads: int | None = None) -> Decisions:
        """Return what is decided about new samples: decision values, codes into `classes`, and probabilities.

        Parameters
        ----------
        X : SequenceSet, list of str, FeatureTable or 2-D array, n samples
            Of the kind that the model was trained on.
        n_threads : int, optional
            By default as many as there are cores.

        Returns
        -------
        Decisions

        Raises
        ------
        ModelError, SequenceError
            As `predict` and `decision`.
        """
        check_predicts(self.solver)
        decisions = self.decision(X, n_threads=n_threads)
        probabilities = None if self.calibration is None else self.calibration.probabilities(decisions)
        return Decisions(decisions, self._codes(decisions), probabilities)

    def classify(self, decisions: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        """Return the predictions that follow from decision values.

        Parameters
        ----------
        decisions : ndarray of float64, shape (n,) or (n, classes)
            As `decision` returns them.

        Returns
        -------
        ndarray, shape (n,)
            As `predict` returns it.
        """
        codes = self._codes(decisions)
        return codes if self.kind == "real" else np.array(self.classes)[codes]

    def _codes(self, decisions: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        """Return the codes of the classes that follow from decision values; of real labels the numbers."""
        return codes_of_decisions(self.kind, decisions, 0.0 if self.threshold is None else self.threshold.value)

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
        """Return what the file of the model holds.

        Parameters
        ----------
        **more : (JSON, dict of arrays)
            Parts of what is made of the model, under their names.

        Returns
        -------
        header : dict
            The part that is JSON.
        arrays : dict of str to ndarray
            By their names in the file.
        """
        parts = [
            *more.items(),
            ("kernel", self.kernel.state()),
            ("solver", self.solver.state()),
            ("support", self.support.state()),
        ]
        parts += [(f"transform{i}", transform.state()) for i, transform in enumerate(self.transforms)]
        header: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "data": next(name for name, cls in DATA.items() if isinstance(self.support, cls)),
            "kind": self.kind,
            "classes": list(self.classes),
            "policies": self.policies,
            "record": self.record,
            "n_transforms": len(self.transforms),
        }
        arrays = {"diagonal": self.diagonal}
        if self.own_state() is not None:
            parts.append(("features", self.own_state()))
        for name, (json_part, array_part) in parts:
            header[name] = json_part
            arrays.update(nest(name, array_part))
        return header, arrays

    @cached_property
    def calibration(self) -> SigmoidCalibration | IsotonicCalibration | None:
        """What turns decisions into `probabilities`; None if the model was trained without."""
        stored = self.record.get("calibration")
        return None if stored is None else calibration_from_record(stored)

    @cached_property
    def threshold(self) -> Threshold | None:
        """The Threshold above which a decision means the positive class; None if it is 0."""
        stored = self.record.get("threshold")
        return None if stored is None else Threshold(**stored)

    @property
    def window(self) -> Window | None:
        """The Window around sites that the model was trained on; None if there is none."""
        stored = self.record.get("window")
        return None if stored is None else as_window(stored)

    @property
    def alphabet(self) -> Alphabet | None:
        """The Alphabet of the sequences, or None for features."""
        return getattr(self.support, "alphabet", None)

    @cached_property
    def columns(self) -> Prepared:
        """The support samples as the kernel wants them, checked against the diagonal that training found."""
        columns = self.kernel.prepare(self.support)
        if not np.allclose(columns.diagonal, self.diagonal, rtol=1e-9, atol=0):
            raise ModelError("this version of seqkern computes other kernel values than the one that trained it")
        return columns

    def _coerced(self, X: Any) -> SequenceSet | FeatureTable:
        """Return new samples as the kind of data that the model was trained on."""
        if isinstance(self.support, SequenceSet):
            X = X if isinstance(X, SequenceSet) else as_sequences(X, self.support.alphabet)
            if X.alphabet.letters != self.support.alphabet.letters:
                raise ModelError(
                    f"the model was trained on {self.support.alphabet.name}, these are {X.alphabet.name}",
                    remedy="read them with the model's alphabet",
                )
            return X
        names = self.support.columns
        named = isinstance(X, FeatureTable)
        X = as_features(X)
        if len(X.columns) != len(names) or (named and X.columns != names):
            raise ModelError(
                f"the model's {len(names)} features are not these {len(X.columns)}",
                remedy="give the same columns in the same order",
            )
        return X if named else FeatureTable(X.values, X.ids, names)


@contextlib.contextmanager
def _remedy_after_training() -> Iterator[None]:
    """Say of a sample that the kernel's policies refuse what can be done where they cannot be chosen any more."""
    try:
        yield
    except PolicyError as error:
        error.remedy = f"leave it out, or train again with {error.policy}=zero"
        raise
