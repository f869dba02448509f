"""``--part`` and ``--gather``: an output made by several jobs, and joined."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from seqkern.core.parts import Part
from seqkern.core.text_files import is_standard_output

if TYPE_CHECKING:
    from pathlib import Path

    from seqkern.core.parts import PartFolder

NO_OPTIONS = ("output", "part", "gather", "threads", "run", "verb", "version", "model", "fasta", "files")
"""Arguments that do not change the output, or that have a digest of their own."""


def add_parts(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for parts."""
    group = parser.add_argument_group(
        "several jobs for one output",
        "each job computes a part, and keeps it in OUTPUT.parts; --gather joins them, byte for byte as one run\n"
        "would write. Text, plain or compressed by bgzip, is divided without reading it; in other compressions each\n"
        "job reads it through.",
    )
    group.add_argument("--part", type=_part, metavar="I/N", help="compute part I of N, such as 3/7")
    group.add_argument("--gather", action="store_true", help="join the parts, and remove them")


def _part(text: str) -> Part:
    """Return a part, for argparse."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError

    try:
        return Part.parse(text)
    except ParameterError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


@contextlib.contextmanager
def as_part(args: argparse.Namespace, models: Sequence[str], data: Sequence[str]) -> Iterator[dict[str, Any] | None]:
    """Redirect a verb's output to a part, if one is wanted.

    The context yields a dict to be filled with notes for the joining job, or None if the part already exists. The
    output
    depends on the options and on `models` and `data`, small and large files.
    """
    # imported here to keep --help fast
    from seqkern.core.archive import check_writable
    from seqkern.core.exclusive_files import alone_in

    if args.part is None:
        yield {}
        return
    folder = part_folder(args, models, data)
    check_writable(args.output)
    with alone_in(folder.lock(args.part), temporary=True):
        if folder.is_finished(args.part):
            print(f"seqkern: {args.output}: part {args.part} has been made before", file=sys.stderr)
            yield None
            return
        args.output = str(folder.begin(args.part) / folder.output.name)
        notes: dict[str, Any] = {}
        yield notes
        folder.finish(args.part, notes)


def part_folder(args: argparse.Namespace, models: Sequence[str], data: Sequence[str]) -> PartFolder:
    """Return the folder of the parts of the verb's output."""
    # imported here to keep --help fast
    from seqkern.core.archive import canonical_json
    from seqkern.core.build import build_digest
    from seqkern.core.errors import ParameterError
    from seqkern.core.parts import PartFolder, file_stamp, files_digest
    from seqkern.methods.loading import split_word

    option = "--gather" if args.gather else "--part"
    if args.gather and args.part is not None:
        raise ParameterError("--part and --gather exclude each other", remedy="remove one")
    if args.output is None or is_standard_output(args.output):
        raise ParameterError(f"{option} needs an output file", remedy="add -o FILE")
    if "-" in data:
        raise ParameterError(f"{option} cannot divide standard input", remedy="give a file")
    options = {name: _content(value) for name, value in vars(args).items() if name not in NO_OPTIONS}
    named = [split_word(word) for word in models]
    return PartFolder(
        args.output,
        {
            "model": " ".join(
                [files_digest(list(dict.fromkeys(file for file, _ in named))), *(name for _, name in named if name)]
            ),
            "input": "; ".join(f"{path} {file_stamp(path)}" for path in data),
            "options": canonical_json(options),
            "build": build_digest(),
        },
    )


def _content(value: Any) -> Any:
    """Return the value of an option, and for a file also its size and modification time."""
    # imported here to keep --help fast
    from seqkern.core.parts import file_stamp

    if isinstance(value, list | tuple):
        return [_content(one) for one in value]
    if isinstance(value, float):
        return repr(value)  # JSON has no infinity
    if isinstance(value, str) and os.path.isdir(value):  # of profiles
        files = sorted(os.scandir(value), key=lambda one: one.name)
        return [value, *(f"{one.path} {file_stamp(one.path)}" for one in files)]
    if isinstance(value, str) and os.path.isfile(value):
        return f"{value} {file_stamp(value)}"
    return value


def refuse_part(args: argparse.Namespace, what: str, remedy: str) -> None:
    """Raise ParameterError if a part is wanted of `what`, which cannot be divided."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError

    if getattr(args, "part", None) is not None:
        raise ParameterError(f"--part does not divide {what}", remedy=remedy)


def gather(
    args: argparse.Namespace,
    models: Sequence[str],
    data: Sequence[str],
    make: Callable[[PartFolder, str, list[Any]], bool] | None = None,
    finish: Callable[[list[Any]], object] | None = None,
) -> list[Any] | None:
    """Return the notes of the parts of a verb's output, which are joined and removed; None if already joined.

    ``make(folder, name, notes)`` writes a file that cannot simply be joined, and returns whether it did.
    ``finish(notes)`` writes what is derived from the joined files, such as an index.
    """
    # imported here to keep --help fast
    from seqkern.core.exclusive_files import alone_in

    folder = part_folder(args, models, data)
    with alone_in(folder.folder, temporary=True):
        if folder.is_joined():
            folder.clear([])
            print(f"seqkern: {args.output}: the parts have been joined before", file=sys.stderr)
            return None
        names, notes = folder.complete()
        for name in names:
            if make is None or not make(folder, name, notes):
                join(folder, name, len(notes), folder.output.with_name(name))
        if finish is not None:
            finish(notes)
        folder.clear(names)
    return notes


def join(folder: PartFolder, name: str, of: int, path: Path) -> None:
    """Write one file from all parts; if compressed in blocks, it equals the output of a single run."""
    # imported here to keep --help fast
    import gzip

    # imported here to keep --help fast
    from seqkern.core.archive import atomic_write
    from seqkern.core.parts import CHUNK
    from seqkern.formats.bgzip import BgzipWriter

    with atomic_write(path) as file:
        if not name.endswith((".gz", ".bgz")):
            for data in folder.content(name, of):
                file.write(data)
            return
        packed = BgzipWriter(file)
        for number in range(1, of + 1):
            with gzip.open(folder.path(Part(number, of)) / name) as text:
                while data := text.read(CHUNK):
                    packed.write_bytes(data)
        packed.finish()


def added(counts: Sequence[dict[str, int]]) -> dict[str, int]:
    """Return the sum of counts by name over the parts."""
    sums: dict[str, int] = {}
    for one in counts:
        for name, count in one.items():
            sums[name] = sums.get(name, 0) + count
    return sums
