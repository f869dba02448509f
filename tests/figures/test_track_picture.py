"""Tracks of a protein: text that lines up, pictures that are well-formed, safe, and say what the states are."""

import re
import xml.etree.ElementTree as ET

import pytest

from seqkern.core.errors import SequenceError
from seqkern.report.profile_pictures import Track, shape_of, track_svg, track_text

LETTERS = "MKVLAWGGPASTRQ"
TRUE = "HHHHH?CCEEEEEC"
PREDICTED = "HHCHHHCCEEEE?C"
SURE = [i / 13 for i in range(14)]
WHOLE = Track("1abc", LETTERS, PREDICTED, TRUE, SURE)
SVG = "{http://www.w3.org/2000/svg}"


def test_text():
    text = track_text(WHOLE, width=10)
    assert text.split("\n") == [
        "1abc: 14 residues, 91.7% of the states right",
        "",
        "                   10",
        "residue    MKVLAWGGPA",
        "true       HHHHH?CCEE",
        "predicted  HHCHHHCCEE",
        "confidence 0012334566",
        "wrong        x",
        "",
        "residue    STRQ",
        "true       EEEC",
        "predicted  EE?C",
        "confidence 78 9",
        "wrong",
        "",
    ]


def test_text_without_truth_or_confidence():
    text = track_text(Track("x", "MKV", "HHE"))
    assert text == "x: 3 residues\n\nresidue    MKV\npredicted  HHE\n"


def test_colours_only_where_asked_for():
    assert "\x1b" not in track_text(WHOLE)
    coloured = track_text(WHOLE, colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == track_text(WHOLE)
    assert coloured.count("\x1b[0m") == 4 + 6  # one for each segment


def test_wrapped_rows_show_every_residue_once():
    track = Track("long", "ACDEFGHIKL" * 17, "HHHHHEEEEC" * 17, None, [0.5] * 170)
    lines = track_text(track, width=60).split("\n")
    assert "".join(line[11:] for line in lines if line.startswith("residue")) == track.letters
    root = ET.fromstring(track_svg(track))
    rows = [text for text in root.iter(f"{SVG}text") if " " in text.get("x")]
    assert "".join(text.text for text in rows) == track.letters
    assert [len(text.get("x").split()) for text in rows] == [60, 60, 50]


def test_svg_names_each_segment():
    root = ET.fromstring(track_svg(WHOLE))
    titles = [title.text for group in root.iter(f"{SVG}g") for title in group.findall(f"{SVG}title")]
    true = ["helix (H), 1–5", "coil (C), 7–8", "strand (E), 9–13", "coil (C), 14–14"]
    assert titles[:4] == true
    assert titles[4:7] == ["helix (H), 1–2", "coil (C), 3–3", "helix (H), 4–6"]
    assert "predicted wrongly" in "".join(root.itertext())


def test_residues_stand_above_their_states():
    root = ET.fromstring(track_svg(Track("x", "MK", "CC", None, [1, 1])))
    letters = next(text.get("x").split() for text in root.iter(f"{SVG}text") if text.text == "MK")
    line = next(path.get("d") for path in root.iter(f"{SVG}path") if path.get("fill") == "none")
    start, stop = map(float, re.fullmatch(r"M(\S+) \S+H(\S+)", line).groups())
    assert [float(x) for x in letters] == [start + 7.5, stop - 7.5]


def test_segment_cut_at_the_end_of_a_row_keeps_its_name():
    root = ET.fromstring(track_svg(Track("x", "A" * 12, "H" * 12), width=10))
    titles = [title.text for group in root.iter(f"{SVG}g") for title in group.findall(f"{SVG}title")]
    assert titles == ["helix (H), 1–12"] * 2


def test_text_is_escaped():
    name = '<script>alert("x")</script>\x07&'
    text = track_svg(Track(name, "M", "H"))
    assert "<script" not in text
    assert "\x07" not in text
    ET.fromstring(track_svg(Track(name, "<&", '"<')))


def test_any_state_has_a_shape():
    states = "HGIEBTSCLP_-hexZ1"
    root = ET.fromstring(track_svg(Track("all", "A" * len(states), states, states[::-1])))
    words = "".join(root.itertext())
    assert all(word in words for word in ("3-10 helix (G)", "bridge (B)", "bend (S)", "helix (h)", "state (Z)"))
    assert shape_of("e") == "strand"
    assert shape_of("Z") is None


def test_lengths_must_agree():
    with pytest.raises(SequenceError, match="2 states or values for 3 residues"):
        Track("x", "MKV", "HH")


def test_nothing_to_compare():
    assert Track("x", "MK", "HH", "??").right() is None
    assert track_text(Track("x", "", "")) == "x: 0 residues\n"
