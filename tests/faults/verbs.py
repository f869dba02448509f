"""The commands that the tests disturb: every verb that writes, on tiny inputs.

Each of `INPUTS` is run once, before the first command that names its output, in the folder that disturbed commands get
a copy of. A command's `prepare` is run in that copy, before what is disturbed.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass

SIMULATED = json.dumps({"simulate": {"kind": "donor", "n_positive": 12, "n_decoy": 16}})
CONFIG = """study: tiny
datasets:
  donors: {simulate: {kind: donor, n_positive: 12, n_decoy: 16}, folds: {method: stratified, k: 2}}
kernels: {spectrum2: {kernel: spectrum, k: 2}}
solvers: {csvc: {solver: csvc, C: [0.1, 1]}}
"""
VARIANTS = """##fileformat=VCFv4.2
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO
chr1\t120\tv1\tA\tC\t.\tPASS\tEFFECT=0.5
chr1\t150\tv2\tA\tG\t.\tPASS\tEFFECT=-0.5
chr2\t130\tv3\tA\tT\t.\tPASS\tEFFECT=0.1
"""
GENOME = "".join(f">{name}\n{'A' * 100}{'ACATATGACACTTAGACATTA' * 6}{'A' * 100}\n" for name in ("chr1", "chr2"))
TABLE_KERNEL = "gapped_kmer:l=4,k=3,d=1,estimator=truncated,reverse_complement=true"
FILES = {"study.yaml": CONFIG, "variants.vcf": VARIANTS, "genome.fa": GENOME}
PEAKS = json.dumps({"fasta": {"peak": "sim/peaks.narrowPeak"}, "genome": "sim/genome.fa", "width": 60, "background": 1})
CHROMOSOMES = json.dumps({"method": "leave-one-group-out"})
ALSO = "spectrum:k=3 --solver csvc:C=1"
RESIDUES = "--window 5 --kernel window --solver one_against_rest:binary=(csvc:C=1)"
SHORT = json.dumps({"simulate": {"kind": "donor", "n_positive": 12, "n_decoy": 16, "left": 3, "right": 6}})
SIMPLE = "--kernel weighted_degree:degree=1"
STUDY = "--folds tiny/folds/donors --kernel spectrum:k=2"

INPUTS = [
    "simulate donor --n-positive 12 --n-decoy 16 --seed 1 -o donors",
    f"datasets --name donors --entry {shlex.quote(SIMULATED)} --seed 1 -o tiny/datasets/donors",
    "folds tiny/datasets/donors --method stratified --k 2 --seed 1 -o tiny/folds/donors",
    f"train donors.fasta --labels donors.tsv --kernel {ALSO} -o model.seqkern",
    f"train donors.fasta --labels donors.tsv --kernel {TABLE_KERNEL} --solver csvc:C=1 -o tables.seqkern",
    f"evaluate tiny/datasets/donors {STUDY} --solver csvc:C=1 -o tiny/evaluate/donors/spectrum2/csvc",
    "baseline tiny/datasets/donors --folds tiny/folds/donors -o tiny/baseline/donors",
    "plan tiny/datasets/donors --folds tiny/folds/donors --study study.yaml -o plan.json",
    "gram donors.fasta --kernel spectrum:k=2 --ids number -o old.npy",
    "simulate peaks --n-chromosomes 3 --n-letters 6000 --n-peaks 12 --n-motifs 1 --n-variants 12 -o sim",
    f"datasets --name bound --entry {shlex.quote(PEAKS)} -o regions/data",
    f"folds regions/data --options {shlex.quote(CHROMOSOMES)} -o regions/folds",
    "simulate genes --n-chromosomes 1 --n-genes 4 --seed 1 -o genes",
    "simulate genes --n-chromosomes 1 --n-genes 8 --n-exons 2 --seed 1 -o many",
    f"grammar many.fasta many.gtf {SIMPLE} -o genes.seqkern",
    "simulate secondary_structure --n-chains 6 --mean-length 20 --seed 1 -o chains",
    f"train chains.fasta --states chains.states {RESIDUES} -o states.seqkern",
    "simulate donor --n-positive 12 --n-decoy 16 --left 3 --right 6 --seed 1 -o short",
    f"datasets --name short --entry {shlex.quote(SHORT)} --seed 1 -o windows/data",
    "folds windows/data --method stratified --k 2 --seed 1 -o windows/folds",
]


@dataclass(frozen=True)
class Command:
    """A command line of seqkern, without its first word."""

    line: str
    prepare: tuple[str, ...] = ()

    def words(self) -> list[str]:
        """Return the arguments."""
        return shlex.split(self.line)


def _share(number: int) -> str:
    methods = shlex.quote(json.dumps({"csvc": {"solver": {"solver": "csvc", "C": [0.1, 1]}}}))
    return f"evaluate tiny/datasets/donors {STUDY} --methods {methods} --inner-folds 2 --share {number}/2 -o shares"


COMMANDS = {
    "init": Command("init study"),
    "simulate": Command("simulate donor --n-positive 12 --n-decoy 16 --seed 2 -o new/donors"),
    "simulate-genome": Command(
        "simulate peaks --n-chromosomes 2 --n-letters 5000 --n-peaks 6 --n-motifs 1 --n-variants 6 -o new/peaks"
    ),
    "simulate-genes": Command("simulate genes --n-chromosomes 1 --n-genes 4 --seed 2 -o new/genes"),
    "simulate-chains": Command("simulate secondary_structure --n-chains 6 --mean-length 20 --seed 2 -o new/chains"),
    "sites": Command("sites genes.fasta genes.gtf --decoys 2 -o new/sites.tsv"),
    "datasets": Command(f"datasets --name donors --entry {shlex.quote(SIMULATED)} --seed 2 -o new/donors"),
    "folds": Command("folds tiny/datasets/donors --method stratified --k 3 --seed 2 -o new/folds"),
    "plan": Command("plan tiny/datasets/donors --folds tiny/folds/donors --study study.yaml -o new/plan.json"),
    "gram": Command("gram donors.fasta --kernel spectrum:k=3 --spectrum --cost cost.json -o gram.npy"),
    "gram-tile": Command("gram donors.fasta --kernel spectrum:k=3 --tile 1/2 -o gram.npy"),
    "gram-assemble": Command(
        "gram donors.fasta --kernel spectrum:k=3 -o gram.npy",
        ("gram donors.fasta --kernel spectrum:k=3 --tile 1/2 -o gram.npy",),
    ),
    "gram-extend": Command(
        "gram donors.fasta donors.fasta --ids number --kernel spectrum:k=2 --extend old.npy -o gram.npy"
    ),
    "baseline": Command("baseline tiny/datasets/donors --folds tiny/folds/donors -o new/baseline"),
    "evaluate": Command(f"evaluate tiny/datasets/donors {STUDY} --solver csvc:C=0.1 --inner-folds 2 -o new/csvc"),
    "evaluate-share": Command(_share(1)),
    "evaluate-gather": Command(
        f"evaluate tiny/datasets/donors {STUDY} --solver "
        + shlex.quote(json.dumps({"solver": "csvc", "C": [0.1, 1]}))
        + " --inner-folds 2 -o shares/csvc",
        (_share(1), _share(2)),
    ),
    "cv": Command(f"cv donors.fasta --labels donors.tsv --kernel {ALSO} --folds 2 -o cv"),
    "cv-search": Command(
        "cv donors.fasta --labels donors.tsv --kernel spectrum:k=2 --solver csvc --search --folds 2 -o cv"
    ),
    "importance": Command(
        "importance windows/data --folds windows/folds --kernel weighted_degree:degree=2 --solver csvc:C=1 "
        "-o new/importance"
    ),
    "discover": Command(f"discover tiny/datasets/donors --kernel {TABLE_KERNEL} --solver csvc:C=1 -o new/motifs"),
    "effects": Command(
        f"effects regions/data --folds regions/folds --kernel {TABLE_KERNEL} --solver csvc:C=1 --truth EFFECT "
        "--variants sim/variants.vcf --genome sim/genome.fa -o new/effects"
    ),
    "report": Command("report tiny -o new/report"),
    "train": Command(
        "train donors.fasta --labels donors.tsv --kernel spectrum:k=2 --solver csvc:C=1 -o new/model.seqkern"
    ),
    "train-search": Command(
        "train donors.fasta --labels donors.tsv --kernel spectrum:k=2 --solver csvc --search -o model.seqkern"
    ),
    "train-gram": Command(
        "train donors.fasta --labels donors.tsv --kernel spectrum:k=2 --solver csvc:C=1 --gram k.npy -o model.seqkern"
    ),
    "train-residues": Command(f"train chains.fasta --states chains.states {RESIDUES} -o model.seqkern"),
    "models": Command(
        "models pack several -o new/zoo.seqkern",
        ("train donors.fasta --labels donors.tsv --kernel spectrum:k=2 --solver csvc:C=1 -o several/a.seqkern",),
    ),
    "predict-residues": Command("predict states.seqkern chains.fasta -o states.tsv"),
    "predict": Command("predict model.seqkern donors.fasta -o new/predicted.tsv"),
    "predict-part": Command("predict model.seqkern donors.fasta --part 1/2 -o predicted.tsv"),
    "predict-gather": Command(
        "predict model.seqkern donors.fasta --gather -o predicted.tsv",
        tuple(f"predict model.seqkern donors.fasta --part {number}/2 -o predicted.tsv" for number in (1, 2)),
    ),
    "scan-bigwig": Command(
        "predict model.seqkern genome.fa --scan AG --window -30:+29 --format bigwig --strand + -o scan.bw"
    ),
    "scan": Command("predict model.seqkern genome.fa --scan AG --window -30:+29 -o scan.tsv"),
    "variants": Command("variants tables.seqkern variants.vcf --genome genome.fa -o scores.tsv"),
    "variants-region": Command(
        "variants tables.seqkern --genome genome.fa --region chr1:120-124 -o map.tsv --plot map.svg"
    ),
    "suggest": Command("suggest model.seqkern donors.fasta -n 5 -o next.tsv"),
    "explain": Command("explain model.seqkern donors.fasta --plots 1 -o explained"),
    "variants-gather": Command(
        "variants tables.seqkern variants.vcf --genome genome.fa --gather -o scores.vcf.gz",
        tuple(
            f"variants tables.seqkern variants.vcf --genome genome.fa --part {number}/2 -o scores.vcf.gz"
            for number in (1, 2)
        ),
    ),
    "motifs": Command(
        "motifs tables.seqkern donors.fasta --minimum 2 -o motifs.meme --plot motifs.html --table motifs.tsv"
    ),
    "page": Command("page tables.seqkern -o page.html"),
    "grammar": Command(f"grammar many.fasta many.gtf {SIMPLE} -o new/genes.seqkern"),
    "genes": Command("genes genes.seqkern many.fasta -o new/found.gtf"),
    "background": Command("background donors.fasta --shuffle 2 -o shuffled.fasta"),
    "background-genome": Command(
        "background sim/peaks.narrowPeak --genome sim/genome.fa --width 60 -o drawn.bed --table how.tsv --plot how.svg"
    ),
}
