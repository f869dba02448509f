"""Layers after the first classifier of residues: their contract, their names, and the chain of them."""

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, unnest
from seqkern.core.errors import FoldError, LabelError, ModelError, ParameterError
from seqkern.core.parameters import Parameters
from seqkern.core.registry import Kind, Registry, add_kind
from seqkern.core.specs import build_spec
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
            raise self._damaged(f"its {name} are damaged")
        return array

    def _damaged(self, problem: str) -> ModelError:
        """Return the error of a state that this layer cannot have stored."""
        remedy = "the model file is corrupted; train the model again"
        return ModelError(f"not the state of layer {self.name!r}: {problem}", remedy=remedy)

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return (JSON dict, dict of arrays); `layer_from_state` restores this layer from it."""
        header, arrays = self.fitted_state()
        return {"spec": self.spec(), "classes": list(self.classes_), "learned": header}, arrays

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Restore the state returned by `state`."""
        self.classes_ = tuple(header["classes"])
        self.not_converged_ = 0
        self.restore_fitted(header["learned"], arrays)


# A chain of layers, fitted so that no layer learns from scores that depend on the labels of its residues.

# The layers by name, with the modules of their classes, so that a look-up imports a single module.
#
# A new layer needs one line here, and one in the stub ``__init__.pyi``; the registry tests name missing ones.

LAYERS = Registry(
    "layer",
    "seqkern.solvers.layers.chain:Layer",
    {
        "chain_svm": "seqkern.solvers.layers.window_layers:ChainSVMLayer",
        "crf": "seqkern.solvers.layers.window_layers:CrfLayer",
        "probabilities": "seqkern.solvers.layers.segments:ProbabilityLayer",
        "segments": "seqkern.solvers.layers.segments:SegmentLayer",
        "structure": "seqkern.solvers.layers.window_layers:StructureLayer",
    },
)


# The text and config forms of layers.


def build_layer(spec: Any) -> Layer:
    """Build a layer from a spec, not fitted.

    Parameters
    ----------
    spec : str, mapping or Layer
        ``"segments"``, ``"structure:window=15,n_components=500"`` or ``{"layer": "structure", "window": 15}``.

    Returns
    -------
    Layer

    Raises
    ------
    ParameterError
        For an unknown layer or parameter (with the nearest name), or a value outside its domain.

    Examples
    --------
    >>> from seqkern.solvers.layers import build_layer
    >>> build_layer("structure:window=15,n_components=200").window
    15
    """
    return build_spec(spec, "layer")


def build_layers(specs: Any) -> list[Layer]:
    """Build layers from specs, in order.

    Parameters
    ----------
    specs : list, str, mapping or None
        Specs as in `build_layer`; text may be JSON of one or a list. None: no layers.

    Returns
    -------
    list of Layer

    Raises
    ------
    ParameterError
        As `build_layer`.

    Examples
    --------
    >>> from seqkern.solvers.layers import build_layers
    >>> [layer.name for layer in build_layers(["structure:window=15", {"layer": "segments"}])]
    ['structure', 'segments']
    """
    if isinstance(specs, str) and specs.lstrip().startswith("["):
        try:
            specs = json.loads(specs)
        except (ValueError, RecursionError) as error:
            raise ParameterError(
                f"layers={specs!r} is not JSON: {error}", remedy='write a list such as ["structure:window=15"]'
            ) from error
    specs = [] if specs is None else specs
    if isinstance(specs, (str, Mapping)):
        specs = [specs]
    if len(specs) == 1 and isinstance(specs[0], str) and specs[0].lstrip().startswith("["):
        return build_layers(specs[0])
    return [build_layer(spec) for spec in specs]


