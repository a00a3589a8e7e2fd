"""The operations of the catalogue: twelve tables, in the order in which they are shown."""

from server.operations.operand_kinds import (
    OperationRow,
    TemplatePlaceholder,
    integer_operand,
    number_operand,
    operand,
    shape_operand,
)

DATA = TemplatePlaceholder("data", "numbers", "[1., 2., 4.]")
OPERAND_A = operand("a")

CREATE = (
    OperationRow("tensor", "{out} = torch.tensor({data})", (DATA,), ("leaf", "zeros", "arange")),
    OperationRow("leaf", "{out} = torch.tensor({data}, requires_grad=True)", (DATA,), ("tensor", "parameter")),
    OperationRow("zeros", "{out} = torch.zeros({shape})", (shape_operand("2, 3"),), ("ones", "full", "empty")),
    OperationRow("ones", "{out} = torch.ones({shape})", (shape_operand("2, 3"),), ("zeros", "full")),
    OperationRow(
        "full",
        "{out} = torch.full({sizes}, {x})",
        (TemplatePlaceholder("sizes", "sizes", "(2, 3)"), number_operand("x", "0.5")),
        ("zeros", "ones"),
    ),
    OperationRow("empty", "{out} = torch.empty({shape})", (shape_operand("2, 3"),), ("zeros", "empty_like")),
    OperationRow("arange", "{out} = torch.arange({x})", (number_operand("x", "6."),), ("linspace", "tensor")),
    OperationRow(
        "linspace",
        "{out} = torch.linspace({low}, {high}, {n})",
        (number_operand("low", "0."), number_operand("high", "1."), integer_operand("n", 5)),
        ("arange",),
    ),
    OperationRow("randn", "{out} = torch.randn({shape})", (shape_operand("2, 3"),), ("rand", "zeros")),
    OperationRow("rand", "{out} = torch.rand({shape})", (shape_operand("2, 3"),), ("randn", "randint")),
    OperationRow(
        "randint",
        "{out} = torch.randint({high}, {sizes})",
        (integer_operand("high", 10), TemplatePlaceholder("sizes", "sizes", "(2, 3)")),
        ("rand", "arange"),
    ),
    OperationRow("eye", "{out} = torch.eye({n})", (integer_operand("n", 3),), ("zeros", "ones")),
    OperationRow("zeros_like", "{out} = torch.zeros_like({a})", (OPERAND_A,), ("ones_like", "empty_like", "clone")),
    OperationRow("ones_like", "{out} = torch.ones_like({a})", (OPERAND_A,), ("zeros_like",)),
    OperationRow("empty_like", "{out} = torch.empty_like({a})", (OPERAND_A,), ("zeros_like", "empty")),
    OperationRow(
        "parameter",
        "{out} = torch.nn.Parameter({a})",
        (operand("a", "float tensor"),),
        ("leaf", "detach", "parameter_data"),
    ),
)
"""Operations that make a tensor of numbers, of a shape, or of another tensor's shape."""


OPERAND_B = operand("b")

