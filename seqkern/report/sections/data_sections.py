"""Sections on the data: summary, splits, audit, Gram matrices and their eigenvalues."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from seqkern.evaluation.folds import UNCHANGED
from seqkern.evaluation.ranking import roc_auc
from seqkern.evaluation.relations import ANY, Finding
from seqkern.formats.profile_sources import describe
from seqkern.report.audit_page import FINDINGS, findings_table
from seqkern.report.dataset_results import DatasetResults, Method, numbers, positive_class, rows_by, rows_by_value
from seqkern.report.markup import Markup, details, join, tag
from seqkern.report.methods_text import count_unlabelled, unlabelled_use
from seqkern.report.page_frame import Column, number, panel, plural, short, small_multiples, table
from seqkern.report.plots import MOST_NAMED, Thumbnail, block_means, gram_figure
from seqkern.report.sentences import FOLDS, LEAKS, SAMPLE_WORDS, enumerate_names, spec_text, text_for_kind
from seqkern.report.view import View, method_name, method_names, paragraph
from seqkern.sequences.alphabets import count_texts
from seqkern.study.data_entry import PublicSource
from seqkern.study.kernel_entries import AnyKernel, AutoKernel, KernelChoice, KernelEntry
from seqkern.study.solver_entries import LeakageSettings

# Summary of a data set: its size, labels and origin.


def dataset_summary_section(view: View) -> Markup:
    """Return a list of facts about the data set."""
    dataset, summary = view.dataset, view.dataset.summary
    if summary is None:
        return view.section("about", "The data", paragraph("No summary of this data set was found.", class_="missing"))
    facts: list[tuple[str, object]] = [("Size", _samples(view, summary))]
    chains, length = summary.get("chains"), summary.get("length")
    if chains:
        low, middle, high = (number(chains.get(key), 0) for key in ("min", "median", "max"))
        text = f"{plural(chains.get('n'), 'chain')} of {low} to {high} residues, median {middle}"
        facts.append(("Chains", Markup(text)))
    elif length:
        low, middle, high = (number(length.get(key), 0) for key in ("min", "median", "max"))
        unit = {"dna": "bases", "rna": "bases"}.get(summary.get("alphabet") or "", "residues")
        text = f"{low} {unit} each" if low == high else f"{low} to {high} {unit}, median {middle}"
        facts.append(("Lengths", Markup(text)))
    if summary.get("columns"):
        facts.append(("Columns", number(summary["columns"], 0)))
    facts += _classes(view)
    folds = dataset.entry.folds
    if folds is not None:
        method = folds.method
        drawn = dataset.study.leakage.grouping and method not in UNCHANGED and dataset.leakage is not None
        alike = " Similar sequences stay in the same fold." if drawn else ""
        facts.append(("Folds", [tag("b", method), ". ", view.data_text(FOLDS.get(method, "") + alike)]))
    text = "; ".join(count_texts(summary.get("counts") or {})) or "none"
    facts.append(("Changes on import", text))
    for kernel in dataset.kernels:
        touched = count_texts(dataset.gram_counts(kernel))
        if touched:
            facts.append((f"Special cases for {kernel}", "; ".join(touched)))
    if summary.get("profiles"):
        facts.append(("Profiles", describe(summary["profiles"])))
    facts += _views(view, summary)
    facts += _sources(dataset, summary)
    title = summary.get("title") or summary.get("description")
    items = [part for name, value in facts for part in (tag("dt", name), tag("dd", value))]
    return view.section("about", "The data", paragraph(title) if title else None, tag("dl", items, class_="facts"))


def _noun(summary: dict[str, Any]) -> str:
    """Return the noun for samples that are sequences."""
    several = len(summary.get("sequences") or {})
    return f"samples of {several} sequences" if several > 1 else "sequences"


def _samples(view: View, summary: dict[str, Any]) -> Markup:
    """Return number and kind of the samples."""
    kind, window = summary.get("kind", "sequences"), (summary.get("residues") or {}).get("window")
    wide = f" of {window}" if window else ""
    what = {
        "sequences": f"residues, a window{wide} around each" if view.dataset.residues else _noun(summary),
        "features": "samples with numeric features",
    }.get(kind, f"objects with {kind}")
    name = summary.get("alphabet") or ""
    alphabet = f" ({name.upper() if name in ('dna', 'rna') else name})" if name else ""
    unlabelled = count_unlabelled(view.dataset)
    if not unlabelled:
        return Markup(f"{number(summary.get('n'), 0)} {tag('span', what + alphabet)}")
    (task,) = view.dataset.tasks.values()
    labelled = f"{number(task.get('n'), 0)} labelled {tag('span', what + alphabet)}"
    use = tag("span", unlabelled_use(view.dataset))
    return Markup(f"{labelled}, and {number(unlabelled, 0)} without a label, {use}")


def _classes(view: View) -> list[tuple[str, Markup]]:
    """Return facts about the labels."""
    tasks = view.dataset.tasks
    if not tasks:
        return []
    if len(tasks) > 1:
        sizes = [task.get("n", 0) for task in tasks.values()]
        used = join(" to ", [number(size, 0) for size in sorted({min(sizes), max(sizes)})])
        return [
            (
                "Tasks",
                Markup(
                    f"{plural(len(tasks), view.word, view.words)}, each with {used} {view.data_text('sequences')} used"
                ),
            )
        ]
    task = next(iter(tasks.values()))
    if view.dataset.kind == "real":
        values = [number(task.get(key)) for key in ("min", "mean", "max")]
        return [("Labels", Markup(f"numbers from {values[0]} to {values[2]}, mean {values[1]}"))]
    total = max(sum(task["classes"].values()), 1)
    items = [
        tag("li", name, ": ", number(count, 0), tag("small", f" ({100 * count / total:.1f} %)"))
        for name, count in task["classes"].items()
    ]
    name = "Classes (the last is the positive one)" if view.dataset.kind == "binary" else "Classes"
    return [(name, tag("ul", items, class_="plain"))]


def _views(view: View, summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the views: the samples' sequences, if there are several, and vectors, such as embeddings."""
    what = "residue" if view.dataset.residues else "sequence"
    sequences = [(f"Sequence {name}", _lengths(own)) for name, own in (summary.get("sequences") or {}).items()]
    views = summary.get("views") or {}
    return sequences + [
        (f"View {name}", f"{own.get('width')} numbers for each {what}, from {own.get('file')}")
        for name, own in views.items()
    ]


