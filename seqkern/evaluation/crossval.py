"""Train and test a method on every fold of every task, and write what came out.

One call of `evaluate_fold` is one outer fold: the inner loop chooses hyperparameters on the training part
alone, the solver is fitted on the whole training part, and the test part is decided once.
"""

import warnings
from dataclasses import dataclass, field

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..cost import Clock, write_cost
from ..gram.spectrum import spectrum
from ..solvers import common_input, make_solver
from ..solvers.base import ConstantColumnWarning
from ..tsv import write_tsv
from .metrics import scores
from .selection import select
from .sources import check_source

PLACE_COLUMNS = ("task", "split")
CHOICE_COLUMNS = (*PLACE_COLUMNS, "parameter", "value", "inner_score")
SPECTRUM_COLUMNS = ("smallest_eigenvalue", "negative_share", "eigenvalues")
FIT_COLUMNS = (
    *PLACE_COLUMNS,
    *("converged", "iterations", "residual", "n_support", "support_share", "constant_columns"),
    *SPECTRUM_COLUMNS,
)

EXACT_UNITS = 1500
"""Of larger training parts the spectrum is estimated: else it would take longer than training."""


@dataclass(frozen=True)
class FoldResult:
    """What one outer fold gave, as rows of the tables that are written."""

    decisions: list
    metrics: dict
    choices: list
    fit: dict
    cost: list = field(default_factory=list)


def evaluate_fold(task, split, sources, grid, *, inner_folds, metric, seed, groups=None):
    """Choose, train and test on one fold.

    Parameters
    ----------
    task : Task
    split : Split
        Row indices of the training and the test part.
    sources : dict of str to StoredGram, FittedKernel or ImplicitSource
        The kernels to choose among, by name; each gives kernel values for index arrays.
    grid : list of dict
        Solver specifications to choose among.
    inner_folds : int
    metric : str
        What the inner loop maximises.
    seed : int
    groups : ndarray of int, shape (n,), optional
        For all units: those of one group stay together in the inner folds.

    Returns
    -------
    FoldResult

    Raises
    ------
    ParameterError
        For solvers that take something else than the sources give.
    """
    wanted = common_input(grid)
    for source in sources.values():
        check_source(source, wanted)
    clock = Clock()
    with warnings.catch_warnings():
        # whether each fit converged, and how many columns it left out, are columns of fits.tsv
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", ConstantColumnWarning)
        labels = task.labels
        y = labels.signs() if labels.kind == "binary" else labels.y
        train_labels = labels.take(split.train)
        choice = select(
            {name: _within(source, split.train) for name, source in sources.items()},
            train_labels,
            grid,
            make_solver,
            folds=inner_folds,
            metric=metric,
            seed=seed,
            groups=None if groups is None else groups[split.train],
        )
        clock.lap("choose")
        K_train, K_test, eigenvalues = _matrices(sources[choice.kernel], split, y[split.train], clock)
        solver = make_solver(choice.spec, labels.kind).fit(K_train, y[split.train])
        clock.lap("train")
    decisions = solver.decision_function(K_test) if labels.kind != "real" else solver.predict(K_test)
    predicted = solver.predict(K_test)
    clock.lap("predict")
    place = {"task": task.name, "split": split.name}
    test = labels.take(split.test)
    sizes = {"n_train": len(split.train), "n_test": len(split.test)}
    return FoldResult(
        decisions=[place | row for row in _decision_rows(test, decisions, predicted)],
        metrics=place | sizes | scores(labels.kind, test.y, decisions, _codes(labels.kind, predicted)),
        choices=[place | row for row in _choice_rows(choice, sources)],
        fit=place | {key: solver.report_.get(key) for key in FIT_COLUMNS if key not in place} | eigenvalues,
        cost=[place | row for row in clock.laps],
    )


def _matrices(source, split, y_train, clock):
    """Return what a solver takes of both parts, and a dict of `SPECTRUM_COLUMNS`.

    It is empty unless the kernel has a matrix of its own for each training part: of one for all the spectrum is told
    beside it. The transforms come after: what they repair is not hidden.
    """
    if not getattr(source, "learns", False):
        parts = source.pair(split.train, split.test, y_train)
        clock.lap("kernel")
        return *parts, {}
    values = source.values(split.train, split.test, y_train)
    clock.lap("kernel")
    found = spectrum(values[0], exact_units=EXACT_UNITS)
    clock.lap("spectrum")
    kind = "all" if found.exact else "estimated"
    parts = source.transformed(values, split.train, split.test)[:2]
    clock.lap("kernel")
    return *parts, dict(zip(SPECTRUM_COLUMNS, (found.smallest, found.negative_share, kind), strict=True))


def _within(source, rows):
    """Return the `pair` of a source for rows that count within the training part `rows`."""
    return lambda train, valid, y_train: source.pair(rows[train], rows[valid], y_train)


def _codes(kind, predicted):
    """Return predictions as class codes (binary: 0 and 1) or numbers."""
    return (np.asarray(predicted) > 0).astype(np.int64) if kind == "binary" else np.asarray(predicted)


def _decision_rows(labels, decisions, predicted):
    """Return one row for each test unit: its label, decision values and prediction."""
    names = labels.names()
    codes = _codes(labels.kind, predicted)
    for i, name in enumerate(labels.ids):
        row = {"id": name, "label": names[i]}
        if labels.kind == "multiclass":
            row |= {f"decision:{c}": float(value) for c, value in zip(labels.classes, decisions[i], strict=True)}
        else:
            row["decision"] = float(decisions[i])
        row["predicted"] = float(codes[i]) if labels.kind == "real" else labels.classes[int(codes[i])]
        yield row


def _choice_rows(choice, kernels):
    """Return one row for the chosen kernel, where there were several, and for each parameter of the solver."""
    chosen = [("kernel", choice.kernel)] if len(kernels) > 1 else []
    for name, value in (*chosen, *choice.spec.items()):
        if name != "solver":
            yield {"parameter": name, "value": value, "inner_score": choice.score}


def write_results(folder, results):
    """Write decisions, metrics, choices, fits and cost of all folds to `folder`.

    Parameters
    ----------
    folder : Path
    results : list of FoldResult
        The columns are those that their rows have, in order of appearance.

    Raises
    ------
    FileError
        If a file cannot be written.
    """
    decisions = [row for result in results for row in result.decisions]
    metrics = [result.metrics for result in results]
    write_tsv(folder / "decisions.tsv", _columns(decisions, last="predicted"), decisions)
    write_tsv(folder / "metrics.tsv", _columns(metrics), metrics)
    write_tsv(folder / "choices.tsv", CHOICE_COLUMNS, (row for result in results for row in result.choices))
    write_tsv(folder / "fits.tsv", FIT_COLUMNS, (result.fit for result in results))
    write_cost(folder / "cost.json", [row for result in results for row in result.cost])


def _columns(rows, last=None):
    """Return the keys of all rows in order of appearance, the key `last` at the end."""
    columns = dict.fromkeys(key for row in rows for key in row if key != last)
    return [*columns, last] if last else [*columns]
