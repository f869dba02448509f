"""The requests of the jobs of a study, and of the verbs that make or list data, methods and results."""

from __future__ import annotations

import re

from seqkern.cli.options import IfGiven, Request, all_of, argument, excludes, only_with, option, study_gives
from seqkern.cli.requests import (
    PICTURES,
    POLICIES,
    TABLES,
    InnerLoop,
    Layers,
    Memory,
    Overwrite,
    Postprocessing,
    Reading,
    Regions,
    Significance,
    SpreadsheetSafe,
    Threads,
    Tracks,
    Windows,
    read_share,
)
from seqkern.core.errors import ParameterError
from seqkern.core.parameters import anything, choice, flag, integer, real, text

INNER_FILE = "inner.json"
"""Name of the file with the inner loops of a data set."""
SECTION = re.compile(r"([+-]?[0-9]{1,9}):([+-]?[0-9]{1,9})")


class OfDataset(Request):
    """A job of an encoded data set."""

    dataset: str = argument("folder that seqkern datasets wrote")


class OfFolds(OfDataset):
    """A job of a data set and its folds."""

    folds: str = option("folder that seqkern folds wrote", text())


STUDY = "take all settings from a study: its configuration, or the file that the workflow writes for its jobs"
INNER = "inner_folds", "inner_metric", "inner_draws", "inner_rule", "seed", "memory"
"""Options of the inner loop that a study gives too."""


class OfStudy(Request):
    """A job whose settings a study may give."""

    study: IfGiven = option(STUDY, metavar="FILE")


class DatasetsRequest(Threads):
    """An encoded data set, or a list of public ones."""

    config: IfGiven = argument("YAML file of the study", nargs="?")
    name: str | None = option("name of the data set in the study")
    entry: str | None = option("data-set entry as JSON, instead of a study")
    output: IfGiven = option("output folder for data.npz, units.tsv and summary.json", short="-o")
    data_dir: str | None = option("folder with local copies of public data sets")
    seed: int | None = option("random seed (default: the study's, or 1)", integer(default=None))
    list: bool = option("list the public data sets and exit", flag(default=False))
    EXAMPLE = "seqkern datasets config/config.yaml --name donors -o results/demo/datasets/donors"


class FoldsRequest(OfDataset, Threads):
    """Splits of a data set."""

    output: str = option("output folder, with one fold file for each task", text(), short="-o")
    config: str | None = option("study configuration: use the fold settings of data set --name")
    name: str | None = option("data set in --config (default: the name of the folder)")
    options: str | None = option('method and its options as JSON: {"method": "locus", "gap": 400}')
    method: str | None = option(
        "fold method (default: predefined splits if any, else stratified; for residues grouped by chain)"
    )
    k: int | None = option("number of folds (default: 5)", integer(default=None))
    seed: int | None = option("random seed (default: 1)", integer(default=None))
    leakage: str | None = option('settings of the leakage check as JSON: {"identity": 0.9}')
    identity: float | None = option(
        "find pairs with at least this sequence identity, such as 0.9 (default: those that chance does not explain)",
        real(default=None),
    )
    keep_together: bool = option(
        "keep similar samples in the same fold in any case (default: as far as balanced folds allow)",
        flag(default=False),
    )
    allow_similar: bool = option("allow similar samples in different folds, and only report them", flag(default=False))
    rules = all_of(excludes("keep_together", "allow_similar"))
    EXAMPLE = (
        "seqkern folds results/demo/datasets/donors --method stratified --k 5 --seed 1 -o results/demo/folds/donors"
    )


class Overlap(Request, group="what counts as overlap"):
    """A verb that looks for sequences which training and test share."""

    k: int | None = option(
        "length of a shared stretch that counts (default: 30; of proteins 12)", integer(default=None), metavar="N"
    )
    identity: float | None = option(
        "identity above which sequences are similar (default: .8, of proteins .5, and more for short ones)",
        real(default=None),
        metavar="SHARE",
    )
    one_strand: bool = option("compare one strand only (default: both strands of DNA)", flag(default=False))


