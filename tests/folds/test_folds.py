"""Splits: what may share a part, how even the parts are, what is refused, and the files."""

import csv
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqkern.cli.main import main
from seqkern.core.errors import FileError, FoldError, LabelError, ParameterError
from seqkern.evaluation import composition_rows, make_folds, read_folds, write_folds
from seqkern.sequences.labels import Labels, make_labels, natural_key
from seqkern.sequences.sampling import deal, locus_blocks, merge_groups
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.study import Dataset, Task, liao_noble, save_dataset


def binary(y, **columns):
    return Labels([f"u{i}" for i in range(len(y))], y, "binary", ("no", "yes"), **columns)


def parts(foldset):
    """Return the splits as (name, set of training rows, set of test rows)."""
    return [(split.name, set(split.train.tolist()), set(split.test.tolist())) for split in foldset]


def assert_partition(foldset, n):
    tested = [row for _, _, test in parts(foldset) for row in test]
    assert sorted(tested) == list(range(n))
    for _, train, test in parts(foldset):
        assert train == set(range(n)) - test


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=60),
    st.integers(2, 6),
    st.integers(0, 5),
)
def test_deal_levels_every_class_and_the_sizes(y, k, seed):
    fold = deal(np.array(y), k, seed)
    sizes = np.bincount(fold, minlength=k)
    assert sizes.max() - sizes.min() <= 1
    for c in set(y):
        counts = np.bincount(fold[np.array(y) == c], minlength=k)
        assert counts.max() - counts.min() <= 1
    assert np.array_equal(fold, deal(np.array(y), k, seed))


def test_deal_depends_on_the_seed_and_mixes():
    y = np.repeat([0, 1], 50)
    assert not np.array_equal(deal(y, 5, 1), deal(y, 5, 2))
    assert len(set(deal(y, 5, 1)[:10].tolist())) > 1


@given(st.data())
def test_deal_never_divides_a_group(data):
    n = data.draw(st.integers(2, 50))
    y = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    groups = np.array(data.draw(st.lists(st.integers(0, 12), min_size=n, max_size=n)))
    fold = deal(y, 3, 0, groups)
    assert set(fold.tolist()) <= {0, 1, 2}
    for g in set(groups.tolist()):
        assert len(set(fold[groups == g].tolist())) == 1


def test_deal_of_groups_is_at_least_as_even_as_scikit_learn():
    from sklearn.model_selection import StratifiedGroupKFold

    rng = np.random.default_rng(0)
    ours, theirs = [], []
    for seed in range(10):
        groups = rng.integers(0, 60, 400)
        y = (rng.random(60) < 0.3).astype(int)[groups] ^ (rng.random(400) < 0.05)
        fold = np.empty(400, int)
        splitter = StratifiedGroupKFold(5, shuffle=True, random_state=seed)
        for f, (_, test) in enumerate(splitter.split(y, y, groups)):
            fold[test] = f
        for collected, numbers in ((ours, deal(y, 5, seed, groups)), (theirs, fold)):
            share = np.array([np.bincount(numbers[y == c], minlength=5) / (y == c).sum() for c in (0, 1)])
            collected.append(np.abs(share - 0.2).max())
    assert np.mean(ours) <= np.mean(theirs)


def test_merge_groups_joins_through_chains():
    merged = merge_groups(7, ["a", "a", "b", "c", "d", "e", "f"], None, [0, 1, 2, 2, 3, 4, 5], pairs=[(6, 0)])
    assert merged.tolist() == [0, 0, 1, 1, 2, 3, 0]


