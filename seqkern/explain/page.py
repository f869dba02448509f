"""The page that shows why a model decides as it does: profiles, k-mers, how to read them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from seqkern.core.markup import Markup, escape, tag
from seqkern.figures.html_table import Column, table
from seqkern.figures.numbers import number, plural
from seqkern.figures.page import whole_page

if TYPE_CHECKING:
    from seqkern.explain.positions import Positions
    from seqkern.explain.shown import Shown, Summary

Words = Sequence[tuple[str, float, int | None]]
"""K-mers, their weights and occurrences, as `KmerTable.sorted` gives them."""
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
        What was explained.
    profiles : sequence of Shown
        The sequences that are drawn.
    means : sequence of Shown
        Mean profiles of sequences of one length, by their prediction; may be empty.
    words : sequence of (str, float, int or None)
        The k-mers, as `KmerTable.sorted` gives them.
    positions : Positions, optional
        What matters at each position of windows.

    Returns
    -------
    Markup
        HTML.
    """
    title = tag(
        "header",
        tag("p", "seqkern explain", class_="kicker"),
        tag("h1", "Why the model decides as it does"),
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
    """Return what was explained, as a list of facts."""
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
    """Return how to read the pictures."""
    if summary.classes:
        negative, positive = summary.classes
        up = [_key("positive"), "up speaks for ", tag("b", positive)]
        down = [_key("negative"), "down for ", tag("b", negative)]
        place = " Above zero"
        if summary.threshold is not None:
            place = f" Above {summary.threshold.value:.4g}, the model's threshold for {summary.threshold.rule},"
        outcome = [f"{place} the prediction is ", tag("b", positive), "."]
    else:
        up, down = [_key("positive"), "up makes the number larger"], [_key("negative"), "down smaller"]
        outcome = []
    return tag(
        "section",
        tag("h2", "How to read it"),
        tag(
            "p",
            "A decision is the sum of what the letters of a sequence contribute, and of the bias b, which is the same "
            "for all. The curve shows the contribution of each letter: ",
            up,
            ", ",
            down,
            ". The dashed line is at −b/L, for a sequence of L letters: the decision is the area between curve and "
            "line above it, minus the area below it.",
            outcome,
        ),
        tag(
            "p",
            "What a sequence has in common with those that the model learned from counts through the letters that it "
            "covers: they share it equally. Contributions say what this model uses, not what is true of the biology; "
            "neighbouring letters share words, so a peak is usually a little wider than its cause.",
            class_="note",
        ),
    )


def _key(side: str) -> Markup:
    """Return a small square in the colour of a side."""
    return tag("span", class_=f"key {side}")


def _figure(shown: Shown) -> Markup:
    """Return one profile with its caption, in a box of its own that scrolls sideways."""
    box = tag("div", shown.drawn(), class_="scroll", tabindex="0", role="region", aria_label=shown.label)
    return tag("figure", tag("figcaption", shown.caption), box)


def _positions_section(summary: Summary, positions: Positions) -> Markup:
    """Return what matters at each position: logos and heat map."""
    from seqkern.explain.positions_page import positions_content  # loads matplotlib

    return tag("section", tag("h2", "What matters at each position"), positions_content(positions, summary.model))


def _means_section(means: Sequence[Shown]) -> Markup:
    """Return the mean profiles."""
    intro = (
        "All new sequences have one length, so that position means the same in each of them. These are means over "
        "sequences; the letters are the most frequent ones, a dot where none has half of the sequences."
    )
    figures = [_figure(shown) for shown in means]
    return tag("section", tag("h2", "On average, by position"), tag("p", intro), tag("div", figures, class_="profiles"))


def _profiles_section(summary: Summary, profiles: Sequence[Shown]) -> Markup:
    """Return the profiles of single sequences."""
    first = f"The first {len(profiles)} of {summary.n} sequences" if summary.n > len(profiles) else "All sequences"
    intro = f"{first}, in the order of the file. Each has a scale of its own. "
    figures = tag("div", [_figure(shown) for shown in profiles], class_="profiles")
    return tag("section", tag("h2", "Prediction profiles"), tag("p", intro), figures)


def _words_section(summary: Summary, words: Words) -> Markup:
    """Return the k-mers with the largest weights, those for and those against."""
    heading = tag("h2", "Words")
    if not words:
        reason = summary.no_words or ("all weights are zero" if summary.n else "there are no sequences")
        return tag("section", heading, tag("p", f"There are none: {reason}.", class_="missing"))
    intro = [
        f"What one occurrence of a word adds to a decision: the largest of {plural(summary.n_words, 'weight')}. ",
        "The kernel is normalised: what is added is divided by the length of the sequence's vector of words. "
        if summary.normalised
        else None,
        "Here that depends on where the word is, or on the sequence: these are means over the new sequences, "
        "or, for words whose position counts, over their occurrences in the new sequences and in those of the model. "
        if summary.kmers_vary
        else None,
        "Of two words that are each other's reverse complement, one stands for both. "
        if summary.both_strands
        else None,
        f"There were too many words; {summary.dropped} of smaller weight were left out. " if summary.dropped else None,
        "The others are in ",
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
        Column("Occurs", True, "how often it occurs in the new sequences"),
    ]
    cells = []
    for word, weight, count in rows:
        bar = tag("span", class_=f"bar {side}", style=f"width: {100 * abs(weight) / largest:.1f}%")
        occurs = escape("–") if count is None else number(count, 0)
        cells.append([word, number(weight, 3), tag("td", bar, class_="wide"), occurs])
    return tag("div", table(caption, columns, cells))


def _files_section(summary: Summary, positions: Positions | None) -> Markup:
    """Return what the other files hold."""
    files = {
        "decisions.tsv": f"decision, bias{'' if summary.threshold is None else ', threshold'} and prediction of each "
        "sequence",
        "letters.tsv": "the contribution of each letter; those of a sequence sum to its decision minus the bias",
        "words.tsv": "words, weights, and how often they occur in the new sequences",
    }
    if positions:
        files["importance.tsv"] = "the importance of each letter, and of longer words, at each position"
        files["importance.svg"], files["logo.svg"] = "the heat map of them", "the sequence logos"
    items = [tag("li", tag("a", name, href=name), f": {text}") for name, text in files.items()]
    if summary.n_plots:
        items.append(tag("li", "profile-0001.svg and so on: the profiles, as pictures of their own"))
    made = f"Made by seqkern {summary.version}."
    return tag("section", tag("h2", "Files"), tag("ul", items), tag("p", made, class_="note"))
