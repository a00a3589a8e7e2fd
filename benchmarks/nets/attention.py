import math
import torch

torch.manual_seed(0)
x = torch.randn(3, 4)
Wq = torch.randn(4, 2, requires_grad=True)
Wk = torch.randn(4, 2, requires_grad=True)
Wv = torch.randn(4, 2, requires_grad=True)
q, k, v = x @ Wq, x @ Wk, x @ Wv
scores = q @ k.T / math.sqrt(2)
mask = torch.tril(torch.ones(3, 3)).bool()
scores = scores.masked_fill(~mask, float("-inf"))
weights = scores.softmax(dim=-1)
out = weights @ v
loss = out.pow(2).sum()
loss.backward()
