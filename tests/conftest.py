"""What tests share: a running server, a pool of workers, Chromium; the order of the files; what could not run."""

import gc
import os
import secrets
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.forks import prepared_modules
from tests.loop.durations import DurationsWriter, longest_first
from tests.support.kept_browser import KeptBrowser, close_pages, find_browser, new_page
from tests.support.waiting import wait_for_answer, wait_until

if TYPE_CHECKING:
    from tests.support.workers import Workers

os.environ.pop("DATABASE_URL", None)  # nobody's database is for tests
os.environ.setdefault("RECORDINGS_SEED", secrets.token_hex(4))

pytest.register_assert_rewrite(
    *(
        f"tests.{name}"
        for name in (
            "agreement.traps",
            "agreement.traps_autograd",
            "agreement.traps_memory",
            "agreement.traps_python",
            "agreement.traps_runtime",
            "support.brokers",
            "support.databases",
            "support.pools",
        )
    )
)

ROOT = Path(__file__).parent.parent
UNLIMITED = dict.fromkeys(
    (
        "RATE_LIMIT",
        "ADDRESS_LIMIT",
        "LIVE_LIMIT",
        "LIVE_ADDRESS_LIMIT",
        "SAVE_LIMIT",
        "SAVE_ADDRESS_LIMIT",
        "PICTURE_LIMIT",
        "REQUEST_LIMIT",
    ),
    "100000/minute",
)
FIRST = "tests/matrix/test_matrix.py"
"""What it measures, other files use."""

ORDER = "longest_first"
"""Where the process that starts the others tells them the order of the files."""


def pytest_configure(config: pytest.Config) -> None:
    """Where several processes run tests, they share the hosts of what they fork."""
    if getattr(config.option, "numprocesses", None):
        from tests.forks import shared_hosts

        os.environ |= shared_hosts.sockets()
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(DurationsWriter(config))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process that runs tests the order of their files: it has to be the same in all."""
    node.workerinput[ORDER] = longest_first()


def pytest_report_header() -> str:
    """Which of the kept recordings this run checks: see tests/recordings/store.py."""
    return f"RECORDINGS_SEED={os.environ['RECORDINGS_SEED']}"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """No pass of the collector while ten thousand tests are made, and none later searches them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)  # tests make more objects than a program, and wait for none of them to go


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """What the test's file has imported is made ready for tests; what no test imports, no test waits for."""
    prepared_modules.prepare()


@pytest.fixture(scope="session")
def site_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the database and the caches of `site`."""
    return tmp_path_factory.mktemp("site")


@pytest.fixture(scope="session")
def site(site_folder: Path) -> Iterator[str]:
    """The address of a running server whose workers are up and whose scenarios have been run."""
    from tests.support.running_server import running_server

    with running_server(site_folder, **UNLIMITED) as address:
        wait_until(lambda: b'"trace_url": null' not in wait_for_answer(address), lambda: "its scenarios have no traces")
        yield address


@pytest.fixture(scope="session")
def workers() -> "Iterator[Workers]":
    """A pool of workers for every test that needs no settings of its own."""
    from tests.support.workers import Workers

    workers = Workers()
    yield workers
    workers.close()


@pytest.fixture(scope="session")
def _kept_browser() -> Iterator[KeptBrowser]:
    api = pytest.importorskip("playwright.sync_api")
    if find_browser() is None:
        pytest.skip("no Chromium on this machine")
    if not (ROOT / "static/dist/main.js").exists():
        pytest.skip("the page is not built: npm run build")
    kept = KeptBrowser(api.sync_playwright())
    yield kept
    kept.close()


@pytest.fixture(scope="module")
def chromium(_kept_browser: KeptBrowser) -> Iterator[Any]:
    """A headless Chromium, or a skip that says what is missing. While a file has it, an event loop runs."""
    with _kept_browser.used() as browser:
        yield browser


@pytest.fixture(scope="module")
def profile(_kept_browser: KeptBrowser, chromium: Any) -> Any:  # noqa: ARG001 it has to be in use
    """A browser's profile, for the pages of all files one after the other: each finds it empty."""
    return _kept_browser.profile()


@pytest.fixture
def page(profile: Any) -> Iterator[Any]:
    """A fresh page in an empty profile, whose console has to stay empty of errors."""
    page = new_page(profile)
    console_errors: list[str] = []

    def told(message: Any) -> None:
        # it may not be made yet, and is asked for again
        thumbnail = message.location["url"].partition("?")[0].endswith(".svg")
        if message.type == "error" and not thumbnail:
            console_errors.append(message.text)

    page.on("console", told)
    page.on("pageerror", lambda error: console_errors.append(str(error)))
    yield page
    close_pages(profile)
    expected = ("status of 4", "htmx:", "net::ERR_")  # an error that a test provokes is told by its own sentence
    assert [text for text in console_errors if not any(word in text for word in expected)] == []


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests with a browser, and order the files for two processes that take one after the other.

    Files with a browser come last: once it has run, a process has more than its own stack and is no good to fork. In
    both parts the longest and the slow ones come first, so that no process is left alone with one.
    """
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
    ranks: dict[Path, tuple[bool, bool]] = {}
    for item in items:
        browser, quick = item.get_closest_marker("browser") is not None, item.get_closest_marker("slow") is None
        had_browser, was_quick = ranks.get(item.path, (False, True))
        ranks[item.path] = browser or had_browser, quick and was_quick

    longest = getattr(config, "workerinput", {}).get(ORDER, [])
    positions = {file: position for position, file in enumerate(dict.fromkeys([FIRST, *longest]))}

    def rank(item: pytest.Item) -> tuple[Any, ...]:
        browser, quick = ranks[item.path]
        position = positions.get(item.nodeid.partition("::")[0], len(positions))
        return browser, position, quick, item.path, item.get_closest_marker("browser") is not None

    items.sort(key=rank)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Every check that could not run here, and why, and every test that held only when run again: nothing in
    silence."""
    reasons: dict[str, Counter[str]] = {}
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else "?"
        reasons.setdefault(reason, Counter())[report.nodeid.partition("::")[0]] += 1
    if reasons:
        terminalreporter.section("not run here")
    for reason, files in sorted(reasons.items()):
        where = ", ".join(f"{count} in {name}" for name, count in sorted(files.items()))
        terminalreporter.write_line(f"{reason}: {where}")
    again = sorted({report.nodeid for report in terminalreporter.stats.get("rerun", [])})
    failed = {report.nodeid for kind in ("failed", "error") for report in terminalreporter.stats.get(kind, [])}
    unstable = [nodeid for nodeid in again if nodeid not in failed]
    if unstable:
        terminalreporter.section("failed at first, held when run again: mend these")
    for nodeid in unstable:
        terminalreporter.write_line(nodeid)
