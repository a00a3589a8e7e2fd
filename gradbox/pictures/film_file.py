"""A film as one file that plays wherever pictures are shown: its frames packed as WebP or GIF by Pillow."""

import io
from dataclasses import dataclass
from typing import Any

from gradbox.wire.processes import MovingFormat

try:
    from PIL import Image
except ImportError:  # an optional package: a film as SVG needs nothing
    Image: Any = None  # type: ignore[no-redef]

MAX_FILM_BYTES = 1_000_000
"""The most bytes of a file."""

SCALES = (1.0, 0.75, 0.5, 0.35, 0.25)
"""Scales of the frame size that are tried until the file is small enough. At the last one even frames of noise are."""

GIF_COLOURS = 256


@dataclass(frozen=True)
class FilmFrame:
    """One frame of a film.

    png: the picture
    shown_ms: how long it is shown, in milliseconds
    """

    png: bytes
    shown_ms: int


def encode_film(frames: list[FilmFrame], moving: MovingFormat) -> bytes:
    """The frames as one file that repeats endlessly. Raises ImportError without Pillow, ValueError without frames."""
    if Image is None:
        raise ImportError("a film as WebP or GIF needs Pillow: pip install pillow")
    if not frames:
        raise ValueError("there are no frames")
    body = b""
    for scale in SCALES:
        body = encode_scaled_frames(frames, moving, scale)
        if len(body) <= MAX_FILM_BYTES:
            break
    return body


def encode_scaled_frames(frames: list[FilmFrame], moving: MovingFormat, scale: float) -> bytes:
    """One file of scaled frames."""
    first, *others = [decode_and_scale_frame(frame.png, moving, scale) for frame in frames]
    target = io.BytesIO()
    durations = [frame.shown_ms for frame in frames]
    # method 0 gives files five times as large, and 3 takes three times as long
    options: dict[str, Any] = (
        {"lossless": True, "quality": 20, "method": 1} if moving == "webp" else {"optimize": False}
    )
    first.save(target, moving.upper(), save_all=True, append_images=others, duration=durations, loop=0, **options)
    return target.getvalue()


def decode_and_scale_frame(png: bytes, moving: MovingFormat, scale: float) -> Any:
    image = Image.open(io.BytesIO(png)).convert("RGB")
    if scale != 1.0:
        image = image.resize((round(image.width * scale), round(image.height * scale)), Image.Resampling.LANCZOS)
    return image.quantize(GIF_COLOURS, dither=Image.Dither.NONE) if moving == "gif" else image
