# no_graph: out checkpoint
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
block = nn.Sequential(nn.Linear(3, 3), nn.ReLU(inplace=True))
x = torch.randn(2, 3)
out = checkpoint(block, x, use_reentrant=True)  # cause
out.sum().backward()
print(block[0].weight.grad)
