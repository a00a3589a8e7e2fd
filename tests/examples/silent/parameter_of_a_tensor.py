# shared_memory at 7: start
import torch
from torch import nn

torch.manual_seed(0)
start = torch.zeros(2)
w = nn.Parameter(start)
optimizer = torch.optim.SGD([w], lr=0.5)
loss = (w - torch.tensor([1.0, 2.0])).pow(2).sum()
loss.backward()
optimizer.step()
print("moved by", (w - start).norm().item())
