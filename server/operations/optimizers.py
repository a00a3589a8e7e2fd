"""Optimizers: made for a module's parameters, stepped, and their gradients cleared."""

from server.operations.table import OperationRow, hole, number

NETWORK, OPTIMIZER = hole("net", "module"), hole("opt", "optimizer")

OPTIMIZERS = (
    OperationRow(
        "sgd",
        "{out} = torch.optim.SGD({net}.parameters(), lr={x})",
        (NETWORK, number("x", "0.1")),
        ("momentum", "adam"),
    ),
    OperationRow(
        "momentum",
        "{out} = torch.optim.SGD({net}.parameters(), lr={x}, momentum={m})",
        (NETWORK, number("x", "0.1"), number("m", "0.9")),
        ("sgd", "adam"),
    ),
    OperationRow(
        "adam",
        "{out} = torch.optim.Adam({net}.parameters(), lr={x})",
        (NETWORK, number("x", "0.01")),
        ("sgd", "momentum"),
    ),
    OperationRow("step", "{opt}.step()", (OPTIMIZER,), ("leaf_step",)),
    OperationRow("zero_grad", "{opt}.zero_grad()", (OPTIMIZER,), ("zero_grad_false",)),
    OperationRow("zero_grad_false", "{opt}.zero_grad(set_to_none=False)", (OPTIMIZER,), ("zero_grad",)),
)
