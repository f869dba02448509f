"""Requests: the options of a verb, each declared once as an attribute of a frozen class.

Parser, help, checks, exclusions and completion follow from the declarations, which are those of kernels and solvers
(`seqkern.core.parameters`) with a place on the command line. For example::

    class HardNegatives(Request, group="hard negatives"):
        hard_negatives: str | None = option("negative sequences, …", metavar="FASTA")
        hard_rounds: int | None = option("rounds of search …", integer(default=None, low=1), metavar="N")
        rules = all_of(only_with("hard_negatives", "hard_rounds"), excludes("hard_negatives", "states", "gram"))

A verb's request inherits the groups that it shares with other verbs. This module and those of the requests import
nothing heavy, for a fast ``--help``.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, Self

from seqkern.core.checks import check_int, check_number
from seqkern.core.declarations import Choice, Flag, Integer, Number, Parameter, Real
from seqkern.core.errors import ParameterError
from seqkern.core.parameters import Parameters, text

Rule = Callable[["Request"], None]
"""A function that raises ParameterError for options that conflict."""
NUMBERS: dict[type[Parameter], Callable[[str], Any]] = {Integer: check_int, Real: check_number}
"""Functions that read numbers."""


IfGiven = Any
"""The type of the value of an option that is None unless given, and is read only where it is."""


class Place(NamedTuple):
    """The place of a declared parameter on the command line."""

    names: tuple[str, ...]  # Such as -o and --output; empty if they follow from the attribute, or for an argument
    positional: bool
    settings: dict[str, Any]  # For argparse: metavar, nargs, …


def option(
    doc: str, domain: Any = None, *, short: str = "", long: str = "", repeated: bool = False, **settings: Any
) -> Any:
    """Declare an option; its domain is a declared parameter, by default text that may be left out.

    `settings` are those of argparse; ``read`` converts the text if the domain does not, `endings` are those that an
    output may have.
    """
    if repeated:
        settings["action"] = "append"
    return _placed(doc, domain, Place((short, long), False, settings))


def argument(doc: str, domain: Any = None, **settings: Any) -> Any:
    """Declare a positional argument, by default one that is required."""
    return _placed(doc, text() if domain is None else domain, Place((), True, settings))


def _placed(doc: str, domain: Any, place: Place) -> Any:
    """Return a declared parameter with its documentation and its place on the command line."""
    return (text(default=None) if domain is None else domain).but(doc=doc, place=place)


class Request(Parameters):
    """What one command asks for: the base class of the requests of all verbs.

    A class may name the `group` of its own options in the help, by a title or by title and description, and `everyday`
    options, which the short help of a verb shows; if a verb's class names none, its own options are.
    """

    EXAMPLE: ClassVar[str] = ""
    MORE_EXAMPLES: ClassVar[tuple[str, ...]] = ()
    DESCRIPTION: ClassVar[str] = ""
    rules: ClassVar[tuple[Rule, ...]] = ()
    typed: type[Request] | None = None  # Class of the request that this one was converted from
    _group: ClassVar[tuple[str, ...]] = ("",)
    _everyday: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(
        cls, group: str | tuple[str, str] = "", everyday: tuple[str, ...] = (), **kwargs: Any
    ) -> None:
        """Note the group of the options that this class declares itself, and the everyday ones."""
        super().__init_subclass__(**kwargs)
        cls._group, cls._everyday = (group,) if isinstance(group, str) else group, everyday

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._parameters and name in vars(self):
            raise AttributeError(f"a request does not change: {name}")
        super().__setattr__(name, value)

    @classmethod
    def verb(cls) -> str:
        """Return the verb."""
        return cls.__name__.removesuffix("Request").lower()

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add all options to a parser: the verb's own first, then those that it inherits, in their groups."""
        done: set[str] = set()
        groups: dict[str, argparse._ActionsContainer] = {"": parser}
        everyday = {name for base in cls.__mro__ for name in vars(base).get("_everyday", ())}
        for base in cls.__mro__:
            declared = vars(base).get("_own_parameters", {})
            own = [name for name in declared if name not in done and cls._parameters[name].place is not None]
            group = vars(base).get("_group", ("",))
            if own and group[0] not in groups:
                groups[group[0]] = parser.add_argument_group(*group)
            for name in own:
                shown = name in everyday or (base is cls and not cls._everyday)
                _add(groups[group[0]], name, cls._parameters[name], shown)
            done.update(own)

    @classmethod
    def of(cls, namespace: argparse.Namespace) -> Self:
        """Return the request that the parsed arguments make, checked as far as possible without data."""
        request = cls(**{name: getattr(namespace, name) for name in cls._parameters})
        request.check_rules()
        return request

    def check_rules(self) -> None:
        """Raise ParameterError for options that conflict."""
        for base in type(self).__mro__:
            for rule in vars(base).get("rules", ()):
                rule(self)

    def but(self, **changes: Any) -> Self:
        """Return this request with other values of some options."""
        return type(self)(**(self.get_params(deep=False) | changes))

    def converted(self, cls: type[Request], **changes: Any) -> Any:
        """Return a request of another verb with the values of the options that both have, and some changes."""
        own = {name: value for name, value in self.get_params(deep=False).items() if name in cls.declarations()}
        made = cls(**own | changes)
        made.typed = type(self)
        return made

    def values(self) -> dict[str, Any]:
        """Return the verb and the value of each option, the identity of the request."""
        return {"verb": self.verb(), **self.get_params(deep=False)}

    def has(self, name: str) -> bool:
        """Return whether an option is given, with a value other than its default; ``name=value``: with this value."""
        name, _, wanted = name.partition("=")
        value = getattr(self, name, None)
        if wanted or value is None or value is False or value == []:
            return bool(wanted) and value == wanted
        return bool(value != self._parameters[name].default)

    def flag(self, name: str) -> str:
        """Return an option as on the command line, also for ``name=value``; an argument's value."""
        name, _, value = name.partition("=")
        if self._parameters[name].place.positional:
            return str(getattr(self, name) if self.has(name) else name)
        return f"{option_names(name, self._parameters[name])[-1]} {value}".rstrip()

    def refuse(self, why: str, *names: str, remedy: str = "") -> None:
        """Raise ParameterError for the first of some options that is given, the ``{option}`` of the remedy."""
        for name in filter(self.has, names):
            remedy = remedy.replace("{option}", self.flag(name)) or f"remove {self.flag(name)}"
            raise ParameterError(f"{self.flag(name)} {why}", remedy=remedy)


