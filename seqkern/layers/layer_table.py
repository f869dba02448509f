"""The layers by their names, and the modules of their classes, so that looking one up imports one.

A new layer takes one line here, and one in the stub ``__init__.pyi`` beside; the tests of the registry say which.
"""

from seqkern.core.registry import Registry

LAYERS = Registry(
    "layer",
    "seqkern.layers.layer:Layer",
    {
        "probabilities": "seqkern.layers.probabilities:ProbabilityLayer",
        "segments": "seqkern.layers.segments:SegmentLayer",
        "structure": "seqkern.layers.structure:StructureLayer",
    },
)
