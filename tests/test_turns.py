"""Whose turn it is, under schedules of arrivals, endings and cancellations that nobody would think of."""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import pytest

from server.pool import turns as module
from server.pool.turns import Busy, Fair, Turns, Who


class Asker:
    """One program's task: it waits for its turn, and has it until `over`. told: the places in the line it heard of."""

    def __init__(self, bench: "Bench", who: Who) -> None:
        self.bench, self.who = bench, who
        self.number = next(bench.numbers)
        self.told: list[int] = []
        self.over = asyncio.Event()
        self.began = False
        self.task = asyncio.create_task(self.run())

    async def run(self) -> None:
        async with self.bench.turns.take(self.who, self.hear):
            try:
                self.bench.enter(self)
                await self.over.wait()
            finally:
                self.bench.inside.remove(self)

    def hear(self, ahead: int) -> None:
        if self.told and ahead > self.told[-1] and not self.bench.cancelled:
            before = [one for one in self.bench.line() if one.told[-1] < ahead]
            if self.bench.draining or not any(one.number > self.number for one in before):
                self.bench.faults.append(
                    f"put back to {ahead}, and nobody was let in front"
                )  # raised, it would be logged
        self.told.append(ahead)


class Bench:
    """Askers and what became of them."""

    def __init__(self, turns: Turns, workers: int) -> None:
        self.turns, self.workers = turns, workers
        self.clients, self.addresses = noted(turns._clients), noted(turns._addresses)
        self.numbers = itertools.count()
        self.askers: list[Asker] = []
        self.inside: list[Asker] = []
        self.began: list[Asker] = []
        self.cancelled: set[Asker] = set()
        self.faults: list[str] = []
        self.draining = False

    def ask(self, client: str, address: str | None = None) -> Asker:
        self.askers.append(Asker(self, Who(client, address or client)))
        return self.askers[-1]

    def cancel(self, asker: Asker) -> None:
        self.cancelled.add(asker)
        asker.task.cancel()

    def enter(self, asker: Asker) -> None:
        asker.began = True
        self.inside.append(asker)
        self.began.append(asker)
        assert len(self.inside) <= self.turns.running <= self.workers

    def line(self) -> list[Asker]:
        """Those who have heard that they wait, and neither began nor ended."""
        return [one for one in self.askers if one.told and not one.began and not one.task.done()]

    async def drain(self) -> list[Asker]:
        """End every turn, one after the other; those who began meanwhile, in order."""
        first = len(self.began)
        self.draining = True
        while self.inside:
            self.inside[0].over.set()
            await settled()
        return self.began[first:]


def noted(fair: Fair) -> list[str]:
    """The names in the order in which they get their turns, from now on; to begin takes each another moment."""
    given: list[str] = []
    serve = fair.serve

    def note(name: str, waiting: Iterable[str]) -> None:
        given.append(name)
        serve(name, waiting)

    fair.serve = note  # type: ignore[method-assign]
    return given


async def settled() -> None:
    """What can happen without anybody doing more has happened."""
    for _ in range(6):
        await asyncio.sleep(0)


def on(work: Callable[[Bench], Awaitable[None]], workers: int = 1, queue: int = 64, **options: Any) -> None:
    async def whole() -> None:
        turns = Turns(workers, queue, **options)
        bench = Bench(turns, workers)
        await work(bench)
        await bench.drain()
        assert (turns.waiting, turns.running) == (0, 0)
        assert not bench.faults
        failed = [one.task.exception() for one in bench.askers if one.task.done() and not one.task.cancelled()]
        assert not [error for error in failed if error is not None and not isinstance(error, Busy)], failed

    asyncio.run(whole())


def names(askers: list[Asker]) -> str:
    return " ".join(one.who.client for one in askers)


