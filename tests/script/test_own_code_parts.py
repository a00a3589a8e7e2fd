"""`--lines`, `--iterations` and `--after`: which parts of a script are recorded, and that the rest runs as it would."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from gradbox.command import main
from gradbox.run import Run
from gradbox.run_list import run_pages
from gradbox.script import part_recorder
from gradbox.script.script_parts import PartOptions, choose_parts
from tests.script.recorded_parts import no_remark_on_the_time, record_parts  # noqa: F401 a fixture of its tests
from tests.support.own_programs import forked_gradbox
from tests.support.tracing import events

TRAIN = '''"""Trains."""
import torch

class Net(torch.nn.Module):
    scale = 2

    def forward(self, x):
        h = x * self.weight
        return h.relu()

def data(n):
    for k in range(n):
        yield torch.full((2,), float(k + 1))

def step(net, optimizer, x):
    optimizer.zero_grad()
    loss = net(x).sum()
    loss.backward()
    optimizer.step()
    return loss

def main():
    net = Net()
    net.weight = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(2):
        total = 0.0
        for x in data(3):
            loss = step(net, optimizer, x)
            if x[0] == 2:
                continue
            total += loss.item()
    return total

result = main()
'''


def chosen(source: str, **options: Any) -> list[tuple[int, int]]:
    """The lines of the parts that options name."""
    return [part.lines for part in choose_parts(ast.parse(source), source, PartOptions(**options), "train.py")]


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"iterations": (0,)}, [(29, 32)]),  # the innermost loop that calls backward and step, through a function
        ({"after": "loss.isnan()"}, [(29, 32)]),
        ({"lines": (8, 8)}, [(8, 8)]),
        ({"lines": (7, 9)}, [(8, 9)]),  # a method's lines are those of its body
        ({"lines": (8, 17)}, [(8, 9), (12, 13), (16, 17)]),
        ({"lines": (26, 27)}, [(26, 32)]),  # a loop's head: the loop
        ({"lines": (27, 29)}, [(27, 32)]),
        ({"lines": (30, 31)}, [(30, 31)]),
        ({"lines": (31, 31)}, [(31, 31)]),
        ({"lines": (26, 33), "iterations": (1,)}, [(27, 32)]),  # the outermost loop in the lines
        ({"lines": (28, 28), "iterations": (1,)}, [(29, 32)]),
        ({"lines": (17, 18), "iterations": (1,)}, [(17, 18)]),  # no loop: the times that they run
        ({"lines": (1, 35)}, [(2, 35), (8, 9), (12, 13), (16, 20), (23, 33)]),
    ],
)
def test_options_choose_the_parts_that_are_recorded(options: dict[str, Any], parts: list[tuple[int, int]]) -> None:
    assert chosen(TRAIN, **options) == parts


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("with a:\n    b()\n    c()\n", [(2, 3)]),
        ("try:\n    b()\nexcept E:\n    c()\nfinally:\n    d()\n", [(2, 2), (4, 4)]),
        ("x = [\n    f(k)\n    for k in y\n]\n", [(1, 4)]),  # one statement, of which any line counts
        ("if a:\n    pass\nelif b:\n    c()\n", [(2, 2), (3, 4)]),
        ("def f():\n    '''Text.'''\n    global x\n    x = 1\n", [(4, 4)]),
        ("from __future__ import annotations\nimport a\nb = 1\n", [(2, 3)]),
        ("match a:\n    case 1:\n        b()\n", [(3, 3)]),
    ],
)
def test_lines_that_cover_part_of_a_statement(source: str, lines: list[tuple[int, int]]) -> None:
    assert chosen(source, lines=(2, 4)) == lines


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lines": (50, 60)}, "--lines 50:60: train.py has 35 lines"),
        ({"lines": (3, 3)}, "--lines 3: there is no statement in these lines of train.py"),
        ({"lines": (5, 5)}, "--lines 5: there is no statement"),
    ],
)
def test_lines_without_a_statement_are_reported(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="^" + message):
        chosen(TRAIN, **options)


def test_loops_that_may_be_meant_are_listed() -> None:
    with pytest.raises(
        ValueError, match=r"no loop of train.py calls backward\(\); it has these: line 1 \(for k in x:\)"
    ):
        chosen("for k in x:\n    print(k)\n", iterations=(0,))
    with pytest.raises(ValueError, match=r"there is no loop in train\.py"):
        chosen("print(1)\n", after="a")
    twice = "while a:\n    l.backward()\nfor k in x:\n    torch.autograd.grad(l, w)\n"
    with pytest.raises(ValueError, match=r"--iterations: train.py has several loops: line 1 \(while a:\), line 3"):
        chosen(twice, iterations=(0,))
    assert chosen(twice, iterations=(0,), lines=(3, 4)) == [(4, 4)]
    assert chosen("for k in x:\n    f(k)\nwhile a:\n    l.backward()\n", after="a", lines=(1, 9)) == [(4, 4)], (
        "the one that trains"
    )
    with pytest.raises(ValueError, match=r"--lines 11:33: train.py has several loops: line 12 .*line 26"):
        chosen(TRAIN, lines=(11, 33), after="a")


def rows(run: Run) -> list[tuple[str, str]]:
    """The kind and the text of each step, but for visits."""
    source = run.trace["program"]["source"].split("\n")
    return [(s["kind"], source[s["line"] - 1].strip()) for s in run.trace["steps"] if s["kind"] != "visit"]


def test_iterations_are_recorded_and_no_others(tmp_path: Path, capfd: Any) -> None:
    runs, error, namespace = record_parts(tmp_path, TRAIN, iterations=(0, 4, 100))
    plain: dict[str, Any] = {"__name__": "__main__"}
    exec(TRAIN, plain)
    assert error is None and namespace["result"] == plain["result"]
    assert list(runs) == ["iteration 0", "iteration 4"], "they are counted over both epochs"
    assert capfd.readouterr().err == "gradbox: iteration 100 never came: the loop of line 28 had 6, counted from 0\n"
    run = runs["iteration 4"]
    assert run.title == "train.py: iteration 4"
    assert run.trace["runtime"]["regions"] == [
        {"name": "iteration 4", "first_line": 29, "last_line": 32, "iteration": 4}
    ]
    step = ["optimizer.zero_grad()", "loss = net(x).sum()", "loss.backward()", "optimizer.step()"]
    assert rows(run) == [
        ("begin", "loss = step(net, optimizer, x)"), ("call", "loss = step(net, optimizer, x)"),
        ("statement", step[0]), ("call", step[1]), ("statement", "h = x * self.weight"), ("return", "return h.relu()"),
        *[("statement", text) for text in step[1:]], ("return", "return loss"),
        ("statement", "loss = step(net, optimizer, x)"), ("head", "if x[0] == 2:"), ("statement", "continue"),
    ]  # fmt: skip
    assert events(run.trace, "tracer_fault") == [] and run.trace["outcome"]["status"] == "finished"
    assert rows(runs["iteration 0"])[-1] == ("statement", "total += loss.item()")
    pages = run_pages(list(runs.values()))
    assert list(pages) == ["", "1/", "2/"] and '<a href="2/"><b>iteration 4</b>' in pages[""]


NAN = """import torch
w = torch.ones(2, requires_grad=True)
for step in range(6):
    loss = (w * (float("nan") if step in (2, 3) else 1)).sum()
    loss.backward()
