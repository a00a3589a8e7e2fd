"""Operations that give memory another name or another handle, and are no views to autograd."""

from server.operations.table import OperationRow, hole

A, LEAF = hole("a"), hole("a", "leaf")

SHARE = (
    OperationRow("alias", "{out} = {a}", (A,), ("clone", "detach")),
    OperationRow("detach", "{out} = {a}.detach()", (A,), ("data", "clone", "clone_detach")),
    OperationRow("data", "{out} = {a}.data", (A,), ("detach", "clone_detach")),
    OperationRow(
        "parameter_data", "{out} = torch.nn.Parameter({a}.data)", (hole("a", "float tensor"),), ("parameter", "leaf")
    ),
    OperationRow("as_tensor", "{out} = torch.as_tensor({a})", (A,), ("tensor_of", "alias")),
    OperationRow("numpy", "{out} = {a}.detach().numpy()", (A,), ("detach", "tolist")),
    OperationRow(
        "from_numpy",
        "{out} = torch.from_numpy({array})",
        (hole("array", "array"),),
        ("as_tensor", "tensor_of"),
        ("numpy as np",),
    ),
    OperationRow("copy_copy", "{out} = copy.copy({a})", (LEAF,), ("deepcopy", "alias"), ("copy",)),
)
