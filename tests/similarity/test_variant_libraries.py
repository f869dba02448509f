"""Libraries of variants of one parent: the sets that are recognised, their groups, and their fold methods."""

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.core.errors import FoldError, LabelError
from seqkern.core.tsv import read_tsv
from seqkern.evaluation import make_folds
from seqkern.evaluation.fold_methods import indivisible_groups
from seqkern.evaluation.leakage import find_links, similar_row, similarity_messages
from seqkern.kernels import WeightedDegreeKernel
from seqkern.methods.crossval import OuterFolds
from seqkern.methods.method import Method
from seqkern.methods.training import collect_training_data, group_samples
from seqkern.sequences.fasta import read_fasta
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.similarity import _linkage, find_library, similar_groups
from seqkern.study.dataset import make_dataset, save_dataset

AMINO = "ACDEFGHIKLMNPQRSTVWY"


def drawn(rng, n):
    return "".join(rng.choice(list(AMINO), n))


def mutant(rng, parent, positions, letters=AMINO):
    """Return the parent with another residue at each of some positions."""
    text = list(parent)
    for p in positions:
        text[p] = rng.choice([a for a in letters if a != parent[p]])
    return "".join(text)


def singles(rng, parent, n):
    """Return different single mutants."""
    found = {mutant(rng, parent, rng.integers(len(parent), size=1)): None for _ in range(4 * n)}
    return list(found)[:n]


def loaded(rng, parent, n, places, loads):
    """Return variants with a random number of mutations, at some of the places."""
    return [mutant(rng, parent, rng.choice(places, min(loads(), len(places)), replace=False)) for _ in range(n)]


def indels(rng, parent, n):
    """Return single mutants, of which two thirds have one to three residues more or fewer at some position."""
    found = []
    for i, text in enumerate(singles(rng, parent, n)):
        at, size = int(rng.integers(4, len(parent) - 8)), i % 4
        found.append(
            text if i % 3 == 0 else text[:at] + (drawn(rng, size) + text[at:] if i % 3 == 1 else text[at + size :])
        )
    return found


def clades(rng, parent, n, depth, changes):
    """Return the leaves of a balanced tree, in which every branch adds some changes."""
    level = [parent]
    for _ in range(depth):
        level = [mutant(rng, one, rng.choice(len(parent), changes, replace=False)) for one in level for _ in range(2)]
    return [level[i] for i in rng.choice(len(level), n, replace=False)]


def libraries(rng, parent):
    pairs = [AMINO[i : i + 2] for i in range(0, 20, 2)]
    return {
        "single mutants": singles(rng, parent, 200),
        "four positions, all combinations": loaded(rng, parent, 200, [3, 40, 41, 90], lambda: 4),
        "four positions, one to four": loaded(rng, parent, 200, [3, 40, 41, 90], lambda: rng.integers(1, 5)),
        "two residues at ten positions": [
            mutant(rng, "W" + parent[1:], np.flatnonzero(rng.random(10) < 0.5) + 20) for _ in range(200)
        ],
        "few mutations anywhere": loaded(rng, parent, 200, np.arange(120), lambda: 1 + rng.poisson(3)),
        "many mutations in a loop": loaded(rng, parent, 300, np.arange(60, 75), lambda: rng.integers(1, 13)),
        "with a few of another length": [*singles(rng, parent, 97), *(one[:-2] for one in singles(rng, parent, 3))],
        "insertions and deletions": indels(rng, parent, 200),
        "only the mutated positions": [drawn(rng, 4) for _ in range(300)],
        "one of two residues at each of ten": ["".join(rng.choice([*pair]) for pair in pairs) for _ in range(200)],
    }


