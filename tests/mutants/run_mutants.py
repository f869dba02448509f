"""Mutation testing: ``run_mutants.py --mutants 300 --seed 7``: changes of the code that no test notices.

The tests of a package are collected once and run once, which tells the lines that each test reaches. Then each mutant
is a fork of that process: the code of one function is replaced in place, and the tests that reach the changed line run,
the fastest first, until one fails. Prints each survivor, and a table of modules.
"""

import argparse
import contextlib
import gc
import importlib
import os
import sys
import tempfile
import types
from collections import Counter
from pathlib import Path

import pytest
from mutant_forks import in_fork, outcome, reached
from mutant_sample import TESTS, sample

ROOT = Path(__file__).resolve().parents[2]


VERDICTS = ("killed", "survived", "not reached")


class Mutating:
    """A plugin that runs the collected tests on mutants, instead of running them."""

    def __init__(self, package, chosen, options):
        self.package, self.chosen, self.options, self.results = package, chosen, options, []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        """Run the tests as they are, then on each mutant of the sample."""
        files = {module.__file__ for module, _, _ in self.chosen}
        lines, modules = in_fork(lambda: reached(session.items, files, self.options.slowest), 3600)
        for name in modules:
            # once here, instead of in every fork
            if name.partition(".")[0] in ("seqkern", "numpy", "scipy", "sklearn", "pandas"):
                with contextlib.suppress(ImportError):
                    importlib.import_module(name)
        gc.unfreeze()
        functions = _functions(files)
        # the collector of a fork does not visit what is here, which would copy its pages
        gc.freeze()
        passing = [(item, *lines[item.nodeid]) for item in session.items if item.nodeid in lines]
        print(f"{self.package}: {len(passing)} quick tests pass, {len(self.chosen)} mutants", flush=True)
        for module, tree, mutant in self.chosen:
            if not any((module.__file__, mutant.qualname) == place[:2] for place in functions):
                raise RuntimeError(f"no function {module.__name__}.{mutant.qualname}")
            wanted = {(module.__file__, line) for line in range(mutant.first, mutant.last + 1)}
            tests = sorted((test for test in passing if test[2] & wanted), key=lambda test: test[1])
            verdict = outcome(module, tree, mutant, functions, tests)
            if verdict is None:
                continue
            self.results.append((module.__name__, verdict))
            if verdict != "killed" or self.options.verbose:
                place = f"{Path(module.__file__).name}:{mutant.node.lineno}"
                print(f"{verdict:11} {place} {mutant.qualname}: {mutant.text}", flush=True)
        return True


def _functions(files):
    """Return the functions of the modules by file, qualified name and first line of their code."""
    found = {}
    for item in gc.get_objects():
        if isinstance(item, types.FunctionType) and item.__code__.co_filename in files:
            code = item.__code__
            found.setdefault((code.co_filename, code.co_qualname, code.co_firstlineno), []).append(item)
    return found


def run(options):
    """Return the results of all packages; None if their tests could not be collected."""
    results = []
    for package, chosen in sample(options).items():
        if not chosen:
            continue
        plugin = Mutating(package, chosen, options)
        arguments = [
            "-q",
            "-n",
            "0",
            "-p",
            "no:cacheprovider",
            "--hypothesis-seed=0",
            "-c",
            str(ROOT / "pyproject.toml"),
        ]
        status = pytest.main([*arguments, *(str(ROOT / path) for path in TESTS[package])], plugins=[plugin])
        if status != pytest.ExitCode.OK:
            return None
        results += plugin.results
    return results


def table(results):
    """Return lines of modules and what became of their mutants."""
    rows = [f"| module | mutants | {' | '.join(VERDICTS)} |", "|---|---:|---:|---:|---:|"]
    for name in [*sorted({name for name, _ in results}), ""]:
        counts = Counter(verdict for module, verdict in results if name in (module, ""))
        rows.append(f"| {name or 'all'} | {counts.total()} | {' | '.join(str(counts[v]) for v in VERDICTS)} |")
    return rows


def main():
    """Print survivors and a table; the exit status is 1 if the share of killed mutants is below ``--at-least``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=float, default=300, help="in all packages, in proportion to those of each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--slowest", type=float, default=2.0, help="leave out tests that take longer, in CPU seconds")
    parser.add_argument("--at-least", type=float, default=0.0, help="percent of mutants to be killed")
    parser.add_argument("--only", default="", help="modules whose name contains this")
    parser.add_argument("--verbose", action="store_true", help="print killed mutants, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # what fails on a mutant is not to be tried again on the code
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = folder
        results = run(options)
    if results is None:
        return 2
    print(*table(results), sep="\n")
    score = 100 * sum(verdict == "killed" for _, verdict in results) / max(1, len(results))
    print(f"killed: {score:.1f}%")
    return int(score < options.at_least)


if __name__ == "__main__":
    sys.exit(main())
