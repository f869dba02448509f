"""A study: its configuration as typed objects, created and checked once."""

import copy
import functools
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from seqkern.core.archive import atomic_write
from seqkern.core.declarations import Parameter
from seqkern.core.errors import ConfigError, SeqkernError, check_known
from seqkern.core.file_kinds import ANY
from seqkern.core.memory import parse_bytes
from seqkern.core.package_files import build_digest
from seqkern.core.parameters import choice, integer, real, text
from seqkern.core.progress import tell
from seqkern.core.specs import with_sums
from seqkern.core.types import PathLike
from seqkern.evaluation.held_out import check_postprocessing
from seqkern.evaluation.selection import check_bound_kernels
from seqkern.kernels.capabilities import required
from seqkern.kernels.kernel import check_files
from seqkern.kernels.kernel_specs import check_kind, gives
from seqkern.solvers.costs import BOUNDS
from seqkern.solvers.solver_specs import check_solver
from seqkern.study.data_entry import check_file_name
from seqkern.study.dataset_entries import DATASET_KEYS, DatasetEntry
from seqkern.study.kernel_entries import (
    KERNEL,
    AnyKernel,
    AutoKernel,
    GramHome,
    KernelChoice,
    KernelEntry,
    expanded_kernels,
    gram_homes,
    is_auto,
)
from seqkern.study.schema import (
    BYTES,
    FOLDER,
    NAME,
    ByName,
    File,
    Files,
    Keys,
    Places,
    Section,
    check_keys,
    files_of,
    hint,
    keys_of,
    read_config,
    with_defaults,
)
from seqkern.study.solver_entries import (
    SOLVER_KEYS,
    CheckedSolver,
    InnerSettings,
    LeakageSettings,
    MethodEntry,
    SolverEntry,
    checked_solvers,
    split_layers,
)

# Consistency checks between the entries of a study, before any work.

Value = TypeVar("Value")
Kernels = Mapping[str, AnyKernel]
Solvers = Mapping[str, SolverEntry]
Names = Sequence[tuple[str, str]]
"""Names of the kernels and solvers that run on a data set."""


def check_defined(keys: Keys, names: Iterable[str] | None, known: Iterable[str], places: Places) -> None:
    """Raise ConfigError if `names`, listed under `keys`, contains an undefined name."""
    for number, name in enumerate(names or ()):
        if name not in known:
            raise not_defined(keys, name, known, places, at=(*keys, number))


def not_defined(keys: Keys, name: str, known: Iterable[str], places: Places, at: Keys | None = None) -> ConfigError:
    """Return a ConfigError for an undefined name; `at` is the key whose line to report, if it differs."""
    remedy = f"{hint(name, known)}choose from: {', '.join(known)}"
    return places.error(keys, f"{name!r} is not defined", remedy=remedy, at=at)


def check_choices(dataset: DatasetEntry, kernels: Kernels, solvers: Solvers, places: Places) -> None:
    """Raise ConfigError unless a data set names known kernels and solvers that accept its kind of data."""
    place = ("datasets", dataset.name)
    check_defined((*place, "kernels"), dataset.kernels, kernels, places)
    check_defined((*place, "solvers"), dataset.solvers, solvers, places)
    for name in dataset.kernels or ():
        for entry in kernels[name].candidates:
            with places.within(*place, "kernels", name):
                check_kind(entry.kernel, dataset.kind)
    if not any(entry.takes(dataset.kind) for entry in kernels.values()):
        problem = f"no kernel accepts {dataset.kind}"
        raise places.error(place, problem, remedy="add a suitable one; seqkern kernels lists the input of each")
    _check_layers(dataset, solvers, places)


def check_views(datasets: Collection[DatasetEntry], kernels: Kernels, places: Places) -> None:
    """Raise ConfigError if a kernel reads a view that is missing.

    The view must exist in some data set, and in every data set that lists the kernel.
    """
    sequences = list(dict.fromkeys(view for dataset in datasets for view in dataset.data.sequence_views))
    vectors = list(dict.fromkeys(view for dataset in datasets for view in dataset.data.vector_views))
    for name, kernel in kernels.items():
        for view in kernel.views:
            of_sequences = view in kernel.sequence_views
            known, others = (sequences, vectors) if of_sequences else (vectors, sequences)
            if view in others and view not in known:
                what = (
                    "compares sequences, and the view {!r} holds vectors"
                    if of_sequences
                    else ("compares vectors, and the view {!r} holds sequences")
                )
                remedy = "choose another kernel, or another view"
                raise places.error(("kernels", name), f"kernel {name!r} {what.format(view)}", remedy=remedy)
            if view not in known:
                problem = f"no data set has the view {view!r}"
                where = "a table with this column of sequences" if of_sequences else f"views: {{{view}: FILE}}"
                raise places.error(("kernels", name), problem, remedy=f"{hint(view, known)}add {where} to a data set")
    for dataset in datasets:
        own = {*dataset.data.sequence_views, *dataset.data.vector_views}
        for name in dataset.kernels or ():
            missing = [view for view in (kernels[name].views if name in kernels else ()) if view not in own]
            if missing:
                problem = f"kernel {name!r} needs the view {missing[0]!r}"
                remedy = f"add views: {{{missing[0]}: FILE}}, or remove the kernel from the data set's kernels"
                raise places.error(("datasets", dataset.name), problem, remedy=remedy)
            if name in kernels and not kernels[name].has_views(dataset.data):
                problem = f"kernel {name!r} needs samples with several sequences"
                remedy = "give a table or views of sequences, or remove the kernel from the data set's kernels"
                raise places.error(("datasets", dataset.name), problem, remedy=remedy)


