"""The input of ``seqkern train`` and ``seqkern cv``: arguments, and the method and data that they describe."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from seqkern.cli.common import (
    OF_TABLE,
    check_names,
    column_views,
    given_files,
    read_tracks,
    sequence_files,
    several_entry,
    views_of,
)
from seqkern.cli.output import log, log_counts, log_unlabelled, warn
from seqkern.cli.requests import POLICIES
from seqkern.cli.requests_training import MethodRequest
from seqkern.cli.wrong_files import check_genome, check_kinds, check_same, check_twice, holds_fasta, holds_table
from seqkern.core.checks import read_number, whole_number
from seqkern.core.errors import LabelError, ParameterError
from seqkern.core.progress import parse_duration
from seqkern.core.text_files import is_one_file
from seqkern.core.tsv import read_cells
from seqkern.evaluation.auto import LARGE_SOLVER, LARGEST_GRAM, default_metric, default_solver, kernel_grid, traits_of
from seqkern.evaluation.held_out import check_postprocessing
from seqkern.evaluation.selection import Candidate
from seqkern.formats.background import PROPERTIES
from seqkern.formats.regions import named_as_bed
from seqkern.formats.residues import WINDOW
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_specs import check_kind, kernel_text
from seqkern.methods.fitted import Search
from seqkern.methods.method import Method
from seqkern.methods.sources import Samples
from seqkern.methods.training import automatic_method
from seqkern.sequences.fasta import file_names
from seqkern.sequences.joining import vectors_of
from seqkern.sequences.labels import Labels, are_numbers, refuse_numbers_as_classes
from seqkern.sequences.sequence_set import SequenceSet, sequence_views, usual_length, vector_views
from seqkern.sequences.similarity import distinct_sequences
from seqkern.sequences.windows import Window, as_window
from seqkern.solvers.contract import Solver
from seqkern.solvers.layers.chain import LAYERS, Layers
from seqkern.solvers.solver_specs import Free, build_solver, expand_grid
from seqkern.solvers.thresholds import PLAIN
from seqkern.study.data_entry import UNLABELLED_FILE
from seqkern.study.dataset import Dataset, make_dataset
from seqkern.study.kernel_entries import AnyKernel, AutoKernel, KernelEntry, read_kernel
from seqkern.study.several_sequences import ALLELES
from seqkern.study.solver_entries import SolverEntry
from seqkern.study.tables import column_of_names, label_column, no_column

# Notes on standard error about labels that are probably a mistake.


def log_background(notes: dict[str, Any]) -> None:
    """Print the quality of the match of a drawn background, on standard error."""
    drawn = notes.get("genome", {}).get("background")
    if drawn is None:
        return
    distances = ", ".join(f"{PROPERTIES[name]} {value:.4f}" for name, value in drawn["ks"].items())
    log(f"{drawn['regions']} background regions drawn; KS distances: {distances}")
    for remark in drawn["remarks"]:
        log(remark)


def why_left_out(method: Method) -> str:
    """Return a clause with the reason why a method leaves out unlabelled records."""
    for solver in method.solvers:
        if not solver.traits.unlabelled:
            return f"solver {solver.name!r} does not learn from them"
    return "kernels that are fitted to each training set do not use them"


def log_similar_classes(labels: Labels, source: str) -> None:
    """Print a warning about two classes whose names differ only in case."""
    seen: dict[str, str] = {}
    for name in labels.classes:
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            warn(
                f"{source}: the classes {other!r} and {name!r} differ only in case; if they are one "
                "class, write them alike"
            )


class Input(NamedTuple):
    """The training input of a method: the samples and labels as read, and `X`, the samples with all tracks."""

    dataset: Dataset  # The samples, without tracks that were read from other files, and their labels
    X: Samples  # The samples with all tracks
    source: str  # The files, for messages
    entry: Mapping[str, Any]  # The samples, as in a configuration

    @property
    def labels(self) -> Labels:
        """The labels of the labelled samples."""
        labels = self.dataset.task().labels
        return labels.take(labels.used())

    @property
    def window(self) -> Window | None:
        """The window around the sites, if windows were cut."""
        window = self.dataset.notes.get("window")
        return None if window is None else as_window(window)


# The method that a request describes.


@dataclass(frozen=True)
class Training:
    """A request with its kernels and its method, parsed once, and checked as far as possible without data."""

    request: MethodRequest
    kernel: AnyKernel
    layers: Sequence[Mapping[str, Any]]

    @property
    def auto(self) -> bool:
        """Whether the kernel is chosen from a portfolio."""
        return isinstance(self.kernel, AutoKernel)

    @cached_property
    def searches(self) -> bool:
        """Whether hyperparameters are searched: on request, or because the solver or its cost C was left out."""
        request = self.request
        asked = request.search or request.draws is not None or self.auto
        return asked or request.solver is None or Free.of(request.solver).cost

    @cached_property
    def grid(self) -> bool:
        """Whether the solver has values to choose from, without a search of others."""
        solver = self.request.solver
        return not self.searches and solver is not None and len(expand_grid(solver)) > 1

    @property
    def chooses(self) -> bool:
        """Whether the inner loop chooses: in a search, or among the alternatives given."""
        return self.searches or self.grid or len(self.kernel.candidates) > 1

    @cached_property
    def entries(self) -> Sequence[KernelEntry]:
        """The kernel, or several to choose from; none for auto."""
        return self._transformed(self.kernel.candidates)

    @cached_property
    def views(self) -> Mapping[str, Any]:
        """The entry of the views that the kernels read; for auto, all views given."""
        request, kernels = self.request, [entry.kernel for entry in self.entries]
        for kernel in kernels:
            check_names(request, kernel.traits.sequence_views)
        if kernels:
            of_vectors = [len(kernel.traits.views) - len(kernel.traits.sequence_views) for kernel in kernels]
            return views_of(request, kernels[of_vectors.index(max(of_vectors))])
        sequences = sequence_files(request)
        return {name: file for name, file in request.view if file and name not in sequences}

    @cached_property
    def method(self) -> Method | None:
        """The method; None if kernel or solver depend on the data: then `chosen_method` returns it."""
        solver = self.request.solver
        return None if self.auto or solver is None else self.method_of(self.entries, solver)

    @cached_property
    def specs(self) -> Sequence[dict[str, Any]]:
        """The specifications of the solver; empty if the labels determine the choice."""
        if self.method is not None:
            return self.method.specs
        solver, ranges = self.request.solver, self.request.draws is not None
        return () if solver is None else SolverEntry.parse(solver, ranges=ranges).specs

    @cached_property
    def solvers(self) -> Sequence[Solver]:
        """The solvers of the specifications, not fitted."""
        return [build_solver(spec) for spec in self.specs] if self.method is None else self.method.solvers

    @property
    def threshold(self) -> str | None:
        """The rule for the threshold; the LS-GKM format does not store one."""
        return PLAIN if self.request.has("format=lsgkm") else self.request.threshold

    def search(self, solver: str, n: int = 0) -> Search:
        """Return the rule for choosing one of several candidates; for many samples three folds are enough."""
        request = self.request
        folds = (3 if n > LARGEST_GRAM else 5) if request.inner_folds is None else request.inner_folds
        free = Free.of(solver) if self.searches and request.draws is None else Free()
        metric = request.metric or default_metric(solver)
        return Search(folds, metric, request.seed, request.rule or "best", free)

    def method_of(self, entries: Sequence[KernelEntry], solver: str, n: int = 0) -> Method:
        """Return the method of some kernels and a solver, for about `n` samples."""
        return Method(
            {entry.name: entry.kernel for entry in entries},
            self._candidates([entry.name for entry in entries], solver),
            transforms={entry.name: entry.transforms for entry in entries},
            layers=self.layers,
            calibration=self.request.calibration,
            threshold=self.threshold,
            search=self.search(solver, n),
        )

    def suiting(self, given: Input, n_choices: int) -> Method:
        """Return the given method, or one that suits the data."""
        request, kernel = self.request, self.kernel
        labels = given.dataset.task().labels
        if isinstance(kernel, AutoKernel):
            _log_other_lengths(given, labels)
            return automatic_method(
                given.X,
                kind=labels.kind,
                entry=kernel if request.time is None else AutoKernel.parse({"kernel": "auto", "time": request.time}),
                solver=request.solver,
                search=self.search(request.solver or default_solver(labels.kind, len(given.X))),
                n_choices=n_choices,
                calibration=request.calibration,
                threshold=self.threshold,
                memory_limit=request.memory,
            )
        if self.method is not None and not self.searches:
            return self.method
        entries, n = self.entries, len(given.X)
        if len(entries) == 1 and isinstance(given.X, SequenceSet):
            grid = kernel_grid(kernel.candidates[0].given, traits_of(given.X))
            entries = self._transformed(_named(grid)) if len(grid) > 1 else entries
        accepts_operator = build_solver(LARGE_SOLVER).traits.operator
        implicit = all(entry.gives("implicit", accepts_operator) for entry in entries)
        return self.method_of(entries, request.solver or default_solver(labels.kind, n, implicit), n)

    def _transformed(self, entries: Sequence[KernelEntry]) -> Sequence[KernelEntry]:
        """Return kernels with the transforms and the repair of the request."""
        more: dict[str, Any] = {"transforms": self.request.transform, "repair": self.request.repair}
        return [KernelEntry.parse(one.given, one.name, **more) for one in entries] if any(more.values()) else entries

    def _candidates(self, kernels: Sequence[str], given: str) -> Solver | list[Candidate]:
        """Return the candidates: names of kernels with specifications of solvers; the solver if nothing is searched."""
        if not self.searches and not self.grid:
            return build_solver(given)
        draws = self.request.draws
        solver = SolverEntry.parse(given, ranges=draws is not None, defaults=self.searches)
        return solver.candidates(kernels, draws, self.request.seed)


def _log_other_lengths(given: Input, labels: Labels) -> None:
    """Print a warning about few measured sequences of other lengths, for which no kernel compares positions."""
    X = given.X
    if labels.kind != "real" or not isinstance(X, SequenceSet) or len(sequence_views(X)) > 1:
        return
    length = usual_length(X)
    others = np.flatnonzero(X.lengths != length)
    if 0 < len(others) <= 0.1 * len(X):
        count, first = f"{len(others)} of {len(X):,}", f"the first: {X.ids[others[0]]}, {X.lengths[others[0]]}"
        warn(
            f"{given.source}: {count} sequences have other lengths than {length} ({first}), so that no kernel compares "
            "position by position; leave them out if they are mistakes"
        )


def _named(specs: Sequence[Mapping[str, Any]]) -> Sequence[KernelEntry]:
    """Return kernels to choose from, named by their text."""
    entries = [KernelEntry.parse(spec) for spec in specs]
    return [replace(entry, name=kernel_text(entry.kernel)) for entry in entries]


def read_training(request: MethodRequest) -> Training:
    """Return the training that a request describes; raise an error for options that conflict."""
    training = Training(request, read_kernel(request.kernel), _layers(request.layers))
    check_postprocessing(request.calibration, request.threshold, training.layers)
    if request.time is not None:
        parse_duration(request.time)
        if not training.auto:
            raise ParameterError("--time needs --kernel auto", remedy="remove --time, or --kernel")
    useless = [request.flag(one) for one in ("transform", "repair", "states", "draws") if request.has(one)]
    if training.auto and useless:
        raise ParameterError(
            f"{useless[0]} does not work with --kernel auto", remedy="name a kernel; seqkern kernels lists them"
        )
    if not training.chooses:
        request.refuse("needs a search", "rule", "metric", remedy="add --search, or remove {option}")
        if not (request.calibration or request.threshold or request.layers):
            needed = "needs a search, --calibration, --threshold or --layers"
            request.refuse(needed, "inner_folds", remedy="add --search, or remove {option}")
    _ = training.views, training.method  # complain before any file is read
    return training


SEQUENCE_COLUMNS = "sequence", "seq", "mutated_sequence", "protein", "peptide"
FEWEST_LETTERS = 12
"""Length from which a name of a column in capital letters is a sequence."""
VALUE_COLUMNS = "value", "fitness", "score", "target"


AnyTraining = TypeVar("AnyTraining", bound=MethodRequest)


def with_columns(request: AnyTraining) -> AnyTraining:
    """Return the request with the columns of the sequence, the label and the id of a table, unless they are named.

    Of variants, their file becomes the input, and the kernel takes the difference of both alleles.
    """
    if request.variants is not None:
        return _with_differences(request)
    if len(request.fasta) != 1 or request.sequences or request.labels or not holds_table(request.fasta[0]):
        return request
    if any(entry.kernel.traits.accepts != "sequences" for entry in read_kernel(request.kernel).candidates):
        return request
    file = request.fasta[0]
    header, *rows = read_cells(file)
    columns = dict(zip(header, zip(*rows, strict=False), strict=False))
    of_letters = [name for name, cells in columns.items() if all(map(re.compile("[A-Z*-]{3,}").fullmatch, cells))]
    others = {name: cells for name, cells in columns.items() if name not in column_views(request)}
    of_numbers = [name for name, cells in others.items() if np.isnan([*map(read_number, cells)]).mean() < 0.5]
    sequence = _only(SEQUENCE_COLUMNS, of_letters, columns)
    label = request.label_field if request.label_field in columns else _only(VALUE_COLUMNS, of_numbers, others)
    if sequence in of_letters and len(sequence) >= FEWEST_LETTERS and re.fullmatch("[A-Z*-]+", sequence):
        raise ParameterError(
            f"its first line has a sequence, {sequence[:20]}…, in place of the name of a column",
            file=file,
            remedy="add a first line such as sequence,value",
        )
    for column, what, flag in ((sequence, "sequences", "--sequences"), (label, "labels", "--label-field")):
        if column is None:
            raise ParameterError(
                f"no column is known to hold the {what} among {', '.join(header)}",
                file=file,
                remedy=f"name it with {flag}",
            )
    log(f"{file}: sequences in column {sequence}, labels in column {label}; --sequences and --label-field name others")
    id_column = request.id_column or column_of_names(columns, [str(sequence), str(label)])
    return request.but(sequences=sequence, label_field=label, id_column=id_column)


OF_WINDOWS = "gapped_kmer:l=10,k=6,reverse_complement=true,normalize=false"
WITHOUT_CONSTANT = "gp_regression:mean=zero"
"""Kernel and solver of variants by default."""


def _with_differences(request: AnyTraining) -> AnyTraining:
    """Return the request of variants with their file as input, and a kernel of two alleles."""
    if request.genome is None:
        raise ParameterError("--variants needs the genome around them", remedy="add --genome FASTA")
    if request.fasta or request.variants == "-":
        raise ParameterError("--variants takes one file, and no sequences", remedy="give VCF or a table after it alone")
    kernel = OF_WINDOWS if request.kernel == "auto" else request.kernel
    if not read_kernel(kernel).candidates[0].kernel.traits.of_several:
        kernel = f"each_view:base=({kernel}),rule=difference"
    return request.but(fasta=[request.variants], kernel=kernel, solver=request.solver or WITHOUT_CONSTANT)


def _only(names: Sequence[str], suitable: Sequence[str], columns: Iterable[str]) -> str | None:
    """Return the column with the first of some names, or else the only one whose cells suit."""
    known = {column.lower(): column for column in columns}
    found = [known[name] for name in names if name in known]
    return found[0] if found else suitable[0] if len(suitable) == 1 else None


def _layers(given: Sequence[str]) -> list[dict[str, Any]]:
    """Return the specifications of layers."""
    for text in given:
        names = [word.strip().partition(":")[0] for word in text.split(",")[1:]]
        of_json = text.lstrip().startswith(("[", "{"))
        if not of_json and (text.endswith(",") or any(name in LAYERS.names for name in names)):
            raise ParameterError(
                f"--layers {text!r}: a comma separates parameters of one layer",
                remedy="separate layers by spaces: --layers structure segments probabilities",
            )
    return Layers(given).specs()


def chosen_method(training: Training, given: Input, n_choices: int) -> Method:
    """Return the method; a kernel or solver that was not given is chosen to suit the data.

    What happens to unlabelled records is printed on standard error.
    """
    request, method = training.request, training.suiting(given, n_choices)
    learned = method.accepts_unlabelled
    source = _label_source(request) if request.unlabelled is None else request.unlabelled
    log_unlabelled(given.dataset, source, learned, "" if learned else why_left_out(method))
    return method


# The samples and labels that a request describes.


def read_input(training: Training) -> Input:
    """Return the samples and labels that a request describes."""
    request, kernels = training.request, [entry.kernel for entry in training.entries]
    _check_unlabelled(request)
    several = several_entry(request) if request.variants is None else _variants_entry(request)
    if not request.fasta and not several:
        raise ParameterError("no sequences given", remedy="give FASTA files, or --view NAME=FASTA for each sequence")
    if request.similar_by is not None and not several:
        raise ParameterError("--similar-by needs several sequences", remedy="remove it, or add --sequences")
    source = ", ".join(given_files(request))
    of_table = not several and bool(kernels) and kernels[0].traits.accepts == "features" and len(request.fasta) == 1
    for kernel in kernels:
        check_kind(kernel, "features" if of_table else "sequences", file=source)
    if of_table:
        entry = _table_entry(training, missing=all(kernel.traits.accepts_missing for kernel in kernels))
        dataset = _made(training, entry)
        X: Samples = dataset.X
    else:
        reading = max(kernels, key=lambda kernel: len(kernel.traits.tracks)) if kernels else _reads_annotation(request)
        with_tracks = read_tracks(request, reading)
        alphabet = request.alphabet or next((kernel.alphabet for kernel in kernels if kernel.alphabet), None)
        two_classes = _two_classes(request) and not several
        if several:
            entry = _several_entry(training, several)
        elif request.states is not None:
            entry = _states_entry(request) | {"alphabet": "protein"}
        else:
            entry = _sequences_entry(training, two_classes)
        entry |= {"alphabet": alphabet} if alphabet else {}
        entry |= {"views": {**entry.get("views", {}), **training.views}} if several or training.views else {}
        dataset = _made(training, entry, lambda made: None if several else _check_classes(request, made, two_classes))
        check_probabilities(request, dataset.task().labels)
        X = with_tracks(cast("SequenceSet", dataset.X))
    log_counts(dataset.X.counts, source)
    log_background(dataset.notes)
    log_similar_classes(dataset.task().labels, _label_source(request))
    return Input(dataset, X, source, entry)


def _label_source(request: MethodRequest) -> str:
    """Return the files of the labels, for messages."""
    return ", ".join(given_files(request)) if request.labels in (None, "header", "first-word") else str(request.labels)


def _reads_annotation(request: MethodRequest) -> Kernel:
    """Return a kernel of the portfolio that reads the tracks auto may use: the annotation, if given."""
    # imported here: a training loads no other kernel than its own
    from seqkern.kernels.kmer.pairs import GappyPairKernel

    return GappyPairKernel(annotation="annotation") if request.track else GappyPairKernel()


def _made(
    training: Training, entry: Mapping[str, Any], check: Callable[[Dataset], None] = lambda made: None
) -> Dataset:
    """Return the Dataset of an entry, made again for regression if its labels are numbers and no solver was given."""
    request = training.request
    make = partial(make_dataset, "train", seed=request.seed, n_threads=request.threads)
    dataset = make(entry)
    if request.states is not None:
        return dataset
    check(dataset)
    labels = dataset.task().labels
    if not are_numbers(labels):
        return _averaged(request, dataset)
    if not training.specs:
        log("the labels are numbers: regression")
        return _averaged(request, make({**entry, "labels": {**entry["labels"], "kind": "real"}}))
    refuse_numbers_as_classes(labels, _label_source(request))
    warn(
        f"the labels are {len(labels.classes)} different numbers, each a class for this solver; "
        "to learn numbers, choose --solver svr"
    )
    return dataset


def _averaged(request: MethodRequest, dataset: Dataset) -> Dataset:
    """Return a Dataset in which each of the equal sequences with different values occurs once, with their mean.

    Their number and the standard deviation of a replicate are printed. Places of a genome, tracks, folds and other
    vectors tell equal sequences apart.
    """
    X, task = dataset.X, dataset.task()
    y, placed = task.labels.y, task.labels.position is not None or task.labels.folds is not None
    if placed or task.labels.kind != "real" or not isinstance(X, SequenceSet) or request.track:
        return dataset
    rows = np.flatnonzero(task.labels.used())
    _, first, copy = np.unique(distinct_sequences(X.take(rows))[0], return_index=True, return_inverse=True)
    counts = np.bincount(copy)
    means = np.bincount(copy, y[rows]) / counts
    squares = np.bincount(copy, (y[rows] - means[copy]) ** 2)
    several = (counts > 1) & (squares > 0)
    vectors = (vectors_of(X, name)[rows] for name in vector_views(X))
    if not several.any() or any((own != own[first][copy]).any() for own in vectors):
        return dataset
    deviation = np.sqrt(squares[several].sum() / (counts[several] - 1).sum())
    what = "sequence" if request.variants is None else "variant"
    what += " has" if several.sum() == 1 else "s have"
    log(
        f"replicates: {int(several.sum()):,} {what} different values in {int(counts[several].sum()):,} records; their "
        f"means are used (standard deviation of a replicate: {deviation:.3g})"
    )
    averaged, kept = y.copy(), np.ones(len(y), dtype=bool)
    averaged[rows] = np.where(several[copy], means[copy], y[rows])
    kept[rows] = ~several[copy] | (rows == rows[first][copy])
    labels = replace(task.labels, y=averaged).take(kept)
    return replace(dataset, X=X.take(kept), tasks={task.name: replace(task, labels=labels)})


# The entries of data sets, as a configuration has them.


def _labels_entry(training: Training, *, needed: bool, columns: Sequence[str] = ()) -> dict[str, Any]:
    """Return the entry of labels, with the groups and folds of their table or the `columns` of that of the sequences.

    Unless labels are `needed`, a solver without labels gets none.
    """
    request, solvers = training.request, training.solvers
    options = {"label": request.label_field} | real_labels(solvers)
    if request.labels in ("header", "first-word"):
        options["from"] = request.labels.replace("-", "_")
    elif request.labels:
        columns = check_label_column(request.labels, request.label_field)
        options |= {"from": "tsv", "file": request.labels}
    elif not needed and _need_no_labels(solvers):
        options["kind"] = "none"
    options |= {name: name for name in ("group", "fold") if name in columns and name != request.label_field}
    return options | ({"positive": request.positive} if request.positive else {})


def _several_entry(training: Training, several: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of samples with several sequences."""
    request = training.request
    similar = {} if request.similar_by is None else {"similar_by": request.similar_by.split(",")}
    of_table = not request.labels and "table" in several and request.fasta[0] != "-" and request.variants is None
    columns = read_cells(request.fasta[0])[0] if of_table else ()
    return {**several, "labels": _labels_entry(training, needed=False, columns=columns), **request.policies, **similar}


