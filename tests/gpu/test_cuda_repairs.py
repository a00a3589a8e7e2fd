"""What a program for CUDA becomes where there is only a CPU: at its end it has the facts that a GPU gives.

Those are written down in `tests/gpu/gpu_repair_cases.py`; where there is a GPU, it is asked.
"""

from pathlib import Path

import pytest
import torch

from gradbox.language.edits import apply_edits
from gradbox.language.paste import normalise_pasted_text
from gradbox.language.repairs import cpu_repairs
from tests.forks.plain_python import call_in_plain
from tests.gpu.gpu_repair_cases import CASES, clean, expected, facts, whole
from tests.language.test_repairs import all_offers, repaired
from tests.support.tracing import trace

pytestmark = pytest.mark.slow

CUDA = {
    "a method": ("x = torch.ones(2).cuda()\n", 'x = torch.ones(2).to("cpu", copy=True)\n'),
    "a keyword": ("x = torch.ones(2, device='cuda:0')\n", 'x = torch.ones(2, device="cpu")\n'),
    "a device": (
        'device = torch.device("cuda")\nx = torch.ones(2).to(device).cuda(0, non_blocking=True)\n',
        'device = torch.device("cpu")\nx = torch.ones(2).to(device, copy=True)\n',
    ),
    "to": (
        "model = torch.nn.Linear(2, 1).to('cuda').cuda()\n",
        'model = torch.nn.Linear(2, 1).to("cpu")._apply(torch.clone)\n',
    ),
    "an index": ("x = torch.ones(2).to(0)\n", 'x = torch.ones(2).to("cpu", copy=True)\n'),
    "waiting": ("x = torch.ones(2)\ntorch.cuda.synchronize()\n", "x = torch.ones(2)\n# torch.cuda.synchronize()\n"),
    "a type": ("x = torch.cuda.FloatTensor([1.])\n", "x = torch.FloatTensor([1.])\n"),
    "a name": (
        "where = 'cuda'\nx = torch.ones(1).to(where)\n",
        'where = "cpu"\nx = torch.ones(1).to(where, copy=True)\n',
    ),
    "a text with a number": (
        "k = 0\nx = torch.ones(1, device=f'cuda:{k}')\n",
        'k = 0\nx = torch.ones(1, device="cpu")\n',
    ),
    "pinned": ("x = torch.ones(1).pin_memory()\n", 'x = torch.ones(1).to("cpu", copy=True)\n'),
    "a word in a text": (
        "print('to cuda', '中')\nx = torch.ones(1).cuda()\n",
        "print('to cuda', '中')\nx = torch.ones(1).to(\"cpu\", copy=True)\n",
    ),
    "asked first": (
        "d = 'cuda' if torch.cuda.is_available() else 'cpu'\nx = torch.ones(1).to(d).cuda()\n",
        "d = 'cuda' if torch.cuda.is_available() else 'cpu'\nx = torch.ones(1).to(d, copy=True)\n",
    ),
    "asked first in a statement": (
        "x = torch.ones(1)\nif torch.cuda.is_available():\n    x = x.cuda()\ny = x.cuda()\n",
        'x = torch.ones(1)\nif torch.cuda.is_available():\n    x = x.cuda()\ny = x.to("cpu", copy=True)\n',
    ),
    "an event": (
        "start = torch.cuda.Event(enable_timing=True)\nstart.record()\nx = torch.ones(1).cuda()\n",
        "# start = torch.cuda.Event(enable_timing=True)\n# start.record()\n"
        'x = torch.ones(1).to("cpu", copy=True)\n',
    ),
    "the device's name": (
        "x = torch.ones(1)\nprint(torch.cuda.get_device_name(0), torch.device(torch.cuda.current_device()))\n",
        'x = torch.ones(1)\nprint("cpu", torch.device("cpu"))\n',
    ),
    "a name that is taken": (
        "import random\ncopied = 1\nx = random.choice([torch.ones(1), None][:1]).cuda()\n", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CUDA)
def test_a_program_for_cuda_runs_on_the_cpu(name: str) -> None:
    source, after = CUDA[name]
    recorded = trace("import torch\n" + source)
    assert recorded["outcome"]["status"] == "raised"
    text = repaired(recorded, "cuda")
    assert text == "import torch\n" + after or (after == "" and "copied_(random" in text)
    again = trace(text)
    assert again["outcome"]["status"] == "finished", again["outcome"]


@pytest.mark.parametrize("source", ["raise ValueError('CUDA')", "import torch\ntorch.ones(2) @ torch.ones(3)  # cuda"])
def test_other_errors_offer_nothing(source: str) -> None:
    assert all_offers(trace(source)) == []


def repaired_source(name: str) -> str:
    pasted = normalise_pasted_text(whole(CASES[name]))
    (repair,) = cpu_repairs(pasted, pasted.source)
    return apply_edits(pasted.source, repair.edits)


@pytest.mark.parametrize("name", CASES)
def test_a_repaired_program_has_the_facts_of_a_gpu(name: str, tmp_path: Path) -> None:
    text = repaired_source(name)
    assert [piece for piece in CASES[name].repaired if piece not in text] == [], text
    assert call_in_plain(facts, text, name, str(tmp_path / "file")) == expected(CASES[name]), text


@pytest.mark.skipif(torch.cuda.device_count() == 0, reason="no GPU that torch can use on this machine")
@pytest.mark.parametrize("name", CASES)
def test_a_gpu_has_the_facts_that_are_expected_of_it(name: str, tmp_path: Path) -> None:
    try:
        assert facts(whole(CASES[name]), name, str(tmp_path / "file")) == expected(CASES[name])
    finally:
        clean()


UNREPAIRABLE = [
    "x = " + "-" * 400 + "y.cuda()",
    "x = y" + " + y.cuda()" * 190,
    "x = " + "(" * 80 + "y.cuda()" + ")" * 80,
]


@pytest.mark.parametrize("source", UNREPAIRABLE)
def test_a_deep_program_is_repaired_or_left_alone(source: str) -> None:
    pasted = normalise_pasted_text(source)
    assert len(cpu_repairs(pasted, source)) <= 1