def check_methods(dataset: DatasetEntry, methods: Names, kernels: Kernels, places: Places) -> None:
    """Raise ConfigError if a kernel or solver of a data set would never run, or lacks its input."""
    running = dict.fromkeys(kernel for kernel, _ in methods), {solver for _, solver in methods}
    for kernel in running[0]:
        _check_profiles(dataset, kernel, kernels, places)
    idle = [kernel for kernel in dataset.kernels or () if kernel not in running[0]]
    idle += [solver for solver in dataset.solvers or () if solver not in running[1]]
    if idle or not methods:
        raise places.error(
            ("datasets", dataset.name),
            f"{idle[0] if idle else 'any kernel'} would never run: a kernel runs only with the solvers that it "
            "lists, and a solver without a Gram matrix only on kernels with suitable output, without transforms",
            remedy="add a solver such as csvc, or a kernel such as spectrum",
        )


def _check_layers(dataset: DatasetEntry, solvers: Solvers, places: Places) -> None:
    """Raise ConfigError if a data set without residues uses a solver with layers for residues."""
    for number, solver in enumerate(dataset.solvers or ()):
        if solvers[solver].needs_residues and not dataset.of_residues:
            place = ("datasets", dataset.name, "solvers")
            raise places.error(
                place,
                f"{solver!r} has layers that use neighbouring residues, but the samples are not residues",
                remedy="use a solver without layers, or add residues: {window: 15} to the data set",
                at=(*place, number),
            )


def _check_profiles(dataset: DatasetEntry, kernel: str, kernels: Kernels, places: Places) -> None:
    """Raise ConfigError if a kernel needs profiles and the data set has none.

    For residues the data set must provide them, because windows are too short for a search.
    """
    entry = kernels[kernel]
    if entry.searches and dataset.of_residues:
        problem = f"kernel {kernel!r} would search with windows around residues, not with chains"
        remedy = "remove search: training, and add profiles: to the data set"
    elif dataset.data.profiles is None and entry.reads_profiles:
        problem = f"kernel {kernel!r} needs profiles"
        remedy = "add profiles: to the data set, search: training to the kernel, or list the data set's kernels"
        if dataset.of_residues:
            remedy = "add profiles: to the data set, or list the data set's kernels"
    else:
        return
    raise places.error(("datasets", dataset.name), problem, remedy=remedy)


def check_models(dataset: DatasetEntry, kernels: Kernels, solvers: Solvers, places: Places) -> None:
    """Raise ConfigError unless the methods for importance, motifs and variants are known and suitable."""
    place = ("datasets", dataset.name)
    for key, wanted in (("importance", dataset.importance), ("motifs", dataset.motifs), ("variants", dataset.variants)):
        if wanted is not None:
            _check_model(dataset, (*place, key), (wanted.kernel, wanted.solver), kernels, solvers, places)
    with places.within(*place, "importance", "section"):
        dataset.check_section()


def check_significance(dataset: DatasetEntry, methods: Names, solvers: Solvers, places: Places) -> None:
    """Raise ConfigError unless the significance test of features is valid and covers at least one P-SVM."""
    test = dataset.significance
    if test is None:
        return
    suitable = [solvers[name] for name in dict.fromkeys(name for _, name in methods) if test.suits(solvers[name].specs)]
    with places.within("datasets", dataset.name, "significance"):
        if not suitable:
            raise ConfigError(
                "no solver of the data set is a P-SVM on features",
                remedy="add a solver {solver: psvc, kernel: features}, or remove significance",
            )
        for solver in suitable:
            test.check(solver.specs)


