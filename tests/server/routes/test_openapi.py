"""The interface under bad requests: generated from its own description, and malformed ones written by hand."""

import json
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.configuration import set_hypothesis_home_dir
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks
from schemathesis.specs.openapi.checks import response_schema_conformance

from gradbox.wire.api import ProblemReply
from gradbox.wire.findings import ExplainedTrace
from gradbox.wire.trace import Trace
from tests.forks import prepared_zygotes
from tests.forks.forked_server import ForkedServer
from tests.matrix.measured_matrix import give_measurement
from tests.support.waiting import PATIENCE, PATIENT, wait_for_answer, wait_until

pytestmark = pytest.mark.slow

JSON = {"Content-Type": "application/json"}
RUNS = "/api/runs"
FREE = {
    f"GRADBOX_{name}": "1000000/minute"
    for name in ("REQUEST_LIMIT", "PICTURE_LIMIT", "RATE_LIMIT", "ADDRESS_LIMIT", "SAVE_LIMIT", "SAVE_ADDRESS_LIMIT")
}
BOUNDS = {"GRADBOX_SOURCE": "2000", **{f"GRADBOX_{name.upper()}": str(value) for name, value in PATIENT.items()}}

load_all_checks()


class Answer:
    """What came back: status, headers by name in lower case, body without its chunks."""

    def __init__(self, data: bytes) -> None:
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        self.status = int(first.split()[1])
        self.headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        if self.headers.get("transfer-encoding") == "chunked":
            parts = []
            while body:
                size, _, rest = body.partition(b"\r\n")
                if not int(size, 16):
                    break  # another response may follow
                parts.append(rest[: int(size, 16)])
                body = rest[int(size, 16) + 2 :]
            body = b"".join(parts)
        self.body = body

    def json(self) -> Any:
        return json.loads(self.body)


