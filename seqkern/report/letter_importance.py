"""Which letters around a residue speak for which state: by learned weights, or by the data alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from seqkern.figures.residues import END, LetterImportance
from seqkern.report.dataset_results import KEYS
from seqkern.report.residue_data import Judged, as_bytes

if TYPE_CHECKING:
    import pandas as pd

WIDEST = 21
"""Places of the widest window that is shown."""
BY_HYDROPHOBICITY = "IVLFCMAGTSWYPHDENQKR"
"""Order of the scale of Kyte & Doolittle 1982, J. Mol. Biol. 157:105-132; equal values by the alphabet."""
POSITIONED = re.compile(r"([+-]?\d+):(.|end)")


def weights_by_position(features: pd.DataFrame, classes: Sequence[str]) -> LetterImportance | None:
    """Return the mean weight of each letter at each place of the window for each state; None where there are none.

    Parameters
    ----------
    features : DataFrame
        Rows of ``features.tsv`` of one method, with names such as ``-7:A`` and ``-7:end``.
    classes : sequence of str
        Names of the states, in order.

    Returns
    -------
    LetterImportance or None
        Weights minus their mean over the letters of a place, which says nothing: one letter stands at each place.
    """
    parts = features["feature"].str.extract(f"^{POSITIONED.pattern}$")
    known = parts[0].notna() & (features["weight"] != "")
    if not known.any():
        return None
    names = features["class"] if "class" in features else np.full(len(features), "")
    table = features.assign(place=parts[0], letter=parts[1], state=names)[known]
    table = table.assign(place=table["place"].astype(int), weight=table["weight"].astype(float))
    splits = len(table[KEYS].drop_duplicates())
    shown = [name for name in classes if (table["state"] == name).any()]
    if not shown:  # two classes: one weight speaks for the second
        shown, table = [classes[-1]], table.assign(state=classes[-1])
    letters, places = letter_order(table["letter"].unique()), np.unique(table["place"])
    values = np.zeros((len(shown), len(letters), len(places)))
    rows: list[np.ndarray] = [np.searchsorted(places, table["place"].to_numpy())]
    for order, name in ((letters, "letter"), (shown, "state")):
        rows.insert(0, table[name].map({value: i for i, value in enumerate(order)}).to_numpy())
    inside = ~np.isnan(rows[0].astype(float))
    np.add.at(values, tuple(row[inside].astype(int) for row in rows), table["weight"].to_numpy()[inside] / splits)
    values -= values.mean(axis=1, keepdims=True)
    return LetterImportance(values, shown, letters, places)


def letter_order(letters: Iterable[str]) -> list[str]:
    """Return letters by hydrophobicity, others after them, the place beyond the chain last.

    Parameters
    ----------
    letters : iterable of str
        Letters of residues, and `END`.

    Returns
    -------
    list of str
        Hydrophobic residues first, `END` last.

    Examples
    --------
    >>> "".join(letter_order("ARND"))
    'ADNR'
    """
    known = BY_HYDROPHOBICITY
    return sorted(letters, key=lambda c: (c == END, known.index(c) if c in known else len(known), c))


def information(judged: Judged, window: int) -> LetterImportance:
    """Return the information that each letter at each place of a window has on each state.

    ln [f(S, R) / f(not S, R)] − ln [f(S) / f(not S)] from the counts of true states and letters of the tested chains,
    each count one more than it is: 0 says nothing, below 0 speaks against the state.

    Parameters
    ----------
    judged : Judged
        The tested residues of a method.
    window : int
        Odd.

    Returns
    -------
    LetterImportance

    References
    ----------
    Garnier, Osguthorpe & Robson 1978, J. Mol. Biol. 120:97-120.
    """
    half = min(window, WIDEST) // 2
    letters = np.unique(as_bytes(one.letters for one in judged.chains))
    names = letter_order([*(chr(c) for c in letters), END])
    code = np.full(256, names.index(END))
    for i, name in enumerate(names):
        if name != END:
            code[ord(name)] = i
    # every chain is followed by `half` places beyond its end, which also stand before the next one
    text = as_bytes([" " * half, *(one.letters + " " * half for one in judged.chains)])
    first = half + np.cumsum(judged.lengths + half) - (judged.lengths + half)
    centre, codes = first[judged.chain] + judged.place, code[text]
    places, n_states = np.arange(-half, half + 1), len(judged.classes)
    total = np.bincount(judged.true, minlength=n_states) + 1.0
    values = np.zeros((n_states, len(names), len(places)))
    for j, offset in enumerate(places):
        cell = judged.true * len(names) + codes[centre + offset]
        counts = np.bincount(cell, minlength=n_states * len(names)).reshape(n_states, -1) + 1.0
        against = counts.sum(axis=0) - counts
        values[:, :, j] = np.log(counts / against) - np.log(total / (total.sum() - total))[:, None]
    return LetterImportance(values, judged.classes, names, places)
