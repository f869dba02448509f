"""What the report says about the views of a data set."""

import json

from report_sample import Shape, write_study

from seqkern.methods.study_results import StudyResults
from seqkern.report import build_report
from seqkern.report.markup import text_of
from seqkern.report.sections.data_sections import dataset_summary_section
from seqkern.report.view import View


def test_views_are_told_with_their_files_as_text(tmp_path):
    kernels, solvers = {"spectrum": {"kernel": "spectrum", "k": 3}}, {"svm": {"solver": "csvc", "C": 1}}
    folder = write_study(tmp_path / "s", {"d": Shape()}, kernels, solvers)
    path = folder / "datasets/d/summary.json"
    summary = json.loads(path.read_text())
    path.write_text(json.dumps(summary | {"views": {"esm": {"file": "<b>e.h5", "width": 1280}}}))
    section = dataset_summary_section(View(StudyResults(folder).datasets[0], "d1"))
    assert "View esm1280 numbers for each sequence, from <b>e.h5" in text_of(section)
    assert "<b>e.h5" not in str(section)


def test_several_sequences_are_told_with_alphabet_and_lengths(tmp_path):
    kernels, solvers = {"spectrum": {"kernel": "spectrum", "k": 3}}, {"svm": {"solver": "csvc", "C": 1}}
    folder = write_study(tmp_path / "s", {"d": Shape()}, kernels, solvers)
    path = folder / "datasets/d/summary.json"
    site = {"alphabet": "dna", "n": 40, "min": 9, "median": 9.0, "max": 9}
    own = {"factor": {"alphabet": "protein", "n": 39, "min": 60, "median": 70.5, "max": 90}, "site": site}
    path.write_text(json.dumps(json.loads(path.read_text()) | {"sequences": own}))
    view = View(StudyResults(folder).datasets[0], "d1")
    text = text_of(dataset_summary_section(view))
    assert "samples of 2 sequences" in text
    assert "Sequence factor39 (protein), length 60 to 90, median 70.5" in text
    assert "Sequence site40 (DNA), length 9" in text
    build_report(folder, folder / "report")
    methods = (folder / "report/methods.txt").read_text()
    assert "samples of 2 sequences, factor (protein, 60 to 90 residues) and site (dna, 9 bases)" in methods
