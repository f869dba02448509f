"""Motifs in the report, from the files of `seqkern motifs`."""

import numpy as np
from report_sample import Shape, write_study

from seqkern.genomics.motif_tables import Match, write_meme, write_table
from seqkern.genomics.motifs import FoundMotif
from seqkern.methods.study_results import StudyResults
from seqkern.report.sections.features import motifs_section
from seqkern.report.view import View
from seqkern.sequences.alphabets import DNA

COUNTS = np.array([[0, 0, 0, 20], [0, 0, 20, 0], [20, 0, 0, 0], [0, 10, 10, 0]])


def test_motifs_are_drawn_beside_the_nearest_known_one(tmp_path):
    folder = write_study(tmp_path / "s", {"d": Shape()})
    view = View(StudyResults(folder).datasets[0], "d1")
    assert motifs_section(view) is None
    motif = FoundMotif("positive_1", 1, COUNTS, 20, 0.25, DNA, np.full(4, 0.25))
    match = Match("AP-1 <b>", 1e-5, 1e-4, 0.95, 4, 0, "+")
    write_meme(folder / "motifs/d/motifs.meme", [motif])
    write_table(folder / "motifs/d/motifs.tsv", [motif], ("background", "peak"), [match])
    section = motifs_section(view)
    assert section.count("<svg") == 1
    assert "TGAS" in section
    assert "AP-1 &lt;b&gt;" in section
    assert "<b>" not in section
    assert "1e-05" in section