def _lengths(own: dict[str, Any]) -> str:
    """Return the number, alphabet and lengths of one of the samples' sequences."""
    name = str(own.get("alphabet"))
    alphabet = name.upper() if name in ("dna", "rna") else name
    counted = f"{number(own.get('n'), 0)} ({alphabet})"
    if "min" not in own:
        return counted
    ends = f"{number(own['min'], 0)} to {number(own['max'], 0)}, median {own['median']:g}"
    return f"{counted}, length {ends if own['min'] != own['max'] else number(own['min'], 0)}"


def _sources(dataset: DatasetResults, summary: dict[str, Any]) -> list[tuple[str, Markup]]:
    """Return the origin of the data, with checksums."""
    items = []
    if summary.get("simulate"):
        items.append(tag("li", "simulated by seqkern: ", spec_text(summary["simulate"], "kind")))
    source = dataset.entry.data.source
    if isinstance(source, PublicSource):
        items.append(tag("li", "public data set ", tag("b", source.name)))
    if summary.get("reference"):
        items.append(tag("li", summary["reference"]))
    for source in summary.get("sources") or []:
        name, url, digest = (source.get(key) for key in ("file", "url", "sha256"))
        known = str(url or "").startswith(("https://", "http://"))
        items.append(
            tag(
                "li",
                tag("a", name, href=url) if known else name,
                f" ({source['made']})" if source.get("made") else None,
                tag("small", f" sha256 {digest}", class_="digest") if digest else None,
            )
        )
    return [("Source", tag("ul", items, class_="plain"))] if items else []


