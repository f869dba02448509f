"""Sums, products and parts against the same done by hand; learning inside them."""

import threading

import numpy as np
import pytest

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels import (
    LinearKernel,
    PairwiseKernel,
    PartKernel,
    PrecomputedKernel,
    ProductKernel,
    RBFKernel,
    SpectrumKernel,
    SumKernel,
    build_kernel,
    kernel_from_state,
)
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.prepared import Plan
from seqkern.sequences.sequence_set import SequenceSet

STRINGS = ["ACGTACGTTACG", "ACGTTTGACCAA", "GGGTACCATACC", "TTACGTACCTGA", "CCATTGACCATG"]


class PlannedKernel(LinearKernel):
    """A kernel with a plan of its own."""

    name = "planned"

    def __init__(self, seconds=1.0):
        self.seconds = seconds

    def plan(self, X, Y=None):
        return Plan("slow", self.seconds * len(X), 10, f"slow {self.seconds}")


class ThreadKernel(LinearKernel):
    """A kernel that notes which threads ask for blocks, and waits until two have."""

    name = "threads"

    def __init__(self, barrier=None):
        self.barrier = barrier

    def _block(self, rows, cols, out):
        self.barrier.wait(timeout=10)
        super()._block(rows, cols, out)


@pytest.fixture(name="X")
def _sequences():
    return SequenceSet.from_strings(STRINGS, "dna")


@pytest.fixture
def parts():
    return [SpectrumKernel(k=1), SpectrumKernel(k=2, normalize=False), SpectrumKernel(k=3)]


def test_sum_is_the_sum(X, parts):
    Ks = [part(X) for part in parts]
    np.testing.assert_allclose(SumKernel(parts)(X), sum(Ks), rtol=1e-14)
    weighted = SumKernel(parts, weights=[0.5, 0, 2])(X)
    np.testing.assert_allclose(weighted, 0.5 * Ks[0] + 2 * Ks[2], rtol=1e-14)


def test_normalised_sum_is_divided_by_its_own_diagonal(X, parts):
    K = sum(part(X) for part in parts)
    d = np.sqrt(np.diagonal(K))
    np.testing.assert_allclose(SumKernel(parts, normalize=True)(X), K / np.outer(d, d), rtol=1e-14)


def test_product_is_the_product(X, parts):
    Ks = [part(X) for part in parts]
    np.testing.assert_allclose(ProductKernel(parts)(X), Ks[0] * Ks[1] * Ks[2], rtol=1e-14)


@pytest.mark.parametrize(("start", "stop"), [(0, 5), (3, None), (None, -4), (-5, None), (2, -2)])
def test_part_is_the_kernel_of_the_slices(X, start, stop):
    base = SpectrumKernel(k=2)
    expected = base([string[start:stop] for string in STRINGS])
    np.testing.assert_array_equal(PartKernel(base, start, stop)(X), expected)


def test_left_and_right_part_summed():
    strings = ["AACCGGTT", "AACCTTTT"]
    kernel = build_kernel("spectrum:k=2,part=0:4,normalize=false+spectrum:k=2,part=4:8,normalize=false")
    # Left: AA AC CC in both. Right: GG GT TT against TT TT TT.
    np.testing.assert_array_equal(kernel(strings), [[6, 6], [6, 12]])


def test_a_part_beyond_the_end_follows_the_policy_for_short_sequences(X):
    with pytest.raises(SequenceError, match=r"in the part 11:\).*short=zero") as error:
        PartKernel(SpectrumKernel(k=3), 11, None)(X)
    assert error.value.record == "1"


def test_parts_are_nested(X):
    nested = PartKernel(SumKernel([PartKernel(SpectrumKernel(k=1), 1, None), SpectrumKernel(k=2)]), 2, 9)
    left = SpectrumKernel(k=1)([s[3:9] for s in STRINGS])
    right = SpectrumKernel(k=2)([s[2:9] for s in STRINGS])
    np.testing.assert_array_equal(nested(X), left + right)


