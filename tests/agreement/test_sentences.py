"""Every sentence that is said at a step is held against plain CPython; `make sentences` asks more programs."""

import copy
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.recordings.store import kept_trace
from tests.referee.sentences.__main__ import Account
from tests.referee.sentences.plain_check import UNWRITTEN
from tests.referee.sentences.said import claim_table, judge_programs, parts_of, record, sentences_of, verdicts
from tests.support.tracing import ROOT

FINDINGS = [
    path
    for folder in ("findings", "silent")
    for path in sorted((ROOT / "tests/examples" / folder).glob("*.py"))
    if zlib.crc32(path.stem.encode()) % 16 == 0  # another program shifts no other
]

SAMPLE = [
    *sorted((ROOT / "tests/examples/programs").glob("*.py"))[::10],
    *sorted((ROOT / "tests/golden").glob("*.py"))[::8],
    *sorted((ROOT / "tests/examples/verdicts").glob("*.py"))[::4],
]

PROGRAM = """\
import torch
a = torch.tensor([1., 2., 3.], requires_grad=True)
b = a * 2
c = b.detach()
d = torch.zeros(3)
e = c.view(3, 1)
c[0] = 7
items = [a, d]
first = items[0]
b.sum().backward()
n = 5
opt = torch.optim.SGD([a], lr=0.1)
opt.step()
b = b * 2
"""


def account_of(programs: list[Path]) -> Account:
    account = Account()
    record(programs)
    for sentences in judge_programs(programs):
        account.add(sentences)
    return account


def test_no_sentence_of_a_finding_is_false() -> None:
    account = account_of(FINDINGS)
    assert account.false == []
    assert account.share_with_claim() >= 0.95, account.report()
    # explanations and what stands beside a tick are among them
    said = Counter({key: count for (key, _), count in account.keys.items() if key.startswith("finding.")})
    assert said.total() > 100
    assert sum(count for key, count in said.items() if claim_table().of(key)) >= 0.9 * said.total()


def test_no_sentence_of_a_sample_is_false() -> None:
    account = account_of(SAMPLE)
    assert account.false == []
    assert account.said["true"] > 0.85 * account.said.total(), account.report()
    assert account.share_with_claim() >= 0.95, account.report()
    assert [key for key in account.without if not claim_table().reason(key)] == [], account.report()


def test_every_key_of_a_caption_has_a_claim_or_a_reason() -> None:
    table = claim_table()
    known = {*table.claims, *table.without, *table.phrases}
    texts = [path.read_text() for path in (ROOT / "static/js/captions").glob("note*.ts")]
    said = {key for text in texts for key in re.findall(r"key: \"(\w+)\"", text)}
    said |= set(re.findall(r"sentence: \"(\w+)\"", (ROOT / "static/js/trace/registry.ts").read_text()))
    assert said - known == set()


def test_every_key_of_a_finding_has_a_claim_or_a_reason() -> None:
    words = json.loads((ROOT / "static/locales/findings.en.json").read_text())
    said = {f"finding.chain.{key[14:]}": text for key, text in words.items() if key.startswith("finding.chain.")}
    for path in (ROOT / "static/locales/findings").glob("*.json"):
        for key, text in json.loads(path.read_text())["en"].items():
            if key.rpartition(".")[2] in ("what", "why") or ".chain." in f".{key}":
                said[f"finding.{path.stem}.{key}"] = text
    table = claim_table()
    stated = [key for key, text in said.items() if "{" in text]
    assert [key for key in stated if table.of(key) is None and not table.reason(key)] == []
    assert sum(table.of(key) is not None for key in stated) >= 0.9 * len(stated)


@pytest.fixture(scope="module")
def trace() -> dict[str, Any]:
    return kept_trace(PROGRAM)


def test_all_that_is_said_of_a_program_is_true(trace: dict[str, Any]) -> None:
    sentences = sentences_of(trace)
    sentences = [each for each in sentences if not claim_table().reason(each["key"])]
    judged = list(zip(sentences, verdicts(trace, sentences), strict=True))
    # what has no name can't be found in another run
    nameless = [each for each, verdict in judged if verdict[0] == "unchecked" and each["args"].get("names") == []]
    assert [each["text"] for each in nameless] == [": [7]"]
    assert [(each["text"], verdict) for each, verdict in judged if each not in nameless] == [
        (each["text"], ("true", "")) for each in sentences if each not in nameless
    ]


