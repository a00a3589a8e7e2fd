"""Why a recording took long, in a sentence for its user."""

from collections.abc import Mapping
from typing import Literal

SLOW_RECORDING_SECONDS = 10.0
"""Seconds after which a recording says why it took long."""

LARGE_BYTES = 200 << 20
"""Bytes of storages whose reading takes noticeable time."""

FullObservationReason = Literal[
    "unstepped_calls", "earlier_functions", "exposed_memory", "modules", "threads", "callbacks"
]
"""Why a step observes everything: see gradbox.sessions.unstepped_code."""

FULL_OBSERVATION_SENTENCES: Mapping[FullObservationReason, str] = {
    "unstepped_calls": "one statement calls a function very often",
    "earlier_functions": "functions from before the recording may bind the program's names",
    "exposed_memory": "a module without steps hands out the memory of tensors, as numpy() does",
    "modules": "many modules without steps are imported",
    "threads": "another thread runs beside the recorded one",
    "callbacks": "code without steps calls functions of the program",
}
"""The words for each reason."""


def slow_recording_message(
    what: str,
    seconds: float,
    steps: int,
    full_observations: int,
    looks: Mapping[FullObservationReason, int],
    storage_bytes: int,
) -> str:
    """Why a recording took long; "" if it did not.

    what: what is recorded
    looks: as in `UnsteppedCode`
    """
    if seconds < SLOW_RECORDING_SECONDS or not steps:
        return ""
    parts = [f"{what} took {seconds:.0f} s to record: {steps:,} steps"]
    if 2 * full_observations > steps:
        why = "their statements call functions that may change anything"
        if 2 * sum(looks.values()) > full_observations:
            why = FULL_OBSERVATION_SENTENCES[max(looks.items(), key=lambda item: item[1])[0]]
        parts.append(f"{full_observations:,} of them looked at all that lives, because {why}")
    if storage_bytes > LARGE_BYTES:
        parts.append(f"its tensors have {storage_bytes >> 20:,} MB, which are read where they may have changed")
    return "; ".join(parts) + ". --steps N or --lines A:B records less"
