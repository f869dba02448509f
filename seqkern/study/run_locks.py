"""The locks that Snakemake leaves in ``.snakemake/locks`` when it is killed: removed when nothing of that run lives.

Snakemake does not note whose its locks are. So the Snakefile notes it: a run writes the files of its locks to
``.snakemake/seqkern/TOKEN.json``, and locks this record as long as it lives. Its jobs have the token in their
environment.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import platform
import sys
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from seqkern.core.types import PathLike

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

TOKEN = "SEQKERN_RUN"
"""The environment variable of a run's jobs."""

_held: list[IO[str]] = []  # locked until this process ends


def name_run() -> None:
    """Give this run a token, which its jobs inherit."""
    os.environ[TOKEN] = uuid.uuid4().hex


def record_locks(locks: Iterable[PathLike], results: str, folder: PathLike, *, local: bool = True) -> None:
    """Record which locks of Snakemake belong to this run; without effect where files cannot be locked.

    Parameters
    ----------
    locks : iterable of path-like
        Snakemake's lock files.
    results : str
        Where the run writes, which names the study.
    folder : path-like
        Where the record is written, under the token of `name_run`.
    local : bool
        Whether its jobs run on this host.

    Examples
    --------
    >>> record_locks([], "results/demo", ".snakemake/seqkern")
    """
    with contextlib.suppress(OSError):  # without a record, Snakemake's own message stays
        stamps = {os.fspath(lock): _stamp(lock) for lock in locks}
        if not stamps or fcntl is None:
            return
        token = os.environ[TOKEN]
        path, hidden = Path(folder) / f"{token}.json", Path(folder) / f".{token}"
        Path(folder).mkdir(parents=True, exist_ok=True)
        file = hidden.open("w", encoding="utf-8")
        _held.append(file)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        place = {"host": platform.node(), "processes": _processes_seen()}
        json.dump({**place, "token": token, "results": results, "local": local, "locks": stamps}, file)
        file.flush()
        hidden.replace(path)  # visible only when locked and complete
        atexit.register(path.unlink, missing_ok=True)


def remove_dead_locks(results: str, folder: PathLike) -> str | None:
    """Remove the locks of killed runs on this host of which no job is left.

    Parameters
    ----------
    results : str
        Where the new run writes.
    folder : path-like
        Where `record_locks` has written.

    Returns
    -------
    str or None
        One line that says what to do where a killed run of this study keeps its locks, because it may have living jobs.

    Examples
    --------
    >>> remove_dead_locks("results/demo", "missing/seqkern") is None
    True
    """
    said = None
    for path in sorted(Path(folder).glob("*.json")):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError), _owner_gone(path) as record:
            locks = [lock for lock, stamp in record["locks"].items() if _is(lock, stamp)]
            jobs = _living_jobs(record) if locks else None
            if jobs is None:
                for lock in locks:
                    os.unlink(lock)
                path.unlink()
            elif record["results"] == results:
                said = jobs
    return said


@contextlib.contextmanager
def _owner_gone(path: Path) -> Iterator[dict[str, Any]]:
    """Yield a run's record, locked against other starters; raise BlockingIOError if the run or a starter has it."""
    with path.open(encoding="utf-8") as file:
        if fcntl is None:
            raise BlockingIOError
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(file.fileno()).st_ino != path.stat().st_ino:
            raise BlockingIOError
        yield json.load(file)


def _living_jobs(record: dict[str, Any]) -> str | None:
    """Return what to do about jobs of a killed run that may be living; None if there are none."""
    unlock = "then add --unlock once"
    if (record["host"], record["processes"]) != (platform.node(), _processes_seen()):
        where = f"on host {record['host']}" if record["host"] != platform.node() else "in another container"
        return f"a run {where} has not released this study; if it was killed, stop its jobs, {unlock}"
    if not record["local"]:
        return f"a killed run may have jobs in the queue; cancel them (on SLURM: squeue --me, scancel), {unlock}"
    try:
        jobs = _processes_of(record["token"])
    except ImportError:
        return f"a run was killed; stop its jobs, {unlock}"
    if not jobs:
        return None
    return (
        f"a killed run has left jobs that still work; wait for them, or end them with: kill {' '.join(map(str, jobs))}"
    )


def _processes_seen() -> str:
    """Return the namespace of this process on Linux: those in another one, as of a container, are not seen here."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _processes_of(token: str) -> list[int]:
    """Return the processes that a run has started and that live."""
    import psutil  # comes with Snakemake

    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(TOKEN) == token and process.pid != os.getpid():
                found.append(process.pid)
    return found


def _stamp(lock: PathLike) -> list[int]:
    """Return what tells a lock from a later one of the same name."""
    found = os.stat(lock)
    return [found.st_ino, found.st_mtime_ns]


def _is(lock: str, stamp: list[int]) -> bool:
    """Return whether a lock is the recorded one."""
    try:
        return _stamp(lock) == stamp
    except FileNotFoundError:
        return False


def free_study(results: str, folder: PathLike) -> None:
    """Begin a run of the workflow: remove dead locks; exit with one line where a killed run may have living jobs.

    Parameters
    ----------
    results : str
        Where the new run writes.
    folder : path-like
        Where `record_locks` writes.

    Examples
    --------
    >>> free_study("results/demo", "missing/seqkern")
    """
    name_run()
    said = remove_dead_locks(results, folder)
    if said is not None and "--unlock" not in sys.argv:
        sys.exit(f"seqkern: {said}")
