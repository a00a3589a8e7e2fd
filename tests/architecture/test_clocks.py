"""No test depends on how fast the machine is: none asserts what a clock says, and none sleeps without saying why."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
CLOCKS = {"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "time", "time_ns"}
"""Functions of `time` that count while others have the processor. `thread_time` and `process_time` do not."""

MEASURING = {
    "assault": "`make assault` measures how long visitors wait",
    "chaos": "`make chaos` measures how long a server is away",
    "chaos_cluster": "`make chaos-cluster`, likewise",
    "durations.py": "writes down how long each test took",
    "compiled_programs.py": "a program's own figures",
    "container_engines.py": "`make image-check` prints how long an image takes to build and to start",
    "gpu_check.py": "`make gpu-check` prints a table of figures",
    "image.py": "`make image-check`, likewise",
    "large_model_script.py": "a program's own figures",
    "loop_pieces.py": "how late a callback of the loop comes, and no more than other threads have computed meanwhile",
    "versions.py": "`make test-versions` prints minutes",
    "waiting.py": "gives up after a while",
}
"""What may read a clock, by file or folder, and why."""

LEAST_SECONDS = 60
"""The shortest time after which a test may give up."""

SLEEPS = {"sleep", "wait_for_timeout"}
BOUNDED = {"timeout": 0, "wait_for": 1, "settimeout": 0, "wait": 0, "join": 0, "create_connection": 1}
"""Functions that give up after a number of seconds, and its place among their arguments; `timeout=` is that of any."""


def modules() -> list[Path]:
    """The modules of the tests, without the programs that are text to them."""
    excluded = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]["exclude"]
    found = [path for path in (ROOT / "tests").rglob("*.py") if not any(ROOT / one in path.parents for one in excluded)]
    return sorted(path for path in found if not MEASURING.keys() & {*path.relative_to(ROOT / "tests").parts})


WORDS = re.compile(
    r"sleep\(|timeout|wait_for\(|wait\(\d|join\(\d|create_connection|new_context|monotonic|perf_counter|import time|time\.time"  # noqa: E501
)
"""A module without any of these has no fault."""


def name_of(function: ast.expr) -> str:
    """The last part of what is called."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def seconds_of(call: ast.Call) -> float | None:
    """After how many seconds it gives up, where that is a literal. Playwright counts milliseconds."""
    name = name_of(call.func)
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "timeout"), None)
    if given is None and len(call.args) > BOUNDED.get(name, 99):
        given = call.args[BOUNDED[name]]
    if not isinstance(given, ast.Constant) or not isinstance(given.value, int | float):
        return None
    return given.value / 1000 if given.value >= 1000 else given.value


def find_faults(source: str) -> Iterator[str]:
    """What a slow machine would notice in a module, with its line. A comment there, or above, may say why it is
    right."""
    if not WORDS.search(source):
        return
    lines = ["", *source.splitlines()]

    def has_reason(line: int) -> bool:
        return "  # " in lines[line] or lines[line - 1].lstrip().startswith("# ")

    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "time" and node.attr in CLOCKS:
            yield f"{node.lineno}: time.{node.attr} is a clock: wait by tests.support.waiting, measure by time.thread_time"  # noqa: E501
        elif isinstance(node, ast.ImportFrom) and node.module == "time" and CLOCKS & {one.name for one in node.names}:
            yield f"{node.lineno}: a clock is imported"
        elif isinstance(node, ast.Call):
            name, seconds = name_of(node.func), seconds_of(node)
            if name in SLEEPS and ast.unparse(node.args[0]) != "0" and not has_reason(node.lineno):
                yield f"{node.lineno}: {name} without a comment that says why: wait by tests.support.waiting"
            elif seconds and seconds < LEAST_SECONDS and not has_reason(node.lineno):
                yield f"{node.lineno}: {name} gives up after {seconds:g} s: tests.support.waiting has PATIENCE"
            elif ast.unparse(node.func).endswith(("browser.new_context", "chromium.new_context")) and not has_reason(
                node.lineno
            ):
                yield f"{node.lineno}: pages of {name} give up after 30 s: tests.support.kept_browser has new_context"


@pytest.mark.parametrize(
    ("line", "is_fault"),
    [
        ("assert time.monotonic() - began < 5", True),
        ("until = time.perf_counter() + 3", True),
        ("from time import monotonic", True),
        ("used = time.thread_time()", False),
        ("time.sleep(0.3)", True),
        ("time.sleep(0.3)  # the program's own", False),
        ("asyncio.sleep(0)", False),
        ("page.wait_for_timeout(500)", True),
        ("asyncio.wait_for(run(), 10)", True),
        ("asyncio.wait_for(run(), PATIENCE)", False),
        ("process.wait(20)", True),
        ("page.locator('p').wait_for(timeout=3000)", True),
        ("subprocess.run(command, timeout=300)", False),
        ("chromium.new_context(offline=True)", True),
    ],
)
def test_what_a_slow_machine_would_notice_is_found(line: str, is_fault: bool) -> None:
    assert bool([*find_faults(f"\n{line}\n")]) is is_fault


def test_no_test_depends_on_how_fast_the_machine_is() -> None:
    found = modules()
    assert len(found) > 300
    faults = [f"{path.relative_to(ROOT)}:{fault}" for path in found for fault in find_faults(path.read_text())]
    assert not faults, "\n".join(faults)
