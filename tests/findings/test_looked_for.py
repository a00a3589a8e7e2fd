"""What is said of a run in which nothing is wrong: in how much of it, what was looked for, and what was not."""

import pytest

from gradbox.terminal.run_text import load_sentences, looked_for_text
from tests.support.explaining import looked_for_in

pytestmark = pytest.mark.slow

TRAINING = """\
import torch
torch.manual_seed(0)
model = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
def train(x):
    loss = (model(x) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
for i in range({rounds}):
    train(torch.randn(4, 2))
"""


def test_a_healthy_training_is_reported_with_its_rounds_and_gradients() -> None:
    looked_for = looked_for_in(TRAINING.format(rounds=6))
    assert looked_for is not None
    assert looked_for.line == "**Nothing wrong found** in 6 rounds."
    rows = " ".join(looked_for.rows)
    assert "2 tensors got a gradient" in rows and "none in 12 gradients" in rows and "`opt`: 2 parameters" in rows
    assert "whether each gradient is the true slope" in looked_for.not_looked
    assert looked_for.flags == ["--check-gradients", "--check-samples"]
    assert not any("Train and eval" in row for row in looked_for.rows)


def test_layers_with_a_mode_are_told_where_there_are_some() -> None:
    with_dropout = TRAINING.replace(
        "torch.nn.Linear(2, 1)", "torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout())"
    )
    looked_for = looked_for_in(with_dropout.format(rounds=6))
    assert looked_for is not None
    assert any("Train and eval** · 6 calls of dropout" in row for row in looked_for.rows)


def test_a_long_loop_is_reported_only_as_far_as_it_was_recorded() -> None:
    looked_for = looked_for_in(TRAINING.format(rounds=600))
    assert looked_for is not None
    assert looked_for.line.endswith("rounds that were recorded, of 600.") and "the 600" not in looked_for.line


IN_A_CALL = """\
import torch
net = torch.nn.Linear(2, 1)
{optimizer}
def train():
    for batch in range(3):
        loss = net(torch.ones(4, 2)).pow(2).mean()
        net.zero_grad()
        loss.backward()
        {update}
for epoch in range({epochs}):
    train()
"""
WITH_OPTIMIZER = {"optimizer": "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)", "update": "optimizer.step()"}
BY_HAND = {"optimizer": "", "update": "net.weight.data -= 0.1 * net.weight.grad"}


@pytest.mark.parametrize("way", [WITH_OPTIMIZER, BY_HAND], ids=["optimizer", "by hand"])
def test_rounds_of_calls_that_were_not_recorded_are_not_said_to_be_looked_at(way: dict[str, str]) -> None:
    few = looked_for_in(IN_A_CALL.format(epochs=1, **way))
    many = looked_for_in(IN_A_CALL.format(epochs=60, **way))
    assert few is not None and many is not None
    assert few.line == "**Nothing wrong found** in 3 rounds."
    assert many.line.endswith("rounds that were recorded, of 180.")


def test_a_run_without_a_backward_has_looked_for_no_gradients() -> None:
    looked_for = looked_for_in("import torch\nx = torch.ones(2)\ny = x + 1\n")
    assert looked_for is not None
    assert "no backward was recorded" in looked_for.line and looked_for.flags == []
    assert not any("gradient" in row for row in looked_for.rows)


@pytest.mark.parametrize(
    "source",
    [
        "import torch\nw = torch.ones(2, requires_grad=True)\ny = w.exp()\ny += 1\ny.sum().backward()\n",
        "import torch\ntry:\n    torch.ones(2) @ torch.ones(3)\nexcept RuntimeError:\n    pass\n",
        "1 / 0\n",
        'import torch\nx = torch.ones(2)\nwhile True:\n    print("x" * 1000)\n',
    ],
)
def test_a_run_in_which_something_is_wrong_is_not_called_sound(source: str) -> None:
    assert looked_for_in(source) is None


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_terminal_shows_what_was_looked_for_in_one_line(language: str) -> None:
    looked_for = looked_for_in(TRAINING.format(rounds=3), language)
    assert looked_for is not None
    text = looked_for_text(looked_for, load_sentences(language))
    assert "\n" not in text and "**" not in text and "--check-gradients" in text and "finding." not in text
