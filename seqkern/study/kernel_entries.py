"""The kernels of a study: each entry built once, with the transforms of its matrix and the solvers it runs with."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from seqkern.core.errors import ConfigError, SeqkernError
from seqkern.core.public_files import is_public
from seqkern.gram.transforms import build_transform, repair_transforms
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels import build_kernel, parse_spec
from seqkern.kernels.kernel import Kernel
from seqkern.sequences.tracks import PROFILE_TRACKS

NOT_OF_THE_KERNEL = ("solvers", "transforms", "repair")


@dataclass(frozen=True, eq=False)
class KernelEntry:
    """A kernel with what is done to its matrix on each training part.

    Attributes
    ----------
    name : str
        Its name in the study.
    given : mapping
        The entry as it is configured.
    spec : mapping
        That of the kernel alone.
    transform_specs : tuple
        Those of the transforms, the repair last: what is repaired is the matrix that the solver gets. Before it is
        centred and normalised its negative eigenvalues may mean nothing (−D²/2 of points in space has some), and
        neither makes any new.
    transforms : tuple of GramTransform
        Built of these; none of them is fitted.
    solvers : tuple of str, optional
        The only solvers that it runs with.
    built : Kernel, optional
        None where a report is read of a study whose kernel is not known here.
    problem : SeqkernError, optional
        Why it is not.

    Examples
    --------
    >>> entry = KernelEntry.parse({"kernel": "spectrum", "k": 3, "transforms": ["centre"], "repair": "clip"})
    >>> entry.name, entry.kernel.k, [transform.name for transform in entry.transforms]
    ('spectrum', 3, ['centre', 'repair'])
    >>> entry.gives("gram"), entry.gives("features")
    (True, False)
    """

    name: str
    given: Mapping[str, Any]
    spec: Mapping[str, Any]
    transform_specs: tuple[Any, ...] = ()
    transforms: tuple[GramTransform, ...] = ()
    solvers: tuple[str, ...] | None = None
    built: Kernel | None = field(default=None, repr=False)
    problem: SeqkernError | None = None

    @classmethod
    def parse(
        cls,
        given: str | Mapping[str, Any],
        name: str | None = None,
        *,
        transforms: Sequence[Any] = (),
        repair: Any = None,
    ) -> "KernelEntry":
        """Build the kernel and the transforms of an entry.

        Parameters
        ----------
        given : str or mapping
            ``spectrum:k=3`` or ``{"kernel": "spectrum", "k": 3}``, with ``transforms`` and ``repair``.
        name : str, optional
            By default that of the kernel's class.
        transforms : sequence, optional
            More of them, after the entry's.
        repair : str or mapping, optional
            Takes the place of the entry's.

        Returns
        -------
        KernelEntry

        Raises
        ------
        ConfigError, ParameterError
            If the text cannot be read, a name is unknown (with the nearest one), or a value is outside its domain.
        """
        given = parse_spec(given) if isinstance(given, str) else given
        spec = {key: value for key, value in given.items() if key not in NOT_OF_THE_KERNEL}
        own = given.get("transforms", [])
        if not isinstance(own, list):
            raise ConfigError(f"transforms={own!r} is not possible", remedy="give a list, such as [centre]")
        repaired = repair_transforms(given.get("repair") if repair is None else repair)
        transform_specs = (*own, *transforms, *repaired)
        return cls(
            name=str(spec.get("kernel")) if name is None else name,
            given=given,
            spec=spec,
            transform_specs=transform_specs,
            built=build_kernel(spec),
            transforms=tuple(build_transform(item) for item in transform_specs),
            solvers=_own_solvers(given),
        )

    @classmethod
    def unknown(cls, given: Mapping[str, Any], name: str, problem: SeqkernError) -> "KernelEntry":
        """Return the entry of a kernel that cannot be built here.

        Parameters
        ----------
        given : mapping
            The entry as it is configured.
        name : str
            Its name in the study.
        problem : SeqkernError
            Why it cannot.

        Returns
        -------
        KernelEntry
        """
        return cls(name, given, given, solvers=_own_solvers(given), problem=problem)

    @property
    def kernel(self) -> Kernel:
        """The kernel, not fitted."""
        if self.built is None:
            raise self.problem or ConfigError(f"kernel {self.name!r} is not known", remedy="correct its entry")
        return self.built

    @property
    def known(self) -> bool:
        """Whether the kernel could be built."""
        return self.built is not None

    @property
    def candidates(self) -> "tuple[KernelEntry, ...]":
        """The entry itself: there is nothing to choose."""
        return (self,)

    @property
    def learns(self) -> bool:
        """Whether the kernel, or a transform of its matrix, is fitted on each training part."""
        return self.kernel.data_dependent or bool(self.transforms)

    def allows(self, solver: str) -> bool:
        """Tell whether the entry names a solver, or none.

        Parameters
        ----------
        solver : str
            Its name in the study.

        Returns
        -------
        bool
        """
        return self.solvers is None or solver in self.solvers

    def takes(self, kind: str) -> bool:
        """Tell whether the kernel takes a kind of data; True where the kind or the kernel is not known.

        Parameters
        ----------
        kind : str
            One of `seqkern.datasets.KINDS`, or ``""``.

        Returns
        -------
        bool
        """
        # dissimilarities are taken by the kernels that accept similarities
        return not kind or self.built is None or kind.endswith(self.built.accepts)

    def gives(self, wanted: str) -> bool:
        """Tell whether the kernel gives what a solver takes.

        Parameters
        ----------
        wanted : {"gram", "features", "implicit"}
            What a solver takes of a kernel.

        Returns
        -------
        bool
        """
        if wanted == "gram":
            return True
        if self.built is None or self.transforms:
            return False
        try:
            if wanted == "features":
                self.built.check_features()
            else:
                self.built.check_implicit()
        except SeqkernError:
            return False
        return True

    @property
    def reads_profiles(self) -> bool:
        """Whether the kernel reads the profiles of the data set."""
        return self.built is not None and bool(set(PROFILE_TRACKS) & set(self.built.tracks))

    @property
    def searches(self) -> bool:
        """Whether the kernel builds profiles by search of its training part."""
        return getattr(self.built, "search", None) == "training"

    def files(self) -> list[str]:
        """Return the local files that the kernel names."""
        return local_files([self.kernel])

    def to_dict(self) -> dict[str, Any]:
        """Return the entry without the solvers that it runs with, for a job: these make no job again."""
        return {key: value for key, value in self.given.items() if key != "solvers"}


@dataclass(frozen=True, eq=False)
class KernelChoice:
    """Kernels among which the inner loop chooses.

    Attributes
    ----------
    name : str
        Its name in the study.
    given : mapping
        The entry as it is configured.
    candidates : tuple of KernelEntry
        The kernels that the inner loop chooses among.
    solvers : tuple of str, optional
        The only solvers that it runs with; those of the candidates count too.

    Examples
    --------
    >>> short, long = (KernelEntry.parse(f"spectrum:k={k}", name) for k, name in ((2, "short"), (9, "long")))
    >>> choice = KernelChoice("best", {"choose": ["short", "long"]}, (short, long))
    >>> [entry.kernel.k for entry in choice.candidates]
    [2, 9]
    """

    name: str
    given: Mapping[str, Any]
    candidates: tuple[KernelEntry, ...]
    solvers: tuple[str, ...] | None = None

    @classmethod
    def parse(cls, given: Mapping[str, Any], name: str, kernels: Mapping[str, KernelEntry]) -> "KernelChoice":
        """Return the choice of an entry.

        Parameters
        ----------
        given : mapping
            The entry as it is configured.
        name : str
            Its name in the study.
        kernels : mapping of str to KernelEntry
            Those of the study, which has all that are listed.

        Returns
        -------
        KernelChoice
        """
        return cls(name, given, tuple(kernels[choice] for choice in given["choose"]), _own_solvers(given))

    @property
    def learns(self) -> bool:
        """Whether a candidate is fitted on each training part."""
        return any(entry.learns for entry in self.candidates)

    def allows(self, solver: str) -> bool:
        """Tell whether the entry, and each candidate, names a solver, or none.

        Parameters
        ----------
        solver : str
            Its name in the study.

        Returns
        -------
        bool
        """
        own = self.solvers is None or solver in self.solvers
        return own and all(entry.allows(solver) for entry in self.candidates)

    def takes(self, kind: str) -> bool:
        """Tell whether all candidates take a kind of data.

        Parameters
        ----------
        kind : str
            As of `KernelEntry.takes`.

        Returns
        -------
        bool
        """
        return all(entry.takes(kind) for entry in self.candidates)

    def gives(self, wanted: str) -> bool:
        """Tell whether all candidates give what a solver takes.

        Parameters
        ----------
        wanted : {"gram", "features", "implicit"}
            What a solver takes of a kernel.

        Returns
        -------
        bool
        """
        return all(entry.gives(wanted) for entry in self.candidates)

    @property
    def reads_profiles(self) -> bool:
        """Whether a candidate reads the profiles of the data set."""
        return any(entry.reads_profiles for entry in self.candidates)

    @property
    def searches(self) -> bool:
        """Whether a candidate builds profiles by search of its training part."""
        return any(entry.searches for entry in self.candidates)

    def files(self) -> list[str]:
        """Return the local files that the candidates name, each once."""
        return local_files(entry.kernel for entry in self.candidates)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry with those of its candidates, not their names alone, for a job."""
        return {"choose": [{"name": entry.name, **entry.to_dict()} for entry in self.candidates]}


