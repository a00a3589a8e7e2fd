"""Assertions that run a model again with one thing changed: they hold for healthy models that look suspicious, and name
the module at which a broken one goes wrong."""

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import gradbox

TOKENS, WIDTH, LENGTH = 11, 8, 6


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


class Attention(nn.Module):
    """One head; `mask` changes the scores, `weigh` is what makes weights of them."""

    def __init__(self, mask: Callable[[torch.Tensor], torch.Tensor], dim: int = -1) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mask, self.dim = mask, dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(x).chunk(3, -1)
        weights = self.mask(q @ k.transpose(-1, -2) / WIDTH**0.5).softmax(self.dim)
        result: torch.Tensor = self.out(weights @ v)
        return result


def causal(scores: torch.Tensor) -> torch.Tensor:
    length = scores.shape[-1]
    return scores.masked_fill(torch.ones(length, length, dtype=torch.bool).triu(1), float("-inf"))


def causal_by_one_more(scores: torch.Tensor) -> torch.Tensor:
    length = scores.shape[-1]
    return scores.masked_fill(torch.ones(length, length, dtype=torch.bool).triu(2), float("-inf"))


def unmasked(scores: torch.Tensor) -> torch.Tensor:
    return scores


class Gpt(nn.Module):
    def __init__(self, *attentions: nn.Module, dropout: float = 0.0) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(TOKENS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(attentions)
        self.drop, self.head = nn.Dropout(dropout), nn.Linear(WIDTH, TOKENS)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.drop(self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1])))
        for block in self.blocks:
            x = x + block(x)
        result: torch.Tensor = self.head(x)
        return result


class Through(nn.Module):
    """A function as a module, between two layers."""

    def __init__(self, between: Callable[[torch.Tensor], Any], width: int = WIDTH) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(width, width), nn.Linear(width, width)
        self.between = between

    def forward(self, x: torch.Tensor) -> Any:
        return self.last(self.between(self.first(x)))


def tokens(count: int = 3) -> torch.Tensor:
    return torch.randint(0, TOKENS, (count, LENGTH))


def swapped_axes(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(x.shape[1], x.shape[0], -1).cumsum(1).reshape(x.shape)


# --- the future

CAUSAL: dict[str, tuple[nn.Module, torch.Tensor]] = {
    "a causal attention": (Gpt(Attention(causal), Attention(causal)), tokens()),
    "with dropout, which draws the same numbers": (Gpt(Attention(causal), dropout=0.3), tokens()),
    "one sequence": (Gpt(Attention(causal)), tokens(1)),
    "as many samples as positions": (Gpt(Attention(causal)), tokens(LENGTH)),
    "as wide as it is long": (Gpt(Attention(causal)), torch.randint(0, TOKENS, (WIDTH, LENGTH))),
    "running sums": (Through(lambda x: x.cumsum(1)), torch.randn(2, 5, WIDTH)),
    "a recurrent layer": (nn.LSTM(WIDTH, 4, num_layers=2, batch_first=True), torch.randn(2, 5, WIDTH)),
    "a convolution that is padded at its start": (
        nn.Sequential(nn.ConstantPad1d((2, 0), 0.0), nn.Conv1d(WIDTH, WIDTH, 3)),
        torch.randn(2, WIDTH, 7),
    ),
    "torch's layer with its mask": (
        nn.TransformerEncoderLayer(WIDTH, 2, 16, dropout=0.0, batch_first=True),
        torch.randn(2, LENGTH, WIDTH),
    ),
    "a layer norm, and a norm over channels": (
        nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH)),
        torch.randn(2, 5, WIDTH),
    ),
}


@pytest.mark.parametrize("name", CAUSAL)
def test_a_model_that_looks_back_alone_sees_no_future(name: str) -> None:
    model, inputs = CAUSAL[name]
    options: dict[str, Any] = {"time_dim": 2} if "convolution" in name else {}
    if "mask" in name:
        options["src_mask"] = nn.Transformer.generate_square_subsequent_mask(LENGTH)
    gradbox.assert_no_future(model, inputs, **options)


