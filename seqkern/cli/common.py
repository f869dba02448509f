"""Arguments that several verbs share, and the reading of what they name."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from seqkern.cli.profiles import add_profiles, check_wanted, profiles_of
from seqkern.core.errors import FoldError, LabelError, ParameterError, SequenceError, unknown_name

if TYPE_CHECKING:
    from seqkern.core.types import PathLike
    from seqkern.kernels.kernel import Kernel
    from seqkern.models.model import Model
    from seqkern.profiles.sources import ProfileSource
    from seqkern.sequences.sequence_set import SequenceSet


def add_sequence_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the alphabet and the policies of reading FASTA.

    Parameters
    ----------
    parser : ArgumentParser
        That of a verb.
    """
    group = parser.add_argument_group("reading FASTA")
    group.add_argument("--alphabet", help="dna, rna, protein or the letters of your own (default: detected)")
    add_policies(group)


def add_policies(
    group: argparse._ActionsContainer, ids: Sequence[str] = ("header", "number", "suffix"), default: str | None = None
) -> None:
    """Add the policies of reading FASTA.

    Parameters
    ----------
    group : ArgumentParser or group of arguments
        Where they are added.
    ids : sequence of str
        The policies of ids that the verb offers, the usual one first.
    default : str, optional
        For the help, where policies that are not given come from; their value is then None.
    """
    policies = {
        "unknown": (("error", "skip", "mask"), "letters outside the alphabet: skip leaves the record out"),
        "ids": (
            ids,
            "first word of the header, or the number of the record" + "; suffix marks repeats" * ("suffix" in ids),
        ),
        "empty": (("error", "skip"), "records without a sequence: skip leaves them out"),
    }
    for name, (choices, meaning) in policies.items():
        first = None if default else choices[0]
        text = f"{meaning} (default: {default or first})"
        group.add_argument(f"--{name}", choices=choices, default=first, help=text)


def policies_of(args: argparse.Namespace) -> dict[str, str]:
    """Return the policies of reading that were given, or are usual.

    Parameters
    ----------
    args : Namespace
        With what `add_policies` adds.

    Returns
    -------
    dict of str to str
        ``unknown``, ``ids`` and ``empty``.

    Examples
    --------
    >>> policies_of(argparse.Namespace(unknown="skip", ids="header", empty="error", threads=2))
    {'unknown': 'skip', 'ids': 'header', 'empty': 'error'}
    """
    return {name: getattr(args, name) for name in ("unknown", "ids", "empty")}


def add_windows(parser: argparse.ArgumentParser) -> None:
    """Add what cuts windows around sites.

    Parameters
    ----------
    parser : ArgumentParser
        That of a verb.
    """
    group = parser.add_argument_group(
        "windows around sites",
        "-60:+80 is 60 letters before the letter at the site's position, that letter, and 80 after it:\n"
        "141. Positions count from 1 along the record, on both strands; a site on strand - is read along\n"
        "the reverse complement, and its position is that of its own first letter.",
    )
    group.add_argument("--window", metavar="-L:+R", help="cut windows of L letters before and R after each site")
    group.add_argument(
        "--sites",
        metavar="WHERE",
        help="a TSV with the columns record, position and strand (+ or -, default: +); or header (one site in each "
        "record, from its fields position=… and strand=…)",
    )
    group.add_argument("--site", metavar="LETTERS", help="letters that a site must have, from its position on, as AG")
    for name, meaning in {
        "other_sites": "sites with other letters",
        "past_end": "windows that run past an end of their record",
    }.items():
        group.add_argument(
            f"--{name.replace('_', '-')}",
            choices=("error", "skip"),
            help=f"{meaning}: skip leaves them out and counts them (default: error)",
        )


def windows_of(args: argparse.Namespace) -> dict[str, str]:
    """Return the keys of a data-set entry that cut windows.

    Parameters
    ----------
    args : Namespace
        With what `add_windows` adds.

    Returns
    -------
    dict of str to str
        Those that were given.
    """
    values = {name: getattr(args, name) for name in ("window", "sites", "site", "other_sites", "past_end")}
    return {name: value for name, value in values.items() if value is not None}


def tell_counts(counts: Mapping[str, int], source: PathLike) -> None:
    """Say on standard error what the policies of reading touched.

    Parameters
    ----------
    counts : mapping of str to int
        How often each thing was done, such as ``records left out``.
    source : path-like
        What was read.
    """
    touched = [f"{count} {what}" for what, count in counts.items() if count]
    if touched:
        print(f"seqkern: {source}: {', '.join(touched)}", file=sys.stderr)


def unrecognised(model: Model) -> Iterator[str]:
    """Tell of the classes of which a model recognises no training sequence.

    Parameters
    ----------
    model : Model
        Of sequences, windows or features.

    Yields
    ------
    str
        A sentence for each such class.
    """
    search = "--search " if model.record.get("search") is None else ""
    for name, count in model.record.get("recognised", {}).items():
        if not count:
            yield (
                f"not one training sequence of class {name} is recognised as such; use the order of the decision "
                f"values, not the predicted classes; or train with csvc:class_weight=balanced, or {search}--metric "
                "balanced_accuracy"
            )


