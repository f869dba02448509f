"""The input of ``seqkern train`` and ``seqkern cv``: arguments, and the method and data that they describe."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from seqkern.cli.common import (
    add_layers,
    add_postprocessing,
    add_sequence_arguments,
    add_threads,
    add_tracks,
    add_windows,
    check_label_column,
    log_counts,
    policies_of,
    profiles_of,
    read_tracks,
    refuse_unused,
    table_dataset,
    windows_of,
)
from seqkern.cli.regions import add_regions, log_background, regions_of
from seqkern.cli.several_sequences import check_names, given_files, sequence_files, several_entry, views_of
from seqkern.cli.wrong_files import check_genome, check_kinds, check_same, check_twice
from seqkern.core.checks import whole_number
from seqkern.core.errors import ParameterError
from seqkern.core.text_files import is_one_file
from seqkern.solvers.thresholds import PLAIN

if TYPE_CHECKING:
    from seqkern.evaluation.selection import Candidate
    from seqkern.kernels.kernel import Kernel
    from seqkern.methods.fitted import Search
    from seqkern.methods.method import Method
    from seqkern.methods.sources import Samples
    from seqkern.sequences.labels import Labels
    from seqkern.sequences.sequence_set import SequenceSet
    from seqkern.sequences.windows import Window
    from seqkern.solvers.contract import Solver
    from seqkern.study.dataset import Dataset
    from seqkern.study.kernel_entries import AnyKernel, KernelEntry


# ``seqkern train`` for states of residues.

REDUCTIONS = ("HGI_EB", "HGI_E", "HG_EB", "H_EB", "H_E", "frishman_argos")
"""Names in `seqkern.formats.states`, listed here to keep ``--help`` fast."""


def check_layers(args: argparse.Namespace) -> None:
    """Raise an error for residue options without states, and for options that do not work with states."""
    if args.states is None:
        for name, value in (("layers", args.layers), ("reduction", args.reduction)):
            if value:
                raise ParameterError(f"--{name} needs --states", remedy=f"add --states, or remove --{name}")
        return
    # imported here to keep --help fast
    from seqkern.solvers.layers.chain import Layers

    others = {"labels": args.labels, "sites": args.sites, "format": getattr(args, "format", "seqkern") != "seqkern"}
    for name, value in others.items():
        if value:
            raise ParameterError(f"--{name} does not work with --states", remedy="remove one of them")
    for text in args.layers:
        if _joined(text):
            raise ParameterError(
                f"--layers {text!r}: a comma separates parameters of one layer",
                remedy="separate layers by spaces: --layers structure segments probabilities",
            )
    args.layers = Layers(args.layers).specs()


def _joined(text: str) -> bool:
    """Return whether a text holds several layers separated by commas."""
    # imported here to keep --help fast
    from seqkern.solvers.layers.chain import LAYERS

    if text.lstrip().startswith(("[", "{")):  # JSON
        return False
    names = [word.strip().partition(":")[0] for word in text.split(",")[1:]]
    return text.endswith(",") or any(name in LAYERS.names for name in names)


def check_probabilities(args: argparse.Namespace, labels: Labels) -> None:
    """Raise ParameterError for probabilities or a threshold with more than two states."""
    wanted = args.calibration or args.threshold not in (None, PLAIN)
    if args.states is None or labels.kind != "multiclass" or not wanted:
        return
    name = "calibration" if args.calibration else "threshold"
    layers = ", and add --layers probabilities for the probabilities of all states" if args.calibration else ""
    raise ParameterError(
        f"--{name} needs two classes, but there are {len(labels.classes)} states: {', '.join(labels.classes)}",
        remedy=f"remove --{name}{layers}; or train one state against the others: --positive {labels.classes[0]}",
    )


def states_entry(args: argparse.Namespace, alphabet: Any) -> dict[str, Any]:
    """Return the data-set entry of chains and their states."""
    # imported here to keep --help fast
    from seqkern.formats.residues import WINDOW

    window = str(WINDOW if args.window is None else args.window)
    if whole_number(window) is None:
        raise ParameterError(
            f"--window {window} does not work with --states",
            remedy="give an odd number of residues, such as --window 15",
        )
    residues = {"window": int(window)} | ({"reduction": args.reduction} if args.reduction else {})
    together = len(args.fasta) == 1 and is_one_file(args.fasta[0], args.states)
    labels = {"from": "states"} | ({} if together else {"file": args.states})
    entry = {
        "fasta": args.fasta,
        "labels": labels | ({"positive": args.positive} if args.positive else {}),
        "residues": residues,
        **policies_of(args),
        "alphabet": args.alphabet or alphabet or "protein",
    }
    if profiles_of(args):
        entry["profiles"] = profiles_of(args)
    return entry


# Notes on standard error about labels that are probably a mistake.


def log_unlabelled(dataset: Dataset, source: str, learned: bool | None = False, reason: str = "") -> None:
    """Print the number and treatment of unlabelled records, and the first one.

    `learned` says whether the solver learns from them too, None if unknown. Nothing is printed for several tasks,
    each of
    which leaves records out, or for residues.
    """
    if len(dataset.tasks) != 1 or dataset.residues is not None:
        return
    labels = dataset.task().labels
    missing = [name for name, used in zip(labels.ids, labels.used().tolist(), strict=True) if not used]
    if missing:
        count = "1 record" if len(missing) == 1 else f"{len(missing)} records"
        first = repr(missing[0]) if len(missing) == 1 else f"{missing[0]!r}, …"
        what = {
            True: "in every training set",
            False: f"left out{reason and f', since {reason}'}",
            None: "left out, but for solvers that learn from them",
        }
        print(f"seqkern: {source}: {count} without a label {what[learned]}: {first}", file=sys.stderr)


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
            print(
                f"seqkern: warning: {source}: the classes {other!r} and {name!r} differ only in case; if they are one "
                "class, write them alike",
                file=sys.stderr,
            )


def is_auto_text(text: str) -> bool:
    """Return whether a kernel is given as ``auto``, or as JSON with this name."""
    # imported here to keep --help fast
    from seqkern.kernels.kernel_specs import parse_spec
    from seqkern.study.kernel_entries import is_auto

    return is_auto(parse_spec(text) if text.lstrip().startswith("{") else text)


def add_input(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for the samples, the kernel and the solver."""
    parser.add_argument(
        "fasta",
        nargs="*",
        help="two files (positives, negatives), one file per class, one file with --labels, or one unlabelled file for "
        "a solver without labels (one_class_svm, kernel_pca); FASTA, or BED with --genome; or one table with "
        "--sequences; none with --view NAME=FASTA",
    )
    parser.add_argument(
        "--kernel",
        default="auto",
        help="kernel, such as spectrum:k=3, or as JSON; with alternatives, spectrum:k=3|4|6, the best is chosen; auto "
        "chooses from a portfolio that suits the sequences (default); seqkern kernels lists the kernels",
    )
    parser.add_argument(
        "--solver",
        help="solver, such as csvc:C=1; with --search also csvc:C=0.1|1|10; seqkern solvers lists the solvers "
        "(default: a C-SVM, or support vector regression, with its parameters searched)",
    )
    parser.add_argument(
        "--transform",
        action="append",
        default=[],
        help="transform of the features, such as pca:n_components=5, or of the kernel matrix, such as centre; "
        "repeatable",
    )
    parser.add_argument(
        "--repair",
        help="treatment of negative eigenvalues of the kernel matrix, after the transforms: none, clip, flip, "
        "shift or empirical_map",
    )


