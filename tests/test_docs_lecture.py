"""docs/explanation/lecture.md names methods and tests that exist."""

import importlib
import re

from conftest import ROOT

from seqkern.gram.transforms import TRANSFORMS
from seqkern.kernels import KERNELS
from seqkern.kernels.feature_transforms.transforms import FEATURE_TRANSFORMS
from seqkern.solvers import SOLVERS
from seqkern.solvers.layers import LAYERS
from seqkern.solvers.selection.selectors import SELECTORS

TEXT = (ROOT / "docs" / "explanation" / "lecture.md").read_text()


def test_all_tests_exist():
    named = set(re.findall(r"`([a-z_/0-9]+\.py)(?:::(\w+))?`", TEXT))
    assert len(named) > 50
    texts = {file: (ROOT / "tests" / file).read_text() for file, _ in named}
    assert [(file, name) for file, name in named if name and f"\ndef {name}(" not in texts[file]] == []


def test_every_kernel_solver_and_selector_is_known():
    rows = [line.split("|") for line in TEXT.splitlines() if line.startswith("| ") and "`" in line]
    names = {name for row in rows for name in re.findall(r"`([a-z_0-9]+)[:`]", row[2])}
    tables = (KERNELS, SOLVERS, SELECTORS, TRANSFORMS, FEATURE_TRANSFORMS, LAYERS)
    known = {name for table in tables for name in table.names}
    others = {"scaler", "five_by_two_f", "span", "xi_alpha", "radius_margin", "fits", "inner"}
    assert names - known - others == set()


def test_functions_import():
    named = re.findall(r"`(seqkern\.[a-z_.]+)`", TEXT)
    assert len(named) >= 5
    places = [name.rpartition(".") for name in named]
    assert [(module, name) for module, _, name in places if not hasattr(importlib.import_module(module), name)] == []
