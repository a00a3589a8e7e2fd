"""Records calls of `nn.Module`: an event when a call begins and when it ends, and the call's number on each operation
inside it.

Torch's `Module.__call__` is compiled again with two calls of ours in it. Module hooks would provide the same facts, but
they would be visible: with any hook a call takes another path through torch, with other lines and one more frame in
tracebacks. The new function has the file, lines and columns of torch's and adds no frame.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any, Self

import torch

from gradbox.recorder import introspection
from gradbox.recorder.probes import handles
from gradbox.recorder.probes.probe import ProbeContext
from gradbox.recorder.probes.tensors import Tensors
from gradbox.recorder.uids import ObjectUids
from gradbox.wire.events import ModuleCalled, ModuleReturned

MAX_TENSORS = 32
"""Tensors that an event names of a call's arguments, and of its result."""

MAX_MAPPINGS = 32
"""Mappings in an argument or a result whose values are inspected."""

_entered: list["ModuleCalls"] = []
_original_calls: list[Any] = []


class ModuleCalls:
    """Receives the calls of modules while entered.

    is_recorded: whether what the current thread does is recorded
    """

    def __init__(
        self,
        context: ProbeContext,
        objects: ObjectUids,
        tensors: Tensors,
        is_recorded: Callable[[], bool],
    ) -> None:
        self._context, self._objects, self._tensors = context, objects, tensors
        self._is_recorded = is_recorded
        self._count, self._paused = 0, False
        self._has_replaced = False

    def __enter__(self) -> Self:
        self._has_replaced = observe_module_calls()
        _entered.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _entered.remove(self)
        if self._has_replaced:
            restore_module_calls()

    def set_recording_paused(self, paused: bool) -> None:
        """Stop or resume receiving calls. The end of one that runs when it stops is received."""
        self._paused = paused

    def begin(self, module: torch.nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]) -> int | None:
        """Note that a call begins. Returns its number, from 0 over the whole run; None if it is not recorded."""
        if self._paused or self._context.guard.busy or not self._is_recorded():
            return None
        with self._context.guard():
            call, self._count = self._count, self._count + 1
            event: ModuleCalled = {
                "kind": "event",
                "event": "module_called",
                "call": call,
                "type": introspection.class_name(type(module)),
                "inputs": self._tensor_uids((*arguments, *named.values())),
            }
            uid = self._objects.find_uid(module)
            if uid is not None:
                event["module"] = uid
            if self._context.module_calls:
                event["within"] = self._context.module_calls[-1]
            self._context.observation.append_log_entry(event)
            self._context.module_calls.append(call)
            return call
        return None

    def end(self, call: int, result: Any, failed: bool) -> None:
        """Note that the call returned this result, or raised."""
        running = self._context.module_calls
        if call not in running:
            return
        del running[running.index(call) :]
        if self._context.guard.busy:
            return
        with self._context.guard():
            event: ModuleReturned = {
                "kind": "event",
                "event": "module_returned",
                "call": call,
                "outputs": [] if failed else self._tensor_uids((result,)),
            }
            if failed:
                event["failed"] = True
            self._context.observation.append_log_entry(event)

    def _tensor_uids(self, values: tuple[Any, ...]) -> list[str]:
        uids: dict[str, None] = {}
        for tensor in handles.collect_tensors([*values, *values_in_mappings(values)]):
            uids[self._tensors.register_tensor(tensor)] = None
            if len(uids) == MAX_TENSORS:
                break
        return list(uids)


def values_in_mappings(values: tuple[Any, ...]) -> Iterator[Any]:
    """The values of dicts among arguments or results, and of dicts in these. Models often return such outputs."""
    pending, count = list(values), 0
    while pending and count < MAX_MAPPINGS:
        value = pending.pop()
        if isinstance(value, dict):
            count += 1
            inner = list(dict.values(value))[:MAX_TENSORS]
            yield from inner
            pending += inner


def observe_module_calls() -> bool:
    """Replace torch's function. Without a listener the new one does what torch's does. Returns whether it was not there
    yet."""
    if _original_calls:
        return False
    _original_calls.append(torch.nn.Module.__call__)
    if _observed_call is not None:
        setattr(torch.nn.Module, "__call__", _observed_call)
    return True


