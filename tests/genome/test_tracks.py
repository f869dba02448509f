"""Values along chromosomes, and where windows lie on them."""

import numpy as np
import pytest

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.formats import signals
from seqkern.formats.regions import Place, place_of
from seqkern.formats.signals import Track, track_format
from seqkern.sequences.windows import Window


def test_values_come_back_from_both_formats(tmp_path, monkeypatch):
    big_wig = pytest.importorskip("pyBigWig")
    monkeypatch.setattr(signals, "AT_ONCE", 7)
    rng = np.random.default_rng(1)
    sums = {}
    with Track() as track:
        for chromosome in ("chr9", "chr10", "chr9"):  # chr10 in order, chr9 twice, so that its parts overlap
            starts = np.sort(rng.choice(200, 60, replace=False))
            values = rng.normal(size=60)
            track.add(chromosome, starts, values)
            for start, value in zip(starts.tolist(), values.tolist(), strict=True):
                sums.setdefault((chromosome, start), []).append(value)
        track.add("chr1", np.zeros(0, dtype=np.int64), np.zeros(0))
        track.write(tmp_path / "v.bw", {"chr9": 200, "chr10": 300, "chr1": 5})
        track.write(tmp_path / "v.bg")
    expected = {place: np.mean(values) for place, values in sums.items()}
    with big_wig.open(str(tmp_path / "v.bw")) as file:
        assert file.chroms() == {"chr1": 5, "chr10": 300, "chr9": 200}
        assert file.intervals("chr1") is None
        found = {(c, start): value for c in ("chr10", "chr9") for start, _, value in file.intervals(c)}
    rows = [line.split("\t") for line in (tmp_path / "v.bg").read_text().splitlines()]
    assert [(row[0], int(row[1])) for row in rows] == sorted(expected)
    assert all(int(row[2]) == int(row[1]) + 1 for row in rows)
    for row in rows:
        place = row[0], int(row[1])
        assert float(row[3]) == pytest.approx(expected[place], rel=1e-9)
        assert found[place] == pytest.approx(expected[place], rel=1e-6)
    assert len(found) == len(expected)


@pytest.mark.parametrize(
    ("lengths", "words"),
    [({"chr1": 4}, "position 5 is beyond the end of chr1, which has 4 bases"), ({"1": 9}, "has no chromosome 'chr1'")],
)
def test_values_that_the_genome_has_no_place_for(tmp_path, lengths, words):
    with Track() as track:
        track.add("chr1", np.array([4]), np.ones(1))
        with pytest.raises(SequenceError, match=words):
            track.write(tmp_path / "v.bw", lengths)
    assert not list(tmp_path.iterdir())


def test_endings():
    assert track_format("a/B.BW") == track_format("x.bigWig") == "bigwig"
    with pytest.raises(ParameterError, match=r"'v\.txt' is neither bigWig nor bedGraph; end the name in"):
        track_format("v.txt")


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("chr1:11-20", Place("chr1", 10, 20)),
        ("chr1:10-20", Place("chr1", 10, 20)),
        ("peak7::chr1:10-20(-)", Place("chr1", 10, 20, True)),
        ("HLA:A:11-20:-", Place("HLA:A", 10, 20, True)),
        ("chr1:11-20(+)", Place("chr1", 10, 20)),
        ("chr1:15:+", Place("chr1", 10, 20)),
        ("chr1:15:-", Place("chr1", 9, 19, True)),
        ("chr1:3:+", None),
        ("chr1:11-21:x", None),
        ("chr1:11-25", None),
        ("chr1", None),
    ],
)
def test_places_by_ids(name, place):
    assert place_of(name, 10, Window(4, 5)) == place


def test_a_site_needs_the_window_of_the_model():
    assert place_of("chr1:15:+", 10) is None
    assert place_of("chr1:15:+", 10, Window(4, 4)) is None
