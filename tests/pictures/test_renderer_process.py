"""The process that draws: one drawing at a time, bounded, restarted after a crash, gone with its server."""

import asyncio
import contextlib
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradbox.pictures.renderer_process import FontFamilies, font_family, svg_to_png
from gradbox.wire.processes import DrawRequest
from server.pictures import renderer_client
from server.pictures.renderer_client import Renderer, RenderingFailed, StepNotFound
from tests.forks.forked_server import run_command
from tests.sharing.test_exports import FREE, PROGRAM, PUBLIC, needs_page, size
from tests.sharing.test_saved_programs import code, saved, visiting
from tests.support.databases import DatabaseFactory
from tests.support.waiting import PATIENCE, eventually, wait_until

pytest_plugins = ["tests.support.databases"]

ROOT = Path(__file__).parents[2]
pytestmark = [needs_page, pytest.mark.slow]


def packed(steps: int) -> bytes:
    golden = json.loads((ROOT / "tests/golden/a_module_learns.json").read_text())
    golden["steps"] = golden["steps"][:steps]
    return gzip.compress(json.dumps(golden).encode())


async def nobody() -> None:
    pass


@pytest.fixture
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No clock ends a drawing."""
    monkeypatch.setattr(renderer_client, "DRAWING_SECONDS", PATIENCE)
    monkeypatch.setattr(renderer_client, "TIMEOUT", PATIENCE)
    monkeypatch.setattr(renderer_client, "START_TIMEOUT", 2 * PATIENCE)


def test_one_process_draws_and_a_new_one_comes_where_it_died() -> None:
    async def render() -> None:
        drawings = Renderer(10**7)
        try:
            first = await drawings.get_drawing("a", DrawRequest(kind="stage", step=1), packed(3), nobody)
            assert first.startswith(b"<?xml")
            assert drawings._small._process is not None
            drawings._small._process.kill()
            await drawings._small._process.wait()
            second = await drawings.get_drawing("b", DrawRequest(kind="stage", step=1), packed(3), nobody)
            assert second == first and drawings.starts == 2
            with pytest.raises(StepNotFound):
                await drawings.get_drawing("a", DrawRequest(kind="stage", step=3), packed(3), nobody)
            assert drawings.starts == 2
        finally:
            await drawings.close()

    asyncio.run(render())


def test_a_trace_that_cannot_be_drawn_does_not_affect_the_next() -> None:
    async def render() -> None:
        drawings = Renderer(10**7)
        try:
            for broken in (b"", b"no gzip", gzip.compress(b"{}"), gzip.compress(b"null"), gzip.compress(b"\xff\xfe")):
                with pytest.raises(RenderingFailed):
                    await drawings.get_drawing(str(broken), DrawRequest(kind="stage", step=0), broken, nobody)
            assert (await drawings.get_drawing("a", DrawRequest(kind="loom"), packed(3), nobody)).startswith(b"<?xml")
            assert drawings.failures == 5
        finally:
            await drawings.close()

    asyncio.run(render())


def test_steps_that_lack_something_end_no_process() -> None:
    golden = json.loads((ROOT / "tests/golden/a_module_learns.json").read_text())
    forged = []
    for field in ("shape", "stride", "name", "next", "nbytes", "dtype", "storage"):
        steps = [
            {**step, "set": {uid: {k: v for k, v in facts.items() if k != field} for uid, facts in step["set"].items()}}
            for step in golden["steps"]
        ]
        forged.append(gzip.compress(json.dumps({**golden, "steps": steps}).encode()))

    async def render() -> None:
        drawings = Renderer(10**7)
        try:
            for number, trace in enumerate([*forged, gzip.compress(b"{}"), gzip.compress(b"null")]):
                for step in (4, len(golden["steps"]) - 1):
                    with contextlib.suppress(RenderingFailed):
                        await drawings.get_drawing(f"{number}", DrawRequest(kind="stage", step=step), trace, nobody)
            assert drawings.failures and drawings.starts == 1
            assert (await drawings.get_drawing("a", DrawRequest(kind="loom"), packed(3), nobody)).startswith(b"<?xml")
        finally:
            await drawings.close()

    asyncio.run(render())


def test_a_drawing_that_is_cut_short_leaves_no_answer_for_the_next() -> None:
    async def render() -> None:
        drawings = Renderer(10**7)
        try:
            first = asyncio.create_task(drawings.get_drawing("a", DrawRequest(kind="loom"), packed(9), nobody))
            await asyncio.sleep(0.01)  # it is cut short at any moment
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            drawn = await drawings.get_drawing("a", DrawRequest(kind="stage", step=1), packed(3), nobody)
            assert b'class="stage-svg"' in drawn
        finally:
            await drawings.close()

    asyncio.run(render())


def test_a_failed_drawing_is_tried_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine may have been the cause."""
    monkeypatch.setattr("server.pictures.renderer_client.FAILURE_SECONDS", 0.0)

    async def render() -> None:
        drawings = Renderer(10**7)
        try:
            for trace in (gzip.compress(b"null"), gzip.compress(b"null"), packed(3)):
                with contextlib.suppress(RenderingFailed):
                    body = await drawings.get_drawing("x", DrawRequest(kind="stage", step=0, size=1), trace, nobody)
            assert drawings.failures == 2 and b'class="stage-svg"' in body
        finally:
            await drawings.close()

    asyncio.run(render())


