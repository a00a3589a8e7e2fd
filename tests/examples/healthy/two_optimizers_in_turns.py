import torch
from torch import nn
torch.manual_seed(0)
body, head = nn.Linear(3, 4), nn.Linear(4, 1)
opt_body, opt_head = torch.optim.SGD(body.parameters(), 0.05), torch.optim.SGD(head.parameters(), 0.05)
for i in range(6):
    loss = head(torch.relu(body(torch.randn(4, 3)))).pow(2).mean()
    body.zero_grad()
    head.zero_grad()
    loss.backward()
    (opt_body if i % 2 else opt_head).step()
