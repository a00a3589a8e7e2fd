"""Operations whose result has memory of its own, always or where it is needed."""

from server.operations.table import Hole, Row, hole, integer

A, B = hole("a"), hole("b")

COPY = (
    Row(
        "clone",
        "{out} = {a}.clone()",
        (A,),
        ("alias", "detach", "data", "clone_detach", "new_tensor", "copy_", "tensor_of", "deepcopy"),
    ),
    Row("clone_detach", "{out} = {a}.clone().detach()", (A,), ("clone", "detach_clone", "detach", "new_tensor")),
    Row("detach_clone", "{out} = {a}.detach().clone()", (A,), ("clone_detach", "clone")),
    Row("new_tensor", "{out} = {a}.new_tensor({b})", (A, B), ("clone_detach", "tensor_of")),
    Row("tensor_of", "{out} = torch.tensor({a})", (A,), ("clone_detach", "new_tensor", "as_tensor")),
    Row("copy_", "{out} = torch.empty_like({a}).copy_({a})", (A,), ("clone",)),
    Row("deepcopy", "{out} = copy.deepcopy({a})", (hole("a", "leaf"),), ("clone", "copy_copy"), ("copy",)),
    Row("contiguous", "{out} = {a}.contiguous()", (A,), ("clone", "reshape")),
    Row("take_rows", "{out} = {a}[{rows}]", (A, Hole("rows", "indices", "[0, 1]")), ("index", "slice", "masked")),
    Row("masked", "{out} = {a}[{mask}]", (A, hole("mask", "boolean tensor")), ("where", "take_rows")),
    Row(
        "index_select",
        "{out} = {a}.index_select({dim}, {labels})",
        (A, integer("dim", 1), hole("labels", "labels")),
        ("take_rows",),
    ),
    Row("to_dtype", "{out} = {a}.to({dtype})", (A, Hole("dtype", "dtype", "torch.float64")), ("float", "half")),
    Row("to_device", "{out} = {a}.to({device})", (A, Hole("device", "device", '"cpu"')), ("clone", "to_dtype")),
    Row("float", "{out} = {a}.float()", (A,), ("to_dtype", "half")),
    Row("half", "{out} = {a}.half()", (hole("a", "float tensor"),), ("float", "to_dtype")),
    Row("cat", "{out} = torch.cat([{a}, {b}])", (A, B), ("stack",)),
    Row("stack", "{out} = torch.stack([{a}, {b}])", (A, B), ("cat",)),
    Row("repeat", "{out} = {a}.repeat({n})", (hole("a", "vector"), integer("n", 2)), ("expand",)),
)
