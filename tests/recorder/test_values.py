"""Python values: containers, modules, optimizers, instances, arrays, and what is only named."""

import pytest

from tests.support.tracing import Replay, events, printed, trace


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("None", None),
        ("True", True),
        ("2**60", {"$i": str(2**60)}),
        ("float('nan')", {"$f": "nan"}),
        ("1 - 2j", {"$c": [1.0, -2.0]}),
        ("'ä'", "ä"),
        ("chr(0xd800)", {"py": "str", "text": "\\ud800"}),
        ("'x' * 1001", {"py": "str", "text": "x" * 1000 + "…"}),
        ("10**100000", {"py": "int", "text": "332193 bits"}),
        ("b'x'", {"py": "bytes", "text": "b'x'"}),
        ("range(3)", {"py": "range", "text": "range(0, 3)"}),
        ("print", {"py": "builtin_function_or_method", "text": "print"}),
        ("int", {"py": "type", "text": "int"}),
        ("torch.float32", {"py": "dtype", "text": "torch.float32"}),
        ("object()", {"py": "object"}),
        ("(i for i in ())", {"py": "generator"}),
    ],
)
def test_a_plain_value_is_recorded_as_it_is(expression: str, expected: object) -> None:
    end = Replay(trace(f"import torch\na = {expression}\n"))
    frame = next(e for e in end.state.values() if e["kind"] == "frame")
    assert frame["vars"]["a"] == expected and type(frame["vars"]["a"]) is type(expected)


def test_containers_and_the_identity_of_their_items() -> None:
    end = Replay(trace("import torch\nt = torch.ones(1)\na = [t, 1, (2, t)]\nb = {'k': a, 3: a}\na.append(a)\n"))
    items = end["a"]["items"]
    assert items[0] == {"ref": end.uid("t")} and items[3] == {"ref": end.uid("a")}
    assert end.state[items[2]["ref"]]["type"] == "tuple"
    assert end["b"]["items"] == [["k", {"ref": end.uid("a")}], [3, {"ref": end.uid("a")}]]


def test_a_deep_copy_shares_nothing_and_a_copy_shares_the_items() -> None:
    end = Replay(trace("import torch, copy\nt = torch.ones(1)\na = [t, t]\nb = copy.copy(a)\nc = copy.deepcopy(a)\n"))
    assert end["b"]["items"] == end["a"]["items"] and end.uid("b") != end.uid("a")
    first, second = (item["ref"] for item in end["c"]["items"])
    assert first == second != end.uid("t") and end.state[first]["storage"] != end["t"]["storage"]


def test_a_long_list_changes_by_a_splice() -> None:
    recorded = trace("a = list(range(100))\na.insert(50, 'x')\n")
    assert [fields for step in recorded["steps"] for fields in step["set"].values() if "splice" in fields] == [
        {"len": 101, "splice": [[50, 0, ["x"]]]}
    ]
    assert Replay(recorded)["a"]["items"][49:52] == [49, "x", 50]


def test_a_huge_list_is_recorded_in_part() -> None:
    end = Replay(trace("a = list(range(100000))\n"))
    assert end["a"]["len"] == 100000 and len(end["a"]["items"]) + end["a"]["elided"] == 100000


def test_a_module_and_its_optimizer() -> None:
    end = Replay(
        trace(
            "import torch\nnet = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.BatchNorm1d(1))\n"
            "opt = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.5)\nnet(torch.ones(3, "
            "2)).sum().backward()\nopt.step()\n"
        )
    )
    linear, norm = (end.state[ref["ref"]] for ref in end["net"]["attrs"].values())
    assert linear["type"] == "Linear" and set(linear["attrs"]) == {"weight", "bias"}
    assert {"running_mean", "running_var", "num_batches_tracked"} <= set(norm["attrs"])
    weight = linear["attrs"]["weight"]
    assert end.state[weight["ref"]]["type"] == "Parameter"
    group = end.state[end.state[end["opt"]["attrs"]["param_groups"]["ref"]]["items"][0]["ref"]]
    options = dict(group["items"])
    assert options["lr"] == 0.5 and end.state[options["params"]["ref"]]["items"][0] == weight
    state = end.state[end["opt"]["attrs"]["state"]["ref"]]["items"]
    assert weight in [key for key, _ in state]


def test_an_instance_shows_its_attributes() -> None:
    end = Replay(
        trace("class P:\n    def __init__(self):\n        self.x = 1\n        self._y = [2]\np = P()\np.z = p\n")
    )
    assert end["p"]["type"] == "P" and end["p"]["attrs"]["x"] == 1 and end["p"]["attrs"]["z"] == {"ref": end.uid("p")}


def test_a_misspelled_attribute_of_a_tensor_is_shown() -> None:
    end = Replay(trace("import torch\nx = torch.ones(1)\nx.require_grad = True\n"))
    assert end["x"]["attrs"] == {"require_grad": True} and end["x"]["requires_grad"] is False


