"""Which solvers decide by a weighted sum of kernel values, so that residues can share their decisions."""

from typing import TYPE_CHECKING

from seqkern.core.errors import ParameterError

if TYPE_CHECKING:
    from seqkern.solvers.base import Solver


def check_solver(solver: "Solver") -> None:
    """Raise ParameterError if no classifier of a solver decides by a weighted sum of kernel values.

    Parameters
    ----------
    solver : Solver
        Fitted or not.

    Raises
    ------
    ParameterError
        It lists solvers that do.

    Examples
    --------
    >>> from seqkern.core.errors import ParameterError
    >>> from seqkern.solvers import CSVC, GOR, PairwiseVoting
    >>> from seqkern.solvers.explainable import check_solver
    >>> check_solver(PairwiseVoting(CSVC()))
    >>> try:
    ...     check_solver(GOR())
    ... except ParameterError as error:
    ...     print(error.remedy)
    choose a solver that can, such as csvc or psvc with a Gram matrix
    """
    if solver.targets == ("multiclass",) and not hasattr(solver, "classifier"):
        raise no_two_class_solver(solver)
    if "binary" in solver.nested_solvers():
        check_solver(solver.get_params(deep=False)["binary"])
        return
    if solver.input == "features" or not solver.has_linear():
        by = "by features, not by" if solver.input == "features" else "not by weighted sums of"
        raise ParameterError(
            f"solver {solver.name!r} decides {by} kernel values with training sequences, so it cannot be "
            "explained residue by residue",
            remedy="choose a solver that can, such as csvc or psvc with a Gram matrix",
        )


def no_two_class_solver(solver: "Solver") -> ParameterError:
    """Return the error for a direct multi-class solver.

    Parameters
    ----------
    solver : Solver
        The estimator, for the message.

    Returns
    -------
    ParameterError
    """
    return ParameterError(
        f"the solver {solver.name!r} has no binary classifier that could be explained",
        remedy="train a binary solver, such as csvc, which learns several classes by pairs",
    )
