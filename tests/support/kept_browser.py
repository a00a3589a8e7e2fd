"""The Chromium of a process of the tests, which all its files use one after the other: its start, and scripts that are
compiled anew, would cost each of them a second."""

import asyncio.events
import shutil
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.waiting import PATIENCE

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Commands of Chromium, the lightest first: the shell has no window of its own, and does with a third of the time."""
DISABLED = (
    # with either, scripts that the process has compiled for an earlier page are compiled anew for the next
    "ScriptStreaming",
    "PrecompileInlineScripts",
    # Playwright's own, without those of Edge and Windows: Chromium heeds only the last of several such lists
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
)
"""Features that Chromium does without."""
FLAGS = [
    f"--disable-features={','.join(DISABLED)}",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--renderer-process-limit=1",  # the next page of a profile finds the process that new_profile keeps
]


class KeptBrowser:
    """Playwright, its Chromium and a profile, each started when it is first asked for."""

    def __init__(self, manager: Any) -> None:
        """manager: a `sync_playwright()`."""
        self._manager, self._started = manager, False
        self._browser: Any = None
        self._profile: Any = None

    @contextmanager
    def used(self) -> Iterator[Any]:
        """The browser. Within, Playwright's event loop is the running one, so no other can run in this thread."""
        if not self._started:
            self._playwright = self._manager.__enter__()
            self._started, self._loop = True, asyncio.get_running_loop()
        asyncio.events._set_running_loop(self._loop)
        try:
            if self._browser is None or not self._browser.is_connected():
                self._browser, self._profile = self._launch(), None
            yield self._browser
        finally:
            asyncio.events._set_running_loop(None)

    def _launch(self) -> Any:
        path = find_browser()
        assert path is not None
        return self._playwright.chromium.launch(executable_path=path, args=FLAGS)

    def profile(self) -> Any:
        """The profile for `page`. To be asked for within `used`."""
        if self._profile is None or not is_alive(self._profile):
            self._profile = new_profile(self._browser, viewport={"width": 1440, "height": 900}, locale="en-US")
        return self._profile

    def close(self) -> None:
        """End what was started."""
        if not self._started:
            return
        with self.used() as browser:
            browser.close()
            self._manager.__exit__()


def find_browser() -> str | None:
    """The path of the lightest Chromium here; None where there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def is_alive(profile: Any) -> bool:
    """Whether the process that `new_profile` keeps still answers."""
    try:
        return bool(profile.pages[0].evaluate("true"))
    except Exception:
        return False


def new_profile(browser: Any, **options: Any) -> Any:
    """A browser's profile whose process, which has compiled our scripts, lives on between two pages.

    A page of its own keeps it, for as long as the profile lives; a new process for each page would cost as much as what
    most tests do in it.
    """
    context = new_context(browser, **options)
    context.new_page()
    return context


def new_context(browser: Any, **options: Any) -> Any:
    """A browser's profile of its own, whose pages wait as long as a slow machine may need."""
    context = browser.new_context(**options)  # the only one
    context.set_default_timeout(1000 * PATIENCE)
    return context


def new_page(profile: Any) -> Any:
    """A fresh page in a profile from `new_profile`, which is empty then."""
    page = profile.new_page()
    forget_all(profile, page)
    return page


def close_pages(profile: Any) -> None:
    """Close all pages of a profile from `new_profile` but the one that keeps its process."""
    keeper, *opened = profile.pages
    if keeper.url == "about:blank":
        ours = [page.url for page in opened if page.url.startswith("http://127.0.0.1:")]
        if ours:
            keeper.goto(urllib.parse.urljoin(ours[0], "/healthz"))
    for page in opened:
        page.close()


def forget_all(profile: Any, page: Any) -> None:
    """Leave nothing in the profile of the pages before this one: cookies, storage, permissions."""
    profile.clear_cookies()
    profile.clear_permissions()
    devtools = profile.new_cdp_session(page)
    devtools.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
    devtools.detach()
