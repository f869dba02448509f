"""The workflow in a folder of its own: what `seqkern init` and `seqkern demo` write, and that Snakemake runs it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import warm
import yaml
from conftest import ROOT

from seqkern.cli.main import main
from seqkern.core.errors import FileError
from seqkern.study import Study
from seqkern.study.workflow import SNAKEFILE, is_demo, write_study_folder


def written(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_study_refers_to_the_installed_workflow(tmp_path):
    path = write_study_folder(tmp_path / "new")
    assert written(tmp_path / "new") == {"README.md", "Snakefile", "config/config.yaml", "profiles/default/config.yaml"}
    assert path.read_bytes() == (ROOT / "config" / "config.yaml").read_bytes()
    assert Study.load(path).name == "demo"
    lines = [line for line in (tmp_path / "new" / "Snakefile").read_text().splitlines() if line]
    assert str(ROOT) not in "".join(lines)
    assert Path(SNAKEFILE).samefile(ROOT / "workflow" / "Snakefile")


def test_a_profile_for_a_cluster_is_copied_on_request(tmp_path, capsys):
    assert main(["init", str(tmp_path / "mine"), "--profile", "slurm"]) == 0
    copied = tmp_path / "mine" / "profiles" / "slurm" / "config.yaml"
    assert copied.read_bytes() == (ROOT / "profiles" / "slurm" / "config.yaml").read_bytes()
    assert (tmp_path / "mine" / "profiles" / "default" / "config.yaml").is_file()
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == f"edit {copied}: enter partition and account"
    assert lines[2].endswith("mine && snakemake --workflow-profile profiles/slurm")


@pytest.mark.parametrize("name", ["file", "folder"])
def test_only_an_empty_folder_is_written_to(tmp_path, name):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("mine")
    with pytest.raises(FileError, match="not an empty folder"):
        write_study_folder(tmp_path / name)
    assert written(tmp_path) == {"file", "folder/file"}


def test_init_leaves_a_study_to_fill_in(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["init", "my study"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "my study/config/config.yaml: enter your FASTA files",
        "then run: cd 'my study' && snakemake --cores all",
        "the report will be my study/results/report/index.html",
    ]
    study = Study.load(tmp_path / "my study" / "config" / "config.yaml")
    assert (study.name, study.results) == ("my_study", "results")
    assert main(["init", "my study"]) == 1
    assert "is not an empty folder" in capsys.readouterr().err


def fasta(path, motif, n):
    """Write n different sequences with a motif."""
    letters = ["".join("ACGT"[(i * (j + 3) + j * j) % 4] for j in range(20 + i % 3)) for i in range(n)]
    path.write_text("".join(f">{path.stem}{i}\n{text}{motif}\n" for i, text in enumerate(letters)))


@pytest.mark.parametrize(
    ("line", "entry", "positive", "k"),
    [
        (["a.fa", "b.fa"], {"fasta": {"a": "../a.fa", "b": "../b.fa"}}, "a", 5),
        (["few.fa", "{home}/b.fa"], {"fasta": {"few": "../few.fa", "b": "{home}/b.fa"}}, "few", 3),
        (
            ["all.fa", "--labels", "header", "--label-field", "kind", "--unknown", "error"],
            {"fasta": ["../all.fa"], "labels": {"label": "kind", "from": "header"}, "unknown": "error"},
            "case",
            5,
        ),
    ],
)
def test_init_refers_to_the_files_and_chooses_folds_that_suit_them(
    tmp_path, monkeypatch, capsys, line, entry, positive, k
):
    monkeypatch.chdir(tmp_path)
    for name, motif, n in (("a", "GATA", 12), ("b", "CCCC", 20), ("few", "GATA", 7)):
        fasta(tmp_path / f"{name}.fa", motif, n)
    texts = [(tmp_path / f"{name}.fa").read_text() for name in "ab"]
    labelled = [text.replace("\n", f" kind={i}\n") for text, i in zip(texts, ("case", "control"), strict=True)]
    lines = "".join(labelled).splitlines()
    (tmp_path / "all.fa").write_text("".join(f"{one if one[0] == '>' else one.split()[0]}\n" for one in lines))
    assert main(["init", "mine", *(word.format(home=tmp_path) for word in line)]) == 0, capsys.readouterr().err
    assert f"positive class: {positive})" in capsys.readouterr().out
    study = yaml.safe_load((tmp_path / "mine" / "config" / "config.yaml").read_text())
    (found,) = study["datasets"].values()
    assert found.pop("folds") == {"method": "stratified", "k": k}
    assert found == yaml.safe_load(str(entry).replace("{home}", str(tmp_path)))
    assert next(iter(study)) == "format"
    assert next(iter(study["kernels"])) == "auto"
    monkeypatch.chdir(tmp_path / "mine")
    Study.parse(study).check_files()


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (["a.fa"], "a.fa: no labels given; "),
        (["a.fa", "typo.fa"], "typo.fa: no such file"),
        (["a.fa", "a.fa"], "a.fa"),
        (["-", "a.fa"], "a study cannot read standard input"),
    ],
)
def test_init_refuses_bad_files_before_it_writes(tmp_path, monkeypatch, capsys, files, told):
    monkeypatch.chdir(tmp_path)
    fasta(tmp_path / "a.fa", "GATA", 12)
    assert main(["init", "mine", *files]) == 1
    assert capsys.readouterr().err.startswith(f"seqkern: {told}")
    assert not (tmp_path / "mine").exists()


def test_a_run_in_the_folder_shows_its_progress_its_main_finding_and_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, motif in (("a", "GATAGATA"), ("b", "CCCCACCC")):
        fasta(tmp_path / f"{name}.fa", motif, 12)
    assert main(["init", "mine", "a.fa", "b.fa"]) == 0
    path = tmp_path / "mine" / "config" / "config.yaml"
    path.write_text(path.read_text().replace("  auto: {kernel: auto}", "  one: {kernel: spectrum, k: 1}"))
    done = warm.snakemake(["--cores", "2"], tmp_path / "mine")
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert [line for line in lines if "of 10 jobs" not in line] == lines[:2]
    assert "9 of 10 jobs (90" in done.stderr
    *findings, last = done.stdout.splitlines()
    assert last == "The report is in results/report/index.html"
    assert len(findings) == 1
    assert findings[0].startswith("sequences: ")
    assert (tmp_path / "mine" / "results" / "report" / "index.html").is_file()
    (log,) = (tmp_path / "mine" / ".snakemake" / "log").iterdir()
    assert "rule report:" in log.read_text()
    assert main(["compare", "mine/results"]) == 0


def test_a_failed_job_is_two_lines_and_the_others_go_on(tmp_path):
    write_study_folder(tmp_path, config=(ROOT / ".test" / "config" / "config.yaml").read_text())
    path = tmp_path / "config" / "config.yaml"
    study = yaml.safe_load(path.read_text())
    study["kernels"]["long"] = {"kernel": "spectrum", "k": 90}
    path.write_text(yaml.safe_dump(study))
    done = warm.snakemake(["--cores", "2"], tmp_path)
    assert done.returncode == 1
    told = [line for line in done.stderr.splitlines() if "long" in line or "k=90" in line]
    assert told[0] == "failed: gram donors long; log: logs/smallest/gram/donors/long.log"
    assert told[1].startswith("seqkern: results/smallest/datasets/donors: record ")
    assert len(told) == 2
    assert list((tmp_path / "results/smallest/evaluate/donors/spectrum3").rglob("metrics.tsv"))


def test_snakemake_finds_the_demo_there(tmp_path):
    assert main(["init", "--demo", str(tmp_path / "demo")]) == 0
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--dry-run", "--quiet", "all"]
    subprocess.run(command, cwd=tmp_path / "demo", check=True, capture_output=True)


def test_an_interrupted_init_is_repeated_and_nothing_of_the_user_is_taken_for_it(tmp_path):
    whole, home = tmp_path / "whole" / "study", tmp_path / "study"
    write_study_folder(whole)
    write_study_folder(home)
    (home / "config" / "config.yaml").unlink()
    (home / "README.md").rename(home / ".README.md.x1y2.tmp")
    write_study_folder(home)
    files = {path.relative_to(home): path.read_bytes() for path in home.rglob("*") if path.is_file()}
    assert all((whole / name).read_bytes() == data for name, data in files.items())
    assert len(files) == sum(path.is_file() for path in whole.rglob("*"))
    for name in ("mine.txt", "Snakefile"):
        (home / "config" / "config.yaml").unlink(missing_ok=True)
        (home / name).write_text("mine")
        with pytest.raises(FileError, match="is not an empty folder"):
            write_study_folder(home)
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
    write_study_folder(tmp_path)
    for name in ("results", "logs", ".snakemake"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text("")
    assert is_demo(tmp_path)
    if change == "file":
        (tmp_path / "mine.txt").write_text("")
    elif change == "configuration":
        (tmp_path / "config" / "config.yaml").write_text("study: mine\n")
    else:
        (tmp_path / "Snakefile").unlink()
    assert main(["demo", str(tmp_path)]) == 1
    assert "is not an empty folder" in capsys.readouterr().err
