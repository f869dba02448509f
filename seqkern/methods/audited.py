"""The audit of two parts: scores with and without their overlap, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import LabelError, SequenceError, TooLargeError
from seqkern.core.memory import available_memory, default_limit_text, format_bytes, more_memory, parse_bytes
from seqkern.core.progress import progress_bar, tell
from seqkern.core.threads import GIVEN_THREADS, available_threads
from seqkern.core.types import Bools, Floats, Ints, PathLike
from seqkern.evaluation.auto import GAPPED, LENIENT, MASKED, Traits, traits_of
from seqkern.evaluation.chance import permuted
from seqkern.evaluation.folds import Split, read_folds
from seqkern.evaluation.intervals import auc_ends, mcc_interval
from seqkern.evaluation.metrics import codes_of, macro_auc
from seqkern.evaluation.ranking import roc_auc
from seqkern.evaluation.relations import (
    ANY,
    KINDS,
    MOST,
    Finding,
    Parts,
    Relations,
    Within,
    choose_rows,
    count_findings,
    find_relations,
    find_within,
)
from seqkern.evaluation.single_task_tests import delong_interval
from seqkern.gram.compute import compute_gram
from seqkern.gram.matrix import GramMatrix
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_specs import build_kernel
from seqkern.methods.baselines import composition_features, linear_model
from seqkern.methods.method import Method
from seqkern.sequences.labels import Labels, make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.similarity import (
    HITS,
    IDENTITY,
    MOST_CODES,
    OTHER_IDENTITY,
    PART,
    SEEDS,
    by_spaced_seeds,
    match_chance,
)
from seqkern.study.dataset import Dataset, Task, load_dataset

# Scores of decisions on the whole test set, without its overlap with training, and on the overlap alone.

SUBSETS = {"all": "all test sequences", "without": "without overlap", "overlap": "overlap only"}


@dataclass(frozen=True)
class TestScore:
    """The scores of one classifier on a subset of the test sequences, with 95% intervals.

    The AUC of several classes is their mean, without an interval. For permuted labels the scores are means over several
    permutations, and the lowest and highest replace the intervals.

    >>> TestScore("classifier", "spectrum", "all", 9, 0.9, 0.8, 0.95, 0.7, 0.5, 0.9).text("auc")
    '0.900 [0.800, 0.950]'
    """

    __test__ = False  # for pytest

    role: str  # ``classifier``, ``permuted``, ``neighbour``, ``composition`` or ``length``
    title: str  # The classifier
    subset: str  # Which test sequences
    n: int  # Their number
    auc: float  # Area under the ROC curve, of several classes the mean over the classes
    auc_low: float  # Lower end of its 95% interval, of two classes
    auc_high: float  # Upper end
    # Matthews' correlation with its 95% interval. Of permuted labels the scores are means over several permutations,
    # with the lowest and the highest in place of the intervals
    mcc: float
    # Matthews' correlation with its 95% interval. Of permuted labels the scores are means over several permutations,
    # with the lowest and the highest in place of the intervals
    mcc_low: float
    # Matthews' correlation with its 95% interval. Of permuted labels the scores are means over several permutations,
    # with the lowest and the highest in place of the intervals
    mcc_high: float

    def text(self, score: str) -> str:
        """Return a score ("auc" or "mcc") with its interval as text; a dash if the score is undefined."""
        value, low, high = (getattr(self, score + end) for end in ("", "_low", "_high"))
        if math.isnan(value):
            return "–"
        ends = "" if math.isnan(low) else f" [{low:.3f}, {high:.3f}]"
        return f"{value:.3f}{ends}".replace("-", "−")


def subset_scores(
    role: str,
    title: str,
    labels: Labels,
    decisions: Floats,
    predicted: npt.ArrayLike,
    overlaps: Bools,
) -> Iterator[TestScore]:
    """Yield the scores on each of `SUBSETS`, or on all test sequences alone if none overlaps."""
    codes = codes_of(labels.kind, predicted)
    for subset in SUBSETS if overlaps.any() else ("all",):
        rows = {"all": np.ones(len(overlaps), dtype=bool), "without": ~overlaps, "overlap": overlaps}[subset]
        y = labels.y[rows]
        auc = _auc(labels, y, decisions[rows])
        mcc = mcc_interval(y, codes[rows], max(2, len(labels.classes)))
        yield TestScore(role, title, subset, int(rows.sum()), *auc, mcc.score, mcc.low, mcc.high)


def _auc(labels: Labels, y: Ints, decisions: Floats) -> tuple[float, float, float]:
    """Return the AUC and the ends of its interval; several classes have no interval."""
    if len(np.unique(y)) < 2:
        return math.nan, math.nan, math.nan
    if labels.kind != "binary":
        return macro_auc(y, decisions), math.nan, math.nan
    auc, positives = roc_auc(y, decisions), int((y > 0).sum())
    low, high = delong_interval(y, decisions)[2:]
    if math.isnan(low):
        low, high = auc_ends(auc, positives, len(y) - positives)
    return auc, low, high


def mean_of(scores: Sequence[TestScore]) -> TestScore:
    """Return the mean of several scores of one classifier, with the lowest and highest; a single score is unchanged."""
    if len(scores) == 1:
        return scores[0]
    ends: dict[str, Any] = {}
    for name in ("auc", "mcc"):
        values = [getattr(one, name) for one in scores]
        ends |= {name: float(np.mean(values)), f"{name}_low": min(values), f"{name}_high": max(values)}
    return replace(scores[0], **ends)


# The classifiers of an audit: the same for all data of a kind, without free parameters.

SOLVER = {"solver": "csvc", "C": 1.0, "class_weight": "balanced"}
"""The solver of all classifiers."""
ALIGNING = "local_alignment"
"""The kernel that aligns each pair of sequences, which takes long."""


def portfolio(traits: Traits) -> dict[str, dict[str, Any]]:
    """Return the specs of the kernels that suit some sequences, by their titles; the verdict uses the first one.

    >>> list(portfolio(Traits("protein", n=9, shortest=90, median=120, longest=300, total=1080)))
    ['gapped k-mers', 'spectrum', 'local alignment']
    """
    if traits.kind in ("windows", "regions"):
        both = {"reverse_complement": traits.alphabet == "dna", **LENIENT}
        found = {
            "gapped k-mers": {**GAPPED, "l": 10, "k": 6, **both},
            "spectrum": {"kernel": "spectrum", "k": 6, **both},
        }
        return found | (
            {"weighted degree": {"kernel": "weighted_degree", "degree": 5, **MASKED}} if traits.equal else {}
        )
    l, k, words = (5, 3, 2) if traits.kind in ("other", "peptides") else (6, 4, 3)  # noqa: E741  # as the kernel names it
    found = {
        "gapped k-mers": {"kernel": "gapped_kmer", "l": l, "k": k, **LENIENT},
        "spectrum": {"kernel": "spectrum", "k": words, **LENIENT},
    }
    return found if traits.kind == "other" else found | {"local alignment": {"kernel": ALIGNING}}


# Scores of a fixed portfolio and of trivial baselines on the test set, with and without its overlap with training.

MOST_CLASSES = 100
MOST_ALIGNED = 1e12
"""Maximum number of residue pairs aligned for one kernel: a minute or two."""
ROLES = ("classifier", "permuted", "neighbour", "composition", "length")
"""Roles of the decisions, in the order of tables."""
PERMUTATIONS = 5
SEED = 1
Decided = tuple[str, str, Any, Any]
"""Role, title, decisions, predicted classes."""


@dataclass(frozen=True)
class Scores:
    """The scores of an audit, and remarks on samples and classifiers left out.

    >>> Scores((), ("no scores: the sequences have no labels",)).headline()
    {}
    """

    rows: tuple[TestScore, ...] = ()  # Of each classifier on each subset of the test sequences
    remarks: tuple[str, ...] = ()  # What was left out, and why

    def headline(self) -> dict[str, TestScore]:
        """Return the scores of the verdict's classifier by subset; empty if there are no scores."""
        first = next((row.title for row in self.rows if row.role == "classifier"), None)
        return {row.subset: row for row in self.rows if row.title == first}


