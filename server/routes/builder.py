"""The builder: the catalogue of operations, the palette for a place in the program, and the form of one operation."""

import functools
from dataclasses import dataclass
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import ValidationError

from server.http.fair_work_scheduler import work_in_thread
from server.http.responses import CachedResponseBody
from server.operations.card_form import create_card_form, propose_result_name
from server.operations.catalogue import TABLES, create_catalogue, operation_sentences
from server.operations.operand_kinds import OperationRow
from server.operations.shape_rules import ShapeMismatch
from server.routes.api import TRACE_RESPONSES
from server.templating import render_public_page, request_language
from server.wire.operations import AliveName, Operations, Place
from server.wire.problems import ProblemError
from server.wire.saved_programs import Language

router = APIRouter()


def example_of_catalogue() -> dict[str, Any]:
    """An example of the reply, with one operation and the kind of its operand."""
    whole = create_catalogue("en")
    clone = next(operation for operation in whole.operations if operation.name == "clone")
    kinds = [row for row in whole.kinds if row.kind == clone.operands[0].kind]
    return Operations(operations=[clone], kinds=kinds).model_dump(exclude_none=True)


RESPONSES: dict[int | str, dict[str, Any]] = {
    **{status: TRACE_RESPONSES[status] for status in (421, 422)},
    200: {
        "content": {"application/json": {"example": example_of_catalogue()}},
        "description": "All operations, group by group. The example has one of them.",
    },
    304: {"description": "The client has this version already."},
}


@router.get(
    "/api/operations", response_model=Operations, responses=RESPONSES, summary="Operations to build programs of"
)
async def get_operations(
    request: Request,
    lang: Annotated[Language, Query(description="Of the sentences.", examples=["en"])] = "en",
) -> Response:
    """Each with a template of source text, its operands, one sentence, its siblings, and a program in which it runs.

    A hole of a template is the name of an operand in braces, or `{out}`: the name of the result.
    """
    return catalogue_body(lang).to_response(request)


@functools.cache
def catalogue_body(language: Language) -> CachedResponseBody:
    """The catalogue in a language, as JSON."""
    body = create_catalogue(language).model_dump_json(exclude_none=True).encode()
    return CachedResponseBody.from_bytes(body, "application/json")


MAX_ALIVE = 12_000
"""Characters of all names that a request may send."""

MAX_SIBLINGS = 5
MAX_PROPOSED = 8
"""How many of the nearest names the palette tries as operands. A form offers all names."""

GROUP_AND_ROW_BY_NAME = {row.name: (group, row) for group, rows in TABLES.items() for row in rows}
SENTENCES: dict[str, dict[str, str]] = {language: operation_sentences(language) for language in get_args(Language)}

Alive = Annotated[str, Query(max_length=MAX_ALIVE)]


@router.get("/builder/palette", response_class=HTMLResponse, include_in_schema=False)
async def get_palette(
    request: Request, alive: Alive = "[]", q: Annotated[str, Query(max_length=100)] = "", line: int = 0
) -> Response:
    """The operations that a search finds, each with likely operands filled in.

    line: the line below which the card is added
    """
    return await work_in_thread(render_palette, request, alive, q, line)


def render_palette(request: Request, alive: str, q: str, line: int) -> Response:
    """The palette. Raises ProblemError."""
    language, place = request_language(request), palette_place(alive)
    matching: dict[str, list[OperationRow]] = {
        group: [row for row in rows if matches_search(row, group, q)] for group, rows in TABLES.items()
    }
    found = [
        (group, [place.propose_entry(group, row) for row in rows])
        for group, rows in sort_exact_match_first(matching, q)
        if rows
    ]
    return render_public_page(
        request,
        "partials/_palette.html",
        language,
        groups=found,
        count=sum(len(entries) for _, entries in found),
        total=len(GROUP_AND_ROW_BY_NAME),
        sentences=SENTENCES[language],
        q=q,
        line=line,
    )


@router.get("/builder/form/{operation}", response_class=HTMLResponse, include_in_schema=False)
async def get_card_form(
    request: Request, operation: Annotated[str, Path(max_length=60)], alive: Alive = "[]", line: int = 0
) -> Response:
    """The form of an operation. The reader's choices are sent as `in.HOLE` and `out`."""
    if operation not in GROUP_AND_ROW_BY_NAME:
        raise ProblemError(404, "not_found", "there is no such operation", field="operation")
    group, row = GROUP_AND_ROW_BY_NAME[operation]
    query = request.query_params
    written = {hole.name: query[f"in.{hole.name}"].strip() for hole in row.holes if f"in.{hole.name}" in query}
    made = create_card_form(
        row, group, parse_alive_names(alive), written, query["out"].strip() if "out" in query else None
    )
    language = request_language(request)
    siblings = [GROUP_AND_ROW_BY_NAME[name][1] for name in row.siblings[:MAX_SIBLINGS]]
    context: dict[str, Any] = {"form": made, "siblings": siblings, "sentence": SENTENCES[language][row.name]}
    return render_public_page(request, "partials/_card_form.html", language, **context, line=line)


def parse_alive_names(text: str) -> list[AliveName]:
    """Parse the names that a request sends. Raises ProblemError if they are invalid."""
    try:
        return Place.model_validate_json(f'{{"alive": {text}}}').alive
    except ValidationError as error:
        raise ProblemError(422, "invalid", "the names are no list of names", field="alive") from error


@dataclass(frozen=True)
class PaletteEntry:
    """What the palette shows of an operation's form. The form itself consists of a thousand times as many objects."""

    row: OperationRow
    statement: str
    statement_with_gaps: str
    problem: ShapeMismatch | None


class PalettePlace:
    """A place in a program, for which operations are proposed once each.

    names: those alive there
    """

    def __init__(self, names: list[AliveName]) -> None:
        self._near, self._taken = names[:MAX_PROPOSED], {name.name for name in names}
        self._entries: dict[str, PaletteEntry] = {}

    def propose_entry(self, group: str, row: OperationRow) -> PaletteEntry:
        """The operation with likely operands."""
        if row.name not in self._entries:
            form = create_card_form(row, group, self._near, {}, propose_result_name(group, self._taken))
            self._entries[row.name] = PaletteEntry(row, form.statement, form.statement_with_gaps, form.problem)
        return self._entries[row.name]


@functools.lru_cache(maxsize=64)
def palette_place(alive: str) -> PalettePlace:
    """The place with these names, shared by all letters of a search. Raises ProblemError."""
    return PalettePlace(parse_alive_names(alive))


def sort_exact_match_first(found: dict[str, list[OperationRow]], q: str) -> list[tuple[str, list[OperationRow]]]:
    """Sort the groups found by a search so that the operation with exactly this name, and its group, come first."""
    name = q.strip().lower()
    groups = [(group, sorted(rows, key=lambda row: row.name != name)) for group, rows in found.items()]
    return sorted(groups, key=lambda entry: all(row.name != name for row in entry[1]))


def matches_search(row: OperationRow, group: str, q: str) -> bool:
    """Whether every word of a search occurs in the operation's name, template, group or sentences."""
    texts = (row.name, row.template, group, *(SENTENCES[language][row.name] for language in SENTENCES))
    whole = "\n".join(texts).lower()
    return all(word in whole for word in q.lower().split())
