"""Selectors of features: scikit-learn transformers that rate the columns of a feature matrix by the labels.

`base.py` holds the contract, `specs.py` the way from a config to a selector, `scaling.py` the preprocessing of
expression values. The classes are found by the registry: ``from seqkern.solvers.selection.selectors import SELECTORS``.
"""

from seqkern.solvers.selection.selectors.specs import SELECTORS, build_scaler, build_selector

__all__ = ["SELECTORS", "ExpressionScaler", "build_scaler", "build_selector"]


def __getattr__(name):
    """Find a selector class by its name on first use, so that scikit-learn is imported only then."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "ExpressionScaler":
        from seqkern.solvers.selection.selectors.scaling import ExpressionScaler

        return ExpressionScaler
    return SELECTORS.by_class_name(name)


def __dir__():
    """List the public names, the classes among them."""
    return sorted({*globals(), *__all__, *SELECTORS.class_names()})
