"""Motifs of a model: clusters of seqlets or of k-mers, as matrices of counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any, Self

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.core.threads import one_thread
from seqkern.core.types import Bools, Codes, Floats, Ints
from seqkern.evaluation.selection import inner_folds
from seqkern.kernels.models.patterns import Matrix, ambiguity_codes
from seqkern.methods.explanation import Explainer
from seqkern.methods.loading import kmer_tables
from seqkern.methods.method import Method
from seqkern.methods.model import Model
from seqkern.methods.table_model import KmerTables
from seqkern.methods.training import collect_training_data, group_samples
from seqkern.sequences.alphabets import DNA, RNA, Alphabet
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers.contract import clone

# Stretches of sequence of one width, with the contribution of each residue: the input of clustering.


@dataclass(frozen=True, eq=False)
class Pieces:
    """Stretches of one width, strongest first, with `margin` more residues on either side.

    The margins count in matrices but not in similarities; codes from the alphabet size on are masked, or lie beyond the
    end of the sequence.
    """

    # shape (n, width + 2·margin): Residues, with `margin` more on either side, which count in matrices but not in
    # similarities; codes from the alphabet size on are masked, or lie beyond the end of the sequence
    codes: Codes
    scores: Floats  # shape (n, width): Contributions of the residues to the class, not below 0
    margin: int  # Residues on either side without a contribution
    alphabet: Alphabet  # Of the residues
    both_strands: bool  # Whether a stretch may be read as its reverse complement
    records: Ints | None = None  # shape (n,): Their sequences; None for k-mers

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def width(self) -> int:
        """Number of residues with contributions."""
        return self.scores.shape[1]

    def take(self, rows: Ints) -> Self:
        """Return some of the stretches."""
        return replace(self, codes=self.codes[rows], scores=self.scores[rows], records=None)

    def vectors(self, codes: Codes | None = None) -> Floats:
        """Return each stretch as a unit vector, (n, width, letters): each contribution in the column of its residue."""
        if codes is None:
            codes = self.codes[:, self.margin : self.margin + self.width]
        out: Floats = (codes[:, :, None] == np.arange(self.alphabet.size)) * self.scores[:, :, None]
        norms = np.sqrt((out**2).sum(axis=(1, 2)))
        return out / np.maximum(norms, np.finfo(float).tiny)[:, None, None]

    def shuffled(self, rng: np.random.Generator) -> Floats:
        """Return `vectors` with the residues of each stretch in random order and the contributions in place."""
        codes = self.codes[:, self.margin : self.margin + self.width]
        return self.vectors(rng.permuted(codes, axis=1))


# Clusters of stretches of sequence: each stretch aligned to the mean of its cluster, at the best offset and strand.
#
# The similarity of a stretch to a mean is the greatest cosine of their vectors over all offsets and both strands. A
# stretch belongs to a cluster if it is more similar than `SHARE` of the same stretches with shuffled residues. Clusters
# are found one after the other, each from the strongest remaining stretch, and grow until their members stay the same;
# then clusters with similar means are merged. A cluster is kept if its strength, the sum over its members of the
# similarity above the threshold, is more than `STRONGER` times that of any cluster found in the same way among the
# shuffled stretches.

SHARE = 0.99
ROUNDS = 12
SIMILAR = 0.8
FAILURES = 60
NULL_ROWS = 1000
SEED = 2
STRONGER = 2.0


@dataclass(frozen=True, eq=False)
class Cluster:
    """A cluster and the alignment of its members."""

    mean: Floats  # shape (width, letters): Mean of the aligned vectors
    members: Ints  # Indices of the stretches, ascending
    offsets: Ints  # Place in the mean of the first residue of each member, as it is read
    reverse: Bools  # Whether the member is read as its reverse complement
    strength: float  # Sum over the members of their similarity above the threshold


class _Alignment:
    """All stretches as vectors, and the same stretches with shuffled residues."""

    def __init__(self, pieces: Pieces, shift: int, rng: np.random.Generator, random: bool = False) -> None:
        self.width, self.letters, self.shift = pieces.width, pieces.alphabet.size, shift
        self.complement = pieces.alphabet.complement_codes[: self.letters] if pieces.both_strands else None
        self.vectors = pieces.shuffled(rng) if random else pieces.vectors()
        rows = np.unique(np.linspace(0, len(pieces) - 1, min(len(pieces), NULL_ROWS)).astype(np.int64))
        self.null = pieces.take(rows).shuffled(rng)

    def reversed(self, vectors: Floats) -> Floats:
        """Return vectors or a mean as read on the other strand."""
        assert self.complement is not None
        return vectors[..., ::-1, :][..., self.complement]

    def compare(self, mean: Floats, vectors: Floats) -> tuple[Floats, Ints]:
        """Return the similarity of each vector to a mean, and the index of its best offset, the other strand's last."""
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

    def places(self, best: Ints) -> tuple[Ints, Bools]:
        """Return the members' offsets as they are read, and whether each is on the other strand."""
        other = best > 2 * self.shift
        offset = best % (2 * self.shift + 1) - self.shift
        return np.where(other, -offset, offset), other

    def mean(self, vectors: Floats, best: Ints) -> Floats:
        """Return the mean of vectors, each at the best alignment that `compare` found."""
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

    def grow(self, mean: Floats, rows: Ints, least: int) -> Cluster | None:
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
    """Return the clusters, largest sum of contributions first."""
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
    """Return all clusters, after merging similar ones until no two are similar."""
    means = _seeds(alignment, n, least)
    while True:
        clusters = _assigned(alignment, means, least)
        merged = _merged(alignment, clusters)
        if len(merged) == len(means):
            return clusters
        means = merged


