"""Operations that make fewer numbers of many: sums, losses, numbers for Python."""

from server.operations.table import Row, hole, integer

A, FLOATS = hole("a"), hole("a", "float tensor")
OTHER = hole("b", "float tensor", "{name} = torch.zeros(2, 3)")

REDUCE = (
    Row("sum", "{out} = {a}.sum()", (A,), ("mean", "sum_dim", "max")),
    Row("sum_dim", "{out} = {a}.sum({dim})", (A, integer("dim", 0)), ("sum",)),
    Row("mean", "{out} = {a}.mean()", (FLOATS,), ("sum",)),
    Row("max", "{out} = {a}.max()", (A,), ("argmax", "sum", "mean")),
    Row("argmax", "{out} = {a}.argmax({dim})", (A, integer("dim", 1)), ("max", "softmax")),
    Row("norm", "{out} = {a}.norm()", (FLOATS,), ("sum",)),
    Row("mse", "{out} = torch.nn.functional.mse_loss({a}, {b})", (FLOATS, OTHER), ("mean", "l1")),
    Row("l1", "{out} = torch.nn.functional.l1_loss({a}, {b})", (FLOATS, OTHER), ("mse",)),
    Row(
        "cross_entropy",
        "{out} = torch.nn.functional.cross_entropy({a}, {labels})",
        (hole("a", "float matrix"), hole("labels", "labels")),
        ("mse",),
    ),
    Row("item", "{out} = {a}.item()", (hole("a", "scalar tensor"),), ("detach", "tolist")),
    Row("tolist", "{out} = {a}.tolist()", (A,), ("item", "numpy")),
)
