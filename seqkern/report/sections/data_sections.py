"""Sections on the data: summary, splits, leakage, audit of the split."""

import math
from typing import Any

import numpy as np
import pandas as pd

from seqkern.evaluation.folds import UNCHANGED
from seqkern.evaluation.ranking import roc_auc
from seqkern.evaluation.relations import ANY, Finding
from seqkern.formats.profile_sources import describe
from seqkern.methods.study_results import KEYS, numbers, ranked_sets, rows_by_value
from seqkern.report.audit_page import FINDINGS, findings_table
from seqkern.report.markup import Markup
from seqkern.report.methods_text import count_unlabelled, unlabelled_use
from seqkern.report.page_frame import Column, listing, method_name, number, render, table
from seqkern.report.sentences import FOLDS, LEAKS, SAMPLE_WORDS, spec_text
from seqkern.report.view import View, section
from seqkern.sequences.alphabets import count_texts
from seqkern.study.data_entry import PublicSource

# Summary of a data set: its size, labels and origin.


@section("about", "The data")
def dataset_summary_section(view: View) -> dict[str, Any]:
    """Find facts about the data set."""
    dataset, summary = view.dataset, view.dataset.summary
    if summary is None:
        return {"missing": "No summary of this data set was found."}
    folds, source, alike = dataset.entry.folds, dataset.entry.data.source, ""
    drawn = folds and dataset.study.leakage.grouping and folds.method not in UNCHANGED and dataset.leakage is not None
    if drawn and (dataset.similar is None or dataset.similar["together"].any()):
        alike = " Similar sequences stay in the same fold."
    touched = {kernel: count_texts(dataset.gram_counts(kernel)) for kernel in dataset.kernels}
    return {
        "summary": {"kind": "sequences", **summary},
        "several": len(summary.get("sequences") or {}),
        "unlabelled": count_unlabelled(dataset),
        "use": unlabelled_use(dataset),
        "folds": folds,
        "how": view.data_text(FOLDS.get(folds.method, "") + alike) if folds else "",
        "changes": count_texts(summary.get("counts") or {}),
        "touched": {kernel: texts for kernel, texts in touched.items() if texts},
        "profiles": describe(summary["profiles"]) if summary.get("profiles") else None,
        "simulated": spec_text(summary["simulate"], "kind") if summary.get("simulate") else None,
        "public": source.name if isinstance(source, PublicSource) else None,
    }


# Splits of a data set, and the leakage between their parts.

MOST_ROWS = 12
WITHOUT_VALUES = ("similarities", "dissimilarities")  # kinds of data that do not tell which samples are equal


@section("folds", "Folds", "how many samples each training and test set holds")
def folds_section(view: View) -> dict[str, Any]:
    """Count the samples of each class in each training and test set."""
    composition, dataset = view.dataset.composition, view.dataset
    if composition is None:
        return {"missing": "The composition of the folds was not found."}
    sizes = _sizes(view, composition)
    parts = {"train": "Training", "test": "Test"}
    names: list[Column | str] = [f"{parts[key[0]]}: {key[1]}" for key in sizes.columns]
    rows = [
        [*view.place(*key), *(number(value, 0) for value in row)]
        for key, row in zip(sizes.index, sizes.to_numpy(), strict=True)
    ]
    compact = [
        [name, *(number(value, 0) for value in function(sizes.to_numpy(), axis=0))]
        for name, function in (("smallest", np.min), ("median", np.median), ("largest", np.max))
    ]
    head = [Column(f"Of {len(rows)} splits", False), *names]
    return {
        "count": len(rows),
        "many": len(rows) > MOST_ROWS,
        "full": table(
            f"Samples in each training and test set of {dataset.name}", [*view.place_columns(), *names], rows
        ),
        "brief": table(f"Size of training and test sets over all splits of {dataset.name}", head, compact),
        "unlabelled": count_unlabelled(dataset),
        "use": unlabelled_use(dataset),
    }


def _sizes(view: View, composition: pd.DataFrame) -> pd.DataFrame:
    """Return the number of samples of each class in each training and test set, (splits, sets × classes).

    Tasks of two classes are counted by positives and negatives, since class names differ; residues also by chains.
    """
    names, chains = composition["class"].tolist(), view.chain_counts
    shown = list(dict.fromkeys(names))
    if view.dataset.several and view.dataset.kind == "binary":
        pairs, chains, shown = zip(composition["task"], names, strict=True), {}, ["positive", "negative"]
        names = [shown[name not in view.dataset.classes(task)[-1:]] for task, name in pairs]
    counted = composition.assign(side=names)
    sizes = counted.pivot_table(["train", "test"], KEYS, "side", aggfunc="sum", fill_value=0, sort=False)
    for role in ("train", "test") if chains else ():
        sizes[role, "chains"] = [chains.get(key, {}).get(role, 0) for key in sizes.index]
    shown = ["chains", *shown] if chains else shown
    return sizes.reindex(columns=[(role, name) for role in ("train", "test") for name in shown], fill_value=0)


