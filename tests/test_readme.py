"""What README shows in Python runs on the files that its commands make."""

import shlex

import numpy as np
from conftest import ROOT

from seqkern.cli.main import main


def test_the_first_python_of_the_readme_runs_on_its_own_files(tmp_path, monkeypatch, capsys):
    before, _, after = (ROOT / "README.md").read_text().partition("```python\n")
    monkeypatch.chdir(tmp_path)
    simulations = [line for line in before.splitlines() if line.startswith("seqkern simulate")]
    for line in simulations:
        assert main(shlex.split(line)[1:]) == 0
    names = {}
    exec(after.partition("```")[0], names)
    assert list(names["solver"].classes_) == ["decoy", "donor"]
    is_site = np.array([row["label"] == "donor" for row in names["read_tsv"]("new.tsv")])
    assert np.mean(names["decisions"][is_site]) > np.mean(names["decisions"][~is_site]) + 0.5
    assert "'donor'" in capsys.readouterr().out
