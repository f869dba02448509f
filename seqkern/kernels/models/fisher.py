"""The Fisher kernel: gradients of a sequence's likelihood under a model of the positives (Jaakkola et al. 2000)."""

import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from seqkern.core.archive import nest, unnest
from seqkern.core.errors import LabelError, ParameterError, SequenceError
from seqkern.core.parameters import choice, flag, integer, positive, real, text
from seqkern.core.types import Arrays, Floats, Header, Ints
from seqkern.kernels.capabilities import Traits, capability
from seqkern.kernels.common_parameters import zero_rule
from seqkern.kernels.decisions import spread_evenly
from seqkern.kernels.features import Features
from seqkern.kernels.models import _forward_backward
from seqkern.kernels.models.profile_hmm import ProfileHMM, build_profile, check_alphabet, read_profiles
from seqkern.kernels.planner import Workload
from seqkern.kernels.prepared import OneEntryCache, Plan
from seqkern.kernels.products import _product
from seqkern.kernels.products.product import PRODUCT_NS, FeatureKernel, RealDenseBlock, Term, TermBlocks
from seqkern.kernels.vectors import _vector
from seqkern.sequences.alphabets import Alphabet, alphabet_from_state
from seqkern.sequences.sequence_set import SequenceSet

# The empirical Fisher information of a model, as a full matrix, and its inverse square root.

SMALLEST = 1e-12  # eigenvalues, as a share of the largest, that are not 0


