"""What README shows in Python runs on the files that its commands make."""

import shlex

import numpy as np
from conftest import ROOT

from seqkern.cli.main import main


def test_the_first_two_blocks_of_python_in_the_readme_run_on_its_own_files(tmp_path, monkeypatch, capsys):
    before, first, second, *_ = (ROOT / "README.md").read_text().split("```python\n")
    monkeypatch.chdir(tmp_path)
    simulations = [line for line in before.splitlines() if line.startswith("seqkern simulate")]
    for line in simulations:
        assert main(shlex.split(line)[1:]) == 0
    names = {}
    exec(first.partition("```")[0], names)
    assert list(names["solver"].classes_) == ["decoy", "donor"]
    is_site = np.array([row["label"] == "donor" for row in names["read_tsv"]("new.tsv")])
    assert np.mean(names["decisions"][is_site]) > np.mean(names["decisions"][~is_site]) + 0.5
    assert "'donor'" in capsys.readouterr().out
    exec(second.partition("```")[0], names)
    assert len(names["search"].cv_results_["params"]) == 8
    assert names["search"].best_score_ > 0.7
    found = names["search"].predict(names["new"])
    assert np.mean((found == "donor") == is_site) > 0.7
    assert "svc__C" in capsys.readouterr().out
