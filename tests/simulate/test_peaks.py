"""A simulated genome with peaks: its files agree with each other, and effects with the planted motifs."""

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.core.errors import ParameterError
from seqkern.formats.reference import Genome
from seqkern.kernels.models.motif_files import MotifSet
from seqkern.simulate import simulate

SMALL = {"n_chromosomes": 2, "n_letters": 20_000, "n_peaks": 25, "n_variants": 60}
BASES = "ACGT"
COMPLEMENT = str.maketrans("ACGT", "TGCA")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sim") / "out"
    options = [word for name, value in SMALL.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    assert main(["simulate", "peaks", *options, "--seed", "3", "-o", str(folder)]) == 0
    return folder


def rows(path):
    return [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]


def chromosomes(folder):
    texts, name = {}, ""
    for line in (folder / "genome.fa").read_text().splitlines():
        if line.startswith(">"):
            name = line[1:]
            texts[name] = ""
        else:
            texts[name] += line
    return texts


def log_odds(matrices, name, text):
    counts = next(matrix for matrix in matrices if matrix.name == name).counts
    shares = counts / counts.sum(axis=1, keepdims=True)
    return sum(np.log2(4 * shares[i, BASES.index(letter)]) for i, letter in enumerate(text))


def test_the_same_seed_writes_the_same_files(folder, tmp_path):
    options = [word for name, value in SMALL.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    assert main(["simulate", "peaks", *options, "--seed", "3", "-o", str(tmp_path / "again")]) == 0
    for path in folder.iterdir():
        if path.suffix != ".fai":
            assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


def test_peaks_lie_inside_and_apart_with_a_summit_each(folder):
    texts = chromosomes(folder)
    peaks = rows(folder / "peaks.narrowPeak")
    assert len(peaks) == SMALL["n_peaks"]
    last = ("", 0)
    for name, start, stop, _, score, strand, *_, summit in peaks:
        assert 0 <= int(start) < int(start) + int(summit) < int(stop) <= len(texts[name])
        assert (name, int(start)) >= last
        assert 0 <= int(score) <= 1000
        assert strand == "."
        last = (name, int(stop))


def test_sites_hold_their_motifs_more_than_other_places(folder):
    texts, matrices = chromosomes(folder), MotifSet.from_file(str(folder / "motifs.meme")).matrices
    own, shifted = [], []
    for name, start, stop, motif, _, strand in rows(folder / "sites.bed"):
        for place, scores in ((int(start), own), (int(start) + 50, shifted)):
            text = texts[name][place : place + int(stop) - int(start)].upper()
            scores.append(log_odds(matrices, motif, text if strand == "+" else text.translate(COMPLEMENT)[::-1]))
    assert np.mean(own) > 8
    assert np.mean(shifted) < 0


def test_reference_bases_and_effects_of_variants_agree_with_genome_and_motifs(folder):
    genome, matrices = Genome(folder / "genome.fa"), MotifSet.from_file(str(folder / "motifs.meme")).matrices
    texts, sites = chromosomes(folder), rows(folder / "sites.bed")
    regions = {"site": 0, "peak": 0, "outside": 0}
    signs = set()
    for chrom, pos, _, ref, alt, _, _, info in rows(folder / "variants.vcf"):
        place = int(pos) - 1
        assert texts[chrom][place].upper() == ref != alt
        assert place < genome.lengths[chrom]
        fields = dict(field.split("=") for field in info.split(";"))
        regions[fields["REGION"]] += 1
        effect = float(fields["EFFECT"])
        covering = [site for site in sites if site[0] == chrom and int(site[1]) <= place < int(site[2])]
        if fields["REGION"] != "site":
            assert covering == []
            assert effect == 0
            continue
        (site,) = covering
        assert site[3] == fields["MOTIF"]
        signs.add(np.sign(effect))
        values = []
        for base in (ref, alt):
            text = texts[chrom][int(site[1]) : place].upper() + base + texts[chrom][place + 1 : int(site[2])].upper()
            values.append(log_odds(matrices, site[3], text if site[5] == "+" else text.translate(COMPLEMENT)[::-1]))
        assert effect == pytest.approx(values[1] - values[0], abs=2e-3)
    assert regions == {"site": 21, "peak": 18, "outside": 21}
    assert signs == {-1, 1}


def test_repeats_are_soft_masked_and_domains_differ():
    data = simulate("peaks", 1, n_chromosomes=1, n_letters=200_000, n_peaks=10, repeats=0.3)
    assert 0.29 < data.planted.masked.mean() < 0.32
    none = simulate("peaks", 1, n_chromosomes=1, n_letters=200_000, n_peaks=10, repeats=0.0)
    gc = np.isin(none.sequences.codes, [1, 2]).reshape(-1, 5000).mean(axis=1)
    assert gc.std() > 3 * np.sqrt(0.25 / 5000)


@pytest.mark.parametrize("wrong", [{"n_peaks": 41}, {"repeats": 0.9}, {"n_motifs": 0}, {"motif_length": 40}])
def test_impossible_sizes_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        simulate("peaks", 1, **SMALL | wrong)