# Splits of a data set, and the leakage between their parts.

MOST_ROWS = 12
MOST_PAIRS = 100
WITHOUT_VALUES = ("similarities", "dissimilarities")  # kinds of data that do not tell which samples are equal


def folds_section(view: View) -> Markup:
    """Return the number of samples of each class in each training and test set."""
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
    """Return (rows, columns, counts) by positives and negatives, since class names differ between tasks."""
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
    """Return (rows, columns, counts) with one column for each class and part; for residues also their chains."""
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
    """Return a text on the scope of the leakage check."""
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


def _grouping_sentence(view: View) -> str:
    """Return a sentence on the similar samples kept together, over all tasks; empty if none were similar."""
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
    """Return the overlap of test and training sets."""
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
    intro += _grouping_sentence(view)
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


# Overlap of an official split's test part with its training part, and the scores without the overlap.

KEYS = ["task", "split"]


def audit_section(view: View) -> Markup | None:
    """Return the findings of an audit of the official split; None if there was no audit."""
    findings, overlap = view.dataset.audit_findings, view.dataset.audit_overlap
    if findings is None or overlap is None or not len(findings):
        return None
    audited = findings[KEYS].drop_duplicates()
    rows = [_summed(str(kind), one) for kind, one in findings.groupby("kind", sort=False)]
    splits = view.dataset.composition
    of = 0 if splits is None else len(splits[KEYS].drop_duplicates())
    where = plural(len(audited), "split") + (f" (the first of {of})" if of > len(audited) else "")
    n_test, found = _tested(view, audited), next(row.test for row in rows if row.kind == ANY)
    text = (
        f"The official split is used as it is. Over {where}, {found:,} of {n_test:,} test sequences overlap with "
        "training in one of these ways:"
    )
    content: list[object] = [paragraph(text), findings_table("Overlap of test and training", rows, n_test)]
    if found:
        content.append(_scores(view, overlap))
    return view.section("audit", "Audit of the split", *content)


def _summed(kind: str, rows: pd.DataFrame) -> Finding:
    """Return the counts of one kind of overlap over all splits; None where it was not sought."""
    counts: list[Any] = []
    for name in FINDINGS[2:]:
        known = numbers(rows[name]).dropna()
        counts.append(int(known.sum()) if len(known) else None)
    limit = numbers(rows["limit"]).iloc[0]
    return Finding(kind, None if math.isnan(limit) else float(limit), *counts)


def _tested(view: View, audited: pd.DataFrame) -> int:
    """Return the number of test sequences of the audited splits."""
    composition = view.dataset.composition
    if composition is None:
        return 0
    return int(composition.merge(audited, on=KEYS)["test"].sum())


def _scores(view: View, overlap: pd.DataFrame) -> Markup | None:
    """Return the AUC of each method on all test sequences, and without the overlapping ones, from its decisions."""
    left_out = set(zip(overlap["task"], overlap["split"], overlap["test_id"], strict=True))
    rows = []
    for method in view.dataset.done if view.dataset.kind == "binary" else ():
        decisions = view.dataset.decisions(method)
        if decisions is None:
            continue
        keys = zip(decisions["task"], decisions["split"], decisions["id"], strict=True)
        kept = decisions[[key not in left_out for key in keys]]
        whole, rest = (_mean_auc(view, part) for part in (decisions, kept))
        rows.append([tag("span", method_name(method)), *(number(value) for value in (whole, rest, rest - whole))])
    if not rows:
        return None
    columns = [Column("Method", False), Column("All test sequences"), Column("Without overlap"), Column("Difference")]
    return table("Mean AUC over splits, with and without what overlaps with training", columns, rows)


