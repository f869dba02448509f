"""``seqkern cv`` and ``seqkern train --cv``: what they print and write, and what they refuse."""

import csv
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.cli.requests_training import FOLD_METHODS
from seqkern.methods.crossval import OUTER_METHODS
from seqkern.methods.loading import load_model

METHOD = ["--kernel", "spectrum:k=3", "--solver", "csvc:C=1"]


def fasta(path, motif, n, seed):
    rng = np.random.default_rng(seed)
    with open(path, "w") as file:
        for i in range(n):
            letters = rng.choice(list("ACGT"), 40)
            if motif and rng.random() < 0.8:
                letters[10:16] = list(motif)
            file.write(f">{os.path.basename(path)}{i}\n{''.join(letters)}\n")
    return str(path)


@pytest.fixture
def files(tmp_path):
    return [fasta(tmp_path / "pos.fa", "GTTGTT", 25, 1), fasta(tmp_path / "neg.fa", "", 35, 2)]


def told(capsys, *argv):
    capsys.readouterr()
    assert main(list(argv)) == 0
    return capsys.readouterr().out


def fails(capsys, *argv, code=1):
    capsys.readouterr()
    assert main(list(argv)) == code
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    return err


def rows_of(path):
    with open(path) as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_scores_are_printed_and_written(tmp_path, files, capsys):
    folder = tmp_path / "cv" / "spectrum3" / "csvc"
    out = told(capsys, "cv", *files, *METHOD, "-o", str(folder))
    lines = out.splitlines()
    words = "pos (positive, 25 samples) against neg (35); kernel: counts the 3-mers that two sequences share"
    assert lines[0] == f"{words}; solver: C-SVM (C=1)"
    assert [line.split("  ")[0] for line in lines[1:6]] == [
        "score",
        "AUC",
        "average precision",
        "balanced accuracy",
        "MCC",
    ]
    assert "5 stratified folds" in lines
    found = {row["split"]: float(row["auc"]) for row in rows_of(folder / "metrics.tsv")}
    assert len(found) == 5
    mean = np.mean(list(found.values()))
    assert lines[2].split()[1] == f"{mean:.4f}"
    assert lines[2].split()[5:] == [f"{value:.4f}" for value in found.values()]
    (auc, *_) = rows_of(folder / "scores.tsv")
    assert float(auc["mean"]) == pytest.approx(mean)
    assert float(auc["low"]) < mean < float(auc["high"])
    assert len(rows_of(folder / "decisions.tsv")) == 60
    assert (folder / "roc.svg").read_text().startswith(("<?xml", "<svg"))
    page = (folder / "index.html").read_text()
    assert all(words in page for words in (lines[0].partition(";")[0], f"{mean:.4f}", "5 stratified folds", "roc.svg"))


def test_two_folders_can_be_compared(tmp_path, files, capsys):
    for name, kernel in (("one", "spectrum:k=1"), ("three", "spectrum:k=3")):
        folder = str(tmp_path / "cv" / name / "csvc")
        told(capsys, "cv", *files, "--kernel", kernel, "--solver", "csvc:C=1", "-o", folder)
    out = told(capsys, "compare", str(tmp_path / "cv/one/csvc"), str(tmp_path / "cv/three/csvc"))
    assert "2 methods on 60 test samples, 5 folds" in out
    assert "belongs to the best of 2 methods, three with csvc; corrected" in " ".join(out.split())


def test_a_search_is_repeated_in_each_fold(tmp_path, files, capsys):
    solver = ["--kernel", "spectrum:k=3", "--solver", "csvc:C=[0.01,1]", "--search", "--inner-folds", "2"]
    told(capsys, "cv", *files, *solver, "--folds", "3", "-o", str(tmp_path / "out"))
    inner = rows_of(tmp_path / "out" / "inner_scores.tsv")
    assert {(row["split"], row["candidate"], row["fold"]) for row in inner} == {
        (str(s), str(c), str(f)) for s in (1, 2, 3) for c in (1, 2) for f in (1, 2)
    }


def test_the_same_command_prints_the_same(files, capsys):
    argv = ["cv", *files, *METHOD, "--repeats", "2", "--permutations", "5", "--seed", "3"]
    first = told(capsys, *argv, "--threads", "1")
    assert first == told(capsys, *argv, "--threads", "2")
    assert "5 stratified folds, 2 repeats" in first
    assert "permutation test: AUC" in first
    assert "p = 0.17" in first


