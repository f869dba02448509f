"""The predicted costs of the jobs of a data set: the content of ``plan.json``.

The workflow reads it to divide long jobs into shares, and to request memory and time. Results never depend on it.
"""

import json
import math
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from seqkern.core.archive import atomic_write
from seqkern.core.file_kinds import PLAN
from seqkern.core.types import PathLike

NAME = "plan.json"


@dataclass(frozen=True)
class Cost:
    """The predicted cost of a job: CPU seconds, and peak memory in bytes."""

    seconds: float  # CPU time
    bytes: int  # Peak memory of the process


@dataclass(frozen=True)
class MethodCost:
    """The predicted cost of evaluating a method.

    `bytes` is the peak memory for any fold, `folds` the CPU seconds of each fold (in the order of tasks and their
    splits), and `once` the CPU seconds that each job adds: imports, features of all samples. `inner` is the CPU seconds
    of the inner loop of each fold if earlier jobs make one choice for several tasks; these are not part of `folds`.

    >>> MethodCost(10**8, [20.0, 40.0], once=2.0).seconds
    62.0
    """

    bytes: int  # Peak memory of the process, for any of its folds
    folds: Sequence[float]  # CPU seconds of each fold, in the order of tasks and their splits
    # CPU seconds that each job spends besides, however few folds it computes: imports, features of all samples
    once: float = 0.0
    # CPU seconds of the inner loop of each fold, where jobs before make one choice for several tasks; these are not
    # part of `folds`
    inner: Sequence[float] = ()

    @property
    def seconds(self) -> float:
        """The CPU seconds of a single job for all folds."""
        return self.once + sum(self.folds)


@dataclass(frozen=True)
class DatasetPlan:
    """The predicted costs of the jobs of one data set.

    `grams` has the cost of each stored Gram matrix, `methods` the costs by kernel and solver name.

    >>> plan = DatasetPlan({"three": Cost(2.0, 10**8)}, {"three": {"svm": MethodCost(10**8, [20.0, 40.0])}})
    >>> DatasetPlan.parse(json.loads(plan.to_json())).methods["three"]["svm"].seconds
    60.0
    """

    grams: "dict[str, Cost]" = field(default_factory=dict)  # Of each stored Gram matrix, by its name
    methods: "dict[str, dict[str, MethodCost]]" = field(default_factory=dict)  # By the names of kernel and solver

    @classmethod
    def parse(cls, read: Any) -> "DatasetPlan":
        """Return the plan from the JSON object of `to_json`."""
        costs = [cost for solvers in read["methods"].values() for cost in solvers.values()]
        for name, value in (item for cost in [*read["grams"].values(), *costs] for item in cost.items()):
            for number in value if name in ("folds", "inner") else [value]:
                if type(number) not in (int, float) or not 0 <= number < math.inf:
                    raise ValueError(f"a cost of {number!r}")
        grams = {name: Cost(**cost) for name, cost in read["grams"].items()}
        methods = {
            kernel: {solver: MethodCost(**cost) for solver, cost in solvers.items()}
            for kernel, solvers in read["methods"].items()
        }
        return cls(grams, methods)

    @classmethod
    def load(cls, path: PathLike) -> "DatasetPlan":
        """Read a plan written by `write`."""
        read = PLAN.load_json(path)
        with PLAN.damaged(path):
            return cls.parse(read)

    def to_json(self) -> str:
        """Return the plan as JSON text."""
        return json.dumps(PLAN.stamp() | asdict(self), indent=1, sort_keys=True) + "\n"

    def write(self, path: PathLike) -> None:
        """Write the plan."""
        with atomic_write(path, "w") as file:
            file.write(self.to_json())


# The division of the evaluations of a kernel on a data set into jobs.

SHORTEST = 30.0
"""Least CPU seconds of a job, as starting one takes some."""


def count_shares(costs: Collection[MethodCost], limit: float, *, inner: bool = False) -> int:
    """Return the number of jobs among which the folds of several methods are divided.

    `limit` is the CPU seconds of a job, which a single fold may exceed. If `inner`, only the inner loops are computed,
    for one choice over several tasks.

    >>> svm = MethodCost(10**8, [100.0] * 10)
    >>> count_shares([svm, svm], limit=600), count_shares([svm, svm], limit=3600), count_shares([svm], limit=0.1)
    (4, 1, 10)
    """
    folds = [seconds for cost in costs for seconds in (cost.inner if inner else cost.folds)]
    work, once = sum(folds), sum(cost.once for cost in costs)
    if work + once <= limit:
        return 1
    # each job spends `once` as well
    wanted = math.ceil(work / max(limit - once, min(limit, SHORTEST)))
    return max(1, min(wanted, int(work / min(limit, SHORTEST)), len(folds)))
