"""Long loops: what is recorded of them, that their end is reached, and that what passed unseen is found again."""

import ast
import itertools
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gradbox.recorder.loop_sampling import MAX_SHARE, IterationSchedule
from gradbox.wire.trace import Focus, trace_document
from tests.agreement.test_agreement import ADDRESS, PROGRAMS
from tests.forks.plain_python import run_plain
from tests.support.full_observation import unobserved
from tests.support.recorder_changes import print_count_of_walked_nodes
from tests.support.sampling import every, sampled
from tests.support.tracing import Replay, events, printed, trace
from tests.support.workers import Workers

pytestmark = pytest.mark.slow

LEARN = """\
import torch
torch.manual_seed(0)
x = torch.linspace(-3, 3, 20).reshape(-1, 1)
net = torch.nn.Sequential(torch.nn.Linear(1, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for t in range(1500):
    loss = ((net(x) - torch.sin(x)) ** 2).sum()
    if t % 100 == 99:
        print(t, loss.item())
    opt.zero_grad()
    loss.backward()
    opt.step()
print('after', loss.item())
"""


def heads(recorded: dict[str, Any], line: int) -> list[int]:
    """The iterations of the loop at a line that are recorded."""
    return [step["iter"][-1] for step in recorded["steps"] if step["kind"] == "head" and step["line"] == line]


def served(workers: Workers, source: str, **job: Any) -> dict[str, Any]:
    """The trace as the server makes it: with a second run where that shows more."""
    return trace_document(workers.run(source, **job))


def test_a_tutorial_is_followed_to_its_end() -> None:
    recorded = trace(LEARN)
    assert recorded["outcome"] == {"status": "finished"}
    assert printed(recorded) == run_plain(LEARN)["printed"]
    seen = heads(recorded, 6)
    gaps = [b - a for a, b in itertools.pairwise(seen)]
    assert seen[:10] == list(range(10)) and max(gaps) > 50 and gaps[:-1] == sorted(gaps[:-1])
    assert len(recorded["steps"]) < 2000
    assert recorded["steps"][-1]["line"] == 13 and recorded["steps"][-2]["line"] == 6
    assert seen[-1] == 1499, "the last iteration is recorded, however long the gap before it"


def test_skipped_steps_are_counted() -> None:
    recorded = trace("n = 0\nfor i in range(3000):\n    n += i\nprint(n)\n")
    seen = heads(recorded, 2)
    assert sum(step.get("skipped", 0) for step in recorded["steps"]) == 2 * (3000 - len(seen))
    assert Replay(recorded).state["f1"]["vars"]["n"] == sum(range(3000))


def test_an_iteration_that_is_recorded_is_recorded_whole() -> None:
    recorded = trace("n = 0\nfor i in range(3000):\n    n += i\n    m = n\n    k = m\n")
    for i in heads(recorded, 2):
        lines = [step["line"] for step in recorded["steps"] if step.get("iter") == [i]]
        assert lines == [2, 3, 4, 5]


@pytest.mark.parametrize(
    "source",
    [
        "n = 0\nfor i in range(100):\n    for j in range(100):\n        n += 1\n    n -= 1\n",
        "n = 0\nwhile n < 5000:\n    n += 1\n",
        "n = 0\nwhile True:\n    n += 1\n    if n > 5000:\n        break\n",
        "def f(m):\n    for i in range(m):\n        if i == 4000:\n            return i\nn = f(9999)\n",
        "def g():\n    for i in range(5000):\n        yield i\nn = sum(g())\n",
        "def g():\n    for i in range(5000):\n        yield i\nn = 0\nfor k in g():\n    n += k\n",
        "def f():\n    for i in range(5000):\n        if i == 4000:\n            raise ValueError\n"
        "n = 0\ntry:\n    f()\nexcept ValueError:\n    n = 7\n",
        "import contextlib\ndef f():\n    for i in range(5000):\n        if i == 4000:\n            raise ValueError\n"
        "n = 0\nwith contextlib.suppress(ValueError):\n    f()\nn = 8\n",
        "n = 0\nfor i in range(4000):\n    try:\n        1 / (i % 3)\n    except ZeroDivisionError:\n        n += 1\n",
        "n = 0\nfor i in range(4000):\n    n += i\nelse:\n    n = -1\n",
        "n = 0\ndef add(k):\n    global n\n    n += k\nfor i in range(4000):\n    add(i)\n",
        "class C:\n    def __init__(self):\n        self.n = 0\n    def more(self):\n        self.n += 1\nc = C()\n"
        "for i in range(4000):\n    c.more()\nn = c.n\n",
    ],
)
def test_thinned_loops_of_every_kind_end_as_in_plain_python(source: str) -> None:
    recorded = trace(source)
    space: dict[str, Any] = {}
    exec(source, space)
    assert recorded["outcome"] == {"status": "finished"}
    assert Replay(recorded).state["f1"]["vars"]["n"] == space["n"]
    assert events(recorded, "tracer_fault") == []
    assert sum(step.get("skipped", 0) for step in recorded["steps"]) > 1000
    assert recorded["steps"][-1]["depth"] == 0


