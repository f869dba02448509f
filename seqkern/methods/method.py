"""The one way to train: in the folds of an evaluation, and for the final model."""

import functools
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from seqkern.core.archive import canonical_json
from seqkern.core.checkpoint import Checkpoint
from seqkern.core.convergence import unconverged
from seqkern.core.errors import LabelError, ParameterError
from seqkern.core.package_files import build_digest
from seqkern.core.progress import tell
from seqkern.core.types import Array, Indices
from seqkern.evaluation.folds import Split
from seqkern.evaluation.halving import HELD_BYTES, REFINEMENTS, Schedule, Work, halve, schedule
from seqkern.evaluation.held_out import fit_layers, neighbours
from seqkern.evaluation.selection import (
    Choice,
    Search,
    check_bound,
    check_bound_kernels,
    select,
    unequal,
    with_class_weights,
)
from seqkern.formats.residues import Residues
from seqkern.gram.matrix import GramMatrix
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.capabilities import required
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_specs import solver_input
from seqkern.methods.fitted import FittedMethod, InnerFits, fit_after_choice, rows_seen
from seqkern.methods.model import Postprocessing
from seqkern.methods.sources import (
    NO_CALLBACKS,
    Callbacks,
    FitData,
    HeldGram,
    HeldMatrices,
    MemoryBudget,
    Samples,
    Source,
    check_source,
    feature_form,
    make_source,
    predicted_work,
)
from seqkern.sequences.labels import Labels
from seqkern.solvers.contract import Solver
from seqkern.solvers.costs import BOUNDS, WITHOUT_FOLDS
from seqkern.solvers.solver_specs import build_solver, common_input, expand_grid, make_solver
from seqkern.solvers.thresholds import PLAIN
from seqkern.study.feasible import check_training_part

if TYPE_CHECKING:
    from seqkern.solvers.layers.chain import Layers

# Finished parts of a training or cross-validation: what they depend on, and the fits of the inner loop.


def identity_of(method: "Method", data: FitData) -> str:
    """Return a text of everything that a method's results on the data depend on, besides the folds."""
    kernels: list[Any] = []
    for name, kernel in method.kernels.items():
        source, transforms = data.sources[name], [[one.name, one.get_params()] for one in method.transforms_of(name)]
        of = None if kernel is None else kernel.identity(), None if source.X is None else source.X.digest()
        dtypes = [gram.values.dtype.name for gram in source.grams]
        kernels.append([name, *of, repr(transforms), dtypes])
    residues = None
    if data.residues is not None:
        digest = blake2b(data.residues.record.tobytes() + data.residues.place.tobytes(), digest_size=16)
        residues = [data.residues.chains.digest(), data.residues.window, digest.hexdigest()]
    how = [method.candidates, asdict(method.search), method.calibration, method.threshold, list(method.layers)]
    return canonical_json([build_digest(), kernels, data.labels.digest(), residues, repr(how)])


class CheckpointedFits:
    """The fits of an inner loop in a `Checkpoint`, with the convergence failures of the kernels' own fits.

    `failed` collects the failures, also of fits that are restored instead of repeated.
    """

    def __init__(self, done: Checkpoint, failed: list[Warning]) -> None:
        self._done, self._failed = done, failed
        self._before = len(failed)

    def get(self, key: str) -> Any:
        """Return the value stored by an earlier run; None if there is none."""
        found = self._done.get(key)
        if found is None:
            self._before = len(self._failed)
            return None
        self._failed += [Warning(text) for text in found["failed"]]
        return found["value"]

    def put(self, key: str, value: Any) -> None:
        """Store a JSON value, and the failures since the last `get`."""
        self._done.put(key, {"value": value, "failed": [str(text) for text in self._failed[self._before :]]})


