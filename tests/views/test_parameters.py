"""The view of parameters: at the end of every round what plain torch says then, and nothing that is said too early."""

from typing import Any

import pytest

from tests.forks.plain_python import call_in_plain
from tests.recordings.store import kept_document
from tests.support.explaining import call_page
from tests.views.parameters_truth import parameter_rounds

HEAD = "import copy, torch\nfrom torch import nn\ntorch.manual_seed(0)\n"
LOOP = """\
for i in range(3):
    opt.zero_grad()
    loss = net(torch.randn(4, 3)).pow(2).mean()
    loss.backward()
    opt.step()
"""
NET = "net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))\n"

SCALER = (
    HEAD
    + NET
    + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nscaler = torch.amp.GradScaler('cpu', init_scale=1024.0)\n"
    + LOOP.replace("loss.backward()", "scaler.scale(loss).backward()").replace(
        "opt.step()", "scaler.step(opt)\n    scaler.update()"
    )
)

NETS = {
    "plain": HEAD + NET + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n" + LOOP,
    "tied": HEAD
    + "net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))\nnet[2].weight = net[0].weight\n"
    + "opt = torch.optim.Adam(net.parameters(), lr=0.1)\n"
    + LOOP,
    "frozen": HEAD + NET + "net[0].requires_grad_(False)\nopt = torch.optim.SGD(net[2].parameters(), lr=0.1)\n" + LOOP,
    "groups": HEAD
    + NET
    + "opt = torch.optim.AdamW([{'params': net[0].parameters(), 'lr': 0.5}, {'params': net[2].parameters()}], lr=0.01)\n"
    + LOOP,
    "two_optimizers": HEAD
    + NET
    + "opt, other = torch.optim.SGD(net[0].parameters(), lr=0.1), torch.optim.Adam(net[2].parameters(), lr=0.2)\n"
    + LOOP
    + "    other.step()\n    other.zero_grad()\n",
    "lora": HEAD
    + "class Lora(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.base = nn.Linear(3, 2)\n"
    + "        self.base.requires_grad_(False)\n        self.a = nn.Parameter(torch.randn(3, 1))\n"
    + "        self.b = nn.Parameter(torch.zeros(1, 2))\n    def forward(self, x):\n"
    + "        return self.base(x) + x @ self.a @ self.b\n"
    + "net = Lora()\nopt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)\n"
    + LOOP,
    "teacher": HEAD
    + NET
    + "teacher = copy.deepcopy(net).requires_grad_(False)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    + LOOP
    + "    with torch.no_grad():\n        for t, p in zip(teacher.parameters(), net.parameters()):\n            t.lerp_(p, 0.1)\n",
    "added_later": HEAD
    + NET
    + "opt = torch.optim.SGD(net[2].parameters(), lr=0.1)\n"
    + LOOP
    + "    if i == 0:\n        opt.add_param_group({'params': net[0].parameters(), 'lr': 0.3})\n",
    "set_to_zero": HEAD
    + NET
    + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    + LOOP.replace("zero_grad()", "zero_grad(set_to_none=False)"),
    "half": HEAD
    + NET
    + "net.to(torch.bfloat16)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    + LOOP.replace("torch.randn(4, 3)", "torch.randn(4, 3, dtype=torch.bfloat16)"),
    "wide": HEAD
    + "net = nn.Sequential(nn.Linear(3, 600), nn.Tanh(), nn.Linear(600, 2))\n"
    + "opt = torch.optim.Adam(net.parameters(), lr=0.01)\n"
    + LOOP,
    "scaler": SCALER,
    "sparse": HEAD
    + "emb, net = nn.Embedding(5, 3, sparse=True), nn.Linear(3, 2)\n"
    + "opt, other = torch.optim.SparseAdam(emb.parameters(), lr=0.1), torch.optim.SGD(net.parameters(), lr=0.1)\n"
    + LOOP.replace("torch.randn(4, 3)", "emb(torch.tensor([1, 2, 1]))")
    + "    other.step()\n    other.zero_grad()\n",
}


def moments_of(sources: list[str], is_of_all_steps: bool = False) -> list[dict[str, Any]]:
    return [call_page("views/parameters", kept_document(source), is_of_all_steps) for source in sources]


def told_by_torch(source: str) -> list[dict[str, Any]]:
    return call_in_plain(parameter_rounds, source)  # type: ignore[no-any-return]


def rows_by_name(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: row for row in rows for name in (row["name"], *row["also"])}


def test_at_the_end_of_every_round_the_numbers_are_those_of_torch() -> None:
    for (name, source), moments in zip(NETS.items(), moments_of(list(NETS.values())), strict=True):
        told = told_by_torch(source)
        assert len(told) == len(moments["rounds"]) >= 3, name
        for k, (truth, rows) in enumerate(zip(told, moments["rounds"], strict=True)):
            shown = rows_by_name(rows)
            assert truth and set(truth) <= set(shown), name
            tolerance = 1e-2 if name == "half" else 1e-5
            for each, facts in truth.items():
                place, row = f"{name}, round {k}, {each}", shown[each]
                assert row["gradient"] == (facts["gradient"] and pytest.approx(facts["gradient"], rel=tolerance)), place
                assert row["weight"] == pytest.approx(facts["weight"], rel=tolerance), place
                if facts["held"]:
                    assert [facts["held"]] == [(h["type"], h["group"], h["lr"]) for h in row["held"]], place
                    assert row["moved"] == pytest.approx(facts["moved"], rel=10 * tolerance, abs=1e-7), place


