"""First screen: for each data set all methods with their intervals and one sentence; the caveats; all data sets."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from seqkern.kernels.kernel_specs import kernel_text
from seqkern.methods.baselines import BASELINES, VERDICTS
from seqkern.methods.compared import NAMES, Compared, directed, enough, is_significant, lead, methods_of
from seqkern.methods.headline import Entry
from seqkern.methods.study_results import KEYS, NO_SCORE, Method, Score
from seqkern.report.markup import Markup, escape
from seqkern.report.outcomes import thresholds
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
from seqkern.report.sections.curves_and_errors import best_panel, percent
from seqkern.report.sections.fitting import edge_choices, unrepaired, unused_sentence
from seqkern.report.sections.provenance import explained, with_hints
from seqkern.report.sections.scores import MISSING, STAR, starred, top
from seqkern.report.sections.tests import verdicts
from seqkern.report.sentences import LEAKS, footnote, metric
from seqkern.report.view import View
from seqkern.solvers.solver_specs import spec_text
from seqkern.study.data_entry import FastaSource
from seqkern.study.kernel_entries import KernelEntry

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
    against = "".join(_against_baseline(view, trivial) for trivial in (False, True))
    return Markup(f"{_highest(view, entry)}{_comparisons(view, entry)}.{note}{against}")


def _highest(view: View, entry: Entry) -> Markup:
    """Return the clause that names the method with the best score, with its interval."""
    names = method_names(view.ranking.best)
    word = "highest" if view.metric.higher else "lowest"
    if len(view.headline.methods) == 1:
        return Markup(f"{names} has {_article(view.metric.name)} {view.metric.name} of {_value(entry)}")
    verb = "has" if len(view.ranking.best) == 1 else "share"
    corrected = view.headline.corrected
    count = len(view.headline.methods)
    note = f" ({number(corrected)} after correcting for picking the best of {count})" if corrected == corrected else ""
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
    against = "".join(_against_baseline(view, kind) for kind in (False, True) if baseline_sign(view, kind) == -1)
    return Markup(f"{text}.{footnote(best, view.dataset.transductive)}{against}")


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
    text, found = _next(view)
    if text and found is not None:
        (better if found else not_better).append(text)
    pronoun = "it is" if len(view.ranking.best) == 1 else f"{method_name(view.ranking.best[0])} is"
    words = "significantly better"
    significantly = view.link(words, "comparisons") if view.comparisons else words
    if better:
        rest = f", but not significantly better than {_listed(not_better, 'or')}" if not_better else ""
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


def baseline_sign(view: View, trivial: bool) -> int | None:
    """Return 1 if the best method is significantly better than the strongest baseline of a kind, −1 if worse, or 0.

    Return None without a test.
    """
    found = view.headline.against_baselines.get(trivial)
    return None if found is None else found.signs.get(view.ranking.best[0])


def _against_baseline(view: View, trivial: bool) -> str:
    """Return a sentence on the best method's gain over the strongest reference method, or trivial baseline."""
    headline, best, sign = view.headline, view.ranking.best[0], baseline_sign(view, trivial)
    tested = headline.against_baselines.get(trivial)
    name = headline.best_baseline(trivial=trivial) if tested is None else tested.name
    if name is None:
        return ""
    score, verdict = headline.baseline_entries[name].score, VERDICTS[sign]
    phrase = f"{BASELINES[name].phrase} ({number(score)})"
    verdict = verdict if sign == 1 else f"<b>{verdict}</b>"
    if trivial:
        by = "" if tested is None else _by(headline, tested.key)
        return f" Against the best trivial baseline, {phrase}: {verdict}{by}."
    if tested is None:
        gain, key, ends = headline.entries[best].score - score, headline.key, ""
    else:
        (gain, _, low, high), key = tested.gains[best], tested.key
        kind = "95% interval" if len(headline.methods) == 1 else "simultaneous 95% interval"
        ahead, tasks = tested.ahead.get(best, (0, 0))
        ranks = f" in the signed-rank test, ahead in {ahead} of {tasks} {view.words}" if tasks else ""
        kind += " of the mean" if tasks else ""
        ends = f"{ranks} ({kind} {signed(low)} to {signed(high)})" if low == low else ranks
    gained = f"<b>{signed(gain)} {metric(key).name}</b>"
    over = "over" if metric(key).higher else "against"
    return f" {gained} {over} the best reference method, {phrase}: {verdict}{ends}."


def signed(value: float) -> str:
    """Return a difference with its sign."""
    return f"{'−' if value < 0 else '+'}{number(abs(value))}"


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
    text = f"the runner-up, {method_name(second)} ({value})"
    return text, bool(is_significant(pair) and directed(pair) and ahead)


# Caveats to bear in mind before relying on the results: each function yields what its sentences in the template need.