def test_an_array_is_a_handle_on_the_same_bytes() -> None:
    end = Replay(
        trace("import torch\nimport numpy as np\nt = torch.arange(6.).view(2, 3)\nn = t.numpy()[:, 1:]\nn[0, 0] = 9\n")
    )
    assert end["n"]["storage"] == end["t"]["storage"]
    assert (end["n"]["at"], end["n"]["steps"], end["n"]["shape"]) == (4, [12, 4], [2, 2])
    assert end.cells("t")[1] == 9.0


def test_a_deeply_nested_list_ends_somewhere() -> None:
    recorded = trace("a = []\nfor i in range(500):\n    a = [a]\n")
    assert recorded["outcome"] == {"status": "finished"}


def test_a_sparse_tensor_is_recorded_by_its_parts() -> None:
    recorded = trace(
        "import torch\ns = torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 0]]), torch.tensor([1., 2.]), (2, 2))\n"
        "s._values()[0] = 9\nc = torch.eye(2).to_sparse_csr()\nn = 1\ndel s\n"
    )
    middle, end = Replay(recorded, len(recorded["steps"]) - 2), Replay(recorded)
    parts = middle["s"]["parts"]
    assert middle.cells(parts["values"]) == [9.0, 2.0] and middle[parts["indices"]]["shape"] == [2, 2]
    assert "storage" not in middle["s"] or middle["s"]["storage"] is None
    assert set(end["c"]["parts"]) == {"crow_indices", "col_indices", "values"}
    assert not set(parts.values()) & set(end.state)


def test_a_quantised_tensor_is_recorded_as_integers_with_scale() -> None:
    end = Replay(trace("import torch\nq = torch.quantize_per_tensor(torch.tensor([1., 2.]), .5, 3, torch.qint8)\n"))
    assert end.cells("q") == [5, 7]
    assert end["q"]["quant"] == {"scheme": "per_tensor_affine", "scale": 0.5, "zero_point": 3}


def test_nested_tensors_are_recorded_by_their_parts() -> None:
    recorded = trace(
        "import torch\nparts = [torch.ones(2), torch.zeros(3)]\nn = torch.nested.nested_tensor(parts)\n"
        "j = torch.nested.nested_tensor(parts, layout=torch.jagged)\nx = 1\n"
    )
    end = Replay(recorded)
    assert end.cells(end["n"]["parts"]["values"]) == [1.0, 1.0, 0.0, 0.0, 0.0]
    assert end.cells(end["j"]["parts"]["offsets"]) == [0, 2, 5]
    assert events(recorded, "tracer_fault") == [] and recorded["outcome"] == {"status": "finished"}


def test_a_dual_tensor_has_its_tangent_inside_its_level() -> None:
    recorded = trace(
        "import torch\nimport torch.autograd.forward_ad as fw\nwith fw.dual_level():\n"
        "    d = fw.make_dual(torch.ones(2), torch.tensor([1., 2.]))\n    e = d * d\nx = 1\n"
    )
    inside = Replay(recorded, next(step["i"] for step in recorded["steps"] if step["line"] == 5))
    assert inside.cells(inside["e"]["tangent"]) == [2.0, 4.0]
    assert Replay(recorded)["e"].get("tangent") is None


def test_a_transform_wraps_level_by_level() -> None:
    recorded = trace(
        "import torch\nfrom torch.func import grad, vmap\ndef f(x):\n    y = x * x\n    return y.sum()\n"
        "g = vmap(grad(f))(torch.tensor([[1., 2.], [3., 4.]]))\n"
    )
    at = next(step["i"] for step in recorded["steps"] if step["line"] == 4)
    state = Replay(recorded, at).state
    frame = next(e for e in state.values() if e["kind"] == "frame" and e["name"] == "f")
    outer = state[frame["vars"]["y"]["ref"]]
    inner = state[outer["wraps"]["value"]["ref"]]
    assert (outer["wraps"]["by"], inner["wraps"]["by"], inner["wraps"]["dim"]) == ("grad", "vmap", 0)
    value_cells = Replay(recorded, at).cells(inner["wraps"]["value"]["ref"])
    assert value_cells == [1.0, 4.0, 9.0, 16.0]
    assert events(recorded, "tracer_fault") == []


def test_observing_a_subclass_runs_none_of_its_methods() -> None:
    recorded = trace(
        "import torch\nclass Odd(torch.Tensor):\n    @property\n    def shape(self):\n        print('asked')\n"
        "        return torch.Size([9])\n    @property\n    def requires_grad(self):\n        print('asked')\n"
        "        return True\n    def stride(self):\n        print('asked')\n        return (7,)\n"
        "x = torch.ones(2).as_subclass(Odd)\ny = x * 2\n"
    )
    assert printed(recorded) == "" and events(recorded, "tracer_fault") == []
    y = Replay(recorded)["y"]
    assert (y["type"], y["shape"], y["stride"], y["requires_grad"]) == ("Odd", [2], [1], False)
