"""Train a model on everything there is; of several solvers, choose one by cross-validation first."""

import copy
import functools
import math
import warnings
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from seqkern.core.convergence import telling, unconverged
from seqkern.core.errors import LabelError, ModelError
from seqkern.evaluation.feature_source import FeatureSource, feature_form
from seqkern.evaluation.held_out import fit_held_out, fit_layers, neighbours
from seqkern.evaluation.selection import Choice, select
from seqkern.evaluation.sources import FittedKernel, ImplicitSource, StoredGram
from seqkern.folds.methods import units_together
from seqkern.gram import compute_gram
from seqkern.gram.spectrum import spectrum
from seqkern.gram.transforms import fit_chain, naming_rows
from seqkern.kernels.composite import add_counts
from seqkern.kernels.explicit import name_features
from seqkern.layers import Layers
from seqkern.models.feature_model import FeatureModel
from seqkern.models.model import Model
from seqkern.models.residue_model import ResidueModel
from seqkern.models.training_record import class_names, search_record, versions
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import SimilarityTable
from seqkern.sequences.windows import as_window
from seqkern.solvers import common_input, expand_grid, make_solver
from seqkern.study.feasible import check_training_part


def train_model(
    X,
    labels,
    kernel,
    solver,
    *,
    transforms=(),
    folds=5,
    metric="auto",
    seed=1,
    rule="best",
    calibration=None,
    threshold=None,
    residues=None,
    layers=(),
    policies=None,
    notes=None,
    memory_limit=None,
    n_threads=None,
    progress=None,
):
    """Train a model that can be applied to new sequences; without a Gram matrix, if the solver needs none.

    Parameters
    ----------
    X : SequenceSet or FeatureTable, n units
    labels : Labels
        Of the n units; those without a label are left out. Of the kind ``"none"`` for a solver that learns one class
        without labels. Units of one group stay in one fold, and so do windows
        that overlap, where the labels say where the windows lie.
    kernel : Kernel
    solver : str, dict or list of dict
        A solver's spec. In one, a list of values is a grid; of a grid, or of a list of specs, the best by
        stratified cross-validation on the training units is chosen.
    transforms : list of GramTransform, optional
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
        Rule for the decision above which a unit is predicted to be positive (see
        `seqkern.solvers.thresholds`); by default 0.
    residues : Residues, optional
        Which residue of which chain each unit is, where units are windows around residues; chains stay whole in folds.
    layers : list, optional
        Specs of the layers that follow the solver (`seqkern.layers`), of residues; fitted to decisions about held-out
        chains, in which they see the residues without a label too.
    policies : dict, optional
        How the sequences were read, for new ones to be read likewise.
    notes : dict, optional
        JSON that goes into the record.
    memory_limit, n_threads, progress
        As in `seqkern.gram.compute_gram`.

    Returns
    -------
    Model
        For a solver that takes features, a FeatureModel; of residues, a ResidueModel.

    Raises
    ------
    ModelError
        For similarities without sequences or features: new units could not be compared.
    ParameterError
        For a solver that takes no Gram matrix with a kernel that does not give what it takes, or transforms.
    LabelError, FoldError
        If a class has too few members, or probabilities or a threshold are wanted of labels that are not binary, or
        there is something to choose, and no labels.
    GramError
        If the kernel matrix, or what stands for it, does not fit into the memory.
    """
    if isinstance(X, SimilarityTable):
        raise ModelError(
            "a model of similarities cannot be applied to new units", remedy="use seqkern evaluate instead"
        )
    if len(X) != len(labels):
        raise LabelError(f"{len(labels)} labels for {len(X)} units", remedy="give one for each unit")
    used = np.flatnonzero(labels.used())
    seen = used  # by layers: neighbours without a label come after those with one
    if residues is not None and Layers(layers).needs_chains():
        seen = np.concatenate((used, neighbours(residues, used, used)))
    everything = kernel.coerce(X)
    X, labels = everything.take(used), labels.take(used)
    chains = None if residues is None else residues.take(seen)
    residues = None if residues is None else residues.take(used)
    if (calibration or threshold) and labels.kind != "binary":
        raise LabelError(
            f"probabilities and thresholds are for two classes, these labels are {labels.kind}",
            remedy="set one class against the rest (--positive NAME), or leave out --calibration and --threshold",
        )
    window = (notes or {}).get("window")
    window = None if window is None else as_window(window)
    labels = replace(labels, groups=_together(labels, X, window, residues))
    y = {"binary": labels.signs, "none": lambda: None}.get(labels.kind, lambda: labels.y)()
    grid = solver if isinstance(solver, list) else expand_grid(solver)
    if labels.kind == "none" and len(grid) > 1:
        raise LabelError(
            f"without labels nothing tells which of {len(grid)} candidates is the best",
            remedy="give one value for each parameter, or a second class",
        )
    make = functools.partial(make_solver, classes=labels.classes)
    inner_folds = folds if len(grid) > 1 or calibration or threshold or layers else 0
    check_training_part(labels, grid, inner_folds=inner_folds, seed=seed)
    taken = common_input(grid)
    if taken == "implicit":
        fitted = copy.deepcopy(kernel).fit(X, y)
        source_of = functools.partial(ImplicitSource, kernel, transforms=transforms, memory_limit=memory_limit)
        source = source_of(X)
        K = fitted.implicit(X) if kernel.data_dependent else source.whole
        diagonal, counts = K.squares, K.counts
    elif taken == "features":
        fitted = copy.deepcopy(kernel).fit(X, y)
        how = {"transforms": transforms, "memory_limit": memory_limit, **feature_form(grid)}
        source_of = functools.partial(FeatureSource, kernel, **how)
        source = source_of(X)
        diagonal, counts = np.zeros(0), {}
        K = source.of(fitted, X, counts)
    else:
        options = {"progress": progress, "memory_limit": memory_limit, "n_threads": n_threads}
        source_of = functools.partial(FittedKernel, kernel, transforms=transforms, n_threads=n_threads)
        fitted, source, K, diagonal, counts = _by_gram(kernel, X, y, transforms, options)
    inner_weights = []
    pair = telling(source.pair, inner_weights)
    if labels.kind == "none":
        choice = Choice(kernel.name, grid[0], math.nan, [(kernel.name, grid[0])], np.empty((1, 0)))
    else:
        with unconverged():  # their number is told below
            choice = select({kernel.name: pair}, labels, grid, make, folds=folds, metric=metric, seed=seed, rule=rule)
    wanted = {"calibration": calibration, "threshold": threshold}
    with unconverged():
        *fits, n_held_out, n_failed = fit_held_out(pair, labels, choice.spec, make, folds=folds, seed=seed, **wanted)
        layered = None
        if layers:
            if len(seen) > len(used):
                pair = telling(source_of(everything.take(seen)).pair, inner_weights)
            layered, n_held_out, n_failed = fit_layers(
                layers, pair, labels, choice.spec, make, chains=chains, folds=folds, seed=seed
            )
    failed, n_fits = choice.not_converged + n_failed, choice.n_fits + n_held_out
    afterwards = {name: fit.record() for name, fit in zip(wanted, fits, strict=True) if fit is not None}

    before = diagonal
    with naming_rows(X.ids):
        chain, K, _ = fit_chain(transforms, K, diagonal)
    machine = make(choice.spec, labels.kind)
    _warn_of_indefinite(K, kernel, chain, machine)
    if taken == "features":
        (K,) = source.kept(K)
    machine.fit(K, y, labels.groups)
    failed += len(inner_weights)
    if failed:
        # weights of kernels, and fits within fits, are not among those that were counted
        within = inner_weights or "inner_not_converged" in machine.report_
        share = f"{failed} fit{'s'[: failed != 1]}" if within else f"{failed} of {n_fits} fits"
        worst = "" if choice.worst_gap is None else f"; the largest gap is {choice.worst_gap:.3g}"
        warnings.warn(f"{share} of the cross-validation did not converge{worst}", ConvergenceWarning, stacklevel=2)
    recognised = {}
    if labels.kind not in ("real", "none"):
        right = machine.predict(K) == y
        recognised = labels.take(right).class_counts()

    rows = machine.support_ if len(machine.support_) else np.zeros(1, dtype=np.int64)
    for transform in reversed(chain):
        rows = transform.required_rows(rows)
    rows = np.unique(rows)
    record = {
        "versions": versions(),
        "seed": seed,
        "n": len(X),
        "classes": labels.class_counts(),
        "training_digest": X.digest(),
        "counts": X.counts,
        "kernel_counts": counts,
        "solver": choice.spec,
        "search": search_record(choice, metric, folds, labels.kind, rule),
        "report": machine.report_,
        "inner_not_converged": failed + machine.report_.get("inner_not_converged", 0),
        "recognised": recognised,
        **afterwards,
        **(notes or {}),
    }
    about = {
        "kind": labels.kind,
        "classes": class_names(labels, machine),
        "policies": dict(policies or {}),
        "record": record,
    }
    if taken == "features":
        model = FeatureModel(
            kernel=fitted,
            transforms=[],
            solver=machine.restrict(rows),
            support=_alone(X.take(slice(0, 0))),
            diagonal=diagonal,
            features=rows,
            names=tuple(name_features(fitted, X, rows)),
            **about,
        )
    else:
        model = Model(
            kernel=fitted.restrict(rows),
            transforms=[transform.restrict(rows) for transform in chain],
            solver=machine.restrict(rows),
            support=_alone(X.take(rows)),
            diagonal=before[rows],
            **about,
        )
    return model if residues is None else ResidueModel(model, residues.window, layered)


