"""Annotated kernels on the command line: tracks from files, found by the ids of the sequences."""

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.kernels import GappyPairKernel
from seqkern.methods.loading import load_model
from seqkern.sequences import fasta as fasta_module
from seqkern.sequences.fasta import read_fasta

KERNEL = "gappy_pair:k=1,m=3,annotation=heptad,annotation_letters=abcdefg"
FILES = ("pos", "neg", "new")


def strings(name, n, letters):
    rng = np.random.default_rng([len(letters), *name.encode()])
    return ["".join(map(str, rng.choice(list(letters), 20 + i))) for i in range(n)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Go to a folder with sequences, and their heptads as a file like FASTA and as a table, in another order."""
    monkeypatch.chdir(tmp_path)
    rows = []
    for name in FILES:
        ids = [f"{name}{i}" for i in range(12)]
        text = "".join(f">{i}\n{string}\n" for i, string in zip(ids, strings(name, 12, "LKEAV"), strict=True))
        (tmp_path / f"{name}.fa").write_text(text)
        rows += zip(ids, strings(name, 12, "abcdefg"), strict=True)
    rows.reverse()
    (tmp_path / "heptads.fa").write_text("".join(f">{i} x\n{word[:9]}\n{word[9:]}\n" for i, word in rows))
    (tmp_path / "heptads.tsv").write_text("id\tgroup\theptad\n" + "".join(f"{i}\t1\t{word}\n" for i, word in rows))
    return tmp_path


def annotated(*names):
    """Return the sequences of files with their heptads."""
    X = read_fasta([f"{name}.fa" for name in names], "protein")
    text = "".join(word for name in names for word in strings(name, 12, "abcdefg"))
    return X.replace(tracks={"heptad": np.frombuffer(text.encode(), dtype=np.uint8)})


def kernel():
    return GappyPairKernel(1, 3, annotation="heptad", annotation_letters="abcdefg", alphabet="protein")


def gram(*more, kernel=KERNEL):
    return ["gram", "new.fa", "--alphabet", "protein", "--kernel", kernel, "-o", "gram.npy", *more]


def train(*more):
    argv = ["train", "pos.fa", "neg.fa", "--alphabet", "protein", "--kernel", KERNEL, "--solver", "csvc:C=1"]
    return [*argv, "-o", "m.seqkern", *more]


@pytest.mark.parametrize("file", ["heptads.fa", "heptads.tsv"])
def test_gram(folder, file):
    assert main(gram("--track", f"heptad={file}")) == 0
    np.testing.assert_array_equal(np.load("gram.npy"), kernel()(annotated("new")))
    (folder / "gram.npy").unlink()
    assert main([*gram("--track", f"heptad={file}"), "--against", "pos.fa"]) == 0
    np.testing.assert_array_equal(np.load("gram.npy"), kernel()(annotated("new"), annotated("pos")))


def test_train_predict_and_explain(folder, monkeypatch, capsys):
    assert main(train("--track", "heptad=heptads.fa")) == 0
    model = load_model("m.seqkern")
    np.testing.assert_array_equal(model.support.tracks["heptad"].dtype, np.uint8)
    expected = model.decision(annotated("new"))
    monkeypatch.setattr(fasta_module, "CHUNK", 60)
    monkeypatch.setattr(
        fasta_module.iter_fasta, "__kwdefaults__", {**fasta_module.iter_fasta.__kwdefaults__, "chunk": 60}
    )
    capsys.readouterr()
    assert main(["predict", "m.seqkern", "new.fa", "--track", "heptad=heptads.tsv"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[0] for row in rows] == [f"new{i}" for i in range(12)]
    np.testing.assert_allclose([float(row[1]) for row in rows], expected, rtol=1e-9)
    assert main(["explain", "m.seqkern", "new.fa", "--track", "heptad=heptads.tsv", "-o", "out", "--plots", "0"]) == 0
    told = [line.split("\t") for line in (folder / "out" / "decisions.tsv").read_text().splitlines()]
    column = told[0].index("decision")
    np.testing.assert_allclose([float(row[column]) for row in told[1:]], expected, rtol=1e-9)


def changed(folder, old, new):
    text = (folder / "heptads.fa").read_text()
    assert old in text
    (folder / "odd.fa").write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("change", "argv", "words"),
    [
        ((">new3 ", ">other "), gram("--track", "heptad=odd.fa"), "odd.fa: record 'new3': has no annotation in"),
        (
            (">new3 x\n", ">new3 x\na"),
            gram("--track", "heptad=odd.fa"),
            "record 'new3': has 24 annotation letters, but the",
        ),
        ((">new3 ", ">new4 "), gram("--track", "heptad=odd.fa"), "odd.fa: record 'new4': duplicate id; remove"),
        (
            (">new3 x\n", ">new3 x\né"),
            gram("--track", "heptad=odd.fa"),
            "record 'new3': has annotation letters outside",
        ),
        (None, gram("--track", "hepta=heptads.fa"), "unknown track of gappy_pair 'hepta'; did you mean 'heptad'"),
        (None, gram("--track", "x=heptads.fa", kernel="spectrum"), "'spectrum' reads no track; remove --track x="),
        (None, gram(), "needs the track 'heptad'; add --track heptad=FILE"),
        (None, train(), "needs the track 'heptad'; add --track heptad=FILE"),
        (None, gram(*["--track", "heptad=heptads.fa"] * 2), "'heptad' is given twice"),
        (None, gram("--track", "heptad=new.tsv"), "new.tsv: no such file; check"),
        ((None, "id\tx\na\tb\n"), gram("--track", "heptad=odd.fa"), "table with the column 'heptad'"),
    ],
)
def test_one_line_for_a_mistake(folder, change, argv, words, capsys):
    if change is not None and change[0] is None:
        (folder / "odd.fa").write_text(change[1])
    elif change is not None:
        changed(folder, *change)
    assert main(argv) == 1
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1
    assert not (folder / "gram.npy").exists()


def test_a_model_asks_for_its_track(folder, capsys):
    assert main(train("--track", "heptad=heptads.fa")) == 0
    capsys.readouterr()
    assert main(["predict", "m.seqkern", "new.fa"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "needs the track 'heptad'; add --track heptad=FILE" in err
    assert main(gram("--track", "heptad")) == 2
    assert "such as NAME=heptads.fasta" in capsys.readouterr().err
