"""A training of five million parameters on a GPU, which `make gpu-check` records as own code."""

import torch
from torch import nn

ROUNDS = 300

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 10)).cuda()
optimizer = torch.optim.AdamW(net.parameters())
inputs = torch.randn(256, 512, device="cuda")
targets = torch.randint(0, 10, (256,), device="cuda")
for _ in range(ROUNDS):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(inputs), targets)
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
