"""Storages, handles and version counters: who shares what with whom, and whose bytes changed."""

from itertools import pairwise

import pytest

from tests.support.tracing import Replay, at, events, trace

IMPORT = "import torch\nimport numpy as np\n"


@pytest.mark.parametrize(
    ("expression", "storage", "counter"),
    [
        ("a", True, True),
        ("a.view(2, 2)", True, True),
        ("a[1:]", True, True),
        ("a.detach()", True, True),
        ("a.data", True, False),
        ("a.clone()", False, False),
        ("torch.tensor(a)", False, False),
        ("torch.from_numpy(a.numpy())", False, False),
        ("torch.nn.Parameter(a)", True, True),
    ],
)
def test_what_shares_memory_and_what_shares_the_counter(expression: str, storage: bool, counter: bool) -> None:
    end = Replay(trace(f"{IMPORT}a = torch.arange(4.)\nb = {expression}\n"))
    assert (end["a"]["storage"] == end["b"]["storage"]) == storage
    assert (end["a"]["counter"] == end["b"]["counter"]) == counter


def test_from_numpy_twice_is_two_storages_of_one_memory() -> None:
    end = Replay(trace(IMPORT + "n = np.arange(4.)\na = torch.from_numpy(n)\nb = torch.from_numpy(n[1:])\nb[0] = 9\n"))
    assert end["a"]["storage"] != end["b"]["storage"]
    inner = end.state[end["b"]["storage"]]
    assert inner["within"] == {"storage": end["n"]["storage"], "at": 8}
    assert end.state[end["a"]["storage"]]["within"] == {"storage": end["n"]["storage"], "at": 0}
    assert end.cells("a") == [0.0, 9.0, 2.0, 3.0]


def test_a_write_is_reported_once_with_its_elements() -> None:
    recorded = trace(IMPORT + "a = torch.zeros(2, 3)\na[:, 1] = 7\n")
    (written,) = events(recorded, "written")
    assert (written["line"], written["changed"]) == (4, 2)
    assert written["region"] == {"offset": 1, "shape": [2], "stride": [3], "dtype": "float32"}
    (bumped,) = events(recorded, "version_bumped")
    assert (bumped["from"], bumped["to"]) == (0, 1)
    assert recorded["steps"][at(recorded, 4)]["set"][Replay(recorded)["a"]["storage"]] == {
        "cells_at": {"float32": {"1": 7.0, "4": 7.0}}
    }


def test_data_and_numpy_write_without_moving_the_counter() -> None:
    recorded = trace(IMPORT + "a = torch.zeros(2)\na.data[0] = 1\na.numpy()[1] = 2\n")
    assert [event["line"] for event in events(recorded, "written")] == [4, 5]
    assert events(recorded, "version_bumped") == []
    assert Replay(recorded).cells("a") == [1.0, 2.0]


def test_a_handle_keeps_its_storage_through_the_programs_rebinding() -> None:
    recorded = trace(IMPORT + "a = torch.ones(2)\nb = a\na = a + 1\nb.data = a\nb.t_()\n")
    first, last = Replay(recorded, at(recorded, 4)), Replay(recorded)
    assert first.uid("a") == first.uid("b") == last.uid("b")
    assert last["b"]["storage"] == last["a"]["storage"] and last["b"]["counter"] != last["a"]["counter"]


def test_views_stand_as_torch_says() -> None:
    end = Replay(
        trace(
            IMPORT
            + "a = torch.arange(6.).view(2, 3)\nt = a.t()\ne = a[:, :1].expand(2, 4)\no = torch.as_strided(a, (2, 2), (1, 1), 2)\n"  # noqa: E501
        )
    )
    assert [end[n][k] for n in "teo" for k in ("shape", "stride", "offset")] == [
        [3, 2], [1, 3], 0, [2, 4], [3, 0], 0, [2, 2], [1, 1], 2,
    ]  # fmt: skip
    assert len({end[n]["storage"] for n in "ateo"}) == 1
    assert end["t"]["base"] == end["a"]["base"]


