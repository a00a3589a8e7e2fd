# attention_weights at 11: `dim=1`
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
wq, wk, wv, fc = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)
optimizer = torch.optim.Adam([p for m in (wq, wk, wv, fc) for p in m.parameters()])
x, y = torch.randn(3, 5, 4), torch.randn(3, 1)
for step in range(3):
    attn = F.softmax(wq(x) @ wk(x).transpose(1, 2), dim=1)
    out = torch.bmm(attn, wv(x))
    loss = F.mse_loss(fc(out.mean(1)), y)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
