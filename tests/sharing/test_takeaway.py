"""What can be taken away, in a real browser: files that need no server and say what the trace says."""

import json
import re
import struct
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.kept_browser import new_context
from tests.support.own_programs import gradbox_command, run_in_folder
from tests.support.page_driver import READ, at_step, compare, leave, page_trace, paste, run, use
from tests.support.sampling import places, sampled
from tests.support.tracing import ROOT, Replay

SVG = "{http://www.w3.org/2000/svg}"
FILES = ("step.svg", "step.png", "loom.svg", "loom.png", "run.html")
HOSTILE = """\
x = torch.ones(2) # </script><script>window.hacked = 1</script><!-- <style>*{display:none}</style>
note = "</text><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>]]>&amp;\\x07"
both = {note: x, "</title><svg onload=window.hacked=1>": [note]}
x += 1
print(note)
"""


def take(page: Any, file: str, folder: Path) -> Path:
    """Choose it in the menu; the file that came, under the name that the page gave it."""
    use(page, "#takeaway").click()
    with page.expect_download() as coming:
        page.locator(f'[data-take="{file}"]').click()
    path: Path = folder / coming.value.suggested_filename
    coming.value.save_as(path)
    return path


@pytest.fixture
def elsewhere(chromium: Any) -> Iterator[Any]:
    """A page that has no network and never had ours; whatever it asks for or complains of is a failure."""
    context = new_context(chromium, viewport={"width": 1440, "height": 900}, offline=True)
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: None if request.url[:5] in ("file:", "data:") else wrong.append(request.url))
    yield page
    context.close()
    assert wrong == []


def opened(page: Any, site: str, query: str) -> dict[str, Any]:
    """The workbench with a scenario; its trace."""
    page.goto(f"{site}/{query}")
    page.wait_for_selector("#workbench[data-step]")
    return page_trace(page)


def cells(root: ET.Element) -> set[tuple[str, str, str]]:
    elements = [e for e in root.iter() if e.get("data-cell")]
    return {(e.get("data-cell", ""), e.get("data-dtype", ""), e.get("data-value", "")) for e in elements}


def folded(root: ET.Element) -> set[str]:
    """What stands in a fold."""
    return {uid for e in root.iter(f"{SVG}g") for uid in e.get("data-members", "").split()}


def expected(trace: dict[str, Any], i: int, hidden: set[str]) -> set[tuple[str, str, float]]:
    """All cells but those of storages in a fold."""
    state = Replay(trace, i).state
    return {
        (f"{uid}:{k}", dtype, value)
        for uid, e in state.items()
        if e["kind"] == "storage" and uid not in hidden
        for dtype, row in (e.get("cells") or {}).items()
        for k, value in enumerate(row)
    }


def test_the_files_are_named_after_scenario_and_step(page: Any, site: str, tmp_path: Path) -> None:
    opened(page, site, "?s=silent")
    leave(page)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    at_step(page, 1)
    assert [take(page, file, tmp_path).name for file in FILES] == [
        "gradbox-silent-step-2.svg",
        "gradbox-silent-step-2.png",
        "gradbox-silent-loom-step-2.svg",
        "gradbox-silent-loom-step-2.png",
        "gradbox-silent.html",
    ]
    paste(page, "a = torch.ones(2)\n")
    run(page)
    assert take(page, "step.svg", tmp_path).name == "gradbox-program-step-2.svg"


def test_the_takeaway_menu_is_disabled_for_a_refused_program(page: Any, site: str) -> None:
    opened(page, site, "?s=clone")
    paste(page, "import subprocess\n")
    assert run(page)["outcome"]["status"] == "refused"
    assert page.locator("#takeaway").is_disabled()


def test_the_takeaway_menu_works_by_keyboard(page: Any, site: str) -> None:
    opened(page, site, "?s=clone")
    use(page, "#takeaway").focus()
    page.keyboard.press("Enter")
    page.locator("#takeaway-menu").wait_for(state="visible")
    focused = "document.activeElement.dataset.take ?? document.activeElement.id"
    assert page.evaluate(focused) == FILES[0]
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == FILES[1]
    page.keyboard.press("Escape")
    page.locator("#takeaway-menu").wait_for(state="hidden")
    assert page.evaluate(focused) == "takeaway"
    page.keyboard.press("Space")
    page.locator("#takeaway-menu").wait_for(state="visible")
    assert page.locator('[data-go="play"]').get_attribute("data-playing") == "false"
    with page.expect_download() as coming:
        page.keyboard.press("Enter")
    assert coming.value.suggested_filename.endswith(".svg")