@dataclass(frozen=True, eq=False)
class Method:
    """A training procedure and its choices: everything but the data.

    Attributes
    ----------
    kernel : Kernel, or mapping of str to Kernel
        Not fitted; several, by name, are candidates. None if only stored values of the kernel
        are known.
    solver : Solver, str, dict, list of dict, or list of (str, dict)
        A solver, not fitted; its spec, in which a list of values is a grid; or candidate specs, each with every
        kernel, or with the kernel named beside it.
    transforms : sequence of GramTransform, or mapping of str to such sequences, optional
        Transforms of the Gram matrix, by kernel name.
    layers : sequence, optional
        Specs of the layers after the solver (`seqkern.solvers.layers`), most of which need residues. They are fitted to
        held-out decision values, and replace calibration and threshold.
    calibration : {"platt", "isotonic", "variance"}, optional
        Calibration of decision values to probabilities, for binary labels, or of the variances of predicted numbers by
        one factor; fitted to held-out decision values.
    threshold : str, optional
        Rule for the decision threshold of the positive class (see `seqkern.solvers.thresholds`),
        for binary labels; default: see `seqkern.methods.fitted`.
    search : Search
        Settings for choosing one of several candidates.

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
    solver: Solver | str | Mapping[str, Any] | Sequence[Any]
    transforms: Sequence[GramTransform] | Mapping[str, Sequence[GramTransform]] = ()
    layers: Sequence[Any] = ()
    calibration: str | None = None
    threshold: str | None = None
    search: Search = field(default_factory=Search)

    @functools.cached_property
    def kernels(self) -> dict[str, Kernel | None]:
        """The candidate kernels, by name."""
        return dict(self.kernel) if isinstance(self.kernel, Mapping) else {str(self.kernel.name): self.kernel}

    @functools.cached_property
    def candidates(self) -> list[tuple[Any, dict[str, Any]]]:
        """The candidates: pairs of a kernel's name and a solver's spec."""
        given = [self.solver.spec()] if isinstance(self.solver, Solver) else self.solver
        listed: list[Any] = expand_grid(given) if isinstance(given, (str, Mapping)) else list(given)
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
    def solvers(self) -> list[Solver]:
        """The solvers of the specs, not fitted, with the input that they accept."""
        return [self.solver] if isinstance(self.solver, Solver) else [build_solver(spec) for spec in self.specs]

    @functools.cached_property
    def input(self) -> str:
        """The kernel input of the solvers: ``"gram"``, ``"features"`` or ``"implicit"``; ``"mixed"`` if it differs."""
        found = {wanted for wanted, _ in self.inputs.values()}
        return found.pop() if len(found) == 1 else "mixed"

    @functools.cached_property
    def inputs(self) -> dict[str, tuple[str, bool]]:
        """Of each kernel, the input of its solvers, and whether all of them accept products with the kernel matrix."""
        found = {}
        for name in self.kernels:
            own = [spec for kernel, spec in self.candidates if kernel == name] if len(self.kernels) > 1 else self.specs
            solvers = [one for spec, one in zip(self.specs, self.solvers, strict=True) if spec in own] or self.solvers
            products = self.search.metric not in BOUNDS and all(solver.traits.operator for solver in solvers)
            found[name] = common_input(solvers), products
        return found

    @functools.cached_property
    def accepts_unlabelled(self) -> bool:
        """Whether samples without a label join every training set.

        All solvers must accept them; kernels that are fitted to labels, and layers, do not.
        """
        fitted = any(kernel is not None and kernel.traits.data_dependent for kernel in self.kernels.values())
        return not fitted and not self.layers and all(solver.traits.unlabelled for solver in self.solvers)

    @functools.cached_property
    def accepts_rows(self) -> bool:
        """Whether all solvers can be fitted on rows of a stored Gram matrix; clusters and bounds need the matrix."""
        needs_matrix = self.search.clusters is not None or self.search.metric in BOUNDS
        return not needs_matrix and all(solver.traits.rows for solver in self.solvers)

    @property
    def without_matrix(self) -> str:
        """Advice on what to train instead where a Gram matrix does not fit; empty if the solvers' advice differs."""
        found = {solver.without_matrix for solver in self.solvers}
        return found.pop() if len(found) == 1 else ""

    def gram_bytes(self, n: int) -> int:
        """Return the memory that the solvers need besides a Gram matrix."""
        return max(solver.gram_bytes(n) for solver in self.solvers)

    def gives(self, kernel: str, X: Samples) -> str:
        """Return the kind of input that the solvers get from a kernel; see `seqkern.kernels.kernel_specs`.

        Parameters
        ----------
        kernel : str
            Its name.
        X : SequenceSet or table
            All samples.

        Returns
        -------
        {"gram", "features", "implicit", "operator"}
        """
        one = self.kernels[kernel]
        if one is None:
            return self.inputs[kernel][0]
        return solver_input(one, *self.inputs[kernel], X, self.transforms_of(kernel))

    @functools.cached_property
    def needs_chains(self) -> bool:
        """Whether a layer uses neighbouring residues, so that it needs whole chains."""
        from seqkern.solvers.layers.chain import Layers  # imported here: most methods have no layers

        return Layers(self.layers).needs_chains()

    @property
    def inner_folds(self) -> int:
        """The number of inner folds; 0 if nothing is chosen or fitted to held-out samples."""
        if self.search.metric in WITHOUT_FOLDS and not self.layers and len(self.candidates) > 1:
            return 0  # decisions about samples left out come with a bound
        after = self.layers or self.calibration is not None or self.threshold not in (None, PLAIN)
        return self.search.folds if len(self.candidates) > 1 or after else 0

    def divides(self, labels: Labels) -> bool:
        """Return whether training divides its samples into folds: to choose, for the threshold, or in the solver.

        Parameters
        ----------
        labels : Labels
            Labels of the training set.

        Returns
        -------
        bool
        """
        if self.inner_folds > 0 or (self.threshold is None and unequal(labels)):
            return True
        return any(solver.traits.groups for solver in self.solvers)

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
        X: Samples,
        *,
        grams: Mapping[str, Sequence[GramMatrix]] | None = None,
        memory_limit: int | str | None = None,
        n_threads: int | None = None,
    ) -> dict[str, Source]:
        """Return the source of each kernel's values, in the form for the solvers.

        Parameters
        ----------
        X : SequenceSet or table
            All samples.
        grams : mapping of str to sequence of GramMatrix, optional
            Stored matrices over all samples, by kernel name; see `make_source`.
        memory_limit, n_threads : object, optional
            As for `make_source`.

        Returns
        -------
        dict of str to Source
            By kernel name.

        Raises
        ------
        ParameterError, GramError
            As for `make_source`.
        """
        memory_budget = MemoryBudget.of(memory_limit, self.accepts_rows, self.gram_bytes, self.without_matrix)
        strict = memory_budget if memory_limit is None else replace(memory_budget, most=memory_budget.limit)
        held = None
        if self.search.budget is not None:
            most = HELD_BYTES if memory_limit is None else None
            held = HeldMatrices(X, memory_budget=strict, n_threads=n_threads, most_bytes=most)
        solvers = " and ".join(dict.fromkeys(repr(spec["solver"]) for spec in self.specs))
        sources: dict[str, Source] = {}
        for name, kernel in self.kernels.items():
            if kernel is None:
                continue
            stored = () if grams is None else grams.get(name, ())
            gives = self.inputs[name][0] if stored else self.gives(name, X)
            if gives == "features":
                required(kernel, "features", f"solver {solvers} learns from features")
            sources[name] = make_source(
                kernel,
                X,
                self.transforms_of(name),
                gives=gives,
                form=feature_form(self.solvers),
                grams=stored,
                memory_limit=memory_limit,
                held=held,
                n_threads=n_threads,
                memory_budget=memory_budget,
            )
        if held is not None:
            held.expect([source.takes for source in sources.values() if isinstance(source, HeldGram)])
        return sources

    def data(self, X: Samples, labels: Labels, residues: Residues | None = None, **options: Any) -> FitData:
        """Return the Data of some samples in the form for this method.

        Parameters
        ----------
        X : SequenceSet or table
            All samples.
        labels : Labels
            Labels of the samples; those without one are for solvers that accept them.
        residues : Residues, optional
            The residue of each sample, if samples are windows around residues.
        **options : object
            As for `sources`.

        Returns
        -------
        Data

        Raises
        ------
        ParameterError, GramError
            As for `sources`.
        """
        return FitData(labels, self.sources(X, **options), residues, np.flatnonzero(~labels.used()))

    def check(self, labels: Labels, *, groups: Array | None = None, place: str = "") -> None:
        """Raise an error, before any kernel is computed, if a solver cannot learn the labels of a training set.

        Parameters
        ----------
        labels : Labels
            Labels of the training set.
        groups : ndarray, shape (n,), optional
            Samples of one group stay in one fold; default: the groups of the labels.
        place : str, optional
            Name of the training set in the error.

        Raises
        ------
        ParameterError, LabelError, FoldError
            As for `seqkern.study.feasible.check_training_part` and `seqkern.evaluation.selection.check_bound`.
        """
        check_bound(self.search.metric, labels.kind, self.solvers, labels.classes)
        check_bound_kernels(self.search.metric, self.kernels)
        folds, seed = self.inner_folds, self.search.seed
        check_training_part(labels, self.solvers, inner_folds=folds, seed=seed, groups=groups, place=place)

    def check_choice(self, labels: Labels) -> None:
        """Raise LabelError if there are several candidates but no labels.

        Parameters
        ----------
        labels : Labels
            Labels of the training set.

        Raises
        ------
        LabelError
            With the number of candidates.
        """
        if labels.kind == "none" and len(self.candidates) > 1:
            raise LabelError(
                f"cannot choose one of {len(self.candidates)} candidates without labels",
                remedy="give one value for each parameter, or a second class",
            )

    def fit(
        self,
        data: FitData,
        rows: Indices | None = None,
        *,
        ahead: Indices | None = None,
        callbacks: Callbacks = NO_CALLBACKS,
        choice: Choice | None = None,
        fit_cache: Checkpoint | None = None,
        **former: Any,
    ) -> FittedMethod:
        """Choose, and train on a training set."""
        known = {"callbacks": callbacks, "fit_cache": fit_cache} | _present_names(former)
        rows = np.flatnonzero(data.labels.used()) if rows is None else rows
        return _Fitting(self, data, rows, **known).run(ahead, choice)

    def choose(
        self, data: FitData, rows: Indices | None = None, *, callbacks: Callbacks = NO_CALLBACKS, **former: Any
    ) -> Choice:
        """Choose a kernel and a solver's parameters on a training set, without training.

        Parameters
        ----------
        data, rows, callbacks : object
            As for `fit`.

        Returns
        -------
        Choice

        Raises
        ------
        ParameterError, LabelError, FoldError, GramError, SequenceError
            As for `fit`.
        """
        rows = np.flatnonzero(data.labels.used()) if rows is None else rows
        with unconverged():  # they are counted
            return _Fitting(self, data, rows, **{"callbacks": callbacks} | _present_names(former)).choose()[-1]

    def choose_for_folds(
        self, data: FitData, splits: Sequence[Split], *, fit_cache: Checkpoint | None = None
    ) -> list[Choice]:
        """Choose for each outer fold and for all samples at once; the inner folds of each are the other outer folds.

        A classifier trained without two folds serves the inner loops of both, so that each is fitted once.

        Parameters
        ----------
        data : Data
            As for `fit`.
        splits : sequence of Split
            The outer folds.
        fit_cache : Checkpoint, optional
            A store of finished fits.

        Returns
        -------
        list of Choice
            One for each fold, then one for all samples; empty if nothing is chosen, or the folds share no fits: they
            must be at least four, and each sample in the test set of one.

        Raises
        ------
        ParameterError, LabelError, FoldError, GramError, SequenceError
            As for `fit`.
        """
        rows = np.flatnonzero(data.labels.used())
        fold = np.full(len(data.labels), -1)
        for f, split in enumerate(splits):
            fold[split.test] = f
        fold = fold[rows]
        given = self.search.clusters is not None or self.search.metric in WITHOUT_FOLDS or data.labels.dev is not None
        given = given or (self.accepts_unlabelled and data.unlabelled is not None and len(data.unlabelled) > 0)
        if len(self.candidates) < 2 or data.labels.kind == "none" or given or not FEWEST_SHARED <= len(splits) <= 20:
            return []
        if any(not np.array_equal(split.train, rows[fold != f]) for f, split in enumerate(splits)) or min(fold) < 0:
            return []
        with unconverged():  # they are counted
            return _Fitting(self, data, rows, fit_cache=fit_cache).choose(fold)