print(late)
"""


def test_the_iteration_after_a_condition_is_recorded_and_an_error_goes_on(tmp_path: Path) -> None:
    runs, error, _ = record_parts(tmp_path, NAN, after="loss.isnan()")
    assert list(runs) == ["iteration 3"], "once it has become true, not as long as it is"
    assert isinstance(error, NameError) and error.__traceback__ is not None
    assert error.__traceback__.tb_lineno == 6 and error.__traceback__.tb_next is None


def test_a_condition_that_raises_is_reported_once_and_changes_nothing(tmp_path: Path, capfd: Any) -> None:
    runs, _, namespace = record_parts(tmp_path, NAN, after="lost.isnan()")
    assert runs == {} and namespace["step"] == 5
    said = "gradbox: --after 'lost.isnan()', evaluated for line 3: NameError: name 'lost' is not defined\n"
    assert capfd.readouterr().err == said


RECURSION = """
def down(n):
    if n:
        down(n - 1)
    return n

def numbers():
    yield 1
    yield 2

for k in numbers():
    down(2)
def raises():
    raise ValueError("x")
try:
    raises()
except ValueError:
    pass
never = lambda: down(1)
"""


def test_lines_are_recorded_the_first_time_that_they_run(tmp_path: Path) -> None:
    runs, error, _ = record_parts(tmp_path, RECURSION, lines=(2, 5))
    assert error is None
    down = rows(runs["lines 2-5"])
    assert down == [
        ("begin", "if n:"), ("head", "if n:"), ("call", "down(n - 1)"), ("head", "if n:"), ("call", "down(n - 1)"),
        ("head", "if n:"), ("return", "return n"), ("statement", "down(n - 1)"), ("return", "return n"),
        ("statement", "down(n - 1)"), ("statement", "return n"),
    ]  # fmt: skip


def test_an_error_that_leaves_the_recorded_lines_ends_their_recording(tmp_path: Path) -> None:
    runs, error, _ = record_parts(tmp_path, RECURSION, lines=(13, 14), iterations=(0, 3))
    assert error is None
    run = runs["lines 13-14, time 0"]
    assert (run.trace["outcome"]["status"], run.trace["outcome"]["error"]["type"]) == ("raised", "ValueError")


def test_one_run_has_a_bounded_number_of_recordings(
    tmp_path: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part_recorder, "MAX_RECORDINGS", 3)
    source = "for k in range(100):\n    a = k\n"
    runs, _, _ = record_parts(tmp_path, source, lines=(2, 2), after="k % 2")
    assert len(runs) == 3 and "3 recordings are the most" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--lines", "80:40"], "argument --lines: the first line, from 1, and one that is not before it are needed: '80:40'"),  # noqa: E501
        (["--lines", "x"], "argument --lines: two line numbers are needed, like 40:80, not 'x'"),
        (["--iterations", "0,-1"], "argument --iterations: numbers from 0 are needed, like 0,1,100, not '0,-1'"),
        (["--after", "loss.isnan("], "argument --after: an expression of Python is needed, not 'loss.isnan(': '(' was"),
    ],
)  # fmt: skip
def test_invalid_options_are_reported(arguments: list[str], message: str, capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["open", *arguments, "train.py"])
    assert ended.value.code == 2 and message in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_writes_a_file_for_each_recording(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(NAN.replace("print(late)", "import sys; print(sys.argv); sys.exit(3)"))
    options = ["--iterations", "0,1", "--trace", "run.json"]
    done = forked_gradbox(tmp_path, "open", *options, "train.py", "--lr", "1")
    assert done.returncode == 3 and done.stdout == "['train.py', '--lr', '1']\n"
    assert "Written to run-iteration-1.json" in done.stderr
    traces = [json.loads((tmp_path / f"run-iteration-{k}.json").read_text()) for k in (0, 1)]
    assert [trace["runtime"]["regions"][0]["iteration"] for trace in traces] == [0, 1]
    wrong = forked_gradbox(tmp_path, "open", "--lines", "9", "train.py")
    assert wrong.returncode == 2 and "gradbox: --lines 9: train.py has 6 lines" in wrong.stderr


EPISODES = """import sys
import torch
net = torch.nn.Linear(4, 2)
optimizer = torch.optim.Adam(net.parameters())
saved = []
calls = 0

def act(state):
    chances = torch.softmax(net(state), -1)
    saved.append(chances.log()[0])
    return chances.argmax().item()

def finish():
    loss = torch.stack(saved).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    del saved[:]

def count(frame, event, argument):
    global calls
    calls += event == "call" and "/gradbox/recorder/" in frame.f_code.co_filename

for length in (10, 10, 20, 40):
    calls = 0
    sys.setprofile(count)
    for t in range(length):
        act(torch.randn(4))
    finish()
    sys.setprofile(None)
    print("calls", calls)
"""
"""Counts the recorder's own calls while iterations are recorded whose inner loops make longer and longer graphs."""


def test_a_recorded_iteration_costs_what_it_does_and_not_its_square(tmp_path: Path) -> None:
    (tmp_path / "episodes.py").write_text(EPISODES)
    options = ["--quiet", "--iterations", "1,2,3", "--out", "run.html"]
    done = forked_gradbox(tmp_path, "open", *options, "episodes.py")
    unrecorded, first, second, third = (int(count) for count in re.findall(r"calls (\d+)", done.stdout))
    assert unrecorded < 100 and first > 10_000, "what the recorder did was counted"
    assert (third - second) / (second - first) < 2.2, (first, second, third)
