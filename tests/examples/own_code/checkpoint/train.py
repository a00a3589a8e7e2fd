import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(2, 1)
torch.save({"net": net.state_dict(), "step": 3}, "checkpoint.pt")
other = nn.Linear(2, 1)
state = torch.load("checkpoint.pt")
other.load_state_dict(state["net"])
print(torch.equal(net.weight, other.weight), state["step"])
