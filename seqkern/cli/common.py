"""Arguments that several verbs share, and functions that read them."""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from seqkern.cli.several_sequences import add_views
from seqkern.core.checks import whole_number
from seqkern.core.errors import (
    ConfigError,
    FoldError,
    LabelError,
    ModelError,
    ParameterError,
    SequenceError,
    unknown_name,
)

if TYPE_CHECKING:
    from seqkern.core.types import PathLike
    from seqkern.formats.profile_sources import ProfileSource
    from seqkern.kernels.kernel import Kernel
    from seqkern.methods.model import Model
    from seqkern.sequences.sequence_set import SequenceSet
    from seqkern.sequences.tables import FeatureTable
    from seqkern.solvers.psvm.path import SignificanceTest
    from seqkern.study.dataset import Dataset
    from seqkern.study.study import Study


# Arguments for the source of profiles.


def add_profiles(group: argparse._ActionsContainer) -> None:
    """Add the sources of profiles."""
    group.add_argument(
        "--profiles",
        metavar="PATH",
        help="profiles, for kernels that need them: a file, folder or tar archive of ASCII PSSMs from PSI-BLAST, or of "
        "HMMER models; matched by id or by sequence",
    )
    group.add_argument(
        "--search-profiles",
        metavar="FASTA",
        help="build profiles by an iterated search of each sequence against this file; they are cached",
    )
    group.add_argument(
        "--profile-iterations", type=int, metavar="N", help="maximum number of search iterations (default: 3)"
    )


def profiles_of(args: argparse.Namespace) -> dict[str, Any] | None:
    """Return the data-set entry ``profiles`` given by the arguments."""
    if args.profiles and args.search_profiles:
        raise ParameterError("two sources of profiles given", remedy="remove --profiles or --search-profiles")
    if args.profile_iterations is not None and not args.search_profiles:
        raise ParameterError("--profile-iterations needs a search", remedy="add --search-profiles FASTA")
    # imported here to keep --help fast
    from seqkern.formats.profile_sources import ALL

    if args.profiles:
        return {"files": args.profiles}
    if args.search_profiles == ALL:
        raise ParameterError(
            "--search-profiles takes a FASTA file",
            remedy="write ./all for a file of that name; to search the training sequences, give the kernel "
            "search=training",
        )
    if args.search_profiles:
        iterations = {} if args.profile_iterations is None else {"iterations": args.profile_iterations}
        return {"search": args.search_profiles, **iterations}
    return None


def check_wanted(entry: Mapping[str, Any] | None, kernel: Kernel, made: Mapping[str, Any] | None = None) -> None:
    """Raise an error for profiles that a kernel does not read, or for missing ones."""
    # imported here to keep --help fast
    from seqkern.formats.profiles import TRACKS

    wanted = [track for track in kernel.tracks if track in TRACKS]
    if entry and not wanted:
        raise ParameterError(
            f"the kernel {kernel.name!r} reads no profiles", remedy="remove --profiles and --search-profiles"
        )
    if wanted and not entry:
        remedy = "add --profiles PATH (from PSI-BLAST or HMMER) or --search-profiles FASTA"
        if made is not None and "search" in made:
            more = f" --profile-iterations {made['iterations']}" if "iterations" in made else ""
            remedy = f"make them as in training: add --search-profiles {made['search']}{more}"
        elif made is not None:
            remedy = f"make them as in training ({made['files']}) and add --profiles PATH"
        raise ParameterError(f"the kernel {kernel.name!r} needs profiles of the sequences", remedy=remedy)


