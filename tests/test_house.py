"""The package stays within the budget in ``house.tsv``; ``python tests/test_house.py`` prints its size and shape.

What grows takes its room from something else, or changes the budget in a commit that says why.
"""

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUDGET = ROOT / "tests" / "house.tsv"
LAYOUT = {getattr(tokenize, name) for name in ("COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER")}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def lines_of(node):
    return range(node.lineno, node.end_lineno + 1)


def lines(path):
    """Return the numbers of lines of code, of docstrings and of imports of a Python file."""
    source = path.read_text(encoding="utf-8")
    nodes = list(ast.walk(ast.parse(source)))
    documented = {
        n for node in nodes if isinstance(node, DOCUMENTED) and ast.get_docstring(node) for n in lines_of(node.body[0])
    }
    imported = {n for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for n in lines_of(node)}
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    code = {n for token in tokens if token.type not in LAYOUT for n in range(token.start[0], token.end[0] + 1)}
    return len(code - documented), len(documented), len(imported)


def importers(paths):
    """Return, for each module, the files that import it."""
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}
    found = {path: set() for path in paths}
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    module = names.get(f"{node.module}.{alias.name}") or names.get(node.module)
                    if module:
                        found[module].add(path)
    return found


def measured():
    """Return the measures by name."""
    paths = sorted((ROOT / "seqkern").rglob("*.py"))
    modules = [path for path in paths if path.name != "__init__.py"]
    code, documented, imported = map(sum, zip(*map(lines, paths), strict=True))
    native = [path for kind in ("pyx", "pxd", "h") for path in (ROOT / "seqkern").rglob(f"*.{kind}")]
    alone = [by for path, by in importers(paths).items() if path in modules and {p.parent for p in by} == {path.parent}]
    return {
        "python_files": len(paths),
        "code_lines": code,
        "docstring_lines": documented,
        "cython_and_c_lines": sum(len(path.read_text(encoding="utf-8").splitlines()) for path in native),
        "imports_percent_of_code": round(100 * imported / code, 1),
        "rooms": sum(1 for path in (ROOT / "seqkern").iterdir() if (path / "__init__.py").exists()),
        "compiled_modules": sum(1 for path in native if path.suffix == ".pyx"),
        "modules_with_one_importer_in_their_folder": sum(1 for by in alone if len(by) == 1),
        "repeated_basenames": sum(1 for n in Counter(path.name for path in modules).values() if n > 1),
        "longest_file_lines": max(len(path.read_text(encoding="utf-8").splitlines()) for path in paths),
    }


def test_the_house_stays_within_its_budget():
    rows = [line.split("\t") for line in BUDGET.read_text(encoding="utf-8").splitlines()[1:]]
    budget = {name: float(most) for name, most in rows}
    found = measured()
    assert set(budget) == set(found)
    assert {name: value for name, value in found.items() if value > budget[name]} == {}


if __name__ == "__main__":
    for name, value in measured().items():
        print(name, value, sep="\t")
