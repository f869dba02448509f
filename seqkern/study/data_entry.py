"""The data entry of a study: typed, and checked once without reading any file.

A `DataEntry` has one source, reading policies, labels, and optionally windows around sites, or residues.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from seqkern.core.checks import check_choice
from seqkern.core.declarations import Parameter
from seqkern.core.errors import ConfigError, SeqkernError, SequenceError, check_known
from seqkern.core.parameters import choice, count, flag, integer, real, text
from seqkern.core.public_files import public_set, public_sets
from seqkern.core.text_files import open_lines
from seqkern.core.types import PathLike, Source
from seqkern.formats.background import PROPERTIES, BackgroundOptions, draw_background, ks_distance
from seqkern.formats.reference import Genome
from seqkern.formats.regions import (
    RegionOptions,
    RegionSequences,
    describe,
    held_out,
    loci,
    looks_like_bed,
    merged_places,
    named_as_bed,
    overlap_of_two,
    read_regions,
    region_sources,
    usable_regions,
    with_own_ids,
)
from seqkern.formats.residues import WINDOW as RESIDUE_WINDOW
from seqkern.formats.residues import check_window
from seqkern.formats.states import find_reduction
from seqkern.sequences.fasta import AnySource, Reading
from seqkern.sequences.windows import Window, as_window
from seqkern.study.schema import (
    NAME,
    OPTIONAL_PATH,
    PATH,
    ByName,
    Either,
    Listing,
    Section,
    Settings,
    configured,
    keys_of,
)
from seqkern.study.several_sequences import MISSING, TABLE_KEYS, SequenceFiles, SequenceTable
from seqkern.study.tables import Columns, TaskTable, check_options, parse_tasks
from seqkern.study.vectors import KEYS as VIEW_KEYS
from seqkern.study.vectors import ViewOptions, parse_sequence_views, parse_views

# BED files in a data set: their sequences from a genome, and the groups that folds keep together.

KEYS: dict[str, Parameter] = {
    "genome": PATH.but(doc="The genome of regions in BED, narrowPeak or broadPeak files under fasta."),
    "width": integer(
        low=0,
        doc="Bases to read around the summit or the centre of each region, or 0 for the region itself; by default the "
        "peaks' median length, from 100 to 500, where the regions have summits, else 0.",
    ),
    "blacklist": PATH.but(doc="A BED file; regions that overlap one of its own are left out."),
    "background": real(
        low=0,
        open_low=True,
        doc="Draw this many times as many background regions, matched to the one BED file under fasta.",
    ),
}
NEGATIVE = "negative"


@dataclass(frozen=True)
class GenomeOptions:
    """The genome that regions are read from, and the options of a drawn background.

    >>> GenomeOptions.parse({"fasta": "peaks.bed", "genome": "hg38.fa", "width": 300}).reading.width
    300
    """

    reading: RegionOptions  # Genome, width and blacklist
    background: float | None = None  # Draw this many times as many background regions, matched to the first file

    @classmethod
    def parse(cls, entry: Mapping[str, Any]) -> GenomeOptions | None:
        """Return the options of an entry, or None without a genome."""
        given = [key for key in KEYS if key in entry]
        if not given:
            return None
        if "genome" not in entry:
            raise ConfigError(f"{given[0]!r} needs a genome", remedy="add the genome's FASTA file, or remove it")
        if "fasta" not in entry:
            raise ConfigError("a genome needs regions", remedy="give BED files under fasta")
        for key in ("window", "sites", "profiles", "residues"):
            if key in entry:
                raise ConfigError(f"{key!r} does not work with regions of a genome", remedy=f"remove {key} or genome")
        past_end = {"past_end": entry["past_end"]} if "past_end" in entry else {}
        reading = RegionOptions(str(entry["genome"]), entry.get("width"), entry.get("blacklist"), **past_end)
        return cls(reading, entry.get("background"))

    def files(self) -> list[tuple[tuple[str, ...], str]]:
        """Return the genome's files, each with its key."""
        blacklist = self.reading.blacklist
        return [
            (("genome",), self.reading.genome),
            *([] if blacklist is None else [(("blacklist",), blacklist)]),
        ]

    def within(self, base_dir: PathLike) -> RegionOptions:
        """Return the options for reading regions, with paths relative to a folder."""
        blacklist = self.reading.blacklist
        return replace(
            self.reading,
            genome=str(Path(base_dir) / self.reading.genome),
            blacklist=None if blacklist is None else str(Path(base_dir) / blacklist),
        )


