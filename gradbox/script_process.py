"""Runs a script in a process of its own that records it, and collects what was recorded."""

import json
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from gradbox.recorded_script import END, HEADER, STEPS
from gradbox.run import Run

START = "import sys; sys.path[0] = {folder!r}; from gradbox.recorded_script import main; main()"
"""What the process begins with: `-c` and not `-m`, so that nothing of the current folder is imported before the script."""


@dataclass(frozen=True)
class Script:
    """What is to run. module: `target` is a module, as after `python -m`. steps: most of them, None for the default.

    also: globs of modules that are stepped too. quiet: no line of progress. stdout_to_stderr: the script prints to
    stderr, since stdout is for the trace.
    """

    target: str
    arguments: list[str] = field(default_factory=list)
    module: bool = False
    also: list[str] = field(default_factory=list)
    steps: int | None = None
    quiet: bool = False
    stdout_to_stderr: bool = False


@dataclass(frozen=True)
class Recorded:
    """run: None where nothing was recorded. status: the script's exit status, as a shell gives it."""

    run: Run | None
    status: int


def record(script: Script, language: str = "en") -> Recorded:
    """Run the script to its end, and give what was recorded.

    Ctrl-C goes to the script, and ends it with what was recorded. Raises OSError where the process can't be started.
    """
    with tempfile.TemporaryDirectory(prefix="gradbox-") as name:
        folder = Path(name)
        request = {
            "folder": name, "module": script.module, "also": script.also, "quiet": script.quiet,
            "limits": {} if script.steps is None else {"steps": script.steps},
            "stdout_to_stderr": script.stdout_to_stderr,
        }  # fmt: skip
        code = START.format(folder=str(Path(__file__).resolve().parent.parent))
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            process = subprocess.Popen(
                [sys.executable, *flags, "-c", code, json.dumps(request), script.target, *script.arguments],
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )
            returned = process.wait()
        finally:
            signal.signal(signal.SIGINT, before)
        return Recorded(collect(folder, script, returned, language), returned if returned >= 0 else 128 - returned)


def collect(folder: Path, script: Script, returned: int, language: str) -> Run | None:
    """The run of the lines that the process has left; None for no line. returned: as `subprocess` gives it."""
    if not (folder / HEADER).exists():
        return None
    steps = (folder / STEPS).read_bytes().splitlines(keepends=True)
    if steps and not steps[-1].endswith(b"\n"):
        steps.pop()  # the process was killed within it
    lines = [(folder / HEADER).read_bytes(), *steps]
    has_end = (folder / END).exists()
    if has_end:
        lines.append((folder / END).read_bytes())
    number = -returned if returned < 0 and not has_end else 0
    return Run.from_lines(lines, Path(script.target).name, signal=number, language=language)
