"""Test sequences with planted overlaps, to measure how many of them an audit finds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from seqkern.core.checks import check_choice, check_integer

LETTERS = {"dna": "ACGT", "protein": "ACDEFGHIKLMNPQRSTVWY"}
TURNED = str.maketrans("ACGT", "TGCA")
K = {"dna": 30, "protein": 12}
"""Number of residues of a planted stretch."""


def plant_overlaps(
    alphabet: str = "dna",
    n_train: int = 200,
    n_each: int = 20,
    *,
    shortest: int = 150,
    longest: int = 250,
    one_in: float = 80,
    seed: int = 1,
) -> tuple[list[str], list[str], list[str]]:
    """Return random training sequences, test sequences partly derived from them, and the kind of each overlap.

    >>> train, test, kinds = plant_overlaps(n_train=10, n_each=1)
    >>> kinds[:3], test[0] in train, test[2] in "".join(train)
    (['identical', 'reverse_complement', 'contained'], True, True)
    """
    check_choice("alphabet", alphabet, tuple(LETTERS))
    rng, letters, k = np.random.default_rng(seed), [*LETTERS[alphabet]], K[alphabet]

    def _draw(size: int) -> str:
        return "".join(rng.choice(letters, size))

    makers: dict[str, Callable[[str], str]] = {
        "identical": lambda text: text,
        "reverse_complement": lambda text: text.translate(TURNED)[::-1],
        "contained": lambda text: text[len(text) // 4 : 3 * len(text) // 4],
        "similar": lambda text: _substituted(text, one_in, letters, rng),
        "shared_kmer": lambda text: _draw(len(text) // 3) + text[:k] + _draw(len(text) // 3),
    }
    if alphabet != "dna":
        del makers["reverse_complement"]
    check_integer("n_train", n_train, n_each * len(makers))
    train = [_draw(size) for size in rng.integers(shortest, longest + 1, n_train)]
    kinds = [kind for kind in makers for _ in range(n_each)]
    sources = rng.permutation(n_train)[: len(kinds)]
    test = [makers[kind](train[source]) for kind, source in zip(kinds, sources.tolist(), strict=True)]
    test += [_draw(size) for size in rng.integers(shortest, longest + 1, len(kinds))]
    return train, test, kinds + [""] * len(kinds)


def _substituted(text: str, one_in: float, letters: Sequence[str], rng: np.random.Generator) -> str:
    """Return the text with one in `one_in` letters, but at least one, replaced by another."""
    result = [*text]
    for place in rng.choice(len(text), max(1, round(len(text) / one_in)), replace=False):
        result[place] = rng.choice([letter for letter in letters if letter != result[place]])
    return "".join(result)


def recall_and_precision(planted: Sequence[str], found: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return recall and precision for each kind of planted overlap; precision is NaN where nothing was found.

    >>> recall_and_precision(["similar", "similar", ""], ["similar", "", "similar"])
    {'similar': (0.5, 0.5)}
    """
    true, reported = np.array(planted), np.array(found)
    rates = {}
    for kind in dict.fromkeys(kind for kind in planted if kind):
        right, count = int(((true == kind) & (reported == kind)).sum()), int((reported == kind).sum())
        rates[kind] = (right / int((true == kind).sum()), right / count if count else math.nan)
    return rates
