"""Held matrices: the values of a source that computes them anew, with one computation for all folds."""

import weakref

import numpy as np
import pytest
from given import inputs

from seqkern import SequenceSet
from seqkern.core.errors import TooLargeError
from seqkern.gram.transforms import build_transform
from seqkern.kernels import CombinationKernel, SpectrumKernel, build_kernel
from seqkern.methods import sources
from seqkern.methods.fitted import Search
from seqkern.methods.method import Method
from seqkern.methods.sources import FittedKernel, HeldGram, HeldKernel, HeldMatrices, MemoryBudget
from seqkern.sequences.labels import make_labels

RNG = np.random.default_rng(1)
X = SequenceSet.from_strings(["".join(RNG.choice(list("ACGT"), 30)) for _ in range(20)], "dna")
WORK = max(SpectrumKernel(k).plan(X).bytes for k in (1, 2, 3))


def held_matrices(limit, **options):
    """Return matrices held within so many bytes, where as many more as needed are available."""
    return HeldMatrices(X, memory_budget=MemoryBudget(limit, 10**9), **options)


def counting(monkeypatch):
    """Return a list to which the number of samples and k of each matrix computed as a whole will be added."""
    found, compute = [], sources.compute_gram

    def counted(kernel, X, **options):
        found.append((len(X), kernel.k))
        return compute(kernel, X, **options)

    monkeypatch.setattr(sources, "compute_gram", counted)
    return found


@pytest.mark.parametrize("limit", [10**9, 1])
def test_the_values_are_those_of_the_kernel(limit):
    for whole in (False, True):
        held = HeldGram(SpectrumKernel(2), held_matrices(limit, whole=whole), [build_transform("centre")])
        plain = FittedKernel(SpectrumKernel(2), X, [build_transform("centre")])
        for train, test in ((np.arange(5, 15), np.array([1, 18])), (np.arange(0, 20, 2), np.arange(1, 20, 2))):
            for one, two in zip(inputs(held, train, test), inputs(plain, train, test), strict=True):
                np.testing.assert_allclose(one, two, atol=1e-12)


def test_one_matrix_serves_all_folds(monkeypatch):
    computed = counting(monkeypatch)
    source = HeldGram(SpectrumKernel(2), HeldMatrices(X))
    rows = np.arange(0, 20, 2)
    for fold in range(5):
        inputs(source, np.delete(rows, fold), rows[[fold]])
    assert computed == [(10, 2)]
    inputs(source, np.arange(19), np.array([19]))
    inputs(source, rows, rows[:0])
    assert computed == [(10, 2), (20, 2)]


def test_a_small_subset_has_small_matrices_beside_those_of_all_samples(monkeypatch):
    """As in the second fold of a study, whose first stage follows the last stage of the first fold."""
    computed = counting(monkeypatch)
    held = HeldMatrices(X, whole=True)
    one, two = (HeldGram(SpectrumKernel(k), held) for k in (1, 2))
    inputs(one, np.arange(12), np.arange(12, 20))
    for source in (one, two):
        made = inputs(source, np.arange(2, 9, 2), np.arange(3, 7, 2))
        plain = inputs(FittedKernel(source.kernel, X), np.arange(2, 9, 2), np.arange(3, 7, 2))
        np.testing.assert_allclose(made[0], plain[0], atol=1e-12)
    inputs(one, np.arange(20), np.arange(0))
    inputs(two, np.arange(15), np.arange(15, 20))
    assert computed == [(20, 1), (6, 2), (20, 2)]


def test_a_combination_uses_the_matrices_of_its_parts(monkeypatch):
    computed = counting(monkeypatch)
    held = HeldMatrices(X, whole=True)
    parts = [SpectrumKernel(1), SpectrumKernel(2)]
    train, test, y = np.arange(12), np.arange(12, 20), np.where(np.arange(12) % 2, 1.0, -1.0)
    for part in parts:
        inputs(HeldGram(part, held), train, test, y)
    both = HeldGram(CombinationKernel(parts), held)
    plain = FittedKernel(CombinationKernel(parts), X)
    for one, two in zip(inputs(both, train, test, y), inputs(plain, train, test, y), strict=True):
        np.testing.assert_allclose(one, two, atol=1e-12)
    assert computed == [(20, 1), (20, 2)]
    assert both.learns


