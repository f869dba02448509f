"""The weights of combined kernels in the report."""

import re

from report_sample import Shape, write_study

from seqkern.core.tsv import write_tsv
from seqkern.kernels import parse_spec
from seqkern.methods.study_results import StudyResults
from seqkern.report import build_report
from seqkern.report.markup import Markup, text_of
from seqkern.report.sections.fitting import choices_section, weights_section
from seqkern.report.view import View

KERNELS = {
    "mix": parse_spec("combination:parts=[(spectrum:k=3),(spectrum:k=2)],weights=mkl"),
    "three": {"kernel": "spectrum"},
}
SOLVERS = {"svm": {"solver": "csvc", "C": [1, 10]}}


def study(folder, solvers=SOLVERS):
    """Return a study in whose folds two kernels have the weights 0.25 and 0.75, then 0 and 1."""
    folder = write_study(folder, {"d": Shape()}, KERNELS, solvers)
    rows = []
    for split, weight in enumerate((0.25, 0.0, 0.25, 0.0, 0.5), start=1):
        rows.append(("all", split, "C", 10, 0.9))
        rows += [("all", split, f"weight of spectrum:k={k}", w, "") for k, w in ((3, weight), (2, 1 - weight))]
        rows.append(("all", split, "relative gap of weights", split * 1e-4, ""))
    path = folder / "evaluate/d/mix/svm/choices.tsv"
    write_tsv(path, ["task", "split", "parameter", "value", "inner_score"], rows)
    return folder


def test_weights_are_shown_with_the_caution(tmp_path):
    folder = study(tmp_path / "s")
    view = View(StudyResults(folder).datasets[0], "d1")
    section = weights_section(view)
    cells = [re.findall(r"<t[hd].*?</t[hd]>", row) for row in section.split("<tr>")[2:]]
    rows = [[text_of(Markup(cell)) for cell in row] for row in cells]
    assert rows == [
        ["mix with svm", "spectrum:k=3", "0.200", "0.000 to 0.500", "2 of 5", "5.0e-04"],
        ["mix with svm", "spectrum:k=2", "0.800", "0.500 to 1.000", "0 of 5", "5.0e-04"],
    ]
    assert "A weight of zero does not mean that a kernel is uninformative." in text_of(section)
    assert "weight of" not in choices_section(view)
    assert section in build_report(folder, folder / "report").read_text(encoding="utf-8")


def test_without_combined_kernels_there_is_no_such_section(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape()}, {"three": {"kernel": "spectrum"}}, SOLVERS)
    assert weights_section(View(StudyResults(folder).datasets[0], "d1")) is None


def test_weights_that_solvers_share_stand_once(tmp_path):
    folder = study(tmp_path / "s", {**SOLVERS, "other": {"solver": "csvc", "C": 2}})
    path = folder / "evaluate/d/mix/svm/choices.tsv"
    other = folder / "evaluate/d/mix/other/choices.tsv"
    other.write_bytes(path.read_bytes())
    text = text_of(weights_section(View(StudyResults(folder).datasets[0], "d1")))
    assert text.count("spectrum:k=3") == 1
    assert "mix with svm, other" in text
    other.write_text(path.read_text(encoding="utf-8").replace("0.25", "0.2"), encoding="utf-8")
    text = text_of(weights_section(View(StudyResults(folder).datasets[0], "d1")))
    assert text.count("spectrum:k=3") == 2
    assert "mix with other" in text
