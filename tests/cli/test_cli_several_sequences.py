"""Samples with several sequences on the command line: a table, FASTA files; what is missing is one line."""

import csv

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.core.tsv import read_tsv
from seqkern.kernels import build_kernel
from seqkern.methods.loading import load_model
from seqkern.sequences.joining import join_views
from seqkern.simulate import simulate, write_simulated

EACH = "each_view:base=(spectrum:k=2,short=zero,zero_diagonal=zero)"
COLUMNS = ("--sequences", "alpha,beta", "--id-column", "id")
FILES = ("--view", "alpha=r.alpha.fasta", "--view", "beta=r.beta.fasta", "--labels", "r.tsv")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Go to a folder with receptors."""
    monkeypatch.chdir(tmp_path)
    write_simulated(simulate("receptors", n_positive=15, n_negative=15), "r")
    (tmp_path / "new.tsv").write_text("clone\tbeta\talpha\nx\tCASRGQDPE\tCANTGKW\ny\tCASW\t\n")
    return tmp_path


def train(*more, kernel=EACH):
    return main(["train", *more, "--kernel", kernel, "--solver", "csvc:C=1", "--threshold", "none", "--allow-similar",
                 "-o", "m.seqkern"])  # fmt: skip


def predicted(capsys):
    """Return the rows of the table that was printed."""
    return list(csv.DictReader(capsys.readouterr().out.splitlines(), delimiter="\t"))


def test_a_model_of_a_table_or_of_files_predicts_both(capsys):
    found = []
    for given in (("r.tsv", *COLUMNS), FILES):
        assert train(*given) == 0
        assert "next: seqkern predict m.seqkern NEW.tsv -o" in capsys.readouterr().out
        for new in (("r.tsv", "--id-column", "id"), FILES[:4]):
            assert main(["predict", "m.seqkern", *new]) == 0
            found.append(predicted(capsys))
    assert [row["id"] for row in found[0]] == [row["id"] for row in read_tsv("r.tsv")]
    assert all(rows == found[0] for rows in found)
    model, table = load_model("m.seqkern"), read_tsv("r.tsv")
    X = join_views({name: [row[name] for row in table] for name in ("alpha", "beta")}, "protein")
    np.testing.assert_allclose(model.decision(X), [float(row["decision"]) for row in found[0]], rtol=1e-9)


def test_new_tables_may_lack_sequences_and_name_columns_otherwise(capsys):
    assert train("r.tsv", "--sequences", "a=alpha,b=beta") == 0
    capsys.readouterr()
    assert main(["predict", "m.seqkern", "new.tsv", "--sequences", "a=alpha,b=beta", "--id-column", "clone",
                 "--missing", "keep"]) == 0  # fmt: skip
    assert [row["id"] for row in predicted(capsys)] == ["x", "y"]
    assert main(["predict", "m.seqkern", "new.tsv", "--missing", "skip"]) == 0
    assert [row["id"] for row in predicted(capsys)] == ["x"]
    assert train("r.tsv", *COLUMNS) == 0
    capsys.readouterr()
    assert main(["predict", "m.seqkern", "new.tsv", "--missing", "skip", "--ids", "number"]) == 0
    assert [row["id"] for row in predicted(capsys)] == ["1"]
    assert main(["predict", "m.seqkern", "new.tsv", "--missing", "skip"]) == 0  # without the column of the training
    assert [row["id"] for row in predicted(capsys)] == ["x"]
    assert train("r.tsv", "--sequences", "a=alpha,b=beta") == 0
    capsys.readouterr()
    assert main(["predict", "m.seqkern", "new.tsv"]) == 1
    assert "record '2': has no sequence in the view 'a' (1 of 2 samples lack one)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (("r.tsv", "--sequences", "alpha,gamma"), "r.tsv: unknown column 'gamma'"),
        (("r.tsv", "--sequences", "alpha,alpha"), "names 'alpha' twice"),
        (("r.tsv", "--id-column", "id"), "no column is known to hold the sequences among id, label, alpha, beta"),
        (("r.tsv", "new.tsv", *COLUMNS), "--sequences needs one table"),
        (("r.alpha.fasta", *FILES), "r.alpha.fasta has no name as a view"),
        ((), "no sequences given"),
        (("r.tsv", *COLUMNS, "--track", "x=y"), "--track does not work with several sequences"),
        (("r.tsv", *COLUMNS, "--kernel", "spectrum:view=alfa"), "unknown sequence view 'alfa'; did you mean 'alpha'"),
        (("r.alpha.fasta", "--labels", "r.tsv", "--kernel", "spectrum:view=alpha"), "samples have a single sequence"),
        (("r.alpha.fasta", "--labels", "r.tsv"), "needs samples with several sequences"),
        (("r.tsv", *COLUMNS, "--solver", "svr"), "label 'binder' is not a finite number"),
    ],
)
def test_what_does_not_fit_in_training_is_one_line(given, problem, capsys):
    kernel = given[given.index("--kernel") + 1] if "--kernel" in given else EACH
    more = [item for item in given if item not in ("--kernel", kernel)]
    if "--solver" in given:
        assert main(["train", *more, "--kernel", kernel, "-o", "m.seqkern"]) == 1
    else:
        assert train(*more, kernel=kernel) == 1
    message = capsys.readouterr().err
    assert problem in message
    assert "Traceback" not in message


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ((), "no sequences given"),
        (("r.alpha.fasta",), "r.alpha.fasta: is FASTA, not a table with the columns alpha, beta"),
        (FILES[:2], "compares the sequences alpha, beta, and 'beta' is not given; add --view beta=FILE"),
        (("--view", "alfa=r.alpha.fasta"), "did you mean 'alpha'"),
        (("r.tsv", *FILES[:2]), "r.tsv has no name as a view"),
        (("r.tsv", "--sequences", "alpha"), "add beta=COLUMN to --sequences"),
        (("r.tsv", "--part", "1/2", "-o", "p.tsv"), "--part does not divide samples with several sequences"),
    ],
)
def test_a_model_says_what_is_missing(given, problem, capsys):
    assert train("r.tsv", *COLUMNS) == 0
    capsys.readouterr()
    assert main(["predict", "m.seqkern", *given]) == 1
    message = capsys.readouterr().err
    assert problem in message
    assert "Traceback" not in message


def test_a_model_of_single_sequences_refuses_several(capsys):
    assert train("r.alpha.fasta", "--labels", "r.tsv", kernel="spectrum:k=2") == 0
    assert main(["predict", "m.seqkern", "r.tsv", "--sequences", "alpha,beta"]) == 1
    assert "compares single sequences" in capsys.readouterr().err


def test_explanations_name_the_sequences(folder, capsys):
    assert train("r.tsv", *COLUMNS) == 0
    assert main(["explain", "m.seqkern", "r.tsv", "-o", "ex", "--plots", "1"]) == 0
    letters = read_tsv("ex/letters.tsv")
    own = [row for row in letters if row["id"] == letters[0]["id"]]
    first = read_tsv("r.tsv")[0]
    for name in ("alpha", "beta"):
        rows = [row for row in own if row["view"] == name]
        assert "".join(row["letter"] for row in rows) == first[name]
        assert [int(row["view_position"]) for row in rows] == [*range(1, len(first[name]) + 1)]
    assert [row["letter"] for row in own if not row["view"]] == ["*"]
    assert {row["word"].partition(" ")[2] for row in read_tsv("ex/words.tsv")} == {"[alpha]", "[beta]"}
    picture = (folder / "ex" / "profile-0001.svg").read_text()
    assert ">alpha<" in picture
    assert ">beta<" in picture


def test_a_matrix_of_a_table_is_that_of_the_kernel(capsys):
    assert main(["gram", "r.tsv", *COLUMNS, "--kernel", EACH, "-o", "k.npy"]) == 0
    table = read_tsv("r.tsv")
    X = join_views({name: [row[name] for row in table] for name in ("alpha", "beta")}, "protein")
    np.testing.assert_array_equal(np.load("k.npy"), build_kernel(EACH)(X))


def test_the_columns_of_a_table_of_variants_are_found(capsys, folder):
    values = np.arange(12) / 7
    rows = [f"v{i},{'MKV' + 'ACDEFGHIKLMN'[i]},A4{i},{value}" for i, value in enumerate(values)]
    (folder / "v.csv").write_text("\n".join(["id,Sequence,mutant,activity", *rows]) + "\n")
    assert main(["train", "v.csv", "--kernel", "spectrum:k=1", "--solver", "gp_regression", "-o", "m.seqkern"]) == 0
    said = capsys.readouterr()
    assert "v.csv: sequences in column Sequence, labels in column activity" in said.err
    assert main(["predict", "m.seqkern", "v.csv", "--id-column", "id"]) == 0
    assert [row["id"] for row in predicted(capsys)] == [f"v{i}" for i in range(12)]


@pytest.mark.parametrize(
    ("header", "row", "problem"),
    [("a,b,value", "MKV,MKL,1", "to hold the sequences among a, b, value; name it with --sequences"),
     ("seq,x,y", "MKV,1,2", "to hold the labels among seq, x, y; name it with --label-field")],
)  # fmt: skip
def test_columns_that_could_be_several_are_asked_for(capsys, folder, header, row, problem):
    (folder / "v.csv").write_text(f"{header}\n{row}\n")
    assert main(["cv", "v.csv"]) == 1
    assert capsys.readouterr().err == f"seqkern: v.csv: no column is known {problem}\n"


def test_a_table_without_a_header_or_with_one_sequence_of_another_length_is_told(capsys, folder):
    parent = "MKVLAAGIVGLPEQWERTYH"
    rows = [f"{parent[:i]}A{parent[i + 1 :]},{i / 7}" for i in range(6, 19)]
    (folder / "v.csv").write_text("\n".join(rows) + "\n")
    assert main(["train", "v.csv", "--cv", "0"]) == 1
    assert "its first line has a sequence, MKVLAAAIVGLPEQWERTYH…" in capsys.readouterr().err
    (folder / "v.csv").write_text("\n".join(["sequence,value", *rows, f"{parent[1:]},0.5"]) + "\n")
    assert main(["train", "v.csv", "--cv", "0", "-o", "m.seqkern"]) == 0
    assert "1 of 14 sequences have other lengths than 20 (the first: 14, 19)" in capsys.readouterr().err
    assert main(["test", "m.seqkern", "v.csv"]) == 0
    assert "Spearman" in capsys.readouterr().out
