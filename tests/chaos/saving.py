"""A server that is killed while programs are being saved."""

import http.client
import json
import os
from concurrent.futures import ThreadPoolExecutor

from benchmarks.load import program, trace_mistake
from benchmarks.measured_server import MeasuredServer
from tests import postgres
from tests.chaos.clients import assert_correct, fetch, post_program
from tests.chaos.server_state import wait_until


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
            assert status == 200 and not trace_mistake(0, trace), (id_, status)
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