TRUE: dict[str, tuple[str, str, str]] = {
    "a node of a Function whose forward is recorded": (
        """\
import torch
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * 2
        return y
    @staticmethod
    def backward(ctx, grad):
        return grad * 2
x = torch.ones(2, requires_grad=True)
y = Double.apply(x)
""",
        "tooltip.node_applied_now",
        "The call that made it ends at this step.",
    ),
    "an optimizer of the program's that gives its parameters other memory": (
        """\
import torch
class Descent(torch.optim.Optimizer):
    def __init__(self, parameters, lr):
        super().__init__(parameters, {"lr": lr})
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.data = p.data - group["lr"] * p.grad
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = Descent(net.parameters(), 0.1)
net(torch.ones(2, 4)).sum().backward()
opt.step()
""",
        "stepped_all",
        "opt.step() moved all 4 parameters.",
    ),
    "a layer that is repeated beside another": (
        """\
import torch
from torch import nn
net = nn.Sequential(*[nn.Linear(2, 2)] * 3, nn.Linear(2, 1))
net(torch.ones(1, 2)).sum().backward()
""",
        "finding.layer_repeated.why",
        "The places share 2 parameters, and their gradients add up. `0`, `1`, `2` are one module.",
    ),
    "a net that is loaded after another was trained": (
        """\
import torch
from torch import nn
torch.manual_seed(0)
def made():
    first, inner, last = nn.Linear(2, 300), nn.Linear(300, 300), nn.Linear(300, 1)
    return nn.Sequential(first, nn.Tanh(), inner, nn.Tanh(), last, nn.Tanh())
net = made()
opt = torch.optim.SGD(net.parameters(), lr=0.5)
for _ in range(3):
    opt.zero_grad()
    net(torch.ones(3, 2)).sum().backward()
    opt.step()
other = made()
other.load_state_dict(net.state_dict())
with torch.no_grad():
    other(torch.ones(3, 2))
""",
        "cell.end",
        "other: end 19.3",
    ),
    "a rate that is zero in the rounds that are recorded": (
        """\
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.LambdaLR(opt, lambda k: float(k in (137, 283)))
for _ in range(400):
    opt.zero_grad()
    net(torch.ones(3, 2)).pow(2).mean().backward()
    opt.step()
    schedule.step()
""",
        "whole_all_learn",
        "all 8 parameters learn.",
    ),
    "batches that workers load ahead": (
        """\
import torch
from torch.utils.data import DataLoader, Dataset
class Squares(Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, i):
        return torch.tensor([float(i)])
for x in DataLoader(Squares(), batch_size=2, shuffle=True, num_workers=2):
    print(x)
""",
        "bound_module",
        "torch is a module.",
    ),
    "objects of a set, in the order of their addresses": (
        """\
class Value:
    def __init__(self, parts=()):
        self.parts = set(parts)
values = [Value() for _ in range(9)]
total = Value(values)
first = values[0]
for each in total.parts:
    print(each is first)
""",
        "same_object",
        "first is another name for the Value values[0].",
    ),
    "a round in which one of two optimizers steps twice": (
        """\
import torch
torch.manual_seed(0)
made, judge = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
first, second = torch.optim.SGD(made.parameters(), lr=0.1), torch.optim.SGD(judge.parameters(), lr=0.1)
for _ in range(1):
    loss = judge(made(torch.ones(3, 2))).exp().mean()
    loss.backward()
    second.step()
    first.step()
    first.zero_grad()
    second.zero_grad()
    other = -judge(made(torch.ones(3, 2))).exp().mean()
    other.backward()
    first.step()
""",
        "whole_rounds_one",
        "One round, loss 0.562.",
    ),
    "a program with Chinese names": (
        """\
import torch
w = torch.ones(2, requires_grad=True)
中间 = w * 2
z = 中间.sum()
z.backward()
print(中间.grad)
""",
        "finding.grad_none.not_leaf.what",
        "`中间.grad` is None: only leaves store a gradient, and `中间` is the result of mul on line 3.",
    ),
    "parameters that learn in iterations that are not recorded": (
        """\
import torch
torch.manual_seed(0)
nets = []
for k in range(10):
    net = torch.nn.Sequential(torch.nn.Linear(1, 6), torch.nn.Tanh(), torch.nn.Linear(6, 1))
    nets.append(net)
    opt = torch.optim.Adam(net.parameters(), lr=0.1)
    for t in range(8):
        loss = net(torch.ones(4, 1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
print(nets[0])
""",
        "whole_some_seen",
        "36 of 40 parameters are seen to learn.",
    ),
    "an array that unrecorded iterations bound": (
        """\
import numpy as np
import torch
w = torch.ones(2, requires_grad=True)
for k in range(400):
    state = np.ones(2, dtype=np.float32) + k
    last = state
    if k % 200 == 0:
        (w * torch.from_numpy(state)).sum().backward()
""",
        "same_array",
        "state is another name for the array last.",
    ),
    "a gradient that arrives while a method of the net runs": (
        """\
import torch
from torch import nn
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(4))
        self.opt = torch.optim.SGD(self.parameters(), lr=0.1)
    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x
    def train_net(self, x):
        for _ in range(3):
            self.opt.zero_grad()
            loss = self(x).pow(2).mean()
            loss.backward()
            self.opt.step()
def main():
    policy = Policy()
    policy.train_net(torch.ones(2, 4))
main()
""",
        "net_headline_arrived",
        "`self.layers.3.bias.grad` has received a gradient of norm 0.28.",
    ),
    "what a deque drops when it takes one more": (
        """\
import collections
import torch
buffer = collections.deque(maxlen=2)
class Memory:
    def put(self, item):
        buffer.append(item)
memory = Memory()
for k in range(4):
    memory.put([torch.ones(2), k])
""",
        "refilled",
        "The contents of buffer change.",
    ),
    "two functions that have a variable of one name": (
        """\
import torch
def scale(y):
    y *= 2
    return y
def run(x):
    y = x + 1
    z = scale(y)
    print(y, z)
run(torch.ones(3))
""",
        "finding.shared_memory.same_tensor.what",
        "Line 3 (`y *= 2`) changed `y` in `run()` too: `y` and `y` in `run()` have been two names of one tensor since "
        "line 7.",
    ),
    "a product inside of a transform whose sizes do not fit": (
        """\
import torch
def score(x):
    w = torch.ones(3, 3)
    return x @ w
torch.vmap(score)(torch.ones(4, 2))
""",
        "finding.unexplained_error.chain.made",
        "`w`: shape (3, 3)",
    ),
    "a program that names its file": (
        """\
import os
name = os.path.basename(__file__)
""",
        "bound",
        "name is '<program>'.",
    ),
    "a large layer that learns": (
        """\
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 1024), nn.Tanh(), nn.Linear(1024, 1024), nn.Tanh(), nn.Linear(1024, 1), nn.Tanh())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    net(torch.ones(3, 2)).mean().backward()
    opt.step()
""",
        "cell.learns",
        "net.2: 2 of 2 learn",
    ),
    "memory of an array, which stays": (
        """\
import numpy as np
import torch
state = np.ones(4, dtype=np.float32)
def act(state):
    x = torch.from_numpy(state)
    y = torch.exp(x)
    return y.tolist()
act(state)
act(state)
""",
        "freed",
        "One piece of memory is given back.",
    ),
    "memory that a function and its caller read": (
        """\
import torch
def halve(x):
    y = x.view(2, 2)
    return y / 2
x = torch.ones(8)
z = halve(x[:4])
""",
        "tooltip.memory_read",
        "x of the module, x, y read it.",
    ),
    "nodes that a backward runs are no steps of a loop": (
        """\
import torch
x = torch.ones(2, requires_grad=True)
y = x
for _ in range(400):
    y = (y * 1.01).exp().sqrt().log()
y.sum().backward()
""",
        "skipped_nodes",
        "Before this, 2 nodes ran without being recorded.",
    ),
    "a name of a function that has ended": (
        """\
import torch
x = torch.ones(1, requires_grad=True)
w = torch.ones(1, requires_grad=True)
def scaled(grad):
    return -w * grad
for _ in range(2):
    loss = (x ** 2).sum()
    loss.backward(retain_graph=True)
    x = x + scaled(x.grad)
    x.retain_grad()
""",
        "finding.saved_overwritten.chain.written",
        "`loss.backward(retain_graph=True)` writes what `x.grad` meant before",
    ),
    "what an optimizer moves while it calls its closure": (
        """\
import torch
torch.manual_seed(0)
image = torch.rand(3, requires_grad=True)
opt = torch.optim.LBFGS([image], max_iter=2)
def closure():
    opt.zero_grad()
    loss = (image - 1).pow(2).sum()
    loss.backward()
    return loss
opt.step(closure)
""",
        "stepped_one",
        "opt.step() moved image from [.496257, .768222, .088477] to [.802103, .908945, .641907].",
    ),
    "a parameter that only an optimizer still has": (
        """\
import torch
from torch import nn
torch.manual_seed(0)
others = [torch.ones(1) for _ in range(12)]
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(2, 3), nn.Linear(3, 5, bias=False)
    def forward(self, x):
        return self.head(torch.relu(self.body(x)))
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net.head = nn.Linear(3, 2, bias=False)
net(torch.ones(4, 2)).pow(2).mean().backward()
opt.step()
""",
        "whole_problem_never_learns_other",
        "`opt.param_groups[0]['params'][2]` never learns; `net.body` does.",
    ),
    "the rate that a scheduler skips": (
        """\
import torch
w = torch.ones(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=1.0)
schedule = torch.optim.lr_scheduler.StepLR(opt, 1)
for _ in range(3):
    schedule.step()
    opt.zero_grad()
    w.pow(2).sum().backward()
    opt.step()
""",
        "finding.scheduler_first.chain.made",
        "`opt` is made: `lr` is 1 before the first round",
    ),
    "data of a gradient that is written": (
        """\
import torch
x = torch.ones(2, requires_grad=True)
x.sum().backward()
g = x.grad
x.grad.data += 1
print(g)
""",
        "finding.shared_memory.detached.what",
        "Line 5 (`x.grad.data += 1`) changed `g` too: `x.grad` and `g` have shared the same memory since line 3.",
    ),
    "zeros on one of several ways": (
        """\
import torch
from torch import nn
torch.manual_seed(0)
first, last = nn.Linear(2, 2), nn.Linear(2, 1)
with torch.no_grad():
    first.bias.fill_(-100.0)
last(torch.relu(first(torch.ones(3, 2)))).pow(2).mean().backward()
print(first.weight.grad, last.weight.grad)
""",
        "finding.zero_gradient.chain.cut",
        "addmm passes on only zeros towards `last.weight`",
    ),
    "nodes of iterations that were not recorded": (
        """\
import torch
from torch import nn
torch.manual_seed(0)
net, total = nn.Linear(2, 2), 0
for x in torch.randn(400, 2, 2):
    total = total + net(x).tanh().sum()
total.backward()
""",
        "net_headline_visit_loop",
        "Backward is at `tanh` in the loop of line 5: it sends one gradient on.",
    ),
    "calls in a loop of a module that is not recorded whole": (
        """\
import torch
from torch import nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(2, 1)
    def forward(self, x):
        total = 0
        for k in range(40):
            total = total + self.out(x[k])
        return total
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    opt.zero_grad()
    net(torch.randn(40, 2)).sum().backward()
    opt.step()
""",
        "whole_called",
        "`net` 4 times",
    ),
    "what an iterator has held since its loop began": (
        """\
import torch
net = torch.nn.Linear(2, 1)
for name, value in net.state_dict().items():
    print(name)
""",
        "named",
        "value is the name of a tensor of one number that had none.",
    ),
    "real numbers of complex memory": (
        "import torch\nx = torch.tensor([1 + 2j, 3 - 1j])\ny = torch.view_as_real(x)\ny.mul_(2)\n",
        "written_value_shared",
        "y is now [2, 4, 6, −2]. x reads the same memory, so it has changed too.",
    ),
    "what a name of the module meant that a function shadows": (
        """\
import torch
from torch import nn
def rmse(pred):
    pred = pred.detach().numpy()
    return (pred ** 2).mean()
model = nn.Linear(2, 1)
pred = model(torch.ones(3, 2))
loss = torch.tensor(rmse(pred))
loss.backward()
""",
        "finding.no_graph.numpy.what",
        "No graph leads from `loss` back to a parameter: line 4 went through NumPy, which keeps no history of what "
        "`pred` meant before.",
    ),
    "nodes that run within the backward of a hook": (
        """\
import torch
a, b, c = (torch.ones(2, requires_grad=True) for _ in range(3))
inner = torch.ones(2, requires_grad=True)
again = inner.exp().sin()
z = (a * 2).exp() + b
z.register_hook(lambda grad: torch.autograd.grad(again, inner, grad, retain_graph=True)[0])
(z * c).sum().backward()
""",
        "backward_reached",
        "Backward is done. It brought gradients to c.grad, b.grad and a.grad.",
    ),
    "what a call is given is not what its statement names": (
        """\
import torch
from torch import nn
torch.manual_seed(0)
others = [torch.ones(1) for _ in range(12)]
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)
    def forward(self, x):
        y = self.layer(x)
        return y.relu()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
    def forward(self, x):
        x = self.block(torch.cat((x, x), dim=1))
        return x
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    net(torch.ones(3, 2)).sum().backward()
    opt.step()
""",
        "net_headline_line_keeps",
        "`net.block` made `return`: 3×2, and 24 B are kept for backward.",
    ),
    "a name in a function that is called": (
        """\
import torch
a = torch.zeros(3)
b = torch.ones(3)
def double(a):
    return a.mul_(2).sum()
total = double(b)
print(b)
""",
        "finding.shared_memory.passed.chain.shares",
        "`b` is `a` in `double()`",
    ),
    "memory of a tensor that lives no more": (
        """\
import torch
def tripled(x):
    y = x * 3
    return y.view(3)
x = torch.ones(3, requires_grad=True)
kept = tripled(x).detach()
""",
        "new",
        "kept is a new tensor of 3 numbers, in memory of its own.",
    ),
    "a kept view of a result": (
        """\
import torch
w = torch.ones(2, 3, 3, requires_grad=True)
x = torch.ones(2, 3, 3)
x.requires_grad_()
y = (w + 1) @ x
""",
        "saved",
        "Bmm keeps the result of Add and x for backward.",
    ),
    "gradients of a module without a name": (
        "import torch\ntorch.nn.Linear(3, 1)(torch.ones(2, 3)).sum().backward()\n",
        "backward_reached_count",
        "Backward is done. It brought gradients to 2 tensors.",
    ),
    "an address, which another run has otherwise": (
        "import torch\nx = torch.ones(1, requires_grad=True)\nprint(x.exp().grad_fn)\n",
        "bound_module",
        "torch is a module.",
    ),
    "the gradient of a name that means another tensor later": (
        """\
import torch
a = torch.ones(3, requires_grad=True)
out = a.sigmoid()
out.data.zero_()
out.sum().backward()
a = torch.ones(2)
""",
        "finding.wrong_gradient.leaf_values.what",
        "Line 4 changed `out` unnoticed (`out.data.zero_()`): sigmoid on line 3 had saved it for backward. So `a.grad` "
        "is [0, 0, 0]; with the saved numbers it would be [.1966119, .1966119, .1966119].",
    ),
}


