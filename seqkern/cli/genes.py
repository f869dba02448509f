"""``seqkern grammar`` and ``seqkern genes``: learn a gene model from an annotated genome, and find genes with it."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from seqkern.cli.common import add_threads
from seqkern.cli.output import output_writer, print_output

if TYPE_CHECKING:
    from seqkern.formats.annotation import Annotation


class Grammar:
    """``seqkern grammar``: learn a gene model from an annotated genome."""

    EXAMPLE = "seqkern grammar genes.fasta genes.gtf -o genes.seqkern"

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        """Add the verb's arguments."""
        parser.add_argument("genome", help="FASTA, plain or compressed; or GenBank or EMBL")
        parser.add_argument(
            "annotation",
            nargs="?",
            help="GTF or GFF3 with CDS, GenBank or EMBL (default: the features of a genome in GenBank or EMBL)",
        )
        parser.add_argument(
            "-o", "--output", required=True, metavar="FILE", help="output file, the model of seqkern genes"
        )
        parser.add_argument(
            "--kernel",
            default="weighted_degree:degree=8",
            help="kernel of the donor and acceptor classifiers, on windows -30:+30 (default: weighted_degree:degree=8)",
        )
        parser.add_argument("--solver", default="csvc:C=1", help="their solver, of two classes (default: csvc:C=1)")
        parser.add_argument("--seed", type=int, default=1, help="random seed of decoys and of the fit (default: 1)")
        add_threads(parser)

    @staticmethod
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
        print(
            f"  weights {state} after {fit['passes']} passes: objective {fit['objective']:.4g}, duality gap {share:.2%}"
        )


class Genes:
    """``seqkern genes``: find genes in a genome."""

    EXAMPLE = "seqkern genes genes.seqkern genes.fasta -o found.gtf"
    MORE_EXAMPLES = ("seqkern genes genes.seqkern unseen.fasta --truth unseen.gtf -o found.gtf",)

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        """Add the verb's arguments."""
        parser.add_argument("model", help="model file of seqkern grammar")
        parser.add_argument("genome", help="FASTA, plain or compressed; - for standard input; or GenBank or EMBL")
        parser.add_argument("-o", "--output", metavar="FILE", help="GTF file; -: standard output (the default)")
        parser.add_argument(
            "--truth",
            metavar="FILE",
            help="known annotation, GTF or GFF3: print sensitivity and precision of coding bases, exons and genes",
        )
        add_threads(parser)

    @staticmethod
    def run(args: argparse.Namespace) -> None:
        """Run the verb."""
        # imported here to keep --help fast
        from seqkern.cli.common import naming_file
        from seqkern.core.archive import check_writable
        from seqkern.core.progress import progress_counter
        from seqkern.core.text_files import is_standard_output, source_name
        from seqkern.formats.annotation import gtf_lines
        from seqkern.genomics.gene_learning import by_chromosome, load_gene_model, true_structures
        from seqkern.genomics.genes import LEVELS, NOTHING, gene_accuracy

        if args.output is not None and is_standard_output(args.output):
            args.output = None
        if args.output is not None:
            check_writable(args.output)
        model = load_gene_model(args.model)
        truth = None if args.truth is None else by_chromosome(_read(args.truth))
        n_genes, counts = 0, dict.fromkeys(LEVELS, NOTHING)
        with (
            output_writer(args.output) as write,
            progress_counter("genes", " bases") as show,
            naming_file(source_name(args.genome)),
        ):
            for name, codes, genes in model.find_all(args.genome, n_threads=args.threads, progress=show):
                for line in gtf_lines(name, [(gene.reverse, gene.parts, gene.score) for gene in genes], n_genes + 1):
                    write(line)
                n_genes += len(genes)
                if truth is not None:
                    found = gene_accuracy(
                        true_structures(truth.pop(name, ()), codes), [(g.reverse, g.parts) for g in genes]
                    )
                    counts = {level: counts[level] + found[level] for level in LEVELS}
        if args.output is not None:
            print_output(args.output)
        print(f"seqkern: {n_genes} genes", file=sys.stderr)
        if truth:
            some = ", ".join(list(truth)[:3]) + (", …" if len(truth) > 3 else "")
            print(f"seqkern: {args.truth}: {len(truth)} chromosomes that the genome lacks ({some})", file=sys.stderr)
        if truth is not None:
            print("level  sensitivity  precision  annotated  predicted", file=sys.stdout if args.output else sys.stderr)
            for level, count in counts.items():
                print(
                    f"{level:<5}  {count.sensitivity:<11.4f}  {count.precision:<9.4f}  {count.true:<9}  "
                    f"{count.predicted}",
                    file=sys.stdout if args.output else sys.stderr,
                )


def _read(path: str) -> Annotation:
    """Return an annotation, which must have coding parts."""
    # imported here to keep --help fast
    from seqkern.core.errors import SequenceError
    from seqkern.formats.annotation import read_annotation

    annotation = read_annotation(path)
    if not any(transcript.coding for transcript in annotation.transcripts):
        raise SequenceError(
            f"has no CDS of a transcript (features: {annotation.listed()})",
            file=path,
            remedy="give the full annotation, with features CDS",
        )
    return annotation
