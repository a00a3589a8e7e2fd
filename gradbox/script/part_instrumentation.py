"""Runs a script unchanged, except for calls that tell where the selected parts begin and end.

The inserted code has no position in the file: no line of its own in tracebacks, and none for debuggers and coverage
tools.
"""

import ast
import dis
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, TracebackType
from typing import Any, Protocol

from gradbox.script.part_recorder import PartRecorder
from gradbox.script.round_recorder import RoundRecorder
from gradbox.script.script_parts import PartOptions, ScriptPart, choose_parts, training_loops, whole_module_part
from gradbox.sessions.own_modules import project_folder
from gradbox.terminal.progress import ProgressLine

_PLACEHOLDER_TAG = "of gradbox"
_LONG_ENTRY, _NO_LOCATION_ENTRY = 14, 15
"""Codes of entries in CPython's location table; see its `Objects/locations.md`."""

Location = tuple[int | None, int | None, int | None, int | None]


class Watcher(Protocol):
    """What a part's code calls."""

    def on_part_begin(self) -> None:
        """The part begins."""

    def update_condition(self, value: Any) -> None:
        """The value of the `--after` expression at the end of the part."""

    def on_condition_error(self) -> None:
        """The `--after` expression has raised the exception in `sys.exc_info`."""

    def __enter__(self) -> object: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None, /
    ) -> None: ...


