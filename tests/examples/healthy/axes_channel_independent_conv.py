import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

conv, lin, head = nn.Conv1d(2, 5, 3, padding=1), nn.Linear(12, 6), nn.Linear(6, 1)
optimizer = torch.optim.Adam([p for m in (conv, lin, head) for p in m.parameters()])
x, y = torch.randn(4, 2, 12), torch.randn(4, 5)
for step in range(2):
    z = conv(x).reshape(20, 12)
    out = head(torch.relu(lin(z))).view(4, 5)
    loss = F.mse_loss(out, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
