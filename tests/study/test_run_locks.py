"""The locks of killed runs are removed, those of living ones and of other hosts are not."""

import json
import os
import subprocess
import sys

import pytest

from seqkern.study import workflow
from seqkern.study.workflow import TOKEN, free_study, record_locks, remove_dead_locks

pytest.importorskip("fcntl")
pytest.importorskip("psutil")
STUDY = "results/tiny"


@pytest.fixture
def killed(tmp_path):
    """Return the lock and the folder of records of a run that is killed."""
    lock, folder = tmp_path / "0.output.lock", tmp_path / "seqkern"
    lock.write_text("results/tiny/a.tsv\n")
    start = "import os; from seqkern.study.workflow import *; name_run()\n"
    end = f"record_locks([{str(lock)!r}], {STUDY!r}, {str(folder)!r})\nos.kill(os.getpid(), 9)"
    assert subprocess.run([sys.executable, "-c", start + end], check=False).returncode == -9
    assert lock.exists()
    assert len(list(folder.iterdir())) == 1
    return lock, folder


def changed(folder, **values):
    """Change what a record says, and return it."""
    path = next(folder.iterdir())
    record = {**json.loads(path.read_text()), **values}
    path.write_text(json.dumps(record))
    return record


def test_the_locks_of_a_killed_run_are_removed_whatever_runs_next(killed):
    lock, folder = killed
    assert remove_dead_locks("results/another", folder) is None
    assert not lock.exists()
    assert not list(folder.iterdir())


def test_a_living_run_keeps_its_locks(tmp_path, monkeypatch):
    lock, folder = tmp_path / "0.output.lock", tmp_path / "seqkern"
    lock.write_text("results/tiny/a.tsv\n")
    monkeypatch.setenv(TOKEN, "living")
    record_locks([lock], STUDY, folder)
    try:
        assert remove_dead_locks(STUDY, folder) is None
        assert lock.exists()
        assert (folder / "living.json").exists()
    finally:
        workflow._held.pop().close()


def test_a_later_lock_of_the_same_name_stays(killed):
    lock, folder = killed
    lock.unlink()
    lock.write_text("of a run of another workflow\n")
    os.utime(lock, ns=(0, 0))
    assert remove_dead_locks(STUDY, folder) is None
    assert lock.exists()
    assert not list(folder.iterdir())


def test_living_jobs_of_a_killed_run_keep_its_locks(killed, monkeypatch):
    lock, folder = killed
    token = changed(folder)["token"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    job = subprocess.Popen(["cat"], env={**os.environ, TOKEN: token}, bufsize=0, **pipes)
    try:
        job.stdin.write(b"\n")
        assert job.stdout.readline() == b"\n"  # the environment of a process that is just starting cannot be read
        monkeypatch.setattr(sys, "argv", ["snakemake", "--cores", "1"])
        with pytest.raises(SystemExit, match=rf"^seqkern: a killed run has left jobs .*: kill {job.pid}$"):
            free_study(STUDY, folder)
        assert lock.exists()
        assert remove_dead_locks("results/another", folder) is None
        monkeypatch.setattr(sys, "argv", ["snakemake", "--unlock"])
        free_study(STUDY, folder)
    finally:
        job.communicate()
    free_study(STUDY, folder)
    assert not lock.exists()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"host": "other"}, "host other"),
        ({"processes": "pid:[1]"}, "in another container"),
        ({"local": False}, "squeue --me"),
    ],
)
def test_what_cannot_be_seen_from_here_is_left_with_one_line(killed, values, said):
    lock, folder = killed
    changed(folder, **values)
    line = remove_dead_locks(STUDY, folder)
    assert said in line
    assert "--unlock" in line
    assert "\n" not in line
    assert lock.exists()
    lock.unlink()  # by snakemake --unlock
    assert remove_dead_locks(STUDY, folder) is None
    assert not list(folder.iterdir())


def test_a_damaged_record_is_left_alone(killed):
    lock, folder = killed
    next(folder.iterdir()).write_text("[]")
    assert remove_dead_locks(STUDY, folder) is None
    assert lock.exists()
