"""Shows a recorded run in the browser: a server on this machine alone, with its pages."""

import os
import platform
import secrets
import sys
import webbrowser
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Viewer:
    """Serves pages below an address that nobody can guess, on the loopback interface, until it is closed."""

    def __init__(self, pages: Mapping[str, str], port: int = 0) -> None:
        """pages: HTML by the place below the address, "" for the address itself. port: 0 for any that is free. Raises
        OSError where it is taken.
        """
        token = secrets.token_urlsafe(16)
        content = {f"/{token}/{name}": page.encode() for name, page in pages.items()}
        self._server = ThreadingHTTPServer(("127.0.0.1", port), create_handler(content, f"/{token}/"))
        self._server.daemon_threads = True

    @property
    def address(self) -> str:
        path = getattr(self._server.RequestHandlerClass, "path_served")  # noqa: B009
        return f"http://127.0.0.1:{self._server.server_address[1]}{path}"

    @property
    def port(self) -> int:
        return self._server.server_port

    def serve(self) -> None:
        """Answer until Ctrl-C or `close`."""
        try:
            self._server.serve_forever()
        finally:
            self._server.server_close()

    def close(self) -> None:
        self._server.shutdown()


def create_handler(pages: Mapping[str, bytes], path: str) -> type[BaseHTTPRequestHandler]:
    """What answers requests for pages: GET and HEAD of their paths, nothing else. path: of the first."""

    class Handler(BaseHTTPRequestHandler):
        path_served = path
        protocol_version = "HTTP/1.1"
        timeout = 30

        def do_GET(self) -> None:
            self._respond(body=True)

        def do_HEAD(self) -> None:
            self._respond(body=False)

        def _respond(self, body: bool) -> None:
            requested = self.path.partition("?")[0].encode()
            page = next(
                (page for name, page in pages.items() if secrets.compare_digest(requested, name.encode())), None
            )
            content = b"not found\n" if page is None else page
            self.send_response(HTTPStatus.OK if page is not None else HTTPStatus.NOT_FOUND)
            self.send_header(
                "Content-Type", "text/html; charset=utf-8" if page is not None else "text/plain; charset=utf-8"
            )
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("Referrer-Policy", "no-referrer")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("X-Frame-Options", "DENY")
            self.end_headers()
            if body:
                self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Nothing is logged: the terminal is the program's."""

    return Handler


def has_browser(environment: Mapping[str, str], platform: str, *, of_file: bool = False) -> bool:
    """Whether a window of a browser can be opened before the eyes of whoever started this process.

    A browser in the terminal is none. of_file: with a file of this machine, which a browser elsewhere could not read.
    """
    remote = "SSH_CONNECTION" in environment
    if environment.get("BROWSER") and not (of_file and remote):
        return True  # over ssh that is an editor's, which passes the address on
    if remote or environment.get("CI"):
        return False
    return platform in ("darwin", "win32") or bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def open_in_browser(address: str) -> bool:
    """Whether a browser was started."""
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False


def show(pages: Mapping[str, str], port: int = 0, browser: bool = True) -> None:
    """Serve pages until Ctrl-C, and open the first in the browser unless that is not wanted. Raises OSError."""
    viewer = Viewer(pages, port)
    print(f"gradbox: {viewer.address} (press Ctrl-C to quit)", file=sys.stderr, flush=True)
    if browser and not (has_browser(os.environ, sys.platform) and open_in_browser(viewer.address)):
        at = viewer.port
        print(
            "gradbox: no browser can be opened here. From another machine: "
            f"ssh -L {at}:127.0.0.1:{at} {platform.node()}, then open that address there; or write a file with --out.",
            file=sys.stderr, flush=True,
        )  # fmt: skip
    try:
        viewer.serve()
    except KeyboardInterrupt:
        print(file=sys.stderr)
