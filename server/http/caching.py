"""Conditional requests: the entity tags of what a saved program is answered as."""

from fastapi import Request, Response

from server.store.repository import SavedProgram

MAX_AGE = 60
"""Seconds for which a cache need not ask again. Short, for a host may remove a program."""


def entity_tag(program: SavedProgram, assets: str = "") -> str:
    """A weak tag, for the body goes out compressed and not. assets: the version of the code that draws it, if any does."""
    return f'W/"{program.digest[:20]}-{program.created}{assets}"'


def not_modified(request: Request, program: SavedProgram, assets: str = "") -> Response | None:
    """The response 304 where the client has this version already."""
    tags = [tag.strip() for tag in request.headers.get("if-none-match", "").split(",")]
    if entity_tag(program, assets) not in tags:
        return None
    return cacheable(Response(status_code=304), program, assets)


def cacheable(response: Response, program: SavedProgram, assets: str = "") -> Response:
    """The response with its tag and its age."""
    response.headers["ETag"] = entity_tag(program, assets)
    response.headers["Cache-Control"] = f"public, max-age={MAX_AGE}"
    return response
