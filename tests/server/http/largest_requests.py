"""The largest legal requests to every route: what is longest to read, to make or to send, and what is refused for its
size."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from gradbox.wire.api import MAX_INPUT, MAX_PIPELINE_ITEMS
from server.routes.builder import MAX_ALIVE
from server.settings import Settings
from server.wire.operations import MAX_NAMES
from server.wire.saved_programs import MAX_NOTE, MAX_PROGRAMS
from tests.assault.programs import BIG, CROWDED, LONG_SOURCE, NAMES_OF_ALL, NOTEBOOK, QUOTED_BLANKS, RANDOM

SIZE = Settings({}).source
MAX_BODY = 400_000
"""Characters of a request's body."""

LOOKED_UP = "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace op "
DEEP, WIDE = "[" * (MAX_BODY // 2) + "]" * (MAX_BODY // 2), "{" + ",".join(f'"{k}":0' for k in range(38_000)) + "}"
"""JSON that is nested as deeply, and has as many fields, as a body can."""


@dataclass(frozen=True)
class LargeRequest:
    """body: None, values to be sent as JSON, or a text that is sent as it is."""

    method: str
    path: str
    body: Any = None

    @property
    def text(self) -> str | None:
        return self.body if isinstance(self.body, str | None) else json.dumps(self.body)


def alive(count: int = MAX_NAMES, seed: int = 0) -> str:
    """As many names as a place in a program may have, with shapes of as many dimensions."""
    kinds = ("tensor", "module", "array", "optimizer", "unknown", "function")
    names = [
        {
            "name": f"x{seed}_{k}".ljust(60, "a"),
            "kind": kinds[k % 6] if seed % 2 else "tensor",
            "type": "a" * 60,
            "shape": [2**53 - k] * (16 if k % 2 else 2),
            "dtype": ("torch.float32", "torch.complex64", "torch.bool")[k % 3],
            "requires_grad": bool(k % 2),
            "grad": bool(k % 3),
        }
        for k in range(count)
    ]
    text = json.dumps(names, separators=(",", ":"))
    assert len(text) <= MAX_ALIVE, len(text)
    return text


def pipelines() -> Iterator[list[dict[str, Any]]]:
    """Pipelines of as many items as there may be, or with operands as long, or as many in one."""
    clone: dict[str, Any] = {"operation": "clone", "operands": {"a": "torch"}}
    every = range(MAX_PIPELINE_ITEMS)
    yield [clone for _ in every]
    yield [{**clone, "name": f"a{k}".ljust(100, "b")} for k in every]
    yield [{**clone, "operands": {"a": "(" * 480 + "torch" + ")" * 478}} for _ in range(390)]
    yield [{**clone, "operands": {"a": "[" * 480 + "1" + "]" * 480}} for _ in range(SIZE // 1000)]
    yield [{**clone, "operands": {"a": "'" * 962 + "a"}} for _ in range(390)]
    yield [{**clone, "operands": {"a": "-" * 962 + "1"}} for _ in range(SIZE // 1000)]
    yield [{**clone, "operands": {"a": "a." * 481 + "b"}} for _ in range(SIZE // 1000)]
    yield [{**clone, "operands": {"a": "1+" * 481 + "1"}} for _ in range(440)]
    yield [{"operation": "clone", "operands": {f"{k}": 1 for k in range(30_000)}}]
    yield [{"operation": "clone", "operands": {}} for _ in range(15_000)]


def hostile_bodies() -> Iterator[str]:
    """Bodies that are long to parse, to any address."""
    yield DEEP
    yield WIDE
    yield '"' + "\\u00e9" * (MAX_BODY // 6) + '"'
    yield "[" + ",".join(["1e9"] * (MAX_BODY // 4)) + "]"
    yield "1" * MAX_BODY
    yield "[" + ",".join(["{}"] * (MAX_BODY // 3)) + "]"


def bodies_with_source(**fields: Any) -> Iterator[Any]:
    """A program of the greatest size, or one that is long to read, and the other fields."""
    for source in (
        "#" * SIZE,
        "é" * (SIZE // 2),
        "\x00" * SIZE,
        "x = 1\n" * (SIZE // 6),
        ">>> x\n" * (SIZE // 6),
        NOTEBOOK,
        QUOTED_BLANKS,
        LONG_SOURCE,
        "(" * SIZE,
    ):
        yield {"source": source[:SIZE].replace("{n}", "7"), **fields}


def source_field(method: str, path: str, **fields: Any) -> Iterator[LargeRequest]:
    for body in bodies_with_source(**fields):
        yield LargeRequest(method, path, body)
    for text in hostile_bodies():
        yield LargeRequest(method, path, text)
        yield LargeRequest(method, path, f'{{"source": "x = 1", "seed": {text}}}')


class SavedThings:
    """What has to be on a server before: programs with large traces, a series of as many.

    post: a body to an address, and the fields of the answer
    """

    def __init__(self, post: Callable[[str, Any], dict[str, Any]]) -> None:
        self.programs = [
            str(post("/api/scenarios", {"source": source.replace("{n}", "3"), **texts})["id"])
            for source, texts in (
                (BIG, {}),
                (RANDOM, {"title": "é" * 200, "description": "<&" * 1000, "note": "http://a " * 222}),
                (CROWDED, {}),
                (NAMES_OF_ALL, {}),
                ("#" * (SIZE - 7) + "\nx = 1\n", {}),
            )
        ]
        note = "https://a.example/?b=c " * (MAX_NOTE // 23)
        items = [{"program": self.programs[k % 5], "note": note, "step": None} for k in range(MAX_PROGRAMS)]
        self.series_body = {"title": "é" * 200, "description": "<&" * 1000, "items": items}
        self.series = str(post("/api/series", self.series_body)["id"])
        answer = post("/api/runs", {"source": "x = 7\n"})
        assert answer["outcome"]["status"] == "finished"


def largest_requests(method: str, template: str, saved: SavedThings, n: int = 0) -> list[LargeRequest]:
    """The largest requests to a route.

    n: makes them others than before, where the server remembers
    """
    return [*_requests(method, template, saved, n)]


def _requests(method: str, template: str, saved: SavedThings, n: int) -> Iterator[LargeRequest]:
    key = f"{method} {template}"
    left, right = saved.programs[0], saved.programs[1]
    pair = f"left={left}&right={right}"
    if key == "POST /api/runs":
        yield from source_field("POST", "/api/runs?kept=1")
        yield LargeRequest("POST", "/api/runs", {"source": BIG.replace("{n}", "3")})
        yield LargeRequest("POST", "/api/runs", {"source": "x = 1\n", "input": "\n" * MAX_INPUT, "explain": True})
        yield LargeRequest("POST", "/api/runs", {"source": CROWDED.replace("{n}", "3"), "explain": True})
        for pipeline in pipelines():
            yield LargeRequest("POST", "/api/runs?kept=1", {"pipeline": pipeline})
    elif key == "POST /api/fixes":
        yield from source_field("POST", "/api/fixes", kind="saved_overwritten", line=4, input="")
    elif key == "POST /api/gradient-checks":
        yield from source_field("POST", "/api/gradient-checks")
    elif key == "POST /api/scenarios":
        yield from source_field("POST", "/api/scenarios", title="é" * 200, description="<&" * 1000)
        yield LargeRequest("POST", "/api/scenarios", {"source": RANDOM.replace("{n}", "3"), "note": "x" * 2000})
    elif key == "POST /api/series":
        yield LargeRequest("POST", "/api/series", {**saved.series_body, "title": f"{n}"})
        items = saved.series_body["items"] * 40  # type: ignore[operator]
        yield LargeRequest("POST", "/api/series", {**saved.series_body, "items": items})
        for text in hostile_bodies():
            yield LargeRequest("POST", "/api/series", text)
            yield LargeRequest("POST", "/api/series", f'{{"title": "x", "items": {text}}}')
    elif key == "POST /api/compare":
        for body in bodies_with_source():
            yield LargeRequest("POST", "/api/compare", {"left": body, "right": body})
        yield LargeRequest("POST", "/api/compare", {"left": {"saved": left}, "right": {"saved": right}})
        for text in hostile_bodies():
            yield LargeRequest("POST", "/api/compare", text)
    elif key == "POST /course/{name}/answers":
        yield from source_field("POST", "/course/names/answers")
    elif key == "POST /session":
        for text in (*hostile_bodies(), json.dumps({"password": "é" * (MAX_BODY // 2)})):
            yield LargeRequest("POST", "/session", text)
    elif key == "DELETE /session":
        yield LargeRequest("DELETE", "/session")
    elif key == "POST /api/scenarios/{id}/rerun":
        for id_ in saved.programs:
            yield LargeRequest("POST", f"/api/scenarios/{id_}/rerun", {})
    elif key == "DELETE /api/runs/{id}":
        yield LargeRequest("DELETE", f"/api/runs/{'x' * 20_000}")
    elif method == "GET":
        yield from (LargeRequest("GET", path) for path in _paths(template, saved, n, pair))


def _paths(template: str, saved: SavedThings, n: int, pair: str) -> Iterator[str]:
    long = quote("é" * 3000)
    if template == "/builder/palette":
        yield f"/builder/palette?{urlencode({'alive': alive(14, 2 * n), 'q': 'a ' * 50})}"
        yield f"/builder/palette?{urlencode({'alive': alive(14, 2 * n + 1)})}"
        yield f"/builder/palette?{urlencode({'alive': '[' * MAX_ALIVE})}"
    elif template == "/builder/form/{operation}":
        for operation in ("matmul", "cat", "stack", "where", "backward", "SGD", "einsum"):
            holes = {f"in.{name}": "(" * 2000 + ")" * 2000 for name in ("a", "b", "dim", "out")}
            yield f"/builder/form/{operation}?{urlencode({'alive': alive(14, n), 'out': 'x' * 4000, **holes})}"
    elif template == "/api/operations":
        yield from (f"/api/operations?lang={language}" for language in ("en", "zh"))
    elif template.startswith(("/compare.", "/compare/embed")):
        yield f"{template}?{pair}"
    elif template == "/compare":
        yield f"/compare?{pair}"
        yield f"/compare?left={long}"
    elif template == "/api/findings":
        yield from (f"/api/findings?id={id_}" for id_ in saved.programs)
    elif template == "/oembed":
        yield f"/oembed?url={long}"
        yield f"/oembed?url=http://127.0.0.1/s/{saved.programs[0]}"
    elif template == "/matrix/{cell}":
        yield "/matrix/clone.handle.leaf.contiguous.grad"
    elif "series/" in template and "{id}" in template and "stage" not in template:
        yield template.replace("{id}", saved.series).replace("{place}", str(MAX_PROGRAMS))
    elif "/runs/{id}" in template:
        yield template.replace("{id}", "x" * 20_000)
    elif "{id}" in template:
        for id_ in saved.programs:
            yield template.replace("{id}", id_)
    elif template.startswith(("/gallery/{name}", "/operations/{name}")):
        yield template.replace("{name}", "clone")
        yield template.replace("{name}", "clone_or_detach")
    elif template in ("/gallery", "/gallery/about"):
        field = "q" if template == "/gallery" else "message"
        for text in (LOOKED_UP * 40, "view " * 800, "_a" * 2000, "梯度" * 700, "Error: " * 570):
            yield f"{template}?{urlencode({field: text[:4000]})}"
    elif "{name}" in template:
        yield template.replace("{name}", "names")
    elif template == "/":
        yield "/"
        yield f"/?s={long}"
        yield "/?lang=zh"
    else:
        yield template
