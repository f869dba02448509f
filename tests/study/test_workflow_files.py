"""The workflow in a folder of its own: what `seqkern init` and `seqkern demo` write, and that Snakemake runs it."""

import os
import subprocess
import sys
import time

import pytest
from conftest import ROOT

from seqkern.cli.main import main
from seqkern.core.errors import FileError, ParameterError
from seqkern.study import Study
from seqkern.study.workflow import is_demo, write_workflow


def written(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_everything_of_the_workflow_is_copied(tmp_path):
    path = write_workflow(tmp_path / "new")
    workflow = {f"workflow/{name}" for name in written(ROOT / "workflow")}
    assert written(tmp_path / "new") == workflow | {"config/config.yaml", "profiles/default/config.yaml"}
    for name in written(tmp_path / "new"):
        assert (tmp_path / "new" / name).read_bytes() == (ROOT / name).read_bytes()
    assert Study.load(path).name == "demo"


def test_a_profile_for_a_cluster_is_copied_on_request(tmp_path, capsys):
    assert main(["init", str(tmp_path / "mine"), "--profile", "slurm"]) == 0
    copied = tmp_path / "mine" / "profiles" / "slurm" / "config.yaml"
    assert copied.read_bytes() == (ROOT / "profiles" / "slurm" / "config.yaml").read_bytes()
    assert (tmp_path / "mine" / "profiles" / "default" / "config.yaml").is_file()
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == f"edit {copied}: enter partition and account"
    assert lines[2].endswith("mine && snakemake --workflow-profile profiles/slurm")
    with pytest.raises(ParameterError, match="slurm"):
        write_workflow(tmp_path / "other", profile="slrum")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("name", ["file", "folder"])
def test_only_an_empty_folder_is_written_to(tmp_path, name):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("mine")
    with pytest.raises(FileError, match="not an empty folder"):
        write_workflow(tmp_path / name)
    assert written(tmp_path) == {"file", "folder/file"}


def test_init_leaves_a_study_to_fill_in(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["init", "my study"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "edit my study/config/config.yaml: enter your FASTA files",
        "then run: cd 'my study' && snakemake --cores all",
    ]
    study = Study.load(tmp_path / "my study" / "config" / "config.yaml")
    assert study.name == "my_study"
    assert main(["init", "my study"]) == 1
    assert "is not an empty folder" in capsys.readouterr().err


def test_snakemake_finds_the_demo_there(tmp_path):
    assert main(["init", "--demo", str(tmp_path / "demo")]) == 0
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--dry-run", "--quiet", "all"]
    subprocess.run(command, cwd=tmp_path / "demo", check=True, capture_output=True)


def test_an_interrupted_init_is_repeated_and_nothing_of_the_user_is_taken_for_it(tmp_path):
    write_workflow(tmp_path / "whole")
    home = tmp_path / "study"
    write_workflow(home)
    (home / "config" / "config.yaml").unlink()
    (home / "workflow" / "rules" / "plan.smk").rename(home / "workflow" / "rules" / ".plan.smk.x1y2.tmp")
    write_workflow(home)
    files = {path.relative_to(home): path.read_bytes() for path in home.rglob("*") if path.is_file()}
    assert all((tmp_path / "whole" / name).read_bytes() == data for name, data in files.items())
    assert len(files) == sum(path.is_file() for path in (tmp_path / "whole").rglob("*"))
    for name in ("mine.txt", "workflow/Snakefile"):
        (home / "config" / "config.yaml").unlink(missing_ok=True)
        (home / name).write_text("mine")
        with pytest.raises(FileError, match="is not an empty folder"):
            write_workflow(home)
        assert (home / name).read_text() == "mine"
        (home / "mine.txt").unlink(missing_ok=True)


SNAKEMAKE = """
import os, pathlib, signal, sys, time
pathlib.Path("results").mkdir(exist_ok=True)
old = pathlib.Path("results", "stopped").exists()
def stop(*_):
    time.sleep(0.2)  # ends its jobs
    pathlib.Path("results", "stopped").write_text("")
    sys.exit(1)
signal.signal(signal.SIGTERM, stop)
pathlib.Path("results", "started").write_text("")
while not old:
    time.sleep(0.01)
"""


def test_a_stopped_demo_lets_snakemake_end_and_goes_on(tmp_path):
    (tmp_path / "snakemake.py").write_text(SNAKEMAKE)
    home = tmp_path / "demo"
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "seqkern.cli.main", "demo", str(home)]
    options = {"env": {**os.environ, "PYTHONPATH": paths}, "stderr": subprocess.PIPE, "text": True}
    demo = subprocess.Popen(command, **options)
    while demo.poll() is None and not (home / "results" / "started").exists():
        time.sleep(0.01)
    demo.terminate()
    assert demo.communicate(timeout=60)[1] == "seqkern: terminated; repeat the command to resume\n"
    assert demo.returncode == 143
    assert (home / "results" / "stopped").exists()
    again = subprocess.run(command, **options, check=False)
    assert (again.returncode, again.stderr) == (0, "")


@pytest.mark.parametrize("change", ["file", "configuration", "missing"])
def test_only_an_unchanged_demo_goes_on(tmp_path, capsys, change):
    write_workflow(tmp_path)
    for name in ("results", "logs", ".snakemake"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text("")
    assert is_demo(tmp_path)
    if change == "file":
        (tmp_path / "mine.txt").write_text("")
    elif change == "configuration":
        (tmp_path / "config" / "config.yaml").write_text("study: mine\n")
    else:
        (tmp_path / "workflow" / "Snakefile").unlink()
    assert main(["demo", str(tmp_path)]) == 1
    assert "is not an empty folder" in capsys.readouterr().err
