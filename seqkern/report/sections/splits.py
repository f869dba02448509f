"""How a data set is split, and what leaks between the parts."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from seqkern.core.markup import Markup, details, tag
from seqkern.figures.html_table import Column, table
from seqkern.figures.numbers import number, plural
from seqkern.report.files import numbers, rows_by, rows_by_value
from seqkern.report.sentences import LEAKS, SAMPLE_WORDS, enumerate_names
from seqkern.report.unlabelled import count_unlabelled, unlabelled_use
from seqkern.report.view import View, paragraph
from seqkern.study.settings import LeakageSettings

MOST_ROWS = 12
MOST_PAIRS = 100
WITHOUT_VALUES = ("similarities", "dissimilarities")  # kinds of data that do not tell which samples are equal


def folds_section(view: View) -> Markup:
    """Return how many samples of each class are in each training and test set.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup
        The section.
    """
    composition = view.dataset.composition
    if composition is None:
        text = "The composition of the folds was not found."
        return view.section("folds", "Folds", paragraph(text, class_="missing"))
    intro = (
        "In each split, a classifier is trained on the training set and tested on the "
        "test set, which it has never seen. All kernels and solvers use the same splits."
    )
    unlabelled = count_unlabelled(view.dataset)
    if unlabelled:
        intro += f" Not counted here: {plural(unlabelled, 'sample')} without a label, {unlabelled_use(view.dataset)}."
    binary_tasks = view.dataset.several and view.dataset.kind == "binary"
    rows, columns, values = (_by_role if binary_tasks else _by_class)(view, composition)
    full = table(f"Samples in each training and test set of {view.dataset.name}", columns, rows)
    if len(rows) <= MOST_ROWS:
        return view.section("folds", "Folds", paragraph(intro), full)
    compact = [
        [name, *(number(value, 0) for value in np.atleast_1d(function(values, axis=0)))]
        for name, function in (("smallest", np.min), ("median", np.median), ("largest", np.max))
    ]
    head = [Column(f"Of {len(rows)} splits", False), *columns[-values.shape[1] :]]
    brief = table(f"Size of training and test sets over all splits of {view.dataset.name}", head, compact)
    return view.section("folds", "Folds", paragraph(intro), brief, details(f"All {len(rows)} splits", full))


def _by_role(
    view: View, composition: pd.DataFrame
) -> tuple[list[list[Any]], list[Column | str], npt.NDArray[np.int64]]:
    """Return (rows, columns, counts) with positives and negatives: class names differ between tasks."""
    rows, values = [], []
    for (task, split), part in rows_by(composition, ["task", "split"]):
        positive = (part["class"].isin(view.dataset.classes(task)[-1:])).to_numpy()
        counts = [int(part[role][side].sum()) for role in ("train", "test") for side in (positive, ~positive)]
        rows.append([*view.place(task, split), *(number(count, 0) for count in counts)])
        values.append(counts)
    names = [f"{part}: {side}" for part in ("Training", "Test") for side in ("positive", "negative")]
    return rows, [*view.place_columns(), *names], np.array(values)


def _by_class(
    view: View, composition: pd.DataFrame
) -> tuple[list[list[Any]], list[Column | str], npt.NDArray[np.int64]]:
    """Return (rows, columns, counts) with one column for each class and part; of residues, one for their chains too."""
    names, chains = list(dict.fromkeys(composition["class"])), view.chain_counts
    rows, values = [], []
    for (task, split), part in rows_by(composition, ["task", "split"]):
        by = part.set_index("class")
        counts = [int(by[role].get(name, 0)) for role in ("train", "test") for name in names]
        if chains:
            own = chains.get((task, split), {})
            counts = [own.get("train", 0), *counts[: len(names)], own.get("test", 0), *counts[len(names) :]]
        rows.append([*view.place(task, split), *(number(count, 0) for count in counts)])
        values.append(counts)
    shown = ["chains", *names] if chains else names
    titles = [f"{part}: {name}" for part in ("Training", "Test") for name in shown]
    return rows, [*view.place_columns(), *titles], np.array(values)


def _sought(options: LeakageSettings, kind: str) -> str:
    """Return where and what the leakage check looked for."""
    sought = ["identical sequences"]
    if kind != "sequences":
        return f": {sought[0]}"
    limit = options.identity
    sought += ["sequences contained in one another"] if options.contained else []
    if limit == "auto":
        sought.append("sequences more similar than chance explains")
    elif limit:
        sought.append(f"sequences at least {100 * float(limit):g} % identical")
    strands = ", on both strands" if options.reverse_complement else ""
    return f"{strands}: {enumerate_names(sought)}"


def _kept_together(view: View) -> str:
    """Return what of similar samples was kept together, over all tasks; empty where nothing was similar."""
    table = view.dataset.similar
    if table is None or not len(table):
        return ""
    counts = {name: numbers(table[name]).astype(int) for name in ("samples", "similar", "groups", "largest")}
    row = int(counts["similar"].argmax())
    if not counts["similar"].iloc[row]:
        return ""
    n, similar, groups, largest = (int(counts[name].iloc[row]) for name in ("samples", "similar", "groups", "largest"))
    what = "chains" if view.chain_counts else view.data_text("sequences")
    text = f" {similar:,} of {n:,} {what} are similar to others, in {plural(groups, 'group')} (largest {largest:,}); "
    where = table["together"].iloc[row]
    text += f"each group was kept together in {where}." if where else "they were not kept together."
    cut = int(numbers(table["links_cut"]).max())
    if where and cut:
        text += f" The weakest {plural(cut, 'link')} of too large groups {'were' if cut > 1 else 'was'} cut."
    remarks = [remark for remark in table["remarks"] if remark]
    if remarks:
        text += f" Exception: {remarks[0]}."
    return text


def leakage_section(view: View) -> Markup:
    """Return what test and training sets share.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup
        The section.
    """
    leakage = view.dataset.leakage
    if leakage is None:
        text = "No results of a leakage check were found, so shared sequences are unknown."
        return view.section("leakage", "Leakage", paragraph(view.data_text(text), class_="missing"))
    kind = (view.dataset.summary or {}).get("kind", "sequences")
    if kind in WITHOUT_VALUES and not len(leakage):
        text = (
            f"A table of {kind} does not show which {SAMPLE_WORDS[kind]}s are identical, so no leakage check is "
            "possible."
        )
        return view.section("leakage", "Leakage", paragraph(text))
    intro = view.data_text(
        "Test sequences that are also in the training set "
        f"inflate scores. Every split was checked for leakage{_sought(view.dataset.study.leakage, kind)}."
    )
    intro += _kept_together(view)
    if not len(leakage):
        return view.section("leakage", "Leakage", paragraph(intro, " ", tag("b", "No leakage was found.")))
    rows = []
    for kind, part in rows_by_value(leakage, "kind"):
        name, meaning = LEAKS.get(kind, (kind, ""))
        meaning = view.data_text(meaning)
        splits = 0 if kind == "conflict" else len(part[["task", "split"]].drop_duplicates())
        rows.append([name, meaning, number(part["test_id"].nunique(), 0), number(splits or None, 0)])
    columns: list[Column | str] = [
        Column("Finding", False),
        Column("Meaning", False),
        view.data_text("Test sequences"),
        "Splits",
    ]
    pairs = [
        [
            row["test_id"],
            row["train_id"],
            LEAKS.get(row["kind"], (row["kind"],))[0],
            *view.place(row["task"], row["split"]),
            share,
        ]
        for row, share in zip(leakage.to_dict("records"), map(number, numbers(leakage["identity"])), strict=True)
    ][:MOST_PAIRS]
    head = [Column(view.data_text(name), False) for name in ("Test sequence", "Training sequence", "Finding")]
    head += view.place_columns()
    rest = len(leakage) - len(pairs)
    more = f" (the first {len(pairs)}; the rest is in folds/{view.dataset.name}/leakage.tsv)" if rest else ""
    listed = table(f"Pairs found{more}", [*head, Column("Identity")], pairs, class_="ids")
    summary = table(f"Leakage between test and training sets of {view.dataset.name}", columns, rows, class_="text")
    return view.section("leakage", "Leakage", paragraph(intro), summary, details(plural(len(leakage), "pair"), listed))
