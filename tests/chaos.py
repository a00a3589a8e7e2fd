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

from benchmarks.load import mistake, program
from benchmarks.measured_server import MIB, MeasuredServer, ResourceUsage, proc_bytes, proc_stat
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


def post_program(server: MeasuredServer, source: str, number: int = 0, timeout: float = 120.0) -> Answer:
    """The answer to a program, asked for from the address of that number. Raises OSError and HTTPException."""
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout, (address(number), 0))
    try:
        connection.request("POST", "/api/runs", json.dumps({"source": source}), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        body = json.loads(answer.read())
        return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, body, time.perf_counter() - began)
    finally:
        connection.close()


def address(number: int) -> str:
    return f"127.0.{1 + number // 250 % 250}.{1 + number % 250}"


def start_post(
    server: MeasuredServer, source: str, number: int = 0, size: int | None = None, buffer: int = 4096
) -> socket.socket:
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
    connection.connect(("127.0.0.1", server.port))
    connection.sendall(f"{head}\r\n\r\n{body}".encode()[:size])
    return connection


def close_connection(connection: socket.socket, rudely: bool = False) -> None:
    """Close it. rudely: with a reset."""
    if rudely:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def assert_correct(n: int, answer: Answer) -> None:
    """It is the trace of `program(n)`."""
    assert answer.status == 200, (answer.status, answer.body.get("error"))
    assert not mistake(n, answer.body), (mistake(n, answer.body), answer.body["outcome"])


def run_honest_programs(server: MeasuredServer, numbers: range, patience: float = 60.0) -> str:
    """Have these programs run, one after the other, and each be right; how long they took."""
    seconds = []
    for n in numbers:
        answer = post_program(server, program(n), n, patience)
        assert_correct(n, answer)
        seconds.append(answer.seconds)
    return f"{min(seconds) * 1000:.0f} to {max(seconds) * 1000:.0f} ms"