FEW = 10
FEW_FOR_LAYERS = 50
"""Number of chains of a training set below which a layer after the solver has too little to learn from."""
GOOD_AUC = 0.6
HIGH_AUC = 0.8
ONE_SIDED = 0.1
UNEVEN = 0.4
NEGATIVE_MASS = 0.001
Contents: TypeAlias = "Iterator[dict[str, Any]]"


def caveats(view: View) -> list[Markup]:
    """Return the caveats about one data set, as sentences that begin with its name and link to their sections."""
    found = [(find.__name__, content) for find in CAVEATS for content in find(view)]
    return [render("caveats", name, {"view": view, "few": FEW, **content}) for name, content in found]


def missing(view: View) -> Contents:
    """Combinations without any result."""
    if view.dataset.missing:
        yield {"methods": view.dataset.missing}


def incomplete(view: View) -> Contents:
    """Combinations with scores for only some folds, and whether these are ranked."""
    counts = {method: view.ranking.score(method).n for method in view.ranking.order}
    methods = [method for method, count in counts.items() if count < len(view.dataset.units)]
    if methods:
        yield {"methods": methods, "unranked": min(counts.values()) < max(counts.values())}


def leaked_features(view: View) -> Contents:
    """Single features that determine the label."""
    yield from ({"text": text} for text in (view.dataset.summary or {}).get("leaks", ()))


def leaks(view: View) -> Contents:
    """Test sequences that also occur in the training set."""
    leakage = view.dataset.leakage
    if leakage is None:
        yield {"kind": None}
        return
    for kind in LEAKS:
        rows = leakage[leakage["kind"] == kind]
        if count := rows["test_id"].nunique():
            yield {"kind": kind, "count": count, "places": len(rows[KEYS].drop_duplicates())}


def not_converged(view: View) -> Contents:
    """Fits that stopped before they converged."""
    fits = view.dataset.fits
    failed = fits[~fits["converged"]] if len(fits) else fits
    if len(failed):
        yield {"failed": len(failed), "of": len(fits), "methods": _methods(view, failed)}


def choice_not_converged(view: View) -> Contents:
    """Inner fits that did not converge."""
    fits = view.dataset.fits
    failed = fits["inner_not_converged"].sum() if "inner_not_converged" in fits else 0
    if failed:
        yield {"failed": int(failed), "methods": _methods(view, fits[fits["inner_not_converged"] > 0])}


def weights_not_converged(view: View) -> Contents:
    """Learned kernel weights that did not converge."""
    fits = view.dataset.fits
    failed = int(fits["weights_failed"].sum()) if "weights_failed" in fits else 0
    if failed:
        yield {"failed": failed, "of": len(fits)}


def _methods(view: View, fits: pd.DataFrame) -> list[Method]:
    """Return the methods of some fits, in the order of the report."""
    methods = set(zip(fits["kernel"], fits["solver"], strict=True))
    return [method for method in view.dataset.methods if tuple(method) in methods]


def baseline(view: View) -> Contents:
    """A baseline that does as well as the best method."""
    for trivial, found in view.headline.against_baselines.items():
        sign, one = baseline_sign(view, trivial), BASELINES[found.name]
        if sign is not None and sign <= 0:
            yield {"phrase": one.phrase, "role": one.role, "better": sign < 0}


def few_samples(view: View) -> Contents:
    """Test and training sets with few positives (or few samples of a class)."""
    rows, dataset = view.dataset.composition, view.dataset
    if rows is None or dataset.kind == "real":
        return
    if dataset.kind == "binary":
        positive = {task: dataset.classes(task)[-1:] for task in rows["task"].unique()}
        rows = rows[[name in positive[task] for task, name in zip(rows["task"], rows["class"], strict=True)]]
    for part in ("test", "train"):
        least = rows.groupby(KEYS, sort=False)[part].min()
        if (least < FEW).any():
            sets = {"sets": int((least < FEW).sum()), "of": len(least), "least": int(least.min())}
            yield {"part": PARTS[part], "words": view.words if len(least) == len(dataset.units) else "splits", **sets}


def few_chains(view: View) -> Contents:
    """Test and training sets of residues with few chains, however many residues they have."""
    counts = view.chain_counts.values()
    layered = [m for m in view.dataset.methods if view.dataset.solver(m.solver).has_layers]
    for part, limit, methods in (("train", FEW, []), ("test", FEW, []), ("train", FEW_FOR_LAYERS, layered)):
        own = [one[part] for one in counts if one[part] < limit]
        if own and (methods or limit == FEW):
            sets = {"sets": len(own), "of": len(counts), "least": min(own)}
            yield {"part": PARTS[part], "limit": limit, "methods": methods, **sets}


def one_class(view: View) -> Contents:
    """Methods that rank well but predict almost only one class."""
    methods = _one_sided(view)
    if methods and view.dataset.study.inner.threshold is None:  # what was asked for is no fault
        yield {"methods": methods, **_remedies(view, methods)}


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


