import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
scale = 128.0
for _ in range(2):
    opt.zero_grad()
    loss = model(torch.ones(2, 3)).pow(2).mean()
    (loss * scale).backward()
    for p in model.parameters():
        p.grad.div_(scale)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
