"""Kernels of parts and views of samples."""

import contextlib
import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, unnest
from seqkern.core.errors import ParameterError, SequenceError, check_texts
from seqkern.core.parameters import changed, choice, component, fixed, integer, text
from seqkern.core.types import Arrays, Floats, Header, Ints
from seqkern.kernels.algebra import ProductKernel, SumKernel
from seqkern.kernels.capabilities import Products, Tables, Traits, capability, given
from seqkern.kernels.composite import CompositeKernel, PreparedParts, ThroughKernel, as_parts
from seqkern.kernels.decisions import PartOfWindow, WindowValues, attributions, fold, kmer_weights
from seqkern.kernels.features import FeatureBlocks, Features, VectorForm
from seqkern.kernels.gradients import Gradient, KernelGradient, Square
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_operator import DifferenceOperator, Implicit, KernelOperator, difference_implicit, signed
from seqkern.kernels.kernel_specs import build_kernel
from seqkern.kernels.occurrences import KmerWeights, Piece, ScansWindows, merge, piece_of
from seqkern.kernels.prepared import Plan, Prepared, StoredForm
from seqkern.kernels.vectors.combination import CombinationKernel
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet, sequence_views, vector_views
from seqkern.sequences.views import Segments

# Kernels of one piece of each sample: a part of its sequence, or one of its sequences.

FARTHEST = 10**12
"""A position beyond the end of any sequence, and far from the limits of int64."""


class PieceKernel(ThroughKernel, CompositeKernel):
    """Base of kernels that compare one piece of each sample by a base kernel.

    A subclass implements `piece`, `label` and `_first`.
    """

    base: Kernel = component("kernel", kw_only=False, doc="A kernel on sequences.")
    normalize: bool = fixed(False)
    zero_diagonal: Literal["error", "zero"] = fixed("error")

    @property
    def piece(self) -> Piece:
        """The piece, as in `seqkern.kernels.occurrences.Pattern`."""
        raise NotImplementedError

    def _seen(self, X: Any) -> Any:
        return piece_of(X, self.piece)

    @property
    def label(self) -> str:
        """The piece as text for specs, such as ``0:40``."""
        raise NotImplementedError

    def _first(self, X: SequenceSet) -> Ints:
        """Return the start of the piece in each record, int64 (n,)."""
        raise NotImplementedError

    def _given(self) -> list[Kernel]:
        return as_parts(self.name, [self.base])

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.base.traits.accepts != "sequences":
            raise ParameterError(
                f"kernel {self.base.name!r} does not take sequences",
                remedy=f"remove {self.name}: it applies to sequences only",
            )

    def _prepare(self, X: Any, like: PreparedParts | None) -> PreparedParts:
        with self._naming_the_piece():
            return super()._prepare(X, like)

    def _fit(self, X: Any, y: npt.ArrayLike | None) -> None:
        with self._naming_the_piece():
            super()._fit(X, y)

    def _plan(self, X: Any, Y: Any) -> Plan:
        with self._naming_the_piece():
            return super()._plan(X, Y)

    @capability
    def features(self) -> Features:
        """The base kernel's features of the piece, normalised as the base kernel is."""
        base = self.bases[0].features
        given(base)

        def vectors(X: Any) -> Any:
            with self._naming_the_piece():
                return base.normalised(self._seen(X))

        def blocks(X: Any, counts: dict[str, int] | None) -> FeatureBlocks:
            with self._naming_the_piece():
                return base.blocks(self._seen(X), counts)

        return Features(
            self,
            vectors,
            lambda records: base.known_names(self._seen(records)),
            lambda X: base.bytes(self._seen(X)),
            in_blocks=blocks,
        )

    @capability
    def implicit(self) -> Products:
        """The base kernel's feature vectors of the piece."""
        return self._products_of_parts("implicit", self._of_piece)

    @capability
    def operator(self) -> Products:
        """The base kernel's products on the piece."""
        return self._products_of_parts("operator", self._of_piece)

    def _of_piece(self, parts: list[Products], X: Any) -> Any:
        with self._naming_the_piece():
            return parts[0](X)

    def _vector_form(self) -> VectorForm | None:
        """Return the base kernel as a function of the piece's feature vectors, or None if it is not one."""
        form = self.bases[0]._vector_form()
        if form is None:
            return None
        return replace(
            form,
            vectors=lambda X, dtype=np.float32: form.vectors(self._seen(self.coerce(X)), dtype),
            width=lambda X: form.width(self._seen(self.coerce(X))),
        )

    @contextlib.contextmanager
    def _naming_the_piece(self) -> Iterator[None]:
        """Add the name of the piece to errors about sequences or unsuitable parameters."""
        where = f" (in the {self.name} {self.label})"
        try:
            yield
        except ParameterError as error:
            error.problem += where
            raise
        except SequenceError as error:
            error.problem += where
            error.remedy = f"{error.remedy}, or take another {self.name}"
            raise

    def _nested(self) -> dict[str, Kernel]:
        return {"base": self.bases[0]}

    def _joined(self, parts: Sequence[Square]) -> Square:
        return parts[0]

    def _chained(self, number: int, parts: Sequence[Square], derivative: Square) -> Square:
        return derivative

    def _attribute(self, X: Any, support: Any, coefficients: Floats) -> Floats:
        seen = self._seen(X)
        shares = attributions(self.bases[0], seen, self._seen(support), coefficients)
        return _placed(shares, seen.lengths, self._first(X) + np.cumsum(X.lengths) - X.lengths, X)

    def _kmer_weights(self, X: Any, support: Any, coefficients: Floats) -> KmerWeights:
        found = kmer_weights(self.bases[0], self._seen(X), self._seen(support), coefficients)
        return _of_piece(found, self.piece, self.label)


