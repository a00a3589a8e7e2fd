"""Gives access to runs that another web process accepted, by asking that process through the broker while it is alive.

The id of a run begins with the name of the process that accepted it. Each process has a list of messages in the broker
that it alone reads. A process that is asked for another's run asks the other process for it, again after each change of
state; the last reply has the trace. So nothing is written for runs whose visitors stay with one process.
"""

import asyncio
import logging
import re
import secrets
import time
from contextlib import aclosing, suppress
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from gradbox.wire.api import RunState
from gradbox.wire.base import Model
from server.pool.executions import Execution, ExecutionResult, Executions, Subscription
from server.pool.remote.broker import BrokerError, close_broker_connections, create_broker_connections
from server.pool.remote.messages import MAX_STREAMED_BYTES, encode_wire_model
from server.pool.remote.pool import BlobStore
from server.pool.remote.shared_broker import MessageSigner, SharedBroker
from server.pool.zygote import WorkersUnavailable
from server.throttled_log import ThrottledLog

READ_TIMEOUT = 1.0
"""Seconds for which the command that reads messages waits for one."""

MAX_WAIT = 4.0
"""Seconds without a reply after which a process, and its runs, count as gone."""

LONGEST_WAIT = 5.0
"""Seconds after which a reply is sent although nothing has changed. The question is repeated after that, because Redis
may have restarted."""

ANSWER_SECONDS = 2.0
"""Additional seconds for a question and its reply to travel."""

ALIVE_TTL = 8
"""Seconds without a sign of life after which a process is not asked any more."""

MESSAGE_TTL = 60
MAX_MESSAGES = 1000
"""The most messages kept for a process that reads none, and for how many seconds."""

_ID_PATTERN = re.compile(r"([0-9a-f]{12})\.[\w-]{22}")

log = logging.getLogger("gradbox.pool")
throttled_log = ThrottledLog(log)


class PeerQuestion(Model):
    """A question from one process to another.

    known: the state that the asker knows; the reply is sent once it differs. None: reply at once
    """

    kind: Literal["question"] = "question"
    id: str
    sender: str
    run: str
    ask: Literal["state", "stop"]
    known: RunState | None = None


class PeerReply(Model):
    """The reply of the process that has a run.

    state: None if it has no such run
    error: why the program could not be run
    stored: whether the trace is in the database, under the id
    """

    kind: Literal["reply"] = "reply"
    id: str
    state: RunState | None = None
    error: str | None = None
    stored: bool = False


MESSAGE_ADAPTER: TypeAdapter[PeerQuestion | PeerReply] = TypeAdapter(
    Annotated[PeerQuestion | PeerReply, Field(discriminator="kind")]
)


