"""What a study's entry says of the data: typed, and checked once, without reading any file.

A `DataEntry` has one source, policies of reading, labels, and what is cut out: windows around sites, or residues.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from seqkern.core.errors import ConfigError, SeqkernError
from seqkern.datasets.label_sources import check_options
from seqkern.datasets.public import public_set
from seqkern.residues import WINDOW as RESIDUE_WINDOW
from seqkern.residues import check_window
from seqkern.residues.reductions import find_reduction
from seqkern.sequences.windows import Window, as_window

SOURCES = ("simulate", "public", "fasta", "features", "similarities", "dissimilarities")
HEADER = "header"
WINDOW_KEYS = ("window", "sites", "site", "other_sites", "past_end")
RESIDUE_KEYS = ("window", "reduction")
NOT_WITH_RESIDUES = ("window", "sites", "tasks", "features", "similarities", "dissimilarities")

Named = list[tuple[tuple[str, ...], str]]
"""Files, each with the keys under which an entry names it."""
Within = Callable[..., contextlib.AbstractContextManager[None]]
Read = TypeVar("Read")


def anywhere(*_keys: str) -> contextlib.AbstractContextManager[None]:
    """Add nothing to errors.

    Parameters
    ----------
    *_keys : str
        Of an entry.
    """
    return contextlib.nullcontext()


@dataclass(frozen=True)
class Simulation:
    """Generated sequences.

    Attributes
    ----------
    options : mapping
        ``kind`` and its parameters, as `seqkern.simulate.simulate` takes them.

    Examples
    --------
    >>> DataEntry.parse({"simulate": {"kind": "donor"}}).source
    Simulation(options={'kind': 'donor'})
    """

    options: Mapping[str, Any]
    kind = "sequences"

    def files(self) -> Named:
        """Return nothing: no file is read."""
        return []


@dataclass(frozen=True)
class PublicSource:
    """A public data set.

    Attributes
    ----------
    name : str
        As `seqkern.datasets.public.public_sets` has it.

    Examples
    --------
    >>> DataEntry.parse({"public": "globins"}).source
    PublicSource(name='globins')
    """

    name: str

    @property
    def kind(self) -> str:
        """Kind of data, one of `seqkern.datasets.KINDS`; ParameterError for an unknown name."""
        return str(public_set(self.name).kind)

    def files(self) -> Named:
        """Return nothing: no local file is named."""
        return []


@dataclass(frozen=True)
class FastaSource:
    """FASTA files.

    Attributes
    ----------
    paths : tuple of str
        As the entry names them.
    classes : tuple of str, optional
        The class of each file, where the entry names them.

    Examples
    --------
    >>> source = DataEntry.parse({"fasta": {"positive": "p.fa", "negative": "n.fa"}}).source
    >>> source.paths, source.classes
    (('p.fa', 'n.fa'), ('positive', 'negative'))
    """

    paths: tuple[str, ...]
    classes: tuple[str, ...] | None = None
    kind = "sequences"

    @classmethod
    def parse(cls, given: str | list[str] | Mapping[str, str]) -> FastaSource:
        """Return the source of an entry.

        Parameters
        ----------
        given : str, list or mapping
            The value of ``fasta``: a path, several, or one for each class.

        Returns
        -------
        FastaSource
        """
        if isinstance(given, Mapping):
            return cls(tuple(given.values()), tuple(given))
        return cls((given,) if isinstance(given, str) else tuple(given))

    def files(self) -> Named:
        """Return the files, each with its key."""
        if self.classes is None:
            return [(("fasta",), path) for path in self.paths]
        return [(("fasta", name), path) for name, path in zip(self.classes, self.paths, strict=True)]


@dataclass(frozen=True)
class TableSource:
    """A table of features, similarities or dissimilarities.

    Attributes
    ----------
    kind : {"features", "similarities", "dissimilarities"}
        What the numbers of the table are.
    path : str
        As the entry names it.

    Examples
    --------
    >>> DataEntry.parse({"features": "table.tsv"}).source
    TableSource(kind='features', path='table.tsv')
    """

    kind: str
    path: str

    def files(self) -> Named:
        """Return the table."""
        return [((self.kind,), self.path)]


Source = Simulation | PublicSource | FastaSource | TableSource


@dataclass(frozen=True)
class Policies:
    """How FASTA is read; None leaves a policy to its default.

    Attributes
    ----------
    alphabet, unknown, ids, empty : str, optional
        As in `seqkern.sequences.fasta.read_fasta`.

    Examples
    --------
    >>> DataEntry.parse({"public": "globins", "unknown": "skip"}).policies.given()
    {'unknown': 'skip'}
    """

    alphabet: str | None = None
    unknown: str | None = None
    ids: str | None = None
    empty: str | None = None

    @classmethod
    def parse(cls, entry: Mapping[str, Any]) -> Policies:
        """Return the policies among the keys of an entry.

        Parameters
        ----------
        entry : mapping
            Of a study.

        Returns
        -------
        Policies
        """
        return cls(**{item.name: entry.get(item.name) for item in fields(cls)})

    def given(self) -> dict[str, str]:
        """Return the policies that were given, by name."""
        return {item.name: getattr(self, item.name) for item in fields(self) if getattr(self, item.name) is not None}


@dataclass(frozen=True)
class SiteWindow:
    """Windows that are cut around sites.

    Attributes
    ----------
    window : Window
        Letters before and after a site, and those that it must have.
    sites : str
        A table of sites, or ``"header"``: one in the header of each record.
    other_sites, past_end : {"error", "skip"}, optional
        What happens to sites with other letters, and to windows that run past an end.

    Examples
    --------
    >>> cut = DataEntry.parse({"fasta": "genome.fa", "sites": "sites.tsv", "window": "-60:+80"}).window
    >>> cut.window.left, cut.window.right, cut.table
    (60, 80, 'sites.tsv')
    """

    window: Window
    sites: str = HEADER
    other_sites: str | None = None
    past_end: str | None = None

    @classmethod
    def parse(cls, entry: Mapping[str, Any]) -> SiteWindow | None:
        """Return the windows that an entry cuts, or None.

        Parameters
        ----------
        entry : mapping
            Of a study.

        Returns
        -------
        SiteWindow or None

        Raises
        ------
        ConfigError
            If one of its keys is there without the others that it needs, or without FASTA.
        ParameterError
            If the window is none.
        """
        given = [key for key in WINDOW_KEYS if key in entry]
        if not given:
            return None
        if "fasta" not in entry:
            raise ConfigError(f"{given[0]!r} goes with fasta", remedy="leave it out, or cut the windows yourself")
        for key in ("window", "sites"):
            if key not in entry:
                raise ConfigError(
                    f"{given[0]!r} needs {key!r}",
                    remedy="give both: window: '-60:+80' and sites: a table, or header",
                )
        window = as_window(entry["window"], entry.get("site", ""))
        return cls(window, entry["sites"], entry.get("other_sites"), entry.get("past_end"))

    @property
    def table(self) -> str | None:
        """The table of sites; None where headers name them."""
        return None if self.sites == HEADER else self.sites

    def given(self) -> dict[str, str]:
        """Return the policies about sites that were given, by name."""
        both = {"other_sites": self.other_sites, "past_end": self.past_end}
        return {name: value for name, value in both.items() if value is not None}


@dataclass(frozen=True)
class ResidueOptions:
    """Every residue of the chains is a sample, with a window around it.

    Attributes
    ----------
    window : int
        Letters of a window, an odd number.
    reduction : str, optional
        How the eight states of DSSP become three.

    Examples
    --------
    >>> entry = {"simulate": {"kind": "secondary_structure"}, "residues": {}}
    >>> DataEntry.parse(entry).residues
    ResidueOptions(window=15, reduction=None)
    """

    window: int = RESIDUE_WINDOW
    reduction: str | None = None

    @classmethod
    def parse(cls, entry: Mapping[str, Any]) -> ResidueOptions | None:
        """Return what an entry says of residues, or None.

        Parameters
        ----------
        entry : mapping
            Of a study.

        Returns
        -------
        ResidueOptions or None

        Raises
        ------
        ConfigError, ParameterError
            If it, or labels from states, are not possible.
        """
        of_states = entry.get("labels", {}).get("from") == "states"
        if of_states and "fasta" not in entry:
            raise ConfigError("states are read beside fasta", remedy="leave out labels: {from: states}")
        if "fasta" in entry and of_states != ("residues" in entry):
            raise ConfigError(
                "states are labels of residues" if of_states else "nothing says which states the residues have",
                remedy="give both: residues: {window: 15} and labels: {from: states, file: …}",
            )
        if "residues" not in entry:
            return None
        wanted = entry["residues"]
        for key in wanted:
            if key not in RESIDUE_KEYS:
                raise ConfigError(f"unknown key {key!r}", remedy=f"known keys: {', '.join(RESIDUE_KEYS)}")
        found = cls(**wanted)
        check_window(found.window)
        if "reduction" in wanted:
            find_reduction(wanted["reduction"])
        for key in NOT_WITH_RESIDUES:
            if key in entry:
                raise ConfigError(f"residues do not go with {key}", remedy=f"leave out residues, or {key}")
        return found

    def note(self) -> dict[str, Any]:
        """Return what is written down about the residues of a data set."""
        return {"window": self.window} | ({} if self.reduction is None else {"reduction": self.reduction})


@dataclass(frozen=True)
class ProfileOptions:
    """Where profiles come from.

    Attributes
    ----------
    files : str, optional
        A file or folder, or a public file.
    search : str, optional
        A FASTA file to search; ``"all"`` for the sequences themselves.
    format : str, optional
    iterations : int, optional
    inclusion : float, optional
    transductive : bool, optional
        As in `seqkern.profiles.sources`.

    Examples
    --------
    >>> entry = {"public": "cb513", "profiles": {"search": "all", "transductive": True}}
    >>> DataEntry.parse(entry).profiles.given()
    {'search': 'all', 'transductive': True}
    """

    files: str | None = None
    search: str | None = None
    format: str | None = None
    iterations: int | None = None
    inclusion: float | None = None
    transductive: bool | None = None

    @classmethod
    def parse(cls, entry: Mapping[str, Any]) -> ProfileOptions | None:
        """Return what an entry says of profiles, or None.

        Parameters
        ----------
        entry : mapping
            Of a study.

        Returns
        -------
        ProfileOptions or None

        Raises
        ------
        ConfigError, ParameterError
            If it is not possible.
        """
        if "profiles" not in entry:
            return None
        from seqkern.profiles.sources import check_profiles  # 50 ms to import

        check_profiles(entry["profiles"])
        source = _source(entry)
        if source is None or source.kind != "sequences":
            raise ConfigError("profiles are of sequences", remedy="leave out profiles")
        return cls(**entry["profiles"])

    def given(self) -> dict[str, Any]:
        """Return the options that were given, by name."""
        return {item.name: getattr(self, item.name) for item in fields(self) if getattr(self, item.name) is not None}

    def paths(self) -> list[str]:
        """Return the local files; those in a folder take its place, since where one changes the folder does not."""
        from seqkern.profiles.sources import profile_files  # 50 ms to import

        return list(profile_files(self.given()))


@dataclass(frozen=True)
class LabelOptions:
    """Where labels come from.

    Attributes
    ----------
    source : str, optional
        ``from`` of an entry: ``header``, ``first_word``, ``tsv``, ``column``, ``sites``, ``states`` or ``files``.
    file : str, optional
        A table of labels, or a file of states.
    kind : str, optional
        ``binary``, ``multiclass`` or ``real``.
    options : mapping
        All options by their names in an entry, the name of the column of labels filled in.

    Examples
    --------
    >>> labels = DataEntry.parse({"fasta": "a.fa", "labels": {"from": "tsv", "file": "labels.tsv"}}).labels
    >>> labels.source, labels.table
    ('tsv', 'labels.tsv')
    """

    source: str | None
    file: str | None
    kind: str | None
    options: Mapping[str, Any]

    @classmethod
    def parse(cls, entry: Mapping[str, Any]) -> LabelOptions:
        """Return what an entry says of labels; ParameterError for an unknown key or source.

        Parameters
        ----------
        entry : mapping
            Of a study.

        Returns
        -------
        LabelOptions
        """
        options = check_options(entry.get("labels", {}))
        return cls(options.get("from"), options.get("file"), options.get("kind"), options)

    @property
    def table(self) -> str | None:
        """The file of labels, where they are taken from one besides the data."""
        return self.file if self.source in ("tsv", "states") else None


@dataclass(frozen=True)
class DataEntry:
    """What a study's entry says of the data.

    Attributes
    ----------
    source : Simulation, PublicSource, FastaSource or TableSource; or None
        None only where a report is read of a study that names none.
    policies : Policies
        How FASTA is read.
    labels : LabelOptions
        Where labels come from.
    window : SiteWindow, optional
        Windows that are cut around sites.
    residues : ResidueOptions, optional
        Residues that are samples, with windows around them.
    profiles : ProfileOptions, optional
        Where the profiles of the sequences come from.
    tasks : {"families"}, optional
        One task for each family held out, as in the Liao-Noble protocol.
    title : str, optional
        For reports.

    Examples
    --------
    >>> entry = DataEntry.parse({"fasta": {"positive": "p.fa", "negative": "n.fa"}, "title": "Donors"})
    >>> entry.kind, entry.files(), entry.title
    ('sequences', ['p.fa', 'n.fa'], 'Donors')
    """

    source: Source | None
    policies: Policies
    labels: LabelOptions
    window: SiteWindow | None = None
    residues: ResidueOptions | None = None
    profiles: ProfileOptions | None = None
    tasks: str | None = None
    title: str | None = None

    @classmethod
    def parse(cls, entry: DataEntry | Mapping[str, Any], within: Within = anywhere) -> DataEntry:
        """Check an entry and return it typed.

        Parameters
        ----------
        entry : mapping
            Of a study; keys that say nothing of the data are left alone. A DataEntry is returned as it is.
        within : callable, optional
            Given keys of the entry, returns a context in which errors are about these.

        Returns
        -------
        DataEntry

        Raises
        ------
        ConfigError, ParameterError
            If the entry is not possible.
        """
        if isinstance(entry, DataEntry):
            return entry
        with within():
            source = _one_source(entry)
            window = SiteWindow.parse(entry)
        with within("profiles"):
            profiles = ProfileOptions.parse(entry)
        with within("residues"):
            residues = ResidueOptions.parse(entry)
        with within("labels"):
            labels = LabelOptions.parse(entry)
        rest = {"tasks": entry.get("tasks"), "title": entry.get("title")}
        return cls(source, Policies.parse(entry), labels, window, residues, profiles, **rest)

    @classmethod
    def of_results(cls, entry: Mapping[str, Any]) -> DataEntry:
        """Return what can be told of the entry of a study that has been run, perhaps by another version.

        Parameters
        ----------
        entry : mapping
            Of a study.

        Returns
        -------
        DataEntry
        """
        residues = _tolerant(lambda: ResidueOptions(**entry["residues"])) if "residues" in entry else None
        return cls(
            source=_tolerant(lambda: _one_source(entry)),
            policies=Policies.parse(entry),
            labels=_tolerant(lambda: LabelOptions.parse(entry)) or LabelOptions.parse({}),
            window=_tolerant(lambda: SiteWindow.parse(entry)),
            residues=residues or (ResidueOptions() if "residues" in entry else None),
            profiles=_tolerant(lambda: ProfileOptions(**entry["profiles"])),
            tasks=entry.get("tasks"),
            title=entry.get("title"),
        )

    @property
    def kind(self) -> str:
        """Kind of data, one of `seqkern.datasets.KINDS`; empty where it is not known."""
        return "" if self.source is None else self.source.kind

    @property
    def of_residues(self) -> bool:
        """Whether samples are residues of chains."""
        return self.residues is not None

    def named_files(self) -> Named:
        """Return the local files that the entry names, as it names them, each with its keys.

        Generated and public data name none; a table of labels counts where labels are taken from it, and what profiles
        are read from or searched for.
        """
        profiles: Named = [(("profiles",), path) for path in ([] if self.profiles is None else self.profiles.paths())]
        if not isinstance(self.source, FastaSource | TableSource):
            return profiles
        labels: Named = [(("labels", "file"), self.labels.table)] if self.labels.table is not None else []
        table = None if self.window is None else self.window.table
        sites: Named = [] if table is None else [(("sites",), table)]
        return [*self.source.files(), *labels, *sites, *profiles]

    def files(self) -> list[str]:
        """Return the local files that the entry names, as it names them."""
        return [path for _, path in self.named_files()]

    def check_files(self, within: Within = anywhere) -> None:
        """Raise ConfigError unless all local files are there that the entry names.

        Parameters
        ----------
        within : callable, optional
            As in `parse`.
        """
        for keys, path in self.named_files():
            with within(*keys):
                if not Path(path).exists():
                    raise ConfigError(
                        f"there is no file {str(path)!r}",
                        remedy="check the path, which starts where the study is run",
                    )


def _one_source(entry: Mapping[str, Any]) -> Source:
    """Return the source of an entry; ConfigError unless it has exactly one."""
    source = _source(entry)
    if source is None:
        count = sum(key in entry for key in SOURCES)
        raise ConfigError(
            f"a data set needs exactly one source, this has {count}", remedy=f"give one of {', '.join(SOURCES)}"
        )
    if isinstance(source, PublicSource):
        public_set(source.name)
    return source


def _source(entry: Mapping[str, Any]) -> Source | None:
    """Return the one source of an entry; None if there is none, or several."""
    given = [key for key in SOURCES if key in entry]
    if len(given) != 1:
        return None
    key, value = given[0], entry[given[0]]
    if key == "simulate":
        return Simulation(value)
    if key == "public":
        return PublicSource(value)
    return FastaSource.parse(value) if key == "fasta" else TableSource(key, value)


def _tolerant(read: Callable[[], Read]) -> Read | None:
    """Return what `read` returns, None where that is not possible."""
    try:
        return read()
    except (SeqkernError, TypeError, AttributeError, KeyError):
        return None
