"""The autograd graph: nodes, edges, saved slots and their states, paths cut, and every visit of a backward."""

from typing import Any

import pytest

from tests.forks.plain_python import run_plain
from tests.support.tracing import Replay, at, events, printed, trace

IMPORT = "import torch\nimport numpy as np\nx = torch.tensor([1., 2.], requires_grad=True)\n"


def states(recorded: dict[str, Any], upto: int | None = None) -> dict[str, str]:
    """`node name.slot` -> state, of the nodes alive."""
    state = Replay(recorded, upto).state
    return {
        f"{node['name']}.{slot}": facts["state"]
        for node in state.values()
        if node["kind"] == "node"
        for slot, facts in (node.get("saved") or {}).items()
    }


def test_a_graph_has_its_nodes_edges_and_leaf() -> None:
    end = Replay(trace(IMPORT + "y = x.exp()\nz = y * x\n"))
    mul = end.node("z")
    exp, leaf = (end.state[uid] for uid, _ in mul["next"])
    assert (mul["name"], exp["name"], leaf["name"]) == (
        "MulBackward0",
        "ExpBackward0",
        "torch::autograd::AccumulateGrad",
    )
    assert leaf["variable"] == end.uid("x") and exp["next"] == [mul["next"][1]]
    assert end["y"]["grad_fn"] == mul["next"][0][0]
    assert mul["saved"]["self"]["tensor"] == end.uid("y") and exp["saved"]["result"]["storage"] == end["y"]["storage"]


def test_a_stale_slot_is_reported_at_the_write() -> None:
    recorded = trace(IMPORT + "y = x.sigmoid()\ny.add_(1)\ny.sum().backward()\n")
    (stale,) = events(recorded, "saved_stale")
    assert (stale["line"], stale["slot"]) == (5, "result")
    slot = Replay(recorded, at(recorded, 5)).state[stale["node"]]["saved"]["result"]
    assert (slot["expected"], slot["state"]) == (0, "stale")
    assert (
        recorded["outcome"]["error"]["line"] == 6
        and "modified by an inplace operation" in recorded["outcome"]["error"]["message"]
    )


@pytest.mark.parametrize("write", ["y.data[0] = 9", "y.detach().numpy()[0] = 9", "y.data.zero_()"])
def test_a_silent_change_is_reported_at_the_write(write: str) -> None:
    recorded = trace(IMPORT + f"y = x.sigmoid()\n{write}\ny.sum().backward()\n")
    (silent,) = events(recorded, "saved_changed_silently")
    assert (silent["line"], silent["slot"]) == (5, "result")
    assert recorded["outcome"] == {"status": "finished"} and events(recorded, "saved_stale") == []


def test_a_detached_input_is_reported() -> None:
    recorded = trace(IMPORT + "m = x * 2\ny = m * m\nm.detach_()\ny.sum().backward()\n")
    assert {(event["line"], event["slot"]) for event in events(recorded, "saved_detached")} == {
        (6, "self"),
        (6, "other"),
    }
    assert "detached in-place" in recorded["outcome"]["error"]["message"]


def test_data_assignment_leaves_the_slot_with_other_bytes() -> None:
    recorded = trace(IMPORT + "y = (x * x).sum()\nx.data = torch.tensor([10., 10.])\ny.backward()\n")
    assert {event["line"] for event in events(recorded, "saved_changed_silently")} == {5}
    assert Replay(recorded)["x"]["grad"] and Replay(recorded).cells(Replay(recorded)["x"]["grad"]) == [20.0, 20.0]


