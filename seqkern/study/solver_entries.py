"""The solvers of a study: each entry's grid built once, with the layers that follow it."""

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
    """A solver, or a grid of them, with the layers that follow.

    Attributes
    ----------
    name : str
        Its name in the study.
    given : mapping or str
        The entry as it is configured.
    spec : mapping or str
        Without the layers; lists and ranges of values stand for a grid.
    specs : tuple of dict
        Those of the grid, both ends standing for a range.
    grid : tuple of Solver
        Built of these; none is fitted.
    layers : Layers
        Those after a solver.
    layer_specs : sequence
        As they are configured.
    needs_residues : bool
        Whether layers look at neighbours.
    input : {"gram", "features", "implicit"}
        What all solvers of the grid take of a kernel.
    defaults : bool
        Whether parameters that are left out take the default grid of the solver.
    problem : SeqkernError, optional
        Why the solver is not known, where a report is read of a study whose solver is not known here.

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
        """Build the solvers of an entry.

        Parameters
        ----------
        given : str or mapping
            ``csvc:C=1`` or ``{"solver": "csvc", "C": [0.1, 1]}``.
        name : str
            Its name in the study.
        layers : sequence, optional
            Specs of layers; by default the entry's own.
        ranges : bool
            Whether values may be ranges, as ``C: 0.01..100``, from which random search draws.
        defaults : bool
            Whether parameters that are left out take the default grid of the solver.
        within : callable, optional
            Given keys of the entry, returns a context in which errors are about these.

        Returns
        -------
        SolverEntry

        Raises
        ------
        ParameterError
            For an unknown name (with the nearest one), a value outside its domain, or solvers that do not all take the
            same.
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
        """Return what can be told of the entry of a study that has been run, perhaps by another version.

        Parameters
        ----------
        given : mapping
            The entry as it is configured.
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
        """The registered name of the solver; empty where there is none."""
        given = self.spec.get("solver", "") if isinstance(self.spec, Mapping) else ""
        return str(self.grid[0].name if self.grid else given)

    @property
    def has_layers(self) -> bool:
        """Whether layers follow."""
        return bool(self.layer_specs)

    @property
    def needs_gram(self) -> bool:
        """Whether the solvers take a Gram matrix."""
        return self.input == "gram"

    @property
    def refuses_labels(self) -> bool:
        """Whether the solver refuses some labels of a kind that it learns."""
        return type(self.grid[0]).check_labels is not Solver.check_labels

    def candidates(self, kernels: Sequence[str | None], draws: int | None = None, seed: int = 0) -> list[Candidate]:
        """Return what the inner loop chooses among.

        Parameters
        ----------
        kernels : sequence of str
            Names.
        draws : int, optional
            How many pairs are drawn at random; by default there are all.
        seed : int
            Of the draws.

        Returns
        -------
        list of (str, dict)
        """
        if draws is None:
            return [(kernel, spec) for kernel in kernels for spec in self.specs]
        drawn: list[Candidate] = random_candidates(kernels, self.spec, draws, seed, search=self.defaults)
        return drawn

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that the entry gives, of the solver alone."""
        given = self.spec if isinstance(self.spec, Mapping) else {}
        return {key: value for key, value in given.items() if key != "solver"}

    def values(self, parameter: str, default: Any = None) -> Any:
        """Return the value, or the list of values, that the entry gives a parameter.

        Parameters
        ----------
        parameter : str
            Its name in the entry.
        default : object, optional
            Returned where the entry gives none.

        Returns
        -------
        object
        """
        return self.parameters().get(parameter, default)

    def searched(self) -> dict[str, list[Any]]:
        """Return the values among which the inner loop chooses, by parameter; of a range both ends."""
        given = self.parameters()
        grid = {name: values for name, values in given.items() if isinstance(values, list) and len(values) > 1}
        for name, part in given.items():  # of a solver inside
            if isinstance(part, dict) and "solver" in part:
                lists = {f"{name} {key}": values for key, values in part.items() if isinstance(values, list)}
                grid |= {key: values for key, values in lists.items() if len(values) > 1}
        ranges = {name: as_range(values) for name, values in given.items() if isinstance(values, str)}
        return grid | {name: found.ends for name, found in ranges.items() if found is not None}


def split_layers(given: str | Mapping[str, Any]) -> tuple[Mapping[str, Any] | str, Sequence[Any]]:
    """Return the specification of the solver of an entry, and those of the layers that follow.

    Parameters
    ----------
    given : str or mapping
        A text has no layers.

    Returns
    -------
    solver : mapping or str
        Without the layers.
    layers : sequence
        Empty where there are none.
    """
    if not isinstance(given, Mapping):
        return given, []
    return {key: value for key, value in given.items() if key != "layers"}, given.get("layers") or []
