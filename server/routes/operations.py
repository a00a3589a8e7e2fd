"""`GET /api/operations`: the catalogue of operations that programs are built of."""

import functools
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from server.http.constant_response import ConstantBody
from server.operations.catalogue import catalogue
from server.routes.api import TRACE_RESPONSES
from server.wire.operations import Operations
from server.wire.saved_programs import Language

router = APIRouter(prefix="/api")


def shortened_catalogue() -> dict[str, Any]:
    """The answer with one operation and the kind of its operand."""
    whole = catalogue("en")
    clone = next(operation for operation in whole.operations if operation.name == "clone")
    kinds = [row for row in whole.kinds if row.kind == clone.operands[0].kind]
    return Operations(operations=[clone], kinds=kinds).model_dump(exclude_none=True)


RESPONSES: dict[int | str, dict[str, Any]] = {
    **{status: TRACE_RESPONSES[status] for status in (421, 422)},
    200: {
        "content": {"application/json": {"example": shortened_catalogue()}},
        "description": "All operations, group by group. The example has one of them.",
    },
    304: {"description": "The client has this version already."},
}


@router.get("/operations", response_model=Operations, responses=RESPONSES, summary="Operations to build programs of")
async def operations(
    request: Request,
    lang: Annotated[Language, Query(description="Of the sentences.", examples=["en"])] = "en",
) -> Response:
    """Each with a template of source text, its operands, one sentence, its siblings, and a program in which it runs.

    A hole of a template is the name of an operand in braces, or `{out}`: the name of the result.
    """
    return catalogue_body(lang).response(request)


@functools.cache
def catalogue_body(language: Language) -> ConstantBody:
    """The catalogue as JSON."""
    body = catalogue(language).model_dump_json(exclude_none=True).encode()
    return ConstantBody.of(body, "application/json")
