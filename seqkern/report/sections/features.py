"""Sections on features: positions, motifs, variants, prototypes; selected features, coefficients, the P-SVM's path."""

from collections.abc import Mapping
from statistics import median
from typing import Any, TypeAlias, cast

import pandas as pd

from seqkern.genomics.effects import COLUMNS
from seqkern.genomics.motif_tables import FEW_KNOWN, read_motifs
from seqkern.methods.poim import load_positions
from seqkern.methods.study_results import (
    KEYS,
    Method,
    numbers,
    read_json,
    read_table,
    rows_by_method,
    rows_by_value,
)
from seqkern.report import plots
from seqkern.report.learned_pages import logo_figures, motif_table, positions_content
from seqkern.report.markup import Markup
from seqkern.report.methods_text import chosen_values
from seqkern.report.outcomes import sequence_cell, stored_sequences
from seqkern.report.page_frame import Column, listing, method_name, number, plural, table
from seqkern.report.residue_data import has_relevances, mean_relevances, relevances_by_position
from seqkern.report.sections.fitting import RANGE, span
from seqkern.report.sentences import metric
from seqkern.report.view import METHOD, View, section
from seqkern.solvers.psvm.path import SOLVERS, SignificanceTest
from seqkern.study.kernel_entries import KernelEntry

# Importance of window positions for the method that the configuration names.


@section("importance", "Importance of positions")
def importance_section(view: View) -> dict[str, Any] | None:
    """Draw the logos and the heat map; None if the configuration names no importance."""
    folder, entry = view.dataset.folder("importance"), view.dataset.entry.importance
    if entry is None:
        return None
    summary = read_json(folder / "importance.json")
    if summary is None:
        return {"missing": "No results on the importance of positions were found."}
    label = f"{view.dataset.name}, kernel {entry.kernel}"
    figures = positions_content(load_positions(folder / "importance.npz"), label)
    return {"entry": entry, "summary": summary, "chosen": chosen_values(summary), "figures": figures}


# Motifs that the method named in the configuration has learned from a data set.

SIGNIFICANT = 0.05


@section("motifs", "Motifs")
def motifs_section(view: View) -> dict[str, Any] | None:
    """Make the table of motifs and their logos; None where there are none and the study asks for none."""
    entry, folder = view.dataset.entry.motifs, view.dataset.folder("motifs")
    meme, listed = folder / "motifs.meme", folder / "motifs.tsv"
    if not meme.is_file() or not listed.is_file():
        return None if entry is None else {"missing": "No results on motifs were found."}
    motifs, classes, matches = read_motifs(meme, listed)
    training = read_json(folder / "motifs.json")
    known = [match for match in matches or () if match.q <= SIGNIFICANT]
    count = (training or {}).get("known")
    return {
        "entry": entry,
        "training": training,
        "chosen": None if training is None else chosen_values(training),
        "table": motif_table(motifs, classes, matches) if motifs else None,
        "logos": logo_figures(motifs, classes, matches),
        "matched": matches is not None,
        "known": list(dict.fromkeys(match.name for match in known)),
        "other": len(matches or ()) - len(known),
        "count": count,
        "few": 0 < (count or 0) < FEW_KNOWN,
        "level": SIGNIFICANT,
    }


# Effects of variants by models that have not seen their chromosomes, compared with known effects.

EFFECTS_MOST = 20
"""Maximum number of rows in the table of single variants."""
NUMERIC = ("position", "reference", "alternative", "delta", "score", "composition_score", "distance", "effect", "true")
RANKINGS = {
    "model": "|delta| of the model",
    "composition": "3-mer composition",
    "distance": "nearness to a positive sample",
}


@section("effects", "Variant effects")
def effects_section(view: View) -> dict[str, Any] | None:
    """Find the scores of each ranking of variants, and the top-ranked variants; None if the study names none."""
    entry, folder = view.dataset.entry.variants, view.dataset.folder("effects")
    if entry is None:
        return None
    summary, rows = read_json(folder / "effects.json"), read_table(folder / "effects.tsv", COLUMNS, NUMERIC)
    if summary is None or rows is None:
        return {"missing": "No results on effects of variants were found."}
    scores = summary["scores"]
    ranked = scores is not None and scores["rankings"]
    return {
        "entry": entry,
        "summary": summary,
        "scored": rows["delta"].notna().sum(),
        "ranked": _ranked(scores) if ranked else None,
        "first": _first(rows),
    }


