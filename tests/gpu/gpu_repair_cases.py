"""Programs for a GPU, with what a GPU gives for them; and the facts, of the program or of its repair on a CPU."""

import contextlib
import io
import warnings
from dataclasses import dataclass, field
from typing import Any

import torch


@dataclass(frozen=True)
class Case:
    """A program and what a GPU gives.

    tensors: of each name (leaf, whether `.grad` is there, version, dtype, the name of grad_fn or None).
    same: groups of names that share memory; all other pairs of the listed names do not. is_: pairs that are one object.
    repaired: pieces of the text after the repair.
    """

    source: str
    tensors: dict[str, tuple[bool, bool, int, str, str | None]]
    same: tuple[str, ...] = ()
    is_: tuple[str, ...] = ()
    repaired: tuple[str, ...] = field(default=())


LEAF = (True, False, 0, "float32", None)
WITH_GRAD = (True, True, 0, "float32", None)
COPIED = (False, False, 0, "float32", "ToCopyBackward0")
WEIGHT = (True, False, 1, "float32", None)
"""Of a layer, which wrote into it once to give it its first values."""

ONES = "x = torch.ones(3, requires_grad=True)\n"
NET = "net = nn.Linear(2, 1)\nweight, held = net.weight, net.weight.detach()\n"

CASES = {
    "cuda of what wants a gradient": Case(
        "x = torch.ones(3, requires_grad=True).cuda()\nx.sum().backward()\n",
        {"x": COPIED},
        repaired=('requires_grad=True).to("cpu", copy=True)\n',),
    ),
    "cuda of a leaf, by name": Case(
        ONES + "y = x.cuda()\n(y * 2).sum().backward()\n",
        {"x": WITH_GRAD, "y": COPIED},
        repaired=('y = x.to("cpu", copy=True)\n',),
    ),
    "cuda with an index": Case(ONES + "y = x.cuda(0, non_blocking=True)\n", {"x": LEAF, "y": COPIED}),
    "cuda twice": Case(
        ONES + "y = x.cuda()\nz = y.cuda()\n", {"x": LEAF, "y": COPIED, "z": COPIED}, ("yz",), ("yz",), ("z = y\n",)
    ),
    "cuda in a chain": Case(
        ONES + "y = (x * 2).cuda().cuda()\n", {"x": LEAF, "y": COPIED}, repaired=('y = (x * 2).to("cpu", copy=True)\n',)
    ),
    "what a GPU computed": Case(
        ONES + "y = x.cuda() * 2\nz = y.to('cuda')\n",
        {"y": (False, False, 0, "float32", "MulBackward0"), "z": (False, False, 0, "float32", "MulBackward0")},
        ("yz",),
        ("yz",),
        ('z = y.to("cpu")\n',),
    ),
    "to a text": Case(ONES + "y = x.to('cuda')\n", {"x": LEAF, "y": COPIED}),
    "to a device": Case(
        'device = torch.device("cuda")\n' + ONES + "y = x.to(device)\nz = y.to(device)\n",
        {"x": LEAF, "y": COPIED, "z": COPIED},
        ("yz",),
        ("yz",),
        ('torch.device("cpu")', "x.to(device, copy=True)", "y.to(device)\n"),
    ),
    "to a device with an index": Case(
        'device = torch.device("cuda", 0)\n' + ONES + "y = x.to(device=device)\n", {"x": LEAF, "y": COPIED}
    ),
    "to a text with a number": Case("k = 0\n" + ONES + "y = x.to(f'cuda:{k}')\n", {"x": LEAF, "y": COPIED}),
    "to a text that is put together": Case(
        "k = 0\n" + ONES + "y = x.to('cuda:' + str(k))\nz = x.to('cuda:{}'.format(k))\n",
        {"x": LEAF, "y": COPIED, "z": COPIED},
    ),
    "to a number": Case("rank = 0\n" + ONES + "y = x.to(rank)\nz = x.to(0)\n", {"x": LEAF, "y": COPIED, "z": COPIED}),
    "to a device and a dtype": Case(
        ONES + "y = x.to('cuda', torch.float64)\nz = y.to('cuda', torch.float64)\n",
        {
            "x": LEAF,
            "y": (False, False, 0, "float64", "ToCopyBackward0"),
            "z": (False, False, 0, "float64", "ToCopyBackward0"),
        },
        ("yz",),
        ("yz",),
    ),
    "to as another": Case(
        "other = torch.zeros(1, device='cuda', dtype=torch.float16)\n"
        + ONES
        + "y = x.to(other)\nz = x.type_as(other)\n",
        {
            "x": LEAF,
            "y": (False, False, 0, "float16", "ToCopyBackward0"),
            "z": (False, False, 0, "float16", "ToCopyBackward0"),
        },
    ),
    "to with copy": Case(
        ONES + "y = x.to('cuda', non_blocking=True, copy=True)\nz = y.to('cuda', copy=True)\n",
        {"x": LEAF, "y": COPIED, "z": COPIED},
    ),
    "to, over several lines": Case(
        ONES + "y = x.to(\n    'cuda',  # there\n)\nz = x.to(\n    device=('cuda'),\n    non_blocking=True,\n)\n",
        {"x": LEAF, "y": COPIED, "z": COPIED},
    ),
    "back to the CPU": Case(
        ONES + "y = x.cuda()\nz = y.cpu()\nw = z.cpu()\nv = y.to('cpu')\n",
        {"y": COPIED, "z": COPIED, "w": COPIED, "v": COPIED},
        ("zw",),
        ("zw",),
        ('z = y.to("cpu", copy=True)\n', "w = z.cpu()\n", "v = y.to('cpu', copy=True)\n"),
    ),
    "an array of what was on the GPU": Case(
        "import numpy as np\n" + ONES + "y = x.cuda()\na = torch.from_numpy(y.detach().cpu().numpy())\na.add_(1)\n",
        {"y": COPIED, "a": (True, False, 1, "float32", None)},
    ),
    "from an array": Case(
        "import numpy as np\narray = np.ones(3, dtype=np.float32)\na = torch.from_numpy(array)\nx = "
        "torch.from_numpy(array).cuda()\n"
        "y = torch.as_tensor(array, device='cuda')\nz = torch.tensor(array, device='cuda')\n",
        {"a": LEAF, "x": LEAF, "y": LEAF, "z": LEAF},
    ),
    "made there": Case(
        "device = 'cuda'\nx = torch.zeros(3, device=device, requires_grad=True)\ny = torch.tensor([1.0], "
        "device='cuda:0')\n"
        "z = torch.ones_like(x)\nw = x.cuda()\nx.sum().backward()\n",
        {"x": WITH_GRAD, "y": LEAF, "z": LEAF, "w": WITH_GRAD},
        ("wx",),
        ("xw",),
    ),
    "a default device": Case(
        "torch.set_default_device('cuda')\nx = torch.ones(3, requires_grad=True)\ny = x.cuda()\nz = "
        "x.cpu()\ntorch.set_default_device('cpu')\n",
        {"x": LEAF, "y": LEAF, "z": COPIED},
        ("xy",),
        ("xy",),
    ),
    "within a device": Case(
        "with torch.device('cuda'):\n    x = torch.ones(3, requires_grad=True)\ny = x.cuda()\nz = "
        "torch.ones(3).cuda()\n",
        {"x": LEAF, "y": LEAF, "z": LEAF},
        ("xy",),
        ("xy",),
    ),
    "requires_grad after the move": Case(
        "x = torch.ones(3).cuda().requires_grad_()\nx.sum().backward()\n", {"x": WITH_GRAD}
    ),
    "written in place after the move": Case(
        "x = torch.ones(3)\ny = x.cuda()\ny.add_(1)\nz = y.cuda()\n",
        {"x": LEAF, "y": (True, False, 1, "float32", None), "z": (True, False, 1, "float32", None)},
        ("yz",),
        ("yz",),
    ),
    "a transposed one": Case(
        "x = torch.arange(6.0).view(2, 3).t()\ny = x.cuda()\nassert y.stride() == x.stride()\nz = x[:, :1].cuda()\n",
        {"x": LEAF, "y": LEAF, "z": LEAF},
    ),
    "a parameter": Case(
        "p = nn.Parameter(torch.ones(2)).cuda()\nq = nn.Parameter(torch.ones(2).cuda())\n(p.sum() + "
        "q.sum()).backward()\n",
        {"p": COPIED, "q": WITH_GRAD},
    ),
    "a module": Case(
        NET + "net.cuda()\nsame = net.weight\n",
        {"weight": WEIGHT, "held": WEIGHT, "same": WEIGHT},
        ("same weight",),
        ("weight same",),
        ("net._apply(torch.clone)\n",),
    ),
    "a module, by to": Case(
        "device = torch.device('cuda')\n" + NET + "net = net.to(device)\nsame = net.weight\n",
        {"weight": WEIGHT, "held": WEIGHT, "same": WEIGHT},
        ("same weight",),
        ("weight same",),
    ),
    "a module twice": Case(
        "net = nn.Linear(2, 1).cuda()\nheld = net.weight.detach()\nnet = net.to('cuda')\nweight = net.weight\n",
        {"weight": WEIGHT, "held": WEIGHT},
        ("held weight",),
    ),
    "a module there and back": Case(
        NET + "net.cuda()\nthere = net.weight.detach()\nnet.cpu()\nsame = net.weight\n",
        {"weight": WEIGHT, "held": WEIGHT, "there": WEIGHT},
        (),
        ("weight same",),
    ),
    "buffers of a module": Case(
        "net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))\nold = net[1].running_mean\nnet.to('cuda')\nnew = "
        "net[1].running_mean\n",
        {"old": (True, False, 1, "float32", None), "new": LEAF},
    ),
    "a module made there": Case(
        "net = nn.Linear(2, 1, device='cuda')\nweight = net.weight\nnet.cuda()\n",
        {"weight": WEIGHT},
        repaired=("\nnet\n",),
    ),
    "an optimizer made before": Case(
        "net = nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nnet.cuda()\nnet(torch.ones(1, "
        "2).cuda()).sum().backward()\n"
        "opt.step()\nweight = net.weight\n",
        {"weight": (True, True, 2, "float32", None)},
    ),
    "gradients of a module that moves": Case(
        "net = nn.Linear(2, 1)\nnet(torch.ones(1, 2)).sum().backward()\nold = net.weight.grad\nnet.cuda()\nnew = "
        "net.weight.grad\nweight = net.weight\n",
        {"weight": (True, True, 1, "float32", None), "old": LEAF, "new": LEAF},
        ("new old",),
        ("new old",),
    ),
    "a module of the program": Case(
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = "
        "nn.Parameter(torch.ones(2))\n"
        "        self.register_buffer('b', torch.ones(2))\n        self.mask = torch.ones(2)\n    def forward(self, "
        "x):\n"
        "        self.moved = self.mask.to(x.device)\n        self.buffer = self.b.to(x.device)\n        return "
        "x.cuda() * self.w.cuda()\n"
        "net = Net().cuda()\nx = torch.ones(2, requires_grad=True)\ny = net(x.cuda())\ny.sum().backward()\n"
        "w, b, mask, moved, buffer = net.w, net.b, net.mask, net.moved, net.buffer\n",
        {"x": WITH_GRAD, "w": WITH_GRAD, "b": LEAF, "mask": LEAF, "moved": LEAF, "buffer": LEAF},
        ("b buffer",),
        ("b buffer",),
    ),
    "a loop over a loader": Case(
        "from torch.utils.data import DataLoader, TensorDataset\nloader = DataLoader(TensorDataset(torch.ones(4, 2)), "
        "batch_size=2)\n"
        "for step, (x,) in enumerate(loader):\n    y = x.cuda(non_blocking=True)\n    z = y.cuda()\n",
        {"x": LEAF, "y": LEAF, "z": LEAF},
        ("yz",),
        ("yz",),
    ),
    "a function that is given its device": Case(
        "def train(net, data, device):\n    net.to(device)\n    data = data.to(device)\n    return net(data), data\n"
        "net = nn.Linear(2, 1)\ndata = torch.ones(1, 2, requires_grad=True)\ny, moved = train(net, data, "
        "'cuda')\ny.sum().backward()\nweight = net.weight\n",
        {"data": WITH_GRAD, "moved": COPIED, "weight": (True, True, 1, "float32", None)},
    ),
    "a dictionary of tensors": Case(
        "batch = {'x': torch.ones(2), 'y': torch.ones(2)}\nmoved = {k: v.to('cuda') for k, v in batch.items()}\nx, y "
        "= batch['x'], moved['x']\n",
        {"x": LEAF, "y": LEAF},
    ),
    "a function for whatever comes": Case(
        "def to_device(data, device):\n    if isinstance(data, (list, tuple)):\n        return [to_device(part, "
        "device) for part in data]\n"
        "    return data.to(device, non_blocking=True)\nnet = nn.Linear(2, 1)\nweight, held = net.weight, "
        "net.weight.detach()\n"
        "to_device(net, 'cuda')\nx = torch.ones(2, requires_grad=True)\n(y,) = to_device([x], 'cuda')\n",
        {"weight": WEIGHT, "held": WEIGHT, "x": LEAF, "y": COPIED},
        repaired=("def copied(x, ",),
    ),
    "nobody knows what it is": Case(
        "import random\nboth = [torch.ones(2), nn.Linear(2, 1)]\nx = random.choice(both[:1])\nnet = "
        "random.choice(both[1:])\n"
        "held = net.weight.detach()\ny = x.cuda()\nnet.cuda()\nweight = net.weight\n",
        {"x": LEAF, "y": LEAF, "held": WEIGHT, "weight": WEIGHT},
        repaired=('y = copied(x, "cpu")\ncopied(net, "cpu")\n',),
    ),
    "a conditional device": Case(
        "device = 'cuda' if torch.cuda.is_available() else 'cpu'\n" + ONES + "y = x.to(device)\nz = y.cuda()\n",
        {"x": LEAF, "y": COPIED, "z": COPIED},
        ("yz",),
        ("yz",),
        ("'cuda' if torch.cuda.is_available() else 'cpu'",),
    ),
    "types": Case(
        ONES
        + "y = x.type(torch.cuda.FloatTensor)\nz = x.type('torch.cuda.DoubleTensor')\nw = torch.cuda.FloatTensor([1.0])\nv = w.cuda()\n",  # noqa: E501
        {"x": LEAF, "y": COPIED, "z": (False, False, 0, "float64", "ToCopyBackward0"), "w": LEAF, "v": LEAF},
        ("vw",),
        ("vw",),
    ),
    "half": Case(
        ONES + "y = x.cuda().half()\nz = y.cuda()\n",
        {"y": (False, False, 0, "float16", "ToCopyBackward0"), "z": (False, False, 0, "float16", "ToCopyBackward0")},
        ("yz",),
        ("yz",),
    ),
    "pinned": Case(
        "x = torch.ones(3)\ny = x.pin_memory()\nz = y.cuda(non_blocking=True)\n", {"x": LEAF, "y": LEAF, "z": LEAF}
    ),
    "a loader that pins": Case(
        "from torch.utils.data import DataLoader, TensorDataset\nloader = DataLoader(TensorDataset(torch.ones(4, 2)), "
        "batch_size=2, pin_memory=True)\n"
        "(x,) = next(iter(loader))\ny = x.to('cuda', non_blocking=True)\n",
        {"x": LEAF, "y": LEAF},
    ),
    "loaded": Case(
        "torch.save(torch.ones(2), FILE)\nx = torch.load(FILE, map_location='cuda')\ny = x.cuda()\nz = x.cpu()\n",
        {"x": (True, False, 1, "float32", None), "y": (True, False, 1, "float32", None), "z": LEAF},
        ("xy",),
        ("xy",),
    ),
    "autocast": Case(
        "net = nn.Linear(2, 2).cuda()\nx = torch.ones(1, 2, device='cuda')\nwith torch.autocast('cuda'):\n    y = "
        "net(x)\n"
        "with torch.autocast(device_type='cuda', dtype=torch.bfloat16):\n    z = net(x)\nwith "
        "torch.cuda.amp.autocast():\n    w = net(x)\n",
        {
            "y": (False, False, 0, "float16", "AddmmBackward0"),
            "z": (False, False, 0, "bfloat16", "AddmmBackward0"),
            "w": (False, False, 0, "float16", "AddmmBackward0"),
        },
    ),
    "autocast of a device": Case(
        "device = torch.device('cuda')\nnet = nn.Linear(2, 2).to(device)\nx = torch.ones(1, 2, device=device)\n"
        "with torch.amp.autocast(device.type):\n    y = net(x)\n",
        {"y": (False, False, 0, "float16", "AddmmBackward0")},
    ),
    "a scaler": Case(
        "torch.manual_seed(0)\nnet = nn.Linear(2, 2).cuda()\nscaler, old = torch.amp.GradScaler('cuda', "
        "init_scale=8.0), torch.cuda.amp.GradScaler(init_scale=8.0)\n"
        "third = torch.amp.GradScaler()\nassert scaler.is_enabled() and old.is_enabled() and third.is_enabled()\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nwith torch.autocast('cuda'):\n"
        "    loss = nn.functional.mse_loss(net(torch.ones(1, 2).cuda()), torch.zeros(1, 2).cuda())\n"
        "scaler.scale(loss).backward()\nscaler.step(opt)\nscaler.update()\nweight = net.weight\n",
        {"loss": (False, False, 0, "float32", "MseLossBackward0"), "weight": (True, True, 2, "float32", None)},
    ),
    "a loss under autocast": Case(
        "net = nn.Linear(2, 2).cuda()\nwith torch.autocast('cuda'):\n"
        "    loss = nn.functional.cross_entropy(net(torch.ones(1, 2).cuda()), torch.zeros(1, "
        "dtype=torch.long).cuda())\n",
        {"loss": (False, False, 0, "float32", "NllLossBackward0")},
    ),
    "streams and events": Case(
        "x = torch.ones(2)\nstart, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)\n"
        "stream = torch.cuda.Stream()\nstream.wait_stream(torch.cuda.current_stream())\nstart.record()\n"
        "with torch.cuda.stream(stream):\n    y = "
        "x.cuda()\ntorch.cuda.current_stream().wait_stream(stream)\nend.record()\n"
        "torch.cuda.synchronize()\nassert start.elapsed_time(end) >= 0\n",
        {"x": LEAF, "y": LEAF},
    ),
    "data of a tensor": Case(
        ONES + "y = x\ny.data = y.data.cuda()\n(y * 2).sum().backward()\n",
        {"x": WITH_GRAD, "y": WITH_GRAD},
        ("xy",),
        ("xy",),
    ),
}
"""What is checked, by kind of move. A name of several letters is separated by blanks in `same` and `is_`."""


