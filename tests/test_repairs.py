"""Every repair is offered where it belongs, is made by hand alone, and what it makes runs."""

import ast
import random
from typing import Any

import pytest

from server.language.edits import apply_edits
from server.language.paste import normalise
from server.language.policy import check
from server.language.repairs import cpu_repairs, offer_repairs
from server.wire.trace import Edit
from tests.test_expected_output import verdicts
from tests.test_paste import SEEDS
from tests.tracing import ROOT, printed, trace

pytestmark = [pytest.mark.slow, pytest.mark.beside]


def all_offers(recorded: dict[str, Any]) -> list[dict[str, Any]]:
    """Every repair that a trace offers."""
    error = recorded["outcome"].get("error") or {}
    holders = [*recorded["program"]["notices"], error, *error.get("refusals", [])]
    return [repair for holder in holders for repair in holder.get("repairs", [])]


def repaired(recorded: dict[str, Any], key: str, shape: str | None = None, pasted: bool = False) -> str:
    """The text after a click on this repair."""
    (repair,) = [repair for repair in all_offers(recorded) if repair["key"] == key]
    text = recorded["program"]["pasted"] if pasted else recorded["program"]["source"]
    edits = [Edit(**edit) for edit in repair["pasted" if pasted else "edits"]]
    return apply_edits(text, edits, shape or repair.get("shape"))


LAYER = "import torch\nfrom torch import nn\nmodel = nn.Linear(2, 1)\n"
PICTURES = """\
import torch
import torchvision
import torchvision.transforms as transforms
from torchvision import datasets
from torch.utils.data import DataLoader
transform = transforms.Compose([
    transforms.ToTensor(),
    transforms.Normalize((0.5,), (0.5,)),
])
train = datasets.{0}(root='./data', train=True,
                     download=True, transform=transform)
test = torchvision.datasets.{0}('./data', train=False, transform=transforms.ToTensor())
loader = DataLoader(train, batch_size=16, shuffle=True)
for images, labels in loader:
    print(images.shape, labels.dtype)
    break
"""

