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
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast

from seqkern import __version__
from seqkern.core.errors import ParameterError, SeqkernError, TooLargeError, one_line
from seqkern.core.interruption import Terminated, stoppable
from seqkern.core.memory import WITHOUT_MATRIX, out_of_memory

if TYPE_CHECKING:
    from seqkern.cli.options import Request

SIMD_LEVELS = ("plain", "avx2", "avx512")
"""Values of the environment variable ``SEQKERN_SIMD``; `_simd.h` reads it."""


JOBS = "Jobs of the workflow"  # only --help-all shows their verbs


class Verb(NamedTuple):
    """A verb."""

    summary: str
    group: str = JOBS  # In the overview
    requests: str = "requests_studies"  # The module of its request's class
    run: str = ""  # The function that carries out a request, as module:name, if not `run` in the verb's module
    installed: bool = False  # Whether another distribution adds it; its modules are absolute


VERBS = {
    "train": Verb("train a model, to apply to new sequences", "Everyday", "requests_training"),
    "predict": Verb("apply a model to new sequences", "Everyday", "requests_models"),
    "cv": Verb("cross-validate one method on FASTA, without a study", "Everyday", "requests_training"),
    "test": Verb("score a model on new sequences whose classes are known", "Everyday", "requests_models"),
    "explain": Verb("show how residues and k-mers contribute to a model's decisions", "Everyday", "requests_models"),
    "demo": Verb("run the demo, from simulated sequences to the report", "Studies", run="study_folder:run_demo"),
    "init": Verb(
        "write a study of your sequences into a new folder", "Studies", "requests_training", "study_folder:run_init"
    ),
    "compare": Verb("test which methods differ significantly", "Studies", run="results:run_compare"),
    "audit": Verb("find what test and training sequences share", "Studies"),
    "background": Verb(
        "draw background regions from a genome, or shuffle sequences", "Genomes", run="genome_samples:run_background"
    ),
    "sites": Verb("find splice sites and decoys in an annotated genome", "Genomes", run="genome_samples:run_sites"),
    "variants": Verb("score what variants change in a model's decisions", "Genomes", "requests_models"),
    "grammar": Verb(
        "learn exons and introns from an annotated genome", "Genomes", "requests_models", "genes:run_grammar"
    ),
    "genes": Verb("find genes in a genome, by a learned grammar", "Genomes", "requests_models", "genes:run_genes"),
    "splice-scores": Verb(
        "score splice sites for minimap2 and miniprot", "Genomes", "requests_models", "genes:run_splice_scores"
    ),
    "motifs": Verb("find the motifs that a model has learned", "Models", "requests_models"),
    "page": Verb("write a model as a web page that scores sequences anywhere", "Models", "requests_models"),
    "suggest": Verb("choose the unlabelled records to label next", "Models", "requests_models"),
    "models": Verb(
        "pack models into one file, or show how one was trained", "Models", "requests_models", "listing:run_models"
    ),
    "kernels": Verb("list the kernels and their parameters", "Models", run="listing:run_kernels"),
    "solvers": Verb("list the solvers, feature selectors and layers", "Models", run="listing:run_solvers"),
    "simulate": Verb("simulate splice sites, proteins, genomes, peaks, genes or structure", requests="simulate"),
    "datasets": Verb("read and check a study's data set, or list the public data sets"),
    "folds": Verb("split a data set, and check the splits for leakage"),
    "check": Verb(
        "check that every training set suits its solver (no kernel is computed)", run="dataset_jobs:run_check"
    ),
    "plan": Verb("predict CPU time and memory of the jobs of a data set", run="dataset_jobs:run_plan"),
    "gram": Verb("compute a Gram matrix from FASTA or from a data set"),
    "baseline": Verb("evaluate reference methods and trivial baselines", run="dataset_jobs:run_baseline"),
    "evaluate": Verb("cross-validate a method, with hyperparameters from an inner loop"),
    "report": Verb("write the HTML report and the tables of a study", run="results:run_report"),
    "importance": Verb(
        "train a method on windows, and show the importance of each position", run="dataset_model:run_importance"
    ),
    "discover": Verb(
        "train a method on a data set, and find the motifs that it has learned", run="dataset_model:run_discover"
    ),
    "effects": Verb(
        "score variants by models that have not seen their chromosomes, against known effects",
        run="dataset_model:run_effects",
    ),
}


