"""View of one data set for the page's sections: results, ranking, wording and link targets; what a section is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from seqkern.methods.compared import Compared, SingleTaskTests, compare_on_task, compare_tasks
from seqkern.methods.headline import Headline
from seqkern.methods.study_results import DatasetResults, Method, Ranking
from seqkern.report.markup import Markup, escape
from seqkern.report.outcomes import Outcome, outcome
from seqkern.report.page_frame import Column, macro, render
from seqkern.report.residue_data import chain_counts
from seqkern.report.sentences import Metric, averaged_over, metric, text_for_kind


class View:
    """A data set with its ranking, its wording and its place on the page."""

    def __init__(self, dataset: DatasetResults, anchor: str, numbers: dict[Method, int] | None = None) -> None:
        self.dataset = dataset
        self.anchor = anchor
        self.ranking = Ranking(dataset)
        self.word, self.words = averaged_over(dataset)
        # of each method in the study, for its colour in all figures; the first data set's best method has 0
        self.numbers = {} if numbers is None else numbers
        for method in (*self.ranking.order, *dataset.methods):
            self.numbers.setdefault(method, len(self.numbers))

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

    @property
    def sample(self) -> str:
        """The noun for what is tested: sequence, residue, sample, object."""
        return self.sample_text("sequence")

    @property
    def record(self) -> str:
        """The noun for what the data set holds, also where residues are predicted: sequence, sample, object."""
        return self.data_text("sequence")

    def link(self, text: object, section: str) -> Markup:
        """Return a link to one of the data set's sections."""
        return Markup(f'<a href="#{self.anchor}-{section}">{escape(text)}</a>')

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
        """The methods ranked by the headline metric, with intervals, compared with chance and baselines."""
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


@dataclass(frozen=True)
class Section:
    """A section of a data set's chapter: a function that finds its content, and a block of the template that shows it.

    The template has the name of the function's module. The function returns None for no section, and may return another
    ``title``, or only what is ``missing``. `inside` says what is in a section that is folded.
    """

    find: Callable[[View], Mapping[str, Any] | None]
    name: str
    title: str
    inside: str | None = None

    def __call__(self, view: View) -> Markup | None:
        """Return the section as HTML; None where there is nothing to show."""
        content = self.find(view)
        if content is None:
            return None
        if "missing" in content:
            body = Markup(f'<p class="missing">{escape(content["missing"])}</p>')
        else:
            body = render(
                self.find.__module__.rpartition(".")[2], self.name.replace("-", "_"), {"view": view, **content}
            )
        heading = Markup(f"<h3>{escape(content.get('title', self.title))}</h3>")
        return macro("section", f"{view.anchor}-{self.name}", heading, self.inside, body)


def section(
    name: str, title: str, inside: str | None = None
) -> Callable[[Callable[[View], Mapping[str, Any] | None]], Section]:
    """Return a decorator that makes a `Section` of a function."""
    return lambda find: Section(find, name, title, inside)


METHOD = Column("Kernel with solver", False)
"""The first column of a table of methods."""