def score_parts(parts: Parts, relations: Relations, *, n_threads: int | None = None) -> Scores:
    """Train the portfolio on the training set, and return its scores on the test set; no rows if labels allow none."""
    chosen = choose_rows(parts, relations)
    learned = np.isin(parts.codes[chosen.test], parts.codes[chosen.train])
    test, train = chosen.test[learned], chosen.train
    reason = _why_not(parts, train, test)
    if reason:
        return Scores(remarks=(f"no scores: {reason}",))
    rows = np.concatenate((test, train))
    X = parts.X.take(rows).compact()
    try:
        labels = make_labels(X.ids, [parts.names[row] for row in rows])
    except LabelError as error:  # what was found is worth showing without scores
        return Scores(remarks=(f"no scores: {error.problem}",))
    remarks = list(_left_out(parts, len(chosen.test), len(train)))
    if not learned.all():
        remarks.append(f"{int((~learned).sum()):,} test sequences are of classes that training lacks, and not scored")
    own = _Trained(X, labels, len(test), n_threads)
    jobs = list(own.jobs(remarks))
    overlaps = relations.overlaps[test]
    tested = labels.take(slice(0, own.n_test))
    found: dict[tuple[str, str], list[list[TestScore]]] = {}
    for job in progress_bar(jobs, "classifiers"):
        for role, title, decisions, predicted in job():
            rows_of_one = list(subset_scores(role, title, tested, decisions, predicted, overlaps))
            found.setdefault((role, title), []).append(rows_of_one)
    order = sorted(found, key=lambda key: ROLES.index(key[0]))
    means = [mean_of(list(several)) for key in order for several in zip(*found[key], strict=True)]
    return Scores(tuple(means), tuple(remarks))


