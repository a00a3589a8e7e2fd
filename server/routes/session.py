"""Where a host asks for a password: signing in and out."""

from fastapi import APIRouter, Request, Response

from server.authentication import SESSION, Door
from server.errors import Refused
from server.wire.api import Password

router = APIRouter(include_in_schema=False)


@router.post(SESSION, status_code=204)
async def begin(body: Password, request: Request) -> Response:
    """A session of this browser's."""
    door: Door = request.app.state.door
    if not door.fits(body.password.encode("utf-8", "surrogatepass"), request.scope):
        raise Refused(401, "wrong_password", "this is not the password", field="password")
    return Response(status_code=204, headers={"Set-Cookie": door.cookie(request.scope)})


@router.delete(SESSION, status_code=204)
async def end(request: Request) -> Response:
    door: Door = request.app.state.door
    return Response(status_code=204, headers={"Set-Cookie": door.cookie(request.scope, ends=True)})
