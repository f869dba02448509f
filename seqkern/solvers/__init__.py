"""Solvers: scikit-learn estimators that learn from a Gram matrix, a feature matrix or an Implicit.

`base.py` holds the contract, `svm.py` the C-SVM, `linear.py` (with `dual_coordinate.py`) the C-SVM without a Gram
matrix, `psvm.py` (with its compiled twin `_psvm.pyx`) the P-SVM,
`multiclass.py` pairwise voting around any binary solver, `specs.py` the way from a config to a solver and
from a model file back to one. The classes are found by the registry: ``from seqkern.solvers import PSVC``.
"""

from .specs import SOLVERS, build_solver, common_input, expand_grid, make_solver, solver_from_state

__all__ = ["SOLVERS", "build_solver", "common_input", "expand_grid", "make_solver", "solver_from_state"]


def __getattr__(name):
    """Find a solver class by its name on first use, so that scikit-learn is imported only then."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return SOLVERS.by_class_name(name)


def __dir__():
    """List the public names, the classes among them."""
    return sorted({*globals(), *SOLVERS.class_names()})
