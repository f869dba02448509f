"""The workflow that applies models to many files: the outputs of one run; another division reruns nothing."""

import os

import numpy as np
import pytest
import yaml
from test_workflow import jobs, snakemake

from seqkern.cli.main import main
from seqkern.kernels import build_kernel
from seqkern.models.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import as_sequences
from seqkern.sequences.windows import Window

pytest.importorskip("snakemake")
pytest.importorskip("pysam")


def write(folder, **divide):
    config = {
        "study": "s",
        "models": {"m": "m.seqkern"},
        "apply": {"new": {"fasta": "q.fa"}, "all": {"scan": "q.fa", "site": "AG", "output": "bedgraph"}},
        "divide": divide,
    }
    (folder / "apply.yaml").write_text(yaml.safe_dump(config))
    return ["apply", "--configfile", "apply.yaml"]


def test_outputs_are_those_of_one_run(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    strings = ["".join(row) for row in rng.choice(list("ACGT"), size=(20, 9))]
    X = as_sequences([string[:3] + "AG" + string[5:] for string in strings], "dna")
    labels = make_labels(X.ids, ["yes", "no"] * 10, positive="yes")
    notes = {"window": Window(3, 5, "AG").record()}
    train_model(X, labels, build_kernel("spectrum:k=2"), "csvc:C=1", notes=notes).save("m.seqkern")
    (tmp_path / "q.fa").write_text("".join(f">r{i}\n{string}\n" for i, string in enumerate(X.strings())))
    assert main(["predict", "m.seqkern", "q.fa", "-o", "whole.tsv"]) == 0
    assert main(["predict", "m.seqkern", "q.fa", "--scan", "AG", "-o", "whole.bedgraph"]) == 0

    # the line that a job prints last is its error, and what other jobs have made stays
    os.rename("q.fa", "good.fa")
    (tmp_path / "q.fa").write_text("".join(">r0\nACGTAGAC!\n"))
    done = snakemake(tmp_path, *write(tmp_path, records=1000))
    assert done.returncode == 1
    assert "letter '!'" in done.stdout + done.stderr

    os.rename("good.fa", "q.fa")
    os.unlink("q.fa.fai")
    options = write(tmp_path, records=10, bases="1kB")
    assert jobs(tmp_path, *options) == {
        "apply": 1,
        "apply_part": 3,
        "apply_parts": 2,
        "apply_gather": 1,
        "apply_gather_strands": 1,
    }
    done = snakemake(tmp_path, *options)
    assert done.returncode == 0, done.stderr
    results = tmp_path / "results" / "s"
    for made, whole in (
        ("new/m/q.tsv", "whole.tsv"),
        ("all/m/q.plus.bedgraph", "whole.plus.bedgraph"),
        ("all/m/q.minus.bedgraph", "whole.minus.bedgraph"),
    ):
        assert (results / made).read_bytes() == (tmp_path / whole).read_bytes()
    assert sum(path.is_file() for path in results.rglob("*")) == 3
    assert jobs(tmp_path, *write(tmp_path, records=3, bases="10B")) == {}


def test_a_wrong_configuration_gives_one_line(tmp_path):
    (tmp_path / "apply.yaml").write_text("study: s\nmodels: {m: m}\napply:\n  new: {fasta: q.fa, otput: tsv}\n")
    done = snakemake(tmp_path, "apply", "--configfile", "apply.yaml")
    assert done.returncode == 1
    assert "apply.yaml: apply.new: unknown key 'otput'; did you mean 'output'?" in done.stderr
