"""Operations whose result has memory of its own, always or where it is needed."""

from server.operations.table import Hole, OperationRow, hole, integer

A, B = hole("a"), hole("b")

COPY = (
    OperationRow(
        "clone",
        "{out} = {a}.clone()",
        (A,),
        ("alias", "detach", "data", "clone_detach", "new_tensor", "copy_", "tensor_of", "deepcopy"),
    ),
    OperationRow(
        "clone_detach", "{out} = {a}.clone().detach()", (A,), ("clone", "detach_clone", "detach", "new_tensor")
    ),
    OperationRow("detach_clone", "{out} = {a}.detach().clone()", (A,), ("clone_detach", "clone")),
    OperationRow("new_tensor", "{out} = {a}.new_tensor({b})", (A, B), ("clone_detach", "tensor_of")),
    OperationRow("tensor_of", "{out} = torch.tensor({a})", (A,), ("clone_detach", "new_tensor", "as_tensor")),
    OperationRow("copy_", "{out} = torch.empty_like({a}).copy_({a})", (A,), ("clone",)),
    OperationRow("deepcopy", "{out} = copy.deepcopy({a})", (hole("a", "leaf"),), ("clone", "copy_copy"), ("copy",)),
    OperationRow("contiguous", "{out} = {a}.contiguous()", (A,), ("clone", "reshape")),
    OperationRow(
        "take_rows", "{out} = {a}[{rows}]", (A, Hole("rows", "indices", "[0, 1]")), ("index", "slice", "masked")
    ),
    OperationRow("masked", "{out} = {a}[{mask}]", (A, hole("mask", "boolean tensor")), ("where", "take_rows")),
    OperationRow(
        "index_select",
        "{out} = {a}.index_select({dim}, {labels})",
        (A, integer("dim", 1), hole("labels", "labels")),
        ("take_rows",),
    ),
    OperationRow(
        "to_dtype", "{out} = {a}.to({dtype})", (A, Hole("dtype", "dtype", "torch.float64")), ("float", "half")
    ),
    OperationRow(
        "to_device", "{out} = {a}.to({device})", (A, Hole("device", "device", '"cpu"')), ("clone", "to_dtype")
    ),
    OperationRow("float", "{out} = {a}.float()", (A,), ("to_dtype", "half")),
    OperationRow("half", "{out} = {a}.half()", (hole("a", "float tensor"),), ("float", "to_dtype")),
    OperationRow("cat", "{out} = torch.cat([{a}, {b}])", (A, B), ("stack",)),
    OperationRow("stack", "{out} = torch.stack([{a}, {b}])", (A, B), ("cat",)),
    OperationRow("repeat", "{out} = {a}.repeat({n})", (hole("a", "vector"), integer("n", 2)), ("expand",)),
)