def _why_not(parts: Parts, train: Ints, test: Ints) -> str:
    """Return the reason why there are no scores; empty if there are scores."""
    if not parts.names:
        return "the sequences have no labels"
    if len(parts.classes) > MOST_CLASSES:
        return f"the labels are {len(parts.classes)} different words or numbers, not classes"
    for name, rows in (("training", train), ("test", test)):
        kinds = np.unique(parts.codes[rows])
        if len(kinds) < 2:
            of = f"of one class ({parts.classes[kinds[0]]})" if len(kinds) else "without labels"
            return f"the {name} sequences are {of}"
    return ""


def _left_out(parts: Parts, n_test: int, n_train: int) -> Iterator[str]:
    """Yield sentences on sequences that are not used."""
    unknown = int((parts.codes < 0).sum())
    if unknown:
        yield f"{unknown:,} sequence{'s have' if unknown > 1 else ' has'} no label and no part in the scores"
    all_test, all_train = ((parts.codes >= 0) & side for side in (parts.is_test, ~parts.is_test))
    for name, count, whole in (("test", n_test, all_test.sum()), ("training", n_train, all_train.sum())):
        if count < whole:
            yield f"scores are of {count:,} of the {whole:,} {name} sequences, chosen by a hash of their residues" + (
                "; nearest relatives of the test sequences first" if name == "training" else ""
            )


