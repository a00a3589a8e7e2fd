"""Signing in and out, where the host requires a password."""

from fastapi import APIRouter, Request, Response

from gradbox.wire.api import Password
from server.http.json_body import JsonRoute
from server.middleware import SESSION_PATH
from server.services import VisitorsDep
from server.wire.problems import ProblemError

router = APIRouter(include_in_schema=False, route_class=JsonRoute)


@router.post(SESSION_PATH, status_code=204)
async def sign_in(body: Password, request: Request, visitors: VisitorsDep) -> Response:
    """Begin a session of this browser."""
    authenticator = visitors.authenticator
    if not await authenticator.check_password(body.password.encode("utf-8", "surrogatepass"), request.scope):
        raise ProblemError(401, "wrong_password", "the password is wrong", field="password")
    return Response(status_code=204, headers={"Set-Cookie": authenticator.session_cookie_header(request.scope)})


@router.delete(SESSION_PATH, status_code=204)
async def sign_out(request: Request, visitors: VisitorsDep) -> Response:
    """End the session of this browser."""
    cookie = visitors.authenticator.session_cookie_header(request.scope, ends=True)
    return Response(status_code=204, headers={"Set-Cookie": cookie})
