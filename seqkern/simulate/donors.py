"""Simulated windows around donor (5') splice sites, and decoys.

A true site has coding sequence on its left and an intron on its right; the nine bases around the cut
follow the position frequencies of human donor sites (Zhang, Hum Mol Genet 7:919, 1998). A decoy lies inside
one exon or intron and has the same GT at the same place, but no other feature of a site. Sites and decoys
therefore differ in three things, some of which each kernel detects: the motif, its position, and the change of
composition at the cut. The sources of the numbers are in resources/README.md.
"""

import csv

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_integer, check_real
from seqkern.core.resource_files import open_resource
from seqkern.sequences.alphabets import DNA
from seqkern.sequences.sequence_set import SequenceSet

#: Bases of the site before and after the cut.
SITE_LEFT, SITE_RIGHT = 3, 6
#: Frequencies of A, C, G and T in introns: rounded values of our own, see resources/README.md.
INTRON = np.array([0.27, 0.20, 0.21, 0.32])


def donor_frequencies() -> npt.NDArray[np.float64]:
    """Return the frequencies of A, C, G and T at positions −3 to +6 of donor sites, float64 (9, 4)."""
    with open_resource("donor_frequencies.tsv") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return np.array([[float(row[letter]) for letter in DNA.letters] for row in rows])


def codon_usage() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float64]]:
    """Return the codes (61, 3) of the sense codons and their frequencies in human genes, which sum to 1."""
    with open_resource("codon_usage.tsv") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["amino_acid"] != "*"]
    codons = DNA.code_table[[[ord(letter) for letter in row["codon"]] for row in rows]]
    usage = np.array([float(row["per_thousand"]) for row in rows])
    return codons, usage / usage.sum()


def donor_windows(
    rng: np.random.Generator,
    *,
    n_positive: int = 200,
    n_decoy: int = 400,
    left: int = 30,
    right: int = 30,
    signal: float = 1.0,
    contrast: float = 1.0,
    exonic_decoys: float = 0.5,
) -> tuple[SequenceSet, dict[str, list[str]]]:
    """Draw windows around donor sites and decoys.

    Parameters
    ----------
    rng : numpy.random.Generator
        Random number generator.
    n_positive : int
        Number of donor sites.
    n_decoy : int
        Number of decoys.
    left : int
        Bases before the exon–intron boundary, at least 3.
    right : int
        Bases after the cut, at least 6; the first two are GT.
    signal : float
        Share of the bases at -3 to +6 (except GT) that follow the position frequencies; the others are
        background. 1 gives the published site, 0 no signal; smaller is harder.
    contrast : float
        Share of the background with the composition of exon or intron; the others follow the mean of the
        two. With 0, only the site itself distinguishes sites from decoys.
    exonic_decoys : float
        Expected share of the decoys that lie in an exon; the others lie in an intron.

    Returns
    -------
    sequences : SequenceSet
        The sites, then the decoys.
    table : dict of str to list
        Column ``label``: ``"donor"`` or ``"decoy"``.

    Raises
    ------
    ParameterError
        If a parameter is outside its domain.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.simulate.donors import donor_windows
    >>> sequences, table = donor_windows(np.random.default_rng(1), n_positive=2, n_decoy=1, left=3, right=6)
    >>> [window[3:5] for window in sequences.strings()], table["label"]
    (['GT', 'GT', 'GT'], ['donor', 'donor', 'decoy'])
    """
    check_integer("n_positive", n_positive, 1)
    check_integer("n_decoy", n_decoy, 1)
    check_integer("left", left, SITE_LEFT)
    check_integer("right", right, SITE_RIGHT)
    for name, value in (("signal", signal), ("contrast", contrast), ("exonic_decoys", exonic_decoys)):
        check_real(name, value, 0, 1)
    n, width = n_positive + n_decoy, left + right
    in_exon = np.zeros((n, width), dtype=bool)
    in_exon[:n_positive, :left] = True
    in_exon[n_positive:] = rng.random((n_decoy, 1)) < exonic_decoys
    codes = np.where(in_exon, _exon(rng, n, width), _letters(rng, INTRON, (n, width)))
    codons, usage = codon_usage()
    coding = np.bincount(codons.ravel(), weights=np.repeat(usage, 3)) / 3
    codes = np.where(rng.random((n, width)) < contrast, codes, _letters(rng, (coding + INTRON) / 2, (n, width)))
    site = codes[:n_positive, left - SITE_LEFT : left + SITE_RIGHT]
    drawn = np.column_stack([_letters(rng, column, n_positive) for column in donor_frequencies()])
    site[...] = np.where(rng.random(site.shape) < signal, drawn, site)
    codes[:, left : left + 2] = [DNA.letters.index(letter) for letter in "GT"]
    labels = ["donor"] * n_positive + ["decoy"] * n_decoy
    ids = [f"donor{i + 1}" for i in range(n_positive)] + [f"decoy{i + 1}" for i in range(n_decoy)]
    return SequenceSet.from_offsets(codes.ravel(), np.arange(n + 1) * width, ids, DNA), {"label": labels}


def _letters(
    rng: np.random.Generator, frequencies: npt.NDArray[np.float64], shape: int | tuple[int, int]
) -> npt.NDArray[np.uint8]:
    """Draw codes with the given frequencies."""
    return rng.choice(len(frequencies), size=shape, p=frequencies).astype(np.uint8)


def _exon(rng: np.random.Generator, n: int, width: int) -> npt.NDArray[np.uint8]:
    """Draw coding sequence, uint8 (n, width): codons by their usage, each row in its own reading frame."""
    codons, usage = codon_usage()
    drawn = codons[rng.choice(len(usage), size=(n, width // 3 + 2), p=usage)].reshape(n, -1)
    frame = rng.integers(3, size=(n, 1))
    return np.take_along_axis(drawn, frame + np.arange(width), axis=1)
