"""The requests of the verbs that apply models, and of those that find genes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from seqkern.cli.options import IfGiven, Request, all_of, argument, excludes, only_with, option
from seqkern.cli.requests import (
    PICTURES,
    POLICIES,
    TABLES,
    GivenLabels,
    GivenSites,
    ModelReading,
    ModelRegions,
    Overwrite,
    SpreadsheetSafe,
    Threads,
    Tracks,
    track_option,
)
from seqkern.core.checks import read_number
from seqkern.core.errors import ParameterError
from seqkern.core.parameters import anything, choice, flag, integer, real, text

if TYPE_CHECKING:
    from seqkern.core.parts import Part

MOST_SUPPORT = 2000
"""Number of support sequences up to which all are searched for motifs, within a minute or so."""
SCAN = (
    "scanning for candidates",
    """\
every occurrence of the given bases is a candidate, classified by the window around it:
  tsv       record, position (from 1, of the candidate's first letter on its strand), strand, decision, probability
  bed       BED9 with the interval of the candidate's letters; score is 1000 × probability, or 500 + 500 × decision
            if the model is not calibrated; red if predicted positive, else blue; columns 10 and 11 are decision and
            probability
  bigwig    decision at the candidate's first letter on its strand; -o NAME.bw with both strands writes NAME.plus.bw
            and NAME.minus.bw
  bedgraph  the same as text
example: seqkern predict sites.seqkern chromosome.fa.gz --scan AG -o found.bed""",
)
CONFIDENCE = "the difference between the two highest state probabilities"
STATES = (
    "states of residues, for models of seqkern train --states",
    f"For models with probabilities, confidence is {CONFIDENCE}:\n"
    "from 0 to 1 in the table, as a digit from 0 to 9 in tracks.",
)
PARTS = (
    "several jobs for one output",
    "each job computes a part, and keeps it in OUTPUT.parts; --gather joins them, byte for byte as one run\n"
    "would write. Text, plain or compressed by bgzip, is divided without reading it; in other compressions each\n"
    "job reads it through.",
)
SCORES = (
    "scores",
    """\
models with weights of k-mers (kernels such as gapped_kmer; models of LS-GKM; weights of k-mers as deltaSVM reads
        them): reference and alternative are the sums of the weights of the k-mers that cover the allele, with
        k - 1 bases on each side; delta is alternative - reference, as in deltaSVM. For a normalised kernel the
        weight of a k-mer is its own decision value, w / √K(k-mer, k-mer), without the constant
other models, and any with --window: the decision values of the window centred at the variant
models of sites (trained with --window -L:+R): the highest decision value of a site within --around bases""",
)


class NewSamples(GivenSites, ModelRegions, ModelReading, Tracks, SpreadsheetSafe):
    """A verb that applies a model to new samples."""

    model: str


def _part(given: str) -> Part:
    """Return a part such as 3/7."""
    from seqkern.core.parts import Part  # imported here: no other option needs it

    return Part.parse(given)


class Parts(Request, group=PARTS):
    """A verb whose output several jobs can make."""

    output: IfGiven

    part: Part | None = option("compute part I of N, such as 3/7", anything(default=None), metavar="I/N", read=_part)
    gather: bool = option("join the parts, and remove them", flag(default=False))


def _threshold(given: str) -> float:
    """Return a number that is not NaN."""
    value = float(given) if given in ("inf", "-inf") else read_number(given)
    if math.isnan(value):
        raise ParameterError(f"{given!r} is neither a number nor model", remedy="write for example 0")
    return value


class Scan(Request, group=SCAN, everyday=("scan",)):
    """A verb that classifies every candidate site."""

    scan: IfGiven = option("bases of the candidates, such as AG", metavar="LETTERS")
    format: str | None = option(
        "default: by the ending of the output file, .bed, .bw or .bedgraph; else tsv",
        choice(default=None, choices=("bed", "bedgraph", "bigwig", "tsv")),
    )
    window: str | None = option(
        "positions before and after a candidate's first letter (default: as in training)", metavar="-L:+R"
    )
    strand: str | None = option("default: both", choice(default=None, choices=("both", "+", "-")))
    all: bool = option(
        "write all candidates (default: those predicted positive; bigwig and bedgraph always hold all)",
        flag(default=False),
    )
    threshold: IfGiven = option(
        "write only decisions above X (default: the model's threshold, in tsv and bed)",
        real(default=None, infinite=True, words=("model",)),
        metavar="X",
        read=_threshold,
    )
    masked: str | None = option(
        "windows with N or other masked letters: skip and count them, or score the other letters (default: skip)",
        choice(default=None, choices=("skip", "score")),
    )
    lower: str | None = option(
        "lower-case letters: treat like any others, or skip candidates that contain them (default: letters)",
        choice(default=None, choices=("letters", "skip")),
    )
    rules = all_of(
        only_with("scan", "format", "window", "strand", "all", "threshold", "masked", "lower", add="--scan LETTERS"),
        excludes("all", "threshold"),
        excludes("scan", "unknown", remedy="remove --unknown; use --masked for N"),
        excludes("scan", "empty", "strip_gaps", "track", "profiles", "search_profiles", "sites"),
    )


class TrueStates(Request, group=STATES):
    """A verb that predicts the states of residues."""

    chain: str | None = option("draw only this chain, as with --track", metavar="ID")
    states: IfGiven = option(
        "true states, in a format of seqkern train --states: shown beside the predicted ones, and scored on standard "
        "error; eight states are reduced as in training, H, E and C are kept. If the file of sequences also holds the "
        "states, give it here too",
        metavar="FILE",
    )


class PredictRequest(NewSamples, Scan, TrueStates, Parts, everyday=("output", "threshold")):
    """Predictions of a model."""

    model: str = argument(
        "model file of seqkern train or LS-GKM; FILE:NAME: one of a file of several; such a file or a folder: all of "
        "them, with the model's name after that of each column"
    )
    fasta: IfGiven = argument(
        "FASTA of new sequences, - for standard input; BED with --genome; or a feature table, as in training", nargs="?"
    )
    output: str | None = option(
        "table (default: standard output, as TSV); .tsv, .csv, .json, .xlsx or .parquet, text also as .gz",
        short="-o",
        metavar="FILE",
        endings=(*TABLES, ".gz", ".bed", ".bedgraph", ".bg", ".bw", ".bigwig", ".svg", ".html"),
    )
    interval: float | None = option(
        "level of the prediction intervals of a Gaussian process regression (default: 0.9, columns lower_90, upper_90)",
        real(default=None, low=0, high=1, open_low=True, open_high=True),
        metavar="SHARE",
    )
    track: list[Any] = track_option(
        ". Without NAME=FILE: draw residues, states and confidence instead of a table: as text, or as a figure if -o "
        "FILE ends in .svg or .html",
        nargs="?",
    )
    EXAMPLE = "seqkern predict model.seqkern donors.fasta > predictions.tsv"

    @property
    def draws(self) -> bool:
        """Whether tracks are drawn in place of a table."""
        return self.chain is not None or None in self.track


class TestRequest(GivenLabels, NewSamples, Overwrite):
    """The scores of a model on new samples with labels."""

    model: str = argument("model file of seqkern train or LS-GKM")
    fasta: list[str] = argument(
        "new samples: two files (positives, negatives), one file per class, or one file with --labels; FASTA, or BED "
        "with --genome; or a table as in training",
        text(default=[]),
        nargs="*",
    )
    output: str | None = option(
        "output folder for index.html, scores.tsv, decisions.tsv and roc.svg", short="-o", metavar="DIR"
    )
    EXAMPLE = "seqkern test model.seqkern positive.fa negative.fa -o tested"
    MORE_EXAMPLES = ("seqkern test model.seqkern new.fasta --labels new.tsv",)
    DESCRIPTION = """\
Scores a model on new sequences whose classes or numbers are known, and says which of them it was trained on. Classes
are matched by name: of the files, or in the labels; two other files are positives and negatives."""


class Contributions(
    Request,
    group=(
        "windows from a genome",
        "by their ids, such as chr1:1001-1300 or chr1:1001-1300(-), with --sites, or read from BED; a .bw without\n"
        "--sites needs --genome, for the lengths of the chromosomes",
    ),
):
    """A verb that writes contributions along the genome."""

    contributions: IfGiven = option(
        "also write the contribution of each base along the genome: .bw or .bedgraph; the mean where windows overlap",
        metavar="FILE",
    )


class ExplainRequest(NewSamples, Contributions, Overwrite):
    """Contributions of residues and k-mers to decisions."""

    model: str = argument("model file of seqkern train or LS-GKM")
    fasta: IfGiven = argument("FASTA of new sequences, - for standard input; or BED with --genome", nargs="?")
    output: str = option(
        "output folder for index.html, letters.tsv, words.tsv, decisions.tsv and figures (default: explained); "
        "NAME.html: the page alone",
        text(default="explained"),
        short="-o",
        metavar="DIR",
    )
    pair: str | None = option("multi-class models: explain the classifier of classes A and B", metavar="A:B")
    top: int = option(
        "print the N k-mers of the sequences with the largest weights (default: 10)",
        integer(default=10, low=0),
        metavar="N",
    )
    plots: int = option("draw the first N sequences (default: 12)", integer(default=12, low=0), metavar="N")
    EXAMPLE = "seqkern explain model.seqkern donors.fasta"


class MotifsRequest(ModelReading, Threads, SpreadsheetSafe):
    """The motifs that a model has learned."""

    model: str = argument("model file of seqkern train or LS-GKM")
    fasta: IfGiven = argument(
        "FASTA of sequences in which to find motifs, such as the peaks; - for standard input (default: the "
        f"model's support sequences, up to {MOST_SUPPORT}; else its k-mers)",
        nargs="?",
    )
    output: str = option(
        "page (.html), matrices (.meme), table (.tsv, .csv, …) or logos (.svg, .png, .pdf); -: matrices; a name "
        "without ending: a folder with page, matrices and table (default: motifs.html)",
        text(default="motifs.html"),
        short="-o",
        metavar="FILE",
        endings=(".html", ".meme", *TABLES, *PICTURES),
    )
    kmers: bool = option("make motifs of the k-mers of greatest weight, not of sequences", flag(default=False))
    known: str | None = option("known motifs to compare with: JASPAR, MEME or TRANSFAC format", metavar="FILE")
    plot: str | None = option("draw the logos: .html, .svg, .png or .pdf", metavar="FILE", endings=(".html", *PICTURES))
    table: str | None = option("write the table of motifs: .tsv, .csv, .xlsx, …", metavar="FILE", endings=TABLES)
    pair: str | None = option("multi-class models: explain the classifier of classes A and B", metavar="A:B")
    minimum: int = option("smallest number of sites of a motif (default: 10)", integer(default=10, low=1), metavar="N")
    rules = all_of(excludes("kmers", "fasta"))
    EXAMPLE = "seqkern motifs peaks.seqkern peaks.fa --known jaspar.meme -o motifs.html"
    MORE_EXAMPLES = ("seqkern motifs peaks.seqkern -o motifs.meme",)


class PageRequest(Request):
    """A model as one HTML file, which scores sequences in a browser."""

    model: str = argument("model file of seqkern train")
    output: str = option(
        "the page (default: model.html)", text(default="model.html"), short="-o", metavar="FILE", endings=(".html",)
    )
    exact: bool = option("decisions within 1e-9 of predict's, not 1e-6; files are larger", flag(default=False))
    allow_sequences: bool = option(
        "allow that the page holds training sequences, where a kernel needs them", flag(default=False)
    )
    EXAMPLE = "seqkern page model.seqkern -o model.html"


class Acquisition(
    Request,
    group=("the next variants to make, by a Gaussian process", "in place of --diversity and --strategy"),
    everyday=("acquisition",),
):
    """A verb that chooses variants to make next."""

    acquisition: str | None = option(
        "choose variants that may have the best label: by an upper confidence bound, the expected improvement, or "
        "functions drawn from the posterior (default for a Gaussian process: ucb)",
        choice(default=None, choices=("ucb", "ei", "thompson")),
    )
    maximize: bool = option("large labels are wanted (the default)", flag(default=False))
    minimize: bool = option("small labels are wanted", flag(default=False))
    kappa: float | None = option(
        "for ucb, mean + X standard deviations: larger explores more (default: 2)", real(default=None), metavar="X"
    )
    rules = all_of(
        excludes("acquisition=ei", "kappa"),
        excludes("acquisition=thompson", "kappa"),
        excludes("maximize", "minimize"),
    )


class Variants(
    Request,
    group=(
        "all variants of a parent",
        "in place of a pool the file holds one record, the parent (alone: its single mutants); positions count from 1",
    ),
    everyday=("positions", "mutations"),
):
    """A verb that chooses among all variants of a parent."""

    positions: str | None = option(
        "mutate these positions, such as 39-41,54 (default with --mutations: all)", metavar="LIST"
    )
    mutations: int | None = option(
        "at most K mutations in a variant (default: as many as give no more than 1,000,000 variants)",
        integer(default=None, low=1),
        metavar="K",
    )
    keep: str | None = option("positions that stay as they are, such as those of a motif", metavar="LIST")
    exclude: str | None = option("residues that are never introduced, such as CM", metavar="LETTERS")
    rules = all_of(only_with("positions|mutations", "keep", "exclude"))


class Replay(
    Request, group=("the replay of a campaign", "on a table in which all variants are measured"), everyday=("replay",)
):
    """A verb that replays campaigns."""

    replay: bool = option(
        "the first file is a table of measured variants, as for seqkern train: compare what the acquisition, the "
        "largest mean, a ridge regression and chance would have found in rounds of -n variants",
        flag(default=False),
    )
    start: int | None = option(
        "random variants measured in the first round (default: -n)", integer(default=None, low=2), metavar="N"
    )
    rounds: int = option("rounds, with the first (default: 4)", integer(default=4, low=2), metavar="N")
    label_field: str = option("column of the values (default: detected)", text(default="label"), metavar="NAME")
    rules = all_of(
        only_with("replay", "start", "rounds", "label_field"),
        excludes("replay", "fasta", "positions", "mutations", "diversity", "strategy"),
        excludes("replay", *POLICIES, "sites", "genome", "track", "view", "profiles", "search_profiles", "missing"),
    )


class SuggestRequest(NewSamples, Acquisition, Variants, Replay):
    """Records to label next."""

    model: str = argument(
        "model file of seqkern train or LS-GKM: of two or more classes, or of gp_regression or gp_inducing, which "
        "choose variants"
    )
    fasta: IfGiven = argument(
        "FASTA of sequences without a label, - for standard input; or a table; with --positions or --mutations, of "
        "the parent",
        nargs="?",
    )
    n: int = option("number of records to choose (default: 20)", integer(default=20), short="-n", metavar="N")
    output: str | None = option(
        "table (default: standard output, as TSV); .tsv, .csv, .json, .xlsx or .parquet",
        short="-o",
        metavar="FILE",
        endings=(*TABLES, ".gz"),
    )
    diversity: float | None = option(
        "from 0, the records nearest the hyperplane, to 1, records unlike each other among these (default: 0.5)",
        real(default=None),
        metavar="X",
    )
    strategy: str | None = option(
        "random: a random choice, to compare with (default: uncertain)",
        choice(default=None, choices=("uncertain", "random")),
    )
    seed: int = option("random seed, for ties and random choices (default: 1)", integer(default=1))
    rules = all_of(excludes("acquisition", "diversity", "strategy"), excludes("strategy=random", "diversity"))
    EXAMPLE = "seqkern suggest model.seqkern pool.fasta -n 20 -o next.tsv"
    MORE_EXAMPLES = (
        "seqkern suggest variants.seqkern parent.fasta --positions 39-41,54 -n 96 -o plate.tsv",
        "seqkern suggest --replay landscape.csv -n 24",
    )


OF_VCF = ("null", "null_regions", "motifs", "part", "gather")
"""Options that need a VCF file."""


class VariantScores(Request, group=SCORES):
    """A verb that scores variants."""

    window: int | None = option(
        "compare decision values of windows of W bases", integer(default=None, low=1), metavar="W"
    )
    around: int = option(
        "models of sites: how far from the variant (default: 50)", integer(default=50, low=1), metavar="N"
    )
    motifs: str | None = option(
        "JASPAR, MEME or TRANSFAC: adds the motif whose best score changes most", metavar="FILE"
    )
    rules = all_of(excludes("window", "around"))


class Null(
    Request,
    group=(
        "significance",
        "random variants of the same genome, of the same kinds, lengths and local contexts, give p-values and\n"
        "q-values (Benjamini-Hochberg) of the effects, in which changes where nothing binds count little",
    ),
):
    """A verb that draws random variants."""

    null: int | None = option(
        "number of random variants of each kind, such as 100000", integer(default=None, low=1), metavar="N"
    )
    null_regions: str | None = option(
        "where they are drawn from (default: the chromosomes of the variants)", metavar="BED"
    )
    fdr: float = option(
        "false discovery rate at which significant variants are counted (default: 0.05)",
        real(default=0.05, low=0, high=1, open_low=True, open_high=True),
        metavar="Q",
    )
    seed: int = option("random seed (default: 1)", integer(default=1))
    rules = all_of(
        only_with("null", "fdr", "seed"),
        only_with("null", "null_regions", add="--null N"),
        excludes(
            *("null", "part", "gather"),
            remedy="remove --null, or remove --part and --gather: repeating the command resumes a killed run",
        ),
    )


class WithoutVcf(Request, group="instead of a VCF file"):
    """A verb that scores variants of sequences."""

    ref: IfGiven = option("sequences with the reference allele", metavar="FASTA")
    alt: IfGiven = option("the same with the alternative allele, in the same order", metavar="FASTA")
    region: IfGiven = option("all single-base variants of a region; positions from 1", metavar="CHR:FROM-TO")
    sequences: str | None = option("all single-base variants of sequences", metavar="FASTA")
    plot: str | None = option(
        "with --region or --sequences: heat map of delta, with a logo: .svg, .png or .pdf",
        metavar="FILE",
        endings=PICTURES,
    )
    rules = all_of(
        only_with("ref", "alt"),
        only_with("alt", "ref"),
        only_with("region|sequences", "plot"),
        excludes("ref", "region", "sequences", "genome", *OF_VCF),
        excludes("region", "sequences", *OF_VCF),
        excludes("sequences", "genome", *OF_VCF),
    )


class VariantsRequest(VariantScores, Null, WithoutVcf, SpreadsheetSafe, Threads, Parts):
    """What variants change in a model's decisions."""

    files: list[str] = argument(
        "models of seqkern train or LS-GKM, or weights of k-mers; then the variants: VCF, plain or compressed, or BCF "
        "(not with --ref, --region or --sequences)",
        metavar="FILE",
        nargs="+",
    )
    genome: IfGiven = option("genome of the variants, plain or compressed by bgzip", metavar="FASTA")
    output: str = option(
        ".tsv, .csv, .json, .xlsx or .parquet, or - for standard output: a row for each alternative allele; .vcf or "
        ".vcf.gz: the VCF file with fields in INFO (.gz is compressed by bgzip and indexed)",
        text(),
        short="-o",
        metavar="FILE",
        endings=(*TABLES, ".vcf", ".gz", ".bgz"),
    )
    EXAMPLE = "seqkern variants model.seqkern variants.vcf.gz --genome genome.fa --null 100000 -o scores.tsv"
    MORE_EXAMPLES = (
        "seqkern variants ctcf.seqkern gata1.seqkern variants.vcf.gz --genome genome.fa -o annotated.vcf.gz",
        "seqkern variants model.seqkern --ref ref.fa --alt alt.fa -o scores.tsv",
        "seqkern variants model.seqkern --region chr1:1000-1200 --genome genome.fa --plot heat.svg -o effects.tsv",
    )


class ModelsRequest(Request):
    """A file of many models."""

    action: str = argument("write one file, or print what is in a file", choice(choices=("pack", "list")))
    source: str = argument(
        "pack: folder with models of seqkern train and LS-GKM, named after their files; list: the packed file, or a "
        "model, for how it was trained",
        metavar="FOLDER|FILE",
    )
    output: str | None = option("pack: the file to write; list: a table (default: -)", short="-o", metavar="FILE")
    EXAMPLE = "seqkern models pack factors/ -o factors.seqkern"
    MORE_EXAMPLES = (
        "seqkern models list factors.seqkern",
        "seqkern variants factors.seqkern variants.vcf.gz --genome genome.fa -o scores.tsv",
        "seqkern predict factors.seqkern:CTCF new.fa -o decisions.tsv",
    )


class GrammarRequest(Threads):
    """A gene model learned from an annotated genome."""

    genome: str = argument("FASTA, plain or compressed; or GenBank or EMBL")
    annotation: str | None = argument(
        "GTF or GFF3 with CDS, GenBank or EMBL (default: the features of a genome in GenBank or EMBL)", nargs="?"
    )
    output: str = option("output file, the model of seqkern genes", text(), short="-o", metavar="FILE")
    kernel: str = option(
        "kernel of the donor and acceptor classifiers, on windows -30:+30 (default: weighted_degree:degree=8)",
        text(default="weighted_degree:degree=8"),
    )
    solver: str = option("their solver, of two classes (default: csvc:C=1)", text(default="csvc:C=1"))
    seed: int = option("random seed of decoys and of the fit (default: 1)", integer(default=1))
    EXAMPLE = "seqkern grammar genes.fasta genes.gtf -o genes.seqkern"


class GenesRequest(Threads):
    """The genes of a genome."""

    model: str = argument("model file of seqkern grammar")
    genome: str = argument("FASTA, plain or compressed; - for standard input; or GenBank or EMBL")
    output: str | None = option("GTF file; -: standard output (the default)", short="-o", metavar="FILE")
    truth: str | None = option(
        "known annotation, GTF or GFF3: print sensitivity and precision of coding bases, exons and genes",
        metavar="FILE",
    )
    EXAMPLE = "seqkern genes genes.seqkern genes.fasta -o found.gtf"
    MORE_EXAMPLES = ("seqkern genes genes.seqkern unseen.fasta --truth unseen.gtf -o found.gtf",)


class SpliceScoresRequest(Parts, Threads):
    """The scores of all splice sites of a genome."""

    model: str = argument("model file; with --train, it is written")
    fasta: str = argument("genome: FASTA, plain or compressed; - for standard input")
    train: str | None = option(
        "train the model on the genome with this annotation first, GTF or GFF3; without -o, only train", metavar="FILE"
    )
    output: str | None = option("contig, bases before the junction, strand, D or A, score", short="-o", metavar="FILE")
    rules = all_of(excludes("train", "part", "gather", remedy="train first, then score in parts"))
    EXAMPLE = "seqkern splice-scores splice.seqkern genes.fasta --train genes.gtf"
    MORE_EXAMPLES = ("seqkern splice-scores splice.seqkern unseen.fasta -o scores.tsv",)
    DESCRIPTION = """\
Scores every GT and AG of both strands (and GC or AT–AC, if the annotation has 50 of them) for minimap2 --spsc and
miniprot --spsc. A score is 2·log2 of the probability of a site over that of any GT or AG. Sites of −7 or less, which
the aligners give to sites that are not in the file, are left out."""

    @classmethod
    def verb(cls) -> str:
        """Return the verb."""
        return "splice-scores"
