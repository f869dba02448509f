"""The one sentence on a data set: which method is best, and what it is significantly better than."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqkern.core.markup import Markup, escape, tag
from seqkern.figures.numbers import fixed, number, rounded
from seqkern.models.baselines.names import BASELINES
from seqkern.report.compared import directed, is_significant, lead, methods_of
from seqkern.report.dataset_results import Method
from seqkern.report.headline import Entry
from seqkern.report.sentences import footnote, metric
from seqkern.report.view import View, method_name, method_names

if TYPE_CHECKING:
    from seqkern.report.headline import Headline


def headline_sentence(view: View) -> Markup:
    """Return the sentence, without the name of the data set.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup
    """
    headline, best = view.headline, view.ranking.best
    if not headline.methods:
        return Markup("No combination of kernel and solver gave a result.")
    if headline.too_few is not None:
        return Markup(f"{escape(headline.too_few.sentence()).capitalize()}.")
    entry = headline.entries[best[0]]
    if entry.beats_chance is False:
        return _no_better(view, entry)
    note = footnote(best, view.dataset.transductive)
    return Markup(f"{_highest(view, entry)}{_comparisons(view, entry)}.{note}{_not_better_than_baseline(view)}")


def _highest(view: View, entry: Entry) -> Markup:
    """Return which method has the best score, with its interval."""
    names = method_names(view.ranking.best)
    word = "highest" if view.metric.higher else "lowest"
    if len(view.headline.methods) == 1:
        return Markup(f"{names} has {_article(view.metric.name)} {view.metric.name} of {_value(entry)}")
    verb = "has" if len(view.ranking.best) == 1 else "share"
    corrected = view.headline.corrected
    count = len(view.headline.methods)
    note = f" ({number(corrected)} corrected for the choice among {count} methods)" if corrected == corrected else ""
    return Markup(f"{names} {verb} the {word} {view.metric.name}, {_value(entry)}{note}")


def _article(name: str) -> str:
    """Return the indefinite article of the name of a score."""
    return "an" if (name[0].upper() in "AEIMR" and name[:2].isupper()) or name[0].lower() in "aeio" else "a"


def _value(entry: Entry) -> Markup:
    """Return the score with its interval."""
    score = tag("b", number(entry.score))
    return score if entry.low != entry.low else Markup(f"{score} [{number(entry.low, 2)}, {number(entry.high, 2)}]")


def _no_better(view: View, entry: Entry) -> Markup:
    """Return that the best method is not significantly better than chance, and which ones are, if any."""
    headline = view.headline
    best = [method for method in view.ranking.best if headline.beats_chance(method) is False]
    count = len(headline.methods)
    others = [method for method in headline.methods if headline.beats_chance(method)]
    p = f"{_p(entry.p)}, corrected for {count} methods" if count > 1 else _p(entry.p)
    names, is_ = method_names(best), "is" if len(best) == 1 else "are"
    subject = f"The best of {count} methods, {names}," if count > 1 else names
    verdict = tag(
        "b", f"{'significantly worse' if entry.worse else 'not significantly better'} than {headline.reference}"
    )
    text = f"{subject} {is_} {verdict}: {view.metric.name} {_value(entry)} ({p})"
    if others:
        text += f"; {method_names(others)} {'is' if len(others) == 1 else 'are'}{' better' if entry.worse else ''}"
    baseline = _not_better_than_baseline(view) if baseline_sign(view) == -1 else ""
    return Markup(f"{text}.{footnote(best, view.dataset.transductive)}{baseline}")


def _p(p: float) -> Markup:
    """Return a p-value as a sentence gives it, which no line break divides."""
    text = "p < 0.001" if p < 0.001 else f"p = {fixed(p, 2 if p >= 0.1 else 3)}"
    return escape(text.replace(" ", "\N{NO-BREAK SPACE}"))


def _comparisons(view: View, entry: Entry) -> str:
    """Return what the best method is significantly better than, and what not; empty without tests."""
    better: list[str] = []
    not_better: list[str] = []
    if entry.beats_chance:
        better.append(f"{view.headline.reference} ({_p(entry.p)})")
    if baseline := _baseline(view):
        better.append(baseline)
    text, found = _next(view)
    if text and found is not None:
        (better if found else not_better).append(text)
    pronoun = "it is" if len(view.ranking.best) == 1 else f"{method_name(view.ranking.best[0])} is"
    words = "significantly better"
    significantly = view.link(words, "comparisons") if view.comparisons else words
    if better:
        rest = f", but not than {_listed(not_better, 'or')}" if not_better else ""
        return f"; {pronoun} {significantly} than {_listed(better, 'and')}{rest}"
    if not_better:
        return f"; {pronoun} not significantly better than {_listed(not_better, 'or')}"
    return ""


def _listed(items: list[str], last: str) -> str:
    """Return items of a sentence with a word before the last."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}"


