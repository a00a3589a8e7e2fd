"""Rules for the shapes of operands, which predict without a run where torch would raise."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

Shape = Sequence[int]
Shapes = Mapping[str, Shape]
Texts = Mapping[str, str]


@dataclass(frozen=True)
class ShapeMismatch:
    """Why the shapes of operands don't fit.

    key: the key of a sentence
    args: the sentence's arguments
    holes: the operands concerned
    """

    key: str
    holes: tuple[str, ...]
    args: dict[str, str | int] = field(default_factory=dict)


def format_shape(shape: Shape) -> str:
    """Format a shape as Python does."""
    return str(tuple(shape))


def check_matmul(shapes: Shapes, _: Texts) -> ShapeMismatch | None:
    """`a @ b`: the last size of a equals the last but one of b, and the sizes before them broadcast."""
    a, b = shapes["a"], shapes["b"]
    if not a or not b:
        return ShapeMismatch("fit_no_scalar", ("a",) if not a else ("b",))
    inner = b[0] if len(b) == 1 else b[-2]
    if a[-1] != inner:
        return ShapeMismatch("fit_matmul", ("a", "b"), {"left": a[-1], "right": inner})
    if len(a) > 2 and len(b) > 2 and not can_broadcast(a[:-2], b[:-2]):
        return ShapeMismatch("fit_broadcast", ("a", "b"), {"left": format_shape(a), "right": format_shape(b)})
    return None


def can_broadcast(a: Shape, b: Shape) -> bool:
    """Return whether two shapes broadcast: from the right, sizes are equal or one of them is 1."""
    return all(left == right or 1 in (left, right) for left, right in zip(reversed(a), reversed(b), strict=False))


def check_broadcast(shapes: Shapes, _: Texts) -> ShapeMismatch | None:
    """`a + b`: the shapes broadcast."""
    a, b = shapes["a"], shapes["b"]
    return None if can_broadcast(a, b) else ShapeMismatch("fit_broadcast", ("a", "b"), _shape_pair_args(a, b))


def check_broadcast_to(shapes: Shapes, _: Texts) -> ShapeMismatch | None:
    """`a.copy_(b)`: b broadcasts to the shape of a."""
    a, b = shapes["a"], shapes["b"]
    fits = len(b) <= len(a) and all(right in (left, 1) for left, right in zip(reversed(a), reversed(b), strict=False))
    return None if fits else ShapeMismatch("fit_into", ("a", "b"), _shape_pair_args(a, b))


def check_cat(shapes: Shapes, _: Texts) -> ShapeMismatch | None:
    """`torch.cat([a, b])`: all sizes but the first are equal."""
    a, b = shapes["a"], shapes["b"]
    if not a or not b:
        return ShapeMismatch("fit_no_scalar", ("a",) if not a else ("b",))
    if (0,) in (tuple(a), tuple(b)):
        return None  # torch skips an empty vector
    fits = len(a) == len(b) and list(a[1:]) == list(b[1:])
    return None if fits else ShapeMismatch("fit_joined", ("a", "b"), _shape_pair_args(a, b))


def check_stack(shapes: Shapes, _: Texts) -> ShapeMismatch | None:
    """`torch.stack([a, b])`: the shapes are equal."""
    a, b = shapes["a"], shapes["b"]
    return None if list(a) == list(b) else ShapeMismatch("fit_same", ("a", "b"), _shape_pair_args(a, b))


def check_matrix_by_vector(shapes: Shapes, _: Texts) -> ShapeMismatch | None:
    """`einsum("ij,j->i", a, b)`: a matrix, and a vector as long as its rows; 1 broadcasts."""
    a, b = shapes["a"], shapes["b"]
    for name, shape, dims in (("a", a, 2), ("b", b, 1)):
        if len(shape) != dims:
            return ShapeMismatch("fit_dims", (name,), {"needed": dims, "has": len(shape)})
    return None if can_broadcast(a[1:], b) else ShapeMismatch("fit_matmul", ("a", "b"), {"left": a[1], "right": b[0]})


def check_element_count(shapes: Shapes, texts: Texts) -> ShapeMismatch | None:
    """`a.view(sizes)`: as many elements; one size may be -1."""
    a, text = shapes["a"], texts.get("shape", "")
    if not re.fullmatch(r"\(?\s*-?\d+(\s*,\s*-?\d+)*\s*,?\s*\)?", text):
        return None
    sizes = [int(size) for size in re.findall(r"-?\d+", text)]
    elements, known = math.prod(a), math.prod(size for size in sizes if size != -1)
    wild = sizes.count(-1)
    if min(sizes) < -1 or wild > 1:
        return ShapeMismatch("fit_sizes", ("shape",))
    fits = known == elements if not wild else known > 0 and elements % known == 0
    return None if fits else ShapeMismatch("fit_elements_of", ("shape",), {"n": elements, "shape": format_shape(sizes)})


def check_at_most_2d(shapes: Shapes, _: Texts) -> ShapeMismatch | None:
    """`a.t()`: at most two dimensions."""
    has = len(shapes["a"])
    return ShapeMismatch("fit_at_most", ("a",), {"needed": 2, "has": has}) if has > 2 else None


def dim_checker(hole: str, extra: int = 0) -> Callable[[Shapes, Texts], ShapeMismatch | None]:
    """Return a rule that a dimension's number exists in the tensor.

    extra: how many dimensions the operation adds
    """

    def check_dim(shapes: Shapes, texts: Texts) -> ShapeMismatch | None:
        number = _parse_integer(texts.get(hole, ""))
        dims = max(len(shapes["a"]) + extra, 1)
        if number is None or -dims <= number < dims:
            return None
        return ShapeMismatch("fit_dim_range", (hole,), {"low": -dims, "high": dims - 1})

    return check_dim


def check_index(shapes: Shapes, texts: Texts) -> ShapeMismatch | None:
    """`a[n]`: within the first dimension."""
    a, number = shapes["a"], _parse_integer(texts.get("n", ""))
    if not a:
        return ShapeMismatch("fit_no_scalar", ("a",))
    if number is None or -a[0] <= number < a[0]:
        return None
    return ShapeMismatch("fit_index", ("n",), {"n": number, "size": a[0]})


def single_element_checker(hole: str) -> Callable[[Shapes, Texts], ShapeMismatch | None]:
    """Return a rule that the operand has one element, as `.item()` and `.backward()` need."""

    def check_single_element(shapes: Shapes, _: Texts) -> ShapeMismatch | None:
        count = math.prod(shapes[hole])
        return None if count == 1 else ShapeMismatch("fit_single", (hole,), {"n": count})

    return check_single_element


SHAPE_RULES: dict[str, tuple[tuple[str, ...], Callable[[Shapes, Texts], ShapeMismatch | None]]] = {
    "matmul": (("a", "b"), check_matmul),
    "einsum": (("a", "b"), check_matrix_by_vector),
    **dict.fromkeys(("add", "sub", "mul", "where", "isclose", "allclose", "mse", "l1"), (("a", "b"), check_broadcast)),
    "write_into": (("a", "b"), check_broadcast_to),
    "cat": (("a", "b"), check_cat),
    "stack": (("a", "b"), check_stack),
    "view": (("a",), check_element_count),
    "reshape": (("a",), check_element_count),
    "contiguous_view": (("a",), check_element_count),
    "t": (("a",), check_at_most_2d),
    "sum_dim": (("a",), dim_checker("dim")),
    "argmax": (("a",), dim_checker("dim")),
    "softmax": (("a",), dim_checker("dim")),
    "log_softmax": (("a",), dim_checker("dim")),
    "unsqueeze": (("a",), dim_checker("dim", 1)),
    "index": (("a",), check_index),
    "set_item": (("a",), check_index),
    "item": (("a",), single_element_checker("a")),
    "backward": (("loss",), single_element_checker("loss")),
    "backward_retain": (("loss",), single_element_checker("loss")),
    "grad": (("loss",), single_element_checker("loss")),
    "grad_create": (("loss",), single_element_checker("loss")),
}
"""For each operation, the operands whose shapes must be known, and the rule for them."""


def find_shape_mismatch(operation: str, shapes: Shapes, texts: Texts) -> ShapeMismatch | None:
    """Return the mismatch for which torch would raise; None if there is none, or it is unknown.

    texts: the text of each hole
    """
    needed, rule = SHAPE_RULES.get(operation, ((), None))
    if rule is None or any(name not in shapes for name in needed):
        return None
    return rule(shapes, texts)


def _parse_integer(text: str) -> int | None:
    return int(text) if re.fullmatch(r"\s*-?\d{1,9}\s*", text) else None


def _shape_pair_args(a: Shape, b: Shape) -> dict[str, str | int]:
    return {"left": format_shape(a), "right": format_shape(b)}