def test_train_prints_and_stores_the_same_estimate(tmp_path, files, capsys):
    path = str(tmp_path / "m.seqkern")
    search = ["--kernel", "spectrum:k=3", "--solver", "csvc:C=[0.01,1]", "--search"]
    table = [line.split() for line in told(capsys, "cv", *files, *search).splitlines() if line.startswith("AUC")]
    out = told(capsys, "train", "--verbose", *files, *search, "--cv", "-o", path)
    assert [line.split() for line in out.splitlines()[3:] if line.split()[:1] == ["AUC"]] == table
    record = load_model(path).record
    assert record["estimate"]["folds"] == "5 stratified folds"
    assert f"{record['estimate']['scores']['auc']['mean']:.4f}" == table[0][1]
    assert "best of 2: AUC" in out
    assert "use --cv" not in out
    assert "use --cv for an unbiased estimate" in told(capsys, "train", "--verbose", *files, *search, "-o", path)
    assert "estimate" not in load_model(path).record


@pytest.mark.parametrize("verb", ["cv", "train"])
@pytest.mark.parametrize(("k", "letters"), [(1, "ACGTG"), (3, "ACGT")])
def test_composition_that_explains_the_score_is_told(tmp_path, capsys, verb, k, letters):
    rng = np.random.default_rng(4)
    files = []
    for name, own in (("pos", letters), ("neg", "ACGT")):
        rows = ["".join(rng.choice(list(own), 60)) for _ in range(60)]
        if name == "pos" and k == 3:
            rows = [f"{row[:20]}GATTACAGATTACA{row[34:]}" for row in rows]
        path = tmp_path / f"{name}.fa"
        path.write_text("".join(f">{name}{i}\n{row}\n" for i, row in enumerate(rows)))
        files.append(str(path))
    more = ["--cv", "-o", str(tmp_path / "m")] if verb == "train" else []
    argv = [verb, *files, "--kernel", f"spectrum:k={k}", "--solver", "csvc:C=1", "--allow-similar", *more]
    capsys.readouterr()
    assert main(argv) == 0
    out, err = capsys.readouterr()
    told = "length and composition alone give AUC 0."
    assert (told in err) == (k == 1)
    assert (
        f"take negatives that match the positives: seqkern background {files[0]} --shuffle 2 -o matched.fa" in err
    ) == (k == 1)
    better = ", the best " if verb == "train" else "best trivial baseline: length and composition, AUC 0."
    assert better in out


def test_several_kernels_are_candidates(tmp_path, files, capsys):
    kernels = '{"choose": [{"name": "a", "kernel": "spectrum", "k": 1}, {"name": "b", "kernel": "spectrum", "k": 3}]}'
    path = str(tmp_path / "m.seqkern")
    argv = [*files, "--kernel", kernels, "--solver", "csvc:C=1"]
    out = told(capsys, "train", "--verbose", *argv, "-o", path)
    assert load_model(path).record["kernel"] == "b"
    assert "best of 2: AUC" in out
    told(capsys, "cv", *argv, "-o", str(tmp_path / "out"))
    assert {row["parameter"] for row in rows_of(tmp_path / "out" / "choices.tsv")} >= {"kernel", "C"}


def test_real_labels_and_several_classes(tmp_path, capsys):
    path = fasta(tmp_path / "all.fa", "", 60, 3)
    (tmp_path / "real.tsv").write_text("id\tlabel\n" + "".join(f"all.fa{i}\t{i / 7}\n" for i in range(60)))
    (tmp_path / "three.tsv").write_text("id\tlabel\n" + "".join(f"all.fa{i}\t{'abc'[i % 3]}\n" for i in range(60)))
    out = told(capsys, "cv", path, "--labels", str(tmp_path / "three.tsv"), *METHOD[:2], "--solver", "csvc:C=1")
    assert [line.split("  ")[0] for line in out.splitlines()[2:5]] == ["macro AUC", "accuracy", "balanced accuracy"]
    real = [path, "--labels", str(tmp_path / "real.tsv"), *METHOD[:2], "--solver", "svr"]
    out = told(capsys, "cv", *real)
    assert [line.split("  ")[0] for line in out.splitlines()[2:5]] == ["R²", "RMSE", "Spearman ρ"]


def test_states_keep_chains_together(tmp_path, capsys):
    assert main(["simulate", "secondary_structure", "-o", str(tmp_path / "s"), "--n-chains", "12"]) == 0
    argv = [str(tmp_path / "s.fasta"), "--states", str(tmp_path / "s.states"), "--window", "5"]
    out = told(
        capsys, "cv", *argv, "--kernel", "window", "--solver", "csvc:C=1", "--folds", "2", "-o", str(tmp_path / "out")
    )
    assert "2 grouped folds" in out
    assert "Q3" in out
    tested = {}
    for row in rows_of(tmp_path / "out" / "decisions.tsv"):
        tested.setdefault(row["id"].rpartition(":")[0], set()).add(row["split"])
    assert len(tested) == 12
    assert all(len(splits) == 1 for splits in tested.values())


