"""`--rounds`, `--until` and their like: rounds are counted whoever's loop it is, and what is recorded of them begins
and ends there."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from gradbox.command import main
from gradbox.recorder.probes import optimizer_steps
from gradbox.run import Run
from gradbox.sessions import unstepped_code
from gradbox.sessions.round_hook import ExpressionInUserFrame
from tests.script.recorded_parts import no_remark_on_the_time, record_parts  # noqa: F401 a fixture of its tests
from tests.support.own_programs import forked_gradbox
from tests.support.tracing import events

pytestmark = pytest.mark.slow

TRAINER = """import torch

class Trainer:
    def __init__(self, model, optimizers, rounds, accumulate=1):
        self.model, self.optimizers, self.rounds, self.accumulate = model, optimizers, rounds, accumulate
        self.seen = []

    def run(self):
        for k in range(self.rounds):
            for _ in range(self.accumulate):
                loss = self.model(torch.full((2, 2), k + 1.0)).pow(2).mean()
                loss.backward()
            for optimizer in self.optimizers:
                optimizer.step()
                optimizer.zero_grad()
            self.seen.append(round(loss.item(), 4))
"""
TRAIN = """\"\"\"Trains.\"\"\"
import torch
from the_trainer import Trainer
torch.manual_seed(0)
model = torch.nn.Linear(2, 1)
parts = [torch.optim.SGD([p], lr=0.01) for p in model.parameters()]
trainer = Trainer(model, {optimizers}, rounds=6{more})
trainer.run()
print(trainer.seen)
"""
ONE = "[torch.optim.SGD(model.parameters(), lr=0.01)]"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "the_trainer.py").write_text(TRAINER)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "the_trainer", raising=False)
    return tmp_path


def recorded(folder: Path, source: str, **options: Any) -> tuple[dict[str, Run], BaseException | None, dict[str, Any]]:
    """The recordings of a script, by name; what it raised; its namespace."""
    runs, error, namespace = record_parts(folder, source, **options)
    assert optimizer_steps._listeners == [] and sys.gettrace() is None
    for run in runs.values():
        assert events(run.trace, "tracer_fault") == []
    return runs, error, namespace


def plain_namespace(source: str) -> dict[str, Any]:
    sys.modules.pop("the_trainer", None)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(source, namespace)
    return namespace


def texts(run: Run) -> list[str]:
    """The text of each step, but for visits."""
    source = run.trace["program"]["source"].split("\n")
    return [source[s["line"] - 1].strip() for s in run.trace["steps"] if s["kind"] != "visit"]


def test_a_round_is_from_the_end_of_one_step_to_the_end_of_the_next(folder: Path, capfd: Any) -> None:
    source = TRAIN.format(optimizers=ONE, more="")
    runs, error, namespace = recorded(folder, source, iterations=(0, 3, 99), rounds=True)
    assert error is None and list(runs) == ["round 0", "round 3"]
    assert namespace["trainer"].seen == plain_namespace(source)["trainer"].seen
    assert "gradbox: round 99 never came: train.py had 6 rounds, counted from 0\n" in capfd.readouterr().err
    run = runs["round 3"]
    assert run.trace["runtime"]["regions"] == [{"name": "round 3"}] and run.title == "train.py: round 3"
    steps = [text for text in texts(run) if "super()" not in text]
    assert steps[:3] == ["optimizer.step()", "optimizer.step()", "optimizer.zero_grad()"]
    assert [text for text in steps if "backward" in text or text.startswith("loss =")] == [
        "loss = self.model(torch.full((2, 2), k + 1.0)).pow(2).mean()", "loss.backward()",
    ]  # fmt: skip
    assert steps[-1] == "optimizer.step()" and len(events(run.trace, "optimizer_stepped")) == 1
    first = texts(runs["round 0"])
    assert (
        first[:3] == ["import torch", "import torch", "from the_trainer import Trainer"]
        and first[-1] == "optimizer.step()"
    )
    assert (
        events(runs["round 0"].trace, "optimizer_stepped") and runs["round 0"].trace["outcome"]["status"] == "finished"
    )


@pytest.mark.parametrize(
    ("optimizers", "more", "rounds"),
    [(ONE, "", 6), ("parts", "", 6), (ONE, ", accumulate=3", 6)],
    ids=["one", "two optimizers after one backward", "accumulation"],
)
def test_what_counts_as_one_round(folder: Path, capfd: Any, optimizers: str, more: str, rounds: int) -> None:
    runs, _, _ = recorded(
        folder, TRAIN.format(optimizers=optimizers, more=more), iterations=(rounds - 1, 99), rounds=True
    )
    assert f"train.py had {rounds} rounds" in capfd.readouterr().err
    passes = [text for text in texts(runs[f"round {rounds - 1}"]) if text == "loss.backward()"]
    assert len(passes) == (3 if more else 1)


CLOSURE = """
import torch
w = torch.ones(2, requires_grad=True)
optimizer = torch.optim.LBFGS([w], max_iter=4)
passes = []
def closure():
    optimizer.zero_grad()
    loss = (w - 3).pow(4).sum()
    loss.backward()
    passes.append(loss.item())
    return loss
def train(rounds):
    while rounds:
        optimizer.step(closure)
        rounds -= 1
train(3)
"""
SCALED = """
import torch
w = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
scaler = torch.amp.GradScaler("cpu")
def one(k):
    optimizer.zero_grad()
    loss = (w * (float("inf") if k in (0, 2) else 1.0)).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
for _ in map(one, range(5)):
    pass
