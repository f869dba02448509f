"""The kernels of a study: each entry built once, with the transforms of its matrix and its solvers."""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from seqkern.core.archive import canonical_json
from seqkern.core.declarations import SEPARATOR
from seqkern.core.errors import ConfigError, ParameterError, SeqkernError
from seqkern.core.parameters import flag, text
from seqkern.core.progress import parse_duration, tell
from seqkern.core.public_files import is_public
from seqkern.core.specs import spec_alternatives, with_sums
from seqkern.core.types import PathLike
from seqkern.evaluation.auto import members_for
from seqkern.gram.transforms.gram_transform import GramTransform, build_transform, of_features, repair_transforms
from seqkern.kernels.feature_transforms.transforms import build_feature_transform
from seqkern.kernels.kernel import Kernel, files
from seqkern.kernels.kernel_specs import build_kernel, gives, kernel_text, one_kernel, parse_spec
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import Data
from seqkern.sequences.tracks import PROFILE_TRACKS
from seqkern.study.dataset import Dataset
from seqkern.study.schema import NAME, Branch, Listing, Places, Section, Typed

if TYPE_CHECKING:
    from seqkern.study.data_entry import DataEntry


OWN_SOLVERS = Listing(value=NAME, unique=True, doc="Run this kernel only with these solvers.")
KERNEL = Branch(
    doc="A kernel with its parameters, or names of kernels of which the inner loop chooses one.",
    key="choose",
    having=Section(
        keys={
            "choose": Listing(value=NAME, least=2, unique=True),
            "grid": flag(
                default=None, doc="true (seqkern writes it for a list of values): they run only as candidates."
            ),
            "solvers": OWN_SOLVERS,
        },
        needed=("choose",),
    ),
    others=Section(
        others=True,
        needed=("kernel",),
        keys={
            "kernel": text(),
            "time": Typed(
                types=("string", "number"),
                doc="With kernel: auto, the predicted CPU time for choosing, such as 10m.",
            ),
            "solvers": OWN_SOLVERS,
            "transforms": Typed(
                types=("array",),
                doc="Transforms fitted on each training set, in order: of features (impute, pca, ica), then of the "
                "Gram matrix (kernel_pca, centre, normalise).",
            ),
            "repair": Typed(
                types=("string", "object", "null"),
                doc="Treatment of negative eigenvalues, after the transforms: none, clip, flip, shift, empirical_map; "
                "a mapping adds options to the method.",
            ),
        },
    ),
)
NOT_OF_THE_KERNEL = ("solvers", "transforms", "repair")


