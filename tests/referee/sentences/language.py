"""The language of claims: expressions of Python over the arguments of a sentence and these functions.

An argument is a live object where the sentence has a name for it, the text or number that the sentence has elsewhere.
`was(expression)` is what an expression was before the step. A claim that can't be decided raises Undecided.
"""

import inspect
import math
import numbers
import re
import types
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy
import torch

from tests.referee.canonical import short_name
from tests.referee.sentences.earlier import Reading, Was, bytes_of, reading
from tests.referee.sentences.paths import LeadsNowhere, Undecided


class Phrase(dict[str, Any]):
    """An argument that is a phrase of its own: its key, and its arguments as objects."""

    def __init__(self, key: str, arguments: dict[str, Any]) -> None:
        super().__init__(arguments)
        self.key = key


class Text(str):
    """A name of the program that leads to no object the trace knows: of a call, an element, a gradient."""


FUNCTIONS: dict[str, Any] = {}


Function = TypeVar("Function", bound=Callable[..., Any])


def said(function: Function) -> Function:
    """Make a function part of the language."""
    FUNCTIONS[function.__name__] = function
    return function


def live(thing: Any) -> Any:
    """The object itself, where it may be one of before. Raises Undecided for the words of one that was not found."""
    if isinstance(thing, Phrase):
        raise Undecided("what is meant has no name, and was not found")
    if isinstance(thing, Was):
        found = thing.object()
        if found is None:
            raise Undecided("it is gone")
        return found
    return thing


def unknown(thing: Any) -> bool:
    return isinstance(thing, Phrase) and thing.key.startswith("unnamed")


@said
def is_same(a: Any, b: Any) -> bool:
    """Whether they are one object."""
    return live(a) is live(b)


@said
def is_gone(thing: Any) -> bool:
    """Whether a thing of before the step is no more."""
    return isinstance(thing, Was) and thing.object() is None


@said
def shares_memory(a: Any, b: Any) -> bool:
    """Whether two tensors or arrays read bytes of one piece of memory."""
    first, second = reading(a), reading(b)
    if first.storage == second.storage and first.device == second.device:
        return True
    return first.device == second.device and first.begin < second.end and second.begin < first.end


@said
def reads_alike(a: Any, b: Any) -> bool:
    """Whether they read the same numbers of one piece of memory, in the same way."""
    first, second = reading(a), reading(b)
    return shares_memory(a, b) and (first.offset, first.shape, first.dtype) == (
        second.offset,
        second.shape,
        second.dtype,
    )


def element_addresses(thing: Any) -> set[int]:
    how: Reading = reading(thing)
    thing = live(thing)
    size = thing.element_size() if isinstance(thing, torch.Tensor) else thing.itemsize
    steps = [step * (size if isinstance(thing, torch.Tensor) else 1) for step in how.stride]
    if math.prod(how.shape) > 1_000_000:
        raise Undecided("it has too many elements")
    at = numpy.zeros(1, dtype=numpy.int64) + how.offset
    for count, step in zip(how.shape, steps, strict=True):
        at = (at[:, None] + numpy.arange(count) * step).reshape(-1)
    return set(at.tolist())


@said
def cells(thing: Any) -> int:
    """How many different numbers in memory it reads."""
    return len(element_addresses(thing))


