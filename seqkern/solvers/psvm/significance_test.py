"""What `seqkern train`, `seqkern evaluate` and studies ask for when they test features that a P-SVM selects."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from seqkern.core.errors import ParameterError, unknown_name
from seqkern.core.values import whole_number

STATISTICS = ("correlation", "coefficient")
SOLVERS = ("psvc", "psvr")
DEFAULT = 999
MOST = 1_000_000
REMEDY = "write correlation or coefficient, with 1 to 1000000 permutations"


@dataclass(frozen=True)
class SignificanceTest:
    """A permutation test of the features; `psvm_significance` describes the statistics.

    Attributes
    ----------
    statistic : {"correlation", "coefficient"}
        Of the feature alone, whatever the solver's parameters; or of the feature among all others, which is valid only
        if the labels had no part in the choice of ε and C.
    permutations : int
        Number of shufflings of the labels.

    Examples
    --------
    >>> SignificanceTest.parse("coefficient:permutations=99")
    SignificanceTest(statistic='coefficient', permutations=99)
    >>> SignificanceTest.parse("correlation").text()
    'correlation:permutations=999'
    """

    statistic: str = STATISTICS[0]
    permutations: int = DEFAULT

    @classmethod
    def parse(cls, given: str | Mapping[str, Any]) -> "SignificanceTest":
        """Return the test of an option or of a study's key.

        Parameters
        ----------
        given : str or mapping
            ``"correlation"``, ``"coefficient:permutations=99"``, or ``{"statistic": …, "permutations": …}``.

        Returns
        -------
        SignificanceTest

        Raises
        ------
        ParameterError
            For an unknown statistic, or a number of permutations outside 1 to 1,000,000.
        """
        if isinstance(given, str):
            name, colon, rest = given.partition(":")
            key, _, value = rest.partition("=")
            if colon and (key != "permutations" or whole_number(value) is None):
                raise ParameterError(f"significance={given!r} is not possible", remedy=REMEDY)
            given = {"statistic": name} | ({"permutations": int(value)} if colon else {})
        for name in given:
            if name not in ("statistic", "permutations"):
                raise unknown_name("key of significance", name, ("statistic", "permutations"))
        found = cls(**given)
        if found.statistic not in STATISTICS:
            raise unknown_name("statistic", found.statistic, STATISTICS)
        if not isinstance(found.permutations, int) or not 1 <= found.permutations <= MOST:
            raise ParameterError(f"permutations={found.permutations} is outside 1 to {MOST}", remedy=REMEDY)
        return found

    def text(self) -> str:
        """Return the form for the command line."""
        return f"{self.statistic}:permutations={self.permutations}"

    def to_dict(self) -> dict[str, Any]:
        """Return the test in the form of a study's key."""
        return asdict(self)

    @staticmethod
    def suits(specs: Sequence[Mapping[str, Any]]) -> bool:
        """Return whether all candidates are P-SVMs on features.

        Parameters
        ----------
        specs : sequence of mapping
            Specs of the solvers.

        Returns
        -------
        bool
        """
        return all(spec.get("solver") in SOLVERS and spec.get("kernel") == "features" for spec in specs)

    def check(self, specs: Sequence[Mapping[str, Any]]) -> None:
        """Raise ParameterError unless the test is valid for the solvers.

        Parameters
        ----------
        specs : sequence of mapping
            The candidates of the inner loop.

        Raises
        ------
        ParameterError
            For other solvers than P-SVMs on features, and for the coefficient if the labels choose ε or C.
        """
        if not self.suits(specs):
            raise ParameterError(
                f"significance is that of features of a P-SVM, not of solver {specs[0].get('solver')!r}",
                remedy="choose psvc:kernel=features or psvr:kernel=features, or leave out significance",
            )
        if self.statistic == "coefficient" and len(specs) > 1:
            raise ParameterError(
                f"the labels choose among {len(specs)} P-SVMs, so p-values of coefficients would be too small",
                remedy="give one value of each parameter, or choose the statistic correlation",
            )

    @staticmethod
    def check_kind(kind: str) -> None:
        """Raise ParameterError unless there are two classes, or real labels.

        Parameters
        ----------
        kind : str
            Kind of the labels.

        Raises
        ------
        ParameterError
            For several classes, or no labels.
        """
        if kind not in ("binary", "real"):
            raise ParameterError(
                "significance is for two classes, or for labels that are numbers",
                remedy="name one class against the rest with a positive class, or leave out significance",
            )
