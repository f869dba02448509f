"""The base class of kernels: what a family implements, and everything that a kernel does for its callers.

A kernel family subclasses `Kernel` or `SequenceKernel` and implements its parameters, ``_prepare`` and ``_block``.
Call structure::

    kernel(X, Y) ─▶ prepare(Y), prepare(X, like=…) ─▶ blocks.fill ─▶ block(rows, cols) ─▶ _block (compiled)

``prepare`` processes a whole set once (k-mer indices, features, packed residues) and returns a `Prepared` that can be
cut into row ranges; ``block`` fills one rectangle of the kernel matrix and is called from several threads. A new
family is found by its `name` and tested by its `examples`, made of `tested_with`. What only some kernels can do is a
capability; see `seqkern.kernels.capabilities`.
"""

import contextlib
import dataclasses
import hashlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import canonical_json
from seqkern.core.declarations import Choice
from seqkern.core.errors import FileError, NoKmersError, ParameterError, SequenceError, ZeroDiagonalError
from seqkern.core.parameters import Parameters, alphabet_name, changed, choice, fixed, flag, integer
from seqkern.core.public_files import is_public
from seqkern.core.registry import kind_of
from seqkern.core.specs import json_form
from seqkern.core.threads import GIVEN_THREADS, given_threads
from seqkern.core.types import Array, Arrays, Bools, Floats, Header
from seqkern.kernels import _blocks
from seqkern.kernels.arithmetic import Operators
from seqkern.kernels.blocks import check_block, check_squares, fill, without_warnings
from seqkern.kernels.capabilities import Absent, LackingError, Products, Tables, Traits, capability
from seqkern.kernels.features import Features, VectorForm
from seqkern.kernels.gradients import Differentiable, Gradient
from seqkern.kernels.prepared import Plan, Prepared, StoredForm
from seqkern.kernels.transformer import GramTransformer
from seqkern.sequences.alphabets import ALPHABETS, Alphabet, as_alphabet
from seqkern.sequences.joining import check_views
from seqkern.sequences.sequence_set import SequenceSet, as_sequences
from seqkern.sequences.tables import as_features, as_similarities
from seqkern.sequences.tracks import track_option

if TYPE_CHECKING:
    from seqkern.kernels.occurrences import KmerWeights

LAST_PARAMETERS: tuple[str, ...] = (
    *("search", "iterations", "inclusion", "normalize", "presence", "reverse_complement"),
    *("alphabet", "short", "zero_diagonal", "n_threads", "algorithm"),
)

ADVICE = "approximate it as nystroem:base=(KERNEL), or choose from: "

FORMER_NAMES = {
    "kernel": "__call__",
    "feature_blocks": "features.blocks",
    "feature_bytes": "features.bytes",
    "feature_names": "features.names",
    "features_with_gaps": "features.with_gaps",
    "implicit_bytes": "implicit.bytes",
    "operator_bytes": "operator.bytes",
    "operator_cost": "operator.cost",
    "tunable": "gradient.tunable",
    "tuning_bounds": "gradient.bounds",
    "with_values": "gradient.with_values",
    "kmer_tables": "tables.weights",
    "tally": "tables.tally",
    "tallied": "tables.tallied",
    "positive_semidefinite": "traits.positive_semidefinite",
    **{trait.name: f"traits.{trait.name}" for trait in dataclasses.fields(Traits)},
}
"""Attributes by their names of 0.2.0, which warn, and work for one release."""


