"""Steps: when one is taken, what it names, and that the program notices nothing."""

import pytest

from tests.support.tracing import Replay, at, events, printed, trace


def kinds(source: str) -> list[tuple[str, int, int]]:
    return [(step["kind"], step["line"], step["depth"]) for step in trace(source)["steps"] if step["kind"] != "end"]


def test_every_statement_has_its_step() -> None:
    assert kinds("import torch\nx = torch.ones(2)\nx += 1\n") == [
        ("statement", 1, 0),
        ("statement", 2, 0),
        ("statement", 3, 0),
    ]


def test_a_call_shows_the_callee_at_the_calling_statement() -> None:
    source = "def f(a):\n    b = a + 1\n    return b\nc = f(2)\n"
    recorded = trace(source)
    assert kinds(source) == [
        ("statement", 1, 0),
        ("call", 4, 0),
        ("statement", 2, 1),
        ("return", 3, 1),
        ("statement", 4, 0),
    ]
    called = Replay(recorded, 1)
    frame = next(e for e in called.state.values() if e["kind"] == "frame" and e.get("caller"))
    assert frame["name"] == "f" and frame["vars"] == {"a": 2}
    assert recorded["steps"][3]["value"] == 3
    assert not [e for e in Replay(recorded).state.values() if e["kind"] == "frame" and e.get("caller")]


def test_names_of_one_statement_come_in_the_order_in_which_they_are_written() -> None:
    recorded = trace("z, b, y, a = 1, 2, 3, 4\nq, k, v = z, b, y\n")
    assert [list(step["set"]["f1"]["vars"]) for step in recorded["steps"][:2]] == [
        ["z", "b", "y", "a"],
        ["q", "k", "v"],
    ]


def test_loops_count_their_iterations() -> None:
    recorded = trace("for i in range(2):\n    for j in range(2):\n        k = i\nn = 0\nwhile n < 2:\n    n += 1\n")
    inner = [step["iter"] for step in recorded["steps"] if step["line"] == 3]
    assert inner == [[0, 0], [0, 1], [1, 0], [1, 1]]
    tests = [
        (step["iter"], step["value"]) for step in recorded["steps"] if step["kind"] == "head" and step["line"] == 5
    ]
    assert tests == [([0], True), ([1], True), ([2], False)]


def test_a_generator_waits_and_goes_on() -> None:
    recorded = trace("def g():\n    got = yield 1\n    yield got\nq = g()\na = next(q)\nb = q.send(5)\ndel q\n")
    assert [step["kind"] for step in recorded["steps"] if step["line"] in (2, 5, 6)][:3] == [
        "call",
        "yield",
        "statement",
    ]
    waiting = Replay(recorded, at(recorded, 5))
    frame = next(e for e in waiting.state.values() if e["kind"] == "frame" and e["name"] == "g")
    assert frame["state"] == "suspended"
    resumed = next(step for step in recorded["steps"] if step["kind"] == "resume")
    assert (resumed["line"], resumed["value"]) == (6, 5)
    assert not [e for e in Replay(recorded).state.values() if e["kind"] == "frame" and e["name"] == "g"]


def test_what_an_exception_held_dies_where_its_handler_ends() -> None:
    recorded = trace(
        "import torch\ndef f():\n    a = torch.ones(2)\n    a.view(3)\ntry:\n    f()\nexcept RuntimeError as error:\n"
        "    print('caught')\nprint('after')\n"
    )
    steps = [(step["kind"], step["line"]) for step in recorded["steps"]]
    assert steps[-3:] == [("statement", 8), ("statement", 5), ("statement", 9)]
    caught, ended, after = recorded["steps"][-3:]
    tensor = next(uid for step in recorded["steps"] for uid, e in step["set"].items() if e.get("kind") == "tensor")
    assert tensor in ended["gone"] and caught["gone"] == after["gone"] == []
    assert ended["set"][recorded["steps"][0]["frame"]]["unset"] == ["error"]


def test_a_caught_exception_is_a_step_of_the_statement_that_raised() -> None:
    recorded = trace(
        "def f():\n    return 1 / 0\ntry:\n    x = 1\n    f()\nexcept ZeroDivisionError as e:\n    print('caught')\n"
    )
    raised = [(step["line"], step["depth"]) for step in recorded["steps"] if step["kind"] == "raise"]
    assert raised == [(5, 0)]
    assert recorded["outcome"] == {"status": "finished"}


def test_finally_without_an_exception_records_no_raise() -> None:
    recorded = trace(
        "try:\n    raise ValueError\nexcept ValueError:\n    try:\n        x = 1\n    finally:\n        y = 2\n"
    )
    assert [step["line"] for step in recorded["steps"] if step["kind"] == "raise"] == [2]


