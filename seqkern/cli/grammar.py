"""``seqkern grammar``: learn a gene model from an annotated genome."""

from __future__ import annotations

import argparse
import sys

from seqkern.cli.common import add_threads
from seqkern.cli.output import print_output

EXAMPLE = "seqkern grammar genes.fasta genes.gtf -o genes.seqkern"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("genome", help="FASTA, plain or compressed; or GenBank or EMBL")
    parser.add_argument(
        "annotation",
        nargs="?",
        help="GTF or GFF3 with CDS, GenBank or EMBL (default: the features of a genome in GenBank or EMBL)",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="output file, the model of seqkern genes")
    parser.add_argument(
        "--kernel",
        default="weighted_degree:degree=8",
        help="kernel of the donor and acceptor classifiers, on windows -30:+30 (default: weighted_degree:degree=8)",
    )
    parser.add_argument("--solver", default="csvc:C=1", help="their solver, of two classes (default: csvc:C=1)")
    parser.add_argument("--seed", type=int, default=1, help="random seed of decoys and of the fit (default: 1)")
    add_threads(parser)


def run(args: argparse.Namespace) -> None:
    """Run the verb."""
    # imported here to keep --help fast
    from seqkern.core.archive import check_writable
    from seqkern.core.errors import ParameterError
    from seqkern.formats.annotation import has_features
    from seqkern.genomics.gene_learning import learn_genes

    check_writable(args.output)
    if "-" in (args.genome, args.annotation):
        raise ParameterError("the files are read more than once", remedy="give files instead of standard input")
    if args.annotation is None and not has_features(args.genome):
        raise ParameterError(f"{args.genome} has no annotation", remedy="give a GTF or GFF3 file after the genome")
    model = learn_genes(
        args.genome,
        args.annotation,
        kernel=args.kernel,
        solver=args.solver,
        seed=args.seed,
        n_threads=args.threads,
        tell=lambda text: print(f"seqkern: {text}", file=sys.stderr),
    )
    model.save(args.output)
    print_output(args.output)
    fit, record = model.record["fit"], model.record
    best = max(record["exon_f1"].values())
    print(f"  {record['genes']} genes, C={record['C']:g}: F1 of exons {best:.4f} in held-out folds")
    state = "converged" if fit["converged"] else "not converged"
    share = max(0.0, fit["gap"] / fit["objective"]) if fit["objective"] else 0.0
    print(f"  weights {state} after {fit['passes']} passes: objective {fit['objective']:.4g}, duality gap {share:.2%}")
