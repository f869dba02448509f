"""Search by alignment, 6-mers and position weight matrices: against plain formulas, without a look at test sets."""

import math
from functools import cache

import numpy as np
import pytest
from naive_alignment import best_by_recursion, scores_of

from seqkern import SequenceSet
from seqkern.core.errors import ParameterError
from seqkern.evaluation import make_folds, roc_auc
from seqkern.methods import baselines as alignment_module
from seqkern.methods.baselines import BASELINES, BaselineData, applicable, decide, run_baselines, too_costly
from seqkern.sequences.labels import make_labels
from seqkern.sequences.tables import FeatureTable
from seqkern.study import Dataset, Task

LETTERS = {"dna": "ACGT", "rna": "ACGU", "protein": "ACDEFGHIKLMNPQRSTVWY"}
CONSTANTS = {"dna": (0.625, 0.41), "rna": (0.625, 0.41), "protein": (0.267, 0.041)}
NEW = ("nearest", "alignment", "kmers", "pwm")
TRAIN, TEST = np.arange(14), np.arange(14, 20)


def texts_of(alphabet, n=20, lengths=(10, 16), seed=1):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(LETTERS[alphabet]), size=rng.integers(*lengths))) for _ in range(n)]


def sample(texts, labels, alphabet, kind=None):
    X = SequenceSet.from_strings(texts, alphabet)
    return X, make_labels(X.ids, labels, **({"kind": kind} if kind else {}))


def opposite(text):
    return text[::-1].translate(str.maketrans("ACGT", "TGCA"))


@cache
def naive_evidence(x, y, alphabet):
    """Return −ln E of two sequences."""
    if alphabet == "protein":
        found = best_by_recursion(x, y, scores_of("BLOSUM62"), 12, 1)
    else:
        strands = [y, opposite(y)] if alphabet == "dna" else [y]
        found = max(best_by_recursion(x, z, lambda a, b: 2 if a == b else -3, 7, 2) for z in strands)
    lam, K = CONSTANTS[alphabet]
    return lam * found - math.log(K * len(x) * len(y))


@pytest.mark.parametrize("alphabet", ["protein", "dna", "rna"])
def test_searches_are_those_of_plain_python(alphabet):
    texts, y = texts_of(alphabet), ["a", "b"] * 10
    common = texts[1][:5]
    texts = [text[:3] + common + text[3:] if i % 2 and i not in (3, 15) else text for i, text in enumerate(texts)]
    X, labels = sample(texts, y, alphabet)
    positives = [i for i in TRAIN if y[i] == "b"]
    for name, average in (("nearest", max), ("alignment", np.mean)):
        values = {i: average([naive_evidence(texts[i], texts[j], alphabet) for j in positives]) for i in TEST}
        own = {i: average([naive_evidence(texts[i], texts[j], alphabet) for j in positives if i != j]) for i in TRAIN}
        decisions, predicted = decide(name, X, labels, TRAIN, TEST)
        shift = values[TEST[0]] - decisions[0]
        np.testing.assert_allclose(decisions + shift, [values[i] for i in TEST], atol=1e-5)
        assert predicted is decisions
        # the threshold, subtracted from all, has the best balanced accuracy on the training set
        balanced = {
            cut: sum((own[i] > cut) == (y[i] == "b") for i in positives) / len(positives)
            + sum(own[i] <= cut for i in TRAIN if y[i] == "a") / (len(TRAIN) - len(positives))
            for cut in [-math.inf, *own.values(), shift]
        }
        assert balanced[shift] == pytest.approx(max(balanced.values())) != 1


@pytest.mark.parametrize(("name", "average"), [("nearest", max), ("alignment", np.mean)])
def test_of_several_classes_the_one_with_the_best_score_wins(name, average):
    texts, y = texts_of("protein"), (["a", "b", "c"] * 7)[:20]
    X, labels = sample(texts, y, "protein")
    decisions, predicted = decide(name, X, labels, TRAIN, TEST)
    for row, code, i in zip(decisions, predicted, TEST, strict=True):
        naive = [average([naive_evidence(texts[i], texts[j], "protein") for j in TRAIN if y[j] == c]) for c in "abc"]
        np.testing.assert_allclose(row, naive, atol=1e-5)
        assert code == np.argmax(naive)


def test_a_real_label_is_that_of_the_best_hit():
    texts = texts_of("protein")
    X, labels = sample(texts, [str(i * 0.5) for i in range(20)], "protein", "real")
    decisions, _ = decide("nearest", X, labels, TRAIN, TEST)
    best = [max(TRAIN, key=lambda j, i=i: naive_evidence(texts[i], texts[j], "protein")) for i in TEST]
    assert decisions.tolist() == [j * 0.5 for j in best]


