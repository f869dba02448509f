"""The progress of a stage, its cost, and durations as text."""

import contextlib
import os
import re
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from seqkern.core.archive import save_json
from seqkern.core.errors import ParameterError
from seqkern.core.file_kinds import RESULT
from seqkern.core.memory import format_bytes, process_status
from seqkern.core.package_files import build_digest

if TYPE_CHECKING:
    from seqkern.core.types import PathLike


# The cost of a stage: CPU time and memory.


def peak_mb() -> float:
    """Return the peak memory of this process so far, in MB (10^6 bytes)."""
    peak = process_status().get("VmHWM")
    if peak is None:  # only a fallback: Linux includes what the parent process used when it started this one
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return peak / 1e6


def memory_in_use() -> float:
    """Return the current memory of this process, in bytes."""
    return process_status().get("VmRSS") or peak_mb() * 1e6


def write_cost(path: "PathLike", laps: list[dict[str, Any]], **more: str) -> None:
    """Write costs as JSON, with the build, to a file of their own, because they differ from run to run."""
    save_json(path, RESULT, {"build": build_digest(), **more, "laps": laps}, indent=1)


class Clock:
    """A clock that records laps of CPU time.

    Each of `laps` has ``stage``, ``cpu_seconds`` (all threads of this process) and ``peak_mb`` (by its end).
    """

    def __init__(self) -> None:
        self.laps: list[dict[str, Any]] = []
        self.start = self._start = time.process_time()

    def lap(self, stage: str) -> None:
        """End a lap and record it under the name of a stage."""
        now = time.process_time()
        self.laps.append({"stage": stage, "cpu_seconds": now - self._start, "peak_mb": peak_mb()})
        self._start = now


# Durations: as users write them (``90s``, ``10m``, ``2h``), and as they read them.

COMMON_CORE = 2.0
"""CPU seconds of a common core for one of the core on which the constants of predictions were measured."""
SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
_DURATION = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([smh]?)\s*")


def parse_duration(text: str | float) -> float:
    """Return a duration in seconds, from a number with the unit s, m or h (default: seconds).

    >>> parse_duration("10m"), parse_duration(90)
    (600.0, 90.0)
    """
    found = _DURATION.fullmatch(str(text))
    seconds = float(found[1]) * SECONDS[found[2]] if found else 0.0
    if seconds <= 0:
        raise ParameterError(f"{text!r} is not a duration", remedy="write it as 90s, 10m or 2h")
    return seconds


def format_duration(seconds: float) -> str:
    """Return a duration in seconds as readable text, in the two largest units.

    >>> format_duration(8), format_duration(150), format_duration(7380)
    ('8 s', '2 min 30 s', '2 h 3 min')
    """
    whole = round(seconds)
    for large, small, unit, part in ((86400, 3600, "d", "h"), (3600, 60, "h", "min"), (60, 1, "min", "s")):
        if whole >= large:
            rest = whole % large // small
            return f"{whole // large} {unit}" + (f" {rest} {part}" if rest else "")
    return f"{whole} s"


# Progress on standard error: a bar on a terminal, for work of some seconds; elsewhere a line every 30 seconds.
#
# Lines are written only within `reporting`, as the command line does: a library prints nothing unasked.

# Progress of a job whose standard error is a file: one line every 30 seconds, from a separate thread.
#
# The thread ends before this process forks, because a fork with several threads may hang, and Python warns of it. It
# starts again with the next progress.

INTERVAL = 30.0
"""Seconds between lines; shorter jobs print none."""
AT_ONCE = 1.0
"""Seconds below which work was probably found finished, and so does not show the speed."""


class Task:
    """A loop or counter in progress; `done` is None before the first count."""

    def __init__(self, description: str, unit: str, total: int | None, began: float) -> None:
        self.description, self.unit, self.total, self.began = description, unit, total, began
        self.done: int | None = None
        self._start = (began, 0)  # of the part by which the speed is estimated

    def update(self, done: int, now: float) -> None:
        """Update the count; a smaller count begins a new pass."""
        if self.done is not None and done < self.done:
            self.began, self._start = now, (now, 0)
        self.done = done
        if now - self.began < AT_ONCE:
            self._start = now, done

    def text(self, now: float) -> str:
        """Return the progress as text, with the time left if it can be estimated."""
        if self.done is None:
            return self.description
        if not self.total:
            return f"{self.description}: {self.done:,}{self.unit}"
        share = f"{self.done:,} of {self.total:,}{self.unit} ({100 * self.done // self.total}%)"
        start, before = self._start
        if not before < self.done < self.total or now <= start:
            return f"{self.description}: {share}"
        left = (self.total - self.done) * (now - start) / (self.done - before)
        if left < 1:
            return f"{self.description}: {share}"
        return f"{self.description}: {share}, about {format_duration(left)} left"


