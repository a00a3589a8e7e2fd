import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, trainable):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.trainable = trainable
        if not self.trainable:
            self.lin.requires_grad_(False)

    def forward(self, x):
        return x + self.lin(x).tanh()


torch.manual_seed(0)
net = nn.Sequential(Block(4, trainable=False), Block(4, trainable=True), nn.Linear(4, 1))
net[1].trainable = True
optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=0.01)
state = optimizer.state_dict()
for group in state["param_groups"]:
    group["lr"] = 0.05
optimizer.load_state_dict(state)
x = torch.randn(12, 4)
for _ in range(4):
    optimizer.zero_grad()
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    loss.backward()
    optimizer.step()
print(loss.item())
