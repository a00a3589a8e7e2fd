"""The programs of the matrix: each asks one question of one operation in one situation.

A row is an operation: statements that make `b` from `a`. A property is a question: lines that print True or False.
"""

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Literal, get_args

from server.wire.matrix import Answer, MatrixCell, Memory, Mode, Tensor

Group = Literal["same", "share", "view", "copy"]
Number = Literal["real", "complex"]


@dataclass(frozen=True)
class MatrixRow:
    """An operation of the matrix.

    statement: lines that define `b`
    group: what the operation does, according to its name, to an ordinary tensor that requires grad
    number: whether the elements of `a` are real or complex
    shown: the statement in a few words, if it has several lines
    written: the part of `b` that can be written; elements that share memory can't
    """

    name: str
    group: Group
    statement: str
    imports: tuple[str, ...] = ()
    number: Number = "real"
    shown: str | None = None
    written: str = "b"

    @property
    def title(self) -> str:
        """Return the statement in a few words, with a remark if `a` is complex."""
        title = self.shown or self.statement
        return f"{title}  # complex" if self.number == "complex" else title


SAVE_AND_LOAD = "f = io.BytesIO()\ntorch.save(a, f)\nf.seek(0)\nb = torch.load(f)"
IN_STATE_DICT = "module = torch.nn.Module()\nmodule.register_buffer('a', a)\nb = module.state_dict()['a']"
MATRIX_ROWS = (
    MatrixRow("alias", "same", "b = a"),
    MatrixRow("requires_grad_", "same", "b = a.requires_grad_()"),
    MatrixRow("requires_grad_false", "same", "b = a.requires_grad_(False)"),
    MatrixRow("add_", "same", "b = a.add_(0)"),
    MatrixRow("detach_", "same", "b = a.detach_()"),
    MatrixRow("set_data", "same", "a.data = a.data.clone()\nb = a", shown="a.data = a.data.clone()"),
    MatrixRow("set_", "same", "b = a.set_(a.detach().clone())"),
    MatrixRow("to_same", "same", "b = a.to(a.dtype)"),
    MatrixRow("to_device", "same", "b = a.to(a.device)"),
    MatrixRow("cpu", "same", "b = a.cpu()"),
    MatrixRow("float", "same", "b = a.float()"),
    MatrixRow("as_tensor", "same", "b = torch.as_tensor(a)"),
    MatrixRow("torch_asarray", "same", "b = torch.asarray(a)"),
    MatrixRow("contiguous", "same", "b = a.contiguous()"),
    MatrixRow("resolve_conj", "same", "b = a.resolve_conj()"),
    MatrixRow("detach", "share", "b = a.detach()"),
    MatrixRow("detach_requires_grad", "share", "b = a.detach().requires_grad_()"),
    MatrixRow("data", "share", "b = a.data"),
    MatrixRow("parameter", "share", "b = torch.nn.Parameter(a)"),
    MatrixRow("parameter_data", "share", "b = torch.nn.Parameter(a.data)"),
    MatrixRow("bits", "share", "b = a.view(torch.int32)"),
    MatrixRow("copy_copy", "share", "b = copy.copy(a)", ("copy",)),
    MatrixRow("numpy", "share", "b = torch.from_numpy(a.numpy())"),
    MatrixRow("detach_numpy", "share", "b = torch.from_numpy(a.detach().numpy())"),
    MatrixRow(
        "asarray",
        "share",
        "b = torch.from_numpy(np.asarray(a.detach()))",
        ("numpy as np",),
        shown="b = torch.from_numpy(np.asarray(…))",
    ),
    MatrixRow(
        "memoryview",
        "share",
        "b = torch.frombuffer(memoryview(a.detach().numpy()), dtype=torch.float32)",
        shown="b = torch.frombuffer(memoryview(…))",
    ),
    MatrixRow("dlpack", "share", "b = torch.from_dlpack(a.detach())"),
    MatrixRow(
        "storage",
        "share",
        "b = torch.empty(0).set_(a.untyped_storage(), 0, a.shape, a.stride())",
        shown="b = torch.empty(0).set_(storage, …)",
    ),
    MatrixRow("set_to", "share", "b = torch.empty(0).set_(a.detach())"),
    MatrixRow("state_dict", "share", IN_STATE_DICT, shown="b = module.state_dict()['a']"),
    MatrixRow(
        "swap_tensors",
        "share",
        "b = torch.zeros(2, 3)\ntorch.utils.swap_tensors(a, b)",
        shown="torch.utils.swap_tensors(a, b)",
    ),
    MatrixRow("view", "view", "b = a.view(3, 2)"),
    MatrixRow("Tensor", "view", "b = torch.Tensor(a)"),
    MatrixRow("as_subclass", "view", "b = a.as_subclass(torch.Tensor)"),
    MatrixRow("view_as", "view", "b = a.view_as(a)"),
    MatrixRow("reshape", "view", "b = a.reshape(3, 2)"),
    MatrixRow("flatten", "view", "b = a.flatten()"),
    MatrixRow("ravel", "view", "b = a.ravel()"),
    MatrixRow("t", "view", "b = a.t()"),
    MatrixRow("T", "view", "b = a.T"),
    MatrixRow("mT", "view", "b = a.mT"),
    MatrixRow("transpose", "view", "b = a.transpose(0, 1)"),
    MatrixRow("swapaxes", "view", "b = a.swapaxes(0, 1)"),
    MatrixRow("movedim", "view", "b = a.movedim(0, 1)"),
    MatrixRow("permute", "view", "b = a.permute(1, 0)"),
    MatrixRow("unsqueeze", "view", "b = a.unsqueeze(0)"),
    MatrixRow("squeeze", "view", "b = a.squeeze()"),
    MatrixRow("expand", "view", "b = a.expand(4, 2, 3)", written="b[0]"),
    MatrixRow("expand_as", "view", "b = a.expand_as(a)"),
    MatrixRow("index", "view", "b = a[0]"),
    MatrixRow("select", "view", "b = a.select(1, 0)"),
    MatrixRow("slice", "view", "b = a[:, 1:]"),
    MatrixRow("step", "view", "b = a[:, ::2]"),
    MatrixRow("narrow", "view", "b = a.narrow(1, 0, 2)"),
    MatrixRow("split", "view", "b = a.split(1)[0]"),
    MatrixRow("chunk", "view", "b = a.chunk(2)[0]"),
    MatrixRow("unbind", "view", "b = a.unbind()[0]"),
    MatrixRow("unfold", "view", "b = a.unfold(1, 2, 1)", written="b[:, 0]"),
    MatrixRow("as_strided", "view", "b = a.as_strided((2, 2), (2, 1))"),
    MatrixRow("diagonal", "view", "b = a.diagonal()"),
    MatrixRow("real", "view", "b = a.real", number="complex"),
    MatrixRow("imag", "view", "b = a.imag", number="complex"),
    MatrixRow("view_as_real", "view", "b = torch.view_as_real(a)", number="complex"),
    MatrixRow("conj", "view", "b = a.conj()", number="complex"),
    MatrixRow("clone", "copy", "b = a.clone()"),
    MatrixRow("clone_detach", "copy", "b = a.clone().detach()"),
    MatrixRow("detach_clone", "copy", "b = a.detach().clone()"),
    MatrixRow("copy_", "copy", "b = torch.empty_like(a).copy_(a)"),
    MatrixRow("tensor_of", "copy", "b = torch.tensor(a)"),
    MatrixRow("new_tensor", "copy", "b = a.new_tensor(a)"),
    MatrixRow("deepcopy", "copy", "b = copy.deepcopy(a)", ("copy",)),
    MatrixRow("pickle", "copy", "b = pickle.loads(pickle.dumps(a))", ("pickle",)),
    MatrixRow("save", "copy", SAVE_AND_LOAD, ("io",), shown="torch.save(a, f); b = torch.load(f)"),
    MatrixRow("tolist", "copy", "b = torch.tensor(a.tolist())"),
    MatrixRow("item", "copy", "b = torch.tensor(a[0, 0].item())"),
    MatrixRow("to_copy", "copy", "b = a.to(a.dtype, copy=True)"),
    MatrixRow("to_dtype", "copy", "b = a.to(torch.float64)"),
    MatrixRow("double", "copy", "b = a.double()"),
    MatrixRow("half", "copy", "b = a.half()"),
    MatrixRow("to_sparse", "copy", "b = a.to_sparse()"),
    MatrixRow("to_dense", "copy", "b = a.to_sparse().to_dense()"),
    MatrixRow("take_rows", "copy", "b = a[[0, 1]]"),
    MatrixRow("masked", "copy", "b = a[a > 2]"),
    MatrixRow("cat", "copy", "b = torch.cat([a])"),
    MatrixRow("repeat", "copy", "b = a.repeat(1, 1)"),
    MatrixRow("resolved", "copy", "b = a.conj().resolve_conj()", number="complex"),
    MatrixRow("empty_like", "copy", "b = torch.empty_like(a)"),
    MatrixRow("zeros_like", "copy", "b = torch.zeros_like(a)"),
)


