"""Baselines, in every report: trivial ones and reference methods, the data that each suits, and its decisions."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqkern.core.errors import ParameterError, SeqkernError, check_known
from seqkern.core.progress import progress_bar
from seqkern.core.threads import one_thread
from seqkern.core.types import Array, Floats
from seqkern.evaluation.fold_tables import FoldResult, decision_rows
from seqkern.evaluation.intervals import LEVEL
from seqkern.evaluation.metrics import brier, codes_of, log_loss, predictive_scores, scores
from seqkern.evaluation.residue_results import residue_scores
from seqkern.evaluation.single_task_tests import PairedDecisions, metrics_with_test, pair_tests
from seqkern.sequences.sampling import choose_by_hash
from seqkern.sequences.sequence_set import SequenceSet, code_matrix
from seqkern.solvers.thresholds import Threshold

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from seqkern.evaluation.folds import FoldSet, Split
    from seqkern.formats.residues import Residues
    from seqkern.kernels.alignment.smith_waterman import SmithWatermanKernel
    from seqkern.sequences.labels import Labels
    from seqkern.study.dataset import Dataset


# Baselines that ignore sequences: the majority class, the mean label, the state of a single residue.

Decided = tuple[Array, Array]
"""Decisions and predictions for the test set, as a solver gives them."""


def decided(decisions: Array) -> Decided:
    """Return decisions, and the predictions that follow from them: themselves, or the class with the largest."""
    return decisions, decisions if decisions.ndim == 1 else decisions.argmax(axis=1)


def mean_label(labels: Labels, train: Array, test: Array) -> Decided:
    """Predict the mean label of the training set."""
    return decided(np.full(len(test), float(labels.y[train].mean())))


def mean_deviation(labels: Labels, train: Array, test: Array) -> Array:
    """Return the standard deviation of labels about the training set's mean label, with the error of this mean."""
    y = labels.y[train]
    return np.full(len(test), float(y.std(ddof=min(1, len(y) - 1)) * np.sqrt(1 + 1 / len(y))))


def class_shares(labels: Labels, train: Array, test: Array) -> Array:
    """Return the shares of the classes in the training set, as probabilities."""
    shares = np.bincount(labels.y[train].astype(np.int64), minlength=len(labels.classes)) / len(train)
    return np.full(len(test), shares[1]) if labels.kind == "binary" else np.tile(shares, (len(test), 1))


def majority(labels: Labels, train: Array, test: Array) -> Decided:
    """Predict the most frequent class of the training set."""
    shares = class_shares(labels, train, test)
    return decided(2 * shares - 1 if labels.kind == "binary" else shares)


def residue_frequencies(codes: Array, labels: Labels, train: Array, test: Array) -> Decided:
    """Predict the most frequent state of each residue; of all residues, for residues absent from the training set."""
    n = len(labels.classes)
    counts = np.zeros((256, n))
    np.add.at(counts, (codes[train], labels.y[train].astype(np.int64)), 1)
    every = counts.sum(axis=0)
    counts[counts.sum(axis=1) == 0] = every
    shares = (counts / counts.sum(axis=1, keepdims=True))[codes[test]]
    return decided(shares[:, 1] - shares[:, 0] if n == 2 else shares)


# Search of the training set by alignment: −ln E of the best hit, or the mean −ln E, corrected for length.
#
# With S the Smith-Waterman score of x and y, E = K·|x|·|y|·exp(−λS) is the expected number of hits at least
# as good by chance (Karlin, Altschul 1990). Matrices, gap costs, λ and K are as given in BLAST's reports:
#
# - proteins: BLOSUM62, a gap of n residues costs 11 + n; λ = 0.267, K = 0.041
# - DNA and RNA: match 2, mismatch −3, a gap of n bases costs 5 + 2n; λ = 0.625, K = 0.41. DNA is compared on both
#   strands, and the better score counts.
#
# Decisions about a test sequence use training sequences only. For two classes the threshold has the best
# balanced accuracy on the training set, with each training sequence left out of its own search.

MOST_SEARCHED = 1000
"""Maximum number of a class's training sequences that are searched: those with the least hash of their residues."""
MOST_PAIRS = 1e12
"""Maximum number of residue pairs aligned for one data set, less than a CPU minute."""


