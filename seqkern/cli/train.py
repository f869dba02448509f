"""``seqkern train``: a model trained from FASTA, stored in one file for `seqkern predict`."""

from __future__ import annotations

import argparse
import contextlib
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from seqkern.cli.common import add_significance, naming_file, policies_of, tell_counts
from seqkern.cli.outer_folds import add_outer_folds
from seqkern.cli.train_summary import commonest_at_sites, doubts, summary
from seqkern.cli.training_input import add_input, add_labels, add_reading, add_search, is_auto_text, searches

if TYPE_CHECKING:
    from seqkern.cli.training_input import Input
    from seqkern.methods.feature_model import FeatureModel
    from seqkern.methods.method import Method
    from seqkern.methods.model import Model
    from seqkern.methods.training import TrainingData
    from seqkern.sequences.sequence_set import SequenceSet

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
    """Add the verb's arguments."""
    add_input(parser)
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
    add_significance(parser)
    add_labels(parser)
    add_search(parser, "--folds")
    estimate = parser.add_argument_group("unbiased estimate of the accuracy")
    estimate.add_argument(
        "--cv",
        type=int,
        nargs="?",
        const=5,
        metavar="K",
        help="also cross-validate the whole procedure, with the search, on K outer folds (default K: 5), and store the "
        "scores in the model; seqkern cv does it without a model. Default with --kernel auto; --cv 0 leaves it out",
    )
    add_outer_folds(estimate)
    hard = parser.add_argument_group("hard negatives")
    hard.add_argument(
        "--hard-negatives",
        metavar="FASTA",
        help="negative or unlabelled sequences, such as a genome: the windows that the model decides highest, except "
        "the positives' own, are added as negatives, and the model is trained again",
    )
    hard.add_argument(
        "--hard-number", type=int, metavar="N", help="windows to add in each round (default: as many as positives)"
    )
    hard.add_argument("--hard-rounds", type=int, metavar="N", help="rounds of search and training (default: 1)")
    add_reading(parser)


def run(args: argparse.Namespace) -> None:
    """Run the verb."""
    # imported here to keep --help fast
    from seqkern.cli.outer_folds import check_design, count_folds, cross_validated, kept_together, outer_folds, record
    from seqkern.cli.training_input import chosen_method, read_input, read_method, tell_fewer_folds
    from seqkern.core.archive import check_writable
    from seqkern.core.checkpoint import Unfinished
    from seqkern.core.exclusive_files import alone_for
    from seqkern.core.progress import progress_counter
    from seqkern.core.threads import given_threads
    from seqkern.methods.lsgkm import write_lsgkm
    from seqkern.methods.method import identity_of
    from seqkern.methods.residue_model import ResidueModel
    from seqkern.methods.training import train_on, training_data

    _check_cv(args)
    _check_hard(args)
    early = read_method(args, "--folds")
    folds = _outer_folds(args)
    outer = None if folds is None else outer_folds(args, folds)
    check_writable(args.output)
    if args.features:
        check_writable(args.features)
    given = read_input(args, early)
    method = chosen_method(args, early, given, 1 + (0 if folds is None else count_folds(args, folds, given.labels)))
    _check_features(args, method)
    if args.format == "lsgkm":
        _check_lsgkm(method, given)
    dataset, source = given.dataset, given.source
    with (
        Unfinished(_finished_folder(args.output)) as unfinished,
        naming_file(source),
        given_threads(args.threads),
        progress_counter("kernel", " entries") as show,
        warnings.catch_warnings(record=True) as said,
    ):
        warnings.simplefilter("always")
        kept = kept_together(args, given) if outer is not None or method.divides(given.labels) else None
        if outer is not None and kept is not None:
            check_design(method, given, outer, kept)
        limits: dict[str, Any] = {"memory_limit": args.memory, "progress": show}
        labels, window = dataset.task().labels, given.window
        data = training_data(
            method,
            given.X,
            labels,
            dataset.residues,
            window=window,
            kept=kept,
            n_threads=args.threads,
            gram_files=args.gram,
            **limits,
        )
        for values in data.sources.values() if method.search.budget is not None else ():
            values.check_room(len(data.labels), 0)  # before the cross-validation, whose training sets are smaller
        _check_listed(args, data)
        tell_fewer_folds(args, data.labels, "--folds")
        done = unfinished.under(identity_of(method, data))
        estimate = None if outer is None else cross_validated(args, method, data, given, outer, done)
        notes = dataset.notes | ({} if estimate is None else {"estimate": record(estimate)})
        keep = args.format == "lsgkm"
        model = train_on(
            method,
            data,
            policies=policies_of(args),
            notes=notes,
            keep_support=keep,
            finished=done,
            significance=args.significance,
            **limits,
        )
        found: list[str] = []
        if args.hard_negatives:
            model, found = _trained_again(args, method, given, model, notes, limits)
    for text in dict.fromkeys(str(warning.message) for warning in said):
        print(f"seqkern: warning: {text}", file=sys.stderr)
    deciding = model.windows if isinstance(model, ResidueModel) else model
    at_sites = commonest_at_sites(deciding, dataset)
    for text in doubts(deciding, dataset, at_sites):
        print(f"seqkern: warning: {text}", file=sys.stderr)
    tell_counts(model.record["kernel_counts"], source)
    with alone_for(args.output) if args.features else contextlib.nullcontext():
        if args.format == "lsgkm":
            write_lsgkm(cast("Model", model), args.output)
        else:
            model.save(args.output)
        if args.features:
            cast("FeatureModel", model).write_features(args.features)
    unfinished.clear()
    for path in (args.output, args.features):
        if path:
            print(path)
    for line in found:
        print(f"  hard       {line}")
    chosen = searches(args) or len(method.kernels) > 1
    for name, text in summary(model, dataset, args, at_sites, chosen, estimate, data.labels.take(data.labels.used())):
        print(f"  {name:<10} {text}".rstrip())


