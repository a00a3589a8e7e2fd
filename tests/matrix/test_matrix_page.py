"""The page of the matrix in a browser: filter, sort, keys, the card of a cell, fingers, paper, and who can't see it."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.matrix.measured_matrix import give_measurement
from tests.page.test_access import axe
from tests.support.kept_browser import new_context
from tests.support.sampling import places, sampled
from tests.support.waiting import wait_for_answer

ROWS_IN_SIGHT = "() => [...document.querySelectorAll('.matrix-table tbody tr')].filter(r => !r.hidden).map(r => r.id)"
FOCUSED = "() => [document.activeElement.closest('tr')?.id, document.activeElement.dataset.property]"
FOUND = """name => [...document.querySelectorAll('.matrix-table tbody tr')].filter(r => !r.hidden).map(
    r => r.querySelector(`a[data-property=${name}]`)?.parentElement.dataset.verdict ?? 'raises')"""


@pytest.fixture(scope="module")
def matrix(site: str, site_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the page, once it is measured."""
    give_measurement(site_folder, tmp_path_factory)
    wait_for_answer(f"{site}/matrix")
    return f"{site}/matrix"


@pytest.fixture
def open_page(page: Any, matrix: str) -> Any:
    def opened(rest: str = "") -> Any:
        page.goto("about:blank")  # else another fragment alone loads nothing
        page.goto(matrix + rest)
        page.wait_for_selector("#filter:visible")
        return page

    return opened


def test_the_filter_keeps_the_rows_that_fit(open_page: Any) -> None:
    page = open_page()
    everything = page.evaluate(ROWS_IN_SIGHT)
    assert len(everything) >= 40
    page.keyboard.press("/")
    page.keyboard.type("clone storage:yes")
    shown = page.evaluate(ROWS_IN_SIGHT)
    assert {"clone", "clone_detach", "detach_clone"} <= set(shown) and len(shown) < 9
    assert page.locator("#count").inner_text().startswith(str(len(shown)))
    assert page.evaluate(FOUND, "storage") == ["yes"] * len(shown)
    page.locator("#filter").fill("nothing like this")
    assert page.locator("#none").is_visible() and page.evaluate(ROWS_IN_SIGHT) == []
    page.locator("#filter").fill("")
    assert page.evaluate(ROWS_IN_SIGHT) == everything
    for group in page.locator("tbody").all():  # each label beside all rows of its group
        assert int(group.locator(".group").get_attribute("rowspan")) == group.locator("tr").count()


def test_a_heading_sorts_by_key_and_the_third_time_brings_the_groups_back(open_page: Any) -> None:
    page = open_page("#q=a.")
    before = page.evaluate(ROWS_IN_SIGHT)
    head = page.locator("th[data-sort=storage]")
    head.locator("button").focus()
    order = ["yes", "no", "not_applicable", "raises"]
    for state, expected in (("ascending", order), ("descending", order[::-1])):
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == state
        found = page.evaluate(FOUND, "storage")
        assert found == sorted(found, key=expected.index) and set(found) >= {"yes", "no"}
    address = page.evaluate("location.hash")
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "none" and page.evaluate(ROWS_IN_SIGHT) == before
    page = open_page(address)
    assert page.locator("th[data-sort=storage]").get_attribute("aria-sort") == "descending"
    assert page.locator("#filter").input_value() == "a."


def test_the_table_is_walked_by_keys_and_the_card_follows(open_page: Any) -> None:
    page = open_page()
    assert page.locator(".matrix-table tbody a[tabindex='0']").count() == 1
    page.locator("#alias a[data-property=handle]").focus()
    for key, at in (
        ("ArrowRight", ["alias", "storage"]),
        ("ArrowDown", ["requires_grad_", "storage"]),
        ("End", ["requires_grad_", "attributes"]),
        ("ArrowRight", ["requires_grad_", "attributes"]),
        ("Home", ["requires_grad_", "handle"]),
        ("Control+End", ["zeros_like", "attributes"]),
        ("ArrowDown", ["zeros_like", "attributes"]),
        ("Control+Home", ["alias", "handle"]),
    ):
        page.keyboard.press(key)
        assert page.evaluate(FOCUSED) == at, key
    page.wait_for_selector("#cell-card:visible")
    assert "print(b is not a)" in page.locator("#cell-card pre").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("#cell-card").is_hidden()


