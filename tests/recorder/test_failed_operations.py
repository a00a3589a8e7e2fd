"""An operation of torch that raises is in the log of its step, with what it was given."""

from typing import Any

from tests.support.tracing import trace

SOURCE = """\
import torch
a = torch.ones(2, 3)
try:
    a @ a
except RuntimeError:
    pass
b = a + torch.ones(2, 4)
"""


def operations(step: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry for entry in step["log"] if entry["kind"] == "op"]


def test_a_failed_operation_is_recorded_with_its_inputs() -> None:
    seen = trace(SOURCE)
    raised = [step for step in seen["steps"] if step["kind"] == "raise"]
    assert [step["line"] for step in raised] == [4, 7]
    caught, ended = (operations(step) for step in raised)
    assert caught == [
        {
            "kind": "op",
            "name": "aten::matmul",
            "inputs": ["t1", "t1"],
            "outputs": [],
            "requires_grad": [],
            "grad_mode": True,
            "expression": [3, 1],
            "direct": True,
            "failed": True,
        }
    ]
    assert [(op["name"], op.get("failed")) for op in ended] == [("aten::ones", None), ("aten::add.Tensor", True)]
    assert raised[1]["set"][ended[1]["inputs"][1]]["shape"] == [2, 4]


def test_an_operation_that_did_not_fail_does_not_say_so() -> None:
    assert all(
        "failed" not in op
        for step in trace("import torch\na = torch.ones(2) + 1\n")["steps"]
        for op in operations(step)
    )
