"""``seqkern grammar`` and ``seqkern genes``: learn a gene model from an annotated genome, and find genes with it."""

from __future__ import annotations

import sys

from seqkern.cli.output import log, naming_file, output_writer, print_output
from seqkern.cli.requests_models import GenesRequest, GrammarRequest
from seqkern.core.archive import check_writable
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.progress import progress_counter
from seqkern.core.text_files import source_name
from seqkern.formats.annotation import Annotation, gtf_lines, has_features, read_annotation
from seqkern.genomics.gene_learning import by_chromosome, learn_genes, load_gene_model, true_structures
from seqkern.genomics.genes import LEVELS, NOTHING, gene_accuracy


def run_grammar(request: GrammarRequest) -> None:
    """Run the verb."""
    check_writable(request.output)
    if "-" in (request.genome, request.annotation):
        raise ParameterError("the files are read more than once", remedy="give files instead of standard input")
    if request.annotation is None and not has_features(request.genome):
        raise ParameterError(f"{request.genome} has no annotation", remedy="give a GTF or GFF3 file after the genome")
    model = learn_genes(
        request.genome,
        request.annotation,
        kernel=request.kernel,
        solver=request.solver,
        seed=request.seed,
        n_threads=request.threads,
        tell=log,
    )
    model.save(request.output)
    print_output(request.output)
    fit, record = model.record["fit"], model.record
    best = max(record["exon_f1"].values())
    print(f"  {record['genes']} genes, C={record['C']:g}: F1 of exons {best:.4f} in held-out folds")
    state = "converged" if fit["converged"] else "not converged"
    share = max(0.0, fit["gap"] / fit["objective"]) if fit["objective"] else 0.0
    print(f"  weights {state} after {fit['passes']} passes: objective {fit['objective']:.4g}, duality gap {share:.2%}")


def run_genes(request: GenesRequest) -> None:
    """Run the verb."""
    if request.output is not None:
        check_writable(request.output)
    model = load_gene_model(request.model)
    truth = None if request.truth is None else by_chromosome(_read(request.truth))
    n_genes, counts = 0, dict.fromkeys(LEVELS, NOTHING)
    with (
        output_writer(request.output) as write,
        progress_counter("genes", " bases") as show,
        naming_file(source_name(request.genome)),
    ):
        for name, codes, genes in model.find_all(request.genome, n_threads=request.threads, progress=show):
            for line in gtf_lines(name, [(gene.reverse, gene.parts, gene.score) for gene in genes], n_genes + 1):
                write(line)
            n_genes += len(genes)
            if truth is not None:
                found = gene_accuracy(
                    true_structures(truth.pop(name, ()), codes), [(g.reverse, g.parts) for g in genes]
                )
                counts = {level: counts[level] + found[level] for level in LEVELS}
    if request.output is not None:
        print_output(request.output)
    log(f"{n_genes} genes")
    if truth:
        some = ", ".join(list(truth)[:3]) + (", …" if len(truth) > 3 else "")
        log(f"{request.truth}: {len(truth)} chromosomes that the genome lacks ({some})")
    if truth is not None:
        print("level  sensitivity  precision  annotated  predicted", file=sys.stdout if request.output else sys.stderr)
        for level, count in counts.items():
            print(
                f"{level:<5}  {count.sensitivity:<11.4f}  {count.precision:<9.4f}  {count.true:<9}  {count.predicted}",
                file=sys.stdout if request.output else sys.stderr,
            )


def _read(path: str) -> Annotation:
    """Return an annotation, which must have coding parts."""
    annotation = read_annotation(path)
    if not any(transcript.coding for transcript in annotation.transcripts):
        raise SequenceError(
            f"has no CDS of a transcript (features: {annotation.listed()})",
            file=path,
            remedy="give the full annotation, with features CDS",
        )
    return annotation
