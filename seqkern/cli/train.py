"""``seqkern train``: a model trained from FASTA, stored in one file for `seqkern predict`."""

from __future__ import annotations

import argparse
import contextlib
import inspect
import sys
import textwrap
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, cast

from seqkern.cli.common import add_significance, log_counts, naming_file, policies_of, unrecognised
from seqkern.cli.cv import add_outer_folds
from seqkern.cli.training_input import add_input, add_labels, add_reading, add_search, is_auto_text, searches
from seqkern.cli.wrong_files import same_in_two_classes

if TYPE_CHECKING:
    from seqkern.cli.cv import CrossValidated
    from seqkern.cli.training_input import Input
    from seqkern.evaluation.auto import Traits
    from seqkern.methods.feature_model import FeatureModel
    from seqkern.methods.method import Method
    from seqkern.methods.model import Model
    from seqkern.methods.residue_model import ResidueModel
    from seqkern.methods.sources import FitData
    from seqkern.sequences.labels import Labels
    from seqkern.sequences.sequence_set import SequenceSet
    from seqkern.study.dataset import Dataset


# The output of ``seqkern train`` about a new model: a summary, and warnings.

LEAST_BASES = 30
"""Minimum number of residues of a protein of only A, C, G, T and N that looks like DNA."""


def reliability_warnings(model: Model, dataset: Dataset, at_sites: Mapping[str, tuple[str, float]]) -> Iterator[str]:
    """Yield warnings about unreliable predictions of the model."""
    # imported here to keep --help fast
    import numpy as np

    # imported here to keep --help fast
    from seqkern.sequences.sequence_set import SequenceSet

    yield from unrecognised(model)
    if model.calibration is not None and not model.calibration.rises:
        yield (
            "held-out decision values do not separate the classes: the probabilities do not increase with the decision "
            "value"
        )
    if len({letters for letters, _ in at_sites.values()}) > 1:
        both = " and ".join(f"{letters} on {strand}" for strand, (letters, _) in at_sites.items())
        yield (
            f"the most frequent letters at the sites are {both}; check that positions count from 1 and are those of "
            "the site's first base on its strand (--site LETTERS checks each site)"
        )
    X, labels = dataset.X, dataset.task().labels
    repeated = same_in_two_classes(X, labels) if isinstance(X, SequenceSet) and dataset.residues is None else None
    if repeated is not None:
        yield repeated
    if not isinstance(X, SequenceSet) or X.alphabet.name != "protein" or labels.kind == "real":
        return
    bases = [X.alphabet.letters.index(letter) for letter in "ACGTN"]
    others = np.concatenate(([0], np.cumsum(~np.isin(X.codes, bases))))  # before each place
    of_bases = others[X.starts] == others[X.stops]
    for code, name in enumerate(labels.classes):
        own = labels.y == code
        if own.any() and of_bases[own].all():
            yield (
                f"the sequences of class {name} look like DNA, but the alphabet is protein: give both classes as DNA "
                "or both as protein"
            )
            return
    rows = np.flatnonzero(of_bases & (X.lengths >= LEAST_BASES))
    if len(rows):
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        yield f"record {X.ids[rows[0]]!r}{more} of {len(X)} look like DNA, but the alphabet is protein"


def commonest_at_sites(model: Model, dataset: Dataset) -> dict[str, tuple[str, float]]:
    """Return the two most frequent bases at the sites of each strand; empty without sites or if already checked."""
    # imported here to keep --help fast
    import numpy as np

    # imported here to keep --help fast
    from seqkern.sequences.windows import letters_at_sites

    if model.window is None or model.window.site:
        return {}
    strand = dataset.task().labels.strand
    reverse = np.zeros(len(dataset.X), dtype=bool) if strand is None else strand == "-"
    return letters_at_sites(cast("SequenceSet", dataset.X), model.window, reverse)


