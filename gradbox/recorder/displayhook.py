"""What an interactive session shows of a bare expression: the `repr` of its value, if that runs no code of the program.

Torch prints a tensor by running operations on it. These run while the recorder is at work, so they are not recorded,
and in `no_grad`, so they create no nodes. They draw no random numbers and write nothing.
"""

import types
from typing import Any

import numpy as np
import torch

from gradbox.recorder import introspection
from gradbox.wire.records import StatementRecord

MAX_CHARACTERS = 20_000
"""Characters of a text. Of a longer one nothing is shown."""

MAX_VALUES = 2_000
"""Values in all the containers of one value."""

MAX_ELEMENTS = 100_000
"""Elements that a tensor may print in full if the program has turned summaries off."""

_SEQUENCE_TYPES = (list, tuple, set, frozenset, torch.Size)
_PLAIN_REPR_TYPES: tuple[type, ...] = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    torch.dtype,
    torch.device,
    torch.layout,
)
_PLAIN_REPR_TYPES += (
    torch.memory_format,
    torch.Generator,
    torch.finfo,
    torch.iinfo,
    types.FunctionType,
    types.BuiltinFunctionType,
)
_NUMERIC_DTYPE_KINDS = "biufc"
_REPR_METHODS = ("__repr__", "extra_repr", "_get_name", "__getattribute__", "__getattr__")
_TENSOR_REPR, _PARAMETER_REPR = torch.Tensor.__repr__, torch.nn.Parameter.__repr__


def displayed_repr(value: Any) -> str | None:
    """The text that a session shows; "" for None, for which it shows nothing; None if showing would run the program's
    code."""
    if value is None:
        return ""
    try:
        if not _ReprSafetyCheck().has_safe_repr(value):
            return None
        text = repr(value)
    except Exception:  # what torch or Python refuses to print: integers of 5,000 digits
        return None
    return text if len(text) <= MAX_CHARACTERS else None


class _ReprSafetyCheck:
    """Checks whether `repr` runs only code of Python, torch and numpy, and counts the values that it meets."""

    def __init__(self) -> None:
        self._values_left = MAX_VALUES

    def has_safe_repr(self, value: Any) -> bool:
        kind = type(value)
        self._values_left -= 1
        if self._values_left < 0:
            return False
        if introspection.is_any_of_classes(kind, _PLAIN_REPR_TYPES):
            return (kind is not str and kind is not bytes) or len(value) <= MAX_CHARACTERS
        if kind is torch.Tensor:
            return _class_attribute(kind, "__repr__") is _TENSOR_REPR and _has_short_repr(value)
        if kind is torch.nn.Parameter:
            builtin_repr = (
                _class_attribute(kind, "__repr__") is _PARAMETER_REPR and torch.Tensor.__repr__ is _TENSOR_REPR
            )
            return builtin_repr and _has_short_repr(value)
        if kind is np.ndarray or (issubclass(kind, np.generic) and introspection.class_module(kind) == "numpy"):
            return value.dtype.kind in _NUMERIC_DTYPE_KINDS
        if kind is dict:
            return all(self.has_safe_repr(k) and self.has_safe_repr(v) for k, v in value.items())
        if (
            introspection.is_any_of_classes(kind, _SEQUENCE_TYPES)
            or introspection.class_module(kind) == "torch.return_types"
        ):
            return all(self.has_safe_repr(member) for member in value)
        if issubclass(kind, torch.nn.Module):
            return self._has_safe_module_repr(value, kind)
        method = _class_attribute(kind, "__repr__")
        return method is _class_attribute(type if issubclass(kind, type) else object, "__repr__")

    def _has_safe_module_repr(self, layer: Any, layer_class: type) -> bool:
        """Whether a layer's text is written by torch from arguments that are safe themselves."""
        for name in _REPR_METHODS:
            owner = next(
                (base for base in introspection.class_mro(layer_class) if name in introspection.class_dict(base)), None
            )
            if owner is None or not introspection.class_module(owner).startswith(("torch.nn.", "builtins")):
                return False
        attributes = introspection.instance_dict(layer) or {}
        shown = [] if _class_attribute(layer_class, "extra_repr") is torch.nn.Module.extra_repr else attributes.items()
        if not all(self.has_safe_repr(member) for name, member in shown if not name.startswith("_")):
            return False
        return all(self.has_safe_repr(child) for child in attributes["_modules"].values() if child is not None)


def _class_attribute(kind: type, name: str) -> Any:
    """The attribute of a class, without asking its metaclass."""
    return next(
        (
            introspection.class_dict(base)[name]
            for base in introspection.class_mro(kind)
            if name in introspection.class_dict(base)
        ),
        None,
    )


def _has_short_repr(tensor: torch.Tensor) -> bool:
    threshold: Any = torch._tensor_str.PRINT_OPTS.threshold
    return tensor.is_nested or tensor.numel() <= MAX_ELEMENTS or tensor.numel() > threshold


def statements_with_pasted_output(notices: list[Any], rows: list[StatementRecord]) -> frozenset[int]:
    """The statements that have an output beside them in the pasted text: bare expressions outside of functions.

    notices: of kinds `printed` and `claimed`; their lines from `from` to `line` were entered at once
    rows: the table of statements
    """
    spans = [(notice.args.get("from") or notice.line, notice.line) for notice in notices
             if notice.kind in ("printed", "claimed") and notice.line is not None]  # fmt: skip
    lines = {line for first, last in spans for line in range(first, last + 1)}
    tops: list[int] = []
    statements: set[int] = set()
    for i, row in enumerate(rows):
        parent = row["parent"]
        tops.append(i if parent is None else tops[parent])
        if row["kind"] == "Expr" and not _is_in_function_or_class(rows, i) and lines:
            top = rows[tops[i]]
            if any(line in lines for line in range(top["line"], top["end_line"] + 1)):
                statements.add(i)
    return frozenset(statements)


def _is_in_function_or_class(rows: list[StatementRecord], i: int) -> bool:
    """Whether a statement belongs to a function or a class."""
    parent = rows[i]["parent"]
    while parent is not None:
        if rows[parent]["kind"] in ("FunctionDef", "AsyncFunctionDef", "ClassDef"):
            return True
        parent = rows[parent]["parent"]
    return False