def others(rng, parent):
    return {
        "clades of near homologs": clades(rng, parent, 200, 8, 2),
        "homologs": loaded(rng, parent, 200, np.arange(120), lambda: 30),
        "unrelated peptides of one length": [drawn(rng, 15) for _ in range(200)],
        "unrelated peptides of nine residues": [drawn(rng, 9) for _ in range(1000)],
        "few peptides of five residues": [drawn(rng, 5) for _ in range(100)],
        "families of short peptides": loaded(rng, drawn(rng, 5), 200, [0, 1], lambda: 2)
        + loaded(rng, drawn(rng, 5), 200, [0, 1], lambda: 2),
        "homologs of several lengths": [
            one[: 120 - i % 5] for i, one in enumerate(loaded(rng, parent, 200, np.arange(120), lambda: 30))
        ],
        "truncated variants": [one[int(rng.integers(60)) :] for one in singles(rng, parent, 200)],
        "two parents": [*singles(rng, parent, 100), *singles(rng, drawn(rng, 120), 100)],
        "a library among other sequences": [*singles(rng, parent, 90), *(drawn(rng, 120) for _ in range(10))],
        "too few": singles(rng, parent, 15),
        "one sequence many times": [parent] * 200,
    }


@pytest.mark.parametrize("seed", range(5))
def test_libraries_are_told_from_homologs(seed):
    rng = np.random.default_rng(seed)
    parent = drawn(rng, 120)
    for name, texts in libraries(rng, parent).items():
        assert find_library(SequenceSet.from_strings(texts, "protein")) is not None, name
    for name, texts in others(rng, parent).items():
        assert find_library(SequenceSet.from_strings(texts, "protein")) is None, name


def test_linkage_is_that_of_the_covariance_matrix():
    rng = np.random.default_rng(2)
    for n, places in ((30, 50), (80, 20)):
        differ = rng.random((n, places)) < 0.1
        differ[:, 3] = False
        share = differ.mean(axis=0)
        rest = differ - np.outer(differ.sum(axis=1), share / share.sum())
        C = np.array([[np.mean(rest[:, p] * rest[:, q]) for q in range(places)] for p in range(places)])
        own = sum(C[p, p] ** 2 for p in range(places))
        others = [C[p, q] ** 2 - C[p, p] * C[q, q] / n for p in range(places) for q in range(places) if p != q]
        assert _linkage(differ) == pytest.approx(sum(others) / own)
    assert _linkage(np.eye(20, 1, dtype=bool)) == 0


def test_windows_of_dna_are_no_library_but_a_mutagenised_promoter_is():
    rng = np.random.default_rng(3)
    windows = [
        "".join(rng.choice([*"ACGT"], 28)) + "CAGGTAAGT" + "".join(rng.choice([*"ACGT"], 23)) for _ in range(300)
    ]
    assert find_library(SequenceSet.from_strings(windows, "dna")) is None
    promoter = "".join(rng.choice([*"ACGT"], 60))
    scan = [mutant(rng, promoter, [i % 60], "ACGT") for i in range(180)]
    assert find_library(SequenceSet.from_strings(scan, "dna")) is not None


def test_a_library_with_insertions_and_deletions_is_told_with_what_tests_it(tmp_path, capsys):
    rng = np.random.default_rng(4)
    texts = indels(rng, drawn(rng, 70), 90)
    found = similar_groups(SequenceSet.from_strings(texts, "protein"))
    lengths = [len(one) for one in texts]
    n = lengths.count(70)
    assert found.describe().startswith(
        f"variant library: 90 sequences of {min(lengths)} to {max(lengths)} residues, of which the {n} of 70 differ "
        "from their consensus in 1"
    )
    assert "--fold-method value tests" in found.describe()
    (tmp_path / "v.csv").write_text("sequence,value\n" + "".join(f"{one},{rng.normal():.3f}\n" for one in texts))
    argv = ["cv", str(tmp_path / "v.csv"), "--folds", "2", "--kernel", "spectrum:k=1", "--solver", "svr:C=1"]
    assert main(argv) == 0
    out, err = capsys.readouterr()
    assert "2 random folds" in out
    assert err.count("variant library: 90") == 1
    assert main([*argv, "--fold-method", "position"]) == 1
    assert "align the variants to one length" in capsys.readouterr().err


