# module_flag at 7: requires_grad_, requires_grad
import torch
from torch import nn
torch.manual_seed(0)
encoder, head = nn.Linear(4, 3), nn.Linear(3, 1)
for p in encoder.parameters():
    p.requires_grad_ = False
optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()])
x, y = torch.randn(8, 4), torch.randn(8, 1)
for epoch in range(3):
    optimizer.zero_grad()
    nn.functional.mse_loss(head(encoder(x)), y).backward()
    optimizer.step()
