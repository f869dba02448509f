"""The requests of ``seqkern train`` and ``seqkern cv``."""

from __future__ import annotations

from typing import Any

from seqkern.cli.options import IfGiven, Request, all_of, argument, excludes, only_with, option
from seqkern.cli.requests import (
    TABLES,
    GivenLabels,
    Layers,
    Memory,
    Overwrite,
    Postprocessing,
    Reading,
    Significance,
    SpreadsheetSafe,
    Threads,
    Tracks,
    TrainingRegions,
    Windows,
)
from seqkern.core.parameters import choice, flag, integer, text

FOLD_METHODS = (
    *("stratified", "grouped", "locus", "leave-one-out", "leave-one-group-out", "predefined"),
    *("position", "position-blocks", "mutations", "value"),
)
"""Fold methods as in `seqkern.methods.crossval.OUTER_METHODS`, listed here to keep ``--help`` fast."""
REDUCTIONS = ("HGI_EB", "HGI_E", "HG_EB", "H_EB", "H_E", "frishman_argos")
"""Names in `seqkern.formats.states`, listed here to keep ``--help`` fast."""


class Labels(GivenLabels, group="labels", everyday=("positive",)):
    """A verb that learns from labels."""

    unlabelled: str | None = option(
        "records without a label, beside one file for each class, for a solver that learns from them "
        "(label_propagation, transductive_svc); with --labels leave their labels empty instead",
        metavar="FILE",
    )
    positive: str | None = option(
        "positive class (default: by its name, such as active or binder, or else the first file)",
        metavar="CLASS",
    )


class States(Layers, group="states of residues, such as helix, strand and coil", everyday=("states",)):
    """A verb that learns the states of residues."""

    states: IfGiven = option(
        "state of each residue: FASTA with states in place of residues, matched by id; or residues and states "
        "together (a line >id, residues, states), possibly the file of sequences itself. Each residue is classified "
        "by the window around it (--window N, an odd number of residues; default: 15)",
        metavar="FILE",
    )
    reduction: str | None = option(
        "reduction of DSSP's eight states to three, named by the letters that become helix and strand: "
        + ", ".join(REDUCTIONS),
        metavar="NAME",
    )
    rules = all_of(only_with("states", "layers", "reduction"), excludes("states", "labels", "sites"))


class Search(Request, group="choice of hyperparameters", everyday=("search", "seed")):
    """A verb that chooses hyperparameters within the training set."""

    search: bool = option(
        "choose hyperparameters within the training set; by cross-validation, among the alternatives in --kernel and "
        "--solver, and the default grids for omitted parameters",
        flag(default=False),
    )
    time: str | None = option(
        "with --kernel auto: predicted CPU time for choosing, such as 10m or 2h (default: 2m for 5,000 sequences)",
        metavar="T",
    )
    draws: int | None = option(
        "search N random candidates instead of all; parameters may then be ranges, such as C=0.01..100",
        integer(default=None),
        metavar="N",
    )
    rule: str | None = option(
        "choose the best candidate, or the simplest within one standard error of it (default: best)",
        choice(default=None, choices=("best", "one_standard_error")),
    )
    metric: str | None = option(
        "metric to maximise (default: auc; several classes: macro_auc; regression: r2); for residue states accuracy "
        "is Q3, also available as q3 or q8; span, xi_alpha and radius_margin estimate the leave-one-out error of a "
        "C-SVM of two classes by one fit, without folds; evidence is the log marginal likelihood of gp_regression"
    )
    seed: int = option("seed of all folds (default: 1)", integer(default=1))
    allow_similar: bool = option(
        "allow similar sequences in different folds, which makes scores too good (default: kept together)",
        flag(default=False),
    )
    similar_by: str | None = option(
        "of samples with several sequences, those by which samples count as similar, separated by commas (default: "
        "all)",
        metavar="NAMES",
    )


def _inner_folds(long: str) -> Any:
    """Return the declaration of the number of inner folds."""
    return option(
        "folds of the inner cross-validation, which chooses (default: 5; of a named kernel above 12,000 samples 3)",
        integer(default=None),
        long=long,
        metavar="N",
    )


