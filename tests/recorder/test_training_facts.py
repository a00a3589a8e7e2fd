"""What a trace says of a training: the modes that layers ran in, the steps of optimizers, a scaler's scale, cuts by
lists."""

import json
from pathlib import Path
from typing import Any

import pytest

from gradbox.recorder.round_tables import encode_rounded
from tests.forks.plain_python import run_plain
from tests.recorder.training_truth import MARK, TrainingFacts
from tests.referee.agreement import Case, verdict
from tests.referee.drawn_state import replayed
from tests.support.tracing import trace

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "tests/examples"

LAYERS = """
import torch
import torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.drop = nn.Linear(4, 12), nn.Dropout(0.2)
    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        return self.drop(F.scaled_dot_product_attention(q, k, v, dropout_p=0.1 if self.training else 0.0))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.norm, self.out = Attention(), nn.BatchNorm1d(3), nn.Linear(4, 1)
        self.spatial, self.alpha = nn.Dropout2d(0.3), nn.AlphaDropout(0.4)
    def forward(self, x):
        h = self.norm(self.attention(x))
        h = self.spatial(h[..., None])[..., 0]
        h = F.dropout(self.alpha(h), 0.25)
        return self.out(F.dropout(h, p=0.5, training=self.training))
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for round in range(3):
    net.train(round < 2)
    if round == 1:
        net.norm.eval()
    loss = net(torch.randn(2, 3, 4)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    net.train()
    net.attention(torch.ones(1, 3, 4))
    F.dropout(torch.ones(3), 0.0)
    F.batch_norm(torch.ones(2, 3), torch.zeros(3), torch.ones(3))
"""

PROGRAMS = {
    "layers": LAYERS,
    **{
        path.stem: path.read_text()
        for path in (
            EXAMPLES / "healthy/norm_frozen_in_train_method.py",
            EXAMPLES / "healthy/two_optimizers_in_turns.py",
            EXAMPLES / "healthy/scaler_used_in_its_order.py",
            EXAMPLES / "silent/eval_left_after_validation_function.py",
            EXAMPLES / "silent/eval_attention_dropout.py",
            EXAMPLES / "silent/never_stepped_in_a_trainer.py",
        )
    },
}


def events(recorded: dict[str, Any], *names: str) -> list[dict[str, Any]]:
    return [entry for step in recorded["steps"] for entry in step["log"] if entry.get("event") in names]


@pytest.mark.parametrize("name", PROGRAMS)
def test_layer_modes_and_optimizer_steps_agree_with_torch(name: str) -> None:
    truth = json.loads(run_plain(PROGRAMS[name], TrainingFacts)["printed"].rsplit(MARK, 1)[1])
    recorded = trace(PROGRAMS[name])
    types = {
        uid: fields["type"] for step in recorded["steps"] for uid, fields in step["set"].items() if fields.get("type")
    }
    told = [
        ["step", types[event["optimizer"]]]
        if event["event"] == "optimizer_stepped"
        else [
            event["layer"],
            event["training"],
            event.get("p"),
            [[module["type"], module["training"]] for module in event["modules"]],
        ]
        for event in events(recorded, "optimizer_stepped", "layer_mode")
    ]
    assert told == truth and (truth != [] or name == "never_stepped_in_a_trainer")


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_modes_of_modules_agree_with_torch(name: str) -> None:
    assert verdict(Case(name, PROGRAMS[name], PROGRAMS[name]), trace(PROGRAMS[name])).kind == "agrees"


@pytest.mark.parametrize("line", ["net.eval()", "net[0].eval()", "net.train(False).train()", "net[0].training = False"])
def test_a_wrong_mode_would_be_noticed(line: str) -> None:
    source = f"import torch\nnet = torch.nn.Sequential(torch.nn.Dropout(), torch.nn.Linear(1, 1))\n{line}\n"
    recorded = trace(source)
    assert verdict(Case("modes", source, source), recorded).kind == "agrees"
    for step in recorded["steps"]:
        for fields in step["set"].values():
            if "training" in fields:
                fields["training"] = not fields["training"]
    assert verdict(Case("modes", source, source), recorded).kind == "differs"


