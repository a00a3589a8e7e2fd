"""Records a program in its own process, which is the user's: everything that is installed is removed again.

Nothing is confined or refused here; seeds, threads, arguments, imports and files are up to the program.
"""

import ast
import contextlib
import functools
import os
import sys
import threading
import time
from collections.abc import Iterator
from importlib.util import decode_source
from pathlib import Path
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any, Self

import torch

from gradbox.language import policy
from gradbox.recorder import stack
from gradbox.recorder.program_streams import Stream
from gradbox.recorder.recorder import Recorder
from gradbox.recorder.step_recorder import RunContext
from gradbox.recorder.trace_lines import (
    cost_record,
    encode_json_line,
    error_record,
    program_lines_in_traceback,
    refused_outcome,
)
from gradbox.sessions import process_changes
from gradbox.sessions.earlier_cells import paths_of_called_cells
from gradbox.sessions.hooks import InstrumentationHooks, OwnModuleHooks, is_current_thread_recorded
from gradbox.sessions.line_tracer import LineTracer, OwnFiles, warn_tracing_taken
from gradbox.sessions.options import SessionFile, SessionOptions
from gradbox.sessions.own_modules import OwnModules
from gradbox.sessions.process_changes import OwnModuleFinder, RecordingImportFinder
from gradbox.sessions.recording_cost import slow_recording_message
from gradbox.sessions.session_code import SessionCode, build_header_record
from gradbox.sessions.statement_table import StatementTable
from gradbox.sessions.stream_recording import recorded_stream, recorded_warnings
from gradbox.sessions.unstepped_calls import UnsteppedCalls
from gradbox.sessions.unstepped_code import UnsteppedCode
from gradbox.wire import limits
from gradbox.wire.limits import Limit
from gradbox.wire.records import (
    OutcomeLineRecord,
    OutcomeRecord,
    StepRecord,
)

STREAMS: tuple[Stream, ...] = ("stdout", "stderr")

OUTCOME_RESERVE_BYTES = 1 << 16
"""Bytes of the trace that are reserved for the outcome."""

DEFAULT_LIMITS: dict[str, int | float] = {
    name: row.default for name, row in limits.LIMITS.items() if name in limits.REPEATABLE_LIMITS
}

_active_sessions: list["Session"] = []


def is_recording() -> bool:
    """Whether a session has begun and not ended."""
    return bool(_active_sessions)


@contextlib.contextmanager
def operations_unrecorded() -> Iterator[None]:
    """Attribute what the thread computes inside the block to nobody, whether or not a session records."""
    recorder = _active_sessions[-1].recorder if _active_sessions else None
    if recorder is None:
        yield
        return
    with recorder.unrecorded_after_program():
        yield