DEEP_AND_WIDE = (
    HEAD
    + "net = nn.Sequential(*[nn.Sequential(nn.Linear(40, 40), nn.ReLU()) for _ in range(34)], nn.Linear(40, 3))\n"
    + "opt = torch.optim.Adam(net.parameters(), lr=0.01)\n"
    + LOOP.replace("torch.randn(4, 3)", "torch.randn(4, 40)")
)
"""More parameters than have norms of their own, and too large to be listed."""


def test_parameters_that_are_told_together_moved_as_far_as_torch_says() -> None:
    (moments,) = moments_of([DEEP_AND_WIDE])
    told = told_by_torch(DEEP_AND_WIDE)
    for truth, rows, whole in zip(told, moments["rounds"], moments["wholes"], strict=True):
        assert sum(row["moved"] is None for row in rows) >= 32
        assert whole == pytest.approx(sum(each["moved"] ** 2 for each in truth.values()) ** 0.5, rel=1e-3)


CHANGING = NETS | {
    "forgotten scaler": SCALER.replace("    scaler.step(opt)\n    scaler.update()", "    opt.step()"),
    "scheduled": NETS["plain"].replace("lr=0.1)\n", "lr=0.1)\nsteps = torch.optim.lr_scheduler.StepLR(opt, 1, 0.5)\n")
    + "    steps.step()\n",
    "rate in a tensor": NETS["plain"].replace("lr=0.1", "lr=torch.tensor(0.1)") + "    opt.param_groups[0]['lr'].mul_(0.5)\n",
    "by hand": HEAD + NET + LOOP.replace("opt.zero_grad()", "net.zero_grad()").replace(
        "opt.step()", "for p in net.parameters():\n        p.data -= 0.1 * p.grad"),
    "made in a function": HEAD + "def train(net):\n    opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    + "".join(f"    {line}\n" for line in LOOP.splitlines()) + "train(nn.Linear(3, 2))\ndone = 1\n",
}  # fmt: skip


def test_only_parameters_that_change_are_looked_at_again_and_none_is_missed() -> None:
    for name, facts in zip(CHANGING, moments_of(list(CHANGING.values()), is_of_all_steps=True), strict=True):
        assert facts["wrong"] == [] and facts["rows"] and facts["steps"] > 20, (name, facts)
        assert facts["looks"] <= facts["rows"] + 2 * facts["changes"], (name, facts)


def test_a_scaled_gradient_is_told_with_its_scale_until_it_is_divided() -> None:
    unscaled_early = SCALER.replace("    scaler.step(opt)", "    scaler.unscale_(opt)\n    scaler.step(opt)")
    forgotten = SCALER.replace("    scaler.step(opt)\n    scaler.update()", "    opt.step()")
    off = SCALER.replace("init_scale=1024.0", "enabled=False")
    told = told_by_torch(NETS["plain"])[0]
    for name, source, ends in (
        ("step", SCALER, None), ("early", unscaled_early, None), ("forgotten", forgotten, 1024), ("off", off, None),
    ):  # fmt: skip
        (moments,) = moments_of([source])
        during = {row["scale"] for rows in moments["backwards"] for row in rows}
        assert during == {None if name == "off" else 1024}, name
        assert {row["scale"] for rows in moments["rounds"] for row in rows} == {ends}, name
        if name != "forgotten":
            for row in moments["rounds"][0]:
                assert row["gradient"] == pytest.approx(told[row["name"]]["gradient"], rel=1e-5), (name, row["name"])
    (plain_moments,) = moments_of([NETS["plain"]])
    for scaled, plain in zip(moments_of([SCALER])[0]["backwards"][0], plain_moments["backwards"][0], strict=True):
        assert scaled["gradient"] == pytest.approx(1024 * plain["gradient"], rel=1e-5)


def test_before_the_first_round_ended_nothing_is_said_to_never_learn() -> None:
    for (name, _), moments in zip(NETS.items(), moments_of(list(NETS.values())), strict=True):
        assert {row["learns"] for row in moments["before"]} <= {"not_yet", "frozen"}, name
        assert {row["learns"] for row in moments["end"]} <= {"updated", "frozen", "changed"}, name


def test_parameters_that_never_learn_are_reported_from_the_first_round_on() -> None:
    deep_copy = HEAD + NET + "opt = torch.optim.SGD(copy.deepcopy(net).parameters(), lr=0.1)\n" + LOOP
    in_a_list = (
        HEAD
        + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.last = nn.Linear(4, 2)\n"
        + "        self.extra = [nn.Linear(3, 4)]\n    def forward(self, x):\n        return self.last(self.extra[0](x))\n"
        + "net = Net()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        + LOOP
    )
    copied, listed = moments_of([deep_copy, in_a_list])
    for moments in (copied, listed):
        assert {row["learns"] for row in moments["before"]} == {"not_yet"}
    fates = [(row["name"], row["learns"]) for row in copied["rounds"][0]]
    assert {fate for name, fate in fates if name and name.startswith("net.")} == {"never_moved"}
    assert "never_learns" in {fate for name, fate in fates if not (name and name.startswith("net."))}
    shown = {row["learns"] for row in listed["end"]}
    assert shown == {"updated", "never_moved"}


def test_nothing_is_reported_of_a_run_that_stops_before_its_first_step() -> None:
    (moments,) = moments_of([NETS["plain"].replace("    opt.step()\n", "    1 / 0\n")])
    assert {row["learns"] for row in moments["end"]} == {"not_yet"}
