"""View of one data set for the page's sections: results, ranking, wording and link targets."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from seqkern.report.compared import Compared, SingleTaskTests, compare_on_task, compare_tasks
from seqkern.report.dataset_results import DatasetResults, Method
from seqkern.report.headline import Headline
from seqkern.report.markup import Markup, join, tag
from seqkern.report.outcomes import Outcome, outcome
from seqkern.report.page_frame import INSIDE, Column, folded_part, mark
from seqkern.report.residue_data import chain_counts
from seqkern.report.sentences import Metric, averaged_over, metric, text_for_kind
from seqkern.report.tables import Ranking


class View:
    """A data set with its ranking, its wording and its place on the page."""

    def __init__(self, dataset: DatasetResults, anchor: str) -> None:
        self.dataset = dataset
        self.anchor = anchor
        self.ranking = Ranking(dataset)
        self.word, self.words = averaged_over(dataset)

    @property
    def metric(self) -> Metric:
        """The metric that ranks the methods."""
        return metric(self.ranking.headline)

    def data_text(self, text: str) -> str:
        """Return one of the page's own texts about sequences, reworded for another kind of data."""
        return text_for_kind((self.dataset.summary or {}).get("kind"), text)

    def sample_text(self, text: str) -> str:
        """Return the text of `data_text`, but about residues where residues are predicted."""
        return text_for_kind("residues", text) if self.dataset.residues else self.data_text(text)

    def link(self, text: object, section: str) -> Markup:
        """Return a link to one of the data set's sections."""
        return tag("a", text, href=f"#{self.anchor}-{section}")

    def section(self, name: str, title: str, *content: object) -> Markup:
        """Return a section with a heading and an anchor; sections with details are folded."""
        heading, anchor = tag("h3", title), f"{self.anchor}-{name}"
        if name not in INSIDE:
            return tag("section", heading, content, id=anchor)
        return tag("section", folded_part(heading, INSIDE[name], content), id=anchor)

    def place_columns(self) -> list[Column]:
        """Return the columns that locate a row of a table: task, split, or both."""
        dataset = self.dataset
        names = [self.word] if dataset.one_split else ["task", "split"] if dataset.several else ["split"]
        return [Column(name.capitalize(), False) for name in names]

    def place(self, task: str, split: str) -> list[str]:
        """Return the cells of `place_columns`."""
        dataset = self.dataset
        return [task] if dataset.one_split else [task, split] if dataset.several else [split]

    @cached_property
    def few_negatives(self) -> bool:
        """Whether no test set has more than 50 negatives, so that ROC50 equals the AUC."""
        rows, dataset = self.dataset.composition, self.dataset
        if rows is None or dataset.kind != "binary" or "roc50" not in self.ranking.scores:
            return False
        pairs = zip(rows["task"], rows["class"], strict=True)
        negative = [name in dataset.classes(task)[:1] for task, name in pairs]
        return bool(any(negative) and rows["test"][negative].max() <= 50)

    @cached_property
    def chain_counts(self) -> dict[tuple[str, str], dict[str, int]]:
        """Dict of (task, split) to the number of chains in the training and the test set; empty without residues."""
        return chain_counts(self.dataset)

    @cached_property
    def comparisons(self) -> Mapping[str, Compared | SingleTaskTests]:
        """Dict of metric to its comparison, with the headline metric first.

        A comparison is a Compared over several tasks, a SingleTaskTests on a single task, or a ComparedChains on a
        single task of residues. Empty where there are too few tasks, or no valid test.
        """
        if self.dataset.several:
            return compare_tasks(self.dataset, self.ranking, self.word, self.words)
        return compare_on_task(self.dataset, self.ranking)

    @cached_property
    def headline(self) -> Headline:
        """The methods ranked by the headline metric, with intervals, compared with chance and trivial baselines."""
        return Headline(self.dataset, self.ranking)

    @cached_property
    def outcomes(self) -> dict[Method, Outcome]:
        """Dict of Method to Outcome, best method first, without methods that have no decisions."""
        rest = [method for method in self.dataset.done if method not in self.ranking.order]
        result = {}
        for method in [*self.ranking.order, *rest]:
            table = self.dataset.decisions(method)
            if table is not None and len(table):
                result[method] = outcome(self.dataset, table)
        return result


def method_name(method: tuple[str, str], transductive: Collection[str] = ()) -> Markup:
    """Return the name ``kernel with solver``, marked if the kernel is transductive."""
    kernel, solver = method
    return Markup(f"{tag('b', kernel)}{mark(kernel, transductive)} with {tag('b', solver)}")


def method_names(methods: Sequence[tuple[str, str]], most: int = 6) -> Markup:
    """Return the names of methods as a list in a sentence: ``A with B, C with D and 2 more``.

    >>> from seqkern.report.markup import text_of
    >>> text_of(method_names([("spectrum", "csvc"), ("mismatch", "csvc"), ("gapped", "psvc")], most=2))
    'spectrum with csvc, mismatch with csvc and 1 more'
    """
    names = [method_name(method) for method in methods[:most]]
    rest = len(methods) - most
    if rest > 0:
        return Markup(f"{join(', ', names)} and {rest} more")
    return Markup(f"{join(', ', names[:-1])} and {names[-1]}") if len(names) > 1 else names[0]


def paragraph(*content: object, class_: str | None = None) -> Markup:
    """Return a paragraph."""
    return tag("p", content, class_=class_)
