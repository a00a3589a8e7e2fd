"""Big things in a real browser: deep graphs are a list of rows, big storages open where they are clicked."""

from typing import Any

import pytest

from tests.support.page_driver import at_step, leave, paste, run

LAYERS = """\
import torch
weights = [torch.randn(6, 6) for _ in range(8)]
for weight in weights:
    weight.requires_grad_()
opt = torch.optim.Adam(weights, lr=0.01)
x, y = torch.randn(4, 6), torch.randn(4, 6)
for step in range(2):
    opt.zero_grad()
    out = x
    for weight in weights:
        out = torch.relu(out @ weight.t() + 1)
    loss = ((out - y) ** 2).mean()
    loss.backward()
    opt.step()
"""
CHAIN = "import torch\nx = torch.ones(3, requires_grad=True)\ny = x\nfor i in range(248):\n    y = y * 1.01\ny.sum().backward()\n"  # noqa: E501
MILLION = (
    "import torch\nm = torch.randn(1000, 1000)\nrow, col = m[500], m[:, 250]\nm[10, 10] = 50.\nm[700:, 700:] *= 3\n"
)
CROWD = (
    "import torch\nkept = [torch.full((4,), float(k)) for k in range(300)]\nfor k in range(300):\n    kept[k][0] += 1\n"
)
PRINTS = "import torch\nfor i in range(300):\n    print(i, torch.arange(40.))\n"


def start(page: Any, site: str, source: str) -> dict[str, Any]:
    page.goto(f"{site}/#v=step")  # else a training opens as a whole run
    page.wait_for_selector("#workbench[data-steps]")
    paste(page, source)
    trace = run(page)
    leave(page)
    return trace


def go(page: Any, i: int) -> None:
    page.evaluate(
        "i => { const s = document.querySelector('#slider'); s.value = i; s.dispatchEvent(new Event('input')); }", i
    )
    at_step(page, i)


ROW_IN_SIGHT = """() => {
    const room = document.querySelector(".net-scroll").getBoundingClientRect();
    return [...document.querySelectorAll(".net-row.now")].some(row => {
        const {top, bottom} = row.getBoundingClientRect();
        return top >= room.top - 1 && bottom <= room.bottom + 1;
    });
}"""


@pytest.mark.parametrize("source", [LAYERS, CHAIN], ids=["layers", "chain"])
def test_a_graph_larger_than_the_stage_is_a_list_of_rows_with_that_of_the_step_in_sight(
    page: Any, site: str, source: str
) -> None:
    trace = start(page, site, source)
    assert page.locator("#workbench").get_attribute("data-shown-picture") == "net"
    visits = [i for i, step in enumerate(trace["steps"]) if step["kind"] == "visit"]
    for i in visits[:: len(visits) // 6]:
        go(page, i)
        assert page.evaluate(ROW_IN_SIGHT)
        assert page.evaluate("document.querySelectorAll('#net *').length") < 6000


def test_a_place_of_a_big_storage_opens_its_elements(page: Any, site: str) -> None:
    trace = start(page, site, MILLION)
    last = len(trace["steps"]) - 1
    go(page, last)
    cells = "[...document.querySelectorAll('#stage [data-cell^=s1]')].map(e => [Number(e.dataset.cell.split(':')[1]), e.dataset.value])"  # noqa: E501
    means = page.evaluate("[...document.querySelectorAll('#stage [data-mean]')].map(e => Number(e.dataset.mean))")
    heat = next(
        s["set"]["s1"]["summary"] for s in reversed(trace["steps"]) if (s["set"].get("s1") or {}).get("summary")
    )
    assert means == heat["float32"]["heat"] and len(means) == 64
    with page.expect_response(lambda r: "/api/runs" in r.url and r.status == 200) as answer:
        page.locator("#stage .stretch").nth(40).click()
    page.wait_for_selector("#stage [data-cell^='s1:6']")
    at_step(page, last)
    shown = page.evaluate(cells)
    assert 40 * 15625 <= shown[0][0] < 41 * 15625
    assert [i for i, _ in shown] == list(range(shown[0][0], shown[0][0] + len(shown)))
    again = answer.value.json()
    windows = next(
        step["set"]["s1"]["windows"]["float32"]
        for step in reversed(again["steps"])
        if (step["set"].get("s1") or {}).get("windows")
    )
    known = {start + k: value for start, values in windows for k, value in enumerate(values)}
    assert [float(value) for _, value in shown] == [known[i] for i, _ in shown]
    page.locator("#stage .turn").last.click()  # on among what is known, without another run
    assert page.evaluate(cells)[0][0] == shown[-1][0] + 1


@pytest.mark.parametrize("source", [CROWD, PRINTS], ids=["tensors", "output"])
def test_many_things_are_drawn_at_every_step(page: Any, site: str, source: str) -> None:
    trace = start(page, site, source)
    count = len(trace["steps"])
    for i in (0, count // 3, count // 2, count - 1):
        go(page, i)
        assert page.evaluate("document.querySelectorAll('#stage *').length") < 6000
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_very_long_output_is_shown_from_its_end_and_whole_on_demand(page: Any, site: str) -> None:
    trace = start(page, site, PRINTS)
    go(page, len(trace["steps"]) - 1)
    printed = "".join(entry["text"] for step in trace["steps"] for entry in step["log"] if entry["kind"] == "out")
    assert len(printed) > 20_000
    text = "[...document.querySelectorAll('#printed span')].map(e => e.textContent).join('')"
    assert page.evaluate(text) == printed[-20_000:]
    assert f"{len(printed) - 20_000}" in page.locator("#printed button").text_content()
    page.locator("#printed button").click()
    assert page.evaluate(text) == printed
    go(page, len(trace["steps"]) // 4)
    assert printed.startswith(page.evaluate(text))
