"""``seqkern splice-scores``."""

import contextlib
import gzip
import math

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.formats.annotation import gaps, read_annotation
from seqkern.genomics import splice
from seqkern.genomics.splice import BINS, FLOOR, LOW, MOST, STEP, WINDOW, load_splice_model, score_steps, splice_scores

OPPOSITE = str.maketrans("ACGTN", "TGCAN")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with two annotated genomes, and a model of one."""
    folder = tmp_path_factory.mktemp("splice")
    with contextlib.chdir(folder), pytest.MonkeyPatch.context() as patch:
        patch.setattr(splice, "LEAST_DECOYS", 1000)
        assert main(["simulate", "genes", "--n-genes", "16", "-o", "g"]) == 0
        assert main(["simulate", "genes", "--n-genes", "4", "--seed", "2", "-o", "new"]) == 0
        assert main(["splice-scores", "m", "g.fasta", "--train", "g.gtf"]) == 0
        # contigs of which the second has acceptors only, one without a site, and masked bases
        letters = (folder / "new.fasta").read_text().split(">")[1].partition("\n")[2].replace("\n", "")
        acceptors = "ACAG".replace("GT", "") * 80
        (folder / "few.fa").write_text(
            f">z\n{letters[:4000]}\n>a\n{acceptors}\n>b\n{'C' * 500}\n>c\n{'N' * 300}{letters}\n"
        )
    return folder


def read_fasta(path):
    """Return the sequence of each contig."""
    records = path.read_text().split(">")[1:]
    return {record.split(None, 1)[0]: record.partition("\n")[2].replace("\n", "") for record in records}


def naive(model, genome):
    """Return the rows of a genome, site by site, on each strand as it is read."""
    rows = []
    for name, forward in genome.items():
        own = []
        for strand in "+-":
            letters = forward if strand == "+" else forward[::-1].translate(OPPOSITE)
            for motif_name, edges in model.edges.items():
                kind, motif = motif_name.split()
                for at in range(WINDOW.left, len(letters) - WINDOW.right):
                    window = letters[at - WINDOW.left : at + WINDOW.right + 1]
                    if letters[at : at + 2] != motif or "N" in window:
                        continue
                    (decision,) = model.sites[kind].decision([window])
                    score = int(model.scores[motif_name][sum(edge <= decision for edge in edges)])
                    before = at if kind == "donor" else at + 2
                    if score > FLOOR:
                        before = before if strand == "+" else len(letters) - before
                        own.append((before, strand == "-", kind == "acceptor", score))
        own.sort()
        rows += [f"{name}\t{at}\t{'+-'[minus]}\t{'DA'[acceptor]}\t{score}" for at, minus, acceptor, score in own]
    return rows


def test_scores_are_those_of_a_naive_scan(folder):
    model = load_splice_model(folder / "m")
    genome = read_fasta(folder / "few.fa")
    lines = "".join(splice_scores(model, folder / "few.fa")).splitlines()
    assert lines == naive(model, genome)
    assert {line.split("\t")[0] for line in lines} >= {"z", "c"}


def test_annotated_sites_have_the_aligners_offsets(folder, monkeypatch):
    monkeypatch.setattr(splice, "FLOOR", -MOST - 1)
    monkeypatch.setattr(splice, "TEXTS", 2 * MOST + 2)
    ends = [f"{s}\t{k}\t{n}\n".encode() for s in "+-" for k in "DA" for n in range(-MOST - 1, MOST + 1)]
    monkeypatch.setattr(splice, "ENDS", ends)
    found = {}
    for line in "".join(splice_scores(load_splice_model(folder / "m"), folder / "new.fasta")).splitlines():
        name, at, strand, kind, score = line.split("\t")
        found[name, int(at), strand, kind] = int(score)
    ends = []
    for transcript in read_annotation(folder / "new.gtf").transcripts:
        for start, stop in gaps(transcript.exons):  # from 0, half open: bases before each junction
            donor, acceptor = (stop, start) if transcript.reverse else (start, stop)
            strand = "-" if transcript.reverse else "+"
            ends += [(transcript.chromosome, donor, strand, "D"), (transcript.chromosome, acceptor, strand, "A")]
    known = [found[end] for end in ends if end in found]
    assert len(known) > 0.9 * len(ends) > 20  # the others have GC, or lie near an end
    assert np.mean(known) > 5 > 0 > np.mean(list(found.values()))


def test_reverse_complement_has_mirrored_scores(folder):
    model = load_splice_model(folder / "m")
    letters = read_fasta(folder / "few.fa")["z"]
    (folder / "plus.fa").write_text(f">z\n{letters}\n")
    (folder / "minus.fa").write_text(f">z\n{letters[::-1].translate(OPPOSITE)}\n")
    plus, minus = (
        sorted(line.split("\t") for line in "".join(splice_scores(model, folder / name)).splitlines())
        for name in ("plus.fa", "minus.fa")
    )
    turned = [["z", str(len(letters) - int(at)), "+-"[strand == "+"], *rest] for _, at, strand, *rest in minus]
    assert len(plus) > 10
    assert plus == sorted(turned)


def test_same_bytes_in_threads_parts_and_packed(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    for threads in ("1", "2"):
        assert main(["splice-scores", "m", "new.fasta", "--threads", threads, "-o", f"s{threads}.tsv"]) == 0
    expected = (folder / "s1.tsv").read_bytes()
    assert len(expected) > 1000
    assert (folder / "s2.tsv").read_bytes() == expected
    for number in (2, 1, 3):
        assert main(["splice-scores", "m", "new.fasta", "--part", f"{number}/3", "-o", "parts.tsv"]) == 0
    capsys.readouterr()
    assert main(["splice-scores", "m", "new.fasta", "--gather", "-o", "parts.tsv"]) == 0
    assert (folder / "parts.tsv").read_bytes() == expected
    assert f"{len(expected.splitlines()):,} sites written" in capsys.readouterr().err
    assert main(["splice-scores", "m", "new.fasta", "-o", "s.tsv.gz"]) == 0
    assert gzip.decompress((folder / "s.tsv.gz").read_bytes()) == expected
    assert main(["splice-scores", "m", "new.fasta"]) == 0
    assert capsys.readouterr().out.encode() == expected


def test_interrupted_scores_are_continued(folder, monkeypatch):
    model = load_splice_model(folder / "m")
    from seqkern.methods import scan

    whole = "".join(splice_scores(model, folder / "new.fasta"))
    monkeypatch.setattr(scan.scan_all, "__kwdefaults__", {**scan.scan_all.__kwdefaults__, "block": 1000})
    blocks = []
    text = []
    for lines in splice_scores(model, folder / "new.fasta", end_block=lambda: blocks.append("".join(text))):
        text.append(lines)
    assert "".join(text) == whole
    assert len(blocks) > 5
    rest = "".join(splice_scores(model, folder / "new.fasta", skip=4))
    assert blocks[3] + rest == whole


def test_scores_follow_the_counts():
    counts = np.zeros((2, BINS), dtype=np.int64)
    counts[:, 400:403] = [[90_000, 9_000, 10], [0, 90, 90]]
    prior = 180 / 99_190
    edges, scores = score_steps(counts, prior)
    np.testing.assert_allclose(edges, [LOW + STEP * 400.5, LOW + STEP * 401.5])
    hits, n = np.array([0, 90, 90]), np.array([90_000, 9_090, 100])
    assert scores.tolist() == [
        round(2 * math.log2((h + prior) / (m + 1) / prior)) for h, m in zip(hits, n, strict=True)
    ]
    counts[:, 401] = [20, 200]  # a bin that falls is joined with the next
    assert len(score_steps(counts, prior)[1]) == 2


def test_training_is_repeated_to_the_last_byte(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(splice, "LEAST_DECOYS", 1000)
    assert main(["splice-scores", "again", "g.fasta", "--train", "g.gtf", "--threads", "1"]) == 0
    assert (folder / "again").read_bytes() == (folder / "m").read_bytes()


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("gone", "new.fasta"), "gone: no such file"),
        (("new.gtf", "new.fasta"), "new.gtf: is not a model of splice sites, or is corrupted"),
        (("m", "gone.fa"), "gone.fa: no such file"),
        (("m2", "g.fasta", "--train", "none.gtf"), "none.gtf: has no donor site"),
        (("m2", "g.fasta", "--train", "few.gtf"), "sites GT, but 30 are needed; give the annotation of more genes"),
        (("m2", "g.fasta", "--train", "other.gtf"), "calls the chromosome 1 that the genome calls chr1"),
        (("m2", "-", "--train", "g.gtf"), "the files are read more than once"),
        (("m2", "g.fasta", "--train", "g.gtf", "--part", "1/2", "-o", "x"), "--part does not work with --train"),
        (("m", "-", "--part", "1/2", "-o", "x"), "--part cannot divide standard input"),
    ],
)
def test_bad_input_is_told_in_one_line(folder, monkeypatch, capsys, argv, words):
    monkeypatch.chdir(folder)
    lines = (folder / "g.gtf").read_text().splitlines(keepends=True)
    (folder / "none.gtf").write_text("".join(line for line in lines if 'gene_id "none"' in line) + EXON)
    (folder / "few.gtf").write_text("".join(lines[: len(lines) // 8]))
    (folder / "other.gtf").write_text("".join(line.removeprefix("chr") for line in lines))
    capsys.readouterr()
    assert main(["splice-scores", *argv]) in (1, 2)
    err = capsys.readouterr().err.splitlines()
    assert words in err[-1]
    assert not (folder / "m2").exists()


EXON = 'chr1\t.\texon\t10\t90\t.\t+\t.\tgene_id "g"; transcript_id "t";\n'
