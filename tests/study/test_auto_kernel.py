"""``kernel: auto`` in a study: what the configuration accepts, and a job that resolves it for its data."""

import json

import pytest

from seqkern.cli.main import main
from seqkern.core.errors import ConfigError
from seqkern.core.tsv import read_tsv
from seqkern.study.kernel_entries import AutoKernel, read_kernel
from seqkern.study.study import Study

CONFIG = {
    "study": "a",
    "datasets": {"donors": {"simulate": {"kind": "donor"}}},
    "kernels": {"best": {"kernel": "auto", "time": "2m"}, "three": {"kernel": "spectrum", "k": 3}},
    "solvers": {"svm": {"solver": "csvc", "C": [0.1, 1]}, "features": {"solver": "lp_machine", "C": 1}},
}


def test_it_runs_with_the_solvers_that_its_portfolio_serves():
    study = Study.parse(CONFIG)
    assert ("best", "svm") in study.method_names("donors")
    assert ("best", "features") not in study.method_names("donors")
    assert study.grams_of("donors", "best", "svm") == []
    assert study.kernels["best"].seconds == 120


@pytest.mark.parametrize(
    ("entry", "problem"),
    [({"kernel": "auto", "k": 3}, "has no parameter 'k'"), ({"kernel": "auto", "time": "soon"}, "not a duration")],
)
def test_a_wrong_entry_is_named(entry, problem):
    with pytest.raises(ConfigError, match=problem) as caught:
        Study.parse({**CONFIG, "kernels": {"best": entry}})
    assert "best" in str(caught.value)


def test_it_cannot_be_drawn_position_by_position():
    entry = {**CONFIG["datasets"]["donors"], "importance": {"kernel": "best", "solver": "svm", "site": 31}}
    with pytest.raises(ConfigError, match="stands for several kernels"):
        Study.parse({**CONFIG, "datasets": {"donors": entry}})


@pytest.mark.parametrize("inner", [{"pooled": "tasks"}, {"clusters": 5}])
def test_it_has_no_candidates_in_common_with_other_tasks(inner):
    with pytest.raises(ConfigError, match="kernel auto does not work"):
        Study.parse({**CONFIG, "inner": inner, "solvers": {"svm": CONFIG["solvers"]["svm"]}})


def test_a_finished_study_is_read_again():
    study = Study.of_results(Study.parse(CONFIG).to_dict(), "a")
    assert isinstance(study.kernels["best"], AutoKernel)


def test_it_is_read_from_text_json_and_configuration():
    for given in ("auto", '{"kernel": "auto"}', {"kernel": "auto"}):
        assert isinstance(read_kernel(given), AutoKernel)


def test_a_job_chooses_in_every_training_set(tmp_path):
    entry = {"simulate": {"kind": "donor", "n_positive": 24, "n_decoy": 36}}
    main(["datasets", "--name", "donors", "--entry", json.dumps(entry), "--seed", "1", "-o", str(tmp_path / "data")])
    folds = tmp_path / "folds"
    options = json.dumps({"method": "stratified", "k": 2})
    main(["folds", str(tmp_path / "data"), "--options", options, "--seed", "1", "-o", str(folds)])
    argv = ["evaluate", str(tmp_path / "data"), "--folds", str(folds), "--kernel", '{"kernel": "auto", "time": "1m"}']
    main([*argv, "--solver", "csvc:C=[0.1,1]", "--inner-folds", "2", "--seed", "1", "-o", str(tmp_path / "out")])
    chosen = [row for row in read_tsv(tmp_path / "out" / "choices.tsv") if row["parameter"] == "kernel"]
    assert [row["split"] for row in chosen] == ["1", "2"]
    tried = {row["kernel"] for row in read_tsv(tmp_path / "out" / "inner_scores.tsv")}
    assert {row["value"] for row in chosen} <= tried
    assert len(tried) > 10
