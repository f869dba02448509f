"""The Salzberg kernel against its naive twin, and what it learns from."""

import copy

import naive
import naive_salzberg
import numpy as np
import pytest
from folded import InnerLoop, evaluate_fold
from given import inputs
from naive import encode, random_strings

from seqkern.core.errors import LabelError, NoKmersError, ParameterError, SequenceError
from seqkern.evaluation import make_folds
from seqkern.kernels import SalzbergKernel, kernel_from_state
from seqkern.kernels.decisions import attributions, fold, kmer_weights
from seqkern.kernels.positional import salzberg
from seqkern.methods.sources import FittedKernel
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.study import Task

CLOSE = {"rtol": 1e-12, "atol": 1e-13}
LENGTH = 14
TRAIN = random_strings(23, LENGTH, LENGTH + 1, masked=0.05, seed=1)
STRINGS = [*TRAIN[:4], *random_strings(6, LENGTH, LENGTH + 1, masked=0.2, seed=2), "A" * LENGTH, "*" * LENGTH]
Y = np.arange(23) % 3 > 0


def fitted(train=TRAIN, y=Y, **options):
    return SalzbergKernel(**{"normalize": False, **options}).fit(encode(train), y)


def test_by_hand():
    # First class AA, AC; second CA, CA, C*. c = 1, two letters A and C.
    kernel = SalzbergKernel(normalize=False, alphabet="AC").fit(
        encode(["AA", "AC", "CA", "CA", "C*"], "AC"), [0, 0, 1, 1, 1]
    )
    log = np.log
    first_a, first_c = log(1 / 5) - log(3 / 4), log(4 / 5) - log(1 / 4)
    after_a = log(1 / 2) - log(2 / 4)
    after_c = log(3 / 4) - log(1 / 2)
    values = kernel.features(encode(["AA", "AC", "CA", "*A", "C*"], "AC"))
    expected = [[first_a, after_a], [first_a, after_a], [first_c, after_c], [0, 0], [first_c, 0]]
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("pseudocount", [1.0, 0.01, 7])
def test_equals_the_naive_twin(pseudocount):
    kernel = fitted(pseudocount=pseudocount)
    expected = naive_salzberg.salzberg(STRINGS, TRAIN, list(Y), "ACGT", pseudocount)
    X = encode(STRINGS)
    np.testing.assert_allclose(kernel(X), expected, **CLOSE)
    np.testing.assert_allclose(kernel(X.take(slice(3, 12)), X.take(slice(0, 5))), expected[3:, :5], **CLOSE)
    kernel.set_params(normalize=True, zero_diagonal="zero")
    np.testing.assert_allclose(kernel(X), naive.normalised(expected), **CLOSE)


@pytest.mark.parametrize("letters", ["AB", "HEC", "protein", "rna"])
def test_other_alphabets_equal_the_naive_twin(letters):
    pool = {"protein": "ACDEFGHIKLMNPQRSTVWY", "rna": "ACGU"}.get(letters, letters)
    strings = random_strings(12, 9, 10, pool, seed=3)
    y = [-1, 1] * 6
    X = encode(strings, letters)
    K = SalzbergKernel(normalize=False).fit(X, y)(X)
    np.testing.assert_allclose(K, naive_salzberg.salzberg(strings, strings, y, pool), **CLOSE)


def test_sequences_of_one_letter_only():
    X = encode(["A"] * 3 + ["C"] * 2)
    kernel = SalzbergKernel(normalize=False).fit(X, [0, 0, 0, 1, 1])
    a, c = np.log(1 / 6) - np.log(4 / 7), np.log(3 / 6) - np.log(1 / 7)
    np.testing.assert_allclose(kernel(X)[0], [a * a] * 3 + [a * c] * 2, rtol=1e-12)


def test_many_records_are_looked_at_in_parts(monkeypatch):
    K = fitted()(encode(STRINGS))
    monkeypatch.setattr(salzberg, "CHUNK_LETTERS", 3 * LENGTH)
    np.testing.assert_array_equal(fitted()(encode(STRINGS)), K)