class AuditRequest(Overlap, Reading, Overwrite, Memory, Threads):
    """The overlap of training and test."""

    files: list[str] = argument(
        "training and test sequences, and perhaps a table of labels; or four files: positives and negatives of "
        "training, then of test; or with --part one file and the table; or with --folds the folder of a data set",
        metavar="FILE",
        nargs="+",
    )
    output: str = option(
        "folder for the page and the tables (default: audit)", text(default="audit"), short="-o", metavar="FOLDER"
    )
    labels: str | None = option(
        "source of the labels: header (a field label=…), first-word (of each header), or a TSV with the columns id "
        "and label (also as the last file)",
        metavar="WHERE",
    )
    label_field: str = option("name of that field or column (default: label)", text(default="label"), metavar="NAME")
    part: str | None = option(
        "one file has both parts: the field of its headers, or the column of the table of labels, that says train or "
        "test; other words are left out",
        metavar="NAME",
    )
    folds: IfGiven = option(
        "that seqkern folds wrote: audit each split of a data set, without scores", metavar="FOLDER"
    )
    no_scores: bool = option("only look for overlap; train nothing", flag(default=False))
    rules = all_of(excludes("folds", *POLICIES, "alphabet", "label_field", "labels", "part"))
    EXAMPLE = "seqkern audit train.fa test.fa labels.tsv"
    MORE_EXAMPLES = (
        "seqkern audit train.positive.fa train.negative.fa test.positive.fa test.negative.fa -o audit",
        "seqkern audit all.fa labels.tsv --part split -o audit",
        "seqkern audit results/demo/datasets/donors --folds results/demo/folds/donors -o audit",
    )


class CheckRequest(OfFolds, OfStudy):
    """A check of all training sets."""

    methods: IfGiven = option(
        "solvers by name, as JSON: each with its specification, the layers after it, the number of inner folds "
        "(default: 3; 0 for none) and their seed (default: 1): "
        '{"name": {"solver": {"solver": "nusvc", "nu": 0.2}, "inner_folds": 3, "seed": 1}}'
    )
    rules = all_of(study_gives(required=("methods",)))
    EXAMPLE = (
        "seqkern check results/demo/datasets/donors --folds results/demo/folds/donors"
        ' --methods \'{"nu": {"solver": {"solver": "nusvc", "nu": [0.1, 0.2]}, "inner_folds": 3}}\''
    )


class PlanRequest(OfFolds, OfStudy):
    """Predicted costs."""

    dataset: str = argument("folder that seqkern datasets wrote, named like the data set in the study")
    study: str = option(f"{STUDY}; or the configuration as JSON", text(), metavar="FILE")
    output: str | None = option("file to write, plan.json (default: the table only)", short="-o")
    EXAMPLE = (
        "seqkern plan results/demo/datasets/donors --folds results/demo/folds/donors"
        " --study config/config.yaml -o plan.json"
    )


class GramRequest(OfStudy, Reading, Windows, Regions, Tracks, Memory, Threads):
    """A Gram matrix."""

    fasta: list[str] = argument(
        "FASTA files, - for standard input; BED with --genome; or a table with --sequences", nargs="*"
    )
    dataset: str | None = option("folder that seqkern datasets wrote, instead of FASTA", metavar="DIR")
    against: str | None = option("sequences for the columns (default: the same as the rows)", metavar="FASTA")
    kernel: IfGiven = option("kernel, such as spectrum:k=3, or as JSON; with --study the name of a matrix")
    kernel_config: IfGiven = option("take the kernel from a study's configuration", metavar="YAML")
    kernel_name: IfGiven = option("name of the kernel in that configuration", metavar="NAME")
    output: IfGiven = option("output file; its metadata go to a .json file beside it", short="-o", metavar="NPY")
    extend: str | None = option(
        "finished matrix of the same kernel: entries between records that it has too are copied from it", metavar="NPY"
    )
    dtype: str = option("default: float64", choice(default="float64", choices=("float64", "float32")))
    tile: tuple[int, int] | None = option(
        "compute only the I-th of N shares of the tiles; without it, compute the missing tiles and assemble all",
        anything(default=None),
        metavar="I/N",
        read=read_share,
    )
    explain_plan: bool = option(
        "print the chosen algorithm and its predicted cost first; without -o, stop there", flag(default=False)
    )
    spectrum: bool = option(
        "print the smallest and largest eigenvalue and the share of negative mass; with -o, also write them to "
        ".spectrum.tsv beside the matrix",
        flag(default=False),
    )
    cost: str | None = option("write the cost of each stage to this file", metavar="JSON")
    rules = all_of(
        study_gives("dtype", "memory", "kernel_config"),
        excludes("kernel", "kernel_config", "kernel_name"),
        excludes("tile", "cost"),
        excludes("spectrum", "against", "tile"),
        excludes("dataset", *POLICIES, "alphabet"),
    )
    EXAMPLE = "seqkern gram donors.fasta --kernel mismatch:k=5,m=1 -o gram.npy"


class BaselineRequest(OfFolds):
    """Scores of reference methods and trivial baselines."""

    output: str = option("folder for metrics.tsv and decisions.tsv", text(), short="-o")
    EXAMPLE = (
        "seqkern baseline results/demo/datasets/donors --folds results/demo/folds/donors"
        " -o results/demo/baseline/donors"
    )


