"""Fixes: what each edit makes of a line, and that what is offered runs and loses the finding."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gradbox.judged_fixes import curves_of_same_loss
from gradbox.language.fixes import FIXES, HINT_FAMILIES, Hint, propose
from gradbox.language.fixes.program import diff_lines
from gradbox.terminal.run_text import loss_text
from gradbox.wire.findings import Fix, LossCurves, LossSeries
from tests.sharing.test_saved_programs import visiting
from tests.support.databases import DatabaseFactory

pytest_plugins = ["tests.support.databases"]

ROOT = Path(__file__).parents[2]
HEAD = "import torch, copy\nfrom torch import nn\n"

CASES: dict[str, tuple[str, int, dict[str, str | int], str]] = {
    "append_copy": ("kept.append(row)", 3, {"name": "row"}, "kept.append(row.copy())"),
    "batch_in_front": ("z = h.view(4, -1)", 3, {}, "z = h.transpose(0, 1).reshape(4, -1)"),
    "bind_in_hook": (
        "for i in range(3):\n    layers[i].register_forward_hook(lambda m, a, out: kept.append(i))",
        4,
        {"name": "i"},
        "for i in range(3):\n    layers[i].register_forward_hook(lambda m, a, out, i=i: kept.append(i))",
    ),
    "into_loop_above": (
        "for g in groups:\n    print(g)\ng['lr'] = 1",
        5,
        {},
        "for g in groups:\n    print(g)\n    g['lr'] = 1",
    ),
    "live_groups": (
        "for g in opt.state_dict()['param_groups']:\n    g['lr'] = 1",
        3,
        {},
        "for g in opt.param_groups:\n    g['lr'] = 1",
    ),
    "out_of_loop": (
        "for epoch in range(2):\n    for x in data:\n        opt.step()\n        schedule.step()",
        6,
        {},
        "for epoch in range(2):\n    for x in data:\n        opt.step()\n    schedule.step()",
    ),
    "rsample": ("z = q.sample()", 3, {}, "z = q.rsample()"),
    "softmax_of_positions": ("a = torch.softmax(s, dim=0)", 3, {}, "a = torch.softmax(s, dim=-1)"),
    "spell_requires_grad": ("p.require_grad = False", 3, {}, "p.requires_grad = False"),
    "clone_before": ("x.mul_(2)", 3, {"name": "x"}, "x = x.clone()\nx.mul_(2)"),
    "clone_result": ("y = x.view(4)", 3, {}, "y = x.view(4).clone()"),
    "clone_saved": ("y = x * torch.exp(x)", 3, {"name": "x"}, "y = x.clone() * torch.exp(x.clone())"),
    "clone_shared": ("a = x.numpy()", 3, {}, "a = x.numpy().copy()"),
    "clone_for_deepcopy": ("y = copy.deepcopy(x * 2)", 3, {}, "y = (x * 2).clone()"),
    "detach_stored": ("self.h = h", 3, {}, "self.h = h.detach()"),
    "detach_before_numpy": ("a = (x + 1).numpy()", 3, {}, "a = ((x + 1).detach()).numpy()"),
    "out_of_place": ("x -= y + 1", 3, {}, "x = x - (y + 1)"),
    "not_inplace": ("m = nn.ReLU(True)", 3, {}, "m = nn.ReLU(False)"),
    "under_no_grad": ("w -= g", 3, {}, "with torch.no_grad():\n    w -= g"),
    "out_of_no_grad": ("v = x[0]", 3, {}, "with torch.enable_grad():\n    v = x[0]"),
    "assign_through_index": ("x[m].fill_(3)", 3, {}, "x[m] = 3"),
    "accumulate": (
        "g[i] += 1",
        3,
        {},
        "g.index_put_((i,), torch.tensor(1, dtype=g.dtype), accumulate=True)",
    ),
    "assign_it": ("w.requires_grad == False", 3, {}, "w.requires_grad = False"),
    "batch_first": ("m = nn.LSTM(5, 8)", 3, {}, "m = nn.LSTM(5, 8, batch_first=True)"),
    "group_option": (
        "opt.lr = 0.1",
        3,
        {"path": "opt", "name": "lr", "value": "0.1"},
        "for group in opt.param_groups: group['lr'] = 0.1",
    ),
    "divide_loss": ("(a + b).backward()", 3, {"n": 4}, "((a + b) / 4).backward()"),
    "into_loop": (
        "for x in data:\n    loss = f(x)\n\nloss.backward()\nclip(w)\nopt.step()\nprint(loss)",
        6,
        {},
        "for x in data:\n    loss = f(x)\n    loss.backward()\n    clip(w)\n    opt.step()\n\nprint(loss)",
    ),
    "own_groups": (
        "opt = torch.optim.SGD(groups, lr=1)",
        3,
        {},
        "opt = torch.optim.SGD([dict(group) for group in groups], lr=1)",
    ),
    "zero_padding_row": (
        "nn.init.normal_(net.embed.weight)",
        3,
        {"row": 0},
        "nn.init.normal_(net.embed.weight)\ntorch.nn.init.zeros_(net.embed.weight[0])",
    ),
    "keep_every_output": ("kept['a'] = y", 3, {}, "kept.setdefault('a', []).append(y)"),
    "remove_return": (
        "def f(g):\n    print(g)\n    return g.sum()",
        3,
        {"name": "f"},
        "def f(g):\n    print(g)\n    # return g.sum()",
    ),
    "detach_start": ("h0 = h", 3, {"name": "h0"}, "h0 = h.detach()"),
    "clear_list": (
        "for k in range(2):\n    terms.append(net(x).sum())\n    sum(terms).backward()",
        5,
        {"name": "terms"},
        "for k in range(2):\n    terms.clear()\n    terms.append(net(x).sum())\n    sum(terms).backward()",
    ),
    "clear_before": ("copy.deepcopy(net)", 3, {"name": "net.h"}, "net.h = None\ncopy.deepcopy(net)"),
    "swap_axes": ("y = x.view(5, 3, 8, 6)", 3, {"order": "0, 3, 1, 2"}, "y = x.permute(0, 3, 1, 2)"),
    "remove_line": ("opt.step()", 3, {}, "# opt.step()"),
    "step_after_backward": ("opt.step()\nb.backward()", 3, {"to": 4}, "b.backward()\nopt.step()"),
    "move_after_backward": ("x.clamp_(0)\nloss.backward()", 3, {"to": 4}, "loss.backward()\nx.clamp_(0)"),
    "move_hook": ("x.register_hook(f)\nx.add_(1)", 3, {"to": 4}, "x.add_(1)\nx.register_hook(f)"),
    "zero_grad": (
        "opt = torch.optim.SGD([w], 0.1)\nloss.backward()",
        4,
        {},
        "opt = torch.optim.SGD([w], 0.1)\nopt.zero_grad()\nloss.backward()",
    ),
    "reset_frozen": ("w.requires_grad_(False)", 3, {}, "w.requires_grad_(False)\nw.grad = None"),
    "retain_graph": ("loss.backward()", 3, {}, "loss.backward(retain_graph=True)"),
    "allow_unused": ("torch.autograd.grad(y, x)", 3, {}, "torch.autograd.grad(y, x, allow_unused=True)"),
    "add_losses": ("a.backward()\nb.backward()", 3, {"second": 4}, "# a.backward()\n(a + b).backward()"),
    "keep_history": ("y = x.detach() * 2", 3, {}, "y = x * 2"),
    "require_grad": ("x = torch.ones(3)", 3, {}, "x = torch.ones(3, requires_grad=True)"),
    "detach_carried": (
        "for i in range(3):\n    h = f(h)\n    h.sum().backward()",
        4,
        {"name": "h"},
        "for i in range(3):\n    h = f(h.detach())\n    h.sum().backward()",
    ),
    "detach_sum": ("total += loss", 3, {}, "total += loss.item()"),
    "no_grad_instead": (
        "with torch.inference_mode():\n    y = x * 2",
        4,
        {},
        "with torch.no_grad():\n    y = x * 2",
    ),
    "sum_first": ("(x * 2).backward()", 3, {}, "((x * 2).sum()).backward()"),
    "mean_first": ("y.backward()", 3, {}, "y.mean().backward()"),
    "guard_operand": ("y = x / n.sum()", 3, {}, "y = x / (n.sum() + 1e-8)"),
    "safe_where": (
        "y = torch.where(x > 0, x.log(), 0.)",
        3,
        {},
        "y = torch.where(x > 0, torch.where(x > 0, x, torch.ones_like(x)).log(), 0.)",
    ),
    "reshape": ("y = x.t().view(-1)", 3, {}, "y = x.t().reshape(-1)"),
    "contiguous": ("y = x.t().view(-1)", 3, {}, "y = x.t().contiguous().view(-1)"),
    "float_dtype": ("x = torch.tensor([1, 2])", 3, {}, "x = torch.tensor([1, 2], dtype=torch.float32)"),
    "float_before": ("x.requires_grad_()", 3, {"name": "x"}, "x = x.float()\nx.requires_grad_()"),
    "convert": ("y = w @ x", 3, {"name": "x", "dtype": "float32"}, "y = w @ x.to(torch.float32)"),
    "register_parameter": (
        "self.w = torch.randn(2, requires_grad=True)",
        3,
        {},
        "self.w = torch.nn.Parameter(torch.randn(2))",
    ),
    "list_parameters": ("ps = model.parameters()", 3, {}, "ps = list(model.parameters())"),
    "module_list": ("self.layers = [a, b]", 3, {}, "self.layers = torch.nn.ModuleList([a, b])"),
    "tie_parameter": ("d.weight.data = e.weight.data", 3, {}, "d.weight = e.weight"),
    "in_place": ("m.w = nn.Parameter(v)", 3, {}, "with torch.no_grad():\n    m.w.copy_(v)"),
    "optimizer_later": ("opt = f(m)\nm.w = v", 3, {"to": 4}, "m.w = v\nopt = f(m)"),
    "mark_dirty": (
        "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        x += 1\n        "
        "return x",
        6,
        {"name": "x"},
        "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        x += 1\n"
        "        ctx.mark_dirty(x)\n        return x",
    ),
    "zero_grad_later": ("opt.zero_grad()\nopt.step()", 3, {"to": 4}, "opt.step()\nopt.zero_grad()"),
    "retain_grad": ("y = x * 2", 3, {}, "y = x * 2\ny.retain_grad()"),
    "leaf_of_result": ("x = x * 2", 3, {}, "x = (x * 2).detach().requires_grad_()"),
    "detach_used": ("loss = D(fake)", 3, {"name": "fake"}, "loss = D(fake.detach())"),
    "grad_on": ("y = f(x)", 3, {}, "torch.set_grad_enabled(True)\ny = f(x)"),
    "call_module": ("y = m.forward(x)", 3, {}, "y = m(x)"),
    "move_before": ("b.backward()\nx.register_hook(f)", 4, {"to": 3}, "x.register_hook(f)\nb.backward()"),
    "static_methods": (
        "class F(torch.autograd.Function):\n    def forward(self, x):\n        return x\ny = F()(x)",
        4,
        {"name": "F"},
        "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(self, x):\n        return x\ny = "
        "F.apply(x)",
    ),
    "clone_operand": ("x -= x[0]", 3, {}, "x -= x[0].clone()"),
    "deepcopy_instead": ("best = copy.copy(m)", 3, {}, "best = copy.deepcopy(m)"),
    "save_for_backward": (
        "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.y = x.exp()\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return g * ctx.y",
        6,
        {},
        "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        ctx.save_for_backward(x.exp())\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return g * ctx.saved_tensors[0]",
    ),
    "forward_again": ("y = f(x)\nopt.step()", 3, {"to": 4}, "y = f(x)\nopt.step()\ny = f(x)"),
    "apply_function": ("y = F(x)", 3, {"name": "F"}, "y = F.apply(x)"),
    "leaf_of_update": (
        "params = [p - p.grad for p in params]",
        3,
        {},
        "params = [(p - p.grad).detach().requires_grad_() for p in params]",
    ),
    "log_softmax": (
        "p = torch.softmax(z, 0)\ny = torch.log(p)",
        4,
        {},
        "p = torch.softmax(z, 0)\ny = torch.log_softmax(z, 0)",
    ),
    "subtract_max": (
        "y = torch.exp(z) / torch.exp(z).sum()",
        3,
        {},
        "y = torch.exp(z - z.max()) / torch.exp(z - z.max()).sum()",
    ),
    "finite_mask": ("y = x.masked_fill(m, float('-inf'))", 3, {}, "y = x.masked_fill(m, -1e9)"),
    "biased_std": ("y = x.std(dim=1)", 3, {}, "y = x.std(dim=1, correction=0)"),
    "optimizer_of": (
        "opt = torch.optim.SGD(old.parameters(), 0.1)",
        3,
        {"name": "net"},
        "opt = torch.optim.SGD(net.parameters(), 0.1)",
    ),
    "count_gradients": (
        "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, k):\n        return x * k\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return g",
        9,
        {"name": "F"},
        "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, k):\n        return x * k\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return g, None",
    ),
    "layer_size": ("fc = nn.Linear(4 * 2, 3)", 3, {"old": 8, "new": 6}, "fc = nn.Linear(6, 3)"),
    "flatten_input": ("y = fc(x)", 3, {"name": "x"}, "y = fc(x.flatten(1))"),
    "match_target": ("loss = f(out, y)", 3, {}, "loss = f(out, y.view_as(out))"),
    "unsqueeze_operand": ("z = x + y", 3, {"name": "y"}, "z = x + y.unsqueeze(-1)"),
    "transpose_operand": ("z = x @ y", 3, {"name": "y"}, "z = x @ y.mT"),
    "infer_size": ("y = x.view(-1, 10)", 3, {}, "y = x.view(x.size(0), -1)"),
    "pad_sequences": ("y = torch.stack(xs)", 3, {}, "y = torch.nn.utils.rnn.pad_sequence(xs, batch_first=True)"),
    "not_reentrant": (
        "y = checkpoint(f, x, use_reentrant=True)",
        3,
        {},
        "y = checkpoint(f, x, use_reentrant=False)",
    ),
    "create_graph": ("g, = torch.autograd.grad(y, x)", 3, {}, "g, = torch.autograd.grad(y, x, create_graph=True)"),
    "use_probability": ("p = (torch.sigmoid(z) > 0.5).float()", 3, {}, "p = torch.sigmoid(z)"),
    "cross_entropy": (
        "loss = (z.argmax(1) != y).float().mean()",
        3,
        {},
        "loss = torch.nn.functional.cross_entropy(z, y)",
    ),
    "straight_through": ("y = x.round()", 3, {}, "y = (x + (x.round() - x).detach())"),
    "leaky_relu": ("y = torch.relu(x)", 3, {}, "y = torch.nn.functional.leaky_relu(x)"),
    "move_after": ("clip(p)\nloss.backward()", 3, {"to": 4}, "loss.backward()\nclip(p)"),
    "unscale_first": ("clip(p)", 3, {"name": "s", "optimizer": "opt"}, "s.unscale_(opt)\nclip(p)"),
    "scaler_step": ("opt.step()", 3, {"name": "s"}, "s.step(opt); s.update()"),
    "add_step": ("loss.backward()", 3, {"name": "opt"}, "loss.backward()\nopt.step()"),
    "requires_grad_method": ("m.requires_grad = False", 3, {}, "m.requires_grad_(False)"),
    "training_argument": ("y = F.dropout(x, 0.5)", 3, {}, "y = F.dropout(x, 0.5, training=self.training)"),
    "call_it": ("m.eval", 3, {}, "m.eval()"),
    "eval_first": ("y = m(x)", 3, {"name": "m"}, "m.eval()\ny = m(x)"),
    "train_first": ("y = m(x)", 3, {"name": "m"}, "m.train()\ny = m(x)"),
    "optimizer_with": (
        "o = SGD(groups, 1)",
        3,
        {"name": "b", "optimizer": "o"},
        "o = SGD(groups, 1)\no.add_param_group(dict(params=b.parameters()))",
    ),
    "log_of_operand": (
        "p = x.softmax(1)\nl = F.nll_loss(p, t)",
        4,
        {"name": "p"},
        "p = x.log_softmax(1)\nl = F.nll_loss(p, t)",
    ),
    "wider_integer": ("y = a - b", 3, {"name": "a"}, "y = a.int() - b"),
    "keep_result": ("x.clamp(0, 1)", 3, {}, "x.clamp_(0, 1)"),
    "list_of_new": (
        "m = nn.Sequential(*[nn.Linear(2, 2)] * 3)",
        3,
        {},
        "m = nn.Sequential(*[nn.Linear(2, 2) for _ in range(3)])",
    ),
    "copy_of_module": ("best = model", 3, {"of": "model"}, "best = copy.deepcopy(model)"),
    "times_incoming": (
        "def backward(ctx, grad):\n    return 2 * ctx.x",
        4,
        {},
        "def backward(ctx, grad):\n    return grad * (2 * ctx.x)",
    ),
    "softmax_of_classes": ("p = torch.softmax(x, 0)", 3, {}, "p = torch.softmax(x, 1)"),
    "strip_prefix": (
        "m.load_state_dict(d)",
        3,
        {"prefix": "module."},
        "m.load_state_dict({key.removeprefix('module.'): value for key, value in d.items()})",
    ),
    "add_prefix": (
        "m.load_state_dict(d)",
        3,
        {"prefix": "net."},
        "m.load_state_dict({'net.' + key: value for key, value in d.items()})",
    ),
}
"""By kind: the lines of a program after its imports, the hint's line and facts, and what the first fix makes of
them."""


def test_every_kind_has_a_case_and_a_sentence_in_both_languages() -> None:
    assert CASES.keys() == FIXES.keys() and {*HINT_FAMILIES.values()} <= FIXES.keys()
    for language in ("en", "zh"):
        sentences = json.loads((ROOT / f"static/locales/findings.{language}.json").read_text("utf-8"))
        assert [kind for kind in FIXES if f"fix.{kind}" not in sentences] == []


def test_gradients_that_several_backwards_add_up_on_purpose_are_reset_after_the_step() -> None:
    loop = "opt = torch.optim.SGD([w], 0.1)\nfor i in range(4):\n    loss.backward()\n"
    rarer = f"{loop}    if i % 2:\n        opt.step()\n"
    (fix,) = propose(HEAD + rarer, [Hint("zero_grad", 5, {"to": 7})])
    assert fix.source == HEAD + f"{rarer[:-1]}\n        opt.zero_grad()\n"
    each_time = f"{loop}    opt.step()\n"
    (fix,) = propose(HEAD + each_time, [Hint("zero_grad", 5, {"to": 6})])
    assert fix.source == HEAD + each_time.replace("    loss", "    opt.zero_grad()\n    loss")


@pytest.mark.parametrize("kind", CASES)
def test_a_fix_edits_its_line(kind: str) -> None:
    before, line, facts, after = CASES[kind]
    fix = propose(HEAD + before, [Hint(kind, line, facts)])[0]
    assert fix.source == HEAD + after
    lines = (HEAD + before).split("\n")
    assert all(lines[edit.line - 1] == edit.old for edit in fix.edits)
    edits = {edit.line: edit.new for edit in fix.edits}
    kept = [edits.get(k, text) for k, text in enumerate(lines, 1)]
    assert "\n".join(text for text in kept if text is not None) == HEAD + after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = (a - b).detach().exp() * 2", "y = (a - b).exp() * 2"),
        ("y = -torch.tensor((a + b).item())", "y = -(a + b)"),
        ("y = [(a - b).item(), 1]", "y = [a - b, 1]"),
        ("y = torch.from_numpy(np.exp((a * b).detach().cpu().numpy()))", "y = torch.exp(a * b)"),
    ],
)
def test_a_fix_that_keeps_the_history_keeps_parentheses(before: str, after: str) -> None:
    head = f"{HEAD}import numpy as np\n"
    assert propose(head + before, [Hint("keep_history", 4)])[0].source == head + after


@pytest.mark.parametrize("old", ["a", "a\nb", "a\nb\nc\nd", "a\na\na"])
@pytest.mark.parametrize("new", ["a", "b", "b\na", "x\na\ny", "a\nc\nb\nd", "a\na\nb\na\na"])
def test_edits_of_lines_lead_to_the_changed_text(old: str, new: str) -> None:
    edits = {edit.line: edit.new for edit in diff_lines(old.split("\n"), new.split("\n"))}
    lines = [edits.get(k, text) for k, text in enumerate(old.split("\n"), 1)]
    assert "\n".join(text for text in lines if text is not None) == new


@pytest.mark.parametrize("source", ["x = (", "x = 1", "", "if x: y()", "a = 1; a += 2"])
def test_a_program_that_has_no_place_for_an_edit_gets_none(source: str) -> None:
    hints = [Hint(kind, 1, {"name": "no name", "to": 9}) for kind in FIXES]
    assert all(fix.source != source for fix in propose(source, hints))


RAISING = {
    "saved_overwritten": (
        "x = torch.ones(2, requires_grad=True)\ny = x.exp()\ny += 1\ny.sum().backward()\n",
        4,
        "x.grad",
    ),
    "not_scalar": ("x = torch.ones(2, requires_grad=True)\ny = x * 3\ny.backward()\n", 4, "x.grad"),
    "backward_twice": (
        "x = torch.ones(2, requires_grad=True)\ny = (x * x).sum()\ny.backward()\ny.backward()\n",
        5,
        "x.grad",
    ),
    "not_contiguous": ("x = torch.ones(2, 3)\ny = x.t().view(6)\nprint(y)\n", 3, ""),
}


@pytest.fixture(scope="module")
def client(new_database: DatabaseFactory) -> Iterator[TestClient]:
    with visiting(new_database("sqlite"), picture_limit="1000/minute") as client:
        yield client


@pytest.mark.skipif(not (ROOT / "static/dist/exports.js").exists(), reason="the page is not built")
@pytest.mark.parametrize("kind", RAISING)
def test_what_is_offered_runs_and_loses_the_finding(kind: str, client: TestClient) -> None:
    program, line, gradient = RAISING[kind]
    source = "import torch\n" + program
    found = client.post("/api/runs", json={"source": source, "explain": True}).json()["findings"]
    assert (found[0]["kind"], found[0]["line"]) == (kind, line)
    answer = client.post("/api/fixes", json={"source": source, "kind": kind, "line": line})
    fixes = answer.json()["fixes"]
    assert fixes, answer.text
    for fix in fixes:
        edits = {edit["line"]: edit["new"] for edit in fix["edits"]}
        lines = [edits.get(k, text) for k, text in enumerate(source.split("\n"), 1)]
        changed = "\n".join(text for text in lines if text is not None)
        run = client.post("/api/runs", json={"source": changed, "explain": True}).json()
        assert run["outcome"]["status"] == "finished"
        assert kind not in {finding["kind"] for finding in run["findings"]}
        assert fix["outcome"].startswith("Runs.") and gradient in fix["outcome"]


TRAINING = """\
import torch
torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
x, y = torch.randn(8, 2), torch.ones(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(6):
    loss = ((net(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
"""
"""It never steps."""


@pytest.mark.skipif(not (ROOT / "static/dist/exports.js").exists(), reason="the page is not built")
def test_a_training_has_its_loss_before_and_after_a_fix(client: TestClient) -> None:
    found = client.post("/api/runs", json={"source": TRAINING, "explain": True}).json()["findings"]
    finding = next(candidate for candidate in found if candidate["kind"] == "no_step")
    answer = client.post("/api/fixes", json={"source": TRAINING, "kind": "no_step", "line": finding["line"]})
    fixes = [Fix.model_validate(fix) for fix in answer.json()["fixes"]]
    assert fixes, answer.text
    for fix in fixes:
        assert fix.losses is not None and fix.losses.name == "loss"
        before, after = (as_numbers(values) for values in (fix.losses.before, fix.losses.after))
        assert len(before) == len(after) == 6
        assert set(before) == {after[0]} and after == sorted(after, reverse=True) and after[-1] < after[0] / 2


def as_numbers(values: list[Any]) -> list[float]:
    return [float(value) for value in values]


def test_losses_are_compared_only_where_both_runs_have_one_of_that_name() -> None:
    before = [LossSeries(name="loss", values=[3.0, {"$f": "nan"}]), LossSeries(name="error", values=[2.0, 1.0])]
    assert curves_of_same_loss(before, [LossSeries(name="other", values=[1.0, 2.0])]) is None
    assert curves_of_same_loss([], before) is None and curves_of_same_loss(before, []) is None
    both = curves_of_same_loss(before, [LossSeries(name="error", values=[2.0, 0.5])])
    assert both == LossCurves(name="error", before=[2.0, 1.0], after=[2.0, 0.5])


def test_a_loss_is_a_line_in_the_terminal() -> None:
    assert loss_text([1.23456, {"$f": "nan"}]) == "1.23 → nan"
    assert loss_text([float(k) for k in range(101)]) == "0 → 25 → 50 → 75 → 100"


def test_asking_for_a_finding_that_a_program_lacks_is_an_error(client: TestClient) -> None:
    answer = client.post("/api/fixes", json={"source": "x = 1\n", "kind": "not_scalar", "line": 1})
    assert answer.status_code == 404 and answer.json()["error"]["code"] == "no_finding"
