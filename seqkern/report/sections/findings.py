"""First screen: for each data set all methods with their intervals and one sentence; the caveats; all data sets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seqkern.methods.baselines import BASELINES
from seqkern.methods.compared import CHANCE_LEVEL, NAMES, Compared, directed, enough, is_significant, lead, methods_of
from seqkern.methods.headline import Entry
from seqkern.methods.study_results import NO_SCORE, Method, Score
from seqkern.report.markup import Markup, escape
from seqkern.report.page_frame import (
    Column,
    fixed,
    method_name,
    method_names,
    number,
    plural,
    render,
    rounded,
    spread,
    table,
    turned,
)
from seqkern.report.plots import Row, dot_intervals
from seqkern.report.residue_data import PARTS
from seqkern.report.sections.fitting import edge_choices, unrepaired, unused_sentence
from seqkern.report.sections.scores import MISSING, STAR, starred, top
from seqkern.report.sections.tests import cumulative, drawn, verdicts
from seqkern.report.sentences import footnote, metric
from seqkern.report.view import View

if TYPE_CHECKING:
    import pandas as pd

    from seqkern.methods.headline import Headline


# Headline sentence on a data set: which method is best, and what it is significantly better than.


def headline_sentence(view: View) -> Markup:
    """Return the headline sentence, without the name of the data set."""
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
    """Return the clause that names the method with the best score, with its interval."""
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
    score = Markup(f"<b>{number(entry.score)}</b>")
    return score if entry.low != entry.low else Markup(f"{score} [{number(entry.low, 2)}, {number(entry.high, 2)}]")


def _no_better(view: View, entry: Entry) -> Markup:
    """Return the clause that the best method does not significantly beat chance, and which methods do, if any."""
    headline = view.headline
    best = [method for method in view.ranking.best if headline.beats_chance(method) is False]
    count = len(headline.methods)
    others = [method for method in headline.methods if headline.beats_chance(method)]
    p = f"{_p(entry.p)}, corrected for {count} methods" if count > 1 else _p(entry.p)
    names, is_ = method_names(best), "is" if len(best) == 1 else "are"
    subject = f"The best of {count} methods, {names}," if count > 1 else names
    verdict = f"<b>{'significantly worse' if entry.worse else 'not significantly better'} than {headline.reference}</b>"
    text = f"{subject} {is_} {verdict}: {view.metric.name} {_value(entry)} ({p})"
    if others:
        text += f"; {method_names(others)} {'is' if len(others) == 1 else 'are'}{' better' if entry.worse else ''}"
    baseline = _not_better_than_baseline(view) if baseline_sign(view) == -1 else ""
    return Markup(f"{text}.{footnote(best, view.dataset.transductive)}{baseline}")


def _p(p: float) -> Markup:
    """Return a p-value for a sentence, without line breaks inside."""
    text = "p < 0.001" if p < 0.001 else f"p = {fixed(p, 2 if p >= 0.1 else 3)}"
    return escape(text.replace(" ", "\N{NO-BREAK SPACE}"))


def _comparisons(view: View, entry: Entry) -> str:
    """Return sentences on the methods that the best one is significantly better than, and the others."""
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
    """Return the items of a list in a sentence, with a word before the last."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}"


def _by(headline: Headline, key: str) -> str:
    """Return a phrase naming the metric of a test, if it is not the headline metric."""
    return "" if key == headline.key else f"; tested by {metric(key).name}"


def _baseline(view: View) -> str:
    """Return the strongest trivial baseline with its score, if the best method is significantly better."""
    found = view.headline.against_baseline
    if found is None or found.signs.get(view.ranking.best[0]) != 1:
        return ""
    value = f"{number(view.headline.trivial[found.name].score)}{_by(view.headline, found.key)}"
    return f"the best trivial baseline, {BASELINES[found.name].phrase} ({value})"