def _check_model(
    dataset: DatasetEntry, place: Keys, method: tuple[str, str], kernels: Kernels, solvers: Solvers, places: Places
) -> None:
    """Raise ConfigError unless a method can be trained on a data set; explanations need kernel values."""
    for part, name, known in (("kernel", method[0], kernels), ("solver", method[1], solvers)):
        if name not in known:
            raise not_defined((*place, part), name, known, places)
    entry = kernels[method[0]]
    if not isinstance(entry, KernelEntry):
        names = ", ".join(one.name for one in entry.candidates)
        remedy = f"choose one of {names}" if names else "name a kernel"
        raise places.error((*place, "kernel"), f"{method[0]!r} stands for several kernels", remedy=remedy)
    if dataset.kind != "sequences" or dataset.data.tasks is not None:
        raise places.error(place, "needs sequences with a single task", remedy="remove it")
    with places.within(*place, "kernel"):
        check_kind(entry.kernel, dataset.kind)
    with places.within(*place, "solver"):
        for solver in solvers[method[1]].grid:
            if place[-1] != "variants":
                check_solver(solver)
            if not gives(entry.kernel, solver.input, solver.traits.operator):
                required(entry.kernel, "implicit")


class Entries(Mapping[str, Value]):
    """The entries of a checked configuration by name, each built when it is first used."""

    def __init__(self, given: Mapping[str, Any], build: Callable[[Any, str], Value]) -> None:
        self._given, self._build = given, functools.cache(lambda name: build(given[name], name))

    def __getitem__(self, name: str) -> Value:
        return self._build(name)

    def __contains__(self, name: object) -> bool:
        return name in self._given

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)


KEYS: dict[str, Parameter] = {
    "format": integer(
        default=None,
        low=1,
        high=2,
        doc="2: a list of values of a kernel's parameter is a grid, as for solvers, and {sum: [3, 4]} one kernel, the "
        "sum over both. 1 (or left out, in this release): a list is a sum.",
    ),
    "study": NAME.but(doc="Name of the study."),
    "results": FOLDER.but(default=None, doc="Folder of the results (default: results/<study>)."),
    "description": text(default="", doc="One sentence for the top of the report."),
    "seed": integer(default=1, low=0, doc="Seed of all random choices."),
    "data_dir": text(
        default=None,
        optional=True,
        doc="Folder with local copies of public data sets; without it they are downloaded and checked.",
    ),
    "memory_limit": BYTES.but(default="2GB", doc="A Gram matrix larger than this is computed in tiles on disk."),
    "dtype": choice(
        default="float64",
        choices=("float64", "float32"),
        doc="Numbers of stored Gram matrices; float32 halves their size on disk.",
    ),
    "tiles": integer(default=1, low=1, doc="Number of jobs that share each Gram matrix."),
    "share_seconds": real(
        default=600,
        low=0,
        open_low=True,
        doc="Evaluations of a kernel that are predicted to take longer than these CPU seconds are divided into several "
        "jobs.",
    ),
    "inner": Section(
        default={},
        keys=keys_of(InnerSettings),
        doc="Inner loop within each training set, which chooses hyperparameters.",
    ),
    "leakage": Section(
        default={}, keys=keys_of(LeakageSettings), doc="Settings of the leakage check before every run."
    ),
    "datasets": ByName(value=Section(keys=DATASET_KEYS)),
    "kernels": ByName(value=KERNEL, doc="Name and specification of each kernel."),
    "solvers": ByName(
        value=Section(others=True, keys=SOLVER_KEYS, needed=("solver",)),
        doc="Name and specification of each solver; a list of values is a grid for the inner loop.",
    ),
}
"""The keys of a study."""


def study_schema() -> dict[str, Any]:
    """Return the JSON schema of a study's configuration, for editors.

    >>> study_schema()["properties"]["seed"]["minimum"]
    0
    """
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A study", **STUDY.key_schema()}


STUDY = Section(
    keys=KEYS,
    needed=("study", "datasets", "kernels", "solvers"),
    doc="Data sets × kernels × solvers, evaluated over the same folds. config/README.md explains every key.",
)
Pairs = list[tuple[AnyKernel, SolverEntry]]
DIVISION = ("tiles", "share_seconds")
"""Keys that divide the work into jobs: results never depend on them."""
SAVED = ".study"
"""Ending of the files of `Study.save`."""


