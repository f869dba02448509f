"""The record of speeds in ``benchmarks/history``: add to it, or compare this version with the latest of this processor.

Both run ``short_jobs.py`` by pytest-benchmark. A ratio to the record is divided by that of the slower yardstick, so
that a busy machine is not taken for a slow program. A job that takes 1.3 times as long as in the record is a warning;
the exit status is 0.

Run it by: ``python benchmarks/history.py record`` or ``… check``.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from machine import processor

HERE = Path(__file__).resolve().parent
RECORDS = HERE / "history"
SLOWER = 1.3
KEPT = ("min", "max", "mean", "median", "stddev", "rounds")


def measure():
    """Return what pytest-benchmark writes about this version, without the name of the machine and single rounds."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "speeds.json"
        options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--benchmark-timer=time.process_time"]
        command = [sys.executable, "-m", "pytest", *options, f"--benchmark-json={file}", HERE / "short_jobs.py"]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(command, cwd=HERE, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{done.stdout}\n{done.stderr}")
        found = json.loads(file.read_text(encoding="utf-8"))
    jobs = {
        entry["name"].removeprefix("test_"): {key: entry["stats"][key] for key in KEPT} for entry in found["benchmarks"]
    }
    return {
        "datetime": found["datetime"],
        "commit": found["commit_info"]["id"],
        "processor": processor(),
        "python": found["machine_info"]["python_version"],
        "jobs": jobs,
    }


def latest(name):
    """Return the latest record of a processor, or None."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in RECORDS.glob("*.json")]
    return max((one for one in records if one["processor"] == name), key=lambda one: one["datetime"], default=None)


def slower(now, before):
    """Return how many times as long as in the record each job takes, relative to the slower yardstick."""
    times = {
        name: now["jobs"][name]["median"] / stats["median"]
        for name, stats in before["jobs"].items()
        if name in now["jobs"]
    }
    machine = max(times.pop(name) for name in list(times) if name.startswith("yardstick"))
    return {name: ratio / machine for name, ratio in times.items()}


def record():
    """Write a record, named by its date and commit."""
    now = measure()
    RECORDS.mkdir(exist_ok=True)
    path = RECORDS / f"{now['datetime'][:10]}-{now['commit'][:10]}.json"
    path.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    print(path)


def check():
    """Print warnings about jobs that have become slower."""
    before = latest(processor())
    if before is None:
        print(f"no record of {processor()}: nothing to compare with; python benchmarks/history.py record writes one")
        return
    ratios = slower(measure(), before)
    sign = "::warning::" if "GITHUB_ACTIONS" in os.environ else "warning: "
    for name, ratio in ratios.items():
        if ratio >= SLOWER:
            print(f"{sign}{name} takes {ratio:.2f} times as long as at {before['commit'][:10]}")
    print(
        f"{len(ratios)} jobs compared with {before['commit'][:10]}; the slowest takes {max(ratios.values()):.2f} times"
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["record"]:
        record()
    elif sys.argv[1:] == ["check"]:
        check()
    else:
        sys.exit(__doc__)
