import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

enc, fc = nn.GRU(3, 4, batch_first=True), nn.Linear(16, 2)
enc2 = nn.GRU(8, 8, batch_first=True)
optimizer = torch.optim.Adam([p for m in (enc, enc2, fc) for p in m.parameters()])
x, y = torch.randn(3, 12, 3), torch.tensor([0, 1, 0])
for step in range(2):
    h, _ = enc(x)
    h = h.reshape(3, 6, 8)
    h, _ = enc2(h)
    h = h.contiguous().view(3, 3, 16)
    loss = F.cross_entropy(fc(h.mean(1)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