@pytest.mark.parametrize(("program", "key", "text"), TRUE.values(), ids=TRUE)
def test_what_was_false_of_a_program_is_true(program: str, key: str, text: str) -> None:
    trace = kept_trace(program)
    sentences = sentences_of(trace)
    assert [each for each in zip(sentences, verdicts(trace, sentences), strict=True) if each[1][0] == "false"] == []
    assert text in [each["text"] for each in sentences if each["key"] == key]


def test_statements_with_chinese_names_are_aligned() -> None:
    trace = kept_trace(TRUE["a program with Chinese names"][0])
    assert "the order was lost" not in [detail for _, detail in verdicts(trace, sentences_of(trace))]


@pytest.mark.parametrize(
    ("code", "is_unwritten"),
    [
        ("torch.Tensor(5, 3)", True),
        ("torch.FloatTensor(n, m)", True),
        ("x.new(3)", True),
        ("torch.Tensor(rows)", False),
    ],
)
def test_what_nobody_has_written_is_not_compared(code: str, is_unwritten: bool) -> None:
    assert bool(UNWRITTEN.search(code)) == is_unwritten


def test_that_code_stands_somewhere_is_no_claim_of_a_sentence_without_code() -> None:
    sentence = {"key": "finding.same_module.list.what", "moments": {"cause": 3}, "step": 3, "hasCode": False}
    assert [part["claims"] for part in parts_of(sentence)] == [None]
    assert [part["claims"] for part in parts_of({**sentence, "hasCode": True})] == [["stands(code, line)"]]


