"""Runs that are killed in the middle: the same command goes on, and writes the bytes of an undisturbed run."""

import multiprocessing
import os
import signal
import sys
import time

import numpy as np
import pytest

from seqkern.cli import predict
from seqkern.cli.main import main
from seqkern.cli.output import identity_of_prediction
from seqkern.cli.requests_models import PredictRequest
from seqkern.core import checkpoint, parts
from seqkern.evaluation.selection import Trials
from seqkern.methods import crossval
from seqkern.methods.model import Model
from seqkern.methods.scan import Scanner

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Make blocks small, and record each."""
    monkeypatch.setattr(parts, "INTERVAL", 0)
    monkeypatch.setattr(predict, "BLOCK", 20)
    monkeypatch.setitem(Scanner.scan.__kwdefaults__, "block", 500)


def killed(command, after, said, signal_number=signal.SIGKILL):
    """Run a command in a fork that is stopped when it has kept so many pieces; return its exit code."""
    process = multiprocessing.get_context("fork").Process(target=_run, args=(command, after, said, signal_number))
    process.start()
    process.join(120)
    return process.exitcode


def _run(command, after, said, signal_number):
    """Run a command, and stop this process when something is kept for the so-manieth time."""
    kept, count = checkpoint.note_kept, 0

    def stopping():
        nonlocal count
        kept()
        count += 1
        if count == after:
            os.kill(os.getpid(), signal_number)
            time.sleep(60)

    for module in (checkpoint, parts):
        module.note_kept = stopping
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with said.open("w") as file:
        sys.stdout = sys.stderr = file
        code = main([str(word) for word in command])
    os._exit(code)


@pytest.fixture(scope="module")
def donors(tmp_path_factory):
    """Return a folder with labelled sequences, more of them, and a model."""
    folder = tmp_path_factory.mktemp("donors")
    generator = np.random.default_rng(1)
    for name, n in (("a", 60), ("b", 60), ("new", 100)):
        records = []
        for i in range(n):
            letters = generator.choice(list("ACGT"), size=20)
            if name == "a" and i % 4:
                letters[8:12] = list("AGGT")
            records.append(f">{name}{i}\n{''.join(letters)}\n")
        (folder / f"{name}.fa").write_text("".join(records))
    kernel = ["--kernel", "weighted_degree:degree=3", "--solver", "csvc:C=1"]
    assert main(["train", *(str(folder / f"{name}.fa") for name in "ab"), *kernel, "-o", str(folder / "model")]) == 0
    return folder


def whole(folder):
    """Return the bytes of the undisturbed run."""
    return (folder / "whole.tsv").read_bytes()


@pytest.mark.parametrize("scan", [False, True], ids=["records", "scan"])
def test_a_killed_prediction_goes_on_to_the_same_bytes(donors, tmp_path, scan, monkeypatch):
    decide = Model.decision
    options = ["--scan", "GT", "--window", "-10:+9", "--masked", "score"] if scan else []
    new = donors / "new.fa"
    if scan:
        new = tmp_path / "chromosome.fa"
        letters = "".join((donors / "new.fa").read_text().split("\n")[1::2])
        new.write_text(f">chr1\n{letters}\n>chr2\n{letters[::-1]}\n")
    command = ["predict", donors / "model", new, *options, "-o"]
    assert main([*map(str, command), str(tmp_path / "whole.tsv")]) == 0
    output, part, said = tmp_path / "out.tsv", tmp_path / ".out.tsv.part", tmp_path / "said"
    assert killed([*command, output], 2, said) == -signal.SIGKILL
    assert not output.exists()
    first = part.read_bytes()
    assert whole(tmp_path).startswith(first[: first.rindex(b"\n") + 1])
    assert killed([*command, output], 1, said, signal.SIGINT) == 130
    assert said.read_text().endswith("seqkern: interrupted; repeat the command to resume\n")
    assert len(part.read_bytes()) > len(first)
    decided = []
    monkeypatch.setattr(Model, "decision", lambda self, X, **options: decided.append(len(X)) or decide(self, X))
    assert main([*map(str, command), str(output)]) == 0
    assert output.read_bytes() == whole(tmp_path)
    assert scan or decided == [20, 20]  # of five blocks, three were there
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_what_another_prediction_has_left_is_not_used(donors, tmp_path):
    output = tmp_path / "out.tsv"
    new = tmp_path / "new.fa"
    new.write_text((donors / "new.fa").read_text())
    assert killed(["predict", donors / "model", new, "-o", output], 2, tmp_path / "said") == -signal.SIGKILL
    new.write_text((donors / "new.fa").read_text().replace("A", "C"))
    assert main(["predict", str(donors / "model"), str(new), "-o", str(output)]) == 0
    assert main(["predict", str(donors / "model"), str(new), "-o", str(tmp_path / "whole.tsv")]) == 0
    assert output.read_bytes() == whole(tmp_path)
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_a_killed_search_goes_on_to_the_same_model(donors, tmp_path, monkeypatch, capsys):
    """With a refinement, whose first fits start from a solver of the coarse grid that the resumed run lacks."""
    solver = ["--kernel", "spectrum:k=2", "--solver", "psvc", "--search", "--threads", "1"]
    command = ["train", donors / "a.fa", donors / "b.fa", *solver, "-o"]
    calls = []
    fit = Trials._fit
    monkeypatch.setattr(Trials, "_fit", lambda self, f, *chain: calls.append(f) or fit(self, f, *chain))
    assert main([*map(str, command), str(tmp_path / "whole")]) == 0
    told, all_fits = capsys.readouterr().out, len(calls)
    output, said = tmp_path / "model", tmp_path / "said"
    folder = tmp_path / ".model.finished"
    assert all_fits >= 10  # five folds, with and without refinement
    assert killed([*command, output], 3, said) == -signal.SIGKILL  # in the coarse grid
    assert len(list(folder.iterdir())) == 3
    assert killed([*command, output], all_fits - 2, said, signal.SIGINT) == 130  # in the refinement; three are read
    assert said.read_text().endswith("repeat the command to resume\n")
    assert len(list(folder.iterdir())) == all_fits - 2
    calls.clear()
    assert main([*map(str, command), str(output)]) == 0
    assert len(calls) == 2 + 2 * (all_fits // 5 - 1)  # two are missing, and what they start from
    assert output.read_bytes() == (tmp_path / "whole").read_bytes()
    assert capsys.readouterr().out == told.replace("whole", "model")
    assert not folder.exists()


def test_a_killed_cross_validation_goes_on_to_the_same_tables(donors, tmp_path, monkeypatch, capsys):
    options = ["--kernel", "spectrum:k=2", "--solver", "csvc:C=1", "--permutations", "6", "--threads", "1"]
    command = ["cv", donors / "a.fa", donors / "b.fa", *options, "-o"]
    assert main([*map(str, command), str(tmp_path / "whole")]) == 0
    told = capsys.readouterr().out
    output, said = tmp_path / "cv", tmp_path / "said"
    assert killed([*command, output], 2, said) == -signal.SIGKILL  # in the folds
    assert not (output / "metrics.tsv").exists()
    assert killed([*command, output], 7, said, signal.SIGINT) == 130  # 2 folds read, 3 more and 2 permutations
    folds, evaluate = [], crossval.evaluate_fold
    monkeypatch.setattr(crossval, "evaluate_fold", lambda *of, **how: folds.append(1) or evaluate(*of, **how))
    assert main([*map(str, command), str(output)]) == 0
    assert len(folds) == 4 * 5  # of six permutations
    assert capsys.readouterr().out == told.replace("whole", "cv")
    names = sorted(path.name for path in (tmp_path / "whole").iterdir())
    assert sorted(path.name for path in output.iterdir()) == names
    for name in set(names) - {"cost.json"}:
        assert (output / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_a_prediction_is_known_by_its_regions_left_out(tmp_path):
    for name in ("model", "bed", "genome", "out"):
        (tmp_path / name).write_text("chr1\t5\t9\n")
    given = {name: str(tmp_path / file) for name, file in (("model", "model"), ("fasta", "bed"), ("genome", "genome"))}
    args = PredictRequest(**given, blacklist=str(tmp_path / "out"), threshold=-np.inf)
    before = identity_of_prediction(args)()
    (tmp_path / "out").write_text("chr1\t6\t9\n")
    assert identity_of_prediction(args)() != before


def test_a_block_whose_writing_is_interrupted_is_written_again(tmp_path, monkeypatch):
    output = tmp_path / "out.tsv"

    def written(stop):
        with parts.resumable_write(output, lambda: "job") as part:
            for number in range(part.complete, 3):
                part.write(f"block {number}\n")
                if stop == number:
                    monkeypatch.setattr(os, "fstat", interrupted)
                part.end_block()

    def interrupted(*_):
        monkeypatch.undo()
        raise KeyboardInterrupt

    for stop in (0, 2):
        with pytest.raises(KeyboardInterrupt):
            written(stop)
    written(None)
    assert output.read_text() == "block 0\nblock 1\nblock 2\n"
