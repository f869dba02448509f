"""Readers of the files of genomics."""

import gzip
from pathlib import Path

import pysam
from fuzz_reader import Reader
from fuzz_sequences import EMBL, GENBANK

from seqkern.cli.requests_models import VariantsRequest
from seqkern.cli.variants import _region_piece
from seqkern.formats.annotation import has_features, read_annotation
from seqkern.formats.reference import Genome
from seqkern.formats.regions import RegionOptions, place_of, read_bed, region_sources
from seqkern.formats.site_tables import make_site_table
from seqkern.genomics.effects import read_variants
from seqkern.sequences.fasta import read_fasta
from seqkern.study.several_sequences import VariantPairs

GENOME = b">chr1 a\nACGTACAGGTAAGTCCTTAGGACCATCCAA\n>chr2\nGATTACAGATTACAGTAG\nGATTAGTT\n"
BED = (
    b"track name=ctcf\nchr1\t4\t20\tpeak_1\t900\t-\nchr2\t0\t9\tpeak_2\t.\t.\n",
    b"chr1\t4\t20\tp1\t500\t.\t5\t3\t2\t7\nchr2\t3\t12\tp2\t400\t.\t5\t3\t2\t-1\n",
    b"chr1 4 20\n#x\nchr2 1 8\n",
    b"# MACS\nchr\tstart\tend\tlength\tabs_summit\t-log10(pvalue)\nchr1\t5\t20\t16\t9\t3.5\n",
    b"Position\tIP\tStrand\n1:7\t5.0\t+\nchr2:9\t4.0\t.\n",
)
GTF = b"".join(
    f'chr1\t.\t{part}\t{first}\t{last}\t.\t+\t.\tgene_id "g1"; transcript_id "t1";\n'.encode()
    for part, first, last in (("exon", 1, 8), ("exon", 21, 30), ("CDS", 3, 8), ("CDS", 21, 26), ("stop_codon", 27, 29))
)
GFF = (
    b"##gff-version 3\nchr1\t.\tgene\t1\t30\t.\t+\t.\tID=g1\nchr1\t.\tmRNA\t1\t30\t.\t+\t.\tID=t1;Parent=g1\n"
    b"chr1\t.\texon\t1\t8\t.\t+\t.\tParent=t1\nchr1\t.\texon\t21\t30\t.\t+\t.\tParent=t1;Note=a%20b\n"
    b"chr1\t.\tCDS\t3\t8\t.\t+\t0\tParent=t1,t2\n##FASTA\n>chr1\nACGT\n"
)
VCF = (
    b'##fileformat=VCFv4.2\n##contig=<ID=chr1,length=30>\n##INFO=<ID=AF,Number=A,Type=Float,Description="x">\n'
    b'##INFO=<ID=DB,Number=0,Type=Flag,Description="x">\n##FILTER=<ID=PASS,Description="x">\n##ALT=<ID=DEL,Description="x">\n'
    b"#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
    b"chr1\t7\trs1\tA\tG,AGT\t.\tPASS\tAF=0.1,0.2;DB\nchr1\t9\t.\tGT\tG\t.\t.\tAF=0.3\nchr2\t2\t.\tA\t*,C\t.\t.\t.\n"
)
EFFECTS = (
    b"chrom\tpos\tref\talt\teffect\tgroup\nchr1\t7\tA\tG,AGT\t0.5\ta\nchr2\t9\tGA\tG\t-1e-2\tb\nchr1\t1\tA\tT\t\ta\n"
)


def _prepare(folder: Path) -> None:
    """Write the genome that belongs to the inputs, with its index."""
    (folder / "genome.fa").write_bytes(GENOME)
    Genome(folder / "genome.fa").close()


