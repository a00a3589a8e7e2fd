"""Fixes that keep a history: the same computation without what cuts it, with torch instead of numpy, and where torch
records."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from gradbox.language.fixes.program import Fix, FixProgram, Hint, callee_name, method_receiver

_COPYING_CONSTRUCTORS = ("torch.tensor", "torch.as_tensor", "torch.Tensor", "torch.FloatTensor", "torch.from_numpy",
           "torch.autograd.Variable")  # fmt: skip
_HISTORY_CUTTING_METHODS = ("detach", "item", "tolist", "numpy")
_FUNCTIONS_NAMED_ALIKE_IN_TORCH = ("sqrt", "exp", "log", "mean", "sum", "abs", "sin", "cos", "tanh", "maximum",
                  "minimum", "square", "stack", "where", "dot", "matmul", "max", "min", "prod", "clip", "log1p",
                  "expm1")  # fmt: skip
_NEEDS_BRACKETS = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.Await, ast.NamedExpr)
_BINDS_TIGHTER = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Attribute, ast.Subscript, ast.Starred)
_NO_GRAD_DECORATORS = ("no_grad", "inference_mode")


def remove_what_cuts_history(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Remove what cuts the history from a statement: `.detach()`, `.data`, `.item()`, a new tensor, numpy, `no_grad`.

    If that is not enough, do the same in all statements that pass the same values on.
    """
    statement = program.statement_at(hint.line)
    if statement is None:
        return
    yield from _fix_statements_that_cut_history(program, hint, [statement], None)
    yield from _fix_statements_that_cut_history(program, hint, *_statements_on_value_path(program, statement))
    yield from _enable_grad_in_block(program, hint)
    yield from _without_no_grad_decorator(program, hint)


def _fix_statements_that_cut_history(
    program: FixProgram, hint: Hint, statements: list[ast.stmt], names: frozenset[str] | None
) -> Iterator[Fix]:
    """The fix for some statements.

    names: whose copies are removed; None for all
    """
    work = program.new_edits()
    rewriter = _HistoryKeepingTransformer(program, program.list_names(), names)
    for statement in statements:
        for node in program.nodes_outside_blocks(statement):
            if isinstance(node, ast.expr) and rewriter.cuts_history(node):
                rewritten = rewriter.visit(copy.deepcopy(node))
                new = ast.unparse(rewritten)
                if isinstance(rewritten, _NEEDS_BRACKETS) and isinstance(work.parent_of(node), _BINDS_TIGHTER):
                    new = f"({new})"
                if (
                    isinstance(statement, ast.Assign)
                    and statement.value is node
                    and new == _single_target_name(statement)
                ):
                    work.comment_out_statement(statement)  # `h = h` says nothing
                work.replace_node(node, new)
            elif isinstance(node, ast.Assign) and _sets_requires_grad(node):
                work.comment_out_statement(node)
    yield from program.fix_from_edits(hint, work)


def _sets_requires_grad(statement: ast.Assign) -> bool:
    """Whether a statement only makes a result require grad, which it does anyway with its history."""
    target = statement.targets[0]
    return isinstance(target, ast.Attribute) and target.attr == "requires_grad"


