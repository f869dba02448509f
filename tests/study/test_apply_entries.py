"""The configuration of models applied to many files."""

import gzip
import re

import pytest
import yaml
from conftest import ROOT

from seqkern.core.errors import ConfigError
from seqkern.study.apply_entries import Applications, estimate

CONFIG = {
    "study": "scores",
    "models": {"a": "m/a.seqkern", "b": "m/b.seqkern"},
    "apply": {"new": {"fasta": ["x/q.fa.gz", "y/q.fasta", "z/..a b.fa"]}},
}


def parsed(**entry):
    return Applications.parse({**CONFIG, "apply": {"new": entry}}).jobs


def test_each_model_and_each_file():
    jobs = Applications.parse(CONFIG).jobs
    assert list(jobs) == [("new", model, name) for model in "ab" for name in ("q.tsv", "q.2.tsv", "a_b.tsv")]
    assert jobs["new", "b", "q.2.tsv"].words == ("predict", "m/b.seqkern", "y/q.fasta")
    assert jobs["new", "b", "q.2.tsv"].outputs == ["q.2.tsv"]


def test_scans_and_variants():
    jobs = parsed(scan="g.fa", site="AG", models=["a"], output="bw", options="--masked score")
    job = jobs["new", "a", "g.bw"]
    assert job.words == ("predict", "m/a.seqkern", "g.fa", "--scan", "AG", "--masked", "score")
    assert job.outputs == ["g.plus.bw", "g.minus.bw"]
    for options in ("--strand +", "--strand=-"):
        assert parsed(scan="g.fa", site="AG", output="bw", options=options)["new", "a", "g.bw"].outputs == ["g.bw"]
    jobs = parsed(scan="g.fa", site="AG", output="bedgraph.gz")
    assert jobs["new", "a", "g.bedgraph.gz"].outputs == ["g.plus.bedgraph.gz", "g.minus.bedgraph.gz"]
    job = parsed(variants="v.vcf.gz", genome="g.fa", output="vcf.gz")["new", "a", "v.vcf.gz"]
    assert job.words == ("variants", "m/a.seqkern", "v.vcf.gz", "--genome", "g.fa")
    assert job.inputs == ["m/a.seqkern", "v.vcf.gz", "g.fa"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({}, "apply.new: has nothing to apply models to; give one of fasta, regions, scan, variants"),
        ({"fasta": "a", "scan": "b"}, "apply.new: has fasta and scan; give one of"),
        ({"variants": "v.vcf"}, "apply.new: has no genome; add it"),
        ({"scan": "g.fa"}, "apply.new: has no site; add it"),
        ({"fasta": "q.fa", "genome": "g.fa"}, "apply.new: fasta needs no genome; remove it"),
        (
            {"fasta": "q.fa", "output": "bw"},
            "apply.new.output: fasta cannot be written as bw; choose from: tsv, tsv.gz",
        ),
        ({"fasta": "q.fa", "models": ["c"]}, "apply.new.models: unknown model 'c'; choose from: a, b"),
        ({"fasta": "q.fa", "options": "-o x"}, "apply.new.options: -o is given by the workflow; remove it"),
        ({"fasta": "q.fa", "options": "'"}, 'apply.new.options: "\'": No closing quotation; close the quotes'),
        ({"fast": "q.fa"}, "apply.new: unknown key 'fast'; did you mean 'fasta'?"),
    ],
)
def test_what_does_not_fit(entry, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        parsed(**entry)


def test_a_missing_file_is_named():
    with pytest.raises(ConfigError, match=r"apply\.new: m/a\.seqkern: no such file; check the path"):
        Applications.parse(CONFIG).check_files()


def test_the_one_that_ships_is_that_of_the_page():
    text = (ROOT / "config" / "apply.yaml").read_text(encoding="utf-8")
    assert len(Applications.parse(yaml.safe_load(text)).jobs) == 4
    assert text.split("\n", 1)[1] in (ROOT / "docs" / "howto" / "apply.md").read_text(encoding="utf-8")


def test_amounts_by_the_first_megabyte(tmp_path):
    text = "".join(f">r{i}\n{'ACGT' * 10}\n" for i in range(50_000))
    (tmp_path / "q.fa").write_text(text)
    (tmp_path / "q.fa.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("q.fa", "q.fa.gz"):
        assert estimate(str(tmp_path / name), "fasta") == pytest.approx(50_000, rel=0.2)
        assert estimate(str(tmp_path / name), "scan") == pytest.approx(len(text), rel=0.2)
    (tmp_path / "empty").write_text("")
    assert estimate(str(tmp_path / "empty"), "variants") == 0


@pytest.mark.parametrize(("amount", "parts"), [(1, 10), (3, 4), (10, 1), (100, 1)])
def test_number_of_parts(tmp_path, amount, parts):
    (tmp_path / "q.fa").write_text(">r\nACGT\n" * 10)
    config = {**CONFIG, "apply": {"new": {"fasta": str(tmp_path / "q.fa")}}, "divide": {"records": amount}}
    assert Applications.parse(config).jobs["new", "a", "q.tsv"].parts() == parts
