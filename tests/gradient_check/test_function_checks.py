"""The backward of a program's own Functions beside the slope of their forward: what differs, and what is meant to."""

from typing import Any

import pytest

from tests.support.tracing import events, printed, trace

FUNCTION = """\
import torch
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        {forward}
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        {backward}
x = torch.tensor([0.5, -1.5, 2.0], requires_grad=True)
Own.apply(x).sum().backward()
"""


def checks(forward: str, backward: str, more: str = "") -> list[dict[str, Any]]:
    """The events of a program with such a Function."""
    return events(trace(FUNCTION.format(forward=forward, backward=backward) + more), "function_checked")


@pytest.mark.parametrize(
    ("forward", "backward", "got", "wanted", "ignores"),
    [
        ("return x ** 2", "return 2 * x", 1.0, 2.0, True),
        ("return x ** 2", "return g * x", 1.0, 2.0, False),
        ("return x.exp()", "return g * x", 1.0, 3.297443, False),
        ("return x.sin()", "return -g * x.cos()", -1.755165, 1.755165, False),
        ("return x * x.sigmoid()", "return g * x.sigmoid()", 1.244919, 1.479922, False),
    ],
)
def test_a_backward_that_is_not_the_derivative_is_measured(
    forward: str, backward: str, got: float, wanted: float, ignores: bool
) -> None:
    (event,) = checks(forward, backward)
    assert (event["function"], event["order"], event["element"]) == ("Own", 1, 0)
    assert event["got"] == pytest.approx(got, rel=1e-5) and event["wanted"] == pytest.approx(wanted, rel=1e-5)
    assert bool(event.get("ignores_incoming")) is ignores


@pytest.mark.parametrize(
    ("forward", "backward"),
    [
        ("return x ** 2", "return 2 * x * g"),
        ("return x.round()", "return g"),
        ("return x.sign()", "return g * (x.abs() < 1)"),
        ("return (x > 0).float()", "return g / (1 + x.abs()) ** 2"),
        ("return x.clamp(-1, 1)", "return g"),
        ("return x.clone()", "return -g"),
        ("return x.view_as(x)", "return g.clamp(-0.1, 0.1)"),
        ("return x * torch.rand(3)", "return g"),
        ("return x.relu()", "return g * (x > 0)"),
        ("return torch.from_numpy(x.detach().numpy() ** 2)", "return 2 * x * g"),
        ("return x ** 2", "raise_ = 2 * x * g\n        return raise_"),
    ],
)
def test_a_correct_or_intentional_backward_is_not_reported(forward: str, backward: str) -> None:
    assert checks(forward, backward) == []


def test_a_second_derivative_that_misses_a_part_is_of_the_second_order() -> None:
    forward, backward = "ctx.grown = x.exp()\n        return ctx.grown - 1", "return g * ctx.grown"
    more = "s, = torch.autograd.grad(Own.apply(x).sum(), x, create_graph=True)\n"
    assert [event["order"] for event in checks(forward, backward, more)] == [2]


def test_the_check_leaves_no_trace_in_the_program() -> None:
    forward = "print('forward')\n        calls.append(1)\n        return x ** 2"
    source = "calls = []\n" + FUNCTION.format(forward=forward, backward="return 2 * x * g") + "print(len(calls))\n"
    recorded = trace(source)
    assert printed(recorded) == "forward\n1\n"
    assert recorded["outcome"]["status"] == "finished"


@pytest.mark.parametrize(
    "after", ["while ended: pass", "if ended: raise SystemExit", "if ended: exit()", "if ended: 1 / 0"]
)
def test_a_forward_that_misbehaves_after_the_program_does_no_harm(after: str) -> None:
    source = "ended = []\n" + FUNCTION.format(forward=f"{after}\n        return x ** 2", backward="return g")
    recorded = trace(source + "ended.append(True)\nprint('the end')\n")
    assert (recorded["outcome"]["status"], printed(recorded)) == ("finished", "the end\n")
    assert events(recorded, "function_checked") == events(recorded, "tracer_fault") == []
