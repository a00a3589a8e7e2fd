"""Who can't see or use a mouse: axe on every page, contrast in the picture, the tour by keys alone, a sentence a
step."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.support import drawn_scenarios
from tests.support.page_driver import STALE, at_step, leave, page_trace, paste, run, use
from tests.support.sampling import in_turn, places, sampled

AXE = ROOT / "node_modules/axe-core/axe.min.js"
THEMES = ["light", "dark"]
REFUSED = "import torch\nimport socket\nimport subprocess\n"

CONTRAST = """() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("#stage * { pointer-events: all !important; transition: none !important; animation: none !important }");
    document.adoptedStyleSheets.push(sheet);
    const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const rgba = text => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = text;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const over = ([r, g, b, a], under) => [r, g, b].map((c, k) => c * a + under[k] * (1 - a));
    const light = c => c.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
    const faint = e => { let o = 1; for (; e && e.id !== "stage"; e = e.parentElement) o *= Number(getComputedStyle(e).opacity); return o; };
    const paint = e => {
        const style = getComputedStyle(e);
        const svg = e instanceof SVGElement && !(e instanceof SVGSVGElement);
        const [r, g, b, a] = rgba(svg ? (style.fill === "none" ? "transparent" : style.fill) : style.backgroundColor);
        return [r, g, b, a * faint(e) * (svg ? Number(style.fillOpacity) : 1)];
    };
    const found = [];
    const seen = new Set();
    for (const text of document.querySelectorAll("#stage text")) {
        const box = text.getBoundingClientRect();
        if (!text.textContent.trim() || !box.width) continue;
        const x = box.x + box.width / 2, y = box.y + box.height / 2;
        const stack = document.elementsFromPoint(x, y);
        if (!stack.includes(text)) continue;
        const below = stack.slice(stack.indexOf(text) + 1).filter(e => !(e instanceof SVGTextElement)
            && !(e instanceof SVGGElement) && !(e instanceof SVGPathElement && getComputedStyle(e).fill === "none"));
        const ground = below.reverse().reduce((under, e) => over(paint(e), under), rgba("white").slice(0, 3));
        const ink = over(paint(text), ground);
        const [a, b] = [light(ink), light(ground)].sort((p, q) => q - p);
        const ratio = (a + 0.05) / (b + 0.05);
        const kind = [...text.classList, text.parentElement.getAttribute("class")].join(" ");
        if (ratio < 4.5 && !seen.has(kind)) {
            seen.add(kind);
            found.push(`${kind}: ${text.textContent} ${ratio.toFixed(2)} ink ${ink.map(Math.round)} on ${ground.map(Math.round)}`);
        }
    }
    document.adoptedStyleSheets.pop();
    return found;
}"""


def axe(page: Any, preload: bool = True) -> list[str]:
    """What axe finds on the page as it stands.

    preload: whether it asks for the styles again, which a file can't
    """
    if not AXE.exists():
        pytest.skip("axe-core is not installed: npm ci")
    page.evaluate(AXE.read_text())
    violations = page.evaluate(
        "async (preload) => (await axe.run(document, {resultTypes: ['violations'], preload})).violations", preload
    )
    return [f"{v['id']}: {n['html'][:200]} {n['failureSummary'][:300]}" for v in violations for n in v["nodes"][:4]]


@pytest.fixture(params=THEMES)
def themed(request: Any, page: Any) -> Any:
    """The page in a theme, as the system asks for it, without motion."""
    page.emulate_media(color_scheme=request.param, reduced_motion="reduce")
    return page


def opened(page: Any, site: str, what: str) -> None:
    """Bring the page into one of the states that are to be checked."""
    if what == "narrow":
        page.set_viewport_size({"width": 390, "height": 844})
    addresses = {"gallery": "gallery", "few": "gallery?only=raises", "marks": "-/gallery", "chinese": "?lang=zh"}
    page.goto(f"{site}/{addresses.get(what, '')}")
    if what == "few":
        page.wait_for_selector("[name=only][value=raises]:checked", state="attached")
    if what in ("gallery", "few", "marks"):
        return
    page.wait_for_function("() => Number(document.querySelector('#workbench').dataset.steps) > 5")
    if what in ("refused", "raised"):
        paste(page, REFUSED if what == "refused" else STALE)
        run(page)
        if what == "raised":
            page.locator(".fix-apply").first.wait_for(state="attached")
    elif what == "loom":
        use(page, "#views [data-view=run]").click()
    elif what == "help":
        use(page, "#help-button").click()
    elif what == "menu":
        use(page, "#takeaway").click()


STATES = ["first", "gallery", "marks", "refused", "raised", "loom", "help", "menu", "chinese", "narrow"]


@pytest.mark.parametrize(("what", "themed"), in_turn(STATES, THEMES), indirect=["themed"])
def test_axe_finds_nothing(themed: Any, site: str, what: str) -> None:
    opened(themed, site, what)
    assert axe(themed) == []


TRAINS = """import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.LayerNorm(4), torch.nn.Linear(4, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
X = torch.randn(8, 2)
for i in range(3):
    opt.zero_grad()
    loss = model(X).square().mean()
    loss.backward()
    opt.step()
print(loss.item())
"""
LOOKS = {
    "dark": {"color_scheme": "dark"},
    "forced": {"forced_colors": "active"},
    "phone": {"color_scheme": "light"},
    "twice": {"color_scheme": "light"},
}
SIZES = {"phone": (390, 844), "twice": (720, 450)}


@pytest.mark.parametrize(("what", "look"), in_turn(["new", "step", "run", "raised", "empty"], list(LOOKS), 2))
def test_axe_finds_nothing_in_any_look(page: Any, site: str, what: str, look: str) -> None:
    page.emulate_media(reduced_motion="reduce", **LOOKS[look])
    width, height = SIZES.get(look, (1280, 720))
    page.set_viewport_size({"width": width, "height": height})
    page.goto(site)
    page.wait_for_selector("#workbench[data-steps]")
    page.locator(".cm-now").click()
    paste(page, {"raised": STALE, "empty": "# nothing\n"}.get(what, TRAINS))
    run(page)
    if what == "raised":
        page.locator(".fix-apply").first.wait_for(state="attached")
    elif what == "new":
        page.locator("#new > summary").click()
    elif what != "empty":
        use(page, f"#views [data-view={what}]").click()
        page.wait_for_function(f"() => document.querySelector('#workbench').dataset.shownView === '{what}'")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert axe(page) == []


@pytest.mark.parametrize(("width", "themed"), in_turn([1440, 390], THEMES, 2), indirect=["themed"])
def test_axe_finds_nothing_in_a_comparison(themed: Any, site: str, width: int) -> None:
    themed.set_viewport_size({"width": width, "height": 844})
    themed.goto(f"{site}/compare")
    themed.wait_for_selector("#comparison[data-rows]")
    themed.keyboard.press("End")
    assert axe(themed) == []


@pytest.mark.parametrize(("name", "themed"), in_turn(drawn_scenarios.NAMES, THEMES, 4), indirect=["themed"])
def test_text_in_the_picture_has_enough_contrast(themed: Any, site: str, name: str) -> None:
    themed.goto(f"{site}/?s={name}")
    themed.wait_for_function("() => Number(document.querySelector('#workbench').dataset.steps) > 5")
    leave(themed)
    themed.keyboard.press("Home")
    for i in range(int(themed.locator("#workbench").get_attribute("data-steps"))):
        at_step(themed, i)
        assert themed.evaluate(CONTRAST) == [], f"step {i}"
        themed.keyboard.press("ArrowRight")


@pytest.mark.parametrize(("name", "lang"), in_turn(drawn_scenarios.NAMES, ["en", "zh"], 4))
def test_a_screen_reader_hears_a_sentence_at_every_step(page: Any, site: str, name: str, lang: str) -> None:
    page.goto(f"{site}/?s={name}&lang={lang}")
    page.wait_for_function("() => Number(document.querySelector('#workbench').dataset.steps) > 5")
    announced = page.evaluate(
        """() => {
            const slider = document.querySelector("#slider");
            return Array.from({length: Number(slider.max) + 1}, (_, i) => {
                slider.value = String(i);
                slider.dispatchEvent(new Event("input"));
                const texts = [...document.querySelectorAll("[aria-live] li")].map(e => e.textContent);
                return [slider.getAttribute("aria-valuetext"), ...texts];
            });
        }"""
    )
    for step in announced:
        assert len(step) >= 2 and all(step), step
        assert not any("{" in text or "undefined" in text for text in step[1:]), step


def focused(page: Any) -> dict[str, Any]:
    """What has the focus, and how that shows; the editor takes a moment to notice."""
    if page.evaluate("() => document.activeElement.matches('.cm-content')"):
        page.wait_for_selector(".cm-focused")
    focus: dict[str, Any] = page.evaluate(
        """() => {
            const e = document.activeElement;
            const ring = el => { const s = getComputedStyle(el); return [s.outlineStyle, s.outlineWidth, s.boxShadow,
                s.stroke, s.strokeWidth, s.backgroundColor, s.borderColor].join(" "); };
            const parts = () => [e, ...e.querySelectorAll("*"), e.closest(".cm-editor") ?? e].map(ring).join();
            const now = parts();
            const box = e.getBoundingClientRect();
            e.dataset.reached = "yes";
            (window.order ??= []).push(e);
            return {tag: e.tagName.toLowerCase(), id: e.id, go: e.dataset?.go ?? null, now,
                name: e.getAttribute("aria-label") ?? e.textContent.trim().slice(0, 30),
                seen: box.width > 0 && box.height > 0, editor: Boolean(e.closest(".cm-editor"))};
        }"""
    )
    return focus


def tabbed(page: Any) -> Iterator[dict[str, Any]]:
    """Everything that Tab leads to, until it comes round; out of the editor, where Tab indents, leads Escape before
    it."""
    for _ in range(400):
        if page.evaluate("() => document.activeElement.matches('.cm-content')"):
            page.keyboard.press("Escape")
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement === document.body"):
            continue
        if page.evaluate("() => document.activeElement.dataset.reached === 'yes'"):
            return
        yield focused(page)
    raise AssertionError("Tab does not come to an end")


REACHABLE = """() => [...document.querySelectorAll("a[href], button, input, select, textarea, [tabindex='0'], .cm-content")]
    .filter(e => !e.disabled && e.checkVisibility({visibilityProperty: true}) && !e.closest("dialog:not([open])"))
    .filter(e => e.dataset.reached !== "yes").map(e => e.outerHTML.slice(0, 160))"""


@pytest.mark.parametrize("what", sampled(["first", "few", "refused", "raised"], places(0, 3)))
def test_every_control_is_reached_by_tab_and_shows_it(page: Any, site: str, what: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    opened(page, site, what)
    order = list(tabbed(page))
    assert page.evaluate(REACHABLE) == []
    for control in order:
        assert control["seen"], control
    leave(page)
    page.wait_for_selector(".cm-focused", state="detached")
    for control, plain in zip(order, page.evaluate(BARE), strict=True):
        assert control["now"] != plain, ("the focus does not show", control["tag"], control["id"], control["name"])


BARE = """() => {
    const ring = el => { const s = getComputedStyle(el); return [s.outlineStyle, s.outlineWidth, s.boxShadow,
        s.stroke, s.strokeWidth, s.backgroundColor, s.borderColor].join(" "); };
    return window.order.map(e => [e, ...e.querySelectorAll("*"), e.closest(".cm-editor") ?? e].map(ring).join());
}"""


def test_the_tour_works_by_keyboard_alone(page: Any, site: str) -> None:
    page.goto(site)
    page.wait_for_function("() => Number(document.querySelector('#workbench').dataset.steps) > 5")
    first = page_trace(page)
    page.keyboard.press("Home")
    for i in range(len(first["steps"])):
        at_step(page, i)
        assert page.locator("#sentences li").count()
        page.keyboard.press("ArrowRight")

    def to(query: str) -> None:
        for _ in range(200):
            if page.evaluate("q => document.activeElement.matches(q)", query):
                return
            if page.evaluate("() => document.activeElement.matches('.cm-content')"):
                page.keyboard.press("Escape")
            page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not lead to {query}")

    to("#more > summary")
    page.keyboard.press("Enter")
    to("#help-button")
    page.keyboard.press("Enter")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("#help").is_hidden()
    assert page.evaluate("() => document.activeElement.matches('#more > summary')")
    page.keyboard.press("Enter")
    to("#theme")
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.documentElement.dataset.theme") in ("light", "dark")
    to(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.press(
        "Delete"
    )  # typed over a selection, Chromium's own editing tries a style, which our policy blocks
    page.keyboard.type("import torch\nx = torch.ones(2)\nx.add_(1)\n")
    page.keyboard.press("Control+Enter")
    page.wait_for_function("() => document.querySelector('#workbench').dataset.steps === '3'")
    to("#slider")
    page.keyboard.press("Home")
    at_step(page, 0)
    page.keyboard.press("ArrowRight")
    at_step(page, 1)
    to('[data-go="next"]')
    page.keyboard.press("Enter")
    at_step(page, 2)
    to("#more > summary")
    page.keyboard.press("Enter")
    to('a[href^="/gallery"]')
    page.keyboard.press("Enter")
    page.wait_for_url("**/gallery*")
    to("main li a")
    page.keyboard.press("Enter")
    page.wait_for_function("() => Number(document.querySelector('#workbench')?.dataset.steps) > 0")
