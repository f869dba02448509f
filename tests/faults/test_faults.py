"""Verbs that are stopped at some call, or whose calls fail: what is left, and what the repeated command makes of it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROUNDS = Path(__file__).resolve().parent / "rounds.py"


def disturb(*options):
    """Run rounds; return the table's rows."""
    done = subprocess.run([sys.executable, str(ROUNDS), *options], capture_output=True, text=True, check=False)
    if done.stderr.startswith("no C compiler"):
        pytest.skip("no C compiler")
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()[2:]]


@pytest.mark.skipif(sys.platform != "linux", reason="the shim is preloaded on Linux")
def test_what_is_stopped_or_fails_anywhere_is_made_by_the_repeated_command():
    faults = ["SIGKILL", "SIGTERM", "SIGINT", "ENOSPC", "EIO-write"]
    rows = disturb("--rounds", "2", "--seed", "1", "--verb", "init", "gram", "simulate", "--fault", *faults)
    counts = {tuple(row[:2]): list(map(int, row[2:])) for row in rows}
    assert len(counts) == 4 * len(faults)
    for fault in faults:
        tried, hit, *wrong = counts["all", fault]
        assert (tried, wrong) == (6, [0, 0, 0, 0])
        assert hit >= (2 if fault.startswith("SIG") else 4)  # half of the signals come at a time, not at a call
