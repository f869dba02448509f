"""Samples without a label: counted in the summary, and told by the report, the folds and the methods text."""

import json
import re
from html import unescape

import pytest
from report_sample import Shape, write_study

from seqkern.report import build_report
from seqkern.study import make_dataset
from seqkern.study.dataset import summary

KERNELS = {
    "spectrum": {"kernel": "spectrum", "k": 2},
    "learned": {"kernel": "combination", "kernels": ["spectrum:k=2"]},
}


def pages(tmp_path, solvers, unlabelled=390):
    """Return the page and the methods text of a study."""
    shape = Shape(n=60, splits=("1", "2"), entry={"fasta": "d.fa", "folds": {"method": "stratified", "k": 2}})
    results = write_study(
        tmp_path / "results", {"donors": shape}, {"spectrum": {"kernel": "spectrum", "k": 2}}, solvers
    )
    path = results / "datasets" / "donors" / "summary.json"
    found = json.loads(path.read_text())
    found["n"] += unlabelled
    found["tasks"]["all"]["unlabelled"] = unlabelled
    path.write_text(json.dumps(found))
    report = tmp_path / "report"
    build_report(results, report)
    page = unescape(re.sub("<[^>]+>", "", (report / "index.html").read_text()))
    return re.sub(r"\s+", " ", page), re.sub(r"\s+", " ", (report / "methods.txt").read_text())


@pytest.mark.parametrize(
    ("solvers", "use"),
    [
        ({"lp": {"solver": "label_propagation"}, "svm": {"solver": "csvc"}}, "in every training set of lp"),
        ({"svm": {"solver": "csvc"}}, "left out"),
    ],
)
def test_page_and_methods_text(tmp_path, solvers, use):
    page, methods = pages(tmp_path, solvers)
    assert f"60 labelled sequences (DNA), and 390 without a label, {use}" in page
    assert f"Not counted here: 390 samples without a label, {use}." in page
    assert "donors: 60 labelled DNA sequences" in methods
    assert f"(45 decoy, 15 donor) and 390 without a label, {use}." in methods
    assert "450" not in methods


def test_summary(tmp_path):
    for name, first in (("a", "AC"), ("b", "GG"), ("pool", "AT")):
        (tmp_path / f"{name}.fa").write_text("".join(f">{name}{i}\n{first}GT{'ACGT'[i]}\n" for i in range(3)))
    entry = {"fasta": {"positive": "a.fa", "negative": "b.fa", "unlabelled": "pool.fa"}}
    found = summary(make_dataset("d", entry, tmp_path))["tasks"]["all"]
    assert (found["n"], found["unlabelled"], found["classes"]) == (6, 3, {"negative": 3, "positive": 3})
    del entry["fasta"]["unlabelled"]
    assert "unlabelled" not in summary(make_dataset("d", entry, tmp_path))["tasks"]["all"]
