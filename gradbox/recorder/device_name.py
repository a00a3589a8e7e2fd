"""The name of the device that programs run on, as its maker gives it."""

import platform
import re
from pathlib import Path

import torch

_MODEL = re.compile(r"^(?:model name|cpu model)\s*:\s*(.+)$", re.MULTILINE)


def processor_name() -> str:
    """The processor's name; of one that the system does not name its architecture."""
    try:
        match = _MODEL.search(Path("/proc/cpuinfo").read_text("utf-8", "replace"))
    except OSError:
        match = None
    return " ".join(match[1].split()) if match else platform.machine()


PROCESSOR = processor_name()
"""Read when the first process imports this: a confined child could not."""


def device_name(device: str) -> str | None:
    """Of the kind of device that a run uses, `cpu` or `cuda`; None for a GPU that this process has not initialized."""
    if device == "cpu":
        return PROCESSOR
    return torch.cuda.get_device_name(0) if torch.cuda.is_initialized() else None  # type: ignore[no-untyped-call]