def test_a_drawing_waits_in_the_best_place_of_all_who_want_it() -> None:
    async def render() -> None:
        drawings = Renderer(10**7)
        done: list[str] = []

        async def draw(name: str, owner: str) -> None:
            await drawings.get_drawing(name, DrawRequest(kind="loom"), packed(3), nobody, owner)
            done.append(name)

        try:
            await draw("first", "attacker")
            tasks = [asyncio.create_task(draw(name, "attacker")) for name in ("a", "b", "c", "lesson")]
            await asyncio.sleep(0)
            tasks.append(asyncio.create_task(draw("lesson", "visitor")))
            await asyncio.gather(*tasks)
            assert done.index("lesson") == 2, done
            assert done.count("lesson") == 2 and drawings.starts == 1
        finally:
            await drawings.close()

    asyncio.run(render())


def test_a_failed_drawing_is_not_tried_again_at_once() -> None:
    async def render() -> None:
        drawings = Renderer(10**7)
        try:
            for _ in range(3):
                with pytest.raises(RenderingFailed):
                    await drawings.get_drawing("x", DrawRequest(kind="stage", step=0), gzip.compress(b"null"), nobody)
            assert (drawings.starts, drawings.failures) == (1, 1)
        finally:
            await drawings.close()

    asyncio.run(render())


def test_a_drawing_that_no_request_waits_for_is_skipped() -> None:
    async def render() -> None:
        drawings = Renderer(10**7)
        try:
            asked = [
                drawings.get_drawing("a", DrawRequest(kind="stage", step=step), packed(9), nobody) for step in range(6)
            ]
            tasks = [asyncio.create_task(work) for work in asked]
            await asyncio.sleep(0)
            for task in tasks[1:5]:
                task.cancel()
            first, *gone, last = await asyncio.gather(*tasks, return_exceptions=True)
            assert isinstance(first, bytes) and isinstance(last, bytes)
            assert all(isinstance(error, asyncio.CancelledError) for error in gone)
            assert drawings.cache.size == len(first) + len(last) and drawings.starts == 1
        finally:
            await drawings.close()

    asyncio.run(render())


def test_closing_does_not_wait_for_drawings() -> None:
    async def render() -> None:
        drawings = Renderer(10**7)
        asked = [
            drawings.get_drawing("a", DrawRequest(kind="stage", step=step), packed(9), nobody) for step in range(6)
        ]
        tasks = [asyncio.create_task(work) for work in asked]
        await asyncio.sleep(0.01)  # it is closed at any moment
        await drawings.close()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(error, RenderingFailed) for error in results)

    asyncio.run(render())


def test_a_small_picture_waits_for_no_large_one_and_the_second_process_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renderer_client, "LARGE_BYTES", len(gzip.decompress(packed(30))))
    monkeypatch.setattr(renderer_client, "IDLE_SECONDS", 0.0)
    stage = DrawRequest(kind="stage", step=1)

    async def main() -> None:
        drawings, goes_on = Renderer(10**7), asyncio.Event()
        draw = drawings._large._draw_in_time

        async def stand_still(*arguments: Any) -> bytes:
            await goes_on.wait()
            return await draw(*arguments)

        monkeypatch.setattr(drawings._large, "_draw_in_time", stand_still)
        try:
            large = [
                asyncio.create_task(drawings.get_drawing(owner, stage, packed(30), None, owner)) for owner in "abc"
            ]
            film = asyncio.create_task(drawings.get_drawing("d", DrawRequest(kind="film"), packed(3), None, "d"))
            assert (await drawings.get_drawing("e", stage, packed(3), None, "e")).startswith(b"<?xml")
            assert not any(task.done() for task in (*large, film))
            goes_on.set()
            assert len({await task for task in large}) == 1 and b"film" in await film
            await eventually(lambda: drawings._large._process is None)
            assert drawings._small._process is not None
        finally:
            await drawings.close()

    asyncio.run(main())


