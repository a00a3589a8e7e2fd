import torch
from torch import nn

torch.manual_seed(0)
layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
out = layer(torch.randn(2, 4, 8))
out.mean().backward()
print(sum(p.grad is not None for p in layer.parameters()))
