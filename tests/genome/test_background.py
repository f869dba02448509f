"""Background regions: what they may not touch, how they match, and what is said where none is left."""

import numpy as np
import pytest

from seqkern.core.errors import SeqkernError
from seqkern.formats.background import BackgroundOptions, composition, draw_background, ks_distance
from seqkern.formats.reference import Genome
from seqkern.formats.regions import (
    RegionOptions,
    make_regions,
    overlapping,
    overlapping_one_another,
    region_letters,
    usable_regions,
)


@pytest.fixture
def genome(inside):
    with Genome("g.fa") as genome:
        yield genome


@pytest.fixture
def peaks(genome):
    return usable_regions("peaks.narrowPeak", genome, RegionOptions("g.fa", 100))


def test_composition_counts_letters(genome):
    rng = np.random.default_rng(1)
    starts = rng.integers(0, 39_000, 60)
    regions = make_regions(rng.choice(["chr1", "chr3"], 60), starts, starts + rng.integers(1, 900, 60))
    found = composition(regions, genome)
    for i, text in enumerate(region_letters(regions, genome)):
        known = sum(text.upper().count(letter) for letter in "ACGT")
        assert found.unknown[i] == pytest.approx(1 - known / len(text))
        assert found.gc[i] * max(known, 1) == pytest.approx(sum(text.upper().count(letter) for letter in "GC"))
        assert found.repeats[i] * len(text) == pytest.approx(sum(letter.islower() for letter in text))


@pytest.mark.parametrize("chromosomes", ["same", "any"])
def test_background_matches_and_keeps_away(genome, peaks, chromosomes):
    closed = make_regions(["chr1", "chr2"], [20_000, 5_000], [30_000, 9_000])
    options = BackgroundOptions(1.5, chromosomes=chromosomes)
    drawn = draw_background(peaks, genome, options, [closed])
    regions = drawn.regions
    assert len(regions) == round(1.5 * len(peaks))
    assert set(regions.lengths.tolist()) == {100}
    assert not overlapping(regions, peaks).any()
    assert not overlapping(regions, closed).any()
    assert not overlapping_one_another(regions).any()
    assert not drawn.found.unknown.any()
    places = dict(zip(peaks.ids(), range(len(peaks)), strict=True))
    peak = np.array([places[name] for name in regions.names.tolist()])
    if chromosomes == "same":
        assert np.array_equal(regions.chromosomes, peaks.chromosomes[peak])
    assert np.median(np.abs(drawn.found.gc - drawn.peaks.gc[peak])) <= 0.02
    assert ks_distance(drawn.found.gc, drawn.peaks.gc[peak]) < 0.08
    loose = draw_background(peaks, genome, BackgroundOptions(1.5, match=("length",)), [closed])
    assert ks_distance(loose.found.gc, loose.peaks.gc) > ks_distance(drawn.found.gc, drawn.peaks.gc)


def test_lengths_are_those_of_the_peaks(genome, peaks):
    rng = np.random.default_rng(5)
    stops = peaks.starts + rng.integers(60, 400, len(peaks))
    several = make_regions(peaks.chromosomes, peaks.starts, stops)
    drawn = draw_background(several, genome)
    assert drawn.regions.lengths.tolist() == several.lengths.tolist()
    assert not overlapping(drawn.regions, several).any()
    assert not overlapping_one_another(drawn.regions).any()


def test_the_seed_decides(genome, peaks):
    drawn = [draw_background(peaks, genome, BackgroundOptions(seed=seed)).regions.ids() for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0]) & set(drawn[2])) < 10


def test_no_place_is_left(genome, peaks):
    with pytest.raises(SeqkernError, match=r"no place is left .* relax: a smaller --factor, .*--chromosomes any"):
        draw_background(peaks, genome, BackgroundOptions(1000))
    everything = make_regions(["chr1"], [0], [39_900])
    problem = "peaks.narrowPeak: no place is left in the genome for a background region of chr1:"
    with pytest.raises(SeqkernError, match=problem):
        draw_background(peaks, genome, BackgroundOptions(), [everything])
    crowded = make_regions(["chr1"] * 380, np.arange(380) * 105, np.arange(380) * 105 + 50)
    with pytest.raises(SeqkernError, match=problem):
        draw_background(peaks, genome, BackgroundOptions(), [crowded])
    with pytest.raises(SeqkernError, match="too many to find a background; add --width"):
        draw_background(make_regions(["chr1"], [0], [2**20 + 1]), genome)


def test_a_genome_without_repeats_is_said_once(inside, tmp_path):
    (tmp_path / "plain.fa").write_text((inside / "g.fa").read_text().upper().replace("CHR", "chr"))
    with Genome(tmp_path / "plain.fa") as genome:
        peaks = usable_regions("peaks.narrowPeak", genome, RegionOptions("", 100))
        remarks = draw_background(peaks, genome).remarks
    assert [text.partition("plain.fa ")[2] for text in remarks] == [
        "has no soft-masked (lower-case) bases, so repeats are not matched"
    ]
