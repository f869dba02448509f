"""The report of a table of features or similarities does not speak of sequences."""

import json

import pytest
from report_sample import Shape, write_study
from test_report import Page

from seqkern.report import build_report
from seqkern.report.sentences import text_for_kind

KERNELS = {"linear": {"kernel": "linear"}}
SOLVERS = {"svm": {"solver": "csvc", "C": 1}}


def test_words_for_each_kind_of_data():
    text = "Sequences are ranked: 1 sequence also stands, letter for letter, in it."
    assert text_for_kind("sequences", text) == text_for_kind(None, text) == text
    assert text_for_kind("features", text) == "Samples are ranked: 1 sample also stands, value for value, in it."
    assert text_for_kind("similarities", text).startswith("Objects are ranked: 1 object also")


@pytest.mark.parametrize(
    ("kind", "sentences"),
    [
        (
            "features",
            [
                "across training and test part of every split: identical samples.",
                "1 test sample also stands, value for value, in the training part",
                "the test part holds fewer than 10 samples of some class",
            ],
        ),
        ("similarities", ["A table of similarities does not tell which objects are the same"]),
        ("sequences", ["identical sequences and sequences inside one another", "10 sequences of some class"]),
    ],
)
@pytest.mark.parametrize("labels", ["multiclass", "binary"])
def test_the_page_speaks_of_the_units_that_there_are(tmp_path, kind, sentences, labels):
    leaks = (("all", "1", "identical", "d_1", "d_7", 1.0),) if kind == "features" else ()
    classes = ("a", "b", "c") if labels == "multiclass" else ("a", "b")
    folder = write_study(tmp_path / "s", {"d": Shape(labels, classes=classes, n=40, leaks=leaks)}, KERNELS, SOLVERS)
    path = folder / "datasets/d/summary.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "kind": kind, "length": None, "alphabet": None}))
    text = Page(build_report(folder, folder / "report").read_text(encoding="utf-8")).text
    for sentence in sentences:
        if "of some class" not in sentence or labels == "multiclass":
            assert sentence in text
    if kind != "sequences":
        own = text.rpartition("Methods and references")[0]
        assert "sequence" not in own.lower()