def name(sentence: dict[str, Any], argument: str, **fields: str) -> None:
    sentence["args"][argument] = {**sentence["args"][argument], **fields}


FINDING_PROGRAM = """\
import torch
from torch import nn
torch.manual_seed(0)
net, other = nn.Linear(2, 3), nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    loss = other(net(torch.ones(4, 2))).pow(2).mean()
    loss.backward()
    opt.step()
w = torch.ones(2, requires_grad=True)
held = w.exp()
held.add_(1)
held.sum().backward()
"""


FALSE_FINDINGS: list[tuple[str, str, Callable[[dict[str, Any]], None]]] = [
    (
        "a parameter that the optimizer holds",
        "not_in_optimizer.what",
        lambda said: said["args"].update(x={"name": "net.weight"}),
    ),
    ("another count of parameters", "not_in_optimizer.what", lambda said: said["args"].update(n=3)),
    ("a gradient that is None", "not_in_optimizer.what", lambda said: said["args"].update(grad={"name": "held.grad"})),
    ("what moves", "not_in_optimizer.chain.none", lambda said: said["args"].update(x={"name": "net.bias"})),
    ("code of another line", "not_in_optimizer.chain.made", lambda said: said["args"].update(line=6)),
    ("code of the next line", "not_in_optimizer.chain.made", lambda said: said["args"].update(line=4)),
    ("a tensor that was not written", "saved_overwritten.what", lambda said: said["args"].update(y={"name": "w"})),
    ("another version", "saved_overwritten.chain.checked", lambda said: said["args"].update(version=2)),
    ("a tensor that no node keeps", "saved_overwritten.chain.saved", lambda said: said["args"].update(x={"name": "w"})),
]


