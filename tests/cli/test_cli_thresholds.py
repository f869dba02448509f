"""A threshold that a model was trained with, where its decisions are used: scans and explanations."""

import html

import pytest
from test_cli_explain import read_table
from test_cli_predict import records, write

from seqkern.cli.main import main
from seqkern.methods.loading import load_model

TRAIN = ["--kernel", "spectrum:k=2", "--solver", "csvc:C=1"]


@pytest.fixture
def files(tmp_path):
    for name in ("pos", "neg"):
        texts = [text.replace("\n", "", 1) for text in records(name, 30)]
        rows = [text.split(f"{name}{i}")[1] for i, text in enumerate(texts)]
        write(tmp_path / name, *(f">{name}{i}\n{row[:10]}AG{row[12:]}" for i, row in enumerate(rows)))
    sites = [f"{name}{i}\t11\t{name}\n" for name in ("pos", "neg") for i in range(30)]
    write(tmp_path / "sites.tsv", "record\tposition\tlabel\n", *sites)
    return [str(tmp_path / "pos"), str(tmp_path / "neg")]


@pytest.fixture
def model(tmp_path, files, capsys):
    path = str(tmp_path / "m.seqkern")
    windows = ["--window=-8:+20", "--sites", str(tmp_path / "sites.tsv"), "--site", "AG"]
    assert main(["train", *files, *windows, *TRAIN, "--threshold", "sensitivity=0.3", "-o", path]) == 0
    capsys.readouterr()
    return path


def test_a_scan_writes_what_is_above_the_models_threshold_unless_all_is_wanted(tmp_path, files, model, capsys):
    threshold = load_model(model).threshold
    assert threshold.value > 0
    assert main(["predict", model, files[0], "--scan", "AG", "--all"]) == 0
    out, err = capsys.readouterr()
    rows = out.splitlines()[1:]
    found = [line for line in rows if float(line.split("\t")[3]) > threshold.value]
    assert 0 < len(found) < len(rows)
    rule = f"decision values above {threshold.value:.10g}, the model's threshold for sensitivity=0.3"
    line = f"pos: {len(rows)} candidates AG, {len(found)} predicted pos ({rule})"
    assert f"{line}, all written\n" in err
    assert main(["predict", model, files[0], "--scan", "AG"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[1:] == found
    assert f"{line}\n" in err
    assert main(["predict", model, files[0], "--scan", "AG", "--threshold", "model"]) == 0
    again, said = capsys.readouterr()
    assert again == out
    assert "--threshold model is the default now" in said
    assert main(["predict", model, files[0], "--scan", "AG", "--strand", "+", "--format", "bedgraph"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == sum(line.split("\t")[2] == "+" for line in rows)


def test_a_model_without_a_threshold_scans_with_zero(tmp_path, files, capsys):
    path = str(tmp_path / "plain.seqkern")
    assert main(["train", *files, "--window=-8:+20", "--sites", str(tmp_path / "sites.tsv"), *TRAIN, "-o", path]) == 0
    capsys.readouterr()
    assert main(["predict", path, files[0], "--scan", "AG", "--threshold", "model"]) == 0
    assert all(float(line.split("\t")[3]) > 0 for line in capsys.readouterr().out.splitlines()[1:])


def test_explain_tells_the_threshold_that_it_predicts_by(tmp_path, files, model, capsys):
    out = tmp_path / "out"
    new = write(tmp_path / "new.fa", *(f">{i}\n{'GTT' * i}{'ACAC' * (8 - i)}AGGTTGTTACACACGTGT\n" for i in range(1, 8)))
    assert main(["explain", model, new, "-o", str(out)]) == 0
    value = load_model(model).threshold.value
    rows = read_table(out / "decisions.tsv")
    assert list(rows[0]) == ["id", "letters", "decision", "bias", "threshold", "predicted"]
    assert {float(row["threshold"]) for row in rows} == {value}
    assert all((row["predicted"] == "pos") == (float(row["decision"]) > value) for row in rows)
    page = " ".join(html.unescape((out / "index.html").read_text()).split())
    assert f"Above {value:.4g}, the model's threshold for sensitivity=0.3, the prediction is" in page
    assert "Above zero" not in page
