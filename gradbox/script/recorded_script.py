"""The process of a recorded script: it runs the script as `python train.py` would, and writes its trace's lines to
files.

`gradbox.script.script_process` starts it. Its stdin, stdout, stderr, exit status, threads and exit handlers are the
script's.
"""

import builtins
import contextlib
import importlib
import importlib.util
import json
import os
import re
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

from gradbox.script.interrupts import log_received_signals_to_file
from gradbox.script.part_instrumentation import run_script_recording_parts
from gradbox.script.trace_line_files import NOTE_FILE, SCRIPT_FILE, TraceLineFiles
from gradbox.sessions.options import SessionFile, SessionOptions
from gradbox.sessions.own_modules import project_folder, too_many_files_message
from gradbox.sessions.rank_parameters import RankParameters, rank_of_process
from gradbox.sessions.session import Session, operations_unrecorded
from gradbox.terminal.progress import ProgressLine

EXIT_INTERRUPTED = 130


def duplicate_stderr() -> TextIO | Any:
    """A second stream that writes to where `sys.stderr` writes, so that text printed to either can be told apart."""
    error = sys.stderr
    if error is None:
        return None
    return open(error.fileno(), "w", buffering=1, encoding=error.encoding, errors=error.errors, closefd=False)


def find_script(target: str, is_module: bool) -> tuple[str, Any]:
    """The file of a script, or of a module that is run as by `python -m`, and the module's spec (None for a script).

    Raises ImportError for a module that does not exist.
    """
    if not is_module:
        return str(Path(target).absolute()), None
    name, why = target, ""
    spec = importlib.util.find_spec(target)
    if spec is not None and spec.submodule_search_locations is not None:
        name, why = target + ".__main__", f"; {target!r} is a package and cannot be directly executed"
        spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ImportError(f"No module named {name}{why}")
    return spec.origin, spec


def create_main_module(path: str, spec: Any) -> ModuleType:
    """The module `__main__` as Python creates it when it runs this file."""
    module = ModuleType("__main__")
    module.__file__, module.__builtins__ = path, builtins  # type: ignore[attr-defined]
    if spec is None:
        module.__loader__ = SourceFileLoader("__main__", path)
        module.__dict__["__cached__"] = None
    else:
        module.__loader__, module.__spec__, module.__package__ = spec.loader, spec, spec.parent
        module.__dict__["__cached__"] = spec.cached
    module.__dict__.setdefault("__annotations__", {})
    return module


def own_modules_folder(request: dict[str, Any], path: str) -> Path | None:
    """The folder of the project whose modules get steps too; None if none do.

    path: the path of the script's file
    """
    if request["script_only"]:
        return None
    return project_folder(str(Path.cwd()) if request["module"] else path)


def run_and_record(request: dict[str, Any], target: str, arguments: list[str]) -> BaseException | None:
    """Run and record the script, and return the exception that it raised, if any.

    request: see `gradbox.script.script_process.record_script`
    """
    process = os.getpid()
    sys.argv[:] = [target, *arguments]
    sys.path[0] = str(Path.cwd()) if request["module"] else str(Path(target).resolve().parent)
    try:
        path, spec = find_script(target, request["module"])
    except ImportError as missing:
        raise SystemExit(f"gradbox: {missing}") from None
    if spec is not None:
        sys.argv[0] = path
    data = Path(path).read_bytes()
    source = None
    with contextlib.suppress(SyntaxError, UnicodeDecodeError):
        source = importlib.util.decode_source(data)
    if source is None:
        return source_encoding_error(data, path)
    if request["parts"] is not None:
        module = sys.modules["__main__"] = create_main_module(path, spec)
        progress = ProgressLine(sys.stderr, request["quiet"])
        if request["stdout_to_stderr"]:
            sys.stdout = duplicate_stderr()
        return run_script_recording_parts(request, path, module.__dict__, source, progress)
    files = TraceLineFiles(Path(request["folder"]))
    progress = ProgressLine(sys.stderr, request["quiet"])
    options = SessionOptions(
        limits=request["limits"],
        also=tuple(request["also"]),
        own_folder=own_modules_folder(request, path),
        arguments=tuple(arguments),
        title=Path(path).name,
        sink=files,
        on_step=progress.count_step,
        on_skipped_iteration=progress.count_iteration,
        before_output=progress.before_output,
    )
    module = sys.modules["__main__"] = create_main_module(path, spec)
    session = Session(options, [SessionFile(path, Path(path).name, source)], module.__dict__)
    if request["stdout_to_stderr"]:
        sys.stdout = duplicate_stderr()
    try:
        session.begin()
    except RuntimeError as refused:  # a torch that is too old
        raise SystemExit(f"gradbox: {refused}") from None
    try:
        error: BaseException | None = session.run_code(source)
    finally:
        session.end()
        progress.clear()
    if os.getpid() != process:  # a fork, which records nothing
        return error
    if session.slow_recording_message and not request["quiet"] and sys.stderr is not None and sys.stderr.isatty():
        print(f"gradbox: {session.slow_recording_message}", file=sys.stderr)
    if session.own_modules.left_out:
        print(f"gradbox: {too_many_files_message(session.own_modules.left_out)}", file=sys.stderr)
    first, *_, last = session.lines
    files.write_header_and_outcome(first, last)
    if isinstance(error, SyntaxError) and error.filename == path and not session.step_count:
        error.__traceback__ = None
    return error


