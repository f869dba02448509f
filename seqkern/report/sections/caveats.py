"""What to bear in mind before relying on the results of a data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from seqkern.core.markup import Markup, escape, tag
from seqkern.figures.numbers import number, plural
from seqkern.models.baselines.names import BASELINES
from seqkern.report.dataset_results import Method
from seqkern.report.headline_words import baseline_sign
from seqkern.report.sections.choices import edge_choices
from seqkern.report.sections.eigenvalues import unrepaired
from seqkern.report.sections.few_chains import few_chains
from seqkern.report.sections.search_settings import unused_sentence
from seqkern.report.view import View, method_names

if TYPE_CHECKING:
    import pandas as pd

FEW = 10
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
    """Return sentences, each linked to its section, about one data set.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    list of Markup
        Each begins with the name of the data set.
    """
    found = [
        _missing(view),
        _incomplete(view),
        *_leaked_features(view),
        *_leaks(view),
        _not_converged(view),
        *_before_the_fit(view),
    ]
    found += [
        _baseline(view),
        *_few(view),
        *few_chains(view),
        _one_class(view),
        _uneven(view),
        _indefinite(view),
        _edges(view),
        _unused(view),
        _related(view),
    ]
    return [Markup(f"{tag('b', view.dataset.name)}: {sentence}") for sentence in found if sentence]


def _baseline(view: View) -> Markup | None:
    """Tell that a trivial baseline does as well as the best method."""
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
    """Tell that tests of pairs of methods take related samples as independent."""
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
    """Tell of combinations without any result."""
    missing = view.dataset.missing
    if not missing:
        return None
    link = view.link(plural(len(missing), "combination"), "scores")
    return Markup(
        f"{link} of {len(view.dataset.methods)} gave no result and {'is' if len(missing) == 1 else 'are'} "
        f"shown as missing: {method_names(missing)}."
    )


def _incomplete(view: View) -> Markup | None:
    """Tell of combinations with scores for fewer folds than there are, and whether they are ranked."""
    total = len(view.dataset.units)
    part = [method for method in view.ranking.order if view.ranking.score(method).n < total]
    if not part:
        return None
    link = view.link(f"fewer than {plural(total, view.word, view.words)}", "scores")
    most = max(view.ranking.score(method).n for method in view.ranking.order)
    unranked = any(view.ranking.score(method).n < most for method in part)
    rest = "; combinations with fewer scores than others are not ranked first" if unranked else ""
    return Markup(f"the {view.metric.name} is defined in {link} for {method_names(part)}{rest}.")


def _leaked_features(view: View) -> Iterator[Markup]:
    """Tell of features that alone give the label."""
    leaks = (view.dataset.summary or {}).get("leaks", ())
    yield from (tag("span", leak) for leak in leaks)


def _leaks(view: View) -> Iterator[Markup]:
    """Tell of test sequences that also stand in the training set."""
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
    """Tell of fits that stopped before they converged."""
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
    """Tell of inner fits and of weights of kernels that did not converge."""
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
    """Tell of test and training sets with few positives (or few of a class)."""
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
    """Tell of methods that rank well but predict nearly one class only."""
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
    """Return how far the mean sensitivity and specificity of a method lie apart."""
    sensitivity, specificity = _sides(view, method)
    return abs(sensitivity - specificity)


def _uneven(view: View) -> Markup | None:
    """Tell of methods that rank well but recognise far fewer sequences of one class than of the other."""
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
    """Return what helps where the threshold, not the ranking, is at fault."""
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
    """Tell of solvers that need a positive semi-definite matrix and had one with much negative mass, unrepaired."""
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
    """Tell of what the configuration asks for that the labels do not allow."""
    text = unused_sentence(view.dataset)
    return Markup(f"{view.link(text, 'choices')}.") if text else None


def _edges(view: View) -> Markup | None:
    """Tell of hyperparameters chosen at the end of the grid that was searched."""
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