def is_bed(path: Any, with_genome: bool) -> bool:
    """Return whether a file contains regions, by its name or, if a genome is given, by its first line."""
    if named_as_bed(path) or not with_genome or not isinstance(path, str | Path) or str(path) == "-":
        return named_as_bed(path)
    with open_lines(path) as (lines, _):
        line = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return looks_like_bed(line)


def with_regions(files: Sequence[Source], options: RegionOptions | None) -> list[AnySource]:
    """Return the sources to read, with BED files replaced by the sequences of their regions."""
    bed = [file for file in files if is_bed(file, options is not None)]
    if options is None:
        if bed:
            raise SequenceError(
                "holds regions, whose sequences come from a genome",
                file=str(bed[0]),
                remedy="add --genome FASTA (in a study genome: FASTA)",
            )
        return list(files)
    if not bed:
        raise SequenceError(
            "holds sequences, which need no genome", file=str(files[0]), remedy="give BED files, or remove the genome"
        )
    found = iter(region_sources(bed, options))
    return [next(found) if file in bed else file for file in files]


def with_background(
    files: Sequence[Source], options: RegionOptions, factor: float, seed: int
) -> tuple[list[AnySource], dict[str, Any]]:
    """Return a file's regions and `factor` times as many matched background regions, with a note on the match."""
    if len(files) != 1:
        raise ConfigError(
            f"a background is drawn for one file, but there are {len(files)}",
            remedy="give the positives only, or no background",
        )
    drawing = BackgroundOptions(factor, seed)
    with Genome(options.genome) as genome:
        peaks = usable_regions(files[0], genome, options)
        exclude = [] if options.blacklist is None else [read_regions(options.blacklist, genome)]
        drawn = draw_background(peaks, genome, drawing, exclude)
    ks = {name: ks_distance(getattr(drawn.peaks, name), getattr(drawn.found, name)) for name in PROPERTIES}
    note = {"factor": factor, "seed": seed, "regions": len(drawn.regions), "ks": ks, "remarks": list(drawn.remarks)}
    background = replace(drawn.regions, counts={}, file=f"background of {files[0]}")
    return list(with_own_ids([peaks, background], options.genome)), {"background": note}


def overlaps(sources: Sequence[AnySource]) -> dict[str, int]:
    """Return the number of regions in later files that overlap a region of the first; empty if there are none."""
    regions = [source.regions for source in sources if isinstance(source, RegionSequences)]
    count = sum(len(overlap_of_two(other, regions[0])) for other in regions[1:])
    return {f"regions that overlap one of {regions[0].file}": count} if count else {}


def places_of_regions(reading: Reading, sources: Sequence[AnySource], labels: Sequence[str] | None) -> dict[str, Any]:
    """Return the chromosome, position (from 1) and fold group of each record read."""
    known = merged_places([source for source in sources if isinstance(source, RegionSequences)])
    found = [_place(header.split(None, 1)[0], known) for header in reading.headers]
    chromosomes, positions = [place[0] for place in found], [place[1] for place in found]
    if held_out(chromosomes, labels):
        groups = chromosomes
    else:
        groups = [f"locus {number}" for number in loci(chromosomes, positions, reading.sequences.lengths).tolist()]
    return {"chromosome": chromosomes, "position": [str(position) for position in positions], "group": groups}


def _place(name: str, known: Mapping[str, tuple[str, int]]) -> tuple[str, int]:
    """Return the chromosome and position of a record; a shuffled sequence has the place of its origin."""
    return known.get(name) or known.get(name.partition("_shuffled")[0]) or ("", 0)


