"""What the recorder looks at grows with the run, and not with its square: counted, for graphs and nets of two sizes."""

from collections.abc import Callable

import pytest

from tests.support.recorder_changes import print_count_of_encoded_objects, print_count_of_walked_nodes
from tests.support.tracing import printed, trace

GROWN = "for k in range({n}):\n    x = x * 0.9999\n"
GRAPHS = {
    "a loop": GROWN,
    "a function": "def grow(x):\n    " + GROWN.replace("\n    ", "\n        ") + "    return x\nx = grow(x)\n",
    "a comprehension": "x = [x := x * 0.9999 for _ in range({n})][-1]\n",
    "functions within a function": "import functools\nx = functools.reduce(lambda a, _: a * 0.9999, range({n}), x)\n",
}
"""Programs that make a graph of n nodes, each of which keeps a number."""

NET = """\
import torch
from torch import nn
net = nn.Sequential(*[nn.Linear(2, 2) for _ in range({n})])
{backward}
"""
BACKWARDS = {
    "in its statement": "net(torch.ones(1, 2)).sum().backward()",
    "in another": "loss = net(torch.ones(1, 2)).sum()\nloss.backward()",
}


def count_of(change: Callable[[], None], source: str) -> int:
    return int(printed(trace(source, change)).split()[-1])


@pytest.mark.parametrize("grown", GRAPHS.values(), ids=list(GRAPHS))
def test_a_graph_of_numbers_is_walked_once(grown: str) -> None:
    def walked(n: int) -> int:
        source = f"import torch\nw = torch.ones(2, requires_grad=True)\nx = w\n{grown.format(n=n)}x.sum().backward()\n"
        return count_of(print_count_of_walked_nodes, source)

    assert walked(800) <= 2.2 * walked(400)


@pytest.mark.parametrize("backward", BACKWARDS.values(), ids=list(BACKWARDS))
def test_a_net_is_not_looked_through_at_every_visit(backward: str) -> None:
    def encoded(n: int) -> int:
        return count_of(print_count_of_encoded_objects, NET.format(n=n, backward=backward))

    assert encoded(80) <= 2.2 * encoded(40)
