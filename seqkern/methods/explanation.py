"""Contributions of residues, positions and k-mers to decision values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seqkern.core.errors import ModelError, NoKmersError, ParameterError
from seqkern.core.threads import given_threads
from seqkern.core.types import Floats, Ints
from seqkern.kernels.occurrences import Parts, piece_of, spell
from seqkern.methods.model import check_finite
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers.solver_specs import no_two_class_solver

if TYPE_CHECKING:
    from seqkern.kernels.decisions import KmerWeights
    from seqkern.kernels.kernel import Kernel
    from seqkern.methods.model import Model


# K-mers with their weights and numbers of occurrences, from any number of sequences in bounded memory.

MOST_WORDS = 200_000


class KmerTable:
    """A table of k-mers with their weights and occurrences."""

    def __init__(self, both_strands: bool = False) -> None:
        self.both_strands = both_strands
        self.dropped = 0
        self._rows: dict[Any, list[Any]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, X: SequenceSet, found: KmerWeights) -> None:
        """Add k-mers with nonzero weight, and count their occurrences.

        A k-mer that is already in the table gets the mean of its weights over sequences: for most kernels the
        weight is the same in all of them.
        """
        patterns = found.found_by()
        counts = {kind: self._count(X, *kind) for kind in {pattern[1:] for pattern in patterns if pattern is not None}}
        for name, pattern, weight in zip(found.names, patterns, found.weights.tolist(), strict=True):
            key = name, pattern
            row = self._rows.get(key)
            if row is None:
                if weight == 0:  # as for most k-mers unseen in training
                    continue
                row = self._rows[key] = [weight, 0, None if pattern is None else 0]
            row[0] += (weight - row[0]) * len(X) / max(1, row[1] + len(X))
            row[1] += len(X)
            if pattern is not None:
                row[2] += counts[pattern[1:]].get(pattern[0], 0)
        if len(self._rows) > 2 * MOST_WORDS:
            kept = sorted(self._rows, key=lambda key: (-abs(self._rows[key][0]), key[0]))[:MOST_WORDS]
            self.dropped += len(self._rows) - len(kept)
            self._rows = {key: self._rows[key] for key in kept}

    def sorted(self) -> list[tuple[str, float, int | None]]:
        """Return (k-mer, weight, occurrences or None) of each k-mer, largest absolute weight first."""
        rows = [(name, weight, count) for (name, _), (weight, _, count) in self._rows.items()]
        return sorted(rows, key=lambda row: (-abs(row[1]), row[0]))

    def _count(self, X: SequenceSet, how: Any, parts: Parts) -> dict[str, int]:
        """Return the counts of k-mers in one piece of each sequence.

        The k-mers are the letters at the offsets `how` of a window, or are counted by a callable `how`.
        """
        for piece in parts:
            X = piece_of(X, piece)
        return how(X) if callable(how) else self._count_letters(X, how)

    def _count_letters(self, X: SequenceSet, offsets: Sequence[int]) -> dict[str, int]:
        """Return the counts of the k-mers formed by the residues at `offsets` of the windows."""
        letters, size = X.codes[X.positions()], len(offsets)
        room = np.repeat(np.cumsum(X.lengths), X.lengths) - np.arange(len(letters))
        starts = np.flatnonzero(room > max(offsets))
        found = letters[starts[:, None] + np.array(offsets)]
        found = found[(found < X.alphabet.size).all(axis=1)]
        texts = np.ascontiguousarray(found + np.uint8(1)).view(f"S{size}").reshape(-1)
        if self.both_strands and X.alphabet.complement is not None:
            other = X.alphabet.complement_codes[found[:, ::-1]]
            others = np.ascontiguousarray(other + np.uint8(1)).view(f"S{size}").reshape(-1)
            texts = np.where(others < texts, others, texts)
        distinct, numbers = np.unique(texts, return_counts=True)
        return dict(zip(spell(distinct, size, X.alphabet), numbers.tolist(), strict=True))


# Contributions of residues and k-mers to decision values.
#
# f(x) − b = Σ_i s_i(x), one term for each residue of x: the residue's share of the kernel values (`Kernel._attribute`),
# weighted by the SVM's coefficients. For gapped k-mers that is the attribution of gkmExplain (Shrikumar, Prakash,
# Kundaje, Bioinformatics 35, 2019); for k-mers the prediction profile of KeBABS (Palme, Hochreiter, Bodenhofer,
# Bioinformatics 31, 2015).

PIECE_LETTERS = 1 << 16
WORDS_LETTERS = 1 << 20
PIECE_BYTES = 1 << 25
EXACT, SINGLE = 1e-9, 1e-4


@dataclass(frozen=True, eq=False)
class Explanation:
    """Contributions of residues and k-mers to the decision values of n sequences.

    Attributes
    ----------
    sequences : SequenceSet, n records
        The explained sequences.
    decision : ndarray of float64, shape (n,)
        The decision value of each.
    bias : float
        The bias, part of every decision value.
    contributions : ndarray of float64, shape (residues,)
        Record by record; their sum over a record is its decision value minus the bias.
    offsets : ndarray of int64, shape (n + 1,)
        Start of each record's contributions.
    words : list of str
        The k-mers, sorted by absolute weight, largest first; empty if the kernel has none.
    weights : ndarray of float64, shape (k-mers,)
        Contribution of one occurrence of a k-mer to the decision value of a sequence x, before the division by √K(x,
        x) of a normalised kernel. If it depends on the place or on x, a mean over occurrences or over sequences.

    Examples
    --------
    >>> from seqkern.methods import explain
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.methods.training import train_model
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["CAGGTAAG", "TCGGTAAT", "CAGGCATG", "TCGCTAAT"], "dna")
    >>> labels = make_labels(X.ids, ["donor", "donor", "decoy", "decoy"], positive="donor")
    >>> explanation = explain(train_model(X, labels, SpectrumKernel(2), "csvc:C=10"), ["AAGGTAAC"])
    >>> bool(np.isclose(explanation.of(0).sum() + explanation.bias, explanation.decision[0]))
    True
    >>> explanation.words[0]
    'GT'
    """

    sequences: SequenceSet
    decision: Floats
    bias: float
    contributions: Floats
    offsets: Ints
    words: list[str]
    weights: Floats

    def of(self, i: int) -> Floats:
        """Return the contributions of the residues of one record."""
        return self.contributions[self.offsets[i] : self.offsets[i + 1]]


def explain(model: Model, X: SequenceSet | list[str], *, pair: str | None = None) -> Explanation:
    """Explain a model's decisions by contributions.

    Parameters
    ----------
    model : Model
        A model of sequences.
    X : SequenceSet or list of str
        The sequences to explain.
    pair : str, optional
        Multi-class: the two classes whose classifier is explained: ``"A:B"``.

    Returns
    -------
    Explanation

    Raises
    ------
    ModelError
        If the model was trained on a feature table, or the sequences have another alphabet.
    ParameterError
        If the kernel does not support contributions of residues, the solver's decision values are not weighted
        sums of kernel values, or `pair` is missing or unknown.
    SequenceError
        If the kernel rejects a sequence.

    Examples
    --------
    Bases that distinguish donor sites from decoys:

    >>> from seqkern.methods import explain
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.methods.training import train_model
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["CAGGTAAG", "TCGGTAAT", "CAGGCATG", "TCGCTAAT"], "dna")
    >>> labels = make_labels(X.ids, ["donor", "donor", "decoy", "decoy"], positive="donor")
    >>> explanation = explain(train_model(X, labels, SpectrumKernel(2), "csvc:C=10"), ["AAGGTAAC"])
    >>> for base, value in zip("AAGGTAAC", explanation.of(0)):
    ...     print(base, f"{value:+.2f}")
    A +0.08
    A +0.15
    G +0.24
    G +0.44
    T +0.35
    A +0.17
    A +0.08
    C +0.00
    """
    explainer = Explainer(model, pair)
    X = explainer.coerce(X)
    table, results = KmerTable(explainer.both_strands), []
    for part in explainer.pieces(X, WORDS_LETTERS):
        explainer.collect_words(part, table)
        results += [explainer.letters(piece) for piece in explainer.pieces(part)]
    words = table.sorted()
    return Explanation(
        X,
        np.concatenate([np.zeros(0), *(decision for decision, _ in results)]),
        explainer.bias,
        np.concatenate([np.zeros(0), *(shares for _, shares in results)]),
        np.concatenate(([0], np.cumsum(X.lengths))),
        [word for word, _, _ in words],
        np.array([weight for _, weight, _ in words], dtype=np.float64),
    )


class Explainer:
    """A model, or one of its two-class classifiers, prepared for explanation.

    Parameters
    ----------
    model : Model
        A model of sequences.
    pair : str, optional
        Multi-class: the two classes whose classifier is explained: ``"A:B"``.

    Attributes
    ----------
    model : Model
        Binary or real.
    bias : float
        The bias, part of every decision value.
    both_strands : bool
        Whether a k-mer also stands for its reverse complement.
    kmers_vary : bool
        Whether weights of k-mers are means, because contributions depend on the place or the sequence.
    no_words : str or None
        Why there are no k-mers; known after the first `collect_words`.

    Raises
    ------
    ModelError, ParameterError
        As for `explain`.

    Examples
    --------
    >>> from seqkern.methods import Explainer
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.methods.training import train_model
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["CAGGTAAG", "TCGGTAAT", "CAGGCATG", "TCGCTAAT"], "dna")
    >>> labels = make_labels(X.ids, ["donor", "donor", "decoy", "decoy"], positive="donor")
    >>> explainer = Explainer(train_model(X, labels, SpectrumKernel(2), "csvc:C=10"))
    >>> decision, contributions = explainer.letters(explainer.coerce(["AAGGTAAC", "GGTAA"]))
    >>> len(decision), len(contributions), bool(np.isclose(decision.sum(), contributions.sum() + 2 * explainer.bias))
    (2, 13, True)
    """

    def __init__(self, model: Model, pair: str | None = None) -> None:
        if model.alphabet is None:
            raise ModelError(
                "was trained on a feature table, which has no residues to explain", remedy="give a model of sequences"
            )
        self.model = _two_class_model(model, pair)
        self.form = self.model.form()
        self.bias = self.form.constant
        self.both_strands = _any_kernel(self.model.kernel, lambda one: getattr(one, "reverse_complement", False))
        self.kmers_vary = _any_kernel(self.model.kernel, lambda one: one.traits.kmers_vary)
        self.no_words: str | None = None

    def coerce(self, X: SequenceSet | list[str]) -> SequenceSet:
        """Return sequences as a SequenceSet with the model's alphabet, checked."""
        coerced = self.model._coerced(X)
        assert isinstance(coerced, SequenceSet)
        return coerced

    def pieces(self, X: SequenceSet, letters: int | None = None) -> Iterator[SequenceSet]:
        """Return records in sets of limited size, which limits their matrix with the model's sequences.

        Parameters
        ----------
        X : SequenceSet
            All records.
        letters : int, optional
            Maximum number of residues of a set with several records; default: `PIECE_LETTERS`.

        Yields
        ------
        SequenceSet
        """
        letters = PIECE_LETTERS if letters is None else letters
        most = max(1, PIECE_BYTES // (8 * max(1, len(self.model.support))))
        start = 0
        ends = np.cumsum(X.lengths)
        while start < len(X):
            before = ends[start] - X.lengths[start]
            stop = int(np.searchsorted(ends, before + letters, side="right"))
            stop = min(max(stop, start + 1), start + most)
            yield X.take(slice(start, stop))
            start = stop

    def letters(self, X: SequenceSet, n_threads: int | None = None) -> tuple[Floats, Floats]:
        """Return decision values and contributions of residues, checked to sum up.

        A kernel of single precision is explained in double precision, before rounding.

        Parameters
        ----------
        X : SequenceSet
            The n records.
        n_threads : int, optional
            Default: the number of cores.

        Returns
        -------
        decisions : ndarray of float64, shape (n,)
            Decision values of the records.
        contributions : ndarray of float64, shape (residues,)
            Record by record.

        Raises
        ------
        ModelError
            If they do not sum up, an error in the kernel.
        SequenceError
            If the kernel rejects a sequence.
        """
        with given_threads(n_threads):
            decision, shares = self.model.decision(X), self.form.attributions(X)
        records = np.repeat(np.arange(len(X)), X.lengths)
        sums = np.asarray(np.bincount(records, weights=shares, minlength=len(X)), dtype=np.float64) + self.bias
        scale = np.bincount(records, weights=np.abs(shares), minlength=len(X)) + abs(self.bias)
        check_finite(sums, X.ids)
        single = _any_kernel(self.model.kernel, lambda kernel: getattr(kernel, "precision", None) == "single")
        limit = SINGLE if single else EXACT
        odd = np.flatnonzero(~(np.abs(sums - decision) <= limit * np.maximum(1.0, scale)))
        if len(odd):
            raise ModelError(
                f"contributions sum to {sums[odd[0]]:.12g}, but the decision value is {decision[odd[0]]:.12g}: an "
                f"error in kernel {self.model.kernel.name!r}",
                record=X.ids[odd[0]],
                remedy="report it as a bug",
            )
        return sums if single else decision, shares

    def collect_words(self, X: SequenceSet, table: KmerTable, n_threads: int | None = None) -> None:
        """Add the k-mers of some sequences, and of the model, to a table.

        Parameters
        ----------
        X : SequenceSet
            The sequences.
        table : KmerTable
            The table to extend.
        n_threads : int, optional
            Default: the number of cores.
        """
        try:
            with given_threads(n_threads):
                found = self.form.kmer_weights(X)
        except NoKmersError as error:
            self.no_words = error.problem
            return
        table.add(X, found)


def _two_class_model(model: Model, pair: str | None) -> Model:
    """Return a model with one decision value: the model itself, or its two-class classifier for `pair`."""
    if model.kind != "multiclass":
        if pair is not None:
            raise ParameterError(
                f"pair={pair!r} needs a multi-class model, but this one is {model.kind}", remedy="remove it"
            )
        return model
    if not hasattr(model.solver, "classifier"):
        raise no_two_class_solver(model.solver)
    places = {name: i for i, name in enumerate(model.classes)}
    pairs = {f"{a}:{b}": (i, j) for a, i in places.items() for b, j in places.items() if i != j}
    if pair not in pairs:
        given = "has several classes" if pair is None else f"has no two classes {pair!r}"
        raise ParameterError(
            f"the model {given}; only the classifier of two classes can be explained",
            remedy=f"choose two of {', '.join(model.classes)} with --pair, such as {next(iter(pairs))}",
        )
    a, b = sorted(pairs[pair])
    classes = (model.classes[a], model.classes[b])
    return replace(model, solver=model.solver.classifier(a, b), kind="binary", classes=classes)


def _any_kernel(kernel: Kernel, condition: Callable[[Any], bool]) -> bool:
    """Return whether a condition holds for a kernel or one of its base kernels."""
    return condition(kernel) or any(_any_kernel(part, condition) for part in getattr(kernel, "bases", ()))
