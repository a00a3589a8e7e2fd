"""Functions of the language of claims for headlines: what a module made, what a whole run amounts to."""

import math
import re
from collections.abc import Callable
from typing import Any

import torch

from tests.referee.canonical import short_name
from tests.referee.sentences.language import held_parameters, live, reads_as, shares_memory
from tests.referee.sentences.modules import Calls, Span, norm
from tests.referee.sentences.of_findings import plain
from tests.referee.sentences.paths import LeadsNowhere, Undecided

WORDS = {
    "linear": "addmm addmv linear",
    "layer norm": "nativelayernorm",
    "batch norm": "nativebatchnorm",
    "group norm": "nativegroupnorm",
    "rms norm": "fusedrmsnorm",
    "conv": "convolution",
    "look up": "embedding",
    "mask": "maskedfill",
    "matmul": "bmm mm mv",
    "+": "add",
    "−": "sub rsub",
    "×": "mul",
    "÷": "div",
    "bce": "binarycrossentropy",
    "max pool": "maxpool2dwithindices",
    "avg pool": "avgpool2d",
    "attention": "scaleddotproduct",
    "split": "unsafesplit split",
    "view": "unsafeview view",
    "transpose": "transpose t",
    "upsample": "upsample",
}
"""What the rows of a net call an operation, and the beginnings of what torch calls its nodes."""


def rounds_to(number: float, text: str) -> bool:
    """Whether a number is written so, to as many digits."""
    wanted = plain(text)
    if not math.isfinite(number) or not math.isfinite(float(wanted)):
        return str(number) == str(float(wanted))
    digits, _, exponent = wanted.partition("e")
    step: float = 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))
    return abs(number - float(wanted)) <= 0.5001 * step + 1e-5 * abs(number)


