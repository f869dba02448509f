"""The entry point ``seqkern VERB …``: dispatch to the verb's module, with errors as one line and an exit code.

The table of verbs is static, so that ``seqkern --help`` imports nothing heavy. A verb's request is imported when it is
called, for its parser and help, and its function only when it runs.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import errno
import importlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast

from seqkern import __version__
from seqkern.core.errors import ParameterError, SeqkernError, TooLargeError, one_line, unknown_name
from seqkern.core.interruption import Terminated, stoppable
from seqkern.core.memory import WITHOUT_MATRIX, out_of_memory

if TYPE_CHECKING:
    from seqkern.cli.options import Request

SIMD_LEVELS = ("plain", "avx2", "avx512")
"""Values of the environment variable ``SEQKERN_SIMD``; `_simd.h` reads it."""


class Verb(NamedTuple):
    """A verb."""

    summary: str
    requests: str  # The module of its request's class
    run: str = ""  # The function that carries out a request, as module:name, if not `run` in the verb's module
    installed: bool = False  # Whether another distribution adds it; its modules are absolute


VERBS = {
    "demo": Verb(
        "run the demo in a new folder, from simulated sequences to the report",
        "requests_studies",
        "study_folder:run_demo",
    ),
    "init": Verb("write a study of your sequences into a new folder", "requests_training", "study_folder:run_init"),
    "simulate": Verb(
        "simulate splice sites, protein superfamilies, genomes, peaks, genes or secondary structure", "simulate"
    ),
    "sites": Verb(
        "find splice sites and decoys by the annotation of a genome", "requests_studies", "genome_samples:run_sites"
    ),
    "datasets": Verb("read and check a study's data set, or list the public data sets", "requests_studies"),
    "folds": Verb("split a data set, and check the splits for leakage", "requests_studies"),
    "audit": Verb("find what test and training sequences share, and what it does to scores", "requests_studies"),
    "check": Verb("check that every training set suits its solver (no kernel is computed)", "requests_studies"),
    "plan": Verb("predict CPU time and memory of the jobs of a data set", "requests_studies"),
    "gram": Verb("compute a Gram matrix from FASTA or from a data set", "requests_studies"),
    "baseline": Verb("evaluate reference methods and trivial baselines", "requests_studies"),
    "evaluate": Verb("cross-validate a method, with hyperparameters from an inner loop", "requests_studies"),
    "cv": Verb("cross-validate one method on FASTA, without a study", "requests_training"),
    "compare": Verb("test which methods differ significantly", "requests_studies", "results:run_compare"),
    "importance": Verb("train a method on windows, and show the importance of each position", "requests_studies"),
    "discover": Verb("train a method on a data set, and find the motifs that it has learned", "requests_studies"),
    "effects": Verb(
        "score variants by models that have not seen their chromosomes, against known effects", "requests_studies"
    ),
    "report": Verb("write the HTML report and the tables of a study", "requests_studies", "results:run_report"),
    "train": Verb("train a model, to apply to new sequences", "requests_training"),
    "predict": Verb("apply a model to new sequences", "requests_models"),
    "variants": Verb("score what variants change in a model's decisions", "requests_models"),
    "models": Verb("pack many models into one file, or list them", "requests_models", "listing:run_models"),
    "suggest": Verb("choose the unlabelled records to label next", "requests_models"),
    "explain": Verb("show how residues and k-mers contribute to a model's decisions", "requests_models"),
    "motifs": Verb("find the motifs that a model has learned", "requests_models"),
    "grammar": Verb(
        "learn the exons and introns of genes from an annotated genome", "requests_models", "genes:run_grammar"
    ),
    "genes": Verb("find genes in a genome, by a learned grammar", "requests_models", "genes:run_genes"),
    "background": Verb(
        "draw background regions like the peaks from a genome, or shuffle sequences",
        "requests_studies",
        "genome_samples:run_background",
    ),
    "kernels": Verb("list the kernels and their parameters", "requests_studies", "listing:run_kernels"),
    "solvers": Verb(
        "list the solvers, feature selectors and layers, and their parameters",
        "requests_studies",
        "listing:run_solvers",
    ),
}


def request_class(verb: str) -> type[Request]:
    """Return the class of a verb's requests, importing its module.

    >>> request_class("kernels").EXAMPLE
    'seqkern kernels spectrum'
    """
    return cast("type[Request]", _named(verb, f"{VERBS[verb].requests}:{verb.capitalize()}Request"))


def _named(verb: str, place: str) -> Any:
    """Return what ``module:name`` of a verb names in this folder or another distribution, importing the module."""
    if VERBS[verb].installed:
        from seqkern.core.registry import import_installed  # imported here to keep --help fast

        return import_installed(f"verb {verb!r}", place)
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(f".{module}", __package__), name)


def _add_installed_verbs() -> None:
    """Add the verbs of other distributions, each in a module of its package, to the table."""
    from seqkern.core.registry import installed  # imported here to keep --help fast

    for verb, module in installed("seqkern.verbs").items():
        VERBS.setdefault(verb, Verb(f"a verb of {module.partition('.')[0]}", module, f"{module}:run", True))


class Parser(argparse.ArgumentParser):
    r"""A parser that reports errors in one line.

    >>> Parser(prog="seqkern folds").format_usage()
    'usage: seqkern folds [-h]\n'
    """

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return the parsed and the unknown arguments; refuse options given twice."""
        self._given: set[str] = set()
        return super().parse_known_args(args, namespace)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Return the value of an option or argument; refuse a repeated one: argparse would keep the last value."""
        if type(action) is argparse._StoreAction and action.option_strings:
            if action.dest in self._given:
                raise argparse.ArgumentError(action, "is given twice; remove one of them")
            self._given.add(action.dest)
        return super()._get_values(action, arg_strings)

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Return the value of one argument string; refuse an empty one, which as a path would be the current folder."""
        if not arg_string and not isinstance(action, argparse._SubParsersAction):
            raise argparse.ArgumentError(action, "is empty; give a value")
        return super()._get_value(action, arg_string)

    def error(self, message: str) -> NoReturn:
        """Print an error on standard error, and exit with code 2."""
        dashed = next((word for word in sys.argv[1:] if word.startswith("-") and os.path.exists(word)), None)
        see = f"see {self.prog} --help" if dashed is None else f"write ./{dashed} for the file {dashed}"
        self.exit(2, f"seqkern: {one_line(message, 1500)}; {one_line(see, 400)}\n")