def test_a_backward_through_a_long_graph_leaves_visits_out() -> None:
    source = (
        "import torch\nx = torch.ones(2, requires_grad=True)\ny = x\nfor i in range(1200):\n    y = y * 1.0\n"
        "y.sum().backward()\nprint(x.grad)\n"
    )
    recorded = trace(source)
    assert recorded["outcome"] == {"status": "finished"} and printed(recorded) == "tensor([1., 1.])\n"
    visits = [step for step in recorded["steps"] if step["kind"] == "visit"]
    assert 50 < len(visits) < 400
    assert sum(step.get("skipped", 0) for step in recorded["steps"] if step["line"] == 6) + len(visits) == 1202
    replay = Replay(recorded)
    assert replay.cells("x") == [1, 1] and replay.state[replay["x"]["grad"]]["leaf"] is True


def test_saved_slots_first_seen_late_are_unknown() -> None:
    recorded = trace(
        "import torch\nx = torch.ones(2, requires_grad=True)\n"
        "for i in range(1500):\n    y = x.exp()\n    z = y * 2\n    a = i\n"
    )
    assert recorded["outcome"] == {"status": "finished"}
    late = next(step for step in recorded["steps"] if "skipped" in step)
    replay = Replay(recorded, late["i"])
    assert replay.node("y")["saved"]["result"]["state"] == "unknown"
    assert Replay(recorded, late["i"] + 1).node("y")["saved"]["result"]["state"] == "ok"


def test_events_found_late_carry_their_span() -> None:
    recorded = trace("import torch\nx = torch.zeros(2)\nfor i in range(3000):\n    x += 1\n")
    late = next(step for step in recorded["steps"] if "skipped" in step)
    (bumped,) = [entry for entry in late["log"] if entry.get("event") == "version_bumped"]
    assert bumped["span"] == [late["i"] - 1, late["i"]]
    assert bumped["to"] - bumped["from"] == late["iter"][0] - recorded["steps"][late["i"] - 1]["iter"][0] - 1


FAILS = """\
import torch
x = torch.ones(3, requires_grad=True)
for i in range(2000):
    y = x.exp()
    if i == 1700:
        y.add_(1)
    y.sum().backward()
    k = i
"""


def test_an_iteration_that_fails_is_seen(workers: Workers) -> None:
    first = trace(FAILS)
    assert first["outcome"]["status"] == "raised" and first["again"] == {"2": 1701}
    assert 1700 not in heads(first, 3)
    recorded = served(workers, FAILS)
    assert recorded["outcome"]["error"]["line"] == 7 and recorded["focus"]["repeatable"] is True
    assert heads(recorded, 3)[-2:] == [1699, 1700]
    assert [step["line"] for step in recorded["steps"] if step.get("iter") == [1700]][:4] == [3, 4, 5, 6]
    assert [event["line"] for event in events(recorded, "saved_stale")] == [6]


def test_a_failure_in_a_loop_inside_a_loop_is_seen(workers: Workers) -> None:
    source = "n = 0\nfor i in range(60):\n    for j in range(60):\n        n += 1\n        3 / (n - 3000)\n"
    recorded = served(workers, source)
    assert recorded["outcome"]["error"]["type"] == "ZeroDivisionError"
    last = [step for step in recorded["steps"] if step.get("iter") == [49, 59]]
    assert [step["line"] for step in last] == [3, 4, 5] and last[-1]["kind"] == "raise"


def test_what_turned_stale_unseen_is_seen_in_the_second_run(workers: Workers) -> None:
    source = (
        "import torch\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\nfor i in range(2000):\n    k = i\n"
        "    if i == 1500:\n        y.add_(1)\nprint('end')\n"
    )
    recorded = served(workers, source)
    assert recorded["focus"]["repeatable"] is True
    (stale,) = events(recorded, "saved_stale")
    assert stale["line"] == 7 and "span" not in stale