def _bcf() -> list[bytes]:
    """Return VCF packed by bgzip, and as BCF."""
    import tempfile

    library = pysam
    with tempfile.TemporaryDirectory() as folder:
        plain, packed, binary = (Path(folder) / f"a.{ending}" for ending in ("vcf", "vcf.gz", "bcf"))
        plain.write_bytes(VCF.replace(b"length=30>\n", b"length=30>\n##contig=<ID=chr2,length=26>\n"))
        library.tabix_compress(str(plain), str(packed), force=True)
        _ = library.set_verbosity(0)
        with (
            library.VariantFile(str(plain)) as source,
            library.VariantFile(str(binary), "wb", header=source.header) as out,
        ):
            for record in source:
                out.write(record)
        return [packed.read_bytes(), binary.read_bytes()]


def _regions(path: Path) -> None:
    read_bed(path)
    genome = str(path.parent / "genome.fa")
    for width in (0, 5):
        for source in region_sources([path], RegionOptions(genome, width)):
            read_fasta(source)


def _annotation(path: Path) -> None:
    found = read_annotation(path)
    make_site_table(path.parent / "genome.fa", found, decoys=1, motifs=["any"])


def _features(path: Path) -> None:
    if has_features(path):
        make_site_table(path, read_annotation(path), decoys=1, motifs=["any"])


def _genome(path: Path) -> None:
    with Genome(path) as genome:
        for name, length in genome.lengths.items():
            genome.fetch(name, 0, min(length, 1000))


def _index(path: Path) -> None:
    path.touch()  # not older than the genome
    _genome(path.with_suffix(""))


def _variants(path: Path) -> None:
    with Genome(path.parent / "genome.fa") as genome:
        read_variants(path, genome)
        read_variants(path, genome, "AF")
    _effects(path)


def _effects(path: Path) -> None:
    VariantPairs.parse({"file": path.name, "genome": "genome.fa", "width": 9}).read(path.parent, {})


def _region(folder: list[str]):
    """Return a reader of the text of a region."""

    def read(text: str) -> None:
        import tempfile

        if not folder:
            folder.append(tempfile.mkdtemp())
            _prepare(Path(folder[0]))
        _region_piece(VariantsRequest(files=[], output="-", region=text, genome=f"{folder[0]}/genome.fa"), 3)

    return read


READERS = (
    Reader(
        "bed, narrowPeak",
        _regions,
        lambda: BED,
        ("background peaks", "--blacklist", "--exclude", "--null-regions", "--background"),
        ".bed",
        _prepare,
    ),
    Reader("bed, gzip", _regions, lambda: [gzip.compress(BED[0], mtime=0)], (), ".bed.gz", _prepare, form="gzip"),
    Reader(
        "gtf, gff3",
        _annotation,
        lambda: [GTF, GFF],
        ("sites annotation", "grammar annotation", "--train"),
        ".gtf",
        _prepare,
    ),
    Reader(
        "features of genbank and embl",
        _features,
        lambda: [GENBANK, EMBL],
        ("sites genome", "grammar genome", "genes genome", "splice-scores fasta"),
        ".gb",
    ),
    Reader("genome, indexed", _genome, lambda: [GENOME], ("--genome",), ".fa"),
    Reader(
        "index of a genome (.fai)",
        _index,
        lambda: [b"chr1\t30\t8\t30\t31\nchr2\t26\t45\t18\t19\n"],
        (),
        ".fa.fai",
        lambda folder: (folder / "input.fa").write_bytes(GENOME),
    ),
    Reader("vcf", _variants, lambda: [VCF], ("--variants", "variants files"), ".vcf", _prepare),
    Reader("vcf, bgzip; bcf", _variants, _bcf, (), ".vcf.gz", _prepare, form="gzip"),
    Reader("variants with effects", _effects, lambda: [EFFECTS], (), ".tsv", _prepare),
    Reader("region", _region([]), lambda: [b"chr1:4-20", b"chr2:1,0-1,5"], ("--region",), of_text=True),
    Reader(
        "place in a sequence's name",
        lambda text: place_of(text, 10),
        lambda: [b"chr1:4-13(+)", b"chr1:4-13", b"g1:300:-"],
        of_text=True,
    ),
)
