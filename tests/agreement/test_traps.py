"""Every trap that torch and CPython hold for a tracer: ours avoids it, and stepping in on purpose is noticed."""

import gc
import importlib
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from gradbox.recorder.probes import ops
from tests.agreement import traps_autograd, traps_memory, traps_python, traps_runtime
from tests.agreement.traps import PlantedFault, Trap
from tests.forks.huge_pages import join_pages

pytestmark = pytest.mark.slow

TRAPS = sorted(
    [*traps_memory.TRAPS, *traps_autograd.TRAPS, *traps_python.TRAPS, *traps_runtime.TRAPS],
    key=lambda trap: trap.number,
)
PAIRS = [
    pytest.param(trap, fault, id=f"{trap.id}:{name}", marks=[pytest.mark.exhaustive] * min(k, 1))
    for trap in TRAPS
    for k, (name, fault) in enumerate(trap.planted_faults.items())
]
"""Each trap with each of its planted faults; the sample has the first one of each."""


@pytest.fixture(scope="module", autouse=True)
def ready() -> Iterator[None]:
    """This process as the zygote is before it forks: the recorder's kernels in place, and nothing left to collect."""
    ops.register_recording_kernels()
    importlib.import_module("torch._dynamo")  # vmap and checkpoint load it at their first call, in every child anew
    gc.collect()
    gc.freeze()
    join_pages()
    yield
    gc.unfreeze()


def marked(trap: Trap) -> Any:
    marks = [pytest.mark.xfail(strict=True, raises=AssertionError, reason=trap.gap)] if trap.gap else []
    return pytest.param(trap, id=trap.id, marks=marks)


@pytest.mark.parametrize("trap", [marked(trap) for trap in TRAPS])
def test_the_recorder_avoids_a_trap(trap: Trap) -> None:
    trap.holds(trap.run())


@pytest.mark.parametrize(("trap", "planted_fault"), PAIRS)
def test_a_planted_fault_is_noticed_by_its_trap(trap: Trap, planted_fault: PlantedFault) -> None:
    if trap.number == 19 and sys.version_info >= (3, 13):
        pytest.skip("a frame's locals are no dict there that could be left with it or emptied")
    seen = trap.run(planted_fault)
    with pytest.raises(AssertionError):
        trap.holds(seen)
    faults = getattr(seen, "faults", [])
    assert all(planted_fault.fault and planted_fault.fault in text for text in faults), faults
    assert bool(faults) == bool(planted_fault.fault)


def test_each_of_the_36_traps_has_a_switch() -> None:
    assert {trap.number for trap in TRAPS} == set(range(1, 37))
    assert {trap.number for trap in TRAPS if trap.planted_faults} == set(range(1, 37))
