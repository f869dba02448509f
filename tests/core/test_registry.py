"""Classes are found by their names in a table, which names every class, and no two have one name."""

import importlib
import inspect
import pkgutil
import sys
import types

import pytest

import seqkern
import seqkern.kernels
import seqkern.solvers
from seqkern.core.errors import ParameterError
from seqkern.core.registry import HOMES, KINDS, Registry, kind_of
from seqkern.gram.transforms import TRANSFORMS
from seqkern.kernels import KERNELS
from seqkern.kernels.feature_transforms import FEATURE_TRANSFORMS
from seqkern.solvers import SOLVERS
from seqkern.solvers.layers import LAYERS
from seqkern.solvers.selection.selectors import SELECTORS

TABLES = KERNELS, SOLVERS, SELECTORS, TRANSFORMS, FEATURE_TRANSFORMS, LAYERS
REGISTRIES = {registry.kind: registry for registry in TABLES}


class Base:
    """A base of registered classes."""

    name = None


@pytest.fixture
def module(monkeypatch):
    """Return a module of one class that can be imported."""
    module = types.ModuleType("registered")
    module.Named = type("Named", (Base,), {"name": "named"})
    monkeypatch.setitem(sys.modules, "registered", module)
    return module


def registry(**table):
    return Registry("thing", f"{__name__}:Base", table)


def test_a_class_is_imported_when_it_is_looked_up(module):
    things = registry(other="no_such_module:Other", named="registered:Named")
    assert things.names == ["named", "other"]
    assert things.class_names() == ["Named", "Other"]
    assert things.get("named") is module.Named
    assert type(things.build("named")) is module.Named
    assert things.base_class is Base
    with pytest.raises(ModuleNotFoundError):
        things.get("other")


def test_unknown_name():
    with pytest.raises(ParameterError, match=r"unknown thing 'name'.*'named'"):
        registry(named="registered:Named").get("name")


def test_a_class_of_ones_own(module):
    things = registry(second="registered:Second")
    things.add("named", "registered:Named")
    assert things.names == ["named", "second"]
    assert things.get("named") is module.Named
    things.add("named", "registered:Named")  # the same again is no other class


def test_two_classes_of_one_name():
    things = registry(same="registered:First")
    with pytest.raises(ParameterError, match="thing 'same'") as error:
        things.add("same", "registered:Second")
    assert "registered:First" in str(error.value)
    assert "registered:Second" in str(error.value)
    assert things.table == {"same": "registered:First"}


def modules_of(package):
    """Yield the modules of a package, compiled ones apart, and those of its packages."""
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not info.name.rpartition(".")[2].startswith("_"):
            yield importlib.import_module(info.name)


def named_classes(kind):
    """Return the lines of a table that the classes of one kind ask for, sorted."""
    return sorted(
        f'"{item.name}": "{item.__module__}:{item.__qualname__}",'
        for module in modules_of(seqkern)
        for item in vars(module).values()
        if inspect.isclass(item)
        and item.__module__ == module.__name__
        and issubclass(item, REGISTRIES[kind].base_class)
        and vars(item).get("name")
    )


@pytest.mark.parametrize("kind", REGISTRIES)
def test_the_table_names_every_class(kind):
    table = [f'"{name}": "{place}",' for name, place in REGISTRIES[kind].table.items()]
    assert table == named_classes(kind), f"the table of each {kind} (*_table.py) needs these lines"


def test_every_kind_is_added_where_it_is_looked_for():
    assert len(list(modules_of(seqkern))) > 100  # all are imported, and add their kinds
    assert {name: kind_of(name).build.__module__ for name in KINDS} == HOMES
    assert {name: kind.registry for name, kind in KINDS.items() if kind.registry is not None} == REGISTRIES


@pytest.mark.parametrize("kind", REGISTRIES)
def test_every_name_is_that_of_its_class(kind):
    assert {name: cls.name for name, cls in REGISTRIES[kind].classes.items()} == {
        name: name for name in REGISTRIES[kind].names
    }


@pytest.mark.parametrize(("package", "classes"), [(seqkern.kernels, KERNELS), (seqkern.solvers, SOLVERS)])
def test_packages_list_their_classes(package, classes):
    names = dir(package)
    assert names == sorted(set(names))
    assert set(classes.class_names()) < set(names)
    for name in names:
        getattr(package, name)
