"""Imports stand at the top of a module, or inside a function where a comment says why."""

import ast
import re

from conftest import ROOT


def test_imports_inside_functions_have_a_reason():
    paths = sorted((ROOT / "seqkern").rglob("*.py"))
    assert [place for path in paths for place in unexplained(path)] == []


def unexplained(path):
    """Return the imports inside functions of a module that stand beside no comment."""
    source = path.read_text(encoding="utf-8")
    if not re.search(r"^ +(from|import) ", source, re.MULTILINE):
        return []
    lines, bare, explained = source.split("\n"), [], set()
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    found = {
        node.lineno: node
        for one in functions
        for node in ast.walk(one)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    for first, node in sorted(found.items()):
        own = any("#" in line for line in lines[first - 1 : node.end_lineno])
        # one comment, above or at the first, holds for the imports that follow it directly
        if own or lines[first - 2].strip().startswith("#") or first - 1 in explained:
            explained.add(node.end_lineno)
        else:
            bare.append(f"{path.relative_to(ROOT)}:{first}: {lines[first - 1].strip()}")
    return bare
