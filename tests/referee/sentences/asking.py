"""Functions of the language of claims that ask the run: what a name leads to there, what is new, what backward does."""

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from tests.referee.sentences import language
from tests.referee.sentences.earlier import Seen
from tests.referee.sentences.frames import Frames, program_frames, variables
from tests.referee.sentences.paths import Undecided, live_object
from tests.referee.sentences.visits import Visit


@dataclass
class Moment:
    """What there is to ask of the run just now.

    step: the trace's, which is being judged, or was the last
    passed: statements, heads, calls and returns that were not recorded, between the step before and this one
    visited: the node that backward has just run
    arrived: by frame, the leaves to which a backward brought gradients since the frame's last statement
    shown: what the statement evaluated to
    returned: what the function returns
    error: what was raised
    out: what was printed; at the step before it had `printed` characters
    """

    frames: Frames
    seen: Seen
    step: int = -1
    passed: int = 0
    visited: Visit | None = None
    arrived: dict[int, set[int]] = field(default_factory=dict)
    shown: Any = None
    returned: Any = None
    error: BaseException | None = None
    out: io.StringIO = field(default_factory=io.StringIO)
    printed: int = 0

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
        return moment.seen.moment_of(thing, moment.step) == moment.step

    def has_own_memory(thing: Any) -> bool:
        """Whether its memory was not there before the step."""
        return moment.seen.moment_of_storage(thing, moment.step) == moment.step

    def is_named(thing: Any) -> bool:
        """Whether a variable of a running function is bound to it."""
        found = language.live(thing)
        return any(
            found is value for frame in program_frames(moment.frames.inner) for value in variables(frame).values()
        )

    def printed() -> str:
        """What the step has printed."""
        return moment.out.getvalue()[moment.printed :]

    def entered(text: str) -> bool:
        """Whether `net.forward()` says which function runs."""
        inner = moment.frames.inner
        return inner is not None and str(text).removesuffix("()").rpartition(".")[2] == inner.f_code.co_name

    def returned() -> Any:
        """What the function returns."""
        return moment.returned

    def shown() -> Any:
        """What the statement evaluated to."""
        return moment.shown

    def runs(label: str) -> bool:
        """Whether backward is at a node that is called so."""
        return bool(language.is_called(moment.visit().name, label))

    def sends(count: int, targets: Any) -> bool:
        """Whether the node sends so many gradients, to these and to no others."""
        return moment.visit().sends(count, targets if isinstance(targets, list) else [targets])

    def leaf() -> Any:
        """The tensor at which a gradient arrives."""
        return moment.visit().leaf()

    def leaves_reached() -> int:
        """To how many leaves a gradient came since the last statement of the function."""
        return len(moment.arrived.get(id(moment.frames.inner), ()))

    def has_reached(thing: Any) -> bool:
        """Whether a gradient came to a leaf since then."""
        return id(language.live(thing)) in moment.arrived.get(id(moment.frames.inner), ())

    def passed() -> int:
        """How many statements, heads, calls and returns passed unrecorded before."""
        return moment.passed

    def gives_back(count: int) -> bool:
        """Whether so many pieces of memory that tensors had are gone. What no tensor of Python's had is not seen."""
        found = moment.seen.freed()
        if found < count:
            raise Undecided("memory without a tensor of Python's")
        return found == count

    def error() -> Any:
        """The exception that is on its way."""
        return moment.error

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
        is_named,
        printed,
        entered,
        returned,
        shown,
        runs,
        sends,
        leaf,
        leaves_reached,
        has_reached,
        passed,
        gives_back,
        error,
        tensors,
    )
    return {**language.FUNCTIONS, **{each.__name__: each for each in asking}}
