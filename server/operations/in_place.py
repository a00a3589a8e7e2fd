"""Operations that write into memory that is already there."""

from server.operations.table import OperationRow, hole, integer, number

A, NUMBER = hole("a", "writable tensor"), number("x", "1")

IN_PLACE = (
    OperationRow("add_", "{a}.add_({x})", (A, NUMBER), ("iadd", "add")),
    OperationRow("iadd", "{a} += {x}", (A, NUMBER), ("add_", "rebind", "add")),
    OperationRow("rebind", "{a} = {a} + {x}", (A, NUMBER), ("iadd", "add_")),
    OperationRow("mul_", "{a}.mul_({x})", (A, number("x", "2")), ("mul", "add_")),
    OperationRow("set_item", "{a}[{n}] = {x}", (A, integer("n", 0), number("x", "0.")), ("fill_", "masked_fill_")),
    OperationRow("zero_", "{a}.zero_()", (A,), ("fill_",)),
    OperationRow("fill_", "{a}.fill_({x})", (A, number("x", "1.")), ("zero_", "set_item")),
    OperationRow(
        "masked_fill_",
        "{a}.masked_fill_({a} < {low}, {x})",
        (A, number("low", "0."), number("x", "0.")),
        ("clamp_", "where"),
    ),
    OperationRow("relu_", "{a}.relu_()", (A,), ("relu", "clamp_")),
    OperationRow("clamp_", "{a}.clamp_({low}, {high})", (A, number("low", "0."), number("high", "1.")), ("clamp",)),
    OperationRow(
        "write_into",
        "{a}.copy_({b})",
        (A, hole("b", "plain tensor", "{name} = torch.tensor([5., 6., 7.])")),
        ("set_data", "fill_"),
    ),
    OperationRow(
        "set_data",
        "{a}.data = {b}",
        (A, hole("b", "plain tensor", "{name} = torch.tensor([5., 6., 7.])")),
        ("write_into", "alias"),
    ),
    OperationRow(
        "leaf_step",
        "{w} -= {x} * {w}.grad",
        (hole("w", "leaf with grad"), number("x", "0.1")),
        ("step",),
        inside="with torch.no_grad():",
    ),
)
