"""An operation leads to the expression of the program that called it, and its result is that expression's value: beside
plain CPython, where a probe around each expression notes what it gave."""

import ast
import contextlib
import io
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.forks.plain_python import call_in_plain
from tests.support.explaining import call_page
from tests.support.sampling import every, sampled
from tests.support.tracing import trace

PROGRAMS = sorted((Path(__file__).parents[1] / "examples" / "programs").glob("*.py"))
OBSERVED = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Attribute)

Value = tuple[str, list[Any]]
"""What an expression gave: its text, and dtype and shape."""

EVERYWHERE = """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
x = torch.ones(4, 2)
sums = [torch.softmax(net(x * k), dim=1).sum() for k in range(2)]
double = lambda a: (a * 2).sum()
z = double(x + 1)
def product(a, b, *, scale=x.sum() / 8):
    q = a @ b.t() / scale
    return q.reshape(2, 8).mean(
        0).max()
w = product(x.view(4, 2),
            x)
v = (x
     .exp()  # a remark
     .log()
     .sum())
重 = 1.0; 和 = (x - 1).abs().sum() if x.sum() > 0 else -x
class Net(nn.Module):
    def forward(self, a):
        with torch.no_grad():
            mask = a > 0.5
        return (a * mask).T if mask.any() else a[0]
u = Net()(x)
for row in x.unbind(0):
    u = u + row.sum()
u.sum().item()
"""


class ValueProbes(ast.NodeTransformer):
    """Wraps every expression that may call an operation in a call of the probe, with its text."""

    def __init__(self, source: str) -> None:
        self._source = source

    def visit(self, node: ast.AST) -> ast.AST:
        text = without_blanks(ast.get_source_segment(self._source, node) or "")
        node = self.generic_visit(node)
        if not isinstance(node, OBSERVED) or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return node
        call = ast.Call(ast.Name("probe value", ast.Load()), [node, ast.Constant(text)], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


def without_blanks(text: str) -> str:
    return "".join(text.split())


def values_in_plain_python(source: str) -> list[Value]:
    """The tensors that expressions gave, in the order in which they did."""
    import torch

    values: list[Value] = []

    def probe(value: Any, text: str) -> Any:
        if isinstance(value, torch.Tensor):
            values.append((text, [str(value.dtype).removeprefix("torch."), list(value.shape)]))
        return value

    torch.manual_seed(0)
    tree: ast.Module = ValueProbes(source).visit(ast.parse(source))  # type: ignore[assignment]
    code = compile(tree, "<program>", "exec")
    quietly = contextlib.redirect_stdout(io.StringIO())
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), quietly, contextlib.suppress(Exception):
        exec(code, {"probe value": probe, "__name__": "__main__"})
    return values


def check_values(source: str) -> int:
    """What the page calls the value of an expression is one that plain Python had there, in the same order.

    Returns how many there were.
    """
    plain = call_in_plain(values_in_plain_python, source)
    entries = call_page("agreement/expressions", trace(source))
    told = list({(entry["step"], entry["uid"]): entry for entry in entries if entry["isValue"]}.values())
    for text in {without_blanks(entry["text"]) for entry in told}:
        given = [value for other, value in plain if other == text]
        for entry in (entry for entry in told if without_blanks(entry["text"]) == text):
            assert entry["value"] in given, (entry, given)
            del given[: given.index(entry["value"]) + 1]
    return len(told)


def test_expressions_of_every_kind_have_the_values_of_plain_python() -> None:
    assert check_values(EVERYWHERE) > 30


@pytest.mark.parametrize("program", sampled(PROGRAMS, every(9)), ids=lambda program: program.stem)
def test_programs_have_the_values_of_plain_python(program: Path) -> None:
    check_values(program.read_text("utf-8"))


def test_what_a_library_computes_belongs_to_the_call_of_the_program() -> None:
    source = "import torch\np = torch.distributions.Normal(torch.zeros(2), 1.0)\nl = p.log_prob(torch.ones(2)).sum()\n"
    recorded = trace(source)
    syntax = recorded["program"]["statements"][2]["syntax"]
    texts = {
        entry["name"]: source.split("\n")[2][
            syntax["starts"][entry["expression"][1]] : syntax["ends"][entry["expression"][1]]
        ]
        for step in recorded["steps"]
        for entry in step["log"]
        if entry["kind"] == "op" and entry["expression"][0] == 2
    }
    assert texts["aten::pow.Tensor_Scalar"] == "p.log_prob(torch.ones(2))"
    assert texts["aten::ones"] == "torch.ones(2)" and texts["aten::sum"] == "p.log_prob(torch.ones(2)).sum()"


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="an f-string's places are known")
def test_an_expression_in_an_f_string_is_not_taken_for_another() -> None:
    recorded = trace('import torch\nx = torch.ones(2)\n名 = f"{x.mean()} {x.sum()}", x.abs()\n')
    found = {
        entry["name"]: entry.get("expression") for step in recorded["steps"] for entry in step["log"] if "name" in entry
    }
    assert found["aten::mean"] is found["aten::sum"] is None and found["aten::abs"] is not None


NOT_VALUES = """\
import torch
from torch import nn
x, y = torch.ones(2), torch.zeros(2)
[x, y].index(y[:1].sum().expand(2)) if False else min(x.sum(), y.sum())
table = nn.Embedding(3, 2)
policy = torch.distributions.Categorical(logits=torch.ones(1, 3))
policy.log_prob(torch.tensor([1])).sum()
nn.LSTM(2, 2)(torch.ones(1, 1, 2))[0].sum()
print(x)
"""


def test_what_a_call_computes_on_its_way_is_not_called_its_value() -> None:
    told = [
        (entry["text"], entry["op"])
        for entry in call_page("agreement/expressions", trace(NOT_VALUES))
        if entry["isValue"]
    ]
    texts = [text for text, _ in told]
    assert ("policy.log_prob(torch.tensor([1]))", "aten::squeeze.dim") in told and texts.count("x.sum()") == 1
    assert not {
        text
        for text in texts
        if text.startswith(("min", "nn.Embedding", "torch.distributions", "nn.LSTM(2, 2)(torch.ones(1, 1, 2))"))
    } - {"nn.LSTM(2, 2)(torch.ones(1, 1, 2))[0].sum()"}
    assert texts.count("policy.log_prob(torch.tensor([1]))") == 1 and "print(x)" not in texts


def test_the_operations_of_nodes_have_none() -> None:
    recorded = trace("import torch\nw = torch.ones(2, requires_grad=True)\n(w * w).sum().backward()\n")
    entries = [entry for step in recorded["steps"] for entry in step["log"] if entry["kind"] == "op"]
    names = [entry["name"] for entry in entries]
    begin = names.index("aten::ones_like")
    assert "aten::mul.Tensor" in names[begin:]
    assert ["expression" in entry for entry in entries] == [k <= begin for k in range(len(names))]
