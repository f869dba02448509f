"""Simulated receptors of two chains, alpha and beta, that bind a target only if both chains have its motif.

Each chain is one loop: a conserved start and end, and random residues between them. A positive has a motif in each
chain, with substitutions; a negative has the motif of one chain or of none. So neither chain alone separates the
classes.
"""

import numpy as np

from seqkern.core.checks import check_integer, check_real
from seqkern.sequences.alphabets import PROTEIN
from seqkern.sequences.joining import join_views
from seqkern.sequences.sequence_set import SequenceSet

ENDS = {"alpha": ("CA", "F"), "beta": ("CAS", "YF")}
MOTIFS = {"alpha": "NTGKW", "beta": "RGQDPE"}
SHORTEST, LONGEST = 9, 13
"""Of the residues between start and end."""
NEGATIVES = (("alpha",), ("beta",), ())
"""The chains with a motif, of negatives in turn."""


def paired_receptors(
    rng: np.random.Generator, *, n_positive: int = 100, n_negative: int = 200, kept: float = 0.8
) -> tuple[SequenceSet, dict[str, list[str]]]:
    """Draw receptors of two chains.

    Parameters
    ----------
    rng : numpy.random.Generator
        Random number generator.
    n_positive : int
        Number of receptors with the motif of both chains.
    n_negative : int
        Number of receptors with the motif of one chain, or of none.
    kept : float
        Share of the residues of a motif that are kept; the others are random.

    Returns
    -------
    sequences : SequenceSet
        With the sequence views ``alpha`` and ``beta``.
    table : dict of str to list
        The column ``label``: ``binder`` or ``other``.

    Raises
    ------
    ParameterError
        If a parameter is outside its domain.

    Examples
    --------
    >>> X, table = paired_receptors(np.random.default_rng(1), n_positive=1, n_negative=1)
    >>> X.ids, table["label"], list(X.views)
    (['binder1', 'other1'], ['binder', 'other'], ['alpha', 'beta'])
    """
    check_integer("n_positive", n_positive, 1)
    check_integer("n_negative", n_negative, 1)
    check_real("kept", kept, 0, 1)
    having = [("alpha", "beta")] * n_positive + [NEGATIVES[i % len(NEGATIVES)] for i in range(n_negative)]
    chains = {name: [_chain(rng, name, kept if name in own else None) for own in having] for name in ENDS}
    labels = ["binder"] * n_positive + ["other"] * n_negative
    numbers = [*range(1, n_positive + 1), *range(1, n_negative + 1)]
    ids = [f"{label}{number}" for label, number in zip(labels, numbers, strict=True)]
    return join_views(chains, PROTEIN, ids), {"label": labels}


def _chain(rng: np.random.Generator, name: str, kept: float | None) -> str:
    """Return a random chain, with its motif if `kept` gives the share of residues to keep."""
    middle = rng.choice(list(PROTEIN.letters), size=rng.integers(SHORTEST, LONGEST + 1))
    if kept is not None:
        motif = np.array(list(MOTIFS[name]))
        place = rng.integers(len(middle) - len(motif) + 1)
        stays = rng.random(len(motif)) < kept
        middle[place : place + len(motif)][stays] = motif[stays]
    start, end = ENDS[name]
    return start + "".join(middle) + end
