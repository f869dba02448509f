"""``seqkern variants``: the effects of variants on a model's decisions."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqkern.cli.common import add_threads, positive_integer, refuse_unused
from seqkern.cli.output import add_parts, add_spreadsheet_safe, as_part, gather, output_writer
from seqkern.core.checks import read_number
from seqkern.core.text_files import is_standard_output

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from seqkern.core.types import Arrays
    from seqkern.formats.reference import Genome
    from seqkern.formats.vcf import Column, TableWriter, VcfChunk, VcfWriter
    from seqkern.genomics.variant_run import VariantRun
    from seqkern.genomics.variants import Panel, Scorer
    from seqkern.methods.loading import ModelArg
    from seqkern.sequences.alphabets import Alphabet
    from seqkern.sequences.sequence_set import SequenceSet


EXAMPLE = "seqkern variants model.seqkern variants.vcf.gz --genome genome.fa --null 100000 -o scores.tsv"
MORE_EXAMPLES = (
    "seqkern variants ctcf.seqkern gata1.seqkern variants.vcf.gz --genome genome.fa -o annotated.vcf.gz",
    "seqkern variants model.seqkern --ref ref.fa --alt alt.fa -o scores.tsv",
    "seqkern variants model.seqkern --region chr1:1000-1200 --genome genome.fa --plot heat.svg -o effects.tsv",
)
DESCRIPTION = """\
models with weights of k-mers (kernels such as gapped_kmer; models of LS-GKM; weights of k-mers as deltaSVM reads
        them): reference and alternative are the sums of the weights of the k-mers that cover the allele, with
        k - 1 bases on each side; delta is alternative - reference, as in deltaSVM. For a normalised kernel the
        weight of a k-mer is its own decision value, w / √K(k-mer, k-mer), without the constant
other models, and any with --window: the decision values of the window centred at the variant
models of sites (trained with --window -L:+R): the highest decision value of a site within --around bases"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="models of seqkern train or LS-GKM, or weights of k-mers; then the variants: VCF, plain or compressed, or "
        "BCF (not with --ref, --region or --sequences)",
    )
    parser.add_argument("--genome", metavar="FASTA", help="genome of the variants, plain or compressed by bgzip")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help=".tsv, or - for standard output: a row for each alternative allele; .vcf or .vcf.gz: the VCF file with "
        "fields in INFO (.gz is compressed by bgzip and indexed)",
    )
    group = parser.add_argument_group("scores", DESCRIPTION)
    group.add_argument(
        "--window", type=positive_integer, metavar="W", help="compare decision values of windows of W bases"
    )
    group.add_argument(
        "--around",
        type=positive_integer,
        default=50,
        metavar="N",
        help="models of sites: how far from the variant (default: 50)",
    )
    group.add_argument(
        "--motifs", metavar="FILE", help="JASPAR, MEME or TRANSFAC: adds the motif whose best score changes most"
    )
    group = parser.add_argument_group(
        "significance",
        "random single-base variants of the same genome, matched by trinucleotide context, give p-values of |delta|\n"
        "and q-values (Benjamini-Hochberg); insertions, deletions and longer substitutions get none",
    )
    group.add_argument("--null", type=positive_integer, metavar="N", help="number of random variants, such as 100000")
    group.add_argument(
        "--null-regions", metavar="BED", help="where they are drawn from (default: the chromosomes of the variants)"
    )
    group.add_argument(
        "--fdr", type=_share, default=0.05, metavar="Q", help="print the threshold for it (default: 0.05)"
    )
    group.add_argument("--seed", type=int, default=1, help="random seed (default: 1)")
    group = parser.add_argument_group("instead of a VCF file")
    group.add_argument("--ref", metavar="FASTA", help="sequences with the reference allele")
    group.add_argument("--alt", metavar="FASTA", help="the same with the alternative allele, in the same order")
    group.add_argument("--region", metavar="CHR:FROM-TO", help="all single-base variants of a region; positions from 1")
    group.add_argument("--sequences", metavar="FASTA", help="all single-base variants of sequences")
    group.add_argument("--plot", metavar="SVG", help="with --region or --sequences: heat map of delta, with a logo")
    add_spreadsheet_safe(parser)
    add_threads(parser)
    add_parts(parser)