class Kernel(Operators, Differentiable, GramTransformer, Parameters):
    """Base of all kernels.

    Attributes
    ----------
    name : str
        The name in configs and on the command line; a class without one is not registered.
    summary : str
        One sentence for report readers without knowledge of kernels.
    traits : Traits
        What the kernel takes, and how its matrices behave.

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

    name: ClassVar[str | None] = None
    summary: ClassVar[str] = ""
    traits: ClassVar[Traits] = Traits()
    last_parameters: ClassVar[tuple[str, ...]] = LAST_PARAMETERS
    # The parameters, or the specification, of a kernel for each code path; see `examples`
    tested_with: ClassVar[Sequence[dict[str, Any] | str]] = ({},)
    _missing_file_remedy: ClassVar[str] = "check the path"
    _least_block_rows: ClassVar[int] = 1  # Fewer rows of a block would waste work on the columns
    _most_block_columns: ClassVar[int | None] = (
        None  # Columns of a block, if a cut costs nothing: small blocks stay in the cache
    )

    alphabet: str | Alphabet | None = fixed(None)
    normalize: bool = flag(default=False, doc="Divide by sqrt(K(x, x)·K(y, y)).")
    zero_diagonal: Literal["error", "zero"] = choice(
        default="error",
        doc="When normalising, what to do with a record whose K(x, x) is not positive: raise an "
        "error, or return zeros.",
    )
    n_threads: int | None = integer(default=None, low=1, execution=True, doc="By default, all cores.")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Take traits that a class declares as attributes of their own, which works for one release."""
        super().__init_subclass__(**kwargs)
        own = {trait.name: vars(cls)[trait.name] for trait in dataclasses.fields(Traits) if trait.name in vars(cls)}
        if own:
            warnings.warn(f"{cls.__name__}: write traits = Traits({', '.join(own)}=…)", DeprecationWarning, 2)
            cls.traits = dataclasses.replace(cls.traits, **own)

    # ---- what a family implements ----------------------------------------------------------------

    def _prepare(self, X: Any, like: Any) -> Any:
        """Return the payload of `X`; `like` is None or the payload of the columns to compare it with.

        A payload has ``len()``, ``rows(start, stop)`` and ``diagonal()`` (float64 (n,), before normalisation). A
        payload
        that contains others may have `counts`, the numbers of records that their policies affected. Raises
        SequenceError
        for sequences that the kernel cannot process.
        """
        raise NotImplementedError

    def _block(self, rows: Any, cols: Any, out: Floats) -> float | None:
        """Write K(rows, cols) of two payloads, not normalised, to `out` (float64, rows contiguous).

        Called from several threads: the work is done without the GIL. May return the largest absolute value of `out`,
        inf and NaN included, or a bound below 1e38, if it is known; by default the values are scanned again.
        """
        raise NotImplementedError

    def _normalised_block(self, rows: Prepared, cols: Prepared, out: Floats) -> float | None:
        """Write the normalised K of two Prepared to `out`, and return as `_block`; a family may combine both steps."""
        self._block(rows.payload, cols.payload, out)
        return _blocks.normalise(out, rows.raw_diagonal, cols.raw_diagonal)

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

    def learned(self) -> dict[str, float]:
        """Return the learned numbers that are worth reporting, a dict of text to number, possibly empty.

        A study stores it for each training set, with the chosen parameters.
        """
        return {}

    def _traits(self, declared: Traits) -> Traits:
        """Return the traits for the kernel's parameters; `declared` are those of its class."""
        return declared

    def _files(self) -> tuple[str, ...]:
        """Return the paths of the files that the kernel's own parameters name; see `files`."""
        return ()

    def _min_length(self) -> int:
        """Return the minimum number of residues that a sequence needs for a non-empty comparison."""
        return 0

    def _plan(self, X: Any, Y: Any) -> Plan:
        """Return the algorithm that will run, and its predicted cost, for coerced samples; None for `Y` is `X`."""
        return Plan("direct")

    @classmethod
    def examples(cls) -> Sequence["Kernel"]:
        """Return unfitted kernels of this class, with the parameters `tested_with`, for the contract suite.

        tests/kernels/test_kernel_contract.py runs every check on each of them, on a dozen short sequences (DNA,
        unless `alphabet` says otherwise), rows of numbers, or similarities.
        """
        return [kind_of("kernel").build(one) if isinstance(one, str) else cls(**one) for one in cls.tested_with]

    def _fold(self, columns: Any, coefficients: Floats) -> Callable[[Any], Floats] | None:
        """Return ``values(payload)`` for Σ_j coefficients[j]·K(x, z_j), not normalised; None if only the matrix gives
        it.

        `columns` is the payload of the sequences z_j. See `seqkern.kernels.decisions`.
        """
        return None

    def _attribute(self, X: Any, support: Any, coefficients: Floats) -> Floats:
        """Return float64 (residues of X,): each residue's share in Σ_j coefficients[j]·K(x, z_j), not normalised.

        The contribution of a pair of k-mers is shared equally by its residues; for windows compared position by
        position, only by the matching residues.
        """
        raise ParameterError(
            f"kernel {self.name!r} cannot be explained residue by residue",
            remedy="choose a kernel based on k-mers, such as spectrum",
        )

    def _kmer_weights(self, X: Any, support: Any, coefficients: Floats) -> "KmerWeights | tuple[list[str], Floats]":
        """Return KmerWeights: the k-mers of `X` and `support`, and the contribution of one occurrence of each, not
        normalised.

        If the contribution depends on the position or the sequence, the weight is a mean, and ``traits.kmers_vary`` is
        True. A plain pair (list of str, float64 array) suffices for contiguous k-mers. Raises NoKmersError if there are
        no k-mers.
        """
        raise NoKmersError(
            f"kernel {self.name!r} has no k-mers", remedy="choose a kernel based on k-mers, such as spectrum"
        )

    def _vector_form(self) -> VectorForm | None:
        """Return the kernel as a function of dense vectors, which allows fast approximations; None if it is not one."""
        return None

    # ---- capabilities ------------------------------------------------------------------------------

    @capability
    def features(self) -> Features:
        """Explicit features; their dot product is the kernel."""
        raise LackingError(self, "has no explicit features", "features", ADVICE)

    @capability
    def implicit(self) -> Products:
        """Feature vectors (`Implicit`) for solvers that train without a Gram matrix."""
        other = "its features, such as primal_svc" if self.features else "one, such as csvc"
        problem = "cannot be trained without a Gram matrix by this solver"
        raise LackingError(self, problem, "implicit", f"choose a solver that takes {other}; or {ADVICE}")

    @capability
    def operator(self) -> Products:
        """Products K·v (`KernelOperator`) without the matrix; by default with the implicit feature vectors."""
        implicit = self.implicit
        if isinstance(implicit, Absent) and isinstance(implicit.error, LackingError):
            raise LackingError(self, "has no products without a Gram matrix", "operator", ADVICE)
        return implicit

    @capability
    def gradient(self) -> Gradient:
        """Derivatives of the matrix by the kernel's continuous parameters."""
        made = Gradient(self)
        if not made.tunable():
            raise LackingError(self, "has no parameter with a derivative", "gradient", "choose from: ")
        return made

    @property
    def tables(self) -> Tables:
        """Decisions from tables of the k-mers of the support sequences."""
        return Tables()

    @property
    def stored_form(self) -> StoredForm | None:
        """Derivation of the kernel from matrices over all samples; None if every training set has its own matrix."""
        return None if self.traits.data_dependent else StoredForm((self,))

    # ---- the matrix --------------------------------------------------------------------------------

    def __call__(self, X: Any, Y: Any = None, *, dtype: Any = np.float64, n_threads: int | None = None) -> Array:
        """Return the kernel matrix K(X, Y).

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
        >>> SpectrumKernel(k=2, normalize=False)(["GATTACA", "ATTA"], ["TTAC", "GGG"])
        array([[3., 0.],
               [2., 0.]])
        """
        self.check_parameters()
        self._check_fitted()
        if Y is not None and not isinstance(X, SequenceSet) and not isinstance(Y, SequenceSet):
            X, Y = self._coerce_pair(X, Y)
        X, Y = self.coerce(X), None if Y is None else self.coerce(Y)
        self.plan(X, Y).check()
        with given_threads(n_threads):
            cols = self._prepare_checked(X if Y is None else Y)
            rows = cols if Y is None else self._prepare_checked(X, like=cols)
            out = np.empty((len(rows), len(cols)), dtype=dtype)
            return fill(self, rows, cols, out)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from training data (nothing, unless ``traits.data_dependent``) and return self.

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
        self.check_parameters()
        return self._plan(self.coerce(X), None if Y is None else self.coerce(Y))

    def diagonal(self, X: Any) -> Floats:
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
        self._check_fitted()
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

    def _count_policies(self, X: Any, raw: Floats, counts: dict[str, int]) -> dict[str, int]:
        """Return the numbers of records in `X` that each policy affects, parts included.

        Raises SequenceError for a record whose K(x, x), in `raw`, is not finite, loses precision, or prevents
        normalisation,
        unless zero is allowed.
        """
        check_squares(self, X.ids, raw)
        counts = dict(counts)
        if isinstance(X, SequenceSet):
            least = self._min_length()
            residues = "residue" if least == 1 else "residues"
            _count(counts, f"sequences with fewer than {least} {residues}", X.lengths < least)
        if not self.normalize:
            return counts
        zero = np.flatnonzero(~(raw > 0))
        if len(zero) and self.zero_diagonal == "error":
            raise ZeroDiagonalError(
                "has nothing that this kernel counts (perhaps only N), so it cannot be normalised",
                record=X.ids[zero[0]],
                remedy="remove the record, or choose zero_diagonal=zero or normalize=false",
            )
        # A negative K(x, x), of an indefinite kernel, cannot be normalised either.
        _count(counts, "zero diagonals", ~(raw > 0))
        return counts

    def block(self, rows: Prepared, cols: Prepared, out: Floats | None = None) -> Floats:
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
        self._fill_block(rows, cols, out)
        return out

    def _fill_block(self, rows: Prepared, cols: Prepared, out: Floats) -> float:
        """Write K(rows, cols) to `out`, and return the largest absolute value; raises as `block`."""
        with without_warnings():
            if self.normalize:
                largest = self._normalised_block(rows, cols, out)
            else:
                largest = self._block(rows.payload, cols.payload, out)
        return check_block(self, rows, cols, out, largest)

    def _check_fitted(self) -> None:
        """Raise ParameterError if the kernel learns from data and is not fitted."""
        if self.traits.data_dependent and not self._fitted:
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
            The kind named by ``traits.accepts``.

        Raises
        ------
        SequenceError
            If they are of another kind, lack a track or a view, or differ in length where one length is needed.
        """
        traits = self.traits
        if traits.accepts == "features":
            X = as_features(X, "keep" if traits.accepts_missing else "error")
            if not traits.accepts_missing:
                X.check_complete()
            return X
        if traits.accepts == "similarities":
            return as_similarities(X)
        X = as_sequences(X, self.alphabet)
        for track in traits.tracks:
            if track not in X.tracks:
                raise SequenceError(
                    f"kernel {self.name!r} needs the track {track!r}",
                    remedy=f"give it with the sequences, by SequenceSet.replace or {track_option(track)}",
                )
        check_views(X, self.name, traits.views, traits.sequence_views)
        if traits.equal_lengths and len(X):
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
        if self.traits.accepts != "sequences":
            return self.coerce(X), self.coerce(Y)
        both = as_sequences([*X, *Y], self.alphabet)
        return both.take(slice(0, len(X))), both.take(slice(len(X), None))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return an attribute by its former name, with a warning."""
            new = FORMER_NAMES.get(name)
            if new is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            warnings.warn(f"kernel.{name} is now kernel.{new}; the former name goes in 0.4", DeprecationWarning, 2)
            return attrgetter(new)(self)

    # ---- identity and state ---------------------------------------------------------------------

    @property
    def _fitted(self) -> bool:
        """Whether `fit` has learned something: an attribute ends in ``_``."""
        return any(name.endswith("_") for name in vars(self))

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