@pytest.mark.parametrize("seed", range(150))
def test_whatever_happens_in_whatever_order(seed: int) -> None:
    chance = random.Random(seed)
    workers, queue = chance.choice([1, 2, 3]), chance.choice([1, 4, 12, 40])
    patient = seed % 3 == 0  # nobody gives up
    strangers: list[tuple[Asker, int]] = []  # with how many turns had been given when they came

    def check(bench: Bench) -> None:
        waiting = bench.line()
        assert bench.turns.waiting <= queue
        assert all(n <= max(2, queue // 4) for n in Counter(one.who.client for one in waiting).values())
        assert all(n <= max(2, queue * 3 // 4) for n in Counter(one.who.address for one in waiting).values())

    async def work(bench: Bench) -> None:
        for _ in range(120):
            act = chance.random()
            if act < 0.5:
                client = chance.choice("aaaaabbc")
                bench.ask(client, client if client != "b" else chance.choice("ab"))
            elif act < 0.55:
                await settled()
                one = bench.ask(f"new{len(bench.askers)}", chance.choice("ab") if chance.random() < 0.5 else None)
                strangers.append((one, len(bench.clients)))
                await settled()
                check(bench)
            elif act < 0.8 and bench.inside:
                chance.choice(bench.inside).over.set()
            elif bench.askers and not patient:
                bench.cancel(chance.choice(bench.askers[-6:]))
            for _ in range(chance.choice([0, 0, 1, 2, 5])):
                await asyncio.sleep(0)
        await settled()
        check(bench)
        assert not bench.turns.waiting or bench.turns.running == workers, "a free turn and somebody who waits"
        line = bench.line()
        assert len(line) == bench.turns.waiting and len(bench.inside) == bench.turns.running
        promised = sorted(line, key=lambda one: one.told[-1])
        assert [one.told[-1] for one in promised] == list(range(len(line)))
        bench.cancelled, cancelled = set(), bench.cancelled
        assert await bench.drain() == promised
        for place, one in enumerate(promised):
            falls = one.told[one.told.index(place, -place - 1) :]
            assert falls == list(range(place, -1, -1)), "not every place was told, or a wrong one"
        for one in bench.askers:
            assert one.task.done()
            refused = not one.task.cancelled() and isinstance(one.task.exception(), Busy)
            assert one.began or one in cancelled or refused
        for client in "abc" if workers == 1 else "":  # of two whose turns come together, either may begin first
            numbers = [one.number for one in bench.began if one.who.client == client]
            assert numbers == sorted(numbers), "not first come first served within a client"
        for one, before in strangers:
            for given, name in ((bench.clients, one.who.client), (bench.addresses, one.who.address)):
                if one.began and name == one.who.client:
                    ahead = Counter(given[before : given.index(name, before)])
                    assert all(count == 1 for count in ahead.values()), f"{name} waited for {ahead}"

    on(work, workers, queue)


def test_twenty_of_one_do_not_hold_up_one_of_another() -> None:
    async def work(bench: Bench) -> None:
        for client in "a" * 13 + "b" + "c" * 2:
            bench.ask(client)
            await settled()
        assert names(await bench.drain()) == "b c a c a a a a a a a a a a a"

    on(work)


def test_with_one_client_the_first_to_come_is_the_first_served_and_places_only_fall() -> None:
    async def work(bench: Bench) -> None:
        for _ in range(9):
            bench.ask("a")
        await settled()
        await bench.drain()
        assert [one.number for one in bench.began] == list(range(9))
        assert [one.told for one in bench.askers] == [[]] + [list(range(n, -1, -1)) for n in range(8)]

    on(work)


def test_many_clients_of_one_address_do_not_hold_up_another_address() -> None:
    async def work(bench: Bench) -> None:
        for k in range(6):
            bench.ask(f"x{k}", "x")
        await settled()
        bench.ask("y")
        await settled()
        bench.ask("z")
        await settled()
        assert bench.askers[2].told == [1, 2, 3]
        assert names(await bench.drain()) == "y z x1 x2 x3 x4 x5"

    on(work)


def test_who_comes_again_at_once_is_behind_who_waited() -> None:
    async def work(bench: Bench) -> None:
        bench.ask("a")
        await settled()
        bench.ask("a")
        bench.ask("b")
        bench.ask("c")
        await settled()
        for expected in "bca":
            bench.inside[0].over.set()
            bench.ask("a")
            await settled()
            assert bench.inside[0].who.client == expected

    on(work)


def test_who_gives_up_has_not_used_up_anything() -> None:
    async def work(bench: Bench) -> None:
        bench.ask("x")
        await settled()
        gone = [bench.ask("a", "d") for _ in range(5)]
        await settled()
        for one in gone:
            one.task.cancel()
        await settled()
        for client, address in (("a", "d"), ("b", "b"), ("a", "d"), ("b", "b")):
            bench.ask(client, address)
        await settled()
        assert names(await bench.drain()) == "a b a b"

    on(work)


@pytest.mark.parametrize(
    ("queue", "classroom", "asked", "welcome"),
    [
        (1, False, ["a", "b"], 1),
        (8, False, ["a"] * 5, 2),
        (8, False, [f"s{k} x" for k in range(8)], 6),
        (8, True, [f"s{k} x" for k in range(9)], 8),
        (8, False, [*[f"s{k} x" for k in range(7)], "a", "b", "c"], 8),
        (40, False, ["a"] * 11, 10),
    ],
)
def test_there_is_only_so_much_room(queue: int, classroom: bool, asked: list[str], welcome: int) -> None:
    async def work(bench: Bench) -> None:
        bench.ask("running")
        await settled()
        for one in asked:
            bench.ask(*one.split())
        await settled()
        assert bench.turns.waiting == welcome
        assert len(await bench.drain()) == welcome
        bench.ask("a")
        await settled()
        assert bench.askers[-1].began

    on(work, queue=queue, classroom=classroom)


@pytest.mark.parametrize(
    ("lengths", "line", "after"),
    [
        ([], "", 2.0),  # until one is known, a turn is thought to take a second
        ([4.0, 8.0], "bbccddee", 12.0),  # behind one each of b, c, d and e
        ([0.5] * 9 + [0.75], "bbccddee", 1.0625),
        ([0.01], "bbccddee", 1.0),
        ([2.0], "ffb", 3.0),  # there is room, but not for a third of its own
        ([1.0, *[9.0] * 80], "bbccddee", 18.0),
    ],
)
def test_busy_says_when_to_come_back(lengths: list[float], line: str, after: float) -> None:
    now = [0.0]

    async def work(bench: Bench) -> None:
        for seconds in lengths:
            one = bench.ask("a")
            await settled()
            now[0] += seconds
            one.over.set()
            await settled()
        for client in "yz" + (line or "bbccddee"):
            bench.ask(client)
        await settled()
        bench.ask("f")
        await settled()
        busy = bench.askers[-1].task.exception()
        assert isinstance(busy, Busy)
        assert busy.retry_after == pytest.approx(after, rel=0.001)
        assert str(busy) == f"too many programs are waiting; try again in {after:.0f} s"

    on(work, workers=2, queue=8, clock=lambda: now[0])


def test_a_turn_that_came_too_late_goes_to_the_next() -> None:
    async def work(bench: Bench) -> None:
        first, second, third = (bench.ask(client) for client in "abc")
        await settled()
        first.over.set()
        for _ in range(6):
            if bench.turns.waiting < 2:
                break
            await asyncio.sleep(0)
        assert not second.began
        second.task.cancel()
        await settled()
        assert second.task.cancelled() and not second.began
        assert third.began and bench.turns.running == 1

    on(work)


@pytest.mark.parametrize("steps", range(8))
def test_a_cancellation_at_any_step_leaves_the_turn_to_the_next(steps: int) -> None:
    async def work(bench: Bench) -> None:
        first = bench.ask("a")
        await settled()
        second, third = bench.ask("b"), bench.ask("c")
        first.over.set()
        for _ in range(steps):
            await asyncio.sleep(0)
        second.task.cancel()
        await settled()
        assert second.task.cancelled() and third.began
        assert (bench.turns.waiting, bench.turns.running) == (0, 1)

    on(work)


def test_a_wait_that_is_thrown_away_leaves_the_line() -> None:
    async def work(bench: Bench) -> None:
        bench.ask("a")
        await settled()

        async def wait() -> None:
            async with bench.turns.take(Who("b", "b")):
                raise AssertionError("it has no turn")

        thrown = wait()
        thrown.send(None)
        assert bench.turns.waiting == 1
        thrown.close()
        assert bench.turns.waiting == 0

    on(work)


def test_a_listener_that_fails_or_gives_up_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    async def work(bench: Bench) -> None:
        bench.ask("a")
        await settled()

        async def wait(told: Callable[[int], object]) -> str:
            async with bench.turns.take(Who("b", "b"), told):  # type: ignore[arg-type]
                return "had its turn"

        failing = asyncio.create_task(wait(lambda ahead: 1 // ahead))
        giving_up = asyncio.create_task(wait(lambda _: giving_up.cancel()))
        last = bench.ask("c")
        await settled()
        await bench.drain()
        assert failing.done() and failing.result() == "had its turn"
        assert giving_up.cancelled() and last.began

    on(work)
    assert "can't be told its place" in caplog.text


def test_what_a_turn_raises_comes_out_and_the_turn_is_free() -> None:
    async def work(bench: Bench) -> None:
        with pytest.raises(ZeroDivisionError):
            async with bench.turns.take(Who("a", "a")):
                assert bench.turns.running == 1
                raise ZeroDivisionError
        assert bench.turns.running == 0

    on(work)


def test_ever_new_clients_do_not_starve_the_second_program_of_an_old_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 10)

    async def work(bench: Bench) -> None:
        bench.ask("a")
        await settled()
        second = bench.ask("a")
        for k in range(40):
            bench.ask(f"{k}a")
            bench.ask(f"{k}b")
            await settled()
            bench.inside[0].over.set()
            await settled()
            if second.began:
                break
        assert 5 < k < 25

    on(work)


def test_names_are_forgotten() -> None:
    fair = Fair()
    for k in range(5000):
        fair.serve(f"{k}", ["waiting"])
        assert len(fair._last) <= module.REMEMBERED + 1
    fair.serve("waiting", [])
    fair.serve("waiting", [])
    fair.serve("waiting", [])
    assert list(fair._last) == ["waiting"]


def test_a_turn_moves_nobody_who_waits() -> None:
    chance = random.Random(1)
    for _ in range(300):
        fair = Fair()
        for _ in range(chance.randrange(12)):
            fair.serve(chance.choice("abcd"), chance.choices("abcd", k=chance.randrange(4)))
        line = chance.choices("abcd", k=8)
        while line:
            tags = dict(enumerate(fair.tags(line)))
            first = chance.choice([line.index(name) for name in set(line)])
            left = [tags[k] for k in range(len(line)) if k != first]
            name = line.pop(first)
            fair.serve(name, line)
            assert fair.tags(line) == left