def _ranked(scores: Mapping[str, Any]) -> Markup:
    """Return the table of the rankings."""
    sizes = [one["n"] for one in next(iter(scores["rankings"].values()))["top"]]
    hint = "share of true variants among them; 95% Wilson interval"
    columns: list[Column | str] = [Column("Ranking", False), "Average precision", "AUROC"]
    columns += [Column(f"Top {n}" + (" (all true)" if n == scores["true"] else ""), hint=hint) for n in sizes]
    rows: list[list[object]] = []
    for name, own in scores["rankings"].items():
        ends = [Markup(f"<small> [{one['low']:.2f}, {one['high']:.2f}]</small>") for one in own["top"]]
        tops = [[number(one["precision"]), end] for one, end in zip(own["top"], ends, strict=True)]
        rows.append([RANKINGS[name], number(own["ap"]), number(own["auc"]), *tops])
    chance = number(scores["true"] / scores["n"])
    rows.append(["chance", chance, number(0.5), *[chance] * len(sizes)])
    return table("Precision of the top variants", columns, rows)


def _first(rows: pd.DataFrame) -> Markup:
    """Return the variants with the greatest scores."""
    shown = rows[rows["score"].notna()].sort_values("score", ascending=False, kind="stable").head(EFFECTS_MOST)
    columns = [*(Column(name, False) for name in ("Variant", "Place", "Alleles", "Split")), Column("Delta")]
    columns += [Column("Score", hint="|delta| divided by its median in the split")]
    columns += [Column("Known effect")] if "effect" in rows else []
    lines = []
    for row in shown.to_dict("records"):
        place, alleles = f"{row['chromosome']}:{row['position']:.0f}", f"{row['ref']}>{row['alt']}"
        values = [number(row[name], 2) for name in ("delta", "score", "effect") if name in row]
        lines.append([row["id"], place, alleles, row["split"], *values])
    return table(f"The {len(lines)} variants with the greatest scores", columns, lines)


# Typical sequences of each class, and the features that a metric learned with them finds relevant.

PROTOTYPES_SHOWN, PROTOTYPES_LISTED = 5, 20


@section("prototypes", "")
def prototypes_section(view: View) -> dict[str, Any] | None:
    """Find the typical sequences of each class for each method with prototypes; None if there is none."""
    found = view.dataset.exemplars
    if not len(found):
        return None
    sequences = stored_sequences(view.dataset, dict.fromkeys(found["id"]))
    methods = []
    for method, rows in rows_by_method(found):
        relevances = _relevances(view, method) if has_relevances(view.dataset, method[1]) else None
        methods.append({"method": method, "relevances": relevances, **_exemplars(view, method, rows, sequences)})
    return {"title": view.sample_text("Typical sequences"), "methods": methods}