def test_bytes_read_under_two_dtypes_are_recorded_in_both() -> None:
    end = Replay(trace(IMPORT + "a = torch.tensor([1., -2.])\ni = a.view(torch.int32)\ni[0] = 0\n"))
    assert end.state[end["a"]["storage"]]["cells"] == {"float32": [0.0, -2.0], "int32": [0, -1073741824]}


@pytest.mark.parametrize(
    ("expression", "cells"),
    [
        (
            "torch.tensor([0.1, float('nan'), float('inf'), -float('inf')])",
            [0.1, {"$f": "nan"}, {"$f": "inf"}, {"$f": "-inf"}],
        ),
        ("torch.tensor([2**53 + 1, -2**63])", [{"$i": "9007199254740993"}, {"$i": "-9223372036854775808"}]),
        ("torch.tensor([1 + 2j])", [{"$c": [1.0, 2.0]}]),
        ("torch.tensor([True, False])", [True, False]),
        ("torch.tensor([0.1], dtype=torch.bfloat16)", [0.10009765625]),
        ("torch.tensor([0.1], dtype=torch.float16)", [0.1]),
        ("torch.tensor([1.5, 448.], dtype=torch.float8_e4m3fn)", [1.5, 448.0]),
        ("torch.tensor([-0.0])", [-0.0]),
    ],
)
def test_elements_are_recorded_exactly(expression: str, cells: list[object]) -> None:
    recorded = Replay(trace(f"{IMPORT}a = {expression}\n")).cells("a")
    assert recorded == cells and str(recorded) == str(cells)


def test_a_big_storage_is_recorded_in_windows() -> None:
    end = Replay(trace(IMPORT + "a = torch.arange(5000.)\nb = a[2000:2003]\na[3000] = -1\n"))
    storage = end.state[end["a"]["storage"]]
    assert "cells" not in storage or storage["cells"] is None
    summary = storage["summary"]["float32"]
    assert summary["min"] == -1.0 and sum(summary["bins"]) == 5000
    starts = [k * 5000 // 64 for k in range(65)]
    values = [*map(float, range(3000)), -1.0, *map(float, range(3001, 5000))]
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(starts)]
    assert summary["heat"] == pytest.approx(means, rel=1e-3)
    windows = dict(storage["windows"]["float32"])
    assert windows[2000] == [2000.0, 2001.0, 2002.0] and windows[3000] == [-1.0] and windows[0][:2] == [0.0, 1.0]


def test_temporaries_of_a_statement_are_recorded_and_gone_after_it() -> None:
    recorded = trace(IMPORT + "a = (torch.ones(2) + 1).sum().item()\n")
    step = recorded["steps"][at(recorded, 3)]
    ops = [entry for entry in step["log"] if entry["kind"] == "op"]
    assert [op["name"] for op in ops] == ["aten::ones", "aten::add.Tensor", "aten::sum", "aten::item"]
    temporary = ops[1]["outputs"][0]
    assert temporary in step["gone"] and step["set"][temporary]["shape"] == [2]
    assert step["set"][step["set"][temporary]["storage"]]["cells"] == {"float32": [2.0, 2.0]}


def test_a_uid_is_never_given_twice() -> None:
    recorded = trace(IMPORT + "for i in range(30):\n    a = torch.ones(2) * i\n    del a\n")
    gone: set[str] = set()
    for step in recorded["steps"]:
        assert not gone & set(step["set"])
        gone |= set(step["gone"])
    assert len({uid for uid in gone if uid[0] == "s"}) >= 60


def test_resize_and_set_move_what_they_say() -> None:
    recorded = trace(IMPORT + "a = torch.ones(4)\nb = a[:2]\na.resize_(8).zero_()\nb.set_(torch.full((3,), 5.))\n")
    middle, end = Replay(recorded, at(recorded, 5)), Replay(recorded)
    assert middle["a"]["storage"] == middle["b"]["storage"] and middle.state[middle["a"]["storage"]]["nbytes"] == 32
    assert end.cells("b") == [5.0, 5.0, 5.0] and end["b"]["storage"] != end["a"]["storage"]


