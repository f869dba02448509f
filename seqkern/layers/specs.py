"""The text and config forms of layers."""

import json
from collections.abc import Mapping

from seqkern.core.errors import ModelError, ParameterError
from seqkern.core.registry import build_listed
from seqkern.layers.layer_table import LAYERS


def build_layer(spec):
    """Return the layer that a spec describes, not fitted.

    Parameters
    ----------
    spec : str, mapping or Layer
        ``"segments"``, ``"structure:window=15,n_components=500"`` or ``{"layer": "structure", "window": 15}``.

    Raises
    ------
    ParameterError
        For an unknown layer or parameter (with the nearest name), or a value outside its domain.
    """
    return build_listed(LAYERS, spec, "structure:window=15")


def build_layers(specs):
    """Return the layers that specs describe, in order.

    Parameters
    ----------
    specs : list, str, mapping or None
        Of layers, as `build_layer` takes them; a text may be JSON, of one or of a list. None means none.

    Returns
    -------
    list of Layer

    Raises
    ------
    ParameterError
        As `build_layer`.
    """
    if isinstance(specs, str) and specs.lstrip().startswith("["):
        try:
            specs = json.loads(specs)
        except json.JSONDecodeError as error:
            raise ParameterError(
                f"layers={specs!r} is not JSON: {error}", remedy='write a list such as ["structure:window=15"]'
            ) from error
    specs = [] if specs is None else specs
    if isinstance(specs, (str, Mapping)):
        specs = [specs]
    if len(specs) == 1 and isinstance(specs[0], str) and specs[0].lstrip().startswith("["):
        return build_layers(specs[0])
    return [build_layer(spec) for spec in specs]


def layer_from_state(header, arrays):
    """Return the fitted layer whose `state` this was.

    Raises
    ------
    ModelError
        If it is no layer's state, or that of a layer unknown here.
    """
    try:
        layer = build_layer(header["spec"])
        layer.restore(header, arrays)
    except (KeyError, TypeError, ValueError, ParameterError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"not the state of a layer: {error}", remedy="train the model again") from error
    return layer
