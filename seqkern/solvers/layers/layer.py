"""The base of all layers, which learn from scores of held-out residues, and turn scores into new scores."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import LabelError, ModelError
from seqkern.core.parameters import Parameters
from seqkern.core.types import Array, Floats, Ints
from seqkern.formats.residues import Residues
from seqkern.sequences.labels import UNLABELLED


class Layer(Parameters):
    """Base of all layers: a subclass implements `_fit`, `transform`, `fitted_state` and `restore_fitted`."""

    name: ClassVar[str | None] = None
    summary: ClassVar[str] = ""
    calibrated: ClassVar[bool] = False
    needs_chains: ClassVar[bool] = True
    decides: ClassVar[bool] = False

    def check_classes(self, classes: Sequence[str]) -> None:
        """Raise ParameterError if the parameters name classes not in `classes`."""

    def _fit(self, scores: Floats, chains: Residues, y: Ints) -> None:
        """Learn from the rows with a class, in the context of all rows, and set the attributes ending in ``_``."""
        raise NotImplementedError

    def transform(self, scores: npt.ArrayLike, chains: Residues) -> Floats:
        """Return new scores (n, classes); neighbours that are not among the rows count as missing."""
        raise NotImplementedError

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return (JSON dict, dict of arrays) of the values learned by `_fit`."""
        raise NotImplementedError

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Restore the state returned by `fitted_state`."""
        raise NotImplementedError

    def fit(
        self, scores: npt.ArrayLike, chains: Residues, y: npt.ArrayLike, classes: Sequence[str] | None = None
    ) -> Self:
        """Learn from scores of residues on which the classifier was not trained.

        `y` has the columns of the true classes, −1 (`UNLABELLED`) for residues that serve as neighbours only.
        """
        self.check_parameters()
        scores, y = np.ascontiguousarray(scores, dtype=np.float64), np.asarray(y, dtype=np.int64)
        if scores.ndim != 2 or scores.shape[1] < 2 or not len(scores) == len(chains) == len(y):
            raise LabelError(
                f"layer {self.name!r}: scores of {scores.shape}, {len(chains)} residues, {len(y)} labels",
                remedy="give a row of scores and a label for each residue, and a column for each class",
            )
        names = tuple(map(str, range(scores.shape[1]) if classes is None else classes))
        if len(names) != scores.shape[1]:
            raise LabelError(
                f"layer {self.name!r}: {len(names)} classes for scores of {scores.shape[1]}",
                remedy="give one column of scores for each class",
            )
        for name, count in zip(names, np.bincount(y[y != UNLABELLED], minlength=len(names)), strict=True):
            if count == 0:
                raise LabelError(
                    f"layer {self.name!r}: no residue of class {name!r} to learn from",
                    remedy="give more chains, or fewer classes",
                )
        self.check_classes(names)
        self.classes_ = names
        self.not_converged_ = 0
        self._fit(scores, chains, y)
        return self

    def learned(self) -> dict[str, Any]:
        """Return the learned values worth reporting, a dict of name to number."""
        return {}

    def predict(self, scores: npt.ArrayLike, chains: Residues) -> Ints:
        """Return the class of each residue, int64 (n,); by default the class with the largest new score."""
        return self.transform(scores, chains).argmax(axis=1)

    def spec(self) -> dict[str, Any]:
        """Return the layer in configuration form: ``{"layer": name, parameter: value, …}``."""
        return {"layer": self.name, **self.get_params(deep=False)}

    def _stored(self, arrays: Mapping[str, Array], name: str, *shape: int | None) -> Array:
        """Return an array of a state; raise ModelError for another shape (None: any size) or non-finite numbers."""
        array = arrays[name]
        right = array.ndim == len(shape) and array.dtype.kind in "if"
        right = right and all(size in (None, own) for size, own in zip(shape, array.shape, strict=True))
        if not right or not np.isfinite(array).all():
            raise ModelError(
                f"not the state of layer {self.name!r}: its {name} are damaged",
                remedy="the model file is corrupted; train the model again",
            )
        return array

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return (JSON dict, dict of arrays); `layer_from_state` restores this layer from it."""
        header, arrays = self.fitted_state()
        return {"spec": self.spec(), "classes": list(self.classes_), "learned": header}, arrays

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Restore the state returned by `state`."""
        self.classes_ = tuple(header["classes"])
        self.not_converged_ = 0
        self.restore_fitted(header["learned"], arrays)
