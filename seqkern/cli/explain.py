"""``seqkern explain``: contributions of residues and k-mers of new sequences to a model's decision values."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from seqkern.cli.common import with_fasta
from seqkern.cli.new_sequences import read_chunks
from seqkern.cli.output import check_result_folder, log_counts, log_formulas, naming_file, result_folder
from seqkern.cli.requests_models import ExplainRequest
from seqkern.core.archive import check_writable
from seqkern.core.errors import ModelError, ParameterError, naming
from seqkern.core.progress import progress_counter
from seqkern.core.text_files import source_name
from seqkern.core.tsv import format_cell, optional_library
from seqkern.formats.reference import Genome
from seqkern.formats.signals import Track, track_format
from seqkern.methods.explanation import Explainer
from seqkern.methods.loading import load_model
from seqkern.methods.residue_model import ResidueModel
from seqkern.report.explanation_page import write_explanation
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.streaming import record_lengths
from seqkern.study.data_entry import is_bed


def run(request: ExplainRequest) -> None:
    """Run the verb; an output that ends in .html is the page alone."""
    if not request.output.lower().endswith(".html"):
        _run(request)
        return
    check_writable(request.output)
    with TemporaryDirectory(prefix=".seqkern-explain", dir=Path(request.output).absolute().parent) as folder:
        _run(request.but(output=folder), Path(request.output))


def _run(request: ExplainRequest, page: Path | None = None) -> None:
    """Write the folder, with the page in it or at its own place."""
    check_result_folder(request)
    request = with_fasta(request)
    model = load_model(request.model)
    if isinstance(model, ResidueModel):
        raise ModelError(
            "classifies residues by their neighbours, which explain does not support",
            file=request.model,
            remedy="draw its predictions with seqkern predict --track; for the importance of residues see a study's "
            "report",
        )
    with naming(request.model):
        explainer = Explainer(model, request.pair)
    name = source_name(request.fasta)
    counts = Counter[str]()
    lengths = None if request.contributions is None else _lengths(request)
    of_regions = request.genome is None or is_bed(request.fasta, with_genome=True)
    # a genome beside FASTA gives only the lengths of the chromosomes
    reading = request if of_regions or lengths is None else request.but(genome=None)
    chunks = cast("Iterator[SequenceSet]", read_chunks(model, reading))
    with (
        result_folder(request),
        contextlib.nullcontext() if request.contributions is None else Track() as track,
        progress_counter("explain", " records") as show,
        naming_file(name),
    ):
        table = write_explanation(
            explainer,
            _counting(chunks, counts, request),
            request.output,
            model=Path(request.model).name,
            fasta=Path(name).name,
            plots=request.plots,
            show=show,
            n_threads=request.threads,
            track=track,
            page_path=page,
        )
        if track is not None:
            track.write(request.contributions, lengths)
    if table.dropped:
        counts["k-mers of small weight left out"] = table.dropped
    log_counts(counts, name)
    print(page or Path(request.output) / "index.html")
    if request.contributions is not None:
        print(request.contributions)
    if explainer.no_words:
        print(f"  {explainer.no_words}")
    largest = [row for row in table.sorted() if row[2] != 0][: request.top]
    if largest and explainer.model.kind == "binary":
        print("  weights above zero support {1}, below zero {0}".format(*explainer.model.classes))
    if largest:
        print("  k-mer\tweight\toccurrences")
    for kmer, weight, count in largest:
        print("  " + "\t".join(map(format_cell, (kmer, weight, count))))


def _lengths(request: ExplainRequest) -> dict[str, int] | None:
    """Return the lengths of the chromosomes for bigWig; None for bedGraph, which does not need them."""
    check_writable(request.contributions)
    if track_format(request.contributions) == "bedgraph":
        return None
    optional_library("pyBigWig", "genome")  # complains before any work
    if request.genome is not None:
        with Genome(request.genome) as genome:
            return dict(genome.lengths)
    if request.sites is None or request.fasta == "-":
        raise ParameterError(
            "bigWig needs the lengths of the chromosomes",
            remedy="add --genome FASTA, or write contributions to a .bedgraph file",
        )
    return record_lengths(request.fasta)


def _counting(chunks: Iterable[SequenceSet], counts: Counter[str], request: ExplainRequest) -> Iterator[SequenceSet]:
    """Yield the chunks, add up the counts of the reading policies, and report ids that look like formulas."""
    told = False
    for X in chunks:
        told = told or log_formulas(X.ids, request)
        counts.update(X.counts)
        yield X
