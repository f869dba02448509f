"""``seqkern train``: a model trained from FASTA, stored in one file for `seqkern predict`."""

from __future__ import annotations

import contextlib
import inspect
import shlex
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from seqkern.cli import cv
from seqkern.cli.common import unrecognised
from seqkern.cli.output import log_counts, metric_name, naming_file, warn
from seqkern.cli.requests_training import TrainRequest
from seqkern.cli.training_input import Input, Training, chosen_method, read_input, read_training, with_columns
from seqkern.cli.wrong_files import same_in_two_classes
from seqkern.core.archive import check_writable
from seqkern.core.checkpoint import CheckpointFolder
from seqkern.core.errors import ParameterError
from seqkern.core.exclusive_files import exclusive_paths
from seqkern.core.text_files import open_text
from seqkern.core.tsv import aligned
from seqkern.core.types import PathLike
from seqkern.evaluation.auto import Traits, traits_of, tried, why
from seqkern.evaluation.calibration import VarianceCalibration
from seqkern.evaluation.intervals import too_few
from seqkern.evaluation.many_task_tests import corrected_choice
from seqkern.evaluation.metrics import LEVEL
from seqkern.evaluation.selection import standard_error
from seqkern.kernels.feature_transforms.transforms import feature_transforms
from seqkern.methods.feature_model import FeatureModel
from seqkern.methods.method import Method, identity_of
from seqkern.methods.model import Model, model_words
from seqkern.methods.residue_model import ResidueModel
from seqkern.methods.scan import find_hard_negatives, with_negatives
from seqkern.methods.sources import FitData
from seqkern.methods.training import collect_training_data, train_on
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.windows import letters_at_sites
from seqkern.solvers.costs import EVIDENCE, WITHOUT_FOLDS
from seqkern.solvers.solver_specs import SOLVERS, spec_text
from seqkern.solvers.thresholds import PLAIN
from seqkern.study.dataset import Dataset
from seqkern.study.several_sequences import NOTE

if TYPE_CHECKING:
    from seqkern.solvers.psvm.path import SignificanceTest

# The output of ``seqkern train`` about a new model: a summary, and warnings.

LEAST_BASES = 30
"""Minimum number of residues of a protein of only A, C, G, T and N that looks like DNA."""


def reliability_warnings(model: Model, dataset: Dataset, at_sites: Mapping[str, tuple[str, float]]) -> Iterator[str]:
    """Yield warnings about unreliable predictions of the model."""
    yield from unrecognised(model)
    linear = model.solver.linear() if model.kernel.traits.antisymmetric else None
    if linear is not None and linear[1] != 0:
        more = f"adds {linear[1]:.3g} to each effect, which so does not change its sign with the alleles"
        yield f"solver {model.solver.name} {more}; gp_regression:mean=zero, gp_classification and adatron add nothing"
    if model.calibration is not None and np.diff(model.calibration.probabilities([-1e99, 1e99])) <= 0:
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
    if model.window is None or model.window.site:
        return {}
    strand = dataset.task().labels.strand
    reverse = np.zeros(len(dataset.X), dtype=bool) if strand is None else strand == "-"
    return letters_at_sites(cast("SequenceSet", dataset.X), model.window, reverse)


def first_lines(made: Model | ResidueModel, path: PathLike) -> Iterator[str]:
    """Yield what a model is, how good it is, and the command that applies it."""
    model = made.windows if isinstance(made, ResidueModel) else made
    record = model.record
    unit = "residues" if isinstance(made, ResidueModel) else "samples" if model.alphabet is None else "sequences"
    learned, kernel, solver = model_words(model, unit)
    yield f"{path}: {learned}; kernel: {kernel}; solver: {solver}"
    unknown = "not cross-validated; add --cv" if model.kind != "none" else "without labels there is no score"
    unknown = unknown if "solver" in record else "how good it is, the file does not say"
    if "estimate" in record:
        from seqkern.report.sentences import how_good  # imported here, as in `metric_name`

        unknown = how_good(record["estimate"], model.kind)
    yield unknown
    if model.cut.widths is not None:
        yield f"{LEVEL:.0%} intervals {model.cut.widths.words}"
    table = model.alphabet is None or model.sequence_views
    if model.kernel.traits.antisymmetric and "genome" in record:
        yield f"next: seqkern variants {shlex.quote(str(path))} NEW.vcf --genome GENOME.fa -o effects.tsv"
        return
    new = "NEW.tsv" if table else "NEW.bed --genome GENOME.fa" if "genome" in record else "NEW.fa"
    columns = record.get(NOTE, {}).get("numbers", ())
    vectors = set(model.kernel.traits.views) - {*model.kernel.traits.sequence_views, *columns}
    unused = sorted(set(columns) - set(model.kernel.traits.views))
    if unused:
        yield f"{', '.join(unused)}: not used by the chosen kernel"
    new += "".join(f" --view {name}=NEW.npz" for name in sorted(vectors))
    site = None if model.window is None else model.window.site
    more = "-o predictions.tsv" if site is None else f"--scan {site} -o found.bed"
    yield f"next: seqkern predict {shlex.quote(str(path))} {new} {more}"


