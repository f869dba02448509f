"""What a study says of the inner loop and of the check for leaks."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True)
class InnerSettings:
    """The loop inside each training part, which chooses hyperparameters.

    Attributes
    ----------
    folds : int
        Folds of the inner loop.
    metric : str
        What is maximised.
    search : {"grid", "random"}
        Whether every candidate is tried, or some are drawn.
    draws : int
        How many random search draws.
    rule : {"best", "one_standard_error"}
        How one is chosen.
    calibration : {"platt", "isotonic"}, optional
        How decisions become probabilities.
    threshold : str, optional
        Rule for the decision above which a sample is predicted to be positive.

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
    calibration: str | None = None
    threshold: str | None = None

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> "InnerSettings":
        """Return the settings of a configuration.

        Parameters
        ----------
        given : mapping
            The value of ``inner``; keys that are not known here are left alone.

        Returns
        -------
        InnerSettings
        """
        return cls(**{item.name: given[item.name] for item in fields(cls) if item.name in given})

    @property
    def random(self) -> bool:
        """Whether candidates are drawn, so that solvers may have ranges of values."""
        return self.search == "random"

    @property
    def drawn(self) -> int | None:
        """How many candidates are drawn; None where every one is tried."""
        return self.draws if self.random else None

    @property
    def afterwards(self) -> dict[str, str]:
        """What is fitted to decisions about held-out samples, by name; empty where nothing is."""
        both = {"calibration": self.calibration, "threshold": self.threshold}
        return {name: value for name, value in both.items() if value is not None}


@dataclass(frozen=True)
class LeakageSettings:
    """What the check for leaks looks for.

    Attributes
    ----------
    contained : bool
        Whether to report test sequences that lie in training sequences, and the reverse.
    identity : float, optional
        Share of identical letters from which pairs across folds are reported.
    reverse_complement : bool
        Whether to look at the reverse strand too.
    keep_together : bool
        Whether folds that are drawn keep what the check finds together.

    Examples
    --------
    >>> LeakageSettings.parse({"identity": 0.9}).to_dict()
    {'contained': True, 'identity': 0.9, 'reverse_complement': False, 'keep_together': False}
    """

    contained: bool = True
    identity: float | None = None
    reverse_complement: bool = False
    keep_together: bool = False

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> "LeakageSettings":
        """Return the settings of a configuration.

        Parameters
        ----------
        given : mapping
            The value of ``leakage``; keys that are not known here are left alone.

        Returns
        -------
        LeakageSettings
        """
        return cls(**{item.name: given[item.name] for item in fields(cls) if item.name in given})

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as a configuration has them."""
        return asdict(self)