@pytest.mark.parametrize("scenario", sampled(["clone", "silent", "view"], places(1)))
def test_a_step_as_svg_says_what_the_trace_says(
    page: Any, elsewhere: Any, site: str, tmp_path: Path, scenario: str
) -> None:
    trace = opened(page, site, f"?s={scenario}")
    leave(page)
    page.keyboard.press("Home")
    for i in range(len(trace["steps"])):
        at_step(page, i)
        if i % 3 == 0:
            path = take(page, "step.svg", tmp_path)
            root = ET.parse(path).getroot()
            drawn = {(cell, dtype, json.loads(value)) for cell, dtype, value in cells(root)}
            assert drawn == expected(trace, i, folded(root))
            elsewhere.goto(path.as_uri())
            shown = elsewhere.locator("[data-cell]").evaluate_all("all => all.map(e => e.dataset.cell)")
            assert sorted(shown) == sorted(cell for cell, _, _ in drawn)
            line = trace["program"]["source"].split("\n")[trace["steps"][i]["line"] - 1].strip()
            assert "".join(elsewhere.locator(".paper-line").all_text_contents()) == line
            assert f"Step {i + 1} of" in elsewhere.locator(".paper-at").text_content()
            leave(page)
        page.keyboard.press("ArrowRight")


def test_a_png_is_the_svg_at_twice_its_size(page: Any, elsewhere: Any, site: str, tmp_path: Path) -> None:
    opened(page, site, "?s=clone")
    for part in ("step", "loom"):
        svg = ET.parse(take(page, f"{part}.svg", tmp_path)).getroot()
        png = take(page, f"{part}.png", tmp_path)
        data = png.read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        size = struct.unpack(">II", data[16:24])
        assert size == (2 * int(svg.get("width", "0")), 2 * int(svg.get("height", "0")))
        elsewhere.goto(png.as_uri())
        colours = elsewhere.evaluate("""() => {
            const image = document.images[0];
            const canvas = Object.assign(document.createElement("canvas"), {width: 300, height: 200});
            const pen = canvas.getContext("2d");
            pen.drawImage(image, 0, 0, 300, 200);
            try { return new Set(new Uint32Array(pen.getImageData(0, 0, 300, 200).data.buffer)).size; }
            catch { return null; }  // a file's picture may not be read back by a file's page
        }""")
        assert colours is None or colours > 30
        assert len(data) > 30_000


def test_files_are_in_the_pages_language_and_theme(page: Any, elsewhere: Any, site: str, tmp_path: Path) -> None:
    opened(page, site, "?s=silent&lang=zh")
    use(page, "#theme").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    svg = take(page, "step.svg", tmp_path).read_text()
    assert 'xml:lang="zh"' in svg and "#16191f" in svg and "#ffffff" not in svg and re.search("第 \\d+ 步", svg)
    elsewhere.goto(take(page, "run.html", tmp_path).as_uri())
    elsewhere.wait_for_selector("#workbench[data-step]")
    assert elsewhere.evaluate("document.documentElement.lang") == "zh"
    assert elsewhere.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 25, 31)"
    assert "内存" in elsewhere.locator(".lane-head").all_text_contents()
    use(elsewhere, "#theme").click()
    assert elsewhere.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_the_offline_page_steps_and_plays_without_a_server(
    page: Any, elsewhere: Any, site: str, tmp_path: Path
) -> None:
    trace = opened(page, site, "?s=accumulate")
    begin = int(page.locator("#workbench").get_attribute("data-step"))
    path = take(page, "run.html", tmp_path)
    elsewhere.goto(path.as_uri())
    at_step(elsewhere, begin)
    assert elsewhere.locator("#listing li").all_text_contents() == trace["program"]["source"].rstrip().split("\n")
    elsewhere.keyboard.press("Home")
    last = len(trace["steps"]) - 1
    for i in range(last + 1):
        at_step(elsewhere, i)
        compare(elsewhere.evaluate(READ), Replay(trace, i).state)
        line = trace["program"]["source"].split("\n")[trace["steps"][i]["line"] - 1]
        assert elsewhere.locator("#listing .cm-now").all_text_contents() == [line]
        printed = "".join(e["text"] for s in trace["steps"][: i + 1] for e in s["log"] if e["kind"] == "out")
        assert "".join(elsewhere.locator("#printed :not(.later)").all_text_contents()) == printed
        assert elsewhere.locator("#sentences li").count() >= 1
        elsewhere.keyboard.press("ArrowRight")
    elsewhere.keyboard.press("Home")
    elsewhere.keyboard.press("Space")
    at_step(elsewhere, 2)
    elsewhere.keyboard.press("Space")
    elsewhere.locator("#listing li").nth(trace["steps"][last]["line"] - 1).click()
    assert elsewhere.locator("#listing .cm-now").count() == 1
    elsewhere.set_viewport_size({"width": 390, "height": 844})
    assert elsewhere.evaluate("document.documentElement.scrollWidth") <= 390