def _trained_again(
    args: argparse.Namespace, method: Method, given: Input, model: Any, notes: dict[str, Any], limits: dict[str, Any]
) -> tuple[Any, list[str]]:
    """Return the model after all rounds of hard negatives, and a line on each round."""
    # imported here to keep --help fast
    from seqkern.methods.scan import find_hard_negatives, with_negatives
    from seqkern.methods.training import train_on, training_data

    X, labels = cast("SequenceSet", given.X), given.dataset.task().labels
    number = int((labels.y == 1).sum()) if args.hard_number is None else args.hard_number
    lines, rounds = [], []
    for i in range(1, (args.hard_rounds or 1) + 1):
        with naming_file(args.hard_negatives):
            windows, decisions = find_hard_negatives(
                model, args.hard_negatives, X, labels, number=number, seed=args.seed, n_threads=args.threads
            )
        wrong = int((decisions > 0).sum())
        lines.append(
            f"round {i}: {len(windows)} windows added, {wrong} of them decided positive; decisions "
            f"{decisions.max():.3g} to {decisions.min():.3g}"
        )
        rounds.append({"added": len(windows), "positive": wrong, "digest": windows.digest()})
        X, labels = with_negatives(X, labels, windows, f"hard{i}_")
        again = training_data(
            method, X, labels, window=given.window, allow_similar=args.allow_similar, n_threads=args.threads, **limits
        )
        model = train_on(method, again, policies=policies_of(args), notes=notes | {"hard_negatives": rounds}, **limits)
    return model, lines


def _check_hard(args: argparse.Namespace) -> None:
    """Raise ParameterError for options of hard negatives that conflict with others."""
    # imported here to keep --help fast
    from seqkern.core.checks import check_integer
    from seqkern.core.errors import ParameterError
    from seqkern.core.text_files import open_text

    for name in ("hard_number", "hard_rounds"):
        value, option = getattr(args, name), f"--{name.replace('_', '-')}"
        if value is not None and not args.hard_negatives:
            raise ParameterError(f"{option} needs --hard-negatives", remedy=f"add it, or remove {option}")
        if value is not None:
            check_integer(option, value, 1)
    if not args.hard_negatives:
        return
    if _outer_folds(args) is not None:
        raise ParameterError(
            "hard negatives are not part of the cross-validation, so its estimate would be of another model",
            remedy="give --cv 0, and test the model on other sequences",
        )
    if args.hard_negatives == "-":
        raise ParameterError("hard negatives are read in each round, and cannot be piped", remedy="give a file")
    with open_text(args.hard_negatives):
        pass  # found before any training
    others = {"--states": args.states, "--gram": args.gram, "--format lsgkm": args.format == "lsgkm"}
    for option, value in others.items():
        if value:
            raise ParameterError(f"--hard-negatives does not work with {option}", remedy="remove one of them")


def _finished_folder(output: str) -> Path | None:
    """Return the folder of finished fits beside the model; None if the output is a device or pipe."""
    path = Path(output)
    return path.with_name(f".{path.name}.finished") if path.is_file() or not path.exists() else None


def _outer_folds(args: argparse.Namespace) -> int | None:
    """Return the number of outer folds; None without a cross-validation."""
    if args.cv is None:
        return 5 if is_auto_text(args.kernel) else None
    return args.cv or None


def _check_cv(args: argparse.Namespace) -> None:
    """Raise ParameterError for a cross-validation option without cross-validation."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError

    given = {"--fold-method": args.fold_method, "--permutations": args.permutations, "--repeats": args.repeats > 1}
    for name, value in given.items():
        if value and _outer_folds(args) is None:
            raise ParameterError(f"{name} needs --cv", remedy=f"add --cv, or remove {name}")


def _check_features(args: argparse.Namespace, method: Method) -> None:
    """Raise ParameterError for options whose output the model format or the list of features cannot hold."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError
    from seqkern.solvers.thresholds import PLAIN

    if (args.calibration or args.threshold not in (None, PLAIN)) and args.format == "lsgkm":
        raise ParameterError(
            "the LS-GKM format stores neither probabilities nor a threshold",
            remedy="remove --calibration and --threshold, or --format",
        )
    if args.significance is not None and not args.features:
        raise ParameterError("--significance adds columns to the table of features", remedy="add --features FILE")
    if args.significance is not None:
        args.significance.check(method.specs)
    if args.features and method.input != "features":
        raise ParameterError(
            f"solver {method.specs[0]['solver']!r} selects no features",
            remedy="remove --features, or choose a solver that does, such as psvc:kernel=features",
        )


def _check_listed(args: argparse.Namespace, data: TrainingData) -> None:
    """Raise ParameterError if features are to be listed but are replaced by products with the kernel matrix."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError

    if args.significance is not None:
        args.significance.check_kind(data.labels.kind)
    for name, source in data.sources.items():
        if args.features and source.gives == "operator":
            raise ParameterError(
                f"kernel {name!r} has too many features to list: it is trained by products with the kernel matrix",
                remedy="remove --features, or choose a kernel with fewer, such as spectrum",
            )


def _check_lsgkm(method: Method, given: Input) -> None:
    """Raise an error for a model that the LS-GKM format cannot store."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError
    from seqkern.methods.lsgkm import check_lsgkm

    if given.dataset.residues is not None:
        raise ParameterError("the LS-GKM format cannot store a residue model", remedy="remove --format")
    for name, kernel in method.kernels.items():
        assert kernel is not None
        alphabet = getattr(given.X, "alphabet", None)
        check_lsgkm(kernel, method.specs, method.transforms_of(name), alphabet, given.dataset.task().labels.kind)
