"""Amounts of memory as text, the available amount, and messages about insufficient memory."""

import contextlib
import errno
import functools
import math
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from seqkern.core.errors import MappingError, ParameterError

# The control groups of this process: the limits set by containers, batch systems and systemd.
#
# Versions 1 and 2 and hybrids are supported. Linux lists the groups in ``/proc/self/cgroup`` and the locations of their
# files in ``/proc/self/mountinfo``: a container mounts only its own part of the tree. Missing or unreadable control
# groups set no limit.

PROCESS = Path("/proc/self")


class ControlGroup(NamedTuple):
    """A control group that contains this process, directly or through a nested group.

    >>> ControlGroup(2, "/system.slice", Path("/sys/fs/cgroup/system.slice")).number("no.such.file") is None
    True
    """

    version: int  # 1 or 2
    name: str  # Its path in the hierarchy, as the system shows it to this process
    folder: Path  # Where its files are

    def text(self, file: str) -> str:
        """Return the content of a file of the group, such as ``memory.max``; empty if it cannot be read."""
        try:
            return (self.folder / file).read_text(errors="replace")
        except OSError:
            return ""

    def number(self, file: str) -> int | None:
        """Return the number in a file of the group; None if the file is missing or says ``max``."""
        return _integer(self.text(file))

    def table(self, file: str) -> dict[str, int]:
        """Return the numbers in a file of the group with lines ``key number``, such as ``memory.stat``."""
        pairs = (line.split() for line in self.text(file).splitlines())
        return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and _integer(pair[1]) is not None}


@functools.cache
def control_groups(controller: str) -> "tuple[ControlGroup, ...]":
    """Return the control groups that may limit this process, the innermost first, for controller "memory" or "cpu".

    These are the process's own group and its visible ancestors; empty if the system has none. The result is cached,
    because processes hardly ever change their group.

    >>> all(group.version in (1, 2) for group in control_groups("memory"))
    True
    """
    own = dict(_own_groups(controller))
    groups: list[ControlGroup] = []
    for version, root, mounted in _mounts(controller):
        if version in own:
            groups += _upwards(version, own[version], root, mounted)
    return tuple(groups)


def _own_groups(controller: str) -> Iterator[tuple[int, str]]:
    """Yield the version and the path of each group of this process."""
    for line in _lines(PROCESS / "cgroup"):
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and controllers == "":
            yield 2, path
        elif controller in controllers.split(","):
            yield 1, path


def _mounts(controller: str) -> Iterator[tuple[int, str, Path]]:
    """Yield the version, mounted group and folder of each mount point of a controller's groups."""
    for line in _lines(PROCESS / "mountinfo"):
        before, _, after = line.partition(" - ")
        places, kind = before.split(), after.split()
        if len(places) < 5 or len(kind) < 3:
            continue
        root, mounted = _unescaped(places[3]), Path(_unescaped(places[4]))
        if kind[0] == "cgroup2":
            yield 2, root, mounted
        elif kind[0] == "cgroup" and controller in kind[2].split(","):
            yield 1, root, mounted


def _upwards(version: int, own: str, root: str, mounted: Path) -> "Iterator[ControlGroup]":
    """Yield a group and its ancestors, up to the mounted group."""
    path = PurePosixPath(own)
    # Outside of its namespace a process sees paths with "..": then only the mounted group is known to be around it.
    inside = path.is_relative_to(root) and ".." not in path.parts
    steps = path.relative_to(root).parts if inside else ()
    for depth in range(len(steps), -1, -1):
        yield ControlGroup(version, str(PurePosixPath(root, *steps[:depth])), mounted.joinpath(*steps[:depth]))


def _lines(path: Path) -> list[str]:
    """Return the lines of a system file; empty if it cannot be read."""
    try:
        return path.read_text(errors="replace").splitlines()
    except OSError:
        return []


