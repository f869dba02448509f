"""One page for each verb of the command line, from its argparse parser."""

import argparse
import textwrap

import rst

from seqkern.cli.main import VERBS, build_parser


def pages() -> dict[str, str]:
    """Return the pages by file name."""
    found = {f"cli-{verb}.rst": page(verb) for verb in VERBS}
    rows = [(f":doc:`cli-{verb}`", rst.escape(summary)) for verb, (summary, *_) in VERBS.items()]
    text = (
        rst.title("Command line")
        + "\nThe exit code is 0, 1 (an error in the input) or 2 (wrong usage). An error is one line on standard error "
        "that names the file, the record and the remedy. ``seqkern --completion bash`` (or ``zsh``, ``fish``) prints "
        "a script by which the shell completes verbs, options and choices: ``source <(seqkern --completion bash)``, in "
        "fish ``seqkern --completion fish | source``.\n\n"
        + rst.table(("verb", "what it does"), rows, "20 80")
        + "\n"
        + rst.toctree(f"cli-{verb}" for verb in VERBS)
    )
    return {"cli.rst": text, **found}


def page(verb: str) -> str:
    """Return the page of a verb."""
    parser = build_parser(verb)
    program = f"seqkern {verb}"
    parts = [rst.title(program), rst.escape(parser.description or ""), ""]
    usage = parser.format_usage().removeprefix("usage: ").replace("\n       ", "\n")
    parts += [rst.block(usage), f".. program:: {program}\n"]
    for group in parser._action_groups:
        actions = [action for action in group._group_actions if action.dest != "help"]
        if not actions:
            continue
        parts.append(rst.title(heading(group.title or ""), "-"))
        if group.description:
            parts.append(rst.block(textwrap.dedent(group.description)))
        parts += [option(action, parser) for action in actions]
    examples = (parser.epilog or "").removeprefix("example:").strip("\n")
    if examples.strip():
        parts += [rst.title("Examples", "-"), rst.block(textwrap.dedent(examples), "bash")]
    return "\n".join(parts)


def heading(text: str) -> str:
    """Return text with a capital at its start; names inside keep theirs."""
    return text[:1].upper() + text[1:]


def option(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    """Return the directive of an argument, with its help."""
    if action.option_strings:
        value = parser._get_formatter()._format_args(action, action.dest.upper()) if action.nargs != 0 else ""
        names = ", ".join(f"{name} {value}".strip() for name in action.option_strings)
    else:
        names = action.metavar if isinstance(action.metavar, str) else action.dest
    text = rst.escape((action.help or "") % {"default": action.default, "prog": parser.prog})
    return f".. option:: {names}\n\n{textwrap.indent(text, '   ')}\n"
