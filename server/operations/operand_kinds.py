"""The building blocks of the tables: rows, holes in their templates, and kinds of operands."""

from dataclasses import dataclass

from server.wire.operations import Kind, OperandKind


@dataclass(frozen=True)
class TemplatePlaceholder:
    """An operand of a template.

    Without `proposed` and `sample`, the example uses the sample of the kind.

    proposed: the text to write there
    sample: statements that make a fitting one in the row's example
    """

    name: str
    kind: Kind
    proposed: str | None = None
    sample: str | None = None


@dataclass(frozen=True)
class OperationRow:
    """One operation. Its sentence is `NAME` in static/locales/operations.en.json and operations.zh.json.

    template: one statement
    siblings: names of rows; either row then stands in the place of the other
    imports: modules besides torch
    inside: a statement around the template in the example, like `with torch.no_grad():`
    """

    name: str
    template: str
    holes: tuple[TemplatePlaceholder, ...] = ()
    siblings: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    inside: str | None = None


def operand(name: str, kind: Kind = "tensor", sample: str | None = None) -> TemplatePlaceholder:
    """Return an operand that the program must provide, by default a tensor."""
    return TemplatePlaceholder(name, kind, sample=sample)


def number_operand(name: str, proposed: str) -> TemplatePlaceholder:
    return TemplatePlaceholder(name, "number", proposed)


def integer_operand(name: str, proposed: int) -> TemplatePlaceholder:
    return TemplatePlaceholder(name, "int", str(proposed))


def shape_operand(proposed: str) -> TemplatePlaceholder:
    """Return an operand of sizes, as arguments of a call."""
    return TemplatePlaceholder("shape", "shape", proposed)


LEAF = "{name} = torch.tensor([1., 2., 4.], requires_grad=True)"
NODE = "x = torch.tensor([1., 2., 4.], requires_grad=True)\n{name} = x * 2"
NETWORK = "{name} = torch.nn.Linear(3, 2)"

KINDS = (
    OperandKind(kind="tensor", sample="{name} = torch.tensor([[1., 2., 3.], [4., 5., 6.]])"),
    OperandKind(kind="float tensor", sample="{name} = torch.tensor([[1., 2., 3.], [4., 5., 6.]])", floating=True),
    OperandKind(kind="vector", sample="{name} = torch.tensor([1., 2., 3.])", dims=1),
    OperandKind(kind="matrix", sample="{name} = torch.tensor([[1., 2., 3.], [4., 5., 6.]])", dims=2),
    OperandKind(
        kind="float matrix", sample="{name} = torch.tensor([[1., 2., 3.], [4., 5., 6.]])", dims=2, floating=True
    ),
    OperandKind(kind="complex tensor", sample="{name} = torch.tensor([1 + 2j, 3 - 1j])", complex=True),
    OperandKind(kind="scalar tensor", sample="{name} = torch.tensor(3.)", elements=1),
    OperandKind(kind="boolean tensor", sample="{name} = torch.tensor([True, False])"),
    OperandKind(kind="writable tensor", sample="{name} = torch.tensor([1., -2., 4.])", requires_grad=False),
    OperandKind(kind="plain tensor", sample="{name} = torch.tensor([1., 2.])", floating=True, requires_grad=False),
    OperandKind(kind="leaf", sample=LEAF, floating=True, requires_grad=True, leaf=True),
    OperandKind(
        kind="leaf with grad",
        sample=f"{LEAF}\n({{name}} * {{name}}).sum().backward()",
        requires_grad=True,
        leaf=True,
        has_grad=True,
    ),
    OperandKind(kind="node", sample=NODE, requires_grad=True, leaf=False),
    OperandKind(
        kind="scalar node",
        sample="x = torch.tensor([1., 2., 4.], requires_grad=True)\n{name} = (x * x).sum()",
        elements=1,
        requires_grad=True,
        leaf=False,
    ),
    OperandKind(kind="labels", sample="{name} = torch.tensor([0, 2])", floating=False, dims=1),
    OperandKind(kind="array", sample="{name} = np.array([1., 2., 4.])"),
    OperandKind(kind="module", sample=NETWORK),
    OperandKind(
        kind="module with grads", sample=f"{NETWORK}\n{{name}}(torch.ones(1, 3)).sum().backward()", has_grad=True
    ),
    OperandKind(
        kind="optimizer",
        sample="net = torch.nn.Linear(3, 2)\n"
        "{name} = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "net(torch.ones(1, 3)).sum().backward()",
    ),
    OperandKind(kind="state", sample="{name} = torch.nn.Linear(3, 2).state_dict()"),
    OperandKind(kind="function", sample="{name} = lambda grad: grad * 2"),
    OperandKind(kind="anything", sample="{name} = torch.tensor([1., 2., 3.])"),
    OperandKind(kind="number"),
    OperandKind(kind="int"),
    OperandKind(kind="numbers"),
    OperandKind(kind="shape"),
    OperandKind(kind="sizes"),
    OperandKind(kind="indices"),
    OperandKind(kind="dtype"),
    OperandKind(kind="device"),
    OperandKind(kind="name"),
)

SAMPLES = {row.kind: row.sample for row in KINDS}
"""Statements that make an operand, by kind; None if its text is written into the program."""