def note_of_regions(options: GenomeOptions, columns: Columns, sources: Sequence[AnySource]) -> dict[str, Any]:
    """Return a JSON record of a data set's genome and folds."""
    chromosomes, groups = list(columns["chromosome"]), list(columns["group"])
    whole = groups == chromosomes
    kept = len(groups) - list(Counter(groups).values()).count(1)
    return {
        "file": options.reading.genome,
        "width": next((one.regions.width for one in sources if isinstance(one, RegionSequences)), None),
        "folds": describe(whole, len(set(chromosomes) - {""}), kept),
    }


SOURCES = ("simulate", "public", "fasta", "table", "features", "similarities", "dissimilarities")
HEADER = "header"
UNLABELLED_FILE = "unlabelled"
"""Key of the file of records without a label, beside the classes."""
_WILDCARD = re.compile(r"\{\s*[.\w]+\s*(,([^{}]|\{\d+(,\d+)?\})*)?\}|<[a-z][a-z0-9_]*>")
"""Pattern of the parts of a file name that Snakemake replaces."""
WINDOW_KEYS: dict[str, Parameter] = {
    "window": Either(
        forms=(text(), Section(keys={"left": integer(low=0), "right": integer(low=0)}, needed=("left", "right"))),
        doc="Positions before and after each site, as text (-60:+80) or as left and right.",
    ),
    "sites": PATH.but(doc="The sites: a table with the columns record, position and strand; or header."),
    "site": text(doc="The letters required at each site, from its position on."),
    "other_sites": choice(choices=("error", "skip"), doc="Sites without these letters: raise an error, or skip them."),
    "past_end": choice(
        choices=("error", "skip"),
        doc="Windows that extend past an end of their record: raise an error, or skip them.",
    ),
}
NOT_WITH_RESIDUES = ("window", "sites", "tasks", "table", "features", "similarities", "dissimilarities")

Named = list[tuple[tuple[str, ...], str]]
"""Files, each with the keys of the entry that name it."""
Within = Callable[..., contextlib.AbstractContextManager[None]]
Read = TypeVar("Read")


def anywhere(*_keys: str) -> contextlib.AbstractContextManager[None]:
    """Return a context that leaves errors unchanged."""
    return contextlib.nullcontext()


@dataclass(frozen=True)
class Simulation:
    """Simulated sequences as the source of a data set.

    >>> DataEntry.parse({"simulate": {"kind": "donor"}}).source
    Simulation(options={'kind': 'donor'})
    """

    options: Mapping[str, Any]  # ``kind`` and its parameters, as for `seqkern.simulate.simulate`
    kind = "sequences"

    @property
    def view_names(self) -> tuple[str, ...]:
        """The names of the sequences of each sample; empty if it has a single one."""
        from seqkern.simulate import SEQUENCE_VIEWS  # imported here for fast start-up

        return SEQUENCE_VIEWS.get(self.options.get("kind", ""), ())


@dataclass(frozen=True)
class PublicSource:
    """A public data set as the source.

    >>> DataEntry.parse({"public": "globins"}).source
    PublicSource(name='globins')
    """

    name: str  # Name in `seqkern.core.public_files.public_sets`

    @property
    def kind(self) -> str:
        """Kind of data, one of `seqkern.study.KINDS`; ParameterError for an unknown name."""
        return str(public_set(self.name).kind)

    @property
    def view_names(self) -> tuple[str, ...]:
        """The names of the sequences of each sample; empty if there is one, or for an unknown name."""
        found = public_sets().get(self.name)
        return () if found is None else tuple(found.views.split())


@dataclass(frozen=True)
class FastaSource:
    """FASTA files as the source of a data set, with the class of each file if the entry gives classes.

    >>> source = DataEntry.parse({"fasta": {"positive": "p.fa", "negative": "n.fa"}}).source
    >>> source.paths, source.classes
    (('p.fa', 'n.fa'), ('positive', 'negative'))
    """

    paths: tuple[str, ...]  # As written in the entry
    classes: tuple[str, ...] | None = None  # The class of each file, if the entry has them
    kind = "sequences"

    @classmethod
    def parse(cls, given: str | list[str] | Mapping[str, str]) -> FastaSource:
        """Return the FASTA source of an entry: one path, several paths, or one path for each class."""
        if isinstance(given, Mapping):
            return cls(tuple(given.values()), tuple(given))
        return cls((given,) if isinstance(given, str) else tuple(given))

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The label of each file's records: its class; empty for `UNLABELLED_FILE` beside two classes."""
        if self.classes is None or len(self.classes) < 3:
            return self.classes
        return tuple("" if name == UNLABELLED_FILE else name for name in self.classes)

    def files(self) -> Named:
        """Return the files, each with its key."""
        if self.classes is None:
            return [(("fasta",), path) for path in self.paths]
        return [(("fasta", name), path) for name, path in zip(self.classes, self.paths, strict=True)]


