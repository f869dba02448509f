"""Parameters shared by several solvers."""

from typing import TYPE_CHECKING, Any

from seqkern.core.parameters import integer, numbers_by_name, real

LARGEST_SEED = 2**63 - 1
BALANCED = (
    'Factor of C for each class; ``"balanced"`` is n / (c · members) for c classes and n '
    "training rows, so that all classes have the same total."
)


def cost(doc: str, *, infinite: bool = False) -> Any:
    """Declare C.

    Parameters
    ----------
    doc : str
        The meaning of C.
    infinite : bool
        Whether infinity is a value too.

    Returns
    -------
    Parameter
        For type checkers, a value.

    Examples
    --------
    >>> from seqkern.solvers.base import BinarySolver
    >>> from seqkern.solvers.shared import cost
    >>> class Perceptron(BinarySolver):
    ...     C: float = cost("Cost of a mistake.")
    >>> Perceptron(C=2.0)
    Perceptron(C=2.0)
    """
    return real(default=1.0, low=0, open_low=True, infinite=infinite, doc=doc)


def class_weights(doc: str = BALANCED) -> Any:
    """Declare factors of C for the classes.

    Parameters
    ----------
    doc : str
        What they mean.

    Returns
    -------
    Parameter
        For type checkers, a value.
    """
    return numbers_by_name(
        value=real(low=0, open_low=True),
        default=None,
        words=("balanced",),
        each="class_weight of",
        remedy="give balanced, or a weight for each class",
        doc=doc,
    )


def tolerance(default: float, doc: str) -> Any:
    """Declare when a fit has converged.

    Parameters
    ----------
    default : float
        > 0.
    doc : str
        The quantity compared with it, and its units.

    Returns
    -------
    Parameter
        For type checkers, a value.
    """
    return real(default=default, low=0, open_low=True, doc=doc)


def limit(default: int, doc: str) -> Any:
    """Declare a maximum number of iterations, or another count from 1.

    Parameters
    ----------
    default : int
        At least 1.
    doc : str
        The count.

    Returns
    -------
    Parameter
        For type checkers, a value.
    """
    return integer(default=default, low=1, doc=doc)


def random_seed(doc: str, *, largest: int = LARGEST_SEED) -> Any:
    """Declare a random seed.

    Parameters
    ----------
    doc : str
        The use of the seed.
    largest : int
        The largest seed; the default suits numpy.

    Returns
    -------
    Parameter
        For type checkers, a value.
    """
    return integer(default=1, low=0, high=largest, doc=doc)


class SearchesCost:
    """Default hyperparameter search of solvers whose only choice is C."""

    if TYPE_CHECKING:  # each solver declares it

        @property
        def C(self) -> Any:  # noqa: N802
            """C, the cost of an error."""

    @classmethod
    def default_grid(cls) -> dict[str, list[Any]]:
        """Return three costs, a factor of ten apart; a search refines them."""
        return {"C": [0.1, 1.0, 10.0]}

    @classmethod
    def search_limits(cls) -> dict[str, tuple[float, float]]:
        """Return the least and the largest cost that a search tries."""
        return {"C": (1e-4, 1e4)}

    def complexity(self) -> tuple[float, ...]:
        """Return C: smaller costs give simpler classifiers."""
        return (float(self.C),)