def library(n=120, seed=1, length=60):
    """Return a library of single mutants in which the first sequence occurs twice, with labels."""
    rng = np.random.default_rng(seed)
    texts = singles(rng, drawn(rng, length), n - 1)
    X = SequenceSet.from_strings([*texts, texts[0]], "protein", ids=[f"v{i}" for i in range(n)])
    return X, make_labels(X.ids, rng.normal(size=n).round(3), kind="real")


def test_only_identical_variants_stay_together():
    X, labels = library()
    distinct = 119
    kept = group_samples(labels, X)
    assert len(np.unique(kept.groups)) == distinct < len(X)
    assert kept.groups[0] == kept.groups[-1]
    (line,) = kept.sentences
    clause = "variant library: 120 sequences of 60 residues that differ from their consensus in 1 residue"
    assert line.startswith(f"{clause} (2 have identical ones, which stay together); folds are random")
    assert "--fold-method position, position-blocks, mutations or value" in line
    # the folds of a study
    links = find_links(X, identity="auto")
    found = links.similar()
    assert found.groups.tolist() == similar_groups(X).groups.tolist()
    row = similar_row("all", found, "folds")
    assert row[-2:] == ("folds", clause)
    assert list(similarity_messages([(found, row)], "sequences")) == [line]
    # a limit of one's own is obeyed
    assert find_links(X, identity=0.9).library is None


def naive_differences(X, parent=None):
    texts = X.strings()
    columns = list(zip(*texts, strict=True))
    parent = parent or [max(AMINO, key=column.count) for column in columns]
    return [{p for p, (a, b) in enumerate(zip(text, parent, strict=True)) if a != b} for text in texts]


@pytest.mark.parametrize("method", ["position", "position-blocks"])
def test_no_position_that_is_tested_is_varied_in_training(method):
    rng = np.random.default_rng(4)
    parent = drawn(rng, 40)
    X = SequenceSet.from_strings(loaded(rng, parent, 300, np.arange(40), lambda: rng.integers(0, 3)), "protein")
    labels = make_labels(X.ids, rng.normal(size=300), kind="real")
    differences, tested = naive_differences(X), []
    foldset = make_folds(labels, X, method, k=4)
    for split in foldset:
        test, train = (set().union(*(differences[i] for i in rows)) for rows in (split.test, split.train))
        assert test
        assert not test & train
        # all that could be used is: a variant is left out only if it has positions of the fold and of others
        left = set(range(300)) - set(split.test.tolist()) - set(split.train.tolist())
        assert all(differences[i] & test and differences[i] - test for i in left)
        if method == "position-blocks":
            assert len([p for p in range(min(test), max(test)) if p in train]) == 0
        tested += split.test.tolist()
    assert len(tested) == len(set(tested))
    assert all(differences[i] for i in tested)  # the parent itself is never tested
    assert {i for i, own in enumerate(differences) if len(own) == 1} <= set(tested)
    # inner folds keep the mutants of a position together
    groups = OuterFolds(method, 4).inner_labels(labels, X).groups
    for group in np.unique(groups):
        assert len({min(differences[i], default=-1) for i in np.flatnonzero(groups == group)}) == 1


