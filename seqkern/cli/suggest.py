"""``seqkern suggest``: records of an unlabelled pool to label next, or variants to make next."""

from __future__ import annotations

import math
from typing import Any

from seqkern.cli.common import with_fasta
from seqkern.cli.new_sequences import read_chunks
from seqkern.cli.output import log, log_formulas, naming_file, output_writer, print_output, warn
from seqkern.cli.requests_models import SuggestRequest
from seqkern.core.archive import check_writable
from seqkern.core.errors import naming
from seqkern.core.text_files import source_name
from seqkern.core.tsv import format_cell, table_text
from seqkern.methods.acquisition import (
    NextVariants,
    Suggestions,
    check_acquires,
    check_suggests,
    next_variants,
    suggest,
)
from seqkern.methods.loading import load_model
from seqkern.methods.model import Model


def run(request: SuggestRequest) -> None:
    """Run the verb."""
    if request.output is not None:
        check_writable(request.output)
    request = with_fasta(request)
    model: Any = load_model(request.model)
    with naming(request.model):
        _check(model, request)
    with naming_file(source_name(request.fasta)):
        found = _found(model, request)
    log_formulas(found.ids, request)
    with output_writer(request.output) as write:
        for line in _lines(model, found):
            write(line)
    if request.output is not None:
        print_output(request.output)
    if found.n_known is None:
        said = f"{request.model} does not say which records had a label in training: the pool may hold some"
        warn(said)
    elif found.n_known:
        what = "1 record" if found.n_known == 1 else f"{found.n_known} records"
        said = f"{what} left out, equal to records with a label in training"
        log(f"{source_name(request.fasta)}: {said}")
    if len(found.ids) < request.n:
        said = f"{len(found.ids)} records chosen, not {request.n} (-n): the pool has no more to choose from"
        log(f"{source_name(request.fasta)}: {said}")
    log(found.sentence())


def _check(model: Any, request: SuggestRequest) -> None:
    """Raise ModelError unless the model supports the requested choice."""
    if request.acquisition is None:
        check_suggests(model)
    else:
        check_acquires(model)


def _found(model: Any, request: SuggestRequest) -> NextVariants | Suggestions:
    """Return the records to label, or the variants to make, next."""
    pool: Any = read_chunks(model, request)
    names = ("diversity", "strategy") if request.acquisition is None else ("acquisition", "minimize", "kappa")
    given: dict[str, Any] = {name: getattr(request, name) for name in names if getattr(request, name) is not None}
    choose = suggest if request.acquisition is None else next_variants
    return choose(model, pool, request.n, **given, seed=request.seed, n_threads=request.threads)


def _lines(model: Model, found: NextVariants | Suggestions) -> list[str]:
    """Return the lines of the table."""
    rows = _label_rows(model, found) if isinstance(found, Suggestions) else _variant_rows(found)
    return [table_text("\t".join(map(format_cell, row)) + "\n") for row in rows]


def _label_rows(model: Model, found: Suggestions) -> list[list[object]]:
    """Return the table of records to label next."""
    several = model.kind == "multiclass"
    names = [f"decision:{name}" for name in model.classes] + ["gap"] if several else ["decision"]
    rows: list[list[object]] = [["rank", "id", *names, "distance"]]
    for i, name in enumerate(found.ids):
        values = [*found.decisions[i].tolist(), found.gaps[i]] if several else [found.decisions[i]]
        rows.append([i + 1, name, *values, None if math.isnan(found.distances[i]) else found.distances[i]])
    return rows


def _variant_rows(found: NextVariants) -> list[list[object]]:
    """Return the table of variants to make next."""
    columns = zip(found.ids, found.means, found.deviations, found.values, strict=True)
    return [["rank", "id", "mean", "sd", "acquisition"], *([i, *row] for i, row in enumerate(columns, start=1))]
