"""A reader's own file, dropped on the page or chosen: a program comes into the editor, a trace is drawn and sent
nowhere."""

import json
from typing import Any

from tests.support.page_driver import at_step, page_trace

DROP = """([name, text, selector]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name));
    const event = (kind) => new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true});
    const target = document.querySelector(selector);
    target.dispatchEvent(event("dragover"));
    target.dispatchEvent(event("drop"));
}"""


def drop(page: Any, name: str, text: str, selector: str) -> None:
    page.evaluate(DROP, [name, text, selector])


def test_a_dropped_program_comes_into_the_editor_and_a_trace_is_drawn_without_the_server(page: Any, site: str) -> None:
    page.goto(f"{site}/?lang=en")
    page.wait_for_selector("#workbench[data-step]")
    trace = page_trace(page)
    drop(page, "own.py", "import torch\r\nown = 7\r\n", ".cm-content")
    page.wait_for_function("() => document.querySelector('.cm-content').innerText.includes('own = 7')")
    assert "clone" not in page.locator(".cm-content").inner_text(), "the file takes the place of the program"
    drop(page, "package.json", '{"name": "x"}', "#stage")
    page.get_by_role("alert").get_by_text("package.json was not opened: it is JSON, but not a trace.").wait_for()

    trace["program"]["source"] = "secret = 'not for the server'\n" + trace["program"]["source"]
    count = trace["program"]["source"].count("\n")
    trace["program"]["files"] = [
        {"name": "mine.py", "first_line": 1, "last_line": 1},
        {"name": "also.py", "first_line": 2, "last_line": count},
    ]
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.post_data) if request.post_data else None)
    drop(page, "run.json", json.dumps(trace), ".cm-content")
    page.wait_for_url("**/open?lang=en*")
    page.wait_for_selector("#workbench[data-step]")
    assert page.locator("#listing .file-name").all_inner_texts() == ["mine.py", "also.py"]
    page.keyboard.press("End")
    at_step(page, len(trace["steps"]) - 1)
    assert not [body for body in sent if "not for the server" in body]

    page.reload()
    page.locator("#choose").wait_for()
    assert page.locator("#workbench").is_hidden(), "what was handed over is kept no longer"
    with page.expect_file_chooser() as chooser:
        page.locator("#choose").focus()
        page.keyboard.press("Enter")
    two = "".join(json.dumps(trace) + "\n" for _ in range(2))
    chooser.value.set_files({"name": "two.json", "mimeType": "application/json", "buffer": two.encode()})
    page.wait_for_selector("#which")
    page.wait_for_selector("#workbench[data-step]")
    assert page.locator("#which option").all_inner_texts() == ["1", "2"]
