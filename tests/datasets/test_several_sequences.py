"""Tables with several sequences, and a FASTA file for each: the same samples, policies, one line for what is wrong."""

import gzip

import numpy as np
import pytest

from seqkern.core.errors import SeqkernError
from seqkern.sequences.sequence_set import sequence_views
from seqkern.study import load_dataset, make_dataset, save_dataset
from seqkern.study.dataset import summary
from seqkern.study.vectors import holds_sequences

ROWS = [
    ("r1", "CAVRD", "CASSL", "yes"),
    ("r2", "CALRG", "", "no"),
    ("r3", "CALD", "CASSF", "yes"),
    ("r4", "", "CAT", "no"),
]
TABLE = {"file": "t.tsv", "id": "id", "sequences": ["a", "b"]}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Go to a folder with the samples in several formats."""
    monkeypatch.chdir(tmp_path)
    lines = ["id\ta\tb\tlabel", *("\t".join(row) for row in ROWS)]
    text = "\n".join(lines) + "\n"
    (tmp_path / "t.tsv").write_text(text)
    (tmp_path / "t.csv").write_text(text.replace("\t", ","))
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(text.encode()))
    for column, name in ((1, "a"), (2, "b")):
        (tmp_path / f"{name}.fa").write_text("".join(f">{row[0]}\n{row[column]}\n" for row in ROWS if row[column]))
    labels = "".join(f"{row[0]}\t{row[3]}\n" for row in ROWS)
    (tmp_path / "labels.tsv").write_text("id\tlabel\n" + labels)


def made(**entry):
    """Return the data set of an entry."""
    return make_dataset("x", entry)


def apart(X):
    return {name: X.view(name).strings() for name in sequence_views(X)}


def test_a_table_in_any_form_and_fasta_files_give_the_same_samples(tmp_path):
    first = made(table={**TABLE, "missing": "keep"})
    assert first.X.ids == ["r1", "r2", "r3", "r4"]
    assert apart(first.X) == {"a": ["CAVRD", "CALRG", "CALD", ""], "b": ["CASSL", "", "CASSF", "CAT"]}
    assert first.task().labels.names() == ["yes", "no", "yes", "no"]
    others = [made(table={**TABLE, "file": file, "missing": "keep"}) for file in ("t.csv", "t.tsv.gz")]
    labels = {"from": "tsv", "file": "labels.tsv"}
    others.append(made(views={"a": "a.fa", "b": "b.fa"}, missing="keep", labels=labels, alphabet="protein"))
    named = {"a": {"column": "a", "alphabet": "protein"}, "b": "b"}
    others.append(made(table={**TABLE, "sequences": named, "missing": "keep"}, labels=labels))
    for other in others:
        assert other.X.replace(counts={}).digest() == first.X.digest()
        assert other.task().labels.names() == first.task().labels.names()
    save_dataset(first, tmp_path / "data")
    again = load_dataset(tmp_path / "data")
    assert again.X.digest() == first.X.digest()
    assert summary(again)["sequences"]["b"] == {"alphabet": "protein", "n": 3, "min": 3, "median": 5.0, "max": 5}


def test_vectors_stand_beside_sequences():
    np.savez("esm.npz", r1=[0.5, 1], r2=[1, 2], r3=[2, 0], r4=[0, 0])
    X = made(table={**TABLE, "missing": "skip"}, labels={"kind": "none"}, views={"esm": "esm.npz"}).X
    assert X.views["esm"].rows().tolist() == [[0.5, 1], [2, 0]]
    labels = {"from": "tsv", "file": "labels.tsv"}
    both = {"a": "a.fa", "b": "b.fa", "esm": "esm.npz"}
    assert list(made(views=both, missing="keep", labels=labels).X.views) == ["a", "b", "esm"]


def test_samples_that_lack_a_sequence_are_left_out_and_counted():
    X = made(table={**TABLE, "missing": "skip"}, labels={"kind": "none"}).X
    assert (X.ids, X.counts["samples without a sequence in a view left out"]) == (["r1", "r3"], 2)
    kept = made(table={**TABLE, "missing": "keep"}).X
    assert kept.counts == {"empty sequences in the view 'a'": 1, "empty sequences in the view 'b'": 1}


def test_rows_are_numbered_without_ids_and_views_may_have_other_names():
    X = made(table={"file": "t.tsv", "sequences": {"alpha": "a", "beta": "b"}, "missing": "keep"}).X
    assert (X.ids, list(sequence_views(X))) == (["1", "2", "3", "4"], ["alpha", "beta"])


def test_each_column_has_its_alphabet_and_unknown_letters_their_policy(tmp_path):
    (tmp_path / "m.tsv").write_text("f\ts\tlabel\nMKV\tACGT\t1\nMKX\tGGN\t0\nMLV\tACCT\t1\nMLA\tACAT\t0\n")
    entry = {"file": "m.tsv", "sequences": ["f", "s"]}
    X = made(table=entry).X
    assert (X.alphabet.name, X.view("s").alphabet.name) == ("protein", "dna")
    assert X.counts == {"masked letters": 2, "masked X": 1, "masked N": 1}
    assert made(table=entry, unknown="skip").X.ids == ["1", "3", "4"]


def test_real_labels_of_a_column(tmp_path):
    (tmp_path / "n.tsv").write_text("a\tb\ty\nACD\tEF\t0.5\nGH\tIK\t-1\n")
    labels = made(table={"file": "n.tsv", "sequences": ["a", "b"]}, labels={"label": "y", "kind": "real"}).task().labels
    assert labels.y.tolist() == [0.5, -1.0]


def test_sequences_are_told_from_vectors_by_name_or_alphabet():
    names = ("a.fa", "a.FASTA.gz", "a.faa.xz", "a.sto", "esm.npz", "esm.h5", "esm.tsv")
    assert [holds_sequences(name) for name in names] == [True] * 4 + [False] * 3
    assert holds_sequences({"file": "heavy.txt", "alphabet": "protein"})


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"table": TABLE}, r"t.tsv: column 'a': record 'r4': has no sequence in the view 'a' \(2 of 4 samples"),
        ({"table": {**TABLE, "sequences": ["a", "c"]}}, "t.tsv: unknown column 'c'"),
        ({"table": {**TABLE, "id": "name"}}, "t.tsv: unknown column 'name'"),
        ({"table": {**TABLE, "id": "label", "missing": "keep"}}, "record 'yes': duplicate id"),
        (
            {"table": {**TABLE, "sequences": ["b"], "missing": "keep"}},
            "row 2 has no sequence in any of b",
        ),
        ({"table": {**TABLE, "columns": ["a"]}}, "unknown key of table 'columns'"),
        ({"table": {"file": "t.tsv"}}, "the table has no sequences"),
        ({"table": {**TABLE, "sequences": ["a", "a"]}}, "names a column twice"),
        ({"table": {**TABLE, "missing": "drop"}}, "missing='drop'"),
        ({"table": {**TABLE, "sequences": {"a": {"column": "a", "alphabet": "xyz"}}}}, "unknown alphabet 'xyz'"),
        ({"table": {**TABLE, "missing": "skip"}, "labels": {"from": "header"}}, "labels cannot come from 'header'"),
        ({"table": {**TABLE, "file": "a.fa"}}, "a.fa: is FASTA, not a table"),
        ({"table": {**TABLE, "missing": "keep"}, "labels": {"label": "class_"}}, "has no column 'class_'"),
        ({"table": TABLE, "residues": {}}, "residues do not work with table"),
        ({"table": TABLE, "profiles": {"search": "all", "transductive": True}}, "samples with one sequence"),
        ({"views": {"a": "a.fa", "b": "b.fa"}}, "no labels given"),
        ({"table": TABLE, "similar_by": ["c"]}, "unknown sequence view 'c'"),
        ({"fasta": "a.fa", "similar_by": "a"}, "similar_by needs samples with several sequences"),
        ({"views": {"a": "a.fa"}, "fasta": "b.fa"}, "'a' holds sequences, and 'fasta' too"),
        ({"views": {"a": {"file": "a.fa", "ids": "x"}}}, "has ids of its own"),
    ],
)
def test_what_is_wrong_is_one_line(entry, problem):
    with pytest.raises(SeqkernError, match=problem):
        make_dataset("x", entry)


def test_fasta_files_with_other_ids_name_the_record_and_both_files():
    labels = {"from": "tsv", "file": "labels.tsv"}
    with pytest.raises(SeqkernError, match=r"a.fa: record 'r4': has no sequence in the view 'a', but it is in b.fa"):
        made(views={"a": "a.fa", "b": "b.fa"}, labels=labels)


def test_a_letter_outside_the_alphabet_names_row_and_column(tmp_path):
    (tmp_path / "bad.tsv").write_text("id\ta\tb\tlabel\nx1\tMKV\tMK\t1\nx2\tMK\tM?V\t0\n")
    entry = {"file": "bad.tsv", "id": "id", "sequences": ["a", "b"]}
    with pytest.raises(SeqkernError, match=r"bad.tsv: column 'b': record 'x2': letter '\?' at position 2"):
        make_dataset("x", {"table": entry, "alphabet": "protein"})