class Site:
    """A server by itself, whose rates are no limit here, and its log."""

    def __init__(self, log: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.log = log
        self.host, self.address = f"127.0.0.1:{self.port}", f"http://127.0.0.1:{self.port}"
        own = {"GRADBOX_DATA": str(log.parent), "GRADBOX_PUBLIC_URL": self.address}
        with log.open("wb") as file:
            environment = prepared_zygotes.environment(**FREE, **BOUNDS, **own)
            self.server = ForkedServer(["serve", "--port", str(self.port)], environment, stderr=file)
        wait_for_answer(f"{self.address}/readyz")

    def close(self) -> None:
        self.server.terminate()
        self.server.wait(PATIENCE)

    def raw(self, data: bytes) -> Answer:
        """Whatever is sent, and what comes until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as connection:
            connection.sendall(data)
            parts = []
            while part := connection.recv(1 << 16):
                parts.append(part)
        return Answer(b"".join(parts))

    def ask(self, method: str, path: str, headers: dict[str, str] | None = None, body: bytes = b"") -> Answer:
        """Latin-1 in path and headers goes out as it is."""
        sent = {"Host": self.host, "Connection": "close", **(headers or {})}
        if body:
            sent.setdefault("Content-Length", str(len(body)))
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items()), "", ""]
        return self.raw("\r\n".join(lines).encode("latin-1") + body)

    def post(self, body: bytes | str, headers: dict[str, str] = JSON) -> Answer:
        return self.ask("POST", RUNS, headers, body.encode() if isinstance(body, str) else body)

    def start_run(self, source: str) -> str:
        """The id of a run that goes on by itself."""
        answer = self.post(json.dumps({"source": source}), {**JSON, "Prefer": "respond-async"})
        assert answer.status == 202, answer.body
        return str(answer.json()["id"])

    def over(self, source: str) -> str:
        """The id of a run that is over."""
        run = self.start_run(source)
        wait_until(lambda: self.ask("GET", f"{RUNS}/{run}").status == 200)
        return run


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    set_hypothesis_home_dir(tmp_path_factory.mktemp("hypothesis"))  # else it makes a directory here
    site = Site(tmp_path_factory.mktemp("site") / "log")
    give_measurement(site.log.parent, tmp_path_factory)
    yield site
    site.close()
    log = site.log.read_text("utf-8", "replace")
    assert "Traceback" not in log and "never retrieved" not in log, log[-5000:]


@pytest.fixture(scope="module")
def described(site: Site) -> dict[str, Any]:
    document: dict[str, Any] = site.ask("GET", "/api/openapi.json").json()
    return document


def shaped(status: int, body: bytes) -> str:
    """An error's code; that it has the one shape is sure then."""
    assert 400 <= status < 500, (status, body[:500])
    error = ProblemReply.model_validate_json(body).error
    assert re.fullmatch("[a-z_]+", error.code)
    assert len(error.message) > 8
    return error.code


OPERATIONS = [
    ("POST", RUNS, 80),
    ("GET", f"{RUNS}/{{id}}", 15),
    ("DELETE", f"{RUNS}/{{id}}", 15),
    ("GET", f"{RUNS}/{{id}}/events", 15),
    ("GET", f"{RUNS}/{{id}}/steps", 15),
    ("GET", "/api/findings", 10),
    ("POST", "/api/fixes", 10),
    ("POST", "/api/gradient-checks", 10),
    ("GET", "/api/operations", 10),
    ("GET", "/operations/{name}.svg", 5),
    ("POST", "/api/compare", 20),
    ("GET", "/compare.json", 10),
    ("GET", "/compare.svg", 10),
    ("GET", "/compare.png", 10),
    ("GET", "/compare.html", 10),
    ("GET", "/api/schema", 3),
    ("GET", "/matrix.json", 5),
    ("GET", "/matrix.csv", 3),
    ("POST", "/api/scenarios", 60),
    ("POST", "/api/scenarios/{id}/rerun", 15),
    ("GET", "/s/{id}.json", 10),
    ("GET", "/s/{id}.trace.json", 10),
    ("GET", "/s/{id}.py", 10),
    ("GET", "/s/{id}.svg", 10),
    ("GET", "/s/{id}.png", 10),
    ("GET", "/s/{id}.card.png", 10),
    ("GET", "/s/{id}.film.{ending}", 10),
    ("GET", "/s/{id}.md", 10),
    ("GET", "/s/{id}.html", 10),
    ("POST", "/api/series", 30),
    ("GET", "/series/{id}.json", 10),
    ("GET", "/series/{id}.html", 10),
    ("GET", "/oembed", 15),
    ("GET", "/healthz", 3),
    ("GET", "/readyz", 3),
    ("GET", "/metrics", 3),
]


def test_every_operation_is_tried(described: dict[str, Any]) -> None:
    known = {(method.upper(), path) for path, methods in described["paths"].items() for method in methods}
    assert known == {(method, path) for method, path, _ in OPERATIONS}


def printed_examples(described: dict[str, Any], path: str) -> list[dict[str, Any]]:
    """The bodies that the document prints for a POST: of the whole, and what its fields' own examples make together."""
    schema = described["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    if "$ref" in schema:
        schema = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    fields = {name: field["examples"][0] for name, field in schema["properties"].items() if "examples" in field}
    exclusive = {name for choice in schema.get("oneOf", ()) for name in choice["required"]}
    together = {name: value for name, value in fields.items() if name not in exclusive}
    choices = [{**together, name: fields[name]} for name in sorted(exclusive)] or [together]
    return [*schema.get("examples", []), *choices]


POSTS = [path for method, path, _ in OPERATIONS if method == "POST" and "{" not in path]


@pytest.mark.parametrize("path", POSTS)
def test_printed_examples_work_as_they_are(site: Site, described: dict[str, Any], path: str) -> None:
    if path == "/api/series":  # its example is a series of the program that is saved as an example
        for program in printed_examples(described, "/api/scenarios"):
            assert site.ask("POST", "/api/scenarios", JSON, json.dumps(program).encode()).status in (200, 201)
    for example in printed_examples(described, path):
        answer = site.ask("POST", path, JSON, json.dumps(example).encode())
        assert answer.status in (200, 201), (example, answer.body[:500])
        reply = answer.json()
        assert reply.get("status", "finished") == reply.get("outcome", {}).get("status", "finished") == "finished", (
            example
        )
        assert reply.get("fixes") != [], example


REQUESTS = [
    *((*operation, GenerationMode.POSITIVE) for operation in OPERATIONS),
    *(("POST", path, 80, GenerationMode.NEGATIVE) for path in (RUNS, "/api/scenarios")),
]
FEW = 15
"""Examples of one operation in the sample; all of them begin with these."""


@pytest.mark.parametrize(
    ("method", "path", "examples", "mode"),
    [
        *((method, path, min(examples, FEW), mode) for method, path, examples, mode in REQUESTS),
        *(pytest.param(*request, marks=pytest.mark.exhaustive) for request in REQUESTS if request[2] > FEW),
    ],
)
def test_requests_made_of_the_description(
    site: Site, described: dict[str, Any], method: str, path: str, examples: int, mode: GenerationMode
) -> None:
    """What it allows, or what it does not: never our failure, always the one shape, a trace where it promises one."""
    operation = schemathesis.openapi.from_dict(described)[path][method]
    while path.startswith("/matrix") and site.ask("GET", path).status == 503:
        pass  # it answers after some seconds, until all is measured
    with requests.Session() as session:
        session.trust_env = False

        @settings(
            max_examples=examples,
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def hold(case: schemathesis.Case[Any]) -> None:
            answer = case.call(base_url=site.address, session=session, timeout=PATIENCE)
            if (path, answer.status_code) == ("/oembed", 501):  # as its standard has it, for a format that we have not
                ProblemReply.model_validate_json(answer.content)
            elif answer.status_code >= 400:
                shaped(answer.status_code, answer.content)
            elif path == RUNS and answer.status_code != 204:  # nothing was there, and nothing was to be run
                ExplainedTrace.model_validate_json(answer.content)
                case.validate_response(answer, checks=[response_schema_conformance])

        hold()


def test_a_check_of_schemathesis_can_fail(site: Site, described: dict[str, Any]) -> None:
    """Where the description promised another answer, it would be said."""
    promised = json.loads(json.dumps(described))
    words = {"application/json": {"schema": {"type": "object", "required": ["nothing"]}}}
    promised["paths"]["/healthz"]["get"]["responses"]["200"]["content"] = words
    case = schemathesis.openapi.from_dict(promised)["/healthz"]["GET"].Case()
    answer = case.call(base_url=site.address, timeout=PATIENCE)
    with pytest.raises(schemathesis.core.failures.FailureGroup):
        case.validate_response(answer, checks=[response_schema_conformance])


NINES = "9" * 4000
BODIES: dict[str, tuple[str | bytes, int, str | None]] = {
    "nothing": (b"", 422, "invalid"),
    "half of it": ('{"source": "x', 422, "invalid"),
    "words": ("hello", 422, "invalid"),
    "two of them": ('{"source": "x"} {"source": "y"}', 422, "invalid"),
    "a list": ("[]", 422, "invalid"),
    "null": ("null", 422, "invalid"),
    "a number": ("1", 422, "invalid"),
    "a text": ('"x"', 422, "invalid"),
    "no field": ("{}", 422, "invalid"),
    "a field nobody knows": ('{"source": "x", "more": 1}', 422, "invalid"),
    "a thousand fields": (json.dumps({"source": "x", **{f"k{k}": k for k in range(1000)}}), 422, "invalid"),
    "a long field": (json.dumps({"source": "x", "k" * 5000: 1}), 422, "invalid"),
    "a field of half a character": (r'{"source": "x", "\ud800": 1}', 422, "invalid"),
    "a field of half a character, inside": (r'{"source": "x", "focus": {"counts": {"\udfff": 1}}}', 422, "invalid"),
    "a field of zero": (r'{"source": "x", "\u0000": 1}', 422, "invalid"),
    "a field of the prototype": ('{"source": "x", "__proto__": {"a": 1}}', 422, "invalid"),
    "half a character for a device": (r'{"source": "x", "device": "\ud800"}', 422, "invalid"),
    "half a character for a storage": (r'{"source": "x", "focus": {"storage": "\ud8"}}', 422, "invalid"),
    "half a character in a program": (r'{"source": "x = \"\ud800\""}', 200, None),
    "zero in a program": (r'{"source": "x = 1\u0000"}', 200, None),
    "the same field twice": ('{"source": "1/0", "source": "x = 1"}', 200, None),
    "a source that is none": ('{"source": null}', 422, "invalid"),
    "a source that is a tree": ('{"source": {"$ne": 1}}', 422, "invalid"),
    "a negative seed": ('{"source": "x", "seed": -1}', 422, "invalid"),
    "the largest seed": ('{"source": "x = 1", "seed": 4294967295}', 200, None),
    "a seed too large": ('{"source": "x", "seed": 4294967296}', 422, "invalid"),
    "a seed of 4,000 digits": (f'{{"source": "x", "seed": {NINES}}}', 422, "invalid"),
    "a seed of 9,000 digits": (f'{{"source": "x", "seed": {"9" * 9000}}}', 400, "bad_request"),
    "a seed beyond all numbers": ('{"source": "x", "seed": 1e999}', 422, "invalid"),
    "a seed that is no number": ('{"source": "x", "seed": NaN}', 422, "invalid"),
    "half a seed": ('{"source": "x", "seed": 0.5}', 422, "invalid"),
    "a wrong device": ('{"source": "x", "device": "cpu:0"}', 422, "invalid"),
    "a focus on nothing": ('{"source": "x", "focus": {}}', 422, "invalid"),
    "a focus on half of it": ('{"source": "x", "focus": {"loop": 1}}', 422, "invalid"),
    "a focus on two things": ('{"source": "x", "focus": {"counts": {"1": 1}, "loop": 1, "iteration": 1}}', 422, "invalid"),
    "a focus far away": (f'{{"source": "x = 1", "focus": {{"loop": {NINES}, "iteration": [{NINES}]}}}}', 422, "invalid"),
    "a focus before the beginning": ('{"source": "x = 1", "focus": {"loop": 0, "iteration": [-1]}}', 422, "invalid"),
    "a focus backwards": ('{"source": "x = 1", "focus": {"storage": "s1", "from": 9, "to": 1}}', 200, None),
    "a focus on too much": (f'{{"source": "x = 1", "focus": {{"storage": "s1", "from": 0, "to": {NINES}}}}}', 422, "invalid"),
    "a focus on a path": ('{"source": "x", "focus": {"storage": "../s1", "from": 0, "to": 1}}', 422, "invalid"),
    "counts of nothing": (f'{{"source": "x = 1", "focus": {{"counts": {{"-5": -{NINES}}}}}}}', 422, "invalid"),
    "200 brackets": ('{"source": ' + "[" * 200 + "]" * 200 + "}", 422, "invalid"),
    "5,000 brackets": ('{"source": ' + "[" * 5000 + "]" * 5000 + "}", 400, "bad_request"),
    "5,000 brackets that stay open": ('{"source": ' + "[" * 5000, 400, "bad_request"),
    "2,000 objects": ('{"source": "x", "focus": ' + '{"counts": ' * 1000 + "1" + "}" * 1001, 400, "bad_request"),
    "bytes that are no text": (b'{"source": "\xff"}', 400, "bad_request"),
    "a mark of order": (b'\xef\xbb\xbf{"source": "x = 1"}', 200, None),
    "UTF-16": ('{"source": "x = 1"}'.encode("utf-16"), 200, None),
    "a program too long": (json.dumps({"source": "x" * 2001}), 413, "too_large"),
    "a program too long in bytes": (json.dumps({"source": "é" * 1001}), 413, "too_large"),
    "a body too long": (b" " * 100_000, 413, "too_large"),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_a_malformed_body_gets_its_error(site: Site, name: str) -> None:
    body, status, code = BODIES[name]
    answer = site.post(body)
    assert answer.status == status, answer.body[:500]
    if code is not None:
        assert shaped(answer.status, answer.body) == code
    else:
        trace = Trace.model_validate(answer.json())
        assert trace.outcome.status in ("finished", "raised", "refused"), trace.outcome


@pytest.mark.parametrize(
    ("name", "value", "status", "code"),
    [
        ("Content-Type", "text/plain", 415, "not_json"),
        ("Content-Type", "application/json, text/plain", 415, "not_json"),
        ("Content-Type", "application/vnd.api+json", 415, "not_json"),
        ("Content-Type", "multipart/form-data; boundary=x", 415, "not_json"),
        ("Content-Type", "application/json\xff", 415, "not_json"),
        ("Content-Type", "", 415, "not_json"),
        ("Content-Type", "APPLICATION/JSON ; charset=x", 200, None),
        ("Host", "", 421, "wrong_host"),
        ("Host", "evil.example", 421, "wrong_host"),
        ("Host", "localhost.", 421, "wrong_host"),
        ("Host", "127.0.0.1@evil.example", 421, "wrong_host"),
        ("Host", "evil.example:80:80", 421, "wrong_host"),
        ("Host", "127.0.0.1,evil.example", 421, "wrong_host"),
        ("Host", "[::1].evil.example]", 421, "wrong_host"),
        ("Host", "127.0.0.1\xff", 421, "wrong_host"),
        ("Host", "LOCALHOST:99999999", 200, None),
        ("Origin", "null", 403, "cross_site"),
        ("Origin", "http://127.0.0.1", 403, "cross_site"),
        ("Origin", "\xff", 403, "cross_site"),
        ("Sec-Fetch-Site", "cross-site", 403, "cross_site"),
        ("Sec-Fetch-Site", "\xff", 403, "cross_site"),
        ("Cookie", "gradbox=" + "x" * 5000 + "\xff; gradbox; =; ;;", 200, None),
        ("X-Forwarded-For", "1.2.3.4, \xff, [::, 999.1.1.1", 200, None),
        ("Prefer", "respond-\xff, wait=-1;;", 200, None),
        ("Accept-Encoding", "\xff;q=x", 200, None),
        ("Accept", "nothing/that-is", 200, None),
        ("Expect", "the-unexpected", 200, None),
        ("HX-Request", "\xff", 200, None),
    ],
)
def test_a_malformed_header_gets_its_error(site: Site, name: str, value: str, status: int, code: str | None) -> None:
    answer = site.post('{"source": "x = 1"}', {**JSON, name: value})
    assert answer.status == status, answer.body[:500]
    assert code is None or shaped(answer.status, answer.body) == code


METHODS = ("OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "PROPFIND", "get", "X" * 500)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("path", ["/", RUNS, f"{RUNS}/x", f"{RUNS}/x/events", "/healthz", "/api/schema", "/nothing"])
def test_a_wrong_method_gets_405_or_404(site: Site, method: str, path: str) -> None:
    answer = site.ask(method, path, JSON)
    assert answer.status in (404, 405)
    if answer.status == 405:
        assert answer.headers["allow"]
    assert shaped(answer.status, answer.body) in ("method_not_allowed", "not_found", "no_run")


IDS = {
    "a path": "..%2F..%2F..%2Fetc%2Fpasswd",
    "a path with dots": "../../etc/passwd",
    "a path with backslashes": "..%5C..%5Cetc%5Cpasswd",
    "zero": "%00",
    "a byte that is no text": "%FF",
    "half a character": "%ED%A0%80",
    "a smile": "%F0%9F%98%80",
    "a blank": "%20",
    "lines": "%0D%0ASet-Cookie:%20a=b",
    "markup": "%3Cscript%3Ealert(1)%3C/script%3E",
    "a percent sign": "%",
    "a star": "*",
    "a query in it": "x?id=y",
    "a number": "1",
    "a long one": "a" * 5000,
    "a very long one": "a" * 30_000,
}


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize(
    ("method", "form"),
    [
        ("GET", "/api/runs/{}"),
        ("DELETE", "/api/runs/{}"),
        ("GET", "/api/runs/{}/events"),
        ("GET", "/api/runs/{}/steps"),
    ],
)
def test_an_invalid_id_is_refused(site: Site, method: str, form: str, name: str) -> None:
    answer = site.ask(method, form.format(IDS[name]))
    assert answer.status in (404, 405)
    assert shaped(answer.status, answer.body) in ("no_run", "not_found", "method_not_allowed")
    assert "set-cookie" not in answer.headers and b"root:" not in answer.body


@pytest.mark.parametrize(
    ("path", "statuses"),
    [
        ("/?s=%FF", {404}),
        ("/?s=" + "a" * 5000, {404}),
        ("/?s=..%2f..%2fsecret", {404}),
        ("/?s=a&s=b&lang=%00", {404}),
        ("/?lang=" + "x" * 5000, {200}),
        ("/gallery?lang=..%2f", {200}),
        ("/static/dist/..%2f..%2fpyproject.toml", {404}),
        ("/static/dist/%2e%2e/%2e%2e/pyproject.toml", {404}),
        ("/static/dist/../../pyproject.toml", {404}),
        ("/static/dist/%00", {404}),
        ("/static/dist/" + "a" * 300, {404}),
        ("/static/dist/", {404}),
        ("//evil.example/%2e%2e", {404}),
        ("/api/runs/", {307}),
        ("http://evil.example/", {404}),
        ("*", {404}),
    ],
)
def test_a_malformed_address_gets_its_error(site: Site, path: str, statuses: set[int]) -> None:
    answer = site.ask("GET", path)
    assert answer.status in statuses, answer.body[:200]
    if answer.status >= 400:
        shaped(answer.status, answer.body)
    if answer.status == 307:
        assert answer.headers["location"].startswith(site.address)
    assert b"[project]" not in answer.body


def test_an_old_client_without_a_host(site: Site) -> None:
    answer = site.raw(b"GET /healthz HTTP/1.0\r\n\r\n")
    assert (answer.status, shaped(answer.status, answer.body)) == (421, "wrong_host")


NO_HTTP = {
    "no Host": b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n",
    "two Hosts": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
    "a negative length": b"POST /api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
    "a length beyond all numbers": b"POST /api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + b"9" * 99 + b"\r\n\r\n",
    "two lengths": b"POST /api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
    "an address that is no text": b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a greeting of TLS": b"\x16\x03\x01\x00\xa5\x01\x00\r\n\r\n",
}  # fmt: skip


@pytest.mark.parametrize("name", NO_HTTP)
def test_invalid_http_is_refused(site: Site, name: str) -> None:
    assert site.raw(NO_HTTP[name]).status == 400


@pytest.mark.parametrize("name", NO_HTTP)
def test_invalid_http_gets_the_usual_error_shape(site: Site, name: str) -> None:
    answer = site.raw(NO_HTTP[name])
    shaped(answer.status, answer.body)
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_body_longer_than_it_said(site: Site) -> None:
    """The rest is another request, and none that we would serve."""
    head = f"POST {RUNS} HTTP/1.1\r\nHost: {site.host}\r\nContent-Type: application/json\r\nContent-Length: 19\r\n\r\n"
    answer = site.raw(head.encode() + b'{"source": "x = 1"}' + b"and more\r\n\r\n")
    assert answer.status == 200


def test_a_body_in_pieces_that_is_too_long(site: Site) -> None:
    head = f"POST {RUNS} HTTP/1.1\r\nHost: {site.host}\r\nContent-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = site.raw(head.encode() + (b"7a00\r\n" + b" " * 0x7A00 + b"\r\n") * 4 + b"0\r\n\r\n")
    assert shaped(answer.status, answer.body) == "too_large"


def test_a_finished_run_can_still_be_read_and_stopped(site: Site) -> None:
    run = site.over("y = 5")
    for _ in range(2):  # to stop what is over changes nothing
        answer = site.ask("GET", f"{RUNS}/{run}")
        assert Trace.model_validate(answer.json()).outcome.status == "finished"
        events = site.ask("GET", f"{RUNS}/{run}/events")
        assert events.headers["content-type"].startswith("text/event-stream")
        fields = dict(line.split(": ", 1) for line in events.body.decode().splitlines() if line)
        assert fields["event"] == "done"
        assert json.loads(fields["data"]) == {"id": run, "state": "done", "status": "finished"}
        answer = site.ask("DELETE", f"{RUNS}/{run}")
        assert (answer.status, answer.body) == (204, b"")


def test_a_run_that_goes_on_is_stopped_by_delete(site: Site) -> None:
    run = site.start_run("import time\nx = 1\ntime.sleep(6000)\n")
    wait_until(lambda: site.ask("GET", f"{RUNS}/{run}").json() == {"id": run, "state": "running"})
    assert [site.ask("DELETE", f"{RUNS}/{run}").status for _ in range(2)] == [204, 204]
    wait_until(lambda: site.ask("GET", f"{RUNS}/{run}").status == 200)
    assert site.ask("GET", f"{RUNS}/{run}").json()["outcome"]["status"] == "cancelled"


def test_clients_that_hang_up_leave_the_server_as_it_was(site: Site) -> None:
    """Their programs would keep all workers for as long as the next client waits."""
    body = json.dumps({"source": "import time\ntime.sleep(6000)\n"}).encode()
    head = f"POST {RUNS} HTTP/1.1\r\nHost: {site.host}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    for upto in (10, len(head), len(head) + 5, len(head) + len(body)):
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", site.port), PATIENCE) as connection:
                connection.sendall((head.encode() + body)[:upto])
                time.sleep(0.05)  # the server has read it by then, or not
    assert site.post('{"source": "x = 1"}').status == 200


# what the description and the answers owe to each other


@pytest.mark.parametrize("path", ["/", "/healthz", "/readyz", "/api/schema"])
def test_head_answers_as_get_does(site: Site, path: str) -> None:
    answer = site.ask("HEAD", path)
    assert (answer.status, answer.body) == (200, b"")


def test_head_of_a_runs_events_does_not_wait_for_them(site: Site) -> None:
    run = site.start_run("import time\ntime.sleep(6000)")
    answer = site.ask("HEAD", f"{RUNS}/{run}/events")
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert site.ask("GET", f"{RUNS}/{run}").status == 202, "it still runs"
    site.ask("DELETE", f"{RUNS}/{run}")


def test_allow_names_every_method(site: Site) -> None:
    assert {method.strip() for method in site.ask("OPTIONS", f"{RUNS}/x").headers["allow"].split(",")} >= {
        "GET",
        "DELETE",
    }


def test_a_client_that_refuses_gzip_gets_none(site: Site) -> None:
    run = site.over("y = 6")
    answer = site.ask("GET", f"{RUNS}/{run}", {"Accept-Encoding": "identity, gzip;q=0"})
    assert "content-encoding" not in answer.headers


@pytest.mark.parametrize("seed", ["true", '"7"', '" 7 "'])
def test_a_seed_is_an_integer(site: Site, seed: str) -> None:
    assert site.post(f'{{"source": "x = 1", "seed": {seed}}}').status == 422


def test_a_host_with_a_malformed_port_is_refused(site: Site) -> None:
    assert site.ask("GET", "/healthz", {"Host": "127.0.0.1:\xb2"}).status == 421


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        (RUNS, "post", "400"),
        (RUNS, "post", "403"),
        (RUNS, "post", "421"),
        (f"{RUNS}/{{id}}", "delete", "403"),
        ("/readyz", "get", "503"),
    ],
)
def test_every_status_of_an_answer_is_described(described: dict[str, Any], path: str, method: str, status: str) -> None:
    assert status in described["paths"][path][method]["responses"]


def test_no_other_shape_of_error_is_described(described: dict[str, Any]) -> None:
    assert "HTTPValidationError" not in json.dumps(described)


def test_events_are_described_as_an_event_stream(described: dict[str, Any]) -> None:
    assert "text/event-stream" in described["paths"][f"{RUNS}/{{id}}/events"]["get"]["responses"]["200"]["content"]
