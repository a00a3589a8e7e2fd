"""Comparing two programs: every difference and no other, in the interface, on the page, and in its exports."""

import base64
import itertools
import json
import re
import urllib.request
import zlib
from typing import Any

import pytest

from tests.page.compare_truth import SHARED, Differences, differences
from tests.support.page_driver import leave, paste
from tests.support.waiting import wait_until

COPIES = {
    "assigned": "b = a",
    "clone": "b = a.clone()",
    "detach": "b = a.detach()",
    "data": "b = a.data",
    "detached clone": "b = a.detach().clone()",
    "new_tensor": "b = a.new_tensor([1., 2., 3.])",
    "view": "b = a.view(3)",
    "double": "b = a.double()",
    "times one": "b = a * 1",
}
SUMS = {"sum": "s = a.sum()", "mean": "s = a.mean()", "max": "s = a.max()", "prod": "s = a.prod()"}
UPDATES = {
    "add_": "x.add_(y)",
    "+=": "x += y",
    "+": "x = x + y",
    "copy_": "x.copy_(y)",
    "data": "x.data.add_(y)",
}
SHAPES = {
    "view": "v = m.view(4)",
    "reshape": "v = m.reshape(4)",
    "flatten": "v = m.flatten()",
    "contiguous": "v = m.contiguous().view(4)",
    "transposed": "v = m.t().reshape(4)",
}
PROGRAMS = {
    "graph": ("a = torch.tensor([1., 2., 3.], requires_grad=True)\n{}\nc = a * b\nc.sum().backward()\n", COPIES),
    "write": ("a = torch.tensor([1., 2., 3.])\n{}\nb[0] = 9.\nd = a + b\n", COPIES),
    "reduce": ("a = torch.tensor([1., 2., 4.], requires_grad=True)\n{}\ns.backward()\n", SUMS),
    "update": ("x = torch.tensor([1., 2.])\ny = torch.tensor([3., 4.])\nz = x\n{}\nprint(z)\n", UPDATES),
    "shape": ("m = torch.arange(4.).view(2, 2)\n{}\nv[0] = 7.\n", SHAPES),
    "raises": ("w = torch.ones(2, requires_grad=True)\n{}\nt = w.exp()\nt.sum().backward()\nu = 1\n",
               {"in place": "w.add_(1)", "out of place": "w = w + 1", "no grad": "with torch.no_grad(): w.add_(1)"}),
}  # fmt: skip
PAIRS = [
    pytest.param(f"import torch\n{text.format(a)}", f"import torch\n{text.format(b)}", id=f"{name}: {one}, {other}")
    for name, (text, siblings) in PROGRAMS.items()
    for (one, a), (other, b) in itertools.combinations(siblings.items(), 2)
]