@pytest.mark.parametrize(
    ("key", "falsify"), [(key, change) for _, key, change in FALSE_FINDINGS], ids=[w for w, _, _ in FALSE_FINDINGS]
)
def test_a_false_sentence_of_a_finding_is_found(key: str, falsify: Callable[[dict[str, Any]], None]) -> None:
    trace = kept_trace(FINDING_PROGRAM)
    sentences = [each for each in sentences_of(trace) if each["key"] == f"finding.{key}"]
    assert [verdict for verdict, _ in verdicts(trace, sentences)] == ["true"] * len(sentences)
    changed = copy.deepcopy(sentences[0])
    falsify(changed)
    assert verdicts(trace, [changed])[0][0] == "false"


FALSIFIED: list[tuple[str, str, Callable[[dict[str, Any]], None]]] = [
    ("another name of the program", "shares_shape", lambda said: name(said, "other", name="d")),
    ("a name of nothing", "shares_shape", lambda said: name(said, "other", name="gone")),
    ("another entity under the name", "shares", lambda said: name(said, "other", name="d", of="t5")),
    ("another name of an object", "same", lambda said: name(said, "other", name="b", of="t2")),
    ("another shape", "shares_shape", lambda said: said["args"].update(shape="1 × 3")),
    ("another number", "written_one_many", lambda said: said["args"].update(value="8")),
    ("another reader", "written_one_many", lambda said: said["args"]["others"].append({"name": "d", "of": "t5"})),
    ("another size", "new", lambda said: said["args"].update(size={"key": "size_row", "args": {"n": 4}})),
    ("another count of items", "new_container", lambda said: said["args"].update(n=3)),
    ("another value", "bound", lambda said: said["args"].update(value="6")),
    ("another count of gradients", "backward_reached", lambda said: said["args"].update(n=2)),
    ("another leaf", "grad_first", lambda said: said["args"].update(grad={"name": "d.grad"})),
    ("another gradient", "grad_first", lambda said: said["args"].update(value="[2, 2, 3]")),
    ("another target", "visit", lambda said: said["args"].update(targets=[{"name": "d", "of": "t5"}])),
    ("another count of parameters", "stepped_one", lambda said: name(said, "name", name="d", of="t5")),
    ("numbers of before", "stepped_one", lambda said: said["args"].update(before="[1, 2, 4]")),
]


