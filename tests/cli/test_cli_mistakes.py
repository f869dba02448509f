"""What a beginner mixes up: files of another kind, labels of another data set, the order of arguments."""

import pytest
from test_cli_predict import fails, records, write

from seqkern.cli.main import main

GENES = ["--kernel", "linear", "--solver", "csvc"]


@pytest.fixture
def genes(tmp_path):
    head = "id\t" + "\t".join(f"gene{j}" for j in range(12)) + "\n"
    rows = ("\t".join([f"p{i}", *(str(i % (j + 2)) for j in range(12))]) + "\n" for i in range(8))
    return write(tmp_path / "genes.tsv", head, *rows)


@pytest.fixture
def labels(tmp_path):
    return write(tmp_path / "labels.tsv", "id\tlabel\n", *(f"p{i}\t{'ab'[i % 2]}\n" for i in range(8)))


@pytest.fixture
def fasta(tmp_path):
    return write(tmp_path / "pos.fa", *records("pos", 8))


@pytest.fixture
def train(tmp_path, capsys):
    return lambda *argv: fails(capsys, "train", *argv, "-o", str(tmp_path / "m"))


def test_a_table_without_labels_names_the_options(genes, train):
    err = train(genes, *GENES)
    assert "has no label column 'label'; name it with --label-field" in err
    assert "--labels; columns: id, gene0, gene1, gene2, gene3, gene4, gene5, gene6, …" in err


def test_a_table_of_labels_without_their_column(genes, labels, fasta, train):
    for first, kernel in ((genes, "linear"), (fasta, "spectrum:k=2")):
        argv = [first, "--labels", labels, "--label-field", "kind", "--kernel", kernel, "--solver", "csvc"]
        assert "has no label column 'kind'; name it with --label-field" in train(*argv)


@pytest.mark.parametrize(
    ("ids", "told", "remedy"),
    [
        (
            ["donor1", "donor2"],
            "has a label but no sample (none of the 2 ids in the table are among the 8 samples)",
            "these samples",
        ),
        (
            [f"p{i}" for i in range(9)],
            "has a label but no sample (8 of the 9 ids in the table are among the 8 samples)",
            "remove it",
        ),
    ],
)
def test_labels_of_another_data_set(tmp_path, genes, train, ids, told, remedy):
    other = write(tmp_path / "other.tsv", "id\tlabel\n", *(f"{name}\t{'ab'[i % 2]}\n" for i, name in enumerate(ids)))
    err = train(genes, "--labels", other, *GENES)
    assert told in err
    assert remedy in err


def test_fasta_in_place_of_a_table(tmp_path, genes, labels, fasta, train, capsys):
    assert "pos.fa: is FASTA, not a table" in train(genes, "--labels", fasta, *GENES)
    assert "pos.fa: is FASTA, not a table" in train(fasta, *GENES)
    model = str(tmp_path / "g")
    assert main(["train", genes, "--labels", labels, *GENES, "-o", model]) == 0
    err = fails(capsys, "predict", model, fasta)
    assert "pos.fa: is FASTA, but the model was trained on a feature table" in err


@pytest.mark.parametrize("verb", [["predict"], ["explain", "-o", "out"]])
def test_the_model_comes_first(tmp_path, fasta, capsys, verb):
    model = str(tmp_path / "m")
    other = write(tmp_path / "neg.fa", *records("neg", 8))
    assert main(["train", fasta, other, "--kernel", "spectrum:k=2", "--solver", "csvc", "-o", model]) == 0
    err = fails(capsys, *verb, fasta, model)
    assert f"{fasta}: is not a model file; give the model before the sequences: {model} {fasta}" in err
    assert "or is corrupted; train the model again" in fails(capsys, *verb, fasta, other)