def compare(site: str, left: dict[str, Any], right: dict[str, Any], **more: Any) -> dict[str, Any]:
    body = json.dumps({"left": left, "right": right, **more}).encode()
    request = urllib.request.Request(f"{site}/api/compare", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        answer: dict[str, Any] = json.load(response)
    return answer


def reported(answer: dict[str, Any]) -> Differences:
    """The reply's differences in the shape of the truth's: what two names share as pairs."""
    out = Differences()
    for difference in answer["differences"]:
        name, key = difference["name"], difference["property"]
        span = (difference["from_line"], difference["to_line"])
        if key not in SHARED:
            out.facts.add((name, key, *span))
            continue
        left, right = ({*difference[side].split(", ")} - {""} for side in ("left", "right"))
        out.pairs |= {(key, frozenset((name, other)), *span) for other in left ^ right}
    return out


def test_there_are_enough_pairs_of_programs() -> None:
    assert len(PAIRS) >= 50


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_every_difference_is_named_and_no_other(site: str, left: str, right: str) -> None:
    truth = differences(left, right)
    answer = compare(site, {"source": left}, {"source": right})
    told = reported(answer)
    assert told.facts == truth.facts
    assert {pair[:2] for pair in told.pairs} == {pair[:2] for pair in truth.pairs}
    assert told.pairs <= truth.pairs
    assert answer["same"] == (not truth.facts and not truth.pairs)
    names = {name for name, *_ in truth.facts}
    assert names <= set(re.findall(r"`([a-z])(?:\.grad)?`", answer["text"])), "the summary names each"


def saved_pair(site: str) -> tuple[str, str]:
    ids = []
    for copy in ("clone", "detach"):
        source = f"import torch\na = torch.tensor([1., 2.], requires_grad=True)\nb = a.{copy}()\nc = a * b\nc.sum().backward()\nprint(a.grad)\n"  # noqa: E501
        body = json.dumps({"source": source, "title": f"With {copy}"}).encode()
        request = urllib.request.Request(f"{site}/api/scenarios", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as response:
            ids.append(json.load(response)["id"])
    return ids[0], ids[1]


@pytest.fixture(scope="module")
def pair(site: str) -> str:
    left, right = saved_pair(site)
    return f"left={left}&right={right}"


def fetch(address: str) -> tuple[bytes, str]:
    with urllib.request.urlopen(address) as response:
        return response.read(), response.headers["content-type"]


def test_the_exports_of_a_saved_pair(site: str, pair: str) -> None:
    body, kind = fetch(f"{site}/compare.svg?{pair}")
    text = body.decode()
    assert kind.startswith("image/svg+xml") and text.count('class="difference-frame"') >= 3
    assert "b = a.clone()" in text and "b = a.detach()" in text and "shares the memory" in text
    assert fetch(f"{site}/compare.svg?{pair}&lang=zh&row=9")[0].decode().count("左") >= 1
    body, kind = fetch(f"{site}/compare.png?{pair}&theme=dark")
    assert kind == "image/png" and body.startswith(b"\x89PNG")
    body, kind = fetch(f"{site}/compare.json?{pair}")
    answer = json.loads(body)
    assert {("a", "grad"), ("b", "memory")} <= {(row["name"], row["property"]) for row in answer["differences"]}
    assert [row["right"] for row in answer["output"]] == ["tensor([1., 2.])\n"]


def test_saved_programs_are_compared_as_they_were_saved(site: str, pair: str) -> None:
    left, right = re.findall(r"=(\w+)", pair)
    answer = compare(site, {"saved": left}, {"saved": right}, language="zh")
    assert answer["apart_line"] == 3 and "版本计数器" in answer["text"]
    assert compare(site, {"saved": left}, {"saved": left})["same"]


@pytest.mark.parametrize(
    ("side", "status"),
    [({}, 422), ({"source": "x = 1", "saved": "0123456789"}, 422), ({"saved": "0123456789"}, 404)],
)
def test_a_side_that_names_no_program_is_an_error(site: str, side: dict[str, Any], status: int) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        compare(site, side, {"source": "x = 1"})
    with caught.value as response:
        assert response.code == status and json.load(response)["error"]["code"]


def opened(page: Any, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("#comparison[data-rows]")


@pytest.mark.browser
def test_stepping_through_a_comparison_by_keyboard(page: Any, site: str, pair: str) -> None:
    opened(page, f"{site}/compare?{pair}")
    assert page.locator("#verdict").inner_text().startswith("They are the same until line 3.")
    assert page.locator("#comparison").get_attribute("data-row") == "2", "it opens where the two part"
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#comparison[data-row='3']")
    page.keyboard.press("Home")
    page.wait_for_selector("#comparison[data-row='0']")
    assert page.locator("#differences .none").count() == 1
    page.keyboard.press("d")
    page.wait_for_selector("#comparison[data-row='2']")
    assert "shares the memory and version counter of a" in page.locator("#differences").inner_text()
    page.wait_for_selector("#right .difference-marks b")
    page.keyboard.press("End")
    page.wait_for_function("() => location.hash === '#i=9'")
    assert "[1, 2] instead of [2, 4]" in page.locator("#differences").inner_text()
    assert page.locator("#left [data-handle]").count() and page.locator("#right [data-handle]").count()


def program_in(address: str, side: str) -> str:
    """A program that an address holds; "" where it holds none.

    side: `l` or `r`
    """
    packed = re.search(rf"[#&]{side}=([\w-]+)", address)
    if packed is None:
        return ""
    return zlib.decompress(base64.urlsafe_b64decode(packed[1] + "==="), -15).decode()


@pytest.mark.browser
def test_sides_are_edited_swapped_and_linked(page: Any, site: str) -> None:
    opened(page, f"{site}/compare")
    first = page.locator("#verdict").inner_text()
    paste(page, "import torch\nb = torch.zeros(2)\n", "#right")
    page.wait_for_selector("#edited:not([hidden])")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#edited[hidden]", state="attached")
    page.wait_for_function("text => document.querySelector('#verdict').textContent !== text", arg=first)
    changed = page.locator("#verdict").inner_text()
    page.locator("#swap").click()
    page.wait_for_function("text => document.querySelector('#verdict').textContent !== text", arg=changed)
    assert page.evaluate("document.querySelector('#left .cm-content').innerText").startswith(
        "import torch\nb = torch.zeros(2)"
    )
    wait_until(lambda: "zeros" in program_in(page.url, "l"), page=page)
    address, verdict = page.url, page.locator("#verdict").inner_text()
    page.goto("about:blank")
    opened(page, address)
    assert page.locator("#verdict").inner_text() == verdict


@pytest.mark.browser
def test_a_program_that_is_refused_says_so_on_its_side(page: Any, site: str) -> None:
    opened(page, f"{site}/compare")
    paste(page, "x = = 1\n", "#left")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#left .side-outcome.bad")
    assert page.locator("#right .side-outcome.bad").count() == 0
    assert page.locator("#verdict").inner_text() == "The left is refused, the right runs to the end."
    assert page.locator("#left .sentences").inner_text().strip() == "This program was not run."
    leave(page)
    page.keyboard.press("End")
    page.locator("#right [data-handle]").first.wait_for()
    assert page.locator("#left [data-handle]").filter(visible=True).count() == 0, "that was another program's"
    paste(page, "x = = 2\n", "#right")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#right .side-outcome.bad")
    assert page.locator("#verdict").inner_text() == "Neither program runs."
    assert page.locator("[data-handle]").filter(visible=True).count() == 0


@pytest.mark.browser
def test_a_comparison_works_in_a_frame_and_offline(page: Any, site: str, pair: str, tmp_path: Any) -> None:
    opened(page, f"{site}/compare/embed?{pair}#i=9")
    assert "[1, 2] instead of [2, 4]" in page.locator("#differences").inner_text()
    file = tmp_path / "comparison.html"
    file.write_bytes(fetch(f"{site}/compare.html?{pair}&row=2")[0])
    opened(page, file.as_uri())
    assert page.locator("#comparison").get_attribute("data-row") == "2"
    page.locator("#left .listing li").nth(4).click()
    page.wait_for_function("() => Number(document.querySelector('#comparison').dataset.row) > 2")


@pytest.mark.browser
def test_downloads_are_made_by_the_page(page: Any, site: str) -> None:
    opened(page, f"{site}/compare")
    for ending, begins in (("svg", b"<?xml"), ("json", b"{"), ("html", b"<!doctype html>")):
        page.locator("#takeaway").click()
        with page.expect_download() as download:
            page.locator(f"#takeaway-menu [data-take={ending}]").click()
        assert download.value.suggested_filename == f"gradbox-comparison-3.{ending}"
        assert download.value.path().read_bytes().startswith(begins)
