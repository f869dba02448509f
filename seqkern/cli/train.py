"""``seqkern train``: train a model from FASTA, in one file for `seqkern predict`."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from seqkern.cli.common import (
    add_afterwards,
    add_layers,
    add_sequence_arguments,
    add_threads,
    add_tracks,
    add_windows,
    naming_file,
    policies_of,
    read_tracks,
    tell_counts,
    windows_of,
)
from seqkern.cli.feature_tables import check_label_column, table_dataset
from seqkern.cli.profiles import profiles_of
from seqkern.cli.train_residues import REDUCTIONS, check_layers, check_probabilities, states_entry
from seqkern.cli.trained import commonest_at_sites, doubts, summary

if TYPE_CHECKING:
    from seqkern.datasets import Dataset
    from seqkern.kernels.kernel import Kernel
    from seqkern.models.feature_model import FeatureModel
    from seqkern.models.model import Model
    from seqkern.sequences.sequence_set import SequenceSet
    from seqkern.sequences.tables import Data

EXAMPLE = (
    "seqkern train donors.fasta --labels donors.tsv --kernel spectrum:k=5 --solver psvc:epsilon=0.1 --search"
    " -o model.seqkern"
)

MORE_EXAMPLES = (
    "seqkern train proteins.fasta --labels proteins.tsv --label-field superfamily --positive s1"
    " --kernel smith_waterman --repair empirical_map --solver csvc -o homologs.seqkern",
    "seqkern train proteins.fasta --labels proteins.tsv --label-field superfamily --kernel spectrum:k=3"
    " --solver 'one_against_rest:binary=(csvc:C=1)' -o superfamilies.seqkern",
    "seqkern train chains.fasta --states chains.states --window 15 --kernel 'nystroem:base=window'"
    " --solver primal_svc --layers structure probabilities -o states.seqkern",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of this verb.
    """
    parser.add_argument(
        "fasta",
        nargs="+",
        help="two files (positives, negatives), one file per class, one file with --labels, or one unlabelled file for "
        "a solver without labels (one_class_svm, kernel_pca)",
    )
    parser.add_argument(
        "--kernel", required=True, help="kernel, such as spectrum:k=3, or as JSON; seqkern kernels lists the kernels"
    )
    parser.add_argument(
        "--solver",
        required=True,
        help="solver, such as csvc:C=1; with --search also csvc:C=[0.1,1,10]; seqkern solvers lists the solvers",
    )
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="output file for the model")
    parser.add_argument(
        "--format",
        choices=("seqkern", "lsgkm"),
        default="seqkern",
        help="model format; lsgkm: as gkmpredict reads it, for a C-SVM with a gapped k-mer kernel (default: seqkern)",
    )
    parser.add_argument(
        "--features",
        metavar="FILE",
        help="also write the selected features, best first, for a solver that selects features such as "
        "psvc:kernel=features; with weights if the decision is a weighted sum of them, on the solver's scale",
    )
    parser.add_argument(
        "--transform",
        action="append",
        default=[],
        help="transform of the kernel matrix, such as centre; repeatable",
    )
    parser.add_argument(
        "--repair",
        help="treatment of negative eigenvalues of the kernel matrix, after the transforms: none, clip, flip, "
        "shift or empirical_map",
    )
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
    search = parser.add_argument_group("hyperparameters, probabilities and threshold")
    search.add_argument(
        "--search",
        action="store_true",
        help="choose hyperparameters by cross-validation: from the lists in --solver, and the default grid for "
        "omitted parameters",
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
    search.add_argument("--folds", type=int, metavar="N", help="number of folds (default: 5)")
    search.add_argument(
        "--metric",
        help="metric to maximise (default: auc; several classes: macro_auc; regression: r2); for residue states "
        "accuracy is Q3, also available as q3 or q8",
    )
    search.add_argument("--seed", type=int, default=1, help="seed of the folds (default: 1)")
    search.add_argument(
        "--allow-similar",
        action="store_true",
        help="allow similar sequences in different folds, which makes scores too good (default: kept together)",
    )
    add_afterwards(search)
    add_sequence_arguments(parser)
    add_windows(parser)
    add_tracks(parser)
    work = parser.add_argument_group("resources")
    work.add_argument("--memory", metavar="SIZE", help="memory limit, such as 2GB (default: half of the free memory)")
    add_threads(work)


def run(args: argparse.Namespace) -> None:
    """Run the verb.

    Parameters
    ----------
    args : Namespace
        The parsed arguments of `add_arguments`.
    """
    # imported here to keep --help fast
    from seqkern.core.archive import check_writable
    from seqkern.core.errors import ParameterError
    from seqkern.core.progress import progress_counter
    from seqkern.core.threads import given_threads
    from seqkern.evaluation.held_out import check_afterwards
    from seqkern.kernels import check_kind
    from seqkern.models.lsgkm import check_lsgkm, write_lsgkm
    from seqkern.models.residue_model import ResidueModel
    from seqkern.models.training import train_model
    from seqkern.solvers import common_input
    from seqkern.study.kernel_entries import KernelEntry

    if (args.calibration or args.threshold) and args.format == "lsgkm":
        raise ParameterError(
            "the LS-GKM format stores neither probabilities nor a threshold",
            remedy="remove --calibration and --threshold, or --format",
        )
    check_layers(args)
    check_afterwards(args.calibration, args.threshold, args.layers)
    _check_search(args)
    entry = KernelEntry.parse(args.kernel, transforms=args.transform, repair=args.repair)
    kernel, transforms = entry.kernel, entry.transforms
    grid = _grid(args)
    if args.features and common_input(grid) != "features":
        raise ParameterError(
            f"solver {grid[0]['solver']!r} selects no features",
            remedy="remove --features, or choose a solver that does, such as psvc:kernel=features",
        )
    source = ", ".join(args.fasta)
    of_table = kernel.accepts == "features" and len(args.fasta) == 1
    check_kind(kernel, "features" if of_table else "sequences", file=source)
    check_writable(args.output)
    if args.features:
        check_writable(args.features)
    if of_table:
        dataset = table_dataset(args)
        X: Data = dataset.X
    else:
        with_tracks = read_tracks(args, kernel)
        dataset = _dataset(args, kernel, grid)
        check_probabilities(args, dataset.task().labels)
        X = with_tracks(cast("SequenceSet", dataset.X))
    if args.format == "lsgkm":
        if dataset.residues is not None:
            raise ParameterError("the LS-GKM format cannot store a residue model", remedy="remove --format")
        check_lsgkm(kernel, grid, transforms, getattr(X, "alphabet", None), dataset.task().labels.kind)
    tell_counts(dataset.X.counts, source)
    with (
        naming_file(source),
        given_threads(args.threads),
        progress_counter("kernel", " entries") as show,
        warnings.catch_warnings(record=True) as said,
    ):
        warnings.simplefilter("always")
        model = train_model(
            X,
            dataset.task().labels,
            kernel,
            grid,
            transforms=transforms,
            folds=5 if args.folds is None else args.folds,
            metric=args.metric or "auto",
            seed=args.seed,
            rule=args.rule or "best",
            calibration=args.calibration,
            threshold=args.threshold,
            residues=dataset.residues,
            layers=args.layers,
            allow_similar=args.allow_similar,
            tell=lambda text: print(f"seqkern: {text}", file=sys.stderr),
            policies=policies_of(args),
            notes=dataset.notes,
            memory_limit=args.memory,
            n_threads=args.threads,
            progress=show,
        )
    for text in dict.fromkeys(str(warning.message) for warning in said):
        print(f"seqkern: warning: {text}", file=sys.stderr)
    deciding = model.windows if isinstance(model, ResidueModel) else model
    at_sites = commonest_at_sites(deciding, dataset)
    for text in doubts(deciding, dataset, at_sites):
        print(f"seqkern: warning: {text}", file=sys.stderr)
    tell_counts(model.record["kernel_counts"], source)
    if args.format == "lsgkm":
        write_lsgkm(cast("Model", model), args.output)
    else:
        model.save(args.output)
    print(args.output)
    if args.features:
        cast("FeatureModel", model).write_features(args.features)
        print(args.features)
    for name, text in summary(model, dataset, args, at_sites, _searches(args)):
        print(f"  {name:<10} {text}")


def _searches(args: argparse.Namespace) -> bool:
    """Return whether hyperparameters are searched."""
    return args.search or args.draws is not None


def _check_search(args: argparse.Namespace) -> None:
    """Raise ParameterError for a search option without a search."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError

    useless = [name for name in ("rule", "metric") if getattr(args, name) is not None]
    if args.folds is not None and not (args.calibration or args.threshold or args.layers):
        useless.append("folds")
    if useless and not _searches(args):
        others = ", --calibration, --threshold or --layers" if useless == ["folds"] else ""
        raise ParameterError(f"--{useless[0]} needs a search{others}", remedy=f"add --search, or remove --{useless[0]}")


def _grid(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the candidate solver specifications."""
    # imported here to keep --help fast
    from seqkern.solvers import build_solver
    from seqkern.study.solver_entries import SolverEntry

    if not _searches(args):
        return [build_solver(args.solver).spec()]
    solver = SolverEntry.parse(args.solver, ranges=args.draws is not None, defaults=True)
    return [spec for _, spec in solver.candidates([None], args.draws, args.seed)]


def _dataset(args: argparse.Namespace, kernel: Kernel, grid: Sequence[Mapping[str, Any]]) -> Dataset:
    """Return the Dataset of the FASTA files with labels, or of one unlabelled file for solvers without labels."""
    # imported here to keep --help fast
    from seqkern.core.errors import LabelError
    from seqkern.datasets import make_dataset

    if args.states is not None:
        entry = states_entry(args, kernel)
        return make_dataset("train", entry, n_threads=args.threads)
    options, windows = {"label": args.label_field}, windows_of(args)
    by_site = windows.get("sites", "header") != "header"
    if by_site and args.labels == args.sites:
        raise LabelError("the labels of sites come from the table of sites", file=args.labels, remedy="remove --labels")
    if args.labels in ("header", "first-word"):
        options["from"] = args.labels.replace("-", "_")
    elif args.labels:
        check_label_column(args.labels, args.label_field)
        options |= {"from": "tsv", "file": args.labels}
    elif len(args.fasta) == 1 and not by_site and _need_no_labels(grid):
        options["kind"] = "none"
    elif len(args.fasta) == 1 and not by_site:
        raise LabelError(
            "no labels given",
            file=args.fasta[0],
            remedy="give the negatives as a second file, or add --labels (header, first-word or a table), --sites "
            "TABLE or --states FILE; or choose solver one_class_svm, which learns from the positives only",
        )
    if args.positive:
        options["positive"] = args.positive
    two_classes = len(args.fasta) == 2 and not args.labels and not by_site
    entry = {
        "fasta": dict(zip(("positive", "negative"), args.fasta, strict=True)) if two_classes else args.fasta,
        "labels": options,
        **policies_of(args),
        **windows,
    }
    if profiles_of(args):
        entry["profiles"] = profiles_of(args)
    alphabet = args.alphabet or kernel.alphabet
    return make_dataset("train", entry | ({"alphabet": alphabet} if alphabet else {}), n_threads=args.threads)


def _need_no_labels(grid: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether all solvers can learn without labels."""
    # imported here to keep --help fast
    from seqkern.solvers import build_solver

    return all("none" in build_solver(spec).targets for spec in grid)