def _mean_auc(view: View, decisions: pd.DataFrame) -> float:
    """Return the mean AUC over the splits in which it is defined."""
    found = []
    for _, rows in decisions.groupby(KEYS, sort=False):
        y = (rows["label"] == positive_class(view.dataset, rows)).to_numpy()
        if y.any() and not y.all():
            found.append(roc_auc(y, rows["decision"].to_numpy()))
    return float(np.mean(found)) if found else math.nan


# Thumbnail of a Gram matrix: which rows stand together, and what they are called.


def thumbnail(dataset: DatasetResults, kernel: str) -> Thumbnail | None:
    """Return the Thumbnail of a kernel's Gram matrix; None if the matrix or samples are missing or do not match."""
    matrix, samples = dataset.gram(kernel), dataset.sample_table
    if matrix is None or samples is None or matrix.shape != (len(samples), len(samples)):
        return None
    order, names, sorted_by = sample_order(dataset, samples)
    if not len(order):
        return None
    picture, edges, sampled = block_means(matrix, order)
    bands = []
    for name in dict.fromkeys(names):
        places = np.flatnonzero([other == name for other in names])
        first, last = np.interp([places[0], places[-1] + 1], edges, np.arange(len(edges)))
        bands.append((name, float(first), float(last)))
    return Thumbnail(picture, bands, len(order), sampled, sorted_by)


def sample_order(dataset: DatasetResults, samples: pd.DataFrame) -> tuple[npt.NDArray[np.int64], list[str], str]:
    """Return the row order, each row's class, and the sorting key; unlabelled samples are left out."""
    tasks = [task for task in dataset.tasks if task in samples]
    if not tasks:
        return np.arange(len(samples)), [], "their order in the input"
    if dataset.several and dataset.kind == "binary":
        # Members of one superfamily are positive in the same tasks; what is positive in none comes last.
        negative = [samples[task] != dataset.classes(task)[-1] for task in tasks if dataset.classes(task)]
        return np.lexsort(negative[::-1]), [], "the tasks in which a sequence is positive"
    task, which = tasks[0], " of the first task" if dataset.several else ""
    labels = samples[task]
    if dataset.kind == "real":
        values = numbers(labels).to_numpy()
        order = np.argsort(values, kind="stable")
        return order[~np.isnan(values[order])], [], f"label{which}"
    code = {name: i for i, name in enumerate(dataset.classes(task))}
    codes = np.array([code.get(name, len(code)) for name in labels], dtype=np.int64)
    order = np.argsort(codes, kind="stable")
    order = order[codes[order] < len(code)]
    return order, list(labels.to_numpy()[order]), f"class{which}"


# Gram matrices of the kernels, as thumbnails.


def gram_section(view: View) -> Markup | None:
    """Return the thumbnails of the Gram matrices; None for residues, whose matrices are not stored."""
    if view.dataset.residues:
        return None
    panels, notes, shown_by = [], [], _shown_by(view.dataset)
    for kernel in view.dataset.kernels:
        other = shown_by.get(kernel, kernel)
        if other != kernel:
            how = f"uses the matrix of {other}, with another transform."
            if view.dataset.learns(kernel):
                how = f"derived from the matrix of {other}."
            notes.append(tag("li", tag("b", kernel), f": {how}"))
            continue
        picture = thumbnail(view.dataset, kernel)
        if picture is None:
            notes.append(tag("li", tag("b", kernel), ": ", _why_none(view, kernel)))
            continue
        label = f"{view.dataset.name}: Gram matrix of kernel {kernel}, sorted by {view.data_text(picture.sorted_by)}"
        size = f"{number(picture.total, 0)} × {number(picture.total, 0)}"
        some = f", {number(picture.sampled, 0)} evenly spaced ones read" if picture.sampled < picture.total else ""
        names = [short(name, 24) for name, _, _ in picture.bands[: MOST_NAMED + 1]]
        classes = f" ({', '.join(names)})" if 0 < len(names) <= MOST_NAMED else ""
        details = [size, f", sorted by {view.data_text(picture.sorted_by)}{classes}", some]
        caption = [tag("b", kernel), tag("br"), details]
        panels.append(panel(gram_figure(picture, label), caption))
    intro = view.data_text(
        "A Gram matrix holds the kernel's similarity of every pair of sequences. Each pixel is the mean over a "
        "block; brighter is more similar. Sequences are sorted by class "
        "(or family), so a kernel that separates the classes shows bright squares along the diagonal. The colour "
        "bar covers all but the most extreme 1 % of the pixels."
    )
    listed = tag("ul", notes) if notes else None
    shown = small_multiples(panels, "kernels", "panels grams") if panels else None
    return view.section("gram", "Gram matrices", paragraph(intro), shown, listed)