@pytest.mark.parametrize("seed", range(20))
def test_merge_groups_numbers_what_is_linked_by_its_first_unit(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    partitions, pairs = rng.integers(n, size=(2, n)), rng.integers(n, size=(int(rng.integers(0, n)), 2))
    group = list(range(n))  # naive: whatever is linked takes the lower number, until nothing changes
    links = [(i, j) for part in partitions for i in range(n) for j in range(n) if part[i] == part[j]]
    before = None
    while before != group:
        before = list(group)
        for i, j in [*links, *pairs.tolist()]:
            group[i] = group[j] = min(group[i], group[j])
    numbers = {first: number for number, first in enumerate(dict.fromkeys(group))}
    merged = merge_groups(n, *partitions, pairs=pairs)
    assert merged.tolist() == [numbers[one] for one in group]
    assert merged.dtype == np.int64


def test_stratified():
    labels = binary([0] * 40 + [1] * 10)
    foldset = make_folds(labels, method="stratified", k=5, seed=3)
    assert_partition(foldset, 50)
    assert [split.name for split in foldset] == ["1", "2", "3", "4", "5"]
    for split in foldset:
        assert labels.y[split.test].sum() == 2
        assert len(split.test) == 10
        assert split.train.dtype == split.test.dtype == np.int64
        assert (np.diff(split.train) > 0).all()


def test_unlabelled_units_are_in_no_part():
    foldset = make_folds(binary([0, 1, -1, 0, 1, -1]), k=2)
    for _, train, test in parts(foldset):
        assert train | test == {0, 1, 3, 4}
    real = Labels(list("abcd"), [0.5, np.nan, 2.0, 3.0], "real")
    for _, train, test in parts(make_folds(real, k=3)):
        assert train | test == {0, 2, 3}


def test_linked_units_stay_together():
    links = np.arange(30) // 2
    for _, train, test in parts(make_folds(binary([0, 0, 1] * 10), k=3, links=links)):
        assert not {i // 2 for i in train} & {i // 2 for i in test}


def test_grouped_merges_groups_and_links():
    groups = np.array(list("aabbccddee"))
    links = np.array([0, 1, 1, 2, 3, 4, 5, 6, 7, 8])  # joins a and b
    labels = binary([0, 1] * 5, groups=groups)
    for _, train, test in parts(make_folds(labels, method="grouped", k=2, links=links)):
        for together in ({0, 1, 2, 3}, {4, 5}, {6, 7}, {8, 9}):
            assert together <= train or together <= test


def test_real_labels_are_dealt_evenly():
    foldset = make_folds(Labels(list("abcdefg"), np.arange(7.0), "real"), k=3, seed=1)
    assert_partition(foldset, 7)
    assert sorted(len(split.test) for split in foldset) == [2, 2, 3]


def test_predefined_folds_and_parts():
    labels = binary([0, 1] * 4, folds=["10", "10", "9", "9", "2", "2", "", ""])
    assert parts(make_folds(labels, method="predefined")) == [
        ("2", {0, 1, 2, 3}, {4, 5}),
        ("9", {0, 1, 4, 5}, {2, 3}),
        ("10", {2, 3, 4, 5}, {0, 1}),
    ]
    column = binary([0, 1] * 3, folds=["train", "train", "test", "test", "", ""])
    expected = [("1", {0, 1}, {2, 3})]
    assert parts(make_folds(column, method="predefined")) == expected
    roles = ["train", "train", "test", "test", "", ""]
    assert parts(make_folds(binary([0, 1] * 3), method="predefined", roles=roles)) == expected


def test_leave_one_out_and_leave_one_group_out():
    labels = binary([0, 1, 0, 1], groups=["b", "b", "a10", "a9"])
    foldset = make_folds(labels, method="leave-one-out")
    assert [test for _, _, test in parts(foldset)] == [{0}, {1}, {2}, {3}]
    assert_partition(foldset, 4)
    assert [test for _, _, test in parts(make_folds(labels, method="leave-one-out", links=[0, 0, 1, 2]))] == [
        {0, 1},
        {2},
        {3},
    ]
    foldset = make_folds(labels, method="leave-one-group-out")
    assert [(name, test) for name, _, test in parts(foldset)] == [("a9", {3}), ("a10", {2}), ("b", {0, 1})]


def test_locus_blocks_by_hand():
    chromosome = ["1", "1", "2", "1", "1", "2"]
    position = [500, 100, 100, 130, 600, 90]
    blocks = locus_blocks(chromosome, position, gap=100)
    assert blocks.tolist() == [1, 0, 3, 0, 2, 3]
    assert locus_blocks(chromosome, position, gap=101).tolist() == [1, 0, 2, 0, 1, 2]
    # a block goes on until it spans 450 bases
    assert locus_blocks(chromosome, position, gap=100, block=450).tolist() == [0, 0, 1, 0, 0, 1]


def test_locus_parts_never_come_nearer_than_the_gap():
    rng = np.random.default_rng(0)
    n = 400
    columns = {
        "chromosome": rng.choice(["I", "II"], n),
        "position": rng.integers(0, 60_000, n),
        "strand": rng.choice(["+", "-"], n),
    }
    labels = binary(rng.integers(0, 2, n), **columns)
    X = SequenceSet.from_strings(["ACGT" * 25] * n, "dna")
    foldset = make_folds(labels, X, "locus", k=3, seed=0, block=2_000)
    assert_partition(foldset, n)
    for split in foldset:
        for chromosome in ("I", "II"):
            train, test = (
                labels.position[rows][labels.chromosome[rows] == chromosome] for rows in (split.train, split.test)
            )
            assert np.abs(train[:, None] - test[None, :]).min() >= 100


def test_locus_by_chromosome():
    labels = binary([0, 1] * 3, chromosome=["1", "1", "2", "2", "3", "3"], position=range(6))
    assert parts(make_folds(labels, method="locus", train=1, test=[3])) == [("1", {0, 1}, {4, 5})]
    with pytest.raises(FoldError, match="'2' is both in train and in test"):
        make_folds(labels, method="locus", train=["1", "2"], test="2")
    with pytest.raises(ParameterError, match="chromosome"):
        make_folds(labels, method="locus", train="1", test="4")
    with pytest.raises(FoldError, match="need train and test"):
        make_folds(labels, method="locus", train="1")
    with pytest.raises(FoldError, match="gap"):
        make_folds(labels, method="locus", k=2)


def test_training_parts_of_a_learning_curve_are_nested_and_keep_the_shares_of_the_classes():
    y = [1] * 30 + [0] * 270 + [0, 1]
    labels = binary(y, chromosome=["1"] * 300 + ["2"] * 2, position=range(302))
    sizes = 20, 50, 299, 300
    trains = [
        next(iter(make_folds(labels, method="locus", seed=3, train="1", test="2", train_size=size))).train
        for size in sizes
    ]
    assert [len(train) for train in trains] == [*sizes]
    assert [int((np.array(y)[train] == 1).sum()) for train in trains[:2]] == [2, 5]
    for small, large in itertools.pairwise(trains):
        assert set(small) < set(large)
    with pytest.raises(FoldError, match="has 300 samples, but train_size is 301"):
        make_folds(labels, method="locus", train="1", test="2", train_size=301)
    with pytest.raises(FoldError, match="by chromosome"):
        make_folds(labels, method="locus", gap=10, k=2, train_size=10)


def test_liao_noble_by_hand():
    #                 family of two in a superfamily of five, a related superfamily, negatives
    family = ["a.1.1.1"] * 2 + ["a.1.1.2"] * 3 + ["a.1.2.1"] * 4 + ["b.1.1.1"] * 10
    superfamily = [name.rsplit(".", 1)[0] for name in family]
    scop_fold = [name.rsplit(".", 2)[0] for name in family]
    tasks = liao_noble(superfamily, family, 1, min_family=2, min_rest=3, fold=scop_fold)
    assert list(tasks) == ["a.1.1.1"]  # the rest of a.1.1.2's superfamily has two members only
    roles = tasks["a.1.1.1"]
    assert roles[:2].tolist() == ["positive-test"] * 2
    assert roles[2:5].tolist() == ["positive-train"] * 3
    assert roles[5:9].tolist() == [""] * 4
    assert sorted(roles[9:].tolist()) == ["negative-test"] * 4 + ["negative-train"] * 6
    unrelated = liao_noble(superfamily, family, 1, min_family=2, min_rest=3)["a.1.1.1"]
    assert "" not in unrelated
    again = liao_noble(superfamily, family, 1, min_family=2, min_rest=2, fold=scop_fold)
    assert list(again) == ["a.1.1.1", "a.1.1.2"]
    assert np.array_equal(again["a.1.1.1"], roles)
    with pytest.raises(FoldError, match="no family"):
        liao_noble(superfamily, family, 1)
    with pytest.raises(LabelError, match="'f' is in the superfamilies 's' and 't'"):
        liao_noble(["s", "t"], ["f", "f"], 1)


def test_liao_noble_has_the_make_up_of_the_published_one(shared_data):
    folder = shared_data / "edd_homology"
    names = [line.split()[2] for line in (folder / "EDD.fasta").read_text().splitlines() if line.startswith(">")]
    superfamily, scop_fold = ([name.rsplit(".", cut)[0] for name in names] for cut in (1, 2))
    tasks = liao_noble(superfamily, names, 1, fold=scop_fold)
    code = {"": "0", "positive-train": "1", "negative-train": "2", "positive-test": "3", "negative-test": "4"}
    with open(folder / "edd_ln_labels.tsv", newline="") as file:
        header, *rows = csv.reader(file, delimiter="\t")
    assert list(tasks) == header[1:]
    for column, roles in enumerate(tasks.values(), start=1):
        ours = np.array([code[role] for role in roles])
        theirs = np.array([row[column] for row in rows])
        for number in "013":
            assert np.array_equal(ours == number, theirs == number)
        assert (ours == "2").sum() == (theirs == "2").sum()


def test_liao_noble_folds_take_the_tasks_parts():
    labels = binary([1, 0, 1, 0, -1])
    for roles in (
        ["train", "train", "test", "test", ""],
        ["positive-train", "negative-train", "positive-test", "negative-test", ""],
    ):
        foldset = make_folds(labels, method="liao-noble", task="a.1.1.1", roles=roles)
        assert parts(foldset) == [("a.1.1.1", {0, 1}, {2, 3})]
    with pytest.raises(LabelError, match="Liao-Noble"):
        make_folds(labels, method="liao-noble")


def test_refusals():
    labels = binary([0, 0, 0, 0, 1, 1], groups=["a", "b", "c", "", "d", "d"])
    with pytest.raises(ParameterError, match="did you mean 'stratified'"):
        make_folds(labels, method="stratifyed")
    with pytest.raises(ParameterError, match="did you mean 'seed'"):
        make_folds(labels, method="stratified", sed=1)
    with pytest.raises(ParameterError, match="option"):
        make_folds(labels, method="leave-one-out", k=3)
    with pytest.raises(ParameterError, match="k="):
        make_folds(labels, k=1)
    with pytest.raises(FoldError, match=r"class 'yes' has 2 samples for 3 folds.*choose at most 2 folds"):
        make_folds(labels, k=3)
    with pytest.raises(LabelError, match="no column 'chromosome'"):
        make_folds(labels, method="locus")
    with pytest.raises(LabelError, match="no column 'fold'"):
        make_folds(labels, method="predefined")
    with pytest.raises(LabelError, match="record 'u3': has no group"):
        make_folds(labels, method="grouped", k=2)
    full = binary([0, 0, 0, 0, 1, 1], groups=["a", "b", "c", "c", "d", "d"])
    with pytest.raises(FoldError, match="class 'yes' has 1 group for 2 folds"):
        make_folds(full, method="grouped", k=2)
    with pytest.raises(FoldError, match=r"training set of split 'd'.*no sample of class 'yes': only one class"):
        make_folds(full, method="leave-one-group-out")


@pytest.mark.parametrize(
    ("folds", "y", "message"),
    [
        ("112112", [0, 1, 2, 0, 1, 2], "training set of split '1' .* no sample of class 'a'"),
        ("111222", [0, 1, 0, 0, 1, 1], "training set of split '1' .* no sample of class 'c'"),
        ("112233", [0, 1, 0, 1, 2, 2], "test set of split '1' .* no sample of class 'c'"),
        ("111111", [0, 1, 2, 0, 1, 2], "contains 1 fold"),
    ],
)
def test_a_part_without_a_class_is_refused(folds, y, message):
    labels = Labels(list("uvwxyz"), y, "multiclass", ("a", "b", "c"), folds=list(folds))
    with pytest.raises(FoldError, match=message):
        make_folds(labels, method="predefined")


def test_files_come_back_in_any_order(tmp_path):
    labels = binary([0, 1] * 6)
    foldset = make_folds(labels, k=3, seed=1, task="a.1.1.1")
    path = tmp_path / "folds" / "a.1.1.1.tsv"
    write_folds(path, foldset)
    assert path.read_text().splitlines()[0] == "id\t1\t2\t3"
    again = read_folds(path, labels.ids)
    assert again.task == "a.1.1.1"
    assert parts(again) == parts(foldset)
    backwards = read_folds(path, labels.ids[::-1])
    assert parts(backwards)[0][2] == {11 - row for row in parts(foldset)[0][2]}
    other = tmp_path / "again.tsv"
    write_folds(other, make_folds(labels, k=3, seed=1, task="a.1.1.1"))
    assert other.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id\t1\nu0\ttrain\nu1\ttest\nx\ttest\n", "folds.tsv: record 'x': is not in the data set"),
        ("id\t1\nu0\ttrain\n", "record 'u1': has no row"),
        ("id\t1\nu0\ttrain\nu0\ttest\nu1\ttest\n", "record 'u0': duplicate id"),
        ("id\t1\nu0\ttrain\nu1\ttset\n", "record 'u1': is marked 'tset'"),
        ("name\t1\nu0\ttrain\nu1\ttest\n", "not a table of folds"),
        ("id\nu0\nu1\n", "not a table of folds"),
        ("", "not a table of folds"),
    ],
)
def test_files_of_others_are_refused(tmp_path, text, message):
    path = tmp_path / "folds.tsv"
    path.write_text(text)
    with pytest.raises(FoldError, match=message):
        read_folds(path, ["u0", "u1"])


