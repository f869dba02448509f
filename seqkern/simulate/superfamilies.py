"""Simulated protein superfamilies, evolved along trees: from close to remote homologs.

Each superfamily starts from its own ancestor, drawn from the stationary frequencies, so that proteins of two
superfamilies are unrelated. Long branches lead to the ancestors of its families, short ones to their members. Along a
branch residues are substituted by the WAG process (`substitution`), and runs of residues are inserted and deleted.
Site rates follow a gamma distribution (Yang, J Mol Evol 39:306, 1994), may resemble those of their neighbours (Yang,
Genetics 139:993, 1995), and stay the same over the tree; indels begin where substitutions are frequent. Each
superfamily therefore has its own conserved core.
"""

import csv

import numpy as np
import numpy.typing as npt
from scipy.special import gammaincinv, ndtr

from seqkern.core.checks import check_integer, check_real
from seqkern.core.resource_files import open_resource
from seqkern.sequences.alphabets import PROTEIN
from seqkern.sequences.sequence_set import SequenceSet

# Amino-acid substitution as a time-reversible Markov process, with the WAG matrix.
#
# Whelan & Goldman, Mol Biol Evol 18:691 (2001). The rate from a to b is q_ab = s_ab π_b, s the symmetric
# exchangeabilities and π the stationary frequencies, scaled to one expected substitution per site and unit of
# time.