def test_properties_are_inherited():
    learning = SumKernel([SpectrumKernel(), PairwiseKernel(SpectrumKernel())])
    assert learning.traits.data_dependent
    assert PartKernel(learning, 0, 5).traits.data_dependent
    assert not SumKernel([SpectrumKernel()]).traits.data_dependent
    assert ProductKernel([LinearKernel()]).traits.accepts == "features"
    assert not SumKernel([PrecomputedKernel()]).traits.positive_semidefinite
    assert SumKernel([SpectrumKernel(), SpectrumKernel(alphabet="protein")]).alphabet == "protein"


def test_parts_see_the_alphabet_that_one_of_them_names():
    kernel = SumKernel([SpectrumKernel(k=1), SpectrumKernel(k=1, alphabet="protein")])
    assert kernel.coerce(["ACG", "AC"]).alphabet.name == "protein"


def test_fit_fits_copies_of_the_parts_that_learn(X):
    pairwise = PairwiseKernel(SpectrumKernel(k=2))
    kernel = SumKernel([SpectrumKernel(k=1), PartKernel(pairwise, 2, None)], weights=[1, 3])
    train = X.take(slice(0, 3))
    kernel.fit(train)
    assert not pairwise._fitted
    by_hand = PairwiseKernel(SpectrumKernel(k=2)).fit(train.part(2, None))
    expected = SpectrumKernel(k=1)(X) + 3 * by_hand(X.part(2, None))
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-14)
    again = kernel_from_state(*kernel.state())
    np.testing.assert_array_equal(again(X), kernel(X))


def test_a_refit_forgets_the_first_fit(X):
    kernel = SumKernel([PairwiseKernel(SpectrumKernel(k=2))])
    once = kernel.fit(X.take(slice(2, 5))).identity()
    assert kernel.fit(X.take(slice(0, 3))).fit(X.take(slice(2, 5))).identity() == once


def test_plan_is_the_sum_of_the_plans():
    values = np.eye(4)
    plan = SumKernel([PlannedKernel(1.0), ProductKernel([PlannedKernel(2.0), LinearKernel()])]).plan(values)
    assert plan == Plan("slow + slow + direct", 12.0, 20, "slow 1.0; slow 2.0")


def test_blocks_are_computed_in_several_threads(monkeypatch):
    from seqkern.kernels import blocks

    monkeypatch.setattr(blocks, "row_blocks", lambda n_rows, *_: [(0, 2), (2, n_rows)])
    values = np.arange(12.0).reshape(4, 3)
    kernel = SumKernel([ThreadKernel(threading.Barrier(2))])
    np.testing.assert_array_equal(kernel(values, n_threads=2), values @ values.T)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SumKernel([]), "needs kernels as parts"),
        (lambda: SumKernel("spectrum"), "needs kernels as parts"),
        (lambda: ProductKernel([SpectrumKernel(), "spectrum:k=3"]), "needs kernels as parts"),
        (lambda: SumKernel([SpectrumKernel(), LinearKernel()]), "features, sequences"),
        (lambda: SumKernel([SpectrumKernel()], weights=[-0.5]), "weight=-0.5"),
        (lambda: SumKernel([SpectrumKernel()], weights=[float("nan")]), "weight=nan"),
        (lambda: SumKernel([SpectrumKernel()], weights=[1, 1]), "2 weights for 1 parts"),
        (lambda: SumKernel([SpectrumKernel(k=0)]), "k=0"),
        (lambda: PartKernel(LinearKernel(), 0, 1), "does not take sequences"),
        (lambda: PartKernel(SpectrumKernel(), 0.5, 1), "part's start=0.5"),
        (lambda: RBFKernel(base="spectrum"), "needs kernels as parts"),
    ],
)
def test_what_cannot_be_combined_is_a_parameter_error(make, message):
    with pytest.raises(ParameterError, match=message):
        make()(STRINGS)


def test_a_kernel_without_the_three_things_says_so():
    class EmptyKernel(Kernel):
        name = "empty"

    with pytest.raises(NotImplementedError):
        EmptyKernel()(STRINGS)