def wait_until(what: str, holds: Callable[[], object], patience: float) -> float:
    """Wait for it; the seconds that took."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < patience, f"not within {patience:.0f} s: {what}"
        time.sleep(0.01)
    return time.monotonic() - began


def wait_until_gone(server: MeasuredServer, pids: set[int], patience: float) -> float:
    """Wait until these workers of it are gone; the seconds that took."""
    return wait_until(f"the workers {sorted(pids)} are gone", lambda: not pids & set(server.workers()), patience)


def wait_until_running(server: MeasuredServer, running: int, waiting: int = 0) -> None:
    """Wait until so many run, each with a child, and so many wait."""
    names = ("gradbox_running", "gradbox_waiting", "gradbox_spare_children")

    def holds() -> bool:
        metrics = server.metrics()
        facts = *(metrics[name] for name in names), len(server.children())
        return facts == (running, waiting, 2, running + 2)

    wait_until(f"{running} run and {waiting} wait", holds, 30)


def busy_workers(server: MeasuredServer, ticks: int = 50) -> list[int]:
    """The children that have used so many hundredths of a second of their processor."""
    workers = []
    for pid in server.children():
        with suppress(OSError):
            if int(proc_stat(pid)[11]) >= ticks:
                workers.append(pid)
    return workers


@contextmanager
def posting(server: MeasuredServer, source: str, count: int) -> Iterator[list[Future[Answer]]]:
    """So many programs asked for at once, `source` with a number of its own each; left when all are answered."""
    with ThreadPoolExecutor(count) as threads:
        yield [threads.submit(post_program, server, source.replace("{n}", str(k)), k) for k in range(count)]


def kill_child(server: MeasuredServer, times: int = 2) -> str:
    """Its run ends as a crash, at once; spare ones are replaced."""
    waits = []
    for _ in range(times):
        with posting(server, SPIN, 1) as (answer,):
            wait_until("the program runs", lambda: busy_workers(server), 30)
            os.kill(busy_workers(server)[0], signal.SIGKILL)
            began = time.monotonic()
            crashed = answer.result(30)
            waits.append(time.monotonic() - began)
        assert crashed.ending == "crashed" and crashed.body["outcome"].get("signal") == signal.SIGKILL, crashed.body[
            "outcome"
        ]
        server.wait_until_idle()
        spare = set(server.children())
        for pid in spare:
            os.kill(pid, signal.SIGKILL)
        wait_until_gone(server, spare, 30)
        server.wait_until_idle()
        run_honest_programs(server, range(3))
    return (
        f"{times} killed under their programs, told after {max(waits) * 1000:.0f} ms; {2 * times} spare ones replaced"
    )


def kill_zygote(server: MeasuredServer, times: int = 1) -> str:
    """Its runs are lost, those that wait are served by the next one."""
    waits = []
    for _ in range(times):
        with posting(server, SLEEP, 2) as lost, ThreadPoolExecutor(4) as threads:
            wait_until_running(server, 2)
            waiting = [threads.submit(post_program, server, program(n), 10 + n) for n in range(4)]
            wait_until_running(server, 2, 4)
            old = server.workers()
            os.kill(server.zygote(), signal.SIGKILL)
            began = time.monotonic()
            assert [answer.result(30).ending for answer in lost] == ["lost"] * 2
            wait_until_gone(server, set(old), 10)
            for n, answer in enumerate(waiting):
                assert_correct(n, answer.result(90))
            waits.append(time.monotonic() - began)
        server.wait_until_idle()
        run_honest_programs(server, range(3))
    return f"{times} killed: 2 runs lost each, 4 that waited were right after {max(waits):.1f} s"


def stop_zygote(server: MeasuredServer, seconds: float = 2.0) -> str:
    """While it stands still the server answers; then every run that was asked for meanwhile is right.

    Where that takes long it may be given up and its runs lost, but nothing is said that did not happen.
    """
    zygote = server.zygote()
    with ThreadPoolExecutor(6) as threads:
        os.kill(zygote, signal.SIGSTOP)
        try:
            waiting = [threads.submit(post_program, server, program(n), n) for n in range(6)]
            time.sleep(seconds)
            began = time.monotonic()
            server.metrics()
            took = time.monotonic() - began
        finally:
            with suppress(ProcessLookupError):  # it was given up
                os.kill(zygote, signal.SIGCONT)
        answers = [answer.result(60) for answer in waiting]
    lost = [n for n, answer in enumerate(answers) if answer.ending == "lost"]
    assert not lost or seconds > 5, f"lost: {lost}"
    for n, answer in enumerate(answers):
        if n not in lost:
            assert_correct(n, answer)
    server.wait_until_idle()
    return (
        f"{seconds:.0f} s: /metrics took {took * 1000:.0f} ms, of 6 runs {6 - len(lost)} right afterwards and {len(lost)} "
        f"lost, next {run_honest_programs(server, range(6, 9))}"
    )


def freeze_zygote(server: MeasuredServer, patience: float = 60.0) -> str:
    """One that stands still for good is replaced."""
    frozen = server.zygote()
    os.kill(frozen, signal.SIGSTOP)
    try:
        with posting(server, SLEEP, 2) as answers:
            took = wait_until("another one", lambda: server.workers().get(frozen) is None, patience)
            endings = Counter(answer.result(90).ending for answer in answers)
    finally:
        with suppress(ProcessLookupError):
            os.kill(frozen, signal.SIGCONT)
    server.wait_until_idle()
    return f"replaced after {took:.1f} s, its runs {dict(endings)}, next {run_honest_programs(server, range(3))}"


@contextmanager
def crowd(server: MeasuredServer, source: str = SLEEP) -> Iterator[list[socket.socket]]:
    """Two programs run and four wait; their clients read nothing."""
    with ExitStack() as stack:
        clients = [start_post(server, source.replace("{n}", str(k)), k) for k in range(6)]
        for client in clients:
            stack.callback(client.close)
        wait_until_running(server, 2, 4)
        yield clients


def kill_server(server: MeasuredServer, times: int = 1, within: float = 10.0) -> str:
    """SIGKILL leaves nothing of it, and another one starts on its port at once."""
    waits = []
    for _ in range(times):
        with crowd(server):
            assert server.process is not None and len(server.workers()) >= 3
            server.process.kill()
            server.process.wait()
            waits.append(wait_until("nothing of it is left", lambda: not server.workers(), within))
            server.start()
            server.wait_until_idle()
        run_honest_programs(server, range(3))
    return f"{times} killed: nothing left after {max(waits):.2f} s; the next one served on the same port"


def kill_while_saving(
    server: MeasuredServer, saves: int = 1000, at_once: int = 1000, kills: int = 3, postgresql: bool = False
) -> str:
    """SIGKILL while so many save, so often: every save that was answered is there, whole, and the next server goes on."""
    if postgresql:
        return kill_while_saving_on_postgresql(server, saves, at_once, kills)
    answered: dict[str, str] = {}  # id -> title
    unanswered = 0
    assert_correct(0, post_program(server, program(0)))
    for turn in range(kills):
        goal = len(answered) + saves // 3
        with ThreadPoolExecutor(at_once) as threads:
            tries = [threads.submit(save_program, server, f"{turn} {k}", answered) for k in range(saves)]
            wait_until(f"{goal} are saved", lambda goal=goal: len(answered) >= goal, 60)  # type: ignore[misc]
            assert server.process is not None
            server.process.kill()
            server.process.wait()
            unanswered += sum(not save.result() for save in tries)
        wait_until("nothing of it is left", lambda: not server.workers(), 10)
        server.start()
        server.wait_until_idle()
        for id_, title in answered.items():
            status, content = fetch(server, f"/s/{id_}.json")
            assert (status, content.get("title")) == (200, title), (id_, status, content)
            status, trace = fetch(server, f"/s/{id_}.trace.json")
            assert status == 200 and not mistake(0, trace), (id_, status)
    assert unanswered, "it was killed after the last save"
    return f"{len(answered)} of {kills * saves} saves were answered and are whole after {kills} kills; {unanswered} were not"


def save_program(server: MeasuredServer, title: str, answered: dict[str, str]) -> bool:
    """Save a scenario of this title; whether that was answered."""
    try:
        status, content = fetch(server, "/api/scenarios", json.dumps({"source": program(0), "title": title}))
    except (OSError, http.client.HTTPException):
        return False
    assert status == 201, (status, content)
    answered[content["id"]] = title
    return True


def fetch(server: MeasuredServer, path: str, body: str | None = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, 60)
    try:
        connection.request("POST" if body else "GET", path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def kill_while_saving_on_postgresql(server: MeasuredServer, saves: int, at_once: int, kills: int) -> str:
    """The same with a PostgreSQL, where there is one."""
    where = postgres.programs()
    if where is None:
        return "not tried: no PostgreSQL on this machine"
    with postgres.running(where) as address:
        os.environ["DATABASE_URL"] = postgres.database(address, "chaos")
        try:
            server.stop()
            server.start()
            server.wait_until_idle()
            return "PostgreSQL: " + kill_while_saving(server, saves, at_once, kills)
        finally:
            del os.environ["DATABASE_URL"]
            server.stop()


def kill_at_boot(server: MeasuredServer, within: float = 2.0) -> str:
    """SIGKILL while the first worker still boots leaves nothing, either."""
    waits = []
    for k in range(4):
        server.stop()
        server.start()
        wait_until("a worker boots", server.workers, 30)
        time.sleep(0.4 * k)
        assert server.process is not None
        server.process.kill()
        server.process.wait()
        waits.append(
            wait_until(
                f"nothing is left of what was killed {0.4 * k:.1f} s into its boot",
                lambda: not server.workers(),
                within,
            )
        )
    return f"4 killed: nothing left after {max(waits):.2f} s"


def terminate(server: MeasuredServer, within: float, what: str) -> list[str]:
    """SIGTERM, and after another start SIGINT, end the whole server, whatever its clients do."""
    rows = []
    for number in (signal.SIGTERM, signal.SIGINT):
        with under_load(server, what):
            assert server.process is not None
            server.process.send_signal(number)
            began = time.monotonic()
            with suppress(subprocess.TimeoutExpired):
                server.process.wait(within)
            took = time.monotonic() - began
            assert server.process.poll() is not None, f"{number.name} under {what}: it still runs after {within:.0f} s"
            wait_until("its workers are gone", lambda: not server.workers(), 2)
        rows.append(f"{number.name} {took:.1f} s")
        server.start()
        server.wait_until_idle()
        run_honest_programs(server, range(2))
    return rows


@contextmanager
def under_load(server: MeasuredServer, what: str) -> Iterator[None]:
    """Clients of a kind, at whatever they do."""
    with ExitStack() as stack:
        if what == "quick programs":
            threads = stack.enter_context(ThreadPoolExecutor(8))
            futures = [threads.submit(post_program, server, program(n), n) for n in range(200)]
            stack.callback(lambda: [future.cancel() or future.exception() for future in futures])
            wait_until("some are answered", lambda: sum(future.done() for future in futures) >= 8, 60)
        elif what == "long programs":
            stack.enter_context(crowd(server))
        elif what == "a client that never reads":
            stack.callback(start_post(server, BIG.replace("{n}", "1")).close)
            time.sleep(1)
            server.wait_until_idle()
        elif what == "half a request":
            stack.callback(start_post(server, program(1), size=-10).close)
        else:
            stack.callback(open_event_stream(server, SLEEP.replace("{n}", "0")).close)
        time.sleep(0.3)
        yield


def terminate_server(server: MeasuredServer) -> str:
    """Ctrl-C and SIGTERM while programs run and wait leave nothing."""
    return ", ".join(terminate(server, 30, "quick programs"))


def terminate_under(what: str) -> Callable[[MeasuredServer], str]:
    def check(server: MeasuredServer) -> str:
        return ", ".join(terminate(server, 30, what))

    check.__name__ = f"ended_against_{what.replace(' ', '_')}"
    check.__doc__ = f"Ctrl-C and SIGTERM against {what} leave nothing."
    return check


def flood(server: MeasuredServer, posts: int = 200, at_once: int = 200) -> str:
    """Each of hundreds of programs gets its trace or a 429 that says when to come back."""
    server.wait_until_idle()
    before, began, counts = server.usage(), time.monotonic(), Counter[str]()
    with ThreadPoolExecutor(at_once) as threads:
        for n, answer in enumerate(threads.map(lambda n: post_program(server, program(n), n), range(posts))):
            if answer.status == 429:
                assert int(answer.headers.get("retry-after", 0)) >= 1 and answer.ending == "busy", answer.body
            else:
                assert_correct(n, answer)
            counts[answer.ending] += 1
    took = time.monotonic() - began
    assert counts["busy"] and counts["finished"] > 2, counts
    server.wait_until_idle()
    assert_same_usage(before, server.usage())
    return f"{posts} posts in {took:.1f} s: {counts['finished']} traces, {counts['busy']} told to come back; next {run_honest_programs(server, range(3))}"


def assert_same_usage(before: ResourceUsage, after: ResourceUsage) -> None:
    """The server has as many processes and descriptors as before."""
    counts = [(usage.processes, usage.descriptors) for usage in (before, after)]
    assert counts[0] == counts[1], f"processes and descriptors before and after: {counts}"


def vanished_clients(server: MeasuredServer, times: int = 15) -> str:
    """Their programs are ended, whether they run or wait, and their turns are free."""
    server.wait_until_idle()
    before, waits = server.usage(), []
    for rudely in (False, True):
        with crowd(server) as clients:
            for client in clients:
                close_connection(client, rudely)
            waits.append(wait_until("their programs are gone", lambda: len(server.children()) == 2, 10))
        run_honest_programs(server, range(2))
    for k in range(times):  # at any moment of a run
        client = start_post(server, program(k), k)
        time.sleep(0.002 * (k % 40))
        close_connection(client, bool(k % 2))
    server.wait_until_idle()
    assert_same_usage(before, server.usage())
    return f"6 at once, gone after {max(waits):.2f} s; {times} more at any moment; next {run_honest_programs(server, range(2))}"


def slow_readers(server: MeasuredServer, never: int = 3) -> str:
    """Clients that read slowly, never, or send half a request hold up nobody; the slow one gets all of it."""
    server.wait_until_idle()
    before = server.usage()
    with ExitStack() as stack:
        for k in range(never):
            stack.callback(start_post(server, BIG.replace("{n}", str(k)), k).close)
            stack.callback(start_post(server, program(k), k, size=60 + k).close)
        slow = start_post(server, BIG.replace("{n}", str(never)), never, buffer=1 << 16)
        stack.callback(slow.close)
        data = slow.recv(2048)
        server.wait_until_idle()  # all of these programs have run
        resident = server.usage().resident
        took = run_honest_programs(server, range(10), 20)
        while chunk := slow.recv(1 << 16):
            data += chunk
            if data.endswith(b"}"):
                with suppress(ValueError):
                    trace = json.loads(data.partition(b"\r\n\r\n")[2])
                    break
            time.sleep(0.001)
        assert trace["outcome"]["stopped"]["limit"] == "trace", trace["outcome"]
    wait_until("their connections are gone", lambda: server.usage().descriptors == before.descriptors, 10)
    sizes = "/".join(f"{size / MIB:.0f}" for size in (before.resident, resident, server.usage().resident))
    return (
        f"{never} that never read, {never} with half a request: others {took}; the slow one read "
        f"{len(data) / 1e6:.1f} MB; the server has {sizes} MiB (before/during/after)"
    )


def no_descriptors(server: MeasuredServer) -> str:
    """While the server can open nothing more some are sent away; afterwards it serves as before."""
    before, limits = server.usage(), resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
    endings: Counter[str] = Counter()
    with ExitStack() as stack:
        connections = [http.client.HTTPConnection("127.0.0.1", server.port, 20) for _ in range(4)]
        for connection in connections:
            stack.callback(connection.close)
            connection.connect()
        wait_until("they are connected", lambda: server.usage().descriptors >= before.descriptors + 4, 10)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (server.usage().descriptors + 1, limits[1]))
        stack.callback(resource.prlimit, server.pid, resource.RLIMIT_NOFILE, limits)
        for _ in range(8):
            stack.callback(socket.create_connection(("127.0.0.1", server.port), 10).close)
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
    server.wait_until_idle(30)
    assert_same_usage(before, server.usage())
    return f"4 programs meanwhile: {dict(endings)}; afterwards {run_honest_programs(server, range(5))}"


def open_event_stream(server: MeasuredServer, source: str) -> socket.socket:
    """A connection that hears of a run, whose first event has come."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, 30)
    try:
        headers = {"Content-Type": "application/json", "Prefer": "respond-async"}
        connection.request("POST", "/api/runs", json.dumps({"source": source}), headers)
        path = json.loads(connection.getresponse().read())["events"]
    finally:
        connection.close()
    listener = socket.create_connection(("127.0.0.1", server.port), 30)
    listener.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    data = b""
    while b"data: " not in data:
        data += listener.recv(1 << 12)
    return listener


