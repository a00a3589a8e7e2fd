"""The card of findings in a real browser: by mouse, by keys, in both languages and in the offline file."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.page.test_access import axe
from tests.support.page_driver import STALE, at_step, leave, paste, run, use
from tests.support.sampling import places, sampled

pytestmark = pytest.mark.browser

WITH_FIXES = [
    "findings/backward_twice_lstm_stateful_between_batches",
    "findings/multi_view_inplace_chunk_then_relu_",
    "findings/dtype_mismatch_ce_float_target",
    "silent/acos_nan",
    "silent/best_weights",
]
"""Programs whose finding has a fix: short and long ones, errors and warnings, one and several findings."""

OUT_OF_SIGHT = """queries => queries.filter(query => {
    const element = document.querySelector(query);
    const { left, right, top, bottom, width } = element.getBoundingClientRect();
    const isHit = (x, y) => { const hit = document.elementFromPoint(x, y); return element.contains(hit) || hit?.contains(element); };
    return !width || top < 0 || bottom > innerHeight || !isHit(left + 4, top + 4) || !isHit(right - 4, bottom - 4);
})"""  # noqa: E501
"""Those of the elements that are not wholly to be seen: scrolled away, cut off, or under something else."""

SOUND = "import torch\nx = torch.ones(2, requires_grad=True)\n(x * 2).sum().backward()\nprint(x.grad)\n"

SECOND_DERIVATIVE = """\
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
(g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
(g * g).sum().backward()
"""

NEVER_STEPS = """\
import torch
torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
x, y = torch.randn(8, 2), torch.ones(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(6):
    loss = ((net(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
"""


@pytest.fixture
def raised(page: Any, site: str) -> dict[str, Any]:
    """The trace of a program that the card explains."""
    page.goto(site)
    paste(page, STALE)
    trace = run(page)
    page.locator(".finding.error.open").wait_for()
    return trace


def test_the_card_says_why_and_its_links_lead_to_the_steps(page: Any, raised: dict[str, Any]) -> None:
    card = page.locator(".finding.open")
    assert card.get_attribute("data-finding") == "saved_overwritten"
    assert "Line 4 overwrote numbers that backward still needs" in card.locator(".finding-sentence").inner_text()
    links = card.locator(".finding-link")
    assert [links.nth(k).locator(".finding-line").inner_text() for k in range(links.count())] == ["3", "4", "6"]
    for k in range(links.count()):
        links.nth(k).click()
        step = int(page.locator("#workbench").get_attribute("data-step"))
        assert raised["steps"][step]["line"] == int(links.nth(k).locator(".finding-line").inner_text())
        assert links.nth(k).get_attribute("aria-current") == "step"
    assert page.locator("#outcome").is_hidden() and page.locator(".message.error").count() == 0
    assert "RuntimeError" in card.locator(".finding-torch").inner_text()


@pytest.mark.usefixtures("raised")
def test_a_link_under_the_pointer_lights_what_it_names_and_changes_no_step(page: Any) -> None:
    before = page.locator("#workbench").get_attribute("data-step")
    page.locator(".finding-link").first.hover()
    page.wait_for_selector("#stage .lit")
    assert page.locator("#workbench").get_attribute("data-step") == before
    page.locator("#heading").hover()
    page.wait_for_function("() => !document.querySelector('#stage .lit')")


@pytest.mark.usefixtures("raised")
def test_the_lines_and_the_timeline_wear_the_marks_of_the_chain(page: Any) -> None:
    assert page.locator(".line-role").evaluate_all("all => all.map((e) => e.dataset.name)") == [
        "saved",
        "written",
        "shows here",
    ]
    assert page.locator(".cm-cause").all_inner_texts() == ["y.add_(1)"]
    cause = page.locator("#chain .chain-mark.cause")
    cause.click()
    at_step(page, int(cause.get_attribute("data-step")))
    assert page.locator(".cm-now").inner_text().startswith("y.add_(1)")


def test_the_keys_lead_through_the_card(page: Any, raised: dict[str, Any]) -> None:
    leave(page)
    page.keyboard.press("e")
    assert page.evaluate("document.activeElement.matches('.finding-link')")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    step = int(page.locator("#workbench").get_attribute("data-step"))
    assert raised["steps"][step]["line"] == 4


@pytest.mark.usefixtures("raised")
def test_a_fix_is_applied_by_one_click_and_taken_back_by_one_undo(page: Any) -> None:
    page.locator(".fix[open] .fix-outcome", has_text="Runs.").wait_for()
    with page.expect_response("**/runs"):
        page.locator(".fix-bar .fix-apply").click()
    page.locator("#outcome.finished").wait_for()
    page.locator("#findings .looked-for").wait_for()
    assert page.locator("#findings .finding").count() == 0
    assert "y = y.clone()" in page.locator(".cm-line").all_inner_texts()
    page.locator(".cm-content").click()
    page.keyboard.press("Control+z")
    assert "\n".join(page.locator(".cm-line").all_inner_texts()).strip() == STALE.strip()


@pytest.mark.parametrize("program", sampled(WITH_FIXES, places(0, 4)))
def test_headline_and_fix_are_in_sight_when_the_run_ends(page: Any, site: str, program: str) -> None:
    page.goto(site)
    paste(page, (ROOT / f"tests/examples/{program}.py").read_text())
    for width, height in [(1280, 720), (1440, 900), (1024, 600), (390, 844), (720, 450)]:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("document.querySelector('#findings').replaceChildren()")
        page.evaluate("scrollTo(0, 0)")
        run(page)
        page.locator(".finding.open .fix-apply").wait_for()
        is_above = page.locator("#findings.told-above").count() == 1  # in a drawer, below the headline that says it
        said = "#sentences li" if is_above else ".finding.open .finding-sentence"
        assert page.evaluate(OUT_OF_SIGHT, [said, ".finding.open .fix-apply"]) == [], width
        if width <= 860:
            assert page.locator(".finding.open .finding-chain").is_hidden(), "the picture is not pushed away"
            assert page.locator(".picture").bounding_box()["y"] < height - 150
        if (width, height) == (1280, 720):
            assert axe(page) == []


def test_on_a_phone_the_card_unfolds_by_a_tap_and_by_its_key(page: Any, site: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(site)
    paste(page, STALE)
    run(page)
    head, chain = page.locator(".finding.open .finding-what"), page.locator(".finding.open .finding-chain")
    page.locator(".finding.open .fix-apply").wait_for()
    states = []
    for _ in range(3):
        states.append((head.get_attribute("aria-expanded"), chain.is_visible()))
        head.click()
    assert states == [("false", False), ("true", True), ("false", False)]
    head.click()
    assert not chain.is_visible() and axe(page) == []
    leave(page)
    page.keyboard.press("e")
    assert chain.is_visible() and page.evaluate("document.activeElement.matches('.finding-link')")
    page.set_viewport_size({"width": 1280, "height": 720})
    assert head.get_attribute("aria-expanded") == "true" and chain.is_visible()


@pytest.mark.usefixtures("raised")
def test_a_link_to_a_later_step_is_marked_as_ahead(page: Any, raised: dict[str, Any]) -> None:
    last = raised["outcome"]["error"]["step"]
    at_step(page, last)
    kicker = page.locator(".finding-kicker").first
    assert "ahead" not in kicker.inner_text()
    page.locator("#slider").fill("2")
    at_step(page, 2)
    assert kicker.inner_text().endswith(f"at step {last + 1}, still ahead")


def test_the_fixes_that_are_tried_show_that_time_passes_and_a_server_without_an_answer_is_said(
    page: Any, site: str
) -> None:
    held: list[Any] = []
    page.route("**/api/fixes", lambda route: held.append(route))  # a built-in method can not be wrapped
    page.goto(site)
    paste(page, STALE)
    run(page)
    page.locator(".fix-clock", has_text="1 s").wait_for()
    assert page.locator(".fix-status").inner_text().startswith("Trying fixes: each is run before it is shown.")
    held[0].abort()
    page.locator(".fix-status", has_text="The server did not answer.").wait_for()
    page.unroute("**/api/fixes")
    page.locator(".fix-status button").click()
    page.locator(".fix-apply").first.wait_for()
    assert page.locator(".fix-clock").count() == 0


@pytest.mark.usefixtures("raised")
def test_applying_uses_the_open_one_of_several_fixes(page: Any) -> None:
    page.locator(".fix[open] .fix-outcome", has_text="Runs.").wait_for()
    fixes = page.locator(".fix")
    assert fixes.count() > 1
    for k in reversed(range(fixes.count())):
        fixes.nth(k).locator("summary").click()
        page.locator(".fix-bar-text", has_text=fixes.nth(k).locator(".fix-text").inner_text()).wait_for()
        assert page.locator(".fix[open]").count() == 1
    fixes.nth(1).locator("summary").click()
    page.locator(".fix-bar-text", has_text=fixes.nth(1).locator(".fix-text").inner_text()).wait_for()
    added = fixes.nth(1).locator("ins code").first.inner_text()
    with page.expect_response("**/runs"):
        page.locator(".fix-bar .fix-apply").click()
    assert added.strip() in [line.strip() for line in page.locator(".cm-line").all_inner_texts()]


@pytest.mark.usefixtures("raised")
def test_a_fix_is_compared_with_the_program_in_a_tab_of_its_own(page: Any) -> None:
    page.locator(".fix[open] .fix-outcome", has_text="Runs.").wait_for()
    page.wait_for_selector(".fix[open] .fix-compare[href]")
    with page.expect_popup() as popup:
        page.locator(".fix[open] .fix-compare").click()
    popup.value.wait_for_selector("#comparison[data-rows]")
    assert "The left stops on line 6" in popup.value.locator("#verdict").inner_text()
    assert popup.value.locator("#right .cm-changed").all_inner_texts() == ["y = y.clone()"]


def test_the_page_says_what_it_looked_for_in_a_healthy_program(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, SOUND)
    run(page)
    calm = page.locator("#findings .looked-for")
    calm.wait_for()
    assert "Nothing wrong found" in calm.locator("summary").inner_text()
    assert page.locator("#findings .finding").count() == 0 and page.locator("#chain").is_hidden()
    calm.locator("summary").click()
    assert "one tensor got a gradient" in calm.locator(".looked-for-rows").inner_text()
    assert "whether each gradient is the true slope" in calm.locator(".looked-for-rest").inner_text()
    assert axe(page) == []
    calm.locator(".check-start").click()
    calm.locator(".check-table").wait_for()


def test_a_second_derivative_is_checked_without_being_asked(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, SECOND_DERIVATIVE)
    with page.expect_request("**/gradient-checks") as request:
        run(page)
    assert request.value.post_data_json["backward"] == 1 and request.value.post_data_json["elements"] <= 24
    calm = page.locator("#findings .looked-for")
    calm.locator(".check-sentence").wait_for(state="attached")
    assert calm.get_attribute("open") is None
    calm.locator("summary").click()
    assert "The gradients of line 4 agree" in calm.locator(".gradient-check").inner_text()
    assert calm.locator(".check-table").count() == 0 and calm.locator(".check-start").count() == 1
    assert axe(page) == []


def test_a_gradient_that_differs_is_shown_without_being_asked(page: Any, site: str) -> None:
    def with_another_gradient(route: Any) -> None:
        reply = route.fetch().json()
        for leaf in reply["check"]["leaves"]:
            leaf.update(verdict="differs", worst=0)
            leaf["rows"][0].update(verdict="differs", torch=1.0, double=1.0)
        route.fulfill(json=reply)

    page.goto(site)
    paste(page, SECOND_DERIVATIVE)
    page.route("**/gradient-checks", with_another_gradient)
    run(page)
    calm = page.locator("#findings .looked-for[open]")
    calm.locator(".check-table tr[data-verdict=differs]").first.wait_for()
    assert "torch gives 1, but the slope is" in calm.locator(".check-sentence").first.inner_text()


@pytest.mark.usefixtures("raised")
def test_axe_finds_nothing_with_the_card_open(page: Any) -> None:
    page.locator(".fix[open]").wait_for()
    assert axe(page) == []


def test_the_card_speaks_chinese_and_goes_with_the_offline_file(page: Any, site: str, tmp_path: Path) -> None:
    page.goto(f"{site}/?lang=zh")
    paste(page, STALE)
    run(page)
    assert "第 4 行" in page.locator(".finding.open .finding-sentence").inner_text()
    use(page, "#takeaway").click()
    with page.expect_download() as download:
        page.locator('[data-take="run.html"]').click()
    file = tmp_path / "run.html"
    download.value.save_as(file)
    page.goto(file.as_uri())
    page.locator(".finding.open .finding-link.cause").click()
    assert "第 4 行" in page.locator(".finding.open .finding-sentence").inner_text()
    assert page.locator("#listing .cm-cause").count() == 1 and page.locator(".fixes").count() == 0


def test_a_fix_of_a_training_shows_both_losses(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, NEVER_STEPS)
    run(page)
    losses = page.locator(".fix[open] .fix-losses")
    losses.wait_for()
    before, after = losses.locator("figcaption").all_inner_texts()
    assert before.startswith("before: loss = ") and after.startswith("after: loss = ")
    assert float(after.split(" = ")[1]) < float(before.split(" = ")[1]) / 2
    flat, falling = (
        figure.locator(".curve-past").bounding_box()["height"] for figure in losses.locator("figure").all()
    )
    assert flat < 3 < falling
    assert axe(page) == []
