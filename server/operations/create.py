"""Operations that make a tensor of numbers, of a shape, or of another tensor's shape."""

from server.operations.table import Hole, OperationRow, hole, integer, number, shape

DATA = Hole("data", "numbers", "[1., 2., 4.]")
A = hole("a")

CREATE = (
    OperationRow("tensor", "{out} = torch.tensor({data})", (DATA,), ("leaf", "zeros", "arange")),
    OperationRow("leaf", "{out} = torch.tensor({data}, requires_grad=True)", (DATA,), ("tensor", "parameter")),
    OperationRow("zeros", "{out} = torch.zeros({shape})", (shape("2, 3"),), ("ones", "full", "empty")),
    OperationRow("ones", "{out} = torch.ones({shape})", (shape("2, 3"),), ("zeros", "full")),
    OperationRow(
        "full",
        "{out} = torch.full({sizes}, {x})",
        (Hole("sizes", "sizes", "(2, 3)"), number("x", "0.5")),
        ("zeros", "ones"),
    ),
    OperationRow("empty", "{out} = torch.empty({shape})", (shape("2, 3"),), ("zeros", "empty_like")),
    OperationRow("arange", "{out} = torch.arange({x})", (number("x", "6."),), ("linspace", "tensor")),
    OperationRow(
        "linspace",
        "{out} = torch.linspace({low}, {high}, {n})",
        (number("low", "0."), number("high", "1."), integer("n", 5)),
        ("arange",),
    ),
    OperationRow("randn", "{out} = torch.randn({shape})", (shape("2, 3"),), ("rand", "zeros")),
    OperationRow("rand", "{out} = torch.rand({shape})", (shape("2, 3"),), ("randn", "randint")),
    OperationRow(
        "randint",
        "{out} = torch.randint({high}, {sizes})",
        (integer("high", 10), Hole("sizes", "sizes", "(2, 3)")),
        ("rand", "arange"),
    ),
    OperationRow("eye", "{out} = torch.eye({n})", (integer("n", 3),), ("zeros", "ones")),
    OperationRow("zeros_like", "{out} = torch.zeros_like({a})", (A,), ("ones_like", "empty_like", "clone")),
    OperationRow("ones_like", "{out} = torch.ones_like({a})", (A,), ("zeros_like",)),
    OperationRow("empty_like", "{out} = torch.empty_like({a})", (A,), ("zeros_like", "empty")),
    OperationRow(
        "parameter",
        "{out} = torch.nn.Parameter({a})",
        (hole("a", "float tensor"),),
        ("leaf", "detach", "parameter_data"),
    ),
)