def _shown_by(dataset: DatasetResults) -> dict[str, str]:
    """Return, for each kernel with a stored matrix, the kernel whose thumbnail shows it.

    It is the kernel under whose name the matrix is kept, or otherwise the data set's first kernel with this matrix. A
    kernel that learns from the training set never is: its own matrices differ.
    """
    homes = {kernel: dataset.gram_home(kernel) for kernel in dataset.kernels}
    shown: dict[str | None, str] = {}
    kernels = [kernel for kernel in dataset.kernels if homes[kernel] is not None]
    for kernel in sorted(kernels, key=lambda kernel: kernel != homes[kernel]):
        if not dataset.learns(kernel):
            shown.setdefault(homes[kernel], kernel)
    return {kernel: shown.get(homes[kernel], kernel) for kernel in kernels}


def _why_none(view: View, kernel: str) -> Markup | str:
    """Return the reason why a kernel has no thumbnail."""
    entry = view.dataset.kernel(kernel)
    if isinstance(entry, KernelChoice):
        names = ", ".join(one.name for one in entry.candidates)
        return f"the inner loop selects one of {names} for each training set."
    if isinstance(entry, AutoKernel):
        return "the inner loop selects a kernel for each training set."
    if view.dataset.learns(kernel):
        return "fitted on each training set, so there is no single matrix for all samples."
    return tag("span", "no Gram matrix was found.", class_="missing")


# Eigenvalues of the kernels' matrices: whether these are positive semi-definite, and the repairs where not.

REPAIRS = {
    "clip": "clip sets negative eigenvalues to zero",
    "flip": "flip makes negative eigenvalues positive",
    "shift": "shift adds the absolute value of the smallest eigenvalue to the diagonal",
    "kernel_pca": "kernel_pca keeps the directions of largest positive eigenvalues only",
    "graph": "graph replaces the kernel by a diffusion or a random walk along the graph of similar training sequences",
    "empirical_map": "the empirical map represents each sequence by its kernel values with all training sequences",
}


@dataclass(frozen=True)
class Eigenvalues:
    """Eigenvalue facts for a kernel's matrix, or for its matrices of all training sets."""

    matrices: str
    smallest: float  # The smallest eigenvalue and the largest share of negative mass of all these matrices
    share: float  # The smallest eigenvalue and the largest share of negative mass of all these matrices
    exact: bool  # Whether all eigenvalues were computed


