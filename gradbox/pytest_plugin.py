"""The pytest plugin: with `--gradbox`, a failing test's report explains its memory and gradients.

Without that option nothing is imported, installed or recorded.
"""

import argparse
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

MAX_FINDINGS = 4
"""The most findings in a report; the most severe come first."""

SESSION = pytest.StashKey[Any]()
"""The session that records a test, from its fixtures to its end."""

SKIP_AND_XFAIL_EXCEPTIONS = (pytest.skip.Exception, pytest.xfail.Exception)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gradbox")
    group.addoption(
        "--gradbox",
        action="store_true",
        help="record each test, and add to the report of a failing one what explains it, and the fix with which it "
        "passes",
    )
    group.addoption(
        "--gradbox-also", action="append", default=[], metavar="MODULE",
        help="with --gradbox: record the statements of this imported module too; may be repeated",
    )  # fmt: skip
    group.addoption(
        "--gradbox-test-only", action="store_true",
        help="with --gradbox: record only statements of the test's file, and not those of functions of the project",
    )  # fmt: skip
    group.addoption(
        "--gradbox-no-fixes", action="store_true",
        help="with --gradbox: do not run a failing test again with the fixes that may help",
    )  # fmt: skip
    for name in ("--gradbox-functions", "--gradbox-judged"):
        group.addoption(name, metavar="FILE", help=argparse.SUPPRESS)


def pytest_collection_finish(session: pytest.Session) -> None:
    """When a fix is tried, replace the functions of a file by those of its changed text."""
    changed = session.config.getoption("gradbox_functions")
    if changed is not None:
        from gradbox.fix_trials import replace_function_code  # noqa: PLC0415 every run of pytest loads this plugin

        replace_function_code(Path(changed))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Record the fixtures of a test."""
    if isinstance(item, pytest.Function) and item.config.getoption("gradbox"):
        begin_recording(item, "setup")
    try:
        return (yield)
    except BaseException as error:
        if isinstance(item, pytest.Function):
            end_recording(item, error, "setup")
        raise


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Record the call; start anew if the fixtures used all steps."""
    session = pyfuncitem.stash.get(SESSION, None)
    if session is not None and not session.is_recording:
        end_recording(pyfuncitem, None)
        begin_recording(pyfuncitem, "call")
    try:
        result = yield
    except BaseException as error:
        end_recording(pyfuncitem, error)
        raise
    end_recording(pyfuncitem, None)
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, object, object]:
    """End the recording of a TestCase's method, which pytest does not call as a function."""
    if call.when == "call" and isinstance(item, pytest.Function):
        raised = call.excinfo or next(iter(getattr(item, "_excinfo", None) or ()), None)
        end_recording(item, None if raised is None else raised.value)
    return (yield)


def begin_recording(item: pytest.Function, when: str) -> None:
    from gradbox.region import begin_session  # noqa: PLC0415 every run of pytest loads this plugin

    try:
        item.stash[SESSION] = begin_session(
            str(item.path), item.module.__dict__, None, title=item.name, also=item.config.getoption("gradbox_also"),
            steps=None, own_folder=None if item.config.getoption("gradbox_test_only") else item.config.rootpath,
        )  # fmt: skip
    except (RuntimeError, OSError) as error:
        item.add_report_section(when, "gradbox", f"not recorded: {error}")


def end_recording(item: pytest.Function, error: BaseException | None, when: str = "call") -> None:
    """End the recording if it is still going, and add a failed test's findings to its report."""
    session = item.stash.get(SESSION, None)
    if session is None:
        return
    item.stash[SESSION] = None
    session.end(error)
    judged = item.config.getoption("gradbox_judged")
    if judged is not None and error is None:
        from gradbox.judged_fixes import JUDGED_RUN_ADAPTER  # noqa: PLC0415 every run of pytest loads this plugin
        from gradbox.run import Run  # noqa: PLC0415 every run of pytest loads this plugin

        Path(judged).write_bytes(JUDGED_RUN_ADAPTER.dump_json(Run.from_lines(session.lines, item.name).judged()))
    elif judged is None and error is not None and not isinstance(error, SKIP_AND_XFAIL_EXCEPTIONS):
        add_findings_to_report(item, session, when)


def add_findings_to_report(item: pytest.Function, session: Any, when: str) -> None:
    """Add the findings of a recorded test to its report."""
    from gradbox.run import Run  # noqa: PLC0415 every run of pytest loads this plugin

    run = Run.from_lines(session.lines, item.name, again=f"pytest --gradbox --gradbox-also {{also}} '{item.nodeid}'")
    try:
        if not item.config.getoption("gradbox_no_fixes"):
            add_working_fixes(item, run)
        text = run.explain(MAX_FINDINGS)
    except (RuntimeError, OSError) as error:
        text = f"recorded, but not explained: {error}"
    item.add_report_section(when, "gradbox", text)


def add_working_fixes(item: pytest.Function, run: Any) -> None:
    """Add to the most severe finding the change that repairs it and makes the test pass. Raises RuntimeError if there
    are no findings."""
    findings = run.findings()
    if not findings or not findings[0].hints:
        return
    source = item.path.read_text("utf-8")
    from gradbox.fix_trials import passing_fixes  # noqa: PLC0415 every run of pytest loads this plugin

    fixes = passing_fixes(run.judged(), item.nodeid, item.config.rootpath, str(item.path), source, run.program_files())
    run.add_fixes(0, fixes)
