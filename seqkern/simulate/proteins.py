"""Simulated proteins: superfamilies, chains with a state for each residue, and receptors of two chains."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaincinv, ndtr

from seqkern.core.checks import check_integer, check_integers, check_real, check_reals
from seqkern.core.package_files import resource_rows
from seqkern.core.types import Bools, Codes, Floats, Ints
from seqkern.formats.profiles import BACKGROUND
from seqkern.formats.residues import STATES
from seqkern.sequences.alphabets import PROTEIN
from seqkern.sequences.joining import join_views
from seqkern.sequences.sequence_set import SequenceSet

# Simulated protein superfamilies, evolved along trees: from close to remote homologs.
#
# Each superfamily starts from its own ancestor, drawn from the stationary frequencies, so that proteins of two
# superfamilies are unrelated. Long branches lead to the ancestors of its families, short ones to their members. Along a
# branch residues are substituted by the WAG process (`substitution`), and runs of residues are inserted and deleted.
# Site rates follow a gamma distribution (Yang, J Mol Evol 39:306, 1994), may resemble those of their neighbours (Yang,
# Genetics 139:993, 1995), and stay the same over the tree; indels begin where substitutions are frequent. Each
# superfamily therefore has its own conserved core.

# Amino-acid substitution as a time-reversible Markov process, with the WAG matrix.
#
# Whelan & Goldman, Mol Biol Evol 18:691 (2001). The rate from a to b is q_ab = s_ab π_b, s the symmetric
# exchangeabilities and π the stationary frequencies, scaled to one expected substitution per site and unit of
# time.


class SubstitutionModel:
    """A time-reversible substitution process with one expected substitution per unit of time."""

    def __init__(self, exchangeabilities: Floats, frequencies: Floats) -> None:
        self.frequencies = frequencies / frequencies.sum()
        rates = exchangeabilities * self.frequencies
        np.fill_diagonal(rates, 0)
        np.fill_diagonal(rates, -rates.sum(axis=1))
        self.rates = rates / -(self.frequencies @ np.diagonal(rates))
        # D^½ Q D^-½ is symmetric for a reversible process, so its eigenvalues are real and exp(Qt) is cheap.
        root = np.sqrt(self.frequencies)
        self._eigenvalues, vectors = np.linalg.eigh(root[:, None] * self.rates / root)
        self._left, self._right = vectors / root[:, None], vectors.T * root

    def transition_rows(self, codes: Codes, times: Floats) -> Floats:
        """Return the probabilities of each site's residue after its time, shape (n, a): rows of exp(Qt)."""
        decay = np.exp(np.multiply.outer(times, self._eigenvalues))
        # einsum, not BLAS: the same bits at any number of threads.
        rows = np.einsum("nk,kb->nb", self._left[codes] * decay, self._right)
        return np.maximum(rows, 0)

    def replace(self, rng: np.random.Generator, codes: Codes, times: Floats) -> Codes:
        """Draw the residue of each site after its time, in expected substitutions."""
        reached = np.cumsum(self.transition_rows(codes, times), axis=1)
        drawn = rng.random(len(codes)) * reached[:, -1]
        return (reached <= drawn[:, None]).sum(axis=1).clip(max=len(self.frequencies) - 1).astype(np.uint8)

    def stationary(self, rng: np.random.Generator, n: int) -> Codes:
        """Draw residues from the stationary frequencies."""
        return rng.choice(len(self.frequencies), size=n, p=self.frequencies).astype(np.uint8)


def wag() -> SubstitutionModel:
    """Return the WAG model, with amino acids in the order of the alphabet."""
    rows = {row["amino_acid"]: row for row in resource_rows("exchange_matrix.tsv")}
    exchangeabilities = np.array([[float(rows[a][b]) for b in PROTEIN.letters] for a in PROTEIN.letters])
    return SubstitutionModel(exchangeabilities, np.array([float(rows[a]["frequency"]) for a in PROTEIN.letters]))


Protein = tuple[Codes, Floats]
"""The residues of a protein, uint8 (n,), and the rate of each site, float64 (n,)."""


