"""What killed processes leave beside an output, and what other processes write there meanwhile."""

import os
import signal
import subprocess
import sys

import pytest

from seqkern.core import exclusive_files
from seqkern.core.archive import atomic_write, check_writable

WRITER = """
import os, sys, time
from seqkern.core.archive import atomic_write

with atomic_write(sys.argv[1], "w") as file:
    file.write("half")
    print("begun", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def new_process(monkeypatch):
    monkeypatch.setattr(exclusive_files, "_listed", {})


def write(path, text="x"):
    with atomic_write(path, "w") as file:
        file.write(text)


def begin(path):
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    process.stdout.readline()
    return process


def temporary(folder):
    return [path.name for path in folder.glob(".*.tmp")]


def test_what_a_killed_process_leaves_goes_and_what_a_living_one_writes_stays(tmp_path, capsys):
    killed, living = begin(tmp_path / "p.tsv"), begin(tmp_path / "p.tsv")
    assert len(temporary(tmp_path)) == 2
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    write(tmp_path / "p.tsv", "mine")
    assert len(temporary(tmp_path)) == 1
    assert living.communicate("")[0] == ""
    assert living.returncode == 0
    assert (tmp_path / "p.tsv").read_text() == "half"
    assert temporary(tmp_path) == []
    assert capsys.readouterr().err == ""


def test_what_another_file_of_a_long_name_left_stays(tmp_path):
    killed = begin(tmp_path / ("a" * 100 + "1"))
    killed.kill()
    killed.communicate()
    write(tmp_path / ("a" * 100 + "2"))
    assert len(temporary(tmp_path)) == 1


def test_files_of_others_stay(tmp_path):
    names = (".q.tsv.abcdefgh.tmp", ".p.tsv.bak.tmp", ".p.tsv.abcdefgh", "p.tsv.abcdefgh.tmp", ".p.tsv.x.abcdefgh.tmp")
    (tmp_path / "mine").write_text("mine")
    (tmp_path / ".p.tsv.linklink.tmp").symlink_to(tmp_path / "mine")
    os.mkfifo(tmp_path / ".p.tsv.fifofifo.tmp")
    for name in names:
        (tmp_path / name).write_text("")
    (tmp_path / ".p.tsv.abcdefgh.tmp").write_text("")
    write(tmp_path / "p.tsv")
    left = {path.name for path in tmp_path.iterdir()}
    assert {*names, "mine", ".p.tsv.linklink.tmp", ".p.tsv.fifofifo.tmp", "p.tsv"} <= left
    assert ".p.tsv.abcdefgh.tmp" not in left


def test_without_locks_nothing_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(exclusive_files, "fcntl", None)
    (tmp_path / ".p.tsv.abcdefgh.tmp").write_text("")
    write(tmp_path / "p.tsv")
    assert temporary(tmp_path) == [".p.tsv.abcdefgh.tmp"]


def test_a_temporary_file_that_was_removed_before_it_was_locked_is_made_anew(tmp_path, monkeypatch):
    made, lock = [], exclusive_files._lock

    def removed_first(handle):
        if not made:
            made.extend(tmp_path.glob(".*.tmp"))
            made[0].unlink()
        return lock(handle)

    monkeypatch.setattr(exclusive_files, "_lock", removed_first)
    write(tmp_path / "p.tsv", "whole")
    assert (tmp_path / "p.tsv").read_text() == "whole"
    assert len(made) == 1


@pytest.mark.parametrize("noted", [False, True])
def test_who_replaces_the_result_of_another_process_says_so(tmp_path, capsys, noted):
    path = tmp_path / "p.tsv"
    write(path, "old")
    if noted:
        check_writable(path)
        subprocess.run([sys.executable, "-c", WRITER, str(path)], input="", stdout=subprocess.DEVNULL, check=True)
    with atomic_write(path, "w") as file:
        file.write("mine")
        if not noted:
            subprocess.run([sys.executable, "-c", WRITER, str(path)], input="", stdout=subprocess.DEVNULL, check=True)
    text = "another process wrote this file while this command ran; its result is replaced"
    assert capsys.readouterr().err == f"seqkern: {path}: {text}\n"
    assert path.read_text() == "mine"
    write(path, "again")
    assert capsys.readouterr().err == ""