@dataclass(frozen=True, eq=False)
class KernelEntry:
    """A kernel with the transforms of its matrix, fitted on each training set.

    Attributes
    ----------
    name : str
        Its name in the study.
    given : mapping
        The entry as configured.
    spec : mapping
        Spec of the kernel alone.
    transform_specs : tuple
        Specs of the transforms, the repair last, since it must repair the matrix that the solver receives. Before
        centring and normalisation, negative eigenvalues may be harmless (−D²/2 of points in space has some), and
        neither creates new ones.
    transforms : tuple of GramTransform
        The transforms of the matrix, not fitted. Those of features, which come first, are part of the kernel.
    solvers : tuple of str, optional
        The only solvers to run with it.
    built : Kernel, optional
        None when reporting on a study whose kernel is unknown to this version.
    problem : SeqkernError, optional
        The reason.

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
        """Return the entry with its kernel and transforms built.

        Parameters
        ----------
        given : str or mapping
            ``spectrum:k=3`` or ``{"kernel": "spectrum", "k": 3}``, with ``transforms`` and ``repair``.
        name : str, optional
            Name; default: the kernel class's.
        transforms : sequence, optional
            Further transforms, after the entry's.
        repair : str or mapping, optional
            Repair, in place of the entry's.

        Returns
        -------
        KernelEntry

        Raises
        ------
        ConfigError, ParameterError
            If the text cannot be read, a name is unknown (with the nearest one), or a value is outside its domain.
        """
        given = one_kernel(given) if isinstance(given, str) else given
        spec = {key: value for key, value in given.items() if key not in NOT_OF_THE_KERNEL}
        own = given.get("transforms", [])
        if not isinstance(own, list):
            raise ConfigError(f"transforms={own!r} is not a list", remedy="write for example [centre]")
        repaired = repair_transforms(given.get("repair") if repair is None else repair)
        transform_specs = (*own, *transforms, *repaired)
        count = of_features(transform_specs)
        built = build_kernel(spec)
        if count:
            from seqkern.kernels.feature_transforms.transformed import with_transforms  # imported here: slows start-up

            built = with_transforms(built, [build_feature_transform(item) for item in transform_specs[:count]])
        return cls(
            name=str(spec.get("kernel")) if name is None else name,
            given=given,
            spec=spec,
            transform_specs=transform_specs,
            built=built,
            transforms=tuple(build_transform(item) for item in transform_specs[count:]),
            solvers=own_solvers(given),
        )

    @classmethod
    def unknown(cls, given: Mapping[str, Any], name: str, problem: SeqkernError) -> "KernelEntry":
        """Return the entry of a kernel that cannot be built by this version.

        Parameters
        ----------
        given : mapping
            The entry as configured.
        name : str
            Its name in the study.
        problem : SeqkernError
            The reason.

        Returns
        -------
        KernelEntry
        """
        return cls(name, given, given, solvers=own_solvers(given), problem=problem)

    @property
    def kernel(self) -> Kernel:
        """The kernel, not fitted."""
        if self.built is None:
            raise self.problem or ConfigError(f"kernel {self.name!r} is unknown", remedy="correct its entry")
        return self.built

    @property
    def known(self) -> bool:
        """Whether the kernel could be built."""
        return self.built is not None

    @property
    def candidates(self) -> "tuple[KernelEntry, ...]":
        """The entry itself: there is only one candidate."""
        return (self,)

    @property
    def learns(self) -> bool:
        """Whether the kernel, or a transform of its matrix, is fitted on each training set."""
        return self.kernel.traits.data_dependent or bool(self.transforms)

    def allows(self, solver: str) -> bool:
        """Return whether the entry allows a solver.

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
        """Return whether the kernel accepts a kind of data; True if the kind or the kernel is unknown.

        Parameters
        ----------
        kind : str
            One of `seqkern.study.KINDS`, or ``""``.

        Returns
        -------
        bool
        """
        # dissimilarities are accepted by the kernels that accept similarities
        return not kind or self.built is None or kind.endswith(self.built.traits.accepts)

    def gives(self, wanted: str, accepts_operator: bool = False) -> bool:
        """Return whether the kernel provides the input of a solver.

        Parameters
        ----------
        wanted : {"gram", "features", "implicit"}
            Kernel input of a solver.
        accepts_operator : bool
            Whether the solver also accepts products with the kernel matrix.

        Returns
        -------
        bool
        """
        if wanted == "gram":
            return True
        return self.built is not None and not self.transforms and gives(self.built, wanted, accepts_operator)

    @property
    def views(self) -> tuple[str, ...]:
        """The views that the kernel reads."""
        return () if self.built is None else self.built.traits.views

    @property
    def sequence_views(self) -> tuple[str, ...]:
        """The views among them that are sequences."""
        return () if self.built is None else self.built.traits.sequence_views

    @property
    def of_several(self) -> bool:
        """Whether samples must have several sequences."""
        return self.built is not None and self.built.traits.of_several

    def has_views(self, data: "DataEntry") -> bool:
        """Return whether a data set has the views that the kernel reads, and several sequences if it needs them.

        Parameters
        ----------
        data : DataEntry
            Data entry of a study.

        Returns
        -------
        bool
        """
        sequences, vectors = set(self.sequence_views), set(self.views) - set(self.sequence_views)
        several = bool(data.sequence_views) or not self.of_several
        return several and sequences <= set(data.sequence_views) and vectors <= set(data.vector_views)

    @property
    def reads_profiles(self) -> bool:
        """Whether the kernel reads the profiles of the data set."""
        return self.built is not None and bool(set(PROFILE_TRACKS) & set(self.built.traits.tracks))

    @property
    def searches(self) -> bool:
        """Whether the kernel builds profiles by search of its training set."""
        return getattr(self.built, "search", None) == "training"

    def files(self) -> list[str]:
        """Return the local files that the kernel uses."""
        return local_files([self.kernel])


