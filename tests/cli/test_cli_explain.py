"""``seqkern explain``: from a model file and FASTA to a folder of tables, pictures and a page."""

import csv
import random

import pytest
from test_cli_predict import TRAIN, fails, records, write

from seqkern.cli.main import main
from seqkern.methods.loading import load_model
from seqkern.sequences.fasta import read_fasta


@pytest.fixture
def files(tmp_path):
    return [write(tmp_path / f"{name}.fa", *records(name, 30)) for name in ("pos", "neg")]


@pytest.fixture
def new(tmp_path):
    return write(tmp_path / "new.fa", *records("pos", 12, seed=1), *records("neg", 12, seed=1))


@pytest.fixture
def model(tmp_path, files, capsys):
    path = str(tmp_path / "m.seqkern")
    assert main(["train", *files, *TRAIN, "-o", path]) == 0
    capsys.readouterr()
    return path


def read_table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_a_folder_is_written_and_the_top_words_are_printed(tmp_path, model, new, capsys):
    out = tmp_path / "deep" / "out"
    assert main(["explain", model, new, "-o", str(out), "--top", "3", "--plots", "2"]) == 0
    printed, err = capsys.readouterr()
    assert err == ""
    lines = printed.splitlines()
    assert lines[0] == str(out / "index.html")
    table = read_table(out / "words.tsv")
    assert lines[1] == "  weights above zero support pos, below zero neg"
    assert lines[2].split() == ["k-mer", "weight", "occurrences"]
    assert [line.split()[0] for line in lines[3:]] == [row["word"] for row in table[:3]]
    weights = [abs(float(row["weight"])) for row in table]
    assert weights == sorted(weights, reverse=True)
    assert sorted(path.name for path in out.glob("profile-*.svg")) == ["profile-0001.svg", "profile-0002.svg"]


def test_contributions_in_the_file_sum_to_the_decisions_of_predict(tmp_path, model, new, capsys):
    out, predictions = tmp_path / "out", tmp_path / "p.tsv"
    assert main(["explain", model, new, "-o", str(out)]) == 0
    assert main(["predict", model, new, "-o", str(predictions)]) == 0
    sums = {}
    for row in read_table(out / "letters.tsv"):
        sums[row["id"]] = sums.get(row["id"], 0.0) + float(row["contribution"])
    decisions = read_table(out / "decisions.tsv")
    assert [row["id"] for row in decisions] == read_fasta(new).ids
    exact = load_model(model).decision(read_fasta(new)).tolist()
    for row, value, told in zip(decisions, exact, read_table(predictions), strict=True):
        assert float(row["decision"]) == value
        assert abs(sums[row["id"]] - (value - float(row["bias"]))) <= 1e-9
        assert row["predicted"] == told["predicted"]


def test_reading_follows_the_policies(tmp_path, model, new, capsys):
    with open(new, "a") as file:
        file.write(">odd\nACGTNNACGT\n")
    assert "'N'" in fails(capsys, "explain", model, new, "-o", str(tmp_path / "out"), "--unknown", "error")
    assert not (tmp_path / "out").exists()
    assert main(["explain", model, new, "-o", str(tmp_path / "out")]) == 0
    assert "2 letters outside the alphabet (N: 2) are masked" in capsys.readouterr().err
    rows = [row for row in read_table(tmp_path / "out" / "letters.tsv") if row["id"] == "odd"]
    assert "".join(row["letter"] for row in rows) == "ACGT**ACGT"
    assert [float(row["contribution"]) for row in rows[4:6]] == [0.0, 0.0]


def test_several_classes_need_a_pair(tmp_path, new, capsys):
    texts = [write(tmp_path / f"{name}.fa", *records(name, 20)) for name in ("pos", "neg", "third")]
    path, out = str(tmp_path / "m.seqkern"), str(tmp_path / "out")
    assert main(["train", *texts, "--kernel", "spectrum:k=3", "--solver", "csvc:C=1", "-o", path]) == 0
    classes = load_model(path).classes
    err = fails(capsys, "explain", path, new, "-o", out)
    assert f"with --pair, such as {classes[0]}:{classes[1]}" in err
    assert path in err
    assert main(["explain", path, new, "-o", out, "--pair", f"{classes[2]}:{classes[0]}"]) == 0
    assert {row["predicted"] for row in read_table(f"{out}/decisions.tsv")} <= {classes[0], classes[2]}


def test_a_kernel_without_letters_is_one_line(tmp_path, files, new, capsys):
    path = str(tmp_path / "m.seqkern")
    kernel = "pairwise:vector_kernel=rbf,base=(spectrum:k=2)"
    assert main(["train", *files, "--kernel", kernel, "--solver", "csvc:C=1", "-o", path]) == 0
    err = fails(capsys, "explain", path, new, "-o", str(tmp_path / "out"))
    assert "residue by residue" in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", [["--top", "-1"], ["--plots", "x"], ["--threads", "0"]])
