"""``seqkern splice-scores``: scores of splice sites for spliced aligners."""

from __future__ import annotations

import contextlib
from typing import Any

from seqkern.cli.output import as_part, gather, log, naming_file, prediction_writer, print_output
from seqkern.cli.requests_models import SpliceScoresRequest
from seqkern.core.archive import check_writable
from seqkern.core.errors import ParameterError
from seqkern.core.progress import progress_counter
from seqkern.core.text_files import is_standard_output, source_name
from seqkern.genomics.splice import SpliceModel, learn_splice, load_splice_model, splice_scores


def run(request: SpliceScoresRequest) -> None:
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
    if "-" in (request.fasta, annotation):
        raise ParameterError("the files are read more than once", remedy="give files instead of standard input")
    model = learn_splice(request.fasta, annotation, n_threads=request.threads)
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