def uneven(view: View) -> Contents:
    """Methods that rank well but recognise far fewer sequences of one class than the other."""
    near_one_class, sides = _one_sided(view), {method: _sides(view, method) for method in view.ranking.order}
    gaps = {method: abs(one - other) for method, (one, other) in sides.items()}
    good = [method for method in view.ranking.order if view.ranking.score(method, "auc").mean >= HIGH_AUC]
    methods = [method for method in good if method not in near_one_class and gaps[method] >= UNEVEN]
    if methods and view.dataset.study.inner.threshold is None:
        worst = sides[max(methods, key=lambda method: gaps[method])]
        yield {"methods": methods, "limit": HIGH_AUC, "worst": worst, **_remedies(view, methods)}


def _remedies(view: View, methods: Sequence[Method]) -> dict[str, bool]:
    """Return what may help where the threshold, not the ranking, is at fault."""
    entries = [view.dataset.solver(method.solver) for method in methods]
    return {
        "choosing": view.dataset.study.inner.metric != "balanced_accuracy",
        "weights": any(entry.solver_name == "csvc" and "class_weight" not in entry.spec for entry in entries),
        "psvm": any(entry.solver_name == "psvc" for entry in entries),
    }


def indefinite(view: View) -> Contents:
    """Unrepaired matrices with much negative mass, for solvers that need a positive semi-definite matrix."""
    found = {method: share for method, share in unrepaired(view.dataset).items() if share >= NEGATIVE_MASS}
    if found:
        yield {"methods": list(found), "mass": 100 * max(found.values())}


def edges(view: View) -> Contents:
    """Hyperparameters chosen at an end of the searched grid."""
    found = edge_choices(view.dataset)
    if found:
        names = dict.fromkeys(f"{parameter} the {end}" for (_, _, parameter), end in found.items())
        yield {"methods": list(dict.fromkeys((kernel, solver) for kernel, solver, _ in found)), "names": list(names)}


def unused(view: View) -> Contents:
    """Settings in the configuration that the labels do not allow."""
    text = unused_sentence(view.dataset)
    if text:
        yield {"text": text}


def related(view: View) -> Contents:
    """Tests of pairs of methods that treat related samples as independent."""
    alone = all(len(set(task.values())) == len(task) for task in view.headline.groups.values())
    if view.comparisons and not view.dataset.several and not alone:
        yield {}


CAVEATS = (
    *(missing, incomplete, leaked_features, leaks, not_converged, choice_not_converged, weights_not_converged),
    *(baseline, few_samples, few_chains, one_class, uneven, indefinite, edges, unused, related),
)
"""The caveats, in their order on the page."""


MOST_ROWS = {1: 24, 2: 14, 3: 8}
"""Maximum number of methods drawn, by the number of data sets, so that all fit on one screen."""
FEW_ROWS = 6
MARKS = {True: "better", False: "not better", None: "untested"}


def findings_section(views: Sequence[View], overview: Overview | None) -> Markup:
    """Return the main findings and the caveats."""
    rows = {view.anchor: _rows(view, len(views)) for view in views}
    cards = []
    for view in views:
        key = view.headline.key
        beside = [row for other in views if other.headline.key == key for row in rows[other.anchor]]
        shown = bool(view.headline.methods)
        cards.append(
            {
                "view": view,
                "figure": _figure(view, rows[view.anchor], beside) if shown else None,
                "caption": _caption(view, len(views)) if shown else None,
                "curves": best_panel(view),
                "sentence": headline_sentence(view),
                "classes": _classes(view),
            }
        )
    content = {
        "overall": overall_finding(overview) if overview else None,
        "cards": cards,
        "caveats": [sentence for view in views for sentence in caveats(view)],
        "trained": [command for view in views[:MOST_COMMANDS] if (command := train_command(view)) is not None],
    }
    return with_hints(render("findings", "findings", content), views[0].dataset.study)


MOST_COMMANDS = 2
"""Maximum number of data sets with a command."""


