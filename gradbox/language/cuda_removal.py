"""Edits a program that asks for CUDA so that it runs on a machine without it: finds every place where it asks.

What moves a tensor between CPU and GPU copies it once instead, so that leaves, memory and versions stay what they are
on a GPU: docs/decisions/0032.
"""

import ast
import itertools
import re
from typing import Any

from gradbox.language.device_placement import (
    CUDA_DEVICE_PATTERN,
    CUDA_TENSOR_TYPE_PATTERN,
    MOVE_METHODS,
    DevicePlacement,
    device_argument,
    starts_with_cuda_index,
    tests_cuda_availability,
)
from gradbox.language.device_values import ExpressionValue
from gradbox.language.edits import ProgramEdits
from gradbox.language.names import ImportedModules, bound_names, import_insertion_line
from gradbox.language.tree import SyntaxNodes, walk_tree

CPU_COPY_CALL = '.to("cpu", copy=True)'
CPU_COPY_HELPER_CODE = '''\
def {name}(x, *args, **kwargs):
    """Stands in for a move to or from a GPU, where it is not known whether x is a tensor or a module."""
    if isinstance(x, {torch}.nn.Module):
        return x.to(*args, **kwargs)._apply({torch}.clone)
    return x.to(*args, **kwargs, copy=True)
'''

_HARMLESS_CALLS = ("is_available", "manual_seed", "manual_seed_all", "device_count", "empty_cache")
_STREAM_AND_EVENT_CALLS = (
    "torch.cuda.Stream",
    "torch.cuda.Event",
    "torch.cuda.current_stream",
    "torch.cuda.default_stream",
)
_CUDA_CONTEXT_MANAGERS = ("torch.cuda.stream", "torch.cuda.device", "torch.cuda.StreamContext")
_DEVICE_NAME_CALLS = ("torch.cuda.current_device", "torch.cuda.get_device_name")
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


