"""``seqkern sites``: splice sites or codons from the annotation of a genome, with matched decoys."""

from __future__ import annotations

import sys

from seqkern.cli.output import print_output
from seqkern.cli.requests_data import SitesRequest
from seqkern.core.archive import check_writable
from seqkern.core.errors import ParameterError
from seqkern.core.tsv import write_tsv
from seqkern.formats.annotation import has_features, read_annotation, read_features
from seqkern.formats.site_tables import COLUMNS, SiteTable, make_site_table


def run(request: SitesRequest) -> None:
    """Run the verb."""
    check_writable(request.output)
    given = request.annotation or request.genome
    if given == "-" or request.genome == "-":
        raise ParameterError("the files are read more than once", remedy="give files instead of standard input")
    if has_features(given):
        annotation = read_features(given)
    elif request.annotation is None:
        raise ParameterError(f"{request.genome} has no annotation", remedy="give a GTF or GFF3 file after the genome")
    else:
        annotation = read_annotation(given)
    motifs = None if request.motif is None else request.motif.split(",")
    table = make_site_table(
        request.genome,
        annotation,
        request.kind,
        decoys=request.decoys,
        motifs=motifs,
        feature=request.feature,
        seed=request.seed,
    )
    write_tsv(request.output, COLUMNS, table.rows)
    print_output(request.output)
    _tell(table, request, given)


def _tell(table: SiteTable, request: SitesRequest, name: str) -> None:
    """Print the contents of the table, and on standard error what was left out."""
    sites, decoys = table.counts(request.kind)
    print(f"  {request.kind:<10} {sites} sites in {table.genes()} genes")
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
