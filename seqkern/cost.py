"""What a stage of the work cost: processor seconds and memory."""

import resource
import sys
import time


class Clock:
    """Laps of processor time.

    Attributes
    ----------
    laps : list of dict
        For each lap ``stage``, ``cpu_seconds`` (all threads of this process) and ``peak_mb`` (most memory in
        use since the process began, in units of 10^6 bytes).
    """

    def __init__(self):
        self.laps = []
        self._start = time.process_time()

    def lap(self, stage):
        """End a lap and call it `stage`."""
        now = time.process_time()
        unit = 1 if sys.platform == "darwin" else 1024
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
        self.laps.append({"stage": stage, "cpu_seconds": now - self._start, "peak_mb": peak})
        self._start = now
