"""What a model knows of its training samples: which they were, their lengths and composition, and their k-mers.

New samples are compared with it: those of the training itself, and those unlike any of it.
"""

from __future__ import annotations

import hashlib
import math
from binascii import Error, a2b_base64, b2a_base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from seqkern.core.errors import ModelError
from seqkern.core.types import Bools, Floats, Ints
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet, code_matrix, sequence_views
from seqkern.sequences.similarity import consensus, find_library
from seqkern.sequences.tables import FeatureTable

# Digests of the samples labelled in training, in a model's record, so that `suggest` does not suggest them again.

KEY = "labelled_samples"
MOST_SAMPLES = 100_000
"""Maximum number of samples with stored digests: more would take up most of many a model's file."""
DIGEST_BYTES = 6


def labelled_record(X: Any, labels: Labels) -> dict[str, str]:
    """Return the digests of labelled samples for a model's record; empty for more than `MOST_SAMPLES`."""
    rows = np.flatnonzero(labels.used())
    if labels.kind == "none" or len(rows) > MOST_SAMPLES or not isinstance(X, SequenceSet | FeatureTable):
        return {}
    found = sorted(set(_digests(X.take(rows))))
    return {KEY: b2a_base64(b"".join(found), newline=False).decode()}


def known_samples(record: Mapping[str, Any], X: Any) -> Bools | None:
    """Return a mask of the samples equal to one labelled in training, whatever their ids.

    It is None if the record does not say which samples had a label.
    """
    if KEY not in record:
        return None
    try:
        stored = a2b_base64(record[KEY])
    except (Error, TypeError, ValueError):
        stored = b"?"
    if len(stored) % DIGEST_BYTES:
        raise _corrupted()
    known = {stored[i : i + DIGEST_BYTES] for i in range(0, len(stored), DIGEST_BYTES)}
    return np.array([digest in known for digest in _digests(X)], dtype=bool)


def _corrupted() -> ModelError:
    """Return the error for a record that was not written by training."""
    return ModelError("has a corrupted record of its training samples", remedy="train it again")


def _digests(X: Any) -> list[bytes]:
    """Return a digest of each sample's residues or feature values."""
    if isinstance(X, FeatureTable):
        parts = [np.ascontiguousarray(row) for row in X.values]
    else:
        parts = [np.ascontiguousarray(X.codes[a:b]) for a, b in zip(X.starts, X.stops, strict=True)]
    return [hashlib.blake2b(part.data, digest_size=DIGEST_BYTES).digest() for part in parts]


# Ranges of the training sequences, in a model's record: lengths, GC content, and the share of known k-mers.
#
# A k-mer of a training sequence is known if another one has it, a k-mer of a new sequence if any has it. k is the
# largest for which the training sequences could hold every k-mer, so that the share says something.

RANGES, KMERS, VALUES, VARIANTS = "training_ranges", "training_kmers", "training_values", "training_variants"
QUANTILES = (0, 0.01, 0.5, 0.99, 1)
WIDER = 0.25
"""Share of the range from the 1% to the 99% quantile that is added at both ends: 3.5 σ of normal values."""
MOST, MOST_RESIDUES = 2000, 2_000_000
"""Training sequences, evenly spaced, and residues that are looked at."""
LEAST = 20
"""Training sequences of which quantiles say something."""
MOST_KMERS = 1 << 16


def ranges_record(X: Any) -> dict[str, Any]:
    """Return the ranges of training sequences for a model's record; empty for other samples."""
    if not isinstance(X, SequenceSet) or len(sequence_views(X)) > 1 or len(X) < LEAST:
        return {}
    some = first_residues(X.take(np.unique(np.linspace(0, len(X) - 1, MOST).astype(np.int64))))
    size = some.alphabet.size
    k = int(math.log(max(1, min(len(some.codes), MOST_KMERS)), max(2, size)) + 1e-9)
    values, record = _properties(some), dict[str, Any]()
    if k > 0:
        codes, rows = _kmers(some, k)
        own = np.unique(rows * size**k + codes) % size**k  # each once in a sequence
        counts = np.bincount(own, minlength=size**k)
        values["known"] = _share(counts[codes] > 1, rows, len(some))
        record[KMERS] = b2a_base64(np.packbits(counts > 0).tobytes(), newline=False).decode()
    library = find_library(X)
    if library is not None:
        own = X.take(X.lengths == library.length)
        residues = code_matrix(own)
        parent = consensus(residues, size)
        varied, most = np.flatnonzero((residues != parent).any(axis=0)), int((residues != parent).sum(axis=1).max())
        record[VARIANTS] = {"parent": parent.tolist(), "varied": varied.tolist(), "mutations": most}
    known = {name: given[~np.isnan(given)] for name, given in values.items()}
    ranges = {name: np.quantile(own, QUANTILES).round(6).tolist() for name, own in known.items() if len(own)}
    return record | {RANGES: ranges}


