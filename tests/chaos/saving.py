"""A server that is killed, or whose database hangs, is locked or full, while programs are being saved."""

import http.client
import json
import os
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from benchmarks.load import program, trace_mistake
from benchmarks.measured_server import MeasuredServer
from server.store.database import DATABASE_FILE
from tests.chaos.clients import assert_correct, fetch, post_program
from tests.chaos.programs import SPIN
from tests.chaos.server_state import busy_workers, wait_until
from tests.support import postgres


def kill_while_saving(
    server: MeasuredServer, saves: int = 1000, at_once: int = 1000, kills: int = 3, postgresql: bool = False
) -> str:
    """SIGKILL while so many save, so often: every save that was answered is there, whole, and the next server goes
    on."""
    if postgresql:
        return kill_while_saving_on_postgresql(server, saves, at_once, kills)
    answered: dict[str, str] = {}  # id -> title
    unanswered = 0
    assert_correct(0, post_program(server, program(0)))
    for turn in range(kills):
        goal = len(answered) + saves // 3
        with ThreadPoolExecutor(at_once) as threads:
            tries = [threads.submit(save_program, server, f"{turn} {k}", answered) for k in range(saves)]
            wait_until(f"{goal} are saved", lambda goal=goal: len(answered) >= goal, 600)  # type: ignore[misc]
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
            assert status == 200 and not trace_mistake(0, trace), (id_, status)
    assert unanswered, "it was killed after the last save"
    return f"{len(answered)} of {kills * saves} saves were answered and are whole after {kills} kills; {unanswered} were not"  # noqa: E501


def save_program(server: MeasuredServer, title: str, answered: dict[str, str]) -> bool:
    """Save a scenario of this title; whether that was answered before the server's end. Of very many connections at
    once the server closes some: these are tried again."""
    process = server.process
    while process is not None and process.poll() is None:
        try:
            status, content = fetch(server, "/api/scenarios", json.dumps({"source": program(0), "title": title}))
        except (OSError, http.client.HTTPException):
            time.sleep(0.05)
            continue
        assert status == 201, (status, content)
        answered[content["id"]] = title
        return True
    return False


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


Trouble = Callable[[], AbstractContextManager[None]]
"""Keeps the database from serving, for as long as it lasts."""


def save_in_trouble(server: MeasuredServer, trouble: Trouble, saves: int, at_once: int, seconds: float) -> str:
    """So many saves are confirmed, while the trouble comes and goes: each is there afterwards, whole; the others were
    refused with 503, in time, and `/healthz` said why."""
    assert_correct(0, post_program(server, program(0)))
    answered: dict[str, str] = {}
    counts, waits, over = Counter[str](), [0.0], threading.Event()

    def save_on(k: int) -> None:
        for n in range(10**6):
            if over.is_set():
                return
            began, title = time.monotonic(), f"{k} {n}"
            with suppress(OSError, http.client.HTTPException):
                status, content = fetch(server, "/api/scenarios", json.dumps({"source": program(0), "title": title}))
                assert status in (201, 503), (status, content)
                if status == 201:
                    answered[content["id"]] = title
                else:
                    assert content["error"]["code"] == "no_store", content
                    time.sleep(0.05)
                counts[str(status) if status == 201 else content["error"]["message"]] += 1
            waits.append(time.monotonic() - began)

    said = set()
    with ThreadPoolExecutor(at_once) as threads:
        tries = [threads.submit(save_on, k) for k in range(at_once)]
        try:
            for turn in range(3):
                goal = (turn + 1) * saves // 4
                wait_until(f"{goal} are saved", lambda goal=goal: len(answered) >= goal, 600)  # type: ignore[misc]
                with trouble():
                    until = time.monotonic() + seconds
                    while time.monotonic() < until:
                        store = fetch(server, "/healthz")[1]["store"]
                        said.add(f"{store['reachable']} {store.get('why', '')}".strip())
                        time.sleep(0.2)
            wait_until(f"{saves} are saved", lambda: len(answered) >= saves, 900)
        finally:
            over.set()
        for done in tries:
            done.result()
    wait_until("the store is well", lambda: fetch(server, "/healthz")[1]["store"]["reachable"], 300)
    assert any(text.startswith("False") for text in said), said
    for id_, title in answered.items():
        status, content = fetch(server, f"/s/{id_}.json")
        assert (status, content.get("title")) == (200, title), (id_, status, content)
        status, trace = fetch(server, f"/s/{id_}.trace.json")
        assert status == 200 and not trace_mistake(0, trace), (id_, status)
    refused = ", ".join(f"{count} x {text}" for text, count in counts.items() if text != "201")
    return f"{len(answered)} confirmed saves are whole; {refused}; longest wait {max(waits):.1f} s; /healthz said {sorted(said)}"  # noqa: E501