COPY = (
    OperationRow(
        "clone",
        "{out} = {a}.clone()",
        (OPERAND_A,),
        ("alias", "detach", "data", "clone_detach", "new_tensor", "copy_", "tensor_of", "deepcopy"),
    ),
    OperationRow(
        "clone_detach", "{out} = {a}.clone().detach()", (OPERAND_A,), ("clone", "detach_clone", "detach", "new_tensor")
    ),
    OperationRow("detach_clone", "{out} = {a}.detach().clone()", (OPERAND_A,), ("clone_detach", "clone")),
    OperationRow("new_tensor", "{out} = {a}.new_tensor({b})", (OPERAND_A, OPERAND_B), ("clone_detach", "tensor_of")),
    OperationRow("tensor_of", "{out} = torch.tensor({a})", (OPERAND_A,), ("clone_detach", "new_tensor", "as_tensor")),
    OperationRow("copy_", "{out} = torch.empty_like({a}).copy_({a})", (OPERAND_A,), ("clone",)),
    OperationRow("deepcopy", "{out} = copy.deepcopy({a})", (operand("a", "leaf"),), ("clone", "copy_copy"), ("copy",)),
    OperationRow("contiguous", "{out} = {a}.contiguous()", (OPERAND_A,), ("clone", "reshape")),
    OperationRow(
        "take_rows",
        "{out} = {a}[{rows}]",
        (OPERAND_A, TemplatePlaceholder("rows", "indices", "[0, 1]")),
        ("index", "slice", "masked"),
    ),
    OperationRow(
        "masked", "{out} = {a}[{mask}]", (OPERAND_A, operand("mask", "boolean tensor")), ("where", "take_rows")
    ),
    OperationRow(
        "index_select",
        "{out} = {a}.index_select({dim}, {labels})",
        (OPERAND_A, integer_operand("dim", 1), operand("labels", "labels")),
        ("take_rows",),
    ),
    OperationRow(
        "to_dtype",
        "{out} = {a}.to({dtype})",
        (OPERAND_A, TemplatePlaceholder("dtype", "dtype", "torch.float64")),
        ("float", "half"),
    ),
    OperationRow(
        "to_device",
        "{out} = {a}.to({device})",
        (OPERAND_A, TemplatePlaceholder("device", "device", '"cpu"')),
        ("clone", "to_dtype"),
    ),
    OperationRow("float", "{out} = {a}.float()", (OPERAND_A,), ("to_dtype", "half")),
    OperationRow("half", "{out} = {a}.half()", (operand("a", "float tensor"),), ("float", "to_dtype")),
    OperationRow("cat", "{out} = torch.cat([{a}, {b}])", (OPERAND_A, OPERAND_B), ("stack",)),
    OperationRow("stack", "{out} = torch.stack([{a}, {b}])", (OPERAND_A, OPERAND_B), ("cat",)),
    OperationRow("repeat", "{out} = {a}.repeat({n})", (operand("a", "vector"), integer_operand("n", 2)), ("expand",)),
)
"""Operations whose result has memory of its own, always or where it is needed."""


LEAF = operand("a", "leaf")

SHARE = (
    OperationRow("alias", "{out} = {a}", (OPERAND_A,), ("clone", "detach")),
    OperationRow("detach", "{out} = {a}.detach()", (OPERAND_A,), ("data", "clone", "clone_detach")),
    OperationRow("data", "{out} = {a}.data", (OPERAND_A,), ("detach", "clone_detach")),
    OperationRow(
        "parameter_data", "{out} = torch.nn.Parameter({a}.data)", (operand("a", "float tensor"),), ("parameter", "leaf")
    ),
    OperationRow("as_tensor", "{out} = torch.as_tensor({a})", (OPERAND_A,), ("tensor_of", "alias")),
    OperationRow("numpy", "{out} = {a}.detach().numpy()", (OPERAND_A,), ("detach", "tolist")),
    OperationRow(
        "from_numpy",
        "{out} = torch.from_numpy({array})",
        (operand("array", "array"),),
        ("as_tensor", "tensor_of"),
        ("numpy as np",),
    ),
    OperationRow("copy_copy", "{out} = copy.copy({a})", (LEAF,), ("deepcopy", "alias"), ("copy",)),
)
"""Operations that give memory another name or another handle, and are no views to autograd."""


MATRIX = operand("a", "matrix")

