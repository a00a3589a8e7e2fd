"""oEmbed 1.0: how a saved program or a series is embedded in another site's page."""

import re

from markupsafe import Markup

from server.http.responses import MAX_AGE
from server.saved.series import SeriesWithTitles
from server.store.repository import SavedProgram
from server.wire.saved_programs import OEmbed

WIDTH, HEIGHT = 700, 480
"""A size that fits the column of an article."""
MIN_WIDTH, MIN_HEIGHT = 320, 300
CARD_SIZE = (1200, 630)
_FRAGMENT_PART_PATTERN = re.compile(r"i=[0-9]{1,9}|at=[A-Za-z0-9%:._~-]{1,200}|v=(?:net|loom|parameters)")
"""The parts of a permalink's fragment that the frame understands: a step, a selection, a view."""


def program_oembed(
    program: SavedProgram,
    headline: str,
    base: str,
    fragment: str,
    max_width: int | None = None,
    max_height: int | None = None,
) -> OEmbed:
    """The oEmbed document of a saved program.

    headline: of its first finding; for a program without one, its title
    base: the public URL
    fragment: of the permalink; it says what the frame opens with
    max_width, max_height: in pixels
    """
    parts = "&".join(part for part in fragment.split("&") if _FRAGMENT_PART_PATTERN.fullmatch(part))
    source = f"{base}/embed/{program.id}" + (f"#{parts}" if parts else "")
    return create_oembed_reply(
        source, program.content.title or headline or "Gradbox", program.id, base, max_width, max_height
    )


def series_oembed(
    series: SeriesWithTitles, place: int | None, base: str, max_width: int | None = None, max_height: int | None = None
) -> OEmbed:
    """Like `program_oembed`, for a series. Raises ProblemError and ContentRemoved.

    place: of the program that the frame opens with, from 1
    """
    shown = series.item_at(place or series.first_available_place()).program
    source = f"{base}/embed/series/{series.saved.id}" + (f"/{place}" if place else "")
    return create_oembed_reply(source, series.saved.content.title, shown, base, max_width, max_height)


def create_oembed_reply(
    source: str, title: str, program: str, base: str, max_width: int | None, max_height: int | None
) -> OEmbed:
    """An oEmbed document.

    source: the address of the frame
    program: the id of the program whose card is the preview
    """
    width = max(MIN_WIDTH, min(WIDTH, max_width or WIDTH))
    height = max(MIN_HEIGHT, min(HEIGHT, max_height or HEIGHT))
    frame = Markup(
        '<iframe src="{}" width="{}" height="{}" title="{}" loading="lazy" style="border:0;max-width:100%" '
        'sandbox="allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox"></iframe>'
    ).format(source, width, height, title)
    return OEmbed(
        title=title,
        provider_url=base,
        cache_age=MAX_AGE,
        html=str(frame),
        width=width,
        height=height,
        thumbnail_url=f"{base}/s/{program}.card.png",
        thumbnail_width=CARD_SIZE[0],
        thumbnail_height=CARD_SIZE[1],
    )
