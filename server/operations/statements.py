"""Statements of Python itself: names, lists, loops, functions, checks."""

from server.operations.table import Hole, OperationRow, hole, integer

A, B = hole("a", "anything"), hole("b", "anything")

PYTHON = (
    OperationRow("for", "for {i} in range({n}):\n    pass", (Hole("i", "name", "step"), integer("n", 3)), ("if",)),
    OperationRow("if", "if {a}.sum() > 0:\n    {out} = {a} * 2", (hole("a", "tensor"),), ("where",)),
    OperationRow(
        "def", "def {f}({x}):\n    return {x} * 2", (Hole("f", "name", "double"), Hole("x", "name", "x")), ("class",)
    ),
    OperationRow(
        "class",
        "class {f}(torch.nn.Module):\n    def forward(self, {x}):\n        return {x} * 2",
        (Hole("f", "name", "Double"), Hole("x", "name", "x")),
        ("def",),
    ),
    OperationRow("print", "print({a})", (A,), ("assert",)),
    OperationRow("del", "del {a}", (A,), ("alias",)),
    OperationRow("list", "{out} = [{a}, {b}]", (A, B), ("stack", "dict")),
    OperationRow("dict", "{out} = {{'a': {a}, 'b': {b}}}", (A, B), ("list",)),
    OperationRow("assert", "assert torch.equal({a}, {b})", (A, B), ("allclose", "print")),
)
