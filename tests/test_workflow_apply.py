"""The workflow that applies models to many files: the outputs of one run; another division reruns nothing."""

import shutil

import numpy as np
import pytest
import yaml
from test_workflow import jobs, snakemake

from seqkern.cli.main import main
from seqkern.kernels import build_kernel
from seqkern.methods.training import train_model
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

    done = snakemake(tmp_path, *write(tmp_path, records=10, bases="1kB"))
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

    # a run killed while it removed joined parts, after which Snakemake removes the output
    (results / "new/m/q.tsv").unlink()
    assert snakemake(tmp_path, *write(tmp_path, records=10, bases="1kB"), "--until", "apply_parts").returncode == 0
    assert (results / "new/m/q.tsv.parts-made").exists()
    shutil.rmtree(results / "new/m/q.tsv.parts")
    done = snakemake(tmp_path, *write(tmp_path, records=10, bases="1kB"))
    assert done.returncode == 0, done.stderr
    assert (results / "new/m/q.tsv").read_bytes() == (tmp_path / "whole.tsv").read_bytes()
