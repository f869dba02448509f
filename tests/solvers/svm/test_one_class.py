"""A model of one class from one FASTA: training, prediction, what is refused."""

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.methods.loading import load_model
from seqkern.sequences.labels import Labels, make_labels

METHOD = ["--kernel", "spectrum:k=2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with sequences of one kind, and new ones of it and of another."""
    path = tmp_path_factory.mktemp("one")
    rng = np.random.default_rng(0)

    def write(name, letters, n):
        lines = [f">{name}{i}\n{''.join(rng.choice(list(letters), 60))}\n" for i in range(n)]
        return "".join(lines)

    (path / "pos.fa").write_text(write("p", "AACG", 40))
    (path / "neg.fa").write_text(write("n", "TTTC", 40))
    (path / "new.fa").write_text(write("like", "AACG", 20) + write("other", "TTTC", 20))
    return path


def predicted(folder, model, capsys):
    """Return the rows that ``seqkern predict`` prints."""
    assert main(["predict", str(folder / model), str(folder / "new.fa")]) == 0
    lines = capsys.readouterr().out.splitlines()
    return lines[0].split("\t"), [line.split("\t") for line in lines[1:]]


def test_one_fasta_one_class(folder, capsys):
    output = str(folder / "one.seqkern")
    solver = ["--solver", "one_class_svm:nu=0.1", "-o", output]
    assert main(["train", "--verbose", str(folder / "pos.fa"), *METHOD, *solver]) == 0
    told = capsys.readouterr()
    assert "trained on 40 sequences\n" in told.out.replace("  ", " ").replace("  ", " ").replace("  ", " ")
    assert "inside the class" in told.out
    assert told.err == ""
    columns, rows = predicted(folder, "one.seqkern", capsys)
    assert columns == ["id", "decision", "predicted"]
    assert all((float(row[1]) > 0) == (row[2] == "in") for row in rows)
    assert np.mean([row[2] == "in" for row in rows[:20]]) > 0.6
    assert all(row[2] == "out" for row in rows[20:])
    model = load_model(output)
    assert model.kind == "none"
    assert model.classes == ("out", "in")
    assert model.record["search"] is None


def test_with_negatives_it_learns_the_positives_alone(folder, capsys):
    solver = ["--solver", "one_class_svm:nu=0.1"]
    both = [str(folder / "pos.fa"), str(folder / "neg.fa")]
    assert main(["train", "--verbose", *both, *METHOD, *solver, "-o", str(folder / "two.seqkern")]) == 0
    told = capsys.readouterr().out
    assert "only the 40 of class pos, none of class neg" in told
    assert "not cross-validated; use --cv for an unbiased estimate" in told
    assert main(["train", "--verbose", both[0], *METHOD, *solver, "-o", str(folder / "one.seqkern")]) == 0
    capsys.readouterr()
    _, rows = predicted(folder, "two.seqkern", capsys)
    _, alone = predicted(folder, "one.seqkern", capsys)
    assert [row[1] for row in rows] == [row[1] for row in alone]
    assert {row[2] for row in rows} == {"pos", "neg"}


def test_what_is_refused(folder, capsys):
    alone = ["train", str(folder / "pos.fa"), *METHOD, "-o", str(folder / "no.seqkern")]
    assert main([*alone, "--solver", "csvc"]) == 1
    assert "choose solver one_class_svm" in capsys.readouterr().err
    assert main([*alone, "--solver", "one_class_svm", "--search"]) == 1
    assert "cannot choose one of 5 candidates without labels" in capsys.readouterr().err
    assert main([*alone, "--solver", "one_class_svm", "--calibration", "platt"]) == 1
    assert "these labels are none" in capsys.readouterr().err


def test_labels_of_one_class():
    labels = make_labels(["a", "b"], ["", ""], kind="none")
    assert isinstance(labels, Labels)
    assert labels.classes == ("out", "in")
    assert labels.used().all()
