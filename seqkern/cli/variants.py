"""``seqkern variants``: the effects of variants on a model's decisions."""

from __future__ import annotations

import argparse
import re
import sys
from typing import TYPE_CHECKING

from seqkern.cli.common import add_threads, positive_integer, refuse_unused
from seqkern.cli.output import add_spreadsheet_safe
from seqkern.cli.parts import add_parts
from seqkern.core.declarations import read_number

if TYPE_CHECKING:
    from seqkern.genomics.variants import Scorer
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
    from seqkern.cli.variant_files import run_vcf, scorers_of
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
            remedy="remove --null, or remove --part and --gather: a killed run goes on where it was",
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
    from seqkern.report.logo import mutation_figure
    from seqkern.report.markup import as_file

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
    from seqkern.cli.variant_files import check_dna
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
    yield _of_region(args, max(scorer.flank for scorer in scorers.values()))


def _of_region(args: argparse.Namespace, flank: int):
    """Return the piece of a region of the genome."""
    # imported here to keep --help fast
    from seqkern.core.declarations import whole_number
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