def all_of(*rules: Rule) -> tuple[Rule, ...]:
    """Return some rules as the `rules` of a request."""
    return rules


def only_with(owner: str, *names: str, add: str = "") -> Rule:
    """Return the rule that some options need another one, or one of several separated by |; `add` tells how."""
    owners = owner.split("|")

    def check(request: Request) -> None:
        if not any(map(request.has, owners)):
            needed = " or ".join(map(request.flag, owners))
            for name in filter(request.has, names):
                request.refuse(f"needs {needed}", name, remedy=f"add {add or needed}, or remove {request.flag(name)}")

    return check


def excludes(owner: str, *names: str, remedy: str = "") -> Rule:
    """Return the rule that an option does not work with some others, which the remedy removes by default."""

    def check(request: Request) -> None:
        if request.has(owner):
            request.refuse(f"does not work with {request.flag(owner)}", *names, remedy=remedy)

    return check


def study_gives(*names: str, required: tuple[str, ...] = ()) -> Rule:
    """Return the rule that a study, if given, sets some options, of which others are required without a study."""

    def check(request: Request) -> None:
        if request.has("study"):
            request.refuse("is set by --study", *names)
            return
        for name in required:
            if not request.has(name):
                missing = request.flag(name)
                raise ParameterError(f"{missing} is not given", remedy=f"add {missing}, or --study FILE")

    return check


def option_names(name: str, item: Parameter) -> list[str]:
    """Return the names of a declared option, such as -o and --output; the attribute's for an argument."""
    if item.place.positional:
        return [name]
    short, long = item.place.names
    return [*filter(None, [short, long or (f"--{name.replace('_', '-')}" if len(name) > 1 or not short else "")])]


def _add(group: argparse._ActionsContainer, name: str, item: Parameter, everyday: bool) -> None:
    """Add a declared option to a group of a parser."""
    settings = dict(item.place.settings)
    read = settings.pop("read", None)
    settings.pop("endings", None)
    if isinstance(item, Flag):
        settings["action"] = "store_true"
    elif isinstance(item, Choice):
        settings["choices"] = tuple(choice for choice in item.choices if choice is not None)
    elif read is not None or isinstance(item, Number):
        settings["type"] = _reader(name, item, read or NUMBERS[type(item)])
    if not item.place.positional:
        settings |= {"dest": name, "required": item.required}
    elif not item.required:
        settings.setdefault("nargs", "?")
    default = None if item.required else item.default
    names = option_names(name, item)
    action: Any = group.add_argument(*names, default=default, help=item.doc, **settings)
    action.declared, action.everyday = item, everyday or item.place.positional


def _reader(name: str, item: Parameter, read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a function that reads the text of an option, for argparse, and checks that the value is in its domain."""

    def value_of(given: str) -> Any:
        try:
            value = given if given in item.words else read(given)
            item.check(name, value)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error
        return value

    return value_of


COMPLETION = """\
[ -z "$ZSH_VERSION" ] || {{ autoload -U +X compinit && compinit && autoload -U +X bashcompinit && bashcompinit; }}
_seqkern() {{
  local words
  case "${{COMP_WORDS[1]}} ${{COMP_WORDS[COMP_CWORD - 1]}}" in
{cases}
    *) words="{verbs}" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _seqkern seqkern
"""
SHELLS = "bash", "zsh", "fish"


def completion_script(shell: str, verbs: Mapping[str, tuple[str, type[Request]]]) -> str:
    """Return the script by which a shell completes verbs, options and choices; other words are files.

    `verbs` has the summary and the request of each verb.
    """
    cases, fish = [], []
    for verb, (summary, request) in verbs.items():
        options: list[str] = ["--help", "--help-all"]
        fish.append(f"complete -c seqkern -n __fish_use_subcommand -a {verb} -d {shlex.quote(summary)}")
        for name, item in request.declarations().items():
            if item.place is not None and not item.place.positional:
                names = option_names(name, item)
                options += names
                words = " ".join(filter(None, item.choices)) if isinstance(item, Choice) else ""
                takes = "" if isinstance(item, Flag) else f" -x -a {words!r}" if words else " -r"
                flags = " ".join(f"-l {one[2:]}" if one.startswith("--") else f"-s {one[1:]}" for one in names)
                doc = shlex.quote(item.doc.partition(";")[0].partition(" (")[0].replace("%%", "%"))
                fish.append(f"complete -c seqkern -n '__fish_seen_subcommand_from {verb}' {flags}{takes} -d {doc}")
                if takes:
                    patterns = "|".join(f'"{verb} {one}"' for one in names)
                    cases.append(f'    {patterns}) words="{words}" ;;')
        cases.append(f'    "{verb} "*) words="{" ".join(options)}" ;;')
    lines = "".join(f"{line}\n" for line in fish)
    return lines if shell == "fish" else COMPLETION.format(cases="\n".join(cases), verbs=" ".join(verbs))
