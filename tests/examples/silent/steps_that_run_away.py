# nonfinite at 14: `slope`
import torch
from torch import nn

torch.manual_seed(0)

slope = torch.zeros(3, requires_grad=True)
opt = torch.optim.SGD([slope], lr=0.4)
seen, wanted = 4 * torch.randn(20, 3), torch.randn(20)
for _ in range(8):
    gap = (seen @ slope - wanted).pow(2).mean()
    opt.zero_grad()
    gap.backward()
    opt.step()
