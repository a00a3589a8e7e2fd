"""People who press Run, wait for the answer, look at it for a while, and press again; now and then they save."""

import http.client
import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.chaos.clients import address
from tests.chaos_cluster.programs import Program, choose, mistake

MAX_WAIT = 90.0
"""Seconds to wait for an answer."""

POLL_SECONDS = (0.5, 2.5)
"""Seconds between an answer and the next press."""

SAVES = 0.12
"""Of all presses those of Save."""

REFUSALS = {429: "busy", 503: "unavailable"}


@dataclass(frozen=True)
class Press:
    """What became of one.

    kind: see `judge`; saved: of a press of Save. Times as `time.monotonic`.
    """

    kind: str
    note: str
    asked: float
    answered: float
    save: bool = False
    worker: str = ""


@dataclass
class Presses:
    """What all users did.

    saved: programs by their id
    """

    all: list[Press] = field(default_factory=list)
    saved: dict[str, Program] = field(default_factory=dict)


def judge(program: Program, status: int, body: Any) -> tuple[str, str]:
    """What kind of answer a press of Run got, and what is wrong with it.

    finished, lost: its trace. busy, unavailable: a refusal that says so. wrong: the trace of another program. Else odd.
    """
    if status == 200:
        wrong = mistake(program, body)
        ending = body["outcome"]["status"]
        if wrong and ending in ("finished", "lost"):
            return "wrong", wrong
        return (ending, "") if ending in ("finished", "lost") else ("odd", f"ended as {body['outcome']}")
    return refusal(status, body)


def judge_save(status: int, body: Any) -> tuple[str, str]:
    """The same of a press of Save, whose good end is `saved`."""
    return ("saved", "") if status == 201 else refusal(status, body)


def refusal(status: int, body: Any) -> tuple[str, str]:
    """busy or unavailable, where it is one as documented; else odd."""
    error = body.get("error") if isinstance(body, dict) else None
    if status in REFUSALS and isinstance(error, dict) and error.get("code") and error.get("message"):
        return REFUSALS[status], str(error["message"])
    return "odd", f"{status}: {str(body)[:200]}"


def ask(port: int, number: int, path: str, body: Any = None) -> tuple[int, Any]:
    """The status and JSON of an answer to the user of that number. Raises OSError, HTTPException, ValueError."""
    connection = http.client.HTTPConnection("127.0.0.1", port, MAX_WAIT, (address(number), 0))
    try:
        text = None if body is None else json.dumps(body)
        connection.request("GET" if body is None else "POST", path, text, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def press(port: int, number: int, chance: random.Random, presses: Presses) -> float:
    """Press Run or Save once; the seconds after which the server wants to be asked again, or 0."""
    program, save = choose(chance), chance.random() < SAVES
    body = {"source": program.source, **({"title": program.title} if save else {})}
    asked, worker = time.monotonic(), ""
    answer: Any = None
    try:
        status, answer = ask(port, number, "/api/scenarios" if save else "/api/runs", body)
        kind, note = judge_save(status, answer) if save else judge(program, status, answer)
        if kind == "saved":
            presses.saved[answer["id"]] = program
        elif kind == "odd" and save and status == 200 and answer.get("title") == program.title:
            kind, note = "saved", ""  # another user has saved the program of these seconds
        worker = "" if save or status != 200 else str(answer["runtime"].get("worker", ""))
    except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
        kind, note = "unanswered", f"{type(error).__name__}: {error}"
    presses.all.append(Press(kind, note, asked, time.monotonic(), save, worker))
    return float(answer["error"].get("retry_after") or 1.0) if kind in REFUSALS.values() else 0.0


@contextmanager
def pressing(ports: list[int], users: int) -> Iterator[Presses]:
    """So many people at work, each with one of the servers all the time; left when all have their last answer."""
    presses, ended = Presses(), threading.Event()

    def work(number: int) -> None:
        chance = random.Random(number)
        ended.wait(chance.uniform(*POLL_SECONDS))
        while not ended.is_set():
            again = press(ports[number % len(ports)], number, chance, presses)
            ended.wait(max(chance.uniform(*POLL_SECONDS), min(again, 5.0)))

    people = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(users)]
    for person in people:
        person.start()
    try:
        yield presses
    finally:
        ended.set()
    for person in people:  # not after Ctrl-C
        person.join(MAX_WAIT)


def missing(ports: list[int], saved: dict[str, Program]) -> list[str]:
    """The saved programs that a server does not have, or not as they were saved."""
    lacking = []
    for id_, program in saved.items():
        for port in ports:
            status, content = ask(port, 0, f"/s/{id_}.json")
            traced, trace = ask(port, 0, f"/s/{id_}.trace.json")
            if (status, traced) != (200, 200) or content["source"].strip() != program.source.strip():
                lacking.append(f"{id_} at {port}: {status}, {traced}")
            elif wrong := mistake(program, trace):
                lacking.append(f"{id_} at {port}: {wrong}")
    return lacking
