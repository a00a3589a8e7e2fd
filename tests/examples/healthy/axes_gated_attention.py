import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

q, k, v, g, fc = [nn.Linear(6, 6) for _ in range(4)] + [nn.Linear(6, 1)]
optimizer = torch.optim.Adam([p for m in (q, k, v, g, fc) for p in m.parameters()])
x, y = torch.randn(3, 5, 6), torch.randn(3, 1)
keep = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 1, 0, 0, 0]]).bool()
for step in range(2):
    s = (q(x) @ k(x).transpose(1, 2)).masked_fill(~keep[:, None, :], -1e9)
    w = s.softmax(-1) * torch.sigmoid(g(x).mean(-1, keepdim=True))
    h = (w @ v(x)) * keep[..., None]
    loss = F.mse_loss(fc(h.sum(1) / keep.sum(1, keepdim=True)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