def eigenvalues_section(view: View) -> Markup | None:
    """Return smallest eigenvalue, share of negative mass and repair of each kernel."""
    dataset, rows = view.dataset, list[list[object]]()
    repairs: dict[str, None] = {}
    for kernel in dataset.kernels:
        found = kernel_eigenvalues(dataset, kernel)
        if found is None:
            continue
        used = repairs_of(dataset.kernel(kernel))
        repairs |= dict.fromkeys(used)
        about = "" if found.exact else "≈ "
        rows.append(
            [
                tag("b", kernel),
                found.matrices,
                Markup(about + _three_digits(found.smallest)),
                Markup(f"{about}{_three_digits(100 * found.share)} %"),
                ", ".join(used) or "none",
            ]
        )
    if not rows:
        return None
    intro = (
        "A positive semi-definite matrix has no negative eigenvalues, and a C-SVM has a unique optimum on it. "
        "Matrices of alignment scores and other similarities can be indefinite. On an indefinite matrix, a C-SVM "
        "stops at a stationary point, and a better solution may exist; the P-SVM uses kernel values as features and "
        "has no such requirement. The negative mass, the sum of |λ| over negative eigenvalues λ divided by the sum "
        "over all, measures how far a matrix is from positive semi-definite. Both values are for the kernel's own "
        "matrix, before transforms and repair; ≈ marks estimates. Values within rounding error count as zero."
    )
    columns: list[Column | str] = [
        Column("Kernel", False),
        Column("Matrices", False),
        Column("Smallest eigenvalue", hint="of all these matrices"),
        Column("Negative mass", hint="the largest share of all these matrices"),
        Column(
            "Repair", False, hint=view.data_text("fitted on each training set and applied to test and new sequences")
        ),
    ]
    notes = [view.data_text(f"{REPAIRS[name][0].upper()}{REPAIRS[name][1:]}.") for name in repairs]
    warning = None
    exposed = list(unrepaired(dataset))
    if exposed:
        names = method_names(exposed)
        warning = paragraph("⚠ Trained on an indefinite matrix without repair: ", names, ".", class_="missing")
    caption = f"{dataset.name}: eigenvalues of the kernels' matrices"
    body = [paragraph(intro), table(caption, columns, rows), paragraph(" ".join(notes)) if notes else None, warning]
    return view.section("eigenvalues", "Eigenvalues", *body)


def unrepaired(dataset: DatasetResults) -> dict[Method, float]:
    """Return the share of negative mass for each method on an indefinite matrix without repair.

    Methods whose solver tolerates indefinite matrices are left out.
    """
    shares: dict[Method, float] = {}
    for kernel in dataset.kernels:
        found = kernel_eigenvalues(dataset, kernel)
        if found is None or found.smallest >= 0 or repairs_of(dataset.kernel(kernel)):
            continue
        methods = [
            method for method in dataset.done if method.kernel == kernel and _needs_semidefinite(dataset, method.solver)
        ]
        shares |= dict.fromkeys(methods, found.share)
    return shares


def kernel_eigenvalues(dataset: DatasetResults, kernel: str) -> Eigenvalues | None:
    """Return the Eigenvalues of a kernel's stored matrix, or of its training sets' matrices; None if unknown."""
    found = dataset.spectrum(kernel)
    if found is not None:
        return Eigenvalues(
            f"one, of {plural(found.n, text_for_kind((dataset.summary or {}).get('kind'), 'sequence'))}",
            found.smallest,
            found.negative_share,
            found.exact,
        )
    fits = dataset.fits
    if "smallest_eigenvalue" not in fits:
        return None
    rows = fits[(fits["kernel"] == kernel) & fits["smallest_eigenvalue"].notna()]
    if not len(rows):
        return None
    parts = len(rows.drop_duplicates(["task", "split"]))
    exact = bool((rows["eigenvalues"] == "all").all())
    each = f"{number(parts, 0)}, one for each training set"
    return Eigenvalues(each, float(rows["smallest_eigenvalue"].min()), float(rows["negative_share"].max()), exact)


def repairs_of(entry: AnyKernel) -> list[str]:
    """Return the names of the repairs in a kernel entry, also among its transforms; empty for a choice of kernels."""
    transforms = entry.transforms if isinstance(entry, KernelEntry) else ()
    used = [transform for transform in transforms if transform.semidefinite]
    return [str(getattr(transform, "method", transform.name)) for transform in used]


def _needs_semidefinite(dataset: DatasetResults, solver: str) -> bool:
    """Return whether a solver needs a positive semi-definite matrix; False if the solver is unknown here."""
    grid = dataset.solver(solver).grid
    return bool(grid) and getattr(type(grid[0]), "needs_semidefinite", False) is True


def _three_digits(value: float) -> Markup:
    """Return a number to three digits, as Markup."""
    return Markup(f"{value:.3g}".replace("-", "\N{MINUS SIGN}"))
