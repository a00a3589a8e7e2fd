"""Saving, finding and rerunning programs, with a real database and a run that is given."""

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from gradbox.wire.api import RunRequest
from server.pool.executions import ExecutionResult
from server.pool.zygote import WorkersUnavailable
from server.saved.programs import describe_program
from server.services import Services, create_services
from server.settings import Settings
from server.store.contents import ContentRemoved, canonical_json
from server.store.repository import ProgramTooLarge
from server.visitors.clients import Client
from server.visitors.rate_limits import RateLimited
from server.wire.problems import ProblemError
from server.wire.saved_programs import Content
from tests.recordings.store import kept_trace

VISITOR = Client("a visitor", "192.0.2.1")
SOURCE = "x = 1\n"


class Runner:
    """Answers each request with a trace, and counts them."""

    def __init__(self, source: str = SOURCE, status: str = "finished") -> None:
        self.requests: list[RunRequest] = []
        self._result = ExecutionResult(status, gzip.compress(json.dumps(kept_trace(source)).encode()))

    async def __call__(self, request: RunRequest) -> ExecutionResult:
        self.requests.append(request)
        return self._result


def with_services(folder: Path, work: Callable[[Services], Awaitable[None]], **settings: Any) -> None:
    async def main() -> None:
        services = create_services(Settings({}, data=str(folder), **settings), "tests.support.stand_in_recorder:run")
        try:
            await work(services)
        finally:
            await services.saved.store.database.close()

    asyncio.run(main())


def counted(services: Services, name: str) -> dict[str, int]:
    return services.metrics.counts_by_label(name)


def test_the_same_content_is_run_and_saved_once(tmp_path: Path) -> None:
    async def work(services: Services) -> None:
        run = Runner()
        content = Content(source="x = 1\n", settings={"seed": 7})  # type: ignore[arg-type]
        first, new = await services.saved.programs.save_program(content, VISITOR, run)
        again, new_again = await services.saved.programs.save_program(content, VISITOR, run)
        assert (new, new_again) == (True, False) and first == again == await services.saved.programs.find_program(
            first.id
        )
        assert [(request.source, request.seed) for request in run.requests] == [("x = 1\n", 7)]
        assert counted(services, "saves") == {"": 1} and counted(services, "saves_refused") == {}
        reply = describe_program(first, "/s/here")
        assert (reply.id, reply.url, reply.source) == (first.id, "/s/here", "x = 1\n") and reply.created.endswith(
            "Z"
        ) is False

    with_services(tmp_path, work)


def test_what_is_refused_is_counted_by_its_code_and_not_run(tmp_path: Path) -> None:
    async def work(services: Services) -> None:
        run = Runner()
        first, _ = await services.saved.programs.save_program(Content(source="x = 0"), VISITOR, run)
        with pytest.raises(RateLimited):
            await services.saved.programs.save_program(Content(source="x = 1"), VISITOR, run)
        with pytest.raises(ProblemError) as error:
            await services.saved.programs.save_program(Content(source="x = 2", parent="7777777777"), VISITOR, run)
        assert (error.value.status, error.value.problem.code) == (422, "no_parent")
        await services.saved.store.remove_content(first.id)
        for ask in (
            services.saved.programs.save_program(Content(source="x = 0"), VISITOR, run),
            services.saved.programs.find_program(first.id),
        ):
            with pytest.raises(ContentRemoved):
                await ask
        assert len(run.requests) == 1 and counted(services, "saves_refused") == {"limited": 1, "removed": 1}

    with_services(tmp_path, work, save_limit="1/minute")


def test_a_program_that_is_too_large_is_run_and_not_saved(tmp_path: Path) -> None:
    async def work(services: Services) -> None:
        with pytest.raises(ProgramTooLarge):
            await services.saved.programs.save_program(Content(source="x = 1"), VISITOR, Runner())
        assert counted(services, "saves_refused") == {"too_large": 1} and counted(services, "saves") == {"": 0}

    with_services(tmp_path, work, scenario=10)


@pytest.mark.parametrize("status", ["lost", "cancelled"])
def test_a_run_that_was_lost_is_not_saved(tmp_path: Path, status: str) -> None:
    async def work(services: Services) -> None:
        with pytest.raises(WorkersUnavailable):
            await services.saved.programs.save_program(Content(source="x = 1"), VISITOR, Runner(status=status))
        assert not [entry async for entry in services.saved.store.iterate_list_entries()]

    with_services(tmp_path, work)


def test_a_rerun_says_what_differs_and_leaves_what_was_saved(tmp_path: Path) -> None:
    async def work(services: Services) -> None:
        program, _ = await services.saved.programs.save_program(Content(source="x = 1\n"), VISITOR, Runner())
        same = await services.saved.programs.rerun_program(program.id, VISITOR, Runner())
        assert (same.changed, same.differs, same.step) == (False, [], None) and same.was == same.now == program.versions
        other = await services.saved.programs.rerun_program(program.id, VISITOR, Runner("x = 2\n"))
        assert other.changed and other.differs == ["steps"] and other.step == 0
        assert await services.saved.programs.find_program(program.id) == program
        with pytest.raises(ProblemError) as error:
            await services.saved.programs.rerun_program("7777777777", VISITOR, Runner())
        assert (error.value.status, error.value.problem.code) == (404, "no_scenario")

    with_services(tmp_path, work)


