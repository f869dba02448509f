"""Layers after the first classifier, which refine its scores along a chain, in context.

A classifier decides each residue separately, from its own window. The decisions on the neighbours add
information: a second classifier uses the scores around each residue (`structure`), a segment model excludes
segments of impossible lengths (`segments`), and scores become probabilities (`probabilities`). Layers learn
from scores of held-out residues, because scores of training residues are too good; `chain` ensures this for
all layers. `layer` is the contract, `layer_specs` builds layers from configurations or text.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
