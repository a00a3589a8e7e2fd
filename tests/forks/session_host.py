"""The process whose forks run programs in sessions of `gradbox.sessions`: see tests.forks.fork_host."""

import ast
import contextlib
import functools
import gc
import pickle
import sys
import tempfile
import types
from pathlib import Path
from typing import Any

from gradbox.recorder import instrument, stack
from gradbox.recorder.observer import Observer
from gradbox.recorder.probes import ops
from gradbox.sessions.hooks import pass_value_through, set_partial_function
from gradbox.sessions.options import SessionFile, SessionOptions
from gradbox.sessions.session import Session
from tests.forks.fork_host import Request, Write, serve
from tests.forks.plain_host import StandardOutput, described, prepare_main
from tests.referee.torch_facts import facts
from tests.support.full_observation import comparing
from tests.support.process_state import process_state


def handle(request: Request, write: Write) -> None:
    """Write a pickle of what a session recorded of a program, and of what the program did. This process is a fork for
    it.

    as_it_is: its code is not instrumented. modules: texts of modules beside it, by name, that are not stepped. missed:
    say what its steps missed as `missed`, and which of them observed everything as `everything`. `lines` of the trace;
    `printed`, `error`, `facts` as tests.forks.plain_host has them of plain Python; `left`: what is not as it was before
    the session, but for the numbers of hooks, which are the program's. `with_hooks`: functions of the program that
    still call the recorder.
    """
    source = request["source"]
    missed: list[dict[str, Any]] = []
    everything: list[int] = []
    if request.get("missed"):
        Observer.observe = comparing(missed.append, everything.append)
    namespace = prepare_main(source)
    out = StandardOutput()
    session = Session(
        SessionOptions(limits=request["limits"]), [SessionFile("<program>", "program.py", source)], namespace
    )
    result: dict[str, Any] = {"error": None}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(out):
        sys.path.insert(0, folder)
        for name, text in request.get("modules", {}).items():
            Path(folder, f"{name}.py").write_text(text)
        before = process_state()
        session.begin()
        if request.get("without_values") and not request["as_it_is"]:
            record_no_values(session)
        if request["as_it_is"]:
            error = run_as_it_is(session, source, namespace)
            session.end(error)
        else:
            code = decided_tests(ast.parse(source, "<program>")) if request.get("without_values") else source
            error = session.run_code(code)
            session.end()
        after = process_state()
        if error is not None:
            result["error"] = described(error, source)
    result["left"] = [name for name in before if before[name] != after[name] and name != "hook numbers"]
    result |= {
        "missed": missed,
        "everything": everything,
        "printed": out.getvalue(),
        "lines": session.lines,
        "facts": facts(namespace),
    }
    result["with_hooks"] = [
        function.__qualname__ for function in functions_of_program() if has_hooks(function.__code__)
    ]
    write(pickle.dumps(result))


def functions_of_program() -> list[types.FunctionType]:
    """The functions of the program that live."""
    alive = [value for value in gc.get_objects() if type(value) is types.FunctionType]
    return [function for function in alive if function.__code__.co_filename == "<program>"]


def has_hooks(code: types.CodeType) -> bool:
    return any(
        isinstance(value, functools.partial) or (isinstance(value, types.CodeType) and has_hooks(value))
        for value in code.co_consts
    )


def record_no_values(session: Session) -> None:
    """Have instrumented code record what can be known of code that runs as it is: no values of expressions and
    tests."""
    assert session.hooks is not None
    hooks, recorder = session.hooks, session.recorder
    assert recorder is not None

    def head(i: int, *test: Any) -> Any:
        recorder.on_head(i, frame=sys._getframe(1))
        return test[0] if test else None

    set_partial_function(hooks.by_name[instrument.HEAD_HOOK], head)
    set_partial_function(hooks.by_name[instrument.VALUE_HOOK], pass_value_through)
    session.record_initial_state()


def decided_tests(tree: ast.Module) -> ast.Module:
    """The tree with `True if test else False` in the place of each test: its step then comes after the test is
    decided."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.While):
            decided = ast.IfExp(node.test, ast.Constant(True), ast.Constant(False))
            for part in (decided, decided.body, decided.orelse):
                ast.copy_location(part, node.test)
            node.test = decided
    return tree


def run_as_it_is(session: Session, source: str, namespace: dict[str, Any]) -> BaseException | None:
    """Run code that is not instrumented, and follow it from its first line; what it raised."""

    def on_first_call(frame: types.FrameType, *_: Any) -> Any:
        sys.settrace(None)
        session.follow_frame(frame)
        return frame.f_trace

    code = compile(source, "<program>", "exec", dont_inherit=True)
    try:
        sys.settrace(on_first_call)
        exec(code, namespace)
    except BaseException as error:
        stack.drop_frames_before_program(error)
        stack.hide_recorder_frames(error)
        return error
    finally:
        if sys.gettrace() is on_first_call:  # the code ended before it was asked; the session takes its own away
            sys.settrace(None)
    return None


def main(listener: int, parent: int) -> None:
    """Serve at this descriptor, in a fork of tests.forks.torch_host."""
    ops.register_recording_kernels()
    serve(listener, parent, handle)
