"""Traps of the autograd graph: saved tensors, hooks, gradients, views, leaves, transforms."""

import contextlib
import ctypes
import faulthandler
import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch.autograd import forward_ad

from gradbox.recorder.stack import innermost_stepping_frame
from tests.agreement.traps import (
    PlantedFault,
    Seen,
    Step,
    Trap,
    after_each_observation,
    around_each_observation,
    around_engine,
    nodes,
    on_each_step,
    put,
    tensors,
)

LEAF = "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\n"
retained: list[Any] = []


def states(seen: Seen, line: int) -> dict[str, str]:
    """`node name.slot` -> state, after a line."""
    entities = seen.after(line).state.values()
    slots = [(node["name"], node.get("saved") or {}) for node in entities if node["kind"] == "node"]
    return {f"{name}.{slot}": facts["state"] for name, saved in slots for slot, facts in saved.items()}


# 1


def saved_is_read_where_it_lies(seen: Seen) -> None:
    seen.is_plain()
    slot = seen.end.node("y")["saved"]["result"]
    assert (slot["state"], slot["storage"]) == ("ok", seen.end["y"]["storage"])


def keep_raw() -> None:
    """Memory that was given back is written over first: what a kept object finds there is then no matter of luck."""
    faulthandler.disable()
    memory = ctypes.CDLL(None)
    memory.malloc.restype, memory.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    for size in range(64, 1024, 16):
        for _ in range(8):
            ctypes.memset(memory.malloc(size), 0xFF, size)
    for raw in retained:
        raw.data  # noqa: B018
    retained.extend(getattr(t.grad_fn, "_raw_saved_result") for t in tensors() if t.grad_fn is not None)  # noqa: B009


# 2


def read_saved() -> None:
    """As backward reads it: by unpacking."""
    for tensor in tensors():
        for name in dir(tensor.grad_fn):
            if name.startswith("_saved_"):
                with contextlib.suppress(RuntimeError):
                    getattr(tensor.grad_fn, name)


def read_stale() -> None:
    for tensor in tensors():
        for node in nodes(tensor.grad_fn):
            if node.name() == "SigmoidBackward0":
                node._saved_result  # noqa: B018


# 3


def raises_at_the_write_told_before(seen: Seen) -> None:
    seen.is_plain()
    assert "modified by an inplace operation" in seen.outcome["error"]["message"]
    assert seen.lines("saved_stale") == [4]


def under_saved_tensors_hooks() -> None:
    torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__()


# 4


def keep_gradients(run: Any, roots: Any, *args: Any, **kwargs: Any) -> Any:
    for root in roots:
        for node in nodes(root.grad_fn):
            node.register_prehook(lambda grads: retained.extend(grads))
    return run(roots, *args, **kwargs)


def is_plain(seen: Seen) -> None:
    seen.is_plain()


# 5


def freed_where_plain_frees(seen: Seen) -> None:
    seen.is_plain()
    assert {7, 11} <= set(seen.lines("storage_freed"))


# 7


def nobody_asked_for_grad(seen: Seen) -> None:
    seen.is_plain()
    assert seen.lines("warning") == []
    assert "grad" not in seen.end["y"]


# 11


def wrapped_level_by_level(seen: Seen) -> None:
    seen.is_plain()
    inside = next(step["i"] for step in seen.steps if step["line"] == 4 and step["depth"] > 0)
    state = type(seen.end)(seen.trace, inside).state
    frame = next(facts for facts in state.values() if facts["kind"] == "frame" and facts["name"] == "f")
    outer = state[frame["vars"]["y"]["ref"]]["wraps"]
    inner = state[outer["value"]["ref"]]["wraps"]
    assert [(wraps["by"], wraps["level"]) for wraps in (outer, inner)] == [("grad", 2), ("vmap", 1)]


def read_storages_of_locals() -> None:
    frame = innermost_stepping_frame(sys._getframe())
    assert frame is not None
    for value in list(frame.f_locals.values()):
        if isinstance(value, torch.Tensor):
            value.untyped_storage()


# 12


def tangent_inside_its_level(seen: Seen) -> None:
    seen.is_plain()
    inside = seen.after(5)
    tangent = inside["e"].get("tangent")
    assert tangent is not None and inside.cells(tangent) == [2.0, 4.0]
    assert seen.end["e"].get("tangent") is None


@contextlib.contextmanager
def outside_every_level() -> Iterator[None]:
    level, forward_ad._current_level = forward_ad._current_level, -1
    try:
        yield
    finally:
        forward_ad._current_level = level


def tangent_for_good(step: Step) -> None:
    for fields in step["set"].values():
        if fields.get("tangent", "") is None:
            del fields["tangent"]


