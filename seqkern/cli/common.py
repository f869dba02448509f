"""Arguments that several verbs share, and the reading of what they name."""

import contextlib
import sys

from ..errors import SequenceError


def add_sequence_arguments(parser):
    """Add the alphabet and the policies of reading FASTA."""
    group = parser.add_argument_group("reading FASTA")
    group.add_argument("--alphabet", help="dna, rna, protein or the letters of your own (default: found out)")
    add_policies(group)


def add_policies(group, ids=("header", "number", "suffix"), default=None):
    """Add the policies of reading FASTA; with `default`, which says whence they come, None if not given."""
    policies = {
        "unknown": (("error", "skip", "mask"), "letters outside the alphabet: skip leaves the record out"),
        "ids": (ids, "first word of the header, or the number of the record; suffix marks repeats"),
        "empty": (("error", "skip"), "records without a sequence: skip leaves them out"),
    }
    for name, (choices, meaning) in policies.items():
        first = None if default else choices[0]
        text = f"{meaning} (default: {default or first})"
        group.add_argument(f"--{name}", choices=choices, default=first, help=text)


def policies_of(args):
    """Return the policies of reading as a dict."""
    return {name: getattr(args, name) for name in ("unknown", "ids", "empty")}


def tell_counts(counts, source):
    """Say on standard error what the policies of reading touched."""
    touched = [f"{count} {what}" for what, count in counts.items() if count]
    if touched:
        print(f"seqkern: {source}: {', '.join(touched)}", file=sys.stderr)


@contextlib.contextmanager
def naming_file(file):
    """Name `file` in errors about sequences that name none."""
    try:
        yield
    except SequenceError as error:
        if error.file is None:
            error.file = file
        raise


def write_cost(path, clock):
    """Write the laps of a Clock as a table, if `path` is given."""
    from ..tsv import write_tsv

    if path:
        write_tsv(path, ["stage", "cpu_seconds", "peak_mb"], clock.laps)
