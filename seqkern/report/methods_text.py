"""Text for the methods section of a paper: the steps of a study, in paragraphs, with references."""

import importlib.metadata
import platform
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from seqkern import __version__
from seqkern.core.package_files import open_resource
from seqkern.evaluation.fold_tables import POOLED_COLUMNS
from seqkern.methods.baselines import BASELINES
from seqkern.methods.compared import Compared, ComparedChains, SingleTaskTests
from seqkern.methods.study_results import DatasetResults, numbers
from seqkern.report.markup import Markup, escape
from seqkern.report.page_frame import number, plural
from seqkern.report.sentences import enumerate_names, metric, spec_text
from seqkern.report.view import View
from seqkern.solvers.costs import EVIDENCE, WITHOUT_FOLDS
from seqkern.solvers.solver_specs import cited_methods
from seqkern.study.kernel_entries import AutoKernel, KernelEntry
from seqkern.study.study import Study

# Papers behind kernels, solvers, tests and libraries, from ``resources/references.bib``.

ACCENTS = {'"': "\u0308", "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "v": "\u030c", "c": "\u0327"}
SIGNS = {r"\&": "&", r"{\ss}": "ß", r"$\ell_p$": "ℓp", r"$\times$": "×", "--": "–", "~": " "}


@dataclass(frozen=True)
class Reference:
    """An entry of a BibTeX file."""

    key: str  # That it is cited by
    bibtex: str  # The whole entry
    fields: dict[str, str]  # Its fields as plain text

    @property
    def authors(self) -> list[tuple[str, str]]:
        """Authors' (family, given) names; ``others`` has only a family name."""
        names = [name.partition(", ") for name in self.fields["author"].split(" and ")]
        return [(family, given) for family, _, given in names]

    @property
    def short(self) -> str:
        """Authors and year as cited in a sentence: ``Leslie et al., 2002``."""
        families = [family for family, _ in self.authors]
        named = families[0] if len(families) == 1 else f"{families[0]} et al."
        if len(families) == 2:
            named = " and ".join(families)
        return f"{named}, {self.fields['year']}"

    @property
    def text(self) -> str:
        """Reference as formatted in a list of references."""
        names = ["et al." if family == "others" else _with_initials(family, given) for family, given in self.authors]
        authors = ", ".join(names)
        fields = self.fields
        place = fields.get("journal") or fields.get("booktitle") or fields.get("institution") or ""
        numbers = " ".join(filter(None, (place, fields.get("volume") or fields.get("number"))))
        pages = f":{fields['pages']}" if "pages" in fields and "volume" in fields else ""
        if "pages" in fields and not pages:
            pages = f", pages {fields['pages']}"
        where = ", ".join(filter(None, (numbers + pages, fields.get("publisher"), fields["year"])))
        return f"{authors.rstrip('.')}. {fields['title']}. {where}."


def _with_initials(family: str, given: str) -> str:
    """Return a name as formatted in a list of references: ``Noble WS``."""
    return f"{family} {''.join(part[0] for part in re.split('[ -]', given) if part)}".rstrip()


@cache
def references() -> "dict[str, Reference]":
    """Return all entries of ``references.bib`` by their keys."""
    with open_resource("references.bib") as file:
        entries = re.findall(r"^@\w+\{.*?^\}", file.read(), flags=re.DOTALL | re.MULTILINE)
    found = {}
    for entry in entries:
        key = entry[entry.index("{") + 1 : entry.index(",")]
        fields = re.findall(r"^  (\w+) = \{(.*)\},?$", entry, flags=re.MULTILINE)
        found[key] = Reference(key, entry, {name: without_tex(text) for name, text in fields})
    return found


def cite(keys: Iterable[str]) -> str:
    """Return a citation in parentheses, with a leading space; empty without keys.

    >>> cite(["Leslie2002", "LeslieKuang2004"])
    ' (Leslie et al., 2002; Leslie and Kuang, 2004)'
    """
    texts = [references()[key].short for key in keys]
    return f" ({'; '.join(texts)})" if texts else ""


def own_bibtex() -> str:
    """Return the BibTeX entry of seqkern itself, for the running version."""
    fields = {
        "author": "{The seqkern developers}",
        "title": "{seqkern}: classification of biological sequences with string kernels",
        "version": __version__,
    }
    lines = ",\n".join(f"  {name} = {{{text}}}" for name, text in fields.items())
    return f"@software{{seqkern,\n{lines}\n}}"


def without_tex(text: str) -> str:
    r"""Return the text of a BibTeX field without TeX commands.

    >>> without_tex(r"Sch{\"o}lkopf, {SVM} 97--105")
    'Schölkopf, SVM 97–105'
    """
    text = text.replace(r"{\ss}", "ß")
    text = re.sub(
        r"""\{\\(["`'^~vc])\{?(\w)\}?\}""",
        lambda found: unicodedata.normalize("NFC", found[2] + ACCENTS[found[1]]),
        text,
    )
    for sign, plain_sign in SIGNS.items():
        text = text.replace(sign, plain_sign)
    return text.replace("{", "").replace("}", "")


# Choices made by the mean rank over several tasks.


def pooled_tasks(dataset: DatasetResults) -> str | None:
    """Return the number of tasks that choices were pooled over, as text such as ``12 to 14 tasks``.

    Return None if each task had its own choices.
    """
    if not dataset.study.inner.pools or POOLED_COLUMNS[0] not in dataset.choices:
        return None
    counts = numbers(dataset.choices[POOLED_COLUMNS[0]]).dropna()
    if not len(counts) or counts.max() <= 1:
        return None
    least, most = number(counts.min(), 0), number(counts.max(), 0)
    return f"{most} tasks" if least == most else f"{least} to {most} tasks"


# Unlabelled samples: how many a data set has, and which methods learn from them.


def count_unlabelled(dataset: DatasetResults) -> int:
    """Return the number of unlabelled samples of a data set with one task; 0 if there are several tasks."""
    tasks = list(dataset.tasks.values())
    return int(tasks[0].get("unlabelled", 0)) if len(tasks) == 1 else 0


def unlabelled_use(dataset: DatasetResults) -> str:
    """Return a text on the use of unlabelled samples: which training sets contain them."""
    learning = [method for method in dataset.methods if _learns(dataset, *method)]
    if not learning:
        return "left out"
    names: dict[str, None] = {}
    for kernel, solver in learning:
        every = all(method in learning for method in dataset.methods if method.solver == solver)
        names[solver if every else f"{solver} with {kernel}"] = None
    return f"in every training set of {enumerate_names(names)}"


def _learns(dataset: DatasetResults, kernel: str, solver: str) -> bool:
    """Return whether a method learns from unlabelled samples, according to `Method.accepts_unlabelled`."""
    entry = dataset.solver(solver)
    if entry.layer_specs or not entry.grid or not all(one.traits.unlabelled for one in entry.grid):
        return False
    built = [one.built for one in dataset.kernel(kernel).candidates]
    return not any(one is None or one.traits.data_dependent for one in built)


FOLDS = {
    "stratified": "stratified cross-validation",
    "grouped": "cross-validation that kept groups of related sequences together",
    "five_by_two": "5 × 2 cross-validation",
    "predefined": "the training and test sets of the source",
    "locus": "cross-validation by place on the genome",
    "leave-one-out": "leave-one-out cross-validation",
    "leave-one-group-out": "leave-one-group-out cross-validation",
    "position": "cross-validation by mutated position",
    "position-blocks": "cross-validation by blocks of mutated positions",
    "mutations": "training on few mutations and testing on more",
    "value": "training on low values and testing on high ones",
    "liao-noble": "remote homology detection, each family held out once",
}
FOLD_PAPERS = {"liao-noble": ("Liao2003",), "five_by_two": ("Dietterich1998",)}
TESTS = {
    "delong": ("the test of DeLong et al. for correlated AUCs", "DeLong1988"),
    "mcnemar": ("McNemar's test", "McNemar1947"),
    "bootstrap": ("a bootstrap test", "Efron1987"),
    "signed_rank": ("the Wilcoxon signed-rank test", "Wilcoxon1945"),
    "five_by_two_f": ("the combined 5 × 2 cv F test", "Alpaydin1999"),
}
LIBRARIES = (
    ("NumPy", "numpy", "Harris2020"),
    ("SciPy", "scipy", "Virtanen2020"),
    ("scikit-learn", "scikit-learn", "Pedregosa2011"),
    ("Snakemake", "snakemake", "Molder2021"),
)


@dataclass
class MethodsText:
    """Headed paragraphs, and the keys of their references in order of first citation."""

    paragraphs: list[tuple[str, str]] = field(default_factory=list)  # A heading and the text of each
    keys: list[str] = field(default_factory=list)  # Of the references, in the order of their first citation

    def add(self, heading: str, sentences: Sequence[str]) -> None:
        """Add a paragraph, unless it has no sentences."""
        if sentences:
            self.paragraphs.append((heading, " ".join(sentences)))

    def cited(self, keys: Sequence[str]) -> str:
        """Return a citation, and record its keys."""
        self.keys += [key for key in keys if key not in self.keys]
        return cite(keys)

    def text(self) -> str:
        """Return the paragraphs as plain text."""
        return "\n\n".join(f"{heading}. {text}" for heading, text in self.paragraphs) + "\n"


def methods_text(study: Study, views: Sequence[View], date: str | None = None) -> "MethodsText":
    """Return the methods text of a study."""
    text = MethodsText()
    text.add("Data", [_data(view) for view in views])
    text.add("Evaluation", list(_evaluation(text, study, views)))
    for heading, kind in (("Kernels", "kernel"), ("Classifiers", "solver")):
        text.add(heading, list(_methods(text, study, kind)))
    text.add("Hyperparameters", _search(study, views))
    text.add("Statistics", list(_statistics(text, views)))
    text.add("Software", [_software(text, date)])
    return text


def _span(own: Mapping[str, Any]) -> str:
    """Return the alphabet and lengths of one of the samples' sequences."""
    name = str(own.get("alphabet"))
    units = "bases" if name in ("dna", "rna") else "residues"
    low, high = own.get("min"), own.get("max")
    return f"{name}, {low} {units}" if low == high else f"{name}, {low} to {high} {units}"


def _data(view: View) -> str:
    """Return a sentence on the size and origin of a data set."""
    summary = view.dataset.summary or {}
    what = view.data_text("sequences")
    alphabet = summary.get("alphabet")
    named = {"dna": "DNA ", "rna": "RNA ", "protein": "protein "}.get(str(alphabet), "") if what == "sequences" else ""
    units = "bases" if alphabet in ("dna", "rna") else "residues"
    tasks, unlabelled = view.dataset.tasks, count_unlabelled(view.dataset)
    count = summary.get("n", "an unknown number of")
    if unlabelled:
        count = f"{next(iter(tasks.values())).get('n')} labelled"
    parts = [f"{view.dataset.name}: {count} {named}{what}"]
    length = summary.get("length") if not summary.get("chains") else summary["chains"]
    several = summary.get("sequences") or {}
    if len(several) > 1:
        each = enumerate_names([f"{name} ({_span(own)})" for name, own in several.items()])
        parts = [f"{view.dataset.name}: {count} samples of {len(several)} sequences, {each}"]
    elif length and length.get("min") is not None:
        low, high = length["min"], length["max"]
        parts.append(
            f"of {low} {units}" if low == high else f"of {low} to {high} {units} (median {length['median']:g})"
        )
    if len(tasks) > 1:
        parts.append(f"in {plural(len(tasks), view.word, view.words)}")
    elif tasks and view.dataset.kind != "real":
        counts = next(iter(tasks.values()))["classes"]
        parts.append(f"({', '.join(f'{count} {name}' for name, count in counts.items())})")
    if unlabelled:
        parts.append(f"and {unlabelled} without a label, {unlabelled_use(view.dataset)},")
    if summary.get("simulate"):
        options = {key: value for key, value in summary["simulate"].items() if key != "kind"}
        values = ", ".join(f"{key} = {value}" for key, value in options.items())
        parts.append(f"simulated with seqkern ({values})")
    elif summary.get("reference"):
        parts.append(f"from {summary['reference']}")
    return " ".join(parts).rstrip(".,") + "."


def _evaluation(text: "MethodsText", study: Study, views: Sequence[View]) -> Iterator[str]:
    """Yield sentences on how each data set was split."""
    for view in views:
        folds = view.dataset.entry.folds
        if folds is None:
            continue
        how = FOLDS.get(folds.method, folds.method) + text.cited(FOLD_PAPERS.get(folds.method, ()))
        count = len(view.dataset.units)
        if folds.method in ("stratified", "grouped", "locus") and count > 1:
            how = f"{count}-fold {how}"
        yield f"{view.dataset.name} was evaluated by {how}."
    yield f"All methods used the same training and test sets (seed {study.seed})."


def _methods(text: "MethodsText", study: Study, kind: str) -> Iterator[str]:
    """Yield sentences that describe each kernel or solver."""
    entries = study.kernels if kind == "kernel" else study.solvers
    for name, entry in entries.items():
        given = entry.given if isinstance(entry.given, dict) else {kind: entry.given}
        if "choose" in given:
            yield f"{name}: one of {enumerate_names(given['choose'])}, chosen by the inner cross-validation."
            continue
        if isinstance(entry, AutoKernel):
            yield f"{name}: a kernel of seqkern's portfolio for such sequences, chosen by the inner cross-validation."
            continue
        title, keys = cited_methods().get((kind, str(given.get(kind))), (str(given.get(kind)), ()))
        parameters = spec_text(given, kind).partition(": ")[2]
        values = f" with {parameters}" if parameters else ""
        yield f"{name}: {title}{text.cited(keys)}{values}."
        if kind == "kernel" and isinstance(entry, KernelEntry):
            inner = [found for found in nested_kernels(entry.spec) if found != given.get(kind)]
            text.cited([key for one in inner for key in cited_methods().get((kind, one), ("", ()))[1]])


def nested_kernels(spec: object) -> Iterator[str]:
    """Yield the names of all kernels in a specification."""
    if isinstance(spec, dict):
        if isinstance(spec.get("kernel"), str):
            yield spec["kernel"]
        spec = list(spec.values())
    if isinstance(spec, (list, tuple)):
        for one in spec:
            yield from nested_kernels(one)


def _search(study: Study, views: Sequence[View]) -> list[str]:
    """Return sentences on how hyperparameters were chosen; empty if none were."""
    if not any(len(view.dataset.choices) for view in views):
        return []
    inner = study.inner
    by = "" if inner.metric == "auto" else f" by {metric(inner.metric).name}"
    how = f"a random search of {inner.draws} candidates" if inner.random else "a grid search"
    folds = f"{inner.folds}-fold cross-validation"
    if inner.metric in WITHOUT_FOLDS:
        folds = "one fit of each candidate, without inner folds"
    if any(view.dataset.developed for view in views):
        folds = "validation on its development part"
    if inner.clusters is not None:
        folds = "cross-validation over clusters of similar positive samples (average linkage)"
    sentences = [
        f"Values in braces were chosen{by} in each training set by {how} with {folds}; test sets were never used."
    ]
    if any(pooled_tasks(view.dataset) is not None for view in views):
        sentences.append(
            "For each task, the candidate with the best mean rank over several tasks was taken: the task itself and "
            "all those without positive samples in common with it."
        )
    elif inner.rule == "one_standard_error":
        sentences.append("Of the candidates within one standard error of the best, the simplest was taken.")
    return sentences


def _statistics(text: "MethodsText", views: Sequence[View]) -> Iterator[str]:
    """Yield sentences on the scores and tests that were computed."""
    tested = False
    for view in views:
        if not view.ranking.headline:
            continue
        name = view.dataset.name
        for trivial, kind in ((False, "Reference methods"), (True, "Trivial baselines")):
            baselines = [BASELINES[n].title for n in view.headline.baseline_entries if BASELINES[n].trivial == trivial]
            if baselines:
                yield f"{kind} on {name}, fitted on the same training sets: {', '.join(baselines)}."
        several = len(view.dataset.units) > 1
        mean = f"the mean {view.metric.name} over {view.words}" if several else f"the {view.metric.name}"
        compared = view.comparisons.get(view.ranking.headline)
        if compared is None:
            yield f"Methods on {name} were ranked by {mean}."
            yield from _chance(view)
            tested |= len(view.headline.methods) > 1 and view.headline.tested
            continue
        tested = True
        over = ""
        if isinstance(compared, SingleTaskTests):
            test, key = TESTS[compared.test]
        else:
            test, key = TESTS["signed_rank"]
            over = f" over {'chains' if isinstance(compared, ComparedChains) else view.words}"
        yield f"Methods on {name} were ranked by {mean}, and compared by {test}{text.cited([key])}{over}."
        if isinstance(compared, Compared) and compared.friedman is not None:
            yield f"The Friedman test compared all methods at once{text.cited(['Demsar2006'])}."
        yield from _chance(view)
    if tested:
        yield f"p values were corrected by Holm's method{text.cited(['Holm1979'])}."


def _chance(view: View) -> Iterator[str]:
    """Yield sentences on how each method was tested against chance; nothing if none was."""
    headline = view.headline
    if not headline.tested:
        return
    how = "by the mean and the variance of its score over all permutations of the labels within test sets"
    if headline.signed_ranks:
        how = f"by the signed-rank test over {'chains' if view.dataset.residues else view.words}"
    elif any(len(set(task.values())) < len(task) for task in headline.groups.values()) and view.dataset.kind != "real":
        how += "; related samples with one label counted as a block"
    yield f"Each method on {view.dataset.name} was tested against {headline.reference} {how}."


def _software(text: "MethodsText", date: str | None) -> str:
    """Return a sentence with the versions of the software that computed the results."""
    parts = [f"{title} {importlib.metadata.version(name)}{text.cited([key])}" for title, name, key in LIBRARIES]
    when = f"; the report was made on {date}" if date else ""
    return f"seqkern {__version__} on Python {platform.python_version()}, with {enumerate_names(parts)}{when}."


# Sentence about the hyperparameters with which a trained model was fitted.


def chosen_values(training: Mapping[str, Any]) -> Markup | None:
    """Return the selected hyperparameter values as part of a sentence; None where nothing was selected."""
    search = training.get("search")
    if not search:
        return None
    chosen = {key: value for key, value in (training.get("solver") or {}).items() if key != "solver"}
    values = escape(", ".join(f"{key} = {value}" for key, value in chosen.items()))
    how = f"the best {metric(search['metric']).name} in {search.get('folds')} folds of cross-validation"
    if search["metric"] in WITHOUT_FOLDS:
        end = "highest" if search["metric"] == EVIDENCE else "lowest"
        how = f"the {end} {metric(search['metric']).name} of one fit for each candidate"
    return Markup(f", with <b>{values}</b>, {escape(how)}")
