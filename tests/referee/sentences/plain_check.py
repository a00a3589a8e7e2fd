"""Runs a program in plain CPython beside its trace, and evaluates there the claims of what is said at each step.

Called in a fork of tests.forks.plain_host, which has no recorder.
"""

import ast
import builtins
import contextlib
import re
import sys
import tempfile
import time
import traceback
import weakref
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import torch

from tests.forks.plain_host import prepare_main
from tests.referee.drawn_state import State, Trace, merge
from tests.referee.sentences import language
from tests.referee.sentences.arguments import Arguments, WrongName, names_in
from tests.referee.sentences.asking import Moment, functions_of
from tests.referee.sentences.earlier import Seen, Was
from tests.referee.sentences.frames import FILE, Frames, has_statements, is_module, program_frames
from tests.referee.sentences.modules import watching
from tests.referee.sentences.order import Order
from tests.referee.sentences.paths import LeadsNowhere, Undecided
from tests.referee.sentences.probed_program import AFTER, CAUGHT, LOOP, VALUE, probed
from tests.referee.sentences.visits import Visit, visits

SECONDS = 40
"""Of the processor, after which no further claim is evaluated."""

Sentence = dict[str, Any]
"""`step`, `key`, `args`, `text`, as Node says it; `claims`, or None."""
Verdict = tuple[str, str]
"""`true`, `false` or `unchecked`; and the claim that is false, with what was found, or the reason."""

VALUES = ("bound", "bound_again", "value", "prints", "prints_lines", "tooltip.value_is")
OF_THIS_RUN = re.compile(r"\b(gc|tempfile|weakref|getrefcount|time|perf_counter|id|uuid|getpid|folder|now)\b")
"""What makes a statement's value one of this run alone: addresses, times, folders, what lives."""
READS_CLOCK = re.compile(r"^\s*(import|from) (time|timeit|datetime)\b", re.MULTILINE)
"""What a program that may print a time has."""
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}")
UNWRITTEN = re.compile(r"\b(empty|empty_like|empty_strided|new_empty|new|resize_)\(|Tensor\(\s*(\d|[\w.]+\s*,)")
"""What makes tensors of memory that nobody has written: how many of its numbers change differs from run to run."""

OF_THE_END = ("cell.", "whole_", "finding.looked_for.")
"""How the keys begin of what is said of the whole run."""

UNREACHED = ("unchecked", "")


class Over(BaseException):
    """The trace has no further step: what the program does now is not said."""


def check(trace: Trace, sentences: list[Sentence]) -> list[Verdict]:
    """The verdict on each sentence."""
    return PlainCheck(trace, sentences).run()


