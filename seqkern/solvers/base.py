"""What a solver is written with: its base classes, and the checks that its own may use.

The contract is in `contract.py`.
"""

from .checking import ConstantColumnWarning, check_cost, count_rows
from .contract import Solver
from .kinds import AnyClassSolver, BinarySolver, ClassSolver, RealSolver

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
