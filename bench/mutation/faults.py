"""Small faults in a function: which there are, and how one is put into the functions of this process.

A fault is a comparison, an operator, a constant, a condition, a filter, a result or a statement that is changed in the
syntax tree.  It is put in by replacing the function's code object, wherever the function is imported.
"""

from __future__ import annotations

import ast
import gc
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Add,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A fault: the file, the function's qualified name, the line, what was changed, and its number in that function."""

    path: str
    function: str
    line: int
    change: str
    number: int


def mutants(path: str, source: str) -> Iterator[Mutant]:
    """Yield every fault that can be put into a function of a file."""
    for name, function in functions(ast.parse(source)):
        for number, (node, change) in enumerate(changes(function)):
            yield Mutant(path, name, getattr(node, "lineno", function.lineno), change, number)


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield the functions and methods of a file, with their qualified names; a nested one is a part of its own."""
    for node in getattr(tree, "body", []):
        if isinstance(node, ast.ClassDef):
            yield from functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{node.name}", node


def changes(function: ast.AST) -> Iterator[tuple[ast.AST, str]]:  # noqa: C901 - a table of what can be changed
    """Yield what can be changed in a function, in a fixed order: the node, and the change in words."""
    for node in _inside(function):
        match node:
            case ast.Compare(ops=[op]) if type(op) in COMPARED:
                yield node, f"compare {type(op).__name__} as {COMPARED[type(op)].__name__}"
            case ast.BinOp(op=op) if type(op) in COMPUTED and not _is_text(node.left):
                yield node, f"compute {COMPUTED[type(op)].__name__} for {type(op).__name__}"
            case ast.BoolOp(op=op):
                yield node, f"{'or' if isinstance(op, ast.And) else 'and'} for its opposite"
            case ast.UnaryOp(op=ast.Not()):
                yield node, "drop not"
            case ast.Constant(value=bool(value)):
                yield node, f"{not value} for {value}"
            case ast.Constant(value=int(value) | float(value)):
                yield node, f"{value + 1} for {value}"
            case ast.If() | ast.While() | ast.IfExp() if not isinstance(node.test, ast.Compare | ast.UnaryOp):
                yield node, "negate the condition"
            case ast.comprehension(ifs=[_, *_]):
                yield node, "drop the filter"
            case ast.Return(value=value) if value is not None and not _is_none(value):
                yield node, "return None"
            case ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign():
                yield node, "drop the statement"
            case ast.Continue() | ast.Break():
                yield node, "drop the statement"


def _inside(function: ast.AST) -> Iterator[ast.AST]:
    """Walk a function's statements, without its decorators, defaults, annotations and error messages."""
    left: list[ast.AST] = list(reversed(getattr(function, "body", [])))
    while left:
        node = left.pop()
        yield node
        for name, value in reversed(list(ast.iter_fields(node))):
            if name in ("annotation", "returns", "decorator_list", "args") and not isinstance(node, ast.Call):
                continue
            if isinstance(node, ast.Raise | ast.JoinedStr):
                continue
            if isinstance(value, list):
                left += [each for each in reversed(value) if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST):
                left.append(value)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def mutate(source: str, mutant: Mutant) -> ast.Module:
    """Return the file's tree with the fault in it."""
    tree = ast.parse(source)
    function = dict(functions(tree))[mutant.function]
    node = [each for each, _ in changes(function)][mutant.number]
    replacement = _changed(node)
    if replacement is not node:
        _replace(function, node, replacement)
    return ast.fix_missing_locations(tree)


def _changed(node: ast.AST) -> ast.AST:  # noqa: C901 - a table, as above
    """Change a node in place, or return what stands in its stead."""
    match node:
        case ast.Compare():
            node.ops = [COMPARED[type(node.ops[0])]()]
        case ast.BinOp():
            node.op = COMPUTED[type(node.op)]()
        case ast.BoolOp():
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.UnaryOp():
            return node.operand
        case ast.Constant(value=bool(value)):
            node.value = not value
        case ast.Constant(value=int(value) | float(value)):
            node.value = value + 1
        case ast.comprehension():
            node.ifs = []
        case ast.Return():
            node.value = ast.Constant(None)
        case ast.Expr() | ast.AugAssign() | ast.Continue() | ast.Break():
            return ast.copy_location(ast.Pass(), node)
        case ast.If() | ast.While() | ast.IfExp():
            node.test = ast.UnaryOp(ast.Not(), node.test)
    return node


def _replace(root: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for node in ast.walk(root):
        for name, value in ast.iter_fields(node):
            if value is old:
                setattr(node, name, new)
            elif isinstance(value, list) and any(each is old for each in value):
                setattr(node, name, [new if each is old else each for each in value])


def code_objects(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code of a file and of everything that is defined in it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from code_objects(const)


def install(mutant: Mutant) -> bool:
    """Put a fault into this process; False where no function of that name is loaded, or it cannot be replaced."""
    path = str(ROOT / mutant.path)
    tree = mutate(Path(path).read_text("utf-8"), mutant)
    codes = {each.co_qualname: each for each in code_objects(compile(tree, path, "exec"))}
    code, installed = codes[mutant.function], False
    for each in gc.get_objects():
        if isinstance(each, types.FunctionType) and _is(each.__code__, path, mutant.function):
            try:
                each.__code__ = code
            except ValueError:  # it closes over other variables
                return False
            installed = True
    return installed


def _is(code: types.CodeType, path: str, function: str) -> bool:
    return code.co_qualname == function and code.co_filename == path