def test_a_trace_that_takes_long_goes_on_in_the_second_process_and_stays_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """However small it is. The first goes on with a new context, not with a new process."""
    monkeypatch.setattr(renderer_client, "DRAWING_SECONDS", PATIENCE)
    stage = DrawRequest(kind="stage", step=1)

    async def main() -> None:
        drawings = Renderer(10**7)
        lanes = []
        draw = renderer_client.DrawingProcess.draw

        async def noted(process: Any, *arguments: Any) -> bytes:
            lanes.append("small" if process is drawings._small else "large")
            return await draw(process, *arguments)

        monkeypatch.setattr(renderer_client.DrawingProcess, "draw", noted)
        try:
            drawings._times.count("slow stage False None", 0.0)
            monkeypatch.setattr(renderer_client, "QUICK_SECONDS", 0.001)
            slow = await drawings.get_drawing("slow", stage, packed(30), None)
            assert lanes == ["small", "large"]
            monkeypatch.setattr(renderer_client, "QUICK_SECONDS", PATIENCE)
            drawings._times.count("slow stage False None", PATIENCE)
            other = await drawings.get_drawing("slow", DrawRequest(kind="stage", step=2), packed(30), None)
            quick = await drawings.get_drawing("quick", stage, packed(30), None)
            assert lanes == ["small", "large", "large", "small"] and drawings.starts == 2
            assert slow == quick != other
        finally:
            await drawings.close()

    asyncio.run(main())


ALONE = """
import asyncio
from server.pictures import renderer_client
from server.pictures.renderer_client import DrawingProcess

async def whole():
    print((await DrawingProcess().get_or_start()).pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(whole())
"""


