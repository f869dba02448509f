"""Arguments that several verbs share, and the reading of what they name."""

import contextlib
import json
import sys

from ..errors import ParameterError, SequenceError


def add_sequence_arguments(parser, defaults=True):
    """Add alphabet and policies of reading FASTA; without `defaults` they are None unless given."""
    group = parser.add_argument_group("reading FASTA")
    group.add_argument("--alphabet", help="dna, rna, protein or the letters of your own (default: found out)")
    policies = {
        "unknown": (("error", "skip", "mask"), "letters outside the alphabet: skip leaves the record out"),
        "ids": (("header", "number", "suffix"), "repeated ids: an error, numbers instead, or a suffix"),
        "empty": (("error", "skip"), "records without a sequence"),
    }
    for name, (choices, meaning) in policies.items():
        text = f"{meaning} (default: {choices[0] if defaults else 'as in training'})"
        group.add_argument(f"--{name}", choices=choices, default=choices[0] if defaults else None, help=text)


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


def kernel_from_text(text):
    """Return the kernel of a text such as ``mismatch:k=5,m=1``, or of a config's entry as JSON."""
    from ..kernels import build_kernel

    if not text.lstrip().startswith("{"):
        return build_kernel(text)
    try:
        spec = json.loads(text)
    except ValueError as error:
        raise ParameterError(
            f"kernel {text!r} is not JSON: {error}", remedy="quote it for the shell"
        ) from error
    return build_kernel(spec)


def write_cost(path, clock):
    """Write the laps of a Clock as a table, if `path` is given."""
    from ..tsv import write_tsv

    if path:
        write_tsv(path, ["stage", "cpu_seconds", "peak_mb"], clock.laps)
