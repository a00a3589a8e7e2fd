"""What a program reads: lines typed before the run, in the page, through the interface and on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gradbox.wire.api import MAX_INPUT, RunRequest
from server.app import create_app
from server.settings import Settings
from server.wire.saved_programs import Content
from tests.forks.forked_server import run_command
from tests.sharing.test_saving import fresh, leave_profile, saved
from tests.support.page_driver import leave, paste, run
from tests.support.tracing import printed, trace
from tests.support.waiting import PATIENT

PROGRAM = "import torch\nn = int(input('How many? '))\nx = torch.arange(float(n))\nprint(x.sum())\n"


def test_each_call_reads_a_line_and_prints_its_prompt() -> None:
    source = "n = int(input('How many? '))\nname = input()\nprint(n * 2, repr(name))\n"
    recorded = trace(source, input="3\n名字 \n")
    assert printed(recorded) == "How many? 6 '名字 '\n"
    assert recorded["runtime"]["input"] == "3\n名字 \n"


def test_the_stream_is_read_as_a_file_in_its_place_is() -> None:
    source = (
        "import sys\nfirst = sys.stdin.readline()\nfor line in sys.stdin:\n    print(line.rstrip(), end=';')\n"
        "print(first == 'a\\n', sys.stdin.read() == '', sys.stdin.name, sys.stdin.isatty(), sys.stdin.buffer.read())\n"
    )
    assert printed(trace(source, input="a\nb\nc")) == "b;c;True True <stdin> False b''\n"


def test_a_program_that_lacks_input_offers_to_add_it() -> None:
    recorded = trace(PROGRAM)
    error = recorded["outcome"]["error"]
    assert (error["type"], error["message"], error["line"]) == ("EOFError", "EOF when reading a line", 2)
    assert printed(recorded) == "How many? "
    assert [repair["key"] for repair in error["repairs"]] == ["type_input", "input"]
    assert error["repairs"][0].get("edits", []) == []
    assert "input" not in recorded["runtime"]


def test_an_eoferror_of_the_program_itself_offers_no_input() -> None:
    assert "repairs" not in trace("raise EOFError('nothing')\n")["outcome"]["error"]


def test_input_is_bounded() -> None:
    assert RunRequest(source="x", input="a" * MAX_INPUT).input
    for model, fields in (
        (RunRequest, {"input": "a" * (MAX_INPUT + 1)}),
        (Content, {"settings": {"input": "a" * (MAX_INPUT + 1)}}),
    ):
        with pytest.raises(ValueError, match="at most 10000"):
            model.model_validate({"source": "x", **fields})


def test_the_command_line_reads_a_file_or_the_standard_input(tmp_path: Path) -> None:
    program, lines = tmp_path / "a.py", tmp_path / "lines.txt"
    program.write_text(PROGRAM)
    lines.write_text("4\n")
    for words, text in (((str(lines),), None), (("-",), "4\n")):
        done = run_command("trace", "--input", *words, str(program), text=text)
        assert printed(json.loads(done.stdout)) == "How many? tensor(6.)\n"
    missing = run_command("trace", "--input", str(tmp_path / "none"), str(program))
    assert missing.returncode == 2 and "No such file" in missing.stderr
    lines.write_text("x" * (MAX_INPUT + 1))
    assert "10000 are allowed" in run_command("explain", "--input", str(lines), str(program)).stderr


def test_the_interface_saves_and_returns_the_input(tmp_path: Path) -> None:
    with TestClient(
        create_app(Settings({}, data=str(tmp_path), **PATIENT)), base_url="http://127.0.0.1:8000"
    ) as client:
        for lines, total in (("3\n", "3."), ("4\n", "6.")):
            ran = client.post("/api/runs", json={"source": PROGRAM, "input": lines}).json()
            assert printed(ran) == f"How many? tensor({total})\n"
        kept = client.post("/api/scenarios", json={"source": PROGRAM, "settings": {"input": "3\n"}}).json()
        assert kept["settings"]["input"] == "3\n"
        assert client.get(f"/s/{kept['id']}.trace.json").json()["runtime"]["input"] == "3\n"
        assert "# input:\n# 3\n" in client.get(f"/s/{kept['id']}.py").text
        without = client.post("/api/scenarios", json={"source": PROGRAM}).json()
        assert without["id"] != kept["id"] and without["settings"]["input"] == ""
        assert client.post(f"/api/scenarios/{kept['id']}/rerun", json={}).json()["changed"] is False


def shown_print(page: Any) -> str:
    text: str = page.locator("#printed").inner_text()
    return text


@pytest.mark.browser
def test_the_input_field_appears_once_a_program_reads_input(page: Any, site: str) -> None:
    page.goto(site)
    page.wait_for_selector("#stage [data-cell]")
    assert not page.locator("#input").is_visible()
    paste(page, PROGRAM)
    assert page.locator("#input").is_visible()
    run(page)
    leave(page)
    page.get_by_role("button", name="Type the input").click()
    assert page.evaluate("document.activeElement.id") == "input"
    page.keyboard.type("3")
    assert page.locator("#edited").is_visible()
    ran = run(page)
    assert ran["runtime"]["input"] == "3" and ran["outcome"]["status"] == "finished"
    assert "tensor(3.)" in shown_print(page) and not page.locator("#edited").is_visible()
    page.wait_for_function("() => location.hash.includes('input=3') && location.hash.includes('i=3')")
    linked = fresh(page, page.url)
    assert linked.locator("#input").input_value() == "3"
    leave_profile(linked)
    address = saved(page, "Reads a number")
    assert page.locator("#input").input_value() == "3" and "input=" not in address
    page.goto(address.replace("/s/", "/embed/").split("?")[0])
    page.wait_for_selector("#stage [data-cell]")
    assert page.locator("#input-text").inner_text() == "3"


@pytest.mark.browser
def test_a_program_that_reads_nothing_is_shown_without_it(page: Any, site: str) -> None:
    page.goto(f"{site}/?lang=zh")
    page.wait_for_selector("#stage [data-cell]")
    paste(page, "import torch\ninput = torch.ones(2)\nprint(input.sum())\n")
    assert not page.locator("#input-box").is_visible()
    paste(page, "n = input()\n")
    assert page.locator("#input-box span").inner_text() == "输入"
