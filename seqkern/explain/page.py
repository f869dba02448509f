"""The page that explains a model's decisions: profiles, k-mers, how to read them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from seqkern.core.markup import Markup, escape, tag
from seqkern.explain.positions_page import positions_content
from seqkern.figures.html_table import Column, table
from seqkern.figures.numbers import number, plural
from seqkern.figures.page import whole_page

if TYPE_CHECKING:
    from seqkern.explain.positions import Positions
    from seqkern.explain.shown import Shown, Summary

Words = Sequence[tuple[str, float, int | None]]
"""K-mers, their weights and occurrences, as from `KmerTable.sorted`."""
STYLE = Path(__file__).with_name("style.css")
MOST_BARS = 15


def render_page(
    summary: Summary,
    profiles: Sequence[Shown],
    means: Sequence[Shown],
    words: Words,
    positions: Positions | None = None,
) -> Markup:
    """Return the whole page.

    Parameters
    ----------
    summary : Summary
        The explained model and sequences.
    profiles : sequence of Shown
        The sequences to draw.
    means : sequence of Shown
        Mean profiles of sequences of one length, by prediction; may be empty.
    words : sequence of (str, float, int or None)
        The k-mers, as from `KmerTable.sorted`.
    positions : Positions, optional
        The importance of positions of windows.

    Returns
    -------
    Markup
        HTML.
    """
    title = tag(
        "header",
        tag("p", "seqkern explain", class_="kicker"),
        tag("h1", "How the model reached its decisions"),
        tag("p", f"{summary.model}, applied to {summary.fasta}", class_="lead"),
    )
    sections = [
        _facts(summary),
        _reading(summary),
        _positions_section(summary, positions) if positions else None,
        _means_section(means) if means else None,
        _profiles_section(summary, profiles) if profiles else None,
        _words_section(summary, words),
        _files_section(summary, positions),
    ]
    return whole_page(f"{summary.model} · seqkern explain", title, tag("main", sections), styles=(STYLE,))


def _facts(summary: Summary) -> Markup:
    """Return the facts about the model and the sequences, as a list."""
    facts = [
        ("kernel", tag("code", summary.kernel)),
        ("solver", tag("code", summary.solver)),
        ("trained on", "unknown" if summary.n_trained is None else plural(summary.n_trained, "sequence")),
        ("new sequences", summary.predicted()),
        ("bias b", number(summary.bias, 4)),
    ]
    if summary.threshold is not None:
        facts.append(("threshold", f"{summary.threshold.value:.4g} for {summary.threshold.rule}"))
    return tag("dl", [[tag("dt", name), tag("dd", value)] for name, value in facts], class_="facts")


def _reading(summary: Summary) -> Markup:
    """Return how to read the figures."""
    if summary.classes:
        negative, positive = summary.classes
        up = [_key("positive"), "upward supports ", tag("b", positive)]
        down = [_key("negative"), "downward ", tag("b", negative)]
        place = " With a probability above 0.5" if summary.by_probability else " Above zero"
        if summary.threshold is not None:
            place = f" Above {summary.threshold.value:.4g}, the model's threshold for {summary.threshold.rule},"
        outcome = [f"{place} the prediction is ", tag("b", positive), "."]
    else:
        up, down = (
            [_key("positive"), "upward increases the predicted number"],
            [_key("negative"), "downward decreases it"],
        )
        outcome = []
    return tag(
        "section",
        tag("h2", "How to read it"),
        tag(
            "p",
            "The decision value is the sum of the contributions of all positions and of the bias b, which is the same "
            "for all sequences. The curve shows the contribution of each position: ",
            up,
            ", ",
            down,
            ". The dashed line is at −b/L, for a sequence of length L: the decision value is the area between curve "
            "and line above it, minus the area below it.",
            outcome,
        ),
        tag(
            "p",
            "The similarity of a sequence to the training sequences is shared equally among the positions of the "
            "k-mers or residues they have in common. Contributions show what this model uses, not biological truth; "
            "neighbouring positions share k-mers, so a peak is usually a little wider than its cause.",
            class_="note",
        ),
    )


def _key(side: str) -> Markup:
    """Return a small square in the colour of a side."""
    return tag("span", class_=f"key {side}")


def _figure(shown: Shown) -> Markup:
    """Return one profile with its caption, in a box that scrolls sideways."""
    box = tag("div", shown.drawn, class_="scroll", tabindex="0", role="region", aria_label=shown.label)
    return tag("figure", tag("figcaption", shown.caption), box)


def _positions_section(summary: Summary, positions: Positions) -> Markup:
    """Return the importance of positions: logos and heat map."""
    return tag("section", tag("h2", "Importance of positions"), positions_content(positions, summary.model))


def _means_section(means: Sequence[Shown]) -> Markup:
    """Return the mean profiles."""
    intro = (
        "All new sequences have the same length, so positions are comparable. The curves are means over "
        "sequences; the letters are the most frequent ones, a dot where none is found in half of the sequences."
    )
    figures = [_figure(shown) for shown in means]
    return tag("section", tag("h2", "Mean profiles"), tag("p", intro), tag("div", figures, class_="profiles"))


def _profiles_section(summary: Summary, profiles: Sequence[Shown]) -> Markup:
    """Return the profiles of single sequences."""
    first = f"The first {len(profiles)} of {summary.n} sequences" if summary.n > len(profiles) else "All sequences"
    intro = f"{first}, in the order of the file. Each has its own scale. "
    figures = tag("div", [_figure(shown) for shown in profiles], class_="profiles")
    return tag("section", tag("h2", "Prediction profiles"), tag("p", intro), figures)


def _words_section(summary: Summary, words: Words) -> Markup:
    """Return the k-mers with the largest positive and negative weights."""
    heading = tag("h2", "Words")
    if not words:
        reason = summary.no_words or ("all weights are zero" if summary.n else "there are no sequences")
        return tag("section", heading, tag("p", f"No k-mers: {reason}.", class_="missing"))
    intro = [
        "Contribution of one occurrence of a k-mer to the decision value: the largest of "
        f"{plural(summary.n_words, 'weight')}. ",
        "The kernel is normalised: the contribution is divided by the norm of the sequence's k-mer vector. "
        if summary.normalised
        else None,
        "It depends on the place of the k-mer, or on the sequence: the weights are means over the new sequences, "
        "or, for k-mers with positions, over their occurrences in the new sequences and in those of the model. "
        if summary.kmers_vary
        else None,
        "A k-mer also stands for its reverse complement. " if summary.both_strands else None,
        f"There were too many k-mers; {summary.dropped} of smaller weight were left out. " if summary.dropped else None,
        "For the others see ",
        tag("a", "words.tsv", href="words.tsv"),
        ".",
    ]
    negative, positive = summary.classes or ("smaller numbers", "larger numbers")
    largest = max(abs(weight) for _, weight, _ in words) or 1.0
    sides = [
        _bars(f"For {positive}", "positive", [row for row in words if row[1] > 0][:MOST_BARS], largest),
        _bars(f"For {negative}", "negative", [row for row in words if row[1] < 0][:MOST_BARS], largest),
    ]
    return tag("section", heading, tag("p", intro), tag("div", sides, class_="words"))


def _bars(caption: str, side: str, rows: Words, largest: float) -> Markup:
    """Return a table of k-mers with a bar for each weight."""
    columns = [
        Column("Word", False),
        Column("Weight"),
        Column("", False),
        Column("Count", True, "occurrences in the new sequences"),
    ]
    cells = []
    for word, weight, count in rows:
        bar = tag("span", class_=f"bar {side}", style=f"width: {100 * abs(weight) / largest:.1f}%")
        occurs = escape("–") if count is None else number(count, 0)
        cells.append([word, number(weight, 3), tag("td", bar, class_="wide"), occurs])
    return tag("div", table(caption, columns, cells))


def _files_section(summary: Summary, positions: Positions | None) -> Markup:
    """Return the descriptions of the other files."""
    files = {
        "decisions.tsv": f"decision, bias{'' if summary.threshold is None else ', threshold'} and prediction of each "
        "sequence",
        "letters.tsv": "contribution of each position; for a sequence they sum to its decision value minus the bias",
        "words.tsv": "k-mers, weights, and numbers of occurrences in the new sequences",
    }
    if positions:
        files["importance.tsv"] = "importance of each letter, and of longer k-mers, at each position"
        files["importance.svg"], files["logo.svg"] = "heat map of the importance", "sequence logos"
    items = [tag("li", tag("a", name, href=name), f": {text}") for name, text in files.items()]
    if summary.n_plots:
        items.append(tag("li", "profile-0001.svg, …: the profiles as separate figures"))
    made = f"Created by seqkern {summary.version}."
    return tag("section", tag("h2", "Files"), tag("ul", items), tag("p", made, class_="note"))
