"""What is shared of a run carries its finding: card, film, Markdown, offline page and frame name cause and effect, and
no text leaves its picture or lies on another."""

import gzip
import importlib.util
import io
import json
import random
import re
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from py_mini_racer import MiniRacer

from gradbox.pictures import film_file
from gradbox.pictures.film_file import MAX_FILM_BYTES, FilmFrame, encode_film
from gradbox.pictures.renderer_process import FontFamilies, render
from gradbox.wire.processes import DrawRequest, MovingFormat
from server.templating import render_partial
from tests.recordings.store import kept_trace
from tests.support.explaining import findings_of_traces
from tests.support.sampling import in_turn
from tests.support.tracing import ROOT
from tests.support.waiting import PATIENCE

SVG = "{http://www.w3.org/2000/svg}"
PROGRAMS = {path.stem: path.read_text("utf-8") for path in sorted((ROOT / "tests/examples/verdicts").glob("*.py"))}
DIST = ROOT / "static/dist"
FONTS = FontFamilies("DejaVu Sans", "DejaVu Sans Mono")


ODD = {"long_statements", "中文程序"}
"""Programs whose texts are of another kind than those of all others."""


def in_parts(**variants: int) -> list[Any]:
    """Each variant with the programs of the sample, one of so many and the odd ones, and with all others."""
    parts: list[Any] = []
    for variant, count in variants.items():
        sample = {*[*PROGRAMS][::count], *ODD}
        rest = pytest.param(variant, PROGRAMS.keys() - sample, id=f"{variant}, others", marks=pytest.mark.exhaustive)
        parts += [pytest.param(variant, sample, id=variant), rest]
    return parts


TEXT_FAULTS = """(size) => {
  const texts = [...document.querySelectorAll("svg text")].filter((text) => text.textContent.trim());
  const boxes = texts.map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }));
  if (boxes.length < 5) return ["there is hardly any text"];
  const faults = boxes.filter(({ box }) => box.left < 0 || box.top < 0 || box.right > size.width + 0.5
    || box.bottom > size.height + 0.5).map(({ text }) => `outside: ${text}`);
  for (const [k, a] of boxes.entries())
    for (const b of boxes.slice(k + 1)) {
      const w = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
      const h = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
      if (w > 2 && h > 5) faults.push(`on each other: ${a.text} | ${b.text}`);
    }
  return faults;
}"""
"""Texts outside of the picture, or on another; the leading of two lines of one text is less than the height of its
box."""


@cache
def renderer() -> MiniRacer:
    v8 = MiniRacer()
    v8.eval((DIST / "exports.js").read_text("utf-8"))
    return v8


@pytest.fixture(scope="session", autouse=True)
def _renderer_before_the_browser() -> None:
    """Made while the browser's loop runs, it would answer nobody who waits without one."""
    renderer()


@cache
def traced(name: str) -> dict[str, Any]:
    return kept_trace(PROGRAMS[name])


@cache
def packed(name: str) -> bytes:
    return gzip.compress(json.dumps(traced(name)).encode())


@cache
def findings(name: str) -> list[dict[str, Any]]:
    return findings_of_traces([traced(name)])[0]


@cache
def made(name: str, kind: str, language: str = "en", **fields: Any) -> bytes:
    """What the renderer makes of a program's trace."""
    draw = DrawRequest.model_validate({"kind": kind, "language": language, **fields})
    reply, body = render(renderer(), draw.model_copy(update={"seconds": PATIENCE}), packed(name), FONTS)
    assert reply.failed is None, reply.failed
    return body


def squeezed(text: str) -> str:
    """Without blanks, which a picture's lines lose where they break."""
    return re.sub(r"\s+", "", text)


def texts_of(svg: bytes) -> str:
    return squeezed("".join("".join(text.itertext()) for text in ET.fromstring(svg).iter(f"{SVG}text")))


@cache
def lines_told(name: str) -> list[str]:
    """The statements of the cause and of the line where the program stopped, if it did, as a picture begins them."""
    found = findings(name)[0]
    error = traced(name)["outcome"].get("error") or {}
    source = PROGRAMS[name].split("\n")
    numbers = {found["line"], *([error["line"]] if found["explains_error"] and error.get("line") else [])}
    return [squeezed(source[number - 1])[:24] for number in sorted(numbers)]


