"""Base classes with everything that a kernel does for its callers; `contract` has the methods of a family.

A kernel family subclasses `Kernel` or `SequenceKernel` and implements its parameters, ``_prepare`` and ``_block``.
Call structure::

    kernel(X, Y) ─▶ prepare(Y), prepare(X, like=…) ─▶ blocks.fill ─▶ block(rows, cols) ─▶ _block (compiled)

``prepare`` processes a whole set once (k-mer indices, features, packed residues) and returns a `Prepared` that can be
cut into row ranges; ``block`` fills one rectangle of the kernel matrix and is called from several threads. A new
family is found by its `name` and tested by its `examples`.
"""

import contextlib
import hashlib
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import canonical_json
from seqkern.core.declarations import Choice
from seqkern.core.errors import FileError, NoKmersError, ParameterError, SequenceError, ZeroDiagonalError
from seqkern.core.matrices import is_sparse
from seqkern.core.parameters import Parameters, alphabet_name, changed, choice, fixed, flag, integer
from seqkern.core.public_files import is_public
from seqkern.core.specs import json_form
from seqkern.core.threads import GIVEN_THREADS, given_threads
from seqkern.core.types import Arrays, Header
from seqkern.kernels import _blocks
from seqkern.kernels.blocks import check_block, check_squares, fill, without_warnings
from seqkern.kernels.feature_blocks import FeatureBlocks
from seqkern.kernels.gradients import Differentiable
from seqkern.kernels.kernel_operator import Implicit, KernelOperator, normalised, normalised_operator
from seqkern.kernels.kernel_table import KERNELS
from seqkern.kernels.prepared import Plan, Prepared
from seqkern.kernels.transformer import GramTransformer
from seqkern.sequences.alphabets import ALPHABETS, Alphabet, as_alphabet
from seqkern.sequences.joining import check_views
from seqkern.sequences.sequence_set import SequenceSet, as_sequences
from seqkern.sequences.tables import as_features, as_similarities
from seqkern.sequences.tracks import track_option

if TYPE_CHECKING:
    from scipy.sparse import csr_array, csr_matrix

    from seqkern.kernels.occurrences import KmerWeights, ScansWindows, Sums, Tallied, Tally
    from seqkern.kernels.vector_form import VectorForm


# Kernel arithmetic in Python: ``A + B``, ``0.5 * A``, ``A * B``, ``A ** 2``.
#
# The results are the kernels `sum`, `product` and `polynomial`, as in the text form: ``0.5 * A + B`` is ``0.5*a + b``.
# Nested sums and products are flattened, and numbers move to the front: ``2 * (A + B) * 3`` is ``6*a + 6*b``. A sum or
# product with its own parameter, such as ``normalize=True``, stays one part.


class Operators:
    """Mixin of `Kernel`: sums, products and powers.

    Factors are numbers ≥ 0 and exponents integers ≥ 1, which preserve positive semi-definiteness; others raise
    ParameterError. Other types raise TypeError.
    """

    __array_ufunc__ = None  # a NumPy array or scalar on the left leaves the operation to the kernel

    def __add__(self, other: "Kernel") -> "Kernel":
        return weighted_sum([*_terms(self), *_terms(other)]) if isinstance(other, Operators) else NotImplemented

    def __radd__(self, other: int) -> "Kernel":
        # The built-in sum() starts with 0.
        return cast("Kernel", self) if _is_number(other) and other == 0 else NotImplemented

    def __mul__(self, other: "Kernel | float") -> "Kernel":
        if _is_number(other):
            return self.__rmul__(cast("float", other))
        if not isinstance(other, Operators):
            return NotImplemented
        (one, factor), (two, second) = _scaled(self), _scaled(other)
        return weighted_sum([(one * two, KERNELS.build("product", parts=[*_factors(factor), *_factors(second)]))])

    def __rmul__(self, other: float) -> "Kernel":
        if not _is_number(other):
            return NotImplemented
        number = _plain_number(other)
        if not 0 <= number < math.inf:
            raise ParameterError(
                f"{number!r} times a kernel is not possible",
                remedy="give a finite number ≥ 0, so that the result is a kernel",
            )
        return weighted_sum([(number * weight, part) for weight, part in _terms(self)])

    def __pow__(self, exponent: int) -> "Kernel":
        if not _is_number(exponent):
            return NotImplemented
        if not isinstance(exponent, Integral) or exponent < 1:
            raise ParameterError(f"a kernel to the power of {exponent!r} is not possible", remedy="give an integer ≥ 1")
        # K(x, y)ⁿ, multiplied from left to right, from one block of K.
        return self if exponent == 1 else KERNELS.build("polynomial", degree=int(exponent), coef0=0, base=self)


def weighted_sum(terms: list[tuple[float, Any]]) -> "Kernel":
    """Return the weighted sum of kernels; a single kernel with weight 1 is returned unchanged.

    >>> from seqkern.kernels import SpectrumKernel
    >>> weighted_sum([(2, SpectrumKernel(k=2))])
    SumKernel(parts=[SpectrumKernel(k=2)], weights=[2])
    """
    weights, parts = [weight for weight, _ in terms], [part for _, part in terms]
    if set(weights) != {1}:
        return KERNELS.build("sum", parts=parts, weights=weights)
    return parts[0] if len(parts) == 1 else KERNELS.build("sum", parts=parts)


def _is_number(other: object) -> bool:
    return isinstance(other, Real) and not isinstance(other, bool)


def _plain_number(number: Any) -> float:
    """Return a NumPy number as a Python number, for specs."""
    return int(number) if isinstance(number, Integral) else float(number)