@pytest.mark.parametrize(
    ("key", "falsify"), [(key, change) for _, key, change in FALSIFIED], ids=[w for w, _, _ in FALSIFIED]
)
def test_a_false_sentence_is_found(trace: dict[str, Any], key: str, falsify: Callable[[dict[str, Any]], None]) -> None:
    sentences = sentences_of(trace)
    at = next(at for at, each in enumerate(sentences) if each["key"] == key)
    sentences[at] = copy.deepcopy(sentences[at])
    falsify(sentences[at])
    assert verdicts(trace, sentences)[at][0] == "false"


NET_PROGRAM = """\
import torch
from torch import nn
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.idle = nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 1)
    def forward(self, x):
        h = torch.relu(self.first(x))
        h = h * 2 + 1
        return self.second(h)
model = nn.Sequential(Block(), nn.Tanh(), nn.Linear(4, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(torch.ones(5, 3)).pow(2).sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""

FALSE_HEADLINES: list[tuple[str, dict[str, Any]]] = [
    ("net_headline_visit", {"module": "0.first"}),
    ("net_headline_visit", {"operation": "sigmoid"}),
    ("net_headline_visit", {"n": 7}),
    ("net_headline_arrived", {"name": "model[0].idle.bias.grad"}),
    ("net_headline_arrived", {"norm": "123"}),
    ("net_headline_module_keeps", {"shape": "7×4"}),
    ("net_headline_visit_line", {"line": 6}),
    ("net_headline_line", {"shape": "7×4"}),
    ("whole_rounds_loss", {"n": 4}),
    ("whole_rounds_loss", {"last": "7.77"}),
    ("whole_called", {"n": 5}),
    ("cell.called", {"value": 9}),
    ("cell.learns", {"value": 1}),
    ("cell.start", {"value": "77.7"}),
    ("cell.end", {"value": "77.7"}),
    ("cell.gradient", {"value": "77.7"}),
]


def test_what_stands_above_a_net_is_true() -> None:
    trace = kept_trace(NET_PROGRAM)
    sentences = [each for each in sentences_of(trace) if re.match(r"net_|whole_|cell\.", each["key"])]
    found = verdicts(trace, sentences)
    assert [(said["text"], why) for said, why in zip(sentences, found, strict=True) if why[0] == "false"] == []
    is_true = {said["key"] for said, (verdict, _) in zip(sentences, found, strict=True) if verdict == "true"}
    assert {key for key, _ in FALSE_HEADLINES} <= is_true


@pytest.mark.parametrize(
    ("key", "wrong"), FALSE_HEADLINES, ids=[f"{key} {next(iter(wrong))}" for key, wrong in FALSE_HEADLINES]
)
def test_a_false_headline_is_found(key: str, wrong: dict[str, Any]) -> None:
    trace = kept_trace(NET_PROGRAM)
    said = next(each for each in sentences_of(trace) if each["key"] == key)
    assert verdicts(trace, [{**said, "args": {**said["args"], **wrong}}])[0][0] == "false"


VERDICT_PROGRAM = """\
import torch
w = torch.ones(2, requires_grad=True)
seen = torch.ones(2, requires_grad=True)
y = w * 2
held = y.detach()
loss = (held * seen).sum()
loss.backward()
print(w.grad)
"""

FALSE_ROWS: list[tuple[str, dict[str, Any]]] = [
    ("tensor", {"cells": [2, 3]}),
    ("tensor", {"shape": [3]}),
    ("tensor", {"names": [{"name": "w"}]}),
    ("none", {"x": {"name": "seen"}}),
]


@pytest.mark.parametrize(
    ("kind", "wrong"), FALSE_ROWS, ids=[f"{kind} {next(iter(wrong))}" for kind, wrong in FALSE_ROWS]
)
def test_a_false_row_of_the_verdict_is_found(kind: str, wrong: dict[str, Any]) -> None:
    trace = kept_trace(VERDICT_PROGRAM)
    rows = [each for each in sentences_of(trace) if each["key"].startswith("verdict.row.")]
    said = next(each for each in rows if each["key"] == f"verdict.row.{kind}")
    assert "false" not in [verdict for verdict, _ in verdicts(trace, rows)]
    assert verdicts(trace, [said]) == [("true", "")]
    assert verdicts(trace, [{**said, "args": {**said["args"], **wrong}}])[0][0] == "false"


def test_every_headline_of_a_net_has_a_claim_or_a_reason() -> None:
    words = json.loads((ROOT / "static/locales/net.en.json").read_text())
    headline = (ROOT / "static/js/nets/whole_run/run_headline.ts").read_text()
    said = {key for key in words if key.startswith("net_headline_")}
    said |= {key for key in words if re.match("whole_(rounds|problem|recorded)", key)}
    said |= set(re.findall(r"\"(whole_(?:all|some|none|called|stopped)\w*)\"", headline))
    table = claim_table()
    assert [key for key in said if table.of(key) is None and not table.reason(key)] == []


@pytest.mark.parametrize(("code", "verdict"), [("net.weight", "true"), ("gone", "false"), ("net.gone", "false")])
def test_a_name_that_a_finding_quotes_leads_somewhere(code: str, verdict: str) -> None:
    x = {"name": code}
    said = {"step": 0, "key": "name.bare.kind", "args": {"x": x}, "text": "", "moments": {"end": 4, "own": 0}}
    assert verdicts(kept_trace(FINDING_PROGRAM), [said])[0][0] == verdict


SOUND_PROGRAM = """\
import torch
x = torch.ones(3)
w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(3):
    loss = (w * x).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
