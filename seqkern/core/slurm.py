"""What SLURM gave the job that this process belongs to, by its environment variables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator


def in_slurm_job() -> bool:
    """Return whether this process belongs to a SLURM job.

    Outside of a job the same variables are wishes for ``srun``, which limit nothing.

    Returns
    -------
    bool

    Examples
    --------
    >>> in_slurm_job() == ("SLURM_JOB_ID" in os.environ)
    True
    """
    return "SLURM_JOB_ID" in os.environ


def slurm_memory() -> list[int]:
    """Return the memory that the job may use on this computer, in bytes.

    Returns
    -------
    list of int
        By node, by core and by GPU, as the job asked for it; empty outside of jobs, and for jobs without a limit.

    Examples
    --------
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
    """Return the number of threads that a task of the job may use on this computer.

    Returns
    -------
    int
        The cores of each task (``--cpus-per-task``), or all of the job on this computer; 0 if unknown.

    Examples
    --------
    >>> slurm_threads() >= 0
    True
    """
    return (_count("SLURM_CPUS_PER_TASK") or slurm_cores()) if in_slurm_job() else 0


def slurm_cores() -> int:
    """Return the number of cores that the job has on this computer.

    Returns
    -------
    int
        0 if unknown.

    Examples
    --------
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