def test_features_times_features_is_the_kernel():
    kernel, X = fitted(), encode(STRINGS)
    features = kernel.features(X)
    assert features.shape == (len(STRINGS), LENGTH)
    np.testing.assert_allclose(features @ features.T, kernel(X), **CLOSE)


def test_the_names_of_the_classes_do_not_matter():
    X = encode(STRINGS)
    K = fitted()(X)
    np.testing.assert_array_equal(fitted(y=~Y)(X), K)
    np.testing.assert_array_equal(fitted(y=np.where(Y, 1, -1))(X), K)


def test_several_classes_are_compared_pair_by_pair():
    y, X = np.arange(23) % 3, encode(STRINGS)
    kernel = fitted(y=y)
    chosen = [[i for i in range(23) if y[i] != left_out] for left_out in range(3)]
    parts = [naive_salzberg.salzberg(STRINGS, [TRAIN[i] for i in rows], list(y[rows]), "ACGT") for rows in chosen]
    np.testing.assert_allclose(kernel(X), sum(parts), **CLOSE)
    assert kernel.features(X).shape == (len(STRINGS), 3 * LENGTH)
    letters = attributions(kernel, X, X, np.ones(len(X))).reshape(len(X), LENGTH)
    np.testing.assert_allclose(letters.sum(axis=1), kernel(X).sum(axis=1), rtol=1e-9, atol=1e-12)
    again = kernel_from_state(*kernel.state())
    np.testing.assert_array_equal(again(X), kernel(X))
    assert kernel.plan(X).seconds > fitted().plan(X).seconds


@pytest.mark.parametrize("normalize", [False, True])
def test_letters_and_folds_give_the_decision(normalize):
    kernel = fitted(normalize=normalize)
    X, support = encode(STRINGS[:-1]), encode(TRAIN[:6])
    coefficients = np.random.default_rng(2).standard_normal(6)
    decision = kernel(X, support) @ coefficients
    letters = attributions(kernel, X, support, coefficients)
    np.testing.assert_allclose(letters.reshape(len(X), LENGTH).sum(axis=1), decision, rtol=1e-9, atol=1e-12)
    columns = kernel.prepare(support)
    values = fold(kernel, columns, coefficients)(kernel.prepare(X, like=columns))
    np.testing.assert_allclose(values, decision, rtol=1e-9, atol=1e-12)


def test_two_letters_share_what_they_add():
    kernel = fitted()
    X, z = encode(["ACG*" + "A" * 10]), encode(TRAIN[4:5])
    values = (kernel.features(X) * kernel.features(z))[0]
    letters = attributions(kernel, X, z, np.ones(1))
    assert letters[0] == pytest.approx(values[0] + values[1] / 2)
    assert letters[1] == pytest.approx(values[1] / 2 + values[2] / 2)
    assert letters[2] == pytest.approx(values[2] / 2)
    assert letters[3] == 0
    with pytest.raises(NoKmersError):
        kmer_weights(kernel, X, z, np.ones(1))


# ---- what it learns from -------------------------------------------------------------------------


def labelled_sequences(n=40):
    """Return sequences rich in A or in T, of one length, and the task to tell them apart."""
    rng = np.random.default_rng(0)
    rich = [(0.4, 0.2, 0.2, 0.2), (0.2, 0.2, 0.2, 0.4)]
    X = SequenceSet.from_strings(["".join(rng.choice([*"ACGT"], 20, p=rich[i % 2])) for i in range(n)], "dna")
    return X, Task("all", make_labels(X.ids, ["1" if i % 2 else "0" for i in range(n)]))


