"""Text and configuration forms of transforms, and of the repair of a kernel's matrix."""

from collections.abc import Mapping, Sequence
from typing import Any

from seqkern.core.checks import check_choice
from seqkern.core.errors import ParameterError, unknown_name
from seqkern.core.registry import Kind, Registry, add_kind
from seqkern.core.specs import build_spec, parse_spec
from seqkern.core.types import Arrays, Header
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.feature_transforms.feature_transform_specs import FEATURE_TRANSFORMS

# A table of the transforms by name with the modules of their classes, so that a look-up imports only one module.
#
# A new transform needs a line here, and one in the stub ``__init__.pyi``; the tests of the registry check both.

TRANSFORMS = Registry(
    "transform",
    "seqkern.gram.transforms.gram_transform:GramTransform",
    {
        "centre": "seqkern.gram.transforms.matrix_transforms:CentreGram",
        "empirical_map": "seqkern.gram.transforms.matrix_transforms:EmpiricalMapGram",
        "graph": "seqkern.gram.transforms.matrix_transforms:GraphGram",
        "kernel_pca": "seqkern.gram.transforms.matrix_transforms:KernelPCAGram",
        "normalise": "seqkern.gram.transforms.matrix_transforms:NormaliseGram",
        "repair": "seqkern.gram.transforms.matrix_transforms:RepairGram",
    },
)


REPAIRS = ("none", "clip", "flip", "shift", "empirical_map")
"""Ways to make an indefinite matrix positive semi-definite; ``"none"`` leaves it unchanged."""


def build_transform(spec: Any) -> GramTransform:
    """Return the transform that a spec describes.

    Parameters
    ----------
    spec : str, mapping or GramTransform
        ``"centre"``, ``"repair:method=flip"`` or ``{"transform": "repair", "method": "flip"}``.

    Returns
    -------
    GramTransform
        Not fitted.

    Raises
    ------
    ParameterError
        For an unknown transform or parameter (with the nearest name), or a value outside its domain.

    Examples
    --------
    >>> from seqkern.gram.transforms import build_transform
    >>> build_transform("repair:method=flip")
    RepairGram(method='flip')
    """
    return build_spec(spec, "transform")


def of_features(specs: Sequence[Any]) -> int:
    """Return how many of some transforms, the first of them, are transforms of features.

    Parameters
    ----------
    specs : sequence of str or mapping
        As in a configuration.

    Returns
    -------
    int

    Raises
    ------
    ParameterError
        For an unknown transform, with the nearest name of either sort; and if a transform of features comes after one
        of the Gram matrix.

    Examples
    --------
    >>> from seqkern.gram.transforms import of_features
    >>> of_features(["impute", "pca:n_components=5", "centre"])
    2
    """
    names = [_name(spec) for spec in specs]
    known = sorted([*FEATURE_TRANSFORMS.names, *TRANSFORMS.names])
    for name in names:
        if isinstance(name, str) and name not in known:
            raise unknown_name("transform", name, known)
    kinds = [name in FEATURE_TRANSFORMS.names for name in names]
    count = kinds.index(False) if False in kinds else len(kinds)
    if any(kinds[count:]):
        late = names[count + kinds[count:].index(True)]
        raise ParameterError(
            f"transform {late!r} of features comes after {names[count]!r}, which is one of the Gram matrix",
            remedy="put it first; on a Gram matrix, kernel_pca is principal component analysis",
        )
    return count


def _name(spec: Any) -> Any:
    """Return the name of a transform spec, or None if it has none."""
    given = parse_spec(spec, "transform") if isinstance(spec, str) else spec
    return given.get("transform") if isinstance(given, Mapping) else None


def repair_transforms(repair: Any) -> list[dict[str, Any]]:
    """Return the specs of the transforms for a repair.

    Parameters
    ----------
    repair : str, mapping or None
        A name of `REPAIRS`, such as ``"clip"``; with options ``"empirical_map:normalize=false"`` or
        ``{"method": "empirical_map", "normalize": False}``. None is ``"none"``.

    Returns
    -------
    list of dict
        One; empty for ``"none"``.

    Raises
    ------
    ParameterError
        For an unknown repair or option (with the nearest name), or a value outside its domain.

    Examples
    --------
    >>> from seqkern.gram.transforms import repair_transforms
    >>> repair_transforms("clip"), repair_transforms(None)
    ([{'transform': 'repair', 'method': 'clip'}], [])
    >>> repair_transforms("empirical_map:normalize=false")
    [{'transform': 'empirical_map', 'normalize': False}]
    """
    params = parse_spec(repair, "method") if isinstance(repair, str) else repair
    params = {"method": "none"} if params is None else params
    if not isinstance(params, Mapping) or "method" not in params:
        raise ParameterError(f"repair={repair!r} is not possible", remedy=f"choose {' or '.join(REPAIRS)}")
    options = {key: value for key, value in params.items() if key != "method"}
    method = params["method"]
    check_choice("repair", method, REPAIRS)
    if method == "empirical_map":
        spec = {"transform": method, **options}
    elif options:
        raise ParameterError(f"repair {method!r} has no option {next(iter(options))!r}", remedy="remove it")
    elif method == "none":
        return []
    else:
        spec = {"transform": "repair", "method": method}
    build_transform(spec)
    return [spec]


def transform_from_state(header: Header, arrays: Arrays) -> GramTransform:
    """Return the fitted transform with this `state`.

    Parameters
    ----------
    header : dict
        Its JSON part.
    arrays : dict of str to ndarray
        Its arrays.

    Returns
    -------
    GramTransform

    Examples
    --------
    >>> from seqkern.gram.transforms import CentreGram, transform_from_state
    >>> centre = CentreGram().fit([[2.0, 1.0], [1.0, 2.0]])
    >>> transform_from_state(*centre.state()).transform([[1.0, 3.0]])[0]
    array([[-1.,  1.]])
    """
    transform = build_transform(header["spec"])
    transform.n_columns_ = header["columns"]
    transform.restore_fitted(header["learned"], arrays)
    return transform


def _repair_class(method: str) -> type[GramTransform] | None:
    """Return the transform class whose options a repair method takes, or None."""
    return TRANSFORMS.get(method) if method == "empirical_map" else None


add_kind(Kind("transform", "GramTransform", build=build_transform, example="repair:method=clip", registry=TRANSFORMS))
add_kind(Kind("method", "str or dict", build=repair_transforms, example="clip", class_of=_repair_class))