class ProgressLog:
    """The tasks in progress within a job, and the thread that reports on them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._tasks: list[Task] = []
        self._lock = threading.Lock()
        self._stop: threading.Event | None = None
        self._thread: threading.Thread | None = None

    def begin(self, description: str, unit: str = "", total: int | None = None) -> "Task":
        """Return a new task, nested in those that have not ended."""
        task = Task(description, unit, total, self._clock())
        with self._lock:
            self._tasks.append(task)
        return task

    def update(self, task: "Task", done: int, total: int | None = None) -> None:
        """Update the count of a task, and its total if known by now."""
        task.total = task.total if total is None else total
        task.update(done, self._clock())

    def end(self, task: "Task") -> None:
        """End a task."""
        with self._lock:
            self._tasks.remove(task)

    def line(self) -> str:
        """Return a line with the tasks in progress, the time since the job began, and the memory in use."""
        now = self._clock()
        with self._lock:
            tasks = [task for task in self._tasks if task.done is None or task.done != task.total]
        counted = [task for task in tasks if task.done is not None] or tasks[-1:]
        spent = f"{format_duration(now - self._began)} elapsed, {format_bytes(memory_in_use())} in use"
        return f"seqkern: {'; '.join([*(task.text(now) for task in counted), spent])}"

    def start(self) -> None:
        """Start the thread unless it is running."""
        if self._thread is not None:
            return
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write, args=(self._stop,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        if self._thread is not None and self._stop is not None:
            self._stop.set()
            self._thread.join()
        self._thread = None

    def _write(self, stop: threading.Event) -> None:
        """Write a line at each interval since the job began."""
        while not stop.wait(INTERVAL - (self._clock() - self._began) % INTERVAL):
            with contextlib.suppress(OSError, ValueError):  # whoever read it has gone
                print(self.line(), file=sys.stderr, flush=True)


DELAY = 3

Item = TypeVar("Item")
Show = Callable[..., None]

_log: "ProgressLog | None" = None
_forked = False


_telling = False
_told: set[str] = set()


def tell(line: str) -> None:
    """Print a line on standard error, once, and only within `reporting`: a library prints nothing unasked.

    >>> tell("about 2 hours of one processor core are predicted")
    """
    if _telling and not _forked and line not in _told:
        _told.add(line)
        print(f"seqkern: {line}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def reporting() -> Iterator[None]:
    """Write the progress of the block to standard error every 30 seconds, unless that is a terminal."""
    global _log, _telling
    if _telling or _forked or sys.stderr is None:
        yield
        return
    _telling = True
    if not _on_terminal():
        _log = ProgressLog()
        _log.start()
    try:
        yield
    finally:
        _telling = False
        _told.clear()
        if _log is not None:
            _log.stop()
            _log = None


def progress_bar(items: "Sequence[Item]", description: str) -> "Iterator[Item]":
    """Return an iterator over a list that shows its progress.

    >>> [name.upper() for name in progress_bar(["globin", "kinase"], "families")]
    ['GLOBIN', 'KINASE']
    """
    return iter(items) if _log is None and not _on_terminal() else _counted(items, description)


def _counted(items: "Sequence[Item]", description: str) -> "Iterator[Item]":
    """Yield the items and count them."""
    with progress_counter(description) as show:
        if show is not None:
            show(0, len(items))
        for done, item in enumerate(items, start=1):
            yield item
            if show is not None:
                show(done, len(items))


@contextlib.contextmanager
def progress_counter(description: str, unit: str = "") -> "Iterator[Show | None]":
    """Show progress of work other than a loop over a list.

    The context yields ``show(done, total=None)``, both counted from the start, or None if progress is not shown.
    """
    if _log is not None:
        yield from _logged(_log, description, unit)
    elif _on_terminal():
        yield from _drawn(description, unit)
    else:
        yield None


def _logged(log: "ProgressLog", description: str, unit: str) -> "Iterator[Show]":
    """Yield a counter that reports to a log."""
    task = log.begin(description, unit)

    def _show(done: int, total: int | None = None) -> None:
        log.update(task, done, total)
        log.start()  # again, after a fork

    try:
        yield _show
    finally:
        log.end(task)


def _drawn(description: str, unit: str) -> "Iterator[Show]":
    """Yield a counter that draws a bar."""
    from tqdm import tqdm  # imported here for fast start-up

    with tqdm(desc=description, unit=unit, unit_scale=True, delay=DELAY, leave=False, file=sys.stderr) as bar:

        def _show(done: int, total: int | None = None) -> None:
            if done < bar.n:  # a new pass begins
                bar.reset()
            bar.total = total
            bar.update(done - bar.n)

        yield _show


def _on_terminal() -> bool:
    """Return whether standard error is a terminal on which this process may draw."""
    return sys.stderr is not None and sys.stderr.isatty() and not _forked


def pause() -> None:
    """End the thread of the log before a fork."""
    if _log is not None:
        _log.stop()


def _be_silent() -> None:
    """Show no progress in a forked process, since its parent counts."""
    global _forked, _log
    _forked, _log = True, None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=pause, after_in_child=_be_silent)
