"""Which methods are better than which over many tasks: signed-rank tests of all pairs."""

from ..evaluation.comparison import compare_all, least_p
from .tables import unit_scores
from .words import metric

LEVEL = 0.05
LEAST = 6  # with fewer tasks not even one that is always better can be told from chance
ALSO = ("roc50", "median_rfp")
COLUMNS = (
    *("dataset", "metric", "kernel", "solver", "other_kernel", "other_solver", "tasks", "left_out", "wins", "ties"),
    *("losses", "median_difference", "rank_sum", "effect", "p", "p_holm"),
)


class Compared:
    """All pairs of methods compared by one metric.

    Attributes
    ----------
    key : str
        The metric.
    word, words : str
        What a task is called: ``"family"``.
    methods : list of Method
        The best first.
    found : list of Comparison
    tasks : int
        The most that a pair of methods has in common.
    """

    def __init__(self, values, key, word, words):
        self.key, self.word, self.words = key, word, words
        self.methods = list(values)
        self.found = compare_all(values, higher=metric(key).higher)
        self.tasks = max(one.test.tasks for one in self.found)

    def standing(self, method):
        """Return how many methods this one is better than beyond chance, and how many are better than it."""
        own = [one for one in self.found if method in one[:2] and told_apart(one)]
        better = sum((one.test.effect > 0) == (one.first == method) for one in own)
        return better, len(own) - better

    @property
    def hopeless(self):
        """Whether with so few tasks and so many pairs not even one that is always better could be told from chance."""
        return least_p(self.tasks) * len(self.found) > LEVEL

    def rows(self, dataset):
        """Return the rows of ``comparisons.tsv``, as dicts."""
        for first, second, test, p_holm in self.found:
            counts = (test.tasks, test.left_out, test.wins, test.ties, test.losses)
            numbers = (test.median, test.statistic, test.effect, test.p, p_holm)
            yield dict(zip(COLUMNS, (dataset, self.key, *first, *second, *counts, *numbers), strict=True))


def told_apart(one):
    """Tell whether two methods differ beyond chance."""
    return one.p_holm <= LEVEL


def compare_tasks(dataset, ranking, word, words):
    """Return {metric: Compared} over the tasks of a data set; empty for few tasks, or fewer than two methods."""
    if not dataset.several or len(dataset.units) < LEAST or len(ranking.order) < 2:
        return {}
    best = ranking.best[0]
    order = [best, *(method for method in ranking.order if method != best)]
    units = unit_scores(dataset)
    found = {}
    for key in dict.fromkeys((ranking.metric, *ALSO)):
        if key in ranking.scores:
            wide = units.pivot(index="unit", columns=["kernel", "solver"], values=key).reindex(dataset.units)
            found[key] = Compared({method: wide[tuple(method)].to_numpy() for method in order}, key, word, words)
    return found