def _variants_entry(request: MethodRequest) -> dict[str, Any]:
    """Return the data-set keys of variants, similar ones by their reference."""
    width = {} if request.width is None else {"width": request.width}
    return {"table": {"file": request.variants, "genome": request.genome, **width}, "similar_by": [ALLELES[1]]}


def _states_entry(request: MethodRequest) -> dict[str, Any]:
    """Return the entry of chains and their states."""
    request.refuse("needs --labels header or a table", "label_field")
    window = str(WINDOW if request.window is None else request.window)
    if whole_number(window) is None:
        raise ParameterError(
            f"--window {window} does not work with --states",
            remedy="give an odd number of residues, such as --window 15",
        )
    together = len(request.fasta) == 1 and is_one_file(request.fasta[0], request.states)
    labels = {"from": "states"} | ({} if together else {"file": request.states})
    return {
        "fasta": request.fasta,
        "labels": labels | ({"positive": request.positive} if request.positive else {}),
        "residues": {"window": int(window)} | ({"reduction": request.reduction} if request.reduction else {}),
        **request.policies,
        **_profiles(request),
    }


def _two_classes(request: MethodRequest) -> bool:
    """Return whether the sequences of two classes are given as two files."""
    return len(request.fasta) == 2 and not request.labels and request.sites in (None, "header")