@dataclass(frozen=True)
class Scoring:
    """Scores of alignments, and the constants λ and K of their E-values.

    The gap costs are for the first residue of a gap (`gap_open`), and for each further one (`gap_extend`).
    """

    matrix: str | list[list[float]]  # Substitution scores
    gap_open: float  # Costs of the first residue of a gap, and of each further one
    gap_extend: float  # Costs of the first residue of a gap, and of each further one
    lam: float  # λ and K of gapped alignments
    K: float  # λ and K of gapped alignments

    def kernel(self) -> SmithWatermanKernel:
        """Return the kernel of raw scores."""
        # loaded when scores are computed: importing the kernel takes a while
        from seqkern.kernels.alignment.smith_waterman import SmithWatermanKernel

        return SmithWatermanKernel(self.matrix, self.gap_open, self.gap_extend, n_threads=1)


_BASES = Scoring([[2.0 if i == j else -3.0 for j in range(4)] for i in range(4)], 7, 2, 0.625, 0.41)
SCORINGS = {"protein": Scoring("BLOSUM62", 12, 1, 0.267, 0.041), "dna": _BASES, "rna": _BASES}
"""Scorings by the name of the alphabet."""


class AlignmentScores:
    """Smith-Waterman scores of all sequences against some of them, computed once for all folds."""

    def __init__(self, X: SequenceSet) -> None:
        self.X = X
        self.scoring = SCORINGS[X.alphabet.name]
        self.strands = 2 if X.alphabet.name == "dna" else 1
        self._place = np.full(len(X), -1)
        self._scores = np.empty((len(X), 0), dtype=np.float32)
        self._log_lengths = np.log(np.maximum(X.lengths, 1))

    def pairs(self, searched: Array) -> float:
        """Return the number of residue pairs to align for comparing all sequences with the `searched` ones."""
        return float(self.strands * self.X.lengths.sum()) * float(self.X.lengths[searched].sum())

    def searched(self, labels: Labels, train: Array) -> list[Array]:
        """Return the sets of training sequences to search: the positives, each class, or all for real labels."""
        if labels.kind == "real":
            return [choose_by_hash(self.X, train, MOST_SEARCHED)]
        codes = [1] if labels.kind == "binary" else range(len(labels.classes))
        return [choose_by_hash(self.X, train[labels.y[train] == code], MOST_SEARCHED) for code in codes]

    def prepare(self, searched: Array) -> None:
        """Compute the missing scores of all sequences against the `searched` ones."""
        new = np.unique(searched[self._place[searched] < 0])
        if not len(new):
            return
        kernel, others = self.scoring.kernel(), self.X.take(new)
        found = kernel(self.X, others)
        if self.strands == 2:
            np.maximum(found, kernel(self.X, others.reverse_complement()), out=found)
        self._place[new] = self._scores.shape[1] + np.arange(len(new))
        self._scores = np.column_stack([self._scores, found.astype(np.float32)])

    def evidence(self, rows: Array, searched: Array) -> Floats:
        """Return −ln E of pairs of sequences, float64 (rows, searched)."""
        self.prepare(searched)
        S = self._scores[np.ix_(rows, self._place[searched])].astype(np.float64)
        lengths = self._log_lengths
        return self.scoring.lam * S - np.log(self.scoring.K) - lengths[rows][:, None] - lengths[searched]


def search(scores: AlignmentScores, labels: Labels, train: Array, test: Array, *, mean: bool) -> Decided:
    """Search the training set for each test sequence, and decide by the best or the mean −ln E."""
    searched = scores.searched(labels, train)
    scores.prepare(np.concatenate(searched))
    if labels.kind == "real":
        best = scores.evidence(test, searched[0]).argmax(axis=1)
        return decided(labels.y[searched[0]][best].astype(np.float64))
    if labels.kind == "binary":
        threshold = _threshold(scores, labels, train, searched[0], mean)
        return decided(_decisions(scores, test, searched[0], mean) - threshold)
    return decided(np.column_stack([_decisions(scores, test, own, mean) for own in searched]))


