"""Foot of the page: the meaning of the numbers, kernels and solvers, versions, how to reproduce the study."""

import importlib.metadata
import platform
import re
from collections.abc import Mapping, Sequence
from typing import Any

from seqkern import __version__
from seqkern.kernels.kernel_table import KERNELS
from seqkern.report.markup import Markup, tag
from seqkern.report.methods_text import MethodsText, own_bibtex, references
from seqkern.report.page_frame import render
from seqkern.report.sentences import class_sentence, metric, spec_text
from seqkern.report.view import View
from seqkern.solvers.solver_specs import SOLVERS
from seqkern.study.kernel_entries import is_auto
from seqkern.study.study import Study

COMMAND = "snakemake --cores all --configfile config.yaml"
PACKAGES = ("numpy", "scipy", "scikit-learn", "snakemake", "pandas", "biopython", "matplotlib")


def numbers_section(views: Sequence[View]) -> Markup:
    """Return the meaning of each metric used."""
    names = dict.fromkeys(name for view in views for name in view.ranking.scores)
    # of metrics of single states one stands for all: "Q of a state"
    metrics = [metric(name) for name in dict.fromkeys(re.sub(":.*", ":a state", name) for name in names)]
    multiclass = any(view.dataset.kind == "multiclass" for view in views)
    return render("provenance", "numbers", {"metrics": metrics, "multiclass": multiclass})


def explained(study: Study, name: str, kind: str) -> str:
    """Return what a kernel or solver of the configuration is: its specification, and a sentence on it.

    `kind` is ``"kernel"`` or ``"solver"``.
    """
    entry = getattr(study, f"{kind}s").get(name)
    if entry is None:
        return f"{name}: not in the configuration"
    spec: Any = entry.given if isinstance(entry.given, Mapping) else {kind: entry.given}
    if "choose" in spec:
        names = ", ".join(map(str, spec["choose"]))
        return f"{name} is one of {{{names}}}. The inner cross-validation chooses one for each training set."
    if kind == "kernel" and is_auto(spec):
        what = "the best kernel of a portfolio that suits the sequences, chosen for each training set"
        return f"{name} is {what}. The section Selected hyperparameters says which."
    sentence = class_sentence(KERNELS if kind == "kernel" else SOLVERS, str(spec.get(kind)))
    return f"{name} is {spec_text(spec, kind)}. {sentence}".strip()


def with_hints(page: Markup, study: Study) -> Markup:
    """Return a part of the page in which each method's name, where it first stands, says what it is on hover."""
    for kind in ("kernel", "solver"):
        for name in getattr(study, f"{kind}s"):
            page = Markup(page.replace(tag("b", name), tag("b", name, title=explained(study, name, kind)), 1))
    return page


def provenance_section(config: str) -> Markup:
    """Return the section with versions, command and configuration."""
    return render("provenance", "made", {"command": COMMAND, "versions": versions(), "config": config})


def versions() -> list[tuple[str, str]]:
    """Return the (name, version) of seqkern, Python and the packages that the numbers depend on."""
    own = [("seqkern", __version__), ("Python", platform.python_version())]
    return own + [(name, importlib.metadata.version(name)) for name in PACKAGES]


# Methods section for a paper, ready to copy, with its references.


def methods_section(text: MethodsText) -> Markup:
    """Return the paragraphs, the references, and their BibTeX entries."""
    cited = [references()[key].text for key in text.keys]
    content = {"paragraphs": text.paragraphs, "cited": cited, "bibtex": bibliography(text.keys)}
    return render("provenance", "methods", content)


def bibliography(keys: Sequence[str]) -> str:
    """Return the BibTeX entries of seqkern and of the cited references."""
    return "\n\n".join([own_bibtex(), *(references()[key].bibtex for key in keys)]) + "\n"


# Names of all files of a study: the report's tables, each method's results, figures. A page is often sent alone, so
# there are no links to them.

TABLES = {
    "summary.tsv": "mean and standard deviation of each metric, for each method",
    "families.tsv": "every metric for each task",
    "metrics.tsv": "every metric for each test set",
    "comparisons.tsv": "tests between methods",
    "intervals.tsv": "confidence intervals of scores",
    "roc.tsv": "points of every ROC curve",
    "pr.tsv": "points of every precision-recall curve",
    "seqkern_mqc.tsv": "the main score of each method, for MultiQC",
    "costs.tsv": "run time and memory, which vary between runs",
    "config.yaml": "the configuration",
    "methods.txt": "the methods section of this page",
    "references.bib": "its references",
}
"""Files of the report, each with a description."""


def files_section() -> Markup:
    """List the files of the report."""
    return render("provenance", "files", {"listed": TABLES})
