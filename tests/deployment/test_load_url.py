"""`python -m benchmarks.load --url`, which docs/hosting.md gives to operators, against a small server that answers as
Gradbox does."""

import gzip
import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from benchmarks.load_url import measure_url

USERS = 3


class Answers(BaseHTTPRequestHandler):
    """Every fourth run is refused, and each run without both cookies is an error."""

    protocol_version = "HTTP/1.1"
    sources: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.answer(200, b"<p>", [("Set-Cookie", "proxy=a; Path=/"), ("Set-Cookie", "visitor=me; HttpOnly")])

    def do_POST(self) -> None:
        source = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["source"]
        self.sources.append(source)
        if self.headers.get("Cookie") != "proxy=a; visitor=me" or self.path != "/box/api/runs":
            self.answer(400, b"{}")
        elif len(self.sources) % 4 == 0:
            self.answer(429, b'{"error": {"code": "busy"}}')
        else:
            trace = json.dumps({"ran": source}).encode()
            self.answer(200, gzip.compress(trace), [("Content-Encoding", "gzip")])

    def answer(self, status: int, body: bytes, headers: Sequence[tuple[str, str]] = ()) -> None:
        self.send_response(status)
        for name, value in [("Content-Length", str(len(body))), *headers]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True  # as a server does with a connection that was idle; the visitor opens another

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    Answers.sources.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/box"
        server.shutdown()


def test_every_visitor_runs_programs_of_its_own_and_what_is_refused_counts(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def fault(n: int, trace: Any) -> str:
        return "" if trace == {"ran": f"program {n}"} else "another's trace"

    assert measure_url(address, USERS, 0.1, 0.02, lambda n: f"program {n}", fault) == 0
    assert len(set(Answers.sources)) == len(Answers.sources) >= USERS
    rows = {line[:24].strip(): line[24:].split() for line in capsys.readouterr().out.splitlines()}
    assert rows["the page"][0] == str(USERS)
    refused = int(rows.get("refused (429), busy", ["0"])[0])
    assert refused == len(Answers.sources) // 4
    answered = int(rows["all press Run at once"][0]) + int(rows["later runs"][0])
    assert answered + refused == len(Answers.sources)


def test_errors_are_counted_and_set_the_exit_status(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert measure_url(address, 1, 0.0, 1.0, lambda n: f"program {n}", lambda _n, _trace: "lines 3") == 1
    assert "error, lines 3                1" in capsys.readouterr().out
    assert measure_url("http://127.0.0.1:9", 1, 0.0, 1.0, str, lambda _n, _trace: "") == 1
    assert "error, page, ConnectionRefusedError      1" in capsys.readouterr().out
    assert measure_url("gradbox.example.org", 1, 0.0, 1.0, str, lambda _n, _trace: "") == 2
