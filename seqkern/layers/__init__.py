"""Layers after the first classifier: from its scores about the residues of a chain to better ones, in context.

Residues are decided one by one, each from its own window. What the neighbours were decided to be says more: a second
classifier looks at the scores around each residue (`structure`), a model of segments forbids those of lengths that do
not occur (`segments`), and scores become probabilities (`probabilities`). Layers follow each other::

    scores ─▶ fit(scores, chains, y) ─▶ transform(scores, chains) ─▶ scores ─▶ the next layer

They learn from scores about held-out residues: those about a classifier's own training residues are too good. `chain`
sees to it for all layers of a chain; `base` is the contract; `specs` turns a config or a line of text into layers. A
class is found by its name, ``from seqkern.layers import SegmentLayer``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
