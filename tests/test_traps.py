"""Every trap that torch and CPython hold for a tracer: ours avoids it, and stepping in on purpose is noticed."""

import gc
import importlib
from collections.abc import Iterator
from typing import Any

import pytest

from server.worker.probes import ops
from tests import traps_autograd, traps_memory, traps_python, traps_runtime
from tests.huge_pages import join_pages
from tests.traps import Switch, Trap

pytestmark = pytest.mark.slow

TRAPS = sorted(
    [*traps_memory.TRAPS, *traps_autograd.TRAPS, *traps_python.TRAPS, *traps_runtime.TRAPS],
    key=lambda trap: trap.number,
)
PAIRS = [pytest.param(trap, switch, id=f"{trap.id}:{name}") for trap in TRAPS for name, switch in trap.switches.items()]


@pytest.fixture(scope="module", autouse=True)
def ready() -> Iterator[None]:
    """This process as the zygote is before it forks: the recorder's kernels in place, and nothing left to collect."""
    ops.register_kernels()
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
def test_trap_is_avoided(trap: Trap) -> None:
    trap.holds(trap.run())


@pytest.mark.parametrize(("trap", "switch"), PAIRS)
def test_stepping_in_is_noticed(trap: Trap, switch: Switch) -> None:
    seen = trap.run(switch)
    with pytest.raises(AssertionError):
        trap.holds(seen)
    faults = getattr(seen, "faults", [])
    assert all(switch.fault and switch.fault in text for text in faults), faults
    assert bool(faults) == bool(switch.fault)


def test_each_of_the_36_traps_has_a_switch() -> None:
    assert {trap.number for trap in TRAPS} == set(range(1, 37))
    assert {trap.number for trap in TRAPS if trap.switches} == set(range(1, 37))
