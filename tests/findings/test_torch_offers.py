"""What torch itself offers for a finding: every sentence's claim, tried with torch, and where findings carry it."""

import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from tests.support.explaining import findings_of

ROOT = Path(__file__).parents[2]
TABLE = (ROOT / "static/js/findings/torch_offers.ts").read_text()


def anomaly() -> None:
    """The forward line stands in the warning, for an error as well as for a NaN."""
    x = torch.zeros(2, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"), pytest.warns(UserWarning) as said:
            y = x.exp()  # the line that is named
            y += 1
            y.sum().backward()
        assert "y = x.exp()  # the line that is named" in str(said[0].message)
        with pytest.raises(RuntimeError, match="returned nan values"), pytest.warns(UserWarning) as said:
            root = (x * 0).sum().sqrt()  # the other one
            root.backward()
        assert "# the other one" in str(said[0].message)


def allow_mutation() -> None:
    x = torch.zeros(2, requires_grad=True)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        y = x.exp()
        y += 1
        y.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [1, 1]


def gradcheck() -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(torch.sin, x)
    assert not torch.autograd.gradcheck(lambda t: t * t.detach(), x, raise_exception=False)


def grad_of_any() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    (grad,) = torch.autograd.grad(y.pow(2).sum(), y)
    assert grad.tolist() == [4, 4] and x.grad is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert y.grad is None


def materialize() -> None:
    x, unused = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    _, grad = torch.autograd.grad(x.sum(), (x, unused), materialize_grads=True)
    assert grad.tolist() == [0, 0]


def is_grad_enabled() -> None:
    assert torch.is_grad_enabled()
    with torch.no_grad():
        assert not torch.is_grad_enabled()


def named_parameters() -> None:
    module = nn.Linear(2, 1, bias=False)
    module.plain = [nn.Linear(1, 1)]  # type: ignore[assignment]
    assert [*dict(module.named_parameters())] == ["weight"]
    assert torch.optim.SGD(module.parameters(), 0.1).param_groups[0]["params"] == [module.weight]


def data_ptr() -> None:
    a = torch.ones(4)
    for shares, b in ((True, a[2:]), (True, a.detach()), (False, a.clone())):
        assert (a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()) == shares


CLAIMS: tuple[Callable[[], None], ...] = (
    anomaly, allow_mutation, gradcheck, grad_of_any, materialize, is_grad_enabled, named_parameters, data_ptr,
)  # fmt: skip


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.__name__)
def test_torch_does_what_an_offer_claims(claim: Callable[[], None]) -> None:
    claim()


def test_every_offer_has_a_claim_a_page_and_a_sentence_in_both_languages() -> None:
    pages = dict(re.findall(r'^  (\w+): "([^"]+)",$', TABLE, re.MULTILINE))
    used = {key for row in re.findall(r": \[([^\]]*)\],$", TABLE, re.MULTILINE) for key in re.findall(r'"(\w+)"', row)}
    assert pages.keys() == used == {claim.__name__ for claim in CLAIMS}
    assert all(re.fullmatch(r"(generated/)?[\w.]+\.html(#[\w.-]+)?", page) for page in pages.values())
    for language in ("en", "zh"):
        sentences = json.loads((ROOT / f"static/locales/findings.{language}.json").read_text("utf-8"))
        assert [key for key in pages if f"torch.{key}" not in sentences] == []


@pytest.mark.parametrize(
    ("program", "kind", "page"),
    [
        ("x = torch.ones(2, requires_grad=True)\ny = x.exp()\ny += 1\ny.sum().backward()", "saved_overwritten",
         "autograd.html#torch.autograd.graph.allow_mutation_on_saved_tensors"),
        ("x = torch.ones(2, requires_grad=True)\ny = x * 2\ny.sum().backward()\nprint(y.grad)", "grad_none",
         "generated/torch.autograd.grad.html"),
    ],
)  # fmt: skip
def test_a_finding_carries_its_offers(program: str, kind: str, page: str) -> None:
    for language in ("en", "zh"):
        (finding,) = (one for one in findings_of(f"import torch\n{program}", language) if one["kind"] == kind)
        assert finding["offers"][0]["url"] == f"https://docs.pytorch.org/docs/stable/{page}"
        assert "torch" in finding["offers"][0]["text"]


def test_what_torch_offers_helps_the_programs_that_say_so() -> None:
    """`allow_mutation_on_saved_tensors` lets programs of tests/examples/findings through that raise without it."""
    names = [
        "saved_overwritten_theta_times_pi",
        "saved_overwritten_residual_block",
        "saved_overwritten_dropout_residual",
    ]
    for name in names:
        source = (ROOT / f"tests/examples/findings/{name}.py").read_text()
        with pytest.raises(RuntimeError, match="inplace operation"):
            exec(compile(source, name, "exec"), {})
        with torch.autograd.graph.allow_mutation_on_saved_tensors():
            exec(compile(source, name, "exec"), {})
