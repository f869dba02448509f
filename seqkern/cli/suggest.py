"""``seqkern suggest``: records of an unlabelled pool to label next, or variants to make next."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any, cast

import numpy as np

from seqkern.cli.common import with_fasta
from seqkern.cli.new_sequences import joined, read_chunks
from seqkern.cli.output import log, log_formulas, naming_file, output_writer, print_output, warn
from seqkern.cli.requests_models import SuggestRequest
from seqkern.cli.requests_training import MethodRequest
from seqkern.cli.wrong_files import holds_fasta, holds_table
from seqkern.core.archive import check_writable
from seqkern.core.errors import ModelError, ParameterError, SequenceError, naming
from seqkern.core.text_files import source_name
from seqkern.core.tsv import format_cell, table_text
from seqkern.core.types import Floats
from seqkern.methods.acquisition import (
    NextVariants,
    Suggestions,
    check_acquires,
    check_suggests,
    next_variants,
    suggest,
)
from seqkern.methods.campaign import PROCESS, REPEATS, TOP, MutantPool, read_positions, replay
from seqkern.methods.loading import load_model
from seqkern.methods.model import Model
from seqkern.sequences.fasta import records_of
from seqkern.sequences.sequence_set import SequenceSet


def run(request: SuggestRequest) -> None:
    """Run the verb."""
    if request.output is not None:
        check_writable(request.output)
    if request.replay:
        _write(_replay_rows(request), request)
        return
    request = with_fasta(request)
    model: Any = load_model(request.model)
    given = request
    with naming(request.model):
        request = _with_rule(model, request)
    with naming_file(source_name(request.fasta)):
        of_parent = request.has("positions") or request.has("mutations")
        if not of_parent and request.acquisition is not None and not _reads(model) and _holds_one(request.fasta):
            log(f"{source_name(request.fasta)}: one record, the parent of all single mutants; --mutations allows more")
            of_parent, request = True, request.but(mutations=1)
        pool = _mutants(model, request) if of_parent else None
        found = _found(model, request, pool)
    log_formulas(found.ids, request)
    rows = _label_rows(model, found) if isinstance(found, Suggestions) else _variant_rows(found)
    if pool is not None:
        rows = [[*row[:2], pool.sequence(str(row[1])) if i else "sequence", *row[2:]] for i, row in enumerate(rows)]
    _write(rows, request)
    if request.acquisition != given.acquisition:
        log("a model of numbers: chosen by an upper confidence bound (ucb); --acquisition names another rule")
    name = source_name(request.fasta)
    if pool is not None:
        log(f"{name}: {pool.describe()}")
    if found.n_known is None:
        warn(f"{request.model} does not say which records had a label in training: the pool may hold some")
    elif found.n_known:
        what = "1 record" if found.n_known == 1 else f"{found.n_known} records"
        log(f"{name}: {what} left out, equal to records with a label in training")
    if len(found.ids) < request.n:
        log(f"{name}: {len(found.ids)} records chosen, not {request.n} (-n): the pool has no more to choose from")
    log(found.sentence())


def _write(rows: list[list[object]], request: SuggestRequest) -> None:
    """Write a table where the request wants it."""
    with output_writer(request.output) as write:
        for row in rows:
            write(table_text("\t".join(map(format_cell, row)) + "\n"))
    if request.output is not None:
        print_output(request.output)


def _with_rule(model: Any, request: SuggestRequest) -> SuggestRequest:
    """Return the request with the acquisition, by default ucb for numbers; raise an error for an unsuitable model."""
    of_numbers = getattr(model, "kind", None) == "real" and isinstance(model, Model)
    if request.acquisition is None and not of_numbers:
        request.refuse("needs a model of numbers", "maximize", "minimize", "kappa")
        check_suggests(model)
        return request
    check_acquires(model)
    request.refuse("does not work with a model of numbers", "diversity", "strategy")
    return request.but(acquisition=request.acquisition or "ucb")


def _holds_one(path: str) -> bool:
    """Return whether a file is FASTA of one record."""
    return holds_fasta(path) and len(list(islice(records_of(path), 2))) == 1


def _reads(model: Any) -> str:
    """Return what keeps a model from being applied to variants of a parent; empty if nothing does."""
    tracks = [*model.kernel.traits.tracks, *sorted(set(model.kernel.traits.views) - set(model.sequence_views))]
    if tracks:
        return f"reads {tracks[0]!r} of each variant"
    return "is not of single sequences" if model.alphabet is None or len(model.sequence_views) > 1 else ""


def _mutants(model: Any, request: SuggestRequest) -> MutantPool:
    """Return the pool of all wanted variants of the parent."""
    what = _reads(model)
    if what:
        given = request.flag("positions" if request.has("positions") else "mutations").split()[0]
        raise ModelError(what, file=request.model, remedy=f"give the variants as a file, without {given}")
    parents = [
        (X.ids[i], X.string(i))
        for X in cast("Iterator[SequenceSet]", read_chunks(model, request))
        for i in range(len(X))
    ]
    if len(parents) != 1:
        raise SequenceError(f"has {len(parents):,} records", remedy="give one record, the parent")
    name, parent = parents[0]
    lengths = np.unique(getattr(model.support, "lengths", ()))
    if len(lengths) == 1 and len(parent) != lengths[0]:
        raise SequenceError(
            f"has {len(parent)} residues, the training sequences have {lengths[0]}",
            record=name,
            remedy="give the parent in the form of the training sequences",
        )
    if "*" in parent:
        raise SequenceError(
            f"the residue at position {parent.index('*') + 1} is unknown", record=name, remedy="give the whole parent"
        )
    kept = read_positions(request.keep, len(parent), "--keep") if request.keep else []
    some = read_positions(request.positions or f"1-{len(parent)}", len(parent), "--positions")
    exclude = (request.exclude or "").upper()
    unknown = next((letter for letter in exclude if letter not in model.alphabet.letters), None)
    if unknown is not None:
        raise ParameterError(
            f"--exclude: {unknown!r} is not a residue of the model", remedy=f"choose among {model.alphabet.letters}"
        )
    free = [place for place in some if place not in set(kept)]
    return MutantPool.within(parent, model.alphabet, free, exclude, request.mutations)


def _found(model: Any, request: SuggestRequest, mutants: MutantPool | None) -> NextVariants | Suggestions:
    """Return the records to label, or the variants to make, next."""
    pool: Any = read_chunks(model, request) if mutants is None else (joined(model, X) for X in mutants.chunks())
    names = ("diversity", "strategy") if request.acquisition is None else ("acquisition", "minimize", "kappa")
    given: dict[str, Any] = {name: getattr(request, name) for name in names if getattr(request, name) is not None}
    choose = suggest if request.acquisition is None else next_variants
    return choose(model, pool, request.n, **given, seed=request.seed, n_threads=request.threads)


def _replay_rows(request: SuggestRequest) -> list[list[object]]:
    """Return the table of what replayed campaigns find."""
    # imported here: nothing else trains
    from seqkern.cli.training_input import read_input, read_training, with_columns

    if not holds_table(request.model):
        raise ParameterError(
            "is not a table",
            file=request.model,
            remedy="give a CSV of measured variants, with the columns sequence and value",
        )
    table = MethodRequest(
        fasta=[request.model],
        **{name: getattr(request, name) for name in ("sequences", "label_field", "id_column")},
        solver=PROCESS,
    )
    given = read_input(read_training(with_columns(table)))
    X, names = cast("SequenceSet", given.X), ("minimize", "kappa", "acquisition")
    options: dict[str, Any] = {name: getattr(request, name) for name in names if getattr(request, name) is not None}
    with naming(request.model):
        found = replay(
            X,
            cast("Floats", given.labels.y),
            request.n,
            start=request.start,
            rounds=request.rounds,
            **options,
            seed=request.seed,
            n_threads=request.threads,
        )
    log(
        f"{request.model}: {len(X):,} variants, of which the best {math.ceil(TOP * len(X)):,} are looked for; means of "
        f"{REPEATS} campaigns"
    )
    return [["round", "measured", "strategy", "best", "top_found"], *([*one[:4], round(one.top, 4)] for one in found)]


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
