"""A trap: a program that meets it, what has to hold of the run, and planted faults that step into it on purpose.

A planted fault works from outside the recorder: it makes torch answer as a careless reader would understand it, adds a
careless glance to each look, or changes the steps on their way out as a tracer with a simpler model would tell them.
"""

import contextlib
import json
import resource
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from gradbox.recorder.observer import Observer
from gradbox.wire.trace import Trace
from server.worker.program_run import ProgramRun, run_program_and_exit
from tests.forks.fork_host import Write, forked
from tests.forks.plain_python import call_in_plain, run_plain
from tests.support.tracing import CPU_SECONDS, Replay, events

Step = dict[str, Any]


def lines_of_fork(source: str, before: Callable[[], None] = lambda: None, **job: Any) -> list[dict[str, Any]]:
    """The lines that a fork of this process writes for a program. `before`, any function, is called in it first."""

    def act(write: Write) -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        warnings.resetwarnings()  # the strictness of tests is not the program's
        try:
            before()
        except BaseException:
            write(json.dumps({"fault": traceback.format_exc()}).encode() + b"\n")
            return
        run_program_and_exit({"source": source, **job}, write)  # type: ignore[typeddict-item]

    return [json.loads(line) for line in forked(act).splitlines()]


@cache
def lines_of_clean_process(source: str) -> list[dict[str, Any]]:
    """The lines that a process writes in which no backward ran before: autograd's threads don't live on in a fork."""
    lines: list[dict[str, Any]] = call_in_plain(lines_of_fork, source)
    return lines


class Seen:
    """A traced run of a program; a child that died left the steps until then and the outcome `crashed`."""

    def __init__(self, source: str, messages: list[dict[str, Any]]) -> None:
        broken = [line["fault"] for line in messages if "fault" in line]
        if broken:
            raise RuntimeError(broken[0])
        self.source = source
        self.steps: list[Step] = [line["step"] for line in messages if "step" in line]
        last = (
            messages[-1] if messages and "outcome" in messages[-1] else {"outcome": {"status": "crashed"}, "cost": {}}
        )
        self.outcome: dict[str, Any] = last["outcome"]
        self.trace = {**(messages[0]["header"] if messages else {}), "steps": self.steps, **last}

    @cached_property
    def end(self) -> Replay:
        return Replay(self.trace)

    def after(self, line: int) -> Replay:
        """The picture after the last step at a line."""
        return Replay(self.trace, max(step["i"] for step in self.steps if step["line"] == line))

    @cached_property
    def printed(self) -> str:
        log = [entry for step in self.steps for entry in step["log"]]
        return "".join(entry["text"] for entry in log if entry["kind"] == "out" and entry["stream"] == "stdout")

    def lines(self, event: str) -> list[int]:
        """The lines at which such an event is recorded."""
        return [event_step["line"] for event_step in events(self.trace, event)]

    @property
    def faults(self) -> list[str]:
        return [event["text"] for event in events(self.trace, "tracer_fault")]

    @property
    def visits(self) -> list[dict[str, Any]]:
        return [step["visit"] for step in self.steps if "visit" in step]

    def ends_as_plain(self) -> None:
        """The program printed and ended as CPython alone says."""
        truth = run_plain(self.source)
        assert self.printed == truth["printed"]
        error = self.outcome.get("error")
        assert self.outcome["status"] == ("raised" if truth["error"] else "finished")
        assert (error and [error["type"], error["message"], error["line"]]) == truth["error"]

    def is_plain(self) -> None:
        """As above, and the recorder reports no fault of its own."""
        self.ends_as_plain()
        assert self.faults == []


@dataclass(frozen=True)
class PlantedFault:
    """A way to step in.

    apply: called in the child before the program
    fault: words of the fault that it makes the recorder report, for it may make it report no other
    source: the program that it takes instead of the trap's
    """

    apply: Callable[[], None] = lambda: None
    fault: str = ""
    source: str | None = None