def protein_superfamilies(
    rng: np.random.Generator,
    *,
    n_superfamilies: int = 6,
    n_families: int = 3,
    n_members: int = 8,
    length: int = 120,
    divergence: float = 2.0,
    member_divergence: float = 0.3,
    gamma_shape: float = 1.0,
    rate_correlation: float = 0.0,
    indel_rate: float = 0.05,
    indel_length: float = 3.0,
) -> tuple[SequenceSet, dict[str, list[str]]]:
    """Evolve protein superfamilies.

    Parameters
    ----------
    rng : numpy.random.Generator
        Random number generator.
    n_superfamilies : int
        Number of superfamilies.
    n_families : int
        Families of each superfamily.
    n_members : int
        Members of each family.
    length : int
        Residues of a superfamily's ancestor.
    divergence : float
        Expected substitutions per site from a superfamily's ancestor to a family's; larger is harder. Two
        families are twice as far apart: by default about a quarter of their homologous residues agree.
    member_divergence : float
        Expected substitutions per site from a family's ancestor to a member.
    gamma_shape : float
        Shape of the gamma distribution of the sites' rates (mean 1). If small, most sites hardly change.
    rate_correlation : float
        Correlation of neighbouring sites' rates (of their normal quantiles); if larger, conserved stretches are
        longer.
    indel_rate : float
        Expected number of insertions and deletions per substitution.
    indel_length : float
        Mean length of an insertion or deletion, at least 1; the lengths are geometric.

    Returns
    -------
    sequences : SequenceSet
        Ids ``s1.2.3``: member 3 of family 2 of superfamily 1.
    table : dict of str to list
        Columns ``superfamily`` (``"s1"``) and ``family`` (``"s1.2"``).

    Raises
    ------
    ParameterError
        If a parameter is outside its domain.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.simulate.proteins import protein_superfamilies
    >>> rng = np.random.default_rng(1)
    >>> sequences, table = protein_superfamilies(rng, n_superfamilies=2, n_families=1, n_members=2, length=20)
    >>> dict(zip(sequences.ids, table["family"]))
    {'s1.1.1': 's1.1', 's1.1.2': 's1.1', 's2.1.1': 's2.1', 's2.1.2': 's2.1'}
    """
    check_integers(1, n_superfamilies=n_superfamilies, n_families=n_families, n_members=n_members, length=length)
    check_reals(0, 100, divergence=divergence, member_divergence=member_divergence)
    check_real("gamma_shape", gamma_shape, 0.05)
    check_real("rate_correlation", rate_correlation, 0, 0.999)
    check_real("indel_rate", indel_rate, 0, 1)
    check_real("indel_length", indel_length, 1, 100)
    evolution = Evolution(rng, gamma_shape, rate_correlation, indel_rate, indel_length)
    proteins: list[Codes] = []
    ids: list[str] = []
    table: dict[str, list[str]] = {"superfamily": [], "family": []}
    for s in range(1, n_superfamilies + 1):
        ancestor = evolution.ancestor(length)
        for f in range(1, n_families + 1):
            family = evolution.branch(*ancestor, divergence)
            for member in range(1, n_members + 1):
                proteins.append(evolution.branch(*family, member_divergence)[0])
                ids.append(f"s{s}.{f}.{member}")
                table["superfamily"].append(f"s{s}")
                table["family"].append(f"s{s}.{f}")
    offsets = np.concatenate(([0], np.cumsum([len(codes) for codes in proteins])))
    return SequenceSet.from_offsets(np.concatenate(proteins), offsets, ids, PROTEIN), table


@dataclass(frozen=True, eq=False)
class Evolution:
    """Random process that draws ancestral proteins and evolves them along branches.

    A protein is a pair of arrays: its residues, uint8 (n,), and the rate of each site, float64 (n,).
    """

    rng: np.random.Generator
    gamma_shape: float
    rate_correlation: float
    indel_rate: float
    indel_length: float

    @cached_property
    def model(self) -> SubstitutionModel:
        """The process by which residues are substituted."""
        return wag()

    def ancestor(self, n: int) -> Protein:
        """Draw a protein unrelated to all others."""
        return self.model.stationary(self.rng, n), self.site_rates(n)

    def site_rates(self, n: int) -> Floats:
        """Draw correlated rates of n sites: an autoregressive normal process, mapped to the gamma distribution."""
        normal = self.rng.standard_normal(n)
        fresh = np.sqrt(1 - self.rate_correlation**2)
        for i in range(1, n):
            normal[i] = self.rate_correlation * normal[i - 1] + fresh * normal[i]
        return np.asarray(gammaincinv(self.gamma_shape, ndtr(normal)) / self.gamma_shape, dtype=np.float64)

    def branch(self, codes: Codes, rates: Floats, time: float) -> Protein:
        """Evolve a protein along a branch."""
        codes = self.model.replace(self.rng, codes, time * rates)
        # Both kinds start at a site at a rate proportional to its own: conserved sites are mostly spared.
        begins = self.indel_rate / 2 * time * rates
        kept = self._deletions(begins)
        places, inserted, inserted_rates = self._insertions(begins)
        kept = np.insert(kept, places, True)
        return np.insert(codes, places, inserted)[kept], np.insert(rates, places, inserted_rates)[kept]

    def _events(self, begins: Floats) -> tuple[Ints, Ints]:
        """Draw the places of events, in order, with expected numbers `begins`, and the length of each."""
        places = np.repeat(np.arange(len(begins)), self.rng.poisson(begins))
        return places, self.rng.geometric(1 / self.indel_length, size=len(places))

    def _deletions(self, begins: Floats) -> Bools:
        """Return the sites that stay, bool (n,); deletions that would leave less than half are dropped."""
        kept = np.ones(len(begins), dtype=bool)
        for place, length in zip(*self._events(begins), strict=True):
            gone = kept[place : place + length].copy()
            kept[place : place + length] = False
            if kept.sum() < (len(kept) + 1) // 2:
                kept[place : place + length] = gone
        return kept

    def _insertions(self, begins: Floats) -> tuple[Ints, Codes, Floats]:
        """Return the site before which each inserted residue stands, the inserted residues, and their rates."""
        places, lengths = self._events(begins)
        rates = [self.site_rates(length) for length in lengths]
        residues = self.model.stationary(self.rng, lengths.sum())
        return np.repeat(places, lengths), residues, np.concatenate([*rates, np.empty(0)])