def compile_with_watchers(
    tree: ast.Module, path: str, parts: Sequence[tuple[ScriptPart, Watcher]], after: str | None
) -> CodeType:
    """Compile a file in which each part calls its watcher.

    The tree is changed. Raises SyntaxError if blocks would be nested too deeply. Gives no warnings, because the plain
    text is compiled as well.

    after: an expression that is evaluated at the end of a part
    """
    unused_line = max((node.end_lineno or 0 for node in tree.body), default=0) + 2
    watchers = [watcher for _, watcher in parts]
    ends_first = sorted(enumerate(parts), key=lambda item: -item[1][0].start)
    for part_index, (part, _) in ends_first:
        part.block[part.start : part.stop] = [wrap_part_in_watcher(part, part_index, after, unused_line)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = compile(tree, path, "exec", dont_inherit=True)
    return bind_watchers(code, watchers, unused_line)


def wrap_part_in_watcher(part: ScriptPart, part_index: int, after: str | None, unused_line: int) -> ast.stmt:
    """Wrap the part's statements in a `with` of its watcher, and in a `try` that evaluates `after` at their end."""
    inner = part.block[part.start : part.stop]
    first = inner[0]
    enter = ast.Expr(ast.Call(watcher_placeholder(part_index, "on_part_begin"), [], []))
    for node in ast.walk(enter):  # a step of the first statement begins here
        if isinstance(node, ast.expr | ast.stmt):
            ast.copy_location(node, first)
            node.end_lineno, node.end_col_offset = node.lineno, node.col_offset + 1
    block: ast.stmt = set_line_of_syntax_nodes(
        ast.With([ast.withitem(watcher_placeholder(part_index, ""))], []), unused_line
    )
    block.body = [enter, *inner]  # type: ignore[attr-defined]
    if after is None:
        return block
    value = ast.parse(after, mode="eval").body
    check = ast.Expr(ast.Call(watcher_placeholder(part_index, "update_condition"), [value], []))
    fail = ast.Expr(ast.Call(watcher_placeholder(part_index, "on_condition_error"), [], []))
    caught = ast.ExceptHandler(watcher_placeholder(part_index, "Exception"), None, [fail])
    last = set_line_of_syntax_nodes(ast.Try([check], [caught], [], []), unused_line)
    whole: ast.stmt = set_line_of_syntax_nodes(ast.Try([], [], [], [last]), unused_line)
    whole.body = [block]  # type: ignore[attr-defined]
    return whole


def watcher_placeholder(part_index: int, name: str) -> Any:
    """A placeholder for a watcher, or for one of its methods, until the code is bound."""
    return ast.Constant((_PLACEHOLDER_TAG, part_index, name))  # type: ignore[arg-type]


def set_line_of_syntax_nodes(node: Any, line: int) -> Any:
    """Put a node and everything in it on one line."""
    for child in ast.walk(node):
        if isinstance(child, ast.expr | ast.stmt | ast.ExceptHandler):
            child.lineno = child.end_lineno = line
            child.col_offset, child.end_col_offset = 0, 1
    return node


def bind_watchers(code: CodeType, watchers: Sequence[Watcher], unused_line: int) -> CodeType:
    """The code with the watchers in place of their placeholders, and without any position on line `unused_line`."""
    constants: list[Any] = []
    for value in code.co_consts:
        if isinstance(value, CodeType):
            constants.append(bind_watchers(value, watchers, unused_line))
        elif type(value) is tuple and len(value) == 3 and value[0] == _PLACEHOLDER_TAG:
            watcher, name = watchers[value[1]], value[2]
            constants.append(Exception if name == "Exception" else getattr(watcher, name) if name else watcher)
        else:
            constants.append(value)
    locations = list(code.co_positions())
    if not any(line == unused_line for line, *_ in locations):
        return code.replace(co_consts=tuple(constants))
    table = encode_location_table(
        code.co_firstlineno, location_entries(code, locations_without_line(code, locations, unused_line))
    )
    return code.replace(co_consts=tuple(constants), co_linetable=table)


def locations_without_line(code: CodeType, locations: list[Location], unused_line: int) -> list[Location]:
    """The locations without those on a line. A jump back keeps the position of the statement before it, because Ctrl-C
    may strike there."""
    out = list(locations)
    jumps = {i.offset // 2 for i in dis.get_instructions(code) if i.opname.startswith("JUMP_BACKWARD")}
    last: Location = (None, None, None, None)
    for k, location in enumerate(locations):
        if location[0] == unused_line:
            out[k] = last if k in jumps else (None, None, None, None)
        elif location[0] is not None:
            last = location
    return out


def location_entries(code: CodeType, locations: list[Location]) -> Iterator[tuple[int, Location]]:
    """The entries of a code's location table: for how many instruction words each holds, and the location."""
    at = 0
    for byte in code.co_linetable:
        if byte & 0x80:  # the first of an entry
            length = (byte & 7) + 1
            yield length, locations[at]
            at += length


def encode_location_table(first_line: int, entries: Iterator[tuple[int, Location]]) -> bytes:
    """Encode CPython's location table.

    entries: as `location_entries` returns them
    """
    out, before = bytearray(), first_line
    for length, (line, end_line, column, end_column) in entries:
        if line is None:
            out.append(0x80 | _NO_LOCATION_ENTRY << 3 | length - 1)
            continue
        out.append(0x80 | _LONG_ENTRY << 3 | length - 1)
        delta, before = line - before, line
        out += encode_varint(-delta << 1 | 1 if delta < 0 else delta << 1)
        out += encode_varint((line if end_line is None else end_line) - line)
        out += encode_varint(0 if column is None else column + 1)
        out += encode_varint(0 if end_column is None else end_column + 1)
    return bytes(out)


def encode_varint(number: int) -> bytes:
    """Encode a non-negative number with six bits per byte, the lowest first."""
    out = bytearray()
    while number >= 64:
        out.append(number & 63 | 64)
        number >>= 6
    out.append(number)
    return bytes(out)


EXIT_CANNOT_BEGIN = 2


def run_script_recording_parts(
    request: dict[str, Any],
    path: str,
    namespace: dict[str, Any],
    source: str,
    progress: ProgressLine | None = None,
) -> BaseException | None:
    """Run the script in its module's namespace, and return the exception that it raised, if any.

    Ends the process if the options select no part of the script.

    request: see `gradbox.script.script_process.record_script`
    """
    options = PartOptions(**request["parts"])
    own_folder = None
    if not request.get("script_only"):
        own_folder = project_folder(str(Path.cwd()) if request.get("module") else path)
    try:
        tree = ast.parse(source, path)
        plain = compile(tree, path, "exec", dont_inherit=True)  # warns as plain Python does
    except SyntaxError as error:
        error.__traceback__ = None
        return error
    script = Path(path).name
    by_rounds = options.rounds or options.until is not None
    if not by_rounds and options.lines is None and next(training_loops(tree), None) is None:
        by_rounds = True
        print(f"gradbox: no loop of {script} calls backward(); the rounds of the process are counted", file=sys.stderr)
    kind: type[PartRecorder] = RoundRecorder if by_rounds else PartRecorder
    recorder = kind(
        path, Path(request["folder"]), options, also=request["also"], steps=request["limits"].get("steps"),
        own_folder=own_folder, arguments=sys.argv[1:], progress=progress,
    )  # fmt: skip
    try:
        if isinstance(recorder, RoundRecorder):
            parts = [whole_module_part(tree)]
            code = compile_with_watchers(tree, path, [(parts[0], recorder)], None)
        else:
            parts = choose_parts(tree, source, options, script)
            watchers = recorder.create_part_watchers(parts)
            code = compile_with_watchers(tree, path, list(zip(parts, watchers, strict=True)), options.after)
    except (ValueError, SyntaxError) as error:
        print(f"gradbox: {error}", file=sys.stderr)
        raise SystemExit(EXIT_CANNOT_BEGIN) from None
    del tree, plain, parts
    try:
        exec(code, namespace)
    except BaseException as error:
        position = error.__traceback__
        while position is not None and position.tb_frame.f_code.co_filename != path:
            position = position.tb_next
        error.__traceback__ = position or error.__traceback__
        return error
    finally:
        recorder.finish_script()
    return None