def add_labels(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for the labels of samples, or the states of residues."""
    labels = parser.add_argument_group("labels")
    labels.add_argument(
        "--labels",
        metavar="WHERE",
        help="source of the labels: header (a field label=…), first-word (of each header), or a TSV with the "
        "columns id and label",
    )
    labels.add_argument(
        "--label-field", metavar="NAME", default="label", help="name of that field or column (default: label)"
    )
    labels.add_argument(
        "--unlabelled",
        metavar="FILE",
        help="records without a label, beside one file for each class, for a solver that learns from them "
        "(label_propagation, transductive_svc); with --labels leave their labels empty instead",
    )
    labels.add_argument("--positive", metavar="CLASS", help="train this class against all others")
    states = parser.add_argument_group("states of residues, such as helix, strand and coil")
    states.add_argument(
        "--states",
        metavar="FILE",
        help="state of each residue: FASTA with states in place of residues, matched by id; or residues and states "
        "together "
        "(a line >id, residues, states), possibly the file of sequences itself. Each residue is classified by the "
        "window around it (--window N, an odd number of residues; default: 15)",
    )
    states.add_argument(
        "--reduction",
        metavar="NAME",
        help="reduction of DSSP's eight states to three, named by the letters that become helix and strand: "
        + ", ".join(REDUCTIONS),
    )
    add_layers(states)


def add_search(parser: argparse.ArgumentParser, option: str) -> None:
    """Add the arguments for the choice of hyperparameters, for probabilities and the threshold."""
    search = parser.add_argument_group("hyperparameters, probabilities and threshold")
    search.add_argument(
        "--search",
        action="store_true",
        help="choose hyperparameters by cross-validation within the training set: among the alternatives in --kernel "
        "and --solver, and the default grids for omitted parameters",
    )
    search.add_argument(
        "--time",
        metavar="T",
        help="with --kernel auto: predicted CPU time for choosing, in all folds, such as 90s or 2h (default: 10m)",
    )
    search.add_argument(
        "--draws",
        type=int,
        metavar="N",
        help="search N random candidates instead of all; parameters may then be ranges, such as C=0.01..100",
    )
    search.add_argument(
        "--rule",
        choices=("best", "one_standard_error"),
        help="choose the best candidate, or the simplest within one standard error of it (default: best)",
    )
    search.add_argument(
        option, dest="inner_folds", type=int, metavar="N", help="folds of this cross-validation (default: 5)"
    )
    search.add_argument(
        "--metric",
        help="metric to maximise (default: auc; several classes: macro_auc; regression: r2); for residue states "
        "accuracy is Q3, also available as q3 or q8; span, xi_alpha and radius_margin estimate the leave-one-out error "
        "of a C-SVM of two classes by one fit, without folds",
    )
    search.add_argument("--seed", type=int, default=1, help="seed of all folds (default: 1)")
    search.add_argument(
        "--allow-similar",
        action="store_true",
        help="allow similar sequences in different folds, which makes scores too good (default: kept together)",
    )
    search.add_argument(
        "--similar-by",
        metavar="NAMES",
        help="of samples with several sequences, those by which samples count as similar, separated by commas "
        "(default: all)",
    )
    add_postprocessing(search)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for reading files, for windows and tracks, and for resources."""
    add_sequence_arguments(parser)
    add_windows(parser)
    add_regions(parser, background=True)
    add_tracks(parser)
    work = parser.add_argument_group("resources")
    work.add_argument("--memory", metavar="SIZE", help="memory limit, such as 2GB (default: half of what is left)")
    work.add_argument(
        "--gram",
        nargs="+",
        default=[],
        metavar="NPY",
        help="keep the Gram matrix on disk, for more samples than memory holds: the file is made, or used if it is of "
        "these samples and this kernel; several files for several matrices",
    )
    add_threads(work)


class Input(NamedTuple):
    """The training input of a method: the samples and labels as read, and `X`, the samples with all tracks."""

    dataset: Dataset  # The samples, without tracks that were read from other files, and their labels
    X: Samples  # The samples with all tracks
    source: str  # The files, for messages

    @property
    def labels(self) -> Labels:
        """The labels of the labelled samples."""
        labels = self.dataset.task().labels
        return labels.take(labels.used())

    @property
    def window(self) -> Window | None:
        """The window around the sites, if windows were cut."""
        # imported here to keep --help fast
        from seqkern.sequences.windows import as_window

        window = self.dataset.notes.get("window")
        return None if window is None else as_window(window)


@dataclass(frozen=True)
class TrainingRequest:
    """The method that the arguments describe, parsed once, and checked as far as possible without data."""

    args: argparse.Namespace
    kernel: AnyKernel
    entries: Sequence[KernelEntry]  # The kernel, or several to choose from; none for auto
    views: Mapping[str, Any]  # The entry of the views that the kernel reads; for auto, all views given
    method: Method | None  # None if kernel or solver depend on the data: then `chosen_method` returns it

    @cached_property
    def specs(self) -> Sequence[dict[str, Any]]:
        """The specifications of the solver; empty if the labels determine the choice."""
        if self.method is not None:
            return self.method.specs
        # imported here to keep --help fast
        from seqkern.study.solver_entries import SolverEntry

        solver, ranges = self.args.solver, self.args.draws is not None
        return () if solver is None else SolverEntry.parse(solver, ranges=ranges).specs

    @cached_property
    def solvers(self) -> Sequence[Solver]:
        """The solvers of the specifications, not fitted."""
        # imported here to keep --help fast
        from seqkern.solvers.solver_specs import build_solver

        return [build_solver(spec) for spec in self.specs] if self.method is None else self.method.solvers


def read_request(args: argparse.Namespace, inner: str) -> TrainingRequest:
    """Return the request that the arguments make; `inner` is the option that counts the inner folds."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError
    from seqkern.core.progress import parse_duration
    from seqkern.evaluation.held_out import check_postprocessing
    from seqkern.study.kernel_entries import AutoKernel, read_kernel

    check_layers(args)
    check_postprocessing(args.calibration, args.threshold, args.layers)
    kernel = read_kernel(args.kernel)
    auto = isinstance(kernel, AutoKernel)
    if args.time is not None:
        parse_duration(args.time)
        if not auto:
            raise ParameterError("--time needs --kernel auto", remedy="remove --time, or --kernel")
    useless = [option for option in ("transform", "repair", "states") if auto and getattr(args, option)]
    if useless:
        raise ParameterError(
            f"--{useless[0]} does not work with --kernel auto", remedy="name a kernel; seqkern kernels lists them"
        )
    if auto and args.draws is not None:
        raise ParameterError("--draws does not work with --kernel auto", remedy="remove --draws, or name a kernel")
    _check_search(args, 2 if auto else len(kernel.candidates), inner)
    entries = _transformed(args, kernel.candidates)
    views = _views(args, entries)  # complains about missing ones before any file is read
    method = None if auto or args.solver is None else _method(args, entries, args.solver)
    return TrainingRequest(args, kernel, entries, views, method)


def chosen_method(request: TrainingRequest, given: Input, n_choices: int) -> Method:
    """Return the method; a kernel or solver that was not given is chosen to suit the data.

    What happens to unlabelled records is printed on standard error.
    """
    args, method = request.args, _suiting(request, given, n_choices)
    learned = method.accepts_unlabelled
    source = _label_source(args) if args.unlabelled is None else args.unlabelled
    log_unlabelled(given.dataset, source, learned, "" if learned else why_left_out(method))
    return method


def _suiting(request: TrainingRequest, given: Input, n_choices: int) -> Method:
    """Return the given method, or one that suits the data."""
    # imported here to keep --help fast
    from seqkern.evaluation.auto import LARGE_SOLVER, default_solver, kernel_grid, traits_of
    from seqkern.methods.training import automatic_method
    from seqkern.sequences.sequence_set import SequenceSet
    from seqkern.solvers.solver_specs import build_solver
    from seqkern.study.kernel_entries import AutoKernel

    args, kernel = request.args, request.kernel
    labels = given.dataset.task().labels
    if isinstance(kernel, AutoKernel):
        solver = args.solver or default_solver(labels.kind, len(given.X))
        return automatic_method(
            given.X,
            real=labels.kind == "real",
            entry=kernel if args.time is None else AutoKernel.parse({"kernel": "auto", "time": args.time}),
            solver=solver,
            search=_search(args, solver),
            n_choices=n_choices,
            calibration=args.calibration,
            threshold=_threshold(args),
        )
    entries = request.entries
    if searches(args) and len(entries) == 1 and isinstance(given.X, SequenceSet):
        grid = kernel_grid(kernel.candidates[0].given, traits_of(given.X))
        entries = _transformed(args, _named(grid)) if len(grid) > 1 else entries
    elif request.method is not None:
        return request.method
    accepts_operator = build_solver(LARGE_SOLVER).traits.operator
    implicit = all(entry.gives("implicit", accepts_operator) for entry in entries)
    return _method(args, entries, args.solver or default_solver(labels.kind, len(given.X), implicit))


def _search(args: argparse.Namespace, solver: str) -> Search:
    """Return the rule for choosing one of several candidates."""
    # imported here to keep --help fast
    from seqkern.methods.fitted import Search
    from seqkern.solvers.solver_specs import Free

    folds = 5 if args.inner_folds is None else args.inner_folds
    free = Free.of(solver) if searches(args) and args.draws is None else Free()
    return Search(folds, args.metric or "auto", args.seed, args.rule or "best", free)


def _threshold(args: argparse.Namespace) -> str | None:
    """Return the rule for the threshold; the LS-GKM format does not store one."""
    # imported here to keep --help fast
    from seqkern.solvers.thresholds import PLAIN

    return PLAIN if getattr(args, "format", None) == "lsgkm" else args.threshold


def _method(args: argparse.Namespace, entries: Sequence[KernelEntry], solver: str) -> Method:
    """Return the method of some kernels and a solver."""
    # imported here to keep --help fast
    from seqkern.methods.method import Method

    return Method(
        {entry.name: entry.kernel for entry in entries},
        _candidates(args, [entry.name for entry in entries], solver),
        transforms={entry.name: entry.transforms for entry in entries},
        layers=args.layers,
        calibration=args.calibration,
        threshold=_threshold(args),
        search=_search(args, solver),
    )


def read_input(request: TrainingRequest) -> Input:
    """Return the samples and labels that the arguments describe."""
    args = request.args
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError
    from seqkern.kernels.kernel_specs import check_kind

    if args.labels == "first-word":
        refuse_unused(args, "does not work with --labels first-word", {"label_field": "label"})
    kernels = [entry.kernel for entry in request.entries]
    _check_unlabelled(args)
    several = several_entry(args)
    if not args.fasta and not several:
        raise ParameterError("no sequences given", remedy="give FASTA files, or --view NAME=FASTA for each sequence")
    if args.similar_by is not None and not several:
        raise ParameterError("--similar-by needs several sequences", remedy="remove it, or add --sequences")
    source = ", ".join(given_files(args))
    of_table = not several and bool(kernels) and kernels[0].accepts == "features" and len(args.fasta) == 1
    for kernel in kernels:
        check_kind(kernel, "features" if of_table else "sequences", file=source)
    if of_table:
        missing = all(kernel.accepts_missing for kernel in kernels)
        dataset = table_dataset(args, real_labels(request.solvers), missing=missing)
        dataset = _as_regression(dataset, request, lambda kind: table_dataset(args, kind, missing=missing))
        X: Samples = dataset.X
    else:
        reading = max(kernels, key=lambda kernel: len(kernel.tracks)) if kernels else _reads_annotation(args)
        with_tracks = read_tracks(args, reading)
        alphabet = next((kernel.alphabet for kernel in kernels if kernel.alphabet), None)
        dataset = _several(request, several, alphabet) if several else _dataset(request, alphabet)
        check_probabilities(args, dataset.task().labels)
        X = with_tracks(cast("SequenceSet", dataset.X))
    log_counts(dataset.X.counts, source)
    log_background(dataset.notes)
    log_similar_classes(dataset.task().labels, _label_source(args))
    return Input(dataset, X, source)


def _label_source(args: argparse.Namespace) -> str:
    """Return the files of the labels, for messages."""
    return ", ".join(given_files(args)) if args.labels in (None, "header", "first-word") else str(args.labels)


def _views(args: argparse.Namespace, entries: Sequence[KernelEntry]) -> dict[str, Any]:
    """Return the entry of the views that the kernels read; without kernels, all views given."""
    kernels = [entry.kernel for entry in entries]
    for kernel in kernels:
        check_names(args, kernel.sequence_views)
    if kernels:
        return views_of(args, max(kernels, key=lambda kernel: len(kernel.views) - len(kernel.sequence_views)))
    sequences = sequence_files(args)
    return {name: file for name, file in args.view if name not in sequences}


def _reads_annotation(args: argparse.Namespace) -> Kernel:
    """Return a kernel of the portfolio that reads the tracks auto may use: the annotation, if given."""
    # imported here to keep --help fast
    from seqkern.kernels.kmer.pairs import GappyPairKernel

    return GappyPairKernel(annotation="annotation") if args.track else GappyPairKernel()


def searches(args: argparse.Namespace) -> bool:
    """Return whether hyperparameters are searched: on request, or because they were left out."""
    return bool(args.search) or args.draws is not None or args.solver is None or is_auto_text(args.kernel)


def _named(specs: Sequence[Mapping[str, Any]]) -> Sequence[KernelEntry]:
    """Return kernels to choose from, named by their text."""
    # imported here to keep --help fast
    from seqkern.kernels.kernel_specs import kernel_text
    from seqkern.study.kernel_entries import KernelEntry

    entries = [KernelEntry.parse(spec) for spec in specs]
    return [replace(entry, name=kernel_text(entry.kernel)) for entry in entries]


def _transformed(args: argparse.Namespace, entries: Sequence[KernelEntry]) -> Sequence[KernelEntry]:
    """Return the kernels with the transforms and the repair of the arguments."""
    if not (args.transform or args.repair):
        return entries
    # imported here to keep --help fast
    from seqkern.study.kernel_entries import KernelEntry

    more = {"transforms": args.transform, "repair": args.repair}
    return [KernelEntry.parse(entry.given, entry.name, **more) for entry in entries]


def _check_search(args: argparse.Namespace, kernels: int, inner: str) -> None:
    """Raise ParameterError for a search option without a search."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError

    if searches(args) or kernels > 1:
        return
    useless = [name for name in ("rule", "metric") if getattr(args, name) is not None]
    if args.inner_folds is not None and not (args.calibration or args.threshold or args.layers):
        useless.append(inner.lstrip("-"))
    if useless:
        others = ", --calibration, --threshold or --layers" if useless == [inner.lstrip("-")] else ""
        raise ParameterError(f"--{useless[0]} needs a search{others}", remedy=f"add --search, or remove --{useless[0]}")


def log_fewer_folds(args: argparse.Namespace, labels: Labels, option: str) -> None:
    """Print a note on standard error if there are fewer inner folds than requested."""
    # imported here to keep --help fast
    import numpy as np

    used = labels.used()
    y = np.zeros(len(labels)) if labels.kind in ("real", "none") else labels.y
    groups = np.arange(len(labels)) if labels.groups is None else labels.groups
    fewest = min(len(np.unique(groups[used & (y == code)])) for code in np.unique(y[used]))
    if args.inner_folds is not None and args.inner_folds > fewest:
        of = "the smallest class has" if labels.kind in ("binary", "multiclass") else "there are"
        what = "samples" if labels.groups is None else "groups of samples"
        print(
            f"seqkern: {option} {args.inner_folds}: at most {fewest} inner folds, since {of} {fewest} {what}",
            file=sys.stderr,
        )


def _candidates(args: argparse.Namespace, kernels: Sequence[str], given: str) -> list[Candidate]:
    """Return the candidates: names of kernels with specifications of solvers."""
    # imported here to keep --help fast
    from seqkern.solvers.solver_specs import build_solver
    from seqkern.study.solver_entries import SolverEntry

    if not searches(args):
        spec = build_solver(given).spec()
        return [(name, spec) for name in kernels]
    solver = SolverEntry.parse(given, ranges=args.draws is not None, defaults=True)
    return solver.candidates(kernels, args.draws, args.seed)


def _dataset(request: TrainingRequest, alphabet: Any) -> Dataset:
    """Return the Dataset of labelled FASTA files, or of one unlabelled file for solvers that need no labels."""
    args, solvers = request.args, request.solvers
    # imported here to keep --help fast
    from seqkern.core.errors import LabelError
    from seqkern.study.dataset import make_dataset

    if args.labels is None and (args.states is not None or args.sites is None):
        refuse_unused(args, "needs --labels header or a table", {"label_field": "label"})
    if args.states is not None:
        entry = states_entry(args, alphabet)
        if request.views:
            entry["views"] = request.views
        return make_dataset("train", entry, n_threads=args.threads)
    check_twice([*args.fasta, *([] if args.unlabelled is None else [args.unlabelled])])
    options, windows = {"label": args.label_field} | real_labels(solvers), windows_of(args)
    by_site = windows.get("sites", "header") != "header"
    if by_site and args.labels == args.sites:
        raise LabelError("the labels of sites come from the table of sites", file=args.labels, remedy="remove --labels")
    if args.labels in ("header", "first-word"):
        options["from"] = args.labels.replace("-", "_")
    elif args.labels:
        check_label_column(args.labels, args.label_field)
        options |= {"from": "tsv", "file": args.labels}
    elif len(args.fasta) == 1 and not by_site and args.background is None and _need_no_labels(solvers):
        options["kind"] = "none"
    elif len(args.fasta) == 1 and not by_site and args.background is None:
        raise LabelError(
            "no labels given",
            file=args.fasta[0],
            remedy="give the negatives as a second file, or add --labels (header, first-word or a table), --sites "
            "TABLE, --states FILE, or --sequences COLUMNS for a table of sequences; or choose solver one_class_svm, "
            "which learns from the positives only",
        )
    if args.positive:
        options["positive"] = args.positive
    two_classes = len(args.fasta) == 2 and not args.labels and not by_site
    entry = {
        "fasta": _files(args, two_classes),
        "labels": options,
        **policies_of(args),
        **windows,
        **regions_of(args),
    }
    if profiles_of(args):
        entry["profiles"] = profiles_of(args)
    if request.views:
        entry["views"] = request.views
    if args.alphabet or alphabet:
        entry["alphabet"] = args.alphabet or alphabet
    dataset = _made(args, entry)
    _check_classes(args, dataset, two_classes)
    return _as_regression(dataset, request, lambda kind: _made(args, entry, kind))


def _several(request: TrainingRequest, several: Mapping[str, Any], alphabet: Any) -> Dataset:
    """Return the Dataset of samples with several sequences."""
    args, solvers = request.args, request.solvers
    options = {"label": args.label_field} | real_labels(solvers)
    if args.labels in ("header", "first-word"):
        options["from"] = args.labels.replace("-", "_")
    elif args.labels:
        check_label_column(args.labels, args.label_field)
        options |= {"from": "tsv", "file": args.labels}
    elif _need_no_labels(solvers):
        options["kind"] = "none"
    if args.positive:
        options["positive"] = args.positive
    entry: dict[str, Any] = {**several, "labels": options, **policies_of(args)}
    entry["views"] = {**several.get("views", {}), **request.views}
    if args.similar_by is not None:
        entry["similar_by"] = args.similar_by.split(",")
    if args.alphabet or alphabet:
        entry["alphabet"] = args.alphabet or alphabet
    return _as_regression(_made(args, entry), request, lambda kind: _made(args, entry, kind))


def _made(
    args: argparse.Namespace, entry: Mapping[str, Any], kind: Mapping[str, str] = MappingProxyType({})
) -> Dataset:
    """Return the Dataset of an entry, optionally with another kind of labels."""
    # imported here to keep --help fast
    from seqkern.study.dataset import make_dataset

    more = {**entry, "labels": {**entry["labels"], **kind}}
    return make_dataset("train", more, seed=args.seed, n_threads=args.threads)


def _as_regression(dataset: Dataset, request: TrainingRequest, again: Callable[[dict[str, str]], Dataset]) -> Dataset:
    """Return a Dataset, rebuilt for regression if its labels are numbers and no solver was given."""
    # imported here to keep --help fast
    from seqkern.sequences.labels import are_numbers, refuse_numbers_as_classes

    labels = dataset.task().labels
    if not are_numbers(labels):
        return dataset
    if not request.specs:
        print("seqkern: the labels are numbers: regression", file=sys.stderr)
        return again({"kind": "real"})
    refuse_numbers_as_classes(labels, _label_source(request.args))
    print(
        f"seqkern: warning: the labels are {len(labels.classes)} different numbers, each a class for this solver; "
        "to learn numbers, choose --solver svr",
        file=sys.stderr,
    )
    return dataset


def _files(args: argparse.Namespace, two_classes: bool) -> Any:
    """Return the FASTA files of the data set: one for each of two classes, optionally with unlabelled records."""
    # imported here to keep --help fast
    from seqkern.study.data_entry import UNLABELLED_FILE

    if two_classes:
        files = dict(zip(("positive", "negative"), args.fasta, strict=True))
    elif args.unlabelled is None:
        return args.fasta
    else:
        files = {Path(file).name.split(".")[0]: file for file in args.fasta}
    return files if args.unlabelled is None else files | {UNLABELLED_FILE: args.unlabelled}


def _check_unlabelled(args: argparse.Namespace) -> None:
    """Raise an error for unlabelled records without class files."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError
    from seqkern.study.data_entry import UNLABELLED_FILE

    if args.unlabelled is None:
        return
    if len(args.fasta) < 2 or args.labels or args.states or args.sites or args.background is not None:
        raise ParameterError(
            "--unlabelled needs one file for each class", remedy="remove it; in a table leave the label empty"
        )
    stems = {Path(file).name.split(".")[0] for file in args.fasta}
    if len(args.fasta) > 2 and (len(stems) < len(args.fasta) or UNLABELLED_FILE in stems):
        raise ParameterError("the names of the files do not distinguish the classes", remedy="rename the files")


def _check_classes(args: argparse.Namespace, dataset: Dataset, two_classes: bool) -> None:
    """Raise an error for class sequences that are clearly a mistake."""
    files = args.fasta if two_classes else None
    check_genome(dataset, files)
    if not args.alphabet:
        check_kinds(dataset, files)
    if two_classes and not (args.track or args.view or profiles_of(args)):  # which may tell equal sequences apart
        check_same(dataset, args.fasta)


def real_labels(solvers: Sequence[Solver]) -> dict[str, str]:
    """Return the label kind for solvers that learn only numbers; empty for others."""
    return {"kind": "real"} if solvers and all(set(solver.targets) == {"real"} for solver in solvers) else {}


def _need_no_labels(solvers: Sequence[Solver]) -> bool:
    """Return whether all solvers can learn without labels."""
    return bool(solvers) and all("none" in solver.targets for solver in solvers)
