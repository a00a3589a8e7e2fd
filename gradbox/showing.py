"""Shows recordings: in the browser from a local server, below a notebook's cell, or as a file."""

import os
import platform
import re
import secrets
import sys
import tempfile
import webbrowser
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from gradbox.notebook import notebook_cells
from gradbox.run import Run


class LocalPageServer:
    """Serves pages at an unguessable address on the loopback interface until it is closed."""

    def __init__(self, pages: Mapping[str, str], port: int = 0) -> None:
        """Raises OSError if the port is taken.

        pages: HTML by path below the address; "" is the address itself
        port: 0 for any free port
        """
        token = secrets.token_urlsafe(16)
        content = {f"/{token}/{name}": page.encode() for name, page in pages.items()}
        self._server = ThreadingHTTPServer(("127.0.0.1", port), create_request_handler(content, f"/{token}/"))
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


def create_request_handler(pages: Mapping[str, bytes], path: str) -> type[BaseHTTPRequestHandler]:
    """Return the handler class that answers GET and HEAD requests for the pages and nothing else.

    path: the path of the first page
    """

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
            """Log nothing: the terminal belongs to the program."""

    return Handler


def can_open_browser(environment: Mapping[str, str], platform: str, *, of_file: bool = False) -> bool:
    """Return whether a browser window would open where the user of this process sees it.

    A text browser does not count.

    of_file: to show a local file, which a browser elsewhere could not read
    """
    remote = "SSH_CONNECTION" in environment
    if environment.get("BROWSER") and not (of_file and remote):
        return True  # over ssh, an editor's browser command forwards the address
    if remote or environment.get("CI"):
        return False
    return platform in ("darwin", "win32") or bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def open_in_browser(address: str) -> bool:
    """Open a page and return whether a browser was started."""
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False


def serve_pages_and_open_browser(pages: Mapping[str, str], port: int = 0, browser: bool = True) -> None:
    """Serve pages until Ctrl-C, and open the first one in the browser if wanted. Raises OSError."""
    viewer = LocalPageServer(pages, port)
    print(f"gradbox: {viewer.address} (press Ctrl-C to quit)", file=sys.stderr, flush=True)
    if browser and not (can_open_browser(os.environ, sys.platform) and open_in_browser(viewer.address)):
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


MAX_PICTURES = 20
"""The most pictures that a process writes, or a notebook's cell shows, for regions without a file."""

PYTEST_VARIABLE = "PYTEST_CURRENT_TEST"

picture_paths: set[Path] = set()
"""Files that this process has chosen for regions without a file."""

runs_shown_in_cell: list[Any] = ["", 0]
"""The execution count of the cell that last showed a region, and how many it has shown."""


def show_recorded_region(run: Run, quiet: bool = False) -> None:
    """Show a run of this process where its user will see it.

    In a notebook that is below the cell. Elsewhere the picture is written to a file in the current folder, and the
    first one is opened in the browser if standard output is a terminal and a browser can be opened. Under pytest
    nothing is shown. Raises nothing; problems go to stderr.

    quiet: print no line that says where it was written
    """
    if PYTEST_VARIABLE in os.environ:
        return
    if notebook_cells.is_in_notebook():
        show_run_in_cell(run)
        return
    path = picture_path(run.title)
    if path not in picture_paths and len(picture_paths) >= MAX_PICTURES:
        return
    is_first = not picture_paths
    picture_paths.add(path)
    if not os.access(path.parent, os.W_OK):
        path = Path(tempfile.mkdtemp(prefix="gradbox-")) / path.name
    note = " Later regions are not written: name a file with out=." if len(picture_paths) == MAX_PICTURES else ""
    if not write_run_and_report(run, path, quiet, note):
        return
    if is_first and is_stdout_terminal() and can_open_browser(os.environ, sys.platform, of_file=True):
        open_in_browser(path.as_uri())


def write_run_and_report(run: Run, path: Path, quiet: bool = False, note: str = "") -> bool:
    """Write a file of a run and say where. If that fails, say why and return False.

    quiet: don't say where
    note: more text for that line
    """
    try:
        run.save(path)
    except (OSError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        print(f"gradbox: {run.summary()} {path} could not be written: {why}", file=sys.stderr)
        return False
    if not quiet:
        print(f"gradbox: {run.summary()} Written to {path}{note}", file=sys.stderr)
    return True


def picture_path(title: str) -> Path:
    """Return the path of a region's picture, such as `gradbox-train.py-step-3.html` in the current folder."""
    name = re.sub(r"[^\w.-]+", "-", title).strip("-")[:80]
    return Path.cwd() / f"gradbox-{name}.html"


def is_stdout_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def show_run_in_cell(run: Run) -> None:
    """Show a run below the running cell, for the first MAX_PICTURES regions of the cell."""
    cell = notebook_cells.running_cell()
    execution = "" if cell is None else cell.execution
    runs_shown_in_cell[:] = [execution, runs_shown_in_cell[1] + 1 if runs_shown_in_cell[0] == execution else 1]
    if runs_shown_in_cell[1] <= MAX_PICTURES:
        notebook_cells.show_below_cell(run)
