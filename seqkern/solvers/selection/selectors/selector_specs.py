"""Construction of selectors and scalers from a config or the command line."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from seqkern.core.errors import ParameterError, check_known
from seqkern.core.registry import Kind, Registry, add_kind
from seqkern.core.specs import build_named, built_values, parse_spec

if TYPE_CHECKING:
    from seqkern.solvers.selection.selectors.scaling import ExpressionScaler
    from seqkern.solvers.selection.selectors.selector import Selector


# The table of selectors by name, with the modules of their classes, so that a lookup imports a single module.
#
# A new selector needs one line here, and one in the stub ``__init__.pyi``; the registry tests report missing ones.

SELECTORS = Registry(
    "selector",
    "seqkern.solvers.selection.selectors.selector:Selector",
    {
        "ard": "seqkern.solvers.selection.selectors.models:ARDSelector",
        "backward": "seqkern.solvers.selection.selectors.models:BackwardSelector",
        "beam": "seqkern.solvers.selection.selectors.models:BeamSelector",
        "fisher": "seqkern.solvers.selection.selectors.filters:FisherSelector",
        "focus": "seqkern.solvers.selection.selectors.filters:FocusSelector",
        "forward": "seqkern.solvers.selection.selectors.models:ForwardSelector",
        "genetic": "seqkern.solvers.selection.selectors.models:GeneticSelector",
        "golub": "seqkern.solvers.selection.selectors.filters:GolubSelector",
        "mutual_information": "seqkern.solvers.selection.selectors.filters:MutualInformationSelector",
        "one_norm": "seqkern.solvers.selection.selectors.models:OneNormSelector",
        "pearson": "seqkern.solvers.selection.selectors.filters:PearsonSelector",
        "psvm": "seqkern.solvers.selection.selectors.psvm_selector:PSVMFeatureSelector",
        "r2w2": "seqkern.solvers.selection.selectors.models:R2W2Selector",
        "recursive_elimination": "seqkern.solvers.selection.selectors.models:RecursiveEliminationSelector",
        "relief": "seqkern.solvers.selection.selectors.filters:ReliefSelector",
        "t": "seqkern.solvers.selection.selectors.filters:TSelector",
        "wilcoxon": "seqkern.solvers.selection.selectors.filters:WilcoxonSelector",
        "zero_norm": "seqkern.solvers.selection.selectors.models:ZeroNormSelector",
    },
)


def build_selector(spec: Any) -> "Selector":
    """Return a new selector.

    Parameters
    ----------
    spec : dict, str or Selector
        ``{"selector": "golub", "n_features": 20}``; its text form, ``golub:n_features=20`` or JSON; or a selector,
        returned as it is. A solver or a scaler among the parameters is a spec, too.

    Returns
    -------
    Selector
        Not fitted.

    Raises
    ------
    ParameterError
        For an unknown selector or parameter (with the nearest known one) or a value outside its domain.

    Examples
    --------
    >>> from seqkern.solvers.selection.selectors.selector_specs import build_selector
    >>> build_selector("golub:n_features=20")
    GolubSelector(n_features=20)
    >>> build_selector({"selector": "psvm", "ranking": "leave_one_out"}).n_features
    20
    """
    if isinstance(spec, SELECTORS.base_class):
        return cast("Selector", spec)
    spec = parse_spec(spec, "selector") if isinstance(spec, str) else spec
    if not isinstance(spec, Mapping) or not isinstance(spec.get("selector"), str):
        raise ParameterError(
            f"{spec!r} does not name a selector",
            remedy="write it as {selector: golub, n_features: 20} or golub:n_features=20",
        )
    params = {key: value for key, value in spec.items() if key != "selector"}
    return build_named("selector", spec["selector"], params)


def build_scaler(spec: Any) -> "ExpressionScaler | None":
    """Return an `ExpressionScaler`, or None.

    Parameters
    ----------
    spec : dict, str, ExpressionScaler or None
        Its parameters, ``{"normalize": "log", "floor": 20}``; the value of `normalize` alone; a scaler, returned as
        it is; or None.

    Returns
    -------
    ExpressionScaler or None
        Not fitted.

    Raises
    ------
    ParameterError
        For an unknown parameter (with the nearest known one) or a value outside its domain.

    Examples
    --------
    >>> from seqkern.solvers.selection.selectors.selector_specs import build_scaler
    >>> build_scaler({"normalize": "log", "floor": 20})
    ExpressionScaler(normalize='log', floor=20)
    >>> build_scaler("quantile").normalize
    'quantile'
    """
    # imported here: it imports scikit-learn
    from seqkern.solvers.selection.selectors.scaling import ExpressionScaler

    if spec is None or isinstance(spec, ExpressionScaler):
        return spec
    spec = {"normalize": spec} if isinstance(spec, str) else spec
    if not isinstance(spec, Mapping):
        raise ParameterError(f"scaler={spec!r} is not possible", remedy="write it as {normalize: log, floor: 20}")
    check_known("parameter of the scaler", spec, ExpressionScaler.parameter_names())
    scaler = ExpressionScaler(**built_values(ExpressionScaler, spec))
    scaler.check_parameters()
    return scaler


add_kind(
    Kind(
        "selector",
        "Selector",
        build=build_selector,
        example="golub:n_features=20",
        registry=SELECTORS,
        parse=partial(parse_spec, key="selector"),
    )
)
add_kind(Kind("scaler", "ExpressionScaler", build=build_scaler, example="log"))