class Candidates:
    """Several kernels of which the inner loop chooses one; most of what is said of them holds for each."""

    candidates: "tuple[KernelEntry, ...]"
    solvers: tuple[str, ...] | None

    @property
    def learns(self) -> bool:
        """Whether a candidate is fitted on each training set."""
        return any(entry.learns for entry in self.candidates)

    def allows(self, solver: str) -> bool:
        """Return whether the entry, and each candidate, allows a solver.

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
        """Return whether all candidates accept a kind of data.

        Parameters
        ----------
        kind : str
            As for `KernelEntry.takes`.

        Returns
        -------
        bool
        """
        return all(entry.takes(kind) for entry in self.candidates)

    def gives(self, wanted: str, accepts_operator: bool = False) -> bool:
        """Return whether all candidates provide the input of a solver.

        Parameters
        ----------
        wanted : {"gram", "features", "implicit"}
            Kernel input of a solver.
        accepts_operator : bool
            Whether the solver also accepts products with the kernel matrix.

        Returns
        -------
        bool
        """
        return all(entry.gives(wanted, accepts_operator) for entry in self.candidates)

    @property
    def views(self) -> tuple[str, ...]:
        """The views that the candidates read, each once."""
        return tuple(dict.fromkeys(view for entry in self.candidates for view in entry.views))

    @property
    def sequence_views(self) -> tuple[str, ...]:
        """The views among them that are sequences."""
        return tuple(dict.fromkeys(view for entry in self.candidates for view in entry.sequence_views))

    def has_views(self, data: "DataEntry") -> bool:
        """Return whether a data set has the views that all candidates read.

        Parameters
        ----------
        data : DataEntry
            Data entry of a study.

        Returns
        -------
        bool
        """
        return all(entry.has_views(data) for entry in self.candidates)

    @property
    def reads_profiles(self) -> bool:
        """Whether a candidate reads the profiles of the data set."""
        return any(entry.reads_profiles for entry in self.candidates)

    @property
    def searches(self) -> bool:
        """Whether a candidate builds profiles by search of its training set."""
        return any(entry.searches for entry in self.candidates)

    def files(self) -> list[str]:
        """Return the local files that the candidates use, each once."""
        return local_files(entry.kernel for entry in self.candidates)


@dataclass(frozen=True, eq=False)
class KernelChoice(Candidates):
    """A choice of one kernel among several, made by the inner loop.

    Attributes
    ----------
    name : str
        Its name in the study.
    given : mapping
        The entry as configured.
    candidates : tuple of KernelEntry
        The candidates.
    solvers : tuple of str, optional
        The only solvers to run with it; the candidates' restrictions also apply.

    Examples
    --------
    >>> short, long = (KernelEntry.parse(f"spectrum:k={k}", name) for k, name in ((2, "short"), (9, "long")))
    >>> choice = KernelChoice("best", {"choose": ["short", "long"]}, (short, long))
    >>> [entry.kernel.k for entry in choice.candidates]
    [2, 9]
    """

    name: str
    given: Mapping[str, Any]
    candidates: "tuple[KernelEntry, ...]"
    solvers: tuple[str, ...] | None = None

    @classmethod
    def parse(cls, given: Mapping[str, Any], name: str, kernels: "Mapping[str, KernelEntry]") -> "KernelChoice":
        """Return the choice described by an entry.

        Parameters
        ----------
        given : mapping
            The entry as configured.
        name : str
            Its name in the study.
        kernels : mapping of str to KernelEntry
            The kernels of the study, including all candidates.

        Returns
        -------
        KernelChoice
        """
        return cls(name, given, tuple(kernels[choice] for choice in given["choose"]), own_solvers(given))


def expanded_kernels(given: Mapping[str, Mapping[str, Any]], places: Places) -> dict[str, Any]:
    """Return the kernel entries of a study with each grid replaced by a choice between its points, named after it."""
    points: dict[str, list[str]] = {}
    kernels: dict[str, Any] = {}
    for name, entry in given.items():
        kernels[name] = entry
        with places.within("kernels", name):
            several = [entry] if "choose" in entry or is_auto(entry) else spec_alternatives(entry)
        if len(several) > 1:
            points[name] = _point_names(name, several, given)
            kernels |= dict(zip(points[name], several, strict=True))
            solvers = {"solvers": entry["solvers"]} if "solvers" in entry else {}
            kernels[name] = {"choose": points[name], "grid": True, **solvers}
    for name, entry in kernels.items():
        if "choose" in entry and name not in points:
            chosen = [one for choice in entry["choose"] for one in points.get(choice, [choice])]
            kernels[name] = {**entry, "choose": chosen}
    return kernels


def _point_names(name: str, specs: Sequence[Mapping[str, Any]], taken: Container[str]) -> list[str]:
    """Return a name for each point of a grid: with its values, such as ``spectrum.k3``, or with its number."""
    keys = [key for key in specs[0] if any(spec[key] != specs[0][key] for spec in specs)]
    values = [[re.sub("[^A-Za-z0-9_-]+", "_", f"{key}{spec[key]}") for key in keys] for spec in specs]
    names = [".".join([name, *point]) for point in values]
    if len(set(names)) < len(names) or any(len(one) > 80 or one in taken for one in names):
        names = [_free(f"{name}.{number}", taken) for number in range(1, len(specs) + 1)]
    return names


def local_files(kernels: Iterable[Kernel]) -> list[str]:
    """Return the distinct local files used by kernels."""
    named = [str(path) for kernel in kernels for path in files(kernel)]
    return [path for path in dict.fromkeys(named) if not is_public(path)]


def own_solvers(given: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the solvers listed in a kernel entry, or None."""
    return tuple(given["solvers"]) if "solvers" in given else None


