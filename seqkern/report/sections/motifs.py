"""Motifs that the method named in the configuration has learned from a data set."""

from collections.abc import Sequence

from seqkern.core.markup import Markup
from seqkern.figures.numbers import number, plural
from seqkern.motifs.files import from_json
from seqkern.motifs.page import logo_figures, motif_table
from seqkern.motifs.similarity import Match
from seqkern.report.files import read_json
from seqkern.report.sentences import enumerate_names
from seqkern.report.trained import chosen_values
from seqkern.report.view import View, method_name, paragraph

SIGNIFICANT = 0.05


def motifs_section(view: View) -> Markup | None:
    """Return the table of motifs and their logos; None where the study asks for no motifs.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or None
        None where the configuration names no method for motifs.
    """
    dataset = view.dataset
    entry = dataset.entry.motifs
    if entry is None:
        return None
    content = read_json(dataset.folder("motifs") / "motifs.json")
    if content is None:
        return view.section("motifs", "Motifs", paragraph("No motifs were found.", class_="missing"))
    motifs, classes, matches = from_json(content)
    training = content["training"]
    told = paragraph(
        "A model of ",
        method_name((entry.kernel, entry.solver)),
        " was trained on all samples (",
        number(training["n"], 0),
        ")",
        chosen_values(training),
        ". Seqlets are the stretches of the ",
        number(training["sequences"], 0),
        f" sequences of class {classes[1]} that contribute most to its decisions, more than stretches of shuffled "
        "sequences do; similar ones are aligned, and make a motif. The scores above come from other models, each "
        "trained without its test set.",
    )
    if not motifs:
        none = paragraph("No group of similar seqlets was large enough to make a motif.")
        return view.section("motifs", "Motifs", told, none)
    shown = [motif_table(motifs, classes, matches), *logo_figures(motifs, classes, matches)]
    return view.section("motifs", "Motifs", told, _found(matches, training["known"], view) if matches else None, *shown)


def _found(matches: Sequence[Match], count: int, view: View) -> Markup:
    """Return which known motifs are among them, and what p and q say."""
    names = list(dict.fromkeys(match.name for match in matches if match.q <= SIGNIFICANT))
    other = sum(match.q > SIGNIFICANT for match in matches)
    if names:
        known = f"{len(names)} of {plural(count, 'known motif')} found (q ≤ {SIGNIFICANT}): {enumerate_names(names)}. "
    else:
        known = "No motif matches a known one. "
    rest = f"{plural(other, 'motif')} {'matches' if other == 1 else 'match'} none of them. " if other and names else ""
    planted = " The known motifs are those planted in the simulated genome." if view.dataset.entry.simulated else ""
    return paragraph(
        known,
        rest,
        "p is the probability that a random motif of the same width is as similar to the known one; q is the false "
        "discovery rate among all pairs of motif and known motif.",
        planted,
    )