def _unescaped(text: str) -> str:
    r"""Return a path from ``mountinfo`` with its escapes resolved: blanks are written as ``\040``."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _integer(text: str) -> int | None:
    """Return the number in a text of a system file; None for other text."""
    text = text.strip()
    return int(text) if re.fullmatch(r"-?[0-9]{1,20}", text) else None


# The resources of the SLURM job of this process, by its environment variables.


def in_slurm_job() -> bool:
    """Return whether this process belongs to a SLURM job.

    Outside of a job the same variables are only requests for ``srun``, and limit nothing.

    >>> in_slurm_job() == ("SLURM_JOB_ID" in os.environ)
    True
    """
    return "SLURM_JOB_ID" in os.environ


def slurm_memory() -> list[int]:
    """Return the job's memory limits on this computer in bytes: by node, by core and by GPU; empty if unlimited.

    >>> all(size > 0 for size in slurm_memory())
    True
    """
    if not in_slurm_job():
        return []
    megabytes = [
        _count("SLURM_MEM_PER_NODE"),
        _count("SLURM_MEM_PER_CPU") * slurm_cores(),
        _count("SLURM_MEM_PER_GPU") * _count("SLURM_GPUS_ON_NODE"),
    ]
    return [size << 20 for size in megabytes if size]


def slurm_threads() -> int:
    """Return the number of threads for a task of the job: its cores, or all of the job here; 0 if unknown.

    >>> slurm_threads() >= 0
    True
    """
    return (_count("SLURM_CPUS_PER_TASK") or slurm_cores()) if in_slurm_job() else 0


def slurm_cores() -> int:
    """Return the number of cores that the job has on this computer; 0 if unknown.

    >>> slurm_cores() >= 0
    True
    """
    if not in_slurm_job():
        return 0
    nodes = list(_each_node(os.environ.get("SLURM_JOB_CPUS_PER_NODE", "")))
    index = _count("SLURM_NODEID")
    return _count("SLURM_CPUS_ON_NODE") or (nodes[index] if index < len(nodes) else 0)


def _each_node(text: str) -> Iterator[int]:
    """Yield the cores of each node of a list such as ``4(x2),1``."""
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,9})(?:\(x([0-9]{1,6})\))?", part.strip())
        if match is None:
            return
        yield from [int(match[1])] * int(match[2] or 1)


def _count(variable: str) -> int:
    """Return the number in a variable; 0 if there is none."""
    text = os.environ.get(variable, "")
    return int(text) if re.fullmatch(r"[0-9]{1,12}", text) else 0


# The memory limits of this process, set by the computer, containers, batch systems and the shell.

try:
    import resource as limits_of_process
except ImportError:  # Windows has no such limits
    limits_of_process = None  # type: ignore[assignment]  # a module or nothing

MEMINFO = Path("/proc/meminfo")
ASSUMED = 4 << 30
"""Bytes assumed for a computer that does not report its memory."""
UNLIMITED = 1 << 60
"""Size above which a version 1 control group has no limit: it reports about 2⁶³."""
SLURM = "to the SLURM job", "ask SLURM for more memory (--mem)"


class MemoryLeft(NamedTuple):
    """The memory in bytes that one limit leaves to this process, with its place and a remedy.

    >>> MemoryLeft(2_000_000, "to the SLURM job", "ask SLURM for more (--mem)").place
    'to the SLURM job'
    """

    size: int  # Bytes
    place: str  # What has this memory left, in the reader's words
    remedy: str  # How to get more


def memory_left() -> MemoryLeft:
    """Return the memory left under the tightest limit (`available_memory`), and the name of the limit.

    >>> memory_left().size <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    True
    """
    return min(
        [*_control_groups_memory(), *_slurm_memory(), *_ulimit_memory(), *_computer_memory()],
        key=lambda left: left.size,
    )


def free_addresses() -> int | None:
    """Return the bytes of address space left under ``ulimit -v``, which also counts mapped files; None if unlimited.

    >>> free_addresses() is None or free_addresses() >= 0
    True
    """
    return next((left.size for left in _ulimit_memory() if left.place.endswith("-v")), None)


def _computer_memory() -> list[MemoryLeft]:
    """Return the free memory of this computer; its whole memory if the system does not report the free part."""
    sizes: list[int | None] = []
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    sizes.append(_status(MEMINFO).get("MemAvailable"))
    known = [size for size in sizes if size is not None and size >= 0]
    return [MemoryLeft(min(known, default=ASSUMED), "on this computer", "free some memory")]


def _control_groups_memory() -> list[MemoryLeft]:
    """Return the memory left in each control group around this process."""
    return [left for group in control_groups("memory") for left in _control_group_memory(group)]


def _control_group_memory(group: ControlGroup) -> list[MemoryLeft]:
    """Return the memory left in one control group; empty without a limit.

    Its usage includes cached files. The system drops these before it kills anything, so they count as free here, as in
    ``MemAvailable``; otherwise a job that has read large files would seem to be full.
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


def _slurm_memory() -> list[MemoryLeft]:
    """Return the memory left to the SLURM job on this computer by its request: not all clusters use control groups."""
    sizes = slurm_memory()
    used = process_status().get("RssAnon", 0) if sizes else 0
    return [MemoryLeft(max(0, size - used), *SLURM) for size in sizes]


