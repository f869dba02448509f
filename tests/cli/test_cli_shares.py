"""``seqkern evaluate --share``: the gathered tables are those of one job, whatever the shares have left."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqkern.cli.evaluate import Evaluation, assigned
from seqkern.cli.main import main
from seqkern.core.checkpoint import Checkpoint
from seqkern.study.plan import DatasetPlan, MethodCost

ENTRY = {
    "simulate": {"kind": "superfamilies", "n_superfamilies": 3, "n_families": 2, "n_members": 5},
    "tasks": "families",
}
SOLVERS = {"svm": {"solver": "csvc", "C": [0.1, 1]}, "psvm": {"solver": "psvc", "C": 1}}
METHODS = json.dumps({name: {"solver": one} for name, one in SOLVERS.items()})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a data set, its folds, and tables that one job has written for each solver."""
    home = tmp_path_factory.mktemp("shares")
    data, folds = str(home / "data"), str(home / "folds")
    assert main(["datasets", "--name", "homologs", "--entry", json.dumps(ENTRY), "-o", data]) == 0
    assert main(["folds", data, "--method", "liao-noble", "-o", folds]) == 0
    for name in SOLVERS:
        assert gather(home, "whole", name) == 0
    return home


def evaluate(folder, output, *options):
    given = [str(folder / "data"), "--folds", str(folder / "folds"), "--kernel", "pairwise:base=(spectrum:k=2)"]
    return main(["evaluate", *given, "--inner-folds", "2", "--threads", "1", *options, "-o", str(output)])


def gather(folder, output, name):
    return evaluate(folder, folder / output / name, "--solver", json.dumps(SOLVERS[name]))


def same_tables(folder, output, name):
    """Return whether all tables are those of one job; the costs differ from run to run."""
    one, other = folder / "whole" / name, folder / output / name
    names = sorted(path.name for path in one.iterdir())
    assert names == sorted(path.name for path in other.iterdir())
    return all((one / table).read_bytes() == (other / table).read_bytes() for table in names if table != "cost.json")


def test_shares_of_several_solvers_are_gathered_without_any_fit(folder, monkeypatch, capsys):
    plan = folder / "plan.json"
    costs = {name: MethodCost(10**8, np.arange(1.0, 7).tolist()) for name in SOLVERS}
    DatasetPlan({}, {"pairwise": costs}).write(plan)
    options = ["--methods", METHODS, "--plan", str(plan), "--kernel-name", "pairwise"]
    for share in ("2/3", "1/3", "3/3"):
        assert evaluate(folder, folder / "planned", *options, "--share", share) == 0
    assert "of 12 folds finished, share 3 of 3" in capsys.readouterr().out
    assert not list((folder / "planned").rglob("*.tsv"))
    kept = [len(list((folder / "planned" / name / ".finished").iterdir())) for name in SOLVERS]
    assert kept == [6, 6]
    monkeypatch.setattr("seqkern.cli.evaluate.evaluate_fold", None)
    for name in SOLVERS:
        assert gather(folder, "planned", name) == 0
        assert same_tables(folder, "planned", name)
        laps = json.loads((folder / "planned" / name / "cost.json").read_text())["laps"]
        assert sum(lap["stage"] == "predict" for lap in laps) == 6  # the time of all shares is counted


def test_what_a_killed_share_lacks_is_computed(folder, monkeypatch):
    put, kept = Checkpoint.put, []

    def killed(self, key, value):
        if len(kept) == 2:
            raise KeyboardInterrupt
        kept.append(key)
        put(self, key, value)

    monkeypatch.setattr(Checkpoint, "put", killed)
    assert evaluate(folder, folder / "killed", "--methods", METHODS, "--share", "1/2") == 130
    monkeypatch.undo()
    (damaged,) = list((folder / "killed" / "svm" / ".finished").iterdir())[:1]
    damaged.write_text('{"decisions": [')  # as a full disk would leave it
    for name in SOLVERS:
        assert gather(folder, "killed", name) == 0
        assert same_tables(folder, "killed", name)