def _share(text: str) -> float:
    """Return a number between 0 and 1, for argparse."""
    value = read_number(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number between 0 and 1")
    return value


def run(args: argparse.Namespace) -> None:
    """Run the verb."""
    # imported here to keep --help fast
    from seqkern.core.archive import check_writable
    from seqkern.core.errors import ParameterError

    _check(args)
    check_writable(args.output)
    if args.ref is not None:
        run_pairs(args, scorers_of(args.files, args))
    elif args.region is not None or args.sequences is not None:
        run_saturation(args, scorers_of(args.files, args))
    else:
        *models, vcf = args.files
        if not models:
            raise ParameterError(
                "give a model, and then the variants",
                remedy="or --ref and --alt, --region or --sequences instead of variants",
            )
        run_vcf(args, models, vcf)


def _check(args: argparse.Namespace) -> None:
    """Raise an error for conflicting options."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError
    from seqkern.core.text_files import is_standard_output

    if (args.ref is None) != (args.alt is None):
        raise ParameterError("--ref and --alt belong together", remedy="give both")
    sources = [name for name in ("ref", "region", "sequences") if getattr(args, name) is not None]
    if len(sources) > 1:
        raise ParameterError(f"--{sources[0]} and --{sources[1]} exclude each other", remedy="remove one")
    of_vcf = not sources
    if (of_vcf or args.region is not None) and args.genome is None:
        raise ParameterError(
            "variants need the genome around them", remedy="add --genome FASTA, or give --ref and --alt"
        )
    if args.null is None:
        refuse_unused(args, "needs --null", {"fdr": 0.05, "seed": 1})
    if args.window is not None:
        refuse_unused(args, "is for models of sites, without --window", {"around": 50})
    if args.ref is not None or args.sequences is not None:
        refuse_unused(args, f"does not work with --{sources[0]}", {"genome": None})
    if not of_vcf:
        for name in ("null", "null_regions", "motifs", "part", "gather"):
            if getattr(args, name) not in (None, False):
                raise ParameterError(
                    f"--{name.replace('_', '-')} needs a VCF file", remedy=f"remove it, or remove --{sources[0]}"
                )
    if not of_vcf and not (args.output.endswith((".tsv", ".tsv.gz")) or is_standard_output(args.output)):
        raise ParameterError(f"-o {args.output}: --{sources[0]} gives a table", remedy="end the name in .tsv")
    if args.plot is not None and sources not in (["region"], ["sequences"]):
        raise ParameterError("--plot needs --region or --sequences", remedy="add one, or remove --plot")
    if args.null is not None and (args.part is not None or args.gather):
        raise ParameterError(
            "--null needs all variants at once, for the q-values",
            remedy="remove --null, or remove --part and --gather: repeating the command resumes a killed run",
        )
    if args.null_regions is not None and args.null is None:
        raise ParameterError("--null-regions needs --null", remedy="add --null N")


# ``seqkern variants`` without a VCF file: pairs of sequences, or all single-base variants of a region or sequence.

REGION = re.compile(r"(\S+):([0-9,]+)-([0-9,]+)")
LARGEST_REGION = 100_000
LARGEST_PLOT = 500
PAIR_COLUMNS = ("reference", "alternative", "delta")


def run_pairs(args: argparse.Namespace, scorers: dict[str, Scorer]) -> None:
    """Score pairs of sequences with the reference and the alternative allele."""
    # imported here to keep --help fast
    from seqkern.core.errors import SequenceError
    from seqkern.core.tsv import write_tsv
    from seqkern.sequences.fasta import read_fasta

    columns, values = ["id"], []
    ids: list[str] = []
    for name, scorer in scorers.items():
        ref, alt = (read_fasta(path, scorer.alphabet) for path in (args.ref, args.alt))
        if len(ref) != len(alt):
            raise SequenceError(
                f"has {len(alt)} records, but {args.ref} has {len(ref)}",
                file=args.alt,
                remedy="give both alleles of each variant",
            )
        other = next((a for a, b in zip(ref.ids, alt.ids, strict=True) if a != b), None)
        if other is not None:
            raise SequenceError(
                f"is not in the same place in {args.alt}", file=args.ref, record=other, remedy="give one order of ids"
            )
        ids = list(ref.ids)
        before, after = (scorer.sums(X, args.threads) for X in (ref, alt))
        found = (before, after, after - before) if len(scorers) == 1 else (after - before,)
        columns += list(PAIR_COLUMNS) if len(scorers) == 1 else [f"delta_{name}"]
        values += [array.tolist() for array in found]
    write_tsv(args.output, columns, zip(ids, *values, strict=True))
    print(f"seqkern: {args.ref}: {len(ids)} pairs scored", file=sys.stderr)


def run_saturation(args: argparse.Namespace, scorers: dict[str, Scorer]) -> None:
    """Score all single-base variants of a region, or of sequences."""
    # imported here to keep --help fast
    from seqkern.core.archive import atomic_write
    from seqkern.core.errors import ParameterError
    from seqkern.core.tsv import write_tsv
    from seqkern.genomics.variant_run import Saturation, saturate
    from seqkern.report.drawing import as_file
    from seqkern.report.logo import mutation_figure

    pieces = list(_pieces(args, scorers))
    if args.plot is not None and (len(pieces) > 1 or len(scorers) > 1):
        raise ParameterError("--plot draws one sequence and one model", remedy="give one of each")
    if args.plot is not None and pieces[0].length > LARGEST_PLOT:
        raise ParameterError(
            f"{pieces[0].length} bases are too many for --plot", remedy=f"give at most {LARGEST_PLOT}, or remove --plot"
        )
    found: list[dict[str, Saturation]] = [
        {name: saturate(scorer, piece, args.threads) for name, scorer in scorers.items()} for piece in pieces
    ]

    def rows():
        for piece, of_models in zip(pieces, found, strict=True):
            first = next(iter(of_models.values()))
            for place, alt in first.variants():
                several = [one.values(place, alt) for one in of_models.values()]
                cells = several[0] if len(several) == 1 else [values[-1] for values in several]
                yield piece.name, piece.first + place, piece.letter(place), first.letters[alt], *cells

    names = list(PAIR_COLUMNS) if len(scorers) == 1 else [f"delta_{name}" for name in scorers]
    write_tsv(args.output, ["chromosome" if args.region else "id", "position", "ref", "alt", *names], rows())
    if args.plot is not None:
        piece, (name, only) = pieces[0], next(iter(found[0].items()))
        label = f"{name}: effect of each single-base variant of {piece.name}, from {piece.first}"
        with atomic_write(args.plot, "w") as file:
            file.write(as_file(mutation_figure(only.delta, only.codes, (label, only.alphabet), first=piece.first)))


def _pieces(args: argparse.Namespace, scorers: dict[str, Scorer]):
    """Yield the sequences whose variants are scored, with their flanking bases."""
    # imported here to keep --help fast
    from seqkern.genomics.variant_run import Piece
    from seqkern.sequences.fasta import read_fasta

    alphabet = next(iter(scorers.values())).alphabet
    if args.sequences is None:
        check_dna({name: scorer.alphabet for name, scorer in scorers.items()})
    if args.sequences is not None:
        X: SequenceSet = read_fasta(args.sequences, alphabet)
        for number, name in enumerate(X.ids):
            yield Piece(name, 1, X.string(number), 0, int(X.lengths[number]))
        return
    yield _region_piece(args, max(scorer.flank for scorer in scorers.values()))


def _region_piece(args: argparse.Namespace, flank: int):
    """Return the piece of a region of the genome."""
    # imported here to keep --help fast
    from seqkern.core.checks import whole_number
    from seqkern.core.errors import ParameterError
    from seqkern.formats.reference import Genome
    from seqkern.genomics.variant_run import Piece

    found = REGION.fullmatch(args.region)
    if found is None:
        raise ParameterError(f"--region {args.region} is not a region", remedy="write it as chr1:1000-1200")
    name, first, last = found[1], *(whole_number(text.replace(",", "")) for text in found.groups()[1:])
    with Genome(args.genome) as genome:
        if name not in genome.lengths:
            some = ", ".join(list(genome.lengths)[:3])
            raise ParameterError(f"{args.genome} has no chromosome {name!r}", remedy=f"give one such as {some}")
        length = genome.lengths[name]
        if first is None or last is None or not 1 <= first <= last <= length:
            raise ParameterError(
                f"--region {args.region} does not lie in {name}, which has {length} bases",
                remedy="count positions from 1, FROM before TO",
            )
        if last - first >= LARGEST_REGION:
            raise ParameterError(
                f"--region {args.region} is longer than {LARGEST_REGION} bases", remedy="give a shorter one"
            )
        low, high = max(0, first - 1 - flank), min(length, last + flank)
        return Piece(name, first, genome.fetch(name, low, high).upper(), first - 1 - low, last - first + 1)


# ``seqkern variants`` for a VCF file, in chunks: p-values in a second pass; output as a table or annotated VCF.

VCF, TABLE = (".vcf", ".vcf.gz", ".vcf.bgz"), (".tsv", ".tsv.gz")


def run_vcf(args: argparse.Namespace, models: list[str], vcf: str) -> None:
    """Score the variants of a VCF file."""
    # imported here to keep --help fast
    from seqkern.core.errors import SeqkernError
    from seqkern.formats.reference import Genome
    from seqkern.formats.vcf import VcfReader
    from seqkern.genomics.variant_run import MotifChanges, Spool, VariantRun, identity_of
    from seqkern.methods.loading import parse_model_args

    _check_names(args, vcf)
    with VcfReader(vcf, args.part):  # a file that is not VCF is refused before the models are read
        pass
    given = parse_model_args(models)
    words = [one.word for one in given]
    if args.gather:
        gather_variants(args, words, vcf)
        return
    panel = panel_of(given, args)
    motifs = None if args.motifs is None else MotifChanges.from_file(args.motifs)
    if args.part is not None:
        with as_part(args, words, [vcf, args.genome]) as notes, Genome(args.genome) as genome:
            if notes is not None:
                _run(args, VariantRun(vcf, genome, panel, motifs, None, args.threads), Path(args.output), notes)
        return
    output = Path(args.output)
    options = args.window, args.around, args.motifs, [(one.name, one.word) for one in given]
    files = list(dict.fromkeys(one.file for one in given))
    identity = identity_of([*files, *([args.motifs] if args.motifs else [])], [vcf, args.genome], options)
    spool = None if is_standard_output(output) else Spool(output.with_name(f".{output.name}.parts"), identity)
    try:
        with Genome(args.genome) as genome:
            _run(args, VariantRun(vcf, genome, panel, motifs, spool, args.threads), output, {})
    except SeqkernError:  # another run would fail in the same way
        if spool is not None:
            spool.clear()
        raise
    if spool is not None:
        spool.clear()


def _run(args: argparse.Namespace, job: VariantRun, output: Path, notes: dict[str, Any]) -> None:
    """Score the variants and write them; for a part, also note the data for the joining job."""
    # imported here to keep --help fast
    from seqkern.core.progress import progress_counter
    from seqkern.formats.vcf import VcfReader

    vcf = str(job.vcf)
    regions = None if args.null_regions is None else _regions(args.null_regions, job.genome)
    chances = {} if args.null is None else job.chances(args.null, args.seed, regions)
    columns = columns_of(job.panel, bool(chances), job.motifs is not None)
    in_order, with_header = True, args.part is None or args.part.number == 1
    with contextlib.ExitStack() as stack:
        show = stack.enter_context(progress_counter("variants", " records"))
        reader = stack.enter_context(VcfReader(vcf, args.part))
        writer: Any = None
        done = alleles = 0
        first = last = ("", 0)
        for chunk, numbers in job.chunks(reader):
            if writer is None:  # the first chunk fits the genome
                writer = _opened(stack, output, columns, reader.header, with_header)
                first = chunk.chromosomes[0], chunk.positions[0]
            span = slice(alleles, alleles + len(chunk.rows))
            write_chunk(writer, chunk, numbers, job, {name: values[1:] for name, values in chances.items()}, span)
            places = list(zip(chunk.chromosomes, chunk.positions, strict=True))
            in_order &= _ascending([last, *places])
            done, alleles, last = done + len(chunk.lines), span.stop, places[-1]
            if show is not None:
                show(done)
        if writer is None:
            _opened(stack, output, columns, reader.header, with_header)
    if args.part is not None:
        notes.update(placing=job.placing.summary(), in_order=in_order, ends=[first, last])
    elif output.name.endswith(VCF[1:]):
        _index(output, in_order)
    _say(args, job, vcf)
    for name, (delta, _, q) in chances.items():
        _say_threshold(args, job, name if len(chances) > 1 else "", delta, q)


def gather_variants(args: argparse.Namespace, words: list[str], vcf: str) -> None:
    """Join the parts of the output."""
    # imported here to keep --help fast
    from seqkern.core.parts import PartFolder
    from seqkern.formats.alleles import Placing
    from seqkern.formats.reference import Genome
    from seqkern.formats.vcf import VcfReader
    from seqkern.genomics.variant_run import VariantRun
    from seqkern.genomics.variants import Panel

    with VcfReader(vcf) as reader, Genome(args.genome) as genome:
        job = VariantRun(vcf, genome, Panel(several=False))
        job.placing = Placing(genome, vcf, reader.lengths)

        def check(folder: PartFolder, name: str, notes: list[Any]) -> bool:
            for note in notes:
                job.placing.add(note["placing"])
            job.placing.finish()
            return False

        def index(notes: list[Any]) -> None:
            ends = [tuple(end) for note in notes for end in note["ends"] if end[0]]
            if args.output.endswith(VCF[1:]):
                _index(Path(args.output), all(note["in_order"] for note in notes) and _ascending(ends))

        joined = gather(args, words, [vcf, args.genome], check, index)
    if joined is not None:
        _say(args, job, vcf)


def _ascending(places: list[Any]) -> bool:
    """Return whether positions never decrease within a chromosome."""
    return all(a[0] != b[0] or a[1] <= b[1] for a, b in itertools.pairwise(places))


def _check_names(args: argparse.Namespace, vcf: str) -> None:
    """Raise an error for an output name without a known format, and for standard input."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError

    if not args.output.endswith((*VCF, *TABLE)) and not is_standard_output(args.output):
        raise ParameterError(
            f"-o {args.output}: the ending of the name does not determine the format",
            remedy="end it in .tsv, .tsv.gz, .vcf or .vcf.gz, or give - for a table on standard output",
        )
    if vcf == "-":
        raise ParameterError("variants are read from a file, not from standard input", remedy="give a file")


def _regions(path: str, genome: Genome) -> list[tuple[str, int, int]]:
    """Return the regions of a BED file, in the order of the file."""
    # imported here to keep --help fast
    from seqkern.core.checks import whole_number
    from seqkern.core.errors import SequenceError
    from seqkern.core.text_files import open_lines

    out = []
    with open_lines(path) as (lines, name):
        for number, line in enumerate(lines, start=1):
            cells = line.split()
            if not cells or line.startswith(("#", "track", "browser")):
                continue
            first, last = (whole_number(cells[i]) if len(cells) > i else None for i in (1, 2))
            if first is None or last is None or not first <= last <= genome.lengths.get(cells[0], -1):
                raise SequenceError(
                    f"line {number} is not a region of {genome.path}", file=name, remedy="give chromosome, start, stop"
                )
            out.append((cells[0], first, last))
    return out


def _opened(
    stack: contextlib.ExitStack, output: Path, columns: list[Column], header: list[str], with_header: bool
) -> TableWriter | VcfWriter:
    """Return a writer of the output, which has written its header if wanted."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError
    from seqkern.formats.vcf import TableWriter, VcfWriter

    keys = [column.key for column in columns]
    twice = next((key for number, key in enumerate(keys) if key in keys[:number]), None)
    if twice is not None and output.name.endswith(VCF):
        raise ParameterError(
            f"two models have the field {twice}: INFO names have no lower case, + or -", remedy="write a .tsv"
        )
    write = stack.enter_context(output_writer(output))
    writer = VcfWriter(write, columns) if output.name.endswith(VCF) else TableWriter(write, columns)
    writer.header(header, write=with_header)
    return writer


def _index(output: Path, in_order: bool) -> None:
    """Write the index of a compressed VCF file, or print why there is none."""
    # imported here to keep --help fast
    from tempfile import TemporaryDirectory

    # imported here to keep --help fast
    from seqkern.core.archive import atomic_write
    from seqkern.core.errors import FileError
    from seqkern.formats.libraries import pysam

    index = output.with_name(f"{output.name}.tbi")
    index.unlink(missing_ok=True)
    if not in_order:
        print(f"seqkern: {output}: not sorted by position, so there is no index (bcftools sort)", file=sys.stderr)
        return
    library = pysam()
    library.set_verbosity(0)
    try:
        # not beside the output: a killed run would leave a part of the index there
        with TemporaryDirectory(prefix="seqkern-index") as folder:
            built = Path(folder) / index.name
            library.tabix_index(str(output), preset="vcf", force=True, index=str(built))
            content = built.read_bytes()
    except (OSError, ValueError) as error:
        if _is_by_chromosome(output):  # it does not say what went wrong
            raise FileError("cannot be written", file=index, remedy="check the free space") from error
        print(f"seqkern: {output}: not sorted by chromosome, so there is no index (bcftools sort)", file=sys.stderr)
        return
    with atomic_write(index) as file:
        file.write(content)


def _is_by_chromosome(output: Path) -> bool:
    """Return whether the variants of each chromosome are contiguous in a compressed VCF file."""
    # imported here to keep --help fast
    import gzip

    with gzip.open(output, "rb") as file:
        names = [name for name, _ in itertools.groupby(line.split(b"\t", 1)[0] for line in file if line[:1] != b"#")]
    return len(names) == len(set(names))


def _say(args: argparse.Namespace, job: VariantRun, vcf: str) -> None:
    """Print a summary of the handling of the variants."""
    # imported here to keep --help fast
    from seqkern.formats.alleles import ABSENT, BEYOND, MISMATCH, PLACED, left_out

    counts, placing = job.counted(), job.placing
    lines = [f"{counts[PLACED]} alleles scored"]
    if placing.renamed:
        name, own = next(iter(placing.renamed.items()))
        lines.append(f"chromosome {name} is {own} in {args.genome}, and so for {len(placing.renamed)} in all")
    if placing.kinds:
        lines.append("not scored: " + "; ".join(left_out(placing.kinds)))
    if counts[ABSENT]:
        some = ", ".join(repr(name) for name in list(placing.absent)[:3])
        lines.append(f"not scored: {counts[ABSENT]} alleles on chromosomes that {args.genome} lacks, such as {some}")
    if counts[MISMATCH] + counts[BEYOND]:
        lines.append(
            f"not scored: {counts[MISMATCH]} alleles whose REF differs from {args.genome}"
            + (f", {counts[BEYOND]} beyond the end of their chromosome" if counts[BEYOND] else "")
        )
    for line in lines:
        print(f"seqkern: {vcf}: {line}", file=sys.stderr)


def _say_threshold(
    args: argparse.Namespace,
    job: VariantRun,
    name: str,
    delta: npt.NDArray[np.float64],
    q: npt.NDArray[np.float64],
) -> None:
    """Print the threshold for the false discovery rate."""
    # imported here to keep --help fast
    import numpy as np

    # imported here to keep --help fast
    from seqkern.genomics.variant_run import threshold

    least, count = threshold(delta, q, args.fdr)
    tested = int(np.sum(~np.isnan(q)))
    found = "none" if least is None else f"|delta| ≥ {least:.4g}: {count}"
    start = f"{name}: " if name else ""
    drawn = f"{job.null_size} random variants of the same trinucleotide contexts"
    print(
        f"seqkern: {start}{found} of {tested} single-base variants at a false discovery rate of {args.fdr:g}, by "
        f"{drawn}",
        file=sys.stderr,
    )
    if job.null_missing:
        print(
            f"seqkern: warning: {job.null_missing} of {args.null} random variants were not found: contexts are rare "
            "in these regions; draw fewer, or from more of the genome",
            file=sys.stderr,
        )


# The columns of ``seqkern variants``, and the formatting of their cells.

NO_SCORE = "N or the chromosome's end near it"
CHANCES = {
    "p": "Share of matched random variants with at least this absolute delta",
    "q": "Least false discovery rate at which delta is significant (Benjamini-Hochberg)",
}


def columns_of(panel: Panel, with_chances: bool, with_motifs: bool) -> list[Column]:
    """Return the output columns; for several models only delta, p and q, each with the model's name."""
    # imported here to keep --help fast
    from seqkern.formats.vcf import Column
    from seqkern.genomics.variant_run import MotifChanges

    floats = {"reference", "alternative", "delta", "ref_motif", "alt_motif"}
    out = []
    for name, columns in panel.columns.items():
        ending = f"_{name}" if panel.several else ""
        for column, meaning in columns.items():
            out.append(Column(f"{column}{ending}", "Float" if column in floats else "String", meaning))
            if column == "delta" and with_chances:
                out += [Column(f"{one}{ending}", "Float", text) for one, text in CHANCES.items()]
    if with_motifs:
        out += [Column(one, "Float" if one in floats else "String", text) for one, text in MotifChanges.columns.items()]
    return out


def write_chunk(
    writer: TableWriter | VcfWriter,
    chunk: VcfChunk,
    numbers: Arrays,
    job: VariantRun,
    chances: dict[str, tuple[npt.NDArray[np.float64], ...]],
    span: slice,
) -> None:
    """Write a chunk of records with the values of their alleles.

    `chances` holds p and q of all alleles of the file by model, or is empty; `span` is the chunk's range in these
    arrays.
    """
    # imported here to keep --help fast
    import numpy as np

    # imported here to keep --help fast
    from seqkern.formats.alleles import NOTES, PLACED
    from seqkern.formats.vcf import VcfWriter

    digits = 6 if isinstance(writer, VcfWriter) else 10
    cells = []
    for name, columns in job.panel.columns.items():
        for column in columns:
            cells.append(_texts(numbers[f"{name}/{column}"], digits))
            if column == "delta" and chances:
                cells += [_texts(values[span], digits) for values in chances[name]]
    if job.motifs is not None:
        names = ["", *job.motifs.names]
        cells.append([" ".join(names[motif + 1].split()) for motif in numbers["motif"].tolist()])
        cells += [_texts(numbers[column], digits) for column in ("ref_motif", "alt_motif")]
    status = numbers["status"]
    notes = [NOTES.get(one, "") for one in status.tolist()]
    bare = np.all([np.isnan(numbers[f"{name}/delta"]) for name in job.panel.columns], axis=0)
    for allele in np.flatnonzero((status == PLACED) & bare).tolist():
        notes[allele] = NO_SCORE
    writer.rows(chunk, cells, notes)


def _texts(values: npt.NDArray[Any], digits: int) -> list[str]:
    """Return numbers as text, empty for NaN; bytes are unchanged."""
    if values.dtype.kind == "S":
        return values.astype(str).tolist()
    return ["" if value != value else f"{value:.{digits}g}" for value in values.tolist()]


# The models of ``seqkern variants``, by name.

SHARE = 0.5
"""Share of the available memory for the weights of several models."""


def scorers_of(words: list[str], args: argparse.Namespace) -> dict[str, Scorer]:
    """Return the scorers of the models, by name."""
    # imported here to keep --help fast
    from seqkern.genomics.variants import read_scorer
    from seqkern.methods.loading import parse_model_args

    return {one.name: read_scorer(one.word, args.window, args.around) for one in parse_model_args(words)}


def panel_of(models: list[ModelArg], args: argparse.Namespace) -> Panel:
    """Return the models as a panel; weights that do not fit into memory stay in a temporary file."""
    # imported here to keep --help fast
    from seqkern.core.memory import available_memory, format_bytes
    from seqkern.core.progress import progress_bar
    from seqkern.genomics.variants import Panel, TableStore, read_scorer

    folders = [] if is_standard_output(args.output) else Path(args.output).absolute().parents
    folder = next((one for one in folders if one.is_dir()), None)
    store = TableStore(SHARE * available_memory(), folder)
    panel = Panel(len(models) > 1, store)
    for one in progress_bar(models, "models"):
        panel.add(one.name, read_scorer(one.word, args.window, args.around))
        check_dna(panel.alphabets)
    if store.in_file:
        total = format_bytes(store.in_memory + store.in_file)
        print(
            f"seqkern: the weights of {len(models)} models take {total}, more than half of the memory that is left: "
            f"{format_bytes(store.in_file)} of them are read again for each chunk of variants",
            file=sys.stderr,
        )
    return panel


def check_dna(alphabets: Mapping[str, Alphabet]) -> None:
    """Raise ModelError, naming the model, for a model not trained on DNA."""
    # imported here to keep --help fast
    from seqkern.core.errors import ModelError

    for name, alphabet in alphabets.items():
        if alphabet.name != "dna":
            raise ModelError(
                f"{name} is a model of {alphabet.name}, but variants are DNA",
                remedy="give a model of DNA, or sequences with --ref and --alt",
            )
