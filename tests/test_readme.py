"""README's commands and Python run on its own files, its links lead somewhere, and it is short."""

import re
import shlex

import numpy as np
import pytest
from conftest import ROOT

from seqkern.cli.main import main

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def in_a_copy(tmp_path, monkeypatch):
    """Change to a folder with the files of the repository that README names."""
    (tmp_path / "resources").symlink_to(ROOT / "resources")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_its_python_runs_on_its_own_files(in_a_copy, capsys):
    names = {}
    exec(README.split("```python\n")[1].partition("```")[0], names)
    assert list(names["solver"].classes_) == ["decoy", "donor"]
    is_site = np.arange(len(names["decisions"])) % 2 == 0
    assert np.mean(names["decisions"][is_site]) > np.mean(names["decisions"][~is_site]) + 0.5
    assert "'donor'" in capsys.readouterr().out


def test_its_commands_run_and_print_what_it_shows(in_a_copy, capsys):
    pytest.importorskip("pysam")
    blocks = re.findall(r"^```\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    commands = [
        line for block in blocks for line in block.splitlines() if line.startswith("seqkern ") and "init" not in line
    ]
    assert len(commands) == 9
    printed = ""
    for command in commands:
        assert main(shlex.split(command)[1:]) == 0, command
        printed += capsys.readouterr().out
    shown = next(block for block in blocks if block.startswith("donors.seqkern: "))
    assert shown in printed
    assert (in_a_copy / "predictions.tsv").read_text().count("donors") == 20


def test_its_links_lead_to_files_of_the_repository():
    links = re.findall(r"\]\(([^)#]+)", README)
    assert len(links) > 15
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_it_is_short():
    assert len(README.split()) <= 900
