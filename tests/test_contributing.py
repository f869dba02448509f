"""The tutorials of CONTRIBUTING.md show the code of the toys, and ARCHITECTURE.md names files that are there."""

import re
from textwrap import dedent, indent

import pytest
from conftest import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SOURCES = [path for path in sorted((ROOT / "tests" / "toys").rglob("*")) if path.suffix in (".py", ".pyx", ".html")]
TOYS = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)


@pytest.mark.parametrize("block", re.findall(r"```(?:python|cython|html)\n(.*?)```", PAGE, re.DOTALL))
def test_code_of_the_tutorials_is_that_of_the_toys(block):
    for piece in re.split(r"\n\n+", block.strip("\n")):
        assert any(indent(dedent(piece), " " * depth) in TOYS for depth in range(0, 24, 4)), piece


def test_files_that_are_named_exist():
    named = re.findall(r"`(tests/[\w/.]+\.py|seqkern/[\w/.]+\.pyi?|[A-Z]+\.md)`", PAGE)
    future = {"seqkern/kernels/kmer/spaced.py"}
    assert named
    assert [name for name in named if name not in future and not (ROOT / name).exists()] == []


def test_modules_and_folders_of_the_architecture_exist():
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = re.findall(r"`([a-z_]+/[\w/]*(?:\.pyi?|\.h|/))`", page)
    assert len(named) > 30
    assert [name for name in named if not any((ROOT / place / name).exists() for place in ("", "seqkern"))] == []
