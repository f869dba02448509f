"""Sections on features: selected, coefficients, the P-SVM's path, prototypes, positions, motifs, variants."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, TypeAlias, cast

import numpy as np
import pandas as pd

from seqkern.genomics.effects import COLUMNS
from seqkern.genomics.motif_tables import FEW_KNOWN, Match, read_motifs
from seqkern.methods.poim import load_positions
from seqkern.report.curves import pr_points, precision_figure
from seqkern.report.dataset_results import KEYS, numbers, read_json, read_table, rows_by, rows_by_value
from seqkern.report.learned_pages import logo_figures, motif_table, positions_content
from seqkern.report.markup import Markup, details, tag
from seqkern.report.methods_text import chosen_values
from seqkern.report.outcomes import sequence_cell, stored_sequences
from seqkern.report.page_frame import Column, number, plural, table
from seqkern.report.plots import (
    coefficients_figure,
    epsilon_path_figure,
    feature_weights_figure,
    letters_figure,
    state_title,
)
from seqkern.report.residue_data import has_relevances, mean_relevances, relevances_by_position
from seqkern.report.sentences import enumerate_names, metric
from seqkern.report.view import View, method_name, paragraph
from seqkern.solvers.psvm.path import SOLVERS, SignificanceTest
from seqkern.study.dataset_entries import Importance, MotifSearch, VariantEffects
from seqkern.study.kernel_entries import KernelEntry

# Least-squares coefficients on a subset of the features, with their confidence intervals, for each class.

MOST = 40
"""Maximum number of features that are drawn."""
ENDS = ("weight", "low", "high")
FULL = ("full_low", "full_high")


Means: TypeAlias = dict[str, dict[str, dict[str, Any]]]
"""Class to feature to means over the splits."""


def coefficient_parts(view: View) -> list[Markup]:
    """Return, for each method whose solver gives intervals, a figure and a table of the coefficients."""
    found, parts = view.dataset.coefficients, list[Markup]()
    for (kernel, solver), rows in rows_by(found, ["kernel", "solver"]):
        features = list(dict.fromkeys(rows["feature"]))
        name = method_name((kernel, solver))
        if len(features) > MOST:
            text = f": coefficients of {number(len(features), 0)} features are in intervals.tsv of the method."
            parts.append(paragraph(name, text))
            continue
        means, n = _means(rows)
        parts += [tag("h4", "Coefficients of ", name), paragraph(_reading(view, solver, n))]
        label = f"{view.dataset.name}: coefficients of {kernel} with {solver}, with confidence intervals"
        parts.append(tag("figure", coefficients_figure(means, features, label), class_="wide"))
        classes = list(means)
        lines = [[feature, *(_cell(means[c].get(feature), n) for c in classes)] for feature in features]
        columns: list[Column | str] = [Column("Feature", False), *(Column(state_title(c)) for c in classes)]
        caption = [f"{view.dataset.name}: coefficients in the selected subset, by ", name]
        parts.append(details("Table of coefficients", table(caption, columns, lines, class_="dense")))
    return parts


def _means(rows: pd.DataFrame) -> "tuple[Means, int]":
    """Return {class: {feature: means over the splits}}, and the number of splits.

    The means are a dict: `ENDS` over the splits that chose the feature, `FULL` over all splits, and ``chosen``, the
    number of splits that chose it.
    """
    rows = rows.assign(chosen=rows["selected"] == "1", **{name: numbers(rows[name]) for name in (*ENDS, *FULL)})
    n = len(rows[["task", "split"]].drop_duplicates())
    groups = rows.groupby(["class", "feature"], sort=False)
    table = groups.agg({**dict.fromkeys((*ENDS, *FULL), "mean"), "chosen": "sum"})
    means: Means = {}
    for (state, feature), one in zip(table.index, table.to_dict("records"), strict=True):
        means.setdefault(state, {})[feature] = cast("dict[str, Any]", one)
    return means, n


def _reading(view: View, solver: str, n: int) -> str:
    """Return an explanation, in plain words, of how to read the figure."""
    level = view.dataset.solver(solver).values("level", 0.95)
    text = (
        "A coefficient shows how far a feature moves the decision towards the class (above 0) "
        f"or away from it, with all other features fixed. Dots are selected features with intervals ({100 * level:g} "
        "%); grey bars are the intervals in the model with all features. Intervals of selected features "
        "are too narrow, because the same samples selected and estimated them; the grey intervals are valid."
    )
    if n > 1:
        text += f" All values are means over {n} {view.words}; for selected features, over those that selected them."
    return text


def _cell(one: dict[str, Any] | None, n: int) -> Markup:
    """Return a table cell with a coefficient and the ends of its interval; a dash if the feature was never chosen."""
    if one is None or not one["chosen"]:
        return number(None)
    text = f"{number(one['weight'])} ({number(one['low'])} to {number(one['high'])})"
    some = tag("small", f" in {one['chosen']} of {n}") if one["chosen"] < n else ""
    return Markup(f"{text}{some}")


# Selected features, how often over the splits, and the optimistic bias of selecting with the test sets.

SHOWN, LISTED = 20, 300
CAUTION = (
    "Do not cite these scores: they are biased. The features were selected on all samples, including the "
    "test sets; only the classifier was trained without the test set. The selection has therefore seen "
    "the test labels, and with many features even random labels would appear predictable. The table shows "
    "how much this common mistake inflates the scores. Cite the unbiased values."
)


def features_section(view: View) -> Markup | None:
    """Return the features selected by each method, with the number of splits and intervals of coefficients.

    Return None if no method selects features.
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
        parts.append(_feature_table(view, kernel, solver, part, n))
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
        "features", "Selected features", paragraph(intro), paragraph(_test_text(view)) if tested else None, parts
    )