def summary(
    made: Model | ResidueModel,
    dataset: Dataset,
    training: Training,
    at_sites: Mapping[str, tuple[str, float]],
    searched: bool,
    estimate: cv.CrossValidated | None,
    labels: Labels,
) -> Iterator[tuple[str, str]]:
    """Yield the summary of a new model as (name, text); the name is empty on continuation lines."""
    residues = dataset.residues
    model, layers = (made.windows, made.layers) if isinstance(made, ResidueModel) else (made, None)
    record = model.record
    units = f"{record['n']} {'samples' if model.alphabet is None else 'sequences' if residues is None else 'residues'}"
    yield from _data_lines(
        model,
        units if residues is None else f"{units} of {_counted(len(residues.chains), 'chain')}",
        training.request.threshold is not None,
    )
    if at_sites:
        words = [f"{letters} ({share:.0%} on {strand})" for strand, (letters, share) in at_sites.items()]
        yield "", "letters at the sites: " + ", ".join(words)
    if model.alphabet is not None:
        yield "alphabet", model.alphabet.name
    yield from _method_lines(model, training, searched)
    if record.get("rungs"):
        yield from _comparison_lines(record, traits_of(cast("SequenceSet", dataset.X)))
    if layers is not None:
        yield (
            "layers",
            " → ".join(layer["layer"] for layer in training.layers) + ", fitted to decision values of held-out chains",
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
            f"{found.specificity:.3f} on the held-out samples used to choose it",
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
        place = "probability above 0.5" if model.cut.by_probability else "above zero"
        place = place if model.threshold is None else "above it"
        yield place, f"predicts {model.classes[1]}, otherwise {model.classes[0]} (change with --positive)"
    if model.window is not None:
        window = model.window
        yield "windows", f"{window} around {window.site or 'sites'}, length {window.length}"


def _method_lines(model: Model, training: Training, searched: bool) -> Iterator[tuple[str, str]]:
    """Yield lines on kernel, transforms and solver, and on their choices and learned values."""
    record = model.record
    chosen = training.auto or (record["search"] is not None and len(set(record["search"]["kernels"])) > 1)
    given = "auto" if training.auto else training.request.kernel
    yield "kernel", f"{record['kernel']}, of {given}" if chosen else given
    for name, value in model.kernel.learned().items():
        yield "", f"{name}: {value:.4g}"
    transforms: list[Any] = [*feature_transforms(model.kernel), *model.transforms]
    for transform in transforms:
        options = ",".join(f"{key}={value}" for key, value in transform.get_params().items())
        yield "transform", f"{transform.name}{':' if options else ''}{options}"
    yield "solver", spec_text(record["solver"]) if searched else training.request.solver
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
    if model.cut.widths is not None:
        yield "intervals", model.cut.widths.words


def _comparison_lines(record: Mapping[str, Any], traits: Traits) -> Iterator[tuple[str, str]]:
    """Yield lines on the kernels that auto compared, and the reason for its choice."""
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
    folds = (
        "" if search["metric"] in WITHOUT_FOLDS else f"mean of {len(search['scores'][0])} inner folds, on which it was "
    )
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
    name = "macro AUC" if search["metric"] == "macro_auc" else metric_name(search["metric"])
    if search["metric"] in WITHOUT_FOLDS:
        score = search["score"] if search["metric"] == EVIDENCE else -search["score"]
        return f"best of {len(search['specs'])}: {name} {score:.4f}, from one fit of each"
    optimism = max(mean(scores) for scores in search["scores"]) - corrected_choice(search["scores"])
    sign = -1 if search["metric"] == "rmse" else 1  # the inner loop maximises its negative
    score, corrected = (f"{sign * value:.4f}" for value in (search["score"], search["score"] - optimism))
    best = f"best of {len(search['specs'])}: {name} {score}"
    if eliminated:
        return f"{best}, after {eliminated} kernels were eliminated on fewer samples"
    return f"{best}, corrected for the choice {corrected}"


def _estimate_lines(estimate: cv.CrossValidated) -> Iterator[tuple[str, str]]:
    """Yield lines on the scores of the outer folds and the permutation test."""
    for i, line in enumerate(aligned(cv.score_rows(estimate))):
        yield "" if i else "estimate", line
    for line in cv.notes(estimate):
        yield "", line


def _without_usual(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specification of a solver without technical parameters and defaults."""
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


def run(request: TrainRequest) -> None:
    """Run the verb."""
    request = with_columns(request)
    training = read_training(request)
    folds = (5 if training.auto else None) if request.cv is None else request.cv or None
    if folds is None:
        request.refuse(
            "needs --cv", "fold_method", "parent", "permutations", "repeats", remedy="add --cv, or remove {option}"
        )
    _check_hard(request, folds)
    outer = None if folds is None else cv.outer_folds(request, folds)
    check_writable(request.output)
    if request.features:
        check_writable(request.features)
    significance = _significance(request)
    given = read_input(training)
    n_choices = 1 if folds is None else 1 + cv.count_choices(request, folds, given.labels)
    method = chosen_method(training, given, n_choices)
    _check_features(request, method, significance)
    if request.format == "lsgkm":
        _check_lsgkm(method, given)
    dataset, source = given.dataset, given.source
    with (
        CheckpointFolder(_finished_folder(request.output)) as unfinished,
        cv.computing(request, source) as show,
    ):
        kept = cv.grouped_samples(request, given) if outer is not None or method.divides(given.labels) else None
        if outer is not None and kept is not None:
            cv.check_design(method, given, outer, kept)
        limits: dict[str, Any] = {"memory_limit": request.memory, "progress": show}
        data = cv.collected(request, method, given, kept, show)
        for values in data.sources.values() if method.search.budget is not None else ():
            values.check_memory(len(data.labels), 0)  # before the cross-validation, whose training sets are smaller
        _check_listed(request, data, significance)
        done = unfinished.under(identity_of(method, data))
        estimate = None if outer is None else cv.cross_validated(request, method, data, given, outer, done)
        notes = dataset.notes | ({} if estimate is None else {"estimate": cv.record(estimate)})
        keep = request.format == "lsgkm"
        model = train_on(
            method,
            data,
            policies=request.policies,
            notes=notes,
            keep_support=keep,
            fit_cache=done,
            significance=significance,
            choice=None if estimate is None else estimate.choice,
            **limits,
        )
        if estimate is not None and request.calibration is None and request.fold_method is None:
            widths = VarianceCalibration.of_folds(estimate.results)
            model.record.update({} if widths is None else {"widths": asdict(widths)})
        found: list[str] = []
        if request.hard_negatives:
            model, found = _trained_again(request, method, given, model, notes, limits)
    deciding = model.windows if isinstance(model, ResidueModel) else model
    at_sites = commonest_at_sites(deciding, dataset)
    alone = () if estimate is None else cv.trivial_warning(estimate, request)
    for text in (*reliability_warnings(deciding, dataset, at_sites), *alone):
        warn(text)
    log_counts(model.record["kernel_counts"], source)
    details = [("hard", line) for line in found]
    chosen = training.chooses
    details += summary(model, dataset, training, at_sites, chosen, estimate, data.labels.take(data.labels.used()))
    model.record["summary"] = [[name, text] for name, text in details]
    with exclusive_paths(request.output) if request.features else contextlib.nullcontext():
        if request.format == "lsgkm":
            # imported here, as in _check_lsgkm: other models do not need the kernels of LS-GKM
            from seqkern.methods.lsgkm import write_lsgkm

            write_lsgkm(cast("Model", model), request.output)
        else:
            model.save(request.output)
        if request.features:
            cast("FeatureModel", model).write_features(request.features)
    unfinished.clear()
    where = "" if request.verbose else f"  # all choices: seqkern models list {shlex.quote(request.output)}"
    print("\n".join(first_lines(model, request.output)) + where)
    if request.features:
        print(request.features)
    for line in detail_lines(model) if request.verbose else ():
        print(line)


def detail_lines(made: Model | ResidueModel) -> Iterator[str]:
    """Yield the lines of the summary that training stored in a model; none for models of earlier releases."""
    for name, text in made.record.get("summary", ()):
        yield f"  {name:<10} {text}".rstrip()


def _trained_again(
    request: TrainRequest, method: Method, given: Input, model: Any, notes: dict[str, Any], limits: dict[str, Any]
) -> tuple[Any, list[str]]:
    """Return the model after all rounds of hard negatives, and a line on each round."""
    X, labels = cast("SequenceSet", given.X), given.dataset.task().labels
    number = int((labels.y == 1).sum()) if request.hard_number is None else request.hard_number
    lines, rounds = [], []
    for i in range(1, (request.hard_rounds or 1) + 1):
        with naming_file(request.hard_negatives):
            windows, decisions = find_hard_negatives(
                model, request.hard_negatives, X, labels, number=number, seed=request.seed, n_threads=request.threads
            )
        wrong = int((decisions > 0).sum())
        lines.append(
            f"round {i}: {len(windows)} windows added, {wrong} of them decided positive; decisions "
            f"{decisions.max():.3g} to {decisions.min():.3g}"
        )
        rounds.append({"added": len(windows), "positive": wrong, "digest": windows.digest()})
        X, labels = with_negatives(X, labels, windows, f"hard{i}_")
        again = collect_training_data(
            method,
            X,
            labels,
            window=given.window,
            allow_similar=request.allow_similar,
            n_threads=request.threads,
            **limits,
        )
        model = train_on(method, again, policies=request.policies, notes=notes | {"hard_negatives": rounds}, **limits)
    return model, lines


def _check_hard(request: TrainRequest, outer: int | None) -> None:
    """Raise ParameterError for hard negatives that cannot be found again in each round or fold."""
    if request.hard_negatives is None:
        return
    if outer is not None:
        raise ParameterError(
            "hard negatives are not part of the cross-validation, so it would estimate another model",
            remedy="give --cv 0, and test the model on other sequences",
        )
    if request.hard_negatives == "-":
        raise ParameterError("hard negatives are read in each round, and cannot be piped", remedy="give a file")
    with open_text(request.hard_negatives):
        pass  # found before any training


def _finished_folder(output: str) -> Path | None:
    """Return the folder of finished fits beside the model; None if the output is a device or pipe."""
    path = Path(output)
    return path.with_name(f".{path.name}.finished") if path.is_file() or not path.exists() else None


def _significance(request: TrainRequest) -> SignificanceTest | None:
    """Return the test of features, if wanted."""
    if request.significance is None:
        return None
    # imported here: other trainings do not need the P-SVM
    from seqkern.solvers.psvm.path import SignificanceTest

    return SignificanceTest.parse(request.significance)


def _check_features(request: TrainRequest, method: Method, significance: SignificanceTest | None) -> None:
    """Raise ParameterError for options whose output the model format or the list of features cannot hold."""
    if (request.calibration or request.threshold not in (None, PLAIN)) and request.format == "lsgkm":
        raise ParameterError(
            "the LS-GKM format stores neither probabilities nor a threshold",
            remedy="remove --calibration and --threshold, or --format",
        )
    if significance is not None:
        significance.check(method.specs)
    if request.features and method.input != "features":
        raise ParameterError(
            f"solver {method.specs[0]['solver']!r} selects no features",
            remedy="remove --features, or choose a solver that does, such as psvc:kernel=features",
        )


def _check_listed(request: TrainRequest, data: FitData, significance: SignificanceTest | None) -> None:
    """Raise ParameterError if features are to be listed but are replaced by products with the kernel matrix."""
    if significance is not None:
        significance.check_kind(data.labels.kind)
    for name, source in data.sources.items():
        if request.features and source.gives == "operator":
            raise ParameterError(
                f"kernel {name!r} has too many features to list: it is trained by products with the kernel matrix",
                remedy="remove --features, or choose a kernel with fewer, such as spectrum",
            )


def _check_lsgkm(method: Method, given: Input) -> None:
    """Raise an error for a model that the LS-GKM format cannot store."""
    from seqkern.methods.lsgkm import check_lsgkm  # imported here: no other format needs it

    if given.dataset.residues is not None:
        raise ParameterError("the LS-GKM format cannot store a residue model", remedy="remove --format")
    for name, kernel in method.kernels.items():
        assert kernel is not None
        alphabet = getattr(given.X, "alphabet", None)
        check_lsgkm(kernel, method.specs, method.transforms_of(name), alphabet, given.dataset.task().labels.kind)
