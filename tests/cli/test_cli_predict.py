"""``seqkern train`` and ``seqkern predict``: from FASTA to a model file to a table of predictions."""

import csv
import gzip
import io
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from seqkern.cli import new_sequences
from seqkern.cli.main import main
from seqkern.evaluation.ranking import roc_auc
from seqkern.methods.loading import load_model
from seqkern.methods.novelty import outside, ranges_record
from seqkern.sequences.fasta import read_fasta
from seqkern.sequences.sequence_set import SequenceSet

MOTIFS = {"pos": "GTTGTT", "neg": "ACACAC", "third": "CCGGCC"}
TRAIN = ["--kernel", "spectrum:k=3", "--solver", "csvc:C=1"]


def records(name, n, seed=0, header="{name}{i}"):
    rng = np.random.default_rng([seed, *name.encode()])
    for i in range(n):
        letters = rng.choice(list("ACGT"), 40)
        if rng.random() < 0.8:
            place = rng.integers(0, 34)
            letters[place : place + 6] = list(MOTIFS[name])
        yield f">{header.format(name=name, i=i)}\n{''.join(letters)}\n"


def write(path, *texts):
    path.write_text("".join(texts))
    return str(path)


@pytest.fixture
def files(tmp_path):
    return [write(tmp_path / f"{name}.fa", *records(name, 30)) for name in ("pos", "neg")]


@pytest.fixture
def new(tmp_path):
    return write(tmp_path / "new.fa", *records("pos", 12, seed=1), *records("neg", 12, seed=1))


@pytest.fixture
def model(tmp_path, files, capsys):
    path = str(tmp_path / "m.seqkern")
    assert main(["train", *files, *TRAIN, "-o", path]) == 0
    capsys.readouterr()
    return path


def fails(capsys, *argv):
    """Run a command that must fail, and return its one line."""
    capsys.readouterr()
    assert main(list(argv)) == 1
    err = capsys.readouterr().err
    assert err.startswith("seqkern: ")
    assert err.count("\n") == 1
    return err


def table(text):
    return list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))


# ---- train ----------------------------------------------------------------------------------------------


