"""What SECURITY.md promises, read off the source: nothing in an input file is run, one module opens the network."""

import ast
import re
from functools import cache

import pytest
from conftest import ROOT

RUNS_CODE = {"eval", "exec", "compile", "__import__"}
RUNS_DATA = {"pickle", "cPickle", "dill", "joblib", "marshal", "shelve", "code", "runpy"}
NETWORK = {"urllib.request", "http.client", "http.server", "socket", "ssl", "ftplib", "smtplib", "requests", "httpx"}


def imported(node):
    """Return the names that a node imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def is_set(call, name):
    """Return whether a call gives an option the constant True."""
    return any(
        one.arg == name and isinstance(one.value, ast.Constant) and one.value.value is True for one in call.keywords
    )


def runs(node):
    """Return whether a node is a call that runs what a file may hold."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        runs_code = node.func.id in RUNS_CODE
    else:  # such as os.system
        name = getattr(getattr(node.func, "value", None), "id", None), getattr(node.func, "attr", None)
        runs_code = name in {("yaml", "load"), ("os", "system"), ("os", "popen")}
    return runs_code or is_set(node, "shell") or is_set(node, "allow_pickle")


def look(text):
    """Return the imported names of a module, and the lines that run what a file may hold."""
    names, lines = set(), []
    for node in ast.walk(ast.parse(text)):
        names.update(imported(node))
        if runs(node):
            lines.append(node.lineno)
    return names, lines


MODULES = {name.partition(".")[0] for name in NETWORK | RUNS_DATA}
WORDS = RUNS_CODE | {"yaml", "system", "popen", "shell", "allow_pickle", "download"}
NAMED = re.compile(rf"\b(({'|'.join(WORDS)})|(from|import)\b.*\b({'|'.join(MODULES)}))\b")


@cache
def source():
    """Return what `look` finds in each module of the package that has a word that it looks for."""
    texts = {path: path.read_text() for path in sorted((ROOT / "seqkern").rglob("*.py"))}
    return {str(path.relative_to(ROOT)): look(text) for path, text in texts.items() if NAMED.search(text)}


def test_nothing_in_a_file_is_run():
    assert {path: lines for path, (_, lines) in source().items() if lines} == {}
    assert [path for path, (names, _) in source().items() if {name.split(".")[0] for name in names} & RUNS_DATA] == []


@pytest.mark.parametrize(
    "line",
    [
        "eval(text)",
        "exec(text)",
        "np.load(path, allow_pickle=True)",
        "yaml.load(text)",
        "run(command, shell=True)",
        "os.system(text)",
    ],
)
def test_what_would_be_found(line):
    assert look(line)[1] == [1]
    assert NAMED.search(line)


def test_one_module_opens_the_network_for_the_list_of_public_files():
    assert [path for path, (names, _) in source().items() if names & NETWORK] == ["seqkern/core/download.py"]
    users = [path for path, (names, _) in source().items() if "seqkern.core.download" in names]
    assert users == ["seqkern/core/public_files.py"]