def _placed(shares: Floats, lengths: Ints, first: Ints, X: SequenceSet) -> Floats:
    """Return the contributions of pieces' residues among those of all residues of `X`; piece i begins at `first[i]`."""
    out = np.zeros(X.lengths.sum())
    out[np.repeat(first - np.cumsum(lengths) + lengths, lengths) + np.arange(len(shares))] = shares
    return out


def _of_piece(found: KmerWeights, piece: Piece, label: str) -> KmerWeights:
    """Return weights of k-mers that count in one piece of each sample only."""
    patterns = [None if one is None else one._replace(parts=(piece, *one.parts)) for one in found.found_by()]
    return KmerWeights([f"{name} [{label}]" for name in found.names], found.weights, patterns)


class PartKernel(PieceKernel):
    """Kernel of one part of each sequence: residues `start` to `stop`, as in ``s[start:stop]``.

    It suits sequences cut around a site, whose two sides carry different signals.

    Raises
    ------
    ParameterError
        If an end is not an integer, or the base does not take sequences.

    Notes
    -----
    With B the base kernel,

    .. math:: K(x, y) = B(x[start:stop], y[start:stop])

    Complexity: as the base kernel's on the part.

    Definiteness: positive semi-definite if the base kernel is.

    References
    ----------
    Shawe-Taylor, Cristianini: Kernel Methods for Pattern Analysis. Cambridge University Press, 2004.

    Examples
    --------
    Only the first three bases count:

    >>> from seqkern.kernels import PartKernel, SpectrumKernel
    >>> PartKernel(SpectrumKernel(k=1), 0, 3)(["AACTTT"], ["CAAGGG", "GGGAAC"])
    array([[1., 0.]])
    """

    name = "part"
    summary = "Compares one part of each sequence only."

    start: int | None = integer(
        low=-FARTHEST,
        high=FARTHEST,
        optional=True,
        kw_only=False,
        each="part's start",
        doc="First residue, counted from 0; negative numbers count from the end; None: from the start.",
    )
    stop: int | None = integer(
        low=-FARTHEST,
        high=FARTHEST,
        optional=True,
        kw_only=False,
        each="part's stop",
        doc="Residue after the last one, counted likewise; None: to the end.",
    )

    @classmethod
    def examples(cls) -> list[Kernel]:
        """Return kernels for the contract suite."""
        return [build_kernel("spectrum:k=2,part=1:9"), build_kernel("spectrum:k=2,part=-7:")]

    @property
    def piece(self) -> Piece:
        return self.start, self.stop

    @property
    def label(self) -> str:
        return ":".join("" if end is None else str(end) for end in (self.start, self.stop))

    def _first(self, X: SequenceSet) -> Ints:
        return self._seen(X).starts - X.starts

    @property
    def tables(self) -> Tables:
        """The base kernel's weights at positions, on its part of the windows."""
        base = self.bases[0].tables

        def at_positions(support: SequenceSet, coefficients: Floats) -> ScansWindows:
            first, _, _ = slice(self.start, self.stop).indices(int(support.lengths[0]) if len(support) else 0)
            return PartOfWindow(WindowValues(self.bases[0], self._seen(support), coefficients), first)

        return Tables(
            at_positions=None if base.at_positions is None else at_positions,
            constant_diagonal=lambda length: base.constant_diagonal(len(range(length)[self.start : self.stop])),
        )