def main_of_rank() -> None:
    """Run as a script of `torchrun`, with a request as JSON, the user's script and its arguments: record the script or
    not."""
    _, text, target, *arguments = sys.argv
    request = json.loads(text)
    rank, folder = rank_of_process(), Path(request["folder"])
    own_folder_of_rank = folder / f"rank-{rank}"
    parameters = RankParameters(folder / f"parameters-{rank}", operations_unrecorded)
    parameters.install()
    if rank in request["ranks"]:
        (folder / SCRIPT_FILE).write_text(Path(target).name)
        own_folder_of_rank.mkdir(exist_ok=True)
        error = run_and_record({**request, "folder": str(own_folder_of_rank)}, target, arguments)
    else:
        error = run_unrecorded(target, arguments, request["module"])
    parameters.remove()
    end_as_script_ends(error)


def run_unrecorded(target: str, arguments: list[str], is_module: bool) -> BaseException | None:
    """Run a script, or a module, as `python` does, and return the exception that it raised, if any."""
    sys.argv[:] = [target, *arguments]
    sys.path[0] = str(Path.cwd()) if is_module else str(Path(target).resolve().parent)
    path, spec = find_script(target, is_module)
    if spec is not None:
        sys.argv[0] = path
    module = sys.modules["__main__"] = create_main_module(path, spec)
    try:
        exec(compile(Path(path).read_bytes(), path, "exec", dont_inherit=True), module.__dict__)
    except BaseException as error:
        error.__traceback__ = None if error.__traceback__ is None else error.__traceback__.tb_next
        return error
    return None


def source_encoding_error(data: bytes, path: str) -> SyntaxError:
    """Python's error for a script whose bytes are not valid in the encoding that it declares."""
    try:
        compile(data, path, "exec")
    except SyntaxError as error:
        error.__traceback__ = None
        return error
    return SyntaxError(f"{path} can't be decoded")


def main() -> None:
    """Run as `python -c`, with the request as JSON, the script and its arguments."""
    _, request, target, *arguments = sys.argv
    options = json.loads(request)
    log_received_signals_to_file(Path(options["folder"]))
    processes = count_multiprocessing_processes()
    error = run_and_record(options, target, arguments)
    write_child_process_count(Path(options["folder"]), count_multiprocessing_processes() - processes)
    end_as_script_ends(error)


def count_multiprocessing_processes() -> int:
    """How many processes `multiprocessing` was asked for in this process; the `repr` of its counter shows the next
    number."""
    module = sys.modules.get("multiprocessing.process")
    counter = re.fullmatch(r"count\((\d+)\)", repr(getattr(module, "_process_counter", None)))
    return int(counter[1]) if counter else 0


def write_child_process_count(folder: Path, count: int) -> None:
    """Write a note about the processes that the script started, if it started any."""
    if count <= 0 or not folder.is_dir():
        return
    started = f"{count} process{'es that it started are' if count > 1 else ' that it started is'} not recorded"
    advice = "num_workers=0 has a DataLoader work in this one; `gradbox open --rank 0 -- torchrun …` records a rank"
    (folder / NOTE_FILE).write_text(f"{started} ({advice})")


def end_as_script_ends(error: BaseException | None) -> None:
    """End this process as Python ends after the exception that a script raised."""
    if isinstance(error, SystemExit):
        error.__traceback__ = None
        raise error
    if error is not None:
        sys.excepthook(type(error), error, error.__traceback__)
        raise SystemExit(EXIT_INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1)
