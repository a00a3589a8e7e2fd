"""What breaks around a server, done to a real one: killed workers, vanished clients, floods, programs that crash.

`python -m tests.chaos [NAME…]` does all of it, or what is named, each to a server of its own, and prints what it measured;
`tests/test_chaos.py` does a short version. A check raises AssertionError where something else happens than it says.
"""

import http.client
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from benchmarks.load import MIB, Figures, Site, kilobytes, program, stat, wrong
from tests import postgres

MANY = "1000000/minute"
FREE: dict[str, Any] = {"rate_limit": MANY, "address_limit": MANY, "cache": 1, "wall": 60, "cpu": 20}
"""Settings under which no client is sent away for asking often, and no result is kept."""

SAVING = {**FREE, "cache": 64_000_000, "save_limit": MANY, "save_address_limit": MANY}

SPIN, SLEEP = "x = {n}\nwhile True: pass\n", "import time\nx = {n}\ntime.sleep(50)\n"
BIG = "import torch\nx = torch.ones(1000) * {n}\n" + "x = x + 1\n" * 1500
"""Fills its trace: 8 MB of it."""

HOSTILE = {
    "crashes": (
        "import numpy as np\nx = np.lib.stride_tricks.as_strided(np.zeros(1), shape=(10**7,), strides=(4096,)).sum() + {n}\n",
        "crashed",
    ),
    "is killed as if memory had run out": (SPIN, "crashed"),
    "takes all memory": ("import torch\nx = torch.ones(10**10 + {n})\n", "stopped"),
    "fills its trace": (BIG, "stopped"),
    "prints without end": ("while True: print('x' * 1000, {n})\n", "stopped"),
    "calls itself without end": (
        "import sys\nsys.setrecursionlimit(10**9)\ndef f(n): return f(n + 1)\nf({n})\n",
        "stopped",
    ),
    "raises": ("raise ValueError({n})\n", "raised"),
    "is no Python": ("x = {n} (\n", "refused"),
}
"""What programs do, how, and how that ends."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: Any
    seconds: float

    @property
    def ending(self) -> str:
        """The outcome's status, or the code of the error."""
        return str((self.body.get("outcome") or {}).get("status") or self.body["error"]["code"])


def asked(site: Site, source: str, number: int = 0, timeout: float = 120.0) -> Answer:
    """The answer to a program, asked for from the address of that number. Raises OSError and HTTPException."""
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout, (address(number), 0))
    try:
        connection.request("POST", "/api/runs", json.dumps({"source": source}), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        body = json.loads(answer.read())
        return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, body, time.perf_counter() - began)
    finally:
        connection.close()


def address(number: int) -> str:
    return f"127.0.{1 + number // 250 % 250}.{1 + number % 250}"


