"""Protein superfamilies evolved along trees: homologues from close to remote.

Each superfamily starts from an ancestor of its own, drawn from the stationary frequencies, so that proteins
of two superfamilies are unrelated. Long branches lead from it to the ancestors of its families, short ones
from these to the members. Along a branch letters are replaced by the process WAG (`exchange`), and runs of
letters are inserted and deleted. The rates of the sites follow a gamma distribution (Yang, J Mol Evol
39:306, 1994), may resemble those of their neighbours (Yang, Genetics 139:993, 1995), and stay with the
sites over the whole tree; indels begin where replacements are frequent. So each superfamily has a conserved
core of its own.
"""

import numpy as np

from seqkern.core.checks import check_integer, check_real
from seqkern.sequences.alphabets import PROTEIN
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.simulate.substitution import wag


def protein_superfamilies(
    rng,
    *,
    n_superfamilies=6,
    n_families=3,
    n_members=8,
    length=120,
    divergence=2.0,
    member_divergence=0.3,
    gamma_shape=1.0,
    rate_correlation=0.0,
    indel_rate=0.05,
    indel_length=3.0,
):
    """Evolve protein superfamilies.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_superfamilies : int
        Number of superfamilies.
    n_families : int
        Families of each superfamily.
    n_members : int
        Members of each family.
    length : int
        Letters of a superfamily's ancestor.
    divergence : float
        Expected replacements per site from a superfamily's ancestor to a family's; the more, the harder. Two
        families lie twice as far apart: by default about a quarter of their homologous letters agree.
    member_divergence : float
        Expected replacements per site from a family's ancestor to a member.
    gamma_shape : float
        Shape of the gamma distribution of the sites' rates (mean 1). When small, most sites hardly change.
    rate_correlation : float
        Correlation of neighbouring sites' rates (of their normal quantiles); the larger, the longer the
        conserved stretches.
    indel_rate : float
        Expected insertions and deletions together for each replacement.
    indel_length : float
        Mean length of an insertion or deletion, at least 1; the lengths are geometric.

    Returns
    -------
    sequences : SequenceSet
        Ids ``s1.2.3``: member 3 of family 2 of superfamily 1.
    table : dict of str to list
        Columns ``superfamily`` (``"s1"``) and ``family`` (``"s1.2"``).
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
    proteins, ids, table = [], [], {"superfamily": [], "family": []}
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
    """Draws ancestors and evolves them along branches.

    A protein is a pair of arrays: its letters, uint8 (n,), and the rate of each site, float64 (n,).

    Parameters
    ----------
    rng : numpy.random.Generator
    gamma_shape, rate_correlation, indel_rate, indel_length : float
        As in `protein_superfamilies`.
    """

    def __init__(self, rng, *, gamma_shape, rate_correlation, indel_rate, indel_length):
        self.rng = rng
        self.gamma_shape = gamma_shape
        self.rate_correlation = rate_correlation
        self.indel_rate = indel_rate
        self.indel_length = indel_length
        self.model = wag()

    def ancestor(self, n):
        """Return a protein of n letters that is related to no other."""
        return self.model.stationary(self.rng, n), self.site_rates(n)

    def site_rates(self, n):
        """Draw the rates of n neighbouring sites: an autoregressive normal process on the gamma's scale."""
        from scipy.special import gammaincinv, ndtr

        normal = self.rng.standard_normal(n)
        fresh = np.sqrt(1 - self.rate_correlation**2)
        for i in range(1, n):
            normal[i] = self.rate_correlation * normal[i - 1] + fresh * normal[i]
        return gammaincinv(self.gamma_shape, ndtr(normal)) / self.gamma_shape

    def branch(self, codes, rates, time):
        """Return the protein that another becomes after `time` expected replacements per site."""
        codes = self.model.replace(self.rng, codes, time * rates)
        # Both kinds begin at a site at a rate proportional to its own: conserved sites are mostly spared.
        begins = self.indel_rate / 2 * time * rates
        kept = self._deletions(begins)
        places, inserted, inserted_rates = self._insertions(begins)
        kept = np.insert(kept, places, True)
        return np.insert(codes, places, inserted)[kept], np.insert(rates, places, inserted_rates)[kept]

    def _events(self, begins):
        """Draw the places of events with the expected numbers `begins`, in order, and the length of each."""
        places = np.repeat(np.arange(len(begins)), self.rng.poisson(begins))
        return places, self.rng.geometric(1 / self.indel_length, size=len(places))

    def _deletions(self, begins):
        """Return bool (n,): the sites that stay. A deletion that would leave less than half is dropped."""
        kept = np.ones(len(begins), dtype=bool)
        for place, length in zip(*self._events(begins), strict=True):
            gone = kept[place : place + length].copy()
            kept[place : place + length] = False
            if kept.sum() < (len(kept) + 1) // 2:
                kept[place : place + length] = gone
        return kept

    def _insertions(self, begins):
        """Return the site before which each inserted letter stands, the letters and their rates."""
        places, lengths = self._events(begins)
        rates = [self.site_rates(length) for length in lengths]
        letters = self.model.stationary(self.rng, lengths.sum())
        return np.repeat(places, lengths), letters, np.concatenate([*rates, np.empty(0)])
