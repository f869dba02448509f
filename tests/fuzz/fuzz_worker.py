"""Fuzz one reader in a process of its own; `fuzz_run.py` starts it, and starts it again after an input that ended it.

Counts are kept in the file `counts` of its folder, where they survive the process.
"""

import contextlib
import hashlib
import json
import mmap
import os
import random
import resource
import signal
import struct
import tempfile
import time
from pathlib import Path

LIMIT_MEMORY = 1 << 30
COUNTS = struct.Struct("qqqqqddd")
FIELDS = ("index", "inputs", "accepted", "refused", "failures", "slowest", "peak", "seconds")


class Counts:
    """Numbers in a file that is mapped into memory."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(COUNTS.size))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), COUNTS.size)
        self.values = dict(zip(FIELDS, COUNTS.unpack(self._map[:]), strict=True))

    def write(self) -> None:
        """Store the values."""
        COUNTS.pack_into(self._map, 0, *self.values.values())


class Worker:
    """The inputs of one reader, counted and judged."""

    def __init__(self, given: dict) -> None:
        from fuzz_reader import Harness
        from fuzz_readers import READERS

        self.given = given
        self.reader = READERS[given["reader"]]
        folder = Path(given["folder"])
        (folder / "files").mkdir(exist_ok=True)
        self.harness = Harness(self.reader, folder / "files")
        self.current = folder / "current"
        self.counts = Counts(folder / "counts")
        self.seeds = list(self.reader.seeds())
        self.seen: set[str] = set()
        self.output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)

    def warm_up(self) -> None:
        """Read valid inputs, so that libraries are loaded; then limit memory, and catch what is printed."""
        from fuzz_reader import FailureError

        for seed in self.seeds:
            with contextlib.suppress(FailureError):  # the first may be slow
                self.harness.one(seed)
        os.dup2(self.output, 1)
        os.dup2(self.output, 2)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + LIMIT_MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        self.base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def run(self) -> None:
        """Fuzz with the engine of `fuzz_mutator`."""
        from fuzz_mutator import mutate

        end = time.monotonic() + self.given["seconds"]
        for index in range(self.given["start"], self.given["inputs"]):
            if index >= self.given["least"] and time.monotonic() > end:
                break
            before = time.perf_counter()
            rng = random.Random((self.given["seed"] << 40) + index)
            self.one(mutate(self.seeds, rng, self.reader.form), index)
            self.counts.values["seconds"] += time.perf_counter() - before
        self.counts.write()

    def one(self, data: bytes, index: int) -> None:
        """Judge one input."""
        from fuzz_reader import FailureError

        values = self.counts.values
        values["index"] = index
        self.counts.write()
        if self.reader.own_process:
            self.current.write_bytes(data)
        before = time.perf_counter()
        try:
            try:
                values[self.harness.one(data)] += 1
                if self.given["engine"] == "own" and os.fstat(self.output).st_size:
                    text = Path(self.given["folder"], "output").read_bytes()[:200]
                    os.ftruncate(self.output, 0)
                    os.lseek(self.output, 0, os.SEEK_SET)
                    raise FailureError("prints", repr(text))
            except FailureError as error:
                values["failures"] += 1
                self.store(error, data, index)
        finally:
            values["inputs"] += 1
            values["slowest"] = max(values["slowest"], time.perf_counter() - before)
            values["peak"] = max(values["peak"], float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - self.base))
            self.counts.write()

    def store(self, error, data: bytes, index: int) -> None:
        """Keep the first input of each cause, reduced to what is needed."""
        if error.key in self.seen:
            return
        self.seen.add(error.key)
        from fuzz_minimise import minimised

        if error.kind not in ("hang", "memory"):
            data = minimised(self.harness, data, error.key)
        keep(self.given, data, index, error.kind, error.detail, error.place)


def keep(given: dict, data: bytes, index: int, kind: str, detail: str, place: str = "") -> None:
    """Store an input that failed, named by its digest, and a line about it.

    Parameters
    ----------
    given : dict
    data : bytes
    index : int
    kind, detail, place : str
    """
    folder = Path(given["findings"])
    folder.mkdir(parents=True, exist_ok=True)
    name = "".join(c if c.isalnum() else "_" for c in given["reader"])
    name = f"{name}-{hashlib.sha256(data).hexdigest()[:12]}"
    (folder / name).write_bytes(data)
    line = {"file": name, "reader": given["reader"], "seed": given["seed"], "index": index, "kind": kind}
    with (folder / "failures.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(line | {"place": place, "detail": detail}) + "\n")


def work(given: dict, log: str) -> None:
    """Run a worker in this process, which is its own.

    Parameters
    ----------
    given : dict
        The keys reader, folder, findings, seed, start, inputs, seconds, least and engine.
    log : str
        File for what is printed.
    """
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ |= {"OMP_NUM_THREADS": "1", "TMPDIR": given["folder"]}
    tempfile.tempdir = given["folder"]
    with open(log, "ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    if given["engine"] == "atheris":
        from fuzz_atheris import fuzz

        fuzz(given)
        return
    worker = Worker(given)
    worker.warm_up()
    with worker.harness.watch():
        worker.run()
