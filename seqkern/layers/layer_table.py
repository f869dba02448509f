"""The layers by name, with the modules of their classes, so that a look-up imports a single module.

A new layer needs one line here, and one in the stub ``__init__.pyi``; the registry tests name missing ones.
"""

from seqkern.core.registry import Registry

LAYERS = Registry(
    "layer",
    "seqkern.layers.layer:Layer",
    {
        "chain_svm": "seqkern.layers.chain_svm:ChainSVMLayer",
        "crf": "seqkern.layers.crf:CrfLayer",
        "probabilities": "seqkern.layers.probabilities:ProbabilityLayer",
        "segments": "seqkern.layers.segments:SegmentLayer",
        "structure": "seqkern.layers.structure:StructureLayer",
    },
)
