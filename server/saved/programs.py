"""Saved programs: saving one under a permalink, finding it, running it again, and writing it as a script."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from gradbox.wire.api import RunRequest
from server.operating import log
from server.operating.metrics import Metrics
from server.pool.executions import ExecutionResult
from server.pool.zygote import WorkersUnavailable
from server.saved.large_traces import TraceProcessor
from server.store.contents import ContentRemoved, QuotaExceeded, canonical_json, iso_time
from server.store.database import StoreUnavailable
from server.store.repository import ProgramRepository, ProgramTooLarge, SavedProgram
from server.store.stored_traces import read_trace_header, runtime_versions
from server.visitors.clients import Client
from server.visitors.rate_limits import RateLimited, SharedRateLimiter, SharedSavedBytesLimiter
from server.wire.problems import ProblemError
from server.wire.saved_programs import Content, Rerun, SavedProgramReply


def python_script(program: SavedProgram, url: str) -> str:
    """The program without prompts and printed output, with its permalink. Decompresses the beginning of the trace.

    url: its permalink
    """
    content, versions = program.content, program.versions
    source: str = read_trace_header(program.trace)["program"]["source"]
    lines = [line for text in (content.title, content.description, content.note) for line in text.splitlines()]
    lines.append(url)
    lines.append(
        f"torch {versions.torch}, numpy {versions.numpy}, Python {versions.python}; "
        f"seed {content.settings.seed}, {content.settings.device}"
    )
    if content.settings.input:
        lines += ["input:", *content.settings.input.splitlines()]
    # the first line declares the encoding, so that no title can
    comments = "".join(f"# {blank_control_characters(line)}\n" for line in ["coding: utf-8", *lines])
    return f"{comments}\n{source.rstrip(chr(10))}\n"


def blank_control_characters(line: str) -> str:
    """The line with blanks for characters that move a terminal's cursor, reverse the direction of text or end a
    line."""
    return "".join(character if character.isprintable() else " " for character in line).rstrip()


MAX_KNOWN_TRACES = 10_000
"""Saved traces of which it is remembered whether their runs ended by accident."""

RunProgram = Callable[[RunRequest], Awaitable[ExecutionResult]]
"""Runs a program for the client who asks. Raises ProblemError."""

REFUSAL_ERRORS = (RateLimited, StoreUnavailable, ContentRemoved, ProgramTooLarge, QuotaExceeded)


class ProgramService:
    """Saves programs and finds them again.

    limits, save_space: how many programs and bytes one visitor may save
    """

    def __init__(
        self, store: ProgramRepository, limits: SharedRateLimiter, save_space: SharedSavedBytesLimiter, metrics: Metrics
    ) -> None:
        self._store, self._limits, self._save_space, self._metrics = store, limits, save_space, metrics
        self.reader = TraceProcessor()
        self._known_accidents: OrderedDict[str, bool] = OrderedDict()

    async def find_program(self, id_: str) -> SavedProgram:
        """Find a program. Raises ProblemError (404), ContentRemoved and StoreUnavailable."""
        program = await self._store.find_program(id_)
        if program is None:
            raise ProblemError(404, "no_scenario", "there is no program at this address", field="id")
        return program

    async def save_program(self, content: Content, client: Client, run: RunProgram) -> tuple[SavedProgram, bool]:
        """Save a program. Returns it, and whether it is new; the same content is saved once. `run` makes its trace.

        If its run may have ended by accident, it is run again, and a better trace replaces the first. Raises
        ProblemError (422, for an unknown parent), RateLimited, ContentRemoved, ProgramTooLarge, QuotaExceeded,
        StoreUnavailable, WorkersUnavailable, and what `run` raises.
        """
        text = canonical_json(content)
        with self._counting_refusals():
            program = await self._store.find_program_with_content(text)
            if program is not None and not await self._may_have_ended_by_accident(program):
                return program, False
            if content.parent is not None and not await self._store.was_id_assigned(content.parent):
                raise ProblemError(422, "no_parent", "there is no such program to fork from", field="parent")
            await self._save_space.count_saved_bytes(client, 1)  # before it is run, whether there is any
            await self._limits.count_request(client)
        if program is not None:
            await self._improve_trace(program, await run_saved_content(content, run), client)
            return await self.find_program(program.id), False
        trace = (await rerun_if_nondeterministic(content, run)).body
        versions = runtime_versions(await asyncio.to_thread(read_trace_header, trace))
        with self._counting_refusals():
            await self._save_space.count_saved_bytes(client, len(text) + len(trace))
            id_, new = await self._store.save_program(text, trace, versions)
            program = await self.find_program(id_)
        log.event_log.info("save", id=id_, bytes=len(text) + len(trace), new=new)
        if new:
            self._metrics.count_saved_program()
        return program, new

    async def rerun_program(self, id_: str, client: Client, run: RunProgram) -> Rerun:
        """How the result differs today. What was saved stays as it is, unless its run may have ended by accident and
        today's did not.

        Raises what `find_program` and `run` raise, and RateLimited, ProgramTooLarge and QuotaExceeded.
        """
        program = await self.find_program(id_)
        result = await run_saved_content(program.content, run)
        new = await asyncio.to_thread(read_trace_header, result.body)
        parts, step = await self.reader.run_function("compare", program.trace, result.body)
        if parts and not result.may_have_ended_nondeterministically and await self._may_have_ended_by_accident(program):
            await self._improve_trace(program, result, client)
        return Rerun(
            id=program.id,
            changed=bool(parts),
            differs=parts,
            step=step,
            repeatable=result.deterministic,
            was=program.versions,
            now=runtime_versions(new),
        )

    async def _may_have_ended_by_accident(self, program: SavedProgram) -> bool:
        """Whether the result cache would not keep the saved trace because of how its run ended. Remembered for each
        trace."""
        name = program.trace_name
        if name not in self._known_accidents:
            self._known_accidents[name] = bool(await self.reader.run_function("accident", program.trace))
            while len(self._known_accidents) > MAX_KNOWN_TRACES:
                self._known_accidents.popitem(last=False)
        return self._known_accidents[name]

    async def _improve_trace(self, program: SavedProgram, result: ExecutionResult, client: Client) -> None:
        """Replace a trace whose run may have ended by accident by that of a new run, if the new run did not."""
        if result.may_have_ended_nondeterministically:
            return
        versions = runtime_versions(await asyncio.to_thread(read_trace_header, result.body))
        with self._counting_refusals():
            await self._save_space.count_saved_bytes(client, len(result.body))
            replaced = await self._store.replace_trace(program, result.body, versions)
        log.event_log.info("improve", id=program.id, bytes=len(result.body), replaced=replaced)

    @contextmanager
    def _counting_refusals(self) -> Iterator[None]:
        try:
            yield
        except REFUSAL_ERRORS as error:
            self._metrics.count_refused_save(error.problem.code)
            raise


async def rerun_if_nondeterministic(content: Content, run: RunProgram) -> ExecutionResult:
    """Run a program whose trace is kept for ever. If a clock, the machine or a person ended the run, it is repeated
    once. Raises WorkersUnavailable if the run was lost or cancelled, or ended by accident twice, in different ways."""
    first = await run_saved_content(content, run)
    if not first.may_have_ended_nondeterministically:
        return first
    second = await run_saved_content(content, run)
    if second.may_have_ended_nondeterministically and (second.status, second.limit) != (first.status, first.limit):
        raise WorkersUnavailable("the run was ended by accident; try again")
    return second


async def run_saved_content(content: Content, run: RunProgram) -> ExecutionResult:
    """Run a program. Raises WorkersUnavailable if the run was lost or cancelled."""
    settings = content.settings
    result = await run(
        RunRequest(
            source=content.source,
            device=settings.device,
            seed=settings.seed,
            focus=settings.focus,
            input=settings.input,
        )
    )
    if result.status in ("lost", "cancelled"):
        raise WorkersUnavailable("the run was lost; try again")
    return result


def describe_program(program: SavedProgram, url: str) -> SavedProgramReply:
    """The interface's description of a program.

    url: its permalink
    """
    content = {name: getattr(program.content, name) for name in Content.model_fields}
    return SavedProgramReply(
        **content, id=program.id, url=url, created=iso_time(program.created), versions=program.versions
    )
