"""Amounts of memory: as text, and the amount available."""

import contextlib
import math
import os
import re
from pathlib import Path

from seqkern.core.errors import ParameterError

_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_CGROUPS = Path("/sys/fs/cgroup")


def parse_bytes(amount: int | float | str) -> int:
    """Return a number of bytes.

    Parameters
    ----------
    amount : int, float or str
        Bytes, or text such as ``"2GB"``, ``"500 MB"`` (powers of 1000) or ``"1.5GiB"`` (powers of 1024).

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    ParameterError
        If it is not such an amount, or not positive.

    Examples
    --------
    >>> parse_bytes("1.5GiB"), parse_bytes("500 MB")
    (1610612736, 500000000)
    """
    text = f"{amount:.0f}" if isinstance(amount, float) else str(amount)
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([KMGT]?)(I?)B?\s*", text.upper())
    size = 0.0
    if match is not None:
        size = float(match[1]) * (1024 if match[3] else 1000) ** _POWERS[match[2]]
    if not 1 <= size < math.inf:
        raise ParameterError(f"{amount!r} is not an amount of memory", remedy="write it like 500MB or 2GB")
    return int(size)


def format_bytes(size: float) -> str:
    """Return a number of bytes as readable text.

    Parameters
    ----------
    size : float
        Number of bytes.

    Returns
    -------
    str
        Three digits and a unit, a power of 1000.

    Examples
    --------
    >>> format_bytes(3_200_000_000)
    '3.2 GB'
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def available_memory() -> int:
    """Return the memory available to this process, in bytes: free on this computer, or within its limits."""
    amounts = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    with contextlib.suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                amounts.append(int(line.split()[1]) * 1024)
    return min([*amounts, *_cgroup_limits()])


def _cgroup_limits() -> list[int]:
    """Return the memory limits of this process's control groups (containers, batch systems)."""
    limits: list[int] = []
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, group = line.split(":", 2)
            if controllers == "":
                files = [_CGROUPS / group.lstrip("/") / "memory.max", _CGROUPS / "memory.max"]
            elif "memory" in controllers.split(","):
                root = _CGROUPS / "memory"
                files = [root / group.lstrip("/") / "memory.limit_in_bytes", root / "memory.limit_in_bytes"]
            else:
                continue
            for file in files:
                with contextlib.suppress(OSError, ValueError):  # "max": no limit
                    limits.append(int(file.read_text()))
    return limits
