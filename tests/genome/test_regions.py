"""Regions of BED files, against a genome: values, and what is said of bad input."""

import gzip
import io
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from seqkern.core.errors import SeqkernError
from seqkern.formats.bgzip import BgzipWriter
from seqkern.formats.reference import Genome, fasta_index
from seqkern.formats.regions import (
    RegionOptions,
    loci,
    make_regions,
    merged,
    on_genome,
    overlapping,
    overlapping_one_another,
    read_bed,
    read_regions,
    region_letters,
    region_sources,
    resized,
    usable_regions,
    write_bed,
)
from seqkern.sequences.fasta import read_fasta
from seqkern.study.data_entry import is_bed

COMPLEMENT = str.maketrans("ACGTacgt", "TGCAtgca")


def random_regions(rng, n, length=3000, widest=200):
    starts = rng.integers(0, length - widest, n)
    return make_regions(rng.choice(["chr1", "chr2"], n), starts, starts + rng.integers(1, widest, n))


def test_overlaps_are_those_of_a_comparison_of_all_pairs():
    rng = np.random.default_rng(0)
    a, b = random_regions(rng, 80), random_regions(rng, 20)

    def share(x, i, y, j):
        return x.chromosomes[i] == y.chromosomes[j] and x.starts[i] < y.stops[j] and y.starts[j] < x.stops[i]

    assert overlapping(a, b).tolist() == [any(share(a, i, b, j) for j in range(20)) for i in range(80)]
    alone = [any(share(a, i, a, j) for j in range(80) if j != i) for i in range(80)]
    assert overlapping_one_another(a).tolist() == alone


def test_merged_regions_are_those_of_a_comparison_of_all_pairs():
    rng = np.random.default_rng(4)
    x = random_regions(rng, 150)
    x = replace(x, scores=np.where(rng.random(150) < 0.2, np.nan, rng.integers(0, 5, 150)))
    x = replace(x, strands=rng.choice(["+", "-", "."], 150))
    kept = []
    for i in sorted(range(150), key=lambda i: (np.isnan(x.scores[i]), -np.nan_to_num(x.scores[i]), i)):
        for j in kept:
            shared = min(x.stops[i], x.stops[j]) - max(x.starts[i], x.starts[j])
            near = x.chromosomes[i] == x.chromosomes[j] and x.strands[i] == x.strands[j]
            if near and shared > min(x.lengths[i], x.lengths[j]) / 2:
                break
        else:
            kept.append(i)
    found = merged(x)
    assert 30 < len(found) < 120
    assert found.ids() == x.take(np.sort(kept)).ids()
    assert list(found.counts.values()) == [150 - len(kept)]


def test_loci_are_connected_windows():
    rng = np.random.default_rng(3)
    for _ in range(20):
        x = random_regions(rng, 40, 6000, 150)
        parent = list(range(40))

        def root(i, parent=parent):
            while parent[i] != i:
                i = parent[i]
            return i

        for i in range(40):
            for j in range(i):
                near = abs(x.starts[i] - x.starts[j]) < max(x.lengths[i], x.lengths[j])
                if x.chromosomes[i] == x.chromosomes[j] and near:
                    parent[root(i)] = root(j)
        found = loci(x.chromosomes, x.starts, x.lengths)
        for i in range(40):
            for j in range(i):
                assert (found[i] == found[j]) == (root(i) == root(j))


def test_letters_are_those_of_the_chromosome_on_their_strand(inside):
    text = {}
    for record in (inside / "g.fa").read_text().split(">")[1:]:
        header, *lines = record.split("\n")
        text[header.split()[0]] = "".join(lines)
    rng = np.random.default_rng(2)
    x = random_regions(rng, 50, 40_000)
    x = make_regions(x.chromosomes, x.starts, x.stops, strands=rng.choice(["+", "-", "."], 50))
    with Genome("g.fa") as genome:
        found = region_letters(x, genome)
    for name, start, stop, strand, letters in zip(x.chromosomes, x.starts, x.stops, x.strands, found, strict=True):
        own = text[name][start:stop]
        assert letters == (own.translate(COMPLEMENT)[::-1] if strand == "-" else own)


def test_lines_of_all_kinds_are_read(tmp_path):
    path = tmp_path / "p.bed.gz"
    text = "browser position chr1\ntrack name=x\n# note\n\nchr1\t5\t9\nchr2 0 4 b 7 -\n"
    text += "chr1\t1\t3\tn\t.\t+\t1\t1\t0\t1,2\t1\t2\n"
    path.write_bytes(gzip.compress(text.encode()))
    found = read_bed(path)
    assert found.ids() == ["chr1:6-9", "chr2:1-4", "chr1:2-3"]
    assert (found.strands.tolist(), found.lines.tolist()) == ([".", "-", "+"], [5, 6, 7])
    write_bed(tmp_path / "again.bed", found)
    again = read_bed(tmp_path / "again.bed")
    assert (again.ids(), again.strands.tolist(), again.names.tolist()) == (
        found.ids(),
        found.strands.tolist(),
        found.names.tolist(),
    )


