"""``seqkern predict … --scan``: the classification of every candidate site in sequences of any length."""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

from seqkern.cli.common import log_counts, naming_file
from seqkern.cli.output import output_writer, prediction_writer
from seqkern.core.checks import read_number

if TYPE_CHECKING:
    from pathlib import Path

    from seqkern.core.parts import Part, PartFile
    from seqkern.methods.model import Model
    from seqkern.methods.scan import Scanner
    from seqkern.sequences.sequence_set import SequenceSet
    from seqkern.sequences.streaming import Candidates

FORMATS = ("bed", "bedgraph", "bigwig", "tsv")
ENDINGS = {".bed": "bed", ".bedgraph": "bedgraph", ".bg": "bedgraph", ".bw": "bigwig", ".bigwig": "bigwig"}
BY_STRAND = {"bedgraph": ".bedgraph", "bigwig": ".bw"}
"""Formats without strands, with the endings of their files."""
MODEL = "model"
"""The threshold that stands for the model's own."""
DESCRIPTION = """\
every occurrence of the given bases is a candidate, classified by the window around it:
  tsv       record, position (from 1, of the candidate's first letter on its strand), strand, decision, probability
  bed       BED9 with the interval of the candidate's letters; score is 1000 × probability, or 500 + 500 × decision
            if the model is not calibrated; red above zero, blue below; columns 10 and 11 are decision and probability
  bigwig    decision at the candidate's first letter on its strand; -o NAME.bw with both strands writes NAME.plus.bw
            and NAME.minus.bw
  bedgraph  the same as text
example: seqkern predict sites.seqkern chromosome.fa.gz --scan AG -o found.bed"""


