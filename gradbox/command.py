"""The command `gradbox`: records a script, shows the run and explains its backward, or serves the web application."""

import argparse
import ast
import difflib
import importlib.util
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from gradbox import __version__, doctor
from gradbox.installation import PACKAGE_FOLDER
from gradbox.run import Run
from gradbox.run_list import run_pages
from gradbox.script.ranks import record_ranks, torchrun_arguments
from gradbox.script.script_check import MAX_SECONDS, check_script
from gradbox.script.script_parts import MAX_RECORDINGS, PartOptions
from gradbox.script.script_process import RecordingResult, Script, record_script
from gradbox.showing import serve_pages_and_open_browser
from gradbox.terminal.finding_texts import FindingTextError, finding_kinds, load_finding_text
from gradbox.terminal.gradient_report import GradientReport
from gradbox.terminal.progress import waiting_line
from gradbox.terminal.run_text import has_colours
from gradbox.terminal.table_text import SORT_COLUMNS, TABLE_NAMES, sorted_tables
from gradbox.wire.api import GradientCheckReply

OPEN_HELP = "run a script as python would, record it, and open the picture in the browser"
NO_TORCH_MESSAGE = (
    "gradbox: PyTorch is not installed here: `pip install torch` (see https://pytorch.org for the build that fits)"
)
NO_SERVER_MESSAGE = (
    "gradbox: the web application is not part of this package; run it from a checkout (`make run`) or from the image, "
    "as docs/docker.md says"
)
NOTHING_RECORDED_MESSAGE = "gradbox: nothing was recorded: the process ended before the script began"
NO_PART_RECORDED_MESSAGE = "gradbox: nothing was recorded: none of the parts that were asked for came"
CHECK_COST = f"the script runs again and again up to its first backward, within {MAX_SECONDS:.0f} s of processor time"
NOT_A_TRACE_MESSAGE = "this is no trace; `gradbox open --trace run.json FILE` writes one"
EXIT_CANNOT_BEGIN = 2


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "gradbox", description="See what PyTorch does: record programs, and step through their memory and gradients."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    opened = add_subcommand(commands, "open", OPEN_HELP)
    opened.add_argument(
        "--out", metavar="FILE", help="write the picture to a file (.html, .svg, .png) instead of opening it"
    )
    opened.add_argument("--trace", metavar="FILE", help="write the trace as JSON instead of opening the picture")
    opened.add_argument("--no-browser", action="store_true", help="print the address of the picture, open no browser")
    opened.add_argument("--port", type=int, default=0, help="of the picture's server on this machine")
    add_script_arguments(opened)
    trace = add_subcommand(commands, "trace", "run a script and print its trace as JSON; the script prints to stderr")
    trace.add_argument("--pretty", action="store_true", help="for reading: how it ended, why, and what each step did")
    add_script_arguments(trace)
    explain = add_subcommand(commands, "explain", "run a script and print what there is to say of it, its errors first")
    explain.add_argument("--json", action="store_true", help="as JSON; the script prints to stderr")
    explain.add_argument(
        "--check-gradients",
        action="store_true",
        help=f"compare gradients with finite differences: {CHECK_COST}",
    )
    explain.add_argument(
        "--check-samples",
        action="store_true",
        help=f"say where one sample of the batch changes the others: {CHECK_COST}",
    )
    add_script_arguments(explain)
    summary = add_subcommand(
        commands,
        "summary",
        "run a script and print its modules and parameters as tables: shapes, sizes, what was updated",
    )
    form = summary.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON; the script prints to stderr")
    form.add_argument("--csv", nargs="?", const="both", choices=("both", *TABLE_NAMES), metavar="TABLE",
                      help="as CSV: `modules`, `parameters` or both; the script prints to stderr")  # fmt: skip
    summary.add_argument("--sort", choices=SORT_COLUMNS, metavar="COLUMN", help=f"by one of {', '.join(SORT_COLUMNS)}")
    add_script_arguments(summary)
    export = add_subcommand(commands, "export", "make a file of a recorded trace")
    export.add_argument("trace", metavar="TRACE", help="what `gradbox open --trace` wrote, or a server's /s/….json")
    made = export.add_argument_group("what is made, one or several")
    made.add_argument("--out", metavar="FILE", help=".html to step through; .svg or .png of one step")
    made.add_argument("--card", metavar="FILE", help="its first finding as a picture, .svg or .png, as a link is shown")
    made.add_argument("--film", metavar="FILE", help="from the cause to where it shows: .svg, .webp or .gif")
    made.add_argument("--markdown", action="store_true", help="print the first finding for an answer in a forum")
    export.add_argument(
        "--step", type=int, help="of .svg and .png, from 0; without it the one that the page opens with"
    )
    export.add_argument("--theme", choices=("light", "dark"), default="light", help="of pictures")
    export.add_argument("--title", help="of an .html; without it the name of the trace's file")
    export.add_argument("--language", choices=("en", "zh"), default="en")
    about = add_subcommand(commands, "about", "print what a finding means, with a program that has it")
    about.add_argument("kind", nargs="?", metavar="KIND", help="as in error[KIND] of a report; without it all kinds")
    checks = add_subcommand(
        commands,
        "doctor",
        "check whether this machine can record, show and explain; --server: checks of the web application",
    )
    doctor.add_arguments(checks)
    delegated = commands.add_parser("serve", help="start the web application", add_help=False)
    delegated.add_argument("arguments", nargs=argparse.REMAINDER)
    return parser


