"""``seqkern grammar``, ``genes`` and ``splice-scores``: gene and splice models of genomes, and what they find."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from typing import Any

from seqkern.cli.common import annotation_file
from seqkern.cli.output import as_part, gather, log, naming_file, output_writer, prediction_writer, print_output
from seqkern.cli.requests_models import GenesRequest, GrammarRequest, SpliceScoresRequest
from seqkern.core.archive import check_writable
from seqkern.core.errors import SequenceError
from seqkern.core.progress import progress_counter
from seqkern.core.text_files import is_standard_output, source_name
from seqkern.formats.annotation import Annotation, gtf_lines, read_annotation
from seqkern.genomics.gene_learning import by_chromosome, learn_genes, load_gene_model, true_structures
from seqkern.genomics.genes import LEVELS, NOTHING, gene_accuracy
from seqkern.genomics.splice import SpliceModel, learn_splice, load_splice_model, splice_scores


def run_grammar(request: GrammarRequest) -> None:
    """Run the verb."""
    check_writable(request.output)
    model = learn_genes(
        request.genome,
        annotation_file(request.genome, request.annotation),
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
    left_out = Counter[str]()
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
                    true_structures(truth.pop(name, ()), codes, left_out), [(g.reverse, g.parts) for g in genes]
                )
                counts = {level: counts[level] + found[level] for level in LEVELS}
    if request.output is not None:
        print_output(request.output)
    log(f"{n_genes} genes")
    if left_out:
        log(f"{request.truth}: left out: " + ", ".join(f"{n} transcripts {why}" for why, n in left_out.items()))
    if truth:
        some = ", ".join(list(truth)[:3]) + (", …" if len(truth) > 3 else "")
        log(f"{request.truth}: {len(truth)} chromosomes that the genome lacks ({some}); give both with the same names")
    if truth is not None:
        out = sys.stdout if request.output else sys.stderr
        print("level  sensitivity  precision  annotated  predicted", file=out)
        for level, count in counts.items():
            print(
                f"{level:<5}  {count.sensitivity:<11.4f}  {count.precision:<9.4f}  {count.true:<9}  {count.predicted}",
                file=out,
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


def run_splice_scores(request: SpliceScoresRequest) -> None:
    """Run the verb."""
    if request.train is not None:
        _train(request, request.train)
        if request.output is None:
            return
    if request.output is not None and is_standard_output(request.output):
        request = request.but(output=None)
    counts: list[Any] | None
    if request.gather:
        counts = gather(request, [request.model], [request.fasta])
    else:
        model = load_splice_model(request.model)
        with as_part(request, [request.model], [request.fasta]) as (request, notes):
            if notes is not None:
                _score(request, model, notes)
        counts = None if notes is None else [notes]
    if counts is not None:
        log(f"{source_name(request.fasta)}: {sum(own['written'] for own in counts):,} sites written")


def _train(request: SpliceScoresRequest, annotation: str) -> None:
    """Train the model, and write it."""
    check_writable(request.model)
    model = learn_splice(request.fasta, annotation_file(request.fasta, annotation), n_threads=request.threads)
    model.save(request.model)
    print_output(request.model)
    for name in model.edges:
        kind = model.record[name.split()[0]]
        about = f"{kind['sites']} sites and {kind['decoys']} decoys, " if name[-2:] in ("GT", "AG") else ""
        print(f"  {name:<11} {about}scores {model.scores[name][0]} to {model.scores[name][-1]}")


def _score(request: SpliceScoresRequest, model: SpliceModel, notes: dict[str, Any]) -> None:
    """Write the scores of a genome, or of one part."""
    notes["written"] = 0
    with contextlib.ExitStack() as stack:
        out = stack.enter_context(prediction_writer(request))
        show = stack.enter_context(progress_counter("scores", " bases"))
        stack.enter_context(naming_file(source_name(request.fasta)))
        how: dict[str, Any] = {"skip": out.complete, "end_block": out.end_block, "n_threads": request.threads}
        for lines in splice_scores(model, request.fasta, part=request.part, progress=show, **how):
            out.write(lines)
            notes["written"] += lines.count("\n")
