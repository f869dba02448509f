"""The package stays within the budget in ``house.tsv``; ``python tests/test_house.py`` prints its size and shape.

What grows takes its room from something else, or changes the budget in a commit that says why.
"""

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUDGET = ROOT / "tests" / "house.tsv"
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
TEXTS = (ast.Constant, ast.JoinedStr)
COUNTED = (*DOCUMENTED, *TEXTS, ast.Import, ast.ImportFrom)


def lines_of(node):
    return range(node.lineno, node.end_lineno + 1)


def lines(source, nodes):
    """Return the numbers of lines of code, of docstrings and of imports of a Python file."""
    documented = {
        n for node in nodes if isinstance(node, DOCUMENTED) and ast.get_docstring(node) for n in lines_of(node.body[0])
    }
    imported = {n for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for n in lines_of(node)}
    # a line that is empty or begins with # is code inside a text of several lines
    code = {n for n, line in enumerate(source.splitlines(), 1) if line.strip() and not line.lstrip().startswith("#")}
    code |= {n for node in nodes if isinstance(node, TEXTS) for n in lines_of(node)}
    return len(code - documented), len(documented), len(imported)


def importers(trees):
    """Return, for each module, the files that import it."""
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in trees}
    found = {path: set() for path in trees}
    for path, nodes in trees.items():
        for node in nodes:
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
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    trees = {
        path: [node for node in ast.walk(ast.parse(text)) if isinstance(node, COUNTED)] for path, text in texts.items()
    }
    code, documented, imported = map(sum, zip(*(lines(texts[path], trees[path]) for path in paths), strict=True))
    native = [path for kind in ("pyx", "pxd", "h") for path in (ROOT / "seqkern").rglob(f"*.{kind}")]
    alone = [by for path, by in importers(trees).items() if path in modules and {p.parent for p in by} == {path.parent}]
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
        "longest_file_lines": max(len(text.splitlines()) for text in texts.values()),
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