def test_slots_are_freed_by_backward_and_kept_on_request() -> None:
    recorded = trace(IMPORT + "y = (x * x).sum()\ny.backward(retain_graph=True)\ny.backward()\ny.backward()\n")
    assert set(states(recorded, at(recorded, 5)).values()) == {"ok"}
    assert set(states(recorded, at(recorded, 6)).values()) == {"freed"}
    assert [event["line"] for event in events(recorded, "graph_released")] == [6]
    assert recorded["outcome"]["error"]["line"] == 7


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("y = x.detach()", "detach"),
        ("y = x.data", "data"),
        ("with torch.no_grad():\n    y = x * 2", "no_grad"),
        ("with torch.inference_mode():\n    y = x * 2", "inference"),
        ("y = x.sum().item()", "item"),
        ("y = x.long()", "dtype"),
        ("y = x > 1", "dtype"),
        ("y = (x * 2).detach() + 1", "detach"),
        ("y = torch.tensor(x)", "copy"),
        ("y = x.new_tensor(x)", "copy"),
        ("import copy; y = copy.deepcopy(x)", "copy"),
        ("y = x.detach().clone()", "detach"),
        ("y = x.detach().numpy()", "numpy"),
        ("import numpy; y = numpy.asarray(x.detach())", "numpy"),
        ("y = x.detach().numpy().sum()", "detach"),
    ],
)
def test_a_cut_path_is_reported_at_its_statement(statement: str, reason: str) -> None:
    recorded = trace(IMPORT + statement + "\nz = 1\n")
    cuts = events(recorded, "path_cut")
    assert [cut["reason"] for cut in cuts] == [reason]
    assert cuts[0]["line"] == 4 + statement.count("\n")


@pytest.mark.parametrize(
    "statement",
    [
        "y = x.exp()",
        "y = torch.zeros_like(x)",
        "print(x)",
        "x.sum().backward()",
        "y = torch.nn.Linear(2, 1)(x)",
        "torch.optim.Adam([x]).step()",
        "x.register_hook(lambda g: g * 2)",
        "y = torch.nn.functional.relu(x)",
    ],
)
def test_statements_that_cut_no_path(statement: str) -> None:
    recorded = trace(IMPORT + statement + "\n")
    assert recorded["outcome"] == {"status": "finished"} and events(recorded, "path_cut") == []


def test_every_visit_of_a_backward() -> None:
    recorded = trace(IMPORT + "y = x.clone()\nz = (y * y).sum()\nz.backward()\n")
    visits = [step for step in recorded["steps"] if step["kind"] == "visit"]
    before = Replay(recorded, at(recorded, 5))
    names = [before.state[step["visit"]["node"]]["name"].split("::")[-1] for step in visits]
    assert names == ["SumBackward0", "MulBackward0", "CloneBackward0", "AccumulateGrad"]
    assert [grad["cells"] for grad in visits[1]["visit"]["grad_inputs"]] == [[1.0, 2.0], [1.0, 2.0]]
    assert visits[2]["visit"]["grad_outputs"][0]["cells"] == [2.0, 4.0]
    assert visits[3]["visit"]["accumulates"] == before.uid("x")
    assert {step["line"] for step in visits} == {6}
    assert states(recorded, visits[0]["i"])["MulBackward0.self"] == "ok"
    assert states(recorded, visits[1]["i"])["MulBackward0.self"] == "freed"
    end = Replay(recorded)
    assert end.cells(end["x"]["grad"]) == [2.0, 4.0]
    assert not [uid for uid in end.state if uid[0] == "b"]
    engine = visits[0]["set"][visits[0]["visit"]["backward"]]
    assert (engine["api"], engine["keep_graph"], engine["roots"]) == ("backward", False, [before.uid("z")])


def test_gradients_accumulate() -> None:
    recorded = trace(IMPORT + "(x * 2).sum().backward()\n(x * 3).sum().backward()\n")
    assert [(event["line"], event["first"]) for event in events(recorded, "grad_accumulated")] == [
        (4, True),
        (5, False),
    ]
    first, end = Replay(recorded, at(recorded, 4)), Replay(recorded)
    assert first["x"]["grad"] == end["x"]["grad"] and end.cells(end["x"]["grad"]) == [5.0, 5.0]


def test_a_visit_that_raises_has_failed() -> None:
    recorded = trace(
        IMPORT
        + "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a):\n        return a * 1\n"
        "    @staticmethod\n    def backward(ctx, g):\n        raise ValueError('no')\n"
        "y = F.apply(x * 2)\ntry:\n    y.sum().backward()\nexcept ValueError:\n    pass\n"
    )
    visits = [step["visit"] for step in recorded["steps"] if step["kind"] == "visit"]
    assert [visit.get("failed") for visit in visits] == [None, True]
    assert recorded["outcome"] == {"status": "finished"}
    inside = next(step for step in recorded["steps"] if step["kind"] == "call" and step["line"] == 13)
    frames = [e["name"] for e in Replay(recorded, inside["i"]).state.values() if e["kind"] == "frame"]
    assert frames == ["<module>", "backward"]


