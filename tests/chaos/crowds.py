"""Many clients, slow ones, and ones that vanish; a server without descriptors."""

import http.client
import json
import os
import resource
import socket
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

from benchmarks.load import program
from benchmarks.measured_server import MIB, MeasuredServer, ResourceUsage, proc_bytes
from tests.chaos.clients import (
    assert_correct,
    close_connection,
    crowd,
    open_event_stream,
    post_program,
    run_honest_programs,
    start_post,
)
from tests.chaos.programs import BIG, SLEEP
from tests.chaos.server_state import assert_same_usage, wait_until, wait_until_running


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
    return f"{posts} posts in {took:.1f} s: {counts['finished']} traces, {counts['busy']} told to come back; next {run_honest_programs(server, range(3))}"  # noqa: E501


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
    return f"6 at once, gone after {max(waits):.2f} s; {times} more at any moment; next {run_honest_programs(server, range(2))}"  # noqa: E501


def body_of(response: bytes) -> bytes:
    """The body of a response, put together where it came in chunks. Raises ValueError where it is not whole."""
    head, _, body = response.partition(b"\r\n\r\n")
    if b"transfer-encoding: chunked" not in head.lower():
        return body
    parts = []
    while body:
        size, _, rest = body.partition(b"\r\n")
        parts.append(rest[: int(size, 16)])
        body = rest[int(size, 16) + 2 :]
    return b"".join(parts)


def slow_readers(server: MeasuredServer, never: int = 3) -> str:
    """Clients that read slowly, never, or send half a request delay no other; the slow one gets all of it."""
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
            if data.endswith((b"}", b"\r\n0\r\n\r\n")):
                with suppress(ValueError):
                    json.loads(body_of(data))
                    break
            time.sleep(0.001)
        trace = json.loads(body_of(data))
        assert trace["outcome"]["stopped"]["limit"] == "trace", trace["outcome"]
    held = before.descriptors_besides_helpers
    wait_until("their connections are gone", lambda: server.usage().descriptors_besides_helpers == held, 10)
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


def drop_event_stream(server: MeasuredServer, max_wait: float = 30.0) -> str:
    """When the last one who listens to a run has gone, it is ended; one who only left for a moment finds it running."""
    server.wait_until_idle()
    before = server.usage()
    for rudely in (False, True):
        listener = open_event_stream(server, SLEEP.replace("{n}", str(int(rudely))))
        wait_until_running(server, 1)
        close_connection(listener, rudely)
        took = wait_until("its program is gone", lambda: len(server.children()) == 2, max_wait)
        server.wait_until_idle()
    assert_same_usage(before, server.usage())
    return f"its program is gone after {took:.1f} s"


def many_runs(server: MeasuredServer, count: int = 80, room: int = 24 * MIB) -> str:
    """So many quick runs, and the server is what it was before.

    room: bytes by which it may have grown
    """

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
