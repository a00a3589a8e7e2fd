# load_matched_nothing at 9: net
import torch
from torch import nn
torch.manual_seed(0)


def reset(m):
    if isinstance(m, (nn.Conv1d, nn.Linear)):
        m.reset_parameters()
        m.bias.data.fill_(0.1) if m.bias is not None else None


checkpoint = {k: torch.randn_like(v) for k, v in nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 1)).state_dict().items()}
net = nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 1))
net.load_state_dict(checkpoint)
net.apply(reset)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    net(torch.randn(6, 4)).pow(2).mean().backward()
    optimizer.step()