# 15


def view_of_a_leaf_is_a_leaf(seen: Seen) -> None:
    seen.is_plain()
    with torch.no_grad():
        view = torch.ones(4, requires_grad=True)[:2]
    facts = seen.end["v"]
    assert (facts["requires_grad"], facts["leaf"], facts.get("grad_fn")) == (
        view.requires_grad,
        view.is_leaf,
        view.grad_fn,
    )
    assert facts["base"] == seen.end.uid("x")


# 16


def frozen_leaf_keeps_its_edge(seen: Seen) -> None:
    seen.is_plain()
    frozen, end = seen.after(5), seen.end
    behind = [frozen.state[uid]["variable"] for uid, _ in frozen.node("y")["next"]]
    assert behind == [frozen.uid("x"), frozen.uid("w")] and not frozen["x"]["requires_grad"]
    assert [visit["accumulates"] for visit in seen.visits if visit.get("accumulates")] == [end.uid("w")]
    assert "grad" not in end["x"] and end.cells(end["w"]["grad"]) == [1.0, 2.0]


def reached_is_accumulated() -> Any:
    variables: dict[str, str] = {}

    def change(step: Step) -> None:
        variables.update({uid: f["variable"] for uid, f in step["set"].items() if f.get("variable")})
        node = step.get("visit", {}).get("node")
        if node in variables:
            step["visit"]["accumulates"] = variables[node]

    return change


# 17


def half_is_freed(seen: Seen) -> None:
    seen.is_plain()
    assert states(seen, 9) == {"MulBackward0.self": "ok", "MulBackward0.other": "ok", "ExpBackward0.result": "ok"}
    assert states(seen, 14) == {
        "MulBackward0.self": "freed",
        "MulBackward0.other": "freed",
        "ExpBackward0.result": "ok",
    }


# 23


def long_chain_is_whole(seen: Seen) -> None:
    seen.is_plain()
    assert [uid[0] for uid in seen.end.state].count("n") > LONG
    assert len(seen.visits) == LONG + 2


def walk_by_recursion() -> None:
    def walk(node: Any) -> int:
        return 1 + sum(walk(other) for other, _ in node.next_functions if other is not None)

    for tensor in tensors():
        if tensor.grad_fn is not None and not retained:
            retained.append("once is enough")
            walk(tensor.grad_fn)


def hooks_of_the_program_alone(seen: Seen) -> None:
    seen.is_plain()
    assert (seen.end["x"]["hooks"], seen.end["y"].get("hooks")) == (1, None)


def hook_leaves() -> None:
    for tensor in tensors():
        if tensor.is_leaf and tensor.requires_grad and not retained:
            retained.append(tensor.register_hook(lambda _: None))


LONG = 1500