class Session:
    """Records between `begin` and `end`. After `end` the process is as before, and `lines` holds the trace's lines.
    Only one session runs at a time.

    files: the files that get steps; the first is the program's main file
    slow_recording_message: after `end`, why the recording took long, "" if it did not
    """

    def __init__(
        self, options: SessionOptions, files: list[SessionFile], namespace: dict[str, Any] | None = None
    ) -> None:
        self.options = options
        self.limits = DEFAULT_LIMITS | options.limits
        self.namespace: dict[str, Any] = {} if namespace is None else namespace
        self.recorder: Recorder | None = None
        self.hooks: InstrumentationHooks | None = None
        self.last_expression: Any = None
        self._steps: list[bytes] = []
        self._trace_bytes = 0
        self._code = SessionCode(files)
        self._outcome: OutcomeRecord | None = None
        self._outcome_line: bytes | None = None
        self._exit_stack = contextlib.ExitStack()
        self._line_tracer: LineTracer | None = None
        self._traced_frame: FrameType | None = None  # the frame that asked for `follow_frame`
        self._unstepped_calls = UnsteppedCalls()
        self.own_modules = OwnModules(options.own_folder)
        self._own_hooks: OwnModuleHooks | None = None
        self._own_files = OwnFiles(self._add_running_file, self._unstepped_calls)
        self._unstepped: UnsteppedCode | None = None
        self.slow_recording_message = ""
        self._muted_output = False
        self._wall_start = self._cpu_start = self._installed_at = 0.0
        self._seed = 0

    @property
    def lines(self) -> list[bytes]:
        """The lines of the trace in the form that a child writes: header, steps, outcome."""
        assert self._outcome_line is not None, "the session has not ended"
        return [self._header_line(), *self._steps, self._outcome_line]

    @property
    def step_count(self) -> int:
        """How many steps are recorded so far."""
        return len(self._steps)

    @property
    def is_recording(self) -> bool:
        """Whether the session has begun, and has neither ended nor reached a limit."""
        return bool(_active_sessions) and _active_sessions[-1] is self and self._outcome is None

    # Begin and end

    def begin(self) -> None:
        """Install the observation. Raises RuntimeError if another session runs, or if torch can't be observed."""
        if _active_sessions:
            raise RuntimeError("a session of gradbox is recording already")
        if not hasattr(torch._C._autograd.SavedTensor, "unpack_hook"):
            raise RuntimeError(
                f"gradbox needs torch 2.11 or later to ask what autograd saved; this is {torch.__version__}"
            )
        self._wall_start, self._cpu_start, self._seed = time.perf_counter(), time.process_time(), torch.initial_seed()
        _active_sessions.append(self)
        self._exit_stack.callback(_active_sessions.remove, self)
        try:
            self._install_observers()
        except BaseException:
            self._exit_stack.close()
            raise
        self._installed_at = time.perf_counter()

    def _install_observers(self) -> None:
        hidden = None
        if self.options.shows_earlier_names:
            hidden = frozenset(n for n in self.namespace if n.startswith("_")) | self.options.hidden_names
        with process_changes.program_files_registered(self._code.line_offsets):
            self._unstepped = unstepped = UnsteppedCode(self.namespace, self._unstepped_calls)
        context = RunContext(
            self.namespace, self._code.statements, self.limits, self._write_step, self._stop_at_limit,
            self.options.focus, hidden_names=hidden,
            is_recorded=functools.partial(is_current_thread_recorded, threading.get_ident()), unstepped_code=unstepped,
            on_skipped_iteration=self.options.on_skipped_iteration,
        )  # fmt: skip
        self.recorder = recorder = Recorder(context)
        self.hooks = hooks = InstrumentationHooks(recorder)
        enter = self._exit_stack.enter_context
        self._own_hooks = OwnModuleHooks(recorder, self._unstepped_calls)
        self._exit_stack.callback(hooks.disconnect)
        self._exit_stack.callback(self._own_hooks.disconnect)
        enter(process_changes.program_files_registered(self._code.line_offsets))
        enter(process_changes.program_classes_registered(self._code.line_offsets))
        enter(process_changes.instance_dicts_sped_up_at_exit())
        enter(process_changes.recursion_limit_raised())
        enter(process_changes.recorder_frames_hidden_in_tracebacks(self.options.module_is_outermost))
        for name in STREAMS:
            enter(recorded_stream(name, self._record_output, self.options.before_output))
        enter(recorded_warnings(recorder.record_warning, self._output_muted))
        for probe in (
            recorder.ops,
            recorder.backward,
            recorder.optimizer_steps,
            recorder.module_calls,
            recorder.swap,
            recorder.jit,
        ):
            enter(probe)
        enter(recorder.replacements.only_compile_replaced())
        if self.options.also:
            enter(RecordingImportFinder(self.options.also, self._compile_imported_module))

    def _compile_imported_module(self, path: str, source: str) -> CodeType | None:
        """The code of an imported module with steps; None if it gets none. Raises what the compiler raises."""
        return self._compile_module(path, source, self.hooks, functions_only=False)

    def _compile_own_module(self, path: str, source: str) -> CodeType | None:
        """The same for a project module that was not named: its functions have steps."""
        return self._compile_module(path, source, self._own_hooks, functions_only=True)

    def _compile_module(
        self, path: str, source: str, hooks: InstrumentationHooks | None, functions_only: bool
    ) -> CodeType | None:
        if not self.is_recording or hooks is None:
            return None
        known = len(self._code.files)
        code = self._code.compile_imported_module(path, source, hooks, functions_only)
        if len(self._code.files) > known:
            self._send_header_to_sink()
        return code

    def _add_running_file(self, code: CodeType) -> StatementTable | None:
        """The statements of a project file whose code is about to run; None if it gets no steps."""
        source = self.own_modules.source_if_stepped(code.co_filename)
        table = None if source is None else self._code.add_running_file(code, source)
        if table is not None:
            self._send_header_to_sink()
        return table

    def end(self, error: BaseException | None = None) -> None:
        """Record what is left, and remove what was installed.

        error: the exception that ended the recorded part
        """
        if self not in _active_sessions:
            return
        self._stop_line_tracer()
        tracer, taken = self._line_tracer, False
        recorder = self.recorder
        rounds = None if recorder is None else recorder.rounds.record
        try:
            if tracer is not None and self._outcome is None:
                taken = tracer.record_if_tracing_was_taken()
            if self._outcome is None:
                self._record_outcome(error)
            stack.hide_recorder_frames(error)
        finally:
            self.slow_recording_message = self._slow_recording_message()
            self._uninstall_observers()
        if taken:
            warn_tracing_taken(self.options.title)
        assert self._outcome is not None
        line: OutcomeLineRecord = {"outcome": self._outcome, "cost": cost_record(self._wall_start, self._cpu_start)}
        told = None if rounds is None else rounds()
        if told is not None:
            line["rounds"] = told
        self._outcome_line = encode_json_line(line)

    def _slow_recording_message(self) -> str:
        recorder, unstepped = self.recorder, self._unstepped
        if recorder is None or unstepped is None:
            return ""
        what = (self.options.region or {}).get("name") or self.options.title
        seconds = time.perf_counter() - self._installed_at
        return slow_recording_message(
            what,
            seconds,
            recorder.steps.count,
            recorder.steps.full_observations,
            unstepped.looks,
            recorder.storage_bytes(),
        )

    def __enter__(self) -> Self:
        self.begin()
        return self

    def __exit__(self, _: object, error: BaseException | None, __: TracebackType | None) -> None:
        self.end(error)

    def _uninstall_observers(self) -> None:
        recorder = self.recorder
        assert recorder is not None
        recorder.stop_recording()
        if self._line_tracer is not None:
            self._line_tracer.release_generators()
        self._exit_stack.close()
        self._code.restore_plain_functions()
        recorder.observer.node_uids.remove_tokens()
        self.recorder = self.hooks = self._own_hooks = self._traced_frame = None

    def abandon_in_fork(self) -> None:
        """In a forked child, stop recording and leave the trace to the parent."""
        self._stop_line_tracer()
        self._outcome = {"status": "finished"}
        self._code.forget_code_pairs()
        self._uninstall_observers()

    # Running code

    def record_initial_state(self, frame: FrameType | None = None) -> None:
        """Record what exists already.

        frame: the program's innermost frame that runs
        """
        if self.recorder is not None and self.is_recording:
            line = 1 if frame is None else stack.to_program_line(frame.f_code, frame.f_lineno or 1)
            self.recorder.record_begin_step(frame, line)

    def follow_frame(self, frame: FrameType | None) -> None:
        """Record what this frame does from here on, and everything that it calls in the files, whose code runs
        uninstrumented.

        frame: the frame of the first file's code that asks; None for what is called from now on
        """
        self._traced_frame = frame
        self._begin_line_tracer(frame, frame, [])

    def follow_stack(self, frame: FrameType) -> None:
        """Record what the program's running functions do from here on, and everything that they call. Raises
        RuntimeError if none of the program's functions runs.

        frame: the innermost frame that runs, whoever it belongs to
        """
        if self.options.own_folder is not None:
            for f in list(stack.frames_outward(frame))[::-1]:
                if f.f_code.co_filename not in stack.line_offsets:
                    self._own_files.statement_table_for_code(f.f_code)
        frames = [f for f in stack.frames_outward(frame) if stack.has_steps(f.f_code)]
        if not frames:
            raise RuntimeError("no function of the program runs")
        self._begin_line_tracer(frames[0], None, frames)  # none of them is kept: they may end before the recording does

    def _begin_line_tracer(self, innermost: FrameType | None, root: FrameType | None, others: list[FrameType]) -> None:
        """Follow a root frame, which goes on after the recording, and other running frames."""
        assert self.recorder is not None
        tables = self._code.plain_statement_tables() | self._own_files.known_tables()
        self.record_initial_state(innermost)
        own_files = self._own_files if self.options.own_folder is not None else None
        self._line_tracer = LineTracer(self.recorder, tables, own_files=own_files)
        if self._outcome is None:
            self._line_tracer.start(root, others)
        self._send_header_to_sink()

    def end_recorded_part_in_frame(self, frame: FrameType) -> None:
        """End the recorded part here, where the program goes on; call `end` afterwards.

        frame: the innermost frame that runs
        """
        self._traced_frame = stack.innermost_stepping_frame(frame)

    def finish_innermost_statement(self, frame: FrameType) -> None:
        """Count the running statement as over, though it goes on; call `end` afterwards.

        frame: the innermost frame that runs
        """
        self.end_recorded_part_in_frame(frame)
        if self._line_tracer is not None and self._traced_frame is not None:
            self._line_tracer.finish_running_statement(self._traced_frame)

    def stop_following_frame(self, frame: FrameType, position: tuple[int, int] | None = None) -> None:
        """Note that the last statement of the traced frame is over, though the frame goes on; call `end` afterwards.

        position: line and column of the statement whose block contains the recorded part, None for the frame's own
            block
        """
        if self._line_tracer is not None:
            self._line_tracer.stop_following_frame(frame, position)

    def run_code(
        self, code: ast.Module | str, namespace: dict[str, Any] | None = None, flags: int = 0
    ) -> BaseException | None:
        """Run the main file's code in `namespace` with a step for every statement. An exception is returned, not
        raised.

        code: the file's text or tree
        flags: as `compile` takes them. Afterwards `last_expression` is the value of the last statement if that is an
            expression.
        """
        if namespace is not None and namespace is not self.namespace:
            raise ValueError("the session was made for another namespace")
        assert self.recorder is not None and self.hooks is not None, "the session has not begun"
        file = self._code.files[0]
        try:
            compiled = self._compile_main_file(code, file, flags)
        except SyntaxError as error:
            self._outcome = refused_outcome([policy.syntax_refusal(error, file.source)])
            return error
        if not self.options.module_is_outermost:
            self._step_imported_modules(ast.parse(code) if isinstance(code, str) else code)
        if self.options.own_folder is not None:
            finder = OwnModuleFinder(self.options.also, self.own_modules, self._compile_own_module)
            self._exit_stack.enter_context(finder)
        try:
            exec(compiled, self.namespace)
        except BaseException as error:
            stack.drop_frames_before_program(error)
            stack.hide_recorder_frames(error)
            self._record_outcome(error)
            return error
        finally:
            self.last_expression = self.hooks.kept_value if self.hooks is not None else None
        return None

    def _step_imported_modules(self, tree: ast.Module) -> None:
        """Give steps to functions of modules that were imported before the session: those that `also` names, the
        project's, and the notebook cells to which the program's main file leads.

        tree: the syntax tree of the main file
        """
        assert self.hooks is not None and self._own_hooks is not None
        named = RecordingImportFinder(self.options.also, self._compile_imported_module)
        found: dict[str, tuple[str, str, InstrumentationHooks]] = {}
        for name, module in list(sys.modules.items()):
            path = vars(module).get("__file__") if type(module) is ModuleType else None
            if type(path) is not str or not path.endswith(".py") or path in found:
                continue
            source = self.own_modules.source_if_stepped(path)
            if named.matches_module(name):
                source = decode_source(Path(path).read_bytes())
                found[path] = path, source, self.hooks
            elif source is not None:
                found[path] = path, source, self._own_hooks
        for path in paths_of_called_cells(tree, self.namespace):
            source = self.own_modules.source_if_stepped(path)
            if source is not None and path not in self._code.line_offsets:
                found[path] = path, source, self._own_hooks
        self._code.instrument_imported_modules(list(found.values()))

    def _compile_main_file(self, code: ast.Module | str, file: SessionFile, flags: int) -> CodeType:
        tree = ast.parse(code, file.path) if isinstance(code, str) else code
        assert self.hooks is not None
        rows = self._code.statements.rows
        first = len(rows)
        last = tree.body[-1] if tree.body else None
        compiled = self._code.compile_file(tree, file.path, self.hooks, flags)
        self._send_header_to_sink()
        if isinstance(last, ast.Expr):
            self.hooks.kept_statement = max(k for k in range(first, len(rows)) if rows[k]["parent"] is None)
        return compiled

    # What is recorded

    def _record_outcome(self, error: BaseException | None) -> None:
        """Record how the program ended, once."""
        recorder = self.recorder
        if recorder is None or self._outcome is not None:
            return
        line = recorder.steps.line
        outcome: OutcomeRecord = {"status": "finished"}
        if error is not None:
            recorder.record_exception(error)
            with recorder.unrecorded_after_program():
                record = error_record(error)
            record["step"] = max(recorder.steps.count - 1, 0)
            if recorder.raised_in_iteration is not None:
                loop, iteration = recorder.raised_in_iteration
                record["skipped_iteration"] = {"loop": loop, "iteration": iteration}
            outcome = {"status": "raised", "error": record}
            line = next((line for line, name in program_lines_in_traceback(error) if name == "<module>"), line)
        if self._outcome is None:  # else a limit was reached just now
            recorder.record_end_step(line, self._traced_frame)
        self._outcome = self._outcome or outcome

    def _write_step(self, step: StepRecord) -> int:
        if self._outcome is not None:
            return 0
        line = encode_json_line({"step": step})
        if self._trace_bytes + len(line) > int(self.limits["trace"]) - OUTCOME_RESERVE_BYTES:
            self._stop_at_limit("trace", self.limits["trace"])
            return 0
        self._steps.append(line)
        if self.options.sink is not None:
            self.options.sink.write_step(line)
        self._trace_bytes += len(line)
        if self.options.on_step is not None:
            self.options.on_step(step)
        return len(line)

    def _stop_at_limit(self, limit: Limit, value: float) -> None:
        """Stop recording; the program goes on at its own speed."""
        if self._outcome is None and self.recorder is not None and self.hooks is not None:
            line = self.recorder.steps.line
            self._outcome = {"status": "stopped", "stopped": {"limit": limit, "value": value, "line": line}}
            self.recorder.stop_recording()
            self.hooks.disconnect()
            if self._own_hooks is not None:
                self._own_hooks.disconnect()
            self._stop_line_tracer()

    def _stop_line_tracer(self) -> None:
        if self._line_tracer is not None:
            self._line_tracer.stop()

    def _record_output(self, stream: Stream, text: str) -> None:
        if not self._muted_output and self._outcome is None and self.recorder is not None:
            self.recorder.record_output(stream, text)

    @contextlib.contextmanager
    def _output_muted(self) -> Iterator[None]:
        muted, self._muted_output = self._muted_output, True
        try:
            yield
        finally:
            self._muted_output = muted

    def _header_line(self) -> bytes:
        return encode_json_line(
            {
                "header": build_header_record(
                    self._code.files, self._code.statements, self.limits, self.options, self._seed
                ),
                "deterministic": False,
            }
        )

    def _send_header_to_sink(self) -> None:
        if self.options.sink is not None:
            self.options.sink.write_header(self._header_line())


def _abandon_sessions_in_fork() -> None:
    for session in list(_active_sessions):
        session.abandon_in_fork()


os.register_at_fork(after_in_child=_abandon_sessions_in_fork)
