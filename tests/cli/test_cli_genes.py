"""``seqkern grammar`` and ``seqkern genes``."""

import contextlib

import pytest

from seqkern.cli.main import main
from seqkern.formats.annotation import read_annotation
from seqkern.genomics import gene_learning

SIMPLE = ("--kernel", "weighted_degree:degree=3", "--threads", "1")


@pytest.fixture(autouse=True, scope="module")
def one_cost():
    """Try a single C, to be fast."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gene_learning, "COSTS", (0.1,))
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a genome of 16 genes, and a model of it."""
    folder = tmp_path_factory.mktemp("genes")
    with contextlib.chdir(folder):
        assert main(["simulate", "genes", "--n-genes", "8", "--n-exons", "2", "-o", "g"]) == 0
        assert main(["grammar", "g.fasta", "g.gtf", *SIMPLE, "-o", "m"]) == 0
    return folder


def fails(capsys, *argv):
    """Run a command that fails; return its one line."""
    capsys.readouterr()
    assert main(list(argv)) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    return lines[0]


def test_genes_are_written_and_compared(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert main(["genes", "m", "g.fasta", "--truth", "g.gtf", "-o", "found.gtf"]) == 0
    told = capsys.readouterr()
    rows = {line.split()[0]: line.split()[1:] for line in told.out.splitlines()[2:]}
    transcripts = read_annotation("found.gtf").transcripts
    assert f"{len(transcripts)} genes" in told.err
    assert {*rows} == {"base", "exon", "gene"}
    assert rows["gene"][2:] == ["16", str(len(transcripts))]
    assert float(rows["base"][0]) > 0.8
    assert main(["genes", "m", "g.fasta", "--truth", "g.gtf"]) == 0
    told = capsys.readouterr()
    assert told.out == (folder / "found.gtf").read_text()
    assert "sensitivity" in told.err
    assert main(["genes", "m", "g.fasta", "--truth", "found.gtf", "-o", "again.gtf"]) == 0
    assert capsys.readouterr().out.count("1.0000       1.0000") == 3
    assert (folder / "again.gtf").read_bytes() == (folder / "found.gtf").read_bytes()


def test_same_bytes_at_any_thread_count(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert main(["grammar", "g.fasta", "g.gtf", *SIMPLE[:3], "2", "-o", "again"]) == 0
    assert (folder / "again").read_bytes() == (folder / "m").read_bytes()


def test_mistakes_are_one_line(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert "g.fasta has no annotation; give a GTF" in fails(capsys, "grammar", "g.fasta", "-o", "x")
    assert "read more than once" in fails(capsys, "grammar", "-", "g.gtf", "-o", "x")
    assert "g.gtf: is not a model of genes" in fails(capsys, "genes", "g.gtf", "g.fasta")
    assert "give a model of seqkern grammar" in fails(capsys, "genes", "g.fasta", "g.fasta")
    (folder / "exons.gtf").write_text(
        "".join(line for line in (folder / "g.gtf").read_text().splitlines(True) if "\tCDS\t" not in line)
    )
    assert "exons.gtf: has no CDS" in fails(capsys, "genes", "m", "g.fasta", "--truth", "exons.gtf", "-o", "x")
    assert "exons.gtf: has no CDS of a transcript" in fails(capsys, "grammar", "g.fasta", "exons.gtf", "-o", "x")
    other = "".join(line.replace("chr", "") for line in (folder / "g.gtf").read_text().splitlines(True))
    (folder / "other.gtf").write_text(other)
    assert "calls the chromosome 1" in fails(capsys, "grammar", "g.fasta", "other.gtf", "-o", "x")
    assert main(["genes", "m", "g.fasta", "--truth", "other.gtf", "-o", "x"]) == 0
    assert "2 chromosomes that the genome lacks (1, 2); give both with the same names" in capsys.readouterr().err
    (folder / "x").unlink()
    assert main(["grammar", "g.fasta", "g.gtf", "--solver", "kernel_pca", "-o", "x"]) == 1
    assert not (folder / "x").exists()


def test_a_genome_without_genes(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    (folder / "none.fa").write_text(">a\nNNNNNNNN\n>b\nA\n>c\n" + "ACCCCC" * 60 + "\n")
    assert main(["genes", "m", "none.fa", "-o", "none.gtf"]) == 0
    assert (folder / "none.gtf").read_text() == ""
    assert "0 genes" in capsys.readouterr().err
