"""Bodies of requests are read by pydantic's own JSON parser: of the same hostile body it makes objects in a third of
the time of Python's, and for that long nothing else is answered."""

import json
import re
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic_core import from_json

_SURROGATES_PATTERN = re.compile(
    rb"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
"""An escaped backslash or a pair of surrogates, as a group; or a surrogate that stands alone."""


_LONE_SURROGATE = ("surrogate", "hex escape")
_BOUNDS = ("recursion", "out of range", "unicode")
"""Words of the parser's messages: for a surrogate that stands alone; for JSON that it does not take."""


class JsonRequest(Request):
    """A request whose body is JSON. A lone surrogate, which is no character, is read as a question mark."""

    async def json(self) -> Any:
        """The body's value.

        Raises:
            json.JSONDecodeError: it is not JSON
        """
        if not hasattr(self, "_json"):
            self._json = parse_json(await self.body())
        return self._json


class JsonRoute(APIRoute):
    """A route that takes JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_json(request: Request) -> Response:
            return await handle(JsonRequest(request.scope, request.receive))

        return handle_json


def parse_json(body: bytes) -> Any:
    """The value of JSON in UTF-8, -16 or -32.

    Raises:
        json.JSONDecodeError: it is not JSON
        ValueError: it is nested too deeply, has a number that is too large, or bytes that are no text
    """
    encoding = json.detect_encoding(body)
    if encoding != "utf-8":
        body = body.decode(encoding).encode("utf-8", "replace")
    try:
        return from_json(body, cache_strings="none")
    except ValueError as error:
        if not any(words in str(error) for words in _LONE_SURROGATE):
            raise _body_parsing_error(error) from None
    try:
        return from_json(_SURROGATES_PATTERN.sub(lambda match: match[1] or b"?", body), cache_strings="none")
    except ValueError as error:
        raise _body_parsing_error(error) from None


def _body_parsing_error(error: ValueError) -> ValueError:
    is_bound = any(words in str(error) for words in _BOUNDS)
    return error if is_bound else json.JSONDecodeError(str(error), "", 0)
