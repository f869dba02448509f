"""What the jobs of a data set are predicted to cost: the content of ``plan.json``.

The workflow reads it to divide long jobs into shares, and to ask for memory and time. Results never depend on it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from seqkern.core.archive import atomic_write
from seqkern.core.file_kinds import PLAN
from seqkern.core.types import PathLike

NAME = "plan.json"


@dataclass(frozen=True)
class Cost:
    """What a job is predicted to cost.

    Attributes
    ----------
    seconds : float
        CPU time.
    bytes : int
        Peak memory of the process.
    """

    seconds: float
    bytes: int


@dataclass(frozen=True)
class MethodCost:
    """What the evaluation of a method is predicted to cost.

    Attributes
    ----------
    bytes : int
        Peak memory of the process, for any of its folds.
    folds : list of float
        CPU seconds of each fold, in the order of tasks and their splits.
    once : float
        CPU seconds that each job spends besides, however few folds it computes: imports, features of all samples.
    inner : list of float
        CPU seconds of the inner loop of each fold, where jobs before make one choice for several tasks; these are not
        part of `folds`.

    Examples
    --------
    >>> MethodCost(10**8, [20.0, 40.0], once=2.0).seconds
    62.0
    """

    bytes: int
    folds: Sequence[float]
    once: float = 0.0
    inner: Sequence[float] = ()

    @property
    def seconds(self) -> float:
        """CPU seconds of one job for all folds."""
        return self.once + sum(self.folds)


@dataclass(frozen=True)
class DatasetPlan:
    """Predicted costs of the jobs of one data set.

    Attributes
    ----------
    grams : dict of str to Cost
        Of each stored Gram matrix, by its name.
    methods : dict of str to dict of str to MethodCost
        By the names of kernel and solver.

    Examples
    --------
    >>> plan = DatasetPlan({"three": Cost(2.0, 10**8)}, {"three": {"svm": MethodCost(10**8, [20.0, 40.0])}})
    >>> DatasetPlan.parse(json.loads(plan.to_json())).methods["three"]["svm"].seconds
    60.0
    """

    grams: dict[str, Cost] = field(default_factory=dict)
    methods: dict[str, dict[str, MethodCost]] = field(default_factory=dict)

    @classmethod
    def parse(cls, read: Any) -> DatasetPlan:
        """Return the plan in the JSON of `to_json`.

        Parameters
        ----------
        read : object
            JSON.

        Returns
        -------
        DatasetPlan
        """
        costs = [cost for solvers in read["methods"].values() for cost in solvers.values()]
        for value in (value for cost in [*read["grams"].values(), *costs] for value in cost.values()):
            for number in value if isinstance(value, list) else [value]:
                if type(number) not in (int, float) or not 0 <= number < math.inf:
                    raise ValueError(f"a cost of {number!r}")
        grams = {name: Cost(**cost) for name, cost in read["grams"].items()}
        methods = {
            kernel: {solver: MethodCost(**cost) for solver, cost in solvers.items()}
            for kernel, solvers in read["methods"].items()
        }
        for cost in grams.values():
            _check_numbers(cost)
        for solvers in methods.values():
            for one in solvers.values():
                _check_numbers(one)
        return cls(grams, methods)

    @classmethod
    def load(cls, path: PathLike) -> DatasetPlan:
        """Read a file that `write` wrote.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        DatasetPlan

        Raises
        ------
        FileError
            If it cannot be read, or is damaged.
        """
        read = PLAN.load_json(path)
        with PLAN.damaged(path):
            return cls.parse(read)

    def to_json(self) -> str:
        """Return the plan as JSON text."""
        return json.dumps(PLAN.stamp() | asdict(self), indent=1, sort_keys=True) + "\n"

    def write(self, path: PathLike) -> None:
        """Write the plan.

        Parameters
        ----------
        path : path-like
            The file.

        Raises
        ------
        FileError
            If it cannot be written.
        """
        with atomic_write(path, "w") as file:
            file.write(self.to_json())


def _check_numbers(cost: Cost | MethodCost) -> None:
    """Raise ValueError or TypeError unless a cost read from a file consists of finite numbers, where lists of them."""
    for name, value in asdict(cost).items():
        numbers = list(value) if name in ("folds", "inner") else [value]
        if not all(math.isfinite(number) and number >= 0 for number in numbers):
            raise ValueError("not a cost")