"""
IN_BACKWARD = """
import torch
w, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
optimizers = {p: torch.optim.SGD([p], lr=0.1) for p in (w, v)}
for p in (w, v):
    p.register_post_accumulate_grad_hook(lambda p: optimizers[p].step())
for _ in map(lambda k: (w * v).sum().backward(), range(3)):
    pass
"""


@pytest.mark.parametrize(
    ("source", "rounds"), [(CLOSURE, 3), (SCALED, 3), (IN_BACKWARD, 0)], ids=["closure", "skipped steps", "in backward"]
)
def test_steps_of_other_kinds(folder: Path, capfd: Any, source: str, rounds: int) -> None:
    runs, error, namespace = recorded(folder, source, iterations=(1, 99), rounds=True)
    assert error is None and torch.equal(namespace["w"], plain_namespace(source)["w"])
    said = capfd.readouterr().err
    assert f"train.py had {rounds} rounds" in said
    assert ("no optimizer of torch stepped" in said) is (rounds == 0) and bool(runs) is (rounds > 0)
    if source is CLOSURE:
        assert texts(runs["round 1"]).count("loss.backward()") > 1


NAN = (
    TRAIN.replace("rounds=6{more}", "rounds=9")
    .replace(
        "model = torch.nn.Linear(2, 1)",
        "model = torch.nn.Linear(2, 1)\ncalls = []\n"
        "def spoil(m, x):\n    calls.append(1)\n    return x[0] * float('nan') if len(calls) == 6 else None\n"
        "model.register_forward_pre_hook(spoil)",
    )
    .format(optimizers=ONE)
)


def test_the_rounds_before_a_condition_are_kept(folder: Path, capfd: Any) -> None:
    runs, error, _ = recorded(folder, NAN, until="loss.isnan()")
    assert error is None and list(runs) == ["round 3", "round 4", "round 5"]
    assert capfd.readouterr().err == "gradbox: 'loss.isnan()' is true at the end of round 5\n"
    assert len(list((folder / "recordings").iterdir())) == 3, "no more than these lie on the disk"


def test_the_round_after_a_condition_is_recorded(folder: Path, capfd: Any) -> None:
    runs, _, _ = recorded(folder, NAN, after="loss.isnan()")
    assert list(runs) == ["round 6"]
    said = capfd.readouterr().err.splitlines()
    assert said == [
        "gradbox: no loop of train.py calls backward(); the rounds of the process are counted",
        "gradbox: 'loss.isnan()' is true at the end of round 5",
    ]


def test_a_condition_that_never_comes_leaves_the_last_rounds(folder: Path, capfd: Any) -> None:
    runs, _, _ = recorded(
        folder, TRAIN.format(optimizers=ONE, more=""), until="loss > 1e9", iterations=(2,), rounds=True
    )
    assert list(runs)[-1] == "round 6" and len(runs) <= 4
    assert "--until 'loss > 1e9' was never true: train.py had 6 rounds" in capfd.readouterr().err


def test_a_condition_that_raises_is_reported_once(folder: Path, capfd: Any) -> None:
    runs, error, namespace = recorded(folder, TRAIN.format(optimizers=ONE, more=""), after="lost.isnan()")
    assert runs == {} and error is None and len(namespace["trainer"].seen) == 6
    assert "evaluated at the end of round 0: NameError: no function that runs has lost" in capfd.readouterr().err


def test_an_error_in_a_recorded_round_is_its_outcome(folder: Path) -> None:
    source = TRAIN.format(optimizers=ONE, more="").replace(
        "trainer.run()", "trainer.rounds = 2\ntrainer.run()\nmodel(1)"
    )
    runs, error, _ = recorded(folder, source, iterations=(2,), rounds=True)
    assert isinstance(error, TypeError)
    outcome = runs["round 2"].trace["outcome"]
    assert (outcome["status"], outcome["error"]["type"]) == ("raised", "TypeError")


def test_an_expression_sees_the_functions_that_run_and_keeps_nothing_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unstepped_code, "INSTALLATION_FOLDERS", unstepped_code.installation_folders())
    expression = ExpressionInUserFrame("loss.isnan() and all(k < n for k in (1, 2))")

    def outer() -> tuple[bool, int]:
        loss, n = torch.tensor(float("nan")), 5
        value = inner()
        return bool(value) and n == 5, sys.getrefcount(loss)

    def inner() -> Any:
        n = "not the one beside loss"
        return expression.evaluate(sys._getframe()) if n else None

    assert outer() == (True, 2)
    with pytest.raises(NameError, match="no function that runs has nowhere"):
        ExpressionInUserFrame("nowhere + 1").evaluate(sys._getframe())


def test_options_that_do_not_go_together(tmp_path: Path, monkeypatch: Any, capfd: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("pass\n")
    assert main(["open", "--rounds", "1", "--iterations", "2", "train.py"]) == 2
    assert "--rounds goes with neither" in capfd.readouterr().err


def test_the_command_records_rounds(folder: Path) -> None:
    (folder / "train.py").write_text(TRAIN.format(optimizers=ONE, more=""))
    done = forked_gradbox(folder, "open", "--iterations", "1,2", "--trace", "run.json", "train.py")
    assert done.returncode == 0
    assert done.stdout == f"{plain_namespace((folder / 'train.py').read_text())['trainer'].seen}\n"
    names = [json.loads((folder / f"run-round-{k}.json").read_text())["runtime"]["regions"] for k in (1, 2)]
    assert names == [[{"name": "round 1"}], [{"name": "round 2"}]]
