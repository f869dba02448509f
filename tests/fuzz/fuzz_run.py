"""Fuzz the readers, each in a process of its own, and print a table.

    python tests/fuzz/fuzz_run.py --seconds 10
    python tests/fuzz/fuzz_run.py --readers fasta,labels --inputs 100000 --seed 7 --findings found

Ends with 1 if a reader failed: a traceback, a crash, more than 5 CPU seconds, more than 1 GB, or a message that is not
one line about the file. Such inputs are stored in the folder of `--findings`, reduced, with a line in failures.jsonl.
"""

import argparse
import importlib.util
import math
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from fuzz_worker import Counts, keep, work

STUCK = 20
"""Seconds without an input: something outside Python hangs, which the harness cannot interrupt."""
MOST_ENDS = 50
"""After so many crashes and hangs, a reader is left."""
HEADER = ("reader", "inputs", "refused", "accepted", "slowest", "memory", "failures")


class Job:
    """One reader, fuzzed by one process after another."""

    def __init__(self, name: str, args: argparse.Namespace, root: Path, engine: str) -> None:
        self.name, self.args, self.engine = name, args, engine
        self.folder = root / f"{list(args.readers).index(name)}{engine}"
        self.folder.mkdir()
        self.least = int(args.minimum * args.readers[name].weight)
        self.seconds, self.most = args.seconds, max(args.inputs, self.least)
        self.ends = 0

    def more(self, inputs: int) -> None:
        """Let the next start go on for some inputs, however long they take."""
        self.least = self.most = self.counts()["index"] + 1 + inputs

    def begin(self) -> None:
        """Start where the job has stopped."""
        self.end = time.monotonic() + self.seconds
        self.start(self.counts()["index"] + 1 if (self.folder / "counts").exists() else 0)

    def start(self, index: int) -> None:
        """Start a process at an input."""
        self.given = {
            "reader": self.name,
            "folder": str(self.folder),
            "findings": str(self.args.findings),
            "seed": self.args.seed,
            "start": index,
            "inputs": self.most,
            "least": self.least,
            "seconds": max(0.0, self.end - time.monotonic()),
            "engine": self.engine,
        }
        self.log = self.folder / "log"
        # atheris instruments seqkern while it is imported; otherwise a fork has imported everything already
        context = multiprocessing.get_context("spawn" if self.engine == "atheris" else "fork")
        self.process = context.Process(target=work, args=(self.given, str(self.log)))
        self.process.start()
        self.seen, self.since = (-1, -1), time.monotonic()

    def poll(self) -> bool:
        """Return whether the job has ended; restart its process after a crash or a hang."""
        code = self.process.exitcode
        counts = self.counts()
        if code is None:
            now = counts["index"], counts["inputs"]
            if now != self.seen:
                self.seen, self.since = now, time.monotonic()
            if time.monotonic() - self.since < STUCK + 40 * (counts["inputs"] == 0):
                return False
            self.process.kill()
            self.process.join()
            return self.ended(counts, "hang", f"no answer in {STUCK} s")
        if code == 0:
            return True
        if counts["inputs"] == 0 and counts["index"] == 0 and code > 0:  # it did not even start
            raise RuntimeError(f"{self.name}: {self.log.read_text(errors='replace')[-2000:]}")
        return self.ended(counts, "crash", f"exit code {code}")

    def ended(self, counts: dict, kind: str, detail: str) -> bool:
        """Store the input that ended a process, and start another; return whether it was one too many."""
        current = self.folder / "current"
        inputs = sorted((self.folder / "files").iterdir()) if not current.exists() else [current]
        data = max(inputs, key=lambda path: path.stat().st_mtime_ns).read_bytes() if inputs else b""
        keep(self.given, data, counts["index"], kind, detail)
        store = Counts(self.folder / "counts")
        store.values["failures"] += 1
        store.values["inputs"] += counts["inputs"] == store.values["inputs"]
        store.write()
        self.ends += 1
        enough = counts["index"] + 1 >= self.least and time.monotonic() > self.end
        if self.ends >= MOST_ENDS or enough:
            return True
        self.start(counts["index"] + 1)
        return False

    def counts(self) -> dict:
        """Return the counts so far."""
        return Counts(self.folder / "counts").values


def fuzz(args: argparse.Namespace) -> int:
    """Fuzz; return the number of failures.

    Parameters
    ----------
    args : Namespace

    Returns
    -------
    int
    """
    both = {"both": ("own", "atheris")}.get(args.engine, (args.engine,))
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    root = Path(tempfile.mkdtemp(prefix="fuzz", dir=shared))
    before = time.monotonic()
    jobs = [Job(name, args, root, engine) for name in args.readers for engine in both]
    try:
        try:
            run(jobs, args.jobs)
            run(shared_out(jobs, args.inputs_in_all), args.jobs)
        except (KeyboardInterrupt, SystemExit):
            print("stopped before the end")
        return report(jobs, time.monotonic() - before, args)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def run(jobs: Sequence[Job], together: int) -> None:
    """Run jobs, some at a time.

    Parameters
    ----------
    jobs : sequence of Job
    together : int
    """
    waiting, running = list(jobs), []
    try:
        while waiting or running:
            while waiting and len(running) < together:
                running.append(waiting.pop(0))
                running[-1].begin()
            running = [job for job in running if not job.poll()]
            time.sleep(0.05)
    finally:
        for job in running:
            job.process.kill()
            job.process.join()