def layer_from_state(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Layer:
    """Return the fitted layer with a given state.

    Parameters
    ----------
    header : mapping
        The JSON part of `Layer.state`.
    arrays : mapping of str to ndarray
        Its arrays.

    Returns
    -------
    Layer

    Raises
    ------
    ModelError
        If it is not the state of a known layer.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.solvers.layers import ProbabilityLayer, layer_from_state
    >>> from seqkern.formats import Residues
    >>> residues = Residues.of_chains(SequenceSet.from_strings(["GSAE"], "protein"), window=1)
    >>> scores = [[-1.0, 1.0], [0.5, -0.5], [1.0, -1.0], [0.2, -0.2]]
    >>> layer = ProbabilityLayer().fit(scores, residues, [1, 1, 0, 0])
    >>> header, arrays = layer.state()
    >>> restored = layer_from_state(header, arrays)
    >>> bool((restored.transform(scores, residues) == layer.transform(scores, residues)).all())
    True
    """
    try:
        layer = build_layer(header["spec"])
        layer.restore(header, arrays)
    except (KeyError, TypeError, ValueError, ParameterError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(
            f"not the state of a layer: {error}", remedy="the model file is corrupted; train the model again"
        ) from error
    return layer


add_kind(Kind("layer", "Layer", build=build_layer, example="structure:window=15", registry=LAYERS))


class Decided(NamedTuple):
    """The decisions of layers on n residues.

    Attributes
    ----------
    scores : ndarray of float64, shape (n, classes)
        Scores of the last layer.
    predicted : ndarray of int64, shape (n,)
        Class columns: the path of the last layer with one, if only probability layers follow; else the largest scores.
    probabilities : ndarray of float64, shape (n, classes), or None
        If the last layer provides them.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.layers import Decided
    >>> scores = np.array([[1.5, -1.5], [-0.2, 0.2]])
    >>> Decided(scores, scores.argmax(axis=1), None).predicted
    array([0, 1])
    """

    scores: Floats
    predicted: Ints
    probabilities: Floats | None


class Layers:
    """The layers after the first classifier.

    Parameters
    ----------
    layers : list of Layer, dict or str
        Layers as in `build_layers`; copied before fitting.

    Attributes
    ----------
    layers_ : list of Layer
        The layers after `fit`.
    held_out_accuracy_ : float
        After `fit`: accuracy of the largest score before any layer, over residues with a score and a class.

    Examples
    --------
    Residues of helix (0) and coil (1), with scores that fluctuate within a helix:

    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.solvers.layers import Layers
    >>> from seqkern.formats import Residues
    >>> chains = SequenceSet.from_strings(["GSAEALKAGPSG", "PGEELLAKAGNG", "SGDAEKLLAGPS", "GPAALEKLAPGS"], "protein")
    >>> residues = Residues.of_chains(chains, window=1)
    >>> states = np.tile([1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1], 4)
    >>> scores = np.where(states == 0, 1.0, -1.0)
    >>> scores[[5, 17, 29, 41, 11, 23]] *= -0.5  # single residues that are wrong
    >>> folds = [(np.arange(24, 48), np.arange(24)), (np.arange(24), np.arange(24, 48))]
    >>> layers = Layers("segments:shortest=H:3").fit(np.column_stack([scores, -scores]), residues, states, folds, "HC")
    >>> round(layers.held_out_accuracy_, 3)
    0.875
    >>> decided = layers.decide(np.column_stack([scores, -scores]), residues)
    >>> "".join("HC"[state] for state in decided.predicted[:12])
    'CCHHHHHHCCCC'
    """

    def __init__(self, layers: Any) -> None:
        self.layers = build_layers(layers)

    def specs(self) -> list[dict[str, Any]]:
        """Return the layers in configuration form, a list of dict."""
        return [layer.spec() for layer in self.layers]

    def needs_chains(self) -> bool:
        """Return whether a layer uses neighbours, so that samples must be residues."""
        return any(layer.needs_chains for layer in self.layers)

    def check_classes(self, classes: Sequence[str]) -> None:
        """Raise ParameterError if a layer's parameters name unknown classes."""
        for layer in self.layers:
            layer.check_classes(tuple(classes))

    def fit(
        self,
        scores: npt.ArrayLike,
        chains: Residues | None,
        y: npt.ArrayLike,
        parts: Sequence[tuple[Ints, Ints]],
        classes: Sequence[str] | None = None,
    ) -> Self:
        """Learn from scores of held-out residues.

        The first layer learns from `scores`. Each later one learns from the output of copies of the previous layer on
        residues they were not fitted on, fold by fold; the final layers are then fitted on all.
        """
        scores, y = as_columns(scores), np.asarray(y, dtype=np.int64)
        chains = _rows_of(scores, chains)
        names = [str(c) for c in (range(scores.shape[1]) if classes is None else classes)]
        known = ~np.isnan(scores).any(axis=1) & (y >= 0)
        self.held_out_accuracy_ = float(np.mean(scores[known].argmax(axis=1) == y[known])) if known.any() else np.nan
        fitted = []
        for place, layer in enumerate(self.layers):
            fitted.append(_fit_known(layer, scores, chains, y, names))
            if place + 1 < len(self.layers):
                scores = self._cross_fitted(layer, scores, chains, y, parts, names)
        self.layers_ = fitted
        return self

    def _cross_fitted(
        self, layer: Layer, scores: Floats, chains: Any, y: Ints, parts: Sequence[tuple[Ints, Ints]], names: list[str]
    ) -> Floats:
        """Return the output of copies of a layer for the residues of each fold, fitted on the other folds."""
        out = np.full_like(scores, np.nan)
        for train, held_out in parts:
            known = held_out[~np.isnan(scores[held_out]).any(axis=1)]
            if len(known):
                fitted = _fit_known(layer, scores[train], chains.take(train), y[train], names)
                out[known] = fitted.transform(scores[known], chains.take(known))
        return out

    def decide(self, scores: npt.ArrayLike, chains: Residues | None) -> Decided:
        """Apply the layers to the first classifier's scores of new residues.

        Parameters
        ----------
        scores : array_like of float64, shape (n, classes), or (n,) for two classes
            Decisions on each residue.
        chains : Residues or None
            The residue and chain of each row; None if samples are not residues and no layer needs chains.

        Returns
        -------
        Decided
        """
        values = as_columns(scores)
        chains = _rows_of(values, chains)
        path = None
        for layer in self.layers_:
            if layer.decides:
                path = layer.predict(values, chains)
            elif not layer.calibrated:
                path = None  # the output is decided again
            values = layer.transform(values, chains)
        predicted = values.argmax(axis=1) if path is None else path
        return Decided(values, predicted, np.exp(values) if self.layers_[-1].calibrated else None)

    def learned(self) -> dict[str, Any]:
        """Return the learned numbers that are worth reporting, a dict of name to number."""
        named = [(f"layer {place} {layer.name}", layer) for place, layer in enumerate(self.layers_, start=1)]
        return {f"{name} {key}": value for name, layer in named for key, value in layer.learned().items()}

    def count_not_converged(self) -> int:
        """Return the number of unconverged fits of the layers."""
        return sum(layer.not_converged_ for layer in self.layers_)

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return (JSON dict, dict of arrays); `from_state` restores the fitted layers from it."""
        headers: list[dict[str, Any]] = []
        arrays: dict[str, Array] = {}
        for place, layer in enumerate(self.layers_):
            header, own = layer.state()
            headers.append(header)
            arrays |= nest(str(place), own)
        return {"layers": headers}, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        """Return the fitted layers with a given state.

        Parameters
        ----------
        header : mapping
            The JSON part of `state`.
        arrays : mapping of str to ndarray
            Its arrays.

        Returns
        -------
        Layers

        Raises
        ------
        ModelError
            If it is not a valid state.
        """
        fitted = [layer_from_state(one, unnest(str(place), arrays)) for place, one in enumerate(header["layers"])]
        made = cls([copy.copy(layer) for layer in fitted])
        made.layers_ = fitted
        return made


def as_columns(scores: npt.ArrayLike) -> Floats:
    """Return scores with a column for each class.

    Parameters
    ----------
    scores : array_like of float64, shape (n, classes), or (n,) for two classes
        Decisions; for two classes, f becomes −f/2 and f/2.

    Returns
    -------
    ndarray of float64, shape (n, classes)

    Examples
    --------
    >>> from seqkern.solvers.layers import as_columns
    >>> as_columns([1.0, -3.0])
    array([[-0.5,  0.5],
           [ 1.5, -1.5]])
    """
    scores = np.asarray(scores, dtype=np.float64)
    return np.column_stack([-scores / 2, scores / 2]) if scores.ndim == 1 else scores


def as_decisions(scores: Floats, kind: str) -> Floats:
    """Return scores (n, classes) as decisions of a solver.

    For two classes they are the second column minus the first, shape (n,).

    >>> import numpy as np
    >>> from seqkern.solvers.layers.chain import as_decisions
    >>> as_decisions(np.array([[-0.5, 0.5], [1.5, -1.5]]), "binary")
    array([ 1., -3.])
    """
    return scores[:, 1] - scores[:, 0] if kind == "binary" else scores


def _rows_of(scores: Floats, chains: Residues | None) -> Any:
    """Return the chains of the rows; row numbers if there are no chains."""
    return np.arange(len(scores)) if chains is None else chains


def _fit_known(layer: Layer, scores: Floats, chains: Any, y: Ints, names: list[str]) -> Layer:
    """Return a copy of a layer, fitted on the rows with scores."""
    known = np.flatnonzero(~np.isnan(scores).any(axis=1))
    if not len(known):
        raise FoldError("no residue has a score, so layers cannot be fitted", remedy="give more chains")
    try:
        return copy.deepcopy(layer).fit(scores[known], chains.take(known), y[known], names)
    except LabelError as error:
        raise FoldError(f"inner folds: {error.problem}", remedy=error.remedy) from error