class SubstitutionModel:
    """A time-reversible substitution process with one expected substitution per unit of time."""

    def __init__(self, exchangeabilities: npt.NDArray[np.float64], frequencies: npt.NDArray[np.float64]) -> None:
        self.frequencies = frequencies / frequencies.sum()
        rates = exchangeabilities * self.frequencies
        np.fill_diagonal(rates, 0)
        np.fill_diagonal(rates, -rates.sum(axis=1))
        self.rates = rates / -(self.frequencies @ np.diagonal(rates))
        # D^½ Q D^-½ is symmetric for a reversible process, so its eigenvalues are real and exp(Qt) is cheap.
        root = np.sqrt(self.frequencies)
        self._eigenvalues, vectors = np.linalg.eigh(root[:, None] * self.rates / root)
        self._left, self._right = vectors / root[:, None], vectors.T * root

    def transition_rows(self, codes: npt.NDArray[np.uint8], times: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the probabilities of each site's residue after its time, shape (n, a): rows of exp(Qt)."""
        decay = np.exp(np.multiply.outer(times, self._eigenvalues))
        # einsum, not BLAS: the same bits at any number of threads.
        rows = np.einsum("nk,kb->nb", self._left[codes] * decay, self._right)
        return np.maximum(rows, 0)

    def replace(
        self, rng: np.random.Generator, codes: npt.NDArray[np.uint8], times: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.uint8]:
        """Draw the residue of each site after its time, in expected substitutions."""
        reached = np.cumsum(self.transition_rows(codes, times), axis=1)
        drawn = rng.random(len(codes)) * reached[:, -1]
        return (reached <= drawn[:, None]).sum(axis=1).clip(max=len(self.frequencies) - 1).astype(np.uint8)

    def stationary(self, rng: np.random.Generator, n: int) -> npt.NDArray[np.uint8]:
        """Draw residues from the stationary frequencies."""
        return rng.choice(len(self.frequencies), size=n, p=self.frequencies).astype(np.uint8)


def wag() -> SubstitutionModel:
    """Return the WAG model, with amino acids in the order of the alphabet."""
    with open_resource("exchange_matrix.tsv") as file:
        rows = {row["amino_acid"]: row for row in csv.DictReader(file, delimiter="\t")}
    exchangeabilities = np.array([[float(rows[a][b]) for b in PROTEIN.letters] for a in PROTEIN.letters])
    return SubstitutionModel(exchangeabilities, np.array([float(rows[a]["frequency"]) for a in PROTEIN.letters]))


Protein = tuple[npt.NDArray[np.uint8], npt.NDArray[np.float64]]
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
    >>> from seqkern.simulate.superfamilies import protein_superfamilies
    >>> rng = np.random.default_rng(1)
    >>> sequences, table = protein_superfamilies(rng, n_superfamilies=2, n_families=1, n_members=2, length=20)
    >>> dict(zip(sequences.ids, table["family"]))
    {'s1.1.1': 's1.1', 's1.1.2': 's1.1', 's2.1.1': 's2.1', 's2.1.2': 's2.1'}
    """
    check_integer("n_superfamilies", n_superfamilies, 1)
    check_integer("n_families", n_families, 1)
    check_integer("n_members", n_members, 1)
    check_integer("length", length, 1)
    for name, value in (("divergence", divergence), ("member_divergence", member_divergence)):
        check_real(name, value, 0, 100)
    check_real("gamma_shape", gamma_shape, 0.05)
    check_real("rate_correlation", rate_correlation, 0, 0.999)
    check_real("indel_rate", indel_rate, 0, 1)
    check_real("indel_length", indel_length, 1, 100)
    evolution = Evolution(
        rng,
        gamma_shape=gamma_shape,
        rate_correlation=rate_correlation,
        indel_rate=indel_rate,
        indel_length=indel_length,
    )
    proteins: list[npt.NDArray[np.uint8]] = []
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


class Evolution:
    """Random process that draws ancestral proteins and evolves them along branches.

    A protein is a pair of arrays: its residues, uint8 (n,), and the rate of each site, float64 (n,).
    """

    def __init__(
        self,
        rng: np.random.Generator,
        *,
        gamma_shape: float,
        rate_correlation: float,
        indel_rate: float,
        indel_length: float,
    ) -> None:
        self.rng = rng
        self.gamma_shape = gamma_shape
        self.rate_correlation = rate_correlation
        self.indel_rate = indel_rate
        self.indel_length = indel_length
        self.model = wag()

    def ancestor(self, n: int) -> Protein:
        """Draw a protein unrelated to all others."""
        return self.model.stationary(self.rng, n), self.site_rates(n)

    def site_rates(self, n: int) -> npt.NDArray[np.float64]:
        """Draw correlated rates of n sites: an autoregressive normal process, mapped to the gamma distribution."""
        normal = self.rng.standard_normal(n)
        fresh = np.sqrt(1 - self.rate_correlation**2)
        for i in range(1, n):
            normal[i] = self.rate_correlation * normal[i - 1] + fresh * normal[i]
        return np.asarray(gammaincinv(self.gamma_shape, ndtr(normal)) / self.gamma_shape, dtype=np.float64)

    def branch(self, codes: npt.NDArray[np.uint8], rates: npt.NDArray[np.float64], time: float) -> Protein:
        """Evolve a protein along a branch."""
        codes = self.model.replace(self.rng, codes, time * rates)
        # Both kinds start at a site at a rate proportional to its own: conserved sites are mostly spared.
        begins = self.indel_rate / 2 * time * rates
        kept = self._deletions(begins)
        places, inserted, inserted_rates = self._insertions(begins)
        kept = np.insert(kept, places, True)
        return np.insert(codes, places, inserted)[kept], np.insert(rates, places, inserted_rates)[kept]

    def _events(self, begins: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Draw the places of events, in order, with expected numbers `begins`, and the length of each."""
        places = np.repeat(np.arange(len(begins)), self.rng.poisson(begins))
        return places, self.rng.geometric(1 / self.indel_length, size=len(places))

    def _deletions(self, begins: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Return the sites that stay, bool (n,); deletions that would leave less than half are dropped."""
        kept = np.ones(len(begins), dtype=bool)
        for place, length in zip(*self._events(begins), strict=True):
            gone = kept[place : place + length].copy()
            kept[place : place + length] = False
            if kept.sum() < (len(kept) + 1) // 2:
                kept[place : place + length] = gone
        return kept

    def _insertions(
        self, begins: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.float64]]:
        """Return the site before which each inserted residue stands, the inserted residues, and their rates."""
        places, lengths = self._events(begins)
        rates = [self.site_rates(length) for length in lengths]
        residues = self.model.stationary(self.rng, lengths.sum())
        return np.repeat(places, lengths), residues, np.concatenate([*rates, np.empty(0)])