def add_sequence_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the alphabet and the policies for reading FASTA."""
    group = parser.add_argument_group("reading FASTA")
    group.add_argument("--alphabet", help="dna, rna, protein or your own set of letters (default: detected)")
    add_policies(group)


def add_policies(
    group: argparse._ActionsContainer, ids: Sequence[str] = ("header", "number", "suffix"), default: str | None = None
) -> None:
    """Add the policies for reading FASTA."""
    policies = {
        "unknown": (
            ("mask", "error", "skip", "mask_all"),
            "letters outside the alphabet: mask ambiguity codes such as N, R and X (they match nothing; other "
            "characters are an error), refuse them, skip the record, or mask every character",
        ),
        "ids": (
            ids,
            "sample id: first word of the header, or record number"
            + "; suffix adds .2, .3, … to repeated ids" * ("suffix" in ids),
        ),
        "empty": (("error", "skip"), "records without a sequence"),
    }
    for name, (choices, meaning) in policies.items():
        first = None if default else choices[0]
        text = f"{meaning} (default: {default or first})"
        group.add_argument(f"--{name}", choices=choices, default=first, help=text)
    group.add_argument(
        "--strip-gaps", action="store_true", help="remove the gaps of aligned sequences: -, . and ~ (default: refuse)"
    )


FASTA_POLICIES = {"unknown": "mask", "ids": "header", "empty": "error", "strip_gaps": False}
"""Options of `add_policies` with their defaults."""
OF_TABLE = "is for FASTA, not for a feature table"


def refuse_unused(args: argparse.Namespace, why: str, defaults: Mapping[str, object]) -> None:
    """Raise ParameterError for an option that would have no effect."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError

    for name, default in defaults.items():
        if getattr(args, name, None) not in (None, default):
            option = f"--{name.replace('_', '-')}"
            raise ParameterError(f"{option} {why}", remedy=f"remove {option}")


def policies_of(args: argparse.Namespace) -> dict[str, str]:
    """Return the policies for reading FASTA, given or default.

    >>> policies_of(argparse.Namespace(unknown="skip", ids="header", empty="error", threads=2))
    {'unknown': 'skip', 'ids': 'header', 'empty': 'error'}
    """
    gaps = {"gaps": "strip"} if getattr(args, "strip_gaps", False) else {}
    return {name: getattr(args, name) for name in ("unknown", "ids", "empty")} | gaps