def test_more_mutations_and_higher_values():
    rng = np.random.default_rng(5)
    parent = drawn(rng, 50)
    texts = [parent, *loaded(rng, parent, 199, np.arange(50), lambda: rng.integers(1, 5))]
    X, y = SequenceSet.from_strings(texts, "protein"), rng.normal(size=200)
    labels, counts = make_labels(X.ids, y, kind="real"), np.array([len(own) for own in naive_differences(X)])
    for options, most in (({}, int(np.sort(counts)[99])), ({"most": 1}, 1), ({"most": 3, "parent": parent}, 3)):
        (split,) = make_folds(labels, X, "mutations", **options)
        assert split.train.tolist() == np.flatnonzero(counts <= most).tolist()
        assert split.test.tolist() == np.flatnonzero(counts > most).tolist()
    other = make_folds(labels, X, "mutations", most=2, parent=texts[7]).splits[0]
    assert other.train.tolist() == [i for i, own in enumerate(naive_differences(X, texts[7])) if len(own) <= 2]
    for options, n in (({}, 40), ({"share": 0.5}, 100)):
        (split,) = make_folds(labels, None, "value", **options)
        assert len(split.test) == n
        assert y[split.train].max() < y[split.test].min()
    # equal values are on one side
    (split,) = make_folds(make_labels(X.ids, np.repeat([0, 1, 2, 3], 50), kind="real"), None, "value")
    assert split.test.tolist() == list(range(150, 200))


def test_rows_without_a_label_are_left_out_of_the_consensus():
    rng = np.random.default_rng(6)
    parent, other = drawn(rng, 30), drawn(rng, 31)
    X = SequenceSet.from_strings([*[other] * 50, *singles(rng, parent, 60)], "protein")
    labels = make_labels(X.ids, [*[""] * 50, *range(60)], kind="real")
    splits = make_folds(labels, X, "position", k=3).splits
    assert sorted(i for split in splits for i in split.test) == list(range(50, 110))


def test_splits_that_cannot_be_made_are_refused():
    rng = np.random.default_rng(7)
    parent = drawn(rng, 40)
    X = SequenceSet.from_strings(singles(rng, parent, 60), "protein")
    labels = make_labels(X.ids, rng.normal(size=60), kind="real")
    short = SequenceSet.from_strings([*X.strings()[:-1], parent[:-1]], "protein")
    with pytest.raises(FoldError, match=r"record '60': has 39 residues, most others 40: .*align the variants"):
        make_folds(labels, short, "position")
    with pytest.raises(FoldError, match="there are no sequences"):
        make_folds(labels, None, "mutations")
    with pytest.raises(FoldError, match="0 of 60 variants have more: too few to train") as error:
        make_folds(labels, X, "mutations", most=1)
    assert error.value.remedy == "choose another fold method"
    with pytest.raises(FoldError, match="the parent has 39 residues, the variants 40"):
        make_folds(labels, X, "mutations", parent=parent[:-1])
    whole = SequenceSet.from_strings(loaded(rng, parent, 60, [1, 2, 3, 4, 5], lambda: 5), "protein")
    with pytest.raises(FoldError, match=r"variants have mutations at positions of several folds.*mutations, value or"):
        make_folds(labels, whole, "position")
    with pytest.raises(FoldError, match="mutations are at 5 positions, too few for 6 folds; choose at most 5 folds"):
        make_folds(labels, whole, "position", k=6)
    with pytest.raises(LabelError, match="classes, not the numbers"):
        make_folds(make_labels(X.ids, ["a", "b"] * 30), X, "value")


def test_an_empty_cell_is_no_group():
    X, _ = library(6)
    labels = make_labels(X.ids, range(6), kind="real", groups=["a", "", "a", "", "b", "b"])
    assert indivisible_groups(labels, X).tolist() == [0, 1, 0, 2, 3, 3]


# The command line.


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(8)
    parent = drawn(rng, 60)
    texts = singles(rng, parent, 150)
    effect = rng.normal(size=(60, 20))
    values = [effect[p, AMINO.index(t[p])] for t in texts for p in range(60) if t[p] != parent[p]]
    (tmp_path / "v.fa").write_text("".join(f">v{i}\n{text}\n" for i, text in enumerate(texts)))
    rows = [f"v{i}\t{value:.4f}\tg{i % 6}\t{i % 3}\n" for i, value in enumerate(values)]
    (tmp_path / "v.tsv").write_text("id\tlabel\n" + "".join("\t".join(row.split("\t")[:2]) + "\n" for row in rows))
    (tmp_path / "g.tsv").write_text("id\tlabel\tgroup\tfold\n" + "".join(rows))
    (tmp_path / "parent.fa").write_text(f">parent\n{parent}\n")
    return tmp_path


