"""`gradbox …` in a process that has imported torch, which is a fork for it: the script's process is then a fork as
well.

What a command imports, and how a Python begins that it starts, is tested by commands proper.
"""

import atexit
import os
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NoReturn

from gradbox.command import main
from gradbox.script import script_check, script_process
from gradbox.script.script_process import Script
from gradbox.wire.api import GradientCheckReply


class ForkedPython:
    """The `subprocess.Popen` of a `python -c`, as a fork of this process."""

    def __init__(
        self, command: list[str], preexec_fn: Callable[[], object], stdout: int | None = None, stderr: int | None = None
    ) -> None:
        self.pid = os.fork()
        if self.pid == 0:
            if stdout is not None:
                os.dup2(stdout, 1)
            if stderr is not None:
                os.dup2(stderr, 2)
            preexec_fn()
            _, code, *arguments = command[command.index("-c") :]
            run_code(code, arguments)

    def wait(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)


def run_silently(command: list[str], preexec_fn: Callable[[], object], **_: Any) -> None:
    """The `subprocess.run` of a `python -c` that prints to nobody, as a fork of this process."""
    with open(os.devnull, "w") as nowhere:
        ForkedPython(command, preexec_fn, nowhere.fileno(), nowhere.fileno()).wait()


def use_forks() -> None:
    """Have scripts, and checks of them, run in forks of this process."""
    started_so = {"Popen": ForkedPython, "run": run_silently, "_args_from_interpreter_flags": list, "DEVNULL": None}
    for module in (script_process, script_check):
        setattr(module, "subprocess", SimpleNamespace(**started_so))  # noqa: B010 mypy knows a module there


def check_script(target: str, arguments: list[str], samples: bool) -> GradientCheckReply:
    """What a check of the script says."""
    use_forks()
    return script_check.check_script(Script(target, arguments), samples)


def run_code(code: str, arguments: list[str]) -> NoReturn:
    """Run it as `python -c` does, and end this process as Python ends: its threads, its exit handlers, its status."""
    status: Any = 1
    atexit._clear()  # what the command does at its end is not this process's to do
    weakref.finalize._registry.clear()  # type: ignore[attr-defined]
    weakref.finalize._registered_with_atexit = False  # type: ignore[attr-defined]
    try:
        sys.argv[:] = ["-c", *arguments]
        try:
            exec(code, {"__name__": "__main__"})
            status = 0
        except SystemExit as end:
            status = end.code or 0
            if not isinstance(status, int):
                print(status, file=sys.stderr)
                status = 1
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


def run_gradbox(folder: str, arguments: list[str]) -> tuple[int, str, str]:
    """The status of the command, run in this folder, and what was printed to stdout and stderr."""
    os.chdir(folder)
    use_forks()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        os.dup2(out.fileno(), 1)
        os.dup2(errors.fileno(), 2)
        status = main(arguments)
        sys.stdout.flush()
        for file in (out, errors):
            file.seek(0)
        return status, out.read().decode(), errors.read().decode()