AnyKernel = KernelEntry | KernelChoice


def read_kernel(given: str | Mapping[str, Any]) -> AnyKernel:
    """Return the entry, or the choice among several, that a job or a user gives on the command line.

    Parameters
    ----------
    given : str or mapping
        ``{"kernel": "spectrum", "k": 3}`` or ``{"choose": [{"name": "three", "kernel": "spectrum", "k": 3}, …]}``, as
        JSON or as text.

    Returns
    -------
    KernelEntry or KernelChoice

    Raises
    ------
    ConfigError
        If a kernel to choose has no name of its own.
    ParameterError
        As `KernelEntry.parse`.

    Examples
    --------
    >>> read_kernel('{"choose": [{"name": "a", "kernel": "spectrum", "k": 1}]}').candidates[0].name
    'a'
    """
    given = parse_spec(given) if isinstance(given, str) else given
    if "choose" not in given:
        return KernelEntry.parse(given)
    found: dict[str, KernelEntry] = {}
    for item in given["choose"] if isinstance(given["choose"], list) and given["choose"] else [None]:
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(name, str) or name in found:
            raise ConfigError(f"choose={given['choose']!r} is not possible", remedy="list kernels, each with its name")
        found[name] = KernelEntry.parse({key: value for key, value in item.items() if key != "name"}, name)
    return KernelChoice("choose", given, tuple(found.values()))


def local_files(kernels: Iterable[Kernel]) -> list[str]:
    """Return the local files that kernels name, each once.

    Parameters
    ----------
    kernels : iterable of Kernel
        Whose parameters may name files.

    Returns
    -------
    list of str
    """
    named = [str(path) for kernel in kernels for path in kernel.files()]
    return [path for path in dict.fromkeys(named) if not is_public(path)]


def _own_solvers(given: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the solvers that an entry names, or None."""
    return tuple(given["solvers"]) if "solvers" in given else None
