"""Every module and every optimizer of torch gives the same bits traced as plain, and none is left out."""

import re
from functools import cache
from types import ModuleType
from typing import Any

import pytest
import torch

from tests.agreement import module_programs, optimizer_programs
from tests.agreement.intrusive_modes import DispatchMode, FunctionMode
from tests.forks.plain_python import run_plain
from tests.support.sampling import sampled
from tests.support.tracing import events, trace

pytestmark = pytest.mark.slow

LIMITS = {"steps": 10**6, "trace": 10**9}
TOGETHER = 8
"""Classes that share a program, and so the two forks that run it."""

SINCE_2_13 = {"LinearCrossEntropyLoss"}
"""Classes that an older torch lacks."""

BODIES: dict[str, str] = {
    name: m.body(name)
    for m, home in ((module_programs, torch.nn), (optimizer_programs, torch.optim))
    for name in m.names()
    if hasattr(home, name) or name not in SINCE_2_13
}
DIMENSIONS = re.compile(r"(?<=[123])d")
OTHERS = sorted(name for name in BODIES if not DIMENSIONS.search(name))
FAMILIES = sorted({re.sub(r"[123]d", "", name) for name in BODIES if DIMENSIONS.search(name)})


def is_sample(name: str) -> bool:
    """Of classes that differ by the number of dimensions one is in the sample, and each number has its turn; of others
    every sixth."""
    family = re.sub(r"[123]d", "", name)
    if family == name:
        return OTHERS.index(name) % 6 == 0
    members = sorted(other for other in BODIES if DIMENSIONS.search(other) and re.sub(r"[123]d", "", other) == family)
    return bool(name == members[FAMILIES.index(family) % len(members)])


NAMES = sorted(BODIES, key=is_sample, reverse=True)
"""All of them, those of the sample first."""


def program(*names: str) -> str:
    return module_programs.HEAD + "".join(f"print('== {name}')\n{BODIES[name]}" for name in names)


def parts(printed: str) -> dict[str, str]:
    """What each class of a program printed."""
    return {part.partition("\n")[0]: part for part in printed.split("== ")[1:]}


@cache
def both(first: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """How the program of the classes from this one on goes, plain and traced."""
    source = program(*NAMES[first : first + TOGETHER])
    truth = run_plain(source)
    recorded = trace(source, limits=LIMITS)
    out = [entry for step in recorded["steps"] for entry in step["log"] if entry["kind"] == "out"]
    text = "".join(entry["text"] for entry in out if entry["stream"] == "stdout")
    return truth, {"printed": text, "outcome": recorded["outcome"], "faults": events(recorded, "tracer_fault")}


@pytest.mark.parametrize("name", sampled(NAMES, lambda k: is_sample(NAMES[k])))
def test_a_module_computes_the_same_bits_as_in_plain_python(name: str) -> None:
    truth, recorded = both(NAMES.index(name) // TOGETHER * TOGETHER)
    assert parts(recorded["printed"]).get(name) == parts(truth["printed"])[name]
    assert (truth["error"], recorded["outcome"]) == (None, {"status": "finished"})
    assert recorded["faults"] == []


@pytest.mark.parametrize(("name", "mode"), [("TransformerEncoder", FunctionMode), ("CTCLoss", DispatchMode)])
def test_digests_change_under_a_tracer_that_torch_notices(name: str, mode: type) -> None:
    source = program(name)
    again = run_plain(source + "\n")["printed"]
    assert run_plain(source)["printed"] == again != run_plain(source, mode)["printed"]


@pytest.mark.parametrize(
    ("home", "base", "programs"),
    [(torch.nn, torch.nn.Module, module_programs), (torch.optim, torch.optim.Optimizer, optimizer_programs)],
)
def test_every_module_of_torch_is_tried(home: ModuleType, base: type, programs: ModuleType) -> None:
    public = {name for name in dir(home) if isinstance(getattr(home, name), type) and not name.startswith("_")}
    classes = {name for name in public if issubclass(getattr(home, name), base)}
    assert classes | SINCE_2_13 == set(programs.names()) | set(programs.EXCLUDED) | SINCE_2_13
