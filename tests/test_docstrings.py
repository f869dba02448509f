"""Every public function says its types, and every example in a docstring runs."""

import ast
import doctest
import importlib

import pytest
from conftest import ROOT

PACKAGE = ROOT / "seqkern"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
WITH_EXAMPLES = [name for name, path in MODULES.items() if ">>>" in path.read_text(encoding="utf-8")]


def public_functions(body, prefix=""):
    """Yield the qualified name and the node of public functions and of methods of public classes."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef) and (not node.name.startswith("_") or node.name.endswith("__")):
            yield prefix + node.name, node


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_run(name):
    failed, ran = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert ran
    assert not failed


@pytest.mark.parametrize("name", MODULES)
def test_public_functions_are_annotated(name):
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    lacking = []
    for function, node in public_functions(tree.body):
        parts = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        names = [one.arg for one in parts if one and one.annotation is None and one.arg not in ("self", "cls")]
        if names or node.returns is None:
            lacking.append(function)
    assert lacking == []
