"""Runs one program in this process, which belongs to the program, and writes its trace as lines. Also runs the server's
own small programs.

Everything that touches the source happens here: a hostile program harms only its own run.
"""

import builtins
import gc
import json
import linecache
import os
import platform
import random
import sys
import time
import traceback
import types
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np
import torch

from gradbox.gradient_check.check import GradientChecker
from gradbox.gradient_check.function_check import check_functions
from gradbox.gradient_check.replay import ReplayableProgram
from gradbox.gradient_check.sample_check import SampleChecker
from gradbox.language import paste, policy, repairs
from gradbox.language.determinism import nondeterministic_names
from gradbox.language.statement_syntax import statement_records
from gradbox.language.tree import SyntaxNodes
from gradbox.recorder.displayhook import statements_with_pasted_output
from gradbox.recorder.instrument import ProgramStatements, instrument_tree
from gradbox.recorder.probes.probe import ProbeContext
from gradbox.recorder.program_streams import OutputStream, input_stream
from gradbox.recorder.recorder import Recorder
from gradbox.recorder.replacements import TorchReplacements
from gradbox.recorder.stack import PROGRAM_FILENAME, RECURSION_SLACK, frames_outward, walk_program_stack
from gradbox.recorder.step_recorder import RunContext
from gradbox.recorder.trace_lines import (
    OUT_OF_MEMORY_MESSAGE_PATTERN,
    cost_record,
    device_name,
    encode_json_line,
    error_record,
    program_lines_in_traceback,
    refused_outcome,
)
from gradbox.wire import limits
from gradbox.wire.gradient_check import GradientCheck, GradientCheckOptions
from gradbox.wire.job_records import AnswerJobRecord, AnswerRecord, ChildJob, FocusRecord, JobRecord
from gradbox.wire.limits import Limit
from gradbox.wire.records import (
    HeaderLineRecord,
    HeaderRecord,
    OutcomeLineRecord,
    OutcomeRecord,
    ProgramRecord,
    RuntimeRecord,
    StepRecord,
)
from server import __version__
from server.worker.files.install import install_files

DEFAULT_LIMITS: dict[str, int | float] = {
    name: row.default for name, row in limits.LIMITS.items() if name in limits.REPEATABLE_LIMITS
}
"""The limits of a job that names none: steps, printed characters, tensors alive at once, bytes of the trace."""

OUTCOME_RESERVE_BYTES = 1 << 16
"""Bytes of the trace that are reserved for the outcome."""

RECURSION_LIMIT = 1000

HASH_SEED = int(os.environ.get("PYTHONHASHSEED") or 0)  # the children's environment is empty


