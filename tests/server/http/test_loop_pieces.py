"""Nothing that a visitor can ask keeps the event loop: every route, with the largest requests it takes, cold and
warm."""

import http.client
import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel, ValidationError
from starlette.routing import Route

from gradbox.wire.api import PipelineItem
from gradbox.wire.base import MAX_FIELDS, RequestModel
from server.app import create_app
from server.settings import Settings
from tests.forks.forked_server import ForkedMeasuredServer
from tests.server.http import loop_pieces
from tests.server.http.largest_requests import SavedThings, largest_requests
from tests.server.http.loop_pieces import MAX_SECONDS, VARIABLE, read_pieces

pytestmark = pytest.mark.slow

PASSWORD = "a password of the sweep"
FREE = dict.fromkeys(
    (
        *("request_limit", "picture_limit", "rate_limit", "address_limit"),
        *("save_limit", "save_address_limit", "password_limit"),
    ),
    "1000000/minute",
)
APP = create_app(Settings({}, password=PASSWORD))
ROUTES = sorted(
    (method, route.path)
    for route in [*APP.state.routes, *(route for route in APP.routes if getattr(route, "path", "").endswith(".json"))]
    if isinstance(route, Route)
    for method in route.methods or ()
    if method != "HEAD"
)


def request_models() -> Iterator[type[BaseModel]]:
    """The models that requests are made into, and those in their fields."""
    found = [body.field_info.annotation for route in APP.state.routes for body in route.dependant.body_params]
    for model in found:
        yield model
        for field in model.model_fields.values():
            nested = [field.annotation]
            for kind in nested:
                nested += get_args(kind)
                if isinstance(kind, type) and issubclass(kind, BaseModel) and kind not in found:
                    found.append(kind)


def test_every_request_model_bounds_its_fields() -> None:
    """Pydantic makes a report of each field that it does not know."""
    models = [*request_models()]
    assert len(models) > 8
    assert [model for model in models if not issubclass(model, RequestModel)] == []


@pytest.mark.parametrize("fields", [MAX_FIELDS, MAX_FIELDS + 1])
def test_a_dictionary_in_a_request_bounds_its_fields(fields: int) -> None:
    item = {"operation": "clone", "operands": {f"a{k}": k for k in range(fields)}}
    if fields <= MAX_FIELDS:
        assert len(PipelineItem.model_validate(item).operands) == fields
    else:
        with pytest.raises(ValidationError, match=f"it has {fields} fields") as refusal:
            PipelineItem.model_validate(item)
        assert refusal.value.error_count() == 1


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("pieces") / "pieces"
    os.environ[VARIABLE] = str(path)
    yield path
    del os.environ[VARIABLE]


class Client:
    """A visitor of a server who knows its password."""

    def __init__(self, port: int) -> None:
        self._port = port

    def ask(self, method: str, path: str, text: str | None = None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        headers = {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {PASSWORD}",
            "Accept-Encoding": "gzip",
        }
        try:
            connection.request(method, path, text and text.encode(), headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def post(self, path: str, body: Any) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {PASSWORD}"}
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        connection.request("POST", path, json.dumps(body), headers)
        answer = connection.getresponse()
        fields: dict[str, Any] = json.loads(answer.read())
        connection.close()
        assert answer.status in (200, 201), fields
        return fields


@dataclass
class Sweep:
    """A server, what is saved there, and the file of its pieces."""

    client: Client
    saved: SavedThings
    path: Path

    def long_pieces(self, method: str, template: str) -> dict[str, str]:
        """What kept the loop for too long while the largest requests to a route were answered, by the work."""
        requests = [request for n in range(2) for request in largest_requests(method, template, self.saved, n)]
        assert requests, f"tests/server/http/largest_requests.py has no request to {method} {template}"
        self.path.unlink(missing_ok=True)
        statuses = [self.client.ask(request.method, request.path, request.text)[0] for request in requests]
        assert not {status for status in statuses if status >= 500} - {501, 503}, statuses
        return {piece.work: str(piece) for piece in read_pieces(self.path) if piece.compared_seconds > MAX_SECONDS}


@contextmanager
def started(path: Path) -> Iterator[Sweep]:
    with ForkedMeasuredServer((loop_pieces.install,), password=PASSWORD, **FREE) as server:
        client = Client(server.port)
        yield Sweep(client, SavedThings(client.post), path)


@pytest.fixture(scope="module")
def sweeps(pieces: Path) -> Iterator[Callable[[int], Sweep]]:
    """The servers by number, each started when it is asked for: of all routes, as one takes seconds to fill."""
    with ExitStack() as servers:
        yield cache(lambda _: servers.enter_context(started(pieces)))


@pytest.mark.parametrize(("method", "template"), ROUTES, ids=lambda part: str(part))
def test_no_route_keeps_the_event_loop(method: str, template: str, sweeps: Callable[[int], Sweep]) -> None:
    """What is long by itself is so in every server that nobody has asked for it; what others on the machine made long,
    is not."""
    long = sweeps(0).long_pieces(method, template)
    for n in (1, 2):
        if long:
            again = sweeps(n).long_pieces(method, template)
            long = {work: again[work] for work in long.keys() & again.keys()}
    assert not long, list(long.values())
