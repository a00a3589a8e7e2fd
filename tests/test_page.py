"""The page in a real browser: what the DOM says is what the trace says, at every step, there and back."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.tracing import Replay

SEEDS = ROOT.parent / "shared/seeds/snippets"

TRANSCRIPT = """\
    >>> import torch
    >>> m = torch.arange(6.).view(2, 3)
    >>> t = m.t()
    >>> t
    tensor([[0., 3.],
            [1., 4.],
            [2., 5.]])
    >>> row = m[1].expand(2, 3)
    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> y = x.sigmoid()
    >>> d = y.data
    >>> d.zero_()
    tensor([0., 0.])
    >>> (y * x).sum().backward()
    >>> x.grad
"""
STALE = "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\ny = x.exp()\ny.add_(1)\nz = [y, {'k': x}]\ny.sum().backward()\n"


def seed(name: str) -> Any:
    path = SEEDS / f"{name}.txt"
    missing = pytest.mark.skipif(
        not path.exists(), reason="../shared/seeds is missing: the articles' programs were not opened in a browser"
    )
    return pytest.param(path.read_text() if path.exists() else "", id=name, marks=missing)


def paste(page: Any, text: str, editor: str = "body") -> None:
    """Into the editor, over what was there, as a paste. editor: a selector of what it stands in."""
    page.locator(f"{editor} .cm-content").click()
    page.keyboard.press("Control+a")
    page.evaluate(
        """([text, editor]) => {
            const data = new DataTransfer();
            data.setData("text/plain", text);
            document.querySelector(`${editor} .cm-content`).dispatchEvent(
                new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
        }""",
        [text, editor],
    )


def run(page: Any) -> dict[str, Any]:
    """Press the keys for Run; the trace that came. Waits first for the trace that the page opens with."""
    page.wait_for_function(
        """() => !document.body.classList.contains("busy")
            && (document.querySelector("#workbench").dataset.steps || !document.querySelector("#waiting").hidden)"""
    )
    page.evaluate(
        "document.querySelector('#run').replaceChildren(), delete document.querySelector('#workbench').dataset.steps"
    )
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#run [data-trace]", state="attached")  # at once, or when its turn has come and it is over
    trace = fetch_trace(page, "document.querySelector('#run [data-trace]').dataset.trace")
    page.wait_for_function(
        "n => document.querySelector('#workbench').dataset.steps === n", arg=str(len(trace["steps"]))
    )
    return trace


def page_trace(page: Any) -> dict[str, Any]:
    """The trace that the page came with."""
    return fetch_trace(page, "JSON.parse(document.getElementById('first').textContent).trace_url")


def fetch_trace(page: Any, url: str) -> dict[str, Any]:
    """url: a JavaScript expression."""
    trace: dict[str, Any] = page.evaluate(f"async () => (await fetch({url})).json()")
    return trace


def leave(page: Any) -> None:
    page.evaluate("document.activeElement.blur()")


def at_step(page: Any, i: int) -> None:
    page.wait_for_function("i => document.querySelector('#workbench').dataset.step === i", arg=str(i))


READ = """() => {
    const all = (query, read) => [...document.querySelectorAll(`#stage ${query}`)].map(read);
    return {
        cells: all("[data-cell]", e => [e.dataset.cell, e.dataset.dtype, e.dataset.value]),
        shown: all("[data-cell] .val", e => e.textContent.length),
        names: all("[data-name][data-ref]", e => [e.dataset.frame ?? null, e.dataset.name, e.dataset.ref]),
        handles: all("[data-handle]", e => [e.dataset.handle, e.dataset.counter ?? null]),
        badges: all("[data-counter-badge]", e => [e.dataset.counterBadge, e.dataset.version]),
        beads: all("[data-bead]", e => [e.dataset.bead, e.dataset.reads]),
        edges: all("[data-edge]", e => [e.dataset.edge, e.dataset.from, e.dataset.to]),
        nodes: all("[data-node]", e => e.dataset.node),
        pins: all("[data-pin]", e => [e.dataset.pin, e.dataset.state, e.dataset.expected, e.dataset.storage]),
        morePins: all(".pin-more", e => Number(e.firstChild.textContent)),
        folded: all("[data-members]", e => e.dataset.members.split(" ")).flat(),
    };
}"""


def compare(page_state: dict[str, Any], state: dict[str, dict[str, Any]]) -> None:
    """What the DOM says against the state after the step; what is in a fold is not drawn."""
    folded = {*page_state["folded"]}
    living = {uid for uid, e in state.items() if e["kind"] == "storage"} - folded
    cells = {
        (f"{uid}:{k}", dtype): value
        for uid in living
        for dtype, row in (state[uid].get("cells") or {}).items()
        for k, value in enumerate(row)
    }
    drawn = {
        (cell, dtype): json.loads(value) for cell, dtype, value in page_state["cells"] if cell.split(":")[0] in living
    }
    assert drawn == cells
    assert all(page_state["shown"])
    for frame, name, ref in page_state["names"]:
        if frame is not None and frame in state:
            assert state[frame]["vars"][name] == {"ref": ref}
    bound = {
        (uid, name, value["ref"])
        for uid, e in state.items()
        if e["kind"] == "frame"
        for name, value in e["vars"].items()
        if isinstance(value, dict) and value.get("ref", "")[:1] in ("t", "a", "o") and value["ref"] in {*state} - folded
    }
    assert bound <= {tuple(binding) for binding in page_state["names"]}
    handles = {uid for uid, e in state.items() if e["kind"] in ("tensor", "array") and e.get("storage") in living}
    assert handles <= {uid for uid, _ in page_state["handles"]}
    for uid, counter in page_state["handles"]:
        if uid in state and state[uid].get("counter"):
            assert counter == state[uid]["counter"]
    for counter, version in page_state["badges"]:
        if counter in state:
            assert int(version) == state[counter]["value"]
    assert {e["counter"] for uid, e in state.items() if uid in handles and e.get("counter")} <= {
        c for c, _ in page_state["badges"]
    }
    beads: dict[str, list[str]] = {}
    for bead, cell in page_state["beads"]:
        beads.setdefault(bead.split(":")[0], []).append(cell)
    for uid in handles:
        if uid in beads and state[uid]["kind"] == "tensor":
            assert set(beads[uid]) == {f"{state[uid]['storage']}:{index}" for index in element_indices(state[uid])}, uid
    for edge, start, end in page_state["edges"]:
        uid, k = edge.split(":")
        if uid in state:
            assert (start, end) == (uid, state[uid]["next"][int(k)][0])
    nodes = {uid for uid, e in state.items() if e["kind"] == "node"} - folded
    assert nodes <= set(page_state["nodes"])
    pins = {name: (slot, expected, storage) for name, slot, expected, storage in page_state["pins"]}
    missing = 0
    for uid in (uid for uid, e in state.items() if e["kind"] == "node" and not e.get("released")):
        for name, slot in (state[uid].get("saved") or {}).items():
            pin = pins.pop(f"{uid}:{name}", None)
            if slot["state"] in ("freed", "packed") or slot.get("storage") not in living:
                continue
            if pin is None:
                missing += 1
                continue
            assert pin[0] in (slot["state"], "detached"), f"{uid}:{name}"
            assert (int(pin[1]), pin[2]) == (slot["expected"], slot["storage"])
    assert missing == sum(page_state["morePins"])
    assert not {name for name in pins if name.split(":")[0] in state}


def element_indices(handle: dict[str, Any]) -> list[int]:
    """The elements of the storage that a handle reads."""
    out = [handle["offset"]]
    for size, step in zip(handle["shape"], handle["stride"], strict=True):
        out = [at + k * step for at in out for k in range(size)]
    return out if math.prod(handle["shape"]) else []


@pytest.mark.parametrize(
    "text",
    [
        seed("003_8"),
        seed("003_10"),
        seed("001_1"),
        pytest.param(TRANSCRIPT, id="transcript"),
        pytest.param(STALE, id="stale"),
    ],
)
def test_the_picture_is_the_trace_at_every_step(page: Any, site: str, text: str) -> None:
    page.goto(site)
    paste(page, text)
    trace = run(page)
    assert "\n".join(page.locator(".cm-line").all_inner_texts()).split() == trace["program"]["source"].split()
    leave(page)
    page.keyboard.press("Home")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    last = len(trace["steps"]) - 1
    for i in [*range(last + 1), *range(last - 1, -1, -1)]:
        at_step(page, i)
        state = Replay(trace, i).state
        compare(page.evaluate(READ), state)
        step = trace["steps"][i]
        lit = page.locator(".cm-now")
        assert lit.inner_text().strip() == trace["program"]["source"].split("\n")[step["line"] - 1].strip()
        printed = "".join(e["text"] for s in trace["steps"][: i + 1] for e in s["log"] if e["kind"] == "out")
        assert "".join(page.locator("#printed :not(.later)").all_text_contents()) == printed
        if i < last and page.evaluate("window.back") is None:
            page.keyboard.press("ArrowRight")
        elif i > 0:
            page.evaluate("window.back = true")
            page.keyboard.press("ArrowLeft")
    assert [url for url in asked if not url.endswith("/api/fixes")] == []  # fixes are tried once, whatever is stepped


def test_the_first_page_teaches(page: Any, site: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(site)
    page.wait_for_function("() => Number(document.querySelector('#workbench').dataset.steps) > 5")
    assert "clone" in page.locator(".cm-content").inner_text() and "detach" in page.locator(".cm-content").inner_text()
    assert page.locator("#stage [data-handle]").count() >= 3
    assert page.locator("#sentences li").count() >= 1
    assert not [url for url in asked if url.endswith("/runs")]


def test_a_reload_or_a_copied_address_brings_program_and_step_back(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import torch\na = torch.ones(2)\nb = a[:1]\nb += 41\nc = '中'\n")
    run(page)
    leave(page)
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    at_step(page, 3)
    page.wait_for_function("() => location.hash.includes('&i=3')")
    address = page.url
    page.reload()
    at_step(page, 3)
    assert "b += 41" in page.locator(".cm-content").inner_text() and "中" in page.locator(".cm-content").inner_text()
    other = page.context.new_page()
    other.goto(address)
    at_step(other, 3)
    assert other.locator('#stage [data-cell="s1:0"]').get_attribute("data-value") in ("42", "42.0")


def test_a_broken_address_says_so(page: Any, site: str) -> None:
    page.goto(f"{site}/#p=!!!&i=x")
    page.locator("#problem:not([hidden])").wait_for()
    assert page.locator("#stage [data-handle]").count() >= 1


def test_refusals_and_errors_stand_at_their_lines(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import torch\nimport socket\nx = eval('y')\n")
    assert run(page)["outcome"]["status"] == "refused"
    assert page.locator(".message.error").all_inner_texts() == [
        "import of 'socket' is not available: a program here has no network",
        "'eval' is not available: a program here runs as it is written, not from text",
    ]
    assert page.locator(".cm-error").all_inner_texts() == ["import socket", "x = eval('y')"]
    paste(page, "import torch\na = torch.ones(2)\nb = a @ torch.ones(3)\n")
    trace = run(page)
    at_step(page, trace["outcome"]["error"]["step"])
    assert [text.strip() for text in page.locator(".cm-error").all_inner_texts()] == ["b = a @ torch.ones(3)"]
    page.locator(".finding.open", has_text="Stopped on line 3").wait_for()


def test_a_torn_prompt_is_repaired_and_the_outputs_stay(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, ">>> c = torch.ones(2)\nc>>> .zero_()\ntensor([0., 0.])\n>>> c\ntensor([0., 0.])\n")
    run(page)
    before = page.locator(".cm-line").all_inner_texts()
    assert [row[0] for row in output_rows(page)] == ["not reached", "different"]
    with page.expect_response("**/runs"):
        page.locator(".message.notice button", has_text="Put in c.zero_()").click()
    page.wait_for_function("() => document.querySelectorAll('.beside.same').length === 2")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+z")
    assert page.locator(".cm-line").all_inner_texts() == before


def test_a_repair_is_made_on_a_click_with_the_readers_shape(page: Any, site: str) -> None:
    page.goto(site)
    source = "import torch\nx = torch.load('x.pt').cuda()\ny = x.to('cuda')\nprint(y.shape)\n"
    paste(page, source)
    assert run(page)["outcome"]["error"]["type"] == "FileNotFoundError"
    field = page.locator(".offer input")
    field.fill("2, no")
    field.press("Enter")
    assert field.get_attribute("aria-invalid") == "true"
    field.fill("2, 3")
    with page.expect_response("**/runs"):
        field.press("Enter")
    page.locator(".cm-line", has_text="x = torch.randn(2, 3).cuda()").wait_for()
    page.locator("#outcome.raised").wait_for()
    with page.expect_response("**/runs"):
        page.locator(".message.error button").click()
    page.locator("#outcome.finished").wait_for()
    assert page.locator(".cm-line").all_inner_texts()[1:3] == ["x = torch.randn(2, 3)", 'y = x.to("cpu")']
    leave(page)
    page.keyboard.press("End")
    page.wait_for_function("() => document.querySelector('#printed').textContent === 'torch.Size([2, 3])\\n'")
    page.locator(".cm-content").click()
    for _ in range(2):
        page.keyboard.press("Control+z")
    assert "\n".join(page.locator(".cm-line").all_inner_texts()).strip() == source.strip()


def test_what_was_changed_is_said_at_its_line_or_once(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, ">>> a = torch.ones(2)\n>>> a\ntensor([1., 1.])\n>>> a * 2\ntensor([2., 2.])\n")
    run(page)
    assert page.locator(".message.notice").all_inner_texts() == ["Added import torch"]
    assert page.locator("#notices").inner_text() == "Prompts were removed."


def output_rows(page: Any) -> list[tuple[str, list[str], str]]:
    """(verdict, texts, line under or behind which they stand) of each output that is laid beside torch's."""
    rows: list[list[Any]] = page.locator(".beside").evaluate_all(
        """all => all.map(e => {
            let line = e.closest(".cm-line") ?? e;
            while (!line.matches(".cm-line")) line = line.previousElementSibling;
            const texts = [...e.querySelectorAll(".text")].map(t => t.textContent);
            const word = e.querySelector(".verdict");
            return [word.dataset.word ?? word.textContent, texts, line.textContent.trim()];
        })"""
    )
    return [(verdict, texts, line) for verdict, texts, line in rows]


SESSION = """\
>>> a = torch.ones(2)
>>> a
tensor([ 1.,  1.])
>>> a.requires_grad_().exp()
tensor([2.7183, 2.7183])
>>> print(a.sum())  # tensor(2., grad_fn=<SumBackward0>)
>>> a.add_(1)
RuntimeError: a leaf Variable that requires grad
>>> a
tensor([2., 2.])
"""
LAID = [
    ("same", ["tensor([ 1.,  1.])"], "a"),
    ("different", ["tensor([2.7183, 2.7183])", "tensor([2.7183, 2.7183], grad_fn=<ExpBackward0>)"],
     "a.requires_grad_().exp()"),
    ("same", [], "print(a.sum())  # tensor(2., grad_fn=<SumBackward0>)"),
    ("same, as far as it goes", ["RuntimeError: a leaf Variable that requires grad"], "a.add_(1)"),
    ("not reached", ["tensor([2., 2.])"], "a"),
]  # fmt: skip


def test_an_articles_outputs_stand_beside_torchs(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, SESSION)
    trace = run(page)
    assert output_rows(page) == LAID
    steps = {step["line"]: step["i"] for step in trace["steps"]}
    for row, line in ((0, 3), (1, 4), (2, 5), (3, 6)):
        page.locator(".beside").nth(row).click()
        at_step(page, steps[line])
    assert page.locator(".beside").nth(4).evaluate("e => e.tagName") == "DIV"
    assert page.locator("#outputs").inner_text().split(": ")[1].split("\n") == ["1 different 3 the same 1 not reached"]


def test_outputs_are_reached_by_keys_and_come_back_with_the_address(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, SESSION)
    trace = run(page)
    steps = {step["line"]: step["i"] for step in trace["steps"]}
    page.locator("#outputs button.same").focus()
    for line in (3, 5, 6, 3):
        page.keyboard.press("Enter")
        at_step(page, steps[line])
    page.locator(".beside.same").first.focus()
    page.keyboard.press("Space")
    at_step(page, steps[3])
    page.wait_for_function("i => location.hash.includes(`&i=${i}`)", arg=steps[3])
    page.reload()
    at_step(page, steps[3])
    assert len(output_rows(page)) == len(LAID)
    page.locator(".cm-line").first.click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("# mine")
    assert page.locator(".beside").count() == 0


@pytest.mark.parametrize("width", [390, 1440])
def test_outputs_fit_where_there_is_little_room(page: Any, site: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{site}/?lang=zh")
    paste(page, ">>> x = torch.zeros(2, 12)\n>>> x\n" + "tensor([[" + "1., " * 60 + "0.]])\n")
    run(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".beside.different").evaluate("e => e.scrollWidth <= e.clientWidth")
    assert page.locator(".beside .verdict").all_inner_texts() == ["不同"]


def test_after_a_run_by_key_the_keys_are_the_pictures_until_the_editor_is_clicked(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, STALE)
    trace = run(page)
    step = trace["outcome"]["error"]["step"]
    at_step(page, step)
    page.keyboard.press("ArrowLeft")
    at_step(page, step - 1)
    paste(page, "import torch\nx = (\n")
    assert run(page)["outcome"]["status"] == "refused"
    page.wait_for_function("() => document.activeElement.matches('.cm-content')")  # there is nothing to step through


def test_an_exception_leads_to_its_step_and_to_the_write_that_caused_it(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, STALE)
    steps = run(page)["steps"]
    raised, cause = (next(s["i"] for s in steps if is_it(s)) for is_it in (is_raise, is_breaking_write))
    page.keyboard.press("Home")
    at_step(page, 0)
    page.locator(".finding-link").last.click()
    page.wait_for_function("() => document.querySelector('#workbench').dataset.step !== '0'")
    assert page.locator(".cm-now").inner_text().strip() == "y.sum().backward()"
    page.locator(".finding-link.cause").click()
    at_step(page, cause)
    assert page.locator(".cm-now").inner_text().strip() == "y.add_(1)"
    marks = page.locator("#marks").bounding_box()
    for step in (raised, cause):
        page.mouse.click(marks["x"] + marks["width"] * step / (len(steps) - 1) + 3, marks["y"] + 4)
        at_step(page, step)


def is_raise(step: dict[str, Any]) -> bool:
    return bool(step["kind"] == "raise")


def is_breaking_write(step: dict[str, Any]) -> bool:
    return any(entry.get("event") == "saved_stale" for entry in step["log"])


def test_an_edit_outlives_the_gallery_and_the_way_back(page: Any, site: str) -> None:
    page.goto(site)
    page.wait_for_selector("#workbench[data-steps]")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("mine = 1")
    still = "() => window.hash === location.hash || (window.hash = location.hash, false)"
    page.wait_for_function(still, polling=200)  # the address is written a moment after the last key
    page.get_by_role("link", name="Gallery").click()
    page.wait_for_url("**/gallery")
    page.go_back()
    page.wait_for_selector("#workbench[data-steps]")
    assert "mine = 1" in page.locator(".cm-content").inner_text()
    assert page.locator("#stage [data-handle]").count() >= 1 and page.locator("#edited").is_visible()
    page.locator(".wordmark a").click()
    page.locator("#kept:not([hidden])").wait_for()
    assert "mine = 1" not in page.locator(".cm-content").inner_text()
    page.locator("#kept-show").click()
    assert "mine = 1" in page.locator(".cm-content").inner_text()
    assert not page.locator("#kept").is_visible()


def test_the_opening_program_is_headed_by_its_title_and_question(page: Any, site: str) -> None:
    page.goto(site)
    assert page.locator("#heading").inner_text() == "clone against detach"
    assert page.locator(".lead").inner_text().startswith("One of them copies the memory")
    paste(page, "x = 1\n")
    assert page.locator("#heading").inner_text() == "Program" and not page.locator(".lead").is_visible()


def test_a_refused_program_leaves_nothing_of_the_one_before(page: Any, site: str) -> None:
    page.goto(site)
    page.wait_for_function("() => document.querySelector('#alive').textContent.includes('alive')")
    paste(page, "import socket\n")
    run(page)
    assert page.locator("#alive").text_content() == "" and page.locator("#modes").text_content() == ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_button_that_saves_can_be_read(page: Any, site: str, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(site)
    page.locator("#save").click()
    style = "e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]"
    ink, ground = page.locator("#saving [type=submit]").evaluate(style)
    assert contrast(ink, ground) >= 4.5


def contrast(*colours: str) -> float:
    """WCAG's, of two colours as a browser computes them."""
    lights = []
    for colour in colours:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def test_keys_in_the_editor_write_and_do_not_step(page: Any, site: str) -> None:
    page.goto(site)
    page.wait_for_function("() => document.querySelector('#workbench').dataset.step")
    before = page.locator("#workbench").get_attribute("data-step")
    page.locator(".cm-content").click()
    for key in ("ArrowLeft", "ArrowRight", "Home", "End", "Space"):
        page.keyboard.press(key)
    assert page.locator("#workbench").get_attribute("data-step") == before


def test_fast_clicks_and_a_second_run_end_in_the_last_program(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import time\nfor k in range(30):\n    time.sleep(0.05)\n")
    page.keyboard.press("Control+Enter")
    paste(page, "import torch\nlast = torch.full((2,), 7.)\n")
    for _ in range(5):
        page.keyboard.press("Control+Enter")
    page.wait_for_function("() => document.querySelector('#workbench').dataset.steps === '2'")
    page.wait_for_timeout(2500)
    assert page.locator("#workbench").get_attribute("data-steps") == "2"
    leave(page)
    for key in ("Home", "End") * 20:
        page.keyboard.press(key)
    at_step(page, 1)
    assert page.locator('#stage [data-name="last"]').count() == 1


def test_a_click_on_a_line_number_goes_to_where_it_next_ran(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "for k in range(3):\n    a = k\nb = 9\n")
    trace = run(page)
    leave(page)
    page.keyboard.press("Home")
    second = [s["i"] for s in trace["steps"] if s["line"] == 2]
    number = page.locator(".cm-lineNumbers .cm-gutterElement", has_text=re.compile(r"^2$"))
    for i in second:
        number.click()
        at_step(page, i)


def test_the_server_gone_is_a_sentence_and_nothing_is_lost(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "x = 1  # precious\n")
    page.route("**/runs", lambda route: route.abort())
    page.keyboard.press("Control+Enter")
    page.locator("#problem:not([hidden])").wait_for()
    assert "precious" in page.locator(".cm-content").inner_text()
    page.unroute("**/runs")
    run(page)
    assert page.locator("#problem").is_hidden()


def test_a_program_can_not_write_into_the_page(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "x = '</script><img src=x onerror=alert(1)>'\nprint(x)\nraise ValueError(x)\n")
    run(page)
    assert page.locator("img").count() == 0
    assert "</script><img" in page.locator("#printed").inner_text()


def test_both_languages(page: Any, site: str) -> None:
    page.goto(f"{site}/?lang=zh")
    page.wait_for_function("() => document.querySelector('#sentences li')")
    assert page.locator("#run-word").inner_text() == "运行"
    assert re.search("[\u4e00-\u9fff]", page.locator("#sentences").inner_text())


@pytest.mark.parametrize("prefix", ["", "builder.", "findings.", "matrix."])
def test_both_languages_have_the_same_sentences(prefix: str) -> None:
    files = (ROOT / f"static/locales/{prefix}{name}.json" for name in ("en", "zh"))
    english, chinese = (json.loads(path.read_text()) for path in files)
    assert english.keys() == chinese.keys()
    for key in english:
        assert set(re.findall(r"\{(\w+)[|}]", english[key])) == set(re.findall(r"\{(\w+)[|}]", chinese[key])), key


def test_the_gallery_lists_every_scenario_and_opens_it(page: Any, site: str) -> None:
    page.goto(f"{site}/gallery")
    assert page.locator(".gallery li").count() == len(list((Path(ROOT) / "scenarios").glob("*.py"))) >= 8
    page.locator(".gallery li a").last.click()
    page.wait_for_function("() => Number(document.querySelector('#workbench').dataset.steps) > 0")


@pytest.mark.parametrize("width", [390, 1024])
def test_small_screens_have_no_sideways_scroll(page: Any, site: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(site)
    page.wait_for_function("() => document.querySelector('#stage [data-handle]')")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_changed_program_is_not_held_against_the_old_picture(page: Any, site: str) -> None:
    page.goto(site)
    text = "import torch\na = torch.ones(2)\na += 1\n"
    paste(page, text)
    run(page)
    assert page.locator("#edited").is_hidden() and page.locator(".cm-now").count() == 1
    paste(page, f"b = 0\n{text}")
    assert page.locator("#edited").is_visible()
    leave(page)
    for key in ("Home", "ArrowRight", "End"):
        page.keyboard.press(key)
        assert page.locator(".cm-now").count() == 0
    page.wait_for_function("() => location.hash.startsWith('#p=') && !location.hash.includes('&i=')")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+z")
    page.locator("#edited").wait_for(state="hidden")
    assert page.locator(".cm-now").count() == 1


def test_what_is_typed_while_a_program_runs_is_kept(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import time\ntime.sleep(1)\n")
    with page.expect_response("**/runs"):
        page.keyboard.press("Control+Enter")
        page.locator(".cm-content").click()
        page.keyboard.press("Control+End")
        page.keyboard.type("# more")
    page.wait_for_function("() => document.querySelector('#workbench').dataset.steps === '2'")
    assert "# more" in page.locator(".cm-content").inner_text()
    assert page.locator("#edited").is_visible()


def test_only_who_reads_a_changed_cell_is_said_to_see_it(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import torch\na = torch.ones(3)\nleft = a[:1]\nright = a[1:]\nright[0] = 5\n")
    run(page)
    leave(page)
    page.keyboard.press("End")
    page.wait_for_function("() => document.querySelector('#sentences li')")
    sentence = page.locator("#sentences li").first.inner_text()
    assert sentence == "One element of a written. Reading there, so seeing it: right."


def test_refusals_speak_the_readers_language(page: Any, site: str) -> None:
    page.goto(f"{site}/?lang=zh")
    paste(page, "import socket\nx = eval('y')\n")
    run(page)
    errors = page.locator(".message.error").all_inner_texts()
    assert len(errors) == 2 and all(re.search("[\u4e00-\u9fff]", text) for text in errors), errors


def test_an_iteration_that_was_left_out_is_opened(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "n = 0\nfor i in range(3000):\n    n += i\nprint(n)\n")
    first = run(page)
    page.locator("[data-go=last]").click()
    gap = next(step for step in reversed(first["steps"]) if "skipped" in step)
    while page.locator("#workbench").get_attribute("data-step") != str(gap["i"]):
        page.locator("[data-go=previous]").click()
    assert str(gap["skipped"]) in page.locator("#unseen-text").text_content()
    turn = int(page.locator("#unseen-at").get_attribute("min")) + 3
    page.fill("#unseen-at", str(turn))
    with page.expect_response("**/runs") as answer:
        page.keyboard.press("Enter")
    assert json.loads(answer.value.request.post_data)["focus"] == {"loop": 1, "iteration": [turn]}
    page.wait_for_selector(f"#where:has-text('[{turn}]')")
    assert page.locator("#problem").is_hidden()


def test_a_program_that_goes_another_way_says_so(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import time\nfor i in range(3000):\n    n = i\nprint(time.time_ns())\n")
    first = run(page)
    gap = next(step for step in first["steps"] if "skipped" in step)
    page.locator("#slider").fill(str(gap["i"]))
    page.locator("#unseen button").click()
    page.wait_for_selector("#problem:not([hidden])")
    assert "not repeatable" in page.locator("#problem").text_content()


def endless(page: Any, site: str, number: int) -> None:
    """A page whose program runs, or waits for its turn."""
    page.goto(site)
    paste(page, f"import torch\nimport time\nx = torch.ones({number})\ntime.sleep(60)\n")
    page.keyboard.press("Control+Enter")
    page.locator("#stop:not([hidden])").wait_for()


def test_a_run_is_stopped_and_keeps_what_was_recorded(page: Any, site: str) -> None:
    endless(page, site, 3)
    page.locator("#run [data-run]").wait_for(state="attached")
    page.locator("#stop").click()
    page.wait_for_function("() => document.querySelector('#workbench').dataset.steps === '3'")
    assert "stopped this run" in page.locator("#outcome").inner_text()
    assert page.locator("#stop").is_hidden() and page.locator("#run-word").inner_text() == "Run"
    assert page.locator('#stage [data-name="x"]').count() == 1


def test_a_run_is_stopped_before_anything_came_of_it(page: Any, site: str) -> None:
    endless(page, site, 4)
    page.locator("#stop").click()
    page.wait_for_function("() => document.querySelector('#run-word').textContent === 'Run'")
    assert page.locator("#problem").is_hidden() and page.locator("#stop").is_hidden()


def test_who_waits_sees_the_place_and_a_closed_tab_makes_room(page: Any, site: str) -> None:
    others = [page.context.new_page() for _ in range(3)]
    for number, other in enumerate(others):
        endless(other, site, 10 + number)
        other.locator("#run [data-run]").wait_for(state="attached")
    word = others[2].locator("#run-word")
    page.goto(site)
    endless(page, site, 20)
    page.wait_for_function("() => document.querySelector('#run-word').textContent === 'Waiting, 1 before it…'")
    assert word.inner_text() == "Waiting, next…"
    others[0].close()
    others[1].close()
    page.wait_for_function("() => document.querySelector('#run-word').textContent === 'Running…'")
    assert word.inner_text() == "Running…"
    others[2].close()
    page.locator("#stop").click()
    page.wait_for_function("() => document.querySelector('#run-word').textContent === 'Run'")


def test_a_limit_is_said_at_its_line(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import torch\nx = torch.ones(2)\ny = sum(range(10**12))\n")
    trace = run(page)
    stopped = trace["outcome"]["stopped"]
    assert stopped["line"] == 3
    limit_texts = {
        "cpu": "seconds of processor time",
        "wall": "seconds;",
    }  # a busy machine comes to the second one first
    assert limit_texts[stopped["limit"]] in page.locator("#outcome").inner_text()
    assert "at this line when it was stopped" in page.locator(".message.error").inner_text()


def test_no_device_is_offered_where_there_is_but_one(page: Any, site: str) -> None:
    page.goto(site)
    assert page.locator("#device").count() == 0


def test_a_click_on_a_cell_goes_to_who_wrote_it(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import torch\na = torch.zeros(3)\na[1] = 5.\nb = a + 1\na[1] = 6.\na[2] = 7.\n")
    trace = run(page)
    line = {step["line"]: step["i"] for step in trace["steps"]}
    leave(page)
    page.keyboard.press("End")
    at_step(page, line[6])
    cell = page.locator('#stage [data-cell="s1:1"]')
    for expected in (5, 3, 2):
        cell.click()
        at_step(page, line[expected])
    page.keyboard.press("End")
    at_step(page, line[6])
    page.locator('#stage [data-cell="s1:2"]').focus()
    page.keyboard.press("Home")
    page.keyboard.press("End")
    page.locator('#stage [data-cell="s1:0"]').focus()
    page.keyboard.press("Enter")
    at_step(page, line[2])


def test_marks_are_reached_by_keys_and_the_pace_is_kept(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import torch\na = torch.zeros(3)\nb = 1\na[1] = 5.\nc = 2\na[2] = 6.\nd = 3\n")
    trace = run(page)
    line = {step["line"]: step["i"] for step in trace["steps"]}
    leave(page)
    page.keyboard.press("Home")
    for key, expected in (("n", 4), ("n", 6), ("n", 6), ("p", 4)):
        page.keyboard.press(key)
        at_step(page, line[expected])
    page.locator('[data-go="speed"]').click()
    assert page.locator('[data-go="speed"]').inner_text() == "2×"
    page.reload()
    assert page.locator('[data-go="speed"]').inner_text() == "2×"


def test_the_sheet_of_keys_opens_and_closes_by_keys(page: Any, site: str) -> None:
    page.goto(site)
    leave(page)
    page.keyboard.press("?")
    assert page.locator("#help").is_visible() and page.locator("#help kbd").count() >= 8
    page.keyboard.press("Escape")
    assert page.locator("#help").is_hidden()
    page.locator("#help-button").click()
    page.locator("#help .close").click()
    assert page.locator("#help").is_hidden()
    page.locator(".cm-content").click()
    page.keyboard.type("?")
    assert page.locator("#help").is_hidden()
