"""Train a model on all labelled samples; choose among several solvers by cross-validation first."""

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seqkern.core.checkpoint import Checkpoint
from seqkern.core.convergence import warn_unconverged
from seqkern.core.errors import LabelError, ModelError, ParameterError, SeqkernError, TooLargeError
from seqkern.core.types import Array, Floats, PathLike
from seqkern.evaluation.auto import LARGE_SOLVER, default_solver
from seqkern.evaluation.calibration import METHODS, VARIANCE
from seqkern.evaluation.fold_methods import indivisible_groups
from seqkern.evaluation.folds import relaxed_groups
from seqkern.evaluation.held_out import neighbours
from seqkern.evaluation.leakage import codes_of
from seqkern.evaluation.selection import Choice
from seqkern.formats.residues import Residues
from seqkern.gram.compute import compute_gram
from seqkern.gram.matrix import GramMatrix
from seqkern.gram.stored_matrix import npy_path, open_gram, side_path, spectrum
from seqkern.gram.tiles import TileFolder
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_specs import solver_input
from seqkern.methods.feature_model import significance_record
from seqkern.methods.fitted import FittedMethod, Search
from seqkern.methods.method import Method
from seqkern.methods.model import Model
from seqkern.methods.residue_model import ResidueModel
from seqkern.methods.sources import (
    Callbacks,
    FitData,
    FittedKernel,
    Samples,
    Source,
    fitting,
    make_source,
    predicted_work,
)
from seqkern.sequences.labels import SAMPLE_COLUMNS, Labels
from seqkern.sequences.sampling import merge_groups
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.similarity import SimilarGroups, similar_groups
from seqkern.sequences.tables import Data, SimilarityTable
from seqkern.sequences.windows import Window, as_window
from seqkern.solvers.contract import Solver
from seqkern.solvers.solver_specs import Free
from seqkern.solvers.thresholds import PLAIN
from seqkern.study.kernel_entries import AutoKernel, KernelEntry
from seqkern.study.solver_entries import SolverEntry

if TYPE_CHECKING:
    from seqkern.solvers.psvm.path import SignificanceTest

# Samples of a training set that no fold may separate: groups, loci, chains and similar sequences.


@dataclass(frozen=True, eq=False)
class SampleGroups:
    """Samples that no fold within a training set separates.

    >>> from seqkern.methods.training import SampleGroups
    >>> SampleGroups(None).sentences
    ()
    """

    groups: Array | None  # shape (n,): Samples of one group stay together; None if none do
    similar: SimilarGroups | None = None  # The similar sequences, or chains of residues; None if none were looked for
    reasons: tuple[str, ...] = ()  # A sentence for each class whose similar samples are split
    unit: str = "sequences"  # What `similar` groups

    @property
    def sentences(self) -> tuple[str, ...]:
        """Findings for the user, as sentences; empty if there are none."""
        return (self.similar.describe(self.unit), *self.reasons) if self.similar else ()


def group_samples(
    labels: Labels,
    X: Samples,
    window: Window | None = None,
    residues: Residues | None = None,
    *,
    allow_similar: bool = False,
    n_threads: int | None = None,
) -> "SampleGroups":
    """Join given groups, loci (`indivisible_groups`), chains of residues and groups of similar sequences.

    Where the groups are whole chromosomes, similar sequences are not searched for: repeats would join nearly all
    chromosomes into one group.
    """
    if labels.by_chromosome:
        return SampleGroups(labels.groups)
    if residues is not None and labels.groups is None:
        others: Array | None = residues.record.astype(str)
    else:
        others = indivisible_groups(labels, X, window)
    sequences = X if residues is None else residues.chains
    if allow_similar or not isinstance(sequences, SequenceSet):
        return SampleGroups(others)
    similar = similar_groups(sequences, classes=codes_of(labels) if residues is None else None, n_threads=n_threads)
    numbers = similar.groups if residues is None else similar.groups[residues.record]
    kept, reasons = relaxed_groups(numbers, others, labels)
    unit = "sequences" if residues is None else "chains"
    if kept is None:
        return SampleGroups(others, similar, reasons, unit)
    return SampleGroups(merge_groups(len(labels), kept, others), similar, reasons, unit)


