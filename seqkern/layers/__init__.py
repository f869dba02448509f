"""Layers after the first machine: from its scores about the residues of a chain to better ones, in context.

Residues are decided one by one, each from its own window. What the neighbours were decided to be says more: a second
machine looks at the scores around each residue (`structure`), a model of segments forbids those of lengths that do
not occur (`segments`), and scores become probabilities (`probabilities`). Layers follow each other::

    scores ─▶ fit(scores, chains, y) ─▶ transform(scores, chains) ─▶ scores ─▶ the next layer

They learn from scores about held-out residues: those about a machine's own training residues are too good. `chain`
sees to it for all layers of a chain; `base` is the contract; `specs` turns a config or a line of text into layers. A
class is found by its name, ``from seqkern.layers import SegmentLayer``.
"""

from seqkern.core.registry import Registry

LAYERS = Registry("layer", __name__, f"{__name__}.base:Layer")

from seqkern.layers.chain import Decided, Layers, as_columns  # noqa: E402
from seqkern.layers.specs import build_layer, build_layers, layer_from_state  # noqa: E402

__all__ = ["LAYERS", "Decided", "Layers", "as_columns", "build_layer", "build_layers", "layer_from_state"]


def __getattr__(name):
    """Import the classes on first use."""
    if name.endswith("Layer"):
        return LAYERS.by_class_name(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    """List the public names, the classes among them."""
    return sorted({*globals(), *LAYERS.class_names()})
