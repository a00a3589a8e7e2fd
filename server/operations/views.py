"""Operations that read the memory of another tensor in another shape or order, or a part of it."""

from server.operations.table import OperationRow, hole, integer, shape

A, MATRIX = hole("a"), hole("a", "matrix")

VIEW = (
    OperationRow("view", "{out} = {a}.view({shape})", (A, shape("-1")), ("reshape", "contiguous_view", "flatten")),
    OperationRow("reshape", "{out} = {a}.reshape({shape})", (A, shape("-1")), ("view", "contiguous_view")),
    OperationRow("contiguous_view", "{out} = {a}.contiguous().view({shape})", (A, shape("-1")), ("view", "reshape")),
    OperationRow("flatten", "{out} = {a}.flatten()", (A,), ("view", "reshape")),
    OperationRow("t", "{out} = {a}.t()", (MATRIX,), ("transpose", "permute")),
    OperationRow(
        "transpose", "{out} = {a}.transpose({i}, {j})", (MATRIX, integer("i", 0), integer("j", 1)), ("t", "permute")
    ),
    OperationRow(
        "permute",
        "{out} = {a}.permute({i}, {j})",
        (MATRIX, integer("i", 1), integer("j", 0)),
        ("transpose", "t", "reshape"),
    ),
    OperationRow("unsqueeze", "{out} = {a}.unsqueeze({dim})", (A, integer("dim", 0)), ("squeeze", "view")),
    OperationRow("squeeze", "{out} = {a}.squeeze()", (A,), ("unsqueeze", "flatten")),
    OperationRow("expand", "{out} = {a}.expand({n}, -1)", (hole("a", "vector"), integer("n", 3)), ("repeat",)),
    OperationRow("index", "{out} = {a}[{n}]", (A, integer("n", 0)), ("take_rows", "slice", "unbind")),
    OperationRow(
        "slice",
        "{out} = {a}[{start}:{stop}]",
        (A, integer("start", 0), integer("stop", 2)),
        ("index", "narrow", "take_rows"),
    ),
    OperationRow(
        "narrow",
        "{out} = {a}.narrow({dim}, {start}, {n})",
        (A, integer("dim", 0), integer("start", 0), integer("n", 1)),
        ("slice",),
    ),
    OperationRow("chunk", "{out} = {a}.chunk({n})", (A, integer("n", 2)), ("split", "unbind")),
    OperationRow("split", "{out} = {a}.split({n})", (A, integer("n", 1)), ("chunk", "unbind")),
    OperationRow("unbind", "{out} = {a}.unbind()", (A,), ("chunk", "index")),
    OperationRow(
        "unfold",
        "{out} = {a}.unfold({dim}, {size}, {step})",
        (MATRIX, integer("dim", 1), integer("size", 2), integer("step", 1)),
        ("slice",),
    ),
    OperationRow("diagonal", "{out} = {a}.diagonal()", (MATRIX,), ("index",)),
    OperationRow("real", "{out} = {a}.real", (hole("a", "complex tensor"),), ("view_as_real",)),
    OperationRow("view_as_real", "{out} = torch.view_as_real({a})", (hole("a", "complex tensor"),), ("real",)),
)
