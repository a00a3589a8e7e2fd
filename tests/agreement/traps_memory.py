"""Traps of memory: which storages are the same, which bytes are values, what a version shows."""

import re
from typing import Any

import torch

from gradbox.recorder.probes import cells
from tests.agreement.traps import (
    PlantedFault,
    Seen,
    Step,
    Trap,
    after_each_observation,
    instead,
    on_each_step,
    put,
    tensors,
)

IMPORT = "import torch\nimport numpy as np\n"


# 8


def every_storage_is_itself(seen: Seen) -> None:
    seen.is_plain()
    end = seen.end
    assert len({end[name]["storage"] for name in "abmrpq"}) == 6
    assert [end.state[end[name]["storage"]].get("within") for name in "pq"] == [
        {"storage": end["n"]["storage"], "at": 0}
    ] * 2
    assert set(end["s"]["parts"]) == {"indices", "values"}


# 9


def nothing_moves_unseen(seen: Seen) -> None:
    seen.is_plain()
    made, bound, data, array, resized = (seen.after(line) for line in (3, 4, 5, 6, 7))
    assert made.uid("a") == bound.uid("a") and made["a"]["storage"] != bound["a"]["storage"]
    assert [picture.version("a") for picture in (made, bound, data, array)] == [0] * 4
    assert [picture.cells("a")[:2] for picture in (bound, data, array)] == [[1.0, 1.0], [5.0, 1.0], [5.0, 6.0]]
    assert resized["z"]["storage"] == array["z"]["storage"]
    assert resized.state[resized["z"]["storage"]]["nbytes"] == 4 * 4096
    before, after = seen.after(9), seen.after(10)
    assert before.uid("w") == after.uid("w") and before["w"]["storage"] != after["w"]["storage"]
    assert after["w"]["dtype"] == "float64"
    before, after = seen.after(11), seen.after(12)
    assert before.uid("t") == after.uid("t") and (before["t"]["stride"], after["t"]["stride"]) == ([3, 1], [1, 3])
    before, after = seen.after(13), seen.after(14)
    assert [before.uid(name) for name in "bc"] == [after.uid(name) for name in "bc"]
    assert [before["b"]["shape"], after["b"]["shape"], after["c"]["shape"]] == [[1], [2], [1]]


def trust_the_counters() -> Any:
    """What is known is told anew only in a step in which some counter moved."""
    known: set[str] = set()

    def change(step: Step) -> None:
        changed = step["set"]
        if not any(uid[0] == "c" and uid in known for uid in changed):
            step["set"] = {uid: fields for uid, fields in changed.items() if uid[0] not in "ts" or uid not in known}
        known.update(changed)

    return change


# 10


def odd_tensors_are_told(seen: Seen) -> None:
    seen.is_plain()
    end = seen.end
    assert (end["i"]["bits"], end["i"].get("counter")) == (["inference"], None)
    assert end.cells(end["s"]["parts"]["values"]) == [1.0, 1.0]
    assert "shape" not in end["n"] and end.cells(end["n"]["parts"]["values"]) == [1.0, 1.0, 1.0]
    assert end["x"]["type"] == "Loud" and end.cells("x") == [1.0, 1.0]


def ask_as_the_program_does() -> None:
    with torch._C._EnableTorchFunction():
        for tensor in tensors():
            tensor.requires_grad  # noqa: B018


# 13


def the_bits_say_what_the_cells_mean(seen: Seen) -> None:
    seen.is_plain()
    end = seen.end
    assert len({end[name]["storage"] for name in "cdi"}) == 1
    assert end.cells("d") == [{"$c": [1.0, 2.0]}] and end.cells("i") == [1.0, 2.0]
    assert [end[name].get("bits") for name in "cdi"] == [None, ["conj"], ["neg"]]
    assert end.cells("n") == [1.0] and end["n"]["bits"] == ["neg"]


# 14


def handles_stand_as_torch_says(seen: Seen) -> None:
    seen.is_plain()
    assert (seen.end["e"]["shape"], seen.end["e"]["stride"]) == ([3], [0])
    assert (seen.end["o"]["shape"], seen.end["o"]["stride"]) == ([2, 2], [1, 1])
    strip = seen.end.cells("a")
    logical = [[strip[i + j] for j in range(2)] for i in range(2)]
    assert seen.printed == f"{strip} {logical}\n"


def contiguous(tensor: torch.Tensor) -> tuple[int, ...]:
    steps = [1]
    for size in reversed(tensor.shape[1:]):
        steps.insert(0, steps[0] * size)
    return tuple(steps[: tensor.dim()])


def cells_are_elements() -> Any:
    """A write of a handle leaves in its storage what was written to its elements, one after the other."""
    handles: dict[str, Any] = {}

    def change(step: Step) -> None:
        handles.update({uid: fields for uid, fields in step["set"].items() if uid[0] == "t"})
        for op in step["log"]:
            if op["kind"] == "op" and op["name"] == "aten::copy_":
                target, source = (handles[uid]["storage"] for uid in op["inputs"][:2])
                values = step["set"].get(source, {}).get("cells")
                if values and target in step["set"]:
                    step["set"][target] = {"cells": {dtype: elements[:3] for dtype, elements in values.items()}}

    return change