Heading = Literal["result", "graph", "keeps", "takes"]
ROOT_PLACEHOLDER = "{root}"
"""The placeholder in a question for the tensor that the gradient should reach."""

WRITTEN_PLACEHOLDER = "{written}"
"""The placeholder in a question for the part of `b` that can be written."""


@dataclass(frozen=True)
class MatrixQuestion:
    """A property that is asked of every operation.

    setup: lines before the statement
    ask: lines after it; the last one prints the answer and further details
    meta: whether `a` is on the device `meta`, so that `b` can be on another
    refusal: what a RuntimeError of torch means here; any other error means that the question does not apply
    """

    name: str
    heading: Heading
    ask: str
    setup: str = ""
    meta: bool = False
    refusal: Literal["no", "not_applicable"] = "not_applicable"


MATRIX_QUESTIONS = (
    MatrixQuestion("handle", "result", "print(b is not a)"),
    MatrixQuestion(
        "storage",
        "result",
        "print(b.untyped_storage().data_ptr() != before)",
        "before = a.untyped_storage().data_ptr()",
    ),
    MatrixQuestion(
        "counter",
        "result",
        f"before = a._version\nwith torch.no_grad():\n    {WRITTEN_PLACEHOLDER}.zero_()\n"
        "print(a._version == before + 1)",
    ),
    MatrixQuestion("view", "result", "print(b._is_view())"),
    MatrixQuestion("grad_fn", "graph", "print(b.grad_fn is not None, b.grad_fn and b.grad_fn.name())"),
    MatrixQuestion(
        "flows", "graph", f"b.sum().abs().backward()\nprint({ROOT_PLACEHOLDER}.grad is not None)", refusal="no"
    ),
    MatrixQuestion("dtype", "keeps", "print(b.dtype == before, before, b.dtype)", "before = a.dtype"),
    MatrixQuestion("device", "keeps", "print(b.device == before, before, b.device)", "before = a.device", meta=True),
    MatrixQuestion("layout", "keeps", "print(b.layout == before, before, b.layout)", "before = a.layout"),
    MatrixQuestion("strides", "keeps", "print(b.stride() == before, before, b.stride())", "before = a.stride()"),
    MatrixQuestion("contiguous", "keeps", "print(b.is_contiguous(), b.stride())"),
    MatrixQuestion(
        "requires_grad",
        "takes",
        "print(b.requires_grad == before, before, b.requires_grad)",
        "before = a.requires_grad",
    ),
    MatrixQuestion("grad", "takes", "print(b.grad is not None)", "a.grad = torch.ones_like(a)"),
    MatrixQuestion(
        "hooks",
        "takes",
        "torch.autograd.grad(b.sum().abs(), b)\nprint(len(calls) > 0)",
        "calls = []\na.register_hook(calls.append)",
        refusal="no",
    ),
    MatrixQuestion("attributes", "takes", 'print(hasattr(b, "note"))', 'a.note = "mine"'),
)