def test_a_program_that_takes_another_path_is_not_repeatable(workers: Workers) -> None:
    source = (
        "import time\nn = 0\nfor i in range(2000):\n    n += 1\n    if i == 1900:\n"
        "        raise ValueError(str(time.time()))\n"
    )
    recorded = served(workers, source)
    assert recorded["outcome"]["status"] == "raised" and recorded["focus"]["repeatable"] is False


def test_a_focus_opens_an_iteration() -> None:
    source = "n = 0\nfor i in range(3000):\n    n += i\n"
    assert 2222 not in heads(trace(source), 2)
    recorded = trace(source, focus={"loop": 1, "iteration": [2222]})
    assert 2222 in heads(recorded, 2)
    assert [step["line"] for step in recorded["steps"] if step.get("iter") == [2222]] == [2, 3]


def test_the_server_opens_what_it_is_asked_for(workers: Workers) -> None:
    source = "import torch\nx = torch.arange(100_000)\nn = 0\nfor i in range(3000):\n    n += i\n"
    recorded = served(workers, source, focus=Focus.model_validate({"loop": 3, "iteration": 2222}))
    assert recorded["focus"]["iteration"] == [2222] and 2222 in heads(recorded, 4)
    recorded = served(workers, source, focus=Focus.model_validate({"storage": "s1", "from": 500, "to": 510}))
    assert [500, list(range(500, 510))] in Replay(recorded).state["s1"]["windows"]["int64"]


def test_a_focus_opens_an_iteration_inside_one() -> None:
    source = "n = 0\nfor i in range(100):\n    for j in range(100):\n        n += 1\n"
    recorded = trace(source, focus={"loop": 2, "iteration": [77, 33]})
    assert [step["line"] for step in recorded["steps"] if step.get("iter") == [77, 33]] == [3, 4]


def test_a_focus_opens_a_window_of_a_big_storage() -> None:
    source = "import torch\nx = torch.arange(100_000)\ny = 1\n"
    plain = Replay(trace(source))
    assert [at for at, _ in plain.state["s1"]["windows"]["int64"]] == [0, 99_984]
    replay = Replay(trace(source, focus={"storage": "s1", "step": 0, "from": 500, "to": 510}))
    assert replay.state["s1"]["windows"]["int64"][1] == [500, list(range(500, 510))]


