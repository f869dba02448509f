"""The workflow as a module of another workflow, and the study that Snakemake's catalog runs."""

import pytest
import warm
import yaml
from conftest import ROOT

SNAKEFILE = """
configfile: "config.yaml"


module seqkern:
    snakefile:
        {snakefile!r}
    config:
        config[{key!r}]


use rule * from seqkern exclude all as seqkern_*


rule all:
    input:
        "best.txt",


rule best:
    input:
        rules.seqkern_report.output.summary,
    output:
        "best.txt",
    shell:
        "tail -n 1 {{input}} > {{output}}"
"""
SMALLEST = yaml.safe_load((ROOT / ".test" / "config" / "config.yaml").read_text(encoding="utf-8"))


def snakemake(folder, *options):
    return warm.snakemake(["--cores", "2", *options], folder)


def write(folder, study, key="classification"):
    (folder / "config.yaml").write_text(yaml.safe_dump({"genome": "hg38", key: study}))
    (folder / "Snakefile").write_text(SNAKEFILE.format(snakefile=str(ROOT / "workflow" / "Snakefile"), key=key))


def test_another_workflow_uses_the_rules_and_their_files(tmp_path):
    write(tmp_path, SMALLEST)
    done = snakemake(tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "best.txt").read_text().split("\t")[:3] == ["donors", "1", "spectrum3"]
    assert (tmp_path / "results" / "smallest" / "report" / "index.html").is_file()


@pytest.mark.parametrize("key", ["classification", "datasets"])
def test_a_fault_in_its_configuration_is_one_line(tmp_path, key):
    write(tmp_path, {**SMALLEST, "kernels": {"spectrum3": {"kernel": "spectrum", "kk": 3}}}, key)
    done = snakemake(tmp_path, "--dry-run", "--quiet")
    assert done.returncode == 1
    assert "kernel 'spectrum' has no parameter 'kk'; did you mean 'k'?" in done.stderr
    assert "Traceback" not in done.stderr