@dataclass(frozen=True)
class TableSource:
    """A table of features, similarities or dissimilarities as the source of a data set.

    >>> DataEntry.parse({"features": "table.tsv"}).source
    TableSource(kind='features', path='table.tsv', missing='error')
    """

    kind: str  # The meaning of the numbers in the table
    path: str  # As written in the entry
    missing: str = "error"  # Policy for missing values of features

    @classmethod
    def parse(cls, kind: str, entry: Mapping[str, Any]) -> TableSource:
        """Return the table source of an entry, whose path is under the key `kind`."""
        missing = entry.get("missing", "error")
        if missing not in ("error", "keep") or (missing == "keep" and kind != "features"):
            raise ConfigError(
                f"missing={missing!r} is not possible for {kind}", remedy="choose error, or keep for features"
            )
        return cls(kind, entry[kind], missing)

    def files(self) -> Named:
        """Return the table's file with its key."""
        return [((self.kind,), self.path)]


SeveralSequences = SequenceTable | SequenceFiles
EntrySource = Simulation | PublicSource | FastaSource | SeveralSequences | TableSource


@configured
class Policies(Settings):
    """Policies for reading FASTA; None stands for the default.

    >>> DataEntry.parse({"public": "globins", "unknown": "skip"}).policies.given()
    {'unknown': 'skip'}
    """

    alphabet: str | None = text(default=None, doc="dna, rna, protein, or your own letters.")
    unknown: str | None = choice(
        default=None,
        choices=("mask", "error", "skip", "mask_all"),
        doc="Letters outside the alphabet: mask ambiguity codes (default), raise an error, skip the record, or mask "
        "every character.",
    )
    ids: str | None = choice(
        default=None,
        choices=("header", "number", "suffix"),
        doc="Repeated ids: raise an error (header), number all records, or add a suffix to repeats.",
    )
    empty: str | None = choice(
        default=None, choices=("error", "skip"), doc="Records without a sequence: raise an error, or skip them."
    )
    gaps: str | None = choice(
        default=None, choices=("error", "strip"), doc="Gaps of alignments (- . ~): refuse them, or remove them."
    )


@dataclass(frozen=True)
class SiteWindow:
    """Windows cut around sites, with the source of the sites and the policies for them.

    >>> cut = DataEntry.parse({"fasta": "genome.fa", "sites": "sites.tsv", "window": "-60:+80"}).window
    >>> cut.window.left, cut.window.right, cut.table
    (60, 80, 'sites.tsv')
    """

    window: Window  # Positions before and after a site, and the letters required there
    sites: str = HEADER  # A table of sites, or ``"header"`` for one site in the header of each record
    other_sites: str | None = None  # Policies for sites with other letters, and for windows that extend past an end
    past_end: str | None = None  # Policies for sites with other letters, and for windows that extend past an end

    @classmethod
    def parse(cls, entry: Mapping[str, Any]) -> SiteWindow | None:
        """Return the site windows of an entry, or None."""
        given = [key for key in WINDOW_KEYS if key in entry]
        if not given or (given == ["past_end"] and "genome" in entry):
            return None
        if "fasta" not in entry:
            raise ConfigError(f"{given[0]!r} needs fasta", remedy="remove it, or cut the windows yourself")
        for key in ("window", "sites"):
            if key not in entry:
                raise ConfigError(
                    f"{given[0]!r} needs {key!r}",
                    remedy="give both: window ('-60:+80') and sites (a table, or header)",
                )
        window = as_window(entry["window"], entry.get("site", ""))
        return cls(window, entry["sites"], entry.get("other_sites"), entry.get("past_end"))

    @property
    def table(self) -> str | None:
        """The file of the table of sites; None if the sites are in headers."""
        return None if self.sites == HEADER else self.sites

    def given(self) -> dict[str, str]:
        """Return the site policies that the entry sets, by name."""
        both = {"other_sites": self.other_sites, "past_end": self.past_end}
        return {name: value for name, value in both.items() if value is not None}