def begun(site: Site, source: str, number: int = 0, size: int | None = None, buffer: int = 4096) -> socket.socket:
    """A connection over which a program was asked for, and nothing read; `size`: only so many bytes of the request.

    buffer: bytes of the answer that its kernel takes; the rest stays with the server.
    """
    body = json.dumps({"source": source})
    head = (
        f"POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.settimeout(60)
    connection.bind((address(number), 0))
    connection.connect(("127.0.0.1", site.port))
    connection.sendall(f"{head}\r\n\r\n{body}".encode()[:size])
    return connection


def vanish(connection: socket.socket, rudely: bool = False) -> None:
    """Close it. rudely: with a reset."""
    if rudely:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def right(n: int, answer: Answer) -> None:
    """It is the trace of `program(n)`."""
    assert answer.status == 200, (answer.status, answer.body.get("error"))
    assert not wrong(n, answer.body), (wrong(n, answer.body), answer.body["outcome"])


def honest(site: Site, numbers: range, patience: float = 60.0) -> str:
    """Have these programs run, one after the other, and each be right; how long they took."""
    seconds = []
    for n in numbers:
        answer = asked(site, program(n), n, patience)
        right(n, answer)
        seconds.append(answer.seconds)
    return f"{min(seconds) * 1000:.0f} to {max(seconds) * 1000:.0f} ms"


def until(what: str, holds: Callable[[], object], patience: float) -> float:
    """Wait for it; the seconds that took."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < patience, f"not within {patience:.0f} s: {what}"
        time.sleep(0.01)
    return time.monotonic() - began


def gone(site: Site, pids: set[int], patience: float) -> float:
    """Wait until these workers of it are gone; the seconds that took."""
    return until(f"the workers {sorted(pids)} are gone", lambda: not pids & set(site.workers()), patience)


def runs(site: Site, running: int, waiting: int = 0) -> None:
    """Wait until so many run, each with a child, and so many wait."""
    names = ("gradbox_running", "gradbox_waiting", "gradbox_spare_children")

    def holds() -> bool:
        told = site.metrics()
        facts = *(told[name] for name in names), len(site.children())
        return facts == (running, waiting, 2, running + 2)

    until(f"{running} run and {waiting} wait", holds, 30)


def busy(site: Site, ticks: int = 50) -> list[int]:
    """The children that have used so many hundredths of a second of their processor."""
    found = []
    for pid in site.children():
        with suppress(OSError):
            if int(stat(pid)[11]) >= ticks:
                found.append(pid)
    return found


@contextmanager
def asking(site: Site, source: str, count: int) -> Iterator[list[Future[Answer]]]:
    """So many programs asked for at once, `source` with a number of its own each; left when all are answered."""
    with ThreadPoolExecutor(count) as threads:
        yield [threads.submit(asked, site, source.replace("{n}", str(k)), k) for k in range(count)]


def killed_child(site: Site, times: int = 2) -> str:
    """Its run ends as a crash, at once; spare ones are replaced."""
    waits = []
    for _ in range(times):
        with asking(site, SPIN, 1) as (answer,):
            until("the program runs", lambda: busy(site), 30)
            os.kill(busy(site)[0], signal.SIGKILL)
            began = time.monotonic()
            found = answer.result(30)
            waits.append(time.monotonic() - began)
        assert found.ending == "crashed" and found.body["outcome"].get("signal") == signal.SIGKILL, found.body[
            "outcome"
        ]
        site.settle()
        spare = set(site.children())
        for pid in spare:
            os.kill(pid, signal.SIGKILL)
        gone(site, spare, 30)
        site.settle()
        honest(site, range(3))
    return (
        f"{times} killed under their programs, told after {max(waits) * 1000:.0f} ms; {2 * times} spare ones replaced"
    )


def killed_zygote(site: Site, times: int = 1) -> str:
    """Its runs are lost, those that wait are served by the next one."""
    waits = []
    for _ in range(times):
        with asking(site, SLEEP, 2) as lost, ThreadPoolExecutor(4) as threads:
            runs(site, 2)
            waiting = [threads.submit(asked, site, program(n), 10 + n) for n in range(4)]
            runs(site, 2, 4)
            old = site.workers()
            os.kill(site.zygote(), signal.SIGKILL)
            began = time.monotonic()
            assert [one.result(30).ending for one in lost] == ["lost"] * 2
            gone(site, set(old), 10)
            for n, one in enumerate(waiting):
                right(n, one.result(90))
            waits.append(time.monotonic() - began)
        site.settle()
        honest(site, range(3))
    return f"{times} killed: 2 runs lost each, 4 that waited were right after {max(waits):.1f} s"


def stopped_zygote(site: Site, seconds: float = 2.0) -> str:
    """While it stands still the server answers; then every run that was asked for meanwhile is right.

    Where that takes long it may be given up and its runs lost, but nothing is said that did not happen.
    """
    zygote = site.zygote()
    with ThreadPoolExecutor(6) as threads:
        os.kill(zygote, signal.SIGSTOP)
        try:
            waiting = [threads.submit(asked, site, program(n), n) for n in range(6)]
            time.sleep(seconds)
            began = time.monotonic()
            site.metrics()
            told = time.monotonic() - began
        finally:
            with suppress(ProcessLookupError):  # it was given up
                os.kill(zygote, signal.SIGCONT)
        answers = [one.result(60) for one in waiting]
    lost = [n for n, answer in enumerate(answers) if answer.ending == "lost"]
    assert not lost or seconds > 5, f"lost: {lost}"
    for n, answer in enumerate(answers):
        if n not in lost:
            right(n, answer)
    site.settle()
    return (
        f"{seconds:.0f} s: /metrics took {told * 1000:.0f} ms, of 6 runs {6 - len(lost)} right afterwards and {len(lost)} "
        f"lost, next {honest(site, range(6, 9))}"
    )


def frozen_zygote(site: Site, patience: float = 60.0) -> str:
    """One that stands still for good is replaced."""
    frozen = site.zygote()
    os.kill(frozen, signal.SIGSTOP)
    try:
        with asking(site, SLEEP, 2) as answers:
            took = until("another one", lambda: site.workers().get(frozen) is None, patience)
            endings = Counter(answer.result(90).ending for answer in answers)
    finally:
        with suppress(ProcessLookupError):
            os.kill(frozen, signal.SIGCONT)
    site.settle()
    return f"replaced after {took:.1f} s, its runs {dict(endings)}, next {honest(site, range(3))}"


@contextmanager
def crowd(site: Site, source: str = SLEEP) -> Iterator[list[socket.socket]]:
    """Two programs run and four wait; their clients read nothing."""
    with ExitStack() as stack:
        clients = [begun(site, source.replace("{n}", str(k)), k) for k in range(6)]
        for client in clients:
            stack.callback(client.close)
        runs(site, 2, 4)
        yield clients


def killed_server(site: Site, times: int = 1, within: float = 10.0) -> str:
    """SIGKILL leaves nothing of it, and another one starts on its port at once."""
    waits = []
    for _ in range(times):
        with crowd(site):
            assert site.server is not None and len(site.workers()) >= 3
            site.server.kill()
            site.server.wait()
            waits.append(until("nothing of it is left", lambda: not site.workers(), within))
            site.start()
            site.settle()
        honest(site, range(3))
    return f"{times} killed: nothing left after {max(waits):.2f} s; the next one served on the same port"


def killed_saving(site: Site, saves: int = 1000, at_once: int = 1000, kills: int = 3, postgresql: bool = False) -> str:
    """SIGKILL while so many save, so often: every save that was answered is there, whole, and the next server goes on."""
    if postgresql:
        return elsewhere(site, saves, at_once, kills)
    answered: dict[str, str] = {}  # id -> title
    unanswered = 0
    right(0, asked(site, program(0)))
    for turn in range(kills):
        goal = len(answered) + saves // 3
        with ThreadPoolExecutor(at_once) as threads:
            tries = [threads.submit(saving, site, f"{turn} {k}", answered) for k in range(saves)]
            until(f"{goal} are saved", lambda goal=goal: len(answered) >= goal, 60)  # type: ignore[misc]
            assert site.server is not None
            site.server.kill()
            site.server.wait()
            unanswered += sum(not one.result() for one in tries)
        until("nothing of it is left", lambda: not site.workers(), 10)
        site.start()
        site.settle()
        for id_, title in answered.items():
            status, told = fetched(site, f"/s/{id_}.json")
            assert (status, told.get("title")) == (200, title), (id_, status, told)
            status, trace = fetched(site, f"/s/{id_}.trace.json")
            assert status == 200 and not wrong(0, trace), (id_, status)
    assert unanswered, "it was killed after the last save"
    return f"{len(answered)} of {kills * saves} saves were answered and are whole after {kills} kills; {unanswered} were not"


def saving(site: Site, title: str, answered: dict[str, str]) -> bool:
    """Save a scenario of this title; whether that was answered."""
    try:
        status, told = fetched(site, "/api/scenarios", json.dumps({"source": program(0), "title": title}))
    except (OSError, http.client.HTTPException):
        return False
    assert status == 201, (status, told)
    answered[told["id"]] = title
    return True


def fetched(site: Site, path: str, body: str | None = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", site.port, 60)
    try:
        connection.request("POST" if body else "GET", path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def elsewhere(site: Site, saves: int, at_once: int, kills: int) -> str:
    """The same with a PostgreSQL, where there is one."""
    where = postgres.programs()
    if where is None:
        return "not tried: no PostgreSQL on this machine"
    with postgres.running(where) as address:
        os.environ["DATABASE_URL"] = postgres.database(address, "chaos")
        try:
            site.stop()
            site.start()
            site.settle()
            return "PostgreSQL: " + killed_saving(site, saves, at_once, kills)
        finally:
            del os.environ["DATABASE_URL"]
            site.stop()


def killed_at_boot(site: Site, within: float = 2.0) -> str:
    """SIGKILL while the first worker still boots leaves nothing, either."""
    waits = []
    for k in range(4):
        site.stop()
        site.start()
        until("a worker boots", site.workers, 30)
        time.sleep(0.4 * k)
        assert site.server is not None
        site.server.kill()
        site.server.wait()
        waits.append(
            until(
                f"nothing is left of what was killed {0.4 * k:.1f} s into its boot", lambda: not site.workers(), within
            )
        )
    return f"4 killed: nothing left after {max(waits):.2f} s"


def asked_to_end(site: Site, within: float, what: str) -> list[str]:
    """SIGTERM, and after another start SIGINT, end the whole server, whatever its clients do."""
    said = []
    for number in (signal.SIGTERM, signal.SIGINT):
        with crowded(site, what):
            assert site.server is not None
            site.server.send_signal(number)
            began = time.monotonic()
            with suppress(subprocess.TimeoutExpired):
                site.server.wait(within)
            took = time.monotonic() - began
            assert site.server.poll() is not None, f"{number.name} under {what}: it still runs after {within:.0f} s"
            until("its workers are gone", lambda: not site.workers(), 2)
        said.append(f"{number.name} {took:.1f} s")
        site.start()
        site.settle()
        honest(site, range(2))
    return said


@contextmanager
def crowded(site: Site, what: str) -> Iterator[None]:
    """Clients of a kind, at whatever they do."""
    with ExitStack() as stack:
        if what == "quick programs":
            threads = stack.enter_context(ThreadPoolExecutor(8))
            futures = [threads.submit(asked, site, program(n), n) for n in range(200)]
            stack.callback(lambda: [future.cancel() or future.exception() for future in futures])
            until("some are answered", lambda: sum(future.done() for future in futures) >= 8, 60)
        elif what == "long programs":
            stack.enter_context(crowd(site))
        elif what == "a client that never reads":
            stack.callback(begun(site, BIG.replace("{n}", "1")).close)
            time.sleep(1)
            site.settle()
        elif what == "half a request":
            stack.callback(begun(site, program(1), size=-10).close)
        else:
            stack.callback(listening(site, SLEEP.replace("{n}", "0")).close)
        time.sleep(0.3)
        yield


def ended_server(site: Site) -> str:
    """Ctrl-C and SIGTERM while programs run and wait leave nothing."""
    return ", ".join(asked_to_end(site, 30, "quick programs"))


def ended_against(what: str) -> Callable[[Site], str]:
    def check(site: Site) -> str:
        return ", ".join(asked_to_end(site, 30, what))

    check.__name__ = f"ended_against_{what.replace(' ', '_')}"
    check.__doc__ = f"Ctrl-C and SIGTERM against {what} leave nothing."
    return check


def flood(site: Site, posts: int = 200, at_once: int = 200) -> str:
    """Each of hundreds of programs gets its trace or a 429 that says when to come back."""
    site.settle()
    before, began, counts = site.figures(), time.monotonic(), Counter[str]()
    with ThreadPoolExecutor(at_once) as threads:
        for n, answer in enumerate(threads.map(lambda n: asked(site, program(n), n), range(posts))):
            if answer.status == 429:
                assert int(answer.headers.get("retry-after", 0)) >= 1 and answer.ending == "busy", answer.body
            else:
                right(n, answer)
            counts[answer.ending] += 1
    took = time.monotonic() - began
    assert counts["busy"] and counts["finished"] > 2, counts
    site.settle()
    same(before, site.figures())
    return f"{posts} posts in {took:.1f} s: {counts['finished']} traces, {counts['busy']} told to come back; next {honest(site, range(3))}"


def same(before: Figures, after: Figures) -> None:
    """The server has as many processes and descriptors as before."""
    counts = [(figures.processes, figures.descriptors) for figures in (before, after)]
    assert counts[0] == counts[1], f"processes and descriptors before and after: {counts}"


def vanished_clients(site: Site, times: int = 15) -> str:
    """Their programs are ended, whether they run or wait, and their turns are free."""
    site.settle()
    before, waits = site.figures(), []
    for rudely in (False, True):
        with crowd(site) as clients:
            for client in clients:
                vanish(client, rudely)
            waits.append(until("their programs are gone", lambda: len(site.children()) == 2, 10))
        honest(site, range(2))
    for k in range(times):  # at any moment of a run
        client = begun(site, program(k), k)
        time.sleep(0.002 * (k % 40))
        vanish(client, bool(k % 2))
    site.settle()
    same(before, site.figures())
    return f"6 at once, gone after {max(waits):.2f} s; {times} more at any moment; next {honest(site, range(2))}"


def slow_readers(site: Site, never: int = 3) -> str:
    """Clients that read slowly, never, or send half a request hold up nobody; the slow one gets all of it."""
    site.settle()
    before = site.figures()
    with ExitStack() as stack:
        for k in range(never):
            stack.callback(begun(site, BIG.replace("{n}", str(k)), k).close)
            stack.callback(begun(site, program(k), k, size=60 + k).close)
        slow = begun(site, BIG.replace("{n}", str(never)), never, buffer=1 << 16)
        stack.callback(slow.close)
        data = slow.recv(2048)
        site.settle()  # all of these programs have run
        resident = site.figures().resident
        took = honest(site, range(10), 20)
        while chunk := slow.recv(1 << 16):
            data += chunk
            if data.endswith(b"}"):
                with suppress(ValueError):
                    trace = json.loads(data.partition(b"\r\n\r\n")[2])
                    break
            time.sleep(0.001)
        assert trace["outcome"]["stopped"]["limit"] == "trace", trace["outcome"]
    until("their connections are gone", lambda: site.figures().descriptors == before.descriptors, 10)
    sizes = "/".join(f"{size / MIB:.0f}" for size in (before.resident, resident, site.figures().resident))
    return (
        f"{never} that never read, {never} with half a request: others {took}; the slow one read "
        f"{len(data) / 1e6:.1f} MB; the server has {sizes} MiB (before/during/after)"
    )


def no_descriptors(site: Site) -> str:
    """While the server can open nothing more some are sent away; afterwards it serves as before."""
    before, limits = site.figures(), resource.prlimit(site.pid, resource.RLIMIT_NOFILE)
    endings: Counter[str] = Counter()
    with ExitStack() as stack:
        connections = [http.client.HTTPConnection("127.0.0.1", site.port, 20) for _ in range(4)]
        for connection in connections:
            stack.callback(connection.close)
            connection.connect()
        until("they are connected", lambda: site.figures().descriptors >= before.descriptors + 4, 10)
        resource.prlimit(site.pid, resource.RLIMIT_NOFILE, (site.figures().descriptors + 1, limits[1]))
        stack.callback(resource.prlimit, site.pid, resource.RLIMIT_NOFILE, limits)
        for _ in range(8):
            stack.callback(socket.create_connection(("127.0.0.1", site.port), 10).close)
        for n, connection in enumerate(connections):
            try:
                connection.request(
                    "POST", "/api/runs", json.dumps({"source": program(n)}), {"Content-Type": "application/json"}
                )
                answer = connection.getresponse()
                endings[str(answer.status)] += 1
                answer.read()
            except OSError as error:
                endings[type(error).__name__] += 1
    site.settle(30)
    same(before, site.figures())
    return f"4 programs meanwhile: {dict(endings)}; afterwards {honest(site, range(5))}"


def listening(site: Site, source: str) -> socket.socket:
    """A connection that hears of a run, whose first event has come."""
    connection = http.client.HTTPConnection("127.0.0.1", site.port, 30)
    try:
        headers = {"Content-Type": "application/json", "Prefer": "respond-async"}
        connection.request("POST", "/api/runs", json.dumps({"source": source}), headers)
        place = json.loads(connection.getresponse().read())["events"]
    finally:
        connection.close()
    listener = socket.create_connection(("127.0.0.1", site.port), 30)
    listener.sendall(f"GET {place} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    data = b""
    while b"data: " not in data:
        data += listener.recv(1 << 12)
    return listener


def gone_listener(site: Site, patience: float = 30.0) -> str:
    """When the last one who listens to a run has gone, it is ended; one who only left for a moment finds it running."""
    site.settle()
    before = site.figures()
    for rudely in (False, True):
        listener = listening(site, SLEEP.replace("{n}", str(int(rudely))))
        runs(site, 1)
        vanish(listener, rudely)
        took = until("its program is gone", lambda: len(site.children()) == 2, patience)
        site.settle()
    same(before, site.figures())
    return f"its program is gone after {took:.1f} s"


def many_runs(site: Site, count: int = 200, room: int = 24 * MIB) -> str:
    """So many quick runs, and the server is what it was before. room: bytes by which it may have grown."""

    def measured() -> tuple[Figures, int, int]:
        site.settle()
        zygote = site.zygote()
        return site.figures(), kilobytes(zygote, "status", "VmRSS:"), len(os.listdir(f"/proc/{zygote}/fd"))

    def several(numbers: range) -> None:
        for _ in threads.map(lambda n: honest(site, range(n, n + 1)), numbers):
            pass

    with ThreadPoolExecutor(4) as threads:
        several(range(min(count // 4, 500)))
        before, first, held = measured()
        began, sizes = time.monotonic(), [before.resident]
        for start in range(1000, 1000 + count, 1000):
            several(range(start, min(start + 1000, 1000 + count)))
            sizes.append(kilobytes(site.pid, "status", "VmRSS:"))
        took = time.monotonic() - began
    after, last, holds = measured()
    same(before, after)
    assert holds == held, f"descriptors of the zygote: {held}, then {holds}"
    told = " ".join(f"{size / MIB:.0f}" for size in sizes)
    assert after.resident - before.resident <= room, f"the server grew: {told} MiB"
    assert last - first <= 8 * MIB, f"the zygote grew from {first / MIB:.0f} to {last / MIB:.0f} MiB"
    return (
        f"{count} in {took:.0f} s, {count / took:.0f}/s; the server {told} MiB, the zygote {first / MIB:.0f} to "
        f"{last / MIB:.0f} MiB; {after.processes} processes, {after.descriptors} + {holds} descriptors as before"
    )


def hostile_programs(site: Site, rounds: int = 1) -> str:
    """Every program that does its worst gets its ending, and every honest one beside it is right."""
    over = threading.Event()

    def reap() -> None:
        """As the kernel would where memory runs out."""
        while not over.wait(0.1):
            for pid in busy(site, 500):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    site.settle()
    before, served, endings = site.figures(), 0, Counter[str]()
    reaper = threading.Thread(target=reap)
    reaper.start()
    try:
        with ThreadPoolExecutor(6) as threads:
            for turn in range(rounds):
                worst = {
                    name: threads.submit(asked, site, source.replace("{n}", str(turn)), k)
                    for k, (name, (source, _)) in enumerate(HOSTILE.items())
                    for _ in range(2)
                }
                good = [threads.submit(honest, site, range(n, n + 3)) for n in range(8)]
                for name, one in worst.items():
                    answer = one.result(120)
                    assert answer.ending == HOSTILE[name][1], f"a program that {name}: {answer.body['outcome']}"
                    endings[answer.ending] += 1
                for done in good:
                    done.result(120)
                    served += 3
    finally:
        over.set()
        reaper.join()
    site.settle()
    same(before, site.figures())
    return f"{served} honest ones right beside {dict(endings)}"


Check = Callable[..., str]

ALL: tuple[tuple[Check, dict[str, Any], dict[str, Any]], ...] = (
    (killed_child, {"times": 10}, {}),
    (killed_zygote, {"times": 3}, {}),
    (stopped_zygote, {"seconds": 5}, {}),
    (stopped_zygote, {"seconds": 14}, {"wall": 10}),
    (frozen_zygote, {}, {"wall": 3, "boot": 10}),
    (killed_server, {"times": 3, "within": 2}, {}),
    (killed_at_boot, {}, {}),
    (killed_saving, {}, SAVING),
    (killed_saving, {"postgresql": True}, SAVING),
    (ended_server, {}, {}),
    (ended_against("long programs"), {}, {}),
    (ended_against("a client that never reads"), {}, {}),
    (ended_against("half a request"), {}, {}),
    (ended_against("a listener"), {}, {}),
    (flood, {"posts": 2000, "at_once": 400}, {}),
    (vanished_clients, {"times": 200}, {}),
    (slow_readers, {"never": 20}, {}),
    (no_descriptors, {}, {}),
    (gone_listener, {}, {}),
    (hostile_programs, {"rounds": 5}, {}),
    (many_runs, {"count": 10_000, "room": 32 * MIB}, {}),
)
"""Each check, at the size and under the settings that `make chaos` has."""


def done(check: Check, size: dict[str, Any], settings: dict[str, Any]) -> bool:
    """Do it to a server of its own and print what came of it; whether it holds."""
    print(f"{check.__name__:44} ", end="", flush=True)
    began, log = time.monotonic(), ""
    try:
        with Site(**{**FREE, **settings}) as site:
            try:
                said = check(site, **size)
            finally:
                log = site.log()
        held = True
    except Exception as error:
        said, held = f"{type(error).__name__}: {error}".splitlines()[0], False
    print(f"{'held' if held else 'BROKEN':7} {time.monotonic() - began:5.0f} s  {said}", flush=True)
    for line in complaints(log):
        print(f"{'':53} {line}", flush=True)
    return held


def complaints(log: str) -> list[str]:
    """What a server wrote that it should not have to: failures that nobody caught, how often each."""
    found: Counter[str] = Counter()
    lines = log.splitlines()
    for k, line in enumerate(lines):
        if line.startswith("Traceback"):
            last = next((after for after in lines[k + 1 :] if after and not after.startswith(" ")), "")
            found[last[:150]] += 1
        elif "never retrieved" in line or "was destroyed" in line:
            found[line[:150]] += 1
    return [f"{count} x in its log: {what}" for what, count in found.most_common(5)]


def main(names: list[str]) -> int:
    unknown = set(names) - {check.__name__ for check, _, _ in ALL}
    if unknown:
        print(f"no such check: {', '.join(sorted(unknown))}; there are {', '.join(row[0].__name__ for row in ALL)}")
        return 2
    found = [done(*row) for row in ALL if not names or row[0].__name__ in names]
    print(f"{sum(found)} of {len(found)} held")
    return 0 if all(found) else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is ended, too
    sys.exit(main(sys.argv[1:]))
