"""A trained classifier that can be applied to new sequences, and its file.

The file is one archive of JSON and arrays (archive.py), nothing pickled: the state of kernel, transforms and
solver, cut down to the training units that prediction needs, those units, and a record of how it was made.
`seqkern.models.training.train_model` makes a Model. Who calls whom::

    decision(X) ─▶ kernel of X with the support units ─▶ transforms ─▶ solver.decision_function

Where the decision is a weighted sum of kernel values (affine.py) and the kernel can fold such a sum into weights of its
features, it is taken from those, without the kernel of X with the support units.
"""

import contextlib
import os
import zipfile
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from seqkern.core.archive import load_archive, nest, save_archive, unnest
from seqkern.core.errors import FileError, GramError, ModelError, ParameterError, PolicyError
from seqkern.evaluation.calibration import calibration_from_record
from seqkern.gram.transforms import naming_rows, transform_from_state
from seqkern.kernels import kernel_from_state
from seqkern.kernels.blocks import fill
from seqkern.models.affine import affine_form
from seqkern.sequences.sequence_set import SequenceSet, as_sequences
from seqkern.sequences.tables import FeatureTable, as_features
from seqkern.sequences.windows import as_window
from seqkern.solvers import solver_from_state
from seqkern.solvers.thresholds import Threshold