def _is_bare(kernel: Any, name: str) -> bool:
    """Return whether a kernel has exactly the class of `name`, and default parameters except for parts and weights."""
    cls = KERNELS.get(name)
    if type(kernel) is not cls:
        return False
    given, default = kernel.get_params(deep=False), cls(parts=[]).get_params(deep=False)
    return all(given[key] == default[key] for key in given.keys() - {"parts", "weights"})


def _terms(kernel: Any) -> list[tuple[float, Any]]:
    """Return the weights and kernels of a sum."""
    if not _is_bare(kernel, "sum"):
        return [(1, kernel)]
    kernel.check_parameters()  # as many weights as parts
    return list(zip([1] * len(kernel.parts) if kernel.weights is None else kernel.weights, kernel.parts, strict=True))


def _scaled(kernel: Any) -> tuple[float, Any]:
    """Return the weight and kernel of a one-part sum, else 1 and the kernel."""
    terms = _terms(kernel)
    return terms[0] if len(terms) == 1 else (1, kernel)


def _factors(kernel: Any) -> list:
    """Return the factors of a product."""
    return list(kernel.parts) if _is_bare(kernel, "product") else [kernel]


# Explicit feature vectors for solvers, normalised like the kernel, with names.


def feature_vectors(kernel: "Kernel", X: Any, counts: dict[str, int] | None = None) -> Any:
    """Return φ(x) of each record, shape (n, features), normalised if the kernel is: φ(x)·φ(y) is the kernel."""
    X = kernel.coerce(X)
    vectors: Any = kernel.features(X)
    if not is_sparse(vectors):
        return normalised_vectors(kernel, X, np.asarray(vectors, dtype=np.float64), counts)
    from scipy.sparse import csr_array  # imported here: loaded already, or not needed

    return normalised_vectors(kernel, X, csr_array(vectors, dtype=np.float64), counts)


def normalised_vectors(kernel: "Kernel", X: Any, vectors: Any, counts: dict[str, int] | None = None) -> Any:
    """Return `vectors`, the result of ``kernel.features(X)``, normalised if the kernel is, in their precision."""
    with without_warnings():
        if is_sparse(vectors):
            squares = vectors.power(2).sum(axis=1)
        else:
            squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    squares = np.asarray(squares, dtype=np.float64).reshape(-1)
    touched = kernel._count_policies(X, squares, {})
    if counts is not None:
        counts.update(touched)
    if not kernel.normalize:
        return vectors
    factors = np.divide(1.0, np.sqrt(squares), out=np.zeros(len(squares)), where=squares > 0)
    factors = factors.astype(vectors.dtype)
    if is_sparse(vectors):
        vectors = vectors.copy()
        vectors.data *= np.repeat(factors, np.diff(vectors.indptr))
        return vectors
    return vectors * factors[:, None]


def name_features(kernel: "Kernel", X: Any, columns: npt.ArrayLike) -> list[str]:
    """Return the names of the explicit features `columns`; ``feature 1``, … if the kernel has no names, or too many.

    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> name_features(SpectrumKernel(k=2), SequenceSet.from_strings(["ACGT"]), [0, 6])
    ['AA', 'CG']
    """
    names = known_names(kernel, X)
    return [f"feature {j + 1}" if names is None else names[j] for j in np.asarray(columns, dtype=np.int64)]


def known_names(kernel: "Kernel", X: Any) -> list[str] | None:
    """Return the names of all explicit features, or None if there are none or too many."""
    named = getattr(kernel, "feature_names", None)
    if named is None:
        return None
    known = {
        "alphabet": lambda: X.alphabet,
        "length": lambda: int(X.lengths.max(initial=0)),
        "columns": lambda: X.columns,
        "records": lambda: X,
    }
    takes = inspect.signature(named).parameters
    try:
        return named(**{name: value() for name, value in known.items() if name in takes})
    except ParameterError:  # there are too many
        return None


# Kernel matrices of training sets, derived from Gram matrices over all samples.


@dataclass(frozen=True)
class StoredForm:
    """A kernel as Gram matrices over all samples, and the operations that follow on each training set.

    `join`, None for a single part, combines the matrices of several parts (see
    `seqkern.kernels.CombinationKernel`): ``join.learn_from(grams, y)`` on the training set returns an object
    with ``combine(matrices, row diagonals, column diagonals)``, which returns a matrix and its row diagonal,
    ``learned()``, and ``fit_parts(X, y)``, which returns the fitted kernel. `transforms` are the specs of the
    subsequent Gram transforms, fitted on the training set.
    """

    # A Kernel here learns nothing, so that one Gram matrix over all samples serves every training set
    parts: "tuple[Kernel | StoredForm, ...]"
    # Object that combines the matrices of several parts (see `seqkern.kernels.CombinationKernel`): ``join.learn_from
    # (grams, y)``, of the training set, returns what has ``combine(matrices, row diagonals, column diagonals)``, which
    # returns a matrix and its row diagonal, ``learned()``, and ``fit_parts(X, y)``, which returns the fitted kernel.
    # None where there is one part
    join: Any = None
    transforms: tuple[dict[str, Any], ...] = ()  # Specs of the subsequent Gram transforms, fitted on the training set

    @property
    def kernels(self) -> "list[Kernel]":
        """The kernels whose Gram matrices are needed, in order."""
        found = []
        for part in self.parts:
            found += part.kernels if isinstance(part, StoredForm) else [part]
        return found

    @property
    def learns(self) -> bool:
        """Whether each training set has its own matrix."""
        return self.join is not None or bool(self.transforms) or isinstance(self.parts[0], StoredForm)

    def then(self, *transforms: dict[str, Any]) -> "StoredForm":
        """Return this form with further transforms."""
        return StoredForm(self.parts, self.join, (*self.transforms, *transforms))


# The contract of a kernel family: its parameters, ``_prepare``, ``_block`` and optional methods.