def test_many_training_sequences_are_searched_in_part_whatever_the_test_set(monkeypatch):
    monkeypatch.setattr(alignment_module, "MOST_SEARCHED", 3)
    X, labels = sample(texts_of("protein"), ["a", "b"] * 10, "protein")
    (chosen,) = BaselineData(X).alignment.searched(labels, TRAIN)
    assert len(chosen) == 3
    assert set(chosen) <= {i for i in TRAIN if i % 2}
    rest = np.setdiff1d(TRAIN, chosen[:1])
    (again,) = BaselineData(X).alignment.searched(labels, rest)
    assert set(chosen[1:]) <= set(again)


def test_too_many_alignments_are_left_out_with_the_reason(monkeypatch):
    X, labels = sample(texts_of("protein"), ["a", "b"] * 10, "protein")
    assert "nearest" in applicable(X, labels)
    monkeypatch.setattr("seqkern.methods.baselines.MOST_PAIRS", 10)
    assert applicable(X, labels) == ["majority", "composition"]
    assert too_costly(BaselineData(X), [(labels, TRAIN)]).endswith("pairs of residues to align, more than 1e+01")
    folds = {"all": make_folds(labels, k=2, seed=1)}
    names = {name for name, _ in run_baselines(Dataset("d", "sequences", X, {"all": Task("all", labels)}), folds)}
    assert names == {"majority", "composition"}


def naive_weights(texts, own, others, alphabet):
    """Return the log odds {(position, letter): value}, with one pseudocount for each letter."""
    size = len(LETTERS[alphabet])
    found = {}
    for p in range(len(texts[0])):
        for a in LETTERS[alphabet]:
            shares = [(1 + sum(texts[i][p] == a for i in rows)) / (size + len(rows)) for rows in (own, others)]
            found[p, a] = math.log(shares[0] / shares[1])
    return found


@pytest.mark.parametrize("alphabet", ["dna", "protein"])
@pytest.mark.parametrize("classes", ["ab", "abc"])
def test_a_position_weight_matrix_is_that_of_plain_python(alphabet, classes):
    texts, y = texts_of(alphabet, lengths=(9, 10)), (list(classes) * 10)[:20]
    X, labels = sample(texts, y, alphabet)
    decisions, predicted = decide("pwm", X, labels, TRAIN, TEST)
    naive = []
    for c in classes:
        own, others = ([i for i in TRAIN if (y[i] == c) == same] for same in (True, False))
        weights = naive_weights(texts, own, others, alphabet)
        naive.append([sum(weights[p, a] for p, a in enumerate(texts[i])) for i in TEST])
    expected = np.transpose(naive) if len(classes) == 3 else np.array(naive[1])
    np.testing.assert_allclose(decisions, expected, atol=1e-12)
    assert len(classes) == 2 or predicted.tolist() == expected.argmax(axis=1).tolist()


def test_masked_residues_add_nothing_to_a_position_weight_matrix():
    X = SequenceSet.from_strings(["AC", "AG", "TC", "TG", "NA", "AN"], "dna", unknown="mask")
    labels = make_labels(X.ids, ["1", "1", "0", "0", "1", "1"])
    decisions, _ = decide("pwm", X, labels, np.arange(4), np.array([4, 5]))
    np.testing.assert_allclose(decisions, [0, math.log(3)])


@pytest.mark.parametrize(("alphabet", "both"), [("dna", True), ("rna", False)])
def test_6_mers_are_counted_on_both_strands_of_dna(alphabet, both):
    texts = texts_of(alphabet, lengths=(6, 30))
    table = BaselineData(SequenceSet.from_strings(texts, alphabet)).kmers.toarray()
    for i, x in enumerate(texts):
        for j, y in enumerate(texts[:5]):
            counts = []
            for text in (x, y):
                kmers = [text[p : p + 6] for p in range(len(text) - 5)]
                kmers = [min(u, opposite(u)) if both else u for u in kmers]
                counts.append({u: kmers.count(u) for u in kmers})
            product = sum(counts[0][u] * counts[1].get(u, 0) for u in counts[0])
            norm = math.prod(math.sqrt(sum(c * c for c in one.values())) for one in counts)
            assert table[i] @ table[j] == pytest.approx(product / norm)