# The kernel ``auto``: the portfolio kernels suited to a data set, of which the inner loop chooses one.

AUTO = "auto"
TWO_MINUTES = 120.0
"""Default of the predicted CPU seconds for choosing, for outer folds that share fits and for the final model."""
KEYS = ("kernel", "time", "solvers")


@dataclass(frozen=True, eq=False)
class AutoKernel(Candidates):
    """The kernels of the portfolio; which ones depends on the data set.

    Attributes
    ----------
    name : str
        Its name in the study.
    given : mapping
        The entry as configured.
    seconds : float, optional
        Predicted CPU seconds for choosing, over all training sets of a task; default: see `budget`.
    solvers : tuple of str, optional
        The only solvers to run with it.

    Examples
    --------
    >>> entry = AutoKernel.parse({"kernel": "auto", "time": "2m"}, "best")
    >>> entry.budget(5000), entry.gives("implicit")
    (120.0, True)
    """

    name: str
    given: Mapping[str, Any]
    seconds: float | None = None
    solvers: tuple[str, ...] | None = None

    candidates = ()
    """Empty, as the candidates depend on the data."""
    learns = True

    @classmethod
    def parse(cls, given: str | Mapping[str, Any], name: str = AUTO) -> "AutoKernel":
        """Return the entry.

        Parameters
        ----------
        given : str or mapping
            ``auto`` or ``{"kernel": "auto", "time": "10m"}``.
        name : str
            Its name in the study.

        Returns
        -------
        AutoKernel

        Raises
        ------
        ParameterError
            For another key, or a time that is not a duration.
        """
        entry = {"kernel": given} if isinstance(given, str) else given
        unknown = [key for key in entry if key not in KEYS]
        if unknown:
            raise ParameterError(
                f"kernel auto has no parameter {unknown[0]!r}", remedy="remove it, or name a kernel instead of auto"
            )
        seconds = parse_duration(entry["time"]) if "time" in entry else None
        return cls(name, entry, seconds, own_solvers(entry))

    def budget(self, n: int, n_choices: int = 1) -> float:
        """Return the predicted CPU seconds of a choice; by default two minutes for 5,000 samples, or a third each.

        Parameters
        ----------
        n : int
            Number of samples; the default is proportional to it, and at least that for 5,000.
        n_choices : int
            Number of choices that share no fits, and among which a given time is divided.

        Returns
        -------
        float
        """
        if self.seconds is not None:
            return self.seconds / n_choices
        return TWO_MINUTES * max(1.0, n / 5000) / (1 if n_choices == 1 else 3)

    def takes(self, kind: str) -> bool:
        """Return whether the portfolio has kernels for a kind of data; True if the kind is unknown.

        Parameters
        ----------
        kind : str
            One of `seqkern.study.KINDS`, or ``""``.

        Returns
        -------
        bool
        """
        return kind in ("", "sequences")

    def gives(self, wanted: str, accepts_operator: bool = False) -> bool:
        """Return whether the portfolio has kernels that provide the input of a solver.

        Parameters
        ----------
        wanted : {"gram", "features", "implicit"}
            Kernel input of a solver.
        accepts_operator : bool
            Whether the solver also accepts products with the kernel matrix.

        Returns
        -------
        bool
        """
        return wanted in ("gram", "implicit") or accepts_operator

    def resolve(
        self, X: Data, wanted: str, real: bool = False, accepts_operator: bool = False
    ) -> "tuple[KernelEntry, ...]":
        """Return the kernels of the portfolio for some sequences.

        Parameters
        ----------
        X : SequenceSet
            Sequences; their labels are not used.
        wanted : {"gram", "implicit"}
            Kernel input of the solver.
        real : bool
            Whether the labels are numbers.
        accepts_operator : bool
            Whether the solver also accepts products with the kernel matrix.

        Returns
        -------
        tuple of KernelEntry

        Raises
        ------
        ParameterError
            If the data are not sequences, or no kernel of the portfolio suits.
        """
        if not isinstance(X, SequenceSet):
            raise ParameterError("kernel auto takes sequences only", remedy="give a kernel of vectors, such as rbf")
        members = members_for(X, wanted != "gram", real, accepts_operator)
        return tuple(KernelEntry.parse(member.spec, member.name) for member in members)


