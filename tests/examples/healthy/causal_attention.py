import torch
from torch import nn

torch.manual_seed(0)
q = nn.Linear(4, 4)
x = torch.randn(2, 5, 4)
scores = q(x) @ x.transpose(1, 2) / 2
mask = torch.triu(torch.ones(5, 5), diagonal=1).bool()
weights = scores.masked_fill(mask, float("-inf")).softmax(-1)
(weights @ x).sum().backward()
print(weights[0, 0])
