"""A module put into the package is all that a new kernel or solver takes: the contract suites find and pass it."""

import os
import subprocess
import sys

import pytest
from conftest import ROOT

RUN = """
import sys, pytest, seqkern.{package} as package
package.__path__.append(sys.argv[1])
sys.exit(pytest.main([sys.argv[2], "-q", "-p", "no:cacheprovider", "-k", sys.argv[3]]))
"""


@pytest.mark.parametrize(
    ("package", "suite", "chosen", "least"),
    [("kernels", "test_kernel_contract.py", "toy", 25), ("solvers", "test_solver_contract.py", "MeansClassifier", 60)],
)
def test_a_new_module_passes_the_contract(package, suite, chosen, least):
    tests = ROOT / "tests"
    argv = [sys.executable, "-c", RUN.format(package=package)]
    argv += [str(tests / "toys" / package), str(tests / suite), chosen]
    done = subprocess.run(argv, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    passed = next(part for part in done.stdout.splitlines()[-1].split(", ") if "passed" in part)
    assert int(passed.split()[0]) >= least