def first_residues(X: SequenceSet) -> SequenceSet:
    """Return the first sequences, with at most `MOST_RESIDUES` residues in all, as a compact set without tracks."""
    n = int(np.searchsorted(np.cumsum(X.lengths), MOST_RESIDUES, "right"))
    return X.take(slice(0, n)).replace(tracks={}).compact()


def outside(record: Mapping[str, Any], X: SequenceSet) -> dict[str, tuple[Bools, float, float]]:
    """Return, by property, a mask of the sequences outside the range of the training, and the range's ends.

    The sequences are compact (`first_residues`). Nothing is returned for a model of an earlier release, which has no
    ranges.
    """
    if RANGES not in record:
        return {}
    values, found = _properties(X), {}
    try:
        if KMERS in record:
            known = np.unpackbits(np.frombuffer(a2b_base64(record[KMERS]), dtype=np.uint8))
            codes, rows = _kmers(X, int(math.log(len(known), X.alphabet.size) + 1e-9))
            values["known"] = _share(known[codes], rows, len(X))
        for name in (name for name in values if name in record[RANGES]):
            _, low, _, high, _ = (float(quantile) for quantile in record[RANGES][name])
            low, high = max(0.0, low - WIDER * (high - low)), high + WIDER * (high - low)
            high = high if name == "length" else min(1.0, high)
            with np.errstate(invalid="ignore"):  # NaN: nothing to compare
                mask = (values[name] < low) | ((values[name] > high) & (name != "known"))
            found[name] = mask, low, high
        if VARIANTS in record:
            parent, fixed, most = (record[VARIANTS][name] for name in ("parent", "varied", "mutations"))
            rows = np.flatnonzero(X.lengths == len(parent))
            own = X.take(rows)
            differ = own.codes[own.positions()].reshape(len(own), len(parent)) != np.array(parent)
            masks = np.zeros((2, len(X)), dtype=bool)
            masks[0, rows], masks[1, rows] = np.delete(differ, fixed, axis=1).any(axis=1), differ.sum(axis=1) > most
            found |= {"positions": (masks[0], 0.0, 0.0), "mutations": (masks[1], 0.0, float(most))}
    except (Error, ArithmeticError, AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise _corrupted() from error
    return found


def _properties(X: SequenceSet) -> dict[str, Floats]:
    """Return the lengths and, for DNA and RNA, the GC content of compact sequences; NaN without a base."""
    values = {"length": X.lengths.astype(np.float64)}
    if X.alphabet.name in ("dna", "rna"):
        rows = np.repeat(np.arange(len(X)), X.lengths)
        strong = np.isin(X.codes, [X.alphabet.letters.index(letter) for letter in "CG"])
        known = X.codes < X.alphabet.size
        values["gc"] = _share(strong[known], rows[known], len(X))
    return values


def _kmers(X: SequenceSet, k: int) -> tuple[Ints, Ints]:
    """Return the number of each k-mer of compact sequences without masked residues, and the row of its sequence."""
    rows, n = np.repeat(np.arange(len(X)), X.lengths), max(0, len(X.codes) - k + 1)
    numbers, good = np.zeros(n, dtype=np.int64), rows[:n] == rows[k - 1 : k - 1 + n]
    for i in range(k):
        codes = X.codes[i : i + n]
        numbers = numbers * X.alphabet.size + codes
        good &= codes < X.alphabet.size
    return numbers[good], rows[:n][good]


def _share(known: Any, rows: Ints, n: int) -> Floats:
    """Return the share of known ones among what is in each of n rows; NaN where there is nothing."""
    counts = np.bincount(rows, minlength=n)
    return np.divide(np.bincount(rows, known, n), counts, out=np.full(n, np.nan), where=counts > 0)
