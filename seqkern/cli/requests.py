"""Groups of options that requests of several verbs inherit."""

from __future__ import annotations

import re
from typing import Any

from seqkern.cli.options import IfGiven, Request, all_of, excludes, only_with, option
from seqkern.core.errors import ParameterError
from seqkern.core.parameters import anything, choice, flag, integer, real, text

WHOLE_TABLES = (".json", ".xlsx", ".parquet")  # written at once, not line by line
TABLES = (".tsv", ".txt", ".csv", *WHOLE_TABLES)
"""Endings of the tables that verbs write; without an ending the table is a TSV."""
PICTURES = (".svg", ".png", ".pdf")
"""Endings of pictures."""


class Threads(Request, group="resources", everyday=("threads",)):
    """A verb that computes in threads."""

    threads: int | None = option("number of threads (default: all cores)", integer(default=None, low=1), metavar="N")


class Memory(Request, group="resources"):
    """A verb that computes kernel matrices."""

    memory: str | None = option("memory limit, such as 2GB (default: half of what is left)", metavar="SIZE")


class SpreadsheetSafe(Request):
    """A verb that writes tables with names of the user's."""

    spreadsheet_safe: bool = option(
        "in tables, write ' before names that begin with =, +, - or @, which a spreadsheet would run as formulas "
        "(default: names unchanged)",
        flag(default=False),
    )


class Overwrite(Request):
    """A verb that writes a folder, which it may replace."""

    output: IfGiven

    overwrite: bool = option(
        "write into a folder that holds other files, which stay, or the result of another command, which is removed "
        "(default: refuse)",
        flag(default=False),
    )


# Reading of FASTA: the alphabet, and policies.

UNKNOWN = "mask", "error", "skip", "mask_all"
UNKNOWN_DOC = (
    "letters outside the alphabet: mask ambiguity codes such as N, R and X (they match nothing; other characters are "
    "an error), refuse them, skip the record, or mask every character (default: {})"
)
IDS_DOC = "sample id: first word of the header, or record number"
EMPTY_DOC = "records without a sequence (default: {})"
GAPS_DOC = "remove the gaps of aligned sequences: -, . and ~ (default: refuse)"
POLICIES = "unknown", "ids", "empty", "strip_gaps"
"""Names of the options that say how FASTA is read."""


class _Policies(Request):
    """The policies for reading FASTA, given or default."""

    @property
    def policies(self) -> dict[str, str]:
        """The policies as keys of a data-set entry."""
        given: Any = self
        gaps = {"gaps": "strip"} if given.strip_gaps else {}
        return {name: getattr(self, name) for name in POLICIES[:3]} | gaps


class Reading(_Policies, group="reading FASTA"):
    """A verb that reads FASTA, in an alphabet that it detects."""

    alphabet: str | None = option("dna, rna, protein or your own set of letters (default: detected)")
    unknown: str = option(UNKNOWN_DOC.format("mask"), choice(default="mask", choices=UNKNOWN))
    ids: str = option(
        f"{IDS_DOC}; suffix adds .2, .3, … to repeated ids (default: header)",
        choice(default="header", choices=("header", "number", "suffix")),
    )
    empty: str = option(EMPTY_DOC.format("error"), choice(default="error", choices=("error", "skip")))
    strip_gaps: bool = option(GAPS_DOC, flag(default=False))


class ModelReading(_Policies, group="reading FASTA"):
    """A verb that reads FASTA for a model, by default as in training."""

    unknown: str | None = option(UNKNOWN_DOC.format("as in training"), choice(default=None, choices=UNKNOWN))
    ids: str | None = option(f"{IDS_DOC} (default: as in training)", choice(default=None, choices=("header", "number")))
    empty: str | None = option(EMPTY_DOC.format("as in training"), choice(default=None, choices=("error", "skip")))
    strip_gaps: bool = option(GAPS_DOC, flag(default=False))


WINDOWS = (
    "windows around sites",
    "-60:+80 is 60 positions before the site's, that position and 80 after it: 141 in all. Positions\n"
    "count from 1 along the record, on both strands. A site on strand - is read on the reverse complement;\n"
    "its position is that of the first base of the site on that strand.",
)


class Windows(Request, group=WINDOWS, everyday=("window", "sites")):
    """A verb that cuts windows around sites."""

    window: str | None = option("cut windows from L before to R after each site", metavar="-L:+R")
    sites: str | None = option(
        "sites in the records: TSV with the columns record, position and strand (+ or -, default: +); or header: one "
        "site for each record, from the header fields position=… and strand=…",
        metavar="WHERE",
    )
    site: str | None = option("letters required at each site, from its position on, such as AG", metavar="LETTERS")
    other_sites: str | None = option(
        "sites without these letters: error, or skip and count them (default: error)",
        choice(default=None, choices=("error", "skip")),
    )
    past_end: str | None = option(
        "windows that extend past the end of a record: error, or skip and count them (default: error)",
        choice(default=None, choices=("error", "skip")),
    )

    @property
    def window_keys(self) -> dict[str, str]:
        """The keys of a data-set entry that cut windows."""
        values = {name: getattr(self, name) for name in ("window", "sites", "site", "other_sites", "past_end")}
        return {name: value for name, value in values.items() if value is not None}


