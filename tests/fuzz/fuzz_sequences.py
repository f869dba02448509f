"""Readers of sequences, and of what belongs to their residues."""

import bz2
import gzip
import lzma
from pathlib import Path

from fuzz_reader import Reader

from seqkern.core.parts import Part, count_before, open_span
from seqkern.formats.states import add_states, read_letters_and_states
from seqkern.sequences.alphabets import DNA
from seqkern.sequences.fasta import read_fasta, read_records
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.streaming import iter_pieces, record_lengths
from seqkern.sequences.tracks import Track
from seqkern.sequences.windows import as_window, cut_windows, read_sites
from seqkern.study.readers import sites_of_headers
from seqkern.study.tables import columns_of_first_words, columns_of_headers, labels_of_columns

FASTA = (
    b">d1 label=1 site=4 chr_num=1, strand=+, position=4\nCAGGTAAGT\n>d2 label=-1 position=3\nAAGGTNAGT\nacgt\n",
    b">1abc a.1.1.1\nMKVLAAGWY\n>2abc a.1.1.2\nMKVLAWGHW\n",
    b">r1\nACGUUGCA\n",
)
FASTQ = b"@r1 sample\nACGTN\n+\nIIII#\n@r2\nGG\n+r2\n!!\n"
GENBANK = (
    b"LOCUS       X1          60 bp    DNA     linear   SYN 01-JAN-2020\nDEFINITION  a plasmid.\nACCESSION   X1\n"
    b'FEATURES             Location/Qualifiers\n     gene            1..20\n                     /gene="g1"\n'
    b'     mRNA            join(1..10,41..60)\n                     /gene="g1"\n'
    b'     CDS             complement(order(2..5,<12..>19))\n                     /locus_tag="t1"\n'
    b"ORIGIN\n        1 acgtacaggt gtagtcctta ggaccatcca agtcctaagg acttcctaag gaccatccaa\n//\n"
)
EMBL = (
    b"ID   X1; SV 1; linear; genomic DNA; STD; SYN; 45 BP.\nAC   X1;\nFH   Key             Location/Qualifiers\n"
    b'FT   CDS             join(1..6,37..45)\nFT                   /gene="g1"\n'
    b"SQ   Sequence 45 BP; 12 A; 11 C; 11 G; 11 T; 0 other;\n"
    b"     acgtacgtgt aagtccttag gaccatccaa gtccagacct aagga                  45\n//\n"
)
ALIGNED = (
    b"# STOCKHOLM 1.0\n#=GF ID x\na/1-4 AC-GT\nb      ACGG.\n#=GC SS HHHHH\n//\n",
    b"CLUSTAL W (1.83) multiple sequence alignment\n\n\n"
    b"a       ACGT-A 5\nb       AC-TTA 5\n        ** * *\n\na       AC 7\nb       AC 7\n        **\n",
)
TOGETHER = (b">1abc\nMKVLAAGWY\nCHHHCEEEC\n>2abc\nMKV\nHG-\n", b">1abc\nMKVL\nHHHC\n")
SITES = (b"record\tposition\tstrand\tlabel\nd1\t4\t+\tdonor\nd2\t5\t-\tdecoy\n", b"record,position\nd1,4\nd2,6\n")
CHAINS = SequenceSet.from_strings(["MKVLAAGWY", "MKV"], "protein", ids=["1abc", "2abc"])
RECORDS = SequenceSet.from_strings(["CAGGTAAGT", "AAGGTAAGTACGT"], "dna", ids=["d1", "d2"])
OF_FASTA = (
    "--unlabelled",
    "gram fasta",
    "cv fasta",
    "train fasta",
    "--parent",
    "init fasta",
    "test fasta",
    "predict fasta",
    "explain fasta",
    "motifs fasta",
    "suggest fasta",
)


def _fasta(path: Path) -> None:
    """Read with either policy, by the size of the file."""
    X = read_fasta(path, gaps="strip" if path.stat().st_size % 2 else "error")
    X.digest()
    if X.alphabet.complement is not None:
        X.reverse_complement()


def _stream(path: Path) -> None:
    for _ in iter_pieces(path, DNA, block=16):
        pass
    record_lengths(path)


def _headers(path: Path) -> None:
    reading = read_records(path, ids="suffix", empty="skip")
    X = reading.sequences
    cut_windows(X, sites_of_headers(reading, str(path)), as_window("-2:+2"), names=X.ids)
    labels_of_columns(X.ids, columns_of_headers(reading, {"label": "label"}, path), {}, path)


def _first_words(path: Path) -> None:
    reading = read_records(path, ids="number")
    labels_of_columns(reading.sequences.ids, columns_of_first_words(reading), {}, path)


def _spans(path: Path) -> None:
    for number in (1, 2, 3):
        with open_span(path, Part(number, 3), b">") as file:
            file.read()
    count_before(path, Part(3, 3), b">")


def _sites(path: Path) -> None:
    cut_windows(RECORDS, read_sites(path), as_window("-2:+2"), past_end="skip")


def _packed_fasta() -> list[bytes]:
    return [gzip.compress(FASTA[0], mtime=0)]


READERS = (
    Reader(
        "fasta",
        lambda path: _fasta(path),
        lambda: [*FASTA, b"\xef\xbb\xbf" + FASTA[0], FASTA[0].replace(b"\n", b"\r\n")],
        (
            *OF_FASTA,
            "--hard-negatives",
            "--against",
            "--ref",
            "--alt",
            "--sequences",
            "--search-profiles",
            "audit files",
        ),
        ".fa",
    ),
    Reader("fasta, gzip", _fasta, _packed_fasta, suffix=".fa.gz", form="gzip"),
    Reader("fasta, bzip2 and xz", _fasta, lambda: [bz2.compress(FASTA[0]), lzma.compress(FASTA[0])], suffix=".fa.xz"),
    Reader("fasta, streamed", _stream, lambda: [FASTA[0], GENBANK], suffix=".fa"),
    Reader("fasta, labels and sites in headers", _headers, lambda: FASTA[:1], suffix=".fa"),
    Reader("fasta, labels as first words", _first_words, lambda: [b">1\nACGT\n>0\nAC\n>1\nGG\n"], suffix=".fa"),
    Reader("fasta, in parts", _spans, lambda: [*FASTA, *_packed_fasta()], suffix=".fa"),
    Reader("fastq", _fasta, lambda: [FASTQ], suffix=".fq"),
    Reader("genbank", _fasta, lambda: [GENBANK], suffix=".gb"),
    Reader("embl", _fasta, lambda: [EMBL], suffix=".embl"),
    Reader("stockholm, clustal", lambda path: read_fasta(path, gaps="strip"), lambda: ALIGNED, suffix=".aln"),
    Reader(
        "states",
        lambda path: add_states(CHAINS, path),
        lambda: [TOGETHER[0], b">1abc\nCHHHCEEEC\n>2abc\nHG-\n"],
        ("--states",),
    ),
    Reader("residues and states", lambda path: read_letters_and_states(path, alphabet="protein"), lambda: TOGETHER),
    Reader(
        "track of residues",
        lambda path: Track("annotation", path).add_to(CHAINS),
        lambda: [b">1abc\nebbbebbbe\n>2abc\nbbb\n", b"id\tannotation\n1abc\tebbbebbbe\n2abc\tbbb\n"],
        ("--track",),
    ),
    Reader("sites", _sites, lambda: SITES, ("--sites",), ".tsv"),
)
