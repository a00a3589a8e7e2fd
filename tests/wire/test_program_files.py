"""Several files in one trace: what joins them, and what the contract takes."""

from typing import Any

import pytest
from pydantic import ValidationError

from gradbox.assembly.assemble import assemble_trace
from gradbox.terminal.run_text import format_line_location
from gradbox.wire.api import Job
from gradbox.wire.processes import AssemblyRequest
from gradbox.wire.program import FileText, Program, join_files
from gradbox.wire.trace import Header, HeaderLine, Runtime

TEXTS = ["", "\n", "a = 1", "a = 1\n", "a = 1\r\nb = 2\r\n", "\ufeffa = 1\n\n\n", "a = 'x\x0cy'\n"]


@pytest.mark.parametrize("second", TEXTS)
@pytest.mark.parametrize("first", TEXTS)
def test_joined_files_have_the_lines_that_python_counts(first: str, second: str) -> None:
    source, files = join_files([FileText("one.py", None, first), FileText("two.py", "/x/two.py", second)])
    program = Program(source=source, files=files)
    lines = source.split("\n")
    for text, file in zip((first, second), program.files, strict=True):
        expected = text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n").split("\n")
        assert lines[file.first_line - 1 : file.last_line] == expected


def test_a_single_file_needs_no_list() -> None:
    assert join_files([FileText("one.py", None, "a = 1\n")]) == ("a = 1\n", [])


@pytest.mark.parametrize(
    "ranges",
    [[(2, 4)], [(1, 3)], [(1, 5)], [(1, 2), (2, 4)], [(1, 2), (4, 4)], [(1, 2), (3, 2)], [(3, 4), (1, 2)]],
)
def test_files_have_every_line_once(ranges: list[tuple[int, int]]) -> None:
    files = [{"name": f"{k}.py", "first_line": first, "last_line": last} for k, (first, last) in enumerate(ranges)]
    with pytest.raises(ValidationError):
        Program.model_validate({"source": "a\nb\nc\nd\n", "files": files})


def runtime(**more: Any) -> Runtime:
    settings: dict[str, Any] = {"seed": 0, "hash_seed": 0, "threads": 1, "limits": {}, "device": "cpu"}
    return Runtime(torch="2", numpy="2", python="3", tracer="1", **settings, **more)


@pytest.mark.parametrize("own_process", [True, False])
@pytest.mark.parametrize("claimed", ["own process", None])
def test_a_child_cannot_claim_where_its_trace_was_recorded(claimed: str | None, own_process: bool) -> None:
    header = Header(schema=1, program=Program(source="a = 1\n"), runtime=runtime(recorded=claimed))
    line = HeaderLine(header=header).model_dump_json(by_alias=True, exclude_unset=True).encode()
    job = Job(source="a = 1\n", device="cpu", seed=0, limits={}, input="")
    trace = assemble_trace(AssemblyRequest(job=job, own_process=own_process), line + b"\n").trace
    assert trace.header.runtime.recorded == ("own process" if own_process else None)


def test_a_terminal_names_the_file_of_a_line() -> None:
    _, files = join_files([FileText("train.py", None, "a = 1\nb = 2\n"), FileText("pkg/model.py", None, "c = 3\n")])
    assert [format_line_location(line, files) for line in (1, 2, 3, 4)] == [
        "train.py:1",
        "train.py:2",
        "pkg/model.py:1",
        "4",
    ]
    assert format_line_location(3, []) == "3"
