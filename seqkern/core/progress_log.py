"""Progress of a job whose standard error is a file: one line each half minute, from a thread of its own.

The thread ends before this process forks: a fork of several threads may hang, and Python warns of it. It starts again
with the next progress.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable

from seqkern.core.cost import memory_in_use
from seqkern.core.duration import format_duration
from seqkern.core.memory import format_bytes

INTERVAL = 30.0
"""Seconds from line to line; shorter jobs have none."""
AT_ONCE = 1.0
"""What is done within so many seconds was found finished, and says nothing about the speed."""


class Task:
    """One loop or counter in progress.

    Parameters
    ----------
    description, unit : str
        What is counted, the unit with a space before it.
    total : int or None
        The count at the end, if known.
    began : float
        The time by the clock.

    Attributes
    ----------
    done : int or None
        The count so far; None before the first.

    Examples
    --------
    >>> task = Task("predict", " records", 400, began=0.0)
    >>> task.update(100, now=30.0)
    >>> task.text(now=30.0)
    'predict: 100 of 400 records (25 %), about 1 min 30 s left'
    """

    def __init__(self, description: str, unit: str, total: int | None, began: float) -> None:
        self.description, self.unit, self.total, self.began = description, unit, total, began
        self.done: int | None = None
        self._start = (began, 0)  # of the part by which the speed is estimated

    def update(self, done: int, now: float) -> None:
        """Count.

        Parameters
        ----------
        done : int
            From the start; a smaller count begins a new pass.
        now : float
            The time by the clock.
        """
        if self.done is not None and done < self.done:
            self.began, self._start = now, (now, 0)
        self.done = done
        if now - self.began < AT_ONCE:
            self._start = now, done

    def text(self, now: float) -> str:
        """Return what is done, and the time left if it can be estimated.

        Parameters
        ----------
        now : float
            The time by the clock.

        Returns
        -------
        str
        """
        if self.done is None:
            return self.description
        if not self.total:
            return f"{self.description}: {self.done:,}{self.unit}"
        share = f"{self.done:,} of {self.total:,}{self.unit} ({100 * self.done // self.total} %)"
        start, before = self._start
        if not before < self.done < self.total or now <= start:
            return f"{self.description}: {share}"
        left = (self.total - self.done) * (now - start) / (self.done - before)
        if left < 1:
            return f"{self.description}: {share}"
        return f"{self.description}: {share}, about {format_duration(left)} left"


class ProgressLog:
    """The tasks in progress within a job, and the thread that writes about them.

    Parameters
    ----------
    clock : callable, optional
        Returns seconds.

    Examples
    --------
    >>> times = iter([0.0, 0.0, 8.0, 40.0])
    >>> log = ProgressLog(clock=lambda: next(times))
    >>> task = log.begin("folds", total=10)
    >>> log.update(task, 2)
    >>> log.line().partition(" elapsed")[0]
    'seqkern: folds: 2 of 10 (20 %), about 2 min 40 s left; 40 s'
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._tasks: list[Task] = []
        self._lock = threading.Lock()
        self._stop: threading.Event | None = None
        self._thread: threading.Thread | None = None

    def begin(self, description: str, unit: str = "", total: int | None = None) -> Task:
        """Return a new task, within those that have not ended.

        Parameters
        ----------
        description, unit, total : object
            As for `Task`.

        Returns
        -------
        Task
        """
        task = Task(description, unit, total, self._clock())
        with self._lock:
            self._tasks.append(task)
        return task

    def update(self, task: Task, done: int, total: int | None = None) -> None:
        """Count what is done of a task.

        Parameters
        ----------
        task : Task
            From `begin`.
        done : int
            From the start.
        total : int, optional
            If known by now.
        """
        task.total = task.total if total is None else total
        task.update(done, self._clock())

    def end(self, task: Task) -> None:
        """End a task.

        Parameters
        ----------
        task : Task
            From `begin`.
        """
        with self._lock:
            self._tasks.remove(task)

    def line(self) -> str:
        """Return what is in progress, the time since the job began, and the memory in use."""
        now = self._clock()
        with self._lock:
            tasks = [task for task in self._tasks if task.done is None or task.done != task.total]
        counted = [task for task in tasks if task.done is not None] or tasks[-1:]
        spent = f"{format_duration(now - self._began)} elapsed, {format_bytes(memory_in_use())} in use"
        return f"seqkern: {'; '.join([*(task.text(now) for task in counted), spent])}"

    def start(self) -> None:
        """Start the thread, unless it runs."""
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
