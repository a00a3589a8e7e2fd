# load_matched_nothing at 10: net, module.
import torch
from torch import nn

torch.manual_seed(0)
wrapped = nn.ModuleDict({"module": nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))})
checkpoint = wrapped.state_dict()

net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
result = net.load_state_dict(checkpoint, strict=False)
net.eval()
print(net(torch.ones(1, 2)))
