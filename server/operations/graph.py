"""Operations on the autograd graph: what is recorded, kept and called."""

from server.operations.table import Hole, OperationRow, hole

A, NODE = hole("a"), hole("a", "node")

GRAPH = (
    OperationRow("requires_grad_", "{a}.requires_grad_()", (hole("a", "plain tensor"),), ("leaf", "freeze")),
    OperationRow("freeze", "{a}.requires_grad_(False)", (hole("a", "leaf"),), ("requires_grad_", "detach")),
    OperationRow("detach_", "{a}.detach_()", (NODE,), ("detach",)),
    OperationRow("retain_grad", "{a}.retain_grad()", (NODE,), ("hook",)),
    OperationRow("hook", "{a}.register_hook({f})", (NODE, hole("f", "function")), ("retain_grad",)),
    OperationRow(
        "no_grad", "with torch.no_grad():\n    {out} = {a} * 2", (hole("a", "leaf"),), ("inference_mode", "detach")
    ),
    OperationRow(
        "inference_mode", "with torch.inference_mode():\n    {out} = {a} * 2", (hole("a", "leaf"),), ("no_grad",)
    ),
    OperationRow("enable_grad", "with torch.enable_grad():\n    {out} = {a} * 2", (hole("a", "leaf"),), ("no_grad",)),
    OperationRow(
        "set_grad",
        "{a}.grad = {g}",
        (hole("a", "leaf"), Hole("g", "tensor", "torch.ones(3)")),
        ("clear_grad", "backward_with"),
    ),
)
