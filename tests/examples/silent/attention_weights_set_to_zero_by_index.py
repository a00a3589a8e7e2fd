# attention_weights at 15: `att`, `valid`
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

q, k, v, fc = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 1)
optimizer = torch.optim.Adam([p for m in (q, k, v, fc) for p in m.parameters()])
x, y = torch.randn(4, 8, 16), torch.randn(4, 1)
valid = torch.arange(8)[None] < torch.tensor([8, 4, 6, 2])[:, None]
for step in range(3):
    att = torch.softmax(q(x) @ k(x).transpose(1, 2) / 4, -1)
    att = att.clone()
    att[~valid[:, None, :].expand(4, 8, 8)] = 0
    loss = F.mse_loss(fc((att @ v(x)).mean(1)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
