"""Train a model on everything there is; of several solvers, choose one by cross-validation first."""

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from seqkern.core.errors import LabelError, ModelError
from seqkern.evaluation.held_out import neighbours
from seqkern.folds.methods import rows_together
from seqkern.gram import compute_gram
from seqkern.gram.spectrum import spectrum
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.kernel import Kernel
from seqkern.models.data import TrainingData
from seqkern.models.fitted import FittedMethod
from seqkern.models.method import Method
from seqkern.models.model import Model
from seqkern.models.residue_model import ResidueModel
from seqkern.models.search import Search
from seqkern.models.sources import Units
from seqkern.models.watch import Watch
from seqkern.residues import Residues
from seqkern.sequences.labels import Labels
from seqkern.sequences.tables import SimilarityTable
from seqkern.sequences.windows import Window, as_window
from seqkern.solvers.base import Solver


def train_model(
    X: Units,
    labels: Labels,
    kernel: Kernel,
    solver: str | Mapping[str, Any] | list[dict[str, Any]],
    *,
    transforms: Sequence[GramTransform] = (),
    folds: int = 5,
    metric: str = "auto",
    seed: int = 1,
    rule: str = "best",
    calibration: str | None = None,
    threshold: str | None = None,
    residues: Residues | None = None,
    layers: Sequence[Any] = (),
    policies: Mapping[str, str] | None = None,
    notes: Mapping[str, Any] | None = None,
    memory_limit: int | str | None = None,
    n_threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Model | ResidueModel:
    """Train a model that can be applied to new sequences; without a Gram matrix, if the solver needs none.

    Parameters
    ----------
    X : SequenceSet or FeatureTable, n samples
        What is trained on.
    labels : Labels
        Of the n samples; those without a label are left out. Of the kind ``"none"`` for a solver that learns one class
        without labels. Samples of one group stay in one fold, and so do windows that overlap, where the labels say
        where the windows lie.
    kernel : Kernel
        Copied before it is fitted.
    solver : str, dict or list of dict
        A solver's spec. In one, a list of values is a grid; of a grid, or of a list of specs, the best by
        stratified cross-validation on the training samples is chosen.
    transforms : sequence of GramTransform, optional
        Of the Gram matrix, not fitted.
    folds : int
        Of the cross-validation.
    metric : str
        What the cross-validation maximises: ``"auto"`` or a name of `seqkern.evaluation.selection.METRICS`.
    seed : int
        Of the folds.
    rule : {"best", "one_standard_error"}
        How one is chosen (see `seqkern.evaluation.selection.select`).
    calibration : {"platt", "isotonic"}, optional
        How decisions become probabilities; fitted to decisions about held-out folds.
    threshold : str, optional
        Rule for the decision above which a sample is predicted to be positive (see
        `seqkern.solvers.thresholds`); by default 0.
    residues : Residues, optional
        Which residue of which chain each sample is, where samples are windows around residues; chains stay whole in
        folds.
    layers : list, optional
        Specs of the layers that follow the solver (`seqkern.layers`), of residues; fitted to decisions about held-out
        chains, in which they see the residues without a label too. They take the place of calibration and threshold.
    policies : dict, optional
        How the sequences were read, for new ones to be read likewise.
    notes : dict, optional
        JSON that goes into the record.
    memory_limit, n_threads, progress : object, optional
        As in `seqkern.gram.compute_gram`.

    Returns
    -------
    Model
        For a solver that takes features, a FeatureModel; of residues, a ResidueModel.

    Raises
    ------
    ModelError
        For similarities without sequences or features: new samples could not be compared.
    ParameterError
        For a solver that takes no Gram matrix with a kernel that does not give what it takes, or transforms.
    LabelError, FoldError
        If a class has too few members, or probabilities or a threshold are wanted of labels that are not binary, or
        there is something to choose, and no labels.
    GramError
        If the kernel matrix, or what stands for it, does not fit into the memory.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["ACAC", "AACA", "GGTG", "TGGT"], "dna")
    >>> model = train_model(X, make_labels(X.ids, ["a", "a", "b", "b"]), SpectrumKernel(2), "csvc:C=1")
    >>> model.predict(["CACA", "GTTG"])
    array(['a', 'b'], dtype='<U1')
    """
    if isinstance(X, SimilarityTable):
        raise ModelError(
            "a model of similarities cannot be applied to new units", remedy="use seqkern evaluate instead"
        )
    method = Method(
        kernel,
        solver,
        transforms=transforms,
        layers=layers,
        calibration=calibration,
        threshold=threshold,
        search=Search(folds, metric, seed, rule),
    )
    window = (notes or {}).get("window")
    data = _training_data(
        method,
        X,
        labels,
        residues,
        window=None if window is None else as_window(window),
        memory_limit=memory_limit,
        n_threads=n_threads,
        progress=progress,
    )
    fitted = method.fit(data, np.arange(len(data.labels)), watch=_Training())
    _warn_of_unconverged(fitted)
    return fitted.model(policies, notes)


def _training_data(
    method: Method,
    X: Units,
    labels: Labels,
    residues: Residues | None,
    *,
    window: Window | None,
    memory_limit: int | str | None,
    n_threads: int | None,
    progress: Callable[[int, int], None] | None,
) -> TrainingData:
    """Return the samples that have a label, as a method takes them, with their kernel values computed as a whole."""
    if len(X) != len(labels):
        raise LabelError(f"{len(labels)} labels for {len(X)} units", remedy="give one for each unit")
    ((name, kernel),) = method.kernels.items()
    assert kernel is not None
    used = np.flatnonzero(labels.used())
    seen = used  # by layers: neighbours without a label come after those with one
    if residues is not None and method.needs_chains:
        seen = np.concatenate((used, neighbours(residues, used, used)))
    everything = kernel.coerce(X)
    X, labels = everything.take(used), labels.take(used)
    if (method.calibration or method.threshold) and labels.kind != "binary":
        raise LabelError(
            f"probabilities and thresholds are for two classes, these labels are {labels.kind}",
            remedy="set one class against the rest (--positive NAME), or leave out --calibration and --threshold",
        )
    own = None if residues is None else residues.take(used)
    labels = replace(labels, groups=_together(labels, X, window, own))
    method.check_choice(labels)
    method.check(labels)
    sources = functools.partial(method.sources, memory_limit=memory_limit, n_threads=n_threads)
    # a kernel that learns in a way of its own has no matrices to be computed before
    form = kernel.stored_form() if method.input == "gram" else None
    limits: dict[str, Any] = {"memory_limit": memory_limit, "progress": progress}
    grams = [compute_gram(one, X, n_threads=n_threads, **limits) for one in (() if form is None else form.kernels)]
    own_sources = sources(X, grams={name: grams})
    own_sources[name].compute_whole(labels.targets(), **limits)
    return TrainingData(
        labels,
        own_sources,
        None if residues is None else residues.take(seen),
        functools.partial(sources, everything.take(seen)) if len(seen) > len(used) else None,
    )


def _together(labels: Labels, X: Units, window: Window | None, residues: Residues | None) -> npt.NDArray[Any] | None:
    """Return the groups of samples that stay in one fold: as `rows_together`, and of residues those of a chain."""
    if residues is not None and labels.groups is None:
        return residues.record.astype(str)
    return rows_together(labels, X, window)


class _Training(Watch):
    """Warns of a matrix that a solver may not find the best solution for."""

    def training_matrix(
        self, K: npt.NDArray[np.float64], kernel: Kernel | None, transforms: list[GramTransform], solver: Solver
    ) -> None:
        """Warn if a solver that needs a positive semi-definite matrix gets another."""
        if not solver.needs_semidefinite or kernel is None or kernel.positive_semidefinite:
            return
        if any(transform.semidefinite for transform in transforms):
            return
        found = spectrum(K)
        if found.indefinite:
            warnings.warn(
                f"the kernel matrix is not positive semi-definite (smallest eigenvalue {found.smallest:.3g}, "
                f"{100 * found.negative_share:.2g} % of the mass is negative), and solver {solver.spec()['solver']} "
                "may stop at a solution that is not the best: choose a repair (clip, flip, shift, empirical_map), or "
                "solver psvc, which takes any matrix",
                stacklevel=6,
            )


def _warn_of_unconverged(fitted: FittedMethod) -> None:
    """Warn of the fits of the cross-validation that did not converge."""
    inner, worst_gap = fitted.inner, fitted.choice.worst_gap
    failed = inner.not_converged + inner.weights_not_converged
    if not failed:
        return
    # weights of kernels, and fits within fits, are not among those that were counted
    within = inner.weights_not_converged or "inner_not_converged" in fitted.solver.report_
    share = f"{failed} fit{'s'[: failed != 1]}" if within else f"{failed} of {inner.n} fits"
    worst = "" if worst_gap is None else f"; the largest gap is {worst_gap:.3g}"
    warnings.warn(f"{share} of the cross-validation did not converge{worst}", ConvergenceWarning, stacklevel=3)
