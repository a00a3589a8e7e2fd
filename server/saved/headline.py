"""The headline of a saved program's first finding, for what other sites show about a link to it."""

import asyncio

from gradbox.wire.processes import DrawRequest
from server.pictures.renderer_client import BeforeDrawing, Renderer, RenderingFailed
from server.store.repository import SavedProgram
from server.wire.problems import ProblemError

PAGE_SECONDS, OEMBED_SECONDS = 0.05, 5.0
"""Seconds that a page, and an oEmbed reply, wait for the headline, which is drawn when the program is saved. After that
they go without, and a later one has it."""

_waited_for: set[asyncio.Task[bytes]] = set()


async def finding_headline(
    renderer: Renderer, program: SavedProgram, before_drawing: BeforeDrawing, network: str, seconds: float
) -> str:
    """The headline in plain words; "" if nothing was found, or if it takes too long.

    before_drawing: counts the drawing, and raises for a visitor who asks for too many
    network: of the visitor, whose turn it is
    seconds: to wait, at most; with 0 it is drawn for later
    """
    draw = DrawRequest(kind="headline", language=program.content.language, title="")
    drawing = asyncio.ensure_future(
        renderer.get_drawing(program.trace_name, draw, program.trace, before_drawing, network)
    )
    _waited_for.add(drawing)
    drawing.add_done_callback(_drop_finished)
    done, _ = await asyncio.wait({drawing}, timeout=seconds)
    if not done or drawing.cancelled() or isinstance(drawing.exception(), ProblemError | RenderingFailed):
        return ""
    return drawing.result().decode("utf-8", "replace")


def _drop_finished(drawing: asyncio.Task[bytes]) -> None:
    _waited_for.discard(drawing)
    if not drawing.cancelled():
        drawing.exception()  # whoever waited has it; nobody else is told