VALUES, TRANSPOSED_VALUES = ((1, 2, 3), (4, 5, 6)), ((1, 4), (2, 5), (3, 6))


@dataclass(frozen=True)
class Situation:
    """What `a` is, how its memory is laid out, and in which mode the operation runs."""

    tensor: Tensor = "leaf"
    memory: Memory = "contiguous"
    mode: Mode = "grad"

    @property
    def key(self) -> str:
        return f"{self.tensor}.{self.memory}.{self.mode}"


SITUATIONS = tuple(Situation(*parts) for parts in product(get_args(Tensor), get_args(Memory), get_args(Mode)))
DEFAULT_SITUATION = SITUATIONS[0]


@dataclass(frozen=True)
class CellProgram:
    """The program that answers one cell.

    source: the program's text
    operation, question: the first line of each
    step: the step after the operation
    """

    source: str
    operation: int
    question: int

    @property
    def step_after_operation(self) -> int:
        """Return the index of a step in the trace: there is one for each non-blank line before the question."""
        return sum(bool(line) for line in self.source.split("\n")[: self.question - 1]) - 1

    def read_answer(self, answer: Answer, question: MatrixQuestion) -> MatrixCell:
        """Return what an answer of this program means for its cell."""
        if answer.line is None:
            verdict, _, detail = answer.printed.partition(" ")
            return MatrixCell(verdict="yes" if verdict == "True" else "no", detail=detail)
        message = answer.raised or ""
        if self.operation <= answer.line < self.question:
            return MatrixCell(verdict="raises", detail=message)
        refused = answer.line >= self.question and message.startswith("RuntimeError")
        return MatrixCell(verdict=question.refusal if refused else "not_applicable", detail=message)


