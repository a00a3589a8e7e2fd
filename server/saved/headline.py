"""The headline of a saved program's first finding, for what other sites show about a link to it."""

import asyncio
import re

from gradbox.wire.processes import DrawRequest
from server.pictures.renderer_client import BeforeDrawing, Renderer, RenderingFailed
from server.store.repository import SavedProgram
from server.wire.problems import ProblemError

PAGE_SECONDS, OEMBED_SECONDS = 0.5, 5.0
"""Seconds that a page, and an oEmbed reply, wait for the headline. After that they go without, and a later one
has it."""

_HEADLINE = re.compile(r"\*\*(.+?)\*\*\n")


_waited_for: set[asyncio.Task[bytes]] = set()


async def finding_headline(
    renderer: Renderer, program: SavedProgram, before_drawing: BeforeDrawing, network: str, seconds: float
) -> str:
    """The headline in plain words; "" if nothing was found, or if it takes too long.

    before_drawing: counts the drawing, and raises for a visitor who asks for too many
    network: of the visitor, whose turn it is
    seconds: to wait, at most
    """
    draw = DrawRequest(kind="markdown", language=program.content.language, title="")
    drawing = asyncio.ensure_future(
        renderer.get_drawing(program.trace_name, draw, program.trace, before_drawing, network)
    )
    _waited_for.add(drawing)
    drawing.add_done_callback(_waited_for.discard)
    done, _ = await asyncio.wait({drawing}, timeout=seconds)
    if not done or drawing.cancelled() or isinstance(drawing.exception(), ProblemError | RenderingFailed):
        return ""
    match = _HEADLINE.match(drawing.result().decode("utf-8", "replace"))
    return match[1].replace("`", "") if match is not None else ""
