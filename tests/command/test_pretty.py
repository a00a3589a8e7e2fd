"""What `trace --pretty` prints: how a run ended first, the reader's names, both languages, colours only where they are
wanted."""

import os
import pty
import re

import pytest

from gradbox.terminal.run_text import has_colours, load_sentences, run_report_lines
from gradbox.wire.findings import Finding
from tests.recordings.store import kept_trace
from tests.support.explaining import findings_of_traces, reading_of

PROGRAM = """\
import torch
x = torch.ones(2, requires_grad=True)
for k in range(2):
    y = x.exp()
view = y[:1]
view.detach()[0] = 7
print(view.shape)
y.sum().backward()
"""
UID = re.compile(r"\b[tsnofcam]\d+\b")


def lines_of(source: str, language: str = "en", colours: bool = False) -> list[str]:
    recorded = kept_trace(source)
    (found,) = findings_of_traces([recorded], language)
    findings = [Finding.model_validate({"fixes": [], **finding}) for finding in found]
    reading = reading_of(recorded, language)
    return list(
        run_report_lines("a.py", reading, findings, recorded["program"]["source"], load_sentences(language), colours)
    )


def test_how_it_ended_comes_first_and_then_why() -> None:
    lines = lines_of(PROGRAM)
    assert lines[0] == "# a.py" and lines[1].startswith("line 8: RuntimeError: one of the variables needed")
    assert lines[3].startswith("error[saved_overwritten]: ") and "exp had saved y" in lines[3]
    assert lines.index("   6 | view.detach()[0] = 7  <- cause") > 10, "steps come after the findings"


def test_steps_say_what_they_did_by_the_names_of_the_program() -> None:
    lines = lines_of(PROGRAM)
    assert lines.count("   4 | y = x.exp()  [0]") == lines.count("   4 | y = x.exp()  [1]") == 1
    assert "     |   y = [7, 2.718282]" in lines and "     |   view = [7]" in lines
    assert "     |   > torch.Size([1])" in lines
    assert not [line for line in lines if UID.search(line)], "no uid is said"
    assert not [line for line in lines if "Prints torch.Size" in line], "what was printed stands there"


def test_a_shape_changed_in_place_is_reported() -> None:
    source = "import torch\nx = torch.ones(2, 3)\nx.t_()\ny = x.detach()\ny.resize_(2)\n"
    lines = lines_of(source)
    assert "     |   x now reads its memory as 3 × 2." in lines
    assert "     |   y now reads 2 numbers in one row." in lines
    assert "     |   x 现在按 3 × 2 读它的内存。" in lines_of(source, "zh")


def test_a_program_that_ends_well_says_so() -> None:
    lines = lines_of("import torch\nx = torch.ones(2, 2)\n")
    assert lines[1:3] == ["The program ran to its end.", ""]
    assert "     |   x (2×2) = [1, 1, 1, 1]" in lines


def test_a_refused_program_names_its_lines() -> None:
    lines = lines_of("x = 1\nimport socket\n")
    assert lines[1].startswith("line 2: ") and "socket" in "\n".join(lines[1:4])


def test_chinese() -> None:
    lines = lines_of(PROGRAM, "zh")
    assert lines[1].startswith("第 8 行：RuntimeError：") and "<- 起因" in "\n".join(lines)
    assert any(line.startswith("  原因") for line in lines) and not any(" why " in line for line in lines)


def test_colours_are_only_around_the_same_words() -> None:
    plain, coloured = lines_of(PROGRAM), lines_of(PROGRAM, colours=True)
    assert [re.sub(r"\x1b\[[\d;]*m", "", line) for line in coloured] == plain
    assert coloured[1].startswith("\x1b[31;1m") and not any("\x1b" in line for line in plain)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_a_terminal_has_colours_unless_its_user_declines(
    variables: dict[str, str], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    reader, writer = pty.openpty()
    with os.fdopen(writer, "w") as terminal:
        assert has_colours(terminal) is expected
    os.close(reader)
    with open(os.devnull, "w") as file:
        assert not has_colours(file)
