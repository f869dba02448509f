"""One data set as the page's sections see it: results, ranking, words, places to link to."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from seqkern.core.markup import Markup, join, tag
from seqkern.figures.html_table import Column
from seqkern.figures.names import mark
from seqkern.report.chain_counts import chain_counts
from seqkern.report.compared import Compared, SingleTaskTests
from seqkern.report.comparisons import compare_on_task, compare_tasks
from seqkern.report.dataset_results import DatasetResults, Method
from seqkern.report.folded import INSIDE, folded_part
from seqkern.report.headline import Headline
from seqkern.report.outcomes import Outcome, outcome
from seqkern.report.sentences import Metric, averaged_over, metric, text_for_kind
from seqkern.report.tables import Ranking


class View:
    """A data set with its ranking and its place on the page.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.
    anchor : str
        Start of the ids of its sections.

    Attributes
    ----------
    dataset : DatasetResults
    anchor : str
    ranking : Ranking
        The methods, the best first.
    word, words : str
        What scores are averaged over, such as ``"fold"`` and ``"folds"``.
    """

    def __init__(self, dataset: DatasetResults, anchor: str) -> None:
        self.dataset = dataset
        self.anchor = anchor
        self.ranking = Ranking(dataset)
        self.word, self.words = averaged_over(dataset)

    @property
    def metric(self) -> Metric:
        """Metric that methods are ranked by."""
        return metric(self.ranking.headline)

    def data_text(self, text: str) -> str:
        """Return one of the page's own texts about sequences, reworded for another kind of data.

        Parameters
        ----------
        text : str
            A text about sequences.

        Returns
        -------
        str
            The text about samples, objects or residues, as the data are.
        """
        return text_for_kind((self.dataset.summary or {}).get("kind"), text)

    def sample_text(self, text: str) -> str:
        """Return what `data_text` does, but about residues where these are what is predicted.

        Parameters
        ----------
        text : str
            A text about sequences.

        Returns
        -------
        str
            The text about what is predicted.
        """
        return text_for_kind("residues", text) if self.dataset.residues else self.data_text(text)

    def link(self, text: object, section: str) -> Markup:
        """Return a link to one of the data set's sections.

        Parameters
        ----------
        text : object
            What the link says.
        section : str
            Name of the section.

        Returns
        -------
        Markup
        """
        return tag("a", text, href=f"#{self.anchor}-{section}")

    def section(self, name: str, title: str, *content: object) -> Markup:
        """Return a section with a heading and an anchor; folded if it is one of details.

        Parameters
        ----------
        name : str
            Name of the section, which ends its id.
        title : str
            The heading.
        *content : object
            What follows the heading; None is left out.

        Returns
        -------
        Markup
        """
        heading, anchor = tag("h3", title), f"{self.anchor}-{name}"
        if name not in INSIDE:
            return tag("section", heading, content, id=anchor)
        return tag("section", folded_part(heading, INSIDE[name], content), id=anchor)

    def place_columns(self) -> list[Column]:
        """Return the columns that say where a row of a table belongs: task, split, or both."""
        dataset = self.dataset
        names = [self.word] if dataset.one_split else ["task", "split"] if dataset.several else ["split"]
        return [Column(name.capitalize(), False) for name in names]

    def place(self, task: str, split: str) -> list[str]:
        """Return the cells of `place_columns`.

        Parameters
        ----------
        task : str
            Name of the task.
        split : str
            Name of the split.

        Returns
        -------
        list of str
            One cell for each of `place_columns`.
        """
        dataset = self.dataset
        return [task] if dataset.one_split else [task, split] if dataset.several else [split]

    @cached_property
    def few_negatives(self) -> bool:
        """Whether no test set has more than 50 negatives: then ROC50 is the AUC."""
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
        """Dict of metric to Compared over the tasks, or SingleTaskTests on the only one, the headline metric first.

        Of residues it is ComparedChains on the only one.

        Empty where there are too few tasks, or no valid test.
        """
        if self.dataset.several:
            return compare_tasks(self.dataset, self.ranking, self.word, self.words)
        return compare_on_task(self.dataset, self.ranking)

    @cached_property
    def headline(self) -> Headline:
        """The methods by the headline metric, with intervals, against chance and trivial baselines."""
        return Headline(self.dataset, self.ranking)

    @cached_property
    def outcomes(self) -> dict[Method, Outcome]:
        """Dict of Method to Outcome, best method first; a method without decisions is left out."""
        rest = [method for method in self.dataset.done if method not in self.ranking.order]
        result = {}
        for method in [*self.ranking.order, *rest]:
            table = self.dataset.decisions(method)
            if table is not None and len(table):
                result[method] = outcome(self.dataset, table)
        return result


def method_name(method: tuple[str, str], transductive: Collection[str] = ()) -> Markup:
    """Return ``kernel with solver``; with a mark if the kernel is one of those that are transductive.

    Parameters
    ----------
    method : (str, str)
        Kernel and solver.
    transductive : collection of str, optional
        Kernels whose names get the mark of transductive profiles.

    Returns
    -------
    Markup
    """
    kernel, solver = method
    return Markup(f"{tag('b', kernel)}{mark(kernel, transductive)} with {tag('b', solver)}")


def method_names(methods: Sequence[tuple[str, str]], most: int = 6) -> Markup:
    """Return the names of methods as a list in a sentence.

    Parameters
    ----------
    methods : sequence of (str, str)
        At least one.
    most : int, default 6
        Methods that are named; the others are counted.

    Returns
    -------
    Markup
        ``A with B, C with D and 2 more``.

    Examples
    --------
    >>> from seqkern.core.markup import text_of
    >>> text_of(method_names([("spectrum", "csvc"), ("mismatch", "csvc"), ("gapped", "psvc")], most=2))
    'spectrum with csvc, mismatch with csvc and 1 more'
    """
    names = [method_name(method) for method in methods[:most]]
    rest = len(methods) - most
    if rest > 0:
        return Markup(f"{join(', ', names)} and {rest} more")
    return Markup(f"{join(', ', names[:-1])} and {names[-1]}") if len(names) > 1 else names[0]


def paragraph(*content: object, class_: str | None = None) -> Markup:
    """Return a paragraph.

    Parameters
    ----------
    *content : object
        Texts, which are escaped, and Markup.
    class_ : str, optional
        Class of the paragraph.

    Returns
    -------
    Markup
    """
    return tag("p", content, class_=class_)