def summary(
    made: Model | ResidueModel,
    dataset: Dataset,
    args: argparse.Namespace,
    at_sites: Mapping[str, tuple[str, float]],
    searched: bool,
    estimate: CrossValidated | None,
    labels: Labels,
) -> Iterator[tuple[str, str]]:
    """Yield the summary of a new model as (name, text); the name is empty on continuation lines."""
    # imported here to keep --help fast
    from seqkern.evaluation.auto import traits_of
    from seqkern.methods.residue_model import ResidueModel

    residues = dataset.residues
    model, layers = (made.windows, made.layers) if isinstance(made, ResidueModel) else (made, None)
    record = model.record
    units = f"{record['n']} {'samples' if model.alphabet is None else 'sequences' if residues is None else 'residues'}"
    yield from _data_lines(
        model,
        units if residues is None else f"{units} of {_counted(len(residues.chains), 'chain')}",
        args.threshold is not None,
    )
    if at_sites:
        words = [f"{letters} ({share:.0%} on {strand})" for strand, (letters, share) in at_sites.items()]
        yield "", "letters at the sites: " + ", ".join(words)
    if model.alphabet is not None:
        yield "alphabet", model.alphabet.name
    yield from _method_lines(model, args, searched)
    if record.get("rungs"):
        yield from _comparison_lines(record, traits_of(cast("SequenceSet", dataset.X)))
    if layers is not None:
        yield (
            "layers",
            " → ".join(layer["layer"] for layer in args.layers) + ", fitted to decision values of held-out chains",
        )
    yield from _fit_lines(model, units)
    if model.kind != "none":
        compared = [len(rung["scores"]) for rung in record.get("rungs", ())]
        eliminated = compared[0] - compared[-1] if compared else 0
        yield from _score_lines(record, searched, labels, estimate is not None, eliminated)
    if estimate is not None:
        yield from _estimate_lines(estimate)
    if layers is not None:
        share = "Q3" if len(model.classes) == 3 else "accuracy"
        after = f"{share} after them: " + ("the estimate above" if estimate is not None else "--cv 5, or seqkern cv")
        before = f"{share} {layers.held_out_accuracy_:.4f} of the first classifier, before the layers"
        yield "held out", f"{before}; {after}"


def _data_lines(model: Model, units: str, asked: bool) -> Iterator[tuple[str, str]]:
    """Yield lines on the training data, and on the meaning of decision values or probabilities of new samples."""
    record = model.record
    sizes = {**record["classes"], **({"unlabelled": record["unlabelled"]} if "unlabelled" in record else {})}
    counts = ", ".join(f"{name}: {count}" for name, count in sizes.items())
    yield "trained on", f"{units} ({counts})" if model.kind != "none" and counts else units
    if model.threshold is not None:
        found = model.threshold
        yield (
            "threshold",
            f"{found.value:.4g} for {found.rule}: sensitivity {found.sensitivity:.3f}, specificity "
            f"{found.specificity:.3f} on the held-out samples that set it",
        )
        if not asked:
            yield "", f"set by default, for the best {found.rule.replace('_', ' ')}; --threshold none for 0"
    elif record.get("threshold_unset"):
        yield "threshold", f"0, not fitted: {record['threshold_unset']}"
    if model.projects:
        shares = model.solver.explained_variance_ratio_
        several = ", ".join(f"{share:.1%}" for share in shares[:5]) + (", …" if len(shares) > 5 else "")
        yield "components", f"{len(shares)}, with {shares.sum():.1%} of the variance: {several}"
    elif model.kind == "none":
        yield "above zero", "predicts inside the class, otherwise outside"
    if model.kind == "binary":
        place = "above zero" if model.cut.calibration is None else "probability above 0.5"
        place = place if model.threshold is None else "above it"
        yield place, f"predicts {model.classes[1]}, otherwise {model.classes[0]} (change with --positive)"
    if model.window is not None:
        window = model.window
        yield "windows", f"{window} around {window.site or 'sites'}, length {window.length}"


def _method_lines(model: Model, args: argparse.Namespace, searched: bool) -> Iterator[tuple[str, str]]:
    """Yield lines on kernel, transforms and solver, and on their choices and learned values."""
    # imported here to keep --help fast
    from seqkern.solvers.solver_specs import spec_text

    record = model.record
    chosen = record["search"] is not None and len(set(record["search"]["kernels"])) > 1
    yield "kernel", f"{record['kernel']}, of {args.kernel}" if chosen else args.kernel
    for name, value in model.kernel.learned().items():
        yield "", f"{name}: {value:.4g}"
    transforms: list[Any] = [*model.kernel.feature_transforms(), *model.transforms]
    for transform in transforms:
        options = ",".join(f"{key}={value}" for key, value in transform.get_params().items())
        yield "transform", f"{transform.name}{':' if options else ''}{options}"
    yield "solver", spec_text(record["solver"]) if searched else args.solver
    if model.solver.traits.variances:
        for name, value in model.solver.best_params_.items():
            yield "", f"{name}: {value:.4g}, of the greatest likelihood"
    own = record["report"].get("predictor")  # of solver selected
    if own is not None:
        own = _without_usual(own)
        yield "chosen", f"{_counted(record['report']['n_features'], 'feature')}, predictor {spec_text(own)}"
    if model.calibration is not None:
        method, n = model.calibration.method, model.calibration.n
        yield "probability", f"{method}, fitted to {n} held-out decision values"


