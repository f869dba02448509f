"""The output of a verb: a table or a folder, resumed by a repeated command, or made by several jobs and joined."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seqkern.cli.options import Request
from seqkern.cli.requests import PICTURES, TABLES, WHOLE_TABLES, Overwrite, SpreadsheetSafe
from seqkern.cli.requests_models import Parts, PredictRequest, SpliceScoresRequest
from seqkern.core.archive import atomic_write, canonical_json, check_writable, load_archive, noting_files
from seqkern.core.errors import FileError, FoldError, LabelError, ParameterError, SeqkernError, SequenceError
from seqkern.core.exclusive_files import SUFFIX, exclusive_folder, remove_dead
from seqkern.core.file_kinds import MODEL
from seqkern.core.interruption import remove_tree
from seqkern.core.package_files import build_digest
from seqkern.core.parts import CHUNK, Part, PartFile, PartFolder, file_stamp, files_digest, resumable_write
from seqkern.core.text_files import file_sha256, is_standard_output, standard_output, table_on_standard_output
from seqkern.core.tsv import FORMULA, check_ending, table_writer
from seqkern.core.types import Floats, PathLike
from seqkern.formats.bgzip import BgzipWriter
from seqkern.sequences.alphabets import masked_text

if TYPE_CHECKING:
    from seqkern.study.dataset import Dataset


def log(text: str) -> None:
    """Print a line on standard error."""
    print(f"seqkern: {text}", file=sys.stderr)


def warn(text: str) -> None:
    """Print a warning on standard error."""
    log(f"warning: {text}")


def log_counts(counts: Mapping[str, int], source: PathLike) -> None:
    """Print the effects of the reading policies on standard error."""
    masked = masked_text(counts)
    touched = [f"{count} {what}" for what, count in counts.items() if count and not what.startswith("masked ")]
    if touched:
        log(f"{source}: {', '.join(touched)}")
    if masked:
        log(f"{source}: {masked}; --unknown error refuses them")


MOST_SHOWN = 5
"""Number of strongest rows that end a run."""


def keep_strongest(best: list[tuple[float, str]], values: Floats, describe: Callable[[int], str]) -> None:
    """Keep in `best` the rows of greatest value that were seen so far, each with its description."""
    order = np.argsort(-values, kind="stable")[:MOST_SHOWN].tolist()
    best += [(float(values[i]), describe(i)) for i in order if values[i] == values[i]]
    best.sort(key=lambda row: -row[0])
    del best[MOST_SHOWN:]


def log_strongest(output: PathLike | None, lines: Iterable[str], title: str, best: list[tuple[float, str]]) -> None:
    """Print what ends a run on standard error; nothing if the table is piped and no terminal shows messages."""
    if (output is None or is_standard_output(output)) and not sys.stderr.isatty():
        return
    for line in [*lines, *[title] * bool(best)]:
        log(line)
    for _, text in best:
        print(f"  {text}", file=sys.stderr)


def log_folds(notes: dict[str, Any]) -> None:
    """Print the genomic regions that folds keep together, on standard error."""
    if "genome" in notes:
        log(notes["genome"]["folds"])


def log_unlabelled(dataset: Dataset, source: str, learned: bool | None = False, reason: str = "") -> None:
    """Print the number and treatment of unlabelled records, and the first one.

    `learned` says whether the solver learns from them too, None if unknown. Nothing is printed for several tasks,
    each of
    which leaves records out, or for residues.
    """
    if len(dataset.tasks) != 1 or dataset.residues is not None:
        return
    labels = dataset.task().labels
    missing = [name for name, used in zip(labels.ids, labels.used().tolist(), strict=True) if not used]
    if missing:
        count = "1 record" if len(missing) == 1 else f"{len(missing)} records"
        first = repr(missing[0]) if len(missing) == 1 else f"{missing[0]!r}, …"
        what = {
            True: "in every training set",
            False: f"left out{reason and f', since {reason}'}",
            None: "left out, but for solvers that learn from them",
        }
        log(f"{source}: {count} without a label {what[learned]}: {first}")


@contextlib.contextmanager
def naming_file(file: PathLike) -> Iterator[None]:
    """Add the file name to errors about sequences, labels or folds that lack one.

    >>> with naming_file("donors.fa"):
    ...     raise SequenceError("is empty")
    Traceback (most recent call last):
        ...
    seqkern.core.errors.SequenceError: donors.fa: is empty
    """
    try:
        yield
    except (SequenceError, LabelError, FoldError) as error:
        if error.file is None:
            error.file = file
        raise


def metric_name(key: str) -> str:
    """Return the name of a metric, as the report has it."""
    # imported here: a training without scores loads nothing of the report
    from seqkern.report.sentences import metric

    return metric(key).name


def is_packed(output: PathLike) -> bool:
    """Return whether an output file is to be compressed with bgzip, by its name."""
    return str(output).endswith((".gz", ".bgz"))


def print_output(output: PathLike) -> None:
    """Print the name of a written file, but nothing for standard output."""
    if not is_standard_output(output):
        print(output)


@contextlib.contextmanager
def output_writer(output: PathLike | None) -> Iterator[Callable[[str], object]]:
    """Yield a function that writes lines to a file of the format that its ending names; it appears when complete."""
    if output is None or is_standard_output(output):
        out = standard_output()
        yield out.write
        out.flush()
    else:
        with table_writer(output, BgzipWriter if is_packed(output) else None) as write:
            yield write


def log_formulas(ids: Iterable[str], request: SpreadsheetSafe) -> bool:
    """Print a note if a spreadsheet would run an id as a formula, unless ``--spreadsheet-safe``; return whether it
    did.
    """
    if request.spreadsheet_safe:
        return False
    first = next((name for name in ids if not name[:1].isalnum() and FORMULA.match(name)), None)
    if first is not None:
        log(f"the id {first!r} is a formula to a spreadsheet; add --spreadsheet-safe for tables that are opened in one")
    return first is not None


ONE_TABLE = ("predict", "variants", "sites", "genes", "background", "motifs", "plan", "suggest", "models")
"""Verbs that write one text, which ``-o -`` sends to standard output."""
FOLDERS = (
    *("datasets", "folds", "baseline", "evaluate", "cv", "test", "importance", "discover", "effects", "report"),
    "explain",
)
"""Verbs that write several files into a folder."""


OUTPUTS = ("output", "table", "plot", "features", "contributions", "cost")
"""Options that name a file to be written."""
REPLACED = ("extend",)
"""Options that name an input which the output may replace: it is read completely first."""


@contextlib.contextmanager
def checked_output(request: Request) -> Iterator[None]:
    """Refuse an output that is clearly a mistake; with ``-o -`` redirect printed text to standard error."""
    output = getattr(request, "output", None)
    piped = output is not None and is_standard_output(output)
    page_alone = request.verb() == "explain" and str(output).lower().endswith(".html")
    if output is not None and not piped and request.verb() in FOLDERS and not page_alone:
        check_folder(Path(output))
    _check_no_input(request)
    _check_endings(request)
    if output is not None and request.verb() == "train" and not request.has("output") and os.path.exists(output):
        _check_model(output)
    if not piped:
        yield
        return
    if request.verb() not in ONE_TABLE:
        what = "a file that is not text" if request.verb() in ("train", "gram", "grammar") else "several files"
        raise FileError(f"{request.verb()} writes {what}, not to standard output", remedy="name it: -o NAME")
    with table_on_standard_output():
        yield


def _check_model(output: str) -> None:
    """Print that a model of the default name will be replaced; raise FileError if the file is no model."""
    try:
        load_archive(output, MODEL, wanted=lambda name: False)
    except SeqkernError as error:
        error.problem, error.remedy = f"exists, and is not {MODEL.words}", "name another output with -o FILE"
        raise
    log(f"{output} exists and will be replaced; -o FILE names another file")


def _check_no_input(request: Request) -> None:
    """Raise FileError if an output file is also an input file."""
    given = request.values()
    outputs = [given[name] for name in OUTPUTS if isinstance(given.get(name), str) and os.path.isfile(given[name])]
    inputs = [value for name, value in given.items() if name not in OUTPUTS + REPLACED]
    for output in outputs:
        for value in inputs:
            for path in value if isinstance(value, list) else [value]:
                if isinstance(path, str) and os.path.isfile(path) and os.path.samefile(path, output):
                    raise FileError("would be overwritten, but is an input", file=output, remedy="name another output")


def _check_endings(request: Request) -> None:
    """Raise FileError for an output whose ending is of no format that the verb writes."""
    for name, item in type(request).declarations().items():
        endings = item.place.settings.get("endings") if item.place is not None else None
        path = getattr(request, name)
        if endings is not None and isinstance(path, str) and not is_standard_output(path):
            if path.endswith(os.sep):
                raise FileError("is a folder, but a file is written", file=path, remedy="name a file")
            check_ending(path, endings)
            if getattr(request, "part", None) is not None and path.lower().endswith(WHOLE_TABLES):
                raise FileError("cannot be written in parts", file=path, remedy="write .tsv or .csv, or remove --part")


def check_folder(folder: Path) -> None:
    """Raise FileError for a file or its ending, and for the current folder or one of its parents."""
    here, problem = Path.cwd(), ""
    if folder.suffix.lower() in (*TABLES, *PICTURES, ".html") and not folder.is_dir():
        problem = "has the ending of one file"
    elif folder.is_file():
        problem = "is a file"
    elif folder.resolve() in (here, *here.parents):
        problem = "is the current folder or one around it"
    if problem:
        remedy = "name a new folder, such as -o results"
        raise FileError(f"{problem}, but several files are written", file=folder, remedy=remedy)


# The folder of a result: a repeated command replaces its own result, and never that of another command.

MARK = ".seqkern.json"
"""Name of the file in a folder that holds the command that wrote it, and its files."""
FINISHED = ".finished"
"""Name of the subfolder for finished pieces of a command that was stopped."""
NEITHER = ("output", "threads", "overwrite", "top")
"""Arguments that do not affect the result."""


def check_result_folder(request: Overwrite) -> None:
    """Raise an error, before any work, for a folder that cannot be written, or has other files or another result."""
    if request.output is None:
        return
    folder = Path(request.output)
    check_writable(folder / "index.html")
    if request.overwrite or not folder.is_dir():
        return
    # hidden files are ours, such as a killed run's lock, or those of a file manager (.DS_Store)
    if all(path.name.startswith(".") for path in folder.iterdir()):
        return
    if not (folder / MARK).exists():
        raise FileError("holds other files", file=folder, remedy="name a new folder, or add --overwrite")
    command = _read_mark(folder)[0]
    of_verb = isinstance(command, dict) and command.get("verb") == repr(request.verb())
    if command == _command(request) or (of_verb and not request.has("output")):
        return
    raise FileError(
        "holds the result of another command", file=folder, remedy="name a new folder, or add --overwrite to replace it"
    )


@contextlib.contextmanager
def result_folder(request: Overwrite) -> Iterator[None]:
    """Hold the folder exclusively, and mark it with the command that writes it.

    Files of another command are removed first, and files of an earlier run of this command that were not written again
    are removed last: even if a run is killed, all remaining files are of one run. The user's files stay. The mark is
    removed if the command fails before it writes any file.
    """
    folder = Path(request.output).absolute()
    with exclusive_folder(folder):
        check_result_folder(request)
        command, files = _read_mark(folder)
        if command != _command(request):
            if files and not request.overwrite:
                log(f"{request.output}: replacing the result of another command; -o DIR names another folder")
            for name in files:
                (folder / name).unlink(missing_ok=True)
            files = []
        for left in folder.glob(f".*{SUFFIX}"):  # by a run that was killed
            remove_dead(left)
        _write_mark(folder, request, files)
        home, written = folder.resolve(), set[str]()

        def note(path: Path) -> None:
            if path.parent.resolve() == home and not path.name.startswith("."):
                written.add(path.name)
                if path.name not in files:
                    files.append(path.name)
                    _write_mark(folder, request, files)

        try:
            with noting_files(note):
                yield
        except BaseException:
            if not any(not path.name.startswith(".") for path in folder.iterdir()):
                (folder / MARK).unlink()
            raise
        for name in set(files) - written:
            (folder / name).unlink(missing_ok=True)
        _write_mark(folder, request, sorted(written))
        remove_tree(folder / FINISHED)


def _read_mark(folder: Path) -> tuple[Any, list[str]]:
    """Return the command that wrote a folder, and the names of its files that still exist."""
    with contextlib.suppress(OSError, ValueError, RecursionError, KeyError, TypeError):
        mark = json.loads((folder / MARK).read_text(encoding="utf-8"))
        here = {path.name for path in folder.iterdir() if path.is_file()}  # a name in a file is never a path
        return mark["command"], [name for name in mark["files"] if name in here and not name.startswith(".")]
    return None, []


def _write_mark(folder: Path, request: Request, files: list[str]) -> None:
    """Write the mark: the command and its files."""
    with atomic_write(folder / MARK, "w") as file:
        file.write(canonical_json({"command": _command(request), "files": files}) + "\n")


def _command(request: Request) -> dict[str, str]:
    """Return the verb and the options that determine the result, as text."""
    return {name: repr(value) for name, value in sorted(request.values().items()) if name not in NEITHER}


# The identity of a verb's output as text, by which a repeated command finds and continues unfinished work.

RESUMING_NEITHER = ("verb", "output", "threads")
"""Arguments that do not affect the output."""
OTHER_FILES = ("track", "view", "profiles", "search_profiles", "sites", "states")
"""Options that name files in their own syntax; with one of them a prediction cannot be resumed."""


def identity_of_prediction(request: PredictRequest | SpliceScoresRequest) -> Callable[[], str] | None:
    """Return a function that identifies a prediction by its options and file contents; None if it cannot be resumed.

    >>> from seqkern.cli.requests_models import PredictRequest
    >>> identity_of_prediction(PredictRequest(model="donors.seqkern", fasta="-")) is None
    True
    """
    from seqkern.methods.loading import split_model_arg  # imported here: most verbs take no model

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
def prediction_writer(request: PredictRequest | SpliceScoresRequest) -> Iterator[PartFile]:
    """Open the output of a prediction; a killed run is resumed, except for compressed files and parts.

    The caller skips the first `complete` blocks of the PartFile, and ends each other block.
    """
    converted = (".gz", ".bgz", ".csv", *WHOLE_TABLES)
    if request.output is None or request.part is not None or request.output.lower().endswith(converted):
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
            log(f"{request.output}: part {request.part} has been made before")
            yield request, None
            return
        notes: dict[str, Any] = {}
        yield request.but(output=str(folder.begin(request.part) / folder.output.name)), notes
        folder.finish(request.part, notes)


def part_folder(request: Parts, models: Sequence[str], data: Sequence[str]) -> PartFolder:
    """Return the folder of the parts of the verb's output."""
    from seqkern.methods.loading import split_model_arg  # imported here: most verbs take no model

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
            log(f"{request.output}: the parts have been joined before")
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
    sums = Counter[str]()
    for one in counts:
        sums.update(one)
    return sums