class OuterFolds(Request, group="outer folds, for an unbiased estimate of the accuracy"):
    """A verb that cross-validates the whole procedure."""

    fold_method: IfGiven = option(
        "how outer folds are made (default: grouped where samples belong together: groups, overlapping windows or "
        "residues of a chain; else stratified). Of variants of one parent: test positions, or blocks of them, that "
        "training does not vary; train on few mutations or low values, and test on more or higher ones",
        choice(default=None, choices=FOLD_METHODS),
    )
    parent: str | None = option(
        "FASTA file of the parent, for fold methods position, position-blocks and mutations (default: the consensus of "
        "the variants)",
        metavar="FILE",
    )
    repeats: int = option(
        "repeat the cross-validation on other folds (default: 1)", integer(default=1, low=1), metavar="N"
    )
    permutations: int | None = option(
        "test the score: repeat everything, also the search, on N permutations of the labels, in one process for each "
        "thread",
        integer(default=None, low=1),
        metavar="N",
    )


class MethodRequest(
    Labels, States, OuterFolds, Search, Postprocessing, Reading, Windows, TrainingRegions, Tracks, Memory, Threads
):
    """The samples, the kernel and the solver of a training."""

    inner_folds: int | None

    fasta: list[str] = argument(
        "two files (positives, negatives), one file for each class, or one file with --labels; one unlabelled file for "
        "a solver without labels (one_class_svm, kernel_pca); FASTA, or BED with --genome; or one table with "
        "--sequences; none with --view NAME=FASTA or --variants",
        nargs="*",
    )
    variants: IfGiven = option(
        "variants with measured effects, with --genome; in place of sequences: VCF with a field of INFO, or a table "
        "with chromosome, position, ref, alt and effect (--label-field). A sample is the difference of two windows of "
        "--width bases (default: 100), which --kernel compares (default: gapped_kmer:l=10,k=6,reverse_complement=true,"
        "normalize=false); gp_regression:mean=zero, the default solver, changes its sign with the alleles",
        metavar="FILE",
    )
    rules = all_of(excludes("variants", "labels", "sequences", "view", "background", "blacklist", "sites", "states"))
    kernel: str = option(
        "kernel, such as spectrum:k=3 (default: auto, chosen from a portfolio that suits the sequences); also as JSON; "
        "of alternatives, spectrum:k=3,4,6, the best is chosen (k=3+4 is a sum); seqkern kernels lists the kernels",
        text(default="auto"),
    )
    solver: IfGiven = option(
        "solver, such as csvc:C=1, or csvc:C=0.1|1|10 to choose from (default: a C-SVM, for numbers a Gaussian "
        "process); without its C its parameters are searched; seqkern solvers lists the solvers",
    )
    transform: list[str] = option(
        "transform of the features, such as pca:n_components=5, or of the kernel matrix, such as centre; repeatable",
        text(default=[]),
        repeated=True,
    )
    repair: str | None = option(
        "treatment of negative eigenvalues of the kernel matrix, after the transforms: none, clip, flip, shift or "
        "empirical_map"
    )
    gram: list[str] = option(
        "keep the Gram matrix on disk, for more samples than memory holds: the file is made, or used if it is of "
        "these samples and this kernel; several files for several matrices",
        text(default=[]),
        metavar="NPY",
        nargs="+",
    )


class Estimate(Request, group="outer folds, for an unbiased estimate of the accuracy", everyday=("cv",)):
    """A training that also cross-validates the whole procedure."""

    cv: int | None = option(
        "also cross-validate the whole procedure on K outer folds (default K: 5); the search is part of it, and the "
        "model stores the scores; seqkern cv does it without a model. Default with --kernel auto; --cv 0 leaves it out",
        integer(default=None),
        metavar="K",
        nargs="?",
        const=5,
    )


class HardNegatives(Request, group="hard negatives"):
    """A training that adds hard negatives."""

    hard_negatives: IfGiven = option(
        "negative or unlabelled sequences, such as a genome: the windows that the model decides highest, except the "
        "positives' own, are added as negatives, and the model is trained again",
        metavar="FASTA",
    )
    hard_number: int | None = option(
        "windows to add in each round (default: as many as positives)", integer(default=None, low=1), metavar="N"
    )
    hard_rounds: int | None = option(
        "rounds of search and training (default: 1)", integer(default=None, low=1), metavar="N"
    )
    rules = all_of(
        only_with("hard_negatives", "hard_number", "hard_rounds"),
        excludes("hard_negatives", "states", "gram", "format=lsgkm"),
    )