def test_the_card_lists_situations_with_another_verdict(open_page: Any) -> None:
    page = open_page("?lang=en#at=reshape.storage")
    card = page.locator("#cell-card")
    card.locator(".situations").wait_for()
    assert re.sub(r"\s+", " ", card.locator(".situations tr").last.inner_text()).strip() == "no yes"
    card.locator(".situations a", has_text="yes").click()
    page.wait_for_function("() => location.search.includes('memory=strided')")
    page.wait_for_selector("#cell-card:visible")
    assert page.locator("#reshape td").nth(1).get_attribute("data-verdict") == "yes"
    page.locator("#cell-card [data-go=view]").click()
    page.wait_for_function("() => location.hash === '#at=view.handle'")  # it raises there, and has one cell
    page.locator("[data-switch]", has_text="no_grad").first.click()
    page.wait_for_function("() => location.search.includes('mode=no_grad')")
    assert page.evaluate("location.hash") == "#at=view.handle"


def test_a_cell_opens_its_program_which_prints_the_verdict(open_page: Any) -> None:
    page = open_page()
    page.locator("#detach a[data-property=strides]").click()
    page.wait_for_function("() => Number(document.querySelector('#workbench')?.dataset.steps) > 0")
    page.wait_for_function("() => document.querySelector('#printed').textContent.startsWith('True (3, 1) (3, 1)')")
    line = page.locator(".cm-now")
    assert "b = a.detach()" in line.inner_text(), "it opens where the operation has been"


def test_a_finger_sees_the_card_first(chromium: Any, matrix: str) -> None:
    context = new_context(chromium, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(matrix)
    page.wait_for_selector("#filter:visible")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    cell = page.locator("#detach_ a[data-property=grad_fn]")
    cell.tap()
    page.wait_for_selector("#cell-card:visible")
    page.wait_for_function(
        """() => {
            const [cell, card] = [document.querySelector("#detach_ a[data-property=grad_fn]"), document.querySelector("#cell-card")]
                .map((element) => element.getBoundingClientRect());
            return cell.top >= 0 && cell.bottom <= card.top && card.bottom <= 845;
        }"""  # noqa: E501
    )
    assert page.url.startswith(matrix)
    page.locator("#cell-card .open").tap()
    page.wait_for_url("**/matrix/detach_.grad_fn.leaf.contiguous.grad**")
    context.close()


@pytest.mark.parametrize("what", sampled(["light", "dark", "?lang=zh", "?memory=strided", "narrow"], places(1, 2, 4)))
def test_axe_finds_nothing(open_page: Any, page: Any, what: str) -> None:
    page.emulate_media(color_scheme="dark" if what == "dark" else "light", reduced_motion="reduce")
    if what == "narrow":
        page.set_viewport_size({"width": 390, "height": 844})
    open_page(f"{what if what[0] == '?' else ''}#at=reshape.storage")
    page.wait_for_selector("#cell-card:visible")
    assert axe(page) == []


def test_it_prints_on_one_sheet_of_a3_and_two_of_a4(open_page: Any) -> None:
    page = open_page()
    margin = dict.fromkeys(("top", "bottom", "left", "right"), "8mm")
    for sheet, count in (("A3", 1), ("A4", 2)):
        pdf = page.pdf(format=sheet, landscape=True, margin=margin)
        assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == count, sheet
    page.emulate_media(media="print")
    assert page.locator(".switches").is_hidden() and page.locator("caption").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_page_is_small_and_waits_for_nothing(open_page: Any) -> None:
    """What lets it be there at once, on any machine: its size, and that no script or style holds it up but its own."""
    page = open_page()
    document = page.evaluate("performance.getEntriesByType('navigation')[0].toJSON()")
    assert 0 < document["encodedBodySize"] < 40_000 and document["decodedBodySize"] < 500_000
    assert page.evaluate("document.querySelectorAll('*').length") < 10_000
    blocking = page.evaluate(
        "performance.getEntriesByType('resource').filter(r => r.renderBlockingStatus === 'blocking').map(r => r.name)"
    )
    assert all("/static/dist/" in address for address in blocking) and len(blocking) <= 2, blocking


def test_without_scripts_the_table_and_its_links_are_there(chromium: Any, matrix: str) -> None:
    context = new_context(chromium, java_script_enabled=False)
    page = context.new_page()
    page.goto(matrix)
    assert page.locator("#filter").is_hidden() and page.locator("tbody tr").count() >= 40
    assert (
        page.locator("#clone a").first.get_attribute("href").endswith("/matrix/clone.handle.leaf.contiguous.grad#i=2")
    )
    context.close()
