"""What ``seqkern train`` tells of a new model: what it is, and what speaks against relying on it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from seqkern.cli.common import unrecognised

if TYPE_CHECKING:
    from seqkern.datasets import Dataset
    from seqkern.models.model import Model
    from seqkern.models.residue_model import ResidueModel
    from seqkern.sequences.sequence_set import SequenceSet


def doubts(model: Model, dataset: Dataset, at_sites: Mapping[str, tuple[str, float]]) -> Iterator[str]:
    """Tell what a user should know before relying on the model's predicted classes.

    Parameters
    ----------
    model : Model
        The new one; of residues that of their windows.
    dataset : Dataset
        What it was trained on.
    at_sites : mapping of str to (str, float)
        As `commonest_at_sites` returns it.

    Yields
    ------
    str
        A sentence.
    """
    # loaded when a verb runs: its help needs none of it
    import numpy as np

    # loaded when the verb runs: its help needs none of it
    from seqkern.sequences.sequence_set import SequenceSet

    yield from unrecognised(model)
    if model.calibration is not None and not model.calibration.rises:
        yield (
            "decisions about held-out sequences do not tell the classes apart: the probabilities do not rise with the "
            "decision"
        )
    if len({letters for letters, _ in at_sites.values()}) > 1:
        both = " and ".join(f"{letters} on {strand}" for strand, (letters, _) in at_sites.items())
        yield (
            f"at the sites the commonest letters are {both}: do positions count from 1, and name the site's own "
            "first letter on both strands? --site LETTERS checks each site"
        )
    X, labels = dataset.X, dataset.task().labels
    if not isinstance(X, SequenceSet) or X.alphabet.name != "protein" or labels.kind == "real":
        return
    bases = [X.alphabet.letters.index(letter) for letter in "ACGT"]
    for code, name in enumerate(labels.classes):
        part = X.take(labels.y == code)
        if len(part) and np.isin(part.codes[part.positions()], bases).all():
            yield f"the sequences of class {name} look like DNA, but the alphabet is protein"


def commonest_at_sites(model: Model, dataset: Dataset) -> dict[str, tuple[str, float]]:
    """Return the commonest two letters at the sites of each strand.

    Parameters
    ----------
    model : Model
        The new one, of windows around sites or not.
    dataset : Dataset
        What it was trained on.

    Returns
    -------
    dict of str to (str, float)
        As `seqkern.sequences.cutting.letters_at_sites`; empty if the letters were checked, or there are no sites.
    """
    # loaded when a verb runs: its help needs none of it
    import numpy as np

    # loaded when the verb runs: its help needs none of it
    from seqkern.sequences.cutting import letters_at_sites

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
) -> Iterator[tuple[str, str]]:
    """Tell what a user wants to know of a new model.

    Parameters
    ----------
    made : Model or ResidueModel
        The model.
    dataset : Dataset
        What it was trained on.
    args : Namespace
        What ``seqkern train`` declares, with the values given.
    at_sites : mapping of str to (str, float)
        As `commonest_at_sites` returns it.
    searched : bool
        Whether hyperparameters were searched for.

    Yields
    ------
    name, text : str
        The first column, empty where a line goes on, and the second.
    """
    # loaded when a verb runs: its help needs none of it
    from seqkern.models.residue_model import ResidueModel

    residues = dataset.residues
    model, layers = (made.windows, made.layers) if isinstance(made, ResidueModel) else (made, None)
    record = model.record
    units = f"{record['n']} {'units' if model.alphabet is None else 'sequences' if residues is None else 'residues'}"
    yield from _data_lines(
        model, units if residues is None else f"{units} of {_counted(len(residues.chains), 'chain')}"
    )
    if at_sites:
        words = [f"{letters} ({share:.0%} on {strand})" for strand, (letters, share) in at_sites.items()]
        yield "", "there stands " + ", ".join(words)
    if model.alphabet is not None:
        yield "alphabet", model.alphabet.name
    yield from _method_lines(model, args, searched)
    if layers is not None:
        yield (
            "layers",
            " → ".join(layer["layer"] for layer in args.layers) + ", fitted to decisions about held-out chains",
        )
    yield from _fit_lines(model, units)
    if model.kind != "none":
        yield from _score_lines(record["search"], record["report"], searched)
    if layers is not None:
        share = "Q3" if len(model.classes) == 3 else "accuracy"
        yield "held out", f"{share} {layers.held_out_accuracy_:.4f} of the first machine, before the layers"


def _data_lines(model: Model, units: str) -> Iterator[tuple[str, str]]:
    """Yield what was trained on, and what decisions about new samples mean."""
    record = model.record
    counts = ", ".join(f"{name}: {count}" for name, count in record["classes"].items())
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


def _method_lines(model: Model, args: argparse.Namespace, searched: bool) -> Iterator[tuple[str, str]]:
    """Yield kernel, transforms and solver, and what they chose or learned by themselves."""
    # loaded when a verb runs: its help needs none of it
    from seqkern.solvers.solver_specs import spec_text

    record = model.record
    yield "kernel", args.kernel
    for name, value in model.kernel.learned().items():
        yield "", f"{name}: {value:.4g}"
    for transform in model.transforms:
        options = ",".join(f"{key}={value}" for key, value in transform.get_params().items())
        yield "transform", f"{transform.name}{':' if options else ''}{options}"
    yield "solver", spec_text(record["solver"]) if searched else args.solver
    own = record["report"].get("predictor")  # of solver selected
    if own is not None:
        own = {key: value for key, value in own.items() if value is not None and key not in ("tol", "max_iter")}
        yield "chosen", f"{_counted(record['report']['n_features'], 'feature')}, predictor {spec_text(own)}"
    if model.calibration is not None:
        method, n = model.calibration.method, model.calibration.n
        yield "probability", f"{method}, fitted to {n} decisions about held-out units"


def _fit_lines(model: Model, units: str) -> Iterator[tuple[str, str]]:
    """Yield how the fit went, and on how much decisions rest."""
    # loaded when a verb runs: its help needs none of it
    from seqkern.models.feature_model import FeatureModel

    record = model.record
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


def _score_lines(
    search: Mapping[str, Any] | None, report: Mapping[str, Any], searched: bool
) -> Iterator[tuple[str, str]]:
    """Yield the score of the cross-validation that chose, if there was one."""
    if search is None and report.get("error") is not None:
        yield "score", f"mean error {report['error']:.4f} in the solver's own cross-validation, by which it chose"
        yield "", "the features' number and the predictor: a little optimistic; seqkern evaluate makes an unbiased one"
        return
    if search is None:
        one_class = report.get("n_learned") is not None
        hint = "there was one candidate only" if searched else "--search makes one"
        hint = "" if one_class else f": {hint}"  # to choose by negatives is not what one class is for
        yield "score", f"no cross-validation was made{hint}; seqkern evaluate makes an unbiased one"
        return
    folds, candidates = len(search["scores"][0]), len(search["specs"])
    yield "score", f"{search['metric']} {search['score']:.4f}, the mean of {folds} folds of cross-validation"
    yield "", f"of the best of {candidates} candidates on these very folds: a little optimistic"


def _counted(count: int, what: str) -> str:
    """Return a number with its noun."""
    return f"{count} {what}{'s'[: count != 1]}"
