"""The permutation test of a whole procedure: against a naive twin, with any number of processes, on noise."""

import numpy as np
import pytest

from seqkern.kernels import build_kernel
from seqkern.methods.crossval import OuterFolds, as_record, cross_validate, evaluate_fold, mean_score, procedure_test
from seqkern.methods.fitted import Search
from seqkern.methods.method import Method
from seqkern.methods.sources import FitData
from seqkern.methods.training import collect_training_data
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import as_sequences


def given(n=48, signal=True, kernel="spectrum:k=2", solver="csvc:C=[0.1,1]"):
    rng = np.random.default_rng(5)
    texts = ["".join(rng.choice(list("ACGT"), 20)) for _ in range(n)]
    if signal:
        texts = [text[:6] + "GATTACA" + text[13:] if i % 3 == 0 else text for i, text in enumerate(texts)]
    X = as_sequences(texts, "dna")
    labels = make_labels(X.ids, ["site" if i % 3 == 0 else "other" for i in range(n)], positive="site")
    method = Method(build_kernel(kernel), solver, search=Search(folds=2))
    return method, collect_training_data(method, X, labels)


def naive_test(method, data, outer, n, seed):
    """Permute, split, choose, train and test again and again."""

    def score(labels):
        own = FitData(labels, data.sources)
        results = [evaluate_fold(method, own, split) for split in outer.splits(labels)]
        return np.mean([result.metrics["auc"] for result in results])

    observed, extreme = score(data.labels), 0
    for i in range(n):
        y = np.random.default_rng([seed, i]).permutation(data.labels.y)
        labels = make_labels(data.labels.ids, [data.labels.classes[c] for c in y], positive="site")
        extreme += score(labels) >= observed - 1e-12
    return observed, (1 + extreme) / (n + 1)


def run(method, data, outer, n, **options):
    results = cross_validate(method, data, outer.splits(data.labels))
    return procedure_test(method, data, outer.splits, results, n, **options)


def test_it_is_the_twin_in_any_number_of_processes():
    method, data = given(signal=False)
    outer = OuterFolds(folds=3)
    alone = run(method, data, outer, 6, seed=7, n_processes=1)
    assert (alone.observed, alone.p) == naive_test(method, data, outer, 6, 7)
    assert run(method, data, outer, 6, seed=7, n_processes=3) == alone
    assert run(method, data, outer, 2, seed=8, n_processes=1).null != alone.null


def test_a_signal_is_found_and_recorded():
    method, data = given(solver="csvc:C=1")
    found = run(method, data, OuterFolds(folds=3), 19, n_processes=1)
    assert found.p == 1 / 20
    assert abs(found.mean - 0.5) < 0.1
    assert as_record(found)["permutations"] == 19


def test_a_kernel_that_learns_from_labels_is_fitted_again():
    method, data = given(kernel="combination:parts=[(spectrum:k=1),(spectrum:k=2)]", solver="csvc:C=1", signal=False)
    found = run(method, data, OuterFolds(folds=3), 20, n_processes=1)
    # weights learned on the true labels would raise the scores of all permutations
    assert abs(found.mean - 0.5) < 0.1


@pytest.mark.nightly
def test_on_noise_p_is_not_small_too_often():
    small = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = as_sequences(["".join(rng.choice(list("ACGT"), 20)) for _ in range(40)], "dna")
        method = Method(build_kernel("spectrum:k=2"), "csvc:C=[0.1,10]", search=Search(folds=2))
        data = collect_training_data(method, X, make_labels(X.ids, ["a", "b"] * 20))
        small += run(method, data, OuterFolds(folds=2), 9, n_processes=1).p <= 0.1
    assert small <= 3


def test_repeats_share_samples_and_not_folds():
    method, data = given(solver="csvc:C=1")
    outer = OuterFolds(folds=3, repeats=2)
    splits = outer.splits(data.labels)
    assert [split.name for split in splits] == ["1.1", "1.2", "1.3", "2.1", "2.2", "2.3"]
    assert [len(s.test) for s in splits] == [16] * 6
    assert not np.array_equal(splits[0].test, splits[3].test)
    results = cross_validate(method, data, splits)
    assert mean_score(results, "auc") == np.mean([result.metrics["auc"] for result in results])