VIEW = (
    OperationRow(
        "view", "{out} = {a}.view({shape})", (OPERAND_A, shape_operand("-1")), ("reshape", "contiguous_view", "flatten")
    ),
    OperationRow(
        "reshape", "{out} = {a}.reshape({shape})", (OPERAND_A, shape_operand("-1")), ("view", "contiguous_view")
    ),
    OperationRow(
        "contiguous_view",
        "{out} = {a}.contiguous().view({shape})",
        (OPERAND_A, shape_operand("-1")),
        ("view", "reshape"),
    ),
    OperationRow("flatten", "{out} = {a}.flatten()", (OPERAND_A,), ("view", "reshape")),
    OperationRow("t", "{out} = {a}.t()", (MATRIX,), ("transpose", "permute")),
    OperationRow(
        "transpose",
        "{out} = {a}.transpose({i}, {j})",
        (MATRIX, integer_operand("i", 0), integer_operand("j", 1)),
        ("t", "permute"),
    ),
    OperationRow(
        "permute",
        "{out} = {a}.permute({i}, {j})",
        (MATRIX, integer_operand("i", 1), integer_operand("j", 0)),
        ("transpose", "t", "reshape"),
    ),
    OperationRow(
        "unsqueeze", "{out} = {a}.unsqueeze({dim})", (OPERAND_A, integer_operand("dim", 0)), ("squeeze", "view")
    ),
    OperationRow("squeeze", "{out} = {a}.squeeze()", (OPERAND_A,), ("unsqueeze", "flatten")),
    OperationRow(
        "expand", "{out} = {a}.expand({n}, -1)", (operand("a", "vector"), integer_operand("n", 3)), ("repeat",)
    ),
    OperationRow("index", "{out} = {a}[{n}]", (OPERAND_A, integer_operand("n", 0)), ("take_rows", "slice", "unbind")),
    OperationRow(
        "slice",
        "{out} = {a}[{start}:{stop}]",
        (OPERAND_A, integer_operand("start", 0), integer_operand("stop", 2)),
        ("index", "narrow", "take_rows"),
    ),
    OperationRow(
        "narrow",
        "{out} = {a}.narrow({dim}, {start}, {n})",
        (OPERAND_A, integer_operand("dim", 0), integer_operand("start", 0), integer_operand("n", 1)),
        ("slice",),
    ),
    OperationRow("chunk", "{out} = {a}.chunk({n})", (OPERAND_A, integer_operand("n", 2)), ("split", "unbind")),
    OperationRow("split", "{out} = {a}.split({n})", (OPERAND_A, integer_operand("n", 1)), ("chunk", "unbind")),
    OperationRow("unbind", "{out} = {a}.unbind()", (OPERAND_A,), ("chunk", "index")),
    OperationRow(
        "unfold",
        "{out} = {a}.unfold({dim}, {size}, {step})",
        (MATRIX, integer_operand("dim", 1), integer_operand("size", 2), integer_operand("step", 1)),
        ("slice",),
    ),
    OperationRow("diagonal", "{out} = {a}.diagonal()", (MATRIX,), ("index",)),
    OperationRow("real", "{out} = {a}.real", (operand("a", "complex tensor"),), ("view_as_real",)),
    OperationRow("view_as_real", "{out} = torch.view_as_real({a})", (operand("a", "complex tensor"),), ("real",)),
)
"""Operations that read the memory of another tensor in another shape or order, or a part of it."""


WRITABLE = operand("a", "writable tensor")
NUMBER = number_operand("x", "1")

IN_PLACE = (
    OperationRow("add_", "{a}.add_({x})", (WRITABLE, NUMBER), ("iadd", "add")),
    OperationRow("iadd", "{a} += {x}", (WRITABLE, NUMBER), ("add_", "rebind", "add")),
    OperationRow("rebind", "{a} = {a} + {x}", (WRITABLE, NUMBER), ("iadd", "add_")),
    OperationRow("mul_", "{a}.mul_({x})", (WRITABLE, number_operand("x", "2")), ("mul", "add_")),
    OperationRow(
        "set_item",
        "{a}[{n}] = {x}",
        (WRITABLE, integer_operand("n", 0), number_operand("x", "0.")),
        ("fill_", "masked_fill_"),
    ),
    OperationRow("zero_", "{a}.zero_()", (WRITABLE,), ("fill_",)),
    OperationRow("fill_", "{a}.fill_({x})", (WRITABLE, number_operand("x", "1.")), ("zero_", "set_item")),
    OperationRow(
        "masked_fill_",
        "{a}.masked_fill_({a} < {low}, {x})",
        (WRITABLE, number_operand("low", "0."), number_operand("x", "0.")),
        ("clamp_", "where"),
    ),
    OperationRow("relu_", "{a}.relu_()", (WRITABLE,), ("relu", "clamp_")),
    OperationRow(
        "clamp_",
        "{a}.clamp_({low}, {high})",
        (WRITABLE, number_operand("low", "0."), number_operand("high", "1.")),
        ("clamp",),
    ),
    OperationRow(
        "write_into",
        "{a}.copy_({b})",
        (WRITABLE, operand("b", "plain tensor", "{name} = torch.tensor([5., 6., 7.])")),
        ("set_data", "fill_"),
    ),
    OperationRow(
        "set_data",
        "{a}.data = {b}",
        (WRITABLE, operand("b", "plain tensor", "{name} = torch.tensor([5., 6., 7.])")),
        ("write_into", "alias"),
    ),
    OperationRow(
        "leaf_step",
        "{w} -= {x} * {w}.grad",
        (operand("w", "leaf with grad"), number_operand("x", "0.1")),
        ("step",),
        inside="with torch.no_grad():",
    ),
)
"""Operations that write into memory that is already there."""