def test_windows_lie_around_summits(inside):
    with Genome("g.fa") as genome:
        found = usable_regions("peaks.narrowPeak", genome, RegionOptions("g.fa", 12))
        assert {letters.upper() for letters in region_letters(found, genome)} == {"TGACTCATTGCA"}
    assert resized(make_regions(["c"], [10], [21]), 5).starts.tolist() == [13]


def test_windows_past_an_end_and_on_the_blacklist_are_counted(inside, tmp_path):
    (tmp_path / "e.bed").write_text(
        "chr1\t0\t20\nchr1\t39990\t40000\nchr1\t5000\t5100\nchr1\t5050\t5150\nchr1\t9000\t9100\nchr1\t39950\t40001\n"
    )
    (tmp_path / "black.bed").write_text("chr1\t9099\t9100\nchrUn\t0\t10\n")
    options = RegionOptions("g.fa", 100, str(tmp_path / "black.bed"))
    with Genome("g.fa") as genome:
        found = usable_regions(tmp_path / "e.bed", genome, options)
        (past, one), *others = found.counts.items()
        assert past.startswith("regions left out that extend past the end of their chromosome")
        assert one == 1
        assert dict(others) == {
            "regions left out whose windows extend past an end": 2,
            "regions left out that overlap the blacklist": 1,
            "regions that overlap another one": 2,
        }
        with pytest.raises(SeqkernError, match=r"line 6: chr1:39951-40001 extends past an end of chr1"):
            usable_regions(tmp_path / "e.bed", genome, RegionOptions("g.fa", 100, past_end="error"))
        (tmp_path / "w.bed").write_text("chr1\t0\t20\n")
        with pytest.raises(SeqkernError, match=r"line 1: 100 bases around its centre extend past an end of chr1"):
            usable_regions(tmp_path / "w.bed", genome, RegionOptions("g.fa", 100, past_end="error"))
        (tmp_path / "black.bed").write_text("chr1\t0\t40000\n")
        with pytest.raises(SeqkernError, match="no region is left"):
            usable_regions(tmp_path / "e.bed", genome, options)
        (tmp_path / "black.bed").write_text("1\t0\t40000\n")
        with pytest.raises(SeqkernError, match="no region is left"):  # 1 is the genome's chr1
            usable_regions(tmp_path / "e.bed", genome, options)
        (tmp_path / "black.bed").write_text("X\t0\t40000\n")
        with pytest.raises(SeqkernError, match=r"black.bed: line 1: chromosome 'X' is not in g.fa"):
            usable_regions(tmp_path / "e.bed", genome, options)


def test_ids_of_several_files_differ_and_letters_are_read_by_policy(inside, tmp_path):
    (tmp_path / "a.bed").write_text("chr1\t495\t505\nchr1\t495\t505\n")
    sources = region_sources([tmp_path / "a.bed", tmp_path / "a.bed"], RegionOptions("g.fa", 0))
    X = read_fasta(sources, "dna")
    assert X.ids == ["chr1:496-505", "chr1:496-505.2", "chr1:496-505.3", "chr1:496-505.4"]
    assert X.counts["masked N"] == 20
    assert X.counts["regions that overlap another one"] == 4
    with pytest.raises(SeqkernError, match="record 'chr1:496-505'"):
        read_fasta(sources, "dna", unknown="error")