def test_a_mask_among_the_inputs_is_no_sequence() -> None:
    layer = nn.TransformerEncoderLayer(WIDTH, 2, 16, dropout=0.0)
    mask = nn.Transformer.generate_square_subsequent_mask(LENGTH)
    gradbox.assert_no_future(layer, torch.randn(LENGTH, 2, WIDTH), mask, time_dim=0)
    with pytest.raises(AssertionError, match="sees the future"):
        gradbox.assert_no_future(layer, torch.randn(LENGTH, 2, WIDTH), torch.zeros(LENGTH, LENGTH), time_dim=0)


LOOKING_AHEAD: dict[str, tuple[nn.Module, torch.Tensor, str]] = {
    "no mask": (
        Gpt(Attention(causal), Attention(unmasked)),
        tokens(),
        r"the forward of blocks\.1 passes to blocks\.1\.out",
    ),
    "a mask that lets one more in": (Gpt(Attention(causal_by_one_more)), tokens(), r"blocks\.0\.out \(Linear\)"),
    "a softmax over the queries": (Gpt(Attention(causal, dim=-2)), tokens(), r"blocks\.0\.out"),
    "a recurrent layer in both directions": (
        nn.Sequential(nn.Linear(WIDTH, WIDTH), Through(lambda x: x.flip(1).cumsum(1).flip(1))),
        torch.randn(2, 5, WIDTH),
        r"the forward of 1 passes to 1\.last \(Linear\)",
    ),
    "a mean over time": (Through(lambda x: x - x.mean(1, keepdim=True)), torch.randn(2, 5, WIDTH), r"passes to last"),
    "a convolution that is padded on both sides": (
        nn.Sequential(nn.Conv1d(WIDTH, WIDTH, 3, padding=1)),
        torch.randn(2, WIDTH, 7),
        r"the output of 0 \(Conv1d\)",
    ),
    "a batch norm in training": (
        nn.Sequential(nn.BatchNorm1d(WIDTH)),
        torch.randn(2, WIDTH, 7),
        r"BatchNorm1d\).*call model\.eval\(\) first",
    ),
}


@pytest.mark.parametrize("name", LOOKING_AHEAD)
def test_what_sees_the_future_is_named(name: str) -> None:
    model, inputs, place = LOOKING_AHEAD[name]
    options: dict[str, Any] = {"time_dim": 2} if inputs.dim() == 3 and inputs.shape[2] == 7 else {}
    with pytest.raises(AssertionError, match="sees the future") as raised:
        gradbox.assert_no_future(model, inputs, **options)
    assert re.search(place, str(raised.value), re.DOTALL), raised.value
    assert "test_assertions.py:" in str(raised.value)


def test_a_prompt_may_see_itself() -> None:
    def prefix(scores: torch.Tensor) -> torch.Tensor:
        length = scores.shape[-1]
        mask = torch.ones(length, length, dtype=torch.bool).triu(1)
        mask[:3, :3] = False
        return scores.masked_fill(mask, float("-inf"))

    model = Gpt(Attention(prefix))
    gradbox.assert_no_future(model, tokens(), causal_from=3)
    with pytest.raises(AssertionError, match="its output changes at position"):
        gradbox.assert_no_future(model, tokens())


# --- samples

APART: dict[str, tuple[nn.Module, torch.Tensor]] = {
    "an attention": (Gpt(Attention(unmasked)), tokens()),
    "as many samples as positions": (Gpt(Attention(causal)), tokens(LENGTH)),
    "a batch norm that was evaluated": (nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)).eval(), torch.randn(5, 4)),
    "channels in groups": (nn.Sequential(nn.Conv2d(4, 4, 3), nn.GroupNorm(2, 4)), torch.randn(3, 4, 5, 5)),
    "samples flattened with positions and back": (
        Through(lambda x: F.gelu(x.reshape(-1, WIDTH)).reshape(x.shape)),
        torch.randn(3, 5, WIDTH),
    ),
    "dropout": (nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)), torch.randn(5, 4)),
}


