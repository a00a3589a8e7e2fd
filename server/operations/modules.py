"""Operations that make modules, run them, and use what they own."""

from server.operations.table import Row, hole, integer, number

NETWORK, SIZES = hole("net", "module"), (integer("inputs", 3), integer("outputs", 2))

MODULE = (
    Row("linear", "{out} = torch.nn.Linear({inputs}, {outputs})", SIZES, ("sequential",)),
    Row(
        "sequential",
        "{out} = torch.nn.Sequential(torch.nn.Linear({inputs}, {n}), torch.nn.ReLU(), torch.nn.Linear({n}, {outputs}))",
        (integer("inputs", 3), integer("n", 4), integer("outputs", 1)),
        ("linear",),
    ),
    Row("batch_norm", "{out} = torch.nn.BatchNorm1d({n})", (integer("n", 3),), ("linear",)),
    Row("embedding", "{out} = torch.nn.Embedding({rows}, {n})", (integer("rows", 5), integer("n", 3)), ("linear",)),
    Row("call", "{out} = {net}({a})", (NETWORK, hole("a", "float matrix")), ("matmul",)),
    Row(
        "dropout",
        "{out} = torch.nn.functional.dropout({a}, {x})",
        (hole("a", "float tensor"), number("x", "0.5")),
        ("relu",),
    ),
    Row("eval", "{net}.eval()", (NETWORK,), ("train", "no_grad")),
    Row("train", "{net}.train()", (NETWORK,), ("eval",)),
    Row("freeze_module", "{net}.requires_grad_(False)", (NETWORK,), ("eval", "freeze")),
    Row("state_dict", "{out} = {net}.state_dict()", (NETWORK,), ("deepcopy_module",)),
    Row("load_state_dict", "{net}.load_state_dict({state})", (NETWORK, hole("state", "state")), ("state_dict",)),
    Row("deepcopy_module", "{out} = copy.deepcopy({net})", (NETWORK,), ("alias", "state_dict"), ("copy",)),
    Row(
        "clip",
        "torch.nn.utils.clip_grad_norm_({net}.parameters(), {x})",
        (hole("net", "module with grads"), number("x", "1.0")),
        ("step",),
    ),
)
