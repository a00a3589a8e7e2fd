"""`python -m server doctor`: what a visitor will get on this host, in one page."""

import asyncio
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile

from server.pictures.renderer_client import Renderer, RenderingFailed
from server.pool.fair_queue import Busy
from server.pool.local import Pool
from server.pool.machine import disk_space, max_workers, total_memory
from server.pool.recorded_trace import RecordedTrace
from server.pool.zygote import WorkersUnavailable
from server.settings import Settings
from server.settings_checks import check, warnings
from server.settings_docs import format_bytes
from server.store.database import Database, StoreUnavailable
from server.store.repository import Repository
from server.wire.api import Job
from server.wire.pictures import DrawRequest

PROGRAM = "import torch\nx = torch.ones(3, requires_grad=True)\n(x * 2).sum().backward()\nprint(x.grad)\n"
RUNS = 20
FONTS = {"Latin": "en", "Chinese": "zh"}

Row = tuple[str, str, str]
"""A subject, what was found, and what is wrong with it: "" where nothing is."""


def check_fonts() -> Iterator[Row]:
    listing = shutil.which("fc-list")
    for script, language in FONTS.items():
        found = ""
        if listing:
            told = subprocess.run([listing, f":lang={language}", "family"], capture_output=True, text=True, timeout=20)
            found = told.stdout.split("\n")[0].split(",")[0]
        wrong = "" if found else f"pictures drawn on the server can show no {script} letters"
        yield f"font, {script}", found or "none", wrong


def check_host(settings: Settings) -> Iterator[Row]:
    yield "kernel", f"{platform.system()} {platform.release()}, {platform.machine()}", ""
    yield "user", "root" if os.geteuid() == 0 else f"uid {os.geteuid()}", ""
    yield "processors", f"{len(os.sched_getaffinity(0))}, for {settings.workers} programs at once", ""
    least = max_workers(settings.memory)
    wrong = f"room for {least} of {settings.workers} programs at once" if least < settings.workers else ""
    yield "memory", f"{total_memory() / 1e9:.1f} GB", wrong
    free, _ = disk_space(Path(settings.data))
    roomy = free > settings.quota or bool(settings.database_url)
    wrong = "" if roomy else f"GRADBOX_QUOTA allows {format_bytes(settings.quota)} of saved scenarios"
    yield "disk", f"{format_bytes(free)} free", wrong
    for name, why in warnings(settings):
        yield name, "doubtful", why


async def check_store(settings: Settings) -> Row:
    """The database, opened as the server would open it."""
    folder = Path(settings.data)
    database = Database(settings.database_url, folder)
    subject = "store, embedded" if database.embedded else "store, PostgreSQL"
    try:
        held = await Repository(database, settings.scenario, settings.quota).totals()
    except StoreUnavailable as error:
        return subject, "none", f"nothing can be saved or opened: {error.__cause__}".splitlines()[0][:200]
    finally:
        await database.close()
    if held.revision is None and not is_writable(folder):
        return subject, "none yet", f"nothing can be saved: this user may not write to {folder.absolute()}"
    used = f"{held.scenarios} scenarios, {format_bytes(held.size)} of {format_bytes(settings.quota)}"
    full = "" if held.size < 0.9 * settings.quota else "it is nearly full"
    return subject, f"{used}, revision {held.revision}" if held.revision else "made when the first is saved", full


def is_writable(folder: Path) -> bool:
    """Whether it can be made here, or written to where it is there."""
    there = next(place for place in (folder.absolute(), *folder.absolute().parents) if os.path.lexists(place))
    try:
        with TemporaryFile(dir=there):
            return True
    except OSError:
        return False


async def check_pictures(trace: RecordedTrace, settings: Settings) -> Row:
    """Whether one can be drawn."""
    drawings = Renderer(settings.pictures)
    began = time.perf_counter()
    try:
        if not drawings.version:
            return "pictures", "none", "the page is not built: npm run build"
        asked = DrawRequest(kind="stage", step=0, png=True)
        body = await drawings.get("doctor", asked, trace.compressed(), lambda: None)
        return "pictures", f"{format_bytes(len(body))} after {time.perf_counter() - began:.1f} s", ""
    except RenderingFailed as error:
        return "pictures", "none", str(error)
    finally:
        await drawings.close()


async def check_workers(settings: Settings) -> list[Row]:
    """What the workers say, and what they do with a small program."""
    pool = Pool(settings)
    began = time.perf_counter()
    try:
        await pool.start()
        await pool.zygote.booted()
        rows = [("workers", f"up after {time.perf_counter() - began:.1f} s", "")]
        rows += [(name, version, "") for name, version in pool.zygote.versions.items()]
        if not pool.zygote.layers:
            rows.append(("confinement", "off", "any program may do what this user may"))
        needed = {name: why for name, why in pool.zygote.layers.items() if name != "uid" or os.geteuid() == 0}
        rows += [(f"layer {name}", why or "active", needed.get(name, "")) for name, why in pool.zygote.layers.items()]
        seconds = []
        for _ in range(RUNS):
            begun = time.perf_counter()
            trace = await pool.run(Job(source=PROGRAM, limits=settings.limits()))
            seconds.append(time.perf_counter() - begun)
        middle = sorted(seconds)[RUNS // 2] * 1000
        wrong = "" if trace.outcome.status == "finished" else f"it ended as {trace.outcome.status}"
        rows.append(("a small program", f"{middle:.0f} ms in the middle of {RUNS} runs", wrong))
        rows.append(await check_pictures(trace, settings))
    except (WorkersUnavailable, Busy) as error:
        return [("workers", "none", str(error))]
    finally:
        await pool.close()
    return rows


def report(settings: Settings) -> int:
    """Print the page. The exit status: 1 where a visitor would miss something. Raises SettingError."""
    check(settings)
    rows = [
        *check_host(settings),
        asyncio.run(check_store(settings)),
        *asyncio.run(check_workers(settings)),
        *check_fonts(),
    ]
    width = max(len(subject) for subject, _, _ in rows) + 2
    for subject, found, wrong in rows:
        mark = "!" if wrong else " "
        print(f"{mark} {subject:{width}}{found}" + (f"  ({wrong})" if wrong and wrong != found else ""))
    print("\nlimits of a run")
    for name, value in {"source": settings.source, **settings.limits()}.items():
        print(f"  {name:{width}}{value:,}")
    return int(any(wrong for _, _, wrong in rows))
