"""The first line of a session's trace: the program's files as one source, and what runs them."""

import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import torch

from gradbox import __version__
from gradbox.language.program_files import FileText, join_files
from gradbox.recorder.device_name import device_name
from gradbox.recorder.instrument import Statements
from gradbox.recorder.trace_lines import statement_records
from gradbox.sessions.options import ProgramFile, SessionOptions
from gradbox.wire.records import HeaderRecord, ProgramFileRecord, ProgramRecord, RuntimeRecord


def header(
    program_files: Sequence[ProgramFile],
    statements: Statements,
    limits: dict[str, int | float],
    options: SessionOptions,
    seed: int,
) -> HeaderRecord:
    """The header of a trace of these files, whose statements are in the table. seed: torch's, when recording began."""
    source, files = join_files(FileText(file.name, file.path, file.source) for file in program_files)
    device = "cuda" if torch.cuda.is_initialized() else "cpu"  # type: ignore[no-untyped-call]
    runtime: RuntimeRecord = {
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "tracer": __version__,
        "device": device,
        "device_name": device_name(device),
        "seed": seed,
        "hash_seed": int(os.environ.get("PYTHONHASHSEED", "0").replace("random", "0") or 0),
        "threads": torch.get_num_threads(),
        "limits": limits,
    }
    if options.arguments:
        runtime["arguments"] = list(options.arguments)
    if options.region is not None:
        runtime["regions"] = [options.region]
    lines = source.split("\n")
    program: ProgramRecord = {
        "source": source,
        "lines": [k + 1 for k in range(len(lines))],
        "statements": statement_records(source, statements.rows),
        "notices": [],
    }
    if files:
        program["files"] = [cast(ProgramFileRecord, file.model_dump(mode="json")) for file in files]
    return {"schema": 1, "program": program, "runtime": runtime}


def shown_name(path: str, main: str) -> str:
    """How a file is named: from the main file's folder where it lies in that."""
    try:
        return Path(path).resolve().relative_to(Path(main).resolve().parent).as_posix()
    except ValueError:
        return Path(path).name
