"""The transforms of features by name, and the modules of their classes.

A new transform needs a line here, and one in the stub ``__init__.pyi``; the tests of the registry check both.
"""

from seqkern.core.registry import Registry

FEATURE_TRANSFORMS = Registry(
    "feature_transform",
    "seqkern.kernels.feature_transforms.feature_transform:FeatureTransform",
    {
        "ica": "seqkern.kernels.feature_transforms.ica:ICATransform",
        "impute": "seqkern.kernels.feature_transforms.impute:ImputeTransform",
        "pca": "seqkern.kernels.feature_transforms.pca:PCATransform",
    },
)