class GivenSites(Request, group="windows around known sites", everyday=("sites",)):
    """A verb that applies a model of windows."""

    sites: IfGiven = option(
        "apply the model to windows around these sites: TSV with the columns record, position and strand; or header, "
        "as for seqkern train",
        metavar="WHERE",
    )


def _width(default: str) -> Any:
    """Return the declaration of the width of regions."""
    return option(
        f"read W bases around the summit or the centre of each region; 0: regions as in the file (default: {default}); "
        "windows that extend past an end of a chromosome are left out and counted",
        integer(default=None, low=0),
        metavar="W",
    )


REGIONS = (
    "regions of a genome",
    "BED, narrowPeak and broadPeak files, and the tables of MACS and GEM, may be given in place of FASTA. Regions on\n"
    "strand - are read as their reverse complement. Lower-case (soft-masked) bases are read like others.",
)


class Regions(Request, group=REGIONS, everyday=("genome",)):
    """A verb that reads regions of a genome."""

    genome: IfGiven = option("genome of the BED files; FASTA, plain or compressed by bgzip", metavar="FASTA")
    width: int | None = _width("median length of peaks with summits, from 100 to 500, else 0")
    blacklist: str | None = option("leave out regions that overlap one of these", metavar="BED")
    rules = all_of(only_with("genome", "width", "blacklist", add="--genome FASTA"))

    @property
    def region_keys(self) -> dict[str, Any]:
        """The keys of a data-set entry about the genome."""
        values = {name: getattr(self, name, None) for name in ("genome", "width", "blacklist", "background")}
        return {name: value for name, value in values.items() if value is not None}


class ModelRegions(Regions, group=REGIONS):
    """A verb that reads regions of a genome for a model."""

    width: int | None = _width("as in training")


class TrainingRegions(Regions, group=REGIONS, everyday=("background",)):
    """A verb that trains on regions of a genome, perhaps against others that it draws."""

    background: float | None = option(
        "with the positives only: draw FACTOR times as many background regions (default: 1); as seqkern background "
        "does",
        real(default=None, low=0, high=1e6, open_low=True, open_high=True),
        nargs="?",
        const=1.0,
        metavar="FACTOR",
    )
    rules = all_of(only_with("genome", "background", add="--genome FASTA"))


# Tracks, profiles and views.


def _track(given: str) -> tuple[str, str]:
    """Return name and file of ``name=file``."""
    name, _, file = given.partition("=")
    if not name or not file:
        raise ParameterError(
            f"{given!r} is not NAME=FILE",
            remedy="write the name of the track before the file, such as NAME=heptads.fasta",
        )
    return name, file


def _view(given: str) -> tuple[str, str | dict[str, str]]:
    """Return name and entry of ``name=file`` or ``name=file,ids=file``; the file of a column of the samples is ''."""
    name, mark, file = given.partition("=")
    file, _, ids = file.partition(",ids=")
    if not name or not (file if mark else "." not in name):
        raise ParameterError(
            f"{given!r} is not NAME=FILE",
            remedy="write the name of the view before the file, such as NAME=embeddings.h5",
        )
    return name, {"file": file, "ids": ids} if ids else file


def track_option(more: str = "", **settings: Any) -> Any:
    """Return the declaration of the files of tracks."""
    return option(
        "annotation of each residue, for a kernel with the track NAME: FASTA with annotation letters, or a TSV with "
        f"the columns id and NAME, matched by id; repeatable{more}",
        anything(default=[]),
        metavar="NAME=FILE",
        repeated=True,
        read=_track,
        **settings,
    )