def _check_variances(method: Method, labels: Labels) -> None:
    """Raise ParameterError unless the labels are numbers and every solver predicts their variances."""
    scales = f"--calibration {VARIANCE} scales the predicted variances of numbers"
    if labels.kind != "real":
        what = {"binary": "two classes", "multiclass": "classes"}.get(labels.kind, "missing")
        remedy = "choose --calibration platt" if labels.kind == "binary" else "remove --calibration"
        raise ParameterError(f"{scales}, but the labels are {what}", remedy=remedy)
    for solver in method.solvers:
        if not solver.traits.variances:
            raise ParameterError(
                f"{scales}, but solver {solver.name!r} predicts none",
                remedy="choose solver gp_regression, or remove --calibration",
            )


# Samples to train on, with the kernel matrices of all of them, computed once for every fold and for the model.


def collect_training_data(
    method: Method,
    X: Samples,
    labels: Labels,
    residues: Residues | None = None,
    *,
    window: Window | None = None,
    kept: SampleGroups | None = None,
    allow_similar: bool = False,
    tell: Callable[[str], None] | None = None,
    memory_limit: int | str | None = None,
    n_threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    gram_files: Sequence[PathLike] = (),
) -> FitData:
    """Return the labelled samples in the form that a method needs, with the kernel matrices that all folds share.

    A matrix that several candidate kernels need is computed once.
    """
    if len(X) != len(labels):
        raise LabelError(f"{len(labels)} labels for {len(X)} samples", remedy="give one for each sample")
    used = np.flatnonzero(labels.used())
    seen = used  # by layers: unlabelled neighbours follow the labelled samples
    if residues is not None and method.needs_chains:
        seen = np.concatenate((used, neighbours(residues, used, used)))
    everything = X
    for kernel in method.kernels.values():
        assert kernel is not None
        everything = kernel.coerce(everything)
    spare = np.flatnonzero(~labels.used()) if method.accepts_unlabelled and residues is None else used[:0]
    unlabelled = labels.take(spare)
    X, labels = everything.take(used), labels.take(used)
    if method.calibration == VARIANCE:
        _check_variances(method, labels)
    if (method.calibration in METHODS or method.threshold not in (None, PLAIN)) and labels.kind != "binary":
        raise LabelError(
            f"probabilities and thresholds need two classes, but these labels are {labels.kind}",
            remedy="train one class against the rest (--positive NAME), or remove --calibration and --threshold",
        )
    if kept is None:
        own = None if residues is None else residues.take(used)
        allowed = allow_similar or not method.divides(labels)
        kept = group_samples(labels, X, window, own, allow_similar=allowed, n_threads=n_threads)
        if tell is not None:
            for sentence in kept.sentences:
                tell(sentence)
    labels = replace(labels, groups=kept.groups)
    method.check_choice(labels)
    method.check(labels)
    if len(spare):
        X, labels = everything.take(np.concatenate((used, spare))), followed_by(labels, unlabelled)
    sources = functools.partial(method.sources, memory_limit=memory_limit, n_threads=n_threads)
    compute: Callable[..., GramMatrix] = functools.partial(
        compute_gram, X=X, n_threads=n_threads, memory_limit=memory_limit, progress=progress
    )
    try:
        grams = shared_grams(method, X, compute, gram_files)
    except TooLargeError as error:
        error.suggest(method.without_matrix)
        raise
    return FitData(
        labels,
        sources(X, grams=grams),
        None if residues is None else residues.take(seen),
        np.arange(len(used), len(labels)),
        beyond=functools.partial(sources, everything.take(seen)) if len(seen) > len(used) else None,
    )


def followed_by(labels: Labels, unlabelled: Labels) -> Labels:
    """Return labels followed by the labels of unlabelled samples, each its own group.

    >>> from seqkern.sequences.labels import make_labels
    >>> labels = make_labels(list("abc"), ["donor", "decoy", ""])
    >>> followed_by(labels.take(slice(2)), labels.take(slice(2, 3))).names()
    ['donor', 'decoy', '']
    """
    columns: dict[str, Any] = {}
    for name in ("y", *SAMPLE_COLUMNS):
        own, others = getattr(labels, name), getattr(unlabelled, name)
        if own is None:
            continue
        if name == "groups":
            own = np.unique(own, return_inverse=True)[1]
            others = len(own) + np.arange(len(unlabelled))
        columns[name] = np.concatenate((own, others))
    return Labels([*labels.ids, *unlabelled.ids], kind=labels.kind, classes=labels.classes, **columns)


