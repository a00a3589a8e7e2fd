"""Permalinks: saving a scenario, its page and its twins, and running it once more."""

import asyncio
import gzip
import json
from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse

from server import log
from server.clients import identify
from server.errors import Refused
from server.pool.cache import deterministic
from server.pool.executions import Result
from server.pool.zygote import WorkersUnavailable
from server.routes.api import ANSWERS
from server.routes.runs import start_run, trace_response, wait_for_result
from server.store.comparison import compare, load_trace, runtime_versions
from server.store.ids import canonical
from server.store.repository import Repository, SavedProgram
from server.templating import render
from server.wire.api import ProblemReply, RunRequest
from server.wire.saved_programs import Content, Rerun, SavedProgramReply
from server.wire.trace import Trace

AGE = 60
"""Seconds that a twin may be taken from a cache without asking: a host may remove it."""

LOST = ("lost", "cancelled")
"""Endings that are no picture to keep."""

router = APIRouter()
Name = Annotated[str, Path(alias="id")]

NONE: dict[int | str, dict[str, Any]] = {
    304: {"description": "It is as the asker has it."},
    404: {"model": ProblemReply, "description": "There is no such scenario."},
    410: {"model": ProblemReply, "description": "The host removed it."},
    421: ANSWERS[421],
    422: ANSWERS[422],
    503: {"model": ProblemReply, "description": "The database can't be reached, or no worker can be had."},
}
SAVING: dict[int | str, dict[str, Any]] = {
    **{status: ANSWERS[status] for status in (400, 403, 413, 415, 421, 422)},
    200: {"model": SavedProgramReply, "description": "The same content was saved before; its id is the same."},
    201: {"model": SavedProgramReply, "description": "It is saved."},
    410: NONE[410],
    429: {"model": ProblemReply, "description": "Too many runs or saves; `Retry-After` says when to come back."},
    503: NONE[503],
    507: {"model": ProblemReply, "description": "The disk quota is used up."},
}
AGAIN: dict[int | str, dict[str, Any]] = {status: told for status, told in NONE.items() if status != 304}
AGAIN |= {status: ANSWERS[status] for status in (403, 413, 415, 429)}
PROGRAM: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": {"example": "x = 1\n"}}, "description": "A program that runs."}
}


@router.post(
    "/api/scenarios", response_model=SavedProgramReply, status_code=201, responses=SAVING, summary="Save a scenario"
)
async def save(body: Content, request: Request) -> Response:
    """201 with its id and address; 200 where the same content is there already. The trace is the server's own."""
    store: Repository = request.app.state.store
    text = canonical(body)
    new, there = False, await store.find_content(text)
    if there is None:
        if body.parent is not None and not await store.exists(body.parent):
            raise Refused(422, "no_parent", "there is no such scenario to fork from", field="parent")
        request.app.state.saves.hit(identify(request.scope, request.app.state.secret, request.app.state.proxies))
        trace = await ran(request, body)
        made = runtime_versions(await asyncio.to_thread(load_trace, trace))
        id_, new = await store.save(text, trace, made)
        there = await store.find(id_)
        assert there is not None
        log.events.info("save", id=id_, bytes=len(text) + len(trace), new=new)
        if new:
            request.app.state.metrics.saved()
    told = scenario(request, there)
    return JSONResponse(told.model_dump(mode="json", by_alias=True), 201 if new else 200, {"Location": told.url})


@router.post("/api/scenarios/{id}/rerun", response_model=Rerun, responses=AGAIN, summary="Run a scenario once more")
async def rerun(request: Request, id_: Name) -> Rerun:
    """With the versions that the server has now. Says whether the result changed; what was saved stays as it is.

    Takes no body, but wants to be told that it is `application/json`, as every POST here.
    """
    there = await found(request, id_)
    body = await ran(request, there.content)
    old, new = await asyncio.to_thread(lambda: (load_trace(there.trace), load_trace(body)))
    parts, step = compare(old, new)
    return Rerun(
        id=there.id,
        changed=bool(parts),
        differs=parts,
        step=step,
        repeatable=deterministic(there.content.source),
        was=there.versions,
        now=runtime_versions(new),
    )


@router.get("/s/{id}.trace.json", response_model=Trace, responses=NONE, summary="The trace of a scenario")
async def trace(request: Request, id_: Name) -> Response:
    """As it was recorded when the scenario was saved."""
    there = await found(request, id_)
    return kept(request, there) or fresh(await trace_response(request, Result("cached", there.trace)), there)


@router.get("/s/{id}.json", response_model=SavedProgramReply, responses=NONE, summary="A scenario without its trace")
async def one(request: Request, id_: Name) -> Response:
    there = await found(request, id_)
    told = scenario(request, there).model_dump(mode="json", by_alias=True)
    return kept(request, there) or fresh(JSONResponse(told), there)