class TrainRequest(
    MethodRequest, Significance, Estimate, HardNegatives, everyday=("output", "kernel", "solver", "variants", "verbose")
):
    """A model trained on samples."""

    output: str = option(
        "output file for the model (default: model.seqkern)", text(default="model.seqkern"), short="-o", metavar="MODEL"
    )
    format: str = option(
        "model format; lsgkm: as gkmpredict reads it, for a C-SVM with a gapped k-mer kernel (default: seqkern)",
        choice(default="seqkern", choices=("seqkern", "lsgkm")),
    )
    features: str | None = option(
        "also write the selected features, best first, for a solver that selects features such as "
        "psvc:kernel=features; with weights if the decision is a weighted sum of them, on the solver's scale",
        metavar="FILE",
        endings=TABLES,
    )
    inner_folds: int | None = _inner_folds("--folds")
    verbose: bool = option(
        "also print every choice and score (default: 3 lines); seqkern models list MODEL prints them later",
        flag(default=False),
    )
    rules = all_of(only_with("features", "significance", add="--features FILE"), excludes("states", "format=lsgkm"))
    EXAMPLE = "seqkern train positive.fa negative.fa"
    MORE_EXAMPLES = (
        "seqkern train donors.fasta --labels donors.tsv --kernel spectrum:k=5 --solver psvc:epsilon=0.1 --search"
        " -o model.seqkern",
        "seqkern train proteins.fasta --labels proteins.tsv --label-field superfamily --positive s1"
        " --kernel smith_waterman --repair empirical_map --solver csvc -o homologs.seqkern",
        "seqkern train proteins.fasta --labels proteins.tsv --label-field superfamily --kernel spectrum:k=3"
        " --solver 'one_against_rest:binary=(csvc:C=1)' -o superfamilies.seqkern",
        "seqkern train chains.fasta --states chains.states --window 15 --kernel 'nystroem:base=window'"
        " --solver primal_svc --layers structure probabilities -o states.seqkern",
    )


class CvRequest(
    MethodRequest, Overwrite, SpreadsheetSafe, everyday=("output", "folds", "kernel", "solver", "variants")
):
    """The score of one method, fold by fold."""

    output: str | None = option(
        "output folder for the tables, as seqkern evaluate writes them, and the ROC curves; seqkern compare reads "
        "several such folders (KERNEL/SOLVER names the method)",
        short="-o",
        metavar="DIR",
    )
    folds: int = option("number of outer folds (default: 5)", integer(default=5, low=2), metavar="K")
    inner_folds: int | None = _inner_folds("--inner-folds")
    EXAMPLE = "seqkern cv positive.fa negative.fa"
    MORE_EXAMPLES = (
        "seqkern cv donors.fasta --labels donors.tsv --kernel spectrum:k=5 --solver csvc --search -o cv/spectrum/csvc",
        "seqkern cv peaks.fa background.fa --kernel gapped --solver csvc:C=1 --permutations 200",
        "seqkern cv proteins.fasta --labels proteins.tsv --label-field superfamily --positive s1"
        " --kernel smith_waterman --repair empirical_map --solver csvc:C=1 --repeats 5",
    )


class InitRequest(Labels, Reading, Windows, TrainingRegions):
    """A new study's folder."""

    folder: str = argument("a new or empty folder for the study")
    fasta: list[str] = argument(
        "its sequences, as for seqkern train: two files (positives, negatives), one file per class, or one file with "
        "--labels; FASTA, or BED with --genome (default: names to replace in the configuration)",
        text(default=[]),
        nargs="*",
    )
    demo: bool = option("use the demo's configuration, which needs no data", flag(default=False))
    profile: str | None = option(
        "also copy this profile of Snakemake, to edit", choice(default=None, choices=("slurm",))
    )
    rules = all_of(
        excludes("demo", "fasta"), only_with("fasta", "labels", "unlabelled", "sites", "genome", add="the FASTA files")
    )
    EXAMPLE = "seqkern init mystudy positive.fa negative.fa"
    MORE_EXAMPLES = (
        "seqkern init mystudy donors.fasta --labels donors.tsv",
        "seqkern init mystudy peaks.bed --genome genome.fa --background",
    )
    DESCRIPTION = """\
Writes a study into a new folder: its configuration, which refers to your files, a README, and a Snakefile that uses the
workflow of the installed seqkern. snakemake --cores all, run there, writes results/report/index.html."""
