"""The requests of the verbs that make or list data, studies and results."""

from __future__ import annotations

from seqkern.cli.options import IfGiven, Request, all_of, argument, excludes, option
from seqkern.cli.requests import Regions
from seqkern.core.parameters import choice, flag, integer, real, text


class DemoRequest(Request):
    """A demo in a new folder."""

    folder: str = argument(
        "new or empty folder, or that of a stopped demo (default: seqkern-demo)",
        text(default="seqkern-demo"),
        nargs="?",
    )
    cores: str = option("number of cores for Snakemake (default: all)", text(default="all"))
    EXAMPLE = "seqkern demo demo"


class InitRequest(Request):
    """A new study's folder."""

    folder: str = argument("a new or empty folder for the study")
    demo: bool = option("use the demo's configuration, which needs no data", flag(default=False))
    profile: str | None = option(
        "also copy this profile of Snakemake, to edit", choice(default=None, choices=("slurm",))
    )
    EXAMPLE = "seqkern init mystudy"


class SitesRequest(Request):
    """Splice sites or codons with decoys."""

    genome: str = argument("FASTA, plain or compressed; or GenBank or EMBL")
    annotation: str | None = argument(
        "GTF, GFF3, GenBank or EMBL, plain or compressed (default: the features of a genome in GenBank or EMBL)",
        nargs="?",
    )
    output: str = option("output file, a table of sites", text(), short="-o", metavar="FILE")
    kind: str = option(
        "ends of introns, or start or stop codons (default: donor)",
        choice(default="donor", choices=("donor", "acceptor", "start", "stop")),
    )
    decoys: int = option(
        "decoys for each site: the same bases in the same gene, not annotated in any transcript (default: 10)",
        integer(default=10),
        metavar="N",
    )
    motif: str | None = option(
        "bases at the sites, such as GT,GC; any keeps all sites (default: GT, AG, ATG, or TAA,TAG,TGA); other "
        "sites are left out and counted",
        metavar="LETTERS",
    )
    feature: str = option(
        "introns lie between exons, or between coding parts if no exons are annotated (default: exon)",
        choice(default="exon", choices=("exon", "CDS")),
    )
    seed: int = option("random seed of the decoys (default: 1)", integer(default=1))
    EXAMPLE = "seqkern sites genes.fasta genes.gtf --kind donor --decoys 10 -o sites.tsv"
    MORE_EXAMPLES = ("seqkern sites genome.gb --kind acceptor -o sites.tsv",)


class Drawing(
    Request,
    group=(
        "random regions",
        "They lie on chromosomes with peaks, contain no N, and overlap neither peaks, blacklist, excluded regions nor\n"
        "one another. Repeats are the soft-masked (lower-case) bases of the genome.",
    ),
):
    """A verb that draws regions."""

    exclude: list[str] = option("exclude these too; repeatable", text(default=[]), metavar="BED", repeated=True)
    match: str = option(
        "properties to match: length, gc, repeats (default: length,gc,repeats)",
        text(default="length,gc,repeats"),
        metavar="LIST",
    )
    chromosomes: str = option(
        "draw on the chromosome of each peak, so that folds of whole chromosomes have equal classes, or on any "
        "(default: same)",
        choice(default="same", choices=("same", "any")),
    )
    table: str | None = option("write how well the background matches", metavar="TSV")
    plot: str | None = option("draw histograms of peaks and background", metavar="SVG")


class Shuffling(Request, group="shuffled sequences"):
    """A verb that shuffles sequences."""

    shuffle: IfGiven = option(
        "shuffle the sequence of each peak instead, with the same counts of K-mers (2: dinucleotides)",
        integer(default=None, low=1),
        metavar="K",
    )
    rules = all_of(excludes("shuffle", "table", "plot", "exclude"))


class BackgroundRequest(Regions, Drawing, Shuffling):
    """Background regions or sequences."""

    peaks: str = argument("BED, narrowPeak or broadPeak file; with --shuffle also FASTA")
    output: str = option("output: a BED file; with --shuffle a FASTA file", text(), short="-o", metavar="FILE")
    factor: float = option("background regions for each peak (default: 1)", real(default=1.0))
    seed: int = option("random seed (default: 1)", integer(default=1))
    EXAMPLE = "seqkern background donors.fasta --shuffle 2 -o shuffled.fasta"
    MORE_EXAMPLES = (
        "seqkern background peaks.bed --genome genome.fa -o background.bed",
        "seqkern background peaks.narrowPeak --width 300 --genome genome.fa --blacklist blacklist.bed --factor 2"
        " --table match.tsv --plot match.svg -o background.bed",
    )


class CompareRequest(Request):
    """Tests of differences between methods."""

    results: list[str] = argument(
        "one or more study folders, such as results/demo; or folders written by seqkern evaluate, one for each "
        "method on the same folds",
        nargs="+",
    )
    dataset: str | None = option("compare on this data set only")
    task: str | None = option("compare on this task only (such as a family), sample by sample")
    metric: str | None = option(
        "metric to compare (default: AUC, on one task also accuracy; several classes on one task: accuracy, since "
        "macro AUC has no test; regression: RMSE over tasks and in the 5x2cv test, else absolute error; residues: each "
        "chain's accuracy, the only metric on one task)"
    )
    control: str | None = option(
        "compare each method with this one only: fewer tests to correct for", metavar="KERNEL[/SOLVER]"
    )
    format: str = option(
        "tsv lists every pair, with a column study if there are several (default: text)",
        choice(default="text", choices=("text", "tsv")),
    )
    EXAMPLE = "seqkern compare results/demo"
    MORE_EXAMPLES = (
        "seqkern compare results/demo --dataset donors --metric roc50 --control spectrum3/csvc",
        "seqkern compare results/demo/evaluate/donors/*/csvc --format tsv",
    )


class KernelsRequest(Request):
    """A list of kernels, or one of them."""

    name: str | None = argument("show this kernel or transform in full (default: list all)", nargs="?")
    EXAMPLE = "seqkern kernels spectrum"


class SolversRequest(Request):
    """A list of solvers, or one of them."""

    name: str | None = argument(
        "show this solver, feature selector, layer or the scaler in full (default: list all)", nargs="?"
    )
    EXAMPLE = "seqkern solvers psvc"
    MORE_EXAMPLES = ("seqkern solvers golub",)
