import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.out = nn.Linear(6, 2)

    def forward(self, x):
        return self.out(self.body(x))


torch.manual_seed(0)
body = nn.Sequential(nn.Linear(4, 6), nn.Tanh()).requires_grad_(False)
online, target = Head(body), Head(body)
target.load_state_dict(online.state_dict())
optimizer = torch.optim.Adam(online.out.parameters(), lr=0.01)
x, y = torch.randn(8, 4), torch.randn(8, 2)
for step in range(4):
    with torch.no_grad():
        wanted = y + 0.9 * target(x)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(online(x), wanted)
    loss.backward()
    optimizer.step()
    target.load_state_dict(online.state_dict())
print(loss.item())