class CudaRemovalEdits(ProgramEdits):
    """Every place where a program asks for CUDA. Raises RecursionError for a program that is nested too deep."""

    def __init__(self, source: str, tree: ast.Module) -> None:
        super().__init__(source, tree)
        self._source, self._syntax_nodes = source, SyntaxNodes(tree)
        self._nodes = list(self._syntax_nodes)
        self._modules = modules = ImportedModules(self._syntax_nodes)
        self._placement = DevicePlacement(tree, modules, self._nodes)
        self._torch = modules.name_of_imported_module("torch", "torch")
        self._helper = ""
        self._timers: set[str] = set()
        self._not_run_here = {
            inner
            for node in self._nodes
            if isinstance(node, ast.If | ast.IfExp) and tests_cuda_availability(node.test)
            for part in (node.body if isinstance(node, ast.If) else [node.body])
            for inner in walk_tree(part)
        }
        self._comment_out_streams()
        for node in self._nodes:
            if node not in self.removed and node not in self._not_run_here:
                self._edit_node(node)
        if self._torch not in modules.names and any("torch." in edit.text for edit in self.sorted_edits()):
            self.insert_source_line(import_insertion_line(tree) + 1, 0, "import torch")

    def _edit_node(self, node: ast.AST) -> None:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            path = self._dotted_path(first_call_in_chain(node.value).func)
            if path.startswith("torch.cuda.") and path.rsplit(".", 1)[1] not in _HARMLESS_CALLS:
                self.comment_out_statement(node)
        elif isinstance(node, ast.Attribute):
            name = CUDA_TENSOR_TYPE_PATTERN.match(self._dotted_path(node))
            if name:
                self.replace_node(node, f"{self._torch}.{name[1]}")
        elif isinstance(node, ast.JoinedStr | ast.BinOp):
            if starts_with_cuda_index(node) or is_cuda_fstring(node):
                self.replace_node(node, '"cpu"')
            elif isinstance(node, ast.JoinedStr):
                self.removed.update(part for part in walk_tree(node) if isinstance(part, ast.Constant))
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str) and CUDA_DEVICE_PATTERN.match(node.value):
                self.replace_node(node, '"cpu"')
            elif isinstance(node.value, str) and (name := CUDA_TENSOR_TYPE_PATTERN.match(node.value)):
                self.replace_node(node, f'"torch.{name[1]}"')
        elif isinstance(node, ast.Call):
            self._edit_call(node)

    def _edit_call(self, node: ast.Call) -> None:
        path = self._dotted_path(node.func)
        for keyword in node.keywords:
            if (keyword.arg == "device" and self._is_numeric_expression(keyword.value)) or (
                keyword.arg == "map_location"
                and any(isinstance(part, ast.Attribute) and part.attr == "cuda" for part in walk_tree(keyword.value))
            ):
                self.replace_node(keyword.value, '"cpu"')
        if path in _SHARING_FACTORIES:
            self._edit_memory_sharing_call(node)
        elif path.startswith("torch."):
            self._edit_torch_call(node, path)
        elif isinstance(node.func, ast.Attribute):
            if (
                node.func.attr == "elapsed_time"
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id in self._timers
            ):
                self.replace_node(node, "0.0")
            elif node.func.attr == "format" and starts_with_cuda_constant(node.func.value):
                self.replace_node(node, '"cpu"')
            else:
                self._edit_method_call(node, node.func)

    def _edit_torch_call(self, node: ast.Call, path: str) -> None:
        if path == "torch.device":
            if node.args and (
                self._is_numeric_expression(node.args[0]) or (len(node.args) > 1 and is_cuda_string(node.args[0]))
            ):
                self.replace_node(node, f'{self._torch}.device("cpu")')
        elif path in _DEVICE_NAME_CALLS:
            self.replace_node(node, '"cpu"')
        elif path in _CUDA_CONTEXT_MANAGERS:
            name = self._modules.name_of_imported_module("contextlib", "contextlib")
            if name not in self._modules.names:
                self.insert_source_line(import_insertion_line(self.tree) + 1, 0, "import contextlib")
            self.replace_node(node, f"{name}.nullcontext()")
        elif path in _CUDA_AUTOCAST:
            words = dict(zip(("enabled", "dtype", "cache_enabled"), map(self._source_text, node.args), strict=False))
            words |= {keyword.arg or "": self._source_text(keyword.value) for keyword in node.keywords}
            words = {"dtype": f"{self._torch}.float16"} | words
            options = ", ".join(f"{name}={text}" for name, text in words.items())
            self.replace_node(node, f'{self._torch}.autocast("cpu", {options})')
        elif path in _AUTOCAST:
            device = next((word.value for word in node.keywords if word.arg == "device_type"), None) or (
                node.args[0] if node.args else None
            )
            value = self._placement.value_of_expression(device) if device is not None else None
            is_gpu = value is not None and value.kind == "device" and value.on == "gpu"
            if is_gpu and len(node.args) < 2 and all(word.arg != "dtype" for word in node.keywords):
                self._add_keyword_argument(node, f"dtype={self._torch}.float16")
        elif path in _CUDA_SCALERS:
            options = "".join(f", {self._source_text(part)}" for part in [*node.args, *node.keywords])
            self.replace_node(node, f'{self._torch}.amp.GradScaler("cpu"{options})')
        elif path in _SCALERS and not node.args and all(word.arg != "device" for word in node.keywords):
            options = "".join(f", {self._source_text(part)}" for part in node.keywords)
            self.replace_between(self.node_end(node.func), self.node_end(node), f'("cpu"{options})')

    def _edit_method_call(self, node: ast.Call, function: ast.Attribute) -> None:
        """Edit a method call that may move a tensor or a module."""
        method = function.attr
        if method not in MOVE_METHODS or self._placement.defines_function(method):
            return
        value = self._placement.value_of_expression(function.value)
        if method == "pin_memory":
            if not node.args and (value is None or value.kind == "tensor"):
                self._replace_method_call(node, function, CPU_COPY_CALL)
            return
        target = self._placement.move_target(node)
        if method == "to" and node.args and self._is_numeric_expression(node.args[0]):
            self.replace_node(node.args[0], '"cpu"')
        if target is None or (value is not None and value.kind in ("device", "number", "items")):
            return
        is_there = value is not None and value.on == target
        if value is not None and value.kind == "module":
            self._edit_module_move(node, function, is_there)
        elif method in ("type", "type_as"):
            self._edit_type_call(node, function, is_there)
        elif method == "to":
            self._edit_to_call(node, function, value, is_there)
        elif is_there:
            if method == "cuda":
                self._replace_method_call(node, function, "")
        elif value is not None and value.kind == "tensor":
            formats = "".join(f", {self._source_text(word)}" for word in node.keywords if word.arg == "memory_format")
            self._replace_method_call(node, function, f"{CPU_COPY_CALL[:-1]}{formats})")
        else:
            self.insert_text((node.lineno, node.col_offset), f"{self._insert_copy_helper()}(")
            self._replace_method_call(node, function, ', "cpu")')

    def _edit_module_move(self, node: ast.Call, function: ast.Attribute, is_there: bool) -> None:
        """Replace the move of a module by copies of its parameters and buffers; the parameters stay the same
        objects."""
        receiver = function.value
        is_bare = (
            isinstance(receiver, ast.Call)
            and self._dotted_path(receiver.func).endswith("Loss")
            and not call_arguments(receiver)
        )
        copies = "" if is_there or is_bare else f"._apply({self._torch}.clone)"
        if function.attr in ("cuda", "cpu"):
            if copies or function.attr == "cuda":
                self._replace_method_call(node, function, copies)
        elif copies:
            self.insert_text(self.node_end(node), copies)

    def _edit_to_call(
        self, node: ast.Call, function: ast.Attribute, value: ExpressionValue | None, is_there: bool
    ) -> None:
        copy = next((word for word in node.keywords if word.arg == "copy"), None)
        if copy is not None:
            if not is_there:
                self.replace_node(copy.value, "True")
        elif value is not None and value.kind == "tensor":
            if not is_there:
                self._add_keyword_argument(node, "copy=True")
        elif not is_there:
            opening = self.next_nonblank_position(self.node_end(function))
            start = self.node_end_with_brackets(function.value, self._method_name_position(function))
            self.insert_text((node.lineno, node.col_offset), f"{self._insert_copy_helper()}(")
            self.replace_between(start, (opening[0], opening[1] + 1), ", ")

    def _edit_type_call(self, node: ast.Call, function: ast.Attribute, is_there: bool) -> None:
        """Edit `x.type(torch.cuda.FloatTensor)` and `x.type_as(y)` of a tensor on the GPU."""
        wanted = device_argument(node)
        if is_there or wanted is None:
            return
        if function.attr == "type_as":
            self._replace_method_call(node, function, f".to({self._source_text(wanted)}, copy=True)")
            return
        name = CUDA_TENSOR_TYPE_PATTERN.match(self._dotted_path(wanted) or str(getattr(wanted, "value", "")))
        if name and name[1] in _DTYPES:
            self._replace_method_call(node, function, f'.to("cpu", {self._torch}.{_DTYPES[name[1]]}, copy=True)')
        else:
            self.insert_text(
                self.node_end_with_brackets(function.value, self._method_name_position(function)), CPU_COPY_CALL
            )

    def _edit_memory_sharing_call(self, node: ast.Call) -> None:
        """Edit `torch.as_tensor(array, device="cuda")`, which shares no memory with its argument."""
        device = next((word.value for word in node.keywords if word.arg == "device"), None)
        value = self._placement.value_of_expression(device) if device is not None else None
        given = self._placement.value_of_expression(node.args[0]) if node.args else None
        literal = bool(node.args) and isinstance(node.args[0], ast.List | ast.Tuple | ast.Constant)
        on_gpu = value is not None and (value.kind == "number" or value.on == "gpu")
        if on_gpu and not literal and not (given is not None and given.kind == "tensor" and given.on == "gpu"):
            self.insert_text(self.node_end(node), CPU_COPY_CALL)

    def _comment_out_streams(self) -> None:
        """Comment out streams and events, and what uses them."""
        names: set[str] = set()
        for node in self._nodes:
            if isinstance(node, ast.Assign):
                values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                if values and all(
                    isinstance(v, ast.Call) and self._dotted_path(v.func) in _STREAM_AND_EVENT_CALLS for v in values
                ):
                    self.comment_out_statement(node)
                    names |= {
                        part.id for target in node.targets for part in walk_tree(target) if isinstance(part, ast.Name)
                    }
        self._timers = names
        for node in self._nodes:
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                function = node.value.func
                owner = function.value if isinstance(function, ast.Attribute) else None
                if isinstance(owner, ast.Name) and owner.id in names:
                    self.comment_out_statement(node)

    def _replace_method_call(self, node: ast.Call, function: ast.Attribute, text: str) -> None:
        """Replace everything after the receiver of a method call by a text."""
        start = self.node_end_with_brackets(function.value, self._method_name_position(function))
        self.replace_between(start, self.node_end(node), text)
        self.removed.update({*walk_tree(node)} - {*walk_tree(function.value)})

    def _add_keyword_argument(self, node: ast.Call, text: str) -> None:
        """Add a keyword after the last argument."""
        last = max(call_arguments(node), key=lambda part: (part.end_lineno or 0, part.end_col_offset or 0))
        end = node.end_lineno or node.lineno, (node.end_col_offset or 1) - 1
        self.insert_text(self.node_end_with_brackets(last, end), f", {text}")

    def _insert_copy_helper(self) -> str:
        """Insert the function that replaces a move if the tree does not tell what is moved. Returns its name."""
        if not self._helper:
            taken = bound_names(self._syntax_nodes)
            self._helper = next(name for name in ("copied", "copied_", "copied__") if name not in taken)
            self.insert_source_line(
                self._line_after_imports(), 0, CPU_COPY_HELPER_CODE.format(name=self._helper, torch=self._torch)
            )
        return self._helper

    def _line_after_imports(self) -> int:
        line = import_insertion_line(self.tree)
        body = [node for node in self.tree.body if (node.end_lineno or 0) > line]
        for node, behind in itertools.pairwise(body):
            if not isinstance(node, ast.Import | ast.ImportFrom) or behind.lineno == node.end_lineno:
                break
            line = node.end_lineno or line
        return line + 1

    def _method_name_position(self, function: ast.Attribute) -> tuple[int, int]:
        """The position of a method's name."""
        line, col = self.node_end(function)
        return line, col - len(function.attr.encode())

    def _source_text(self, node: ast.AST) -> str:
        return ast.get_source_segment(self._source, node) or ast.unparse(node)

    def _dotted_path(self, node: ast.AST) -> str:
        return self._modules.dotted_path(node) or ""

    def _is_numeric_expression(self, node: ast.AST) -> bool:
        value = self._placement.value_of_expression(node)
        return value is not None and value.kind == "number"


def call_arguments(node: ast.Call) -> list[Any]:
    return [*node.args, *node.keywords]


def first_call_in_chain(node: ast.Call) -> ast.Call:
    """The first call in a chain of calls."""
    while isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call):
        node = node.func.value
    return node


def is_cuda_string(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(CUDA_DEVICE_PATTERN.match(node.value))
    )


def is_cuda_fstring(node: ast.AST) -> bool:
    """Whether an f-string begins with "cuda"."""
    first = node.values[0] if isinstance(node, ast.JoinedStr) and node.values else None
    return isinstance(first, ast.Constant) and str(first.value).startswith("cuda")


def starts_with_cuda_constant(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(re.match(r"cuda:?\{", node.value))
