"""``roc.tsv`` and ``pr.tsv``: every fold's curve, against the scores of the folds and scikit-learn."""

from itertools import groupby

import numpy as np
import pytest
from report_sample import Shape, write_study
from sklearn import metrics

from seqkern.core.tsv import read_tsv
from seqkern.methods.study_results import StudyResults
from seqkern.report import build_report
from seqkern.report.page import write_curves

PLACE = ["dataset", "kernel", "solver", "task", "split"]
SMALL = {"spectrum": {"kernel": "spectrum", "k": 3}}
ONE = {"svm": {"solver": "csvc", "C": 1}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    classes = Shape("multiclass", classes=("x", "y", "z"), splits=("1", "2"), n=60)
    shapes = {"donor": Shape(splits=("1", "2")), "classes": classes, "scale": Shape("real")}
    folder = write_study(tmp_path_factory.mktemp("curves") / "s", shapes, SMALL, ONE)
    (folder / "report").mkdir()
    write_curves(StudyResults(folder).datasets, folder / "report")
    return folder


def curves(folder, name, columns):
    """Yield (place with class, columns of numbers) of each curve, in the order of the file."""
    rows = read_tsv(folder / "report" / name)
    assert list(rows[0]) == [*PLACE, *columns, "class"]
    for key, part in groupby(rows, key=lambda row: (*(row[name] for name in PLACE), row["class"])):
        yield key, np.array([[float(row[column]) for column in columns] for row in part]).T


def decisions(folder, dataset, split, name):
    rows = read_tsv(folder / "evaluate" / dataset / "spectrum/svm/decisions.tsv")
    rows = [row for row in rows if row["split"] == split]
    column = f"decision:{name}" if dataset == "classes" else "decision"
    return np.array([row["label"] == name for row in rows]), np.array([float(row[column]) for row in rows])


def test_every_fold_and_class_has_its_roc_curve(folder):
    found = dict(curves(folder, "roc.tsv", ["false_positive_rate", "true_positive_rate", "threshold"]))
    keys = [(key[0], key[4], key[5]) for key in found]
    assert keys == [("donor", s, "donor") for s in "12"] + [("classes", s, c) for s in "12" for c in "xyz"]
    for (dataset, *_, split, name), (false, true, threshold) in found.items():
        positive, decision = decisions(folder, dataset, split, name)
        theirs = metrics.roc_curve(positive, decision)
        np.testing.assert_allclose(false, theirs[0])
        np.testing.assert_allclose(true, theirs[1])
        np.testing.assert_allclose(threshold, theirs[2])


def test_every_fold_and_class_has_its_precision_recall_curve(folder):
    for (dataset, *_, split, name), (recall, precision, threshold) in curves(
        folder, "pr.tsv", ["recall", "precision", "threshold"]
    ):
        positive, decision = decisions(folder, dataset, split, name)
        assert (recall[0], precision[0], threshold[0]) == (0, 1, np.inf)
        for r, p, t in zip(recall[1:], precision[1:], threshold[1:], strict=True):
            found = decision >= t - 1e-9
            assert r == pytest.approx(np.mean(found[positive]))
            assert p == pytest.approx(np.mean(positive[found]))
        area = float(np.sum(np.diff(recall) * precision[1:]))
        assert area == pytest.approx(metrics.average_precision_score(positive, decision))


def test_the_files_are_the_same_every_time(folder):
    build_report(folder, folder / "again")
    for name in ("roc.tsv", "pr.tsv"):
        assert (folder / "again" / name).read_bytes() == (folder / "report" / name).read_bytes()


def test_without_curves_there_are_heads_alone(tmp_path):
    folder = write_study(tmp_path / "s", {"scale": Shape("real")}, SMALL, ONE)
    build_report(folder, folder / "report")
    assert (folder / "report/roc.tsv").read_text().count("\n") == 1
    assert read_tsv(folder / "report/pr.tsv") == []
