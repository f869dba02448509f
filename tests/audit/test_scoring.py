"""Scores with and without overlap, and the sentence about them."""

import math

import numpy as np
import pytest

from seqkern.core.errors import TooLargeError
from seqkern.evaluation import relations as overlap_search
from seqkern.evaluation.ranking import roc_auc
from seqkern.evaluation.relations import choose_rows
from seqkern.methods import audited
from seqkern.report import audit, find_relations, make_parts


def unlearnable(copied, seed=1, n=120, n_test=60):
    """Return parts with labels at random, of which a share of the test sequences are copied from training."""
    rng = np.random.default_rng(seed)
    train = ["".join(rng.choice([*"ACGT"], rng.integers(60, 90))) for _ in range(n)]
    labels = rng.integers(0, 2, n)
    copies = int(copied * n_test)
    test = train[:copies] + ["".join(rng.choice([*"ACGT"], 70)) for _ in range(n_test - copies)]
    return make_parts(train, test, labels, [*labels[:copies], *rng.integers(0, 2, n_test - copies)])


def test_memorised_copies_give_the_score_and_nothing_is_left_without_them():
    found = audit(unlearnable(0.5, n=200, n_test=160), n_threads=1)
    auc = {(row.title, row.subset): row.auc for row in found.scores.rows}
    for name in ("gapped k-mers", "spectrum", "nearest neighbour"):
        assert auc[name, "overlap"] == 1
        assert abs(auc[name, "without"] - 0.5) < 0.2
        assert auc[name, "all"] > 0.7
    assert abs(auc["length only", "all"] - 0.5) < 0.2
    whole, rest = auc["gapped k-mers", "all"], auc["gapped k-mers", "without"]
    assert found.verdict == (
        "80 of 160 test sequences (50%) are identical to a training sequence; without them the AUC of an SVM on "
        f"gapped k-mers falls from {whole:.3f} to {rest:.3f}: report scores without them."
    )


def test_without_overlap_there_is_one_subset():
    found = audit(unlearnable(0), n_threads=1)
    assert {row.subset for row in found.scores.rows} == {"all"}
    assert found.verdict.startswith("No overlap found: none of the 60 test sequences is identical to a training seq")


def test_length_alone_is_found_out():
    rng = np.random.default_rng(2)
    texts = [["A" * size for size in rng.integers(low, low + 20, 30)] for low in (20, 60)]
    parts = make_parts(
        [x[::2][i] for x in texts for i in range(15)],
        ["".join(rng.choice([*"ACGT"], len(x))) for one in texts for x in one[1::2]],
        ["short"] * 15 + ["long"] * 15,
        ["short"] * 15 + ["long"] * 15,
        alphabet="dna",
    )
    rows = audit(parts, n_threads=1).scores.rows
    assert next(row.auc for row in rows if row.title == "length only" and row.subset == "all") == 1


@pytest.mark.parametrize(
    ("train", "test", "reason"),
    [
        (None, None, "the sequences have no labels"),
        ([1, 1], [1, 0], r"the training sequences are of one class \(1\)"),
        ([1, 0], [1, 1], r"the test sequences are of one class \(1\)"),
        ([1, 0], ["", ""], "the test sequences are without labels"),
    ],
)
def test_without_two_classes_there_are_findings_alone(train, test, reason):
    found = audit(make_parts(["GATTACAGA", "CCCTCTTTG"], ["GATTACAGA", "ACCCAGTTG"], train, test), n_threads=1)
    assert found.scores.rows == ()
    assert found.findings[0].test == 1
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(*found.scores.remarks)


def test_labels_that_mean_unknown_give_findings_alone():
    strings = ["GATTACAGA", "CCCTCTTTG", "AAAAC"]
    found = audit(make_parts(strings, strings[:2], ["a", "unknown", "b"], ["a", "unknown"]), n_threads=1)
    assert found.scores.remarks == ("no scores: 2 labels are 'unknown'",)
    assert found.findings[0].test == 2


def test_several_classes():
    rng = np.random.default_rng(4)
    words = {"a": "ACAC", "g": "GTGT", "t": "TTAA"}
    texts = [(name, word * 5 + "".join(rng.choice([*"ACGT"], 10))) for name, word in words.items() for _ in range(12)]
    names, strings = zip(*texts, strict=True)
    tests, classes = [*strings[1::2], "GGGGGCCCCC"], [*names[1::2], "new"]
    found = audit(make_parts(strings[::2], tests, names[::2], classes), n_threads=1)
    assert found.scores.remarks == ("1 test sequences are of classes that training lacks, and not scored",)
    row = found.scores.headline()["all"]
    assert row.auc == 1
    assert math.isnan(row.auc_low)
    assert row.mcc == 1


def test_large_parts_keep_relatives_and_do_not_depend_on_order(monkeypatch):
    monkeypatch.setattr(overlap_search, "MOST", 60)
    monkeypatch.setattr(overlap_search, "MOST_TEST", 20)
    parts = unlearnable(0.5)
    relations = find_relations(parts, n_threads=1)
    rows = choose_rows(parts, relations)
    assert (len(rows.test), len(rows.train)) == (20, 40)
    near = relations.row[rows.test]
    assert set(near[near >= 0] + parts.n_test) <= set(rows.train.tolist())
    order = np.arange(parts.n_train)[::-1]
    X, n = parts.X, parts.n_test
    turned = make_parts(X.take(n + order), X.take(slice(0, n)), np.array(parts.names[n:])[order], parts.names[:n])
    again = choose_rows(turned, find_relations(turned, n_threads=1))
    assert {turned.X.ids[row] for row in again.train} == {X.ids[row] for row in rows.train}
    found = audited.score_parts(parts, relations, n_threads=1)
    assert any("scores are of 40 of the 120 training sequences" in remark for remark in found.remarks)


def test_scores_are_those_of_the_decisions():
    parts = unlearnable(0.5)
    row = audit(parts, n_threads=1).scores.headline()["all"]
    # the same classifier without the machinery of the audit
    from seqkern.kernels import GappedKmerKernel
    from seqkern.solvers import CSVC

    kernel = GappedKmerKernel(l=10, k=6, d=3, estimator="truncated", reverse_complement=True)
    train, test = parts.X.take(slice(parts.n_test, None)), parts.X.take(slice(0, parts.n_test))
    y = np.array(parts.names, dtype=int)
    solver = CSVC(C=1.0, class_weight="balanced").fit(kernel(train), y[parts.n_test :])
    assert row.auc == pytest.approx(roc_auc(y[: parts.n_test], solver.decision_function(kernel(test, train))), abs=1e-3)


def test_too_little_memory_is_refused_before_any_search():
    with pytest.raises(TooLargeError, match=r"the audit needs .* more than the limit of 1 MB"):
        audited.audit(unlearnable(0), memory_limit="1MB")