def add_subcommand(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, help_text: str
) -> argparse.ArgumentParser:
    return commands.add_parser(name, help=help_text, description=f"{help_text[0].upper()}{help_text[1:]}.")


def add_script_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that choose what is run and how it is recorded."""
    parser.add_argument(
        "--also",
        metavar="GLOB",
        action="append",
        default=[],
        help="step the statements of these modules too, like pkg.model or 'pkg.*'; may be repeated",
    )
    parser.add_argument("--script-only", action="store_true",
                        help="step no other module of the project, but for those of --also")  # fmt: skip
    parser.add_argument("--lines", metavar="A:B", type=parse_line_range,
                        help="record only these lines, the first time that they run")  # fmt: skip
    parser.add_argument(
        "--iterations",
        metavar="N,…",
        type=parse_iteration_numbers,
        help="record only these iterations, from 0, of the loop that trains, or of the one in --lines",
    )
    parser.add_argument(
        "--after",
        metavar="EXPR",
        type=validated_expression,
        help="once this is true at the end of an iteration, like 'loss.isnan()', record the next one",
    )
    parser.add_argument(
        "--rounds",
        metavar="N,…",
        type=parse_iteration_numbers,
        help="record only these rounds, from 0, of backward and an optimizer's step, whoever's loop it is",
    )
    parser.add_argument(
        "--until",
        metavar="EXPR",
        type=validated_expression,
        help="record every round until this is true, like 'loss.isnan()', and keep the last three",
    )
    parser.add_argument(
        "--rank",
        metavar="N,…",
        type=parse_iteration_numbers,
        help="record these ranks: `gradbox open --rank 1 -- torchrun --nproc-per-node 2 train.py`",
    )
    parser.add_argument("--steps", type=int, metavar="N", help="record up to N steps; the script runs on after them")
    parser.add_argument("--language", choices=("en", "zh"), default="en", help="of the picture and of explanations")
    parser.add_argument("--quiet", action="store_true", help="no line of progress")
    parser.add_argument("-m", dest="module", action="store_true", help="FILE is a module, as after `python -m`")
    parser.add_argument(
        "file", metavar="FILE", help="a script; for `open` also a trace, like run.json, which is shown and not run"
    )
    rest = parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the script's own arguments")
    rest.required = False  # otherwise the error about a missing FILE names two


def parse_line_range(text: str) -> tuple[int, int]:
    """Parse `40:80` or `40` into the first and the last line. Raises argparse.ArgumentTypeError."""
    first, _, last = text.partition(":")
    try:
        numbers = int(first), int(last or first)
    except ValueError:
        raise argparse.ArgumentTypeError(f"two line numbers are needed, like 40:80, not {text!r}") from None
    if not 0 < numbers[0] <= numbers[1]:
        raise argparse.ArgumentTypeError(f"the first line, from 1, and one that is not before it are needed: {text!r}")
    return numbers


def parse_iteration_numbers(text: str) -> tuple[int, ...]:
    """Parse `0,1,100` into numbers from 0. Raises argparse.ArgumentTypeError."""
    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"numbers from 0 are needed, like 0,1,100, not {text!r}")
    if len(parts) > MAX_RECORDINGS:
        raise argparse.ArgumentTypeError(f"{len(parts)} iterations: {MAX_RECORDINGS} are the most of one run")
    return tuple(int(part) for part in parts)


def validated_expression(text: str) -> str:
    """Return the text if it is a Python expression. Raises argparse.ArgumentTypeError otherwise."""
    try:
        ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise argparse.ArgumentTypeError(f"an expression of Python is needed, not {text!r}: {error.msg}") from None
    return text.strip()


VALUELESS_FLAGS = ("--json", "--csv", "--script-only", "--quiet", "-m")
"""Options that take no value, so that the script may follow them directly."""


def with_default_csv_tables(arguments: list[str]) -> list[str]:
    """Replace a `--csv` without a table before the script by `--csv=both`: argparse would take the script as its
    value."""
    for k, argument in enumerate(arguments[1:], 1):
        if argument == "--csv" and not {"both", *TABLE_NAMES}.intersection(arguments[k + 1 : k + 2]):
            return [*arguments[:k], "--csv=both", *arguments[k + 1 :]]
        before = arguments[k - 1]
        is_value = k > 1 and before.startswith("-") and "=" not in before and before not in VALUELESS_FLAGS
        if not argument.startswith("-") and not is_value and before != "--csv":
            return arguments
    return arguments


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status: the script's own if a script is run, 2 if the command can't begin."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["serve"]:
        return run_server(arguments)
    if arguments[:2] == ["doctor", "--server"]:
        return run_server(["doctor", *arguments[2:]])
    args = build_parser().parse_args(with_default_csv_tables(arguments) if arguments[:1] == ["summary"] else arguments)
    try:
        if args.command in SCRIPTLESS_COMMANDS:
            status = SCRIPTLESS_COMMANDS[args.command](args)
        else:
            command, *rest = arguments
            status = record_script_and_output(args, shlex.join(["gradbox", command, "--also", "{also}", *rest]))
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130


def run_server(arguments: list[str]) -> int:
    """Run `python -m server …`, with its data in the user's account unless a setting says otherwise."""
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "gradbox"
    os.environ.setdefault("GRADBOX_DATA", str(data))
    sys.path.insert(0, str(PACKAGE_FOLDER.parent))
    commands = metadata.entry_points(group="gradbox.commands", name="server")
    if not commands or not (PACKAGE_FOLDER.parent / "server/__main__.py").is_file():
        print(NO_SERVER_MESSAGE, file=sys.stderr)
        return EXIT_CANNOT_BEGIN
    if importlib.util.find_spec("torch") is None:
        print(NO_TORCH_MESSAGE, file=sys.stderr)
        return EXIT_CANNOT_BEGIN
    status: int = commands["server"].load()(arguments, "gradbox")
    return status