# 21


def every_number_arrives(seen: Seen) -> None:
    seen.is_plain()
    wanted = {
        "a": [0.1, {"$f": "nan"}, {"$f": "inf"}, {"$f": "-inf"}, -0.0],
        "b": [{"$i": "9007199254740993"}],
        "c": [{"$c": [1.0, {"$f": "inf"}]}],
        "d": [0.10009765625],
        "e": [1.5, 448.0],
        "f": [True],
    }
    assert repr({name: seen.end.cells(name) for name in wanted}) == repr(wanted)


def as_torch_reads_it(data: Any, dtype: str) -> list[Any]:
    return torch.frombuffer(bytearray(data), dtype=getattr(torch, dtype)).tolist()


# 22


def optimizer_is_told(seen: Seen) -> None:
    seen.is_plain()
    end = seen.end
    assert seen.printed == f"{end.version('w')} {end.version('b')}\n"
    state = {key["ref"]: value["ref"] for key, value in end.state[end["opt"]["attrs"]["state"]["ref"]]["items"]}
    assert set(state) == {end.uid("w"), end.uid("b")}
    momentum = dict(end.state[state[end.uid("w")]]["items"])["momentum_buffer"]
    assert end.cells(momentum["ref"]) == [2.0, 2.0]


def first_argument_is_written() -> Any:
    """A version is told by counting the operations in place of which a tensor is the first argument."""
    counter: dict[str, str] = {}
    count: dict[str, int] = {}

    def change(step: Step) -> None:
        counter.update({uid: fields["counter"] for uid, fields in step["set"].items() if fields.get("counter")})
        for op in step["log"]:
            if op["kind"] == "op" and re.search(r"\w_(\.|$)", op["name"]) and op["inputs"]:
                worn = counter.get(op["inputs"][0], "")
                count[worn] = count.get(worn, 0) + 1
        for uid, fields in step["set"].items():
            if uid[0] == "c":
                fields["value"] = count.get(uid, 0)

    return change


# 33


def offsets_are_torchs(seen: Seen) -> None:
    seen.is_plain()
    end = seen.end
    assert end["p"]["storage"] != end["q"]["storage"]
    assert [end["p"]["offset"], end["q"]["offset"]] == [0, 0]
    assert end.state[end["q"]["storage"]]["within"] == {"storage": end["n"]["storage"], "at": 8}


def one_memory_one_storage(step: Step) -> None:
    changed = step["set"]
    for fields in changed.values():
        within = changed.get(fields.get("storage", ""), {}).get("within")
        if within and "offset" in fields:
            fields["offset"] += within["at"] // 4
            fields["storage"] = within["storage"]


# 34


def bytes_and_versions_are_read(seen: Seen) -> None:
    seen.is_plain()
    end = seen.end
    assert [end.cells("h"), end.cells("q")] == [[1, 255], [18]]
    assert (end["h"]["dtype"], end["q"]["dtype"]) == ("bits8", "float4_e2m1fn_x2")
    assert seen.printed == f"{end.version('w')} {end.version(end['w']['grad'])}\n" == "2 1\n"


def one_write_one_version() -> Any:
    """A new counter stands at 0, and what moves moves by one."""
    count: dict[str, int] = {}

    def change(step: Step) -> None:
        for uid, fields in step["set"].items():
            if uid[0] == "c":
                fields["value"] = count[uid] = count.get(uid, -1) + 1

    return change


