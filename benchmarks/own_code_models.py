"""The training scripts of `benchmarks.own_code`: complete programs, as a user would have them, that print what they
measured.

Each trains on random numbers and prints one line of JSON: the processor's and the wall's seconds of each iteration, and
the largest memory of its process. With a tool's name as argument it has that tool trace the model once, after the
training; with "paced" it prints an empty line before each iteration and waits for one; with "busy" too, and in the
middle it works at something else: 25 backwards, and 10,000 small records of JSON of which a tenth is kept.
"""

COMMON = """
import json, resource, sys, time
import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
ITERATIONS, TOOL = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
"""

GPT = """
class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self, words=512, width=128, depth=4, length=64):
        super().__init__()
        self.word, self.place = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList([Block(width, 4) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, x):
        x = self.word(x) + self.place(torch.arange(x.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def batch():
    text = torch.randint(512, (8, 65))
    return text[:, :-1], text[:, 1:]


def loss_of(out, y):
    return F.cross_entropy(out.flatten(0, 1), y.flatten())
"""

RESNET = """
class Block(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(outside), nn.BatchNorm2d(outside)
        self.short = nn.Conv2d(inside, outside, 1, stride, bias=False)

    def forward(self, x):
        h = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(h)) + self.short(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(3, 16, 1), Block(16, 32, 2), Block(32, 64, 2))
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.blocks(x).mean((2, 3)))


def batch():
    return torch.randn(8, 3, 32, 32), torch.randint(10, (8,))


def loss_of(out, y):
    return F.cross_entropy(out, y)
"""

TRAINING = """
def work_at_something_else():
    generator = torch.get_rng_state()
    for _ in range(25):
        x, y = batch()
        torch.autograd.grad(loss_of(model(x), y), list(model.parameters()))
    torch.set_rng_state(generator)
    return [record for record in (json.dumps({"step": k, "text": str(k) * 20}) for k in range(10_000)) if record[10] == "1"]


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
wall, cpu = [time.perf_counter()], [time.process_time()]
for step in range(ITERATIONS):
    if TOOL in ("paced", "busy"):
        print(flush=True)
        sys.stdin.readline()
    if TOOL == "busy" and step == ITERATIONS // 2:
        kept = work_at_something_else()
    x, y = batch()
    loss = loss_of(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    wall.append(time.perf_counter())
    cpu.append(time.process_time())
result = {"wall": wall, "cpu": cpu, "loss": loss.item(), "elements": sum(p.numel() for p in model.parameters())}
result["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
if TOOL and TOOL not in ("paced", "busy"):
    import importlib
    library = importlib.import_module(TOOL)
    x, y = batch()
    began = time.process_time()
    if TOOL == "torchviz":
        library.make_dot(loss_of(model(x), y), params=dict(model.named_parameters())).source
    else:
        library.trace(model, x)
    result["tool"] = time.process_time() - began
    result["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps(result))
"""  # noqa: E501

SCRIPTS = {"gpt": COMMON + GPT + TRAINING, "resnet": COMMON + RESNET + TRAINING}
"""By the model's name."""
