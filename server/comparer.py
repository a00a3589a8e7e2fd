"""Comparisons of two traces: the page's own functions, run in the renderer's process."""

import gzip
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass

from server.pictures.renderer_client import Renderer
from server.wire.compare import Comparison
from server.wire.pictures import DrawRequest


@dataclass(frozen=True)
class ComparedRun:
    """A run to compare. trace: its JSON, gzipped. title: of its program, "" where it has none."""

    trace: bytes
    title: str = ""

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.trace + self.title.encode()).hexdigest()


async def draw_comparison(
    renderer: Renderer,
    left: ComparedRun,
    right: ComparedRun,
    draw: DrawRequest,
    before: Callable[[], None],
    owner: str = "",
) -> bytes:
    """What a request makes of two runs. before: is called unless that is cached. owner: who waits for it.

    Raises RenderingFailed, and what `before` raises.
    """
    return await renderer.get(f"{left.digest} {right.digest}", draw, joined(left, right), before, owner)


async def compare(
    renderer: Renderer,
    left: ComparedRun,
    right: ComparedRun,
    language: str,
    before: Callable[[], None],
    owner: str = "",
) -> Comparison:
    """The differences of two runs. Raises RenderingFailed, and what `before` raises."""
    draw = DrawRequest(kind="comparison", language=language)
    return Comparison.model_validate_json(await draw_comparison(renderer, left, right, draw, before, owner))


def joined(left: ComparedRun, right: ComparedRun) -> bytes:
    """Both runs as one JSON object, gzipped: several members of gzip one after another, so that no trace is unpacked."""

    def member(text: str) -> bytes:
        return gzip.compress(text.encode(), 1)

    return b"".join(
        (
            member('{"left":{"title":' + json.dumps(left.title) + ',"trace":'),
            left.trace,
            member('},"right":{"title":' + json.dumps(right.title) + ',"trace":'),
            right.trace,
            member("}}"),
        )
    )