@dataclass(frozen=True)
class EmpiricalInformation:
    """I = (1/m) Σ U Uᵀ over m training sequences, plus ridge · mean(diag I), stored as a low-rank factorisation.

    The rank is at most m, so the full matrix is never stored. `vectors` (rank, d) are the eigenvectors; `factors`
    (rank,)
    the inverse square roots of the eigenvalues less `rest`, the factor of all orthogonal directions.

    >>> known = EmpiricalInformation.of(np.array([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]), ridge=0.75)
    >>> known.whiten(np.array([[1.0, 0.0, 1.0]])).round(3)  # I is diag(2, 2, 0) + 0.75 · 4/3
    array([[0.577, 0.   , 1.   ]])
    """

    vectors: Floats  # shape (rank, d): Its eigenvectors
    # shape (rank,): What they are multiplied by, less what all else is: the inverse square roots of the eigenvalues
    factors: Floats
    rest: float  # What all else is multiplied by

    @classmethod
    def of(cls, scores: Floats, ridge: float) -> Self:
        """Return the information of training sequences from their scores U (m, d); the identity if all U are 0."""
        from scipy.linalg import eigh  # 0.2 s to import

        m, d = scores.shape
        added = ridge * float(np.square(scores).sum()) / (m * d) if m * d else 0.0
        if added == 0:
            return cls(np.zeros((0, d)), np.zeros(0), 1.0)
        wide = m <= d
        with threadpool_limits(1):  # the same bits on any number of cores
            values, vectors = eigh(scores @ scores.T if wide else scores.T @ scores)
            kept = values > SMALLEST * values[-1]
            values, vectors = values[kept], vectors[:, kept].T
            if wide:
                vectors = vectors @ scores / np.sqrt(values)[:, None]
        rest = added**-0.5
        return cls(np.ascontiguousarray(vectors), (values / m + added) ** -0.5 - rest, rest)

    def whiten(self, scores: Floats) -> Floats:
        """Return I^(−1/2) times each row of `scores`; the bits of a row depend on that row only."""
        scores = np.ascontiguousarray(scores)
        along, out = np.empty((len(scores), len(self.vectors))), np.empty(scores.shape)
        _vector.products(scores, np.ascontiguousarray(self.vectors.T), along)
        along *= self.factors
        _vector.products(along, self.vectors, out)
        out += self.rest * scores
        return out

    def arrays(self) -> Arrays:
        """Return the arrays that `from_arrays` needs."""
        return {"vectors": self.vectors, "factors": self.factors, "rest": np.asarray(self.rest)}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return the information restored from the result of `arrays`."""
        vectors, factors = arrays["vectors"], arrays["factors"]
        if vectors.ndim != 2 or factors.shape != vectors.shape[:1]:
            raise ValueError("the shapes of the information do not fit")
        return cls(vectors, factors, float(arrays["rest"]))


# A Markov chain of fixed order, and the gradient of its likelihood.

CHUNK_ENTRIES = 1 << 22


@dataclass(frozen=True, eq=False)
class MarkovChain:
    """Probabilities of a residue given the `order` residues before it.

    `chances` (contexts, letters) is P(b | context), contexts in alphabetical order, all above 0; `visits`
    (contexts,) is
    the expected number of occurrences of a context in a sequence. The likelihood covers all residues but the first
    `order`. K-mers with a masked residue do not count.
    """

    chances: np.ndarray  # shape (contexts, letters): P(b | context), contexts in alphabetical order; all above 0
    visits: np.ndarray  # shape (contexts,): Expected number of occurrences of a context in a sequence
    order: int

    @classmethod
    def learn(cls, X: SequenceSet, order: int, pseudocount: float) -> Self:
        """Return the chain estimated from the k-mers of order + 1 residues, with `pseudocount` added to each count."""
        counts = sum(part.sum(axis=0) for _, part in kmer_counts(X, order)) + np.zeros(X.alphabet.size ** (order + 1))
        counts = counts.reshape(-1, X.alphabet.size) + pseudocount
        totals = counts.sum(axis=1)
        return cls(counts / totals[:, None], totals / max(1, len(X)), order)

    def width(self, transitions: bool) -> int:
        """Return the number of scores; `transitions` has no effect, as a chain has none."""
        return self.chances.size

    def score(
        self, X: SequenceSet, transitions: bool = False, *, n_threads: int | None = None
    ) -> tuple[Floats, Floats]:
        """Return ∂ ln P(x) / ∂P(b | context), each context's probabilities renormalised, and ln P(x).

        A score is the count of the k-mer / P(b | context), less the count of the context; shape (n, contexts ·
        letters).
        Runs in one thread; the other parameters have no effect and match `ProfileHMM.score`.
        """
        scores, logs = np.empty((len(X), self.chances.size)), np.empty(len(X))
        for rows, counts in kmer_counts(X, self.order):
            logs[rows] = counts @ np.log(self.chances).reshape(-1)
            words = counts.reshape(-1, *self.chances.shape)
            scores[rows] = (words / self.chances - words.sum(axis=2, keepdims=True)).reshape(len(counts), -1)
        return scores, logs

    def shares(self, X: SequenceSet, weights: Floats) -> Floats:
        """Return each residue's contribution to the scores times `weights`; k-mers share theirs equally among
        residues.
        """
        table = weights.reshape(self.chances.shape)
        values = (table / self.chances - table.sum(axis=1, keepdims=True)).reshape(-1) / (self.order + 1)
        words = words_of(X, self.order)
        found = np.flatnonzero(words >= 0)
        shares = np.zeros(len(words))
        for step in range(self.order + 1):
            shares[found + step] += values[words[found]]
        return shares

    def arrays(self) -> Arrays:
        """Return the arrays that `from_arrays` needs."""
        return {"chances": self.chances, "visits": self.visits, "order": np.asarray(self.order)}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return the model restored from the result of `arrays`."""
        return cls(arrays["chances"], arrays["visits"], int(arrays["order"]))

    def information(self, transitions: bool = False) -> Floats:
        """Return the diagonal of the Fisher information, visits · (1 − P)/P, float64 (contexts · letters,)."""
        return (self.visits[:, None] * (1.0 - self.chances) / self.chances).reshape(-1)


def words_of(X: SequenceSet, order: int) -> Ints:
    """Return the code of the k-mer of order + 1 residues that begins at each residue of `X`, −1 if there is none."""
    size = X.alphabet.size
    codes = X.codes[X.positions()].astype(np.int64)
    ends = np.repeat(np.cumsum(X.lengths), X.lengths)
    words, good = np.zeros(len(codes), np.int64), np.arange(len(codes)) + order < ends
    for step in range(order + 1):
        letter = codes[np.minimum(np.arange(len(codes)) + step, len(codes) - 1)] if len(codes) else codes
        words = words * size + letter
        good &= letter < size
    return np.where(good, words, -1)


