"""Runs one program in this process, which is the program's own, and writes its trace as lines.

Everything done with the source is done here: a hostile one hurts only its own run.
"""

import ast
import builtins
import json
import linecache
import os
import platform
import random
import re
import resource
import sys
import time
import traceback
import types
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import torch
from pydantic_core import to_json

from server import __version__
from server.language import paste, policy, repairs
from server.language.determinism import nondeterministic_names
from server.wire import limits
from server.wire.records import StepRecord
from server.worker import introspection
from server.worker.device_name import device_name
from server.worker.displayhook import expressions_with_output
from server.worker.instrument import Statements, instrument
from server.worker.introspection import traceback_of
from server.worker.recorder import Recorder
from server.worker.run_context import RunContext
from server.worker.stack import PROGRAM, RECURSION_SLACK, frames_outward
from server.worker.streams import OutputStream

LIMITS: dict[str, int | float] = {name: row.default for name, row in limits.LIMITS.items() if name in limits.REPEATABLE}
"""Limits of a job that names no others: steps, printed characters, tensors alive at once, bytes of the trace."""

RESERVE = 1 << 16
"""Bytes of the trace that the outcome may need."""

RECURSION = 1000

NO_MEMORY = re.compile(
    r"can't allocate memory|bad_alloc|Cannot allocate memory|CUDA out of memory|CUDA error: out of memory"
)
"""What torch says where Python would raise a MemoryError."""

REHEARSAL = """\
import torch
def f(x, k):
    return x.view(1, 2) * k
x = torch.ones(2, requires_grad=True)
y = x.detach()[0]
for k in range(2):
    z = f(x, k) + 1
z[0, 0] = 2.0
print([y, {"z": z}])
try:
    (z @ z.t()).relu().sum().backward()
    y.backward()
except RuntimeError as error:
    x.grad.zero_()
"""
HASH_SEED = int(os.environ.get("PYTHONHASHSEED") or 0)  # the children's environment is empty
_RECORDER = Recorder.hooks.__code__.co_filename