def test_nothing_is_drawn_for_a_server_that_is_gone() -> None:
    """Not even by one that would not hear of it for long: here, for it is stopped."""
    with subprocess.Popen([sys.executable, "-c", ALONE], cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        drawer = int(server.stdout.readline())
        os.kill(drawer, signal.SIGSTOP)
        server.kill()
    try:
        wait_until(lambda: not working(drawer))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(drawer, signal.SIGKILL)


def working(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_same_picture_is_drawn_once_however_many_ask() -> None:
    async def render() -> None:
        drawings = Renderer(10**7)
        asked = DrawRequest(kind="card", title="clone", png=True)
        try:
            bodies = await asyncio.gather(*(drawings.get_drawing("a", asked, packed(5), nobody) for _ in range(20)))
            assert len(set(bodies)) == 1
            size = drawings.cache.size
            assert size == len(bodies[0])
        finally:
            await drawings.close()

    asyncio.run(render())


def test_where_no_v8_is_there_the_pictures_alone_are_missing(
    monkeypatch: pytest.MonkeyPatch, new_database: DatabaseFactory
) -> None:
    monkeypatch.setattr("server.pictures.renderer_client.COMMAND", ("/bin/false",))
    with visiting(new_database("sqlite"), public_url=PUBLIC, **FREE) as client:
        program = saved(client, source=PROGRAM)
        answer = client.get(f"/s/{program.id}.svg")
        assert code(answer) == (503, "no_picture") and "retry-after" in answer.headers
        assert client.get(f"/s/{program.id}").status_code == client.get(f"/embed/{program.id}").status_code == 200


@pytest.mark.usefixtures("_patient")
def test_a_png_of_a_huge_picture_is_bounded() -> None:
    many = "\n".join(f"x{i} = torch.ones(6)" for i in range(150))
    done = run_command("trace", "-", text=many)
    assert done.returncode == 0, done.stderr
    body = done.stdout.encode()

    async def render() -> tuple[int, int]:
        drawings = Renderer(10**8)
        try:
            return size(
                await drawings.get_drawing("m", DrawRequest(kind="loom", png=True), gzip.compress(body), nobody)
            )
        finally:
            await drawings.close()

    width, height = asyncio.run(render())
    assert width * height <= 12.1e6 and max(width, height) <= 16_000


@pytest.mark.parametrize(("language", "letters"), [("en", "saved"), ("zh", "保存")])
@pytest.mark.parametrize("generic", ["sans-serif", "monospace"])
def test_letters_of_a_family_that_is_not_there_are_drawn(generic: str, language: str, letters: str) -> None:
    asked = ["fc-list", f":lang={language}", "family"]
    if not shutil.which("fc-list") or not subprocess.run(asked, capture_output=True, check=True).stdout:
        pytest.skip("no font on this machine has them")
    fonts = FontFamilies(font_family("sans-serif", ""), font_family("monospace", ""))
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99"><text y="50" font-family="{}">{}</text></svg>'
    assert svg_to_png(svg.format(f"No such one, {generic}", letters), fonts) != svg_to_png(svg.format("", ""), fonts)


def test_however_many_ask_for_one_picture_there_is_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.pictures.renderer_client.MAX_WAITING", 2)

    async def render() -> None:
        drawings = Renderer(10**7)
        try:
            same = [drawings.get_drawing("a", DrawRequest(kind="loom"), packed(5), nobody) for _ in range(8)]
            other = drawings.get_drawing("b", DrawRequest(kind="loom"), packed(4), nobody)
            third = drawings.get_drawing("c", DrawRequest(kind="loom"), packed(3), nobody)
            results = await asyncio.gather(*same, other, third, return_exceptions=True)
            assert all(isinstance(body, bytes) for body in results[:9]) and isinstance(results[9], RenderingFailed)
            assert isinstance(await drawings.get_drawing("c", DrawRequest(kind="loom"), packed(3), nobody), bytes)
        finally:
            await drawings.close()

    asyncio.run(render())


def crowded_trace(names: int, steps: int, tensors: int, cell: float) -> dict[str, object]:
    """A run whose names are those of so many tensors, in turn.

    cell: the elements of each
    """
    golden: dict[str, object] = json.loads((ROOT / "tests/golden/a_module_learns.json").read_text())
    made: dict[str, object] = {}
    for k in range(1, tensors + 1):
        made[f"s{k}"] = {"kind": "storage", "device": "cpu", "nbytes": 8, "cells": {"float32": [cell, cell]}}
        made[f"c{k}"] = {"kind": "counter", "value": 0}
        made[f"t{k}"] = {
            "kind": "tensor",
            "shape": [2],
            "stride": [1],
            "offset": 0,
            "dtype": "float32",
            "leaf": True,
            "requires_grad": False,
            "storage": f"s{k}",
            "counter": f"c{k}",
            "device": "cpu",
        }
    variables = {f"v{k}": {"ref": f"t{k % tensors + 1}"} for k in range(names)}
    made["f1"] = {"kind": "frame", "name": "<module>", "line": 1, "state": "running", "vars": variables}
    step = {"kind": "statement", "stmt": 0, "line": 1, "frame": "f1", "depth": 0, "gone": [], "log": []}
    golden["steps"] = [{**step, "i": k, "set": made if k == 0 else {}} for k in range(steps)]
    return golden


def compare(left: dict[str, object], right: dict[str, object]) -> tuple[str, Renderer]:
    """The reply of a comparison, or why there is none; the renderer that made it."""
    pair = {side: {"title": "", "trace": trace} for side, trace in (("left", left), ("right", right))}

    async def render() -> tuple[str, Renderer]:
        drawings = Renderer(10**7)
        try:
            request = DrawRequest(kind="comparison")
            trace = gzip.compress(json.dumps(pair).encode())
            return (await drawings.get_drawing("a", request, trace, nobody)).decode(), drawings
        except RenderingFailed as failed:
            await drawings.get_drawing("b", DrawRequest(kind="film"), packed(3), nobody)
            return failed.problem.message, drawings
        finally:
            await drawings.close()

    return asyncio.run(render())


@pytest.mark.parametrize(("left", "right"), [(1, 1), (1, 900), (900, 1), (2, 3)], ids=str)
@pytest.mark.usefixtures("_patient")
def test_thousands_of_names_are_compared(left: int, right: int) -> None:
    """Names that share memory do not list each other in every difference."""
    text, drawings = compare(crowded_trace(9_000, 2, left, 1.0), crowded_trace(9_000, 2, right, 2.0))
    reply = json.loads(text)
    assert (drawings.starts, drawings.failures) == (1, 0)
    values = [difference for difference in reply["differences"] if difference["property"] == "values"]
    assert len(values) > 100 and reply["omitted"] > 1000
    assert {(difference["left"], difference["right"]) for difference in values} == {("[1, 1]", "[2, 2]")}
    assert len(text) < 1_000_000


@pytest.mark.usefixtures("_patient")
def test_a_comparison_that_would_take_too_long_leaves_the_drawing_process_alive() -> None:
    text, drawings = compare(crowded_trace(6_000, 300, 1, 1.0), crowded_trace(6_000, 300, 1, 2.0))
    assert "too many names at too many steps" in text
    assert (drawings.starts, drawings.failures) == (1, 1)
