"""The course: what its pages show of a lesson, and the verdict of a run that is to answer its question."""

import json
import zlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from gradbox.assembly.recorded_trace import GZIP_WINDOW_BITS
from server.gallery.claims import verdict_of
from server.gallery.lessons import ANSWER_NAME, Lesson
from server.gallery.scenarios import LANGUAGES, Scenario


def lesson_address(root: str, lesson: Lesson, language: str, subpath: str = "") -> str:
    """Of the page of a lesson. root: where the server's addresses begin. subpath: like `/question`."""
    query = "" if language == LANGUAGES[0] else f"?{urlencode({'lang': language})}"
    return f"{root}/course/{lesson.name}{subpath}{query}"


def program_address(root: str, lesson: Lesson, place: int, language: str) -> str:
    """Of a program of a lesson on the workbench. place: its place, from 0."""
    program = lesson.programs[place]
    fields = {"s": program.scenario, "lesson": lesson.name}
    if program.predicts:
        fields["predict"] = "1"
    if language != LANGUAGES[0]:
        fields["lang"] = language
    return f"{root}/?{urlencode(fields)}{'' if program.predicts else '#i=0'}"


def lesson_items(root: str, lesson: Lesson, scenarios: Mapping[str, Scenario], language: str) -> list[dict[str, Any]]:
    """The programs of a lesson as its pages list them: each with its name, title, address, what to watch, where to stop."""
    return [
        {
            "name": program.scenario,
            "title": scenarios[program.scenario].text[language]["title"],
            "url": program_address(root, lesson, at, language),
            "note": program.watch[language],
            "stop": program.stop,
        }
        for at, program in enumerate(lesson.programs)
    ]


def lesson_for_workbench(
    root: str, lessons: list[Lesson], lesson: Lesson, scenarios: Mapping[str, Scenario], language: str, scenario: str
) -> dict[str, Any]:
    """What the workbench gets of the lesson whose program it shows. scenario: its name, or "" for the lesson's question."""
    programs = lesson_items(root, lesson, scenarios, language)
    later = lessons[lessons.index(lesson) + 1 :]
    return {
        "name": lesson.name,
        "title": lesson.text[language]["title"],
        "url": lesson_address(root, lesson, language),
        "programs": programs,
        "at": next((at for at, program in enumerate(programs) if program["name"] == scenario), len(programs)),
        "question": {
            "url": lesson_address(root, lesson, language, "/question"),
            "answers": f"{root}/course/{lesson.name}/answers",
            "ask": lesson.question.ask[language],
            "hint": lesson.question.hint[language],
        },
        "next": {"title": later[0].text[language]["title"], "url": lesson_address(root, later[0], language)}
        if later
        else None,
    }


def judge_answer(body: bytes) -> dict[str, Any]:
    """What a run says of an answer. body: the gzipped trace of the program that `Question.with_check` makes.

    `right`: whether the check is true at its end; `error`: what was raised, where the check could not be made.
    """
    trace = json.loads(zlib.decompress(body, wbits=GZIP_WINDOW_BITS))
    outcome = trace["outcome"]
    error = outcome.get("error")
    return {
        "right": outcome["status"] == "finished" and verdict_of(trace, ANSWER_NAME) is True,
        "status": outcome["status"],
        "error": error and {"type": error["type"], "message": error["message"]},
    }