def algorithms(kernel: Kernel | type[Kernel]) -> tuple[str, ...]:
    """Return the values of the parameter ``algorithm`` besides ``"auto"``; all give identical results.

    `_check_parameters` refuses one that another parameter excludes, with the remedy ``choose algorithm=…``.
    """
    declared = kernel.declarations().get("algorithm")
    known = declared.choices if isinstance(declared, Choice) else ()
    return tuple(name for name in known if name is not None and name != "auto")


def files(kernel: Kernel) -> tuple[str, ...]:
    """Return the paths of the files that the parameters of a kernel and its parts name.

    Their contents are read once, and kept by `Kernel.fitted_state` even if nothing is learned, so they are part of
    `Kernel.identity`, and a saved model does not need the files. They are inputs of the workflow.
    """
    of_parts = (path for part in getattr(kernel, "bases", ()) for path in files(part))
    return tuple(dict.fromkeys((*of_parts, *kernel._files())))


def check_files(kernel: Kernel) -> None:
    """Raise FileError if a local file named by a parameter of a kernel, or of its parts, does not exist."""
    for part in getattr(kernel, "bases", ()):
        check_files(part)
    for path in kernel._files():
        if not is_public(path) and not Path(path).is_file():
            raise FileError(f"there is no file {str(path)!r}", remedy=kernel._missing_file_remedy)


def _count(counts: dict[str, int], what: str, touched: Bools) -> None:
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
