"""The configuration for applying models to many files: typed objects, and the jobs it is divided into."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqkern.core.declarations import Parameter
from seqkern.core.memory import parse_bytes
from seqkern.core.parameters import choice, integer, text
from seqkern.core.text_files import OPENERS
from seqkern.study.data_entry import check_file_name
from seqkern.study.schema import (
    BYTES,
    NAME,
    PATH,
    ByName,
    Either,
    Files,
    Listing,
    Pattern,
    Places,
    Section,
    check_keys,
    files_of,
    with_defaults,
)

KINDS = {"fasta": "records", "regions": "records", "scan": "bases", "variants": "lines"}
"""Kinds of files that a model is applied to, and the key of `divide` that counts the content."""
OUTPUTS = {
    "fasta": ("tsv", "tsv.gz"),
    "regions": ("tsv", "tsv.gz"),
    "scan": ("tsv", "tsv.gz", "bed", "bed.gz", "bedgraph", "bedgraph.gz", "bw"),
    "variants": ("tsv", "tsv.gz", "vcf", "vcf.gz"),
}
NEEDED = {"fasta": (), "regions": ("genome",), "scan": ("site",), "variants": ("genome",)}
STRANDS = ("plus", "minus")
ENDINGS = re.compile(
    r"(\.(fa|fasta|fna|faa|vcf|bed|narrowPeak|broadPeak|txt))?(\.(gz|bgz|bz2|xz|zst))?$", re.IGNORECASE
)
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")
HEAD = 1 << 20
"""Bytes of unpacked text used to estimate the amount in a file."""
PROGRAM, PER_MODEL = 700, 4
"""Megabytes of a job besides the model, and megabytes for each megabyte of the model's file."""


_FILES = Either(forms=(PATH, Listing(value=PATH)))
ENTRY_KEYS: dict[str, Parameter] = {
    "fasta": _FILES.but(doc="FASTA to classify record by record."),
    "regions": _FILES.but(doc="BED, narrowPeak or broadPeak, of which each region is classified; needs genome."),
    "scan": _FILES.but(doc="Genomes or chromosomes to scan; needs site. FASTA, plain or compressed by bgzip."),
    "variants": _FILES.but(doc="VCF, of which each allele is scored; needs genome."),
    "genome": PATH.but(doc="Genome of the regions or variants."),
    "site": Pattern(
        pattern="^[A-Za-z]+$",
        form="letters, such as AG",
        doc="Letters of the candidates of a scan, such as AG.",
    ),
    "models": Listing(value=text(), unique=True, doc="Names of the models to apply; by default all."),
    "output": choice(
        default="tsv",
        choices=("tsv", "tsv.gz", "bed", "bed.gz", "bedgraph", "bedgraph.gz", "bw", "vcf", "vcf.gz"),
        doc="Ending of the output files.",
    ),
    "options": text(default="", doc="Further options of seqkern predict or seqkern variants, as on the command line."),
}
APPLY = Section(
    doc="Each model × each file of each entry, divided into jobs. docs/howto/apply.md explains every key.",
    needed=("study", "models", "apply"),
    keys={
        "study": NAME.but(doc="Name; the results go to results/<study>/."),
        "models": ByName(value=PATH, doc="Name and file of each model."),
        "apply": ByName(
            value=Section(keys=ENTRY_KEYS), doc="Name and entry of each set of files that the models are applied to."
        ),
        "divide": Section(
            default={},
            doc="About how much a job gets; changes of it rerun nothing.",
            keys={
                "records": integer(default=100_000, low=1, doc="Records of FASTA, or regions."),
                "bases": BYTES.but(
                    default="50MB", form="an amount such as 500kB or 50MB", doc="Bases of a genome to scan."
                ),
                "lines": integer(default=1_000_000, low=1, doc="Lines of a VCF file."),
            },
        ),
    },
)
"""The keys of a configuration that applies models."""