def test_overlapping_windows_stay_together(tmp_path, capsys):
    rng = np.random.default_rng(0)
    (tmp_path / "g.fa").write_text(">c\n" + "".join(rng.choice(list("ACGT"), 6000)) + "\n")
    places = [100 + 100 * i + j for i in range(40) for j in (0, 3)]
    table = "".join(f"c\t{place}\t{i // 2 % 2}\n" for i, place in enumerate(places))
    (tmp_path / "sites.tsv").write_text("record\tposition\tlabel\n" + table)
    argv = [str(tmp_path / "g.fa"), "--sites", str(tmp_path / "sites.tsv"), "--window", "-5:+5"]
    out = told(capsys, "cv", *argv, *METHOD, "-o", str(tmp_path / "out"))
    assert "5 grouped folds" in out
    split = {int(row["id"].split(":")[1]): row["split"] for row in rows_of(tmp_path / "out" / "decisions.tsv")}
    assert all(split[place] == split[place + 3] for place in places[::2])
    assert "5 locus folds" in told(capsys, "cv", *argv, *METHOD, "--fold-method", "locus")


def test_three_against_three_are_too_few(tmp_path, capsys):
    few = [fasta(tmp_path / "p.fa", "GTTGTT", 3, 1), fasta(tmp_path / "n.fa", "", 3, 2)]
    sentence = "too few samples to estimate a score (3 against 3): an AUC of 0.5 has the 95% interval 0.15 to 0.85"
    assert sentence in fails(capsys, "cv", *few, *METHOD)
    path = str(tmp_path / "m.seqkern")
    assert sentence in fails(capsys, "train", "--verbose", *few, *METHOD, "--cv", "-o", path)
    for solver in ("csvc:C=1", "csvc"):
        out = told(capsys, "train", "--verbose", *few, *METHOD[:2], "--solver", solver, "-o", path)
        assert sentence in out
        assert "AUC 0.0" not in out
        assert "corrected" not in out


def test_mistakes_are_one_line(tmp_path, files, capsys):
    assert "give an integer at least 2" in fails(capsys, "cv", *files, *METHOD, "--folds", "1", code=2)
    assert "give an integer at least 1" in fails(capsys, "cv", *files, *METHOD, "--permutations", "0", code=2)
    assert "give an integer at least 1" in fails(capsys, "cv", *files, *METHOD, "--repeats", "0", code=2)
    assert "no column 'chromosome'" in fails(capsys, "cv", *files, *METHOD, "--fold-method", "locus")
    assert "--inner-folds needs a search" in fails(capsys, "cv", *files, *METHOD, "--inner-folds", "3")
    assert "no labels given" in fails(capsys, "cv", files[0], *METHOD)
    solver = ["--kernel", "spectrum:k=3", "--solver", "one_class_svm"]
    assert "no labels to score by" in fails(capsys, "cv", files[0], *solver)
    model = str(tmp_path / "m.seqkern")
    for option in (["--repeats", "3"], ["--permutations", "9"], ["--fold-method", "grouped"]):
        assert f"{option[0]} needs --cv" in fails(capsys, "train", *files, *METHOD, *option, "-o", model)
    (tmp_path / "file").write_text("")
    assert "cannot be written" in fails(capsys, "cv", *files, *METHOD, "-o", str(tmp_path / "file" / "x"))


def test_the_fold_methods_of_the_help_are_those_of_the_library():
    assert FOLD_METHODS == OUTER_METHODS


SIGTERM = pytest.param("SIGTERM", 143, "terminated", marks=pytest.mark.nightly)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")
@pytest.mark.parametrize(("number", "code", "word"), [("SIGINT", 130, "interrupted"), SIGTERM])
def test_an_interruption_is_one_line_and_leaves_no_process(files, number, code, word):
    argv = [sys.executable, "-m", "seqkern.cli.main", "cv", *files, *METHOD, "--permutations", "100000"]
    process = subprocess.Popen(
        [*argv, "--threads", "2"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored in background jobs of a shell
    )
    children = []
    deadline = time.monotonic() + 60
    while len(children) < 2 and time.monotonic() < deadline:
        time.sleep(0.2)
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            children = file.read().split()
    process.send_signal(signal.Signals[number])
    out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert out == ""
    # on a busy computer, lines of progress come first
    (line,) = [line for line in err.splitlines() if " s elapsed" not in line]
    assert line.startswith(f"seqkern: {word}")
    time.sleep(0.5)
    assert not [child for child in children if os.path.exists(f"/proc/{child}")]
