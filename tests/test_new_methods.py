"""A module and a line in a table are all that a new kernel or solver takes: the contract suites find and pass it.

The modules are those of the tutorials in CONTRIBUTING.md.
"""

import importlib
import os
import shutil
import subprocess
import sys
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT

from seqkern.report.page_frame import environment

TOYS = ROOT / "tests" / "toys"
PLACES = {  # the line of each toy in a table, with its package
    "toy-composition": "kernels.composition:CompositionKernel",
    "toy-spaced": "kernels.spaced:SpacedKernel",
    "toy-common-substrings": "kernels.common_substrings:CommonSubstringsKernel",
    "toy-means": "solvers.means:MeansClassifier",
}
SUITES = ["kernels/test_kernel_contract.py", "solvers/test_solver_contract.py"]
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
import sys, seqkern.kernels, seqkern.solvers
seqkern.kernels.__path__.extend([{toys!r} + "/kernels", {compiled!r}])
seqkern.solvers.__path__.append({toys!r} + "/solvers")
for name, place in {places!r}.items():
    package = getattr(seqkern, place.partition(".")[0])
    getattr(package, place.partition(".")[0].upper()).add(name, "seqkern." + place)
"""
RUN = """
import pytest
from seqkern.core.registry import Registry
everything = Registry.classes.fget
# the suites make cases of these alone
Registry.classes = property(lambda table: {{k: v for k, v in everything(table).items() if k.startswith("toy-")}})
options = ["-q", "-rp", "-p", "no:cacheprovider", "--all-cases", "-k", "toy or MeansClassifier"]
sys.exit(pytest.main([*{suites!r}, *options]))
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Return a folder with the compiled modules of the toys."""
    pytest.importorskip("Cython")
    pytest.importorskip("setuptools")
    folder = tmp_path_factory.mktemp("toys")
    name = "common_substrings"
    (folder / f"_{name}.pyx").write_text((TOYS / "kernels" / f"_{name}.pyx").read_text())
    fast = os.environ | {"CFLAGS": os.environ.get("CFLAGS", "") + " -O0"}  # to compile, not to run
    subprocess.run([sys.executable, "-c", COMPILE, name], cwd=folder, check=True, capture_output=True, env=fast)
    return folder


def with_toys(compiled, code):
    """Run `code` in a new process in which the toys are known; return its output."""
    added = ADD.format(places=PLACES, toys=str(TOYS), compiled=str(compiled))
    done = subprocess.run([sys.executable, "-c", added + code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def passed(compiled):
    """Return the names of the cases that the toys pass in the contract suites."""
    out = with_toys(compiled, RUN.format(suites=[str(ROOT / "tests" / suite) for suite in SUITES]))
    return [line for line in out.splitlines() if line.startswith("PASSED ")]


@pytest.mark.parametrize(
    ("suite", "toy", "least"),
    [
        ("test_kernel_contract", "toy-composition", 19),
        ("test_kernel_contract", "toy-spaced", 67),
        ("test_kernel_contract", "toy-common-substrings", 60),
        ("test_solver_contract", "MeansClassifier", 73),
    ],
)
def test_a_new_module_passes_the_contract(passed, suite, toy, least):
    assert sum(suite in name and toy in name for name in passed) >= least


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
    out = with_toys(compiled, code)
    expected = [naive_common_substrings(x, y, 0.8) for x in sequences for y in sequences]
    assert np.array(out.split(), dtype=float) == pytest.approx(expected, rel=1e-12)


ENTRY_POINTS = """
[seqkern.kernels]
toy-composition = toy_methods.kernels.composition:CompositionKernel
toy-spaced = toy_methods.kernels.spaced:SpacedKernel
[seqkern.solvers]
toy-means = toy_methods.solvers.means:MeansClassifier
[seqkern.verbs]
greet = toy_methods.greet
"""
CLASSES = {"a": "ACACACAC", "b": "GTTGTTGG"}
METHOD = ("--kernel", "toy-spaced:k=2", "--solver", "toy-means")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return a folder of installed distributions, with one of kernels, a solver and a verb."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(TOYS, folder / "toy_methods", ignore=shutil.ignore_patterns("common_substrings*", "__pycache__"))
    info = folder / "toy_methods-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-methods\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    return folder


@pytest.fixture
def seqkern_with(installed, tmp_path):
    """Return a function that runs the command line where the distribution is installed, and returns its output."""

    def run(*args):
        command = [sys.executable, "-c", "import sys; from seqkern.cli.main import main; sys.exit(main())", *args]
        paths = os.environ | {"PYTHONPATH": f"{installed}{os.pathsep}{ROOT}"}
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=paths)
        return done.stdout if done.returncode == 0 else done.stderr

    return run


def test_another_distribution_adds_kernels_solvers_and_verbs(seqkern_with, tmp_path):
    assert "\ntoy-spaced" in seqkern_with("kernels")
    assert "step" in seqkern_with("kernels", "toy-spaced")
    assert "toy-means" in seqkern_with("solvers")
    assert seqkern_with("greet", "you", "--again") == "hello hello you\n"
    assert (
        seqkern_with("greet", "you", "--times", "3")
        == "seqkern: --times needs --again; add --again, or remove --times\n"
    )
    assert "give an integer at least 2" in seqkern_with("greet", "you", "--times", "1")
    assert "number of greetings" in seqkern_with("greet", "--help")
    fasta = (f">{name}{i} label={name}\n{word}{'ACGT'[i % 4]}\n" for name, word in CLASSES.items() for i in range(8))
    (tmp_path / "both.fa").write_text("".join(fasta))
    trained = seqkern_with("train", "both.fa", "--labels", "header", "--positive", "b", *METHOD, "-o", "model.skm")
    assert "toy-means" in trained, trained
    assert len(seqkern_with("predict", "model.skm", "both.fa").splitlines()) == 1 + 16


def test_what_cannot_be_imported_is_told_in_one_line_and_left_out_of_lists(tmp_path):
    (tmp_path / "broken_toys.py").write_text("import no_such_module\n")
    info = tmp_path / "broken_toys-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-toys\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[seqkern.kernels]\nbroken = broken_toys:Kernel\nunnamed = broken_toys\n[seqkern.verbs]\nbreak = broken_toys\n"
    )
    (tmp_path / "some.fa").write_text(">a\nACGT\n")

    def run(*args):
        paths = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
        command = [sys.executable, "-m", "seqkern.cli.main", *args]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=paths)

    listed = run("kernels")
    assert listed.returncode == 0
    assert "\nspectrum" in listed.stdout
    assert "broken" not in listed.stdout
    assert listed.stderr.count("cannot be imported: No module named 'no_such_module'") == 2
    for args in (["gram", "some.fa", "--kernel", "broken", "-o", "g.npy"], ["break"], ["break", "--help"]):
        refused = run(*args)
        assert refused.returncode == 1
        assert refused.stderr.startswith("seqkern: ")
        assert refused.stderr.endswith("; repair or uninstall the distribution of broken_toys\n")
        assert refused.stderr.count("\n") == 1


def test_a_section_is_a_function_and_a_block_of_its_template(monkeypatch):
    monkeypatch.syspath_prepend(TOYS / "report")
    loader = environment().loader
    monkeypatch.setattr(loader, "searchpath", [*loader.searchpath, str(TOYS / "report")])
    lengths_section = importlib.import_module("lengths").lengths_section
    view = SimpleNamespace(anchor="d", dataset=SimpleNamespace(summary={"length": {"median": 120}}))
    assert "<h3>Lengths</h3>" in lengths_section(view)
    assert "<p>The median length is 120.</p>" in lengths_section(view)
    view.dataset.summary = None
    assert lengths_section(view) is None
