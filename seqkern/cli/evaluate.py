"""``seqkern evaluate``: one method on all folds of a data set."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqkern.cli.common import add_afterwards, add_inner_loop, add_layers, add_significance, add_threads
from seqkern.cli.fold_remarks import fold_remarks, headline
from seqkern.cli.pooled import add_pooled
from seqkern.cli.shares import add_shares, assigned, parse_methods
from seqkern.core.errors import ParameterError

if TYPE_CHECKING:
    from seqkern.cli.evaluation import Evaluation
    from seqkern.cli.outer_splits import OuterSplits

EXAMPLE = (
    "seqkern evaluate results/demo/datasets/donors --folds results/demo/folds/donors"
    " --kernel spectrum:k=3 --solver csvc:C=1 -o results/demo/evaluate/donors/spectrum3/csvc"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``seqkern evaluate``.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of this verb.
    """
    parser.add_argument("dataset", help="folder that seqkern datasets wrote")
    parser.add_argument("--folds", required=True, help="folder that seqkern folds wrote")
    parser.add_argument(
        "--kernel",
        required=True,
        help="kernel, such as spectrum:k=3, or as JSON; or several, of which the inner loop chooses one: "
        '{"choose": [{"name": "three", "kernel": "spectrum", "k": 3}, ...]}',
    )
    parser.add_argument(
        "--gram",
        nargs="+",
        default=[],
        help="Gram matrix over all samples for each kernel that has one, in order: the kernel's own if it is not "
        "fitted to data; for kernel pairwise that of its base kernel; for kernel combination those of its parts",
    )
    parser.add_argument("--solver", help="solver, such as csvc:C=[0.1,1,10] (a list of values is a grid), or as JSON")
    add_inner_loop(parser)
    add_pooled(parser)
    add_afterwards(parser)
    add_layers(parser)
    parser.add_argument("--seed", type=int, default=1, help="seed of the inner folds (default: 1)")
    parser.add_argument(
        "--selection-bias",
        action="store_true",
        help="also report the inflated scores that result from selecting features on the test data "
        "(selection_bias.tsv)",
    )
    add_significance(parser)
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        help="memory limit, such as 2GB, above which csvc reads a stored Gram matrix by rows (default: half of what is "
        "left)",
    )
    add_shares(parser)
    add_threads(parser)
    parser.add_argument("-o", "--output", required=True, help="folder for the tables")


def run(args: argparse.Namespace) -> None:
    """Run ``seqkern evaluate``.

    Parameters
    ----------
    args : Namespace
        The parsed arguments of `add_arguments`.
    """
    # imported here to keep --help fast
    from seqkern.cli.outer_splits import OuterSplits
    from seqkern.core.progress import progress_bar

    _check_division(args)
    _check_afterwards(args)
    splits = OuterSplits(args.dataset, args.folds)
    evaluations = _evaluations(args, splits)
    with contextlib.ExitStack() as stack:
        for evaluation in evaluations.values():
            stack.enter_context(evaluation.at_work())
        if args.share is None:
            (one,) = evaluations.values()
            finished = [one.finish(place) for place in progress_bar(range(len(splits.work)), "folds")]
            one.write(finished)
        else:
            mine = _share(args, evaluations, splits)
            for name, place in progress_bar(mine, "folds"):
                if not evaluations[name].is_gathered():
                    evaluations[name].finish(place)
    if args.share is not None:
        share, shares = args.share
        count = len(evaluations) * len(splits.work)
        print(f"{args.output}: {len(mine)} of {count} folds finished, share {share} of {shares}")
    elif not args.inner_only:
        _print_scores(finished, splits)


def _check_division(args: argparse.Namespace) -> None:
    """Raise ParameterError for options of the division that do not fit together."""
    if (args.solver is None) == (args.methods is None):
        raise ParameterError("give one solver", remedy="give --solver, or with --share several as --methods")
    if args.methods is not None and args.share is None:
        raise ParameterError("--methods works only with --share", remedy="gather each solver with --solver")
    if args.methods is not None and (args.pooled or args.layers):
        option = "--pooled" if args.pooled else "--layers"
        raise ParameterError(f"{option} belongs to one solver", remedy=f"give --solver, or remove {option}")
    if args.plan is not None and (args.methods is None or args.kernel_name is None):
        raise ParameterError(
            "--plan needs the names of kernel and solvers", remedy="add --kernel-name and --methods, or remove --plan"
        )


def _check_afterwards(args: argparse.Namespace) -> None:
    """Raise ParameterError for calibration or threshold together with layers."""
    # imported here to keep --help fast
    from seqkern.evaluation.held_out import check_afterwards

    check_afterwards(args.calibration, args.threshold, args.layers)


def _evaluations(args: argparse.Namespace, splits: OuterSplits) -> dict[str, Evaluation]:
    """Return the evaluation of each solver by name; of ``--solver`` without a name."""
    # imported here to keep --help fast
    from seqkern.cli.evaluation import Evaluation
    from seqkern.kernels import check_kind
    from seqkern.solvers.psvm.significance_test import SignificanceTest
    from seqkern.study.reading import read_kernel
    from seqkern.study.solver_entries import SolverEntry

    kernel = read_kernel(args.kernel)
    for entry in kernel.candidates:
        check_kind(entry.kernel, splits.dataset.kind, file=args.dataset)
    ranges, output = args.inner_draws is not None, Path(args.output)
    if args.methods is None:
        solver = SolverEntry.parse(args.solver, layers=args.layers, ranges=ranges)
        return {"": Evaluation(args, splits, kernel, solver, output)}
    found = {}
    for name, given in parse_methods(args.methods).items():
        text = given["solver"] if isinstance(given["solver"], str) else json.dumps(given["solver"])
        solver = SolverEntry.parse(text, layers=given["layers"], ranges=ranges)
        tested = args.significance if SignificanceTest.suits(solver.specs) else None
        own = argparse.Namespace(
            **vars(args) | {"gram": args.gram if solver.needs_gram else [], "significance": tested}
        )
        found[name] = Evaluation(own, splits, kernel, solver, output / name)
    return found


def _share(args: argparse.Namespace, evaluations: dict[str, Evaluation], splits: OuterSplits) -> list[tuple[str, int]]:
    """Return the solver and the place of the split of each fold of this share, split by split."""
    folds = [(name, place) for place in range(len(splits.work)) for name in evaluations]
    if args.plan is None:
        seconds = [1.0] * len(folds)
    else:
        # imported here to keep --help fast
        from seqkern.study.plan import DatasetPlan

        costs = DatasetPlan.load(args.plan).methods.get(args.kernel_name, {})
        known = {name: cost.folds for name, cost in costs.items() if len(cost.folds) == len(splits.work)}
        seconds = [known[name][place] if name in known else 1.0 for name, place in folds]
    return [folds[i] for i in assigned(seconds, *args.share)]


def _print_scores(finished: list[dict[str, Any]], splits: OuterSplits) -> None:
    """Print what did not go well, and the headline score of each task."""
    # imported here to keep --help fast
    from seqkern.evaluation.fold_tables import FoldResult

    results = [FoldResult(**row) for row in finished]
    for text in fold_remarks(results):
        print(f"seqkern: {text}", file=sys.stderr)
    for name in splits.fold_sets:
        print(headline([result for result in results if result.metrics["task"] == name], splits.labels(name), name))