FORMAT = "seqkern model"
VERSION = 1
CHUNK_BYTES = 1 << 25
DATA = {"sequences": SequenceSet, "features": FeatureTable}


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
        The training units that prediction needs.
    diagonal : ndarray of float64, shape (len(support),)
        K(z, z) of each of them.
    kind : {"binary", "multiclass", "real", "none"}
    classes : tuple of str
        (negative, positive), or one for each column of the decisions; empty for real labels. Of a model that
        projects, the numbers of the components.
    policies : dict
        The policies under which the training sequences were read: ``unknown``, ``ids``, ``empty``.
    record : dict
        How the model was made: versions, seed, sizes, what was compared and chosen, the solver's report; where there
        are any, the window around sites and the calibration.
    """

    kernel: object
    transforms: list
    solver: object
    support: object
    diagonal: np.ndarray
    kind: str
    classes: tuple
    policies: dict
    record: dict

    def decision(self, X, *, n_threads=None):
        """Return the decision values of new units.

        Parameters
        ----------
        X : SequenceSet, list of str, FeatureTable or 2-D array, n units
        n_threads : int, optional

        Returns
        -------
        ndarray of float64, shape (n,), or (n, classes) for several classes or components
            Binary: above zero for the positive class. Real: the predicted number. A unit's values do not
            depend on the units beside it.

        Raises
        ------
        ModelError
            If the units have another alphabet or other features than the training ones.
        SequenceError
            If the kernel cannot take a unit.
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
    def projects(self):
        """Whether decisions are coordinates, as those of kernel PCA, from which no prediction follows."""
        return not hasattr(self.solver, "predict")

    def _by_matrix(self, rows, n_threads=None):
        """Return the decisions of Prepared rows by their kernel with the support units."""
        K, diagonal = np.empty((len(rows), len(self.columns))), rows.diagonal
        fill(self.kernel, rows, self.columns, K, n_threads=n_threads)
        for transform in self.transforms:
            K, diagonal = transform.transform(K, diagonal)
        return self.solver.decision_function(K)

    @cached_property
    def _folded(self):
        """What decides without the kernel matrix, see `AffineForm.fold`; None if there is no such thing."""
        try:
            form = self.form()
        except ParameterError:
            return None
        return form.fold(self.columns)

    def form(self):
        """Return the AffineForm of the decision; ParameterError if it is no weighted sum of kernel values."""
        return affine_form(self.kernel, self.support, self.solver, self.transforms)

    @property
    def n_columns(self):
        """The number of columns that the solver takes."""
        return len(self.columns)

    def own_state(self):
        """Return (JSON dict, dict of arrays) of what a kind of model has besides; None for a plain one."""
        return None

    def check_own(self):
        """Raise ValueError unless there are units, and their diagonal, for the columns."""
        good = len(self.support) > 0 and self.diagonal.shape == (len(self.support),)
        if not good or self.diagonal.dtype != np.float64:
            raise ValueError("its parts do not fit together")

    def predict(self, X, *, n_threads=None):
        """Return the predicted class name of each unit, or for real labels the number, shape (n,).

        Raises
        ------
        ModelError
            If the model projects.
        """
        if self.projects:
            raise ModelError("projects on components, and predicts nothing", remedy="take its decisions")
        return self.classify(self.decision(X, n_threads=n_threads))

    def classify(self, decisions):
        """Return the predictions that follow from decision values, shape (n,)."""
        if self.kind == "real":
            return decisions
        if self.kind == "multiclass":
            return np.array(self.classes)[np.argmax(decisions, axis=1)]
        place = 0.0 if self.threshold is None else self.threshold.value
        return np.array(self.classes)[(decisions > place).astype(np.int64)]

    def save(self, path, **more):
        """Write the model to one file.

        Parameters
        ----------
        path : path-like
        **more : (JSON, dict of arrays)
            Parts of what is made of the model, under their names.

        Raises
        ------
        FileError
            If the file cannot be written.
        """
        parts = [
            *more.items(),
            ("kernel", self.kernel.state()),
            ("solver", self.solver.state()),
            ("support", self.support.state()),
        ]
        parts += [(f"transform{i}", transform.state()) for i, transform in enumerate(self.transforms)]
        header = {
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
        save_archive(path, header, arrays)

    @cached_property
    def calibration(self):
        """What turns decisions into `probabilities`; None if the model was trained without."""
        stored = self.record.get("calibration")
        return None if stored is None else calibration_from_record(stored)

    @cached_property
    def threshold(self):
        """The Threshold above which a decision means the positive class; None if it is 0."""
        stored = self.record.get("threshold")
        return None if stored is None else Threshold(**stored)

    @property
    def window(self):
        """The Window around sites that the model was trained on; None if there is none."""
        stored = self.record.get("window")
        return None if stored is None else as_window(stored)

    @property
    def alphabet(self):
        """The Alphabet of the sequences, or None for features."""
        return getattr(self.support, "alphabet", None)

    @cached_property
    def columns(self):
        """The support units as the kernel wants them, checked against the diagonal that training found."""
        columns = self.kernel.prepare(self.support)
        if not np.allclose(columns.diagonal, self.diagonal, rtol=1e-9, atol=0):
            raise ModelError("this version of seqkern computes other kernel values than the one that trained it")
        return columns

    def _coerced(self, X):
        """Return new units as the kind of data that the model was trained on."""
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
def _remedy_after_training():
    """Say of a unit that the kernel's policies refuse what can be done where they cannot be chosen any more."""
    try:
        yield
    except PolicyError as error:
        error.remedy = f"leave it out, or train again with {error.policy}=zero"
        raise


def load_model(path):
    """Read a model that `Model.save` wrote, or LS-GKM (`seqkern.models.lsgkm`).

    Parameters
    ----------
    path : path-like

    Returns
    -------
    Model or ResidueModel

    Raises
    ------
    ModelError
        If the file is no model, damaged, or of a newer version, or if this version of seqkern computes
        another kernel than the one that trained the model.
    FileError
        If there is no such file.
    """
    from seqkern.models.lsgkm import is_lsgkm, read_lsgkm

    if is_lsgkm(path):
        return read_lsgkm(path)
    try:
        _check_members(path)
        header, arrays = load_archive(path)
    except FileNotFoundError as error:
        raise FileError("no such file", file=path, remedy="check the path") from error
    except Exception as error:
        raise ModelError("is no model, or damaged", file=path, remedy="train it again") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelError("is no model", file=path, remedy="give a file that seqkern train wrote")
    if header.get("version") != VERSION:
        raise ModelError(
            f"has the model format {header.get('version')!r}, this version of seqkern reads {VERSION}",
            file=path,
            remedy="update seqkern, or train again",
        )
    try:
        model = _model_from_state(header, arrays)
        _check_whole(model)
        if "residues" in header:
            from seqkern.models.residue_model import ResidueModel

            model = ResidueModel.from_state(model, header["residues"], unnest("residues", arrays))
    except Exception as error:  # whatever a damaged or hostile file makes go wrong is one thing to its user
        reason = getattr(error, "problem", None) or f"{type(error).__name__} {error}"
        raise ModelError(f"cannot be used here: {reason}", file=path, remedy="train it again") from error
    return model


def _check_members(path):
    """Raise ValueError for an archive that would unpack to more than its own size."""
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    packed = any(member.compress_type != zipfile.ZIP_STORED for member in members)
    if packed or sum(member.file_size for member in members) > os.path.getsize(path):
        raise ValueError("packed")


def _model_from_state(header, arrays):
    """Return the Model of a file's content."""
    transforms = [f"transform{i}" for i in range(header["n_transforms"])]
    kind, own = Model, {}
    if "features" in header:
        from seqkern.models.feature_model import FeatureModel

        columns = unnest("features", arrays)["columns"]
        kind, own = FeatureModel, {"features": columns, "names": tuple(header["features"]["names"])}
    return kind(
        kernel=kernel_from_state(header["kernel"], unnest("kernel", arrays)),
        transforms=[transform_from_state(header[name], unnest(name, arrays)) for name in transforms],
        solver=solver_from_state(header["solver"], unnest("solver", arrays)),
        support=DATA[header["data"]].from_state(header["support"], unnest("support", arrays)),
        diagonal=arrays["diagonal"],
        kind=header["kind"],
        classes=tuple(header["classes"]),
        policies=dict(header["policies"]),
        record=header["record"],
        **own,
    )


def _check_whole(model):
    """Raise an error if the parts do not fit together or do not work: compiled code trusts the columns."""
    X, solver = model.support, model.solver
    model.check_own()
    good = len(X.ids) == len(X) and solver.support_.dtype == np.int64 and solver.support_.ndim == 1
    width = model.n_columns
    good = good and solver.n_features_in_ == width
    good = good and np.all((solver.support_ >= 0) & (solver.support_ < width))
    good = good and all(transform.n_columns_ == width for transform in model.transforms)
    if not good or model.kind not in solver.targets:
        raise ValueError("its parts do not fit together")
    for transform in model.transforms:
        with contextlib.suppress(GramError):  # it may refuse a unit that is like no other
            transform.transform(np.zeros((1, width)), np.ones(1))
    # weights that are not finite would reach every number that is written
    constant = solver.decision_function(np.zeros((1, width)))
    arrays = solver.state()[1].values()
    if not all(np.isfinite(array).all() for array in (constant, *arrays) if array.dtype.kind == "f"):
        raise ValueError("its solver holds numbers that are not finite")
    _check_window(model)
    if not isinstance(model.record.get("recognised", {}), dict):
        raise ValueError("what it recognised is no table of classes")
    if (model.calibration is not None or model.threshold is not None) and model.kind != "binary":
        raise ValueError("it has probabilities or a threshold, and not two classes")
    if model.projects:
        if constant.shape != (1, len(model.classes)):
            raise ValueError("its components do not fit the solver")
    elif model.kind != "real" and (len(model.classes) != len(solver.classes_) or len(set(model.classes)) < 2):
        raise ValueError("its classes do not fit the solver")


def _check_window(model):
    """Raise an error if the window that the record names is none, or not that of the support."""
    window = model.window
    if window is not None and np.any(model.support.lengths != window.length):
        raise ValueError(f"its sequences are not windows {window}")