def test_held_by_names_every_holder_of_a_storage() -> None:
    end = Replay(trace(IMPORT + "a = torch.ones(2, requires_grad=True)\nb = a.exp()\nn = b.detach().numpy()\n"))
    holders = end.state[end["b"]["storage"]]["held_by"]
    assert {end.uid("b"), end.uid("n"), end["b"]["grad_fn"]} <= set(holders)


def test_a_write_to_a_big_storage_is_counted_and_placed() -> None:
    recorded = trace(
        IMPORT + "a = torch.zeros(100000)\nb = a[500:510]\nb += 3\nbn = torch.nn.BatchNorm1d(40000)\n"
        "y = bn(torch.ones(2, 40000))\na.numpy()[7] = 1\n"
    )
    writes = [
        (event["line"], event["changed"], event.get("region", {}).get("offset"))
        for event in events(recorded, "written")
    ]
    assert (5, 10, 500) in writes and (8, 1, 7) in writes
    assert [line for line, changed, _ in writes].count(7) == 3  # the running mean, variance and count of the layer


def test_a_write_to_a_big_storage_is_found_without_numpy_too() -> None:
    recorded = trace("import torch\na = torch.zeros(100000)\nd = a.data\nd[7] = 1\nb = torch.ones(2)\n")
    assert [(event["line"], event["changed"]) for event in events(recorded, "written")] == [(4, 1)]


@pytest.mark.parametrize("count", [2_000, 20_000])
def test_what_is_saved_of_a_big_storage_is_found_changed_and_as_it_was(count: int) -> None:
    """Each way of writing moves no version: what stands for the saved bytes may not be that of before."""
    source = f"""\
import torch
x = torch.ones({count}, requires_grad=True)
y = x * 2
z = (y[10:] * y[10:]).sum()
seen = y.detach().numpy()
y.data[15] = 7.0
y.data[15] = 2.0
seen[20] = 3.0
seen[20] = 2.0
y.data[3] = 9.0
y.data = torch.full(({count},), 5.0)
"""
    run, states = trace(source), {}
    replay = Replay(run, -1)
    for step in run["steps"]:
        replay.apply(step)
        slots = [
            slot
            for node in replay.state.values()
            if node.get("name") == "MulBackward0"
            for slot in node["saved"].values()
        ]
        states[step["line"]] = {slot["state"] for slot in slots if slot.get("shape") == [count - 10]}
    assert [states[line] for line in range(4, 12)] == [
        {"ok"}, {"ok"}, {"changed"}, {"ok"}, {"changed"}, {"ok"}, {"ok"}, {"ok"},
    ]  # fmt: skip


KEEP = "class Keeper:\n    def __init__(self, held): self.held = held\n"


@pytest.mark.parametrize(
    "made",
    [
        "torch.as_tensor(a)",
        "torch.asarray(a)",
        "torch.utils.data.default_convert(a)",
        "next(iter(torch.utils.data.DataLoader(a.reshape(2, 3), batch_size=None)))",
        "getattr(torch, 'as_' + 'tensor')(a)",
    ],
)
@pytest.mark.parametrize("size", [6, 6000])
def test_a_write_to_an_array_is_seen_at_once_in_whatever_shares_its_memory(made: str, size: int) -> None:
    a = f"a = np.arange({size}.)\n"
    run = trace(f"{IMPORT}{a}t = {made.replace('(2, 3)', f'(2, {size // 2})')}\nk = 1\na[1] = 9\nk = 2\n")
    storage = Replay(run)["t"]["storage"]
    changed = [
        step["line"]
        for step in run["steps"]
        if "cells" in step["set"].get(storage, {})
        or "cells_at" in step["set"].get(storage, {})
        or "windows" in step["set"].get(storage, {})
    ]
    assert changed == [4, 6]
