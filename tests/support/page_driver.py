"""What a reader does with the page, done by a browser: paste, run, step; and the page's DOM held against the trace."""

import json
import math
from typing import Any

from tests.pictures.expected_picture import held
from tests.support.waiting import wait_until

STALE = "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\ny = x.exp()\ny.add_(1)\nz = [y, {'k': x}]\ny.sum().backward()\n"  # noqa: E501


def paste(page: Any, text: str, editor: str = "body") -> None:
    """Into the editor, over what was there, as a paste.

    editor: a selector of what it stands in
    """
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
    trace = press_run(page)
    page.wait_for_function(
        "n => document.querySelector('#workbench').dataset.steps === n", arg=str(len(trace["steps"]))
    )
    return trace


KEEP_TRACE = r"""() => {
    const fetch = window.fetch;
    window.sentTrace = new Promise(keep => {
        window.fetch = async (...request) => {
            const response = await fetch(...request);
            if (response.status !== 200 || !/\/api\/runs(\/[^/?]+)?$/.test(response.url)) return response;
            window.fetch = fetch;
            const text = await response.text();
            keep(JSON.parse(text));
            return Object.defineProperty(new Response(text, response), "url", { value: response.url });
        };
    });
}"""
"""In the page: once a run is over the page aborts its requests, and then Chromium no longer has their bodies."""


def press_run(page: Any) -> dict[str, Any]:
    """Press the keys for Run; the trace that the server sent, at once or when the run was over."""
    page.evaluate("delete document.querySelector('#workbench').dataset.steps")
    page.evaluate(KEEP_TRACE)
    page.keyboard.press("Control+Enter")
    trace: dict[str, Any] = page.evaluate("window.sentTrace")
    return trace


def hold(page: Any, pattern: str) -> list[Any]:
    """The requests for an address, none of which goes on before it is let go."""
    routes: list[Any] = []
    page.route(pattern, lambda route: routes.append(route))  # a built-in method can not be wrapped
    return routes


def let_go(page: Any, pattern: str, routes: list[Any]) -> None:
    """The requests that are held back, once there is one, and those to come."""
    wait_until(lambda: routes, lambda: pattern, page)
    for route in routes:
        route.continue_()
    page.unroute(pattern)


def page_trace(page: Any) -> dict[str, Any]:
    """The trace that the page came with."""
    return fetch_trace(page, "JSON.parse(document.getElementById('first').textContent).trace_url")


def fetch_trace(page: Any, url: str) -> dict[str, Any]:
    """url: a JavaScript expression."""
    trace: dict[str, Any] = page.evaluate(f"async () => (await fetch({url})).json()")
    return trace


def open_more(page: Any) -> None:
    """Open the menu that has what a first visitor doesn't need, unless it is open."""
    if page.locator("#more").get_attribute("open") is None:
        page.locator("#more > summary").click()


def use(page: Any, control: str) -> Any:
    """A control of the workbench, for a press: where it isn't in sight, the menu "More" is opened first."""
    found = page.locator(control)
    if not found.is_visible() and page.locator(f"#more {control}").count():
        open_more(page)
    return found


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
    kept = {slot.get("counter") for slot in held(state).values()}
    worn = {e["counter"] for uid, e in state.items() if uid in handles and e.get("counter")}
    # a version that is still 0 and that no node expects tells nothing
    told = {counter for counter in worn if state[counter]["value"] or counter in kept}
    assert told <= {counter for counter, _ in page_state["badges"]}
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
