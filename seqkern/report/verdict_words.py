"""What may be said of two methods after a test: better, differing without a direction, or no significant difference."""

from collections.abc import Sequence

from seqkern.evaluation.single_task_tests import PairTest
from seqkern.evaluation.wilcoxon import Comparison
from seqkern.figures.numbers import fixed
from seqkern.report.compared import directed, is_significant, lead
from seqkern.report.sentences import metric


def verdict(one: Comparison | PairTest) -> str:
    """Return ``"better"`` or ``"worse"`` (the first method), ``"differs"`` or ``"no significant difference"``.

    Parameters
    ----------
    one : Comparison or PairTest
        What the test of two methods found.

    Returns
    -------
    str
    """
    if not is_significant(one):
        return "no significant difference"
    if not directed(one):
        return "differs"
    return "worse" if lead(one) < 0 else "better"


def contrary(key: str, ahead: int, means: Sequence[float], medians: Sequence[float]) -> str:
    """Return a clause that says where the averages contradict a test of ranks; empty where they do not.

    Parameters
    ----------
    key : str
        The metric.
    ahead : int
        1 where the first method is ahead in ranks, −1 where the second is.
    means, medians : pair of float
        Of the first method and of the second.

    Returns
    -------
    str

    Examples
    --------
    >>> contrary("auc", 1, means=(0.91, 0.90), medians=(0.93, 0.95))
    '; but the median points the other way (0.930 against 0.950)'
    """
    sign = ahead if metric(key).higher else -ahead
    against = [
        f"the {name} points the other way ({fixed(first)} against {fixed(second)})"
        for name, (first, second) in (("median", medians), ("mean", means))
        if sign * (first - second) < -1e-12
    ]
    return "; but " + " and ".join(against) if against else ""