def _comparison_lines(record: Mapping[str, Any], traits: Traits) -> Iterator[tuple[str, str]]:
    """Yield lines on the kernels that auto compared, and the reason for its choice."""
    # imported here to keep --help fast
    import numpy as np

    # imported here to keep --help fast
    from seqkern.evaluation.auto import tried, why
    from seqkern.evaluation.selection import standard_error

    search, kernel = record["search"], record["kernel"]
    for i, line in enumerate(tried(record["rungs"], search["metric"])):
        yield "" if i else "tried", line
    place = max(range(len(search["scores"])), key=lambda c: (search["kernels"][c] == kernel, mean(search["scores"][c])))
    error = standard_error(np.array(search["scores"][place]))
    text = why(traits, record["rungs"], kernel, search["metric"], error)
    for i, line in enumerate(textwrap.wrap(text, 100)):
        yield "" if i else "why", line


def _fit_lines(model: Model, units: str) -> Iterator[tuple[str, str]]:
    """Yield lines on the fit and the number of support samples."""
    # imported here to keep --help fast
    from seqkern.methods.feature_model import FeatureModel

    record = model.record
    report = record["report"]
    state = "converged" if report["converged"] else "NOT converged"
    yield "fit", f"{state} after {report['iterations']} iterations, residual {report['residual']:.2g}"
    if record.get("inner_not_converged"):
        yield "inner fits", f"{record['inner_not_converged']} did not converge, so the choice is less certain"
    if report["converged"] and report.get("remark"):
        yield "", report["remark"]
    if model.kind == "binary" and report.get("n_learned") is not None:
        yield (
            "learned",
            f"only the {report['n_learned']} of class {model.classes[1]}, none of class {model.classes[0]}",
        )
    what = "features" if isinstance(model, FeatureModel) else f"of {units}"
    yield "support", f"{report['n_support']} {what} ({report['support_share']:.1%})"
    for label in dict.fromkeys(row["class"] for row in record.get("exemplars", ())):
        names = [row["id"] for row in record["exemplars"] if row["class"] == label and row["rank"] == 1]
        yield "typical", f"of class {label}: {', '.join(names[:5])}{', …' if len(names) > 5 else ''}"


def _score_lines(
    record: Mapping[str, Any], searched: bool, labels: Labels, estimated: bool, eliminated: int
) -> Iterator[tuple[str, str]]:
    """Yield lines on the score of the cross-validation that chose the hyperparameters, if any."""
    search: Mapping[str, Any] | None = record["search"]
    report: Mapping[str, Any] = record["report"]
    # imported here to keep --help fast
    from seqkern.evaluation.intervals import too_few
    from seqkern.solvers.costs import BOUNDS

    lacking = too_few(labels)
    if lacking is not None:
        yield "score", lacking.sentence()
        return
    if search is None and report.get("error") is not None:
        yield "score", f"mean error {report['error']:.4f} in the solver's own cross-validation, which chose"
        yield "", f"the number of features and the predictor, so slightly optimistic{_hint(estimated)}"
        return
    if search is None:
        if not estimated:
            one_class = report.get("n_learned") is not None
            hint = ": only one candidate" if searched and not one_class else ""
            yield "score", f"not cross-validated{hint}{_hint(False)}"
        return
    yield "inner" if estimated else "score", inner_score(search, eliminated)
    folds = "" if search["metric"] in BOUNDS else f"mean of {len(search['scores'][0])} inner folds, on which it was "
    yield "", f"{folds or 'by which it was '}chosen{_hint(estimated)}"
    for name, end in search.get("ends", {}).items():
        yield "", f"{name} is the {end} value tried, at an end of the grid: a wider grid may improve the result"


def _hint(estimated: bool) -> str:
    """Return a hint on how to get an unbiased estimate; empty if there is one."""
    return "" if estimated else "; use --cv for an unbiased estimate"