def add_windows(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that cut windows around sites."""
    group = parser.add_argument_group(
        "windows around sites",
        "-60:+80 is 60 positions before the site's, that position and 80 after it: 141 in all. Positions\n"
        "count from 1 along the record, on both strands. A site on strand - is read on the reverse complement;\n"
        "its position is that of the first base of the site on that strand.",
    )
    group.add_argument("--window", metavar="-L:+R", help="cut windows from L positions before to R after each site")
    group.add_argument(
        "--sites",
        metavar="WHERE",
        help="TSV with the columns record, position and strand (+ or -, default: +); or header: one site for each "
        "record, from the header fields position=… and strand=…",
    )
    group.add_argument(
        "--site", metavar="LETTERS", help="letters required at each site, from its position on, such as AG"
    )
    for name, meaning in {
        "other_sites": "sites without these letters",
        "past_end": "windows that extend past the end of a record",
    }.items():
        group.add_argument(
            f"--{name.replace('_', '-')}",
            choices=("error", "skip"),
            help=f"{meaning}: error, or skip and count them (default: error)",
        )


def windows_of(args: argparse.Namespace) -> dict[str, str]:
    """Return the keys of a data-set entry that cut windows."""
    values = {name: getattr(args, name) for name in ("window", "sites", "site", "other_sites", "past_end")}
    return {name: value for name, value in values.items() if value is not None}


def log_counts(counts: Mapping[str, int], source: PathLike) -> None:
    """Print the effects of the reading policies on standard error."""
    # imported here to keep --help fast
    from seqkern.sequences.alphabets import masked_text

    masked = masked_text(counts)
    touched = [f"{count} {what}" for what, count in counts.items() if count and not what.startswith("masked ")]
    if touched:
        print(f"seqkern: {source}: {', '.join(touched)}", file=sys.stderr)
    if masked:
        print(f"seqkern: {source}: {masked}; --unknown error refuses them", file=sys.stderr)


def unrecognised(model: Model) -> Iterator[str]:
    """Yield a warning for each class that the model does not recognise in any training sequence."""
    search = "--search " if model.record.get("search") is None else ""
    for name, count in model.record.get("recognised", {}).items():
        if not count:
            yield (
                f"no training sequence of class {name} is recognised; rank by the decision values instead of using the "
                f"predicted classes, or train with csvc:class_weight=balanced or {search}--metric "
                "balanced_accuracy"
            )


def add_tracks(group: argparse._ActionsContainer, drawn: str | None = None) -> None:
    """Add the files of tracks and views, and the sources of profiles."""
    optional: dict[str, Any] = {} if drawn is None else {"nargs": "?"}
    add_profiles(group)
    add_views(group)
    group.add_argument(
        "--track",
        action="append",
        default=[],
        type=_track,
        metavar="NAME=FILE",
        help="annotation of each residue, for a kernel with the track NAME: FASTA with annotation letters, or a TSV "
        "with the "
        f"columns id and NAME, matched by id; repeatable{'' if drawn is None else f'. Without NAME=FILE: {drawn}'}",
        **optional,
    )


def _track(text: str) -> tuple[str, str]:
    """Return name and file of ``name=file``."""
    name, _, file = text.partition("=")
    if not name or not file:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=FILE; write for example annotation=heptads.fasta")
    return name, file


def read_tracks(
    args: argparse.Namespace, kernel: Kernel, made: Mapping[str, Any] | None = None
) -> Callable[[SequenceSet], SequenceSet]:
    """Return a function that adds to a SequenceSet the tracks that a kernel reads."""
    # imported here to keep --help fast
    from seqkern.formats.profiles import TRACKS
    from seqkern.sequences.tracks import Track

    profiles = profiles_of(args)
    check_wanted(profiles, kernel, made)
    known = [name for name in kernel.tracks if name not in TRACKS]
    names = [name for name, _ in args.track]
    for i, name in enumerate(names):
        if name in TRACKS:
            raise ParameterError(f"the track {name!r} holds profiles, not letters", remedy="use --profiles PATH")
        if name not in known:
            if known:
                raise unknown_name(f"track of {kernel.name}", name, known)
            raise ParameterError(f"the kernel {kernel.name!r} reads no track", remedy=f"remove --track {name}=…")
        if name in names[:i]:
            raise ParameterError(f"the track {name!r} is given twice", remedy="remove one of them")
    for name in known:
        if name not in names:
            raise ParameterError(
                f"the kernel {kernel.name!r} needs the track {name!r}", remedy=f"add --track {name}=FILE"
            )
    tracks = [Track(name, file) for name, file in args.track]
    source = _profile_source(profiles, made)

    def _add(X: SequenceSet) -> SequenceSet:
        for track in tracks:
            X = track.add_to(X)
        return X if source is None or set(TRACKS) <= set(X.tracks) else source.add_to(X, n_threads=args.threads)

    return _add


def _profile_source(entry: Mapping[str, Any] | None, made: Mapping[str, Any] | None) -> ProfileSource | None:
    """Return the ProfileSource of an entry, or None; warn if a model's profiles were made differently."""
    if entry is None:
        return None
    # imported here to keep --help fast
    from seqkern.formats.profile_sources import ProfileSource, describe, differs

    source = ProfileSource(entry)
    if made is not None and differs(source.note(), made):
        own, other = describe(source.note()), describe(made)
        how = f"those were {other}" if own != other else "the file has changed since training"
        print(
            "seqkern: warning: these profiles differ from those used in training: "
            f"these are {own}, {how}; make them as in training, or train again with these",
            file=sys.stderr,
        )
    return source


def share_of(text: str) -> tuple[int, int]:
    """Return i and n of ``i/n``, for argparse; 1 ≤ i ≤ n.

    >>> share_of("3/8")
    (3, 8)
    """
    match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not I/N; write for example 3/8")
    return int(match[1]), int(match[2])


def add_threads(group: argparse._ActionsContainer) -> None:
    """Add the number of threads."""
    group.add_argument("--threads", type=positive_integer, metavar="N", help="number of threads (default: all cores)")


def add_inner_loop(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the inner loop that chooses hyperparameters."""
    parser.add_argument("--inner-folds", type=int, default=3, help="folds of the inner cross-validation (default: 3)")
    parser.add_argument("--inner-metric", default="auto", help="metric that the inner loop maximises (default: auto)")
    parser.add_argument(
        "--inner-draws",
        type=int,
        metavar="N",
        help="draw N random candidates instead of trying all; parameters may then be ranges, such as C=0.01..100",
    )
    parser.add_argument(
        "--inner-rule",
        choices=("best", "one_standard_error"),
        default="best",
        help="choose the best candidate, or the simplest within one standard error of it (default: best)",
    )


INNER_DEFAULTS = {
    "inner_folds": 3,
    "inner_metric": "auto",
    "inner_draws": None,
    "inner_rule": "best",
    "seed": 1,
    "memory": None,
}
"""Options of `add_inner_loop` and of the resources that a study gives too, with their defaults."""


def method_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the kernel, the solver and the inner loop of the arguments, for `MethodEntry.parse`."""
    draws = args.inner_draws
    inner = {"folds": args.inner_folds, "metric": args.inner_metric, "rule": args.inner_rule}
    inner |= {} if draws is None else {"search": "random", "draws": draws}
    others = {"clusters": "inner_clusters", "calibration": "calibration", "threshold": "threshold"}
    inner |= {key: getattr(args, option, None) for key, option in others.items()}
    return {"kernel": args.kernel, "solver": args.solver, "inner": inner, "seed": args.seed}


LONGEST_PATH = 1024


class _StudyOption(argparse.Action):
    """The option ``--study``: options that the study gives, of `given` with their defaults, are required no more."""

    def __init__(self, *args: Any, given: Mapping[str, object], **options: Any) -> None:
        super().__init__(*args, **options)
        self.given = given

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, *values: Any) -> None:
        """Store the file, and the options that it stands for."""
        namespace.study, namespace.of_study = values[0], self.given
        for action in parser._actions:
            action.required = action.required and action.dest not in self.given


def add_study(
    parser: argparse.ArgumentParser, given: Mapping[str, object], names: str = "", required: bool = False
) -> None:
    """Add the study that gives some options, of `given` with their defaults; `names` says what other options name."""
    parser.add_argument(
        "--study",
        action=_StudyOption,
        given=given,
        required=required,
        metavar="FILE",
        help="take all settings from a study: its configuration, or the file that the workflow writes for its jobs"
        + names,
    )


def read_study(args: argparse.Namespace) -> Study:
    """Return the study of ``--study``; raise ParameterError for an option that it gives."""
    # imported here to keep --help fast
    import os

    refuse_unused(args, "is set by --study", args.of_study)
    study = parse_study(args.study)
    if study.data_dir:
        os.environ.setdefault("SEQKERN_DATA", study.data_dir)  # where kernels look for public files
    return study


def parse_study(given: str) -> Study:
    """Return the study of a file, or of a configuration as JSON."""
    # imported here to keep --help fast
    import json

    # imported here to keep --help fast
    from seqkern.study.study import Study

    if not given.lstrip().startswith("{"):
        if len(given) > LONGEST_PATH or "\n" in given:
            raise ConfigError(
                f"--study is neither JSON nor the path of a file: {given[:40]!r}…",
                remedy="quote the argument in the shell, or name a YAML file",
            )
        return Study.load(given)
    try:
        config = json.loads(given)
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"--study is not JSON: {error}", remedy="quote the argument in the shell, or name a YAML file"
        ) from error
    return Study.parse(config)