def test_files_whose_parts_cannot_be_learned_from(tmp_path):
    labels = make_labels(["u0", "u1", "u2", "u3"], ["0", "1", "", "1"])
    path = tmp_path / "all.tsv"
    for marks, message in (
        (("train", "train", "", "test"), None),
        (("train", "", "", "test"), "training set of split '1' .* no sample of class '1': only one class"),
        (("", "", "", "test"), "the training set of split '1' of task 'all' is empty"),
        (("train", "train", "", ""), "the test set of split '1' of task 'all' is empty"),
        (("train", "train", "test", "test"), "record 'u2': has no label, but is in split '1'"),
    ):
        path.write_text("id\t1\n" + "".join(f"u{i}\t{mark}\n" for i, mark in enumerate(marks)))
        assert len(read_folds(path, labels.ids)) == 1
        if message is None:
            assert len(read_folds(path, labels.ids, labels)) == 1
            continue
        with pytest.raises(FoldError, match=rf"all\.tsv: .*{message}"):
            read_folds(path, labels.ids, labels)


def test_missing_and_ragged_files(tmp_path):
    with pytest.raises(FileError, match=r"none\.tsv"):
        read_folds(tmp_path / "none.tsv", ["u0"])
    (tmp_path / "ragged.tsv").write_text("id\t1\nu0\n")
    with pytest.raises(FileError, match=r"ragged\.tsv"):
        read_folds(tmp_path / "ragged.tsv", ["u0"])