@dataclass(frozen=True)
class Trap:
    """given: called in the child in any case
    gap: why the recorder does not avoid this one yet
    needs_threads: whether autograd's own threads run in it
    """

    number: int
    name: str
    source: str
    holds: Callable[[Any], None]
    planted_faults: dict[str, PlantedFault]
    given: Callable[[], None] = lambda: None
    limits: dict[str, int] = field(default_factory=dict)
    gap: str = ""
    needs_threads: bool = False

    @property
    def id(self) -> str:
        return f"{self.number:02}-{self.name}"

    def run(self, planted_fault: PlantedFault | None = None) -> Any:
        """What `holds` is asked about, with the planted fault or without it."""

        def before() -> None:
            self.given()
            if planted_fault is not None:
                planted_fault.apply()

        source = planted_fault.source if planted_fault is not None and planted_fault.source is not None else self.source
        if self.needs_threads and planted_fault is None:
            seen = Seen(source, lines_of_clean_process(source))
        else:
            seen = Seen(source, lines_of_fork(source, before, limits=self.limits))
        if planted_fault is None:
            Trace.model_validate(seen.trace)
        return seen


# Ways to step in


def after_each_observation(glance: Callable[[], Any]) -> Callable[[], None]:
    """The recorder looks as it does, and then takes one more glance."""

    def apply() -> None:
        observe = Observer.observe

        def observing(self: Observer, *args: Any, **kwargs: Any) -> Any:
            observation = observe(self, *args, **kwargs)
            glance()
            return observation

        Observer.observe = observing

    return apply


def around_each_observation(manner: Callable[[], contextlib.AbstractContextManager[Any]]) -> Callable[[], None]:
    """The recorder looks in this manner."""

    def apply() -> None:
        observe = Observer.observe

        def observing(self: Observer, *args: Any, **kwargs: Any) -> Any:
            with manner():
                return observe(self, *args, **kwargs)

        Observer.observe = observing

    return apply


def on_each_step(change: Callable[[Any], None]) -> Callable[[], None]:
    """Each step is changed on its way out."""

    def apply() -> None:
        write = ProgramRun._write_step

        def writing(self: ProgramRun, step: Any) -> int:
            change(step)
            return write(self, step)

        ProgramRun._write_step = writing

    return apply


def instead(home: Any, name: str, new: Any) -> Callable[[], None]:
    """`home.name` is replaced, and wherever the worker took it from there."""

    def apply() -> None:
        old = getattr(home, name)
        setattr(home, name, new)
        for module in [module for key, module in sys.modules.items() if key.startswith(("server.worker", "gradbox."))]:
            for key in [key for key, value in vars(module).items() if value is old]:
                setattr(module, key, new)

    return apply


def put(where: Any, **members: Any) -> Callable[[], None]:
    """Members of a class or module, replaced."""

    def apply() -> None:
        for name, value in members.items():
            if not hasattr(where, name):
                raise RuntimeError(f"{where} has no {name}")
            setattr(where, name, value)

    return apply


def around_engine(engine: Callable[..., Any]) -> Callable[[], None]:
    """Every backward goes through `engine(run, roots, *args, **kwargs)`."""

    def apply() -> None:
        autograd: Any = torch.autograd
        run = autograd._engine_run_backward
        autograd._engine_run_backward = lambda *args, **kwargs: engine(run, *args, **kwargs)

    return apply


class Nothing(TorchFunctionMode):
    """Sees every call of torch and does what was asked."""

    def __torch_function__(self, function: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
        return function(*args, **(kwargs or {}))


def in_a_function_mode() -> None:
    Nothing().__enter__()


# What a glance finds


def names() -> dict[str, Any]:
    """The program's names of its module."""
    return vars(sys.modules["__main__"])


def tensors() -> list[torch.Tensor]:
    return [value for value in list(names().values()) if isinstance(value, torch.Tensor)]


def nodes(start: Any) -> Iterator[Any]:
    """A node and those behind it, each once."""
    seen, queue = set(), [start]
    while queue:
        node = queue.pop()
        if node is not None and node not in seen:
            seen.add(node)
            queue += [other for other, _ in node.next_functions]
            yield node
