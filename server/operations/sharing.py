"""Operations that give memory another name or another handle, and are no views to autograd."""

from server.operations.table import Row, hole

A, LEAF = hole("a"), hole("a", "leaf")

SHARE = (
    Row("alias", "{out} = {a}", (A,), ("clone", "detach")),
    Row("detach", "{out} = {a}.detach()", (A,), ("data", "clone", "clone_detach")),
    Row("data", "{out} = {a}.data", (A,), ("detach", "clone_detach")),
    Row("parameter_data", "{out} = torch.nn.Parameter({a}.data)", (hole("a", "float tensor"),), ("parameter", "leaf")),
    Row("as_tensor", "{out} = torch.as_tensor({a})", (A,), ("tensor_of", "alias")),
    Row("numpy", "{out} = {a}.detach().numpy()", (A,), ("detach", "tolist")),
    Row(
        "from_numpy",
        "{out} = torch.from_numpy({array})",
        (hole("array", "array"),),
        ("as_tensor", "tensor_of"),
        ("numpy as np",),
    ),
    Row("copy_copy", "{out} = copy.copy({a})", (LEAF,), ("deepcopy", "alias"), ("copy",)),
)
