"""What is pasted into a forum is inert: no text of a program, of its title or of an error becomes a link, a picture or
HTML there."""

import gzip
import json
import re
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from gradbox.pictures.renderer_process import render
from gradbox.wire.processes import DrawRequest
from tests.findings.test_verdicts import FONTS, _renderer_before_the_browser, renderer
from tests.recordings.store import kept_trace
from tests.support.waiting import PATIENCE

__all__ = ["_renderer_before_the_browser"]

ADDRESS = "https://gradbox.example/s/2222222222"
OURS = {ADDRESS, f"{ADDRESS}.card.png"}
HOSTILE = {
    "link": "[click](https://evil.example/a)",
    "picture": "![x](https://evil.example/a.png)",
    "reference": "[a]: https://evil.example 'b'",
    "html": "<img src=x onerror=alert(1)><script>alert(1)</script>",
    "comment": "<!-- hidden --><?x?><![CDATA[x]]>",
    "address": "https://evil.example www.evil.example a@evil.example <https://evil.example>",
    "emphasis": "**bold** __bold__ *a* _b_ ~~c~~",
    "code": "`a` [click](https://evil.example) `b",
    "fence": "``` [click](https://evil.example)",
    "escape": "a\\",
    "escaped bracket": "a\\](https://evil.example)",
    "entity": "&lt;b&gt; &#91;x&#93;",
    "heading": "# a",
    "list": "1. a",
    "rule": "---",
    "table": "| a | b |",
    "paragraphs": "a\n\n[click](https://evil.example)\n\n# b",
    "carriage return": "a\r\r[click](https://evil.example)\r\r<b>c</b>",
}


def markdown_of(source: str, title: str = "") -> str:
    draw = DrawRequest(kind="markdown", title=title, address=ADDRESS)
    trace = gzip.compress(json.dumps(kept_trace(source)).encode())
    reply, body = render(renderer(), draw.model_copy(update={"seconds": PATIENCE}), trace, FONTS)
    assert reply.failed is None, reply.failed
    return body.decode()


def tokens_of(text: str) -> list[Token]:
    """With those within paragraphs."""
    markdown = MarkdownIt("js-default", {"html": True, "linkify": True})
    return [inner for token in markdown.parse(text) for inner in (token, *(token.children or []))]


def active_parts(text: str) -> set[str]:
    """What of a text is a link, a picture or HTML that is not ours, or has become a heading, a list or a table."""
    found = set()
    for token in tokens_of(text):
        target = token.attrGet("href") or token.attrGet("src")
        if target is not None and target not in OURS:
            found.add(f"{token.type} {target}")
        if re.match("html|heading|bullet|ordered|table|hr|fence|s_open|em_open", token.type):
            found.add(token.type)
    return found


def shown_text(text: str) -> str:
    return " ".join(token.content for token in tokens_of(text) if token.type in ("text", "text_special", "code_inline"))


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_title_is_inert(kind: str) -> None:
    text = markdown_of("import torch\ny = torch.ones(2)\n", HOSTILE[kind])
    assert not active_parts(text)
    assert {token.attrGet("href") or token.attrGet("src") for token in tokens_of(text)} - {None} == OURS
    words = re.findall(r"\w+", HOSTILE[kind])
    assert all(word in shown_text(text) for word in words if word not in ("lt", "gt", "91", "93"))


@pytest.mark.parametrize("kind", HOSTILE)
def test_an_error_and_the_names_of_a_program_are_inert(kind: str) -> None:
    said = json.dumps(HOSTILE[kind])
    for source in (
        f"import torch\nx = torch.ones(2)\nraise ValueError({said})\n",
        f"import torch\nd = {{{said}: torch.ones(2, requires_grad=True)}}\ny = d[{said}].exp()\ny.add_(1)\n"
        f"y.sum().backward()  # {HOSTILE[kind].splitlines()[0]}\n",
    ):
        text = markdown_of(source, "title")
        assert not active_parts(text), text
        assert text.count("\n\n") >= 3


def test_the_checks_see_what_is_active() -> None:
    plain: dict[str, Any] = {kind: active_parts(f"**{text}**\n\n{text}\n") for kind, text in HOSTILE.items()}
    assert {kind for kind, found in plain.items() if not found} <= {"escape", "entity", "code", "reference", "table"}


def test_prose_stays_readable() -> None:
    text = markdown_of(
        "import torch\nx = torch.ones(2, requires_grad=True)\ny = x.exp()\ny.add_(1)\ny.sum().backward()\n"
    )
    assert "\\" not in text and text.startswith("**") and "`y`" in text
