"""Operations that read the memory of another tensor in another shape or order, or a part of it."""

from server.operations.table import Row, hole, integer, shape

A, MATRIX = hole("a"), hole("a", "matrix")

VIEW = (
    Row("view", "{out} = {a}.view({shape})", (A, shape("-1")), ("reshape", "contiguous_view", "flatten")),
    Row("reshape", "{out} = {a}.reshape({shape})", (A, shape("-1")), ("view", "contiguous_view")),
    Row("contiguous_view", "{out} = {a}.contiguous().view({shape})", (A, shape("-1")), ("view", "reshape")),
    Row("flatten", "{out} = {a}.flatten()", (A,), ("view", "reshape")),
    Row("t", "{out} = {a}.t()", (MATRIX,), ("transpose", "permute")),
    Row("transpose", "{out} = {a}.transpose({i}, {j})", (MATRIX, integer("i", 0), integer("j", 1)), ("t", "permute")),
    Row(
        "permute",
        "{out} = {a}.permute({i}, {j})",
        (MATRIX, integer("i", 1), integer("j", 0)),
        ("transpose", "t", "reshape"),
    ),
    Row("unsqueeze", "{out} = {a}.unsqueeze({dim})", (A, integer("dim", 0)), ("squeeze", "view")),
    Row("squeeze", "{out} = {a}.squeeze()", (A,), ("unsqueeze", "flatten")),
    Row("expand", "{out} = {a}.expand({n}, -1)", (hole("a", "vector"), integer("n", 3)), ("repeat",)),
    Row("index", "{out} = {a}[{n}]", (A, integer("n", 0)), ("take_rows", "slice", "unbind")),
    Row(
        "slice",
        "{out} = {a}[{start}:{stop}]",
        (A, integer("start", 0), integer("stop", 2)),
        ("index", "narrow", "take_rows"),
    ),
    Row(
        "narrow",
        "{out} = {a}.narrow({dim}, {start}, {n})",
        (A, integer("dim", 0), integer("start", 0), integer("n", 1)),
        ("slice",),
    ),
    Row("chunk", "{out} = {a}.chunk({n})", (A, integer("n", 2)), ("split", "unbind")),
    Row("split", "{out} = {a}.split({n})", (A, integer("n", 1)), ("chunk", "unbind")),
    Row("unbind", "{out} = {a}.unbind()", (A,), ("chunk", "index")),
    Row(
        "unfold",
        "{out} = {a}.unfold({dim}, {size}, {step})",
        (MATRIX, integer("dim", 1), integer("size", 2), integer("step", 1)),
        ("slice",),
    ),
    Row("diagonal", "{out} = {a}.diagonal()", (MATRIX,), ("index",)),
    Row("real", "{out} = {a}.real", (hole("a", "complex tensor"),), ("view_as_real",)),
    Row("view_as_real", "{out} = torch.view_as_real({a})", (hole("a", "complex tensor"),), ("real",)),
)