def is_auto(given: str | Mapping[str, Any]) -> bool:
    """Return whether a kernel is given as ``auto``.

    >>> is_auto("auto"), is_auto({"kernel": "auto"}), is_auto("spectrum:k=3")
    (True, True, False)
    """
    name = given.get("kernel") if isinstance(given, Mapping) else given.strip()
    if isinstance(name, str) and name.partition(":")[0] == AUTO and name != AUTO:
        raise ParameterError(
            f"kernel auto has no parameters in {name!r}", remedy="write auto, and give its time with --time"
        )
    return name == AUTO


# A kernel entry as given to a job or on the command line.

AnyKernel = KernelEntry | KernelChoice | AutoKernel


def read_kernel(given: str | Mapping[str, Any]) -> AnyKernel:
    """Return the kernel entry, or choice of several, given to a job or on the command line.

    Parameters
    ----------
    given : str or mapping
        ``{"kernel": "spectrum", "k": 3}`` or ``{"choose": [{"name": "three", "kernel": "spectrum", "k": 3}, …]}``, as
        JSON or as text; text with alternatives, ``spectrum:k=3|4``, is a choice; or ``auto``.

    Returns
    -------
    KernelEntry, KernelChoice or AutoKernel

    Raises
    ------
    ConfigError
        If a candidate has no unique name.
    ParameterError
        As for `KernelEntry.parse`.

    Examples
    --------
    >>> read_kernel('{"choose": [{"name": "a", "kernel": "spectrum", "k": 1}]}').candidates[0].name
    'a'
    >>> [entry.name for entry in read_kernel("mismatch:k=4|5,m=1").candidates]
    ['mismatch:k=4,m=1', 'mismatch:k=5,m=1']
    """
    if isinstance(given, str) and given.lstrip().startswith("{"):
        given = parse_spec(given)
    if is_auto(given):
        return AutoKernel.parse(given)
    _tell_of_lists(given)
    several: list[dict[str, Any]] = spec_alternatives(given)
    if len(several) > 1:
        entries = [KernelEntry.parse(one) for one in several]
        named = [replace(entry, name=kernel_text(entry.kernel)) for entry in entries]
        return KernelChoice("choose", {"choose": [entry.given for entry in named]}, tuple(named))
    spec = several[0]
    if "choose" not in spec:
        return KernelEntry.parse(spec)
    found: dict[str, KernelEntry] = {}
    for item in spec["choose"] if isinstance(spec["choose"], list) and spec["choose"] else [None]:
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(name, str) or name in found:
            raise ConfigError(
                f"choose={spec['choose']!r} is not a list of named kernels",
                remedy="give a list of kernels, each with a name",
            )
        found[name] = KernelEntry.parse(one_kernel({key: item[key] for key in item if key != "name"}), name)
    return KernelChoice("choose", spec, tuple(found.values()))


