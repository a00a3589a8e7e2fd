"""The commands: `python -m server serve`, `trace`, `scenarios`, `doctor`, `settings` and `schema`."""

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import uvicorn

from server import __version__, saved_programs, settings_docs
from server.app import create_app
from server.doctor import report
from server.http_protocol import DeadlineProtocol
from server.pool.local import Pool
from server.pool.recorded_trace import RecordedTrace
from server.pool.zygote import ROOT, WorkersUnavailable
from server.pretty import pretty
from server.settings import SettingError, Settings
from server.wire.api import Job
from server.wire.schema import document

TRACE_TIMEOUT = 60
"""Seconds that `trace` gives a program where no setting says otherwise: nobody sits before a page."""

PROBE = (
    "import json; from server.worker.confine import missing_layers, probe; print(json.dumps(missing_layers(probe())))"
)
"""Run by a process of its own: this one has threads and imports nothing of the workers."""

READ_AHEAD = 8
"""Files that are read before their turn to be printed comes."""


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m server", description="See what PyTorch does.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="serve the page and the API")
    serve.add_argument("--host", default="127.0.0.1")
    serve.add_argument("--port", type=int, default=8000)
    trace = commands.add_parser("trace", help="run programs and print their traces, one a line")
    trace.add_argument("files", nargs="+", metavar="FILE", help="a program; - is the standard input")
    trace.add_argument("--seed", type=int, default=0)
    trace.add_argument("--pretty", action="store_true", help="for reading: each statement and what it changed")
    saved_programs.add_arguments(commands)
    commands.add_parser("doctor", help="say what a visitor will get on this host")
    commands.add_parser("settings", help="print the page of all settings, in Markdown")
    commands.add_parser("schema", help="print the JSON Schema of a trace")
    return parser


def main(words: list[str] | None = None) -> int:
    """The exit status."""
    told = build_parser().parse_args(words)
    try:
        return run_command(told, Settings())
    except SettingError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def run_command(told: argparse.Namespace, settings: Settings) -> int:
    if told.command == "serve":
        missing = missing_layers(settings)
        if missing:
            print(f"GRADBOX_SANDBOX is require, and this host has not: {missing}", file=sys.stderr)
            return 2
        app = create_app(settings)
        host = f"[{told.host}]" if ":" in told.host else told.host
        print(f"Gradbox: http://{host}:{told.port} (Ctrl-C ends it)", flush=True)
        # whose word counts on where a request comes from is our setting's, not uvicorn's
        config = uvicorn.Config(
            app, told.host, told.port, http=DeadlineProtocol, log_level="warning", access_log=False, proxy_headers=False
        )
        uvicorn.Server(config).run()
        return 0
    if told.command == "scenarios":
        return asyncio.run(saved_programs.run(told, settings))
    if told.command == "doctor":
        return report(settings)
    if told.command == "settings":
        print(settings_docs.markdown_page(), end="")
        return 0
    if told.command == "schema":
        print(json.dumps(document(), indent=2))
        return 0
    if "GRADBOX_WALL" not in os.environ:
        settings.wall = float(TRACE_TIMEOUT)
    if "GRADBOX_CPU" not in os.environ:
        settings.cpu = TRACE_TIMEOUT
    return asyncio.run(trace_command(told.files, told.seed, told.pretty, settings))


def missing_layers(settings: Settings) -> str:
    """The layers that are asked for and missing, each with its reason; "" where none is."""
    if settings.sandbox != "require":
        return ""
    found = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, cwd=ROOT, timeout=60)
    if found.returncode:
        return f"anything that could be tried ({found.stderr.decode(errors='replace').strip()[-200:]})"
    return "; ".join(f"{name} ({why})" for name, why in json.loads(found.stdout).items())


async def trace_command(files: list[str], seed: int, readable: bool, settings: Settings) -> int:
    """Print a trace for every file, in order. 0 when every file gave one."""
    status = 0
    pool = Pool(settings)
    await pool.start()
    try:
        async for name, found in trace_files(pool, files, seed, settings):
            if isinstance(found, RecordedTrace):
                print(pretty(found.decoded(), name) if readable else found.json().decode(), flush=True)
            else:
                print(f"{name}: {found}", file=sys.stderr, flush=True)
                status = 1
    finally:
        await pool.close()
    return status


async def trace_files(
    pool: Pool, files: list[str], seed: int, settings: Settings
) -> AsyncIterator[tuple[str, RecordedTrace | str]]:
    """(file, its trace or why there is none) in order, a few running ahead."""
    running: list[tuple[str, asyncio.Task[RecordedTrace | str]]] = []
    ahead = min(READ_AHEAD, settings.workers + settings.queue, settings.workers + pool.queue.client_limit)
    for name in files:
        running.append((name, asyncio.create_task(trace_file(pool, name, seed, settings))))
        if len(running) >= ahead:
            first, task = running.pop(0)
            yield first, await task
    for first, task in running:
        yield first, await task


async def trace_file(pool: Pool, name: str, seed: int, settings: Settings) -> RecordedTrace | str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        return error.strerror or str(error)
    source = data.decode("utf-8", "replace")
    if len(data) > settings.source:
        return f"the program has {len(data)} bytes; {settings.source} are allowed"
    try:
        return await pool.run(Job(source=source, seed=seed, limits=settings.limits()))
    except WorkersUnavailable as error:
        return str(error)


if __name__ == "__main__":
    sys.exit(main())
