"""Formats of sequences besides FASTA, wherever FASTA is read."""

import gzip
import io

import pytest
from Bio import SeqIO
from Bio.Seq import Seq
from Bio.SeqRecord import SeqRecord

from seqkern.cli.main import main
from seqkern.core.errors import FileError, SequenceError
from seqkern.sequences.alphabets import DNA
from seqkern.sequences.fasta import iter_fasta, read_fasta, read_records
from seqkern.sequences.streaming import iter_pieces, record_lengths

STRINGS = {"a.1": "ACGTTGCAACGTACGG" * 20, "b.1": "TTGACCA" * 9, "c.1": "GGGATC"}
STOCKHOLM = "# STOCKHOLM 1.0\n#=GF ID fam\n\na/1-5  ACG-T.\nb/3-6  AC..GT\n#=GC SS  ......\n//\n"
CLUSTAL = "CLUSTAL W (1.83) multiple sequence alignment\n\na    ACG-TA\nb    ACGGTA\n     *** **\n"


def fastq(strings):
    # a quality line may begin with @
    return "".join(f"@{name} x\n{string}\n+\n@{'I' * (len(string) - 1)}\n" for name, string in strings.items())


def insdc(form):
    file = io.StringIO()
    records = [
        SeqRecord(Seq(string), name, name[0], "some gene", annotations={"molecule_type": "DNA"})
        for name, string in STRINGS.items()
    ]
    SeqIO.write(records, file, form)
    return file.getvalue()


def texts():
    return {"fastq": fastq(STRINGS), "genbank": insdc("genbank"), "embl": insdc("embl")}


@pytest.mark.parametrize("form", ["fastq", "genbank", "embl"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_each_format_has_the_records_of_fasta(tmp_path, form, pack):
    path = tmp_path / "in.txt"  # the content decides, not the name
    path.write_bytes(pack(b"\n" + texts()[form].encode()))
    X = read_fasta(path, "dna")
    assert dict(zip(X.ids, X.strings(), strict=True)) == STRINGS
    assert read_records(path).headers[0] == ("a.1 x" if form == "fastq" else "a.1 some gene")
    chunks = list(iter_fasta(path, "dna", chunk=100))
    assert [name for chunk in chunks for name in chunk.ids] == list(STRINGS)
    assert len(chunks) > 1
    found = {}
    for piece in iter_pieces(path, DNA, block=200):
        found.setdefault(piece.record, []).append(piece.codes)
    letters = {name: "".join(DNA.letters[code] for part in codes for code in part) for name, codes in found.items()}
    assert letters == STRINGS
    assert record_lengths(path) == {name: len(string) for name, string in STRINGS.items()}


@pytest.mark.parametrize(("text", "ids"), [(STOCKHOLM, ["a/1-5", "b/3-6"]), (CLUSTAL, ["a", "b"])])
def test_alignments_without_their_gaps(text, ids):
    X = read_fasta(io.StringIO(text), gaps="strip")
    aligned = [line.split()[1] for line in text.splitlines() if line.startswith(("a", "b"))]
    assert X.strings() == [string.replace("-", "").replace(".", "") for string in aligned]
    assert X.ids == ids
    assert X.counts["gaps removed"] == sum(string.count("-") + string.count(".") for string in aligned)


@pytest.mark.parametrize("text", [STOCKHOLM, CLUSTAL, ">a\nACG-T\n>b\nACGTT\n"])
@pytest.mark.parametrize("alphabet", [None, "dna"])
def test_gaps_are_refused_with_the_remedy(text, alphabet):
    with pytest.raises(SequenceError, match=r"letter '-' at position 4 .*remove the gaps \(--strip-gaps does"):
        read_fasta(io.StringIO(text), alphabet)


def test_gaps_of_a_record_that_has_nothing_else():
    with pytest.raises(SequenceError, match="record 'b': has no sequence"):
        read_fasta(io.StringIO(">a\nAC-GT\n>b\n--\n"), "dna", gaps="strip")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"@HD\tVN:1.6\n", "is SAM, which is not read; convert it: samtools fasta"),
        (b"HEADER    OXYGEN TRANSPORT\n", "is PDB"),
        (b"data_1ABC\n#\n", "is mmCIF"),
        (b"ID   001R_FRG3G              Reviewed;         256 AA.\n", "is UniProt text"),
        (b"#NEXUS\n", "is NEXUS"),
        (b"{\\rtf1\n", "is a formatted document"),
        (b"<!DOCTYPE html>\n", "is a web page"),
        (b"@r1\nACGT\n+\nII\n", "is not valid FASTQ .record 1.: "),
        (fastq(STRINGS).encode()[:-4], "is not valid FASTQ .record 3.: "),
        (b"LOCUS       X 12 bp DNA\n//\n", "GenBank"),
        (b"# STOCKHOLM 1.0\nnothing\n//\n", "Stockholm"),
    ],
)
def test_what_is_not_read_is_one_line(content, words):
    with pytest.raises(SequenceError, match=words) as caught:
        read_fasta(io.BytesIO(content))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (gzip.compress(b"BAM\x01" + bytes(20), mtime=0), "is BAM, not text; convert it: samtools fasta"),
        (b"CRAM\x03\x00", "is CRAM"),
        (b"\x43\x27\x41\x1a" + bytes(12), r"is .2bit, not text; convert it: twoBitToFa"),
        (b"%PDF-1.5\n", "is PDF, not text; save"),
        (b"\xd0\xcf\x11\xe0" + bytes(9), "is a Word or Excel file"),
    ],
)
def test_binary_formats_are_named(content, words):
    with pytest.raises(FileError, match=words):
        read_fasta(io.BytesIO(content))


def test_train_and_predict_strip_gaps_and_read_fastq(tmp_path, capsys):
    aligned = tmp_path / "aligned.fa"
    aligned.write_text("".join(f">p{i}\nAC--GGTA{'ACGT'[i % 4]}T\n>n{i}\n..TTGACA{'ACGT'[i % 4]}A\n" for i in range(8)))
    table = tmp_path / "labels.csv"
    table.write_text("label,id\n" + "".join(f"pos,p{i}\nneg,n{i}\n" for i in range(8)))
    model, fit = str(tmp_path / "m"), ["--kernel", "spectrum:k=2", "--solver", "csvc:C=1", "-o"]
    assert main(["train", str(aligned), "--labels", str(table), *fit, model]) == 1
    assert "add --unknown" in capsys.readouterr().err
    assert main(["train", str(aligned), "--labels", str(table), "--strip-gaps", *fit, model]) == 0
    assert "32 gaps removed" in capsys.readouterr().err
    reads = tmp_path / "reads.fq"
    reads.write_text(fastq({"r1": "ACGGTAAT", "r2": "TTGACAAA"}))
    assert main(["predict", model, str(reads)]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["id", "r1", "r2"]
    # as in training
    assert main(["predict", model, str(aligned)]) == 0
