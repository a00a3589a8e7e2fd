"""Predict mode: what it asks is true, and nothing on the page gives away what its reader has not seen."""

import html
import json
import math
import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from server.gallery.scenarios import load_scenarios
from tests.page.test_access import axe
from tests.support.explaining import ROOT, call_page
from tests.support.kept_browser import new_context
from tests.support.page_driver import leave, paste, press_run, use
from tests.support.sampling import sampled
from tests.support.waiting import wait_for_answer

PROGRAM = """\
import torch
a = torch.tensor([3.0625, 7.1875], requires_grad=True)
b = a.detach()
c = a * 40.5
print("first", c[0].item())
b[0] = 812.625
d = a.detach().clone() + 1000.25
c.sum().backward()
(c.detach() * a).sum().backward()
print("gradient", a.grad.tolist())
del d
a.add_(1)
"""
CROWDED = PROGRAM.replace("\n", "\n" + "".join(f"k{i} = torch.full((3,), {i}.6875)\n" for i in range(14)), 1)
"""Of which the stage is a list of names, and what each step touched."""

TEXTS = """() => {
    const page = document.documentElement.cloneNode(true);
    page.querySelector("#error-message")?.removeAttribute("placeholder");
    for (const own of page.querySelectorAll(".predict-choices, .predict-status, style, script:not([type='application/json'])")) own.remove();
    const geometry = /^(d|x|y|x1|x2|y1|y2|cx|cy|r|rx|ry|width|height|points|transform|viewBox|style|stroke-.*|font-size)$/;
    const out = [document.title];
    const walk = node => {
        if (node.nodeType === Node.TEXT_NODE || node.nodeType === Node.COMMENT_NODE) out.push(node.data);
        if (node instanceof HTMLTemplateElement) for (const child of node.content.childNodes) walk(child);
        for (const {name, value} of node.attributes ?? []) if (!geometry.test(name)) out.push(value);
        for (const child of node.childNodes) walk(child);
    };
    walk(page);
    return out.join("\\n");
}"""
"""Every text and attribute of the page but the choices of its question, the example of an error that the search of
errors shows with every program, and what says where a mark stands."""

CARD = """() => {
    const card = document.querySelector(".predict-card");
    return `${card.dataset.phase} ${document.querySelector("#workbench").dataset.steps} ${card.textContent}`;
}"""


def numbers_of(value: Any) -> set[float]:
    """All numbers in a part of a trace."""
    if isinstance(value, dict):
        return set().union(*(numbers_of(part) for part in value.values())) if value else set()
    if isinstance(value, list):
        return set().union(*(numbers_of(part) for part in value)) if value else set()
    return {float(value)} if isinstance(value, float) and math.isfinite(value) else set()


def words_of(trace: dict[str, Any], steps: list[dict[str, Any]]) -> set[str]:
    """How the page would write what these steps have: numbers in full and rounded, names of entities, what is
    printed."""
    numbers = set().union(*(numbers_of(step["set"]) | numbers_of(step.get("visit")) for step in steps), set())
    long = {number for number in numbers if len(f"{number:.10g}".replace(".", "").strip("-0")) > 3}
    words = {text.lstrip("-").lstrip("0") for n in long for text in {repr(n), *(f"{n:.{d}g}" for d in range(4, 9))}}
    words |= {uid for step in steps for uid in step["set"]}
    for step in steps:
        for entry in step["log"]:
            if entry["kind"] == "out":
                words |= {word for word in re.findall(r"[\w.]+", entry["text"]) if len(word) > 3}
        error = trace["outcome"].get("error") or {}
        if error.get("step") == step["i"]:
            words.add(error["type"])
    return words


def tokens(text: str) -> set[str]:
    return {token.lstrip("0").strip(".") for token in re.findall(r"[\w.]+", text)}


class Hidden:
    """What the page may not say while so many steps of a trace are shown."""

    def __init__(self, trace: dict[str, Any]) -> None:
        self.trace = trace
        self.steps = trace["steps"]

    def words(self, shown: int) -> set[str]:
        known = words_of(self.trace, self.steps[:shown]) | tokens(self.trace["program"]["source"])
        return words_of(self.trace, self.steps[shown:]) - known

    def told_by(self, page: Any, shown: int, harmless: set[str]) -> set[str]:
        text = page.evaluate(TEXTS)
        error = self.trace["outcome"]["error"]
        message = {error["message"]} if error["step"] >= shown and error["message"][:30] in text else set()
        return ((self.words(shown) & tokens(text)) - harmless) | message


def open_hidden(page: Any, address: str, program: str = PROGRAM) -> dict[str, Any]:
    """Run the program in predict mode; its trace, of which the page shows the first step."""
    page.goto(address)
    page.locator(".predict-card[data-phase=intro]").wait_for()
    paste(page, program)
    trace = press_run(page)
    page.wait_for_function("() => document.querySelector('#workbench').dataset.steps === '1'")
    page.locator(".predict-card[data-phase=intro]").wait_for()
    leave(page)
    return trace


