"""The renderer's process: V8 with the page's own code, and resvg for PNG. `python -m
gradbox.pictures.renderer_process`.

It reads requests from the standard input, one after another, and writes each drawing to the standard output.
"""

import contextlib
import ctypes
import gzip
import json
import math
import os
import re
import resource
import secrets
import signal
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import resvg_py
from py_mini_racer import JSEvalException, JSOOMException, JSTimeoutException, MiniRacer

from gradbox.installation import STATIC_FOLDER
from gradbox.pictures.built_files import offline_script_name, offline_style_name
from gradbox.pictures.film_file import FilmFrame, encode_film
from gradbox.wire.processes import DrawReply, DrawRequest

BUILT_FILES_FOLDER = STATIC_FOLDER / "dist"
PR_SET_PDEATHSIG = 1
MAX_HEAP_BYTES = 512 << 20
"""Bytes of V8's heap."""

PNG_SCALE = 2.0
MAX_PNG_AREA = 12e6
MAX_PNG_SIDE = 16_000
"""The most pixels of a PNG, and of one side."""

QUICK_SVG_LENGTH, MAX_AREA_DIVISOR = 250_000, 4
"""Characters up to which an SVG is painted quickly at any size; a longer one gets fewer pixels, down to a fourth."""

MAX_HEIGHT = {"svg": 16_000, "png": 4_000, "card": 700}
"""The largest height in pixels, before a PNG is scaled up. Only a part of a higher picture is drawn, with a note."""

SVG_SIZE_PATTERN = re.compile(r' width="([\d.]+)" height="([\d.]+)"')


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # also in the middle of a drawing
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")  # when memory runs out, kill it first
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not be read as a reply
    fonts = FontFamilies(font_family("sans-serif", "DejaVu Sans"), font_family("monospace", "DejaVu Sans Mono"))
    v8 = open_context()
    write_reply(replies, DrawReply())
    for line in requests:
        draw = DrawRequest.model_validate_json(line)
        reply, body = render(v8, draw, requests.read(draw.size), fonts)
        write_reply(replies, reply, body)
        if reply.ends:
            return
        if reply.late:  # what it was in the midst of is left as it was
            v8 = open_context()


def open_context() -> MiniRacer:
    """A new context of V8 with the page's code; it takes a tenth of a second."""
    v8 = MiniRacer()
    v8.eval((BUILT_FILES_FOLDER / "exports.js").read_text("utf-8"))
    return v8


@dataclass(frozen=True)
class FontFamilies:
    """The generic font families. By default resvg looks for Arial and similar fonts, and draws no text without them."""

    sans: str
    mono: str


def font_family(generic: str, default: str) -> str:
    """The family that fontconfig uses for a generic one; the default if there is no fontconfig."""
    try:
        result = subprocess.run(
            ["fc-match", "--format=%{family[0]}", generic], capture_output=True, text=True, timeout=20
        )
    except OSError:  # fontconfig is not installed
        return default
    return result.stdout or default


def render(
    v8: MiniRacer,
    draw: DrawRequest,
    trace: bytes,
    fonts: FontFamilies,
) -> tuple[DrawReply, bytes]:
    """Draw what a request asks for: returns the reply, and the drawing that follows it.

    The reply says if nothing can be drawn; if it has `late`, the context can't be used any more, if `ends`, V8 can't.

    trace: its JSON, gzipped
    """
    if draw.kind == "plain":
        body = svg_to_png(trace.decode(), fonts)
        return DrawReply(size=len(body)), body
    max_height = MAX_HEIGHT["card" if draw.kind == "card" else "png" if draw.png else "svg"]
    options: dict[str, Any] = {
        **draw.model_dump(),
        "kind": "film_frames" if draw.moving else draw.kind,
        "tallest": max_height,
        "parts": offline_parts(draw),
        "nonce": secrets.token_hex(16),
    }
    try:
        text = gzip.decompress(trace).decode()
        result = v8.call("exports.render", text, options, timeout_sec=draw.seconds, max_memory=MAX_HEAP_BYTES)
        if "steps" in result:
            return DrawReply(steps=result["steps"]), b""
        if "failed" in result:
            return DrawReply(failed=result["failed"]), b""
        if draw.moving:
            frames = [FilmFrame(svg_to_png(frame["svg"], fonts), frame["ms"]) for frame in json.loads(result["made"])]
            body = encode_film(frames, draw.moving)
        else:
            body = svg_to_png(result["made"], fonts) if draw.png else result["made"].encode()
    except JSTimeoutException:
        return DrawReply(failed=f"it took more than {draw.seconds:.0f} seconds to draw", late=True), b""
    except JSOOMException:
        return DrawReply(failed=f"it took more than {MAX_HEAP_BYTES >> 20} MiB to draw", ends=True), b""
    except (JSEvalException, ValueError) as error:  # an ordinary exception, which leaves V8 as it was
        print(f"{type(error).__name__}: {str(error)[:2000]}", file=sys.stderr)
        return DrawReply(failed="this trace can't be drawn"), b""
    except ImportError as error:
        return DrawReply(failed=str(error)), b""
    return DrawReply(size=len(body)), body


def offline_parts(draw: DrawRequest) -> dict[str, dict[str, str]]:
    """The script and the style of an offline file, by what it may hold; nothing for what is no such file."""
    if draw.kind == "comparison_file":
        contents = ["compare"]
    elif draw.kind in ("file", "series_file"):
        contents = ["series"] if draw.kind == "series_file" else ["list", "stage"]
    else:
        return {}
    return {content: read_offline_script_and_style(content, draw.language) for content in contents}


@cache
def read_offline_script_and_style(content: str, language: str) -> dict[str, str]:
    files = {"script": offline_script_name(content, language), "style": offline_style_name(content)}
    return {part: (BUILT_FILES_FOLDER / name).read_text("utf-8") for part, name in files.items()}


def svg_to_png(svg: str, fonts: FontFamilies) -> bytes:
    """An SVG as PNG, at twice its size where that does not exceed the limits."""
    match = SVG_SIZE_PATTERN.search(svg)
    width, height = (float(side) for side in match.groups()) if match else (1.0, 1.0)
    scale = 1.0 if 'class="card"' in svg[:1000] else PNG_SCALE
    area = MAX_PNG_AREA / min(MAX_AREA_DIVISOR, max(1, len(svg) / QUICK_SVG_LENGTH))
    zoom = min(scale, MAX_PNG_SIDE / max(width, height), math.sqrt(area / (width * height)))
    return bytes(
        resvg_py.svg_to_bytes(svg_string=svg, zoom=zoom, sans_serif_family=fonts.sans, monospace_family=fonts.mono)
    )


def write_reply(replies: BinaryIO, reply: DrawReply, body: bytes = b"") -> None:
    replies.write(reply.model_dump_json().encode() + b"\n" + body)
    replies.flush()


if __name__ == "__main__":
    main()