@pytest.mark.parametrize("kind", ["binary", "multiclass", "real"])
@pytest.mark.parametrize("alphabet", ["dna", "protein"])
@pytest.mark.parametrize("lengths", [(12, 13), (8, 16)])
def test_decisions_depend_on_no_test_label_and_on_no_other_test_sample(kind, alphabet, lengths):
    texts = texts_of(alphabet, lengths=lengths)
    classes = {"binary": "ab", "multiclass": "abc", "real": "0123456"}[kind]
    y = (list(classes) * 10)[:20]
    X, labels = sample(texts, y, alphabet, kind)
    names = applicable(X, labels)
    assert {"nearest", "composition"} <= set(names)
    others = texts[:15] + [text[::-1] for text in texts[15:]]
    changed = y[:14] + [classes[0]] * 6
    Z, unlike = sample(others, changed, alphabet, kind)
    for name in names:
        decisions, _ = decide(name, X, labels, TRAIN, TEST)
        again, _ = decide(name, Z, unlike, TRAIN, TEST)
        np.testing.assert_array_equal(again[0], decisions[0], err_msg=name)
        alone, _ = decide(name, X, labels, TRAIN, TEST[:1])
        np.testing.assert_allclose(alone[0], decisions[0], rtol=1e-12, err_msg=name)


def test_noise_stays_near_one_half():
    found = {name: [] for name in ("composition", *NEW)}
    for seed in range(20):
        X, labels = sample(texts_of("dna", 60, (20, 21), seed), ["a", "b"] * 30, "dna")
        data, order = BaselineData(X), np.random.default_rng(seed).permutation(60)
        train, test = np.sort(order[:30]), np.sort(order[30:])
        for name, scores in found.items():
            scores.append(roc_auc(labels.y[test], decide(name, data, labels, train, test)[0]))
    for name, scores in found.items():
        error = np.std(scores) / math.sqrt(len(scores))
        assert abs(np.mean(scores) - 0.5) < 3 * error, name


def test_signals_are_found():
    rng = np.random.default_rng(3)
    motif, texts, y = "TGACTCAT", [], []
    for i in range(120):
        text = "".join(rng.choice(list("ACGT"), size=rng.integers(60, 90)))
        place = rng.integers(0, 50)
        y.append("ab"[i % 2])
        texts.append(text[:place] + (motif if i % 4 == 1 else opposite(motif)) + text[place:] if i % 2 else text)
    X, labels = sample(texts, y, "dna")
    train, test = np.arange(80), np.arange(80, 120)
    assert roc_auc(labels.y[test], decide("kmers", X, labels, train, test)[0]) > 0.8
    windows, labels = sample([("AC" if i % 2 else "GT") + texts[i][:20] for i in range(120)], y, "dna")
    assert roc_auc(labels.y[test], decide("pwm", windows, labels, train, test)[0]) > 0.95


def test_what_suits_which_data():
    y = ["a", "b"] * 10
    texts = texts_of("protein")
    assert applicable(*sample(texts, y, "protein")) == ["majority", "composition", "nearest", "alignment"]
    peptides = sample(texts_of("protein", lengths=(9, 10)), y, "protein")
    assert applicable(*peptides) == ["majority", "composition", "nearest", "alignment", "pwm"]
    assert applicable(*sample(["HEC", "HHEC"] * 10, y, "HEC")) == ["majority", "composition"]
    labels = peptides[1]
    table = FeatureTable(np.ones((20, 2)), labels.ids, ["x", "y"])
    assert applicable(table, labels) == ["majority"]
    with pytest.raises(ParameterError, match="the baseline pwm does not suit these data"):
        decide("pwm", table, labels, TRAIN, TEST)
    with pytest.raises(ParameterError, match="unknown baseline 'pmw'"):
        decide("pmw", table, labels, TRAIN, TEST)


def test_every_baseline_is_described():
    for name, baseline in BASELINES.items():
        assert baseline.name == name
        assert baseline.sentence.endswith(".")
        assert not baseline.phrase.endswith(".")


@pytest.mark.parametrize("missing", ["a", "b"])
@pytest.mark.parametrize("classes", ["ab", "abc"])
def test_a_class_may_be_missing_from_the_training_set(missing, classes):
    y = (list(classes) * 10)[:20]
    X, labels = sample(texts_of("dna", lengths=(12, 13)), y, "dna")
    train = np.array([i for i in TRAIN if y[i] != missing])
    for name in ("majority", "composition", *NEW):
        decisions, predicted = decide(name, X, labels, train, TEST)
        assert np.isfinite(decisions).all(), name
        assert len(decisions) == len(predicted) == len(TEST)


def test_short_and_masked_sequences_have_decisions():
    texts = ["A", "NNNNNNNN", "ACGTACGTA", "GGGTTTAAA", "AC", "N"]
    X = SequenceSet.from_strings(texts, "dna", unknown="mask")
    labels = make_labels(X.ids, ["1", "0", "1", "0", "1", "0"])
    for name in applicable(X, labels):
        assert np.isfinite(decide(name, X, labels, np.arange(4), np.arange(4, 6))[0]).all(), name