def _decisions(scores: AlignmentScores, rows: Array, searched: Array, mean: bool, left_out: bool = False) -> Floats:
    """Return the best or the mean −ln E of each sequence; with `left_out`, the sequence itself is not a hit.

    A sequence with no other sequence to compare has the −ln E of an alignment of score 0 with itself.
    """
    found = scores.evidence(rows, searched)
    used = np.ones(found.shape, dtype=bool)
    if left_out:
        used = rows[:, None] != searched
    lengths = scores._log_lengths[rows]
    nothing = -np.log(scores.scoring.K) - 2 * lengths
    count = used.sum(axis=1)
    if mean:
        decisions = np.where(used, found, 0).sum(axis=1) / np.maximum(count, 1)
    else:
        decisions = np.where(used, found, -np.inf).max(axis=1, initial=-np.inf)
    return np.where(count > 0, decisions, nothing)


def _threshold(scores: AlignmentScores, labels: Labels, train: Array, searched: Array, mean: bool) -> float:
    """Return the threshold of best balanced accuracy on the training set.

    Each training sequence is left out of its own search.
    """
    positive = labels.y[train] == 1
    if positive.all() or not positive.any():
        return 0.0
    decisions = _decisions(scores, train, searched, mean, left_out=True)
    counts: Sequence[int] = np.bincount(positive, minlength=2).tolist()
    return Threshold.fit(decisions, positive, f"cost={counts[1]}:{counts[0]}").value


# The position weight matrix of windows of equal length (Staden 1984; Stormo et al. 1982).

PSEUDOCOUNT = 1.0
"""Pseudocount of each residue or base at each position."""
CHUNK = 4096
"""Windows processed at a time, so that large data sets need little memory."""


def position_weights(X: SequenceSet, labels: Labels, train: Array, test: Array) -> Decided:
    """Sum the log odds of the residue at each position, for each class against the others.

    Masked residues add nothing.
    """
    classes = range(len(labels.classes))
    counts = [_counts(X, train[labels.y[train] == c]) for c in classes]
    total = np.sum(counts, axis=0)
    if labels.kind == "binary":
        return decided(_add_up(X, test, _log_shares(counts[1]) - _log_shares(counts[0])))
    return decided(np.column_stack([_add_up(X, test, _log_shares(own) - _log_shares(total - own)) for own in counts]))


def _codes(X: SequenceSet, rows: Array) -> Array:
    """Return the codes of windows, with the size of the alphabet as the code of masked residues."""
    places = X.starts[rows][:, None] + np.arange(int(X.lengths[0]))
    return np.minimum(X.codes[places], X.alphabet.size)


def _counts(X: SequenceSet, rows: Array) -> Floats:
    """Return the count of each residue at each position, shape (length, size of the alphabet)."""
    length, width = int(X.lengths[0]), X.alphabet.size + 1
    found = np.zeros(length * width)
    for start in range(0, len(rows), CHUNK):
        cells = np.arange(length) * width + _codes(X, rows[start : start + CHUNK])
        found += np.bincount(cells.ravel(), minlength=length * width)
    return found.reshape(length, width)[:, :-1]


def _log_shares(counts: Floats) -> Floats:
    """Return the logarithm of the shares of residues at each position, with pseudocounts."""
    with_pseudocounts = counts + PSEUDOCOUNT
    return np.log(with_pseudocounts / with_pseudocounts.sum(axis=1, keepdims=True))


def _add_up(X: SequenceSet, rows: Array, weights: Floats) -> Floats:
    """Return the sum of the weights of each window's residues."""
    padded = np.column_stack([weights, np.zeros(len(weights))])
    positions = np.arange(len(weights))
    parts = [
        padded[positions, _codes(X, rows[start : start + CHUNK])].sum(axis=1) for start in range(0, len(rows), CHUNK)
    ]
    return np.concatenate([np.empty(0), *parts])


# Linear models of few features: length and composition, or the frequencies of 6-mers.

K = 6
MOST_ITERATIONS, RIDGE_TOL = 1000, 1e-10


def composition_features(X: SequenceSet) -> Floats:
    """Return the length and residue frequencies of each sequence, shape (n, 1 + size of the alphabet).

    Masked letters count in the length only.

    >>> from seqkern import SequenceSet
    >>> composition_features(SequenceSet.from_strings(["AAAC", "GT"], "dna")).tolist()
    [[4.0, 0.75, 0.25, 0.0, 0.0], [2.0, 0.0, 0.0, 0.5, 0.5]]
    """
    size = X.alphabet.size
    table = np.zeros((len(X), 1 + size))
    table[:, 0] = X.lengths
    for row, start, stop in zip(table, X.starts, X.stops, strict=True):
        counts = np.bincount(X.codes[start:stop], minlength=size)[:size]
        row[1:] = counts / max(counts.sum(), 1)
    return table


