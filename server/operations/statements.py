"""Statements of Python itself: names, lists, loops, functions, checks."""

from server.operations.table import Hole, Row, hole, integer

A, B = hole("a", "anything"), hole("b", "anything")

PYTHON = (
    Row("for", "for {i} in range({n}):\n    pass", (Hole("i", "name", "step"), integer("n", 3)), ("if",)),
    Row("if", "if {a}.sum() > 0:\n    {out} = {a} * 2", (hole("a", "tensor"),), ("where",)),
    Row("def", "def {f}({x}):\n    return {x} * 2", (Hole("f", "name", "double"), Hole("x", "name", "x")), ("class",)),
    Row(
        "class",
        "class {f}(torch.nn.Module):\n    def forward(self, {x}):\n        return {x} * 2",
        (Hole("f", "name", "Double"), Hole("x", "name", "x")),
        ("def",),
    ),
    Row("print", "print({a})", (A,), ("assert",)),
    Row("del", "del {a}", (A,), ("alias",)),
    Row("list", "{out} = [{a}, {b}]", (A, B), ("stack", "dict")),
    Row("dict", "{out} = {{'a': {a}, 'b': {b}}}", (A, B), ("list",)),
    Row("assert", "assert torch.equal({a}, {b})", (A, B), ("allclose", "print")),
)
