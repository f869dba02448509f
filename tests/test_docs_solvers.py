"""docs/solvers.md names every solver where it belongs, with its parameters and their defaults."""

import inspect
import re

from conftest import ROOT

from seqkern.cli.listing import _parameter
from seqkern.solvers import SOLVERS
from seqkern.solvers.layers import LAYERS

HEADINGS = {"Two classes": "binary", "Several classes": "multiclass", "Real labels": "real", "No labels": "none"}
TECHNICAL = {"tol", "max_iter", "max_epochs", "seed", "cache_size"}


def rows():
    """Return the rows of the tables of solvers: heading, name, parameters."""
    found = []
    for part in (ROOT / "docs" / "solvers.md").read_text().split("\n## ")[1:]:
        heading, *lines = part.splitlines()
        for line in lines if heading in HEADINGS else ():
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if cells and cells[0].startswith("`"):
                found.append((heading, cells[0].strip("`"), re.findall(r"`([^`]*)`", cells[2])))
    return found


def test_every_solver_has_one_row():
    assert sorted(name for _, name, _ in rows()) == sorted(SOLVERS.classes)


def test_rows_are_true():
    for heading, name, parameters in rows():
        cls = SOLVERS.get(name)
        assert HEADINGS[heading] == cls.targets[0], name
        texts = [_parameter(parameter) for parameter in inspect.signature(cls).parameters.values()]
        assert parameters == [text for text in texts if text.split("=")[0] not in TECHNICAL], name


def test_every_layer_has_its_parameters():
    part = (ROOT / "docs" / "solvers.md").read_text().split("\n## Layers after a solver")[1].split("\n## ")[0]
    found = {}
    for line in part.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells and cells[0].startswith("`"):
            found[cells[0].strip("`")] = re.findall(r"`([^`]*)`", cells[2])
    expected = {
        name: [_parameter(parameter) for parameter in inspect.signature(cls).parameters.values()]
        for name, cls in LAYERS.classes.items()
    }
    assert found == {
        name: [text for text in texts if text.split("=")[0] not in TECHNICAL] for name, texts in expected.items()
    }