LINES = {
    "chr1\t5\n": "line 1 has 2 columns; BED has 3 to 12",
    "chr1\t5\t9\n\t5\t9\n": "line 2 has no chromosome",
    "chr1\t-1\t9\n": "line 1 begins at -1; the first base of a chromosome is 0",
    "chr1\t5\t5\n": "line 1 has no base: it begins and ends at 5; .* if positions count from 1, subtract 1",
    "chr1\t9\t5\n": "line 1 ends at 5, before its start 9; swap",
    "name\tstart\tend\nchr1\t5\t9\n": "line 1 has the start 'start', which is not an integer; remove the header line",
    "chr1\t5\t9.5\n": "line 1 has the stop '9.5', which is not an integer; give whole numbers",
    "chr1\t5\t9\tn\t0\tx\n": r"line 1 has the strand 'x'; write \+, - or \. in column 6",
    "Position\tIP\tStrand\n1:5\t7\tx\n": "line 2 has the strand 'x'; .* in column 3",
    "chr1\t5\t9\tn\t0\t.\t1\t1\t1\t4\n": "line 1 has the summit 4, .* the last column of narrowPeak is the offset",
    "chr1\t5\t9\tn\t0\t.\t1\t1\t1\tx\n": "line 1 has the summit 'x'",
    "# nothing\n": "contains no region",
    "chr9\t5\t9\n": "line 1: chromosome 'chr9' is not in g.fa; remove .*: chr1, chr2, chr3, chr4",
    "Position\tIP\nchr1:x\t5\n": "line 2 has the start 'x', which is not an integer",
    "Position\tIP\n7\t5\n": "line 2 has no chromosome",
    "chr\tstart\tend\tlength\tabs_summit\nchr1\t5\t9\t5\t10\n": "line 2 has the summit 10, .* abs_summit is a position",
    "chr\tstart\tend\tlength\tabs_summit\nchr1\t0\t9\t5\t10\n": "line 2 begins at 0; .* is 1 in tables of MACS",
    "chr\tstart\tend\tlength\nchr1\t20\t9\t5\n": "line 2 ends at 9, before its start 20",
    "chr1\t39000\t40001\n": "line 1: chr1:39001-40001 extends past an end .* 40,000 bases .* 1 from the stops",
    "chr1\t39000\t41000\nchr2\t0\t50000\n": r"\(2 regions do so\); use the genome that the regions were made with",
}


@pytest.mark.parametrize("text", LINES)
def test_bad_lines(text, inside, tmp_path):
    (tmp_path / "bad.bed").write_text(text)
    with Genome("g.fa") as genome, pytest.raises(SeqkernError, match=LINES[text]) as caught:
        on_genome(read_bed(tmp_path / "bad.bed"), genome)
    assert str(caught.value).startswith(str(tmp_path / "bad.bed"))


def test_chromosomes_with_another_name_get_the_genomes(tmp_path):
    (tmp_path / "g.fa").write_text(">1\nACGT\n>MT\nACGT\n")
    with Genome(tmp_path / "g.fa") as genome:
        found = read_regions(io.StringIO("chr1\t0\t2\nchrM\t0\t2\n1\t1\t3\n"), genome)
    assert found.ids() == ["1:1-2", "MT:1-2", "1:2-3"]
    assert list(found.counts.values()) == [2]


# Peak files by content: text, places, summits and strongest; all say the same two peaks in their own way.
PEAKS = {
    "chr1\t99\t400\tp\t7\t.\t1\t2\t3\t50\nchr2\t0\t200\tq\t9\t.\t1\t2\t3\t99\n": [149, 99],
    "# MACS\n\nchr\tstart\tend\tlength\tabs_summit\tpileup\t-log10(pvalue)\tfold_enrichment\tname\n"
    "chr1\t100\t400\t301\t150\t9\t7\t3\tp\nchr2\t1\t200\t200\t100\t9\t9\t3\tq\n": [149, 99],
    "chr\tstart\tend\tlength\tsummit\ttags\t-10*log10(pvalue)\n"
    "chr1\t100\t400\t301\t50\t9\t7\nchr2\t1\t200\t200\t99\t9\t9\n": [149, 99],
    "Position\tIP\tStrand\n1:150\t7.0\t+\nchr2:100\t9.0\t*\n": [149, 99],
    "chr1\t99\t400\tp\t7\t.\t1\t2\t3\nchr2\t0\t200\tq\t9\t.\t1\t2\t3\n": [-1, -1],
    "Chr\tPos_-5\tPos_+5\tGeneSys\tscore\n1\t99\t400\tYFR\t7\n2\t0\t200\tYFL\t9\n": [-1, -1],
}


@pytest.mark.parametrize("text", PEAKS)
def test_peak_files_are_told_by_their_content(text, inside, tmp_path):
    (tmp_path / "peaks.txt").write_bytes(gzip.compress(text.encode(), mtime=0))
    with Genome("g.fa") as genome:
        found = read_regions(tmp_path / "peaks.txt", genome)
        assert found.summits.tolist() == PEAKS[text]
        assert found.scores.tolist() == [7, 9]
        places = ["chr1:150-150", "chr2:100-100"] if text[0] == "P" else ["chr1:100-400", "chr2:1-200"]
        assert found.ids() == places
        assert is_bed(tmp_path / "peaks.txt", with_genome=True)
        used = usable_regions(tmp_path / "peaks.txt", genome, RegionOptions("g.fa"))
    width = 100 if text[0] == "P" else 250 if PEAKS[text][0] > 0 else None
    assert used.width == width
    said = f"regions read as {width} bases around their summits or centres (--width changes it)"
    assert (said in used.counts) == (width is not None)


