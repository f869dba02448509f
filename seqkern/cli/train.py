"""``seqkern train``: a model from FASTA, in one file, that `seqkern predict` applies to new sequences."""

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
    " --kernel smith_waterman --repair empirical_map --solver csvc -o relatives.seqkern",
    "seqkern train proteins.fasta --labels proteins.tsv --label-field superfamily --kernel spectrum:k=3"
    " --solver 'one_against_rest:binary=(csvc:C=1)' -o superfamilies.seqkern",
    "seqkern train chains.fasta --states chains.ss --window 15 --kernel 'nystroem:base=window'"
    " --solver primal_svc --layers structure probabilities -o states.seqkern",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments.

    Parameters
    ----------
    parser : ArgumentParser
        That of the verb alone.
    """
    parser.add_argument(
        "fasta",
        nargs="+",
        help="the positives and the negatives; or a file for each class; or one with --labels; or one file "
        "alone for a solver that needs no labels, one_class_svm or kernel_pca",
    )
    parser.add_argument("--kernel", required=True, help="kernel, as text or JSON, such as spectrum:k=3")
    parser.add_argument("--solver", required=True, help="solver, such as csvc:C=1; with --search csvc:C=[0.1,1,10]")
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the model's file")
    parser.add_argument(
        "--format",
        choices=("seqkern", "lsgkm"),
        default="seqkern",
        help="of the model; lsgkm: as gkmpredict reads it, of a C-SVM with a gapped k-mer kernel (default: seqkern)",
    )
    parser.add_argument(
        "--features",
        metavar="FILE",
        help="of a solver that selects features, such as psvc:kernel=features: also write which, the best first; "
        "with weights where the decision is a weighted sum of them, scaled as the solver scales them",
    )
    parser.add_argument(
        "--transform",
        action="append",
        default=[],
        help="transform of the kernel matrix, such as centre; repeatable",
    )
    parser.add_argument(
        "--repair",
        help="what to do about negative eigenvalues of the kernel matrix, after the transforms: none, clip, flip, "
        "shift or empirical_map",
    )
    labels = parser.add_argument_group("labels")
    labels.add_argument(
        "--labels",
        metavar="WHERE",
        help="header (a field label=…), first-word (of each header), or a TSV with the columns id and label",
    )
    labels.add_argument("--label-field", metavar="NAME", default="label", help="the field or column (default: label)")
    labels.add_argument("--positive", metavar="CLASS", help="the positive class, against all others")
    states = parser.add_argument_group("states of residues, such as helix, strand and coil")
    states.add_argument(
        "--states",
        metavar="FILE",
        help="the state of each residue: FASTA with a state in place of each letter, by id; or letters and states "
        "together (a line >id, letters, states), which may be the file of the sequences itself. Every residue is then "
        "decided by the window around it (--window N, an odd number of residues; default: 15)",
    )
    states.add_argument(
        "--reduction",
        metavar="NAME",
        help="of DSSP's eight states to three, named by the letters that become helix and strand: "
        + ", ".join(REDUCTIONS),
    )
    add_layers(states)
    search = parser.add_argument_group("choosing hyperparameters, probabilities")
    search.add_argument(
        "--search",
        action="store_true",
        help="by cross-validation: among the lists in --solver, and the solver's own for parameters left out",
    )
    search.add_argument(
        "--draws",
        type=int,
        metavar="N",
        help="--search, but draw N candidates at random, instead of trying all; parameters may then be ranges, such as "
        "C=0.01..100",
    )
    search.add_argument(
        "--rule",
        choices=("best", "one_standard_error"),
        help="choose the best candidate, or the simplest within one standard error of it (default: best)",
    )
    search.add_argument("--folds", type=int, metavar="N", help="folds (default: 5)")
    search.add_argument(
        "--metric",
        help="what is maximised (default: auc; several classes: macro_auc; numbers: r2); accuracy of states of "
        "residues is Q3, and may be called q3 or q8",
    )
    search.add_argument("--seed", type=int, default=1, help="of the folds (default: 1)")
    add_afterwards(search)
    add_sequence_arguments(parser)
    add_windows(parser)
    add_tracks(parser)
    work = parser.add_argument_group("the work")
    work.add_argument("--memory", metavar="SIZE", help="limit, such as 2GB (default: half of what is free)")
    add_threads(work)


def run(args: argparse.Namespace) -> None:
    """Run the verb.

    Parameters
    ----------
    args : Namespace
        What `add_arguments` declares, with the values given.
    """
    # loaded when the verb runs: its help needs none of it
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
            "files of LS-GKM hold neither probabilities nor a threshold",
            remedy="leave out --calibration and --threshold, or --format",
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
            remedy="leave out --features, or choose one that does, such as psvc:kernel=features",
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
            raise ParameterError("files of LS-GKM hold no model of residues", remedy="leave out --format")
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
    """Tell whether there is to be a search."""
    return args.search or args.draws is not None


def _check_search(args: argparse.Namespace) -> None:
    """Raise ParameterError for an option of the search where there is none."""
    # loaded when the verb runs: its help needs none of it
    from seqkern.core.errors import ParameterError

    useless = [name for name in ("rule", "metric") if getattr(args, name) is not None]
    if args.folds is not None and not (args.calibration or args.threshold or args.layers):
        useless.append("folds")
    if useless and not _searches(args):
        others = ", or to --calibration, --threshold or --layers" if useless == ["folds"] else ""
        raise ParameterError(
            f"--{useless[0]} belongs to a search{others}", remedy=f"add --search, or leave out --{useless[0]}"
        )


def _grid(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the solver specifications to choose among."""
    # loaded when the verb runs: its help needs none of it
    from seqkern.solvers import build_solver
    from seqkern.study.solver_entries import SolverEntry

    if not _searches(args):
        return [build_solver(args.solver).spec()]
    solver = SolverEntry.parse(args.solver, ranges=args.draws is not None, defaults=True)
    return [spec for _, spec in solver.candidates([None], args.draws, args.seed)]


def _dataset(args: argparse.Namespace, kernel: Kernel, grid: Sequence[Mapping[str, Any]]) -> Dataset:
    """Return the Dataset of the FASTA files and their labels; without labels, of one file and solvers without."""
    # loaded when the verb runs: its help needs none of it
    from seqkern.core.errors import LabelError
    from seqkern.datasets import make_dataset

    if args.states is not None:
        entry = states_entry(args, kernel)
        return make_dataset("train", entry, n_threads=args.threads)
    options, windows = {"label": args.label_field}, windows_of(args)
    by_site = windows.get("sites", "header") != "header"
    if by_site and args.labels == args.sites:
        raise LabelError(
            "the labels of sites are taken from their table anyway", file=args.labels, remedy="leave out --labels"
        )
    if args.labels in ("header", "first-word"):
        options["from"] = args.labels.replace("-", "_")
    elif args.labels:
        check_label_column(args.labels, args.label_field)
        options |= {"from": "tsv", "file": args.labels}
    elif len(args.fasta) == 1 and not by_site and _need_no_labels(grid):
        options["kind"] = "none"
    elif len(args.fasta) == 1 and not by_site:
        raise LabelError(
            "nothing says which label a sequence has",
            file=args.fasta[0],
            remedy="give the negatives as a second file, or --labels header, first-word or a table, or --sites a "
            "table, or --states a file with the state of each residue; or choose solver one_class_svm, which learns "
            "the positives alone",
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
    """Tell whether all solvers can learn without labels."""
    # loaded when the verb runs: its help needs none of it
    from seqkern.solvers import build_solver

    return all("none" in build_solver(spec).targets for spec in grid)
