"""`python -m server doctor`: checks this host and the settings, and prints a report."""

import asyncio
import contextlib
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from gradbox.assembly.recorded_trace import RecordedTrace
from gradbox.wire.api import Job
from gradbox.wire.processes import DrawRequest
from server.allowed_packages import allowed_modules
from server.commands.doctor_verdict import CheckResult, judge_readiness
from server.operating.settings_checks import check_settings, setting_warnings
from server.pictures.renderer_client import Renderer, RenderingFailed
from server.pool.interface import PoolInterface
from server.pool.machine_resources import disk_space, max_workers_for_memory, total_memory
from server.pool.machine_workers import GPU_FAILED_REASON, GPU_STARTING_REASON
from server.pool.zygote import PREPARE_FUNCTION, WorkersUnavailable
from server.quantity_formats import format_bytes
from server.services import create_pool
from server.settings import SettingError, Settings
from server.store.database import Database, StoreUnavailable
from server.store.repository import ProgramRepository
from server.wire.problems import WorkerQueueFull

GPU_START_SECONDS = 90.0
"""Seconds within which the first process with a GPU should be ready."""

TIMED_PROGRAM = "import torch\nx = torch.ones(3, requires_grad=True)\n(x * 2).sum().backward()\nprint(x.grad)\n"
TIMED_RUNS = 20
FONT_LANGUAGES = {"Latin": "en", "Chinese": "zh"}


def check_fonts() -> Iterator[CheckResult]:
    listing = shutil.which("fc-list")
    for script, language in FONT_LANGUAGES.items():
        font = ""
        if listing:
            result = subprocess.run(
                [listing, f":lang={language}", "family"], capture_output=True, text=True, timeout=20
            )
            font = result.stdout.split("\n")[0].split(",")[0]
        problem = "" if font else f"{script} letters are missing from pictures that the server draws"
        yield f"font, {script}", font or "none", problem


def check_host(settings: Settings) -> Iterator[CheckResult]:
    yield "kernel", f"{platform.system()} {platform.release()}, {platform.machine()}", ""
    yield "user", "root" if os.geteuid() == 0 else f"uid {os.geteuid()}", ""
    yield "processors", f"{len(os.sched_getaffinity(0))}, for {settings.workers} workers", ""
    least = max_workers_for_memory(settings.memory)
    problem = f"enough for {least} of {settings.workers} workers" if least < settings.workers else ""
    yield "memory", f"{total_memory() / 1e9:.1f} GB", problem
    free, _ = disk_space(Path(settings.data))
    roomy = free > settings.quota or bool(settings.database_url)
    problem = "" if roomy else f"GRADBOX_QUOTA allows {format_bytes(settings.quota)} of saved programs"
    yield "disk", f"{format_bytes(free)} free", problem
    yield "packages of programs", ", ".join(allowed_modules(settings.packages)) or "none", ""
    for name, why in setting_warnings(settings):
        yield name, "check", why


async def check_store(settings: Settings) -> CheckResult:
    """Open the database as the server does."""
    folder = Path(settings.data)
    database = Database(settings.database_url, folder)
    subject = "store, embedded" if database.embedded else "store, PostgreSQL"
    store = ProgramRepository(database, settings.scenario, settings.quota)
    try:
        database.require_database_not_emptied()
        totals = await store.read_totals()
        await store.check_writable()
    except SettingError as error:
        return subject, "none", str(error)
    except StoreUnavailable as error:
        return subject, "none", f"no program can be saved or opened: {error.__cause__}".splitlines()[0][:200]
    finally:
        await database.close()
    if totals.revision is None and not is_writable(folder):
        return (
            subject,
            "none yet",
            f"no program can be saved: this user has no write permission for {folder.absolute()}",
        )
    used = f"{totals.programs} programs, {format_bytes(totals.size)} of {format_bytes(settings.quota)}"
    full = "" if totals.size < 0.9 * settings.quota else "it is nearly full"
    return (
        subject,
        f"{used}, revision {totals.revision}" if totals.revision else "created when the first program is saved",
        full,
    )


def is_writable(folder: Path) -> bool:
    """Return whether this user can write to the folder, or create it."""
    existing = next(path for path in (folder.absolute(), *folder.absolute().parents) if os.path.lexists(path))
    try:
        with TemporaryFile(dir=existing):
            return True
    except OSError:
        return False