class _Trained:
    """The training and test samples shared by all classifiers, test sequences first."""

    def __init__(self, X: SequenceSet, labels: Labels, n_test: int, n_threads: int | None) -> None:
        self.X, self.labels, self.n_test, self.n_threads = X, labels, n_test, n_threads
        self.test, self.train = np.arange(n_test), np.arange(n_test, len(X))

    def jobs(self, remarks: list[str]) -> Iterator[Callable[[], Iterator[Decided]]]:
        """Yield the jobs; samples and classifiers left out are added to the remarks."""
        traits = traits_of(self.X)
        for place, (title, spec) in enumerate(portfolio(traits).items()):
            pairs = traits.total**2 / 2
            if spec["kernel"] == ALIGNING and pairs > MOST_ALIGNED:
                remarks.append(f"no {title} kernel: {pairs:.0e} pairs of residues to align")
                continue
            yield partial(self._classifier, title, build_kernel(spec), place == 0)
        features = composition_features(self.X)
        yield partial(self._linear, "composition", "composition only", features[:, 1:])
        if not traits.equal:
            yield partial(self._linear, "length", "length only", features[:, :1])

    def _classifier(self, title: str, kernel: Kernel, first: bool) -> Iterator[Decided]:
        """Yield the decisions of a classifier; for the first one also with permuted labels and of the nearest
        neighbour.
        """
        gram = compute_gram(kernel, self.X, n_threads=self.n_threads)
        method = Method({title: kernel}, SOLVER, threshold="none")
        data = method.data(self.X, self.labels, grams={title: [gram]}, n_threads=self.n_threads)
        decided = method.fit(data, self.train, ahead=self.test).decide(self.test)
        yield "classifier", title, decided.decisions, decided.predicted
        if not first:
            return
        rng = np.random.default_rng(SEED)
        own = self.labels.take(self.train)
        for _ in range(PERMUTATIONS):
            y = self.labels.y.copy()
            y[self.train] = permuted(own, rng).y
            mixed = replace(data, labels=replace(self.labels, y=y))
            decided = method.fit(mixed, self.train, ahead=self.test).decide(self.test)
            yield "permuted", "permuted training labels", decided.decisions, decided.predicted
        yield ("neighbour", "nearest neighbour", *self._nearest(gram))

    def _nearest(self, gram: GramMatrix) -> tuple[Any, Any]:
        """Return decisions by the most similar training sequence of each class, and the class of the most similar."""
        values = gram.slice(self.test, self.train)
        y = self.labels.y[self.train]
        best = np.stack([values[:, y == code].max(axis=1) for code in np.unique(y)], axis=1)
        if self.labels.kind == "binary":
            decisions = best[:, 1] - best[:, 0]
            return decisions, (decisions > 0).astype(np.int64)
        whole = np.full((len(values), len(self.labels.classes)), best.min() - 1)
        whole[:, np.unique(y)] = best
        return whole, whole.argmax(axis=1)

    def _linear(self, role: str, title: str, features: Any) -> Iterator[Decided]:
        """Yield the decisions of a linear model trained on some features."""
        decisions, predicted = linear_model(features, self.labels, self.train, self.test, standardise=True)
        yield role, title, decisions, predicted


# The verdict of an audit in one sentence.

SAME = 0.005
"""Largest difference of AUCs that are called equal."""


def phrases(relations: Relations, alphabet: str) -> dict[str, tuple[str, str]]:
    """Return the phrase for each kind of overlap, in the singular and the plural."""
    limit = relations.limit or IDENTITY.get(alphabet, OTHER_IDENTITY)
    at_least = f"(at least {100 * limit:g}% identity)"
    stretch = f"{relations.k}-mer with training"
    return {
        "identical": ("is identical to a training sequence", "are identical to a training sequence"),
        "reverse_complement": ("is the reverse complement of one", "are the reverse complement of one"),
        "contained": ("is contained in one or contains one", "are contained in one or contain one"),
        "similar": (f"is similar to one {at_least}", f"are similar to one {at_least}"),
        "shared_kmer": (f"shares a {stretch}", f"share a {stretch}"),
    }


def verdict(parts: Parts, relations: Relations, findings: list[Finding], scores: Scores) -> str:
    """Return the verdict as a sentence."""
    words = phrases(relations, parts.X.alphabet.name)
    by_kind = {one.kind: one for one in findings}
    total, n = by_kind[ANY].test, parts.n_test
    looked_for = [kind for kind in KINDS if kind in by_kind and (kind != "similar" or relations.aligned)]
    if not total:
        listed = [words[kind][0] for kind in looked_for]
        return f"No overlap found: none of the {n:,} test sequences {', '.join(listed[:-1])}, or {listed[-1]}."
    # identical sequences also share k-mers: a kind is named if it adds sequences to those above it
    found = [by_kind[kind] for kind in looked_for if by_kind[kind].strongest]
    share = 100 * total / n
    of = f"{total:,} of {n:,} test sequences ({share:.{0 if share >= 10 else 1}f}%)"
    if len(found) == 1:
        text = f"{of} {words[found[0].kind][total > 1]}"
    else:
        counts = ", ".join(f"{one.test:,} {words[one.kind][one.test > 1]}" for one in found)
        text = f"{of} overlap{'s' if total == 1 else ''} with training: {counts}"
    differ = by_kind[ANY].conflicts
    if differ:
        text += f"; {differ:,} of them {'have' if differ > 1 else 'has'} another label than the nearest one there"
    return f"{text}; {_effect(scores, total)}."


