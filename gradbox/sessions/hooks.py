"""The functions that instrumented code calls in the user's process. They are constants of the code, so that no
namespace holds them.

Code may outlive its session, in functions and suspended generators; its hooks then do nothing. They are
`functools.partial` objects, which add no frame and can be redirected.
"""

import ast
import functools
import sys
import threading
import warnings
from collections.abc import Callable
from types import CodeType
from typing import Any

from gradbox.language.tree import SyntaxNodes
from gradbox.recorder import instrument
from gradbox.recorder.instrument import ProgramStatements
from gradbox.recorder.recorder import Recorder
from gradbox.recorder.stack import is_in_unstepped_call, is_recursion_too_deep, threads_waiting_for_engine
from gradbox.sessions.unstepped_calls import UnsteppedCalls

_PLACEHOLDER_TAG = "hook of gradbox"


class InstrumentationHooks:
    """The hooks of one session. They record in the session's thread, and in those of torch's engine while that thread
    waits for it.

    kept_statement: the bare expression whose value is kept
    kept_value: that value
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder, self._thread = recorder, threading.get_ident()
        self.kept_statement: int | None = None
        self.kept_value: Any = None
        self.by_name = {
            instrument.STEP_HOOK: functools.partial(self._on_step),
            instrument.HEAD_HOOK: functools.partial(self._on_head),
            instrument.CALL_HOOK: functools.partial(self._on_call),
            instrument.RETURN_HOOK: functools.partial(self._on_return),
            instrument.VALUE_HOOK: functools.partial(self._on_value),
            instrument.YIELD_HOOK: functools.partial(self._on_yield),
            instrument.RESUME_HOOK: functools.partial(self._on_resume),
            instrument.CAUGHT_HOOK: functools.partial(self._on_caught),
            instrument.LOOP_HOOK: functools.partial(self._on_loop),
            instrument.LAMBDA_HOOK: functools.partial(self._on_lambda),
        }

    def disconnect(self) -> None:
        """Make all hooks do nothing."""
        for name, hook in self.by_name.items():
            set_partial_function(hook, HOOKS_WITHOUT_EFFECT[name])

    def is_current_thread_recorded(self) -> bool:
        """Whether what this thread does is recorded."""
        return is_current_thread_recorded(self._thread)

    def _on_step(self, i: int) -> None:
        if self.is_current_thread_recorded():
            self._recorder.on_step(i, frame=sys._getframe(1))

    def _on_head(self, i: int, *test: Any) -> Any:
        if self.is_current_thread_recorded():
            return self._recorder.on_head(i, *test, frame=sys._getframe(1))
        return test[0] if test else None

    def _on_call(self, i: int) -> None:
        if is_recursion_too_deep():
            raise RecursionError("maximum recursion depth exceeded")
        if self.is_current_thread_recorded():
            self._recorder.on_call(i, frame=sys._getframe(1))

    def _on_return(self, i: int, value: Any) -> Any:
        return (
            self._recorder.on_return(i, value, frame=sys._getframe(1)) if self.is_current_thread_recorded() else value
        )

    def _on_value(self, i: int, value: Any) -> Any:
        if i == self.kept_statement:
            self.kept_value = value
        return (
            self._recorder.on_expression_value(i, value, frame=sys._getframe(1))
            if self.is_current_thread_recorded()
            else value
        )

    def _on_yield(self, i: int, value: Any) -> Any:
        return self._recorder.on_yield(i, value, frame=sys._getframe(1)) if self.is_current_thread_recorded() else value

    def _on_resume(self, i: int) -> Callable[[Any], Any]:
        return self._recorder.on_resume(i, frame=sys._getframe(1)) if self.is_current_thread_recorded() else identity

    def _on_caught(self) -> None:
        if self.is_current_thread_recorded():
            self._recorder.on_caught(frame=sys._getframe(1))

    def _on_loop(self, i: int, iterable: Any = None) -> Any:
        if self.is_current_thread_recorded():
            self._recorder.on_loop(i, iterable, frame=sys._getframe(1))
        return iterable

    def _on_lambda(self) -> None:
        if is_recursion_too_deep():
            raise RecursionError("maximum recursion depth exceeded")
        if self.is_current_thread_recorded():
            self._recorder.on_lambda(frame=sys._getframe(1))


class OwnModuleHooks(InstrumentationHooks):
    """The hooks of project modules that were not named by the user. If one statement calls a function very often, some
    calls pass unrecorded."""

    def __init__(self, recorder: Recorder, unstepped_calls: UnsteppedCalls) -> None:
        super().__init__(recorder)
        self._unstepped_calls = unstepped_calls

    def is_current_thread_recorded(self) -> bool:
        return super().is_current_thread_recorded() and not is_in_unstepped_call(sys._getframe(2))

    def _on_call(self, i: int) -> None:
        if is_recursion_too_deep():
            raise RecursionError("maximum recursion depth exceeded")
        frame = sys._getframe(1)
        if super().is_current_thread_recorded() and not self._unstepped_calls.runs_without_steps(frame, self._recorder):
            self._recorder.on_call(i, frame=frame)


def is_current_thread_recorded(session_thread: int) -> bool:
    """Whether this thread is the session's, or one of torch's engine for which the session's thread waits."""
    thread = threading.get_ident()
    if thread == session_thread:
        return True
    started = threading._active.get(thread)  # type: ignore[attr-defined]
    by_torch = started is None or isinstance(started, threading._DummyThread)
    return by_torch and any(waiting == session_thread for waiting, _ in threads_waiting_for_engine)


