"""Which members of the portfolio some data allow, and which solver to train with them."""

from __future__ import annotations

from seqkern.auto.portfolio import Member, portfolio
from seqkern.auto.traits import traits_of
from seqkern.core.errors import ParameterError, SeqkernError
from seqkern.core.threads import given_threads
from seqkern.sequences.sequence_set import SequenceSet

LARGEST_GRAM = 12_000
"""More sequences are trained on without a Gram matrix, which would have more than a gigabyte for each kernel."""
LARGEST_PLAN = 4 << 30
"""Bytes for the preparation of one kernel by one thread: fixed, so that the portfolio is the same on every machine."""
SOLVERS = {"binary": "csvc", "multiclass": "csvc", "real": "svr"}
"""The default solver with a Gram matrix, for each kind of labels."""
LARGE_SOLVER = "linear_svc"


def default_solver(kind: str, n: int, gives_implicit: bool = True) -> str:
    """Return the solver to train with if none was given; its default grid is searched.

    Parameters
    ----------
    kind : {"binary", "multiclass", "real"}
        Of the labels.
    n : int
        Number of training samples.
    gives_implicit : bool
        Whether the kernel can be trained without a Gram matrix.

    Returns
    -------
    str

    Raises
    ------
    ParameterError
        For unlabelled samples.

    Examples
    --------
    >>> default_solver("binary", 500), default_solver("binary", 50_000)
    ('csvc', 'linear_svc')
    """
    if kind not in SOLVERS:
        raise ParameterError(
            "without labels there is nothing to choose a kernel and a solver by",
            remedy="give labels, or --kernel and --solver (such as one_class_svm)",
        )
    return LARGE_SOLVER if n > LARGEST_GRAM and kind != "real" and gives_implicit else SOLVERS[kind]


def members_for(
    X: SequenceSet, implicit: bool = False, real: bool = False, accepts_operator: bool = False
) -> list[Member]:
    """Return the members of the portfolio that some sequences allow.

    Parameters
    ----------
    X : SequenceSet
        At least one sequence. Their labels are not looked at.
    implicit : bool
        Whether the solver needs kernels that can be trained without a Gram matrix.
    real : bool
        Whether the labels are numbers.
    accepts_operator : bool
        Whether the solver also accepts products with the kernel matrix.

    Returns
    -------
    list of Member
        At least one.

    Raises
    ------
    ParameterError
        If no kernel of the portfolio suits.

    Examples
    --------
    >>> X = SequenceSet.from_strings(["ACGTACGTTACA", "TTACGTCA"], "dna")
    >>> [member.name for member in members_for(X)][:2]
    ['spectrum:k=4,reverse_complement=true', 'spectrum:k=5,reverse_complement=true']
    """
    found = [member for member in portfolio(traits_of(X)) if _suits(member, X, implicit, real, accepts_operator)]
    if not found:
        raise ParameterError(
            "no kernel of the portfolio suits these sequences", remedy="give one with --kernel, such as spectrum:k=3"
        )
    return found


def _suits(member: Member, X: SequenceSet, implicit: bool, real: bool, accepts_operator: bool) -> bool:
    """Return whether a kernel takes these sequences, and within `LARGEST_PLAN`."""
    kernel = member.kernel
    able = not implicit or member.implicit or (accepts_operator and member.operator)
    if not able or (real and kernel.needs_classes):
        return False
    try:
        kernel.coerce(X)
        with given_threads(1):
            plan = kernel.plan(X)
    except SeqkernError:
        return False
    return plan.bytes <= LARGEST_PLAN
