"""Base classes for solvers, and reusable checks.

The contract is in `contract.py`.
"""

from seqkern.solvers.checking import ConstantColumnWarning, check_cost, count_rows
from seqkern.solvers.contract import Solver
from seqkern.solvers.kinds import AnyClassSolver, BinarySolver, ClassSolver, RealSolver

__all__ = [
    "AnyClassSolver",
    "BinarySolver",
    "ClassSolver",
    "ConstantColumnWarning",
    "RealSolver",
    "Solver",
    "check_cost",
    "count_rows",
]