FEWEST_SHARED = 4
"""Minimum number of outer folds that share fits: an inner loop has all but one of them, and needs three."""


FORMER_ARGUMENTS = {"watch": "callbacks", "finished": "fit_cache"}
"""Arguments of `Method.fit` by their names of 0.2.0, for one release."""


def _present_names(former: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with former names by their present names, after a warning."""
    for name in former:
        if name not in FORMER_ARGUMENTS:
            raise TypeError(f"Method.fit() got an unexpected keyword argument {name!r}")
        new = FORMER_ARGUMENTS[name]
        warnings.warn(f"{name} is now {new}; the former name goes in 0.4", DeprecationWarning, stacklevel=3)
    return {FORMER_ARGUMENTS[name]: value for name, value in former.items()}


class _Fitting:
    """One fit of a method, stage by stage."""

    def __init__(
        self,
        method: Method,
        data: FitData,
        rows: Indices,
        callbacks: Callbacks = NO_CALLBACKS,
        fit_cache: Checkpoint | None = None,
    ) -> None:
        for name in method.kernels:
            check_source(data.sources[name], *method.inputs[name])
        if method.accepts_unlabelled and data.unlabelled is not None:
            rows = np.concatenate((rows, np.setdiff1d(data.unlabelled, rows)))
        self.method, self.data, self.rows, self.callbacks = method, data, rows, callbacks
        self.failed_weights: list[Warning] = []
        self.inner = replace(data.take(rows), unconverged=self.failed_weights)  # for folds within the training set
        self.labels = self.inner.labels
        self.make: Callable[[dict[str, Any], str], Solver] = functools.partial(make_solver, classes=self.labels.classes)
        self.fit_cache = None if fit_cache is None else CheckpointedFits(fit_cache, self.failed_weights)
        self.n_held_out = 0
        self.n_failed = 0

    @functools.cached_property
    def y(self) -> Array | None:
        """The labels in the form for solvers."""
        return self.labels.targets()

    def run(self, ahead: Indices | None, choice: Choice | None) -> FittedMethod:
        """Run all stages; the choice is skipped if `choice` is given."""
        with unconverged():  # they are counted
            choice = self.choose()[-1] if choice is None else choice
            solver = self.make(choice.spec, self.labels.kind)
            postprocessing = self.fit_postprocessing(choice, solver)
            layers = self.fit_layers(choice, solver, self.rows if ahead is None else ahead)
        seen = None if ahead is None else rows_seen(layers, self.data, self.rows, ahead)
        rows, like = (self.rows, None) if seen is None else (seen, self.rows)
        with unconverged() as weights:
            block = self.data.at(choice.kernel, rows, like, self.callbacks)
        for text in weights:
            warnings.warn(text, stacklevel=4)
        self.callbacks.lap("kernel")
        self.callbacks.training_matrix(block.train, self.method.kernels[choice.kernel], block.transforms, solver)
        only_decides = layers is None and self.data.residues is None and self.labels.kind == "binary"
        solver.tabulates = only_decides and solver.traits.tables
        solver.fit(block.train, self.y, self.labels.groups)
        self.callbacks.lap("train")
        n_fits, failed = choice.n_fits + self.n_held_out, choice.not_converged + self.n_failed
        return FittedMethod(
            search=self.method.search,
            data=self.data,
            rows=self.rows,
            labels=self.labels,
            y=self.y,
            choice=choice,
            block=block,
            ahead=seen,
            solver=solver,
            postprocessing=postprocessing,
            layers=layers,
            inner=InnerFits(n_fits, failed, len(self.failed_weights)),
            kernel_converged=not weights,
        )

    def choose(self, folds: Indices | None = None) -> list[Choice]:
        """Choose a kernel and a solver's parameters; with `folds`, first for each training set without one of them."""
        candidates, search = self.method.candidates, self.method.search
        check_bound_kernels(search.metric if len(candidates) > 1 else "auto", self.method.kernels)
        if search.free.class_weight and self.labels.kind == "binary":
            candidates = with_class_weights(candidates, self.labels, alone=search.budget is not None)
        if self.labels.kind == "none":
            self.method.check_choice(self.labels)
            return [Choice(*candidates[0], math.nan, candidates, np.empty((1, 0)))]
        if search.budget is None and folds is None:
            inner = self.inner
            if search.clusters is not None and len(candidates) > 1:  # each is held out whole, in a fold of its own
                inner = inner.with_groups(self.clusters(search.clusters))
            choices = [select(inner, candidates, self.make, search, fit_cache=self.fit_cache)]
        else:
            # imported here: only a choice among many kernels, or for several folds, needs it
            from seqkern.kernels.vectors.combination import CombinationKernel

            plan = Schedule()
            if search.budget is not None:
                plan = schedule(len(self.rows), self.work(candidates, folds), search.budget)
                if plan.seconds > search.budget and len(plan.left_out) == len(plan.work) - 1:
                    least = math.ceil(plan.seconds * search.n_choices)
                    tell(f"the time for choosing is too short: it takes at least {least} CPU seconds (--time {least}s)")
            for name, seconds in plan.left_out.items():
                tell(f"{name} is left out: choosing it takes {seconds:.0f} CPU seconds; --time gives it more")
            several = [name for name, one in self.method.kernels.items() if isinstance(one, CombinationKernel)]
            how: dict[str, Any] = {"combinations": several, "folds": folds, "fit_cache": self.fit_cache}
            choices = halve(self.inner, candidates, self.make, plan, search, **how)
        self.callbacks.lap("choose")
        return choices

    def work(self, candidates: Sequence[tuple[Any, dict[str, Any]]], folds: Indices | None) -> dict[str, Work]:
        """Return the predicted work of each kernel in the inner loops."""
        n, k = len(self.rows), self.method.search.folds
        sizes = [n * (k - 1) / k] * k
        if folds is not None:  # without one of them, and without two
            k = int(folds.max()) + 1
            sizes = [n * (k - 1) / k] * k + [n * (k - 2) / k] * (k * (k - 1) // 2)
        if self.method.search.metric in WITHOUT_FOLDS:
            sizes = [n]
        n_classes = 2 if self.labels.kind == "real" else len(self.labels.classes)
        more = REFINEMENTS if self.method.search.free.limits else 0
        return predicted_work(self.data.sources, candidates, self.labels.kind, n, n_classes, sizes, more)

    def clusters(self, n: int) -> Indices:
        """Return the clusters of positive samples that the inner loop holds out, by the first candidate's kernel.

        They are the same for all candidates: with clusters by its own kernel, each candidate would be tested on
        different folds, and the test would be easiest for a kernel that does not recognise families.
        """
        if self.labels.dev is not None and self.labels.dev.any():
            raise ParameterError("a development part takes the place of inner folds", remedy="remove inner.clusters")
        matrices = all(self.data.sources[name].gives == "gram" for name in self.method.kernels)
        if self.labels.kind != "binary" or not matrices:
            what = f"{self.labels.kind} labels" if self.labels.kind != "binary" else "solvers without a Gram matrix"
            raise ParameterError(
                f"clusters of positive samples are not made for {what}", remedy="use random inner folds"
            )
        # imported here: needs SciPy's clustering, which slows start-up
        from seqkern.evaluation.pooled import cluster_groups

        positive = self.labels.y > 0
        every = np.arange(len(self.rows))
        K = self.inner.at(self.method.candidates[0][0], every[:0], like=every).train
        return cluster_groups(K[np.ix_(positive, positive)], positive, n, self.labels.groups)

    def fit_postprocessing(self, choice: Choice, solver: Solver) -> Postprocessing:
        """Fit calibration and threshold to held-out decision values."""
        if self.method.layers:
            return Postprocessing()
        how = {"calibration": self.method.calibration, "threshold": self.method.threshold}
        fitted = fit_after_choice(self.inner, choice, solver, self.method.search, **how)
        self.n_held_out, self.n_failed = fitted.n_fits, fitted.not_converged
        self.callbacks.lap("hold out")
        return fitted

    def fit_layers(self, choice: Choice, solver: Solver, ahead: Indices) -> "Layers | None":
        """Fit the layers to held-out decision values, also of the other residues of the chains."""
        if not self.method.layers:
            return None
        inner, residues, search = self.inner, self.data.residues, self.method.search
        if residues is not None and self.method.needs_chains:
            beside = neighbours(residues, self.rows, self.rows, ahead)
            inner = replace(self.data.take(self.rows, beside), unconverged=self.failed_weights)
        layers, self.n_held_out, self.n_failed = fit_layers(
            self.method.layers,
            inner,
            choice.kernel,
            solver,
            folds=search.folds,
            seed=search.seed,
            lap=self.callbacks.lap,
        )
        return layers