def test_the_tried_programs_cover_many_kinds_of_findings() -> None:
    kinds = {findings(name)[0]["kind"] for name in PROGRAMS}
    assert len(kinds) >= 28
    of_training = {
        kind
        for room in ("training", "modules")
        for path in (ROOT / "static/js/findings" / room).glob("*.ts")
        for kind in re.findall(r'kind: "(\w+)"', path.read_text("utf-8"))
    }
    assert len(kinds & of_training) >= 8


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_card_names_cause_and_effect_and_shows_rows(name: str) -> None:
    shown = texts_of(made(name, "card"))
    for line in lines_told(name):
        assert line in shown
    marks = {mark.get("class", "") for mark in ET.fromstring(made(name, "card")).iter()}
    assert marks & {"verdict-value", "verdict-none", "verdict-range"} or any("net-now end" in mark for mark in marks)
    assert "verdict-ground cause" in marks or "verdict-ground effect" in marks


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_film_goes_through_the_cause_and_ends_with_the_finding(name: str) -> None:
    film = made(name, "film")
    assert len(film) <= MAX_FILM_BYTES
    root = ET.fromstring(film)
    frames = [group for group in root.iter(f"{SVG}g") if "film-frame" in group.get("class", "")]
    assert 3 <= len(frames) <= 10
    assert "film-last" in frames[-1].get("class", "")
    end = texts_of(ET.tostring(frames[-1]))
    for line in lines_told(name):
        assert line in end
    assert any("verdict-ground effect" in mark.get("class", "") for frame in frames for mark in frame.iter())
    assert b"prefers-reduced-motion" in film


@pytest.mark.parametrize(("name", "language"), in_turn(PROGRAMS, ["en", "zh"], 3))
def test_the_markdown_has_both_lines_and_the_link(name: str, language: str) -> None:
    text = made(name, "markdown", language, address="https://gradbox.example/s/2222222222").decode()
    for line in lines_told(name):
        assert line in squeezed(text)
    assert "(https://gradbox.example/s/2222222222.card.png)" in text
    assert "(https://gradbox.example/s/2222222222)" in text


@pytest.mark.browser
@pytest.mark.parametrize(("language", "names"), in_parts(en=2, zh=5))
def test_no_text_of_a_card_or_of_a_films_end_is_clipped_or_covered(
    chromium: Any, language: str, names: set[str]
) -> None:
    page = chromium.new_page(viewport={"width": 1200, "height": 630})
    faults = {}
    for name in sorted(names):
        end = ET.fromstring(made(name, "film", language))
        for group in [group for group in end if "film-frame" in group.get("class", "")][:-1]:
            end.remove(group)
        pictures = {"card": (made(name, "card", language), 1200, 630), "film": (ET.tostring(end), 800, 450)}
        for kind, (svg, width, height) in pictures.items():
            markup = re.sub(r"^<\?xml[^>]*>|\bns0:|:ns0", "", svg.decode())
            page.set_content(f"<style>body {{ margin: 0 }}</style>{markup}")
            found = page.evaluate(TEXT_FAULTS, {"width": width, "height": height})
            if found:
                faults[f"{name} {kind}"] = found
    page.close()
    assert not faults


@pytest.mark.browser
@pytest.mark.parametrize(("how", "names"), in_parts(page=5, frame=8))
def test_an_offline_page_and_a_frame_open_with_the_finding(
    chromium: Any, tmp_path: Path, how: str, names: set[str]
) -> None:
    embedded = how == "frame"
    page = chromium.new_page(viewport={"width": 700, "height": 400} if embedded else {"width": 1440, "height": 900})
    body = render_partial("partials/_offline.html", "en")
    for name in sorted(names):
        html = made(name, "file", body=body).decode()
        path = tmp_path / "run.html"
        path.write_text(html.replace("<body>", '<body class="embed">', 1) if embedded else html, "utf-8")
        page.goto(path.as_uri())
        view = page.locator(".verdict-view")
        view.locator("text").first.wait_for()
        shown = squeezed("".join(view.locator("text").all_text_contents()))
        for line in lines_told(name):
            assert line[:20] in shown, name
        assert view.locator(".verdict-value, .verdict-none, .verdict-range, .net-now.end").count(), name
        view.get_by_role("button").click()
        view.wait_for(state="detached")
    page.goto(f"{path.as_uri()}#i=1")
    page.locator("#workbench[data-step='1']").wait_for()
    assert page.locator(".verdict-view").count() == 0
    page.close()