def request_class(verb: str) -> type[Request]:
    """Return the class of a verb's requests, importing its module.

    >>> request_class("kernels").EXAMPLE
    'seqkern kernels spectrum'
    """
    return cast("type[Request]", _named(verb, f"{VERBS[verb].requests}:{verb.title().replace('-', '')}Request"))


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
        package = module.partition(".")[0]
        VERBS.setdefault(verb, Verb(f"a verb of {package}", "Installed", module, f"{module}:run", True))


OVERVIEW = """\
seqkern train positive.fa negative.fa                    # writes model.seqkern
seqkern predict model.seqkern new.fa > predictions.tsv   # applies it
{}
seqkern help VERB: an example and its options; seqkern --help-all: all verbs
"""


def overview(everything: bool) -> str:
    """Return the help of the program: the verbs in their groups, the jobs of the workflow only if `everything`."""
    lines, last = [""], ""
    for name, (summary, group, *_) in VERBS.items():
        if everything or group != JOBS:
            lines += [f"  {name:<11} {summary}"] if group == last else [group, f"  {name:<11} {summary}"]
            last = group
    lines += ["", "seqkern --version; seqkern --completion bash, zsh or fish"] if everything else []
    return OVERVIEW.format("\n".join([*lines, ""]))


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """The layout of a verb's help."""

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """Return ``-o, --output FILE``; argparse would repeat the value after each name."""
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        return f"{', '.join(action.option_strings)} {self._format_args(action, action.dest.upper())}"


MOST_SHOWN = 20
"""Number of options up to which a verb's help shows all of them."""


class Parser(argparse.ArgumentParser):
    r"""A parser that reports errors in one line, and whose help shows the everyday options, or all if `everything`.

    >>> Parser(prog="seqkern folds").format_usage()
    'usage: seqkern folds [option ...]\n'
    """

    everything = False

    def format_usage(self) -> str:
        """Return the usage: the required options and the arguments."""
        formatter = self._get_formatter()
        formatter.add_usage(None, [one for one in self._actions if one.required or not one.option_strings], [])
        return f"{formatter.format_help().rstrip()} [option ...]\n"

    def format_help(self) -> str:
        """Return the help, with an example before the usage; in the short one, texts end at the first semicolon."""
        formatter = self._get_formatter()
        groups = [(one.title, one.description, one._group_actions) for one in self._action_groups]
        examples, more = self.epilog or "", ""
        if not self.everything and len(self._actions) > MOST_SHOWN:
            everyday = [action for action in self._actions if getattr(action, "everyday", False)]
            for action in everyday:
                action.help = str(action.help).partition("; ")[0]
            groups = [(None, None, sorted(everyday, key=lambda action: bool(action.option_strings)))]
            examples = "\n".join(examples.split("\n")[:2])
            more = f"\n{self.prog} --help-all: all {len(self._actions) - 1} arguments and options, by topic\n"
        for text in (self.description, examples, self.format_usage()):
            formatter.add_text(text)
        for title, description, actions in groups:
            formatter.start_section(title)
            formatter.add_text(description)
            formatter.add_arguments(action for action in actions if action.dest != "help")
            formatter.end_section()
        return formatter.format_help() + more

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
        if not arg_string:
            raise argparse.ArgumentError(action, "is empty; give a value")
        return super()._get_value(action, arg_string)

    def error(self, message: str) -> NoReturn:
        """Print an error on standard error, and exit with code 2."""
        if message.startswith("the following arguments are required"):
            message += f", as in: {_example(self)}"
        dashed = next((word for word in sys.argv[1:] if word.startswith("-") and os.path.exists(word)), None)
        see = f"see {self.prog} --help" if dashed is None else f"write ./{dashed} for the file {dashed}"
        end = "" if message.endswith("?") else ";"
        self.exit(2, f"seqkern: {one_line(message, 1500)}{end} {one_line(see, 400)}\n")