class ProgramRun:
    """One program from its pasted text to the outcome. `write` takes whole lines of JSON."""

    def __init__(self, job: dict[str, Any], write: Callable[[bytes], None]) -> None:
        self._source, self._seed = str(job["source"]), int(job.get("seed", 0))
        self._device = str(job.get("device", "cpu"))
        self._limits = LIMITS | dict(job.get("limits") or {})
        self._focus = dict(job.get("focus") or {})
        self._send, self._written = write, 0
        self._began, self._cpu = time.perf_counter(), time.process_time()
        self._recorder: Recorder | None = None

    def run(self) -> None:
        """Check, run and trace the program. Ends this process with the last line of the trace."""
        pasted = paste.normalise(self._source)
        tree, refusals = policy.check(pasted.source)
        statements, code = Statements(), None
        deterministic = tree is not None and not nondeterministic_names(tree)
        if tree is not None and not refusals:
            try:
                statements, code = compile_instrumented(tree)
            except SyntaxError as error:  # what only the compiler finds: `return` outside a function
                refusals = [policy.syntax_refusal(error, pasted.source)]
            except (RecursionError, MemoryError):
                refusals = [policy.too_deep_refusal(pasted.source)]
        self._write_line({"header": self._header(pasted, statements), "deterministic": deterministic})
        if code is None:
            self._end(refusal_outcome(repairs.offer_repairs(pasted, self._source, refusals)))
        else:
            self._run_program(code, pasted, statements)

    def _header(self, pasted: paste.Pasted, statements: Statements) -> dict[str, Any]:
        lines = pasted.source.split("\n")
        rows = [
            {**row, "col": policy.character_column(lines[row["line"] - 1], row["col"]),
             "end_col": policy.character_column(lines[row["end_line"] - 1], row["end_col"])}
            for row in statements.rows
        ]  # fmt: skip
        program: dict[str, Any] = {"source": pasted.source, "lines": pasted.lines, "statements": rows}
        if pasted.source != self._source:
            program["pasted"] = self._source
        program["notices"] = [notice.model_dump(mode="json", exclude_unset=True) for notice in pasted.notices]
        return {
            "schema": 1,
            "program": program,
            "runtime": {
                "torch": str(torch.__version__),
                "numpy": np.__version__,
                "python": platform.python_version(),
                "tracer": __version__,
                "device": self._device,
                "device_name": device_name(self._device),
                "seed": self._seed,
                "hash_seed": HASH_SEED,
                "threads": 1,
                "limits": self._limits,
            },
        }

    def _run_program(self, code: types.CodeType, pasted: paste.Pasted, statements: Statements) -> None:
        module = types.ModuleType("__main__")
        space = module.__dict__
        space["__builtins__"] = builtins
        displayed = expressions_with_output(pasted.notices, statements.rows)
        context = RunContext(
            space, statements, self._limits, self._write_step, self._stop_at_limit, self._focus, displayed
        )
        recorder = self._recorder = Recorder(context)
        self._set_up_interpreter(pasted.source, module, recorder)
        recorder.observer.devices.reset_peaks()
        error = self._execute(code, space, recorder)
        outcome: dict[str, Any] = {"status": "finished"}
        line = statements.rows[-1]["line"] if statements.rows else 1
        if error is not None:
            recorder.record_exception(error)
            with recorder.program_over():  # its `__str__` may be the program's own
                fields = describe_error(error)
            offers = repairs.cpu_repairs(pasted, self._source, fields["message"]) if self._device == "cpu" else []
            if offers:
                fields["repairs"] = [offer.model_dump(mode="json", exclude_unset=True) for offer in offers]
            outcome = {"status": "raised", "error": {**fields, "step": max(recorder.steps.count - 1, 0)}}
            if "memory" in self._limits and (
                issubclass(type(error), MemoryError) or NO_MEMORY.search(fields["message"])
            ):
                stopped = {"limit": "memory", "value": self._limits["memory"], "line": fields["line"]}
                outcome |= {"status": "stopped", "stopped": stopped}
            line = next((line for line, name in program_frames(error) if name == "<module>"), line)
        else:
            line = recorder.steps.line if recorder.steps.line else line
        error = None
        recorder.record_end(line)
        self._end(outcome)

    def _set_up_interpreter(self, source: str, module: types.ModuleType, recorder: Recorder) -> None:
        """Set up the interpreter as a program finds it when python runs it as a script."""
        sys.modules["__main__"] = module
        sys.argv = [PROGRAM]
        linecache.cache[PROGRAM] = (len(source), None, source.splitlines(keepends=True), PROGRAM)
        seed_generators(self._seed, self._device)
        torch.set_num_threads(1)
        for name, stream in (
            ("stdout", OutputStream("stdout", recorder.write_output)),
            ("stderr", OutputStream("stderr", recorder.write_output)),
        ):
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)

        def show(message: Any, category: type, *_: Any, **__: Any) -> None:
            recorder.record_warning(category.__name__, str(message))

        warnings.showwarning = show
        builtins.__dict__.update(recorder.hooks())

    def _execute(self, code: types.CodeType, space: dict[str, Any], recorder: Recorder) -> BaseException | None:
        sys.setrecursionlimit(RECURSION + len(list(frames_outward(sys._getframe()))) + RECURSION_SLACK)
        try:
            with recorder.ops, recorder.backward, recorder.swap:
                exec(code, space)
        except BaseException as error:
            return error
        return None

    def _write_step(self, step: StepRecord) -> int:
        line = encode_line({"step": step})
        if self._written + len(line) > int(self._limits["trace"]) - RESERVE:
            self._stop_at_limit("trace", self._limits["trace"])
        self._write(line)
        return len(line)

    def _stop_at_limit(self, limit: str, value: float) -> NoReturn:
        line = self._recorder.steps.line if self._recorder is not None else None
        self._end({"status": "stopped", "stopped": {"limit": limit, "value": value, "line": line}})

    def _write_line(self, value: dict[str, Any]) -> None:
        self._write(encode_line(value))

    def _write(self, line: bytes) -> None:
        self._written += len(line)
        self._send(line)

    def _end(self, outcome: dict[str, Any]) -> NoReturn:
        """The last line; nothing of the program runs after it: no thread, no exit handler, no destructor."""
        cost = {
            "wall_ms": round((time.perf_counter() - self._began) * 1000, 3),
            "cpu_ms": round((time.process_time() - self._cpu) * 1000, 3),
            "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }
        again = self._recorder.focus_counts if self._recorder is not None and not self._focus else None
        self._write_line({"outcome": outcome, "cost": cost, **({"again": again} if again else {})})
        os._exit(0)


def seed_generators(seed: int, device: str) -> None:
    """Seed all generators. `torch.manual_seed` asks every kind of accelerator, which takes 2 ms in a fresh fork."""
    if device == "cpu":
        torch.default_generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)


