"""The layers by their names, and the modules of their classes: a new layer takes one line here."""

from seqkern.core.registry import Registry

LAYERS = Registry(
    "layer",
    "seqkern.layers.base:Layer",
    {
        "probabilities": "seqkern.layers.probabilities:ProbabilityLayer",
        "segments": "seqkern.layers.segments:SegmentLayer",
        "structure": "seqkern.layers.structure:StructureLayer",
    },
)
