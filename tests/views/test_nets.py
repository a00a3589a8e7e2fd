"""The view of a net, on nets of the kinds that people train: what a step touched is readable, what is folded is few."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.recorder.test_module_calls import assert_equal_calls
from tests.recordings.store import kept_document
from tests.support.explaining import call_page
from tests.support.sampling import in_turn

ROOT = Path(__file__).parents[2]
NETS = sorted((ROOT / "tests/examples/nets").glob("*.py"))
NAMES = [path.stem for path in NETS]
# pixels that the rows have on a page of 1440 by 900, with an axis of rounds, and of 1280 by 720, without it
ROOMS = {"1440x900": (1046, 526), "1280x720": (929, 400)}
MAX_BOXES = 25


def of_program(source: str, room: str = "1440x900") -> dict[str, Any]:
    """What the view shows of each step of a program."""
    return call_page("views/net_view", kept_document(source), *ROOMS[room])  # type: ignore[no-any-return]


@cache
def view(name: str) -> dict[str, Any]:
    """What it shows of one of the nets, in one of the rooms, which have their turns."""
    return view_in(name, [*ROOMS][NAMES.index(name) % len(ROOMS)])


@cache
def view_in(name: str, room: str) -> dict[str, Any]:
    """What it shows of one of the nets."""
    return of_program((ROOT / f"tests/examples/nets/{name}.py").read_text(), room)


def test_there_are_twenty_nets() -> None:
    assert len(NETS) >= 20


@pytest.mark.parametrize(("name", "room"), in_turn(NAMES, [*ROOMS]))
def test_what_a_step_touched_is_readable_without_scrolling(name: str, room: str) -> None:
    steps = view_in(name, room)["steps"]
    readable = [step["readable"] for step in steps if step["readable"] is not None]
    assert len(readable) > 20
    assert sum(readable) >= 0.95 * len(readable)
    assert max(step["height"] for step in steps) <= ROOMS[room][1]


@pytest.mark.parametrize("name", NAMES)
def test_a_net_is_folded_to_few_rows_and_holds_every_node(name: str) -> None:
    facts = view(name)
    assert 3 <= facts["first"] <= MAX_BOXES
    assert max(step["rows"] for step in facts["steps"]) <= MAX_BOXES
    assert facts["placed"] == facts["nodes"] > 10


def test_a_backward_of_a_gpt_takes_few_presses() -> None:
    facts = view("gpt")
    assert 4 <= facts["stops"] <= 15
    assert sum(step["isVisit"] for step in facts["steps"]) > 300


@pytest.mark.exhaustive
def test_calls_of_these_nets_are_those_that_hooks_tell_of() -> None:
    assert_equal_calls([path for path in NETS if path.stem != "checkpointed"])  # its hooks run in backward as well


def test_calls_of_some_of_these_nets_are_those_that_hooks_tell_of() -> None:
    chosen = ["gan", "seq2seq_attention", "functional_only", "maml"]
    assert_equal_calls([ROOT / f"tests/examples/nets/{name}.py" for name in chosen])


def test_a_loop_over_time_is_one_step_of_the_net_view() -> None:
    facts = view("rnn_by_hand")
    assert facts["stops"] == 3, "the loss, the lines after the loop, and all of the loop"
    assert of_program(MANY_CALLS)["stops"] <= 2


OVER_ROWS = """import torch
embed = torch.nn.Linear(3, 2)
cell = torch.nn.Linear(2, 2)
h = torch.zeros(1, 2)
for x in embed(torch.ones(4, 1, 3)):
    h = torch.tanh(cell(h + x))
h.sum().backward()
"""


def test_the_head_of_a_loop_that_makes_nodes_ends_no_repetition_of_its_body() -> None:
    assert call_page("views/repetitions", kept_document(OVER_ROWS)) == [
        {"line": 6, "kind": "statement", "count": 4, "place": 6},
        {"line": 7, "kind": "visit", "count": 4, "place": 6},
    ]


def test_in_a_low_list_what_trains_is_folded_before_the_layers_around_the_step() -> None:
    vit = kept_document((ROOT / "tests/examples/nets/vit.py").read_text())
    names = call_page("views/net_view", vit, 1028, 290)["names"]
    assert names[:4] == ["patch", "x", "x", "layers.0.0"] and names[-3:] == ["head", "loss", "zero_grad"]


def test_a_loop_that_begins_another_round_leaves_the_list_as_it_was() -> None:
    """It does nothing to tensors: what the step before opened stays open, and below it nothing moves."""
    source = (ROOT / "tests/examples/nets/gpt.py").read_text()
    rounds = [
        step
        for step in call_page("views/open_row", kept_document(source))
        if "for " in source.splitlines()[step["line"] - 1]
    ]
    assert rounds and all(step["open"] for step in rounds[1:])


def test_a_cut_is_drawn_where_a_program_detaches() -> None:
    facts = view("gan")
    cuts = [(edge["from"], edge["to"]) for edge in facts["edges"] if edge["cut"]]
    assert cuts == [("3", "0")]
    assert "net_cut" in facts["svgAtEnd"] and "fake.detach()" in facts["svgAtEnd"]


def test_without_a_detach_nothing_is_cut() -> None:
    for name in ("vae", "resnet", "moe"):
        assert not [edge for edge in view(name)["edges"] if edge["cut"]], name


CARRIED = """\
import torch
from torch import nn
unit = nn.RNNCell(3, 4)
climber = torch.optim.Adam(unit.parameters())
memory = torch.zeros(2, 4)
for turn in range(3):
    memory = memory.detach()
    memory = unit(torch.randn(2, 3), memory)
    climber.zero_grad()
    memory.pow(2).mean().backward()
    climber.step()
