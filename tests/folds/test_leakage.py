"""The leakage check against plain comparisons of strings, and on public data with known duplicates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqkern.core.errors import ParameterError
from seqkern.evaluation import FoldSet, Split, leakage, make_folds
from seqkern.evaluation.leakage import HEADER, KINDS, contained_pairs, find_links, leakage_rows, write_leakage
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.similarity import chance_length
from seqkern.sequences.tables import FeatureTable, SimilarityTable


def encoded(strings, alphabet="dna"):
    return SequenceSet.from_strings(strings, alphabet, unknown="mask_all").compact()


def one_split(n, train, test):
    return FoldSet("t", tuple(f"u{i}" for i in range(n)), (Split("1", np.array(train), np.array(test)),))


def labels_of(y, **columns):
    return Labels([f"u{i}" for i in range(len(y))], y, "binary", ("no", "yes"), **columns)


def read_fasta(path):
    """Return headers and sequences of a FASTA file."""
    records = [record.split("\n", 1) for record in path.read_text().split(">")[1:]]
    return [head for head, _ in records], ["".join(body.split()) for _, body in records]


def random_strings(n, low, high, letters="ACGT", seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), rng.integers(low, high + 1))) for _ in range(n)]


def test_identical_units_share_a_class():
    links = find_links(encoded(["ACGT", "GGGG", "ACGT", "ACG", "CCCC"]), contained=False)
    assert links.identical.tolist() == [0, 1, 0, 2, 3]
    assert links.pairs.shape == (0, 2)
    both = find_links(encoded(["AACG", "GGGG", "CGTT", "ACG", "CCCC"]), contained=False, reverse_complement=True)
    assert both.identical.tolist() == [0, 1, 0, 2, 1]
    with pytest.raises(ParameterError, match="no complement"):
        find_links(encoded(["AC"], "protein"), reverse_complement=True)


def test_the_other_strand_is_searched_only_if_it_is_asked_for():
    (forward,) = random_strings(1, 60, 60, seed=3)
    X = encoded([forward, forward[::-1].translate(str.maketrans("ACGT", "TGCA")), *random_strings(2, 60, 60, seed=4)])
    assert find_links(X, contained=False, identity=0.9).pairs.tolist() == []
    # by default, as it is decided for these data: both strands of DNA
    assert find_links(X, contained=False, identity="auto").pairs.tolist() == [[0, 1]]
    with pytest.raises(ParameterError, match="identity"):
        find_links(FeatureTable([[0.0], [1.0]]), identity=0.0)


def test_masked_letters_are_one_letter():
    assert find_links(encoded(["ANG", "ARG", "ACG"])).identical.tolist() == [0, 0, 1]


def naive_contained(short, long, min_length):
    return [
        (i, j)
        for i, a in enumerate(short)
        for j, b in enumerate(long)
        if len(a) >= min_length and len(b) > len(a) and a in b
    ]


@given(
    st.lists(st.text("ACN", min_size=1, max_size=7), min_size=1, max_size=12, unique=True),
    st.lists(st.text("ACN", min_size=1, max_size=14), min_size=1, max_size=8),
    st.integers(1, 4),
)
def test_contained_pairs_agree_with_plain_search(short, long, min_length):
    assert contained_pairs(encoded(short), encoded(long), min_length) == naive_contained(short, long, min_length)


@pytest.mark.parametrize("chunk", [1, 50, 1 << 21])
def test_contained_pairs_in_chunks_of_any_size(monkeypatch, chunk):
    monkeypatch.setattr(leakage, "CHUNK", chunk)
    long = random_strings(60, 30, 90)
    rng = np.random.default_rng(1)
    short = list(dict.fromkeys(s[a : a + rng.integers(8, 25)] for s in long for a in rng.integers(0, 20, 3)))
    expected = naive_contained(short, long, 10)
    assert len(expected) > 50
    assert contained_pairs(encoded(short), encoded(long), 10) == expected


def test_contained_pairs_survive_a_useless_hash(monkeypatch):
    # every letter hashes alike: all places are candidates, the letters decide
    monkeypatch.setattr(leakage._Rolling, "values", np.ones(256, dtype=np.uint64))
    short, long = random_strings(15, 3, 6, seed=2), random_strings(10, 5, 30, seed=3)
    short = list(dict.fromkeys(short))
    assert contained_pairs(encoded(short), encoded(long), 3) == naive_contained(short, long, 3)


def test_containment_reaches_the_reverse_strand():
    X = encoded(["ACCTGATT", "GGAATCAGGTCC", "TTTTTTTTTTTTTTT"])
    assert find_links(X, min_length=5).pairs.tolist() == []
    links = find_links(X, min_length=5, reverse_complement=True)
    assert links.pairs.tolist() == [[0, 1]]
    assert links.of("contained").tolist() == [True]
    assert find_links(X, min_length=5, reverse_complement=True, contained=False).pairs.tolist() == []
    assert find_links(X, min_length=9, reverse_complement=True).pairs.tolist() == []


def test_chance_length_leaves_less_than_one_pair_to_chance():
    X = encoded(random_strings(200, 100, 100))
    length = chance_length(X)
    assert 200 * X.lengths.sum() / 4.0**length < 1 <= 200 * X.lengths.sum() / 4.0 ** (length - 1)


def mutated(string, count, rng, letters="ACGT"):
    """Return the string with `count` letters replaced by others."""
    result = list(string)
    for place in rng.choice(len(string), count, replace=False):
        result[place] = rng.choice([letter for letter in letters if letter != result[place]])
    return "".join(result)


def test_links_name_the_strongest_kind_once():
    (whole,) = random_strings(1, 100, 100)
    near = mutated(whole, 4, np.random.default_rng(0))
    links = find_links(encoded([whole, whole[10:90], near]), identity=0.9)
    assert list(zip(links.pairs.tolist(), [KINDS[kind] for kind in links.kind], strict=True)) == [
        ([0, 2], "similar"),
        ([1, 0], "contained"),
        ([1, 2], "similar"),
    ]
    assert links.identity[1] == 1.0
    with pytest.raises(ParameterError, match="identity=0"):
        find_links(encoded([whole]), identity=0)


def test_groups_join_links_of_all_kinds():
    (a, b, c) = random_strings(3, 60, 60, seed=8)
    X = encoded([a, b, a[5:50], c, b, a + "ACGT"])
    assert find_links(X).groups().tolist() == [0, 1, 0, 2, 1, 0]
    assert find_links(X, contained=False).groups().tolist() == [0, 1, 2, 3, 1, 4]


def test_tables():
    table = FeatureTable([[0.0, 1.0], [2.0, 3.0], [-0.0, 1.0]])
    assert find_links(table).identical.tolist() == [0, 1, 0]
    square = SimilarityTable(np.ones((3, 3)))
    assert find_links(square).identical.tolist() == [0, 1, 2]


def test_rows_say_what_crosses_a_split():
    (a, b, c) = random_strings(3, 60, 60, seed=8)
    #          0  1  2        3  4  5           6
    strings = [a, a, a[3:40], b, a, c[:30] + "A", c]
    links = find_links(encoded(strings))
    rows = leakage_rows(links, one_split(7, [0, 1, 3, 6], [2, 4, 5]), labels_of([0] * 6 + [1]))
    assert rows == [("t", "1", "identical", "u4", "u0", 1.0), ("t", "1", "contained", "u2", "u0", 1.0)]
    turned = leakage_rows(links, one_split(7, [2, 3], [0, 1, 4]), labels_of([0] * 6 + [1]))
    assert turned == [("t", "1", "contained", unit, "u2", 1.0) for unit in ("u0", "u1", "u4")]
    assert leakage_rows(links, one_split(7, [0, 1, 2, 4], [3, 5, 6]), labels_of([0] * 6 + [1])) == []


def test_rows_name_the_most_similar_training_unit():
    rng = np.random.default_rng(0)
    (whole,) = random_strings(1, 100, 100)
    links = find_links(encoded([mutated(whole, 8, rng), mutated(whole, 2, rng), whole]), identity=0.9)
    (row,) = leakage_rows(links, one_split(3, [0, 1], [2]), labels_of([0, 1, 0]))
    assert row == ("t", "1", "similar", "u2", "u1", 0.98)


def test_conflicts_are_told_once_for_each_set():
    X = encoded(["ACGT", "ACGT", "ACGT", "GGGG", "GGGG", "CCCC", "CCCC"])
    labels = labels_of([0, 1, 1, 0, 0, 1, -1])
    rows = leakage_rows(find_links(X), FoldSet("t", tuple(labels.ids), ()), labels)
    assert rows == [("t", "", "conflict", "u0", "u1", 1.0)]
    real = Labels(labels.ids, [1.0, 1.0, 1.5, 2.0, 2.0, 3.0, np.nan], "real")
    rows = leakage_rows(find_links(X), FoldSet("t", tuple(labels.ids), ()), real)
    assert rows == [("t", "", "conflict", "u0", "u2", 1.0)]


def test_file(tmp_path):
    write_leakage(tmp_path / "leakage.tsv", [("t", "1", "similar", "a", "b", 2 / 3)])
    assert (tmp_path / "leakage.tsv").read_text() == "\t".join(HEADER) + "\nt\t1\tsimilar\ta\tb\t0.6666666667\n"


def test_splice_junctions_have_185_duplicates_and_one_conflict(shared_data):
    lines = (shared_data / "uci_splice" / "splice.data").read_text().splitlines()
    names, _, strings = zip(*([cell.strip() for cell in line.split(",")] for line in lines), strict=True)
    X = encoded(strings)
    links = find_links(X)
    assert len(X) - len(set(links.identical.tolist())) == 185
    classes = sorted(set(names))
    labels = Labels(X.ids, [classes.index(name) for name in names], "multiclass", tuple(classes))
    loose = leakage_rows(links, make_folds(labels, k=10, seed=1), labels)
    assert sum(row[2] == "conflict" for row in loose) == 1
    assert sum(row[2] == "identical" for row in loose) > 100
    tight = leakage_rows(links, make_folds(labels, k=10, seed=1, links=links.groups()), labels)
    assert [row[2] for row in tight] == ["conflict"]


@pytest.mark.parametrize(("family", "copies"), [("2.1", 4), ("3.33", 2), ("1.1", 0)])
def test_scop_families_share_a_few_sequences(shared_data, family, copies):
    folder = shared_data / "scop_families"
    (heads, train), (more, test) = (read_fasta(folder / f"{family}.{part}.fasta") for part in ("train", "test"))
    X = encoded(train + test, "protein")
    y = [int(head[0]) for head in heads + more]
    labels = Labels(X.ids, y, "binary", ("0", "1"))
    roles = ["train"] * len(train) + ["test"] * len(test)
    foldset = make_folds(labels, method="predefined", roles=roles)
    rows = leakage_rows(find_links(X), foldset, labels)
    identical = [row for row in rows if row[2] == "identical"]
    assert len(identical) == copies == sum(string in set(train) for string in test)
    least, all_train, all_test = chance_length(X), "\n".join(train), "\n".join(test)
    parts_of_test = [other for other in dict.fromkeys(train) if other in all_test]
    inside = {
        str(row)
        for row, mine in enumerate(test, start=len(train) + 1)
        for other in (dict.fromkeys(train) if mine in all_train else parts_of_test)
        if len(mine) != len(other) and min(len(mine), len(other)) >= least and (mine in other or other in mine)
    }
    assert {row[3] for row in rows if row[2] == "contained"} == inside