def test_a_backward_in_a_hook_has_a_parent() -> None:
    recorded = trace(
        IMPORT + "def h(g):\n    a = torch.ones(1, requires_grad=True)\n    (a * 2).backward()\n"
        "x.register_hook(h)\nx.sum().backward()\n"
    )
    passes = {uid: facts for step in recorded["steps"] for uid, facts in step["set"].items() if uid[0] == "b"}
    assert [passes[uid].get("parent") for uid in ("b1", "b2")] == [None, "b1"]


def test_autograd_grad_does_not_accumulate() -> None:
    recorded = trace(IMPORT + "g, = torch.autograd.grad((x * x).sum(), x)\n")
    end = Replay(recorded)
    assert end.cells("g") == [2.0, 4.0] and "grad" not in end["x"]
    assert not [step for step in recorded["steps"] if "accumulates" in step.get("visit", {})]


@pytest.mark.parametrize(
    "program",
    [
        "g, = torch.autograd.grad((x * x).sum(), x)\nprint(g._version)\n",
        "x.sum().backward()\n(x * x).sum().backward()\nprint(x.grad._version)\n",
        "(x * x + x).sum().backward()\nprint(x.grad._version)\n",
    ],
)
def test_autograd_still_adds_up_in_place(program: str) -> None:
    """A Python object for a gradient's storage would make the engine add out of place; the version shows it."""
    source = IMPORT + program
    assert printed(trace(source)) == run_plain(source)["printed"] != ""


@pytest.mark.parametrize(
    ("make", "name"),
    [
        ("y = torch.ones(2, 3, requires_grad=True).t().reshape(3, 2)", "ReshapeAliasBackward0"),
        (
            "y = torch.nn.functional.ctc_loss(torch.zeros(4, 1, 3, requires_grad=True).log_softmax(2), "
            "torch.tensor([[1]]), torch.tensor([4]), torch.tensor([1]))",
            "CtcLossBackward0",
        ),
    ],
)
def test_an_operation_makes_the_nodes_that_plain_torch_makes(make: str, name: str) -> None:
    def chain(replay: Replay, uid: str) -> list[str]:
        node = replay.state[uid]
        return [node["name"], *(n for edge in node["next"] if edge for n in chain(replay, edge[0]))]

    end = Replay(trace(IMPORT + make + "\n"))
    assert name in chain(end, end["y"]["grad_fn"])


def test_a_slot_behind_saved_tensor_hooks_is_packed() -> None:
    recorded = trace(IMPORT + "with torch.autograd.graph.save_on_cpu():\n    y = x.exp()\ny.sum().backward()\n")
    assert states(recorded, at(recorded, 5)) == {"ExpBackward0.result": "packed"}
    assert recorded["outcome"] == {"status": "finished"}


@pytest.mark.parametrize(
    ("lines", "event", "by"),
    [
        ("y = x.exp()\ny.add_(1)\n", "saved_stale", "y"),
        ("y = x.exp()\nv = y.view(-1)\nv.mul_(2)\n", "saved_stale", "v"),
        ("y = x.exp()\nd = y.data\nd.mul_(2)\n", "saved_changed_silently", "d"),
        ("y = x.exp()\nd = y.detach().numpy()\nd[0] = 5\n", "saved_changed_silently", None),
        ("u = x * 1\ny = u * u\nu.detach_()\n", "saved_detached", "u"),
        ("y = x.exp()\nd = y.data\nd.mul_(2); y.add_(1); d.mul_(2)\n", "saved_stale", "y"),
    ],
)
def test_a_broken_slot_names_the_handle_that_broke_it(lines: str, event: str, by: str | None) -> None:
    recorded = trace(IMPORT + lines)
    end = Replay(recorded)
    assert {broken.get("by") for broken in events(recorded, event)} == {end.uid(by) if by else None}


def test_the_writer_of_a_slot_that_went_stale_unseen_is_not_guessed() -> None:
    recorded = trace(
        IMPORT + "y = x.exp()\nfor k in range(3000):\n    if k == 2000:\n        y.add_(1)\n", limits={"steps": 300}
    )
    (stale,) = events(recorded, "saved_stale")
    assert "by" not in stale or "span" not in stale