@dataclass(frozen=True, eq=False)
class Study:
    """Data sets × kernels × solvers, evaluated over the same folds; config/README.md explains every key.

    Attributes
    ----------
    name, description : str
        Name for folders, and description for reports.
    datasets : dict of str to DatasetEntry
        Data sets by name, in the order of the configuration.
    kernels : dict of str to KernelEntry or KernelChoice
        Kernels by name, in the order of the configuration.
    solvers : dict of str to SolverEntry
        Solvers by name, in the order of the configuration.
    inner : InnerSettings
        Settings of the inner loop.
    leakage : LeakageSettings
        Settings of the check for leaks.
    seed : int
        Seed of all random choices.
    data_dir : str, optional
        Folder with local copies of public data sets.
    memory_limit : str
        A Gram matrix larger than this is computed in tiles on disk.
    dtype : {"float64", "float32"}
        Numbers of stored Gram matrices.
    tiles : int
        Number of jobs that share each Gram matrix.
    share_seconds : float
        CPU seconds of a share of the evaluations of a kernel, if they are predicted to take longer.
    config : mapping
        The configuration, with all defaults.

    Examples
    --------
    >>> study = Study.parse(
    ...     {
    ...         "study": "sites",
    ...         "datasets": {"donors": {"simulate": {"kind": "donor"}}},
    ...         "kernels": {"three": {"kernel": "spectrum", "k": 3}, "five": {"kernel": "spectrum", "k": 5}},
    ...         "solvers": {"svm": {"solver": "csvc", "C": [0.1, 1]}},
    ...     }
    ... )
    >>> study.method_names("donors")
    [('three', 'svm'), ('five', 'svm')]
    >>> study.kernels["five"].kernel.k, study.inner.folds
    (5, 3)
    """

    name: str
    description: str = KEYS["description"].default
    datasets: Mapping[str, DatasetEntry] = field(default_factory=dict)
    kernels: Mapping[str, AnyKernel] = field(default_factory=dict)
    solvers: Mapping[str, SolverEntry] = field(default_factory=dict)
    inner: InnerSettings = field(default_factory=InnerSettings)
    leakage: LeakageSettings = field(default_factory=LeakageSettings)
    seed: int = KEYS["seed"].default
    data_dir: str | None = None
    memory_limit: str = KEYS["memory_limit"].default
    dtype: str = KEYS["dtype"].default
    tiles: int = KEYS["tiles"].default
    share_seconds: float = KEYS["share_seconds"].default
    config: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def load(cls, path: File) -> "Study":
        """Read and check a study's YAML file, or read the file that `save` has written of a checked one.

        Parameters
        ----------
        path : path-like
            A file in YAML, or of `save`.

        Returns
        -------
        Study

        Raises
        ------
        ConfigError
            If the file is missing, not YAML, or invalid; the message gives line and key.
        """
        if not os.fspath(path).endswith(SAVED):
            return cls.parse(read_config(path), file=path)
        stored = ANY.load_json(path)
        with ANY.damaged(path):
            build, config = stored["build"], stored["study"]
        return cls._checked(config) if build == build_digest() else cls.parse(config)

    @classmethod
    def _checked(cls, config: Mapping[str, Any]) -> "Study":
        """Return the study of a configuration that `parse` has checked and completed; entries are built when used."""
        inner, places = InnerSettings.parse(config["inner"]), Places(config)
        parse_dataset = functools.partial(DatasetEntry.parse, places=places)
        parse_solver = functools.partial(SolverEntry.parse, ranges=inner.random)
        kernels: Entries[AnyKernel] = Entries(config["kernels"], lambda given, name: _kernel(given, name, kernels))
        solvers = Entries(config["solvers"], parse_solver)
        datasets = Entries(config["datasets"], parse_dataset)
        return cls(datasets=datasets, kernels=kernels, solvers=solvers, inner=inner, **_general(config))

    @classmethod
    def parse(cls, config: Mapping[str, Any], *, file: Files = None) -> "Study":
        """Return the study described by a configuration, checked.

        Parameters
        ----------
        config : mapping
            Not changed.
        file : path-like, or a sequence of them in the order in which they were read, optional
            The source of the configuration, for messages.

        Returns
        -------
        Study

        Raises
        ------
        ConfigError
            For an invalid key or value, with file, line and the nearest known key.
        """
        places = Places(config, files_of(file))
        if not isinstance(config, Mapping):
            raise places.error((), "contains no keys", remedy="see config/config.yaml for an example")
        check_keys(config, STUDY, places)
        config = with_defaults(config, KEYS)
        config |= {"format": 2, "kernels": _in_format_2(config, places)}
        with places.within("memory_limit"):
            parse_bytes(config["memory_limit"])
        inner = _inner(config["inner"], places)
        kernels = _kernels(config, places)
        solvers = _solvers(config, inner, places)
        _check_clusters(inner, solvers, places)
        _check_bounds(inner, kernels, solvers, places)
        datasets = {name: DatasetEntry.parse(entry, name, places) for name, entry in config["datasets"].items()}
        _check_auto(kernels, inner, places)
        study = cls(datasets=datasets, kernels=kernels, solvers=solvers, inner=inner, **_general(config))
        check_views(datasets.values(), kernels, places)
        for dataset in datasets.values():
            check_choices(dataset, kernels, solvers, places)
            names = study.method_names(dataset.name)
            check_methods(dataset, names, kernels, places)
            check_significance(dataset, names, solvers, places)
            check_models(dataset, kernels, solvers, places)
        return study

    @classmethod
    def of_results(cls, config: Mapping[str, Any], name: str = "") -> "Study":
        """Return the readable part of a finished study, perhaps of another version, for its report.

        Parameters
        ----------
        config : mapping
            The configuration stored with the results; empty if there is none.
        name : str
            Default name of the study.

        Returns
        -------
        Study
        """
        kernels: dict[str, AnyKernel] = {}
        entries = _entries(config, "kernels")
        single = {key: _kernel_of_results(key, entry) for key, entry in entries.items() if "choose" not in entry}
        plain = {key: entry for key, entry in single.items() if isinstance(entry, KernelEntry)}
        for key, entry in entries.items():
            kernels[key] = single[key] if key in single else _choice_of_results(key, entry, plain)
        solvers = {key: SolverEntry.of_results(entry, key) for key, entry in _entries(config, "solvers").items()}
        datasets = {key: DatasetEntry.of_results(entry, key) for key, entry in _entries(config, "datasets").items()}
        inner = InnerSettings.parse(config.get("inner") or {})
        general = _general({"study": name, **config})
        return cls(datasets=datasets, kernels=kernels, solvers=solvers, inner=inner, **general | {"config": config})

    def method_names(self, dataset: str, kind: str | None = None) -> list[tuple[str, str]]:
        """Return the names of the kernels and solvers that run on a data set.

        Parameters
        ----------
        dataset, kind
            As for `methods`.

        Returns
        -------
        list of (str, str)
        """
        return [method.names for method in self.methods(dataset, kind)]

    def methods(self, dataset: str, kind: str | None = None) -> list[MethodEntry]:
        """Return the methods that run on a data set.

        Parameters
        ----------
        dataset : str
            Its name in the study.
        kind : str, optional
            Its kind of data; default: the entry's. With ``""`` (unknown) every kernel runs.

        Returns
        -------
        list of MethodEntry
            Combinations of the kernels and solvers in its entry; default: all kernels that accept its kind of data
            and whose views it has, and all solvers. A kernel that lists solvers runs only with these, a choice of
            kernels with those that all candidates allow. A solver without a Gram matrix runs on kernels that provide
            its input, without transforms; one with layers for neighbouring residues on data sets of residues.
        """
        return [MethodEntry(*pair, self.inner, self.seed) for pair in self._pairs(dataset, kind)[0]]

    def unsuitable(self, dataset: str, kind: str | None = None) -> list[tuple[str, str]]:
        """Return the combinations that do not run because the kernel does not give the solver's input.

        Parameters
        ----------
        dataset, kind
            As for `methods`.

        Returns
        -------
        list of (str, str)
            Names of kernel and solver.
        """
        return [(kernel.name, solver.name) for kernel, solver in self._pairs(dataset, kind)[1]]

    def _pairs(self, dataset: str, kind: str | None) -> tuple[Pairs, Pairs]:
        """Return the (kernel, solver) pairs to run on a data set, and the pairs of `unsuitable`."""
        entry = self.datasets[dataset]
        kind = entry.kind if kind is None else kind
        choices = [one for one in _entries(self.config, "kernels").values() if one.get("grid")]
        points = {name for one in choices for name in one["choose"]}
        taking = [name for name, one in self.kernels.items() if one.takes(kind) and one.has_views(entry.data)]
        taking = [name for name in taking if name not in points]
        kernels = [self.kernels[name] for name in entry.kernels or taking]
        solvers = [self.solvers[name] for name in entry.solvers or self.solvers]
        if not entry.of_residues:
            solvers = [solver for solver in solvers if not solver.needs_residues]
        kinds = {(solver.input, solver.accepts_operator) for solver in solvers}
        able = {(kernel.name, *kind): kernel.gives(*kind) for kernel in kernels for kind in kinds}
        wanted = [(kernel, solver) for kernel in kernels for solver in solvers if kernel.allows(solver.name)]
        runs = [able[kernel.name, solver.input, solver.accepts_operator] for kernel, solver in wanted]
        unsuitable = [pair for pair, one in zip(wanted, runs, strict=True) if not one]
        return [pair for pair, one in zip(wanted, runs, strict=True) if one], unsuitable

    @property
    def results(self) -> str:
        """The folder of the results, relative to that where Snakemake is started."""
        return self.config.get("results") or f"results/{self.name}"

    @cached_property
    def stored_grams(self) -> dict[str, list[GramHome]]:
        """The Gram matrices over all samples that each kernel needs, by its name; see `gram_homes`."""
        return gram_homes(self.kernels)

    @cached_property
    def homes(self) -> dict[str, GramHome]:
        """The stored Gram matrices, each once, by name."""
        return {home.name: home for homes in self.stored_grams.values() for home in homes}

    def grams_of(self, dataset: str, kernel: str, solver: str) -> list[str]:
        """Return the names of the stored Gram matrices that serve every fold of a method.

        There is none over all residues of many chains: the solver gets the training set's.

        Parameters
        ----------
        dataset, kernel, solver : str
            Names in the study.

        Returns
        -------
        list of str
        """
        if not self.solvers[solver].needs_gram or self.datasets[dataset].of_residues:
            return []
        names = [entry.name for entry in self.kernels[kernel].candidates]
        return [home.name for name in names for home in self.stored_grams.get(name, ())]

    def pooled_datasets(self, dataset: str, kernel: str, solver: str) -> list[str]:
        """Return the names of the data sets over whose tasks a method is chosen; none if each task has its own choice.

        Parameters
        ----------
        dataset, kernel, solver : str
            Names in the study.

        Returns
        -------
        list of str
            Data sets of the same kind, with this one.
        """
        names = kernel, solver
        if not self.inner.pools or not any(m.chooses for m in self.methods(dataset) if m.names == names):
            return []
        kind = self.datasets[dataset].kind
        return [
            name for name, entry in self.datasets.items() if entry.kind == kind and names in self.method_names(name)
        ]

    def checked_solvers(self, dataset: str) -> dict[str, CheckedSolver]:
        """Return the solvers that run on a data set, for `seqkern check`.

        Parameters
        ----------
        dataset : str
            Its name in the study.

        Returns
        -------
        dict of str to CheckedSolver
        """
        return checked_solvers(self.methods(dataset))

    def settings_of(self, job: str, dataset: str = "", kernel: str = "", solver: str = "") -> dict[str, Any]:
        """Return all that a job of the workflow reads from the study; the job runs again when it changes.

        Parameters
        ----------
        job : str
            ``datasets``, ``folds``, ``plan``, ``gram``, ``inner``, ``evaluate``, ``importance``, ``motifs``,
            ``variants`` or ``report``.
        dataset, kernel, solver : str
            Names in the study; for ``gram`` the kernel is the name of a stored matrix.

        Returns
        -------
        dict
            Values of the configuration. A limit of memory is none of them, and neither is the division into jobs.

        Raises
        ------
        ParameterError
            For a name that the study does not have, with the nearest one.
        """
        if job == "report":
            return {key: value for key, value in self.config.items() if key not in DIVISION}
        if job == "gram":
            return {"kernel": self.home(kernel).spec, "dtype": self.dtype}
        entry = _named("data set", dataset, self.datasets)
        if job == "datasets":
            return {"entry": entry.to_dict(), "seed": self.seed, "data_dir": self.data_dir}
        if job == "folds":
            return {"options": entry.fold_options(), "leakage": self.leakage.to_dict(), "seed": self.seed}
        if job == "plan":
            return self._planned(dataset)
        if job in ("inner", "evaluate"):
            return self._method_settings(entry, kernel, solver, job)
        chosen = getattr(entry, job)
        if chosen is None:
            raise ConfigError(f"data set {dataset!r} has no {job}", remedy=f"add {job}: to its entry")
        return {"method": self._method_settings(entry, chosen.kernel, chosen.solver, job), job: asdict(chosen)}

    def _method_settings(self, dataset: DatasetEntry, kernel: str, solver: str, job: str) -> dict[str, Any]:
        """Return the settings of a method, for `MethodEntry.parse`; other solvers for its kernel are none of them."""
        given, layers = split_layers(_named("solver", solver, self.config["solvers"]))
        kernels: Mapping[str, Any] = self.config["kernels"]
        own = _without_solvers(_named("kernel", kernel, kernels))
        if "choose" in own:
            own["choose"] = [{"name": name, **_without_solvers(kernels[name])} for name in own["choose"]]
        inner = asdict(self.inner) | {"pooled": InnerSettings.pooled}
        if job != "evaluate" or layers:
            inner |= {"calibration": None, "threshold": None}
        settings: dict[str, Any] = {"kernel": own, "solver": given, "layers": list(layers), "inner": inner}
        settings["seed"] = self.seed
        test = dataset.significance
        if job == "evaluate":
            tested = test is not None and test.suits(self.solvers[solver].specs)
            settings["significance"] = asdict(test) if test is not None and tested else None
            settings["selection_bias"] = dataset.selection_bias
        return settings

    def planned(self, dataset: str) -> "Study":
        """Return the study of one data set, for the plan of its jobs.

        Parameters
        ----------
        dataset : str
            Its name in the study.

        Returns
        -------
        Study
        """
        return Study._checked(self.settings_of("plan", dataset))

    def home(self, name: str) -> GramHome:
        """Return a stored Gram matrix by name; only its own kernel is built where it is named after one.

        Parameters
        ----------
        name : str
            A name of `homes`, or of a kernel.

        Returns
        -------
        GramHome
        """
        if name in self.kernels:
            own = gram_homes({name: self.kernels[name]}).get(name, ())
            if len(own) == 1 and own[0].name == name:
                return own[0]
        return _named("Gram matrix", name, self.homes)

    def _planned(self, dataset: str) -> dict[str, Any]:
        """Return the part of the configuration that determines the costs of a data set's jobs.

        It has also the kernels that do not run on the data set: kernels share matrices, which are named after the first
        of them. Those of views that it lacks are left out.
        """
        data = self.datasets[dataset].data
        kernels = [name for name, kernel in self.kernels.items() if kernel.has_views(data)]
        kept = {
            key: self.config[key]
            for key in ("study", "results", "seed", "inner", "memory_limit", "dtype", "solvers")
            if key in self.config
        }
        return {
            **kept,
            "kernels": {name: self.config["kernels"][name] for name in kernels},
            "datasets": {dataset: self.config["datasets"][dataset]},
        }

    def check_files(self, *names: str, file: Files = None) -> None:
        """Raise ConfigError unless all local files of the data sets exist, and Snakemake takes no name for a pattern.

        Snakemake itself would not report a missing file if results made from another one already exist.
        """
        places = Places(self.config, files_of(file))
        for name in names or self.datasets:
            self.datasets[name].check_files(places)
        for name, kernel in self.kernels.items():
            with places.within("kernels", name):
                for path in kernel.files():
                    check_file_name(path)

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration, with all defaults."""
        return copy.deepcopy(dict(self.config))

    def save(self, folder: PathLike) -> Path:
        """Write the study for its jobs to a file, whose name depends on the content, and return the path.

        So a run with another configuration disturbs no job that is waiting or at work.
        """
        text = json.dumps({"build": build_digest(), "study": self.config}, separators=(",", ":"))
        digest = blake2b(text.encode(), digest_size=8).hexdigest()
        path = Path(folder) / f"{self.name}-{digest}{SAVED}"
        if not path.exists():
            with atomic_write(path, "w") as file:
                file.write(text)
        return path


def check_dataset_entry(name: str, entry: Mapping[str, Any], *, file: Files = None) -> DatasetEntry:
    """Return a data set's entry, typed, and checked like a study's entries.

    Parameters
    ----------
    name : str
        Its name in the study.
    entry : mapping
        The entry as configured.
    file : path-like, optional
        File to name in messages.

    Returns
    -------
    DatasetEntry

    Raises
    ------
    ConfigError
        For an invalid name, key or value, with the nearest known key.

    Examples
    --------
    >>> check_dataset_entry("donors", {"simulate": {"kind": "donor"}}).kind
    'sequences'
    """
    config = {"datasets": {name: entry}}
    places = Places(config, files_of(file))
    check_keys(config, Section(keys={"datasets": KEYS["datasets"]}), places)
    return DatasetEntry.parse(entry, name, places)


def _general(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a study that are not objects of their own."""
    keys = ("description", "seed", "data_dir", "memory_limit", "dtype", *DIVISION)
    return {
        "name": str(config["study"]),
        "leakage": LeakageSettings.parse(config.get("leakage") or {}),
        "config": config,
        **{key: config[key] for key in keys if key in config},
    }