class BrokerPeerRuns:
    """Relays questions and replies about runs between web processes.

    name: the name of this process
    secret: shared by all web processes; messages made without it are ignored
    blobs: for traces that are too large for the broker
    """

    def __init__(self, broker: SharedBroker, url: str, secret: bytes, blobs: BlobStore) -> None:
        self.process_name = secrets.token_hex(6)
        self._broker, self._blobs = broker, blobs
        self._signer = MessageSigner(secret, b"runs of other web processes")
        self._reading_broker = create_broker_connections(url, READ_TIMEOUT)
        self._executions: Executions | None = None
        self._waiting: dict[str, asyncio.Future[tuple[PeerReply, bytes]]] = {}  # by the question's id
        self._followed: dict[str, Subscription] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    def start_answering(self, executions: Executions) -> None:
        """Answer questions about the runs of this process."""
        self._executions = executions
        self._spawn_task(self._read_forever())

    async def close(self) -> None:
        """Stop answering, after telling those that still ask that the runs have ended."""
        self._closed = True
        await self._broker.run_command(lambda: self._broker.redis.delete(process_alive_key(self.process_name)))
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=2 * READ_TIMEOUT)
        for task in self._tasks:
            task.cancel()
        await close_broker_connections(self._reading_broker)

    async def find_run(self, run: str) -> Subscription | None:
        """Find a run of another process. Its state is followed for as long as somebody here reads it. None if no living
        process has it."""
        followed = self._followed.get(run)
        if followed is not None and not followed.execution.stop.is_set():
            return followed
        answer = await self._ask_owner_with_retries(run)
        if answer is None:
            return None
        subscription = Subscription(Execution(""), run)
        await self._apply_reply(subscription, *answer)
        if not subscription.execution.is_done:
            self._followed[run] = subscription
            self._spawn_task(self._follow_subscription(subscription))
        return subscription

    async def stop_run(self, run: str) -> bool:
        """Ask the process that accepted a run to stop it. Returns whether there is such a run."""
        return await self._ask_owner_with_retries(run, "stop") is not None

    async def _follow_subscription(self, subscription: Subscription) -> None:
        """Keep asking until the run is over, its process is gone, or nobody here reads it any more."""
        execution, run = subscription.execution, subscription.id
        assert self._executions is not None
        self._executions.unsubscribe_unless_read(subscription)  # which sets `stop` where none comes
        try:
            while not execution.is_done and (subscription.readers or not execution.stop.is_set()):
                known = RunState.model_validate(subscription.state_fields())
                answer = await self._ask_owner_with_retries(run, known=known)
                if answer is None:
                    execution.error = WorkersUnavailable("the web process that had accepted this run is gone")
                    execution.notify_waiters()
                else:
                    await self._apply_reply(subscription, *answer)
        finally:
            if self._followed.get(run) is subscription:
                del self._followed[run]
        if execution.result is not None:
            self._executions.retain_subscription(subscription, execution.result)

    async def _apply_reply(self, subscription: Subscription, reply: PeerReply, trace: bytes) -> None:
        """Update a subscription from a reply."""
        execution, state = subscription.execution, reply.state
        assert state is not None
        if state.state == "done" and state.status is not None:
            body = await self._blobs.get(reply.id) if reply.stored else trace
            if body:
                execution.result = ExecutionResult(state.status, body)
            else:
                execution.error = WorkersUnavailable("the trace of this run can't be read now")
        elif state.state == "done":
            execution.error = WorkersUnavailable(reply.error or "the run failed")
        else:
            execution.ahead = -1 if state.state == "running" else state.ahead or 0
        execution.notify_waiters()

    async def _ask_owner_with_retries(
        self, run: str, ask: Literal["state", "stop"] = "state", known: RunState | None = None
    ) -> tuple[PeerReply, bytes] | None:
        """Ask the process that accepted a run; None if it knows no such run or has not answered for `MAX_WAIT`."""
        match = _ID_PATTERN.fullmatch(run)
        if match is None or match[1] == self.process_name:
            return None
        wait = LONGEST_WAIT if known is not None else 0.0
        until = time.monotonic() + MAX_WAIT + 2 * wait
        while not self._closed and time.monotonic() < until:
            if await self._broker.run_command(lambda: self._broker.redis.exists(process_alive_key(match[1]))):
                answer = await self._ask_owner(match[1], run, ask, known, wait + ANSWER_SECONDS)
                if answer is not None:
                    return answer if answer[0].state is not None else None
            await asyncio.sleep(0.2)
        return None

    async def _ask_owner(
        self, owner: str, run: str, ask: Literal["state", "stop"], known: RunState | None, seconds: float
    ) -> tuple[PeerReply, bytes] | None:
        """Ask one question; None if no reply comes within this many seconds."""
        question = PeerQuestion(id=secrets.token_hex(8), sender=self.process_name, run=run, ask=ask, known=known)
        waiting: asyncio.Future[tuple[PeerReply, bytes]] = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = waiting
        try:
            if not await self._send_message(owner, question):
                return None
            async with asyncio.timeout(seconds):
                return await waiting
        except TimeoutError:
            return None
        finally:
            del self._waiting[question.id]

    async def _answer_question(self, question: PeerQuestion) -> None:
        assert self._executions is not None
        subscription = self._executions.find_subscription(question.run)
        if subscription is None:
            await self._send_message(question.sender, PeerReply(id=question.id))
            return
        if question.ask == "stop":
            self._executions.stop_subscription(subscription)
        elif question.known is not None:
            await self._wait_for_state_change(subscription, question.known)
        elif not subscription.execution.is_done:
            self._executions.unsubscribe_unless_read(subscription)
        execution = subscription.execution
        reply = PeerReply(id=question.id, state=RunState.model_validate(subscription.state_fields()))
        if execution.error is not None:
            reply = reply.model_copy(update={"error": str(execution.error)[:500]})
        trace = execution.result.body if execution.result is not None and question.ask == "state" else b""
        if len(trace) > MAX_STREAMED_BYTES:
            try:
                await self._blobs.put(question.id, trace)
            except Exception as error:  # whatever database it is; the other then finds nothing
                log.error("a trace could not be stored for another web process: %s", type(error).__name__)
            reply, trace = reply.model_copy(update={"stored": True}), b""
        await self._send_message(question.sender, reply, trace)

    async def _wait_for_state_change(self, subscription: Subscription, known: RunState) -> None:
        """Read a subscription until its state differs from the known one, for `LONGEST_WAIT` at most."""
        assert self._executions is not None
        with suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_WAIT), aclosing(self._executions.iterate_states(subscription)) as states:  # type: ignore[type-var]
                async for state in states:
                    if RunState.model_validate(state) != known:
                        return

    async def _send_message(self, to: str, message: PeerQuestion | PeerReply, trace: bytes = b"") -> bool:
        """Add a message to another process's list. Returns whether the broker accepted it."""
        content = encode_wire_model(message) + b"\n" + trace
        pipe = self._broker.redis.pipeline(transaction=False)
        pipe.rpush(process_messages_key(to), self._signer.sign(to, content))
        pipe.ltrim(process_messages_key(to), -MAX_MESSAGES, -1)
        pipe.expire(process_messages_key(to), MESSAGE_TTL)
        return await self._broker.run_command(pipe.execute) is not None

    async def _read_forever(self) -> None:
        """Read messages until the relay is closed; if the broker goes away, wait until it is back."""
        seen = -1e9
        while not self._closed:
            try:
                if time.monotonic() - seen > ALIVE_TTL / 4:
                    await self._reading_broker.set(process_alive_key(self.process_name), 1, ex=ALIVE_TTL)
                    seen = time.monotonic()
                popped = await self._reading_broker.blpop([process_messages_key(self.process_name)], READ_TIMEOUT)
                if popped is not None:
                    self._handle_message(popped[1])
            except BrokerError:
                await asyncio.sleep(0.2)
            except Exception as error:  # of a value that is none of ours
                throttled_log.error(
                    "a message of another web process could not be read", f"{type(error).__name__}: {error}"
                )

    def _handle_message(self, signed: bytes) -> None:
        """Answer a question, or pass a reply to whoever waits for it. A message signed without the secret is
        ignored."""
        content = self._signer.verify(self.process_name, signed)
        if content is None:
            throttled_log.error(
                "a message to this web process has another signature: is GRADBOX_SECRET the same in all of them?"
            )
            return
        text, _, trace = content.partition(b"\n")
        message = MESSAGE_ADAPTER.validate_json(text)
        if isinstance(message, PeerQuestion):
            self._spawn_task(self._answer_question(message))
        elif (waiting := self._waiting.get(message.id)) is not None and not waiting.done():
            waiting.set_result((message, trace))

    def _spawn_task(self, work: "asyncio._CoroutineLike[None]") -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def process_messages_key(name: str) -> str:
    """The key of the list of messages to a process."""
    return f"gradbox:web:{name}:messages"


def process_alive_key(name: str) -> str:
    """The key of a process's sign of life."""
    return f"gradbox:web:{name}:alive"
