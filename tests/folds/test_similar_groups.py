"""Groups of similar samples: relaxed as a naive twin does it, what is kept together and told; and those of chains."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqkern.core.errors import FoldError
from seqkern.evaluation import make_folds
from seqkern.evaluation.fold_methods import Samples, fewer_folds, with_train_size
from seqkern.evaluation.folds import Split, chain_labels, groups_of_chains, relaxed_groups
from seqkern.evaluation.leakage import find_links, grouping_arguments, grouping_place, groups_of, similarity_messages
from seqkern.formats import STATES, Residues
from seqkern.sequences.labels import Labels, make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.similarity import SimilarGroups


def labels_of(y):
    return make_labels([str(i) for i in range(len(y))], ["abc"[code] for code in y])


def joined(*partitions):
    """Return the smallest row that each row is connected with by sharing a group."""
    found = list(range(len(partitions[0])))
    for _ in found:
        for part in partitions:
            found = [min(found[j] for j in range(len(part)) if part[j] == own) for own in part]
    return found


def naive_relaxed(similar, others, y, sets, least):
    groups, taken = list(similar), []
    for code in sorted(set(y)):
        own = [[i for i in rows if y[i] == code] for rows in sets]
        merged = joined(others, groups)
        counts = [(len({merged[i] for i in rows}), len({others[i] for i in rows})) for rows in own]
        count, single = sorted(counts)[0]
        if count < least and count < single:
            groups = [("alone", i) if y[i] == code else group for i, group in enumerate(groups)]
            taken.append((code, count))
    return groups, taken


@settings(max_examples=60)
@given(st.data())
def test_relaxed_groups_are_those_of_the_twin(data):
    n = data.draw(st.integers(2, 12))
    row = st.lists(st.integers(0, 4), min_size=n, max_size=n)
    similar, others, y = data.draw(row), data.draw(row), [code % 3 for code in data.draw(row)]
    y = [sorted(set(y)).index(code) for code in y]
    sets = data.draw(st.lists(st.lists(st.integers(0, n - 1), unique=True), min_size=1, max_size=3))
    sets = [np.array(sorted(rows), dtype=np.int64) for rows in sets]
    others = joined(others) if data.draw(st.booleans()) else None
    if len(set(y)) < 2:
        return
    expected, taken = naive_relaxed(similar, others or list(range(n)), y, sets, 3)
    groups, reasons = relaxed_groups(similar, others, labels_of(y), sets)
    expected = joined(expected)
    assert (groups is None) == (len(set(expected)) == n)
    assert groups is None or joined(groups.tolist()) == expected
    assert [reason.split(" of similar")[0] for reason in reasons] == [
        f"class {'abc'[code]!r} has {count} group{'' if count == 1 else 's'}" for code, count in taken
    ]


def test_what_is_kept_together_and_where():
    rng = np.random.default_rng(1)
    others = ["".join(rng.choice([*"ACGT"], 30)) for _ in range(16)]
    X = SequenceSet.from_strings(["GATTACA", "CCGATTACATT", "TTTTTTT", "TTTTTTT", *others], "dna")
    links, labels = find_links(X), labels_of([0, 1] * 10)
    together = [0, 0, 1, 1, *range(2, 18)]
    assert not groups_of("auto", links, labels, None, of_sequences=False)
    assert groups_of(True, links, labels, None, of_sequences=False).groups.tolist() == together
    found = groups_of("auto", links, labels, None, of_sequences=True)
    assert found.groups.tolist() == together
    assert grouping_arguments("auto", found, None)["similar"].tolist() == together
    assert grouping_arguments(True, found, None)["links"].tolist() == together
    assert grouping_arguments(False, found, None) == grouping_arguments("auto", SimilarGroups(np.arange(3)), None) == {}
    assert grouping_place(False, "stratified", {}) == ""
    assert grouping_place("auto", "stratified", {}) == "folds"
    assert (
        grouping_place("auto", "leave-one-group-out", {})
        == grouping_place("auto", "locus", {"train": ["1"]})
        == "inner folds"
    )


@pytest.mark.parametrize(
    ("reasons", "expected"),
    [
        (["", ""], []),
        (["one", "one"], ["one"]),
        (["one", "two"], ["one", "and so in 1 more task"]),
        (["", "one", "two", "three"], ["one", "and so in 2 more tasks"]),
    ],
)
def test_reasons_are_told_once(reasons, expected):
    alone = SimilarGroups(np.arange(3))
    assert list(similarity_messages([(alone, ("", reason)) for reason in reasons], "sequences")) == expected
    groups = SimilarGroups(np.array([0, 0, 1]))
    for where, ending in (("folds", "kept together in folds; --allow-similar to split them"), ("", "only reported")):
        first, *rest = similarity_messages([(groups, (where, reason)) for reason in reasons], "sequences")
        assert first.endswith(ending)
        assert rest == expected


def test_unlabelled_samples_have_no_part_in_similarity_groups():
    y, similar = [0, 1, -1] * 8, np.repeat(np.arange(12), 2)
    labels = Labels([str(i) for i in range(24)], y, "binary", ("no", "yes"))
    folds = make_folds(labels, k=2, similar=similar)
    used = np.flatnonzero(labels.used())
    assert sorted(row for split in folds for row in split.test) == used.tolist()
    assert all(not set(similar[split.train]) & set(similar[split.test]) for split in folds)
    assert (folds.groups[~labels.used()] == -1).all()
    assert joined(folds.groups[used].tolist()) == joined(similar[used].tolist())


def test_whole_chromosomes_of_each_class_are_folds():
    names = ["chr1", "chr2", "chr3", "chr1", "chr1", "chr2"]
    ids, y = list("abcdef"), ["peak"] * 3 + ["other"] * 3
    assert fewer_folds(5, make_labels(ids, y, chromosome=names, groups=names)) == 2
    assert fewer_folds(1, make_labels(ids, y, chromosome=names, groups=names)) == 1
    assert fewer_folds(5, make_labels(ids, y, chromosome=names, groups=list("uvwxyz"))) == 5
    assert fewer_folds(5, make_labels(ids, y, chromosome=names)) == 5


def test_chains_that_differ_in_known_states():
    # the second differs from the first only where its states are not known
    states = np.frombuffer(b"HEHH\0HHEE\0\0E\0\0\0", dtype=np.uint8)
    chains = SequenceSet.from_strings(["MKV"] * 5, "protein")
    residues = Residues.of_chains(chains.replace(tracks={STATES: states}), 3)
    identical = np.array([7, 7, 7, 7, 7])
    assert chain_labels(identical, residues).y.tolist() == [0, 0, 1, 1, 0]
    assert chain_labels(np.array([7, 7, 3, 3, 7]), residues).y.tolist() == [0, 0, 0, 0, 0]


def test_groups_of_chains_by_default():
    ids, chains = [*"abcdef"], np.array([4, 4, 9, 9, 2, 2])
    splits = [Split("1", train=np.array([0, 1]), test=np.array([2, 3]))]
    assert groups_of_chains(splits, None, chains, ids, "f.tsv").tolist() == [0, 0, 1, 1, -1, -1]
    own = np.array([5, 5, 5, 5, -1, -1])
    assert groups_of_chains(splits, own, chains, ids, "f.tsv") is own
    with pytest.raises(FoldError, match="another group"):
        groups_of_chains(splits, np.array([5, 5, 5, 6, -1, -1]), chains, ids, "f.tsv")


@pytest.mark.parametrize("size", [2, 3, 5, 9])
def test_smaller_training_sets_are_whole_groups_of_one_order(size):
    groups = np.repeat(np.arange(8), [1, 2, 3, 1, 2, 3, 1, 2])
    samples = Samples(labels_of([i % 2 for i in range(15)]), None, "t", None)
    train, test = np.flatnonzero(groups % 4), np.flatnonzero(groups % 4 == 0)
    [(_, rows, tested)] = with_train_size(samples, [("1", train, test)], groups, size, 3)
    expected = []
    for group in np.random.default_rng(3).permutation(8):
        own = [i for i in train if groups[i] == group]
        if expected and len(expected) + len(own) > size:
            break
        expected += own
    assert rows.tolist() == sorted(expected)
    assert tested is test
