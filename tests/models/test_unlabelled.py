"""Records without a label: in every training part, never scored, and what they hide has no influence."""

import numpy as np
import pytest

from seqkern.evaluation import make_folds
from seqkern.evaluation.chance import permuted
from seqkern.evaluation.selection import inner_folds
from seqkern.kernels import SpectrumKernel
from seqkern.methods.crossval import evaluate_fold
from seqkern.methods.fitted import Search
from seqkern.methods.method import Method
from seqkern.methods.training import collect_training_data, train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import as_sequences

N, SPARE, TEST = 40, np.arange(20, 32), np.arange(32, 40)


def records(classes=2, seed=3):
    """Return sequences and their classes: letters in other shares."""
    rng = np.random.default_rng(seed)
    y = np.arange(N) % classes
    shares = np.array([[0.4, 0.2, 0.2, 0.2], [0.2, 0.2, 0.2, 0.4], [0.2, 0.4, 0.2, 0.2]])
    return ["".join(rng.choice(list("ACGT"), 30, p=shares[code])) for code in y], [f"class{code}" for code in y]


def method(solver="label_propagation", folds=3):
    return Method(SpectrumKernel(2), solver, search=Search(folds=folds))


def labels_of(texts, names, hidden=SPARE):
    X = as_sequences(texts, "dna")
    return X, make_labels(X.ids, ["" if i in set(hidden.tolist()) else name for i, name in enumerate(names)])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("solver", ["label_propagation:alpha=0.5|0.9", "transductive_svc:C=1|10"])
def test_poison(solver, classes):
    """Neither the test set's labels nor its sequences change what is chosen and learned."""
    if classes == 3 and solver.startswith("transductive"):
        return
    texts, names = records(classes)
    X, labels = labels_of(texts, names)
    fold = np.arange(20)
    method_ = Method(SpectrumKernel(2), solver, search=Search(folds=3))
    probe = as_sequences(["ACGTAATTCCGG", "AAAATTCG"], "dna")
    clean = method_.fit(method_.data(X, labels), fold).model()
    poisoned_names = [names[i] if i < 32 else names[(i + 1) % 40] for i in range(40)]
    poisoned_texts = texts[:32] + ["G" * 30] * 8
    X2, labels2 = labels_of(poisoned_texts, poisoned_names)
    poisoned = method_.fit(method_.data(X2, labels2), fold).model()
    np.testing.assert_array_equal(clean.decision(probe), poisoned.decision(probe))
    assert clean.record["solver"] == poisoned.record["solver"]
    assert clean.record["unlabelled"] == 12
    # but the sequences of the unlabelled records do count
    X3, labels3 = labels_of(texts[:20] + ["G" * 30] * 12 + texts[32:], names)
    assert (
        np.abs(method_.fit(method_.data(X3, labels3), fold).model().decision(probe) - clean.decision(probe)).max() > 0
    )


def test_in_every_training_part_and_never_scored():
    _, labels = labels_of(*records())
    parts = list(inner_folds(labels, 4, seed=1))
    for train, valid in parts:
        assert set(SPARE) <= set(train.tolist())
        assert not set(SPARE) & set(valid.tolist())
        assert not set(train.tolist()) & set(valid.tolist())
    assert sorted(np.concatenate([valid for _, valid in parts]).tolist()) == sorted(set(range(N)) - set(SPARE.tolist()))


def test_cross_validation_scores_labelled_records_only():
    X, labels = labels_of(*records())
    one = method("transductive_svc")
    data = collect_training_data(one, X, labels)
    assert data.unlabelled.tolist() == list(range(28, 40))
    tested = []
    for split in make_folds(data.labels, method="stratified", k=4):
        result = evaluate_fold(one, data, split)
        assert result.metrics["n_train"] == 21
        tested += [row["id"] for row in result.decisions]
    assert sorted(tested) == sorted(X.ids[i] for i in range(N) if i not in set(SPARE.tolist()))


def test_solvers_that_do_not_accept_them_get_labelled_rows():
    X, labels = labels_of(*records())
    with_rest = train_model(X, labels, SpectrumKernel(2), "csvc")
    used = np.flatnonzero(labels.used())
    alone = train_model(X.take(used), labels.take(used), SpectrumKernel(2), "csvc")
    np.testing.assert_array_equal(with_rest.decision(X), alone.decision(X))
    assert "unlabelled" not in with_rest.record
    mixed = Method(SpectrumKernel(2), [{"solver": "csvc"}, {"solver": "label_propagation"}])
    assert not mixed.accepts_unlabelled
    assert method().accepts_unlabelled


@pytest.mark.parametrize("classes", [2, 3])
def test_a_model_of_few_labels(classes):
    X, labels = labels_of(*records(classes))
    model = train_model(X, labels, SpectrumKernel(2), "label_propagation:alpha=0.5|0.9", folds=3)
    assert model.record["n"] == N
    assert model.record["unlabelled"] == 12
    assert sum(model.record["classes"].values()) == 28
    assert set(model.predict(X)) <= set(model.classes)


def test_permutations_keep_missing_labels():
    _, labels = labels_of(*records())
    found = permuted(labels, np.random.default_rng(1))
    assert np.flatnonzero(~found.used()).tolist() == SPARE.tolist()
    assert found.class_counts() == labels.class_counts()
    assert found.y.tolist() != labels.y.tolist()
