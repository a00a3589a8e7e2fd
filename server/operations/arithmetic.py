"""Operations that compute new numbers, place by place or as a product."""

from server.operations.table import Row, hole, integer, number

A, B, FLOATS = hole("a"), hole("b"), hole("a", "float tensor")
OTHER = hole("b", "float tensor", "{name} = torch.tensor([[1., 2., 3.], [4., 5., 7.]])")

MATH = (
    Row("add", "{out} = {a} + {b}", (A, B), ("sub", "mul", "iadd")),
    Row("sub", "{out} = {a} - {b}", (A, B), ("add",)),
    Row("mul", "{out} = {a} * {b}", (A, B), ("matmul", "mul_", "add")),
    Row("div", "{out} = {a} / {x}", (A, number("x", "2.")), ("mul",)),
    Row("pow", "{out} = {a} ** {x}", (A, number("x", "2")), ("mul", "exp")),
    Row("matmul", "{out} = {a} @ {b}", (hole("a", "matrix"), hole("b", "vector")), ("mul", "einsum")),
    Row("einsum", '{out} = torch.einsum("ij,j->i", {a}, {b})', (hole("a", "matrix"), hole("b", "vector")), ("matmul",)),
    Row("exp", "{out} = {a}.exp()", (FLOATS,), ("log", "pow")),
    Row("log", "{out} = {a}.log()", (FLOATS,), ("exp",)),
    Row("sqrt", "{out} = {a}.sqrt()", (FLOATS,), ("pow",)),
    Row("abs", "{out} = {a}.abs()", (A,), ("relu", "pow")),
    Row("relu", "{out} = torch.relu({a})", (FLOATS,), ("relu_", "sigmoid", "tanh")),
    Row("sigmoid", "{out} = torch.sigmoid({a})", (FLOATS,), ("relu", "tanh")),
    Row("tanh", "{out} = torch.tanh({a})", (FLOATS,), ("sigmoid", "relu")),
    Row("softmax", "{out} = torch.softmax({a}, {dim})", (FLOATS, integer("dim", -1)), ("sigmoid", "log_softmax")),
    Row("log_softmax", "{out} = torch.log_softmax({a}, {dim})", (FLOATS, integer("dim", -1)), ("softmax",)),
    Row(
        "clamp", "{out} = {a}.clamp({low}, {high})", (A, number("low", "0."), number("high", "1.")), ("clamp_", "relu")
    ),
    Row("where", "{out} = torch.where({a} > {x}, {a}, {b})", (A, number("x", "2"), B), ("clamp", "masked")),
    Row("isclose", "{out} = torch.isclose({a}, {b})", (FLOATS, OTHER), ("allclose",)),
    Row("allclose", "{out} = torch.allclose({a}, {b})", (FLOATS, OTHER), ("isclose",)),
)