def set_partial_function(hook: Any, function: Callable[..., Any]) -> None:
    """Make a `functools.partial` call another function."""
    hook.__setstate__((function, (), {}, None))


def do_nothing(*_: Any) -> None:
    """A hook without effect that passes on no value."""


def identity(value: Any) -> Any:
    return value


def pass_value_through(_: int, value: Any = None) -> Any:
    """A hook without effect that passes its value on."""
    return value


def resume_without_effect(_: int) -> Callable[[Any], Any]:
    return identity


HOOKS_WITHOUT_EFFECT: dict[str, Callable[..., Any]] = {
    instrument.STEP_HOOK: do_nothing,
    instrument.HEAD_HOOK: pass_value_through,
    instrument.CALL_HOOK: do_nothing,
    instrument.RETURN_HOOK: pass_value_through,
    instrument.VALUE_HOOK: pass_value_through,
    instrument.YIELD_HOOK: pass_value_through,
    instrument.RESUME_HOOK: resume_without_effect,
    instrument.CAUGHT_HOOK: do_nothing,
    instrument.LOOP_HOOK: pass_value_through,
    instrument.LAMBDA_HOOK: do_nothing,
}


class _HookPlaceholderInserter(ast.NodeTransformer):
    """Replaces names of hooks by constants that stand for them."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in HOOKS_WITHOUT_EFFECT:
            constant = ast.Constant((_PLACEHOLDER_TAG, node.id))  # type: ignore[arg-type]
            return ast.copy_location(constant, node)
        return node


def compile_with_hooks(
    tree: ast.Module,
    path: str,
    statements: ProgramStatements,
    line_offset: int,
    hooks: InstrumentationHooks,
    flags: int = 0,
    functions_only: bool = False,
) -> CodeType:
    """Compile a file with hooks, and add its statements to the table. Raises what the compiler raises, but gives no
    warnings, because the plain text was compiled already.

    flags: as `compile` takes them
    functions_only: the module's own statements have no steps
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 20_000))
    try:
        tree, _ = instrument.instrument_tree(SyntaxNodes(tree), statements, line_offset, functions_only)
        tree = _HookPlaceholderInserter().visit(tree)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(tree, path, "exec", flags, dont_inherit=True)
        return bind_hooks(code, hooks)
    finally:
        sys.setrecursionlimit(limit)


def bind_hooks(code: CodeType, hooks: InstrumentationHooks) -> CodeType:
    """The code with the hooks in place of the constants that stand for them."""
    constants: list[Any] = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            constants.append(bind_hooks(constant, hooks))
        elif type(constant) is tuple and len(constant) == 2 and constant[0] == _PLACEHOLDER_TAG:
            constants.append(hooks.by_name[constant[1]])
        else:
            constants.append(constant)
    return code.replace(co_consts=tuple(constants))
