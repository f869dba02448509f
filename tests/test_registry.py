"""Classes are found by their names, and no two have one."""

import sys
import types

import pytest

import seqkern.kernels
import seqkern.solvers
from seqkern.core.errors import ParameterError
from seqkern.core.registry import Registry
from seqkern.kernels import KERNELS
from seqkern.solvers import SOLVERS


class Base:
    """A base of registered classes."""

    name = None


@pytest.fixture
def module(monkeypatch):
    """Return an empty module that can be imported."""
    module = types.ModuleType("registered")
    monkeypatch.setitem(sys.modules, "registered", module)
    return module


def registry():
    return Registry("thing", "registered", f"{__name__}:Base")


def test_only_classes_with_a_name_of_their_own(module):
    module.Named = type("Named", (Base,), {"name": "named"})
    module.Nameless = type("Nameless", (Base,), {})
    module.Child = type("Child", (module.Named,), {})
    module.alias = module.Named
    assert registry().classes == {"named": module.Named}
    assert registry().class_names() == ["Named"]


def test_two_classes_of_one_name(module):
    module.First = type("First", (Base,), {"name": "same"})
    module.Second = type("Second", (Base,), {"name": "same"})
    with pytest.raises(ParameterError, match="thing 'same'") as error:
        registry().get("same")
    assert f"{__name__}.First" in str(error.value)
    assert f"{__name__}.Second" in str(error.value)


@pytest.mark.parametrize(("package", "classes"), [(seqkern.kernels, KERNELS), (seqkern.solvers, SOLVERS)])
def test_packages_list_their_classes(package, classes):
    names = dir(package)
    assert names == sorted(set(names))
    assert set(classes.class_names()) < set(names)
    for name in names:
        getattr(package, name)
