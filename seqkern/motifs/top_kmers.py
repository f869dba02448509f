"""K-mers of greatest weight, with the contribution of each of their residues."""

from __future__ import annotations

import numpy as np

from seqkern.models.kmer_table import KmerTables
from seqkern.motifs.pieces import Pieces

MOST_KMERS = 1000


def top_kmers(tables: KmerTables, sign: int, margin: int) -> Pieces:
    """Return those of the `MOST_KMERS` k-mers of greatest absolute weight that have one sign.

    Of a k-mer and its reverse complement it is only the first in alphabetical order, if both strands are counted. The
    contribution of a residue is what the weight loses on average if another residue takes its place.

    Parameters
    ----------
    tables : KmerTables
        Weights of k-mers; the longest are used.
    sign : {1, -1}
        Of the weights.
    margin : int
        As in `Pieces`; the residues there are unknown.

    Returns
    -------
    Pieces
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
