"""Tables about the residues of whole chains, in addition to those for all kinds of samples.

``states.txt`` has each tested chain with its true and predicted states, ``segments.tsv`` the segment lengths,
``termini.tsv`` the accuracy by distance to an end of the chain.
"""

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from seqkern.core.archive import atomic_write
from seqkern.core.errors import FileError
from seqkern.core.tsv import format_cell, read_utf8, write_tsv
from seqkern.core.types import Bools, Floats, Ints, PathLike
from seqkern.evaluation.bootstrap import ScoreInterval
from seqkern.evaluation.fold_tables import FoldResult, Row
from seqkern.evaluation.metrics import accuracy, codes_of, confusion_matrix, matthews_correlation
from seqkern.evaluation.single_task_tests import PairedDecisions, has_value
from seqkern.formats.residues import Residues, confidence, digits
from seqkern.sequences.labels import Labels

if TYPE_CHECKING:
    from seqkern.study.dataset import Dataset


# Scores of predicted residue states: accuracy and segment overlap.
#
# A segment is a maximal run of residues with one state, true or predicted. It ends at the ends of its chain, and at
# residues that are not scored (masked, or without label): no segment spans a gap, so a helix with a gap is two
# segments. All scores are shares, with 1 for a perfect prediction. Only SOV'94 can exceed 1, which is why it was
# corrected in 1999.


class SegmentPairs(NamedTuple):
    """The overlapping pairs of a true and a predicted segment of one state, and the true segments without a partner."""

    state: Ints  # shape (pairs,): State of both segments
    chain: Ints  # shape (pairs,): Chain of both segments
    true: Ints  # shape (pairs,): Lengths of the two segments
    predicted: Ints  # shape (pairs,): Lengths of the two segments
    overlap: Ints  # shape (pairs,): Residues in both segments
    # shape (3, segments): State, chain and length of each true segment that overlaps no predicted one of its state
    alone: Ints


def run_starts(states: Ints, chain: Ints, place: Ints) -> Ints:
    """Return the row at which each segment starts, for residues sorted by chain and position.

    >>> run_starts(np.array([0, 0, 1, 1, 1]), chain=np.array([0, 0, 0, 0, 1]), place=np.array([0, 1, 2, 3, 0]))
    array([0, 2, 4])
    """
    if not len(states):
        return np.empty(0, dtype=np.int64)
    same = (np.diff(chain) == 0) & (np.diff(place) == 1) & (states[1:] == states[:-1])
    return np.flatnonzero(np.concatenate(([True], ~same)))


def overlapping(true: Ints, predicted: Ints, chain: Ints, place: Ints) -> SegmentPairs:
    """Return the `SegmentPairs` of true and predicted states.

    Two overlapping segments share one stretch of residues, within which neither ends: so each stretch between
    neighbouring ends, with equal true and predicted state, is one pair. The number of steps is proportional to
    the number of residues.
    """
    n = len(true)
    first, second = run_starts(true, chain, place), run_starts(predicted, chain, place)
    cuts = np.union1d(first, second)
    overlap = np.diff(np.append(cuts, n))
    agrees = true[cuts] == predicted[cuts]
    cuts, overlap = cuts[agrees], overlap[agrees]
    lengths = [np.diff(np.append(starts, n)) for starts in (first, second)]
    own, other = (np.searchsorted(starts, cuts, side="right") - 1 for starts in (first, second))
    alone = np.setdiff1d(np.arange(len(first)), own)
    left = np.array([true[first[alone]], chain[first[alone]], lengths[0][alone]], dtype=np.int64)
    return SegmentPairs(true[cuts], chain[cuts], lengths[0][own], lengths[1][other], overlap, left)