@pytest.mark.parametrize("inner", [[], ["--inner-only"]])
def test_a_share_that_comes_after_the_tables_computes_nothing(folder, monkeypatch, inner):
    output, solver = folder / f"late{len(inner)}", ["--solver", json.dumps(SOLVERS["svm"]), *inner]
    assert evaluate(folder, output, *solver) == 0
    names = sorted(path.name for path in output.iterdir())
    monkeypatch.setattr(Evaluation, "_compute", None)
    assert evaluate(folder, output, *solver, "--share", "1/2") == 0
    assert sorted(path.name for path in output.iterdir()) == names
    monkeypatch.undo()
    other = ["--solver", "csvc:C=[0.1,2]", *inner]
    assert evaluate(folder, output, *other, "--share", "1/3") == 0
    assert len(list((output / ".finished").iterdir())) == 2  # of another evaluation


COUNTED = """
import sys, time
from seqkern.cli.evaluate import Evaluation
from seqkern.cli.main import main

computed, log = Evaluation._compute, sys.argv[1]

def slowly(self, place):
    with open(log, "a") as file:
        file.write(f"{place}\\n")
    time.sleep(0.3)
    return computed(self, place)

Evaluation._compute = slowly
sys.exit(main(sys.argv[2:]))
"""


def test_jobs_at_the_same_time_compute_each_fold_once(folder, tmp_path):
    log, output = tmp_path / "log", folder / "together"
    line = ["evaluate", str(folder / "data"), "--folds", str(folder / "folds"), "--kernel", "spectrum:k=2"]
    line += ["--solver", "csvc:C=1", "--threads", "1", "-o", str(output)]
    jobs = [
        subprocess.Popen([sys.executable, "-c", COUNTED, str(log), *line, *more], stdout=subprocess.DEVNULL)
        for more in ([], ["--share", "1/1"], ["--share", "2/2"])
    ]
    assert [job.wait(100) for job in jobs] == [0, 0, 0]
    assert sorted(log.read_text().split()) == [str(place) for place in range(6)]
    assert (output / "metrics.tsv").exists()
    assert not (output / ".finished").exists()


def test_inner_loops_are_shared_too(folder):
    one = ["--inner-only", "--solver", json.dumps(SOLVERS["svm"])]
    assert evaluate(folder, folder / "inner" / "svm", *one) == 0
    methods = ["--methods", json.dumps({"svm": {"solver": SOLVERS["svm"]}})]
    for share in ("1/2", "2/2"):
        assert evaluate(folder, folder / "shared", "--inner-only", *methods, "--share", share) == 0
    assert evaluate(folder, folder / "shared" / "svm", *one) == 0
    assert (folder / "shared/svm/inner.json").read_bytes() == (folder / "inner/svm/inner.json").read_bytes()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "give one solver"),
        (["--methods", METHODS], "--methods needs --share"),
        (["--methods", "svm", "--share", "1/2"], "--methods is not a JSON object of solvers by name"),
        (["--methods", '{"../svm": {"solver": "csvc"}}', "--share", "1/2"], "'../svm' cannot name a folder"),
        (["--solver", "csvc:C=1", "--share", "1/2", "--plan", "plan.json"], "--plan needs the names"),
        (["--solver", "csvc:C=1", "--share", "3/2"], "'3/2' is not I/N"),
    ],
)
def test_options_that_do_not_fit_together_are_refused(folder, capsys, options, words):
    assert evaluate(folder, folder / "no", *options) != 0
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 1000), max_size=40), st.integers(1, 9))
def test_each_fold_belongs_to_one_share_and_no_share_is_much_longer(seconds, shares):
    parts = [assigned(seconds, share, shares) for share in range(1, shares + 1)]
    assert sorted(place for part in parts for place in part) == list(range(len(seconds)))
    longest = max(sum(seconds[place] for place in part) for part in parts)
    assert longest <= sum(seconds) / shares + max(seconds, default=0) + 1e-6
