"""``seqkern evaluate --inner-only`` and ``--pooled``: files, repeated runs, and what does not fit."""

import json

import pytest

from seqkern.cli.main import main
from seqkern.core.tsv import read_tsv

ENTRY = {
    "simulate": {"kind": "superfamilies", "n_superfamilies": 3, "n_families": 2, "n_members": 5},
    "tasks": "families",
}
GRID = ["--kernel", "spectrum:k=2", "--solver", "csvc:C=[0.1,1]", "--inner-folds", "2", "--threads", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a data set, its folds and its inner loops."""
    home = tmp_path_factory.mktemp("pooled")
    data, folds = str(home / "data"), str(home / "folds")
    assert main(["datasets", "--name", "homologs", "--entry", json.dumps(ENTRY), "-o", data]) == 0
    assert main(["folds", data, "--method", "liao-noble", "-o", folds]) == 0
    assert main(["evaluate", data, "--folds", folds, *GRID, "--inner-only", "-o", str(home / "inner")]) == 0
    return home


def evaluate(folder, output, *options, grid=GRID):
    given = [str(folder / "data"), "--folds", str(folder / "folds"), *grid, *options, "-o", str(folder / output)]
    return main(["evaluate", *given])


def test_choices_are_made_from_the_files_of_inner_loops(folder):
    assert evaluate(folder, "own") == 0
    assert evaluate(folder, "pooled", "--pooled", str(folder / "inner" / "inner.json")) == 0
    own, pooled = (read_tsv(folder / name / "inner_scores.tsv") for name in ("own", "pooled"))
    scored = [[(row["task"], row["solver"], row["fold"], row["score"]) for row in table] for table in (own, pooled)]
    assert scored[0] == scored[1]  # the same inner loops
    assert "pooled_tasks" not in read_tsv(folder / "own" / "choices.tsv")[0]
    pooled = [row for row in read_tsv(folder / "pooled" / "choices.tsv") if row["parameter"] != "threshold"]
    assert {row["pooled_tasks"] for row in pooled} == {"3"}


def test_inner_loops_have_the_same_bytes_in_every_run(folder):
    assert evaluate(folder, "again", "--inner-only") == 0
    assert (folder / "again" / "inner.json").read_bytes() == (folder / "inner" / "inner.json").read_bytes()
    assert not (folder / "again" / ".finished").exists()


@pytest.mark.parametrize(
    ("grid", "options", "words"),
    [
        ([*GRID[:3], "csvc:C=[1,10]", *GRID[4:]], [], "was made for other kernels or solvers"),
        ([*GRID, "--inner-metric", "roc50"], [], "has no inner loops for these settings"),
        ([*GRID[:3], "csvc:C=1", *GRID[4:]], [], "there is nothing to choose"),
        (GRID, ["--seed", "2"], "has no inner loops for these settings"),
    ],
)
def test_inner_loops_of_other_settings_are_refused(folder, capsys, grid, options, words):
    assert evaluate(folder, "no", "--pooled", str(folder / "inner" / "inner.json"), *options, grid=grid) != 0
    message = capsys.readouterr().err
    assert words in message
    assert message.count("\n") == 1
