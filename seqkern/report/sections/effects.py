"""Effects of variants by models that have not seen their chromosomes, against the known effects."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from seqkern.core.markup import Markup, tag
from seqkern.figures.curves import pr_points
from seqkern.figures.html_table import Column, table
from seqkern.figures.numbers import number, plural
from seqkern.figures.precision import precision_figure
from seqkern.models.variants.effect_scores import COLUMNS
from seqkern.report.files import read_json, read_table
from seqkern.report.view import View, method_name, paragraph
from seqkern.study.model_entries import VariantEffects

MOST = 20
"""Rows of the table of single variants."""
NUMERIC = ("position", "reference", "alternative", "delta", "score", "composition_score", "distance", "effect", "true")
NAMES = {
    "model": "|delta| of the model",
    "composition": "3-mer composition",
    "distance": "nearness to a positive sample",
}


def effects_section(view: View) -> Markup | None:
    """Return how well variants are ranked, and the first of them; None where the study asks for no variants.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or None
        None where the configuration names no variants.
    """
    entry, folder = view.dataset.entry.variants, view.dataset.folder("effects")
    if entry is None:
        return None
    summary, rows = read_json(folder / "effects.json"), read_table(folder / "effects.tsv", COLUMNS, NUMERIC)
    if summary is None or rows is None:
        text = "No results on effects of variants were found."
        return view.section("effects", "Variant effects", paragraph(text, class_="missing"))
    content: list[object] = [_trained(entry, summary, rows)]
    scores = summary["scores"]
    if scores is not None and scores["rankings"]:
        content += [_truth(view, summary), _ranked(scores), _curves(view, rows, scores), _signs(scores)]
    elif scores is not None:
        content.append(paragraph("The known effects are all true, or all not: there is nothing to rank."))
    return view.section("effects", "Variant effects", *content, _first(rows))


def _trained(entry: VariantEffects, summary: Mapping[str, Any], rows: pd.DataFrame) -> Markup:
    """Return in words which models scored how many variants."""
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
    """Return in words what is true, what chance is, and what the trivial rankings know."""
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


def _with_interval(top: Mapping[str, float]) -> list[object]:
    """Return a precision with its interval."""
    return [number(top["precision"]), tag("small", f" [{top['low']:.2f}, {top['high']:.2f}]")]


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
    """Return how often delta has the sign of the known effect."""
    signs = scores["signs"]
    if signs is None:
        return None
    text = f"Delta has the sign of the known effect for {signs['agree']} of the {plural(signs['of'], 'true variant')}; "
    return paragraph(text, "chance is a half.")


def _first(rows: pd.DataFrame) -> Markup:
    """Return the variants with the greatest scores."""
    shown = rows[rows["score"].notna()].sort_values("score", ascending=False, kind="stable").head(MOST)
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
