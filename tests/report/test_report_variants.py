"""Sections on the motifs and the effects of variants of a study."""

import json

import numpy as np
import pytest
from report_sample import KERNELS, SOLVERS, Shape, write_study

from seqkern.core.tsv import write_tsv
from seqkern.genomics.effects import COLUMNS
from seqkern.genomics.motif_tables import Match, write_meme, write_table
from seqkern.genomics.motifs import FoundMotif
from seqkern.methods.study_results import StudyResults
from seqkern.report import build_report
from seqkern.report.markup import text_of
from seqkern.report.sections.features import effects_section, motifs_section
from seqkern.report.view import View
from seqkern.sequences.alphabets import DNA

KERNEL, SOLVER = next(iter(KERNELS)), next(iter(SOLVERS))
METHOD = {"kernel": KERNEL, "solver": SOLVER}
TRAINING = {"n": 40, "classes": {"other": 20, "<peak>": 20}, "solver": {"solver": "csvc", "C": 10}}
TRAINING |= {"search": {"metric": "auc", "folds": 3}, "positive": "<peak>", "sequences": 20, "known": 2}


@pytest.fixture
def folder(tmp_path):
    entry = {"simulate": {"kind": "peaks"}, "width": 100, "motifs": METHOD, "variants": METHOD}
    return write_study(tmp_path / "s", {"d": Shape(entry=entry)})


def view_of(folder):
    return View(StudyResults(folder).datasets[0], "d1")


def write_motifs(folder, motifs, matches):
    out = folder / "motifs" / "d"
    write_meme(out / "motifs.meme", motifs, DNA)
    write_table(out / "motifs.tsv", motifs, ["other", "<peak>"], matches)
    (out / "motifs.json").write_text(json.dumps(TRAINING))


def motif(name, sites):
    return FoundMotif(name, 1, np.eye(4, dtype=np.int64) * sites, sites, 0.5, DNA, np.full(4, 0.25))


def test_motifs_are_drawn_with_the_known_ones_they_resemble(folder):
    matches = [Match("<factor>", 1e-6, 1e-5, 0.99, 4, 0, "+"), Match("cofactor", 0.2, 0.4, 0.3, 3, 0, "-")]
    write_motifs(folder, [motif("positive_1", 31), motif("positive_2", 12)], matches)
    section = motifs_section(view_of(folder))
    text = text_of(section)
    assert "was trained on all samples (40), with C = 10, the best AUC in 3 folds" in text
    assert "20 sequences of class <peak>" in text
    assert "1 of 2 known motifs found (q ≤ 0.05): <factor>. 1 motif matches none of them." in text
    assert "With so few known motifs" in text
    assert "planted in the simulated genome" in text
    assert section.count("<svg") == 2
    assert "<factor>" not in section  # escaped
    assert "<script" not in section


def test_a_model_without_motifs_is_said(folder):
    write_motifs(folder, [], [])
    assert "No group of similar seqlets" in text_of(motifs_section(view_of(folder)))


def write_effects(folder, scores, rows):
    out = folder / "effects" / "d"
    out.mkdir(parents=True)
    truth = {"field": "EFFECT", "threshold": 0.0}
    summary = {"variants": len(rows), "truth": truth, "positive": "<peak>", "splits": [], "scores": scores}
    (out / "effects.json").write_text(json.dumps(summary))
    write_tsv(out / "effects.tsv", [*COLUMNS, "effect", "true"], rows)


def test_variants_stand_beside_chance_and_trivial_rankings(folder):
    rows = []
    for i in range(30):
        true = i % 3 == 0
        place = ["chr1", 100 + i, f"<v{i}>", "A", "C", "1"]
        rows.append([*place, 0.0, 1.0 + true, 1.0 + true, 1.0 + true, i / 30, 10.0 * i, -2.0 * true, int(true)])
    rows.append(["chrU", 7, "far", "A", "C", "", "", "", "", "", "", "", 0.0, 0])  # not scored
    top = [{"n": 10, "precision": 0.9, "low": 0.6, "high": 0.98}]
    chance = [{"n": 10, "precision": 0.3, "low": 0.1, "high": 0.6}]
    rankings = {"model": {"ap": 0.95, "auc": 0.97, "top": top}, "composition": {"ap": 0.35, "auc": 0.52, "top": chance}}
    scores = {"n": 30, "true": 10, "rankings": rankings, "signs": {"agree": 9, "of": 10}}
    write_effects(folder, scores, rows)
    section = effects_section(view_of(folder))
    text = text_of(section)
    assert "30 of 31 alleles were scored" in text
    assert "10 of 30 variants whose EFFECT is not 0" in text
    assert "variants that create a site are true like those that destroy one" in text
    assert "precision, and an average precision, of 0.333" in text
    assert "Top 10 (all true)" in text
    assert "0.900 [0.60, 0.98]" in text
    assert "9 of the 10 true variants" in text
    assert "<v0>" not in section  # escaped
    page = build_report(folder, folder / "report").read_text(encoding="utf-8")
    assert 'href="#d1-effects"' in page
    assert "<v0>" not in page


def test_variants_without_known_effects_are_listed(folder):
    write_effects(folder, None, [["chr1", 5, "v", "A", "C", "1", 0.0, 1.5, 1.5, 2.0, 0.1, 3.0, "", ""]])
    text = text_of(effects_section(view_of(folder)))
    assert "1 of 1 alleles were scored" in text
    assert "Precision" not in text


def test_missing_results_are_said_and_other_studies_have_no_such_sections(folder, tmp_path):
    assert "No results on motifs" in text_of(motifs_section(view_of(folder)))
    assert "No results on effects" in text_of(effects_section(view_of(folder)))
    other = view_of(write_study(tmp_path / "o", {"d": Shape()}))
    assert motifs_section(other) is None
    assert effects_section(other) is None