def _exemplars(view: View, method: Method, rows: pd.DataFrame, sequences: Mapping[str, str]) -> dict[str, Any]:
    """Return the tables of one method: for each class its exemplars, the most frequent first."""
    splits = len(rows[KEYS].drop_duplicates())
    nearest = Column(f"Nearest in {view.words}", hint="training sets in which it is the nearest to a prototype")
    listed = Column(f"Listed in {view.words}", hint="training sets in which it is among the five nearest")
    distance = Column("Distance", hint="squared, from the prototype; mean over the training sets that list it")
    lines: list[dict[Column, object]] = []
    counts = []
    for label, own in rows_by_value(rows, "class"):
        own = own.assign(first=own["rank"] == 1)
        groups = own.groupby("id", sort=False).agg({"first": "sum", "rank": "count", "distance": "mean"}).reset_index()
        groups = groups.sort_values(["first", "rank", "distance", "id"], ascending=[False, False, True, True])
        for one in groups.head(PROTOTYPES_SHOWN).to_dict("records"):
            line: dict[Column, object] = {
                Column("Class", False): label,
                Column("Name", False): one["id"],
                nearest: f"{one['first']} of {splits}",
                listed: f"{one['rank']} of {splits}",
                distance: number(one["distance"]),
            }
            if sequences:
                shown = sequences.get(one["id"])
                column = Column("Window" if view.dataset.residues else "Sequence", False)
                line[column] = number(None) if shown is None else sequence_cell(shown)
            lines.append(line)
        sizes = own[own["first"]].groupby(KEYS, sort=False).size()
        least, most = int(sizes.min()), int(sizes.max())
        counts.append(f"{label} {least if least == most else f'{least} to {most}'}")
    caption = [f"{view.dataset.name}: exemplars of ", method_name(method)]
    return {"counts": counts, "table": listing(caption, lines, "ids")}


def _relevances(view: View, method: Method) -> dict[str, Any]:
    """Return the relevances of the features: as positions × letters if they have positions, and as a table."""
    features, (kernel, solver) = view.dataset.features, method
    own = features[(features["kernel"] == kernel) & (features["solver"] == solver)]
    if not len(own):
        return {"table": None}
    found, drawn = mean_relevances(own), relevances_by_position(own)
    rows = [
        [one["feature"], number(one["mean"]), Markup(f"{number(one['min'])} to {number(one['max'])}")]
        for one in found.head(PROTOTYPES_LISTED).to_dict("records")
    ]
    label = f"{view.dataset.name}: relevance of letters by position, {kernel} with {solver}"
    caption = f"{view.dataset.name}: most relevant of {plural(len(found), 'feature')} by "
    return {
        "figure": None if drawn is None else plots.letters_figure(drawn, label),
        "table": table([caption, method_name((kernel, solver))], ["Feature", "Relevance", RANGE], rows),
    }


# Selected features, how often over the splits, and least-squares coefficients with their confidence intervals.

SHOWN, LISTED = 20, 300


@section("features", "Selected features")
def features_section(view: View) -> dict[str, Any] | None:
    """Find the features selected by each method, with the number of splits and intervals of coefficients.

    None if no method selects features.
    """
    found, metrics = view.dataset.features, view.dataset.metrics
    methods = []
    for (kernel, solver), part in rows_by_method(found):
        if has_relevances(view.dataset, solver):
            continue  # it selects none; relevances are shown with its prototypes
        splits = int(((metrics["kernel"] == kernel) & (metrics["solver"] == solver)).sum())
        one = _selected(view, kernel, solver, part, splits)
        methods += [] if one is None else [one]
    coefficients = [_coefficients(view, *method, rows) for method, rows in rows_by_method(view.dataset.coefficients)]
    if not len(found) or not methods + coefficients:
        return None
    return {
        "tested": "p_corrected" in found and found["p_corrected"].notna().any(),
        "test": view.dataset.entry.significance or SignificanceTest(),
        "several": len(metrics[KEYS].drop_duplicates()) > 1,
        "methods": methods,
        "coefficients": coefficients,
    }