def _feature_table(
    view: View, kernel: str, solver: str, part: pd.DataFrame, n_splits: int
) -> list[Markup | None] | None:
    """Return the table of one method: features by the number of their selections."""
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
        _reference_remark(view, kernel),
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


def _reference_remark(view: View, kernel: str) -> str | None:
    """Return the reason why features that are training sequences are not selected in all splits; None for others."""
    entry = view.dataset.kernel(kernel)
    if not isinstance(entry, KernelEntry) or not entry.known or entry.kernel.name != "pairwise":
        return None
    return " Features are similarities to training sequences, so a sequence cannot be selected where it is tested."


def _drawn(view: View, kernel: str, solver: str, part: pd.DataFrame, features: list[str]) -> Markup | None:
    """Return a plot of the weights that a P-SVM gives its features, by training set; None for other solvers."""
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

    For several splits it is twice the median of the splits' p-values, with 1 where the feature was not selected
    (Meinshausen, Meier & Bühlmann 2009, γ = ½). It is valid however much the training sets overlap.
    """
    if "p_corrected" not in part or part["p_corrected"].isna().all():
        return None
    found = {}
    for feature, own in part.groupby("feature", sort=False)["p_corrected"]:
        values = own.fillna(1.0).tolist() + [1.0] * (n_splits - len(own))
        found[str(feature)] = min(1.0, (2.0 if n_splits > 1 else 1.0) * median(values))
    return found


def _test_text(view: View) -> str:
    """Return an explanation of the p-values."""
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
    """Return the inflated scores that feature selection with the test sets would have given; None if not computed."""
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


# Weights of the P-SVM against ε, on the first training set.

NAMED = 8
"""Number of columns that are named in the figure."""
EPSILON_PATH_LISTED = 40
INTRO = (
    "At ε_max no column has a weight; as ε decreases, columns enter one after the other, and some leave again. Columns "
    "that enter early explain most; those that enter at the right end fit what the others left over, noise included."
)


def epsilon_path_section(view: View) -> Markup | None:
    """Return the ε-paths of all P-SVMs on matrices of few columns; None if there are none."""
    found = rows_by(view.dataset.paths, ["kernel", "solver"])
    parts = [_epsilon_path_parts(view, kernel, solver, rows) for (kernel, solver), rows in found]
    return view.section("path", "Path of ε", paragraph(INTRO), parts) if parts else None


def _epsilon_path_parts(view: View, kernel: str, solver: str, rows: pd.DataFrame) -> list[Markup]:
    """Return figure and table of one method."""
    epsilons = sorted(set(rows["epsilon"]), reverse=True)
    used = float(rows["used"].iloc[0])
    weights: dict[str, list[float]] = {}
    entered: dict[str, float] = {}
    for (feature, _), own in rows_by(rows, ["feature", "column"]):
        own = own.sort_values("epsilon", ascending=False)
        name = str(feature) if feature not in weights else f"{feature} ({own['column'].iloc[0]})"
        weights[name] = own["weight"].tolist()
        entered[name] = float(own.loc[own["weight"] != 0, "epsilon"].max())
    order = sorted(weights, key=lambda name: (-entered[name], -abs(weights[name][-1])))
    nearest = min(range(len(epsilons)), key=lambda i: abs(epsilons[i] - used))
    lines = [
        [name, number(entered[name]), number(weights[name][nearest], 4), number(weights[name][-1], 4)]
        for name in order[:EPSILON_PATH_LISTED]
    ]
    task, split = rows["task"].iloc[0], rows["split"].iloc[0]
    where = f"split {split}" if task == "all" else f"{task}, split {split}"
    text = (
        f": training set of {where}. The first {plural(min(NAMED, len(order)), 'column')} to enter are named; "
        f"{plural(len(order), 'column')} of the matrix entered in all."
    )
    label = f"{view.dataset.name}: weights of {kernel} with {solver} against ε"
    columns: list[Column | str] = [
        Column("Column", False),
        Column("Enters at", hint="ε / ε_max, the largest at which it has a weight"),
        Column("Weight at the fit", hint=f"at the ε nearest to the fit's, {used:.3g}"),
        Column("Weight at the end", hint=f"at ε = {epsilons[-1]:.3g}"),
    ]
    name = method_name((kernel, solver))
    return [
        paragraph(name, text),
        tag("figure", epsilon_path_figure(epsilons, weights, order[:NAMED], used, label), class_="wide"),
        details(
            "Table of columns", table([f"{view.dataset.name}: path of ε of ", name], columns, lines, class_="dense")
        ),
    ]


# Typical sequences of each class, and the features that a metric learned with them finds relevant.

PROTOTYPES_SHOWN, PROTOTYPES_LISTED = 5, 20
RELEVANCE = (
    "The metric was learned with the prototypes: the relevance of a feature is its share of the squared distance, for "
    "features divided by their standard deviation; all relevances sum to 1. Relevance supports no class. Features that "
    "carry the same information share it. Values are means over "
)


def prototypes_section(view: View) -> Markup | None:
    """Return the typical sequences of each class for each method with prototypes; None if there is none."""
    found = view.dataset.exemplars
    if not len(found):
        return None
    sequences = stored_sequences(view.dataset, dict.fromkeys(found["id"]))
    parts: list[object] = []
    for (kernel, solver), rows in rows_by(found, ["kernel", "solver"]):
        parts += _exemplar_tables(view, kernel, solver, rows, sequences)
        if has_relevances(view.dataset, solver):
            parts += _relevances(view, kernel, solver)
    intro = view.sample_text(
        "A prototype stands for a class: a new sequence gets the class of the nearest one. Below are the training "
        "sequences nearest to the prototypes of their class, as exemplars of it."
    )
    return view.section("prototypes", view.sample_text("Typical sequences"), paragraph(intro), parts)


def _exemplar_tables(
    view: View, kernel: str, solver: str, rows: pd.DataFrame, sequences: dict[str, str]
) -> list[Markup | None]:
    """Return the tables of one method: for each class its exemplars, the most frequent first."""
    name, splits = method_name((kernel, solver)), len(rows[KEYS].drop_duplicates())
    lines: list[list[object]] = []
    more: list[list[object]] = []
    counts = []
    for label, own in rows_by_value(rows, "class"):
        own = own.assign(first=own["rank"] == 1)
        groups = own.groupby("id", sort=False).agg({"first": "sum", "rank": "count", "distance": "mean"}).reset_index()
        groups = groups.sort_values(["first", "rank", "distance", "id"], ascending=[False, False, True, True])
        for place, one in enumerate(groups.head(PROTOTYPES_LISTED).to_dict("records")):
            shown = [sequence_cell(sequences[one["id"]]) if one["id"] in sequences else number(None)]
            line = [label, one["id"], f"{one['first']} of {splits}", f"{one['rank']} of {splits}"]
            (lines if place < PROTOTYPES_SHOWN else more).append(
                [*line, number(one["distance"]), *(shown if sequences else [])]
            )
        sizes = own[own["first"]].groupby(KEYS, sort=False).size()
        least, most = int(sizes.min()), int(sizes.max())
        counts.append(f"{label} {least if least == most else f'{least} to {most}'}")
    columns: list[Column | str] = [
        Column("Class", False),
        Column("Name", False),
        Column(f"Nearest in {view.words}", hint="training sets in which it is the nearest to a prototype"),
        Column(f"Listed in {view.words}", hint="training sets in which it is among the five nearest"),
        Column("Distance", hint="squared, from the prototype; mean over the training sets that list it"),
    ]
    if sequences:
        columns.append(Column("Window" if view.dataset.residues else "Sequence", False))
    caption = [f"{view.dataset.name}: exemplars of ", name]
    rest = table([*caption, ", continued"], columns, more, class_="ids") if more else None
    return [
        tag("h4", "Exemplars of ", name),
        paragraph(f"Prototypes of each class: {', '.join(counts)}."),
        table(caption, columns, lines, class_="ids"),
        details(f"{plural(len(more), 'further exemplar')}", rest) if more else None,
    ]


def _relevances(view: View, kernel: str, solver: str) -> list[Markup]:
    """Return the relevances of the features: as positions × letters if they have positions, otherwise as a table."""
    features = view.dataset.features
    own = features[(features["kernel"] == kernel) & (features["solver"] == solver)]
    name = method_name((kernel, solver))
    if not len(own):
        text = ": the features of this kernel have no names or are too many; relevances are not listed."
        return [paragraph(name, text)]
    found = mean_relevances(own)
    parts = [tag("h4", "Relevances of ", name), paragraph(f"{RELEVANCE}{view.words}.")]
    drawn = relevances_by_position(own)
    if drawn is not None:
        label = f"{view.dataset.name}: relevance of letters by position, {kernel} with {solver}"
        scroll = tag(
            "div", letters_figure(drawn, label), class_="scroll", tabindex="0", role="region", aria_label="Relevances"
        )
        parts.append(tag("div", scroll, class_="positions"))
    rows = [
        [one["feature"], number(one["mean"]), Markup(f"{number(one['min'])} to {number(one['max'])}")]
        for one in found.head(PROTOTYPES_LISTED).to_dict("records")
    ]
    columns: list[Column | str] = ["Feature", Column("Relevance"), Column("Least to largest", False)]
    caption = [f"{view.dataset.name}: most relevant of {plural(len(found), 'feature')} by ", name]
    parts.append(table(caption, columns, rows))
    return parts


# Importance of window positions for the method that the configuration names.


def importance_section(view: View) -> Markup | None:
    """Return the logos and the heat map; None if the configuration names no importance."""
    dataset = view.dataset
    folder, entry = dataset.folder("importance"), dataset.entry.importance
    if entry is None:
        return None
    summary = read_json(folder / "importance.json")
    if summary is None:
        text = "No results on the importance of positions were found."
        return view.section("importance", "Importance of positions", paragraph(text, class_="missing"))
    positions = load_positions(folder / "importance.npz")
    content = positions_content(positions, f"{dataset.name}, kernel {entry.kernel}")
    return view.section("importance", "Importance of positions", _trained(entry, summary), content)


def _trained(entry: Importance, summary: Mapping[str, Any]) -> Markup:
    """Return a text on the training set and the method trained on it."""
    method = method_name((entry.kernel, entry.solver))
    part, n = summary.get("part"), number(summary.get("n"), 0)
    on = f"the training set of the split {part}" if part else "all windows of the data set"
    how = chosen_values(summary)
    pair = f" For several classes, this is the classifier for {summary['pair']}." if summary.get("pair") else None
    text = " The scores above come from other models, each trained without its test set."
    return paragraph("A model of ", method, f" was trained on {on} (", n, " windows)", how, ".", pair, text)


# Motifs that the method named in the configuration has learned from a data set.

SIGNIFICANT = 0.05
SEQLETS = (
    "Seqlets are the stretches that contribute most to the decisions, more than stretches of shuffled sequences do; "
    "similar ones are aligned, and make a motif. The share is that of their contributions in the sum of all absolute "
    "contributions."
)


def motifs_section(view: View) -> Markup | None:
    """Return the table of motifs and their logos; None where there are none and the study asks for none."""
    entry, folder = view.dataset.entry.motifs, view.dataset.folder("motifs")
    meme, listed = folder / "motifs.meme", folder / "motifs.tsv"
    if not meme.is_file() or not listed.is_file():
        if entry is None:
            return None
        text = "No results on motifs were found."
        return view.section("motifs", "Motifs", paragraph(text, class_="missing"))
    motifs, classes, matches = read_motifs(meme, listed)
    training = read_json(folder / "motifs.json")
    told = [] if entry is None or training is None else [_motif_training_text(entry, training)]
    told.append(paragraph(SEQLETS))
    if not motifs:
        none = paragraph("No group of similar seqlets was large enough to make a motif.")
        return view.section("motifs", "Motifs", *told, none)
    if matches is not None:
        told.append(_found(matches, (training or {}).get("known"), view))
    return view.section(
        "motifs", "Motifs", *told, motif_table(motifs, classes, matches), *logo_figures(motifs, classes, matches)
    )


def _motif_training_text(entry: MotifSearch, training: Mapping[str, Any]) -> Markup:
    """Return a text on the training set and the method trained on it, and on where motifs were sought."""
    return paragraph(
        "A model of ",
        method_name((entry.kernel, entry.solver)),
        " was trained on all samples (",
        number(training["n"], 0),
        ")",
        chosen_values(training),
        "; motifs were sought in the ",
        number(training["sequences"], 0),
        f" sequences of class {training['positive']}. The scores above come from other models, each trained without "
        "its test set.",
    )


def _found(matches: Sequence[Match], count: int | None, view: View) -> Markup:
    """Return a text on the known motifs among those found, and the meaning of p and q."""
    names = list(dict.fromkeys(match.name for match in matches if match.q <= SIGNIFICANT))
    other = sum(match.q > SIGNIFICANT for match in matches)
    if names:
        counted = plural(len(names), "known motif") if count is None else f"{len(names)} of {count} known motifs"
        known = f"{counted} found (q ≤ {SIGNIFICANT}): {enumerate_names(names)}. "
    else:
        known = "No motif matches a known one. "
    rest = f"{plural(other, 'motif')} {'matches' if other == 1 else 'match'} none of them. " if other and names else ""
    planted = " The known motifs are those planted in the simulated genome." if view.dataset.entry.simulated else ""
    return paragraph(
        known,
        rest,
        "p is the probability that a random motif of the same width is as similar to the known one; q is the false "
        "discovery rate among all pairs of motif and known motif.",
        " With so few known motifs, both depend much on the motifs chosen." if 0 < (count or 0) < FEW_KNOWN else "",
        planted,
    )


# Effects of variants by models that have not seen their chromosomes, compared with known effects.

EFFECTS_MOST = 20
"""Maximum number of rows in the table of single variants."""
NUMERIC = ("position", "reference", "alternative", "delta", "score", "composition_score", "distance", "effect", "true")
NAMES = {
    "model": "|delta| of the model",
    "composition": "3-mer composition",
    "distance": "nearness to a positive sample",
}


def effects_section(view: View) -> Markup | None:
    """Return the scores of each ranking of variants, and the top-ranked variants; None if the study names none."""
    entry, folder = view.dataset.entry.variants, view.dataset.folder("effects")
    if entry is None:
        return None
    summary, rows = read_json(folder / "effects.json"), read_table(folder / "effects.tsv", COLUMNS, NUMERIC)
    if summary is None or rows is None:
        text = "No results on effects of variants were found."
        return view.section("effects", "Variant effects", paragraph(text, class_="missing"))
    content: list[object] = [_effect_training_text(entry, summary, rows)]
    scores = summary["scores"]
    if scores is not None and scores["rankings"]:
        content += [_truth(view, summary), _ranked(scores), _curves(view, rows, scores), _signs(scores)]
    elif scores is not None:
        content.append(paragraph("The known effects are all true, or all not: there is nothing to rank."))
    return view.section("effects", "Variant effects", *content, _first(rows))


def _effect_training_text(entry: VariantEffects, summary: Mapping[str, Any], rows: pd.DataFrame) -> Markup:
    """Return a text on the models that scored variants, and the number of variants."""
    scored = int(rows["delta"].notna().sum())
    return paragraph(
        "For each split, a model of ",
        method_name((entry.kernel, entry.solver)),
        " was trained on the training set alone, hyperparameters included, and scored the variants on the chromosomes "
        "that the split holds out: no variant was scored by a model that has seen the sequences around it. ",
        number(scored, 0),
        " of ",
        number(summary["variants"], 0),
        " alleles were scored. Delta is the decision with the alternative allele less that with the reference, as in "
        "deltaSVM. Variants are ranked by |delta|, divided by its median in the split, since models of different "
        "splits differ in scale.",
    )


def _truth(view: View, summary: Mapping[str, Any]) -> Markup:
    """Return a text on the definition of a true effect, the score of chance, and the basis of the trivial rankings."""
    scores, truth = summary["scores"], summary["truth"]
    where = "0" if truth["threshold"] == 0 else f"±{truth['threshold']:g}"
    beyond = "is not 0" if where == "0" else f"is beyond {where}"
    planted = (
        " Effects are planted: log-odds of the site's motif; variants that create a site are true like those that "
        "destroy one."
        if view.dataset.entry.simulated
        else ""
    )
    return paragraph(
        f"True are the {number(scores['true'], 0)} of {number(scores['n'], 0)} variants whose ",
        tag("code", truth["field"]),
        f" {beyond}.{planted} A random ranking has a precision, and an average precision, of ",
        tag("b", number(scores["true"] / scores["n"])),
        " and an AUROC of 0.5. Two trivial rankings stand beside the model: the change of the log-odds of 3-mers, "
        "learned from the same training sets, which knows composition only; and the nearness to the middle of a "
        f"sample of class {summary['positive']}, which uses the held-out samples, as the model does not.",
    )


def _ranked(scores: Mapping[str, Any]) -> Markup:
    """Return the table of the rankings."""
    numbers = [one["n"] for one in next(iter(scores["rankings"].values()))["top"]]
    columns = [Column("Ranking", numeric=False), Column("Average precision"), Column("AUROC")]
    hint = "share of true variants among them; 95 % Wilson interval"
    columns += [Column(f"Top {n}" + (" (all true)" if n == scores["true"] else ""), hint=hint) for n in numbers]
    rows: list[list[object]] = []
    for name, own in scores["rankings"].items():
        tops = [
            [number(one["precision"]), tag("small", f" [{one['low']:.2f}, {one['high']:.2f}]")] for one in own["top"]
        ]
        rows.append([NAMES[name], number(own["ap"]), number(own["auc"]), *tops])
    chance = scores["true"] / scores["n"]
    rows.append(["chance", number(chance), number(0.5), *[number(chance)] * len(numbers)])
    return table("Precision of the top variants", columns, rows)


def _curves(view: View, rows: pd.DataFrame, scores: Mapping[str, Any]) -> Markup | None:
    """Return the precision-recall curves."""
    known = rows[rows["true"].notna() & rows["delta"].notna()]
    true = known["true"].to_numpy() == 1
    values = {
        "model": known["score"].to_numpy(),
        "composition": known["composition_score"].to_numpy(),
        "distance": -known["distance"].fillna(np.inf).to_numpy(),
    }
    curves = []
    for name in scores["rankings"]:
        recall, precision = pr_points(true, values[name])
        if recall is not None and precision is not None:
            curves.append((NAMES[name], (recall, precision)))
    label = f"{view.dataset.name}, precision and recall of variants"
    figure = precision_figure(curves, scores["true"] / scores["n"], label)
    caption = tag("figcaption", "Precision and recall of the variants with a known effect")
    return tag("figure", figure, caption, class_="wide")


def _signs(scores: Mapping[str, Any]) -> Markup | None:
    """Return a sentence on how often delta has the sign of the known effect."""
    signs = scores["signs"]
    if signs is None:
        return None
    text = f"Delta has the sign of the known effect for {signs['agree']} of the {plural(signs['of'], 'true variant')}; "
    return paragraph(text, "chance is a half.")


def _first(rows: pd.DataFrame) -> Markup:
    """Return the variants with the greatest scores."""
    shown = rows[rows["score"].notna()].sort_values("score", ascending=False, kind="stable").head(EFFECTS_MOST)
    names = ["Variant", "Place", "Alleles", "Split"]
    columns = [Column(name, numeric=False) for name in names]
    columns += [Column("Delta"), Column("Score", hint="|delta| divided by its median in the split")]
    effect = "effect" in rows
    columns += [Column("Known effect")] if effect else []
    lines: list[list[object]] = []
    for row in shown.to_dict("records"):
        place = f"{row['chromosome']}:{row['position']:.0f}"
        line: list[object] = [row["id"], place, f"{row['ref']}>{row['alt']}", row["split"]]
        line += [number(row["delta"], 2), number(row["score"], 2)]
        lines.append(line + ([number(row["effect"], 2)] if effect else []))
    return table(f"The {len(lines)} variants with the greatest scores", columns, lines)
