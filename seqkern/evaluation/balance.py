"""Classes of unequal size: when they count as such, and what is tried for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqkern.evaluation.candidates import Candidate
from seqkern.sequences.labels import Labels
from seqkern.solvers.solver_table import SOLVERS

RARE = 0.4
"""Classes are of unequal size if the rarer one has less than this share of the samples."""


def unequal(labels: Labels) -> bool:
    """Return whether there are two classes, one of them with less than 40 % of the samples.

    Always predicting the larger class then has an accuracy above 60 %, and a classifier that counts each error alike
    leans towards it.

    Parameters
    ----------
    labels : Labels
        Labels of a training set.

    Returns
    -------
    bool

    Examples
    --------
    >>> from seqkern.sequences.labels import make_labels
    >>> unequal(make_labels(list("abcde"), ["decoy"] * 4 + ["donor"]))
    True
    >>> unequal(make_labels(list("abcde"), ["decoy"] * 3 + ["donor"] * 2))
    False
    """
    known = labels.y[labels.used()]
    if labels.kind != "binary" or not len(known):
        return False
    share = float(np.mean(known == 1))
    return min(share, 1 - share) < RARE - 1e-9


def with_class_weights(candidates: Sequence[Candidate], labels: Labels) -> list[Candidate]:
    """Return candidates with balanced class weights, where a solver has a weight to set.

    For classes of unequal size each candidate is tried without weights too. Otherwise weights hardly change a ranking,
    but without them an SVM with a small C predicts whichever class has one sample more.

    Parameters
    ----------
    candidates : sequence of (str, dict)
        The name of a kernel and the specification of a solver.
    labels : Labels
        Labels of a training set.

    Returns
    -------
    list of (str, dict)

    Examples
    --------
    >>> from seqkern.sequences.labels import make_labels
    >>> candidates = [("spectrum", {"solver": "csvc", "C": 1}), ("spectrum", {"solver": "psvc"})]
    >>> for _, spec in with_class_weights(candidates, make_labels(list("abcde"), ["decoy"] * 4 + ["donor"])):
    ...     print(spec)
    {'solver': 'csvc', 'C': 1}
    {'solver': 'csvc', 'C': 1, 'class_weight': 'balanced'}
    {'solver': 'psvc'}
    >>> with_class_weights(candidates[:1], make_labels(list("abcde"), ["decoy", "donor"] * 2 + ["decoy"]))
    [('spectrum', {'solver': 'csvc', 'C': 1, 'class_weight': 'balanced'})]
    """
    both = unequal(labels)
    found: list[Candidate] = []
    for kernel, spec in candidates:
        has_weight = "class_weight" in SOLVERS.get(spec["solver"]).parameter_names() and "class_weight" not in spec
        if both or not has_weight:
            found.append((kernel, spec))
        if has_weight:
            found.append((kernel, spec | {"class_weight": "balanced"}))
    return found