HOOKS = """\
def doubled(grad):
    return grad * 2
y = x * 3
first = x.register_hook(doubled)
x.register_hook(print)
y.register_hook(lambda grad: None)
x.register_post_accumulate_grad_hook(lambda leaf: None)
y.sum().backward(retain_graph=True)
first.remove()
x.sum().backward()
torch.autograd.grad((x * y).sum(), x)
"""


def test_hooks_of_tensors_ran_in_the_visits_of_their_nodes() -> None:
    recorded = trace(IMPORT + HOOKS)
    assert recorded["outcome"] == {"status": "finished"} and events(recorded, "tracer_fault") == []
    x, y = (Replay(recorded).uid(name) for name in "xy")
    ran = events(recorded, "hook_ran")
    assert [(event["tensor"], event["hook"], event["count"]) for event in ran] == [
        (y, "tensor", 1),
        (x, "tensor", 2),
        (x, "post_accumulate_grad", 1),
        (x, "tensor", 1),
        (x, "post_accumulate_grad", 1),
        (y, "tensor", 1),
    ]
    visits = {step["i"]: step["visit"]["node"] for step in recorded["steps"] if step["kind"] == "visit"}
    for step in recorded["steps"]:
        for entry in step["log"]:
            if entry.get("event") == "hook_ran":
                assert entry["node"] == visits[step["i"]]


def test_a_hook_that_raises_fails_its_visit_and_no_later_hook_runs() -> None:
    hook = "def fails(leaf):\n    raise ValueError\nx.register_post_accumulate_grad_hook(fails)\n"
    recorded = trace(IMPORT + hook + "x.sum().backward()\n")
    assert recorded["outcome"]["status"] == "raised" and events(recorded, "hook_ran") == []


def test_a_hook_on_a_tensor_without_a_gradient_is_not_reported() -> None:
    source = "a, b = x.unbind()\nb.register_hook(print)\na.backward()\n"
    assert events(trace(IMPORT + source), "hook_ran") == []


def saved_other(recorded: dict[str, Any], line: int, name: str) -> dict[str, Any]:
    """What the node behind a name holds as `other` after a line."""
    slot: dict[str, Any] = Replay(recorded, at(recorded, line)).node(name)["saved"]["other"]
    return slot


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ("2.5", 2.5),
        ("4", 4),
        ("float('inf')", {"$f": "inf"}),
        ("3j", {"$c": [0.0, 3.0]}),
        ("2**60", {"$i": str(2**60)}),
    ],
)
def test_a_saved_python_number_is_recorded_as_a_value(number: str, value: Any) -> None:
    recorded = trace(f"import torch\nx = torch.ones(2, requires_grad=True)\ny = x * {number}\n")
    assert saved_other(recorded, 3, "y") == {"value": value, "state": "ok"}
    end = Replay(recorded)
    assert sum(entity["kind"] == "storage" for entity in end.state.values()) == 2
    assert events(recorded, "saved") == []


@pytest.mark.parametrize(
    "tensor", ["torch.tensor(2.)", "torch.tensor(2., dtype=torch.float64)", "torch.tensor(2)", "torch.tensor(2j)"]
)
def test_a_saved_one_element_tensor_is_not_recorded_as_a_number(tensor: str) -> None:
    recorded = trace(f"import torch\nx = torch.ones(2, requires_grad=True)\ny = x * {tensor}\n")
    assert saved_other(recorded, 3, "y")["storage"] in Replay(recorded).state


def test_a_saved_number_that_the_program_takes_hold_of_is_a_tensor() -> None:
    recorded = trace(
        "import torch\nx = torch.ones(2, requires_grad=True)\ny = x * 2.5\nz = x * 3\ns = y.grad_fn._saved_other\n"
    )
    assert saved_other(recorded, 4, "y") == {"value": 2.5, "state": "ok"}
    slot = saved_other(recorded, 5, "y")
    assert slot["storage"] == Replay(recorded)["s"]["storage"] and "value" not in slot
    assert saved_other(recorded, 5, "z") == {"value": 3, "state": "ok"}
