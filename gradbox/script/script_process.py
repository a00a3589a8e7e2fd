"""Runs a script in a separate process that records it, and collects what was recorded."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from gradbox.run import Run
from gradbox.script.interrupts import restore_default_sigint, sigint_forwarded, sigint_ignored
from gradbox.script.script_parts import PartOptions
from gradbox.script.trace_line_files import LABEL_FILE, NOTE_FILE, read_trace_lines

BOOTSTRAP_CODE = "import sys; sys.path[0] = {folder!r}; from gradbox.script.recorded_script import main; main()"
"""The first code of the process. It is run by `-c`, not `-m`, so that nothing from the current folder is imported
before the script."""


@dataclass(frozen=True)
class Script:
    """What to run.

    is_module: `target` is a module, as after `python -m`
    steps: the most steps, None for the default
    also: globs of modules that get steps too
    script_only: no other module of the project gets steps
    quiet: no progress line
    stdout_to_stderr: the script prints to stderr, because stdout is for the trace
    parts: which parts are recorded; None for the whole script
    again: as in `Run`
    """

    target: str
    arguments: list[str] = field(default_factory=list)
    is_module: bool = False
    also: list[str] = field(default_factory=list)
    steps: int | None = None
    quiet: bool = False
    stdout_to_stderr: bool = False
    script_only: bool = False
    parts: PartOptions | None = None
    again: str = ""


@dataclass(frozen=True)
class RecordingResult:
    """The result of recording a script.

    runs: what was recorded, by name; "" for the whole script
    status: the script's exit status, as in a shell
    notes: further messages about the processes, a sentence each
    differ: whether ranks have different parameters, which the notes say
    """

    runs: dict[str, Run]
    status: int
    notes: list[str] = field(default_factory=list)
    differ: bool = False


def record_script(script: Script, language: str = "en") -> RecordingResult:
    """Run the script to its end, and return what was recorded.

    Ctrl-C and SIGINT go to the script, which ends with what was recorded. Raises OSError if the process can't be
    started.
    """
    with tempfile.TemporaryDirectory(prefix="gradbox-") as name:
        folder = Path(name)
        request = {
            "folder": name, "module": script.is_module, "also": script.also, "quiet": script.quiet,
            "limits": {} if script.steps is None else {"steps": script.steps},
            "stdout_to_stderr": script.stdout_to_stderr, "script_only": script.script_only,
            "parts": None if script.parts is None else asdict(script.parts),
        }  # fmt: skip
        code = BOOTSTRAP_CODE.format(folder=str(Path(__file__).resolve().parents[2]))
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        with sigint_ignored():
            process = subprocess.Popen(
                [sys.executable, *flags, "-c", code, json.dumps(request), script.target, *script.arguments],
                preexec_fn=restore_default_sigint, stdout=stdout_of_process(script),
            )  # fmt: skip
            with signal_forwarded(signal.SIGTERM, process), sigint_forwarded(process, folder):
                return_code = process.wait()
        return RecordingResult(
            read_recorded_runs(folder, script, return_code, language),
            return_code if return_code >= 0 else 128 - return_code,
            [file.read_text() for file in [folder / NOTE_FILE] if file.exists()],
        )


def stdout_of_process(script: Script) -> int | None:
    """Where the standard output of the script's process goes, as `Popen` takes it. Output of processes that the script
    starts, and of code that is not Python, goes there too."""
    if not script.stdout_to_stderr:
        return None
    try:
        os.fstat(2)
    except OSError:  # this process has no standard error
        return subprocess.DEVNULL
    return 2


@contextlib.contextmanager
def signal_forwarded(signal_number: signal.Signals, process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Forward a signal that asks this process to end to the script inside the block. What was recorded is kept."""
    before = signal.signal(signal_number, lambda *_: process.send_signal(signal_number))
    try:
        yield
    finally:
        signal.signal(signal_number, before)


def read_recorded_runs(folder: Path, script: Script, return_code: int, language: str) -> dict[str, Run]:
    """The runs of the lines that the process has left, in order.

    return_code: as in `subprocess`
    """
    name, runs = Path(script.target).name, {}
    for part in [folder] if script.parts is None else sorted(path for path in folder.iterdir() if path.is_dir()):
        lines, has_end = read_trace_lines(part)
        if lines:
            label = "" if script.parts is None else (part / LABEL_FILE).read_text()
            number = -return_code if return_code < 0 and not has_end else 0
            title = f"{name}: {label}" if label else name
            runs[label] = Run.from_lines(
                lines, title, signal=number, complete=has_end, language=language, again=script.again
            )
    return runs
