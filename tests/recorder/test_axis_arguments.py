"""An operation is recorded with the arguments that say along which axes it works."""

from typing import Any

from tests.support.tracing import trace

SOURCE = """\
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


def arguments_by_name(recorded: dict[str, Any]) -> dict[str, Any]:
    entries = [entry for step in recorded["steps"] for entry in step["log"] if entry["kind"] == "op"]
    return {entry["name"]: entry.get("args") for entry in entries}


def test_axis_arguments_are_recorded_as_they_were_given() -> None:
    found = arguments_by_name(trace(SOURCE))
    assert found["aten::softmax.int"] == {"dim": -1}
    assert found["aten::sum.dim_IntList"] == {"dim": [0, 2]}
    assert found["aten::cat"] == {"dim": 1}
    assert found["aten::einsum"] == {"equation": "abc,abd->acd"}
    assert found["aten::gru.input"] == {"batch_first": True}
    assert found["aten::scaled_dot_product_attention"] == {"is_causal": True}


def test_an_operation_without_such_arguments_has_none() -> None:
    assert arguments_by_name(trace(SOURCE))["aten::exp"] is None
