"""The fair queue under random schedules of arrivals, completions and cancellations."""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import pytest

from server.pool import fair_queue as module
from server.pool.fair_queue import FairQueue, FairScheduler
from server.visitors.clients import Client
from server.wire.problems import Busy
from tests.sampling import every, sampled


class Asker:
    """One program's task: it waits for a worker, and has it until `finished`. positions: those reported to it."""

    def __init__(self, bench: "Bench", client: Client) -> None:
        self.bench, self.client = bench, client
        self.number = next(bench.numbers)
        self.positions: list[int] = []
        self.finished = asyncio.Event()
        self.started = False
        self.task = asyncio.create_task(self.run())

    async def run(self) -> None:
        async with self.bench.queue.create_request(self.client, self.on_position):
            try:
                self.bench.enter(self)
                await self.finished.wait()
            finally:
                self.bench.inside.remove(self)

    def on_position(self, position: int) -> None:
        if self.positions and position > self.positions[-1] and not self.bench.cancelled:
            before = [asker for asker in self.bench.line() if asker.positions[-1] < position]
            if self.bench.draining or not any(asker.number > self.number for asker in before):
                self.bench.faults.append(
                    f"put back to {position}, and nobody was let in front"
                )  # raised, it would be logged
        self.positions.append(position)


class Bench:
    """Askers and what became of them."""

    def __init__(self, queue: FairQueue, workers: int) -> None:
        self.queue, self.workers = queue, workers
        self.clients, self.addresses = record_served(queue._clients), record_served(queue._networks)
        self.numbers = itertools.count()
        self.askers: list[Asker] = []
        self.inside: list[Asker] = []
        self.started: list[Asker] = []
        self.cancelled: set[Asker] = set()
        self.faults: list[str] = []
        self.draining = False

    def submit(self, client: str, address: str | None = None) -> Asker:
        self.askers.append(Asker(self, Client(client, address or client)))
        return self.askers[-1]

    def cancel(self, asker: Asker) -> None:
        self.cancelled.add(asker)
        asker.task.cancel()

    def enter(self, asker: Asker) -> None:
        asker.started = True
        self.inside.append(asker)
        self.started.append(asker)
        assert len(self.inside) <= self.queue.running_count <= self.workers

    def line(self) -> list[Asker]:
        """Those who have heard that they wait, and neither started nor ended."""
        return [asker for asker in self.askers if asker.positions and not asker.started and not asker.task.done()]

    async def drain(self) -> list[Asker]:
        """End every turn, one after the other; those who started meanwhile, in order."""
        first = len(self.started)
        self.draining = True
        while self.inside:
            self.inside[0].finished.set()
            await run_pending()
        return self.started[first:]


def record_served(scheduler: FairScheduler) -> list[str]:
    """The names in the order in which they get their turns, from now on; to begin takes each another moment."""
    given: list[str] = []
    serve = scheduler.charge_first_request

    def note(name: str, waiting: Iterable[str]) -> None:
        given.append(name)
        serve(name, waiting)

    scheduler.charge_first_request = note  # type: ignore[assignment]
    return given


async def run_pending() -> None:
    """What can happen without anybody doing more has happened."""
    for _ in range(6):
        await asyncio.sleep(0)


def schedule(work: Callable[[Bench], Awaitable[None]], workers: int = 1, queue: int = 64, **options: Any) -> None:
    async def main() -> None:
        fair_queue = FairQueue(workers, queue, **options)
        bench = Bench(fair_queue, workers)
        await work(bench)
        await bench.drain()
        assert (fair_queue.waiting_count, fair_queue.running_count) == (0, 0)
        assert not bench.faults
        failed = [asker.task.exception() for asker in bench.askers if asker.task.done() and not asker.task.cancelled()]
        assert not [error for error in failed if error is not None and not isinstance(error, Busy)], failed

    asyncio.run(main())


def names(askers: list[Asker]) -> str:
    return " ".join(asker.client.id for asker in askers)