def run(job: dict[str, Any], write: Callable[[bytes], None]) -> NoReturn:
    """Run the program of `job` (`server.wire.api.Job`), write its trace as JSON lines, and end this process."""
    try:
        ProgramRun(job, write).run()
    except BaseException:
        write(encode_line({"fault": traceback.format_exc()[-4000:]}))
    os._exit(1)


class RehearsalOver(BaseException):
    """Raised where a rehearsal would end its process."""


def rehearse(interrupted: Callable[[], bool] = lambda: False) -> None:
    """Run a small program and discard it, so that no child has to run anything of the recorder for the first time."""

    def write(line: bytes) -> None:
        if not line.startswith((b'{"header"', b'{"step"')) or interrupted():
            raise RehearsalOver

    main, handle = sys.modules.get("__main__"), torch.utils.hooks.RemovableHandle.next_id
    replaced = {name: getattr(sys, name) for name in ("argv", "stdout", "stderr", "__stdout__", "__stderr__")}
    try:
        ProgramRun({"source": REHEARSAL}, write).run()
    except RehearsalOver:
        pass
    finally:
        for name, value in replaced.items():
            setattr(sys, name, value)
        if main is not None:
            sys.modules["__main__"] = main
        linecache.cache.pop(PROGRAM, None)
        torch.utils.hooks.RemovableHandle.next_id = handle


def compile_instrumented(tree: ast.Module) -> tuple[Statements, types.CodeType]:
    """The instrumented program; the compiler's own limits are those of plain Python."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        tree, statements = instrument(tree)
    finally:
        sys.setrecursionlimit(limit)
    return statements, compile(tree, PROGRAM, "exec", dont_inherit=True)


def encode_line(value: dict[str, Any]) -> bytes:
    """The value as a line of JSON. Raises ValueError and TypeError for what JSON can't hold."""
    try:
        line = to_json(value, inf_nan_mode="constants")
    except ValueError:  # half of a character
        line = b"NaN"
    if b"NaN" in line or b"Infinity" in line:  # in a text, or as a number, which JSON has not
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        line = text.encode("utf-8", "replace")
    return line + b"\n"


def program_frames(error: BaseException) -> list[tuple[int, str]]:
    """(line, frame) of the program's frames in a traceback, outermost first."""
    frames = list(traceback.walk_tb(traceback_of(error)))
    if frames and frames[-1][0].f_code.co_filename == _RECORDER and issubclass(type(error), RecursionError):
        frames = frames[:-2]  # the call that was one too many
    return [(line, frame.f_code.co_name) for frame, line in frames if frame.f_code.co_filename == PROGRAM]


def error_message(error: BaseException) -> str:
    """What the program itself would print; its `__str__` may be the program's own."""
    try:
        return str(error)[:10_000]
    except BaseException:
        return "<exception str() failed>"


def describe_error(error: BaseException) -> dict[str, Any]:
    """The fields of `server.wire.trace.Error`: type, message, line, stack, and the cause where there is one."""
    frames = program_frames(error)
    out: dict[str, Any] = {
        "type": introspection.class_name(type(error)),
        "message": error_message(error),
        "line": frames[-1][0] if frames else None,
        "stack": [{"line": line, "frame": name} for line, name in frames],
    }
    cause = introspection.exception_cause(error)
    if cause is not None:
        lines = program_frames(cause)
        out["cause"] = {
            "type": introspection.class_name(type(cause)),
            "message": error_message(cause),
            "line": lines[-1][0] if lines else None,
        }
    return out


def refusal_outcome(refusals: list[Any]) -> dict[str, Any]:
    """The outcome that names every refusal at once."""
    first = refusals[0]
    kind = "SyntaxError" if first.key == "syntax" else "Refused"
    return {
        "status": "refused",
        "error": {
            "type": kind,
            "message": first.message,
            "line": first.line,
            "refusals": [refusal.model_dump(mode="json", exclude_unset=True) for refusal in refusals],
        },
    }
