"""One random kernel on random data: its matrix must not depend on how it is computed."""

import numpy as np
from fuzz_data import data_for
from fuzz_parameters import vary
from fuzz_refusals import RefusedError, refusals

from seqkern.core.errors import ParameterError
from seqkern.kernels import KERNELS, blocks
from seqkern.kernels.kernel import Kernel, algorithms

SECONDS = 0.5
"""Of predicted work; a case that needs more is left out."""

BYTES = 10**9
"""Of predicted memory of an operator; one that needs more is not made."""


def kernel_case(rng):
    """Draw a kernel and data, yield their description, and compare all ways to compute the matrix."""
    name = str(rng.choice(list(KERNELS.classes)))
    examples = KERNELS.classes[name].examples()
    kernel = vary(examples[rng.integers(len(examples))], rng)
    if rng.random() < 0.8:
        allow_zeros(kernel)
    shape, X = data_for(kernel, rng)
    yield f"{kernel!r} on {shape}, {len(X)} records"
    with refusals(), np.errstate(all="ignore"):
        kernel.fit(X, np.where(np.arange(len(X)) % 2, 1, -1))
        if kernel.plan(X).seconds > SECONDS:
            raise RefusedError("too slow for a test")
        compare(kernel, X, rng)


def allow_zeros(kernel):
    """Set the policies, also of kernels inside this one, so that short sequences are no errors."""
    known = {"short": "zero", "zero_diagonal": "zero"}
    kernel.set_params(**{key: value for key, value in known.items() if key in kernel.parameter_names()})
    for value in kernel.get_params(deep=False).values():
        for inner in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(inner, Kernel):
                allow_zeros(inner)


def compare(kernel, X, rng):
    """Compare the matrix with its transpose, its blocks, and itself by other threads, precision and algorithms."""
    K = kernel(X, n_threads=1)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(np.diagonal(K), kernel.diagonal(X))
    whole = kernel.prepare(X)
    for _ in range(3):
        rows, cols = (slice(*sorted(rng.integers(len(X) + 1, size=2))) for _ in range(2))
        part = kernel.block(whole.rows(rows.start, rows.stop), whole.rows(cols.start, cols.stop))
        np.testing.assert_array_equal(part, K[rows, cols])
    some = rng.permutation(len(X))[: rng.integers(1, len(X) + 1)]
    np.testing.assert_array_equal(kernel(X.take(some), X, n_threads=2), K[some])
    compare_threads(kernel, X, K, int(rng.integers(1, 7)))
    single = kernel(X, dtype=np.float32, n_threads=2)
    np.testing.assert_array_equal(single, K.astype(np.float32))
    compare_algorithms(kernel, X, K, rng)
    compare_products(kernel, X, K, rng)


def compare_threads(kernel, X, K, step):
    """Compare with the matrix in blocks of a few rows, by three threads."""
    usual = blocks.row_blocks
    blocks.row_blocks = lambda n, *_: [(start, min(start + step, n)) for start in range(0, n, step)]
    try:
        np.testing.assert_array_equal(kernel(X, n_threads=3), K)
    finally:
        blocks.row_blocks = usual


def compare_algorithms(kernel, X, K, rng):
    """Compare with another exact algorithm."""
    if not algorithms(kernel) or "algorithm" not in kernel.parameter_names():
        return
    before = kernel.algorithm
    kernel.set_params(algorithm=str(rng.choice(algorithms(kernel))))
    try:
        kernel.check_parameters()
        if kernel.plan(X).seconds < SECONDS:
            np.testing.assert_array_equal(kernel(X), K)
    except ParameterError as error:
        assert "choose algorithm=" in error.remedy  # noqa: PT017
    finally:
        kernel.set_params(algorithm=before)


def compare_products(kernel, X, K, rng):
    """Compare products without a matrix with those of the matrix."""
    if not np.isfinite(K).all() or not bool(kernel.operator):
        return
    if kernel.operator.bytes(X) > BYTES or kernel.operator.cost(X) > SECONDS:
        return
    try:
        operator = kernel.operator(X)
    except ParameterError:
        return
    coefficients = rng.standard_normal(len(X))
    scale = np.abs(K) @ np.abs(coefficients) + np.finfo(float).tiny
    assert np.all(np.abs(operator.times(coefficients) - K @ coefficients) <= 1e-9 * scale.max())
