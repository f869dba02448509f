"""Numbers for the report on residues, from each method's ``states.txt``, read once."""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqkern.evaluation import residue_results
from seqkern.evaluation.bootstrap import ScoreInterval
from seqkern.methods.study_results import KEYS, DatasetResults, Method, numbers, read_table, rows_by_value
from seqkern.report.plots import END, LetterImportance
from seqkern.report.profile_pictures import Track

if TYPE_CHECKING:
    import pandas as pd


MODERATE = (60, 200)
"""Range of lengths, in residues, of the chain to show, where there is such a chain."""


class Judged:
    """The tested residues of a method, chain after chain."""

    def __init__(self, chains: Sequence[residue_results.ChainStates], classes: Sequence[str]) -> None:
        self.chains, self.classes = chains, list(classes)
        self.lengths = np.array([len(one.letters) for one in chains], dtype=np.int64)
        code = np.full(256, -1, dtype=np.int64)
        code[[ord(letter) for letter in residue_results.state_letters(classes)]] = np.arange(len(classes))
        true, predicted = (code[as_bytes(getattr(one, name) for one in chains)] for name in ("true", "predicted"))
        known = (true >= 0) & (predicted >= 0)
        self.true, self.predicted = true[known], predicted[known]
        self.chain = np.repeat(np.arange(len(chains)), self.lengths)[known]
        first = np.cumsum(self.lengths) - self.lengths
        self.place = np.flatnonzero(known) - first[self.chain]

    @cached_property
    def scores(self) -> dict[str, float]:
        """All scores, pooled over all residues and segments."""
        return residue_results.state_scores(self.true, self.predicted, self.chain, self.place, self.classes)

    @cached_property
    def right(self) -> npt.NDArray[np.float64]:
        """Share of correct residues in each chain, (chains,); NaN where none was tested."""
        counts = np.bincount(self.chain, minlength=len(self.chains))
        right = np.bincount(self.chain, self.true == self.predicted, len(self.chains))
        return np.divide(right, counts, out=np.full(len(self.chains), np.nan), where=counts > 0)

    @cached_property
    def interval(self) -> ScoreInterval:
        """Interval of the share of correct residues, by chain; a chain in several test sets counts as one."""
        number = {name: i for i, name in enumerate(dict.fromkeys(one.name for one in self.chains))}
        chain = np.array([number[one.name] for one in self.chains], dtype=np.int64)[self.chain]
        n = np.bincount(chain, minlength=len(number))
        return residue_results.share_interval(np.bincount(chain[self.true == self.predicted], minlength=len(number)), n)


def as_bytes(lines: Iterable[str]) -> npt.NDArray[np.uint8]:
    """Return lines of states as one array of letters."""
    return np.frombuffer("".join(lines).encode("latin-1"), dtype=np.uint8)


def judged_residues(dataset: DatasetResults, methods: Sequence[Method]) -> dict[Method, Judged]:
    """Return the Judged of each method on a data set's first task, in the given order.

    It is empty if the samples are not residues; methods without ``states.txt`` are left out.
    """
    found: dict[Method, Judged] = {}
    task = next(iter(dataset.tasks), None)
    if task is None:
        return found
    for method in methods:
        path = dataset.folder("evaluate") / method.kernel / method.solver / "states.txt"
        chains = [one for one in residue_results.read_states(path) if one.task == task] if path.exists() else []
        if chains:
            found[method] = Judged(chains, dataset.classes(task))
    return found


def chosen_chain(judged: Judged, name: str | None = None) -> int | None:
    """Return the number of the chain to show: the one named `name` (None if not tested), or one of median accuracy."""
    if name is not None:
        return next((i for i, one in enumerate(judged.chains) if one.name == str(name)), None)
    return median_chain(judged)