def build_parser(verb: str) -> Parser:
    """Return the parser of a verb.

    >>> build_parser("kernels").parse_args(["spectrum"]).name
    'spectrum'
    """
    request, summary = request_class(verb), VERBS[verb].summary
    parser = Parser(
        prog=f"seqkern {verb}",
        description=request.DESCRIPTION or f"{summary[0].upper()}{summary[1:]}.",
        epilog="\n  ".join(["example:", request.EXAMPLE, *request.MORE_EXAMPLES]),
        formatter_class=_Formatter,
        allow_abbrev=False,
        add_help=False,
    )
    parser.add_argument("-h", "--help", "--help-all", action="help")
    request.add_arguments(parser)
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
    for stream in (sys.stdout, sys.stderr):
        # a name from a file may contain characters that the terminal cannot show
        with contextlib.suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # suppressed
    if argv[:1] == ["help"]:
        argv = [*argv[1:2], "--help"]
    verb = argv[0] if argv and not argv[0].startswith("-") else None
    if verb is not None and verb not in VERBS:
        _add_installed_verbs()
    try:
        if verb is None:
            return _without_verb(argv)
        if verb not in VERBS:
            _refuse_verb(verb)
        parser = build_parser(verb)
        parser.everything = "--help-all" in argv
        _refuse_unknown(argv[1:], parser)
        args = parser.parse_args(_joined(argv[1:]))
    except SystemExit as stop:
        return stop.code  # type: ignore[return-value]  # argparse gives a number
    except ParameterError as error:  # of a verb of another distribution
        return _refused(error)
    return _run(verb, args)


def _without_verb(argv: list[str]) -> int:
    """Run the program with options of its own, or none."""
    if not argv or argv[0] in ("-h", "--help", "--help-all"):
        if argv == ["--help-all"]:
            _add_installed_verbs()
        print(overview(argv == ["--help-all"]), end="")
        return 0 if argv else 2
    if argv == ["--version"]:
        from seqkern.core.package_files import build_digest  # imported here to keep --help fast

        print(f"seqkern {__version__} ({build_digest()})")
        return 0
    from seqkern.cli.options import SHELLS, completion_script  # imported here to keep --help fast

    option, shell = argv[0], (*argv[1:], "bash")[0]
    if option == "--completion" and shell in SHELLS:
        print(completion_script(shell, {name: (VERBS[name].summary, request_class(name)) for name in VERBS}), end="")
        return 0
    verb = next((word for word in argv if word in VERBS), "VERB")
    shells = "give --completion bash, zsh or fish"
    Parser(prog="seqkern").error(shells if option == "--completion" else f"{option}: begin with seqkern {verb}")