@pytest.mark.parametrize("seed", sampled(range(150), every(6)))
def test_random_arrivals_and_departures_keep_the_queue_fair(seed: int) -> None:
    chance = random.Random(seed)
    workers, queue = chance.choice([1, 2, 3]), chance.choice([1, 4, 12, 40])
    patient = seed % 3 == 0  # nobody gives up
    strangers: list[tuple[Asker, int]] = []  # with how many turns had been given when they came

    def check(bench: Bench) -> None:
        waiting = bench.line()
        assert bench.queue.waiting_count <= queue
        assert all(n <= max(2, queue // 4) for n in Counter(asker.client.id for asker in waiting).values())
        assert all(n <= max(2, queue * 3 // 4) for n in Counter(asker.client.address for asker in waiting).values())

    async def work(bench: Bench) -> None:
        for _ in range(120):
            act = chance.random()
            if act < 0.5:
                client = chance.choice("aaaaabbc")
                bench.submit(client, client if client != "b" else chance.choice("ab"))
            elif act < 0.55:
                await run_pending()
                asker = bench.submit(f"new{len(bench.askers)}", chance.choice("ab") if chance.random() < 0.5 else None)
                strangers.append((asker, len(bench.clients)))
                await run_pending()
                check(bench)
            elif act < 0.8 and bench.inside:
                chance.choice(bench.inside).finished.set()
            elif bench.askers and not patient:
                bench.cancel(chance.choice(bench.askers[-6:]))
            for _ in range(chance.choice([0, 0, 1, 2, 5])):
                await asyncio.sleep(0)
        await run_pending()
        check(bench)
        assert not bench.queue.waiting_count or bench.queue.running_count == workers, (
            "a free turn and somebody who waits"
        )
        line = bench.line()
        assert len(line) == bench.queue.waiting_count and len(bench.inside) == bench.queue.running_count
        promised = sorted(line, key=lambda asker: asker.positions[-1])
        assert [asker.positions[-1] for asker in promised] == list(range(len(line)))
        bench.cancelled, cancelled = set(), bench.cancelled
        assert await bench.drain() == promised
        for position, asker in enumerate(promised):
            falls = asker.positions[asker.positions.index(position, -position - 1) :]
            assert falls == list(range(position, -1, -1)), "not every position was reported, or a wrong asker"
        for asker in bench.askers:
            assert asker.task.done()
            refused = not asker.task.cancelled() and isinstance(asker.task.exception(), Busy)
            assert asker.started or asker in cancelled or refused
        for client in "abc" if workers == 1 else "":  # of two whose turns come together, either may begin first
            numbers = [asker.number for asker in bench.started if asker.client.id == client]
            assert numbers == sorted(numbers), "not first come first served within a client"
        for asker, before in strangers:
            for given, name in ((bench.clients, asker.client.id), (bench.addresses, asker.client.address)):
                if asker.started and name == asker.client.id:
                    ahead = Counter(given[before : given.index(name, before)])
                    assert all(count == 1 for count in ahead.values()), f"{name} waited for {ahead}"

    schedule(work, workers, queue)


def test_many_requests_of_one_client_do_not_delay_another() -> None:
    async def work(bench: Bench) -> None:
        for client in "a" * 13 + "b" + "c" * 2:
            bench.submit(client)
            await run_pending()
        assert names(await bench.drain()) == "b c a c a a a a a a a a a a a"

    schedule(work)


def test_with_one_client_the_first_to_come_is_the_first_served_and_places_only_fall() -> None:
    async def work(bench: Bench) -> None:
        for _ in range(9):
            bench.submit("a")
        await run_pending()
        await bench.drain()
        assert [asker.number for asker in bench.started] == list(range(9))
        assert [asker.positions for asker in bench.askers] == [[]] + [list(range(n, -1, -1)) for n in range(8)]

    schedule(work)


def test_many_clients_of_one_address_do_not_hold_up_another_address() -> None:
    async def work(bench: Bench) -> None:
        for k in range(6):
            bench.submit(f"x{k}", "x")
        await run_pending()
        bench.submit("y")
        await run_pending()
        bench.submit("z")
        await run_pending()
        assert bench.askers[2].positions == [1, 2, 3]
        assert names(await bench.drain()) == "y z x1 x2 x3 x4 x5"

    schedule(work)


def test_a_returning_client_queues_behind_those_who_waited() -> None:
    async def work(bench: Bench) -> None:
        bench.submit("a")
        await run_pending()
        bench.submit("a")
        bench.submit("b")
        bench.submit("c")
        await run_pending()
        for expected in "bca":
            bench.inside[0].finished.set()
            bench.submit("a")
            await run_pending()
            assert bench.inside[0].client.id == expected

    schedule(work)


def test_giving_up_uses_no_share() -> None:
    async def work(bench: Bench) -> None:
        bench.submit("x")
        await run_pending()
        gone = [bench.submit("a", "d") for _ in range(5)]
        await run_pending()
        for asker in gone:
            asker.task.cancel()
        await run_pending()
        for client, address in (("a", "d"), ("b", "b"), ("a", "d"), ("b", "b")):
            bench.submit(client, address)
        await run_pending()
        assert names(await bench.drain()) == "a b a b"

    schedule(work)


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
def test_the_queue_bounds_waiting_by_client_network_and_total(
    queue: int, classroom: bool, asked: list[str], welcome: int
) -> None:
    async def work(bench: Bench) -> None:
        bench.submit("running")
        await run_pending()
        for asker in asked:
            bench.submit(*asker.split())
        await run_pending()
        assert bench.queue.waiting_count == welcome
        assert len(await bench.drain()) == welcome
        bench.submit("a")
        await run_pending()
        assert bench.askers[-1].started

    schedule(work, queue=queue, classroom=classroom)


def test_a_full_queue_has_a_place_for_another_network() -> None:
    """Two addresses fill it; those who come then push out the last of who waits most, one by one."""

    async def work(bench: Bench) -> None:
        bench.submit("running")
        await run_pending()
        crowd = [bench.submit(f"m{k}", "most") for k in range(6)] + [bench.submit(f"f{k}", "few") for k in range(2)]
        await run_pending()
        assert bench.queue.waiting_count == 8
        newcomer, again = bench.submit("n", "new"), bench.submit("o", "new")
        await run_pending()
        pushed_out = [k for k, asker in enumerate(crowd) if asker.task.done()]
        assert pushed_out == [4, 5] and bench.queue.waiting_count == 8 and bench.queue.running_count == 1
        assert all(isinstance(crowd[k].task.exception(), Busy) for k in pushed_out)
        assert not newcomer.task.done() and not again.task.done()
        assert len(await bench.drain()) == 8

    schedule(work, queue=8)


def test_the_networks_of_one_ipv6_customer_are_one() -> None:
    async def work(bench: Bench) -> None:
        bench.submit("running")
        await run_pending()
        crowd = [bench.submit(f"c{k}", f"2001:db8:1:{k}::/64") for k in range(8)]
        await run_pending()
        assert [asker.task.done() for asker in crowd] == [False] * 6 + [True] * 2
        visitor = bench.submit("v", "2001:db8:2:1::/64")
        await run_pending()
        assert bench.line()[-1] is visitor and visitor.positions == [1]
        await bench.drain()

    schedule(work, queue=8)


@pytest.mark.parametrize(
    ("lengths", "line", "after"),
    [
        ([], "", 4.0),  # until one is known, a turn is thought to take a second
        ([4.0, 8.0], "bcdeghij", 24.0),  # behind one of each other
        ([0.5] * 9 + [0.75], "bcdeghij", 2.125),
        ([0.01], "bcdeghij", 1.0),
        ([2.0], "ffb", 3.0),  # there is room, but not for a third of its own
        ([1.0, *[9.0] * 80], "bcdeghij", 36.0),
    ],
)
def test_a_full_queue_estimates_when_to_come_back(lengths: list[float], line: str, after: float) -> None:
    now = [0.0]

    async def work(bench: Bench) -> None:
        for seconds in lengths:
            asker = bench.submit("a")
            await run_pending()
            now[0] += seconds
            asker.finished.set()
            await run_pending()
        for client in "yz" + (line or "bcdeghij"):
            bench.submit(client)
        await run_pending()
        bench.submit("f")
        await run_pending()
        busy = bench.askers[-1].task.exception()
        assert isinstance(busy, Busy)
        assert busy.retry_after == pytest.approx(after, rel=0.001)
        assert str(busy) == f"too many programs are waiting; try again in {after:.0f} s"

    schedule(work, workers=2, queue=8, clock=lambda: now[0])


def test_a_turn_that_came_too_late_goes_to_the_next() -> None:
    async def work(bench: Bench) -> None:
        first, second, third = (bench.submit(client) for client in "abc")
        await run_pending()
        first.finished.set()
        for _ in range(6):
            if bench.queue.waiting_count < 2:
                break
            await asyncio.sleep(0)
        assert not second.started
        second.task.cancel()
        await run_pending()
        assert second.task.cancelled() and not second.started
        assert third.started and bench.queue.running_count == 1

    schedule(work)


@pytest.mark.parametrize("steps", range(8))
def test_a_cancellation_at_any_step_leaves_the_turn_to_the_next(steps: int) -> None:
    async def work(bench: Bench) -> None:
        first = bench.submit("a")
        await run_pending()
        second, third = bench.submit("b"), bench.submit("c")
        first.finished.set()
        for _ in range(steps):
            await asyncio.sleep(0)
        second.task.cancel()
        await run_pending()
        assert second.task.cancelled() and third.started
        assert (bench.queue.waiting_count, bench.queue.running_count) == (0, 1)

    schedule(work)


def test_an_abandoned_wait_leaves_the_queue() -> None:
    async def work(bench: Bench) -> None:
        bench.submit("a")
        await run_pending()

        async def wait() -> None:
            async with bench.queue.create_request(Client("b", "b")):
                raise AssertionError("it has no turn")

        thrown = wait()
        thrown.send(None)
        assert bench.queue.waiting_count == 1
        thrown.close()
        assert bench.queue.waiting_count == 0

    schedule(work)


def test_a_listener_that_fails_or_gives_up_does_not_affect_others(caplog: pytest.LogCaptureFixture) -> None:
    async def work(bench: Bench) -> None:
        bench.submit("a")
        await run_pending()

        async def wait(on_position: Callable[[int], object]) -> str:
            async with bench.queue.create_request(Client("b", "b"), on_position):  # type: ignore[arg-type]
                return "had its turn"

        failing = asyncio.create_task(wait(lambda ahead: 1 // ahead))
        giving_up = asyncio.create_task(wait(lambda _: giving_up.cancel()))
        last = bench.submit("c")
        await run_pending()
        await bench.drain()
        assert failing.done() and failing.result() == "had its turn"
        assert giving_up.cancelled() and last.started

    schedule(work)
    assert "can't report a waiting program's position" in caplog.text


def test_an_exception_in_a_turn_is_raised_and_frees_the_turn() -> None:
    async def work(bench: Bench) -> None:
        with pytest.raises(ZeroDivisionError):
            async with bench.queue.create_request(Client("a", "a")):
                assert bench.queue.running_count == 1
                raise ZeroDivisionError
        assert bench.queue.running_count == 0

    schedule(work)


def test_a_stream_of_new_clients_does_not_starve_an_old_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FLOWS", 10)

    async def work(bench: Bench) -> None:
        bench.submit("a")
        await run_pending()
        second = bench.submit("a")
        for k in range(40):
            bench.submit(f"{k}a")
            bench.submit(f"{k}b")
            await run_pending()
            bench.inside[0].finished.set()
            await run_pending()
            if second.started:
                break
        assert 5 < k < 25

    schedule(work)


def test_the_scheduler_remembers_a_bounded_number_of_clients() -> None:
    scheduler = FairScheduler()
    for k in range(5000):
        scheduler.charge_first_request(f"{k}", ["waiting"])
        assert len(scheduler._served) <= module.MAX_FLOWS
    scheduler.charge_first_request("waiting", [])
    scheduler.charge_first_request("waiting", [])
    assert scheduler.start_tag("4999") == scheduler.start_tag("new") == scheduler.start_tag("waiting") - 1


def test_serving_one_client_keeps_the_order_of_those_who_wait() -> None:
    chance = random.Random(1)
    for _ in range(300):
        scheduler = FairScheduler()
        for _ in range(chance.randrange(12)):
            scheduler.charge_first_request(chance.choice("abcd"), chance.choices("abcd", k=chance.randrange(4)))
        line = chance.choices("abcd", k=8)
        while line:
            tags = dict(enumerate(scheduler.finish_tags(line)))
            first = chance.choice([line.index(name) for name in set(line)])
            left = [tags[k] for k in range(len(line)) if k != first]
            name = line.pop(first)
            scheduler.charge_first_request(name, line)
            assert scheduler.finish_tags(line) == left


def test_the_age_of_the_queue_is_that_of_its_oldest_program() -> None:
    now = [100.0]

    async def work(bench: Bench) -> None:
        ages = []
        for client in "abc":
            bench.submit(client)
            await run_pending()
            now[0] += 5
            ages.append(bench.queue.longest_wait_seconds)
        assert ages == [0.0, 5.0, 10.0], "the first one runs at once"
        bench.inside[0].finished.set()
        await run_pending()
        assert bench.queue.longest_wait_seconds == 5.0

    schedule(work, workers=1, clock=lambda: now[0])
