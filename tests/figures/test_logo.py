"""Logos, heat maps and the files about positions."""

import base64
import dataclasses
import io
import re
import string
import xml.etree.ElementTree as ElementTree

import numpy as np
import PIL.Image
import pytest
from test_explain import Text, donors, read_table, train, write

from seqkern.core.archive import save_archive
from seqkern.core.errors import FileError, ParameterError
from seqkern.methods.poim import Importance, LetterMeans, Positions, load_positions, positions_of
from seqkern.report.drawing import shades
from seqkern.report.learned_pages import PICTURES, pictures, positions_content, write_positions
from seqkern.report.logo import (
    LEFT,
    NUCLEOTIDES,
    drawn_outline,
    heat_map,
    information,
    letter_colour,
    letter_outline,
    logo_figure,
    top_kmers,
)
from seqkern.sequences.alphabets import DNA, PROTEIN, RNA, Alphabet
from seqkern.sequences.sequence_set import SequenceSet

SVG = "{http://www.w3.org/2000/svg}"


def example(length=30, alphabet=DNA, orders=2, seed=0):
    """Return an Importance of random numbers, one letter at position 6 far above the others."""
    rng = np.random.default_rng(seed)
    matrices = {m: rng.normal(size=(length - m + 1, alphabet.size**m)) for m in range(1, orders + 1)}
    matrices[1][5, min(2, alphabet.size - 1)] = 9
    return Importance(alphabet, length, matrices, np.full(alphabet.size, 1 / alphabet.size))


def placed(svg):
    """Return [(letter's code, x, y of the top, width, height)] of every letter in a logo."""
    tree, found = ElementTree.fromstring(svg), []
    for use in tree.iter(f"{SVG}use"):
        width, _, _, height, x, y = map(float, re.fullmatch(r"matrix\((.*)\)", use.get("transform"))[1].split())
        found.append((int(use.get("href")[-1]), x, y, width, height))
    return found


def test_information_is_in_bits_less_the_correction():
    counts = np.array([[100, 0, 0, 0], [25, 25, 25, 25], [50, 50, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]])
    small = 3 / (2 * np.log(2) * 100)
    expected = np.zeros((5, 4))
    expected[0, 0] = 2 - small
    expected[2, :2] = (1 - small) / 2
    np.testing.assert_allclose(information(counts), expected, atol=1e-12)