LONG_AND_WRONG = (
    "import torch\n"
    + "".join(f"# remark {k}\nx{k} = torch.ones({k % 3 + 1})  # 'no text'\n" for k in range(60))
    + "w = torch.ones(3, requires_grad=True)\ny = w.exp()\ny.add_(1)\nprint('so', 1.5, None)\n"
    + "def last(value):\n    return value.sum() * 1.0 * 1.00 * 1.000 * 1.0000 * 1.00000 * 1.000000 * 1.0000000\nlast(y).backward()\n"  # noqa: E501
)
PAINTED = """query => [...document.querySelectorAll(query)].map(line => [...line.querySelectorAll("[class^=sx-]")]
    .filter(part => part.className !== "sx-note" || part.textContent.trim()).map(part => [part.className, part.textContent]))"""  # noqa: E501
IN_SIGHT = """() => {
    const now = document.querySelector("#listing .cm-now");
    let box = document.querySelector("#listing");
    while (box.scrollHeight <= box.clientHeight + 1 && box.parentElement) box = box.parentElement;
    const [line, view] = [now, box].map(element => element.getBoundingClientRect());
    return line.top >= view.top - 1 && line.bottom <= Math.min(view.bottom, innerHeight) + 1;
}"""


@pytest.mark.parametrize("size", [(1440, 900), (1280, 720), (390, 844)])
def test_the_offline_page_opens_at_its_line_in_colours_with_its_finding(
    page: Any, elsewhere: Any, site: str, tmp_path: Path, size: tuple[int, int]
) -> None:
    page.goto(site)
    paste(page, LONG_AND_WRONG)
    run(page)
    headline = page.locator(".finding.open .finding-sentence").inner_text()
    step = int(page.locator("#workbench").get_attribute("data-step"))
    path = take(page, "run.html", tmp_path)
    elsewhere.set_viewport_size({"width": size[0], "height": size[1]})
    elsewhere.goto(path.as_uri())
    at_step(elsewhere, step)
    assert elsewhere.locator(".finding.open .finding-sentence").inner_text() == headline
    assert elsewhere.locator("#listing .cm-now").inner_text().startswith("last(y).backward()")
    elsewhere.wait_for_function(IN_SIGHT)
    elsewhere.wait_for_selector("#listing .sx-word")
    lines = elsewhere.locator("#listing li").evaluate_all(
        "rows => rows.map(row => row.querySelector('.listing-text').textContent)"
    )
    assert lines == LONG_AND_WRONG.rstrip().split("\n"), "no letter is lost by a colour"
    painted = elsewhere.evaluate(PAINTED, "#listing li")
    assert painted[0] == [["sx-word", "import"]] and painted[1] == [["sx-note", "# remark 0"]]
    assert [["sx-text", "'so'"], ["sx-number", "1.5"], ["sx-number", "None"]] in painted
    page.locator(".cm-now").wait_for()
    shown = page.locator(".cm-line").all_inner_texts()
    alike = [
        parts == painted[lines.index(text)]
        for text, parts in zip(shown, page.evaluate(PAINTED, ".cm-line"), strict=True)
        if text.strip() and text in lines
    ]
    assert all(alike) and len(alike) > 3, "the editor's colours"
    elsewhere.keyboard.press("Home")
    elsewhere.wait_for_function(IN_SIGHT)
    if size[0] > 860:
        assert elsewhere.locator("#listing").evaluate("list => list.scrollWidth <= list.clientWidth"), "no line is cut"


