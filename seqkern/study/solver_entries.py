"""The solvers of a study: the grid of each entry built once, with the layers that follow it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from seqkern.core.checks import check_integer
from seqkern.core.errors import SeqkernError
from seqkern.core.parameters import choice, flag, integer, share, text
from seqkern.evaluation.selection import random_candidates
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels.kernel import Kernel
from seqkern.solvers.contract import Solver
from seqkern.solvers.costs import WITHOUT_FOLDS
from seqkern.solvers.layers.chain import Layers
from seqkern.solvers.solver_specs import as_range, build_grid, common_input
from seqkern.solvers.thresholds import PLAIN
from seqkern.study.data_entry import Within, anywhere
from seqkern.study.kernel_entries import AnyKernel, AutoKernel, read_kernel
from seqkern.study.schema import Listing, Settings, Typed, configured

if TYPE_CHECKING:
    from seqkern.solvers.psvm.path import SignificanceTest

Candidate = tuple[Any, dict[str, Any]]
"""The name of a kernel and the specification of a solver."""


@dataclass(frozen=True, eq=False)
class SolverEntry:
    """A solver, or a grid of solvers, with layers.

    Attributes
    ----------
    name : str
        Its name in the study.
    given : mapping or str
        The entry as configured.
    spec : mapping or str
        Spec without the layers; lists and ranges of values stand for a grid.
    specs : tuple of dict
        Specs of the grid, with the ends of each range.
    grid : tuple of Solver
        The solvers of these specs, not fitted.
    layers : Layers
        The layers after the solver.
    layer_specs : sequence
        The layers as configured.
    needs_residues : bool
        Whether layers use neighbouring residues.
    input : {"gram", "features", "implicit"}
        The kernel input of all solvers of the grid.
    defaults : bool
        Whether omitted parameters use the default grid of the solver.
    problem : SeqkernError, optional
        Why the solver is unknown, when reporting on a study of another version.

    Examples
    --------
    >>> entry = SolverEntry.parse({"solver": "csvc", "C": [0.1, 1, 10], "layers": ["probabilities"]}, "svm")
    >>> entry.input, entry.values("C"), entry.needs_residues
    ('gram', [0.1, 1, 10], False)
    >>> entry.candidates(["spectrum"])[0]
    ('spectrum', {'solver': 'csvc', 'C': 0.1})
    """

    name: str
    given: Mapping[str, Any] | str
    spec: Mapping[str, Any] | str
    specs: tuple[dict[str, Any], ...] = ()
    grid: tuple[Solver, ...] = field(default=(), repr=False)
    layers: Layers = field(default_factory=lambda: Layers(None))
    layer_specs: Sequence[Any] = ()
    needs_residues: bool = False
    input: str = "gram"
    defaults: bool = False
    problem: SeqkernError | None = None

    @classmethod
    def parse(
        cls,
        given: str | Mapping[str, Any],
        name: str = "",
        *,
        layers: Sequence[Any] | None = None,
        ranges: bool = False,
        defaults: bool = False,
        within: Within = anywhere,
    ) -> "SolverEntry":
        """Return the entry with its solvers built.

        Parameters
        ----------
        given : str or mapping
            ``csvc:C=1`` or ``{"solver": "csvc", "C": [0.1, 1]}``.
        name : str
            Its name in the study.
        layers : sequence, optional
            Specs of layers; default: the entry's own.
        ranges : bool
            Whether values may be ranges, such as ``C: 0.01..100``, for random search.
        defaults : bool
            Whether omitted parameters use the default grid of the solver.
        within : callable, optional
            Given keys of the entry, returns a context that adds them to errors.

        Returns
        -------
        SolverEntry

        Raises
        ------
        ParameterError
            For an unknown name (with the nearest one), a value outside its domain, or solvers with different
            input.
        """
        spec, own = split_layers(given)
        with within():
            points = build_grid(spec, search=defaults, ends=ranges)
            taken = common_input([solver for _, solver in points])
        layer_specs = own if layers is None else layers
        with within("layers"):
            following = Layers(list(layer_specs))
        return cls(
            name=name,
            given=given,
            spec=spec,
            specs=tuple(point for point, _ in points),
            grid=tuple(solver for _, solver in points),
            layers=following,
            layer_specs=layer_specs,
            needs_residues=following.needs_chains(),
            input=taken,
            defaults=defaults,
        )

    @classmethod
    def of_results(cls, given: Mapping[str, Any], name: str) -> "SolverEntry":
        """Return the readable part of the entry of a finished study, perhaps of another version.

        Parameters
        ----------
        given : mapping
            The entry as configured.
        name : str
            Its name in the study.

        Returns
        -------
        SolverEntry
        """
        spec, layers = split_layers(given)
        try:
            return cls.parse(given, name, ranges=True)
        except SeqkernError as error:
            problem = error
        try:
            return replace(cls.parse(spec, name, ranges=True), given=given, layer_specs=layers, needs_residues=True)
        except SeqkernError:
            pass
        try:
            needs_residues = Layers(list(layers)).needs_chains()
        except SeqkernError:
            needs_residues = True
        return cls(name, given, spec, layer_specs=layers, needs_residues=needs_residues, problem=problem)

    @property
    def known(self) -> bool:
        """Whether the solvers could be built."""
        return bool(self.grid)

    @property
    def solver_name(self) -> str:
        """The registered name of the solver; empty if there is none."""
        given = self.spec.get("solver", "") if isinstance(self.spec, Mapping) else ""
        return str(self.grid[0].name if self.grid else given)

    @property
    def has_layers(self) -> bool:
        """Whether there are layers."""
        return bool(self.layer_specs)

    @property
    def needs_gram(self) -> bool:
        """Whether the solvers take a Gram matrix."""
        return self.input == "gram"

    @property
    def accepts_operator(self) -> bool:
        """Whether the solvers also accept products with the kernel matrix."""
        return self.known and all(solver.traits.operator for solver in self.grid)

    @property
    def refuses_labels(self) -> bool:
        """Whether the solver rejects some labels of a kind that it learns."""
        return type(self.grid[0]).check_labels is not Solver.check_labels

    def candidates(self, kernels: Sequence[str | None], draws: int | None = None, seed: int = 0) -> list[Candidate]:
        """Return the candidates of the inner loop.

        Parameters
        ----------
        kernels : sequence of str
            Names.
        draws : int, optional
            Number of random pairs; default: all pairs.
        seed : int
            Seed of the random choice.

        Returns
        -------
        list of (str, dict)
        """
        if draws is None:
            return [(kernel, spec) for kernel in kernels for spec in self.specs]
        drawn: list[Candidate] = random_candidates(kernels, self.spec, draws, seed, search=self.defaults)
        return drawn

    def parameters(self) -> dict[str, Any]:
        """Return the parameters in the entry, of the solver only."""
        given = self.spec if isinstance(self.spec, Mapping) else {}
        return {key: value for key, value in given.items() if key != "solver"}

    def values(self, parameter: str, default: Any = None) -> Any:
        """Return the value, or list of values, of a parameter in the entry."""
        return self.parameters().get(parameter, default)

    def searched(self) -> dict[str, list[Any]]:
        """Return the values to choose from, by parameter; for a range its ends."""
        given = self.parameters()
        grid = {name: values for name, values in given.items() if isinstance(values, list) and len(values) > 1}
        for name, part in given.items():  # of a nested solver
            if isinstance(part, dict) and "solver" in part:
                lists = {f"{name} {key}": values for key, values in part.items() if isinstance(values, list)}
                grid |= {key: values for key, values in lists.items() if len(values) > 1}
        ranges = {name: as_range(values) for name, values in given.items() if isinstance(values, str)}
        return grid | {name: found.ends for name, found in ranges.items() if found is not None}


def split_layers(given: str | Mapping[str, Any]) -> tuple[Mapping[str, Any] | str, Sequence[Any]]:
    """Return the solver specification of an entry without its layers, and the layers (empty for a text)."""
    if not isinstance(given, Mapping):
        return given, []
    return {key: value for key, value in given.items() if key != "layers"}, given.get("layers") or []


SOLVER_KEYS = {
    "solver": text(),
    "layers": Listing(
        least=0,
        value=Typed(types=("object", "string")),
        doc="Layers after the solver on data sets of residues, in order: structure, segments, crf, chain_svm, "
        "probabilities.",
    ),
}


# The settings of a study for the inner loop and the leakage check.


@configured
class InnerSettings(Settings):
    """The inner loop within each training set, which chooses hyperparameters.

    Examples
    --------
    >>> inner = InnerSettings.parse({"folds": 5, "search": "random", "draws": 8})
    >>> inner.folds, inner.drawn, inner.rule
    (5, 8, 'best')
    """

    folds: int = integer(default=3, low=2, doc="Number of inner folds.")
    metric: str = choice(
        default="auto",
        choices=(
            *("auto", "auc", "roc50", "balanced_accuracy", "mcc", "macro_auc", "accuracy", "q3", "q8", "r2", "rmse"),
            *WITHOUT_FOLDS,
        ),
        doc="Metric that the inner loop maximises; auto is AUC, macro AUC or R², depending on the labels. span, "
        "xi_alpha and radius_margin are estimates of the leave-one-out error of a C-SVM of two classes, from one fit "
        "without inner folds; evidence is the log marginal likelihood of a Gaussian process, also from one fit.",
    )
    search: str = choice(
        default="grid",
        choices=("grid", "random"),
        doc="All candidates of a grid, or some drawn at random (from lists or ranges such as C: 0.01..100).",
    )
    draws: int = integer(default=20, low=1, doc="Number of random candidates for each pair of kernel entry and solver.")
    rule: str = choice(
        default="best",
        choices=("best", "one_standard_error"),
        doc="Choose the best score, or the simplest solver within one standard error of it.",
    )
    pooled: str = choice(
        default="none",
        choices=("none", "tasks"),
        doc="tasks: one choice for all tasks of the study, by the mean rank over their inner loops.",
    )
    clusters: int | str | None = integer(
        default=None,
        low=2,
        words=("auto",),
        optional=True,
        doc="In place of folds, hold out this many clusters of similar positive samples (auto: 10).",
    )
    calibration: str | None = choice(
        default=None,
        choices=("platt", "isotonic", "variance"),
        optional=True,
        doc="Fitted to held-out decision values of the training set: probabilities for binary labels; variance: for "
        "numbers, the width and the tails of prediction intervals.",
    )
    threshold: str | None = text(
        default=None,
        optional=True,
        doc="For binary labels, the rule for the decision threshold of the positive class: balanced_accuracy, "
        "accuracy, mcc, sensitivity=0.95, specificity=0.99, cost=1:5 (of a false positive and of a false negative) or "
        "none (the decision 0). By default balanced_accuracy where the inner loop chooses, or one class has less than "
        "40% of the training samples, else the decision 0; with calibration a probability of 0.5.",
    )

    @property
    def random(self) -> bool:
        """Whether candidates are drawn at random, so that solvers may have ranges of values."""
        return self.search == "random"

    @property
    def drawn(self) -> int | None:
        """The number of random candidates; None if all are tried."""
        return self.draws if self.random else None

    @property
    def cluster_count(self) -> int | None:
        """The number of clusters that are held out; None for folds."""
        from seqkern.evaluation.pooled import AUTO  # imported here for fast start-up

        return AUTO if isinstance(self.clusters, str) else self.clusters

    @property
    def pools(self) -> bool:
        """Whether one choice is made for all tasks."""
        return self.pooled == "tasks"

    @property
    def held_out(self) -> list[str]:
        """The names of the settings that are fitted to held-out decision values."""
        return [name for name in ("calibration", "threshold") if getattr(self, name) not in (None, PLAIN)]


@configured
class LeakageSettings(Settings):
    """Settings of the leakage check before every run.

    Examples
    --------
    >>> settings = LeakageSettings.parse({"identity": 0.9})
    >>> settings.identity, settings.grouping
    (0.9, 'auto')
    """

    contained: bool = flag(default=True, doc="Report test sequences contained in training sequences, and vice versa.")
    identity: float | str | None = share(
        "auto",
        "Find pairs with at least this share of identical residues; auto finds those that chance does not explain; "
        "null finds identical and contained sequences only.",
        open_low=True,
        words=("auto",),
        optional=True,
    )
    reverse_complement: bool = flag(default=False, doc="Include the reverse strand (DNA, RNA).")
    keep_together: bool | str = choice(
        default="auto",
        choices=(True, False, "auto"),
        doc="Keep samples that the check pairs in the same fold, for random folds; auto does so as far as balanced "
        "folds allow.",
    )
    allow_similar: bool = flag(default=False, doc="Allow similar samples in different folds; they are still reported.")

    @property
    def grouping(self) -> bool | str:
        """Whether similar samples are kept together: True, False or ``"auto"``."""
        return False if self.allow_similar else self.keep_together

    def to_dict(self) -> dict[str, Any]:
        """Return the settings in configuration form."""
        return asdict(self)


# A method of a study: a kernel with transforms, a solver and layers.


@dataclass(frozen=True, eq=False)
class MethodEntry:
    """A kernel, or a choice of several, with a solver.

    Attributes
    ----------
    kernel : KernelEntry, KernelChoice or AutoKernel
        Its entry in the study.
    solver : SolverEntry
        The solver, with the layers after it.
    search : InnerSettings
        Settings of the inner loop, and the models to be fitted to held-out decision values.
    seed : int
        Seed of the inner folds.
    selection_bias : bool
        Whether to report the inflated scores from selecting features on the test data.
    significance : SignificanceTest, optional
        The test of the features that a P-SVM selects.

    Examples
    --------
    >>> from seqkern.study.kernel_entries import KernelEntry
    >>> svm = SolverEntry.parse("csvc:C=[1,10]", "svm")
    >>> method = MethodEntry(KernelEntry.parse("spectrum:k=3", "three"), svm, InnerSettings(), seed=1)
    >>> method.names, len(method.candidates()), method.chooses
    (('three', 'svm'), 2, True)
    """

    kernel: AnyKernel
    solver: SolverEntry
    search: InnerSettings
    seed: int = 1
    selection_bias: bool = False
    significance: "SignificanceTest | None" = None

    @classmethod
    def parse(cls, settings: Mapping[str, Any], read: Callable[[Any], AnyKernel] = read_kernel) -> "MethodEntry":
        """Return the method of a job.

        Parameters
        ----------
        settings : mapping
            ``kernel``, ``solver`` and ``layers`` as texts or mappings, ``inner``, ``seed``, and for an evaluation
            ``selection_bias`` and ``significance``: those of `Study.settings_of`, or the options of a verb.
        read : callable
            The reader of the kernel; `KernelEntry.parse` allows no choice of several.

        Returns
        -------
        MethodEntry
        """
        search, test = InnerSettings.parse(settings["inner"]), settings.get("significance")
        if isinstance(test, Mapping):
            from seqkern.solvers.psvm.path import SignificanceTest  # loads a solver

            test = SignificanceTest.parse(test)
        solver = SolverEntry.parse(settings["solver"], layers=settings.get("layers") or [], ranges=search.random)
        return cls(
            read(settings["kernel"]),
            solver,
            search,
            settings["seed"],
            settings.get("selection_bias", False),
            test,
        )

    @property
    def names(self) -> tuple[str, str]:
        """Names of kernel and solver."""
        return self.kernel.name, self.solver.name

    @property
    def kernels(self) -> dict[str, Kernel]:
        """The kernels to choose among, by name."""
        return {entry.name: entry.kernel for entry in self.kernel.candidates}

    @property
    def transforms(self) -> dict[str, tuple[GramTransform, ...]]:
        """The transforms of the matrix of each kernel, by its name."""
        return {entry.name: entry.transforms for entry in self.kernel.candidates}

    @property
    def layers(self) -> Layers:
        """The layers after the solver."""
        return self.solver.layers

    @property
    def calibration(self) -> str | None:
        """The method of calibration; None with layers."""
        return None if self.solver.has_layers else self.search.calibration

    @property
    def threshold(self) -> str | None:
        """The rule for the threshold; None with layers."""
        return None if self.solver.has_layers else self.search.threshold

    @property
    def chooses(self) -> bool:
        """Whether the inner loop has several candidates, counting the ends of a range of values."""
        return isinstance(self.kernel, AutoKernel) or len(self.kernel.candidates) * len(self.solver.specs) > 1

    @property
    def needs_gram(self) -> bool:
        """Whether the solver takes a Gram matrix."""
        return self.solver.needs_gram

    def candidates(self) -> list[Candidate]:
        """Return the candidates of the inner loop: names of kernels with specifications of solvers."""
        return self.solver.candidates(list(self.kernels), self.search.drawn, self.seed)


# Solvers to be checked against the labels of every training set before any Gram matrix is computed.


@dataclass(frozen=True, eq=False)
class CheckedSolver:
    """A solver to check against the labels of training sets.

    Attributes
    ----------
    solver : SolverEntry
        The solver, with the layers after it.
    inner_folds : int
        Folds of the training set; zero without inner folds.
    seed : int
        Seed of the inner folds.
    metric : str
        Metric of the inner loop: a bound of the leave-one-out error suits some solvers and labels only.

    Examples
    --------
    >>> checked = CheckedSolver.parse({"solver": "nusvc:nu=[0.1,0.2]", "inner_folds": 5}, "nu")
    >>> len(checked.solver.grid), checked.inner_folds, checked.seed
    (2, 5, 1)
    """

    solver: SolverEntry
    inner_folds: int = 3
    seed: int = 1
    metric: str = "auto"

    @classmethod
    def parse(cls, given: Mapping[str, Any], name: str) -> "CheckedSolver":
        """Return the solver described by JSON.

        Parameters
        ----------
        given : mapping
            ``solver``, ``layers``, ``inner_folds``, ``seed`` and ``metric``.
        name : str
            Its name in the study.

        Returns
        -------
        CheckedSolver

        Raises
        ------
        ParameterError
            As for `SolverEntry.parse`, and for a number outside its domain.
        """
        numbers = {key: given[key] for key in ("inner_folds", "seed") if key in given}
        for key, value in numbers.items():
            check_integer(key, value, 0)
        entry = SolverEntry.parse(given["solver"], name, layers=given.get("layers") or [], ranges=True)
        return cls(entry, **numbers, metric=str(given.get("metric", "auto")))


def checked_solvers(methods: Iterable[MethodEntry]) -> dict[str, CheckedSolver]:
    """Return the solvers of the methods on one data set by name, to be checked against its labels.

    They have zero inner folds if these choose or fit nothing, or the solver accepts all labels of its kind.
    """
    found: dict[str, CheckedSolver] = {}
    for method in methods:
        solver, search = method.solver, method.search
        before = solver.name in found and found[solver.name].inner_folds > 0
        inner = before or method.chooses or bool(search.held_out) or solver.has_layers
        by_bound = search.metric in WITHOUT_FOLDS and not solver.has_layers
        folds = search.folds if solver.refuses_labels and inner and not by_bound else 0
        bound = search.metric if by_bound and method.chooses else "auto"
        found[solver.name] = CheckedSolver(solver, folds, method.seed, bound)
    return found
