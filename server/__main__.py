"""The commands: `python -m server serve`, `worker`, `trace`, `explain`, `settled`, `scenarios`, `series`, `doctor`,
`settings`, `docs` and `schema`."""

import argparse
import asyncio
import gc
import json
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

from fastapi import FastAPI

from gradbox.assembly.recorded_trace import RecordedTrace
from gradbox.terminal.run_text import has_colours, load_sentences, run_report_lines
from gradbox.wire.api import MAX_INPUT, Job
from gradbox.wire.schema import encoded_schema_document, schema_document
from server import PROJECT_FOLDER, __version__
from server.app import create_app
from server.commands import explain as explain_command
from server.commands import scenarios as saved_programs
from server.commands import settings_docs
from server.commands import settled as settled_command
from server.commands import site as site_command
from server.commands.doctor import print_report
from server.commands.explain import INPUT_HELP, ExplainCommand, print_problem
from server.gallery.scenarios import LANGUAGES
from server.http.connections import RESERVED_DESCRIPTORS, ConnectionLimiter, raise_descriptor_limit
from server.http.deadline_server import create_server
from server.operating import settings_checks
from server.pictures.renderer_client import Renderer
from server.pool.local import LocalPool
from server.runs.explainer import explain_trace, read_run_for_terminal
from server.settings import SettingError, Settings
from server.templating import compile_templates
from server.visitors.clients import parse_networks
from server.wire.problems import ProblemError

SWITCH_SECONDS = 0.0005
"""Seconds for which a thread may keep Python's lock while the event loop waits for it. The default is ten times as
long, and the loop would wait each time it has polled for requests."""

TRACE_TIMEOUT = 60
"""Seconds that `trace` allows a program if GRADBOX_WALL or GRADBOX_CPU is not set."""

PRINT_MISSING_LAYERS = (
    "import json; from server.worker.confine import missing_layers, try_layers;"
    " print(json.dumps(missing_layers(try_layers())))"
)
"""Runs in a separate process, because this one has threads and imports nothing from the workers."""

MAX_FILES_TRACED_AHEAD = 8
"""The most files traced ahead of the one that is printed next."""


def build_parser(program: str = "python -m server") -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        program, description="See what PyTorch does: run programs and record their memory and gradients."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="start the web server")
    serve.add_argument("--host", default="127.0.0.1")
    serve.add_argument("--port", type=int, default=8000)
    worker = commands.add_parser("worker", help="run programs for the web servers that share GRADBOX_QUEUE_URL")
    worker.add_argument("--queue", choices=("cpu", "gpu"), default="cpu", help="which programs to run")
    trace = commands.add_parser("trace", help="run programs and print their traces as JSON, one a line")
    trace.add_argument("files", nargs="+", metavar="FILE", help="a Python program; - is the standard input")
    trace.add_argument("--seed", type=int, default=0)
    trace.add_argument("--input", metavar="FILE", help=INPUT_HELP)
    trace.add_argument("--pretty", action="store_true", help="print how each run ended, why, and what each step did")
    trace.add_argument("--language", choices=LANGUAGES, default=LANGUAGES[0], help="of --pretty")
    explain_command.add_explain_parser(commands)
    settled_command.add_settled_parser(commands)
    saved_programs.add_scenarios_parser(commands)
    saved_programs.add_series_parser(commands)
    site_command.add_docs_parser(commands)
    checks = commands.add_parser("doctor", help="check this host and the settings; the last line is a verdict")
    checks.add_argument("--public", action="store_true", help="exit with 1 unless it is ready for public use")
    table = commands.add_parser("settings", help="print the documentation of all settings, in Markdown")
    table.add_argument("--env", action="store_true", help="as a file of environment variables, which all are comments")
    commands.add_parser("schema", help="print the JSON Schema of a trace")
    return parser


def main(arguments: list[str] | None = None, program: str = "python -m server") -> int:
    """Run the command and return its exit status.

    program: the command's name in the usage text
    """
    args = build_parser(program).parse_args(arguments)
    try:
        status = run_command(args, Settings())
        sys.stdout.flush()
        return status
    except SettingError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def run_command(args: argparse.Namespace, settings: Settings) -> int:
    """Run what the command line asks for and return the exit status: 0, 1 if it failed, 2 if it can't begin."""
    if args.command in ("serve", "worker"):
        runs_here = args.command == "worker" or not settings.queue_url
        missing = describe_missing_layers(settings) if runs_here else ""
        if missing:
            print(f"GRADBOX_SANDBOX is require, but these layers are missing: {missing}", file=sys.stderr)
            return 2
    if args.command == "worker":
        settings_checks.check_settings(settings, worker=True)  # says what has to be installed before it is imported
        from server.cluster.worker import run_worker  # noqa: PLC0415 it needs Celery, of the extra `cluster`

        return run_worker(settings, args.queue)
    if args.command == "serve":
        app = create_app(settings)
        host = f"[{args.host}]" if ":" in args.host else args.host
        print(f"Gradbox: http://{host}:{args.port} (press Ctrl-C to quit)", flush=True)
        compile_templates_and_freeze_memory(app)
        connections, proxies = create_connection_limiter(settings), parse_networks(settings.trusted_proxies)
        create_server(app, args.host, args.port, connections, proxies).run()
        return 0
    if args.command == "scenarios":
        return asyncio.run(saved_programs.run_scenarios_command(args, settings))
    if args.command == "series":
        return asyncio.run(saved_programs.run_series_command(args, settings))
    if args.command == "settled":
        return asyncio.run(settled_command.run_settled_command(args, settings))
    if args.command == "docs":
        return asyncio.run(site_command.run_docs_command(args, settings))
    if args.command == "doctor":
        return print_report(settings, args.public)
    if args.command == "settings":
        print(settings_docs.settings_environment_file() if args.env else settings_docs.settings_markdown_page(), end="")
        return 0
    if args.command == "schema":
        print(json.dumps(schema_document(), indent=2))
        return 0
    if "GRADBOX_WALL" not in os.environ:
        settings.wall = float(TRACE_TIMEOUT)
    if "GRADBOX_CPU" not in os.environ:
        settings.cpu = TRACE_TIMEOUT
    try:
        lines = load_stdin_text(args.input)
    except (OSError, ValueError) as error:
        print(f"{args.input}: {error}", file=sys.stderr)
        return 2
    return asyncio.run(print_each_file(args, lines, settings))