def functions_of_runs(
    calls: Calls,
    visit: Callable[[], Any],
    anywhere: Callable[[str], Any],
    running: Callable[[], list[Span]],
    lines_around: Callable[[int], tuple[int, int]],
) -> tuple[Callable[..., Any], ...]:
    """`visit` gives the node that backward runs, `anywhere` what a name leads to, `running` what statements that run
    have made, `lines_around` the lines of a statement."""

    def modules_of(path: Any) -> list[Any]:
        """The modules that a path may mean, or the one that is meant. Raises Undecided where there is none."""
        try:
            found = anywhere(path) if isinstance(path, str) else path
        except (LeadsNowhere, Undecided):
            found = None
        if isinstance(found, torch.nn.Module) and id(found) in calls.modules:
            return [found]
        named = calls.called(path) if isinstance(path, str) else []
        if not named:
            raise Undecided("no module that was called is called so")
        return named

    def runs_word(word: str) -> bool:
        """Whether backward is at a node that rows call so."""
        name = (short_name(visit().name) or "").lower().replace("_", "")
        wanted = WORDS.get(word, word.replace(" ", "")).split()
        return bool(name.startswith(tuple(wanted)))

    def sends_count(n: int) -> bool:
        """Whether the node sends so many gradients on."""
        return bool(sum(visit().sent) == n)

    def made_in(path: str) -> bool:
        """Whether a call of a module made the node that runs."""
        meant = {id(each) for each in modules_of(path)}
        if visit().name in ("BackwardHookFunctionBackward", "CheckpointFunctionBackward", "MkldnnRnnLayerBackward0"):
            raise Undecided("no module made it")
        return calls.is_in(calls.spans, visit().node, meant.__contains__)

    def made_on(line: int) -> bool:
        """Whether a statement that has a line made the node that runs."""

        def has_line(lines: tuple[int, int]) -> bool:
            return lines[0] <= line <= lines[1]

        spans = sorted(running(), key=lambda span: span[1])
        return any(calls.is_in(each, visit().node, has_line) for each in (calls.lines, spans))

    def made_in_loop(line: int) -> bool:
        """Whether a statement within the loop that has a line made the node that runs."""
        first, last = lines_around(line)
        spans = sorted(running(), key=lambda span: span[1])
        return any(
            calls.is_in(each, visit().node, lambda lines: first <= lines[0] <= lines[1] <= last)
            for each in (calls.lines, spans)
        )

    def arrives_with(norm: str) -> bool:
        """Whether the gradient that comes to a leaf has a norm that is written so."""
        found = visit().norm
        if found is None:
            raise Undecided("the gradient is large")
        return rounds_to(found, norm)

    def returns_shape(path: str, shape: str) -> bool:
        """Whether the last call of a module returned a tensor with a shape that is written so."""
        found = [calls.outputs.get(id(each)) for each in modules_of(path)]
        if None in found:
            raise Undecided("it returned no tensor, or runs still")
        return shape in ["×".join(map(str, each or ())) or "scalar" for each in found]

    def has_made(names: str, shape: str) -> bool:
        """Whether the first of the names of a line leads to a tensor with a shape that is written so."""
        first = names.split(",")[0]
        if not re.fullmatch(r"[^\W\d]\w*(\.\w+)*", first):
            raise Undecided("what was made has no name")
        thing = anywhere(first)
        if not is_tensor(thing):
            raise Undecided(f"{first} is no tensor")
        return ("×".join(map(str, thing.shape)) or "scalar") == shape

    def is_module_called(path: str) -> bool:
        """Whether a module that is called so was called, or is running."""
        return bool(modules_of(path))

    def calls_of(module: Any) -> int:
        """How often the program called a module, other than by a module."""
        return calls.roots[id(live(module))]

    def may_be_rounds(n: int) -> bool:
        """Whether there may have been so many rounds: at least as often as a line stepped one optimizer, at most as
        often as lines stepped any."""
        if not calls.steps:
            raise Undecided("no optimizer stepped")
        return max(calls.steps.values()) <= n <= calls.steps.total()

    def loss_reads(first: str, last: str, lowest: str | None = None) -> bool:
        """Whether a line called backward on numbers that are written so."""
        series = [each for each in calls.losses.values() if each]
        if not series:
            raise Undecided("backward was called on no number")

        def fits(values: list[float]) -> bool:
            said = [first, last] if lowest is None else [first, last, lowest]
            return all(any(rounds_to(value, each) for value in values) for each in said)

        return any(map(fits, series))

    def is_tensor(thing: Any) -> bool:
        return isinstance(thing, torch.Tensor)

    def moves(parameter: Any) -> bool:
        """Whether a step changed a parameter."""
        return id(live(parameter)) in calls.updated

    def is_held(parameter: Any) -> bool:
        """Whether an optimizer that stepped holds a parameter."""
        return id(live(parameter)) in calls.held()

    def times_called(path: Any) -> int:
        """How often a module was called at all."""
        return max(calls.times[id(each)] for each in modules_of(path))

    def norm_now(parameters: list[Any]) -> float:
        return math.hypot(*(norm(live(each)) for each in parameters))

    def first_norm(parameters: list[Any]) -> float:
        """The norm of parameters before the first step that may change them."""
        return math.hypot(*(calls.norms.get(id(each), norm(live(each))) for each in parameters))

    def last_gradient(parameters: list[Any]) -> float:
        """The norm of the gradients that the last steps read, or, where there was none, that are there."""
        now = {id(each): norm(each.grad) for each in map(live, parameters) if each.grad is not None}
        found = [(calls.gradients if id(each) in calls.gradients else now).get(id(each)) for each in parameters]
        if all(each is None for each in found):
            raise Undecided("no step read a gradient")
        return math.hypot(*(each or 0.0 for each in found))

    def moved_last(optimizer: Any) -> int:
        """How many of its parameters the last step of an optimizer changed."""
        found = [calls.moved_last.get(id(each)) for each in held_parameters(optimizer)]
        if None in found or b"" in [calls.before[id(each)] for each in held_parameters(optimizer)]:
            raise Undecided("what the step changed was not seen")
        return len({id(each) for each, is_moved in zip(held_parameters(optimizer), found, strict=True) if is_moved})

    def read_before(tensor: Any, text: str) -> bool:
        """Whether the numbers of a parameter before the last step of an optimizer are those of a text."""
        if id(tensor) not in calls.values:
            raise Undecided("what was before the step was not seen")
        return bool(reads_as(calls.values[id(tensor)], text))

    def has_stepped(optimizer: Any) -> bool:
        """Whether the statement ran a step of an optimizer."""
        return id(optimizer) in calls.stepping

    def norm_reads(number: float, text: str) -> bool:
        return rounds_to(number, text)

    def has_numbers(thing: Any, cells: list[Any] | None, shape: list[int]) -> bool:
        """Whether a tensor or an array has a shape, and these numbers in its order, where they are listed."""
        found = torch.as_tensor(thing).detach()
        if list(found.shape) != shape:
            return False
        listed = [float(each["$f"]) if isinstance(each, dict) else each for each in cells or []]
        if not all(isinstance(each, int | float) for each in listed) or len(listed) != found.numel():
            raise Undecided("its numbers are not listed")
        wanted = torch.tensor(listed, dtype=torch.float64).reshape(found.shape)
        return bool(torch.allclose(found.to_dense().double(), wanted, rtol=1e-4, atol=1e-6, equal_nan=True))

    def leads_there(names: list[Any], thing: Any) -> bool:
        """Whether each name that leads anywhere leads to the memory of a thing."""
        for name in names:
            try:
                other = anywhere(str(name))
            except (LeadsNowhere, Undecided):
                continue
            if other is not thing and not shares_memory(other, thing):
                return False
        return True

    return (
        times_called,
        norm_now,
        first_norm,
        last_gradient,
        moved_last,
        read_before,
        has_stepped,
        norm_reads,
        has_numbers,
        leads_there,
        runs_word,
        sends_count,
        made_in,
        made_on,
        arrives_with,
        returns_shape,
        has_made,
        is_module_called,
        calls_of,
        may_be_rounds,
        loss_reads,
        moves,
        is_held,
        made_in_loop,
    )
