"""What the jobs on the tiles of a matrix have cost: a file for each process beside the tiles, summed by the last one.

Each is written anew with every tile, so that of a killed job only what it did after its last tile is not counted.
"""

from __future__ import annotations

import json
import time
import uuid
from pathlib import Path
from typing import Any

from seqkern.core.archive import atomic_write
from seqkern.core.cost import peak_mb
from seqkern.core.errors import FileError
from seqkern.core.file_kinds import ANY


class TileCosts:
    """The cost of this process, and those that others have left.

    Parameters
    ----------
    folder : path-like
        That of the tiles.
    cpu_start : float
        CPU seconds of this process before the job.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     TileCosts(folder, 0.0).write()
    ...     last = TileCosts(folder, 0.0)
    ...     last.write()
    ...     [(lap["stage"], lap["cpu_seconds"] > 0) for lap in last.others()]
    [('tiles', True)]
    """

    def __init__(self, folder: str | Path, cpu_start: float) -> None:
        self._folder, self._cpu_start = Path(folder), cpu_start
        self._own = self._folder / f"cost-{uuid.uuid4().hex}.json"

    def write(self) -> None:
        """Write the cost of this process so far."""
        with atomic_write(self._own, "w") as file:
            json.dump({"cpu_seconds": time.process_time() - self._cpu_start, "peak_mb": peak_mb()}, file)

    def others(self) -> list[dict[str, Any]]:
        """Return one lap, as a `Clock` has them, with the CPU seconds of all other processes; none without any."""
        others = [path for path in self._folder.glob("cost-*.json") if path != self._own]
        found = [cost for cost in map(_cost, others) if cost is not None]
        if not found:
            return []
        cpu_seconds = sum(one["cpu_seconds"] for one in found)
        return [{"stage": "tiles", "cpu_seconds": cpu_seconds, "peak_mb": max(one["peak_mb"] for one in found)}]


def _cost(path: Path) -> dict[str, float] | None:
    """Return what a process has left; None for a damaged file: a matrix does not fail for its costs."""
    try:
        cost = ANY.load_json(path)
    except FileError:
        return None
    good = isinstance(cost, dict) and all(type(cost.get(key)) in (int, float) for key in ("cpu_seconds", "peak_mb"))
    return cost if good else None