def test_summary_of_two_files(tmp_path, files, capsys):
    path = tmp_path / "new" / "m.seqkern"
    assert main(["train", "--verbose", *files, *TRAIN, "-o", str(path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert lines[:3] == [
        f"{path}: pos (positive, 30 sequences) against neg (30); kernel: counts the 3-mers that two sequences share; "
        "solver: C-SVM (C=1)",
        "not cross-validated; add --cv",
        f"next: seqkern predict {path} NEW.fa -o predictions.tsv",
    ]
    assert lines[3].split(maxsplit=2) == ["trained", "on", "60 sequences (neg: 30, pos: 30)"]
    assert "not cross-validated" in lines[-1]
    assert main(["models", "list", str(path)]) == 0
    assert capsys.readouterr().out == out
    assert main(["train", *files, *TRAIN, "-o", str(path)]) == 0
    assert capsys.readouterr().out == "\n".join(lines[:3]) + f"  # all choices: seqkern models list {path}\n"
    assert load_model(path).classes == ("neg", "pos")
    notes = load_model(path).record["sources"]
    assert [note["file"] for note in notes] == files


def test_classes_have_the_names_of_their_files(tmp_path, files, capsys):
    active, inactive, path = tmp_path / "active.fa", tmp_path / "inactive.fa.gz", str(tmp_path / "m.seqkern")
    active.write_text(Path(files[0]).read_text().replace(">pos0\n", ">neg0\n"))
    inactive.write_text(Path(files[1]).read_text())
    for order in ([active, inactive], [inactive, active]):
        assert main(["train", *map(str, order), *TRAIN, "-o", path]) == 0
        assert load_model(path).classes == ("inactive", "active")
        out, err = capsys.readouterr()
        assert out.startswith(f"{path}: active (positive, 30 sequences) against inactive (30); ")
        assert ("the positive class is active, by its name, although inactive comes first" in err) == (
            order[0] != active
        )
        assert f"seqkern: {order[0]}, {order[1]}: 1 ids in several files, renamed FILE:ID\n" in err
    assert main(["train", *map(str, order), "--positive", "inactive", *TRAIN, "-o", path]) == 0
    assert load_model(path).classes == ("active", "inactive")


def test_search_is_told_and_recorded(tmp_path, files, capsys):
    path = str(tmp_path / "m.seqkern")
    search = ["--solver", "csvc:C=[0.001,1,10]", "--search", "--folds", "3", "--seed", "7"]
    assert main(["train", "--verbose", *files, "--kernel", "spectrum:k=3", *search, "-o", path]) == 0
    out = capsys.readouterr().out
    record = load_model(path).record
    assert record["seed"] == 7
    assert [spec["C"] for spec in record["search"]["specs"]] == [0.001, 1, 10]
    assert np.shape(record["search"]["scores"]) == (3, 3)
    assert f"csvc:C={record['solver']['C']}" in out
    assert f"best of 3: AUC {record['search']['score']:.4f}, corrected for the choice" in out
    assert "mean of 3 inner folds" in out


def test_search_over_the_solvers_own_grid(tmp_path, files, capsys):
    path = str(tmp_path / "m.seqkern")
    options = ["--solver", "csvc", "--search", "--folds", "2", "-o", path]
    assert main(["train", *files, "--kernel", "spectrum:k=2", *options]) == 0
    assert len(load_model(path).record["search"]["specs"]) > 2


def test_labels_from_headers_and_tables(tmp_path, files, new, capsys):
    expected = load(tmp_path, *files).decision(read_fasta(new))
    signs = {"pos": "+1", "neg": "-1"}
    by_field = [t for name in signs for t in records(name, 30, header=f"{{name}}{{i}} label={signs[name]}")]
    by_word = [t for name in signs for t in records(name, 30, header=signs[name])]
    plain = [t for name in signs for t in records(name, 30)]
    rows = [f"{name}{i}\t{signs[name]}\n" for name in signs for i in range(30)]
    labels = write(tmp_path / "labels.tsv", "id\tlabel\n", *rows)
    for texts, options in (
        (by_field, ["--labels", "header"]),
        (by_word, ["--labels", "first-word", "--ids", "number"]),
        (plain, ["--labels", labels]),
    ):
        one = write(tmp_path / "one.fa", *texts)
        model = load(tmp_path, one, *options)
        assert model.classes == ("-1", "+1")
        np.testing.assert_array_equal(model.decision(read_fasta(new)), expected)


def load(tmp_path, *argv):
    assert main(["train", *argv, *TRAIN, "-o", str(tmp_path / "x.seqkern")]) == 0
    return load_model(tmp_path / "x.seqkern")


def test_a_file_for_each_of_three_classes(tmp_path, files, new, capsys):
    third = write(tmp_path / "third.fa", *records("third", 30))
    model = load(tmp_path, *files, third)
    assert model.classes == ("neg", "pos", "third")
    capsys.readouterr()
    assert main(["predict", str(tmp_path / "x.seqkern"), new]) == 0
    rows = table(capsys.readouterr().out)
    assert list(rows[0]) == ["id", "decision:neg", "decision:pos", "decision:third", "predicted"]
    for row in rows:
        values = {name: float(row[f"decision:{name}"]) for name in model.classes}
        assert row["predicted"] == max(values, key=values.get)
    binary = load(tmp_path, *files, third, "--labels", str(all_labels(tmp_path)), "--positive", "third")
    assert binary.classes == ("not third", "third")


def all_labels(tmp_path):
    rows = [f"{name}{i}\t{name}\n" for name in MOTIFS for i in range(30)]
    return write(tmp_path / "all.tsv", "id\tlabel\n", *rows)


def test_transforms_of_the_kernel_matrix(tmp_path, files):
    model = load(tmp_path, *files, "--transform", "normalise", "--transform", "centre")
    assert [transform.name for transform in model.transforms] == ["normalise", "centre"]
    spec = '{"kernel": "spectrum", "k": 3, "transforms": ["centre"]}'
    argv = ["train", *files, "--kernel", spec, "--solver", "csvc", "-o", str(tmp_path / "x.seqkern")]
    assert main(argv) == 0
    assert [transform.name for transform in load_model(tmp_path / "x.seqkern").transforms] == ["centre"]


def test_a_fit_that_did_not_converge_is_told(tmp_path, files, capsys):
    argv = ["--kernel", "spectrum:k=3", "--solver", "csvc:C=1,max_iter=2", "-o", str(tmp_path / "m.seqkern")]
    assert main(["train", "--verbose", *files, *argv]) == 0
    out, err = capsys.readouterr()
    assert "NOT converged after 2 iterations" in out
    assert err.startswith("seqkern: warning: ")
    assert err.count("\n") == 1


def test_mistakes_in_training_are_one_line(tmp_path, files, capsys):
    out = ["-o", str(tmp_path / "m.seqkern")]
    assert "no labels given" in fails(capsys, "train", files[0], *TRAIN, *out)
    kernel = ["--kernel", "spectrum:k=3"]
    assert "did you mean 'csvc'" in fails(capsys, "train", *files, *kernel, "--solver", "csvm", *out)
    assert "a matrix of 60 × 60 float64 needs" in fails(capsys, "train", *files, *TRAIN, *out, "--memory", "10kB")
    assert "unknown transform 'center'" in fails(capsys, "train", *files, *TRAIN, *out, "--transform", "center")
    assert "unknown inner metric" in fails(
        capsys, "train", *files, *kernel, "--solver", "csvc", "--search", "--metric", "auk", *out
    )
    few = write(tmp_path / "few.fa", *records("neg", 1))
    search = ["--solver", "csvc", "--search"]
    assert "only one sample (or group)" in fails(capsys, "train", files[0], few, *kernel, *search, *out)
    same = write(tmp_path / "same.fa", *records("pos", 3))
    assert "all its sequences are also in" in fails(capsys, "train", files[0], same, *TRAIN, *out)
    (tmp_path / "file").write_text("")
    assert "cannot be written" in fails(capsys, "train", *files, *TRAIN, "-o", str(tmp_path / "file" / "m"))
    assert not (tmp_path / "m.seqkern").exists()


# ---- predict --------------------------------------------------------------------------------------------


def test_table_of_predictions(model, new, capsys):
    assert main(["predict", model, new]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    rows = table(out)
    X, trained = read_fasta(new), load_model(model)
    assert list(rows[0]) == ["id", "decision", "predicted"]
    assert [row["id"] for row in rows] == X.ids
    np.testing.assert_allclose([float(row["decision"]) for row in rows], trained.decision(X), rtol=1e-9)
    assert [row["predicted"] for row in rows] == trained.predict(X).tolist()


def test_output_file_standard_input_and_chunks_give_the_same(tmp_path, model, new, capsys, monkeypatch):
    assert main(["predict", model, new]) == 0
    expected = capsys.readouterr().out
    packed = tmp_path / "new.fa.gz"
    packed.write_bytes(gzip.compress(Path(new).read_bytes()))
    assert main(["predict", model, str(packed), "-o", str(tmp_path / "out" / "p.tsv"), "--threads", "1"]) == 0
    assert capsys.readouterr().out == ""
    assert (tmp_path / "out" / "p.tsv").read_text() == expected
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path(new).read_bytes())))
    assert main(["predict", model, "-"]) == 0
    assert capsys.readouterr().out == expected
    sizes = small_chunks(monkeypatch)
    assert main(["predict", model, new]) == 0
    assert capsys.readouterr().out == expected
    assert len(sizes) > 5


def small_chunks(monkeypatch):
    """Make the reading of FASTA give few records at a time; return the list of how many."""
    sizes, read = [], new_sequences.iter_fasta

    def iter_fasta(*args, **options):
        for X in read(*args, **options, chunk=300):
            sizes.append(len(X))
            yield X

    monkeypatch.setattr(new_sequences, "iter_fasta", iter_fasta)
    return sizes


def test_policies_are_the_models_unless_given(tmp_path, files, capsys):
    odd = write(tmp_path / "odd.fa", ">a\nACGTTGTTACGT\n>b\nACGNNGTTACGT\n>b\nACACACAC\n")
    strict, lenient = str(tmp_path / "strict"), str(tmp_path / "lenient")
    assert main(["train", *files, *TRAIN, "--unknown", "error", "-o", strict]) == 0
    assert main(["train", *files, *TRAIN, "--unknown", "skip", "--ids", "suffix", "-o", lenient]) == 0
    assert "record 'b': letter 'N'" in fails(capsys, "predict", strict, odd)
    assert main(["predict", lenient, odd]) == 0
    out, err = capsys.readouterr()
    assert [row["id"] for row in table(out)] == ["a", "b"]
    assert err.startswith(f"seqkern: {odd}: 1 records with unknown letters left out\n")
    assert main(["predict", strict, odd, "--unknown", "mask", "--ids", "number"]) == 0
    out, err = capsys.readouterr()
    assert [row["id"] for row in table(out)] == ["1", "2", "3"]
    told = "2 letters outside the alphabet (N: 2) are masked; --unknown error refuses them"
    assert err.splitlines()[0] == f"seqkern: {odd}: {told}"


def test_mistakes_in_prediction_are_one_line(tmp_path, model, new, capsys, monkeypatch):
    assert "no such file" in fails(capsys, "predict", str(tmp_path / "none"), new)
    assert "is FASTA, not a model; the model comes first" in fails(capsys, "predict", new, new)
    assert "none.fa" in fails(capsys, "predict", model, str(tmp_path / "none.fa"))
    protein = write(tmp_path / "protein.fa", ">p\nMKVLAW\n")
    assert f"{protein}: record 'p': letter 'L' at position 4 is not in the alphabet dna" in fails(
        capsys, "predict", model, protein
    )
    short = write(tmp_path / "short.fa", ">s\nAC\n")
    assert f"{short}: record 's': " in fails(capsys, "predict", model, short)
    (tmp_path / "file").write_text("")
    assert "cannot be written" in fails(capsys, "predict", model, new, "-o", str(tmp_path / "file" / "p.tsv"))


def test_a_bad_record_late_leaves_no_file(tmp_path, model, new, capsys, monkeypatch):
    late = write(tmp_path / "late.fa", Path(new).read_text(), ">bad\nAC!T\n")
    sizes = small_chunks(monkeypatch)
    assert "record 'bad'" in fails(capsys, "predict", model, late, "-o", str(tmp_path / "p.tsv"))
    assert len(sizes) > 5
    assert not list(tmp_path.glob("*p.tsv*"))


def test_a_reader_that_leaves_is_no_drama(tmp_path, model):
    many = write(tmp_path / "many.fa", *(f">r{i}\n{'ACGTTGCA' * 5}\n" for i in range(6_000)))
    process = subprocess.Popen(
        [sys.executable, "-m", "seqkern.cli.main", "predict", model, many],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"id\tdecision\tpredicted\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 1


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of one process is asked of Linux")
def test_memory_does_not_grow_with_the_number_of_records(tmp_path, model):
    script = (
        "import functools, re, sys; from seqkern.cli import new_sequences as new; from seqkern.cli.main import main\n"
        "new.iter_fasta = functools.partial(new.iter_fasta, chunk=100_000)\n"
        "assert main(sys.argv[1:]) == 0\n"
        "print(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1], file=sys.stderr)"
    )
    peaks = []
    for n in (2_000, 60_000):  # about 3 and 90 chunks; 60,000 predictions are some 20 MB as Python objects
        many = write(tmp_path / "many.fa", *(f">r{i}\n{'ACGTTGCA' * 10}\n" for i in range(n)))
        argv = [sys.executable, "-c", script, "predict", model, many, "-o", str(tmp_path / "p.tsv")]
        told = subprocess.run(argv, capture_output=True, check=True).stderr.decode().splitlines()
        lengths = (
            "695 of the first 695 records are unlike the training samples of the model, 695 in length (expected: 40"
        )
        assert lengths in told[0]
        peaks.append(int(told[-1]))
        assert (tmp_path / "p.tsv").read_bytes().count(b"\n") == n + 1
    assert peaks[1] < peaks[0] + 8_000  # kB


def test_a_summary_ends_a_run_unless_its_table_is_piped(tmp_path, model, capsys):
    new = write(tmp_path / "new.fa", ">a\n", "ACGTTGCA" * 4, "\n>b\n", "TTTTTTTT" * 3)
    assert main(["predict", model, new]) == 0
    table, err = capsys.readouterr()
    assert "records:" not in err
    assert main(["predict", model, new, "-o", str(tmp_path / "p.tsv")]) == 0
    out, err = capsys.readouterr()
    assert (out, (tmp_path / "p.tsv").read_text()) == ("", table)
    rows = sorted(([*line.split("\t")] for line in table.splitlines()[1:]), key=lambda row: -float(row[1]))
    counts = [sum(row[2] == name for row in rows) for name in ("pos", "neg")]
    first, second, *strongest = err.splitlines()[-4:]
    assert first == f"seqkern: 2 records: {counts[0]} pos (decision values above zero), {counts[1]} neg"
    assert second == "seqkern: highest decision values:"
    assert [line.split()[1:] for line in strongest] == [[row[0], row[2]] for row in rows]
    assert [float(line.split()[0]) for line in strongest] == [float(f"{float(row[1]):.4g}") for row in rows]


@pytest.mark.parametrize(
    ("letters", "length", "said"),
    [
        ("ACGT", 40, ""),
        (
            "ACGT",
            60,
            "40 of 40 records are unlike the training samples of the model, 40 in length (expected: 40 to 40): ",
        ),
        ("CG", 40, "40 of 40 records are unlike the training samples of the model, 40 in GC content (expected: "),
        (None, 40, "30 of 30 records are training samples of the model: "),
    ],
)
def test_records_like_none_of_the_training_or_of_it_are_told_once(
    tmp_path, files, model, capsys, letters, length, said
):
    rng, new = np.random.default_rng(5), files[1]
    if letters is not None:
        rows = ["".join(rng.choice(list(letters), length)) for _ in range(40)]
        new = write(tmp_path / "new.fa", *(f">r{i}\n{row}\n" for i, row in enumerate(rows)))
    assert main(["predict", model, new, "-o", str(tmp_path / "out.tsv")]) == 0
    err = capsys.readouterr().err
    assert (err.count("warning: "), said in err) == (int(bool(said)), True)


def test_sequences_with_k_mers_of_their_own_are_outside():
    rng = np.random.default_rng(7)
    old, new = (["".join(rng.choice(words, 20)) for _ in range(40)] for words in (["AAC", "GGT"], ["ACA", "GTG"]))
    record = ranges_record(SequenceSet.from_strings(old, "dna"))
    for texts, expected in ((old, 0), (new, 1)):
        assert outside(record, SequenceSet.from_strings(texts, "dna"))["known"][0].mean() == expected
    assert outside({}, SequenceSet.from_strings(new, "dna")) == {}  # a model of an earlier release


# ---- test -----------------------------------------------------------------------------------------------


def scores_of(folder):
    return {row["score"]: row for row in table((folder / "scores.tsv").read_text())}


def test_scores_on_new_sequences_are_those_of_the_predictions(tmp_path, files, model, capsys):
    new = [write(tmp_path / f"{name}_new.fa", *records(name, 20, seed=9)) for name in ("pos", "neg")]
    assert main(["test", model, *new, "-o", str(tmp_path / "t")]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{model} on pos (positive, 20 sequences) against neg (20)\n")
    assert "none of the 40 is a training sample" in out
    found, rows = scores_of(tmp_path / "t"), table((tmp_path / "t" / "decisions.tsv").read_text())
    y = np.array([row["label"] == "pos" for row in rows])
    assert float(found["AUC"]["value"]) == pytest.approx(roc_auc(y, [float(row["decision"]) for row in rows]))
    hits = sum(row["predicted"] == "pos" for row, own in zip(rows, y, strict=True) if own)
    assert found["sensitivity"]["counts"] == f"{hits} of 20 pos"
    assert all(float(row["low"]) <= float(row["value"]) <= float(row["high"]) for row in found.values())
    assert {"index.html", "roc.svg"} < {path.name for path in (tmp_path / "t").iterdir()}
    # the same samples by labels in the headers, in one file
    names = ["pos"] * 20 + ["neg"] * 20
    both = [line for file in new for line in Path(file).read_text().splitlines(True)]
    labelled = [f"{line[:-1]} label={names.pop(0)}\n" if line[0] == ">" else line for line in both]
    one = write(tmp_path / "one.fa", *labelled)
    assert main(["test", model, one, "--labels", "header", "-o", str(tmp_path / "u")]) == 0
    assert scores_of(tmp_path / "u") == found
    # files are matched by name, so their order does not matter
    assert main(["test", model, *new[::-1], "-o", str(tmp_path / "v")]) == 0
    assert scores_of(tmp_path / "v") == found


def test_training_sequences_and_their_relatives_are_told(tmp_path, files, model, capsys):
    assert main(["test", model, *files]) == 0
    assert "60 of 60 are training samples: the scores are too good" in capsys.readouterr().out
    old = [Path(file).read_text().splitlines() for file in files]
    changed = [[f"{line[:-1]}{'CA'[line[-1] == 'C']}" if line[0] != ">" else line for line in one] for one in old]
    near = [write(tmp_path / f"{name}.fa", "\n".join(one) + "\n") for name, one in zip("ab", changed, strict=True)]
    assert main(["test", model, *near]) == 0
    out, err = capsys.readouterr()
    assert f"seqkern: {', '.join(near)}: a is taken for pos, b for neg\n" in err
    assert re.search(r"\n[1-9]\d* are similar to one of its \d+ support sequences: their scores may be too good\n", out)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["pos.fa"], "pos.fa: no labels to test with; give the negatives as a second file, or --labels"),
        (["one.fa", "--labels", "header"], "one.fa: no sample of the positive class 'pos'; the classes are: x, y, z"),
        (["pos.fa", "neg.fa", "one.fa"], "class 'one' is not one of the model's; the classes are: neg, pos"),
    ],
)
def test_samples_of_other_classes_are_refused(tmp_path, files, model, capsys, monkeypatch, given, said):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "one.fa", *(f">{name} label={name}\n{'ACGT' * 10}\n" for name in "xyz"))
    assert said in fails(capsys, "test", model, *given)


