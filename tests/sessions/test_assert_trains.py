"""`gradbox.assert_trains`: holds for healthy models that look suspicious, names what is wrong with broken ones, leaves
no trace."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

import gradbox


def squares(model: nn.Module, batch: Any) -> torch.Tensor:
    x, y = batch
    loss: torch.Tensor = (model(x) - y).pow(2).mean()
    return loss


def batch_of(*shape: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(*shape), torch.randn(shape[0], 2)


class Net(nn.Module):
    """Two layers; `between` is what forward does between them."""

    def __init__(self, between: Callable[[torch.Tensor], torch.Tensor] = torch.relu) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 2)
        self.between, self.calls = between, 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        h: torch.Tensor = self.between(self.first(x))
        out: torch.Tensor = self.second(h)
        return out


def sgd(model: nn.Module, **options: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), **{"lr": 0.1, **options})


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


class Tied(nn.Module):
    def __init__(self, sparse: bool) -> None:
        super().__init__()
        self.embed, self.out = nn.Embedding(10, 4, sparse=sparse), nn.Linear(4, 10, bias=False)
        if not sparse:
            self.out.weight = self.embed.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.out(self.embed(x))
        return out


def words(model: nn.Module, ids: torch.Tensor) -> torch.Tensor:
    return cross_entropy(model(ids).flatten(0, 1), ids.flatten())


def test_tied_weights_and_unused_embedding_rows_pass() -> None:
    ids = torch.tensor([[1, 2], [3, 4]])
    for sparse in (False, True):
        model = Tied(sparse)
        gradbox.assert_trains(model, words, ids, sgd(model))


@pytest.mark.parametrize(
    "middle",
    [
        nn.Sequential(nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5)),
        nn.BatchNorm1d(8, track_running_stats=False),
        nn.Sequential(nn.LayerNorm(8), nn.Tanh()),
    ],
)
def test_healthy_models_pass(middle: nn.Module) -> None:
    model = nn.Sequential(nn.Linear(4, 8), middle, nn.Linear(8, 2))
    for optimizer in (sgd(model), torch.optim.AdamW(model.parameters()), torch.optim.LBFGS(model.parameters())):
        gradbox.assert_trains(model, squares, batch_of(16, 4), optimizer)
    gradbox.assert_trains(model, squares, batch_of(16, 4))


def test_declared_idle_parameters_and_eval_layers_pass() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
    model[0].requires_grad_(False)
    model[1].eval()
    model.head = nn.Linear(8, 3)
    loss = lambda model, batch: (model[2](model[1](model[0](batch[0]))) - batch[1]).pow(2).mean()  # noqa: E731
    options: dict[str, Any] = {"idle": ["head.*"], "in_eval": ["1"]}
    gradbox.assert_trains(model, loss, batch_of(6, 4), sgd(model), **options)
    with pytest.raises(AssertionError, match=r"head.weight, head.bias: no gradient came"):
        gradbox.assert_trains(model, loss, batch_of(6, 4), sgd(model), in_eval=["1"])
    with pytest.raises(AssertionError, match=r"1: runs in eval mode"):
        gradbox.assert_trains(model, loss, batch_of(6, 4), sgd(model), idle=["head.*"])


class Adapter(nn.Module):
    """As LoRA begins: the second factor is zero, so that the first has no gradient yet."""

    def __init__(self) -> None:
        super().__init__()
        self.base, self.a, self.b = nn.Linear(4, 2), nn.Linear(4, 2, bias=False), nn.Linear(2, 2, bias=False)
        nn.init.zeros_(self.b.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.base(x) + self.b(self.a(x))
        return out


def test_zero_initialized_adapters_and_learning_rate_warm_up_pass() -> None:
    model = Adapter()
    optimizer = sgd(model)
    torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: step / 10)
    assert optimizer.param_groups[0]["lr"] == 0
    gradbox.assert_trains(model, squares, batch_of(6, 4), optimizer)
    assert optimizer.param_groups[0]["lr"] == 0
    with pytest.raises(AssertionError, match=r"a\.weight: its gradient is zero in every round"):
        gradbox.assert_trains(model, squares, batch_of(6, 4), optimizer, rounds=1)


def over_the_batch(h: torch.Tensor) -> torch.Tensor:
    return torch.softmax(h, 0)


@pytest.mark.parametrize(
    ("between", "message"),
    [
        (lambda h: h.detach(), r"first.weight, first.bias: no gradient came"),
        (lambda h: h * 0, r"first.weight, first.bias, second.weight: its gradient is zero in every round"),
        (lambda h: (h * 0).sqrt() + h, r"gradient has nan or inf"),
        (lambda h: h / 0, r"the loss is nan|the loss is inf"),
        (over_the_batch, r"samples do not stay apart: .* sample 0 differs"),
    ],
)
def test_a_broken_model_fails_with_its_reason(between: Any, message: str) -> None:
    model = Net(between)
    with pytest.raises(AssertionError, match=message):
        gradbox.assert_trains(model, squares, batch_of(6, 4), sgd(model))


def test_declared_mixing_passes_and_a_loss_without_a_graph_fails() -> None:
    model = Net(over_the_batch)
    gradbox.assert_trains(model, squares, batch_of(6, 4), sgd(model), mixes_samples=True)
    for loss, message in (
        (lambda model, batch: squares(model, batch).item(), "the loss is of type float"),
        (lambda model, batch: squares(model, batch).detach(), "the loss has no graph"),
        (lambda model, batch: model(batch[0]), "the loss has 12 elements"),
    ):
        with pytest.raises(AssertionError, match=message):
            gradbox.assert_trains(model, loss, batch_of(6, 4), sgd(model))


def test_a_parameter_that_no_optimizer_moves_fails() -> None:
    model = Net()
    partial = torch.optim.SGD(model.second.parameters(), lr=0.1)
    with pytest.raises(AssertionError, match=r"first\.weight, first\.bias: it has a gradient, but is in no group"):
        gradbox.assert_trains(model, squares, batch_of(6, 4), partial)
    groups: list[dict[str, Any]] = [
        {"params": model.first.parameters(), "lr": 0.0},
        {"params": model.second.parameters()},
    ]
    with pytest.raises(AssertionError, match=r"first\.weight, first\.bias: it has a gradient, and no step moved it"):
        gradbox.assert_trains(model, squares, batch_of(6, 4), torch.optim.SGD(groups, lr=0.1))


def test_invalid_arguments_are_rejected() -> None:
    model = Net()
    for options, message in (
        ({"idle": ["haed.*"]}, "idle: the model has nothing of the name 'haed"),
        ({"in_eval": ["bn"]}, "in_eval"),
        ({"rounds": 0}, "rounds: from 1"),
    ):
        with pytest.raises(ValueError, match=message):
            gradbox.assert_trains(model, squares, batch_of(6, 4), sgd(model), **options)
    with pytest.raises(ValueError, match="two samples at least"):
        gradbox.assert_trains(model, squares, batch_of(1, 4), sgd(model))


@pytest.mark.parametrize("breaks", [False, True])
def test_model_optimizer_and_random_state_are_restored(breaks: bool) -> None:
    net = Net()
    model = nn.Sequential(net, nn.BatchNorm1d(2), nn.Dropout(0.3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    squares(model, batch_of(6, 4)).backward()
    optimizer.step()
    kept = net.first.weight.exp().sum()  # a graph of the program's, which has to stay as good as it was
    batch = batch_of(6, 4)

    def state() -> list[Any]:
        moments = [value for p in model.parameters() for value in optimizer.state[p].values()]
        tensors = [*model.parameters(), *model.buffers(), *moments]
        return [
            [t.tolist() for t in tensors], [(t.data_ptr(), t._version) for t in tensors],
            [(id(p.grad), p.grad.tolist()) for p in model.parameters() if p.grad is not None],
            [module.training for module in model.modules()], net.calls, torch.get_rng_state().tolist(),
            random.getstate(), str(np.random.get_state()), [len(m._forward_hooks) for m in model.modules()],
            optimizer.param_groups[0]["lr"],
        ]  # fmt: skip

    def loss(model: nn.Module, batch: Any) -> torch.Tensor:
        random.random()
        np.random.rand()
        if breaks:
            raise KeyError("in the loss")
        return squares(model, batch)

    before = state()
    if breaks:
        with pytest.raises(KeyError):
            gradbox.assert_trains(model, loss, batch, optimizer)
    else:
        gradbox.assert_trains(model, loss, batch, optimizer)
    assert state() == before
    kept.backward()
