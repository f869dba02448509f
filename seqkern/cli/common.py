"""Arguments that several verbs share, and the reading of what they name."""

import argparse
import contextlib
import sys

from ..errors import FoldError, LabelError, ParameterError, SequenceError, unknown_name


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
    for name, count in model.record.get("recognised", {}).items():
        if not count:
            yield (
                f"not one training sequence of class {name} is recognised as such; use the order of the decision "
                "values, not the predicted classes; or train with csvc:class_weight=balanced, or --metric "
                "balanced_accuracy"
            )


def add_tracks(group):
    """Add the files of tracks."""
    group.add_argument(
        "--track",
        action="append",
        default=[],
        type=_track,
        metavar="NAME=FILE",
        help="annotation letters for a kernel that needs the track NAME, by id: a file like FASTA, or a table with the "
        "columns id and NAME; repeatable",
    )


def _track(text):
    """Return (name, file) of ``name=file``."""
    name, _, file = text.partition("=")
    if not name or not file:
        raise argparse.ArgumentTypeError(f"{text!r} is no track; write it like annotation=heptads.fasta")
    return name, file


def read_tracks(given, kernel):
    """Return a function that gives a SequenceSet the tracks that a kernel needs.

    Parameters
    ----------
    given : list of (str, str)
        Name and file of each.
    kernel : Kernel

    Raises
    ------
    ParameterError
        If a track is missing, unknown or given twice.
    """
    from ..tracks import Track

    names = [name for name, _ in given]
    for i, name in enumerate(names):
        if name not in kernel.tracks:
            if kernel.tracks:
                raise unknown_name(f"track of {kernel.name}", name, kernel.tracks)
            raise ParameterError(f"the kernel {kernel.name!r} reads no track", remedy=f"leave out --track {name}=…")
        if name in names[:i]:
            raise ParameterError(f"the track {name!r} is given twice", remedy="leave one out")
    for name in kernel.tracks:
        if name not in names:
            raise ParameterError(
                f"the kernel {kernel.name!r} needs the track {name!r}", remedy=f"add --track {name}=FILE"
            )
    tracks = [Track(name, file) for name, file in given]

    def add(X):
        for track in tracks:
            X = track.add_to(X)
        return X

    return add


def add_threads(group):
    """Add the number of threads."""
    group.add_argument("--threads", type=_positive, metavar="N", help="threads (default: all cores)")


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