def shared_grams(
    method: Method, X: Samples, compute: Callable[..., GramMatrix], files: Sequence[PathLike] = ()
) -> Mapping[str, list[GramMatrix]]:
    """Return the matrices over all samples that the candidate kernels need, by kernel name; equal ones are one object.

    They are opened in their `files`, or computed there, one for each different matrix, in order. There are none for a
    kernel fitted on each training set, for solvers without a Gram matrix, and for successive halving, which may need
    only some matrices.
    """
    named: dict[str, list[tuple[str, Kernel]]] = {}
    for name, kernel in method.kernels.items() if files or method.search.budget is None else ():
        gives = method.inputs[name][0] if files else method.gives(name, X)
        form = kernel.stored_form if kernel is not None and gives == "gram" else None
        named[name] = [(one.identity(), one) for one in (() if form is None else form.kernels)]
    needed = dict(pair for pairs in named.values() for pair in pairs)
    paths = [npy_path(path) for path in files]
    if files and not needed:
        raise ParameterError(
            "there is no Gram matrix to store: the solver is trained without one, or the kernel is fitted to data",
            file=paths[0],
            remedy="remove --gram",
        )
    if files and len(paths) != len(needed):
        kernels = ", ".join(str(kernel.name) for kernel in needed.values())
        matrices = f"{len(needed)} Gram {'matrix' if len(needed) == 1 else 'matrices'}"
        raise ParameterError(
            f"{len(paths)} file{'s'[: len(paths) != 1]} for {matrices} ({kernels})",
            file=paths[0],
            remedy="give one file for each matrix after --gram, in this order",
        )
    if method.search.budget is not None:  # its sources compute them when they are needed
        return {}
    grams = {identity: compute(kernel) for identity, kernel in needed.items()} if not files else {}
    for (identity, kernel), path in zip(needed.items(), paths, strict=False):
        if path.exists() and side_path(path).exists():
            grams[identity] = open_gram(path, X, kernel=kernel)
            TileFolder(path, "finished").clear()  # those that a run left which was killed before it removed them
        else:
            grams[identity] = compute(kernel, path=path)
    return {name: [grams[identity] for identity, _ in pairs] for name, pairs in named.items()}