"""


def test_statements_have_rows_and_no_rails_from_what_they_only_read() -> None:
    facts = of_program(CARRIED)
    assert facts["names"][:2] == ["memory", "unit"] and facts["names"][-1] == "step"
    assert not {"zero_grad", "backward", "step"} & {edge["to"] for edge in facts["edges"]}


def test_layers_in_a_loop_stand_below_each_other_and_times_beside() -> None:
    assert "step()" in view("rnn_by_hand")["names"]
    bert = {edge["to"] for edge in view("bert")["edges"]}
    assert {"query", "key", "value", "pooler"} <= bert


AFTER_A_LOOP = {
    "a loop ended by its head": """\
import torch
from torch import nn
layer = nn.Linear(2, 2)
rate = torch.optim.SGD(layer.parameters(), 0.1)
for turn in range(3):
    rate.zero_grad()
    loss = layer(torch.ones(1, 2)).sum()
    loss.backward()
    rate.step()
with torch.no_grad():
    check = layer(torch.ones(3, 2)).mean()
""",
    "a loop that is left": """\
import torch
from torch import nn
layer = nn.Linear(2, 2)
rate = torch.optim.SGD(layer.parameters(), 0.1)
while True:
    rate.zero_grad()
    loss = layer(torch.ones(1, 2)).sum()
    loss.backward()
    rate.step()
    if loss < 9: break
after = layer(torch.ones(3, 2)).mean()
""",
    "a loop in a loop": """\
import torch
from torch import nn
layer = nn.Linear(2, 2)
rate = torch.optim.SGD(layer.parameters(), 0.1)
for epoch in range(2):
    for batch in torch.ones(2, 1, 2):
        rate.zero_grad()
        layer(batch).sum().backward()
        rate.step()
    told = layer(torch.ones(3, 2)).mean()
last = layer(torch.zeros(3, 2)).mean()
""",
    "an empty loop": """\
import torch
from torch import nn
layer = nn.Linear(2, 2)
for nothing in []:
    layer(nothing)
for turn in range(2):
    y = layer(torch.ones(1, 2))
    y.sum().backward()
y = layer(torch.zeros(1, 2))
""",
}


@pytest.mark.parametrize("kind", AFTER_A_LOOP)
def test_what_comes_after_a_loop_stands_after_its_body(kind: str) -> None:
    lines = of_program(AFTER_A_LOOP[kind])["lines"]
    assert len(lines) > 3
    assert lines == sorted(lines)


MANY_CALLS = """\
import torch
from torch import nn
cell = nn.Linear(3, 3)
h = torch.ones(1, 3)
for t in range(60):
    h = torch.tanh(cell(h))
h.sum().backward()
"""


def test_a_module_called_sixty_times_is_one_row_with_its_count() -> None:
    facts = of_program(MANY_CALLS)
    assert facts["names"].count("cell") == 1
    assert facts["first"] <= 4
    boxes = len(re.findall(r'class="net-call', facts["svg"]))
    left_out = sum(int(n) for n in re.findall(r">\+(\d+)<", facts["svg"]))
    assert boxes and boxes + left_out == 2 * 60


REUSED = """\
import torch
from torch import nn
relu = nn.ReLU()
net = nn.Sequential(nn.Linear(3, 3), relu, nn.Linear(3, 3), relu)
net(torch.ones(1, 3)).sum().backward()
"""


def test_a_module_that_reads_what_it_made_before_has_a_row_for_each_call() -> None:
    facts = of_program(REUSED)
    assert facts["names"][:4] == ["0", "1", "2", "1"]


def deep(blocks: int) -> str:
    """A net of so many blocks, each of its own parameters."""
    return f"""\
import torch
from torch import nn
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(4), nn.Linear(4, 4), nn.Linear(4, 4)
    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range({blocks}))
        self.head = nn.Linear(4, 1)
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)
net = Net()
net(torch.ones(1, 4)).sum().backward()
"""


def test_forty_eight_blocks_fold_to_one_row_that_counts_them() -> None:
    facts = of_program(deep(48))
    assert facts["first"] <= MAX_BOXES
    readable = [step["readable"] for step in facts["steps"] if step["readable"] is not None]
    assert all(readable)
    folded = [int(n) for n in re.findall(r"Block ×(\d+)", facts["svg"])]
    assert folded and sum(folded) > 30