@dataclass
class _HistoryKeepingTransformer(ast.NodeTransformer):
    """Rewrites an expression without what cuts its history.

    lists: names of lists, to which `torch.stack` is applied
    names: whose copies are removed; None for all
    """

    program: FixProgram
    lists: frozenset[str]
    names: frozenset[str] | None

    def cuts_history(self, node: ast.expr) -> bool:
        """Whether a node itself leaves the graph."""
        if isinstance(node, ast.Attribute):
            return node.attr == "data" and isinstance(node.ctx, ast.Load)
        if not isinstance(node, ast.Call):
            return False
        path = self.program.modules.dotted_path(node.func) or ""
        if path in _COPYING_CONSTRUCTORS:
            of = node.args[0] if node.args else ast.Constant(0)
            is_meant = self.names is None or not isinstance(of, ast.Name) or of.id in self.names
            return is_meant and not isinstance(of, ast.Constant)
        if isinstance(node.func, ast.Attribute) and not node.args and callee_name(node) in _HISTORY_CUTTING_METHODS:
            return not path
        is_float = isinstance(node.func, ast.Name) and node.func.id == "float" and len(node.args) == 1
        return self._torch_counterpart(path) is not None or (is_float and not isinstance(node.args[0], ast.Constant))

    def _torch_counterpart(self, path: str) -> str | None:
        name = path.removeprefix("numpy.")
        if name == path or name not in _FUNCTIONS_NAMED_ALIKE_IN_TORCH:
            return None
        return {"clip": "clamp"}.get(name, name)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        is_cut = self.cuts_history(node)
        self.generic_visit(node)
        return node.value if is_cut else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        is_cut, path = self.cuts_history(node), self.program.modules.dotted_path(node.func) or ""
        self.generic_visit(node)
        if not is_cut:
            return node
        counterpart = self._torch_counterpart(path)
        if counterpart:
            return _torch_call(f"{self.program.torch_name()}.{counterpart}", *node.args, keywords=node.keywords)
        if path in _COPYING_CONSTRUCTORS or isinstance(node.func, ast.Name):
            return self._stack_call(node.args[0])
        inner: ast.expr = node.func.value if isinstance(node.func, ast.Attribute) else node
        is_moved = callee_name(node) == "numpy" and isinstance(inner, ast.Call) and callee_name(inner) == "cpu"
        return (method_receiver(inner) or inner) if is_moved and isinstance(inner, ast.Call) else inner

    def _stack_call(self, value: ast.expr) -> ast.expr:
        is_list = isinstance(value, ast.List | ast.Tuple | ast.ListComp)
        is_named = isinstance(value, ast.Name) and value.id in self.lists
        return _torch_call(f"{self.program.torch_name()}.stack", value) if is_list or is_named else value


def _torch_call(function: str, *args: ast.expr, keywords: list[ast.keyword] | None = None) -> ast.Call:
    return ast.Call(ast.parse(function, mode="eval").body, list(args), keywords or [])


def _statements_on_value_path(program: FixProgram, statement: ast.stmt) -> tuple[list[ast.stmt], frozenset[str]]:
    """The statement and the statements that its values pass through (in its function, in callers, and readers of its
    names), and those names."""
    function = program.enclosing_function(statement)
    names = _target_names(statement) | ({function.name} if function else set())
    related = [statement]
    if function is not None:
        inside = {id(node) for node in ast.walk(function)}
        related += [other for other in program.statements if id(other) in inside and other is not statement]
    for other in program.statements:
        reads = any(
            isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names
            for node in program.nodes_outside_blocks(other)
        )
        is_passed_on = isinstance(other, ast.Assign | ast.AugAssign | ast.Return) and other not in related
        if reads and is_passed_on:
            related.append(other)
            names |= _target_names(other)
    return related, frozenset(names)


def _single_target_name(statement: ast.Assign) -> str:
    return ast.unparse(statement.targets[0])


def _target_names(statement: ast.stmt) -> set[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    value = getattr(statement, "value", None)
    if isinstance(value, ast.Call) and callee_name(value) == "append" and isinstance(value.func, ast.Attribute):
        targets = [value.func.value]  # what is appended goes on in the list
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


def _enable_grad_in_block(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Make the block around a line, which records nothing, record."""
    for node in program.statements:
        if not isinstance(node, ast.With) or not node.lineno <= hint.line <= (node.end_lineno or node.lineno):
            continue
        for item in node.items:
            context = item.context_expr
            work = program.new_edits()
            if isinstance(context, ast.Call) and callee_name(context) in _NO_GRAD_DECORATORS:
                work.replace_node(context, f"{program.torch_name()}.enable_grad()")
            elif isinstance(context, ast.Call) and callee_name(context) == "set_grad_enabled" and context.args:
                work.replace_node(context.args[0], "True")
            yield from program.fix_from_edits(hint, work)
            for other in program.statements:
                if isinstance(other, ast.Assign) and _sets_requires_grad(other):
                    work.comment_out_statement(other)
            yield from program.fix_from_edits(hint, work)


def _without_no_grad_decorator(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Remove `@torch.no_grad()` from the function around a line."""
    statement = program.statement_at(hint.line)
    function = program.enclosing_function(statement) if statement is not None else None
    for decorator in function.decorator_list if function is not None else ():
        name = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(name, ast.Attribute | ast.Name) and ast.unparse(name).rpartition(".")[2] in _NO_GRAD_DECORATORS:
            lines = [line for k, line in enumerate(program.lines, 1) if k != decorator.lineno]
            yield from program.fix_from_lines(hint, lines)
