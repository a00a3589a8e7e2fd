"""The properties of the matrix: what is asked of `b`, as lines of a program that prints True or False."""

from dataclasses import dataclass
from typing import Literal

Heading = Literal["result", "graph", "keeps", "takes"]
ROOT_HOLE = "{root}"
"""In a question: the tensor that the gradient should reach."""

WRITTEN_HOLE = "{written}"
"""In a question: what of `b` can be written."""


@dataclass(frozen=True)
class Question:
    """setup: lines before the statement. ask: lines after it; the last one prints the answer, and what else is of interest.

    meta: whether `a` is on the device `meta`, so that `b` can be on another. refusal: what it means if torch raises a
    RuntimeError here; any other error means that the question does not apply.
    """

    name: str
    heading: Heading
    ask: str
    setup: str = ""
    meta: bool = False
    refusal: Literal["no", "not_applicable"] = "not_applicable"


QUESTIONS = (
    Question("handle", "result", "print(b is not a)"),
    Question(
        "storage",
        "result",
        "print(b.untyped_storage().data_ptr() != before)",
        "before = a.untyped_storage().data_ptr()",
    ),
    Question(
        "counter",
        "result",
        f"before = a._version\nwith torch.no_grad():\n    {WRITTEN_HOLE}.zero_()\nprint(a._version == before + 1)",
    ),
    Question("view", "result", "print(b._is_view())"),
    Question("grad_fn", "graph", "print(b.grad_fn is not None, b.grad_fn and b.grad_fn.name())"),
    Question("flows", "graph", f"b.sum().abs().backward()\nprint({ROOT_HOLE}.grad is not None)", refusal="no"),
    Question("dtype", "keeps", "print(b.dtype == before, before, b.dtype)", "before = a.dtype"),
    Question("device", "keeps", "print(b.device == before, before, b.device)", "before = a.device", meta=True),
    Question("layout", "keeps", "print(b.layout == before, before, b.layout)", "before = a.layout"),
    Question("strides", "keeps", "print(b.stride() == before, before, b.stride())", "before = a.stride()"),
    Question("contiguous", "keeps", "print(b.is_contiguous(), b.stride())"),
    Question(
        "requires_grad",
        "takes",
        "print(b.requires_grad == before, before, b.requires_grad)",
        "before = a.requires_grad",
    ),
    Question("grad", "takes", "print(b.grad is not None)", "a.grad = torch.ones_like(a)"),
    Question(
        "hooks",
        "takes",
        "torch.autograd.grad(b.sum().abs(), b)\nprint(len(calls) > 0)",
        "calls = []\na.register_hook(calls.append)",
        refusal="no",
    ),
    Question("attributes", "takes", 'print(hasattr(b, "note"))', 'a.note = "mine"'),
)