@configured
class ResidueOptions:
    """Residues as samples, with a window around each.

    >>> entry = {"simulate": {"kind": "secondary_structure"}, "residues": {}}
    >>> DataEntry.parse(entry).residues
    ResidueOptions(window=15, reduction=None)
    """

    window: int = count(RESIDUE_WINDOW, "Number of residues of a window, odd; the sample is in the middle.")
    reduction: str | None = text(
        default=None, doc="Reduction of DSSP's eight states to three; by default all states are classes."
    )

    @classmethod
    def parse(cls, entry: Mapping[str, Any]) -> ResidueOptions | None:
        """Return the residue options of an entry, or None."""
        of_states = entry.get("labels", {}).get("from") == "states"
        if of_states and "fasta" not in entry:
            raise ConfigError("labels from states need fasta", remedy="remove labels: {from: states}")
        if "fasta" in entry and of_states != ("residues" in entry):
            raise ConfigError(
                "labels from states need residues" if of_states else "no states given for the residues",
                remedy="give both: residues: {window: 15}, and labels: {from: states, file: …}",
            )
        if "residues" not in entry:
            return None
        wanted = entry["residues"]
        for key in wanted:
            if key not in keys_of(cls):
                raise ConfigError(f"unknown key {key!r}", remedy=f"choose from: {', '.join(keys_of(cls))}")
        found = cls(**wanted)
        check_window(found.window)
        if "reduction" in wanted:
            find_reduction(wanted["reduction"])
        for key in NOT_WITH_RESIDUES:
            if key in entry:
                raise ConfigError(f"residues do not work with {key}", remedy=f"remove residues or {key}")
        return found

    def note(self) -> dict[str, Any]:
        """Return the residue options as recorded in a data set."""
        return {"window": self.window} | ({} if self.reduction is None else {"reduction": self.reduction})


@configured
class ProfileOptions(Settings):
    """The source of profiles.

    >>> entry = {"public": "cb513", "profiles": {"search": "all", "transductive": True}}
    >>> DataEntry.parse(entry).profiles.given()
    {'search': 'all', 'transductive': True}
    """

    files: str | None = OPTIONAL_PATH.but(doc="A file or folder, or a public file.")
    search: str | None = OPTIONAL_PATH.but(doc="A FASTA file to search, or all: the sequences of the data set.")
    format: str | None = choice(
        default=None,
        choices=("psiblast", "hmmer"),
        doc="ASCII PSSMs from PSI-BLAST, or HMMER models; detected by default.",
    )
    iterations: int | None = integer(default=None, low=1, doc="Maximum number of search iterations.")
    inclusion: float | None = real(default=None, low=0, open_low=True, doc="Largest E-value of a homolog.")
    transductive: bool | None = flag(
        default=None, doc="Confirms that profiles may use test sequences, without labels; for search: all."
    )

    @classmethod
    def of_entry(cls, entry: Mapping[str, Any]) -> ProfileOptions | None:
        """Return the profile options of an entry, or None."""
        if "profiles" not in entry:
            return None
        from seqkern.formats.profile_sources import check_profiles  # takes 50 ms to import

        check_profiles(entry["profiles"])
        source = _source(entry)
        if source is None or source.kind != "sequences":
            raise ConfigError("profiles need sequences", remedy="remove profiles")
        if isinstance(source, SeveralSequences):
            raise ConfigError("profiles need samples with one sequence", remedy="remove profiles")
        return cls(**entry["profiles"])

    def paths(self) -> list[str]:
        """Return the local files; a folder is replaced by its files, since changing one does not change the folder."""
        from seqkern.formats.profile_sources import profile_files  # takes 50 ms to import

        return list(profile_files(self.given()))


