"""The solvers of a study: each entry's grid built once, with the layers after it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from seqkern.core.errors import SeqkernError
from seqkern.datasets.data_entry import Within, anywhere
from seqkern.evaluation.candidates import random_candidates
from seqkern.layers import Layers
from seqkern.solvers import common_input
from seqkern.solvers.base import Solver
from seqkern.solvers.ranges import as_range
from seqkern.solvers.solver_specs import build_grid

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
        Those of the grid, with the ends of each range.
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
        """Return what is known from the entry of a finished study, perhaps of another version.

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
        return self.known and all(solver.accepts_operator for solver in self.grid)

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
        """Return the value, or list of values, of a parameter in the entry.

        Parameters
        ----------
        parameter : str
            Its name in the entry.
        default : object, optional
            Returned if the entry has none.

        Returns
        -------
        object
        """
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
    """Return the solver specification of an entry, and those of its layers.

    Parameters
    ----------
    given : str or mapping
        A text has no layers.

    Returns
    -------
    solver : mapping or str
        Without the layers.
    layers : sequence
        Empty without layers.
    """
    if not isinstance(given, Mapping):
        return given, []
    return {key: value for key, value in given.items() if key != "layers"}, given.get("layers") or []
