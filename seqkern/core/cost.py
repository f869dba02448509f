"""The cost of a stage, and durations as text."""

import re
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqkern.core.archive import save_json
from seqkern.core.build import build_digest
from seqkern.core.errors import ParameterError
from seqkern.core.file_kinds import RESULT

if TYPE_CHECKING:
    from seqkern.core.types import PathLike


# The cost of a stage: CPU time and memory.


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
    """Return the current memory of this process, in bytes."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(re.search(r"VmRSS:\s*(\d+) kB", status)[1]) * 1024  # type: ignore[index]  # caught below
    except (OSError, TypeError):
        return peak_mb() * 1e6


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