def add_tracks(group: argparse._ActionsContainer, drawn: str | None = None) -> None:
    """Add the files of tracks, and the sources of profiles.

    Parameters
    ----------
    group : ArgumentParser or group of arguments
        Where they are added.
    drawn : str, optional
        What ``--track`` without a file means, for the help; its value is then None.
    """
    optional: dict[str, Any] = {} if drawn is None else {"nargs": "?"}
    add_profiles(group)
    group.add_argument(
        "--track",
        action="append",
        default=[],
        type=_track,
        metavar="NAME=FILE",
        help="annotation letters for a kernel that needs the track NAME, by id: a file like FASTA, or a table with the "
        f"columns id and NAME; repeatable{'' if drawn is None else f'. Without NAME=FILE: {drawn}'}",
        **optional,
    )


def _track(text: str) -> tuple[str, str]:
    """Return name and file of ``name=file``."""
    name, _, file = text.partition("=")
    if not name or not file:
        raise argparse.ArgumentTypeError(f"{text!r} is no track; write it like annotation=heptads.fasta")
    return name, file


def read_tracks(
    args: argparse.Namespace, kernel: Kernel, made: Mapping[str, Any] | None = None
) -> Callable[[SequenceSet], SequenceSet]:
    """Return a function that gives a SequenceSet the tracks that a kernel needs.

    Parameters
    ----------
    args : Namespace
        With what `add_tracks` and `add_threads` add.
    kernel : Kernel
        Whose tracks are wanted.
    made : mapping, optional
        How the profiles of a model's training sequences were made.

    Returns
    -------
    callable
        Takes a SequenceSet, and returns one with the tracks.

    Raises
    ------
    ParameterError
        If a track is missing, unknown or given twice.
    """
    # loaded when a verb runs: its help needs none of it
    from seqkern.profiles.profile import TRACKS
    from seqkern.sequences.tracks import Track

    profiles = profiles_of(args)
    check_wanted(profiles, kernel, made)
    known = [name for name in kernel.tracks if name not in TRACKS]
    names = [name for name, _ in args.track]
    for i, name in enumerate(names):
        if name in TRACKS:
            raise ParameterError(f"the track {name!r} is no letters", remedy="give profiles: --profiles PATH")
        if name not in known:
            if known:
                raise unknown_name(f"track of {kernel.name}", name, known)
            raise ParameterError(f"the kernel {kernel.name!r} reads no track", remedy=f"leave out --track {name}=…")
        if name in names[:i]:
            raise ParameterError(f"the track {name!r} is given twice", remedy="leave one out")
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
    """Return the ProfileSource of an entry, or None; say if a model's profiles were made otherwise."""
    if entry is None:
        return None
    # loaded when a verb runs: its help needs none of it
    from seqkern.profiles.sources import ProfileSource, describe, differs

    source = ProfileSource(entry)
    if made is not None and differs(source.note(), made):
        own, other = describe(source.note()), describe(made)
        how = f"those were {other}" if own != other else "since then the content of the file has changed"
        print(
            "seqkern: warning: these profiles are made otherwise than those of the training; "
            f"these are {own}, {how}; make them in the same way, or train again with such as these",
            file=sys.stderr,
        )
    return source


def add_threads(group: argparse._ActionsContainer) -> None:
    """Add the number of threads.

    Parameters
    ----------
    group : ArgumentParser or group of arguments
        Where they are added.
    """
    group.add_argument("--threads", type=_positive, metavar="N", help="threads (default: all cores)")


def add_inner_loop(parser: argparse.ArgumentParser) -> None:
    """Add how the inner loop chooses hyperparameters.

    Parameters
    ----------
    parser : ArgumentParser
        That of a verb.
    """
    parser.add_argument("--inner-folds", type=int, default=3, help="folds of the inner loop (default 3)")
    parser.add_argument("--inner-metric", default="auto", help="what the inner loop maximises (default auto)")
    parser.add_argument(
        "--inner-draws",
        type=int,
        metavar="N",
        help="draw N candidates at random, instead of trying all; parameters may then be ranges, such as C=0.01..100",
    )
    parser.add_argument(
        "--inner-rule",
        choices=("best", "one_standard_error"),
        default="best",
        help="choose the best candidate, or the simplest within one standard error of it (default best)",
    )


def add_afterwards(group: argparse._ActionsContainer) -> None:
    """Add what is fitted to decisions about held-out samples: probabilities, and the threshold.

    Parameters
    ----------
    group : ArgumentParser or group of arguments
        Where they are added.
    """
    group.add_argument(
        "--calibration",
        choices=("platt", "isotonic"),
        help="fit probabilities, to decisions about folds of the training part that were not trained on",
    )
    group.add_argument(
        "--threshold",
        metavar="RULE",
        help="predict the positive class above a decision chosen on such folds: sensitivity=0.95, specificity=0.99, or "
        "cost=1:5 (of a false positive and of a false negative); by default above 0",
    )


def add_layers(group: argparse._ActionsContainer) -> None:
    """Add the layers that follow the solver, where samples are residues.

    Parameters
    ----------
    group : ArgumentParser or group of arguments
        Where they are added.
    """
    group.add_argument(
        "--layers",
        nargs="+",
        default=[],
        metavar="LAYER",
        help="layers after the solver, separated by spaces, for residues of chains: structure:window=15 (a second "
        "machine on the scores around each residue), segments (no segment shorter than true ones), probabilities; or a "
        "JSON list",
    )


def _positive(text: str) -> int:
    """Return a whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not possible; give a whole number, 1 or more")
    return int(text)


@contextlib.contextmanager
def naming_file(file: PathLike) -> Iterator[None]:
    """Name a file in errors about sequences, labels or folds that name none.

    Parameters
    ----------
    file : path-like
        What is being read.

    Examples
    --------
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
