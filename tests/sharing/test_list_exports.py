"""What leaves the page of a program that is drawn as a list shows that list: files, cards, films and stills."""

import gzip
import json
import re
import struct
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gradbox.pictures.renderer_process import render
from gradbox.wire.processes import DrawRequest
from tests.findings.test_verdicts import FONTS, SVG, TEXT_FAULTS, _renderer_before_the_browser, renderer, squeezed
from tests.recordings.store import kept_trace
from tests.sharing.test_takeaway import elsewhere, take
from tests.support.page_driver import use
from tests.support.tracing import ROOT
from tests.support.waiting import PATIENCE
from tests.views.test_one_picture import SMALL, TRAINING, open_page

__all__ = ["_renderer_before_the_browser", "elsewhere"]

RNN = """\
import torch
from torch import nn
torch.manual_seed(1)
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix, self.out = nn.Linear(5, 3), nn.Linear(3, 1)
        self.state = torch.zeros(1, 3)
    def forward(self, x):
        self.state = torch.tanh(self.mix(torch.cat([x, self.state], dim=1)))
        return self.out(self.state)
reader = Reader()
opt = torch.optim.SGD(reader.parameters(), lr=0.1)
for turn in range(3):
    loss = reader(torch.randn(1, 2)).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
CUT = """\
import torch
from torch import nn
class Halves(nn.Module):
    def __init__(self):
        super().__init__()
        self.below, self.middle, self.above = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)
    def forward(self, x):
        hidden = torch.relu(self.below(x)).detach()
        return self.above(torch.relu(self.middle(hidden)))
halves = Halves()
opt = torch.optim.SGD(halves.parameters(), lr=0.1)
for turn in range(3):
    loss = halves(torch.ones(2, 4)).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
PROGRAMS = {
    "block": (ROOT / "benchmarks/nets/transformer_block.py").read_text("utf-8"),
    "training": TRAINING,
    "rnn": RNN,
    "cut": CUT,
    "small": SMALL,
}
WRONG = {"rnn", "cut"}
"""In which something is found: its ends are open, and the headline says it."""
SHOWN = """() => ({
  names: [...document.querySelectorAll('.net-body .net-name')].map((text) => text.firstChild.data),
  open: [...document.querySelectorAll('[aria-selected=true] > .net-name')].map((text) => text.firstChild.data),
  tags: [...document.querySelectorAll('.net-body .net-tag text')].map((text) => text.firstChild.data),
  ends: document.querySelectorAll('.net-body .net-end').length,
})"""
"""What a list says, on the page or in a file."""
SIZE = "() => (({ width, height }) => ({ width, height }))(document.querySelector('svg').getBoundingClientRect())"


@cache
def made(name: str, kind: str, **fields: Any) -> bytes:
    draw = DrawRequest.model_validate({"kind": kind, **fields})
    trace = gzip.compress(json.dumps(kept_trace(PROGRAMS[name])).encode())
    reply, body = render(renderer(), draw.model_copy(update={"seconds": PATIENCE}), trace, FONTS)
    assert reply.failed is None, reply.failed
    return body


def frames(name: str) -> list[ET.Element]:
    film = ET.fromstring(made(name, "film"))
    return [group for group in film.iter(f"{SVG}g") if "film-frame" in group.get("class", "")]


def with_class(element: ET.Element, name: str) -> list[ET.Element]:
    return [mark for mark in element.iter() if name in mark.get("class", "").split()]


def texts(element: ET.Element) -> list[str]:
    return ["".join(text.itertext()) for text in element.iter(f"{SVG}text")]


@pytest.mark.browser
@pytest.mark.parametrize("name", ["block", "training", "rnn", "cut"])
def test_a_file_says_what_the_list_on_the_page_says(
    name: str, page: Any, elsewhere: Any, site: str, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 1600, "height": 1000})
    open_page(page, site, PROGRAMS[name])
    page.wait_for_selector("#findings:not([hidden])")
    if name == "training":
        page.wait_for_selector(".net.whole .net-row")
    else:
        page.wait_for_selector("#net [aria-selected=true] .net-tag")
    shown = page.evaluate(SHOWN)
    file = take(page, "loom.svg" if name == "training" else "step.svg", tmp_path)
    elsewhere.set_content(re.sub(r"^<[?]xml[^>]*>", "", file.read_text("utf-8")))
    drawn = elsewhere.evaluate(SHOWN)
    assert drawn["open"] == shown["open"]
    assert drawn["ends"] == shown["ends"] == (2 if name in WRONG else 0)
    if name == "training":
        modules = [[name for name in read["names"] if name not in ("weight", "bias")] for read in (drawn, shown)]
        assert modules[0] == modules[1] and len(modules[0]) >= 10
        assert "3 rounds" in page.locator("#sentences li").first.text_content()
    else:
        assert len(shown["open"]) == (2 if name in WRONG else 1)
        fewer, more = sorted([set(drawn["tags"]), set(shown["tags"])], key=len)
        assert fewer and fewer <= more
    said = squeezed(page.locator("#sentences li").first.text_content())
    assert len(said) > 20 and said[:60] in squeezed(elsewhere.locator("svg").first.text_content())
    if name == "block":
        use(page, "#views [data-view=run]").click()
        page.wait_for_selector(".net.whole .net-row")
        assert page.evaluate(SHOWN)["names"] != shown["names"]


