"""uvicorn is extended through parts of it that it doesn't document: each is there, and is called as we expect.

The parts are found in our own source: what our two classes use of themselves and don't define, what they hand on to.
"""

import ast
import asyncio
import importlib
import inspect
from typing import Any

import pytest
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from server.http.deadline_server import DeadlineProtocol, DeadlineServer

OURS: dict[type, type] = {DeadlineServer: uvicorn.Server, DeadlineProtocol: H11Protocol}
REPLACED = {
    DeadlineServer: ("startup", "handle_exit", "shutdown"),
    DeadlineProtocol: (
        *("connection_made", "connection_lost", "data_received", "handle_events", "send_400_response"),
        *("on_response_complete", "eof_received", "pause_writing", "resume_writing"),
    ),
}
"""Methods that uvicorn calls and that are ours. Under another name ours would never be called."""

ADVICE = (
    f"which server/ relies on, and uvicorn {uvicorn.__version__} lacks: see what became of it, or keep to the version "
    "before (pyproject.toml)"
)


class DiscardingTransport(asyncio.Transport):
    """A connection to nobody."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        pass

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


def chains(kind: type) -> set[str]:
    """What the class uses of `self`, as `cycle.response_complete`, and of `super()`."""
    tree = ast.parse(inspect.getsource(importlib.import_module(kind.__module__)))
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == kind.__name__)
    found = set()
    for node in ast.walk(body):
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.insert(0, node.attr)
            node = node.value
        is_super = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
        if names and (is_super or (isinstance(node, ast.Name) and node.id == "self")):
            found.add(".".join(names))
    own = {name for name in vars(kind) if name not in REPLACED[kind]} | set(vars(kind).get("__annotations__", {}))
    own |= {chain for chain in found if chain.startswith(("_turns", "_proxies"))}
    return {chain for chain in found if chain.split(".")[0] not in own}


async def answer(_: Any, __: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def serving(kind: type) -> Any:
    """What uvicorn itself makes in place of our class, in the midst of its work."""
    config = uvicorn.Config(answer, log_level="critical", lifespan="off")
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    if kind is DeadlineServer:
        return server
    protocol = H11Protocol(config=config, server_state=server.server_state, app_state=server.lifespan.state)
    protocol.connection_made(DiscardingTransport())
    protocol.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    return protocol


@pytest.mark.parametrize("kind", OURS)
def test_every_part_of_uvicorn_that_we_use_exists(kind: type) -> None:
    async def missing() -> list[str]:
        whole, lacking = await serving(kind), []
        for chain in sorted(chains(kind)):
            value = whole
            for name in chain.split("."):
                if not hasattr(value, name):
                    lacking.append(f"{OURS[kind].__name__}.{chain}")
                    break
                value = getattr(value, name)
        await asyncio.sleep(0)
        return lacking

    used = chains(kind)
    assert {DeadlineServer: "server_state.connections", DeadlineProtocol: "cycle.response_complete"}[kind] in used
    lacking = asyncio.run(missing())
    assert not lacking, f"{', '.join(lacking)}, {ADVICE}"


@pytest.mark.parametrize(("kind", "method"), [(kind, name) for kind, names in REPLACED.items() for name in names])
def test_a_method_that_we_replace_is_one_of_uvicorns_with_the_same_parameters(kind: type, method: str) -> None:
    theirs = vars(OURS[kind]).get(method)
    assert theirs is not None, f"{OURS[kind].__name__}.{method}, {ADVICE}"
    if not theirs.__module__.startswith("uvicorn."):
        return  # sse-starlette puts its own in the place of `handle_exit`
    parameters = [list(inspect.signature(function).parameters) for function in (theirs, vars(kind)[method])]
    assert parameters[0] == parameters[1], (
        f"{OURS[kind].__name__}.{method} with the parameters {parameters[1]}, {ADVICE}"
    )
