"""Which mutants are run: see ``run_mutants.py``."""

import ast
import importlib
import pkgutil
import random
from collections import Counter
from pathlib import Path

from mutant_operators import mutants

# package: the tests that are about it
TESTS = {
    "seqkern.evaluation": [
        "tests/evaluation",
        "tests/cli/test_cli_search.py",
        "tests/folds",
        "tests/models/test_cross_validation.py",
        "tests/models/test_crossval.py",
        "tests/report/test_report_residues.py",
    ],
    "seqkern.solvers.psvm": ["tests/solvers/psvm", "tests/solvers/selection/test_psvm_selector.py"],
}


def sample(options):
    """Return (module, tree, mutant) of each package: about ``options.mutants`` in all, by ``options.seed``."""
    found = {package: list(_everything(package, options.only)) for package in TESTS}
    share = options.mutants / max(1, sum(map(len, found.values())))
    drawn = {package: [] for package in TESTS}
    for package, rows in found.items():
        for number, module, tree, mutant in rows:
            # does not depend on other functions
            key = f"{options.seed} {module.__name__} {mutant.qualname} {mutant.text} {number}"
            if random.Random(key).random() < share:
                drawn[package].append((module, tree, mutant))
    return drawn


def _everything(package, only):
    """Yield all mutants of these Python modules of a package, numbered within their functions."""
    outer = importlib.import_module(package)
    for name in [package, *(found.name for found in pkgutil.walk_packages(outer.__path__, f"{package}."))]:
        module = importlib.import_module(name)
        if not (module.__file__.endswith(".py") and only in name):
            continue
        tree = ast.parse(Path(module.__file__).read_bytes())
        numbers = Counter()
        for mutant in mutants(tree):
            numbers[mutant.qualname] += 1
            yield numbers[mutant.qualname], module, tree, mutant
