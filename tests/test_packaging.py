"""What is said in several places about the package: its version, its dependencies, the commands of CI."""

import json
import os
import re
import subprocess
import sys
import tomllib

import pytest
import yaml
from conftest import ROOT

import seqkern

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RECIPE = (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8")
# conda's names of packages that PyPI knows by another
CONDA = {"matplotlib": "matplotlib-base", "snakemake": "snakemake-minimal", "xxhash": "python-xxhash"}


def recipe_section(title):
    """Return the packages listed under a title of the recipe."""
    return re.findall(r"^ +- (.+)$", re.search(rf"^ +{title}:\n((?: +- .+\n)+)", RECIPE, re.MULTILINE)[1], re.MULTILINE)


def test_the_conda_recipe_needs_what_the_package_needs():
    wanted = []
    for requirement in PROJECT["dependencies"]:
        name, version = requirement.split(">=")
        wanted.append(f"{CONDA.get(name, name)} >={version}")
    assert recipe_section("run") == ["python", *wanted]
    optional = PROJECT["optional-dependencies"]["embeddings"]
    assert re.findall(r"^ +- (\w+ >=.+)$", RECIPE.split("run_constrained:")[1].split("test:")[0], re.MULTILINE) == [
        requirement.replace(">=", " >=") for requirement in optional
    ]
    assert set(optional) <= set(PROJECT["optional-dependencies"]["test"])
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    assert recipe_section("host")[2:] == [requirement.replace(">=", " >=") for requirement in build]


def test_one_version():
    assert f'version = "{seqkern.__version__}"' in RECIPE
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == seqkern.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## \[?([\d.]+)", changelog, re.MULTILINE)[1] == seqkern.__version__


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.stem)
def test_the_scripts_that_ci_runs_are_there(path):
    steps = [step for job in yaml.safe_load(path.read_text())["jobs"].values() for step in job.get("steps", [])]
    commands = " ".join(step["run"] for step in steps if "run" in step).split()
    scripts = [word for word in commands if re.match(r"\.?[\w.]+/[\w./]+$", word)]
    assert [name for name in scripts if not (ROOT / name).exists()] == []
    for step in steps:  # a tag can be moved, a commit cannot
        assert re.search(r"@[0-9a-f]{40}$", step.get("uses", f"@{'0' * 40}"))


def test_ci_runs_the_test_command_of_the_readme():
    assert r"sed -n 's/^\(pip install .*pytest.*\)$/\1/p' README.md" in (ROOT / ".ci" / "run").read_text()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^pip install .*pytest.*$", readme, re.MULTILINE)) == 1


def test_every_python_of_the_matrix_is_declared():
    tests = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())
    matrix = tests["jobs"]["test"]["strategy"]["matrix"]["python"]
    declared = [re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line) for line in PROJECT["classifiers"]]
    assert matrix == [found[1] for found in declared if found]
    assert PROJECT["requires-python"] == f">={matrix[0]}"


def test_the_nightly_workflow_runs_every_section_of_the_script():
    script = (ROOT / ".ci" / "nightly").read_text()
    sections = re.search(r"^sections=\((.*)\)$", script, re.MULTILINE)[1].split()
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "nightly.yml").read_text())
    assert workflow["jobs"]["nightly"]["strategy"]["matrix"]["section"] == sections
    assert [name for name in sections if f"\n{name}() {{" not in script] == []
    assert [name for name in re.findall(r"\.ci/\w+", script) if not (ROOT / name).exists()] == []


def test_an_unknown_section_is_refused_and_a_failure_stops_no_other(tmp_path):
    script = (ROOT / ".ci" / "nightly").read_text()
    short = tmp_path / ".ci" / "nightly"
    short.parent.mkdir()
    mine = "good() { true; }\nbad() { false; echo not reached; }\n"
    short.write_text(re.sub(r"^sections=.*$", f"{mine}sections=(bad good)", script, flags=re.MULTILINE))
    run = lambda *args: subprocess.run(["bash", str(short), *args], capture_output=True, text=True)  # noqa: E731
    unknown = run("nothing")
    assert (unknown.returncode, unknown.stderr) == (2, "no section nothing; there are: bad good\n")
    both = run()
    assert both.returncode == 1
    assert "not reached" not in both.stdout
    assert re.search(r"\nbad +failed \(1\) +\d+ s\ngood +passed +\d+ s\n$", both.stdout)
    assert run("good").returncode == 0


def test_other_processors_are_forced():
    code = "import sys; from seqkern.kernels.products import _product; sys.exit(f'level {_product.level()}')"
    run = lambda names: subprocess.run(  # noqa: E731
        ["bash", ".ci/processors", names, sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT
    )
    plain, every = run("plain"), run("all")
    assert (plain.returncode, plain.stdout, plain.stderr) == (1, "-- plain\n", "level 0\n")
    assert re.findall("^-- [a-z0-9]+", every.stdout, re.MULTILINE) == ["-- skylakex", "-- haswell", "-- plain"]
    assert every.stderr.endswith("level 0\n")


@pytest.mark.parametrize(
    ("answer", "code", "verdict"),
    [(None, 75, "not reachable"), ({}, 75, "not reachable"), ({"vulnerabilities": [{"id": "PYSEC"}]}, 0, "passed")],
    ids=["no answer", "a mirror without vulnerabilities", "PyPI"],
)
def test_an_audit_that_cannot_look_up_vulnerabilities_does_not_pass(tmp_path, answer, code, verdict):
    script, short = (ROOT / ".ci" / "nightly").read_text(), tmp_path / ".ci" / "nightly"
    script = re.sub(r"^environment\(\) \{.*?^\}", "environment() { :; }", script, flags=re.MULTILINE | re.DOTALL)
    short.parent.mkdir()
    short.write_text(script.replace("\n    pip-audit", "\n    echo looked up"))
    for name in ("tests", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    place = tmp_path / "jinja2" / "2.4.1" / "json"
    if answer is not None:
        place.parent.mkdir(parents=True)
        place.write_text(json.dumps(answer))
    done = subprocess.run(
        ["bash", str(short), "audit"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYPI_JSON": tmp_path.as_uri()},
    )
    assert done.returncode == code, done.stderr
    assert re.search(rf"^audit +{verdict} ", done.stdout.split("== summary")[1], re.MULTILINE)
    assert ("looked up" in done.stdout) == (code == 0)
    assert (f"not reachable: {tmp_path.as_uri()}" in done.stderr) == (code == 75)
    assert "| numpy |" in done.stdout  # the licences


def test_an_installation_has_every_file_of_the_workflow():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    folder = ROOT / settings["package-dir"]["seqkern.workflow"]
    packed = {path for pattern in settings["package-data"]["seqkern.workflow"] for path in folder.glob(pattern)}
    assert packed == {path for path in folder.rglob("*") if path.is_file()}