def test_no_test_sequence_reaches_fit_in_outer_or_inner_folds(monkeypatch):
    X, task = labelled_sequences()
    seen, real = [], SalzbergKernel._fit

    def spy(self, X, y):
        seen.append((X.ids, list(y)))
        return real(self, X, y)

    monkeypatch.setattr(SalzbergKernel, "_fit", spy)
    signs = dict(zip(X.ids, task.labels.signs(), strict=True))
    for split in make_folds(task.labels, X, "stratified", k=4, seed=1):
        seen.clear()
        grid = [{"solver": "csvc", "C": 0.1}, {"solver": "csvc", "C": 1.0}]
        result = evaluate_fold(task, split, {"k": FittedKernel(SalzbergKernel(), X)}, grid, InnerLoop(folds=2))
        assert len(seen) == 3
        test = {X.ids[row] for row in split.test}
        for ids, y in seen:
            assert not test & set(ids)
            assert y == [signs[name] for name in ids]
        assert list(seen[-1][0]) == [X.ids[row] for row in split.train]
        assert result.metrics["n_test"] == 10


def test_other_test_sequences_change_nothing_that_is_learned():
    X, task = labelled_sequences()
    train, test = np.arange(30), np.arange(30, 40)
    shuffled = X.take([*range(30), *np.random.default_rng(1).permutation(test)])
    y = task.labels.signs()[train]
    K, K_test = inputs(FittedKernel(SalzbergKernel(), X), train, test, y)
    K_again, K_shuffled = inputs(FittedKernel(SalzbergKernel(), shuffled), train, test, y)
    np.testing.assert_array_equal(K, K_again)
    assert not np.array_equal(K_test, K_shuffled)


def test_a_model_keeps_what_was_learned():
    own = Alphabet("states", "HEC")
    X = encode(["HECH", "HHCC", "CCEE", "EECH"], own)
    kernel = SalzbergKernel().fit(X, [0, 1, 0, 1])
    again = kernel_from_state(*kernel.state())
    np.testing.assert_array_equal(again(X), kernel(X))


# ---- bad input -----------------------------------------------------------------------------------


def test_unusable_labels_are_named():
    X = encode(TRAIN)
    with pytest.raises(LabelError, match="none are given"):
        SalzbergKernel().fit(X)
    with pytest.raises(LabelError, match="has only one"):
        SalzbergKernel().fit(X, np.ones(23))
    with pytest.raises(LabelError, match="the labels are numbers"):
        SalzbergKernel().fit(X, np.arange(23) / 10)
    with pytest.raises(LabelError, match="2 labels for 23 sequences"):
        SalzbergKernel().fit(X, [0, 1])


def test_unusable_sequences_are_named():
    kernel = fitted()
    with pytest.raises(SequenceError, match=r"record '1': has 9 residues, the training set has 14"):
        kernel(encode(["ACGTACGTA"]))
    with pytest.raises(SequenceError, match=r"record '2': has 5 residues, the first sequence has 4"):
        SalzbergKernel().fit(encode(["ACGT", "ACGTA"]), [0, 1])
    with pytest.raises(SequenceError, match=r"record '1': has no residues to learn from"):
        SalzbergKernel().fit(encode(["", ""]), [0, 1])
    with pytest.raises(SequenceError, match="alphabet protein, those of the training set dna"):
        kernel(encode(["ACDEFGHIKLMNPQ"], "protein"))
    with pytest.raises(ParameterError, match="not fitted"):
        SalzbergKernel().features(encode(TRAIN))


@pytest.mark.parametrize("pseudocount", [0, -1, float("inf"), "one"])
def test_wrong_parameters_are_named(pseudocount):
    with pytest.raises(ParameterError, match="pseudocount"):
        SalzbergKernel(pseudocount=pseudocount).fit(encode(TRAIN), Y)


def test_no_sequences_make_empty_matrices():
    kernel, X = fitted(), encode(TRAIN)
    assert kernel(X.take([]), X).shape == (0, 23)
    assert kernel(X, X.take([])).shape == (23, 0)


def test_a_copy_is_unfitted_by_itself():
    kernel = fitted()
    other = copy.deepcopy(kernel).fit(encode(TRAIN[::-1]), Y)
    assert other.identity() != kernel.identity()