def train_command(view: View) -> tuple[str, str, str] | None:
    """Return the model's name, the training files, and the method, as shell text, that train the best method.

    Return None where sequences and labels alone do not give the data set, or the method cannot be written as options.
    """
    data, (best, *_) = view.dataset.entry.data, [*view.ranking.best, None]
    plain = data.source is not None and data.source.kind == "sequences" and not (data.window or data.residues)
    if best is None or not plain or view.dataset.several or data.views or data.profiles:
        return None
    kernel, solver = view.dataset.kernel(best.kernel), view.dataset.solver(best.solver)
    if not isinstance(kernel, KernelEntry) or not kernel.known or solver.layer_specs:
        return None
    files = ["sequences.fa", "--labels", "labels.tsv"]
    if view.dataset.kind == "binary":
        files = ["positive.fa", "negative.fa"]
        if isinstance(data.source, FastaSource) and data.source.classes is not None:
            paths = dict(zip(data.source.classes, data.source.paths, strict=True))
            names = view.dataset.classes(next(iter(view.dataset.tasks), ""))
            files = [paths[name] for name in reversed(names) if name in paths] if len(paths) == 2 else files
    options = [["--kernel", kernel_text(kernel.kernel)]]
    for one in kernel.transform_specs:
        options.append(["--transform", one if isinstance(one, str) else json.dumps(one)])
    options.append(
        [
            "--solver",
            solver.spec if isinstance(solver.spec, str) else spec_text(dict(solver.spec)),
            *(["--search"] if len(solver.specs) > 1 else []),
        ]
    )
    method = " \\\n    ".join(map(shlex.join, options))
    return shlex.quote(f"{view.dataset.name}.seqkern"), shlex.join(files), method


def _rows(view: View, count: int) -> list[Row]:
    """Return the rows of the picture: methods, then baselines."""
    rows = [_row(view, method) for method in _shown(view, count)]
    for one, entry in view.headline.drawn_baselines:
        mark = "baseline" if one.trivial else "reference"
        rows.append(Row(one.title, entry.score, entry.low, entry.high, mark, hint=one.sentence))
    return rows


def _figure(view: View, rows: list[Row], beside: list[Row]) -> Markup:
    """Return the picture of the methods and baselines."""
    headline = view.headline
    level = "chance" if headline.key == "auc" else NAMES.get(headline.level or "")
    lines = {} if headline.chance is None or level is None else {headline.chance: level}
    names = ", ".join(f"{row.name} {fixed(row.score)}" for row in rows)
    ends = None if headline.key == "rmse" else (0.0, 1.0)
    count = sum(row.mark not in ("reference", "baseline") for row in rows)
    label = f"{view.dataset.name}: {view.metric.name} of {plural(count, 'method')}: {names}"
    scores = view.ranking.score(view.ranking.best[0]).n
    title = f"mean {view.metric.name} over {scores} {view.words}" if scores > 1 else view.metric.name
    return dot_intervals(rows, title, lines, label, ends=ends, beside=beside)


def _classes(view: View) -> dict[str, Any] | None:
    """Return the positive class, and sensitivity and precision of the best method; None unless there are two."""
    method = next((one for one in view.ranking.best if one in view.outcomes), None)
    decisions = view.dataset.decisions(method) if method is not None and view.dataset.kind == "binary" else None
    counts = None if decisions is None else thresholds(view.dataset, decisions)
    if counts is None:
        return None
    task = next(iter(view.dataset.tasks), "")
    return {
        "method": method,
        "positive": next(reversed(view.dataset.classes(task)), None) if not view.dataset.several else None,
        "sensitivity": percent(counts.predicted[0], counts.positives),
        "precision": percent(counts.predicted[0], sum(counts.predicted)),
    }


def _shown(view: View, count: int) -> Sequence[Method]:
    """Return the methods that are drawn, where there are so many data sets."""
    return view.headline.methods[: MOST_ROWS.get(count, FEW_ROWS)]


def _row(view: View, method: Method) -> Row:
    """Return the row of a method."""
    entry = view.headline.entries[method]
    name = f"{method.kernel} with {method.solver}"
    best = method in view.ranking.best
    hint = ". ".join(explained(view.dataset.study, part, kind) for kind, part in method._asdict().items())
    return Row(name, entry.score, entry.low, entry.high, MARKS[entry.beats_chance], best, view.numbers[method], hint)


def _caption(view: View, count: int) -> Markup:
    """Return the caption that explains the marks and intervals; empty where there are none."""
    headline, shown = view.headline, _shown(view, count)
    content = {
        "view": view,
        "headline": headline,
        "intervals": any(headline.entries[method].low == headline.entries[method].low for method in shown),
        "found": {headline.beats_chance(method) for method in shown},
        "kinds": {one.trivial for one, _ in headline.drawn_baselines},
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
    compared = verdicts(overview.compared, "all data sets", transductive) if overview.compared else None
    content = {"table": table(caption, columns, rows, class_="dense"), "verdicts": compared}
    return render("findings", "overview", content)


def _cells(
    values: Sequence[float], higher: bool, may: Sequence[bool], deviations: Sequence[float] | None = None
) -> list[Markup]:
    """Return the cells of one row, the best value marked if its method may have a star."""
    best = top(values, may, higher) if np.count_nonzero(~np.isnan(values)) > 1 else None
    shown = [spread(value, sd) for value, sd in zip(values, deviations or [math.nan] * len(values), strict=True)]
    cells = starred(values, may, best, shown)
    return [MISSING if value != value else cell for value, cell in zip(values, cells, strict=True)]
