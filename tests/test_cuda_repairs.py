"""What a program for CUDA becomes where there is only a CPU."""

import pytest

from tests.test_repairs import all_offers, repaired
from tests.tracing import trace

pytestmark = pytest.mark.slow

CUDA = {
    "a method": ("x = torch.ones(2).cuda()\n", "x = torch.ones(2)\n"),
    "a keyword": ("x = torch.ones(2, device='cuda:0')\n", 'x = torch.ones(2, device="cpu")\n'),
    "a device": (
        'device = torch.device("cuda")\nx = torch.ones(2).to(device).cuda(0, non_blocking=True)\n',
        'device = torch.device("cpu")\nx = torch.ones(2).to(device)\n',
    ),
    "to": ("model = torch.nn.Linear(2, 1).to('cuda').cuda()\n", 'model = torch.nn.Linear(2, 1).to("cpu")\n'),
    "an index": ("x = torch.ones(2).to(0)\n", 'x = torch.ones(2).to("cpu")\n'),
    "waiting": ("x = torch.ones(2)\ntorch.cuda.synchronize()\n", "x = torch.ones(2)\n# torch.cuda.synchronize()\n"),
    "a type": ("x = torch.cuda.FloatTensor([1.])\n", "x = torch.FloatTensor([1.])\n"),
    "a text with a number": (
        "k = 0\nx = torch.ones(1, device=f'cuda:{k}')\n",
        'k = 0\nx = torch.ones(1, device="cpu")\n',
    ),
    "a name": ("where = 'cuda'\nx = torch.ones(1).to(where)\n", 'where = "cpu"\nx = torch.ones(1).to(where)\n'),
    "pinned": ("x = torch.ones(1).pin_memory()\n", "x = torch.ones(1)\n"),
    "a word in a text": (
        "print('to cuda', '中')\nx = torch.ones(1).cuda()\n",
        "print('to cuda', '中')\nx = torch.ones(1)\n",
    ),
    "asked first": (
        "d = 'cuda' if torch.cuda.is_available() else 'cpu'\nx = torch.ones(1).to(d).cuda()\n",
        "d = 'cuda' if torch.cuda.is_available() else 'cpu'\nx = torch.ones(1).to(d)\n",
    ),
}


@pytest.mark.parametrize("name", CUDA)
def test_a_program_for_cuda_runs_on_the_cpu(name: str) -> None:
    source, after = CUDA[name]
    recorded = trace("import torch\n" + source)
    assert recorded["outcome"]["status"] == "raised"
    assert repaired(recorded, "cuda") == "import torch\n" + after
    again = trace("import torch\n" + after)
    assert again["outcome"]["status"] == "finished", again["outcome"]


@pytest.mark.parametrize("source", ["raise ValueError('CUDA')", "import torch\ntorch.ones(2) @ torch.ones(3)  # cuda"])
def test_other_errors_offer_nothing(source: str) -> None:
    assert all_offers(trace(source)) == []
