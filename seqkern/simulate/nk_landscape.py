"""NK landscapes: a value for each sequence, with a known best sequence (Kauffman, Levin 1987).

Each position of a ring contributes a random number that depends on its own letter and on the next K letters: the
larger K, the more rugged the landscape. As the neighbours are adjacent, dynamic programming around the ring finds the
best sequence. With deletions, a position without a letter is one more state; inserted letters are neutral. The value
of a variant follows from the mutations that made it, not from the best alignment of its letters.
"""

from dataclasses import dataclass

import numpy as np

from seqkern.core.checks import check_choice, check_integer, check_real
from seqkern.core.errors import ParameterError
from seqkern.core.types import Codes, Floats
from seqkern.sequences.alphabets import DNA, PROTEIN, Alphabet
from seqkern.sequences.sequence_set import SequenceSet

ALPHABETS = {"protein": PROTEIN, "dna": DNA}
MOST_PAIRS = 1 << 20
"""Maximum pairs of first and last neighbourhoods that the search for the best sequence follows."""
MOST_TRIES = 100
"""Maximum draws for each variant, until all differ."""


@dataclass(frozen=True, eq=False)
class NKLandscape:
    """An NK landscape, defined by the contributions of each position, shape (positions, states^(K + 1)).

    Kauffman, Levin: Towards a general theory of adaptive walks on rugged landscapes. Journal of Theoretical Biology
    128, 1987.
    """

    # shape (positions, states^(K + 1): What a position contributes, by its state and those of the next K positions, as
    # digits of a number
    shares: Floats
    states: int  # Letters, and one more if a letter may be deleted

    @classmethod
    def draw(cls, rng: np.random.Generator, positions: int, neighbours: int, states: int) -> "NKLandscape":
        """Return a landscape whose contributions are drawn uniformly from 0 to 1."""
        check_integer("n_positions", positions, 2)
        check_integer("n_neighbours", neighbours, 0)
        if neighbours >= positions:
            raise ParameterError(
                f"n_neighbours={neighbours} of {positions} positions", remedy="give fewer neighbours than positions"
            )
        if states ** (2 * neighbours) > MOST_PAIRS:
            raise ParameterError(
                f"with n_neighbours={neighbours} and {states} states of a position the best sequence is out of reach",
                remedy=f"choose at most {int(np.log(MOST_PAIRS) / np.log(states) / 2)} neighbours",
            )
        return cls(rng.random((positions, states ** (neighbours + 1))), states)

    @property
    def neighbours(self) -> int:
        """K, the number of following positions on which a contribution depends."""
        return round(np.log(self.shares.shape[1]) / np.log(self.states)) - 1

    def values(self, codes: Codes) -> Floats:
        """Return the value of each sequence, the mean of its positions' contributions."""
        windows = np.zeros(codes.shape, dtype=np.int64)
        for step in range(self.neighbours + 1):
            windows = windows * self.states + np.roll(codes, -step, axis=1)
        return np.asarray(self.shares[np.arange(codes.shape[1]), windows].mean(axis=1))

    def optimum(self) -> Codes:
        """Return the states of the best sequence, uint8 (positions,), by dynamic programming around the ring.

        For each choice of the first K states, the best sequences ending in each choice of K states are extended.
        """
        n, k, size = len(self.shares), self.neighbours, self.states
        if k == 0:
            return self.shares.argmax(axis=1).astype(np.uint8)
        wide, rest = size**k, size ** (k - 1)
        best = np.full((wide, wide), -np.inf)
        np.fill_diagonal(best, 0.0)
        came_from: list[Codes] = []  # the state that leaves the last K ones, for each first K, and last K after it
        for position in range(k, n):
            shares = self.shares[position - k].reshape(size, rest, size)
            before, best = best.reshape(wide, size, rest), np.full((wide, rest, size), -np.inf)
            leaving = np.zeros((wide, rest, size), dtype=np.uint8)
            for state in range(size):
                value = before[:, state, :, None] + shares[state]
                better = value > best
                leaving[better] = state
                np.maximum(best, value, out=best)
            best = best.reshape(wide, wide)
            came_from.append(leaving.reshape(wide, wide))
        first, last = np.arange(wide)[:, None], np.arange(wide)
        for step in range(k):  # windows that begin before the end of the ring and end behind its start
            window = (last % size ** (k - step)) * size ** (step + 1) + first // size ** (k - 1 - step)
            best = best + self.shares[n - k + step][window]
        start, end = np.unravel_index(int(best.argmax()), best.shape)
        return self._traced(int(start), int(end), came_from)

    def _traced(self, start: int, end: int, came_from: list[Codes]) -> Codes:
        """Return the best sequence with the given first and last K states."""
        k, size = self.neighbours, self.states
        found = [end // size**place % size for place in range(k)]  # from the last position on
        for leaving in reversed(came_from):
            state = int(leaving[start, end])
            end = state * size ** (k - 1) + end // size
            found.append(state)
        return np.array(found[::-1], dtype=np.uint8)


def nk_variants(
    rng: np.random.Generator,
    *,
    n_variants: int = 400,
    n_positions: int = 12,
    n_neighbours: int = 1,
    alphabet: str = "protein",
    mutations: float = 3.0,
    indels: float = 0.0,
    noise: float = 0.1,
    optimum: int = 0,
) -> tuple[SequenceSet, dict[str, list[str]]]:
    """Draw variants of a sequence, with values of an NK landscape.

    Parameters
    ----------
    rng : numpy.random.Generator
        Random number generator.
    n_variants : int
        Variants, all different, besides the wild type.
    n_positions : int
        N, letters of the wild type.
    n_neighbours : int
        K, how many of the next positions the contribution of a position depends on: 0 is additive, larger is more
        rugged.
    alphabet : str
        protein or dna.
    mutations : float
        Mean number of mutations of a variant, at least 1.
    indels : float
        Share of the mutations that are deletions and insertions of one letter, equally many; insertions are neutral.
    noise : float
        Standard deviation of the errors of labels, in units of the variants' own.
    optimum : int
        1 adds the best sequence, without noise, as the last record.

    Returns
    -------
    sequences : SequenceSet
        Ids ``wildtype``, ``variant1``, ``variant2``, …
    table : dict of str to list
        Columns ``label``, the value with noise; ``value``, without; ``of_optimum``, the value as a share of the best
        possible one.

    Raises
    ------
    ParameterError
        If a parameter is outside its domain, or there are too few different variants.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.simulate.nk_landscape import nk_variants
    >>> sequences, table = nk_variants(np.random.default_rng(1), n_variants=2, n_positions=5, optimum=1)
    >>> sequences.ids, table["of_optimum"][-1]
    (['wildtype', 'variant1', 'variant2', 'optimum'], '1')
    """
    check_integer("n_variants", n_variants, 1)
    check_choice("alphabet", alphabet, tuple(ALPHABETS))
    check_real("mutations", mutations, 1, 1000)
    for name, value, high in (("indels", indels, 1), ("noise", noise, 1000)):
        check_real(name, value, 0, high)
    check_integer("optimum", optimum, 0)
    letters = ALPHABETS[alphabet]
    landscape = NKLandscape.draw(rng, n_positions, n_neighbours, letters.size + (indels > 0))
    wild = rng.integers(letters.size, size=n_positions).astype(np.uint8)
    states, texts = _mutants(rng, wild, n_variants, letters, mutations, indels)
    values = landscape.values(np.array([wild, *states]))
    measured = values + noise * values.std() * rng.standard_normal(len(values))
    ids = ["wildtype", *(f"variant{i + 1}" for i in range(n_variants))]
    records = [_text(wild, letters), *texts]
    best = landscape.optimum()
    highest = float(landscape.values(best[None])[0])
    if optimum:
        ids, records = [*ids, "optimum"], [*records, _text(best, letters)]
        values, measured = np.append(values, highest), np.append(measured, highest)
    columns = {"label": measured, "value": values, "of_optimum": values / highest}
    table = {name: [f"{number:.6g}" for number in column] for name, column in columns.items()}
    return SequenceSet.from_strings(records, letters, ids), table


def _mutants(
    rng: np.random.Generator, wild: Codes, n: int, letters: Alphabet, mutations: float, indels: float
) -> tuple[list[Codes], list[str]]:
    """Return the states of n different variants, and their letters including inserted ones."""
    states: list[Codes] = []
    texts: list[str] = []
    seen = {_text(wild, letters)}
    for _ in range(MOST_TRIES * n):
        if len(texts) == n:
            return states, texts
        codes, text = _mutant(rng, wild, letters, mutations, indels)
        if text not in seen and text:
            seen.add(text)
            states.append(codes)
            texts.append(text)
    raise ParameterError(
        f"there are not {n} different variants with about {mutations:g} mutations",
        remedy="give fewer variants, or more mutations or positions",
    )


def _mutant(
    rng: np.random.Generator, wild: Codes, letters: Alphabet, mutations: float, indels: float
) -> tuple[Codes, str]:
    """Return the states and the letters of one variant."""
    n = min(len(wild), 1 + int(rng.poisson(mutations - 1)))
    codes = wild.copy()
    pieces = [""] * len(wild)
    for place in rng.choice(len(wild), size=n, replace=False):
        if rng.random() >= indels:
            codes[place] = (codes[place] + rng.integers(1, letters.size)) % letters.size
        elif rng.random() < 0.5:
            codes[place] = letters.size  # deleted
        else:
            pieces[place] = letters.letters[int(rng.integers(letters.size))]
    inserted = [piece + _text(codes[i : i + 1], letters) for i, piece in enumerate(pieces)]
    return codes, "".join(inserted)


def _text(states: Codes, letters: Alphabet) -> str:
    """Return the letters of states; deleted positions have none."""
    return "".join(letters.letters[state] for state in states if state < letters.size)