def record_script_and_output(args: argparse.Namespace, again: str = "") -> int:
    """Run the script, handle its recording as the command asks, and return the script's exit status.

    again: as in `Run`
    """
    problem = reason_not_runnable(args)
    if problem:
        print(problem, file=sys.stderr)
        return EXIT_CANNOT_BEGIN
    if args.command in ("open", "summary") and not args.module and Path(args.file).suffix == ".json":
        return open_trace_or_print_tables(args)
    for_stdout = (
        args.command == "trace"
        or (args.command in ("explain", "summary") and args.json)
        or (args.command == "summary" and args.csv is not None)
    )
    if args.rounds and (args.iterations or args.lines):
        print("gradbox: --rounds goes with neither --iterations nor --lines", file=sys.stderr)
        return EXIT_CANNOT_BEGIN
    parts = PartOptions(
        args.lines, args.rounds or args.iterations or (), args.after, rounds=args.rounds is not None, until=args.until
    )
    script = Script(
        args.file,
        args.arguments,
        args.module,
        args.also,
        args.steps,
        args.quiet,
        stdout_to_stderr=for_stdout,
        script_only=args.script_only,
        parts=parts if parts.is_any_option_given else None,
        again=again.replace("'{also}'", "{also}"),
    )
    recorded = record_script_or_ranks(args, script)
    if not recorded.runs:
        if not recorded.status:
            print(NO_PART_RECORDED_MESSAGE if parts.is_any_option_given else NOTHING_RECORDED_MESSAGE, file=sys.stderr)
        return recorded.status or 1
    is_answer = args.command == "explain" and not args.json and recorded.differ
    if recorded.notes and not is_answer and (args.command != "open" or len(recorded.runs) > 1 or args.rank):
        print(*(f"gradbox: {note}" for note in recorded.notes), sep="\n", file=sys.stderr)
    try:
        if args.command == "explain" or (args.command == "trace" and args.pretty):
            with waiting_line("explaining", sys.stderr, args.quiet):
                for run in recorded.runs.values():
                    run.prepare_findings()
        return write_print_or_open_runs(args, recorded, parts.is_any_option_given or bool(args.rank))
    except BrokenPipeError:
        raise
    except (OSError, RuntimeError, ValueError) as error:
        reason = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else error
        print(f"gradbox: {reason}", file=sys.stderr)
        return recorded.status or 1


