"""Progress without a terminal: lines about what is done, at intervals of a clock that tests turn."""

import multiprocessing
import os
import re
import subprocess
import sys
import threading
import time

import pytest

from seqkern.core import progress
from seqkern.core.progress import ProgressLog, Task


class Clock:
    """Seconds that pass only when a test says so."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def lines(monkeypatch, capsys):
    """Report every hundredth of a second, and return what was written."""
    monkeypatch.setattr(progress, "INTERVAL", 0.01)
    return lambda: sys.stderr.getvalue().splitlines()


def wait_for(lines, words):
    """Return the first line with some words."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        found = [line for line in lines() if words in line]
        if found:
            return found[0]
        time.sleep(0.005)
    raise AssertionError(f"{words!r} not in {lines()}")


def test_a_line_tells_what_is_done_and_left():
    clock = Clock()
    log = ProgressLog(clock)
    folds = log.begin("folds", total=10)
    clock.now = 90.0
    log.update(folds, 3)
    inner = log.begin("training", " passes")
    log.update(inner, 1200)
    clock.now = 100.0
    line = log.line()
    assert line.startswith("seqkern: folds: 3 of 10 (30%), about 3 min 53 s left; training: 1,200 passes; 1 min 40 s")
    assert re.search(r" [MG]B in use$", line)
    log.end(inner)
    log.update(folds, 10)
    assert "folds" not in log.line()  # done


def test_what_was_found_finished_does_not_count_as_speed():
    task = Task("folds", "", 100, began=0.0)
    task.update(50, now=0.1)
    task.update(60, now=100.1)
    assert task.text(now=100.1) == "folds: 60 of 100 (60%), about 6 min 40 s left"


def test_a_new_pass_begins():
    task = Task("read", " records", 10, began=0.0)
    task.update(8, now=10.0)
    task.update(2, now=20.0)
    assert task.text(now=30.0) == "read: 2 of 10 records (20%)"
    task.update(4, now=40.0)
    assert task.text(now=40.0) == "read: 4 of 10 records (40%), about 1 min left"


def test_a_job_without_a_terminal_writes_lines(lines):
    with progress.reporting():
        for item in progress.progress_bar(range(4), "folds"):
            if item == 2:
                assert "(50%)" in wait_for(lines, "folds: 2 of 4")
    count = len(lines())
    time.sleep(0.05)
    assert len(lines()) == count  # the job is over


def test_a_task_that_counts_nothing_yet_is_named(lines):
    with progress.reporting(), progress.progress_counter("kernel", " entries"):
        wait_for(lines, "seqkern: kernel; ")


def test_a_short_job_writes_nothing(capsys):
    with progress.reporting():
        assert list(progress.progress_bar("ab", "folds")) == ["a", "b"]
    assert capsys.readouterr().err == ""


def test_a_library_writes_nothing(lines):
    with progress.progress_counter("kernel") as show:
        assert show is None
    assert list(progress.progress_bar("ab", "folds")) == ["a", "b"]
    assert not lines()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
def test_a_fork_has_no_second_thread_and_writes_nothing(lines):
    with progress.reporting(), progress.progress_counter("permutations") as show:
        wait_for(lines, "permutations")
        process = multiprocessing.get_context("fork").Process(target=_check_silent)
        process.start()
        process.join()
        assert process.exitcode == 0
        before = len(lines())
        show(1)  # goes on in the parent
        wait_for(lambda: lines()[before:], "permutations: 1;")


def _check_silent():
    before = len(sys.stderr.getvalue())
    assert threading.active_count() == 1
    for _ in progress.progress_bar(range(2), "folds"):
        time.sleep(0.05)
    assert threading.active_count() == 1
    assert len(sys.stderr.getvalue()) == before


def test_a_verb_reports_and_its_output_stays(tmp_path):
    """The command line, where a line is due each hundredth of a second: standard output is that of a silent run."""
    fasta = tmp_path / "a.fasta"
    fasta.write_text("".join(f">r{i}\n{'ACGT' * 5}{'ACGT'[i % 4] * i}\n" for i in range(40)))
    command = ["gram", str(fasta), "--kernel", "spectrum:k=3", "--spectrum"]
    code = "import sys; from seqkern.core import progress; progress.INTERVAL = {}; from seqkern.cli.main import main"
    code += "; sys.exit(main(sys.argv[1:]))"
    done = [
        subprocess.run([sys.executable, "-c", code.format(seconds), *command], capture_output=True, text=True)
        for seconds in (0.01, 30)
    ]
    assert done[0].stdout == done[1].stdout
    assert done[1].stderr == ""
    assert "MB in use" in done[0].stderr
