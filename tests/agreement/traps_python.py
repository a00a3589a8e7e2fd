"""Traps of CPython: frames and their dicts, identity of objects, code that runs by being looked at, recursion."""

import re
import subprocess
import sys
import tomllib
import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any

from gradbox.recorder.probes.frames import FrameLocals
from gradbox.recorder.probes.probe import ProbeContext
from gradbox.recorder.probes.storages import Storages
from gradbox.recorder.recorder import Recorder
from gradbox.recorder.stack import PROGRAM_FILENAME, frames_outward, innermost_stepping_frame
from gradbox.recorder.uids import ObjectUids
from server.worker.program_run import ProgramRun
from tests.agreement.traps import PlantedFault, Seen, Trap, after_each_observation, names, put, tensors
from tests.support.tracing import ROOT

retained: list[Any] = []


def is_plain(seen: Seen) -> None:
    seen.is_plain()


# 19


def leave_locals() -> None:
    frame = innermost_stepping_frame(sys._getframe())
    if frame is not None:
        frame.f_locals  # noqa: B018


def emptied(_: FrameLocals, frame: FrameType, __: str) -> dict[str, Any]:
    live_locals = frame.f_locals
    variables = dict(live_locals)
    if frame.f_code.co_name != "<module>":
        live_locals.clear()
    return variables


# 20


def fault_is_told_and_passed(seen: Seen) -> None:
    seen.ends_as_plain()
    (fault,) = seen.faults
    assert fault.startswith("ZeroDivisionError: ours")
    assert [step["line"] for step in seen.steps] == [1, 2, 3]


def stumble_once() -> None:
    if len(retained) < 2:
        retained.append("a look")
        if len(retained) == 2:
            raise ZeroDivisionError("ours")


def pass_on(_: ProbeContext, error: BaseException) -> None:
    raise error


# 25


def nothing_is_tagged(seen: Seen) -> None:
    seen.is_plain()
    assert not any(fields.get("attrs") for fields in seen.end.state.values() if fields["kind"] == "tensor")


def tag() -> None:
    for tensor in tensors():
        vars(tensor).setdefault("_uid", f"t{id(tensor)}")


# 29


def ends_where_a_script_does(seen: Seen) -> None:
    """The truth is a process of its own: here pytest's frames would lie under the program's."""
    script = subprocess.run([sys.executable, "-c", seen.source], capture_output=True, text=True).stderr
    (repeated,) = re.findall(r"\[Previous line repeated (\d+) more times\]", script)
    assert seen.outcome["error"]["type"] == "RecursionError" and seen.faults == []
    assert len(seen.outcome["error"]["stack"]) == script.count('File "<string>"') + int(repeated)


def show_instruments() -> None:
    set_up = ProgramRun._set_up_interpreter

    def set_up_and_show(self: ProgramRun, source: str, module: Any, recorder: Recorder) -> None:
        set_up(self, source, module, recorder)
        vars(module).update(recorder.hooks_by_name())

    ProgramRun._set_up_interpreter = set_up_and_show


# 30


def every_list_is_itself(seen: Seen) -> None:
    assert seen.printed == "True\n", "no address was used again: the program does not meet the trap"
    values = [
        fields["vars"]["l"] for step in seen.steps for fields in step["set"].values() if "l" in fields.get("vars", {})
    ]
    uids = [value["ref"] for value in values if value is not None]
    assert len(uids) == len(set(uids)) == 40
    assert not [
        uid for uid, fields in seen.end.state.items() if fields["kind"] == "object" and fields["type"] == "list"
    ]


def every_instance_is_itself(seen: Seen) -> None:
    seen.is_plain()
    assert seen.printed == "True\n", "no address was used again: the program does not meet the trap"
    for line in range(4, 4 + 4 * 20, 4):
        assert seen.after(line).uid("a") != seen.after(line + 2).uid("a")


def one_address_one_object() -> None:
    known: dict[int, str] = {}

    def name(_self: ObjectUids, value: Any) -> tuple[str, bool]:
        return known.setdefault(id(value), f"o{len(known) + 1}"), True

    put(ObjectUids, uid_of=name, collect_dead_uids=lambda _: [])()


def by_address(objects: ObjectUids, value: Any) -> str | None:
    return objects._by_key.get((id(value), id(type(value))))


# 31


def inspect_with(manner: Any) -> Any:
    def glance() -> None:
        for value in list(names().values()):
            if type(value).__module__ == "__main__":
                manner(value)

    return after_each_observation(glance)


def advance() -> None:
    for value in names().values():
        if isinstance(value, Iterator):
            next(value, None)


ODD = """\
class E:
    def __getattribute__(self, name):
        print('get', name)
        return object.__getattribute__(self, name)
    def __repr__(self):
        print('repr')
        return 'E'
    def __eq__(self, other):
        print('eq')
        return True
    def __hash__(self):
        print('hash')
        return 1
    def __len__(self):
        print('len')
        return 1
class L(list):
    def __iter__(self):
        print('iter')
        return list.__iter__(self)
e = E()
l = L([1, 2])
both = [e, l]
waiting = iter([1, 2, 3])
doubled = (2 * k for k in (1, 2, 3))
n = 1
print(next(waiting), next(doubled))
"""


# 36


