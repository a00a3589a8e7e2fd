# not_in_optimizer at 6: head, opt.add_param_group(dict(params=head.named_parameters()))
import torch
from torch import nn

body, head = nn.Linear(3, 4), nn.Linear(4, 1)
opt = torch.optim.SGD(body.named_parameters(), lr=0.1)
x, y = torch.randn(6, 3), torch.randn(6, 1)
for step in range(4):
    loss = (head(body(x).relu()) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