def _profiles(request: MethodRequest) -> dict[str, Any]:
    """Return the key of an entry about profiles, if any."""
    keys = request.profile_keys
    return {"profiles": keys} if keys else {}


def _sequences_entry(training: Training, two_classes: bool) -> dict[str, Any]:
    """Return the entry of labelled FASTA files, or of one unlabelled file for solvers that need no labels."""
    request = training.request
    if request.labels is None and request.sites is None:
        request.refuse("needs --labels header or a table", "label_field")
    check_twice([*request.fasta, *([] if request.unlabelled is None else [request.unlabelled])])
    by_site = request.sites not in (None, "header")
    if by_site and request.labels == request.sites:
        raise LabelError(
            "the labels of sites come from the table of sites", file=request.labels, remedy="remove --labels"
        )
    alone = len(request.fasta) == 1 and not by_site and request.background is None
    if alone and not request.labels and not _need_no_labels(training.solvers):
        remedy = "give the negatives as a second file, or add --labels (header, first-word or a table)"
        if request.has("genome") or named_as_bed(request.fasta[0]):
            genome = "" if request.has("genome") else "--genome FASTA and "
            remedy = f"add {genome}--background to draw negatives that match, or give a second BED file"
        elif "states" in (request.typed or type(request)).declarations():
            remedy += (
                ", --sites TABLE, --states FILE, or --sequences COLUMNS for a table of sequences; or choose solver "
                "one_class_svm, which learns from the positives only"
            )
        raise LabelError("no labels given", file=request.fasta[0], remedy=remedy)
    return {
        "fasta": _files(request, two_classes),
        "labels": _labels_entry(training, needed=not alone),
        **request.policies,
        **request.window_keys,
        **request.region_keys,
        **_profiles(request),
    }