def kmer_features(X: SequenceSet) -> csr_matrix:
    """Return the 6-mer counts of each sequence, scaled to Euclidean length 1, sparse (n, 4096).

    Both strands of DNA are counted together.
    """
    # loaded when needed: scipy.sparse slows down the start
    from scipy.sparse import diags_array

    from seqkern.kernels.kmer.kmer_kernel import SpectrumKernel  # for the same reason

    both = X.alphabet.name == "dna"
    counts = SpectrumKernel(K, reverse_complement=both, short="zero").features(X)
    norms = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    return (diags_array(1 / np.maximum(norms, 1e-300)) @ counts).tocsr()


def linear_model(features: Any, labels: Labels, train: Array, test: Array, *, standardise: bool) -> Decided:
    """Fit a ridge regression (penalty 1), or a logistic regression with C = 1 and balanced classes.

    A training set of a single class predicts this class.
    """
    # loaded when a model is fitted: importing scikit-learn takes longer than anything else here
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if labels.kind != "real" and len(np.unique(labels.y[train])) < 2:  # nothing to separate
        return majority(labels, train, test)
    scale = [StandardScaler()] if standardise else []
    with one_thread():
        if labels.kind == "real":
            ridge = Ridge(alpha=1.0, tol=RIDGE_TOL)  # of dense features it is exact
            regression = make_pipeline(*scale, ridge).fit(features[train], labels.y[train])
            return decided(regression.predict(features[test]))
        linear = LogisticRegression(C=1.0, class_weight="balanced", max_iter=MOST_ITERATIONS)
        model = make_pipeline(*scale, linear).fit(features[train], labels.y[train])
        if labels.kind == "binary":
            return decided(model.decision_function(features[test]))
        found = model.predict_proba(features[test])
    decisions = np.zeros((len(test), len(labels.classes)))
    decisions[:, model.classes_] = found  # a class may be missing from the training set
    return decided(decisions)


# The baselines that suit given data, and the decisions of each.

LEAST_WINDOW = 2
"""Minimum number of residues in a window for a position weight matrix."""


class BaselineData:
    """The samples as used by the baselines; everything independent of labels is computed once."""

    def __init__(self, X: Any, residues: Residues | None = None) -> None:
        self.X, self.residues = X, residues
        self.sequences = X if residues is None and isinstance(X, SequenceSet) and len(X) else None

    @classmethod
    def of(cls, data: Any) -> BaselineData:
        """Return the BaselineData of a data set or samples."""
        if isinstance(data, cls):
            return data
        return cls(data.X, data.residues) if hasattr(data, "residues") else cls(data)

    @cached_property
    def composition(self) -> Array:
        """Length and residue frequencies, shape (n, 1 + size of the alphabet)."""
        return composition_features(self.X)

    @cached_property
    def one_hot(self) -> Any:
        """One column for each residue at each position that varies, sparse: 12 bytes for each residue there."""
        from scipy.sparse import csr_array  # imported here, as in `kmer_features`

        codes, size = code_matrix(self.X), self.X.alphabet.size
        codes = codes[:, (codes != codes[0]).any(axis=0)]
        row, place = np.nonzero(codes < size)
        cells = place * size + codes[row, place]
        return csr_array((np.ones(len(row)), (row, cells)), (len(codes), codes.shape[1] * size))

    @cached_property
    def kmers(self) -> Any:
        """Scaled counts of 6-mers, sparse."""
        return kmer_features(self.X)

    @cached_property
    def alignment(self) -> AlignmentScores:
        """Smith-Waterman scores."""
        return AlignmentScores(self.X)

    @cached_property
    def codes(self) -> Array:
        """The code of the residue at each sample, shape (n,)."""
        assert self.residues is not None
        chains = self.residues.chains
        return chains.codes[chains.starts[self.residues.record] + self.residues.place]

    @property
    def aligned(self) -> bool:
        """Whether the samples are sequences of an alphabet with substitution scores."""
        return self.sequences is not None and self.sequences.alphabet.name in SCORINGS

    @property
    def bases(self) -> bool:
        """Whether the samples are sequences of DNA or RNA, long enough for 6-mers."""
        X = self.sequences
        return X is not None and X.alphabet.name in ("dna", "rna") and int(X.lengths.max()) >= K

    @property
    def equally_long(self) -> bool:
        """Whether the samples are windows of equal length."""
        if self.sequences is None:
            return False
        lengths = self.sequences.lengths
        return bool(lengths.min() == lengths.max() >= LEAST_WINDOW)