class ProgramRun:
    """Runs one program, from its pasted text to the outcome. `write` takes complete lines of JSON."""

    def __init__(self, job: JobRecord, write: Callable[[bytes], None]) -> None:
        self._source, self._seed = job["source"], job.get("seed", 0)
        self._device = job.get("device", "cpu")
        self._input = job.get("input", "")
        self._limits = DEFAULT_LIMITS | job.get("limits", {})
        self._focus: FocusRecord = job.get("focus") or {}
        self._check = GradientCheckOptions(**job["check"]) if "check" in job else None
        self._write_lines, self._written_bytes = write, 0
        self._wall_start, self._cpu_start = time.perf_counter(), time.process_time()
        self._recorder: Recorder | None = None

    def run_and_exit(self) -> None:
        """Check, run and trace the program. Ends this process with the last line of the trace."""
        pasted = paste.normalise_pasted_text(self._source)
        if pasted.other is not None:
            nodes, refusals = None, [pasted.other]
        else:
            nodes, refusals = policy.parse_and_check_program(pasted.source, pasted.nodes, is_compiled_next=True)
        statements, code = ProgramStatements(), None
        deterministic = nodes is not None and not nondeterministic_names(nodes)
        if nodes is not None and not refusals:
            try:
                if self._check is None:
                    statements, code = compile_instrumented(nodes)
                else:
                    code = compile(nodes.tree, PROGRAM_FILENAME, "exec", dont_inherit=True)
            except (
                SyntaxError
            ) as error:  # what only the compiler finds, `return` outside a function: in Python's own words
                _, refusals = policy.parse_and_check_program(pasted.source)
                refusals = refusals or [policy.syntax_refusal(error, pasted.source)]
            except (RecursionError, MemoryError):
                refusals = [policy.too_deep_refusal(pasted.source)]
        self._write_line({"header": self._create_header(pasted, statements), "deterministic": deterministic})
        if code is None:
            self._end_process(refused_outcome(repairs.refusals_with_repairs(pasted, self._source, refusals)))
        elif self._check is not None:
            self._check_gradients(code, pasted.source, self._check)
        else:
            self._run_program(code, pasted, statements)

    def _create_header(self, pasted: paste.PastedProgram, statements: ProgramStatements) -> HeaderRecord:
        program: ProgramRecord = {
            "source": pasted.source,
            "lines": pasted.lines,
            "statements": statement_records(pasted.source, statements.rows, statements.syntaxes),
            "notices": [notice.model_dump(mode="json", exclude_unset=True) for notice in pasted.notices],
        }
        if pasted.source != self._source:
            program["pasted"] = self._source
        runtime: RuntimeRecord = {
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
        }
        if self._input:
            runtime["input"] = self._input
        return {"schema": 1, "program": program, "runtime": runtime}

    def _run_program(self, code: types.CodeType, pasted: paste.PastedProgram, statements: ProgramStatements) -> None:
        module = types.ModuleType("__main__")
        namespace = module.__dict__
        namespace.update(__builtins__=builtins, __file__=PROGRAM_FILENAME)
        displayed = statements_with_pasted_output(pasted.notices, statements.rows)
        context = RunContext(
            namespace, statements, self._limits, self._write_step, self._stop_at_limit, self._focus, displayed
        )
        recorder = self._recorder = Recorder(context)
        self._set_up_interpreter(pasted.source, module, recorder)
        recorder.observer.devices.start_tracking_memory()
        gc.collect()  # so that a program's own cycles are collected at the same statement, rehearsed or not
        error = self._execute_code(code, namespace, recorder)
        outcome: OutcomeRecord = {"status": "finished"}
        line = statements.rows[-1]["line"] if statements.rows else 1
        if error is not None:
            recorder.record_exception(error)
            with recorder.unrecorded_after_program():  # its `__str__` may be the program's own
                fields = error_record(error)
            offers = repairs.error_repairs(
                pasted, self._source, fields["type"], fields["message"], fields["line"], self._device == "cpu"
            )
            if offers:
                fields["repairs"] = [offer.model_dump(mode="json", exclude_unset=True) for offer in offers]
            outcome = {"status": "raised", "error": {**fields, "step": max(recorder.steps.count - 1, 0)}}
            if "memory" in self._limits and (
                issubclass(type(error), MemoryError) or OUT_OF_MEMORY_MESSAGE_PATTERN.search(fields["message"])
            ):
                outcome["status"] = "stopped"
                outcome["stopped"] = {"limit": "memory", "value": self._limits["memory"], "line": fields["line"]}
            line = next((line for line, name in program_lines_in_traceback(error) if name == "<module>"), line)
        else:
            line = recorder.steps.line if recorder.steps.line else line
        error = None
        if outcome["status"] == "finished":
            self._check_own_functions(recorder)
        recorder.record_end_step(line)
        self._end_process(outcome)

    def _check_own_functions(self, recorder: Recorder) -> None:
        """Check the backward of each of the program's own Functions. This process belongs to the program and
        ends here."""
        with recorder.unrecorded_after_program():
            found = check_functions(recorder.function_calls.calls)
        for event in found:
            recorder.append_event(event)

    def _check_gradients(self, code: types.CodeType, source: str, options: GradientCheckOptions) -> NoReturn:
        """Run the program as often as comparing its gradients takes. Its steps are not recorded."""
        sys.argv = [PROGRAM_FILENAME]
        linecache.cache[PROGRAM_FILENAME] = (len(source), None, source.splitlines(keepends=True), PROGRAM_FILENAME)
        torch.set_num_threads(1)
        sys.setrecursionlimit(RECURSION_LIMIT + len(list(frames_outward(sys._getframe()))) + RECURSION_SLACK)
        program = ReplayableProgram(code, lambda: seed_generators(self._seed, self._device), self._input)
        with TorchReplacements(ProbeContext()):
            check: GradientChecker | SampleChecker
            if options.samples:
                check = SampleChecker(program, options, self._cpu_start)
                result = GradientCheck(samples=check.run())
            else:
                check = GradientChecker(program, options, self._cpu_start)
                result = check.run()
        outcome: OutcomeRecord = {"status": "finished"}
        if check.error is not None:
            outcome = {"status": "raised", "error": error_record(check.error)}
        self._end_process(outcome, result)

    def _set_up_interpreter(self, source: str, module: types.ModuleType, recorder: Recorder) -> None:
        """Set up the interpreter as a program finds it when python runs it as a script."""
        sys.modules["__main__"] = module
        sys.argv = [PROGRAM_FILENAME]
        linecache.cache[PROGRAM_FILENAME] = (len(source), None, source.splitlines(keepends=True), PROGRAM_FILENAME)
        seed_generators(self._seed, self._device)
        torch.set_num_threads(1)
        for name, stream in (
            ("stdin", input_stream(self._input)),
            ("stdout", OutputStream("stdout", recorder.record_output)),
            ("stderr", OutputStream("stderr", recorder.record_output)),
        ):
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)

        def record_shown_warning(message: Any, category: type, *_: Any, **__: Any) -> None:
            recorder.record_warning(category.__name__, str(message))

        warnings.showwarning = record_shown_warning
        setattr(traceback, "walk_stack", walk_program_stack)
        builtins.__dict__.update(recorder.hooks_by_name())

    def _execute_code(
        self, code: types.CodeType, namespace: dict[str, Any], recorder: Recorder
    ) -> BaseException | None:
        sys.setrecursionlimit(RECURSION_LIMIT + len(list(frames_outward(sys._getframe()))) + RECURSION_SLACK)
        try:
            with (
                recorder.ops, recorder.backward, recorder.optimizer_steps, recorder.module_calls, recorder.swap,
                recorder.jit,
                recorder.replacements, recorder.function_calls,
            ):  # fmt: skip
                exec(code, namespace)
        except BaseException as error:
            return error
        return None

    def _write_step(self, step: StepRecord) -> int:
        line = encode_json_line({"step": step})
        if self._written_bytes + len(line) > int(self._limits["trace"]) - OUTCOME_RESERVE_BYTES:
            self._stop_at_limit("trace", self._limits["trace"])
        self._write_bytes(line)
        return len(line)

    def _stop_at_limit(self, limit: Limit, value: float) -> NoReturn:
        line = self._recorder.steps.line if self._recorder is not None else None
        self._end_process({"status": "stopped", "stopped": {"limit": limit, "value": value, "line": line}})

    def _write_line(self, line: HeaderLineRecord | OutcomeLineRecord) -> None:
        self._write_bytes(encode_json_line(line))

    def _write_bytes(self, line: bytes) -> None:
        self._written_bytes += len(line)
        self._write_lines(line)

    def _end_process(self, outcome: OutcomeRecord, check: GradientCheck | None = None) -> NoReturn:
        """Write the last line and end the process. Nothing of the program runs after it: no thread, no exit handler, no
        destructor."""
        again = self._recorder.focus_counts if self._recorder is not None and not self._focus else None
        line: OutcomeLineRecord = {"outcome": outcome, "cost": cost_record(self._wall_start, self._cpu_start)}
        if again:
            line["again"] = again
        rounds = self._recorder.rounds.record() if self._recorder is not None else None
        if rounds is not None:
            line["rounds"] = rounds
        if check is not None:
            line["gradient_check"] = check.model_dump(mode="json", exclude_unset=True)
        self._write_line(line)
        os._exit(0)


