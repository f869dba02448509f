"""``seqkern audit`` on files: parts, labels, tables, the page, and bad input in one line."""

import pytest

from seqkern.cli.main import main
from seqkern.core.tsv import read_tsv

TRAIN = ["GATTACAGATTACAGG", "CCCTCTTTGTCAACTC", "ACGCATCCGGGATTAA", "TTTACGCAGGACCATA"]
TEST = ["GATTACAGATTACAGG", "CATCATTACGGGACTT"]


def fasta(path, strings, headers=None, prefix="s"):
    headers = headers or [f"{prefix}{i}" for i in range(1, len(strings) + 1)]
    path.write_text("".join(f">{head}\n{text}\n" for head, text in zip(headers, strings, strict=True)))
    return str(path)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fasta(tmp_path / "train.fa", TRAIN)
    fasta(tmp_path / "test.fa", TEST)  # with ids that are also in training
    return tmp_path


def test_two_files(files, capsys):
    assert main(["audit", "train.fa", "test.fa", "-o", "out"]) == 0
    page, sentence = capsys.readouterr().out.splitlines()
    assert page == "out/index.html"
    assert sentence.startswith("1 of 2 test sequences (50%)")
    (row,) = read_tsv(files / "out/overlap.tsv")
    assert (row["test_id"], row["kind"], row["train_id"], row["identity"]) == ("s1", "identical", "s1", "1")
    assert {row["kind"]: row["test"] for row in read_tsv(files / "out/findings.tsv")}["identical"] == "1"
    assert not (files / "out/scores.tsv").exists()
    text = (files / "out/index.html").read_text()
    assert sentence in text
    assert "No scores: the sequences have no labels." in text


@pytest.mark.parametrize("how", ["table", "header", "four", "part", "part in headers"])
def test_labels_and_parts_from_everywhere(files, capsys, how):
    labels = ["1", "0", "1", "0", "1", "0"]
    if how == "table":
        ids = ["a", "b", "c", "d", "e", "f"]
        fasta(files / "train.fa", TRAIN, ids[:4])
        fasta(files / "test.fa", TEST, ids[4:])
        (files / "labels.tsv").write_text(
            "id\tlabel\n" + "".join(f"{i}\t{y}\n" for i, y in zip(ids, labels, strict=True))
        )
        words = ["train.fa", "test.fa", "labels.tsv"]
    elif how == "header":
        fasta(files / "train.fa", TRAIN, [f"a{i} label={y}" for i, y in enumerate(labels[:4])])
        fasta(files / "test.fa", TEST, [f"a{i} label={y}" for i, y in enumerate(labels[4:])])
        words = ["train.fa", "test.fa", "--labels", "header"]
    elif how == "four":
        for name, strings in {"p": TRAIN[::2], "n": TRAIN[1::2], "tp": TEST[:1], "tn": TEST[1:]}.items():
            fasta(files / f"{name}.fa", strings, prefix=name)
        words = ["p.fa", "n.fa", "tp.fa", "tn.fa"]
    elif how == "part":
        fasta(files / "all.fa", [*TRAIN, *TEST, "GGGG"])
        roles = ["train"] * 4 + ["test"] * 2 + ["unused"]
        rows = zip(range(1, 8), [*labels, "1"], roles, strict=True)
        (files / "labels.tsv").write_text("id\tlabel\tsplit\n" + "".join(f"s{i}\t{y}\t{role}\n" for i, y, role in rows))
        words = ["all.fa", "labels.tsv", "--part", "split"]
    else:
        roles = ["train"] * 4 + ["test"] * 2
        heads = [f"s{i} label={y} split={role}" for i, (y, role) in enumerate(zip(labels, roles, strict=True))]
        fasta(files / "all.fa", [*TRAIN, *TEST], heads)
        words = ["all.fa", "--part", "split", "--labels", "header"]
    assert main(["audit", *words, "-o", "out"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("1 of 2 test sequences (50%)")
    (row,) = read_tsv(files / "out/overlap.tsv")
    expected = {"four": "positive"}.get(how, "1")
    assert (row["test_label"], row["train_label"]) == (expected, expected)
    assert {row["n"] for row in read_tsv(files / "out/scores.tsv") if row["subset"] == "all"} == {"2"}


def test_records_without_a_label_take_part_in_the_search_alone(files, capsys):
    fasta(files / "train.fa", TRAIN, ["a label=1", "b label=0", "c label=NA", "d"])
    assert main(["audit", "train.fa", "test.fa", "--labels", "header", "--no-scores", "-o", "out"]) == 0
    assert "1 of 2" in capsys.readouterr().out
    (row,) = read_tsv(files / "out/overlap.tsv")
    assert (row["train_label"], row["test_label"]) == ("1", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train.fa"], "1 files of sequences given; give two (training, test), or four"),
        (["train.fa", "train.fa"], "train.fa: is given twice"),
        (["train.fa", "empty.fa"], "empty.fa: is empty"),
        (
            ["train.fa", "proteins.fa"],
            "train.fa: the 25 training sequences are DNA or RNA, those of the other part",
        ),
        (["train.fa", "test.fa", "other.tsv"], "other.tsv: none of its ids are those of the sequences"),
        (
            ["train.fa", "test.fa", "ids.tsv"],
            "ids.tsv: record 's1': 2 ids name different sequences in training and test",
        ),
        (["train.fa", "test.fa", "--labels", "header"], "train.fa, test.fa: no header has a field label=…"),
        (["train.fa", "--part", "split"], "train.fa: no header has a field split=…"),
        (["train.fa", "test.fa", "--k", "99"], "k=99 is too large for this alphabet; choose at most 31"),
        (["train.fa", "test.fa", "--folds", "f"], "2 files with --folds; give the folder of one data set"),
        (["data", "--folds", "f", "--part", "split"], "--part does not work with --folds; remove --part"),
        (["twice.fa", "test.fa"], "twice.fa: record 's': duplicate id"),
    ],
)
def test_bad_input_is_one_line(files, capsys, words, message):
    fasta(files / "train.fa", [text * 2 for text in TRAIN] * 6 + ["ACGT" * 9])
    (files / "empty.fa").write_text("")
    fasta(files / "proteins.fa", ["MKVLWAALLVTFLAGCQAKVEQAVETEPEPELRQQTEWQSGQ"] * 99)
    fasta(files / "twice.fa", TRAIN[:2], ["s", "s"])
    (files / "other.tsv").write_text("id\tlabel\nx\t1\n")
    (files / "ids.tsv").write_text("id\tlabel\ns1\t1\ns2\t0\n")
    assert main(["audit", *words, "-o", "out"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert len(err.splitlines()) == 1, err