FLOATS = operand("a", "float tensor")
SECOND_OPERAND = operand("b", "float tensor", "{name} = torch.tensor([[1., 2., 3.], [4., 5., 7.]])")

MATH = (
    OperationRow("add", "{out} = {a} + {b}", (OPERAND_A, OPERAND_B), ("sub", "mul", "iadd")),
    OperationRow("sub", "{out} = {a} - {b}", (OPERAND_A, OPERAND_B), ("add",)),
    OperationRow("mul", "{out} = {a} * {b}", (OPERAND_A, OPERAND_B), ("matmul", "mul_", "add")),
    OperationRow("div", "{out} = {a} / {x}", (OPERAND_A, number_operand("x", "2.")), ("mul",)),
    OperationRow("pow", "{out} = {a} ** {x}", (OPERAND_A, number_operand("x", "2")), ("mul", "exp")),
    OperationRow("matmul", "{out} = {a} @ {b}", (operand("a", "matrix"), operand("b", "vector")), ("mul", "einsum")),
    OperationRow(
        "einsum",
        '{out} = torch.einsum("ij,j->i", {a}, {b})',
        (operand("a", "matrix"), operand("b", "vector")),
        ("matmul",),
    ),
    OperationRow("exp", "{out} = {a}.exp()", (FLOATS,), ("log", "pow")),
    OperationRow("log", "{out} = {a}.log()", (FLOATS,), ("exp",)),
    OperationRow("sqrt", "{out} = {a}.sqrt()", (FLOATS,), ("pow",)),
    OperationRow("abs", "{out} = {a}.abs()", (OPERAND_A,), ("relu", "pow")),
    OperationRow("relu", "{out} = torch.relu({a})", (FLOATS,), ("relu_", "sigmoid", "tanh")),
    OperationRow("sigmoid", "{out} = torch.sigmoid({a})", (FLOATS,), ("relu", "tanh")),
    OperationRow("tanh", "{out} = torch.tanh({a})", (FLOATS,), ("sigmoid", "relu")),
    OperationRow(
        "softmax", "{out} = torch.softmax({a}, {dim})", (FLOATS, integer_operand("dim", -1)), ("sigmoid", "log_softmax")
    ),
    OperationRow(
        "log_softmax", "{out} = torch.log_softmax({a}, {dim})", (FLOATS, integer_operand("dim", -1)), ("softmax",)
    ),
    OperationRow(
        "clamp",
        "{out} = {a}.clamp({low}, {high})",
        (OPERAND_A, number_operand("low", "0."), number_operand("high", "1.")),
        ("clamp_", "relu"),
    ),
    OperationRow(
        "where",
        "{out} = torch.where({a} > {x}, {a}, {b})",
        (OPERAND_A, number_operand("x", "2"), OPERAND_B),
        ("clamp", "masked"),
    ),
    OperationRow("isclose", "{out} = torch.isclose({a}, {b})", (FLOATS, SECOND_OPERAND), ("allclose",)),
    OperationRow("allclose", "{out} = torch.allclose({a}, {b})", (FLOATS, SECOND_OPERAND), ("isclose",)),
)
"""Operations that compute new numbers, place by place or as a product."""


SAME_SHAPE = operand("b", "float tensor", "{name} = torch.zeros(2, 3)")

REDUCE = (
    OperationRow("sum", "{out} = {a}.sum()", (OPERAND_A,), ("mean", "sum_dim", "max")),
    OperationRow("sum_dim", "{out} = {a}.sum({dim})", (OPERAND_A, integer_operand("dim", 0)), ("sum",)),
    OperationRow("mean", "{out} = {a}.mean()", (FLOATS,), ("sum",)),
    OperationRow("max", "{out} = {a}.max()", (OPERAND_A,), ("argmax", "sum", "mean")),
    OperationRow("argmax", "{out} = {a}.argmax({dim})", (OPERAND_A, integer_operand("dim", 1)), ("max", "softmax")),
    OperationRow("norm", "{out} = {a}.norm()", (FLOATS,), ("sum",)),
    OperationRow("mse", "{out} = torch.nn.functional.mse_loss({a}, {b})", (FLOATS, SAME_SHAPE), ("mean", "l1")),
    OperationRow("l1", "{out} = torch.nn.functional.l1_loss({a}, {b})", (FLOATS, SAME_SHAPE), ("mse",)),
    OperationRow(
        "cross_entropy",
        "{out} = torch.nn.functional.cross_entropy({a}, {labels})",
        (operand("a", "float matrix"), operand("labels", "labels")),
        ("mse",),
    ),
    OperationRow("item", "{out} = {a}.item()", (operand("a", "scalar tensor"),), ("detach", "tolist")),
    OperationRow("tolist", "{out} = {a}.tolist()", (OPERAND_A,), ("item", "numpy")),
)
"""Operations that make fewer numbers of many: sums, losses, numbers for Python."""


