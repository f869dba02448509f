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
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.name)
def test_a_docstring_has_all_parts(cls, part):
    assert re.match(PARTS[part], cls.__doc__), f"{cls.__name__} lacks {part}"


@pytest.mark.parametrize("cls", KERNELS.classes.values(), ids=lambda cls: cls.name)
def test_a_kernel_says_whether_it_is_definite(cls):
    assert "\nDefiniteness: " in cls.__doc__


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.name)
def test_formulas_are_readable_in_a_terminal(cls):
    formulas = re.findall(r"\.\. math::(.*?)\n\n(?! )", cls.__doc__, re.DOTALL)
    assert not [formula for formula in formulas if re.search(r"\\(?:frac|left|right|mathrm|alpha|phi|Phi)\b", formula)]