IMPLICIT_BYTE_NS = 0.2
"""CPU nanoseconds of a product for each byte of an Implicit."""
LAST_PARAMETERS: tuple[str, ...] = (
    *("search", "iterations", "inclusion", "normalize", "presence", "reverse_complement"),
    *("alphabet", "short", "zero_diagonal", "n_threads", "algorithm"),
)


class KernelContract(Parameters):
    """Attributes and methods that every kernel declares; `Kernel` does the rest.

    Attributes
    ----------
    name : str
        The name in configs and on the command line; a class without one is not registered.
    summary : str
        One sentence for report readers without knowledge of kernels.
    accepts : {"sequences", "features", "similarities"}
        The kind of data.
    accepts_words : str
        The kinds of data, for lists of kernels, where `accepts` depends on parameters.
    tracks : tuple of str
        Names of the tracks that the sequences must carry.
    views : tuple of str
        Names of the views that the sequences must carry.
    sequence_views : tuple of str
        The views among them that are sequences; the others are vectors.
    of_several : bool
        Whether samples must have several sequences, as sequence views.
    data_dependent : bool
        Whether `fit` learns from the data; then one Gram matrix is needed for each training set.
    positive_semidefinite : bool
        Whether every Gram matrix is positive semi-definite.
    equal_lengths : bool
        Whether all sequences must have one length.
    needs_classes : bool
        Whether `fit` compares classes, so that numbers as labels will not do.
    algorithms : tuple of str
        Values of the parameter ``algorithm`` besides ``"auto"``, from its declaration; all give identical results.
        `_check_parameters` refuses one that another parameter excludes, with the remedy ``choose algorithm=…``.
    kmers_vary : bool
        Whether the contribution of a k-mer depends on its position, or on the sequence around it.
    least_block_rows : int
        Minimum rows of a block; fewer would waste work on the columns.
    most_block_columns : int or None
        Columns of a block, where the kernel loses nothing by a cut: small blocks stay in the cache while they are
        copied. None for all.
    has_weights_at_positions : bool
        Whether `weights_at_positions` is available.
    accepts_missing : bool
        Whether a feature table may have missing values.
    has_gaps : bool
        Whether `features_with_gaps` is available.
    missing_file_remedy : str
        Remedy if a file named by a parameter does not exist.
    """

    name: ClassVar[str | None] = None
    summary: ClassVar[str] = ""
    accepts: ClassVar[str] = "sequences"
    accepts_words: ClassVar[str] = ""
    tracks: ClassVar[tuple[str, ...]] = ()
    views: ClassVar[tuple[str, ...]] = ()
    sequence_views: ClassVar[tuple[str, ...]] = ()
    of_several: ClassVar[bool] = False
    data_dependent: ClassVar[bool] = False
    positive_semidefinite: ClassVar[bool] = True
    equal_lengths: ClassVar[bool] = False
    needs_classes: ClassVar[bool] = False
    algorithms: ClassVar[tuple[str, ...]] = ()
    kmers_vary: ClassVar[bool] = False
    least_block_rows: ClassVar[int] = 1
    most_block_columns: ClassVar[int | None] = None
    has_weights_at_positions: ClassVar[bool] = False
    accepts_missing: ClassVar[bool] = False
    has_gaps: ClassVar[bool] = False
    missing_file_remedy: ClassVar[str] = "check the path"
    last_parameters: ClassVar[tuple[str, ...]] = LAST_PARAMETERS

    alphabet: str | Alphabet | None = fixed(None)
    normalize: bool = flag(default=False, doc="Divide by sqrt(K(x, x)·K(y, y)).")
    zero_diagonal: Literal["error", "zero"] = choice(
        default="error",
        doc="When normalising, what to do with a record whose K(x, x) is not positive: raise an "
        "error, or return zeros.",
    )
    n_threads: int | None = integer(default=None, low=1, execution=True, doc="By default, all cores.")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Read `algorithms` from the declaration of the parameter ``algorithm``."""
        super().__init_subclass__(**kwargs)
        declared = cls.declarations().get("algorithm")
        if isinstance(declared, Choice):
            cls.algorithms = tuple(name for name in declared.choices if name is not None and name != "auto")

    def _prepare(self, X: Any, like: Any) -> Any:
        """Return the payload of `X`; `like` is None or the payload of the columns to compare it with.

        A payload has ``len()``, ``rows(start, stop)`` and ``diagonal()`` (float64 (n,), before normalisation). A
        payload
        that contains others may have `counts`, the numbers of records that their policies affected. Raises
        SequenceError
        for sequences that the kernel cannot process.
        """
        raise NotImplementedError

    def _block(self, rows: Any, cols: Any, out: npt.NDArray[np.float64]) -> float | None:
        """Write K(rows, cols) of two payloads, not normalised, to `out` (float64, rows contiguous).

        Called from several threads: the work is done without the GIL. May return the largest absolute value of `out`,
        inf and NaN included, or a bound below 1e38, if it is known; by default the values are scanned again.
        """
        raise NotImplementedError

    def _fill_single(self, rows: Prepared, cols: Prepared, out: npt.NDArray[np.float32]) -> bool:
        """Write K(rows, cols), as the kernel returns it, to `out` (float32, rows contiguous); return whether it was
        written.

        For values that are known to be finite; the bits equal the rounded values of `block`. By default nothing is
        written,
        and the caller rounds.
        """
        return False

    def _fit(self, X: Any, y: Any) -> None:
        """Learn from training data; only for ``data_dependent`` kernels. Sets attributes ending in ``_``."""

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays) of the values learned by `_fit`."""
        return {}, {}

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the state returned by `fitted_state`.

        Parameters
        ----------
        header : dict
            Its JSON part.
        arrays : dict of str to ndarray
            Its arrays.
        """

    def restrict(self, rows: npt.NDArray[Any]) -> "Kernel":
        """Return an equivalent fitted kernel for comparisons with some of the training samples only.

        By default the kernel itself: its learned values are needed for any columns.

        Parameters
        ----------
        rows : ndarray of int or bool
            The training samples to keep.

        Returns
        -------
        Kernel
        """
        return cast("Kernel", self)

    def stored_form(self) -> StoredForm | None:
        """Return the derivation of this kernel from matrices over all samples; None if there is none.

        By default the kernel itself if it learns nothing: one Gram matrix serves every training set.

        Returns
        -------
        StoredForm or None
        """
        return None if self.data_dependent else StoredForm((cast("Kernel", self),))

    def learned(self) -> dict[str, float]:
        """Return the learned numbers that are worth reporting, a dict of text to number, possibly empty.

        A study stores it for each training set, with the chosen parameters.
        """
        return {}

    def files(self) -> tuple[str, ...]:
        """Return the paths of the files that the parameters name.

        Their contents are read once, and kept by `fitted_state` even if nothing is learned, so they are part of
        `identity`, and a saved model does not need the files. They are inputs of the workflow.
        """
        return ()

    def check_files(self) -> None:
        """Raise FileError if a local file named by a parameter does not exist."""
        for path in self.files():
            if not is_public(path) and not Path(path).is_file():
                raise FileError(f"there is no file {str(path)!r}", remedy=self.missing_file_remedy)

    def _fold(
        self, columns: Any, coefficients: npt.NDArray[np.float64]
    ) -> Callable[[Any], npt.NDArray[np.float64]] | None:
        """Return ``values(payload)`` for Σ_j coefficients[j]·K(x, z_j), not normalised; None if only the matrix gives
        it.

        `columns` is the payload of the sequences z_j. See `seqkern.kernels.decisions`.
        """
        return None

    def kmer_tables(
        self, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> list[tuple[int, npt.NDArray[np.float64]]] | None:
        """Return Σ_j coefficients[j]·K(x, z_j), not normalised, as sums over the k-mers of x; None without such a form.

        Parameters
        ----------
        support : SequenceSet, m sequences
            z_j.
        coefficients : ndarray of float64, shape (m,)
            A coefficient for each of them.

        Returns
        -------
        list of (int, ndarray of float64), or None
            For each length k, the weight of one occurrence of each k-mer on the given strand, (letters^k,), by its
            code: the first letter is the most significant digit. K-mers with a masked residue add nothing.
        """
        return None

    def tally(self, support: SequenceSet, coefficients: npt.NDArray[np.float64]) -> "Tally | None":
        """Return sums over the k-mers of z_j that determine Σ_j coefficients[j]·K(x, z_j), not normalised, for any x;
        None if the z_j are needed.

        Parameters
        ----------
        support : SequenceSet, m sequences
            z_j.
        coefficients : ndarray of float64, shape (m,)
            A coefficient for each of them.

        Returns
        -------
        list of ndarray of float64, or None
            Their lengths depend on the kernel and the alphabet alone.
        """
        return None

    def tallied(self, tally: "Iterator[Sums]", alphabet: Alphabet) -> "Tallied":
        """Return the object that applies a `tally` to new sequences.

        Parameters
        ----------
        tally : iterator of ndarray of float
            Iterator over the arrays of `tally`, in any precision; the kernel takes as many as `tally` gave.
        alphabet : Alphabet
            Alphabet of the sequences.

        Returns
        -------
        Tallied
        """
        raise ValueError(f"kernel {self.name!r} has no tally")

    def weights_at_positions(
        self, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> "ScansWindows | None":
        """Return an object that computes Σ_j coefficients[j]·K(x, z_j), not normalised, over windows; None without such
        a form.

        Parameters
        ----------
        support : SequenceSet, m sequences of one length
            z_j, as long as the windows.
        coefficients : ndarray of float64, shape (m,)
            A coefficient for each of them.

        Returns
        -------
        object or None
            It has ``scan(codes, starts, n_threads)`` like `kernels.positional.position_weights.PositionWeights`;
            `seqkern.kernels.decisions` uses it.
        """
        return None

    def constant_diagonal(self, length: int) -> bool:
        """Return whether K(x, x), not normalised, is the same for all sequences of a length without masked residues.

        Parameters
        ----------
        length : int
            Length of the sequences in residues.

        Returns
        -------
        bool
        """
        return False

    def _attribute(self, X: Any, support: Any, coefficients: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return float64 (residues of X,): each residue's share in Σ_j coefficients[j]·K(x, z_j), not normalised.

        The contribution of a pair of k-mers is shared equally by its residues; for windows compared position by
        position, only by the matching residues.
        """
        raise ParameterError(
            f"kernel {self.name!r} cannot be explained residue by residue",
            remedy="choose a kernel based on k-mers, such as spectrum",
        )

    def _implicit(self, X: Any) -> "Implicit":
        """Return the Implicit of `X`, not normalised. Kernels without it are trained on a Gram matrix only."""
        raise NotImplementedError

    @classmethod
    def has_implicit(cls) -> bool:
        """Return whether kernels of this class have `implicit`, at least with some parameters."""
        return cls._implicit is not KernelContract._implicit

    def _operator(self, X: Any) -> "KernelOperator":
        """Return the KernelOperator of `X`, not normalised; by default its Implicit."""
        return self._implicit(X)

    @classmethod
    def has_operator(cls) -> bool:
        """Return whether kernels of this class have `operator`, at least with some parameters."""
        return cls.has_implicit() or cls._operator is not KernelContract._operator

    def operator_bytes(self, X: Any) -> int:
        """Return the bytes that ``operator(X)`` and a few tables take, predicted before the work.

        Parameters
        ----------
        X : SequenceSet, list of str, or table
            The samples.

        Returns
        -------
        int
        """
        return self.implicit_bytes(X)

    def operator_cost(self, X: Any) -> float:
        """Return the CPU seconds of one product K·v, predicted before the work.

        Parameters
        ----------
        X : SequenceSet, list of str, or table
            The samples.

        Returns
        -------
        float
        """
        return self.implicit_bytes(X) * IMPLICIT_BYTE_NS * 1e-9

    def implicit_bytes(self, X: Any) -> int:
        """Return the bytes that ``implicit(X)`` and its weights take, predicted before the work.

        Parameters
        ----------
        X : SequenceSet, list of str, or table
            The training samples.

        Returns
        -------
        int
        """
        return 0

    def feature_bytes(self, X: Any) -> int:
        """Return the bytes that ``features(X)`` takes while it is made, predicted before the work.

        Parameters
        ----------
        X : SequenceSet, list of str, or table
            The samples.

        Returns
        -------
        int
        """
        return self.implicit_bytes(X)

    def _kmer_weights(
        self, X: Any, support: Any, coefficients: npt.NDArray[np.float64]
    ) -> "KmerWeights | tuple[list[str], npt.NDArray[np.float64]]":
        """Return KmerWeights: the k-mers of `X` and `support`, and the contribution of one occurrence of each, not
        normalised.

        If the contribution depends on the position or the sequence, the weight is a mean, and `kmers_vary` is True. A
        plain pair (list of str, float64 array) suffices for contiguous k-mers. Raises NoKmersError if there are no
        k-mers.
        """
        raise NoKmersError(
            f"kernel {self.name!r} has no k-mers", remedy="choose a kernel based on k-mers, such as spectrum"
        )

    def min_length(self) -> int:
        """Return the minimum number of residues that a sequence needs for a non-empty comparison."""
        return 0

    def plan(self, X: Any, Y: Any = None) -> Plan:
        """Return the algorithm that will run and its predicted cost.

        Parameters
        ----------
        X : SequenceSet, list of str, or table, n records
            The rows.
        Y : the same, m records, optional
            The columns; by default `X`.

        Returns
        -------
        Plan
        """
        return Plan("direct")

    @classmethod
    def examples(cls) -> Sequence["Kernel"]:
        """Return unfitted kernels of this class for the contract suite, one for each code path.

        tests/kernels/test_kernel_contract.py runs every check on each of them, on a dozen short sequences (DNA,
        unless `alphabet` says otherwise), rows of numbers, or similarities. By default ``[cls()]``.
        """
        return [cast("Kernel", cls())]

    @property
    def fitted(self) -> bool:
        """Whether `fit` has learned something: an attribute ends in ``_``."""
        return any(name.endswith("_") for name in vars(self))


