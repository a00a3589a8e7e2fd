"""Runs programs in plain CPython, without a recorder: what a trace has to agree with."""

import functools
import pickle
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from tests.forks.fork_host import COMMAND, PLAIN, ForkHost

HOST = PLAIN


@functools.cache
def run_plain(source: str, inside: Callable[[], AbstractContextManager[Any]] | None = None) -> dict[str, Any]:
    """`printed`, and `error`: None or its type, message and line. The program is seeded as a run is, and run once.

    inside: a class or function of a module, which makes the context that it runs in
    """
    name = f"{inside.__module__}:{inside.__qualname__}" if inside is not None else None
    truth: dict[str, Any] = pickle.loads(HOST.ask(source=source, inside=name, facts=False))
    return {"printed": truth["printed"], "error": truth["error"] and truth["error"][:3]}


def call_in_plain(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns in a fork of a process that has imported torch, and nothing of the recorder."""
    return call_in(PLAIN, function, *arguments)


def call_beside_gradbox(function: Callable[..., Any], *arguments: Any) -> Any:
    """The same in a fork of a process that has imported what `gradbox` and its scripts import."""
    return call_in(COMMAND, function, *arguments)


def call_in(host: ForkHost, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function of a module returns in a fork of this host. Raises AssertionError where the function raises;
    standard error then says why.

    arguments: what JSON can hold
    """
    data = host.ask(function=f"{function.__module__}:{function.__qualname__}", arguments=arguments)
    assert data, f"{function.__qualname__} has not returned"
    return pickle.loads(data)
