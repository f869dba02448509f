"""The digest of the build: it covers code and resource files, in a checkout and installed, and no folder."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib

import pytest
from conftest import ROOT

from seqkern.core import package_files


@pytest.fixture(params=["checkout", "installed"])
def package(request, tmp_path, monkeypatch):
    """Return the folders of a small package's code and resource files, which `build` takes for its own."""
    code = tmp_path / "seqkern"
    home = code if request.param == "installed" else tmp_path
    resources = home / "resources"
    for folder in (code, resources):
        folder.mkdir(exist_ok=True)
    (code / "build.py").write_text("1")
    (resources / "frequencies.tsv").write_text("2")
    monkeypatch.setattr(package_files, "PACKAGE", code)
    monkeypatch.setattr(package_files, "CHECKOUT", resources if request.param == "checkout" else tmp_path / "none")
    return {"code": code, "resources": resources}


def digest():
    package_files.build_digest.cache_clear()
    try:
        return package_files.build_digest()
    finally:
        package_files.build_digest.cache_clear()


@pytest.mark.parametrize(("folder", "file"), [("code", "build.py"), ("resources", "frequencies.tsv")])
def test_every_file_counts(package, folder, file):
    before = digest()
    path = package[folder] / file
    path.write_text("changed")
    assert digest() != before
    path.unlink()
    assert digest() != before


def test_the_place_and_other_files_do_not_count(package, tmp_path, monkeypatch):
    before = digest()
    (package["code"] / "notes.txt").write_text("of no consequence")
    assert digest() == before
    copy = shutil.copytree(package["code"].parent, tmp_path / "copy")
    monkeypatch.setattr(package_files, "PACKAGE", copy / "seqkern")
    assert digest() == before


def test_the_files_are_read_once(package, monkeypatch):
    (package["code"] / "__pycache__").mkdir()
    monkeypatch.setattr(package_files.sys, "dont_write_bytecode", False)
    first = digest()
    with monkeypatch.context() as patched:
        patched.setattr(package_files, "_digest", lambda files: pytest.fail("read again"))
        assert digest() == first
    (package["code"] / "__pycache__" / "build_digest").write_text("damaged")
    assert digest() == first


def test_a_module_beside_the_resource_files_counts_in_no_installation(tmp_path, monkeypatch):
    """``resources/__init__.py``, which a checkout has outside the package."""
    code = tmp_path / "seqkern"
    (code / "resources").mkdir(parents=True)
    (code / "build.py").write_text("1")
    monkeypatch.setattr(package_files, "PACKAGE", code)
    monkeypatch.setattr(package_files, "PACKAGE", code)
    before = digest()
    (code / "resources" / "__init__.py").write_text("")
    assert digest() == before


TWICE = """def twice(int x):
    \"\"\"Return 2x.\"\"\"
    return 2 * x
"""


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux" or shutil.which("cc") is None, reason="needs a C compiler on Linux")
def test_two_folders_and_two_places_of_python_give_the_same_modules(tmp_path):
    linker = sysconfig.get_config_var("LDSHARED")
    jobs = []
    for folder in ("a", "another/place"):
        package = tmp_path / folder / "seqkern"
        package.mkdir(parents=True)
        shutil.copy(ROOT / "setup.py", package.parent)
        (package / "__init__.py").write_text("")
        (package / "_twice.pyx").write_text(TWICE)
        jobs.append(
            subprocess.Popen(
                [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
                cwd=package.parent,
                env=os.environ | {"LDSHARED": f"{linker} -Wl,-rpath,/home/python/{folder}"},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
    assert [job.wait() for job in jobs] == [0, 0]
    first, second = (
        {path.name: path.read_bytes() for path in (tmp_path / folder / "seqkern").glob("*.so")}
        for folder in ("a", "another/place")
    )
    assert len(first) == 2
    assert first == second


def test_the_resource_files_are_found_here():
    assert "donor_frequencies.tsv" in {path.name for path in package_files.resource_files()}


def test_every_package_is_installed():
    """An installation copies only the packages that pyproject.toml lists."""
    root = ROOT
    listed = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    there = {".".join(path.parent.relative_to(root).parts) for path in root.glob("seqkern/**/__init__.py")}
    data = {f"seqkern.{name}" for name in ("resources", "studies", "workflow", "workflow_profiles")}
    assert there | data == set(listed)
