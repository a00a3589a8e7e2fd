import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

row, col, inp, fc = nn.MultiheadAttention(8, 2, batch_first=True), nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(3, 8), nn.Linear(8, 2)
optimizer = torch.optim.Adam([p for m in (row, col, inp, fc) for p in m.parameters()])
x, y = torch.randn(2, 4, 5, 3), torch.tensor([0, 1])
for step in range(2):
    B, H, W, _ = x.shape
    z = inp(x)
    r = z.reshape(B * H, W, 8)
    z = z + row(r, r, r)[0].reshape(B, H, W, 8)
    c = z.permute(0, 2, 1, 3).reshape(B * W, H, 8)
    z = z + col(c, c, c)[0].reshape(B, W, H, 8).permute(0, 2, 1, 3)
    loss = F.cross_entropy(fc(z.mean(1).mean(1)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