def shared_out(jobs: Sequence[Job], inputs: int) -> list[Job]:
    """Return the jobs that go on until there are so many inputs in all: time by speed, so inputs by its square.

    Parameters
    ----------
    jobs : sequence of Job
        All have run.
    inputs : int

    Returns
    -------
    list of Job
    """
    counts = [job.counts() for job in jobs]
    missing = inputs - sum(one["inputs"] for one in counts)
    squares = [
        (one["inputs"] / max(one["seconds"], 1e-9)) ** 2 * (job.ends < MOST_ENDS)
        for job, one in zip(jobs, counts, strict=True)
    ]
    going = []
    for job, square in zip(jobs, squares, strict=True):
        more = math.ceil(missing * square / sum(squares))
        if more > 0:
            job.more(more)
            going.append(job)
    return going


def report(done: Sequence[Job], seconds: float, args: argparse.Namespace) -> int:
    """Print the table, and return the number of failures.

    Parameters
    ----------
    done : sequence of Job
    seconds : float
    args : Namespace

    Returns
    -------
    int
    """
    sums = dict.fromkeys(("inputs", "refused", "accepted", "failures"), 0)
    slowest, peak = 0.0, 0.0
    rows = []
    for name in args.readers:
        several = [job.counts() for job in done if job.name == name and (job.folder / "counts").exists()]
        if not several:  # not reached
            continue
        own = {key: sum(one[key] for one in several) for key in sums}
        worst, most = max(one["slowest"] for one in several), max(one["peak"] for one in several) / 1024
        slowest, peak = max(slowest, worst), max(peak, most)
        sums = {key: sums[key] + own[key] for key in sums}
        rows.append(
            [name, own["inputs"], own["refused"], own["accepted"], f"{worst:.2f} s", f"{most:.0f} MB", own["failures"]]
        )
    rows.append(
        [
            "all",
            sums["inputs"],
            sums["refused"],
            sums["accepted"],
            f"{slowest:.2f} s",
            f"{peak:.0f} MB",
            sums["failures"],
        ]
    )
    widths = [max(len(f"{row[i]}") for row in [HEADER, *rows]) for i in range(len(HEADER))]
    for row in [HEADER, *rows]:
        cells = [
            f"{cell:<{w}}" if i == 0 else f"{cell:>{w}}" for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells))
    print(f"{seconds:.0f} s, seed {args.seed}; memory: what the inputs added to the process's largest")
    if sums["failures"]:
        print(f"inputs that failed are in {args.findings}")
    return int(sums["failures"])


def main() -> int:
    """Run the command line.

    Returns
    -------
    int
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readers", help="names, between commas and not followed by a blank (default: all)")
    parser.add_argument("--seconds", type=float, default=10, help="for each reader and engine (default: 10)")
    parser.add_argument("--inputs", type=int, default=1 << 40, help="at most, for each reader and engine")
    parser.add_argument(
        "--minimum",
        type=int,
        default=0,
        help="inputs of each reader, however long they take; 2.5 times for models and data sets",
    )
    parser.add_argument(
        "--inputs-in-all", type=int, default=0, help="go on to this number, the faster readers with more inputs"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time (default: 1)")
    parser.add_argument(
        "--seed", type=int, default=1, help="the same seed gives the same inputs, but for atheris (default: 1)"
    )
    parser.add_argument("--engine", choices=("own", "atheris", "both"), default="own", help="default: own")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"), help="folder (default: fuzz-findings)")
    args = parser.parse_args()
    from fuzz_readers import (
        READERS,
    )  # not above: a process of atheris imports this module, and then instruments seqkern

    names = args.readers.replace(", ", "\0").split(",") if args.readers else list(READERS)
    names = [name.replace("\0", ", ") for name in names]
    unknown = [name for name in names if name not in READERS]
    if unknown:
        parser.error(f"unknown reader {unknown[0]!r}; choose from: {'; '.join(READERS)}")
    args.readers = {name: READERS[name] for name in names}
    if args.engine != "own" and importlib.util.find_spec("atheris") is None:
        parser.error("atheris is not installed: pip install atheris, or use --engine own")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # which ends the workers, too
    return 1 if fuzz(args) else 0


if __name__ == "__main__":
    sys.exit(main())
