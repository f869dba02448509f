"""Decisions taken apart: what each letter and each word adds to them.

f(x) − b = Σ_i s_i(x), one term for each letter of x: what the kernel shares among its letters (`Kernel._attribute`),
weighted by the machine's coefficients. For gapped k-mers that is the attribution of gkmExplain (Shrikumar, Prakash,
Kundaje, Bioinformatics 35, 2019); for k-mers the prediction profile of KeBABS (Palme, Hochreiter, Bodenhofer,
Bioinformatics 31, 2015).
"""

from dataclasses import dataclass, replace

import numpy as np

from seqkern.core.errors import ModelError, NoWordsError, ParameterError
from seqkern.core.threads import given_threads
from seqkern.explain.words import WordTable
from seqkern.kernels.additive import word_weights
from seqkern.solvers.explainable import no_two_class_solver

PIECE_LETTERS = 1 << 16
WORDS_LETTERS = 1 << 20
PIECE_BYTES = 1 << 25
EXACT, SINGLE = 1e-9, 1e-4


@dataclass(frozen=True, eq=False)
class Explanation:
    """What letters and words add to the decisions about n sequences.

    Attributes
    ----------
    sequences : SequenceSet, n records
    decision : ndarray of float64, shape (n,)
    bias : float
        Part of every decision.
    contributions : ndarray of float64, shape (letters,)
        Record after record; their sum over a record is its decision minus the bias.
    offsets : ndarray of int64, shape (n + 1,)
        Where each record's contributions start.
    words : list of str
        By the absolute value of their weights, the largest first; empty if the kernel has none.
    weights : ndarray of float64, shape (words,)
        What one occurrence of a word adds to the decision about a sequence x, before the division by √K(x, x) of a
        normalised kernel. Where that depends on its place or on x, a mean over occurrences, or over sequences.
    """

    sequences: object
    decision: np.ndarray
    bias: float
    contributions: np.ndarray
    offsets: np.ndarray
    words: list
    weights: np.ndarray

    def of(self, i):
        """Return the contributions of the letters of record i, float64 (letters of it,)."""
        return self.contributions[self.offsets[i] : self.offsets[i + 1]]


def explain(model, X, *, pair=None):
    """Take a model's decisions apart.

    Parameters
    ----------
    model : Model
        Of sequences.
    X : SequenceSet or list of str
    pair : str, optional
        Of several classes, the two whose machine is explained: ``"A:B"``.

    Returns
    -------
    Explanation

    Raises
    ------
    ModelError
        If the model was trained on a table of features, or the sequences have another alphabet.
    ParameterError
        If the kernel has no letters that its values could be shared among, the solver's decisions are no weighted
        sums of kernel values, or `pair` is missing or unknown.
    SequenceError
        If the kernel cannot take a sequence.
    """
    explainer = Explainer(model, pair)
    X = explainer.coerce(X)
    table, results = WordTable(explainer.both_strands), []
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
    """A model, or one machine of it, ready to be explained; parameters and errors are those of `explain`.

    Attributes
    ----------
    model : Model
        Binary or real.
    bias : float
    both_strands : bool
        Whether a word stands for its reverse complement too.
    words_vary : bool
        Whether weights of words are means, because what a word adds depends on its place or its sequence.
    no_words : str or None
        Why there are no words; known after the first `collect_words`.
    """

    def __init__(self, model, pair=None):
        if model.alphabet is None:
            raise ModelError(
                "was trained on a table of features, which have no letters", remedy="give a model of sequences"
            )
        self.model = _one_machine(model, pair)
        self.form = self.model.form()
        self.bias = self.form.constant
        self.both_strands = _any_kernel(self.model.kernel, lambda one: getattr(one, "reverse_complement", False))
        self.words_vary = _any_kernel(self.model.kernel, lambda one: one.words_vary)
        self.no_words = None

    def coerce(self, X):
        """Return `X` as a SequenceSet with the model's alphabet, checked."""
        return self.model._coerced(X)

    def pieces(self, X, letters=None):
        """Yield the records of `X` in sets of so many letters, whose matrix against the model's is of bounded size."""
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

    def letters(self, X, n_threads=None):
        """Return (decisions, contributions) of a SequenceSet, float64 (n,) and (letters,), checked to sum up.

        A kernel of single precision is explained in double precision: the decisions are those that it rounds.
        """
        with given_threads(n_threads):
            decision, shares = self.model.decision(X), self.form.attributions(X)
        records = np.repeat(np.arange(len(X)), X.lengths)
        sums = np.bincount(records, weights=shares, minlength=len(X)) + self.bias
        scale = np.bincount(records, weights=np.abs(shares), minlength=len(X)) + abs(self.bias)
        single = _any_kernel(self.model.kernel, lambda kernel: getattr(kernel, "precision", None) == "single")
        limit = SINGLE if single else EXACT
        odd = np.flatnonzero(~(np.abs(sums - decision) <= limit * np.maximum(1.0, scale)))
        if len(odd):
            raise ModelError(
                f"contributions sum to {sums[odd[0]]:.12g}, the decision is {decision[odd[0]]:.12g}: an error in "
                f"kernel {self.model.kernel.name!r}",
                record=X.ids[odd[0]],
                remedy="please report it",
            )
        return sums if single else decision, shares

    def collect_words(self, X, table, n_threads=None):
        """Add the words of `X`, and of the model's sequences, to a `WordTable`."""
        form = self.form
        try:
            with given_threads(n_threads):
                found = word_weights(form.kernel, X, form.support, form.coefficients)
        except NoWordsError as error:
            self.no_words = error.problem
            return
        table.add(X, found)


def _one_machine(model, pair):
    """Return the model itself if its decision is one number, else the machine of two classes as a Model."""
    if model.kind != "multiclass":
        if pair is not None:
            raise ParameterError(
                f"pair={pair!r} is for models of several classes, and this one is {model.kind}", remedy="leave it out"
            )
        return model
    if not hasattr(model.solver, "machine"):
        raise no_two_class_solver(model.solver)
    places = {name: i for i, name in enumerate(model.classes)}
    pairs = {f"{a}:{b}": (i, j) for a, i in places.items() for b, j in places.items() if i != j}
    if pair not in pairs:
        given = "tells several classes apart by votes" if pair is None else f"has no two classes {pair!r}"
        raise ParameterError(
            f"the model {given}; only the machine of two classes can be explained",
            remedy=f"choose pair={next(iter(pairs))}, or two others of {', '.join(model.classes)}",
        )
    a, b = sorted(pairs[pair])
    classes = (model.classes[a], model.classes[b])
    return replace(model, solver=model.solver.machine(a, b), kind="binary", classes=classes)


def _any_kernel(kernel, condition):
    """Return whether a condition holds for a kernel, or for one inside it."""
    return condition(kernel) or any(_any_kernel(part, condition) for part in getattr(kernel, "bases", ()))
