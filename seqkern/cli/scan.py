"""``seqkern predict … --scan``: the classification of every candidate site in sequences of any length."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

from seqkern.cli.output import (
    keep_strongest,
    log,
    log_counts,
    log_strongest,
    naming_file,
    output_writer,
    prediction_writer,
    warn,
)
from seqkern.cli.requests_models import PredictRequest
from seqkern.core.archive import check_writable
from seqkern.core.errors import ModelError, ParameterError, naming
from seqkern.core.parts import Part, PartFile
from seqkern.core.progress import progress_counter
from seqkern.core.text_files import source_name
from seqkern.core.tsv import escaped, optional_library, table_text
from seqkern.core.types import Bools, Floats
from seqkern.formats.reference import Genome
from seqkern.formats.signals import Track, track_format
from seqkern.methods.model import Model
from seqkern.methods.scan import Scanner, header, lines, scan_part
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.streaming import Candidates

ENDINGS = {".bed": "bed", ".bedgraph": "bedgraph", ".bg": "bedgraph", ".bw": "bigwig", ".bigwig": "bigwig"}
BY_STRAND = {"bedgraph": ".bedgraph", "bigwig": ".bw"}
"""Formats without strands, with the endings of their files."""


def run_scan(request: PredictRequest, model: Model, notes: dict[str, Any]) -> None:
    """Scan the sequences, and write the candidates; `notes` gets the counts and the data for writing bigWig."""
    options = {name: getattr(request, name) for name in ("strand", "masked", "lower") if getattr(request, name)}
    form, name = request.format or _format_of(request.output), source_name(request.fasta)
    if model.kind == "multiclass" and (form != "tsv" or request.threshold is not None):
        raise ModelError(
            f"has {len(model.classes)} classes, and one decision value for each",
            file=request.model,
            remedy="use --format tsv without --threshold, or train one class against the rest with --positive",
        )
    if request.threshold == "model" and form not in BY_STRAND:
        log("--threshold model is the default now: leave it out")
    positive = _positive(request, model)
    every = positive is None or request.all or (form in BY_STRAND and request.threshold is None)
    with naming(request.model):
        scanner = Scanner(model, request.scan, request.window, n_threads=request.threads, **options)
    if not scanner.fast:
        log(
            f"{request.model}: kernel {model.kernel.name!r} has no position weights, so each window is "
            "compared with the support sequences, which is slower"
        )
    ids = request.ids or ("number" if model.policies.get("ids") == "number" else "header")
    n_candidates, n_found, best = 0, 0, list[tuple[float, str]]()
    with contextlib.ExitStack() as stack:
        write, out = stack.enter_context(_writer(form, request, scanner, notes))
        show = stack.enter_context(progress_counter("scan", " bases"))
        stack.enter_context(naming_file(name))
        resumed = 0 if out is None else out.complete
        for found in _candidates(stack, request, scanner, ids, show, out):
            n_candidates += len(found)
            chosen = found if positive is None else found.take(positive(found.decisions))
            n_found += len(chosen)
            write(found if every else chosen)
            if model.kind != "multiclass":
                keep_strongest(best, chosen.decisions, partial(_described, chosen))
    notes |= {"counts": dict(scanner.counts), "scanned": [n_candidates, n_found]}
    notes["rule"] = f" {scanner.window.site}", _rule(request, model) + ", all written" * every
    log_counts(scanner.counts, name)
    if n_candidates or resumed:
        log_scanned(name, [notes])
        _warn_of_sites(request, model, scanner)
    if request.part is None:
        log_strongest(request.output, [], "highest decision values:", best)
    if scanner.bare:
        others = f" and {len(scanner.bare) - 1} more" if len(scanner.bare) > 1 else ""
        log(f"{name}: record {scanner.bare[0]!r}{others}: only N or other masked letters, so no candidate")
    elif not n_candidates and not resumed:
        log(f"{name}: no candidate {scanner.window.site!r} to classify")


def _candidates(
    stack: contextlib.ExitStack,
    request: PredictRequest,
    scanner: Scanner,
    ids: str,
    show: Callable[[int], None] | None,
    out: PartFile | None,
) -> Iterator[Candidates]:
    """Return the candidates that `out` lacks, or the candidates of a part."""
    if request.part is None:
        blocks: dict[str, Any] = {} if out is None else {"skip": out.complete, "end_block": out.end_block}
        return scanner.scan(request.fasta, ids=ids, progress=show, **blocks)

    genome = stack.enter_context(Genome(request.fasta))
    found = scan_part([scanner], genome, request.part, ids=ids, progress=show)
    return (candidates for block in found for _, candidates in block)


def _positive(request: PredictRequest, model: Model) -> Callable[[Floats], Bools] | None:
    """Return a function of decisions that is true for what is found; None if all candidates are."""
    if request.threshold not in (None, "model"):
        return lambda decisions: decisions > request.threshold
    return (lambda decisions: model.cut.codes(decisions) > 0) if model.kind == "binary" else None


def log_scanned(name: str, notes: list[Any]) -> None:
    """Print the number of candidates in all parts, and how many are found."""
    candidates, found = (sum(note["scanned"][i] for note in notes) for i in (0, 1))
    site, rule = notes[0]["rule"]
    log(f"{name}: {candidates:,} candidates{site}{rule.format(found=f'{found:,}')}")


def _rule(request: PredictRequest, model: Model) -> str:
    """Return what is found, in words with a place for their number."""
    if request.threshold not in (None, "model"):
        return f", {{found}} above {request.threshold:g}"
    return f", {{found}} predicted {model.classes[1]} ({model.cut.words})" if model.kind == "binary" else ""


def _described(found: Candidates, i: int) -> str:
    """Return a candidate in a line."""
    return f"{found.decisions[i]:<9.4g} {found.record}:{found.positions[i]}:{'+-'[int(found.reverse[i])]}"


def _warn_of_sites(request: PredictRequest, model: Model, scanner: Scanner) -> None:
    """Print a warning if most training windows have other bases at the site."""
    window = scanner.window
    at_site = cast("SequenceSet", model.support).part(window.left, window.left + len(window.site)).strings()
    share = at_site.count(window.site) / len(at_site)
    if share < 0.5:
        warn(
            f"{request.model}: only {share:.0%} of the training windows in the model have {window.site} at "
            f"the site; check the positions of the training sites (train with --site {window.site})"
        )


@contextlib.contextmanager
def _writer(
    form: str, request: PredictRequest, scanner: Scanner, notes: dict[str, Any]
) -> Iterator[tuple[Callable[[Candidates], None], PartFile | None]]:
    """Yield ``write(candidates)``, and the file if the output can be resumed; files appear when complete."""
    site, output = scanner.window.site, request.output
    both = form in BY_STRAND and len(scanner.strands) == 2
    if both and not output:
        raise ParameterError(
            f"a {form} has no strand, so standard output can take one strand only",
            remedy=f"add --strand + or -, or -o NAME{BY_STRAND[form]} for two files",
        )
    if form == "bigwig" and not output:
        raise ParameterError("bigWig cannot be written to standard output", remedy="add -o NAME.bw")
    paths = [Path(output)] if output else []
    if both:
        paths = [_strand_path(paths[0], name, BY_STRAND[form]) for name in ("plus", "minus")]
    if form == "bigwig":
        with _big_wig_writer(paths, scanner, request.part, notes) as write_values:
            yield write_values, None
        return
    with contextlib.ExitStack() as stack:
        if both:
            out = None
            files = [PartFile(stack.enter_context(output_writer(path))) for path in paths]
        else:
            out = stack.enter_context(prediction_writer(request))
            files = [out]
        for file in files:
            if not file.complete and (request.part is None or request.part.number == 1):
                file.write(table_text(header(form, scanner.model)))

        def write(found: Candidates) -> None:
            for strand, file in enumerate(files):
                own = found.take(found.reverse == strand) if both else found
                for text in lines(form, own, scanner.model, site):
                    file.write(table_text(text) if form == "tsv" else escaped(text))

        yield write, out


@contextlib.contextmanager
def _big_wig_writer(
    paths: list[Path], scanner: Scanner, part: Part | None, notes: dict[str, Any]
) -> Iterator[Callable[[Candidates], None]]:
    """Yield ``write(candidates)`` for bigWig: one file, or one for each strand; for a part only the values."""
    optional_library("pyBigWig", "genome")  # complains before any work
    for path in paths:
        if track_format(path) != "bigwig":
            raise ParameterError(f"{str(path)!r} is not the name of a bigWig file", remedy="end the name in .bw")
        check_writable(path)
    with contextlib.ExitStack() as stack:
        tracks = [stack.enter_context(Track()) for _ in paths]

        def write(found: Candidates) -> None:
            for strand, track in enumerate(tracks):
                own = found.take(found.reverse == strand) if len(tracks) > 1 else found
                track.add(own.record, own.positions - 1, own.decisions)

        yield write
        for track, path in zip(tracks, paths, strict=True):
            if part is None:
                track.write(path, scanner.lengths)
            else:
                notes[path.name] = track.save(path)
                notes["lengths"] = scanner.lengths


def _format_of(output: str | None) -> str:
    """Return the format of an output file by its ending."""
    output = None if output is None else output.removesuffix(".gz")
    suffix = "" if output is None else output[output.rfind(".") :].lower()
    return ENDINGS.get(suffix, "tsv")


def _strand_path(path: Path, name: str, ending: str) -> Path:
    """Return the path of one strand's file: ``sites.plus.bedgraph`` for ``sites.bedgraph``."""
    packed = path.suffix if path.suffix == ".gz" else ""
    plain = path.with_name(path.name.removesuffix(packed))
    return path.with_name(f"{plain.stem}.{name}{plain.suffix or ending}{packed}")
