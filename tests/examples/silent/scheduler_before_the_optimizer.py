# scheduler_first at 11: optimizer, scheduler.step()
import torch
from torch import nn
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
for epoch in range(4):
    loss = model(torch.ones(3, 2)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    scheduler.step()
    optimizer.step()