def record_script_or_ranks(args: argparse.Namespace, script: Script) -> RecordingResult:
    """Record the script, or the ranks that `torchrun` starts."""
    if not args.rank:
        return record_script(script, args.language)
    arguments = torchrun_arguments(args.file, args.arguments)
    if arguments is None:
        print(
            "gradbox: --rank needs a command that starts ranks: `gradbox open --rank 1 -- torchrun … train.py`",
            file=sys.stderr,
        )
        return RecordingResult({}, EXIT_CANNOT_BEGIN)
    return record_ranks(script, arguments, args.rank, args.language)


def reason_not_runnable(args: argparse.Namespace) -> str:
    """Return why a script can't be run, or "" if it can."""
    if importlib.util.find_spec("torch") is None:
        return NO_TORCH_MESSAGE
    for name in (getattr(args, "out", None), getattr(args, "trace", None)):
        problem = "" if name is None else reason_not_writable(Path(name))
        if problem:
            return f"gradbox: {name}: {problem}"
    if getattr(args, "out", None) is not None and Path(args.out).suffix not in (".html", ".svg", ".png"):
        return f"gradbox: {args.out}: a name that ends with .html, .svg or .png is needed"
    if args.module or args.rank:
        return ""
    try:
        with open(args.file, "rb"):
            return ""
    except OSError as error:
        return f"gradbox: can't open file {str(Path(args.file).absolute())!r}: [Errno {error.errno}] {error.strerror}"


def reason_not_writable(path: Path) -> str:
    """Return why a file can't be written, or "" if nothing speaks against it before the script runs."""
    folder = path.absolute().parent
    if not folder.is_dir():
        return f"there is no folder {path.parent}"
    if path.is_dir():
        return "that is a folder"
    return "" if os.access(path if path.exists() else folder, os.W_OK) else "it can't be written"


