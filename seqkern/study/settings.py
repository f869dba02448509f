"""The settings of a study for the inner loop and the leakage check."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from seqkern.solvers.thresholds import PLAIN


@dataclass(frozen=True)
class InnerSettings:
    """The inner loop within each training set, which chooses hyperparameters.

    Attributes
    ----------
    folds : int
        Number of inner folds.
    metric : str
        The metric to maximise.
    search : {"grid", "random"}
        Whether all candidates are tried, or some drawn at random.
    draws : int
        Number of random candidates.
    rule : {"best", "one_standard_error"}
        The rule of choice.
    pooled : {"none", "tasks"}
        Whether each task has its own choice, or one choice is made by the mean rank over all tasks.
    clusters : int or "auto", optional
        Number of clusters of similar positive samples that are held out in place of folds.
    calibration : {"platt", "isotonic"}, optional
        The method of calibration.
    threshold : str, optional
        The rule for the decision threshold of the positive class; by default one is set after a search, and
        for classes of unequal size.

    Examples
    --------
    >>> inner = InnerSettings.parse({"folds": 5, "search": "random", "draws": 8})
    >>> inner.folds, inner.drawn, inner.rule
    (5, 8, 'best')
    """

    folds: int = 3
    metric: str = "auto"
    search: str = "grid"
    draws: int = 20
    rule: str = "best"
    pooled: str = "none"
    clusters: int | str | None = None
    calibration: str | None = None
    threshold: str | None = None

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> "InnerSettings":
        """Return the settings of a configuration.

        Parameters
        ----------
        given : mapping
            The value of ``inner``; unknown keys are ignored.

        Returns
        -------
        InnerSettings
        """
        return cls(**{item.name: given[item.name] for item in fields(cls) if item.name in given})

    @property
    def random(self) -> bool:
        """Whether candidates are drawn at random, so that solvers may have ranges of values."""
        return self.search == "random"

    @property
    def drawn(self) -> int | None:
        """The number of random candidates; None if all are tried."""
        return self.draws if self.random else None

    @property
    def pools(self) -> bool:
        """Whether one choice is made for all tasks."""
        return self.pooled == "tasks"

    @property
    def afterwards(self) -> dict[str, str]:
        """What is given of calibration and threshold, by name."""
        both = {"calibration": self.calibration, "threshold": self.threshold}
        return {name: value for name, value in both.items() if value is not None}

    @property
    def held_out(self) -> list[str]:
        """The names of what is to be fitted to held-out decision values."""
        return [name for name, value in self.afterwards.items() if value != PLAIN]


@dataclass(frozen=True)
class LeakageSettings:
    """Settings of the leakage check.

    Attributes
    ----------
    contained : bool
        Whether to report test sequences contained in training sequences, and vice versa.
    identity : float or "auto", optional
        Share of identical residues from which pairs across folds are reported; ``"auto"``: those that chance does not
        explain; None: only identical and contained ones.
    reverse_complement : bool
        Whether to include the reverse strand.
    keep_together : bool or "auto"
        Whether random folds keep the reported pairs together; ``"auto"``: as far as balanced folds allow.
    allow_similar : bool
        Whether similar samples may be in different folds, in place of `keep_together`.

    Examples
    --------
    >>> settings = LeakageSettings.parse({"identity": 0.9})
    >>> settings.identity, settings.together
    (0.9, 'auto')
    """

    contained: bool = True
    identity: float | str | None = "auto"
    reverse_complement: bool = False
    keep_together: bool | str = "auto"
    allow_similar: bool = False

    @property
    def together(self) -> bool | str:
        """Whether similar samples are kept together: True, False or ``"auto"``."""
        return False if self.allow_similar else self.keep_together

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> "LeakageSettings":
        """Return the settings of a configuration.

        Parameters
        ----------
        given : mapping
            The value of ``leakage``; unknown keys are ignored.

        Returns
        -------
        LeakageSettings
        """
        return cls(**{item.name: given[item.name] for item in fields(cls) if item.name in given})

    def to_dict(self) -> dict[str, Any]:
        """Return the settings in configuration form."""
        return asdict(self)
