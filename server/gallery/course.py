"""The course: lessons, each a sequence of scenarios with what to watch, and a question whose answer is judged by a
run."""

import json
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from gradbox.assembly.recorded_trace import GZIP_WINDOW_BITS
from server.gallery.claims import read_verdict
from server.gallery.scenarios import (
    LANGUAGES,
    Scenario,
    ScenarioError,
    read_integer,
    read_scenario_toml,
    read_text,
    reject_unknown_keys,
)

ANSWER_NAME = "answered"
"""The variable that gets the result of a question's check after the answering program."""


@dataclass(frozen=True)
class LessonProgram:
    """A scenario of a lesson.

    predicts: whether it opens in predict mode
    stop: the line whose last step completes the program for the reader; None for the end
    watch: what to watch, by language
    """

    scenario: str
    predicts: bool
    stop: int | None
    watch: dict[str, str]


@dataclass(frozen=True)
class LessonQuestion:
    """The question at the end of a lesson.

    start: the program that the reader changes
    check: an expression that is true after a right answer
    answer: a right answer
    ask, hint: the task and a hint, by language
    """

    start: str
    check: str
    answer: str
    ask: dict[str, str]
    hint: dict[str, str]

    def program_with_answer_check(self, source: str) -> str:
        """Return a program that runs `source` and then sets ANSWER_NAME to whether it answers the question."""
        return f"{source.rstrip()}\n\n{ANSWER_NAME} = bool(\n    {self.check}\n)\n"


@dataclass(frozen=True)
class Lesson:
    """A lesson of the course.

    text: `title` and `introduction` by language
    order: its place in the course
    """

    name: str
    order: int
    text: dict[str, dict[str, str]]
    programs: tuple[LessonProgram, ...]
    question: LessonQuestion


def load_lessons(folder: Path, scenarios: Collection[str]) -> list[Lesson]:
    """Load all lessons of a folder, each a `name.toml`, in order. Raises ScenarioError, which names the file and the
    key.

    scenarios: names of the scenarios that they may use
    """
    lessons = [load_lesson(path, scenarios) for path in folder.glob("*.toml")]
    return sorted(lessons, key=lambda lesson: (lesson.order, lesson.name))


def load_lesson(path: Path, scenarios: Collection[str]) -> Lesson:
    """Load one lesson. Raises ScenarioError."""
    fields = read_scenario_toml(path)
    reject_unknown_keys(path, fields, {"order", "programs", "question", *LANGUAGES})
    text = {}
    for language in LANGUAGES:
        table = read_toml_table(path, fields, language)
        reject_unknown_keys(path, table, {"title", "introduction"}, f"{language}.")
        text[language] = {key: read_text(path, table, key, f"{language}.") for key in ("title", "introduction")}
    programs = fields.get("programs")
    if not isinstance(programs, list) or not 3 <= len(programs) <= 5:
        raise ScenarioError(f"{path.name}: programs: expected three to five of them")
    read = tuple(read_lesson_program(path, table, f"programs[{i}].", scenarios) for i, table in enumerate(programs))
    if len({program.scenario for program in read}) < len(read):
        raise ScenarioError(f"{path.name}: programs: a scenario comes twice")
    question = read_question(path, read_toml_table(path, fields, "question"))
    return Lesson(path.stem, read_integer(path, fields, "order"), text, read, question)


def read_toml_table(path: Path, fields: dict[str, Any], key: str) -> dict[str, Any]:
    table = fields.get(key)
    if not isinstance(table, dict):
        raise ScenarioError(f"{path.name}: {key}: expected a table, not {table!r}")
    return table


def read_lesson_program(path: Path, table: dict[str, Any], prefix: str, scenarios: Collection[str]) -> LessonProgram:
    reject_unknown_keys(path, table, {"scenario", "predict", "stop", "watch"}, prefix)
    scenario = read_text(path, table, "scenario", prefix)
    if scenario not in scenarios:
        raise ScenarioError(f"{path.name}: {prefix}scenario: there is no scenario {scenario!r}")
    predicts = table.get("predict", True)
    if not isinstance(predicts, bool):
        raise ScenarioError(f"{path.name}: {prefix}predict: expected true or false, not {predicts!r}")
    stop = table.get("stop")
    if "stop" in table and (type(stop) is not int or stop < 1):
        raise ScenarioError(f"{path.name}: {prefix}stop: expected a line of the program, not {stop!r}")
    return LessonProgram(scenario, predicts, stop, read_translations(path, table, "watch", prefix))


