"""Make docs/performance.md again: run the commands above each table, and put what they print below them.

A table of the page stands between a block of commands and a comment::

    ```
    python benchmarks/bench_kmers.py
    ```
    <!-- printed: 12 CPU seconds, 2026-11-23 -->
    | data | kernel | …
    <!-- end -->

The commands run from the repository's root on one thread, one after the other. Words such as ``SEQKERN_DATA=…`` before
a command name what the environment must hold; a block whose commands fail keeps its text, and is named at the end. A
block under ``<!-- printed, long: … -->`` runs with ``--long`` alone. What stands between ``<!-- machine -->`` and
``<!-- end -->`` is replaced by a description of the machine.

What a command printed is kept in ``benchmarks/results/page`` for this commit, so that a run that was stopped goes on.

Run it by: ``SEQKERN_DATA=… SEQKERN_LSGKM=… python benchmarks/run_all.py [WORD …] [--long]``; words choose the blocks
whose commands contain them.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
from common import child_seconds
from machine import WORDS, machine, processor

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "performance.md"
KEPT = ROOT / "benchmarks" / "results" / "page"
BLOCK = re.compile(
    r"^```\n(?P<commands>(?:[^`\n]+\n)+)```\n\n"
    r"<!-- printed(?P<long>, long)?: (?P<when>[^>]*) -->\n(?P<table>.*?)<!-- end -->\n",
    re.MULTILINE | re.DOTALL,
)
MACHINE = re.compile(r"<!-- machine -->\n.*?<!-- end -->\n", re.DOTALL)
PROGRAMS = ("seqkern", "benchmarks/*.py", "benchmarks/*.c")
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")}


def commit():
    """Return the last commit that changed a program, with a plus where one has changed since."""
    last = ["git", "log", "-1", "--format=%h", "--abbrev=10", "--", *PROGRAMS]
    name = subprocess.run(last, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    changed = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", *PROGRAMS], cwd=ROOT, check=False)
    return name + ("+" if changed.returncode else "")


def printed(command):
    """Run one command and return what it printed.

    Raises
    ------
    RuntimeError
        If the environment lacks what the command names, or the command fails.
    """
    words = command.split()
    while words and re.fullmatch(r"\w+=…", words[0]):
        name = words.pop(0)[:-2]
        if name not in os.environ:
            raise RuntimeError(f"{name} is not set")
    if words[0] == "python":
        words[0] = sys.executable
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}")
    return done.stdout.strip()


def of_block(commands, version):
    """Return what the commands of a block printed, and when; kept from before if this version ran them."""
    kept = KEPT / (hashlib.sha256(f"{version}\n{commands}".encode()).hexdigest()[:16] + ".md")
    if kept.is_file() and not version.endswith("+"):
        when, _, text = kept.read_text(encoding="utf-8").partition("\n")
        return when, text
    total, texts = 0.0, []
    for command in commands.splitlines():
        start = time.perf_counter()
        seconds, text = child_seconds(partial(printed, command))
        print(f"{time.perf_counter() - start:7.1f} s  {command}", file=sys.stderr, flush=True)
        total += seconds
        texts.append(text)
    when = f"{total:.0f} CPU seconds, {datetime.now(UTC):%Y-%m-%d}, {version}"
    text = "\n\n".join(text for text in texts if text) + "\n"
    KEPT.mkdir(parents=True, exist_ok=True)
    kept.write_text(f"{when}\n{text}", encoding="utf-8")
    return when, text


def description(version):
    """Return a sentence about the machine, and a table of the rates that limits come from."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    told = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    python = ".".join(map(str, sys.version_info[:2]))
    rates = "".join(f"| {WORDS[name]} | {value / 1e9:.1f} |\n" for name, value in vars(machine()).items())
    return (
        f"{processor()}, {os.cpu_count()} cores; {told}; Python {python}, NumPy {np.__version__}; commit {version},\n"
        f"{datetime.now(UTC):%Y-%m-%d}.\n\n| at best, one thread | 10⁹ a second |\n|---|---|\n{rates}"
    )


def run(words, with_long):
    """Replace the blocks of the page; return the commands that failed."""
    version, failed = commit(), []
    page = PAGE.read_text(encoding="utf-8")
    pattern = re.compile("|".join(map(re.escape, words)))
    if not words:
        page = MACHINE.sub(lambda _: f"<!-- machine -->\n{description(version)}<!-- end -->\n", page)
    for block in list(BLOCK.finditer(page)):
        commands = block["commands"]
        if not pattern.search(commands) or (block["long"] and not with_long):
            continue
        try:
            when, text = of_block(commands, version)
        except RuntimeError as error:
            failed.append(f"{commands.splitlines()[0]}: {error}")
            continue
        head = f"```\n{commands}```\n\n<!-- printed{block['long'] or ''}: {when} -->\n"
        page = page.replace(block[0], f"{head}{text}<!-- end -->\n")
        new = PAGE.with_suffix(".new")
        new.write_text(page, encoding="utf-8")
        new.replace(PAGE)
    return failed


def main():
    """Make the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="blocks whose commands contain one of these; all by default")
    parser.add_argument("--long", action="store_true", help="blocks that take long, too")
    given = parser.parse_args()
    failed = run(given.words, given.long)
    for line in failed:
        print(line, file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
