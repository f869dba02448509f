"""Simulated protein chains with a state for each residue: helices, strands and coil.

A chain is a sequence of segments; an amino acid depends only on the state of its residue, by the propensities of Chou
and Fasman (Advances in Enzymology 47:45, 1978). One residue therefore says little about its state, and its
neighbours, which mostly share it, say more, as in real chains; an exponent sets the strength of the signal.
"""

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_integer, check_real
from seqkern.formats.profiles import BACKGROUND
from seqkern.formats.residues import STATES
from seqkern.sequences.alphabets import PROTEIN
from seqkern.sequences.sequence_set import SequenceSet

# P(α), P(β) and P(turn) of Chou and Fasman, times 100, in the order of the alphabet.
PROPENSITIES = np.array(
    [
        *([142, 83, 66], [70, 119, 119], [101, 54, 146], [151, 37, 74], [113, 138, 60]),  # A C D E F
        *([57, 75, 156], [100, 87, 95], [108, 160, 47], [114, 74, 101], [121, 130, 59]),  # G H I K L
        *([145, 105, 60], [67, 89, 156], [57, 55, 152], [111, 110, 98], [98, 93, 95]),  # M N P Q R
        *([77, 75, 143], [83, 119, 96], [106, 170, 50], [108, 137, 96], [69, 147, 114]),  # S T V W Y
    ]
).T
LETTERS = np.frombuffer(b"HEC", dtype=np.uint8)
SHORTEST = (4, 2, 1)
CLASSES = {"alpha": (0.95, 0.05), "beta": (0.05, 0.95), "mixed": (0.5, 0.5)}
"""Number of helices and strands among the segments of a chain that are not coil."""


def secondary_structure_chains(
    rng: np.random.Generator,
    *,
    n_chains: int = 30,
    mean_length: int = 100,
    helix_length: float = 10.0,
    strand_length: float = 5.0,
    coil_length: float = 6.0,
    propensity: float = 2.0,
) -> tuple[SequenceSet, dict[str, list[str]]]:
    """Draw protein chains with the state of each residue: helix, strand or coil.

    Parameters
    ----------
    rng : numpy.random.Generator
        Random number generator.
    n_chains : int
        Number of chains.
    mean_length : int
        Mean number of residues of a chain; lengths range from 0.5 to 1.5 times the mean.
    helix_length : float
        Mean length of a helix, at least 4.
    strand_length : float
        Mean length of a strand, at least 2.
    coil_length : float
        Mean length of the coil between, at least 1.
    propensity : float
        Exponent of the amino acids' propensities for the states: larger is easier, 0 leaves no signal.

    Returns
    -------
    sequences : SequenceSet
        Ids ``chain1``, ``chain2``, …, with the track ``states`` (H, E and C).
    table : dict of str to list
        Column ``class``: ``"alpha"``, ``"beta"`` or ``"mixed"``, by which segments a chain has.

    Raises
    ------
    ParameterError
        If a parameter is outside its domain.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.simulate.chains import secondary_structure_chains
    >>> sequences, table = secondary_structure_chains(np.random.default_rng(1), n_chains=2, mean_length=20)
    >>> sequences.ids, sorted(set(bytes(sequences.tracks["states"]).decode()))
    (['chain1', 'chain2'], ['C', 'E', 'H'])
    """
    check_integer("n_chains", n_chains, 1)
    check_integer("mean_length", mean_length, 2)
    means = (helix_length, strand_length, coil_length)
    for name, mean, shortest in zip(("helix_length", "strand_length", "coil_length"), means, SHORTEST, strict=True):
        check_real(name, mean, shortest, 1000)
    check_real("propensity", propensity, 0, 10)
    shares = BACKGROUND * (PROPENSITIES / 100.0) ** propensity
    shares /= shares.sum(axis=1, keepdims=True)
    names = list(CLASSES)
    classes = [names[i] for i in rng.integers(len(names), size=n_chains)]
    lengths = rng.integers(mean_length - mean_length // 2, mean_length + mean_length // 2 + 1, size=n_chains)
    states = np.concatenate([_states(rng, n, CLASSES[name], means) for n, name in zip(lengths, classes, strict=True)])
    codes = np.empty(len(states), dtype=np.uint8)
    for state in range(len(LETTERS)):
        here = np.flatnonzero(states == state)
        codes[here] = rng.choice(PROTEIN.size, size=len(here), p=shares[state])
    ids = [f"chain{i + 1}" for i in range(n_chains)]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    sequences = SequenceSet.from_offsets(codes, offsets, ids, PROTEIN, {STATES: LETTERS[states]})
    return sequences, {"class": classes}


def _states(
    rng: np.random.Generator, n: int, shares: tuple[float, float], means: tuple[float, float, float]
) -> npt.NDArray[np.int64]:
    """Draw the states of one chain, int64 (n,): coil alternating with other segments, mostly with short coil ends."""
    pieces, total, coil = [], 0, True
    while total < n:
        state = 2 if coil else int(rng.choice(2, p=shares))
        shortest = SHORTEST[state]
        # geometric above the minimum, with this mean
        length = shortest - 1 + int(rng.geometric(1.0 / (means[state] - shortest + 1.0)))
        pieces.append(np.full(length, state))
        total += length
        coil = not coil
    return np.concatenate(pieces)[:n]