def _inner(given: Mapping[str, Any], places: Places) -> InnerSettings:
    """Return the settings of the inner loop; raise ConfigError for contradictory settings."""
    inner = InnerSettings.parse(given)
    with places.within("inner"):
        check_postprocessing(inner.calibration, inner.threshold)
    if inner.pools and inner.rule != "best":
        problem = f"{inner.rule} has no effect on a choice by the mean rank over tasks"
        raise places.error(("inner", "rule"), problem, remedy="remove rule, or pooled")
    # every completed study contains the default
    if not inner.random and inner.draws != InnerSettings.draws:
        problem = f"{inner.draws} has no effect, since all candidates of a grid are tried"
        raise places.error(("inner", "draws"), problem, remedy="add search: random, or remove draws")
    return inner


def _check_clusters(inner: InnerSettings, solvers: Mapping[str, SolverEntry], places: Places) -> None:
    """Raise ConfigError for clusters in the inner loop if a solver has no Gram matrix to derive them from."""
    without = [solver.name for solver in solvers.values() if not solver.needs_gram]
    if inner.clusters is not None and without:
        problem = f"clusters are made from a Gram matrix, which the solver {without[0]!r} does not take"
        raise places.error(("inner", "clusters"), problem, remedy="remove clusters, or choose csvc")


