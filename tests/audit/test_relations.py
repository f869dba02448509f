"""What test and training sequences share: planted overlaps, and plain comparisons."""

import numpy as np
import pytest
from planted_overlaps import TURNED, plant_overlaps, recall_and_precision

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.evaluation.relations import cluster_rows, conflicts, count_findings, find_within, overlap_rows
from seqkern.report import KINDS, find_relations, make_parts


@pytest.mark.parametrize(("alphabet", "hits"), [("dna", 2e7), ("dna", 0), ("protein", 2e7)])
def test_planted_overlaps_are_found_as_what_they_are(alphabet, hits, monkeypatch):
    monkeypatch.setattr("seqkern.sequences.similarity.SPACED", hits)  # 0: as in a very large set
    train, test, kinds = plant_overlaps(alphabet, 80, 8)
    found = find_relations(make_parts(train, test, alphabet=alphabet), n_threads=1)
    rates = recall_and_precision(kinds, found.kinds())
    assert rates == dict.fromkeys(rates, (1.0, 1.0))
    assert len(rates) == (5 if alphabet == "dna" else 4)


@pytest.mark.parametrize("hits", [2e7, 0])
def test_the_nearest_relative_is_the_source_of_the_copy(hits, monkeypatch):
    monkeypatch.setattr("seqkern.sequences.similarity.SPACED", hits)
    train, test, kinds = plant_overlaps("dna", 60, 5)
    relations = find_relations(make_parts(train, test, alphabet="dna"), n_threads=1)
    for text, kind, row, identity in zip(test, kinds, relations.row, relations.identity, strict=True):
        if not kind:
            assert row == -1
            continue
        source = train[row]
        if kind == "shared_kmer":
            assert any(source[i : i + 30] in text for i in range(len(source) - 29))
            assert identity == pytest.approx(30 / min(len(source), len(text)), abs=0.05)  # chance extends a stretch
        else:
            differ = {"identical": source, "reverse_complement": source.translate(TURNED)[::-1]}.get(kind, text)
            assert differ == text
            assert kind != "contained" or text in source
            assert kind != "similar" or identity == np.mean([a == b for a, b in zip(source, text, strict=True)])


def test_one_strand_misses_reverse_complements():
    train, test, kinds = plant_overlaps("dna", 40, 5)
    relations = find_relations(make_parts(train, test, alphabet="dna"), both_strands=False, n_threads=1)
    assert {kind for kind, found in zip(kinds, relations.kinds(), strict=True) if kind and not found} == {
        "reverse_complement"
    }


def test_counts_of_each_kind_and_conflicts():
    parts = make_parts(
        ["GATTACAGATTACA", "GATTACAGATTACA", "CCCTCTTTGTCAAC", "ACGCATCCGGGATT"],
        ["GATTACAGATTACA", "TGTAATCTGTAATC", "TTTTGGGGTTCACC"],
        ["1", "0", "", "1"],
        ["0", "1", "1"],
        alphabet="dna",
    )
    relations = find_relations(parts)
    found = {one.kind: one for one in count_findings(parts, relations, find_within(parts, relations))}
    identical, turned = found["identical"], found["reverse_complement"]
    assert (identical.test, identical.within_training, identical.conflicts_within_training) == (1, 2, 2)
    assert (turned.test, turned.within_test, turned.conflicts_within_test) == (1, 2, 2)
    # the first twin of the first test sequence has the label 1
    assert conflicts(parts, relations).tolist() == [True, False, False]
    assert found["any"].test == 2
    (row, _) = overlap_rows(parts, relations)
    assert (row["kind"], row["test_label"], row["train_label"], row["identity"]) == ("identical", "0", "1", 1.0)


def test_clusters_join_both_parts():
    train, test, kinds = plant_overlaps("dna", 40, 4)
    parts = make_parts(train, test, ["a"] * 40, ["b"] * len(test), alphabet="dna")
    rows = cluster_rows(parts, find_within(parts, find_relations(parts, n_threads=1)))
    # shared 30-mers alone make no near-duplicates
    assert len(rows) == sum(kind in KINDS[:4] for kind in kinds)
    assert {(row["training"], row["test"], row["labels"]) for row in rows} == {(1, 1, "a 1, b 1")}


def test_bad_parts_and_options():
    with pytest.raises(SequenceError, match="the test part has no sequences"):
        make_parts(["ACGT"], [], alphabet="dna")
    with pytest.raises(SequenceError, match="training sequences are dna, test sequences protein"):
        make_parts(["ACGT"], ["MKVLW"])
    with pytest.raises(ParameterError, match="k=40 is too large"):
        find_relations(make_parts(["ACGT"], ["ACGT"], alphabet="dna"), k=40)


def test_copies_within_parts_are_those_of_plain_comparisons():
    rng = np.random.default_rng(5)
    for _ in range(10):
        texts = ["".join(rng.choice([*"ACGT"], 2)) for _ in range(24)]
        labels = rng.choice(["a", "b", ""], 24).tolist()
        parts = make_parts(texts[8:], texts[:8], labels[8:], labels[:8], alphabet="dna")
        within = find_within(parts, find_relations(parts, n_threads=1))
        for i, own in enumerate(texts):
            for place, wanted in enumerate((own, own.translate(TURNED)[::-1])):
                if place and wanted == own:  # its own reverse complement
                    continue
                alike = [j for j in range(24) if j != i and (j < 8) == (i < 8) and texts[j] == wanted]
                others = [j for j in alike if labels[j] and labels[i] and labels[j] != labels[i]]
                assert within.has[i, place] == bool(alike)
                assert within.conflict[i, place] == bool(others)
