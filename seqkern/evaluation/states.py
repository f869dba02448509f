"""Scores of predicted residue states: accuracy and segment overlap.

A segment is a maximal run of residues with one state, true or predicted. It ends at the ends of its chain, and at
residues that are not scored (masked, or without label): no segment spans a gap, so a helix with a gap is two
segments. All scores are shares, with 1 for a perfect prediction. Only SOV'94 can exceed 1, which is why it was
corrected in 1999.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.evaluation.metrics import accuracy, confusion_matrix, matthews_correlation

Codes = npt.NDArray[np.int64]


class SegmentPairs(NamedTuple):
    """The overlapping pairs of a true and a predicted segment of one state, and the true segments without a partner."""

    state: Codes  # shape (pairs,): State of both segments
    chain: Codes  # shape (pairs,): Chain of both segments
    true: Codes  # shape (pairs,): Lengths of the two segments
    predicted: Codes  # shape (pairs,): Lengths of the two segments
    overlap: Codes  # shape (pairs,): Residues in both segments
    # shape (3, segments): State, chain and length of each true segment that overlaps no predicted one of its state
    alone: Codes


def run_starts(states: Codes, chain: Codes, place: Codes) -> Codes:
    """Return the row at which each segment starts, for residues sorted by chain and position.

    >>> run_starts(np.array([0, 0, 1, 1, 1]), chain=np.array([0, 0, 0, 0, 1]), place=np.array([0, 1, 2, 3, 0]))
    array([0, 2, 4])
    """
    if not len(states):
        return np.empty(0, dtype=np.int64)
    same = (np.diff(chain) == 0) & (np.diff(place) == 1) & (states[1:] == states[:-1])
    return np.flatnonzero(np.concatenate(([True], ~same)))


def overlapping(true: Codes, predicted: Codes, chain: Codes, place: Codes) -> SegmentPairs:
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


def segment_overlap(pairs: SegmentPairs, version: str = "99") -> npt.NDArray[np.float64]:
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
) -> tuple[npt.NDArray[np.float64], float, npt.NDArray[np.float64]]:
    """Return the segment overlap of each state and of all, and of each chain over all states.

    Parameters
    ----------
    true, predicted : array_like of int, shape (n,)
        Codes of states below `n_states`.
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
        Codes into `classes`.
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
