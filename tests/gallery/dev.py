"""Serves while one edits: `python -m tests.gallery.dev [PORT]`. The page is built, and the server started, again at
each change."""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from watchfiles import Change, watch

ROOT = Path(__file__).parents[2]
WATCHED = ("gradbox", "server", "templates", "scenarios", "lessons", "static/dist", "static/locales")
"""What a server reads once, when it starts; the page's own files reach it through static/dist."""

SUFFIXES = (".py", ".toml", ".html", ".json", ".js", ".css", ".svg")
SECONDS_TO_END = 10


def concerns(_: Change, path: str) -> bool:
    """Whether a server has to start again for a file."""
    return path.endswith(SUFFIXES)


def started(*command: str, stdout: int | None = None) -> subprocess.Popen[bytes]:
    """A process in a session of its own: a Ctrl-C reaches this process alone, which ends the others."""
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=stdout, start_new_session=True)


def ended(process: subprocess.Popen[bytes]) -> None:
    """End it; kill it when that takes too long."""
    process.terminate()
    try:
        process.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def serve(port: str) -> None:
    """Serve until Ctrl-C."""
    server_command = (sys.executable, "-m", "server", "serve", "--port", port)
    folders = [ROOT / name for name in WATCHED if (ROOT / name).is_dir()]
    page = started("node", "static/build.mjs", "--watch", stdout=subprocess.PIPE)
    assert page.stdout is not None
    page.stdout.readline()  # it says so when everything is built
    server = started(*server_command)
    try:
        with suppress(KeyboardInterrupt):
            for changes in watch(*folders, watch_filter=concerns):
                names = sorted({str(Path(path).relative_to(ROOT)) for _, path in changes})
                print(f"{', '.join(names[:3])}{' …' if len(names) > 3 else ''} changed: starting again", flush=True)
                ended(server)
                server = started(*server_command)
    finally:
        ended(server)
        ended(page)
        page.stdout.close()


if __name__ == "__main__":
    serve(sys.argv[1] if len(sys.argv) > 1 else "8000")