def train_model(
    X: Samples,
    labels: Labels,
    kernel: Kernel | Mapping[str, Kernel],
    solver: str | Mapping[str, Any] | Sequence[Any],
    *,
    transforms: Sequence[GramTransform] | Mapping[str, Sequence[GramTransform]] = (),
    folds: int = 5,
    metric: str = "auto",
    seed: int = 1,
    rule: str = "best",
    calibration: str | None = None,
    threshold: str | None = None,
    free: Free | None = None,
    residues: Residues | None = None,
    layers: Sequence[Any] = (),
    policies: Mapping[str, str] | None = None,
    notes: Mapping[str, Any] | None = None,
    allow_similar: bool = False,
    tell: Callable[[str], None] | None = None,
    memory_limit: int | str | None = None,
    n_threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Model | ResidueModel:
    """Train a model for new sequences; without a Gram matrix if the solver needs none.

    Parameters
    ----------
    X : SequenceSet or FeatureTable, n samples
        The data to train on.
    labels : Labels
        Labels of the n samples; unlabelled ones are ignored, unless the solver learns from them. Of kind ``"none"`` for
        a solver without labels. Samples of one group stay in one fold, and so do similar sequences, and overlapping
        windows, if the labels give their positions.
    kernel : Kernel, or mapping of str to Kernel
        Copied before fitting. Several, by name, are candidates.
    solver : str, dict, list of dict, or list of (str, dict)
        A solver's spec, in which a list of values is a grid; or candidate specs, each with every kernel, or with the
        kernel named beside it. The best by stratified cross-validation on the training samples is chosen.
    transforms : sequence of GramTransform, or mapping of str to such sequences, optional
        Transforms of the Gram matrix, not fitted; by kernel name.
    folds : int
        Folds of the cross-validation.
    metric : str
        The metric to maximise: ``"auto"`` or a name of `seqkern.evaluation.selection.METRICS`.
    seed : int
        Seed of the folds.
    rule : {"best", "one_standard_error"}
        The rule of choice (see `seqkern.evaluation.selection.select`).
    calibration : {"platt", "isotonic", "variance"}, optional
        Calibration of decision values to probabilities, or of the variances of predicted numbers by one factor; fitted
        to held-out decision values.
    threshold : str, optional
        Rule for the decision threshold of the positive class (see `seqkern.solvers.thresholds`); default: see
        `seqkern.methods.fitted`.
    free : Free, optional
        Parameters to search beyond the candidates (see `seqkern.solvers.solver_specs`).
    residues : Residues, optional
        The residue of each sample, if samples are windows around residues; chains stay whole in
        folds.
    layers : list, optional
        Specs of the layers after the solver (`seqkern.solvers.layers`), for residues; fitted to held-out decision
        values
        of chains, including residues without a label. They replace calibration and threshold.
    policies : dict, optional
        Policies for reading the sequences, applied to new ones as well.
    notes : dict, optional
        JSON for the record.
    allow_similar : bool
        Whether similar sequences may be in different folds.
    tell : callable, optional
        Called with a sentence on similar sequences, if any were found, and on each class that they leave with too few
        groups.
    memory_limit, n_threads, progress : object, optional
        As for `seqkern.gram.compute_gram`.

    Returns
    -------
    Model
        For a solver on features, a FeatureModel; for residues, a ResidueModel.

    Raises
    ------
    ModelError
        For similarities without sequences or features, since new samples cannot be compared.
    ParameterError
        For a solver without a Gram matrix if the kernel does not provide its input, or with transforms.
    LabelError, FoldError
        If a class has too few members, if probabilities or a threshold are requested for labels that are not binary, or
        if there are several candidates but no labels.
    GramError
        If the kernel matrix, or its replacement, does not fit into memory.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["ACAC", "AACA", "GGTG", "TGGT"], "dna")
    >>> model = train_model(X, make_labels(X.ids, ["a", "a", "b", "b"]), SpectrumKernel(2), "csvc:C=1")
    >>> model.predict(["CACA", "GTTG"])
    array(['a', 'b'], dtype='<U1')
    >>> kernels = {"single": SpectrumKernel(1), "pairs": SpectrumKernel(2)}
    >>> train_model(X, make_labels(X.ids, ["a", "a", "b", "b"]), kernels, "csvc:C=1", folds=2).record["kernel"]
    'single'
    """
    if isinstance(X, SimilarityTable):
        raise ModelError("a model of similarities cannot be applied to new samples", remedy="use seqkern evaluate")
    method = Method(
        kernel,
        solver,
        transforms=transforms,
        layers=layers,
        calibration=calibration,
        threshold=threshold,
        search=Search(folds, metric, seed, rule, free or Free()),
    )
    window = (notes or {}).get("window")
    data = collect_training_data(
        method,
        X,
        labels,
        residues,
        window=None if window is None else as_window(window),
        allow_similar=allow_similar,
        tell=tell,
        memory_limit=memory_limit,
        n_threads=n_threads,
        progress=progress,
    )
    return train_on(method, data, policies=policies, notes=notes, memory_limit=memory_limit, progress=progress)


def train_on(
    method: Method,
    data: FitData,
    *,
    policies: Mapping[str, str] | None = None,
    notes: Mapping[str, Any] | None = None,
    keep_support: bool = False,
    fit_cache: Checkpoint | None = None,
    significance: "SignificanceTest | None" = None,
    choice: Choice | None = None,
    memory_limit: int | str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Model | ResidueModel:
    """Train a model on samples whose kernel matrices are known; `choice` is made already."""
    if significance is not None:
        significance.check(method.specs)
        significance.check_kind(data.labels.kind)
    for source in data.sources.values():
        # of several candidates only the chosen one is fitted on all samples
        kernel = source.kernel
        if len(data.sources) == 1 or not (source.learns or kernel is None or kernel.traits.data_dependent):
            source.compute_whole(data.labels.targets(), memory_limit=memory_limit, progress=progress)
    fitted = method.fit(data, callbacks=_Training(), choice=choice, fit_cache=fit_cache)
    _warn_of_unconverged(fitted)
    if significance is not None:
        tested = significance_record(significance, fitted.solver, fitted.block.train, fitted.y, method.search.seed)
        notes = {**(notes or {}), "significance": tested}
    return fitted.model(policies, notes, keep_support)


class _Training(Callbacks):
    """Callbacks that warn of a matrix that may be unsuitable for a solver."""

    def training_matrix(
        self, K: Floats, kernel: Kernel | None, transforms: list[GramTransform], solver: Solver
    ) -> None:
        """Warn if a solver that needs a positive semi-definite matrix gets one that is not."""
        if not solver.traits.semidefinite or kernel is None or kernel.traits.positive_semidefinite:
            return
        if not isinstance(K, np.ndarray):  # of products the operator knows the eigenvalues
            return
        if any(transform.semidefinite for transform in transforms):
            return
        found = spectrum(K)
        if found.indefinite:
            warnings.warn(
                f"the kernel matrix is not positive semi-definite (smallest eigenvalue {found.smallest:.3g}, "
                f"{100 * found.negative_share:.2g}% of the mass is negative), and solver {solver.spec()['solver']} "
                "may stop at a suboptimal solution: choose a repair (clip, flip, shift, empirical_map), or "
                "solver psvc, which accepts any matrix",
                stacklevel=6,
            )


def _warn_of_unconverged(fitted: FittedMethod) -> None:
    """Warn about fits in the cross-validation that did not converge."""
    inner, worst_gap = fitted.inner, fitted.choice.worst_gap
    failed = inner.not_converged + inner.weights_not_converged
    if not failed:
        return
    # kernel weights and nested fits are not included in the count
    within = inner.weights_not_converged or "inner_not_converged" in fitted.solver.report_
    share = f"{failed} fit{'s'[: failed != 1]}" if within else f"{failed} of {inner.n} fits"
    worst = "" if worst_gap is None else f"; the largest gap is {worst_gap:.3g}"
    warn_unconverged(f"{share} of the cross-validation did not converge{worst}", stacklevel=3)


# The method of ``--kernel auto``: the kernel portfolio for the data, and a search that chooses from it.


def automatic_method(
    X: Data,
    *,
    kind: str = "binary",
    entry: AutoKernel,
    solver: str | Mapping[str, Any] | None = None,
    search: Search,
    n_choices: int = 1,
    calibration: str | None = None,
    threshold: str | None = None,
    memory_limit: int | str | None = None,
) -> Method:
    """Return the method that chooses a kernel, and its solver's parameters, for the given sequences.

    Only the alphabet, lengths, number, tracks and views of the sequences are used; `n_choices` training sets
    share the time. Without a `solver`, each kernel has the one that is faster: by its Gram matrix, or by products.
    Kernels that do not fit in memory are left out.

    >>> from seqkern import SequenceSet
    >>> X = SequenceSet.from_strings(["ACGTACGTTACA", "TTACGTCA"], "dna")
    >>> method = automatic_method(X, entry=AutoKernel.parse("auto"), solver="csvc", search=Search())
    >>> len(method.kernels) > 3, method.input
    (True, 'gram')
    """
    n = len(X)
    first = SolverEntry.parse(default_solver(kind, n) if solver is None else solver, defaults=True)
    entries = entry.resolve(X, first.input, kind == "real", first.accepts_operator)
    second = first
    if solver is None and kind != "real":
        second = SolverEntry.parse({"solver": LARGE_SOLVER, "C": COSTS}, defaults=True)
        first = second if first.solver_name == LARGE_SOLVER else first
    faster = [second is not first and _faster_by_products(one, X, kind, first, second) for one in entries]
    given = [(one, second if better else first) for one, better in zip(entries, faster, strict=True)]
    members = fitting(given, X, memory_limit)
    if n > REFINED:  # a finer grid would cost more than it gains
        search = replace(search, free=replace(search.free, limits=()))
    return Method(
        {one.name: one.kernel for one, _ in members},
        [candidate for one, own in members for candidate in own.candidates([one.name])],
        transforms={one.name: one.transforms for one, _ in members},
        calibration=calibration,
        threshold=threshold,
        search=replace(search, budget=entry.budget(n, n_choices), n_choices=n_choices),
    )


COSTS = [0.1, 1.0, 10.0]
"""Values of C by products, where they are not refined."""
REFINED = 2000
"""Maximum number of samples for which the grid of the chosen kernel is refined."""


def _faster_by_products(entry: KernelEntry, X: Data, kind: str, gram: SolverEntry, products: SolverEntry) -> bool:
    """Return whether a search takes less time by products with a kernel's matrix than with the matrix."""
    kernel = entry.kernel
    if kernel.traits.data_dependent or not entry.gives(products.input, products.accepts_operator):
        return False
    try:
        source = make_source(kernel, X, gives=solver_input(kernel, products.input, products.accepts_operator, X))
    except SeqkernError:  # it takes too much memory
        return False
    both: dict[str, Source] = {"gram": FittedKernel(kernel, X, entry.transforms), "products": source}
    candidates = [("gram", spec) for spec in gram.specs] + [("products", spec) for spec in products.specs]
    work = predicted_work(both, candidates, kind, len(X), 2, [0.8 * len(X)] * 5)
    return work["products"].seconds() < work["gram"].seconds()
