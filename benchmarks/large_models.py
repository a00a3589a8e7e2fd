"""What large models cost the page, beside another checkout's: the views *Net* and *Parameters* at first sight, a part, a step.

`python -m benchmarks.large_models --base CHECKOUT [--rounds N]` needs Chromium and a built page in both. Both pages show the same
traces and take turns; a time is what Chromium counts for the renderer's main thread in processor time, in ms, the median of the
rounds: the view's first sight after the trace has come, a part opened or closed, and a step. The traces are recorded here.
"""

import argparse
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.fits import serving
from benchmarks.stage import BROWSER_FLAGS, find_chromium
from benchmarks.steps import ShownTrace
from gradbox.installation import PACKAGE_FOLDER
from server.commands.trace import trace_program_in_process

ROOT = PACKAGE_FOLDER.parent
BLOCKS = """\
import torch
from torch import nn
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
    def forward(self, x):
        q, k, v = self.qkv(self.ln1(x)).chunk(3, -1)
        x = x + self.proj((q @ k.transpose(-2, -1)).softmax(-1) @ v)
        return x + self.mlp(self.ln2(x))
net = nn.Sequential(*[Block(4) for _ in range(48)])
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(2):
    opt.zero_grad()
    net(torch.randn(2, 3, 4)).square().mean().backward()
    opt.step()
"""
PARAMETERS = """\
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(*[layer for _ in range(500) for layer in (nn.Linear(4, 4), nn.Tanh())])
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(3):
    opt.zero_grad()
    net(torch.randn(2, 4)).pow(2).mean().backward()
    opt.step()
"""
NODES = """\
import torch
w = torch.ones(4, requires_grad=True)
x = w
for k in range(10_000):
    x = x * 0.9999
x.sum().backward()
"""
PROGRAMS = {"48 blocks": BLOCKS, "1,000 parameters": PARAMETERS, "10,000 nodes": NODES}