def _check_bounds(
    inner: InnerSettings, kernels: Mapping[str, AnyKernel], solvers: Mapping[str, SolverEntry], places: Places
) -> None:
    """Raise ConfigError if the inner metric is a bound and something else rules that out.

    That is a kernel, a solver or other keys of the inner loop.
    """
    if inner.metric not in BOUNDS:
        return
    if inner.clusters is not None or inner.rule != "best":
        key = "clusters" if inner.clusters is not None else "rule"
        problem = f"{key} has no effect on the metric {inner.metric!r}, which needs no inner folds"
        raise places.error(("inner", key), problem, remedy=f"remove {key}, or choose another metric")
    for name, entry in kernels.items():
        if isinstance(entry, AutoKernel):
            problem = f"kernel auto has kernels that learn from the training set: no metric {inner.metric!r}"
            raise places.error(("kernels", name), problem, remedy="list kernels under choose, or choose another metric")
        with places.within("kernels", name):
            check_bound_kernels(inner.metric, {one.name: one.kernel for one in entry.candidates})
    for solver in solvers.values():
        if not all(one.traits.bounds for one in solver.grid):
            problem = f"solver {solver.name!r} has no bound for the metric {inner.metric!r}"
            raise places.error(
                ("inner", "metric"), problem, remedy="choose csvc or nusvc, or another metric, such as auc"
            )


