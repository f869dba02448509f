"""Which features were selected, how often over the splits; and what a look at the test sets would have pretended."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from seqkern.core.markup import Markup, details, tag
from seqkern.figures.feature_weights import feature_weights_figure
from seqkern.figures.html_table import Column, table
from seqkern.figures.numbers import number, plural
from seqkern.report.dataset_results import KEYS
from seqkern.report.files import numbers, rows_by
from seqkern.report.relevance import has_relevances
from seqkern.report.sections.coefficients import coefficient_parts
from seqkern.report.sentences import metric
from seqkern.report.view import View, method_name, paragraph
from seqkern.solvers.psvm.significance_test import SOLVERS, SignificanceTest
from seqkern.study.kernel_entries import KernelEntry

if TYPE_CHECKING:
    import pandas as pd

SHOWN, LISTED = 20, 300
CAUTION = (
    "Do not cite these scores: they are biased. The features were selected on all samples, including the "
    "test sets; only the classifier was trained without the test set. The selection has therefore seen "
    "the test labels, and with many features even random labels would appear predictable. The table shows "
    "how much this common mistake inflates the scores. Cite the unbiased values."
)


def features_section(view: View) -> Markup | None:
    """Return which features each method selected, in how many splits, and intervals of coefficients; None without.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or None
        The section; None where no method selects features.
    """
    found = view.dataset.features
    if not len(found):
        return None
    parts: list[object] = []
    for (kernel, solver), part in rows_by(found, ["kernel", "solver"]):
        if has_relevances(view.dataset, solver):
            continue  # it selects none; relevances are shown with its prototypes
        splits = view.dataset.metrics
        n = int(((splits["kernel"] == kernel) & (splits["solver"] == solver)).sum())
        parts.append(_of_method(view, kernel, solver, part, n))
    parts += coefficient_parts(view)
    if not any(parts):
        return None
    intro = (
        "Features were selected separately on each training set. A feature selected on nearly all of them does not "
        "depend on a few samples. If the lists differ a "
        "lot, many features carry the same information, and a single list is not a result. A feature that is not "
        "selected may still be related to the classes."
    )
    tested = "p_corrected" in found and found["p_corrected"].notna().any()
    return view.section(
        "features", "Selected features", paragraph(intro), paragraph(_test_words(view)) if tested else None, parts
    )


def _of_method(view: View, kernel: str, solver: str, part: pd.DataFrame, n_splits: int) -> list[Markup | None] | None:
    """Return the table of one method: features by how often they were selected."""
    part = part.drop_duplicates([*KEYS, "feature"])  # with several classes a feature has a weight for each
    counted = part.groupby("feature", sort=False)["rank"].agg(["count", "mean"]).reset_index()
    counted = counted.sort_values(["count", "mean", "feature"], ascending=[False, True, True])
    sizes = part.groupby(KEYS, sort=False).size()
    always = int((counted["count"] == n_splits).sum())
    if view.dataset.residues and always == len(counted) > SHOWN:
        return None  # it takes all letters and places, and selects none
    if sizes.median() > LISTED:
        text = f" selects a median of {number(sizes.median(), 0)} features per {view.word}, too many to list."
        return [paragraph(method_name((kernel, solver)), text)]
    p = _p_values(part, n_splits)
    rows = [
        [row["feature"], f"{row['count']} of {n_splits}", number(row["mean"], 1)]
        + ([] if p is None else [number(p[row["feature"]], 4)])
        for row in counted.to_dict("records")
    ]
    columns: list[Column | str] = [
        Column("Feature", False),
        Column(f"Selected in {view.words}"),
        Column("Mean rank", hint="where selected; 1 is the best"),
    ]
    if p is not None:
        columns.append(Column("p, corrected", hint="for all features tested; at most 0.05 is significant"))
    name = method_name((kernel, solver))
    size = [
        name,
        f": {number(sizes.median(), 0)} features in the median {view.word}; {plural(len(counted), 'different one')} "
        f"in all, {always} of them in all {n_splits} {view.words}.",
        _of_references(view, kernel),
    ]
    caption = [f"{view.dataset.name}: features selected most often by ", name]
    drawn = _drawn(view, kernel, solver, part, counted["feature"].tolist())
    more = rows[SHOWN:LISTED]
    rest = f" The others are in features.tsv of the method: {len(rows) - LISTED}." if len(rows) > LISTED else ""
    return [
        paragraph(size),
        drawn,
        table(caption, columns, rows[:SHOWN]),
        details(
            f"{plural(len(more), 'further feature')}", table([*caption, ", continued"], columns, more), paragraph(rest)
        )
        if more
        else None,
    ]


def _of_references(view: View, kernel: str) -> str | None:
    """Return why features that are training sequences are not selected in all splits; None of other features."""
    entry = view.dataset.kernel(kernel)
    if not isinstance(entry, KernelEntry) or not entry.known or entry.kernel.name != "pairwise":
        return None
    return " Features are similarities to training sequences, so a sequence cannot be selected where it is tested."


def _drawn(view: View, kernel: str, solver: str, part: pd.DataFrame, features: list[str]) -> Markup | None:
    """Return the weights that a P-SVM gives its features, by training set; None for other solvers."""
    several = "class" in part and (part["class"] != "").any()
    if view.dataset.solver(solver).solver_name not in SOLVERS or several:
        return None
    weights = part.assign(weight=numbers(part["weight"])).groupby("feature", sort=False)["weight"]
    means = weights.mean().to_dict()
    shown = sorted(features[:SHOWN], key=lambda feature: -float(means[feature]))
    label = f"{view.dataset.name}: weights of the features selected most often by {kernel} with {solver}"
    figure = feature_weights_figure({f: weights.get_group(f).tolist() for f in shown}, label)
    return tag("figure", figure, class_="wide")


def _p_values(part: pd.DataFrame, n_splits: int) -> dict[str, float] | None:
    """Return the corrected p-value of each feature over the splits; None where features were not tested.

    Of several splits that of Meinshausen, Meier & Bühlmann 2009 (γ = ½): twice the median of the splits' p-values, with
    1 where the feature was not selected. It is valid however much the training sets overlap.
    """
    if "p_corrected" not in part or part["p_corrected"].isna().all():
        return None
    found = {}
    for feature, own in part.groupby("feature", sort=False)["p_corrected"]:
        values = own.fillna(1.0).tolist() + [1.0] * (n_splits - len(own))
        found[str(feature)] = min(1.0, (2.0 if n_splits > 1 else 1.0) * median(values))
    return found


def _test_words(view: View) -> str:
    """Return what the p-values mean."""
    test = view.dataset.entry.significance or SignificanceTest()
    value = "correlation with the labels" if test.statistic == "correlation" else "coefficient"
    text = (
        f"p is the probability that, with labels in random order, any feature gets as large a {value} as this one "
        f"({number(test.permutations, 0)} permutations of the training labels, as if samples were independent)"
    )
    if len(view.dataset.metrics[KEYS].drop_duplicates()) > 1:
        text += (
            f"; shown is twice the median over the {view.words}, with 1 where the feature was not selected "
            "(Meinshausen, Meier & Bühlmann, JASA 104, 2009)"
        )
    return text + "."


def selection_bias_section(view: View) -> Markup | None:
    """Return what a selection with a look at the test sets would have pretended; None where it was not computed.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or None
        The section; None where the bias was not computed.
    """
    biased = view.dataset.selection_bias
    name = view.ranking.metric
    if not len(biased) or name is None or name not in biased:
        return None
    honest, rows = view.dataset.metrics, []
    for (kernel, solver), part in rows_by(biased, ["kernel", "solver"]):
        ours = honest[(honest["kernel"] == kernel) & (honest["solver"] == solver)]
        cells = []
        for one in dict.fromkeys([name, "balanced_accuracy"]):
            if one in part and one in ours:
                values = ours[one].mean(), part[one].mean()
                cells += [number(values[0]), tag("s", number(values[1])), number(values[1] - values[0])]
        rows.append([method_name((kernel, solver)), *cells])
    columns: list[Column | str] = [Column("Kernel with solver", False)]
    for one in dict.fromkeys([name, "balanced_accuracy"]):
        if one in biased and one in honest:
            word = metric(one).name
            columns += [
                Column(f"{word}, unbiased", hint="features selected on each training set; cite this value"),
                Column(f"{word}, biased", hint="features selected on all samples; do not cite"),
                Column("Difference"),
            ]
    return view.section(
        "selection-bias",
        "Selection bias: scores if features were selected outside the folds",
        paragraph(tag("strong", "⚠ "), CAUTION),
        table(f"{view.dataset.name}: unbiased and biased scores, means over {view.words}", columns, rows),
        paragraph(
            "Both columns use the same hyperparameters, splits, "
            "classifier and decision threshold. Ambroise & McLachlan, Selection bias in gene extraction on the "
            "basis of microarray gene-expression data, "
            "PNAS 99, 2002.",
        ),
    )