def _selected(view: View, kernel: str, solver: str, part: pd.DataFrame, n_splits: int) -> dict[str, Any] | None:
    """Return the features of one method by the number of their selections; None if it takes all of them."""
    part = part.drop_duplicates([*KEYS, "feature"])  # with several classes a feature has a weight for each
    counted = part.groupby("feature", sort=False)["rank"].agg(["count", "mean"]).reset_index()
    counted = counted.sort_values(["count", "mean", "feature"], ascending=[False, True, True])
    sizes = part.groupby(KEYS, sort=False).size()
    always = int((counted["count"] == n_splits).sum())
    if view.dataset.residues and always == len(counted) > SHOWN:
        return None  # it takes all letters and places, and selects none
    entry, p, weights = view.dataset.kernel(kernel), _p_values(part, n_splits), _weights(view, solver, part)
    rows = []
    for one in counted.to_dict("records"):
        row: dict[Column, object] = {
            Column("Feature", False): one["feature"],
            Column(f"Selected in {view.words}"): f"{one['count']} of {n_splits}",
            Column("Mean rank", hint="where selected; 1 is the best"): number(one["mean"], 1),
        }
        if weights is not None:
            row[Column("Weight", hint="mean where selected, least to largest")] = weights[one["feature"]]
        if p is not None:
            column = Column("p, corrected", hint="for all features tested; at most 0.05 is significant")
            row[column] = number(p[one["feature"]], 4)
        rows.append(row)
    caption = [f"{view.dataset.name}: features selected most often by ", method_name((kernel, solver))]
    return {
        "method": (kernel, solver),
        "size": sizes.median(),
        "many": sizes.median() > LISTED,
        "different": len(counted),
        "always": always,
        "splits": n_splits,
        # such features are training sequences
        "pairwise": isinstance(entry, KernelEntry) and entry.known and entry.kernel.name == "pairwise",
        "table": listing(caption, rows[:SHOWN]),
        "others": len(rows) - SHOWN,
    }


def _weights(view: View, solver: str, part: pd.DataFrame) -> dict[str, Markup] | None:
    """Return the mean weight that a P-SVM gives each feature, with the range over splits; None for other solvers."""
    several = "class" in part and (part["class"] != "").any()
    if view.dataset.solver(solver).solver_name not in SOLVERS or several:
        return None
    groups = part.assign(weight=numbers(part["weight"])).groupby("feature", sort=False)["weight"]
    return {str(name): Markup(f"{number(own.mean())}<small> ({span(own)})</small>") for name, own in groups}


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


MOST = 40
"""Maximum number of features that are drawn."""
ENDS = ("weight", "low", "high")
FULL = ("full_low", "full_high")
Means: TypeAlias = dict[str, dict[str, dict[str, Any]]]
"""Class to feature to means over the splits."""


def _coefficients(view: View, kernel: str, solver: str, rows: pd.DataFrame) -> dict[str, Any]:
    """Return a figure and a table of the coefficients of a method whose solver gives intervals."""
    features = list(dict.fromkeys(rows["feature"]))
    found: dict[str, Any] = {"method": (kernel, solver), "count": len(features), "figure": None}
    if len(features) > MOST:
        return found
    means, n = _means(rows)
    label = f"{view.dataset.name}: coefficients of {kernel} with {solver}, with confidence intervals"
    return found | {
        "figure": plots.coefficients_figure(means, features, label),
        "level": 100 * view.dataset.solver(solver).values("level", 0.95),
        "splits": n,
    }


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


# Optimistic bias of selecting with the test sets.


@section(
    "selection-bias",
    "Selection bias: scores if features were selected outside the folds",
    "scores that result from selecting features on the test data",
)
def selection_bias_section(view: View) -> dict[str, Any] | None:
    """Find the inflated scores that feature selection with the test sets would have given; None if not computed."""
    biased, honest, name = view.dataset.selection_bias, view.dataset.metrics, view.ranking.metric
    if not len(biased) or name is None or name not in biased:
        return None
    rows = []
    for (kernel, solver), part in rows_by_method(biased):
        own = honest[(honest["kernel"] == kernel) & (honest["solver"] == solver)]
        row: dict[Column, object] = {METHOD: method_name((kernel, solver))}
        for one in dict.fromkeys([name, "balanced_accuracy"]):
            if one in part and one in own:
                word, unbiased, inflated = metric(one).name, own[one].mean(), part[one].mean()
                hint = "features selected on each training set; cite this value"
                row[Column(f"{word}, unbiased", hint=hint)] = number(unbiased)
                hint = "features selected on all samples; do not cite"
                row[Column(f"{word}, biased", hint=hint)] = Markup(f"<s>{number(inflated)}</s>")
                row[Column(f"Difference in {word}")] = number(inflated - unbiased)
        rows.append(row)
    return {"table": listing(f"{view.dataset.name}: unbiased and biased scores, means over {view.words}", rows)}
