"""The page of a model: a file that scores sequences in a browser, with the facts about the model."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from typing import Any

from seqkern.methods.baselines import BASELINES, VERDICTS, p_words
from seqkern.methods.model import Model, model_words
from seqkern.methods.novelty import RANGES
from seqkern.report.markup import Markup, tag
from seqkern.report.methods_text import nested_kernels, references
from seqkern.report.page_frame import ASSETS, Column, json_script, number, plural, render, table, whole_page
from seqkern.report.sentences import how_good, known_rivals, metric, upper_first
from seqkern.solvers.solver_specs import cited_methods

SCRIPT = re.compile(r'<script type="module">(.*?)</script>', re.DOTALL)
CHARSET = '<meta charset="utf-8">'
POLICY = (
    "default-src 'none'; script-src {} blob: 'wasm-unsafe-eval'; worker-src blob:; style-src 'unsafe-inline'; "
    "img-src data: blob:; connect-src 'none'; form-action 'none'; base-uri 'none'"
)


def render_model_page(model: Model, export: dict[str, Any], title: str, command: str) -> Markup:
    """Return the whole page as HTML; `export` is the model for ``engine.js``, `command` made the page."""
    record = model.record
    known = "estimate" in record
    lengths = record.get(RANGES, {}).get("length")
    alphabet = export["alphabet"]["name"]
    content = {
        "title": title,
        "learned": upper_first(model_words(model, "sequences")[0]),
        "kind": {"dna": "DNA", "rna": "RNA", "protein": "Protein"}.get(alphabet, "Input"),
        "classes": export["classes"],
        "probabilities": export["calibration"] is not None,
        "bias": number(export["bias"], 4),
        "window": export["fixed_length"] or round(lengths[2] if lengths else 0),
        "longest": round(lengths[4] if lengths else 0),
        "lengths": _length_words(lengths),
        "facts": list(_facts(model, export, command)),
        "how_good": f"{how_good(record['estimate'], model.kind)}." if known else "Unknown: it was not cross-validated.",
        "tables": _score_tables(record["estimate"]) if known else [],
        "cited": [references()[key].text for key in _keys(model)],
        "data": Markup(json_script(export).replace("<script", '<script id="model"', 1)),
        "engine": Markup((ASSETS / "engine.js").read_text(encoding="utf-8").replace("</script", "<\\/script")),
    }
    page = whole_page(f"{title} · seqkern model", render("model", "page", content))
    digests = (hashlib.sha256(text.encode()).digest() for text in SCRIPT.findall(page))
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    policy = f'{CHARSET}<meta http-equiv="Content-Security-Policy" content="{POLICY.format(allowed)}">'
    return Markup(page.replace(CHARSET, policy, 1))


def _length_words(quantiles: list[float] | None) -> str:
    """Return the lengths of training sequences in words."""
    least, _, median, _, greatest = (round(one) for one in quantiles or [0] * 5)
    return plural(least, "residue") if least == greatest else f"{least:,} to {greatest:,} residues (median {median:,})"


def _facts(model: Model, export: dict[str, Any], command: str) -> Iterator[tuple[str, object]]:
    """Yield the facts about a model by name."""
    record, cut, (learned, kernel, solver) = model.record, model.cut, model_words(model, "sequences")
    yield "trained on", learned
    if RANGES in record:
        yield "lengths", _length_words(record[RANGES].get("length"))
    yield "alphabet", f"{export['alphabet']['name']}: {export['alphabet']['letters']}"
    yield "kernel", kernel
    yield "solver", solver
    if model.kind == "binary":
        yield "class", f"{model.classes[1]} for {cut.words}, otherwise {model.classes[0]}"
        found = cut.threshold
        if found is not None:
            yield (
                "threshold",
                (
                    f"chosen on held-out training sequences, where its sensitivity is {found.sensitivity:.3f} and its "
                    f"specificity {found.specificity:.3f}"
                ),
            )
        elif "threshold_unset" in record:
            yield "threshold", f"0, not fitted: {record['threshold_unset']}"
    if cut.calibration is not None:
        yield "probability", f"{cut.calibration.method}, fitted to {cut.calibration.n} held-out decision values"
    if model.solver.traits.variances:
        yield "uncertainty", "not in this page: seqkern predict gives intervals"
    held = f"the kernel needs {plural(len(model.support), 'training sequence')}, which can be read from this file"
    yield "training data", held if export.get("holds_sequences") else "no training sequence is in this file"
    if "digest" in export:
        yield "digest of model", Markup(tag("code", export["digest"], class_="digest"))
    if "seqkern" in record.get("versions", {}):
        yield "trained with", f"seqkern {record['versions']['seqkern']}"
    yield "page made by", tag("code", command)


def _score_tables(estimate: dict[str, Any]) -> list[Markup]:
    """Return the tables of cross-validated scores and of baselines."""
    scores = [[metric(name).name, number(one["mean"]), _interval(one)] for name, one in estimate["scores"].items()]
    columns: list[Column | str] = [Column("Score", False), "Mean", "95% interval"]
    made = [table(f"Scores in cross-validation: {estimate['folds']}", columns, scores)]
    rivals = [
        [
            BASELINES[one.baseline].title,
            number(one.score),
            Markup(tag("td", f"{VERDICTS[one.sign]}{'' if one.p != one.p else f' ({p_words(one.p)})'}")),
        ]
        for one in known_rivals(estimate)
    ]
    if rivals:
        name = metric(next(iter(estimate["scores"]))).name
        columns = [Column("Baseline", False), name, Column("The model is", False)]
        made.append(table("Baselines on the same folds", columns, rivals))
    return made


def _interval(score: dict[str, Any]) -> str:
    """Return the interval of a score, a dash without one."""
    return Markup(f"{number(score['low'])} to {number(score['high'])}") if score["interval"] else "–"


def _keys(model: Model) -> list[str]:
    """Return the keys of the references of a model's kernels and solver."""
    names = [*(("kernel", name) for name in nested_kernels(model.kernel.spec())), ("solver", model.solver.name)]
    return list(dict.fromkeys(key for one in names for key in cited_methods().get(one, ("", ()))[1]))