view = w.detach()
n = 4
"""

FALSE_OF_A_SOUND_RUN: list[tuple[str, dict[str, Any]]] = [
    ("finding.looked_for.line", {"rounds": 9}),
    ("finding.looked_for.cut", {"n": 2}),
    ("finding.looked_for.numbers", {"arrived": 9}),
    ("finding.looked_for.optimizers", {"held": 2}),
    ("tooltip.tensor", {"size": {"key": "size_row", "args": {"n": 4}}}),
    ("tooltip.value_is", {"value": "5"}),
    ("tooltip.made_by", {"node": "Exp"}),
    ("tooltip.wants_gradient", {"x": {"name": "x"}}),
    ("tooltip.not_followed", {"x": {"name": "w"}, "step": 20}),
    ("tooltip.shares", {"names": [{"name": "x"}]}),
    ("tooltip.memory_size", {"nbytes": 16}),
    ("tooltip.memory_read", {"names": [{"name": "x in gone()"}]}),
    ("tooltip.node_to", {"targets": [{"name": "Exp"}]}),
    ("tooltip.none_before", {"x": {"name": "opt.param_groups[0]['params'][0]"}, "step": 20}),
]


def test_what_is_said_of_a_sound_run_is_true() -> None:
    trace = kept_trace(SOUND_PROGRAM)
    sentences = [each for each in sentences_of(trace) if re.match(r"finding\.looked_for|tooltip", each["key"])]
    found = verdicts(trace, sentences)
    assert [(said["text"], why) for said, why in zip(sentences, found, strict=True) if why[0] == "false"] == []
    is_true = {said["key"] for said, (verdict, _) in zip(sentences, found, strict=True) if verdict == "true"}
    assert {key for key, _ in FALSE_OF_A_SOUND_RUN} <= is_true


@pytest.mark.parametrize(("key", "wrong"), FALSE_OF_A_SOUND_RUN, ids=[key for key, _ in FALSE_OF_A_SOUND_RUN])
def test_what_is_false_of_a_sound_run_is_found(key: str, wrong: dict[str, Any]) -> None:
    trace = kept_trace(SOUND_PROGRAM)
    said = next(each for each in sentences_of(trace) if each["key"] == key)
    wrong = dict(wrong)
    step = wrong.pop("step", said["step"])
    assert verdicts(trace, [{**said, "step": step, "args": {**said["args"], **wrong}}])[0][0] == "false"


def test_every_sentence_beside_the_tick_and_of_a_tooltip_has_a_claim_or_a_reason() -> None:
    words = json.loads((ROOT / "static/locales/findings.en.json").read_text())
    source = (ROOT / "static/js/findings/looked_for.ts").read_text()
    said = {f"finding.looked_for.{key}" for key in re.findall(r"(?:name|remark|line)(?:: |\()\"(\w+)\"", source)}
    table = claim_table()
    assert said <= set(words)
    assert [key for key in said if table.of(key) is None and not table.reason(key)] == []
