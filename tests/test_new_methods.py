"""A module and a line in a table are all that a new kernel or solver takes: the contract suites find and pass it."""

import os
import subprocess
import sys

import pytest
from conftest import ROOT

RUN = """
import sys, pytest, seqkern.{package} as package
package.__path__.append(sys.argv[1])
package.{registry}.add({name!r}, {place!r})
sys.exit(pytest.main([sys.argv[2], "-q", "-p", "no:cacheprovider", "-k", sys.argv[3]]))
"""


@pytest.mark.parametrize(
    ("package", "line", "suite", "chosen", "least"),
    [
        ("kernels", "toy-composition=composition:CompositionKernel", "test_kernel_contract.py", "toy", 25),
        ("solvers", "toy-means=means:MeansClassifier", "test_solver_contract.py", "MeansClassifier", 60),
    ],
)
def test_a_new_module_passes_the_contract(package, line, suite, chosen, least):
    tests = ROOT / "tests"
    name, place = line.split("=")
    code = RUN.format(package=package, registry=package.upper(), name=name, place=f"seqkern.{package}.{place}")
    argv = [sys.executable, "-c", code]
    argv += [str(tests / "toys" / package), str(tests / suite), chosen]
    done = subprocess.run(argv, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    passed = next(part for part in done.stdout.splitlines()[-1].split(", ") if "passed" in part)
    assert int(passed.split()[0]) >= least
