"""`gradbox explain --check-samples` and `--check-gradients`: a script of one's own is run again up to its first
backward."""

import json
from pathlib import Path

import pytest

from gradbox.script.script_check import check_script
from gradbox.script.script_process import Script
from gradbox.wire.api import GradientCheckReply
from tests.forks import forked_command
from tests.forks.plain_python import call_beside_gradbox
from tests.support.own_programs import forked_gradbox

SCRIPT = """\
import sys
import torch
from torch import nn
from helper import WIDTH
assert __name__ == "__main__" and sys.argv[1:] == ["--lr", "0.1"] and __file__.endswith("train.py")
net = nn.Linear(WIDTH, 3)
opt = torch.optim.SGD(net.parameters(), lr=float(sys.argv[2]))
x, y = torch.randn(6, WIDTH), torch.randint(0, 3, (6,))
for epoch in range(3):
    h = net(x)
    loss = nn.functional.cross_entropy(h, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("round", epoch)
open("done.txt", "a").write("x")
"""
pytestmark = pytest.mark.slow


@pytest.fixture
def script(tmp_path: Path) -> Script:
    (tmp_path / "helper.py").write_text("WIDTH = 5\n")
    (tmp_path / "train.py").write_text(SCRIPT)
    return Script(str(tmp_path / "train.py"), ["--lr", "0.1"])


def checked(script: Script, samples: bool) -> GradientCheckReply:
    """What `check_script` says, where no process imports torch anew."""
    reply: GradientCheckReply = call_beside_gradbox(
        forked_command.check_script, script.target, script.arguments, samples
    )
    return reply


def test_samples_that_stay_apart(script: Script) -> None:
    check = check_script(script, samples=True).check
    assert check is not None and check.samples is not None
    assert (check.samples.problem, check.samples.mixing, check.samples.line) == (None, None, 10)
    assert not Path(script.target).with_name("done.txt").exists()  # no run goes past the first backward


def test_the_operation_that_mixes_them(script: Script) -> None:
    Path(script.target).write_text(SCRIPT.replace("h = net(x)", "h = net(x).softmax(0)"))
    check = checked(script, samples=True).check
    assert check is not None and check.samples is not None and check.samples.mixing is not None
    assert (check.samples.mixing.op, check.samples.mixing.line, check.samples.mixing.changed) == ("softmax", 10, 6)


def test_gradients_of_the_first_backward(script: Script) -> None:
    check = checked(script, samples=False).check
    assert check is not None and check.problem is None and check.line == 13
    assert {leaf.name: leaf.verdict for leaf in check.leaves} == {"net.bias": "agrees", "net.weight": "agrees"}


def test_a_script_that_ends_its_process(script: Script) -> None:
    Path(script.target).write_text("import os\nos._exit(3)\n")
    reply = checked(script, samples=True)
    assert reply.status == "crashed" and reply.check is None


def test_the_command_says_what_a_check_costs_before_it_runs(script: Script) -> None:
    folder, arguments = Path(script.target).parent, ["explain", "--check-samples", "train.py", *script.arguments]
    done = forked_gradbox(folder, *arguments)
    assert "--check-samples: the script runs again and again up to its first backward, within 20 s" in done.stderr
    assert "The 6 samples stay apart" in done.stdout and done.stdout.count("round 0") == 1
    done = forked_gradbox(folder, arguments[0], "--json", *arguments[1:])
    assert json.loads(done.stdout)["samples"]["check"]["samples"]["mixing"] is None
    assert Path(script.target).with_name("done.txt").read_text() == "xx"  # once for each recording
