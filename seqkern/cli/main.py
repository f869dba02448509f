"""``seqkern VERB …``: find the verb's module, parse, run, and turn errors into one line and an exit code.

The table of verbs is static so that ``seqkern --help`` imports nothing heavy; a module is imported only when
its verb is called. It offers ``EXAMPLE``, ``add_arguments(parser)`` and ``run(args)``, and where one is not enough,
``MORE_EXAMPLES``.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from seqkern import __version__
from seqkern.core.errors import SeqkernError

VERBS = {
    "demo": "run the demo in a new folder: from generated sequences to a report",
    "init": "put the workflow and a configuration into a new folder",
    "simulate": "make demo data: splice sites, protein superfamilies, states of residues",
    "datasets": "encode a study's data set once, or list the public ones",
    "folds": "write the splits of a data set, and check them for leaks",
    "check": "tell, before any kernel is computed, whether solvers can learn every training part",
    "gram": "compute a Gram matrix from FASTA or from a data set",
    "baseline": "evaluate trivial baselines: majority class, length and composition",
    "evaluate": "train and test over all folds; hyperparameters by an inner loop",
    "compare": "tell which methods are better than which, with what certainty",
    "importance": "train a method on windows, and show what matters at each position",
    "report": "write the HTML page and the tables of a study",
    "train": "train a model that can be applied to new sequences",
    "predict": "apply a model to new sequences",
    "explain": "show which letters and words of new sequences a model's decisions rest on",
    "kernels": "list the kernels and their parameters",
    "solvers": "list the solvers, selectors of features and layers, with their parameters",
}


class Parser(argparse.ArgumentParser):
    r"""A parser whose complaints are one line.

    Examples
    --------
    >>> Parser(prog="seqkern folds").format_usage()
    'usage: seqkern folds [-h]\n'
    """

    def error(self, message: str) -> NoReturn:
        """Say what is wrong on standard error, and leave with exit code 2.

        Parameters
        ----------
        message : str
            As argparse has it; it is put in one line.
        """
        self.exit(2, f"seqkern: {' '.join(message.split())}; see {self.prog} --help\n")


def build_parser(verb: str | None = None) -> Parser:
    """Return the parser.

    Parameters
    ----------
    verb : str, optional
        The only verb whose arguments are filled in: its module is imported.

    Returns
    -------
    Parser

    Examples
    --------
    >>> build_parser("kernels").parse_args(["kernels", "spectrum"]).name
    'spectrum'
    """
    parser = Parser(
        prog="seqkern",
        description="Classify biological sequences with string kernels, SVM and P-SVM.",
        epilog="seqkern VERB --help tells more, with an example.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version and the build's digest")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs")
    for name, summary in VERBS.items():
        if name != verb:
            verbs.add_parser(name, help=summary)
            continue
        module = importlib.import_module(f".{name}", __package__)
        child = verbs.add_parser(
            name,
            help=summary,
            description=summary[0].upper() + summary[1:] + ".",
            epilog="\n  ".join(["example:", module.EXAMPLE, *getattr(module, "MORE_EXAMPLES", ())]),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.add_arguments(child)
        child.set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments without the command; by default those of the process.

    Returns
    -------
    int
        The exit code: 0, 1 (an error of input) or 2 (wrong usage); 130 where it was interrupted.

    Examples
    --------
    >>> main(["folds"])
    2
    """
    argv = sys.argv[1:] if argv is None else list(argv)
    verb = next((word for word in argv if not word.startswith("-")), None)
    parser = build_parser(verb if verb in VERBS else None)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError):  # a name from a file may hold what a terminal cannot show
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # suppressed
    try:
        args, unknown = parser.parse_known_args(_joined(argv))
        if unknown:
            _refuse(unknown, parser, verb)
    except SystemExit as stop:
        return stop.code  # type: ignore[return-value]  # argparse gives a number
    if args.version:
        # loaded when the verb runs: its help needs none of it
        from seqkern.core.build import build_digest

        print(f"seqkern {__version__} ({build_digest()})")
        return 0
    if args.verb is None:
        parser.print_help()
        return 2
    return _run(args)


def _refuse(unknown: Sequence[str], parser: argparse.ArgumentParser, verb: str | None) -> NoReturn:
    """Leave with exit code 2 for arguments that a verb does not know, and name the nearest option."""
    if verb in VERBS:
        parser = next(action for action in parser._actions if action.dest == "verb").choices[verb]  # type: ignore[index]
    words = [word.partition("=")[0] for word in unknown if word.startswith("-")]
    near = difflib.get_close_matches(words[0], parser._option_string_actions, n=1) if words else []
    hint = f"; did you mean {near[0]}?" if near else ""
    parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")


def _joined(argv: Sequence[str]) -> list[str]:
    """Return the arguments with each window as ``--window=-60:+80``: by itself, the parser takes it for an option.

    Likewise a section.
    """
    joined, rest = [], iter(argv)
    for word in rest:
        value = next(rest, None) if word in ("--window", "--section") else None
        joined.append(word if value is None else f"{word}={value}")
    return joined


def _run(args: argparse.Namespace) -> int:
    """Run a parsed verb; one line on standard error for what a user can correct."""
    try:
        return args.run(args) or 0
    except SeqkernError as error:
        print(f"seqkern: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("seqkern: interrupted; run the same command again to go on", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output has gone; nothing more can be said, not even at interpreter exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except MemoryError:
        print("seqkern: out of memory; set a memory limit or use fewer sequences", file=sys.stderr)
        return 1
    except RecursionError:
        print("seqkern: something given is nested too deeply to be read; make it flatter", file=sys.stderr)
        return 1
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        print(f"seqkern: {place}{error.strerror or error}; check the path and the disk", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