def baseline_sign(view: View) -> int | None:
    """Return 1 if the best method is significantly better than the strongest trivial baseline, −1 if worse, otherwise
    0.

    Return None without a test.
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
        return f" The best trivial baseline, {baseline}, is <b>significantly better</b>."
    ahead = score > own if headline.higher else score < own
    which = f", which has the {'higher' if headline.higher else 'lower'} {view.metric.name}" if ahead else ""
    if sign == 0:
        return f" {_subject(view)} <b>not significantly better than the best trivial baseline</b>, {baseline}{which}."
    return f" The best trivial baseline is {baseline}{which}."


def _subject(view: View) -> str:
    """Return the best method as the subject of a second sentence, with its verb."""
    best = view.ranking.best
    return "It is" if len(best) == 1 else f"{method_name(best[0])} is"


def _next(view: View) -> tuple[str, bool | None]:
    """Return the next best method with its score, and whether the best method is significantly better."""
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


# Caveats where training or test sets of residues have few chains, however many residues they have.

FEW = 10
FEW_FOR_LAYERS = 50
"""Number of chains of a training set below which a layer after the solver has too little to learn from."""
EFFECTS = {
    "train": "this is little training data, however many residues the chains have",
    "test": "residues of one chain tend to be right or wrong together, so a single chain changes the score a lot",
}


def few_chains(view: View) -> Iterator[Markup]:
    """Yield caveats about test and training sets with few chains."""
    counts = view.chain_counts
    for part, name in PARTS.items():
        few = [one[part] for one in counts.values() if one[part] < FEW]
        if few:
            yield _sentence(view, few, name, FEW, f"{EFFECTS[part]}.")
    few = [one["train"] for one in counts.values() if one["train"] < FEW_FOR_LAYERS]
    layered = [m for m in view.dataset.methods if view.dataset.solver(m.solver).has_layers]
    if few and layered:
        effect = Markup(
            f"the layers of {method_names(layered)} learn from decisions on these few chains and may "
            "reduce accuracy. Compare with the same solver without layers."
        )
        yield _sentence(view, few, PARTS["train"], FEW_FOR_LAYERS, effect)


def _sentence(view: View, few: Sequence[int], name: str, limit: int, effect: str) -> Markup:
    """Return the sentence that some sets have fewer chains than a limit, and its effect."""
    total, least = len(view.chain_counts), plural(min(few), "chain")
    if total == 1:
        return Markup(f"the {name} set has only {view.link(least, 'folds')}: {effect}")
    link = view.link(f"{len(few)} of {total} splits", "folds")
    return Markup(f"in {link} the {name} set has fewer than {limit} chains (as few as {least}): {effect}")


# Caveats to bear in mind before relying on the results of a data set.

GOOD_AUC = 0.6
HIGH_AUC = 0.8
ONE_SIDED = 0.1
UNEVEN = 0.4
NEGATIVE_MASS = 0.001
LEAK_SENTENCES = {
    "identical": (
        "is identical to a training sequence",
        "are identical to training sequences",
    ),
    "contained": (
        "is contained in a training sequence, or contains one",
        "are contained in training sequences, or contain them",
    ),
    "similar": (
        "is similar to a training sequence",
        "are similar to training sequences",
    ),
    "overlapping": (
        "shares a long stretch with a training sequence",
        "share long stretches with training sequences",
    ),
    "conflict": (
        "occurs with two different labels",
        "occur with two different labels",
    ),
}


def caveats(view: View) -> list[Markup]:
    """Return the caveats about one data set, as sentences that begin with its name and link to their sections."""
    found = [
        _missing(view),
        _incomplete(view),
        *map(escape, (view.dataset.summary or {}).get("leaks", ())),
        *_leaks(view),
        _not_converged(view),
        *_before_the_fit(view),
    ]
    found += [
        _baseline_caveat(view),
        *_few(view),
        *few_chains(view),
        _one_class(view),
        _uneven(view),
        _indefinite(view),
        _edges(view),
        _unused(view),
        _related(view),
    ]
    return [Markup(f"<b>{escape(view.dataset.name)}</b>: {sentence}") for sentence in found if sentence]


def _baseline_caveat(view: View) -> Markup | None:
    """Return the caveat that a trivial baseline does as well as the best method."""
    found = view.headline.against_baseline
    sign = baseline_sign(view)
    if found is None or sign is None or sign > 0:
        return None
    link = view.link("trivial baseline", "scores")
    phrase, best = BASELINES[found.name].phrase, method_names(view.ranking.best[:1])
    if sign < 0:
        return Markup(f"{phrase}, a {link}, is significantly better than the best method, {best}.")
    return Markup(
        f"the best method, {best}, is not significantly better than a {link}, {phrase}. This study does not show "
        "that any kernel learns more."
    )


def _related(view: View) -> Markup | None:
    """Return the caveat that tests of pairs of methods treat related samples as independent."""
    groups = view.headline.groups.values()
    pairs = view.comparisons and not view.dataset.several
    if not pairs or all(len(set(task.values())) == len(task) for task in groups):
        return None
    link = view.link("tests between methods", "comparisons")
    samples = view.sample_text("sequences")
    return Markup(
        f"the folds keep related {samples} together, but the {link} treat {samples} as independent; p can be too small."
    )


def _missing(view: View) -> Markup | None:
    """Return the caveat about combinations without any result."""
    missing = view.dataset.missing
    if not missing:
        return None
    link = view.link(plural(len(missing), "combination"), "scores")
    return Markup(
        f"{link} of {len(view.dataset.methods)} gave no result and {'is' if len(missing) == 1 else 'are'} "
        f"shown as missing: {method_names(missing)}."
    )


def _incomplete(view: View) -> Markup | None:
    """Return the caveat about combinations with scores for only some folds, and whether these are ranked."""
    total = len(view.dataset.units)
    part = [method for method in view.ranking.order if view.ranking.score(method).n < total]
    if not part:
        return None
    link = view.link(f"fewer than {plural(total, view.word, view.words)}", "scores")
    most = max(view.ranking.score(method).n for method in view.ranking.order)
    unranked = any(view.ranking.score(method).n < most for method in part)
    rest = "; combinations with fewer scores than others are not ranked first" if unranked else ""
    return Markup(f"the {view.metric.name} is defined in {link} for {method_names(part)}{rest}.")


def _leaks(view: View) -> Iterator[Markup]:
    """Yield caveats about test sequences that also occur in the training set."""
    leakage = view.dataset.leakage
    if leakage is None:
        yield Markup(
            f"it is {view.link('unknown', 'leakage')} whether "
            f"training and test sets {view.data_text('share sequences')}."
        )
        return
    for kind, (one, many) in LEAK_SENTENCES.items():
        rows = leakage[leakage["kind"] == kind]
        count = rows["test_id"].nunique()
        if not count:
            continue
        clause = view.data_text(one if count == 1 else many)
        if kind == "conflict":
            yield Markup(f"{view.link(plural(count, view.data_text('sequence')), 'leakage')} {clause}.")
            continue
        link = view.link(plural(count, view.data_text("test sequence")), "leakage")
        places = len(rows[["task", "split"]].drop_duplicates())
        where = f" (in {plural(places, view.word, view.words)})" if len(view.dataset.units) > 1 else ""
        yield Markup(f"{link} {clause}{where}; scores may be too optimistic.")


def _not_converged(view: View) -> Markup | None:
    """Return the caveat about fits that stopped before they converged."""
    fits = view.dataset.fits
    failed = fits[~fits["converged"]] if len(fits) else fits
    if not len(failed):
        return None
    link = view.link(f"{plural(len(failed), 'fit')} of {number(len(fits), 0)}", "fits")
    return Markup(f"{link} did not converge ({_names(view, failed)}); their scores are less reliable.")


def _names(view: View, fits: pd.DataFrame) -> Markup:
    """Return the methods of some fits, in the order of the report."""
    methods = set(zip(fits["kernel"], fits["solver"], strict=True))
    return method_names([method for method in view.dataset.methods if tuple(method) in methods])


def _before_the_fit(view: View) -> Iterator[Markup]:
    """Yield caveats about inner fits and learned kernel weights that did not converge."""
    fits = view.dataset.fits
    inner = fits["inner_not_converged"].sum() if "inner_not_converged" in fits else 0
    if inner:
        link = view.link(plural(int(inner), "inner fit"), "fits")
        which = _names(view, fits[fits["inner_not_converged"] > 0])
        yield Markup(f"{link} did not converge ({which}); the hyperparameters selected by them are less reliable.")
    weights = int(fits["weights_failed"].sum()) if "weights_failed" in fits else 0
    if weights:
        link = view.link("weights of kernels", "fits")
        yield Markup(f"The {link} did not converge in {weights} of {number(len(fits), 0)} training sets.")


def _few(view: View) -> Iterator[Markup]:
    """Yield caveats about test and training sets with few positives (or few samples of a class)."""
    composition, dataset = view.dataset.composition, view.dataset
    if composition is None or dataset.kind == "real":
        return
    rows = composition
    if dataset.kind == "binary":
        positive = {task: dataset.classes(task)[-1:] for task in rows["task"].unique()}
        rows = rows[[name in positive[task] for task, name in zip(rows["task"], rows["class"], strict=True)]]
    what = "positives" if dataset.kind == "binary" else view.sample_text("sequences of at least one class")
    effects = {
        "test": f"one {view.sample_text('sequence')} can change the score considerably",
        "training": "there is little to learn from",
    }
    for part, column in (("test", "test"), ("training", "train")):
        splits = rows.groupby(["task", "split"], sort=False)[column].min()
        few = splits[splits < FEW]
        if len(few):
            words = view.words if len(splits) == len(dataset.units) else "splits"
            if len(splits) == 1:
                link = view.link(f"fewer than {FEW}", "folds")
                yield Markup(f"the {part} set has {link} {what} ({int(few.min())}), so {effects[part]}.")
                continue
            link = view.link(f"{len(few)} of {len(splits)} {words}", "folds")
            least = f"as few as {int(few.min())}" if few.min() else "none at all in some"
            yield Markup(f"in {link} the {part} set has fewer than {FEW} {what} ({least}), so {effects[part]}.")


def _one_class(view: View) -> Markup | None:
    """Return the caveat about methods that rank well but predict almost only one class."""
    found = _one_sided(view)
    if not found or view.dataset.study.inner.threshold is not None:  # what was asked for is no fault
        return None
    link = view.link("the rankings, not the predicted classes", "scores")
    return Markup(
        f"{method_names(found)} ranked the {view.sample_text('sequences')} better than chance but predicted the "
        f"same class for nearly all of them; use {link}. {_remedy(view, found)}"
    )


def _one_sided(view: View) -> list[Method]:
    """Return the methods that rank better than chance, but recognise hardly any sequence of one class."""
    ranking = view.ranking
    return [
        method
        for method in ranking.order
        if ranking.score(method, "auc").mean >= GOOD_AUC
        and view.headline.beats_chance(method) is not False
        and min(_sides(view, method)) <= ONE_SIDED
    ]


def _sides(view: View, method: Method) -> list[float]:
    """Return the mean sensitivity and specificity of a method, NaN where unknown."""
    return [view.ranking.score(method, name).mean for name in ("sensitivity", "specificity")]


def _gap(view: View, method: Method) -> float:
    """Return the difference between the mean sensitivity and specificity of a method."""
    sensitivity, specificity = _sides(view, method)
    return abs(sensitivity - specificity)


def _uneven(view: View) -> Markup | None:
    """Return the caveat about methods that rank well but recognise far fewer sequences of one class than the other."""
    near_one_class = _one_sided(view)
    good = [method for method in view.ranking.order if view.ranking.score(method, "auc").mean >= HIGH_AUC]
    found = [m for m in good if m not in near_one_class and _gap(view, m) >= UNEVEN]
    if not found or view.dataset.study.inner.threshold is not None:
        return None
    worst = max(found, key=lambda method: _gap(view, method))
    sensitivity, specificity = _sides(view, worst)
    link = view.link("one class is recognised far better than the other", "scores")
    return Markup(
        f"{method_names(found)}: the AUC is at least {HIGH_AUC}, but {link} (sensitivity "
        f"{number(sensitivity)}, specificity {number(specificity)}{' at worst' if len(found) > 1 else ''}). "
        f"{_remedy(view, found)}"
    )


def _remedy(view: View, methods: Sequence[Method]) -> str:
    """Return the remedy where the threshold, not the ranking, is at fault."""
    text = "To predict classes, choose a threshold (such as inner: {threshold: sensitivity=0.9})"
    if view.dataset.study.inner.metric != "balanced_accuracy":
        text += ", or select hyperparameters by balanced accuracy (inner: {metric: balanced_accuracy})"
    text += "."
    entries = [view.dataset.solver(method.solver) for method in methods]
    solvers = {entry.solver_name for entry in entries}
    if any(entry.solver_name == "csvc" and "class_weight" not in entry.spec for entry in entries):
        text += " The C-SVM takes class weights (class_weight: balanced)."
    if "psvc" in solvers:
        text += (
            " The P-SVM adds the mean of the labels (\N{MINUS SIGN}1 and 1) to its decisions, which favours the larger "
            "class."
        )
    return text


def _indefinite(view: View) -> Markup | None:
    """Return the caveat about unrepaired matrices with much negative mass.

    It is about solvers that need a positive semi-definite matrix.
    """
    found = {method: share for method, share in unrepaired(view.dataset).items() if share >= NEGATIVE_MASS}
    if not found:
        return None
    link = view.link("indefinite matrix without repair", "eigenvalues")
    return Markup(
        f"{method_names(list(found))} had an {link} (negative mass up to {number(100 * max(found.values()), 1)} %), on "
        "which a C-SVM may stop at a poor solution. Repair it (repair: clip, flip "
        "or shift) or use the P-SVM (solver psvc), which does not require a positive semi-definite matrix."
    )


def _unused(view: View) -> Markup | None:
    """Return the caveat about settings in the configuration that the labels do not allow."""
    text = unused_sentence(view.dataset)
    return Markup(f"{view.link(text, 'choices')}.") if text else None


def _edges(view: View) -> Markup | None:
    """Return the caveat about hyperparameters chosen at an end of the searched grid."""
    edges = edge_choices(view.dataset)
    if not edges:
        return None
    link = view.link("end of the grid", "choices")
    methods = list(dict.fromkeys((kernel, solver) for kernel, solver, _ in edges))
    names = ", ".join(dict.fromkeys(f"{parameter} the {end}" for (_, _, parameter), end in edges.items()))
    return Markup(
        f"the inner loop mostly selected a value at an {link} for {method_names(methods)} ({escape(names)}): "
        "a wider grid may improve the result."
    )


MOST_ROWS = {1: 24, 2: 14}
"""Maximum number of methods drawn, by the number of data sets, so that all fit on one screen."""
FEW_ROWS = 6
WIDE, NARROW = 820, 560
"""Width of the picture of a single data set, and of one beside another."""
MARKS = {True: "better", False: "not better", None: "untested"}


def findings_section(views: Sequence[View], overview: Overview | None) -> Markup:
    """Return the main findings and the caveats."""
    cards = [
        {
            "name": view.dataset.name,
            "anchor": view.anchor,
            "figure": _figure(view, len(views)) if view.headline.methods else None,
            "caption": _caption(view, len(views)) if view.headline.methods else None,
            "sentence": headline_sentence(view),
        }
        for view in views
    ]
    content = {
        "overall": overall_finding(overview) if overview else None,
        "cards": cards,
        "caveats": [sentence for view in views for sentence in caveats(view)],
    }
    return render("findings", "findings", content)


def _figure(view: View, count: int) -> Markup:
    """Return the picture of the methods and baselines."""
    headline, shown = view.headline, _shown(view, count)
    rows = [_row(view, method) for method in shown]
    baselines = headline.trivial
    lines = {}
    if headline.chance is not None:
        name = "chance" if headline.key == "auc" else next((n for n in headline.trivial if n in CHANCE_LEVEL), "")
        lines[headline.chance] = NAMES.get(name, name)
        baselines = {n: e for n, e in baselines.items() if n not in CHANCE_LEVEL}
    rows += [Row(NAMES[n], e.score, e.low, e.high, "baseline") for n, e in baselines.items()]
    names = ", ".join(f"{row.name} {fixed(row.score)}" for row in rows)
    ends = None if headline.key == "rmse" else (0.0, 1.0)
    width = WIDE if count == 1 else NARROW
    label = f"{view.dataset.name}: {view.metric.name} of {plural(len(shown), 'method')}: {names}"
    scores = view.ranking.score(view.ranking.best[0]).n
    title = f"mean {view.metric.name} over {scores} {view.words}" if scores > 1 else view.metric.name
    return dot_intervals(rows, title, lines, label, width=width, ends=ends)


def _shown(view: View, count: int) -> Sequence[Method]:
    """Return the methods that are drawn, where there are so many data sets."""
    return view.headline.methods[: MOST_ROWS.get(count, FEW_ROWS)]


def _row(view: View, method: Method) -> Row:
    """Return the row of a method."""
    entry = view.headline.entries[method]
    name = f"{method.kernel} with {method.solver}"
    best = method in view.ranking.best
    return Row(name, entry.score, entry.low, entry.high, MARKS[entry.beats_chance], best)


def _caption(view: View, count: int) -> Markup:
    """Return the caption that explains the marks and intervals; empty where there are none."""
    headline, shown = view.headline, _shown(view, count)
    hidden = CHANCE_LEVEL if headline.chance is not None else ()
    content = {
        "view": view,
        "headline": headline,
        "intervals": any(headline.entries[method].low == headline.entries[method].low for method in shown),
        "found": {headline.beats_chance(method) for method in shown},
        "baselines": any(name not in hidden for name in headline.trivial),
        "rest": len(headline.methods) - len(shown),
    }
    return render("findings", "caption", content)


# Overview of several data sets: one table, one mean for each method, one curve.

LEAST = 3


class Overview:
    """Headline metric of every method on every data set, for three or more data sets."""

    def __init__(self, views: Sequence[View]) -> None:
        self.views = views
        self.metric = views[0].ranking.headline
        methods = _shared(views)
        self.values = {method: [view.ranking.score(method).mean for view in views] for method in methods}
        complete = [method for method in methods if not np.isnan(self.values[method]).any()]
        sign = -1 if metric(self.metric).higher else 1
        complete.sort(key=lambda method: sign * np.mean(self.values[method]))
        self.means = {
            method: Score(float(np.mean(self.values[method])), float(np.std(self.values[method], ddof=1)), len(views))
            for method in complete
        }
        self.transductive: set[str] = set().union(*(view.dataset.transductive for view in views))
        self.compared: Compared | None = None
        if enough(len(views), len(complete)):
            values = {method: self.values[method] for method in complete}
            self.compared = Compared(values, self.metric, "data set", "data sets")


def make_overview(views: Sequence[View]) -> Overview | None:
    """Return the Overview; None for fewer than three data sets, or where they share no metric or no method."""
    metrics = {view.ranking.metric for view in views}
    alike = len(metrics) == 1 and None not in metrics
    return Overview(views) if len(views) >= LEAST and alike and _shared(views) else None


def _shared(views: Sequence[View]) -> list[Method]:
    """Return the methods that the study has on at least two data sets, in order of appearance."""
    methods = dict.fromkeys(method for view in views for method in view.dataset.methods)
    return [method for method in methods if sum(method in view.dataset.methods for view in views) > 1]


def overall_finding(overview: Overview) -> Markup | None:
    """Return a sentence on the best method over all data sets; None if no method has been run on all."""
    if not overview.means:
        return None
    (best, score), *others = overview.means.items()
    equal = sum(rounded(one.mean) == rounded(score.mean) for _, one in others)
    content = {"count": len(overview.views), "best": best, "score": score, "equal": equal}
    return render("findings", "overall", {"one": metric(overview.metric), **content})


def overview_section(overview: Overview) -> Markup:
    """Return the table of data sets × methods, and the number of data sets that reach each score."""
    methods, one, transductive = list(overview.values), metric(overview.metric), overview.transductive
    rows = []
    for i, view in enumerate(overview.views):
        may = [view.headline.beats_chance(method) is not False for method in methods]
        cells = _cells([overview.values[method][i] for method in methods], one.higher, may)
        own = [cell if method in view.dataset.methods else "–" for method, cell in zip(methods, cells, strict=True)]
        rows.append([Markup(f'<a href="#{view.anchor}">{escape(view.dataset.name)}</a>'), *own])
    means = [overview.means.get(method, NO_SCORE) for method in methods]
    may = [any(view.headline.beats_chance(m) is not False for view in overview.views) for m in methods]
    cells = _cells([score.mean for score in means], one.higher, may, [score.sd for score in means])
    everywhere = [all(method in view.dataset.methods for view in overview.views) for method in methods]
    shown = [cell if full else "–" for cell, full in zip(cells, everywhere, strict=True)]
    rows.append([Markup("<b>mean ± standard deviation</b>"), *shown])
    caption = [
        f"Mean {one.name} of each method on each data set. ",
        STAR,
        " best for each data set, unless it is not significantly better than chance there.",
        footnote(methods, transductive),
    ]
    columns: list[Column | str] = [Column("Data set", False), *(method_name(m, transductive) for m in methods)]
    columns, rows = turned("Method", columns, rows)
    content: dict[str, Any] = {"table": table(caption, columns, rows, class_="dense"), "figure": None, "verdicts": None}
    drawn_, which = drawn(list(overview.means))
    if overview.metric != "rmse" and drawn_:
        values = {method: overview.values[method] for method in drawn_}
        content["figure"], content["caption"] = cumulative(values, overview.metric, "data sets", transductive)
        content |= {"which": which, "note": footnote(drawn_, transductive)}
    if overview.compared:
        content["verdicts"] = verdicts(overview.compared, "all data sets", transductive)
    return render("findings", "overview", content)


def _cells(
    values: Sequence[float], higher: bool, may: Sequence[bool], deviations: Sequence[float] | None = None
) -> list[Markup]:
    """Return the cells of one row, the best value marked if its method may have a star."""
    best = top(values, may, higher) if np.count_nonzero(~np.isnan(values)) > 1 else None
    shown = [spread(value, sd) for value, sd in zip(values, deviations or [math.nan] * len(values), strict=True)]
    cells = starred(values, may, best, shown)
    return [MISSING if value != value else cell for value, cell in zip(values, cells, strict=True)]
