"""The transforms by name, and the modules of their classes, so that looking one up imports only its module.

A new transform needs a line here, and one in the stub ``__init__.pyi``; the tests of the registry check both.
"""

from seqkern.core.registry import Registry

TRANSFORMS = Registry(
    "transform",
    "seqkern.gram.transforms.gram_transform:GramTransform",
    {
        "centre": "seqkern.gram.transforms.centre:CentreGram",
        "empirical_map": "seqkern.gram.transforms.empirical_map:EmpiricalMapGram",
        "graph": "seqkern.gram.transforms.graph:GraphGram",
        "kernel_pca": "seqkern.gram.transforms.kernel_pca:KernelPCAGram",
        "normalise": "seqkern.gram.transforms.normalise:NormaliseGram",
        "repair": "seqkern.gram.transforms.repair:RepairGram",
    },
)