def add_scan(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for scanning."""
    group = parser.add_argument_group("scanning for candidates", DESCRIPTION)
    group.add_argument("--scan", metavar="LETTERS", help="bases of the candidates, such as AG")
    group.add_argument(
        "--format", choices=FORMATS, help="default: by the ending of the output file, .bed, .bw or .bedgraph; else tsv"
    )
    group.add_argument(
        "--window",
        metavar="-L:+R",
        help="positions before and after a candidate's first letter (default: as in training)",
    )
    group.add_argument("--strand", choices=("both", "+", "-"), help="default: both")
    group.add_argument(
        "--threshold",
        type=_threshold,
        metavar="X",
        help="write only decisions above X; model: above the model's own threshold (default: write all)",
    )
    group.add_argument(
        "--masked",
        choices=("skip", "score"),
        help="windows with N or other masked letters: skip and count them, or score the other letters (default: skip)",
    )
    group.add_argument(
        "--lower",
        choices=("letters", "skip"),
        help="lower-case letters: treat like any others, or skip candidates that contain them (default: letters)",
    )


def _threshold(text: str) -> float | str:
    """Return a number that is not NaN, or ``"model"``."""
    if text == MODEL:
        return text
    value = float(text) if text in ("inf", "-inf") else read_number(text)
    if math.isnan(value):
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor model")
    return value


def check_no_scan(args: argparse.Namespace) -> None:
    """Raise an error for an option that needs ``--scan``."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError

    for name in ("format", "window", "strand", "threshold", "masked", "lower"):
        if getattr(args, name) is not None:
            raise ParameterError(f"--{name} needs --scan", remedy=f"add --scan LETTERS, or remove --{name}")


def run_scan(args: argparse.Namespace, model: Model, notes: dict[str, Any]) -> None:
    """Scan the sequences, and write the candidates; `notes` gets the counts and the data for writing bigWig."""
    # imported here to keep --help fast
    from seqkern.core.errors import ModelError, ParameterError
    from seqkern.core.progress import progress_counter
    from seqkern.core.text_files import source_name
    from seqkern.methods.scan import Scanner

    for name, value in {
        "unknown": args.unknown,
        "empty": args.empty,
        "strip-gaps": args.strip_gaps,
        "track": args.track,
        "profiles": args.profiles,
        "search-profiles": args.search_profiles,
        "sites": args.sites,
    }.items():
        if value:
            raise ParameterError(
                f"--{name} does not work with --scan",
                remedy=f"remove --{name}" + ("; use --masked for N" if name == "unknown" else ""),
            )
    options = {name: getattr(args, name) for name in ("strand", "masked", "lower") if getattr(args, name)}
    form, name = args.format or _format_of(args.output), source_name(args.fasta)
    if model.kind == "multiclass" and (form != "tsv" or args.threshold is not None):
        raise ModelError(
            f"has {len(model.classes)} classes, and one decision value for each",
            file=args.model,
            remedy="use --format tsv without --threshold, or train one class against the rest with --positive",
        )
    least = args.threshold
    if least == MODEL:
        if model.threshold is None:
            raise ModelError(
                "was trained without --threshold", file=args.model, remedy="give a number, such as --threshold 0"
            )
        least = model.threshold.value
    try:
        scanner = Scanner(model, args.scan, args.window, n_threads=args.threads, **options)
    except ModelError as error:
        error.file = args.model
        raise
    if not scanner.fast:
        print(
            f"seqkern: {args.model}: kernel {model.kernel.name!r} has no position weights, so each window is compared "
            "with the support sequences, which is slower",
            file=sys.stderr,
        )
    ids = args.ids or ("number" if model.policies.get("ids") == "number" else "header")
    n_found = 0
    with contextlib.ExitStack() as stack:
        write, out = stack.enter_context(_writer(form, args, scanner, notes))
        show = stack.enter_context(progress_counter("scan", " bases"))
        stack.enter_context(naming_file(name))
        n_found += 0 if out is None else out.complete
        for found in _candidates(stack, args, scanner, ids, show, out):
            n_found += len(found)
            write(found if least is None else found.take(found.decisions > least))
    notes["counts"] = dict(scanner.counts)
    log_counts(scanner.counts, name)
    for text in _remarks(args, model, scanner) if n_found else ():
        print(f"seqkern: {text}", file=sys.stderr)
    if scanner.bare:
        others = f" and {len(scanner.bare) - 1} more" if len(scanner.bare) > 1 else ""
        print(
            f"seqkern: {name}: record {scanner.bare[0]!r}{others}: only N or other masked letters, so no candidate",
            file=sys.stderr,
        )
    elif not n_found:
        print(f"seqkern: {name}: no candidate {scanner.window.site!r} to classify", file=sys.stderr)


def _candidates(
    stack: contextlib.ExitStack,
    args: argparse.Namespace,
    scanner: Scanner,
    ids: str,
    show: Callable[[int], None] | None,
    out: PartFile | None,
) -> Iterator[Candidates]:
    """Return the candidates that `out` lacks, or the candidates of a part."""
    if args.part is None:
        blocks: dict[str, Any] = {} if out is None else {"skip": out.complete, "end_block": out.end_block}
        return scanner.scan(args.fasta, ids=ids, progress=show, **blocks)
    # imported here to keep --help fast
    from seqkern.formats.reference import Genome
    from seqkern.methods.scan import scan_part

    genome = stack.enter_context(Genome(args.fasta))
    return scan_part(scanner, genome, args.part, ids=ids, progress=show)


def _remarks(args: argparse.Namespace, model: Model, scanner: Scanner) -> Iterator[str]:
    """Yield remarks on the interpretation of the decisions."""
    if model.kind == "binary":
        writes = model.threshold is not None and args.threshold is None
        others = "; --threshold model writes only those" if writes else ""
        comma = "," if model.threshold is not None else ""
        yield f"{args.model}: {model.cut.words}{comma} predict class {model.classes[1]}{others}"
    window = scanner.window
    at_site = cast("SequenceSet", model.support).part(window.left, window.left + len(window.site)).strings()
    share = at_site.count(window.site) / len(at_site)
    if share < 0.5:
        yield (
            f"warning: {args.model}: only {share:.0%} of the training windows in the model have {window.site} at the "
            f"site; check the positions of the training sites (train with --site {window.site})"
        )


@contextlib.contextmanager
def _writer(
    form: str, args: argparse.Namespace, scanner: Scanner, notes: dict[str, Any]
) -> Iterator[tuple[Callable[[Candidates], None], PartFile | None]]:
    """Yield ``write(candidates)``, and the file if the output can be resumed; files appear when complete."""
    # imported here to keep --help fast
    from pathlib import Path

    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError
    from seqkern.core.parts import PartFile
    from seqkern.core.tsv import escaped, table_text
    from seqkern.methods.scan import header, lines

    site, output = scanner.window.site, args.output
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
        with _big_wig_writer(paths, scanner, args.part, notes) as write_values:
            yield write_values, None
        return
    with contextlib.ExitStack() as stack:
        if both:
            out = None
            files = [PartFile(stack.enter_context(output_writer(path))) for path in paths]
        else:
            out = stack.enter_context(prediction_writer(args))
            files = [out]
        for file in files:
            if not file.complete and (args.part is None or args.part.number == 1):
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
    # imported here to keep --help fast
    from seqkern.core.archive import check_writable
    from seqkern.core.errors import ParameterError
    from seqkern.formats.libraries import py_big_wig
    from seqkern.formats.signals import Track, track_format

    py_big_wig()  # complains before any work
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