def restore_module_calls() -> None:
    """Restore torch's own function."""
    setattr(torch.nn.Module, "__call__", _original_calls.pop())


def begin_call(module: torch.nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Report the beginning of a call. Returns the argument for `end_call`."""
    if not _entered:
        return None
    listener = _entered[-1]
    call = listener.begin(module, arguments, named)
    return None if call is None else (listener, call)


def end_call(begun: Any, result: Any = None, failed: bool = False) -> Any:
    """Report the end of a call. Returns the result."""
    if begun is not None:
        listener, call = begun
        listener.end(call, result, failed)
    return result


class _ReturnValueWrapper(ast.NodeTransformer):
    """Passes what a function returns through the call that reports its end."""

    def visit_Return(self, node: ast.Return) -> ast.AST:
        value = node.value or ast.copy_location(ast.Constant(None), node)
        end, begun = (ast.copy_location(ast.Name(name, ast.Load()), value) for name in (_END, _BEGUN))
        return ast.copy_location(ast.Return(ast.copy_location(ast.Call(end, [begun, value], []), value)), node)


_BEGIN, _END, _BEGUN = "_gradbox_begin", "_gradbox_end", "_gradbox_call"
_FACTORY = "_gradbox_factory"


def wrap_function_with_begin_and_end(original: Any, begin: Callable[..., Any], end: Callable[..., Any]) -> Any:
    """A function like `original`, which takes `(self, *args, **kwargs)`, that also calls `begin` and `end`.

    None if its source does not have the expected form; module calls are then not observed.
    """
    first_line = original.__code__.co_firstlineno
    try:
        # `inspect.getsource` would keep what it found, and a program that asks it would get another answer
        text = Path(original.__code__.co_filename).read_text("utf-8")
        lines = inspect.getblock(text.splitlines(keepends=True)[first_line - 1 :])
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    indent = len(lines[0]) - len(lines[0].lstrip())
    function = tree.body[0]
    if not isinstance(function, ast.FunctionDef) or [argument.arg for argument in function.args.args] != ["self"]:
        return None
    positional, named = function.args.vararg, function.args.kwarg
    if positional is None or named is None or function.decorator_list:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.stmt | ast.excepthandler | ast.arg | ast.keyword):
            node.lineno += first_line - 1
            node.col_offset += indent
            if node.end_lineno is not None and node.end_col_offset is not None:
                node.end_lineno += first_line - 1
                node.end_col_offset += indent
    where = function.body[0]
    body = [_ReturnValueWrapper().visit(statement) for statement in function.body]
    begun = f"{_BEGUN} = {_BEGIN}(self, {positional.arg}, {named.arg})"
    failed = f"try: pass\nexcept BaseException:\n {_END}({_BEGUN}, None, True)\n raise"
    around = ast.parse(f"{begun}\n{failed}").body
    for statement in around:
        for node in ast.walk(statement):
            ast.copy_location(node, where)
    attempt = around[1]
    assert isinstance(attempt, ast.Try)
    attempt.body = body
    function.body = [*around]
    made = ast.parse(f"def {_FACTORY}({_BEGIN}, {_END}):\n pass")
    factory = made.body[0]
    assert isinstance(factory, ast.FunctionDef)
    factory.body = [function, ast.copy_location(ast.Return(ast.Name(function.name, ast.Load())), function)]
    namespace: dict[str, Any] = {}
    exec(
        compile(ast.fix_missing_locations(made), original.__code__.co_filename, "exec"), original.__globals__, namespace
    )
    observed = namespace[_FACTORY](begin, end)
    code: CodeType = original.__code__
    observed.__code__ = observed.__code__.replace(co_qualname=code.co_qualname, co_firstlineno=code.co_firstlineno)
    for name in ("__module__", "__qualname__", "__doc__", "__annotations__"):
        setattr(observed, name, getattr(original, name))
    return observed


_observed_call = wrap_function_with_begin_and_end(torch.nn.Module.__call__, begin_call, end_call)
"""Created when this module is imported, because the files of torch may be unreadable later."""