class Claim:
    """A claim as code: `was(…)` is evaluated before the step.

    before: the code of each `was`
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.before: list[CodeType] = []
        tree = ast.parse(text, mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "was":
                self.before.append(compile(ast.Expression(node.args[0]), text, "eval"))
                node.args = [ast.copy_location(ast.Constant(len(self.before) - 1), node)]
        self.code = compile(tree, text, "eval")


class Pending:
    """A sentence whose step comes next.

    before: what its claims have to know of before it, in order
    old: what its names meant before it
    """

    def __init__(self, number: int, sentence: Sentence, claims: list[Claim]) -> None:
        self.number, self.args, self.claims = number, sentence["args"], claims
        self.before: dict[tuple[int, int], Any] = {}
        self.old: dict[str, Was | Exception] = {}

    def value_before(self, claim: int, number: int) -> Any:
        value = self.before.get((claim, number), Undecided("it is not known what was before"))
        if isinstance(value, LeadsNowhere):
            raise Undecided("the name is a new one")
        if isinstance(value, Exception):
            raise copied(value)
        return value


class PlainCheck:
    """One run of one program."""

    def __init__(self, trace: Trace, sentences: list[Sentence]) -> None:
        self.steps, self.source, self.sentences = trace["steps"], trace["program"]["source"], sentences
        texts = {text for each in sentences for text in each["claims"] or ()}
        self.claims = {text: Claim(text) for text in texts}
        self.verdicts: list[Verdict] = [UNREACHED] * len(sentences)
        self.by_step: dict[int, list[int]] = {}
        for number, sentence in enumerate(sentences):
            self.by_step.setdefault(sentence["step"], []).append(number)
        self.statements = trace["program"].get("statements") or []
        code, self.prober = probed(self.source, FILE)
        self.code, self.order = code, Order(trace, self.prober.places)
        self.state: State = {}
        self.frames = Frames(self.state)
        self.moment = Moment(self.frames, Seen(), lines=self.source.splitlines(), places=self.prober.places)
        self.moment.has_generators = any(
            isinstance(n, ast.Yield | ast.YieldFrom) for n in ast.walk(ast.parse(self.source))
        )
        self.pending: list[Pending] = []
        self.prepared = -1
        self.iterations: dict[tuple[int, int], int] = {}
        self.busy = False
        self.visit: Visit | None = None
        self.last_error: int | None = None
        self.goes_on = False

    def run(self) -> list[Verdict]:
        namespace = prepare_main(self.source)
        probes = {AFTER: self.on_after, VALUE: self.on_value, LOOP: self.on_loop, CAUGHT: self.on_caught}
        for name, probe in probes.items():
            setattr(builtins, name, probe)
        replace_as_the_recorder_does(self.on_workers)
        with (
            tempfile.TemporaryDirectory() as folder,
            contextlib.chdir(folder),
            contextlib.redirect_stdout(self.moment.out),
            contextlib.redirect_stderr(self.moment.out),
            visits(self.end_visit, self.on_visit, self.on_backward),
            watching() as self.moment.calls,
        ):
            self.prepare(0)
            try:
                exec(self.code, namespace)
            except Over:
                self.goes_on = True
            except BaseException as error:
                self.on_end(error)
        return [self.reasoned(number) for number in range(len(self.sentences))]

    def reasoned(self, number: int) -> Verdict:
        """The verdict on a sentence, with the reason where its step, or the end that it is of, was not reached."""
        if self.goes_on and self.sentences[number]["key"].startswith(OF_THE_END):
            return "unchecked", "the run goes on after the last step that was recorded"
        if self.verdicts[number] != UNREACHED:
            return self.verdicts[number]
        if self.order.lost:
            return "unchecked", "the order was lost"
        return "unchecked", f"no probe at a step of kind {self.steps[self.sentences[number]['step']]['kind']}"

    # probes

    def on_after(self, index: int, kind: str) -> None:
        self.arrive(index, kind, sys._getframe(1), None)

    def on_value(self, index: int, kind: str, value: Any) -> Any:
        if kind == "iter":
            if not self.order.lost and is_ordered_by_address(value):
                self.order.lost = "the order of a set of objects is of this run alone"
        elif kind == "value":
            self.moment.shown = language.shown(value)
        else:
            if kind == "head":
                self.moment.shown = language.shown(value)
            self.arrive(index, kind, sys._getframe(1), value)
        return value

    def on_workers(self) -> None:
        """A loader with workers begins: they ask for batches ahead, which one process does not."""
        self.order.lost = self.order.lost or "workers of a loader run ahead"

    def on_loop(self, index: int) -> None:
        self.iterations.pop((id(sys._getframe(1)), index), None)

    def arrive(self, index: int, kind: str, frame: FrameType, value: Any) -> None:
        """A probe after a statement, at a head, a call or a return."""
        if self.busy:
            return
        place = self.prober.places[index]
        self.moment.calls.pass_statement(id(frame), place.line, place.end_line, kind == "call")
        if self.order.is_over():
            raise Over
        self.end_visit()
        self.busy = True
        try:
            self.frames.inner, self.moment.returned = frame, value
            at = self.step_at(index, kind, frame)
            if at is not None:
                self.be_at(at, lambda: self.bind(at, kind, frame))
                self.moment.arrived.pop(id(frame), None)
            self.moment.visits.pop(id(frame), None)
            self.moment.calls.stepping.clear()
        finally:
            self.busy, self.frames.inner = False, None
            self.moment.shown = self.moment.returned = None

    def on_caught(self) -> None:
        """A handler, or what is done at last, begins."""
        error = sys.exc_info()[1]
        if error is not None and id(error) != self.last_error:
            self.raised(error, sys._getframe(1))

    def on_end(self, error: BaseException) -> None:
        """The program ended with an exception."""
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__) if has_statements(frame)]
        if frames:
            self.raised(error, frames[-1])

    def raised(self, error: BaseException, frame: FrameType) -> None:
        self.end_visit()
        if self.busy or self.order.lost:
            return
        self.busy = True
        try:
            self.frames.inner, self.moment.error = frame, error
            self.last_error = id(error)
            at = self.order.step_of_exception()
            if at is not None:
                self.be_at(at, lambda: None)
        finally:
            self.busy, self.frames.inner, self.moment.error = False, None, None

    def be_at(self, at: int, bind: Callable[[], None]) -> None:
        """Judge what is said at a step, which is now, and look ahead to the next."""
        self.follow(at)
        self.moment.passed, self.moment.passed_nodes = self.order.passed, self.order.passed_visits
        bind()
        self.moment.seen.look(at)
        self.judge(at)
        self.moment.printed = len(self.moment.out.getvalue())
        self.prepare(at + 1)

    def on_backward(self, outputs: Any) -> None:
        """A backward begins."""
        frame = next(program_frames(sys._getframe(1)), None)
        if frame is not None:
            self.moment.calls.note_loss(frame.f_lineno, outputs)

    def end_visit(self) -> None:
        """A node that ran has let go of what it kept: its step is now."""
        visit, self.visit = self.visit, None
        if self.busy or self.order.lost or visit is None:
            return
        self.busy = True
        frame = visit.frame
        try:
            self.frames.inner = frame
            at = self.order.step_of_visit(visit.name, self.name_of_node)
            self.moment.visits[id(frame)] = self.moment.visits.get(id(frame), 0) + 1
            if visit.came and visit.name.endswith("AccumulateGrad"):
                self.note_gradient(visit.leaf(), visit.is_finite)
            if visit.came and visit.name.endswith("AccumulateGrad") and visit.leaf().requires_grad:
                self.moment.arrived.setdefault(id(frame), {}).setdefault(id(visit.leaf()), visit.held)
            if frame is not None and at is not None:
                self.moment.visited = visit
                self.frames.known[self.steps[at]["visit"]["node"]] = visit.node
                self.be_at(at, lambda: None)
        finally:
            self.busy, self.frames.inner, self.moment.visited = False, None, None
            self.frames.known.clear()

    def note_gradient(self, leaf: torch.Tensor, is_finite: bool) -> None:
        self.moment.arrivals += 1
        self.moment.broken_arrivals += not is_finite
        known = self.moment.met.get(id(leaf))
        if known is None or known() is not leaf:
            self.moment.met[id(leaf)] = weakref.ref(leaf)
            self.moment.leaves_met.append(self.moment.met[id(leaf)])
        if id(leaf) not in self.moment.came:
            with contextlib.suppress(Undecided):
                self.moment.at_first[id(leaf)] = language.content(leaf)
        self.moment.came[id(leaf)] = self.moment.came.get(id(leaf), 0) + 1

    def on_visit(self, visit: Visit) -> None:
        self.end_visit()
        visit.frame = next(program_frames(sys._getframe(1)), None)
        self.visit = visit

    def name_of_node(self, uid: str) -> str | None:
        name: str | None = self.state.get(uid, {}).get("name")
        return name

    def step_at(self, index: int, kind: str, frame: FrameType) -> int | None:
        """The step of this moment, if it was recorded."""
        if kind == "call":
            for key in [key for key in self.iterations if key[0] == id(frame)]:
                del self.iterations[key]
            caller = next(program_frames(frame.f_back), None)
            if caller is None:
                return None
            index = self.running_statement(caller, index)
        elif kind == "head" and self.prober.places[index].kind in ("For", "AsyncFor", "While"):
            self.iterations[id(frame), index] = self.iterations.get((id(frame), index), -1) + 1
        loops = self.prober.loops[index] + ((index,) if kind == "head" else ())
        around = [self.iterations[id(frame), loop] for loop in loops if (id(frame), loop) in self.iterations]
        depth = sum(1 for _ in program_frames(frame)) - (2 if kind == "call" else 1)
        return self.order.step_of(kind, index, depth, around, lambda uid: self.frames.uid(frame) == uid)

    def running_statement(self, frame: FrameType, default: int) -> int:
        """The innermost statement whose text has the instruction that a frame executes."""
        line, _, col, _ = list(frame.f_code.co_positions())[frame.f_lasti // 2]
        found = default
        for number, place in enumerate(self.prober.places):
            if (place.line, place.col) <= (line or 0, col or 0) < (place.end_line, place.end_col):
                found = number
        return found

    def follow(self, at: int) -> None:
        """Bring the state of the trace to after a step."""
        for step in self.steps[self.moment.step + 1 : at + 1]:
            for uid, fields in step.get("set", {}).items():
                merge(self.state.setdefault(uid, {}), dict(fields))
            for uid in step.get("gone", []):
                self.state.pop(uid, None)
        self.moment.step = at

    def bind(self, at: int, kind: str, frame: FrameType) -> None:
        """Note which frames of the trace are which of the run."""
        step = self.steps[at]
        reader: FrameType | None = frame
        if kind == "call":
            for uid, fields in step["set"].items():
                if fields.get("kind") == "frame" and fields.get("caller"):
                    self.frames.bind(uid, frame)
            reader = next(program_frames(frame.f_back), None)
        if reader is not None and not is_module(reader):
            self.frames.bind(step["frame"], reader)

    # sentences

    def pending_of(self, number: int) -> Pending:
        sentence = self.sentences[number]
        return Pending(number, sentence, [self.claims[text] for text in sentence["claims"] or ()])

    def prepare(self, at: int) -> None:
        """Evaluate what has to be known of before the next step."""
        self.pending = [self.pending_of(number) for number in self.by_step.get(at, ())]
        self.prepared = at
        self.moment.seen.freed()
        for pending in self.pending:
            old = [said for said in names_in(list(pending.args.values())) if said.was is not None]
            if not old and not any(claim.before for claim in pending.claims):
                continue
            try:
                reader = self.frames.running(self.steps[at].get("frame"))
            except Undecided as error:
                pending.old = {said.text: error for said in old}
                continue
            arguments = Arguments(pending.args, reader, self.frames, None)
            for said in old:
                try:
                    pending.old[said.text] = Was(arguments.hold(said))
                except (LeadsNowhere, WrongName, Undecided) as error:
                    pending.old[said.text] = copied(error)
            functions = functions_of(self.moment, reader)
            for k, claim in enumerate(pending.claims):
                for n, code in enumerate(claim.before):
                    try:
                        pending.before[k, n] = kept(evaluated(code, functions, arguments))
                    except Exception as error:
                        pending.before[k, n] = copied(error)

    def judge(self, at: int) -> None:
        """The verdicts on what is said at a step."""
        if self.prepared != at:
            self.pending = [self.pending_of(number) for number in self.by_step.get(at, ())]
            for pending in self.pending:
                lost = Undecided("the step before has no probe")
                pending.old = {
                    said.text: lost for said in names_in(list(pending.args.values())) if said.was is not None
                }
        for pending in self.pending:
            self.verdicts[pending.number] = self.verdict(pending, at)

    def verdict(self, pending: Pending, at: int) -> Verdict:
        if self.cannot_repeat(pending, at):
            return "unchecked", "it may differ from run to run"
        if time.process_time() > SECONDS:
            return "unchecked", "no time"
        try:
            reader = self.frames.running(self.steps[at].get("frame"))
            arguments = Arguments(pending.args, reader, self.frames, pending.old)
            for said in names_in(list(pending.args.values())):
                if said.uid is not None and said.uid[0] != "n":
                    arguments.hold(said)
            for error in pending.old.values():
                if isinstance(error, Exception):
                    raise copied(error)
        except (LeadsNowhere, WrongName) as error:
            return "false", f"names: {': '.join(map(str, error.args))}"
        except Undecided as error:
            return "unchecked", str(error)
        if self.sentences[pending.number]["claims"] is None:
            return "unchecked", "no claim"
        undecided = ""
        for k, claim in enumerate(pending.claims):
            functions = {**functions_of(self.moment, reader), "was": lambda n, k=k: pending.value_before(k, n)}
            try:
                if not evaluated(claim.code, functions, arguments):
                    return "false", claim.text
            except LeadsNowhere as error:
                why = f"{claim.text}: {': '.join(map(str, error.args))}"
                if not self.sentences[pending.number]["key"].startswith("finding."):
                    return "false", why
                undecided = undecided or f"undecided: {why}"  # a name of another moment
            except Undecided as error:
                undecided = undecided or f"undecided: {claim.text}: {error}"
            except Exception as error:
                return "unchecked", f"{claim.text} raises {type(error).__name__}: {error}"
        return ("unchecked", undecided) if undecided else ("true", "")

    def cannot_repeat(self, pending: Pending, at: int) -> bool:
        """Whether a value is said that another run, or one that is watched, has otherwise."""
        stmt = self.steps[at].get("stmt")
        key = self.sentences[pending.number]["key"]
        if key.startswith(("written_", "verdict.row.")) and UNWRITTEN.search(self.source):
            return True
        if any(ADDRESS.search(str(each)) for each in pending.args.values()):
            return True
        if key not in VALUES or stmt is None:
            return False
        if key.startswith(("prints", "tooltip.value_is")) and READS_CLOCK.search(self.source):
            return True
        row = self.statements[stmt]
        text = "\n".join(self.source.splitlines()[row["line"] - 1 : row["end_line"]])
        return bool(OF_THIS_RUN.search(text))


def is_ordered_by_address(thing: Any) -> bool:
    """Whether it is a set whose order is that of addresses."""
    return isinstance(thing, set | frozenset) and any(
        getattr(type(each), "__hash__", None) is object.__hash__ for each in thing
    )


def replace_as_the_recorder_does(on_workers: Callable[[], None]) -> None:
    """A program is one process, and its functions are not compiled: a trace says so where it matters. `on_workers` is
    called before a loader with workers gives its batches."""
    made, iterate = torch.utils.data.DataLoader.__init__, torch.utils.data.DataLoader.__iter__
    with_workers = weakref.WeakSet[Any]()

    def begin(loader: Any) -> Any:
        if loader in with_workers:
            on_workers()
        return iterate(loader)

    def make(loader: Any, *arguments: Any, **options: Any) -> None:
        if options.get("num_workers"):
            with_workers.add(loader)
        in_workers = {"num_workers": 0, "prefetch_factor": None, "persistent_workers": False, "timeout": 0}
        options |= {name: value for name, value in in_workers.items() if name in options}
        made(loader, *arguments, **options)

    setattr(torch.utils.data.DataLoader, "__init__", make)  # noqa: B010
    setattr(torch.utils.data.DataLoader, "__iter__", begin)  # noqa: B010
    torch.compile = lambda model=None, **_: (lambda function: function) if model is None else model  # type: ignore[assignment]


def copied(error: Exception) -> Exception:
    """An error like this one, that keeps nothing alive."""
    return type(error)(*error.args)


def evaluated(code: CodeType, functions: dict[str, Any], arguments: Arguments) -> Any:
    """The value of an expression; its names are functions of the language and arguments. Those that it does not have
    are not looked at."""
    names = {name: arguments[name] for name in names_of(code) if name in arguments.given}
    return eval(code, {**functions, **names, "args": arguments.given})


def names_of(code: CodeType) -> set[str]:
    """The names of an expression, and of comprehensions in it."""
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return set(code.co_names).union(*map(names_of, inner))


def kept(value: Any) -> Any:
    """A value of before the step, without a reference to what the program made."""
    if value is None or isinstance(value, bool | int | float | str | bytes | tuple | Exception):
        return value
    if isinstance(value, dict | list):
        return value
    return Was(value)
