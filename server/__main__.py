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

from server import PROJECT_FOLDER, __version__, saved_programs, settings_docs
from server.app import create_app
from server.doctor import report
from server.http_protocol import DeadlineProtocol
from server.pool.local import Pool
from server.pool.recorded_trace import RecordedTrace
from server.pool.zygote import WorkersUnavailable
from server.pretty import pretty
from server.settings import SettingError, Settings
from server.wire.api import Job
from server.wire.schema import document

TRACE_TIMEOUT = 60
"""Seconds that `trace` allows a program where GRADBOX_WALL or GRADBOX_CPU is not set."""

PRINT_MISSING_LAYERS = (
    "import json; from server.worker.confine import missing_layers, try_layers;"
    " print(json.dumps(missing_layers(try_layers())))"
)
"""Run in a process of its own: this one has threads and imports nothing from the workers."""

READ_AHEAD = 8
"""Files that are traced ahead of the one that is printed next."""


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m server", description="See what PyTorch does: run programs and record their memory and gradients."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="start the web server")
    serve.add_argument("--host", default="127.0.0.1")
    serve.add_argument("--port", type=int, default=8000)
    trace = commands.add_parser("trace", help="run programs and print their traces as JSON, one a line")
    trace.add_argument("files", nargs="+", metavar="FILE", help="a Python program; - is the standard input")
    trace.add_argument("--seed", type=int, default=0)
    trace.add_argument("--pretty", action="store_true", help="print each statement and what it changed, for reading")
    saved_programs.add_arguments(commands)
    commands.add_parser("doctor", help="check this host and the settings")
    commands.add_parser("settings", help="print the documentation of all settings, in Markdown")
    commands.add_parser("schema", help="print the JSON Schema of a trace")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """The exit status."""
    args = build_parser().parse_args(arguments)
    try:
        return run_command(args, Settings())
    except SettingError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def run_command(args: argparse.Namespace, settings: Settings) -> int:
    if args.command == "serve":
        missing = missing_layers(settings)
        if missing:
            print(f"GRADBOX_SANDBOX is require, but these layers are missing: {missing}", file=sys.stderr)
            return 2
        app = create_app(settings)
        host = f"[{args.host}]" if ":" in args.host else args.host
        print(f"Gradbox: http://{host}:{args.port} (press Ctrl-C to quit)", flush=True)
        # GRADBOX_TRUSTED_PROXIES decides whose headers are trusted, not uvicorn
        config = uvicorn.Config(
            app, args.host, args.port, http=DeadlineProtocol, log_level="warning", access_log=False, proxy_headers=False
        )
        uvicorn.Server(config).run()
        return 0
    if args.command == "scenarios":
        return asyncio.run(saved_programs.run(args, settings))
    if args.command == "doctor":
        return report(settings)
    if args.command == "settings":
        print(settings_docs.markdown_page(), end="")
        return 0
    if args.command == "schema":
        print(json.dumps(document(), indent=2))
        return 0
    if "GRADBOX_WALL" not in os.environ:
        settings.wall = float(TRACE_TIMEOUT)
    if "GRADBOX_CPU" not in os.environ:
        settings.cpu = TRACE_TIMEOUT
    return asyncio.run(trace_command(args.files, args.seed, args.pretty, settings))


def missing_layers(settings: Settings) -> str:
    """The layers that GRADBOX_SANDBOX requires and this host lacks, each with its reason; "" where none is missing."""
    if settings.sandbox != "require":
        return ""
    result = subprocess.run(
        [sys.executable, "-c", PRINT_MISSING_LAYERS], capture_output=True, cwd=PROJECT_FOLDER, timeout=60
    )
    if result.returncode:
        return f"all, as the check itself failed ({result.stderr.decode(errors='replace').strip()[-200:]})"
    return "; ".join(f"{name} ({why})" for name, why in json.loads(result.stdout).items())


async def trace_command(files: list[str], seed: int, readable: bool, settings: Settings) -> int:
    """Prints a trace for every file, in order. The exit status is 0 if every file has one."""
    status = 0
    pool = Pool(settings)
    await pool.start()
    try:
        async for name, trace in trace_files(pool, files, seed, settings):
            if isinstance(trace, RecordedTrace):
                print(pretty(trace.decoded(), name) if readable else trace.json().decode(), flush=True)
            else:
                print(f"{name}: {trace}", file=sys.stderr, flush=True)
                status = 1
    finally:
        await pool.close()
    return status


async def trace_files(
    pool: Pool, files: list[str], seed: int, settings: Settings
) -> AsyncIterator[tuple[str, RecordedTrace | str]]:
    """(file, its trace or why there is none) in order; a few files are traced ahead."""
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