def _table_entry(training: Training, *, missing: bool) -> dict[str, Any]:
    """Return the entry of a feature table, whose labels are in one of its columns or in a separate table."""
    request = training.request
    request.refuse(OF_TABLE, *POLICIES, "alphabet")
    if request.labels in ("header", "first-word"):
        raise LabelError(
            f"a feature table has no {request.labels} to take labels from",
            file=request.fasta[0],
            remedy="remove --labels to use a column of the table (--label-field), or give a table of labels",
        )
    if not request.labels:
        check_label_column(request.fasta[0], request.label_field, exact=True)
    labels = _labels_entry(training, needed=True)
    return {"features": request.fasta[0], "labels": labels, "missing": "keep" if missing else "error"}


def check_label_column(path: str, column: str, *, exact: bool = False) -> Sequence[str]:
    """Return the columns of the labels' file, none of a pipe; raise LabelError if it is FASTA or lacks that of labels.

    In a feature table the name must match exactly (`exact`), because another column may be a feature.
    """
    if path == "-":
        return ()
    if holds_fasta(path):
        raise LabelError(
            "is FASTA, not a table",
            file=path,
            remedy="give a table with the columns id and label; for FASTA use --labels header to read labels from "
            "headers",
        )
    columns = read_cells(path)[0]
    if len(columns) == 1 and len(columns[0].replace("|", " ").split()) > 1:
        raise LabelError(
            f"has one column, {columns[0][:40]!r}",
            file=path,
            remedy="separate the cells by tabs, commas or semicolons, not by spaces or |",
        )
    if (column if exact else label_column(columns, column)) not in columns:
        raise no_column(column, columns, path)
    return columns