def test_files_read_together_have_one_width(inside, tmp_path):
    (tmp_path / "a.bed").write_text("chr1\t9000\t9001\n")
    (tmp_path / "b.bed").write_text("chr1\t5000\t5100\nchr1\t7000\t7030\n")
    for options, lengths in ((RegionOptions("g.fa"), [100] * 3), (RegionOptions("g.fa", 0), [1, 100, 30])):
        sources = region_sources([tmp_path / "a.bed", tmp_path / "b.bed"], options)
        assert np.concatenate([source.regions.lengths for source in sources]).tolist() == lengths


FASTA = {
    b"": "is empty",
    b"ACGT\n": "is not FASTA",
    b">a\nAC\n>a x\nGT\n": "record 'a': occurs twice",
    b">\nAC\n": "has a header without a name",
    b">a\nACGT\nAC\nACGT\n": "cannot be indexed: lines of a sequence differ in length",
    gzip.compress(b">a\nACGT\n", mtime=0): r"is compressed by gzip, .*; run gunzip g.fa.gz, or .*\| bgzip > g.fa.bgz",
    b"BZh91AY": "cannot be indexed in this compression",
}


@pytest.mark.parametrize("content", FASTA)
def test_genomes_that_cannot_be_indexed(content, tmp_path, capfd):
    path = tmp_path / ("g.fa.gz" if content.startswith(b"\x1f") else "g.fa")
    path.write_bytes(content)
    with pytest.raises(SeqkernError, match=FASTA[content]):
        Genome(path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert capfd.readouterr().err == ""


def test_an_index_goes_to_the_cache_where_the_folder_cannot_be_written(inside, tmp_path, monkeypatch):
    shutil.copy("g.fa", tmp_path / "g.fa")
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and access(path, mode))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with Genome(tmp_path / "g.fa") as one, Genome("g.fa") as two:
        assert one.fetch("chr2", 1000, 1300) == two.fetch("chr2", 1000, 1300)
    assert not (tmp_path / "g.fa.fai").exists()
    assert [path.suffix for path in (tmp_path / "cache").rglob("*.*")] == [".fai"]


def test_an_index_of_another_version_is_refused(tmp_path):
    path = tmp_path / "g.fa"
    path.write_text(">a\nACGT\n>b\nACGT\n")
    Genome(path).close()
    path.write_text(">a\nACGTACGTACGT\n>b\nACGT\n")
    with pytest.raises(SeqkernError, match=r"g\.fa\.fai: does not belong to the genome; delete it"):
        Genome(path)


def test_bgzip_gives_the_same(inside, tmp_path):
    import pysam

    pysam.tabix_compress("g.fa", str(tmp_path / "g.fa.gz"))
    with Genome(tmp_path / "g.fa.gz") as packed, Genome("g.fa") as plain:
        assert packed.lengths == plain.lengths
        assert packed.fetch("chr3", 100, 20_000) == plain.fetch("chr3", 100, 20_000)


def test_a_run_that_is_killed_while_it_indexes_leaves_nothing_beside_the_genome(tmp_path):
    (tmp_path / "g.fa").write_text(">a\nACGT\n")
    script = (
        "import os, sys\n"
        "import pysam as library\n"
        "from seqkern.formats import reference\n"
        "faidx = library.faidx\n"
        "library.faidx = lambda *words: (faidx(*words), os.kill(os.getpid(), 9))\n"
        "reference.fasta_index(sys.argv[1])\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path.parent)}
    killed = subprocess.run([sys.executable, "-c", script, str(tmp_path / "g.fa")], env=environment, check=False)
    assert killed.returncode == -9
    assert [path.name for path in tmp_path.iterdir()] == ["g.fa"]


def test_an_index_of_which_one_file_is_there_is_completed(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with (tmp_path / "g.fa.gz").open("wb") as file:
        writer = BgzipWriter(file)
        writer.write(">a\nACGT\n")
        writer.finish()
    fai, gzi = fasta_index(tmp_path / "g.fa.gz")
    made = fai.read_bytes(), gzi.read_bytes()
    fai.unlink()  # as after a kill between the two
    assert fasta_index(tmp_path / "g.fa.gz") == (fai, gzi)
    assert (fai.read_bytes(), gzi.read_bytes()) == made
    fai.unlink()
    gzi.write_bytes(b"of another file")
    kept, _ = fasta_index(tmp_path / "g.fa.gz")
    assert (kept.read_bytes(), gzi.read_bytes()) == (made[0], b"of another file")
    assert not fai.exists()