def write_print_or_open_runs(args: argparse.Namespace, recorded: RecordingResult, in_parts: bool) -> int:
    """Write, print or open the recordings and return the script's exit status. Raises OSError, RuntimeError,
    ValueError.

    in_parts: whether parts of the script were recorded, possibly several
    """
    runs = recorded.runs
    if args.command == "trace" and args.pretty:
        colours = has_colours(sys.stdout)
        print("\n\n".join(run.pretty(colours) for run in runs.values()))
    elif args.command == "trace":
        for run in runs.values():
            sys.stdout.buffer.write(run.body + b"\n")
    elif args.command == "explain" and args.json:
        found = {name: [f.model_dump(mode="json") for f in run.findings()] for name, run in runs.items()}
        parts = [{"recording": name, "findings": findings} for name, findings in found.items()]
        reply: Any = parts if in_parts else found[""]
        checks = announce_and_run_gradient_checks(args)
        print(json.dumps({"findings": reply} | {name: check.model_dump(mode="json") for name, check in checks.items()}
                         if checks else reply))  # fmt: skip
    elif args.command == "explain":
        titles = [f"{run.title}\n\n" if in_parts else "" for run in runs.values()]
        texts = [run.explain(names_options=True, is_all=not recorded.differ) for run in runs.values()]
        if recorded.differ:
            print(*(f"warning[ranks]: {note[0].upper()}{note[1:]}." for note in recorded.notes), "", sep="\n")
        print("\n\n".join(title + text for title, text in zip(titles, texts, strict=True)))
        for check in announce_and_run_gradient_checks(args).values():
            print("", *GradientReport(check, args.language).report_lines(), sep="\n")
    elif args.command == "summary":
        print_tables(args, runs, in_parts)
    else:
        open_or_write_runs(args, runs, [] if len(runs) > 1 or args.rank else recorded.notes)
    return recorded.status


def print_tables(args: argparse.Namespace, runs: dict[str, Run], in_parts: bool) -> None:
    """Print the tables of runs as text, JSON or CSV. Raises RuntimeError.

    in_parts: as in `write_print_or_open_runs`
    """
    if args.json:
        tables = {name: sorted_tables(run.tables, args.sort).model_dump(mode="json") for name, run in runs.items()}
        parts = [{"recording": name, **table} for name, table in tables.items()]
        print(json.dumps(parts if in_parts else next(iter(tables.values()))))
    elif args.csv is not None:
        names = [name for name in TABLE_NAMES if args.csv in ("both", name)]
        print("\n".join(run.tables_csv(names, args.sort) for run in runs.values()), end="")
    else:
        print("\n\n".join(run.tables_text(args.sort) for run in runs.values()))


def announce_and_run_gradient_checks(args: argparse.Namespace) -> dict[str, GradientCheckReply]:
    """Announce the cost of the requested checks, run them, and return their results by name. Raises OSError."""
    script, checks = Script(args.file, args.arguments, args.module), {}
    for name, wanted in (("gradients", args.check_gradients), ("samples", args.check_samples)):
        if wanted:
            if not args.quiet:
                print(
                    f"gradbox: --check-{name}: {CHECK_COST}; it prints nothing, and writes its files again",
                    file=sys.stderr,
                )
            checks[name] = check_script(script, samples=name == "samples")
    return checks


def open_trace_or_print_tables(args: argparse.Namespace) -> int:
    """Open a recorded trace or print its tables, and return the exit status."""
    body = Path(args.file).read_bytes()
    if not is_trace_json(body):
        print(f"gradbox: {args.file}: {NOT_A_TRACE_MESSAGE}", file=sys.stderr)
        return EXIT_CANNOT_BEGIN
    try:
        run = Run(body, Path(args.file).stem, language=args.language)
        if args.command == "summary":
            print_tables(args, {"": run}, False)
        else:
            open_or_write_runs(args, {"": run})
    except BrokenPipeError:
        raise
    except (OSError, RuntimeError, ValueError) as error:
        print(f"gradbox: {error}", file=sys.stderr)
        return 1
    return 0