ANY_NODE = operand("a", "node")

GRAPH = (
    OperationRow("requires_grad_", "{a}.requires_grad_()", (operand("a", "plain tensor"),), ("leaf", "freeze")),
    OperationRow("freeze", "{a}.requires_grad_(False)", (operand("a", "leaf"),), ("requires_grad_", "detach")),
    OperationRow("detach_", "{a}.detach_()", (ANY_NODE,), ("detach",)),
    OperationRow("retain_grad", "{a}.retain_grad()", (ANY_NODE,), ("hook",)),
    OperationRow("hook", "{a}.register_hook({f})", (ANY_NODE, operand("f", "function")), ("retain_grad",)),
    OperationRow(
        "no_grad", "with torch.no_grad():\n    {out} = {a} * 2", (operand("a", "leaf"),), ("inference_mode", "detach")
    ),
    OperationRow(
        "inference_mode", "with torch.inference_mode():\n    {out} = {a} * 2", (operand("a", "leaf"),), ("no_grad",)
    ),
    OperationRow(
        "enable_grad", "with torch.enable_grad():\n    {out} = {a} * 2", (operand("a", "leaf"),), ("no_grad",)
    ),
    OperationRow(
        "set_grad",
        "{a}.grad = {g}",
        (operand("a", "leaf"), TemplatePlaceholder("g", "tensor", "torch.ones(3)")),
        ("clear_grad", "backward_with"),
    ),
)
"""Operations on the autograd graph: what is recorded, kept and called."""


LOSS = operand("loss", "scalar node")
LEAF_W = operand("w", "leaf")
LOSS_OF_W = operand("loss", "scalar node", "{name} = (w * w).sum()")

BACKWARD = (
    OperationRow("backward", "{loss}.backward()", (LOSS,), ("grad",)),
    OperationRow("backward_retain", "{loss}.backward(retain_graph=True)", (LOSS,)),
    OperationRow("backward_with", "{a}.backward(torch.ones_like({a}))", (operand("a", "node"),), ("backward",)),
    OperationRow("grad", "{out}, = torch.autograd.grad({loss}, {w})", (LEAF_W, LOSS_OF_W), ("backward", "grad_create")),
    OperationRow(
        "grad_create", "{out}, = torch.autograd.grad({loss}, {w}, create_graph=True)", (LEAF_W, LOSS_OF_W), ("grad",)
    ),
    OperationRow("clear_grad", "{w}.grad = None", (operand("w", "leaf with grad"),), ("zero_grad_tensor",)),
    OperationRow("zero_grad_tensor", "{w}.grad.zero_()", (operand("w", "leaf with grad"),), ("clear_grad",)),
)
"""Operations that compute gradients, and those that clear them."""


NETWORK = operand("net", "module")
SIZES = (integer_operand("inputs", 3), integer_operand("outputs", 2))

