import io
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
opt = torch.optim.Adam(net.parameters())
net(torch.ones(1, 2)).sum().backward()
opt.step()
file = io.BytesIO()
torch.save({"net": net.state_dict(), "opt": opt.state_dict()}, file)
file.seek(0)
saved = torch.load(file)
other = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
other.load_state_dict(saved["net"])
opt2 = torch.optim.Adam(other.parameters())
opt2.load_state_dict(saved["opt"])
print(torch.equal(net[0].weight, other[0].weight))
