"""The line of progress: on a terminal at the beginning of a line, elsewhere after some seconds, and never in the
program's text."""

import contextlib
import os
import pty
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import pytest

from gradbox.sessions.recording_cost import slow_recording_message
from gradbox.terminal import progress
from gradbox.terminal.progress import ProgressLine, waiting_line

ROOT = Path(__file__).parents[2]


@pytest.fixture
def terminal() -> Iterator[tuple[TextIO, int]]:
    """A terminal as a stream, and what reads it."""
    reading, writing = pty.openpty()
    os.set_blocking(reading, False)
    with open(writing, "w", buffering=1) as stream:
        yield stream, reading
    os.close(reading)


def shown(reading: int) -> str:
    try:
        return os.read(reading, 1 << 16).decode()
    except BlockingIOError:
        return ""


STEP: dict[str, Any] = {"line": 7, "iter": [2, 17]}


def test_a_terminal_is_told_after_a_moment_and_the_line_goes_before_text(
    terminal: tuple[TextIO, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, reading = terminal
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    line = ProgressLine(stream, quiet=False)
    line.begin_part("iteration 100")
    line.count_step(STEP)
    assert shown(reading) == ""
    now = 103.0
    line.count_step(STEP)
    text = shown(reading)
    assert "gradbox: recording iteration 100: 2 steps, iteration 2.17 of line 7, 3 s; Ctrl-C ends the script" in text
    assert text.startswith("\r\x1b[2K") and text.endswith("\r")
    line.before_output("loss: ")
    assert shown(reading) == "\x1b[2K"
    now = 104.0
    line.count_step(STEP)
    line.count_iteration(30)
    assert shown(reading) == "", "the program is in the middle of a line"
    line.before_output("0.5\n")
    line.count_iteration(31)
    assert "iteration 31 (not recorded)" in shown(reading)


def test_where_stderr_is_no_terminal_lines_come_ever_more_seldom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with open(tmp_path / "log", "w") as stream:
        line = ProgressLine(stream, quiet=False)
        for second in range(101):
            now = float(second)
            line.count_step({"line": 1})
        quiet = ProgressLine(stream, quiet=True)
        for second in range(101):
            now = float(second)
            quiet.count_step({"line": 1})
    said = (tmp_path / "log").read_text().splitlines()
    assert [re.search(r"(\d+) s;", text)[1] for text in said] == ["10", "30", "90"]  # type: ignore[index]


def test_what_is_waited_for_is_said_and_taken_away(
    terminal: tuple[TextIO, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, reading = terminal
    monkeypatch.setattr(progress, "WAITING_SECONDS", 0.02)
    text = ""
    with waiting_line("explaining", stream):
        while text.count("explaining") < 2:
            text += shown(reading)
    text += shown(reading)
    assert "\r\x1b[2Kgradbox: explaining, 0 s; Ctrl-C stops\r" in text and text.endswith("\x1b[2K")


def test_a_long_recording_says_why() -> None:
    assert slow_recording_message("iteration 1", 9.0, 100, 100, {"threads": 100}, 0) == ""
    assert slow_recording_message("iteration 1", 24.5, 2000, 1900, {"threads": 1800, "modules": 3}, 300 << 20) == (
        "iteration 1 took 24 s to record: 2,000 steps; 1,900 of them looked at all that lives, because another thread "
        "runs "
        "beside the recorded one; its tensors have 300 MB, which are read where they may have changed. --steps N or "
        "--lines A:B records less"
    )
    assert "call functions that may change anything" in slow_recording_message("it", 19.0, 10, 9, {"threads": 1}, 0)
    assert (
        slow_recording_message("it", 19.0, 10, 1, {}, 0)
        == "it took 19 s to record: 10 steps. --steps N or --lines A:B records less"
    )


SLOW = """
import sys, time, torch
w = torch.ones(2, requires_grad=True)
print("start ", end="", flush=True)
for k in range(40):
    loss = (w * k).sum()
    time.sleep(0.03)
print("end")
for k in range(40):
    loss = (w * k).sum()
    time.sleep(0.03)
print("done")
"""


@pytest.mark.slow
def test_on_a_terminal_the_output_is_what_it_would_be(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SLOW)
    text = text_in_terminal(tmp_path, "open", "--trace", "run.json", "train.py")
    assert text.count("gradbox: recording: ") >= 2
    assert re.search(r"iteration \d+ of line 1[012], \d s; Ctrl-C", text)
    cleared = re.sub(r"\r\x1b\[2K[^\r\n]*\r|\x1b\[2K", "", text)
    assert cleared.startswith("start end\r\ndone\r\ngradbox: train.py: ")


def text_in_terminal(folder: Path, *arguments: str) -> str:
    """What a terminal gets when the command runs in it."""
    code = f"import sys; sys.path[0] = {str(ROOT)!r}; from gradbox.command import main; sys.exit(main())"
    child, reading = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execv(sys.executable, [sys.executable, "-c", code, *arguments])
    text = b""
    with contextlib.suppress(OSError):  # the terminal is closed
        while data := os.read(reading, 1 << 16):
            text += data
    os.close(reading)
    assert os.waitpid(child, 0)[1] == 0
    return text.decode()
