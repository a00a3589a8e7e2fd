import torch
from torch import nn
torch.manual_seed(0)
body = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
for p in body.parameters():
    p.requires_grad = False
body.eval()
head = nn.Linear(4, 2)
opt = torch.optim.SGD(head.parameters(), lr=0.1)
x, y = torch.randn(6, 3), torch.randint(0, 2, (6,))
for _ in range(2):
    with torch.no_grad():
        z = body(x)
    loss = nn.functional.cross_entropy(head(z), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