def test_what_the_kernel_touches_in_training_is_told(tmp_path, files, capsys):
    odd = write(tmp_path / "odd.fa", ">masked\nNNNNNNNN\n")
    argv = ["--kernel", "spectrum:k=3,normalize=true,zero_diagonal=zero", "--solver", "csvc:C=1", "--unknown", "mask"]
    assert main(["train", files[0], odd, *argv, "-o", str(tmp_path / "odd.seqkern")]) == 0
    assert "1 zero diagonals" in capsys.readouterr().err
    assert load_model(tmp_path / "odd.seqkern").record["kernel_counts"] == {"zero diagonals": 1}


def test_train_doubts_a_model_that_recognises_none_of_a_class(tmp_path, capsys):
    rng = np.random.default_rng(1)
    for name, count in (("positive", 4), ("negative", 40)):
        rows = ["".join(rng.choice(list("ACDEFGHIKL"), 30)) for _ in range(count)]
        (tmp_path / f"{name}.fa").write_text("".join(f">{name}{i}\n{row}\n" for i, row in enumerate(rows)))
    files = [str(tmp_path / f"{name}.fa") for name in ("positive", "negative")]
    line = ["train", "--verbose", *files, "--kernel", "spectrum:k=1", "-o", str(tmp_path / "m"), "--solver"]
    assert main([*line, "csvc:C=0.001"]) == 0
    said = capsys.readouterr()
    assert "no training sequence of class positive is recognised" in said.err
    assert main(["predict", str(tmp_path / "m"), files[1]]) == 0
    repeated = capsys.readouterr().err
    assert repeated.count("no training sequence of class positive is recognised") == 1
    assert "alphabet   protein" in said.out
    assert main([*line, "csvc:C=1000"]) == 0
    assert "recognised" not in capsys.readouterr().err