def test_an_uncaught_exception_ends_the_trace() -> None:
    recorded = trace(
        "def f(n):\n    k = n * 2\n    raise ValueError(f'no {k}')\ntry:\n    {}['a']\nexcept KeyError as e:\n    "
        "f(2)\n"
    )
    error = recorded["outcome"]["error"]
    assert recorded["outcome"]["status"] == "raised"
    assert (error["type"], error["message"], error["line"]) == ("ValueError", "no 4", 3)
    assert error["stack"] == [{"line": 7, "frame": "<module>"}, {"line": 3, "frame": "f"}]
    assert error["cause"] == {"type": "KeyError", "message": "'a'", "line": 5}
    step = recorded["steps"][error["step"]]
    assert (step["kind"], step["line"]) == ("raise", 3)
    frames = {e["name"]: e["vars"] for e in Replay(recorded, error["step"]).state.values() if e["kind"] == "frame"}
    assert frames["f"] == {"n": 2, "k": 4}


@pytest.mark.parametrize(
    ("source", "kind", "line"),
    [("import sys\nsys.exit(3)\n", "SystemExit", 2), ("raise KeyboardInterrupt\n", "KeyboardInterrupt", 1)],
)
def test_exits_are_recorded_like_other_exceptions(source: str, kind: str, line: int) -> None:
    error = trace(source)["outcome"]["error"]
    assert (error["type"], error["line"]) == (kind, line)


def test_the_value_of_a_bare_expression_is_recorded() -> None:
    recorded = trace("import torch\n1 + 1\ntorch.ones(2)\nNone\n")
    assert recorded["steps"][1]["value"] == 2
    uid = recorded["steps"][2]["value"]["ref"]
    assert recorded["steps"][2]["set"][uid]["shape"] == [2] and uid in recorded["steps"][2]["gone"]
    assert "value" not in recorded["steps"][3]


def test_observing_runs_no_code_of_the_program() -> None:
    recorded = trace(
        "class E:\n"
        "    def __getattribute__(self, n):\n        print('get', n)\n        return object.__getattribute__(self, n)\n"
        "    def __repr__(self):\n        print('repr')\n        return 'E'\n"
        "    def __eq__(self, o):\n        print('eq')\n        return True\n"
        "    def __len__(self):\n        print('len')\n        return 1\n"
        "    def __iter__(self):\n        print('iter')\n        return iter(())\n"
        "    @property\n    def p(self):\n        print('p')\n"
        "class M(type):\n    def __getattribute__(c, n):\n        print('meta', n)\n        return "
        "type.__getattribute__(c, n)\n"
        "class C(metaclass=M):\n    pass\n"
        "class L(list):\n    def __iter__(self):\n        print('L')\n        return iter(())\n"
        "e = E()\nc = C()\nl = L([1, 2])\nx = [e, c]\n"
    )
    assert printed(recorded) == ""
    assert [Replay(recorded)["l"]["items"], Replay(recorded)["e"]["type"]] == [[1, 2], "E"]


def test_a_program_cannot_see_the_instruments() -> None:
    recorded = trace(
        "def f():\n    a = 1\n    print(sorted(locals()))\nf()\nprint([n for n in globals() if n[:2] != '__'], dir())\n"
    )
    assert printed(recorded).splitlines() == [
        "['a']",
        "['f'] ['__builtins__', '__doc__', '__file__', '__loader__', '__name__', '__package__', '__spec__', 'f']",
    ]


def test_nothing_is_kept_alive() -> None:
    recorded = trace(
        "import torch, weakref\nx = torch.ones(2)\nr = weakref.ref(x)\ndel x\nprint(r() is None)\n"
        "def f():\n    y = torch.ones(3)\n    w = weakref.ref(y)\n    del y\n    return w() is None\nprint(f())\n"
        "z = torch.ones(1, requires_grad=True) * 2\ns = weakref.ref(z)\nz = z.sum()\nprint(s() is None)\n"
    )
    assert printed(recorded) == "True\nTrue\nTrue\n"


def test_recursion_ends_where_plain_python_ends_it() -> None:
    recorded = trace("def f(k):\n    return f(k + 1)\nf(0)\n", limits={"steps": 5000})
    error = recorded["outcome"]["error"]
    assert (error["type"], error["message"], error["line"]) == ("RecursionError", "maximum recursion depth exceeded", 2)
    assert sum(step["kind"] == "call" for step in recorded["steps"]) in range(990, 1000)


def test_the_step_limit_ends_a_long_program() -> None:
    recorded = trace("n = 0\n" + "try:\n    n += 1\nexcept BaseException:\n    pass\n" * 80, limits={"steps": 50})
    assert recorded["outcome"] == {
        "status": "stopped",
        "stopped": {"limit": "steps", "value": 50, "line": recorded["steps"][-1]["line"]},
    }
    assert len(recorded["steps"]) == 50


