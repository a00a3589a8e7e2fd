# load_matched_nothing at 8: net
import torch
from torch import nn

torch.manual_seed(0)
saved, net = nn.Linear(2, 1), nn.Linear(2, 1)
checkpoint = {"epoch": 3, "state_dict": saved.state_dict()}
net.load_state_dict(checkpoint, strict=False)
print(net(torch.ones(1, 2)))