def check_probabilities(request: MethodRequest, labels: Labels) -> None:
    """Raise ParameterError for probabilities or a threshold with more than two states."""
    wanted = request.calibration or request.threshold not in (None, PLAIN)
    if request.states is None or labels.kind != "multiclass" or not wanted:
        return
    name = "calibration" if request.calibration else "threshold"
    layers = ", and add --layers probabilities for the probabilities of all states" if request.calibration else ""
    raise ParameterError(
        f"--{name} needs two classes, but there are {len(labels.classes)} states: {', '.join(labels.classes)}",
        remedy=f"remove --{name}{layers}; or train one state against the others: --positive {labels.classes[0]}",
    )


def log_fewer_folds(request: MethodRequest, labels: Labels) -> None:
    """Print a note on standard error if there are fewer inner folds than requested."""
    used = labels.used()
    y = np.zeros(len(labels)) if labels.kind in ("real", "none") else labels.y
    groups = np.arange(len(labels)) if labels.groups is None else labels.groups
    fewest = min(len(np.unique(groups[used & (y == code)])) for code in np.unique(y[used]))
    if request.inner_folds is not None and request.inner_folds > fewest:
        of = "the smallest class has" if labels.kind in ("binary", "multiclass") else "there are"
        what = "samples" if labels.groups is None else "groups of samples"
        asked = f"{request.flag('inner_folds')} {request.inner_folds}"
        log(f"{asked}: at most {fewest} inner folds, since {of} {fewest} {what}")