def read_question(path: Path, table: dict[str, Any]) -> LessonQuestion:
    prefix = "question."
    reject_unknown_keys(path, table, {"start", "check", "answer", "ask", "hint"}, prefix)
    start, check, answer = (read_text(path, table, key, prefix) for key in ("start", "check", "answer"))
    ask, hint = (read_translations(path, table, key, prefix) for key in ("ask", "hint"))
    try:
        compile(check, path.name, "eval")
    except SyntaxError as error:
        raise ScenarioError(f"{path.name}: question.check: expected a Python expression: {error.msg}") from error
    return LessonQuestion(f"{start}\n", check, f"{answer}\n", ask, hint)


def read_translations(path: Path, table: dict[str, Any], key: str, prefix: str) -> dict[str, str]:
    """Read a text in each language, from `key.en` and `key.zh`."""
    texts = table.get(key)
    if not isinstance(texts, dict):
        raise ScenarioError(f"{path.name}: {prefix}{key}: expected a text in each language, not {texts!r}")
    reject_unknown_keys(path, texts, set(LANGUAGES), f"{prefix}{key}.")
    return {language: read_text(path, texts, language, f"{prefix}{key}.") for language in LANGUAGES}


def lesson_address(root: str, lesson: Lesson, language: str, subpath: str = "") -> str:
    """Return the address of a lesson's page.

    root: the prefix of the server's addresses
    subpath: such as `/question`
    """
    query = "" if language == LANGUAGES[0] else f"?{urlencode({'lang': language})}"
    return f"{root}/course/{lesson.name}{subpath}{query}"


def lesson_program_address(root: str, lesson: Lesson, place: int, language: str) -> str:
    """Return the address of a lesson's program on the workbench.

    place: the program's place in the lesson, from 0
    """
    program = lesson.programs[place]
    fields = {"s": program.scenario, "lesson": lesson.name}
    if program.predicts:
        fields["predict"] = "1"
    if language != LANGUAGES[0]:
        fields["lang"] = language
    return f"{root}/?{urlencode(fields)}{'' if program.predicts else '#i=0'}"


def lesson_program_items(
    root: str, lesson: Lesson, scenarios: Mapping[str, Scenario], language: str
) -> list[dict[str, Any]]:
    """Return the programs of a lesson for its pages: each with its name, title, address, what to watch, where to
    stop."""
    return [
        {
            "name": program.scenario,
            "title": scenarios[program.scenario].text[language]["title"],
            "url": lesson_program_address(root, lesson, at, language),
            "note": program.watch[language],
            "stop": program.stop,
        }
        for at, program in enumerate(lesson.programs)
    ]


def lesson_for_workbench(
    root: str, lessons: list[Lesson], lesson: Lesson, scenarios: Mapping[str, Scenario], language: str, scenario: str
) -> dict[str, Any]:
    """Return what the workbench needs to know about the lesson of its program.

    scenario: the scenario's name, or "" for the lesson's question
    """
    programs = lesson_program_items(root, lesson, scenarios, language)
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
    """Judge an answer by its run. `right`: whether the check is true at the end; `error`: the exception, if the check
    could not be evaluated.

    body: the gzipped trace of the program that `LessonQuestion.program_with_answer_check` makes
    """
    trace = json.loads(zlib.decompress(body, wbits=GZIP_WINDOW_BITS))
    outcome = trace["outcome"]
    error = outcome.get("error")
    return {
        "right": outcome["status"] == "finished" and read_verdict(trace, ANSWER_NAME) is True,
        "status": outcome["status"],
        "error": error and {"type": error["type"], "message": error["message"]},
    }
