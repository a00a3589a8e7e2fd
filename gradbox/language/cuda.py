"""A program that asks for CUDA, on a machine without it: every place where it does.

What moves a tensor between CPU and GPU copies it, once, so that leaves, memory and versions stay what they are on a GPU:
docs/decisions/0032.
"""

import ast
import itertools
import re
from typing import Any

from gradbox.language.device_values import Value
from gradbox.language.edits import Edits
from gradbox.language.names import ImportedModules, bound_names, import_line
from gradbox.language.placement import (
    CUDA_NAME,
    CUDA_TYPE,
    MOVES,
    Placement,
    asks_for_cuda,
    device_argument,
    starts_with_cuda,
)
from gradbox.language.tree import walk

COPY = '.to("cpu", copy=True)'
HELPER = '''\
def {name}(x, *args, **kwargs):
    """Stands in for a move to or from a GPU, where it is not known whether x is a tensor or a module."""
    if isinstance(x, {torch}.nn.Module):
        return x.to(*args, **kwargs)._apply({torch}.clone)
    return x.to(*args, **kwargs, copy=True)
'''

_HARMLESS_CALLS = ("is_available", "manual_seed", "manual_seed_all", "device_count", "empty_cache")
_ON_THE_DEVICE = ("torch.cuda.Stream", "torch.cuda.Event", "torch.cuda.current_stream", "torch.cuda.default_stream")
_CONTEXTS = ("torch.cuda.stream", "torch.cuda.device", "torch.cuda.StreamContext")
_DEVICE_NAMES = ("torch.cuda.current_device", "torch.cuda.get_device_name")
_AUTOCAST = ("torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast")
_CUDA_AUTOCAST = ("torch.cuda.amp.autocast", "torch.cuda.amp.autocast_mode.autocast")
_SCALERS = ("torch.amp.GradScaler", "torch.GradScaler")
_CUDA_SCALERS = ("torch.cuda.amp.GradScaler", "torch.cuda.amp.grad_scaler.GradScaler")
_SHARING_FACTORIES = ("torch.as_tensor", "torch.asarray")
_DTYPES = {
    "FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16", "BFloat16Tensor": "bfloat16",
    "LongTensor": "int64", "IntTensor": "int32", "ShortTensor": "int16", "CharTensor": "int8", "ByteTensor": "uint8",
    "BoolTensor": "bool",
}  # fmt: skip


