"""The one way to train: in the folds of an evaluation, and for good."""

import functools
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.convergence import telling, unconverged
from seqkern.core.errors import LabelError
from seqkern.evaluation.calibration import IsotonicCalibration, SigmoidCalibration
from seqkern.evaluation.held_out import fit_held_out, fit_layers, neighbours
from seqkern.evaluation.selection import Choice, Pair, select
from seqkern.gram.matrix import GramMatrix
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.kernel import Kernel
from seqkern.layers import Layers
from seqkern.models.data import Data, make_source
from seqkern.models.feature_source import feature_form
from seqkern.models.fitted import FittedMethod, InnerFits, rows_seen
from seqkern.models.parts import Part
from seqkern.models.search import Search
from seqkern.models.sources import Source, Units, check_source
from seqkern.models.watch import NOBODY, Watch
from seqkern.residues import Residues
from seqkern.sequences.labels import Labels
from seqkern.solvers import common_input, expand_grid, make_solver
from seqkern.solvers.base import Solver
from seqkern.solvers.thresholds import Threshold
from seqkern.study.feasible import check_training_part


@dataclass(frozen=True, eq=False)
class Method:
    """What is trained, and how it is chosen: everything but the data.

    Attributes
    ----------
    kernel : Kernel, or mapping of str to Kernel
        Not fitted; several, by their names, are chosen among. None stands for one of which only stored values are
        known.
    solver : str, dict, list of dict, or list of (str, dict)
        A solver's spec, in which a list of values is a grid; or specs to choose among, each with every kernel, or with
        the kernel that is named beside it.
    transforms : sequence of GramTransform, or mapping of str to such sequences, optional
        Of the Gram matrix, for each kernel by its name.
    layers : sequence, optional
        Specs of the layers that follow the solver (`seqkern.layers`), most of which need residues. They are fitted to
        decisions about held-out samples, and take the place of calibration and threshold.
    calibration : {"platt", "isotonic"}, optional
        How decisions become probabilities, where labels are binary; fitted to decisions about held-out samples.
    threshold : str, optional
        Rule for the decision above which a sample is predicted to be positive (see `seqkern.solvers.thresholds`),
        where labels are binary; by default 0.
    search : Search
        How one of several candidates is chosen.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["ACAC", "AACA", "GGTG", "TGGT", "CAAC", "GTTG"], "dna")
    >>> labels = make_labels(X.ids, ["a", "a", "b", "b", "a", "b"])
    >>> method = Method(SpectrumKernel(2), "csvc:C=1")
    >>> fitted = method.fit(method.data(X, labels), np.arange(4))
    >>> fitted.decide(np.array([4, 5])).predicted
    array([0, 1])
    >>> fitted.model().predict(["CACA"])
    array(['a'], dtype='<U1')
    """

    kernel: Kernel | Mapping[str, Kernel | None]
    solver: str | Mapping[str, Any] | Sequence[Any]
    transforms: Sequence[GramTransform] | Mapping[str, Sequence[GramTransform]] = ()
    layers: Sequence[Any] = ()
    calibration: str | None = None
    threshold: str | None = None
    search: Search = field(default_factory=Search)

    @functools.cached_property
    def kernels(self) -> dict[str, Kernel | None]:
        """The kernels to choose among, by name."""
        return dict(self.kernel) if isinstance(self.kernel, Mapping) else {str(self.kernel.name): self.kernel}

    @functools.cached_property
    def candidates(self) -> list[tuple[Any, dict[str, Any]]]:
        """What is chosen among: pairs of a kernel's name and a solver's spec."""
        listed: list[Any] = expand_grid(self.solver) if isinstance(self.solver, (str, Mapping)) else list(self.solver)
        if all(isinstance(item, dict) for item in listed):
            return [(name, spec) for name in self.kernels for spec in listed]
        return listed

    @functools.cached_property
    def specs(self) -> list[dict[str, Any]]:
        """The solver specs of the candidates, each once."""
        found: list[dict[str, Any]] = []
        for _, spec in self.candidates:
            if spec not in found:
                found.append(spec)
        return found

    @functools.cached_property
    def input(self) -> str:
        """What the solvers take of a kernel: ``"gram"``, ``"features"`` or ``"implicit"``; all take the same."""
        return common_input(self.specs)

    @functools.cached_property
    def needs_chains(self) -> bool:
        """Whether a layer looks at neighbours, so that it is to see whole chains."""
        return Layers(self.layers).needs_chains()

    @property
    def inner_folds(self) -> int:
        """The folds within a training part; 0 where nothing is chosen, and nothing fitted to held-out samples."""
        after = self.layers or self.calibration is not None or self.threshold is not None
        return self.search.folds if len(self.candidates) > 1 or after else 0

    def transforms_of(self, kernel: str) -> Sequence[GramTransform]:
        """Return the Gram transforms of a kernel, not fitted.

        Parameters
        ----------
        kernel : str
            Its name.

        Returns
        -------
        sequence of GramTransform
        """
        if isinstance(self.transforms, Mapping):
            return self.transforms.get(kernel, ())
        return self.transforms

    def sources(
        self,
        X: Units,
        *,
        grams: Mapping[str, Sequence[GramMatrix]] | None = None,
        memory_limit: int | str | None = None,
        n_threads: int | None = None,
    ) -> dict[str, Source]:
        """Return where the values of each kernel come from, as the solvers take them.

        Parameters
        ----------
        X : SequenceSet or table
            All samples.
        grams : mapping of str to sequence of GramMatrix, optional
            Stored ones over all samples, by the kernel's name; see `make_source`.
        memory_limit, n_threads : object, optional
            As in `make_source`.

        Returns
        -------
        dict of str to Source
            By the kernel's name.

        Raises
        ------
        ParameterError, GramError
            As `make_source`.
        """
        make = functools.partial(
            make_source,
            gives=self.input,
            form=feature_form(self.specs) if self.input == "features" else {},
            memory_limit=memory_limit,
            n_threads=n_threads,
        )
        return {
            name: make(kernel, X, self.transforms_of(name), grams=(grams or {}).get(name, ()))
            for name, kernel in self.kernels.items()
            if kernel is not None
        }

    def data(self, X: Units, labels: Labels, residues: Residues | None = None, **options: Any) -> Data:
        """Return the Data of some samples as this method takes them.

        Parameters
        ----------
        X : SequenceSet or table
            All samples.
        labels : Labels
            Of them.
        residues : Residues, optional
            Which residue of which chain each is, where samples are windows around residues.
        **options : object
            As in `sources`.

        Returns
        -------
        Data

        Raises
        ------
        ParameterError, GramError
            As `sources`.
        """
        return Data(labels, self.sources(X, **options), residues)

    def check(self, labels: Labels, *, groups: npt.NDArray[Any] | None = None, place: str = "") -> None:
        """Raise an error, before any kernel is computed, if a solver cannot learn the labels of a training part.

        Parameters
        ----------
        labels : Labels
            Of the training part.
        groups : ndarray, shape (n,), optional
            Samples of one group stay in one fold; by default those of the labels.
        place : str, optional
            What the error calls the training part.

        Raises
        ------
        ParameterError, LabelError, FoldError
            As `seqkern.study.feasible.check_training_part`.
        """
        folds, seed = self.inner_folds, self.search.seed
        check_training_part(labels, self.specs, inner_folds=folds, seed=seed, groups=groups, place=place)

    def check_choice(self, labels: Labels) -> None:
        """Raise LabelError where there are several candidates, and no labels.

        Parameters
        ----------
        labels : Labels
            Of the training part.

        Raises
        ------
        LabelError
            With how many candidates there are.
        """
        if labels.kind == "none" and len(self.candidates) > 1:
            raise LabelError(
                f"without labels nothing tells which of {len(self.candidates)} candidates is the best",
                remedy="give one value for each parameter, or a second class",
            )

    def fit(
        self,
        data: Data,
        rows: npt.NDArray[np.int64] | None = None,
        *,
        ahead: npt.NDArray[np.int64] | None = None,
        watch: Watch = NOBODY,
    ) -> FittedMethod:
        """Choose, and train on a training part.

        Parameters
        ----------
        data : Data
            Of the kernels of this method.
        rows : ndarray of int64, optional
            The training part; by default all samples with labels.
        ahead : ndarray of int64, optional
            Samples that will be decided about: what the solver takes of them is computed with the training part, which
            is never told of it.
        watch : Watch, optional
            What looks on, such as a clock.

        Returns
        -------
        FittedMethod

        Raises
        ------
        ParameterError
            For solvers that take something else than the sources give.
        LabelError
            If there is something to choose, and no labels.
        FoldError
            If a class is too small to be divided into folds, and there is something to choose, or to fit to held-out
            samples.
        GramError, SequenceError
            If a kernel cannot take the data, or it does not fit into the memory.

        Warns
        -----
        ConvergenceWarning
            If the solver's fit, or the weights within a kernel, did not converge; fits of the inner loop are counted,
            see `FittedMethod.inner`.
        """
        rows = np.flatnonzero(data.labels.used()) if rows is None else rows
        return _Fitting(self, data, rows, watch).run(ahead)