class ViewKernel(PieceKernel):
    """Kernel of one of the sequences of each sample: a sequence view, such as the heavy chain of antibodies.

    It suits samples with several sequences. In a spec, ``spectrum:k=3,view=heavy`` is short for
    ``view:base=(spectrum:k=3),view=heavy``. With ``part`` it compares this part of the view.

    Raises
    ------
    ParameterError
        If the base does not take sequences.
    SequenceError
        If the samples have no such view, with the nearest name.

    Notes
    -----
    With B the base kernel and x_v the sequence of x in the view v,

    .. math:: K(x, y) = B(x_v, y_v)

    Complexity: as the base kernel's on the view.

    Definiteness: positive semi-definite if the base kernel is.

    References
    ----------
    Shawe-Taylor, Cristianini: Kernel Methods for Pattern Analysis. Cambridge University Press, 2004.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel, ViewKernel
    >>> from seqkern.sequences.joining import join_views
    >>> X = join_views({"heavy": ["QVQL", "EVQL"], "light": ["DIQ", "SYV"]}, "protein")
    >>> ViewKernel(SpectrumKernel(k=2), "heavy")(X).round(2).tolist()
    [[1.0, 0.67], [0.67, 1.0]]
    """

    name = "view"
    summary = "Compares one of the sequences of each sample only."

    view: str = text(kw_only=False, doc="Name of a sequence view of the samples.")

    @classmethod
    def examples(cls) -> list[Kernel]:
        """Return kernels for the contract suite."""
        return [
            build_kernel("spectrum:k=2,view=left"),
            build_kernel("view:base=(spectrum:k=2,part=-8:),view=right"),
            build_kernel("pairwise:base=(spectrum:k=2),view=left"),
        ]

    @property
    def piece(self) -> Piece:
        return self.view

    def _traits(self, declared: Traits) -> Traits:
        found = super()._traits(declared)
        views = tuple(dict.fromkeys((self.view, *found.views)))
        return replace(found, views=views, sequence_views=(self.view,), of_several=True)

    @property  # type: ignore[misc]  # here it follows from the data
    def alphabet(self) -> str | Alphabet | None:  # type: ignore[override]  # here it follows from the data
        """Always None: the view may have another alphabet than the records."""
        return None

    @property
    def label(self) -> str:
        return self.view

    def _first(self, X: SequenceSet) -> Ints:
        return X.views[self.view].rows()[:, 0].astype(np.int64)


# The difference of two sequences of each sample in the feature space of one kernel. Both are records of one set, those
# of sample i at 2i and 2i + 1, so that the base kernel compares them all as usual.

AT_ONCE = 32
"""Sequences of the samples whose K(x, x) come from one block of the base kernel."""


class PreparedPairs(PreparedParts):
    """Prepared pairs of sequences: two records of the base kernel for each sample."""

    def rows(self, start: int, stop: int) -> "PreparedPairs":
        return PreparedPairs((self.parts[0].rows(2 * start, 2 * stop),), self.combined[start:stop])