def median_chain(judged: Judged) -> int:
    """Return the number of a chain of median accuracy, preferably of moderate length."""
    known = np.flatnonzero(~np.isnan(judged.right))
    moderate = known[(judged.lengths[known] >= MODERATE[0]) & (judged.lengths[known] <= MODERATE[1])]
    among = moderate if len(moderate) else known
    middle = np.argsort(judged.right[among], kind="stable")[(len(among) - 1) // 2]
    return int(among[middle])


def track_of(judged: Judged, i: int) -> Track:
    """Return the Track of one chain: residues, true and predicted states, and the confidence from 0 to 1."""
    one = judged.chains[i]
    sure = [0.0 if digit == residue_results.NOT_JUDGED else (int(digit) + 1) / 10 for digit in one.confidence]
    return Track(one.name, one.letters, one.predicted, one.true, sure)


# Importance of the letters around a residue for each state: by learned weights, or by the data alone.

BY_HYDROPHOBICITY = "IVLFCMAGTSWYPHDENQKR"
"""Order of the scale of Kyte & Doolittle 1982, J. Mol. Biol. 157:105-132; equal values by the alphabet."""
POSITIONED = re.compile(r"([+-]?\d+):(.|end)")


def weights_by_position(features: "pd.DataFrame", classes: Sequence[str]) -> LetterImportance | None:
    """Return the mean weight of each letter at each window position for each state; None where there are none.

    Weights are relative to their mean over the letters of a position, which carries no information: exactly one letter
    occurs at each position.
    """
    table = _placed(features)
    if not len(table):
        return None
    states = table["class"] if "class" in table else table["feature"].map(lambda _: "")
    shown = [name for name in classes if (states == name).any()]
    if not shown:  # two classes: one weight speaks for the second
        shown, states = [classes[-1]], states.map(lambda _: classes[-1])
    found = _mean_weights(table, states, shown)
    found.values[:] -= found.values.mean(axis=1, keepdims=True)
    return found


def relevances_by_position(features: "pd.DataFrame") -> LetterImportance | None:
    """Return the mean relevance of each letter at each window position; None if features have no position."""
    table = _placed(features)
    return _mean_weights(table, table["feature"].map(lambda _: "relevance"), ["relevance"]) if len(table) else None


def _placed(features: "pd.DataFrame") -> "pd.DataFrame":
    """Return the features with a weight that are named by a place and a letter, with both and the weight as number."""
    parts = features["feature"].str.extract(f"^{POSITIONED.pattern}$")
    table = features.assign(place=parts[0], letter=parts[1])[parts[0].notna() & (features["weight"] != "")]
    return table.assign(place=table["place"].astype(int), weight=table["weight"].astype(float))


def _mean_weights(table: "pd.DataFrame", states: "pd.Series", shown: Sequence[str]) -> LetterImportance:
    """Return the mean weights over the splits by state, letter and place; other states are left out."""
    letters, places = letter_order(table["letter"].unique()), np.unique(table["place"])
    known = states.isin(shown).to_numpy()
    cells = (
        states[known].map({name: i for i, name in enumerate(shown)}).to_numpy(int),
        table["letter"][known].map({name: i for i, name in enumerate(letters)}).to_numpy(int),
        np.searchsorted(places, table["place"].to_numpy()[known]),
    )
    values = np.zeros((len(shown), len(letters), len(places)))
    np.add.at(values, cells, table["weight"].to_numpy()[known] / len(table[KEYS].drop_duplicates()))
    return LetterImportance(values, list(shown), letters, places)


def letter_order(letters: Iterable[str]) -> list[str]:
    """Return letters by hydrophobicity, most hydrophobic first, then other letters, then the place beyond the chain.

    >>> "".join(letter_order("ARND"))
    'ADNR'
    """
    known = BY_HYDROPHOBICITY
    return sorted(letters, key=lambda c: (c == END, known.index(c) if c in known else len(known), c))


# Relevances of features in a learned metric: which solvers have them, and their means over the training sets.

SOLVERS = ("gmlvq",)
"""Solvers whose weights of features are relevances: shares of a metric, which support no class."""


def has_relevances(dataset: DatasetResults, solver: str) -> bool:
    """Return whether the weights of a solver are relevances."""
    return dataset.solver(solver).solver_name in SOLVERS


def mean_relevances(features: "pd.DataFrame") -> "pd.DataFrame":
    """Return the mean, min and max relevance of each feature over the training sets, most relevant first."""
    table = features.assign(weight=numbers(features["weight"]))
    found = table.groupby("feature", sort=False)["weight"].agg(["mean", "min", "max"]).reset_index()
    return found.sort_values(["mean", "feature"], ascending=[False, True])


# Numbers of chains in the training and test sets of data sets of residues.

PARTS = {"train": "training", "test": "test"}


def chain_counts(dataset: DatasetResults) -> dict[tuple[str, str], dict[str, int]]:
    """Return {(task, split): {"train": chains, "test": chains}} from the fold tables; empty where there are none."""
    if not dataset.residues or dataset.composition is None:
        return {}
    found = {}
    for task, rows in rows_by_value(dataset.composition[KEYS].drop_duplicates(), "task"):
        table = read_table(dataset.folder("folds") / f"{task}.tsv", ["id"])
        if table is None:
            continue
        chains = np.array([name.rpartition(":")[0] for name in table["id"]])
        for split in rows["split"]:
            if split in table:
                part = table[split].to_numpy()
                found[task, split] = {name: len(np.unique(chains[part == name])) for name in PARTS}
    return found