class Shares(Request, group="division of a long evaluation"):
    """A verb whose folds several jobs can share."""

    share: IfGiven = option(
        "compute only the I-th of N shares of the folds and write no tables; without it, compute the missing folds "
        "and write the tables",
        anything(default=None),
        metavar="I/N",
        read=read_share,
    )
    methods: list[str] | None = option(
        "with --share, several solvers in one job, instead of --solver: "
        '{"svm": {"solver": "csvc:C=1", "layers": []}, ...}, or with --study their names; each keeps its folds in its '
        "own folder of the output",
        metavar="JSON",
        nargs="+",
    )
    plan: str | None = option(
        "file of seqkern plan, to divide by predicted time (default: by number of folds)", metavar="JSON"
    )
    kernel_name: IfGiven = option("name of the kernel in --plan (default: --kernel, with --study)", metavar="NAME")
    rules = all_of(only_with("share", "methods"))


class EvaluateRequest(OfFolds, OfStudy, InnerLoop, Postprocessing, Layers, Significance, Shares, Threads):
    """One method on all folds, or a share of the folds of several methods."""

    study: IfGiven = option(f"{STUDY}; --kernel, --solver and --methods are then names in it", metavar="FILE")
    kernel: str = option(
        "kernel, such as spectrum:k=3, or as JSON; or several, of which the inner loop chooses one: "
        '{"choose": [{"name": "three", "kernel": "spectrum", "k": 3}, ...]}',
        text(),
    )
    gram: list[str] = option(
        "Gram matrix over all samples for each kernel that has one, in order: the kernel's own if it is not fitted to "
        "data; for kernel pairwise that of its base kernel; for kernel combination those of its parts",
        text(default=[]),
        nargs="*",
    )
    solver: IfGiven = option("solver, such as csvc:C=[0.1,1,10] (a list of values is a grid), or as JSON")
    inner_clusters: IfGiven = option(
        "for remote homologs: hold out each of N clusters of similar positive samples (auto: 10), not folds",
        integer(default=None, low=2, words=("auto",)),
        metavar="N",
    )
    inner_only: bool = option(
        f"only run the inner loop of every training set and write its scores to {INNER_FILE}, for --pooled",
        flag(default=False),
    )
    pooled: list[str] = option(
        "files of --inner-only, of this data set and of others: instead of searching, choose the candidate with the "
        "best mean rank over all tasks (tasks that share positive samples are not pooled)",
        text(default=[]),
        metavar="FILE",
        nargs="*",
    )
    seed: int = option("seed of the inner folds (default: 1)", integer(default=1))
    selection_bias: bool = option(
        "also report the inflated scores that result from selecting features on the test data (selection_bias.tsv)",
        flag(default=False),
    )
    memory: str | None = option(
        "memory limit, such as 2GB, above which csvc reads a stored Gram matrix by rows (default: half of what is "
        "left)",
        metavar="SIZE",
    )
    output: str = option("folder for the tables", text(), short="-o")
    rules = all_of(
        study_gives(
            *INNER, *("inner_clusters", "calibration", "threshold", "layers", "selection_bias", "significance")
        ),
        excludes("inner_only", "pooled"),
        excludes("methods", "pooled", "layers"),
    )
    EXAMPLE = (
        "seqkern evaluate results/demo/datasets/donors --folds results/demo/folds/donors"
        " --kernel spectrum:k=3 --solver csvc:C=1 -o results/demo/evaluate/donors/spectrum3/csvc"
    )


class DatasetModel(OfDataset, OfStudy, InnerLoop, Memory, Threads):
    """A model of one method on a data set."""

    kernel: IfGiven = option("kernel, such as weighted_degree:degree=6, or as JSON")
    solver: IfGiven = option("solver, as text or JSON; a list of values is a grid")
    seed: int = option("seed of the inner folds (default: 1)", integer(default=1))


def _section(given: str) -> tuple[int, int]:
    """Return the first and last position of a section."""
    match = SECTION.fullmatch(given)
    if match is None or int(match[1]) > int(match[2]):
        raise ParameterError(f"{given!r} is not A:B", remedy="give the first and last position, such as -50:20")
    return int(match[1]), int(match[2])


class ImportanceRequest(DatasetModel):
    """The importance of each position of windows."""

    folds: str | None = option("folder that seqkern folds wrote; with a single split, train on its training set only")
    pair: str | None = option("multi-class: show the classifier of classes A and B", metavar="A:B")
    order: int | None = option(
        "maximum k-mer length (default: 3, or 2 for alphabets of more than five letters)", integer(default=None)
    )
    background: str = option(
        "background distribution of letters (default: frequencies)",
        choice(default="frequencies", choices=("frequencies", "uniform")),
    )
    site: int | None = option("position (from 1) labelled 0 in the figures", integer(default=None), metavar="N")
    section: tuple[int, int] | None = option(
        "positions to enlarge, such as --section=-50:20", anything(default=None), metavar="A:B", read=_section
    )
    output: str = option("output folder for the model, the table and the figures", text(), short="-o")
    rules = all_of(study_gives(*INNER, "pair", "order", "background", "site", "section", required=("kernel", "solver")))
    EXAMPLE = (
        "seqkern importance results/demo/datasets/donors --folds results/demo/folds/donors"
        " --kernel weighted_degree:degree=6 --solver csvc:C=1 --site 31 -o results/demo/importance/donors"
    )


