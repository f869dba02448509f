"""What the report says of residues, in numbers: from ``states.txt`` of each method, read once."""

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from seqkern.evaluation.bootstrap import ScoreInterval
from seqkern.evaluation.chain_shares import share_interval
from seqkern.evaluation.residue_results import NOT_JUDGED, ChainStates, read_states, state_letters
from seqkern.evaluation.states import run_starts, state_scores
from seqkern.figures.track_picture import Track
from seqkern.report.compared import ComparedChains, methods_of
from seqkern.report.dataset_results import DatasetResults, Method

MODERATE = (60, 200)
"""Residues of a chain that is shown, where there are such."""
DISTANCES = (0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 21, 31)
"""Where each range of distances from an end of the chain begins within which residues are counted together."""
FEWEST = 30
"""Residues from which on a share of right ones is drawn."""


class Judged:
    """The tested residues of a method, chain after chain.

    Parameters
    ----------
    chains : sequence of ChainStates
        Tested chains with true and predicted states, one letter each.
    classes : sequence of str
        Names of the states.

    Attributes
    ----------
    chains : list of ChainStates
    true, predicted : ndarray of int64, shape (n,)
        Codes of states.
    chain, place : ndarray of int64, shape (n,)
    """

    def __init__(self, chains: Sequence[ChainStates], classes: Sequence[str]) -> None:
        self.chains, self.classes = chains, list(classes)
        self.lengths = np.array([len(one.letters) for one in chains], dtype=np.int64)
        code = np.full(256, -1, dtype=np.int64)
        code[[ord(letter) for letter in state_letters(classes)]] = np.arange(len(classes))
        true, predicted = (code[as_bytes(getattr(one, name) for one in chains)] for name in ("true", "predicted"))
        known = (true >= 0) & (predicted >= 0)
        self.true, self.predicted = true[known], predicted[known]
        self.chain = np.repeat(np.arange(len(chains)), self.lengths)[known]
        first = np.cumsum(self.lengths) - self.lengths
        self.place = np.flatnonzero(known) - first[self.chain]

    @cached_property
    def scores(self) -> dict[str, float]:
        """Dict of every score, pooled over all residues and segments."""
        return state_scores(self.true, self.predicted, self.chain, self.place, self.classes)

    @cached_property
    def right(self) -> npt.NDArray[np.float64]:
        """float64 (chains,): the share of each chain's residues that are right; NaN where none was tested."""
        counts = np.bincount(self.chain, minlength=len(self.chains))
        right = np.bincount(self.chain, self.true == self.predicted, len(self.chains))
        return np.divide(right, counts, out=np.full(len(self.chains), np.nan), where=counts > 0)

    @cached_property
    def interval(self) -> ScoreInterval:
        """ScoreInterval of the share of right residues, by chain; a chain in several test sets is one."""
        number = {name: i for i, name in enumerate(dict.fromkeys(one.name for one in self.chains))}
        chain = np.array([number[one.name] for one in self.chains], dtype=np.int64)[self.chain]
        n = np.bincount(chain, minlength=len(number))
        return share_interval(np.bincount(chain[self.true == self.predicted], minlength=len(number)), n)

    def segment_lengths(self, predicted: bool = False) -> list[npt.NDArray[np.int64]]:
        """Return the lengths of the segments of each state, a list of int64 arrays.

        Parameters
        ----------
        predicted : bool, default False
            Whether to take predicted states, not true ones.

        Returns
        -------
        list of ndarray of int64
            One array for each state, in the order of the classes.
        """
        states = self.predicted if predicted else self.true
        starts = run_starts(states, self.chain, self.place)
        lengths = np.diff(np.append(starts, len(states)))
        return [lengths[states[starts] == code] for code in range(len(self.classes))]

    def near_ends(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Return the share of right residues by the distance to either end of the chain, and what it is a share of.

        Returns
        -------
        shares : ndarray of float64, shape (2, distances)
            First by the distance to the N end, then to the C end, in the ranges of `DISTANCES`; NaN for fewer than
            `FEWEST` residues.
        n : ndarray of int64, shape (2, distances)
        """
        far = np.stack([self.place, self.lengths[self.chain] - 1 - self.place])
        part = np.searchsorted(DISTANCES, far, side="right") - 1 + np.array([[0], [len(DISTANCES)]])
        size = 2 * len(DISTANCES)
        n = np.bincount(part.ravel(), minlength=size).reshape(2, -1)
        right = np.bincount(part[:, self.true == self.predicted].ravel(), minlength=size).reshape(2, -1)
        return np.divide(right, n, out=np.full(n.shape, np.nan), where=n >= FEWEST), n


def as_bytes(lines: Iterable[str]) -> npt.NDArray[np.uint8]:
    """Return lines of states as one array of letters.

    Parameters
    ----------
    lines : iterable of str
        States or residues of chains, one letter each.

    Returns
    -------
    ndarray of uint8
        All lines, one after the other.
    """
    return np.frombuffer("".join(lines).encode("latin-1"), dtype=np.uint8)


def judged_residues(dataset: DatasetResults, methods: Sequence[Method]) -> dict[Method, Judged]:
    """Return {method: Judged} of a data set's first task, in the order given; empty where samples are not residues.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.
    methods : list of Method
        The methods, in the order to show.

    Returns
    -------
    dict of Method to Judged
        In the order given; methods without ``states.txt`` are left out.
    """
    found: dict[Method, Judged] = {}
    task = next(iter(dataset.tasks), None)
    if task is None:
        return found
    for method in methods:
        path = dataset.folder("evaluate") / method.kernel / method.solver / "states.txt"
        chains = [one for one in read_states(path) if one.task == task] if path.exists() else []
        if chains:
            found[method] = Judged(chains, dataset.classes(task))
    return found


def against_first(first: Method, compared: ComparedChains) -> dict[Method, tuple[int, int, float]]:
    """Return {method: (chains ahead, chains behind, p corrected by Holm)} of each method against the first.

    Parameters
    ----------
    first : Method
        The method that the others are compared with.
    compared : ComparedChains
        Of all pairs; p is corrected for all of them.

    Returns
    -------
    dict of Method to (int, int, float)
    """
    tests = {}
    for one in compared.found:
        wins, losses = one.test.wins, one.test.losses
        ahead, behind = methods_of(one)
        if ahead == first:
            tests[behind] = losses, wins, one.p_holm
        elif behind == first:
            tests[ahead] = wins, losses, one.p_holm
    return tests


def chosen_chain(judged: Judged, name: str | None = None) -> int | None:
    """Return the number of the chain to show: the one of that name, else one of median accuracy.

    Parameters
    ----------
    judged : Judged
        The tested residues of a method.
    name : str, optional
        Name of a chain; None is returned where it was not tested.

    Returns
    -------
    int or None
        Of the chains of moderate length, where there are any, the one whose share of right residues is the median.
    """
    if name is not None:
        return next((i for i, one in enumerate(judged.chains) if one.name == str(name)), None)
    return median_chain(judged)


def median_chain(judged: Judged) -> int:
    """Return the number of a chain of median accuracy, of moderate length where there are such.

    Parameters
    ----------
    judged : Judged
        The tested residues of a method.

    Returns
    -------
    int
    """
    known = np.flatnonzero(~np.isnan(judged.right))
    moderate = known[(judged.lengths[known] >= MODERATE[0]) & (judged.lengths[known] <= MODERATE[1])]
    among = moderate if len(moderate) else known
    middle = np.argsort(judged.right[among], kind="stable")[(len(among) - 1) // 2]
    return int(among[middle])


def track_of(judged: Judged, i: int) -> Track:
    """Return the Track of one chain.

    Parameters
    ----------
    judged : Judged
        The tested residues of a method.
    i : int
        Number of the chain.

    Returns
    -------
    Track
        Its residues with true and predicted states, and the confidence from 0 to 1.
    """
    one = judged.chains[i]
    sure = [0.0 if digit == NOT_JUDGED else (int(digit) + 1) / 10 for digit in one.confidence]
    return Track(one.name, one.letters, one.predicted, one.true, sure)
