"""Arguments that several verbs share, and the reading of what they name."""

import argparse
import contextlib
import sys

from seqkern.cli.profiles import add_profiles, check_wanted, profiles_of
from seqkern.core.errors import FoldError, LabelError, ParameterError, SequenceError, unknown_name


def add_sequence_arguments(parser):
    """Add the alphabet and the policies of reading FASTA."""
    group = parser.add_argument_group("reading FASTA")
    group.add_argument("--alphabet", help="dna, rna, protein or the letters of your own (default: found out)")
    add_policies(group)


def add_policies(group, ids=("header", "number", "suffix"), default=None):
    """Add the policies of reading FASTA; with `default`, which says whence they come, None if not given."""
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


def policies_of(args):
    """Return the policies of reading as a dict."""
    return {name: getattr(args, name) for name in ("unknown", "ids", "empty")}


def add_windows(parser):
    """Add what cuts windows around sites."""
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


def windows_of(args):
    """Return the keys of a data-set entry that cut windows, those that were given."""
    values = {name: getattr(args, name) for name in ("window", "sites", "site", "other_sites", "past_end")}
    return {name: value for name, value in values.items() if value is not None}


def tell_counts(counts, source):
    """Say on standard error what the policies of reading touched."""
    touched = [f"{count} {what}" for what, count in counts.items() if count]
    if touched:
        print(f"seqkern: {source}: {', '.join(touched)}", file=sys.stderr)


def unrecognised(model):
    """Yield a sentence for each class of which a model recognised no training sequence."""
    search = "--search " if model.record.get("search") is None else ""
    for name, count in model.record.get("recognised", {}).items():
        if not count:
            yield (
                f"not one training sequence of class {name} is recognised as such; use the order of the decision "
                f"values, not the predicted classes; or train with csvc:class_weight=balanced, or {search}--metric "
                "balanced_accuracy"
            )


def add_tracks(group, drawn=None):
    """Add the files of tracks, and the sources of profiles.

    Parameters
    ----------
    group : ArgumentParser
    drawn : str, optional
        What ``--track`` without a file means, for the help; its value is then None.
    """
    add_profiles(group)
    group.add_argument(
        "--track",
        action="append",
        default=[],
        type=_track,
        metavar="NAME=FILE",
        help="annotation letters for a kernel that needs the track NAME, by id: a file like FASTA, or a table with the "
        f"columns id and NAME; repeatable{'' if drawn is None else f'. Without NAME=FILE: {drawn}'}",
        **({} if drawn is None else {"nargs": "?"}),
    )


def _track(text):
    """Return (name, file) of ``name=file``."""
    name, _, file = text.partition("=")
    if not name or not file:
        raise argparse.ArgumentTypeError(f"{text!r} is no track; write it like annotation=heptads.fasta")
    return name, file


def read_tracks(args, kernel, made=None):
    """Return a function that gives a SequenceSet the tracks that a kernel needs.

    Parameters
    ----------
    args : Namespace
        With what `add_tracks` and `add_threads` add.
    kernel : Kernel
    made : dict, optional
        How the profiles of a model's training sequences were made.

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

    def add(X):
        for track in tracks:
            X = track.add_to(X)
        return X if source is None or set(TRACKS) <= set(X.tracks) else source.add_to(X, n_threads=args.threads)

    return add


def _profile_source(entry, made):
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


def add_threads(group):
    """Add the number of threads."""
    group.add_argument("--threads", type=_positive, metavar="N", help="threads (default: all cores)")


def add_inner_loop(parser):
    """Add how the inner loop chooses hyperparameters."""
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


def add_afterwards(group):
    """Add what is fitted to decisions about held-out units: probabilities, and the threshold."""
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


def add_layers(group):
    """Add the layers that follow the solver, where units are residues."""
    group.add_argument(
        "--layers",
        nargs="+",
        default=[],
        metavar="LAYER",
        help="layers after the solver, separated by spaces, for residues of chains: structure:window=15 (a second "
        "machine on the scores around each residue), segments (no segment shorter than true ones), probabilities; or a "
        "JSON list",
    )


def _positive(text):
    """Return a whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not possible; give a whole number, 1 or more")
    return int(text)


@contextlib.contextmanager
def naming_file(file):
    """Name `file` in errors about sequences, labels or folds that name none."""
    try:
        yield
    except (SequenceError, LabelError, FoldError) as error:
        if error.file is None:
            error.file = file
        raise