OTHER_VERBS = {
    "train": "fit learn build model",
    "predict": "classify apply infer score annotate decide",
    "test": "assess eval validate roc auc",
    "cv": "crossval crossvalidate cross-validate cross-validation kfold",
    "explain": "interpret attribute attributions shap saliency",
    "variants": "vcf snp snps mutations",
    "init": "new create start project",
    "demo": "example quickstart tutorial",
}
"""Words that newcomers try for a verb."""
OTHER_OPTIONS = {
    "--background --factor --decoys": "ratio n-ratio negative-ratio imbalance",
    "--positive": "class target-class positive-class",
    "--labels": "y target targets",
    "--calibration=platt": "prob proba probs probability probabilities predict-proba",
    "--output": "outfile outdir output-file output-dir save",
    "--threads": "jobs j n-jobs cpus cpu cores n-cores nproc workers t p num-threads processes",
    "--memory": "mem max-memory ram",
    "--cv --folds --k": "kfold k-fold k-folds folds nfolds n-folds splits n-splits cross-validate cv",
    "--metric": "score scoring",
    "--search": "grid grid-search gridsearch tune optimize optimise",
    "--solver": "svm svc classifier estimator learner method",
    "--seed": "random-state random-seed rng",
    "--genome": "ref reference reference-genome",
    "--width": "size extend flank",
    "--known": "meme jaspar db database",
    "--kernel=spectrum:k=6": "kmer kmer-size kmer-length word-size ksize",
    "--kernel=spectrum:k=6,reverse_complement=true": "rc revcomp both-strands strands",
}
"""Options of other programs, for the options of these names of which the verb has the first."""
FILES = "input in i f file files fasta seqs model bed vcf neg negative negatives"
"""Options of other programs for what is given here without an option."""


def _nearest(word: str, names: Collection[str], others: Mapping[str, str]) -> str | None:
    """Return the name that was probably meant: by another of its names, as its start, or similarly spelt."""
    for listed, words in others.items():
        for name in listed.split() if word in words.split() else ():
            if name.partition("=")[0] in names:
                return name.replace("=", " ", 1)
    bare = {name.lstrip("-"): name for name in names}
    starts = sorted((name for name in bare if len(word) > 1 and name.startswith(word)), key=len)
    return next((bare[name] for name in starts or difflib.get_close_matches(word, bare, n=1, cutoff=0.7)), None)


def _refuse_verb(verb: str) -> NoReturn:
    """Exit with code 2 for an unknown verb, and name the nearest one."""
    near = _nearest(verb.lower(), VERBS, OTHER_VERBS)
    hint = f"; did you mean seqkern {near}?" if near else ""
    if os.path.exists(verb) or "." in verb:
        hint = f"; the verb comes before the files, such as seqkern train {verb}"
    Parser(prog="seqkern").error(f"unknown verb {verb!r}{hint}")


def _refuse_unknown(argv: Sequence[str], parser: Parser) -> None:
    """Exit with code 2 for an unknown option, a parameter in place of a file, or nothing where files are needed."""
    if not argv and next((one.nargs for one in parser._actions if not one.option_strings), None) == "*":
        parser.error("the following arguments are required: files")
    options = parser._option_string_actions
    for i, word in enumerate(argv):
        name, _, value = word.partition("=")
        if word == "--":
            return
        if re.match("--?[A-Za-z]", word) and name not in options and word[:2] not in options:
            value = value or "".join(one for one in argv[i + 1 : i + 2] if not one.startswith("-"))
            parser.error(f"unknown option {name}{_hint(name, value, argv, parser)}")
        of_spec = i > 1 and argv[i - 2] in ("--kernel", "--solver") and name.isidentifier() and value
        if of_spec and not os.path.exists(word):
            parser.error(f"unknown argument {word}; write {argv[i - 2]} {_with_parameter(argv[i - 1], word)}")


def _with_parameter(spec: str, parameter: str) -> str:
    """Return the text of a kernel or solver with one more parameter, such as ``k=3``."""
    return f"{spec}{',' if ':' in spec else ':'}{parameter}"


