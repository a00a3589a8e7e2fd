"""The offline file of a run carries what its trace needs, and no more: what is said of it was worked out before."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from server.templating import render_partial
from tests.recordings.store import kept_trace
from tests.sharing.test_list_exports import PROGRAMS, WRONG, _renderer_before_the_browser, made
from tests.sharing.test_takeaway import elsewhere
from tests.support.explaining import findings_of_traces

__all__ = ["_renderer_before_the_browser", "elsewhere"]

MAX_BYTES_BESIDE_TRACE = 700_000


def file_of(name: str, language: str = "en") -> str:
    return made(name, "file", language=language, body=render_partial("partials/_offline.html", language)).decode()


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="first">(.*?)</script>', page, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_file_is_small_beside_its_trace(name: str, language: str) -> None:
    page = file_of(name, language)
    data = data_of(page)
    trace = json.dumps(data.pop("trace"), ensure_ascii=False, separators=(",", ":"))
    rest = len(page.encode()) - len(re.sub("[<>&\u2028\u2029]", "\\\\u0000", trace).encode())
    assert rest <= MAX_BYTES_BESIDE_TRACE
    assert data["answers"]["picture"] == ("stage" if name == "small" else "list")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_file_holds_what_was_found_in_its_run(name: str) -> None:
    answers = data_of(file_of(name))["answers"]
    found = findings_of_traces([kept_trace(PROGRAMS[name])])[0]
    assert [finding["kind"] for finding in answers["findings"]] == [finding["kind"] for finding in found]
    assert len(answers["texts"]) == len(found)
    assert (answers["lookedFor"] is None) == any(finding["severity"] != "note" for finding in found)
    assert "".join(part["text"] for line in answers["painted"] for part in line) == PROGRAMS[name].replace("\n", "")


@pytest.mark.browser
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_file_opens_as_its_page_with_what_was_found(name: str, elsewhere: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    path.write_text(file_of(name), "utf-8")
    elsewhere.goto(path.as_uri())
    elsewhere.wait_for_selector("#workbench[data-steps]")
    if name in WRONG:
        elsewhere.locator(".verdict-view .net-way").wait_for()
        elsewhere.locator(".verdict-view button").click()
        elsewhere.locator("#net .net-way").wait_for()
        assert elsewhere.locator("#findings .finding.open").count() == 1
        return
    elsewhere.wait_for_selector("#findings .looked-for, #findings .finding")
    shown = elsewhere.evaluate("() => ({...document.querySelector('#workbench').dataset})")
    expected = {"block": ("step", "net"), "training": ("run", "net"), "small": ("step", "stage")}[name]
    assert (shown["shownView"], shown["shownPicture"]) == expected
    if name == "small":
        elsewhere.locator("#stage .tag", has_text="a").first.click()
        elsewhere.locator("button.ask:not([hidden])").click()
        assert "a.grad" in elsewhere.locator("#answer h3").text_content()