TRAPS = [
    Trap(
        1,
        "kept_raw_saved",
        LEAF + "y = x.exp()\ny = x.exp()\nz = 1\n",
        saved_is_read_where_it_lies,
        {"keeps it": PlantedFault(after_each_observation(keep_raw))},
    ),
    Trap(
        2,
        "saved_unpacks",
        LEAF + "from torch.utils.checkpoint import checkpoint\n"
        "def unpack(t):\n    print('unpacked')\n    return t\n"
        "def again(a):\n    print('computed')\n    return a.sin().exp()\n"
        "with torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):\n    y = x.exp()\n"
        "z = checkpoint(again, x, use_reentrant=False)\nw = x.sigmoid()\nn = w + 1\nw.mul_(2)\n(y + "
        "z).sum().backward()\n",
        is_plain,
        {
            "unpacks": PlantedFault(after_each_observation(read_saved)),
            "reads what is stale": PlantedFault(after_each_observation(read_stale), "modified by an inplace operation"),
        },
    ),
    Trap(
        3,
        "saved_tensors_hooks_check_nothing",
        LEAF + "y = x.sigmoid()\ny.add_(1)\ny.sum().backward()\n",
        raises_at_the_write_told_before,
        {"runs under them": PlantedFault(under_saved_tensors_hooks)},
    ),
    Trap(
        4,
        "kept_gradient",
        LEAF + "where = []\nx.register_hook(lambda g: where.append(g.data_ptr()))\n(x * 2).sum().backward()\n"
        "print(x.grad.data_ptr() == where[0])\ng, = torch.autograd.grad((x * x).sum(), x)\nprint(g._version)\n",
        is_plain,
        {"keeps it in a hook": PlantedFault(around_engine(keep_gradients))},
    ),
    Trap(
        5,
        "kept_wrapper",
        LEAF + "import weakref\na = x * 2\nb = a * a\nr = weakref.ref(a)\ndel a, b\nprint(r() is None)\n"
        "t = torch.ones(3)\nr = weakref.ref(t)\ndel t\nprint(r() is None)\n",
        freed_where_plain_frees,
        {
            "keeps nodes": PlantedFault(after_each_observation(lambda: retained.extend(t.grad_fn for t in tensors()))),
            "keeps tensors": PlantedFault(after_each_observation(lambda: retained.extend(tensors()))),
        },
    ),
    Trap(
        6,
        "grad_fn_of_a_stale_view",
        LEAF + "b = x * 1\nv = b[:1]\nb.mul_(2)\nc = x * 5\nw = v * 3\n"
        "c.grad_fn.register_hook(lambda *_: print('c'))\nv.grad_fn.register_hook(lambda *_: print('v'))\n"
        "(w.sum() + c.sum()).backward()\n",
        is_plain,
        {"reads it": PlantedFault(after_each_observation(lambda: [t.grad_fn for t in tensors()]))},
    ),
    Trap(
        7,
        "grad_of_a_result",
        LEAF + "y = x * 2\ny.sum().backward()\nprint(y.retains_grad, x.grad)\n",
        nobody_asked_for_grad,
        {
            "reads it": PlantedFault(after_each_observation(lambda: [t.grad for t in tensors()])),
            "retains it": PlantedFault(
                after_each_observation(lambda: [t.retain_grad() for t in tensors() if t.requires_grad])
            ),
        },
    ),
    Trap(
        11,
        "functorch_wrappers",
        "import torch\nfrom torch.func import grad, vmap\ndef f(x):\n    y = x * x\n    return y.sum()\n"
        "print(vmap(grad(f))(torch.tensor([[1., 2.], [3., 4.]])))\n",
        wrapped_level_by_level,
        {"asks for their storage": PlantedFault(after_each_observation(read_storages_of_locals), "storage")},
    ),
    Trap(
        12,
        "tangents_have_a_level",
        "import torch\nimport torch.autograd.forward_ad as fw\nwith fw.dual_level():\n"
        "    d = fw.make_dual(torch.ones(2), torch.tensor([1., 2.]))\n    e = d * d\nn = 1\n",
        tangent_inside_its_level,
        {
            "looks outside of it": PlantedFault(around_each_observation(outside_every_level)),
            "believes it lasts": PlantedFault(on_each_step(tangent_for_good)),
        },
    ),
    Trap(
        15,
        "no_grad_view_of_a_leaf",
        LEAF + "with torch.no_grad():\n    v = x[:1]\n",
        view_of_a_leaf_is_a_leaf,
        {"a view is no leaf": PlantedFault(put(torch.Tensor, is_leaf=property(lambda t: not t._is_view())))},
    ),
    Trap(
        16,
        "leaf_frozen_after_use",
        LEAF + "w = torch.ones(2, requires_grad=True)\ny = x * w\nx.requires_grad_(False)\ny.sum().backward()\n"
        "print(x.grad, w.grad)\n",
        frozen_leaf_keeps_its_edge,
        {"what is reached accumulates": PlantedFault(on_each_step(reached_is_accumulated()))},
    ),
    Trap(
        17,
        "freed_node_by_node",
        LEAF + "class F(torch.autograd.Function):\n    forward = staticmethod(lambda ctx, a: a * 1)\n"
        "    @staticmethod\n    def backward(ctx, g):\n        raise ValueError('no')\n"
        "y = F.apply(x.exp())\nz = (y * y).sum()\nfor _ in range(2):\n    try:\n        z.backward()\n"
        "    except Exception as error:\n        print(error)\n",
        half_is_freed,
        {
            "keeps the graph to read it": PlantedFault(
                around_engine(lambda run, r, g, _, *a, **k: run(r, g, True, *a, **k))
            )
        },
    ),
    Trap(
        23,
        "long_chains",
        LEAF + f"from functools import reduce\ny = reduce(lambda a, _: a + 1, range({LONG}), x)\n"
        "y.sum().backward(retain_graph=True)\n",
        long_chain_is_whole,
        {"walks by recursion": PlantedFault(after_each_observation(walk_by_recursion), "RecursionError")},
        limits={"steps": 20_000},
    ),
    Trap(
        23,
        "hooks_that_show",
        LEAF + "x.register_hook(lambda g: g)\ny = x + 1\ny.grad_fn.register_hook(lambda *_: None)\n"
        "y.sum().backward()\nprint(len(x._backward_hooks), y._backward_hooks)\n",
        hooks_of_the_program_alone,
        {"hooks tensors": PlantedFault(after_each_observation(hook_leaves))},
    ),
]