def grouping_sentence(view: View) -> Markup:
    """Return a sentence on the similar samples kept together, over all tasks; empty if none were similar."""
    table = view.dataset.similar
    if table is None or not len(table):
        return Markup()
    counts = table.assign(**{name: numbers(table[name]) for name in ("samples", "similar", "groups", "largest")})
    row = counts.iloc[int(counts["similar"].argmax())]
    cut, remarks = int(numbers(table["links_cut"]).max()), [remark for remark in table["remarks"] if remark]
    if not row["similar"] and not remarks:
        return Markup()
    content = {"row": row.to_dict(), "cut": cut, "remarks": remarks, "view": view}
    return render("data_sections", "grouping", content)


@section("leakage", "Leakage")
def leakage_section(view: View) -> dict[str, Any]:
    """Find the overlap of test and training sets."""
    leakage = view.dataset.leakage
    if leakage is None:
        text = "No results of a leakage check were found, so shared sequences are unknown."
        return {"missing": view.data_text(text)}
    kind = (view.dataset.summary or {}).get("kind", "sequences")
    rows = []
    for name, part in rows_by_value(leakage, "kind"):
        title, meaning = LEAKS.get(name, (name, ""))
        splits = 0 if name == "conflict" else len(part[KEYS].drop_duplicates())
        rows.append(
            {
                Column("Finding", False): title,
                Column("Meaning", False): view.data_text(meaning),
                f"Test {view.record}s": number(part["test_id"].nunique(), 0),
                "Splits": number(splits or None, 0),
            }
        )
    return {
        "kind": kind,
        "unknown": f"{SAMPLE_WORDS[kind]}s" if kind in WITHOUT_VALUES and not len(leakage) else None,
        "options": view.dataset.study.leakage,
        "grouping": grouping_sentence(view),
        "summary": listing(f"Leakage between test and training sets of {view.dataset.name}", rows, "text"),
        "count": len(leakage),
    }


# Overlap of an official split's test part with its training part, and the scores without the overlap.


@section("audit", "Audit of the split")
def audit_section(view: View) -> dict[str, Any] | None:
    """Find the findings of an audit of the official split; None if there was no audit."""
    findings, overlap, splits = view.dataset.audit_findings, view.dataset.audit_overlap, view.dataset.composition
    if findings is None or overlap is None or not len(findings):
        return None
    audited = findings[KEYS].drop_duplicates()
    rows = [_summed(str(kind), one) for kind, one in findings.groupby("kind", sort=False)]
    n_test = 0 if splits is None else int(splits.merge(audited, on=KEYS)["test"].sum())
    found = next(row.test for row in rows if row.kind == ANY)
    return {
        "splits": len(audited),
        "of": 0 if splits is None else len(splits[KEYS].drop_duplicates()),
        "found": found,
        "n_test": n_test,
        "findings": findings_table("Overlap of test and training", rows, n_test),
        "scores": _scores(view, overlap) if found else None,
    }


def _summed(kind: str, rows: pd.DataFrame) -> Finding:
    """Return the counts of one kind of overlap over all splits; None where it was not sought."""
    counts: list[Any] = []
    for name in FINDINGS[2:]:
        known = numbers(rows[name]).dropna()
        counts.append(int(known.sum()) if len(known) else None)
    limit = numbers(rows["limit"]).iloc[0]
    return Finding(kind, None if math.isnan(limit) else float(limit), *counts)


def _scores(view: View, overlap: pd.DataFrame) -> Markup | None:
    """Return the AUC of each method on all test sequences, and without the overlapping ones, from its decisions."""
    left_out = set(zip(overlap["task"], overlap["split"], overlap["test_id"], strict=True))
    rows = []
    for method in view.dataset.done if view.dataset.kind == "binary" else ():
        decisions = view.dataset.decisions(method)
        if decisions is None:
            continue
        keys = zip(decisions["task"], decisions["split"], decisions["id"], strict=True)
        rest = decisions[[key not in left_out for key in keys]]
        aucs = [
            [roc_auc(one.positive, one.decision) for one in ranked_sets(view.dataset, part) if one.both]
            for part in (decisions, rest)
        ]
        whole, without = (float(np.mean(found)) if found else math.nan for found in aucs)
        rows.append(
            {
                Column("Method", False): method_name(method),
                "All test sequences": number(whole),
                "Without overlap": number(without),
                "Difference": number(without - whole),
            }
        )
    return listing("Mean AUC over splits, with and without what overlaps with training", rows)
