"""What the page's functions say of traces, as Node runs them: findings, captions, readings. One Node serves a whole
process."""

import atexit
import json
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from gradbox.wire.findings import LookedFor, RunReading
from tests.recordings.store import kept_document, recordings

ROOT = Path(__file__).parents[2]
NODE = [shutil.which("node") or "node", "--no-warnings", "--import", str(ROOT / "static/typescript.mjs")]
"""Node as it runs the page's modules."""

LANGUAGES = ("en", "zh")

Document = bytes | dict[str, Any]
"""A trace: as it is kept, or as JSON values."""
Findings = list[dict[str, Any]]
"""The findings of a trace, the best first."""


@cache
def node() -> subprocess.Popen[bytes]:
    """The Node of this process."""
    process = subprocess.Popen(
        [*NODE, str(ROOT / "tests/recordings/node.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    )
    atexit.register(process.communicate)
    return process


def call_page(module: str, *values: Any) -> Any:
    """What the default export of a module of `tests` returns.

    values: what JSON can hold, or bytes that are JSON already
    """
    texts = [value if isinstance(value, bytes) else json.dumps(value).encode() for value in values]
    process = node()
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(b'{"module": %s, "values": [%s]}\n' % (json.dumps(module).encode(), b", ".join(texts)))
    process.stdin.flush()
    line = process.stdout.readline()
    assert line, "Node has ended"
    answer = json.loads(line)
    assert "thrown" not in answer, answer["thrown"]
    return answer["value"]


def findings_by_language(document: Document) -> dict[str, Findings]:
    """The findings of a trace, explained once, in the words of each language."""
    found: dict[str, Findings] = call_page("recordings/findings", document, LANGUAGES)
    return found


def findings_of_traces(traces: Sequence[Document], language: str = "en") -> list[Findings]:
    """The findings of each trace."""
    return [call_page("recordings/findings", document, [language])[language] for document in traces]


def findings_of(source: str, language: str = "en") -> Findings:
    """The findings of one program."""
    return findings_of_traces([kept_document(source)], language)[0]


def looked_for_in(source: str, language: str = "en") -> LookedFor | None:
    """What is said of a program in which nothing is wrong; None where something is."""
    found = call_page("recordings/looked_for", kept_document(source), language)
    return None if found is None else LookedFor.model_validate(found)


def reading_of(recorded: dict[str, Any], language: str = "en") -> RunReading:
    """A trace as the terminal prints it."""
    return RunReading.model_validate(call_page("recordings/reading", recorded, language))


class ExplainedProgram:
    """A program of a file and its findings, by language. Its text, for the message of a failed assertion, has what it
    ran."""

    def __init__(self, path: Path) -> None:
        self._name = path.stem
        document = kept_document(path.read_text("utf-8"))
        self.trace = json.loads(document)
        self.findings = findings_by_language(document)
        self.has_finished = self.trace["outcome"]["status"] == "finished"

    def __str__(self) -> str:
        trace = self.trace
        found = [f"  {one['kind']} at {one['line']} ({one['severity']}): {one['text']}" for one in self.findings["en"]]
        outcome = {name: value for name, value in trace["outcome"].items() if value}
        head = f"{self._name} has {len(found)} findings"
        return "\n".join([head, *found, f"and ran, until {json.dumps(outcome)}:", *operations(trace)])


def record_programs(paths: Iterable[Path]) -> None:
    """Record the programs of files that are not kept, beside each other, before they are asked for one by one."""
    recordings().fill([path.read_text("utf-8") for path in paths])


MOST_OPERATIONS = 80


def operations(trace: dict[str, Any]) -> list[str]:
    """What ran at each line, a step a line: operations with what went in and came out, events with their facts."""
    source, rows = trace["program"]["source"].splitlines(), []
    for step in trace["steps"]:
        ran = [text_of_entry(entry) for entry in step["log"] if entry["kind"] != "out"]
        if ran or step["kind"] == "raise":
            code = source[step["line"] - 1].strip() if 0 < step["line"] <= len(source) else ""
            rows += [
                f"  step {step['i']}, {step['kind']}, line {step['line']}: {code}",
                *(f"    {text}" for text in ran),
            ]
    more = len(rows) - MOST_OPERATIONS
    return rows if more <= 0 else [*rows[:MOST_OPERATIONS], f"  … {more} lines more"]


def text_of_entry(entry: dict[str, Any]) -> str:
    """An operation or an event of a step's log."""
    if entry["kind"] == "op":
        came_out = (
            "failed"
            if entry.get("failed")
            else ", ".join(
                f"{uid} {'with' if requires else 'without'} grad"
                for uid, requires in zip(entry["outputs"], entry["requires_grad"], strict=True)
            )
        )
        return f"{entry['name'].removeprefix('aten::')}({', '.join(entry['inputs'])}) -> {came_out}"
    facts = {name: value for name, value in entry.items() if name not in ("kind", "event")}
    return f"{entry.get('event', entry['kind'])} {json.dumps(facts)[:160]}"