class Kernel(Operators, Differentiable, GramTransformer, KernelContract):
    """Base of all kernels.

    Examples
    --------
    A custom kernel defines its parameters, ``_prepare`` and ``_block``:

    >>> import numpy as np
    >>> from seqkern.kernels import Kernel
    >>> class Lengths:
    ...     def __init__(self, lengths):
    ...         self.lengths = lengths.astype(float)
    ...     def __len__(self):
    ...         return len(self.lengths)
    ...     def rows(self, start, stop):
    ...         return Lengths(self.lengths[start:stop])
    ...     def diagonal(self):
    ...         return self.lengths**2
    >>> class LengthKernel(Kernel):
    ...     def _prepare(self, X, like):
    ...         return Lengths(X.lengths)
    ...     def _block(self, rows, cols, out):
    ...         np.outer(rows.lengths, cols.lengths, out=out)
    >>> LengthKernel()(["ACG", "GATTACA"])
    array([[ 9., 21.],
           [21., 49.]])
    """

    def __call__(self, X: Any, Y: Any = None) -> npt.NDArray[np.float64]:
        """Return the kernel matrix K(X, Y), shape (n, m)."""
        return self.kernel(X, Y)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from training data (nothing, unless `data_dependent`) and return self.

        The training set is kept, not copied, for `transform`.

        Parameters
        ----------
        X : SequenceSet, list of str, or table
            The training set only.
        y : array_like, shape (n,), optional
            Labels, for kernels that use them.

        Returns
        -------
        Kernel
            Itself.

        Raises
        ------
        ParameterError
            If a parameter is outside its domain.
        SequenceError
            If the data do not fit the kernel.
        """
        self.check_parameters()
        X = self.coerce(X)
        with self._named():
            self._fit(X, y)
        self._remember(X)
        return self

    def kernel(
        self, X: Any, Y: Any = None, *, dtype: Any = np.float64, n_threads: int | None = None
    ) -> npt.NDArray[Any]:
        """Return the kernel matrix.

        Parameters
        ----------
        X : SequenceSet, list of str, or table, n records
            The rows.
        Y : the same, m records, optional
            The columns. By default `X`; then the matrix is exactly symmetric.
        dtype : {float64, float32}
            Data type of the result.
        n_threads : int, optional
            Number of threads, by default the kernel's own or all cores. It does not change the result.

        Returns
        -------
        ndarray of `dtype`, shape (n, m)

        Raises
        ------
        SequenceError, ParameterError
            As `prepare`; also for computations that would take years.

        Examples
        --------
        >>> from seqkern.kernels import SpectrumKernel
        >>> SpectrumKernel(k=2, normalize=False).kernel(["GATTACA", "ATTA"], ["TTAC", "GGG"])
        array([[3., 0.],
               [2., 0.]])
        """
        self.check_parameters()
        self.check_fitted()
        if Y is not None and not isinstance(X, SequenceSet) and not isinstance(Y, SequenceSet):
            X, Y = self._coerce_pair(X, Y)
        X, Y = self.coerce(X), None if Y is None else self.coerce(Y)
        self.plan(X, Y).check()
        with given_threads(n_threads):
            cols = self._prepare_checked(X if Y is None else Y)
            rows = cols if Y is None else self._prepare_checked(X, like=cols)
            out = np.empty((len(rows), len(cols)), dtype=dtype)
            return fill(self, rows, cols, out)

    def diagonal(self, X: Any) -> npt.NDArray[np.float64]:
        """Return K(x, x) for each record, without the matrix.

        Parameters
        ----------
        X : SequenceSet, list of str, or table, n records
            The samples.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        return self.prepare(X).diagonal

    def prepare(self, X: Any, like: Prepared | None = None) -> Prepared:
        """Process a set once and return its `Prepared`.

        Parameters
        ----------
        X : SequenceSet, list of str, or table
            The samples.
        like : Prepared, optional
            The columns that `X` will be compared with; the same algorithm and features are used.

        Returns
        -------
        Prepared

        Raises
        ------
        SequenceError
            If a sequence is too short, lacks a track, or has a zero diagonal under the policy ``"error"``.
        ParameterError
            If a parameter is outside its domain, or the kernel learns from data and is not fitted.
        """
        self.check_parameters()
        self.check_fitted()
        return self._prepare_checked(self.coerce(X), like)

    def _prepare_checked(self, X: Any, like: Prepared | None = None) -> Prepared:
        """Return the Prepared of a coerced set; the parameters must have been checked."""
        alphabet: Any = getattr(X, "alphabet", None)
        theirs: Any = None if like is None else like.alphabet
        if like is not None and theirs != alphabet:
            raise SequenceError(
                f"rows have the alphabet {alphabet.name}, columns {theirs.name}",
                remedy="read both with the same alphabet",
            )
        with without_warnings(), self._named(), given_threads(GIVEN_THREADS.get() or self.n_threads):
            payload = self._prepare(X, None if like is None else like.payload)
            raw = payload.diagonal()
        counts = self._count_policies(X, raw, getattr(payload, "counts", {}))
        if not self.normalize:
            return Prepared(payload, raw, raw, alphabet, counts, X.ids)
        ones = np.where(raw > 0, 1.0, 0.0)
        return Prepared(payload, np.where(raw > 0, raw, 0.0), ones, alphabet, counts, X.ids)

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Add the kernel's name to errors about its parameters that name neither it nor a file."""
        try:
            yield
        except ParameterError as error:
            if error.file is None and not error.problem.startswith("kernel "):
                error.problem = f"kernel {self.name!r}: {error.problem}"
            raise

    def _count_policies(self, X: Any, raw: npt.NDArray[np.float64], counts: dict[str, int]) -> dict[str, int]:
        """Return the numbers of records in `X` that each policy affects, parts included.

        Raises SequenceError for a record whose K(x, x), in `raw`, is not finite, loses precision, or prevents
        normalisation,
        unless zero is allowed.
        """
        check_squares(self, X.ids, raw)
        counts = dict(counts)
        if isinstance(X, SequenceSet):
            least = self.min_length()
            residues = "residue" if least == 1 else "residues"
            _count(counts, f"sequences with fewer than {least} {residues}", X.lengths < least)
        if not self.normalize:
            return counts
        zero = np.flatnonzero(~(raw > 0))
        if len(zero) and self.zero_diagonal == "error":
            raise ZeroDiagonalError(
                "its kernel with itself is zero, so it cannot be normalised",
                record=X.ids[zero[0]],
                remedy="remove the record, or choose zero_diagonal=zero or normalize=false",
            )
        # A negative K(x, x), of an indefinite kernel, cannot be normalised either.
        _count(counts, "zero diagonals", ~(raw > 0))
        return counts

    def implicit(self, X: Any) -> "Implicit":
        """Return the feature vectors of a set for training without a Gram matrix.

        Parameters
        ----------
        X : SequenceSet, list of str, or table, n records
            The training samples.

        Returns
        -------
        Implicit
            φ_i·φ_j is the kernel of records i and j, normalised as the kernel is.

        Raises
        ------
        ParameterError
            If the kernel has no such feature vectors; and as `prepare`.
        SequenceError
            As `prepare`.
        """
        self.check_parameters()
        self.check_fitted()
        self.check_implicit()
        X = self.coerce(X)
        with without_warnings():
            raw = self._implicit(X)
        counts = self._count_policies(X, raw.squares, raw.counts)
        out = normalised(raw) if self.normalize else raw
        out.counts = counts
        return out

    def check_implicit(self) -> None:
        """Raise ParameterError unless the kernel has feature vectors for training without a Gram matrix."""
        if self.has_implicit():
            return
        able = _able("has_implicit")
        other = "its features, such as primal_svc" if self._gives_features() else "one, such as csvc"
        raise ParameterError(
            f"kernel {self.name!r} cannot be trained without a Gram matrix by this solver",
            remedy=f"choose a solver that takes {other}; or a kernel: {able}",
        )

    def operator(self, X: Any, dtype: npt.DTypeLike = np.float64) -> "KernelOperator":
        """Return products with the kernel matrix of a set, without the matrix.

        Parameters
        ----------
        X : SequenceSet, list of str, or table, n records
            The samples; for K(Y, X)·v, the samples of both, see `KernelOperator.take`.
        dtype : {numpy.float64, numpy.float32}
            Precision of tables; see `KernelOperator.with_tables`.

        Returns
        -------
        KernelOperator
            Operator of the kernel, normalised like the kernel.

        Raises
        ------
        ParameterError
            If the kernel has no such products; and as `prepare`.
        SequenceError
            As `prepare`.

        Examples
        --------
        >>> from seqkern.kernels import SpectrumKernel
        >>> kernel = SpectrumKernel(k=2, normalize=False)
        >>> kernel.operator(["GATTACA", "ATTA", "TTAC"]).times([1, 0, -1])
        array([3., 1., 0.])
        """
        self.check_parameters()
        self.check_fitted()
        self.check_operator()
        X = self.coerce(X)
        with without_warnings():
            raw = self._operator(X).with_tables(dtype)
        counts = self._count_policies(X, raw.squares, raw.counts)
        out = raw
        if self.normalize:
            out = normalised(raw) if isinstance(raw, Implicit) else normalised_operator(raw)
        out.counts = counts
        return out

    def check_operator(self) -> None:
        """Raise ParameterError unless the kernel has products without a Gram matrix."""
        if not self.has_operator():
            raise ParameterError(
                f"kernel {self.name!r} has no products without a Gram matrix",
                remedy=f"choose from: {_able('has_operator')}",
            )
        if type(self)._operator is KernelContract._operator:
            self.check_implicit()

    def _gives_features(self) -> bool:
        """Return whether the kernel has explicit features with its parameters."""
        try:
            self.check_features()
        except ParameterError:
            return False
        return True

    def features(self, X: Any) -> "npt.NDArray[Any] | csr_array | csr_matrix":
        """Return the explicit features, not normalised: the matrix times its transpose is the kernel matrix.

        Parameters
        ----------
        X : SequenceSet, list of str, or table, n records
            The samples.

        Returns
        -------
        ndarray or scipy.sparse.csr_matrix of float64, shape (n, features)
            Approximations of other kernels give float32.

        Raises
        ------
        ParameterError
            If the kernel has none.
        """
        raise ParameterError(
            f"kernel {self.name!r} has no explicit features",
            remedy=f"approximate it as nystroem:base=(KERNEL), or choose from: {_able('has_features')}",
        )

    def features_with_gaps(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the explicit features of a table that may have missing values; NaN, if a feature's value is missing.

        Parameters
        ----------
        X : FeatureTable, n records
            The samples.

        Returns
        -------
        ndarray of float64, shape (n, features)

        Raises
        ------
        ParameterError
            If the kernel mixes features, so that one gap would spread.
        """
        raise ParameterError(f"kernel {self.name!r} takes no missing values", remedy="choose linear or rbf")

    def feature_transforms(self) -> list[Any]:
        """Return the transforms of features of the kernel and of its parts, in order."""
        return []

    def with_transforms(self, steps: list[Any]) -> "Kernel":
        """Return the kernel after transforms of its features, which are fitted on the training set.

        By default the dot product of the features after them.

        Parameters
        ----------
        steps : list of FeatureTransform
            The transforms, not fitted.

        Returns
        -------
        Kernel

        Raises
        ------
        ParameterError
            If the kernel has no explicit features, or a transform does not suit it.
        """
        made: Kernel = KERNELS.build("transformed", base=self, transforms=steps)
        made.check_parameters()
        return made

    def feature_blocks(self, X: Any, counts: dict[str, int] | None = None) -> "FeatureBlocks":
        """Return the explicit features, normalised like the kernel, in blocks for solvers that take blocks.

        By default the output of `features`, computed at once, in its own precision.

        Parameters
        ----------
        X : SequenceSet, list of str, or table, n records
            The samples.
        counts : dict, optional
            Receives the number of records that each policy affected, by description, as far as known before the
            features.

        Returns
        -------
        FeatureBlocks
            Features in float32 or float64.

        Raises
        ------
        ParameterError
            If the kernel has no explicit features.
        SequenceError
            As `prepare`.
        """
        X = self.coerce(X)
        vectors: Any = self.features(X)
        dtype = np.float32 if vectors.dtype == np.float32 else np.float64
        if is_sparse(vectors):
            from scipy.sparse import csr_array  # imported here: loaded already, or not needed

            vectors = csr_array(vectors, dtype=dtype)
        else:
            vectors = np.asarray(vectors, dtype=dtype)
        return FeatureBlocks.of(normalised_vectors(self, X, vectors, counts))

    def vector_form(self) -> "VectorForm | None":
        """Return the `seqkern.kernels.vector_form.VectorForm`, K as a function of dense vectors; None if it is not.

        It allows fast approximations. By default None.
        """
        return None

    @classmethod
    def has_features(cls) -> bool:
        """Return whether kernels of this class have `features`, at least with some parameters."""
        return cls.features is not Kernel.features

    def check_features(self) -> None:
        """Raise ParameterError, without any work, unless the kernel has explicit features."""
        if not self.has_features():
            self.features(None)

    def check_features_for(self, user: str) -> None:
        """Raise ParameterError that names who needs the explicit features, if the kernel has none.

        Parameters
        ----------
        user : str
            Such as ``"solver 'gmlvq' learns from features"``.
        """
        try:
            self.check_features()
        except ParameterError as error:
            raise ParameterError(f"{user}, but {error.problem}", remedy=error.remedy) from error

    def block(
        self, rows: Prepared, cols: Prepared, out: npt.NDArray[np.float64] | None = None
    ) -> npt.NDArray[np.float64]:
        """Return K(rows, cols).

        Parameters
        ----------
        rows, cols : Prepared
            Results of `prepare`, or row ranges of one; `rows` prepared ``like`` the whole that `cols` is cut from.
        out : ndarray of float64, shape (n, m), optional
            Array for the result; rows contiguous.

        Returns
        -------
        ndarray of float64, shape (n, m)
            `out`, if given.

        Raises
        ------
        SequenceError
            If a value overflows.
        """
        if out is None:
            out = np.empty((len(rows), len(cols)))
        self.fill_block(rows, cols, out)
        return out

    def fill_block(self, rows: Prepared, cols: Prepared, out: npt.NDArray[np.float64]) -> float:
        """Write K(rows, cols) to `out`, and return the largest absolute value; raises as `block`.

        Parameters
        ----------
        rows, cols : Prepared
            Prepared sets as for `block`.
        out : ndarray of float64, shape (n, m)
            Array for the result; rows contiguous.

        Returns
        -------
        float
        """
        with without_warnings():
            if self.normalize:
                largest = self._normalised_block(rows, cols, out)
            else:
                largest = self._block(rows.payload, cols.payload, out)
        return check_block(self, rows, cols, out, largest)

    def _normalised_block(self, rows: Prepared, cols: Prepared, out: npt.NDArray[np.float64]) -> float | None:
        """Write the normalised K of two Prepared to `out`, and return as `_block`; a family may combine both steps."""
        self._block(rows.payload, cols.payload, out)
        return _blocks.normalise(out, rows.raw_diagonal, cols.raw_diagonal)

    def check_fitted(self) -> None:
        """Raise ParameterError if the kernel learns from data and is not fitted."""
        if self.data_dependent and not self.fitted:
            raise ParameterError(
                f"kernel {self.name!r} learns from data and is not fitted",
                remedy="call fit on the training set first",
            )

    def coerce(self, X: Any) -> Any:
        """Return `X` as the kind of data that this kernel accepts, checked.

        Parameters
        ----------
        X : SequenceSet, list of str, or table
            The samples as given by the user.

        Returns
        -------
        SequenceSet, FeatureTable or SimilarityTable
            The kind named by `accepts`.

        Raises
        ------
        SequenceError
            If they are of another kind, lack a track or a view, or differ in length where one length is needed.
        """
        if self.accepts == "features":
            X = as_features(X, "keep" if self.accepts_missing else "error")
            if not self.accepts_missing:
                X.check_complete()
            return X
        if self.accepts == "similarities":
            return as_similarities(X)
        X = as_sequences(X, self.alphabet)
        for track in self.tracks:
            if track not in X.tracks:
                raise SequenceError(
                    f"kernel {self.name!r} needs the track {track!r}",
                    remedy=f"give it with the sequences, by SequenceSet.replace or {track_option(track)}",
                )
        check_views(X, self.name, self.views, self.sequence_views)
        if self.equal_lengths and len(X):
            odd = np.flatnonzero(X.lengths != X.lengths[0])
            if len(odd):
                raise SequenceError(
                    f"has {X.lengths[odd[0]]} residues, the first sequence has {X.lengths[0]}, and kernel "
                    f"{self.name!r} compares position by position",
                    record=X.ids[odd[0]],
                    remedy="trim all sequences to one length",
                )
        return X

    def _coerce_pair(self, X: Any, Y: Any) -> tuple[Any, Any]:
        """Return two sample sets, coerced; two lists of str get a common alphabet."""
        if self.accepts != "sequences":
            return self.coerce(X), self.coerce(Y)
        both = as_sequences([*X, *Y], self.alphabet)
        return both.take(slice(0, len(X))), both.take(slice(len(X), None))

    # ---- identity and state ---------------------------------------------------------------------

    def spec(self, *, execution: bool = True) -> dict[str, Any]:
        """Return the kernel in the form of a configuration: ``{"kernel": name, parameter: value, …}``.

        Parameters
        ----------
        execution : bool
            Whether to include parameters that affect the computation but not the results.

        Returns
        -------
        dict

        Examples
        --------
        >>> from seqkern.kernels import SpectrumKernel
        >>> SpectrumKernel(k=2).spec(execution=False)["k"]
        2
        """
        params = {
            name: getattr(self, name) for name, item in self.declarations().items() if execution or not item.execution
        }
        if params.get("alphabet") is not None:
            params["alphabet"] = _alphabet_name(params["alphabet"])
        return {"kernel": self.name, **{key: _json_form(value, execution) for key, value in params.items()}}

    def identity(self) -> str:
        """Return canonical JSON of everything that determines the results."""
        header, arrays = self.fitted_state()
        learned = hashlib.blake2b(canonical_json(header).encode(), digest_size=16)
        for key in sorted(arrays):
            learned.update(key.encode() + np.ascontiguousarray(arrays[key]).tobytes())
        return canonical_json([self.spec(execution=False), learned.hexdigest()])

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return (JSON dict, dict of arrays); `kernel_from_state` restores this kernel from it."""
        header, arrays = self.fitted_state()
        return {"spec": self.spec(), "fitted": header}, arrays


class SequenceKernel(Kernel):
    """Base of the kernels on sequences."""

    normalize: bool = changed(default=True)
    alphabet: str | Alphabet | None = alphabet_name(
        default=None, doc="Alphabet of the sequences; strings are encoded with it. By default it is detected."
    )

    if TYPE_CHECKING:

        def coerce(self, X: Any) -> SequenceSet:
            """Return the samples as a checked SequenceSet."""


def _able(trait: str) -> str:
    """Return the names of the kernels whose class method `trait`, ``has_features`` or ``has_implicit``, returns
    true.
    """
    return ", ".join(name for name, cls in KERNELS.classes.items() if getattr(cls, trait)())


def _count(counts: dict[str, int], what: str, touched: npt.NDArray[np.bool_]) -> None:
    """Add the number of affected records, if any, to ``counts[what]``."""
    if touched.any():
        counts[what] = counts.get(what, 0) + int(np.count_nonzero(touched))


def _alphabet_name(alphabet: str | Alphabet) -> str:
    """Return an alphabet as text: its name, or the letters of a custom alphabet."""
    known = as_alphabet(alphabet)
    return known.name if ALPHABETS.get(known.name) == known else known.letters


def _json_form(value: Any, execution: bool) -> Any:
    """Return a parameter's value in JSON-compatible form; see `Kernel.spec`."""
    if isinstance(value, Kernel):
        return value.spec(execution=execution)
    if isinstance(value, (list, tuple)):
        return [_json_form(item, execution) for item in value]
    return json_form(value)
