"""The transforms by their names, and the modules of their classes: a new transform takes one line here."""

from seqkern.core.registry import Registry

TRANSFORMS = Registry(
    "transform",
    "seqkern.gram.transforms.base:GramTransform",
    {
        "centre": "seqkern.gram.transforms.scaling:CentreGram",
        "empirical_map": "seqkern.gram.transforms.empirical:EmpiricalMapGram",
        "normalise": "seqkern.gram.transforms.scaling:NormaliseGram",
        "repair": "seqkern.gram.transforms.repair:RepairGram",
    },
)
