"""Operations that make modules, run them, and use what they own."""

from server.operations.table import OperationRow, hole, integer, number

NETWORK, SIZES = hole("net", "module"), (integer("inputs", 3), integer("outputs", 2))

MODULE = (
    OperationRow("linear", "{out} = torch.nn.Linear({inputs}, {outputs})", SIZES, ("sequential",)),
    OperationRow(
        "sequential",
        "{out} = torch.nn.Sequential(torch.nn.Linear({inputs}, {n}), torch.nn.ReLU(), torch.nn.Linear({n}, {outputs}))",
        (integer("inputs", 3), integer("n", 4), integer("outputs", 1)),
        ("linear",),
    ),
    OperationRow("batch_norm", "{out} = torch.nn.BatchNorm1d({n})", (integer("n", 3),), ("linear",)),
    OperationRow(
        "embedding", "{out} = torch.nn.Embedding({rows}, {n})", (integer("rows", 5), integer("n", 3)), ("linear",)
    ),
    OperationRow("call", "{out} = {net}({a})", (NETWORK, hole("a", "float matrix")), ("matmul",)),
    OperationRow(
        "dropout",
        "{out} = torch.nn.functional.dropout({a}, {x})",
        (hole("a", "float tensor"), number("x", "0.5")),
        ("relu",),
    ),
    OperationRow("eval", "{net}.eval()", (NETWORK,), ("train", "no_grad")),
    OperationRow("train", "{net}.train()", (NETWORK,), ("eval",)),
    OperationRow("freeze_module", "{net}.requires_grad_(False)", (NETWORK,), ("eval", "freeze")),
    OperationRow("state_dict", "{out} = {net}.state_dict()", (NETWORK,), ("deepcopy_module",)),
    OperationRow(
        "load_state_dict", "{net}.load_state_dict({state})", (NETWORK, hole("state", "state")), ("state_dict",)
    ),
    OperationRow("deepcopy_module", "{out} = copy.deepcopy({net})", (NETWORK,), ("alias", "state_dict"), ("copy",)),
    OperationRow(
        "clip",
        "torch.nn.utils.clip_grad_norm_({net}.parameters(), {x})",
        (hole("net", "module with grads"), number("x", "1.0")),
        ("step",),
    ),
)