def build_parser(verb: str | None = None, *, alone: bool = False) -> Parser:
    """Return the parser, with the arguments of one verb; `alone` omits the other verbs, which take 0.2 ms each.

    >>> build_parser("kernels").parse_args(["kernels", "spectrum"]).name
    'spectrum'
    """
    parser = Parser(
        prog="seqkern",
        description="Classify biological sequences with string kernels, SVM and P-SVM.",
        epilog="See seqkern VERB --help for the arguments and an example.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version and the build's digest")
    parser.add_argument("--completion", action="store_true", help="print the completion for bash and zsh")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs")
    for name, (summary, *_) in VERBS.items():
        if name == verb:
            request = request_class(name)
            child = verbs.add_parser(
                name,
                help=summary,
                description=request.DESCRIPTION or summary[0].upper() + summary[1:] + ".",
                epilog="\n  ".join(["example:", request.EXAMPLE, *request.MORE_EXAMPLES]),
                formatter_class=argparse.RawDescriptionHelpFormatter,
                allow_abbrev=False,
            )
            request.add_arguments(child)
        elif not alone:
            verbs.add_parser(name, help=summary)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line, and return the exit code.

    The code is 0, 1 (bad input), 2 (wrong usage), 130 (interrupted) or 143 (terminated).

    >>> main(["folds"])
    2
    """
    argv = sys.argv[1:] if argv is None else list(argv)
    try:
        with stoppable():
            return _main(argv)
    except KeyboardInterrupt as stop:
        from seqkern.core.checkpoint import forget_kept  # imported here to keep --help fast

        next_time = "repeat the command to resume" if forget_kept() else "this run has kept nothing"
        terminated = isinstance(stop, Terminated)
        print(f"seqkern: {'terminated' if terminated else 'interrupted'}; {next_time}", file=sys.stderr)
        return 143 if terminated else 130


def _main(argv: list[str]) -> int:
    """Parse the arguments, and run the verb."""
    verb = next((word for word in argv if not word.startswith("-")), None)
    if verb is not None and verb not in VERBS:
        _add_installed_verbs()
    try:
        parser = build_parser(verb if verb in VERBS else None, alone=verb in VERBS and argv[0] == verb)
    except ParameterError as error:  # of a verb of another distribution
        print(f"seqkern: {error}", file=sys.stderr)
        return 1
    for stream in (sys.stdout, sys.stderr):
        # a name from a file may contain characters that the terminal cannot show
        with contextlib.suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # suppressed
    try:
        if verb is not None and verb not in VERBS:
            parser.error(str(unknown_name("verb", verb, VERBS)))
        args, unknown = parser.parse_known_args(_joined(argv))
        if unknown:
            _refuse(unknown, parser, verb)
    except SystemExit as stop:
        return stop.code  # type: ignore[return-value]  # argparse gives a number
    if args.version:
        # imported here to keep --help fast
        from seqkern.core.package_files import build_digest

        print(f"seqkern {__version__} ({build_digest()})")
        return 0
    if args.completion:
        # imported here to keep --help fast
        from seqkern.cli.options import completion_script

        print(completion_script({name: request_class(name) for name in VERBS}), end="")
        return 0
    if args.verb is None:
        parser.print_help()
        return 2
    return _run(args)


def _refuse(unknown: Sequence[str], parser: argparse.ArgumentParser, verb: str | None) -> NoReturn:
    """Exit with code 2 for unknown arguments, and name the nearest option."""
    if verb in VERBS:
        parser = next(action for action in parser._actions if action.dest == "verb").choices[verb]  # type: ignore[index]
    words = [word.partition("=")[0] for word in unknown if word.startswith("-")]
    near = difflib.get_close_matches(words[0], parser._option_string_actions, n=1) if words else []
    hint = f"; did you mean {near[0]}?" if near else ""
    parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")


def _joined(argv: Sequence[str]) -> list[str]:
    """Return the arguments with each window as ``--window=-60:+80``, which argparse would mistake for an option.

    Sections are treated in the same way.
    """
    joined, rest = [], iter(argv)
    for word in rest:
        value = next(rest, None) if word in ("--window", "--section") else None
        joined.append(word if value is None else f"{word}={value}")
    return joined


def _run(args: argparse.Namespace) -> int:
    """Run a parsed verb; print errors that a user can correct in one line on standard error."""
    # imported here to keep --help fast, and not later, when there may be no memory to import it
    from seqkern.cli.output import checked_output
    from seqkern.core.checkpoint import forget_kept
    from seqkern.core.progress import reporting
    from seqkern.core.tsv import spreadsheet_safe

    forget_kept()  # of a former verb in this process
    try:
        _check_level()
        request = request_class(args.verb).of(args)
        safe = getattr(request, "spreadsheet_safe", False)
        with reporting(), checked_output(request), spreadsheet_safe(safe):
            return _named(args.verb, VERBS[args.verb].run or f"{args.verb}:run")(request) or 0
    except SeqkernError as error:
        from seqkern.cli.wrong_files import swapped_files

        with contextlib.suppress(NameError):  # without a request, if its options conflict
            error = swapped_files(request) or error
        return _refused(with_remedy(error, args.verb) if isinstance(error, TooLargeError) else error, args.verb)
    except BrokenPipeError:
        # The reader of the output has gone: print nothing more, not even at interpreter exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except RecursionError:
        print("seqkern: the input is nested too deeply; reduce the nesting", file=sys.stderr)
        return 1
    except (MemoryError, OSError, ImportError, RuntimeError) as error:
        if is_out_of_memory(error):
            print(f"seqkern: {memory_message(error, args.verb)}", file=sys.stderr)
            return 1
        if not isinstance(error, OSError):
            raise
        place = f"{one_line(error.filename, 400)}: " if error.filename else ""
        problem = one_line(error.strerror or error, 1500)
        print(f"seqkern: {place}{problem}; check the path and the disk", file=sys.stderr)
        return 1


def _check_level() -> None:
    """Raise ParameterError for an unknown level of vector instructions, which compiled modules would ignore."""
    level = os.environ.get("SEQKERN_SIMD")
    if level not in (None, *SIMD_LEVELS):
        raise ParameterError(
            f"SEQKERN_SIMD={level} in the environment is not a level of vector instructions",
            remedy=f"set it to {', '.join(SIMD_LEVELS[:-1])} or {SIMD_LEVELS[-1]}, or unset it",
        )


def _refused(error: SeqkernError, verb: str) -> int:
    """Print an error that the user can correct, and return the exit code; tests check that its remedy exists."""
    print(f"seqkern: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())


# Messages about insufficient memory, with remedies that the verb offers.

WITHOUT = f"for classes {WITHOUT_MATRIX}"
"""Remedy where the solver is not known."""
ON_DISK = "keep the matrix on disk (--gram FILE.npy)"
FEWER = ("or give fewer sequences",)
REMEDIES: dict[str, tuple[str | None, ...]] = {
    "gram": FEWER,
    "train": (ON_DISK, None, *FEWER),
    "cv": (ON_DISK, None, *FEWER),
    "evaluate": (None, "or make folds with smaller training sets (folds: {method: grouped, train_size: …})"),
}
"""Alternatives to a Gram matrix in memory, by verb; None stands for the solver's suggestion."""


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error from Python, NumPy or the system means that memory ran out.

    >>> is_out_of_memory(OSError(errno.ENOMEM, "Cannot allocate memory")), is_out_of_memory(OSError(errno.ENOENT, ""))
    (True, False)
    """
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    if isinstance(error, ImportError):  # the message of the dynamic linker
        return any(text in str(error) for text in ("failed to map segment", "cannot allocate memory"))
    if isinstance(error, RuntimeError):
        return "can't start new thread" in str(error)
    return isinstance(error, MemoryError)


def memory_message(error: BaseException, verb: str) -> str:
    """Return the message for an out-of-memory error.

    >>> memory_message(MemoryError(), "cv").startswith("out of memory: ")
    True
    """
    return f"{out_of_memory(error)}, {_remedies(verb, None)}"


def _remedies(verb: str, without: str | None) -> str:
    """Return the remedies of a verb, with the solver's suggestion `without`, None if unknown."""
    own = WITHOUT if without is None else without
    return ", ".join(filter(None, (own if text is None else text for text in REMEDIES.get(verb, FEWER))))


def with_remedy(error: TooLargeError, verb: str) -> TooLargeError:
    """Return an error about a Gram matrix that does not fit into memory, with a remedy of this verb added in place.

    >>> print(with_remedy(TooLargeError("is too large", more="raise the limit"), "gram"))
    is too large; raise the limit, or give fewer sequences
    """
    if verb in REMEDIES:
        error.remedy = f"{error.more}, {_remedies(verb, error.without)}"
    return error