def cv(files, capsys, table, *options, code=0):
    method = ("--kernel", "weighted_degree:degree=1", "--solver", "svr:C=1")
    assert main(["cv", str(files / "v.fa"), "--labels", str(files / table), *method, *options]) == code
    return capsys.readouterr()


def test_a_library_is_scored_on_random_folds_and_a_line_says_so(files, capsys):
    out, err = cv(files, capsys, "v.tsv")
    assert "5 random folds" in out
    assert err.count("variant library: 150 sequences of 60 residues") == 1
    assert "folds are random: scores tend to be higher" in err


def test_inner_folds_and_those_of_a_study_are_of_single_variants(files, capsys):
    labels = make_labels([f"v{i}" for i in range(150)], range(150), kind="real")
    X = read_fasta(files / "v.fa")
    method = Method(WeightedDegreeKernel(1), "svr:C=[0.1,1]")
    assert collect_training_data(method, X, labels).labels.groups is None
    entry = {"fasta": str(files / "v.fa"), "labels": {"from": "tsv", "file": str(files / "v.tsv"), "kind": "real"}}
    save_dataset(make_dataset("v", entry), files / "d")
    for options, n in (((), 5), (("--method", "position", "--k", "3"), 3)):
        assert main(["folds", str(files / "d"), "-o", str(files / "f"), *options]) == 0
        out, err = capsys.readouterr()
        assert f"v: {n} splits of 1 task" in out
        assert err.count("variant library: 150 sequences") == 1
        assert ("folds are random" in err) == (not options)
        (row,) = read_tsv(files / "f" / "similar.tsv")
        assert (row["similar"], row["together"]) == ("0", "")
        assert row["remarks"].startswith("variant library")
        columns = read_tsv(files / "f" / "all.tsv")
        assert ("group" in columns[0]) == bool(options)


@pytest.mark.parametrize(
    ("options", "design"),
    [
        (("predefined",), "3 predefined folds"),
        (("grouped",), "5 grouped folds"),
        (("leave-one-group-out",), "6 folds, one for each group"),
        (("position", "--folds", "3", "--repeats", "2"), "3 folds by position, 2 repeats"),
        (("position-blocks", "--folds", "3"), "3 folds of neighbouring positions"),
        (("value",), "1 split by value"),
    ],
)
def test_fold_methods_of_a_label_table_and_of_variants(files, capsys, options, design):
    out, err = cv(files, capsys, "g.tsv", "--fold-method", *options)
    assert design in out
    assert "variant library: " in err
    assert "random" not in err


def test_a_split_by_value_is_headed_by_the_order_of_the_values(files, capsys):
    out, _ = cv(files, capsys, "v.tsv", "--fold-method", "value")
    first, second = (line.split()[0] for line in out.splitlines()[2:4])
    assert (first, second) == ("Spearman", "R²")
    assert "R² compares with the mean of the tested values" in out
    assert "the mean label" not in out  # a constant has no order
    argv = ["train", str(files / "v.fa"), "--labels", str(files / "v.tsv"), "--kernel", "weighted_degree:degree=1"]
    argv += ["--solver", "svr:C=1", "--cv", "5", "--fold-method", "value", "-o", str(files / "m")]
    assert main(argv) == 0
    assert "Spearman ρ" in capsys.readouterr().out.splitlines()[1]