class Outcomes(Runner):
    """Ends its runs in these ways, one after the other: a status, or `stopped` and a limit."""

    def __init__(self, *endings: str) -> None:
        super().__init__()
        self._endings = list(endings)

    async def __call__(self, request: RunRequest) -> ExecutionResult:
        self.requests.append(request)
        status, _, limit = self._endings.pop(0).partition(" ")
        document = kept_trace(SOURCE)
        document["outcome"] = {"status": status}
        if limit:
            document["outcome"]["stopped"] = {"limit": limit, "value": 1}
        body = gzip.compress(json.dumps(document).encode())
        return ExecutionResult(status, body, limit=limit or None)  # type: ignore[arg-type]


def outcome_of(body: bytes) -> str:
    outcome = json.loads(gzip.decompress(body))["outcome"]
    return " ".join([outcome["status"], *([outcome["stopped"]["limit"]] if "stopped" in outcome else [])])


@pytest.mark.parametrize(
    ("endings", "kept"),
    [
        (["finished"], "finished"),
        (["raised"], "raised"),
        (["stopped steps"], "stopped steps"),
        (["crashed", "finished"], "finished"),  # it was killed
        (["stopped wall", "raised"], "raised"),  # the machine was busy
        (["stopped cpu", "stopped output"], "stopped output"),
        (["crashed", "crashed"], "crashed"),  # that is what it does
        (["stopped wall", "stopped wall"], "stopped wall"),
        (["crashed", "stopped wall"], None),
        (["stopped wall", "stopped memory"], None),
        (["lost"], None),
        (["cancelled"], None),
        (["stopped wall", "lost"], None),
    ],
)
def test_a_run_ended_by_accident_is_repeated_before_it_is_saved(
    endings: list[str], kept: str | None, tmp_path: Path
) -> None:
    async def work(services: Services) -> None:
        run, content = Outcomes(*endings), Content(source=SOURCE)
        if kept is None:
            with pytest.raises(WorkersUnavailable, match="try again"):
                await services.saved.programs.save_program(content, VISITOR, run)
            saved, _ = await services.saved.programs.save_program(content, VISITOR, Outcomes("finished"))
            assert outcome_of(saved.trace) == "finished"
        else:
            saved, new = await services.saved.programs.save_program(content, VISITOR, run)
            assert new and outcome_of(saved.trace) == kept
        assert not run._endings

    with_services(tmp_path, work)


@pytest.mark.parametrize("first", ["crashed", "stopped wall", "stopped cpu", "stopped memory"])
def test_saving_again_replaces_the_trace_of_an_accidental_end(first: str, tmp_path: Path) -> None:
    async def work(services: Services) -> None:
        programs, content = services.saved.programs, Content(source=SOURCE)
        saved, _ = await programs.save_program(content, VISITOR, Outcomes(first, first))
        again, new = await programs.save_program(content, VISITOR, Outcomes(first))
        assert not new and again == saved, "no better one"
        for worse in ("lost", "cancelled"):
            with pytest.raises(WorkersUnavailable):
                await programs.save_program(content, VISITOR, Outcomes(worse))
        better, new = await programs.save_program(content, VISITOR, Outcomes("raised"))
        assert not new and better.id == saved.id and outcome_of(better.trace) == "raised"
        assert better.created > saved.created and better.trace_name != saved.trace_name
        assert await programs.find_program(saved.id) == better
        same, _ = await programs.save_program(content, VISITOR, Outcomes())
        assert same == better, "it is not run again"
        totals = await services.saved.store.read_totals()
        assert (totals.programs, totals.size) == (1, len(better.trace) + len(canonical_json(content)))

    with_services(tmp_path, work)


def test_a_rerun_replaces_only_the_trace_of_an_accidental_end(tmp_path: Path) -> None:
    async def work(services: Services) -> None:
        programs = services.saved.programs
        crashed, _ = await programs.save_program(Content(source=SOURCE), VISITOR, Outcomes("crashed", "crashed"))
        raised, _ = await programs.save_program(Content(source=SOURCE, title="b"), VISITOR, Outcomes("raised"))
        await programs.rerun_program(crashed.id, VISITOR, Outcomes("stopped wall"))
        assert await programs.find_program(crashed.id) == crashed
        answer = await programs.rerun_program(crashed.id, VISITOR, Outcomes("finished"))
        assert answer.changed and outcome_of((await programs.find_program(crashed.id)).trace) == "finished"
        await programs.rerun_program(raised.id, VISITOR, Outcomes("finished"))
        assert await programs.find_program(raised.id) == raised, "it is what the program did then"

    with_services(tmp_path, work)


def test_a_removed_program_is_not_brought_back_by_a_better_trace(tmp_path: Path) -> None:
    async def work(services: Services) -> None:
        programs, content = services.saved.programs, Content(source=SOURCE)
        saved, _ = await programs.save_program(content, VISITOR, Outcomes("crashed", "crashed"))
        store = services.saved.store
        assert await store.replace_trace(saved, saved.trace, saved.versions)
        assert not await store.replace_trace(saved, saved.trace, saved.versions), "another one was there first"
        await store.remove_content(saved.id)
        with pytest.raises(ContentRemoved):
            await programs.save_program(content, VISITOR, Outcomes("finished"))
        assert not await store.replace_trace(saved, saved.trace, saved.versions)

    with_services(tmp_path, work)
