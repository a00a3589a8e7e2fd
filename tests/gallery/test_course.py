"""The course: its lessons are complete, a run decides whether an answer is right, and a lesson works by keyboard
alone."""

import gzip
import html
import json
import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from server.gallery.claims import read_verdict
from server.gallery.course import ANSWER_NAME, Lesson, judge_answer, load_lessons
from server.gallery.scenarios import LANGUAGES, ScenarioError, load_scenarios
from tests.conftest import ROOT
from tests.page.test_access import axe
from tests.support.kept_browser import new_context
from tests.support.page_driver import leave, paste, run
from tests.support.sampling import every, sampled
from tests.support.workers import Workers

SCENARIOS = {scenario.name: scenario for scenario in load_scenarios(ROOT / "scenarios")}
LESSONS = load_lessons(ROOT / "lessons", SCENARIOS)
EACH = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)

WHOLE = """\
order = 1
[en]
title = "T"
introduction = "I"
[zh]
title = "题"
introduction = "引"
[[programs]]
scenario = "a"
watch = {en = "W", zh = "看"}
[[programs]]
scenario = "b"
stop = 2
predict = false
watch = {en = "W", zh = "看"}
[[programs]]
scenario = "c"
watch = {en = "W", zh = "看"}
[question]
start = "x = 1"
check = "x == 2"
answer = "x = 2"
ask = {en = "A", zh = "问"}
hint = {en = "H", zh = "提示"}
"""


def test_there_are_at_least_eight_lessons_in_an_order() -> None:
    assert [lesson.order for lesson in LESSONS] == list(range(1, len(LESSONS) + 1)) and len(LESSONS) >= 8
    taught = [program.scenario for lesson in LESSONS for program in lesson.programs]
    assert len(taught) == len(set(taught)) >= 24, "no program is taught twice"


@EACH
def test_a_run_accepts_the_right_answer_and_not_the_start(lesson: Lesson, workers: Workers) -> None:
    question = lesson.question
    found = {
        source: read_verdict(workers.trace(question.program_with_answer_check(source)), ANSWER_NAME)
        for source in (question.start, question.answer)
    }
    assert found[question.answer] is True
    assert found[question.start] is not True
    assert workers.trace(question.answer)["outcome"]["status"] == "finished"


