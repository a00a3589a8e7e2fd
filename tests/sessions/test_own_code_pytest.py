"""The plugin of pytest: a failing test is explained with `--gradbox`, and nothing happens without."""

import json
import re
import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from gradbox.fix_trials import passing_fixes, replace_function_code, run_with_source
from gradbox.language import fixes
from tests.forks.forked_pytest import printed_by_pytest
from tests.forks.plain_python import call_beside_gradbox, call_in_plain

ROOT = Path(__file__).parents[2]
TESTS = """
import sys
import pytest
import torch

@pytest.fixture
def weight():
    return torch.ones(3, requires_grad=True)

def loss_of(weight):
    y = weight.exp()
    y += 1
    return y.sum()

def test_fails(weight):
    loss = loss_of(weight)
    loss.backward()

def test_fails_anyway(weight):
    y = weight.exp()
    y += 1
    y.sum().backward()
    assert False

def test_holds(weight):
    (weight * 2).sum().backward()
    assert weight.grad.tolist() == [2, 2, 2]
    assert sys.gettrace() is not None or "gradbox.recorder" not in sys.modules

def test_watches(weight):
    import gradbox
    with gradbox.watch("doubled"):
        assert (weight * 2).sum() == 6
"""

OTHERS = """
import unittest
import pytest
import torch

@pytest.fixture
def spoiled():
    w = torch.ones(3, requires_grad=True)
    y = w.exp()
    y += 1
    return y.sum()

def test_of_a_fixture_s_mistake(spoiled):
    spoiled.backward()

@pytest.fixture
def broken():
    return (torch.ones(2, requires_grad=True) * 2).backward()

def test_of_a_fixture_that_raises(broken):
    pass

@pytest.mark.parametrize("scale", [2])
def test_goes_down(scale):
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        h = model(torch.ones(2, 3)).detach()
        loss = (h * scale).pow(2).mean().requires_grad_()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.mark.anyio
async def test_that_waits():
    y = torch.ones(3, requires_grad=True).sigmoid()
    y.mul_(2)
    y.sum().backward()

class Case(unittest.TestCase):
    def test_method(self):
        y = torch.ones(3, requires_grad=True).tanh()
        y.zero_()
        y.sum().backward()

@pytest.fixture
def many():
    x = torch.zeros(1)
    for k in range(3000):
        x = x + k
    return x

def test_after_a_long_fixture(many):
    y = torch.ones(3, requires_grad=True).exp()
    y.fill_(2)
    y.sum().backward()

def test_that_skips():
    pytest.skip("not here")
"""
FINDINGS = {
    "test_of_a_fixture_s_mistake": ("error[saved_overwritten]", "y += 1"),
    "test_of_a_fixture_that_raises": ("error[not_scalar]", ".backward()"),
    "test_goes_down[2]": ("warning[grad_none]", ".detach()"),
    "test_that_waits": ("error[saved_overwritten]", "y.mul_(2)"),
    "Case.test_method": ("error[saved_overwritten]", "y.zero_()"),
    "test_after_a_long_fixture": ("error[saved_overwritten]", "y.fill_(2)"),
}
"""What the report of each test begins with, and the line that it marks as the cause."""

PLUGINS = ("-p", "no:cacheprovider", "-p", "no:schemathesis", "-p", "no:hypothesispytest")
pytestmark = pytest.mark.slow


def test_a_failing_test_is_explained(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    for call, options in ((call_in_plain, ()), (call_beside_gradbox, ("--gradbox",))):
        status, output = call(printed_by_pytest, str(tmp_path), [*PLUGINS, *options, "."])
        assert status == 1 and "2 failed, 2 passed" in output and "modified by an inplace operation" in output
        assert ("gradbox call" in output) == bool(options)
    fixed, other = output.split("gradbox call")[1:]
    assert "error[saved_overwritten]" in fixed
    assert "y += 1" in fixed and "12 +     y = y.clone()" in fixed
    assert "The test passes with it." in fixed
    assert "error[saved_overwritten]" in other and "passes with it" not in other, "it fails with each fix"


@pytest.mark.parametrize("workers", ["0", pytest.param("1", marks=pytest.mark.exhaustive)])
def test_tests_of_every_kind_are_explained(tmp_path: Path, workers: str) -> None:
    (tmp_path / "test_others.py").write_text(OTHERS)
    options = ["--gradbox", "--gradbox-no-fixes", "-n", workers]
    status, output = call_beside_gradbox(printed_by_pytest, str(tmp_path), [*PLUGINS, *options, "."])
    assert status == 1 and "5 failed, 1 skipped" in output and "1 error in" in output
    reports = re.split(r"^_{3,} (?:ERROR at setup of )?(\S+) _{3,}$", output, flags=re.MULTILINE)[1:]
    found = dict(zip(reports[::2], reports[1::2], strict=True))
    assert found.keys() == FINDINGS.keys()
    for name, (head, line) in FINDINGS.items():
        report = re.split(r"Captured gradbox (?:call|setup) -+\n", found[name])[1]
        assert report.startswith(head), report
        (cause,) = re.findall(
            r"^ +\d+ \| (.*)\n(?: +\|.*\n)* +\| .* <- cause$", report.partition("\n\n")[0], re.MULTILINE
        )
        assert line in cause and "The test passes" not in report


def test_functions_of_a_changed_text_take_the_place_of_those_that_run(tmp_path: Path) -> None:
    path = tmp_path / "some_functions.py"
    path.write_text("def one():\n    return 1\nclass Two:\n    def value(self):\n        return 2\n")
    module = runpy.run_path(str(path))
    changed = tmp_path / "changed.json"
    changed.write_text(
        json.dumps({"path": str(path), "source": "\n" + path.read_text().replace("return ", "return 10 * ")})
    )
    replace_function_code(changed)
    assert (module["one"](), module["Two"]().value()) == (10, 20)


SILENT = """\
import torch
def test_learns():
    w = torch.ones(2, requires_grad=True)
    v = torch.ones(2, requires_grad=True)
    loss = ((w * 2).detach() * v).sum()
    loss.backward()
    print(w.grad)
"""


def test_a_change_with_which_a_test_passes_and_nothing_is_repaired_is_no_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(SILENT)
    test = (f"{file.name}::test_learns", tmp_path, str(file))
    before = run_with_source(SILENT, *test)
    assert before is not None and before.findings[0].kind == "grad_none"
    [fix] = passing_fixes(before, *test, SILENT, [])
    assert [edit.old.strip() for edit in fix.edits] == ["loss = ((w * 2).detach() * v).sum()"]
    propose = fixes.propose
    monkeypatch.setattr(fixes, "propose", lambda *asked: [replace(each, source=SILENT) for each in propose(*asked)])
    assert passing_fixes(before, *test, SILENT, []) == []