@pytest.mark.parametrize("step", [None, 40])
def test_a_step_has_its_open_row_in_a_file_and_in_a_card(step: int | None) -> None:
    for kind in ("stage", "card", "still"):
        root = ET.fromstring(made("block", kind, step=step))
        opened = [row for row in with_class(root, "net-row") if row.get("aria-selected") == "true"]
        assert len(opened) == 1, kind
        assert with_class(opened[0], "net-tag"), kind
        assert not with_class(root, "memory-pane")


def test_both_ends_of_an_error_are_open_in_all_that_shows_it() -> None:
    error = kept_trace(RNN)["outcome"]["error"]
    assert error["type"] == "RuntimeError"
    last = frames("rnn")[-1]
    for root in (ET.fromstring(made("rnn", "stage")), ET.fromstring(made("rnn", "card")), last):
        assert len(with_class(root, "net-way")) == 1
        assert len({end.findtext(f"{SVG}title") for end in with_class(root, "net-end")}) == 2
        told = " ".join(texts(root))
        assert "loss.backward()" in told and "self.state" in told


def test_a_training_leaves_as_its_whole_run() -> None:
    for root in (
        *(ET.fromstring(made("training", kind)) for kind in ("stage", "loom", "card")),
        frames("training")[-1],
    ):
        rows = with_class(root, "whole-row")
        assert len(rows) >= 5
        assert any("3 rounds" in text for text in texts(root))
    assert with_class(ET.fromstring(made("training", "still")), "whole-row")


def test_the_list_moves_through_a_film() -> None:
    opened = []
    for number, frame in enumerate(frames("block")):
        rows = [row for row in with_class(frame, "net-row") if row.get("aria-selected") == "true"]
        assert len(rows) == (number > 0), "the first frame is of the construction, where no row has run"
        opened += [texts(row)[0] for row in rows]
    assert len(opened) >= 6
    assert len(set(opened)) >= 5


def test_a_small_program_leaves_as_its_stage() -> None:
    for kind in ("stage", "card", "still"):
        root = ET.fromstring(made("small", kind))
        assert with_class(root, "memory-pane"), kind
        assert not with_class(root, "net-row")
    assert all(with_class(frame, "memory-pane") for frame in frames("small"))


def test_a_card_keeps_its_size() -> None:
    for name in PROGRAMS:
        assert struct.unpack(">II", made(name, "card", png=True)[16:24]) == (1200, 630)


def frame_alone(name: str, k: int) -> bytes:
    """A film with one of its frames."""
    film = ET.fromstring(made(name, "film"))
    groups = [group for group in film if "film-frame" in group.get("class", "")]
    for group in groups[:k] + groups[k + 1 :]:
        film.remove(group)
    text: bytes = ET.tostring(film)
    return re.sub(rb"\bns0:|:ns0", b"", text)


@pytest.mark.browser
@pytest.mark.parametrize("name", ["block", "training", "rnn"])
def test_no_text_of_a_list_lies_on_another_or_leaves_its_picture(name: str, chromium: Any) -> None:
    page = chromium.new_page(viewport={"width": 1200, "height": 1400})
    pictures = [made(name, kind, step=step) for kind in ("stage", "card") for step in (None, 30)]
    pictures += [frame_alone(name, k) for k in range(len(frames(name)))]
    faults = {}
    for k, svg in enumerate(pictures):
        page.set_content(f"<style>body {{ margin: 0 }}</style>{re.sub(r'^<[?]xml[^>]*>', '', svg.decode())}")
        size = page.evaluate(SIZE)
        if k >= 4:  # the styles of a film hide all its frames but the one that is on
            page.add_style_tag(content=".film-frame { visibility: visible !important; animation: none !important }")
        found = page.evaluate(TEXT_FAULTS, size)
        if found:
            faults[k] = found
    page.close()
    assert not faults