def kmer_counts(X: SequenceSet, order: int) -> Iterator[tuple[slice, Floats]]:
    """Yield (slice of records, counts of each k-mer of order + 1 residues, shape (records, k-mers)), block by block."""
    width = X.alphabet.size ** (order + 1)
    step = max(1, CHUNK_ENTRIES // width)
    for start in range(0, len(X), step):
        part = X.take(slice(start, start + step))
        words = words_of(part, order)
        cells = (np.repeat(np.arange(len(part)), part.lengths) * width + words)[words >= 0]
        counts = np.bincount(cells, minlength=len(part) * width).reshape(len(part), width)
        yield slice(start, start + len(part)), counts.astype(np.float64)


MODELS: dict[str, Any] = {"profile": ProfileHMM, "markov": MarkovChain}
MOST_WORDS = 1 << 16
CELL_NS = (4.4, 2.9, 2.7)  # a letter and a column, for each level of instructions
STEPS_COST = 1.7  # how many times more with transitions
WORD_NS = 40.0
SCORE_NS = 3.0  # a score: written, scaled, put where products read it
CACHE = OneEntryCache()  # features of the support set


class FisherKernel(FeatureKernel):
    r"""Fisher kernel: how sequences would change a model of the positives.

    It suits protein families and other classes that a profile HMM or a Markov chain describes.

    `fit` aligns the positives and builds the HMM as hmmbuild does, or counts k-mers. The positives are the
    examples of the greater of two labels; all examples if there are no labels, or only positive ones. With several
    classes there is one model for each, and their vectors U are concatenated. One positive suffices, because of the
    priors; without any positive that has unmasked residues, the profile HMM is one column with the background
    frequencies. Both cases give a warning. Negative labels alone are an error.

    The profile HMM is passed from begin to end, once, anywhere in x. Insert states and the two flanking states emit
    background frequencies, which are not parameters; a flanking state emits one more residue with probability 350/351.
    A masked residue is emitted with probability 1 by any state, and is not counted.

    With the radial basis function of Jaakkola et al.: ``rbf:gamma=jaakkola,base=(fisher:normalize=false)``.

    Notes
    -----
    With θ the parameters of the model and I the Fisher information, its diagonal or (``information="full"``) all of it,

    .. math:: K(x, y) = U_x^T I^{−1} U_y,  U_x = ∇_θ \ln P(x | θ)

    Each probability distribution θ_s (the residues of a match state, the transitions of a state, the residues after a
    context) stays normalised when one θ_s(a) changes, so that U_x(a, s) = E_s(a)/θ_s(a) − Σ_b E_s(b), with E the
    expected counts given x. Where θ_s(a) = 0, and for a sequence that a model cannot emit, U is 0.

    The full information is that of the positives, I = (1/m)·Σ U_x U_xᵀ + λ·mean(diag)·1 with λ the `ridge`. It takes
    into account that parameters change together; it needs many positives, and costs O(m·parameters) more per sequence.

    Complexity: O(M·|x|) per sequence for a profile HMM of M columns (forward-backward), O(|x|) for a Markov chain; then
    the number of parameters per pair.

    Definiteness: positive semi-definite.

    References
    ----------
    Jaakkola, Diekhans, Haussler: A discriminative framework for detecting remote protein homologies. Journal of
    Computational Biology 7, 2000.

    Examples
    --------
    >>> from seqkern.kernels import FisherKernel
    >>> chain = FisherKernel(model="markov", order=0, alphabet="dna").fit(["AAAC", "AACA"], [1, 1])
    >>> chain(["AAAA"], ["AAAC", "GGGG"]).round(3)
    array([[ 0.775, -0.397]])
    """

    name = "fisher"
    traits = Traits(data_dependent=None)
    summary = "Compares how two sequences would change a model of the positive examples."

    model: str = choice(
        default="profile",
        choices=MODELS,
        doc="Model of the positives. Profile HMMs need dna, rna or protein; a Markov chain takes any alphabet.",
    )
    hmm: str | None = text(
        default=None,
        path=True,
        remedy="give the path of a HMMER3 text file",
        doc="HMMER3 file (text, compressed or not; or ``public:NAME``) to use instead of building a "
        "profile HMM; then nothing is learned. The U of several models are concatenated.",
    )
    transitions: bool = flag(
        default=False, doc="Use the transition probabilities of the profile HMM as parameters, not only its emissions."
    )
    information: Literal["diagonal", "identity", "full"] = choice(
        default="diagonal",
        doc="I: the diagonal of the Fisher information expected by the model, n_s·(1 − θ_s(a))/θ_s(a) "
        "with n_s visits of state s per passage (``diagonal``); 1 (``identity``); or the whole matrix, as observed on "
        "the positives (``full``).",
    )
    ridge: float = positive(0.1, "λ: added to the full information, as a share of its mean diagonal.")
    order: int = integer(default=2, low=0, doc="Order of the Markov chain: residues in a context.")
    pseudocount: float = real(default=1.0, low=0, open_low=True, doc="Added to each k-mer count of the Markov chain.")
    zero_diagonal: Literal["error", "zero"] = zero_rule("a sequence with U = 0, as if all is masked")

    tested_with = (
        {},
        {"transitions": True, "information": "identity", "normalize": False},
        {"alphabet": "protein"},
        {"model": "markov", "order": 1, "alphabet": "HEC"},
        {"transitions": True, "information": "full"},
    )

    def _traits(self, declared: Traits) -> Traits:
        return replace(declared, data_dependent=self.hmm is None or self.information == "full")

    def _files(self) -> tuple[str, ...]:
        """Return the path of the HMMER3 file, if there is one."""
        return () if self.hmm is None else (self.hmm,)

    def _check_parameters(self) -> None:
        if self.model == "markov" and (self.hmm is not None or self.transitions):
            given = "transitions" if self.hmm is None else "hmm"
            raise ParameterError(
                f"{given} does not apply to a Markov chain", remedy=f"remove {given}, or choose model=profile"
            )

    # ---- the models -----------------------------------------------------------------------------

    def _fit(self, X: SequenceSet, y: npt.ArrayLike | None) -> None:
        if self.hmm is None:
            self._check_alphabet(X.alphabet)
            self.models_ = [self._learn(part) for part in _examples(X, y)]
            self.alphabet_ = X.alphabet
        if self.information == "full":
            parts, models = _examples(X, y), self._models_for(X)
            if self.hmm is not None:  # which model is of which class is not known
                parts = [parts[0] if len(parts) == 1 else X] * len(models)
            pairs = zip(models, parts, strict=True)
            scores = (model.score(part, self.transitions, n_threads=self.n_threads)[0] for model, part in pairs)
            self.information_ = [EmpiricalInformation.of(U, float(self.ridge)) for U in scores]

    def _learn(self, X: SequenceSet) -> Any:
        """Return the model learned from sequences; warn if there are too few."""
        with_letters = sum(bool(set(text) - {"*"}) for text in X.strings())
        if with_letters == 0:
            warnings.warn(
                f"{len(X)} positives, 0 with unmasked residues: the model is the background alone", stacklevel=2
            )
        elif with_letters == 1 and self.model == "profile":
            warnings.warn(
                f"{len(X)} positives, 1 with unmasked residues: the profile HMM mostly reflects its priors",
                stacklevel=2,
            )
        return build_profile(X) if self.model == "profile" else MarkovChain.learn(X, self.order, self.pseudocount)

    def _check_alphabet(self, alphabet: Alphabet) -> None:
        """Raise an error if there is no model for an alphabet."""
        if self.model == "profile":
            check_alphabet(alphabet)
        elif alphabet.size ** (self.order + 1) > MOST_WORDS:
            raise ParameterError(
                f"order={self.order} is too large: it needs {alphabet.size ** (self.order + 1)} probabilities",
                remedy=f"choose an order with at most {MOST_WORDS}",
            )

    def _models(self) -> tuple[Any, Alphabet]:
        """Return (models, their alphabet); a file is read on first use, and again only if it changes."""
        if self.hmm is None:
            return self.models_, self.alphabet_
        read = getattr(self, "_read", None)
        if read is None or read[0] != self.hmm:
            self._read = read = self.hmm, *read_profiles(self.hmm)
        return read[1:]

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): the models, learned or from the file, and their alphabet."""
        if self.traits.data_dependent and not self._fitted:
            return {}, {}
        models, alphabet = self._models()
        arrays = {}
        for number, model in enumerate(models):
            arrays.update(nest(f"models/{number}", model.arrays()))
        if self.information == "full" and self._fitted:
            for number, known in enumerate(self.information_):
                arrays.update(nest(f"information/{number}", known.arrays()))
        return {"alphabet": asdict(alphabet), "models": len(models)}, arrays

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the state returned by `fitted_state`."""
        if not header:
            return
        if header["models"] > len(arrays):
            raise ValueError("more models than arrays")
        numbers = range(header["models"])
        stored = [unnest(f"models/{number}", arrays) for number in numbers]
        models = [MODELS[self.model].from_arrays(parts) for parts in stored]
        alphabet = alphabet_from_state(header["alphabet"])
        if self.hmm is None:
            self.models_, self.alphabet_ = models, alphabet
        else:
            self._read = self.hmm, models, alphabet
        if self.information == "full":
            known = [unnest(f"information/{number}", arrays) for number in numbers]
            self.information_ = [EmpiricalInformation.from_arrays(parts) for parts in known]

    # ---- the scores -----------------------------------------------------------------------------

    @capability
    def features(self) -> Features:
        """The Fisher scores, whitened."""
        return Features(self, self._scores)

    def _scores(self, X: SequenceSet) -> Floats:
        parts = []
        for number, model in enumerate(self._models_for(X)):
            scores = model.score(X, self.transitions, n_threads=self.n_threads)[0]
            parts.append(self._whitened(number, model, scores))
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    def _models_for(self, X: SequenceSet) -> list[Any]:
        """Return the models; raise SequenceError if the sequences have another alphabet."""
        models, alphabet = self._models()
        if X.alphabet != alphabet:
            raise SequenceError(
                f"the sequences have the alphabet {X.alphabet.name}, the model has {alphabet.name}",
                file=self.hmm,
                remedy="read them with that alphabet, or choose another model",
            )
        return models

    def _whitened(self, number: int, model: Any, scores: Floats) -> Floats:
        """Return I^(−1/2) times each row of `scores`, float64 (n, parameters of a model); 0 where the information is
        0.
        """
        if self.information == "identity":
            return scores
        if self.information == "full":
            return self.information_[number].whiten(scores)
        known = model.information(self.transitions)
        return scores * np.divide(1.0, np.sqrt(known), out=np.zeros_like(known), where=known > 0)

    def _prepare(self, X: SequenceSet, like: TermBlocks | None) -> TermBlocks:
        return TermBlocks([Term(1.0, [(1, RealDenseBlock(self.features(X)))])])

    def _plan(self, X: Any, Y: Any) -> Plan:
        work = Workload.of(X, Y)
        total = work.output(self.n_threads)
        if self.traits.data_dependent and not self._fitted:
            size = X.alphabet.size
            columns = max(1, work.letters // max(1, work.records))  # the model is about as long as the records
            widths = [size ** (self.order + 1) if self.model == "markov" else size * columns]
        else:
            models, _ = self._models()
            widths = [model.width(self.transitions) for model in models]
            columns = sum(getattr(model, "length", 0) for model in models)
        if self.model == "markov":
            scoring = WORD_NS * work.letters * len(widths)
        else:
            cell = CELL_NS[_forward_backward.level()] * (STEPS_COST if self.transitions else 1.0)
            scoring = cell * work.letters * columns
        products = work.pairs * sum(widths)
        if self.information == "full":
            rank = [len(known.vectors) for known in self.information_] if self._fitted else [work.rows] * len(widths)
            products += 2.0 * work.records * sum(min(m, d) * d for m, d in zip(rank, widths, strict=True))
        scoring += SCORE_NS * work.records * sum(widths)
        seconds = (scoring + PRODUCT_NS[_product.level()] * products) * 1e-9
        reason = f"{sum(widths)} scores of each sequence, {scoring * 1e-9:.2g} s; {products:.3g} products"
        return Plan("dense", total.seconds + seconds, total.bytes + 24 * work.records * sum(widths), reason)

    # ---- explanations ---------------------------------------------------------------------------

    def _attribute(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
        """Share U_x(a, s)·w(a, s) among residues by their probabilities of being in state s, or equally within a k-mer.

        The contributions of transitions are shared equally by all residues.
        """
        features = CACHE.get(support, self.identity(), lambda: self.features(support))
        weights = np.zeros(features.shape[1])
        for value, coefficient in zip(features, coefficients, strict=True):
            weights += coefficient * value
        shares, first = np.zeros(int(X.lengths.sum())), 0
        for number, model in enumerate(self._models()[0]):
            here = self._whitened(number, model, weights[None, first : first + model.width(self.transitions)])[0]
            first += len(here)
            letters = model.width(transitions=False)
            shares += model.shares(X, here[:letters])
            if self.transitions:
                shares += spread_evenly(X, model.score(X, True)[0][:, letters:] @ here[letters:])
        return shares


def _examples(X: SequenceSet, y: npt.ArrayLike | None) -> list[SequenceSet]:
    """Return the training sets of the models: the positives, or the examples of each class."""
    if y is None:
        return [X]
    y = np.asarray(y)
    if y.shape != (len(X),):
        raise LabelError(f"{len(y)} labels for {len(X)} sequences", remedy="give one for each sequence")
    classes = np.unique(y)
    if len(classes) > 2 and np.issubdtype(y.dtype, np.floating):
        raise LabelError("kernel 'fisher' needs class labels, and the labels are numbers", remedy="give classes")
    if len(classes) == 0 or (len(classes) == 1 and classes.dtype.kind in "biuf" and classes[0] <= 0):
        raise LabelError(
            f"kernel 'fisher' learns from positives, and there are none among {len(y)} labels",
            remedy="choose a training set with positives, or give no labels if all samples are positive",
        )
    chosen = classes if len(classes) > 2 else classes[-1:]
    return [X.take(np.flatnonzero(y == one)) for one in chosen]
