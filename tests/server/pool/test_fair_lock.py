"""A lock that is fair to owners: who is next, and who is sent away."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from server.pool.fair_lock import FairLock, QueueFull


class Studio:
    """Draws for owners, each drawing for some seconds of a clock that only drawings move."""

    def __init__(self, limit: int = 8) -> None:
        self.now = 0.0
        self.lock = FairLock(limit, lambda: self.now)
        self.drawn: list[str] = []

    async def draw(self, owner: str, seconds: float = 1.0, expected: float = 0.0) -> None:
        async with self.lock.wait_for_turn([owner], expected):
            await asyncio.sleep(0)
            self.now += seconds
            self.drawn.append(owner)

    def ask(self, owner: str, seconds: float = 1.0, expected: float = 0.0) -> asyncio.Task[None]:
        return asyncio.create_task(self.draw(owner, seconds, expected))


def play(scene: Callable[[Studio], Awaitable[Any]], limit: int = 8) -> Studio:
    async def main() -> Studio:
        studio = Studio(limit)
        await scene(studio)
        assert not studio.lock._waiting and studio.lock._free == 1
        return studio

    return asyncio.run(main())


def test_the_client_with_the_least_use_is_next() -> None:
    async def scene(studio: Studio) -> None:
        tasks = [studio.ask("slow", 8) for _ in range(3)]
        tasks += [studio.ask("quick", 0.1), studio.ask("other", 0.1), studio.ask("quick", 0.1)]
        await asyncio.gather(*tasks)

    assert play(scene, 20).drawn == ["slow", "quick", "other", "quick", "slow", "slow"]


def test_what_is_expected_to_be_short_is_next_and_what_is_long_has_its_turn() -> None:
    async def scene(studio: Studio) -> None:
        tasks = [studio.ask("first"), *(studio.ask(f"heavy{k}", 8, 8) for k in range(3)), studio.ask("small", 0.1, 0.1)]
        await asyncio.gather(*tasks)
        assert studio.drawn == ["first", "small", "heavy0", "heavy1", "heavy2"]
        tasks = [studio.ask("first"), studio.ask("heavy", 8, 8)]
        await asyncio.sleep(0)
        tasks += [studio.ask(f"small{k}", 5, 5) for k in range(16)]  # new ones all the time, in effect
        await asyncio.gather(*tasks)
        assert studio.drawn.index("heavy") < 15, "it has waited long enough"

    play(scene, 20)


def test_the_use_of_clients_that_drew_long_ago_is_forgotten() -> None:
    async def scene(studio: Studio) -> None:
        await studio.draw("once", 8)
        tasks = [studio.ask("new"), studio.ask("once"), studio.ask("newer")]
        await asyncio.gather(*tasks)
        assert studio.drawn == ["once", "new", "newer", "once"], "it has just had 8 seconds"
        for _ in range(3):
            await studio.draw("new", 8)
        tasks = [studio.ask("new"), studio.ask("once"), studio.ask("newest")]
        await asyncio.gather(*tasks)
        assert studio.drawn[-3:] == ["new", "once", "newest"], "the others have had more since"

    play(scene)


def test_a_client_has_at_most_a_quarter_of_the_places() -> None:
    async def scene(studio: Studio) -> None:
        results = await asyncio.gather(*(studio.ask("a") for _ in range(5)), return_exceptions=True)
        assert [type(result) for result in results] == [type(None)] * 3 + [QueueFull] * 2

    assert play(scene).drawn == ["a"] * 3


def test_a_full_lock_admits_a_client_with_less_use() -> None:
    async def scene(studio: Studio) -> None:
        for owner in "abcd":
            await studio.draw(owner, ord(owner))
        tasks = [studio.ask(owner) for owner in [*"xaabbccdd", "new", "d"]]
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [k for k, result in enumerate(results) if isinstance(result, QueueFull)] == [8, 10]

    studio = play(scene)
    assert studio.drawn[4:6] == ["x", "new"] and len(studio.drawn) == 13


def test_a_client_that_leaves_is_skipped() -> None:
    async def scene(studio: Studio) -> None:
        tasks = [studio.ask(owner) for owner in "abc"]
        await asyncio.sleep(0)
        tasks[1].cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(result) for result in results] == [type(None), asyncio.CancelledError, type(None)]
        tasks = [studio.ask(owner) for owner in "ab"]
        await asyncio.sleep(0)
        studio.lock._waiting[0].granted.add_done_callback(lambda _: tasks[1].cancel())  # as it is granted
        await asyncio.gather(*tasks, return_exceptions=True)
        await studio.draw("d")

    assert play(scene).drawn == ["a", "c", "a", "d"]


def test_a_drawing_waits_in_the_best_place_of_all_who_want_it() -> None:
    async def scene(studio: Studio) -> None:
        await studio.draw("much", 8)
        await studio.draw("little", 1)
        owners = ["much"]

        async def draw_shared() -> None:
            async with studio.lock.wait_for_turn(owners):
                studio.now += 4
                studio.drawn.append("shared")

        waiting = ["little", "much", "new", "newest"]
        tasks = [studio.ask("x"), asyncio.create_task(draw_shared()), *map(studio.ask, waiting)]
        await asyncio.sleep(0)
        owners.append("new")  # who used nothing joins, and what "much" asked for is before "little"
        await asyncio.gather(*tasks)
        assert studio.drawn[2:] == ["x", "shared", "newest", "little", "new", "much"], "half is charged to who joined"

    play(scene, 20)


def test_an_owner_that_leaves_takes_its_place_along() -> None:
    async def scene(studio: Studio) -> None:
        await studio.draw("much", 8)
        owners = ["much", "new"]

        async def draw_shared() -> None:
            async with studio.lock.wait_for_turn(owners):
                studio.drawn.append("shared")

        tasks = [studio.ask("x"), asyncio.create_task(draw_shared()), studio.ask("other")]
        await asyncio.sleep(0)
        owners.remove("new")
        await asyncio.gather(*tasks)
        assert studio.drawn[1:] == ["x", "other", "shared"]

    play(scene, 20)


def test_a_drawing_that_others_want_has_a_place_though_its_first_owner_has_none_left() -> None:
    async def scene(studio: Studio) -> None:
        tasks = [studio.ask(owner) for owner in ["x", "a", "a"]]

        async def draw_shared(*owners: str) -> None:
            async with studio.lock.wait_for_turn(list(owners)):
                studio.drawn.append("shared")

        shared = [asyncio.create_task(draw_shared("a")), asyncio.create_task(draw_shared("a", "b"))]
        results = await asyncio.gather(*tasks, *shared, return_exceptions=True)
        assert [type(result) for result in results] == [type(None)] * 3 + [QueueFull, type(None)]

    play(scene)


def test_a_lock_with_two_places_is_held_by_two_and_its_owners_take_turns() -> None:
    async def main() -> None:
        lock, held, order = FairLock(sys.maxsize, places=2), 0, []

        async def hold(owner: str) -> None:
            nonlocal held
            async with lock.wait_for_turn([owner]):
                held += 1
                assert held <= 2
                order.append(owner)
                await asyncio.sleep(0)  # to let the others run
                held -= 1

        await asyncio.gather(*(hold("many") for _ in range(5)), hold("one"))
        assert lock._free == 2 and sorted(order) == ["many"] * 5 + ["one"]
        assert order.index("one") <= 2

    asyncio.run(main())