class DifferenceKernel(PieceKernel):
    """Kernel of the features of one sequence of each sample minus those of another, as `EachViewKernel` joins them."""

    only: list[str] = text(several=True, kw_only=False, doc="The views, the one that is subtracted last.")

    @property
    def label(self) -> str:
        return " − ".join(self.only)

    def _seen(self, X: SequenceSet) -> SequenceSet:
        """Return the two sequences of each sample, one after the other, as records."""
        first, second = (cast("Segments", X.views[name]) for name in self.only)
        if first.alphabet != second.alphabet:
            raise SequenceError(
                f"{self.only[0]} is {first.alphabet.name}, but {self.only[1]} {second.alphabet.name}",
                remedy="give both in one alphabet",
            )
        places = X.starts[:, None, None] + np.stack([first.bounds, second.bounds], axis=1)
        starts, stops = np.ascontiguousarray(places.reshape(-1, 2).T)
        ids = [name for name in X.ids for _ in range(2)]
        found = X.parts(starts, stops, ids, np.repeat(np.arange(len(X)), 2))
        whole = Segments(np.column_stack((0 * found.lengths, found.lengths)), first.alphabet)
        return found.replace(views={**vector_views(found), "whole": whole}).view("whole")

    def _fit(self, X: Any, y: npt.ArrayLike | None) -> None:
        super()._fit(X, None)  # the labels are of differences, not of sequences

    def _prepare(self, X: Any, like: PreparedParts | None) -> PreparedPairs:
        (pairs,) = super()._prepare(X, like).parts
        return PreparedPairs((pairs,), self._squares(pairs if like is None else self.bases[0].prepare(self._seen(X))))

    def _squares(self, pairs: Prepared) -> Floats:
        """Return K(x, x) of each sample, float64 (n,)."""
        parts = [pairs.rows(start, min(start + AT_ONCE, len(pairs))) for start in range(0, len(pairs), AT_ONCE)]
        return np.concatenate([[], *(np.diagonal(_difference(self.bases[0].block(part, part))) for part in parts)])

    def _block(self, rows: PreparedParts, cols: PreparedParts, out: Floats) -> None:
        out[...] = _difference(self.bases[0].block(rows.parts[0], cols.parts[0]))

    def _joined(self, parts: Sequence[Square]) -> Square:
        return _difference(parts[0])

    def _chained(self, number: int, parts: Sequence[Square], derivative: Square) -> Square:
        return _difference(derivative)

    def _fold(self, columns: PreparedParts, coefficients: Floats) -> Callable[[PreparedParts], Floats] | None:
        values = fold(self.bases[0], columns.parts[0], signed(coefficients))
        return None if values is None else lambda rows: -np.diff(values(rows.parts[0]).reshape(-1, 2))[:, 0]

    def _attribute(self, X: Any, support: Any, coefficients: Floats) -> Floats:
        seen = self._seen(X)
        shares = attributions(self.bases[0], seen, self._seen(support), signed(coefficients))
        shares *= np.repeat(np.tile([1.0, -1.0], len(X)), seen.lengths)
        bounds = [X.views[name].rows()[:, 0] for name in self.only]
        first = np.column_stack(bounds) + (np.cumsum(X.lengths) - X.lengths)[:, None]
        return _placed(shares, seen.lengths, first.ravel(), X)

    def _kmer_weights(self, X: Any, support: Any, coefficients: Floats) -> KmerWeights:
        found = kmer_weights(self.bases[0], self._seen(X), self._seen(support), signed(coefficients))
        negative = found._replace(weights=-found.weights)
        return merge(_of_piece(one, name, name) for one, name in zip((found, negative), self.only, strict=True))

    @capability
    def features(self) -> Features:
        """The base kernel's features of the first sequence minus those of the second."""
        of_both = given(super().features)

        def vectors(X: Any) -> Any:
            found = of_both.make(X)
            return found[::2] - found[1::2]

        return replace(of_both, make=vectors, in_blocks=None)

    def _of_piece(self, parts: list[Products], pairs: SequenceSet) -> KernelOperator:
        base, squares = parts[0](pairs), self._squares(self.bases[0].prepare(pairs))
        made = difference_implicit(base, squares) if isinstance(base, Implicit) else DifferenceOperator(base, squares)
        made.counts = base.counts
        return made