def load_stdin_text(name: str | None) -> str:
    """Return the programs' standard input: the text of a file, or of our standard input for "-". Raises OSError,
    ValueError."""
    if name is None:
        return ""
    data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    text = data.decode("utf-8", "replace")
    if len(text) > MAX_INPUT:
        raise ValueError(f"the input has {len(text)} characters; {MAX_INPUT} are allowed")
    return text


def create_connection_limiter(settings: Settings) -> ConnectionLimiter:
    """Create the limits of connections from the settings, as far as this process may open descriptors."""
    room = max(1, raise_descriptor_limit() - RESERVED_DESCRIPTORS)
    total = min(settings.connections, room)
    if total < settings.connections:
        print(f"there are descriptors for {total} of {settings.connections} connections", file=sys.stderr, flush=True)
    per_address = total if settings.classroom else settings.address_connections
    return ConnectionLimiter(total, per_address, parse_networks(settings.trusted_proxies))


def compile_templates_and_freeze_memory(app: FastAPI) -> None:
    """Do now what would block the event loop later: compile templates, make the API documents, and freeze what stays,
    which the garbage collector would otherwise scan for a tenth of a second every now and then."""
    compile_templates()
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.collect()
    gc.disable()
    threading.Thread(target=cache_api_documents, args=(app,), daemon=True).start()


def cache_api_documents(app: FastAPI) -> None:
    """Make the API documents, which takes a second, before the first visitor asks for them."""
    try:
        app.openapi()
        encoded_schema_document()
    finally:
        gc.freeze()
        gc.enable()


def describe_missing_layers(settings: Settings) -> str:
    """Return the layers that GRADBOX_SANDBOX requires and this host lacks, with the reasons; "" if none is missing."""
    if settings.sandbox != "require":
        return ""
    result = subprocess.run(
        [sys.executable, "-c", PRINT_MISSING_LAYERS], capture_output=True, cwd=PROJECT_FOLDER, timeout=60
    )
    if result.returncode:
        return f"all, as the check itself failed ({result.stderr.decode(errors='replace').strip()[-200:]})"
    return "; ".join(f"{name} ({why})" for name, why in json.loads(result.stdout).items())


async def print_each_file(args: argparse.Namespace, stdin_text: str, settings: Settings) -> int:
    """Print the trace or the findings of every file, in order. The exit status is 0 if every file has them."""
    status = 0
    pool = LocalPool(settings)
    await pool.start()
    renderer = Renderer(explain_command.CACHE_BYTES)
    explain = ExplainCommand(pool, renderer, settings, args, stdin_text) if args.command == "explain" else None
    try:
        async for name, tracing in trace_files(pool, args.files, args.seed, stdin_text, settings):
            try:
                trace = await tracing
                if explain:
                    await explain.print_findings(name, trace)
                elif args.pretty:
                    await print_trace_for_reading(renderer, name, trace, args.language)
                else:
                    print(trace.json().decode(), flush=True)
            except ProblemError as error:
                print_problem(name, error.problem, as_json=args.json if explain else not args.pretty)
                status = 1
    finally:
        await renderer.close()
        await pool.close()
    return status


async def print_trace_for_reading(renderer: Renderer, name: str, trace: RecordedTrace, language: str) -> None:
    """Print a trace as text. Raises RenderingFailed."""
    findings = await explain_trace(renderer, trace.body, language)
    reading = await read_run_for_terminal(renderer, trace.body, language)
    source = trace.decoded().program.source
    print(
        "\n".join(run_report_lines(name, reading, findings, source, load_sentences(language), has_colours(sys.stdout))),
        flush=True,
    )


async def trace_files(
    pool: LocalPool, files: list[str], seed: int, stdin_text: str, settings: Settings
) -> AsyncIterator[tuple[str, asyncio.Task[RecordedTrace]]]:
    """Yield each file with the task that traces it, in order; a few files are traced ahead.

    stdin_text: the standard input of each
    """
    running: list[tuple[str, asyncio.Task[RecordedTrace]]] = []
    ahead = min(MAX_FILES_TRACED_AHEAD, settings.workers + settings.queue, settings.workers + pool.queue.client_limit)
    for name in files:
        running.append((name, asyncio.create_task(trace_file(pool, name, seed, stdin_text, settings))))
        if len(running) >= ahead:
            yield running.pop(0)
    for first in running:
        yield first


async def trace_file(pool: LocalPool, name: str, seed: int, stdin_text: str, settings: Settings) -> RecordedTrace:
    """Trace the program in a file. Raises ProblemError.

    name: the file's name, `-` for standard input
    stdin_text: the program's standard input
    """
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise ProblemError(404, "file_unreadable", error.strerror or str(error)) from None
    source = data.decode("utf-8", "replace")
    if len(data) > settings.source:
        message = f"the program has {len(data)} bytes; {settings.source} are allowed"
        raise ProblemError(413, "too_large", message)
    return await pool.run_job(Job(source=source, seed=seed, limits=settings.run_limits(), input=stdin_text))


if __name__ == "__main__":
    sys.exit(main())
