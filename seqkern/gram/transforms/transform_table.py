"""The transforms by their names, and the modules of their classes, so that looking one up imports one.

A new transform takes one line here, and one in the stub ``__init__.pyi`` beside; the tests of the registry say which.
"""

from seqkern.core.registry import Registry

TRANSFORMS = Registry(
    "transform",
    "seqkern.gram.transforms.gram_transform:GramTransform",
    {
        "centre": "seqkern.gram.transforms.centre:CentreGram",
        "empirical_map": "seqkern.gram.transforms.empirical_map:EmpiricalMapGram",
        "normalise": "seqkern.gram.transforms.normalise:NormaliseGram",
        "repair": "seqkern.gram.transforms.repair:RepairGram",
    },
)