def cell_program(row: MatrixRow, question: MatrixQuestion, situation: Situation) -> CellProgram:
    """Return the program that answers a question about an operation in a situation."""
    root = "w" if situation.tensor == "node" else "a"
    lines = ["import torch", *(f"import {module}" for module in row.imports), ""]
    lines += input_tensor_lines(row.number, question.meta, situation)
    lines += question.setup.split("\n") if question.setup else []
    operation = len(lines) + 1
    statement = row.statement.split("\n")
    if situation.mode != "grad":
        statement = [f"with torch.{situation.mode}():", *(f"    {line}" for line in statement)]
    lines += statement
    ask = question.ask.replace(ROOT_PLACEHOLDER, root).replace(WRITTEN_PLACEHOLDER, row.written).split("\n")
    return CellProgram("\n".join([*lines, *ask]) + "\n", operation, len(lines) + 1)


@cache
def input_tensor_lines(number: Number, meta: bool, situation: Situation) -> tuple[str, ...]:
    """Return lines that make `a`, as float32 or complex64 of shape (2, 3).

    meta: whether `a` is on the device `meta`
    """
    rows = VALUES if situation.memory == "contiguous" else TRANSPOSED_VALUES
    if meta:
        dtype = "dtype=torch.complex64, " if number == "complex" else ""
        made = f'torch.ones({len(rows)}, {len(rows[0])}, {dtype}device="meta")'
    else:
        form = "{0}." if number == "real" else "{0}+1j"
        made = f"torch.tensor([{', '.join('[' + ', '.join(form.format(x) for x in line) + ']' for line in rows)}])"
    if situation.memory == "strided":
        made += ".t().clone()"
    if situation.tensor != "plain":
        if situation.memory == "strided":
            made += ".requires_grad_()"
        else:
            made = f"{made[:-1]}, requires_grad=True)"
    return (f"w = {made}", "a = w * 1") if situation.tensor == "node" else (f"a = {made}",)
