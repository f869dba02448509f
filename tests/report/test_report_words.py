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
    text = "Sequences are ranked: 1 sequence is identical to another."
    assert text_for_kind("sequences", text) == text_for_kind(None, text) == text
    assert text_for_kind("features", text) == "Samples are ranked: 1 sample is identical to another."
    assert text_for_kind("similarities", text).startswith("Objects are ranked: 1 object is")


@pytest.mark.parametrize(
    ("kind", "sentences"),
    [
        (
            "features",
            [
                "Every split was checked for leakage: identical samples.",
                "1 test sample is identical to a training sample",
                "the test set has fewer than 10 samples of at least one class",
            ],
        ),
        ("similarities", ["A table of similarities does not show which objects are identical"]),
        (
            "sequences",
            ["identical sequences and sequences contained in one another", "10 sequences of at least one class"],
        ),
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
        if "of at least one class" not in sentence or labels == "multiclass":
            assert sentence in text
    if kind != "sequences":
        own = text.rpartition("Methods and references")[0]
        assert "sequence" not in own.lower()
