"""Operations that compute new numbers, place by place or as a product."""

from server.operations.table import OperationRow, hole, integer, number

A, B, FLOATS = hole("a"), hole("b"), hole("a", "float tensor")
SECOND_OPERAND = hole("b", "float tensor", "{name} = torch.tensor([[1., 2., 3.], [4., 5., 7.]])")

MATH = (
    OperationRow("add", "{out} = {a} + {b}", (A, B), ("sub", "mul", "iadd")),
    OperationRow("sub", "{out} = {a} - {b}", (A, B), ("add",)),
    OperationRow("mul", "{out} = {a} * {b}", (A, B), ("matmul", "mul_", "add")),
    OperationRow("div", "{out} = {a} / {x}", (A, number("x", "2.")), ("mul",)),
    OperationRow("pow", "{out} = {a} ** {x}", (A, number("x", "2")), ("mul", "exp")),
    OperationRow("matmul", "{out} = {a} @ {b}", (hole("a", "matrix"), hole("b", "vector")), ("mul", "einsum")),
    OperationRow(
        "einsum", '{out} = torch.einsum("ij,j->i", {a}, {b})', (hole("a", "matrix"), hole("b", "vector")), ("matmul",)
    ),
    OperationRow("exp", "{out} = {a}.exp()", (FLOATS,), ("log", "pow")),
    OperationRow("log", "{out} = {a}.log()", (FLOATS,), ("exp",)),
    OperationRow("sqrt", "{out} = {a}.sqrt()", (FLOATS,), ("pow",)),
    OperationRow("abs", "{out} = {a}.abs()", (A,), ("relu", "pow")),
    OperationRow("relu", "{out} = torch.relu({a})", (FLOATS,), ("relu_", "sigmoid", "tanh")),
    OperationRow("sigmoid", "{out} = torch.sigmoid({a})", (FLOATS,), ("relu", "tanh")),
    OperationRow("tanh", "{out} = torch.tanh({a})", (FLOATS,), ("sigmoid", "relu")),
    OperationRow(
        "softmax", "{out} = torch.softmax({a}, {dim})", (FLOATS, integer("dim", -1)), ("sigmoid", "log_softmax")
    ),
    OperationRow("log_softmax", "{out} = torch.log_softmax({a}, {dim})", (FLOATS, integer("dim", -1)), ("softmax",)),
    OperationRow(
        "clamp", "{out} = {a}.clamp({low}, {high})", (A, number("low", "0."), number("high", "1.")), ("clamp_", "relu")
    ),
    OperationRow("where", "{out} = torch.where({a} > {x}, {a}, {b})", (A, number("x", "2"), B), ("clamp", "masked")),
    OperationRow("isclose", "{out} = torch.isclose({a}, {b})", (FLOATS, SECOND_OPERAND), ("allclose",)),
    OperationRow("allclose", "{out} = torch.allclose({a}, {b})", (FLOATS, SECOND_OPERAND), ("isclose",)),
)
