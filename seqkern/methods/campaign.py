"""Design campaigns: all variants of a parent as a pool, and the replay of a campaign on a measured landscape."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, islice, product
from typing import Any, NamedTuple, cast

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.core.types import Codes, Floats, Ints
from seqkern.evaluation.auto import ONE_HOT, PROCESS, default_metric
from seqkern.kernels.kernel_specs import build_kernel, kernel_text
from seqkern.methods.acquisition import next_variants
from seqkern.methods.model import Model
from seqkern.methods.training import train_model
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet

# All variants of a parent with substitutions at some positions.

MOST_VARIANTS = 1_000_000
"""Largest number of variants of a parent among which to choose."""
CHUNK_RESIDUES, CHUNK_VARIANTS = 1 << 22, 1 << 15
"""Largest number of residues, and of variants, that are made at once."""


@dataclass(frozen=True, eq=False)
class MutantPool:
    """The variants of a parent with 1 to `most` substitutions, in the order of their number and their positions.

    >>> from seqkern.sequences.alphabets import DNA
    >>> pool = MutantPool.within("TAC", DNA, (0, 2), exclude="G")
    >>> pool.n, [name for X in pool.chunks() for name in X.ids]
    (8, ['T1A', 'T1C', 'C3A', 'C3T', 'T1A:C3A', 'T1A:C3T', 'T1C:C3A', 'T1C:C3T'])
    >>> pool.sequence("T1A:C3T"), pool.describe()
    ('AAT', '8 variants of 1 to 2 mutations at 2 positions; 7 others left out, which introduce G')
    """

    parent: str
    alphabet: Alphabet
    positions: tuple[int, ...]  # Counted from 0, increasing
    exclude: str = ""  # Residues that are never introduced
    most: int = 1

    @classmethod
    def within(
        cls, parent: str, alphabet: Alphabet, positions: Sequence[int], exclude: str = "", most: int | None = None
    ) -> MutantPool:
        """Return the pool of variants of at most `most` mutations; by default as many as `MOST_VARIANTS` allow."""
        pool = cls(parent, alphabet, tuple(positions), exclude)
        if not any(pool.letters):
            raise ParameterError("no variant is left", remedy="give more --positions, or fewer --keep and --exclude")
        counts = [int(count) for count in np.cumsum(pool.counts)]
        fitting = sum(count <= MOST_VARIANTS for count in counts[: most or None])
        wanted = min(most or max(fitting, 1), len(positions))
        if wanted > fitting:
            fewer = f"give --mutations {fitting}, or fewer --positions" if fitting else "give fewer --positions"
            raise ParameterError(
                f"there are {counts[wanted - 1]:,} variants of 1 to {wanted} mutations at {len(positions)} positions, "
                f"more than {MOST_VARIANTS:,}",
                remedy=fewer,
            )
        return replace(pool, most=wanted)

    @cached_property
    def letters(self) -> list[str]:
        """The residues that each position may be changed to."""
        usable = [letter for letter in self.alphabet.letters if letter not in self.exclude]
        return ["".join(letter for letter in usable if letter != self.parent[place]) for place in self.positions]

    @property
    def counts(self) -> list[int]:
        """The numbers of variants with 1, 2, … mutations, up to one at each position."""
        found = [1]  # coefficients of Π (1 + a x), for a residues of each position
        for letters in self.letters:
            found = [one + len(letters) * fewer for one, fewer in zip([*found, 0], [0, *found], strict=True)]
        return found[1:]

    @property
    def n(self) -> int:
        """The number of variants."""
        return sum(self.counts[: self.most])

    def describe(self) -> str:
        """Return a clause on the variants, and on those left out."""
        many = f"1 to {self.most} mutations" if self.most > 1 else "1 mutation"
        where = f"{len(self.positions):,} position{'s' * (len(self.positions) > 1)}"
        others = replace(self, exclude="").n - self.n
        left = f"; {others:,} others left out, which introduce {' or '.join(self.exclude)}" if others else ""
        return f"{self.n:,} variants of {many} at {where}{left}"

    def sequence(self, name: str) -> str:
        """Return the sequence of a variant from its name, such as A12C:G40D."""
        residues = list(self.parent)
        for mutation in name.split(":"):
            residues[int(mutation[1:-1]) - 1] = mutation[-1]
        return "".join(residues)

    def chunks(self) -> Iterator[SequenceSet]:
        """Yield the variants in sets of bounded size, named by their mutations."""
        parent = self.alphabet.encode(self.parent.encode())
        length, step = len(parent), max(1, min(CHUNK_VARIANTS, CHUNK_RESIDUES // len(self.parent)))
        codes = [self.alphabet.encode(letters.encode()) for letters in self.letters]
        names = [
            [f"{self.parent[place]}{place + 1}{letter}" for letter in letters]
            for place, letters in zip(self.positions, self.letters, strict=True)
        ]
        rows: list[Codes] = []
        ids: list[str] = []
        for own in (own for k in range(1, self.most + 1) for own in combinations(range(len(names)), k)):
            sizes, mutations = [len(codes[i]) for i in own], product(*(names[i] for i in own))
            for first in range(0, math.prod(sizes), step):
                digits = np.unravel_index(np.arange(first, min(first + step, math.prod(sizes))), sizes)
                made = np.tile(parent, (len(digits[0]), 1))
                for i, digit in zip(own, digits, strict=True):
                    made[:, self.positions[i]] = codes[i][digit]
                rows.append(made)
                ids += map(":".join, islice(mutations, len(made)))
                if len(ids) >= step:
                    yield self._set(rows, ids, length)
                    rows, ids = [], []
        if ids:
            yield self._set(rows, ids, length)

    def _set(self, rows: list[Codes], ids: list[str], length: int) -> SequenceSet:
        """Return some variants as a set."""
        offsets = np.arange(len(ids) + 1) * length
        return SequenceSet.from_offsets(np.concatenate(rows).ravel(), offsets, ids, self.alphabet)


def read_positions(text: str, length: int, option: str) -> list[int]:
    """Return positions counted from 0, increasing, of text such as 39-41,54, which counts from 1.

    >>> read_positions("54,39-41", 56, "--positions")
    [38, 39, 40, 53]
    """
    found: set[int] = set()
    for piece in text.split(","):
        match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", piece.strip())
        if match is None:
            raise ParameterError(f"{option}: {piece!r} is not a position", remedy="write for example 39-41,54")
        first, last = int(match[1]), int(match[2] or match[1])
        outside = next((end for end in (first, last) if not 1 <= end <= length), None)
        if outside is not None:
            raise ParameterError(
                f"{option}: position {outside} is not in the parent, which has {length} residues",
                remedy=f"give positions from 1 to {length}",
            )
        if first > last:
            raise ParameterError(f"{option}: {piece!r} ends before it begins", remedy=f"write {last}-{first}")
        found.update(range(first - 1, last))
    return sorted(found)


# The replay of a campaign on a landscape whose values are all known.

STRATEGIES = ("model", "greedy", "ridge", "random")
"""The acquisition and the largest mean of one Gaussian process, the largest mean of a one-hot ridge regression, and
chance."""
Specs = Sequence[Mapping[str, Any]]
KERNELS: Specs = {"kernel": "likelihood", "base": {"kernel": "lock"}, "starts": 1}, *ONE_HOT
"""The kernels of the Gaussian process, one of which is chosen in each round by its evidence."""
REPEATS, TOP = 5, 0.01
"""Number of campaigns from other random starts, and the share of the best variants that are looked for."""


class Round(NamedTuple):
    """What a strategy has found after a round, the mean over the repeats."""

    round: int
    measured: int
    strategy: str
    best: float
    top: float  # The share found of the best variants, those of `TOP`


def replay(
    X: SequenceSet,
    y: Floats,
    n: int,
    *,
    start: int | None = None,
    rounds: int = 4,
    acquisition: str = "ucb",
    minimize: bool = False,
    kappa: float = 2.0,
    seed: int = 1,
    n_threads: int | None = None,
) -> list[Round]:
    """Return what strategies would have found in `rounds` rounds, `start` random variants and then n chosen ones.

    Parameters are learned anew in each round from what is measured so far. Until two values differ, choices are random.
    """
    start = n if start is None else start
    if start + (rounds - 1) * n > len(X):
        raise ParameterError(
            f"{rounds} rounds would measure {start + (rounds - 1) * n:,} variants, but there are {len(X):,}",
            remedy="give a smaller -n, --start or --rounds",
        )
    if np.ptp(X.lengths) > 0:
        raise ParameterError(
            f"the variants have {X.lengths.min()} to {X.lengths.max()} residues",
            remedy="give variants of one length, without insertions and deletions",
        )
    sign = -1.0 if minimize else 1.0
    wanted = sign * y >= np.sort(sign * y)[-math.ceil(TOP * len(y))]
    found = np.empty((REPEATS, len(STRATEGIES), rounds, 2))
    for repeat in range(REPEATS):
        order = np.random.default_rng([seed, repeat]).permutation(len(X))
        models: dict[tuple[int, bytes], Model] = {}  # `model` and `greedy` share that of the start
        for s, strategy in enumerate(STRATEGIES):
            measured = order[:start]
            for r in range(rounds):
                if r:
                    more = order[~np.isin(order, measured)]
                    if strategy != "random" and np.ptp(y[measured]) > 0:
                        kernels = ONE_HOT[:1] if strategy == "ridge" else KERNELS
                        rule, width = (acquisition, kappa) if strategy == "model" else ("ucb", 0.0)
                        key = len(kernels), measured.tobytes()
                        if key not in models:
                            models[key] = _trained(X, y, measured, kernels, n_threads)
                        given: dict[str, Any] = {"acquisition": rule, "minimize": minimize, "kappa": width}
                        rest = X.take(more).compact()
                        more = more[next_variants(models[key], [rest], n, **given, seed=seed, n_threads=n_threads).rows]
                    measured = np.concatenate([measured, more[:n]])
                best = sign * (sign * y[measured]).max()
                found[repeat, s, r] = best, wanted[measured].sum() / wanted.sum()
    means = found.mean(axis=0).tolist()
    return [Round(r + 1, start + r * n, name, *means[s][r]) for r in range(rounds) for s, name in enumerate(STRATEGIES)]


def _trained(X: SequenceSet, y: Floats, rows: Ints, kernels: Specs, n_threads: int | None) -> Model:
    """Return a Gaussian process of some samples, with the kernel of the greatest evidence."""
    own = X.take(rows).compact()
    named, labels = {kernel_text(one): one for one in map(build_kernel, kernels)}, Labels(own.ids, y[rows], "real")
    options: dict[str, Any] = {"metric": default_metric(PROCESS), "allow_similar": True, "n_threads": n_threads}
    return cast("Model", train_model(own, labels, named, PROCESS, **options))
