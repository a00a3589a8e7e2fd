"""Sharing as a visitor does it: links without a server, steps, frames in other pages, previews, and a path prefix."""

import contextlib
import http.server
import json
import threading
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sharing.test_saving import HOSTILE, fresh, leave_profile, others_profile, saved
from tests.support.kept_browser import new_context, new_page
from tests.support.page_driver import at_step, leave, paste, run, use
from tests.support.running_server import running_server
from tests.support.sampling import places, sampled
from tests.support.waiting import wait_until

PROGRAM = "import torch\nx = torch.tensor([3., 4.], requires_grad=True)\ny = x * x\ny.sum().backward()\n"
CHANCE = "import torch\nx = torch.randn(3)\n"


PREFIXES = ["", "/box"]


@pytest.fixture(scope="module", params=sampled(PREFIXES, places(1)))
def public(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that knows its own address, with a prefix and without. Without one all tests but one are
    `exhaustive`."""
    with running_server(tmp_path_factory.mktemp("share"), request.param) as address:
        yield address


@contextlib.contextmanager
def elsewhere(html: str) -> Iterator[str]:
    """Another site, of one page."""

    class Site(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://localhost:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def made(page: Any, site: str, program: str = PROGRAM, title: str = "Squares", description: str = "") -> str:
    """Save a program; its permalink without a step."""
    page.goto(f"{site}/")
    paste(page, program)
    run(page)
    return saved(page, title, description).split("#")[0].split("?")[0]


def posted(page: Any, site: str, **content: str) -> str:
    """The permalink of the same program, or of other content, saved without the page; for what begins where it is
    open."""
    response = page.request.post(f"{site}/api/scenarios", data=content or {"source": PROGRAM, "title": "Squares"})
    assert response.ok, response.text()
    address: str = response.json()["url"]
    return address


def clipboard(page: Any) -> str:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    use(page, "#copy").click()
    page.wait_for_selector("#copy[data-done]")
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


def test_a_permalink_has_its_step_selection_and_view(page: Any, public: str) -> None:
    address = made(page, public)
    assert address.startswith(f"{public}/s/")
    leave(page)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    at_step(page, 2)
    page.locator("#stage [data-node]").first.click(position={"x": 14, "y": 8})
    chosen = page.locator("#stage .origin").get_attribute("data-node")
    page.wait_for_function("() => location.hash.includes('at=')")
    link = clipboard(page)
    assert urllib.parse.unquote(link.split("#")[1]) == f"i=2&at=node:{chosen}"
    other = fresh(page, link)
    try:
        at_step(other, 2)
        assert other.locator("#stage .origin").get_attribute("data-node") == chosen
        other.keyboard.press("ArrowRight")
        at_step(other, 3)
        assert other.locator("#stage .origin").get_attribute("data-node") == chosen, "it stays selected"
        other.locator("#stage .origin").click(position={"x": 14, "y": 8})
        assert other.locator("#stage .origin").count() <= 1
        other.mouse.move(0, 0)
        assert other.locator("#stage .lit").count() == 0
        other.keyboard.press("l")
        other.wait_for_function("() => location.hash.includes('v=run') && !location.hash.includes('at=')")
        other.reload()
        other.wait_for_selector("#loom:not(.aside)")
    finally:
        leave_profile(other)


def test_a_saved_program_runs_with_its_saved_settings(page: Any, public: str) -> None:
    page.goto(f"{public}/")
    use(page, "#seed").fill("7")
    paste(page, CHANCE)
    trace = run(page)
    assert trace["runtime"]["seed"] == 7
    address = saved(page, "Chance").split("#")[0]
    other = fresh(page, address)
    try:
        assert other.locator("#seed").input_value() == "7"
        assert other.locator("#edited").is_hidden()
        again = run(other)
        assert again["runtime"]["seed"] == 7 and again["steps"] == trace["steps"]
        other.wait_for_function("() => location.hash.startsWith('#i=')")
        use(other, "#seed").fill("8")
        assert other.locator("#edited").is_visible()
        other.wait_for_function("() => location.hash.includes('seed=8')")
    finally:
        leave_profile(other)


def test_a_link_without_a_server_waits_for_run(page: Any, public: str, site: str) -> None:
    """Made at one instance, opened at another, which has not run it."""
    page.goto(f"{public}/")
    use(page, "#seed").fill("5")
    paste(page, f"{CHANCE}y = x[1:]\n# {public}\n")
    trace = run(page)
    leave(page)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    at_step(page, 1)
    page.wait_for_function("() => location.hash.includes('&i=1')")
    fragment = clipboard(page).split("#")[1]
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{site}/#{fragment}")
    page.locator("#waiting").wait_for()
    assert "y = x[1:]" in page.locator(".cm-content").inner_text()
    assert page.locator("#seed").input_value() == "5"
    assert page.locator("#stage").is_hidden() and page.locator("#timeline").is_hidden()
    assert not [url for url in asked if url.endswith(("/runs", "/api/runs"))], "nothing ran"
    page.locator("#waiting button").click()
    at_step(page, 1)
    assert page.locator("#waiting").is_hidden()
    shown = page.locator("#stage [data-cell='s1:0']").get_attribute("data-value")
    assert shown in str(trace["steps"][1])
    page.reload()
    at_step(page, 1)
    assert page.locator("#waiting").is_hidden(), "its result is there now"


def test_a_link_to_a_saved_program_with_another_seed_keeps_the_seed(page: Any, public: str) -> None:
    page.goto(f"{public}/")
    use(page, "#seed").fill("7")
    paste(page, CHANCE)
    run(page)
    saved(page, "Chance")
    use(page, "#seed").fill("8")
    trace = run(page)
    page.wait_for_function("() => location.hash.includes('seed=8')")
    other = fresh(page, clipboard(page))
    try:
        assert other.locator("#seed").input_value() == "8"
        shown = other.locator("[data-cell='s1:0']").get_attribute("data-value")
        assert f"{float(shown or 0):.4f}" in json.dumps(trace["steps"]) or str(shown) in json.dumps(trace["steps"])
        assert other.locator("#edited").is_hidden()
    finally:
        leave_profile(other)


def test_a_step_without_a_view_is_one_of_the_stage(page: Any, public: str) -> None:
    """Whatever the reader looked at last."""
    address = made(page, public)
    page.evaluate("localStorage.setItem('gradbox-view', 'loom')")
    for url in (address, address.replace("/s/", "/embed/")):
        page.goto(f"{url}#i=1")
        page.wait_for_selector("#stage:not(.aside) [data-handle]")
        page.evaluate("location.hash = '#i=2&v=run'")
        page.wait_for_selector("#loom:not(.aside) [data-step]")
        page.go_back()
        page.wait_for_selector("#stage:not(.aside) [data-handle]")


def test_a_frame_keeps_what_is_selected(page: Any, public: str) -> None:
    address = posted(page, public)
    page.goto(f"{address.replace('/s/', '/embed/')}#i=2&at=handle%3At1")
    page.wait_for_selector("#workbench[data-step='2']")
    assert page.locator("#stage .origin").get_attribute("data-handle") == "t1"
    assert page.locator("a[data-away]").get_attribute("href") == f"{address}#i=2&at=handle%3At1"
    page.keyboard.press("ArrowRight")
    assert page.locator("#stage .origin").get_attribute("data-handle") == "t1"
    page.locator("#stage .origin").click(position={"x": 14, "y": 8})
    assert page.locator("a[data-away]").get_attribute("href") == f"{address}#i=3"


def test_following_a_link_during_a_run_discards_that_run(page: Any, public: str) -> None:
    page.goto(f"{public}/")
    paste(page, "import torch\ny = torch.ones(3)\n")
    run(page)
    fragment = clipboard(page).split("#")[1]
    paste(page, "import time\nt = time.time()\nwhile time.time() < t + 2:\n    pass\n")
    page.wait_for_function("() => !location.hash.includes('&i=')")
    page.locator("#run-button").click()
    page.wait_for_selector("body.busy")
    page.evaluate(f"location.hash = {json.dumps(fragment)}")
    page.wait_for_function("() => document.querySelector('.cm-content').innerText.includes('torch.ones(3)')")
    page.wait_for_timeout(3000)  # the other program would have ended by now
    assert "torch.ones(3)" in page.locator(".cm-content").inner_text()
    assert page.locator("body.busy").count() == 0 and page.locator("#edited").is_hidden()


def test_the_way_back_leads_to_the_saved_program(page: Any, public: str) -> None:
    made(page, public)
    page.keyboard.press("Escape")
    page.wait_for_function("() => location.hash.startsWith('#i=')")
    page.goto(f"{public}/")
    paste(page, "import torch\nz = torch.ones(5)\n")
    run(page)
    fragment = clipboard(page).split("#")[1]
    page.go_back()
    page.wait_for_selector("#workbench[data-saved] #stage [data-handle]")
    page.evaluate(f"location.hash = {json.dumps(fragment)}")
    page.wait_for_function("() => document.querySelector('.cm-content').innerText.includes('z = torch')")
    page.wait_for_selector("#stage [data-handle]")
    page.go_back()
    page.wait_for_function("() => document.querySelector('.cm-content').innerText.includes('y = x * x')")
    assert page.locator("#edited").is_hidden()
    page.wait_for_function("() => location.hash.startsWith('#i=')")


def test_another_seed_in_the_address_is_another_run(page: Any, public: str) -> None:
    page.goto(f"{public}/")
    paste(page, CHANCE)
    run(page)
    page.wait_for_function("() => location.hash.startsWith('#p=')")
    page.evaluate("location.hash += '&seed=5'")
    page.wait_for_selector("#waiting:not([hidden])")
    assert page.locator("#seed").input_value() == "5"


def test_an_iteration_that_was_opened_is_in_the_link_and_in_what_is_saved(page: Any, public: str, site: str) -> None:
    page.goto(f"{public}/")
    paste(
        page,
        "import torch\nx = torch.zeros(2)\nfor i in range(500):\n    x = x + i\n    y = x * 2\nprint(x)\n"
        + f"# {public}\n",
    )
    gap = next(step for step in reversed(run(page)["steps"]) if "skipped" in step)
    page.locator("#slider").fill(str(gap["i"]))
    at_step(page, gap["i"])
    turn = int(page.locator("#unseen-at").input_value()) + 1
    page.locator("#unseen-at").fill(str(turn))
    page.locator("#unseen button").click()
    page.wait_for_function("() => location.hash.includes('focus=')")
    at = page.locator("#where").inner_text()
    assert f"[{turn}]" in at
    other = new_page(others_profile(page.context.browser))
    other.goto(page.url)
    other.wait_for_function("text => document.querySelector('#where').textContent === text", arg=at)
    other.goto(page.url.replace(public, site))
    other.locator("#waiting button").click()
    other.wait_for_function("text => document.querySelector('#where').textContent === text", arg=at)
    leave_profile(other)
    address = saved(page, "One turn of many")
    page.wait_for_function("() => /^#i=\\d+$/.test(location.hash)")
    assert page.locator("#where").inner_text() == at
    document = page.request.get(f"{address.split('?')[0]}.json").json()
    assert document["settings"]["focus"]["iteration"] == [turn]
    again = run(page)
    assert again["focus"]["iteration"] == [turn], "Run shows what was saved"


def test_a_link_is_bounded_when_it_is_inflated(page: Any, site: str) -> None:
    page.goto(site)
    bomb = page.evaluate(
        """async () => {
            const stream = new Blob(Array(64).fill("x".repeat(1 << 20))).stream().pipeThrough(new CompressionStream("deflate-raw"));
            const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
            return btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join("")).replaceAll("+", "-").replaceAll("/", "_");
        }"""  # noqa: E501
    )
    assert len(bomb) < 100_000
    other = page.context.new_page()
    other.goto(f"{site}/#p={bomb}")
    other.locator("#problem:not([hidden])").wait_for()
    assert "can't be read" in other.locator("#problem").inner_text()
    assert len(other.locator(".cm-content").inner_text()) < 10_000


def test_what_is_too_long_for_a_link_is_offered_to_be_saved(page: Any, public: str) -> None:
    page.goto(f"{public}/")
    lines = [
        f"x{k} = torch.tensor([{k * 7919 % 10007}., {k * 104729 % 100003}.])  # {hash(str(k))}" for k in range(300)
    ]
    paste(page, "import torch\n" + "\n".join(lines) + "\n")
    page.wait_for_function("() => location.hash.length > 8000")
    use(page, "#copy").click()
    page.locator("#problem button").wait_for()
    assert "too long for a link" in page.locator("#problem").inner_text()
    page.locator("#problem button").click()
    page.locator("#saving [name=title]").wait_for()


def test_a_button_reruns_a_saved_program(page: Any, public: str) -> None:
    made(page, public)
    assert "torch 2" in page.locator(".made").inner_text()
    page.locator("#rerun").click()
    page.wait_for_function("() => document.querySelector('#rerun-told').textContent.includes('the same with torch')")
    made(page, public, "import time\nimport torch\nx = torch.tensor(time.perf_counter())\n")
    page.locator("#rerun").click()
    page.wait_for_function(
        "() => document.querySelector('#rerun-told').textContent.includes('gives a different result each time')"
    )
    assert "from step 3 on" in page.locator("#rerun-told").inner_text()


@pytest.mark.parametrize("public", PREFIXES, indirect=True)
def test_a_frame_in_another_sites_page_shows_and_steps_and_runs_nothing(page: Any, public: str) -> None:
    address = posted(page, public)
    oembed = page.request.get(f"{public}/oembed", params={"url": f"{address}#i=1"}).json()
    asked: list[str] = []
    with elsewhere(f"<!doctype html><title>An article</title>{oembed['html']}") as article:
        page.on("request", lambda request: asked.append(f"{request.method} {request.url}"))
        page.goto(article)
        frame = page.frame_locator("iframe")
        frame.locator("#workbench[data-step='1']").wait_for()
        assert frame.locator("#stage [data-handle]").count() >= 1
        frame.locator("[data-go=next]").click()
        frame.locator("#workbench[data-step='2']").wait_for()
        link = frame.locator("a[data-away]")
        assert link.get_attribute("href") == f"{address}#i=2" and link.get_attribute("target") == "_blank"
        with page.context.expect_page() as opened:
            link.click()
        opened.value.wait_for_selector("#stage [data-handle]")
        assert run(opened.value)["steps"], "nothing of the frame's sandbox holds there"
        asked.clear()
        frame.locator("[data-view=run]").click()
        frame.locator("#loom:not(.aside) [data-step]").first.wait_for()
        assert frame.locator("#run-button, #save, .cm-content, form").count() == 0
        assert not [request for request in asked if not request.startswith("GET")]
        assert not [cookie for cookie in page.context.cookies(address) if cookie["name"] != "gradbox"]
        assert page.evaluate("document.documentElement.scrollTop") == 0


def test_offline_file_and_printed_page_show_title_and_address(page: Any, public: str, tmp_path: Path) -> None:
    address = made(page, public, title="Twice", description="Watch the second one.")
    head = "[...document.querySelectorAll('.print-head > *')].map(e => e.textContent)"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(head) == ["Twice", "Watch the second one.", address]
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(head) == []
    file = tmp_path / "run.html"
    file.write_text(page.request.get(f"{address}.html").text())
    page.goto(file.as_uri())
    assert page.locator("#title").inner_text() == "Twice"
    assert page.locator("#about").inner_text().split() == ["Watch", "the", "second", "one.", address]
    assert page.locator("#about a").get_attribute("href") == address


def test_the_menu_gives_what_another_page_needs(page: Any, public: str) -> None:
    page.goto(f"{public}/")
    page.wait_for_selector("#stage [data-handle]")
    assert page.locator("[data-share]").count() == 0, "nothing is saved yet"
    address = made(page, public, title='A "title" & <more>')
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    leave(page)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    at_step(page, 1)
    copied = []
    for what in ("frame", "picture"):
        use(page, "#takeaway").click()
        page.locator(f"[data-share={what}]").click()
        page.wait_for_function("() => document.querySelector('#where').textContent.endsWith('Copied')")
        copied.append(page.evaluate("navigator.clipboard.readText()"))
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
    paste(page, "x = 1\n")
    leave(page)
    use(page, "#takeaway").click()
    assert page.locator("[data-share=frame]").is_disabled(), "that is not what was saved"
    assert copied[1] == f"{address}.svg?step=1" and page.request.get(copied[1]).ok
    with elsewhere(f"<!doctype html>{copied[0]}") as article:
        page.goto(article)
        assert page.locator("iframe").get_attribute("title") == 'A "title" & <more>'
        assert page.locator("iframe").bounding_box()["width"] <= 700, "it fits an article's column"
        page.frame_locator("iframe").locator("#workbench[data-step='1']").wait_for()


SANDBOXES = ["allow-scripts", "allow-scripts allow-popups", "allow-scripts allow-same-origin"]


@pytest.mark.parametrize("sandbox", sampled(SANDBOXES, places(0)))
def test_a_frame_works_in_whatever_sandbox_lets_it_run(page: Any, public: str, sandbox: str) -> None:
    address = posted(page, public).replace("/s/", "/embed/")
    with elsewhere(
        f"<!doctype html><iframe src='{address}#i=1' width=700 height=500 sandbox='{sandbox}'></iframe>"
    ) as at:
        page.goto(at)
        frame = page.frame_locator("iframe")
        frame.locator("#workbench[data-step='1']").wait_for()
        assert frame.locator("body").evaluate("body => getComputedStyle(body).marginTop") == "0px"
        frame.locator("[data-go=next]").click()
        frame.locator("#workbench[data-step='2']").wait_for()
        frame.locator("#theme").click()
        frame.locator("[data-view=run]").click()
        frame.locator("#loom:not(.aside) [data-step]").first.wait_for()


def test_a_frame_of_a_program_that_was_not_run_says_why(page: Any, public: str) -> None:
    response = page.request.post(f"{public}/api/scenarios", data={"source": "x = 1\nimport subprocess\n"})
    page.goto(response.json()["url"].replace("/s/", "/embed/"))
    page.locator("#sentences li").nth(1).wait_for()
    assert "'subprocess'" in page.locator("#sentences").inner_text()
    assert page.locator("#listing .raised").inner_text() == "import subprocess"
    assert page.locator("#where").inner_text() == "No steps were recorded."


def test_long_words_stay_in_the_page(page: Any, public: str) -> None:
    response = page.request.post(
        f"{public}/api/scenarios",
        data={"source": "x = 41\n", "title": "W" * 200, "description": "d" * 2000, "note": "n" * 2000},
    )
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(response.json()["url"])
    page.wait_for_selector("#workbench[data-steps]")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    inside = "(query) => { const e = document.querySelector(query); return e.scrollWidth <= e.clientWidth; }"
    assert page.evaluate(inside, ".titled h2") and page.evaluate(inside, ".question")


def test_the_page_itself_lets_nobody_frame_it(page: Any, public: str) -> None:
    address = posted(page, public)
    with elsewhere(f"<!doctype html><iframe src='{address}'></iframe>") as article:
        other = new_context(page.context.browser).new_page()  # its console tells of it
        other.goto(article)
        other.wait_for_timeout(500)  # nothing comes that could be awaited
        assert other.frame_locator("iframe").locator("#workbench").count() == 0
        other.context.close()


def test_link_previews_may_be_shown_by_other_sites(page: Any, public: str) -> None:
    address = made(page, public)
    graph = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('meta[property]')].map(m => [m.getAttribute('property'), "
        "m.content]))"
    )
    assert graph["og:url"] == address and graph["og:title"] == "Squares"
    images = [graph["og:image"], f"{address}.svg?step=1", f"{address}.png?step=1"]
    with elsewhere("<!doctype html>" + "".join(f"<img src='{image}'>" for image in images)) as article:
        page.goto(article)
        page.wait_for_function("() => [...document.images].every((image) => image.complete)")
        sizes = page.evaluate("[...document.images].map((image) => [image.naturalWidth, image.naturalHeight])")
    assert sizes[0] == [1200, 630] and sizes[1][0] > 300 and sizes[2] == [2 * side for side in sizes[1]]


def test_hostile_texts_run_nowhere(page: Any, public: str) -> None:
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    address = made(page, public, f"import torch\nx = torch.ones(2)\ns = '''{HOSTILE}'''\nprint(s)\n", HOSTILE, HOSTILE)
    for url in (address, f"{address}.svg", f"{address}.svg?step=2", address.replace("/s/", "/embed/")):
        page.goto(url)
        page.wait_for_load_state()
        page.wait_for_timeout(300)  # nothing comes that could be awaited
        assert page.evaluate("document.querySelectorAll('img').length") == 0, url
    oembed = page.request.get(f"{public}/oembed", params={"url": address}).json()
    with elsewhere(f"<!doctype html>{oembed['html']}") as article:
        page.goto(article)
        page.frame_locator("iframe").locator("#workbench[data-step]").wait_for()
        assert page.frame_locator("iframe").locator("#title").inner_text() == HOSTILE
    assert not dialogs


def test_under_a_prefix_everything_is_found(page: Any, public: str) -> None:
    lost: list[str] = []
    page.on("response", lambda answer: lost.append(answer.url) if answer.status >= 400 else None)
    page.goto(f"{public}/")
    page.wait_for_selector("#stage [data-handle]")
    use(page, "a[data-page=gallery]").click()
    page.wait_for_url(f"{public}/gallery")
    page.locator(".gallery li a").nth(2).click()
    page.wait_for_selector("#stage [data-handle]")
    paste(page, "import time\nimport torch\nx = torch.ones(2)\nt = time.time()\nwhile time.time() < t + 1:\n    pass\n")
    run(page)
    use(page, "a[lang=zh]").click()
    page.wait_for_selector("html[lang=zh]")
    assert page.url.startswith(f"{public}/") and not lost


def test_other_sites_learn_what_was_found_where_a_program_has_no_words_of_its_own(page: Any, public: str) -> None:
    found = "Line 4 overwrote numbers that backward still needs: exp had saved y."
    source = "import torch\nx = torch.ones(2, requires_grad=True)\ny = x.exp()\ny.add_(1)\ny.sum().backward()\n"
    address = posted(page, public, source=source)
    wait_until(lambda: page.request.get(f"{public}/oembed", params={"url": address}).json()["title"] == found)
    html = page.request.get(address).text()
    assert f'<meta property="og:description" content="{found}">' in html
    assert f'<meta property="og:title" content="{found}">' in html
    hidden = page.request.get(f"{address}?predict=1").text()
    assert found not in hidden, "it tells what is to be predicted"
    named = posted(page, public, source=f"{source}# named\n", title="Mine", description="In my words.")
    assert page.request.get(f"{public}/oembed", params={"url": named}).json()["title"] == "Mine"
    assert '<meta property="og:description" content="In my words.">' in page.request.get(named).text()
    calm = posted(page, public, source="import torch\na = torch.ones(2)\n")
    assert page.request.get(f"{public}/oembed", params={"url": calm}).json()["title"] == "Gradbox"
