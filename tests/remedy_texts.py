"""All remedies of the package's errors, read from the source, and what they may name."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path
from typing import NamedTuple

import seqkern
from seqkern.cli.main import VERBS, build_parser

ROOT = Path(seqkern.__file__).parent
GAP = "◌"
"""In place of what is known only when the error is raised."""

OTHERS = ("bcftools", "gunzip", "jackhmmer", "pip", "psiblast", "samtools", "sed", "seqtk", "ulimit")
"""Programs whose options remedies name."""


class Remedy(NamedTuple):
    """A remedy, or one of the texts that may become one."""

    module: str
    line: int
    text: str

    def __str__(self):
        return f"{self.module}:{self.line}: {self.text}"


@functools.cache
def remedies():
    """Return every remedy of the package, with `GAP` for each inserted value."""
    return [one for path in sorted(ROOT.rglob("*.py")) for one in _of_module(path)]


def _of_module(path):
    module = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = {
        node.targets[0].id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in ast.walk(tree):
        values = []
        if isinstance(node, ast.Call):
            values = [word.value for word in node.keywords if word.arg in ("remedy", "more")]
        elif isinstance(node, (ast.Assign, ast.AugAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            names = (str(getattr(one, "id", getattr(one, "attr", ""))) for one in ast.walk(target))
            values = [node.value] if any("remed" in name.lower() for name in names) else []
        elif isinstance(node, ast.FunctionDef) and "remed" in node.name:
            values = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return) and inner.value]
        for value in values:
            for text in _texts(value, constants, 0):
                if any(letter.isalpha() for letter in text):
                    yield Remedy(module, node.lineno, " ".join(text.split()))


def _texts(node, constants, depth):
    """Return the texts that an expression may give."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else [GAP]
    if isinstance(node, ast.JoinedStr):
        return _joined([_texts(value, constants, depth) for value in node.values])
    if isinstance(node, ast.FormattedValue):
        return _texts(node.value, constants, depth)
    if isinstance(node, ast.IfExp):
        return _texts(node.body, constants, depth) + _texts(node.orelse, constants, depth)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _joined([_texts(node.left, constants, depth), _texts(node.right, constants, depth)])
    if isinstance(node, (ast.Tuple, ast.List, ast.Dict)):
        parts = node.values if isinstance(node, ast.Dict) else node.elts
        return [text for part in parts for text in _texts(part, constants, depth)]
    if isinstance(node, ast.Name) and node.id in constants and depth < 3:
        value = constants[node.id]
        if isinstance(value, (ast.Constant, ast.JoinedStr, ast.BinOp, ast.IfExp)):
            return _texts(value, constants, depth + 1)
    return [GAP]


def _joined(choices):
    texts = [""]
    for some in choices:
        texts = [before + after for before in texts for after in some][:16]
    return texts


@functools.cache
def options_of(verb):
    """Return the options of a verb."""
    return frozenset(build_parser(verb)._option_string_actions)


def missing_options(text, *verbs):
    """Return the options in a remedy that neither one of the verbs has, nor another verb that the remedy names."""
    text = re.sub(rf"\b({'|'.join(OTHERS)}) [^;)]*", "", text)
    wanted = re.findall(r"(?<![^\s(])--?[a-z][a-z-]*", text)
    if not wanted:
        return []
    named = {word for pair in re.findall(r"seqkern ([a-z]+)|\b([a-z]+) --", text) for word in pair} & set(VERBS)
    named |= {"train"} & set(re.findall("[a-z]+", text))
    known = set().union(*(options_of(verb) for verb in {*verbs, *named}))
    return [option for option in wanted if option not in known]
