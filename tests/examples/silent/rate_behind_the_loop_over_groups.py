# module_flag at 12: lr, opt
import torch
from torch import nn
torch.manual_seed(0)
body, head = nn.Linear(4, 6), nn.Linear(6, 2)
opt = torch.optim.SGD([{"params": body.parameters()}, {"params": head.parameters()}], lr=0.1)
x, y = torch.randn(10, 4), torch.randint(0, 2, (10,))
for epoch in range(5):
    rate = 0.1 / (1 + epoch)
    for k, group in enumerate(opt.param_groups):
        print(epoch, k, group["lr"])
    group["lr"] = rate
    opt.zero_grad()
    nn.functional.cross_entropy(head(body(x).relu()), y).backward()
    opt.step()
