"""A module and a line in a table are all that a new kernel or solver takes: the contract suites find and pass it.

The modules are those of the tutorials in CONTRIBUTING.md.
"""

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from conftest import ROOT

TOYS = ROOT / "tests" / "toys"
COMPILE = """
import sys
from Cython.Build import cythonize
from setuptools import Extension, setup
setup(
    ext_modules=cythonize([Extension("_" + sys.argv[1], [f"_{sys.argv[1]}.pyx"])], language_level=3),
    script_args=["-q", "build_ext", "--inplace"],
)
"""
ADD = """
import sys, seqkern.{package} as package
package.__path__.extend([{toys!r}, {compiled!r}])
package.{registry}.add({name!r}, {place!r})
"""
RUN = """
import pytest
sys.exit(pytest.main([{suite!r}, "-q", "-p", "no:cacheprovider", "-k", {chosen!r}]))
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Return a folder with the compiled modules of the toys."""
    pytest.importorskip("Cython")
    pytest.importorskip("setuptools")
    folder = tmp_path_factory.mktemp("toys")
    name = "common_substrings"
    (folder / f"_{name}.pyx").write_text((TOYS / "kernels" / f"_{name}.pyx").read_text())
    subprocess.run([sys.executable, "-c", COMPILE, name], cwd=folder, check=True, capture_output=True)
    return folder


def with_toy(compiled, package, line, code):
    """Run `code` in a new process in which the toy is known; return its output."""
    name, place = line.split("=")
    place = f"seqkern.{package}.{place}"
    values = {"package": package, "registry": package.upper(), "name": name, "place": place}
    added = ADD.format(**values, toys=str(TOYS / package), compiled=str(compiled))
    done = subprocess.run([sys.executable, "-c", added + code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("package", "line", "suite", "chosen", "least"),
    [
        ("kernels", "toy-composition=composition:CompositionKernel", "kernels/test_kernel_contract.py", "toy", 25),
        ("kernels", "toy-spaced=spaced:SpacedKernel", "kernels/test_kernel_contract.py", "toy", 80),
        (
            "kernels",
            "toy-common-substrings=common_substrings:CommonSubstringsKernel",
            "kernels/test_kernel_contract.py",
            "toy",
            70,
        ),
        ("solvers", "toy-means=means:MeansClassifier", "solvers/test_solver_contract.py", "MeansClassifier", 60),
    ],
)
def test_a_new_module_passes_the_contract(compiled, package, line, suite, chosen, least):
    code = RUN.format(suite=str(ROOT / "tests" / suite), chosen=chosen)
    out = with_toy(compiled, package, line, code)
    passed = next(part for part in out.splitlines()[-1].split(", ") if "passed" in part)
    assert int(passed.split()[0]) >= least


def naive_common_substrings(x, y, decay):
    """Return the kernel from its definition: over all strings, how often each occurs in both."""
    counts = [Counter(s[i:j] for i in range(len(s)) for j in range(i + 1, len(s) + 1)) for s in (x, y)]
    return sum(decay ** (2 * len(u)) * n * counts[1][u] for u, n in counts[0].items())


def test_the_pair_kernel_of_the_tutorial_has_the_values_of_its_definition(compiled):
    sequences = ["GATTACA", "ATTAG", "CC"]
    code = f"""
from seqkern.kernels import build_kernel
kernel = build_kernel({{"kernel": "toy-common-substrings", "decay": 0.8, "normalize": False}})
print(*kernel({sequences!r}).ravel().tolist())
"""
    line = "toy-common-substrings=common_substrings:CommonSubstringsKernel"
    out = with_toy(compiled, "kernels", line, code)
    expected = [naive_common_substrings(x, y, 0.8) for x in sequences for y in sequences]
    assert np.array(out.split(), dtype=float) == pytest.approx(expected, rel=1e-12)
