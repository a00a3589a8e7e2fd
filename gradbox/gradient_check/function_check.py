"""Compares the backward of each of the program's own Functions with the slope of its forward at the arguments of its
call.

A Function whose forward is flat, or passes its input on, has a different backward on purpose (straight-through, a
surrogate, a gradient reversal), so it is not judged.
"""

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import monotonic, process_time  # the program may have replaced those of the module
from types import FrameType
from typing import Any

import torch

from gradbox.recorder.probes.function_calls import FunctionCall
from gradbox.wire.events import FunctionChecked

MAX_SECONDS = 0.5
"""Processor seconds for all Functions of a run. Those that are not reached are not judged."""

MAX_WALL_SECONDS = 5.0
"""Wall-clock seconds, for a forward that waits."""

MAX_ELEMENTS = 12
"""Elements of an input that are varied."""

RELATIVE_PERTURBATION = 2.0**-17
"""By how much an element around 1 is varied, in float64."""

MIN_DIFFERENCE = 0.02
"""The relative difference from the slope that counts. A smaller one may be a solver's tolerance."""

INCOMING_GRADIENTS = (2.0, 3.0, 5.0, 7.0)
"""The gradients that come into the Function's backward, one after the other, so that a lost factor shows."""


class FunctionNotComparable(Exception):
    """The Function's backward can't be judged."""


class CheckTimedOut(BaseException):
    """The time is over. The program's `except Exception` does not catch this."""


def check_functions(calls: Iterable[FunctionCall]) -> list[FunctionChecked]:
    """Events for the Functions whose backward, or the backward of it, is not the derivative; at most one for each."""
    found: list[FunctionChecked] = []
    is_time_up = start_time_limit()
    try:
        for call in calls:
            if is_time_up():
                break
            with time_limit_enforced(is_time_up):
                event = check_call(call)
                if event is not None:
                    found.append(event)
    except BaseException:
        pass  # the program may have left anything behind; what is found until then is right
    return found


def start_time_limit() -> Callable[[], bool]:
    """A function that tells whether the time for a check that starts now is over."""
    processor_end, wall_end = process_time() + MAX_SECONDS, monotonic() + MAX_WALL_SECONDS
    return lambda: process_time() > processor_end or monotonic() > wall_end


@contextmanager
def time_limit_enforced(is_time_up: Callable[[], bool]) -> Iterator[None]:
    """Raise CheckTimedOut in Python code inside the block once the time is up."""

    def trace(_frame: FrameType, _event: str, _argument: Any) -> Any:
        if is_time_up():
            raise CheckTimedOut
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def check_call(call: FunctionCall) -> FunctionChecked | None:
    """The event for a wrong backward of a Function; None if it is right, or can't be judged."""
    try:
        with torch.enable_grad():
            return FunctionCheck(call).event()
    except CheckTimedOut:
        raise
    except BaseException:
        return None  # it does not run in float64, or once more; it may want to end the process