def test_matrices_that_do_not_fit_beside_a_fit_are_forgotten_or_not_made(monkeypatch):
    computed = counting(monkeypatch)
    one, need = 8 * 20**2, 8 * 12 * 20
    train, test = np.arange(12), np.arange(12, 20)
    held = held_matrices(2 * one + need + WORK)
    first, second, third = (HeldGram(SpectrumKernel(k), held) for k in (1, 2, 3))
    for source in (first, second, first, third, second, first):
        inputs(source, train, test)
    assert [k for _, k in computed] == [1, 2, 3, 1]
    monkeypatch.setattr(held, "memory_budget", MemoryBudget(one + need - 1, 10**9))
    inputs(first, train, test)
    assert len(computed) == 4
    held.memory_budget = MemoryBudget(need - 1, 10**6)  # a single fit may take more than the limit where memory is left
    inputs(first, train, test)
    held.memory_budget = MemoryBudget(need // 2, need - 1)
    with pytest.raises(TooLargeError, match=r"12 training and 8 test samples at once takes .* but .* are left"):
        inputs(first, train, test)
    kernels = {"2": SpectrumKernel(2), "3": SpectrumKernel(3)}
    method = Method(kernels, "csvc:C=1", search=Search(budget=1e9))
    data = method.data(X, make_labels(X.ids, ["a", "b"] * 10), memory_limit=need // 2)
    for work in (data.sources["2"].compute_whole, lambda: inputs(data.sources["2"], train, test)):
        with pytest.raises(TooLargeError, match=r"of memory, but the limit is 960 bytes; raise it to "):
            work()


def test_parts_of_a_combination_take_the_place_of_each_other(monkeypatch):
    """Each is sliced before the next is computed: a list of all would keep what was forgotten."""
    one, parts = 8 * 20**2, [SpectrumKernel(k) for k in (1, 2, 3)]
    train, test, alive = np.arange(12), np.arange(12, 20), []
    held = held_matrices(one + (3 + 2) * 8 * 12 * 20 + WORK)
    compute = sources.compute_gram

    def counted(kernel, X, **options):
        made = compute(kernel, X, **options)
        assert not any(other() for other in alive)
        alive.append(weakref.ref(made))
        return made

    monkeypatch.setattr(sources, "compute_gram", counted)
    inputs(HeldGram(CombinationKernel(parts, weights="uniform", scale="variance"), held), train, test)
    assert len(alive) == 3


def test_a_kernel_has_one_matrix_for_all_inner_folds_where_only_one_fits(monkeypatch):
    computed = counting(monkeypatch)
    kernels = {str(k): SpectrumKernel(k) for k in (1, 2, 3)}
    labels = make_labels(X.ids, ["a", "b"] * 10)
    method = Method(kernels, "perceptron", search=Search(folds=4, budget=1e9))
    data = method.data(X, labels, memory_limit=8 * 20**2 + 8 * 20**2 + WORK)
    choice = method.choose(data, np.arange(20))
    assert computed == [(20, 1), (20, 2), (20, 3)]
    assert choice.n_fits == 12


def test_processes_share_the_memory():
    kernel = HeldKernel(("a",))
    one = 8 * 20**2
    for limit, whole, processes in [(9 * one, True, 8), (4 * one, True, 3), (2 * one - 1, False, 1), (1, False, 1)]:
        held = held_matrices(limit)
        held.expect([kernel])
        assert (held.whole, held.divide(8)) == (whole, processes)
        assert held.memory_budget.limit == limit


@pytest.mark.parametrize("second", ["spectrum:k=2", "rbf:gamma=jaakkola,base=(spectrum:k=2)"])
@pytest.mark.parametrize("budget", [1e9, None])
def test_a_model_does_not_learn_the_weights_again(second, budget, monkeypatch):
    """Nor those of a sum with a part that learns, of which each training set has a matrix of its own."""
    kernel = CombinationKernel([SpectrumKernel(1), build_kernel(second)], weights="uniform", scale="variance")
    method, labels = Method({"both": kernel}, "csvc:C=1", search=Search(budget=budget)), ["a", "b"] * 10
    fitted = method.fit(method.data(X, make_labels(X.ids, labels)))
    plain = FittedKernel(kernel, X).fitted_kernel(np.arange(20), np.array(labels))
    monkeypatch.setattr(CombinationKernel, "_learn", None)
    model = fitted.model()
    np.testing.assert_allclose(model.kernel.weights_, plain.weights_)
    np.testing.assert_allclose(model.kernel.scales_, plain.scales_)
    np.testing.assert_allclose(model.decision(X), fitted.solver.decision_function(fitted.block.train), atol=1e-9)


def test_a_kernel_derived_from_a_matrix_is_not_taken_for_the_matrix_kernel():
    """Where the matrix is not kept, it comes with its kernel, the base."""
    kernel = build_kernel("pairwise:base=(spectrum:k=2)")
    method = Method({"pairs": kernel}, "csvc:C=1", search=Search(budget=1e9))
    data = method.data(X, make_labels(X.ids, ["a", "b"] * 10))
    data.sources["pairs"].held.memory_budget = MemoryBudget(0, 10**9)
    fitted = method.fit(data)
    assert fitted.kernel.name == "pairwise"
    np.testing.assert_allclose(
        fitted.model().decision(X), fitted.solver.decision_function(fitted.block.train), atol=1e-9
    )