def test_the_output_limit_keeps_what_was_printed() -> None:
    recorded = trace("while True:\n    print('x' * 99)\n", limits={"output": 1000})
    assert recorded["outcome"]["stopped"]["limit"] == "output"
    assert len(printed(recorded)) == 1000


def test_the_trace_limit() -> None:
    recorded = trace("a = []\n" + "a.append('x' * 900)\n" * 400, limits={"trace": 300_000})
    assert recorded["outcome"]["stopped"]["limit"] == "trace"
    assert len(recorded["steps"]) > 10


def test_output_and_warnings_belong_to_their_statement() -> None:
    recorded = trace(
        "import warnings, sys\nprint('a', end='')\nwarnings.warn('careful')\nprint('b', file=sys.stderr)\n"
    )
    logs = [[(e["kind"], e.get("stream"), e.get("text")) for e in step["log"]] for step in recorded["steps"][1:4]]
    assert logs == [[("out", "stdout", "a")], [("event", None, "careful")], [("out", "stderr", "b\n")]]
    assert events(recorded, "warning")[0]["category"] == "UserWarning"


def test_two_programs_see_the_same_random_numbers() -> None:
    source = "import torch, random\nimport numpy as np\nprint(torch.rand(2), random.random(), np.random.rand())\n"
    assert printed(trace(source)) == printed(trace(source)) != printed(trace(source, seed=1))


def test_refusals_and_syntax_errors_are_drawable() -> None:
    refused = trace("import socket\nimport torch\neval('x')\n")
    assert refused["outcome"]["status"] == "refused" and refused["steps"] == []
    assert [r["line"] for r in refused["outcome"]["error"]["refusals"]] == [1, 3]
    broken = trace("x = (1,\n")
    assert broken["outcome"]["status"] == "refused" and broken["outcome"]["error"]["line"] == 1
    outside = trace("x = 1\nreturn x\n")
    assert outside["outcome"]["status"] == "refused" and outside["outcome"]["error"]["line"] == 2


def test_no_step_records_a_fault_of_the_recorder() -> None:
    recorded = trace(
        "import torch\nfrom torch.func import grad, vmap\nimport torch.autograd.forward_ad as fw\n"
        "s = torch.eye(2).to_sparse()\nq = torch.quantize_per_tensor(torch.ones(2), .1, 0, torch.qint8)\n"
        "m = torch.ones(2, device='meta')\nn = torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])\n"
        "def f(a):\n    b = a * a\n    return b.sum()\n"
        "g = vmap(grad(f))(torch.ones(2, 2))\n"
        "with fw.dual_level():\n    d = fw.make_dual(torch.ones(2), torch.ones(2))\n    e = d * d\n"
        "with torch.inference_mode():\n    i = torch.ones(2)\n"
        "z = torch.ones(0)\nc = torch.ones(2, dtype=torch.complex64).conj()\nh = torch.ones(2, "
        "dtype=torch.float8_e4m3fn)\n"
    )
    assert recorded["outcome"] == {"status": "finished"}
    assert events(recorded, "tracer_fault") == []


def test_the_header_names_the_device() -> None:
    runtime = trace("print(1)\n")["runtime"]
    assert runtime["device"] == "cpu" and runtime["device_name"].strip()


ALONG_AXES = """\
import torch
from torch import nn

x = torch.ones(2, 3, 4, requires_grad=True)
a = x.softmax(-1)
b = x.sum((0, 2))
c = torch.cat([x, x], dim=1)
d = torch.einsum("abc,abd->acd", x, x)
e = nn.GRU(4, 5, batch_first=True)(x)
f = x.exp()
g = nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)
"""


def arguments_by_name(source: str) -> dict[str, object]:
    recorded = trace(source)
    entries = [entry for step in recorded["steps"] for entry in step["log"] if entry["kind"] == "op"]
    return {entry["name"]: entry.get("args") for entry in entries}


def test_axis_arguments_are_recorded_as_they_were_given() -> None:
    found = arguments_by_name(ALONG_AXES)
    assert found["aten::softmax.int"] == {"dim": -1}
    assert found["aten::sum.dim_IntList"] == {"dim": [0, 2]}
    assert found["aten::cat"] == {"dim": 1}
    assert found["aten::einsum"] == {"equation": "abc,abd->acd"}
    assert found["aten::gru.input"] == {"batch_first": True}
    assert found["aten::scaled_dot_product_attention"] == {"is_causal": True}


def test_an_operation_without_such_arguments_has_none() -> None:
    assert arguments_by_name(ALONG_AXES)["aten::exp"] is None
