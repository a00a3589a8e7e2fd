"""The view of parameters in a real browser: what its keys and headings do, what goes out as CSV, and who can use it."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from tests.page.test_access import CONTRAST, THEMES, axe
from tests.sharing.test_takeaway import elsewhere, take
from tests.support.page_driver import at_step
from tests.views.test_net_view import open_program, step, themed

__all__ = ["elsewhere", "themed"]

TRAINED = """\
import torch
from torch import nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(40, 30)
        self.gate = nn.Linear(30, 30)
        self.head = nn.Linear(30, 1)
        self.stem.bias.requires_grad_(False)
    def forward(self, x):
        return self.head(torch.tanh(self.stem(x)))
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for i in range(3):
    opt.zero_grad()
    net(torch.randn(4, 40)).square().mean().backward()
    opt.step()
"""
SCALED = """\
import torch
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
scaler.scale(net(torch.ones(1, 2)).sum()).backward()
scaler.step(opt)
"""
MANY = """\
import torch
from torch import nn
net = nn.Sequential(*[nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)) for _ in range(20)])
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(1, 2)).sum().backward()
opt.step()
"""
ROWS = ".parameters-table tbody tr"
SORTED = ".parameters-table thead th[aria-sort]"


def show_parameters(page: Any, site: str, text: str, query: str = "") -> None:
    """Run a program, go to its last step and show its parameters."""
    open_program(page, site, text, query)
    page.evaluate(
        """() => { const slider = document.getElementById('slider');
            slider.value = slider.max; slider.dispatchEvent(new Event('input', {bubbles: true})); }"""
    )
    at_step(page, int(page.locator("#slider").get_attribute("max")))
    page.keyboard.press("t")
    page.wait_for_selector(ROWS)


def cells(page: Any, column: int) -> list[str]:
    """What a column shows, from above."""
    found: list[str] = page.locator(ROWS).evaluate_all(
        """(rows, k) => rows.map(({cells: {[k]: cell}}) => (cell.querySelector('.value') ?? cell).textContent.trim())""",  # noqa: E501
        column,
    )
    return found


def test_every_heading_sorts_and_sorts_the_other_way(page: Any, site: str) -> None:
    show_parameters(page, site, TRAINED)
    names = cells(page, 0)
    assert names[:2] == ["gate.weight", "gate.bias"] and len(names) == 6
    assert cells(page, 4)[0] == "✕never learns" and "□frozen" in cells(page, 4)
    orders = set()
    for k in range(page.locator(".parameters-table thead th").count()):
        press = page.locator(".parameters-table thead th button").nth(k)
        press.focus()
        page.keyboard.press("Enter")
        page.wait_for_function("k => document.querySelectorAll('.parameters-table thead th')[k].ariaSort", arg=k)
        if k == 4:  # it was sorted by this one
            page.keyboard.press("Enter")
        first = cells(page, 0)
        assert page.locator(SORTED).count() == 1 and sorted(first) == sorted(names)
        page.keyboard.press("Enter")
        assert sorted(cells(page, 0)) == sorted(names)
        orders |= {tuple(first), tuple(cells(page, 0))}
    assert len(orders) >= 6
    by_numbers = page.locator(".parameters-table thead th button").nth(2)
    by_numbers.click()
    counts = [int(text.replace(",", "")) for text in cells(page, 2)]
    assert counts == sorted(counts, reverse=True)


def test_arrow_keys_go_through_the_rows_and_enter_shows_the_tensor(page: Any, site: str) -> None:
    show_parameters(page, site, TRAINED)
    page.locator(f"{ROWS} button").first.focus()
    before = step(page)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    focused = page.evaluate("document.activeElement.closest('tr').querySelector('th').textContent")
    assert focused == cells(page, 0)[1] and step(page) == before
    page.keyboard.press("Enter")
    page.wait_for_selector("#stage .stage")
    assert page.locator("#parameters").is_hidden()


def test_the_csv_is_what_is_drawn(page: Any, site: str) -> None:
    show_parameters(page, site, TRAINED)
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    parameters, modules = Path(download.value.path()).read_text().split("\n\n")
    rows = {row["name"].removeprefix("net."): row for row in csv.DictReader(io.StringIO(parameters))}
    drawn = list(zip(*(cells(page, k) for k in range(8)), strict=True))
    assert {row[0] for row in drawn} == set(rows)
    for name, shape, numbers, _, learns, gradient, weight, moved in drawn:
        row = rows[name]
        assert (shape, numbers.replace(",", "")) == (row["shape"].replace("x", "×"), row["numbers"])
        assert ("updated" in learns) == (row["learns"] == "updated")
        for text, value in ((gradient, row["gradient_norm"]), (weight, row["weight_norm"]), (moved, row["moved"])):
            if text in ("None", "none wanted"):
                assert value == "None"
            else:
                assert float(text) == pytest.approx(float(value), rel=6e-3), (name, text, value)
    kept = [row["kept"] for row in csv.DictReader(io.StringIO(modules))]
    assert len(kept) == page.locator(".modules-table tbody tr").count() >= 3


def test_a_scaled_gradient_says_so_until_it_is_divided(page: Any, site: str) -> None:
    show_parameters(page, site, SCALED)
    assert page.locator(".scaled").count() == 0
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("() => document.querySelectorAll('.parameters-table .scaled').length === 2")
    assert page.locator(".scaled").all_text_contents() == ["×1,024", "×1,024"]
    assert "1,024" in page.locator(".scaled").first.get_attribute("title")


def test_many_parameters_are_folded_and_a_part_opens(page: Any, site: str) -> None:
    show_parameters(page, site, MANY)
    assert page.locator(ROWS).count() == 20
    part = page.locator(f"{ROWS} .opens").nth(3)
    part.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('.parameters-table tbody tr').length > 20")
    assert page.evaluate("document.activeElement.ariaExpanded") == "true"
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('.parameters-table tbody tr').length === 20")


@pytest.mark.parametrize("themed", THEMES, indirect=True)
def test_axe_and_contrast_find_nothing(themed: Any, site: str) -> None:
    show_parameters(themed, site, TRAINED, "?lang=zh")
    assert axe(themed) == []
    assert themed.evaluate(CONTRAST) == []


def test_a_phone_and_forced_colours_show_every_parameter(page: Any, site: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(forced_colors="active")
    show_parameters(page, site, TRAINED)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert len(cells(page, 0)) == 6 and "never learns" in " ".join(cells(page, 4))


def test_the_offline_page_shows_the_same_parameters(page: Any, elsewhere: Any, site: str, tmp_path: Path) -> None:
    show_parameters(page, site, TRAINED)
    shown = [cells(page, k) for k in range(8)]
    elsewhere.goto(take(page, "run.html", tmp_path).as_uri())
    elsewhere.wait_for_selector("#workbench[data-step]")
    if not elsewhere.locator(ROWS).count():
        elsewhere.keyboard.press("t")
    elsewhere.wait_for_selector(ROWS)
    assert [cells(elsewhere, k) for k in range(8)] == shown
