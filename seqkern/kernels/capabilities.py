"""What a kernel is, and what it can do besides its matrix: traits, and capabilities that it has or lacks.

A kernel's attributes `features`, `implicit`, `operator`, `gradient` and `tables` are capabilities: objects that callers
use, such as `Features`, or an `Absent`, which is false and raises the reason when it is used. A family returns the
object from a method marked `capability`, or raises ParameterError with the reason why there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.kernels.blocks import without_warnings
from seqkern.kernels.kernel_operator import Implicit, KernelOperator, normalised, normalised_operator
from seqkern.kernels.kernel_table import KERNELS

if TYPE_CHECKING:
    from seqkern.core.types import Floats
    from seqkern.kernels.kernel import Kernel
    from seqkern.kernels.occurrences import ScansWindows, Sums, Tallied, Tally
    from seqkern.sequences.alphabets import Alphabet
    from seqkern.sequences.sequence_set import SequenceSet

Made = TypeVar("Made")


@dataclass(frozen=True)
class Traits:
    """What a kernel takes, and how its matrices behave; an attribute of the class.

    A trait that depends on the parameters is None in the class, and `Kernel._traits` gives it for a kernel.

    >>> from seqkern.kernels import LinearKernel
    >>> LinearKernel.traits.accepts, LinearKernel().traits.accepts
    (None, 'features')
    """

    accepts: Any = "sequences"  # The kind of data: "sequences", "features" or "similarities"
    accepts_words: str = ""  # The kinds of data, for lists of kernels, if it depends on parameters
    accepts_missing: bool = False  # Whether a feature table may have missing values
    tracks: tuple[str, ...] = ()  # Names of the tracks that the sequences must carry
    views: tuple[str, ...] = ()  # Names of the views that the sequences must carry
    sequence_views: tuple[str, ...] = ()  # The views among them that are sequences; the others are vectors
    of_several: bool = False  # Whether samples must have several sequences, as sequence views
    equal_lengths: bool = False  # Whether all sequences must have one length
    needs_classes: bool = False  # Whether `fit` compares classes, so that numbers as labels will not do
    data_dependent: Any = False  # Whether `fit` learns; then one Gram matrix is needed for each training set
    definite: Any = True  # Whether every Gram matrix is positive semi-definite, or a function that finds out
    antisymmetric: bool = False  # Whether K(x, y) changes its sign if the two sequences of x are swapped
    kmers_vary: bool = False  # Whether a k-mer's contribution depends on its position, or the sequence around it

    @property
    def positive_semidefinite(self) -> bool | None:
        """Whether every Gram matrix is positive semi-definite; None if that depends on the parameters."""
        return self.definite() if callable(self.definite) else self.definite

    def __get__(self, kernel: Kernel | None, owner: type[Kernel]) -> Traits:
        return self if kernel is None else kernel._traits(self)


class LackingError(ParameterError):
    """The error about a kernel that never has a capability; its remedy lists kernels that have it."""

    def __init__(self, kernel: Any, problem: str, capability: str, advice: str) -> None:
        super().__init__(f"kernel {kernel.name!r} {problem}")
        self.capability, self.advice = capability, advice

    @property
    def remedy(self) -> str:  # made when it is shown: it imports all kernels
        """The advice, and the names of the kernels that have the capability for some parameters."""
        able = [n for n, cls in KERNELS.classes.items() if any(getattr(one, self.capability) for one in cls.examples())]
        return f"{self.advice}{', '.join(able)}"

    @remedy.setter
    def remedy(self, remedy: str | None) -> None:
        pass

    def __reduce__(self) -> tuple[Any, ...]:
        return ParameterError, (str(self.problem),), {"remedy": self.remedy}


class Absent:
    """A capability that a kernel lacks: false, and raises the reason when it is used."""

    def __init__(self, error: ParameterError) -> None:
        self.error = error

    def __bool__(self) -> bool:
        return False

    def __call__(self, *args: Any, **options: Any) -> NoReturn:
        raise self.error

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self.error


class capability(Generic[Made]):  # noqa: N801  # a decorator, like property
    """Decorator of a method that returns a capability: an attribute, Absent if the method raises ParameterError."""

    def __init__(self, make: Callable[[Any], Made]) -> None:
        self.make = make
        self.__doc__ = make.__doc__

    def __get__(self, kernel: Any, owner: type) -> Made:
        if kernel is None:
            return self  # type: ignore[return-value]  # of the class
        try:
            return self.make(kernel)
        except ParameterError as error:
            return Absent(error)  # type: ignore[return-value]  # callers see the object that they want, or an error


def given(found: Made) -> Made:
    """Return a capability; raise the reason if it is absent."""
    if isinstance(found, Absent):
        raise found.error
    return found


def required(kernel: Any, name: str, user: str = "") -> Any:
    """Return a kernel's capability of this name; raise ParameterError if it has none.

    `user` names who needs it, such as ``"solver 'gmlvq' learns from features"``.
    """
    found = getattr(kernel, name)
    if user and isinstance(found, Absent):
        raise ParameterError(f"{user}, but {found.error.problem}", remedy=found.error.remedy) from found.error
    return given(found)


IMPLICIT_BYTE_NS = 0.2
"""CPU nanoseconds of a product for each byte of an Implicit."""


@dataclass(frozen=True, eq=False)
class Products:
    """A kernel's capability of training without a Gram matrix: feature vectors, or products K·v.

    >>> from seqkern.kernels import SpectrumKernel
    >>> SpectrumKernel(k=2, normalize=False).operator(["GATTACA", "ATTA", "TTAC"]).times([1, 0, -1])
    array([3., 1., 0.])
    """

    kernel: Any
    make: Callable[[Any], KernelOperator]  # Returns the KernelOperator of coerced samples, not normalised
    size: Callable[[Any], int] = lambda X: 0  # Returns the bytes that it takes, for coerced samples
    seconds: Callable[[Any], float] | None = None  # Returns the CPU seconds of one product; by default from the size
    making: Callable[[Any], float] = lambda X: 0.0  # Returns the CPU seconds of making it besides its size's

    def __call__(self, X: Any, dtype: npt.DTypeLike = np.float64) -> Any:
        """Return the Implicit or KernelOperator of samples, normalised like the kernel, with tables of `dtype`."""
        kernel = self.kernel
        kernel.check_parameters()
        kernel._check_fitted()
        X = kernel.coerce(X)
        with without_warnings():
            raw = self.make(X).with_tables(dtype)
        counts = kernel._count_policies(X, raw.squares, raw.counts)
        out = raw
        if kernel.normalize:
            out = normalised(raw) if isinstance(raw, Implicit) else normalised_operator(raw)
        out.counts = counts
        return out

    def bytes(self, X: Any) -> int:
        """Return the memory in bytes that the products of samples take with their tables, before the work."""
        return self.size(self.kernel.coerce(X))

    def cost(self, X: Any) -> float:
        """Return the CPU seconds of one product K·v, predicted before the work."""
        X = self.kernel.coerce(X)
        return self.size(X) * IMPLICIT_BYTE_NS * 1e-9 if self.seconds is None else self.seconds(X)


def _no_tally(tally: Iterator[Sums], alphabet: Alphabet) -> Tallied:
    raise ValueError("the kernel has no tally")


@dataclass(frozen=True, eq=False)
class Tables:
    """A kernel's capability of decisions Σ_j c_j·K(x, z_j), not normalised, from tables of the k-mers of the z_j.

    The default functions are of a kernel without any.
    """

    # Returns the sums over the k-mers of z_j that determine the decision for any x, and whose lengths depend on kernel
    # and alphabet alone, from the z_j and c_j; None if the z_j are needed
    tally: Callable[[SequenceSet, Floats], Tally | None] = lambda support, coefficients: None
    # Returns the object that applies the sums, in any precision, to sequences of an alphabet; takes as many as `tally`
    # gives
    tallied: Callable[[Iterator[Sums], Alphabet], Tallied] = _no_tally
    by_kmer: Callable[[SequenceSet, Floats], list[tuple[int, Floats]] | None] | None = None  # See `weights`
    # Returns the value of two k-mers by their Hamming distance 0, …, k, for each k, given the number of letters; and
    # which strands count: "one", "both" (each k-mer and its reverse complement), or "canonical" (the first of the two)
    pairs: Callable[[int], tuple[str, list[tuple[int, Sequence[float] | Floats]]]] | None = None
    # Returns the object that sums over windows, from windows z_j of one length and c_j
    at_positions: Callable[[SequenceSet, Floats], ScansWindows] | None = None
    # Returns whether K(x, x) is the same for all sequences of a length without masked residues
    constant_diagonal: Callable[[int], bool] = lambda length: False

    def weights(self, support: SequenceSet, coefficients: Floats) -> list[tuple[int, Floats]] | None:
        """Return the weight of one occurrence of each k-mer on the given strand; None without such a form.

        For each length k, float64 (letters^k,) by the k-mer's code: the first letter is the most significant digit.
        K-mers with a masked residue add nothing.
        """
        if self.by_kmer is not None:
            return self.by_kmer(support, coefficients)
        tally = self.tally(support, coefficients)
        return None if tally is None else self.tallied(iter(tally), support.alphabet).tables()