def seed_generators(seed: int, device: str) -> None:
    """Seed all generators. `torch.manual_seed` would ask every kind of accelerator, which takes 2 ms in a fresh
    fork."""
    if device == "cpu":
        torch.default_generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)


def run_program_and_exit(
    job: JobRecord, write: Callable[[bytes], None], files_of_packages: Mapping[str, bytes] | None = None
) -> NoReturn:
    """Run the program of `job`, write its trace as JSON lines, and end this process."""
    try:
        install_files(files_of_packages)
        ProgramRun(job, write).run_and_exit()
    except BaseException:
        write(encode_json_line({"fault": traceback.format_exc()[-4000:]}))
    os._exit(1)


def compile_instrumented(nodes: SyntaxNodes) -> tuple[ProgramStatements, types.CodeType]:
    """Compile the instrumented program. The compiler's own limits are those of plain Python."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        tree, statements = instrument_tree(nodes)
    finally:
        sys.setrecursionlimit(limit)
    return statements, compile(tree, PROGRAM_FILENAME, "exec", dont_inherit=True)


MAX_MESSAGE = 300
"""Characters of an error's message."""


def answer_programs_and_exit(job: AnswerJobRecord, write: Callable[[bytes], None]) -> NoReturn:
    """Write one line for each program and the line that ends a trace, then end this process."""
    seed_generators(0, "cpu")
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for source in job["programs"]:
        write(json.dumps(run_answer_program(source)).encode() + b"\n")
    write(b'{"outcome": "answered"}\n')
    os._exit(0)


def run_answer_program(source: str) -> AnswerRecord:
    """Run a program in a namespace of its own. Returns what it prints, and its error if it raises one."""
    printed: list[str] = []

    def collect_printed(*values: Any) -> None:
        printed.append(" ".join(map(str, values)))

    try:
        exec(
            compile(source, PROGRAM_FILENAME, "exec", dont_inherit=True),
            {"__name__": "__main__", "print": collect_printed},
        )
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        line = max((frame.lineno or 0 for frame in frames if frame.filename == PROGRAM_FILENAME), default=0)
        message = f"{type(error).__name__}: {error}".splitlines()[0]
        return {"printed": "\n".join(printed), "line": line, "raised": message[:MAX_MESSAGE]}
    return {"printed": "\n".join(printed)}


def run_job_and_exit(files_of_packages: Mapping[str, bytes], job: ChildJob, write: Callable[[bytes], None]) -> NoReturn:
    """Run a job, write its lines, and end this process.

    files_of_packages: what a program finds in its files, by path
    """
    if "source" in job:
        run_program_and_exit(job, write, files_of_packages)
    answer_programs_and_exit(job, write)