@said
def overlaps(a: Any, b: Any) -> bool:
    """Whether an element of one is an element of the other."""
    first, second = live(a), live(b)
    size = max(each.element_size() if isinstance(each, torch.Tensor) else each.itemsize for each in (first, second))
    return shares_memory(a, b) and not {at // size for at in element_addresses(a)}.isdisjoint(
        {at // size for at in element_addresses(b)}
    )


@said
def shape_is(thing: Any, text: str) -> bool:
    """Whether a shape is said so: `3 × 1`."""
    return " × ".join(map(str, thing.shape)) == text


@said
def size_is(thing: Any, size: Phrase) -> bool:
    """Whether a thing has the size of a phrase: so many numbers in a row, or a shape."""
    if size.key == "size_unknown":
        raise Undecided("the size is not said")
    shape = reading(thing).shape if isinstance(thing, Was) else thing.shape
    if size.key == "size_row":
        return len(shape) < 2 and math.prod(shape) == size["n"]
    return bool(shape_is(thing, size["shape"]))


@said
def memory_is(thing: Any, memory: Phrase) -> bool:
    """Whether its memory is where a phrase says it is."""
    device = str(thing.device) if isinstance(thing, torch.Tensor) else "cpu"
    return device == (memory["device"] if memory.key == "own_memory_on" else "cpu")


@said
def version(thing: Any) -> int:
    """What a tensor's counter says."""
    return int(live(thing)._version)


@said
def numel(thing: Any) -> int:
    return int(thing.numel()) if isinstance(thing, torch.Tensor) else int(thing.size)


@said
def content(thing: Any) -> bytes:
    """The bytes of what it reads."""
    return bytes_of(live(thing))


@said
def differing(now: Any, before: bytes) -> int:
    """In how many elements it differs from its bytes of before."""
    after = bytes_of(now)
    if len(after) != len(before):
        raise Undecided("it has another size")
    count = numel(now)
    size = len(after) // max(1, count)
    return sum(after[at : at + size] != before[at : at + size] for at in range(0, len(after), max(1, size)))


@said
def is_array(thing: Any) -> bool:
    return isinstance(live(thing), numpy.ndarray)


@said
def is_tensor(thing: Any) -> bool:
    return isinstance(live(thing), torch.Tensor)


@said
def type_is(thing: Any, name: str) -> bool:
    """Whether its class is called so."""
    cls = type(thing)
    return name in (cls.__name__, cls.__qualname__, f"{cls.__module__}.{cls.__qualname__}")


@said
def count(thing: Any) -> int:
    """How many items a container has."""
    return len(thing)


NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|-?inf|nan")


@said
def reads_as(thing: Any, text: str) -> bool:
    """Whether its numbers are those of a text, as exact as that has them: `2`, `[1, .333]`."""
    thing = live(thing)
    text = text.replace("−", "-")
    found = thing.detach().cpu().reshape(-1).tolist() if isinstance(thing, torch.Tensor) else None
    if found is None:
        found = numpy.asarray(thing).reshape(-1).tolist()
    if any(isinstance(each, complex) for each in found) or "j" in text:
        raise Undecided("complex numbers")
    pieces = text.strip("[]").split(", ")
    return len(pieces) == len(found) and all(map(number_reads_as, found, pieces))


def number_reads_as(number: Any, text: str) -> bool:
    """Whether a number is what a text says, rounded as that is."""
    if isinstance(number, bool):
        return text == str(number)
    if text.endswith("…"):
        return str(number).startswith(text[:-1])
    match = NUMBER.fullmatch(text)
    if not match:
        raise Undecided(f"{text} is no number")
    value = float(text)
    if math.isnan(value) or math.isnan(number):
        return math.isnan(value) and math.isnan(number)
    if math.isinf(value) or math.isinf(number) or ("." not in text and "e" not in text):
        return bool(value == number)
    mantissa, _, exponent = text.partition("e")
    digits = len(mantissa.partition(".")[2])
    half = 0.5001 * 10.0 ** (int(exponent or 0) - digits)
    # a trace has numbers of 32 bits in as many digits as tell them apart
    return any(abs(value - float(each)) <= half for each in (number, str(numpy.float32(number))))


class Shown(list[str]):
    """What a value may be said as, which itself is not kept."""


def shown(value: Any) -> Any:
    """A value that can be kept, or what it may be said as."""
    return value if type(value) in (type(None), bool, int, float, str) else Shown(texts_of(value))


@said
def is_value(thing: Any, text: str) -> bool:
    """Whether a value of Python's is what a text says."""
    if thing is None or isinstance(thing, bool):
        return text == str(thing)
    if isinstance(thing, str):
        return text == (f"'{thing[:59]}…'" if len(thing) > 60 else f"'{thing}'")
    if isinstance(thing, numbers.Real) and not isinstance(thing, numpy.generic):
        return is_number(thing, text)
    return text in (thing if isinstance(thing, Shown) else texts_of(thing))


def is_number(thing: numbers.Real, text: str) -> bool:
    """A number as JavaScript writes it in full."""
    try:
        return text in (str(thing), repr(thing)) or (float(text) == float(thing)) or float(text) != float(text)
    except (ValueError, OverflowError):
        return False


def texts_of(thing: Any) -> list[str]:
    """What may be said for a value without numbers of its own: its class, its name, its text where torch makes it."""
    out = [type(thing).__name__, f"{type(thing).__module__}.{type(thing).__qualname__}"]
    if isinstance(thing, type | types.FunctionType | types.BuiltinFunctionType | types.ModuleType):
        out += [thing.__name__, f"{thing.__module__}.{thing.__qualname__}" if hasattr(thing, "__qualname__") else ""]
    if type(thing).__module__.partition(".")[0] in ("torch", "builtins", "numpy", "functools"):
        out += [str(thing), repr(thing)]
    return out


@said
def is_module(thing: Any) -> bool:
    """Whether it is an imported module."""
    return isinstance(thing, types.ModuleType)


@said
def is_class(thing: Any) -> bool:
    return isinstance(thing, type)


@said
def is_function(thing: Any) -> bool:
    return (callable(thing) and not isinstance(thing, type)) or inspect.isroutine(thing)


@said
def requires_grad(thing: Any) -> bool:
    return bool(live(thing).requires_grad)


@said
def made_by(tensor: Any, node: Any) -> bool:
    """Whether a node is what a tensor's graph ends in."""
    return live(tensor).grad_fn is node_of(node)


class Node:
    """A node by what the graph calls it; `find` looks for the live one."""

    def __init__(self, label: str, find: Callable[[], Any]) -> None:
        self.label, self._find = label, find

    def live(self) -> Any:
        """Raises Undecided where it is not found."""
        found = self._find()
        if found is None or not is_called(found.name(), self.label):
            raise Undecided("the node was not found")
        return found


def node_of(node: Any) -> Any:
    """A live node. Raises Undecided for the words of one that has no name, or was not found."""
    if isinstance(node, Node):
        return node.live()
    if isinstance(node, Phrase | str) or node is None:
        raise Undecided("the node has no name")
    return node


@said
def graph_of(tensor: Any) -> str:
    """What torch calls the node that made a tensor; nothing for a leaf."""
    found = live(tensor).grad_fn
    return "" if found is None else str(found.name())


@said
def has_bytes(thing: Any, nbytes: int) -> bool:
    """Whether a thing lies in memory of so many bytes: of an array, in that of the array that owns it."""
    owner = thing
    while isinstance(thing, numpy.ndarray) and hasattr(getattr(owner, "base", None), "base"):
        owner = owner.base
    how: Reading = reading(thing)
    if nbytes == (owner.nbytes if isinstance(owner, numpy.ndarray) else how.end - how.begin):
        return True
    if isinstance(thing, torch.Tensor) and not thing.untyped_storage().resizable():
        raise Undecided("the memory is of an array that no tensor leads to")
    return False


@said
def goes_to(node: Any, label: str, named: Callable[[str], Any]) -> bool:
    """Whether gradients go on from a node to one that is called so, or to a leaf with this name."""
    targets = [target for target, _ in node_of(node).next_functions if target is not None]
    if any(is_called(each.name(), Text(label)) for each in targets):
        return True
    leaves = [leaf for each in targets if (leaf := getattr(each, "variable", None)) is not None]
    if label == "a tensor without a name":
        return bool(leaves)
    return bool(leaves) and any(named(label) is leaf for leaf in leaves)


@said
def number_of(node: Any) -> int:
    """In which place a node was made."""
    return int(node_of(node)._sequence_nr())


@said
def is_of_a_function(node: Any) -> bool:
    """Whether a node is that of a `torch.autograd.Function`."""
    return isinstance(node_of(node), torch.autograd.function.BackwardCFunction)


@said
def next_number() -> int:
    """The place of the node that is made next."""
    return int(torch.autograd._get_sequence_nr())  # type: ignore[attr-defined]


@said
def is_called(name: str, label: Any) -> bool:
    """Whether a node's name has a label, without its number: `Mul 2` is a MulBackward0."""
    text = label.label if isinstance(label, Node) else str(label)
    if isinstance(label, Phrase):
        return True
    return (short_name(name) or "").startswith(re.sub(r" \d+$", "", text).rstrip("…"))


def slots_of(node: Any) -> Iterable[tuple[str, Any]]:
    """The name of each saved tensor's slot of a node, and the tensor."""
    node = node_of(node)
    for attribute in dir(node):
        if not attribute.startswith("_raw_saved_"):
            continue
        try:
            raw = getattr(node, attribute)
        except RuntimeError:
            continue
        for each in raw if isinstance(raw, tuple) else [raw]:
            yield attribute.removeprefix("_raw_saved_"), each
    if not any(each.startswith("_raw_saved_") for each in dir(node)):
        try:
            saved = getattr(node, "saved_tensors", ())
        except RuntimeError:
            return
        for position, each in enumerate(saved or ()):
            yield f"tensors[{position}]", each


def kept_tensors(node: Any) -> list[torch.Tensor]:
    """The tensors that a node keeps. Raises Undecided where a hook has packed one."""
    out = []
    for _, raw in slots_of(node):
        if getattr(raw, "unpack_hook", None) is not None:
            raise Undecided("a hook has packed it")
        tensor = raw if isinstance(raw, torch.Tensor) else getattr(raw, "data", None)
        if isinstance(tensor, torch.Tensor):
            out.append(tensor)
    return out


@said
def keeps(node: Any, thing: Any) -> bool:
    """Whether a node keeps for backward what a phrase or a name says."""
    if isinstance(thing, Phrase):
        return keeps_phrase(node, thing)
    return any(reads_alike(tensor, thing) for tensor in kept_tensors(node))


def keeps_phrase(node: Any, thing: Phrase) -> bool:
    match thing.key:
        case "kept_number":
            return any(is_value(value, thing["value"]) for value in kept_values(node))
        case "kept_result":
            return any(result_of(slot) is node_of(node) for slot in saved_values(node)) or keeps_results(node)
        case "kept_result_of":
            other = node_of(thing["node"])
            return any(other in results_of(slot) for slot in saved_values(node))
        case "kept_numbers_of":
            source = thing["tensor"]
            if unknown(source):
                raise Undecided("the tensor has no name")
            whole = math.prod(reading(source).shape)
            return any(shares_memory(each, source) and each.numel() == whole for each in kept_tensors(node))
        case "kept_size":
            return any(size_is(each, thing["size"]) for each in kept_tensors(node))
        case "kept_unnamed" | "unnamed_tensor":
            return bool(kept_tensors(node))
    raise Undecided(f"{thing.key} is no kept thing")


def keeps_results(node: Any) -> bool:
    """Whether torch calls something that a node keeps a result of it: of a batch norm also its mean."""
    return any(re.fullmatch(r"_saved_(result|output)s?\d*", attribute) for attribute in dir(node_of(node)))


def saved_values(node: Any) -> Iterable[Any]:
    """What a node's `_saved_` attributes are."""
    node = node_of(node)
    for attribute in dir(node):
        if attribute.startswith("_saved_"):
            try:
                value = getattr(node, attribute)
            except RuntimeError:
                raise Undecided("the saved tensor can't be read") from None
            yield from value if isinstance(value, tuple | list) else [value]
    if not any(attribute.startswith("_saved_") for attribute in dir(node)):
        raise Undecided("a function of the program's keeps it")


def result_of(slot: Any) -> Any:
    return slot.grad_fn if isinstance(slot, torch.Tensor) else None


def results_of(slot: Any) -> list[Any]:
    """The nodes whose result a saved tensor is, or is a view of."""
    base = slot._base if isinstance(slot, torch.Tensor) else None
    return [each for each in (result_of(slot), result_of(base)) if each is not None]


def kept_values(node: Any) -> Iterable[Any]:
    for value in saved_values(node):
        if not isinstance(value, torch.Tensor):
            yield value


@said
def is_stale(node: Any, expected: int, now: int) -> bool:
    """Whether reading what a node saved raises an error with these versions."""
    node = node_of(node)
    for attribute in dir(node):
        if attribute.startswith("_saved_"):
            try:
                getattr(node, attribute)
            except RuntimeError as error:
                if f"is at version {now}; expected version {expected} instead" in str(error):
                    return True
    return False


@said
def is_stale_at_all(node: Any) -> bool:
    """Whether reading something that a node saved raises an error for its version."""
    return any("expected version" in error for error in errors_of_slots(node))


@said
def keeps_overwritten(node: Any) -> bool:
    """Whether a node keeps what was written or detached in place since. Raises Undecided where no version tells it."""
    if not is_stale_at_all(node) and not is_detached(node):
        raise Undecided("a silent write leaves no version")
    return True


@said
def is_detached(node: Any) -> bool:
    """Whether something that a node saved was detached in place."""
    return any("detached in-place" in error for error in errors_of_slots(node))


@said
def has_released(node: Any) -> bool:
    """Whether a node has let go of what it saved."""
    return any("freed" in error for error in errors_of_slots(node))


def errors_of_slots(node: Any) -> list[str]:
    """What torch says where what a node saved can't be read."""
    out = []
    node = node_of(node)
    for attribute in dir(node):
        if attribute.startswith(("_saved_", "_raw_saved_", "saved_tensors")):
            try:
                getattr(node, attribute)
            except RuntimeError as error:
                out.append(str(error))
    return out


@said
def end_of(way: Phrase) -> Any:
    """What is at the end of a way that was cut."""
    if "result" not in way:
        raise Undecided("what was made has no name")
    return way["result"]


@said
def comes_back(result: Any, tensor: Any) -> bool:
    """Whether a gradient of `result` would come back to a tensor."""
    if not isinstance(result, torch.Tensor) or not result.requires_grad:
        return result is tensor
    goal = tensor.grad_fn
    queue, seen = [result.grad_fn], set()
    if result is tensor:
        return True
    for node in queue:
        if node is None or node in seen:
            continue
        seen.add(node)
        if node is goal or getattr(node, "variable", None) is tensor:
            return True
        queue += [each for each, _ in node.next_functions]
    return False


@said
def grad(tensor: Any) -> Any:
    """A tensor's `.grad`."""
    tensor = live(tensor)
    return tensor.grad if tensor.is_leaf or tensor.retains_grad else None


def held_parameters(optimizer: Any) -> list[torch.Tensor]:
    return [each for group in optimizer.param_groups for each in group["params"]]


@said
def parameters(optimizer: Any) -> int:
    """How many different parameters an optimizer holds."""
    return len({id(each) for each in held_parameters(optimizer)})


@said
def contents(optimizer: Any) -> dict[int, bytes]:
    """The bytes of each parameter that an optimizer holds."""
    return {id(each): bytes_of(each) for each in held_parameters(optimizer)}


@said
def moved(optimizer: Any, before: dict[int, bytes]) -> int:
    """How many of an optimizer's parameters have other bytes than before."""
    return sum(content != before.get(key) for key, content in contents(optimizer).items())


@said
def holds(optimizer: Any, tensor: Any) -> bool:
    """Whether an optimizer holds a tensor as a parameter."""
    return any(each is tensor for each in held_parameters(optimizer))


@said
def grad_mode() -> bool:
    return torch.is_grad_enabled()


@said
def inference_mode() -> bool:
    return torch.is_inference_mode_enabled()


@said
def stride_of(tensor: Any) -> tuple[int, ...]:
    return tuple(tensor.stride())


@said
def shape_of(tensor: Any) -> tuple[int, ...]:
    return tuple(tensor.shape)


@said
def items(container: Any, deep: int = 4) -> tuple[Any, ...]:
    """What a container or an instance holds, by identity or value, and what the containers in it hold."""
    if isinstance(container, bool | int | float | str | None):
        return (container,)
    if isinstance(container, dict):
        values: Iterable[Any] = [each for pair in container.items() for each in pair]
    elif isinstance(container, list | tuple | set | frozenset | deque):
        values = container
    elif hasattr(container, "__dict__") and not isinstance(container, torch.Tensor | type):
        values = [each for pair in vars(container).items() for each in pair]
    else:
        return (id(container),)
    return (id(container), *(items(each, deep - 1) for each in values)) if deep else (id(container),)


@said
def keeps_as(node: Any, tensor: Any, name: str) -> bool:
    """Whether the `ctx` of a node has a tensor as an attribute."""
    return getattr(node_of(node), name, None) is live(tensor)


def facts_of(tensor: torch.Tensor) -> tuple[Any, ...]:
    """What can change of a tensor that stays: its version, its bytes where they are few, how it reads, its graph."""
    content: bytes | None = None
    if tensor.numel() <= 1024:
        try:
            content = bytes_of(tensor)
        except Undecided:
            content = None
    counter = None if tensor.is_inference() else tensor._version
    try:
        grad_fn = None if tensor.grad_fn is None else tensor.grad_fn.name()
    except RuntimeError:
        grad_fn = "an error"
    return counter, content, tuple(tensor.shape), tensor.requires_grad, grad_fn


__all__ = ["FUNCTIONS", "LeadsNowhere", "Phrase", "Text", "live", "node_of", "said"]