def _by(headline: Headline, key: str) -> str:
    """Return by which metric a test was made, where it is not the headline metric."""
    return "" if key == headline.key else f"; tested by {metric(key).name}"


def _baseline(view: View) -> str:
    """Return the strongest trivial baseline with its score, if the best method is significantly better."""
    found = view.headline.against_baseline
    if found is None or found.signs.get(view.ranking.best[0]) != 1:
        return ""
    value = f"{number(view.headline.trivial[found.name].score)}{_by(view.headline, found.key)}"
    return f"the best trivial baseline, {BASELINES[found.name].phrase} ({value})"


def baseline_sign(view: View) -> int | None:
    """Return whether the best method is better than the strongest trivial baseline.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    int or None
        1 if significantly better, −1 if the baseline is, 0 without a significant difference; None without a test.
    """
    found = view.headline.against_baseline
    return None if found is None else found.signs.get(view.ranking.best[0])


def _not_better_than_baseline(view: View) -> str:
    """Return a sentence on the strongest trivial baseline, unless the best method is significantly better."""
    headline, sign = view.headline, baseline_sign(view)
    tested = headline.against_baseline
    name = headline.best_baseline if tested is None else tested.name
    if name is None or sign == 1:
        return ""
    score, own = (rounded(e.score) for e in (headline.trivial[name], headline.entries[view.ranking.best[0]]))
    by = "" if tested is None else _by(headline, tested.key)
    baseline = f"{BASELINES[name].phrase} ({view.metric.name} {number(score)}{by})"
    if sign == -1:
        return f" The best trivial baseline, {baseline}, is {tag('b', 'significantly better')}."
    ahead = score > own if headline.higher else score < own
    which = f", which has the {'higher' if headline.higher else 'lower'} {view.metric.name}" if ahead else ""
    if sign == 0:
        words = tag("b", "not significantly better than the best trivial baseline")
        return f" {_subject(view)} {words}, {baseline}{which}."
    return f" The best trivial baseline is {baseline}{which}."


def _subject(view: View) -> str:
    """Return the best method as the subject of a second sentence, with its verb."""
    best = view.ranking.best
    return "It is" if len(best) == 1 else f"{method_name(best[0])} is"


def _next(view: View) -> tuple[str, bool | None]:
    """Return the next best method, with its score, and whether the best method is significantly better."""
    headline, best = view.headline, view.ranking.best
    others = [method for method in headline.methods if method not in best]
    compared = view.comparisons.get(headline.key) or next(iter(view.comparisons.values()), None)
    if not others or compared is None:
        return "", None
    second: Method = others[0]
    pair = next((one for one in compared.found if set(methods_of(one)) == {best[0], second}), None)
    if pair is None or pair.p_holm != pair.p_holm:
        return "", None
    ahead = lead(pair) > 0 if methods_of(pair)[0] == best[0] else lead(pair) < 0
    value = f"{number(headline.entries[second].score)}{_by(headline, compared.key)}"
    text = f"the next best method, {method_name(second)} ({value})"
    return text, bool(is_significant(pair) and directed(pair) and ahead)