@pytest.mark.parametrize("name", APART)
def test_samples_that_stay_apart_hold(name: str) -> None:
    gradbox.assert_samples_stay_apart(*APART[name])


MIXED: dict[str, tuple[nn.Module, torch.Tensor, str]] = {
    "a view in place of a transpose": (Through(swapped_axes), torch.randn(3, 4, WIDTH), r"mixes samples"),
    "a softmax over the batch": (Through(lambda x: x.softmax(0)), torch.randn(3, WIDTH), r"passes to last \(Linear\)"),
    "a mean of the batch": (Through(lambda x: x / x.norm()), torch.randn(3, WIDTH), r"samples 1 and 2"),
    "a batch norm in training": (
        nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)),
        torch.randn(5, 4),
        r"the output of 1 \(BatchNorm1d\).*call model\.eval\(\) first",
    ),
    "a recurrence along the batch": (nn.Sequential(nn.RNN(4, 4)), torch.randn(5, 3, 4), r"the output of 0 \(RNN\)"),
}


@pytest.mark.parametrize("name", MIXED)
def test_what_mixes_samples_is_named(name: str) -> None:
    model, inputs, said = MIXED[name]
    with pytest.raises(AssertionError, match="mixes samples") as raised:
        gradbox.assert_samples_stay_apart(model, inputs)
    assert re.search(said, str(raised.value), re.DOTALL), raised.value


def test_a_recurrence_over_the_first_dimension_has_its_batch_in_the_second() -> None:
    gradbox.assert_samples_stay_apart(nn.RNN(4, 4), torch.randn(5, 3, 4), batch_dim=1)


# --- padding


class Pooled(nn.Module):
    """Embeds, and pools with the mask that `use` makes of it."""

    def __init__(self, pool: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], recurrent: bool = False) -> None:
        super().__init__()
        self.embed, self.pool = nn.Embedding(TOKENS, WIDTH, padding_idx=0), pool
        self.rnn = nn.GRU(WIDTH, WIDTH, batch_first=True) if recurrent else None
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens)
        if self.rnn is not None:
            x = self.rnn(x)[0]
        result: torch.Tensor = self.head(self.pool(x, mask))
        return result


