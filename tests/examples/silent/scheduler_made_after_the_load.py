# rate_jumps at 29: `optimizer`
import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR


def decay(epoch):
    return 0.5**epoch


def train(model, optimizer, schedule):
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(2, 3)).pow(2).mean().backward()
        optimizer.step()
        schedule.step()


model = nn.Linear(3, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
schedule = LambdaLR(optimizer, decay)
train(model, optimizer, schedule)
saved, counted = optimizer.state_dict(), schedule.state_dict()

restored = nn.Linear(3, 1)
restored.load_state_dict(model.state_dict())
optimizer = torch.optim.Adam(restored.parameters(), lr=0.1)
optimizer.load_state_dict(saved)
schedule = LambdaLR(optimizer, decay)
train(restored, optimizer, schedule)