@dataclass(frozen=True)
class LabelOptions:
    """The source of labels.

    >>> labels = DataEntry.parse({"fasta": "a.fa", "labels": {"from": "tsv", "file": "labels.tsv"}}).labels
    >>> labels.source, labels.table
    ('tsv', 'labels.tsv')
    """

    # ``from`` of an entry: ``header``, ``first_word``, ``tsv``, ``column``, ``sites``, ``states`` or ``files``
    source: str | None
    file: str | None  # A table of labels, or a file of states
    kind: str | None  # ``binary``, ``multiclass`` or ``real``
    options: Mapping[str, Any]  # All options by their keys in an entry, with the column of labels filled in

    @classmethod
    def parse(cls, entry: Mapping[str, Any]) -> LabelOptions:
        """Return the label options of an entry; ParameterError for an unknown key or source."""
        options = check_options(entry.get("labels", {}))
        if "tasks" in entry and "label" not in entry.get("labels", {}):
            del options["label"]  # the tasks have labels of their own
        return cls(options.get("from"), options.get("file"), options.get("kind"), options)

    @property
    def table(self) -> str | None:
        """The file of labels, if they come from a file other than the data."""
        return self.file if self.source in ("tsv", "states") else None


DATA_KEYS: dict[str, Parameter] = {
    "simulate": Section(
        others=True,
        keys={"kind": text()},
        needed=("kind",),
        doc="Simulated data: kind and its parameters (seqkern simulate --list).",
    ),
    "public": text(doc="Name of a public data set (seqkern datasets --list)."),
    "fasta": Either(
        forms=(PATH, Listing(value=PATH), ByName(value=PATH, any_name=True)),
        doc="One file, a list of files, or a class name and a file for each class.",
    ),
    **KEYS,
    "table": Section(
        keys=TABLE_KEYS,
        needed=("file",),
        doc="A table (TSV, CSV) of samples with several sequences: its file, the columns of sequences, the column of "
        "ids (by default rows are numbered), and what becomes of samples that lack a sequence.",
    ),
    "features": PATH,
    "similarities": PATH,
    "dissimilarities": PATH,
    "missing": choice(
        choices=MISSING,
        doc="Cells of a feature table without a value (empty, NA, NaN, ?): raise an error (default), or keep them for "
        "transforms: [impute] of the kernels. With views of sequences, samples that lack one: raise an error, skip "
        "them, or keep an empty sequence.",
    ),
    "title": text(doc="Title for the report."),
    **keys_of(Policies),
    "labels": Section(
        others=True,
        keys={
            "file": PATH,
            "kind": choice(choices=("binary", "multiclass", "real")),
            "classes": Listing(least=2, unique=True),
            "min_family": integer(low=1),
            "min_rest": integer(low=1),
            "whole_families": flag(),
        },
        doc="Source of the labels; config/README.md lists all keys.",
    ),
    **WINDOW_KEYS,
    "residues": Section(keys=keys_of(ResidueOptions), doc="Residues as samples, with a window around each."),
    "profiles": Section(
        keys=keys_of(ProfileOptions),
        doc="Profiles of proteins: read from files, or built by a search of a FASTA file or of all sequences.",
    ),
    "views": ByName(
        value=Either(forms=(PATH, Section(keys=VIEW_KEYS, needed=("file",)))),
        doc="Vectors of the sequences, such as embeddings: a file of vectors by id for each name, or its file and its "
        "ids. Or the sequences themselves, if each sample has several: a FASTA file for each name, or its file and its "
        "alphabet.",
    ),
    "similar_by": Either(
        forms=(NAME, Listing(value=NAME)),
        doc="Of samples with several sequences, those by which samples count as similar; by default all.",
    ),
    "tasks": Either(
        forms=(choice(choices=("families",)), Section(keys={"file": PATH}, needed=("file",))),
        doc="families: one task for each family of the superfamilies in the data; or a table of tasks, with the "
        "columns id, task and role.",
    ),
}
"""The keys of an entry that describe data."""