def test_columns_of_groups_and_folds_may_be_missing(files, capsys):
    for method, name in (("predefined", "fold"), ("grouped", "group"), ("leave-one-group-out", "group")):
        _, err = cv(files, capsys, "v.tsv", "--fold-method", method, code=1)
        assert f"has no column {name!r}" in err
    _, err = cv(files, capsys, "v.tsv", "--parent", str(files / "parent.fa"), code=1)
    assert "--parent needs --fold-method position" in err
    _, err = cv(files, capsys, "v.tsv", "--fold-method", "mutations", "--parent", str(files / "parent.fa"), code=1)
    assert "too few to train" in err


def test_replicates_are_averaged_and_bounds_refused(files, capsys):
    text, rows = (files / "v.fa").read_text(), (files / "v.tsv").read_text()
    first = text.split(">")[1].split()[1]
    own = float(rows.split("\n")[1].split("\t")[1])
    (files / "v.fa").write_text(f"{text}>w\n{first}\n>u\n{first}\n")
    (files / "w.tsv").write_text(f"{rows}w\t{own + 1}\nu\t{own - 1}\n")
    out, err = cv(files, capsys, "w.tsv")
    assert out.startswith("150 samples, a number each")
    assert "1 sequence has different values in 3 records; their means are used (standard deviation" in err
    assert "a replicate: 1)" in err
    for solver in (("--solver", "svr"), ()):
        (files / "b.tsv").write_text(f"{rows}w\t<5\nu\t{own}\n")
        assert main(["cv", str(files / "v.fa"), "--labels", str(files / "b.tsv"), "--kernel", "spectrum", *solver]) == 1
        err = capsys.readouterr().err
        assert "b.tsv: record 'w': label '<5' is a bound of a measurement, not its value; leave it empty" in err
    # bounds may be classes
    assert make_labels("abcd", ["<5", ">=5", "<5", ">=5"]).names() == ["<5", ">=5", "<5", ">=5"]


def test_predictions_beyond_the_training_are_told(files, capsys):
    argv = [str(files / "v.fa"), "--labels", str(files / "v.tsv"), "--kernel", "weighted_degree:degree=1"]
    assert main(["train", *argv, "--solver", "lssvr:C=1", "-o", str(files / "m")]) == 0
    parent = (files / "parent.fa").read_text().split()[1]
    rng = np.random.default_rng(9)
    many = [mutant(rng, parent, rng.choice(60, 4, replace=False)) for _ in range(25)]
    (files / "new.fa").write_text("".join(f">n{i}\n{text}\n" for i, text in enumerate(many)))
    assert main(["predict", str(files / "m"), str(files / "new.fa"), "-o", str(files / "o.tsv")]) == 0
    err = capsys.readouterr().err
    assert "25 with more mutations than any training sequence (1)" in err
    texts = [one.split()[1] for one in (files / "v.fa").read_text().split(">")[1:]]
    values = [line.split("\t")[1] for line in (files / "v.tsv").read_text().splitlines()[1:]]
    for name, columns in (("v.csv", [texts, values]), ("new.csv", [many])):
        rows = ["sequence,value"[: 8 if len(columns) == 1 else None], *map(",".join, zip(*columns, strict=True))]
        (files / name).write_text("\n".join(rows) + "\n")
    argv = ["train", str(files / "v.csv"), "--kernel", "weighted_degree:degree=1", "--solver", "lssvr:C=1"]
    assert main([*argv, "-o", str(files / "t")]) == 0
    assert main(["predict", str(files / "t"), str(files / "new.csv"), "-o", str(files / "t.tsv")]) == 0
    assert "25 with more mutations than any training sequence (1)" in capsys.readouterr().err
    decisions = [float(line.split("\t")[1]) for line in (files / "o.tsv").read_text().splitlines()[1:]]
    values = [float(line.split("\t")[1]) for line in (files / "v.tsv").read_text().splitlines()[1:]]
    beyond = sum(not min(values) <= value <= max(values) for value in decisions)
    assert (f"{beyond} predictions beyond the values of the training" in err) == (beyond > 0)