def test_composition_counts_every_class():
    labels = binary([0, 0, 0, 1, 1, -1], folds=["a", "b", "b", "a", "b", "a"])
    rows = composition_rows(make_folds(labels, method="predefined", task="t"), labels)
    assert rows == [
        ("t", "a", "no", 2, 1),
        ("t", "a", "yes", 1, 1),
        ("t", "b", "no", 1, 2),
        ("t", "b", "yes", 1, 1),
    ]
    real = Labels(list("abcd"), np.arange(4.0), "real", folds=list("1122"))
    assert composition_rows(make_folds(real, method="predefined"), real)[0] == ("all", "1", "all", 2, 2)


def test_natural_order():
    assert sorted(["a.26.1", "a.4.10", "a.4.9", "b", "10", "9"], key=natural_key) == [
        "9",
        "10",
        "a.4.9",
        "a.4.10",
        "a.26.1",
        "b",
    ]


@pytest.fixture
def saved(tmp_path):
    """Return the folder of a small data set: two identical sequences, one of them labelled otherwise."""
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list("ACGT"), 30)) for _ in range(20)]
    strings[1] = strings[2] = strings[0]
    labels = binary([0, 1, 0] + [0, 1] * 8 + [1])
    X = SequenceSet.from_strings(strings, "dna", ids=labels.ids)
    save_dataset(Dataset("small", "sequences", X, {"all": Task("all", labels)}), tmp_path / "small")
    return tmp_path / "small"