class CudaEdits(Edits):
    """Every place where a program asks for CUDA. Raises RecursionError for a program that is nested too deep."""

    def __init__(self, source: str, tree: ast.Module, modules: ImportedModules) -> None:
        super().__init__(source, tree)
        self._source, self._modules = source, modules
        self._nodes = walk(tree)
        self._placement = Placement(tree, modules, self._nodes)
        self._torch = modules.name_of("torch", "torch")
        self._helper = ""
        self._timers: set[str] = set()
        self._not_run_here = {
            inner
            for node in self._nodes
            if isinstance(node, ast.If | ast.IfExp) and asks_for_cuda(node.test)
            for part in (node.body if isinstance(node, ast.If) else [node.body])
            for inner in walk(part)
        }
        self._comment_out_streams()
        for node in self._nodes:
            if node not in self.removed and node not in self._not_run_here:
                self._visit(node)
        if self._torch not in modules.names and any("torch." in edit.text for edit in self.sorted_edits()):
            self.insert_line(import_line(tree) + 1, 0, "import torch")

    def _visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            path = self._path(first_call(node.value).func)
            if path.startswith("torch.cuda.") and path.rsplit(".", 1)[1] not in _HARMLESS_CALLS:
                self.comment_out(node)
        elif isinstance(node, ast.Attribute):
            name = CUDA_TYPE.match(self._path(node))
            if name:
                self.replace(node, f"{self._torch}.{name[1]}")
        elif isinstance(node, ast.JoinedStr | ast.BinOp):
            if starts_with_cuda(node) or is_cuda_text(node):
                self.replace(node, '"cpu"')
            elif isinstance(node, ast.JoinedStr):
                self.removed.update(part for part in walk(node) if isinstance(part, ast.Constant))
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str) and CUDA_NAME.match(node.value):
                self.replace(node, '"cpu"')
            elif isinstance(node.value, str) and (name := CUDA_TYPE.match(node.value)):
                self.replace(node, f'"torch.{name[1]}"')
        elif isinstance(node, ast.Call):
            self._visit_call(node)

    def _visit_call(self, node: ast.Call) -> None:
        path = self._path(node.func)
        for keyword in node.keywords:
            if (keyword.arg == "device" and self._is_number(keyword.value)) or (
                keyword.arg == "map_location"
                and any(isinstance(part, ast.Attribute) and part.attr == "cuda" for part in walk(keyword.value))
            ):
                self.replace(keyword.value, '"cpu"')
        if path in _SHARING_FACTORIES:
            self._copy_shared(node)
        elif path.startswith("torch."):
            self._visit_torch_call(node, path)
        elif isinstance(node.func, ast.Attribute):
            if (
                node.func.attr == "elapsed_time"
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id in self._timers
            ):
                self.replace(node, "0.0")
            elif node.func.attr == "format" and starts_with_cuda_constant(node.func.value):
                self.replace(node, '"cpu"')
            else:
                self._visit_method(node, node.func)

    def _visit_torch_call(self, node: ast.Call, path: str) -> None:
        if path == "torch.device":
            if node.args and (self._is_number(node.args[0]) or (len(node.args) > 1 and is_cuda(node.args[0]))):
                self.replace(node, f'{self._torch}.device("cpu")')
        elif path in _DEVICE_NAMES:
            self.replace(node, '"cpu"')
        elif path in _CONTEXTS:
            name = self._modules.name_of("contextlib", "contextlib")
            if name not in self._modules.names:
                self.insert_line(import_line(self.tree) + 1, 0, "import contextlib")
            self.replace(node, f"{name}.nullcontext()")
        elif path in _CUDA_AUTOCAST:
            words = dict(zip(("enabled", "dtype", "cache_enabled"), map(self._text, node.args), strict=False))
            words |= {keyword.arg or "": self._text(keyword.value) for keyword in node.keywords}
            words = {"dtype": f"{self._torch}.float16"} | words
            options = ", ".join(f"{name}={text}" for name, text in words.items())
            self.replace(node, f'{self._torch}.autocast("cpu", {options})')
        elif path in _AUTOCAST:
            device = next((word.value for word in node.keywords if word.arg == "device_type"), None) or (
                node.args[0] if node.args else None
            )
            value = self._placement.of(device) if device is not None else None
            is_gpu = value is not None and value.kind == "device" and value.on == "gpu"
            if is_gpu and len(node.args) < 2 and all(word.arg != "dtype" for word in node.keywords):
                self._add_argument(node, f"dtype={self._torch}.float16")
        elif path in _CUDA_SCALERS:
            options = "".join(f", {self._text(part)}" for part in [*node.args, *node.keywords])
            self.replace(node, f'{self._torch}.amp.GradScaler("cpu"{options})')
        elif path in _SCALERS and not node.args and all(word.arg != "device" for word in node.keywords):
            options = "".join(f", {self._text(part)}" for part in node.keywords)
            self.replace_between(self.end(node.func), self.end(node), f'("cpu"{options})')

    def _visit_method(self, node: ast.Call, function: ast.Attribute) -> None:
        """A method that may move a tensor or a module."""
        method = function.attr
        if method not in MOVES or self._placement.defines_function(method):
            return
        value = self._placement.of(function.value)
        if method == "pin_memory":
            if not node.args and (value is None or value.kind == "tensor"):
                self._replace_method(node, function, COPY)
            return
        target = self._placement.target(node)
        if method == "to" and node.args and self._is_number(node.args[0]):
            self.replace(node.args[0], '"cpu"')
        if target is None or (value is not None and value.kind in ("device", "number", "items")):
            return
        is_there = value is not None and value.on == target
        if value is not None and value.kind == "module":
            self._move_module(node, function, is_there)
        elif method in ("type", "type_as"):
            self._change_type(node, function, is_there)
        elif method == "to":
            self._move_to(node, function, value, is_there)
        elif is_there:
            if method == "cuda":
                self._replace_method(node, function, "")
        elif value is not None and value.kind == "tensor":
            formats = "".join(f", {self._text(word)}" for word in node.keywords if word.arg == "memory_format")
            self._replace_method(node, function, f"{COPY[:-1]}{formats})")
        else:
            self.insert((node.lineno, node.col_offset), f"{self._helper_name()}(")
            self._replace_method(node, function, ', "cpu")')

    def _move_module(self, node: ast.Call, function: ast.Attribute, is_there: bool) -> None:
        """What moves a module copies its parameters and buffers; the parameters stay the same objects."""
        receiver = function.value
        is_bare = (
            isinstance(receiver, ast.Call) and self._path(receiver.func).endswith("Loss") and not arguments(receiver)
        )
        copies = "" if is_there or is_bare else f"._apply({self._torch}.clone)"
        if function.attr in ("cuda", "cpu"):
            if copies or function.attr == "cuda":
                self._replace_method(node, function, copies)
        elif copies:
            self.insert(self.end(node), copies)

    def _move_to(self, node: ast.Call, function: ast.Attribute, value: Value | None, is_there: bool) -> None:
        copy = next((word for word in node.keywords if word.arg == "copy"), None)
        if copy is not None:
            if not is_there:
                self.replace(copy.value, "True")
        elif value is not None and value.kind == "tensor":
            if not is_there:
                self._add_argument(node, "copy=True")
        elif not is_there:
            opening = self.next_character(self.end(function))
            start = self.end_in_brackets(function.value, self._name_of(function))
            self.insert((node.lineno, node.col_offset), f"{self._helper_name()}(")
            self.replace_between(start, (opening[0], opening[1] + 1), ", ")

    def _change_type(self, node: ast.Call, function: ast.Attribute, is_there: bool) -> None:
        """`x.type(torch.cuda.FloatTensor)`, `x.type_as(y)` of a tensor on the GPU."""
        wanted = device_argument(node)
        if is_there or wanted is None:
            return
        if function.attr == "type_as":
            self._replace_method(node, function, f".to({self._text(wanted)}, copy=True)")
            return
        name = CUDA_TYPE.match(self._path(wanted) or str(getattr(wanted, "value", "")))
        if name and name[1] in _DTYPES:
            self._replace_method(node, function, f'.to("cpu", {self._torch}.{_DTYPES[name[1]]}, copy=True)')
        else:
            self.insert(self.end_in_brackets(function.value, self._name_of(function)), COPY)

    def _copy_shared(self, node: ast.Call) -> None:
        """`torch.as_tensor(array, device="cuda")` shares no memory with what it is given."""
        device = next((word.value for word in node.keywords if word.arg == "device"), None)
        value = self._placement.of(device) if device is not None else None
        given = self._placement.of(node.args[0]) if node.args else None
        literal = bool(node.args) and isinstance(node.args[0], ast.List | ast.Tuple | ast.Constant)
        on_gpu = value is not None and (value.kind == "number" or value.on == "gpu")
        if on_gpu and not literal and not (given is not None and given.kind == "tensor" and given.on == "gpu"):
            self.insert(self.end(node), COPY)

    def _comment_out_streams(self) -> None:
        """Streams and events, and what is done with them."""
        names: set[str] = set()
        for node in self._nodes:
            if isinstance(node, ast.Assign):
                values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                if values and all(isinstance(v, ast.Call) and self._path(v.func) in _ON_THE_DEVICE for v in values):
                    self.comment_out(node)
                    names |= {part.id for target in node.targets for part in walk(target) if isinstance(part, ast.Name)}
        self._timers = names
        for node in self._nodes:
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                function = node.value.func
                owner = function.value if isinstance(function, ast.Attribute) else None
                if isinstance(owner, ast.Name) and owner.id in names:
                    self.comment_out(node)

    def _replace_method(self, node: ast.Call, function: ast.Attribute, text: str) -> None:
        """Put a text in the place of all that follows the receiver."""
        start = self.end_in_brackets(function.value, self._name_of(function))
        self.replace_between(start, self.end(node), text)
        self.removed.update({*walk(node)} - {*walk(function.value)})

    def _add_argument(self, node: ast.Call, text: str) -> None:
        """Add a keyword after the last argument."""
        last = max(arguments(node), key=lambda part: (part.end_lineno or 0, part.end_col_offset or 0))
        end = node.end_lineno or node.lineno, (node.end_col_offset or 1) - 1
        self.insert(self.end_in_brackets(last, end), f", {text}")

    def _helper_name(self) -> str:
        """The name of the function that stands in for a move where the tree does not tell of what; it is put in."""
        if not self._helper:
            taken = bound_names(self._nodes)
            self._helper = next(name for name in ("copied", "copied_", "copied__") if name not in taken)
            self.insert_line(self._line_after_imports(), 0, HELPER.format(name=self._helper, torch=self._torch))
        return self._helper

    def _line_after_imports(self) -> int:
        line = import_line(self.tree)
        body = [node for node in self.tree.body if (node.end_lineno or 0) > line]
        for node, behind in itertools.pairwise(body):
            if not isinstance(node, ast.Import | ast.ImportFrom) or behind.lineno == node.end_lineno:
                break
            line = node.end_lineno or line
        return line + 1

    def _name_of(self, function: ast.Attribute) -> tuple[int, int]:
        """Where the name of a method begins."""
        line, col = self.end(function)
        return line, col - len(function.attr.encode())

    def _text(self, node: ast.AST) -> str:
        return ast.get_source_segment(self._source, node) or ast.unparse(node)

    def _path(self, node: ast.AST) -> str:
        return self._modules.path(node) or ""

    def _is_number(self, node: ast.AST) -> bool:
        value = self._placement.of(node)
        return value is not None and value.kind == "number"


def arguments(node: ast.Call) -> list[Any]:
    return [*node.args, *node.keywords]


def first_call(node: ast.Call) -> ast.Call:
    """The first of a chain of calls."""
    while isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call):
        node = node.func.value
    return node


def is_cuda(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(CUDA_NAME.match(node.value))


def is_cuda_text(node: ast.AST) -> bool:
    """Whether an f-string begins with "cuda"."""
    first = node.values[0] if isinstance(node, ast.JoinedStr) and node.values else None
    return isinstance(first, ast.Constant) and str(first.value).startswith("cuda")


def starts_with_cuda_constant(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(re.match(r"cuda:?\{", node.value))
