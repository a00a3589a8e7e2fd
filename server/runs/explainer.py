"""Findings of a trace and comparisons of two traces: runs the page's own functions in the renderer's process and
validates their replies."""

import gzip
import hashlib
import json
import zlib
from dataclasses import dataclass

from pydantic import TypeAdapter

from gradbox.assembly.recorded_trace import GZIP_WINDOW_BITS
from gradbox.wire.findings import Finding, LookedFor, OutcomeSummary, RunReading
from gradbox.wire.processes import DrawingKind, DrawRequest
from server.pictures.renderer_client import BeforeDrawing, Renderer
from server.wire.compare import Comparison

FINDINGS = TypeAdapter(list[Finding])


async def explain_trace(
    renderer: Renderer,
    trace: bytes,
    language: str = "en",
    name: str | None = None,
    before_drawing: BeforeDrawing | None = None,
    owner: str = "",
) -> list[Finding]:
    """The findings of a run, the best first. Raises RenderingFailed, and what `before_drawing` raises.

    trace: its JSON, gzipped
    name: the trace's name in the cache; by default its digest
    before_drawing: awaited unless the findings are cached; None where they count towards no limit
    owner: who waits for them
    """
    name = name or hashlib.sha256(trace).hexdigest()
    draw = DrawRequest(kind="findings", language=language)
    return FINDINGS.validate_json(await renderer.get_drawing(name, draw, trace, before_drawing, owner))


async def summarize_outcome(renderer: Renderer, trace: bytes, language: str = "en") -> OutcomeSummary:
    """Summarize how a run ended. Raises RenderingFailed."""
    return OutcomeSummary.model_validate_json(await make_reply(renderer, "summary", trace, language))


async def read_run_for_terminal(renderer: Renderer, trace: bytes, language: str = "en") -> RunReading:
    """A run in the form in which a terminal shows it. Raises RenderingFailed."""
    return RunReading.model_validate_json(await make_reply(renderer, "reading", trace, language))


async def fetch_looked_for(renderer: Renderer, trace: bytes, language: str = "en") -> LookedFor | None:
    """What was looked for in a run without problems; None if the run has one. Raises RenderingFailed."""
    body = await make_reply(renderer, "looked_for", trace, language)
    return None if body == b"null" else LookedFor.model_validate_json(body)


async def make_reply(renderer: Renderer, kind: DrawingKind, trace: bytes, language: str) -> bytes:
    """What the page's code replies about a run, as JSON. Raises RenderingFailed.

    trace: its JSON, gzipped
    """
    digest = hashlib.sha256(trace).hexdigest()
    return await renderer.get_drawing(digest, DrawRequest(kind=kind, language=language), trace, None)


def add_findings_to_trace(trace: bytes, findings: list[Finding]) -> bytes:
    """Return the gzipped JSON of a trace with its findings as one more field. This is slow: call it outside of the
    event loop."""
    text = zlib.decompress(trace, wbits=GZIP_WINDOW_BITS).rstrip()
    body = text[:-1] + b',"findings":' + FINDINGS.dump_json(findings) + b"}"
    return zlib.compress(body, 1, GZIP_WINDOW_BITS)


@dataclass(frozen=True)
class ComparedRun:
    """A run to compare.

    trace: its JSON, gzipped
    title: of its program, "" where it has none
    """

    trace: bytes
    title: str = ""

    @property
    def trace_digest(self) -> str:
        return hashlib.sha256(self.trace + self.title.encode()).hexdigest()


@dataclass(frozen=True)
class RunPair:
    """Two runs to compare."""

    left: ComparedRun
    right: ComparedRun

    @property
    def cache_name(self) -> str:
        """The name of the pair in the cache of drawings."""
        return f"{self.left.trace_digest} {self.right.trace_digest}"

    def gzipped_json(self) -> bytes:
        """Both runs as one gzipped JSON object. It consists of several gzip members, so that no trace has to be
        decompressed."""
        left, right = json.dumps(self.left.title), json.dumps(self.right.title)
        return b"".join(
            (
                compress_gzip_member(f'{{"left":{{"title":{left},"trace":'),
                self.left.trace,
                compress_gzip_member(f'}},"right":{{"title":{right},"trace":'),
                self.right.trace,
                compress_gzip_member("}}"),
            )
        )


def compress_gzip_member(text: str) -> bytes:
    return gzip.compress(text.encode(), 1)


async def draw_comparison(
    renderer: Renderer,
    pair: RunPair,
    draw: DrawRequest,
    before_drawing: BeforeDrawing,
    owner: str = "",
    seconds: float | None = None,
) -> bytes | None:
    """Draw a comparison of two runs; None if that takes longer. Raises RenderingFailed, and what `before_drawing`
    raises.

    before_drawing: awaited unless the drawing is cached
    owner: who waits for it
    """
    return await renderer.get_drawing_within(seconds, pair.cache_name, draw, pair.gzipped_json(), before_drawing, owner)


async def compare_runs(
    renderer: Renderer, pair: RunPair, language: str, before_drawing: BeforeDrawing, owner: str = ""
) -> Comparison:
    """The differences of two runs. Raises RenderingFailed, and what `before_drawing` raises."""
    draw = DrawRequest(kind="comparison", language=language)
    body = await draw_comparison(renderer, pair, draw, before_drawing, owner)
    assert body is not None
    return Comparison.model_validate_json(body)
