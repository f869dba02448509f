"""The docstrings of kernels and solvers are their reference: what each computes, how fast, and who published it."""

import re

import pytest

from seqkern.kernels import KERNELS
from seqkern.solvers import SOLVERS

CLASSES = [*KERNELS.classes.values(), *SOLVERS.classes.values()]
PARTS = {
    "a summary of one line": r"[A-Zε-ν][^\n]+\.\n\n",
    "a formula": r"(?s).*\nNotes\n-----\n.*\.\. math::",
    "its complexity": r"(?s).*\nComplexity: ",
    "a reference with a year": r"(?s).*\nReferences\n-{10}\n[^>]*\b(?:19|20)\d\d\b",
}


@pytest.mark.parametrize("part", PARTS)
def test_docstrings_have_all_parts(part):
    assert [cls.__name__ for cls in CLASSES if not re.match(PARTS[part], cls.__doc__)] == []


def test_kernels_say_whether_they_are_definite():
    assert [cls.__name__ for cls in KERNELS.classes.values() if "\nDefiniteness: " not in cls.__doc__] == []


def test_formulas_are_readable_in_a_terminal():
    formulas = [
        (cls.__name__, formula)
        for cls in CLASSES
        for formula in re.findall(r"\.\. math::(.*?)\n\n(?! )", cls.__doc__, re.DOTALL)
    ]
    assert len(formulas) >= len(CLASSES)
    commands = re.compile(r"\\(?:frac|left|right|mathrm|alpha|phi|Phi)\b")
    assert [(name, formula) for name, formula in formulas if commands.search(formula)] == []