CASES = {
    "a tensor": ("load", "import torch\nx = torch.load('x.pt')\nprint(x.sum() * 2)\n", "x = torch.randn(4, 4)"),
    "an alias": ("load", "import torch as t\nx = t.load('x.pt').cuda\n", "x = t.randn(4, 4).cuda"),
    "in a call": ("load", "import torch\nprint(torch.load('x', map_location='cpu').shape)\n", "print(torch.randn(4, 4).shape)"),
    "weights": ("weights", LAYER + "model.load_state_dict(torch.load('m.pt'))\nprint(model(torch.ones(2)))\n", "# model.load_state_dict(torch.load('m.pt'))"),
    "weights by name": (
        "weights",
        LAYER + "state = torch.load('m.pt')\nopt = torch.optim.SGD(model.parameters(), lr=1.)\nmodel.load_state_dict(state['model'])\nopt.load_state_dict(\n    state['opt'])\n",
        "# opt.load_state_dict(\n    # state['opt'])",
    ),
    "weights alone in a block": ("weights", LAYER + "if model:\n    model.load_state_dict(torch.load('m.pt'))\n", "    pass  # model.load_state_dict("),
    "weights before another": ("weights", LAYER + "model.load_state_dict(torch.load('m')); x = 1\n", "pass; x = 1"),
    "saving": ("save", LAYER + "torch.save(model.state_dict(), 'm.pt')\nprint(model)\n", "# torch.save("),
    "an array": ("load", "import numpy as np\nimport torch\nx = torch.from_numpy(np.load('x.npy')).float()\nprint(x.shape)\n", "torch.from_numpy(np.random.randn(4, 4)).float()"),
    "a text file of numbers": ("load", "import numpy\nx = numpy.loadtxt('x.csv', delimiter=',')[:, 1:]\n", "x = numpy.random.randn(4, 4)[:, 1:]"),
    "a table": (
        "table",
        "import pandas as pd\nimport torch\ndf = pd.read_csv('x.csv')\nx = torch.tensor(df.iloc[:, :-1].values)\ny = torch.tensor(df.iloc[:, -1].to_numpy())\nprint(x.shape, y.shape)\n",
        "df = np.random.randn(4, 4)\nx = torch.tensor(df[:, :-1])\ny = torch.tensor(df[:, -1])",
    ),
    "a table at once": ("table", "import torch, math\nimport pandas\nx = torch.tensor(pandas.read_csv('x').values)\n", "torch.tensor(np.random.randn(4, 4))"),
    "grey pictures": ("pictures", PICTURES.format("MNIST"), "train = torch.utils.data.TensorDataset(torch.randn(64, 1, 28, 28), torch.randint(0, 10, (64,)))"),
    "coloured pictures": ("pictures", PICTURES.format("CIFAR10"), "(torch.randn(64, 3, 32, 32),"),
    "a folder": ("pictures", "import torch\nfrom torchvision.datasets import ImageFolder\ndata = ImageFolder('x')\nprint(data[0][0].shape)\n", "data = torch.utils.data.TensorDataset("),
    "text": ("text", "text = open('x.txt').read()\nprint(len(set(text)))\n", "text = 'the quick brown fox"),
    "text in a block": ("text", "with open('x.txt', 'r') as f:\n    text = f.read()\nprint(text[:9])\n", "text = 'the quick brown fox"),
    "lines": ("text", "lines = open('x.txt').readlines()\nprint(lines[0].strip())\n", "lines = ['the quick"),
    "unpacked": ("file", "import pickle\nimport torch\nwith open('x.pkl', 'rb') as f:\n    data = pickle.load(f)\nprint(data.shape)\n", "data = torch.randn(4, 4)"),
    "written": ("save", "with open('x', 'w') as f:\n    f.write('a')\nprint(1)\n", "# with open('x', 'w') as f:\n    # f.write('a')"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_refused_program_runs_after_its_repair(name: str) -> None:
    key, source, piece = CASES[name]
    recorded = trace(source)
    assert recorded["outcome"]["status"] == "refused"
    assert [repair["key"] for repair in all_offers(recorded)] == [key]
    text = repaired(recorded, key)
    assert piece in text
    again = trace(text)
    assert again["outcome"]["status"] == "finished", again["outcome"]


def test_the_shape_is_the_readers() -> None:
    recorded = trace(PICTURES.format("MNIST"))
    again = trace(repaired(recorded, "pictures", "32, 3, 8, 8"))
    assert printed(again) == "torch.Size([16, 3, 8, 8]) torch.int64\n"
    assert printed(trace(repaired(trace(CASES["in a call"][1]), "load", "7"))) == "torch.Size([7])\n"


@pytest.mark.parametrize(
    "source",
    [
        "import torch\nckpt = torch.load('x')\nprint(ckpt['epoch'])\n",
        "import torch\nmodel = torch.load('x')\nmodel.eval()\n",
        "import torch\nstate = torch.load('x')\nmissing = model.load_state_dict(state['a'])\nprint(missing)\n",
        "import torch\nstate = torch.load('x')\nfor k, v in state.items():\n    print(k)\n",
        "import pandas as pd\ndf = pd.read_csv('x')\nprint(df['a'].mean())\n",
        "import pandas as pd\npd.read_csv('x').describe()\n",
        "import torch\nfrom torchvision import datasets, models\nd = datasets.MNIST('x')\nm = models.resnet18()\n",
        "from torchvision import datasets\nd = datasets.MNIST('x')\nprint(d.classes)\n",
        "import numpy as np\nz = np.load('x.npz')\nz['a']\n",
        "f = open('x')\nfor line in f:\n    print(line)\n",
        "with open('x') as f:\n    a = f.read()\n    b = 1\n",
        "import os\nimport requests\nrequests.get('x')\n",
        "import torch\ntorch.load('x'\n",
    ],
)
def test_what_nobody_can_know_is_not_repaired(source: str) -> None:
    recorded = trace(source)
    assert recorded["outcome"]["status"] == "refused"
    assert all_offers(recorded) == []


def test_each_repair_stands_with_what_it_settles() -> None:
    recorded = trace(
        "import torch\nimport torchvision\nfrom torchvision.datasets import MNIST\nd = MNIST('x')\nw = torch.load('w')\n"
    )
    refusals = recorded["outcome"]["error"]["refusals"]
    assert [(refusal["line"], [offer["key"] for offer in refusal.get("repairs", [])]) for refusal in refusals] == [
        (2, ["pictures"]),
        (3, []),
        (5, ["load"]),
    ]
    recorded = trace("from torch import load, ones\nx = load('x')\n")
    assert all_offers(recorded) == []  # it would have to take an import apart
    recorded = trace("from torch import load\nx = load('y')\n")
    assert trace(repaired(recorded, "load"))["outcome"]["status"] == "finished"


def test_several_repairs_one_after_the_other() -> None:
    source = (
        LAYER
        + "x = torch.load('x')\nwith open('t') as f:\n    t = f.read()\ntorch.save(x, 'y')\nprint(x.shape, len(t))\n"
    )
    recorded = trace(source)
    keys = [repair["key"] for repair in all_offers(recorded)]
    assert sorted(keys) == ["load", "save", "text"]
    text = source
    for key in keys:
        text = repaired(trace(text), key)
    again = trace(text)
    assert again["outcome"]["status"] == "finished"
    assert printed(again) == "torch.Size([4, 4]) 900\n"


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


def test_a_torn_prompt_is_put_right_in_the_pasted_text() -> None:
    recorded = trace((ROOT / "tests/pastes/torn_prompt.txt").read_text())
    text = repaired(recorded, "prompt", pasted=True)
    assert "\n>>> c.zero_()\n>>> a\ntensor([1., 1., 1.])" in text
    again = trace(text)
    assert again["program"]["source"] == repaired(recorded, "prompt")
    (rows,) = verdicts([again])
    assert [(row["line"], row["verdict"], row["partly"]) for row in rows] == [
        (5, "different", False),
        (6, "different", False),
    ]


@pytest.mark.skipif(
    not SEEDS.is_dir(), reason="../shared/seeds is missing: an article's garbled prompt was not put right"
)
def test_a_garbled_prompt_is_put_right_in_the_pasted_text() -> None:
    recorded = trace((SEEDS / "snippets/003_1.txt").read_text())
    text = repaired(recorded, "prompt", pasted=True)
    assert "\n>>> c.zero_()\ntensor([ 0., 0., 0.])" in text
    again = trace(text)
    assert again["program"]["source"] == repaired(recorded, "prompt").replace("\r", "")
    (rows,) = verdicts([again])
    assert [(row["line"], row["verdict"], row["partly"]) for row in rows] == [
        (5, "same", False),
        (6, "different", False),  # the article leaves grad_fn out
        (7, "same", True),
    ]


def test_a_repair_of_a_transcript_keeps_what_it_printed() -> None:
    text = "  >>> x = torch.load('x.pt')\n  >>> y = x\\\n  ...   .cuda()\n  >>> y.shape\n  torch.Size([4, 4])\n"
    recorded = trace(text)
    assert repaired(recorded, "load", pasted=True) == text.replace("torch.load('x.pt')", "torch.randn(4, 4)")
    recorded = trace(repaired(recorded, "load", pasted=True))
    last = repaired(recorded, "cuda", pasted=True)
    (rows,) = verdicts([trace(last)])
    assert [row["verdict"] for row in rows] == ["same"]


HEADS = ["import torch", "import torchvision", "from torchvision import datasets, transforms", "import numpy as np",
         "import pandas as pd", "import pickle", "from torch import load"]  # fmt: skip
PIECES = [
    "torch.load('x')", "x = torch.load('x', f('中'))", "m.load_state_dict(x)", "open('a').read()",
    "with open('a') as f:\n    y = pickle.load(f)", "with open('a') as f: f.write(1)", "x.cuda().to('cuda')",
    "'量'; x.cuda(); y.cuda()", "if x: torch.save(x, 'y')", "if x:\n    torch.save(x, 'y')\nelse:\n    torch.save(y, 'z')",
    "d = datasets.MNIST('.',\n   transform=t)", "t = transforms.Compose([\n  1])", "df = pd.read_csv('x')", "df.values",
    "df.iloc[:, 1:].values", "z = np.load('x')['a']", "for i in torch.load('y'): torch.save(i, 'z')",
    "lambda: torch.load('x').cuda()", "f'{x.cuda()} cuda'", "torch.cuda.synchronize(); x = 1",
    "class A:\n    torch.save(1, 2)", "x = open('y').readlines()[0]", "try:\n    torch.save(1, 2)\nfinally:\n    torch.save(1, 2)",
]  # fmt: skip


@pytest.mark.parametrize(
    "source", ["x.cuda()\n" * 7000, "torch.load('x')\n" * 4000, "x = torch.load('x')\n" * 1500 + "x.a\n" * 1500,
               "if x:\n    torch.save(1, 2)\n" * 2000, "df = pd.read_csv('x')\n" * 1000 + "df.values\n" * 1000],
    ids=["cuda", "load", "names", "save", "tables"],
)  # fmt: skip
def test_a_repair_of_very_many_places_is_not_offered(source: str) -> None:
    pasted = normalise("import torch, pandas as pd\n" + source)
    assert not any(refusal.repairs for refusal in offer_repairs(pasted, source, check(pasted.source)[1]))
    assert cpu_repairs(pasted, source, "CUDA") == []


def code(source: str) -> list[str]:
    """Without the imports: one that was added may not be needed any more."""
    return [line for line in source.split("\n") if not line.startswith("import ")]


def test_whatever_is_repaired_is_a_program_and_the_same_one_in_the_pasted_text() -> None:
    dice = random.Random(1)
    made = 0
    for _ in range(600):
        source = "\n".join(dice.sample(HEADS, dice.randrange(1, 7)) + dice.choices(PIECES, k=dice.randrange(1, 7)))
        text = "\n".join(("... " if line[0] == " " else ">>> ") + line for line in source.split("\n"))
        text = text if dice.random() < 0.3 else source
        pasted = normalise(text)
        _, refusals = check(pasted.source)
        repairs = [repair for refusal in offer_repairs(pasted, text, refusals) for repair in refusal.repairs]
        for repair in [*repairs, *cpu_repairs(pasted, text, "CUDA")]:
            made += 1
            after = apply_edits(pasted.source, repair.edits, repair.shape)
            ast.parse(after)
            if repair.pasted is not None:
                again = normalise(apply_edits(text, repair.pasted, repair.shape)).source
                assert code(again) == code(after), text
    assert made > 500
