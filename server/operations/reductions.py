"""Operations that make fewer numbers of many: sums, losses, numbers for Python."""

from server.operations.table import OperationRow, hole, integer

A, FLOATS = hole("a"), hole("a", "float tensor")
SECOND_OPERAND = hole("b", "float tensor", "{name} = torch.zeros(2, 3)")

REDUCE = (
    OperationRow("sum", "{out} = {a}.sum()", (A,), ("mean", "sum_dim", "max")),
    OperationRow("sum_dim", "{out} = {a}.sum({dim})", (A, integer("dim", 0)), ("sum",)),
    OperationRow("mean", "{out} = {a}.mean()", (FLOATS,), ("sum",)),
    OperationRow("max", "{out} = {a}.max()", (A,), ("argmax", "sum", "mean")),
    OperationRow("argmax", "{out} = {a}.argmax({dim})", (A, integer("dim", 1)), ("max", "softmax")),
    OperationRow("norm", "{out} = {a}.norm()", (FLOATS,), ("sum",)),
    OperationRow("mse", "{out} = torch.nn.functional.mse_loss({a}, {b})", (FLOATS, SECOND_OPERAND), ("mean", "l1")),
    OperationRow("l1", "{out} = torch.nn.functional.l1_loss({a}, {b})", (FLOATS, SECOND_OPERAND), ("mse",)),
    OperationRow(
        "cross_entropy",
        "{out} = torch.nn.functional.cross_entropy({a}, {labels})",
        (hole("a", "float matrix"), hole("labels", "labels")),
        ("mse",),
    ),
    OperationRow("item", "{out} = {a}.item()", (hole("a", "scalar tensor"),), ("detach", "tolist")),
    OperationRow("tolist", "{out} = {a}.tolist()", (A,), ("item", "numpy")),
)
