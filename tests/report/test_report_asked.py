"""What the report says of what was asked of the inner loop: search, rule, probabilities, thresholds."""

import pytest
import yaml
from report_sample import Shape, write_study
from test_report import Page

from seqkern.core.tsv import read_tsv, write_tsv
from seqkern.methods.study_results import StudyResults
from seqkern.report.sections.findings import caveats
from seqkern.report.sections.fitting import choices_section
from seqkern.report.sections.scores import scores_section
from seqkern.report.view import View

KERNELS = {"spectrum3": {"kernel": "spectrum", "k": 3}}
SOLVERS = {"svm": {"solver": "csvc", "C": [0.1, 1, 10]}}


def study(folder, inner, **shape):
    """Return a View of a study with these options of the inner loop, whose rankings are better than its classes."""
    folder = write_study(folder, {"d": Shape(skill=3, **shape)}, KERNELS, SOLVERS)
    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    (folder / "config.yaml").write_text(yaml.safe_dump({**config, "inner": inner}), encoding="utf-8")
    place = folder / "evaluate/d/spectrum3/svm"
    rows = read_tsv(place / "metrics.tsv")
    for row in rows:
        row |= {"sensitivity": "0.95", "specificity": "0.4", "accuracy": "0.5"}
    write_tsv(place / "metrics.tsv", list(rows[0]), rows)
    if "threshold" in inner:
        rows = read_tsv(place / "choices.tsv")
        more = [dict(rows[0], split=split, parameter="threshold", value=f"0.{split}") for split in "12345"]
        write_tsv(place / "choices.tsv", list(rows[0]), [*rows, *more])
    return View(StudyResults(folder).datasets[0], "d1")


def words(view, section):
    """Return the words of a section."""
    return Page(section(view)).text


def warnings(view):
    """Return the words of the caveats."""
    return " ".join(Page(sentence).text for sentence in caveats(view))


def test_a_threshold_that_was_asked_for_is_no_fault_but_told(tmp_path):
    plain = study(tmp_path / "plain", {})
    assert "one class is recognised far better than the other" in warnings(plain)
    assert "threshold" not in words(plain, scores_section)
    view = study(tmp_path / "asked", {"threshold": "sensitivity=0.9"})
    assert "recognised" not in warnings(view)
    assert (
        "Sensitivity, specificity, accuracy and MCC use a decision threshold selected on each training set by the "
        "rule sensitivity=0.9 (at least 90% of the positives are found), from 0.100 to 0.500; the AUC and other "
        "ranking scores do not depend on it."
    ) in words(view, scores_section)


@pytest.mark.parametrize(
    ("rule", "meaning"),
    [
        ("specificity=0.99", "specificity=0.99 (at least 99% of the negatives are rejected)"),
        ("cost=1:5", "cost=1:5 (a false positive costs 1, a false negative 5)"),
    ],
)
def test_rules_are_told_with_their_meaning(tmp_path, rule, meaning):
    assert meaning in words(study(tmp_path, {"threshold": rule}), scores_section)


def test_search_rule_and_calibration_are_told(tmp_path):
    text = words(study(tmp_path / "a", {"search": "grid", "rule": "best", "draws": 20}), choices_section)
    assert "selected hyperparameters from the configured values; ties went to the simplest solver" in text
    assert "probabilities" not in text
    inner = {"search": "random", "draws": 7, "rule": "one_standard_error", "calibration": "isotonic"}
    text = words(study(tmp_path / "b", inner), choices_section)
    assert "from a random search with 7 candidates for each kernel and solver" in text
    assert "one standard error of the best, it selected the simplest" in text
    assert "Decision values were converted to probabilities by isotonic regression" in text


def test_what_labels_do_not_allow_is_told(tmp_path):
    inner = {"calibration": "platt", "threshold": "cost=1:2"}
    view = study(tmp_path / "a", inner, kind="multiclass", classes=("a", "b", "c"))
    told = "the configuration's calibration and threshold (inner) are ignored: the labels are of several classes"
    assert told in warnings(view)
    assert told[1:] in words(view, choices_section)
    assert "at a threshold" not in words(view, scores_section)
    view = study(tmp_path / "b", {"calibration": "platt"})
    assert "without effect" not in warnings(view)
    view = study(tmp_path / "c", {"calibration": "variance"})
    told = "configuration's calibration (inner) is ignored: the labels are two classes, not numbers"
    assert told in words(view, choices_section)
    text = words(study(tmp_path / "d", {"calibration": "variance"}, kind="real"), choices_section)
    assert "ignored" not in text
    assert "Predicted standard deviations were multiplied by one factor" in text