def test_command_line(saved, tmp_path, capsys):
    config = tmp_path / "study.yaml"
    config.write_text(
        "study: s\nseed: 7\nleakage: {keep_together: true}\n"
        "datasets: {small: {fasta: x.fa, folds: {method: stratified, k: 2}}}\n"
        "kernels: {s: {kernel: spectrum, k: 2}}\nsolvers: {c: {solver: csvc}}\n"
    )
    assert main(["folds", str(saved), "--config", str(config), "-o", str(tmp_path / "a")]) == 0
    assert "2 splits of 1 task" in capsys.readouterr().out
    by_hand = ["folds", str(saved), "--k", "2", "--seed", "7", "--keep-together", "-o", str(tmp_path / "b")]
    assert main(by_hand) == 0
    written = {path.name for path in (tmp_path / "a").iterdir()}
    assert written == {"all.tsv", "leakage.tsv", "composition.tsv", "similar.tsv"}
    for name in written:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    rows = (tmp_path / "a" / "all.tsv").read_text().splitlines()[1:4]
    assert len({row.split("\t", 1)[1] for row in rows}) == 1
    assert (tmp_path / "a" / "leakage.tsv").read_text().splitlines()[1:] == ["all\t\tconflict\tu0\tu1\t1"]


def test_command_line_errors_write_nothing(saved, tmp_path, capsys):
    out = tmp_path / "out"
    for arguments, message in (
        (["--k", "50"], "class 'no' has 10 samples for 50 folds"),
        (["--method", "locus"], "chromosome"),
        (["--options", '{"kk": 3}'], "did you mean 'k'"),
        (["--options", "{k: 3}"], "not JSON"),
        (["--options", "[3]"], "not a JSON object"),
        (["--leakage", '{"identiy": 0.9}'], "did you mean 'identity'"),
        (["--identity", "1.5"], "identity=1.5"),
    ):
        assert main(["folds", str(saved), "-o", str(out), *arguments]) == 1
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1
        assert not out.exists()