def press(page: Any, *keys: str) -> str:
    """Press keys, wait until the card says something else, and tell what phase it is in."""
    before = page.evaluate(CARD)
    for key in keys:
        page.keyboard.press(key)
    page.wait_for_function(f"before => ({CARD})() !== before", arg=before)
    phase: str = page.locator(".predict-card").get_attribute("data-phase")
    return phase


def answer(page: Any) -> str:
    """Answer the question with its first choice, or a zero."""
    return press(page, "0" if page.locator(".predict-field").count() else "1", "Enter")


def trace_of(address: str) -> dict[str, Any]:
    """Of a scenario, once the server has run it."""
    trace: dict[str, Any] = json.loads(wait_for_answer(address))
    return trace


@pytest.mark.slow
def test_what_is_asked_of_every_scenario_is_true(site: str) -> None:
    with urllib.request.urlopen(f"{site}/gallery.json") as response:
        names = [one["name"] for one in json.load(response)["scenarios"]]
    traces = []
    for name in names:
        traces.append(trace_of(f"{site}/gallery/{name}.trace.json"))
    asked = {name: call_page("page/predict", trace) for name, trace in zip(names, traces, strict=True)}
    assert len(names) >= 8 and sum(map(len, asked.values())) >= 2 * len(names), asked


def test_a_link_that_asks_to_predict_has_no_card_of_the_gallery(site: str) -> None:
    scenarios = load_scenarios(ROOT / "scenarios")
    for scenario in scenarios[:: len(scenarios) // 12]:
        for query in ("&predict=1", "&predict=1&lang=zh"):
            with urllib.request.urlopen(f"{site}/?s={scenario.name}{query}") as response:
                text = html.unescape(response.read().decode())
            look_at, question = (scenario.text["zh" if "zh" in query else "en"][key] for key in ("look_at", "question"))
            assert question in text and look_at not in text and look_at[:24] not in text, scenario.name


@pytest.mark.parametrize(("program", "picture"), [(PROGRAM, "stage"), (CROWDED, "net")], ids=["stage", "list"])
def test_no_step_reveals_later_steps(page: Any, site: str, program: str, picture: str) -> None:
    trace = open_hidden(page, f"{site}/?predict=1", program)
    hidden = Hidden(trace)
    assert trace["outcome"]["status"] == "raised" and len(hidden.words(1)) > 40
    use(page, "[data-as=cards]").click()
    page.locator("#cards .statement-card").first.wait_for()
    assert page.locator("#cards .card-missed").count() == 0, "a line that is still to come was not missed"
    use(page, "[data-as=text]").click()
    use(page, "[data-view=step]").click()
    harmless = tokens(
        page.evaluate("() => document.querySelector('#help').innerHTML + document.querySelector('#legend').innerHTML")
    )
    assert not harmless & {"124.03125", "812.625", "RuntimeError"}
    phase, asked, seen = "intro", 0, []
    while phase != "summary":
        shown = int(page.locator("#workbench").get_attribute("data-steps"))
        seen.append(shown)
        assert hidden.told_by(page, shown, harmless) == set(), (phase, shown)
        asked_lines = page.locator(".predict-code").all_inner_texts()
        assert page.locator("#editor .cm-next").all_inner_texts() == asked_lines, "the line to come is marked"
        asked += phase == "ask"
        phase = answer(page) if phase == "ask" else press(page, "ArrowRight")
    assert seen == sorted(seen) and seen[-1] >= len(trace["steps"]) - 2 and asked >= 5
    assert page.locator("#workbench").get_attribute("data-shown-picture") == picture
    said = tokens(page.evaluate(TEXTS))
    assert {"RuntimeError", "124.03125", "requires"} <= said, "at the end, what was hidden is there to be found"
    page.locator("#findings:not([hidden])").wait_for()
    page.keyboard.press("q")
    page.locator("#predict").wait_for(state="hidden")
    assert page.locator("#where").inner_text().count("?") == 0
    page.wait_for_function("() => !location.href.includes('predict')")


def test_by_keys_alone_in_chinese_on_a_phone_and_the_score_stays(chromium: Any, site: str) -> None:
    context = new_context(chromium, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    try:
        page = context.new_page()
        page.goto(f"{site}/?lang=zh&predict=1")
        card = page.locator(".predict-card")
        page.locator(".predict-card[data-phase=intro]").wait_for()
        assert press(page, "Enter") == "ask"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        boxes = page.locator("#predict :is(button, .predict-choice)").evaluate_all(
            "all => all.map(e => e.getBoundingClientRect()).map(b => [b.width, b.height])"
        )
        assert len(boxes) >= 4 and all(height >= 44 for _, height in boxes)
        assert answer(page) == "told"
        assert re.match("答对了|不是这样", page.locator(".predict-status").inner_text())
        page.locator(".predict-why", has_text=re.compile(r"\S")).wait_for()
        score = page.locator(".predict-score").inner_text()
        assert re.fullmatch(r"答对 [01] / 1", score)
        page.reload()
        page.locator(".predict-score", has_text=score).wait_for()
        phase = card.get_attribute("data-phase")
        while phase != "summary":
            phase = answer(page) if phase == "ask" else press(page, "Enter")
        right, asked = re.findall(r"\d+", page.locator("h3.predict-title").inner_text())[:2]
        assert int(asked) >= 2 and page.locator(".predict-missed li").count() == int(asked) - int(right)
        page.locator(".predict-foot button").first.tap()
        page.locator(".predict-card[data-phase=intro]").wait_for()
        assert f"{right} / {asked}" in card.inner_text(), "the best score is remembered"
    finally:
        context.close()


@pytest.mark.parametrize("theme", sampled(["light", "dark"], lambda k: k == 1))
def test_axe_finds_nothing_while_it_asks_and_tells(page: Any, site: str, theme: str) -> None:
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    page.goto(f"{site}/?predict=1")
    page.locator(".predict-card[data-phase=intro]").wait_for()
    assert press(page, "Enter") == "ask"
    assert axe(page) == []
    assert answer(page) == "told"
    assert axe(page) == []


CUT_OFF = """isScrolled => [...document.querySelectorAll("#predict :is(.finding-kicker, .predict-title, .predict-foot button)")]
    .filter(e => {
        if (isScrolled) e.scrollIntoView({block: "center"});
        const { left, right, top, bottom } = e.getBoundingClientRect();
        const isHit = (x, y) => { const hit = document.elementFromPoint(x, y); return e.contains(hit) || hit?.contains(e); };
        return top < 0 || bottom > innerHeight || !isHit(left + 3, top + 3) || !isHit(right - 3, bottom - 3);
    })
    .map(e => e.textContent)"""
"""What of the card can't be seen; where the whole page scrolls, not even after scrolling there."""


@pytest.mark.parametrize("size", [(1440, 900), (1280, 720), (1024, 500), (390, 844), (720, 450)])
def test_the_card_is_cut_off_at_no_size(page: Any, site: str, size: tuple[int, int]) -> None:
    """In a lesson, whose strip takes room too; everything is skipped, so that the end has most to say."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(f"{site}/?s=saved_inplace&lesson=versions&predict=1")
    page.locator(".predict-card[data-phase=intro]").wait_for()
    phases = {"intro": page.evaluate(CUT_OFF, size[0] <= 860)}
    while "summary" not in phases:
        asks = page.locator(".predict-card").get_attribute("data-phase") == "ask"
        page.locator(f".predict-foot .{'quiet' if asks else 'primary'}").first.click()
        phases[page.locator(".predict-card").get_attribute("data-phase")] = page.evaluate(CUT_OFF, size[0] <= 860)
    assert {"intro", "ask", "told", "summary"} <= {*phases} and not any(phases.values()), phases
    assert page.locator(".predict-missed li").count() >= 3


def test_a_frame_and_an_offline_file_ask_as_well(page: Any, site: str, tmp_path: Path) -> None:
    saved = page.request.post(
        f"{site}/api/scenarios",
        data={"source": PROGRAM, "description": "Look at a.grad.", "note": "Mind the counter."},
    ).json()
    trace = page.request.get(f"{site}{saved['url']}.trace.json").json()
    hidden = Hidden(trace)
    public = page.request.get(f"{site}{saved['url']}?predict=1").text()
    assert "og:image" not in public and "Look at a.grad." not in public and "Mind the counter." not in public
    page.goto(f"{site}{saved['url']}?predict=1")
    page.locator(".predict-card[data-phase=intro]").wait_for()
    page.keyboard.press("q")
    for said in ("Look at a.grad.", "Mind the counter."):
        page.locator("p.question", has_text=said).wait_for()
    page.keyboard.press("q")
    page.locator(".predict-card").wait_for()
    assert page.locator("p.question").count() == 0
    page.goto(f"{site}{saved['url'].replace('/s/', '/embed/')}?predict=1")
    page.locator(".predict-card[data-phase=intro]").wait_for()
    assert hidden.told_by(page, 1, set()) - {"gradient"} == set()
    assert press(page, "Enter") == "ask" and answer(page) == "told"

    page.goto(site + saved["url"])
    page.wait_for_function(
        "n => document.querySelector('#workbench').dataset.steps === n", arg=str(len(trace["steps"]))
    )
    use(page, "#takeaway").click()
    with page.expect_download() as download:
        page.locator('[data-take="run.html"]').click()
    file = tmp_path / "run.html"
    download.value.save_as(file)
    page.goto(f"{file.as_uri()}#predict=1")
    page.locator(".predict-card[data-phase=intro]").wait_for()
    assert hidden.told_by(page, 1, set()) - {"gradient"} == set()
    assert press(page, "Enter") == "ask" and answer(page) == "told"
