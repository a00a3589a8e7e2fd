"""The process that checks a script's gradients, or whether its samples stay apart: it runs the script again and again,
up to its first backward, without what it prints.

`gradbox.script.script_check` starts it. It ends without exit handlers, which are the script's.
"""

import importlib.util
import json
import linecache
import os
import random
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import torch

from gradbox.gradient_check.check import GradientChecker
from gradbox.gradient_check.replay import ReplayableProgram
from gradbox.gradient_check.sample_check import SampleChecker
from gradbox.recorder.probes.probe import ProbeContext
from gradbox.recorder.replacements import TorchReplacements
from gradbox.recorder.stack import PROGRAM_FILENAME
from gradbox.recorder.trace_lines import error_record
from gradbox.script.recorded_script import create_main_module, find_script
from gradbox.wire.api import GradientCheckReply
from gradbox.wire.gradient_check import GradientCheck, GradientCheckOptions

FIRST_BACKWARD = 0


def reseed() -> None:
    """Seed all generators that a script may draw from without a seed of its own."""
    torch.manual_seed(0)
    random.seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)


def check_script(request: dict[str, Any], target: str, arguments: list[str]) -> GradientCheckReply:
    """Run the script again and again, and check what it computed.

    request: see `gradbox.script.script_check.check_script`
    """
    sys.argv[:] = [target, *arguments]
    sys.path[0] = str(Path.cwd()) if request["module"] else str(Path(target).resolve().parent)
    path, spec = find_script(target, request["module"])
    source = importlib.util.decode_source(Path(path).read_bytes())
    linecache.cache[PROGRAM_FILENAME] = (len(source), None, source.splitlines(keepends=True), PROGRAM_FILENAME)
    try:
        code = compile(source, PROGRAM_FILENAME, "exec", dont_inherit=True)
    except SyntaxError as error:
        return GradientCheckReply(status="refused", message=f"SyntaxError: {error.msg}", check=None)
    program = ReplayableProgram(code, reseed, make_module=lambda: create_main_module(path, spec))
    options = GradientCheckOptions(samples=request["samples"], backward=FIRST_BACKWARD)
    with TorchReplacements(ProbeContext()):
        check: GradientChecker | SampleChecker
        if options.samples:
            check = SampleChecker(program, options, time.process_time(), request["seconds"])
            result = GradientCheck(samples=check.run())
        else:
            check = GradientChecker(program, options, time.process_time(), request["seconds"])
            result = check.run()
    if check.error is None:
        return GradientCheckReply(status="finished", check=result)
    fields = error_record(check.error)
    return GradientCheckReply(status="raised", message=f"{fields['type']}: {fields['message']}", check=result)


def main() -> NoReturn:
    """Run as `python -c`, with the request as JSON, the script and its arguments."""
    _, request, target, *arguments = sys.argv
    options = json.loads(request)
    with suppress(ImportError, OSError):
        reply = check_script(options, target, arguments)
        Path(options["reply"]).write_text(reply.model_dump_json(), "utf-8")
    os._exit(0)
