import torch
from torch import nn
torch.manual_seed(0)
qkv, out = nn.Linear(8, 24), nn.Linear(8, 8)
head = nn.Linear(8, 3)
optimizer = torch.optim.Adam([*qkv.parameters(), *out.parameters(), *head.parameters()], lr=0.01)
x, y = torch.randn(4, 4, 8), torch.randint(0, 3, (4,))
for step in range(3):
    q, k, v = qkv(x).view(4, 4, 3, 2, 4).permute(2, 0, 3, 1, 4)
    a = (q @ k.transpose(-2, -1) / 2).softmax(-1) @ v
    h = out(a.transpose(1, 2).reshape(4, 4, 8)).mean(1)
    loss = nn.functional.cross_entropy(head(h), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