def _hint(option: str, value: str, argv: Sequence[str], parser: Parser) -> str:
    """Return what was probably meant by an unknown option with this value; empty if unknown."""
    # imported here to keep --help fast
    from seqkern.core.declarations import Flag
    from seqkern.kernels import KERNELS
    from seqkern.solvers import SOLVERS

    options, word = parser._option_string_actions, option.lstrip("-").lower().replace("_", "-")
    for kind, registry, common in (
        ("solver", SOLVERS, "csvc psvc nusvc svr psvr"),
        ("kernel", KERNELS, "spectrum gapped_kmer mismatch gappy weighted_degree local_alignment rbf polynomial"),
    ):
        given = [argv[i + 1] for i, one in enumerate(argv[:-1]) if one == f"--{kind}"]
        for spec in [*given, *common.split()] if f"--{kind}" in options else ():
            name = spec.partition(":")[0]
            for parameter, item in registry.get(name).declarations().items() if name in registry else ():
                if parameter.lower() == word.replace("-", "_"):
                    text = f"{parameter}={'true' if isinstance(item, Flag) else value or 'VALUE'}"
                    return f"; {kind} parameters are written --{kind} {_with_parameter(spec, text)}"
    near = _nearest(word, options, OTHER_OPTIONS)
    if word in FILES.split() or (near == "--positive" and os.path.exists(value)):
        return f"; give files without an option, as in: {_example(parser)}"
    if near is None:
        return ""
    shown = f"{near[:-1]}{value or 6}" if near.endswith("=6") else near
    takes = near in options and options[near].nargs != 0
    return f"; did you mean {shown} {value if takes else ''}".rstrip() + "?"


def _example(parser: argparse.ArgumentParser) -> str:
    """Return the first example of a verb."""
    return (parser.epilog or "").splitlines()[1].strip()


def _joined(argv: Sequence[str]) -> list[str]:
    """Return the arguments with each window as ``--window=-60:+80``, which argparse would mistake for an option.

    Sections are treated in the same way.
    """
    joined, rest = [], iter(argv)
    for word in rest:
        value = next(rest, None) if word in ("--window", "--section") else None
        joined.append(word if value is None else f"{word}={value}")
    return joined


def _run(verb: str, args: argparse.Namespace) -> int:
    """Run a parsed verb; print errors that a user can correct in one line on standard error."""
    # imported here to keep --help fast, and not later, when there may be no memory to import it
    from seqkern.cli.output import checked_output
    from seqkern.core.checkpoint import forget_kept
    from seqkern.core.progress import reporting
    from seqkern.core.tsv import spreadsheet_safe

    forget_kept()  # of a former verb in this process
    try:
        _check_level()
        request = request_class(verb).of(args)
        safe = getattr(request, "spreadsheet_safe", False)
        with reporting(), checked_output(request), spreadsheet_safe(safe):
            return _named(verb, VERBS[verb].run or f"{verb}:run")(request) or 0
    except SeqkernError as error:
        # imported here: only where a verb has failed
        from seqkern.cli.wrong_files import swapped_files

        with contextlib.suppress(NameError):  # without a request, if its options conflict
            error = swapped_files(request) or error
        return _refused(with_remedy(error, verb) if isinstance(error, TooLargeError) else error, verb)
    except BrokenPipeError:
        # The reader of the output has gone: print nothing more, not even at interpreter exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except RecursionError:
        return _refused("the input is nested too deeply; reduce the nesting")
    except (MemoryError, OSError, ImportError, RuntimeError) as error:
        if is_out_of_memory(error):
            return _refused(memory_message(error, verb))
        if not isinstance(error, OSError):
            raise
        place = f"{one_line(error.filename, 400)}: " if error.filename else ""
        problem = one_line(error.strerror or error, 1500)
        return _refused(f"{place}{problem}; check the path and the disk")


def _check_level() -> None:
    """Raise ParameterError for an unknown level of vector instructions, which compiled modules would ignore."""
    level = os.environ.get("SEQKERN_SIMD")
    if level not in (None, *SIMD_LEVELS):
        raise ParameterError(
            f"SEQKERN_SIMD={level} in the environment is not a level of vector instructions",
            remedy=f"set it to {', '.join(SIMD_LEVELS[:-1])} or {SIMD_LEVELS[-1]}, or unset it",
        )


def _refused(problem: object, verb: str = "") -> int:
    """Print why a command failed, and return the exit code; tests check that the verb has what a remedy names."""
    print(f"seqkern: {problem}", file=sys.stderr)
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