@dataclass(frozen=True)
class Application:
    """The application of one model to one file.

    `words` is the command without output and part, `by_strand` means one output file for each strand, and `amount` is
    the number of records, bases or lines for each job.
    """

    entry: str  # Their names
    model: str  # Their names
    kind: str  # What the file is
    model_file: str  # As configured
    file: str  # As configured
    genome: str | None  # Of regions or variants
    name: str  # Of the output file
    words: tuple[str, ...]  # The command, without output and part
    by_strand: bool  # Whether the output is a file for each strand
    amount: int  # How much a job gets: records, bases or lines

    @property
    def outputs(self) -> list[str]:
        """The names of the output files."""
        if not self.by_strand:
            return [self.name]
        stem, _, ending = self.name.rpartition(".bedgraph" if ".bedgraph" in self.name else ".bw")
        form = "bedgraph" if ".bedgraph" in self.name else "bw"
        return [f"{stem}.{strand}.{form}{ending}" for strand in STRANDS]

    @property
    def inputs(self) -> list[str]:
        """The files that the output depends on."""
        given = [self.model_file, self.file, *([self.genome] if self.genome else [])]
        named = (one for word in self.words for one in (word, word.rpartition("=")[2]) if one and Path(one).is_file())
        return list(dict.fromkeys([*given, *named]))

    def parts(self) -> int:
        """Return the number of jobs, estimated from the size of the file and its first megabyte."""
        return -(-int(estimate(self.file, self.kind)) // self.amount) or 1

    def megabytes(self) -> int:
        """Return the approximate memory of a job in MB."""
        return PROGRAM + PER_MODEL * (Path(self.model_file).stat().st_size >> 20)


@dataclass(frozen=True)
class Applications:
    """The configuration of `apply`; `jobs` maps (entry, model, output file) to an Application."""

    name: str  # Of the study
    jobs: dict[tuple[str, str, str], Application]  # By entry, model and output file

    @classmethod
    def parse(cls, config: Mapping[str, Any], *, file: Files = None) -> Applications:
        """Return the checked applications described by a configuration; `file` is its source, for messages."""
        places = Places(config, files_of(file))
        check_keys(config, APPLY, places)
        config = with_defaults(config, APPLY.keys)
        divide = config["divide"]
        with places.within("divide", "bases"):
            amounts = {**divide, "bases": max(1, parse_bytes(divide["bases"]))}
        jobs: dict[tuple[str, str, str], Application] = {}
        for entry, given in config["apply"].items():
            given = with_defaults(given, ENTRY_KEYS)
            kind = _kind(given, entry, places)
            with places.within("apply", entry, "options"):
                options = _words(given["options"])
            for model in given.get("models", config["models"]):
                if model not in config["models"]:
                    known = ", ".join(config["models"])
                    raise places.error(
                        ("apply", entry, "models"), f"unknown model {model!r}", remedy=f"choose from: {known}"
                    )
                for path, name in _names(given[kind], given["output"]):
                    names = {"entry": entry, "model": model, "name": name, "amount": amounts[KINDS[kind]]}
                    jobs[entry, model, name] = _application(
                        given, kind, options, path, config["models"][model], **names
                    )
        return cls(config["study"], jobs)

    def check_files(self, *, file: Files = None) -> None:
        """Raise ConfigError for a file that is missing."""
        places = Places({}, files_of(file))
        for job in self.jobs.values():
            for path in job.inputs:
                if not Path(path).is_file():
                    raise places.error(("apply", job.entry), f"{path}: no such file", remedy="check the path")
                with places.within("apply", job.entry):
                    check_file_name(path)


def _kind(given: Mapping[str, Any], entry: str, places: Places) -> str:
    """Return the kind of file in an entry; raise ConfigError if its keys do not fit together."""
    kinds = [kind for kind in KINDS if kind in given]
    where = ("apply", entry)
    if len(kinds) != 1:
        what = " and ".join(kinds) or "nothing to apply models to"
        raise places.error(where, f"has {what}", remedy=f"give one of {', '.join(KINDS)}")
    kind = kinds[0]
    for key in ("genome", "site"):
        if (key in given) != (key in NEEDED[kind]):
            problem, remedy = ("has no", "add it") if key not in given else (f"{kind} needs no", "remove it")
            raise places.error(where, f"{problem} {key}", remedy=remedy)
    if given["output"] not in OUTPUTS[kind]:
        problem = f"{kind} cannot be written as {given['output']}"
        raise places.error((*where, "output"), problem, remedy=f"choose from: {', '.join(OUTPUTS[kind])}")
    return kind


def _words(options: str) -> list[str]:
    """Return the options split into words; output, part and threads are set by the workflow."""
    # imported here for fast start-up
    from seqkern.core.errors import ParameterError

    try:
        words = shlex.split(options)
    except ValueError as error:
        raise ParameterError(f"{options!r}: {error}", remedy="close the quotes") from error
    own = [word for word in words if word.partition("=")[0] in ("-o", "--output", "--part", "--gather", "--threads")]
    if own:
        raise ParameterError(f"{own[0]} is given by the workflow", remedy="remove it")
    return words


def _names(files: str | list[str], ending: str) -> list[tuple[str, str]]:
    """Return each file with the name of its output; duplicate names get a number."""
    out: dict[str, str] = {}
    for path in [files] if isinstance(files, str) else files:
        stem = NOT_IN_NAMES.sub("_", ENDINGS.sub("", Path(path).name)).lstrip(".-") or "file"
        name, number = f"{stem}.{ending}", 1
        while name in out:
            number += 1
            name = f"{stem}.{number}.{ending}"
        out[name] = path
    return [(path, name) for name, path in out.items()]


def _application(
    given: Mapping[str, Any], kind: str, options: list[str], path: str, model_file: str, **names: Any
) -> Application:
    """Return the application of a model to one file of an entry."""
    verb = "variants" if kind == "variants" else "predict"
    genome = given.get("genome")
    more = (["--genome", genome] if genome else []) + (["--scan", given["site"]] if kind == "scan" else [])
    strand = next((word for word in ("+", "-") if f"--strand={word}" in options), None)
    if "--strand" in options[:-1]:
        strand = options[options.index("--strand") + 1]
    by_strand = given["output"].startswith(("bedgraph", "bw")) and strand not in ("+", "-")
    words = (verb, model_file, path, *more, *options)
    return Application(
        kind=kind, model_file=model_file, file=path, genome=genome, words=words, by_strand=by_strand, **names
    )


def estimate(path: str, kind: str) -> float:
    """Return the approximate number of records, bases or lines of a file, from its size and first megabyte."""
    size = Path(path).stat().st_size
    with open(path, "rb") as file:
        magic = file.read(6)
        file.seek(0)
        opener = next((one for start, one in OPENERS.items() if magic.startswith(start)), None)
        try:
            head = file.read(HEAD) if opener is None else opener(file).read(HEAD)
        except (OSError, EOFError):
            head = b""  # the job says what is wrong with it
        whole = size * len(head) / max(1, len(head) if opener is None else file.tell())
    if kind == "scan" or not head:
        return whole
    marks = head.count(b"\n>") + head.startswith(b">") if kind == "fasta" else head.count(b"\n")
    return whole * max(1, marks) / len(head)
