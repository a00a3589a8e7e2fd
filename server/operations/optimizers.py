"""Optimizers: made for a module's parameters, stepped, and their gradients cleared."""

from server.operations.table import Row, hole, number

NETWORK, OPTIMIZER = hole("net", "module"), hole("opt", "optimizer")

OPTIMIZERS = (
    Row(
        "sgd",
        "{out} = torch.optim.SGD({net}.parameters(), lr={x})",
        (NETWORK, number("x", "0.1")),
        ("momentum", "adam"),
    ),
    Row(
        "momentum",
        "{out} = torch.optim.SGD({net}.parameters(), lr={x}, momentum={m})",
        (NETWORK, number("x", "0.1"), number("m", "0.9")),
        ("sgd", "adam"),
    ),
    Row(
        "adam",
        "{out} = torch.optim.Adam({net}.parameters(), lr={x})",
        (NETWORK, number("x", "0.01")),
        ("sgd", "momentum"),
    ),
    Row("step", "{opt}.step()", (OPTIMIZER,), ("leaf_step",)),
    Row("zero_grad", "{opt}.zero_grad()", (OPTIMIZER,), ("zero_grad_false",)),
    Row("zero_grad_false", "{opt}.zero_grad(set_to_none=False)", (OPTIMIZER,), ("zero_grad",)),
)
