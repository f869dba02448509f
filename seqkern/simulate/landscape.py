"""Chromosomes without genes: domains of one GC content (isochores), few CpG, and copies of repeat families."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seqkern.sequences.alphabets import DNA

Codes = npt.NDArray[np.uint8]

#: GC content of domains, from poor to rich.
DOMAINS = (0.36, 0.39, 0.43, 0.48, 0.54)
DOMAIN_LENGTH = 20_000
#: Share of CpG that has become TpG or CpA.
DEPLETION = 0.75
REPEAT_LENGTH, SHORTEST_REPEAT = 300, 80
REPEAT_FAMILIES = 4
DIVERGENCE = 0.12
A, C, G, T = range(4)


def chromosome(
    rng: np.random.Generator, length: int, families: list[Codes], repeats: float
) -> tuple[Codes, npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    """Draw one chromosome.

    Parameters
    ----------
    rng : numpy.random.Generator
        Random number generator.
    length : int
        Bases.
    families : list of ndarray of uint8
        Ancestors of the repeats.
    repeats : float
        Share of bases in repeats, about.

    Returns
    -------
    codes : ndarray of uint8, shape (length,)
        Bases.
    masked : ndarray of bool, shape (length,)
        Which lie in repeats.
    gc : ndarray of float64, shape (length,)
        GC content of the domain of each base.
    """
    gc = np.zeros(length)
    start = 0
    while start < length:
        stop = start + max(DOMAIN_LENGTH // 4, int(rng.exponential(DOMAIN_LENGTH)))
        gc[start:stop] = rng.choice(DOMAINS)
        start = stop
    draws = rng.random(length)
    strong = rng.random(length) < gc
    codes = np.where(strong, np.where(draws < 0.5, C, G), np.where(draws < 0.5, A, T)).astype(np.uint8)
    _deplete(rng, codes)
    masked = np.zeros(length, dtype=bool)
    while families and masked.mean() < repeats:
        copy = _copy(rng, families[int(rng.integers(len(families)))])[:length]
        place = int(rng.integers(length - len(copy) + 1))
        codes[place : place + len(copy)] = copy
        masked[place : place + len(copy)] = True
    return codes, masked, gc


def repeat_families(rng: np.random.Generator) -> list[Codes]:
    """Draw the ancestors of the repeats.

    Parameters
    ----------
    rng : numpy.random.Generator
        Random number generator.

    Returns
    -------
    list of ndarray of uint8
    """
    families = []
    for _ in range(REPEAT_FAMILIES):
        gc = rng.uniform(0.38, 0.55)
        shares = np.array([1 - gc, gc, gc, 1 - gc]) / 2
        families.append(rng.choice(DNA.size, size=REPEAT_LENGTH, p=shares).astype(np.uint8))
    return families


def _deplete(rng: np.random.Generator, codes: Codes) -> None:
    """Turn most CpG into TpG or CpA."""
    places = np.flatnonzero((codes[:-1] == C) & (codes[1:] == G))
    places = places[rng.random(len(places)) < DEPLETION]
    first = rng.random(len(places)) < 0.5
    codes[places[first]] = T
    codes[places[~first] + 1] = A


def _copy(rng: np.random.Generator, ancestor: Codes) -> Codes:
    """Return a diverged copy of a part of a repeat, on either strand."""
    size = int(rng.integers(SHORTEST_REPEAT, len(ancestor) + 1))
    copy = ancestor[len(ancestor) - size :].copy()  # copies lose their first bases
    changed = rng.random(size) < DIVERGENCE
    copy[changed] = (copy[changed] + rng.integers(1, DNA.size, size=int(changed.sum()))) % DNA.size
    return DNA.complement_codes[copy[::-1]] if rng.random() < 0.5 else copy
