"""The process whose forks run programs in sessions of `server.worker.in_process`: see tests.fork_host."""

import contextlib
import io
import pickle
import sys
import tempfile
import types
from typing import Any

import torch
import torch._dynamo

from server.worker import recorder_frames
from server.worker.in_process.options import ProgramFile, SessionOptions
from server.worker.in_process.session import Session
from server.worker.probes import ops
from tests.fork_host import Request, Write, serve
from tests.plain_host import described, prepare_main
from tests.process_state import process_state
from tests.referee.torch_facts import facts


def handle(request: Request, write: Write) -> None:
    """Write a pickle of what a session recorded of a program, and of what the program did. This process is a fork for it.

    as_it_is: its code is not instrumented. `lines` of the trace; `printed`, `error`, `facts` as tests.plain_host has them of plain Python; `left`: what is not
    as it was before the session, but for the numbers of hooks, which are the program's.
    """
    source = request["source"]
    namespace = prepare_main(source)
    out = io.StringIO()
    session = Session(
        SessionOptions(limits=request["limits"]), [ProgramFile("<program>", "program.py", source)], namespace
    )
    result: dict[str, Any] = {"error": None}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(out):
        before = process_state()
        session.begin()
        if request["as_it_is"]:
            error = run_as_it_is(session, source, namespace)
            session.end(error)
        else:
            error = session.run(source)
            session.end()
        after = process_state()
        if error is not None:
            result["error"] = described(error, source)
    result["left"] = [name for name in before if before[name] != after[name] and name != "hook numbers"]
    result |= {"printed": out.getvalue(), "lines": session.lines, "facts": facts(namespace)}
    write(pickle.dumps(result))


def run_as_it_is(session: Session, source: str, namespace: dict[str, Any]) -> BaseException | None:
    """Run code that is not instrumented, and follow it from its first line; what it raised."""

    def on_first_call(frame: types.FrameType, *_: Any) -> Any:
        session.trace_lines(frame)
        return frame.f_trace

    code = compile(source, "<program>", "exec", dont_inherit=True)
    try:
        sys.settrace(on_first_call)
        exec(code, namespace)
    except BaseException as error:
        recorder_frames.drop_leading_frames(error)
        recorder_frames.hide_recorder_frames(error)
        return error
    finally:
        sys.settrace(None)
    return None


if __name__ == "__main__":
    torch.set_num_threads(1)
    ops.register_kernels()
    serve(handle)
