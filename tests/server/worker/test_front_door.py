"""Attacks through the pool as a visitor's program makes them: past the allowlist, against the recorder, for resources.

What an attack would reach is tried with the confinement off as well: one that can't succeed there proves nothing.
"""

import asyncio
import contextlib
import gzip
import json
import logging
import os
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

from gradbox.assembly.recorded_trace import RecordedTrace
from gradbox.wire.api import Job
from gradbox.wire.trace import Trace, trace_document, trace_json
from server.pool.local import LocalPool
from server.settings import Settings
from server.worker import confine
from tests.forks import prepared_zygotes
from tests.server.http.processor_time import slowness
from tests.server.worker.front_door_attacks import (
    ATTACKS,
    END,
    HONEST,
    LIBRARY,
    OPENAT,
    REACHING,
    RECORDER,
)
from tests.support.sampling import sampled
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.attack
ROOT = Path(__file__).parents[3]
SHORT = 2.0
"""Seconds of wall clock for attacks, many of which sleep until it ends them."""


class World:
    """A pool, and what lies outside of its programs.

    sandbox: as in the settings
    """

    def __init__(self, sandbox: str) -> None:
        self.canary, self.hidden = (f"canary{os.urandom(8).hex()}" for _ in range(2))
        self.token = f"30.{int.from_bytes(os.urandom(5))}"
        self.folder = Path(tempfile.mkdtemp(prefix="gradbox-"))
        self.contacts: list[str] = []
        self.loop = asyncio.new_event_loop()
        # in the zygote's arguments, or in its name where it is forked, which whatever is forked from it has as well
        memory = (1 << 30) + int.from_bytes(os.urandom(3))
        cpu = 1 if sandbox == "require" else 30  # without it, attacks are to succeed
        settings = Settings({}, sandbox=sandbox, memory=memory, wall=10 * PATIENCE, cpu=cpu)
        self.marks = (self.token.encode(), f'"memory": {memory}'.encode())
        self.name = f"w{memory}"
        self.limits, self.pool = (
            settings.run_limits(),
            LocalPool(settings, "tests.support.worker_without_files:prepare"),
        )
        self.furnish()
        self.loop.run_until_complete(self._open())

    async def _open(self) -> None:
        async def on_connection(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.contacts.append("a connection")
            writer.close()

        server = await asyncio.start_server(on_connection, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        address = ("127.0.0.1", self.port)
        datagrams, _ = await self.loop.create_datagram_endpoint(lambda: Datagrams(self.contacts), address)
        streams = [
            await asyncio.start_unix_server(on_connection, path)
            for path in (f"\0{self.token}", f"{self.folder}.socket")
        ]
        os.chmod(f"{self.folder}.socket", 0o777)
        self.open: list[Any] = [server, datagrams, *streams]
        await self.pool.start()
        await self.pool.zygote.wait_until_booted()

    def close(self) -> None:
        for closing in self.open:
            closing.close()
        self.loop.run_until_complete(self.pool.close())
        self.loop.close()
        shutil.rmtree(self.folder)
        os.remove(f"{self.folder}.socket")

    def furnish(self) -> None:
        """Empties PLACE and fills it again."""
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        self.folder.chmod(0o777)
        (self.folder / "secret").write_text(self.canary)
        (self.folder / self.hidden).write_text("")
        (self.folder / "late.py").write_text(f"WORD = {self.canary!r}")
        torch.save(self.canary, self.folder / "tensor.pt")
        numpy.save(self.folder / "array.npy", numpy.array([self.canary], "S"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            script = torch.jit.script(torch.nn.ReLU())
            torch.jit.save(script, str(self.folder / "script.pt"), _extra_files={"word": self.canary})
        for path in self.folder.iterdir():
            path.chmod(0o666)
        self.files = self.list_files()

    def list_files(self) -> dict[str, tuple[int, bytes]]:
        """Everything in PLACE, and what bears our name where a program may think of writing."""
        files = {}
        for path in self.folder.rglob("*"):
            status = path.lstat()
            files[str(path)] = (status.st_mode, path.read_bytes() if path.is_file() else b"")
        for directory in ("/tmp", "/var/tmp", "/dev/shm", "/", ROOT):
            files |= {str(path): (0, b"") for path in Path(directory).glob(f"*{self.token}*")}
        return files

    def left(self) -> list[int]:
        """The processes that came of programs and live on."""
        pids = []
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            with contextlib.suppress(OSError):
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    command = file.read()
                with open(f"/proc/{pid}/stat") as file:
                    name, _, fields = file.read().partition("(")[2].rpartition(")")
                    state, parent = fields.split()[:2]
                known = self.pool.zygote.pid in (pid, int(parent))
                if state != "Z" and not known and (name == self.name or any(mark in command for mark in self.marks)):
                    pids.append(pid)
        return pids

    def run(self, source: str, **limits: float) -> Trace:
        """What the server would send of it is a trace, and JSON as everybody reads it.

        limits: others than the world's
        """

        def refuse(constant: str) -> None:
            raise AssertionError(f"{constant} is no JSON")

        running = self.pool.run_job(Job(source=source, limits=self.limits | limits))
        recorded = self.loop.run_until_complete(asyncio.wait_for(running, PATIENCE))
        json.loads(gzip.decompress(recorded.body), parse_constant=refuse)
        return recorded.decoded()

    def attack(self, source: str, **limits: float) -> Trace:
        names = {
            "SECRET": f"{self.folder}/secret",
            "PLACE": str(self.folder),
            "PATH": f"{self.folder}.socket",
            "PORT": self.port,
            "ABSTRACT": f"\0{self.token}",
            "TOKEN": self.token,
            "LIBRARY": LIBRARY,
            "OPENAT": OPENAT,
        }
        names["N"] = len(names) + 3
        given = "; ".join(f"{name} = {value!r}" for name, value in names.items())
        return self.run(f"import torch; load = torch.importlib.import_module; {given}\n{source.lstrip()}\n", **limits)

    def reached(self, trace: Trace, boots: int) -> set[str]:
        """What the program got at outside of itself.

        boots: of the zygote, before
        """
        self.loop.run_until_complete(asyncio.sleep(0.01))  # connections that were made are taken
        printed = trace_json(trace)
        done = any(
            entry["kind"] == "out" and "done" in entry["text"].split() for step in trace.steps for entry in step.log
        )
        reached = {
            "reads": self.canary in printed or self.hidden in printed,
            "writes": self.list_files() != self.files,
            "connects": bool(self.contacts),
            "starts": bool(self.left()),
            "does": done,
            "kills": self.pool.zygote.boots != boots or not self.pool.is_ready,
        }
        return {name for name, so in reached.items() if so}

    def restore(self) -> None:
        """After an attack that reached something."""
        for pid in self.left():
            os.kill(pid, signal.SIGKILL)
        for path in self.list_files().keys() - self.files.keys():
            if not path.startswith(str(self.folder)):
                os.remove(path)
        self.contacts.clear()
        if self.list_files() != self.files:
            self.furnish()


class Datagrams(asyncio.DatagramProtocol):
    def __init__(self, contacts: list[str]) -> None:
        self._contacts = contacts

    def datagram_received(self, data: bytes, addr: Any) -> None:  # noqa: ARG002
        self._contacts.append("a datagram")


def opened(sandbox: str) -> Iterator[World]:
    with (
        contextlib.nullcontext() if sandbox == "off" else prepared_zygotes.unused()
    ):  # what holds is a zygote that booted
        world = World(sandbox)
        yield world
        world.restore()
        world.close()


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """Nothing is missing in its confinement, or the tests skip and say what is."""
    lacking = confine.missing_layers(confine.try_layers())
    if lacking:
        pytest.skip(f"this host cannot confine: {lacking}")
    yield from opened("require")


@pytest.fixture(scope="module")
def unconfined() -> Iterator[World]:
    yield from opened("off")


class Honest:
    """The honest program beside attacks: its trace after several of them has to be the one from before the first."""

    SEVERAL = 4

    def __init__(self, world: World) -> None:
        self._world = world
        self._before = without_cost(world.run(HONEST))
        self.attacks: list[str] = []
        """Since its last run that was right."""

    def follow(self, attack: str) -> None:
        """This attack is over; after every fourth the honest program is run."""
        self.attacks.append(attack)
        if len(self.attacks) >= self.SEVERAL:
            self.run()

    def run(self) -> None:
        """Run it now."""
        trace = without_cost(self._world.run(HONEST))
        assert trace == self._before, f"one of these attacks left something behind: {self.attacks}"
        self.attacks.clear()


@pytest.fixture(scope="module")
def honest(world: World) -> Iterator[Honest]:
    """It is run once more after the last attack."""
    honest = Honest(world)
    yield honest
    honest.run()


def without_cost(trace: Trace) -> dict[str, Any]:
    return {**trace_document(trace), "cost": None}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_gets_a_trace_and_nothing_else(world: World, honest: Honest, name: str) -> None:
    trace = world.attack(ATTACKS[name], wall=SHORT)
    assert trace.outcome.status not in ("lost", "cancelled")
    assert trace.program.source or trace.outcome.status == "refused"
    assert world.reached(trace, 1) == set(), trace.outcome
    honest.follow(name)


REACHING_ATTACKS = [name for name in ATTACKS if name.partition(":")[0] in REACHING]


@pytest.mark.parametrize("name", sampled(REACHING_ATTACKS, lambda k: k % 4 == 3))  # the last is the only one that kills
def test_an_attack_succeeds_without_the_confinement(unconfined: World, name: str) -> None:
    """It shows that no attack fails by a mistake of its own, and that these tests notice one that succeeds."""
    boots = unconfined.pool.zygote.boots
    try:
        trace = unconfined.attack(ATTACKS[name])
        wait_until(lambda: name.partition(":")[0] in unconfined.reached(trace, boots), lambda: trace.outcome)
    finally:
        unconfined.restore()


async def stalled(pool: LocalPool, job: Job) -> tuple[RecordedTrace, float]:
    """A run, and for how many seconds of the processor nobody else was served meanwhile, in pieces of a twentieth and
    more."""
    total, last = 0.0, time.thread_time()

    async def tick() -> None:
        nonlocal total, last
        while True:
            await asyncio.sleep(0.001)  # others have their turn
            gap, last = time.thread_time() - last, time.thread_time()
            total += gap if gap > 0.05 else 0.0

    ticking = asyncio.create_task(tick())
    trace = await pool.run_job(job)
    await asyncio.sleep(0.01)  # the last gap is seen
    ticking.cancel()
    return trace, total


def test_a_long_line_does_not_hold_up_the_server(world: World) -> None:
    """One list of a third of a million objects; twice as many fit into a trace."""
    begin = """b'{"step":{"i":1,"kind":"statement","line":1,"set":{"o1":{"items":['"""
    items = """*[b'[{"py":"x"},{"py":"x"}],' * 10_000] * 18"""
    lines = f"""[{begin}, {items}, b'1]}}}}}}}}\\n', {END % '{"status":"finished"}'}]"""
    source = f"import torch; list(map(torch.os.write, [4] * 99, {lines})); torch.os._exit(0)"
    job = Job(source=source, limits=world.limits)
    trace, total = world.loop.run_until_complete(stalled(world.pool, job))
    assert total / slowness() < 2.0, trace.decoded().outcome  # it was 3 to 5


def logged(world: World, source: str) -> str:
    """What the server's log says of a run."""
    messages: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())
    logger = logging.getLogger("gradbox.pool")
    logger.addHandler(handler)
    try:
        world.run(source)
    finally:
        logger.removeHandler(handler)
    return "\n".join(messages)


def test_what_a_program_writes_does_not_fill_the_log(world: World) -> None:
    logged_text = logged(world, """import torch; torch.os.write(4, b'{"fault":"' + b'x' * 1_000_000 + b'"}\\n')""")
    assert 0 < len(logged_text) < 20_000


@pytest.mark.parametrize("line", ["my own words", '{"fault":"my own words"}', '{"fault":"\\\\u001b]0;my own words"}'])
def test_nothing_that_a_program_says_is_in_the_log(world: World, line: str) -> None:
    """Unless GRADBOX_LOG_PROGRAMS has it so; and a terminal obeys what it says."""
    logged_text = logged(world, f"import torch; torch.os.write(4, b'{line}\\n')")
    assert logged_text
    assert "own words" not in logged_text


@pytest.mark.parametrize("status", ["stopped", "raised", "refused"])
def test_an_outcome_without_its_reason_is_rejected(world: World, status: str) -> None:
    """The page reads `stopped.limit` of what was stopped."""
    end = END % f'{{"status":"{status}"}}'
    assert world.attack(f"(torch.os.write(4, {end}), torch.os._exit(0))").outcome.status == "crashed"


def test_a_crash_is_at_a_line_of_the_program(world: World) -> None:
    error = world.attack(RECORDER["SIGKILL, at a line that is not there"]).outcome.error
    assert error is not None
    assert error.line is None or error.line <= 3


def test_a_child_is_killed_once_it_reports_its_end(world: World) -> None:
    """It is killed, whatever it does after that line; what the line says of itself alone is believed."""
    end = END % '{"status":"finished"}'
    assert world.attack(f"(torch.os.write(4, {end}), load('time').sleep(6000))").outcome.status == "finished"


def test_a_lone_surrogate_in_a_name_is_recorded(world: World) -> None:
    trace = world.run("globals()['\\ud800'] = 1\nx = 2\n")
    assert (trace.outcome.status, len(trace.steps)) == ("finished", 2)


LOOKED_AT = {
    "an exception's attributes": "class E(Exception):\n    def __getattribute__(self, name): print(name)\ntry: raise E\nexcept E as e: x = 1",  # noqa: E501
    "a class's equality": "class M(type):\n    def __eq__(s, o): print(1)\n    def __hash__(s): print(2)\nclass C(metaclass=M): pass\nc = C()\nd = [c]",  # noqa: E501
    "an instance's dict": "class C:\n    @property\n    def __dict__(self): print(1)\nc = C()\nc.x = 2",
}  # fmt: skip


@pytest.mark.parametrize("name", LOOKED_AT)
def test_observing_a_value_runs_no_code_of_the_program(world: World, name: str) -> None:
    """Plain Python prints nothing here."""
    trace = world.run(LOOKED_AT[name])
    assert trace.outcome.status == "finished"
    assert not [entry for step in trace.steps for entry in step.log if entry["kind"] == "out"]


@pytest.mark.parametrize("name", ["__getattribute__ = lambda s, n: 1 / 0", "__class__ = property(lambda s: 1 / 0)"])
def test_an_exception_with_a_hostile_class_ends_the_program_alone(world: World, name: str) -> None:
    trace = world.run(f"class E(Exception):\n    {name}\nraise E\n")
    assert (trace.outcome.status, trace.outcome.error and trace.outcome.error.line) == ("raised", 3)
