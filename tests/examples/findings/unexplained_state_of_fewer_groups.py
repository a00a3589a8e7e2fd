# unexplained_error: optimizer groups
import torch
from torch import nn
body, head = nn.Linear(3, 4), nn.Linear(4, 1)
saved = torch.optim.SGD(head.parameters(), lr=0.1).state_dict()
optimizer = torch.optim.SGD([{"params": body.parameters()}, {"params": head.parameters()}], lr=0.1)
optimizer.load_state_dict(saved)  # cause