def _named(what: str, name: str, known: Mapping[str, Value]) -> Value:
    """Return an entry by name; raise ParameterError, with the nearest name, if there is none."""
    check_known(f"{what} of the study", [name], known)
    return known[name]


def _without_solvers(kernel: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of a kernel without the solvers that it is run with."""
    return {key: value for key, value in kernel.items() if key != "solvers"}


def _kernel(given: Mapping[str, Any], name: str, kernels: Mapping[str, Any]) -> AnyKernel:
    """Return the kernel of an entry, or the choice between some of `kernels`."""
    if is_auto(given):
        return AutoKernel.parse(given, name)
    return KernelChoice.parse(given, name, kernels) if "choose" in given else KernelEntry.parse(given, name)


def _kernels(config: Mapping[str, Any], places: Places) -> dict[str, AnyKernel]:
    """Return the kernels of a study, each built once, so that invalid names and values are found before any work."""
    plain: dict[str, KernelEntry] = {}
    for name, entry in config["kernels"].items():
        if "choose" not in entry and not is_auto(entry):
            with places.within("kernels", name):
                plain[name] = KernelEntry.parse(entry, name)
                check_files(plain[name].kernel)
    kernels: dict[str, AnyKernel] = {}
    for name, entry in config["kernels"].items():
        check_defined(("kernels", name, "choose"), entry.get("choose"), plain, places)
        check_defined(("kernels", name, "solvers"), entry.get("solvers"), config["solvers"], places)
        with places.within("kernels", name):
            kernels[name] = plain[name] if name in plain else _kernel(entry, name, plain)
    return kernels


def _in_format_2(config: Mapping[str, Any], places: Places) -> dict[str, Any]:
    """Return the kernel entries of a configuration in format 2, with grids as choices; tell where a list is a sum."""
    kernels = dict(config["kernels"])
    sums: list[tuple[str, list[Any]]] = []
    for name, entry in kernels.items() if config.get("format") != 2 else ():
        told = bool(sums)
        with places.within("kernels", name):
            kernels[name] = entry if "choose" in entry or is_auto(entry) else with_sums(entry, sums)
        if sums and not told and "format" not in config and places.files:
            (key, values), (file, line) = sums[0], places.find(("kernels", name))
            tell(
                f"{file}:{line}: kernels.{name}: {key}: {values} is one kernel, the sum over them, as before; with "
                f"format: 2 it is a grid. Add format: 2, and for the sum write {key}: {{sum: {values}}}"
            )
    return expanded_kernels(kernels, places)


def _solvers(config: Mapping[str, Any], inner: InnerSettings, places: Places) -> dict[str, SolverEntry]:
    """Return the solvers of a study, each grid built once."""
    found = {}
    for name, entry in config["solvers"].items():
        within = functools.partial(places.within, "solvers", name)
        found[name] = SolverEntry.parse(entry, name, ranges=inner.random, within=within)
    return found


def _check_auto(kernels: Mapping[str, AnyKernel], inner: InnerSettings, places: Places) -> None:
    """Raise ConfigError for kernel auto with an inner loop that is pooled or uses clusters."""
    for name, entry in kernels.items():
        if isinstance(entry, AutoKernel) and (inner.pools or inner.clusters is not None):
            key = "pooled" if inner.pools else "clusters"
            problem = f"kernel auto does not work with inner: {key}"
            raise places.error(("kernels", name), problem, remedy=f"remove {key}, or list kernels under choose")


def _entries(config: Mapping[str, Any], part: str) -> dict[str, Mapping[str, Any]]:
    """Return the entries of a configuration section as mappings, empty for other types."""
    given = config.get(part) or {}
    return {str(key): entry if isinstance(entry, Mapping) else {} for key, entry in given.items()}


def _kernel_of_results(name: str, given: Mapping[str, Any]) -> KernelEntry | AutoKernel:
    """Return the entry of a kernel that may be unknown to this version."""
    try:
        if is_auto(given):
            return AutoKernel.parse(given, name)
        return KernelEntry.parse(given, name)
    except SeqkernError as error:
        return KernelEntry.unknown(given, name, error)


def _choice_of_results(name: str, given: Mapping[str, Any], kernels: Mapping[str, KernelEntry]) -> KernelChoice:
    """Return the kernel choice of an entry; missing kernels become unknown ones."""
    missing = ConfigError("is not defined in the study")
    candidates = [kernels.get(choice) or KernelEntry.unknown({}, choice, missing) for choice in given["choose"]]
    return KernelChoice(name, given, tuple(candidates), tuple(given["solvers"]) if "solvers" in given else None)
