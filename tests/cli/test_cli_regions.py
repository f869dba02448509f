"""BED files on the command line: train, cv, predict, gram, background and studies."""

import json
import re

import pytest
from small_genome import write_genome

from seqkern.cli.main import main
from seqkern.core.tsv import read_tsv
from seqkern.methods.loading import load_model
from seqkern.sequences.fasta import read_fasta

METHOD = ["--kernel", "spectrum:k=6,reverse_complement=true", "--solver", "csvc:C=1", "--threads", "1"]
GENOME = ["--genome", "g.fa", "--width", "60"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_genome(tmp_path_factory.mktemp("cli_genome"))


@pytest.fixture(autouse=True)
def inside(folder, monkeypatch):
    monkeypatch.chdir(folder)


def fails(words, capsys, code=1):
    assert main(words) == code
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    return said[0]


def test_a_model_of_peaks_equals_that_of_their_sequences(capsys):
    assert main(["train", "peaks.narrowPeak", "far.bed", *GENOME, *METHOD, "-o", "m"]) == 0
    model = load_model("m")
    assert model.record["genome"]["width"] == 60
    assert main(["predict", "m", "peaks.narrowPeak", "--genome", "g.fa", "-o", "p.tsv"]) == 0
    assert main(["background", "peaks.narrowPeak", *GENOME, "--shuffle", "60", "-o", "same.fa"]) == 0
    X = read_fasta("same.fa", "dna")
    assert set(X.lengths.tolist()) == {60}
    assert main(["predict", "m", "same.fa", "-o", "q.tsv"]) == 0
    rows, same = read_tsv("p.tsv"), read_tsv("q.tsv")
    assert [row["decision"] for row in rows] == [row["decision"] for row in same]
    assert [f"{row['id']}_shuffled" for row in rows] == [row["id"] for row in same]
    assert main(["gram", "peaks.narrowPeak", "--against", "same.fa", *GENOME, *METHOD[:2], "-o", "k.npy"]) == 0
    assert main(["explain", "m", "far.bed", "--genome", "g.fa", "-o", "explained"]) == 0
    assert len(read_tsv("explained/decisions.tsv")) == len(rows)


def test_whole_chromosomes_are_held_out(capsys):
    assert main(["cv", "peaks.narrowPeak", "far.bed", *GENOME, *METHOD, "-o", "cv"]) == 0
    out, err = capsys.readouterr()
    assert "4 folds of whole chromosomes" in out
    assert "folds hold out whole chromosomes (4)" in err
    rows = read_tsv("cv/decisions.tsv")
    folds = {}
    for row in rows:
        folds.setdefault(row["split"] if "split" in row else row["fold"], set()).add(row["id"].partition(":")[0])
    assert sorted(map(sorted, folds.values())) == [["chr1"], ["chr2"], ["chr3"], ["chr4"]]


def test_of_two_chromosomes_overlapping_regions_stay_together(folder, capsys):
    lines = [line for line in (folder / "peaks.narrowPeak").read_text().splitlines() if line < "chr3"]
    near = [line.split("\t") for line in lines[:4]]
    near = ["\t".join([name, str(int(start) + 40), str(int(stop) + 40), *more]) for name, start, stop, *more in near]
    (folder / "two.bed").write_text("\n".join([*lines, *lines[:4], *near]) + "\n")
    assert main(["cv", "two.bed", "far.bed", *GENOME, *METHOD, "--folds", "3"]) == 0
    err = capsys.readouterr().err
    merged = f"4 of {len(lines) + 8} regions merged with a stronger one that overlaps them by more than half, leaving"
    assert f"{merged} {len(lines) + 4}" in err
    assert "8 regions that overlap another one" in err
    assert "fewer than 3 chromosomes have every class, so folds divide chromosomes: 8 regions overlap another" in err


def test_background_in_one_go_is_that_of_the_verb(folder, capsys):
    words = [
        "background",
        "peaks.narrowPeak",
        *GENOME,
        "--seed",
        "7",
        "-o",
        "b.bed",
        "--table",
        "t.tsv",
        "--plot",
        "t.svg",
    ]
    assert main(words) == 0
    table = capsys.readouterr().out
    assert "GC content        peaks" in table
    assert [row["set"] for row in read_tsv("t.tsv")] == ["peaks", "background"] * 3
    assert (folder / "t.svg").read_text().startswith("<?xml")
    assert main(["train", "peaks.narrowPeak", "b.bed", *GENOME, *METHOD, "-o", "one"]) == 0
    assert main(["train", "peaks.narrowPeak", "--background", *GENOME, *METHOD, "--seed", "7", "-o", "two"]) == 0
    assert "background regions drawn; KS distances: length 0.0000" in capsys.readouterr().err
    one, two = load_model("one"), load_model("two")
    assert one.support.strings() == two.support.strings()
    assert two.record["genome"]["background"]["seed"] == 7


def test_a_study_holds_out_chromosomes(capsys):
    entry = {"fasta": "peaks.narrowPeak", "genome": "g.fa", "width": 60, "background": 1}
    assert main(["datasets", "--entry", json.dumps(entry), "--name", "peaks", "-o", "data"]) == 0
    assert main(["folds", "data", "-o", "folds"]) == 0
    out, err = capsys.readouterr()
    assert "4 splits of 1 task" in out
    assert "folds hold out whole chromosomes (4)" in err
    rows = read_tsv("data/units.tsv")
    assert {row["all"] for row in rows} == {"positive", "negative"}
    assert rows[0]["group"] == rows[0]["chromosome"] == "chr1"
    assert rows[0]["id"] == f"chr1:{rows[0]['position']}-{int(rows[0]['position']) + 59}"
    given = {"train": ["chr1", "chr2"], "test": ["chr3"]}
    assert main(["folds", "data", "--method", "locus", "--options", json.dumps(given), "-o", "given"]) == 0
    capsys.readouterr()


MISTAKES = {
    "train peaks.narrowPeak far.bed -o m": "peaks.narrowPeak: holds regions, .*; add --genome FASTA",
    "predict m far.bed": "far.bed: holds regions, .*; add --genome FASTA",
    "train peaks.narrowPeak --genome g.fa -o m": "no labels given",
    "train peaks.narrowPeak far.bed --background --genome g.fa -o m": "a background is drawn for one file",
    "train peaks.narrowPeak far.bed --width 60 -o m": "--width needs --genome; add",
    "train g.fa g2.fa --genome g.fa -o m": "g.fa: holds sequences, which need no genome; give BED files",
    "train peaks.narrowPeak far.bed --genome far.bed -o m": "far.bed: is not FASTA",
    "train g.fa --sites far.bed --window=-5:+5 -o m": "far.bed: is a BED file, not a table of sites; .*--genome FASTA",
    "train far.txt far2.txt -o m": "far.txt: is not FASTA: .*; to read it as BED, add --genome FASTA",
    "background peaks.narrowPeak -o b": "background regions come from a genome; add --genome FASTA, or --shuffle 2",
    "background peaks.narrowPeak --genome g.fa --match gcc -o b": "match='gcc' is not possible",
    "background peaks.narrowPeak --genome g.fa --factor 0 -o b": "factor 0 is not",
    "background peaks.narrowPeak --genome g.fa --shuffle 0 -o b": "shuffle",
    "background peaks.narrowPeak --shuffle 2 -o b": "peaks.narrowPeak: holds regions",
    "background peaks.narrowPeak --genome g.fa --shuffle 2 --plot x.svg -o b": "--plot does not work with --shuffle",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_mistakes_take_one_line(words, folder, capsys):
    if not (folder / "m").exists():
        main(["train", "peaks.narrowPeak", "far.bed", *GENOME, *METHOD, "-o", "m"])
    for copy, name in (("far.txt", "far.bed"), ("far2.txt", "far.bed"), ("g2.fa", "g.fa")):
        (folder / copy).write_text((folder / name).read_text())
    capsys.readouterr()
    said = fails(words.split(), capsys, code=2 if "--shuffle 0" in words else 1)
    assert re.search(MISTAKES[words], said)
    assert not (folder / "b").exists()


def test_names_without_an_ending_are_read_with_a_genome(folder, capsys):
    for copy, name in (("far.txt", "far.bed"), ("far2.txt", "far.bed"), ("g2.fa", "g.fa")):
        (folder / copy).write_text((folder / name).read_text())
    assert main(["train", "peaks.narrowPeak", "far.txt", *GENOME, *METHOD, "-o", "n"]) == 0
    assert load_model("n").record["genome"]["width"] == 60