def inner_score(search: Mapping[str, Any], eliminated: int = 0) -> str:
    """Return the score of the chosen candidate as text, also after correction for the choice.

    The correction does not account for `eliminated`, the number of kernels that were eliminated on fewer samples.
    """
    # imported here to keep --help fast
    from seqkern.evaluation.many_task_tests import corrected_choice
    from seqkern.report.sentences import metric
    from seqkern.solvers.costs import BOUNDS

    name = "macro AUC" if search["metric"] == "macro_auc" else metric(search["metric"]).name
    if search["metric"] in BOUNDS:
        return f"best of {len(search['specs'])}: {name} {-search['score']:.4f}, from one fit of each"
    optimism = max(mean(scores) for scores in search["scores"]) - corrected_choice(search["scores"])
    sign = -1 if search["metric"] == "rmse" else 1  # the inner loop maximises its negative
    score, corrected = (f"{sign * value:.4f}" for value in (search["score"], search["score"] - optimism))
    best = f"best of {len(search['specs'])}: {name} {score}"
    if eliminated:
        return f"{best}, after {eliminated} kernels were eliminated on fewer samples"
    return f"{best}, corrected for the choice {corrected}"


def _estimate_lines(estimate: CrossValidated) -> Iterator[tuple[str, str]]:
    """Yield lines on the scores of the outer folds and the permutation test."""
    # imported here to keep --help fast
    from seqkern.cli.cv import notes, score_table

    for i, line in enumerate(score_table(estimate)):
        yield "" if i else "estimate", line
    for line in notes(estimate):
        yield "", line


def _without_usual(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specification of a solver without technical parameters and defaults."""
    # imported here to keep --help fast
    from seqkern.solvers.solver_specs import SOLVERS

    defaults = inspect.signature(SOLVERS.get(spec["solver"])).parameters
    return {
        key: value
        for key, value in spec.items()
        if key == "solver"
        or not (
            value is None or key in ("tol", "max_iter") or (isinstance(value, str) and value == defaults[key].default)
        )
    }


def _counted(count: int, what: str) -> str:
    """Return a number with its noun."""
    return f"{count} {what}{'s'[: count != 1]}"


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
    from seqkern.cli.cv import check_design, count_folds, cross_validated, grouped_samples, outer_folds, record
    from seqkern.cli.training_input import chosen_method, log_fewer_folds, read_input, read_request
    from seqkern.core.archive import check_writable
    from seqkern.core.checkpoint import CheckpointFolder
    from seqkern.core.exclusive_files import exclusive_paths
    from seqkern.core.progress import progress_counter
    from seqkern.core.threads import given_threads
    from seqkern.methods.method import identity_of
    from seqkern.methods.residue_model import ResidueModel
    from seqkern.methods.training import collect_training_data, train_on

    _check_cv(args)
    _check_hard(args)
    request = read_request(args, "--folds")
    folds = _outer_folds(args)
    outer = None if folds is None else outer_folds(args, folds)
    check_writable(args.output)
    if args.features:
        check_writable(args.features)
    given = read_input(request)
    method = chosen_method(request, given, 1 + (0 if folds is None else count_folds(args, folds, given.labels)))
    _check_features(args, method)
    if args.format == "lsgkm":
        _check_lsgkm(method, given)
    dataset, source = given.dataset, given.source
    with (
        CheckpointFolder(_finished_folder(args.output)) as unfinished,
        naming_file(source),
        given_threads(args.threads),
        progress_counter("kernel", " entries") as show,
        warnings.catch_warnings(record=True) as said,
    ):
        warnings.simplefilter("always")
        kept = grouped_samples(args, given) if outer is not None or method.divides(given.labels) else None
        if outer is not None and kept is not None:
            check_design(method, given, outer, kept)
        limits: dict[str, Any] = {"memory_limit": args.memory, "progress": show}
        labels, window = dataset.task().labels, given.window
        data = collect_training_data(
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
            values.check_memory(len(data.labels), 0)  # before the cross-validation, whose training sets are smaller
        _check_listed(args, data)
        log_fewer_folds(args, data.labels, "--folds")
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
            fit_cache=done,
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
    for text in reliability_warnings(deciding, dataset, at_sites):
        print(f"seqkern: warning: {text}", file=sys.stderr)
    log_counts(model.record["kernel_counts"], source)
    with exclusive_paths(args.output) if args.features else contextlib.nullcontext():
        if args.format == "lsgkm":
            from seqkern.methods.lsgkm import write_lsgkm  # imported here: other models do not need it

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
    from seqkern.methods.training import collect_training_data, train_on

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
        again = collect_training_data(
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
            "hard negatives are not part of the cross-validation, so it would estimate another model",
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


def _check_listed(args: argparse.Namespace, data: FitData) -> None:
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
