"""The matrix: its page, the same cells as JSON and CSV, and the workbench with the program of one cell."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse

from server.matrix.documents import (
    cell_card_words,
    example_of_csv,
    example_of_json,
    first_properties_below_headings,
    inapplicable_properties,
    matrix_as_csv,
    matrix_as_json,
    matrix_page_groups,
    parse_cell_address,
    property_headings,
    situation_choices,
)
from server.matrix.programs import MATRIX_QUESTIONS, SITUATIONS, Situation, cell_program
from server.matrix.service import MAX_WAIT, MatrixService
from server.routes.api import TRACE_RESPONSES
from server.services import MatrixDep
from server.templating import (
    MESSAGES,
    render_constant_page,
    render_public_page,
    render_workbench_page,
    request_language,
    with_language_and_session_headers,
)
from server.wire.matrix import MatrixDocument, Measurement, Memory, Mode, Tensor
from server.wire.problems import ProblemError
from server.wire.saved_programs import Language

PAGE_MAX_WAIT = 0.5
"""Seconds that the page waits for the measurement before it shows the progress instead."""

REFRESH_SECONDS = 2
"""Seconds after which the page reloads while the matrix is being measured."""

NOT_MEASURED: dict[int | str, dict[str, Any]] = {
    304: {"description": "The client has this version already."},
    421: TRACE_RESPONSES[421],
    503: {**TRACE_RESPONSES[503], "description": "It is being measured; `Retry-After` says when to ask again."},
}
JSON_RESPONSES: dict[int | str, dict[str, Any]] = {
    **NOT_MEASURED,
    422: TRACE_RESPONSES[422],
    200: {
        "content": {"application/json": {"example": example_of_json()}},
        "description": "All cells. The example has one operation in one situation, and one property.",
    },
}
CSV_RESPONSES: dict[int | str, dict[str, Any]] = {
    **NOT_MEASURED,
    200: {
        "content": {"text/csv": {"schema": {"type": "string"}, "example": example_of_csv()}},
        "description": "A line of names, and a line for each cell. The example has one cell.",
    },
}
router = APIRouter()


@router.get("/matrix", response_class=HTMLResponse, include_in_schema=False)
async def matrix_page(
    request: Request,
    matrix: MatrixDep,
    tensor: Annotated[Tensor, Query()] = "leaf",
    memory: Annotated[Memory, Query()] = "contiguous",
    mode: Annotated[Mode, Query()] = "grad",
) -> Response:
    """What each operation does to a tensor in one of 18 situations."""
    situation, language = Situation(tensor, memory, mode), request_language(request)
    signed_in = bool(getattr(request.state, "signed_in", False))

    def render_matrix(measured: Measurement) -> bytes:
        return render_constant_page(
            request, "matrix.html", language, **matrix_page_values(measured, situation, language)
        )

    key = f"page {language} {situation.key} {signed_in}"
    try:
        response = await respond_when_measured(
            request, matrix, key, "text/html; charset=utf-8", render_matrix, PAGE_MAX_WAIT
        )
    except ProblemError as error:
        return matrix_progress_page(request, matrix, language, error)
    return with_language_and_session_headers(response, signed_in)


@router.get("/matrix.json", response_model=MatrixDocument, responses=JSON_RESPONSES, summary="The matrix of operations")
async def matrix_json(
    request: Request,
    matrix: MatrixDep,
    lang: Annotated[Language, Query(description="Of what the properties mean.", examples=["en"])] = "en",
) -> Response:
    """What copying, sharing, viewing and converting do to a tensor, asked of this server's torch in 18 situations."""

    def make_json(measured: Measurement) -> bytes:
        return matrix_as_json(measured, MESSAGES[lang])

    return await respond_when_measured(request, matrix, f"json {lang}", "application/json", make_json)


@router.get(
    "/matrix.csv", response_class=PlainTextResponse, responses=CSV_RESPONSES, summary="The matrix, a line for each cell"
)
async def matrix_csv(request: Request, matrix: MatrixDep) -> Response:
    """The same cells as `/matrix.json`."""
    return await respond_when_measured(request, matrix, "csv", "text/csv; charset=utf-8", matrix_as_csv)


@router.get("/matrix/{cell}", response_class=HTMLResponse, include_in_schema=False)
async def cell_program_page(request: Request, cell: str) -> Response:
    """The workbench with the program that answers a cell."""
    address = parse_cell_address(cell)
    if address is None:
        raise ProblemError(404, "not_found", "the matrix has no such cell", field="cell")
    row, question, situation = address
    words = MESSAGES[request_language(request)]
    values: dict[str, Any] = {
        "first": {"source": cell_program(row, question, situation).source, "trace_url": None},
        "title": row.title,
        "question": words[f"matrix_{question.name}_why"],
    }
    return render_workbench_page(request, **values)


def matrix_page_values(measured: Measurement, situation: Situation, language: str) -> dict[str, Any]:
    """The values for the template of the page."""
    groups = matrix_page_groups(measured, situation)
    return {
        "groups": groups,
        "notes": inapplicable_properties(groups),
        "questions": MATRIX_QUESTIONS,
        "headings": property_headings(),
        "first_questions": first_properties_below_headings(),
        "situation": situation,
        "choices": situation_choices(situation),
        "versions": measured.versions,
        "card_words": cell_card_words(MESSAGES[language]),
    }


def matrix_progress_page(request: Request, matrix: MatrixService, language: str, error: ProblemError) -> Response:
    """A page that shows how far the measurement is and reloads itself, or that says that there is none."""
    failed = matrix.has_failed_recently
    values = {"failed": failed, "done": matrix.situations_done, "situations": len(SITUATIONS)}
    response = render_public_page(request, "matrix_unmeasured.html", language, **values)
    response.status_code = error.status if failed else 202  # what is under way is no error in a browser's console
    response.headers["Cache-Control"] = "no-store"
    if not failed:
        response.headers["Refresh"] = str(REFRESH_SECONDS)
    return response


async def respond_when_measured(
    request: Request,
    matrix: MatrixService,
    key: str,
    media_type: str,
    make: Callable[[Measurement], bytes],
    max_wait: float = MAX_WAIT,
) -> Response:
    """The response with the body of this key, which is made once. Raises ProblemError if the matrix is not measured in
    time."""
    return (await matrix.get_response_body(key, media_type, make, max_wait)).to_response(request)
