"""The calibration of prediction intervals in the report."""

import re

import numpy as np
import pandas as pd
import pytest
from report_sample import Shape, write_study

from seqkern.methods.study_results import StudyResults
from seqkern.report.markup import Markup, text_of
from seqkern.report.sections.curves_and_errors import prediction_intervals_section
from seqkern.report.view import View

ONE = {"kernels": {"spectrum": {"kernel": "spectrum", "k": 3}}, "solvers": {"gp": {"solver": "gp_regression"}}}


@pytest.fixture
def study(tmp_path):
    folder = write_study(tmp_path / "s", {"scale": Shape("real", n=200)}, ONE["kernels"], ONE["solvers"])
    return folder, next((folder / "evaluate").rglob("decisions.tsv"))


def section(folder):
    made = prediction_intervals_section(View(StudyResults(folder).datasets[0], "d1"))
    return None if made is None else text_of(Markup(re.sub(r"<svg.*?</svg>", "", made, flags=re.S)))


def test_no_section_without_standard_deviations(study):
    assert section(study[0]) is None


def test_coverage_and_density_of_each_method(study):
    folder, path = study
    table = pd.read_csv(path, sep="\t")
    table.insert(len(table.columns) - 1, "sd", np.where(np.arange(len(table)) % 2, 1e-6, 1e6))
    table.to_csv(path, sep="\t", index=False)
    text = section(folder)
    assert "90% interval: 0.500, NLPD" in text  # half of the intervals hold anything, the others nothing
    assert "mean and variance of the training labels" not in text  # baselines were not evaluated
    (folder / "baseline" / "scale").mkdir(parents=True)
    (folder / "baseline" / "scale" / "metrics.tsv").write_text(
        "baseline\ttask\tsplit\trmse\tcoverage_90\tnlpd\nmean\tall\t1\t1\t0.875\t1.25\nmean\tall\t2\t1\t0.875\t1.75\n"
    )
    assert "has an NLPD of 1.5, and 0.875 of the values lie within its 90% intervals" in section(folder)
