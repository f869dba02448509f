"""What a data set is: its description, its folds, what leaks between them."""

import numpy as np

from .files import numbers
from .markup import Column, Markup, details, join, number, plural, table, tag
from .view import paragraph
from .words import FOLDS, LEAKS

MOST_ROWS = 12
MOST_PAIRS = 100


def about_section(view):
    """Return what the data set is, as a list of facts."""
    dataset, summary = view.dataset, view.dataset.summary
    if summary is None:
        return view.section(
            "about", "The data", paragraph("No summary of this data set was found.", class_="missing")
        )
    facts = [("Size", _units(summary))]
    length = summary.get("length")
    if length:
        low, middle, high = (number(length.get(key), 0) for key in ("min", "median", "max"))
        text = f"{low} letters each" if low == high else f"{low} to {high} letters, median {middle}"
        facts.append(("Lengths", Markup(text)))
    if summary.get("columns"):
        facts.append(("Columns", number(summary["columns"], 0)))
    facts += _classes(view)
    method = (dataset.entry.get("folds") or {}).get("method")
    if method:
        facts.append(("Folds", [tag("b", method), ". ", FOLDS.get(method, "")]))
    counts = {name: count for name, count in (summary.get("counts") or {}).items() if count}
    text = "; ".join(f"{name}: {count}" for name, count in counts.items()) if counts else "nothing"
    facts.append(("Changed on reading", text))
    facts += _sources(summary)
    title = dataset.entry.get("title") or summary.get("title") or summary.get("description")
    items = [part for name, value in facts for part in (tag("dt", name), tag("dd", value))]
    return view.section(
        "about", "The data", paragraph(title) if title else None, tag("dl", items, class_="facts")
    )


def _units(summary):
    """Return number and kind of the units."""
    kind = summary.get("kind", "sequences")
    what = {"sequences": "sequences", "features": "samples with numeric features"}.get(
        kind, f"objects with {kind}"
    )
    name = summary.get("alphabet") or ""
    alphabet = f" ({name.upper() if name in ('dna', 'rna') else name})" if name else ""
    return Markup(f"{number(summary.get('n'), 0)} {tag('span', what + alphabet)}")


def _classes(view):
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
                Markup(f"{plural(len(tasks), view.word, view.words)}, each with {used} sequences in use"),
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


def _sources(summary):
    """Return where the data come from, with checksums."""
    items = []
    for source in summary.get("sources") or []:
        source = source if isinstance(source, dict) else {"file": source}
        name = source.get("url") or source.get("file") or source.get("name") or ""
        digest = source.get("sha256")
        items.append(tag("li", name, tag("small", f" sha256 {digest}", class_="digest") if digest else None))
    return [("Source", tag("ul", items, class_="plain"))] if items else []


def folds_section(view):
    """Return how many units of each class are in each training and test part."""
    composition = view.dataset.composition
    if composition is None:
        text = "The composition of the folds was not found."
        return view.section("folds", "Folds", paragraph(text, class_="missing"))
    intro = (
        "In each split a classifier learns from the training part and is judged on the test part, which it "
        "has never seen. All kernels and solvers use the same splits."
    )
    binary_tasks = view.dataset.several and view.dataset.kind == "binary"
    rows, columns, values = (_by_role if binary_tasks else _by_class)(view)
    full = table(f"Units in each training and test part of {view.dataset.name}", columns, rows)
    if len(rows) <= MOST_ROWS:
        return view.section("folds", "Folds", paragraph(intro), full)
    compact = [
        [name, *(number(value, 0) for value in np.atleast_1d(function(values, axis=0)))]
        for name, function in (("smallest", np.min), ("median", np.median), ("largest", np.max))
    ]
    head = [Column(f"Of {len(rows)} splits", False), *columns[-values.shape[1] :]]
    brief = table(f"Size of training and test parts over all splits of {view.dataset.name}", head, compact)
    return view.section("folds", "Folds", paragraph(intro), brief, details(f"All {len(rows)} splits", full))


def _by_role(view):
    """Return (rows, columns, counts) with positives and negatives: class names differ between tasks."""
    rows, values = [], []
    for (task, split), part in view.dataset.composition.groupby(["task", "split"], sort=False):
        positive = (part["class"].isin(view.dataset.classes(task)[-1:])).to_numpy()
        counts = [int(part[role][side].sum()) for role in ("train", "test") for side in (positive, ~positive)]
        rows.append([task, split, *(number(count, 0) for count in counts)])
        values.append(counts)
    names = [f"{part}: {side}" for part in ("Training", "Test") for side in ("positive", "negative")]
    return rows, [Column("Task", False), Column("Split", False), *names], np.array(values)


def _by_class(view):
    """Return (rows, columns, counts) with one column for each class and part."""
    composition = view.dataset.composition
    names = list(dict.fromkeys(composition["class"]))
    rows, values = [], []
    for (task, split), part in composition.groupby(["task", "split"], sort=False):
        by = part.set_index("class")
        counts = [int(by[role].get(name, 0)) for role in ("train", "test") for name in names]
        label = [task, split] if view.dataset.several else [split]
        rows.append([*label, *(number(count, 0) for count in counts)])
        values.append(counts)
    keys = (
        [Column("Task", False), Column("Split", False)] if view.dataset.several else [Column("Split", False)]
    )
    return (
        rows,
        [*keys, *(f"{part}: {name}" for part in ("Training", "Test") for name in names)],
        np.array(values),
    )


def leakage_section(view):
    """Return what test and training parts share."""
    leakage = view.dataset.leakage
    if leakage is None:
        text = "The leakage check was not found, so nothing is known of shared sequences."
        return view.section("leakage", "Leakage", paragraph(text, class_="missing"))
    options = view.dataset.study.config.get("leakage") or {}
    limit = options.get("identity")
    similar = f", and sequences at least {100 * limit:g} % identical," if limit else ""
    intro = (
        f"A test sequence that is also in the training part makes a score look better than it is. Identical "
        f"sequences{similar} {'and sequences inside one another ' if options.get('contained', True) else ''}"
        "were looked for across training and test part of every split."
    )
    if not len(leakage):
        return view.section("leakage", "Leakage", paragraph(intro, " ", tag("b", "Nothing was found.")))
    rows = []
    for kind, part in leakage.groupby("kind", sort=False):
        name, meaning = LEAKS.get(kind, (kind, ""))
        splits = 0 if kind == "conflict" else len(part[["task", "split"]].drop_duplicates())
        rows.append([name, meaning, number(part["test_id"].nunique(), 0), number(splits or None, 0)])
    columns = [Column("Finding", False), Column("Meaning", False), "Test sequences", "Splits"]
    pairs = [
        [row.test_id, row.train_id, LEAKS.get(row.kind, (row.kind,))[0], row.task, row.split, number(share)]
        for row, share in zip(leakage.itertuples(), numbers(leakage["identity"]), strict=True)
    ][:MOST_PAIRS]
    head = [
        Column(name, False) for name in ("Test sequence", "Training sequence", "Finding", "Task", "Split")
    ]
    rest = len(leakage) - len(pairs)
    more = f" (the first {len(pairs)}; the rest is in folds/{view.dataset.name}/leakage.tsv)" if rest else ""
    listed = table(f"Pairs found{more}", [*head, Column("Identity")], pairs, class_="ids")
    summary = table(
        f"What test and training parts of {view.dataset.name} share", columns, rows, class_="text"
    )
    return view.section(
        "leakage", "Leakage", paragraph(intro), summary, details(plural(len(leakage), "pair"), listed)
    )
