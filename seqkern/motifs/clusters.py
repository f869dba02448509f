"""Clusters of stretches of sequence: each stretch aligned to the mean of its cluster, at the best offset and strand.

The similarity of a stretch to a mean is the greatest cosine of their vectors over all offsets and both strands. A
stretch belongs to a cluster if it is more similar than `SHARE` of the same stretches with their residues in random
order. Clusters are found one after the other, each from the strongest stretch that is left, and grow until their
members stay the same; then clusters with similar means are merged. A cluster is kept if its strength, the sum over
its members of the similarity above the threshold, is more than `STRONGER` times that of any cluster found in the same
way among the stretches with their residues in random order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.motifs.pieces import Pieces

SHARE = 0.99
ROUNDS = 12
SIMILAR = 0.8
FAILURES = 60
NULL_ROWS = 1000
SEED = 2
STRONGER = 2.0

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cluster:
    """A cluster and how its members are aligned.

    Attributes
    ----------
    mean : ndarray of float64, shape (width, letters)
        Mean of the aligned vectors.
    members : ndarray of int64
        Indices of the stretches, ascending.
    offsets : ndarray of int64
        Place in the mean of the first residue of each member, as it is read.
    reverse : ndarray of bool
        Whether the member is read as its reverse complement.
    strength : float
        Sum over the members of their similarity above the threshold.
    """

    mean: Floats
    members: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    reverse: npt.NDArray[np.bool_]
    strength: float


class _Alignment:
    """All stretches as vectors, and the same with their residues in random order."""

    def __init__(self, pieces: Pieces, shift: int, rng: np.random.Generator, random: bool = False) -> None:
        self.width, self.letters, self.shift = pieces.width, pieces.alphabet.size, shift
        self.complement = pieces.alphabet.complement_codes[: self.letters] if pieces.both_strands else None
        self.vectors = pieces.shuffled(rng) if random else pieces.vectors()
        rows = np.unique(np.linspace(0, len(pieces) - 1, min(len(pieces), NULL_ROWS)).astype(np.int64))
        self.null = pieces.take(rows).shuffled(rng)

    def reversed(self, vectors: Floats) -> Floats:
        """Return vectors or a mean as on the other strand."""
        assert self.complement is not None
        return vectors[..., ::-1, :][..., self.complement]

    def compare(self, mean: Floats, vectors: Floats) -> tuple[Floats, npt.NDArray[np.int64]]:
        """Return the similarity of each vector to a mean, and at which of the offsets, the other strand's last."""
        norm = np.sqrt((mean**2).sum())
        strands = [mean] if self.complement is None else [mean, self.reversed(mean)]
        columns = np.concatenate([self._shifted(strand) for strand in strands]) / max(norm, np.finfo(float).tiny)
        found = vectors.reshape(len(vectors), -1) @ columns.T
        best = found.argmax(axis=1)
        return found[np.arange(len(found)), best], best

    def _shifted(self, mean: Floats) -> Floats:
        """Return the mean as seen from a stretch that begins at each offset, from -shift to shift."""
        padded = np.zeros((self.width + 2 * self.shift, self.letters))
        padded[self.shift : self.shift + self.width] = mean
        return np.stack([padded[k : k + self.width].ravel() for k in range(2 * self.shift + 1)])

    def places(self, best: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Return the offsets of members as they are read, and whether on the other strand."""
        other = best > 2 * self.shift
        offset = best % (2 * self.shift + 1) - self.shift
        return np.where(other, -offset, offset), other

    def mean(self, vectors: Floats, best: npt.NDArray[np.int64]) -> Floats:
        """Return the mean of vectors, each aligned as `compare` found best."""
        offsets, other = self.places(best)
        total = np.zeros((self.width + 2 * self.shift, self.letters))
        for offset in np.unique(offsets):
            for strand in (False, True):
                chosen = (offsets == offset) & (other == strand)
                if chosen.any():
                    added = vectors[chosen].sum(axis=0)
                    start = self.shift + offset
                    total[start : start + self.width] += self.reversed(added) if strand else added
        return total[self.shift : self.shift + self.width] / len(vectors)

    def grow(self, mean: Floats, rows: npt.NDArray[np.int64], least: int) -> Cluster | None:
        """Return the cluster around a mean among some stretches, or None if it has too few members."""
        before = np.zeros(0, dtype=np.int64)
        for _ in range(ROUNDS):
            threshold = np.quantile(self.compare(mean, self.null)[0], SHARE)
            similarity, best = self.compare(mean, self.vectors[rows])
            chosen = similarity > threshold
            if chosen.sum() < least:
                return None
            members, best = rows[chosen], best[chosen]
            if np.array_equal(members, before):
                break
            before = members
            mean = self.mean(self.vectors[members], best)
        offsets, other = self.places(best)
        return Cluster(mean, members, offsets, other, 0.0)


def find_clusters(pieces: Pieces, least: int, shift: int) -> list[Cluster]:
    """Return the clusters, largest sum of contributions first.

    Parameters
    ----------
    pieces : Pieces
        The stretches, strongest first.
    least : int
        Members of the smallest cluster.
    shift : int
        Greatest offset of a member.

    Returns
    -------
    list of Cluster
        Without common members.

    Examples
    --------
    >>> from seqkern.sequences.alphabets import DNA
    >>> codes = np.array([[0, 1, 2, 3, 3, 0], [1, 2, 3, 3, 0, 2], [3, 3, 3, 1, 1, 1]], dtype=np.uint8)
    >>> pieces = Pieces(codes, np.ones((3, 6)), 0, DNA, False)
    >>> clusters = find_clusters(pieces, least=2, shift=2)
    >>> [(one.members.tolist(), (one.offsets - one.offsets.min()).tolist()) for one in clusters]
    [([0, 1], [0, 1])]
    """
    if len(pieces) < least:
        return []
    rng = np.random.default_rng(SEED)
    chance = _clustered(_Alignment(pieces, shift, rng, random=True), len(pieces), least)
    limit = STRONGER * max((one.strength for one in chance), default=0.0)
    found = _clustered(_Alignment(pieces, shift, rng), len(pieces), least)
    sums = pieces.scores.sum(axis=1)
    kept = [one for one in found if one.strength > limit]
    return sorted(kept, key=lambda one: (-sums[one.members].sum(), one.members[0]))


def _clustered(alignment: _Alignment, n: int, least: int) -> list[Cluster]:
    """Return all clusters."""
    means = _seeds(alignment, n, least)
    while True:
        clusters = _assigned(alignment, means, least)
        merged = _merged(alignment, clusters)
        if len(merged) == len(means):
            return clusters
        means = merged


def _seeds(alignment: _Alignment, n: int, least: int) -> list[Floats]:
    """Return the means of clusters found one after the other, each among the stretches that the others leave."""
    left, means, failures, tried = np.arange(n), [], 0, np.zeros(n, dtype=bool)
    while len(left) >= least and failures < FAILURES:
        untried = left[~tried[left]]
        if not len(untried):
            break
        tried[untried[0]] = True
        found = alignment.grow(alignment.vectors[untried[0]], left, least)
        if found is None:
            failures += 1
            continue
        failures = 0
        means.append(found.mean)
        left = np.setdiff1d(left, found.members, assume_unique=True)
    return means


def _assigned(alignment: _Alignment, means: list[Floats], least: int) -> list[Cluster]:
    """Return the clusters of given means: each stretch goes to the mean that it exceeds the threshold of by most."""
    compared = [alignment.compare(mean, alignment.vectors) for mean in means]
    limits = [np.quantile(alignment.compare(mean, alignment.null)[0], SHARE) for mean in means]
    if not compared:
        return []
    excess = np.stack([similarity - limit for (similarity, _), limit in zip(compared, limits, strict=True)])
    owner = np.where(excess.max(axis=0) > 0, excess.argmax(axis=0), -1)
    clusters = []
    for number, (_, best) in enumerate(compared):
        members = np.flatnonzero(owner == number)
        if len(members) >= least:
            offsets, other = alignment.places(best[members])
            mean = alignment.mean(alignment.vectors[members], best[members])
            clusters.append(Cluster(mean, members, offsets, other, float(excess[number, members].sum())))
    return clusters


def _merged(alignment: _Alignment, clusters: list[Cluster]) -> list[Floats]:
    """Return the means after the two most similar were merged, again and again, while there are similar ones."""
    means = [one.mean for one in clusters]
    sizes = [len(one.members) for one in clusters]
    while len(means) > 1:
        closest = (0.0, 0, 0, np.zeros(1, dtype=np.int64))
        for i in range(len(means) - 1):
            others = np.stack(means[i + 1 :])
            others /= np.sqrt((others**2).sum(axis=(1, 2), keepdims=True))
            similarity, best = alignment.compare(means[i], others)
            j = int(similarity.argmax())
            if similarity[j] > closest[0]:
                closest = (float(similarity[j]), i, i + 1 + j, best[j : j + 1])
        similar, i, j, place = closest
        if similar < SIMILAR:
            break
        other = alignment.mean(means[j][None], place)
        means[i] = (sizes[i] * means[i] + sizes[j] * other) / (sizes[i] + sizes[j])
        sizes[i] += sizes[j]
        del means[j], sizes[j]
    return means
