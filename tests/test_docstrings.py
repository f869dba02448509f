"""Public names are documented in full, functions say their types, and every example runs."""

import ast
import doctest
import importlib
import re

import pytest
from conftest import ROOT

PACKAGE = ROOT / "seqkern"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
STUBS = sorted(PACKAGE.rglob("__init__.pyi"))
PUBLIC = [
    ".".join(stub.parent.relative_to(ROOT).parts) + "." + name
    for stub in STUBS
    for name in re.findall(r"^from \S+ import \w+ as (\w+)$", stub.read_text(encoding="utf-8"), re.MULTILINE)
]
# known sections in order, documented, all parameters listed
CHECKS = {"GL06", "GL07", "GL08", "PR01", "PR02", "PR10", "SS03", "YD01"}
# examples too long for a docstring: a line names the module and what they are of
EXAMPLES = sorted((ROOT / "tests" / "examples").glob("*.txt"))
WITH_EXAMPLES = [name for name, path in MODULES.items() if ">>>" in path.read_text(encoding="utf-8")]


def public_functions(body, prefix=""):
    """Yield the qualified name and the node of public functions and of methods of public classes."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef) and (not node.name.startswith("_") or node.name.endswith("__")):
            yield prefix + node.name, node


@pytest.mark.parametrize("package", sorted({name.split(".")[1] for name in WITH_EXAMPLES}))
def test_examples_run(package):
    chosen = [name for name in WITH_EXAMPLES if name.split(".")[1] == package]
    ran = {name: doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS) for name in chosen}
    assert [name for name, result in ran.items() if result.failed or not result.attempted] == []


def test_public_functions_are_annotated():
    lacking = []
    for name, path in MODULES.items():
        for function, node in public_functions(ast.parse(path.read_text(encoding="utf-8")).body):
            parts = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
            names = [one.arg for one in parts if one and one.annotation is None and one.arg not in ("self", "cls")]
            if names or node.returns is None:
                lacking.append(f"{name}.{function}")
    assert lacking == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_long_examples_run(path):
    parts = re.split(r"^(seqkern[\w.]*): (\S+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for module, name, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        names = vars(importlib.import_module(module)).copy()
        runner.run(doctest.DocTestParser().get_doctest(text, names, f"{module}.{name}", str(path), 0))
    assert runner.summarize().attempted
    assert not runner.failures


def test_public_names_are_documented_in_full(monkeypatch):
    numpydoc = pytest.importorskip("numpydoc.validate")
    # which line a name is defined on, and comments that ignore errors: most of the time, and we use neither
    monkeypatch.setattr(numpydoc.Validator, "source_file_def_line", None, raising=False)
    monkeypatch.setattr(numpydoc, "extract_ignore_validation_comments", lambda *_, **__: {}, raising=False)
    lacking = []
    for name in PUBLIC:
        package, _, last = name.rpartition(".")
        public = getattr(importlib.import_module(package), last)
        # parameters of classes are declared, or attributes of dataclasses; the rest are tables of classes
        checks = CHECKS - {"PR01", "PR02"} if isinstance(public, type) else CHECKS if callable(public) else set()
        lacking += [(name, *error) for error in numpydoc.validate(name)["errors"] if error[0] in checks]
    assert lacking == []
