"""Random values for the declared parameters of a kernel or solver, within their domains."""

import copy
import math
from contextlib import suppress

from seqkern.core.declarations import Choice, Flag, Integer, Numbers, NumbersByName, Real, is_listed
from seqkern.core.errors import ParameterError
from seqkern.core.parameters import Parameters

CHANGED = 0.3
"""Probability that a parameter differs from the example's."""
WIDTH = 7
"""Integers are drawn from the lowest allowed one to this many above."""
REFUSED = 20
"""Draws that may be refused, because parameters exclude each other, before the example itself is used."""
KEPT = ("n_threads", "tol", "tolerance", "epochs", "iterations")
"""Of computation, not of the problem."""
MOST_ITERATIONS = 1000
"""A solver that has not converged must decide by finite numbers too."""


def vary(example, rng):
    """Return a copy of an example with other parameters, also in the objects inside it."""
    for _ in range(REFUSED):
        varied = _varied(copy.deepcopy(example), rng)
        with suppress(ParameterError):
            varied.check_parameters()
            return varied
    return copy.deepcopy(example)


def _varied(owner, rng):
    """Set parameters of an object, which may exclude each other."""
    for name, item in owner.declarations().items():
        value = getattr(owner, name)
        if any(isinstance(one, Parameters) for one in (value if is_listed(value) else [value])):
            for one in value if is_listed(value) else [value]:
                _varied(one, rng)
        elif name == "max_iter":
            setattr(owner, name, min(value, MOST_ITERATIONS))
        elif name not in KEPT and rng.random() < CHANGED:
            setattr(owner, name, _draw(item, value, owner, rng))
    return owner


def _draw(item, value, owner, rng):
    """Return a random value of one parameter; what cannot be drawn stays."""
    if isinstance(item, Flag):
        return bool(rng.random() < 0.5)
    if isinstance(item, Choice):
        return item.choices[rng.integers(len(item.choices))]
    if isinstance(item, (Numbers, NumbersByName)) or not isinstance(item, (Integer, Real)):
        return value
    low, high = (getattr(owner, end) if isinstance(end, str) else end for end in (item.low, item.high))
    if isinstance(item, Integer):
        low = 0 if low is None else int(low)
        high = low + WIDTH if high is None else min(int(high), low + WIDTH)
        drawn = [int(one) for one in rng.integers(low, max(low, high) + 1, size=1 + item.several * rng.integers(3))]
        return sorted(set(drawn)) if item.several and len(set(drawn)) > 1 else drawn[0]
    if item.infinite and rng.random() < 0.1:
        return math.inf
    size = 10.0 ** rng.uniform(-3, 2)
    if low is None:
        return float(size * rng.choice([-1, 1]))
    return float(low + size if high is None else low + (high - low) * min(1.0, size))