def drop_event_stream(server: MeasuredServer, patience: float = 30.0) -> str:
    """When the last one who listens to a run has gone, it is ended; one who only left for a moment finds it running."""
    server.wait_until_idle()
    before = server.usage()
    for rudely in (False, True):
        listener = open_event_stream(server, SLEEP.replace("{n}", str(int(rudely))))
        wait_until_running(server, 1)
        close_connection(listener, rudely)
        took = wait_until("its program is gone", lambda: len(server.children()) == 2, patience)
        server.wait_until_idle()
    assert_same_usage(before, server.usage())
    return f"its program is gone after {took:.1f} s"


def many_runs(server: MeasuredServer, count: int = 200, room: int = 24 * MIB) -> str:
    """So many quick runs, and the server is what it was before. room: bytes by which it may have grown."""

    def measured() -> tuple[ResourceUsage, int, int]:
        server.wait_until_idle()
        zygote = server.zygote()
        return server.usage(), proc_bytes(zygote, "status", "VmRSS:"), len(os.listdir(f"/proc/{zygote}/fd"))

    def several(numbers: range) -> None:
        for _ in threads.map(lambda n: run_honest_programs(server, range(n, n + 1)), numbers):
            pass

    with ThreadPoolExecutor(4) as threads:
        several(range(min(count // 4, 500)))
        before, first, held = measured()
        began, sizes = time.monotonic(), [before.resident]
        for start in range(1000, 1000 + count, 1000):
            several(range(start, min(start + 1000, 1000 + count)))
            sizes.append(proc_bytes(server.pid, "status", "VmRSS:"))
        took = time.monotonic() - began
    after, last, holds = measured()
    assert_same_usage(before, after)
    assert holds == held, f"descriptors of the zygote: {held}, then {holds}"
    growth = " ".join(f"{size / MIB:.0f}" for size in sizes)
    assert after.resident - before.resident <= room, f"the server grew: {growth} MiB"
    assert last - first <= 8 * MIB, f"the zygote grew from {first / MIB:.0f} to {last / MIB:.0f} MiB"
    return (
        f"{count} in {took:.0f} s, {count / took:.0f}/s; the server {growth} MiB, the zygote {first / MIB:.0f} to "
        f"{last / MIB:.0f} MiB; {after.processes} processes, {after.descriptors} + {holds} descriptors as before"
    )


def hostile_programs(server: MeasuredServer, rounds: int = 1) -> str:
    """Every program that does its worst gets its ending, and every honest one beside it is right."""
    over = threading.Event()

    def reap() -> None:
        """As the kernel would where memory runs out."""
        while not over.wait(0.1):
            for pid in busy_workers(server, 500):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    server.wait_until_idle()
    before, served, endings = server.usage(), 0, Counter[str]()
    reaper = threading.Thread(target=reap)
    reaper.start()
    try:
        with ThreadPoolExecutor(6) as threads:
            for turn in range(rounds):
                worst = {
                    name: threads.submit(post_program, server, source.replace("{n}", str(turn)), k)
                    for k, (name, (source, _)) in enumerate(HOSTILE.items())
                    for _ in range(2)
                }
                good = [threads.submit(run_honest_programs, server, range(n, n + 3)) for n in range(8)]
                for name, future in worst.items():
                    answer = future.result(120)
                    assert answer.ending == HOSTILE[name][1], f"a program that {name}: {answer.body['outcome']}"
                    endings[answer.ending] += 1
                for done in good:
                    done.result(120)
                    served += 3
    finally:
        over.set()
        reaper.join()
    server.wait_until_idle()
    assert_same_usage(before, server.usage())
    return f"{served} honest ones right beside {dict(endings)}"


Check = Callable[..., str]

ALL: tuple[tuple[Check, dict[str, Any], dict[str, Any]], ...] = (
    (kill_child, {"times": 10}, {}),
    (kill_zygote, {"times": 3}, {}),
    (stop_zygote, {"seconds": 5}, {}),
    (stop_zygote, {"seconds": 14}, {"wall": 10}),
    (freeze_zygote, {}, {"wall": 3, "boot": 10}),
    (kill_server, {"times": 3, "within": 2}, {}),
    (kill_at_boot, {}, {}),
    (kill_while_saving, {}, SAVING),
    (kill_while_saving, {"postgresql": True}, SAVING),
    (terminate_server, {}, {}),
    (terminate_under("long programs"), {}, {}),
    (terminate_under("a client that never reads"), {}, {}),
    (terminate_under("half a request"), {}, {}),
    (terminate_under("a listener"), {}, {}),
    (flood, {"posts": 2000, "at_once": 400}, {}),
    (vanished_clients, {"times": 200}, {}),
    (slow_readers, {"never": 20}, {}),
    (no_descriptors, {}, {}),
    (drop_event_stream, {}, {}),
    (hostile_programs, {"rounds": 5}, {}),
    (many_runs, {"count": 10_000, "room": 32 * MIB}, {}),
)
"""Each check, at the size and under the settings that `make chaos` has."""


def run_check(check: Check, size: dict[str, Any], settings: dict[str, Any]) -> bool:
    """Do it to a server of its own and print what came of it; whether it holds."""
    print(f"{check.__name__:44} ", end="", flush=True)
    began, log = time.monotonic(), ""
    try:
        with MeasuredServer(**{**FREE, **settings}) as server:
            try:
                result = check(server, **size)
            finally:
                log = server.log()
        held = True
    except Exception as error:
        result, held = f"{type(error).__name__}: {error}".splitlines()[0], False
    print(f"{'held' if held else 'BROKEN':7} {time.monotonic() - began:5.0f} s  {result}", flush=True)
    for line in log_errors(log):
        print(f"{'':53} {line}", flush=True)
    return held


def log_errors(log: str) -> list[str]:
    """What a server wrote that it should not have to: failures that nobody caught, how often each."""
    counts: Counter[str] = Counter()
    lines = log.splitlines()
    for k, line in enumerate(lines):
        if line.startswith("Traceback"):
            last = next((after for after in lines[k + 1 :] if after and not after.startswith(" ")), "")
            counts[last[:150]] += 1
        elif "never retrieved" in line or "was destroyed" in line:
            counts[line[:150]] += 1
    return [f"{count} x in its log: {what}" for what, count in counts.most_common(5)]


def main(names: list[str]) -> int:
    unknown = set(names) - {check.__name__ for check, _, _ in ALL}
    if unknown:
        print(f"no such check: {', '.join(sorted(unknown))}; there are {', '.join(row[0].__name__ for row in ALL)}")
        return 2
    held = [run_check(*row) for row in ALL if not names or row[0].__name__ in names]
    print(f"{sum(held)} of {len(held)} held")
    return 0 if all(held) else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is ended, too
    sys.exit(main(sys.argv[1:]))
