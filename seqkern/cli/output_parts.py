"""Outputs of the verbs that apply models: resumed by a repeated command, or made by several jobs and joined."""

from __future__ import annotations

import contextlib
import gzip
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from seqkern.cli.options import Request
from seqkern.cli.output import is_packed, output_writer
from seqkern.cli.requests_models import Parts, PredictRequest
from seqkern.core.archive import atomic_write, canonical_json, check_writable
from seqkern.core.errors import ParameterError
from seqkern.core.exclusive_files import exclusive_folder
from seqkern.core.package_files import build_digest
from seqkern.core.parts import CHUNK, Part, PartFile, PartFolder, file_stamp, files_digest, resumable_write
from seqkern.core.text_files import file_sha256, is_standard_output
from seqkern.formats.bgzip import BgzipWriter
from seqkern.methods.loading import split_model_arg

# The identity of a verb's output as text, by which a repeated command finds and continues unfinished work.

RESUMING_NEITHER = ("verb", "output", "threads")
"""Arguments that do not affect the output."""
OTHER_FILES = ("track", "view", "profiles", "search_profiles", "sites", "states")
"""Options that name files in their own syntax; with one of them a prediction cannot be resumed."""


def identity_of_prediction(request: PredictRequest) -> Callable[[], str] | None:
    """Return a function that identifies a prediction by its options and file contents; None if it cannot be resumed.

    >>> from seqkern.cli.requests_models import PredictRequest
    >>> identity_of_prediction(PredictRequest(model="donors.seqkern", fasta="-")) is None
    True
    """
    given = (
        split_model_arg(request.model)[0],
        request.fasta,
        getattr(request, "genome", None),
        getattr(request, "blacklist", None),
    )
    paths = [Path(path) for path in given if path]
    if any(getattr(request, name, None) for name in OTHER_FILES) or not all(path.is_file() for path in paths):
        return None
    options = {
        name: repr(value) if isinstance(value, float) else value  # JSON has no infinity
        for name, value in request.values().items()
        if name not in RESUMING_NEITHER
    }

    @cache
    def identity() -> str:

        return canonical_json([build_digest(), [file_sha256(path) for path in paths], options])

    return identity


@contextlib.contextmanager
def prediction_writer(request: PredictRequest) -> Iterator[PartFile]:
    """Open the output of a prediction; a killed run is resumed, except for compressed files and parts.

    The caller skips the first `complete` blocks of the PartFile, and ends each other block.
    """
    if request.output is None or request.part is not None or is_packed(request.output):
        with output_writer(request.output) as write:
            yield PartFile(write)
        return
    with resumable_write(request.output, identity_of_prediction(request)) as part:
        yield part


# ``--part`` and ``--gather``: an output made by several jobs, and joined.

NO_OPTIONS = ("output", "part", "gather", "threads", "verb", "model", "fasta", "files")
"""Arguments that do not affect the output, or have their own digest."""


@contextlib.contextmanager
def as_part(request: Parts, models: Sequence[str], data: Sequence[str]) -> Iterator[tuple[Any, dict[str, Any] | None]]:
    """Redirect a verb's output to a part, if one is wanted.

    The context yields the request for the part, and a dict to be filled with notes for the joining job, or None if the
    part already exists. The output depends on the options and on `models` and `data`, small and large files.
    """
    if request.part is None:
        yield request, {}
        return
    folder = part_folder(request, models, data)
    check_writable(request.output)
    with exclusive_folder(folder.lock(request.part), temporary=True):
        if folder.is_finished(request.part):
            print(f"seqkern: {request.output}: part {request.part} has been made before", file=sys.stderr)
            yield request, None
            return
        notes: dict[str, Any] = {}
        yield request.but(output=str(folder.begin(request.part) / folder.output.name)), notes
        folder.finish(request.part, notes)


def part_folder(request: Parts, models: Sequence[str], data: Sequence[str]) -> PartFolder:
    """Return the folder of the parts of the verb's output."""
    option = "--gather" if request.gather else "--part"
    if request.gather and request.part is not None:
        raise ParameterError("--part and --gather exclude each other", remedy="remove one")
    if request.output is None or is_standard_output(request.output):
        raise ParameterError(f"{option} needs an output file", remedy="add -o FILE")
    if "-" in data:
        raise ParameterError(f"{option} cannot divide standard input", remedy="give a file")
    options = {name: _content(value) for name, value in request.values().items() if name not in NO_OPTIONS}
    named = [split_model_arg(word) for word in models]
    return PartFolder(
        request.output,
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


def refuse_part(request: Request, what: str, remedy: str) -> None:
    """Raise ParameterError if a part is wanted of `what`, which cannot be divided."""
    if getattr(request, "part", None) is not None:
        raise ParameterError(f"--part does not divide {what}", remedy=remedy)


def gather(
    request: Parts,
    models: Sequence[str],
    data: Sequence[str],
    make: Callable[[PartFolder, str, list[Any]], bool] | None = None,
    finish: Callable[[list[Any]], object] | None = None,
) -> list[Any] | None:
    """Return the notes of the parts of a verb's output, which are joined and removed; None if already joined.

    ``make(folder, name, notes)`` writes a file that cannot simply be joined, and returns whether it did.
    ``finish(notes)`` writes what is derived from the joined files, such as an index.
    """
    folder = part_folder(request, models, data)
    with exclusive_folder(folder.folder, temporary=True):
        if folder.is_joined():
            folder.clear([])
            print(f"seqkern: {request.output}: the parts have been joined before", file=sys.stderr)
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
