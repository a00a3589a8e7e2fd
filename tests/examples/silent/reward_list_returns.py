# graph_grows at 10: values
import torch
from torch import nn
torch.manual_seed(0)
critic = nn.Linear(2, 1)
opt = torch.optim.SGD(critic.parameters(), lr=0.1)
values = []
for episode in range(4):
    v = critic(torch.ones(1, 2))
    values.append(v)
    loss = (v - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(len(values))
