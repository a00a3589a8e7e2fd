import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

conv, lin = nn.Conv1d(3, 5, 3, padding=1), nn.Linear(5, 5)
optimizer = torch.optim.Adam([*conv.parameters(), *lin.parameters()])
x, y = torch.randn(5, 3, 5), torch.randint(0, 5, (5, 5))
for step in range(2):
    z = conv(x)
    logits = lin(z.transpose(1, 2))
    loss = F.cross_entropy(z, y) + F.cross_entropy(logits.transpose(1, 2), y) + F.cross_entropy(logits.reshape(25, 5), y.reshape(25))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
