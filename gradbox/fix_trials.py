"""Tries fixes for a failing test: runs it again in a separate process, with changed functions.

That process is `pytest --gradbox-functions FILE`; FILE contains the changed text of one file.
"""

import gc
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import CodeType, FunctionType

from gradbox.installation import STATIC_FOLDER
from gradbox.judged_fixes import JUDGED_RUN_ADAPTER, JudgedRun, is_fixed
from gradbox.language import fixes
from gradbox.wire.findings import Fix, FixHint, LineEdit
from gradbox.wire.program import ProgramFile

MAX_TRIALS = 3
"""The most fixes that are tried for one failing test."""

TRIAL_TIMEOUT = 120.0
"""The most seconds of one try."""

OPTIONS = ["--gradbox", "--gradbox-no-fixes"]
FUNCTIONS_OPTION = "--gradbox-functions"
JUDGED_OPTION = "--gradbox-judged"


def passing_fixes(
    before: JudgedRun, test: str, folder: Path, path: str, source: str, files: list[ProgramFile]
) -> list[Fix]:
    """Return a list with the first fix of the most severe finding with which the test passes, what the finding says is
    gone and what it promises has happened; or an empty list.

    before: the run of the failing test
    test: the test's id
    folder: pytest's root
    path, source: the file of the test
    files: the trace's files, empty if it has only that one; fixes of other files are not tried
    """
    finding = before.findings[0]
    last_line = files[0].last_line if files else len(source.split("\n"))
    hints = [hint for hint in finding.hints if do_hint_lines_lie_in_file(hint, last_line)]
    asked = [fixes.Hint(hint.kind, hint.line, dict(hint.facts), tuple(finding.names)) for hint in hints]
    for proposal in fixes.propose(source, asked)[:MAX_TRIALS]:
        after = run_with_source(proposal.source, test, folder, path)
        if after is not None and is_fixed(finding, before, after):
            edits = [LineEdit(line=edit.line, old=edit.old, new=edit.new) for edit in proposal.edits]
            return [Fix(edits=edits, outcome="The test passes with it.", text=fix_text(proposal))]
    return []


def do_hint_lines_lie_in_file(hint: FixHint, last_line: int) -> bool:
    """Return whether all lines in a hint belong to the first file, whose line numbers equal the trace's."""
    return all(line <= last_line for line in (hint.line, *hint.facts.values()) if isinstance(line, int))


def fix_text(fix: fixes.Fix) -> str:
    """Describe a fix in a sentence."""
    sentences = json.loads((STATIC_FOLDER / "locales/findings.en.json").read_text("utf-8"))
    text: str = sentences[f"fix.{fix.kind}"]
    for name, value in fix.args.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def run_with_source(source: str, test: str, folder: Path, path: str) -> JudgedRun | None:
    """Run a test with the functions of its file replaced by those of a changed text. None if it does not pass."""
    with tempfile.TemporaryDirectory(prefix="gradbox-") as place:
        changed, judged = Path(place) / "changed.json", Path(place) / "judged.json"
        changed.write_text(json.dumps({"path": path, "source": source}))
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-o",
            "addopts=",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            str(folder),
            *OPTIONS,
            FUNCTIONS_OPTION,
            str(changed),
            JUDGED_OPTION,
            str(judged),
            test,
        ]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, timeout=TRIAL_TIMEOUT, check=False
            )
            return None if done.returncode else JUDGED_RUN_ADAPTER.validate_json(judged.read_bytes())
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return None


def replace_function_code(changed: Path) -> None:
    """Replace the code of a file's functions by that of a changed text. Raises OSError, SyntaxError, ValueError."""
    request = json.loads(changed.read_text("utf-8"))
    path = request["path"]
    codes = {
        code.co_qualname: code for code in nested_codes(compile(request["source"], path, "exec", dont_inherit=True))
    }
    for function in gc.get_objects():
        if type(function) is FunctionType and function.__code__.co_filename == path:
            code = codes.get(function.__code__.co_qualname)
            if code is not None and code.co_freevars == function.__code__.co_freevars:
                function.__code__ = code


def nested_codes(code: CodeType) -> list[CodeType]:
    """Return a code object and those of the functions and classes in it."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return [code, *(nested for constant in inner for nested in nested_codes(constant))]
