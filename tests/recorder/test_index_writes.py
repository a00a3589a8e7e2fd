"""Writes by advanced indices, and hooks that a write in place leaves behind: what the recorder reports of them."""

import pytest
import torch

from tests.support.tracing import events, printed, trace

IMPORT = "import torch\nx = torch.arange(6.)\nmask = x > 2\n"


@pytest.mark.parametrize(
    "write",
    [
        "x[mask].fill_(9)",
        "x[[1, 3]] .zero_()",
        "x[mask][1:] = -1",
        "x[[0, 1]][:1].mul_(3)",
        "x[None][mask[None]].neg_()",
        "x.view(2, 3).t().reshape(-1)[0] = 9",
        "x.view(2, 3).t().contiguous().zero_()",
    ],
)
def test_a_write_into_the_copy_that_an_index_made_is_reported(write: str) -> None:
    recorded = trace(f"{IMPORT}before = x.clone()\n{write}\nprint(torch.equal(x, before))\n")
    (lost,) = events(recorded, "index_copy_written")
    assert lost["line"] == 5
    assert printed(recorded) == "True\n"


@pytest.mark.parametrize(
    "write",
    [
        "x[mask] = 9",
        "x[mask] += 1",
        "x[1:3].fill_(9)",
        "x[0].zero_()",
        "y = x[mask]\ny += 1",
        "y = x[mask].mul_(2).sum()",
        "y = x[[1, 3]].add_(1)",
        "print(x[[1, 3]])",
        "print(x[[1, 3]].fill_(7))",
        "n = x[mask].mul_(2).numpy().sum()",
        "n = x[mask].mul_(2).tolist()",
        "x.clone().fill_(0)",
        "import copy\nlayer = copy.deepcopy(torch.nn.Linear(2, 2))",
    ],
)
def test_a_write_whose_copy_is_used_is_not_reported(write: str) -> None:
    assert events(trace(f"{IMPORT}{write}\nprint(x)\n"), "index_copy_written") == []


@pytest.mark.parametrize(
    ("write", "count", "distinct"),
    [
        ("x[[1, 1, 2]] += 1", 3, 2),
        ("x[[1, -5]] = torch.tensor([1., 2.])", 2, 1),
        ("x.view(2, 3)[[[0], [0]], [1, 2]] += 1", 4, 2),
        ("x.view(2, 3)[:, [0, 0]] += 1", 2, 1),
        ("x.index_put_((torch.tensor([4, 4]),), torch.tensor(7.))", 2, 1),
    ],
)
def test_repeated_indices_are_reported(write: str, count: int, distinct: int) -> None:
    (repeated,) = events(trace(f"{IMPORT}{write}\n"), "indices_repeated")
    assert (repeated["line"], repeated["count"], repeated["distinct"]) == (4, count, distinct)


@pytest.mark.parametrize(
    "write",
    [
        "x[[0, 1, 2]] += 1",
        "x[mask] = 1",
        "x.index_put_((torch.tensor([4, 4]),), torch.tensor(7.), accumulate=True)",
        "x[2] = 1",
    ],
)
def test_indices_that_are_unique_or_accumulate_are_not_reported(write: str) -> None:
    assert events(trace(f"{IMPORT}{write}\n"), "indices_repeated") == []


def test_a_hook_that_a_write_leaves_behind_is_reported() -> None:
    source = "import torch\na = torch.ones(2, requires_grad=True).clone()\na.register_hook(print)\na.mul_(2)\n"
    (left,) = events(trace(source), "hook_left")
    assert (left["line"], left["count"]) == (4, 1)
    a = torch.ones(2, requires_grad=True).clone()
    seen: list[float] = []
    a.register_hook(lambda grad: seen.append(float(grad[0])))
    a.mul_(2)
    a.sum().backward()
    assert seen == [2.0], "torch itself runs the hook at the node of before the write"


@pytest.mark.parametrize(
    "then", ["handle.remove()", "b = a * 2", "a.data.mul_(2)", "with torch.no_grad():\n    a.mul_(2)"]
)
def test_a_hook_that_stays_with_its_tensor_is_not_reported(then: str) -> None:
    source = f"import torch\na = torch.ones(2, requires_grad=True).clone()\nhandle = a.register_hook(print)\n{then}\n"
    assert events(trace(source), "hook_left") == []


@pytest.mark.parametrize(
    ("write", "counts"),
    [
        ("torch.zeros(4).scatter(0, torch.tensor([1, 1, 2]), s)", [(3, 2)]),
        ("torch.zeros(4).scatter_(0, torch.tensor([1, 0, 2]), s)", []),
        ("torch.zeros(2, 3).scatter(1, torch.tensor([[0, 0], [1, 2]]), s.expand(2, 3))", [(4, 3)]),
        ("torch.zeros(3, 2).scatter(0, torch.tensor([[0, 1], [0, 2]]), s[:2].expand(2, 2))", [(4, 3)]),
        ("torch.zeros(4).scatter(0, torch.tensor([1, 1, 2]), s.detach())", []),
        ("torch.zeros(4).scatter_add(0, torch.tensor([1, 1, 2]), s)", []),
    ],
)
def test_repeated_indices_of_a_scatter_count_where_a_gradient_is_asked_for(
    write: str, counts: list[tuple[int, int]]
) -> None:
    recorded = trace(f"import torch\ns = torch.ones(3, requires_grad=True)\n{write}\n")
    assert [(event["count"], event["distinct"]) for event in events(recorded, "indices_repeated")] == counts
