"""Motifs of a model: clusters of seqlets or of k-mers, as matrices of counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.explain import Explainer
from seqkern.kernels.motifs.matrices import Matrix
from seqkern.models.kmer_table import kmer_tables
from seqkern.models.model import Model
from seqkern.motifs.clusters import Cluster, find_clusters
from seqkern.motifs.pieces import Pieces
from seqkern.motifs.seqlets import Contributions
from seqkern.motifs.top_kmers import top_kmers
from seqkern.sequences.alphabets import DNA, RNA, Alphabet
from seqkern.sequences.sequence_set import SequenceSet

WINDOW, FLANK, MARGIN = 10, 6, 10
LEAST_BITS = 0.3
SHORTEST = 4
LEAST_MEMBERS = 10
AMBIGUITY = {
    "A": "A", "C": "C", "G": "G", "T": "T", "AG": "R", "CT": "Y", "CG": "S", "AT": "W", "GT": "K", "AC": "M",
    "CGT": "B", "AGT": "D", "ACT": "H", "ACG": "V",
}  # fmt: skip
COMMON = 0.25


@dataclass(frozen=True, eq=False)
class FoundMotif:
    """A motif of a model.

    Attributes
    ----------
    name : str
        ``positive_1``, ``positive_2``, …, ``negative_1``, …, largest share first.
    sign : {1, -1}
        Whether it raises or lowers decision values.
    counts : ndarray of int64, shape (columns, letters)
        Of residues at each position.
    sites : int
        Seqlets, or k-mers.
    share : float
        Of the sum of absolute contributions, or of the weights of the k-mers of its sign.
    alphabet : Alphabet
        Of the residues.
    background : ndarray of float64, shape (letters,)
        Frequencies of residues in the sequences; uniform for k-mers.

    Examples
    --------
    >>> from seqkern.sequences.alphabets import DNA
    >>> counts = np.array([[0, 0, 0, 9], [0, 0, 9, 0], [9, 0, 0, 0], [0, 5, 4, 0]])
    >>> motif = FoundMotif("positive_1", 1, counts, 9, 0.4, DNA, np.full(4, 0.25))
    >>> motif.consensus, motif.probabilities[3].round(2).tolist()
    ('TGAS', [0.0, 0.56, 0.44, 0.0])
    """

    name: str
    sign: int
    counts: npt.NDArray[np.int64]
    sites: int
    share: float
    alphabet: Alphabet
    background: npt.NDArray[np.float64]

    @property
    def probabilities(self) -> npt.NDArray[np.float64]:
        """Share of each residue at each position; rows sum to 1."""
        return self.counts / self.counts.sum(axis=1, keepdims=True)

    @property
    def consensus(self) -> str:
        """The commonest residues: IUPAC codes of those with a share of at least 1/4 for DNA and RNA."""
        return "".join(map(self._letter, self.probabilities))

    @property
    def matrix(self) -> Matrix:
        """The motif as a weight matrix."""
        return Matrix.checked(self.name, self.counts, self.alphabet.letters)

    def _letter(self, shares: npt.NDArray[np.float64]) -> str:
        """Return the sign of one position."""
        letters = self.alphabet.letters
        top = letters[int(shares.argmax())]
        if self.alphabet not in (DNA, RNA):
            return top if shares.max() >= 0.5 else "x"
        common = "".join(letter for letter, share in zip(letters, shares, strict=True) if share >= COMMON)
        if shares.max() >= 0.7 or not common:
            return top
        found = AMBIGUITY.get(common.replace("U", "T"), "N")
        return found.replace("T", "U") if self.alphabet == RNA else found


def find_motifs(
    model: Model | Explainer, X: SequenceSet | None = None, *, pair: str | None = None, least: int = LEAST_MEMBERS
) -> list[FoundMotif]:
    """Return the motifs that a model has learned, those of the positive class first.

    Parameters
    ----------
    model : Model
        Of sequences.
    X : SequenceSet, optional
        Sequences in which to find seqlets; by default the motifs are made of the k-mers of greatest weight.
    pair : str, optional
        Multi-class: the two classes whose classifier is shown: ``"A:B"``.
    least : int, default 10
        Seqlets or k-mers of a motif, at least.

    Returns
    -------
    list of FoundMotif

    Raises
    ------
    ModelError, ParameterError
        If the model cannot be explained, or without sequences if its decisions are not sums of weights of k-mers.

    Examples
    --------
    >>> from seqkern.kernels import GappedKmerKernel
    >>> from seqkern.models.training import train_model
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> rng = np.random.default_rng(1)
    >>> texts = ["".join(rng.choice(list("ACGT"), 40)) for _ in range(120)]
    >>> texts[:60] = [text[:15] + "TGACTCAG" + text[23:] for text in texts[:60]]
    >>> X = as_sequences(texts, "dna")
    >>> labels = make_labels(X.ids, ["bound"] * 60 + ["other"] * 60, positive="bound")
    >>> model = train_model(X, labels, GappedKmerKernel(8, 5, reverse_complement=True), "csvc:C=1")
    >>> find_motifs(model, X)[0].consensus
    'TGACTCAG'
    """
    explainer = model if isinstance(model, Explainer) else Explainer(model, pair)
    if X is None:
        return _of_kmers(explainer, least)
    contributions = Contributions(explainer, explainer.coerce(X))
    codes = contributions.X.codes
    alphabet = contributions.X.alphabet
    counts = np.bincount(codes[codes < alphabet.size], minlength=alphabet.size) + 1.0
    if explainer.both_strands:
        counts = counts + counts[alphabet.complement_codes[: alphabet.size]]
    motifs = []
    for sign in (1, -1):
        seqlets = contributions.seqlets(sign, WINDOW, FLANK, MARGIN)
        motifs += _of_pieces(seqlets, sign, least, contributions.total, counts / counts.sum())
    return motifs


def _of_kmers(explainer: Explainer, least: int) -> list[FoundMotif]:
    """Return the motifs of the k-mers of greatest weight."""
    tables = kmer_tables(explainer.model)
    size = tables.alphabet.size
    found = {sign: top_kmers(tables, sign, MARGIN) for sign in (1, -1)}
    total = sum(float(kmers.scores.sum()) for kmers in found.values())
    motifs = []
    for sign, kmers in found.items():
        motifs += _of_pieces(kmers, sign, least, total, np.full(size, 1 / size))
    return motifs


def _of_pieces(
    pieces: Pieces, sign: int, least: int, total: float, background: npt.NDArray[np.float64]
) -> list[FoundMotif]:
    """Return the motifs of one sign, largest share first."""
    motifs: list[FoundMotif] = []
    for cluster in find_clusters(pieces, least, pieces.width // 2):
        counts = _trimmed(_counted(pieces, cluster), background)
        if len(counts) >= SHORTEST:
            share = float(pieces.scores[cluster.members].sum()) / total
            name = f"{'positive' if sign > 0 else 'negative'}_{len(motifs) + 1}"
            motifs.append(FoundMotif(name, sign, counts, len(cluster.members), share, pieces.alphabet, background))
    return motifs


def _counted(pieces: Pieces, cluster: Cluster) -> npt.NDArray[np.int64]:
    """Return how many members have each residue at each position, wider than any member."""
    size, codes = pieces.alphabet.size, pieces.codes[cluster.members]
    if cluster.reverse.any():
        codes = codes.copy()
        codes[cluster.reverse] = pieces.alphabet.complement_codes[codes[cluster.reverse][:, ::-1]]
    shift = int(np.abs(cluster.offsets).max(initial=0))
    counts = np.zeros((codes.shape[1] + 2 * shift, size), dtype=np.int64)
    columns = shift + cluster.offsets[:, None] + np.arange(codes.shape[1])
    known = codes < size
    np.add.at(counts, (columns[known], codes[known]), 1)
    return counts


def _trimmed(counts: npt.NDArray[np.int64], background: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the stretch of columns with the greatest sum of information above `LEAST_BITS` in each.

    The information is relative to the background: Σ p·log2(p/b), less the bias of few members. Columns that less than
    half of the members cover are left out.
    """
    totals = counts.sum(axis=1)
    counts, totals = counts[2 * totals >= totals.max()], totals[2 * totals >= totals.max()]
    shares = counts / totals[:, None]
    bits = (shares * np.log2(np.where(shares > 0, shares, 1.0) / background)).sum(axis=1)
    bits -= (counts.shape[1] - 1) / (2 * np.log(2) * totals)
    sums = np.concatenate(([0.0], np.cumsum(bits - LEAST_BITS)))
    stretches = sums[None, :] - sums[:, None]
    start, stop = np.unravel_index(np.triu(stretches).argmax(), stretches.shape)
    return counts[start:stop]


def require_motifs(motifs: Sequence[FoundMotif], *, of_kmers: bool = False) -> None:
    """Raise ParameterError if there are no motifs.

    Parameters
    ----------
    motifs : sequence of FoundMotif
        As from `find_motifs`.
    of_kmers : bool
        They were looked for among the k-mers of a model, not in sequences.

    Raises
    ------
    ParameterError
        If there are none.
    """
    if not motifs:
        remedy = "train with longer k-mers" if of_kmers else "give more sequences, or a smaller --minimum"
        raise ParameterError("no motif was found", remedy=remedy)
