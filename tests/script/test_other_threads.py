"""Backwards of threads that are not recorded are counted, and what did not happen is not said of them."""

from pathlib import Path

import pytest

from tests.support.own_programs import forked_gradbox

pytestmark = pytest.mark.slow

TRAINS = """\
import threading
import torch
torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
unused = torch.nn.Linear(2, 1)
opt = torch.optim.SGD([*net.parameters(), *unused.parameters()], lr=0.1)
def backwards():
    for module in (unused, net, unused):
        module(torch.randn(3, 2)).sum().backward()
thread = threading.Thread(target=backwards)
thread.start()
thread.join()
ALSO
opt.step()
print("stepped")
"""


def test_a_run_tells_of_backwards_in_other_threads(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINS.replace("ALSO", ""))
    done = forked_gradbox(tmp_path, "explain", "train.py")
    assert "3 backwards ran in other threads, which are not recorded" in done.stdout
    assert "warning" not in done.stdout and "Nothing wrong found in the" in done.stdout


def test_what_another_thread_may_have_given_a_gradient_is_no_part_that_no_loss_reaches(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        TRAINS.replace("ALSO", "opt.zero_grad()\nnet(torch.ones(1, 2)).sum().backward()")
    )
    done = forked_gradbox(tmp_path, "explain", "train.py")
    assert "3 backwards ran in other threads" in done.stdout and "No loss reaches" not in done.stdout