# The baselines, defined once: name in tables, name in figures and sentences, and what each one does.
#
# A trivial baseline sees class sizes, lengths and composition only. A reference method is what the field used before
# kernels, and still uses beside them.


@dataclass(frozen=True)
class Baseline:
    """The names and description of a baseline, whether it is trivial, whether it suits some data, and its rule.

    >>> BASELINES["nearest"].title
    'best alignment'
    """

    name: str  # In tables and on the command line
    title: str  # In figures and tables of a report
    phrase: str  # In a sentence that compares a method with it
    sentence: str  # What it does
    suits: Callable[[BaselineData, str], bool]
    rule: Callable[[BaselineData, Labels, Array, Array], Decided]
    trivial: bool = False  # Whether it sees class sizes, lengths and composition only; else it is a reference method

    @property
    def role(self) -> str:
        """What it is, for sentences."""
        return "trivial baseline" if self.trivial else "reference method"


BASELINES = {
    one.name: one
    for one in (
        Baseline(
            "majority",
            "the majority class",
            "the majority class",
            "Predicts the most frequent class of the training set.",
            lambda data, kind: kind != "real",
            lambda data, *task: majority(*task),
            trivial=True,
        ),
        Baseline(
            "mean",
            "the mean label",
            "the mean label",
            "Predicts the mean label of the training set.",
            lambda data, kind: kind == "real",
            lambda data, *task: mean_label(*task),
            trivial=True,
        ),
        Baseline(
            "composition",
            "length and composition",
            "a linear model of length and composition",
            "A linear model of the length and the frequency of each residue or base (ridge or logistic regression).",
            lambda data, kind: data.sequences is not None,
            lambda data, *task: linear_model(data.composition, *task, standardise=True),
            trivial=True,
        ),
        Baseline(
            "nearest",
            "best alignment",
            "the best alignment to a training sequence",
            "Searches the training set by Smith-Waterman alignment. The decision value is the best −ln E, with E "
            "corrected for both lengths: of any positive training sequence for two classes, of each class for several. "
            "For real labels, predicts the label of the best hit.",
            lambda data, kind: data.aligned,
            lambda data, *task: search(data.alignment, *task, mean=False),
        ),
        Baseline(
            "alignment",
            "mean alignment",
            "the mean alignment score to the training sequences",
            "As the best alignment, but with the mean −ln E over the positive training sequences, or over those of "
            "each class.",
            lambda data, kind: data.aligned and kind != "real",
            lambda data, *task: search(data.alignment, *task, mean=True),
        ),
        Baseline(
            "kmers",
            "6-mers",
            "a linear model of 6-mers",
            "A linear model of the frequencies of 6-mers, for DNA on both strands (ridge or logistic regression).",
            lambda data, kind: data.bases,
            lambda data, *task: linear_model(data.kmers, *task, standardise=False),
        ),
        Baseline(
            "one_hot",
            "one-hot ridge",
            "ridge regression on one-hot residues",
            "A linear model of the residue or base at each position (ridge regression).",
            lambda data, kind: kind == "real" and data.equally_long,
            lambda data, *task: linear_model(data.one_hot, *task, standardise=False),
        ),
        Baseline(
            "pwm",
            "position weight matrix",
            "a position weight matrix",
            "Adds up the log odds of each residue or base at its position, positives against negatives, or each class "
            "against the others.",
            lambda data, kind: data.equally_long and kind != "real",
            lambda data, *task: position_weights(data.X, *task),
        ),
        Baseline(
            "residue",
            "residue frequencies",
            "the frequencies of residues",
            "Predicts the most frequent state of the residue at hand.",
            lambda data, kind: data.residues is not None and kind != "real",
            lambda data, *task: residue_frequencies(data.codes, *task),
            trivial=True,
        ),
    )
}
"""The baselines by name, in the order of tables."""