TRAPS = [
    Trap(
        8,
        "pointers_are_no_identity",
        IMPORT + "a = torch.empty(0)\nb = torch.empty(0)\nm = torch.empty(2, device='meta')\nr = torch.ones(2)\n"
        "r.untyped_storage().resize_(0)\ns = torch.eye(2).to_sparse()\nn = np.arange(4.)\np = torch.from_numpy(n)\n"
        "q = torch.from_numpy(n)\n",
        every_storage_is_itself,
        {"takes them for it": PlantedFault(instead(torch._C, "_storage_address", lambda t: t.data_ptr()))},
    ),
    Trap(
        9,
        "versions_do_not_tell_all",
        IMPORT
        + "a, z = torch.zeros(2), torch.zeros(2)\na.data = torch.ones(3)\na.data[0] = 5\na.numpy()[1] = 6\nz.resize_(4096)\n"  # noqa: E501
        "net = torch.nn.Linear(2, 1)\nw = net.weight\nnet.double()\nt = torch.arange(6.).view(2, 3)\nt.t_()\n"
        "b, c = torch.ones(1), torch.zeros(2)\ntorch.utils.swap_tensors(b, c)\n",
        nothing_moves_unseen,
        {"trusts them": PlantedFault(on_each_step(trust_the_counters()))},
    ),
    Trap(
        10,
        "tensors_that_refuse",
        "import torch\nclass Loud(torch.Tensor):\n    @classmethod\n"
        "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
        "        print(getattr(func, '__name__', func))\n"
        "        return super().__torch_function__(func, types, args, kwargs or {})\n"
        "x = torch.ones(2).as_subclass(Loud)\nwith torch.inference_mode():\n    i = torch.ones(2)\n"
        "s = torch.eye(2).to_sparse()\nn = torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])\ny = x + 1\n",
        odd_tensors_are_told,
        {
            "asks all for a version": PlantedFault(
                after_each_observation(lambda: [t._version for t in tensors()]), "version counter"
            ),
            "asks all for a storage": PlantedFault(
                after_each_observation(lambda: [t.untyped_storage() for t in tensors()]), "storage"
            ),
            "asks all for a shape": PlantedFault(
                after_each_observation(lambda: [list(t.shape) for t in tensors()]), "size"
            ),
            "runs code of subclasses": PlantedFault(after_each_observation(ask_as_the_program_does)),
        },
    ),
    Trap(
        13,
        "cells_are_not_the_values",
        "import torch\nc = torch.tensor([1 + 2j])\nd = c.conj()\ni = d.imag\nn = torch._neg_view(torch.ones(1))\n"
        "print(d.tolist(), i.tolist(), n.tolist())\n",
        the_bits_say_what_the_cells_mean,
        {
            "asks for no conj": PlantedFault(put(torch.Tensor, is_conj=lambda _: False)),
            "asks for no neg": PlantedFault(put(torch.Tensor, is_neg=lambda _: False)),
        },
    ),
    Trap(
        14,
        "strides_overlap",
        "import torch\na = torch.arange(3.)\ne = a[:1].expand(3)\no = a.as_strided((2, 2), (1, 1))\n"
        "o.copy_(torch.tensor([[1., 2.], [3., 4.]]))\nprint(a.tolist(), o.tolist())\n",
        handles_stand_as_torch_says,
        {
            "draws rows side by side": PlantedFault(put(torch.Tensor, stride=contiguous)),
            "a cell for an element": PlantedFault(on_each_step(cells_are_elements())),
        },
    ),
    Trap(
        21,
        "numbers_of_json",
        "import torch\na = torch.tensor([0.1, float('nan'), float('inf'), -float('inf'), -0.0])\n"
        "b = torch.tensor([2**53 + 1])\nc = torch.tensor([complex(1, float('inf'))])\n"
        "d = torch.tensor([0.1], dtype=torch.bfloat16)\ne = torch.tensor([1.5, 448.], dtype=torch.float8_e4m3fn)\n"
        "f = torch.tensor([True])\n",
        every_number_arrives,
        {
            "numbers as they are": PlantedFault(instead(cells, "encode_number", lambda value: value), "JSON"),
            "floats as doubles": PlantedFault(
                instead(cells, "encode_floats", lambda values: list(map(cells.encode_number, values.tolist())))
            ),
            "lists of torch": PlantedFault(instead(cells, "decode_cells", as_torch_reads_it), "JSON"),
        },
    ),
    Trap(
        22,
        "foreach_optimizers",
        "import torch\nw = torch.ones(2, requires_grad=True)\nb = torch.ones(2, requires_grad=True)\n"
        "opt = torch.optim.SGD([w, b], lr=0.5, momentum=0.5, foreach=True)\n(w * w + b).sum().backward()\nopt.step()\n"
        "print(w._version, b._version)\n",
        optimizer_is_told,
        {"counts first arguments": PlantedFault(on_each_step(first_argument_is_written()))},
    ),
    Trap(
        33,
        "arrays_inside_arrays",
        IMPORT + "n = np.arange(4, dtype='f4')\np = torch.from_numpy(n)\nq = torch.from_numpy(n[2:])\n"
        "print(p.storage_offset(), q.storage_offset())\n",
        offsets_are_torchs,
        {"makes them one": PlantedFault(on_each_step(one_memory_one_storage))},
    ),
    Trap(
        34,
        "nothing_is_predicted",
        "import torch\nh = torch.tensor([1, 255], dtype=torch.uint8).view(torch.bits8)\n"
        "q = torch.tensor([18], dtype=torch.uint8).view(torch.float4_e2m1fn_x2)\n"
        "w = torch.ones(1, requires_grad=True)\nopt = torch.optim.AdamW([w])\n(w * w).sum().backward()\nopt.step()\n"
        "print(w._version, w.grad._version)\n",
        bytes_and_versions_are_read,
        {
            "reads elements": PlantedFault(
                after_each_observation(lambda: [t.tolist() for t in tensors()]), "load_scalar"
            ),
            "predicts versions": PlantedFault(on_each_step(one_write_one_version())),
        },
    ),
]
