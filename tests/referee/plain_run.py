"""The truth about a program: how plain CPython runs it, and what torch says of its tensors then."""

import functools
import pickle
from typing import Any

from tests.forks.plain_python import HOST

Truth = dict[str, Any]
"""`printed`; `error`: None or its type, message, line number and text of the line; and what `torch_facts.facts`
returns. Where the program could not be run or asked, `fault` alone: a sentence."""


@functools.cache
def plain_run(source: str) -> Truth:
    """The truth from a fresh fork. A program is run once: callers don't change the result."""
    return fresh_plain_run(source)


def fresh_plain_run(source: str) -> Truth:
    """The same from another run: for programs on which CPython may disagree with itself."""
    data = HOST.ask(source=source, inside=None, facts=True)
    truth: Truth = pickle.loads(data) if data else {"fault": "no answer in time"}
    return {"fault": truth["fault"]} if "fault" in truth else {**truth, **truth["facts"]}