@EACH
def test_a_program_stops_at_a_line_that_its_run_reaches(lesson: Lesson, workers: Workers) -> None:
    for program in lesson.programs:
        lines = [step["line"] for step in workers.trace(SCENARIOS[program.scenario].source)["steps"]]
        assert program.stop is None or (program.stop in lines and program.stop >= lines[-1] // 2), program


@EACH
def test_the_chinese_texts_of_a_lesson_are_chinese(lesson: Lesson) -> None:
    texts = [*lesson.text["zh"].values(), lesson.question.ask["zh"], lesson.question.hint["zh"]]
    texts += [program.watch["zh"] for program in lesson.programs]
    assert all(re.search(r"[\u4e00-\u9fff]{2}", text) for text in texts)


def write_lesson(folder: Path, text: str = WHOLE) -> Path:
    (folder / "one.toml").write_text(text)
    return folder


def test_a_lesson_is_read_from_its_file(tmp_path: Path) -> None:
    (lesson,) = load_lessons(write_lesson(tmp_path), "abc")
    assert [(program.scenario, program.predicts, program.stop) for program in lesson.programs] == [
        ("a", True, None),
        ("b", False, 2),
        ("c", True, None),
    ]
    assert lesson.question.program_with_answer_check("x = 2  # so\n\n").splitlines() == [
        *("x = 2  # so", "", "answered = bool(", "    x == 2", ")")
    ]
    assert load_lessons(tmp_path / "absent", "abc") == []


@pytest.mark.parametrize(
    "before, after, says",
    [
        ("order = 1", "order = 0", "order: "),
        ("order = 1", "order = 1\nmore = 1", "more: unknown key"),
        ('introduction = "引"', "", "zh.introduction: "),
        ('introduction = "I"', 'introduction = "I"\nend = 1', "en.end: "),
        ("[zh]", "[de]", "de: "),
        ('scenario = "c"', 'scenario = "d"', "programs[2].scenario: there is no scenario 'd'"),
        ('scenario = "c"', 'scenario = "a"', "programs: a scenario comes twice"),
        ("stop = 2", "stop = 0", "programs[1].stop: "),
        ("predict = false", "predict = 0", "programs[1].predict: "),
        ('watch = {en = "W", zh = "看"}', 'watch = "W"', "programs[0].watch: "),
        ('watch = {en = "W", zh = "看"}', 'watch = {en = "W"}', "programs[0].watch.zh: "),
        ('check = "x == 2"', 'check = "x = 2"', "question.check: expected a Python expression"),
        ('answer = "x = 2"', "", "question.answer: "),
        ('hint = {en = "H", zh = "提示"}', "", "question.hint: "),
        ("[question]", "[questions]", "questions: unknown key"),
    ],
)
def test_an_error_names_the_file_and_the_key(tmp_path: Path, before: str, after: str, says: str) -> None:
    assert before in WHOLE
    with pytest.raises(ScenarioError) as error:
        load_lessons(write_lesson(tmp_path, WHOLE.replace(before, after, 1)), "abc")
    assert str(error.value).startswith(f"one.toml: {says}")


def get(address: str) -> str:
    with urllib.request.urlopen(address) as response:
        return html.unescape(response.read().decode())


def post(address: str, source: str) -> dict[str, Any]:
    request = urllib.request.Request(
        address, json.dumps({"source": source}).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as response:
        verdict: dict[str, Any] = json.load(response)
        return verdict


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_pages_can_be_read_without_a_script(site: str, language: str) -> None:
    course = get(f"{site}/course?lang={language}")
    for lesson in LESSONS:
        assert lesson.text[language]["title"] in course
    lesson = LESSONS[0]
    page = get(f"{site}/course/{lesson.name}?lang={language}")
    assert lesson.text[language]["introduction"] in page and lesson.question.ask[language] in page
    for program in lesson.programs:
        assert program.watch[language] in page
        assert SCENARIOS[program.scenario].text[language]["look_at"] not in page
    assert lesson.question.answer.splitlines()[3] not in page
    assert f"/course?lang={language}".removesuffix("?lang=en") in get(f"{site}/gallery?lang={language}")


def test_posting_an_answer_returns_the_verdict_of_its_run(site: str) -> None:
    answers = f"{site}/course/names/answers"
    (lesson,) = (lesson for lesson in LESSONS if lesson.name == "names")
    assert post(answers, lesson.question.answer) == {"right": True, "status": "finished", "error": None}
    assert post(answers, lesson.question.start)["right"] is False
    raised = post(answers, "before = 1")
    assert (raised["right"], raised["status"], raised["error"]["type"]) == (False, "raised", "AttributeError")
    with pytest.raises(urllib.error.HTTPError) as missing:
        post(f"{site}/course/none/answers", "x = 1")
    assert missing.value.code == 404
    missing.value.close()


def test_a_program_that_raises_is_not_accepted_as_an_answer(workers: Workers) -> None:
    source = "answered = True\nraise ValueError('no')"
    verdict = judge_answer(gzip.compress(json.dumps(workers.trace(source)).encode()))
    assert verdict == {"right": False, "status": "raised", "error": {"type": "ValueError", "message": "no"}}


def test_a_link_with_a_lesson_that_lacks_the_scenario_shows_it_alone(site: str) -> None:
    assert "data-lesson=" in get(f"{site}/?s=ids&lesson=names")
    for lesson in ("views", "gone"):
        assert "data-lesson=" not in get(f"{site}/?s=ids&lesson={lesson}")


def tab_to(page: Any, selector: str, key: str = "Tab") -> None:
    """Press a key until an element has the focus, which is to be seen."""
    for _ in range(30):
        page.keyboard.press(key)
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", f"{selector}: its focus is not to be seen"
            return
    raise AssertionError(f"{key} does not reach {selector}")


def step_through(page: Any) -> int:
    """Answer what a program of a lesson asks, wrongly or not, until the next one is opened; how much was asked."""
    asked = 0
    here = page.url.partition("#")[0]
    place = page.locator(".order-place[aria-current]").inner_text()
    phase = "() => document.querySelector('.predict-card')?.dataset.phase"
    page.wait_for_function(f"() => ({phase})() === 'intro'")
    for _ in range(40):
        now = page.evaluate(phase)
        before = page.locator(".predict-card").inner_text()
        if now == "ask":
            asked += 1
            page.keyboard.press("0" if page.locator(".predict-field").count() else "1")
        page.keyboard.press("Enter")
        if now == "summary":
            page.wait_for_function(
                "place => document.querySelector('.order-place[aria-current]')?.textContent !== place", arg=place
            )
            assert page.url.partition("#")[0] != here
            return asked
        page.wait_for_function("before => document.querySelector('.predict-card').innerText !== before", arg=before)
    raise AssertionError("the program does not end")


def run_answer(page: Any, source: str, kind: str, told: str) -> None:
    """Write a program into the editor by keyboard, run it, and wait for what is said of it."""
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.closest('#editor')")
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(source)
    page.keyboard.press("Control+Enter")
    page.locator(f".lesson-status[data-kind={kind}]", has_text=told).wait_for()


@pytest.mark.parametrize("language", sampled(LANGUAGES, every(2)))
def test_a_lesson_is_done_by_keyboard_alone_on_a_phone(chromium: Any, site: str, language: str) -> None:
    context = new_context(chromium, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    say = json.loads((ROOT / f"static/locales/course.{language}.json").read_text())
    lesson = LESSONS[0]
    try:
        page, other = context.new_page(), context.new_page()
        other.goto(f"{site}/course?lang={language}")
        page.goto(f"{site}/course?lang={language}")
        tab_to(page, f"[data-lesson={lesson.name}] a")
        page.keyboard.press("Enter")
        page.locator(".course-begin").wait_for()
        tab_to(page, ".course-begin")
        page.keyboard.press("Enter")
        asked = 0
        for _ in lesson.programs:
            page.locator(".order-strip").wait_for()
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            asked += step_through(page)
        page.wait_for_function("() => Number(document.querySelector('#workbench').dataset.steps) > 1")
        assert page.locator(".order-place.done").count() == len(lesson.programs)
        run_answer(page, "before = 1 / 0", "lesson_raised", "ZeroDivisionError")
        run_answer(page, lesson.question.start + "# still", "lesson_wrong", say["lesson_wrong"])
        page.locator(".lesson-hint", has_text=lesson.question.hint[language]).wait_for()
        if language == "zh":
            tab_to(page, ".lesson-foot .quiet", "Shift+Tab")
            page.keyboard.press("Enter")
            page.locator(".lesson-answer pre").wait_for()
            tab_to(page, ".lesson-answer button")
            page.keyboard.press("Enter")
            page.locator(".lesson-status[data-kind=lesson_right]").wait_for()
        else:
            run_answer(page, lesson.question.answer, "lesson_right", say["lesson_right"])
        assert page.locator(".lesson-status").get_attribute("role") == "status"
        mark = say["course_answered_seen" if language == "zh" else "course_answered"]
        other.locator(f"[data-lesson={lesson.name}] [data-question]", has_text=mark).wait_for()
        score = re.findall(r"\d+", other.locator(f"[data-lesson={lesson.name}] [data-score]").inner_text())
        assert asked >= 2 * len(lesson.programs) - 2 and score[1] == str(asked)
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/course/{LESSONS[1].name}*")
    finally:
        context.close()


@pytest.mark.parametrize("theme", sampled(["light", "dark"], lambda k: k == 0))
def test_axe_finds_nothing_on_the_pages_of_a_lesson(page: Any, site: str, theme: str) -> None:
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    for path in ("/course", "/course/views", "/course/versions/question", "/?s=silent&lesson=versions&predict=1"):
        page.goto(site + path)
        if "versions" in path:
            page.locator(".order-strip a").first.wait_for()
            page.wait_for_function("() => Number(document.querySelector('#workbench').dataset.steps) > 0")
        assert axe(page) == [], path


def test_no_chip_offers_an_answer_while_the_question_is_open(page: Any, site: str) -> None:
    """Neither after a wrong try nor beside the hint; once it is answered they are there again."""
    lesson = LESSONS[0]
    page.goto(f"{site}/course/{lesson.name}/question")
    page.locator(".lesson-status").wait_for()
    page.wait_for_function(
        "() => document.querySelectorAll('#siblings .sibling').length || "
        "document.querySelector('#workbench').dataset.steps"
    )
    seen: set[str] = set()
    programs = [lesson.question.start + "# wrong", lesson.question.start + "# and again", lesson.question.answer]
    for source in programs:
        paste(page, source)
        trace = run(page)
        page.wait_for_function(
            "() => ['lesson_wrong', 'lesson_right'].includes(document.querySelector('.lesson-status').dataset.kind)"
        )
        leave(page)
        page.keyboard.press("Home")
        for _ in trace["steps"]:
            if page.locator("#siblings .sibling").count():
                chips = page.locator("#siblings").is_visible()
                seen.add(f"{page.locator('.lesson-question').get_attribute('data-right')} {chips}")
            page.keyboard.press("ArrowRight")
    assert seen == {"false False", "true True"}, "there was something to hide, and it came back"
