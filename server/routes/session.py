"""Where a host asks for a password: signing in and out."""

from fastapi import APIRouter, Request, Response

from server.authentication import SESSION_PATH, Authenticator
from server.errors import Refused
from server.wire.api import Password

router = APIRouter(include_in_schema=False)


@router.post(SESSION_PATH, status_code=204)
async def begin(body: Password, request: Request) -> Response:
    """A session of this browser's."""
    authenticator: Authenticator = request.app.state.authenticator
    if not authenticator.check_password(body.password.encode("utf-8", "surrogatepass"), request.scope):
        raise Refused(401, "wrong_password", "this is not the password", field="password")
    return Response(status_code=204, headers={"Set-Cookie": authenticator.session_cookie(request.scope)})


@router.delete(SESSION_PATH, status_code=204)
async def end(request: Request) -> Response:
    authenticator: Authenticator = request.app.state.authenticator
    return Response(status_code=204, headers={"Set-Cookie": authenticator.session_cookie(request.scope, ends=True)})
