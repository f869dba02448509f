"""The limits of this process's memory: the computer's, and those of containers, batch systems and the shell."""

import contextlib
import os
from pathlib import Path
from typing import NamedTuple

from seqkern.core.control_groups import PROCESS, ControlGroup, control_groups
from seqkern.core.slurm import slurm_memory

try:
    import resource as limits_of_process
except ImportError:  # Windows has no such limits
    limits_of_process = None  # type: ignore[assignment]  # a module or nothing

MEMINFO = Path("/proc/meminfo")
ASSUMED = 4 << 30
"""Bytes of a computer that does not tell its memory."""
UNLIMITED = 1 << 60
"""Control groups of version 1 without a limit give a number of about 2⁶³."""
SLURM = "to the SLURM job", "ask SLURM for more memory (--mem)"


class MemoryLeft(NamedTuple):
    """Memory that this process can still take, by one of its limits.

    Attributes
    ----------
    size : int
        Bytes.
    place : str
        What has this memory left, in the reader's words.
    remedy : str
        How to get more.

    Examples
    --------
    >>> MemoryLeft(2_000_000, "to the SLURM job", "ask SLURM for more (--mem)").place
    'to the SLURM job'
    """

    size: int
    place: str
    remedy: str


def memory_left() -> MemoryLeft:
    """Return the memory that the tightest limit leaves to this process.

    Returns
    -------
    MemoryLeft
        `available_memory`, with what limits it.

    Examples
    --------
    >>> memory_left().size <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    True
    """
    return min([*_of_groups(), *_of_slurm(), *_of_ulimit(), *_of_computer()], key=lambda left: left.size)


def free_addresses() -> int | None:
    """Return how many more bytes of addresses ``ulimit -v`` allows: it counts mapped files, too.

    Returns
    -------
    int or None
        None without such a limit.

    Examples
    --------
    >>> free_addresses() is None or free_addresses() >= 0
    True
    """
    return next((left.size for left in _of_ulimit() if left.place.endswith("-v")), None)


def _of_computer() -> list[MemoryLeft]:
    """Return the free memory of this computer; its whole memory where the system does not tell what is free."""
    sizes: list[int | None] = []
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    sizes.append(_status(MEMINFO).get("MemAvailable"))
    known = [size for size in sizes if size is not None and size >= 0]
    return [MemoryLeft(min(known, default=ASSUMED), "on this computer", "free some memory")]


def _of_groups() -> list[MemoryLeft]:
    """Return what the control groups around this process have left."""
    return [left for group in control_groups("memory") for left in _of_group(group)]


def _of_group(group: ControlGroup) -> list[MemoryLeft]:
    """Return what one control group has left; nothing if it has no limit.

    Its use includes cached files. The system drops these before it kills anything, so they are left here, as they are
    in ``MemAvailable``; otherwise a job that has read large files would seem to be full.
    """
    if group.version == 2:
        limits, used, prefix = ["memory.max", "memory.high"], "memory.current", ""
    else:
        limits, used, prefix = ["memory.limit_in_bytes"], "memory.usage_in_bytes", "total_"
    found = [number for number in map(group.number, limits) if number is not None and 0 <= number < UNLIMITED]
    if not found:
        return []
    table = group.table("memory.stat")
    cached = sum(table.get(f"{prefix}{key}", 0) for key in ("inactive_file", "active_file"))
    size = max(0, min(found) - max(0, (group.number(used) or 0) - cached))
    if "slurm" in group.name or any(part.startswith("slurm") for part in group.folder.parts):
        return [MemoryLeft(size, *SLURM)]
    if group.name == "/":  # a container sees its own group as the root
        return [MemoryLeft(size, "to the container", "give the container more memory")]
    name = group.name if len(group.name) <= 60 else f"…{group.name[-59:]}"
    return [MemoryLeft(size, f"to control group {name}", "raise the limit of the control group or container")]


def _of_slurm() -> list[MemoryLeft]:
    """Return what the SLURM job has left on this computer by what it asked for: not all clusters use control groups."""
    sizes = slurm_memory()
    used = _status(PROCESS / "status").get("RssAnon", 0) if sizes else 0
    return [MemoryLeft(max(0, size - used), *SLURM) for size in sizes]


def _of_ulimit() -> list[MemoryLeft]:
    """Return what the limits of the shell leave: of addresses (``ulimit -v``) and data (``ulimit -d``)."""
    if limits_of_process is None:
        return []
    found = []
    for kind, field, option in (("RLIMIT_AS", "VmSize", "-v"), ("RLIMIT_DATA", "VmData", "-d")):
        soft = -1
        with contextlib.suppress(OSError, ValueError, AttributeError):
            soft = limits_of_process.getrlimit(getattr(limits_of_process, kind))[0]
        if 0 <= soft < UNLIMITED and soft != limits_of_process.RLIM_INFINITY:
            left = max(0, soft - _status(PROCESS / "status").get(field, 0))
            found.append(MemoryLeft(left, f"by ulimit {option}", f"raise the limit of the shell (ulimit {option})"))
    return found


def _status(path: Path) -> dict[str, int]:
    """Return the amounts, in bytes, of a file of the system with lines such as ``VmSize: 3060 kB``."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return {}
    words = (line.split() for line in lines)
    return {name[:-1]: int(number) * 1024 for name, number, _ in filter(_is_amount, words)}


def _is_amount(words: list[str]) -> bool:
    """Return whether a line of such a file has an amount."""
    return len(words) == 3 and words[0].endswith(":") and words[1].isascii() and words[1].isdigit() and words[2] == "kB"
