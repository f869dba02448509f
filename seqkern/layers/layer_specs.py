"""The text and config forms of layers."""

import json
from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from seqkern.core.errors import ModelError, ParameterError
from seqkern.core.kinds import Kind, add_kind
from seqkern.core.specs import build_spec
from seqkern.layers.layer import Layer
from seqkern.layers.layer_table import LAYERS


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
    >>> from seqkern.layers import build_layer
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
    >>> from seqkern.layers import build_layers
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


def layer_from_state(header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Layer:
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
    >>> from seqkern.layers import ProbabilityLayer, layer_from_state
    >>> from seqkern.residues import Residues
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
