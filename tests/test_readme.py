"""README's commands and Python run on its own files, its links lead somewhere, and it is short."""

import re
import shlex

import numpy as np
import pytest
from conftest import ROOT

from seqkern.cli.main import main

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_its_python_runs_on_its_own_files(tmp_path, monkeypatch, capsys):
    before, first = README.split("```python\n")
    monkeypatch.chdir(tmp_path)
    simulations = [line for line in before.splitlines() if line.startswith("seqkern simulate donor")]
    for line in simulations:
        assert main(shlex.split(line)[1:]) == 0
    names = {}
    exec(first.partition("```")[0], names)
    assert list(names["solver"].classes_) == ["decoy", "donor"]
    is_site = np.array([row["label"] == "donor" for row in names["read_tsv"]("new.tsv")])
    assert np.mean(names["decisions"][is_site]) > np.mean(names["decisions"][~is_site]) + 0.5
    assert "'donor'" in capsys.readouterr().out


def test_its_commands_on_simulated_sequences_run(tmp_path, monkeypatch):
    pytest.importorskip("pysam")
    monkeypatch.chdir(tmp_path)
    # as at a shell, what goes to a file is not printed
    lines = README.replace("\\\n", " ").splitlines()
    simulated = "seqkern (simulate|.*donors|.*genes|.*genome/)"
    commands = [line.partition(" > ")[0] for line in lines if re.match(simulated, line)]
    assert len(commands) == 14
    for command in commands:
        assert main(shlex.split(command)[1:]) == 0, command
    assert (tmp_path / "explained" / "index.html").is_file()


def test_its_links_lead_to_files_of_the_repository():
    links = re.findall(r"\]\(([^)#]+)", README)
    assert len(links) > 15
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_it_is_short():
    assert len(README.split()) <= 900