def dataset_name(folder: PathLike) -> str:
    """Return the name that a data set has in its study: the name of its folder.

    >>> dataset_name("results/demo/datasets/donors/")
    'donors'
    """
    return Path(folder).resolve().name


def add_postprocessing(group: argparse._ActionsContainer) -> None:
    """Add the options fitted to held-out decision values: probabilities and the threshold."""
    group.add_argument(
        "--calibration",
        choices=("platt", "isotonic"),
        help="fit probabilities to cross-validated decision values of the training set",
    )
    group.add_argument(
        "--threshold",
        metavar="RULE",
        help="choose the decision threshold on cross-validated decision values of the training set: balanced_accuracy, "
        "accuracy, mcc, sensitivity=0.95, specificity=0.99, or cost=1:5 (of a false positive and of a false negative); "
        "none: 0 (default: balanced_accuracy after a search, or if one class has less than 40 %% of the samples; else "
        "0; with --calibration a probability of 0.5)",
    )


def add_significance(group: argparse._ActionsContainer) -> None:
    """Add the test of the features that a P-SVM selects."""
    group.add_argument(
        "--significance",
        type=_significance,
        metavar="STATISTIC",
        help="test the features that psvc:kernel=features or psvr:kernel=features selects, by permuting the labels: "
        "correlation (of the feature alone), or coefficient (of the feature among all others; only without a search "
        "for the solver's parameters); correlation:permutations=1999 (default: 999). The table of features gets the "
        "columns p and p_corrected",
    )


def _significance(text: str) -> SignificanceTest:
    """Return the test of features that an option names."""
    # imported here to keep --help fast
    from seqkern.solvers.psvm.path import SignificanceTest

    try:
        return SignificanceTest.parse(text)
    except ParameterError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def add_layers(group: argparse._ActionsContainer) -> None:
    """Add the layers after the solver, for residues as samples."""
    group.add_argument(
        "--layers",
        nargs="+",
        default=[],
        metavar="LAYER",
        help="layers after the solver, separated by spaces, for residues of chains: structure:window=15 (a second "
        "classifier on the scores around each residue), segments (minimum segment lengths as in training), crf "
        "or chain_svm (the labels of a chain together), probabilities; or a JSON list",
    )