def applicable(data: Any, labels: Labels | None = None) -> list[str]:
    """Return the baselines that suit the data, without alignment searches that would take too long.

    There are none for unlabelled samples.

    >>> from seqkern.study import make_dataset
    >>> applicable(make_dataset("donors", {"simulate": {"kind": "donor", "n_positive": 20, "n_decoy": 40}}))
    ['majority', 'composition', 'nearest', 'alignment', 'kmers', 'pwm']
    """
    labels = _labels(data) if labels is None else labels
    own = BaselineData.of(data)
    found = suitable(own, labels.kind)
    return affordable(found, too_costly(own, [(labels, np.flatnonzero(labels.used()))]))


def suitable(data: BaselineData, kind: str) -> list[str]:
    """Return the baselines that suit the data, regardless of their cost."""
    return [name for name, one in BASELINES.items() if kind != "none" and one.suits(data, kind)]


def too_costly(data: BaselineData, parts: Iterable[tuple[Labels, Array]]) -> str | None:
    """Return the reason why alignment searches of the training sets are too costly; None if they are not."""
    if not data.aligned:
        return None
    pairs = data.alignment.pairs(searched(data, parts))
    return f"{pairs:.0e} pairs of residues to align, more than {MOST_PAIRS:.0e}" if pairs > MOST_PAIRS else None


def affordable(names: Sequence[str], reason: str | None) -> list[str]:
    """Return the names without alignment baselines if there is a reason; see `too_costly`."""
    return [name for name in names if reason is None or name not in ("nearest", "alignment")]


def searched(data: BaselineData, parts: Iterable[tuple[Labels, Array]]) -> Array:
    """Return the sequences that are searched by alignment in any of several training sets."""
    chosen = [one for labels, train in parts for one in data.alignment.searched(labels, train)]
    return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *chosen]))


def decide(name: str, data: Any, labels: Labels, train: Array, test: Array) -> Decided:
    """Fit a baseline on the training set, and return its decisions and predictions for the test set.

    Decisions, shape (n_test,), or (n_test, classes) for several classes, are above zero for the positive class.
    For many folds, make one `BaselineData`, so that features and alignments are computed once.
    """
    own = BaselineData.of(data)
    check_known("baseline", [name], BASELINES)
    if name not in suitable(own, labels.kind):
        raise ParameterError(f"the baseline {name} does not suit these data", remedy=f"see {__name__}.applicable")
    train, test = np.asarray(train, dtype=np.int64), np.asarray(test, dtype=np.int64)
    return BASELINES[name].rule(own, labels, train, test)


def _labels(data: Dataset) -> Labels:
    """Return the labels of the data set's first task."""
    return next(iter(data.tasks.values())).labels


# All baselines on all folds of a data set.


def left_out(dataset: Dataset, fold_sets: dict[str, FoldSet]) -> str | None:
    """Return the reason why alignment searches are left out for a data set; None if they are not."""
    parts = [(dataset.tasks[task].labels, split.train) for task, folds in fold_sets.items() for split in folds.splits]
    labelled = [part for part in parts if part[0].kind != "none"]
    return too_costly(BaselineData.of(dataset), labelled) if labelled else None


def run_baselines(dataset: Dataset, fold_sets: dict[str, FoldSet]) -> Iterator[tuple[str, FoldResult]]:
    """Fit and test every applicable baseline on every fold, and yield its name and FoldResult."""
    data, reason = BaselineData.of(dataset), left_out(dataset, fold_sets)
    names = {task: affordable(suitable(data, dataset.tasks[task].labels.kind), reason) for task in fold_sets}
    if any("nearest" in own for own in names.values()):
        tasks = [task for task, own in names.items() if "nearest" in own]
        parts = [(dataset.tasks[task].labels, split.train) for task in tasks for split in fold_sets[task].splits]
        data.alignment.prepare(searched(data, parts))  # all folds at once
    work = [
        (name, task, split)
        for name in BASELINES
        for task, fold_set in fold_sets.items()
        for split in (fold_set.splits if name in names[task] else ())
    ]
    for name, task, split in progress_bar(work, "baselines"):
        labels = dataset.tasks[task].labels
        decisions, predicted = decide(name, data, labels, split.train, split.test)
        own = labels.take(split.test)
        place = {"task": task, "split": split.name}
        found = scores(labels.kind, own.y, decisions, codes_of(labels.kind, predicted))
        found |= residue_scores(dataset.residues, split.test, own, predicted)
        sizes = {"n_train": len(split.train), "n_test": len(split.test)}
        deviations = mean_deviation(labels, split.train, split.test) if name == "mean" else None
        if deviations is not None:
            found |= predictive_scores(own.y, decisions, deviations)
        if name == "majority":
            shares = class_shares(labels, split.train, split.test)
            found |= {"brier": brier(own.y, shares), "log_loss": log_loss(own.y, shares)}
        rows = [place | row for row in decision_rows(own, decisions, predicted, None, deviations)]
        yield name, FoldResult(rows, place | sizes | found, choices=[], fit=dict(place))