@router.get(
    "/s/{id}.py", response_class=PlainTextResponse, responses={**NONE, **PROGRAM}, summary="The program, to be run"
)
async def program(request: Request, id_: Name) -> Response:
    """Without prompts and printed output; title, description and address as comments."""
    there = await found(request, id_)
    known = kept(request, there)
    if known is not None:
        return known
    text = await asyncio.to_thread(script, there, address(request, there.id))
    name = f'inline; filename="{there.id}.py"'
    return fresh(Response(text, media_type="text/plain; charset=utf-8", headers={"Content-Disposition": name}), there)


@router.get("/s/{id}", response_class=HTMLResponse, include_in_schema=False)
async def page(request: Request, id_: Name) -> Response:
    """The workbench with a scenario and its stored trace; needs no worker."""
    there = await found(request, id_)
    told = scenario(request, there)
    body = (await asyncio.to_thread(gzip.decompress, there.trace)).decode()
    saved = json.dumps(told.model_dump(mode="json", by_alias=True, exclude={"source"}))
    first = f'{{"source":{json.dumps(told.source)},"trace":{body},"saved":{saved}}}'
    named: dict[str, Any] = {"title": told.title, "question": told.description, "saved": told}
    named["now"] = request.app.state.pool.zygote.versions.get("torch")
    base = public(request)
    if base:
        named |= {"place": told.url, "oembed": f"{base}/oembed?{urlencode({'url': told.url})}"}
    answer = render(request, "page.html", first=first, devices=request.app.state.pool.devices, **named)
    answer.headers.setdefault("Cache-Control", "private, no-cache")
    return answer


async def found(request: Request, id_: str) -> SavedProgram:
    """Raises Refused, Removed, Unreachable."""
    there: SavedProgram | None = await request.app.state.store.find(id_)
    if there is None:
        raise Refused(404, "no_scenario", "there is no such scenario", field="id")
    return there


async def ran(request: Request, content: Content) -> bytes:
    """The server's own trace of it, gzipped; from before where it has one. Raises what `start_run` does."""
    how = content.settings
    wanted = RunRequest(source=content.source, device=how.device, seed=how.seed, focus=how.focus)
    result = await wait_for_result(request, await start_run(request, wanted))
    assert result is not None
    if result.status in LOST:
        raise WorkersUnavailable("the run was lost; try again")
    return result.body


def scenario(request: Request, there: SavedProgram) -> SavedProgramReply:
    created = datetime.fromtimestamp(there.created / 1000, UTC).isoformat(timespec="milliseconds")
    shown: dict[str, Any] = {name: getattr(there.content, name) for name in Content.model_fields}
    url = address(request, there.id)
    return SavedProgramReply(**shown, id=there.id, url=url, created=created, versions=there.versions)


def address(request: Request, id_: str) -> str:
    """Of its page; never of the Host that the asker named."""
    return f"{public(request) or request.scope['root_path']}/s/{id_}"


def public(request: Request) -> str:
    """What all our addresses begin with elsewhere; "" where the host has not said it."""
    url: str = request.app.state.settings.public_url
    return url.rstrip("/")


def tag(there: SavedProgram, drawn: str = "") -> str:
    """A content's trace is one thing, and changes with neither; weak, for it goes out packed and unpacked.

    drawn: the version of the code that draws, where it is a drawing.
    """
    return f'W/"{there.digest[:20]}-{there.created}{drawn}"'


def kept(request: Request, there: SavedProgram, drawn: str = "") -> Response | None:
    """304, where the asker has it."""
    asked = [one.strip() for one in request.headers.get("if-none-match", "").split(",")]
    return fresh(Response(status_code=304), there, drawn) if tag(there, drawn) in asked else None


def fresh(answer: Response, there: SavedProgram, drawn: str = "") -> Response:
    answer.headers["ETag"] = tag(there, drawn)
    answer.headers["Cache-Control"] = f"public, max-age={AGE}"
    return answer


def script(there: SavedProgram, place: str) -> str:
    """The program as it ran, under comments that can be nothing but comments."""
    source: str = load_trace(there.trace)["program"]["source"]
    how = there.content.settings
    words = [there.content.title, there.content.description, there.content.note]
    lines = [line for word in words for line in word.splitlines()]
    made = there.versions
    lines += [place, f"torch {made.torch}, numpy {made.numpy}, Python {made.python}; seed {how.seed}, {how.device}"]
    # the first line says the encoding, so that no title can
    return "".join(f"# {plain(line)}\n" for line in ["coding: utf-8", *lines]) + "\n" + source.rstrip("\n") + "\n"


def plain(line: str) -> str:
    """Without what moves a terminal's cursor, turns a line round or ends it."""
    return "".join(character if character.isprintable() else " " for character in line).rstrip()