@pytest.mark.skipif(importlib.util.find_spec("PIL") is None, reason="needs Pillow: pip install gradbox[film]")
@pytest.mark.parametrize("moving", ["webp", "gif"])
def test_a_film_for_chats_moves_and_is_small(moving: str) -> None:
    film = made("sigmoid_overwritten", "film", moving=moving)
    assert len(film) <= MAX_FILM_BYTES
    head = film[:12]
    assert (head[:4], head[8:]) == (b"RIFF", b"WEBP") if moving == "webp" else head.startswith(b"GIF89a")
    assert film.count(b"ANMF") >= 3 if moving == "webp" else film.count(b"\x21\xf9\x04") >= 3


def test_a_run_without_a_finding_has_the_card_and_the_film_of_its_step() -> None:
    recorded = json.dumps(kept_trace("import torch\n\nx = torch.ones(2)\ny = x + 1\nprint(y)\n")).encode()
    for kind in ("card", "film", "markdown"):
        draw = DrawRequest.model_validate({"kind": kind, "title": "Nothing wrong"})
        reply, body = render(renderer(), draw.model_copy(update={"seconds": PATIENCE}), gzip.compress(recorded), FONTS)
        assert reply.failed is None
        assert "print(y)" in body.decode() or "y = x + 1" in body.decode()


HOSTILE_FILMS = {
    "thousands of steps between cause and effect": (
        "import torch\nx = torch.randn(40, 40, requires_grad=True)\ny = x.sigmoid()\ny.mul_(2)\n"
        "for i in range(4000):\n    z = i\n(y * y).sum().backward()\n"
    ),
    "long lines and names": (
        "import torch\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\n"
        f"y.add_([{', '.join(['1'] * 4000)}][0])\n{'名' * 3000} = y\nsum([{', '.join(['y.sum()'] * 60)}]).backward()\n"
    ),
    "many names of one memory": (
        "import torch\nx = torch.ones(8, requires_grad=True)\ny = x.exp()\n"
        + "".join(f"name_{k:03} = y[{k % 8}:]\n" for k in range(400))
        + "y.zero_()\n(name_000 * y).sum().backward()\n"
    ),
}
"""Runs whose films would be large or slow if they were made of all that there is: a step of each, each name, each
character."""


@pytest.mark.parametrize("name", HOSTILE_FILMS)
def test_the_film_of_a_hostile_run_has_few_small_frames(name: str) -> None:
    body = gzip.compress(json.dumps(kept_trace(HOSTILE_FILMS[name])).encode())
    for moving in (None, "gif"):
        draw = DrawRequest.model_validate({"kind": "film", "language": "en", "moving": moving})
        reply, film = render(renderer(), draw.model_copy(update={"seconds": PATIENCE}), body, FONTS)
        assert reply.failed is None, reply.failed
        assert 1000 < len(film) <= MAX_FILM_BYTES
        if moving is None:
            frames = [g for g in ET.fromstring(film).iter(f"{SVG}g") if "film-frame" in g.get("class", "")]
            assert 2 <= len(frames) <= 9
            assert sum(1 for _ in ET.fromstring(film).iter()) < 9 * 2000, "elements of all frames"


@pytest.mark.skipif(importlib.util.find_spec("PIL") is None, reason="needs Pillow: pip install gradbox[film]")
@pytest.mark.parametrize("moving", ["gif", "webp"])
def test_frames_of_noise_are_packed_into_a_megabyte(moving: MovingFormat, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image

    monkeypatch.setattr(film_file, "SCALES", film_file.SCALES[2:])  # the first ones take most of the time
    frames = []
    for k in range(9):
        target = io.BytesIO()
        Image.frombytes("RGB", (800, 450), random.Random(k).randbytes(800 * 450 * 3)).save(target, "PNG")
        frames.append(FilmFrame(target.getvalue(), 500))
    assert 50_000 < len(encode_film(frames, moving)) <= MAX_FILM_BYTES