def names_of(group: str) -> list[str]:
    return group.split() if " " in group else list(group)


def facts(source: str, name: str, file: str) -> dict[str, Any]:
    """What torch says of that case's names after the program has run: tensors, pairs that share memory, pairs that are
    one."""
    case = CASES[name]
    space: dict[str, Any] = {"__name__": "__main__", "FILE": file}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        exec(compile(source, "<case>", "exec"), space)
    values = {each: space[each] for each in case.tensors}
    tensors = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the gradient of what is no leaf
        for each, value in values.items():
            node = None if value.grad_fn is None else type(value.grad_fn).__name__
            tensors[each] = (value.is_leaf, value.grad is not None, value._version, str(value.dtype)[6:], node)
    shared = {
        frozenset((a, b)) for a in values for b in values
        if a < b and values[a].untyped_storage().data_ptr() == values[b].untyped_storage().data_ptr()
    }  # fmt: skip
    same = {group for group in case.is_ if len({id(space[each]) for each in names_of(group)}) == 1}
    return {"tensors": tensors, "shared": shared, "is": same}


def expected(case: Case) -> dict[str, Any]:
    """What a GPU gives."""
    shared = {frozenset((a, b)) for group in case.same for a in names_of(group) for b in names_of(group) if a < b}
    return {"tensors": case.tensors, "shared": shared, "is": set(case.is_)}


def whole(case: Case) -> str:
    return "import torch\nfrom torch import nn\n" + case.source


def clean() -> None:
    """Leave nothing of a program that failed half-way."""
    torch.set_default_device(None)
