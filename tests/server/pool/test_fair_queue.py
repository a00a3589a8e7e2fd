"""The fair queue under random schedules of arrivals, completions and cancellations."""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from server.pool import askers
from server.pool import fair_queue as module
from server.pool.askers import Askers
from server.pool.fair_queue import EXPECTED_SECONDS, FORGOTTEN_SECONDS, FairQueue, FairScheduler
from server.visitors.clients import Client
from server.wire.problems import WorkerQueueFull
from tests.support.sampling import every, sampled


class Asker:
    """One program's task: it waits for a worker, and has it until `finished`. positions: those reported to it.

    seconds: that its run takes
    """

    def __init__(self, bench: "Bench", client: Client, seconds: float = EXPECTED_SECONDS) -> None:
        self.bench, self.client, self.seconds = bench, client, seconds
        self.number = next(bench.numbers)
        self.askers = Askers.of_client(client)
        self.positions: list[int] = []
        self.finished = asyncio.Event()
        self.started = False
        self.task = asyncio.create_task(self.run())

    async def run(self) -> None:
        async with self.bench.queue.create_request(self.askers, self.on_position):
            try:
                self.bench.enter(self)
                await self.finished.wait()
            finally:
                self.bench.inside.remove(self)

    def join(self, client: str, network: str | None = None) -> "Joiner":
        """Another one wants this very program."""
        joiner = Joiner(Client(client, network or client))
        self.askers.join(joiner.asker)
        return joiner

    def on_position(self, position: int) -> None:
        if self.positions and position > self.positions[-1] and not self.bench.cancelled:
            before = [asker for asker in self.bench.line() if asker.positions[-1] < position]
            if self.bench.draining or not any(asker.number > self.number for asker in before):
                self.bench.faults.append(
                    f"put back to {position}, and nobody was let in front"
                )  # raised, it would be logged
        self.positions.append(position)


class Joiner:
    """One more who asks for a program. refused: the error with which its place was taken."""

    def __init__(self, client: Client) -> None:
        self.refused: Exception | None = None
        self.asker = askers.Asker(client, self.on_refused)

    def on_refused(self, error: Exception) -> None:
        self.refused = error


class Bench:
    """Askers and what became of them. now: the clock, which moves only where a run ends."""

    def __init__(self, workers: int, queue: int, **options: Any) -> None:
        self.now = 1000.0
        self.queue, self.workers = FairQueue(workers, queue, clock=lambda: self.now, **options), workers
        self.networks = record_served(self.queue)
        self.numbers = itertools.count()
        self.askers: list[Asker] = []
        self.inside: list[Asker] = []
        self.started: list[Asker] = []
        self.cancelled: set[Asker] = set()
        self.faults: list[str] = []
        self.draining = False

    def submit(self, client: str, address: str | None = None, seconds: float = EXPECTED_SECONDS) -> Asker:
        self.askers.append(Asker(self, Client(client, address or client), seconds))
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

    async def finish(self, asker: Asker) -> None:
        """End its run, and let pass the time that it takes."""
        self.now += asker.seconds / self.workers
        asker.finished.set()
        await run_pending()

    async def drain(self) -> list[Asker]:
        """End every turn, one after the other; those who started meanwhile, in order."""
        first = len(self.started)
        self.draining = True
        while self.inside:
            await self.finish(self.inside[0])
        return self.started[first:]


def record_served(queue: FairQueue) -> list[str]:
    """The networks in the order in which they get their turns, from now on; to begin takes each another moment."""
    given: list[str] = []
    charge = queue._charge_in_advance

    def note(first: module.QueuePlace, places: list[module.QueuePlace]) -> None:
        given.append(first.network)
        charge(first, places)

    queue._charge_in_advance = note
    return given


async def run_pending() -> None:
    """What can happen without anybody doing more has happened."""
    for _ in range(6):
        await asyncio.sleep(0)


def schedule(work: Callable[[Bench], Awaitable[None]], workers: int = 1, queue: int = 64, **options: Any) -> Bench:
    async def main() -> Bench:
        bench = Bench(workers, queue, **options)
        await work(bench)
        await bench.drain()
        assert (bench.queue.waiting_count, bench.queue.running_count) == (0, 0) and not bench.queue._places
        assert not bench.faults
        failed = [asker.task.exception() for asker in bench.askers if asker.task.done() and not asker.task.cancelled()]
        assert not [error for error in failed if error is not None and not isinstance(error, WorkerQueueFull)], failed
        return bench

    return asyncio.run(main())


