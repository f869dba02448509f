"""Motifs that the method named in the configuration has learned from a data set."""

from collections.abc import Mapping, Sequence
from typing import Any

from seqkern.core.markup import Markup
from seqkern.figures.numbers import number, plural
from seqkern.motifs.files import read_motifs
from seqkern.motifs.page import logo_figures, motif_table
from seqkern.motifs.similarity import FEW_KNOWN, Match
from seqkern.report.files import read_json
from seqkern.report.sentences import enumerate_names
from seqkern.report.trained import chosen_values
from seqkern.report.view import View, method_name, paragraph
from seqkern.study.model_entries import MotifSearch

SIGNIFICANT = 0.05
SEQLETS = (
    "Seqlets are the stretches that contribute most to the decisions, more than stretches of shuffled sequences do; "
    "similar ones are aligned, and make a motif. The share is that of their contributions in the sum of all absolute "
    "contributions."
)


def motifs_section(view: View) -> Markup | None:
    """Return the table of motifs and their logos; None where there are none and the study asks for none.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or None
        None without files of motifs and a method for motifs in the configuration.
    """
    entry, folder = view.dataset.entry.motifs, view.dataset.folder("motifs")
    meme, listed = folder / "motifs.meme", folder / "motifs.tsv"
    if not meme.is_file() or not listed.is_file():
        if entry is None:
            return None
        text = "No results on motifs were found."
        return view.section("motifs", "Motifs", paragraph(text, class_="missing"))
    motifs, classes, matches = read_motifs(meme, listed)
    training = read_json(folder / "motifs.json")
    told = [] if entry is None or training is None else [_trained(entry, training)]
    told.append(paragraph(SEQLETS))
    if not motifs:
        none = paragraph("No group of similar seqlets was large enough to make a motif.")
        return view.section("motifs", "Motifs", *told, none)
    if matches is not None:
        told.append(_found(matches, (training or {}).get("known"), view))
    return view.section(
        "motifs", "Motifs", *told, motif_table(motifs, classes, matches), *logo_figures(motifs, classes, matches)
    )


def _trained(entry: MotifSearch, training: Mapping[str, Any]) -> Markup:
    """Return in words what was trained on what, and where motifs were sought."""
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
    """Return which known motifs are among them, and what p and q say."""
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
        " With so few known motifs, both depend much on which are given." if 0 < (count or 0) < FEW_KNOWN else "",
        planted,
    )
