"""The page: head, findings, one chapter for each data set, how it was made."""

from pathlib import Path

from ..archive import atomic_write
from ..kernels import KERNELS
from ..solvers import SOLVERS
from .choices import choices_section
from .cost import cost_section, versions
from .findings import caveats, main_finding
from .fits import fits_section
from .markup import Column, Markup, details, join, table, tag
from .material import about_section
from .plots import curves_section, families_section, gram_section
from .predictions import confusion_section, hard_section
from .results import Study
from .scores import scores_section, units_section
from .splits import folds_section, leakage_section
from .tables import families_table, metrics_table, summary_table, write_tables
from .view import View, paragraph
from .words import class_sentence, metric, spec_text

STYLE = Path(__file__).with_name("style.css")
SECTIONS = (
    about_section,
    folds_section,
    leakage_section,
    scores_section,
    families_section,
    curves_section,
    units_section,
    confusion_section,
    hard_section,
    choices_section,
    fits_section,
    gram_section,
    cost_section,
)


def build_report(results_dir, out_dir, config=None):
    """Write the report of a study.

    Parameters
    ----------
    results_dir : path-like
        ``results/<study>``, as the workflow leaves it; what is missing is shown as missing.
    out_dir : path-like
        Gets ``index.html``, ``summary.tsv``, ``families.tsv``, ``metrics.tsv`` and ``config.yaml``.
    config : dict, optional
        The study's resolved configuration; by default ``config.yaml`` in `results_dir`.

    Returns
    -------
    Path
        Of ``index.html``.

    Raises
    ------
    FileError
        If there are no results, a file of them is damaged, or a file cannot be written.
    """
    study, out_dir = Study(results_dir, config), Path(out_dir)
    views = [View(dataset, f"d{i}") for i, dataset in enumerate(study.datasets, start=1)]
    summaries = [summary_table(view.dataset, view.ranking) for view in views]
    keys = ["dataset", "tasks", "kernel", "solver", "values"]
    write_tables(summaries, keys, out_dir / "summary.tsv")
    write_tables(
        [families_table(v.dataset) for v in views], ["dataset", "task", *keys[2:4]], out_dir / "families.tsv"
    )
    write_tables(
        [metrics_table(v.dataset) for v in views],
        ["dataset", *keys[2:4], "task", "split"],
        out_dir / "metrics.tsv",
    )
    with atomic_write(out_dir / "config.yaml", "w") as file:
        file.write(config_text(study))
    page = render_page(study, views)
    with atomic_write(out_dir / "index.html", "w") as file:
        file.write(page)
    return out_dir / "index.html"


def config_text(study):
    """Return the configuration as YAML."""
    import yaml

    return yaml.safe_dump(study.config, sort_keys=False, allow_unicode=True)


def render_page(study, views):
    """Return the whole page."""
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"{study.name} · seqkern report"),
        Markup(f"<style>\n{STYLE.read_text(encoding='utf-8')}</style>"),
    ]
    description = study.config.get("description")
    body = [
        tag(
            "header",
            tag("p", "seqkern report", class_="kicker"),
            tag("h1", study.name),
            paragraph(description, class_="lead") if description else None,
        ),
        _contents(views),
        tag("main", _findings(views), [_chapter(view) for view in views], _glossary(views), _methods(study)),
    ]
    return Markup("<!DOCTYPE html>\n") + tag("html", tag("head", head), tag("body", body), lang="en") + "\n"


def _contents(views):
    """Return the table of contents."""
    items = [tag("li", tag("a", "Main findings", href="#findings"))]
    for view in views:
        parts = [
            view.link(title, name)
            for name, title in (
                ("scores", "scores"),
                ("roc", "curves"),
                ("predictions", "predictions"),
                ("gram", "Gram matrices"),
            )
        ]
        entry = tag("a", view.dataset.name, href=f"#{view.anchor}")
        items.append(tag("li", entry, tag("small", ": ", join(" · ", parts))))
    items.append(tag("li", tag("a", "What the numbers mean", href="#numbers")))
    items.append(tag("li", tag("a", "How this was made", href="#made")))
    return tag("nav", tag("h2", "Contents"), tag("ol", items), aria_label="Contents")


def _findings(views):
    """Return the main findings and the caveats."""
    found = [tag("li", main_finding(view)) for view in views]
    warned = [tag("li", sentence) for view in views for sentence in caveats(view)]
    note = (
        "A standard deviation tells how much a score varies from one test part to the next. Nothing here is "
        "a test of significance: a combination within one standard deviation may well be as good."
    )
    quiet = paragraph(
        "None: nothing is missing, no leakage was found, every fit converged, no test part is small."
    )
    return tag(
        "section",
        tag("h2", "Main findings"),
        tag("ul", found, class_="findings"),
        paragraph(note, class_="note"),
        tag("h3", "Before relying on them"),
        tag("ul", warned, class_="caveats") if warned else quiet,
        id="findings",
    )


def _chapter(view):
    """Return all sections of one data set."""
    return tag(
        "section",
        tag("h2", view.dataset.name),
        [make(view) for make in SECTIONS],
        id=view.anchor,
        class_="chapter",
    )


def _glossary(views):
    """Return what each metric used means."""
    names = dict.fromkeys(name for view in views for name in view.ranking.scores)
    multiclass = any(view.dataset.kind == "multiclass" for view in views)
    known = [metric(name) for name in names]
    items = [
        part for one in known for part in (tag("dt", one.name), tag("dd", one.explained(multiclass) or "–"))
    ]
    spread = (
        tag("dt", "mean ± standard deviation"),
        tag(
            "dd",
            "The average over folds (or families, or tasks), and how far single ones typically lie from it.",
        ),
    )
    return tag(
        "section",
        tag("h2", "What the numbers mean"),
        tag("dl", items, spread, class_="glossary"),
        id="numbers",
    )


def _methods(study):
    """Return kernels and solvers, versions, command and configuration."""
    rows = []
    for kind, key, registry in (("kernels", "kernel", KERNELS), ("solvers", "solver", SOLVERS)):
        for name in study.config.get(kind) or {}:
            spec = study.spec(kind, name)
            rows.append([name, key, spec_text(spec, key), class_sentence(registry, str(spec.get(key)))])
    columns = [Column(title, False) for title in ("Name", "Is a", "As configured", "What it is")]
    methods = table(
        "Kernels and solvers of this study; values in braces were searched", columns, rows, class_="text"
    )
    packages = [part for name, version in versions() for part in (tag("dt", name), tag("dd", version))]
    command = "snakemake --cores all --configfile config.yaml"
    return tag(
        "section",
        tag("h2", "How this was made"),
        methods if rows else paragraph("The study's configuration was not found.", class_="missing"),
        tag("h3", "Versions"),
        tag("dl", packages, class_="facts"),
        tag("h3", "Again"),
        paragraph(
            "This command repeats the study, with the ", tag("code", "config.yaml"), " beside this page:"
        ),
        tag("pre", tag("code", command)),
        details("The whole configuration", tag("pre", tag("code", config_text(study)))),
        paragraph("All scores: summary.tsv (means), metrics.tsv (every split), families.tsv (every task)."),
        id="made",
    )