def test_numbers_that_are_none_are_wrong_usage(tmp_path, model, new, option, capsys):
    assert main(["explain", model, new, "-o", str(tmp_path / "out"), *option]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_no_plots_and_no_words_are_possible(tmp_path, model, new, capsys):
    out = tmp_path / "out"
    assert main(["explain", model, new, "-o", str(out), "--plots", "0", "--top", "0"]) == 0
    assert capsys.readouterr().out == f"{out / 'index.html'}\n"
    assert not list(out.glob("profile-*.svg"))


def test_a_file_in_the_place_of_the_folder_is_one_line(tmp_path, model, new, capsys):
    (tmp_path / "out").write_text("mine")
    assert "out: is a file" in fails(capsys, "explain", model, new, "-o", str(tmp_path / "out"))
    assert (tmp_path / "out").read_text() == "mine"


def test_missing_and_damaged_models_are_one_line(tmp_path, new, capsys):
    assert "no such file" in fails(capsys, "explain", str(tmp_path / "none"), new, "-o", str(tmp_path / "out"))
    assert "is FASTA, not a model; the model comes" in fails(capsys, "explain", new, new, "-o", str(tmp_path / "out"))


GENOME = 600
WINDOWS = ["--kernel", "weighted_degree:degree=3", "--solver", "csvc:C=1", "--window", "-6:+9"]


@pytest.fixture
def placed(tmp_path, monkeypatch, capsys):
    """Return the genome and the ids of windows around sites; the model and the table are files."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(2)
    genome = {name: "".join(rng.choices("ACGT", k=GENOME)) for name in ("chr9", "chr10")}
    write(tmp_path / "g.fa", *(f">{name}\n{string}\n" for name, string in genome.items()))
    sites = [(name, p, "+-"[p % 2], "01"[p % 3 > 0]) for name in genome for p in range(30, 500, 11)]
    rows = ["\t".join(map(str, site)) + "\n" for site in sites]
    write(tmp_path / "sites.tsv", "record\tposition\tstrand\tlabel\n", *rows)
    assert main(["train", "g.fa", "--sites", "sites.tsv", *WINDOWS, "-o", "m"]) == 0
    capsys.readouterr()
    return genome, [f"{name}:{position}:{strand}" for name, position, strand, _ in sites]


def test_windows_around_sites_have_places_on_the_genome(placed, tmp_path):
    genome, ids = placed
    assert main(["explain", "m", "g.fa", "--sites", "sites.tsv", "-o", "out", "--contributions", "c.bedgraph"]) == 0
    complement = str.maketrans("ACGT", "TGCA")
    sums = {}
    strands = {}
    for row in read_table(tmp_path / "out" / "decisions.tsv"):
        chromosome, position, strand = row["id"].split(":")
        before, after = (6, 9) if strand == "+" else (9, 6)
        assert (row["chromosome"], row["strand"]) == (chromosome, strand)
        assert (int(row["start"]), int(row["end"])) == (int(position) - before, int(position) + after)
        strands[row["id"]] = strand
    assert list(strands) == ids
    for row in read_table(tmp_path / "out" / "letters.tsv"):
        base = genome[row["chromosome"]][int(row["genome_position"]) - 1]
        assert row["letter"] == (base if strands[row["id"]] == "+" else base.translate(complement))
        sums.setdefault((row["chromosome"], int(row["genome_position"])), []).append(float(row["contribution"]))
    lines = [line.split("\t") for line in (tmp_path / "c.bedgraph").read_text().splitlines()]
    assert [(line[0], int(line[2])) for line in lines] == sorted(sums)
    for chromosome, _, end, value in lines:
        own = sums[chromosome, int(end)]
        assert float(value) == pytest.approx(sum(own) / len(own), rel=1e-9, abs=1e-12)


def test_contributions_as_bigwig_need_the_lengths_of_the_chromosomes(placed, tmp_path, capsys):
    big_wig = pytest.importorskip("pyBigWig")
    genome, _ = placed
    assert main(["explain", "m", "g.fa", "--sites", "sites.tsv", "-o", "out", "--contributions", "c.bw"]) == 0
    windows = [f">peak::{name}:{i}-{i + 16}\n{genome[name][i : i + 16]}\n" for name in genome for i in (20, 28, 100)]
    write(tmp_path / "w.fa", *windows)
    capsys.readouterr()
    assert main(["explain", "m", "w.fa", "-o", "out2", "--contributions", "w.bw"]) == 1
    assert "add --genome FASTA" in capsys.readouterr().err
    assert main(["explain", "m", "w.fa", "-o", "out2", "--contributions", "w.bw", "--genome", "g.fa"]) == 0
    for name in ("c.bw", "w.bw"):
        with big_wig.open(str(tmp_path / name)) as file:
            assert file.chroms() == dict.fromkeys(sorted(genome), GENOME)
    with big_wig.open(str(tmp_path / "w.bw")) as file:
        assert [start for start, _, _ in file.intervals("chr9")] == [*range(20, 44), *range(100, 116)]


def test_contributions_of_sequences_without_a_place(placed, tmp_path, capsys):
    genome, _ = placed
    write(tmp_path / "w.fa", f">w1\n{genome['chr9'][:16]}\n")
    assert main(["explain", "m", "w.fa", "-o", "out", "--contributions", "c.bedgraph"]) == 1
    assert "w.fa: record 'w1': has no place on a genome in its id; write ids such as" in capsys.readouterr().err
    assert not list(tmp_path.glob("out/*")) + list(tmp_path.glob("c.*"))
    assert main(["explain", "m", "w.fa", "-o", "out", "--contributions", "c.txt"]) == 1
    assert "is neither bigWig nor bedGraph" in capsys.readouterr().err