def test_a_layer_mode_names_the_modules_that_called_it() -> None:
    recorded = trace(LAYERS)
    (first, *_) = events(recorded, "layer_mode")
    types = {
        uid: fields["type"] for step in recorded["steps"] for uid, fields in step["set"].items() if fields.get("type")
    }
    assert [types[module["module"]] for module in first["modules"]] == ["Attention", "Net"]
    for step in recorded["steps"]:
        for entry in step["log"]:
            if entry.get("event") == "layer_mode":
                assert step["log"][entry["op"]]["name"].split("::")[1].split(".")[0] in (
                    "dropout", "feature_dropout", "alpha_dropout", "batch_norm", "scaled_dot_product_attention",
                )  # fmt: skip


def test_steps_in_iterations_that_are_not_recorded_are_counted() -> None:
    rounds = 90
    recorded = trace(
        "import torch\nw = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\n"
        f"for k in range({rounds}):\n    w.sum().backward()\n    opt.step()\n    opt.zero_grad()\n",
        limits={"steps": 400},
    )
    stepped = events(recorded, "optimizer_stepped")
    assert any(event.get("unrecorded") for event in stepped)
    assert sum(event.get("unrecorded") or 1 for event in stepped) == rounds


def test_an_optimizer_step_that_raises_is_not_counted() -> None:
    recorded = trace(
        "import torch\nw = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\n"
        "def closure():\n    raise ValueError\n"
        "try:\n    opt.step(closure)\nexcept ValueError:\n    pass\nopt.step()\n"
    )
    assert len(events(recorded, "optimizer_stepped")) == 1


def test_the_scale_of_a_scaler_is_that_of_torch() -> None:
    source = (
        "import torch\nw = torch.ones(1, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\n"
        "scaler = torch.amp.GradScaler('cpu', init_scale=8.0, growth_interval=1)\n"
        "for k in range(3):\n    opt.zero_grad()\n    scaler.scale(w.sum()).backward()\n    scaler.step(opt)\n"
        "    scaler.update()\nprint(scaler.get_scale())\n"
    )
    recorded = trace(source)
    state = replayed(recorded)
    (scaler,) = (entity for entity in state.values() if entity.get("type") == "GradScaler")
    scale = state[state[scaler["attrs"]["_scale"]["ref"]]["storage"]]
    assert scale["cells"]["float32"] == [float(run_plain(source)["printed"])]


@pytest.mark.parametrize(
    ("statement", "cuts"),
    [
        ("y = x.tolist()", ["Tensor.tolist"]),
        ("y = x[0].tolist()", ["Tensor.tolist"]),
        ("y = torch.tensor(x.exp().tolist())", ["Tensor.tolist"]),
        ("y = x.detach().tolist()", ["Tensor.detach"]),
        ("y = x.resolve_conj()", []),
        ("y = x.resolve_neg()", []),
        ("print(x)", []),
        ("y = list(x)", []),
    ],
)
def test_a_list_of_numbers_cuts_the_path(statement: str, cuts: list[str]) -> None:
    recorded = trace(f"import torch\nx = torch.ones(2, requires_grad=True)\n{statement}\n")
    assert [event["name"] for event in events(recorded, "path_cut")] == cuts


def test_the_flag_that_a_module_is_given_is_recorded() -> None:
    recorded = trace("import torch\nnet = torch.nn.Linear(1, 1)\nnet.requires_grad = False\n")
    (net,) = (entity for entity in replayed(recorded).values() if entity.get("type") == "Linear")
    assert net["attrs"]["requires_grad"] is False and net["training"] is True


@pytest.mark.parametrize("value", [1.124969, 0.0012451234, -3.4449999e-7, 81249.9, 2.5, 0.1, 1234565.4, 3.14159])
def test_a_number_of_a_round_reads_as_its_whole_value_does_to_fewer_digits(value: float) -> None:
    rounded = encode_rounded(value)
    assert isinstance(rounded, float)
    for digits in (1, 2, 3, 4):
        assert f"{rounded:.{digits}g}" == f"{value:.{digits}g}"