def open_or_write_runs(args: argparse.Namespace, runs: dict[str, Run], notes: Sequence[str] = ()) -> None:
    """Write the pictures or traces of runs, or serve their pages. Raises OSError, RuntimeError, ValueError.

    notes: more lines about the run, if there is only one
    """
    for name, run in runs.items():
        written = []
        for target in filter(None, (args.trace, args.out)):
            path = recording_output_path(target, name, len(runs))
            write_run(run, path, as_trace=target is args.trace)
            written.append(str(path))
        where = f" Written to {' and '.join(written)}" if written else ""
        more = "".join(f" {note[0].upper()}{note[1:]}." for note in notes)
        print(f"gradbox: {run.summary()}{more}{where}", file=sys.stderr)
    if args.trace is None and args.out is None:
        serve_pages_and_open_browser(run_pages(list(runs.values()), args.language), args.port, not args.no_browser)


def recording_output_path(target: str, name: str, count: int) -> Path:
    """Return the path of one of several recordings: `run-iteration-100.html` for `run.html`."""
    path = Path(target)
    return path if count == 1 else path.with_stem(f"{path.stem}-{re.sub(r'[^0-9a-z]+', '-', name)}")


def write_run(run: Run, path: Path, as_trace: bool) -> None:
    """Write a file of a run. If that raises OSError, RuntimeError or ValueError, the trace has been saved in another
    file.

    as_trace: write the trace as JSON, whatever the file's ending
    """
    try:
        if as_trace:
            path.write_bytes(run.body)
        else:
            run.save(path)
    except (OSError, RuntimeError):
        trace_file = Path(tempfile.mkdtemp(prefix="gradbox-")) / "run.json"
        trace_file.write_bytes(run.body)
        print(
            f"gradbox: {path} could not be written; the trace is kept: gradbox export {trace_file} --out FILE",
            file=sys.stderr,
        )
        raise


def export_trace(args: argparse.Namespace) -> int:
    """Make a file from a trace and return the exit status."""
    path = Path(args.trace)
    try:
        body = path.read_bytes()
        if not is_trace_json(body):
            raise ValueError(NOT_A_TRACE_MESSAGE)
        run = Run(body, args.title or path.stem, language=args.language)
        if not (args.out or args.card or args.film or args.markdown):
            raise ValueError("nothing to make: --out, --card, --film or --markdown")
        if args.out:
            run.save(args.out, step=args.step, theme=args.theme)
        if args.card:
            run.save_card(args.card, theme=args.theme)
        if args.film:
            run.save_film(args.film, theme=args.theme)
        if args.markdown:
            print(run.markdown(), end="")
    except OSError as error:
        print(f"gradbox: {error.filename or args.trace}: {error.strerror or error}", file=sys.stderr)
        return 1
    except (RuntimeError, ValueError) as error:
        print(f"gradbox: {args.trace}: {error}", file=sys.stderr)
        return 1
    return 0


def print_finding_text(args: argparse.Namespace) -> int:
    """Print what a finding means, with its program, or one line for each kind; return the exit status."""
    if args.kind is None:
        texts = [load_finding_text(kind) for kind in finding_kinds()]
        width = max(len(text.kind) for text in texts)
        print("\n".join(f"{text.kind:{width}}  {text.title}" for text in texts))
        return 0
    try:
        text = load_finding_text(args.kind)
    except FindingTextError as error:
        close = difflib.get_close_matches(args.kind, finding_kinds(), 3)
        hint = f"; is it {' or '.join(close)}?" if close else "; `gradbox about` lists all"
        print(f"gradbox: {error}{hint}", file=sys.stderr)
        return EXIT_CANNOT_BEGIN
    program = "\n".join(f"    {line}".rstrip() for line in text.program.splitlines())
    print(f"{text.title}\n\n{text.text}\n\n{program}")
    return 0


SCRIPTLESS_COMMANDS = {"about": print_finding_text, "export": export_trace, "doctor": doctor.print_report}
"""Commands that run no script."""


def is_trace_json(body: bytes) -> bool:
    try:
        trace = json.loads(body)
    except ValueError:
        return False
    return isinstance(trace, dict) and {"program", "steps", "outcome"} <= trace.keys()