def _seeds(alignment: _Alignment, n: int, least: int) -> list[Floats]:
    """Return the means of clusters found one after the other, each among the stretches that the earlier ones leave."""
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
    """Return the clusters of given means: each stretch goes to the mean whose threshold it exceeds most."""
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
    """Return the means after repeatedly merging the two most similar, until no two are similar."""
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


# Seqlets: stretches of sequences whose contributions to the decision exceed those of random sequences.
#
# A window's sum of contributions is compared with the sums in random sequences, drawn from a Markov chain with each
# sequence's frequencies of pairs of residues. The threshold is the lowest at which the windows of random sequences are
# at most a share `FALSE_DISCOVERIES` of the windows of the sequences (seqlets as in TF-MoDISco: Shrikumar et al.,
# arXiv:1811.00416, 2018, with another null).

FALSE_DISCOVERIES = 0.2
MOST_SEQLETS = 10_000
SEQLETS_SEED = 1
FOLDS, PERMUTATIONS = 5, 5
SHARE_OF_SUM = 0.98 ** (-1 / PERMUTATIONS) - 1
"""Share of the sum of the permutations' smallest p-values that the smallest of another search falls below in 2 %."""


class Contributions:
    """Contributions of the residues of sequences, and of random sequences of similar composition.

    With classes, those of models that have not seen a sequence: a model's own training samples hold what it memorised.
    """

    def __init__(
        self, explainer: Explainer, X: SequenceSet, y: Ints | None = None, like: Contributions | None = None
    ) -> None:
        self.explainer, self.X = explainer, X.compact()
        self.both_strands = explainer.both_strands
        self.null: Floats | None = None
        if y is None:
            self.scores = _contributions(explainer, self.X)
            self.null = _contributions(explainer, random_like(self.X, np.random.default_rng(SEQLETS_SEED)))
            return
        self.scores, model = np.zeros(len(self.X.codes)), explainer.model
        labels = make_labels(self.X.ids, [model.classes[code] for code in y.tolist()], classes=model.classes)
        method = Method(model.kernel, model.solver.spec(), transforms=[clone(one) for one in model.transforms])
        if like is None:
            self.data = collect_training_data(method, self.X, labels, kept=group_samples(labels, self.X))
        else:  # the same sequences with other classes: their kernel matrix and groups are known
            self.data = replace(like.data, labels=replace(labels, groups=like.data.labels.groups))
        found = self.data.labels.groups
        groups = np.arange(len(X)) if found is None else found
        for train, rows in inner_folds(self.data.labels, FOLDS, SEQLETS_SEED, groups):
            own: Any = method.fit(self.data, train).model()
            part = self.X.take(rows)
            self.scores[part.positions()] = _contributions(Explainer(own), part)

    @property
    def total(self) -> float:
        """Sum of the absolute contributions."""
        return float(np.abs(self.scores).sum())

    def seqlets(self, sign: int, window: int, flank: int, margin: int) -> Pieces:
        """Return the seqlets of one sign, strongest first, at most `MOST_SEQLETS`; with classes as many as sequences.

        Each is a window of residues whose contributions are added, with `flank` residues on either side; the
        windows of two seqlets do not overlap.
        """
        sums = _window_sums(sign * self.scores, self.X, window)
        most, threshold = min(len(self.X), MOST_SEQLETS), float(np.finfo(float).tiny)
        if self.null is not None:
            most, threshold = MOST_SEQLETS, _threshold(sums, _window_sums(sign * self.null, self.X, window))
        starts = _peaks(sums, threshold, window)[:most]
        size, wide = self.X.alphabet.size, flank + margin
        offsets = np.arange(-wide, window + wide)
        places = starts[:, None] + offsets
        record = np.searchsorted(self.X.stops, starts, side="right")
        inside = (places >= self.X.starts[record][:, None]) & (places < self.X.stops[record][:, None])
        places = np.where(inside, places, 0)
        codes = np.where(inside, self.X.codes[places], np.uint8(size)).astype(np.uint8)
        scores = np.where(inside, np.maximum(sign * self.scores[places], 0.0), 0.0)[:, margin:-margin]
        return Pieces(codes, scores, margin, self.X.alphabet, self.both_strands, record)


