"""The headline of a saved program's first finding, for what other sites show about a link to it."""

from gradbox.wire.processes import DrawRequest
from server.pictures.renderer_client import BeforeDrawing, Renderer
from server.store.repository import SavedProgram
from server.wire.problems import ProblemError

PAGE_SECONDS, OEMBED_SECONDS = 0.05, 5.0
"""Seconds that a page, and an oEmbed reply, wait for the headline, which is drawn when the program is saved. After that
they go without, and a later one has it."""


async def finding_headline(
    renderer: Renderer, program: SavedProgram, before_drawing: BeforeDrawing | None, network: str, seconds: float
) -> str:
    """The headline in plain words; "" if nothing was found, or if it takes too long.

    before_drawing: counts the drawing, and raises for a visitor who asks for too many
    network: of the visitor, whose turn it is
    seconds: to wait, at most; with 0 it is drawn for later
    """
    draw = DrawRequest(kind="headline", language=program.content.language, title="")
    try:
        headline = await renderer.get_drawing_within(
            seconds, program.trace_name, draw, program.trace, before_drawing, network
        )
    except ProblemError:
        return ""
    return (headline or b"").decode("utf-8", "replace")
