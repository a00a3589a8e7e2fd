"""The plugin of pytest: with `--gradbox` a failing test's report says what there is to say of its memory and gradients.

Without that option nothing is imported, installed or recorded.
"""

import importlib
from collections.abc import Generator
from typing import Any

import pytest

MAX_FINDINGS = 4
"""Findings that a report has; the gravest come first."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gradbox")
    group.addoption(
        "--gradbox", action="store_true",
        help="record each test, and add to the report of a failing one what explains it",
    )  # fmt: skip
    group.addoption(
        "--gradbox-also", action="append", default=[], metavar="MODULE",
        help="with --gradbox: record the statements of this imported module too; may be repeated",
    )  # fmt: skip
    group.addoption(
        "--gradbox-test-only", action="store_true",
        help="with --gradbox: record only statements of the test's file, and not those of functions of the project",
    )  # fmt: skip


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Record the call where that is asked for."""
    if not pyfuncitem.config.getoption("gradbox"):
        return (yield)
    recording = importlib.import_module("gradbox.region")
    try:
        session = recording.begin_session(
            str(pyfuncitem.path), pyfuncitem.module.__dict__, None, title=pyfuncitem.name,
            also=pyfuncitem.config.getoption("gradbox_also"), steps=None,
            own_folder=None if pyfuncitem.config.getoption("gradbox_test_only") else pyfuncitem.config.rootpath,
        )  # fmt: skip
    except (RuntimeError, OSError) as error:
        pyfuncitem.add_report_section("call", "gradbox", f"not recorded: {error}")
        return (yield)
    try:
        result = yield
    except BaseException as error:
        session.end(error)
        add_findings_to_report(pyfuncitem, session)
        raise
    session.end()
    return result


def add_findings_to_report(item: pytest.Function, session: Any) -> None:
    """Add the findings of a recorded test to its report."""
    run = importlib.import_module("gradbox.run").Run.from_lines(
        session.lines, item.name, again=f"pytest --gradbox --gradbox-also {{also}} '{item.nodeid}'"
    )
    try:
        text = run.explain(MAX_FINDINGS)
    except (RuntimeError, OSError) as error:
        text = f"recorded, but not explained: {error}"
    item.add_report_section("call", "gradbox", text)
