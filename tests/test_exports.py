"""The stubs ``__init__.pyi`` say what is public: for Python, which imports it on first use, and for type checkers."""

import ast
import importlib
import sys
import tomllib

import pytest
from conftest import ROOT

from seqkern.core.former_names import FORMER
from seqkern.gram.transforms import TRANSFORMS
from seqkern.kernels import KERNELS
from seqkern.kernels.feature_transforms import FEATURE_TRANSFORMS
from seqkern.solvers import SOLVERS
from seqkern.solvers.layers import LAYERS
from seqkern.solvers.selection.selectors import SELECTORS

REGISTRIES = {
    "KERNELS": KERNELS,
    "SOLVERS": SOLVERS,
    "SELECTORS": SELECTORS,
    "TRANSFORMS": TRANSFORMS,
    "FEATURE_TRANSFORMS": FEATURE_TRANSFORMS,
    "LAYERS": LAYERS,
}
STUBS = {".".join(path.relative_to(ROOT).parts[:-1]): path for path in sorted((ROOT / "seqkern").rglob("__init__.pyi"))}


def exports(package):
    """Yield (name, module) of each name that a stub takes from a module of its package."""
    for statement in ast.parse(STUBS[package].read_text()).body:
        if isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                assert alias.asname == alias.name, f"{alias.name}: without `as`, a stub keeps a name to itself"
                yield alias.name, f"{package}.{statement.module}"


@pytest.mark.parametrize("package", STUBS)
def test_every_public_name_is_where_its_stub_says(package):
    imported = importlib.import_module(package)
    named = dict(exports(package))
    assert sorted({*imported.__all__} - {"__version__"}) == sorted(named)
    for name, module in named.items():
        assert getattr(imported, name) is getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("name", REGISTRIES)
def test_every_class_of_a_table_is_public(name):
    packages = [package for package in STUBS if name in dict(exports(package))]
    assert len(packages) == 1
    public = dict(exports(packages[0]))
    for place in REGISTRIES[name].table.values():
        module, _, cls = place.partition(":")
        line = f"from {module.removeprefix(packages[0])} import {cls} as {cls}"
        assert public.get(cls) == module, f"{STUBS[packages[0]]} needs the line: {line}"


def test_unknown_names_are_refused():
    with pytest.raises(ImportError, match="NoSuchKernel"):
        from seqkern.kernels import NoSuchKernel  # noqa: F401


@pytest.mark.nightly
def test_a_type_checker_knows_every_public_name(monkeypatch):
    api = pytest.importorskip("mypy.api")
    code = "from seqkern.kernels import SpectrumKernel, NoSuchKernel\nfrom seqkern.solvers import CSVC"
    monkeypatch.chdir(ROOT)
    # without other packages, whose types take most of the time
    options = ["--config-file=", "--no-site-packages", "--follow-imports=silent", "--ignore-missing-imports"]
    said, _, _ = api.run([*options, "--no-incremental", "-c", code])
    errors = [line for line in said.splitlines() if " error: " in line]
    assert len(errors) == 1
    assert 'Module "seqkern.kernels" has no attribute "NoSuchKernel"' in errors[0]


def test_stubs_and_the_mark_of_types_are_installed():
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    patterns = setuptools["package-data"]
    assert "py.typed" in patterns["seqkern"]
    for package in STUBS:
        assert package in setuptools["packages"]
        assert "*.pyi" in patterns.get(package, []) + patterns.get("*", [])


@pytest.mark.parametrize("name", FORMER)
def test_a_former_package_works_with_a_notice(name, monkeypatch):
    monkeypatch.delitem(sys.modules, f"seqkern.{name}", raising=False)
    with pytest.warns(DeprecationWarning, match=rf"seqkern.{name} is now seqkern.{FORMER[name]}; the former name goes"):
        former = importlib.import_module(f"seqkern.{name}")
    new = importlib.import_module(f"seqkern.{FORMER[name]}")
    assert {getattr(former, public) is getattr(new, public) for public in new.__all__} == {True}
