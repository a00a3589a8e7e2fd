"""The axis of rounds in a browser: any round by its number, what is told of it, its keys, and what an embedded run
says."""

import json
from typing import Any

import pytest

from tests.findings.rounds_truth import PREAMBLE, rounds_of
from tests.findings.test_training_rounds import MLP, NESTED
from tests.forks.plain_python import call_in_plain
from tests.page.test_access import THEMES, axe
from tests.support.page_driver import leave, paste, run

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TWO_THOUSAND = (
    PREAMBLE
    + """\
w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.001)
for t in range(2000):
    loss = (w ** 2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
BREAKS = (
    PREAMBLE
    + """\
w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for t in range(400):
    loss = (w ** 2).sum() + 0.25 * t
    if t == 333:
        loss = loss * float("inf")
    opt.zero_grad()
    loss.backward()
    opt.step()
    if t == 120:
        opt.param_groups[0]["lr"] = 0.01
    print(f"round {t} w {w[0].item():.3f}")
"""
)
TOLD = "#training output"
FIELD = "#training input"


def trained(page: Any, site: str, program: str, language: str = "") -> dict[str, Any]:
    """The page with a program that has run, and its axis."""
    page.goto(f"{site}/{language}")
    paste(page, program)
    recorded = run(page)
    page.wait_for_selector("#training .round-knob")
    return recorded


def says(page: Any, text: str) -> None:
    page.wait_for_function(f"text => document.querySelector('{TOLD}').textContent.includes(text)", arg=text)


def go_to(page: Any, text: str) -> None:
    page.locator(FIELD).fill(text)
    page.locator(FIELD).press("Enter")


def test_any_round_of_two_thousand_is_fetched_by_its_number(page: Any, site: str) -> None:
    recorded = trained(page, site, TWO_THOUSAND)
    count = len(recorded["rounds"]["recorded"])
    assert count < 2000 and f"{count} of 2000 rounds recorded" in page.locator("#training").inner_text()
    losses = call_in_plain(rounds_of, TWO_THOUSAND)["losses"]
    for n in (1234, 1777):
        with page.expect_response("**/runs") as answer:
            go_to(page, str(n))
        assert json.loads(answer.value.request.post_data)["focus"] == {"loop": 4, "iteration": [n]}
        page.wait_for_selector(f"#where:has-text('[{n}]')")
        says(page, f"Round {n}, 2000 in all · loss {float(f'{losses[n]:.4g}')}")
        assert page.locator("#training .round-knob.away").count() == 0
    assert page.locator("#unseen").is_hidden() and page.locator("#problem").is_hidden()


def test_a_round_is_found_by_the_counts_of_its_loops(page: Any, site: str) -> None:
    recorded = trained(page, site, NESTED)
    assert 161 not in [told["n"] for told in recorded["rounds"]["recorded"]]
    with page.expect_response("**/runs") as answer:
        go_to(page, "40·1")
    assert set(json.loads(answer.value.request.post_data)["focus"]) == {"counts"}
    says(page, "Round 161 (40·1), 240 in all · loss")
    page.wait_for_selector("#training .round-knob:not(.away)")
    go_to(page, "2 3")
    says(page, "Round 11 (2·3), 240 in all")


def test_an_invalid_round_number_is_explained_and_changes_nothing(page: Any, site: str) -> None:
    trained(page, site, NESTED)
    step = page.locator("#workbench").get_attribute("data-step")
    for text in ("240", "-1", "60·0", "3·4", "ten", "1e9", "1.5.2"):
        go_to(page, text)
        says(page, "There are rounds 0 to 239; the loops count the last one 59·3.")
        assert page.locator(FIELD).get_attribute("aria-invalid") == "true"
        assert page.locator(FIELD).input_value() == text, "it can be mended"
    assert page.locator("#workbench").get_attribute("data-step") == step
    page.locator(FIELD).fill("")
    page.locator(FIELD).press("Enter")
    go_to(page, "0")
    says(page, "Round 0 (0·0), 240 in all")
    assert page.locator(FIELD).get_attribute("aria-invalid") == "false"


def test_a_round_of_an_edited_program_is_not_fetched(page: Any, site: str) -> None:
    trained(page, site, MLP)
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("# more")
    go_to(page, "317")
    page.wait_for_selector("#problem:not([hidden])")
    assert "edited since it ran" in page.locator("#problem").inner_text()
    assert "# more" in page.locator(".cm-content").inner_text()


def test_keys_lead_to_recorded_rounds_and_to_what_is_new(page: Any, site: str) -> None:
    recorded = trained(page, site, BREAKS)
    told = [entry["n"] for entry in recorded["rounds"]["recorded"]]
    go_to(page, "0")
    says(page, "Round 0, 400 in all")
    leave(page)
    for n in told[1:3]:
        page.keyboard.press("Alt+ArrowRight")
        says(page, f"Round {n}, 400 in all")
    page.keyboard.press("Alt+ArrowLeft")
    says(page, f"Round {told[1]}, 400 in all")
    assert site in page.url, "the browser has not gone back"
    page.keyboard.press("r")
    says(page, "Round 121, 400 in all")
    assert "a new learning rate" in page.locator(TOLD).inner_text()
    page.keyboard.press("r")
    says(page, "Round 333, 400 in all")
    assert "the first loss that is not finite" in page.locator(TOLD).inner_text()


def test_printed_scalars_are_curves_and_counters_are_not(page: Any, site: str) -> None:
    recorded = trained(page, site, BREAKS)
    names = page.locator("#training select option").all_inner_texts()
    assert names[0] == "loss" and "w" in names and "round" not in names and "t" not in names
    assert page.locator("#curves").is_hidden(), "nothing is drawn twice"
    page.locator("#training select").select_option(label="w")
    slider = page.locator("#training [role=slider]")
    slider.focus()
    slider.press("Home")
    for _ in range(3):
        slider.press("ArrowRight")
    printed = next(entry["text"] for entry in recorded["rounds"]["printed"] if entry["n"] == 3)
    says(page, f"Round 3, 400 in all · w {float(printed.split()[-1])}")
    box = slider.bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 14, box["y"] + 30, steps=4)
    page.mouse.up()
    says(page, "Round 399, 400 in all")


def test_the_phases_of_a_round_lead_to_its_steps(page: Any, site: str) -> None:
    recorded = trained(page, site, MLP)
    go_to(page, "0")
    says(page, "Round 0, 500 in all")
    phases = page.locator("#training .round-phase").evaluate_all("all => all.map(e => e.classList[1])")
    assert [phase for phase in phases if phase != "rest"] == ["forward", "backward", "step"]
    page.locator("#training .round-phase.backward").click()
    page.wait_for_function("() => /loss.backward/.test(document.querySelector('#where').textContent)")
    step = recorded["steps"][int(page.locator("#workbench").get_attribute("data-step"))]
    assert step["kind"] == "visit" and step["iter"] == [0]


def test_an_embedded_run_says_which_rounds_it_has(page: Any, site: str) -> None:
    response = page.request.post(f"{site}/api/scenarios", data={"source": MLP})
    page.goto(site + response.json()["url"].replace("/s/", "/embed/"))
    page.wait_for_selector("#training .round-knob")
    count = page.locator("#training").inner_text()
    assert "of 500 rounds recorded" in count
    go_to(page, "317")
    says(page, "Round 317, 500 in all · loss")
    told = page.locator(TOLD).inner_text()
    assert (
        "not recorded" in told and "the recorded rounds next to it are" in told and "the page of this program" in told
    )
    assert page.get_by_role("button", name="Run again").count() == 0
    go_to(page, "499")
    says(page, "Round 499, 500 in all")


@pytest.mark.parametrize(
    ("theme", "language", "size"), [(THEMES[0], "", (1280, 720)), (THEMES[1], "?lang=zh", (390, 844))]
)
def test_axe_finds_nothing_at_an_axis(page: Any, site: str, theme: Any, language: str, size: tuple[int, int]) -> None:
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    trained(page, site, NESTED, language)
    leave(page)
    page.locator("#training [role=slider]").press("End")
    page.locator("#training [role=slider]").press("ArrowLeft")
    page.wait_for_selector("#training .round-knob.away")
    assert axe(page) == []
    box = page.locator("#training").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= size[0]