class Tracks(Threads):
    """A verb whose kernel may read tracks, profiles and views of the sequences in its input `fasta`."""

    fasta: Any

    profiles: str | None = option(
        "profiles, for kernels that need them: a file, folder or tar archive of ASCII PSSMs from PSI-BLAST, or of "
        "HMMER models; matched by id or by sequence",
        metavar="PATH",
    )
    search_profiles: str | None = option(
        "build profiles by an iterated search of each sequence against this file; they are cached", metavar="FASTA"
    )
    profile_iterations: int | None = option(
        "maximum number of search iterations (default: 3)", integer(default=None), metavar="N"
    )
    view: list[tuple[str, Any]] = option(
        "vectors of the sequences, such as embeddings, for a kernel with view=NAME: .npy, .npz, HDF5, Parquet or TSV, "
        "matched by id; ids of .npy from the file .ids beside it, or from NAME=FILE,ids=FILE; or, in FASTA (.fa, "
        ".fasta, …), one of several sequences of each sample; or, without a file, a column of numbers in the table of "
        "sequences, such as scores of a model; repeatable",
        anything(default=[]),
        metavar="NAME=FILE",
        repeated=True,
        read=_view,
    )
    sequences: str | None = option(
        "columns of sequences, separated by commas, if each sample has several and the file is a table (TSV or CSV): "
        "a1,a2,a3, or with names for kernels, heavy=vh_seq,light=vl_seq; default for a model: as in training",
        metavar="COLUMNS",
    )
    id_column: str | None = option("column of ids of that table (default: detected, or row numbers)", metavar="NAME")
    missing: str | None = option(
        "samples that lack one of their sequences: refuse them, leave them out, or keep an empty sequence (default: "
        "error, or as in training)",
        choice(default=None, choices=("error", "skip", "keep")),
    )
    track: list[tuple[str, str]] = track_option()
    rules = all_of(
        excludes("profiles", "search_profiles", remedy="remove --profiles or --search-profiles"),
        only_with("search_profiles", "profile_iterations", add="--search-profiles FASTA"),
    )

    @property
    def track_files(self) -> list[tuple[str, str]]:
        """Name and file of each track."""
        return [track for track in self.track if track is not None]

    @property
    def profile_keys(self) -> dict[str, Any] | None:
        """The entry `profiles` of a data set."""
        if self.search_profiles == "all":
            raise ParameterError(
                "--search-profiles takes a FASTA file",
                remedy="write ./all for a file of that name; to search the training sequences, give the kernel "
                "search=training",
            )
        if self.search_profiles:
            iterations = {} if self.profile_iterations is None else {"iterations": self.profile_iterations}
            return {"search": self.search_profiles, **iterations}
        return {"files": self.profiles} if self.profiles else None


class GivenLabels(Request, group="labels", everyday=("labels",)):
    """A verb that reads labels."""

    labels: str | None = option(
        "source of the labels: a TSV with the columns id and label; or header (a field label=…) or first-word (of each "
        "header)",
        metavar="WHERE",
    )
    label_field: str = option("name of that field or column (default: label)", text(default="label"), metavar="NAME")
    rules = all_of(excludes("labels=first-word", "label_field"))


# Training.


class InnerLoop(Request):
    """A verb whose inner loop chooses hyperparameters on a data set."""

    inner_folds: int = option("folds of the inner cross-validation (default: 3)", integer(default=3))
    inner_metric: str = option("metric that the inner loop maximises (default: auto)", text(default="auto"))
    inner_draws: int | None = option(
        "draw N random candidates instead of trying all; parameters may then be ranges, such as C=0.01..100",
        integer(default=None),
        metavar="N",
    )
    inner_rule: str = option(
        "choose the best candidate, or the simplest within one standard error of it (default: best)",
        choice(default="best", choices=("best", "one_standard_error")),
    )


class Postprocessing(Request, group="probabilities and threshold", everyday=("calibration",)):
    """A verb that fits probabilities and a threshold to held-out decision values."""

    calibration: str | None = option(
        "fit probabilities to cross-validated decision values of the training set; variance: for numbers, intervals of "
        "a Gaussian process, at the cost of one more training for each inner fold (the folds of --cv do the same)",
        choice(default=None, choices=("platt", "isotonic", "variance")),
    )
    threshold: str | None = option(
        "choose the decision threshold on cross-validated decision values of the training set: balanced_accuracy, "
        "accuracy, mcc, sensitivity=0.95, specificity=0.99, or cost=1:5 (of a false positive and of a false "
        "negative); none: 0 (default: balanced_accuracy after a search, or if one class has less than 40%% of the "
        "samples; else 0; with --calibration a probability of 0.5)",
        metavar="RULE",
    )


class Significance(Request):
    """A verb that tests the features that a P-SVM selects."""

    significance: str | None = option(
        "test the features that psvc:kernel=features or psvr:kernel=features selects, by permuting the labels: "
        "correlation (of the feature alone), or coefficient (of the feature among all others; only without a search "
        "for the solver's parameters); correlation:permutations=1999 (default: 999). The table of features gets the "
        "columns p and p_corrected",
        metavar="STATISTIC",
    )


class Layers(Request, group="states of residues, such as helix, strand and coil"):
    """A verb that trains layers after the solver."""

    layers: list[str] = option(
        "layers after the solver, separated by spaces, for residues of chains: structure:window=15 (a second "
        "classifier on the scores around each residue), segments (minimum segment lengths as in training), crf or "
        "chain_svm (the labels of a chain together), probabilities; or a JSON list",
        text(default=[]),
        metavar="LAYER",
        nargs="+",
    )


# Values in a syntax of their own.


def read_share(given: str) -> tuple[int, int]:
    """Return i and n of ``i/n``; 1 ≤ i ≤ n.

    >>> read_share("3/8")
    (3, 8)
    """
    match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", given)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ParameterError(f"{given!r} is not I/N", remedy="write for example 3/8")
    return int(match[1]), int(match[2])