def test_groups_survive_the_file(tmp_path):
    labels = make_labels(list("abcdef"), list("010101"), groups=np.array(list("xxyyzz")))
    foldset = make_folds(labels, method="grouped", k=3, seed=1)
    write_folds(tmp_path / "all.tsv", foldset)
    again = read_folds(tmp_path / "all.tsv", list("abcdef"))
    assert again.groups.tolist() == foldset.groups.tolist() == [0, 0, 1, 1, 2, 2]
    assert [split.name for split in again] == [split.name for split in foldset]


def test_the_inner_loop_holds_out_whole_families_where_there_are_two():
    # of b the training set has one family only, of the negatives (a) three
    labels = make_labels([str(i) for i in range(10)], list("aaaaaabbbb"), groups=list("xxyyzzppqq"))
    roles = [*["train"] * 5, "test", "train", "train", "test", "test"]
    groups = make_folds(labels, method="liao-noble", roles=roles).groups.tolist()
    assert groups[:6] == [0, 0, 1, 1, 2, 2]
    assert len(set(groups[6:8])) == 2
    links = np.array([0, 1, 2, 3, 4, 5, 6, 6, 7, 8])
    linked = make_folds(labels, method="liao-noble", roles=roles, links=links).groups
    assert linked[6] == linked[7]
    roles[8] = "train"
    groups = make_folds(labels, method="predefined", roles=roles).groups.tolist()
    assert groups[6:9] == [groups[6], groups[6], groups[8]]
    # folds that are drawn hold the groups as they are given
    assert make_folds(labels, method="grouped", k=2, seed=1).groups.tolist() == np.repeat(range(5), 2).tolist()


def test_without_groups_the_file_has_no_column_for_them(tmp_path):
    labels = make_labels(list("abcd"), list("0101"))
    write_folds(tmp_path / "all.tsv", make_folds(labels, k=2))
    assert (tmp_path / "all.tsv").read_text().startswith("id\t1\t2\n")
    assert read_folds(tmp_path / "all.tsv", list("abcd")).groups is None


def test_a_split_cannot_have_the_name_of_a_column():
    labels = make_labels(list("abcd"), list("0101"), groups=np.array(["group", "group", "b", "b"]))
    with pytest.raises(FoldError, match="invalid name 'group'"):
        make_folds(labels, method="leave-one-group-out")


def test_liao_noble_can_divide_the_negatives_by_whole_families():
    family = np.repeat([f"s{i}.{j}" for i in range(4) for j in range(3)], 5)
    superfamily = np.array([name[:2] for name in family])
    tasks = liao_noble(superfamily, family, 1, min_family=1, min_rest=1, whole_families=True)
    assert len(tasks) == 12
    for roles in tasks.values():
        parts = {(name, role) for name, role in zip(family, roles, strict=True)}
        assert len(parts) == 12
        # a third of the positives is the test family, so a third of the nine negative families is tested
        assert (roles == "negative-test").sum() == 15
        assert (roles == "negative-train").sum() == 30
    single = liao_noble(superfamily, family, 1, min_family=1, min_rest=1)
    assert any(len(set(zip(family, roles, strict=True))) > 12 for roles in single.values())
