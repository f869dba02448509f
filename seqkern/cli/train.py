"""``seqkern train``: a model from FASTA, in one file, that `seqkern predict` applies to new sequences."""

import sys
import warnings

from .common import (
    add_afterwards,
    add_sequence_arguments,
    add_threads,
    add_tracks,
    add_windows,
    naming_file,
    policies_of,
    read_tracks,
    tell_counts,
    unrecognised,
    windows_of,
)
from .feature_tables import check_label_column, table_dataset
from .profiles import profiles_of

EXAMPLE = (
    "seqkern train donors.fasta --labels donors.tsv --kernel spectrum:k=5 --solver psvc:epsilon=0.1 --search"
    " -o model.seqkern"
)

MORE_EXAMPLES = (
    "seqkern train proteins.fasta --labels proteins.tsv --label-field superfamily --positive s1"
    " --kernel smith_waterman --repair empirical_map --solver csvc -o relatives.seqkern",
    "seqkern train proteins.fasta --labels proteins.tsv --label-field superfamily --kernel spectrum:k=3"
    " --solver 'one_against_rest:binary=(csvc:C=1)' -o superfamilies.seqkern",
)


def add_arguments(parser):
    """Add the verb's arguments."""
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
    search.add_argument("--metric", help="what is maximised (default: auc; several classes: macro_auc; numbers: r2)")
    search.add_argument("--seed", type=int, default=1, help="of the folds (default: 1)")
    add_afterwards(search)
    add_sequence_arguments(parser)
    add_windows(parser)
    add_tracks(parser)
    work = parser.add_argument_group("the work")
    work.add_argument("--memory", metavar="SIZE", help="limit, such as 2GB (default: half of what is free)")
    add_threads(work)


def run(args):
    """Run the verb."""
    from ..archive import check_writable
    from ..errors import ParameterError
    from ..evaluation.held_out import check_afterwards
    from ..gram.transforms import build_transform
    from ..kernels import build_kernel, check_kind, parse_spec
    from ..lsgkm import check_lsgkm, write_lsgkm
    from ..methods import split_transforms
    from ..progress import progress_counter
    from ..solvers import common_input
    from ..training import train_model

    if (args.calibration or args.threshold) and args.format == "lsgkm":
        raise ParameterError(
            "files of LS-GKM hold neither probabilities nor a threshold",
            remedy="leave out --calibration and --threshold, or --format",
        )
    check_afterwards(args.calibration, args.threshold)
    _check_search(args)
    kernel_spec, transforms = split_transforms(parse_spec(args.kernel), args.transform, args.repair)
    kernel = build_kernel(kernel_spec)
    transforms = [build_transform(item) for item in transforms]
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
        X = dataset.X
    else:
        with_tracks = read_tracks(args, kernel)
        dataset = _dataset(args, kernel, grid)
        X = with_tracks(dataset.X)
    if args.format == "lsgkm":
        check_lsgkm(kernel, grid, transforms, getattr(X, "alphabet", None), dataset.task().labels.kind)
    tell_counts(dataset.X.counts, source)
    with (
        naming_file(source),
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
            policies=policies_of(args),
            notes=dataset.notes,
            memory_limit=args.memory,
            n_threads=args.threads,
            progress=show,
        )
    for text in dict.fromkeys(str(warning.message) for warning in said):
        print(f"seqkern: warning: {text}", file=sys.stderr)
    at_sites = _letters_at_sites(model, dataset)
    for text in _doubts(model, dataset, at_sites):
        print(f"seqkern: warning: {text}", file=sys.stderr)
    tell_counts(model.record["kernel_counts"], source)
    if args.format == "lsgkm":
        write_lsgkm(model, args.output)
    else:
        model.save(args.output)
    print(args.output)
    if args.features:
        model.write_features(args.features)
        print(args.features)
    for name, text in _summary(model, args, at_sites):
        print(f"  {name:<10} {text}")


def _searches(args):
    """Tell whether there is to be a search."""
    return args.search or args.draws is not None


def _check_search(args):
    """Raise ParameterError for an option of the search where there is none."""
    from ..errors import ParameterError

    useless = [name for name in ("rule", "metric") if getattr(args, name) is not None]
    if args.folds is not None and not (args.calibration or args.threshold):
        useless.append("folds")
    if useless and not _searches(args):
        others = ", or to --calibration or --threshold" if useless == ["folds"] else ""
        raise ParameterError(
            f"--{useless[0]} belongs to a search{others}", remedy=f"add --search, or leave out --{useless[0]}"
        )


def _grid(args):
    """Return the solver specifications to choose among."""
    from ..evaluation.candidates import make_candidates
    from ..solvers import build_solver

    if not _searches(args):
        return [build_solver(args.solver).spec()]
    candidates = make_candidates([None], args.solver, draws=args.draws, seed=args.seed, search=True)
    return [spec for _, spec in candidates]


def _dataset(args, kernel, grid):
    """Return the Dataset of the FASTA files and their labels; without labels, of one file and solvers without."""
    from ..datasets import make_dataset
    from ..errors import LabelError

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
            "table; or choose solver one_class_svm, which learns the positives alone",
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


def _need_no_labels(grid):
    """Tell whether all solvers can learn without labels."""
    from ..solvers import build_solver

    return all("none" in build_solver(spec).targets for spec in grid)