class FunctionCheck:
    """One Function at one call, in float64."""

    def __init__(self, call: FunctionCall) -> None:
        self._function, self._arguments = call.function, call.arguments
        self._varied = [
            k for k, argument in enumerate(call.arguments)
            if isinstance(argument, torch.Tensor) and argument.is_floating_point() and argument.requires_grad
        ]  # fmt: skip

    def event(self) -> FunctionChecked | None:
        """Check the backward and, if it is right, its own backward."""
        inputs = self._inputs()
        outputs = self._run(inputs)
        if any(not torch.equal(a, b) for a, b in zip(outputs, self._run(self._inputs(), seed=1), strict=True)):
            raise FunctionNotComparable  # it draws random numbers
        if all(any(_is_same(output, inputs[k]) for output in outputs) for k in self._varied[:1]):
            return None  # it hands its input on: whatever its backward does is meant
        weights = [_sample_incoming_gradient_like(output) for output in outputs]
        got = self._gradients(weights, create_graph=False)
        wanted = self._numeric_slopes_of_inputs(lambda: self._weighted_sum(weights))
        event = self._first_element_that_differs(1, got, wanted)
        if event is not None:
            event["ignores_incoming"] = self._ignores_incoming_gradient(got, weights)
            return event
        return self._check_second_order(weights) if self._varied else None

    def _inputs(self) -> list[Any]:
        return [
            argument.detach().double().clone().requires_grad_(argument.requires_grad)
            if isinstance(argument, torch.Tensor) and argument.is_floating_point()
            else argument
            for argument in self._arguments
        ]

    def _run(self, inputs: list[Any], seed: int = 0) -> list[torch.Tensor]:
        """The differentiable outputs. Raises FunctionNotComparable if one is not float64."""
        if torch.cuda._initialized:
            torch.manual_seed(seed)
        else:  # where that would keep the stack for each kind of accelerator, which takes milliseconds
            torch.default_generator.manual_seed(seed)
        result = self._function.apply(*inputs)
        outputs = [out for out in (result if isinstance(result, tuple) else (result,)) if isinstance(out, torch.Tensor)]
        outputs = [output for output in outputs if output.is_floating_point() and output.requires_grad]
        if not outputs or any(output.dtype != torch.float64 for output in outputs):
            raise FunctionNotComparable
        return outputs

    def _weighted_sum(self, weights: list[torch.Tensor]) -> float:
        outputs = self._run(self._moved)
        return sum(float((output.detach() * weight).sum()) for output, weight in zip(outputs, weights, strict=True))

    def _gradients(self, weights: list[torch.Tensor], create_graph: bool) -> list[torch.Tensor | None]:
        inputs = self._inputs()
        wanted = [inputs[k] for k in self._varied]
        outputs = self._run(inputs)
        self._graph_inputs = wanted
        return list(
            torch.autograd.grad(outputs, wanted, grad_outputs=weights, allow_unused=True, create_graph=create_graph)
        )

    def _numeric_slopes_of_inputs(self, value: Callable[[], float]) -> list[dict[int, float]]:
        """For each input, the slopes along some of its elements, except for elements at a kink."""
        slopes = []
        middle_inputs = self._inputs()
        self._moved = middle_inputs
        middle = value()
        for k in self._varied:
            size = middle_inputs[k].numel()
            of_input: dict[int, float] = {}
            for element in range(0, size, max(1, math.ceil(size / MAX_ELEMENTS))):
                step = RELATIVE_PERTURBATION * max(1.0, abs(float(middle_inputs[k].detach().flatten()[element])))
                ends = []
                for by in (step, -step):
                    self._moved = self._inputs()
                    with torch.no_grad():
                        self._moved[k].view(-1)[element] += by
                    ends.append(value())
                right, left = (ends[0] - middle) / step, (middle - ends[1]) / step
                slope = (right + left) / 2
                if math.isfinite(slope) and abs(right - left) <= 1e-3 * max(1.0, abs(slope)):
                    of_input[element] = slope
            slopes.append(of_input)
        return slopes

    def _first_element_that_differs(
        self, order: int, got: list[torch.Tensor | None], wanted: list[dict[int, float]]
    ) -> FunctionChecked | None:
        """The first element that differs. Raises FunctionNotComparable if forward is flat and backward is not, which is
        intentional."""
        differing = None
        for k, gradient, slopes in zip(self._varied, got, wanted, strict=True):
            if gradient is None:
                if order == 1 or not any(slopes.values()):
                    continue  # an argument that is meant to get none
                gradient = torch.zeros_like(self._arguments[k], dtype=torch.float64)
            values = {element: float(gradient.detach().flatten()[element]) for element in slopes}
            scale = max(map(abs, [*slopes.values(), *values.values(), 1e-12]))
            if any(abs(slopes[e]) <= 1e-6 * scale < MIN_DIFFERENCE * abs(values[e]) for e in slopes):
                raise FunctionNotComparable
            for element, slope in slopes.items():
                value = values[element]
                if differing is None and abs(value - slope) > MIN_DIFFERENCE * max(abs(slope), 1e-3 * scale):
                    differing = (k, element, value, slope)
        if differing is None:
            return None
        k, element, value, slope = differing
        return {
            "kind": "event", "event": "function_checked", "function": self._function.__name__, "order": order,
            "argument": k, "element": element, "incoming": INCOMING_GRADIENTS[0], "got": value, "wanted": slope,
        }  # fmt: skip

    def _ignores_incoming_gradient(self, got: list[torch.Tensor | None], weights: list[torch.Tensor]) -> bool:
        """Whether doubling the incoming gradient changes nothing."""
        doubled = self._gradients([2 * weight for weight in weights], create_graph=False)
        return all(a is None or b is None or torch.equal(a, b) for a, b in zip(got, doubled, strict=True))

    def _check_second_order(self, weights: list[torch.Tensor]) -> FunctionChecked | None:
        def combined() -> float:
            self._arguments, before = tuple(self._moved), self._arguments
            try:
                gradients = self._gradients(weights, create_graph=False)
            finally:
                self._arguments = before
            return sum(float((g * _sample_incoming_gradient_like(g)).sum()) for g in gradients if g is not None)

        gradients = [g for g in self._gradients(weights, create_graph=True) if g is not None]
        total = sum((g * _sample_incoming_gradient_like(g)).sum() for g in gradients)
        second: list[torch.Tensor | None] = [None] * len(self._varied)
        if isinstance(total, torch.Tensor) and total.requires_grad:
            second = list(torch.autograd.grad(total, self._graph_inputs, allow_unused=True))
        return self._first_element_that_differs(2, second, self._numeric_slopes_of_inputs(combined))


def _sample_incoming_gradient_like(output: torch.Tensor) -> torch.Tensor:
    numbers = torch.tensor(
        [INCOMING_GRADIENTS[k % len(INCOMING_GRADIENTS)] for k in range(output.numel())], dtype=torch.float64
    )
    return numbers.reshape(output.shape)


def _is_same(output: torch.Tensor, given: torch.Tensor) -> bool:
    return output.shape == given.shape and torch.equal(output.detach(), given.detach())