def save_while_postgresql_hangs(
    server: MeasuredServer, saves: int = 1000, at_once: int = 30, seconds: float = 8
) -> str:
    """A PostgreSQL that hangs and returns, three times."""
    where = postgres.programs()
    if where is None:
        return "not tried: no PostgreSQL on this machine"
    with postgres.running(where) as address:
        os.environ["DATABASE_URL"] = postgres.database(address, "chaos")
        try:
            restart(server)
            return save_in_trouble(server, lambda: postgres.hanging(address), saves, at_once, seconds)
        finally:
            del os.environ["DATABASE_URL"]
            server.stop()


def save_while_sqlite_is_locked(
    server: MeasuredServer, saves: int = 1000, at_once: int = 30, seconds: float = 8
) -> str:
    """Another process that holds the lock of the SQLite file, three times."""

    @contextmanager
    def locked() -> Iterator[None]:
        other = sqlite3.connect(Path(server.folder) / DATABASE_FILE, timeout=60, isolation_level=None)
        try:
            other.execute("BEGIN IMMEDIATE")
            yield
        finally:
            other.close()

    return save_in_trouble(server, locked, saves, at_once, seconds)


def save_on_a_full_disk(server: MeasuredServer, saves: int = 1000, at_once: int = 30, seconds: float = 8) -> str:
    """A disk of the data that is full, three times, and has room again."""
    with tempfile.TemporaryDirectory(prefix="gradbox-disk-") as folder:
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", folder], capture_output=True).returncode:
            return "not tried: this user may mount no disk"
        try:

            @contextmanager
            def full() -> Iterator[None]:
                ballast = Path(folder) / "ballast"
                try:
                    with suppress(OSError), ballast.open("wb", buffering=0) as file:
                        while True:
                            file.write(bytes(4096))
                    yield
                finally:
                    ballast.unlink()

            server.change_settings(data=folder)
            restart(server)
            return save_in_trouble(server, full, saves, at_once, seconds)
        finally:
            server.stop()
            subprocess.run(["umount", "-l", folder], check=True)


def restart(server: MeasuredServer) -> None:
    """Stop it, and start it with what is set now."""
    server.stop()
    server.start()
    server.wait_until_idle()


def kill_saved_program(server: MeasuredServer, times: int = 3) -> str:
    """A program that is killed while it is saved: what is saved is not that accident."""
    for k in range(times):
        source = f"import time\nx, began = {k}, time.process_time()\nwhile time.process_time() - began < 1.5: pass\n"
        body = json.dumps({"source": source})
        with ThreadPoolExecutor(1) as threads:
            saving = threads.submit(fetch, server, "/api/scenarios", body)
            wait_until("the program runs", lambda: busy_workers(server) or saving.done(), 30)  # noqa: B023
            for pid in busy_workers(server):
                os.kill(pid, signal.SIGKILL)
            status, content = saving.result(60)
        assert status == 201, (status, content)
        outcome = fetch(server, f"/s/{content['id']}.trace.json")[1]["outcome"]
        assert outcome["status"] != "crashed", outcome
    status, content = fetch(server, "/api/scenarios", json.dumps({"source": SPIN.replace("{n}", "1")}))
    outcome = fetch(server, f"/s/{content['id']}.trace.json")[1]["outcome"]
    assert status == 201 and outcome["stopped"]["limit"] == "cpu", "what ends so each time is saved as it ends"
    return f"{times} killed while they were saved: each was run again"