@pytest.mark.parametrize(("string", "doubted"), [("ACGT" * 13, True), ("ACGT" * 12, False), ("ACDKT" * 20, False)])
def test_a_model_of_proteins_doubts_dna(tmp_path, capsys, string, doubted):
    texts = [
        write(tmp_path / f"{name}.fa", *(f">{name}{i}\n{name * 4}{i * 'K'}KLV\n" for i in range(4))) for name in "MW"
    ]
    path = str(tmp_path / "m.seqkern")
    assert main(["train", *texts, "--kernel", "spectrum:k=2", "--solver", "csvc:C=1", "-o", path]) == 0
    capsys.readouterr()
    assert main(["predict", path, write(tmp_path / "new.fa", f">a\n{string}\n")]) == 0
    err = capsys.readouterr().err
    assert ("100% of the residues are A, C, G or T" in err) == doubted
    assert err.count("\n") == doubted


def test_train_doubts_dna_among_proteins(tmp_path, capsys):
    (tmp_path / "dna.fa").write_text(">a\nACGTTGCAAC\n>b\nACGGGTACCA\n")
    (tmp_path / "protein.fa").write_text(">c\nMKLVWWEDRT\n>d\nMKIVWYEDRS\n")
    files = [str(tmp_path / "dna.fa"), str(tmp_path / "protein.fa")]
    assert main(["train", *files, "--kernel", "spectrum:k=2", "--solver", "csvc", "-o", str(tmp_path / "m")]) == 0
    assert "class dna look like DNA" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kernel", "policy", "problem"),
    [
        ('{"kernel": "motif", "motifs": ["[AC]", "G-T-T"]}', "zero_diagonal", "has nothing that this kernel counts"),
        ("spectrum:k=3", "short", "1 residue is fewer than k=3"),
        ("gappy_pair:k=1,m=1", "short", "1 residue is too few: a pair of k-mers needs 2"),
    ],
)
def test_the_remedy_for_a_refused_sequence_is_one_of_training(tmp_path, files, capsys, kernel, policy, problem):
    path, new = str(tmp_path / "m.seqkern"), write(tmp_path / "odd.fa", ">good\nGTTGTTACGT\n>odd\nG\n")
    assert main(["train", *files, "--kernel", kernel, "--solver", "csvc:C=1", "-o", path]) == 0
    line = fails(capsys, "predict", path, new)
    assert line.startswith(f"seqkern: {new}: record 'odd': {problem}")
    assert line.endswith(f"; remove it, or train again with {policy}=zero\n")