def masked_mean(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


def last_step(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return x[torch.arange(len(x)), mask.sum(1) - 1]


class Packed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.rnn = nn.Embedding(TOKENS, WIDTH), nn.LSTM(WIDTH, 4, batch_first=True, bidirectional=True)

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> Any:
        packed = pack_padded_sequence(self.embed(tokens), mask.sum(1), batch_first=True, enforce_sorted=False)
        output, (hidden, _) = self.rnn(packed)
        return pad_packed_sequence(output, batch_first=True)[0], hidden


def padded_tokens() -> tuple[torch.Tensor, torch.Tensor]:
    padding = torch.arange(LENGTH) >= torch.tensor([[6], [4], [2]])
    return torch.randint(1, TOKENS, (3, LENGTH)).masked_fill(padding, 0), padding


@pytest.mark.parametrize(
    "model",
    [Pooled(masked_mean), Pooled(last_step, recurrent=True), Packed(), Pooled(lambda x, _: x)],
    ids=["mean with a mask", "last step that counts", "packed, both directions", "positions by themselves"],
)
def test_padding_that_is_ignored_holds(model: nn.Module) -> None:
    inputs, padding = padded_tokens()
    gradbox.assert_padding_is_ignored(model, inputs, padding=padding, mask=~padding)


@pytest.mark.parametrize(
    ("model", "place"),
    [
        (Pooled(lambda x, _: x.mean(1)), r"passes to head \(Linear\)"),
        (Pooled(lambda x, mask: masked_mean(x, ~mask)), r"passes to head"),
        (Pooled(lambda x, _: x[:, -1], recurrent=True), r"head \(Linear\)|rnn \(GRU\)"),
    ],
    ids=["plain mean", "mask turned round", "last step of all"],
)
def test_what_counts_padding_is_named(model: nn.Module, place: str) -> None:
    inputs, padding = padded_tokens()
    with pytest.raises(AssertionError, match="does not ignore padding") as raised:
        gradbox.assert_padding_is_ignored(model, inputs, padding=padding, mask=~padding)
    assert re.search(place, str(raised.value), re.DOTALL), raised.value


def test_a_loss_that_counts_padding_says_from_what_to_what_it_changes() -> None:
    class Loss(nn.Module):
        def __init__(self, ignore: bool) -> None:
            super().__init__()
            self.embed, self.head, self.ignore = nn.Embedding(TOKENS, WIDTH), nn.Linear(WIDTH, TOKENS), ignore

        def forward(self, tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
            scores = self.head(self.embed(tokens)).flatten(0, 1)
            return F.cross_entropy(scores, targets.flatten(), ignore_index=0 if self.ignore else -100)

    inputs, padding = padded_tokens()
    gradbox.assert_padding_is_ignored(Loss(ignore=True), inputs, padding=padding, targets=inputs)
    with pytest.raises(AssertionError, match=r"its output changes from \d\.\d+ to \d\.\d+"):
        gradbox.assert_padding_is_ignored(Loss(ignore=False), inputs, padding=padding, targets=inputs)


# --- gradients


def accumulated(model: nn.Module, parts: list[torch.Tensor], scale: float) -> Callable[[], None]:
    def compute() -> None:
        for part in parts:
            (model(part).square().mean() * scale).backward()

    return compute


def test_four_small_batches_are_one_large_one() -> None:
    model, batch = Through(torch.tanh), torch.randn(8, WIDTH)
    whole = lambda: model(batch).square().mean()  # noqa: E731
    gradbox.assert_same_gradients(model, whole, accumulated(model, list(batch.chunk(4)), 1 / 4))
    with pytest.raises(AssertionError, match="all parameters: the second gives 4 times the gradient of the first"):
        gradbox.assert_same_gradients(model, whole, accumulated(model, list(batch.chunk(4)), 1))
    unequal = list(batch.split([1, 2, 5]))
    with pytest.raises(AssertionError, match=r"they differ by \d"):
        gradbox.assert_same_gradients(model, whole, accumulated(model, unequal, 1 / 3))
    assert all(p.grad is None for p in model.parameters())


def test_a_checkpoint_changes_no_gradient_and_a_detached_part_gives_none() -> None:
    from torch.utils.checkpoint import checkpoint

    model, batch = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Linear(4, 4)), torch.randn(3, 4)

    def plain() -> torch.Tensor:
        loss: torch.Tensor = model(batch).sum()
        return loss

    gradbox.assert_same_gradients(model, plain, lambda: checkpoint(model, batch, use_reentrant=False).sum())
    with pytest.raises(AssertionError, match=r"0\.weight: the second gives none"):
        gradbox.assert_same_gradients(model, plain, lambda: model[2](model[1](model[0](batch)).detach()).sum())
    with pytest.raises(ValueError, match="no gradient came"):
        gradbox.assert_same_gradients(model, lambda: None, lambda: None)


# --- what all of them keep, and refuse


def test_model_modes_and_random_numbers_are_what_they_were() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
    inputs = torch.randn(5, 4)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    states = torch.get_rng_state(), random.getstate(), repr(np.random.get_state())
    model(inputs).sum().backward()
    gradients = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    kept = {name: value.clone() for name, value in model.state_dict().items()}
    torch.set_rng_state(states[0])
    with pytest.raises(AssertionError):
        gradbox.assert_samples_stay_apart(model, inputs)
    assert before.keys() == kept.keys()
    assert all(torch.equal(value, kept[name]) for name, value in model.state_dict().items())
    assert all(torch.equal(p.grad, g) for p, g in zip(model.parameters(), gradients, strict=True) if p.grad is not None)
    assert torch.equal(torch.get_rng_state(), states[0]) and random.getstate() == states[1]
    assert repr(np.random.get_state()) == states[2]
    assert model.training and not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gradbox.assert_samples_stay_apart(nn.Linear(2, 2), torch.randn(1, 2)), "at least two samples"),
        (lambda: gradbox.assert_no_future(nn.Linear(2, 2), torch.randn(4, 1, 2)), "at least two positions"),
        (
            lambda: gradbox.assert_no_future(Pooled(masked_mean), tokens(), mask=tokens() >= 0),
            "no output has 6 positions",
        ),
        (lambda: gradbox.assert_no_future(Gpt(), tokens(), causal_from=6), "causal_from: from 1 to 5, not 6"),
        (lambda: gradbox.assert_no_future(Gpt(), torch.zeros(2, 4, dtype=torch.long)), "the same value everywhere"),
        (
            lambda: gradbox.assert_padding_is_ignored(
                Gpt(), tokens(), padding=torch.zeros(3, LENGTH, dtype=torch.bool)
            ),
            "some positions are padded",
        ),
        (
            lambda: gradbox.assert_padding_is_ignored(Gpt(), tokens(), padding=torch.eye(4, dtype=torch.bool)),
            r"none has the sizes \(4, 4\)",
        ),
    ],
)
def test_what_cannot_be_tried_says_why(call: Callable[[], None], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_a_model_that_differs_by_itself_is_not_blamed() -> None:
    class Counting(nn.Module):
        calls: list[int] = []

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.calls.append(1)
            return x + len(self.calls)

    with pytest.raises(ValueError, match="a different output each time"):
        gradbox.assert_samples_stay_apart(Counting(), torch.randn(3, 2))


def test_outputs_whose_shapes_depend_on_the_values_are_not_passed_over() -> None:
    class Selecting(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return x * 2, torch.zeros(1 + int(x[0, 0] != 1))

    inputs = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with pytest.raises(ValueError, match="other shapes when the inputs change"):
        gradbox.assert_samples_stay_apart(Selecting(), inputs)


def test_a_model_without_numbers_holds_nothing() -> None:
    class Predicting(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.argmax(-1)

    padding = torch.tensor([[False, True], [False, False]])
    with pytest.raises(ValueError, match="no tensor of numbers"):
        gradbox.assert_padding_is_ignored(Predicting(), torch.randn(2, 2, 3), padding=padding)


def test_a_call_that_raised_within_another_does_not_shift_the_places() -> None:
    class Failing(nn.Module):
        def forward(self, _: torch.Tensor) -> torch.Tensor:
            raise RuntimeError

    class Trying(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.failing, self.mixing = Failing(), Through(lambda x: x.softmax(0))

        def forward(self, x: torch.Tensor) -> Any:
            try:
                return self.failing(x)
            except RuntimeError:
                return self.mixing(x)

    with pytest.raises(AssertionError, match=r"the forward of mixing passes to mixing\.last \(Linear\)"):
        gradbox.assert_samples_stay_apart(Trying(), torch.randn(3, WIDTH))


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (1, 2, 0)], ids=["before", "between", "after"])
def test_samples_that_were_flattened_with_others_are_still_apart(order: tuple[int, ...]) -> None:
    """The place is after the flattening, wherever the samples stood in it."""
    model = nn.Sequential(Through(lambda x: x, width=4), Through(lambda x: x.softmax(0), width=4))

    class Flattened(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.apart, self.mixed = model

        def forward(self, x: torch.Tensor) -> Any:
            sizes, back = [x.shape[k] for k in order], [order.index(k) for k in range(3)]
            flat = self.apart(x.permute(*order, 3).flatten(0, 2))
            return self.mixed(flat.unflatten(0, sizes).permute(*back, 3))

    with pytest.raises(AssertionError, match=r"the forward of mixed passes to mixed\.last"):
        gradbox.assert_samples_stay_apart(Flattened(), torch.randn(3, 2, 5, 4))