def _files(request: MethodRequest, two_classes: bool) -> Any:
    """Return the FASTA files of the data set: one for each of two classes, optionally with unlabelled records."""
    if not two_classes and request.unlabelled is None and request.background is None:
        return request.fasta
    files = dict(zip(file_names(request.fasta), request.fasta, strict=True))
    return files if request.unlabelled is None else files | {UNLABELLED_FILE: request.unlabelled}


def _check_unlabelled(request: MethodRequest) -> None:
    """Raise an error for unlabelled records without class files."""
    if request.unlabelled is None:
        return
    if len(request.fasta) < 2 or request.labels or request.states or request.sites or request.background is not None:
        raise ParameterError(
            "--unlabelled needs one file for each class", remedy="remove it; in a table leave the label empty"
        )
    names = set(file_names(request.fasta))
    if len(names) < len(request.fasta) or UNLABELLED_FILE in names:
        raise ParameterError("the names of the files do not distinguish the classes", remedy="rename the files")


def _check_classes(request: MethodRequest, dataset: Dataset, two_classes: bool) -> None:
    """Raise an error for class sequences that are clearly a mistake."""
    files = _files(request, two_classes) if two_classes else {}
    check_genome(dataset, files)
    if not request.alphabet:
        check_kinds(dataset, files)
    if two_classes and not (
        request.track or request.view or request.profile_keys
    ):  # which may tell equal sequences apart
        check_same(dataset, files)


def real_labels(solvers: Sequence[Solver]) -> dict[str, str]:
    """Return the label kind for solvers that learn only numbers; empty for others."""
    return {"kind": "real"} if solvers and all(set(solver.targets) == {"real"} for solver in solvers) else {}


def _need_no_labels(solvers: Sequence[Solver]) -> bool:
    """Return whether all solvers can learn without labels."""
    return bool(solvers) and all("none" in solver.targets for solver in solvers)
