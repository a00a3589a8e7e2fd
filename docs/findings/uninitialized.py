# uninitialized at 7: `gain`
import torch
from torch import nn

torch.manual_seed(0)

gain = torch.empty(4, requires_grad=True)
x = torch.randn(8, 4)
loss = (x * gain).sum()
loss.backward()