MODULE = (
    OperationRow("linear", "{out} = torch.nn.Linear({inputs}, {outputs})", SIZES, ("sequential",)),
    OperationRow(
        "sequential",
        "{out} = torch.nn.Sequential(torch.nn.Linear({inputs}, {n}), torch.nn.ReLU(), torch.nn.Linear({n}, {outputs}))",
        (integer_operand("inputs", 3), integer_operand("n", 4), integer_operand("outputs", 1)),
        ("linear",),
    ),
    OperationRow("batch_norm", "{out} = torch.nn.BatchNorm1d({n})", (integer_operand("n", 3),), ("linear",)),
    OperationRow(
        "embedding",
        "{out} = torch.nn.Embedding({rows}, {n})",
        (integer_operand("rows", 5), integer_operand("n", 3)),
        ("linear",),
    ),
    OperationRow("call", "{out} = {net}({a})", (NETWORK, operand("a", "float matrix")), ("matmul",)),
    OperationRow(
        "dropout",
        "{out} = torch.nn.functional.dropout({a}, {x})",
        (operand("a", "float tensor"), number_operand("x", "0.5")),
        ("relu",),
    ),
    OperationRow("eval", "{net}.eval()", (NETWORK,), ("train", "no_grad")),
    OperationRow("train", "{net}.train()", (NETWORK,), ("eval",)),
    OperationRow("freeze_module", "{net}.requires_grad_(False)", (NETWORK,), ("eval", "freeze")),
    OperationRow("state_dict", "{out} = {net}.state_dict()", (NETWORK,), ("deepcopy_module",)),
    OperationRow(
        "load_state_dict", "{net}.load_state_dict({state})", (NETWORK, operand("state", "state")), ("state_dict",)
    ),
    OperationRow("deepcopy_module", "{out} = copy.deepcopy({net})", (NETWORK,), ("alias", "state_dict"), ("copy",)),
    OperationRow(
        "clip",
        "torch.nn.utils.clip_grad_norm_({net}.parameters(), {x})",
        (operand("net", "module with grads"), number_operand("x", "1.0")),
        ("step",),
    ),
)
"""Operations that make modules, run them, and use what they own."""


OPTIMIZER = operand("opt", "optimizer")

OPTIMIZERS = (
    OperationRow(
        "sgd",
        "{out} = torch.optim.SGD({net}.parameters(), lr={x})",
        (NETWORK, number_operand("x", "0.1")),
        ("momentum", "adam"),
    ),
    OperationRow(
        "momentum",
        "{out} = torch.optim.SGD({net}.parameters(), lr={x}, momentum={m})",
        (NETWORK, number_operand("x", "0.1"), number_operand("m", "0.9")),
        ("sgd", "adam"),
    ),
    OperationRow(
        "adam",
        "{out} = torch.optim.Adam({net}.parameters(), lr={x})",
        (NETWORK, number_operand("x", "0.01")),
        ("sgd", "momentum"),
    ),
    OperationRow("step", "{opt}.step()", (OPTIMIZER,), ("leaf_step",)),
    OperationRow("zero_grad", "{opt}.zero_grad()", (OPTIMIZER,), ("zero_grad_false",)),
    OperationRow("zero_grad_false", "{opt}.zero_grad(set_to_none=False)", (OPTIMIZER,), ("zero_grad",)),
)
"""Optimizers: made for a module's parameters, stepped, and their gradients cleared."""


ANYTHING_A = operand("a", "anything")
ANYTHING_B = operand("b", "anything")

PYTHON = (
    OperationRow(
        "for",
        "for {i} in range({n}):\n    pass",
        (TemplatePlaceholder("i", "name", "step"), integer_operand("n", 3)),
        ("if",),
    ),
    OperationRow("if", "if {a}.sum() > 0:\n    {out} = {a} * 2", (operand("a", "tensor"),), ("where",)),
    OperationRow(
        "def",
        "def {f}({x}):\n    return {x} * 2",
        (TemplatePlaceholder("f", "name", "double"), TemplatePlaceholder("x", "name", "x")),
        ("class",),
    ),
    OperationRow(
        "class",
        "class {f}(torch.nn.Module):\n    def forward(self, {x}):\n        return {x} * 2",
        (TemplatePlaceholder("f", "name", "Double"), TemplatePlaceholder("x", "name", "x")),
        ("def",),
    ),
    OperationRow("print", "print({a})", (ANYTHING_A,), ("assert",)),
    OperationRow("del", "del {a}", (ANYTHING_A,), ("alias",)),
    OperationRow("list", "{out} = [{a}, {b}]", (ANYTHING_A, ANYTHING_B), ("stack", "dict")),
    OperationRow("dict", "{out} = {{'a': {a}, 'b': {b}}}", (ANYTHING_A, ANYTHING_B), ("list",)),
    OperationRow("assert", "assert torch.equal({a}, {b})", (ANYTHING_A, ANYTHING_B), ("allclose", "print")),
)
"""Statements of Python itself: names, lists, loops, functions, checks."""