@pytest.mark.parametrize(
    "focus", [{}, {"loop": 1}, {"storage": "s1", "from": 3}, {"loop": 1, "iteration": 2, "counts": {}}]
)
def test_half_a_focus_is_refused(focus: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Focus.model_validate(focus)


ODD = ("docstrings", "recursion_without_end")
"""Programs that mean something else as the body of a loop, or take all the room at once."""


def turned(source: str, turns: int) -> str:
    """The program as the body of a loop."""
    tree = ast.parse(source)
    turns_ = ast.parse(f"for turn in range({turns}):\n    pass").body[0]
    assert isinstance(turns_, ast.For)
    first = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    turns_.body = [node for node in tree.body if node not in first]
    return ast.unparse(ast.fix_missing_locations(ast.Module([*first, turns_], [])))


@pytest.mark.parametrize(
    "path", sampled([path for path in PROGRAMS if path.stem not in ODD][::3], every(8)), ids=lambda path: path.stem
)
def test_a_thinned_loop_runs_as_in_plain_python(path: Path) -> None:
    source = turned(path.read_text(), 12)
    recorded, truth = trace(source, limits={"steps": 400}), run_plain(source)
    assert ADDRESS.sub("~", printed(recorded, "stdout")) == ADDRESS.sub("~", truth["printed"])
    error = recorded["outcome"].get("error")
    assert (error and [error["type"], error["line"]]) == (truth["error"] and truth["error"][::2])
    assert events(recorded, "tracer_fault") == []


@pytest.mark.parametrize("lines", [30, 300, 700])
def test_iterations_of_any_length_leave_room_for_the_end(lines: int) -> None:
    recorded = trace("n = 0\nfor i in range(500):\n" + "    n += 1\n" * lines + "print(n)\n")
    assert recorded["outcome"] == {"status": "finished"} and printed(recorded) == f"{500 * lines}\n"
    assert len(recorded["steps"]) > lines


def test_intervals_grow_and_room_is_left() -> None:
    spent = 0.0
    schedule = IterationSchedule(lambda: spent, {})
    seen = []
    for n in range(1, 200_001):
        schedule.counts[0] = n
        if schedule.is_iteration_due(0, [n]):
            seen.append(n)
            spent += 0.01
    assert seen[:20] == list(range(1, 21))
    assert seen[-1] > 10_000 and spent <= MAX_SHARE + 0.01


UNSEEN_CHANGES = {
    "a chain": "    x = x.sin()",
    "a chain in a list": "    seen.append(x.exp())\n    x = seen[-1] * 0.1",
    "a write to what was saved": "    y = x.exp()\n    z = y * y\n    kept.append(z)\n    y.add_(1)",
    "a write now and then": "    y = x.exp()\n    z = y * y\n    kept.append(z)\n    seen.append(y)\n"
    "    if k % 7 == 3:\n        seen[k // 2].add_(1)",
    "a write to what dies": "    y = seen.pop().sin() if seen else x.exp()\n    kept.append(y * y)\n    seen.append(y)\n"  # noqa: E501
    "    if k % 5 == 4:\n        seen.pop().mul_(2)\n        y = None",
    "a write to a result that dies": "    y = x.exp()\n    kept.append(y + 1)\n    seen.append(y)\n    y = None\n"
    "    if k % 5 == 4:\n        seen.pop(0).mul_(1)",
    "a view's write": "    y = x.exp()\n    kept.append(y * y)\n    seen.append(y)\n"
    "    if k % 6 == 5:\n        seen[k - 3][:2].zero_()",
    "a backward": "    y = (x.exp() ** 2).sum()\n    kept.append(y)\n    if k % 9 == 8:\n"
    "        kept[k - 4].backward(retain_graph=k % 2 == 0)",
    "a gradient": "    y = (w * x.detach()).sum()\n    y.backward()\n    if k % 8 == 7:\n        w.grad = None",
    "weights": "    y = (w * x.detach().exp()).sum()\n    kept.append(y)\n    if k % 4 == 3:\n"
    "        with torch.no_grad():\n            w.mul_(0.9)",
    "memory that goes elsewhere": "    y = x.exp()\n    kept.append(y * y)\n    seen.append(y)\n"
    "    if k % 6 == 5:\n        seen[k - 4].data = torch.ones(4)\n        kept.append(seen[k - 4].view(2, 2) * 2)",
    "a module that goes elsewhere": "    y = net(x.detach())\n    kept.append(y * y)\n"
    "    if k % 6 == 5:\n        net.double().float()\n        kept.append(net.weight.view(-1) * 2)",
    "what leaves the graph": "    y = x.exp()\n    kept.append(y * y)\n    seen.append(y)\n"
    "    if k % 6 == 5:\n        seen[k - 4].detach_()",
    "what a node saved": "    y = x.exp()\n    kept.append(y * y)\n    if k % 6 == 5:\n"
    "        with torch.no_grad():\n            kept[k - 3].grad_fn._saved_self.mul_(2)\n    y = None",
    "numpy": "    y = torch.ones(4, requires_grad=True).exp()\n    kept.append(y * y)\n    seen.append(y.detach().numpy())\n"  # noqa: E501
    "    if k % 6 == 5:\n        seen[k - 4][0] = 7",
}
"""Bodies of a long loop that change what is known already, also where nothing is recorded."""


@pytest.mark.parametrize("name", UNSEEN_CHANGES)
def test_what_changed_unseen_is_found_without_asking_each_node(name: str) -> None:
    source = (
        "import torch\nx = torch.ones(4, requires_grad=True)\nw = torch.ones(4, requires_grad=True)\n"
        f"net = torch.nn.Linear(4, 4)\nseen, kept = [], []\nfor k in range(60):\n{UNSEEN_CHANGES[name]}\nlast = 0\n"
    )
    limits = {"steps": 90}
    assert any("skipped" in step for step in trace(source, limits=limits)["steps"])
    assert unobserved(source, limits=limits) == []


def test_after_unseen_iterations_only_new_nodes_are_walked() -> None:
    source = "import torch\nx = torch.ones(4, requires_grad=True)\nfor k in range(400):\n    x = x.sin()\n"
    recorded = trace(source, print_count_of_walked_nodes, limits={"steps": 200})
    assert sum("skipped" in step for step in recorded["steps"]) > 20
    assert int(printed(recorded).split()[-1]) <= 401
