"""``seqkern variants``: what variants change in a model's decisions."""

from __future__ import annotations

import argparse

from seqkern.cli.common import add_threads, positive_integer, refuse_unused
from seqkern.cli.output import add_spreadsheet_safe
from seqkern.cli.parts import add_parts
from seqkern.core.values import read_number

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
    """Add the verb's arguments.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of this verb.
    """
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
    """Return a number between 0 and 1."""
    value = read_number(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number between 0 and 1")
    return value


def run(args: argparse.Namespace) -> None:
    """Run the verb.

    Parameters
    ----------
    args : Namespace
        The parsed arguments of `add_arguments`.
    """
    # imported here to keep --help fast
    from seqkern.cli.saturation import run_pairs, run_saturation
    from seqkern.cli.variant_files import run_vcf
    from seqkern.cli.variant_models import scorers_of
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
    """Raise an error for options that do not fit together."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError
    from seqkern.core.standard_output import is_standard_output

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
