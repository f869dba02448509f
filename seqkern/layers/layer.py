"""The base of all layers: learn from scores of held-out residues, and turn scores into new scores."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import LabelError, ModelError
from seqkern.core.parametrized import Parameters
from seqkern.residues import Residues
from seqkern.sequences.labels import UNLABELLED


class Layer(Parameters):
    """Base of all layers: a subclass implements `_fit`, `transform`, `fitted_state` and `restore_fitted`.

    Attributes
    ----------
    name : str
        The name in configs.
    summary : str
        One sentence for report readers.
    calibrated : bool
        Whether `transform` returns natural logarithms of probabilities.
    needs_chains : bool
        Whether it uses neighbours; otherwise it suits any classification data.
    decides : bool
        Whether `predict` may differ from the class with the largest score.
    classes_ : tuple of str
        After `fit`: the names of the classes, in the order of the scores' columns.
    not_converged_ : int
        After `fit`: number of unconverged fits.
    """

    name: ClassVar[str | None] = None
    summary: ClassVar[str] = ""
    calibrated: ClassVar[bool] = False
    needs_chains: ClassVar[bool] = True
    decides: ClassVar[bool] = False

    def check_classes(self, classes: Sequence[str]) -> None:
        """Raise ParameterError if the parameters name classes not in `classes`.

        Parameters
        ----------
        classes : sequence of str
            Names of all classes.

        Raises
        ------
        ParameterError
            It lists the classes.
        """

    def _fit(self, scores: npt.NDArray[np.float64], chains: Residues, y: npt.NDArray[np.int64]) -> None:
        """Learn from rows with a class, in the context of all; set attributes ending in ``_``."""
        raise NotImplementedError

    def transform(self, scores: npt.ArrayLike, chains: Residues) -> npt.NDArray[np.float64]:
        """Return new scores.

        Parameters
        ----------
        scores : array_like of float64, shape (n, classes)
            A column for each class.
        chains : Residues
            Which residue of which chain each row is. Neighbours not among the rows count as missing.

        Returns
        -------
        ndarray of float64, shape (n, classes)
        """
        raise NotImplementedError

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return what `_fit` learned.

        Returns
        -------
        header : dict
            JSON values.
        arrays : dict of str to ndarray
            The rest.
        """
        raise NotImplementedError

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned.

        Parameters
        ----------
        header : mapping
            The JSON part.
        arrays : mapping of str to ndarray
            The arrays.

        Raises
        ------
        ModelError
            If they are corrupted.
        """
        raise NotImplementedError

    def fit(
        self, scores: npt.ArrayLike, chains: Residues, y: npt.ArrayLike, classes: Sequence[str] | None = None
    ) -> Self:
        """Learn from scores of residues that the classifier was not trained on.

        Parameters
        ----------
        scores : array_like of float64, shape (n, classes)
            A column for each class.
        chains : Residues
            Which residue of which chain each row is.
        y : array_like of int, shape (n,)
            The true classes, as columns of `scores`; −1 (`UNLABELLED`) for residues that serve as neighbours only.
        classes : sequence of str, optional
            Their names; by default the numbers of the columns.

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            For a parameter outside its domain.
        LabelError
            If scores, residues and classes do not match, or a class has no residue.
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
        """Return what `fit` learned that is worth reporting, a dict of name to number."""
        return {}

    def predict(self, scores: npt.ArrayLike, chains: Residues) -> npt.NDArray[np.int64]:
        """Return the class of each residue, by default that of the largest new score.

        Parameters
        ----------
        scores : array_like of float64, shape (n, classes)
            As `transform` takes them.
        chains : Residues
            Which residue of which chain each row is.

        Returns
        -------
        ndarray of int64, shape (n,)
        """
        return self.transform(scores, chains).argmax(axis=1)

    def spec(self) -> dict[str, Any]:
        """Return the layer in configuration form: ``{"layer": name, parameter: value, …}``."""
        return {"layer": self.name, **self.get_params(deep=False)}

    def _stored(self, arrays: Mapping[str, npt.NDArray[Any]], name: str, *shape: int | None) -> npt.NDArray[Any]:
        """Return an array of a state; ModelError unless it has this shape (None: any size) and finite numbers."""
        array = arrays[name]
        right = array.ndim == len(shape) and array.dtype.kind in "if"
        right = right and all(size in (None, own) for size, own in zip(shape, array.shape, strict=True))
        if not right or not np.isfinite(array).all():
            raise ModelError(
                f"not the state of layer {self.name!r}: its {name} are damaged",
                remedy="the model file is corrupted; train the model again",
            )
        return array

    def state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return (JSON dict, dict of arrays) from which `layer_from_state` restores this layer."""
        header, arrays = self.fitted_state()
        return {"spec": self.spec(), "classes": list(self.classes_), "learned": header}, arrays

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `state` returned.

        Parameters
        ----------
        header : mapping
            The JSON part.
        arrays : mapping of str to ndarray
            The arrays.

        Raises
        ------
        ModelError
            If they are corrupted.
        """
        self.classes_ = tuple(header["classes"])
        self.not_converged_ = 0
        self.restore_fitted(header["learned"], arrays)