def _doubts(model, dataset, at_sites):
    """Yield what a user should know before relying on the model's predicted classes."""
    import numpy as np

    yield from unrecognised(model)
    if model.calibration is not None and not model.calibration.rises:
        yield (
            "decisions about held-out sequences do not tell the classes apart: the probabilities do not rise with the "
            "decision"
        )
    if len({word for word, _ in at_sites.values()}) > 1:
        both = " and ".join(f"{word} on {strand}" for strand, (word, _) in at_sites.items())
        yield (
            f"at the sites the commonest letters are {both}: do positions count from 1, and name the site's own "
            "first letter on both strands? --site LETTERS checks each site"
        )
    X, labels = dataset.X, dataset.task().labels
    if getattr(X, "alphabet", None) is None or X.alphabet.name != "protein" or labels.kind == "real":
        return
    bases = [X.alphabet.letters.index(letter) for letter in "ACGT"]
    for code, name in enumerate(labels.classes):
        part = X.take(labels.y == code)
        if len(part) and np.isin(part.codes[part.positions()], bases).all():
            yield f"the sequences of class {name} look like DNA, but the alphabet is protein"


def _letters_at_sites(model, dataset):
    """Return the commonest two letters at the sites of each strand, as `letters_at_sites`; {} if they were checked."""
    import numpy as np

    from ..windows import letters_at_sites

    if model.window is None or model.window.site:
        return {}
    strand = dataset.task().labels.strand
    reverse = np.zeros(len(dataset.X), dtype=bool) if strand is None else strand == "-"
    return letters_at_sites(dataset.X, model.window, reverse)


def _summary(model, args, at_sites):
    """Yield (name, text) of what a user wants to know of a new model."""
    from ..feature_model import FeatureModel
    from ..solvers.specs import spec_text

    record = model.record
    counts = ", ".join(f"{name}: {count}" for name, count in record["classes"].items())
    units = f"{record['n']} {'units' if model.alphabet is None else 'sequences'}"
    yield "trained on", f"{units} ({counts})" if model.kind != "none" else units
    if model.threshold is not None:
        found = model.threshold
        yield (
            "threshold",
            f"{found.value:.4g} for {found.rule}: on held-out units sensitivity {found.sensitivity:.3f}, specificity "
            f"{found.specificity:.3f}",
        )
    if model.projects:
        shares = model.solver.explained_variance_ratio_
        several = ", ".join(f"{share:.1%}" for share in shares[:5]) + (", …" if len(shares) > 5 else "")
        yield "components", f"{len(shares)}, with {shares.sum():.1%} of the variance: {several}"
    elif model.kind == "none":
        yield "above zero", "inside the class, else outside"
    if model.kind == "binary":
        place = "above zero" if model.threshold is None else "above it"
        yield place, f"class {model.classes[1]}, else class {model.classes[0]} (--positive chooses)"
    if model.window is not None:
        window = model.window
        yield "windows", f"{window} around {window.site or 'sites'}, {window.length} letters"
    if at_sites:
        words = [f"{word} ({share:.0%} on {strand})" for strand, (word, share) in at_sites.items()]
        yield "", "there stands " + ", ".join(words)
    if model.alphabet is not None:
        yield "alphabet", model.alphabet.name
    yield "kernel", args.kernel
    for name, value in model.kernel.learned().items():
        yield "", f"{name}: {value:.4g}"
    for transform in model.transforms:
        options = ",".join(f"{key}={value}" for key, value in transform.get_params().items())
        yield "transform", f"{transform.name}{':' if options else ''}{options}"
    yield "solver", spec_text(record["solver"]) if _searches(args) else args.solver
    own = record["report"].get("predictor")  # of solver selected
    if own is not None:
        own = {key: value for key, value in own.items() if value is not None and key not in ("tol", "max_iter")}
        yield "chosen", f"{_counted(record['report']['n_features'], 'feature')}, predictor {spec_text(own)}"
    if model.calibration is not None:
        method, n = model.calibration.method, model.calibration.n
        yield "probability", f"{method}, fitted to {n} decisions about held-out units"
    report = record["report"]
    state = "converged" if report["converged"] else "NOT converged"
    yield "fit", f"{state} after {report['iterations']} iterations, residual {report['residual']:.2g}"
    if record.get("inner_not_converged"):
        yield "inner fits", f"{record['inner_not_converged']} did not converge, so that the choice is less certain"
    if report["converged"] and report.get("remark"):
        yield "", report["remark"]
    if model.kind == "binary" and report.get("n_learned") is not None:
        yield (
            "learned",
            f"the {report['n_learned']} of class {model.classes[1]} alone, none of class {model.classes[0]}",
        )
    what = "features" if isinstance(model, FeatureModel) else f"of {units}"
    yield "support", f"{report['n_support']} {what} ({report['support_share']:.1%})"
    search = record["search"]
    if model.kind == "none":
        return
    if search is None and report.get("error") is not None:
        yield "score", f"mean error {report['error']:.4f} in the solver's own cross-validation, by which it chose"
        yield "", "the features' number and the predictor: a little optimistic; seqkern evaluate makes an unbiased one"
        return
    if search is None:
        one_class = report.get("n_learned") is not None
        hint = "there was one candidate only" if _searches(args) else "--search makes one"
        hint = "" if one_class else f": {hint}"  # to choose by negatives is not what one class is for
        yield "score", f"no cross-validation was made{hint}; seqkern evaluate makes an unbiased one"
        return
    folds, candidates = len(search["scores"][0]), len(search["specs"])
    yield "score", f"{search['metric']} {search['score']:.4f}, the mean of {folds} folds of cross-validation"
    yield "", f"of the best of {candidates} candidates on these very folds: a little optimistic"


def _counted(count, what):
    """Return a number with its noun."""
    return f"{count} {what}{'s'[: count != 1]}"