def _effect(scores: Scores, total: int) -> str:
    """Return the effect of leaving out the overlap on the score, in words."""
    found = scores.headline()
    them = "them" if total > 1 else "it"
    if not found:
        return f"report scores without {them}"
    title, whole, rest = found["all"].title, found["all"].auc, found["without"].auc if "without" in found else math.nan
    if math.isnan(rest):
        return f"without {them} too little is left for an AUC"
    of = f"the AUC of an SVM on {title}"
    if abs(whole - rest) <= SAME:
        return f"without {them} {of} stays at {rest:.3f} ({whole:.3f} with {them}): report scores without {them}"
    moves = "falls" if rest < whole else "rises"
    return f"without {them} {of} {moves} from {whole:.3f} to {rest:.3f}: report scores without {them}"


# The audit of two parts: what they share, and how the overlap affects scores.

LIBRARIES = 60_000_000
"""Bytes of the libraries imported on demand."""
PER_RESIDUE, PER_STRAND, PER_RECORD, PER_TRAINED, PER_SPACED, KEPT_ON_DISK = 6, 8, 1000, 80, 2, 5
"""Bytes of the searches, of the k-mers of training and test sequences, and of a search by spaced seeds in memory and
in temporary files; see benchmarks/audit_memory.py."""


@dataclass(frozen=True, eq=False)
class Audit:
    """The result of an audit.

    Attributes
    ----------
    parts : Parts
        The sequences.
    relations : Relations
        Overlaps of each test sequence with the training sequences.
    within : Within
        Relatives within each part, and clusters over both.
    scores : Scores
        Scores of the portfolio.

    Examples
    --------
    >>> from seqkern.report import audit, make_parts
    >>> found = audit(make_parts(["GATTACAGATTACA", "CCCTCTTTGTCA"], ["GATTACAGATTACA"], alphabet="dna"))
    >>> print(found.verdict)
    1 of 1 test sequences (100%) is identical to a training sequence; report scores without it.
    """

    parts: Parts
    relations: Relations
    within: Within
    scores: Scores

    @property
    def findings(self) -> list[Finding]:
        """A row for each kind of overlap."""
        return count_findings(self.parts, self.relations, self.within)

    @property
    def verdict(self) -> str:
        """The verdict in one sentence."""
        return verdict(self.parts, self.relations, self.findings, self.scores)


def audit(
    parts: Parts,
    *,
    k: int | None = None,
    identity: float | None = None,
    both_strands: bool | None = None,
    scores: bool = True,
    memory_limit: int | str | None = None,
    n_threads: int | None = None,
) -> Audit:
    """Compare a test part with a training part, and measure the effect of their overlap on scores.

    Parameters
    ----------
    parts : Parts
        The sequences, as from `seqkern.report.make_parts`.
    k, identity, both_strands : object
        As for `seqkern.report.find_relations`.
    scores : bool
        Whether to train and test the portfolio, if the sequences have labels.
    memory_limit : int or str, optional
        Default: half of the memory left.
    n_threads : int, optional
        Default: all cores. The result is the same for any number.

    Returns
    -------
    Audit

    Raises
    ------
    TooLargeError
        If more memory is predicted than allowed.
    ParameterError
        If an option is outside its domain.
    """
    needed = audit_bytes(parts, scores)
    allowed = available_memory() // 2 if memory_limit is None else parse_bytes(memory_limit)
    if needed > allowed:
        raise TooLargeError(
            f"the audit needs {format_bytes(needed)} of memory, more than the limit of {format_bytes(allowed)}"
            f"{default_limit_text(memory_limit)}",
            remedy="audit a part of the training sequences",
            more=more_memory(memory_limit),
        )
    if by_spaced_seeds(parts.X, match_chance(parts.X), 2, identity):
        disk = format_bytes(KEPT_ON_DISK * int(parts.X.lengths.sum()))
        tell(f"plan: at most {format_bytes(needed)} of memory and {disk} of temporary files")
    relations = find_relations(parts, k=k, identity=identity, both_strands=both_strands, n_threads=n_threads)
    within = find_within(parts, relations)
    found = score_parts(parts, relations, n_threads=n_threads) if scores else Scores()
    return Audit(parts, relations, within, found)