def _difference(block: Floats) -> Floats:
    """Return K of pairs from the base kernel of their sequences, shape (2n, 2m): bits are symmetric as the base's."""
    return (block[::2, ::2] + block[1::2, 1::2]) - (block[::2, 1::2] + block[1::2, ::2])


# One kernel applied to each sequence of multi-sequence samples and joined by a rule; the data name the sequences.


@dataclass(frozen=True)
class PreparedViews(PreparedParts):
    """Prepared samples of the joined kernel, with that kernel."""

    kernel: Kernel
    views: tuple[str, ...]


class EachViewKernel(CompositeKernel):
    r"""The same kernel on each of the sequences of a sample, joined by a rule.

    It suits samples with several sequences, such as the loops of a receptor: ``each_view:base=(local_alignment)``.
    It is short for the sum, product or combination of the base with ``view=`` for each sequence view of the data.
    Or it compares what one of two sequences changes in the other, such as the alternative allele of a variant.

    Raises
    ------
    ParameterError
        If the base does not take sequences.
    SequenceError
        If the samples are single sequences, or lack a view.

    Notes
    -----
    With B the base kernel and x_v the sequence of x in the view v of V views, for the rules mean, sum and product

    .. math:: K(x, y) = V^{-1} \sum_v B(x_v, y_v), \quad \sum_v B(x_v, y_v), \quad \prod_v B(x_v, y_v)

    and for combination the sum with the weights that the kernel `combination` learns from the training set. With the
    views named in `only`, the matrices of all training sets then follow from one matrix of each view. For the rule
    difference of two views a and r, with φ the features of B,

    .. math:: K(x, y) = (φ(x_a) − φ(x_r))^T (φ(y_a) − φ(y_r)) = B(x_a, y_a) + B(x_r, y_r) − B(x_a, y_r) − B(x_r, y_a)

    so that a linear decision without a constant changes its sign if a and r are swapped.

    Complexity: as the base kernel's on all views; for the rule difference, as on all pairs of all sequences.

    Definiteness: positive semi-definite if the base kernel is.

    References
    ----------
    Shawe-Taylor, Cristianini: Kernel Methods for Pattern Analysis. Cambridge University Press, 2004.

    Examples
    --------
    >>> from seqkern.kernels import EachViewKernel, SpectrumKernel
    >>> from seqkern.sequences.joining import join_views
    >>> X = join_views({"heavy": ["QVQL", "EVQL"], "light": ["DIQ", "SYV"]}, "protein")
    >>> EachViewKernel(SpectrumKernel(k=2))(X).round(2).tolist()
    [[1.0, 0.33], [0.33, 1.0]]
    """

    name = "each_view"
    summary = "Compares each of the sequences of a sample by one kernel, and joins the values."

    base: Kernel = component("kernel", kw_only=False, doc="A kernel on sequences.")
    rule: Literal["mean", "sum", "product", "combination", "difference"] = choice(
        default="mean",
        choices=("mean", "sum", "product", "combination", "difference"),
        doc='``"mean"``, ``"sum"`` or ``"product"`` of the values; ``"combination"``: a sum with weights learned from '
        'the training set, as by the kernel combination; ``"difference"``: of two views, the first minus the second.',
    )
    only: list[str] | None = text(
        default=None,
        several=True,
        optional=True,
        doc="Names of the sequence views that are compared; by default all of the data.",
    )
    normalize: bool = changed(
        default=False,
        doc="Divide the joined value by sqrt(K(x, x)·K(y, y)), in addition to the `normalize` of the base.",
    )

    @classmethod
    def examples(cls) -> list[Kernel]:
        """Return kernels for the contract suite."""
        texts = (
            "each_view:base=(string:n=2)",
            "each_view:base=(spectrum:k=1,normalize=false),rule=product,normalize=true",
            "each_view:base=(spectrum:k=1),rule=combination,only=[left,right]",
            "each_view:base=(pairwise:base=(spectrum:k=2)),rule=sum,only=[right]",
            "each_view:base=(gapped_kmer:l=4,k=2,normalize=false),rule=difference",
        )
        return [build_kernel(text) for text in texts]

    def _given(self) -> list[Kernel]:
        return as_parts(self.name, [self.base])

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.base.traits.accepts != "sequences":
            raise ParameterError(
                f"kernel {self.base.name!r} does not take sequences", remedy="choose a base that compares sequences"
            )
        if self.only is not None and not self.only:
            raise ParameterError("only=[] names no view", remedy="name at least one, or leave it out")

    def _traits(self, declared: Traits) -> Traits:
        found, named = super()._traits(declared), tuple(self.only or ())
        return replace(
            found,
            views=tuple(dict.fromkeys((*named, *found.views))),
            sequence_views=named,
            of_several=True,
            data_dependent=self.rule == "combination" or found.data_dependent,
            kmers_vary=self.rule == "product" or self.base.traits.kmers_vary,
            antisymmetric=self.rule == "difference",
        )

    alphabet = ViewKernel.alphabet

    # ---- the joined kernel -------------------------------------------------------------------------------

    def joined(self, names: Sequence[str]) -> Kernel:
        """Return the kernel on samples with these views."""
        parts: list[Kernel] = [ViewKernel(self.bases[0], name) for name in names]
        if self.rule == "product":
            return ProductKernel(parts)
        if self.rule == "combination":
            return CombinationKernel(parts)
        if self.rule == "difference":
            return DifferenceKernel(self.bases[0], list(names))
        return SumKernel(parts, weights=[1.0 / len(parts)] * len(parts) if self.rule == "mean" else None)

    def _names(self, X: Any) -> tuple[str, ...]:
        """Return the names of the compared views."""
        names = tuple(self.only or sequence_views(X))
        if not names:
            raise SequenceError(
                f"kernel {self.name!r} needs samples with several sequences",
                remedy="give a table with several columns of sequences, or a FASTA file for each view; or choose "
                f"kernel {self.base.name}",
            )
        if self.rule == "difference" and len(names) != 2:
            raise SequenceError(
                f"rule=difference needs two sequences of each sample, not {len(names)}: {', '.join(names)}",
                remedy="name two, the first minus the second, such as only=[alt,ref]",
            )
        return names

    def _of(self, X: Any) -> Kernel:
        """Return the joined kernel for samples, fitted if this kernel is; raise SequenceError for samples of other
        views.
        """
        names = self._names(X)
        if not hasattr(self, "joined_"):
            return self.joined(names)
        if names != self.names_:
            raise _other_views(names, self.names_)
        fitted: Kernel = self.joined_
        return fitted

    def _any(self) -> Kernel:
        """Return a joined kernel for questions that do not depend on the data."""
        found: Kernel = self.joined_ if hasattr(self, "joined_") else self.joined(self.only or ["first", "second"])
        return found

    def _fit(self, X: Any, y: npt.ArrayLike | None) -> None:
        if self.traits.data_dependent:
            self.names_ = self._names(X)
            self.joined_ = self.joined(self.names_).fit(X, y).forget()

    def learned(self) -> dict[str, float]:
        return self.joined_.learned() if hasattr(self, "joined_") else {}

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): the state of the joined kernel, and the names of its views."""
        if not hasattr(self, "joined_"):
            return super().fitted_state()
        header, arrays = self.joined_.fitted_state()
        return {"views": list(self.names_), "joined": header}, nest("joined", arrays)

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        if "views" not in header:
            super().restore_fitted(header, arrays)
            return
        self.names_ = tuple(check_texts(header["views"], "views"))
        self.joined_ = self.joined(self.names_)
        self.joined_.restore_fitted(header["joined"], unnest("joined", arrays))

    @property
    def stored_form(self) -> StoredForm | None:
        """The joined kernel's stored form if the views are named; else this kernel, if it learns nothing."""
        if self.traits.data_dependent and self.only and not self.normalize:
            return self._any().stored_form
        return super().stored_form

    def of_sequences(self, support: Any, coefficients: Floats) -> tuple[Kernel, SequenceSet, Floats]:
        """Return B, sequences z_k and c_k of the rule difference: f(x) = Σ_k c_k·B(x, z_k) is a function of a single
        sequence, and Σ_j coefficients[j]·K(x, x_j) = f(x_a) − f(x_r).
        """
        joined = cast("DifferenceKernel", self._of(support))
        return joined.bases[0], joined._seen(support), signed(coefficients)

    # ---- derivatives -------------------------------------------------------------------------------------

    def _own_tunable(self) -> dict[str, float]:
        """Return the parameters of the base kernel, each shared by all views; empty if the kernel learns from data."""
        known = {} if self.traits.data_dependent else Gradient(self.bases[0]).tunable()
        return {f"base__{name}": value for name, value in known.items()}

    def _tuning_bounds(self) -> dict[str, tuple[float, float]]:
        bounds = {f"base__{name}": pair for name, pair in Gradient(self.bases[0]).bounds().items()}
        return {name: bounds[name] for name in self._own_tunable()}

    def _with_values(self, values: Mapping[str, float]) -> Self:
        base = Gradient(self.bases[0]).with_values(
            {name.removeprefix("base__"): value for name, value in values.items()}
        )
        made = copy.copy(self)
        if hasattr(made, "bases_"):
            made.bases_ = [base]
        return made.set_params(base=base)

    def _derivative(self, name: str, at: KernelGradient) -> Square:
        views = self._names(at.X)
        joined = Gradient(self.joined(views))(at.X)
        numbered = [f"parts__{number}__{name}" for number in range(len(views))]
        parts = map(joined.derivative, [name] if self.rule == "difference" else numbered)
        total: Square = sum(parts, np.zeros((len(at.X), len(at.X))))
        return total

    # ---- the matrix --------------------------------------------------------------------------------------

    def _prepare(self, X: Any, like: Any) -> PreparedViews:
        names = self._names(X)
        if like is not None and names != like.views:
            raise _other_views(names, like.views)
        kernel = self._of(X) if like is None else like.kernel
        prepared = kernel.prepare(X, None if like is None else like.parts[0])
        return PreparedViews((prepared,), prepared.diagonal, kernel, names)

    def _combine_diagonals(self, diagonals: list[Floats]) -> Floats:
        return diagonals[0]

    def _block(self, rows: Any, cols: Any, out: Floats) -> None:
        cols.kernel.block(rows.parts[0], cols.parts[0], out)

    def _plan(self, X: Any, Y: Any) -> Plan:
        if Y is not None and self._names(X) != self._names(Y):
            raise _other_views(self._names(X), self._names(Y))
        return self._of(X).plan(X, Y)

    def _fold(self, columns: Any, coefficients: Floats) -> Callable[[Any], Floats] | None:
        values = fold(columns.kernel, columns.parts[0], coefficients)
        return None if values is None else lambda rows: values(rows.parts[0])

    def _attribute(self, X: Any, support: Any, coefficients: Floats) -> Floats:
        return attributions(self._of(support), X, support, coefficients)

    def _kmer_weights(self, X: Any, support: Any, coefficients: Floats) -> KmerWeights:
        return kmer_weights(self._of(support), X, support, coefficients)

    # ---- without the matrix ------------------------------------------------------------------------------

    @capability
    def features(self) -> Features:
        """The features of all views side by side."""
        given(self._any().features)
        return Features(
            self,
            lambda X: self._of(X).features(X),
            lambda records: self._of(records).features.known_names(records),
            lambda X: self._of(X).features.bytes(X),
        )

    @capability
    def implicit(self) -> Products:
        """The joined kernel's feature vectors."""
        return self._of_joined("implicit")

    @capability
    def operator(self) -> Products:
        """The joined kernel's products."""
        return self._of_joined("operator")

    def _of_joined(self, name: str) -> Products:
        given(getattr(self._any(), name))

        def products(X: Any) -> Products:
            found: Products = getattr(self._of(X), name)
            return found

        return Products(self, lambda X: products(X)(X), lambda X: products(X).bytes(X), lambda X: products(X).cost(X))


def _other_views(names: Sequence[str], known: Sequence[str]) -> SequenceError:
    """Return the SequenceError for samples and columns with different views."""
    return SequenceError(
        f"the samples have the sequences {', '.join(names)}, but are compared with {', '.join(known)}",
        remedy="give the same sequences under the same names, in the same order",
    )