async def check_pictures(trace: RecordedTrace, settings: Settings) -> CheckResult:
    """Draw a step on the server."""
    renderer = Renderer(settings.pictures)
    start = time.perf_counter()
    try:
        if not renderer.version:
            return "pictures", "none", "the page is not built: npm run build"
        draw = DrawRequest(kind="stage", step=0, png=True)
        body = await renderer.get_drawing("doctor", draw, trace.body, None)
        return "pictures", f"{format_bytes(len(body))} after {time.perf_counter() - start:.1f} s", ""
    except RenderingFailed as error:
        return "pictures", "none", str(error)
    finally:
        await renderer.close()


async def check_workers(settings: Settings) -> list[CheckResult]:
    """Boot the workers, or contact remote ones, and run a small program several times."""
    database = Database(settings.database_url, Path(settings.data))
    pool = create_pool(settings, PREPARE_FUNCTION, database)
    start = time.perf_counter()
    try:
        await pool.start()
        await pool.wait_until_booted()
        rows = [("workers", f"ready after {time.perf_counter() - start:.1f} s", "")]
        rows += [describe_remote_worker(machine) for machine in pool.machine_status]
        rows += [(name, version, "") for name, version in pool.versions.items()]
        if not pool.confinement_layers:
            rows.append(("confinement", "off", "programs run with all rights of this user"))
        needed = {name: why for name, why in pool.confinement_layers.items() if name != "uid" or os.geteuid() == 0}
        rows += [
            (f"layer {name}", why or "active", needed.get(name, "")) for name, why in pool.confinement_layers.items()
        ]
        seconds = []
        for _ in range(TIMED_RUNS):
            start_of_run = time.perf_counter()
            trace = await pool.run_job(Job(source=TIMED_PROGRAM, limits=settings.run_limits()))
            seconds.append(time.perf_counter() - start_of_run)
        median = sorted(seconds)[TIMED_RUNS // 2] * 1000
        problem = "" if trace.status == "finished" else f"its outcome is {trace.status}"
        rows.append(("a small program", f"{median:.0f} ms (median of {TIMED_RUNS} runs)", problem))
        rows.append(await check_gpu(pool))
        rows.append(await check_pictures(trace, settings))
    except (WorkersUnavailable, WorkerQueueFull) as error:
        return [("workers", "none", str(error))]
    finally:
        await pool.close()
        await database.close()
    return rows


async def check_gpu(pool: PoolInterface) -> CheckResult:
    """Wait until programs run on a GPU, or until it is known why they don't. A missing GPU is no problem."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(GPU_START_SECONDS):
            while pool.unavailable_reason("cuda") == GPU_STARTING_REASON:
                await asyncio.sleep(0.1)
    problem = pool.unavailable_reason("cuda")
    failed = problem == GPU_STARTING_REASON or problem.startswith(GPU_FAILED_REASON)
    return "programs on a GPU", "none" if problem else "ready", problem if failed else ""


def describe_remote_worker(machine: dict[str, Any]) -> CheckResult:
    """Describe a remote worker in one line."""
    value = f"{machine['queue']}, {machine['capacity']} programs at once, torch {machine['versions'].get('torch', '?')}"
    return f"worker {machine['name']}", value, "it takes nothing new" if machine["draining"] else ""


def check_cluster(settings: Settings) -> list[CheckResult]:
    """Check the queue that web processes and workers share, if there is one."""
    if not settings.queue_url:
        return []
    from server.commands.doctor_queue import check_queue  # noqa: PLC0415 it needs Redis, of the extra `cluster`

    return asyncio.run(check_queue(settings))


def print_report(settings: Settings, public: bool = False) -> int:
    """Print the report and return the exit status: 1 if a line reports a problem. Raises SettingError.

    public: return 1 also if the server is not ready for public use
    """
    check_settings(settings)
    rows = [
        *check_host(settings),
        asyncio.run(check_store(settings)),
        *asyncio.run(check_workers(settings)),
        *check_cluster(settings),
        *check_fonts(),
    ]
    width = max(len(subject) for subject, _, _ in rows) + 2
    for subject, value, problem in rows:
        mark = "!" if problem else " "
        print(f"{mark} {subject:{width}}{value}" + (f"  ({problem})" if problem and problem != value else ""))
    print("\nlimits of a run")
    for name, limit in {"source": settings.source, **settings.run_limits()}.items():
        print(f"  {name:{width}}{limit:,}")
    verdict = judge_readiness(rows, settings)
    print(f"\n{verdict.text}")
    return int(any(problem for _, _, problem in rows) or (public and not verdict.public))
