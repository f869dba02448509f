"""The foot of the page: what the numbers mean, kernels and solvers, versions, how to reproduce the study."""

import importlib.metadata
import platform
import re
from collections.abc import Sequence

from seqkern import __version__
from seqkern.core.markup import Markup, tag
from seqkern.figures.html_table import Column, table
from seqkern.kernels.kernel_table import KERNELS
from seqkern.report.folded import folded_part
from seqkern.report.sentences import class_sentence, metric, spec_text
from seqkern.report.view import View, paragraph
from seqkern.solvers.solver_table import SOLVERS
from seqkern.study.study import Study

COMMAND = "snakemake --cores all --configfile config.yaml"
PACKAGES = ("numpy", "scipy", "scikit-learn", "snakemake", "pandas", "biopython", "matplotlib")


def numbers_section(views: Sequence[View]) -> Markup:
    """Return what each metric used means.

    Parameters
    ----------
    views : sequence of View
        The data sets, in the order of the page.

    Returns
    -------
    Markup
        The section.
    """
    names = dict.fromkeys(name for view in views for name in view.ranking.scores)
    multiclass = any(view.dataset.kind == "multiclass" for view in views)
    # of metrics of single states one stands for all: "Q of a state"
    known = [metric(name) for name in dict.fromkeys(re.sub(":.*", ":a state", name) for name in names)]
    items = [part for one in known for part in (tag("dt", one.name), tag("dd", one.explained(multiclass) or "–"))]
    spread = (
        tag("dt", "mean ± standard deviation"),
        tag(
            "dd",
            "The average over folds (or families, or tasks), and the standard deviation of the single values.",
        ),
    )
    return tag(
        "section",
        folded_part(
            tag("h2", "What the numbers mean"),
            "each metric in a sentence",
            tag("dl", items, spread, class_="glossary"),
        ),
        id="numbers",
    )


def provenance_section(study: Study, config: str) -> Markup:
    """Return kernels and solvers, versions, command and configuration.

    Parameters
    ----------
    study : Study
        The study, as configured.
    config : str
        The configuration as YAML.

    Returns
    -------
    Markup
        The section.
    """
    rows = []
    for kind, key, registry in (("kernels", "kernel", KERNELS), ("solvers", "solver", SOLVERS)):
        for name, entry in getattr(study, kind).items():
            spec = entry.given
            text, sentence = spec_text(spec, key), class_sentence(registry, str(spec.get(key)))
            if "choose" in spec:
                text = f"one of {{{', '.join(map(str, spec['choose']))}}}"
                sentence = "Several kernels; the inner cross-validation chooses one for each training set."
            rows.append([name, key, text, sentence])
    columns = [Column(title, False) for title in ("Name", "Is a", "As configured", "What it is")]
    methods = table("Kernels and solvers; values in braces were searched", columns, rows, class_="text")
    packages = [part for name, version in versions() for part in (tag("dt", name), tag("dd", version))]
    return tag(
        "section",
        tag("h2", "Reproduce this study"),
        paragraph(
            "In a folder made by seqkern init, or in a copy of the repository, with the file ",
            tag("a", "config.yaml", href="config.yaml"),
            " from the folder of this page:",
        ),
        tag("pre", tag("code", COMMAND), tabindex="0", role="region", aria_label="command"),
        _part("Kernels and solvers", "as configured", methods)
        if rows
        else paragraph("The study's configuration was not found.", class_="missing"),
        _part("Versions", "of seqkern, Python and libraries", tag("dl", packages, class_="facts")),
        _part(
            "Configuration",
            "all of config.yaml",
            tag("pre", tag("code", config), tabindex="0", role="region", aria_label="configuration"),
        ),
        id="made",
    )


def _part(title: str, inside: str, content: Markup) -> Markup:
    """Return a folded part with its heading."""
    return folded_part(tag("h3", title), inside, content)


def versions() -> list[tuple[str, str]]:
    """Return (name, version) of seqkern, Python and the packages that numbers rest on."""
    found = [("seqkern", __version__), ("Python", platform.python_version())]
    for name in PACKAGES:
        try:
            found.append((name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            found.append((name, "not installed"))
    return found