class DiscoverRequest(DatasetModel):
    """The motifs that a method learns from a data set."""

    known: str | None = option("known motifs to compare with: JASPAR, MEME or TRANSFAC format", metavar="FILE")
    output: str = option("output folder", text(), short="-o")
    rules = all_of(study_gives(*INNER, "known", required=("kernel", "solver")))
    EXAMPLE = (
        "seqkern discover results/peaks/datasets/peaks --kernel"
        " gapped_kmer:l=10,k=6,d=3,estimator=truncated,reverse_complement=true --solver csvc:C=1 --known motifs.meme"
        " -o motifs"
    )
    DESCRIPTION = """\
Trains the method on all sequences, and finds motifs in those of the positive class, as seqkern motifs does. Writes
model.seqkern, motifs.meme, motifs.tsv, and motifs.json (how it was trained)."""


class EffectsRequest(DatasetModel):
    """Effects of variants on held-out chromosomes."""

    folds: str = option("folder that seqkern folds wrote; folds of whole chromosomes", text())
    file: IfGiven = option("variants: VCF, plain or compressed, or BCF", long="--variants", metavar="VCF")
    genome: IfGiven = option("their genome, plain or compressed by bgzip", metavar="FASTA")
    truth: str | None = option(
        "field of INFO with the known effect of each allele: a number, or a flag", metavar="FIELD"
    )
    threshold: float = option("true are known effects above ±X (default: 0)", real(default=0.0), metavar="X")
    output: str = option("output folder", text(), short="-o")
    rules = all_of(study_gives(*INNER, "truth", "threshold", required=("kernel", "solver", "file", "genome")))
    EXAMPLE = (
        "seqkern effects results/peaks/datasets/peaks --folds results/peaks/folds/peaks --kernel"
        " gapped_kmer:l=10,k=6,d=3,estimator=truncated,reverse_complement=true --solver csvc:C=1"
        " --variants variants.vcf --genome genome.fa --truth EFFECT -o effects"
    )
    DESCRIPTION = """\
For each fold, trains the method on the training set, and scores the variants on the chromosomes that the fold holds
out, as seqkern variants does. So no variant is scored by a model that has seen the sequences around it. Writes
effects.tsv (all variants) and effects.json (the scores of the ranking by |delta|, with those of two trivial ones)."""


class ReportRequest(SpreadsheetSafe):
    """The report of a study."""

    results: str = argument("results folder of a study, such as results/demo")
    study: str | None = option(
        "the study's configuration: a file or JSON (default: config.yaml in the results folder or its report/)"
    )
    output: str | None = option("output folder (default: report/ in the results folder)", short="-o")
    EXAMPLE = "seqkern report results/demo -o results/demo/report"


class DemoRequest(Request):
    """A demo in a new folder."""

    folder: str = argument(
        "new or empty folder, or that of a stopped demo (default: seqkern-demo)",
        text(default="seqkern-demo"),
        nargs="?",
    )
    cores: int | str = option("cores for Snakemake (default: all)", integer(default="all", low=1, words=("all",)))
    EXAMPLE = "seqkern demo demo"


class SitesRequest(Request):
    """Splice sites or codons with decoys."""

    genome: str = argument("FASTA, plain or compressed; or GenBank or EMBL")
    annotation: str | None = argument(
        "GTF, GFF3, GenBank or EMBL, plain or compressed (default: the features of a genome in GenBank or EMBL)",
        nargs="?",
    )
    output: str = option("output file, a table of sites", text(), short="-o", metavar="FILE", endings=TABLES)
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
        "bases at the sites, such as GT,GC; any keeps all sites (default: GT, AG, ATG, or TAA,TAG,TGA); other sites "
        "are left out and counted",
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
    table: str | None = option("write how well the background matches", metavar="FILE", endings=TABLES)
    plot: str | None = option(
        "draw histograms of peaks and background: .svg, .png or .pdf", metavar="FILE", endings=PICTURES
    )


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
        "one or more study folders, such as results/demo; or folders written by seqkern evaluate, one for each method "
        "on the same folds",
        nargs="+",
    )
    dataset: str | None = option("compare on this data set only")
    task: str | None = option("compare on this task only (such as a family), sample by sample")
    metric: str | None = option(
        "metric to compare (default: AUC, on one task also accuracy; several classes on one task: accuracy, since "
        "macro AUC has no test; regression: RMSE over tasks and in the 5x2cv test, else absolute error; residues: "
        "each chain's accuracy, the only metric on one task)"
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