def test_letters_are_as_high_as_their_importance():
    values = np.array([[2.0, 1, -1, 0], [-3, -0.5, 0, 0.25], [0, 0, 0, 0]])
    letters = placed(logo_figure(values, None, ("logo", DNA)))
    scale = {round(height / abs(values[int((x - LEFT) // 22), code]), 1) for code, x, _, _, height in letters}
    assert len(letters) == 6
    assert max(scale) - min(scale) <= 0.1  # pixels for one unit: as coordinates are rounded
    at = {(int((x - LEFT) // 22), code): (y, height) for code, x, y, _, height in letters}
    zero = at[0, 2][0]  # a letter below zero starts there
    assert at[0, 1][0] + at[0, 1][1] == pytest.approx(zero, abs=0.02)  # the smaller one stands on the line
    assert at[0, 0][0] + at[0, 0][1] == pytest.approx(at[0, 1][0], abs=0.02)  # the larger one on top of it
    assert at[1, 1][0] == pytest.approx(zero, abs=0.02)
    assert at[1, 0][0] == pytest.approx(at[1, 1][0] + at[1, 1][1], abs=0.02)


def texts(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_positions_are_named_by_their_offsets():
    values = example(30).matrices[1]
    named = texts(logo_figure(values, None, ("logo", DNA), first=-20))
    assert {"−20", "−5", "0", "+5", "offset from the site"} <= set(named)
    assert "+10" not in named
    named = texts(logo_figure(values, None, ("logo", DNA)))
    assert {"1", "5", "30", "position"} <= set(named)
    part = logo_figure(values, None, ("logo", DNA), first=-20, section=(-12, 99))
    assert "−15" not in texts(part)
    assert len({round(x) for _, x, *_ in placed(part)}) == 22


def test_stored_outlines_are_those_that_matplotlib_draws():
    for letter in string.ascii_uppercase:
        paths = letter_outline(letter), drawn_outline(letter)
        stored, drawn = ([float(n) for n in re.findall(r"[-\d.]+", path)] for path in paths)
        np.testing.assert_allclose(stored, drawn, atol=2e-3)
    assert letter_outline("0") == drawn_outline("0")


def cells(svg, which):
    """Return the colours of an image's cells, row by row."""
    image = list(ElementTree.fromstring(svg).iter(f"{SVG}image"))[which]
    data = base64.b64decode(image.get("href").partition(",")[2])
    with PIL.Image.open(io.BytesIO(data)) as picture:
        return np.array(picture), float(image.get("width"))


def test_the_cells_of_a_heat_map_are_its_numbers():
    one = example(30)
    found, width = cells(heat_map(one, "map"), 0)
    np.testing.assert_array_equal(found, shades(one.matrices[1].T / 9))
    _, short_width = cells(heat_map(one, "map"), 2)
    assert found.shape == (4, 30, 3)
    assert short_width == pytest.approx(width * 29 / 30)
    assert found[2, 5].tolist() == [0, 48, 77]
    part, _ = cells(heat_map(one, "map", first=-20, section=(-15, -11)), 0)
    np.testing.assert_array_equal(part, shades(one.matrices[1][5:10].T / 9))
    assert ">2 letters<" not in heat_map(one, "map", section=(30, 30))


def test_colours():
    assert [letter_colour(letter, RNA) for letter in "AU"] == [NUCLEOTIDES["A"], NUCLEOTIDES["T"]]
    assert letter_colour("D", PROTEIN) == letter_colour("E", PROTEIN) != letter_colour("A", PROTEIN)
    other = Alphabet("01", "01")
    assert letter_colour("0", other) == letter_colour("1", other)


@pytest.mark.parametrize("alphabet", [DNA, PROTEIN, Alphabet("01", "01")], ids=lambda one: one.name)
def test_pictures_are_svg_and_the_same_every_time(alphabet):
    counts = np.random.default_rng(1).integers(0, 50, size=(30, alphabet.size))
    importance = example(alphabet=alphabet)
    drawn = [
        (logo_figure(importance.matrices[1], counts, ("a & b", alphabet)), heat_map(importance, "a & b"))
        for _ in range(2)
    ]
    assert drawn[0] == drawn[1]
    for svg in drawn[0]:
        assert ElementTree.fromstring(svg).get("aria-label") == "a & b"
    assert len(set(re.findall(r' id="([^"]*)"', drawn[0][0]))) == alphabet.size


def test_the_words_of_a_heat_map_are_those_that_matter_most():
    matrix = np.array([[0.0, 3, -1, 2], [1, 0, -5, 2]])
    assert top_kmers(matrix, ["a", "b", "d", "c"], 3) == [2, 1, 3]
    assert top_kmers(np.zeros((2, 4)), ["d", "c", "b", "a"], 2) == [3, 2]
    svg = heat_map(example(), "label", first=-10)
    assert all(f">{word}<" in svg for word in "ACGT")
    assert ">offset from the site<" in svg
    assert ">2 letters<" in svg


# ---- positions of a model --------------------------------------------------------------------------------------


def positions(length=30, first=1, section=None, orders=2):
    counts = np.random.default_rng(1).integers(1, 50, size=(length, 4))
    return Positions(example(length, orders=orders), counts, "9 windows", ("no", "yes"), first, section)


def test_the_table_names_every_word_and_position():
    rows = list(positions(first=-4).rows())
    assert len(rows) == 30 * 4 + 29 * 16
    assert rows[5 * 4 + 2] == (1, 6, 1, "G", 9.0)
    assert rows[-1][:4] == (2, 29, 24, "TT")
    assert {row[2] for row in positions().rows()} == {None}


def test_positions_come_back_from_their_file(tmp_path):
    one = positions(first=-4, section=(-2, 9))
    one.save(tmp_path / "p.npz")
    again = load_positions(tmp_path / "p.npz")
    assert list(again.rows()) == list(one.rows())
    assert pictures(again, "x") == pictures(one, "x")
    assert again.classes == ("no", "yes")
    with pytest.raises(FileError, match="no such file"):
        load_positions(tmp_path / "q.npz")
    save_archive(tmp_path / "q.npz", {"format": "another"}, {})
    with pytest.raises(FileError, match="is not a file of position importance"):
        load_positions(tmp_path / "q.npz")


def test_pictures_of_an_earlier_run_go(tmp_path):
    write_positions(positions(section=(3, 12)), tmp_path, "x")
    assert {path.name for path in tmp_path.iterdir()} == {"importance.tsv", *PICTURES}
    for name in PICTURES:
        ElementTree.parse(tmp_path / name)
    write_positions(positions(), tmp_path, "x")
    assert {path.name for path in tmp_path.iterdir()} == {"importance.tsv", "importance.svg", "logo.svg"}
    assert read_table(tmp_path / "importance.tsv")[0].keys() == {"order", "position", "offset", "word", "value"}


@pytest.fixture(scope="module")
def model():
    return train("spectrum:k=2,part=20:40")


def means_of(length, peak, windows=40):
    """Return LetterMeans of windows where only the letters of 30 positions from `peak` on matter."""
    codes = np.random.default_rng(0).integers(4, size=windows * length).astype(np.uint8)
    X = SequenceSet.from_offsets(codes, np.arange(windows + 1) * length, [str(i) for i in range(windows)], DNA)
    means, inside = LetterMeans(DNA), (np.arange(length) >= peak) & (np.arange(length) < peak + 30)
    means.add(X, np.where(np.tile(inside, windows), codes - 1.5, 0.0))
    return means


def test_a_section_holds_what_matters_and_the_site(model):
    far = positions_of(None, model, means_of(300, 200), None, "", first=1)
    assert far.section[0] <= 201 <= 230 <= far.section[1] == far.section[0] + 70
    with_site = positions_of(None, model, means_of(300, 140), None, "", first=-100)
    assert with_site.section == (-1, 69)
    assert positions_of(None, model, means_of(80, 3), None, "").section is None
    assert positions_of(None, model, None, None, "") is None
    assert positions_of(None, model, means_of(80, 3), None, "", first=-9, section=(-20, 5)).section == (-9, 5)
    with pytest.raises(ParameterError, match="choose positions from 1 to 80"):
        positions_of(None, model, means_of(80, 3), None, "", section=(81, 90))


def test_offsets_are_those_of_the_window_that_the_model_was_trained_on(model):
    record = {**model.record, "window": {"left": 20, "right": 59, "site": "AG"}}
    found = positions_of(None, dataclasses.replace(model, record=record), means_of(80, 3), None, "")
    assert found.has_site
    assert [row[1:3] for row in found.rows()][20 * 4] == (21, 0)
    assert not positions_of(None, model, means_of(80, 3), None, "").has_site


def test_the_page_says_what_is_shown():
    text = Text("".join(positions_content(positions(first=-4, section=(-2, 9)), "x"))).text
    for part in ("upward supports yes", "offsets from the site", "9 windows", "The whole window, 30 positions"):
        assert part in text
    text = Text("".join(positions_content(positions(orders=1), "x"))).text
    assert "offsets" not in text
    assert "k-mers of" not in text


def test_an_explanation_shows_where_the_model_looks(tmp_path, model):
    new = donors(seed=2)[0]
    write(model, new, tmp_path, plots=1)
    rows = read_table(tmp_path / "importance.tsv")
    looked = {int(row["position"]) for row in rows if float(row["value"])}
    assert looked == set(range(21, 41)) - {31, 32}  # its part of the window; all windows have GT at 31 and 32
    assert "Importance of positions" in (tmp_path / "index.html").read_text()
    write(model, new.take(slice(0, 5)), tmp_path, plots=1)  # too few for means
    assert not (tmp_path / "importance.tsv").exists()
    assert not list(tmp_path.glob("logo*"))
    assert "Importance of positions" not in (tmp_path / "index.html").read_text()


def test_a_flat_logo_has_an_axis_of_its_own_scale():
    """Letters of .1 bits would be lines on an axis of 4 bits; where some are tall, the axis goes up to the most."""
    flat = np.full((15, 20), 1000)
    flat[7, 0] += 2000
    tall = np.array(flat)
    tall[7, 0] += 10**6
    zeros = np.zeros(flat.shape)
    assert information(flat).sum(axis=1).max() < 0.3
    assert "4" not in texts(logo_figure(zeros, flat, ("logo", PROTEIN), first=-7))
    assert "4" in texts(logo_figure(zeros, tall, ("logo", PROTEIN), first=-7))
    assert {"−5", "0", "+5"} <= set(texts(logo_figure(zeros, flat, ("logo", PROTEIN), first=-7)))