# The baselines on the folds of a cross-validated method, and a test of each difference.


VERDICTS = {
    1: "significantly better",
    0: "not significantly better",
    -1: "significantly worse",
    None: "not tested against it",
}
"""The best method compared with a baseline, by the sign of a significant difference."""
LEAST_P = 1e-15  # printed as a number; smaller ones are below it


def p_words(p: float) -> str:
    """Return a p-value as text; none is 0."""
    return f"p = {p:.2g}" if p >= LEAST_P else f"p < {LEAST_P:.0e}"


class Rival(NamedTuple):
    """A baseline on the folds of a cross-validated method."""

    baseline: str
    score: float  # Mean over the folds, by the method's headline metric
    metric: str  # Of the test, the headline metric where it has a test; empty without a test
    lead: int  # 1 if the method is ahead in the tested metric, −1 if the baseline is, else 0
    p: float  # Of the difference; NaN without a test

    @property
    def sign(self) -> int | None:
        """1 if the method is significantly better, −1 if the baseline is, else 0; None without a test."""
        return None if math.isnan(self.p) else self.lead * (self.p <= LEVEL)


def rivals(
    data: Any, labels: Labels, splits: Sequence[Split], results: Sequence[FoldResult], metric: str
) -> list[Rival]:
    """Return the baselines that suit the data, best first by the mean score over the folds of some results."""
    own, kind = BaselineData.of(data), labels.kind
    rows = [row for result in results for row in result.decisions]
    of_class = {name: code for code, name in enumerate(labels.classes)}
    predicted = np.array([row["predicted"] if kind == "real" else of_class[str(row["predicted"])] for row in rows])
    decisions = None if kind == "multiclass" else np.array([row["decision"] for row in rows], dtype=np.float64)
    tests = [split.test for split in splits]
    names = np.repeat([split.name for split in splits], [len(test) for test in tests])
    ids, y = np.array([row["id"] for row in rows], dtype=str), labels.y[np.concatenate(tests)]
    found = []
    for name in progress_bar(applicable(own, labels), "baselines"):
        try:
            decided = [decide(name, own, labels, split.train, split.test) for split in splits]
        except SeqkernError:
            continue
        theirs = [codes_of(kind, codes) for _, codes in decided]
        each = [
            scores(kind, labels.y[test], one, codes).get(metric, np.nan)
            for test, (one, _), codes in zip(tests, decided, theirs, strict=True)
        ]
        known = [score for score in each if not np.isnan(score)]  # as for methods: where the score is defined
        if known:
            ranked = {} if decisions is None else {"own": decisions, name: np.concatenate([one for one, _ in decided])}
            both = {"own": predicted, name: np.concatenate(theirs)}
            paired = PairedDecisions(kind, ids, names, y, ranked, both, {})
            found.append(Rival(name, float(np.mean(known)), *_tested(paired, metric)))
    return sorted(found, key=lambda one: -one.score)


def _tested(paired: PairedDecisions, metric: str) -> tuple[str, int, float]:
    """Return the metric of the test of two methods, which of them is ahead, and p; an empty metric without a test."""
    known = metrics_with_test(paired)
    tested = metric if metric in known else next(iter(known), "")
    with contextlib.suppress(SeqkernError):
        for one in pair_tests(paired, tested) if tested else ():
            return tested, one.lead, one.p
    return "", 0, math.nan