def _ulimit_memory() -> list[MemoryLeft]:
    """Return the memory left by the limits of the shell: on addresses (``ulimit -v``) and data (``ulimit -d``)."""
    if limits_of_process is None:
        return []
    found = []
    for kind, field, option in (("RLIMIT_AS", "VmSize", "-v"), ("RLIMIT_DATA", "VmData", "-d")):
        soft = -1
        with contextlib.suppress(OSError, ValueError, AttributeError):
            soft = limits_of_process.getrlimit(getattr(limits_of_process, kind))[0]
        if 0 <= soft < UNLIMITED and soft != limits_of_process.RLIM_INFINITY:
            left = max(0, soft - process_status().get(field, 0))
            found.append(MemoryLeft(left, f"by ulimit {option}", f"raise the limit of the shell (ulimit {option})"))
    return found


def process_status() -> dict[str, int]:
    """Return the amounts of memory of this process, in bytes, by their names in ``/proc``; empty without it."""
    return _status(PROCESS / "status")


def _status(path: Path) -> dict[str, int]:
    """Return the amounts, in bytes, in a system file with lines such as ``VmSize: 3060 kB``."""
    amounts = (re.fullmatch(r"(\w+):\s*([0-9]{1,20}) kB", line) for line in _lines(path))
    return {found[1]: int(found[2]) * 1024 for found in amounts if found}


WITHOUT_MATRIX = (
    "train without a matrix (--solver linear_svc, with --kernel spectrum, mismatch or gapped_kmer, or, approximately, "
    "with any other as nystroem:base=(KERNEL))"
)
"""Remedy for solvers of classes where a Gram matrix does not fit."""
LEAST_BARE = 1_000_000
"""Least number of bytes that text without a unit can mean: smaller numbers are probably gigabytes."""
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def parse_bytes(amount: int | float | str) -> int:
    """Return a number of bytes from a number, or from text with a unit (GB: powers of 1000, GiB: powers of 1024).

    >>> parse_bytes("1.5GiB"), parse_bytes("500 MB")
    (1610612736, 500000000)
    """
    text = f"{amount:.0f}" if isinstance(amount, float) else str(amount)
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([KMGT]?)(I?)B?\s*", text.upper())
    size = 0.0
    if match is not None:
        size = float(match[1]) * (1024 if match[3] else 1000) ** _POWERS[match[2]]
    if not 1 <= size < math.inf:
        raise ParameterError(f"{amount!r} is not an amount of memory", remedy="write it like 500MB or 2GB")
    if isinstance(amount, str) and amount.strip().replace(".", "").isdigit() and size < LEAST_BARE:
        raise ParameterError(
            f"{amount!r} has no unit", remedy=f"write {amount.strip()}GB, or {amount.strip()}B for bytes"
        )
    return int(size)


def format_bytes(size: float) -> str:
    """Return a number of bytes as readable text: three digits and a unit, a power of 1000.

    >>> format_bytes(3_200_000_000)
    '3.2 GB'
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def available_memory() -> int:
    """Return the memory available to this process, in bytes: free on this computer, and within all its limits.

    Its control groups (containers, batch systems), its SLURM job and ``ulimit`` set limits. The memory in use by all
    processes of a control group is subtracted; in a SLURM job without control groups, only the memory of this process.
    Cached files do not count, since the system drops them when memory is needed.

    >>> available_memory() > 1_000_000
    True
    """
    return memory_left().size


def default_limit_text(limit: object = None) -> str:
    """Return the origin of a limit of half of the available memory, for messages; empty if the user gave the limit.

    >>> default_limit_text("2GB"), default_limit_text().startswith(" (half of the memory left ")
    ('', True)
    """
    return "" if limit is not None else f" (half of the memory left {memory_left().place})"


def more_memory(limit: object = None) -> str:
    """Return a hint on how to raise the limit, for the remedies of messages.

    >>> more_memory("2GB")
    'raise it'
    """
    return "raise it" if limit is not None else memory_left().remedy


def out_of_memory(error: BaseException) -> str:
    """Return a one-line message about a failed allocation: the amount needed, the amount left, and the remedy.

    >>> out_of_memory(MemoryError()).startswith("out of memory: ")
    True
    """
    left = memory_left()
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)  # NumPy gives both
    more = ""
    if shape is not None and dtype is not None:
        more = f"another {format_bytes(math.prod(shape) * dtype.itemsize)} needed, "
    return f"out of memory: {more}{format_bytes(left.size)} left {left.place}; {left.remedy}"


def check_mappable(path: Path, error: BaseException) -> None:
    """Raise MappingError if a file could not be mapped because of ``ulimit -v``; else do nothing.

    >>> check_mappable(Path("gram.npy"), ValueError("not an array"))
    """
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        left = memory_left()
        need = format_bytes(path.stat().st_size)
        raise MappingError(
            f"mapping it takes {need} of memory addresses, but {format_bytes(left.size)} are left {left.place}",
            file=path,
            remedy=left.remedy,
        ) from None