def audit_bytes(parts: Parts, scores: bool = True) -> int:
    """Return an upper bound in bytes of the memory of an audit, beyond the program's own."""
    X, n = parts.X, min(len(parts.X), MOST)
    residues, strands = int(X.lengths.sum()), 2 if X.alphabet.name == "dna" else 1
    search = residues * (PER_RESIDUE + PER_STRAND * strands) + len(X) * PER_RECORD
    trained = 18 * n * n + PER_TRAINED * n * residues // len(X) if scores and parts.names else 0
    if by_spaced_seeds(X, match_chance(X), strands, None):
        search = residues * PER_SPACED + len(X) * PER_RECORD // 2
        search += 8 * max(min(residues, SEEDS), residues // 16)
        return int(LIBRARIES + max(search, trained))
    seeds = 16 * min(MOST_CODES, X.alphabet.size * strands * residues**2 / HITS)
    sorting = 32 * min(residues, PART) * available_threads(GIVEN_THREADS.get())
    return int(LIBRARIES + max(search + seeds + sorting, trained))


# The audits of the splits of a study's data set.

MOST_SPLITS = 20
"""Maximum number of splits that are audited, the first ones; the leakage check of the folds covers all."""


@dataclass(frozen=True, eq=False)
class AuditedSplits:
    """The audits of a data set, each with its (task, split), and remarks on splits left out.

    >>> AuditedSplits([], ["a data set of vectors has no sequences to audit"]).audits
    []
    """

    audits: list[tuple[tuple[str, str], Audit]]  # Task and split, and what was found
    remarks: list[str]  # What was not audited


def audited_splits(dataset: PathLike, folds: PathLike, audit: Callable[[Parts], Audit]) -> AuditedSplits:
    """Audit the splits of a data set."""
    data = load_dataset(dataset)
    leaks = [f"{data.name}: {leak}" for leak in data.notes.get("leaks", ())]
    if not isinstance(data.X, SequenceSet) or data.residues is not None:
        return AuditedSplits(
            [], [f"{data.name}: samples are not whole sequences, so there is nothing to audit", *leaks]
        )
    work = [
        (name, task, split)
        for name, task in data.tasks.items()
        for split in read_folds(Path(folds) / f"{name}.tsv", data.X.ids, task.labels, data.chains)
    ]
    remarks = leaks
    if len(work) > MOST_SPLITS:
        remarks.append(f"{data.name}: the first {MOST_SPLITS} of {len(work)} splits were audited")
    audits = []
    for name, task, split in progress_bar(work[:MOST_SPLITS], "splits"):
        try:
            audits.append(((name, split.name), audit(parts_of(data, task, split))))
        except TooLargeError as error:  # a study goes on without its audit
            remarks.append(f"{data.name}: not audited: {error}")
            break
    return AuditedSplits(audits, remarks)


def parts_of(data: Dataset, task: Task, split: Split) -> Parts:
    """Return the parts of a split."""
    if not isinstance(data.X, SequenceSet):
        raise SequenceError("samples are not sequences", remedy="audit a data set of sequences")
    rows = [*split.test.tolist(), *split.train.tolist()]
    names = task.labels.names() if task.labels.kind in ("binary", "multiclass") else []
    X = data.X.take(rows).replace(tracks={}).compact()
    return Parts(X, len(split.test), tuple(names[row] for row in rows) if names else ())
