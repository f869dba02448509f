"""Random sequences and tables of the shapes that loops get wrong: nothing, one letter, around a vector's length."""

import numpy as np

from seqkern.sequences.alphabets import MASK, as_alphabet
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import FeatureTable, SimilarityTable
from seqkern.sequences.views import Segments

SHAPES = ("nothing", "tiny", "ones", "edges", "long", "one_letter", "masked", "all_masked", "related")
EDGES = (1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257)


def lengths_for(shape, rng, longest):
    """Return the lengths of the records of a shape."""
    if shape == "nothing":
        return np.zeros(rng.integers(1, 4), int)
    if shape == "tiny":
        return rng.integers(0, 4, size=rng.integers(1, 6))
    if shape == "ones":
        return np.ones(rng.integers(1, 130), int)
    if shape == "edges":
        return rng.choice(EDGES, size=rng.integers(1, 8))
    if shape == "long":
        return rng.integers(longest // 2, longest, size=rng.integers(1, 3))
    return rng.integers(1, 70, size=rng.integers(1, 20))


def codes_for(shape, lengths, size, rng):
    """Return the residues of each record, MASK among them."""
    ancestor = rng.integers(size, size=max(lengths, default=0))
    records = []
    for length in lengths:
        codes = rng.integers(size, size=length)
        if shape == "related":
            codes = np.where(rng.random(length) < 0.8, ancestor[:length], codes)
        elif shape == "one_letter":
            codes[:] = 0
        hidden = {"masked": 0.4, "all_masked": 1.0}.get(shape, 0.02)
        records.append(np.where(rng.random(length) < hidden, MASK, codes).astype(np.uint8))
    return records


def sequences(kernel, rng, shapes=SHAPES, longest=2000):
    """Return the name of a shape and a set of sequences that a kernel accepts."""
    shape = str(rng.choice(shapes))
    name = str(rng.choice(["dna", "protein"]))
    alphabet = as_alphabet(kernel.alphabet or ("dna" if getattr(kernel, "reverse_complement", False) else name))
    lengths = lengths_for(shape, rng, longest)
    if kernel.traits.equal_lengths:
        # odd examples have weights for 24 positions
        lengths = np.full(len(lengths), rng.choice([24, max(lengths)]))
    records = codes_for(shape, lengths, alphabet.size, rng)
    codes = np.concatenate(records)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    tracks = {name: _track(name, codes, alphabet.size, rng) for name in kernel.traits.tracks}
    cut = rng.integers(0, np.asarray(lengths) + 1)
    bounds = {"left": np.stack([0 * cut, cut], axis=1), "right": np.stack([cut, lengths], axis=1)}
    views = {name: Segments(np.asarray(own, dtype=np.int64), alphabet) for name, own in bounds.items()}
    ids = [f"s{i}" for i in range(len(lengths))]
    return shape, SequenceSet.from_offsets(codes, offsets, ids, alphabet, tracks, views=views)


def _track(name, codes, size, rng):
    """Return a track of random values: a profile, its log-odds, or two letters."""
    if name not in ("profile", "pssm"):
        return rng.integers(2, size=len(codes)).astype(np.uint8)
    profile = rng.dirichlet(np.full(size, 0.3), size=len(codes)) * 0.99 + 0.01 / size
    profile = profile.reshape(len(codes), size)
    return (profile if name == "profile" else 2 * np.log2(profile * size)).astype(np.float32)


def data_for(kernel, rng, shapes=SHAPES):
    """Return the name of a shape and random data of the kind that a kernel accepts."""
    if kernel.traits.accepts == "sequences":
        return sequences(kernel, rng, shapes)
    n, width = int(rng.integers(1, 40)), int(rng.choice([1, 2, 3, 7, 8, 9, 33]))
    values = rng.standard_normal((n, width)) * 10.0 ** rng.integers(-3, 4)
    values[rng.random(n) < 0.1] = 0
    if kernel.traits.accepts == "features":
        return "features", FeatureTable(values)
    return "similarities", SimilarityTable(values @ values.T)
