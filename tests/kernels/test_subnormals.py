"""Loops that take subnormal numbers as zero: faster, with the same results, and without a trace afterwards."""

import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from seqkern import SequenceSet
from seqkern.core.errors import SequenceError
from seqkern.kernels import LocalAlignmentKernel, StringKernel
from seqkern.kernels.products import _product

TINY = 2.0**-1074


def keeps_subnormals():
    """Return whether this thread still computes with subnormal numbers, as operands and as results."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy's finfo warns where they are zero
        known = np.finfo(np.float64).smallest_subnormal == TINY
    one = np.float64(2.0)
    return bool(known and np.float64(TINY) * one == 2 * TINY and np.float64(2.0**-1022) / one == 2.0**-1023)


def proteins(n, length, seed=0):
    """Return n random proteins of a length."""
    letters = np.array(list("ACDEFGHIKLMNPQRSTVWY"))
    rng = np.random.default_rng(seed)
    return SequenceSet.from_strings(["".join(rng.choice(letters, length)) for _ in range(n)], "protein")


@pytest.mark.parametrize(
    "kernel",
    [
        StringKernel(decay=0.3, precision="single"),
        StringKernel(decay=0.5, precision="double"),
        LocalAlignmentKernel(gap_open=20, gap_extend=4),
        LocalAlignmentKernel(precision="single"),
    ],
)
def test_the_mode_of_every_thread_is_what_it_was(kernel):
    X = proteins(6, 300)

    def work(_):
        before = keeps_subnormals()
        cols = kernel.prepare(X)
        kernel.block(cols.rows(0, 3), cols)
        return before and keeps_subnormals()

    with ThreadPoolExecutor(3) as pool:
        assert all(pool.map(work, range(6)))
    assert work(0)


def test_the_mode_after_an_error():
    """K overflows in the loops, which is found after them."""
    kernel = StringKernel(n=None, decay=1.0, normalize=False, precision="single")
    with pytest.raises(SequenceError, match="overflows"):
        kernel(SequenceSet.from_strings(["A" * 2000], "protein"))
    assert keeps_subnormals()


def test_single_precision_is_not_slowed_by_subnormal_numbers():
    """It took three times as long as double precision."""
    X = proteins(24, 600)
    single, double = (StringKernel(decay=0.3, precision=precision) for precision in ("single", "double"))
    seconds = {}
    for kernel in (single, double):
        times = []
        for _ in range(3):
            start = time.thread_time()
            cols = kernel.prepare(X)
            kernel.block(cols, cols)
            times.append(time.thread_time() - start)
        seconds[kernel.precision] = min(times)
    assert seconds["single"] < 2 * seconds["double"]


@pytest.mark.parametrize("decay", [0.05, 0.3, 0.5])
def test_what_is_lost_is_bounded(decay):
    """By 2^−23·(|x| + |y| + 2n + 4) of the value, and 1e-30 of the roots of the diagonals, as documented."""
    X = proteins(10, 400)
    exact = StringKernel(decay=decay, normalize=False)(X)
    found = StringKernel(decay=decay, normalize=False, precision="single")(X)
    roots = np.sqrt(np.outer(np.diagonal(exact), np.diagonal(exact)))
    assert (np.abs(found - exact) <= 2.0**-23 * (800 + 8 + 4) * exact + 1e-30 * roots).all()


@pytest.mark.skipif(_product.level() == 0, reason="this processor has one level of instructions")
@pytest.mark.parametrize(
    "kernel", [StringKernel(decay=0.3, precision="single"), LocalAlignmentKernel(gap_open=20, gap_extend=4)]
)
def test_levels_of_instructions_agree_as_before(kernel):
    """The string kernel to the bit; local alignment, whose vector code fuses operations, to rounding."""
    X, highest = proteins(6, 300), _product.level()
    found = []
    try:
        for level in range(highest + 1):
            _product.set_level(level)
            found.append(kernel(X))
    finally:
        _product.set_level(highest)
    for other in found[1:]:
        if isinstance(kernel, StringKernel):
            np.testing.assert_array_equal(found[0], other)
        else:
            np.testing.assert_allclose(found[0], other, rtol=1e-6)
