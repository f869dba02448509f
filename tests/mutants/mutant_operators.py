"""Small changes of a Python function, each of which a test should notice: see ``run_mutants.py``."""

import ast
import copy
from dataclasses import dataclass

COMPARED = {
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}
COMPUTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_PAIRS = [
    ("min", "max"),
    ("minimum", "maximum"),
    ("argmin", "argmax"),
    ("any", "all"),
    ("zeros", "ones"),
    ("floor", "ceil"),
]
CALLED = dict(_PAIRS) | {right: left for left, right in _PAIRS}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Mutant:
    """One change: ``replacement`` stands where ``node`` stood; ``qualname`` is the function that is compiled again."""

    qualname: str
    node: ast.AST
    replacement: ast.AST
    # lines of the innermost statement, without its body
    first: int
    last: int

    @property
    def text(self):
        """Return the change as source, on one line."""
        return " -> ".join(" ".join(ast.unparse(node).split())[:90] for node in (self.node, self.replacement))


def mutants(tree):
    """Return all mutants of the functions of a module, in the order of the source."""
    return [
        Mutant(name, node, replacement, *lines)
        for name, function in _functions(tree, "")
        for node, lines in _nodes(function)
        for replacement in _replacements(node)
    ]


def _functions(tree, prefix):
    """Yield the outermost functions and their qualified names; decorators and defaults are not theirs."""
    for node in tree.body:
        if isinstance(node, FUNCTIONS):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")


def _nodes(function):
    """Yield the nodes of a function that may change, each with the lines of its statement."""
    body = function.body[ast.get_docstring(function, clean=False) is not None :]
    waiting = [(statement, None) for statement in reversed(body)]
    while waiting:
        node, lines = waiting.pop()
        if isinstance(node, ast.stmt):
            inner = getattr(node, "body", None)
            lines = (node.lineno, max(node.lineno, inner[0].lineno - 1) if inner else node.end_lineno)
        yield node, lines
        waiting += [(child, lines) for child in reversed(list(_children(node)))]


def _children(node):
    """Yield what may change within a node: neither messages nor annotations."""
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return
    if isinstance(node, FUNCTIONS):
        yield from node.body[ast.get_docstring(node, clean=False) is not None :]
    elif isinstance(node, ast.keyword) and node.arg in ("strict", "remedy", "stacklevel"):
        # zip(strict=True) says what holds anyway
        return
    elif isinstance(node, ast.AnnAssign):
        yield from [node.value] if node.value else []
    else:
        yield from ast.iter_child_nodes(node)


def _replacements(node):
    """Return what may stand instead of a node."""
    made = _of_statement(node) if isinstance(node, ast.stmt) else _of_expression(node)
    return [ast.fix_missing_locations(ast.copy_location(replacement, node)) for replacement in made]


def _changed(node, **fields):
    """Return a copy of a node with other fields."""
    fresh = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(fresh, name, value)
    return fresh


def _of_statement(node):
    match node:
        case ast.Return(value=value) if value is not None and not (
            isinstance(value, ast.Constant) and value.value is None
        ):
            return [ast.Return(ast.Constant(None))]
        case ast.Raise() | ast.AugAssign() | ast.Expr(value=ast.Call()):
            return [ast.Pass()]
        case ast.Break():
            return [ast.Continue()]
        case ast.Continue():
            return [ast.Break()]
        case ast.If(test=test) | ast.While(test=test) if not isinstance(test, ast.Compare | ast.UnaryOp):
            return [_changed(node, test=ast.copy_location(ast.UnaryOp(ast.Not(), copy.deepcopy(test)), test))]
    return []


def _of_expression(node):
    match node:
        case ast.Compare(ops=ops):
            return [
                _changed(node, ops=[*ops[:i], other(), *ops[i + 1 :]])
                for i, op in enumerate(ops)
                for other in COMPARED[type(op)]
            ]
        case ast.BinOp(op=op, left=left, right=right) if type(op) in COMPUTED and not (
            _is_text(left) or _is_text(right)
        ):
            return [_changed(node, op=COMPUTED[type(op)]())]
        case ast.BoolOp(op=op):
            return [_changed(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())]
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            return [copy.deepcopy(operand)]
        case ast.IfExp(body=body, orelse=orelse) if not (_is_text(body) or _is_text(orelse)):
            return [_changed(node, body=copy.deepcopy(orelse), orelse=copy.deepcopy(body))]
        case ast.Constant(value=bool(value)):
            return [ast.Constant(not value)]
        case ast.Constant(value=int(value) | float(value)):
            return [ast.Constant(value + 1), ast.Constant(value - 1)]
        case ast.Call(func=ast.Name(id=name) as func) if name in CALLED:
            return [_changed(node, func=_changed(func, id=CALLED[name]))]
        case ast.Call(func=ast.Attribute(attr=name) as func) if name in CALLED:
            return [_changed(node, func=_changed(func, attr=CALLED[name]))]
    return []


def _is_text(node):
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


class _Put(ast.NodeTransformer):
    def __init__(self, mutant):
        self.mutant = mutant

    def visit(self, node):
        return self.mutant.replacement if node is self.mutant.node else self.generic_visit(node)


def compiled(tree, mutant, filename):
    """Return the code of the changed function by its qualified name and first line; changes the tree."""
    _Put(mutant).visit(tree)
    codes = _codes(compile(tree, filename, "exec", dont_inherit=True))
    return {(code.co_qualname, code.co_firstlineno): code for code in codes if code.co_qualname == mutant.qualname}


def _codes(code):
    """Yield a code object and all within it."""
    yield code
    for inner in code.co_consts:
        if hasattr(inner, "co_consts"):
            yield from _codes(inner)
