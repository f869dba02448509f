"""The text and configuration forms of transforms of features."""

from collections.abc import Mapping
from typing import Any

from seqkern.core.errors import ParameterError
from seqkern.core.registry import Kind, Registry, add_kind
from seqkern.core.specs import build_named, parse_spec
from seqkern.kernels.feature_transforms.transforms import FeatureTransform

# Table of the feature transforms by name, with the modules of their classes.
#
# A new transform needs a line here, and one in the stub ``__init__.pyi``; the tests of the registry check both.

FEATURE_TRANSFORMS = Registry(
    "feature_transform",
    "seqkern.kernels.feature_transforms.transforms:FeatureTransform",
    {
        "ica": "seqkern.kernels.feature_transforms.transforms:ICATransform",
        "impute": "seqkern.kernels.feature_transforms.transforms:ImputeTransform",
        "pca": "seqkern.kernels.feature_transforms.transforms:PCATransform",
    },
)


KEY = "transform"
"""The key of the name in a configuration, the same as of a transform of a Gram matrix."""


def build_feature_transform(spec: Any) -> FeatureTransform:
    """Return the transform of features that a spec describes.

    Parameters
    ----------
    spec : str, mapping or FeatureTransform
        ``"pca:n_components=5"`` or ``{"transform": "pca", "n_components": 5}``.

    Returns
    -------
    FeatureTransform
        Not fitted.

    Raises
    ------
    ParameterError
        For an unknown transform or parameter (with the nearest name), or a value outside its domain.

    Examples
    --------
    >>> from seqkern.kernels.feature_transforms import build_feature_transform
    >>> build_feature_transform("pca:n_components=5")
    PCATransform(n_components=5)
    """
    if isinstance(spec, FeatureTransform):
        return spec
    params = parse_spec(spec, "feature_transform") if isinstance(spec, str) else spec
    name = params.get(KEY, params.get("feature_transform")) if isinstance(params, Mapping) else None
    if not isinstance(name, str):
        raise ParameterError(f"{spec!r} is not a transform", remedy="write for example pca:n_components=5")
    rest = {key: value for key, value in params.items() if key not in (KEY, "feature_transform")}
    return build_named("feature_transform", name, rest)


add_kind(
    Kind(
        "feature_transform",
        "FeatureTransform",
        build=build_feature_transform,
        example="pca:n_components=5",
        registry=FEATURE_TRANSFORMS,
    )
)