def test_hostile_texts_stay_texts_in_every_file(page: Any, elsewhere: Any, site: str, tmp_path: Path) -> None:
    page.goto(site)
    paste(page, HOSTILE)
    trace = run(page)
    assert trace["outcome"]["status"] == "finished"
    for file in ("step.svg", "loom.svg"):
        path = take(page, file, tmp_path)
        tags = {element.tag for element in ET.parse(path).iter()}
        assert not {f"{SVG}{name}" for name in ("script", "image", "foreignObject", "a")} & tags
        elsewhere.goto(path.as_uri())
        assert elsewhere.evaluate("window.hacked") is None
    for file in ("step.png", "loom.png"):
        assert take(page, file, tmp_path).stat().st_size > 10_000
    elsewhere.goto(take(page, "run.html", tmp_path).as_uri())
    elsewhere.wait_for_selector("#workbench[data-step]")
    assert elsewhere.locator("#listing li").all_text_contents() == trace["program"]["source"].rstrip().split("\n")
    assert elsewhere.title().startswith("Gradbox: x = torch.ones(2) # </script><script>")
    assert elsewhere.locator("#title").text_content() == elsewhere.title().removeprefix("Gradbox: ")
    for _ in trace["steps"]:
        elsewhere.keyboard.press("ArrowLeft")
    assert elsewhere.evaluate("window.hacked") is None
    assert elsewhere.locator("script").count() == 2
    assert elsewhere.locator("img, style:not([nonce])").count() == 0


def test_downloads_need_no_looser_content_security_policy(page: Any, site: str, tmp_path: Path) -> None:
    policy = page.goto(f"{site}/?s=clone").headers["content-security-policy"]
    assert "img-src 'self' data:;" in policy and "blob:" not in policy and "unsafe" not in policy
    page.wait_for_selector("#workbench[data-step]")
    asked: list[str] = []
    own_scripts = f"{site}/static/dist/chunks/"  # what makes the files is fetched when one is chosen
    page.on("request", lambda request: request.url.startswith(own_scripts) or asked.append(request.url))
    for file in ("step.svg", "step.png", "loom.svg", "loom.png"):
        take(page, file, tmp_path)
    assert not [url for url in asked if not url.startswith(("data:", "blob:"))]
    take(page, "run.html", tmp_path)
    external = [url for url in asked if not url.startswith(("data:", "blob:"))]
    assert sorted(external) == [f"{site}/static/dist/offline.stage.css", f"{site}/static/dist/offline.stage.en.js"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_sheet_shows_every_mark_in_every_state(page: Any, site: str, lang: str) -> None:
    page.goto(f"{site}/-/gallery?lang={lang}")
    page.locator("[data-specimen]").first.wait_for()
    drawn = page.locator("[data-specimen]").evaluate_all(
        "all => all.map(e => [e.dataset.specimen, e.querySelector('svg').getBoundingClientRect().width])"
    )
    names = {name for name, _ in drawn}
    assert len(names) == len(drawn) >= 40 and all(width > 60 for _, width in drawn)
    for name in (
        *("cell plain", "cell written", "cell silent", "cell heat"),
        *("handle leaf", "handle node", "handle view", "handle stride0", "handle overlap", "handle transposed"),
        *("handle unnamed", "counter shared", "counter bumped", "pin ok", "pin stale", "pin silent", "pin released"),
        *(
            "pin unknown",
            "block tensor",
            "node plain",
            "node running",
            "node failed",
            "node accumulate",
            "edge plain",
            "edge carrying",
        ),
        *("cut detach", "cut data", "cut no_grad", "cut inference", "cut item", "cut dtype", "cut numpy", "cut copy"),
    ):
        assert name in names
    assert not [text for text in page.locator("figcaption strong, h2").all_text_contents() if "sheet_" in text]
    pictures = page.locator("[data-picture] img").evaluate_all("all => all.map(e => e.complete && e.naturalWidth)")
    assert len(pictures) >= 8 and all(width > 300 for width in pictures)


CLIPPED = ROOT / "tests/examples/verdicts/clipped_too_late.py"


def test_the_page_that_the_command_writes_opens_with_the_finding_on_top(elsewhere: Any, tmp_path: Path) -> None:
    """`gradbox open --out page.html train.py`: no server, no network."""
    (tmp_path / "train.py").write_text(CLIPPED.read_text("utf-8"))
    done = run_in_folder([*gradbox_command(), "open", "--out", "page.html", "train.py"], tmp_path)
    assert done.returncode == 0, done.stderr
    elsewhere.goto((tmp_path / "page.html").as_uri())
    verdict = elsewhere.locator(".verdict-view")
    verdict.locator("text").first.wait_for()
    assert verdict.bounding_box()["y"] < 200, "it is the first thing in sight"
    said = re.sub(r"\s+", "", "".join(verdict.locator("text").all_text_contents()))
    assert "clip_grad_norm_" in said and "step()" in said
    verdict.get_by_role("button").click()
    verdict.wait_for(state="detached")
    card = elsewhere.locator(".finding.open .finding-sentence")
    card.wait_for()
    assert "after the step" in card.inner_text() or "clip" in card.inner_text()
