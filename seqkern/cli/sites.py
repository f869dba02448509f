"""``seqkern sites``: splice sites or codons from the annotation of a genome, with matched decoys."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from seqkern.cli.output import print_output

if TYPE_CHECKING:
    from seqkern.formats.site_tables import SiteTable

EXAMPLE = "seqkern sites genes.fasta genes.gtf --kind donor --decoys 10 -o sites.tsv"
MORE_EXAMPLES = ("seqkern sites genome.gb --kind acceptor -o sites.tsv",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("genome", help="FASTA, plain or compressed; or GenBank or EMBL")
    parser.add_argument(
        "annotation",
        nargs="?",
        help="GTF, GFF3, GenBank or EMBL, plain or compressed (default: the features of a genome in GenBank or EMBL)",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="output file, a table of sites")
    parser.add_argument(
        "--kind",
        choices=("donor", "acceptor", "start", "stop"),
        default="donor",
        help="ends of introns, or start or stop codons (default: donor)",
    )
    parser.add_argument(
        "--decoys",
        type=int,
        default=10,
        metavar="N",
        help="decoys for each site: the same bases in the same gene, not annotated in any transcript (default: 10)",
    )
    parser.add_argument(
        "--motif",
        metavar="LETTERS",
        help="bases at the sites, such as GT,GC; any keeps all sites (default: GT, AG, ATG, or TAA,TAG,TGA); other "
        "sites are left out and counted",
    )
    parser.add_argument(
        "--feature",
        choices=("exon", "CDS"),
        default="exon",
        help="introns lie between exons, or between coding parts if no exons are annotated (default: exon)",
    )
    parser.add_argument("--seed", type=int, default=1, help="random seed of the decoys (default: 1)")


def run(args: argparse.Namespace) -> None:
    """Run the verb."""
    # imported here to keep --help fast
    from seqkern.core.archive import check_writable
    from seqkern.core.errors import ParameterError
    from seqkern.core.tsv import write_tsv
    from seqkern.formats.annotation import has_features, read_annotation
    from seqkern.formats.site_tables import COLUMNS, make_site_table

    check_writable(args.output)
    given = args.annotation or args.genome
    if given == "-" or args.genome == "-":
        raise ParameterError("the files are read more than once", remedy="give files instead of standard input")
    if args.annotation is None and not has_features(given):
        raise ParameterError(f"{args.genome} has no annotation", remedy="give a GTF or GFF3 file after the genome")
    annotation = read_annotation(given)
    motifs = None if args.motif is None else args.motif.split(",")
    table = make_site_table(
        args.genome,
        annotation,
        args.kind,
        decoys=args.decoys,
        motifs=motifs,
        feature=args.feature,
        seed=args.seed,
    )
    write_tsv(args.output, COLUMNS, table.rows)
    print_output(args.output)
    _tell(table, args, given)


def _tell(table: SiteTable, args: argparse.Namespace, name: str) -> None:
    """Print the contents of the table, and on standard error what was left out."""
    sites, decoys = table.counts(args.kind)
    print(f"  {args.kind:<10} {sites} sites in {table.genes()} genes")
    lacking = f"; {table.lacking} fewer than wanted, their genes have no more" if table.lacking else ""
    print(f"  {'decoy':<10} {decoys} in the same genes{lacking}")
    if table.introns:
        shown = ", ".join(f"{ends} {count}" for ends, count in table.introns.most_common())
        print(f"  {'introns':<10} {table.introns.total()}: {shown}")
    if table.left_out:
        left = ", ".join(f"{count} {what}" for what, count in table.left_out.items())
        print(f"seqkern: {name}: left out: {left}", file=sys.stderr)
    if table.missing:
        some = ", ".join(list(table.missing)[:3]) + (", …" if len(table.missing) > 3 else "")
        print(
            f"seqkern: {name}: {sum(table.missing.values())} sites on {len(table.missing)} chromosomes that the genome "
            f"lacks ({some})",
            file=sys.stderr,
        )
