"""The dispatch key under which torch's operators are observed, and whether they are observed now."""

from typing import Any

import torch

from gradbox.recorder.observation import Observation

NAME = "TESTING_ONLY_GenericMode"
KEY: Any = torch._C._parse_dispatch_key(NAME)
KEYS = torch._C.DispatchKeySet(KEY)


def unobserved(observation: Observation) -> Any:
    """The context in which no operation is recorded."""
    observation.ops_unobserved = True
    return torch._C._ExcludeDispatchKeyGuard(KEYS)


def is_unobserved() -> bool:
    """Whether an operation of the program would pass unrecorded now."""
    return bool(torch._C._dispatch_tls_is_dispatch_key_excluded(KEY))