@dataclass(frozen=True)
class DataEntry:
    """The data part of a study's entry.

    Attributes
    ----------
    source : Simulation, PublicSource, FastaSource, SequenceTable, SequenceFiles or TableSource; or None
        None only when reporting on a study without one.
    policies : Policies
        Policies for reading FASTA.
    labels : LabelOptions
        Source of the labels.
    window : SiteWindow, optional
        Windows cut around sites.
    residues : ResidueOptions, optional
        Residues as samples, with windows around them.
    profiles : ProfileOptions, optional
        Source of the profiles.
    views : tuple of ViewOptions
        Vectors of the sequences, such as embeddings, by name.
    tasks : "families" or TaskTable, optional
        One task for each held-out family, as in the Liao-Noble protocol; or the tasks of a table.
    title : str, optional
        Title in reports.
    genome : GenomeOptions, optional
        The genome of the regions in BED files.
    similar_by : tuple of str
        The sequences that determine similarity of samples; empty: all.

    Examples
    --------
    >>> entry = DataEntry.parse({"fasta": {"positive": "p.fa", "negative": "n.fa"}, "title": "Donors"})
    >>> entry.kind, entry.files(), entry.title
    ('sequences', ['p.fa', 'n.fa'], 'Donors')
    """

    source: EntrySource | None
    policies: Policies
    labels: LabelOptions
    window: SiteWindow | None = None
    residues: ResidueOptions | None = None
    profiles: ProfileOptions | None = None
    views: tuple[ViewOptions, ...] = ()
    tasks: str | TaskTable | None = None
    title: str | None = None
    genome: GenomeOptions | None = None
    similar_by: tuple[str, ...] = ()

    @classmethod
    def parse(cls, entry: DataEntry | Mapping[str, Any], within: Within = anywhere) -> DataEntry:
        """Return an entry, checked and typed.

        Parameters
        ----------
        entry : mapping
            Entry of a study; keys that do not describe data are ignored. A DataEntry is returned as it is.
        within : callable, optional
            Given keys of the entry, returns a context that adds them to errors.

        Returns
        -------
        DataEntry

        Raises
        ------
        ConfigError, ParameterError
            If the entry is invalid.
        """
        if isinstance(entry, DataEntry):
            return entry
        with within():
            source = _one_source(entry)
            window = SiteWindow.parse(entry)
            genome = GenomeOptions.parse(entry)
        with within("profiles"):
            profiles = ProfileOptions.of_entry(entry)
        with within("views"):
            views = _views(entry, source)
        with within("residues"):
            residues = ResidueOptions.parse(entry)
        with within("labels"):
            labels = LabelOptions.parse(entry)
        with within("tasks"):
            tasks = parse_tasks(entry.get("tasks"))
        with within("similar_by"):
            similar_by = _similar_by(entry, source)
        title, policies = entry.get("title"), Policies.parse(entry)
        return cls(source, policies, labels, window, residues, profiles, views, tasks, title, genome, similar_by)

    @classmethod
    def of_results(cls, entry: Mapping[str, Any]) -> DataEntry:
        """Return the readable part of the entry of a finished study, perhaps of another version.

        Parameters
        ----------
        entry : mapping
            Entry of a study.

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
            views=_tolerant(lambda: parse_views(entry["views"])) or (),
            tasks=_tolerant(lambda: parse_tasks(entry.get("tasks"))),
            title=entry.get("title"),
            genome=_tolerant(lambda: GenomeOptions.parse(entry)),
        )

    @property
    def kind(self) -> str:
        """Kind of data, one of `seqkern.study.KINDS`; empty if unknown."""
        return "" if self.source is None else self.source.kind

    @property
    def of_residues(self) -> bool:
        """Whether samples are residues of chains."""
        return self.residues is not None

    @property
    def sequence_views(self) -> tuple[str, ...]:
        """The names of the sequences of each sample; empty if it has a single one."""
        return getattr(self.source, "view_names", ())

    @property
    def vector_views(self) -> tuple[str, ...]:
        """The names of the views that are vectors."""
        return (*(view.name for view in self.views), *getattr(self.source, "numbers", ()))

    def named_files(self) -> Named:
        """Return the local files of the entry, as written there, each with its keys.

        Simulated and public data have none; a table of labels is included if labels come from it, and so are the
        table of tasks and the sources of profiles and views.
        """
        more: Named = [(("profiles",), path) for path in ([] if self.profiles is None else self.profiles.paths())]
        more += [] if not isinstance(self.tasks, TaskTable) else [(("tasks", "file"), self.tasks.file)]
        more += [(("views", view.name), path) for view in self.views for path in view.files()]
        if not isinstance(self.source, FastaSource | SeveralSequences | TableSource):
            return more
        labels: Named = [(("labels", "file"), self.labels.table)] if self.labels.table is not None else []
        table = None if self.window is None else self.window.table
        sites: Named = [] if table is None else [(("sites",), table)]
        genome: Named = [] if self.genome is None else self.genome.files()
        return [*self.source.files(), *labels, *sites, *genome, *more]

    def files(self) -> list[str]:
        """Return the local files of the entry, as written there."""
        return [path for _, path in self.named_files()]

    def check_files(self, within: Within = anywhere, made: Collection[str] = ()) -> None:
        """Raise ConfigError unless all local files of the entry exist."""
        for keys, path in self.named_files():
            with within(*keys):
                if path not in made:
                    check_file(path)


def check_file(path: str) -> None:
    """Raise ConfigError unless a local file exists."""
    if not Path(path).exists():
        raise ConfigError(
            f"no such file: {str(path)!r}",
            remedy="check the path, which is relative to the working directory of the study",
        )
    check_file_name(path)


def check_file_name(path: str) -> None:
    """Raise ConfigError for a file name that Snakemake would take for a wildcard pattern.

    >>> check_file_name("a{.bed")
    >>> check_file_name("a{1}.bed")
    Traceback (most recent call last):
        ...
    seqkern.core.errors.ConfigError: Snakemake takes a part of the name 'a{1}.bed' for a wildcard; rename it, or link it
    """
    if _WILDCARD.search(path):
        raise ConfigError(
            f"Snakemake takes a part of the name {path!r} for a wildcard",
            remedy="rename it, or link it",
        )


def _one_source(entry: Mapping[str, Any]) -> EntrySource:
    """Return the source of an entry; raise ConfigError unless it has exactly one."""
    source = _source(entry)
    if source is None:
        count = sum(key in entry for key in SOURCES)
        raise ConfigError(
            f"a data set needs exactly one source, this one has {count}", remedy=f"give one of {', '.join(SOURCES)}"
        )
    if isinstance(source, PublicSource):
        public_set(source.name)
    return source


def _source(entry: Mapping[str, Any]) -> EntrySource | None:
    """Return the one source of an entry; None if there is none, or several."""
    given = [key for key in SOURCES if key in entry]
    sequences = parse_sequence_views(entry.get("views", {}))
    if sequences and not given:
        missing = entry.get("missing", MISSING[0])
        check_choice("missing", missing, MISSING)
        return SequenceFiles(sequences, missing)
    if sequences:
        raise ConfigError(
            f"the view {sequences[0].name!r} holds sequences, and {given[0]!r} too",
            remedy="give every sequence of the samples as a view, or a table with a column for each",
        )
    if len(given) != 1:
        return None
    key, value = given[0], entry[given[0]]
    if key == "table":
        return SequenceTable.parse(value)
    if key == "simulate":
        return Simulation(value)
    if key == "public":
        return PublicSource(value)
    return FastaSource.parse(value) if key == "fasta" else TableSource.parse(key, entry)


def _views(entry: Mapping[str, Any], source: EntrySource) -> tuple[ViewOptions, ...]:
    """Return the views of an entry, which require sequences."""
    if "views" in entry and source.kind != "sequences":
        raise ConfigError("views need sequences", remedy="remove views, or give the vectors as features:")
    return parse_views(entry.get("views", {}))


def _similar_by(entry: Mapping[str, Any], source: EntrySource) -> tuple[str, ...]:
    """Return the sequence views that determine similarity of samples, checked."""
    given = entry.get("similar_by", ())
    names = (given,) if isinstance(given, str) else tuple(map(str, given))
    known = getattr(source, "view_names", ())
    if names and not known:
        raise ConfigError("similar_by needs samples with several sequences", remedy="remove similar_by")
    check_known("sequence view", names, known)
    return names


def _tolerant(read: Callable[[], Read]) -> Read | None:
    """Return the result of `read`, or None if reading fails."""
    try:
        return read()
    except (SeqkernError, TypeError, AttributeError, KeyError):
        return None
