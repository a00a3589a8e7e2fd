"""Functions of the language of claims that ask the run: what a name leads to there, what is new, what backward does."""

import io
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from types import FrameType
from typing import Any

import torch

from tests.referee.canonical import short_name
from tests.referee.sentences import language, of_findings
from tests.referee.sentences.earlier import Seen, shares_storage
from tests.referee.sentences.frames import Frames, program_frames, suspended, variables
from tests.referee.sentences.modules import Calls, Span
from tests.referee.sentences.of_runs import functions_of_runs
from tests.referee.sentences.paths import LeadsNowhere, Undecided, live_object
from tests.referee.sentences.probed_program import Place
from tests.referee.sentences.visits import Visit, is_in_backward


@dataclass
class Moment:
    """What there is to ask of the run just now.

    step: the trace's, which is being judged, or was the last
    passed: statements, heads, calls and returns that were not recorded, between the step before and this one;
    passed_nodes: nodes of a backward
    visits: by frame, how many nodes backward has run since the frame's last statement
    came: by leaf, how many gradients have come; at_first: its bytes when the first one came
    arrivals: how many have come to leaves; broken_arrivals: with NaN or inf; leaves_met: to which leaves, also
        those that are gone; met: by id
    lines: of the program; places: of its statements; has_generators: a function of it yields
    visited: the node that backward has just run
    arrived: by frame, the leaves to which a backward brought gradients since the frame's last statement, and whether
        there was one before
    shown: what the statement evaluated to
    returned: what the function returns
    error: what was raised
    out: what was printed; at the step before it had `printed` characters
    calls: what modules and optimizers did
    """

    frames: Frames
    seen: Seen
    step: int = -1
    passed: int = 0
    passed_nodes: int = 0
    visits: dict[int, int] = field(default_factory=dict)
    came: dict[int, int] = field(default_factory=dict)
    at_first: dict[int, bytes] = field(default_factory=dict)
    arrivals: int = 0
    broken_arrivals: int = 0
    leaves_met: list[Any] = field(default_factory=list)
    met: dict[int, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    has_generators: bool = False
    visited: Visit | None = None
    arrived: dict[int, dict[int, bool]] = field(default_factory=dict)
    shown: Any = None
    returned: Any = None
    error: BaseException | None = None
    out: io.StringIO = field(default_factory=io.StringIO)
    printed: int = 0
    calls: Calls = field(default_factory=Calls)

    def lines_around(self, line: int) -> tuple[int, int]:
        """The first line and the last of the innermost statement that has a line."""
        around = [(p.line, p.end_line) for p in self.places if p.line <= line <= p.end_line]
        return min(around, key=lambda lines: lines[1] - lines[0], default=(line, line))

    def visit(self) -> Visit:
        if self.visited is None:
            raise Undecided("no node runs")
        return self.visited


def functions_of(moment: Moment, reader: FrameType) -> dict[str, Any]:
    """The functions of the language, with those that ask this run."""

    def at(text: str) -> Any:
        """What a name leads to."""
        return live_object(str(text), lambda name: moment.frames.variable(reader, name))

    def owner(text: str) -> Any:
        """Of `opt.step()`, what `opt` leads to."""
        return at(str(text).rpartition(".")[0])

    def is_bound(text: str) -> bool:
        return str(text) in variables(reader)

    def is_new(thing: Any) -> bool:
        """Whether a tensor was not there before the step."""
        if not isinstance(thing, torch.Tensor):
            raise Undecided("when it was made is not noted")
        return moment.seen.moment_of(thing, moment.step) == moment.step

    def has_own_memory(thing: Any) -> bool:
        """Whether its memory was not there before the step, or no other tensor that lives reads it."""
        is_new = moment.seen.moment_of_storage(thing, moment.step) == moment.step
        return is_new or not any(each is not thing and shares_storage(each, thing) for each in moment.seen.tensors())

    def has_new_result(node: Any) -> bool:
        """Whether a node made a tensor that was not there before the step."""
        results = [each for each in moment.seen.tensors() if each.grad_fn is language.node_of(node)]
        if not results:
            raise Undecided("its results are gone")
        return any(map(is_new, results))

    def is_named(thing: Any) -> bool:
        """Whether a variable of a running function is bound to it."""
        found = language.live(thing)
        return any(
            found is value for frame in program_frames(moment.frames.inner) for value in variables(frame).values()
        )

    def has_one_name(thing: Any) -> bool:
        """Whether one variable's name, of a function or of several, leads to it."""
        frames = list(program_frames(moment.frames.inner))
        return len({name for each in frames for name, value in variables(each).items() if value is thing}) == 1

    def printed() -> str:
        """What the step has printed."""
        return moment.out.getvalue()[moment.printed :]

    def entered(text: str) -> bool:
        """Whether `net.forward()` says which function runs."""
        inner = moment.frames.inner
        return inner is not None and str(text).removesuffix("()").rpartition(".")[2] == inner.f_code.co_name

    def inside(text: str) -> Any:
        """What a name leads to in the function that begins."""
        inner = moment.frames.inner
        if inner is None:
            raise Undecided("no function begins")
        return live_object(str(text), partial(moment.frames.variable, inner))

    def returned() -> Any:
        """What the function returns."""
        return moment.returned

    def shown() -> Any:
        """What the statement evaluated to."""
        return moment.shown

    def runs(label: str) -> bool:
        """Whether backward is at a node that is called so."""
        return bool(language.is_called(moment.visit().name, label))

    def is_visited(node: Any) -> bool:
        """Whether backward is at a node."""
        return language.node_of(node) is moment.visit().node

    def runs_operation(name: str) -> bool:
        """Whether backward is at the node of an operation: `log_softmax` is a LogSoftmaxBackward0."""
        label = str(name).removesuffix("_").replace("_", "").lower()
        return (short_name(moment.visit().name) or "").lower().startswith(label)

    def sends(count: int, targets: Any) -> bool:
        """Whether the node sends so many gradients, to these and to no others."""
        return moment.visit().sends(count, targets if isinstance(targets, list) else [targets])

    def passes_zeros(leaf: Any) -> bool:
        """Whether what the node sends on to a leaf is zeros."""
        edges = moment.visit().edges_to(language.live(leaf))
        return bool(edges) and all(moment.visit().zeros[edge] for edge in edges)

    def passes_none(leaf: Any) -> bool:
        """Whether the node leads to a leaf and sends nothing there."""
        edges = moment.visit().edges_to(language.live(leaf))
        return bool(edges) and not any(moment.visit().sent[edge] for edge in edges)

    def leaf() -> Any:
        """The tensor at which a gradient arrives."""
        return moment.visit().leaf()

    def leaves_reached() -> int:
        """To how many leaves a gradient came since the last statement of the function."""
        return len(moment.arrived.get(id(moment.frames.inner), ()))

    def has_reached(thing: Any) -> bool:
        """Whether a gradient came to a leaf since then."""
        return id(language.live(thing)) in moment.arrived.get(id(moment.frames.inner), ())

    def was_added(thing: Any) -> bool:
        """Whether it was added to one."""
        return moment.arrived.get(id(moment.frames.inner), {}).get(id(language.live(thing)), False)

    def passed() -> int:
        """How many statements, heads, calls and returns passed unrecorded before."""
        if moment.has_generators:
            raise Undecided("a generator yields and resumes, and has no probe there")
        return moment.passed

    def passed_nodes() -> int:
        """How many nodes backward ran unrecorded before."""
        return moment.passed_nodes

    def gives_back(count: int) -> bool:
        """Whether so many pieces of memory that tensors had are gone. What no tensor of Python's had is not seen."""
        found = moment.seen.freed()
        if found < count:
            raise Undecided("memory without a tensor of Python's")
        return found == count

    def error() -> Any:
        """The exception that is on its way."""
        return moment.error

    def the(thing: Any) -> Any:
        """What a finding's name means: the entity that it notes, else what the name leads to."""
        if is_statement(thing):
            raise Undecided("it is an expression, not a name")
        return anywhere(thing) if isinstance(thing, language.Text) else language.live(thing)

    def anywhere(text: str) -> Any:
        """What a name leads to, in the function that is read or another that runs."""
        try:
            return at(text)
        except LeadsNowhere:
            for frame in program_frames(moment.frames.inner):
                if re.split(r"[.\[]", text)[0] in variables(frame):
                    return live_object(text, partial(moment.frames.variable, frame))
            raise Undecided("no variable is called so in a function that runs") from None

    def named(text: str) -> Any:
        """What a name leads to that may be said with its function: `x in forward()`, `x of the module`."""
        name, _, call = str(text).removesuffix(" of the module").partition(" in ")
        scope = call or ("module" if str(text) != name else None)
        root = re.split(r"[.\[]", name)[0]
        frame = moment.frames.scoped(scope, reader, lambda each: root in variables(each))
        return live_object(name, partial(moment.frames.variable, frame))

    def leads(name: str) -> bool:
        """Whether a name leads anywhere: also one of a function that waits, or of a class."""
        name = str(name)
        try:
            anywhere(name)
        except (LeadsNowhere, Undecided):
            return any(leads_from(name, frame) for frame in suspended())
        return True

    def leads_from(name: str, frame: FrameType) -> bool:
        try:
            live_object(name, partial(moment.frames.variable, frame))
        except (LeadsNowhere, Undecided):
            return False
        return True

    def found(thing: Any, things: list[Any]) -> Any:
        """What a name means; where it leads nowhere yet, the first entity that is meant."""
        try:
            return the(thing)
        except (LeadsNowhere, Undecided):
            return the(things[0]) if things else the(thing)

    def is_statement(text: Any) -> bool:
        """Whether a text is no name but what a line does."""
        return isinstance(text, language.Text) and not re.fullmatch(r"[^\s(=]+", text)

    def part(owner: Any, name: Any) -> Any:
        """The attribute of an object that a name without the object means; else what the name leads to."""
        return the(name) if is_bound(name) else getattr(the(owner), str(name).partition("[")[0])

    def gradient(thing: Any) -> Any:
        """What a text like `x.grad` leads to; of a tensor without a name, its `.grad`."""
        if not isinstance(thing, language.Text):
            return language.grad(thing)
        return language.grad(at(str(thing).removesuffix(".grad"))) if str(thing).endswith(".grad") else at(thing)

    def who(thing: Any) -> int | None:
        """Which object a name leads to; None where it leads nowhere."""
        try:
            return of_findings.identity(the(thing))
        except (LeadsNowhere, Undecided):
            return None

    def stands(code: Any, line: int) -> bool:
        """Whether a text is the statement that has a line, or begins in it; what `…` leaves out aside."""
        pieces = [re.sub(r"\s+", "", piece) for piece in str(code).split("…")]

        def begins(line: int) -> bool:
            first, text = (re.sub(r"\s+", "", "".join(moment.lines[line - 1 : end])) for end in (line, line + 40))
            return text.find(pieces[0]) in range(max(1, len(first))) and all(piece in text for piece in pieces)

        return begins(line) or begins(moment.lines_around(line)[0])

    def raises(text: str) -> bool:
        """Whether an exception with this in its message is on its way."""
        wanted, found = (" ".join(str(each).split()) for each in (text, moment.error))
        return moment.error is not None and wanted.removesuffix("…") in found

    def ran_backward() -> bool:
        """Whether the statement ran nodes of a graph, or is running them."""
        return moment.visits.get(id(moment.frames.inner), 0) > 0 or is_in_backward(moment.frames.inner)

    def gradients_of(thing: Any) -> int:
        """How many gradients have come to a leaf so far."""
        return moment.came.get(id(the(thing)), 0)

    def leaves_met() -> int:
        """To how many leaves gradients have come."""
        return len(moment.leaves_met)

    def arrivals() -> int:
        """How many gradients have come to leaves."""
        return moment.arrivals

    def broken_arrivals() -> int:
        """How many of them have NaN or inf."""
        return moment.broken_arrivals

    def held_without_gradient() -> int:
        """How many parameters of optimizers that stepped never got one."""
        return len(moment.calls.held() - set(moment.met))

    def ever_held_without_gradient() -> int:
        """The same of all that an optimizer was given, also one that never stepped or is gone."""
        met = set(map(id, moment.leaves_met))
        return len([each for each in moment.calls.ever_held if id(each) not in met])

    def has_moved(thing: Any) -> bool:
        """Whether a leaf has other bytes than when the first gradient came to it."""
        leaf = the(thing)
        if id(leaf) not in moment.at_first:
            raise Undecided("no gradient has come to it")
        return language.content(leaf) != moment.at_first[id(leaf)]

    def tensors() -> dict[int, tuple[Any, ...]]:
        """Of each tensor that is there, what can change without a new one."""
        moment.seen.look(moment.step)  # reading what nodes keep makes objects of tensors that were there
        return {id(each): language.facts_of(each) for each in moment.seen.tensors()}

    asking: tuple[Callable[..., Any], ...] = (
        at,
        owner,
        is_bound,
        is_new,
        has_own_memory,
        has_new_result,
        is_named,
        has_one_name,
        printed,
        entered,
        returned,
        shown,
        runs,
        is_visited,
        runs_operation,
        inside,
        sends,
        passes_zeros,
        passes_none,
        leaf,
        leaves_reached,
        has_reached,
        was_added,
        passed,
        passed_nodes,
        gives_back,
        error,
        tensors,
        the,
        named,
        leads,
        found,
        part,
        is_statement,
        gradient,
        who,
        stands,
        raises,
        ran_backward,
        gradients_of,
        leaves_met,
        arrivals,
        broken_arrivals,
        held_without_gradient,
        ever_held_without_gradient,
        has_moved,
    )

    def running() -> list[Span]:
        """What the statements that run have made so far."""
        frames = list(program_frames(moment.frames.inner))
        return [moment.calls.running(id(each), moment.lines_around(each.f_lineno)) for each in frames]

    of_runs = functions_of_runs(moment.calls, moment.visit, anywhere, running, moment.lines_around)
    return {**language.FUNCTIONS, **{each.__name__: each for each in (*asking, *of_runs)}}
