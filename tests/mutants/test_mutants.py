"""The mutation testing itself, on a function with one good test and one that checks nothing."""

import ast
import sys
import time
import types

import pytest
from mutant_forks import in_fork
from mutant_operators import compiled, mutants

SOURCE = '''
LIMIT = 5


class Range:
    def inside(self, value, low=0):
        """Return whether it is inside."""
        if value is None:
            raise ValueError(f"value {1 + 1}")
        return low < value and value <= LIMIT
'''


def changes(source):
    return [mutant.text for mutant in mutants(ast.parse(source))]


def test_all_changes_of_a_function():
    assert changes(SOURCE) == [
        "value is None -> value is not None",
        "raise ValueError(f'value {1 + 1}') -> pass",
        "return low < value and value <= LIMIT -> return None",
        "low < value and value <= LIMIT -> low < value or value <= LIMIT",
        "low < value -> low <= value",
        "low < value -> low >= value",
        "value <= LIMIT -> value < LIMIT",
        "value <= LIMIT -> value > LIMIT",
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = min(a, 2)", ["min(a, 2) -> max(a, 2)", "2 -> 3", "2 -> 1"]),
        ("x = a + -b", ["a + -b -> a - -b", "-b -> b"]),
        ("x = True", ["True -> False"]),
        ("x = 'a' + b", []),
        ("x: int = a.any()", ["a.any() -> a.all()"]),
        ("x += a", ["x += a -> pass"]),
        ("call(x)", ["call(x) -> pass"]),
        ("x = a if b else c", ["a if b else c -> c if b else a"]),
        ("while a: break", ["while a: break -> while not a: break", "break -> continue"]),
        ("x = zip(a, b, strict=True)", []),
    ],
)  # fmt: skip
def test_changes_of_statements(body, expected):
    assert changes(f"def f(x, a, b, c):\n    {body}") == expected


def test_a_mutant_is_the_function_with_the_change_only():
    number = changes(SOURCE).index("value <= LIMIT -> value < LIMIT")
    module = types.ModuleType("ranges")
    exec(compile(SOURCE, "ranges.py", "exec"), module.__dict__)
    inside = module.Range.inside
    assert (inside(None, 0, 0), inside(None, 4), inside(None, 5)) == (False, True, True)
    tree = ast.parse(SOURCE)
    [code] = compiled(tree, mutants(tree)[number], "ranges.py").values()
    inside.__code__ = code
    assert (inside(None, 0, 0), inside(None, 4), inside(None, 5)) == (False, True, False)


def test_a_fork_that_hangs_or_ends_returns_none():
    assert in_fork(lambda: 7, 60) == 7
    assert in_fork(lambda: sys.exit(0), 60) is None
    assert in_fork(lambda: time.sleep(60), 0.2) is None