def _tell_of_lists(given: str | Mapping[str, Any]) -> None:
    """Print that a list of k is a grid, since it was a sum in earlier releases."""
    found: list[tuple[str, list[Any]]] = []
    if not isinstance(given, str) or SEPARATOR not in given:
        with_sums(parse_spec(given, grid=True) if isinstance(given, str) else given, found)
    for name, values in found:
        *first, last = map(str, values)
        if first and not any(isinstance(value, Mapping) for value in values):
            tell(
                f"{name}=[{','.join([*first, last])}] tries {', '.join(first)} and {last}; for one kernel of "
                f"{'both' if len(first) == 1 else 'all'} write {name}={'+'.join([*first, last])}"
            )


# The stored Gram matrices of a study, shared by kernels that differ only in transforms and repair.


@dataclass(frozen=True, eq=False)
class GramHome:
    """A stored Gram matrix.

    Attributes
    ----------
    name : str
        Name of its file.
    spec : mapping
        Spec of its kernel, as configured if possible.
    kernel : Kernel
        The kernel of the matrix.

    Examples
    --------
    >>> entry = KernelEntry.parse("spectrum:k=3", "three")
    >>> gram_homes({"three": entry})["three"][0].name
    'three'
    """

    name: str
    spec: Mapping[str, Any]
    kernel: Kernel

    def files(self) -> list[str]:
        """Return the local files that the kernel uses."""
        return local_files([self.kernel])


def gram_homes(kernels: Mapping[str, AnyKernel]) -> dict[str, list[GramHome]]:
    """Return for each entry name the stored Gram matrices that it needs (see `StoredForm.kernels`).

    Entries may share a matrix. Its name is that of the first entry that is this kernel itself, preferably without
    transforms; else of the first entry that needs no other matrix, else of the first that needs it, with ``.part`` and
    a number. Unknown kernels have none.

    >>> plain, map_of_it = KernelEntry.parse("spectrum:k=3"), KernelEntry.parse("pairwise:base=(spectrum:k=3)")
    >>> homes = gram_homes({"map": map_of_it, "plain": plain})
    >>> [home.name for home in homes["map"]]
    ['plain']
    """
    found = []
    entries = [(name, entry) for name, entry in kernels.items() if isinstance(entry, KernelEntry) and entry.known]
    for name, entry in entries:
        form = entry.kernel.stored_form
        if form is None:
            continue
        needed: list[Kernel] = form.kernels
        for number, kernel in enumerate(needed, start=1):
            own = name if len(needed) == 1 else _free(f"{name}.part{number}", kernels)
            home = GramHome(own, kernel.spec() if form.learns else entry.spec, kernel)
            found.append(((len(needed) > 1, form.learns, bool(entry.transform_specs)), name, number, home))
    kept: dict[tuple[str, int], GramHome] = {}
    homes: dict[str, GramHome] = {}
    for _, name, number, home in sorted(found, key=lambda item: item[0]):
        kept[name, number] = homes.setdefault(canonical_json(home.kernel.spec()), home)
    return {name: [kept[key] for key in sorted(kept) if key[0] == name] for name in dict.fromkeys(n for n, _ in kept)}


def check_stored(dataset: Dataset, file: PathLike) -> None:
    """Raise ParameterError if the samples of a data set are residues.

    Residues have no common Gram matrix; `file` is named in the message.
    """
    if dataset.residues is not None:
        count = len(dataset.residues)
        raise ParameterError(
            f"its {count} samples are residues, for which no Gram matrix over all samples is computed",
            file=file,
            remedy="run seqkern evaluate, which computes one for each training set (limit it by folds: "
            "{method: grouped, train_size: …}), or none for solvers such as primal_svc",
        )


def _free(name: str, taken: Container[str]) -> str:
    """Return an unused name: the given name, with underscores appended if necessary."""
    while name in taken:
        name += "_"
    return name