def _together(labels, X, window, residues):
    """Return the groups of units that stay in one fold: as `units_together`, and of residues those of a chain."""
    if residues is not None and labels.groups is None:
        return residues.record.astype(str)
    return units_together(labels, X, window)


def _alone(X):
    """Return units without what else their set was cut from."""
    return X.compact() if isinstance(X, SequenceSet) else X


def _by_gram(kernel, X, y, transforms, options):
    """Return (fitted kernel, source, K of all units and its diagonal before the transforms, counts)."""
    form = kernel.stored_form()
    if form is None:
        fitted = copy.deepcopy(kernel).fit(X, y)
        gram = compute_gram(fitted, X, **options)
        source = FittedKernel(kernel, X, transforms, options["n_threads"])
        return fitted, source, gram.values, gram.row_diagonal, gram.meta["counts"]
    grams = [compute_gram(one, X, **options) for one in form.kernels]
    counts = add_counts(gram.meta["counts"] for gram in grams)
    source = StoredGram(grams, transforms, form=form, ids=X.ids, n_threads=options["n_threads"])
    if not form.learns:
        return copy.deepcopy(kernel).fit(X, y), source, grams[0].values, grams[0].row_diagonal, counts
    values = source.of_all(y)
    # what was learned of the matrices need not be learned again, with all of them computed anew
    fitted = copy.deepcopy(kernel).fit(X, y) if values.joined is None else values.joined.fit_parts(X, y)
    return fitted, source, values.train, values.train_diagonal, counts


def _warn_of_indefinite(K, kernel, transforms, machine):
    """Warn if a solver that needs a positive semi-definite matrix gets another; `transforms` led to `K`."""
    if not machine.needs_semidefinite or kernel.positive_semidefinite:
        return
    if any(transform.semidefinite for transform in transforms):
        return
    found = spectrum(K)
    if found.indefinite:
        warnings.warn(
            f"the kernel matrix is not positive semi-definite (smallest eigenvalue {found.smallest:.3g}, "
            f"{100 * found.negative_share:.2g} % of the mass is negative), and solver {machine.spec()['solver']} may "
            "stop at a solution that is not the best: choose a repair (clip, flip, shift, empirical_map), or solver "
            "psvc, which takes any matrix",
            stacklevel=3,
        )
