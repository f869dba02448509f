"""Data sets of a study: every kind of entry, on disk and back, the public registry, and bad input."""

import gzip
import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.core import public_files
from seqkern.core.archive import load_archive, save_archive
from seqkern.core.errors import ConfigError, FileError, LabelError, ParameterError, SequenceError
from seqkern.sequences.labels import UNLABELLED, make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import FeatureTable
from seqkern.study import DataEntry, Dataset, Task, load_dataset, make_dataset, save_dataset, summary
from seqkern.study.dataset import leaked_features


def write(folder, text, name="in.fa"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.fixture
def no_files(monkeypatch, tmp_path):
    """Let public files be found nowhere but in an empty cache."""
    monkeypatch.delenv("SEQKERN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "seqkern"


# ---- entries ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "files"),
    [
        ({"fasta": "a.fa"}, ["a.fa"]),
        ({"fasta": ["a.fa", "b.fa"]}, ["a.fa", "b.fa"]),
        ({"fasta": {"positive": "a.fa", "negative": "b.fa"}}, ["a.fa", "b.fa"]),
        ({"fasta": "a.fa", "labels": {"from": "tsv", "file": "l.tsv"}}, ["a.fa", "l.tsv"]),
        ({"fasta": "a.fa", "labels": {"from": "header", "file": "l.tsv"}}, ["a.fa"]),
        ({"features": "f.tsv"}, ["f.tsv"]),
        ({"similarities": "s.tsv", "labels": {"from": "tsv", "file": "l.tsv"}}, ["s.tsv", "l.tsv"]),
        ({"dissimilarities": "d.tsv", "labels": {"label": "class"}}, ["d.tsv"]),
        ({"simulate": {"kind": "donor"}}, []),
        ({"public": "uci_splice"}, []),
    ],
)
def test_the_files_that_an_entry_names(entry, files):
    assert DataEntry.parse(entry).files() == files


def test_two_files(tmp_path):
    write(tmp_path, ">a\nAC\n>b\nGG\n", "pos.fa")
    write(tmp_path, ">c\nTT\n", "neg.fa")
    made = make_dataset("d", {"fasta": {"positive": "pos.fa", "negative": "neg.fa"}}, tmp_path)
    labels = made.task().labels
    assert made.X.ids == ["a", "b", "c"]
    assert labels.classes == ("negative", "positive")
    assert labels.y.tolist() == [1, 1, 0]
    assert [source["file"] for source in made.notes["sources"]] == ["pos.fa", "neg.fa"]
    assert made.notes["sources"][1]["sha256"] == hashlib.sha256(b">c\nTT\n").hexdigest()


def test_a_file_for_each_class_with_groups_in_headers(tmp_path):
    for name, text in {"EI": ">a g=1\nAC\n", "IE": ">b g=2\nAC\n", "N": ">c g=1\nGG\n"}.items():
        write(tmp_path, text, f"{name}.train.fa")
    entry = {"fasta": ["EI.train.fa", "IE.train.fa", "N.train.fa"], "labels": {"group": "g"}}
    labels = make_dataset("d", entry, tmp_path).task().labels
    assert labels.kind == "multiclass"
    assert labels.names() == ["EI", "IE", "N"]
    assert labels.groups.tolist() == ["1", "2", "1"]
    labels = make_dataset("d", entry | {"labels": {"positive": "N"}}, tmp_path).task().labels
    assert labels.classes == ("not N", "N")


def test_labels_in_headers(tmp_path):
    write(tmp_path, ">a y=0.5\nAC\n>b y=-1\nGG\n")
    entry = {"fasta": "in.fa", "labels": {"from": "header", "label": "y", "kind": "real"}}
    assert make_dataset("d", entry, tmp_path).task().labels.y.tolist() == [0.5, -1.0]


@pytest.mark.parametrize(
    ("fasta", "classes"),
    [
        ({"binder": "a.fa", "nonbinder": "b.fa"}, ("nonbinder", "binder")),
        ({"mutant": "a.fa", "wild": "b.fa"}, ("wild", "mutant")),
        ({"wild": "a.fa", "mutant": "b.fa"}, ("mutant", "wild")),
        ({"negative": "b.fa", "positive": "a.fa"}, ("negative", "positive")),
        (["b.fa", "a.fa"], ("a", "b")),
        (["b.fa", "x/b.fa.gz"], ("x", "")),
        (["set.train.fa", "set.test.fa"], ("test", "train")),
    ],
)
def test_the_positive_class_of_files(tmp_path, fasta, classes):
    (tmp_path / "x").mkdir()
    for number, name in enumerate(["a.fa", "b.fa", "x/b.fa.gz", "set.train.fa", "set.test.fa"]):
        write(tmp_path, f">s\nACGT\n>t{number}\nGGGT\n", name)
    made = make_dataset("d", {"fasta": fasta}, tmp_path)
    classes = tuple(name or tmp_path.name for name in classes)
    assert made.task().labels.classes == classes
    files = {name if isinstance(fasta, list) else fasta[name].removesuffix(".fa") for name in classes}
    assert {name for name in made.X.ids if ":" in name} == {f"{name}:s" for name in files}
    assert made.X.counts == {"ids in several files, renamed FILE:ID": 1}
    assert make_dataset("d", {"fasta": fasta, "labels": {"positive": classes[0]}}, tmp_path).task().labels.classes == (
        classes[1],
        classes[0],
    )


def test_labels_of_a_table_or_headers_must_say_which_class_is_positive(tmp_path):
    write(tmp_path, ">a label=x\nAC\n>b label=y\nGG\n")
    write(tmp_path, "id\tlabel\na\tx\nb\ty\n", "labels.tsv")
    for labels in ({"from": "header"}, {"from": "tsv", "file": "labels.tsv"}):
        with pytest.raises(LabelError, match="the names x and y do not say which class is positive; choose it: --pos"):
            make_dataset("d", {"fasta": "in.fa", "labels": labels}, tmp_path)
        made = make_dataset("d", {"fasta": "in.fa", "labels": labels | {"positive": "x"}}, tmp_path)
        assert made.task().labels.classes == ("y", "x")


def test_first_words_with_policies(tmp_path):
    write(tmp_path, ">1\nACN\n>0\nGG\n>1\nTT\n")
    entry = {"fasta": "in.fa", "labels": {"from": "first_word"}, "ids": "number", "alphabet": "dna"}
    made = make_dataset("d", entry | {"unknown": "skip"}, tmp_path)
    assert made.X.ids == ["2", "3"]
    assert made.task().labels.names() == ["0", "1"]
    made = make_dataset("d", entry | {"unknown": "mask"}, tmp_path)
    assert made.task().labels.names() == ["1", "0", "1"]
    assert made.X.counts == {"masked letters": 1, "masked N": 1, "repeated ids": 1}


def test_labels_in_a_table(tmp_path):
    write(tmp_path, ">a\nAC\n>b\nGG\n>c\nNN\n")
    write(tmp_path, "id\tlabel\tfold\nb\tno\t1\na\tyes\t2\nc\tno\t1\n", "labels.tsv")
    labels = {"from": "tsv", "file": "labels.tsv", "fold": "fold"}
    entry = {"fasta": "in.fa", "labels": labels, "alphabet": "dna", "unknown": "skip"}
    made = make_dataset("d", entry, tmp_path)
    assert made.task().labels.names() == ["yes", "no"]
    assert made.task().labels.folds.tolist() == ["2", "1"]
    assert [source["file"] for source in made.notes["sources"]] == ["in.fa", "labels.tsv"]


def test_feature_table(tmp_path):
    write(tmp_path, "id\tclass\tg1\tg2\na\tno\t1\t2\nb\tyes\t3\t4\n", "in.tsv")
    made = make_dataset("d", {"features": "in.tsv", "labels": {"label": "class"}}, tmp_path)
    assert made.kind == "features"
    assert made.X.columns == ("g1", "g2")
    assert made.task().labels.names() == ["no", "yes"]
    with pytest.raises(ValueError, match=r"record 'a': column 'class': 'no' is not a finite number; .*under labels"):
        make_dataset("d", {"features": "in.tsv"}, tmp_path)
    with pytest.raises(LabelError, match=r"in\.tsv: has no column 'group'"):
        make_dataset("d", {"features": "in.tsv", "labels": {"label": "class", "group": "group"}}, tmp_path)


def test_feature_table_with_labels_elsewhere(tmp_path):
    write(tmp_path, "id\tg1\na\t1\nb\t3\n", "in.tsv")
    write(tmp_path, "n\tlabel\nb\tno\na\tyes\n", "labels.tsv")
    entry = {"features": "in.tsv", "labels": {"from": "tsv", "file": "labels.tsv", "id": "n"}}
    assert make_dataset("d", entry, tmp_path).task().labels.names() == ["yes", "no"]


def test_dissimilarities(tmp_path):
    write(tmp_path, "-\t0\t1\n+\t1\t0\n", "in.tsv")
    made = make_dataset("d", {"dissimilarities": "in.tsv"}, tmp_path)
    assert (made.kind, made.X.kind) == ("dissimilarities", "dissimilarities")
    assert made.task().labels.names() == ["-", "+"]


def test_simulated_donors():
    entry = {"simulate": {"kind": "donor", "n_positive": 5, "n_decoy": 7}}
    made = make_dataset("d", entry, seed=3)
    assert made.task().labels.class_counts() == {"decoy": 7, "donor": 5}
    assert made.X.digest() == make_dataset("d", entry, seed=3).X.digest()
    assert made.X.digest() != make_dataset("d", entry, seed=4).X.digest()
    fixed = {"simulate": entry["simulate"] | {"seed": 3}}
    assert made.X.digest() == make_dataset("d", fixed, seed=4).X.digest()


SUPERFAMILIES = {"kind": "superfamilies", "n_superfamilies": 2, "n_families": 2, "n_members": 4, "length": 30}


def test_simulated_families_are_tasks():
    made = make_dataset("d", {"simulate": SUPERFAMILIES, "tasks": "families"})
    assert len(made.tasks) == 4
    for task in made.tasks.values():
        labels = task.labels
        assert labels.classes == ("negative", "positive")
        assert labels.y[task.split == "test"].sum() == 4
        assert labels.y[task.split == "train"].sum() == 4
        assert len(task.used()) == 16
    by_superfamily = make_dataset("d", {"simulate": SUPERFAMILIES, "labels": {"label": "superfamily"}})
    assert list(by_superfamily.task().labels.class_counts().values()) == [8, 8]


def test_families_of_headers_need_enough_members(tmp_path):
    records = [f">r{i} sf=s{i % 2} fam=s{i % 2}.{i % 4}\nACDEF\n" for i in range(40)]
    write(tmp_path, "".join(records))
    labels = {"from": "header", "superfamily": "sf", "family": "fam", "label": "sf"}
    entry = {"fasta": "in.fa", "labels": labels, "tasks": "families"}
    assert list(make_dataset("d", entry, tmp_path).tasks) == ["s0.0", "s0.2", "s1.1", "s1.3"]
    with pytest.raises(ValueError, match="no family has 11 members"):
        make_dataset("d", entry | {"labels": labels | {"min_family": 11}}, tmp_path)
    (tmp_path / "in.fa").write_text("".join(records).replace("fam=s1.1", "fam=../s1.1"))
    with pytest.raises(ParameterError, match=r"'../s1.1' cannot be a file name"):
        make_dataset("d", entry, tmp_path)
    with pytest.raises(LabelError, match="has no column 'family'"):
        make_dataset("d", entry | {"labels": {"from": "header", "label": "sf", "superfamily": "sf"}}, tmp_path)


@pytest.mark.parametrize(
    ("entry", "error", "message"),
    [
        ({}, ConfigError, "exactly one source, this one has 0; give one of simulate"),
        ({"fasta": "a", "features": "b"}, ConfigError, "exactly one source, this one has 2"),
        ({"public": "globin"}, ParameterError, "unknown public data set 'globin'; did you mean 'globins'"),
        (
            {"fasta": "in.fa"},
            LabelError,
            "no labels given; add labels: {from: header}",
        ),
        ({"fasta": "in.fa", "labels": {"from": "column"}}, LabelError, "no labels given"),
        ({"fasta": "in.fa", "labels": {"from": "tsv"}}, ConfigError, "labels from tsv need a file"),
        ({"fasta": "in.fa", "labels": {"form": "tsv"}}, ParameterError, "did you mean 'from'"),
        (
            {"features": "in.fa", "labels": {"from": "header"}},
            LabelError,
            "labels of a table cannot come from 'header'",
        ),
        ({"simulate": SUPERFAMILIES}, LabelError, "has no column of labels; .*tasks: families"),
        ({"simulate": {"kind": "donors"}}, ParameterError, "unknown kind of simulated data 'donors'"),
    ],
)
def test_entries_that_are_not_possible(tmp_path, entry, error, message):
    write(tmp_path, ">a\nAC\n")
    with pytest.raises(error, match=message):
        make_dataset("d", entry, tmp_path)


def test_kind_of_an_entry():
    assert DataEntry.parse({"fasta": "x"}).kind == "sequences"
    assert DataEntry.parse({"simulate": {}}).kind == "sequences"
    assert DataEntry.parse({"features": "x"}).kind == "features"
    assert DataEntry.parse({"dissimilarities": "x"}).kind == "dissimilarities"
    assert DataEntry.parse({"public": "globins"}).kind == "dissimilarities"
    assert DataEntry.parse({"public": "expression_golub"}).kind == "features"


# ---- on disk ---------------------------------------------------------------------------------------------


def example():
    """Return a data set with two tasks, roles, groups, places, a track and counts."""
    X = SequenceSet.from_strings(["ACGT", "GG", "TTT"], ids=["a", "b", "c"])
    X = X.replace(tracks={"mask": np.arange(9, dtype=np.uint8)}, counts={"masked letters": 2})
    places = {"groups": ["g", "h", "g"], "chromosome": ["1", "1", "X"], "position": [5, 9, 12]}
    first = make_labels(X.ids, ["+", "-", "+"], **places)
    second = make_labels(X.ids, ["1.5", "", "-3"], kind="real", **places)
    tasks = {"one": Task("one", first, np.array(["train", "test", ""])), "two": Task("two", second)}
    return Dataset("example", "sequences", X, tasks, {"description": "Größe <b>", "sources": []})


def test_comes_back_from_disk(tmp_path):
    made = example()
    save_dataset(made, tmp_path / "d")
    back = load_dataset(tmp_path / "d")
    assert (back.name, back.kind, back.notes) == (made.name, made.kind, made.notes)
    assert back.X.digest() == made.X.digest()
    assert back.X.counts == made.X.counts
    assert list(back.tasks) == ["one", "two"]
    for name, task in back.tasks.items():
        old = made.tasks[name]
        assert task.labels.ids == made.X.ids
        assert task.labels.kind == old.labels.kind
        assert task.labels.classes == old.labels.classes
        assert np.array_equal(task.labels.y, old.labels.y, equal_nan=old.labels.kind == "real")
        assert task.labels.groups.tolist() == ["g", "h", "g"]
        assert task.labels.position.tolist() == [5, 9, 12]
        assert task.labels.folds is None
    assert back.tasks["one"].split.tolist() == ["train", "test", ""]
    assert back.tasks["two"].split is None
    assert back.tasks["one"].used().tolist() == [0, 1]
    assert back.tasks["two"].used().tolist() == [0, 2]


def test_files_for_readers(tmp_path):
    save_dataset(example(), tmp_path)
    assert (tmp_path / "units.tsv").read_text() == (
        "id\tlength\tgroup\tchromosome\tposition\tone\ttwo\n"
        "a\t4\tg\t1\t5\t+\t1.5\n"
        "b\t2\th\t1\t9\t-\t\n"
        "c\t3\tg\tX\t12\t\t-3\n"
    )
    told = json.loads((tmp_path / "summary.json").read_text())
    assert told["n"] == 3
    assert told["alphabet"] == "dna"
    assert told["tracks"] == ["mask"]
    assert told["length"] == {"min": 2, "median": 3.0, "max": 4, "total": 9}
    assert told["counts"] == {"masked letters": 2}
    assert told["description"] == "Größe <b>"
    assert told["tasks"]["one"] == {
        "kind": "binary",
        "n": 2,
        "classes": {"-": 1, "+": 1},
        "roles": {"train": {"-": 0, "+": 1}, "test": {"-": 1, "+": 0}},
        "groups": 2,
    }
    assert told["tasks"]["two"] == {
        "kind": "real",
        "n": 2,
        "min": -3.0,
        "mean": -0.75,
        "max": 1.5,
        "groups": 1,
        "unlabelled": 1,
    }


def test_same_data_same_bytes(tmp_path):
    for folder in ("a", "b"):
        save_dataset(example(), tmp_path / folder)
    for name in ("data.npz", "units.tsv", "summary.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_tables_come_back(tmp_path):
    write(tmp_path, "id\tlabel\tg1\na\tno\t1\nb\tyes\t3\n", "f.tsv")
    write(tmp_path, "-\t0\t1\n+\t1\t0\n", "s.tsv")
    for entry in ({"features": "f.tsv"}, {"similarities": "s.tsv"}, {"dissimilarities": "s.tsv"}):
        made = make_dataset("d", entry, tmp_path)
        save_dataset(made, tmp_path / "d")
        back = load_dataset(tmp_path / "d")
        assert back.kind == made.kind
        assert back.X.digest() == made.X.digest()
        assert summary(back) == summary(made)


def test_folders_that_are_no_data_sets(tmp_path):
    with pytest.raises(FileError, match=r"data\.npz: no such file"):
        load_dataset(tmp_path)
    write(tmp_path, b"PK nonsense", "data.npz")
    with pytest.raises(FileError, match="is not a data set, or is corrupted"):
        load_dataset(tmp_path)
    save_dataset(example(), tmp_path)
    whole = (tmp_path / "data.npz").read_bytes()
    write(tmp_path, whole[:-100], "data.npz")
    with pytest.raises(FileError, match="corrupted"):
        load_dataset(tmp_path)
    write(tmp_path, whole, "data.npz")
    header, arrays = load_archive(tmp_path / "data.npz")
    save_archive(tmp_path / "data.npz", header | {"format": 0}, arrays)
    with pytest.raises(FileError, match="is not a data set, or is corrupted; run seqkern datasets again"):
        load_dataset(tmp_path)


def test_task_by_name():
    made = example()
    assert made.task("two").labels.kind == "real"
    with pytest.raises(ParameterError, match="unknown task of example 'twoo'; did you mean 'two'"):
        made.task("twoo")
    with pytest.raises(ParameterError, match="unknown task"):
        made.task()


# ---- command line ----------------------------------------------------------------------------------------

STUDY = """\
study: small
datasets:
  letters:
    fasta: {fasta}
    labels: {{from: header}}
kernels:
  spectrum2: {{kernel: spectrum, k: 2}}
solvers:
  csvc: {{solver: csvc, C: 1}}
"""


def test_verb_writes_a_data_set(tmp_path, capsys):
    path = write(tmp_path, ">a label=1\nAc\n>b label=0\nGG\n")
    study = write(tmp_path, STUDY.format(fasta=path), "study.yaml")
    assert main(["datasets", str(study), "--name", "letters", "-o", str(tmp_path / "out")]) == 0
    assert "2 sequences, tasks: 1; lower-case letters: 1" in capsys.readouterr().out
    made = load_dataset(tmp_path / "out")
    entry = json.dumps({"fasta": str(path), "labels": {"from": "header"}})
    command = ["datasets", "--name", "letters", "--entry", entry, "--seed", "5"]
    assert main([*command, "-o", str(tmp_path / "again")]) == 0
    assert load_dataset(tmp_path / "again").X.digest() == made.X.digest()


def test_verb_lists_public_data_sets(capsys):
    assert main(["datasets", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("name\tkind\t")
    assert {line.split("\t")[0] for line in lines[1:]} == set(public_files.public_sets())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--name", "x"], "arguments are missing: --name, -o, and"),
        (["--name", "x", "--entry", "{", "-o", "out"], "--entry is not JSON"),
        (["--name", "x", "--entry", "[]", "-o", "out"], "--entry is not a JSON object"),
        (
            ["--name", "x", "--entry", '{"public": "globin"}', "-o", "out"],
            "--entry: datasets.x: unknown public data set",
        ),
        (["study.yaml", "--name", "leters", "-o", "out"], "'leters'; did you mean 'letters'"),
        (["nothing.yaml", "--name", "x", "-o", "out"], "nothing.yaml: no such file"),
    ],
)
def test_wrong_use_of_the_verb(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, STUDY.format(fasta="in.fa"), "study.yaml")
    assert main(["datasets", *arguments]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


LONG = b"".join(b">r%d label=%d\n%s\n" % (i, i % 2, b"ACGT" * 50) for i in range(99))


@pytest.mark.parametrize(
    ("content", "record", "message"),
    [
        (b"", None, "is empty"),
        (b">a label=1\nAC\n>b label=0\n", "b", "has no sequence"),
        (b">a label=1\nAC\n>b label=0\nA?\n", "b", "letter '?' at position 2"),
        (b">a label=1\nAC\n>a label=0\nAC\n", "a", "duplicate id"),
        (b">a label=1\nAC\n>b\nGG\n", "b", "has no field label="),
        (b">a label=1\nAC\n>b label=1\nGG\n", None, "only one class: 1"),
        (b"\x00\x01\x02", None, "is a binary file"),
        (b"hello\n", None, "is not FASTA"),
        (gzip.compress(LONG, mtime=0)[:-60], None, "is truncated"),
        (None, None, "no such file"),
    ],
)
def test_bad_input_of_the_verb(tmp_path, capsys, content, record, message):
    path = tmp_path / "in.fa"
    if content is not None:
        path.write_bytes(content)
    entry = json.dumps({"fasta": str(path), "labels": {"from": "header"}, "alphabet": "dna"})
    assert main(["datasets", "--name", "d", "--entry", entry, "-o", str(tmp_path / "out")]) == 1
    captured = capsys.readouterr()
    place = f"seqkern: {path}: " + (f"record '{record}': " if record else "")
    assert captured.err.startswith(place + message)
    assert "; " in captured.err
    assert captured.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_unwritable_place(tmp_path, capsys):
    path = write(tmp_path, ">a label=1\nAC\n>b label=0\nGG\n")
    entry = json.dumps({"fasta": str(path), "labels": {"from": "header"}})
    assert main(["datasets", "--name", "d", "--entry", entry, "-o", f"{path}/out"]) == 1
    assert re.search(r"^seqkern: .*in\.fa/out/.*cannot be written: Not a directory; ", capsys.readouterr().err)


# ---- public registry -------------------------------------------------------------------------------------


def rows():
    return [file for item in public_files.public_sets().values() for file in item.files.values()]


def test_registry_is_consistent():
    from seqkern.study import adapters

    files = public_files.public_table("public_files.tsv", public_files.PublicFile)
    assert {file.dataset for file in files if file.role != public_files.PARAMETER} == set(public_files.public_sets())
    for item in public_files.public_sets().values():
        assert callable(getattr(adapters, item.adapter))
        assert item.files
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", item.name)
        assert item.description
        assert item.reference
    for file in files:
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert bool(file.url) != bool(file.made)
        assert (
            re.fullmatch(r"https://raw\.githubusercontent\.com/[^/]+/[^/]+/[0-9a-f]{40}/[^ ]+", file.url or "")
            or file.made
        )


def test_registry_follows_the_list_of_sources(shared_data):
    header, *lines = (line.split("\t") for line in (shared_data / "SOURCES.tsv").read_text().splitlines())
    sources = {line[0]: dict(zip(header, line, strict=True)) for line in lines}
    for file in rows():
        source = sources[file.file]
        assert file.sha256 == source["sha256"]
        if file.url:
            before, _, endings = source["path"].partition("{")  # file.{train,test}; a remark
            paths = [before + ending for ending in endings.partition("}")[0].split(",")]
            start = f"https://raw.githubusercontent.com/{source['repository']}/{source['commit']}"
            assert file.url in [f"{start}/{path}" for path in paths]


def test_a_file_that_a_parameter_names_may_be_public(tmp_path, monkeypatch):
    assert public_files.local_path("some/where.dat") == Path("some/where.dat")
    with pytest.raises(ParameterError, match="unknown public file 'prosite1996'; did you mean 'prosite1995'"):
        public_files.local_path("public:prosite1996")
    (tmp_path / "prosite1995").mkdir()
    copy = tmp_path / "prosite1995" / "prosite.dat"
    copy.write_text("something else")
    monkeypatch.setenv("SEQKERN_DATA", str(tmp_path))
    with pytest.raises(FileError, match="is not the published file"):
        public_files.local_path("public:prosite1995")


def given(sha256, url="", made=""):
    return public_files.PublicFile("d", "table", "folder/x.tsv", sha256, url, made)


def test_local_copy_is_compared(tmp_path, no_files, monkeypatch):
    (tmp_path / "folder").mkdir()
    path = write(tmp_path, "data", "folder/x.tsv")
    right = hashlib.sha256(b"data").hexdigest()
    assert public_files.find_file(given(right), tmp_path) == path
    with pytest.raises(FileError, match=r"x\.tsv: is not the published file: its SHA-256 differs; replace it with U"):
        public_files.find_file(given("0" * 64, "U"), tmp_path)
    monkeypatch.setenv("SEQKERN_DATA", str(tmp_path))
    assert public_files.find_file(given(right), tmp_path / "elsewhere") == path
    assert public_files.find_file(given(right)) == path


def test_download_is_kept_and_compared(tmp_path, no_files):
    origin = write(tmp_path, "data", "origin")
    right = hashlib.sha256(b"data").hexdigest()
    path = public_files.find_file(given(right, origin.as_uri()))
    assert path == no_files / "folder" / "x.tsv"
    assert path.read_text() == "data"
    origin.unlink()
    assert public_files.find_file(given(right, origin.as_uri())) == path
    path.write_text("damaged")
    with pytest.raises(
        FileError, match=r"folder/x\.tsv: not found, and file://.* cannot be downloaded: .*SEQKERN_DATA"
    ):
        public_files.find_file(given(right, origin.as_uri()))


def test_wrong_download_leaves_nothing(tmp_path, no_files):
    origin = write(tmp_path, "other", "origin")
    with pytest.raises(FileError, match="the SHA-256 of the download differs from the published one"):
        public_files.find_file(given("0" * 64, origin.as_uri()))
    assert not list((no_files / "folder").glob("*"))


def test_file_without_an_address(no_files):
    with pytest.raises(FileError, match=r"folder/x\.tsv: not found, and has no public URL \(by hand\); .*data_dir"):
        public_files.find_file(given("0" * 64, made="by hand"))


def test_policies_of_an_entry_come_first(shared_data):
    with pytest.raises(ValueError, match=r"splice\.data: record .* letter 'N'"):
        make_dataset("d", {"public": "uci_splice", "unknown": "error"}, data_dir=shared_data)
    made = make_dataset("d", {"public": "uci_splice", "unknown": "skip", "ids": "number"}, data_dir=shared_data)
    assert len(made.X) == 3190 - made.X.counts["records with unknown letters left out"]
    assert len(made.task().labels) == len(made.X)
    with pytest.raises(ValueError, match="duplicate id"):
        make_dataset("d", {"public": "uci_splice", "ids": "header"}, data_dir=shared_data)


# ---- the public data sets themselves ---------------------------------------------------------------------


@pytest.fixture
def get(shared_data):
    return lambda name: make_dataset(name, {"public": name}, data_dir=shared_data)


def test_acceptors(get, shared_data):
    made = get("celegans_acceptor_2200")
    assert made.task().labels.class_counts() == {"-1": 2000, "1": 200}
    assert (made.X.lengths == 82).all()
    assert set(made.X.part(40, 42).strings()) == {"AG"}
    lines = (shared_data / "celegans_acceptor" / "acc_2200_left_right.csv").read_text().split()
    sides = zip(made.task().labels.names(), made.X.part(0, 40).strings(), made.X.part(42, None).strings(), strict=True)
    assert [f"{label}.0,{left},{right}" for label, left, right in sides] == lines
    gc = get("celegans_acceptor_gc")
    assert gc.task().labels.y.tolist() == made.task().labels.y.tolist()
    left = [(side.count("G") + side.count("C")) / 40 for side in made.X.part(0, 40).strings()]
    assert np.allclose(gc.X.values[:, 0], left, atol=1e-9)


def test_acceptor_windows_on_the_genome(get):
    made = get("celegans_acceptor_100000")
    labels = made.task().labels
    assert labels.class_counts() == {"-1": 96699, "1": 3301}
    assert {name: int((labels.chromosome == name).sum()) for name in "12"} == {"1": 71850, "2": 28150}
    assert set(labels.strand.tolist()) == {"+", "-"}
    assert made.X.ids[0] == "1:180699:+"
    assert labels.position[0] == 180699
    assert set(made.X.part(197, 199).strings()) == {"AG"}


def test_uci(get):
    made = get("uci_splice")
    assert made.task().labels.class_counts() == {"EI": 767, "IE": 768, "N": 1655}
    each = {"masked D": 2, "masked N": 56, "masked R": 1, "masked S": 1}
    assert made.X.counts == {"masked letters": 60, **each, "repeated ids": 12}
    assert (made.X.lengths == 60).all()
    strings = made.X.strings()
    assert len(strings) - len(set(strings)) == 185
    promoters = get("uci_promoters")
    assert promoters.task().labels.class_counts() == {"-": 53, "+": 53}
    assert (promoters.X.lengths == 57).all()
    assert promoters.X.ids[0] == "S10"


@pytest.mark.parametrize("name", ["CTCF", "EP300", "JUND", "RAD21", "SIN3A"])
def test_binding_sites(get, name):
    made = get(f"tfbs_{name}")
    task = made.task()
    assert [(task.split == role).sum() for role in ("train", "test")] == [2000, 2000]
    assert task.labels.class_counts() == {"0": 2000, "1": 2000}
    assert (made.X.lengths == 100).all()


def test_nfe2(get):
    made = get("lsgkm_nfe2")
    told = summary(made)["tasks"]["all"]["roles"]
    assert told == {"train": {"negative": 644, "positive": 644}, "test": {"negative": 69, "positive": 69}}


def test_scop_families(get):
    n_train = {"1.1": 2339, "1.34": 2075, "2.1": 5992, "2.8": 1241}
    for name in ("1.1", "1.34", "2.1", "2.19", "2.31", "2.34", "2.41", "2.8", "3.19", "3.25", "3.33", "3.50"):
        made = get(f"scop_family_{name}")
        task = made.task()
        assert task.labels.classes == ("0", "1")
        assert (task.split == "train").sum() == n_train.get(name, (task.split == "train").sum())
        positives = task.labels.y[task.split == "test"].sum()
        assert positives == 120 if name == "2.1" else 6 <= positives <= 11
        assert made.X.counts["masked letters"] > 0


def test_edd(get, shared_data):
    made = get("edd_homology")
    assert (len(made.X), len(made.tasks)) == (3397, 60)
    lines = (shared_data / "edd_homology" / "edd_ln_labels.tsv").read_text().splitlines()
    names = lines[0].split("\t")[1:]
    assert list(made.tasks) == names
    codes = np.array([line.split("\t")[1:] for line in lines[1:]], dtype=int)
    for j, task in enumerate(made.tasks.values()):
        naive = np.where(task.labels.y == UNLABELLED, 0, np.where(task.split == "train", 1, 3) + (task.labels.y == 0))
        assert naive.tolist() == codes[:, j].tolist()
        assert task.used().tolist() == np.flatnonzero(codes[:, j]).tolist()
    # the family in a header is the one held out
    for name, task in made.tasks.items():
        assert np.array_equal((task.labels.y == 1) & (task.split == "test"), task.labels.groups == name)
    assert len(get("edd_folds").task().labels.classes) == 27


def test_coiled_coils(get):
    made = get("coiled_coil")
    labels = made.task().labels
    assert labels.class_counts() == {"DIMER": 385, "TRIMER": 92}
    assert labels.classes[1] == "TRIMER"
    assert len(set(labels.groups.tolist())) == 374
    first = made.X.take([0]).compact()
    assert first.string(0).startswith("LRELQEALEEEV")
    assert first.tracks["annotation"].tobytes().decode().startswith("abcdefgabcdefg")


def test_other_sets(get):
    sizes = {"amp_antibp2": 1993, "cpp_cellppd": 1614, "nep_neuropipred": 1750, "hiv_v3": 1351}
    sizes |= {"acp_anticp": 450, "ace_vaxinpad": 688}
    for name, n in sizes.items():
        made = get(f"peptides_{name}")
        assert len(made.X) == n
        assert made.task().labels.classes == ("0", "1")
    globins = get("globins")
    assert globins.task().labels.class_counts() == {"G": 30, "HA": 72, "HB": 72, "M": 39}
    values = globins.X.block(globins.X, globins.X)
    assert values.shape == (213, 213)
    assert np.array_equal(values, values.T)
    assert not values.diagonal().any()


# ---- missing values ---------------------------------------------------------------------------------------


def test_missing_values_of_a_table_follow_the_policy(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("id\tlabel\tGC\tpI\na\tno\t0.4\t\nb\tyes\tNA\t6\nc\tyes\t0.5\t?\n")
    entry = {"features": str(path), "labels": {"label": "label"}}
    with pytest.raises(SequenceError, match=r"'a'.*''.*missing: keep and transforms: \[impute\]"):
        make_dataset("t", entry)
    X = make_dataset("t", {**entry, "missing": "keep"}).X
    assert X.incomplete
    assert X.counts == {"missing values": 3}
    assert np.isnan(X.values).tolist() == [[False, True], [True, False], [False, True]]
    again = type(X).from_state(*X.state())
    assert again.incomplete
    assert again.digest() == X.digest()
    assert X.take([0]).incomplete
    path.write_text("id\tlabel\tGC\na\tno\tinf\nb\tyes\t1\n")
    with pytest.raises(SequenceError, match="'inf' is not a finite number"):
        make_dataset("t", {**entry, "missing": "keep"})
    with pytest.raises(ConfigError, match="missing='keep' is not possible for similarities"):
        make_dataset("t", {"similarities": str(path), "missing": "keep"})


def test_a_file_of_unlabelled_records(tmp_path):
    for name, text in (("a", "ACGT"), ("b", "GGGT"), ("pool", "ACCC")):
        (tmp_path / f"{name}.fa").write_text("".join(f">{name}{i}\n{text}{'ACGT'[i]}\n" for i in range(3)))
    files = {"positive": "a.fa", "negative": "b.fa", "unlabelled": "pool.fa"}
    task = make_dataset("d", {"fasta": files}, tmp_path).task()
    assert task.labels.class_counts() == {"negative": 3, "positive": 3}
    assert task.unlabelled().tolist() == [6, 7, 8]
    assert task.used().tolist() == [0, 1, 2, 3, 4, 5]
    # alone beside one class, it is the other class: positives and unlabelled records
    del files["negative"]
    labels = make_dataset("d", {"fasta": files}, tmp_path).task().labels
    assert labels.class_counts() == {"unlabelled": 3, "positive": 3}


def test_samples_outside_a_task_with_roles_are_not_unlabelled():
    labels = make_labels(list("abcd"), ["yes", "no", "", ""])
    assert Task("t", labels, np.array(["train", "test", "", ""])).unlabelled().tolist() == []
    assert Task("t", labels).unlabelled().tolist() == [2, 3]


@pytest.mark.parametrize("odd", ["1_000", "١", "1e400"])
def test_numbers_of_tables_are_in_ascii_without_underscores_and_finite(tmp_path, odd):
    path = tmp_path / "table.tsv"
    path.write_text(f"id\tlabel\tGC\na\tx\t{odd}\nb\ty\t1\n")
    with pytest.raises(SequenceError, match=f"record 'a': column 'GC': '{odd}' is not a finite number"):
        make_dataset("t", {"features": str(path)})
    path.write_text(f"id\ta\tb\na\t1\t{odd}\nb\t{odd}\t1\n")
    with pytest.raises(SequenceError, match=f"'{odd}' is not a finite number"):
        make_dataset("t", {"similarities": str(path), "labels": {}})
    path.write_text(f"id\tlabel\tGC\na\t{odd}\t2\nb\t1\t1\n")
    with pytest.raises(LabelError, match=f"label '{odd}' is not a finite number"):
        make_dataset("t", {"features": str(path), "labels": {"kind": "real"}})


# ---- features that are the label ---------------------------------------------------------------------------

KINDS_OF_LABELS = {"two": 2, "unequal": 2, "three": 3}


def some_labels(kind, n=60):
    """Return labels of n samples: of two or three classes, or real."""
    if kind == "real":
        return make_labels([str(i) for i in range(n)], [f"{i * 37 % n / 7:.3f}" for i in range(n)], kind="real")
    values = [f"c{i % 5 // 4 if kind == 'unequal' else i % KINDS_OF_LABELS[kind]}" for i in range(n)]
    return make_labels([str(i) for i in range(n)], values)


def told_of(column, labels, name="x", others=20, seed=0):
    """Return what is told of a column among random ones."""
    rng = np.random.default_rng(seed)
    values = np.column_stack([rng.normal(size=(len(labels), others)), column])
    return leaked_features(FeatureTable(values, columns=[*(f"f{j}" for j in range(others)), name]), [labels])


@pytest.mark.parametrize("kind", KINDS_OF_LABELS)
@pytest.mark.parametrize("others", [0, 5000])
def test_a_feature_that_is_the_class_is_told(kind, others):
    labels, rng = some_labels(kind), np.random.default_rng(1)
    told = ["feature 'x' alone separates the classes: is it the label?"]
    codes = np.array([5.0, -1.0, 9.0])[labels.y]
    for column in (labels.y, -labels.y, codes, codes + rng.normal(0, 0.1, len(codes)), 1e9 + labels.y):
        assert told_of(column, labels, others=others) == told


def test_values_of_one_class_each_are_told():
    labels = some_labels("two", 120)
    group = labels.y + 2 * (np.arange(120) // 30)  # classes take turns among eight groups
    assert told_of(group, labels) == ["feature 'x' alone separates the classes: is it the label?"]
    assert told_of(np.where(np.arange(120) == 0, 7, group), labels) == []  # one sample in another group


def test_a_feature_that_is_the_number_is_told():
    labels, rng = some_labels("real"), np.random.default_rng(1)
    told = ["feature 'x' equals the labels: is it the label?"]
    for column in (labels.y, 3 - 2 * labels.y, labels.y + rng.normal(0, 0.05, 60)):
        assert told_of(column, labels, others=2000) == told
    assert told_of(labels.y + rng.normal(0, 0.5, 60), labels) == []


@pytest.mark.parametrize("name", ["label", "Class", "y", "target", "group", "outcome"])
@pytest.mark.parametrize("kind", [*KINDS_OF_LABELS, "real"])
def test_a_feature_with_the_name_of_a_label_is_told_if_it_predicts(name, kind):
    labels, rng = some_labels(kind), np.random.default_rng(2)
    column = labels.y / labels.y.std() + rng.normal(0, 0.8, 60)
    assert told_of(column, labels, name) == [
        f"feature {name!r} has the name of a label and predicts it: is it the label?"
    ]
    assert told_of(column, labels, "GC") == []
    assert told_of(rng.normal(size=60), labels, name) == []


def test_missing_values_and_unlabelled_samples_are_left_out():
    labels = make_labels([str(i) for i in range(60)], ["" if i % 6 == 5 else "ab"[i % 2] for i in range(60)])
    column = np.where(np.arange(60) % 7 == 0, np.nan, labels.y)
    table = FeatureTable(column[:, None], columns=["z"], missing="keep")
    assert leaked_features(table, [labels]) == ["feature 'z' alone separates the classes: is it the label?"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [*KINDS_OF_LABELS, "real"])
@pytest.mark.parametrize("n", [12, 30])
def test_random_features_are_silent(seed, kind, n):
    rng, labels = np.random.default_rng(seed), some_labels(kind, n)
    for values in (rng.normal(size=(n, 800)), rng.standard_cauchy((n, 800)), rng.integers(0, 2, (n, 800))):
        assert leaked_features(FeatureTable(values), [labels]) == []


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("khan", (63, 2308)),
        *(
            pytest.param(name, (rows, columns), marks=pytest.mark.nightly)
            for name, rows, columns in (("golub", 72, 7129), ("pomeroy", 60, 7128), ("west", 49, 7129))
        ),
    ],
)
def test_genes_are_silent(get, name, shape):
    dataset = get(f"expression_{name}")
    assert dataset.X.values.shape == shape
    assert "leaks" not in dataset.notes
    rng, labels = np.random.default_rng(0), dataset.task().labels
    for n in (14, 20, 30):
        rows = rng.permutation(len(labels))[:n]
        assert leaked_features(dataset.X.take(rows), [labels.take(rows)]) == []
    leaked = FeatureTable(np.column_stack([dataset.X.values, labels.y]), columns=[*dataset.X.columns, "status"])
    assert leaked_features(leaked, [labels]) == ["feature 'status' alone separates the classes: is it the label?"]


def test_a_leak_is_told_by_every_verb(tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = [f"s{i}\t{'01'[i % 2]}\t{rng.normal():.3f}\t{i % 2}\n" for i in range(40)]
    table, data = tmp_path / "x.tsv", str(tmp_path / "d")
    table.write_text("id\tlabel\tGC\ttarget\n" + "".join(rows))
    told = "feature 'target' alone separates the classes: is it the label?"
    method = ["--kernel", "linear", "--solver", "csvc:C=1"]
    entry = json.dumps({"features": str(table), "labels": {"label": "label"}})
    for argv in (
        ["cv", str(table), *method],
        ["train", str(table), *method, "-o", str(tmp_path / "m")],
        ["datasets", "--name", "d", "--entry", entry, "-o", data],
    ):
        assert main(argv) == 0
        assert capsys.readouterr().err.count(f"seqkern: warning: {table}: {told}\n") == 1
    assert load_dataset(data).notes["leaks"] == [told]
    assert json.loads((tmp_path / "d" / "summary.json").read_text())["leaks"] == [told]
    assert main(["folds", data, "-o", str(tmp_path / "folds")]) == 0
    capsys.readouterr()
    assert main(["audit", data, "--folds", str(tmp_path / "folds"), "-o", str(tmp_path / "audit")]) == 0
    assert f"d: {told}\n" in capsys.readouterr().out


def test_a_leak_in_a_view_is_told(tmp_path, capsys):
    rng = np.random.default_rng(0)
    (tmp_path / "x.fa").write_text("".join(f">s{i} label={'01'[i % 2]}\n{'ACGT' * 5}\n" for i in range(40)))
    rows = (f"s{i}\t{rng.normal():.3f}\t{i % 2}\n" for i in range(40))
    (tmp_path / "v.tsv").write_text("id\te1\te2\n" + "".join(rows))
    entry = {"fasta": str(tmp_path / "x.fa"), "labels": {"from": "header"}, "views": {"v": str(tmp_path / "v.tsv")}}
    dataset = make_dataset("d", entry)
    assert dataset.notes["leaks"] == ["view 'v': value 2 of each vector alone separates the classes: is it the label?"]
