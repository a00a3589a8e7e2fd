"""Ranks and children: `torchrun` with one rank recorded, what differs between ranks, and what is said of processes that
are not."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

from gradbox.command import main
from gradbox.script.ranks import parameter_difference_sentences, torchrun_arguments
from gradbox.script.recorded_script import count_multiprocessing_processes
from gradbox.sessions import unstepped_code
from gradbox.sessions.rank_launcher import launcher_arguments
from gradbox.sessions.rank_parameters import parameter_digest, parameter_names, uncalled_wrappers
from tests.forks.forked_command import run_gradbox
from tests.forks.forked_script import run_python
from tests.forks.plain_python import call_beside_gradbox, call_in_plain
from tests.support.own_programs import files_left, gradbox_command, run_in_folder

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]

NET = """\
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(4, 4)
        self.head = torch.nn.Linear(4, 1)
    def forward(self, x):
        return self.head(self.body(x).relu())
"""
TRAIN = """\
import os, sys
import torch
import torch.distributed as dist
from net import Net
def main(wraps):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    net = Net()
    model = torch.nn.parallel.DistributedDataParallel(net) if wraps else net
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for k in range(2):
        loss = model(torch.full((2, 4), 1.0 + rank + k)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        if not wraps:
            for p in net.body.parameters():
                dist.all_reduce(p.grad)
        opt.step()
        with open(f"out-{rank}", "a") as file:
            file.write(f"{k} {loss.item():.6f} {sys.argv[1:]}\\n")
    dist.barrier()
    dist.destroy_process_group()
main("ddp" in sys.argv)
"""


def run_plain_ranks(folder: Path, argument: str) -> None:
    """Two ranks, as forks with the variables that torchrun sets."""
    names = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port()}
    with ThreadPoolExecutor(2) as pool:
        for rank in "01":
            pool.submit(call_in_plain, run_python, str(folder), ["train.py", argument], names | {"RANK": rank})


TORCHRUN = ["--nproc-per-node", "2", "--master-port"]


def free_port() -> str:
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


@pytest.mark.parametrize("argument", ["ddp", pytest.param("by hand", marks=pytest.mark.exhaustive)])
def test_a_rank_is_recorded_and_the_ranks_do_as_they_would(tmp_path: Path, argument: str) -> None:
    plain, folder = tmp_path / "plain", tmp_path / "recorded"
    for path in (plain, folder):
        path.mkdir()
        (path / "net.py").write_text(NET)
        (path / "train.py").write_text(TRAIN)
    run_plain_ranks(plain, argument)
    options = ["open", "--trace", "../run.json", "--rank", "1", "--", "torchrun", *TORCHRUN, free_port()]
    said = run_in_folder([*gradbox_command(), *options, "train.py", argument], folder).stderr
    assert files_left(folder) == files_left(plain) and {"out-0", "out-1"} < files_left(plain).keys()
    trace = json.loads((tmp_path / "run.json").read_text())
    assert [file["name"] for file in trace["program"]["files"]] == ["train.py", "net.py"]
    assert trace["runtime"]["arguments"] == [argument] and "gradbox: train.py: rank 1: " in said
    if argument == "ddp":
        assert "gradbox: 4 parameters are the same on all 2 ranks" in said
    else:
        assert (
            "gradbox: after round 0 ranks 0 and 1 have different values in net.head.weight, net.head.bias; the other 2 "
            "are the same" in said
        )


def test_which_commands_start_ranks() -> None:
    assert torchrun_arguments("/bin/torchrun", ["a.py"]) == ["a.py"]
    assert torchrun_arguments("python3", ["-m", "torch.distributed.run", "--nnodes", "1", "a.py"]) == [
        "--nnodes", "1", "a.py",
    ]  # fmt: skip
    assert torchrun_arguments("train.py", ["-m"]) is None and torchrun_arguments("python", ["train.py"]) is None


def test_the_launcher_s_own_options_stay_with_it() -> None:
    *options, ours, request, script, argument = launcher_arguments(
        ["--nproc-per-node", "2", "-m", "pkg.train", "--lr=1"], '{"ranks": [1]}'
    )
    assert options == ["--nproc-per-node", "2"] and Path(ours).name == "rank_script.py"
    assert json.loads(request) == {"ranks": [1], "module": True} and (script, argument) == ("pkg.train", "--lr=1")


def test_a_command_without_ranks_is_refused(capsys: Any) -> None:
    assert main(["open", "--rank", "1", "train.py"]) == 2
    assert "--rank needs a command that starts ranks" in capsys.readouterr().err


def row(**values: float) -> dict[str, list[object]]:
    return {name: [[2], repr(value), repr(value)] for name, value in values.items()}


def test_differing_parameters_of_ranks_are_named() -> None:
    same = {0: row(a=1, b=2), 1: row(a=2, b=3)}
    assert list(parameter_difference_sentences({0: same})) == []
    assert list(parameter_difference_sentences({0: same, 1: same, 2: same})) == [
        "2 parameters are the same on all 3 ranks, as far as after round 1"
    ]
    assert list(parameter_difference_sentences({0: same, 1: {0: row(a=1, b=2), 1: row(a=2, b=4)}})) == [
        "after round 1 ranks 0 and 1 have different values in b; the other one is the same"
    ]
    assert "nothing keeps them the same" in next(parameter_difference_sentences({0: same, 1: {0: row(a=5, b=6)}}))
    shards: dict[int, dict[str, list[object]]] = {0: {"a": [[3], "1.0", "1.0"]}}
    assert list(parameter_difference_sentences({0: same, 1: shards})) == [], "of other shapes"


def test_a_wrapper_whose_forward_never_ran_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unstepped_code, "INSTALLATION_FOLDERS", unstepped_code.installation_folders())
    never, ran = (
        torch.nn.parallel.DistributedDataParallel.__new__(torch.nn.parallel.DistributedDataParallel) for _ in "ab"
    )
    for wrapper, has_run in ((never, False), (ran, True)):
        torch.nn.Module.__init__(wrapper)
        wrapper._lazy_init_ran = has_run
    assert uncalled_wrappers(sys._getframe())[:1] == ["never"] and "ran" not in uncalled_wrappers(sys._getframe())
    said = next(parameter_difference_sentences({0: {0: row(a=1)}, 1: {0: row(a=2)}}, ["model"]))
    assert said.endswith(
        "the forward of model, which averages gradients, was never called. Call model(…), not the module in it"
    )
    del wrapper


def test_parameters_are_called_as_the_function_that_runs_calls_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unstepped_code, "INSTALLATION_FOLDERS", unstepped_code.installation_folders())
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD([*model.parameters(), torch.nn.Parameter(torch.ones(2))], lr=0.1)
    names = parameter_names(sys._getframe())
    assert [name for name in names if not name.startswith("self")] == [
        "model.weight", "model.bias", "optimizer's parameter 2",
    ]  # fmt: skip
    assert parameter_digest(names["optimizer's parameter 2"]) == [[2], "2.0", "2.0"]
    assert parameter_digest(torch.ones(2, dtype=torch.long)) is None and optimizer is not None


SPAWNS = """
import torch
from torch.utils.data import DataLoader
class Data:
    def __len__(self): return 4
    def __getitem__(self, i): return torch.ones(1) * i
if __name__ == "__main__":
    print([batch.tolist() for batch in DataLoader(Data(), num_workers=2)])
"""


def test_processes_that_are_not_recorded_are_counted(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SPAWNS)
    status, out, said = call_beside_gradbox(run_gradbox, str(tmp_path), ["open", "--trace", "run.json", "train.py"])
    assert status == 0 and out == "[[[0.0]], [[1.0]], [[2.0]], [[3.0]]]\n"
    assert said.startswith("gradbox: train.py: ") and said.count("\n") == 1
    assert "2 processes that it started are not recorded (num_workers=0 " in said
    assert count_multiprocessing_processes() >= 0
