"""The demo, killed at random moments and continued: ``python tests/faults/rounds.py --study``."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

REPORT = Path("results/demo/report")
COSTS = {"costs.tsv"}
"""What holds CPU seconds, which vary."""


def run(folder: Path, seconds: float | None = None) -> float | None:
    """Run or continue the demo; return the seconds it took, or None if SIGKILL ended all its processes before."""
    command = [sys.executable, "-c", "from seqkern.cli.main import main; raise SystemExit(main())", "demo", str(folder)]
    started = time.monotonic()
    with (
        open(folder.with_suffix(".log"), "ab") as log,
        subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True) as process,
    ):
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None
    if code:
        raise RuntimeError(f"exit {code}: {folder.with_suffix('.log').read_text()[-3000:]}")
    return time.monotonic() - started


def made(folder: Path) -> dict[str, bytes]:
    """Return the page and the tables of the report."""
    report = folder / REPORT
    found = [path for path in sorted(report.rglob("*")) if path.is_file() and path.name not in COSTS]
    return {str(path.relative_to(report)): path.read_bytes() for path in found}


def killed_study(home: Path, times: int, draw: random.Random) -> int:
    """Kill the demo `times` times; print what differs from an undisturbed run, and return how many files do."""
    seconds = run(home / "undisturbed")
    assert seconds is not None
    wanted, kills = made(home / "undisturbed"), 0
    while kills < times:
        moment = draw.uniform(1, seconds * 0.6)
        if run(home / "killed", moment) is not None:
            break  # it was complete before
        kills += 1
        print(f"killed after {moment:.1f} of {seconds:.1f} s", flush=True)
    run(home / "killed")
    left = made(home / "killed")
    different = sorted(name for name in wanted.keys() | left.keys() if wanted.get(name) != left.get(name))
    print(
        f"demo\tSIGKILL\t{kills} of {times} times\t{len(wanted)} files\t{len(different)} different",
        *different,
        sep="\t",
    )
    return len(different) + (kills < times) + ("index.html" not in wanted)