def names(askers: list[Asker]) -> str:
    return " ".join(asker.client.id for asker in askers)


@pytest.fixture
def nothing_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places change only by who comes and who goes, for all runs take as long as they are thought to."""
    monkeypatch.setattr(module, "FORGOTTEN_SECONDS", 0.0)
    monkeypatch.setattr(module.WorkerRequest, "elapsed_seconds", EXPECTED_SECONDS)


@pytest.mark.usefixtures("nothing_is_forgotten")
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
                strangers.append((asker, len(bench.networks)))
                await run_pending()
                check(bench)
            elif act < 0.8 and bench.inside:
                await bench.finish(chance.choice(bench.inside))
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
        for asker in bench.askers:
            assert asker.task.done()
            refused = not asker.task.cancelled() and isinstance(asker.task.exception(), WorkerQueueFull)
            assert asker.started or asker in cancelled or refused
        for asker, before in strangers:
            if asker.started and asker.client.address == asker.client.id:
                ahead = Counter(bench.networks[before : bench.networks.index(asker.client.address, before)])
                assert all(count <= workers for count in ahead.values()), f"{asker.client.id} waited for {ahead}"

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
            bench.submit("a")
            await bench.finish(bench.inside[0])
            assert bench.inside[0].client.id == expected

    schedule(work)


def test_a_request_that_gives_up_is_not_charged() -> None:
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
            client, _, address = asker.partition(" ")
            bench.submit(client, address)
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
        assert all(isinstance(crowd[k].task.exception(), WorkerQueueFull) for k in pushed_out)
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
    async def work(bench: Bench) -> None:
        for seconds in lengths:
            asker = bench.submit("a", seconds=2 * seconds)  # of the time of one of two workers
            await run_pending()
            await bench.finish(asker)
        for client in "yz" + (line or "bcdeghij"):
            bench.submit(client)
        await run_pending()
        bench.submit("f")
        await run_pending()
        busy = bench.askers[-1].task.exception()
        assert isinstance(busy, WorkerQueueFull)
        assert busy.retry_after == pytest.approx(after, rel=0.001)
        assert str(busy) == f"too many programs are waiting; try again in {after:.0f} s"

    schedule(work, workers=2, queue=8)


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


def test_a_stream_of_new_clients_does_not_starve_an_old_one() -> None:
    async def work(bench: Bench) -> None:
        first = bench.submit("a", seconds=10)
        await run_pending()
        await bench.finish(first)
        bench.submit("x")
        await run_pending()
        began, second = bench.now, bench.submit("a")
        for k in range(1000):
            bench.submit(f"{k}a")
            await run_pending()
            await bench.finish(bench.inside[0])
            if second.started:
                break
        assert second.started
        assert 50 < bench.now - began < 2 * 10 / FORGOTTEN_SECONDS, "it waits until the ten seconds are forgotten"

    schedule(work, queue=10_000)


def test_the_scheduler_remembers_a_bounded_number_of_clients() -> None:
    scheduler = FairScheduler()
    for k in range(5000):
        scheduler.charge_flow(f"{k}", 1.0)
        assert len(scheduler._served) <= module.MAX_FLOWS
    scheduler.charge_flow("last", 1.0)
    assert scheduler.start_tag("0") == scheduler.start_tag("new") == scheduler.start_tag("last") - 1
    expected = module.RunDurationEstimator()
    for k in range(5000):
        expected.count_run(f"{k}", 5.0)
    assert len(expected._averages) == module.MAX_FLOWS and expected.estimate_for_network("4999") == 5.0
    assert expected.estimate_for_network("new") == pytest.approx(5.0), "as the first runs of others"


def test_the_age_of_the_queue_is_that_of_its_oldest_program() -> None:
    async def work(bench: Bench) -> None:
        ages = []
        for client in "abc":
            bench.submit(client)
            await run_pending()
            bench.now += 5
            ages.append(bench.queue.longest_wait_seconds)
        assert ages == [0.0, 5.0, 10.0], "the first one runs at once"
        bench.inside[0].finished.set()
        await run_pending()
        assert bench.queue.longest_wait_seconds == 5.0

    schedule(work, workers=1)


def test_a_network_that_used_ten_seconds_waits_behind_one_that_used_none() -> None:
    async def work(bench: Bench) -> None:
        first = bench.submit("ten", seconds=10)
        await run_pending()
        await bench.finish(first)
        bench.submit("x")
        await run_pending()
        for client in ("ten", "none", "ten", "other"):
            bench.submit(client)
        await run_pending()
        assert names(await bench.drain()) == "none other ten ten"

    schedule(work)


def test_a_network_is_charged_whatever_its_visitors_are_called() -> None:
    """New cookies for each program do not help."""

    async def work(bench: Bench) -> None:
        bench.submit("visitor", seconds=0.1)
        await run_pending()
        crowd = [bench.submit(f"c{k}", "crowd", seconds=5) for k in range(20)]
        await run_pending()
        for _ in range(6):
            await bench.finish(bench.inside[0])
            visitor = bench.submit("visitor", seconds=0.1)
            await run_pending()
            assert visitor.positions[-1] == 0
            await bench.finish(bench.inside[0])
            assert visitor.started
            await bench.finish(visitor)
        assert sum(asker.started for asker in crowd) < 15

    schedule(work)


def test_twenty_networks_with_long_programs_keep_who_asks_for_quick_ones_waiting_for_one_program_at_most() -> None:
    async def work(bench: Bench) -> None:
        async def wait_of(client: str) -> float:
            began, asker = bench.now, bench.submit(client, seconds=0.1)
            await run_pending()
            while not asker.started:
                ended = bench.inside[0]
                await bench.finish(ended)
                bench.submit(ended.client.id, seconds=10)  # and comes again at once
                await run_pending()
            waited = bench.now - began
            await bench.finish(asker)
            return waited

        polite = bench.submit("polite", seconds=0.1)
        await run_pending()
        await bench.finish(polite)
        for k in range(20):
            bench.submit(f"attacker{k}", seconds=10)
        await run_pending()
        for _ in range(6):  # while theirs of the beginning still wait
            assert await wait_of("polite") <= 10, "its programs are known to be quick"
        first = await wait_of("newcomer")
        assert 10 < first <= 20 * 10 / 2, "those of whose programs none has ended are no worse than a newcomer"
        assert max([await wait_of(f"newcomer{k}") for k in range(5)]) <= 10
        assert await wait_of("polite") <= 10

    schedule(work, workers=2)


def test_a_network_is_charged_while_its_programs_still_run() -> None:
    async def work(bench: Bench) -> None:
        for client in ("long", "x"):
            bench.submit(client)
        await run_pending()
        bench.now += 6
        for client in ("long", "none"):
            bench.submit(client)
        await run_pending()
        assert names(await bench.drain()) == "none long"

    schedule(work, workers=2)


def test_programs_ended_early_do_not_lower_the_expected_seconds() -> None:
    expected = module.RunDurationEstimator()
    for _ in range(5):
        expected.count_run("a", 0.01, was_cut_short=True)
    assert expected.estimate_for_network("a") == EXPECTED_SECONDS
    expected.count_run("a", 9.0, was_cut_short=True)
    assert expected.estimate_for_network("a") == 9.0
    expected.count_run("a", 1.0)
    assert expected.estimate_for_network("a") == 5.0


def test_clients_of_one_network_share_its_turns_by_their_seconds() -> None:
    async def work(bench: Bench) -> None:
        long = bench.submit("long", "school", seconds=8)
        await run_pending()
        await bench.finish(long)
        bench.submit("x")
        await run_pending()
        for client in ("long", "long", "quick", "other"):
            bench.submit(client, "school")
        await run_pending()
        assert names(await bench.drain()) == "quick other long long"

    schedule(work)


def test_a_program_waits_in_the_best_place_of_all_who_ask_for_it() -> None:
    async def work(bench: Bench) -> None:
        for _ in range(9):
            bench.submit("attacker")
        lesson = bench.submit("attacker")
        await run_pending()
        other = bench.submit("other")
        await run_pending()
        assert lesson.positions[-1] == 9
        lesson.join("visitor")
        assert lesson.positions[-1] == 1 and other.positions[-1] == 0, "one of each network, by arrival"
        await bench.drain()
        assert bench.started.index(lesson) == 2

    schedule(work)


def test_an_asker_that_leaves_gives_up_its_place() -> None:
    async def work(bench: Bench) -> None:
        for _ in range(4):
            bench.submit("attacker")
        lesson = bench.submit("attacker")
        await run_pending()
        visitor = lesson.join("visitor")
        assert lesson.positions[-1] == 0
        bench.cancelled.add(lesson)
        lesson.askers.leave(visitor.asker)
        assert lesson.positions[-1] == 3
        lesson.askers.leave(next(iter(lesson.askers)))  # the last one: it is withdrawn by whoever entered it
        assert lesson.positions[-1] == 3
        lesson.task.cancel()
        await run_pending()

    schedule(work)


def test_a_network_is_charged_its_part_of_a_program_that_others_wanted_too() -> None:
    async def work(bench: Bench) -> None:
        bench.submit("x")
        await run_pending()
        shared = bench.submit("a", seconds=6)
        shared.join("b")
        shared.join("c")
        await run_pending()
        await bench.finish(bench.inside[0])
        networks, entered = (
            bench.queue._schedulers[module.NETWORKS],
            bench.queue._schedulers[module.NETWORKS].virtual_time,
        )
        await bench.finish(shared)
        assert [networks.start_tag(name, entered) - entered for name in "abc"] == [pytest.approx(2.0, abs=0.2)] * 3

    schedule(work)


@pytest.mark.parametrize("joined_by_attackers", [False, True])
def test_eviction_takes_a_place_and_not_the_program_that_others_want(joined_by_attackers: bool) -> None:
    async def work(bench: Bench) -> None:
        bench.submit("running")
        await run_pending()
        crowd = [bench.submit(f"c{k // 2}", "crowd") for k in range(6)]
        others = [bench.submit(name) for name in ("o", "p")]
        await run_pending()
        visitor = crowd[-1].join("visitor")
        if joined_by_attackers:  # none of their programs has one asker alone
            for k, asker in enumerate(crowd[:-1]):
                asker.join(f"second{k}", "crowd")
        newcomer = bench.submit("newcomer")
        await run_pending()
        assert bench.queue.waiting_count == 8
        gone = [asker for asker in crowd if asker.task.done()]
        assert gone == [crowd[3]] and isinstance(gone[0].task.exception(), WorkerQueueFull)
        assert visitor.refused is None and not crowd[-1].task.done() and not newcomer.task.done()
        assert not any(other.task.done() for other in others)
        bench.cancelled.update(gone)
        assert {crowd[-1], newcomer} <= set(await bench.drain())

    schedule(work, queue=8)


def test_a_program_that_all_have_left_before_it_waits_is_refused() -> None:
    async def work(bench: Bench) -> None:
        bench.submit("running")
        await run_pending()
        left = bench.submit("a")
        left.askers.leave(next(iter(left.askers)))
        await run_pending()
        assert isinstance(left.task.exception(), WorkerQueueFull) and not bench.queue.waiting_count

    schedule(work)


def test_networks_that_join_each_others_programs_still_make_room() -> None:
    async def work(bench: Bench) -> None:
        bench.submit("running")
        await run_pending()
        crowd = [bench.submit(f"m{k}", "most" if k % 2 else "many") for k in range(8)]
        await run_pending()
        joined = [asker.join(f"j{k}", "many" if k % 2 else "most") for k, asker in enumerate(crowd)]
        newcomer = bench.submit("newcomer")
        await run_pending()
        gone = [k for k, asker in enumerate(crowd) if asker.task.done()]
        assert len(gone) == 1 and not newcomer.task.done() and bench.queue.waiting_count == 8
        assert [k for k, joiner in enumerate(joined) if joiner.refused is not None] == gone

    schedule(work, queue=8)


def test_a_program_whose_first_asker_has_no_place_left_waits_for_the_others() -> None:
    async def work(bench: Bench) -> None:
        bench.submit("running")
        await run_pending()
        for _ in range(2):
            bench.submit("attacker")
        await run_pending()
        lesson = bench.submit("attacker")
        visitor = lesson.join("visitor")  # before it is known whether the queue has room
        await run_pending()
        assert not lesson.task.done() and visitor.refused is None and lesson.positions == [1]
        assert [asker.client.id for asker in lesson.askers] == ["visitor"]
        alone = bench.submit("attacker")
        await run_pending()
        assert isinstance(alone.task.exception(), WorkerQueueFull)

    schedule(work, queue=8)
