"""Comparisons of two traces: the page's own functions, run in the renderer's process."""

import gzip
import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from gradbox.wire.pictures import DrawRequest
from server.pictures.renderer_client import Renderer
from server.wire.compare import Comparison


@dataclass(frozen=True)
class ComparedRun:
    """A run to compare. trace: its JSON, gzipped. title: of its program, "" where it has none."""

    trace: bytes
    title: str = ""

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.trace + self.title.encode()).hexdigest()


@dataclass(frozen=True)
class RunPair:
    """Two runs to compare."""

    left: ComparedRun
    right: ComparedRun

    @property
    def name(self) -> str:
        """By which the cache of drawings finds them."""
        return f"{self.left.digest} {self.right.digest}"

    def gzipped_json(self) -> bytes:
        """Both as one JSON object, gzipped: several members of gzip one after another, so that no trace is unpacked."""
        left, right = json.dumps(self.left.title), json.dumps(self.right.title)
        return b"".join(
            (
                gzip_member(f'{{"left":{{"title":{left},"trace":'),
                self.left.trace,
                gzip_member(f'}},"right":{{"title":{right},"trace":'),
                self.right.trace,
                gzip_member("}}"),
            )
        )


def gzip_member(text: str) -> bytes:
    return gzip.compress(text.encode(), 1)


async def draw_comparison(
    renderer: Renderer, pair: RunPair, draw: DrawRequest, before_drawing: Callable[[], Awaitable[None]], owner: str = ""
) -> bytes:
    """What a request makes of two runs. before_drawing: is awaited unless that is cached. owner: who waits for it.

    Raises RenderingFailed, and what `before_drawing` raises.
    """
    return await renderer.get_drawing(pair.name, draw, pair.gzipped_json(), before_drawing, owner)


async def compare(
    renderer: Renderer, pair: RunPair, language: str, before_drawing: Callable[[], Awaitable[None]], owner: str = ""
) -> Comparison:
    """The differences of two runs. Raises RenderingFailed, and what `before_drawing` raises."""
    draw = DrawRequest(kind="comparison", language=language)
    return Comparison.model_validate_json(await draw_comparison(renderer, pair, draw, before_drawing, owner))