# Simulated protein chains with a state for each residue: helices, strands and coil.
#
# A chain is a sequence of segments; an amino acid depends only on the state of its residue, by the propensities of Chou
# and Fasman (Advances in Enzymology 47:45, 1978). One residue therefore says little about its state, and its
# neighbours, which mostly share it, say more, as in real chains; an exponent sets the strength of the signal.

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
SHORTEST_RUN = (4, 2, 1)
CLASSES = {"alpha": (0.95, 0.05), "beta": (0.05, 0.95), "mixed": (0.5, 0.5)}
"""Shares of helices and strands among the segments of a chain that are not coil."""


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
        Column ``class``: ``"alpha"``, ``"beta"`` or ``"mixed"``, by the segments of a chain.

    Raises
    ------
    ParameterError
        If a parameter is outside its domain.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.simulate.proteins import secondary_structure_chains
    >>> sequences, table = secondary_structure_chains(np.random.default_rng(1), n_chains=2, mean_length=20)
    >>> sequences.ids, sorted(set(bytes(sequences.tracks["states"]).decode()))
    (['chain1', 'chain2'], ['C', 'E', 'H'])
    """
    check_integer("n_chains", n_chains, 1)
    check_integer("mean_length", mean_length, 2)
    means = (helix_length, strand_length, coil_length)
    for name, mean, shortest in zip(("helix_length", "strand_length", "coil_length"), means, SHORTEST_RUN, strict=True):
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


def _states(rng: np.random.Generator, n: int, shares: tuple[float, float], means: tuple[float, float, float]) -> Ints:
    """Draw the states of one chain, int64 (n,): coil alternating with other segments, mostly with short coil ends."""
    pieces, total, coil = [], 0, True
    while total < n:
        state = 2 if coil else int(rng.choice(2, p=shares))
        shortest = SHORTEST_RUN[state]
        # geometric above the minimum, with this mean
        length = shortest - 1 + int(rng.geometric(1.0 / (means[state] - shortest + 1.0)))
        pieces.append(np.full(length, state))
        total += length
        coil = not coil
    return np.concatenate(pieces)[:n]


# Simulated receptors of two chains, alpha and beta, that bind a target only if both chains have its motif.
#
# Each chain is one loop: a conserved start and end, and random residues between them. A positive has a motif in each
# chain, with substitutions; a negative has the motif of one chain or of none. So neither chain alone separates the
# classes.

ENDS = {"alpha": ("CA", "F"), "beta": ("CAS", "YF")}
MOTIFS = {"alpha": "NTGKW", "beta": "RGQDPE"}
SHORTEST_CDR3, LONGEST_CDR3 = 9, 13
"""Least and largest number of residues between start and end."""
NEGATIVES = (("alpha",), ("beta",), ())
"""Chains with a motif, for negatives in turn."""


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
        Sequences with the views ``alpha`` and ``beta``.
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
    check_integers(1, n_positive=n_positive, n_negative=n_negative)
    check_real("kept", kept, 0, 1)
    having = [("alpha", "beta")] * n_positive + [NEGATIVES[i % len(NEGATIVES)] for i in range(n_negative)]
    chains = {name: [_chain(rng, name, kept if name in own else None) for own in having] for name in ENDS}
    labels = ["binder"] * n_positive + ["other"] * n_negative
    numbers = [*range(1, n_positive + 1), *range(1, n_negative + 1)]
    ids = [f"{label}{number}" for label, number in zip(labels, numbers, strict=True)]
    return join_views(chains, PROTEIN, ids), {"label": labels}


def _chain(rng: np.random.Generator, name: str, kept: float | None) -> str:
    """Return a random chain, with its motif if `kept` gives the share of residues to keep."""
    middle = rng.choice(list(PROTEIN.letters), size=rng.integers(SHORTEST_CDR3, LONGEST_CDR3 + 1))
    if kept is not None:
        motif = np.array(list(MOTIFS[name]))
        place = rng.integers(len(middle) - len(motif) + 1)
        stays = rng.random(len(motif)) < kept
        middle[place : place + len(motif)][stays] = motif[stays]
    start, end = ENDS[name]
    return start + "".join(middle) + end