def locals_are_the_frames(seen: Seen) -> None:
    """Only the Python at hand can be asked. In 3.11 a module's `f_locals` are its names, as every frame's are from 3.13
    on: who empties that dict without asking whose it is takes the program's names away.
    """
    seen.is_plain()
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"] == ">=3.11,<3.14"
    called = next(step["i"] for step in seen.steps if step["kind"] == "call" and step["depth"] == 1)
    frames = type(seen.end)(seen.trace, called).state.values()
    of_f = [facts["vars"] for facts in frames if facts["kind"] == "frame" and facts["name"] == "f"]
    if sys.version_info >= (3, 12):
        of_f[0].pop("k", None)  # of the comprehension, which has no frame of its own
    assert of_f == [{"a": 5}]


def empty_locals() -> None:
    for frame in frames_outward(sys._getframe()):
        if frame.f_code.co_filename == PROGRAM_FILENAME:
            frame.f_locals.clear()


TRAPS = [
    Trap(
        19,
        "dict_of_locals",
        "import torch, weakref\ndef f():\n    y = torch.ones(2)\n    r = weakref.ref(y)\n"
        "    print([y := None, r() is None][1])\nf()\n",
        is_plain,
        {"leaves it with the frame": PlantedFault(after_each_observation(leave_locals))},
    ),
    Trap(
        19,
        "dict_that_the_program_holds",
        "def f():\n    a = 1\n    d = locals()\n    b = 2\n    print(d)\nf()\n",
        is_plain,
        {"empties it": PlantedFault(put(FrameLocals, read_locals=emptied))},
    ),
    Trap(
        20,
        "faults_of_ours",
        "a = 1\nb = a + 1\nprint(b)\n",
        fault_is_told_and_passed,
        {"passes them on": PlantedFault(put(ProbeContext, report_recorder_fault=pass_on))},
        given=after_each_observation(stumble_once),
    ),
    Trap(
        25,
        "attributes_are_copied",
        "import torch, copy\na = torch.ones(2)\nb = copy.deepcopy(a)\nprint(vars(a), vars(b))\n",
        nothing_is_tagged,
        {"tags tensors": PlantedFault(after_each_observation(tag))},
    ),
    Trap(
        28,
        "swap_refuses_weak_references",
        "import torch\na, b = torch.ones(1), torch.zeros(2)\ntorch.utils.swap_tensors(a, b)\n"
        "print(a.tolist(), b.tolist())\n",
        is_plain,
        {
            "keeps some": PlantedFault(
                after_each_observation(lambda: retained.extend(weakref.ref(tensor) for tensor in tensors()))
            )
        },
    ),
    Trap(
        28,
        "swap_where_gradients_were_just_made",
        "import torch\nx, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)\n"
        "z = [g := torch.autograd.grad(x * y, (x, y)), torch.utils.swap_tensors(*g)]\nprint(g)\n",
        is_plain,
        {"leaves them light": PlantedFault(put(Storages, promote_transient_storages=lambda _: None))},
    ),
    Trap(
        29,
        "where_recursion_ends",
        "def f():\n    f()\nf()\n",
        ends_where_a_script_does,
        {"takes room for itself": PlantedFault(put(sys, setrecursionlimit=lambda _: None))},
    ),
    Trap(
        29,
        "where_recursion_of_lambdas_ends",
        "f = lambda: f()\nf()\n",
        ends_where_a_script_does,
        {"takes room for itself": PlantedFault(put(sys, setrecursionlimit=lambda _: None))},
    ),
    Trap(
        29,
        "instruments_do_not_show",
        "def g():\n    a = 1\n    print(sorted(locals()), dir())\ng()\n"
        "print([n for n in globals() if n[:2] != '__'], [n for n in dir() if n[:2] != '__'])\n",
        is_plain,
        {"puts them beside the names": PlantedFault(show_instruments)},
    ),
    Trap(
        29,
        "tokens_do_not_show",
        "import torch\ny = torch.ones(1, requires_grad=True) * 2\nprint(len(y.grad_fn.metadata))\n",
        is_plain,
        {},
        gap="a node is known by a token in its metadata, and a program may read those",
    ),
    Trap(
        30,
        "addresses_of_lists",
        "met = set()\n" + "l = [0]\nmet.add(id(l))\nl = None\n" * 40 + "print(len(met) < 40)\ndel met\n",
        every_list_is_itself,
        {"names by address": PlantedFault(one_address_one_object)},
    ),
    Trap(
        30,
        "addresses_of_instances",
        "class A:\n    pass\nmet = []\n"
        + "a = A()\ni = id(a)\na = [a := None, A()][1]\nmet.append(id(a) == i)\n" * 20
        + "print(any(met))\n",
        every_instance_is_itself,
        {"names by address": PlantedFault(put(ObjectUids, find_uid=by_address))},
    ),
    Trap(
        31,
        "looking_runs_code",
        ODD,
        is_plain,
        {
            "says it in words": PlantedFault(inspect_with(repr)),
            "counts": PlantedFault(inspect_with(len)),
            "compares": PlantedFault(inspect_with(lambda value: value == 1)),
            "hashes": PlantedFault(inspect_with(lambda value: hash(value) if not isinstance(value, list) else 0)),
            "reads attributes": PlantedFault(inspect_with(lambda value: value.__dict__)),
            "goes through": PlantedFault(inspect_with(lambda value: list(value) if isinstance(value, list) else [])),
            "advances": PlantedFault(after_each_observation(advance)),
        },
    ),
    Trap(
        36,
        "locals_of_every_python",
        "def g(k):\n    return k\ndef f(a):\n    b = [g(k) for k in range(a - 3)]\n    return sorted(locals())\n"
        "c = f(5)\nprint(c)\n",
        locals_are_the_frames,
        {"empties what may be the names themselves": PlantedFault(after_each_observation(empty_locals))},
    ),
]