def positive_integer(text: str) -> int:
    """Return a positive integer, for argparse."""
    number = whole_number(text)
    if not number:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive integer")
    return number


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


# Feature tables on the command line, for `seqkern train` and `seqkern predict`.


def table_dataset(args: argparse.Namespace, more: Mapping[str, str], *, missing: bool = False) -> Dataset:
    """Return the Dataset of a feature table and its labels, for ``seqkern train``.

    Labels are in a column of the table or in a separate table.
    """
    # imported here to keep --help fast
    from seqkern.study.dataset import make_dataset

    refuse_unused(args, OF_TABLE, {**FASTA_POLICIES, "alphabet": None})
    options = {"label": args.label_field, **more}
    if args.labels in ("header", "first-word"):
        raise LabelError(
            f"a feature table has no {args.labels} to take labels from",
            file=args.fasta[0],
            remedy="remove --labels to use a column of the table (--label-field), or give a table of labels",
        )
    check_label_column(args.labels or args.fasta[0], args.label_field, exact=not args.labels)
    if args.labels:
        options |= {"from": "tsv", "file": args.labels}
    if args.positive:
        options["positive"] = args.positive
    policy = "keep" if missing else "error"
    return make_dataset("train", {"features": args.fasta[0], "labels": options, "missing": policy})


def check_label_column(path: str, column: str, *, exact: bool = False) -> None:
    """Raise LabelError if the label file is FASTA or a table without the label column.

    In a feature table the name must match exactly (`exact`), because another column may be a feature.
    """
    # imported here to keep --help fast
    from seqkern.core.text_files import open_lines
    from seqkern.core.tsv import is_excel, read_cells
    from seqkern.study.tables import label_column

    if path == "-":
        return
    first = ""
    if not is_excel(path):
        with open_lines(path) as (lines, _):
            first = next(lines)
    name = path
    if first.startswith(">"):
        raise LabelError(
            "is FASTA, not a table",
            file=name,
            remedy="give a table with the columns id and label; for FASTA use --labels header to read labels from "
            "headers",
        )
    columns = read_cells(path)[0]
    if len(columns) == 1 and len(columns[0].replace("|", " ").split()) > 1:
        raise LabelError(
            f"has one column, {columns[0][:40]!r}",
            file=name,
            remedy="separate the cells by tabs, commas or semicolons, not by spaces or |",
        )
    if (column if exact else label_column(columns, column)) not in columns:
        some = ", ".join(columns[:8]) + (", …" if len(columns) > 8 else "")
        raise LabelError(
            f"has no label column {column!r}",
            file=name,
            remedy=f"name it with --label-field, or give another table with --labels; columns: {some} (from the first "
            "line, which must name the columns)",
        )


def read_table(path: PathLike, names: Sequence[str], *, missing: bool = False) -> FeatureTable:
    """Return a table of new samples with the features that a model was trained on, in the model's order."""
    # imported here to keep --help fast
    import numpy as np

    # imported here to keep --help fast
    from seqkern.core.text_files import source_name
    from seqkern.core.tsv import read_cells
    from seqkern.sequences.tables import FeatureTable
    from seqkern.study.tables import id_column_of, read_features

    header = read_cells(path)[0]
    of_ids = id_column_of(header)
    if header[0].startswith(">"):
        raise ModelError(
            "is FASTA, but the model was trained on a feature table",
            file=source_name(path),
            remedy="give a table with the same columns as in training, or a model of sequences",
        )
    known, given = set(names), set(header) - {of_ids}
    lacking = next((name for name in names if name not in given), None)
    if lacking is not None:
        raise ModelError(
            f"lacks column {lacking!r}, a feature of the model",
            file=source_name(path),
            remedy="give a table with the same columns as in training",
        )
    policy: Literal["error", "keep"] = "keep" if missing else "error"
    X, _ = read_features(path, [name for name in header if name not in known and name != of_ids], missing=policy)
    places = {name: j for j, name in enumerate(X.columns)}
    order = np.array([places[name] for name in names], dtype=np.int64)
    return FeatureTable(X.values[:, order], X.ids, names, X.counts, policy)