def _contributions(explainer: Explainer, X: SequenceSet) -> Floats:
    """Return the contributions of all residues, computed in batches of bounded size."""
    return np.concatenate([np.zeros(0), *(explainer.letters(piece)[1] for piece in explainer.pieces(X))])


def random_like(X: SequenceSet, rng: np.random.Generator) -> SequenceSet:
    """Return random sequences, each with the length and about the residue-pair frequencies of its own sequence.

    Each is drawn from a Markov chain with the transitions counted in its own sequence; masked residues stay masked.

    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> random_like(as_sequences(["ACACACACAC", "GGGGG"], "dna"), np.random.default_rng(1)).strings()
    ['ACACACACAC', 'GGGGG']
    """
    X, size = X.compact(), X.alphabet.size
    drawn = X.codes.copy()
    for rows in _batches(X, 2_000_000 // size**2):
        part = X.take(rows).compact()
        record = np.repeat(np.arange(len(part)), part.lengths)
        known = np.minimum(part.codes, size)
        counts = np.zeros((len(part), size + 1, size))
        follows = np.flatnonzero((record[1:] == record[:-1]) & (known[1:] < size))
        np.add.at(counts, (record[follows], known[follows], known[follows + 1]), 1.0)
        single = np.zeros((len(part), size))
        np.add.at(single, (record[known < size], known[known < size]), 1.0)
        counts += np.where(counts.sum(axis=2, keepdims=True) > 0, 0.0, single[:, None] + 1e-9)
        steps = np.cumsum(counts, axis=2) / counts.sum(axis=2, keepdims=True)
        steps[:, :, -1] = 1.0
        draws = rng.random(len(part.codes))
        state = np.full(len(part), size)
        for place in range(int(part.lengths.max(initial=0))):
            alive = np.flatnonzero(part.lengths > place)
            at = part.starts[alive] + place
            chosen = (steps[alive, state[alive]] < draws[at, None]).sum(axis=1)
            if place == 0:  # the first residue stays, as with shuffles that keep pairs
                chosen = known[at].astype(np.int64)
            masked = known[at] == size
            state[alive] = np.where(masked, size, chosen)
            drawn[X.starts[rows][alive] + place] = np.where(masked, part.codes[at], chosen)
    return SequenceSet.from_offsets(drawn, np.concatenate(([0], np.cumsum(X.lengths))), X.ids, X.alphabet)


def _batches(X: SequenceSet, most: int) -> Iterator[slice]:
    """Yield slices of at most `most` records."""
    for start in range(0, len(X), max(1, most)):
        yield slice(start, min(start + max(1, most), len(X)))


def _window_sums(scores: Floats, X: SequenceSet, window: int) -> Floats:
    """Return the sum over the window that starts at each residue; -inf where it extends beyond its sequence."""
    sums = np.full(len(scores), -np.inf)
    running = np.concatenate(([0.0], np.cumsum(scores)))
    room = np.repeat(X.stops, X.lengths) - np.arange(len(scores))
    starts = np.flatnonzero(room >= window)
    sums[starts] = running[starts + window] - running[starts]
    return sums


def _threshold(sums: Floats, null: Floats) -> float:
    """Return the lowest threshold above 0 with at most the share `FALSE_DISCOVERIES` of random windows; inf if none."""
    real, random = np.sort(sums[sums > 0])[::-1], np.sort(null[null > 0])[::-1]
    above = np.searchsorted(-random, -real, side="right")
    good = np.flatnonzero(above <= FALSE_DISCOVERIES * np.arange(1, len(real) + 1))
    return float(real[good[-1]]) if len(good) else np.inf


def _peaks(sums: Floats, threshold: float, window: int) -> Ints:
    """Return the starts of non-overlapping windows with sums of at least the threshold, greatest sum first."""
    found = np.flatnonzero(sums >= threshold)
    order = found[np.argsort(-sums[found], kind="stable")]
    taken = np.zeros(len(sums) + window, dtype=bool)
    kept = []
    for start in order.tolist():
        if not taken[start] and not taken[start + window - 1]:
            taken[start : start + window] = True
            kept.append(start)
    return np.array(kept, dtype=np.int64)


# K-mers of greatest weight, with the contribution of each of their residues.

MOST_KMERS = 1000


def top_kmers(tables: KmerTables, sign: int, margin: int) -> Pieces:
    """Return the k-mers of one sign among the `MOST_KMERS` of greatest absolute weight.

    If both strands are counted, only the alphabetically first of a k-mer and its reverse complement is taken. The
    contribution of a residue is the average loss in weight if another residue takes its place.
    """
    length, size = max(tables.tables), tables.alphabet.size
    weights = tables.tables[length]
    units = size ** np.arange(length - 1, -1, -1)
    most = min(len(weights), 2 * MOST_KMERS)
    codes = np.argpartition(-np.abs(weights), most - 1)[:most]
    digits = codes[:, None] // units % size
    if tables.both_strands:
        first = codes <= tables.alphabet.complement_codes[digits[:, ::-1]].astype(np.int64) @ units
        codes, digits = codes[first], digits[first]
    order = np.lexsort((codes, -np.abs(weights[codes])))[:MOST_KMERS]
    order = order[sign * weights[codes[order]] > 0]
    codes, digits = codes[order], digits[order]
    scores = np.zeros(digits.shape)
    for place, unit in enumerate(units):
        others = codes - digits[:, place] * unit
        mean = np.mean([weights[others + letter * unit] for letter in range(size)], axis=0)
        scores[:, place] = np.maximum(sign * (weights[codes] - mean), 0.0)
    wide = np.full((len(codes), length + 2 * margin), size, dtype=np.uint8)
    wide[:, margin : margin + length] = digits
    return Pieces(wide, scores, margin, tables.alphabet, tables.both_strands)


WINDOW, FLANK, MARGIN = 10, 6, 10
LEAST_BITS = 0.3
SHORTEST = 4
LEAST_MEMBERS = 10
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
        Counts of residues at each position.
    sites : int
        Seqlets, or k-mers.
    share : float
        Share of the sum of absolute contributions, or of the weights of the k-mers of its sign.
    alphabet : Alphabet
        Alphabet of the residues.
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
    counts: Ints
    sites: int
    share: float
    alphabet: Alphabet
    background: Floats

    @property
    def probabilities(self) -> Floats:
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

    def _letter(self, shares: Floats) -> str:
        """Return the consensus letter of one position."""
        letters = self.alphabet.letters
        top = letters[int(shares.argmax())]
        if self.alphabet not in (DNA, RNA):
            return top if shares.max() >= 0.5 else "x"
        common = "".join(letter for letter, share in zip(letters, shares, strict=True) if share >= COMMON)
        if shares.max() >= 0.7 or not common:
            return top
        return {letters: code for code, letters in ambiguity_codes(self.alphabet).items()}.get(common, common)


def find_motifs(
    model: Model | Explainer,
    X: SequenceSet | None = None,
    y: Ints | None = None,
    *,
    pair: str | None = None,
    least: int = LEAST_MEMBERS,
) -> list[FoundMotif]:
    """Return the motifs of a model, the positive class's first.

    Parameters
    ----------
    model : Model
        A model of sequences.
    X : SequenceSet, optional
        Sequences in which to find seqlets; by default the motifs are made of the k-mers of greatest weight.
    y : ndarray of int64, optional
        The class of each sequence, 0 or 1, for those that the model was trained on: each is then explained by a model
        trained on the other folds, and motifs must be significantly more frequent in their class.
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
    >>> from seqkern.methods.training import train_model
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
        return _kmer_motifs(explainer, least)
    with one_thread():  # many products of small matrices
        return _motifs(Contributions(explainer, explainer.coerce(X), y), y, least)


def _motifs(contributions: Contributions, y: Ints | None, least: int) -> list[FoundMotif]:
    """Return the motifs of the seqlets of sequences."""
    codes = contributions.X.codes
    alphabet = contributions.X.alphabet
    counts = np.bincount(codes[codes < alphabet.size], minlength=alphabet.size) + 1.0
    if contributions.both_strands:
        counts = counts + counts[alphabet.complement_codes[: alphabet.size]]
    seqlets = {sign: contributions.seqlets(sign, WINDOW, FLANK, MARGIN) for sign in (1, -1)}
    clusters = {sign: find_clusters(own, least, own.width // 2) for sign, own in seqlets.items()}
    if y is not None:
        clusters = _significant(contributions, seqlets, clusters, y, least)
    motifs = []
    for sign, own in seqlets.items():
        motifs += _motifs_of_sign(own, clusters[sign], sign, contributions.total, counts / counts.sum())
    return motifs


def _significant(
    real: Contributions, seqlets: Mapping[int, Pieces], clusters: Mapping[int, list[Cluster]], y: Ints, least: int
) -> dict[int, list[Cluster]]:
    """Return the clusters that are significantly more frequent in their class than clusters of permuted classes.

    The search finds the motifs with the smallest of many p-values. Where these are as good as N independent ones, N
    times the smallest is exponential with mean 1 in each search, and the level is exact for any N.
    """
    rng, smallest = np.random.default_rng(SEED), np.ones(PERMUTATIONS)
    p_values = {
        sign: [_enrichment(seqlets[sign], one, y == (sign > 0)) for one in found] for sign, found in clusters.items()
    }
    for i in range(PERMUTATIONS if min((1.0, *p_values[1], *p_values[-1])) <= SHARE_OF_SUM * PERMUTATIONS else 0):
        permuted = rng.permutation(y)
        other = Contributions(real.explainer, real.X, permuted, real)
        for sign in (1, -1):
            own = other.seqlets(sign, WINDOW, FLANK, MARGIN)
            if len(own) >= least:
                found = _clustered(_Alignment(own, own.width // 2, rng), len(own), least)
                smallest[i] = min([smallest[i], *(_enrichment(own, one, permuted == (sign > 0)) for one in found)])
    limit = SHARE_OF_SUM * smallest.sum()
    pairs = {sign: zip(found, p_values[sign], strict=True) for sign, found in clusters.items()}
    return {sign: [one for one, p in own if p <= limit] for sign, own in pairs.items()}


def _enrichment(pieces: Pieces, cluster: Cluster, own: Bools) -> float:
    """Return the p-value of Fisher's exact test: sequences of the class `own` among those with a member."""
    assert pieces.records is not None
    held = np.unique(pieces.records[cluster.members])
    n, size, inside, shared = len(own), int(own.sum()), len(held), int(own[held].sum())
    ways = sum(comb(size, k) * comb(n - size, inside - k) for k in range(shared, min(size, inside) + 1))
    return ways / comb(n, inside)


def support_classes(model: Model) -> Ints | None:
    """Return the class of each support sequence of a C-SVM or ν-SVM, 0 or 1; None for other models."""
    if model.kind != "binary" or model.solver.name not in ("csvc", "nusvc"):
        return None
    coefficients = np.asarray(model.solver.linear()[0])
    fewest = min((coefficients > 0).sum(), (coefficients < 0).sum())
    return (coefficients > 0).astype(np.int64) if coefficients.all() and fewest >= FOLDS else None


def _kmer_motifs(explainer: Explainer, least: int) -> list[FoundMotif]:
    """Return the motifs of the k-mers of greatest weight."""
    tables = kmer_tables(explainer.model)
    size = tables.alphabet.size
    found = {sign: top_kmers(tables, sign, MARGIN) for sign in (1, -1)}
    total = sum(float(kmers.scores.sum()) for kmers in found.values())
    motifs = []
    for sign, kmers in found.items():
        motifs += _motifs_of_sign(
            kmers, find_clusters(kmers, least, kmers.width // 2), sign, total, np.full(size, 1 / size)
        )
    return motifs


def _motifs_of_sign(
    pieces: Pieces, clusters: list[Cluster], sign: int, total: float, background: Floats
) -> list[FoundMotif]:
    """Return the motifs of one sign, largest share first."""
    motifs: list[FoundMotif] = []
    for cluster in clusters:
        counts = _trimmed(_counted(pieces, cluster), background)
        if len(counts) >= SHORTEST:
            share = float(pieces.scores[cluster.members].sum()) / total
            name = f"{'positive' if sign > 0 else 'negative'}_{len(motifs) + 1}"
            motifs.append(FoundMotif(name, sign, counts, len(cluster.members), share, pieces.alphabet, background))
    return motifs


def _counted(pieces: Pieces, cluster: Cluster) -> Ints:
    """Return the counts of each residue at each position among the members, over a stretch wider than any member."""
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


def _trimmed(counts: Ints, background: Floats) -> Ints:
    """Return the stretch of columns with the greatest total information, each column counted less `LEAST_BITS`.

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
    """Raise ParameterError if there are no motifs."""
    if not motifs:
        remedy = "train with longer k-mers" if of_kmers else "give more sequences, or a smaller --minimum"
        raise ParameterError("no motif was found", remedy=remedy)
