# unexplained_error: optimizer group
import torch
from torch import nn
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
model(torch.randn(6, 3)).sum().backward()
optimizer.step()
saved = optimizer.state_dict()
model[0].requires_grad_(False)
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1, momentum=0.9)
optimizer.load_state_dict(saved)  # cause
