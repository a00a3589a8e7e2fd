"""Runs a script as it is, but for the parts of it that are to be recorded."""

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gradbox.part_code import compile_with_parts
from gradbox.part_recorder import PartRecorder
from gradbox.parts import PartOptions, choose_parts

EXIT_CANNOT_BEGIN = 2


def run_parts(
    request: dict[str, Any],
    path: str,
    namespace: dict[str, Any],
    source: str,
    on_step: Callable[[], None],
    clear_progress: Callable[[], None],
) -> BaseException | None:
    """Run the script in its module's namespace; what it raised. request: see `gradbox.script_process.record`.

    on_step, clear_progress: as `SessionOptions` has `on_step` and `before_output`. Ends the process where the options
    name no part of the script.
    """
    options = PartOptions(**request["parts"])
    recorder = PartRecorder(
        path, Path(request["folder"]), options, also=request["also"], steps=request["limits"].get("steps"),
        arguments=sys.argv[1:], on_step=on_step, clear_progress=clear_progress,
    )  # fmt: skip
    try:
        tree = ast.parse(source, path)
        plain = compile(tree, path, "exec", dont_inherit=True)  # warns as plain Python does
    except SyntaxError as error:
        error.__traceback__ = None
        return error
    try:
        parts = choose_parts(tree, source, options, Path(path).name)
        watchers = recorder.create_watchers(parts)
        code = compile_with_parts(tree, path, list(zip(parts, watchers, strict=True)), options.after)
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
        recorder.finish()
    return None