def segment_overlap(pairs: SegmentPairs, version: str = "99") -> Floats:
    """Return the contribution of each pair of segments to the segment overlap SOV.

    With minov residues in both segments and maxov in at least one, a pair contributes (minov + δ) / maxov times the
    length of the true segment. SOV'94 has δ = min(maxov − minov, minov, ⌊len(true) / 2⌋) and is divided by the number
    of residues; SOV'99 also limits δ to ⌊len(predicted) / 2⌋ and is divided by the lengths of the true segments, each
    counted once for every predicted segment that it overlaps, or once if there is none. SOV'94 is implemented as in
    Zemla et al. and their program: a true segment counts once for every predicted segment that it overlaps, so that
    cutting a helix into pieces raises SOV'94 above 1.

    References
    ----------
    Rost, Sander & Schneider 1994, J. Mol. Biol. 235:13-26.
    Zemla, Venclovas, Fidelis & Rost 1999, Proteins 34:220-223.
    """
    widest = pairs.true + pairs.predicted - pairs.overlap
    allowed = np.minimum(np.minimum(widest - pairs.overlap, pairs.overlap), pairs.true // 2)
    if version == "99":
        allowed = np.minimum(allowed, pairs.predicted // 2)
    return (pairs.overlap + allowed) / widest * pairs.true


def sov(
    true: npt.ArrayLike,
    predicted: npt.ArrayLike,
    chain: npt.ArrayLike,
    place: npt.ArrayLike,
    n_states: int,
    version: str = "99",
) -> tuple[Floats, float, Floats]:
    """Return the segment overlap of each state and of all, and of each chain over all states.

    Parameters
    ----------
    true, predicted : array_like of int, shape (n,)
        Ints of states below `n_states`.
    chain, place : array_like of int, shape (n,)
        As for `run_starts`; chains are numbered from 0.
    n_states : int
        Number of states, including absent ones.
    version : {"94", "99"}
        See `segment_overlap`.

    Returns
    -------
    states : ndarray of float64, shape (n_states,)
        Pooled over all segments; NaN for absent states.
    whole : float
        Pooled over all segments of all states; NaN if there are no residues.
    chains : ndarray of float64, shape (chains,)
        NaN for a chain without residues.

    Examples
    --------
    A helix (0) of six residues within coil (1), predicted one residue too late:

    >>> true, predicted = [1, 1, 0, 0, 0, 0, 0, 0, 1, 1], [1, 1, 1, 0, 0, 0, 0, 0, 1, 1]
    >>> states, whole, chains = sov(true, predicted, chain=[0] * 10, place=range(10), n_states=2)
    >>> states.tolist(), whole
    ([1.0, 1.0], 1.0)
    """
    true, predicted, chain, place = (np.asarray(rows, dtype=np.int64) for rows in (true, predicted, chain, place))
    pairs = overlapping(true, predicted, chain, place)
    added = segment_overlap(pairs, version)
    state, own, length = pairs.alone
    if version == "99":
        weights = np.concatenate((pairs.true, length))
        by_state, by_chain = np.concatenate((pairs.state, state)), np.concatenate((pairs.chain, own))
    else:
        by_state, by_chain, weights = true, chain, np.ones(len(true))
    n_chains = int(np.max(chain, initial=-1)) + 1
    with np.errstate(invalid="ignore"):
        states = np.bincount(pairs.state, added, n_states) / np.bincount(by_state, weights, n_states)
        chains = np.bincount(pairs.chain, added, n_chains) / np.bincount(by_chain, weights, n_chains)
        whole = added.sum() / weights.sum() if len(weights) else math.nan
    return states, float(whole), chains


def state_scores(
    true: npt.ArrayLike, predicted: npt.ArrayLike, chain: npt.ArrayLike, place: npt.ArrayLike, classes: Sequence[str]
) -> dict[str, float]:
    """Return every score of predicted states.

    Parameters
    ----------
    true, predicted : array_like of int, shape (n,)
        Ints into `classes`.
    chain, place : array_like of int, shape (n,)
        The chain of each residue and its place in it, in any order.
    classes : sequence of str
        Names of the states.

    Returns
    -------
    dict of str to float
        ``q3`` (``q8`` with eight states, …): share of correct residues. ``q:H``: share of the residues in state
        H that are predicted as H, NaN if there are none; ``precision:H``: share of the residues predicted as H that
        are H, NaN if there are none. ``mcc:H``: Matthews' correlation of H against the rest, 0 if all residues or
        none are predicted as H, NaN if all or none are H. ``sov94``, ``sov99``, ``sov99:H``: segment overlap, pooled
        over all segments, NaN without a true one; ``sov99_chain``: mean over the chains.

    Examples
    --------
    >>> states = {letter: code for code, letter in enumerate("HEC")}
    >>> true, predicted = ([states[letter] for letter in text] for text in ("CCHHHHHHCC", "CCCHHHHHCE"))
    >>> found = state_scores(true, predicted, chain=[0] * 10, place=range(10), classes="HEC")
    >>> found["q3"], round(found["q:H"], 2), found["precision:H"], found["sov99"]
    (0.8, 0.83, 1.0, 0.9)
    """
    arrays = [np.asarray(rows, dtype=np.int64) for rows in (true, predicted, chain, place)]
    order = np.lexsort((arrays[3], arrays[2]))
    true, predicted, chain, place = (rows[order] for rows in arrays)
    chain = np.unique(chain, return_inverse=True)[1]
    found = {f"q{len(classes)}": accuracy(true, predicted)}
    confusion = confusion_matrix(true, predicted, len(classes))
    for code, name in enumerate(classes):
        found[f"q:{name}"] = _share(confusion[code, code], confusion[code].sum())
    for code, name in enumerate(classes):
        found[f"precision:{name}"] = _share(confusion[code, code], confusion[:, code].sum())
    for code, name in enumerate(classes):
        found[f"mcc:{name}"] = matthews_correlation(true == code, predicted == code)
    found["sov94"] = sov(true, predicted, chain, place, len(classes), "94")[1]
    states, found["sov99"], chains = sov(true, predicted, chain, place, len(classes), "99")
    found |= {f"sov99:{name}": float(value) for name, value in zip(classes, states, strict=True)}
    found["sov99_chain"] = float(chains.mean()) if len(chains) else math.nan
    return found


def _share(part: int, whole: int) -> float:
    """Return a ratio; NaN for zero divided by zero."""
    return float(part / whole) if whole else math.nan


SEGMENT_COLUMNS = ("task", "split", "state", "length", "true", "predicted")
TERMINUS_COLUMNS = ("task", "split", "distance", "n", "right")
NOT_JUDGED = "?"
STATES_HEAD = (
    "# A chain has five lines: >chain, task and split; residues; true states; predicted states; confidence 0 to 9: "
    "{confidence}. " + NOT_JUDGED + " marks a residue that was not tested.\n"
)
CONFIDENCE = {
    True: "ten times the difference between the two highest state probabilities",
    False: "decile of the margin of the decision among the residues of the test set",
}
JUDGED_KINDS = ("binary", "multiclass")


class ChainStates(NamedTuple):
    """A chain of ``states.txt``: lines of one letter for each residue, `NOT_JUDGED` for untested residues.

    >>> chain = ChainStates("states", "1", "1abc", "MKVLA", true="CHHHC", predicted="CHHCC", confidence="97658")
    >>> sum(a == b for a, b in zip(chain.true, chain.predicted))
    4
    """

    task: str
    split: str
    name: str
    letters: str
    true: str
    predicted: str
    confidence: str


def residue_scores(residues: Residues | None, rows: Ints, labels: Labels, predicted: npt.ArrayLike) -> dict[str, float]:
    """Return the state scores of a test set of residues; empty if samples are not residues with states."""
    if residues is None or labels.kind not in JUDGED_KINDS:
        return {}
    codes, residues = codes_of(labels.kind, predicted), residues.take(rows)
    return state_scores(labels.y, codes, residues.record, residues.place, labels.classes)


def state_letters(classes: Sequence[str]) -> list[str]:
    """Return a letter for each class: its one-letter name, or a unique letter from a longer name.

    >>> state_letters(["H", "E", "Helix310"])
    ['H', 'E', 'e']
    """
    taken = [name for name in classes if len(name) == 1]
    letters = []
    for name in classes:
        free = [letter for letter in name + "0123456789abcdefghijklmnopqrstuvwxyz" if letter not in taken]
        letters.append(name if len(name) == 1 else free[0])
        taken.append(letters[-1])
    return letters


def write_residue_results(folder: Path, dataset: "Dataset", results: Sequence[FoldResult]) -> None:
    """Write ``states.txt``, ``segments.tsv`` and ``termini.tsv``, with only headers if no task has states."""
    residues = dataset.residues
    assert residues is not None  # the caller's part
    parts = []
    row_of = {name: row for row, name in enumerate(dataset.X.ids)}
    for result in results:
        labels = dataset.tasks[result.metrics["task"]].labels
        if result.decisions and labels.kind in JUDGED_KINDS:
            rows = np.array([row_of[row["id"]] for row in result.decisions])
            parts.append(_Part(residues.take(rows), labels.classes, result.decisions))
    sure = any(part.probabilities for part in parts)
    with atomic_write(folder / "states.txt", "w") as file:
        file.write(STATES_HEAD.format(confidence=CONFIDENCE[sure]))
        for part in parts:
            file.writelines("\n".join(lines) + "\n" for lines in part.chains())
    write_tsv(folder / "segments.tsv", SEGMENT_COLUMNS, (row for part in parts for row in part.segments()))
    write_tsv(folder / "termini.tsv", TERMINUS_COLUMNS, (row for part in parts for row in part.termini()))


class _Part:
    """The residues of one test set, ordered by chain and position."""

    def __init__(self, residues: Residues, classes: Sequence[str], decisions: Sequence[Row]) -> None:
        order = np.lexsort((residues.place, residues.record))
        self.residues, self.classes = residues.take(order), classes
        rows = [decisions[i] for i in order]
        self.task, self.split = rows[0]["task"], rows[0]["split"]
        code = {name: i for i, name in enumerate(classes)}
        self.true = np.array([code[row["label"]] for row in rows])
        self.predicted = np.array([code[row["predicted"]] for row in rows])
        several = f"decision:{classes[0]}" in rows[0]
        names = {kind: [f"{kind}:{c}" for c in classes] if several else kind for kind in ("probability", "decision")}
        first = names["probability"][0] if several else "probability"
        self.probabilities = rows[0].get(first) is not None
        wanted = names["probability" if self.probabilities else "decision"]
        values = [[row[name] for name in wanted] if several else row[wanted] for row in rows]
        self.sure = digits(confidence(values, self.predicted, self.probabilities))

    def chains(self) -> Iterator[tuple[str, ...]]:
        """Yield the five lines of each chain."""
        chains = self.residues.chains
        names = np.array([ord(letter) for letter in state_letters(self.classes)], dtype=np.uint8)
        columns = names[self.true], names[self.predicted], self.sure + ord("0")
        for record, rows in self.residues.chain_rows():
            lines = np.full((3, chains.lengths[record]), ord(NOT_JUDGED), dtype=np.uint8)
            for line, column in zip(lines, columns, strict=True):
                line[self.residues.place[rows]] = column[rows]
            head = ">" + "\t".join(map(format_cell, (chains.ids[record], self.task, self.split)))
            yield head, chains.string(record), *(line.tobytes().decode("latin-1") for line in lines)

    def segments(self) -> Iterator[tuple[str, str, str, int, int, int]]:
        """Yield the numbers of true and predicted segments of each state and length."""
        place = self.residues.record, self.residues.place
        counts = []
        for states in (self.true, self.predicted):
            starts = run_starts(states, *place)
            lengths = np.diff(np.append(starts, len(states)))
            table = np.zeros((len(self.classes), int(lengths.max(initial=0)) + 1), dtype=np.int64)
            np.add.at(table, (states[starts], lengths), 1)
            counts.append(table)
        widest = max(table.shape[1] for table in counts)
        true, predicted = (np.pad(table, ((0, 0), (0, widest - table.shape[1]))) for table in counts)
        for state, length in zip(*np.nonzero(true + predicted), strict=True):
            there = int(true[state, length]), int(predicted[state, length])
            yield self.task, self.split, self.classes[state], int(length), *there

    def termini(self) -> Iterator[tuple[str, str, int, int, int]]:
        """Yield the numbers of all and of correct residues at each distance from the nearer end of the chain."""
        distance = self.residues.to_terminus()
        n, right = np.bincount(distance), np.bincount(distance, self.true == self.predicted)
        for far in np.flatnonzero(n):
            yield self.task, self.split, int(far), int(n[far]), int(right[far])


def read_states(path: PathLike) -> "list[ChainStates]":
    """Return the chains in a ``states.txt`` written by `write_residue_results`."""
    lines = read_utf8(path, remedy="create it again").split("\n")
    chains = []
    for i in range(1, len(lines) - 1, 5):
        head, *rows = lines[i : i + 5]
        cells = head.removeprefix(">").split("\t")
        if len(cells) != 3 or len(rows) != 4 or len({len(row) for row in rows}) != 1:
            raise FileError(
                f"line {i + 1} does not start the five lines of a chain", file=path, remedy="create it again"
            )
        chains.append(ChainStates(cells[1], cells[2], cells[0], *rows))
    return chains


# Accuracy of methods on residues chain by chain, and the uncertainty of the total.
#
# Residues of one chain are not independent of one another, but chains are. A test or an interval on residues would
# be overconfident, so each chain counts once.


class ChainShares:
    """The accuracy of each method in PairedDecisions within each tested chain.

    A chain in several test sets counts once, with its residues from all of them.
    """

    def __init__(self, paired: PairedDecisions) -> None:
        self.paired = paired
        place: dict[str, int] = {}
        owners = (name.rpartition(":")[0] for name in paired.ids.tolist())
        self._chain = np.array([place.setdefault(owner, len(place)) for owner in owners], dtype=np.int64)
        self.names = list(place)

    @cached_property
    def _counts(self) -> dict[Hashable, tuple[Ints, Ints]]:
        """Numbers of correct and of all residues of each chain, int64 (chains,) each, by method."""
        found = {}
        for method, predicted in self.paired.predicted.items():
            rows = has_value(predicted)
            right = rows & (predicted == self.paired.labels)
            found[method] = self._per_chain(right), self._per_chain(rows)
        return found

    def _per_chain(self, rows: Bools) -> Ints:
        """Return the number of rows in each chain, int64 (chains,), for a mask of rows."""
        return np.bincount(self._chain[rows], minlength=len(self.names))

    def shares(self, methods: Iterable[Any]) -> dict[Any, Floats]:
        """Return the share of correct residues of each chain, by method; NaN if a method lacks the chain."""
        every = np.full(len(self.names), np.nan)
        return {m: np.divide(r, n, out=every.copy(), where=n > 0) for m in methods for r, n in [self._counts[m]]}

    def interval(self, method: Hashable) -> ScoreInterval:
        """Return a method's share of correct residues with its interval, as from `share_interval`."""
        return share_interval(*self._counts[method])


def share_interval(right: Ints, n: Ints) -> ScoreInterval:
    """Return the share of correct residues over chains, its standard error and 95% interval.

    The sampling units are chains, not residues: the standard error is for a ratio of two sums over chains, and the
    interval is Student's with one degree of freedom less than the number of chains.

    References
    ----------
    Cochran 1977, Sampling Techniques, 3rd edition, section 6.3 (ratio of two means).
    """
    right, n = right[n > 0], n[n > 0]
    chains = len(n)
    if chains == 0:
        return ScoreInterval(*[math.nan] * 4)
    share = float(right.sum() / n.sum())
    if chains == 1:
        return ScoreInterval(share, *[math.nan] * 3)
    se = math.sqrt(chains / (chains - 1) * float(np.sum((right - share * n) ** 2))) / float(n.sum())
    half = float(scipy.stats.t.ppf(0.975, chains - 1)) * se
    return ScoreInterval(share, se, max(0.0, share - half), min(1.0, share + half))
