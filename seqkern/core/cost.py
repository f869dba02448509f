"""The cost of a stage: CPU time and memory."""

from __future__ import annotations

import re
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqkern.core.archive import save_json
from seqkern.core.build import build_digest
from seqkern.core.file_kinds import RESULT

if TYPE_CHECKING:
    from seqkern.core.types import PathLike


def peak_mb() -> float:
    """Return the peak memory of this process so far, in MB (10^6 bytes)."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) * 1024 / 1e6  # type: ignore[index]  # caught below
    except (OSError, TypeError):
        # Only a fallback: Linux includes what the parent process used when it started this one.
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def memory_in_use() -> float:
    """Return the memory of this process now, in bytes."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(re.search(r"VmRSS:\s*(\d+) kB", status)[1]) * 1024  # type: ignore[index]  # caught below
    except (OSError, TypeError):
        return peak_mb() * 1e6


def write_cost(path: PathLike, laps: list[dict[str, Any]], **more: str) -> None:
    """Write costs as JSON, beside the tables: unlike these, they differ from run to run. The build is named.

    Parameters
    ----------
    path : path-like
        The file to write.
    laps : list of dict
        As recorded by a `Clock`.
    **more : str
        Further entries.

    Raises
    ------
    FileError
        If the file cannot be written.
    """
    save_json(path, RESULT, {"build": build_digest(), **more, "laps": laps}, indent=1)


class Clock:
    """Laps of CPU time.

    Attributes
    ----------
    laps : list of dict
        For each lap ``stage``, ``cpu_seconds`` (all threads of this process) and ``peak_mb`` (by its end).
    start : float
        CPU seconds of this process before the first lap.

    Examples
    --------
    >>> clock = Clock()
    >>> total = sum(range(1000))
    >>> clock.lap("sum")
    >>> [sorted(lap) for lap in clock.laps], clock.laps[0]["stage"]
    ([['cpu_seconds', 'peak_mb', 'stage']], 'sum')
    """

    def __init__(self) -> None:
        self.laps: list[dict[str, Any]] = []
        self.start = self._start = time.process_time()

    def lap(self, stage: str) -> None:
        """End a lap.

        Parameters
        ----------
        stage : str
            Name of the stage.
        """
        now = time.process_time()
        self.laps.append({"stage": stage, "cpu_seconds": now - self._start, "peak_mb": peak_mb()})
        self._start = now