class _Fitting:
    """One fit of a method, stage after stage."""

    def __init__(self, method: Method, data: Data, rows: npt.NDArray[np.int64], watch: Watch) -> None:
        for name in method.kernels:
            check_source(data.source(name), method.input)
        self.method, self.data, self.rows, self.watch = method, data, rows, watch
        self.labels = data.labels.take(rows)
        self.make: Callable[[dict[str, Any], str], Solver] = functools.partial(make_solver, classes=self.labels.classes)
        self.failed_weights: list[Warning] = []
        self.n_held_out = 0
        self.n_failed = 0

    @functools.cached_property
    def y(self) -> npt.NDArray[Any] | None:
        """The labels as solvers take them."""
        return self.labels.targets()

    def run(self, ahead: npt.NDArray[np.int64] | None) -> FittedMethod:
        """Go through the stages."""
        with unconverged():  # their number is told
            choice = self.choose()
            calibration, threshold = self.fit_afterwards(choice)
            layers = self.fit_layers(choice, self.rows if ahead is None else ahead)
        seen = None if ahead is None else rows_seen(layers, self.data, self.rows, ahead)
        part, converged = self.prepare(choice, seen)
        return FittedMethod(
            search=self.method.search,
            data=self.data,
            rows=self.rows,
            labels=self.labels,
            y=self.y,
            choice=choice,
            part=part,
            ahead=seen,
            solver=self.train(choice, part),
            calibration=calibration,
            threshold=threshold,
            layers=layers,
            inner=InnerFits(
                choice.n_fits + self.n_held_out, choice.not_converged + self.n_failed, len(self.failed_weights)
            ),
            kernel_converged=converged,
        )

    def choose(self) -> Choice:
        """Choose a kernel and a solver's parameters."""
        candidates, search = self.method.candidates, self.method.search
        if self.labels.kind == "none":
            self.method.check_choice(self.labels)
            return Choice(*candidates[0], math.nan, candidates, np.empty((1, 0)))
        choice = select(
            {name: self.pair(self.data.source(name), self.rows) for name in self.method.kernels},
            self.labels,
            candidates,
            self.make,
            folds=search.folds,
            metric=search.metric,
            seed=search.seed,
            rule=search.rule,
        )
        self.watch.lap("choose")
        return choice

    def fit_afterwards(
        self, choice: Choice
    ) -> tuple[SigmoidCalibration | IsotonicCalibration | None, Threshold | None]:
        """Fit calibration and threshold to decisions about held-out samples."""
        if self.method.layers:
            return None, None
        method, search = self.method, self.method.search
        binary = self.labels.kind == "binary"
        wanted = {"calibration": method.calibration, "threshold": method.threshold} if binary else {}
        pair = self.pair(self.data.source(choice.kernel), self.rows)
        calibration, threshold, self.n_held_out, self.n_failed = fit_held_out(
            pair,
            self.labels,
            choice.spec,
            self.make,
            folds=search.folds,
            seed=search.seed,
            **wanted,
        )
        self.watch.lap("hold out")
        return calibration, threshold

    def fit_layers(self, choice: Choice, ahead: npt.NDArray[np.int64]) -> Layers | None:
        """Fit the layers to decisions about held-out samples; they see those about others of these chains too."""
        if not self.method.layers:
            return None
        seen, residues, search = self.rows, self.data.residues, self.method.search
        if residues is not None and self.method.needs_chains:
            seen = np.concatenate((seen, neighbours(residues, seen, seen, ahead)))
        layers, self.n_held_out, self.n_failed = fit_layers(
            self.method.layers,
            self.pair(self.data.source(choice.kernel, seen), seen),
            self.labels,
            choice.spec,
            self.make,
            chains=None if residues is None else residues.take(seen),
            folds=search.folds,
            seed=search.seed,
            lap=self.watch.lap,
        )
        return layers

    def prepare(self, choice: Choice, seen: npt.NDArray[np.int64] | None) -> tuple[Part, bool]:
        """Return the Part of the training part, and whether what the kernel learned converged."""
        source = self.data.source(choice.kernel)
        with unconverged() as weights:
            part = source.part(self.rows, seen, self.y, self.watch)
        for text in weights:
            warnings.warn(text, stacklevel=5)
        self.watch.lap("kernel")
        return part, not weights

    def train(self, choice: Choice, part: Part) -> Solver:
        """Return the solver, fitted on the whole training part."""
        solver = self.make(choice.spec, self.labels.kind)
        self.watch.training_matrix(part.train, self.method.kernels[choice.kernel], part.transforms, solver)
        solver.fit(part.train, self.y, self.labels.groups)
        self.watch.lap("train")
        return solver

    def pair(self, source: Source, rows: npt.NDArray[np.int64]) -> Pair:
        """Return the `pair` of a source for rows that count within `rows`; see `telling`."""

        def within(
            train: npt.NDArray[np.int64], test: npt.NDArray[np.int64], y_train: npt.NDArray[Any]
        ) -> tuple[Any, Any]:
            return source.pair(rows[train], rows[test], y_train)

        return telling(within, self.failed_weights)
