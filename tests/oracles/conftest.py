"""Random inputs for ours and for other packages; the largest deviations, as a table."""

from dataclasses import dataclass, field

import numpy as np
import pytest


def pytest_addoption(parser):
    parser.addoption("--oracle-seed", type=int, default=0, help="seed of the random inputs of tests/oracles")


@dataclass
class Compared:
    """What was compared: cases, and the largest deviation and its bound for each name."""

    seed: int
    rows: dict = field(default_factory=dict)

    def cases(self, name, count):
        """Yield (number, generator) for each case; the inputs follow from the seed, the name and the number."""
        for case in range(count):
            yield case, np.random.default_rng([self.seed, case, *name.encode()])

    def check(self, name, case, ours, theirs, bound):
        """Fail if two results differ by more than `bound`, as a share of the largest, or absolutely if that is < 1."""
        ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
        assert ours.shape == theirs.shape, f"{name}: shapes {ours.shape} and {theirs.shape}, case {case}"
        deviation = float(np.max(np.abs(ours - theirs), initial=0.0) / max(1.0, np.max(np.abs(theirs), initial=0.0)))
        count, worst, _ = self.rows.get(name, (0, 0.0, bound))
        self.rows[name] = count + 1, max(worst, deviation), bound
        assert deviation <= bound, f"{name}: deviation {deviation:.3g}, --oracle-seed={self.seed}, case {case}"


COMPARED = pytest.StashKey[Compared]()


@pytest.fixture(scope="session")
def compared(request):
    found = Compared(request.config.getoption("--oracle-seed", default=0))
    request.config.stash[COMPARED] = found
    return found


def pytest_terminal_summary(terminalreporter, config):
    found = config.stash.get(COMPARED, None)
    if found is None:
        return
    terminalreporter.section(f"oracles, --oracle-seed={found.seed}")
    terminalreporter.write_line(f"{'oracle':44s} {'cases':>6s} {'largest deviation':>18s} {'bound':>8s}")
    for name, (count, worst, bound) in found.rows.items():
        terminalreporter.write_line(f"{name:44s} {count:6d} {worst:18.2g} {bound:8.0e}")
