"""`python -m server doctor`: what a visitor will get on this host, in one page."""

import asyncio
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from server.contradictions import refuse
from server.pool.local import Pool
from server.pool.machine import memory, room
from server.pool.turns import Busy
from server.pool.zygote import Down
from server.settings import Settings
from server.wire.api import Job

PROGRAM = "import torch\nx = torch.ones(3, requires_grad=True)\n(x * 2).sum().backward()\nprint(x.grad)\n"
RUNS = 20
FONTS = {"Latin": "en", "Chinese": "zh"}

Row = tuple[str, str, str]
"""A subject, what was found, and what is wrong with it: "" where nothing is."""


def fonts() -> Iterator[Row]:
    listing = shutil.which("fc-list")
    for script, language in FONTS.items():
        found = ""
        if listing:
            told = subprocess.run([listing, f":lang={language}", "family"], capture_output=True, text=True, timeout=20)
            found = told.stdout.split("\n")[0].split(",")[0]
        wrong = "" if found else f"pictures drawn on the server can show no {script} letters"
        yield f"font, {script}", found or "none", wrong


def host(settings: Settings) -> Iterator[Row]:
    yield "kernel", f"{platform.system()} {platform.release()}, {platform.machine()}", ""
    yield "user", "root" if os.geteuid() == 0 else f"uid {os.geteuid()}", ""
    yield "processors", f"{len(os.sched_getaffinity(0))}, for {settings.workers} programs at once", ""
    least = room(settings.memory)
    wrong = f"room for {least} of {settings.workers} programs at once" if least < settings.workers else ""
    yield "memory", f"{memory() / 1e9:.1f} GB", wrong
    disk = shutil.disk_usage(Path.cwd()).free
    yield "disk", f"{disk / 1e9:.1f} GB free", "" if disk > 1e8 else "there is no room for saved scenarios"


async def workers(settings: Settings) -> list[Row]:
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
        rows += [(f"layer {name}", why or "active", why) for name, why in pool.zygote.layers.items()]
        seconds = []
        for _ in range(RUNS):
            begun = time.perf_counter()
            trace = await pool.run(Job(source=PROGRAM, limits=settings.limits()))
            seconds.append(time.perf_counter() - begun)
        middle = sorted(seconds)[RUNS // 2] * 1000
        wrong = "" if trace.outcome.status == "finished" else f"it ended as {trace.outcome.status}"
        rows.append(("a small program", f"{middle:.0f} ms in the middle of {RUNS} runs", wrong))
    except (Down, Busy) as error:
        return [("workers", "none", str(error))]
    finally:
        await pool.close()
    return rows


def examine(settings: Settings) -> int:
    """Print the page. The exit status: 1 where a visitor would miss something. Raises SettingError."""
    refuse(settings)
    rows = [*host(settings), *asyncio.run(workers(settings)), *fonts()]
    width = max(len(subject) for subject, _, _ in rows) + 2
    for subject, found, wrong in rows:
        mark = "!" if wrong else " "
        print(f"{mark} {subject:{width}}{found}" + (f"  ({wrong})" if wrong and wrong != found else ""))
    print("\nlimits of a run")
    for name, value in {"source": settings.source, **settings.limits()}.items():
        print(f"  {name:{width}}{value:,}")
    return int(any(wrong for _, _, wrong in rows))
