"""Which records to label next: nearest the hyperplane, unlike each other, from a pool in chunks."""

import numpy as np
import pytest

from seqkern.core.errors import ModelError, ParameterError
from seqkern.kernels import SpectrumKernel
from seqkern.methods.acquisition import distances, gaps_of, greedy, suggest
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import as_sequences

SHARES = np.array([[0.4, 0.2, 0.2, 0.2], [0.2, 0.2, 0.2, 0.4], [0.2, 0.4, 0.2, 0.2]])


def sequences(n, classes=2, seed=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return as_sequences(["".join(rng.choice(list("ACGT"), 25, p=SHARES[code])) for code in y], "dna"), y


def model_of(classes=2, solver=None, n=24):
    X, y = sequences(n, classes)
    solver = solver or ("csvc:C=1" if classes == 2 else "one_against_rest:binary=csvc")
    return train_model(
        X,
        make_labels(X.ids, [f"class{code}" for code in y]),
        SpectrumKernel(2),
        solver,
        threshold="none" if classes == 2 else None,
    )


def naive(K, keys, n, diversity):
    """Return the choice by the formula, in plain loops."""
    chosen = [min(range(len(keys)), key=lambda i: keys[i])]
    while len(chosen) < n:
        left = [i for i in range(len(keys)) if i not in chosen]

        def cost(i):
            angle = max(K[i][z] / (K[i][i] * K[z][z]) ** 0.5 for z in chosen)
            return (1 - diversity) * keys[i] / max(keys) + diversity * angle

        chosen.append(min(left, key=cost))
    return chosen


def test_rows_are_places_in_the_whole_pool():
    model, (X, _), (new, _) = model_of(), sequences(24), sequences(10, seed=4)
    mixed = as_sequences(
        [text for pair in zip(X.take(slice(0, 10)), new, strict=True) for text in map(str, pair)], "dna"
    )
    for pool in ([mixed], [mixed.take(slice(0, 7)), mixed.take(slice(7, None))]):
        found = suggest(model, pool, 20)
        assert sorted(found.rows.tolist()) == list(range(1, 20, 2))
        assert found.ids == [mixed.ids[row] for row in found.rows]
        assert (found.n_pool, found.n_known) == (10, 10)
    everything = suggest(model, [X], 3)
    assert (len(everything.rows), everything.n_pool, everything.n_known) == (0, 0, 24)


def test_a_model_that_does_not_say_what_it_was_trained_on():
    model, (X, _) = model_of(), sequences(24)
    del model.record["labelled_samples"]
    found = suggest(model, [X], 3)
    assert (len(found.rows), found.n_pool, found.n_known) == (3, 24, None)
    for damaged in ("A", "AAAA", 3, None):
        model.record["labelled_samples"] = damaged
        with pytest.raises(ModelError, match="corrupted record of its training samples; train it again"):
            suggest(model, [X], 3)


@pytest.mark.parametrize("diversity", [0.0, 0.3, 0.5, 1.0])
def test_the_formula(diversity):
    rng = np.random.default_rng(2)
    points = rng.normal(size=(30, 3)) * rng.uniform(0.5, 2, size=(30, 1))
    K, keys = points @ points.T, rng.random(30)
    order = greedy(K, keys, 8, diversity, np.zeros(30))
    assert order.tolist() == naive(K.tolist(), keys.tolist(), 8, diversity)
    if not diversity:
        assert order.tolist() == np.argsort(keys)[:8].tolist()
    found = distances(K, order)
    for place in range(1, 8):
        wanted = min(np.linalg.norm(points[order[place]] - points[z]) for z in order[:place])
        assert found[place] == pytest.approx(wanted)


@pytest.mark.parametrize("classes", [2, 3])
def test_nearest_the_hyperplane(classes):
    model, (pool, _) = model_of(classes), sequences(60, classes, seed=8)
    found = suggest(model, [pool], 10, diversity=0)
    decisions = model.decision(pool)
    gaps = np.abs(decisions) if classes == 2 else np.sort(decisions)[:, -1] - np.sort(decisions)[:, -2]
    assert found.gaps.tolist() == np.sort(gaps)[:10].tolist()
    np.testing.assert_array_equal(found.decisions, decisions[found.rows])
    assert found.ids == [pool.ids[row] for row in found.rows]
    inside = np.abs(decisions) < 1 if classes == 2 else (np.abs(decisions) < 1).any(axis=1)
    assert found.within == inside.sum()
    np.testing.assert_array_equal(gaps_of(decisions), gaps)


def test_chunks_and_the_whole_pool_give_the_same():
    model, (pool, _) = model_of(), sequences(300, seed=8)
    whole = suggest(model, [pool], 7)
    parts = suggest(model, [pool.take(slice(a, a + 70)) for a in range(0, 300, 70)], 7)
    assert parts.rows.tolist() == whole.rows.tolist()
    np.testing.assert_allclose(parts.distances, whole.distances)
    assert (parts.n_pool, parts.within) == (whole.n_pool, whole.within)


def test_copies_are_chosen_once():
    model, (pool, _) = model_of(), sequences(40, seed=8)
    nearest = int(np.argmin(np.abs(model.decision(pool))))
    copies = as_sequences([*pool.strings(), *[pool.string(nearest)] * 20], "dna")
    assert len({copies.string(int(row)) for row in suggest(model, [copies], 8).rows}) == 8
    assert len({copies.string(int(row)) for row in suggest(model, [copies], 8, diversity=0).rows}) == 1


def test_seeds():
    model, (pool, _) = model_of(), sequences(40, seed=8)
    copies = as_sequences(pool.strings() * 2, "dna")
    for strategy in ("uncertain", "random"):
        drawn = [suggest(model, [copies], 5, strategy=strategy, seed=seed).rows.tolist() for seed in (1, 1, 2, 3)]
        assert drawn[0] == drawn[1]
        assert drawn[2] != drawn[0] or drawn[3] != drawn[0]


def test_when_to_stop():
    model, (pool, _) = model_of(), sequences(40, seed=8)
    decisions = np.abs(model.decision(pool))
    far = pool.take(np.flatnonzero(decisions > 1))
    assert len(far)
    assert suggest(model, [far], 3).sentence() == (
        "no sequence of the pool is within the margin: labels of more would change little"
    )
    some = suggest(model, [pool], 3).sentence()
    assert some == f"{np.sum(decisions < 1)} of 40 records in the pool are within the margin: more labels may help"
    assert "no rule says when to stop" in suggest(model_of(solver="kernel_neighbors"), [pool], 3).sentence()


def test_small_pools():
    model, (pool, _) = model_of(), sequences(4, seed=8)
    assert sorted(suggest(model, [pool], 10).rows.tolist()) == [0, 1, 2, 3]
    nothing = suggest(model, [], 10)
    assert (len(nothing.rows), nothing.n_pool) == (0, 0)


def test_what_has_no_classes_is_refused():
    X, _ = sequences(12)
    real = train_model(X, make_labels(X.ids, np.arange(12.0), kind="real"), SpectrumKernel(2), "svr")
    with pytest.raises(ModelError, match="predicts numbers, so that no record is between classes; give a model"):
        suggest(real, [X])
    alone = train_model(X, make_labels(X.ids, [""] * 12, kind="none"), SpectrumKernel(2), "one_class_svm")
    with pytest.raises(ModelError, match="trained without classes"):
        suggest(alone, [X])
    for wrong in ({"n": 0}, {"diversity": 1.5}, {"strategy": "best"}, {"seed": -1}):
        with pytest.raises(ParameterError):
            suggest(model_of(), [X], **wrong)
