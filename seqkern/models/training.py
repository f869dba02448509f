"""Train a model on all labelled samples; choose among several solvers by cross-validation first."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.checkpoint import Checkpoint
from seqkern.core.convergence import warn_unconverged
from seqkern.core.errors import ModelError
from seqkern.gram.spectrum import spectrum
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.kernel import Kernel
from seqkern.models.data import TrainingData
from seqkern.models.fitted import FittedMethod
from seqkern.models.method import Method
from seqkern.models.model import Model
from seqkern.models.residue_model import ResidueModel
from seqkern.models.search import Search
from seqkern.models.selected_features import significance_record
from seqkern.models.sources import Units
from seqkern.models.training_data import training_data
from seqkern.models.watch import Watch
from seqkern.residues import Residues
from seqkern.sequences.labels import Labels
from seqkern.sequences.tables import SimilarityTable
from seqkern.sequences.windows import as_window
from seqkern.solvers.base import Solver
from seqkern.solvers.free_parameters import Free
from seqkern.solvers.psvm.significance_test import SignificanceTest


def train_model(
    X: Units,
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
        Of the Gram matrix, not fitted; by kernel name.
    folds : int
        Folds of the cross-validation.
    metric : str
        The metric to maximise: ``"auto"`` or a name of `seqkern.evaluation.selection.METRICS`.
    seed : int
        Of the folds.
    rule : {"best", "one_standard_error"}
        The rule of choice (see `seqkern.evaluation.selection.select`).
    calibration : {"platt", "isotonic"}, optional
        Calibration of decision values to probabilities; fitted to held-out decision values.
    threshold : str, optional
        Rule for the decision threshold of the positive class (see `seqkern.solvers.thresholds`); default: see
        `seqkern.models.afterwards`.
    free : Free, optional
        What is searched beyond the candidates (see `seqkern.solvers.free_parameters`).
    residues : Residues, optional
        The residue of each sample, if samples are windows around residues; chains stay whole in
        folds.
    layers : list, optional
        Specs of the layers after the solver (`seqkern.layers`), for residues; fitted to held-out decision values
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
    data = training_data(
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
    data: TrainingData,
    *,
    policies: Mapping[str, str] | None = None,
    notes: Mapping[str, Any] | None = None,
    keep_support: bool = False,
    finished: Checkpoint | None = None,
    significance: SignificanceTest | None = None,
    memory_limit: int | str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Model | ResidueModel:
    """Train a model on samples whose kernel matrices are known.

    Parameters
    ----------
    method : Method
        What to train, and how to choose it.
    data : TrainingData
        As from `seqkern.models.training_data.training_data` for this method.
    policies, notes, memory_limit, progress : object, optional
        As for `train_model`.
    keep_support : bool
        As for `FittedMethod.model`.
    finished : Checkpoint, optional
        As for `Method.fit`.
    significance : SignificanceTest, optional
        Test the features that the P-SVM selects; the p-values are in the model's record.

    Returns
    -------
    Model or ResidueModel

    Raises
    ------
    ParameterError, LabelError, FoldError, GramError
        As for `train_model`.
    """
    if significance is not None:
        significance.check(method.specs)
        significance.check_kind(data.labels.kind)
    for source in data.sources.values():
        # of several candidates only the chosen one is fitted on all samples
        if len(data.sources) == 1 or not (source.learns or source.kernel is None or source.kernel.data_dependent):
            source.compute_whole(data.labels.targets(), memory_limit=memory_limit, progress=progress)
    fitted = method.fit(data, watch=_Training(), finished=finished)
    _warn_of_unconverged(fitted)
    if significance is not None:
        tested = significance_record(significance, fitted.solver, fitted.part.train, fitted.y, method.search.seed)
        notes = {**(notes or {}), "significance": tested}
    return fitted.model(policies, notes, keep_support)


class _Training(Watch):
    """Warns of a matrix that may be unsuitable for a solver."""

    def training_matrix(
        self, K: npt.NDArray[np.float64], kernel: Kernel | None, transforms: list[GramTransform], solver: Solver
    ) -> None:
        """Warn if a solver that needs a positive semi-definite matrix gets another one."""
        if not solver.needs_semidefinite or kernel is None or kernel.positive_semidefinite:
            return
        if not isinstance(K, np.ndarray):  # of products the operator knows the eigenvalues
            return
        if any(transform.semidefinite for transform in transforms):
            return
        found = spectrum(K)
        if found.indefinite:
            warnings.warn(
                f"the kernel matrix is not positive semi-definite (smallest eigenvalue {found.smallest:.3g}, "
                f"{100 * found.negative_share:.2g} % of the mass is negative), and solver {solver.spec()['solver']} "
                "may stop at a suboptimal solution: choose a repair (clip, flip, shift, empirical_map), or "
                "solver psvc, which accepts any matrix",
                stacklevel=6,
            )


def _warn_of_unconverged(fitted: FittedMethod) -> None:
    """Warn of fits in the cross-validation that did not converge."""
    inner, worst_gap = fitted.inner, fitted.choice.worst_gap
    failed = inner.not_converged + inner.weights_not_converged
    if not failed:
        return
    # kernel weights and nested fits are not included in the count
    within = inner.weights_not_converged or "inner_not_converged" in fitted.solver.report_
    share = f"{failed} fit{'s'[: failed != 1]}" if within else f"{failed} of {inner.n} fits"
    worst = "" if worst_gap is None else f"; the largest gap is {worst_gap:.3g}"
    warn_unconverged(f"{share} of the cross-validation did not converge{worst}", stacklevel=3)
