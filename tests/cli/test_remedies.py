"""Remedies of messages: what they name exists, and whoever follows them gets on."""

import contextlib
import io
import json
import shlex
from typing import NamedTuple

import numpy as np
import pytest

from seqkern.cli.main import main


def fasta(*names, length=30, letters="ACGT", seed=0):
    """Return FASTA records with random residues; even ones share a motif."""
    rng = np.random.default_rng(seed)
    texts = []
    for i, name in enumerate(names):
        residues = "".join(rng.choice(list(letters), length))
        texts.append(f">{name}\n{residues[: length - 5]}{letters[:1] * 5 if i % 2 else residues[-5:]}\n")
    return "".join(texts)


def ids(prefix, n):
    return [f"{prefix}{i}" for i in range(n)]


FILES = {
    "pos.fa": fasta(*ids("p", 10), seed=1),
    "neg.fa": fasta(*ids("n", 10), seed=2),
    "third.fa": fasta(*ids("t", 10), seed=3),
    "short.fa": ">s\nAC\n" + fasta(*ids("s", 9), seed=4),
    "twice.fa": fasta("a", "a", *ids("b", 8), seed=5),
    "empty.fa": ">e\n\n" + fasta(*ids("f", 9), seed=6),
    "odd.fa": ">o\nACGTACGTEEACGT\n" + fasta(*ids("g", 9), seed=7),
    "gaps.fa": ">x\nACGT--ACGTACGTACGT\n" + fasta(*ids("h", 9), seed=8),
    "few.fa": fasta(*ids("p", 4), seed=1),
    "few2.fa": fasta(*ids("n", 4), seed=2),
    "words.fa": "".join(f">r{i} {'01'[i % 2]}\n{'ACGT' * 3}{'AC'[i % 2] * i}\n" for i in range(12)),
    "long.fa": fasta(*ids("l", 10), length=40, seed=9),
    "protein.fa": fasta(*ids("q", 10), letters="ACDEFGHIKLMNPQRSTVWY", seed=10),
    "headers.fa": "".join(fasta(f"{name} label={'01'[i % 2]}", seed=i) for i, name in enumerate(ids("r", 12))),
    "kindly.fa": "".join(fasta(f"{name} kind={'01'[i % 2]}", seed=i) for i, name in enumerate(ids("r", 12))),
    "renamed.fa": "".join(fasta(f"{name} label={'01'[i % 2]}", seed=20 + i) for i, name in enumerate(ids("w", 12))),
    "pairs.tsv": "id\ta1\ta2\tlabel\n"
    + "".join(f"r{i}\tACGT{'AC'[i % 2] * 4}\tGATTACA\t{'01'[i % 2]}\n" for i in range(24)),
    "labels.tsv": "id\tlabel\n" + "".join(f"r{i}\t{'01'[i % 2]}\n" for i in range(12)),
    "numbers.tsv": "id\tlabel\n" + "".join(f"r{i}\t{i % 5 + i / 8}\n" for i in range(12)),
    "kinds.tsv": "id\tkind\n" + "".join(f"r{i}\t{'01'[i % 2]}\n" for i in range(12)),
    "genes.tsv": "id\tg1\tg2\n" + "".join(f"r{i}\t{i % 3}\t{i % 5}\n" for i in range(12)),
    "genome.fa": fasta("chr1", "chr2", length=400, seed=11),
    "sites.tsv": "record\tposition\tstrand\tlabel\n"
    + "".join(f"chr{1 + i % 2}\t{60 + 20 * i}\t+\t{i % 3 == 0:d}\n" for i in range(14)),
    "peaks.bed": "".join(f"chr1\t{20 + 60 * i}\t{50 + 60 * i}\n" for i in range(6)),
    "others.bed": "".join(f"chr2\t{20 + 60 * i}\t{50 + 60 * i}\n" for i in range(6)),
    "vcf.vcf": "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\nchr1\t100\t.\t"
    + "{}\tGATTACA\t.\t.\t.\n".format(fasta("chr1", "chr2", length=400, seed=11).split("\n")[1][99]),
}
MADE = {
    "set": """datasets --name set -o set --entry '{"fasta": ["pos.fa", "neg.fa"]}'""",
    "m": "train pos.fa neg.fa --kernel spectrum:k=2 --solver csvc:C=1 -o m",
    "long": "train pos.fa neg.fa --kernel spectrum:k=4 --solver csvc:C=1 -o long",
    "sites": "train genome.fa --sites sites.tsv --window=-5:+5 --kernel weighted_degree --solver csvc:C=1 -o sites",
    "three": "train pos.fa neg.fa third.fa --kernel spectrum:k=2 --solver pairwise_voting:binary=csvc -o three",
    "genes": "train genes.tsv --labels labels.tsv --kernel linear --solver csvc:C=1 -o genes",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("remedies")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    with contextlib.chdir(folder):
        for command in MADE.values():
            assert call(command) == (0, ""), command
    return folder


def call(command):
    """Run a command; return its exit code and the error that it printed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(
            [*shlex.split(command), *(["--threads", "1"] if command.startswith(("train", "cv", "gram")) else [])]
        )
    return code, "" if code == 0 else err.getvalue().strip().splitlines()[-1]


class Case(NamedTuple):
    bad: str
    remedy: str
    good: str


T = "train pos.fa neg.fa -o x"
K = "--kernel spectrum:k=2"
S = f"{K} --solver csvc"


def entry(**keys):
    """Return the command that makes a data set of an entry with these keys."""
    return f"datasets --name d -o d --entry {shlex.quote(json.dumps(keys))}"


CASES = [
    # names and parameters
    Case(f"{T} --kernel spektrum:k=2", "did you mean 'spectrum'", f"{T} {S}"),
    Case(f"{T} --kernel spectrum:kk=2", "did you mean 'k'", f"{T} {S}"),
    Case(f"{T} {K} --solver svc", "choose from: adatron, best_basis, binary_tree, csvc", f"{T} {S}"),
    Case("kernels spektrum", "did you mean 'spectrum'", "kernels spectrum"),
    Case("solvers svm", ", csvc, ", "solvers csvc"),
    Case(f"{T} --kernel rbf --solver csvc", "seqkern kernels lists", "kernels"),
    Case(
        f"{T} --kernel local_alignment --solver linear_svc",
        "such as csvc",
        f"{T} --kernel gapped_kmer:l=6,k=4 --solver csvc",
    ),
    Case(f"{T} --kernel local_alignment --solver linear_svc", " spectrum,", f"{T} {K} --solver linear_svc"),
    Case(f"{T} {K} --solver csvc:C=0.1..10", "--draws N", f"{T} {K} --solver csvc:C=0.1..10 --draws 2"),
    Case(f"{T} {K} --time 5m", "remove --time", f"{T} {S}"),
    Case(f"{T} {S} --layers structure", "remove --layers", f"{T} {S}"),
    Case(
        f"{T} {S} --format lsgkm",
        "choose gapped_kmer",
        f"{T} --kernel gapped_kmer:l=6,k=4 --solver csvc --format lsgkm",
    ),
    # sequences
    Case(f"train twice.fa neg.fa -o x {S}", "--ids number", f"train twice.fa neg.fa -o x --ids number {S}"),
    Case(f"train twice.fa neg.fa -o x {S}", "--ids suffix", f"train twice.fa neg.fa -o x --ids suffix {S}"),
    Case(f"train empty.fa neg.fa -o x {S}", "--empty skip", f"train empty.fa neg.fa -o x --empty skip {S}"),
    Case(
        f"train odd.fa neg.fa -o x --alphabet dna {S}",
        "--unknown mask_all or skip",
        f"train odd.fa neg.fa -o x --alphabet dna --unknown mask_all {S}",
    ),
    Case(
        f"train odd.fa neg.fa -o x --alphabet dna {S}",
        "--alphabet protein",
        f"train odd.fa neg.fa -o x --alphabet protein {S}",
    ),
    Case(f"train gaps.fa neg.fa -o x {S}", "--strip-gaps", f"train gaps.fa neg.fa -o x --strip-gaps {S}"),
    Case(
        "train short.fa neg.fa -o x --kernel spectrum:k=3 --solver csvc",
        "short=zero",
        "train short.fa neg.fa -o x --kernel spectrum:k=3,short=zero,zero_diagonal=zero --solver csvc",
    ),
    Case(
        "gram protein.fa --kernel spectrum:k=2,reverse_complement=true -o g5.npy",
        "use dna",
        "gram pos.fa --kernel spectrum:k=2,reverse_complement=true -o g5.npy",
    ),
    # labels
    Case(f"train headers.fa -o x {S}", "--labels (header", f"train headers.fa --labels header -o x {S}"),
    Case(f"train headers.fa -o x {S}", "first-word", f"train words.fa --labels first-word -o x {K} --solver csvc:C=1"),
    Case(
        f"train headers.fa -o x {S}", "choose solver one_class_svm", f"train headers.fa -o x {K} --solver one_class_svm"
    ),
    Case(
        "train genes.tsv --labels kinds.tsv -o x --kernel linear --solver csvc",
        "name it with --label-field",
        "train genes.tsv --labels kinds.tsv --label-field kind -o x --kernel linear --solver csvc",
    ),
    Case(
        f"train pos.fa neg.fa third.fa -o x {K} --solver pairwise_voting:binary=csvc --calibration platt",
        "--positive",
        f"train pos.fa neg.fa third.fa --positive pos -o x {S} --calibration platt",
    ),
    Case(f"cv pos.fa neg.fa {S} --folds 30", "at most 10 folds", f"cv pos.fa neg.fa {S} --folds 5"),
    Case(f"cv few.fa few2.fa {S}", "give more samples", f"cv pos.fa neg.fa {S} --folds 2"),
    Case(f"train few.fa few2.fa -o x --cv 2 {S}", "--cv 0", f"train few.fa few2.fa -o x --cv 0 {S}"),
    *[
        Case(f"{verb} pairs.tsv{labels} {S}", "--sequences", f"{verb} pairs.tsv --sequences a1,a2 {S}")
        for verb in ("train -o x", "cv --folds 2")
        for labels in ("", " --labels kinds.tsv --label-field kind")
    ],
    Case(
        f"train kindly.fa --labels header -o x {S}",
        "--label-field",
        f"train kindly.fa --labels header --label-field kind -o x {S}",
    ),
    Case(
        f"train pairs.tsv --sequences a1,a2 --label-field kind -o x {S}",
        "--label-field",
        f"train pairs.tsv --sequences a1,a2 --label-field label -o x {S}",
    ),
    Case(
        "audit headers.fa third.fa kinds.tsv -o audited",
        "--label-field",
        "audit headers.fa third.fa kinds.tsv --label-field kind -o audited",
    ),
    Case(
        f"train --view a=headers.fa --view b=renamed.fa --labels header -o x {S}",
        "--ids number",
        f"train --view a=headers.fa --view b=renamed.fa --ids number --labels header -o x {S}",
    ),
    # memory
    Case(f"{T} {S} --memory lots", "like 500MB or 2GB", f"{T} {S} --memory 2GB"),
    Case(f"{T} {S} --memory 5", "write 5GB", f"{T} {S} --memory 5GB"),
    Case(f"{T} {S} --memory 1kB", "raise it", f"{T} {S} --memory 1GB"),
    Case(f"{T} {S} --memory 1kB", "--solver linear_svc, with --kernel spectrum", f"{T} {K} --solver linear_svc"),
    Case(f"{T} {S} --memory 1kB", "--gram FILE.npy", f"{T} {S} --gram kept.npy"),
    Case(f"{T} {S} --memory 1kB", "gapped_kmer", f"{T} --kernel gapped_kmer:l=6,k=4 --solver linear_svc"),
    Case(
        f"train headers.fa --labels numbers.tsv -o x {K} --solver gp_regression --memory 1kB",
        "choose --solver gp_inducing with --gram FILE.npy",
        f"train headers.fa --labels numbers.tsv -o x {K} --solver gp_inducing --gram numbers.npy",
    ),
    Case(
        f"cv pos.fa neg.fa {S} --memory 1kB",
        "mismatch",
        "cv pos.fa neg.fa --kernel mismatch:k=3 --solver linear_svc --folds 2",
    ),
    Case(
        f"gram pos.fa {K} -o g3.npy --memory 100B",
        "to 6.42 kB or more",
        f"gram pos.fa {K} -o g3.npy --memory 6.5kB",
    ),
    # Gram matrices
    Case(f"gram pos.fa {K}", "add -o FILE.npy", f"gram pos.fa {K} -o g.npy"),
    Case(f"gram pos.fa {K}", "--explain-plan", f"gram pos.fa {K} --explain-plan"),
    Case(f"gram pos.fa {K}", "--spectrum", f"gram pos.fa {K} --spectrum"),
    Case(
        f"gram pos.fa {K} --spectrum --tile 1/2 -o g6.npy",
        "remove --tile",
        f"gram pos.fa {K} --spectrum -o g6.npy",
    ),
    Case(f"gram pos.fa {K} -o g.txt", ".npy", f"gram pos.fa {K} -o g4.npy"),
    # new sequences
    Case("predict pos.fa m", "give a model first: seqkern predict m pos.fa", "predict m pos.fa"),
    Case("predict m odd.fa", "--unknown mask_all", "predict m odd.fa --unknown mask_all"),
    Case("predict m empty.fa", "--empty skip", "predict m empty.fa --empty skip"),
    Case("predict m gaps.fa", "--strip-gaps", "predict m gaps.fa --strip-gaps"),
    Case("predict sites genome.fa", "--sites TABLE", "predict sites genome.fa --sites sites.tsv"),
    Case("explain sites genome.fa -o ex3", "--sites TABLE", "explain sites genome.fa --sites sites.tsv -o ex3"),
    Case("explain sites genome.fa -o ex4", "predict --scan LETTERS", "predict sites genome.fa --scan AG"),
    Case("predict m genome.fa --scan AG", "--window", "predict m genome.fa --scan AG --window=-15:+14"),
    Case("predict genes pos.fa", "a table with the same columns", "predict genes genes.tsv"),
    Case("explain three pos.fa -o ex", "--pair, such as neg:pos", "explain three pos.fa --pair neg:pos -o ex"),
    Case("motifs m --kmers -o mo", "train with longer k-mers", "motifs long --kmers -o mo"),
    Case("motifs m pos.fa --kmers -o mo", "remove pos.fa", "motifs long --kmers -o mo"),
    # genomes
    Case(
        f"train peaks.bed others.bed -o x {S}",
        "--genome FASTA",
        f"train peaks.bed others.bed --genome genome.fa -o x {S}",
    ),
    Case("background peaks.bed -o bg.fa", "--shuffle 2", "background pos.fa --shuffle 2 -o bg.fa"),
    Case("variants m vcf.vcf -o v.tsv", "--genome FASTA", "variants m vcf.vcf --genome genome.fa -o v.tsv"),
    Case(
        "variants sites vcf.vcf --genome genome.fa --window 30 -o v2.tsv",
        "remove --window",
        "variants sites vcf.vcf --genome genome.fa -o v2.tsv",
    ),
    # data sets: keys of the configuration
    Case(
        entry(fasta="headers.fa"),
        "add labels: {from: header}",
        entry(fasta="headers.fa", labels={"from": "header"}),
    ),
    Case(entry(fasta=["twice.fa", "neg.fa"]), "ids: number", entry(fasta=["twice.fa", "neg.fa"], ids="number")),
    Case(entry(fasta=["empty.fa", "neg.fa"]), "empty: skip", entry(fasta=["empty.fa", "neg.fa"], empty="skip")),
    Case(entry(fasta=["gaps.fa", "neg.fa"]), "gaps: strip", entry(fasta=["gaps.fa", "neg.fa"], gaps="strip")),
    Case("folds set --k 30 -o f", "at most 10 folds", "folds set --k 5 -o f"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.bad[:60])
def test_following_a_remedy(folder, case):
    with contextlib.chdir(folder):
        code, error = call(case.bad)
        assert code in (1, 2)
        remedy = error.partition("; ")[2]
        assert case.remedy in remedy
        assert call(case.good) == (0, "")
