"""``seqkern effects`` and ``seqkern discover``: a data set of peaks, its variants and its motifs."""

import csv
import json

import numpy as np
import pytest

from seqkern.cli.main import main

pytest.importorskip("pysam")

KERNEL = "gapped_kmer:l=8,k=5,d=3,estimator=truncated,reverse_complement=true"
SIMULATED = ["--n-chromosomes=3", "--n-letters=40000", "--n-peaks=90", "--n-motifs=1", "--n-variants=60"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small simulated genome, its data set, and folds by chromosome."""
    folder = tmp_path_factory.mktemp("effects")
    sim = folder / "sim"
    assert main(["simulate", "peaks", *SIMULATED, "-o", str(sim)]) == 0
    entry = {"fasta": {"peak": str(sim / "peaks.narrowPeak")}, "genome": str(sim / "genome.fa")}
    entry |= {"width": 120, "background": 1}
    assert main(["datasets", "--name", "peaks", "--entry", json.dumps(entry), "-o", str(folder / "data")]) == 0
    folds = json.dumps({"method": "leave-one-group-out"})
    assert main(["folds", str(folder / "data"), "--options", folds, "-o", str(folder / "folds")]) == 0
    return folder


def command(folder, *options, kernel=KERNEL, solver="csvc:C=1", vcf="sim/variants.vcf", folds="folds"):
    files = ["--variants", str(folder / vcf), "--genome", str(folder / "sim" / "genome.fa")]
    method = ["--folds", str(folder / folds), "--kernel", kernel, "--solver", solver, "--threads", "1"]
    return ["effects", str(folder / "data"), *method, *files, *options]


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def numbers(rows, column):
    return np.array([float(row[column]) for row in rows])


def naive_average_precision(true, scores):
    """Return the sum of precision times the rise of recall, over the distinct scores."""
    total = before = 0.0
    for limit in np.unique(scores)[::-1]:
        hits = true[scores >= limit]
        total += hits.mean() * (hits.sum() - before)
        before = hits.sum()
    return total / true.sum()


def test_a_model_of_the_other_chromosomes_gives_the_same_deltas(folder, tmp_path, capsys):
    assert main(command(folder, "--truth", "EFFECT", "-o", str(tmp_path))) == 0
    rows = rows_of(tmp_path / "effects.tsv")
    assert {row["chromosome"]: row["split"] for row in rows} == {f"chr{i}": f"chr{i}" for i in (1, 2, 3)}
    # the model of the first split, trained by another verb on the regions of the other chromosomes
    samples = rows_of(folder / "data" / "units.tsv")
    kept = [row for row in samples if row["chromosome"] != "chr1"]
    files = []
    for label in ("peak", "negative"):
        files.append(tmp_path / f"{label}.bed")
        lines = [
            f"{row['chromosome']}\t{int(row['position']) - 1}\t{int(row['position']) + 119}\n"
            for row in kept
            if row["all"] == label
        ]
        files[-1].write_text("".join(lines))
    genome = ["--genome", str(folder / "sim" / "genome.fa")]
    model = str(tmp_path / "model.seqkern")
    trained = ["train", *map(str, files), *genome, "--kernel", KERNEL, "--solver", "csvc:C=1", "-o", model]
    assert main(trained) == 0
    scores = tmp_path / "scores.tsv"
    assert main(["variants", model, str(folder / "sim" / "variants.vcf"), *genome, "-o", str(scores)]) == 0
    again = {row["id"]: row for row in rows_of(scores)}
    own = [row for row in rows if row["chromosome"] == "chr1"]
    assert len(own) > 10
    column = next(name for name in next(iter(again.values())) if name.endswith("delta"))
    expected = [float(again[row["id"]][column]) for row in own]
    np.testing.assert_allclose(numbers(own, "delta"), expected, rtol=1e-8, atol=1e-8)


def test_scores_are_those_of_the_table(folder, tmp_path, capsys):
    assert main(command(folder, "--truth", "EFFECT", "--threshold", "5.1", "-o", str(tmp_path))) == 0
    rows = rows_of(tmp_path / "effects.tsv")
    scores = json.loads((tmp_path / "effects.json").read_text())["scores"]
    true = np.abs(numbers(rows, "effect")) > 5.1
    assert 0 < scores["true"] == true.sum() < (numbers(rows, "effect") != 0).sum()
    assert scores["n"] == len(rows)
    np.testing.assert_array_equal(true, numbers(rows, "true") == 1)
    columns = {"model": "score", "composition": "composition_score", "distance": "distance"}
    for name, column in columns.items():
        values = numbers(rows, column) * (-1 if name == "distance" else 1)
        own = scores["rankings"][name]
        assert own["ap"] == pytest.approx(naive_average_precision(true, values), rel=1e-9)
        if name == "model":
            assert own["top"][0]["precision"] == pytest.approx(true[np.argsort(-values, kind="stable")][:10].mean())
    split = np.array([row["split"] for row in rows])
    delta = np.abs(numbers(rows, "delta"))
    for name in np.unique(split):
        rows_of_split = split == name
        expected = delta[rows_of_split] / np.median(delta[rows_of_split])
        np.testing.assert_allclose(numbers(rows, "score")[rows_of_split], expected, rtol=1e-6)
    assert scores["rankings"]["model"]["ap"] > scores["true"] / scores["n"] + 0.2
    signs = np.sign(numbers(rows, "delta")[true]) == np.sign(numbers(rows, "effect")[true])
    assert scores["signs"] == {"agree": int(signs.sum()), "of": int(true.sum())}


def test_without_known_effects_there_are_no_scores(folder, tmp_path, capsys):
    assert main(command(folder, "-o", str(tmp_path))) == 0
    assert json.loads((tmp_path / "effects.json").read_text())["scores"] is None
    assert "true" not in rows_of(tmp_path / "effects.tsv")[0]


def test_models_without_weights_of_kmers_compare_windows(folder, tmp_path, capsys):
    spectrum = {"kernel": "spectrum:k=5,reverse_complement=true", "solver": "primal_svc:C=1"}
    assert main(command(folder, "--truth", "EFFECT", "-o", str(tmp_path), **spectrum)) == 0
    deltas = [float(row["delta"]) for row in rows_of(tmp_path / "effects.tsv") if row["delta"]]
    assert np.std(deltas) > 0


@pytest.mark.parametrize(
    ("content", "truth", "problem"),
    [
        (
            "chr1\t5\tv\t{base}\t<DEL>\t.\t.\tEFFECT=1\n",
            "EFFECT",
            "no variant lies on a chromosome that a fold holds out: chr1",
        ),
        ("chr1\t5\tv\t{base}\tN\t.\t.\tEFFECT=1\n", "ASB", "no record has the field 'ASB' in INFO"),
        ("chr1\t5\tv\t{base}\tN\t.\t.\tEFFECT=high\n", "EFFECT", "EFFECT=high is not a number"),
        ("chr1\t5\tv\t{base}\tN\t.\t.\tEFFECT=1,2\n", "EFFECT", "EFFECT=1,2 is not a number; name a field"),
        ("", "EFFECT", "has no variants"),
    ],
)
def test_what_cannot_be_scored_is_said_before_training(folder, tmp_path, capsys, content, truth, problem):
    base = (folder / "sim" / "genome.fa").read_text().split("\n")[1][4].upper()
    vcf = tmp_path / "v.vcf"
    vcf.write_text("#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + content.format(base=base))
    assert main(command(folder, "--truth", truth, "-o", str(tmp_path / "out"), vcf=vcf)) == 1
    message = capsys.readouterr().err
    assert problem in message
    assert "Traceback" not in message
    assert not (tmp_path / "out").exists()


def test_folds_must_hold_out_chromosomes(folder, tmp_path, capsys):
    stratified = json.dumps({"method": "stratified", "k": 3})
    assert main(["folds", str(folder / "data"), "--options", stratified, "-o", str(tmp_path / "folds")]) == 0
    assert main(command(folder, "-o", str(tmp_path / "out"), folds=tmp_path / "folds")) == 1
    assert "no fold holds out a whole chromosome" in capsys.readouterr().err


def test_the_planted_motif_is_found(folder, tmp_path, capsys):
    known = ["--known", str(folder / "sim" / "motifs.meme"), "--threads", "1"]
    method = ["--kernel", KERNEL, "--solver", "csvc:C=1"]
    assert main(["discover", str(folder / "data"), *method, *known, "-o", str(tmp_path)]) == 0
    first = rows_of(tmp_path / "motifs.tsv")[0]
    assert (first["class"], first["known"]) == ("peak", "factor")
    assert float(first["q"]) < 1e-4
    content = json.loads((tmp_path / "motifs.json").read_text())
    assert (content["known"], content["sequences"], content["positive"]) == (1, 90, "peak")
    assert "MOTIF positive_1" in (tmp_path / "motifs.meme").read_text()
    assert (tmp_path / "model.seqkern").is_file()
